"""States of trainings that can go on, better models on the way, and what is shown of them.

That all models go on to the same bytes is in `tests/contract`.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from labeled import named_sentences
from made_up_corpora import sentences

from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.learn.model_file import model_bytes, parse_model
from spacy_structreg.models.guided import GuidedSegmenter
from spacy_structreg.models.labeling.labelers import SequenceLabeler
from spacy_structreg.models.reports import EpochReport
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter

WORDS = sentences(40, seed=1), sentences(20, seed=2)
NAMES = tuple(
    [[(word, label) for word, _, label in line] for line in named_sentences(n, seed=n)]
    for n in (30, 15)
)
NOISY = Learning(dropout=0.2, hidden_dropout=0.1, mini_sample=4.0)

Make = Callable[[], Any]
MODELS: dict[str, tuple[Make, Any]] = {
    "chain": (lambda: CharacterSegmenter(epochs=5, seed=3), WORDS),
    "guided": (
        lambda: GuidedSegmenter(
            CharacterSegmenter(epochs=3, seed=3), WordSegmenter(epochs=3, seed=3)
        ),
        WORDS,
    ),
}


class Killed(BaseException):
    """Ends a training between two epochs."""


def test_a_minimizer_that_was_stopped_has_not_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C reaches the main thread, which asks that of the training to end after its epoch."""
    pytest.importorskip("scipy")
    asked = threading.Event()
    its_threading = SimpleNamespace(Event=lambda: asked, Lock=threading.Lock)
    monkeypatch.setattr("spacy_structreg.models.epochs.threading", its_threading)

    def stop(report: EpochReport) -> None:
        if report.epoch == 3:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            assert asked.wait(60)

    def make() -> SequenceLabeler:
        learning = LogLinear(optimizer="lbfgs", tolerance=0)
        return SequenceLabeler(epochs=200, seed=3, learning=learning)

    # Shells let what they start in the background ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            make().fit(NAMES[0], checkpoint=tmp_path, on_epoch=stop)
    finally:
        signal.signal(signal.SIGINT, before)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    straight = make().fit(NAMES[0])
    assert make().fit(NAMES[0], checkpoint=tmp_path).to_bytes() == straight.to_bytes()


def test_states_are_not_written_all_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writing that takes a second is done every tenth second; the last state always."""
    now = [0.0]
    written = []

    def write(path: Path, header: dict[str, Any], arrays: Any) -> None:
        written.append(header["epoch"])
        now[0] += 1.0

    monkeypatch.setattr("spacy_structreg.models.checkpoints.time.monotonic", lambda: now[0])
    monkeypatch.setattr("spacy_structreg.models.checkpoints.write_model", write)

    def pass_time(report: EpochReport) -> None:
        now[0] += 3.0

    CharacterSegmenter(epochs=12).fit(WORDS[0], checkpoint=tmp_path, on_epoch=pass_time)
    assert written == [1, 4, 7, 10, 12]


def test_the_best_model_so_far(tmp_path: Path) -> None:
    """It is given at every better epoch, and is what fit would return if it ended there."""
    for name in ("chain", "guided"):
        make, corpus = MODELS[name]
        given: list[tuple[int, bytes]] = []
        model, reports = make(), []
        model.fit(
            *corpus,
            on_epoch=reports.append,
            on_better=lambda better, given=given, reports=reports: given.append(
                (len(reports), better)
            ),
        )
        figures = [report.primary for report in model.history]
        first = len(reports) - len(figures)
        better = [i for i, f in enumerate(figures) if f > max([-1.0, *figures[:i]])]
        assert [epoch - first for epoch, _ in given] == better
        best = given[-1][1]
        if name == "guided":
            assert (best.characters.to_bytes(), best.words.to_bytes()) == (
                model.characters.to_bytes(), model.words.to_bytes()
            )  # fmt: skip
        else:
            assert best.to_bytes() == model.to_bytes()
        assert best.predict("今天天气很好") == model.untrained().from_bytes(
            best.to_bytes()
        ).predict("今天天气很好")


def test_the_best_of_several_models(tmp_path: Path) -> None:
    given: list[Any] = []
    model = CharacterSegmenter(epochs=4, seed=3, n_models=3, patience=2)
    model.fit(
        *WORDS, n_threads=2, on_better=lambda better: given.append(better.evaluate(WORDS[1]).seg_f)
    )
    assert given == sorted(set(given))
    assert given[-1] == max(report.primary for report in model.history)


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("states")
    make, corpus = MODELS["chain"]

    def kill(report: EpochReport) -> None:
        if report.epoch == 2:
            raise Killed

    with pytest.raises(Killed):
        make().fit(*corpus, on_epoch=kill, checkpoint=folder)
    return folder


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 4}, "differs in seed"),
        ({"epochs": 6}, "differs in epochs"),
        ({"learning": NOISY, "epochs": 6}, "differs in learning and epochs"),
        ({"train": WORDS[0][1:]}, "differs in training corpus"),
        ({"dev": WORDS[1][1:]}, "differs in development corpus"),
        ({"dev": None}, "differs in development corpus"),
    ],
)
def test_another_training_does_not_go_on(
    change: dict[str, Any], message: str, interrupted: Path
) -> None:
    chosen = {"train": WORDS[0], "dev": WORDS[1], "epochs": 5, "seed": 3, **change}
    train, dev = chosen.pop("train"), chosen.pop("dev")
    before = (interrupted / "1.srt").read_bytes()
    with pytest.raises(ValueError, match=rf"1\.srt: the training cannot be resumed.*{message}"):
        CharacterSegmenter(**chosen).fit(train, dev, checkpoint=interrupted)
    assert (interrupted / "1.srt").read_bytes() == before


def test_damaged_and_crafted_states_are_refused(interrupted: Path, tmp_path: Path) -> None:
    make, corpus = MODELS["chain"]
    data = (interrupted / "1.srt").read_bytes()
    header, arrays = parse_model(data)

    # Of the table that has most rows.
    keys = max((name for name in arrays if name[1:] == ".keys"), key=lambda name: arrays[name].size)
    moved = model_bytes(header, {**arrays, keys: np.roll(arrays[keys], 1)})

    changed = [{name: None} for name in header if name not in ("package", "version")]
    changed += [
        {"epoch": 0},
        {"clock": -1},
        {"clock": 1},
        {"reports": [1]},
        {"best": not header["best"]},
    ]
    changed += [{"reports": [{**header["reports"][0], "dev": 3}]}, {"highest": float("nan")}]
    crafted = [model_bytes({**header, **change}, arrays) for change in changed]
    without = {name: array for name, array in arrays.items() if name != "best.0.keys"}
    crafted += [
        moved,
        model_bytes(header, without),
        data[:-1],
        b"",
        make().fit(*corpus).to_bytes(),
    ]
    for content in crafted:
        (tmp_path / "1.srt").write_bytes(content)
        with pytest.raises(ValueError, match=r"1\.srt"):
            make().fit(*corpus, checkpoint=tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        CharacterSegmenter(epochs=1).fit(WORDS[0], checkpoint=tmp_path / "file" / "state")


def test_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    model = CharacterSegmenter(epochs=2, n_models=2).fit(*WORDS, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4
    first = model.history[0]
    assert lines[0].startswith(
        f"model 1 of 2, epoch 1 of 2: {first.wrong_labels:,} corrected, dev_seg_f "
        f"{100 * first.primary:.2f}, "
    )
    CharacterSegmenter(epochs=2).fit(WORDS[0], progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["epoch 1 of 2", "epoch 2 of 2"]
    CharacterSegmenter(epochs=2).fit(WORDS[0])
    assert capsys.readouterr().err == ""


def test_a_bar_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    CharacterSegmenter(epochs=2).fit(*WORDS, progress=True)
    shown = capsys.readouterr().err
    assert "2/2" in shown
    assert "dev_seg_f=" in shown
    assert "corrected" not in shown
