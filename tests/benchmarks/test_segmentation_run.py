"""The segmentation benchmark from its command line to its report, on a corpus of made-up words."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.common.run import main
from benchmarks.common.worker import Worker, WorkerError
from benchmarks.segmentation.systems.ltp import Ltp
from benchmarks.segmentation.systems.ours import Ours
from benchmarks.segmentation.task import SEGMENTATION
from spacy_structreg.corpora.formats.segmented import read_segmented, write_segmented
from spacy_structreg.models.segmentation import CharacterSegmenter

WORDS = [
    *("海", "边", "渔船", "灯塔", "潮水", "渐渐", "退", "了", "孩子", "们", "捡", "贝壳"),
    *("老", "船长", "望", "着", "远方", "风", "停", "一", "只", "海鸥", "飞过", "码头", "。"),
]
HAS_CRFSUITE = importlib.util.find_spec("pycrfsuite") is not None


def made_up(n_sentences: int, seed: int) -> list[list[str]]:
    generator = random.Random(seed)
    return [generator.choices(WORDS, k=generator.randint(3, 12)) for _ in range(n_sentences)]


@pytest.fixture
def parts(tmp_path: Path) -> dict[str, Path]:
    folder = tmp_path / "harbour"
    folder.mkdir()
    paths = {}
    for seed, (part, size) in enumerate({"train": 60, "dev": 20, "test": 20}.items()):
        paths[part] = folder / f"{part}.txt"
        write_segmented(paths[part], made_up(size, seed))
    return paths


def run(
    parts: dict[str, Path], output: Path, systems: str, *further: str
) -> tuple[int, dict[str, Any]]:
    """The exit status of a quick run, and its JSON."""
    given = [f"--{part}={path}" for part, path in parts.items()]
    options = ["--quick", "--rounds=2", f"--systems={systems}", f"--output={output}"]
    status = main(SEGMENTATION, [*given, *options, *further])
    return status, json.loads((output / "segmentation-harbour.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_a_run_scores_and_times_every_system(
    parts: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Ltp, "version", classmethod(lambda cls: None))
    output = tmp_path / "output"
    status, data = run(parts, output, "ours,crfsuite-ap,ltp", "--note=songs of the harbour")
    assert status == 0
    ours, crfsuite, ltp = data["results"]
    markdown = (output / "segmentation-harbour.md").read_text(encoding="utf-8")
    printed = capsys.readouterr()
    assert printed.out == markdown + "\n"
    assert "timing: round 2 of 2" in printed.err

    # It names neither the machine nor its folders, and has no text of the corpus.
    assert data["corpus"]["note"].startswith("songs of the harbour; the first 400")
    for text in (markdown, json.dumps(data, ensure_ascii=False)):
        assert str(tmp_path) not in text
        assert f"{Path.home()}{os.sep}" not in text
        assert not any("".join(words) in text for words in read_segmented(parts["test"]))

    # The figures are those of the same training without the harness.
    segmenter = CharacterSegmenter()
    segmenter.fit(read_segmented(parts["train"]), read_segmented(parts["dev"]))
    train = {word for words in read_segmented(parts["train"]) for word in words}
    wanted = segmenter.evaluate(read_segmented(parts["test"]), vocabulary=train)
    assert ours["scores"] == wanted.as_dict()
    dev_f = segmenter.evaluate(read_segmented(parts["dev"])).seg_f
    assert {candidate["dev_score"] for candidate in ours["candidates"]} == {dev_f}
    segmenter.save(tmp_path / "model")
    assert ours["model_bytes"] == (tmp_path / "model").stat().st_size
    assert len(ours["one"]) == len(ours["batch"]) == 2
    assert ours["differing"] == 0

    assert ltp["version"] is None
    assert "not installed: pip install spacy_structreg[bench]" in markdown
    if not HAS_CRFSUITE:
        assert crfsuite["version"] is None
        return
    assert crfsuite["error"] is None
    assert crfsuite["batch"] is None
    assert len(crfsuite["one"]) == 2
    assert [c["setting"]["max_iterations"] for c in crfsuite["candidates"]] == [2, 4]
    best = max(candidate["dev_score"] for candidate in crfsuite["candidates"])
    assert crfsuite["candidates"][crfsuite["chosen"]]["dev_score"] == best
    # Twenty-five words are learned from sixty sentences; labels that are off by one are not.
    assert crfsuite["scores"]["seg_f"] > 0.9
    # Each of its trainings was followed by one of ours.
    assert len(ours["candidates"]) == 3
    chosen = crfsuite["candidates"][crfsuite["chosen"]]
    assert crfsuite["ours_times_faster"]["training"] == pytest.approx(
        chosen["seconds"] / chosen["ours_seconds"]
    )


@pytest.mark.slow
def test_one_system_that_fails_does_not_end_the_run(
    parts: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if importlib.util.find_spec("jieba") is None:
        pytest.skip("jieba is not installed")
    predict = Worker.predict

    def fail(worker: Worker, texts: list[str], *, batch: bool) -> list[list[str]]:
        words = predict(worker, texts, batch=batch)
        if worker.system == "jieba":
            raise WorkerError(
                "jieba: failed\nTraceback\nOSError: '/srv/a/words.txt' and C:\\x\\y.z"
            )
        return words

    monkeypatch.setattr(Worker, "predict", fail)
    status, data = run(parts, tmp_path / "output", "jieba,ours")
    assert status == 1
    jieba, ours = data["results"]
    assert jieba["error"] == "OSError: 'words.txt' and y.z"
    assert ours["error"] is None
    assert ours["scores"]["seg_f"] > 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--systems=ours,theirs"], "no system theirs; choose from ours, ours-best, pkuseg"),
        (["--systems=,"], "empty; choose from"),
        (["--train=a.txt"], "give both --train and --test"),
        (["--dev=a.txt"], "--dev belongs to --train and --test"),
        (["--train=absent.txt", "--test=absent.txt"], "absent.txt: No such file or directory"),
        (["--cpu=-1"], "--cpu -1: this process may use"),
    ],
)
def test_what_cannot_be_run_is_told_before_anything_is(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if arguments == ["--cpu=-1"] and not hasattr(os, "sched_getaffinity"):
        pytest.skip("this system does not pin processes")
    monkeypatch.chdir(tmp_path)
    assert main(SEGMENTATION, arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert message in printed.err


def test_failures_in_the_process_are_told(tmp_path: Path) -> None:
    missing = tmp_path / "missing.txt"
    with Worker(Ours, None, tmp_path) as worker:
        with pytest.raises(WorkerError, match=r"ours: 'train' failed(?s:.*)FileNotFoundError"):
            worker.train({}, missing, missing, tmp_path / "model")
        worker._process.kill()
        worker._process.join()
        with pytest.raises(WorkerError, match=r"ours: the process ended .* exit code -?\d+"):
            worker.peak_memory()


@pytest.mark.skipif(sys.platform != "linux", reason="what is looked at here is Linux's")
def test_a_process_is_on_one_cpu_and_its_memory_is_its_own(tmp_path: Path) -> None:
    ballast = b"x" * 300_000_000
    cpu = min(os.sched_getaffinity(0))
    with Worker(Ours, cpu, tmp_path) as worker:
        peak = worker.peak_memory()
        assert worker._process.pid is not None
        assert os.sched_getaffinity(worker._process.pid) == {cpu}
        environment = Path(f"/proc/{worker._process.pid}/environ").read_bytes().split(b"\0")
        assert {b"OMP_NUM_THREADS=1", b"RAYON_NUM_THREADS=1"} <= set(environment)
    assert peak is not None
    assert 5_000_000 < peak < len(ballast)
