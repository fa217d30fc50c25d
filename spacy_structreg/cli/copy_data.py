"""`structreg copy-data` and `structreg unpack`: corpus files, put where a project reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.outputs import check_file
from spacy_structreg.cli.user_errors import user_errors

if TYPE_CHECKING:
    import zipfile

__all__ = ["copy_data", "copy_data_command", "unpack", "unpack_command"]

VARIABLE = "STRUCTREG_DATA"
SUFFIXES = ("", ".xz", ".gz")
LARGEST = 1 << 30
"""Most bytes of a file of an archive, some ten times the largest corpora of text that are free."""
BLOCK = 1 << 16


def copy_data_command(
    files: Annotated[
        list[str],
        Arg(metavar="SOURCE=TARGET", help="Path in the folder of corpora, and the file to write"),
    ],
    *,
    data: Annotated[
        Path | None, Opt("--data", "-d", envvar=VARIABLE, help="Folder of corpora")
    ] = None,
    missing_ok: Annotated[
        bool, Opt("--missing-ok", help="Leave out targets that cannot be had")
    ] = False,
) -> None:
    """Copy files from your folder of corpora to where a project reads them.

    The folder is named by the option --data or by the variable STRUCTREG_DATA. SOURCE may lie there
    as SOURCE.xz or SOURCE.gz, which is decompressed. PACKAGE:SOURCE is a file of an installed
    Python package, such as jieba:dict.txt. Sources of one target are joined, in their order. A
    target whose sources are not in the folder, or all targets without a folder, stay as they are;
    one that is nowhere is an error.
    """
    with user_errors():
        for line in copy_data(parse_pairs(files, "SOURCE"), data, missing_ok=missing_ok):
            typer.echo(line)


def unpack_command(
    archive: Annotated[Path, Arg(metavar="ARCHIVE", help="Archive, .zip")],
    files: Annotated[
        list[str],
        Arg(metavar="MEMBER=TARGET", help="Path in the archive, and the file to write"),
    ],
    *,
    encoding: Annotated[
        str | None,
        Opt("--encoding", "-e", help="Encoding of the members, which become UTF-8; none: as is"),
    ] = None,
    missing_ok: Annotated[
        bool, Opt("--missing-ok", help="Do nothing if there is no such archive")
    ] = False,
) -> None:
    """Take files out of a zip archive.

    In MEMBER, * stands for any characters and ? for one; members that it fits are joined in the
    order of their names.
    """
    with user_errors():
        pairs = parse_pairs(files, "MEMBER")
        if missing_ok and not archive.exists():
            return
        for line in unpack(archive, pairs, encoding=encoding):
            typer.echo(line)


def parse_pairs(texts: Sequence[str], source: str) -> dict[Path, list[str]]:
    """The sources of each target, from `SOURCE=TARGET`. Raises ValueError for anything else."""
    found: dict[Path, list[str]] = {}
    for text in texts:
        name, _, target = text.partition("=")
        if not name or not target:
            raise ValueError(f"{text!r} is not {source}=TARGET")
        found.setdefault(Path(target), []).append(name)
    return found


def copy_data(
    files: dict[Path, list[str]], data: Path | None = None, *, missing_ok: bool = False
) -> Iterator[str]:
    """Copy files from a folder of corpora; yields a line on each target.

    files: the sources of each target, by their path in the folder; ``package:path`` is a file of an
    installed package. data: the folder; None for none. missing_ok: whether a target may be missing
    in the end.

    A target is replaced in one step, or stays. Raises ValueError, OSError for a folder that there
    is not, damaged files, files that cannot be written, and missing targets.
    """
    if data is not None and not data.is_dir():
        raise ValueError(f"{data}: there is no such folder of corpora; see {VARIABLE} and --data")
    missing = []
    for target, sources in files.items():
        paths = [_find(data, source) for source in sources]
        found = [path for path in paths if path is not None]
        if len(found) == len(sources):
            check_file(target, *found)
            _write(target, map(_blocks, found))
            in_folder = "" if all(":" in source for source in sources) else f" of {data}"
            yield f"{target}: {', '.join(sources)}{in_folder}"
        elif target.is_file():
            yield f"{target}: as it is"
        elif not missing_ok:
            missing.append((target, sources))
    if missing:
        (target, sources), *others = missing
        if packages := [source.partition(":")[0] for source in sources if ":" in source]:
            raise ValueError(f"{target} is missing: install the package {packages[0]} first")
        more = f", like {', '.join(str(other) for other, _ in others)}," if others else ""
        raise ValueError(
            f"{target}{more} is missing: run 'python -m spacy project assets', which fetches it or "
            f"says where it is to be had, or set {VARIABLE} to a folder that has "
            f"{', '.join(sources)}"
        )


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file, decompressed."""
    from spacy_structreg.corpora.files import DAMAGED, damaged, open_bytes

    try:
        with open_bytes(path) as stream:
            while block := stream.read(BLOCK):
                yield block
    except DAMAGED as error:
        raise ValueError(f"{path}: {damaged(error)}") from error


def _find(folder: Path | None, source: str) -> Path | None:
    """The file of that name, or the compressed one."""
    package, colon, name = source.partition(":")
    if colon:
        # Without importing the package, which may do anything.
        spec = find_spec(package) if package.isidentifier() else None
        places = [] if spec is None else spec.submodule_search_locations or []
        return next((file for place in places if (file := Path(place, name)).is_file()), None)
    if folder is None:
        return None
    paths = (folder / (source + suffix) for suffix in SUFFIXES)
    return next((path for path in paths if path.is_file()), None)


def unpack(
    archive: Path, files: dict[Path, list[str]], *, encoding: str | None = None
) -> Iterator[str]:
    """Take files out of a zip archive; yields a line on each.

    files: the members of each target, or patterns of them. encoding: of the members; the files are
    in UTF-8 then.

    A file is replaced in one step, or stays. Raises ValueError, naming the archive, for members
    that there are not, that are damaged, encrypted, of another encoding or more than 1 GiB;
    OSError for files that cannot be read or written.
    """
    from spacy_structreg.corpora.archives import member_blocks, open_archive
    from spacy_structreg.corpora.files import line_encoding

    encoding = encoding and line_encoding(encoding)
    with open_archive(archive) as opened:
        members = {target: _members(opened, archive, names) for target, names in files.items()}

        def blocks(member: str) -> Iterator[bytes]:
            name = f"{archive}/{member}"
            stored = member_blocks(opened, member, name, limit=LARGEST)
            return stored if encoding is None else _recoded(stored, name, encoding)

        for target, names in members.items():
            check_file(target, archive)
            _write(target, map(blocks, names))
            said = names[0] if len(names) == 1 else f"{len(names)} files"
            yield f"{target}: {said} of {archive}"


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


def _recoded(blocks: Iterable[bytes], name: str, encoding: str) -> Iterator[bytes]:
    """Text in UTF-8."""
    import codecs

    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for block in blocks:
            yield decoder.decode(block).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        raise ValueError(f"{name}: not in {encoding}; name its encoding") from error


def _write(target: Path, parts: Iterable[Iterable[bytes]]) -> None:
    """Write a file in one step."""
    from spacy_structreg.corpora.files import replace_bytes

    with replace_bytes(target) as stream:
        for part in parts:
            stream.writelines(part)
