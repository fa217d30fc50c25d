"""The search for characters that may begin a typed run, against a regular expression."""

from __future__ import annotations

import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_structreg.features.run_begins import RunBegins

ALONE, TWICE = "!-#é\\-\U0001f600-\U0001f64f", "…哈"
PAIRS = (("一二", "十年0-9"), ("元", "年"), ("～", "~～"))
BEGINS = RunBegins(ALONE, TWICE, PAIRS)
PATTERN = re.compile(
    "|".join(
        [
            f"[{ALONE}]",
            f"(?P<twice>[{TWICE}])(?P=twice)",
            *(f"[{first}](?=[{second}])" for first, second in PAIRS),
        ]
    )
)


@given(st.text(st.sampled_from('!"#$-é…哈一二十年059元～~的a \U0001f600\U0001f650𠀀')))
def test_places_are_those_of_a_pattern(text: str) -> None:
    expected = [at for at in range(len(text)) if PATTERN.match(text, at)]
    for begins in (BEGINS, pickle.loads(pickle.dumps(BEGINS))):
        found, at = [], -1
        while (at := begins.next(text, at + 1)) >= 0:
            found.append(at)
        assert found == expected


def test_places_before_a_text_are_refused() -> None:
    with pytest.raises(ValueError, match="no offset -1"):
        BEGINS.next("a", -1)
    with pytest.raises(ValueError, match="14 pairs, not 15"):
        RunBegins("", "", [("a", "b")] * 15)
