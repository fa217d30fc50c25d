"""The sentences of UD English EWT as texts, each with its genre as its category.

`python scripts/texts.py SOURCE TARGET`: TARGET has a text, a tab and its genre a line. The genre is
what stands before the first hyphen of the `sent_id`. Runs of white space in a text are one space.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spacy_structreg.corpora.files import replace_text
from spacy_structreg.corpora.formats.conllu import read_conllu


def main(arguments: list[str] | None = None) -> int:
    """0 if all went well, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    given = parser.parse_args(arguments)
    given.target.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    try:
        with replace_text(given.target) as stream:
            for sentence in read_conllu(given.source):
                genre, hyphen, _ = (sentence.sent_id or "").partition("-")
                if not hyphen:
                    raise ValueError(
                        f"{given.source}: the sent_id {sentence.sent_id!r} does not begin with a "
                        "genre and a hyphen"
                    )
                text = " ".join((sentence.text or sentence.raw_text()).split())
                stream.write(f"{text}\t{genre}\n")
                count += 1
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{given.target}: {count:,} texts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
