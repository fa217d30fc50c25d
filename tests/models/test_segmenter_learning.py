"""Settings of learning in the segmenter: in checkpoints and in configs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spacy
from confection import ConfigValidationError
from crafted import tampered
from spacy.language import Language

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.models.segmentation import (
    DEFAULT_LEARNING,
    CharacterSegmenter,
)

Corpus = list[list[str]]


def test_checkpoints_need_the_debts_of_cumulative_l1(train: Corpus, tmp_path: Path) -> None:
    """And no others: what is owed belongs to this penalty alone."""
    for learning, change in [
        (Learning(cumulative_l1=1e-3), lambda _, arrays: arrays.pop("1.debts")),
        (Learning(), lambda _, arrays: arrays.update({"1.debts": arrays["1.sums"]})),
    ]:
        segmenter = CharacterSegmenter(learning=learning).partial_fit(train[:5])
        path = tmp_path / "checkpoint.srt"
        segmenter.save(path, state="training")
        path.write_bytes(tampered(path.read_bytes(), change))
        with pytest.raises(ValueError, match=r"checkpoint\.srt: .*table 1 of its weights"):
            CharacterSegmenter.load(path)


LEARNING = {
    "algorithm": "pa_ii",
    "aggressiveness": 0.25,
    "l1": 0.001,
    "l2": 0.0001,
    "dropout": 0.03,
    "hidden_dropout": 0.1,
    "mini_sample": 5.5,
    "clock": "mistakes",
}


def pipeline(learning: dict[str, Any] | None) -> Language:
    """A pipeline of a segmenter whose config has, or has not, a block of learning."""
    model: dict[str, Any] = {"@architectures": "spacy_structreg.CharacterSegmenter.v1", "seed": 3}
    if learning is not None:
        model["learning"] = {"@misc": "spacy_structreg.Learning.v1", **learning}
    tokenizer = {"@tokenizers": "spacy_structreg.Segmenter.v1", "model": model}
    return spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})


def test_a_config_reaches_the_model(train: Corpus, tmp_path: Path) -> None:
    nlp = pipeline(LEARNING)
    expected = Learning(**LEARNING)
    assert nlp.tokenizer.model.learning == expected
    nlp.tokenizer.model.fit(train)
    by_hand = CharacterSegmenter(learning=expected, seed=3).fit(train)
    assert nlp.tokenizer.model.to_bytes() == by_hand.to_bytes()
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert again.config["nlp"]["tokenizer"]["model"]["learning"]["mini_sample"] == 5.5
    assert again.tokenizer.model.learning == expected
    # What it does not name is as `Learning` has it, and without a block as the model has it.
    assert pipeline({}).tokenizer.model.learning == Learning()
    assert pipeline(None).tokenizer.model.learning == DEFAULT_LEARNING


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"l2": 2.0}, ValueError),
        ({"cumulative_l1": 0.1}, ValueError),
        ({"clock": "epochs"}, ValueError),
        ({"algorithm": "mira"}, ConfigValidationError),
        ({"dropout": "much"}, ConfigValidationError),
        ({"l3": 0.1}, ConfigValidationError),
    ],
)
def test_configs_that_are_refused(change: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(change))):
        pipeline({**LEARNING, **change})
