"""Training: repeatable to the byte, selected on a development corpus, continued, interrupted."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from looped import looped
from made_up_corpora import arrays_of, f_score

from spacy_structreg.corpora.checksum import corpus_checksum
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.model_average import average_rows
from spacy_structreg.learn.model_file import parse_model
from spacy_structreg.models.reports import EpochReport
from spacy_structreg.models.segmentation import CharacterSegmenter

Corpus = list[list[str]]
EPOCHS = 8


class TestRepeatability:
    @pytest.mark.slow
    def test_another_process_with_other_hashes(self, fitted: CharacterSegmenter) -> None:
        program = (
            "import hashlib, made_up_corpora\n"
            "from spacy_structreg.models.segmentation "
            "import CharacterSegmenter\n"
            "train = made_up_corpora.sentences(150, seed=1)\n"
            "model = CharacterSegmenter(epochs=3).fit(train).to_bytes()\n"
            "print(hashlib.sha256(model).hexdigest())\n"
        )
        for seed in "12":
            path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
            environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed}
            found = subprocess.run(
                [sys.executable, "-c", program],
                env=environment, capture_output=True, text=True, check=True, timeout=120,
            ).stdout.strip()  # fmt: skip
            assert found == hashlib.sha256(fitted.to_bytes()).hexdigest()

    def test_corpus_checksum(self, train: Corpus, fitted: CharacterSegmenter) -> None:
        assert fitted.corpus_checksum == corpus_checksum(train)
        assert parse_model(fitted.to_bytes())[0]["corpus"] == corpus_checksum(train)
        again = CharacterSegmenter.from_bytes(fitted.to_bytes())
        assert again.corpus_checksum == corpus_checksum(train)
        assert again.partial_fit(train).corpus_checksum is None


# Without mini-samples and margins errors can be counted, and epochs differ, as expected here.
PLAIN = Learning()


@pytest.fixture(scope="module")
def by_hand(train: Corpus) -> list[CharacterSegmenter]:
    """All epochs by hand: a training of k has the weights of a longer one after epoch k."""
    return [CharacterSegmenter(learning=PLAIN, epochs=k).fit(train) for k in range(1, EPOCHS + 1)]


class TestDevSelection:
    def test_the_best_epoch_is_kept(
        self, by_hand: list[CharacterSegmenter], train: Corpus, dev: Corpus
    ) -> None:
        reports: list[EpochReport] = []
        segmenter = CharacterSegmenter(learning=PLAIN, epochs=EPOCHS)
        segmenter.fit(train, dev, on_epoch=reports.append)
        figures = [f_score(one, dev) for one in by_hand]
        assert [report.dev.seg_f for report in reports if report.dev] == pytest.approx(figures)
        best = figures.index(max(figures))
        assert 0 < best < EPOCHS - 1, "the corpus should make selection matter"
        assert arrays_of(segmenter) == arrays_of(by_hand[best])
        assert arrays_of(segmenter) != arrays_of(by_hand[-1])

    def test_the_earliest_of_equal_ones(
        self, by_hand: list[CharacterSegmenter], train: Corpus
    ) -> None:
        easy = [["我", "不", "好", "。"], ["今天", "天气", "很", "好", "。"]]
        figures = [f_score(one, easy) for one in by_hand]
        best = figures.index(max(figures))
        assert figures.count(max(figures)) > 1
        assert arrays_of(by_hand[best]) != arrays_of(by_hand[-1])
        segmenter = CharacterSegmenter(learning=PLAIN, epochs=EPOCHS).fit(train, easy)
        assert arrays_of(segmenter) == arrays_of(by_hand[best])

    @looped("patience", [1, 2, 3])
    def test_patience(
        self, patience: int, by_hand: list[CharacterSegmenter], train: Corpus, dev: Corpus
    ) -> None:
        figures = [f_score(one, dev) for one in by_hand]
        expected = waited = 0
        best = -1.0
        while expected < EPOCHS and waited < patience:
            waited = 0 if figures[expected] > best else waited + 1
            best = max(best, figures[expected])
            expected += 1
        segmenter = CharacterSegmenter(learning=PLAIN, epochs=EPOCHS, patience=patience).fit(
            train, dev
        )
        assert len(segmenter.history) == expected < EPOCHS
        kept = figures.index(max(figures[:expected]))
        assert arrays_of(segmenter) == arrays_of(by_hand[kept])

    def test_reports(self, train: Corpus) -> None:
        """Errors are counted when a sentence is visited: all at first, none once all is known."""
        corpus = [["老师", "好"], ["学生", "好"]]
        history = CharacterSegmenter(learning=PLAIN, epochs=10, sentences="doc").fit(corpus).history
        assert history[0].wrong_examples > 0
        assert history[0].wrong_examples <= history[0].wrong_labels <= 6
        assert (history[-1].wrong_examples, history[-1].wrong_labels) == (0, 0)
        assert all(report.seconds >= 0 for report in history)


class TestInterruption:
    def test_a_running_training_goes_on(self, train: Corpus, dev: Corpus) -> None:
        def stop(report: EpochReport) -> None:
            raise KeyboardInterrupt

        stopped = CharacterSegmenter().partial_fit(train)
        chains = stopped.compile(train)
        with pytest.raises(KeyboardInterrupt):
            stopped.fit(dev, on_epoch=stop)
        stopped.learn(chains)
        straight = CharacterSegmenter().partial_fit(train).partial_fit(train)
        assert stopped.to_bytes(state="training") == straight.to_bytes(state="training")

    def test_a_corpus_that_breaks_off(self, train: Corpus) -> None:
        def corpus() -> Any:
            yield from train[:5]
            raise OSError("the disk is gone")

        segmenter = CharacterSegmenter(epochs=2).fit(train)
        before = segmenter.to_bytes()
        for train_on in (segmenter.fit, segmenter.partial_fit):
            with pytest.raises(OSError, match="the disk is gone"):
                train_on(corpus())
        assert segmenter.to_bytes() == before


class TestGoingOn:
    def test_rows_of_many_columns(self, train: Corpus, dev: Corpus) -> None:
        """Seventeen shifts of four labels: rows that are laid out adaptively."""
        wide = CharacterSegmenter(templates=[f"c{i:+d}" for i in range(-8, 9)])
        wide.partial_fit(train)
        data = wide.to_bytes(state="training")
        assert any(name.endswith(".columns") for name in parse_model(data)[1])
        resumed = CharacterSegmenter.from_bytes(data)
        for segmenter in (wide, resumed):
            segmenter.partial_fit(dev)
        assert resumed.to_bytes(state="training") == wide.to_bytes(state="training")
        trained = CharacterSegmenter.from_bytes(wide.to_bytes())
        texts = ["".join(words) for words in dev]
        assert trained.predict_batch(texts) == wide.predict_batch(texts)

    def test_predictions_between_do_not_matter(self, train: Corpus, dev: Corpus) -> None:
        quiet, asked = CharacterSegmenter(), CharacterSegmenter()
        for corpus in (train, dev, train):
            quiet.partial_fit(corpus)
            asked.partial_fit(corpus).predict("今天天气很好")
        assert quiet.to_bytes(state="training") == asked.to_bytes(state="training")


# Several models in one training ------------------------------------------------------------------


def averaged_arrays(models: list[CharacterSegmenter], how) -> dict[str, bytes]:
    """The average of the tables of some models, without the segmenter's own hand in it."""
    tables = [model._decoders().tables for model in models]
    averages = [average_rows(shape, how) for shape in zip(*tables, strict=True)]
    return {
        f"{number}.{name}": array.tobytes()
        for number, table in enumerate(averages)
        for name, array in table.arrays.items()
    }


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
