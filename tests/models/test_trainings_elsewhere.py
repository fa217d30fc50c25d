"""Models that joblib's backends train in other processes: the same bytes as in threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from joblib import parallel_config
from labeled import named_sentences
from looped import looped
from made_up_corpora import sentences

from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.models.guided import GuidedSegmenter
from spacy_structreg.models.labeling.labelers import SequenceLabeler
from spacy_structreg.models.parallel import in_other_processes, run_tasks
from spacy_structreg.models.reports import EpochReport
from spacy_structreg.models.segmentation import CharacterSegmenter, CharacterSpec, WordSegmenter

WORDS = sentences(40, seed=1), sentences(20, seed=2)
NAMES = tuple(
    [[(word, label) for word, _, label in line] for line in named_sentences(n, seed=n)]
    for n in (30, 15)
)
ARCS = tuple(
    [
        Sentence(
            tuple(line),
            tuple(str(len(word)) for word in line),
            tuple(range(-1, len(line) - 1)),
            ("root", *["next"] * (len(line) - 1)),
        )
        for line in part
    ]
    for part in WORDS
)
# Pruning is left to the mean; dropout and mini-samples draw from the generators of each model.
NOISY = Learning(dropout=0.2, mini_sample=4.0, prune=0.05)

Backend = Callable[[], AbstractContextManager[Any]]
MODELS: dict[str, tuple[Callable[..., Any], Any]] = {
    "chain": (partial(CharacterSegmenter, learning=NOISY), WORDS),
    "counted": (partial(WordSegmenter, learning=Learning(min_count=3)), WORDS),
    "parser": (partial(DependencyParser, beam=4), ARCS),
    "noised_crf": (
        partial(SequenceLabeler, learning=LogLinear(noise="dropout", noise_level=0.2)),
        NAMES,
    ),
    "informed": (partial(CharacterSegmenter, statistics="all", script=None), WORDS),
}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of a Dask cluster of two processes on this machine."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module", params=["loky", "dask"])
def backend(request: pytest.FixtureRequest) -> Backend:
    """A backend of other processes, to be chosen by a `with` block."""
    if request.param == "dask":
        return partial(parallel_config, "dask", client=request.getfixturevalue("client"))
    return partial(parallel_config, "loky")


def fitted(name: str, n_threads: int = 2, **options: Any) -> Any:
    make, (train, dev) = MODELS[name]
    if name == "noised_crf":
        options["unlabeled"] = [[word for word, _ in line] for line in dev]
    model = make(epochs=3, seed=5, n_models=3, patience=2)
    return model.fit(train, dev, n_threads=n_threads, **options)


def process_of(_: None, number: int) -> tuple[int, int]:
    return number, os.getpid()


def test_tasks_run_in_other_processes_in_their_order(backend: Backend) -> None:
    assert not in_other_processes()
    assert list(run_tasks(process_of, None, range(3), 2)) == [(i, os.getpid()) for i in range(3)]
    with backend():
        assert in_other_processes()
        found = list(run_tasks(process_of, None, range(5), 2))
    assert [number for number, _ in found] == list(range(5))
    assert os.getpid() not in {process for _, process in found}
    with parallel_config("threading"):
        assert not in_other_processes()


@looped("name", MODELS)
def test_averages_are_the_same_to_the_byte(name: str, backend: Backend) -> None:
    expected = fitted(name, n_threads=1)
    assert fitted(name).to_bytes() == expected.to_bytes()
    with backend():
        found = fitted(name)
    assert found.to_bytes() == expected.to_bytes()
    assert untimed(found.history) == untimed(expected.history)


def untimed(history: list[EpochReport]) -> list[tuple[Any, ...]]:
    return [
        (each.model, each.epoch, each.wrong_examples, each.wrong_labels, each.dev, each.primary)
        for each in history
    ]


def test_pairs_of_models_are_the_same_to_the_byte(backend: Backend) -> None:
    def pair() -> GuidedSegmenter:
        model = GuidedSegmenter()
        model.n_models, model.epochs = 2, 2
        return model.fit(*WORDS)

    expected = pair().to_bytes()
    with backend():
        assert pair().to_bytes() == expected


def test_files_of_settings_are_read_here_alone(tmp_path: Path, backend: Backend) -> None:
    """What a model knows of a word list travels with the task, though the file be gone."""
    path = tmp_path / "words.txt"

    def train() -> bytes:
        path.write_text("大学\n图书馆\n学生会\n", "utf-8")
        model = CharacterSegmenter(epochs=2, n_models=2, seed=1, lexicon=[str(path)])

        class Removing(CharacterSpec):
            @classmethod
            def of_corpus(cls, *arguments: Any) -> CharacterSpec:
                spec = super().of_corpus(*arguments)
                path.unlink()
                return spec

        model.SPEC = Removing  # type: ignore[misc]
        return model.fit(*WORDS).to_bytes()

    expected = train()
    with backend():
        assert train() == expected


def test_epochs_and_better_models_are_told_of(backend: Backend) -> None:
    told: list[EpochReport] = []
    better: list[Any] = []
    with backend():
        model = fitted("chain", on_epoch=told.append, on_better=better.append)
    assert told == model.history
    assert {each.model for each in told} == {1, 2, 3}
    figures = [each.evaluate(WORDS[1]).seg_f for each in better]
    assert figures == sorted(set(figures))
    assert figures[-1] == max(each.primary for each in told)


def test_what_fails_in_another_process_is_raised_here(backend: Backend) -> None:
    class Enough(Exception):  # noqa: N818
        pass

    def stop(report: EpochReport) -> None:
        raise Enough

    with backend():
        with pytest.raises(ValueError, match="min_count is 1000, but no feature"):
            WordSegmenter(learning=Learning(min_count=1000), n_models=2).fit(WORDS[0])
        with pytest.raises(Enough):
            fitted("chain", on_epoch=stop)


def test_checkpoints_are_kept_where_the_folder_is_found(tmp_path: Path, backend: Backend) -> None:
    folder = tmp_path / "state"
    with backend():
        first = fitted("chain", checkpoint=folder)
        assert sorted(path.name for path in folder.iterdir()) == ["1.srt", "2.srt", "3.srt"]
        (folder / "2.srt").unlink()
        again = fitted("chain", checkpoint=folder)
    assert again.to_bytes() == first.to_bytes() == fitted("chain").to_bytes()
    # The second model was trained anew; of the others, even the seconds are those of before.
    for number, same in ((1, True), (2, False), (3, True)):
        times = [
            [each.seconds for each in model.history if each.model == number]
            for model in (first, again)
        ]
        assert (times[0] == times[1]) == same
