"""Take files out of a zip archive.

`python ../scripts/unpack.py ARCHIVE MEMBER=TARGET ...` in the folder of a project.
"""

from __future__ import annotations

import codecs
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import typer
from copy_data import parse_pairs, write_parts

from spacy_structreg.cli.commands import run
from spacy_structreg.cli.outputs import check_file
from spacy_structreg.corpora.archives import member_blocks, open_archive
from spacy_structreg.corpora.files import line_encoding

LARGEST = 1 << 30
"""Most bytes of a file of an archive, some ten times the largest corpora of text that are free."""


def unpack(
    archive: Annotated[Path, typer.Argument(metavar="ARCHIVE", help="Archive, .zip")],
    files: Annotated[
        list[str],
        typer.Argument(metavar="MEMBER=TARGET", help="Path in the archive, and the file to write"),
    ],
    *,
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding", "-e", help="Encoding of the members, which become UTF-8; none: as is"
        ),
    ] = None,
    missing_ok: Annotated[
        bool, typer.Option("--missing-ok", help="Do nothing if there is no such archive")
    ] = False,
) -> None:
    """Take files out of a zip archive.

    In MEMBER, * stands for any characters and ? for one; members that it fits are joined in the
    order of their names.

    Raises ValueError, naming the archive, for members that there are not, that are damaged,
    encrypted, of another encoding or more than 1 GiB; OSError for files that cannot be read or
    written. A file is replaced in one step, or stays.
    """
    targets = parse_pairs(files, "MEMBER")
    if missing_ok and not archive.exists():
        return
    encoding = encoding and line_encoding(encoding)
    with open_archive(archive) as opened:
        members = {target: _members(opened, archive, names) for target, names in targets.items()}

        def blocks(member: str) -> Iterator[bytes]:
            name = f"{archive}/{member}"
            stored = member_blocks(opened, member, name, limit=LARGEST)
            return stored if encoding is None else recoded(stored, name, encoding)

        for target, names in members.items():
            check_file(target, archive)
            write_parts(target, map(blocks, names))
            said = names[0] if len(names) == 1 else f"{len(names)} files"
            typer.echo(f"{target}: {said} of {archive}")


def _members(opened: zipfile.ZipFile, archive: Path, patterns: Sequence[str]) -> list[str]:
    """The members of an archive that patterns name."""
    held = sorted(info.filename for info in opened.infolist() if not info.is_dir())
    found = []
    for pattern in patterns:
        # Brackets stand for themselves.
        shell = pattern.replace("[", "[[]")
        fitting = [name for name in held if fnmatchcase(name, shell)]
        if not fitting:
            raise ValueError(
                f"{archive}: there is no {pattern} in it, but "
                f"{', '.join(held[:3]) + ', …' * (len(held) > 3) if held else 'nothing'}; "
                "is it the right archive?"
            )
        found += fitting
    return found


def recoded(blocks: Iterable[bytes], name: str, encoding: str) -> Iterator[bytes]:
    """Text in UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for block in blocks:
            yield decoder.decode(block).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        raise ValueError(f"{name}: not in {encoding}; name its encoding") from error


if __name__ == "__main__":
    run(unpack)
