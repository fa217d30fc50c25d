"""Take the trees out of the archive that NLTK gives out.

`python scripts/unpack.py ARCHIVE TARGET`: write its file sinica_treebank/parsed to TARGET. Without
the archive nothing is done.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
import zlib
from pathlib import Path

from spacy_structreg.corpora.files import replace_bytes

MEMBER = "sinica_treebank/parsed"
# A hundred times the file.
LARGEST = 1 << 28


def unpack(archive: Path, target: Path) -> None:
    """Write the trees of the archive to a file. Raises ValueError if it is not the archive."""
    try:
        with zipfile.ZipFile(archive) as opened:
            if opened.getinfo(MEMBER).file_size > LARGEST:
                raise ValueError(f"{MEMBER} is too large")
            data = opened.read(MEMBER)
    except (
        zipfile.BadZipFile,
        NotImplementedError,
        RuntimeError,
        KeyError,
        ValueError,
        EOFError,
        zlib.error,
    ) as error:
        raise ValueError(
            f"{archive}: not the archive of the treebank ({error}); get it again"
        ) from error
    target.parent.mkdir(parents=True, exist_ok=True)
    with replace_bytes(target) as stream:
        stream.write(data)
    print(f"{target}: {MEMBER} of {archive}")


def main(arguments: list[str] | None = None) -> int:
    """0 if all went well, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("archive", type=Path)
    parser.add_argument("target", type=Path)
    given = parser.parse_args(arguments)
    try:
        if given.archive.is_file():
            unpack(given.archive, given.target)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
