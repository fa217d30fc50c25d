"""Take files out of an archive, as text in UTF-8.

`python scripts/unpack.py ARCHIVE MEMBER=TARGET ...`: write each member to its target. Without
the archive nothing is done.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
import zlib
from pathlib import Path

from spacy_structreg.corpora.files import replace_text

# A hundred times the largest file.
LARGEST = 1 << 28


def unpack(archive: Path, member: str, encoding: str) -> str:
    """The text of a member of an archive. Raises ValueError if there is no such text."""
    try:
        with zipfile.ZipFile(archive) as opened:
            if opened.getinfo(member).file_size > LARGEST:
                raise ValueError(f"{member} is too large")
            return opened.read(member).decode(encoding)
    except (
        zipfile.BadZipFile,
        NotImplementedError,
        RuntimeError,
        LookupError,
        ValueError,
        EOFError,
        zlib.error,
    ) as error:
        raise ValueError(
            f"{archive}: not the archive of the corpus ({error}); get it again"
        ) from error


def pair(text: str) -> tuple[str, Path]:
    member, _, target = text.partition("=")
    if not member or not target:
        raise argparse.ArgumentTypeError(f"{text!r} is not MEMBER=TARGET")
    return member, Path(target)


def main(arguments: list[str] | None = None) -> int:
    """0 if all went well, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("archive", type=Path)
    parser.add_argument("files", nargs="+", type=pair, metavar="MEMBER=TARGET")
    parser.add_argument("--encoding", default="utf-8", help="of the members")
    given = parser.parse_args(arguments)
    if not given.archive.is_file():
        return 0
    try:
        for member, target in given.files:
            text = unpack(given.archive, member, given.encoding)
            target.parent.mkdir(parents=True, exist_ok=True)
            with replace_text(target) as stream:
                stream.write(text)
            print(f"{target}: {member} of {given.archive}")
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
