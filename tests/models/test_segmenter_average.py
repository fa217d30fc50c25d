"""Shuffle-and-average in the segmenter: several models at once, or trained apart."""

from __future__ import annotations

import threading
from pathlib import Path
from statistics import mean
from typing import Any

from made_up_corpora import arrays_of

from spacy_structreg.corpora.formats.conllu import read_conllu
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.model_average import average_rows
from spacy_structreg.models.reports import EpochReport
from spacy_structreg.models.segmentation import CharacterSegmenter

Corpus = list[list[str]]


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


def test_each_model_keeps_its_own_best_epoch(train: Corpus, dev: Corpus) -> None:
    settings: dict[str, Any] = {"learning": Learning(), "epochs": 6, "patience": 2}
    alone = [CharacterSegmenter(seed=k, **settings).fit(train, dev) for k in range(3)]
    together = CharacterSegmenter(seed=0, n_models=3, **settings).fit(train, dev, n_threads=3)
    assert arrays_of(together) == averaged_arrays(alone, "nonzero")
    expected = [(k + 1, r.epoch, r.dev) for k, model in enumerate(alone) for r in model.history]
    assert [(r.model, r.epoch, r.dev) for r in together.history] == expected


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


# Models that were trained apart -------------------------------------------------------------------


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
