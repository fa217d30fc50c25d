"""Dependency parsers, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from benchmarks.common import spacy_cnn, udpipe
from benchmarks.common.ours import OurEstimator
from benchmarks.common.systems import (
    Effort,
    Predictor,
    Setting,
    System,
    Training,
)
from spacy_structreg.corpora.dependencies import ROOT, Parse
from spacy_structreg.corpora.formats.conllu import dependency_sentences
from spacy_structreg.corpora.sentence import Sentence

if TYPE_CHECKING:
    from spacy_structreg.models.dependencies import DependencyParser

__all__ = ["SYSTEMS", "TaggedWords"]

TaggedWords: TypeAlias = "tuple[tuple[str, ...], tuple[str, ...]]"
"""The words of a sentence, and their tags."""


class Ours(OurEstimator[TaggedWords, Parse]):
    epochs: ClassVar = {"full": 12, "capped": 8, "quick": 2}
    figure = "LAS"

    def estimator(self) -> type[DependencyParser]:
        from spacy_structreg.models.dependencies import DependencyParser

        return DependencyParser

    def read(self, corpus: Path) -> Iterable[Sentence]:
        return dependency_sentences(corpus)

    def one(self, predict: Callable[..., Parse], sentence: TaggedWords) -> Parse:
        return predict(*sentence)


class OursGreedy(Ours):
    name = "ours-greedy"
    title = "spacy_structreg, greedy"
    arguments: ClassVar = {"beam": 1}


class OursAveraged(Ours):
    name = "ours-averaged"
    title = "spacy_structreg, average of five"
    default = False
    arguments: ClassVar = {"n_models": 5}


class Udpipe(System[TaggedWords, Parse]):
    name = "udpipe"
    title = udpipe.TITLE
    module = udpipe.MODULE
    distribution = udpipe.DISTRIBUTION

    def settings(self, effort: Effort) -> list[Setting]:
        # Its learning rate falls to the last iteration: as many trainings as numbers of these.
        # A search-based oracle is used in every structured_interval-th iteration; 0 for none.
        settings: dict[Effort, list[Setting]] = {
            "full": [
                {"iterations": number, "hidden_layer": 200, "structured_interval": 8}
                for number in (10, 20, 30)
            ],
            "capped": [{"iterations": 5, "hidden_layer": 100, "structured_interval": 0}],
            "quick": [{"iterations": 2, "hidden_layer": 20, "structured_interval": 0}],
        }
        return settings[effort]

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        options = {
            "transition_system": "projective",
            "transition_oracle": "dynamic" if setting["structured_interval"] else "static",
            "early_stopping": 1,
            # It is given one tag a word, as the others are; twenty numbers are its default for one.
            "embedding_upostag": 0,
            "embedding_feats": 0,
            "embedding_xpostag": 20,
        }
        return udpipe.Udpipe().train(train, dev, model, parser={**setting, **options})

    def load(self, model: Path, scratch: Path) -> Predictor[TaggedWords, Parse]:
        library = udpipe.Udpipe()
        loaded = library.load(model)
        default = loaded.DEFAULT

        def one(given: TaggedWords) -> Parse:
            words, tags = given
            sentence = library.sentence(words)
            found = sentence.words
            for number, tag in enumerate(tags, 1):
                found[number].xpostag = tag
            loaded.parse(sentence, default)
            numbers = range(1, len(words) + 1)
            return Parse(
                tuple(found[number].head - 1 for number in numbers),
                tuple(found[number].deprel for number in numbers),
            )

        return Predictor(one)


class SpacyParser(System[TaggedWords, Parse]):
    name = "spacy"
    title = "spaCy's CNN parser, without tags"
    module = "spacy"
    distribution = "spacy"
    uses_tags = False

    def settings(self, effort: Effort) -> list[Setting]:
        return spacy_cnn.settings(effort)

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        return spacy_cnn.train("parser", "dep_las", setting, (train, dev), model)

    def load(self, model: Path, scratch: Path) -> Predictor[TaggedWords, Parse]:
        import spacy

        nlp = spacy.load(model)

        def parse_of(doc: Any) -> Parse:
            return Parse(
                tuple(ROOT if token.head is token else token.head.i for token in doc),
                tuple(token.dep_ for token in doc),
            )

        def one(given: TaggedWords) -> Parse:
            return parse_of(nlp(spacy_cnn.doc_of(nlp.vocab, given[0])))

        def batch(sentences: list[TaggedWords]) -> list[Parse]:
            docs = (spacy_cnn.doc_of(nlp.vocab, words) for words, _ in sentences)
            return list(map(parse_of, nlp.pipe(docs)))

        return Predictor(one, batch)


SYSTEMS: dict[str, type[System[TaggedWords, Parse]]] = {
    system.name: system for system in (Ours, OursGreedy, OursAveraged, Udpipe, SpacyParser)
}
