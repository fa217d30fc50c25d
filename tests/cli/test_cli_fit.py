"""`structreg fit`: what it trains is what the estimator's own fit trains."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import load_config_from_str
from typer.testing import CliRunner
from warm_python import executable

from spacy_structreg.cli.app import structreg_app
from spacy_structreg.cli.init_config import init_config
from spacy_structreg.cli.training import load_training, paths_of
from spacy_structreg.corpora.files import replace_text
from spacy_structreg.corpora.folders import locked
from spacy_structreg.models.reports import EpochReport
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter

EPOCHS = 4


@pytest.fixture
def corpus(tmp_path: Path, sentences: list[list[str]]) -> Path:
    vocab = spacy.blank("zh").vocab
    docs = [Doc(vocab, words=words, spaces=[False] * len(words)) for words in sentences]
    DocBin(docs=docs).to_disk(tmp_path / "corpus.spacy")
    return tmp_path / "corpus.spacy"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "segment.cfg"
    result = CliRunner().invoke(structreg_app, ["init-config", str(path), "--task", "segment"])
    assert result.exit_code == 0
    return path


def arguments(config: Path, corpus: Path, output: Path) -> list[str]:
    shared = ["fit", str(config), str(output), "--train", str(corpus), "--dev", str(corpus)]
    return [*shared, "--training.seed", "3", "--training.max_epochs", str(EPOCHS)]


def test_the_estimator_is_what_trains(
    config: Path, corpus: Path, tmp_path: Path, sentences: list[list[str]]
) -> None:
    output = tmp_path / "made" / "pipeline"
    command = [*arguments(config, corpus, output), "--report", str(tmp_path / "report.json")]
    done = subprocess.run(
        [executable(), "-m", "spacy", "structreg", *command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    trained = spacy.load(output).tokenizer.model
    by_hand = CharacterSegmenter(seed=3, epochs=EPOCHS, patience=5).fit(sentences, sentences)
    assert trained.to_bytes() == by_hand.to_bytes()
    figures = json.loads((tmp_path / "report.json").read_text("utf-8"))
    scores = [report.dev.seg_f for report in by_hand.history if report.dev]
    assert figures == {
        "seeds": [3],
        "dev_epochs": [scores.index(max(scores)) + 1],
        "dev_seg_f": [max(scores)],
    }
    assert f"seed 3: dev_seg_f {100 * max(scores):.2f}" in done.stdout


def test_a_margin_is_tuned_for_models_with_a_beam(
    config: Path, corpus: Path, tmp_path: Path, sentences: list[list[str]]
) -> None:
    output = tmp_path / "pipeline"
    command = [*arguments(config, corpus, output), "--beam-loss", "1"]
    refused = CliRunner().invoke(structreg_app, command)
    assert refused.exit_code == 1
    assert "--beam-loss is for models with a beam; the segmenter has none" in refused.output
    of_words = load_config_from_str(init_config(None, task="segment"), interpolate=False)
    of_words["nlp"]["tokenizer"]["model"] = {"@architectures": "spacy_structreg.WordSegmenter.v1"}
    of_words.to_disk(config)
    report = tmp_path / "report.json"
    result = CliRunner().invoke(structreg_app, [*command, "--report", str(report)])
    assert result.exit_code == 0, result.output
    model = spacy.load(output).tokenizer.model
    by_hand = WordSegmenter(seed=3, epochs=EPOCHS, patience=5).fit(sentences, sentences)
    assert by_hand.beam_margin is None
    margin = by_hand.tune_beam_margin(sentences, max_loss=0.01)
    assert model.beam_margin == margin == json.loads(report.read_text("utf-8"))["beam_margin"]
    assert f"beam_margin {margin}" in result.output
    texts = ["".join(words) for words in sentences]
    assert model.predict_batch(texts) == by_hand.predict_batch(texts)


def test_all_trains_for_as_many_epochs_as_dev_says(
    config: Path, corpus: Path, tmp_path: Path, sentences: list[list[str]]
) -> None:
    output = tmp_path / "pipeline"
    command = [*arguments(config, corpus, output), "--all", str(corpus), "--models", "2"]
    result = CliRunner().invoke(structreg_app, command)
    assert result.exit_code == 0, result.output
    trained = spacy.load(output).tokenizer.model
    choose = CharacterSegmenter(seed=3, epochs=EPOCHS, patience=5, n_models=2)
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
    with replace_text(config) as stream:
        stream.write(f"{text}\n[corpora.train.augmenter]\n{block}\n")


def test_the_augmenter_of_the_config_adds_to_the_training_corpus(
    config: Path, corpus: Path, tmp_path: Path, sentences: list[list[str]]
) -> None:
    chances = "half_width = 1\nno_final = 1\nspaces = 0\ntraditional = 0"
    with_augmenter(config, f'@augmenters = "spacy_structreg.text_variants.v1"\n{chances}')
    output = tmp_path / "pipeline"
    result = CliRunner().invoke(structreg_app, arguments(config, corpus, output))
    assert result.exit_code == 0, result.output
    half = {"，": ","}
    both = [
        each
        for words in sentences
        for each in (words, [half.get(word, word) for word in words[:-1]])
    ]
    by_hand = CharacterSegmenter(seed=3, epochs=EPOCHS, patience=5).fit(both, sentences)
    assert spacy.load(output).tokenizer.model.to_bytes() == by_hand.to_bytes()


@pytest.mark.parametrize("task", ["segment", "tag"])
def test_variants_are_drawn_once(
    task: str, tmp_path: Path, sentences: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tagged.spacy"
    vocab = spacy.blank("zh").vocab
    tags = [[f"T{len(word)}" for word in words] for words in sentences]
    docs = [
        Doc(vocab, words=words, spaces=[False] * len(words), tags=row)
        for words, row in zip(sentences, tags, strict=True)
    ]
    DocBin(docs=docs).to_disk(path)
    config = tmp_path / "any.cfg"
    with replace_text(config) as stream:
        stream.write(init_config(None, task=task, tags=task == "tag"))
    with_augmenter(
        config, '@augmenters = "spacy_structreg.text_variants.v1"\nhalf_width = 0.5\nspaces = 0.5'
    )
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
    found = training.sentences(path)
    assert list(map(repr, found)) == list(map(repr, gold))
    # What is predicted is not what the pipes said before they were initialized.
    again = training.examples(path, augment=True)
    assert [example.reference for example in again] == [example.reference for example in seen]
    if task == "tag":
        assert not {id(each.predicted) for each in again} & {id(each.predicted) for each in seen}
    assert n_calls == len(sentences)


def test_limits_of_corpora_hold_for_all_that_is_trained(
    config: Path, corpus: Path, tmp_path: Path, sentences: list[list[str]]
) -> None:
    command = [*arguments(config, corpus, tmp_path / "some"), "--corpora.train.limit", "3"]
    result = CliRunner().invoke(structreg_app, [*command, "--corpora.dev.limit", "2"])
    assert result.exit_code == 0, result.output
    by_hand = CharacterSegmenter(seed=3, epochs=EPOCHS, patience=5)
    by_hand.fit(sentences[:3], sentences[:2])
    assert spacy.load(tmp_path / "some").tokenizer.model.to_bytes() == by_hand.to_bytes()
    for limit in ("-1", "x", "true", "1.5"):
        refused = CliRunner().invoke(structreg_app, [*command[:-1], limit, "--force"])
        assert refused.exit_code == 1
        assert "train.limit" in refused.stderr
    tagging = load_config_from_str(init_config(None, task="tag"), interpolate=False)
    tagging["corpora"]["train"]["limit"] = 3
    tagging.to_disk(config)
    training = load_training(config)
    assert len(training.examples(corpus)) == 3
    assert len(training.examples(corpus, "dev")) == len(sentences)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ('@augmenters = "spacy_structreg.text_variants.v1"\nspaces = 2', "spaces = 2"),
        ('@augmenters = "spacy_structreg.text_variants.v1"\nspace = 0.1', "augmenter.space"),
        ('@augmenters = "spacy_structreg.no_variants.v1"', "no_variants"),
        ("spaces = 0.1", "train.augmenter"),
    ],
)
def test_an_augmenter_that_cannot_be_made_is_said_in_a_line(
    block: str, message: str, config: Path, corpus: Path, tmp_path: Path
) -> None:
    with_augmenter(config, block)
    result = CliRunner().invoke(structreg_app, arguments(config, corpus, tmp_path / "pipeline"))
    assert result.exit_code == 1
    assert message in result.output.replace("\n", " ")
    assert not (tmp_path / "pipeline").exists()


def test_faults_are_said_in_a_line(config: Path, corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "pipeline"
    empty = tmp_path / "empty.spacy"
    DocBin().to_disk(empty)
    other = tmp_path / "other.cfg"
    with replace_text(other) as stream:
        stream.write(spacy.blank("zh").config.to_str())
    for command, message in [
        (arguments(config, empty, output), "is empty"),
        (arguments(config, tmp_path / "none.spacy", output), "none.spacy"),
        (arguments(other, corpus, output), "the tokenizer is none of spacy_structreg"),
    ]:
        result = CliRunner().invoke(structreg_app, command)
        assert result.exit_code == 1
        assert message in result.output
        assert not output.exists()


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
        [sys.executable, "-c", program, *command], capture_output=True, text=True, check=False
    )


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "options"),
    [
        pytest.param(6, [], id="one"),
        pytest.param(
            12,
            ["--models", "2", "--all", "CORPUS", "--threads", "1"],
            id="several_and_all",
        ),
    ],
)
def test_a_killed_training_is_resumed(
    number: int,
    options: list[str],
    config: Path,
    corpus: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    tmp_path = tmp_path_factory.mktemp("killed")
    output, report = tmp_path / "out" / "pipeline", tmp_path / "report.json"
    options = [str(corpus) if each == "CORPUS" else each for each in options]
    command = [*arguments(config, corpus, output), *options, "--report", str(report)]
    killed = die(number, "SIGKILL", command)
    assert killed.returncode == -9, killed.stderr
    assert not report.exists()
    # The best so far can be used.
    assert spacy.load(output).tokenizer.model.is_trained
    state = output.with_name("pipeline.checkpoint")
    # From there, not from the beginning.
    reached = json.dumps(sorted(files_of(state)))
    assert "dev/1.srt" in reached
    result = CliRunner().invoke(structreg_app, [*command, "--resume"])
    assert result.exit_code == 0, result.output
    assert "epoch 1 of" not in result.stderr.partition("model 2")[0]
    straight = tmp_path / "straight"
    command[2] = str(straight)
    assert CliRunner().invoke(structreg_app, command).exit_code == 0
    assert files_of(output) == files_of(straight)
    assert sorted(path.name for path in output.parent.iterdir()) == ["pipeline"]
    assert len(json.loads(report.read_text("utf-8"))["dev_epochs"]) == 1 + ("--models" in options)


@pytest.mark.slow
def test_a_training_that_is_told_to_end_leaves_no_temporary_file(
    config: Path, corpus: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out" / "pipeline"
    # While the pipeline is written whole.
    ended = die(3, "SIGTERM", arguments(config, corpus, output))
    assert (ended.returncode, ended.stdout) == (128 + 15, ""), ended.stderr
    assert "Traceback" not in ended.stderr
    left = sorted(path.name for path in output.parent.rglob("*") if path.name.startswith("."))
    assert left == []
    result = CliRunner().invoke(structreg_app, [*arguments(config, corpus, output), "--resume"])
    assert result.exit_code == 0, result.output
    assert "epoch 1 of" not in result.stderr


def interrupt(command: list[str]) -> None:
    """Run a command that ends after its epochs, before it has written all."""

    def end(history: object) -> None:
        raise OSError("interrupted")

    with pytest.MonkeyPatch().context() as patch:
        patch.setattr("spacy_structreg.cli.fit.best_epochs", end)
        assert CliRunner().invoke(structreg_app, command).exit_code == 1


def test_without_resume_training_begins_anew(config: Path, corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "pipeline"
    # Without a seed in the config one is drawn, and drawn once.
    command = [each if each != "3" else "null" for each in arguments(config, corpus, output)]
    state = tmp_path / "pipeline.checkpoint"
    interrupt(command)
    assert state.exists()
    resumed = CliRunner().invoke(structreg_app, [*command, "--resume"])
    # The state would be that of another training, if it had another seed.
    assert resumed.exit_code == 0, resumed.output
    assert "epoch 1 of" not in resumed.stderr
    assert not state.exists()
    again = CliRunner().invoke(structreg_app, [*command, "--resume"])
    assert "pipeline exists; name another output, or add --force to replace it" in again.stderr
    again = CliRunner().invoke(structreg_app, [*command, "--resume", "--force"])
    assert "epoch 1 of" in again.stderr
    assert again.stdout.partition(":")[0] != resumed.stdout.partition(":")[0]


def test_the_state_of_a_training_is_not_dropped_unasked(
    config: Path, corpus: Path, tmp_path: Path
) -> None:
    output = tmp_path / "pipeline"
    command = arguments(config, corpus, output)
    interrupt(command)
    before = files_of(tmp_path / "pipeline.checkpoint")
    # Also if the first epoch was not over.
    for there in (True, False):
        if not there:
            shutil.rmtree(output)
        refused = CliRunner().invoke(structreg_app, command)
        assert refused.exit_code == 1
        assert refused.stderr == (
            f"✘ {output}.checkpoint has the state of a training that was interrupted; add --resume "
            "to go on with it, or --force to begin anew\n"
        )
        assert files_of(tmp_path / "pipeline.checkpoint") == before
    anew = CliRunner().invoke(structreg_app, [*command, "--force"])
    assert anew.exit_code == 0
    assert "epoch 1 of" in anew.stderr


def test_another_training_is_not_resumed(config: Path, corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "pipeline"
    command = arguments(config, corpus, output)
    interrupt(command)
    before = files_of(tmp_path / "pipeline.checkpoint")
    result = CliRunner().invoke(structreg_app, [*command, "--resume", "--models", "2"])
    assert result.exit_code == 1
    assert "it is of another training, which differs in n_models; train as" in result.stderr
    assert files_of(tmp_path / "pipeline.checkpoint") == before


def test_an_output_is_trained_by_one_process_at_a_time(
    config: Path, corpus: Path, tmp_path: Path
) -> None:
    output = tmp_path / "pipeline"
    for further in ([], ["--resume"]):
        with locked(tmp_path / "pipeline.checkpoint"):
            command = [*arguments(config, corpus, output), *further]
            result = CliRunner().invoke(structreg_app, command)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "pipeline.checkpoint: another process is writing here; wait" in result.stderr
        assert not output.exists()


def test_what_is_read_is_not_replaced(config: Path, corpus: Path, tmp_path: Path) -> None:
    """Neither a corpus in the folder of an older pipeline, nor what the config names."""
    output = tmp_path / "pipeline"
    assert CliRunner().invoke(structreg_app, arguments(config, corpus, output)).exit_code == 0
    inside = [shutil.copy(path, output / path.name) for path in (config, corpus)]
    before = files_of(output)
    words = output / "words.txt"
    words.write_text("小王\n", "utf-8")
    named = ["--initialize.tokenizer.user_words", str(words)]
    base = ["--initialize.before_init", json.dumps({"@callbacks": "spacy.copy_from_base_model.v1",
            "tokenizer": str(output)})]  # fmt: skip
    for command in (
        arguments(Path(inside[0]), corpus, output),
        arguments(config, Path(inside[1]), output),
        [*arguments(config, corpus, output), "--all", str(inside[1])],
        [*arguments(config, corpus, output), "--unlabeled", str(inside[1])],
        [*arguments(config, corpus, output), *named],
        [*arguments(config, corpus, output), *base],
    ):
        result = CliRunner().invoke(structreg_app, [*command, "--force"])
        assert (result.exit_code, result.stdout) == (1, ""), result.output
        assert "is an input" in result.stderr or "holds the input" in result.stderr
    words.unlink()
    assert files_of(output) == before
    assert not (tmp_path / "pipeline.checkpoint").exists()


def test_names_in_a_config_are_no_inputs(
    config: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of languages, pipes and annotation; and an empty folder is no output that is replaced."""
    monkeypatch.chdir(tmp_path)
    for name in ("zh", "words"):
        Path(name).mkdir()
        command = arguments(config, corpus, Path(name))
        for further in ([], ["--force"]):
            result = CliRunner().invoke(structreg_app, [*command, *further])
            assert result.exit_code == 0, result.output
    assert not paths_of({"nlp": {"lang": "zh"}, "x": {"@tokenizers": "zh", "factory": "words"}})
    assert paths_of({"a": {"path": "zh"}, "gold": {"b": ["words"]}}) == {Path("zh"), Path("words")}


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit(143)])
def test_an_interrupted_training_says_what_was_kept(
    config: Path,
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    end: BaseException | type[BaseException],
) -> None:
    output = tmp_path / "pipeline"
    command = arguments(config, corpus, output)
    for place, told in (
        ("spacy_structreg.cli.training.Training.apply_settings", "nothing was kept"),
        (
            "spacy_structreg.cli.fit.best_epochs",
            f"{output} is the best pipeline so far; {output}.checkpoint has the state of the "
            "training: the same command with --resume goes on",
        ),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, Mock(side_effect=end))
            result = CliRunner().invoke(structreg_app, command)
        assert result.exit_code != 0
        assert f"\nInterrupted: {told}\n" in result.stderr
        assert (tmp_path / "pipeline.checkpoint").exists() == ("--resume" in told)
    assert CliRunner().invoke(structreg_app, [*command, "--resume"]).exit_code == 0


def test_a_training_that_fails_leaves_nothing(
    config: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(CharacterSegmenter, "fit", Mock(side_effect=ValueError("it failed")))
    result = CliRunner().invoke(structreg_app, arguments(config, corpus, tmp_path / "pipeline"))
    assert (result.exit_code, result.stderr) == (1, "✘ it failed\n")
    assert sorted(tmp_path.iterdir()) == before


def test_outputs_are_checked_before_training(
    config: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def train(*arguments: object, **options: object) -> None:
        raise AssertionError("training has begun")

    monkeypatch.setattr(CharacterSegmenter, "fit", train)
    (tmp_path / "file").touch()
    (tmp_path / "folder" / "mine").mkdir(parents=True)
    (tmp_path / "p.checkpoint" / "mine").mkdir(parents=True)
    good = tmp_path / "good"
    for output, report, message in [
        (tmp_path / "file", None, "file is no pipeline, and is not replaced"),
        (tmp_path / "folder", None, "folder is no pipeline, and is not replaced"),
        (tmp_path / "file" / "pipeline", None, f"{tmp_path / 'file' / 'pipeline'}: "),
        (tmp_path / "p", None, "p.checkpoint is no unfinished training"),
        (good, tmp_path, f"{tmp_path}: not a regular file"),
        (good, tmp_path / "file" / "r.json", f"{tmp_path / 'file' / 'r.json'}: "),
    ]:
        further = [] if report is None else ["--report", str(report)]
        result = CliRunner().invoke(structreg_app, [*arguments(config, corpus, output), *further])
        assert (result.exit_code, result.stdout) == (1, ""), result.output
        assert message in result.stderr
        assert result.stderr.count("\n") == 1
        assert not good.exists()


def test_a_report_may_lie_in_the_output(config: Path, corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "pipeline"
    report = output / "figures" / "report.json"
    for force in ([], ["--force"]):
        command = [*arguments(config, corpus, output), "--report", str(report), *force]
        result = CliRunner().invoke(structreg_app, command)
        assert result.exit_code == 0, result.output
        assert "dev_epochs" in report.read_text("utf-8")


def test_the_best_so_far_is_written_at_every_better_epoch(
    config: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "pipeline"
    found = []
    report = EpochReport.__init__

    def look(self: EpochReport, *arguments: object, **options: object) -> None:
        """Before an epoch is reported: what lies there after those before."""
        report(self, *arguments, **options)
        found.append(spacy.load(output).tokenizer.model.to_bytes() if output.exists() else None)

    monkeypatch.setattr(EpochReport, "__init__", look)
    command = arguments(config, corpus, output)
    assert CliRunner().invoke(structreg_app, command).exit_code == 0
    monkeypatch.undo()
    assert found[0] is None
    best = spacy.load(output).tokenizer.model
    vocab = spacy.blank("zh").vocab
    gold = [[token.text for token in doc] for doc in DocBin().from_disk(corpus).get_docs(vocab)]
    for epoch, data in enumerate(found[1:], 1):
        one = best.untrained()
        one.epochs = epoch
        one.fit(gold, gold)
        one.epochs = best.epochs
        assert data == one.to_bytes()
