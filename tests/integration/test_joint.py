"""Tokenizers that tag, and taggers behind them, under spaCy's own commands.

The corpora are slices of the general part of the treebank.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from universal_tags import universal_tag

from spacy_structreg.pipeline.joint_tagger import JointTagger
from spacy_structreg.pipeline.segmenter import Segmenter

Command = Callable[..., "subprocess.CompletedProcess[str]"]

TREEBANK = Path(__file__).parents[2] / "treebank"
EPOCHS = ("--training.max_epochs", 3)


def pairs(doc: Doc) -> list[tuple[str, str]]:
    return [(token.text, token.tag_) for token in doc]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, python: Command) -> Path:
    """A folder with train.spacy and dev.spacy, a list of words, and the configs of the tasks."""
    folder = tmp_path_factory.mktemp("joint")
    for name, part in (("train", "0:60"), ("dev", "0:100")):
        source = TREEBANK / f"{name}/general.bracket"
        output = folder / f"{name}.spacy"
        python("-m", "spacy", "structreg", "convert", source, output, "--percent", part)
    corpora = ("--train", folder / "train.spacy", "--dev", folder / "dev.spacy")
    for task in ("segment", "joint"):
        config = folder / f"{task}.cfg"
        python("-m", "spacy", "structreg", "init-config", config, "--task", task, *corpora)
    (folder / "words.txt").write_text("北京 大学\tNR\n学自然\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def joint(folder: Path, python: Command) -> Path:
    """The output of ``spacy train`` for a tokenizer that tags."""
    listed = ("--initialize.tokenizer.user_words", folder / "words.txt")
    output = folder / "joint"
    config = folder / "joint.cfg"
    done = python("-m", "spacy", "train", config, "--output", output, *EPOCHS, *listed)
    (folder / "joint.log").write_text(done.stdout, encoding="utf-8")
    return output / "model-best"


@pytest.fixture(scope="module")
def texts(folder: Path) -> list[str]:
    docs = DocBin().from_disk(folder / "dev.spacy").get_docs(Vocab())
    return [doc.text for doc in docs]


def test_the_best_model_is_that_of_the_joint_figure(joint: Path, folder: Path) -> None:
    log = (folder / "joint.log").read_text("utf-8")
    assert "JOINT_F" in log
    assert "TAG_ACC" not in log
    performance = json.loads((joint / "meta.json").read_text("utf-8"))["performance"]
    assert 0.5 < performance["joint_f"] < performance["seg_f"]
    rows = [line.split() for line in log.splitlines()]
    column = next(row for row in rows if "JOINT_F" in row).index("JOINT_F")
    # The column LOSS has the name of the pipe behind it, which makes one word more.
    figures = [float(row[column - 1]) for row in rows if len(row) > column and row[0].isdigit()]
    assert performance["joint_f"] == pytest.approx(max(figures) / 100, abs=1e-4)


def test_words_tags_and_universal_tags(joint: Path, texts: list[str]) -> None:
    nlp = spacy.load(joint)
    assert isinstance(nlp.tokenizer, JointTagger)
    assert nlp.pipe_names == ["tokenizer_trainer"]
    known = set(nlp.tokenizer.model.tags)
    for doc, text in zip(nlp.pipe(texts), texts, strict=True):
        assert doc.text == text
        assert {token.tag_ for token in doc} <= known
        assert [t.pos_ for t in doc] == [universal_tag("ctb", t.tag_, t.text) for t in doc]


def test_listed_words_come_from_the_file_of_the_config(joint: Path) -> None:
    nlp = spacy.load(joint)
    found = dict(pairs(nlp("我在北京 大学学自然语言。")))
    assert found["北京 大学"] == "NR"
    assert "学自然" in found


def test_spacys_evaluate(joint: Path, folder: Path, python: Command) -> None:
    output = folder / "figures.json"
    python("-m", "spacy", "evaluate", joint, folder / "dev.spacy", "--output", output)
    figures = json.loads(output.read_text("utf-8"))
    performance = json.loads((joint / "meta.json").read_text("utf-8"))["performance"]
    for key in ("joint_f", "joint_p", "joint_r", "seg_f"):
        assert figures[key] == pytest.approx(performance[key])
    # A figure of gold words, which spaCy would give on the words that were found alone.
    assert "tag_acc" not in figures


def test_our_evaluate_gives_the_same(joint: Path, folder: Path, python: Command) -> None:
    output = folder / "report.json"
    run = ("-m", "spacy", "structreg", "evaluate", joint)
    printed = python(*run, folder / "dev.spacy", "--output", output).stdout
    report = json.loads(output.read_text("utf-8"))
    performance = json.loads((joint / "meta.json").read_text("utf-8"))["performance"]
    assert report["joint_f"] == pytest.approx(performance["joint_f"])
    assert f"{100 * report['joint_f']:.2f}" in printed
    done = python(*run, folder / "dev.spacy", "--gold", "words", fails=True)
    assert "no pipe of the pipeline tags given words" in done.stderr


def test_two_processes_and_docbin(joint: Path, texts: list[str], tmp_path: Path) -> None:
    nlp = spacy.load(joint)
    nlp.tokenizer.user_words.add(texts[0][:3], "IJ")
    expected = [pairs(nlp(text)) for text in texts]
    assert expected[0][0] == (texts[0][:3], "IJ")
    docs = list(nlp.pipe(texts, n_process=2, batch_size=8))
    assert list(map(pairs, docs)) == expected
    DocBin(docs=docs).to_disk(tmp_path / "docs.spacy")
    kept = DocBin().from_disk(tmp_path / "docs.spacy").get_docs(Vocab())
    assert [pairs(doc) for doc in kept] == expected


def test_a_segmenter_learns_from_tags_if_there_are_any(
    folder: Path, texts: list[str], python: Command
) -> None:
    output = folder / "segment"
    config = folder / "segment.cfg"
    assert "CharacterJointTagger" in config.read_text("utf-8")
    python("-m", "spacy", "train", config, "--output", output, *EPOCHS)
    nlp = spacy.load(output / "model-best")
    assert isinstance(nlp.tokenizer, Segmenter)
    assert nlp.meta["performance"]["seg_f"] > 0.6
    assert not any(doc.has_annotation("TAG") for doc in nlp.pipe(texts))


@pytest.mark.slow
def test_a_tagger_behind_a_joint_tokenizer(
    joint: Path, folder: Path, texts: list[str], python: Command
) -> None:
    """Its config takes the tokenizer over; it may tag the words anew."""
    corpora = ("--train", folder / "train.spacy", "--dev", folder / "dev.spacy")
    config, output = folder / "tag.cfg", folder / "tag"
    options = ("--task", "tag", "--base", joint)
    python("-m", "spacy", "structreg", "init-config", config, *options, *corpora)
    anew = ("--components.tagger.overwrite", "true")
    python("-m", "spacy", "train", config, "--output", output, *EPOCHS, *anew)
    nlp, before = spacy.load(output / "model-best"), spacy.load(joint)
    assert nlp.pipe_names == ["tagger"]
    assert nlp.tokenizer.to_bytes() == before.tokenizer.to_bytes()
    assert [[t.text for t in nlp(text)] for text in texts] == [
        [t.text for t in before(text)] for text in texts
    ]
    assert [pairs(nlp(text)) for text in texts] != [pairs(before(text)) for text in texts]
    report = folder / "tag.json"
    run = ("-m", "spacy", "structreg", "evaluate", output / "model-best", folder / "dev.spacy")
    python(*run, "--gold", "words", "--output", report)
    figures = json.loads(report.read_text("utf-8"))
    assert figures["tag_acc"] == pytest.approx(nlp.meta["performance"]["tag_acc"])
    # The pipes' tags count on raw text, not those of the tokenizer.
    python(*run, "--output", report)
    figures = json.loads(report.read_text("utf-8"))
    assert 0.5 < figures["joint_f"] < figures["seg_f"]
