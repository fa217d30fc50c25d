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

from spacy_structreg.cli.training import load_training
from spacy_structreg.corpora import files
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
from spacy_structreg.corpora.formats.brackets import read_brackets
from spacy_structreg.corpora.formats.classified import read_classified
from spacy_structreg.corpora.formats.columns import read_columns
from spacy_structreg.corpora.formats.conllu import read_conllu
from spacy_structreg.corpora.formats.pfr import read_pfr
from spacy_structreg.corpora.formats.segmented import read_segmented
from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.tasks.segmentation.user_words import read_user_words

# Characters at which str.splitlines would split, though they end no line of a file.
TRAPS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


def lines_of(data: bytes, encoding: str = "utf-8") -> list[tuple[int, str]]:
    return list(decode_lines(io.BytesIO(data), "corpus.txt", encoding=encoding))


def fault_of(data: bytes, encoding: str = "utf-8") -> CorpusError:
    with pytest.raises(CorpusError) as caught:
        lines_of(data, encoding)
    return caught.value


def test_error_message_and_parts() -> None:
    error = CorpusError(Path("a.txt"), 3, "what is wrong; what to do")
    assert str(error) == "a.txt:3: what is wrong; what to do"
    assert (error.file, error.line, error.fault) == ("a.txt", 3, "what is wrong; what to do")
    assert isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is CorpusError
    assert str(again) == str(error)


def test_lines_are_numbered_from_one_and_stripped_of_their_breaks() -> None:
    assert lines_of("一\n\r\n二\r\n三".encode()) == [(1, "一"), (2, ""), (3, "二"), (4, "三")]
    assert lines_of(b"") == []


@looped("character", TRAPS)
def test_only_line_feeds_end_lines(character: str) -> None:
    assert lines_of(f"一{character}二\n".encode()) == [(1, f"一{character}二")]


def test_carriage_return_alone_ends_no_line() -> None:
    assert lines_of(b"a\rb\n") == [(1, "a\rb")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
def test_byte_order_mark_is_dropped_at_the_file_start_only(encoding: str) -> None:
    codec = encoding.removesuffix("-sig")
    assert lines_of("\ufeff一\n\ufeff二".encode(codec), encoding) == [(1, "一"), (2, "\ufeff二")]


@pytest.mark.parametrize(
    ("encoding", "text"), [("utf-8", "汉语😀"), ("gb18030", "汉语㐀"), ("big5hkscs", "漢語粵")]
)
def test_encodings(encoding: str, text: str) -> None:
    assert lines_of(f"{text}\n{text}".encode(encoding), encoding) == [(1, text), (2, text)]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_lines_have_a_limit(end: bytes) -> None:
    n_break = len(end.removesuffix(b"\n"))
    longest = b"a" * (LONGEST_LINE - n_break)
    assert [len(line) for _, line in lines_of(b"x\n" + longest + end)] == [1, len(longest)]
    error = fault_of(b"x\n" + longest + b"a" + end)
    assert (error.file, error.line) == ("corpus.txt", 2)
    assert f"longer than {LONGEST_LINE} bytes" in error.fault


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


@pytest.mark.parametrize(
    "read",
    [
        lambda path: list(read_segmented(path)),
        lambda path: list(read_columns(path, ["word"])),
        lambda path: list(read_classified(path)),
        lambda path: list(read_user_words(path)),
        lambda path: Gazetteers.from_files({"x": path}),
        lambda path: list(read_conllu(path)),
        lambda path: list(read_pfr(path)),
        lambda path: list(read_brackets(path)),
        load_training,
    ],
)
@pytest.mark.parametrize("name", ["x.txt", "x.jsonl", "x.txt.gz"])
def test_the_limit_is_everywhere(
    tmp_path: Path, read: Callable[[Path], object], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LONGEST_LINE", 1000)
    path = tmp_path / name
    with replace_text(path) as stream:
        stream.write("\n" + "a" * 1001)
    with pytest.raises(CorpusError, match="2: the line is longer than 1000 bytes"):
        read(path)


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


def test_undecodable_bytes_name_line_offset_and_remedy() -> None:
    error = fault_of("一\n".encode() + "a汉语".encode("gb18030"))
    assert error.line == 2
    assert "byte 0xba at byte offset 1" in error.fault
    assert "name the encoding" in error.fault


def test_encoded_surrogates_are_not_utf8() -> None:
    assert "byte offset 1" in fault_of(b"a\xed\xa0\x80\n").fault


def test_lone_surrogates_of_lenient_codecs_are_refused() -> None:
    error = fault_of(b"ok\na+2AA-\n", "utf-7")
    assert error.line == 2
    assert "U+D800 at offset 1" in error.fault


def test_nul_is_refused() -> None:
    error = fault_of(b"a\nbc\0\n")
    assert error.line == 2
    assert "NUL character at offset 2" in error.fault


def test_utf16_read_as_utf8_is_an_error() -> None:
    assert fault_of("汉语\n".encode("utf-16")).line == 1
    assert "NUL" in fault_of("abc\n".encode("utf-16-le")).fault


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-32-le", "cp037", "rot13", "no-such", "", "a\0"]
)
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


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
class TestCompressed:
    def test_is_read_directly(self, suffix: str, pack, tmp_path: Path) -> None:
        path = tmp_path / f"a.txt{suffix}"
        path.write_bytes(pack("\ufeff一\n二\n".encode()))
        assert list(read_lines(path)) == [(1, "一"), (2, "二")]
        assert list(read_lines(str(path))) == [(1, "一"), (2, "二")]

    def test_every_truncation_is_an_error(self, suffix: str, pack, tmp_path: Path) -> None:
        path = tmp_path / f"a.txt{suffix}"
        data = pack("一 二\n三 四\n".encode())
        for length in range(1, len(data)):
            path.write_bytes(data[:length])
            with pytest.raises(CorpusError, match="damaged or truncated") as caught:
                list(read_lines(path))
            assert caught.value.file == str(path)

    def test_line_number_of_the_damage(self, suffix: str, pack, tmp_path: Path) -> None:
        path = tmp_path / f"a.txt{suffix}"
        text = "".join(f"{number * 7919 % 10007}\n" for number in range(100_000))
        data = pack(text.encode())
        path.write_bytes(data[: len(data) // 2])
        seen = []
        with pytest.raises(CorpusError) as caught:
            seen.extend(read_lines(path))
        assert caught.value.line > 1000

    def test_other_data_under_the_name(self, suffix: str, pack, tmp_path: Path) -> None:
        path = tmp_path / f"a.txt{suffix}"
        path.write_bytes("一 二\n".encode())
        with pytest.raises(CorpusError, match=r":1: the compressed data is damaged"):
            list(read_lines(path))

    def test_is_written_and_the_same_every_time(self, suffix: str, pack, tmp_path: Path) -> None:
        paths = [tmp_path / f"{name}.txt{suffix}" for name in "ab"]
        for path in paths:
            with replace_text(path) as stream:
                stream.write("一\n二\n")
            assert list(read_lines(path)) == [(1, "一"), (2, "二")]
        assert paths[0].read_bytes() == paths[1].read_bytes() != "一\n二\n".encode()


def test_missing_file_is_the_usual_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(read_lines(tmp_path / "none.txt"))


def test_written_text_has_plain_line_feeds(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with replace_text(path) as stream:
        stream.write("一\n二\r\n")
    assert path.read_bytes() == "一\n二\r\n".encode()


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_written_as_it_is(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.txt")
        with replace_text(path) as stream:
            stream.write(text)
        assert path.read_bytes() == text.encode()


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.txt.xz"])
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
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
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


def test_missing_folder_is_the_usual_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replace_bytes(tmp_path / "none" / "a.txt"):
        pass
