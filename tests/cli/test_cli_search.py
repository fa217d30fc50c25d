"""`structreg search`: trials that depend on nothing but the space, and go on when interrupted."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import spacy
from click.testing import Result
from spacy.tokens import Doc, DocBin
from spacy.util import load_config_from_str

from spacy_structreg.cli import search
from spacy_structreg.cli.fit import fit
from spacy_structreg.cli.init_config import init_config

Invoke = Callable[..., Result]
Runs = Callable[..., str]
Fails = Callable[..., str]

LEARNING = "nlp.tokenizer.model.learning"
RANDOM = f"""
settings:
  {LEARNING}.aggressiveness: {{low: 0.01, high: 1.0, log: true}}
  {LEARNING}.dropout: {{choices: [0.0, 0.3]}}
trials: 5
seed: 3
"""
HALVING = RANDOM.replace("trials: 5", "trials: 9\nmethod: halving")
EPOCHS = ("--training.max_epochs", "9")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, sentences: list[list[str]]) -> Path:
    """A folder with a config and corpora."""
    folder = tmp_path_factory.mktemp("search")
    vocab = spacy.blank("zh").vocab
    for name, some in (("train", sentences * 6), ("dev", [*sentences, ["图书", "馆员", "看书"]])):
        docs = [Doc(vocab, words=words, spaces=[False] * len(words)) for words in some]
        DocBin(docs=docs).to_disk(folder / f"{name}.spacy")
    (folder / "config.cfg").write_text(init_config(None, task="segment"), "utf-8")
    (folder / "random.yml").write_text(RANDOM, "utf-8")
    (folder / "halving.yml").write_text(HALVING, "utf-8")
    return folder


def arguments(folder: Path, space: str, output: Path, *more: object) -> list[object]:
    corpora = ("--train", folder / "train.spacy", "--dev", folder / "dev.spacy")
    return ["search", folder / "config.cfg", folder / space, output, *corpora, *EPOCHS, *more]


def trials(output: Path) -> list[dict[str, Any]]:
    """The lines of a search, without what differs from run to run."""
    lines = (output / "trials.jsonl").read_text("utf-8").splitlines()
    return [{k: v for k, v in json.loads(line).items() if k != "seconds"} for line in lines]


def results(output: Path) -> tuple[str, bytes, bytes, bytes]:
    files = (output / name for name in ("trials.md", "best.cfg", "search.json"))
    return json.dumps(trials(output)), *(file.read_bytes() for file in files)


@pytest.fixture
def halved(folder: Path, runs: Runs) -> Path:
    """What a search by halving leaves; with its picture, and what it printed."""
    output = folder / "halved"
    if not output.exists():
        plot = folder / "trials.svg"
        printed = runs(*arguments(folder, "halving.yml", output, "--threads", 1, "--plot", plot))
        (folder / "printed.txt").write_text(printed, "utf-8")
    return output


def test_halving_lets_the_best_go_on(halved: Path) -> None:
    lines = trials(halved)
    rounds = [[line for line in lines if line["round"] == number] for number in range(3)]
    assert [len(each) for each in rounds] == [9, 3, 1]
    assert [{line["budget"] for line in each} for each in rounds] == [{1}, {3}, {None}]
    assert all(line["epoch"] <= (line["budget"] or 9) for line in lines)
    for before, after in pairwise(rounds):
        figures = sorted((-line["figure"], line["trial"]) for line in before)
        kept = sorted(number for _, number in figures[: len(after)])
        assert [line["trial"] for line in after] == kept
        settings = {line["trial"]: line["settings"] for line in before}
        assert all(settings[line["trial"]] == line["settings"] for line in after)


def test_trials_do_not_depend_on_threads(
    halved: Path, folder: Path, runs: Runs, tmp_path: Path
) -> None:
    runs(*arguments(folder, "halving.yml", tmp_path / "two", "--threads", 2))
    assert results(tmp_path / "two") == results(halved)


def test_table_and_picture(halved: Path, folder: Path, runs: Runs, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    table = (halved / "trials.md").read_text("utf-8")
    assert table in (folder / "printed.txt").read_text("utf-8")
    header, _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()
    ]
    assert header == ["trial", "budget", "aggressiveness", "dropout", "seg_f", "epoch"]
    lines = trials(halved)
    assert len(rows) == len(lines) == 13
    assert rows[0] == [
        *(str(lines[-1]["trial"]), "9"),
        *(str(value) for value in dict(sorted(lines[-1]["settings"].items())).values()),
        *(f"{100 * lines[-1]['figure']:.2f}", str(lines[-1]["epoch"])),
    ]
    drawn = (folder / "trials.svg").read_text("utf-8")
    assert all(word in drawn for word in ("aggressiveness", "dropout", "seg_f", "round 3"))
    # Once more, of trials that are done.
    runs(*arguments(folder, "halving.yml", halved, "--plot", tmp_path / "again.svg"))
    assert (tmp_path / "again.svg").read_text("utf-8") == drawn


def test_recorded_figures_decide_who_goes_on(
    halved: Path, folder: Path, runs: Runs, tmp_path: Path
) -> None:
    """The lines of the first round are ours: the three best go on, of equal ones the earlier."""
    output = Path(shutil.copytree(halved, tmp_path / "found"))
    lines = [json.loads(line) for line in (output / "trials.jsonl").read_text().splitlines()][:9]
    figures = [0.5, 0.7, None, 0.7, 0.2, 0.9, 0.7, 0.1, 0.0]
    for line, figure in zip(lines, figures, strict=True):
        line["figure"] = figure
    (output / "trials.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    runs(*arguments(folder, "halving.yml", output))
    assert [line["trial"] for line in trials(output) if line["round"] == 1] == [1, 3, 5]


def test_each_trial_is_a_training_by_fit(folder: Path, runs: Runs, tmp_path: Path) -> None:
    output = tmp_path / "found"
    printed = runs(*arguments(folder, "random.yml", output))
    lines = trials(output)
    assert [line["trial"] for line in lines] == list(range(5))
    corpora = {name: folder / f"{name}.spacy" for name in ("train", "dev")}
    expected = []
    for line in lines:
        overrides = {"training.max_epochs": 9, **line["settings"]}
        done = fit(
            folder / "config.cfg", tmp_path / "fitted", **corpora, overrides=overrides, force=True
        )
        expected.append((done["dev_epochs"], done["dev_seg_f"]))
    assert [([line["epoch"]], [line["figure"]]) for line in lines] == expected
    # The config of the best one is whole: it needs nothing of the command line.
    best = max(lines, key=lambda line: (line["figure"], -line["trial"]))
    done = fit(output / "best.cfg", tmp_path / "best", **corpora)
    assert (done["dev_epochs"], done["dev_seg_f"]) == ([best["epoch"]], [best["figure"]])
    assert f"best.cfg: seg_f {100 * best['figure']:.2f}" in printed


def test_a_trial_over_folds_is_the_mean_of_trainings_by_fit(
    folder: Path, runs: Runs, fails: Fails, tmp_path: Path
) -> None:
    (folder / "two.yml").write_text(RANDOM.replace("trials: 5", "trials: 2"), "utf-8")
    train, output = folder / "train.spacy", tmp_path / "found"
    config = folder / "config.cfg"
    command = ["search", config, folder / "two.yml", output, "--train", train]
    command += ["--training.max_epochs", "1"]
    printed = runs(*command, "--folds", 4)
    docs = list(DocBin().from_disk(train).get_docs(spacy.blank("zh").vocab))
    bounds = [len(docs) * i // 4 for i in range(5)]
    lines = trials(output)
    for line in lines:
        overrides = {"training.max_epochs": 1, **line["settings"]}
        figures = []
        for begin, end in pairwise(bounds):
            DocBin(docs=docs[:begin] + docs[end:]).to_disk(tmp_path / "rest.spacy")
            DocBin(docs=docs[begin:end]).to_disk(tmp_path / "part.spacy")
            corpora = {"train": tmp_path / "rest.spacy", "dev": tmp_path / "part.spacy"}
            done = fit(config, tmp_path / "fitted", **corpora, overrides=overrides, force=True)
            figures += done["dev_seg_f"]
        assert [each["figures"]["seg_f"] for each in line["folds"]] == figures
        assert line["figure"] == pytest.approx(sum(figures) / 4)
    best = max(line["figure"] for line in lines)
    assert f"best.cfg: seg_f {100 * best:.2f} on 4 folds of {train}" in printed
    assert "another folds" in fails(*command, "--folds", 3)


def test_the_corpus_may_be_halved(folder: Path, runs: Runs, tmp_path: Path) -> None:
    (folder / "corpus.yml").write_text(HALVING + "resource: corpus\n", "utf-8")
    runs(*arguments(folder, "corpus.yml", tmp_path / "found"))
    # Of 30 Docs.
    budgets = [line["budget"] for line in trials(tmp_path / "found")]
    assert budgets == [3] * 9 + [10] * 3 + [None]


def test_a_search_that_was_killed_goes_on(
    halved: Path, folder: Path, runs: Runs, tmp_path: Path
) -> None:
    killed = tmp_path / "killed"
    # A process of its own, as what `warm_python` starts cannot be killed.
    command = [sys.executable, "-m", "spacy", "structreg"]
    process = subprocess.Popen(
        [*command, *map(str, arguments(folder, "halving.yml", killed))],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    found = killed / "trials.jsonl"
    while process.poll() is None and not (found.exists() and found.read_bytes().count(b"\n") > 2):
        time.sleep(0.01)
    process.kill()
    assert process.wait() != 0
    before = found.read_text("utf-8")
    # The last line may be written in part.
    found.write_text(before[:-9], "utf-8")
    whole = before[:-9].rpartition("\n")[0]
    runs(*arguments(folder, "halving.yml", killed))
    # What was done is not done again, and nothing is there twice.
    assert found.read_text("utf-8").startswith(whole + "\n")
    assert results(killed) == results(halved)
    lines = found.read_bytes()
    runs(*arguments(folder, "halving.yml", killed))
    assert found.read_bytes() == lines


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit(143)])
def test_an_interrupted_search_says_what_was_kept(
    *,
    folder: Path,
    invoke: Invoke,
    runs: Runs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    end: BaseException | type[BaseException],
) -> None:
    output = tmp_path / "found"
    command = arguments(folder, "random.yml", output, "--threads", 1)
    trial = search.run_trial
    for most, told in (
        (0, "nothing was kept"),
        (2, f"2 trials kept in {output / 'trials.jsonl'}; the same command goes on"),
    ):
        outcomes = iter([trial] * most)

        def run(*given: Any, outcomes: Iterator[Any] = outcomes) -> Any:
            return next(outcomes, Mock(side_effect=end))(*given)

        with monkeypatch.context() as patch:
            patch.setattr(search, "run_trial", run)
            result = invoke(*command)
        assert result.exit_code != 0
        assert f"\nInterrupted: {told}\n" in result.stderr
    runs(*command)
    assert [line["trial"] for line in trials(output)] == list(range(5))


def test_another_search_is_refused(folder: Path, runs: Runs, fails: Fails, tmp_path: Path) -> None:
    output = tmp_path / "found"
    (folder / "one.yml").write_text(RANDOM.replace("trials: 5", "trials: 1"), "utf-8")
    runs(*arguments(folder, "one.yml", output))
    before = (output / "trials.jsonl").read_bytes()
    same = arguments(folder, "one.yml", output)
    others = [
        (arguments(folder, "random.yml", output), "another space"),
        ([*same, "--patience", 3], "another patience"),
        ([*same, f"--{LEARNING}.l2", "0.001"], "another command line"),
        ([each if each != folder / "train.spacy" else folder / "dev.spacy" for each in same],
         "another training corpus"),
    ]  # fmt: skip
    for command, message in others:
        assert f"{output} holds a search with {message}; name another folder" in fails(*command)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    assert "holds no search" in fails(*arguments(folder, "one.yml", tmp_path / "full"))
    with (output / "trials.jsonl").open("a") as stream:
        stream.write('{"round": 0}\n')
    assert "trials.jsonl:2: no trial" in fails(*same)
    assert (output / "trials.jsonl").read_bytes().startswith(before)


def test_faults_are_found_before_the_first_training(
    folder: Path, fails: Fails, tmp_path: Path
) -> None:
    space, output = tmp_path / "space.yml", tmp_path / "found"
    command = arguments(folder, str(space), output)
    for settings, message in (
        ("nlp.tokenizer.model.l3: {low: 1, high: 2}", "unexpected argument: 'l3'"),
        ("nlp.tokenizer.modle.beam: {low: 1, high: 2}", "nlp.tokenizer.modle.beam"),
        ("nlp.tokenizer.model.scheme: {choices: [bmes, four]}", "'four'"),
        (f"{LEARNING}.mini_sample: {{choices: [1.5, x]}}", "mini_sample"),
        ("training.seed: {choices: [1, x]}", "training.seed is 'x'"),
        ("training.max_epochs: {low: 1, high: 9}", "--training.max_epochs is among the settings"),
    ):
        space.write_text(f"settings: {{{settings}}}\ntrials: 20\n", "utf-8")
        error = fails(*command)
        assert str(space) in error
        assert message in error
    # That of the number of epochs is the last option.
    halving = "settings: {training.max_epochs: {low: 1, high: 9}}\nmethod: halving\n"
    space.write_text(halving, "utf-8")
    assert "halving sets training.max_epochs itself" in fails(*command[:-2])
    space.write_text(RANDOM, "utf-8")
    assert "is no name of a picture" in fails(*command, "--plot", tmp_path / "plot.txt")
    # Folds stand in for a development corpus.
    both = [*command, "--folds", 4]
    assert "by --dev, or a number of --folds, not both" in fails(*both)
    neither = [each for each in command if each not in ("--dev", folder / "dev.spacy")]
    assert "by --dev, or a number of --folds" in fails(*neither)
    assert "30 sentences are too few for 31 folds" in fails(*neither, "--folds", 31)
    assert not output.exists()
    # Which figures there are is known after it.
    space.write_text(RANDOM + "metric: tag_acc\n", "utf-8")
    message = "there is no figure 'tag_acc'; let metric be one of seg_p, seg_r"
    assert message in fails(*command)


def test_failed_trials_are_passed_over(folder: Path, runs: Runs, tmp_path: Path) -> None:
    space = tmp_path / "space.yml"
    space.write_text(
        f"settings: {{rule: {{choices: [{{{LEARNING}.min_count: 1, {LEARNING}.l2: 0.0}},\n"
        f"  {{{LEARNING}.min_count: 100000, {LEARNING}.l2: 0.1}}]}}}}\n"
    )
    config = load_config_from_str(init_config(None, task="segment"), interpolate=False)
    learning = {"@misc": "spacy_structreg.Learning.v1", "min_count": 1, "l2": 0.0}
    model = {"@architectures": "spacy_structreg.WordSegmenter.v1", "learning": learning}
    config["nlp"]["tokenizer"]["model"] = model
    config.to_disk(tmp_path / "words.cfg")
    output = tmp_path / "found"
    given = arguments(folder, str(space), output)
    runs("search", tmp_path / "words.cfg", *given[2:])
    failed = [line for line in trials(output) if line["figure"] is None]
    assert len(failed) == 1
    assert "no feature of the training corpus is counted so often" in failed[0]["error"]
    assert "failed" in (output / "trials.md").read_text("utf-8")
