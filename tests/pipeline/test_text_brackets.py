"""Figures of constituents over words of the pipeline's own, worked by hand."""

from __future__ import annotations

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_structreg.corpora.sentence import Phrase
from spacy_structreg.pipeline.constituency import (
    score_brackets_of_docs,
    score_brackets_of_texts,
)
from spacy_structreg.pipeline.constituency_documents import write_phrases

VOCAB = Vocab()


def doc(words: str, phrases: str) -> Doc:
    """A Doc of words with phrases such as ``NP 0 2``."""
    made = Doc(VOCAB, words=words.split(), spaces=[False] * len(words.split()))
    rows = (phrase.split() for phrase in phrases.split("; ") if phrase)
    write_phrases(made, [Phrase(label, int(i), int(j), None) for label, i, j in rows])
    return made


GOLD = doc("小王 看 书", "IP 0 3; NP 0 1; VP 1 3; NP 2 3")


def test_brackets_count_by_their_characters() -> None:
    # IP, and NP over the two words 小 王, are right; NP over 看书 is not.
    found = doc("小 王 看书", "IP 0 3; NP 0 2; NP 2 3")
    unknown = (doc("好", ""), doc("好", "NP 0 1"))
    counts = score_brackets_of_texts([(GOLD, found), unknown])
    assert (counts.gold, counts.predicted, counts.correct, counts.sentences) == (4, 3, 2, 1)


def test_if_the_words_are_right_the_brackets_are_those_of_words() -> None:
    pairs = [(GOLD, doc("小王 看 书", "IP 0 3; NP 0 2; NP 2 3"))]
    by_text, by_words = score_brackets_of_texts(pairs).counts, score_brackets_of_docs(pairs).counts
    same = by_text.keys() - {"words", "tags"}
    assert {name: by_text[name] for name in same} == {name: by_words[name] for name in same}


def test_another_text_is_an_error() -> None:
    with pytest.raises(ValueError, match="word 1 is '白' in the prediction"):
        score_brackets_of_texts([(doc("小王", "NP 0 1"), doc("小白", "NP 0 1"))])
