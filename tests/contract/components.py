"""Every component and tokenizer: how it is made, what it learns, what it writes.

A new one takes a line in `PIPES` or `TOKENIZERS`, and is held to all of `test_components.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import spacy
from small_pipeline import WORDS, examples, gold_doc
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

TEXTS = ["".join(words) for words in WORDS]

Settings = dict[str, Any]


@dataclass(frozen=True)
class Pipe:
    """A component. written: what it writes into a Doc; figure: that it is trained for.

    others: settings that travel.
    """

    factory: str
    model: str
    written: Callable[[Doc], Any]
    figure: str
    settings: Settings = field(default_factory=dict)
    others: tuple[Settings, ...] = ()

    def untrained(self, model: Settings | None = None, **settings: Any) -> Language:
        """A pipeline of it alone."""
        nlp = spacy.blank("zh")
        block = {"@architectures": f"spacy_structreg.{self.model}.v1", "seed": 1, **(model or {})}
        config = {"model": block, **self.settings, **settings}
        nlp.add_pipe(self.factory, name="pipe", config=config)
        return nlp

    def trained(self, passes: int = 8, **settings: Any) -> Language:
        nlp = self.untrained(**settings)
        gold = examples(nlp.vocab)
        nlp.initialize(lambda: gold)
        for _ in range(passes):
            nlp.update(gold)
        return nlp


PIPES = {
    "tagger": Pipe(
        "structreg_tagger",
        "Tagger",
        lambda doc: [(token.tag_, token.pos_) for token in doc],
        "tag_acc",
        {"attribute": "both"},
        ({"attribute": "pos", "overwrite": False}, {"n_threads": 2}),
    ),
    "parser": Pipe(
        "structreg_parser",
        "DependencyParser",
        lambda doc: [(token.head.i, token.dep_, token.is_sent_start) for token in doc],
        "dep_las",
        {},
        (
            {"attribute": "pos", "sentences": "punctuation", "overwrite": False},
            {"overwrite": "labels", "n_threads": 2},
        ),
    ),
    "constituency": Pipe(
        "structreg_constituency",
        "ConstituencyParser",
        lambda doc: [
            (span.label_, span.start, span.end)
            for span in doc.spans.get("constituents", default=[])
        ],
        "brackets_f",
        {},
        (
            {"attribute": "pos", "sentences": "punctuation", "overwrite": False},
            {"dependencies": "model"},
        ),
    ),
    "labeler": Pipe(
        "structreg_sequence_labeler",
        "SequenceLabeler",
        lambda doc: [(token.ent_iob_, token.ent_type_) for token in doc],
        "ents_f",
        {},
        ({"attribute": "spans", "spans_key": "chunks", "sentences": "doc"}, {"overwrite": False}),
    ),
    "textcat": Pipe(
        "structreg_textcat",
        "TextClassifier",
        lambda doc: doc.cats,
        "cats_acc",
        {},
        ({"n_threads": 2},),
    ),
}


@dataclass(frozen=True)
class TokenizerOf:
    """A tokenizer and the factory of the pipe that trains it.

    parts: models that its model is made of, which have the settings.
    """

    registered: str
    model: str
    trainer: str
    parts: dict[str, str] = field(default_factory=dict)

    def untrained(self, **settings: Any) -> Language:
        """A pipeline of it alone."""

        def block_of(model: str, **more: Any) -> Settings:
            return {"@architectures": f"spacy_structreg.{model}.v1", **more}

        own = {"seed": 1, **settings}
        parts = {key: block_of(part, **own) for key, part in self.parts.items()}
        block = block_of(self.model, **(parts or own))
        tokenizer = {"@tokenizers": f"spacy_structreg.{self.registered}.v1", "model": block}
        return spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})

    def trained(self, passes: int = 6, **settings: Any) -> Language:
        nlp = self.untrained(**settings)
        docs = [gold_doc(nlp.vocab, number) for number in range(len(WORDS))]
        nlp.tokenizer.initialize(lambda: [Example(doc.copy(), doc) for doc in docs], nlp=nlp)
        for _ in range(passes):
            nlp.tokenizer.update(docs)
        return nlp


TOKENIZERS = {
    "segmenter": TokenizerOf("Segmenter", "CharacterSegmenter", "structreg_tokenizer_trainer"),
    "segmenter of words": TokenizerOf("Segmenter", "WordSegmenter", "structreg_tokenizer_trainer"),
    "joint tagger": TokenizerOf("JointTagger", "CharacterJointTagger", "structreg_joint_trainer"),
    "joint tagger of words": TokenizerOf(
        "JointTagger", "WordJointTagger", "structreg_joint_trainer"
    ),
    "guided joint tagger": TokenizerOf(
        "JointTagger",
        "GuidedJointTagger",
        "structreg_joint_trainer",
        {"characters": "CharacterJointTagger", "words": "WordJointTagger"},
    ),
    "reranker": TokenizerOf(
        "JointTagger",
        "JointReranker",
        "structreg_joint_trainer",
        {"characters": "CharacterJointTagger", "words": "WordJointTagger"},
    ),
    "guided segmenter": TokenizerOf(
        "Segmenter",
        "GuidedSegmenter",
        "structreg_tokenizer_trainer",
        {"characters": "CharacterSegmenter", "words": "WordSegmenter"},
    ),
    "joint parser": TokenizerOf("JointParser", "WordJointParser", "structreg_joint_parser_trainer"),
}

# What the contract does not hold, and why.
NO_PIPES = {
    "structreg_keywords": "it learns nothing: test_keywords_component.py",
}
NO_MODELS_OF_TOKENIZERS = {
    "GuidedJointParser": "its parts have settings of their own: test_joint_parser_tokenizer.py",
}


@cache
def trained_pipe(name: str) -> Language:
    """A pipeline that is trained once a process, and not to be changed."""
    return PIPES[name].trained()


@cache
def trained_tokenizer(name: str) -> Language:
    """A pipeline that is trained once a process, and not to be changed."""
    return TOKENIZERS[name].trained()


def content(doc: Doc) -> Any:
    """All that a tokenizer says of a text."""
    return [
        (token.text, token.whitespace_, token.tag_, token.head.i, token.dep_, token.is_sent_start)
        for token in doc
    ]
