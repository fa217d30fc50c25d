"""Tables of cases as one test: `looped` in place of `pytest.mark.parametrize`."""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest


def looped(
    names: str | Sequence[str], cases: Iterable[Any], *, ids: Any = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test for each case, as `pytest.mark.parametrize`, and tell of all that fail.

    For tables of hundreds of cases, each of which would take longer to be set up than to run.
    Fixtures are those of all cases together: for tests that do not change them.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [_values(case, len(keys)) for case in cases]
    if not table:
        raise ValueError(f"there are no cases of {', '.join(keys)}: nothing would be tested")
    if callable(ids):
        labels = [ids(case[0]) if len(case) == 1 else None for case in table]
    else:
        labels = [None] * len(table) if ids is None else list(ids)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def all_cases(*args: Any, **fixtures: Any) -> None:
            __tracebackhide__ = True
            failed, skipped = [], []
            for values, label in zip(table, labels, strict=True):
                about = label or ", ".join(
                    f"{k}={v!r:.200}" for k, v in zip(keys, values, strict=True)
                )
                try:
                    test(*args, **fixtures, **dict(zip(keys, values, strict=True)))
                except pytest.skip.Exception as reason:
                    skipped.append(reason)
                except (Exception, pytest.fail.Exception) as fault:
                    last = traceback.format_exception(fault, limit=-2)
                    failed.append(f"{about}\n{''.join(last)}")
            if failed:
                said = "\n".join(failed[:10])
                pytest.fail(f"{len(failed)} of {len(table)} cases fail:\n{said}", pytrace=False)
            if skipped and len(skipped) == len(table):
                raise skipped[0]

        signature = inspect.signature(test)
        rest = [p for name, p in signature.parameters.items() if name not in keys]
        all_cases.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        return all_cases

    return decorate


def _values(case: Any, n_keys: int) -> tuple[Any, ...]:
    """The values of a case."""
    if n_keys == 1:
        return (case,)
    values = tuple(case)
    if len(values) != n_keys:
        raise ValueError(f"{n_keys} values are needed for each case, not {values!r}")
    return values
