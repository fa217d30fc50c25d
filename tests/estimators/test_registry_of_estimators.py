"""Models from files whose task is not known beforehand."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_up_corpora import tampered

from spacy_structreg.estimators.character_segmenter import CharacterSegmenter
from spacy_structreg.estimators.registry import ESTIMATORS, load_estimator
from spacy_structreg.estimators.stored import nested, unnested
from spacy_structreg.estimators.word_segmenter import WordSegmenter
from spacy_structreg.learn.model_file import parse_model


def test_the_class_is_that_of_the_task(small: CharacterSegmenter, tmp_path: Path) -> None:
    path = tmp_path / "m.srt"
    small.save(path)
    for source in (path, str(path), small.to_bytes()):
        model = load_estimator(source)
        assert type(model) is CharacterSegmenter
        assert model.to_bytes() == small.to_bytes()
    # Mapped, so that saving over the file has to let go of it.
    load_estimator(path).save(path)
    assert path.read_bytes() == small.to_bytes()


def test_a_model_of_another_task(tmp_path: Path) -> None:
    words = WordSegmenter(epochs=1).fit([["大学", "生活"], ["学生"]])
    words.save(tmp_path / "m.srt")
    assert type(load_estimator(tmp_path / "m.srt")) is WordSegmenter
    with pytest.raises(ValueError, match="task 'word_segmenter', not 'character_segmenter'"):
        CharacterSegmenter.load(tmp_path / "m.srt")
    with pytest.raises(ValueError, match="differ in task: "):
        CharacterSegmenter.average([CharacterSegmenter(), words])


def test_tasks_have_classes_of_their_own() -> None:
    assert ESTIMATORS["character_segmenter"] is CharacterSegmenter
    assert all(task == cls.TASK for task, cls in ESTIMATORS.items())


@pytest.mark.parametrize("task", ["", "parser", "Character_segmenter"])
def test_unknown_tasks(task: str, small: CharacterSegmenter, tmp_path: Path) -> None:
    data = tampered(small.to_bytes(), lambda header, _: header.update(task=task))
    path = tmp_path / "m.srt"
    path.write_bytes(data)
    for source, name in ((data, "model"), (path, "m.srt")):
        with pytest.raises(ValueError, match=f"{name}: .*{task!r}.* knows .*character_segmenter"):
            load_estimator(source)


@pytest.mark.parametrize("task", [None, 1, b"character_segmenter", ["character_segmenter"]])
def test_tasks_that_are_none(task: object, small: CharacterSegmenter) -> None:
    data = tampered(small.to_bytes(), lambda header, _: header.update(task=task))
    with pytest.raises(ValueError, match=r"^model: .*'task'"):
        load_estimator(data)


def test_damage(small: CharacterSegmenter, tmp_path: Path) -> None:
    path = tmp_path / "m.srt"
    for data in (b"", b"no model", small.to_bytes()[:-1]):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"m\.srt: "):
            load_estimator(path)
        with pytest.raises(ValueError, match=r"^model: "):
            load_estimator(data)


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
