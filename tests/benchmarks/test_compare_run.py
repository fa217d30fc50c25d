"""Two commits compared: trees that are built, and the report."""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from benchmarks.compare import run as compare
from benchmarks.compare.trees import ROOT, built_tree, commit_of
from benchmarks.serving.run import of_pipeline
from spacy_structreg.corpora.formats.segmented import write_segmented
from spacy_structreg.models.segmentation import CharacterSegmenter

SETUP = """
from Cython.Build import cythonize
from setuptools import Extension, setup

if __name__ == "__main__":
    extension = Extension("spacy_structreg.answer", ["spacy_structreg/answer.pyx"])
    setup(name="made-up", packages=["spacy_structreg"], ext_modules=cythonize([extension]))
"""

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


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


def compiled(folder: Path) -> bytes:
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    return (folder / "spacy_structreg" / f"answer{suffix}").read_bytes()


@needs_git
@pytest.mark.slow
def test_what_is_the_same_is_not_compiled_again(repository: Path, tmp_path: Path) -> None:
    first = built_tree(commit_of("HEAD", repository), made(tmp_path / "first"), repository)
    # As if the working tree had compiled it; what nothing compiles shows where it comes from.
    for path in (first / "spacy_structreg").glob("answer*"):
        shutil.copy2(path, repository / "spacy_structreg")
    module = next(
        path for path in (repository / "spacy_structreg").glob("answer.*") if path.suffix in
        (".so", ".pyd")
    )  # fmt: skip
    module.write_bytes(compiled(first) + b"mark")
    same = commit(repository, "spacy_structreg/other.py", "x = 1\n")
    head = built_tree(same, made(tmp_path / "same"), repository)
    assert compiled(head) == compiled(first) + b"mark"
    assert (head / "spacy_structreg" / "other.py").exists()

    changed = commit(repository, "spacy_structreg/answer.pyx", "def answer(): return 42\n")
    # The working tree has the source, but not compiled it yet.
    head = built_tree(changed, made(tmp_path / "changed"), repository)
    assert not compiled(head).endswith(b"mark")
    # The base has the old source, and the working tree the new one.
    base = built_tree(same, made(tmp_path / "base"), repository)
    assert not compiled(base).endswith(b"mark")


@needs_git
def test_a_commit_that_does_not_compile_ends_the_run(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    broken = commit(repository, "setup.py", "raise SystemExit('the compiler is on strike')\n")
    scratch = made(tmp_path / "scratch")
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    text, pipeline = inputs(tmp_path)
    given = ["HEAD", "HEAD", "--pipelines", f"ours={pipeline}", f"--text={text}"]
    assert compare.main(given, repository) == 2
    told = capsys.readouterr().err
    assert f"error: {broken:.12} does not compile:\nthe compiler is on strike" in told
    assert list(scratch.iterdir()) == []
    assert compare.main(["v0.0", *given[1:]], repository) == 2
    assert "no commit 'v0.0' in this repository" in capsys.readouterr().err


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


def test_another_package_than_the_one_wanted_is_noticed(tmp_path: Path) -> None:
    _, pipeline = inputs(tmp_path)
    # A folder without a package: what is installed is found instead.
    served = of_pipeline("ours", pipeline, made(tmp_path / "empty"))
    with served.worker(None) as worker, pytest.raises(ValueError, match="another package"):
        compare.check_package(served, worker)


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
