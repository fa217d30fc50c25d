"""`looped`: all cases are run, and all that fail are told of."""

from __future__ import annotations

import pytest
from looped import looped


def test_all_cases_are_run_with_fixtures_and_values() -> None:
    seen = []

    @looped("a, b", [(1, 2), (3, 4)])
    @looped("c", ["x", "y"])
    def check(fixture: str, a: int, b: int, c: str) -> None:
        seen.append((fixture, a, b, c))

    check("f")
    assert seen == [("f", 1, 2, "x"), ("f", 1, 2, "y"), ("f", 3, 4, "x"), ("f", 3, 4, "y")]
    assert list(check.__signature__.parameters) == ["fixture"]  # type: ignore[attr-defined]


def test_all_failures_are_told_of() -> None:
    @looped("number", range(5), ids=lambda number: f"the number {number}")
    def check(number: int) -> None:
        if number == 3:
            pytest.skip("not this one")
        assert number % 2 == 0

    @looped("number", [1])
    def skipped(number: int) -> None:
        pytest.skip("none")

    with pytest.raises(pytest.fail.Exception, match=r"1 of 5 cases fail:\nthe number 1\n"):
        check()
    with pytest.raises(pytest.skip.Exception):
        skipped()
    with pytest.raises(ValueError, match="2 values are needed"):
        looped("a, b", [(1,)])


def test_a_table_without_cases_is_refused() -> None:
    with pytest.raises(ValueError, match="there are no cases of a, b: nothing would be tested"):
        looped("a, b", (case for case in ()))
