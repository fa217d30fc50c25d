"""The callbacks that keep and load the state of a training, without spaCy's loop."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from pipeline.made_up import CONFIG, sentences
from spacy.language import Language

from spacy_structreg.pipeline.checkpoint_callbacks import create_loader, create_saver


def pipeline(max_epochs: int = 5) -> Language:
    """A pipeline whose tokenizer has learned for one pass."""
    nlp = spacy.blank("zh", config=CONFIG)
    nlp.config["training"]["max_epochs"] = max_epochs
    return nlp


@pytest.fixture
def state(tmp_path: Path) -> Path:
    nlp, save = pipeline(), create_saver(str(tmp_path / "state"))
    for epoch in range(3):
        for step in range(2):
            save(nlp, {"step": 2 * epoch + step, "epoch": epoch})
            nlp.tokenizer.model.partial_fit(sentences(10))
    return tmp_path / "state"


def test_the_state_of_the_last_epoch_is_kept_and_loaded(state: Path) -> None:
    assert [str(path.relative_to(state)) for path in state.rglob("*")] == [
        "000002", "000002/tokenizer.srt"
    ]  # fmt: skip
    nlp = create_loader(str(state))(pipeline())
    assert nlp.config["training"]["max_epochs"] == 3
    expected = pipeline().tokenizer.model
    for _ in range(4):
        expected.partial_fit(sentences(10))
    assert nlp.tokenizer.model.to_bytes(state="training") == expected.to_bytes(state="training")
    # Epochs are those of both trainings.
    create_saver(str(state))(nlp, {"step": 2, "epoch": 1})
    assert [path.name for path in state.iterdir()] == ["000003"]


def test_without_a_path_nothing_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    nlp = pipeline()
    create_saver(None)(nlp, {"step": 9, "epoch": 3})
    assert create_loader(None)(nlp) is nlp
    assert list(tmp_path.iterdir()) == []


def test_states_that_cannot_go_on(state: Path, tmp_path: Path) -> None:
    def fault(nlp: Language, path: Path = state) -> str:
        with pytest.raises(ValueError, match=str(path)) as caught:
            create_loader(str(path))(nlp)
        assert not getattr(nlp.tokenizer, "model", None) or not nlp.tokenizer.model.is_trained
        return str(caught.value)

    assert "there is no state of a training" in fault(pipeline(), tmp_path / "none")
    assert "2 epochs are done; raise training.max_epochs" in fault(pipeline(max_epochs=2))
    assert "the pipeline has no model of that name" in fault(spacy.blank("zh"))
    file = state / "000002" / "tokenizer.srt"
    pipeline().tokenizer.model.fit(sentences(5)).save(file)
    assert "it is no state of a training, but a model" in fault(pipeline())
    file.write_bytes(file.read_bytes()[:-1])
    assert "tokenizer.srt" in fault(pipeline())


def test_a_state_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp = pipeline()
    nlp.tokenizer.model.partial_fit(sentences(5))

    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(nlp.tokenizer.model), "save", full)
    with pytest.raises(OSError, match="No space"):
        create_saver(str(tmp_path))(nlp, {"step": 1, "epoch": 1})
    assert list(tmp_path.iterdir()) == []
