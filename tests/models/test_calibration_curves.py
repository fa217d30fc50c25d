"""Curves from margins to probabilities: by hand, by brute force, and in files."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.models.calibration import (
    Calibration,
    calibrations_from_json,
    calibrations_to_json,
    isotonic_regression,
    sigmoid,
)

INF = float("inf")


def test_isotonic_regression_by_hand() -> None:
    # 3 and 1 give 2; 4 stays; 5, 4 and 0 with weight 2 give (5 + 4 + 0) / 4 = 2.25, and pull 4 in.
    found = isotonic_regression([3, 1, 4, 5, 4, 0], [1, 1, 1, 1, 1, 2])
    assert found.tolist() == pytest.approx([2, 2, 2.6, 2.6, 2.6, 2.6])
    assert isotonic_regression([1, 2, 3]).tolist() == [1, 2, 3]
    assert isotonic_regression([]).tolist() == []


@quick_examples(60)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3)), min_size=1, max_size=7))
def test_isotonic_regression_is_the_minimax_of_means(rows: list[tuple[int, int]]) -> None:
    values, weights = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    n = len(values)

    def mean(i: int, j: int) -> float:
        return float(np.average(values[i : j + 1], weights=weights[i : j + 1]))

    # Barlow et al. 1972: the greatest over beginnings of the least over ends.
    expected = [max(min(mean(i, j) for j in range(k, n)) for i in range(k + 1)) for k in range(n)]
    np.testing.assert_allclose(isotonic_regression(values, weights), expected, atol=1e-12)


def test_an_isotonic_curve_by_hand() -> None:
    margins = [-2, -1, -1, 1, 2, 3, INF, INF, -INF]
    true = [0, 0, 1, 1, 0, 1, 1, 0, 0]
    curve = Calibration.fit(margins, true)
    # At -1 one of two, at 1 and 2 one of two as well, pooled.
    assert curve.margins == (-2, -1, 2, 3)
    assert curve.probabilities == pytest.approx((0, 0.5, 0.5, 1))
    assert (curve.least, curve.most) == (0, 0.5)
    asked = [-INF, -5, -2, -1.5, 0, 2.5, 9, INF]
    assert curve(asked).tolist() == pytest.approx([0, 0, 0, 0.25, 0.5, 0.75, 1, 0.5])


def test_a_temperature_by_hand() -> None:
    # Three of four are right at a margin of 4: sigmoid(4 / t) = 0.75, so that t = 4 / ln 3.
    curve = Calibration.fit([4, 4, 4, -4], [1, 1, 0, 0], "temperature")
    assert curve.temperature == pytest.approx(4 / np.log(3))
    assert curve([4, -4, 0]).tolist() == pytest.approx([0.75, 0.25, 0.5])
    assert curve([INF, -INF]).tolist() == [1, 0]
    alone = Calibration.fit([INF, INF], [1, 0])
    assert alone([INF, 0]).tolist() == [0.5, 0.5]


@quick_examples(40)
@given(
    st.lists(
        st.tuples(st.sampled_from([-INF, -3.0, -0.5, 0.0, 1.0, 1e9, INF]), st.booleans()),
        min_size=1,
    ),
    st.sampled_from(["isotonic", "temperature"]),
)
def test_probabilities_are_some_and_rise(rows: list[tuple[float, bool]], method: str) -> None:
    margins, true = zip(*rows, strict=True)
    curve = Calibration.fit(margins, true, method)
    found = curve([-1e300, -3, -2, 0, 0.5, 4, 1e300]).tolist()
    assert all(0 <= each <= 1 for each in [*found, *curve([INF, -INF])])
    assert all(one <= other for one, other in pairwise(found))
    (again,) = calibrations_from_json(calibrations_to_json({"tags": curve}), ["tags"]).values()
    assert again == curve


def test_sigmoid() -> None:
    margins = np.array([-INF, -800, 0, 1, 800, INF])
    assert sigmoid(margins).tolist() == pytest.approx([0, 0, 0.5, 1 / (1 + np.exp(-1)), 1, 1])


def test_faults() -> None:
    with pytest.raises(ValueError, match="no method 'none'"):
        Calibration.fit([1.0], [True], "none")
    for margins, true in (([], []), ([np.nan], [True]), ([1.0, 2.0], [True])):
        with pytest.raises(ValueError, match="no decisions"):
            Calibration.fit(margins, true)


SOUND = {"margins": [0, 1], "probabilities": [0.2, 0.4], "least": 0, "most": 1}


@looped(
    "change",
    [
        {"margins": [1, 0]},
        {"margins": [0, 0]},
        {"margins": [0, INF]},
        {"margins": [0, float("nan")]},
        {"margins": [0]},
        {"margins": [0, "1"]},
        {"margins": [0, True]},
        {"margins": [0, 10**400]},
        {"margins": 3},
        {"margins": [], "probabilities": []},
        {"probabilities": [0.4, 0.2]},
        {"probabilities": [0.4, 1.2]},
        {"least": -1},
        {"most": None},
        {"temperature": 2},
        {"margins": [], "probabilities": [], "temperature": 0},
        {"margins": [], "probabilities": [], "temperature": "x"},
        {"more": 1},
    ],
)
def test_damaged_curves_are_refused(change: dict[str, object]) -> None:
    assert Calibration.from_dict(SOUND)(0.5) == pytest.approx(0.3)
    with pytest.raises(ValueError, match="calibrate the pipeline anew"):
        Calibration.from_dict({**SOUND, **change})


@looped("data", [b"[]", b'{"x": {}}', b'{"tags": 3}', b'{"tags": {}}'])
def test_damaged_files_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="calibrate the pipeline anew"):
        calibrations_from_json(data, ["tags"])


def test_files_that_are_no_json() -> None:
    for data in (b"", b"\xff", b"[" * 100_000, b"{"):
        with pytest.raises(ValueError, match="cannot be read"):
            calibrations_from_json(data, ["tags"])
    assert json.loads(calibrations_to_json({})) == {}
