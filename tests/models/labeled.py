"""A made-up language of names, and what a model of chains says, by brute force."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from crf_twins import Enumeration
from log_linear_twin import FeatureReader, Sentence

from spacy_structreg.learn.learning_settings import LogLinear
from spacy_structreg.models.label_chain import ChainEstimator
from spacy_structreg.training.log_linear import LogLinearTrainer

Rows = list[tuple[str, ...]]

_GIVEN = ["Mira", "Tovo", "Lun", "Asta", "Bero"]
_FAMILY = ["Kell", "Tovo", "Harn", "Osk"]
_PLACES = ["Harn", "Velt", "Ober", "Asta"]
_VERBS = ["saw", "met", "left", "likes"]


def named_sentences(n: int, seed: int) -> list[Rows]:
    """Sentences of words, their tags, and people and places in BIO; some words are of both."""
    chance = random.Random(seed)
    made = []
    for _ in range(n):
        rows: Rows = []
        for turn in range(chance.randint(1, 2)):
            if turn:
                rows.append((chance.choice(["and", ","]), "C", "O"))
            rows.append((chance.choice(_GIVEN), "N", "B-PER"))
            if chance.random() < 0.6:
                rows.append((chance.choice(_FAMILY), "N", "I-PER"))
        rows.append((chance.choice(_VERBS), "V", "O"))
        if chance.random() < 0.7:
            rows.append((chance.choice(["in", "at"]), "P", "O"))
            rows.append((chance.choice(_PLACES), "N", "B-LOC"))
            if chance.random() < 0.3:
                rows.append(("Bay", "N", "I-LOC"))
        made.append(rows)
    return made


def tokens_of(sentences: Iterable[Rows]) -> list[Rows]:
    """Sentences without their labels."""
    return [[row[:-1] for row in sentence] for sentence in sentences]


def labels_of(sentences: Iterable[Sequence[tuple[Any, ...]]]) -> list[list[str]]:
    return [[row[-1] for row in sentence] for sentence in sentences]


def stands_for_spans(labels: Sequence[str]) -> bool:
    """Whether labels in BIO have no I without the beginning of its span before it."""
    before = "O"
    for label in labels:
        if label.startswith("I-") and before[1:] != label[1:]:
            return False
        before = label
    return True


class Oracle:
    """The distribution of a model over all labelings of an input, one by one.

    Weights are those of the model; features are found anew, from the definitions of shapes and
    lists.
    """

    def __init__(self, model: ChainEstimator[Any], given: Any) -> None:
        spec: Any = model._fitted_spec()
        items = model._items(given)
        symbols, lists = spec.extract([items])
        sentence = Sentence(symbols, None, lists, len(items))
        reader = FeatureReader(spec.features, spec.graph, [sentence])
        reader.new_trainer = LogLinearTrainer
        reader.take(spec.features.new_learner(LogLinear()))
        crf, cells = reader.crf(sentence)
        rows = [
            np.array([trained.weights(key) for key in table.state()["keys"].tolist()])
            for table, trained in zip(reader.learner.tables, model._decoders().tables, strict=True)
        ]
        weights = reader.flat(rows)
        self.spec = spec
        self.paths = Enumeration(crf, weights[cells])

    def decoded(self, path: Sequence[int]) -> list[str]:
        (labels,) = self.spec.decode(np.array(path, dtype=np.uint16), [len(path)])
        return list(labels)

    def ranked(self) -> list[tuple[float, list[str]]]:
        """All labelings with their scores, best first."""
        log = self.paths.log_partition
        scores = [float(np.log(p) + log) for p in self.paths.probabilities]
        order = sorted(range(len(scores)), key=lambda i: -scores[i])
        return [(scores[i], self.decoded(self.paths.paths[i])) for i in order]

    def surprise(self, path: Sequence[int]) -> float:
        """-log p of a labeling, by the numbers of its labels."""
        return -self.paths.log_likelihood(path)
