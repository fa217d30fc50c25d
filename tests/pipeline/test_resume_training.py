"""Pipelines that are loaded and trained further: each component, and each model of a tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spacy
from pipeline.made_up import TRAIN, gold_doc, tag_of
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from spacy.vocab import Vocab

COMPONENTS = (
    "structreg_tagger",
    "structreg_parser",
    "structreg_constituency",
    "structreg_sequence_labeler",
    "structreg_textcat",
)
TOKENIZERS = {
    "CharacterSegmenter": "Segmenter",
    "WordSegmenter": "Segmenter",
    "GuidedSegmenter": "Segmenter",
    "CharacterJointTagger": "JointTagger",
    "WordJointTagger": "JointTagger",
    "GuidedJointTagger": "JointTagger",
    "JointReranker": "JointTagger",
}
CORPUS, FURTHER = TRAIN[:12], TRAIN[6:18]
"""Labels of both are the same; what the second has of them is new in part."""


def gold(vocab: Vocab, words: list[str]) -> Doc:
    """A Doc that has everything: its words hang on the first one, which is an entity."""
    n = len(words)
    doc = gold_doc(
        vocab,
        words,
        tags=list(map(tag_of, words)),
        heads=[0] * n,
        deps=["root"] + ["dep"] * (n - 1),
    )
    doc.cats = {"long": float(n > 9), "short": float(n <= 9)}
    doc.set_ents([Span(doc, 0, 1, label="FIRST")], default="outside")
    trees = [Span(doc, 0, n, label="IP"), Span(doc, 0, 2, label="NP")]
    doc.spans["constituents"] = SpanGroup(doc, attrs={"heads": [0, 0]}, spans=trees)
    return doc


def examples(nlp: Language, corpus: list[list[str]]) -> list[Example]:
    docs = [gold(nlp.vocab, words) for words in corpus]
    tagged = [
        gold_doc(nlp.vocab, [t.text for t in doc], tags=[t.tag_ for t in doc]) for doc in docs
    ]
    return [Example(predicted, doc) for predicted, doc in zip(tagged, docs, strict=True)]


def resumed(nlp: Language, folder: Path) -> Language:
    """The pipeline as loaded, after it has learned from more; saved over what it was."""
    nlp.to_disk(folder)
    loaded = spacy.load(folder)
    loaded.resume_training()
    further = examples(loaded, FURTHER)
    for _ in range(2):
        loaded.update(further)
    loaded.to_disk(folder)
    return loaded


@pytest.mark.parametrize("factory", COMPONENTS)
def test_a_component_learns_further(factory: str, tmp_path: Path) -> None:
    nlp = spacy.blank("zh")
    pipe: Any = nlp.add_pipe(factory, name="pipe", config={"model": {"seed": 3}})
    corpus = examples(nlp, CORPUS + FURTHER)
    nlp.initialize(lambda: corpus)
    nlp.update(corpus[: len(CORPUS)])
    before = pipe.to_bytes()
    loaded: Any = resumed(nlp, tmp_path).get_pipe("pipe")
    # What the estimator learns by itself from the weights that there were.
    expected = type(pipe.estimator).from_bytes(before)
    further = [s for each in examples(nlp, FURTHER) for s in pipe.gold(each)[0]]
    compiled = expected.compile(further)
    for _ in range(2):
        expected.learn(compiled)
    assert loaded.to_bytes() == expected.to_bytes() != before
    again = spacy.load(tmp_path)
    assert again.get_pipe("pipe").to_bytes() == expected.to_bytes()
    again.resume_training()
    again.update(examples(again, CORPUS))


@pytest.mark.parametrize("architecture", TOKENIZERS)
def test_a_tokenizer_learns_further(architecture: str, tmp_path: Path) -> None:
    name = TOKENIZERS[architecture]
    model = {"@architectures": f"spacy_structreg.{architecture}.v1"}
    if "Guided" not in architecture and architecture != "JointReranker":
        model["seed"] = 3
    tokenizer = {"@tokenizers": f"spacy_structreg.{name}.v1", "model": model}
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    nlp.add_pipe("structreg_tokenizer_trainer")
    corpus = examples(nlp, CORPUS + FURTHER)
    nlp.initialize(lambda: corpus)
    nlp.update(corpus[: len(CORPUS)])
    before = nlp.tokenizer.model.to_bytes()
    loaded = resumed(nlp, tmp_path)
    expected = type(nlp.tokenizer.model).from_bytes(before)
    # Doc by Doc, as the tokenizer compiles them.
    compiled = [
        compiled
        for each in examples(nlp, FURTHER)
        for compiled in expected.compile([nlp.tokenizer.gold_of(each.reference)])
    ]
    for _ in range(2):
        expected.learn(compiled)
    assert loaded.tokenizer.model.to_bytes() == expected.to_bytes() != before
    again = spacy.load(tmp_path)
    assert again.tokenizer.model.to_bytes() == expected.to_bytes()
    again.resume_training()
    again.update(examples(again, CORPUS))
