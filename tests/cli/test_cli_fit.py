"""`structreg fit`: what it trains is what the estimator's own fit trains."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import spacy
from click.testing import Result
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import load_config_from_str
from warm_python import executable

from spacy_structreg.cli.init_config import init_config
from spacy_structreg.cli.training import load_training, paths_of
from spacy_structreg.corpora.folders import locked
from spacy_structreg.models.reports import EpochReport
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter

EPOCHS = 4


@dataclass
class Fit:
    """A training by a config on a corpus, which is the development corpus as well."""

    invoke: Callable[..., Result]
    config: Path
    corpus: Path
    output: Path

    @property
    def state(self) -> Path:
        return self.output.with_name(f"{self.output.name}.checkpoint")

    def line(self, *further: object, **changed: Path) -> list[str]:
        """The command; changed: another config, corpus or output."""
        given = {"config": self.config, "corpus": self.corpus, "output": self.output} | changed
        corpora = ("--train", given["corpus"], "--dev", given["corpus"])
        settings = ("--training.seed", 3, "--training.max_epochs", EPOCHS)
        line = ["fit", given["config"], given["output"], *corpora, *settings, *further]
        return list(map(str, line))

    def __call__(self, *further: object, **changed: Path) -> Result:
        """Train well."""
        result = self.invoke(*self.line(*further, **changed))
        assert result.exit_code == 0, result.output
        return result

    def interrupt(self, *further: object) -> None:
        """End after the epochs, before all is written."""
        with pytest.MonkeyPatch().context() as patch:
            patch.setattr("spacy_structreg.cli.fit.best_epochs", Mock(side_effect=OSError("end")))
            assert self.invoke(*self.line(*further)).exit_code == 1

    def model(self, output: Path | None = None) -> Any:
        return spacy.load(output or self.output).tokenizer.model


@pytest.fixture
def fit(tmp_path: Path, sentences: list[list[str]], invoke: Callable[..., Result]) -> Fit:
    vocab = spacy.blank("zh").vocab
    docs = [Doc(vocab, words=words, spaces=[False] * len(words)) for words in sentences]
    DocBin(docs=docs).to_disk(tmp_path / "corpus.spacy")
    (tmp_path / "segment.cfg").write_text(init_config(None, task="segment"), "utf-8")
    return Fit(
        invoke, tmp_path / "segment.cfg", tmp_path / "corpus.spacy", tmp_path / "out" / "pipeline"
    )


def by_hand(**settings: Any) -> CharacterSegmenter:
    return CharacterSegmenter(seed=3, epochs=EPOCHS, patience=5, **settings)


def test_the_estimator_is_what_trains(fit: Fit, tmp_path: Path, sentences: list[list[str]]) -> None:
    command = fit.line("--report", tmp_path / "report.json")
    done = subprocess.run(
        [executable(), "-m", "spacy", "structreg", *command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    expected = by_hand().fit(sentences, sentences)
    assert fit.model().to_bytes() == expected.to_bytes()
    scores = [report.dev.seg_f for report in expected.history if report.dev]
    assert json.loads((tmp_path / "report.json").read_text("utf-8")) == {
        "seeds": [3],
        "dev_epochs": [scores.index(max(scores)) + 1],
        "dev_seg_f": [max(scores)],
    }
    assert f"seed 3: dev_seg_f {100 * max(scores):.2f}" in done.stdout


def test_a_margin_is_tuned_for_models_with_a_beam(
    fit: Fit, fails: Callable[..., str], tmp_path: Path, sentences: list[list[str]]
) -> None:
    message = fails(*fit.line("--beam-loss", "1"))
    assert message == "--beam-loss is for models with a beam; the segmenter has none"
    of_words = load_config_from_str(init_config(None, task="segment"), interpolate=False)
    of_words["nlp"]["tokenizer"]["model"] = {"@architectures": "spacy_structreg.WordSegmenter.v1"}
    of_words.to_disk(fit.config)
    report = tmp_path / "report.json"
    result = fit("--beam-loss", "1", "--report", report)
    expected = WordSegmenter(seed=3, epochs=EPOCHS, patience=5).fit(sentences, sentences)
    margin = expected.tune_beam_margin(sentences, max_loss=0.01)
    model = fit.model()
    assert model.beam_margin == margin == json.loads(report.read_text("utf-8"))["beam_margin"]
    assert f"beam_margin {margin}" in result.output
    texts = ["".join(words) for words in sentences]
    assert model.predict_batch(texts) == expected.predict_batch(texts)


def test_all_trains_for_as_many_epochs_as_dev_says(fit: Fit, sentences: list[list[str]]) -> None:
    fit("--all", fit.corpus, "--models", 2)
    trained = fit.model()
    choose = by_hand(n_models=2)
    choose.learning = trained.learning
    choose.fit(sentences, sentences)
    best = [
        max(
            (report for report in choose.history if report.model == model),
            key=lambda report: (report.dev.seg_f, -report.epoch),
        ).epoch
        for model in (1, 2)
    ]
    whole = CharacterSegmenter(
        seed=3, epochs=round(sum(best) / 2), n_models=2, learning=trained.learning
    ).fit(sentences)
    assert [t.arrays["values"].tolist() for t in trained._decoders().tables] == [
        t.arrays["values"].tolist() for t in whole._decoders().tables
    ]


def with_augmenter(config: Path, block: str) -> None:
    # The first one is that of the training corpus.
    text = config.read_text(encoding="utf-8").replace("augmenter = null\n", "", 1)
    config.write_text(f"{text}\n[corpora.train.augmenter]\n{block}\n", "utf-8")


VARIANTS = '@augmenters = "spacy_structreg.text_variants.v1"'


def test_the_augmenter_of_the_config_adds_to_the_training_corpus(
    fit: Fit, sentences: list[list[str]]
) -> None:
    with_augmenter(
        fit.config, f"{VARIANTS}\nhalf_width = 1\nno_final = 1\nspaces = 0\ntraditional = 0"
    )
    fit()
    half = {"，": ","}
    both = [
        each
        for words in sentences
        for each in (words, [half.get(word, word) for word in words[:-1]])
    ]
    assert fit.model().to_bytes() == by_hand().fit(both, sentences).to_bytes()


@pytest.mark.parametrize("task", ["segment", "tag"])
def test_variants_are_drawn_once(
    task: str, tmp_path: Path, sentences: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, config = tmp_path / "tagged.spacy", tmp_path / "any.cfg"
    vocab = spacy.blank("zh").vocab
    docs = [
        Doc(
            vocab,
            words=words,
            spaces=[False] * len(words),
            tags=[f"T{len(word)}" for word in words],
        )
        for words in sentences
    ]
    DocBin(docs=docs).to_disk(path)
    config.write_text(init_config(None, task=task, tags=task == "tag"), "utf-8")
    with_augmenter(config, f"{VARIANTS}\nhalf_width = 0.5\nspaces = 0.5")
    training = load_training(config, {"training.seed": 3})
    assert training.augmenter is not None
    augment, n_calls = training.augmenter, 0

    def counted(nlp: Language, example: Example) -> Iterator[Example]:
        nonlocal n_calls
        n_calls += 1
        return augment(nlp, example)

    training.augmenter = counted
    seen: list[Example] = []
    monkeypatch.setattr(training.nlp, "initialize", lambda read: seen.extend(read()))
    training.initialize(path)
    assert len(sentences) < len(seen) < 2 * len(sentences)
    gold = [training.part.gold(example)[0][0] for example in seen]
    assert list(map(repr, training.sentences(path))) == list(map(repr, gold))
    # What is predicted is not what the pipes said before they were initialized.
    again = training.examples(path, augment=True)
    assert [example.reference for example in again] == [example.reference for example in seen]
    if task == "tag":
        assert not {id(each.predicted) for each in again} & {id(each.predicted) for each in seen}
    assert n_calls == len(sentences)


def test_limits_of_corpora_hold_for_all_that_is_trained(
    fit: Fit, fails: Callable[..., str], sentences: list[list[str]]
) -> None:
    fit("--corpora.train.limit", 3, "--corpora.dev.limit", 2)
    expected = by_hand().fit(sentences[:3], sentences[:2])
    assert fit.model().to_bytes() == expected.to_bytes()
    for limit in ("-1", "x", "true", "1.5"):
        assert "train.limit" in fails(*fit.line("--corpora.train.limit", limit, "--force"))
    tagging = load_config_from_str(init_config(None, task="tag"), interpolate=False)
    tagging["corpora"]["train"]["limit"] = 3
    tagging.to_disk(fit.config)
    training = load_training(fit.config)
    assert len(training.examples(fit.corpus)) == 3
    assert len(training.examples(fit.corpus, "dev")) == len(sentences)


def test_faults_are_said_in_a_line(fit: Fit, fails: Callable[..., str], tmp_path: Path) -> None:
    empty, other = tmp_path / "empty.spacy", tmp_path / "other.cfg"
    DocBin().to_disk(empty)
    other.write_text(spacy.blank("zh").config.to_str(), "utf-8")
    assert "is empty" in fails(*fit.line(corpus=empty))
    assert "the tokenizer is none of spacy_structreg" in fails(*fit.line(config=other))
    text = fit.config.read_text("utf-8")
    for block, message in (
        (f"{VARIANTS}\nspaces = 2", "spaces = 2"),
        (f"{VARIANTS}\nspace = 0.1", "augmenter.space"),
        ('@augmenters = "spacy_structreg.no_variants.v1"', "no_variants"),
        ("spaces = 0.1", "train.augmenter"),
    ):
        fit.config.write_text(text, "utf-8")
        with_augmenter(fit.config, block)
        assert message in fails(*fit.line())
    assert not fit.output.exists()


# Losing no work -----------------------------------------------------------------------------------

# A process that is killed, or told to end, while it writes its file of that number.
DYING = """
import os, signal, sys
from spacy_structreg.models import checkpoints
from spacy_structreg.cli.app import structreg_app
checkpoints._LEAST_PAUSE = 0.0
written, fsync = 0, os.fsync
def dying(descriptor):
    global written
    written += 1
    if written == {number}:
        os.kill(os.getpid(), signal.{signal})
    fsync(descriptor)
os.fsync = dying
structreg_app(sys.argv[1:])
"""


def die(number: int, signal: str, command: list[str]) -> subprocess.CompletedProcess[str]:
    program = DYING.format(number=number, signal=signal)
    return subprocess.run(
        [executable(), "-c", program, *command], capture_output=True, text=True, check=False
    )


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.slow
@pytest.mark.parametrize("several", [False, True], ids=["one", "several_and_all"])
def test_a_killed_training_is_resumed(several: bool, fit: Fit, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    more = ["--models", 2, "--all", fit.corpus, "--threads", 1] if several else []
    options = [*more, "--report", report]
    killed = die(12 if several else 6, "SIGKILL", fit.line(*options))
    assert killed.returncode == -9, killed.stderr
    assert not report.exists()
    # The best so far can be used.
    assert fit.model().is_trained
    assert "dev/1.srt" in json.dumps(sorted(files_of(fit.state)))
    # From there, not from the beginning.
    result = fit(*options, "--resume")
    assert "epoch 1 of" not in result.stderr.partition("model 2")[0]
    assert [path.name for path in fit.output.parent.iterdir()] == ["pipeline"]
    straight = tmp_path / "straight"
    fit(*options, output=straight)
    assert files_of(fit.output) == files_of(straight)
    assert len(json.loads(report.read_text("utf-8"))["dev_epochs"]) == 1 + several


@pytest.mark.slow
def test_a_training_that_is_told_to_end_leaves_no_temporary_file(fit: Fit) -> None:
    # While the pipeline is written whole.
    ended = die(3, "SIGTERM", fit.line())
    assert (ended.returncode, ended.stdout) == (128 + 15, ""), ended.stderr
    assert "Traceback" not in ended.stderr
    assert not any(path.name.startswith(".") for path in fit.output.parent.rglob("*"))
    assert "epoch 1 of" not in fit("--resume").stderr


def test_without_resume_training_begins_anew(fit: Fit, fails: Callable[..., str]) -> None:
    # Without a seed in the config one is drawn, and drawn once.
    drawn = ("--training.seed", "null")
    fit.interrupt(*drawn)
    assert fit.state.exists()
    # The state would be that of another training, if it had another seed.
    resumed = fit(*drawn, "--resume")
    assert "epoch 1 of" not in resumed.stderr
    assert not fit.state.exists()
    message = "pipeline exists; name another output, or add --force to replace it"
    assert message in fails(*fit.line(*drawn, "--resume"))
    again = fit(*drawn, "--resume", "--force")
    assert "epoch 1 of" in again.stderr
    assert again.stdout.partition(":")[0] != resumed.stdout.partition(":")[0]


def test_the_state_of_a_training_is_not_dropped_unasked(
    fit: Fit, fails: Callable[..., str]
) -> None:
    fit.interrupt()
    before = files_of(fit.state)
    message = fails(*fit.line("--resume", "--models", 2))
    assert "it is of another training, which differs in n_models; train as" in message
    # Also if the first epoch was not over.
    for there in (True, False):
        if not there:
            shutil.rmtree(fit.output)
        assert fails(*fit.line()) == (
            f"{fit.state} has the state of a training that was interrupted; add --resume "
            "to go on with it, or --force to begin anew"
        )
        assert files_of(fit.state) == before
    assert "epoch 1 of" in fit("--force").stderr


def test_an_output_is_trained_by_one_process_at_a_time(fit: Fit, fails: Callable[..., str]) -> None:
    fit.output.parent.mkdir()
    for further in ([], ["--resume"]):
        with locked(fit.state):
            message = fails(*fit.line(*further))
        assert "pipeline.checkpoint: another process is writing here; wait" in message
        assert not fit.output.exists()


def test_what_is_read_is_not_replaced(fit: Fit, fails: Callable[..., str]) -> None:
    """Neither a corpus in the folder of an older pipeline, nor what the config names."""
    fit()
    config, corpus = (
        shutil.copy(path, fit.output / path.name) for path in (fit.config, fit.corpus)
    )
    before = files_of(fit.output)
    words = fit.output / "words.txt"
    words.write_text("小王\n", "utf-8")
    base = {"@callbacks": "spacy.copy_from_base_model.v1", "tokenizer": str(fit.output)}
    for command in (
        fit.line(config=config),
        fit.line(corpus=corpus),
        fit.line("--all", corpus),
        fit.line("--unlabeled", corpus),
        fit.line("--initialize.tokenizer.user_words", words),
        fit.line("--initialize.before_init", json.dumps(base)),
    ):
        message = fails(*command, "--force")
        assert "is an input" in message or "holds the input" in message
    words.unlink()
    assert files_of(fit.output) == before
    assert not fit.state.exists()


def test_names_in_a_config_are_no_inputs(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of languages, pipes and annotation; and an empty folder is no output that is replaced."""
    monkeypatch.chdir(tmp_path)
    Path("zh").mkdir()
    for further in ([], ["--force"]):
        fit(*further, output=Path("zh"))
    Path("words").mkdir()
    assert not paths_of({"nlp": {"lang": "zh"}, "x": {"@tokenizers": "zh", "factory": "words"}})
    assert paths_of({"a": {"path": "zh"}, "gold": {"b": ["words"]}}) == {Path("zh"), Path("words")}


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit(143)])
def test_an_interrupted_training_says_what_was_kept(
    fit: Fit, monkeypatch: pytest.MonkeyPatch, end: BaseException | type[BaseException]
) -> None:
    for place, told in (
        ("spacy_structreg.cli.training.Training.apply_settings", "nothing was kept"),
        (
            "spacy_structreg.cli.fit.best_epochs",
            f"{fit.output} is the best pipeline so far; {fit.state} has the state of the "
            "training: the same command with --resume goes on",
        ),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, Mock(side_effect=end))
            result = fit.invoke(*fit.line())
        assert result.exit_code != 0
        assert f"\nInterrupted: {told}\n" in result.stderr
        assert fit.state.exists() == ("--resume" in told)
    fit("--resume")


def test_a_training_that_fails_leaves_nothing(
    fit: Fit, fails: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(CharacterSegmenter, "fit", Mock(side_effect=ValueError("it failed")))
    assert fails(*fit.line(output=tmp_path / "pipeline")) == "it failed"
    assert sorted(tmp_path.rglob("*")) == before


def test_outputs_are_checked_before_training(
    fit: Fit, fails: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = Mock(side_effect=AssertionError("training has begun"))
    monkeypatch.setattr(CharacterSegmenter, "fit", begun)
    (tmp_path / "file").touch()
    for name in ("folder", "p.checkpoint"):
        (tmp_path / name / "mine").mkdir(parents=True)
    for output, further, message in (
        ("file", (), "file is no pipeline, and is not replaced"),
        ("folder", (), "folder is no pipeline, and is not replaced"),
        ("file/pipeline", (), f"{tmp_path / 'file' / 'pipeline'}: "),
        ("p", (), "p.checkpoint is no unfinished training"),
        ("good", ("--report", tmp_path), f"{tmp_path}: not a regular file"),
        ("good", ("--report", tmp_path / "file/r.json"), f"{tmp_path / 'file' / 'r.json'}: "),
    ):
        assert message in fails(*fit.line(*further, output=tmp_path / output))
        assert not (tmp_path / "good").exists()


def test_a_report_may_lie_in_the_output(fit: Fit) -> None:
    report = fit.output / "figures" / "report.json"
    for force in ([], ["--force"]):
        fit("--report", report, *force)
        assert "dev_epochs" in report.read_text("utf-8")


def test_the_best_so_far_is_written_at_every_better_epoch(
    fit: Fit, sentences: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    report = EpochReport.__init__

    def look(self: EpochReport, *arguments: object, **options: object) -> None:
        """Before an epoch is reported: what lies there after those before."""
        report(self, *arguments, **options)
        found.append(fit.model().to_bytes() if fit.output.exists() else None)

    monkeypatch.setattr(EpochReport, "__init__", look)
    fit()
    monkeypatch.undo()
    assert found[0] is None
    best = fit.model()
    for epoch, data in enumerate(found[1:], 1):
        one = best.untrained()
        one.epochs = epoch
        one.fit(sentences, sentences)
        one.epochs = best.epochs
        assert data == one.to_bytes()
