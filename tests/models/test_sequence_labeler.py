"""The labeler of tokens: what it learns, and what it says, against brute force."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from crafted import tampered
from hypothesis import given
from hypothesis import strategies as st
from labeled import (
    Oracle,
    Rows,
    labels_of,
    named_sentences,
    stands_for_spans,
    tokens_of,
)
from looped import looped

from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.learn.learning_settings import AnyLearning, Learning, LogLinear
from spacy_structreg.learn.model_file import parse_model
from spacy_structreg.metrics.labeling import LABEL_FIGURES, SPAN_FIGURES, score_spans
from spacy_structreg.models.labeling.labelers import SequenceLabeler

TRAIN, DEV = named_sentences(60, seed=1), named_sentences(40, seed=2)
TEMPLATES = (
    "label: w0 | w-1 | w+1 | tag(w-1) tag(w0) | prefix2(w0) | words(+1..+2) \n edge: \n edge: w0"
)
COLUMNS = ("w", "tag")
# As many labels that brute force can go through the sentences of up to 6 tokens.
SHORT = [rows for rows in TRAIN if len(rows) <= 5][:12]


def labeler(**settings: Any) -> SequenceLabeler:
    given = {"templates": TEMPLATES, "columns": COLUMNS, "scheme": "bio", "epochs": 8}
    return SequenceLabeler(**{**given, "learning": LogLinear(), **settings})


@pytest.fixture(scope="module")
def fitted() -> SequenceLabeler:
    return labeler().fit(TRAIN)


def weights(model: SequenceLabeler) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in parse_model(model.to_bytes())[1].items()}


# There are many ways through the labels of bioes.
SCHEMES = ["bio", pytest.param("bioes", marks=pytest.mark.slow), "io", None]

# Labels that are given ----------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("learning", [LogLinear(), Learning()])
def test_given_labels_stay_and_the_others_go_best_with_them(
    scheme: Any, learning: AnyLearning
) -> None:
    corpus = TRAIN
    if scheme is None:
        corpus = [[(word, label, tag) for word, tag, label in rows] for rows in TRAIN]
    model = labeler(scheme=scheme, learning=learning, epochs=2).fit(corpus)
    chance = random.Random(5)
    changed = 0
    for tokens in [rows[:4] for rows in tokens_of(corpus)[:40]]:
        ranked = [labels for _, labels in Oracle(model, tokens).ranked()]
        # Any labeling, far from the best, of which some is known: whole spans.
        known: list[str | None] = [*chance.choice(ranked)]
        open_from = chance.randrange(len(tokens))
        if scheme is not None:
            while open_from and str(known[open_from]).startswith("I-"):
                open_from -= 1
        known[open_from:] = [None] * (len(tokens) - open_from)
        begin = chance.randrange(open_from + 1)
        if scheme is None or not str(known[begin]).startswith("I-"):
            known[:begin] = [None] * begin
        expected = next(
            labels
            for labels in ranked
            if all(old in (None, new) for old, new in zip(known, labels, strict=True))
            and not any(
                labels[i].startswith("I-") and known[i] is None and known[i - 1] is not None
                for i in range(1, len(labels))
            )
        )
        assert model.predict(tokens, given=known) == expected
        changed += expected != ranked[0]
    assert changed > 5


def test_given_labels_that_are_unknown_or_do_not_fit(fitted: SequenceLabeler) -> None:
    tokens = [("Mira", "N"), ("Kell", "N"), ("saw", "V"), ("Tovo", "N")]
    assert fitted.predict(tokens) == ["B-PER", "I-PER", "O", "B-LOC"]
    # An I that nothing begins does; a span goes on with none that is known.
    assert fitted.predict(tokens, given=[None, "I-GOD", None, "O"]) == ["B-PER", "B-GOD", "O", "O"]
    assert fitted.predict(tokens, given=[None] * 4) == fitted.predict(tokens)
    # In an array as well, whose items compare one by one.
    assert fitted.predict(tokens, given=np.array(["O"] * 4)) == ["O"] * 4
    batch = [tokens, tokens[:1], tokens]
    given = [None, None, ["O", None, None, None]]
    for n_threads in (1, 2):
        found = fitted.predict_batch(batch, given=given, n_threads=n_threads)
        assert found[:2] == [fitted.predict(tokens), fitted.predict(tokens[:1])]
        assert found[2] == fitted.predict(tokens, given=given[2])
        assert found[2][0] == "O"
    for known, fault in (
        (["O"], "labels are given for 1 items, but the sequence has 4; give None where"),
        (["X", None, None, None], "'X' is no label of this scheme"),
        (["O", float("nan"), None, None], "nan is no label; give a list of labels"),
        ("OOOO", "'OOOO' is no label; give a list of labels"),
    ):
        with pytest.raises(ValueError, match=fault):
            fitted.predict(tokens, given=known)
    assert fitted.predict(iter(tokens), given=(None for _ in tokens)) == fitted.predict(tokens)
    for some, fault in (
        (given[:2], "given for 2 sentences, but there are more"),
        ([*given, None], "given for more than the 3 sentences"),
    ):
        with pytest.raises(ValueError, match=fault):
            fitted.predict_batch(batch, given=some)
    # To labels without a prefix O is no name.
    model = labeler(scheme="io").fit(TRAIN)
    assert model.predict(tokens, given=["B-O", None, None, None])[0] == "B-O"


# Learning -----------------------------------------------------------------------------------------


@looped("scheme", ["bio", "bioes", "io"])
@looped("learning", [LogLinear(), Learning(algorithm="pa_i", aggressiveness=0.1, mini_sample=3.0)])
def test_learns_the_language(scheme: Any, learning: AnyLearning) -> None:
    model = labeler(scheme=scheme, learning=learning, epochs=15).fit(TRAIN)
    scores = model.evaluate(DEV)
    assert scores.table == SPAN_FIGURES
    assert scores.ents_f is not None
    # Names of two kinds can only be told apart by what stands around them, and sometimes not.
    assert scores.ents_f > 0.93
    predicted = model.predict_batch(tokens_of(DEV), n_threads=2)
    assert predicted == [model.predict(tokens) for tokens in tokens_of(DEV)]
    assert scores == score_spans(labels_of(DEV), predicted)


def test_labels_are_those_of_the_scheme() -> None:
    spans = [f"{place}-{kind}" for place in "BEIS" for kind in ("LOC", "PER")]
    assert labeler(scheme="bioes", epochs=1).fit(TRAIN).labels == tuple(sorted([*spans, "O"]))
    assert labeler(scheme="io", epochs=1).fit(TRAIN).labels == ("LOC", "O", "PER")
    assert labeler(epochs=1).fit([[("Mira", "N", "B-PER")]]).labels == ("B-PER", "I-PER", "O")
    # An I that nothing begins does.
    assert labeler(epochs=1).fit([[("a", "N", "I-X")]]).labels == ("B-X", "I-X", "O")


def test_neighbors_of_one_type_are_told_apart_but_for_io() -> None:
    corpus = [[("x", "N", "B-A"), ("y", "N", "B-A"), ("z", "N", "O")]] * 5
    tokens = tokens_of(corpus)[0]
    for scheme, expected in (("bio", "B-A B-A O"), ("bioes", "B-A B-A O"), ("io", "B-A I-A O")):
        model = labeler(scheme=scheme).fit(corpus)
        assert model.predict(tokens) == expected.split()


def test_attributes_have_no_scheme() -> None:
    tags = [[(word, label, tag) for word, tag, label in rows] for rows in TRAIN]
    model = labeler(scheme=None).fit(tags)
    assert model.labels == ("C", "N", "P", "V")
    scores = model.evaluate(tags)
    assert scores.table == LABEL_FIGURES
    assert scores.label_acc == 1.0
    assert model.PRIMARY == "label_acc"


def test_training_ends_when_it_has_converged() -> None:
    for optimizer in ("sgd", "lbfgs"):
        ends = []
        for tolerance in (0.3, 1e-2, 0.0):
            learning = LogLinear(optimizer, tolerance=tolerance)
            ends.append(len(labeler(learning=learning, epochs=40).fit(TRAIN).history))
        assert 1 < ends[0] < ends[1] < ends[2] <= 40
        # L-BFGS also ends where no step is better.
        assert ends[2] == 40 or optimizer == "lbfgs"


# Portions and checkpoints -------------------------------------------------------------------------


def test_unlabeled_sentences_count_in_the_noising_alone() -> None:
    noisy = LogLinear(noise="dropout", noise_level=0.3)
    plain = labeler(learning=noisy).fit(TRAIN)
    more = labeler(learning=noisy).fit(TRAIN, unlabeled=tokens_of(DEV))
    assert weights(plain) != weights(more)
    silent = LogLinear(noise="dropout", noise_level=0.3, unlabeled_weight=0.0)
    none, some = (
        labeler(learning=silent).fit(TRAIN, unlabeled=tokens_of(rows)) for rows in ([], DEV)
    )
    draws = {
        name: (none.predict_marginals(t), some.predict_marginals(t))
        for name, t in enumerate(tokens_of(SHORT))
    }
    # The order of visits is another one, the optimum is not.
    for one, other in draws.values():
        assert np.abs(one - other).max() < 0.05
    with pytest.raises(ValueError, match="noising only"):
        labeler().fit(TRAIN, unlabeled=tokens_of(DEV))
    with pytest.raises(ValueError, match="not a row of 2 strings"):
        labeler(learning=noisy).fit(TRAIN, unlabeled=[["word"]])


# Prediction ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("learning", [LogLinear(l2=0.01), Learning()])
def test_predictions_are_those_of_brute_force(scheme: Any, learning: AnyLearning) -> None:
    model = labeler(scheme=scheme, learning=learning, epochs=3).fit(SHORT)
    for tokens in tokens_of(DEV)[:20]:
        short = tokens[:4]
        oracle = Oracle(model, short)
        ranked = oracle.ranked()
        found = model.nbest(short, 6)
        assert len(found) == 6
        np.testing.assert_allclose(
            [score for score, _ in found], [score for score, _ in ranked[:6]], atol=1e-4
        )
        scores = {tuple(labels): score for score, labels in reversed(ranked)}
        for score, labels in found:
            if scheme != "io":
                assert score == pytest.approx(scores[tuple(labels)], abs=1e-4)
        assert model.predict(short) == found[0][1]
        if isinstance(learning, LogLinear):
            np.testing.assert_allclose(
                model.predict_marginals(short), oracle.paths.nodes, atol=1e-6
            )


SCHEMES: dict[str, SequenceLabeler] = {
    scheme: labeler(scheme=scheme, epochs=1).fit(TRAIN) for scheme in ("bio", "bioes", "io")
}


@given(
    scheme=st.sampled_from(sorted(SCHEMES)),
    seed=st.integers(0, 2**32),
    words=st.lists(
        st.tuples(
            st.sampled_from(["Mira", "Harn", "in", "Bay", "new", ""]), st.sampled_from("NVP")
        ),
        max_size=9,
    ),
)
def test_predictions_always_stand_for_spans(
    scheme: str, seed: int, words: list[tuple[str, str]]
) -> None:
    """With any weights."""

    def change(_: object, arrays: dict[str, np.ndarray]) -> None:
        chance = np.random.default_rng(seed)
        for name, array in arrays.items():
            if name.endswith("values"):
                array[:] = 3 * chance.standard_normal(array.shape)

    model = SequenceLabeler.from_bytes(tampered(SCHEMES[scheme].to_bytes(), change))
    predicted = [model.predict(words), *(labels for _, labels in model.nbest(words, 4))]
    for labels in predicted:
        assert len(labels) == len(words)
        assert stands_for_spans(labels)
    marginals = model.predict_marginals(words)
    assert ((marginals >= 0) & (marginals <= 1 + 1e-9)).all()


def test_unknown_labels_are_wrong_but_do_no_harm() -> None:
    dev: list[Rows] = [
        [("Mira", "N", "B-GOD"), ("Kell", "N", "I-GOD"), ("left", "V", "O")],
        *DEV[:3],
    ]
    model = labeler().fit(TRAIN, dev)
    scores = model.evaluate(dev)
    assert scores.table == SPAN_FIGURES
    assert scores.by_label["GOD"].gold == 1
    assert scores.by_label["GOD"].predicted == scores.by_label["GOD"].correct == 0
    with pytest.raises(ValueError, match="'GOD' is no label of this scheme"):
        model.evaluate([[("Mira", "N", "GOD")]])
    tags = [[(w, t, t) for w, t, _ in rows] for rows in TRAIN]
    unknown = labeler(scheme=None, epochs=2).fit(tags).evaluate([[("in", "P", "Q")]])
    assert unknown.table == LABEL_FIGURES
    assert (unknown.total, unknown.correct) == (1, 0)


def test_words_alone_need_no_tuples() -> None:
    model = SequenceLabeler(templates="label: w0 | w-1 \n edge:", epochs=5)
    model.fit([[(word, label) for word, _, label in rows] for rows in TRAIN])
    words = [word for word, *_ in TRAIN[0]]
    assert model.predict(words) == model.predict([(word,) for word in words])
    with pytest.raises(ValueError, match="is a text"):
        model.predict("Mira left")


def test_features_have_names(fitted: SequenceLabeler) -> None:
    names = fitted.features([("Mira", "N"), ("left", "V")])
    assert "w0=Mira" in names[0]
    assert "w-1=Mira" in names[1]


# Settings -----------------------------------------------------------------------------------------


def test_models_of_older_features_are_refused(fitted: SequenceLabeler) -> None:
    header, arrays = fitted.contents()
    header = {key: value for key, value in header.items() if key != "features"}
    with pytest.raises(ValueError, match=r"old: .*its features are of version 1.*; train it again"):
        SequenceLabeler.from_contents("old", header, arrays)


def test_gazetteers_teach_unseen_names() -> None:
    settings = {"templates": "label: gazetteers(w0) | caps(w0) \n edge:"}
    known = Gazetteers({"place": ["Harn", "Velt", "Ober", "Asta Bay", "Zyx Ro"]})
    corpus = [
        [("at", "P", "O"), (place, "N", "B-LOC"), ("Kell", "N", "O")] for place in ("Harn", "Velt")
    ] * 4
    model = labeler(**settings, gazetteers=known).fit(corpus)
    assert model.predict([("Zyx", "N"), ("Ro", "N"), ("met", "V")])[0] == "B-LOC"


def test_a_descent_that_leaves_all_bounds_takes_nothing_along() -> None:
    steep = labeler(learning=LogLinear(rate=1e300, l2=0.0))

    def train() -> None:
        for _ in range(20):
            steep.partial_fit(TRAIN)

    with pytest.raises(ValueError, match=r"choose a learning rate below 1e\+300"):
        train()
    assert not steep.is_trained
    with pytest.raises(ValueError, match="has not been trained"):
        steep.predict(tokens_of(TRAIN)[0])
