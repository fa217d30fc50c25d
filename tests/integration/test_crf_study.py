"""The project `crf_study`: its workflow on made-up corpora, and the reports that it holds."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from pipeline.made_up import DEV, TRAIN
from study_contract import Study, StudyContract, finished, project

from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.models.classification import TextClassifier
from spacy_structreg.models.labeling.labelers import SequenceLabeler
from spacy_structreg.models.segmentation import CharacterSegmenter

# Fixtures of every study.
__all__ = ["finished", "project"]

GRID = """
title: Made up
base:
  crf: {learner: crf, epochs: 3, patience: 2, rate: 0.5, decay: 0.3, l2: 0.1}
  perceptron: {learner: perceptron, epochs: 2}
corpora:
  words:
    kind: characters
    model: {types: null}
    reader: segmented
    train: [train.txt]
    test: [test.txt]
  names: &names
    kind: labels
    model: {templates: pos, scheme: io}
    reader: columns
    options: {columns: [word, label]}
    train: [{file: train.tsv, to: 0.75}]
    dev: [{file: train.tsv, from: 0.75}]
    test: [test.tsv]
  texts:
    kind: texts
    reader: segmented
    split: thirds
    train: [{file: train.txt, category: a}, {file: test.txt, category: b}]
experiments:
  pieces:
    title: Pieces
    note: Of sentences.
    against: whole
    best: [pieces]
    axis: linear
    times: true
    systems:
      whole: {setting: {learner: crf}, tune: {l2: [0.1, 10.0]}}
      pieces: {like: whole, vary: mini_sample, values: [1.5, 2.5]}
      perceptron: {setting: {learner: perceptron}}
    corpora:
      words: {seeds: 2, tune_seeds: 1}
      names: {seeds: 2, tune_seeds: 1, values: {pieces: [2.5]}, tune: {l2: [0.3]}}
  noise:
    title: Noise
    against: none
    types: [none, dropout]
    systems:
      none: {setting: {learner: crf, l2: 0.0}}
      dropout: {setting: {learner: crf, noise: dropout, l2: 0.03}, tune: {noise_level: [0.1, 0.4]}}
      more: {like: dropout, setting: {unlabeled: rest}}
    corpora:
      names: {seeds: 1, tune_seeds: 1, without: [more]}
      texts: {seeds: 2, tune_seeds: 2}
  strengths:
    title: Strengths
    axis: log
    systems:
      L2: {setting: {learner: crf}, vary: l2, values: [0.1, 10.0]}
    corpora:
      names: {seeds: 1, tune_seeds: 1}
"""

CRF = "decay=0.3 epochs=3"


STUDY = Study(
    name="crf_study",
    grid=GRID,
    key=("corpus", "setting", "seed"),
    pictures=frozenset({"pieces.svg", "strengths.svg"}),
    reports=(("structure", "report", "findings"), ("noising", "report/noising", "noising")),
    faulty=(
        ("l2: 0.03}, tune", "l3: 0.03}, tune", "l3"),
        ("noise_level: [0.1", "noise_level: [2.0", "noise_level"),
        ("unlabeled: rest", "unlabeled: some", "unlabeled"),
        ("{like: whole", "{like: half", "no system 'half'"),
        ("best: [pieces]", "best: [cuts]", "unknown system, 'cuts'"),
        ("axis: log", "axis: cubic", "cubic"),
        ("{setting: {learner: perceptron}", "{setting: {learner: tree}", "no learner"),
        ("kind: texts", "kind: text", "kind"),
        ("model: {types: null}", "model: {tables: null}", "tables"),
        ("texts: {seeds: 2", "text: {seeds: 2", "unknown corpus"),
        ("corpora:\n  words:", "corpus:\n  words:", "not a grid"),
    ),
    line={
        **{"corpus": "words", "setting": "epochs=9", "seed": 0},
        **{"curve": [0.5, 0.75], "epoch": 2, "test": 0.5, "types": {}, "seconds": 0.5},
        **{"checksum": "0" * 12, "version": "0"},
    },
    broken={"epoch": 3},
)


class TestContract(StudyContract):
    """What holds for every study."""


def labeled(sentences: list[list[str]]) -> list[list[tuple[str, str]]]:
    """Words of more than one character are names; those that follow one another are one."""
    return [
        [
            (word, "O" if len(word) == 1 else "I-X" if i and len(words[i - 1]) > 1 else "B-X")
            for i, word in enumerate(words)
        ]
        for words in sentences
    ]


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """A folder with made-up corpora."""
    folder = tmp_path_factory.mktemp("data")
    for name, sentences in (("train", TRAIN), ("test", DEV)):
        (folder / f"{name}.txt").write_text(
            "".join(" ".join(words) + "\n" for words in sentences), encoding="utf-8"
        )
        (folder / f"{name}.tsv").write_text(
            "".join(
                "".join(f"{word}\t{label}\n" for word, label in rows) + "\n"
                for rows in labeled(sentences)
            ),
            encoding="utf-8",
        )
    return folder


@pytest.mark.slow
def test_what_is_best_on_the_dev_set_is_taken_for_what_follows(finished):
    found = STUDY.results(finished)
    first = {
        l2: max(found["words", f"{CRF} l2={l2} learner=crf patience=2 rate=0.5", 0]["curve"])
        for l2 in ("0.1", "10")
    }
    best = "0.1" if first["0.1"] >= first["10"] else "10"
    other = "10" if best == "0.1" else "0.1"
    expected = {("words", f"{CRF} l2={other} learner=crf patience=2 rate=0.5", 0)}
    for seed in range(2):
        rest = "patience=2 rate=0.5"
        expected |= {
            ("words", f"{CRF} l2={best} learner=crf {rest}", seed),
            ("words", f"{CRF} l2={best} learner=crf mini_sample=1.5 {rest}", seed),
            ("words", f"{CRF} l2={best} learner=crf mini_sample=2.5 {rest}", seed),
            ("words", "epochs=2 learner=perceptron", seed),
        }
    assert {key for key in found if key[0] == "words"} == expected
    # One of two levels of noise for all seeds; both for those that it was chosen by.
    levels = [key[1] for key in found if key[0] == "names" and "noise=dropout" in key[1]]
    assert len(levels) == 2


@pytest.mark.slow
def test_a_line_is_what_the_estimators_give(finished):
    found = STUDY.results(finished)
    kept = len(TRAIN) * 9 // 10
    perceptron = CharacterSegmenter(types=None, learning=Learning(), epochs=2, seed=1)
    perceptron.fit(TRAIN[:kept], TRAIN[kept:])
    line = found["words", "epochs=2 learner=perceptron", 1]
    assert line["curve"] == pytest.approx([r.primary for r in perceptron.history], abs=1e-6)
    assert line["test"] == pytest.approx(perceptron.evaluate(DEV).seg_f, abs=1e-6)
    assert line["types"] == {"dev": {}, "test": {}}

    rows = labeled(TRAIN)
    cut = round(0.75 * len(rows))
    learning = LogLinear(rate=0.5, decay=0.3, l2=0.3, mini_sample=2.5)
    labeler = SequenceLabeler(
        templates="pos", scheme="io", learning=learning, epochs=3, patience=2, seed=0
    ).fit(rows[:cut], rows[cut:])
    setting = f"{CRF} l2=0.3 learner=crf mini_sample=2.5 patience=2 rate=0.5"
    line = found["names", setting, 0]
    assert line["curve"] == pytest.approx([r.primary for r in labeler.history], abs=1e-6)
    assert line["epoch"] == 1 + line["curve"].index(max(line["curve"]))
    scores = labeler.evaluate(labeled(DEV))
    assert line["test"] == pytest.approx(scores.ents_f, abs=1e-6)
    assert line["types"]["test"] == {"X": [scores.gold, scores.predicted, scores.correct]}
    assert line["seconds"] > 0


@pytest.mark.slow
def test_thirds_are_drawn_by_the_seed_and_one_of_them_has_no_labels(finished):
    found = STUDY.results(finished)
    texts = [(words, "a") for words in TRAIN] + [(words, "b") for words in DEV]
    random.Random(1).shuffle(texts)
    size = len(texts) // 3
    train, test, rest = texts[:size], texts[size : 2 * size], texts[2 * size : 3 * size]
    kept = size * 9 // 10
    more = {key: line for key, line in found.items() if "unlabeled=rest" in key[1]}
    assert len(more) == 2
    (level,) = {re.search("noise_level=(.*?) ", setting)[1] for _, setting, _ in more}
    learning = LogLinear(rate=0.5, decay=0.3, l2=0.03, noise="dropout", noise_level=float(level))
    model = TextClassifier(learning=learning, epochs=3, patience=2, seed=1)
    model.fit(train[:kept], train[kept:], unlabeled=[words for words, _ in rest])
    line = next(line for key, line in more.items() if key[2] == 1)
    assert line["curve"] == pytest.approx([r.primary for r in model.history], abs=1e-6)
    assert line["test"] == pytest.approx(model.evaluate(test).cats_acc, abs=1e-6)
    assert line["seconds"] is None
