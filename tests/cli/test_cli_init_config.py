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


@pytest.mark.parametrize("lang", ["zh", "en", "ja"])
def test_nothing_is_left_to_fill_in(lang: str) -> None:
    config = load_config_from_str(init_config(None, task="segment", lang=lang))
    nlp = load_model_from_config(config, auto_fill=True)
    filled = nlp.config
    # Which spaCy drops when it has been empty.
    assert config.pop("pretraining") == filled.pop("pretraining") == {}
    assert filled == config
    assert nlp.lang == lang


def test_names_that_users_know() -> None:
    config = load_config_from_str(init_config(None, task="segment"))
    assert config["nlp"]["pipeline"] == ["tokenizer_trainer"]
    assert config["nlp"]["tokenizer"] == {
        "@tokenizers": "spacy_structreg.Segmenter.v1",
        "n_threads": 1,
        "model": {
            "@architectures": "spacy_structreg.CharacterSegmenter.v1",
            "templates": "zhang2014",
            "types": "extended",
            "half_width": True,
            "script": None,
            "lexicon": [],
            "guides": [],
            "statistics": None,
            "raw_text": [],
            "skip_bigram": False,
            "sentences": "punctuation",
            "typed_runs": False,
            "whole_runs": [],
            "scheme": "bmes",
            "seed": None,
            "learning": {"@misc": "spacy_structreg.Learning.v1", **DEFAULT_LEARNING.as_dict()},
        },
        "alternatives": 0,
        "confidence": False,
        "extension_prefix": "",
    }
    assert config["components"] == {"tokenizer_trainer": {"factory": "structreg_tokenizer_trainer"}}
    for part in ("train", "dev"):
        assert config["corpora"][part]["@readers"] == "spacy_structreg.Corpus.v1"
        assert config["corpora"][part]["gold"] == []
        assert config["paths"][part] is None
    assert config["training"]["score_weights"]["seg_f"] == 1.0
    assert config["training"]["max_epochs"] == 20


def test_learning_is_the_default_and_explained() -> None:
    assert DEFAULT_LEARNING.mini_sample == 5.0
    config = init_config(None, task="segment")
    model = load_model_from_config(load_config_from_str(config), auto_fill=True).tokenizer.model
    assert model.learning == DEFAULT_LEARNING
    _, _, block = config.partition("[nlp.tokenizer.model.learning]\n")
    lines = block.partition("\n\n")[0].splitlines()
    for before, line in pairwise(lines):
        name = line.partition(" = ")[0]
        # l2 and l1 are explained together, and so are the two kinds of dropout.
        if not line.startswith("#") and name not in ("l1", "hidden_dropout"):
            assert before.startswith("# "), line


def test_text_is_counted_as_it_is_trained_on(tmp_path: Path) -> None:
    train = tmp_path / "train.txt"
    # Nothing tells that this is segmented, and the reader of training corpora does not ask.
    train.write_text("好的\n可以\n", "utf-8")
    config = load_config_from_str(init_config(None, task="segment", train=train))
    assert config["training"]["eval_frequency"] == 1


@pytest.mark.parametrize(("sentences", "steps"), [(1, 1), (100, 1), (101, 2), (250, 3)])
def test_evaluation_once_an_epoch(tmp_path: Path, sentences: int, steps: int) -> None:
    train = tmp_path / 'of "ours" <dev>.txt'
    train.write_text("好 了\n" * sentences, "utf-8")
    config = load_config_from_str(
        init_config(None, task="segment", train=train, dev=Path("dev.spacy")), interpolate=True
    )
    assert config["training"]["eval_frequency"] == steps
    assert config["training"]["patience"] == 5 * steps
    assert config["corpora"]["train"]["path"] == str(train)
    assert config["corpora"]["dev"]["path"] == "dev.spacy"


def test_output(tmp_path: Path, runs: Runs, fails: Fails) -> None:
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
    output.write_text("mine")
    assert "--force" in fails("init-config", output, "--task", "segment")
    assert output.read_text() == "mine"
    runs("init-config", output, "--task", "segment", "--force")
    assert output.read_text("utf-8") == init_config(None, task="segment")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--lang", "klingon"], "no language 'klingon'"),
        (["--lang", "../x"], "no language '../x'"),
        (["--train", "missing.spacy"], "missing.spacy: No such file or directory"),
        (["--dev", "a$b.spacy"], "a$b.spacy: a config cannot hold a path with '$'"),
    ],
)
def test_settings_that_are_refused(
    tmp_path: Path, fails: Fails, options: list[str], message: str
) -> None:
    output = tmp_path / "config.cfg"
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
