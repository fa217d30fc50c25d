"""The model file: what goes in comes out, and nothing else is ever taken for it."""

from __future__ import annotations

import mmap
import os
import pickle
import stat
import struct
import sys
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from looped import looped

from spacy_structreg.learn import model_file
from spacy_structreg.learn.model_file import (
    FORMAT_VERSION,
    SourceFile,
    model_bytes,
    model_checksum,
    parse_model,
    read_model,
    write_model,
)

MAGIC = b"\x89SRM\r\n\x1a\n"
PREAMBLE = struct.Struct("<8sIIIQ")
MEGABYTE = 1 << 20

HEADER = {"task": "test", "labels": ["B", "E"], "clock": 7}
ARRAYS = {
    "keys": np.array([3, 5, 2**64 - 1], dtype=np.uint64),
    "values": np.array([[0.5, -1.5], [2.0, 0.0], [1e30, -0.0]], dtype=np.float32),
    "columns": np.array([1, 65535], dtype=np.uint16),
    "empty": np.zeros((0, 4), dtype=np.float64),
    "stamps": np.array([-1, 2**63 - 1], dtype=np.int64),
}

headers = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**64 - 1)
        | st.floats(allow_nan=False)
        | st.text(max_size=5)
        | st.binary(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        ),
        max_leaves=6,
    ),
    max_size=4,
)
arrays_to_keep = st.dictionaries(
    st.text(max_size=6),
    st.sampled_from(["<f4", "<f8", "<i8", "<u2", "<u8", ">f4", ">i8"]).flatmap(
        lambda dtype: hnp.arrays(dtype, hnp.array_shapes(max_dims=2, min_side=0, max_side=5))
    ),
    max_size=4,
)


def small_file() -> bytes:
    return model_bytes(HEADER, ARRAYS)


def packed_file(header: bytes, rest: bytes = b"", **preamble: int) -> bytes:
    """A file with any header at all, whose preamble fits it where not said otherwise."""
    size = PREAMBLE.size + len(header) + len(rest)
    fields = {"version": FORMAT_VERSION, "length": len(header), "crc": zlib.crc32(header)}
    fields = {**fields, "total": size, **preamble}
    return PREAMBLE.pack(MAGIC, *fields.values()) + header + rest


def file_of(arrays: object, model: object = None, rest: bytes = b"") -> bytes:
    return packed_file(msgpack.packb({"model": model or {}, "arrays": arrays}), rest)


def entry(**changes: object) -> dict[str, object]:
    """The description of one array, of four zero bytes unless changed."""
    return {"name": "a", "type": "<f4", "shape": [1], "crc32": zlib.crc32(bytes(4)), **changes}


def assert_same(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> None:
    """Equal to the bit, whatever the order of bytes was."""
    assert list(left) == list(right)
    for name, array in left.items():
        assert array.dtype == right[name].dtype.newbyteorder("=")
        assert array.shape == right[name].shape
        native = right[name].astype(array.dtype)
        assert array.tobytes() == native.tobytes()


def refused(data: bytes) -> str:
    """The message with which a file is refused."""
    with pytest.raises(ValueError, match=r"^some\.srm: ") as caught:
        parse_model(data, name="some.srm")
    return str(caught.value)


def owner_of(array: np.ndarray) -> object:
    """What the memory of an array belongs to in the end."""
    base: Any = array
    while isinstance(base, (np.ndarray, memoryview)):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    return base


class TestRoundTrip:
    @given(headers, arrays_to_keep)
    def test_what_goes_in_comes_out(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        header: dict[str, Any],
        arrays: dict[str, np.ndarray],
    ) -> None:
        path = tmp_path_factory.mktemp("model") / "m.srm"
        write_model(path, header, arrays)
        data = path.read_bytes()
        assert data == model_bytes(header, arrays)
        for read, read_arrays in (read_model(path), parse_model(data)):
            assert read == header
            assert_same(read_arrays, arrays)

    def test_rows_that_are_not_contiguous(self) -> None:
        array = np.arange(24, dtype=np.float32).reshape(4, 6)
        for view in (array[:, ::2], array.T, array[::-1]):
            _, read = parse_model(model_bytes({}, {"a": view}))
            np.testing.assert_array_equal(read["a"], view)

    def test_arrays_lie_at_multiples_of_64_bytes(self) -> None:
        data = small_file()
        whole = np.frombuffer(data, dtype=np.uint8)
        for array in parse_model(data)[1].values():
            if array.size:
                offset = array.ctypes.data - whole.ctypes.data
                assert 0 < offset < len(data)
                assert offset % 64 == 0

    def test_equal_arrays_are_stored_once(self) -> None:
        """Equal to the bit, of one type and shape; 0 and -0, which are equal, are others."""
        zeros, negative = np.zeros(999, dtype=np.float32), -np.zeros(999, dtype=np.float32)
        arrays = {"a": zeros, "b": negative, "c": zeros.copy(), "d": zeros.reshape(3, 333)}
        data = model_bytes(HEADER, arrays)
        assert 3 * zeros.nbytes < len(data) < 4 * zeros.nbytes
        read = parse_model(data)[1]
        assert_same(read, arrays)
        assert np.shares_memory(read["a"], read["c"])

    def test_arrays_are_read_only(self) -> None:
        for array in parse_model(small_file())[1].values():
            assert not array.flags.writeable
            with pytest.raises(ValueError, match="cannot set WRITEABLE"):
                array.setflags(write=True)

    @pytest.mark.parametrize(
        "array",
        [
            np.zeros(2, dtype=np.int32),
            np.zeros(2, dtype=bool),
            np.zeros(2, dtype=np.complex128),
            np.array(["a"]),
            np.array([b"a"]),
            np.array([None], dtype=object),
            np.zeros(2, dtype="M8[s]"),
            np.zeros(2, dtype=[("x", "<f4")]),
            np.zeros((1, 1, 1), dtype=np.float32),
        ],
        ids=lambda array: f"{array.dtype}-{array.ndim}",
    )
    def test_other_arrays_are_not_written(self, array: np.ndarray, tmp_path: Path) -> None:
        with pytest.raises(TypeError, match="cannot store the array 'odd'"):
            write_model(tmp_path / "m.srm", {}, {"odd": array})
        assert list(tmp_path.iterdir()) == []

    def test_layout_as_documented(self, tmp_path: Path) -> None:
        """Read a file by the table in the docstring, without the module's own reader."""
        data = small_file()
        magic, version, length, checksum, total = PREAMBLE.unpack_from(data)
        assert (magic, version, total) == (MAGIC, 1, len(data))
        packed = data[PREAMBLE.size : PREAMBLE.size + length]
        (tmp_path / "m.srm").write_bytes(data)
        assert zlib.crc32(packed) == checksum == model_checksum(tmp_path / "m.srm")
        header = msgpack.unpackb(packed)
        assert header["model"] == HEADER
        end = PREAMBLE.size + length
        for described, (name, array) in zip(header["arrays"], ARRAYS.items(), strict=True):
            start = (end + 63) // 64 * 64
            assert set(data[end:start]) <= {0}
            end = start + array.nbytes
            assert described == {
                "name": name,
                "type": array.dtype.str,
                "shape": list(array.shape),
                "crc32": zlib.crc32(array.tobytes()),
            }
            assert data[start:end] == array.tobytes()
        assert end == total


class TestDamage:
    def test_every_prefix(self, tmp_path: Path) -> None:
        data = small_file()
        path = tmp_path / "m.srm"
        for length in range(len(data)):
            refused(data[:length])
            path.write_bytes(data[:length])
            for read in (read_model, model_checksum):
                with pytest.raises(ValueError, match=r"m\.srm: "):
                    read(path)

    def test_every_flip(self) -> None:
        """All single bits, and all bits of a byte at once."""
        data = small_file()
        header, arrays = parse_model(data)
        loaded = 0
        for i in range(len(data)):
            for flip in (*(1 << bit for bit in range(8)), 0xFF):
                damaged = bytearray(data)
                damaged[i] ^= flip
                try:
                    read, read_arrays = parse_model(bytes(damaged), name="some.srm")
                except ValueError as error:
                    assert str(error).startswith("some.srm: ")  # noqa: PT017
                    continue
                loaded += 1
                assert read == header
                assert_same(read_arrays, arrays)
        # What may be flipped without harm is the padding, and there is some.
        padding = len(data) - PREAMBLE.size - PREAMBLE.unpack_from(data)[2]
        padding -= sum(array.nbytes for array in arrays.values())
        assert loaded == 9 * padding > 0

    @pytest.mark.parametrize("more", [b"\0", b"x", bytes(64), MAGIC])
    def test_appended_bytes(self, more: bytes) -> None:
        assert "bytes instead of" in refused(small_file() + more)

    def test_another_version(self) -> None:
        for version in (0, FORMAT_VERSION + 1, 2**32 - 1):
            data = bytearray(small_file())
            data[8:12] = struct.pack("<I", version)
            assert f"format version {version}" in refused(bytes(data))

    def test_other_kinds_of_file(self) -> None:
        archive = pickle.dumps({"a": 1})
        for data in (b"", b"\0" * 100, archive, b"\x93NUMPY\x01\x00", b"PK\x03\x04", MAGIC[1:]):
            assert "not a model file" in refused(data)

    def test_not_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "empty.srm").touch()
        with pytest.raises(ValueError, match=r"empty\.srm: not a model file"):
            read_model(tmp_path / "empty.srm")
        for path in (tmp_path, tmp_path / "missing.srm"):
            with pytest.raises(OSError, match=path.name):
                read_model(path)

    def test_verify_false_skips_the_arrays_alone(self, tmp_path: Path) -> None:
        data = small_file()
        path = tmp_path / "m.srm"
        length = PREAMBLE.unpack_from(data)[2]
        for i in (*range(PREAMBLE.size + length), *range(PREAMBLE.size + length, len(data), 7)):
            damaged = bytearray(data)
            damaged[i] ^= 0x10
            path.write_bytes(damaged)
            if i < PREAMBLE.size + length:
                with pytest.raises(ValueError, match=r"m\.srm: "):
                    read_model(path, verify=False)
            else:
                header, arrays = read_model(path, verify=False)
                assert header == HEADER
                assert list(arrays) == list(ARRAYS)


BAD_ARRAYS = {
    "not a list": {"a": 1},
    "an entry is no map": [[1]],
    "no name": [{"type": "<f4", "shape": [0], "crc32": 0}],
    "name is a number": [entry(name=3)],
    "name is bytes": [entry(name=b"a")],
    "name is a list": [entry(name=["a"])],
    "names twice": [entry(), entry()],
    "empty names twice": [entry(shape=[0], crc32=0), entry(shape=[0], crc32=0)],
    "shape is a number": [entry(shape=1)],
    "shape is a string": [entry(shape="1")],
    "shape is empty": [entry(shape=[])],
    "three dimensions": [entry(shape=[1, 1, 1])],
    "negative": [entry(shape=[-1])],
    "two negatives": [entry(shape=[-1, -1])],
    "bool": [entry(shape=[True])],
    "float": [entry(shape=[1.0])],
    "huge": [entry(shape=[2**62])],
    "huge product": [entry(shape=[2**47, 2**47])],
    "product wraps to 0": [entry(shape=[2**32, 2**32])],
    "largest": [entry(shape=[2**64 - 1])],
    "one too many": [entry(shape=[2])],
    "one too few": [entry(shape=[0])],
    "checksum is a string": [entry(crc32="0")],
    "checksum is missing": [{"name": "a", "type": "<f4", "shape": [1]}],
    "checksum is huge": [entry(crc32=2**64 - 1)],
    "checksum is wrong": [entry(crc32=1)],
    "same as none": [entry(same_as="b")],
    "same as itself": [entry(same_as="a")],
    "same as a later one": [entry(same_as="b"), entry(name="b")],
    "same as a list": [entry(), entry(name="b", same_as=["a"])],
    "same as one that is stored elsewhere": [
        entry(),
        entry(name="b", same_as="a"),
        entry(name="c", same_as="b"),
    ],
    "same as one of another shape": [entry(), entry(name="b", same_as="a", shape=[1, 1])],
    "same as one of another type": [entry(), entry(name="b", same_as="a", type="<u4")],
    "same as one of another checksum": [entry(), entry(name="b", same_as="a", crc32=0)],
    **{
        f"type {kind!r}": [entry(type=kind)]
        for kind in (
            *("|O", "O", "object", ">f4", "<f2", "|b1", "<U1", "|V4", "<M8[s]", "f4", "", "<i4"),
            *(b"<f4", 4, None, ["<f4"], [["x", "<f4"]], {"names": ["x"], "formats": ["O"]}),
        )
    },
}


class TestCraftedHeaders:
    """Headers with right checksums and wrong contents."""

    @pytest.fixture(autouse=True)
    def no_unpickling(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*args: object, **kwargs: object) -> None:
            raise AssertionError("something was unpickled")

        for name in ("load", "loads", "Unpickler"):
            monkeypatch.setattr(pickle, name, fail)
        monkeypatch.setattr(np, "load", fail)

    @pytest.fixture(autouse=True)
    def bounded_memory(self) -> Iterator[None]:
        tracemalloc.start()
        try:
            yield
            assert tracemalloc.get_traced_memory()[1] < 16 * MEGABYTE
        finally:
            tracemalloc.stop()

    def test_a_sound_file_is_taken(self) -> None:
        """What the crafted files below are variations of."""
        value = struct.pack("<f", 1.5)
        plain = file_of([entry(crc32=zlib.crc32(value))])
        data = file_of([entry(crc32=zlib.crc32(value))], rest=bytes(-len(plain) % 64) + value)
        assert parse_model(data)[1]["a"].tolist() == [1.5]
        no_rows = [entry(shape=[0, 2**47], crc32=0)]
        data = file_of(no_rows, rest=bytes(-len(file_of(no_rows)) % 64))
        assert parse_model(data)[1]["a"].shape == (0, 2**47)

    @looped("arrays", BAD_ARRAYS.values(), ids=BAD_ARRAYS)
    def test_arrays(self, arrays: object) -> None:
        plain = file_of(arrays)
        padding = -len(plain) % 64
        for n in (0, padding, padding + 4, padding + 64 + 4):
            refused(file_of(arrays, rest=bytes(n)))

    @looped(
        "header",
        [
            b"",
            b"\xc1",
            msgpack.packb(None),
            msgpack.packb([]),
            msgpack.packb({}),
            msgpack.packb({"model": {}}),
            msgpack.packb({"arrays": []}),
            msgpack.packb({"model": [], "arrays": []}),
            msgpack.packb({"model": {}, "arrays": None}),
            msgpack.packb({"model": {}, "arrays": []}) + b"\0",
            msgpack.packb({"model": {1: 2}, "arrays": []}),
            b"\x82\xa5model\x80\xa6arrays\x91\xc1",
            b"\x91" * 100_000,
            b"\x81\x91\x01\x01",
        ],
        ids=lambda header: f"{len(header)}-{header[:12].hex()}",
    )
    def test_headers(self, header: bytes) -> None:
        refused(packed_file(header))

    def test_lengths_of_the_header(self) -> None:
        header = msgpack.packb({"model": {}, "arrays": []})
        for length in (0, 1, len(header) - 1, len(header) + 1, 2**26, 2**26 + 1, 2**32 - 1):
            refused(packed_file(header, length=length))

    def test_length_of_the_file(self) -> None:
        header = msgpack.packb({"model": {}, "arrays": []})
        for total in (0, 28, 2**63 - 1, 2**63, 2**64 - 1):
            refused(packed_file(header, total=total))

    def test_a_header_that_would_be_too_long(self, tmp_path: Path) -> None:
        """A file with holes: the length is true, and still nothing of that size is read."""
        length = 1 << 30
        path = tmp_path / "m.srm"
        with path.open("wb") as stream:
            stream.write(PREAMBLE.pack(MAGIC, FORMAT_VERSION, length, 0, PREAMBLE.size + length))
            stream.truncate(PREAMBLE.size + length)
        tracemalloc.stop()
        tracemalloc.start()
        for read in (read_model, model_checksum):
            with pytest.raises(ValueError, match=r"m\.srm: the header is damaged"):
                read(path)
        # The limit of a header is 64 MB; it may be read once before it is found too short.
        assert tracemalloc.get_traced_memory()[1] < 300 * MEGABYTE
        tracemalloc.stop()
        tracemalloc.start()

    @given(st.binary(max_size=80))
    def test_any_header(self, header: bytes) -> None:
        try:
            parse_model(packed_file(header), name="some.srm")
        except ValueError as error:
            assert str(error).startswith("some.srm: ")  # noqa: PT017

    @given(st.binary(max_size=80))
    def test_any_bytes(self, data: bytes) -> None:
        refused(data)
        refused(MAGIC + data)


class TestFiles:
    def test_permission_bits_follow_the_umask(self, tmp_path: Path) -> None:
        for mask, mode in ((0o022, 0o644), (0o077, 0o600), (0o002, 0o664)):
            path = tmp_path / f"{mask}.srm"
            before = os.umask(mask)
            try:
                write_model(path, HEADER, ARRAYS)
                write_model(path, HEADER, ARRAYS)
            finally:
                os.umask(before)
            assert stat.S_IMODE(path.stat().st_mode) == mode

    @pytest.mark.parametrize("breaks", ["header", "array", "disk", "replace", "user"])
    def test_failure_leaves_the_old_file(
        self, breaks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "m.srm"
        write_model(path, HEADER, ARRAYS)
        before = path.read_bytes()
        header, arrays = dict(HEADER), dict(ARRAYS)

        def fail(*args: object) -> None:
            raise OSError("no space left")

        class Interrupting(dict[str, np.ndarray]):
            def items(self) -> Any:
                yield "a", np.zeros(1)
                raise KeyboardInterrupt

        if breaks == "header":
            header["odd"] = object()
        elif breaks == "array":
            arrays["odd"] = np.zeros(1, dtype=np.int8)
        elif breaks == "disk":
            monkeypatch.setattr(os, "fsync", fail)
        elif breaks == "replace":
            monkeypatch.setattr(Path, "replace", fail)
        else:
            arrays = Interrupting()
        with pytest.raises((OSError, TypeError, KeyboardInterrupt)):
            write_model(path, header, arrays)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]

    @pytest.mark.parametrize("mapped", [True, False, None])
    @pytest.mark.parametrize("limit", [10, 1 << 20])
    def test_large_files_are_mapped(
        self, mapped: bool | None, limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(model_file, "COPIED_UP_TO", limit)
        path = tmp_path / "m.srm"
        write_model(path, HEADER, ARRAYS)
        _, arrays = read_model(path, mapped=mapped)
        expected = limit == 10 if mapped is None else mapped
        for array in arrays.values():
            assert isinstance(owner_of(array), mmap.mmap) == expected
            assert not array.flags.owndata
        assert SourceFile(path, mapped=mapped).is_mapped == expected

    def test_arrays_of_bytes_are_views(self) -> None:
        data = small_file()
        _, arrays = parse_model(data)
        for array in arrays.values():
            assert owner_of(array) is data

    @pytest.mark.skipif(sys.platform == "win32", reason="no mapped file can be written to")
    def test_a_file_that_is_written_to_while_it_is_mapped(self, tmp_path: Path) -> None:
        path = tmp_path / "m.srm"
        write_model(path, HEADER, ARRAYS)
        data = path.read_bytes()
        source, copied = SourceFile(path, mapped=True), SourceFile(path, mapped=False)
        source.check()
        other = bytearray(data)
        other[-1] ^= 1
        for i, contents in enumerate((b"", data[:100], data[:-1], data + b"x", bytes(other))):
            path.write_bytes(contents)
            os.utime(path, ns=(i, i))  # The clock of a file system may be slow.
            with pytest.raises(
                ValueError, match=r"m\.srm: the file was written to .* load it again"
            ):
                source.check()
            copied.check()
        # The same again is no fault; nor is another file in its place, or none.
        path.write_bytes(data)
        os.utime(path, ns=(9, 9))
        source.check()
        source.check()
        write_model(path, {"task": "other"}, {})
        source.check()
        path.unlink()
        source.check()
        assert_same(parse_model(source.data)[1], ARRAYS)

    def test_checksum_changes_with_any_content(self, tmp_path: Path) -> None:
        path = tmp_path / "m.srm"
        seen = set()
        changes: list[Callable[[], tuple[Any, Any]]] = [
            lambda: (HEADER, ARRAYS),
            lambda: ({**HEADER, "clock": 8}, ARRAYS),
            lambda: (HEADER, {**ARRAYS, "keys": ARRAYS["keys"] - np.uint64(1)}),
            lambda: (HEADER, {"more": np.zeros(0), **ARRAYS}),
        ]
        for change in changes:
            write_model(path, *change())
            seen.add(model_checksum(path))
        assert len(seen) == len(changes)
