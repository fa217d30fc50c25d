"""Tokens, spaces and tags of Docs, against what slices of strings say."""

from __future__ import annotations

import re

import numpy as np
import pytest
import spacy
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from spacy.attrs import POS, SENT_START, TAG
from spacy.parts_of_speech import NAMES as NAMES_OF_POS
from spacy.strings import StringStore

from spacy_structreg.pipeline.doc_tokens import WordHashes

texts = st.text(st.sampled_from("中国人a\x00\u0301𠀀👨 \n\u3000\xa0"), max_size=30)


def spans_of(text: str, cuts: list[int]) -> list[tuple[int, int]]:
    """Runs of visible characters, cut at some places."""
    spans = []
    for run in re.finditer(r"\S+", text):
        ends = sorted({cut for cut in cuts if run.start() < cut < run.end()} | {run.end()})
        spans += list(zip([run.start(), *ends], ends, strict=False))
    return spans


def slow_tokens(text: str, spans: list[tuple[int, int]]) -> list[tuple[str, bool, str]]:
    """Each token, whether a space follows it, and its tag: that of its length."""
    found: list[tuple[str, bool, str]] = []
    last = 0
    for start, end in [*spans, (len(text), len(text))]:
        gap = text[last:start]
        if found and gap.startswith(" "):
            found[-1] = (found[-1][0], True, found[-1][2])
            gap = gap[1:]
        if gap:
            found.append((gap, False, "_SP"))
        if start < end:
            found.append((text[start:end], False, str(end - start)))
        last = end
    return found


STRINGS = StringStore()
# Kept from text to text, and so small that it forgets.
HASHES = WordHashes(STRINGS, 10)
NAMES = tuple(map(str, range(40)))
VOCAB = spacy.blank("xx").vocab


@given(texts, st.lists(st.integers(1, 29)))
@quick_examples(200)
def test_tokens_of_a_text(text: str, cuts: list[int]) -> None:
    spans = spans_of(text, cuts)
    places = np.array(spans, dtype=np.int64).reshape(-1, 2)
    numbers = (places[:, 1] - places[:, 0]).astype(np.int32)
    expected = slow_tokens(text, spans)
    for _ in range(2):
        tokens, spaces, attributes, values = HASHES.parts(text, places, numbers, NAMES)
        assert attributes == [TAG]
        found = [
            (STRINGS[token], STRINGS[int(tag)])
            for token, tag in zip(tokens, values[:, 0], strict=True)
        ]
        assert found == [(word, tag) for word, _, tag in expected]
        assert spaces == [space for _, space, _ in expected]
    assert len(HASHES) <= 10
    doc = spacy.tokens.Doc(VOCAB, [w for w, _, _ in expected], spaces)
    assert doc.text == text


def test_words_that_begin_with_nul_are_others() -> None:
    hashes = WordHashes(STRINGS)
    text = "人\x00人\x00\x00人"
    tokens, *_ = hashes.parts(text, np.array([[0, 1], [1, 3], [3, 6]]))
    assert [STRINGS[token] for token in tokens] == ["人", "\x00人", "\x00\x00人"]


@looped("spans", [[[0, 3]], [[1, 1]], [[0, 2], [1, 2]], [[-1, 1]], [[1, 0]]])
def test_words_beyond_the_text_are_an_error(spans: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="do not lie in the text, one after the other"):
        HASHES.parts("中国", np.array(spans))


def test_tags_stay_when_a_memory_zone_ends() -> None:
    vocab = spacy.blank("xx").vocab
    hashes = WordHashes(vocab.strings)
    places = np.array([[0, 1], [2, 3]])
    numbers = np.array([1, 0], np.int32)
    for _ in range(2):
        with vocab.memory_zone():
            *_, values = hashes.parts("中 国", places, numbers, ("n", "CITY"))
        assert [vocab.strings[int(tag)] for tag in values[:, 0]] == ["CITY", "n"]


def test_every_word_has_a_tag() -> None:
    with pytest.raises(ValueError, match="there is no tag 1"):
        HASHES.parts("中", np.array([[0, 1]]), np.ones(1, np.int32), ("n",))
    with pytest.raises(ValueError, match="expected a tag for each of 2 words, got 1"):
        HASHES.parts("中国", np.array([[0, 1], [1, 2]]), np.zeros(1, np.int32), ("n",))


@given(texts, st.lists(st.integers(1, 29)), st.sets(st.integers(0, 30)))
@quick_examples(200)
def test_sentences_start_behind_ends(text: str, cuts: list[int], ends: set[int]) -> None:
    places = np.array(spans_of(text, cuts), dtype=np.int64).reshape(-1, 2)
    numbers = np.zeros(len(places), dtype=np.int32)
    known = WordHashes(STRINGS, tag_map={"0": "NOUN"})
    listed = [*sorted(end for end in ends if end < len(text)), len(text)]
    _, _, attributes, values = known.parts(text, places, numbers, ("0",), listed)
    assert attributes == [TAG, POS, SENT_START]
    begin = last = 0
    starts: list[bool] = []
    for word, space, _ in slow_tokens(text, [(int(a), int(b)) for a, b in places]):
        # The last end at or before this token counts, unless the token before it goes beyond.
        passed = [end for end in listed[:-1] if end <= begin]
        starts.append(not starts or bool(passed and passed[-1] >= last))
        last = begin + len(word)
        begin = last + space
    # A space that belongs to a token is behind its end.
    assert [value == 1 for value in values[:, 2].tolist()] == starts
    assert {STRINGS[int(tag)] for tag in values[:, 0]} <= {"0", "_SP"}
    assert {NAMES_OF_POS[int(pos)] for pos in values[:, 1]} <= {"NOUN", "SPACE"}
