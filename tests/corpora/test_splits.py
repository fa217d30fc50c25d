"""Folds, and the parts of treebanks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from studies.ctb import CTB_SPLITS

from spacy_structreg.corpora.splits import fold_bounds


class TestFolds:
    @given(st.integers(2, 12), st.integers(0, 60))
    def test_cover_all_in_order_and_differ_by_one_at_most(self, n_folds: int, more: int) -> None:
        bounds = fold_bounds(n_folds + more, n_folds)
        assert len(bounds) == n_folds
        assert [i for begin, end in bounds for i in range(begin, end)] == list(
            range(n_folds + more)
        )
        sizes = [end - begin for begin, end in bounds]
        assert max(sizes) - min(sizes) <= 1

    def test_are_those_of_percents(self) -> None:
        """`structreg convert --percent 10:20` takes the second of ten."""
        assert fold_bounds(3914) == [
            (3914 * p // 100, 3914 * (p + 10) // 100) for p in range(0, 100, 10)
        ]

    def test_refuses_too_few(self) -> None:
        with pytest.raises(ValueError, match="9 sentences are too few for 10 folds"):
            fold_bounds(9)
        with pytest.raises(ValueError, match="1 folds"):
            fold_bounds(9, 1)


class TestChineseTreebank:
    @looped("name", CTB_SPLITS)
    def test_parts_share_no_article(self, name: str) -> None:
        numbers = [number for part in CTB_SPLITS[name].values() for number in part.numbers()]
        assert len(numbers) == len(set(numbers))
