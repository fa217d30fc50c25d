"""The task that the file of a model names, and models within others."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_up_corpora import tampered

from spacy_structreg.estimators.segmentation.character_segmenter import CharacterSegmenter
from spacy_structreg.estimators.segmentation.word_segmenter import WordSegmenter
from spacy_structreg.learn.model_file import parse_model
from spacy_structreg.models.stored_model import nested, unnested


def test_a_model_of_another_task(tmp_path: Path) -> None:
    words = WordSegmenter(epochs=1).fit([["大学", "生活"], ["学生"]])
    words.save(tmp_path / "m.srt")
    with pytest.raises(ValueError, match="task 'word_segmenter', not 'character_segmenter'"):
        CharacterSegmenter.load(tmp_path / "m.srt")
    with pytest.raises(ValueError, match="differ in task: "):
        CharacterSegmenter.average([CharacterSegmenter(), words])


@pytest.mark.parametrize("task", ["", "parser", "Character_segmenter"])
def test_unknown_tasks(task: str, small: CharacterSegmenter, tmp_path: Path) -> None:
    data = tampered(small.to_bytes(), lambda header, _: header.update(task=task))
    (tmp_path / "m.srt").write_bytes(data)
    with pytest.raises(ValueError, match=rf"m\.srt: .*{task!r}, not 'character_segmenter'"):
        CharacterSegmenter.load(tmp_path / "m.srt")


@pytest.mark.parametrize("task", [None, 1, b"character_segmenter", ["character_segmenter"]])
def test_tasks_that_are_none(task: object, small: CharacterSegmenter) -> None:
    data = tampered(small.to_bytes(), lambda header, _: header.update(task=task))
    with pytest.raises(ValueError, match="task"):
        CharacterSegmenter.from_bytes(data)


def test_a_model_within_another(small: CharacterSegmenter) -> None:
    """Its arrays travel under a prefix, and come back as they were."""
    header, arrays = small.contents()
    outer = {**nested("chain", arrays), **nested("chained", arrays), "0.keys": arrays["0.keys"]}
    assert set(outer) == {
        "0.keys", *(f"{prefix}.{name}" for prefix in ("chain", "chained") for name in arrays)
    }  # fmt: skip
    again = CharacterSegmenter.from_contents("model", header, unnested("chain", outer))
    assert again.to_bytes() == small.to_bytes()
    assert parse_model(small.to_bytes())[0] == header
