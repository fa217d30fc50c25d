"""The stand-in for sklearn-crfsuite's CRF."""

from __future__ import annotations

import copy
import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from labeled import labels_of, named_sentences
from looped import looped

from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.models.labeling.crf import CRF
from spacy_structreg.models.labeling.labelers import FeatureLabeler


def features(sentence: list[tuple[str, ...]]) -> list[dict[str, object]]:
    """As in the tutorial of sklearn-crfsuite."""
    found: list[dict[str, object]] = []
    for i, (word, tag, _) in enumerate(sentence):
        item: dict[str, object] = {
            "bias": 1.0,
            "word": word,
            "tag": tag,
            "upper": word[0].isupper(),
        }
        if i:
            item["before"] = {"word": sentence[i - 1][0], "tag": sentence[i - 1][1]}
        else:
            item["BOS"] = True
        found.append(item)
    return found


TRAIN, TEST = named_sentences(60, seed=1), named_sentences(30, seed=2)
X, Y = [features(sentence) for sentence in TRAIN], labels_of(TRAIN)
X_TEST, Y_TEST = [features(sentence) for sentence in TEST], labels_of(TEST)


def fitted(*args: Any, **settings: Any) -> CRF:
    return CRF(*args, **{"max_iterations": 30, **settings}).fit(X, Y)


@looped("algorithm", ["lbfgs", "l2sgd", "ap", "pa"])
def test_every_algorithm_learns(algorithm: str) -> None:
    crf = fitted(algorithm)
    predicted = crf.predict(X_TEST)
    assert predicted == [crf.predict_single(xseq) for xseq in X_TEST]
    right = [
        found == label
        for labels, gold in zip(predicted, Y_TEST, strict=True)
        for found, label in zip(labels, gold, strict=True)
    ]
    assert crf.score(X_TEST, Y_TEST) == sum(right) / len(right) > 0.95
    assert crf.classes_ == ["B-LOC", "B-PER", "I-LOC", "I-PER", "O"]


def test_values_of_different_sizes_do_not_end_training_too_early() -> None:
    random = np.random.default_rng(0)
    values = random.normal(size=(50, 5, 2)).tolist()
    items = [[{"small": a, "large": 1e4 * b} for a, b in sequence] for sequence in values]
    labels = [["up" if a + b > 0 else "down" for a, b in sequence] for sequence in values]
    # By single iterations training would end after a handful, with every fourth label wrong.
    assert CRF(c2=1e-3).fit(items, labels).score(items, labels) > 0.98


@looped("dev", [False, True])
def test_a_single_label_leaves_lbfgs_nothing_to_do(dev: bool) -> None:
    model = FeatureLabeler(learning=LogLinear("lbfgs"))
    gold = [[({"a": 1}, "X"), ({}, "X")]]
    model.fit(gold, gold if dev else None)
    assert [report.epoch for report in model.history] == [1]
    assert model.predict([{}]) == ["X"]


@looped(
    ("settings", "learning", "epochs"),
    [
        ({}, LogLinear("lbfgs", l2=1.0, tolerance=1e-5 / 10), 1000),
        ({"c1": 0.1, "c2": 0.01, "max_iterations": 7, "all_possible_transitions": True},
         LogLinear("lbfgs", l1=0.1, l2=0.01, tolerance=1e-5 / 10), 7),
        ({"delta": 0.01, "period": 5}, LogLinear("lbfgs", l2=1.0, tolerance=0.002), 1000),
        ({"algorithm": "l2sgd", "c2": 0.5}, LogLinear("sgd", l2=0.5, tolerance=1e-6 / 10), 1000),
        ({"algorithm": "ap", "averaging": True}, Learning(), 100),
        ({"algorithm": "pa"}, Learning("pa_i", 1.0), 100),
        ({"algorithm": "pa", "c": 0.5, "pa_type": 2}, Learning("pa_ii", 0.5), 100),
        ({"algorithm": "pa", "pa_type": 0}, Learning("pa"), 100),
        ({"learning": LogLinear(noise="dropout", noise_level=0.1), "max_iterations": 3},
         LogLinear(noise="dropout", noise_level=0.1), 3),
    ],
)  # fmt: skip
def test_what_settings_stand_for(settings: Any, learning: Any, epochs: int) -> None:
    model = CRF(**settings)._model
    assert model.learning == learning
    assert model.epochs == epochs


def test_it_is_the_labeler_of_features() -> None:
    crf = fitted(c2=0.1, edges=["tag"])
    labeler = FeatureLabeler(
        edges=["tag"], epochs=30, learning=LogLinear("lbfgs", l2=0.1, tolerance=1e-5 / 10)
    ).fit([list(zip(x, y, strict=True)) for x, y in zip(X, Y, strict=True)])
    assert crf._model.to_bytes() == labeler.to_bytes()
    for xseq in X_TEST[:5]:
        marginals = labeler.predict_marginals(xseq)
        found = crf.predict_marginals_single(xseq)
        assert [list(item) for item in found] == [crf.classes_] * len(xseq)
        np.testing.assert_array_equal([list(item.values()) for item in found], marginals)
    assert crf.predict_marginals(X_TEST[:5]) == list(map(crf.predict_marginals_single, X_TEST[:5]))
    assert crf.transition_features_ == labeler.transition_weights()
    assert crf.transition_features_["B-PER", "I-PER"] > crf.transition_features_["O", "I-PER"]


def test_the_best_iteration_on_a_development_corpus_is_kept(
    capsys: pytest.CaptureFixture[str],
) -> None:
    crf = CRF(max_iterations=8, c2=0.01, verbose=True).fit(X[:6], Y[:6], X_TEST, Y_TEST)
    lines = capsys.readouterr().out.splitlines()
    figures = [float(line.rsplit(" ", 1)[1]) for line in lines]
    assert [line.partition(":")[0] for line in lines] == [
        f"iteration {i}" for i in range(1, len(lines) + 1)
    ]
    # In percent, with two digits.
    assert 100 * crf.score(X_TEST, Y_TEST) == pytest.approx(max(figures), abs=1e-2)


def test_perceptrons_have_no_probabilities() -> None:
    with pytest.raises(ValueError, match="no probabilities"):
        fitted("ap").predict_marginals(X_TEST)


def test_pickles_copies_and_files(tmp_path: Path) -> None:
    crf = fitted(c1=0.1, edges=("tag",), scheme="bioes")
    crf.save(tmp_path / "model.srt")
    loaded = CRF.load(tmp_path / "model.srt")
    for other in (pickle.loads(pickle.dumps(crf)), copy.deepcopy(crf), loaded):
        assert other.predict(X_TEST) == crf.predict(X_TEST)
        assert other.predict_marginals(X_TEST) == crf.predict_marginals(X_TEST)
        assert other.fit(X, Y)._model.to_bytes() == crf._model.to_bytes()
    assert FeatureLabeler.load(tmp_path / "model.srt").predict_batch(X_TEST) == crf.predict(X_TEST)
    untrained = pickle.loads(pickle.dumps(CRF(c2=0.5)))
    assert untrained.c2 == 0.5
    for method in (untrained.predict, untrained.predict_marginals):
        with pytest.raises(ValueError, match="has not been trained"):
            method(X)
    with pytest.raises(ValueError, match="has not been trained"):
        untrained.save(tmp_path / "other.srt")


def test_params_as_scikit_learn_has_them() -> None:
    crf = CRF(c1=0.1, edges=["a"])
    params = crf.get_params()
    named = set(inspect.signature(CRF).parameters) - {"others"}
    assert set(params) == named
    # What `sklearn.base.clone` holds a class to: the very objects that it was given.
    again = CRF(**params)
    assert all(again.get_params()[name] is value for name, value in params.items())
    assert crf.set_params(c2=0.2, algorithm="l2sgd") is crf
    assert (crf.c1, crf.c2, crf.algorithm) == (0.1, 0.2, "l2sgd")
    assert repr(crf) == "CRF(algorithm='l2sgd', c1=0.1, c2=0.2, edges=['a'])"
    for wrong in ({"c2": -1.0}, {"algorithm": "ap"}, {"epsilon": 1.0}):
        with pytest.raises(ValueError, match=r"^(c2|c1|epsilon) "):
            crf.set_params(**wrong)
        assert (crf.c2, crf.algorithm) == (0.2, "l2sgd")
    with pytest.raises(TypeError, match="no setting 'C'"):
        crf.set_params(C=1)


def test_clones_of_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed")
    crf = fitted(c1=0.1)
    clone = sklearn.clone(crf)
    assert clone.get_params() == crf.get_params()
    assert clone.classes_ == []


@looped(
    ("settings", "message"),
    [
        ({"algorithm": "arow"}, "algorithm must be one of .*, got 'arow'"),
        ({"c1": -1.0}, "c1 must be at least 0"),
        ({"c2": "1"}, "c2 must be a number"),
        ({"algorithm": "ap", "c2": 1.0}, "c2 is 1.0, but algorithm = 'ap' has no such setting"),
        ({"algorithm": "lbfgs", "c": 1.0}, "c is 1.0"),
        ({"algorithm": "pa", "pa_type": 3}, "pa_type is 3"),
        ({"algorithm": "pa", "pa_type": 1.5}, "pa_type must be an integer"),
        ({"delta": -1}, "delta must be at least 0"),
        ({"period": 0}, "period must be at least 1"),
        ({"max_iterations": 0}, "max_iterations must be at least 1"),
        ({"all_possible_transitions": False}, "no other way"),
        ({"all_possible_states": False}, "no other way"),
        ({"averaging": False}, "no other way"),
        ({"learning": LogLinear(), "c2": 0.5}, "learning says how to train"),
        ({"num_memories": 6}, "num_memories cannot be set"),
        ({"calibration_eta": 0.1}, r"LogLinear\(rate"),
        ({"model_filename": "x"}, "call save"),
        ({"min_freq": 2}, "leave rare ones out"),
    ],
)
def test_what_cannot_be_honoured_is_said(settings: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CRF(**settings)


def test_none_is_what_crfsuite_does() -> None:
    assert CRF(num_memories=None, c1=None).get_params() == CRF().get_params()


@looped(
    ("x", "y", "message"),
    [
        (X, Y[:-1], "y has 59 sequences, and X has more"),
        (X[:-1], Y, "X has 59 sequences, and y has more"),
        ([X[0]], [Y[0][:-1]], "sequence 0 has"),
        ([], [], "empty"),
        ([["text"]], [["O"]], "expected the features of a position"),
    ],
)
def test_data_that_does_not_fit(x: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CRF().fit(x, y)
    with pytest.raises(ValueError, match="X_dev and y_dev"):
        CRF().fit(X, Y, X)
