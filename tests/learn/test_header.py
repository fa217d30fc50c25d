"""Headers of model files: what msgpack reads, unless it would take more memory than it is worth."""

from __future__ import annotations

import struct
import tracemalloc
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.learn.header import MAX_CONTAINERS, MAX_DEPTH, unpack_header
from spacy_structreg.learn.model_file import model_bytes, parse_model

SIZES = [0, 1, 15, 16, 31, 32, 255, 256, 65_535, 65_536]
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
)
objects = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(), inner, max_size=20),
    max_leaves=20,
)


@given(objects, st.data())
def test_reads_what_msgpack_reads(value: Any, data: st.DataObject) -> None:
    packed = msgpack.packb(value)
    assert unpack_header(packed) == value
    cut = data.draw(st.integers(0, len(packed) - 1))
    with pytest.raises(ValueError, match="truncated msgpack data"):
        unpack_header(packed[:cut])


@looped("size", SIZES)
def test_every_size(size: int) -> None:
    made: Any
    for made in ("x" * size, b"x" * size, [1] * size, {str(i): i for i in range(size)}):
        assert unpack_header(msgpack.packb(made)) == made


@given(st.binary(max_size=30))
def test_any_bytes_are_read_as_msgpack_reads_them_or_refused(packed: bytes) -> None:
    try:
        found = unpack_header(packed)
    except ValueError:
        return
    # NaN is not equal to itself.
    assert repr(found) == repr(msgpack.unpackb(packed))


def nested(depth: int) -> bytes:
    return b"\x91" * depth + b"\xc0"


@looped(
    ("packed", "message"),
    [
        (b"\xdd" + struct.pack(">I", 2**20) + b"\x90" * 2**20, "more than 65,536 lists"),
        (b"\xdd" + struct.pack(">I", 2**20) + b"\x80" * 2**20, "more than 65,536 lists"),
        (b"\xdd\x00\xff\xff\xff" * 1000, "more than 32 deep"),
        (b"\xdd\xff\xff\xff\xff" * 20, "truncated msgpack data"),
        (b"\xdf\xff\xff\xff\xff" + b"\xc0" * 10, "truncated msgpack data"),
        (b"\xc6\xff\xff\xff\xff", "truncated msgpack data"),
        (nested(MAX_DEPTH), "more than 32 deep"),
        (b"\xd4\x01\x00", "type 0xd4"),
        (b"\xc1", "type 0xc1"),
        (b"\xc0\xc0", "extra data"),
    ],
    ids=range(10),
)
def test_little_memory(packed: bytes, message: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message):
            unpack_header(packed)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_the_limits_themselves() -> None:
    assert unpack_header(nested(MAX_DEPTH - 1)) is not None
    assert len(unpack_header(msgpack.packb([[]] * (MAX_CONTAINERS - 1)))) == MAX_CONTAINERS - 1


def test_a_model_file_of_empty_lists() -> None:
    data = model_bytes({"lists": [[]] * 2**20}, {})
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"^some.srm: the header .* 65,536 lists"):
            parse_model(data, name="some.srm")
        # The bytes of the header are copied once.
        assert tracemalloc.get_traced_memory()[1] < 2 * len(data)
    finally:
        tracemalloc.stop()
