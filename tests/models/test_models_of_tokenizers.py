"""What a tokenizer hands to its model, whatever the model is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.models.segmentation import CharacterSegmenter
from spacy_structreg.pipeline.segmenter import Segmenter, create_segmenter


class Preparing(CharacterSegmenter):
    """A segmenter that keeps what it was prepared for."""

    def prepare(self, sentences: Iterable[Any]) -> None:
        self.prepared = list(sentences)


@pytest.fixture
def examples() -> list[Example]:
    vocab = spacy.blank("zh").vocab
    docs = [Doc(vocab, words=words, spaces=[False] * 2) for words in (["大学", "\n"], ["生", "活"])]
    return [Example(doc, doc) for doc in docs]


def test_initialize_shows_the_model_the_corpus(examples: list[Example]) -> None:
    model = Preparing()
    tokenizer = create_segmenter(model)(spacy.blank("zh"))
    tokenizer.initialize(lambda: examples)
    assert model.prepared == [["大学"], ["生", "活"]]
    tokenizer.initialize()
    assert model.prepared == [["大学"], ["生", "活"]]


def test_initialize_reads_no_corpus_for_nothing(examples: list[Example]) -> None:
    def unread() -> Iterator[Example]:
        # Two are looked at, to see whether spaCy has made them up.
        yield from examples[:2]
        raise AssertionError("a spec that needs no data reads none")

    tokenizer = create_segmenter(CharacterSegmenter())(spacy.blank("zh"))
    tokenizer.initialize(unread)
    assert not tokenizer.model.is_trained


def test_what_is_gold_is_for_the_tokenizer_to_say(examples: list[Example]) -> None:
    class Reversed(Segmenter):
        def gold_sentences(self, doc: Doc) -> list[list[str]]:
            return [words[::-1] for words in super().gold_sentences(doc)]

    straight, turned = CharacterSegmenter(), CharacterSegmenter()
    docs = [example.reference for example in examples]
    vocab = docs[0].vocab
    Segmenter(vocab, straight).update([Doc(vocab, words=["活", "生"], spaces=[False] * 2)])
    Reversed(vocab, turned).update([docs[1]])
    assert turned.to_bytes(state="training") == straight.to_bytes(state="training")
