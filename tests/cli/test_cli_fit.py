"""`structreg fit`: what it trains is what the estimator's own fit trains."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner

from spacy_structreg.cli.app import structreg_app
from spacy_structreg.corpora.files import replace_text
from spacy_structreg.estimators.character_segmenter import CharacterSegmenter

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
        [sys.executable, "-m", "spacy", "structreg", *command],
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
    assert f"seed 3: dev_seg_f {max(scores):.4f}" in done.stdout


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
