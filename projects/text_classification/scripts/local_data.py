"""Put corpora where the project looks for them: from the folder STRUCTREG_DATA, if that is set.

`python scripts/local_data.py SOURCE=TARGET ...`: where the variable STRUCTREG_DATA names a folder
that has SOURCE (or SOURCE.xz or SOURCE.gz, which are decompressed), it is copied to TARGET. Every
target must be there in the end.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from spacy_structreg.corpora.files import DAMAGED, open_bytes, replace_bytes

VARIABLE = "STRUCTREG_DATA"
SUFFIXES = ("", ".xz", ".gz")


def find(folder: Path, source: str) -> Path | None:
    """The file of that name, or the compressed one."""
    paths = (folder / (source + suffix) for suffix in SUFFIXES)
    return next((path for path in paths if path.is_file()), None)


def pair(text: str) -> tuple[str, Path]:
    source, _, target = text.partition("=")
    if not source or not target:
        raise argparse.ArgumentTypeError(f"{text!r} is not SOURCE=TARGET")
    return source, Path(target)


def main(arguments: list[str] | None = None) -> int:
    """Copy what there is; 0 if every target is there, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("files", nargs="+", type=pair, metavar="SOURCE=TARGET")
    files: list[tuple[str, Path]] = parser.parse_args(arguments).files
    folder = os.environ.get(VARIABLE)
    if folder and not Path(folder).is_dir():
        print(f"{VARIABLE} names no folder: {folder}", file=sys.stderr)
        return 1
    missing = 0
    for source, target in files:
        found = find(Path(folder), source) if folder else None
        if found is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with open_bytes(found) as stream, replace_bytes(target) as copy:
                    shutil.copyfileobj(stream, copy)
            except (OSError, *DAMAGED) as error:
                print(f"{source} of {VARIABLE} cannot be copied: {error}", file=sys.stderr)
                return 1
            print(f"{target}: {source} of {VARIABLE}")
        elif target.is_file():
            print(f"{target}: as it is")
        else:
            missing += 1
            print(
                f"{target} is missing: run 'python -m spacy project assets', which fetches it or "
                f"says where it is to be had, or set {VARIABLE} to a folder that has {source}",
                file=sys.stderr,
            )
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
