"""Two commits compared: trees that are built, and the report."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks.compare import run as compare
from benchmarks.compare.trees import ROOT, commit_of
from spacy_structreg.corpora.formats.segmented import write_segmented
from spacy_structreg.models.segmentation import CharacterSegmenter

SETUP = """
from Cython.Build import cythonize
from setuptools import Extension, setup

if __name__ == "__main__":
    extension = Extension("spacy_structreg.answer", ["spacy_structreg/answer.pyx"])
    setup(name="made-up", packages=["spacy_structreg"], ext_modules=cythonize([extension]))
"""


def commit(folder: Path, name: str, text: str) -> str:
    """Write a file and commit it; the id of the commit."""
    (folder / name).write_text(text, encoding="utf-8")
    identity = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.org"]
    for command in (["add", name], [*identity, "commit", "--quiet", "--message", name]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return commit_of("HEAD", folder)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of a package with one module to compile."""
    folder = tmp_path / "repository"
    (folder / "spacy_structreg").mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    (folder / "setup.py").write_text(SETUP, encoding="utf-8")
    (folder / "spacy_structreg" / "__init__.py").touch()
    subprocess.run(["git", "add", "."], cwd=folder, check=True)
    commit(folder, "spacy_structreg/answer.pyx", "def answer(): return 41\n")
    return folder


@pytest.mark.slow
def test_ratios_are_of_two_packages_in_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tree(commit: str, folder: Path, repository: Path) -> Path:
        return ROOT

    monkeypatch.setattr(compare, "built_tree", tree)
    text, pipeline = inputs(tmp_path)
    given = [
        *(".", ".", "--pipelines", f"ours={pipeline}", f"--text={text}", f"--output={tmp_path}"),
        *("--quick", "--kinds=lists,make_doc,parser", "--batch=10", "--rounds=3"),
    ]
    assert compare.main(given) == 0
    path = tmp_path / "compare-working_tree-working_tree.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    assert [result["kind"] for result in data["results"]] == ["lists", "make_doc"]
    for result in data["results"]:
        assert result["ratios"] == [
            head / base for base, head in zip(result["base"], result["head"], strict=True)
        ]
        assert len(result["ratios"]) == 3
    markdown = path.with_suffix(".md").read_text(encoding="utf-8")
    assert "| ours | lists of words, a batch a call, characters |" in markdown


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def inputs(folder: Path) -> tuple[Path, Path]:
    """A text and a pipeline that segments."""
    import spacy

    sentences = [["海鸥", "飞过", "码头"], ["渔船", "离开", "灯塔"]] * 10
    write_segmented(folder / "text.txt", sentences)
    model = {"@architectures": "spacy_structreg.CharacterSegmenter.v1"}
    tokenizer = {"@tokenizers": "spacy_structreg.Segmenter.v1", "model": model}
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    assert isinstance(nlp.tokenizer.model, CharacterSegmenter)
    nlp.tokenizer.model.fit(sentences)
    nlp.to_disk(folder / "pipeline")
    return folder / "text.txt", folder / "pipeline"
