"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest
from looped import looped

from spacy_structreg.corpora.lazy_pattern import lazy_pattern

PATTERN = r"(?P<word>[a-z]+)\d*"


def test_it_is_a_pattern() -> None:
    lazy, compiled = lazy_pattern(PATTERN), re.compile(PATTERN)
    assert lazy.groupindex == compiled.groupindex
    assert lazy.findall("ab1 c") == compiled.findall("ab1 c")
    assert lazy.sub("-", "ab1 c") == "- -"
    with pytest.raises(re.error):
        lazy_pattern("(").match("")


@looped("copied", [copy.copy, copy.deepcopy, lambda lazy: pickle.loads(pickle.dumps(lazy))])
def test_copies_find_the_same(copied: Callable[[Any], Any]) -> None:
    lazy = lazy_pattern(PATTERN)
    assert copied(lazy).findall("ab1 c") == ["ab", "c"]
    assert lazy.match("ab1")
    assert copied(lazy).findall("ab1 c") == ["ab", "c"]
    assert not hasattr(lazy_pattern("("), "__array__")
