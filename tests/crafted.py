"""Model files with changes that nobody but somebody hostile would make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spacy_structreg.learn.model_file import model_bytes, parse_model

Arrays = dict[str, np.ndarray]
Change = Callable[[dict[str, Any], Arrays], object]


def tampered(data: bytes, change: Change) -> bytes:
    """A model file with another header or other arrays, and checksums that fit them."""
    header, arrays = parse_model(data)
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(header, arrays)
    return model_bytes(header, arrays)


def setting(name: str, value: object) -> Change:
    return lambda header, _: header["settings"].update({name: value})


def entry(name: str, value: object) -> Change:
    return lambda header, _: header.update({name: value})


def put(name: str, value: np.ndarray, position: int = 0) -> Change:
    def change(_: object, arrays: Arrays) -> None:
        arrays[name].reshape(-1)[position] = value

    return change
