"""What the tests of the commands share: a small corpus, a trained pipeline, ways to run."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
import typer
from click.testing import Result
from typer.testing import CliRunner
from warm_python import executable

from spacy_structreg.cli.app import structreg_app

SENTENCES = [
    ["小", "王", "昨天", "在", "图书馆", "看", "书", "。"],
    ["老师", "和", "学生", "一起", "去", "公园", "！"],
    ["我们", "明天", "去", "图书馆", "吗", "？"],
    ["学生", "在", "公园", "看", "书", "，", "老师", "看", "学生", "。"],
    ["昨天", "的", "书", "在", "老师", "那里", "。"],
]
TOKENIZER = {
    "@tokenizers": "spacy_structreg.Segmenter.v1",
    "model": {"@architectures": "spacy_structreg.CharacterSegmenter.v1", "seed": 1},
}


@pytest.fixture(scope="session")
def sentences() -> list[list[str]]:
    """What the pipeline has been trained on."""
    return SENTENCES


@pytest.fixture(scope="session")
def text(sentences: list[list[str]]) -> str:
    """The corpus as segmented text."""
    return "".join(" ".join(words) + "\n" for words in sentences)


@pytest.fixture(scope="session")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a pipeline with a trained tokenizer of ours."""
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": TOKENIZER}})
    nlp.tokenizer.model.fit(SENTENCES)
    path = tmp_path_factory.mktemp("pipelines") / "trained"
    nlp.to_disk(path)
    return str(path)


@pytest.fixture(scope="session")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a pipeline with a tokenizer of ours that has learned nothing."""
    path = tmp_path_factory.mktemp("pipelines") / "untrained"
    spacy.blank("zh", config={"nlp": {"tokenizer": TOKENIZER}}).to_disk(path)
    return str(path)


@pytest.fixture(scope="session")
def characters(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a pipeline with spaCy's own tokenizer, which parts all characters."""
    path = tmp_path_factory.mktemp("pipelines") / "characters"
    spacy.blank("zh").to_disk(path)
    return str(path)


@pytest.fixture
def app() -> typer.Typer:
    """The commands that tests run; those of scripts are others."""
    return structreg_app


@pytest.fixture
def invoke(app: typer.Typer) -> Callable[..., Result]:
    """Run a command in this process."""

    def run(*arguments: object, stdin: bytes | None = None) -> Result:
        result = CliRunner().invoke(app, list(map(str, arguments)), input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def runs(invoke: Callable[..., Result]) -> Callable[..., str]:
    """Run a command that must end well; what it prints."""

    def run(*arguments: object, stdin: bytes | None = None) -> str:
        result = invoke(*arguments, stdin=stdin)
        assert result.exit_code == 0, result.output
        return str(result.stdout)

    return run


@pytest.fixture
def report_of(runs: Callable[..., str], tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Run `evaluate`; the report that it writes."""

    def run(*arguments: object) -> dict[str, Any]:
        output = tmp_path / "report.json"
        runs("evaluate", *arguments, "--output", output)
        return dict(json.loads(output.read_text("utf-8")))

    return run


@pytest.fixture
def fails(invoke: Callable[..., Result]) -> Callable[..., str]:
    """Run a command that must end with one line on standard error and exit code 1."""

    def run(*arguments: object, stdin: bytes | None = None) -> str:
        result = invoke(*arguments, stdin=stdin)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith("✘ ")
        assert result.stderr.count("\n") == 1
        return str(result.stderr).removeprefix("✘ ").strip()

    return run


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run a command for real, through spaCy's command line; warnings are errors."""
    python = executable()

    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [python, "-W", "error", "-m", "spacy", *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            check=False,
            **options,
        )

    return run
