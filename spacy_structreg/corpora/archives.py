"""Members of zip archives, read in bounded time and memory."""

from __future__ import annotations

import contextlib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

BLOCK = 1 << 16
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@contextlib.contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive for reading.

    Raises ValueError, naming the file, if it is no archive or damaged, OSError as `open`.
    """
    with path.open("rb") as stream:
        # Besides its own errors, zipfile has NotImplementedError for later versions of the format,
        # and for some damage ValueError, EOFError, or OSError from seeking before the start.
        try:
            archive = zipfile.ZipFile(stream)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, OSError) as error:
            raise ValueError(
                f"{path}: not a readable zip archive ({error}); get it again, or unpack it by "
                "another program"
            ) from error
        with archive:
            yield archive


def member_blocks(
    archive: zipfile.ZipFile, member: str, name: str, *, limit: int
) -> Iterator[bytes]:
    """Yield the bytes of a member of an archive.

    name: stands for the member in errors. limit: the most bytes that it may have.
    Raises ValueError if there is no such member, if it is larger, or if it is damaged, encrypted or
    compressed by another method than Deflate.
    """
    try:
        info = archive.getinfo(member)
    except KeyError as error:
        raise ValueError(
            f"{name}: the archive has no such member any more; list it again"
        ) from error
    if info.file_size > limit:
        raise ValueError(
            f"{name}: {info.file_size} bytes are more than the {limit} that it may have; get the "
            "archive again"
        )
    if info.compress_type not in METHODS:
        raise ValueError(
            f"{name}: compressed by another method than Deflate; unpack the archive by another "
            "program"
        )
    # zipfile gives no more bytes than file_size says, and checks their CRC. It has a RuntimeError
    # for encrypted members; for the others, see `open_archive`.
    try:
        with archive.open(info) as stream:
            while block := stream.read(BLOCK):
                yield block
    except (
        zipfile.BadZipFile,
        NotImplementedError,
        RuntimeError,
        ValueError,
        EOFError,
        OSError,
        zlib.error,
    ) as error:
        raise ValueError(
            f"{name}: the member cannot be unpacked, as it is damaged or encrypted ({error}); get "
            "the archive again"
        ) from error
