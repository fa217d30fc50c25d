"""python-crfsuite on the templates of Zhang, Su & Zhou 2014, Table 1: c-1 c0 c+1 and four pairs."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.common.systems import (
    Effort,
    Predictor,
    Setting,
    Training,
    cpu_seconds,
)
from benchmarks.segmentation.systems.segmenter import Segmenter

# Stand before and after the text: padding has weights of its own.
BEFORE, AFTER = "\u2402", "\u2403"


def features(text: str) -> list[list[str]]:
    """The seven templates at each character; the tag bigram is the model's own."""
    padded = f"{BEFORE}{BEFORE}{text}{AFTER}{AFTER}"
    return [
        [
            "a" + before,
            "b" + here,
            "c" + after,
            "d" + before2 + before,
            "e" + before + here,
            "f" + here + after,
            "g" + after + after2,
        ]
        for before2, before, here, after, after2 in zip(
            padded, padded[1:], padded[2:], padded[3:], padded[4:], strict=False
        )
    ]


def labels(words: list[str]) -> list[str]:
    """B, M, E of the characters of longer words, S of words of one character."""
    return [
        label
        for word in words
        for label in ("S" if len(word) == 1 else "B" + "M" * (len(word) - 2) + "E")
    ]


def words_of(text: str, tags: list[str]) -> list[str]:
    """Words begin at B and S."""
    starts = [index for index, tag in enumerate(tags) if index == 0 or tag in "BS"]
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


class _Crfsuite(Segmenter):
    module = "pycrfsuite"
    distribution = "python-crfsuite"
    algorithm: ClassVar[str]

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        from spacy_structreg.corpora.formats.segmented import read_segmented

        pycrfsuite: Any = import_module("pycrfsuite")
        began = cpu_seconds()
        trainer: Any = pycrfsuite.Trainer(algorithm=self.algorithm, verbose=False)
        trainer.set_params(dict(setting))
        for words in read_segmented(train):
            trainer.append(features("".join(words)), labels(words))
        trainer.train(str(model))
        seconds = cpu_seconds() - began
        last = trainer.logparser.last_iteration
        return Training(seconds, kept=f"ended after iteration {last['num']}" if last else "")

    def load(self, model: Path, scratch: Path) -> Predictor[str, list[str]]:
        pycrfsuite: Any = import_module("pycrfsuite")
        tagger: Any = pycrfsuite.Tagger()
        tagger.open(str(model))

        def one(text: str) -> list[str]:
            return words_of(text, tagger.tag(features(text)))

        return Predictor(one)


class CrfsuitePerceptron(_Crfsuite):
    name = "crfsuite-ap"
    title = "python-crfsuite, averaged perceptron"
    algorithm = "ap"

    def settings(self, effort: Effort) -> list[Setting]:
        return [
            {"max_iterations": most} for most in ([2, 4] if effort == "quick" else [5, 10, 20, 40])
        ]


class CrfsuiteLbfgs(_Crfsuite):
    name = "crfsuite-lbfgs"
    title = "python-crfsuite, L-BFGS"
    algorithm = "lbfgs"

    def settings(self, effort: Effort) -> list[Setting]:
        strengths = [0.1] if effort == "quick" else [0.003, 0.01, 0.03, 0.1, 0.3]
        most = 5 if effort == "quick" else 300
        return [{"c1": 0.0, "c2": c2, "max_iterations": most} for c2 in strengths]
