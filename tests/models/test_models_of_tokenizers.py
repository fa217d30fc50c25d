"""What a tokenizer reads for its model."""

from __future__ import annotations

from collections.abc import Iterator

import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.models.segmentation import CharacterSegmenter
from spacy_structreg.pipeline.segmenter import create_segmenter


def test_initialize_reads_no_corpus_for_nothing() -> None:
    nlp = spacy.blank("zh")
    doc = Doc(nlp.vocab, words=["大学", "生活"], spaces=[False] * 2)

    def unread() -> Iterator[Example]:
        # Two are looked at, to see whether spaCy has made them up.
        yield from [Example(doc, doc)] * 2
        raise AssertionError("a spec that needs no data reads none")

    tokenizer = create_segmenter(CharacterSegmenter())(nlp)
    tokenizer.initialize(unread)
    assert not tokenizer.model.is_trained
