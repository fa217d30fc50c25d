"""The checksum of a corpus: known bytes, and different corpora apart."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from spacy_structreg.corpora.checksum import corpus_checksum

corpora = st.lists(st.lists(st.text("ab1,:\n", max_size=3), max_size=3), max_size=3)


def test_of_known_bytes() -> None:
    expected = hashlib.sha256("2,1:我们来\n1:好\n".encode()).hexdigest()
    assert corpus_checksum([["我们", "来"], ["好"]]) == expected
    assert corpus_checksum([]) == hashlib.sha256(b"").hexdigest()


def test_near_misses_differ() -> None:
    near = [[], [[]], [[""]], [["", ""]], [["ab"]], [["a", "b"]], [["a"], ["b"]], [["a\n1:b"]]]
    assert len({corpus_checksum(corpus) for corpus in near}) == len(near)


@given(corpora, corpora)
def test_equal_only_for_equal_corpora(one: list[list[str]], other: list[list[str]]) -> None:
    assert (corpus_checksum(one) == corpus_checksum(iter(other))) == (one == other)


def test_lone_surrogates_have_a_checksum() -> None:
    assert corpus_checksum([["\ud800"]]) != corpus_checksum([["\ud801"]])
