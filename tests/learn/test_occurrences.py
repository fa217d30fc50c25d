"""Counts of how often rows occurred in training: kept, averaged, stored, and hostile ones."""

from __future__ import annotations

import numpy as np
import pytest
from looped import looped

from spacy_structreg.learn.model_average import average_rows
from spacy_structreg.learn.rows import TrainedRows, TrainingRows

COUNTS = [0, 1, 2, 3, 4, 1000, 2**40]


def counted(counts: list[int]) -> TrainingRows:
    """Rows of keys 5, 15, … that occurred so often."""
    table = TrainingRows(2)
    for number in range(len(counts)):
        table.add([(table.row(10 * number + 5), 0, 1.0)], 1)
    table.note(np.array(counts))
    return table


def test_counts_are_added_and_stored_by_their_bits() -> None:
    table = counted(COUNTS)
    assert table.average(1).arrays["occurrences"].tolist() == [n.bit_length() for n in COUNTS]
    table.note(np.array(COUNTS[:5]))
    table.row(3)
    expected = [2 * n for n in COUNTS[:5]] + COUNTS[5:] + [0]
    for same in (table.copy(), TrainingRows.from_state(2, table.state())):
        assert same.state()["occurrences"].tolist() == expected
        # The row of key 3 has no weights.
        assert same.average(1).arrays["occurrences"].tolist() == [
            n.bit_length() for n in expected[:-1]
        ]
    again = TrainingRows.from_trained(table.average(1))
    assert again.occurrences.tolist() == [
        1 << n.bit_length() - 1 if n else 0 for n in expected[:-1]
    ]


def test_rows_that_were_not_counted_say_nothing() -> None:
    table = TrainingRows(2)
    table.add([(table.row(5), 0, 1.0)], 1)
    assert table.occurrences is None
    assert "occurrences" not in table.state()
    trained = table.average(1)
    assert "occurrences" not in trained.arrays
    assert TrainingRows.from_trained(trained).occurrences is None
    both = average_rows([trained, counted([7]).average(1)])
    assert "occurrences" not in both.arrays


def test_an_average_has_the_highest_counts() -> None:
    tables = [counted([1, 9, 0]).average(1), counted([4, 2]).average(1)]
    assert average_rows(tables).arrays["occurrences"].tolist() == [3, 4, 0]


@looped(
    "bits", [np.zeros(2, np.uint8), np.zeros(1), np.zeros(1, np.int64), np.array([54], np.uint8)]
)
def test_hostile_counts_of_files(bits: np.ndarray) -> None:
    arrays = counted([3]).average(1).arrays
    with pytest.raises(ValueError, match=r"occurrences|too often"):
        TrainedRows(2, {**arrays, "occurrences": bits})


@looped("counts", [[-1], [1 << 60], [1, 2], [0.5]])
def test_hostile_counts_of_running_trainings(counts: list[float]) -> None:
    state = counted([3]).state()
    with pytest.raises(ValueError, match=r"occurrences|less than never"):
        TrainingRows.from_state(2, {**state, "occurrences": np.array(counts)})
