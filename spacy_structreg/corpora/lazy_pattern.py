"""Regular expressions that are compiled when they are first used."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

_METHODS = ("finditer", "fullmatch", "match", "search", "sub")


class _LazyPattern:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def __reduce__(self) -> tuple[Callable[[str], re.Pattern[str]], tuple[str]]:
        return lazy_pattern, (self._pattern,)

    def __getattr__(self, name: str) -> Any:
        # Python asks for these by itself, to copy and to pickle.
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(self._pattern)
        # They are found from now on without a call of this method.
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy_pattern(pattern: str) -> re.Pattern[str]:
    """A pattern that is compiled when it is first used: classes of many characters take long."""
    return cast("re.Pattern[str]", _LazyPattern(pattern))
