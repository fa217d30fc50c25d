"""Sequence labelers, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from benchmarks.common import spacy_cnn
from benchmarks.common.systems import (
    OURS,
    Effort,
    Predictor,
    Setting,
    System,
    Training,
    cpu_seconds,
)
from benchmarks.sequence_labeling.choices import Choices, Rows, Tokens
from spacy_structreg.corpora.formats.columns import read_columns

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.training import Example

    from spacy_structreg.learn.learning_settings import AnyLearning
    from spacy_structreg.models.labeling.labelers import SequenceLabeler

__all__ = ["CRFSUITE", "SYSTEMS"]

CRFSUITE = "crfsuite-lbfgs"
"""The name of the system whose score the others are timed to."""


class _Labeler(System[Tokens, list[str]]):
    """Reads files as the task writes them: words, other columns, labels, between tabs."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices

    def read(self, path: Path) -> Iterator[Rows]:
        return read_columns(path, (*self.choices.seen, "label"), separator="\t")


class Ours(_Labeler):
    name = OURS
    title = "spacy_structreg, CRF"
    module = "spacy_structreg"
    distribution = "spacy_structreg"

    def settings(self, effort: Effort) -> list[Setting]:
        steps = {"rate": self.choices.rate, "decay": self.choices.decay}
        given = {name: value for name, value in steps.items() if value is not None}
        return [{"l2": l2, **given} for l2 in self.choices.l2]

    def labeler(self, setting: Setting) -> SequenceLabeler:
        """The labeler to be trained."""
        from spacy_structreg.learn.learning_settings import LogLinear

        return labeler_of(self.choices, LogLinear.from_dict({**LogLinear().as_dict(), **setting}))

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        began = cpu_seconds()
        curve: list[tuple[float, float]] = []
        labeler = self.labeler(setting)
        labeler.fit(
            self.read(train),
            self.read(dev),
            on_epoch=lambda done: curve.append((cpu_seconds() - began, done.primary or 0.0)),
        )
        labeler.save(model)
        return Training(
            cpu_seconds() - began,
            kept=f"best epoch, by dev F; time of all {len(curve)}",
            curve=curve,
        )

    def load(self, model: Path, scratch: Path) -> Predictor[Tokens, list[str]]:
        from spacy_structreg.models.labeling.labelers import SequenceLabeler

        labeler = SequenceLabeler.load(model)
        return Predictor(labeler.predict, labeler.predict_batch)


class OursPerceptron(Ours):
    name = "ours-perceptron"
    title = "spacy_structreg, averaged perceptron"

    def settings(self, effort: Effort) -> list[Setting]:
        return [{}]

    def labeler(self, setting: Setting) -> SequenceLabeler:
        from spacy_structreg.learn.learning_settings import Learning

        return labeler_of(self.choices, Learning())


class _Crfsuite(_Labeler):
    """CRFsuite on the names of our features.

    Its training time begins with features in memory: naming them is our own code.
    """

    module = "pycrfsuite"
    distribution = "python-crfsuite"
    algorithm: ClassVar[str]

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        pycrfsuite: Any = import_module("pycrfsuite")
        began = cpu_seconds()
        named = [
            (pycrfsuite.ItemSequence(self.features(_unlabeled(rows))), _labels(rows))
            for rows in self.read(train)
        ]
        naming = cpu_seconds() - began
        trainer: Any = pycrfsuite.Trainer(algorithm=self.algorithm, verbose=False)
        trainer.set_params(dict(setting))
        for features, labels in named:
            trainer.append(features, labels)
        trainer.train(str(model))
        seconds = cpu_seconds() - began - naming
        last = trainer.logparser.last_iteration
        ended = f"ended after iteration {last['num']}; " if last else ""
        return Training(seconds, kept=f"{ended}without {naming:.1f} s in which features were named")

    def features(self, tokens: Tokens) -> list[list[str]]:
        """The names of the features of each token, all but the pair of labels."""
        return self._namer.features(tokens)

    @cached_property
    def _namer(self) -> SequenceLabeler:
        return labeler_of(self.choices)

    def load(self, model: Path, scratch: Path) -> Predictor[Tokens, list[str]]:
        pycrfsuite: Any = import_module("pycrfsuite")
        tagger: Any = pycrfsuite.Tagger()
        tagger.open(str(model))
        given: dict[tuple[tuple[str, ...], ...], Any] = {}

        def one(tokens: Tokens) -> list[str]:
            return list(tagger.tag(self.features(tokens)))

        def batch(sentences: list[Tokens]) -> list[list[str]]:
            labels = []
            for tokens in sentences:
                key = tuple(tokens)
                if key not in given:
                    given[key] = pycrfsuite.ItemSequence(self.features(tokens))
                labels.append(list(tagger.tag(given[key])))
            return labels

        # The harness calls it once before it is timed.
        return Predictor(one, batch)


class CrfsuiteLbfgs(_Crfsuite):
    name = CRFSUITE
    title = "python-crfsuite, L-BFGS"
    algorithm = "lbfgs"

    def settings(self, effort: Effort) -> list[Setting]:
        if effort == "quick":
            return [{"c1": 0.0, "c2": self.choices.c2[0], "max_iterations": 20}]
        return [
            {"c1": 0.0, "c2": c2, "max_iterations": most}
            for c2 in self.choices.c2
            for most in self.choices.iterations
        ]


class CrfsuitePerceptron(_Crfsuite):
    name = "crfsuite-ap"
    title = "python-crfsuite, averaged perceptron"
    algorithm = "ap"

    def settings(self, effort: Effort) -> list[Setting]:
        numbers = [5] if effort == "quick" else self.choices.perceptron_iterations
        return [{"max_iterations": most} for most in numbers]


class SpacyNer(_Labeler):
    """spaCy's entity recognizer as `spacy init config --optimize efficiency` sets it up."""

    name = "spacy-ner"
    title = "spaCy's ner"
    module = "spacy"
    distribution = "spacy"

    def settings(self, effort: Effort) -> list[Setting]:
        return spacy_cnn.settings(effort)

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        return spacy_cnn.improve(
            lambda: spacy_cnn.efficient("xx", "ner"),
            self._examples,
            "ents_f",
            setting,
            files=(train, dev),
            model=model,
        )

    def load(self, model: Path, scratch: Path) -> Predictor[Tokens, list[str]]:
        import spacy

        nlp = spacy.load(model)

        def docs(sentences: Iterable[Tokens]) -> Iterator[Doc]:
            return (spacy_cnn.doc_of(nlp.vocab, [row[0] for row in rows]) for rows in sentences)

        def one(tokens: Tokens) -> list[str]:
            return _entity_labels(nlp(next(docs([tokens]))))

        def batch(sentences: list[Tokens]) -> list[list[str]]:
            return list(map(_entity_labels, nlp.pipe(docs(sentences))))

        return Predictor(one, batch)

    def _examples(self, nlp: Language, path: Path) -> Iterator[Example]:
        from spacy.tokens import Doc
        from spacy.training import Example

        for rows in self.read(path):
            words = [row[0] for row in rows]
            reference = Doc(nlp.vocab, words=words, ents=_labels(rows))
            yield Example(spacy_cnn.doc_of(nlp.vocab, words), reference)


def labeler_of(choices: Choices, learning: AnyLearning | None = None) -> SequenceLabeler:
    """Our labeler; what nobody chose is by default."""
    from spacy_structreg.models.labeling.labelers import SequenceLabeler

    labeler = SequenceLabeler(templates=choices.templates, columns=choices.seen, learning=learning)
    if choices.epochs is not None:
        labeler.epochs = choices.epochs
    return labeler


def _entity_labels(doc: Doc) -> list[str]:
    return [f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else "O" for token in doc]


def _unlabeled(rows: Rows) -> Tokens:
    return [row[:-1] for row in rows]


def _labels(rows: Rows) -> list[str]:
    return [row[-1] for row in rows]


SYSTEMS: dict[str, type[System[Tokens, list[str]]]] = {
    system.name: system
    for system in (Ours, OursPerceptron, CrfsuiteLbfgs, CrfsuitePerceptron, SpacyNer)
}
