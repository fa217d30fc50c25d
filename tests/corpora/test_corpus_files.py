"""Text files: encodings, compression, faults with their place, replacement in one step."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import pickle
import re
import stat
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from typing_extensions import Buffer

from spacy_structreg.corpora.any_format import find_format
from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.files import (
    LONGEST_LINE,
    check_lines,
    decode_lines,
    read_lines,
    replace_bytes,
    replace_text,
)

# Characters at which str.splitlines would split, though they end no line of a file.
TRAPS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


def lines_of(data: bytes, encoding: str = "utf-8") -> list[tuple[int, str]]:
    return list(decode_lines(io.BytesIO(data), "corpus.txt", encoding=encoding))


def test_error_message_and_parts() -> None:
    error = CorpusError(Path("a.txt"), 3, "what is wrong; what to do")
    assert str(error) == "a.txt:3: what is wrong; what to do"
    assert (error.file, error.line, error.fault) == ("a.txt", 3, "what is wrong; what to do")
    assert isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is CorpusError
    assert str(again) == str(error)


@looped(
    ("text", "encoding", "lines"),
    [
        ("一\n\r\n二\r\n三", "utf-8", ["一", "", "二", "三"]),
        ("", "utf-8", []),
        # A carriage return alone ends no line, nor does what str.splitlines splits at.
        ("a\rb\n", "utf-8", ["a\rb"]),
        *((f"一{each}二\n", "utf-8", [f"一{each}二"]) for each in TRAPS),
        # A byte order mark is dropped at the start of the file only.
        *(
            ("\ufeff一\n\ufeff二", encoding, ["一", "\ufeff二"])
            for encoding in ("utf-8", "utf-8-sig", "gb18030")
        ),
        ("汉语😀\n汉语😀", "utf-8", ["汉语😀"] * 2),
        ("汉语㐀\n汉语㐀", "gb18030", ["汉语㐀"] * 2),
        ("漢語粵\n漢語粵", "big5hkscs", ["漢語粵"] * 2),
    ],
)
def test_lines(text: str, encoding: str, lines: list[str]) -> None:
    data = text.encode(encoding.removesuffix("-sig"))
    assert lines_of(data, encoding) == list(enumerate(lines, start=1))


@looped("end", [b"", b"\n", b"\r\n"])
def test_lines_have_a_limit(end: bytes) -> None:
    n_break = len(end.removesuffix(b"\n"))
    longest = b"a" * (LONGEST_LINE - n_break)
    assert [len(line) for _, line in lines_of(b"x\n" + longest + end)] == [1, len(longest)]
    with pytest.raises(CorpusError, match=f":2: the line is longer than {LONGEST_LINE} bytes"):
        lines_of(b"x\n" + longest + b"a" + end)


class Endless(io.RawIOBase):
    """Zeros without end, that counts what is read of it."""

    taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        size = len(memoryview(buffer))
        memoryview(buffer)[:] = bytes(size)
        self.taken += size
        return size


def test_what_has_no_line_end_is_read_up_to_the_limit() -> None:
    endless = Endless()
    with pytest.raises(CorpusError, match=r"corpus\.txt:1: the line is longer than"):
        list(decode_lines(io.BufferedReader(endless), "corpus.txt"))
    assert endless.taken <= LONGEST_LINE + (1 << 20)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
@pytest.mark.parametrize("read", [find_format, check_lines])
def test_devices_that_never_end(read: Callable[[Path], object]) -> None:
    with pytest.raises(CorpusError, match="/dev/zero:1: the line is longer than"):
        read(Path("/dev/zero"))


@pytest.mark.slow
@pytest.mark.parametrize("module", [gzip, lzma])
def test_bombs_are_unpacked_up_to_the_limit(tmp_path: Path, module: ModuleType) -> None:
    """Some kilobytes of 128 MiB without a line end take memory for a line, and no more."""
    path = tmp_path / f"bomb.{'gz' if module is gzip else 'xz'}"
    settings = {"preset": 0} if module is lzma else {"compresslevel": 1}
    with module.open(path, "wb", **settings) as stream:
        for _ in range(8):
            stream.write(bytes(LONGEST_LINE))
    assert path.stat().st_size < LONGEST_LINE / 16
    tracemalloc.start()
    try:
        with pytest.raises(CorpusError, match="1: the line is longer than"):
            check_lines(path)
        assert tracemalloc.get_traced_memory()[1] < 4 * LONGEST_LINE
    finally:
        tracemalloc.stop()


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\0"))))
def test_any_lines_come_back(lines: list[str]) -> None:
    data = "".join(f"{line}\n" for line in lines).encode()
    expected = [line.removeprefix("\ufeff") if i == 0 else line for i, line in enumerate(lines)]
    assert lines_of(data) == list(enumerate(expected, start=1))


@given(st.binary(), st.sampled_from(["utf-8", "gb18030", "big5hkscs", "utf-7", "shift_jis"]))
def test_any_bytes_are_text_or_a_clear_error(data: bytes, encoding: str) -> None:
    try:
        lines = lines_of(data, encoding)
    except CorpusError as error:
        place, _, remedy = str(error).partition("; ")
        if not re.match(r"corpus\.txt:\d+: .+", place) or not remedy:
            raise
    else:
        text = "\n".join(line for _, line in lines)
        assert not re.search("[\ud800-\udfff]", text)
        assert "\0" not in text


@looped(
    ("data", "encoding", "line", "fault"),
    [
        ("一\n".encode() + "a汉语".encode("gb18030"), "utf-8", 2, "byte 0xba at byte offset 1"),
        ("汉".encode("gb18030"), "utf-8", 1, "name the encoding"),
        # Encoded surrogates, and those of lenient codecs.
        (b"a\xed\xa0\x80\n", "utf-8", 1, "byte offset 1"),
        (b"ok\na+2AA-\n", "utf-7", 2, r"U\+D800 at offset 1"),
        (b"a\nbc\0\n", "utf-8", 2, "NUL character at offset 2"),
        ("汉语\n".encode("utf-16"), "utf-8", 1, "not utf-8"),
        ("abc\n".encode("utf-16-le"), "utf-8", 1, "NUL"),
    ],
)
def test_what_is_no_text(data: bytes, encoding: str, line: int, fault: str) -> None:
    with pytest.raises(CorpusError, match=fault) as caught:
        lines_of(data, encoding)
    assert (caught.value.file, caught.value.line) == ("corpus.txt", line)


@looped("encoding", ["utf-16", "utf-32-le", "cp037", "rot13", "no-such", "", "a\0"])
def test_unusable_encodings_are_refused(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\n")
    with pytest.raises(ValueError, match="is not an encoding that corpora can be read in"):
        list(read_lines(path, encoding=encoding))
    with (
        pytest.raises(ValueError, match="is not an encoding"),
        replace_text(path, encoding=encoding),
    ):
        pass
    assert path.read_bytes() == b"a\n"


@looped(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_compressed_files(suffix: str, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(pack("\ufeff一\n二\n".encode()))
    assert list(read_lines(path)) == list(read_lines(str(path))) == [(1, "一"), (2, "二")]
    # Every truncation is an error, and so is other data under the name.
    data = pack("一 二\n三 四\n".encode())
    for broken in (*(data[:length] for length in range(1, len(data))), "一 二\n".encode()):
        path.write_bytes(broken)
        with pytest.raises(CorpusError, match="damaged or truncated") as caught:
            list(read_lines(path))
        assert caught.value.file == str(path)
    data = pack("".join(f"{number * 7919 % 10007}\n" for number in range(100_000)).encode())
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(CorpusError) as caught:
        list(read_lines(path))
    assert caught.value.line > 1000
    # What is written is the same every time.
    other = tmp_path / f"b.txt{suffix}"
    for each in (path, other):
        with replace_text(each) as stream:
            stream.write("一\n二\n")
        assert list(read_lines(each)) == [(1, "一"), (2, "二")]
    assert path.read_bytes() == other.read_bytes() != "一\n二\n".encode()


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_written_as_it_is(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.txt")
        with replace_text(path) as stream:
            stream.write(text)
        assert path.read_bytes() == text.encode()


@looped("name", ["a.txt", "a.txt.gz", "a.txt.xz"])
def test_failure_keeps_the_old_file_and_leaves_nothing_behind(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"old")

    def write_text(encoding: str, last: str, error: BaseException | None) -> None:
        with replace_text(path, encoding=encoding) as stream:
            stream.write("new" * 100_000)
            stream.write(last)
            if error:
                raise error

    with pytest.raises(RuntimeError, match="stop"):
        write_text("utf-8", "", RuntimeError("stop"))
    with pytest.raises(KeyboardInterrupt):
        write_text("utf-8", "", KeyboardInterrupt())
    with pytest.raises(UnicodeEncodeError):
        write_text("gb18030", "\ud800", None)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    path.unlink()


def test_old_file_stays_readable_until_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with path.open("rb") as before, replace_bytes(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_bytes() == b"old"
        assert before.read() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="permission bits are those of POSIX")
@looped(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_permission_bits_follow_the_umask(tmp_path: Path, umask: int, mode: int) -> None:
    path = tmp_path / "a.bin"
    before = os.umask(umask)
    try:
        with replace_bytes(path) as stream:
            stream.write(b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need privileges")
def test_symbolic_links_stay_links(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target.txt", tmp_path / "link.txt"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with replace_bytes(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_folders_and_devices_are_not_replaced(tmp_path: Path) -> None:
    for path in (tmp_path, Path(os.devnull)):
        with pytest.raises(ValueError, match="not a regular file"), replace_bytes(path):
            pass
    assert not Path(os.devnull).is_file()


def test_missing_files_and_folders_are_the_usual_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(read_lines(tmp_path / "none.txt"))
    with pytest.raises(FileNotFoundError), replace_bytes(tmp_path / "none" / "a.txt"):
        pass
