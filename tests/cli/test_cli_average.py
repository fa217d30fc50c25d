"""`structreg average`: one pipeline out of several, written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy

from spacy_structreg.learn.model_file import parse_model
from spacy_structreg.models.segmentation import CharacterSegmenter


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


def weights(model: CharacterSegmenter) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in parse_model(model.to_bytes())[1].items()}


def contents(folder: Path) -> dict[str, bytes]:
    """All files under a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("arguments", [(), ("--mean", "plain"), ("-m", "nonzero")], ids=str)
def test_an_average(
    arguments: tuple[str, ...], trained: list[str], runs: Callable[..., str], tmp_path: Path
) -> None:
    written = tmp_path / "deep/down/averaged"
    printed = runs("average", *trained, written, *arguments)
    assert "Saved the average of 2 pipelines to " in printed
    models = [spacy.load(name).tokenizer.model for name in trained]
    mean = "plain" if "plain" in arguments else "nonzero"
    expected = weights(CharacterSegmenter.average(models, mean))
    assert weights(spacy.load(written).tokenizer.model) == expected
    assert expected not in map(weights, models)
    # Everything but the model is that of the first pipeline.
    first, made = contents(Path(trained[0])), contents(written)
    assert made.keys() == first.keys()
    assert {name for name in made if made[name] != first[name]} == {"tokenizer/model.srt"}


@pytest.mark.parametrize("force", [False, True])
def test_refusals_leave_all_as_it_was(
    *,
    force: bool,
    trained: list[str],
    untrained: str,
    characters: str,
    sentences: list[list[str]],
    fails: Callable[..., str],
    tmp_path: Path,
) -> None:
    """Whether or not there is an older output, which is to be replaced."""
    output = tmp_path / "averaged"
    other_labels = save_pipeline(tmp_path / "third", sentences, 3, scheme="six")
    if force:
        save_pipeline(output, sentences, 3)
    before = contents(tmp_path)
    for pipelines, message in (
        ([*trained, untrained], "has not been trained"),
        ([untrained, *trained], "has not been trained"),
        ([*trained, characters], "pipeline 3 has another tokenizer than the first"),
        ([characters, *trained], "the first pipeline has no model of spacy_structreg to average"),
        ([*trained, other_labels], "tokenizer: the models to average differ in labels: "),
    ):
        assert message in fails("average", *pipelines, output, *["--force"] * force)
        assert contents(tmp_path) == before
        assert {path.name for path in tmp_path.iterdir()} == {"third", *["averaged"] * force}
