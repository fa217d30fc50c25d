"""Expected calibration error and reliability tables, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_structreg.metrics.calibration import calibration_error, reliability


def test_a_table_by_hand() -> None:
    said = [0.0, 0.1, 0.6, 0.9, 1.0]
    true = [False, True, True, True, False]
    first, second = reliability(said, true, 2)
    assert (first.low, first.high, first.n) == (0.0, 0.5, 2)
    assert (second.low, second.high, second.n) == (0.5, 1.0, 3)
    assert (first.probability, first.share) == pytest.approx((0.05, 0.5))
    assert (second.probability, second.share) == pytest.approx((2.5 / 3, 2 / 3))
    expected = 2 / 5 * 0.45 + 3 / 5 * (0.5 / 3)
    assert calibration_error(said, true, 2) == pytest.approx(expected)
    # A bin for each of the others stays empty.
    assert [row.n for row in reliability(said, true)] == [1, 1, 1, 2]


def test_extremes() -> None:
    assert calibration_error([], []) is None
    assert calibration_error([1.0, 0.0], [True, False]) == 0
    assert calibration_error([1.0, 0.0], [False, True]) == 1
    for said in ([1.5], [-0.1], [np.nan]):
        with pytest.raises(ValueError, match="between 0 and 1"):
            calibration_error(said, [True])
    with pytest.raises(ValueError, match="decisions"):
        calibration_error([0.5], [True, False])
