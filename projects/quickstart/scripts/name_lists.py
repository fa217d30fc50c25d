"""Lists of names from a word list in jieba's format: those of places and of institutions.

`python scripts/name_lists.py WORDS FOLDER` writes places.txt and institutions.txt.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spacy_structreg.corpora.files import replace_text
from spacy_structreg.corpora.word_lists import read_word_list

TAGS = {"places": "ns", "institutions": "nt"}
LEAST = 2
"""Fewest characters of a name: of one, most are other words as well."""


def main(arguments: list[str] | None = None) -> int:
    """0 if the lists were written, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("words", type=Path)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args(arguments)
    try:
        listed = [each for each in read_word_list(given.words) if len(each.word) >= LEAST]
        given.folder.mkdir(parents=True, exist_ok=True)
        for name, tag in TAGS.items():
            with replace_text(given.folder / f"{name}.txt") as stream:
                stream.writelines(f"{each.word}\n" for each in listed if tag in each.tags)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
