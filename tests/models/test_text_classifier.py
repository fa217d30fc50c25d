"""The classifier of texts, against logistic regression written out."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from crafted import tampered
from crf_twins import Noise, multinomial_noising
from looped import looped
from twins import murmur_64a

from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.learn.model_file import parse_model
from spacy_structreg.models.classification import TextClassifier

Texts = list[tuple[list[str], str]]
_TOPICS = {
    "sea": ["wave", "boat", "salt", "fish", "sail", "tide", "deep"],
    "snow": ["ice", "cold", "ski", "white", "slope", "deep", "flake"],
    "town": ["street", "bus", "shop", "noise", "tower", "boat", "white"],
}
_COMMON = ["the", "a", "of", "and", "is", "was", "there", "it"]


def texts(n: int, seed: int) -> Texts:
    """Texts that are mostly of words of their topic and common ones, and some of other topics."""
    chance = random.Random(seed)
    made = []
    for _ in range(n):
        topic = chance.choice(sorted(_TOPICS))
        words = [
            chance.choice(_COMMON if chance.random() < 0.5 else _TOPICS[topic])
            for _ in range(chance.randint(2, 12))
        ]
        if chance.random() < 0.3:
            words.append(chance.choice(_TOPICS[chance.choice(sorted(_TOPICS))]))
        made.append((words, topic))
    return made


TRAIN, TEST = texts(150, seed=1), texts(100, seed=2)
WORDS = [words for words, _ in TEST]


def weights(model: TextClassifier) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in parse_model(model.to_bytes())[1].items()}


@looped(
    "settings",
    [
        {},
        {"ngrams": 2, "values": "log", "normalize": True, "learning": LogLinear(l2=0.001)},
        {"ngrams": 0, "characters": [1, 2, 3]},
        {"learning": LogLinear(optimizer="lbfgs")},
        {"learning": LogLinear(l1=0.1, l2=0.0)},
        {"learning": LogLinear(noise="dropout", noise_level=0.5)},
        {"learning": Learning()},
        {"learning": Learning(algorithm="pa_i", aggressiveness=0.1), "values": "counts"},
        {"n_models": 3, "learning": LogLinear()},
    ],
)
def test_learns_the_topics(settings: dict[str, Any]) -> None:
    model = TextClassifier(**settings).fit(TRAIN)
    assert model.labels == ("sea", "snow", "town")
    scores = model.evaluate(TEST)
    assert scores.cats_acc is not None
    assert scores.cats_acc > 0.85
    predicted = model.predict_batch(WORDS, n_threads=2)
    assert predicted == [model.predict(words) for words in WORDS]
    right = sum(found == topic for found, (_, topic) in zip(predicted, TEST, strict=True))
    assert scores.cats_acc == right / len(TEST)


# Features -----------------------------------------------------------------------------------------


def test_features_worked_by_hand() -> None:
    words = ["New", "York", " ", "new", ""]
    assert TextClassifier().features(words) == {"intercept": 1, "w1=new": 1, "w1=york": 1}
    assert TextClassifier(lower=False, values="counts", ngrams=2).features(words) == {
        "intercept": 1, "w1=New": 1, "w1=York": 1, "w1=new": 1, "w2=New York": 1, "w2=York new": 1
    }  # fmt: skip
    counts = TextClassifier(values="counts", ngrams=3).features(["a", "a", "a"])
    assert counts == {"intercept": 1, "w1=a": 3, "w2=a a": 2, "w3=a a a": 1}
    log = TextClassifier(values="log").features(["a", "a", "b"])
    assert log == {"intercept": 1, "w1=a": 1 + math.log(2), "w1=b": 1}
    scaled = TextClassifier(values="counts", normalize=True).features(["a"] * 3 + ["b"] * 4)
    assert scaled == {"intercept": 1, "w1=a": 3 / 5, "w1=b": 4 / 5}
    characters = TextClassifier(ngrams=0, characters=[3, 1, 1]).features(["京城", "大京"])
    assert characters == {
        "intercept": 1, "c1=京": 1, "c1=城": 1, "c1=大": 1, "c3=京城大": 1, "c3=城大京": 1
    }  # fmt: skip
    for settings in ({}, {"normalize": True}, {"ngrams": 3, "characters": [8]}):
        assert TextClassifier(**settings).features([" "]) == {"intercept": 1}


def linear(model: TextClassifier, words: list[str]) -> np.ndarray:
    """The scores of the categories: weights by the hashes of the names of features."""
    table = model._decoders().tables[0]
    rows = [
        value * np.asarray(table.weights(murmur_64a(name.encode())))
        for name, value in model.features(words).items()
    ]
    return np.sum(rows, axis=0)


@looped("values", ["binary", "counts", "log"])
def test_probabilities_are_those_of_the_softmax(values: Any) -> None:
    model = TextClassifier(values=values, ngrams=2, epochs=5).fit(TRAIN)
    several = list(model.predict_marginals_stream(WORDS, n_threads=2))
    for words, found in zip(WORDS, several, strict=True):
        scores = linear(model, words)
        chances = np.exp(scores - scores.max())
        chances /= chances.sum()
        assert found == model.predict_marginals(words)
        assert list(found) == list(model.labels)
        np.testing.assert_allclose(list(found.values()), chances, atol=1e-9)
        assert model.predict(words) == model.labels[int(np.argmax(chances))]


@looped(
    ("kind", "level", "alpha"),
    [("none", 0.0, 0.0), ("dropout", 0.5, 0.0), ("dropout", 0.3, 2.0), ("additive", 0.7, 1.0),
     ("multiplicative", 0.5, 0.5)],
)  # fmt: skip
def test_the_optimum_has_no_gradient(kind: Any, level: float, alpha: float) -> None:
    """That of equation 11 with L2, worked out densely at the weights that L-BFGS found."""
    l2 = 0.5
    labeled, unlabeled = TRAIN[:60], WORDS[:30] if alpha else []
    learning = LogLinear(
        "lbfgs", l2=l2, noise=kind, noise_level=level, unlabeled_weight=alpha, tolerance=1e-12
    )
    model = TextClassifier(values="counts", learning=learning, epochs=300)
    model.fit(labeled, unlabeled=unlabeled)
    texts = [*(words for words, _ in labeled), *unlabeled]
    names = sorted({name for words in texts for name in model.features(words)})
    inputs = np.array([[model.features(words).get(name, 0) for name in names] for words in texts])
    gold = np.array([[topic == label for label in model.labels] for _, topic in labeled])
    table = model._decoders().tables[0]
    w = np.array([table.weights(murmur_64a(name.encode())) for name in names])

    def gradient(w: np.ndarray) -> np.ndarray:
        n, m = len(labeled), len(unlabeled)
        chances = np.exp(inputs[:n] @ w)
        chances /= chances.sum(axis=1, keepdims=True)
        found = inputs[:n].T @ (chances - gold) + 2 * l2 * w
        if kind != "none":
            noise = Noise(kind, level if kind == "dropout" else level**2)
            for i, text in enumerate(inputs):
                share = n / (n + alpha * m) * (1.0 if i < n else alpha)
                found += share * multinomial_noising(text, w.T, noise)[1].T
        return found

    assert np.abs(gradient(w)).max() < 1e-3
    assert np.abs(gradient(0 * w)).max() > 5


# Training -----------------------------------------------------------------------------------------


def test_texts_without_a_category() -> None:
    noisy = LogLinear(noise="dropout", noise_level=0.5, unlabeled_weight=2.0)
    plain = TextClassifier(learning=noisy).fit(TRAIN[:20])
    more = TextClassifier(learning=noisy).fit(TRAIN[:20], unlabeled=WORDS)
    assert weights(plain) != weights(more)

    with pytest.raises(ValueError, match="noising only"):
        TextClassifier(learning=LogLinear()).fit(TRAIN, unlabeled=WORDS)
    with pytest.raises(ValueError, match="not a list of words"):
        TextClassifier(learning=noisy).fit(TRAIN, unlabeled=["text"])


def test_texts_without_words() -> None:
    model = TextClassifier().fit([*TRAIN, *[([], "snow")] * 30])
    assert model.predict([]) == model.predict(["  "]) == model.predict(["unseen"]) == "snow"
    assert model.predict_batch([[], WORDS[0], []]) == ["snow", model.predict(WORDS[0]), "snow"]
    assert sum(model.predict_marginals([]).values()) == pytest.approx(1.0)
    assert model.predict_batch([]) == []
    with pytest.raises(ValueError, match="training corpus is empty"):
        TextClassifier().fit([([], "snow"), ([" "], "sea")])


def test_one_category() -> None:
    model = TextClassifier(epochs=2).fit([(["a"], "X"), (["b"], "X")])
    assert model.predict(["c"]) == "X"
    assert model.predict_marginals(["c"]) == {"X": 1.0}


def test_any_weights_give_probabilities() -> None:
    def change(_: object, arrays: dict[str, np.ndarray]) -> None:
        arrays["0.values"][:] = 1e30 * np.sign(arrays["0.values"])

    model = TextClassifier.from_bytes(tampered(TextClassifier().fit(TRAIN).to_bytes(), change))
    for words in WORDS:
        assert sum(model.predict_marginals(words).values()) == pytest.approx(1.0)


def test_nothing_can_be_given_of_a_category() -> None:
    model = TextClassifier(epochs=1).fit([(["雨"], "天气"), (["球"], "体育")])
    with pytest.raises(ValueError, match="nothing can be given"):
        model.predict_batch([["雨"]], given=[["天气"]])
