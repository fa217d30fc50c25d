"""Choose sentences of UD English EWT by their genre.

`python scripts/genres.py TARGET GENRES SOURCE ...`: write the sentences of the sources whose genre
is one of GENRES, names parted by commas, to TARGET.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spacy_structreg.corpora.conllu import read_conllu, write_conllu
from spacy_structreg.corpora.splits import EWT_GENRES, genre


def names(text: str) -> tuple[str, ...]:
    """The genres that are named."""
    found = tuple(text.split(","))
    if unknown := sorted(set(found) - set(EWT_GENRES)):
        raise argparse.ArgumentTypeError(
            f"{unknown[0]!r} is no genre; they are {', '.join(EWT_GENRES)}"
        )
    return found


def main(arguments: list[str] | None = None) -> int:
    """0 if all went well, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("target", type=Path)
    parser.add_argument("genres", type=names)
    parser.add_argument("sources", type=Path, nargs="+")
    given = parser.parse_args(arguments)
    given.target.parent.mkdir(parents=True, exist_ok=True)
    try:
        sentences = (sentence for source in given.sources for sentence in read_conllu(source))
        chosen = [sentence for sentence in sentences if genre(sentence) in given.genres]
        missing = sorted(set(given.genres) - set(map(genre, chosen)))
        if missing:
            raise ValueError(f"there is no sentence of the genre {missing[0]}; give whole parts")
        count = write_conllu(given.target, chosen)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{given.target}: {count:,} sentences of {', '.join(given.genres)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
