"""Files of counted n-grams: what was counted once is read by many trainings, in place of the text.

A file is a model file (`learn.model_file`) of the task `ngrams`: the arrays of `NgramTotals`, and
how the characters of the text looked to whoever counted them.
"""

from __future__ import annotations

import zlib
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.corpus_errors import StrPath
from spacy_structreg.learn.model_file import field, is_model, read_model, write_model
from spacy_structreg.tasks.knowledge.ngram_totals import NgramTotals

TASK: Final = "ngrams"
_N_CODES: Final = 1 << 16


def write_ngrams(
    path: StrPath, totals: NgramTotals, view: NDArray[np.uint32], seen: dict[str, Any]
) -> None:
    """Write counts that `read_ngrams` reads; the file appears whole or not at all.

    view: the normalized code points (`CharacterAtoms.normalization`). seen: the settings that
    it follows from, `half_width` and `script`, for errors.
    """
    header = {"task": TASK, "state": "trained", "view": zlib.crc32(view.tobytes()), "seen": seen}
    write_model(path, header, asdict(totals))


def is_ngram_file(path: StrPath) -> bool:
    """Return True if a file starts like a model file, and so is not text."""
    with Path(path).open("rb") as stream:
        return is_model(stream.read(16))


def read_ngrams(path: StrPath, view: NDArray[np.uint32]) -> NgramTotals:
    """The counts of a file.

    view: as which characters others look to the model that needs them.
    Raises ValueError, naming the file, if it is damaged or none of counts, or characters looked
    otherwise when they were counted; OSError if it cannot be read.
    """
    header, arrays = read_model(path)
    if header.get("task") != TASK:
        raise ValueError(f"{path}: not a file of n-gram counts; make one with 'count-ngrams'")
    if field(header, "view", int) != zlib.crc32(view.tobytes()):
        seen = ", ".join(f"{name} = {value}" for name, value in field(header, "seen", dict).items())
        raise ValueError(
            f"{path}: the n-grams were counted with {seen:.200}, unlike the settings of this "
            "model; count the text again with the model's settings"
        )
    if set(arrays) != {each.name for each in fields(NgramTotals)}:
        raise ValueError(f"{path}: unexpected arrays; count the text again")
    totals = NgramTotals(**arrays)
    numbers = (totals.frequencies, totals.left, totals.right)
    if (
        totals.ngrams.dtype != np.uint64
        or any(each.dtype != np.int64 or each.shape != totals.ngrams.shape for each in numbers)
        or totals.characters.dtype != np.int64
        or totals.characters.shape != (_N_CODES,)
        or totals.ngrams.ndim != 1
        or (totals.ngrams[1:] <= totals.ngrams[:-1]).any()
        or any((each < 1).any() for each in numbers)
        or (totals.characters < 0).any()
        or not _characters_counted(totals)
    ):
        raise ValueError(f"{path}: counts out of range; count the text again")
    return totals


def _characters_counted(totals: NgramTotals) -> bool:
    """True if the characters of all bigrams were counted: information divides by their numbers."""
    pairs = totals.ngrams[totals.ngrams & np.uint64(0xFFFFFFFF) == 0]
    codes = np.concatenate((pairs >> np.uint64(48), pairs >> np.uint64(32) & np.uint64(0xFFFF)))
    return bool((totals.characters[codes] > 0).all())
