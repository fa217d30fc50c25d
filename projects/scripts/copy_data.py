"""Copy corpora from a folder of yours to where a project reads them.

`python ../scripts/copy_data.py SOURCE=TARGET ...` in the folder of a project.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from spacy_structreg.cli.commands import run
from spacy_structreg.cli.outputs import check_file
from spacy_structreg.corpora.files import DAMAGED, damaged, open_bytes, replace_bytes

VARIABLE = "STRUCTREG_DATA"
SUFFIXES = ("", ".xz", ".gz")
BLOCK = 1 << 16


def copy_data(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE=TARGET", help="Path in the folder of corpora, and the file to write"
        ),
    ],
    *,
    data: Annotated[
        Path | None, typer.Option("--data", "-d", envvar=VARIABLE, help="Folder of corpora")
    ] = None,
    missing_ok: Annotated[
        bool, typer.Option("--missing-ok", help="Leave out targets that cannot be had")
    ] = False,
) -> None:
    """Copy files from your folder of corpora to where a project reads them.

    The folder is named by the option --data or by the variable STRUCTREG_DATA. SOURCE may lie there
    as SOURCE.xz or SOURCE.gz, which is decompressed. PACKAGE:SOURCE is a file of an installed
    Python package, such as jieba:dict.txt. Sources of one target are joined, in their order. A
    target whose sources are not in the folder, or all targets without a folder, stay as they are;
    one that is nowhere is an error.

    Raises ValueError, OSError for a folder that there is not, damaged files, files that cannot be
    written, and missing targets. A target is replaced in one step, or stays.
    """
    if data is not None and not data.is_dir():
        raise ValueError(f"{data}: there is no such folder of corpora; see {VARIABLE} and --data")
    missing = []
    for target, sources in parse_pairs(files, "SOURCE").items():
        paths = [find_source(data, source) for source in sources]
        found = [path for path in paths if path is not None]
        if len(found) == len(sources):
            check_file(target, *found)
            write_parts(target, map(read_blocks, found))
            in_folder = "" if all(":" in source for source in sources) else f" of {data}"
            typer.echo(f"{target}: {', '.join(sources)}{in_folder}")
        elif target.is_file():
            typer.echo(f"{target}: as it is")
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


def read_blocks(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file, decompressed."""
    try:
        with open_bytes(path) as stream:
            while block := stream.read(BLOCK):
                yield block
    except DAMAGED as error:
        raise ValueError(f"{path}: {damaged(error)}") from error


def find_source(folder: Path | None, source: str) -> Path | None:
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


def parse_pairs(texts: Sequence[str], source: str) -> dict[Path, list[str]]:
    """The sources of each target, from `SOURCE=TARGET`. Raises ValueError for anything else."""
    found: dict[Path, list[str]] = {}
    for text in texts:
        name, _, target = text.partition("=")
        if not name or not target:
            raise ValueError(f"{text!r} is not {source}=TARGET")
        found.setdefault(Path(target), []).append(name)
    return found


def write_parts(target: Path, parts: Iterable[Iterable[bytes]]) -> None:
    """Write a file in one step."""
    with replace_bytes(target) as stream:
        for part in parts:
            stream.writelines(part)


if __name__ == "__main__":
    run(copy_data)
