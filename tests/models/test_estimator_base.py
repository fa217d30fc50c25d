"""The base of all estimators, by a tagger in Python whose labels and features come from data."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy_tagger import ToySpec, ToyTagger, key_of
from twins import DenseAverages

from spacy_structreg.corpora.checksum import corpus_checksum
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.model_file import parse_model

Pairs = list[tuple[str, str]]


def tagged(n: int, seed: int) -> list[Pairs]:
    """Random sentences of words that have one to three tags."""
    chance = random.Random(seed)
    tags = {"Time": "NV", "flies": "NV", "like": "PVN", "an": "D", "arrow": "N", "the": "D"}
    return [
        [(word, chance.choice(tags[word])) for word in chance.choices(sorted(tags), k=length)]
        for length in (chance.randint(1, 8) for _ in range(n))
    ]


TRAIN, DEV = tagged(40, seed=1), tagged(20, seed=2)


@pytest.fixture(scope="module")
def fitted() -> ToyTagger:
    return ToyTagger().fit(TRAIN)


def weights_of(model: ToyTagger) -> dict[int, list[float]]:
    arrays = parse_model(model.to_bytes())[1]
    return dict(zip(arrays["0.keys"].tolist(), arrays["0.values"].tolist(), strict=True))


# Training -----------------------------------------------------------------------------------------


def test_weights_are_averages_over_all_visits() -> None:
    """One sentence, so that there is one order only; against averages kept densely."""
    sentence = [("a", "X"), ("b", "Y"), ("a", "Y"), ("b", "Y"), ("c", "X")]
    model = ToyTagger(epochs=4).fit([sentence])
    averages = DenseAverages(2)
    for _ in range(4):
        updates = []
        for word, tag in sentence:
            gold, found = "XY".index(tag), int(averages.values[key_of(word)].argmax())
            if gold != found:
                updates += [(key_of(word), gold, 1.0), (key_of(word), found, -1.0)]
        averages.step(updates)
    expected = {key: averages.average(key).tolist() for key in averages.values}
    assert weights_of(model) == {key: row for key, row in expected.items() if any(row)}


def test_labels_come_from_data(fitted: ToyTagger) -> None:
    assert ToyTagger().labels == ()
    assert fitted.labels == ("D", "N", "P", "V")
    # Trained anew from other data, nothing is left of the old labels.
    again = ToyTagger().fit(TRAIN).fit([[("arrow", "X"), ("the", "A")]])
    assert again.labels == ("A", "X")
    assert again.to_bytes() == ToyTagger().fit([[("arrow", "X"), ("the", "A")]]).to_bytes()


def test_the_checksum_is_that_of_words_and_tags(fitted: ToyTagger) -> None:
    layers = [[part[i] for part in sentence] for sentence in TRAIN for i in (0, 1)]
    assert fitted.corpus_checksum == corpus_checksum(layers)


def test_the_best_epoch_is_that_of_the_primary_figure() -> None:
    plain = ToyTagger(epochs=6).fit(TRAIN, DEV)
    figures = [report.primary for report in plain.history]
    assert figures == [report.dev.tag_acc for report in plain.history if report.dev]
    best = figures.index(max(figures)) + 1
    assert weights_of(plain) == weights_of(ToyTagger(epochs=best).fit(TRAIN))
    assert plain.evaluate(DEV).tag_acc == max(figures)
    assert all(report.primary is None for report in ToyTagger().fit(TRAIN).history)


def test_patience() -> None:
    model = ToyTagger(epochs=50, patience=2).fit(TRAIN, DEV)
    figures = [report.primary or 0.0 for report in model.history]
    assert len(figures) < 50
    assert figures.index(max(figures)) == len(figures) - 3


@pytest.mark.parametrize("n_threads", [1, 3])
def test_several_models(n_threads: int) -> None:
    together = ToyTagger(n_models=3, mean="plain").fit(TRAIN, n_threads=n_threads)
    alone = [ToyTagger(seed=seed).fit(TRAIN) for seed in range(3)]
    assert weights_of(together) == weights_of(ToyTagger.average(alone, "plain"))
    rows = [weights_of(model) for model in alone]
    for key, row in weights_of(together).items():
        total = np.sum([np.float64(each.get(key, [0.0] * 4)) for each in rows], axis=0)
        assert row == (total / 3).astype(np.float32).tolist()


def test_pieces_cover_what_is_learned() -> None:
    """Mini-samples go through the spec's `pieces`: as many updates as there are pieces."""
    cut = ToyTagger(learning=Learning(mini_sample=2.0))
    whole = ToyTagger()
    clocks = []
    for model in (cut, whole):
        model.partial_fit(TRAIN)
        clocks.append(parse_model(model.to_bytes(state="training"))[0]["clock"])
    assert clocks[1] == len(TRAIN) < clocks[0]


# Training in portions -----------------------------------------------------------------------------


def test_what_is_prepared_twice_is_the_last() -> None:
    model = ToyTagger()
    model.prepare([[("x", "A")]])
    model.prepare(TRAIN)
    assert model.labels == ("D", "N", "P", "V")


def test_the_first_portion_says_what_there_is() -> None:
    model = ToyTagger().partial_fit([[("a", "X"), ("b", "Y")]])
    before = model.to_bytes(state="training")
    with pytest.raises(ValueError, match=r"\['Z'\] were not seen"):
        model.partial_fit([[("a", "Z")]])
    assert model.to_bytes(state="training") == before


def test_nothing_can_be_learned_of_unknown_labels() -> None:
    with pytest.raises(ValueError, match="the tagger knows no labels; call fit, or prepare"):
        ToyTagger().learn([])


# Gold ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("the arrow", "not a list of pairs"),
        (["the", "arrow"], "not a list of pairs"),
        ([("the", "D"), ("arrow",)], "not a list of pairs"),
        ([("the", 1)], "not a list of pairs"),
        (None, "not a list of pairs"),
        (1, "not a list of pairs"),
        ([("the", "D"), ("arrow", " ")], "the word 'arrow' has no tag"),
    ],
)
def test_no_tagged_sentence(sentence: Any, message: str, fitted: ToyTagger) -> None:
    corpus = [TRAIN[0], sentence]
    for call, purpose in (
        (lambda: ToyTagger().fit(corpus), "training"),
        (lambda: ToyTagger().fit(TRAIN, corpus), "development"),
        (lambda: ToyTagger().partial_fit(corpus), "training"),
        (lambda: fitted.evaluate(corpus), "evaluation"),
    ):
        with pytest.raises(ValueError, match=f"^sentence 2 of the {purpose} corpus: .*{message}"):
            call()


def test_white_space_has_no_tag(fitted: ToyTagger) -> None:
    spaced = [
        [(" ", ""), *((f" {word}\n", tag) for word, tag in each), ("\t", "X")] for each in TRAIN
    ]
    assert weights_of(ToyTagger().fit([*spaced, [], [(" ", "")]])) == weights_of(fitted)
    with pytest.raises(ValueError, match="the training corpus is empty"):
        ToyTagger().fit([[(" ", "X")], []])


# Files --------------------------------------------------------------------------------------------


def test_the_dictionary_is_kept(tmp_path: Path) -> None:
    """Words that were seen with one tag get it, though no weight says so."""
    model = ToyTagger(epochs=1).fit([[("a", "X"), ("b", "Y")]])
    assert key_of("a") not in weights_of(model)
    for each in (model, ToyTagger.from_bytes(model.to_bytes())):
        assert each.predict(["a", "b", "c"]) == ["X", "Y", "X"]


# Averages -----------------------------------------------------------------------------------------


def test_models_of_other_features_are_refused(fitted: ToyTagger) -> None:
    other = ToyTagger().fit(TRAIN[:30])
    with pytest.raises(ValueError, match=r"differ in labels: .*'D'"):
        ToyTagger.average([fitted, ToyTagger().fit([[("the", "D")]])])
    with pytest.raises(ValueError, match="differ in lower: False and True"):
        ToyTagger.average([fitted, ToyTagger(lower=True).fit(TRAIN)])
    extended = ToyTagger().fit([*TRAIN, [("banana", "N")]])
    with pytest.raises(ValueError, match="differ in dictionary"):
        ToyTagger.average([fitted, extended])
    retagged = ToyTagger().fit([*TRAIN, [("the", "V")]])
    with pytest.raises(ValueError, match=r"differ in dictionary\.(ends|tags)"):
        ToyTagger.average([fitted, retagged])
    specs = [model._spec for model in (fitted, other)]
    assert all(isinstance(spec, ToySpec) for spec in specs)
    assert specs[0].contents()[0] == specs[1].contents()[0]
    ToyTagger.average([fitted, other])


# Prediction goes on while labels change -----------------------------------------------------------


def test_fit_that_fails_leaves_the_old_labels(fitted: ToyTagger) -> None:
    model = ToyTagger.from_bytes(fitted.to_bytes())

    def stop(_: object) -> None:
        assert model.predict(["the"]) == ["D"]
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        model.fit([[("the", "X")]], on_epoch=stop)
    assert model.to_bytes() == fitted.to_bytes()
    assert model.labels == fitted.labels
