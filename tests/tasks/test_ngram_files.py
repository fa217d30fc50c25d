"""Files of counted n-grams: read back as they were, or refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spacy_structreg.learn.model_file import is_model_file, write_model
from spacy_structreg.tasks.knowledge.ngrams import count_ngrams, read_ngrams, write_ngrams
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms

VIEW = CharacterAtoms(None, True).normalization()
SEEN = {"half_width": True, "script": None}
TOTALS = count_ngrams(["看麒麟。有麒麟看麒麟", "麒麟Ａ麒麟A"], view=VIEW)


def test_counts_come_back(tmp_path: Path) -> None:
    path = tmp_path / "a.ngrams"
    write_ngrams(path, TOTALS, VIEW, SEEN)
    assert is_model_file(path)
    again = read_ngrams(path, VIEW)
    for field in dataclasses.fields(TOTALS):
        assert np.array_equal(getattr(again, field.name), getattr(TOTALS, field.name))
    with pytest.raises(ValueError, match=r"a\.ngrams: .* half_width = True, script = None"):
        read_ngrams(path, CharacterAtoms(None, False).normalization())


def test_texts_are_no_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for data in (b"", b"SRM", "看麒麟".encode()):
        path.write_bytes(data)
        assert not is_model_file(path)
    with pytest.raises(ValueError, match=r"a\.txt"):
        read_ngrams(path, VIEW)


@pytest.mark.parametrize(
    "changed",
    [
        {"ngrams": TOTALS.ngrams[::-1].copy()},
        {"ngrams": TOTALS.ngrams.astype(np.int64)},
        {"ngrams": TOTALS.ngrams[:1], "left": TOTALS.left[:1], "right": TOTALS.right[:1]},
        {"left": TOTALS.left * 0},
        {"frequencies": -TOTALS.frequencies},
        {"characters": TOTALS.characters[:9]},
        {"characters": TOTALS.characters * 0},
        {"characters": -TOTALS.characters},
    ],
)
def test_what_is_no_counts_is_refused(tmp_path: Path, changed: dict[str, Any]) -> None:
    path = tmp_path / "a.ngrams"
    write_ngrams(path, dataclasses.replace(TOTALS, **changed), VIEW, SEEN)
    with pytest.raises(ValueError, match="counts out of range"):
        read_ngrams(path, VIEW)


def test_other_files_of_ours_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.srt"
    write_model(path, {"task": "tagging", "state": "trained"}, {"a": np.zeros(3)})
    with pytest.raises(ValueError, match="not a file of n-gram counts"):
        read_ngrams(path, VIEW)
    write_ngrams(path, TOTALS, VIEW, SEEN)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"a\.srt"):
        read_ngrams(path, VIEW)
