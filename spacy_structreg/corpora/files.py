"""Text files in and out: encodings, compression, line numbers, replacement in one step."""

from __future__ import annotations

import codecs
import contextlib
import errno
import gzip
import io
import lzma
import os
import re
import secrets
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, BinaryIO, TextIO, cast

from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath
from spacy_structreg.corpora.folders import lock_stream

LONGEST_LINE = 1 << 24
"""Most bytes of a line, its break not counted: 16 MiB, ten long novels.

So what has no line ends at all, such as /dev/zero or three gigabytes compressed to a few megabytes,
is an error before it fills the memory.
"""

LONGEST_FILE = 1 << 28
"""Most bytes of a file that is read as a whole, decompressed: 256 MiB."""

BYTE_ORDER_MARK = "\ufeff"
SURROGATE = re.compile("[\ud800-\udfff]")
TEMPORARY = ".tmp"
BLOCK = 1 << 20
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Numbers of the errors of a disk, a quota or a file that is full."""
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)


def read_lines(path: StrPath, *, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    r"""Yield (line number from 1, text without its line break) for each line of a file.

    Names ending in .gz and .xz are decompressed. Lines end at \n and \r\n and nowhere else: U+2028,
    U+0085, form feeds and the like are characters of the text. A byte order mark at the start of
    the file is dropped. `encoding` is any of Python's in which a line feed is the byte 0x0A: utf-8,
    gb18030, big5hkscs, …, but not utf-16.

    Raises CorpusError for lines of more than `LONGEST_LINE` bytes, bytes that are not of the
    encoding, NUL characters, lone surrogates and damaged or truncated compressed data, ValueError
    for an unusable encoding, OSError as `open`.
    """
    encoding = line_encoding(encoding)
    with open_bytes(path) as stream:
        yield from decode_lines(stream, path, encoding=encoding)


def decode_lines(
    stream: BinaryIO, name: StrPath, *, encoding: str = "utf-8"
) -> Iterator[tuple[int, str]]:
    """As `read_lines`, from an open binary stream; `name` stands for it in errors."""
    encoding = line_encoding(encoding)
    number = 0
    while True:
        try:
            # One byte more for the line feed, and another one to see that there is more.
            data = stream.readline(LONGEST_LINE + 2)
        except DAMAGED as error:
            raise CorpusError(name, number + 1, damaged(error)) from error
        if not data:
            return
        number += 1
        if len(data) - data.endswith(b"\n") > LONGEST_LINE:
            raise long_line(name, number)
        yield number, decode_line(data, name, number, encoding)


def read_blocks(path: StrPath, *, encoding: str = "utf-8") -> Iterator[str]:
    """Yield the lines of a file, line ends included, in blocks of about a million bytes.

    For text of any kind, NUL characters included. Raises, otherwise, as `read_lines`.
    """
    encoding = line_encoding(encoding)
    number = 1
    rest = b""
    with open_bytes(path) as stream:
        while True:
            try:
                data = stream.read(BLOCK)
            except DAMAGED as error:
                raise CorpusError(path, number, damaged(error)) from error
            whole, line_feed, rest = (rest + data).rpartition(b"\n") if data else (rest, b"", b"")
            if len(rest) > LONGEST_LINE:
                raise long_line(path, number + whole.count(b"\n"))
            if not data and not whole:
                return
            yield decode_block(whole + line_feed, path, number, encoding)
            number += whole.count(b"\n") + 1
            if not data:
                return


def read_text(path: StrPath, *, encoding: str = "utf-8") -> str:
    """The whole text of a file that is one value, such as JSON, line ends included.

    Raises CorpusError for more than `LONGEST_FILE` bytes; otherwise, but for long lines and NUL
    characters, as `read_lines`.
    """
    encoding = line_encoding(encoding)
    with open_bytes(path) as stream:
        try:
            data = stream.read(LONGEST_FILE + 1)
        except DAMAGED as error:
            raise CorpusError(path, 1, damaged(error)) from error
    if len(data) > LONGEST_FILE:
        raise CorpusError(
            path, 1, f"the file is longer than {LONGEST_FILE} bytes; part it into several files"
        )
    return decode_block(data, path, 1, encoding)


def decode_block(data: bytes, name: StrPath, number: int, encoding: str) -> str:
    """The text of some lines. number: of the first one. Raises CorpusError as `read_blocks`."""
    with contextlib.suppress(UnicodeDecodeError):
        text = data.decode(encoding)
        if encoding == "utf-8" or not SURROGATE.search(text):
            return text.removeprefix(BYTE_ORDER_MARK) if number == 1 else text
    # Line by line, for an error that says where.
    lines = enumerate(data.split(b"\n"), number)
    return "\n".join(decode_line(line, name, i, encoding, nul_is_text=True) for i, line in lines)


def damaged(error: Exception) -> str:
    """The fault of compressed data, for an error of `DAMAGED`."""
    return f"the compressed data is damaged or truncated ({error}); get the file again"


def long_line(name: StrPath, number: int) -> CorpusError:
    """The error for a line of more than `LONGEST_LINE` bytes."""
    return CorpusError(
        name,
        number,
        f"the line is longer than {LONGEST_LINE} bytes; part it into lines, or make sure that this "
        "is a text",
    )


def check_lines(path: StrPath) -> None:
    """Read a file to its end, for the errors of `read_lines`."""
    for _ in read_lines(path):
        pass


def check_line_end(line: str, file: StrPath, number: int) -> None:
    """Raise CorpusError for a carriage return within a line: it would be taken for a character.

    line, number: as `read_lines` yields them. Old Macintosh files have such line ends, and so have
    files whose line ends were converted twice.
    """
    if "\r" in line:
        raise CorpusError(
            file,
            number,
            f"carriage return at offset {line.index(chr(13))} of the line; convert the line ends "
            "of the file to line feeds",
        )


def decode_line(
    data: bytes, name: StrPath, number: int, encoding: str, *, nul_is_text: bool = False
) -> str:
    """The text of one line of bytes, without its line break; `encoding` as of `line_encoding`."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise CorpusError(
            name,
            number,
            f"byte 0x{data[error.start]:02x} at byte offset {error.start} of the line is not "
            f"{encoding}; name the encoding of the file (--encoding gb18030, big5hkscs, …)",
        ) from error
    if number == 1:
        text = text.removeprefix(BYTE_ORDER_MARK)
    text = text.removesuffix("\n").removesuffix("\r")
    if "\0" in text and not nul_is_text:
        raise CorpusError(
            name,
            number,
            f"NUL character at offset {text.index(chr(0))} of the line; this is no text in "
            f"{encoding}: name the encoding of the file, convert it to UTF-8, or remove the "
            "character",
        )
    # The UTF-8 codec refuses surrogates itself; utf-7 and a few others do not.
    if encoding != "utf-8" and (found := SURROGATE.search(text)):
        raise CorpusError(
            name,
            number,
            f"lone surrogate U+{ord(found[0]):04X} at offset {found.start()} of the line; it "
            "stands for no character: remove it or name another encoding",
        )
    return text


def line_encoding(encoding: str) -> str:
    """Python's name of an encoding, checked to be one whose lines end with the byte 0x0A.

    Raises ValueError otherwise. `utf-8-sig` becomes `utf-8`: the mark is dropped in any case.
    """
    try:
        name = codecs.lookup(encoding).name
        if b"\n".decode(name) != "\n":
            raise ValueError("its line feed is not the byte 0x0A")
    except (LookupError, ValueError) as error:
        raise ValueError(
            f"{encoding!r} is not an encoding that corpora can be read in ({error}); use one such "
            "as utf-8, gb18030 or big5hkscs, and convert files in UTF-16 or UTF-32 to UTF-8 first"
        ) from error
    return "utf-8" if name == "utf-8-sig" else name


def open_bytes(path: StrPath) -> BinaryIO:
    """Open a file for reading bytes; names ending in .gz and .xz are decompressed."""
    suffix = Path(path).suffix.lower()
    if suffix == ".gz":
        return cast("BinaryIO", gzip.open(path, "rb"))
    if suffix == ".xz":
        return cast("BinaryIO", lzma.open(path, "rb"))
    return Path(path).open("rb")


@contextlib.contextmanager
def replace_bytes(path: StrPath) -> Iterator[BinaryIO]:
    """A binary stream whose content becomes the file when the block ends without an error.

    The bytes go to a new file in the same folder, which then takes the place of the old one in one
    step: readers see the old file or the whole new one. When the block raises, the old file stays
    and nothing is left behind. Permission bits are those of a new file (umask); a symbolic link
    stays, and its target is replaced. Raises ValueError when `path` exists but is no regular file.
    """
    with named_errors(path, TEMPORARY), _temporary(path) as (stream, target):
        yield stream
        stream.flush()
        os.fsync(stream.fileno())
        if os.name == "nt":
            # Open files cannot be renamed there.
            stream.close()
        Path(stream.name).replace(target)


def check_writable(path: StrPath) -> None:
    """Make the folder of a file, and try whether `replace_bytes` could write it.

    For what is written after long work. What processes that were killed have left beside the file
    is removed. Raises ValueError as `replace_bytes`, OSError that names the file if it cannot be
    written.
    """
    with named_errors(path, TEMPORARY):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with _temporary(path) as (stream, target):
            for left in target.parent.glob(f".{_mark(target)}*{TEMPORARY}"):
                if left != Path(stream.name):
                    _remove_abandoned(left)
            stream.close()
            Path(stream.name).unlink()


@contextlib.contextmanager
def _temporary(path: StrPath) -> Iterator[tuple[BinaryIO, Path]]:
    """A new file beside one that is to be written, and that one behind all links.

    It is locked as long as it is open. When the block raises, it is removed. Raises ValueError as
    `replace_bytes`.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise ValueError(f"{os.fspath(path)}: not a regular file; name a file to write to")
    while True:
        new = target.with_name(f".{_mark(target)}{secrets.token_hex(4)}{TEMPORARY}")
        stream = new.open("xb")
        with contextlib.suppress(OSError):
            lock_stream(stream, wait=True)
        if new.exists():
            break
        # Taken for abandoned before it was locked.
        stream.close()
    try:
        yield stream, target
    except BaseException:
        # What is still buffered may not fit.
        with contextlib.suppress(OSError):
            stream.close()
        new.unlink(missing_ok=True)
        raise
    finally:
        stream.close()


def _mark(target: Path) -> str:
    """The prefix of the names of new files beside one, after the dot; shorter for long names."""
    return f"{zlib.crc32(os.fsencode(target.name)):08x}"


def _remove_abandoned(file: Path) -> None:
    """Remove a file that no process has open for writing any more."""
    # It may be gone, of another user, or where files cannot be locked.
    with contextlib.suppress(OSError), file.open("rb") as stream:
        if lock_stream(stream):
            file.unlink()


@contextlib.contextmanager
def named_errors(path: StrPath, temporary: str) -> Iterator[None]:
    """Make write errors name the requested file or folder, not a temporary one.

    temporary: what the name of a new file in the same folder ends with, or the first part of the
        path of what lies in a new folder begins with.
    """
    try:
        yield
    except OSError as error:
        target = Path(os.path.realpath(path))
        if error.filename is None:
            # What does not fit on a disk says nothing of the file.
            ours = error.errno in NO_ROOM
        else:
            # A folder that cannot be made or read, or what is new beside the old one.
            about = Path(os.path.realpath(error.filename))
            ours = about in (target, *target.parents)
            if about.is_relative_to(target.parent) and not ours:
                new = about.relative_to(target.parent).parts[0]
                ours = new.startswith(".") and (
                    new.endswith(temporary) or new.startswith(temporary)
                )
        if ours:
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise


@contextlib.contextmanager
def replace_text(path: StrPath, *, encoding: str = "utf-8") -> Iterator[TextIO]:
    """As `replace_bytes`, for text; line feeds are written as they are on every system.

    Names ending in .gz and .xz are compressed, so that `read_lines` reads the file back; the bytes
    are the same in every run. Writing a character that the encoding lacks raises
    UnicodeEncodeError.
    """
    encoding = line_encoding(encoding)
    with replace_bytes(path) as raw, contextlib.ExitStack() as stack:
        suffix = Path(path).suffix.lower()
        stream: IO[bytes] = raw
        if suffix == ".gz":
            # No name and no time in the header.
            stream = cast(
                "IO[bytes]",
                stack.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)),
            )
        elif suffix == ".xz":
            stream = stack.enter_context(lzma.LZMAFile(raw, "wb"))
        text = io.TextIOWrapper(stream, encoding=encoding, newline="")
        try:
            yield text
            text.flush()
        finally:
            # On failure, what is still buffered must not be written when the wrapper is freed.
            text.detach()


def write_texts(
    path: StrPath, texts: Iterable[str], *, encoding: str = "utf-8", end: str = ""
) -> int:
    """Write the texts of sentences, as they are, into a file (`replace_text`); return their number.

    end: written after the last one. Raises ValueError if there are none.
    """
    count = 0
    with replace_text(path, encoding=encoding) as stream:
        for text in texts:
            stream.write(text)
            count += 1
        if not count:
            raise ValueError("there is no sentence to write")
        stream.write(end)
    return count
