"""Take the digits off the characters of the Weibo corpus.

`python scripts/characters.py SOURCE TARGET`: SOURCE has a character and a label a line, between
white space, and behind the character a digit, its place in its word. TARGET is the same without it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spacy_structreg.corpora.formats.columns import read_columns, write_columns

DIGITS = "0123456789"
Row = tuple[str, str]


def bare(row: Row) -> Row:
    """A character without its digit, and its label. Raises ValueError if there is no digit."""
    cell, label = row
    if len(cell) < 2 or cell[-1] not in DIGITS:
        raise ValueError(
            f"{cell!r:.40} is no character with a digit behind it, its place in its word; take a "
            "file of weiboNER_2nd_conll"
        )
    return cell[:-1], label


def main(arguments: list[str] | None = None) -> int:
    """0 if all went well, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    given = parser.parse_args(arguments)
    given.target.parent.mkdir(parents=True, exist_ok=True)
    try:
        # Emoji are written as they are: no line parts documents or is a comment.
        sentences = read_columns(given.source, ("word", "label"), document_start=None)
        count = write_columns(given.target, ([bare((w, x)) for w, x in s] for s in sentences))
    except (ValueError, OSError) as error:
        print(f"{given.source}: {error}", file=sys.stderr)
        return 1
    print(f"{given.target}: {count:,} sentences")
    return 0


if __name__ == "__main__":
    sys.exit(main())
