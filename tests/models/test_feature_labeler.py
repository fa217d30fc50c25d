"""The labeler of items with features of their own, against what is worked out densely."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from labeled import stands_for_spans
from looped import looped
from twins import murmur_64a

from spacy_structreg.learn.learning_settings import AnyLearning, Learning, LogLinear
from spacy_structreg.metrics.labeling import SPAN_FIGURES
from spacy_structreg.models.labeling.labelers import FeatureLabeler

Item = dict[str, float]
Sequences = list[list[tuple[Item, str]]]
LABELS = ("run", "sit", "walk")


def movements(n: int, seed: int) -> Sequences:
    """What a sensor says of somebody who goes on with what he does; real values, some negative."""
    chance = random.Random(seed)
    made = []
    for _ in range(n):
        label = chance.choice(LABELS)
        items = []
        for _ in range(chance.randint(1, 6)):
            if chance.random() < 0.3:
                label = chance.choice(LABELS)
            speed = chance.gauss(LABELS.index(label) - 1, 0.5)
            items.append(({"speed": speed, "jerk": chance.gauss(0, 1), "on": 1.0}, label))
        made.append(items)
    return made


TRAIN, TEST = movements(80, seed=1), movements(60, seed=2)
EDGES = ["speed", "on"]


def items_of(sequences: Sequences) -> list[list[Item]]:
    return [[item for item, _ in sequence] for sequence in sequences]


def scores_of(model: FeatureLabeler, items: Sequence[Item], path: Sequence[int]) -> float:
    """The score of a labeling: the weights of its features, found by the hashes of their names."""
    by_label, by_edge = model._decoders().tables[1:3]
    pairs = model.transition_weights()
    total = 0.0
    for t, label in enumerate(path):
        for name, value in items[t].items():
            total += value * by_label.weights(murmur_64a(name.encode()))[label]
        if t:
            total += pairs.get((model.labels[path[t - 1]], model.labels[label]), 0.0)
            for name in set(items[t]) & set(EDGES):
                row = by_edge.weights(murmur_64a(name.encode()))
                total += items[t][name] * row[path[t - 1] * len(model.labels) + label]
    return total


@looped("learning", [LogLinear(), LogLinear(optimizer="lbfgs"), Learning()])
def test_predictions_are_those_of_brute_force(learning: AnyLearning) -> None:
    model = FeatureLabeler(edges=EDGES, learning=learning, epochs=10).fit(TRAIN)
    for items in items_of(TEST)[:25]:
        paths = list(itertools.product(range(3), repeat=len(items[:4])))
        scores = np.array([scores_of(model, items, path) for path in paths])
        found = model.nbest(items[:4], 5)
        order = np.argsort(-scores)[: len(found)]
        np.testing.assert_allclose([score for score, _ in found], scores[order], atol=1e-4)
        assert [labels for _, labels in found] == [
            [LABELS[label] for label in paths[i]] for i in order
        ]
        assert model.predict(items[:4]) == found[0][1]
        if isinstance(learning, LogLinear):
            chances = np.exp(scores - scores.max())
            chances /= chances.sum()
            expected = np.zeros((len(items[:4]), 3))
            for path, chance in zip(paths, chances, strict=True):
                expected[np.arange(len(path)), path] += chance
            np.testing.assert_allclose(model.predict_marginals(items[:4]), expected, atol=1e-6)


def test_values_of_features_of_many_labels() -> None:
    """One feature has weights of nearly all labels, the others of a few: they are kept unlike."""
    labels = [f"label{i}" for i in range(70)]
    items = [{"all": 1.5, f"one{i}": -0.5} for i in range(70)]
    model = FeatureLabeler(learning=Learning(), epochs=3).fit(
        [[each] for each in zip(items, labels, strict=True)]
    )
    by_label = model._decoders().tables[1]
    counts = np.diff(by_label.arrays["starts"])
    assert counts.max() > 35
    assert counts.min() < 5
    for item in items:
        ((score, _),) = model.nbest([item], 1)
        rows = [value * by_label.weights(murmur_64a(name.encode())) for name, value in item.items()]
        assert score == pytest.approx(np.sum(rows, axis=0).max())


def test_scale_of_values_matters() -> None:
    """A value of 2 is a feature of value 1 twice."""
    one = [[(["a", "a", "b"], "X"), (["b"], "Y")], [(["a", "c"], "Y"), ([], "X")]]
    other = [[({"a": 2, "b": 1}, "X"), ({"b": True}, "Y")], [({"a": 1.0, "c": 1}, "Y"), ({}, "X")]]
    models = [FeatureLabeler(epochs=5).fit(corpus) for corpus in (one, other)]
    assert models[0].to_bytes() == models[1].to_bytes()


def test_all_forms_of_features_and_schemes() -> None:
    corpus = [
        [
            ({"w": "Mira", "up": True}, "B-PER"),
            ({"w": "Kell", "up": True}, "I-PER"),
            (["w:left"], "O"),
        ],
        [(["w:in"], "O"), ({"w": {"Harn": 1.0}, "up": 1}, "B-LOC")],
    ] * 3
    for scheme in ("bio", "bioes", "io"):
        model = FeatureLabeler(scheme=scheme, epochs=20).fit(corpus)
        scores = model.evaluate(corpus)
        assert scores.table == SPAN_FIGURES
        assert scores.ents_f == 1.0
        assert model.PRIMARY == "ents_f"
        for order in itertools.permutations([{"up": 1}, ["w:Kell"], ["w:in"], {}]):
            assert stands_for_spans(model.predict(order))


@looped("learning", [Learning(), LogLinear()])
def test_edge_features_of_too_many_labels(learning: Any) -> None:
    many = [[({"a": 1}, f"X{number}") for number in range(257)]]
    with pytest.raises(ValueError, match="257 labels have too many; leave out edge features"):
        FeatureLabeler(edges=["a"], learning=learning, epochs=1).fit(many)
    assert FeatureLabeler(learning=learning, epochs=1).fit(many).is_trained


def test_items_of_another_form() -> None:
    model = FeatureLabeler(epochs=1).fit(TRAIN)
    for items in ("text", [{"a": None}], [1], {"a": 1}):
        with pytest.raises(ValueError, match=r"expected the features|has the value"):
            model.predict(items)
    assert model.predict([]) == []
    assert len(model.predict([{}, {"unknown": 1e6}])) == 2
    with pytest.raises(ValueError, match="too large"):
        model.predict([{"speed": 1e300}])
