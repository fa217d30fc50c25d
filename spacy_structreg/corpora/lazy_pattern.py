"""Regular expressions that are compiled when they are first used."""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("finditer", "fullmatch", "match", "search", "sub")


class _LazyPattern:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._pattern)
        # They are found from now on without a call of this method.
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy_pattern(pattern: str) -> re.Pattern[str]:
    """A pattern that is compiled when it is first used: classes of many characters take long."""
    return cast("re.Pattern[str]", _LazyPattern(pattern))
