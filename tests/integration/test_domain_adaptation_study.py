"""The project `domain_adaptation`: its workflow on made-up corpora, and its report."""

from __future__ import annotations

import random
from itertools import chain
from pathlib import Path

import pytest
from pipeline.made_up import DEV, TRAIN
from study_contract import Study, StudyContract, finished, project

from spacy_structreg.models.segmentation import CharacterSegmenter

# Fixtures of every study.
__all__ = ["finished", "project"]

GRID = """
title: Made up
epochs: {source: 2, target: 2}
source: {reader: segmented, train: source.txt}
lexicon: words.txt
guides: [near, other]
corpora:
  near: {reader: segmented, train: near.txt, test: test.txt}
  other: {reader: tagged, train: near.wordpos, dev: test.wordpos, test: test.wordpos}
  untold: {reader: segmented, test: test.txt}
experiments:
  knowledge:
    title: Knowledge
    note: More and more.
    against: source
    ceiling: target
    systems:
      source: {}
      statistics: {statistics: accessor_variety}
      recounted: {like: statistics, counted: together}
      elsewhere: {like: statistics, counted: target}
      list: {like: recounted, lexicon: true}
      guides: {like: list, guides: true}
      guessed: {like: guides, self_training: true}
      target: {train: target, sentences: all}
    pairs: [[recounted, statistics]]
    corpora:
      near: {seeds: 2}
      untold: {seeds: 1, without: [target]}
  sentences:
    title: Sentences
    against: source
    ceiling: target
    systems:
      source: {}
      alone: {train: target, values: [20, 40]}
      added: {values: [20, 40]}
      guided: {statistics: accessor_variety, join: guided, values: [20]}
      target: {train: target, sentences: all}
    corpora:
      near: {seeds: 2}
      other: {seeds: 1, most: 20}
"""

STUDY = Study(
    name="domain_adaptation",
    grid=GRID,
    key=("corpus", "system", "seed"),
    pictures=frozenset({"sentences.svg"}),
    reports=(("study", "report", "findings"),),
    faulty=(
        ("statistics: {statistics: accessor_variety}", "statistics: {statistics: some}", "some"),
        ("counted: target", "counted: here", "here"),
        ("join: guided, values", "join: somehow, values", "somehow"),
        ("{train: target, sentences: all}", "{train: target}", "given none"),
        ("{like: recounted, lexicon", "{like: counted, lexicon", "no system 'counted'"),
        ("lexicon: true}", "lexikon: true}", "lexikon"),
        ("pairs: [[recounted", "pairs: [[counted", "unknown system, 'counted'"),
        ("ceiling: target", "ceiling: roof", "unknown system, 'roof'"),
        ("guides: [near", "guides: [far", "'far'"),
        ("untold: {seeds: 1, without: [target]}", "untold: {seeds: 1}", "no sentences to train"),
        ("near: {seeds: 2}", "far: {seeds: 2}", "unknown corpus"),
        ("epochs: {source: 2", "epochs: {source: 0", "epochs"),
        ("corpora:\n  near:", "corpus:\n  near:", "not a grid"),
    ),
    line={
        **{"corpus": "near", "system": "sentences=7", "seed": 0},
        **{"dev": [4, 4, 2, 1, 0], "test": [4, 4, 2, 1, 0], "sentences": 7},
        **{"seconds": 0.5, "speed": 100, "checksum": "0" * 12, "version": "0"},
    },
    broken={"test": [4, 4, 5, 1, 0]},
    times=("seconds", "speed"),
)


class TestContract(StudyContract):
    """What holds for every study."""


SOURCE, NEAR = TRAIN[:70], TRAIN[70:]


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """A folder with made-up corpora."""
    folder = tmp_path_factory.mktemp("data")
    for name, sentences in (("source", SOURCE), ("near", NEAR), ("test", DEV)):
        for suffix, mark in ((".txt", ""), (".wordpos", "_X")):
            (folder / f"{name}{suffix}").write_text(
                "".join(" ".join(word + mark for word in words) + "\n" for words in sentences),
                encoding="utf-8",
            )
    words = "\n".join(sorted(set(chain.from_iterable(TRAIN))))
    (folder / "words.txt").write_text(words + "\n", encoding="utf-8")
    return folder


KEPT = len(NEAR) * 9 // 10
TEXTS = ["".join(words) + "\n" for words in NEAR[:KEPT]]


def scored(model: CharacterSegmenter, gold: list[list[str]]) -> list[int | None]:
    found = model.evaluate(gold, vocabulary=set(chain.from_iterable(SOURCE)))
    return [found.gold, found.predicted, found.correct, found.oov, found.oov_correct]


@pytest.mark.slow
def test_a_line_is_what_the_estimators_give(finished, tmp_path):
    found = STUDY.results(finished)

    def check(system: str, model: CharacterSegmenter, corpus: str = "near") -> None:
        line = found[corpus, system, 1]
        assert line["dev"] == scored(model, NEAR[KEPT:])
        assert line["test"] == scored(model, DEV)

    given = {"epochs": 2, "seed": 1}
    check("", CharacterSegmenter(**given).fit(SOURCE))
    counted = CharacterSegmenter(statistics="accessor_variety", **given).fit(SOURCE)
    check("statistics=accessor_variety", counted)
    check("counted=together statistics=accessor_variety", counted.adapt(TEXTS))
    there = counted.adapt(TEXTS, together=False)
    check("counted=target statistics=accessor_variety", there)
    check("sentences=all train=target", CharacterSegmenter(**given).fit(NEAR[:KEPT]))

    drawn = NEAR[:KEPT]
    random.Random(1).shuffle(drawn)
    check("sentences=20 train=target", CharacterSegmenter(**given).fit(drawn[:20]))
    check("sentences=40", CharacterSegmenter(**given).fit(SOURCE + drawn[:40]))
    guide = tmp_path / "guide.srt"
    counted.save(guide)
    guided = CharacterSegmenter(statistics="accessor_variety", guides=[str(guide)], **given)
    line = "join=guided sentences=20 statistics=accessor_variety"
    check(line, guided.fit(drawn[:20]))
    assert found["near", line, 1]["sentences"] == 20


def test_word_lists_of_packages_are_found(tmp_path, monkeypatch):
    (tmp_path / "made_up_list").mkdir()
    (tmp_path / "made_up_list" / "__init__.py").touch()
    listed = tmp_path / "made_up_list" / "words.txt"
    listed.touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(STUDY.folder / "scripts")
    from corpora import find_list  # type: ignore[import-not-found]

    assert find_list("made_up_list:words.txt", tmp_path) == listed
    with pytest.raises(ValueError, match="install the package"):
        find_list("there_is_none:words.txt", tmp_path)
    with pytest.raises(ValueError, match="has no file"):
        find_list("words.txt", tmp_path)
