"""`structreg init-config`: the config is complete, and spaCy takes it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
import spacy
from spacy.util import load_config_from_str, load_model_from_config

from spacy_structreg.cli.init_config import init_config
from spacy_structreg.models.segmentation import DEFAULT_LEARNING

Runs = Callable[..., str]
Fails = Callable[..., str]
Command = Callable[..., "subprocess.CompletedProcess[bytes]"]


def test_learning_is_the_default_and_explained() -> None:
    config = init_config(None, task="segment", lang="ja")
    nlp = load_model_from_config(load_config_from_str(config), auto_fill=True)
    assert (nlp.lang, nlp.tokenizer.model.learning) == ("ja", DEFAULT_LEARNING)
    _, _, block = config.partition("[nlp.tokenizer.model.learning]\n")
    lines = block.partition("\n\n")[0].splitlines()
    for before, line in pairwise(lines):
        name = line.partition(" = ")[0]
        # l2 and l1 are explained together, and so are the two kinds of dropout.
        if not line.startswith("#") and name not in ("l1", "hidden_dropout"):
            assert before.startswith("# "), line


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        # Nothing tells that this is segmented, and the reader of training corpora does not ask.
        ("好的\n可以\n", 1),
        *(("好 了\n" * sentences, steps) for sentences, steps in ((100, 1), (101, 2), (250, 3))),
    ],
)
def test_evaluation_once_an_epoch(text: str, steps: int, tmp_path: Path) -> None:
    train = tmp_path / 'of "ours" <dev>.txt'
    train.write_text(text, "utf-8")
    config = load_config_from_str(
        init_config(None, task="segment", train=train, dev=Path("dev.spacy")), interpolate=True
    )
    assert config["training"]["eval_frequency"] == steps
    assert config["training"]["patience"] == 5 * steps
    assert config["corpora"]["train"]["path"] == str(train)
    assert config["corpora"]["dev"]["path"] == "dev.spacy"


def test_output(tmp_path: Path, runs: Runs) -> None:
    output = tmp_path / "configs" / "config.cfg"
    printed = runs("init-config", output, "--task", "segment")
    fit, faster, train = printed.splitlines()[1:]
    options = "pipeline --train train.spacy --dev dev.spacy"
    assert fit == f"python -m spacy structreg fit {output} {options}"
    assert "slower" in faster
    paths = "--paths.train train.spacy --paths.dev dev.spacy"
    assert train == f"python -m spacy train {output} --output training {paths}"
    assert output.read_text("utf-8") == init_config(None, task="segment")
    assert runs("init-config", "-", "--task", "segment") == init_config(None, task="segment")


def test_settings_that_are_refused(tmp_path: Path, fails: Fails) -> None:
    output = tmp_path / "config.cfg"
    for options, message in (
        (["--lang", "klingon"], "no language 'klingon'"),
        (["--lang", "../x"], "no language '../x'"),
        (["--dev", "a$b.spacy"], "a$b.spacy: a config cannot hold a path with '$'"),
    ):
        assert message in fails("init-config", output, "--task", "segment", *options)
        assert not output.exists()


@pytest.mark.slow
def test_from_text_to_text(
    tmp_path: Path, command: Command, text: str, sentences: list[list[str]]
) -> None:
    """All commands, for real, with spaCy's own training between them."""
    (tmp_path / "corpus.txt").write_text(text, "utf-8")
    raw = "".join("".join(words) + "\n" for words in sentences)

    def run(*arguments: str, stdin: str = "") -> str:
        result = command(*arguments, input=stdin.encode())
        assert result.returncode == 0, result.stderr.decode()
        return result.stdout.decode()

    run("structreg", "convert", "corpus.txt", "corpus.spacy")
    corpora = ("--train", "corpus.spacy", "--dev", "corpus.txt")
    run("structreg", "init-config", "config.cfg", "--task", "segment", *corpora)
    assert "Config is valid" in run("debug", "config", "config.cfg")
    run("train", "config.cfg", "--output", "training")
    best = "training/model-best"
    assert spacy.load(tmp_path / best).meta["performance"]["seg_f"] == 1.0
    run(
        "structreg", "evaluate", best, "corpus.spacy", "--train", "corpus.txt", "--output", "x.json"
    )
    report = json.loads((tmp_path / "x.json").read_text("utf-8"))
    assert (report["seg_f"], report["oov_rate"], report["oov_r"]) == (1.0, 0.0, None)
    assert run("structreg", "segment", best, stdin=raw) == text
