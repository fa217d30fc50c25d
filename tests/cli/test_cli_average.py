"""`structreg average`: one pipeline out of several, written whole or not at all."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
from click.testing import Result

from spacy_structreg.cli.average import average
from spacy_structreg.corpora import folders
from spacy_structreg.learn.model_file import parse_model
from spacy_structreg.models.segmentation import CharacterSegmenter

Command = Callable[..., "subprocess.CompletedProcess[bytes]"]
Fails = Callable[..., str]
Invoke = Callable[..., Result]


def save_pipeline(folder: Path, sentences: list[list[str]], seed: int, **settings: Any) -> str:
    model = {"@architectures": "spacy_structreg.CharacterSegmenter.v1", "seed": seed, **settings}
    tokenizer = {"@tokenizers": "spacy_structreg.Segmenter.v1", "model": model}
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    nlp.meta["name"] = folder.name
    nlp.add_pipe("sentencizer", config={"punct_chars": ["。"]})
    for _ in range(2):
        nlp.tokenizer.model.partial_fit(sentences)
    nlp.to_disk(folder)
    return str(folder)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, sentences: list[list[str]]) -> list[str]:
    """Two pipelines that were trained alike, with different seeds."""
    folder = tmp_path_factory.mktemp("trained")
    return [save_pipeline(folder / f"seed_{seed}", sentences, seed) for seed in (1, 2)]


def model_of(folder: str | Path) -> CharacterSegmenter:
    model: CharacterSegmenter = spacy.load(folder).tokenizer.model
    return model


def weights(model: CharacterSegmenter) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in parse_model(model.to_bytes())[1].items()}


def contents(folder: Path) -> dict[str, bytes]:
    """All files under a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [(), ("--mean", "plain"), ("-m", "nonzero")], ids=str)
def test_for_real(
    arguments: tuple[str, ...], trained: list[str], command: Command, tmp_path: Path
) -> None:
    done = command("structreg", "average", *trained, "deep/down/averaged", *arguments)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Saved the average of 2 pipelines to " in done.stdout
    mean = "plain" if "plain" in arguments else "nonzero"
    expected = CharacterSegmenter.average([model_of(name) for name in trained], mean)
    written = tmp_path / "deep" / "down" / "averaged"
    assert weights(model_of(written)) == weights(expected)
    assert weights(expected) not in [weights(model_of(name)) for name in trained]
    assert [path.name for path in written.parent.iterdir()] == ["averaged"]
    # Everything but the model is that of the first pipeline, and the pipeline works.
    first = contents(Path(trained[0]))
    differing = {name for name, data in contents(written).items() if first.get(name) != data}
    assert contents(written).keys() == first.keys()
    assert differing == {"tokenizer/model.srt"}
    segmented = command("structreg", "segment", str(written), input="老师在公园。\n".encode())
    assert segmented.returncode == 0
    assert segmented.stdout.decode().split() == model_of(written).predict("老师在公园。")


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX here")
def test_the_folder_has_ordinary_permissions(trained: list[str], tmp_path: Path) -> None:
    average(trained, tmp_path / "averaged")
    (tmp_path / "made").mkdir()
    assert (tmp_path / "averaged").stat().st_mode == (tmp_path / "made").stat().st_mode


def test_what_is_no_pipeline_is_not_replaced(
    trained: list[str], fails: Fails, invoke: Invoke, tmp_path: Path
) -> None:
    """Not even by force; an empty folder is."""
    folder, file, empty = (tmp_path / name for name in ("folder", "file", "empty"))
    folder.mkdir()
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    file.write_text("mine", encoding="utf-8")
    for output in (folder, file):
        message = fails("average", *trained, output, "--force")
        assert message == f"{output} is no pipeline, and is not replaced; name another folder"
    assert contents(tmp_path) == {f"folder{os.sep}notes.txt": b"mine", "file": b"mine"}
    empty.mkdir()
    assert invoke("average", *trained, empty, "--force").exit_code == 0
    assert model_of(empty).is_trained


# Refusals: each ends with one line and leaves all as it was, neither half a pipeline nor none ---

Refuses = Callable[..., str]


@pytest.fixture(params=["new", "force"])
def refuses(
    request: pytest.FixtureRequest, sentences: list[list[str]], fails: Fails, tmp_path: Path
) -> Refuses:
    """The message that pipelines are refused with, whether or not there is an older output."""
    output = tmp_path / "out" / "averaged"
    force = ["--force"] if request.param == "force" else []
    output.parent.mkdir()
    if force:
        save_pipeline(output, sentences, 3)
    before = [*map(str, sorted(tmp_path.rglob("*"))), contents(tmp_path)]

    def run(*pipelines: str | Path) -> str:
        message = fails("average", *pipelines, output, *force)
        assert [*map(str, sorted(tmp_path.rglob("*"))), contents(tmp_path)] == before
        return message

    return run


@pytest.fixture
def third(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place for one more pipeline."""
    return tmp_path_factory.mktemp("third") / "pipeline"


def test_an_untrained_pipeline(trained: list[str], untrained: str, refuses: Refuses) -> None:
    for order in ([*trained, untrained], [untrained, *trained]):
        message = refuses(*order)
        assert message.startswith("the tokenizer of pipeline ")
        assert "has not been trained" in message


def test_another_tokenizer(trained: list[str], characters: str, refuses: Refuses) -> None:
    assert refuses(*trained, characters) == "pipeline 3 has another tokenizer than the first"
    message = "the first pipeline has no model of spacy_structreg to average"
    assert refuses(characters, *trained) == message


def test_other_labels(
    trained: list[str], sentences: list[list[str]], refuses: Refuses, third: Path
) -> None:
    message = refuses(*trained, save_pipeline(third, sentences, 3, scheme="six"))
    assert message.startswith("tokenizer: the models to average differ in labels: ")


def test_what_was_there_survives_a_move_that_fails(
    trained: list[str],
    sentences: list[list[str]],
    fails: Fails,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where names cannot be exchanged, the old folder has stepped aside already."""
    output = tmp_path / "averaged"
    save_pipeline(output, sentences, 3)
    before = contents(tmp_path)
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if self.name == "whole":
            raise OSError(13, "Permission denied", str(target))
        return rename(self, target)

    monkeypatch.setattr(folders, "_exchange", lambda one, other: False)
    monkeypatch.setattr(Path, "rename", refuse)
    assert "Permission denied" in fails("average", *trained, output, "--force")
    assert contents(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["averaged"]
