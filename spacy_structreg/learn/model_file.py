"""The model file: a checked header and raw arrays, written in one step, mapped if it is large.

Layout, all numbers little-endian:

====================  =======================================================================
8 bytes               magic
u32, u32, u32, u64    format version, length and CRC-32 of the header, length of the file
header                msgpack: what the caller gave, under "model"; and under "arrays" the name,
                      type, shape and CRC-32 of each array, and "same_as", the name of an earlier
                      array with the same contents, which are then stored once
arrays                each begins at a multiple of 64 bytes, with zeros before it
====================  =======================================================================

Nothing is allocated before the header has been checked, and nothing is ever unpickled.

A mapped file is to be replaced by another one, as `write_model` does, never written to in place:
the system ends a process that reads what was cut off. `SourceFile.check` finds that out before.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, TypeAlias

import msgpack
import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.corpus_errors import StrPath
from spacy_structreg.learn.header import unpack_header

FORMAT_VERSION: Final = 1

State: TypeAlias = Literal["training", "trained", "frozen"]
STATES: Final = ("training", "trained", "frozen")
Arrays: TypeAlias = dict[str, NDArray[Any]]
Buffer: TypeAlias = bytes | memoryview | mmap.mmap

COPIED_UP_TO: Final = 32 << 20
"""Files of so many bytes are copied into memory by default; longer ones are mapped."""

_MAGIC: Final = b"\x89SRM\r\n\x1a\n"
_PREAMBLE: Final = struct.Struct("<8sIIIQ")
_ALIGNMENT: Final = 64
_MAX_HEADER: Final = 1 << 24
_MAX_DIMENSIONS: Final = 2
_TYPES: Final = {"<f4", "<f8", "<i8", "<u2", "<u4", "<u8", "|u1"}


def model_bytes(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The contents of a model file.

    header: whatever msgpack can hold. arrays: float32, float64, int64, uint8, uint16, uint32 or
    uint64, of one or two dimensions.
    """
    return b"".join(_chunks(header, arrays))


def write_model(
    path: StrPath, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a model file atomically."""
    from spacy_structreg.corpora.files import replace_bytes

    with replace_bytes(path) as stream:
        for chunk in _chunks(header, arrays):
            stream.write(chunk)


class SourceFile:
    """The file that a model is read from: its contents, copied or mapped into memory.

    path: of the file. mapped: whether to map it, which processes share, rather than copy it; by
        default, if it is longer than `COPIED_UP_TO`.
    Raises OSError if it cannot be read.
    """

    def __init__(self, path: StrPath, *, mapped: bool | None = None) -> None:
        self.path = Path(path).absolute()
        with self.path.open("rb") as stream:
            state = os.fstat(stream.fileno())
            if mapped is None:
                mapped = state.st_size > COPIED_UP_TO
            # An empty file cannot be mapped.
            self.is_mapped = mapped and state.st_size > 0
            """True if the contents lie in the file."""
            self.data: Buffer = (
                mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
                if self.is_mapped
                else _read(stream, state.st_size)
            )
        self._state = _state_of(state)

    @property
    def checksum(self) -> int:
        """Return `model_checksum` of a parsed file."""
        return _parse_header(self.data, str(self.path))[1]

    def check(self) -> None:
        """Raise ValueError if the file was written to since it was mapped.

        What happens while weights are being read cannot be caught. Another file in its place is
        all right, and so is one whose contents are still the same.
        """
        if not self.is_mapped:
            return
        try:
            state = _state_of(self.path.stat())
        except OSError:
            return  # It has been removed, or its folder: the system keeps what is mapped.
        if state == self._state or state[:2] != self._state[:2]:
            return
        fault = (
            f"{self.path}: the file was written to while it was in use; load it again, and replace "
            "model files instead: write another one beside it and rename that"
        )
        if state[2] != len(self.data):
            raise ValueError(fault)
        try:
            parse_model(self.data)
        except ValueError as error:
            raise ValueError(fault) from error
        self._state = state


def _read(stream: BinaryIO, size: int) -> Buffer:
    """The contents of a file of some size; a pipe has none."""
    if not size:
        return stream.read()
    # Memory of numpy has large pages, which come three times as fast.
    data = np.empty(size, dtype=np.uint8).data
    return data[: stream.readinto(data)].toreadonly()  # type: ignore[attr-defined]


def _state_of(state: os.stat_result) -> tuple[int, int, int, int]:
    """Identity of a file (device and number), and what changes with its contents: size and time."""
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


def read_model(
    path: StrPath, *, verify: bool = True, mapped: bool | None = None
) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a model file.

    verify: check the arrays' checksums too, which reads the whole file (about 1 ms a MB).
    mapped: as of `SourceFile`.
    Raises ValueError, naming the file, if it is not a whole model file of this version; OSError
    if it cannot be read.
    """
    return parse_model(SourceFile(path, mapped=mapped).data, name=str(path), verify=verify)


def parse_model(
    data: Buffer, *, name: str = "model", verify: bool = True
) -> tuple[dict[str, Any], Arrays]:
    """As `read_model`, from the contents of a file; the arrays are read-only views of them.

    name: what to call the file in an error.
    """
    header, _ = _parse_header(data, name)
    start = _PREAMBLE.size + _header_length(data)
    arrays: Arrays = {}
    for entry in header["arrays"]:
        if "same_as" in entry:
            arrays[entry["name"]] = arrays[entry["same_as"]]
            continue
        start += -start % _ALIGNMENT
        dtype, shape = np.dtype(entry["type"]), tuple(entry["shape"])
        size = dtype.itemsize * prod(shape)
        # The header's checks have made sure that the data is as long as the arrays need.
        array = np.frombuffer(data, dtype=dtype, count=prod(shape), offset=start)
        if verify and zlib.crc32(array.data) != entry["crc32"]:
            raise ValueError(
                f"{name}: the checksum of the array {entry['name']!r} is wrong, the file is "
                "damaged; get it again or train again"
            )
        array = array.reshape(shape).astype(dtype.newbyteorder("="), copy=False)
        array.setflags(write=False)
        arrays[entry["name"]] = array
        start += size
    model: dict[str, Any] = header["model"]
    return model, arrays


def is_model(data: Buffer) -> bool:
    """True if contents begin as those of a model file do."""
    return bytes(data[: len(_MAGIC)]) == _MAGIC


def is_model_file(path: StrPath) -> bool:
    """True if a file begins as a model file does. Raises OSError if it cannot be read."""
    with Path(path).open("rb") as stream:
        return is_model(stream.read(len(_MAGIC)))


def model_checksum(path: StrPath) -> int:
    """The CRC-32 of a model file's header, which holds the checksums of all its arrays.

    Raises as `read_model`.
    """
    with Path(path).open("rb") as stream:
        data = stream.read(_PREAMBLE.size)
        if len(data) == _PREAMBLE.size:
            data += stream.read(min(_header_length(data), _MAX_HEADER))
        size = stream.seek(0, 2)
    return _parse_header(data, str(path), size)[1]


def field(header: Mapping[str, Any], name: str, kind: type | tuple[type, ...]) -> Any:
    """A field of a header. Raises ValueError if it is missing or of another type."""
    value = header.get(name)
    kinds = kind if isinstance(kind, tuple) else (kind,)
    # A bool is an int to Python, but not to us.
    fits = bool in kinds if isinstance(value, bool) else isinstance(value, kinds)
    if name not in header or not fits:
        raise ValueError(f"the header field {name!r} is missing or of the wrong type")
    return value


def keyed_arrays(arrays: Mapping[str, Any], dtypes: Mapping[str, Any], of: str) -> Arrays:
    """Copies of the arrays of a table, read-only: files that are mapped may change, and be gone.

    dtypes: of all arrays that there must be, of one dimension each; ``keys`` must rise.
    of: what they are of, for errors. Raises ValueError for others.
    """
    if set(arrays) != set(dtypes):
        raise ValueError(f"expected the arrays {', '.join(dtypes)} of {of}, got {sorted(arrays)}")
    kept: Arrays = {}
    for name, dtype in dtypes.items():
        array = arrays[name]
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
            raise ValueError(f"the {name} of {of} must be 1-D {np.dtype(dtype)}")
        kept[name] = array.copy()
        kept[name].setflags(write=False)
    if (kept["keys"][1:] <= kept["keys"][:-1]).any():
        raise ValueError(f"the keys of {of} are not in ascending order")
    return kept


def _chunks(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> Iterator[bytes | memoryview]:
    stored: Arrays = {}
    entries: list[dict[str, Any]] = []
    written: dict[tuple[str, tuple[int, ...], int], str] = {}
    for name, given in arrays.items():
        dtype = given.dtype.newbyteorder("<")
        if dtype.str not in _TYPES or not 1 <= given.ndim <= _MAX_DIMENSIONS:
            raise TypeError(f"cannot store the array {name!r}: {given.dtype} {given.shape}")
        array = np.ascontiguousarray(given, dtype=dtype)
        checksum = zlib.crc32(array.data)
        entry = {
            "name": name,
            "type": array.dtype.str,
            "shape": list(array.shape),
            "crc32": checksum,
        }
        # Such as a word list that two models of an ensemble have.
        earlier = written.setdefault((array.dtype.str, array.shape, checksum), name)
        if earlier != name and array.tobytes() == stored[earlier].tobytes():
            entry["same_as"] = earlier
        else:
            stored[name] = array
        entries.append(entry)
    packed: bytes = msgpack.packb({"model": dict(header), "arrays": entries})
    start = end = _PREAMBLE.size + len(packed)
    for array in stored.values():
        end += -end % _ALIGNMENT + array.nbytes
    yield _PREAMBLE.pack(_MAGIC, FORMAT_VERSION, len(packed), zlib.crc32(packed), end)
    yield packed
    for array in stored.values():
        padding = -start % _ALIGNMENT
        yield bytes(padding)
        # A view of no elements cannot be cast to bytes.
        yield array.data.cast("B") if array.size else b""
        start += padding + array.nbytes


def _header_length(data: Buffer) -> int:
    length: int = _PREAMBLE.unpack_from(data)[2]
    return length


def _parse_header(data: Buffer, name: str, size: int | None = None) -> tuple[dict[str, Any], int]:
    """The header and its CRC-32. size: the length of the file, if `data` is only its beginning."""
    size = len(data) if size is None else size
    if not is_model(data):
        raise ValueError(f"{name}: not a model file of spacy_structreg")
    if size < _PREAMBLE.size:
        raise ValueError(f"{name}: the file ends within its first {_PREAMBLE.size} bytes")
    _, version, length, checksum, total = _PREAMBLE.unpack_from(data)
    if version != FORMAT_VERSION:
        raise ValueError(
            f"{name}: the file has format version {version}, this package reads version "
            f"{FORMAT_VERSION}; use the package that wrote it, or train again"
        )
    if total != size:
        raise ValueError(f"{name}: the file has {size:,} bytes instead of {total:,}; get it again")
    packed = bytes(data[_PREAMBLE.size : _PREAMBLE.size + min(length, _MAX_HEADER)])
    if len(packed) != length or zlib.crc32(packed) != checksum:
        raise ValueError(f"{name}: the header is damaged; get the file again or train again")
    try:
        header = unpack_header(packed)
    except ValueError as error:
        raise ValueError(f"{name}: the header cannot be read ({error})") from error
    if not _is_well_formed(header):
        raise ValueError(f"{name}: the header lacks a required field")
    end = _PREAMBLE.size + length
    for entry in header["arrays"]:
        if "same_as" in entry:
            continue
        end += -end % _ALIGNMENT + np.dtype(entry["type"]).itemsize * prod(entry["shape"])
    if end != size:
        raise ValueError(f"{name}: the arrays need {end:,} bytes, the file has {size:,}")
    return header, checksum


def _is_well_formed(header: Any) -> bool:
    if not isinstance(header, dict) or not isinstance(header.get("model"), dict):
        return False
    entries = header.get("arrays")
    if not isinstance(entries, list):
        return False
    stored: dict[str, dict[str, Any]] = {}
    for entry in entries:
        if not (
            isinstance(entry, dict)
            and isinstance(entry.get("name"), str)
            and isinstance(entry.get("type"), str)
            and entry["type"] in _TYPES
            and isinstance(entry.get("crc32"), int)
            and isinstance(entry.get("shape"), list)
            and 1 <= len(entry["shape"]) <= _MAX_DIMENSIONS
            and all(type(n) is int and 0 <= n < 1 << 48 for n in entry["shape"])
        ):
            return False
        if "same_as" in entry:
            same_as = entry["same_as"]
            if not isinstance(same_as, str) or same_as not in stored:
                return False
            earlier = stored[same_as]
            if any(entry[field] != earlier[field] for field in ("type", "shape", "crc32")):
                return False
        else:
            stored[entry["name"]] = entry
    return len({entry["name"] for entry in entries}) == len(entries)
