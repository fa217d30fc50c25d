"""Changes of model files that nobody but somebody hostile would make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from made_up_corpora import Change

Arrays = dict[str, np.ndarray]


def setting(name: str, value: object) -> Change:
    return lambda header, _: header["settings"].update({name: value})


def entry(name: str, value: object) -> Change:
    return lambda header, _: header.update({name: value})


def generator(name: str, value: object) -> Change:
    return lambda header, _: header["generators"][0].update({name: value})


def array(name: str, make: Callable[[np.ndarray], np.ndarray]) -> Change:
    return lambda _, arrays: arrays.update({name: make(arrays[name])})


def put(name: str, value: np.ndarray, position: int = 0) -> Change:
    def change(_: object, arrays: Arrays) -> None:
        arrays[name].reshape(-1)[position] = value

    return change


NOT_STRINGS: list[Any] = [None, 1, 1.5, True, b"doc", [], {}]
NOT_WHOLE: list[Any] = ["1", 1.5, b"1", [], {}, True, -1, 0.0]
NOT_LISTS: list[Any] = [None, 1, "BEMS", b"BEMS", {}, {"B": 1}, True]
