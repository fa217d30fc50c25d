"""Script normalization: character-by-character conversion that keeps lengths."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.features.character_classes import half_width_table

SCRIPTS: Final = {"simplified": "t2s"}
"""The scripts that characters can be mapped to, and what OpenCC calls the conversion to them."""

# The blocks of Han characters, and those of radicals and compatibility forms.
_HAN: Final = (
    (0x2E80, 0x2FE0), (0x3005, 0x3008), (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00),
    (0x20000, 0x32400),
)  # fmt: skip
_LAST: Final = 0x10FFFF
_SURROGATES: Final = (0xD800, 0xDFFF)


class Script:
    """A script as a character mapping that normalizes text for a model.

    pairs: code points, uint32 or uint64 of shape (n, 2): a character, and the one that it looks
        like; the first ones rise. Full-width forms become half-width ones before they are looked
        up, where a model has it so.
    Raises ValueError for anything else.
    """

    def __init__(self, pairs: NDArray[Any]) -> None:
        if (
            not isinstance(pairs, np.ndarray)
            or pairs.dtype not in (np.uint32, np.uint64)
            or pairs.ndim != 2
            or pairs.shape[1] != 2
        ):
            raise ValueError("a script must have pairs of characters")
        low, high = _SURROGATES
        if (pairs > _LAST).any() or ((pairs >= low) & (pairs <= high)).any():
            raise ValueError("a script has an invalid character")
        if (pairs[1:, 0] <= pairs[:-1, 0]).any():
            raise ValueError("the characters of a script are not in ascending order")
        # A copy: files that are mapped may change, and be gone.
        self.pairs: NDArray[np.uint32] = pairs.astype(np.uint32)
        self.pairs.setflags(write=False)
        self._looks = dict(zip(*self.pairs.T.tolist(), strict=True))
        self._tables = tuple(self._table(half_width) for half_width in (False, True))

    def __reduce__(self) -> tuple[Any, ...]:
        return Script, (self.pairs,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Script) and np.array_equal(self.pairs, other.pairs)

    __hash__ = None  # type: ignore[assignment]

    def _table(self, half_width: bool) -> NDArray[np.uint32]:
        plain = half_width_table()
        size = max(len(plain), int(self.pairs[:, 0].max(initial=0)) + 1)
        looks = np.arange(size, dtype=np.uint32)
        looks[self.pairs[:, 0]] = self.pairs[:, 1]
        if half_width:
            looks[: len(plain)] = looks[plain]
        looks.setflags(write=False)
        return looks

    def table(self, half_width: bool) -> NDArray[np.uint32]:
        """Normalized code points, uint32 of shape (n,); characters from n on stay as they are."""
        return self._tables[half_width]

    def normalize(self, text: str) -> str:
        """Normalize a text, except for full-width forms; the length stays."""
        return text.translate(self._looks)

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of a model file, which `stored_script` takes back."""
        return {"script": self.pairs.astype(np.uint64)}


def normalization_table(half_width: bool, script: Script | None) -> NDArray[np.uint32]:
    """Return the normalized code points, uint32 of shape (n,); empty for the identity.

    half_width: whether full-width forms of ASCII look like ASCII.
    """
    if script is not None:
        return script.table(half_width)
    return half_width_table() if half_width else half_width_table()[:0]


def read_script(name: str | None) -> Script | None:
    """The script of a setting, as `opencc_script` has it; None for none.

    Raises ImportError as that, ValueError for a script that does not exist.
    """
    if name is None:
        return None
    if name not in SCRIPTS:
        raise ValueError(f"unknown script {name!r:.60}; choose from {', '.join(SCRIPTS)}")
    return opencc_script(SCRIPTS[name], f"script = {name!r}", "leave script at null")


def opencc_script(conversion: str, setting: str, otherwise: str) -> Script:
    """The characters that a conversion of the package OpenCC turns into one other each.

    Of several forms of a character it is OpenCC's first one.
    setting, otherwise: which setting needs it, and how to do without, for the message.
    Raises ImportError if the package is missing.
    """
    try:
        convert = import_module("opencc").OpenCC(conversion).convert
    except ImportError as error:
        raise ImportError(
            f"{setting} needs OpenCC, which is not installed; "
            f'install "spacy_structreg[scripts]", or {otherwise}'
        ) from error
    characters = [chr(code) for first, end in _HAN for code in range(first, end)]
    # A line each: no phrase reaches over a line break.
    looks = convert("\n".join(characters)).split("\n")
    if len(looks) != len(characters):
        raise ValueError("OpenCC does not convert characters line by line; install another version")
    pairs = [
        (ord(character), ord(look))
        for character, look in zip(characters, looks, strict=True)
        if look != character and len(look) == 1
    ]
    return Script(np.array(pairs, dtype=np.uint32).reshape(-1, 2))


def stored_script(name: str | None, arrays: Mapping[str, NDArray[Any]]) -> Script | None:
    """The script of a setting from the arrays of a model file; None for none.

    Raises ValueError if there is one without the other, or the array is not of a script.
    """
    if (name is None) != ("script" not in arrays):
        raise ValueError("the script setting and the character table of the model do not match")
    if name is None:
        return None
    pairs = arrays["script"]
    return _script_of(pairs.tobytes(), pairs.dtype.str, pairs.shape)


@lru_cache(maxsize=4)
def _script_of(pairs: bytes, dtype: str, shape: tuple[int, ...]) -> Script:
    """The script of stored pairs; the models of a pipeline have the same one."""
    return Script(np.frombuffer(pairs, dtype=dtype).reshape(shape))
