"""Shuffle-and-average in the segmenter: several models at once, or trained apart."""

from __future__ import annotations

import threading
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest
from made_up_corpora import arrays_of

from spacy_structreg.corpora.formats.conllu import read_conllu
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.model_average import average_rows
from spacy_structreg.learn.model_file import parse_model
from spacy_structreg.models.reports import EpochReport
from spacy_structreg.models.segmentation import CharacterSegmenter

Corpus = list[list[str]]

LEARNING = [
    Learning(),
    Learning(l2=1e-4, mini_sample=3.0),
    Learning(algorithm="pa_i", aggressiveness=0.1, hidden_dropout=0.1, dropout=0.05),
]
each = pytest.mark.parametrize("learning", LEARNING, ids=str)


def averaged_arrays(models: list[CharacterSegmenter], how) -> dict[str, bytes]:
    """The average of the tables of some models, without the segmenter's own hand in it."""
    tables = [model._decoders().tables for model in models]
    averages = [average_rows(shape, how) for shape in zip(*tables, strict=True)]
    return {
        f"{number}.{name}": array.tobytes()
        for number, table in enumerate(averages)
        for name, array in table.arrays.items()
    }


# Several models in one training -------------------------------------------------------------------


@each
@pytest.mark.parametrize("how", ["nonzero", "plain"])
def test_each_model_is_an_ordinary_run(learning: Learning, how, train: Corpus) -> None:
    """Model k is what the seed + k gives alone; the result is the mean of them."""
    settings: dict[str, Any] = {"learning": learning, "epochs": 2}
    alone = [CharacterSegmenter(seed=7 + k, **settings).fit(train) for k in range(3)]
    together = CharacterSegmenter(seed=7, n_models=3, mean=how, **settings).fit(train)
    assert arrays_of(together) == averaged_arrays(alone, how)
    assert arrays_of(CharacterSegmenter.average(alone, how)) == arrays_of(together)
    assert len({str(arrays_of(model)) for model in alone}) == 3
    assert [(report.wrong_examples, report.wrong_labels) for report in together.history] == [
        (report.wrong_examples, report.wrong_labels) for m in alone for report in m.history
    ]


def test_each_model_keeps_its_own_best_epoch(train: Corpus, dev: Corpus) -> None:
    settings: dict[str, Any] = {"learning": Learning(), "epochs": 6, "patience": 2}
    alone = [CharacterSegmenter(seed=k, **settings).fit(train, dev) for k in range(3)]
    together = CharacterSegmenter(seed=0, n_models=3, **settings).fit(train, dev, n_threads=3)
    assert arrays_of(together) == averaged_arrays(alone, "nonzero")
    expected = [(k + 1, r.epoch, r.dev) for k, model in enumerate(alone) for r in model.history]
    assert [(r.model, r.epoch, r.dev) for r in together.history] == expected


def test_one_model_is_not_averaged(train: Corpus) -> None:
    """Its weights are those of the training, to the byte, whatever the mean is."""
    plain, nonzero = (
        CharacterSegmenter(n_models=1, mean=how, epochs=2).fit(train)
        for how in ("plain", "nonzero")
    )
    assert arrays_of(plain) == arrays_of(nonzero)
    assert [report.model for report in plain.history] == [1, 1]


def test_reports_come_one_at_a_time(train: Corpus) -> None:
    busy = threading.Lock()
    reports: list[EpochReport] = []

    def note(report: EpochReport) -> None:
        assert busy.acquire(blocking=False)
        reports.append(report)
        busy.release()

    segmenter = CharacterSegmenter(n_models=4, epochs=3)
    segmenter.fit(train, n_threads=4, on_epoch=note)
    assert sorted((r.model, r.epoch) for r in reports) == [
        (model, epoch) for model in range(1, 5) for epoch in range(1, 4)
    ]
    assert [(r.model, r.epoch) for r in segmenter.history] == sorted(
        (r.model, r.epoch) for r in reports
    )


def test_a_fault_in_one_thread_ends_the_training(train: Corpus) -> None:
    segmenter = CharacterSegmenter(n_models=3, epochs=2).fit(train)
    before = segmenter.to_bytes()

    def fail(report: EpochReport) -> None:
        if report.model == 2:
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        segmenter.fit(train[:20], n_threads=3, on_epoch=fail)
    assert segmenter.to_bytes() == before


# Models that were trained apart -------------------------------------------------------------------


@pytest.fixture(scope="module")
def models(train: Corpus) -> list[CharacterSegmenter]:
    return [CharacterSegmenter(seed=seed, epochs=2).fit(train) for seed in range(3)]


def test_the_average_by_hand() -> None:
    """Of two tiny models, weight by weight from their files."""
    corpora = [[["大", "学"], ["学生"]], [["大学"], ["学", "生"]]]
    pair = [
        CharacterSegmenter(
            templates="c0", types=None, half_width=False, epochs=1, learning=Learning()
        ).fit(corpus)
        for corpus in corpora
    ]
    rows: list[dict[int, np.ndarray]] = []
    for model in pair:
        arrays = parse_model(model.to_bytes())[1]
        rows.append(dict(zip(arrays["0.keys"].tolist(), arrays["0.values"], strict=True)))
    found = parse_model(CharacterSegmenter.average(pair, "nonzero").to_bytes())[1]
    union = rows[0].keys() | rows[1].keys()
    assert rows[0].keys() != rows[1].keys()
    zero = np.zeros(4, dtype=np.float32)
    for key, values in zip(found["0.keys"].tolist(), found["0.values"], strict=True):
        union.remove(key)
        for column, value in enumerate(values):
            weights = [table.get(key, zero)[column] for table in rows]
            live = [weight for weight in weights if weight]
            assert value == (np.float32(sum(live) / len(live)) if live else 0)
    for key in union:  # rows that cancel
        assert not (rows[0].get(key, zero) + rows[1].get(key, zero)).any()


def test_settings_and_checksum(models: list[CharacterSegmenter], train: Corpus) -> None:
    averaged = CharacterSegmenter.average(models)
    assert averaged.seed == models[0].seed
    assert averaged.corpus_checksum == models[0].corpus_checksum
    other = CharacterSegmenter(seed=9, epochs=1).fit(train[:50])
    assert CharacterSegmenter.average([*models, other]).corpus_checksum is None
    assert CharacterSegmenter.from_bytes(averaged.to_bytes()).to_bytes() == averaged.to_bytes()


# A real corpus ------------------------------------------------------------------------------------


def test_ud_chinese(data_folder: Path) -> None:
    """Defaults on UD Chinese GSD: one model, and the average of three."""
    folder = data_folder / "ud-chinese-gsd-simplified"
    train, test = (
        [sentence.forms for sentence in read_conllu(folder / name)]
        for name in ("train.conll.xz", "test.conll")
    )
    single = [CharacterSegmenter(seed=seed).fit(train) for seed in (0, 1, 2)]
    figures = [model.evaluate(test, n_threads=2).seg_f or 0.0 for model in single]
    assert 0.934 <= mean(figures) < 0.95
    apart = CharacterSegmenter.average(single).evaluate(test, n_threads=2).seg_f
    assert apart is not None
    assert 0.937 <= apart < 0.95
