"""Settings of learning in the segmenter: repeatable, kept in files, reached by configs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spacy
from confection import ConfigValidationError
from crafted import tampered
from made_up_corpora import arrays_of
from spacy.util import load_config_from_str

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.models.segmentation import (
    DEFAULT_LEARNING,
    DEFAULT_LEARNING_OF_MANY,
    CharacterSegmenter,
)

Corpus = list[list[str]]

# Every setting once at least.
LEARNING = [
    Learning(),
    Learning(l2=1e-4),
    Learning(l1=1e-3, l2=1e-4),
    Learning(cumulative_l1=1e-4),
    Learning(dropout=0.1),
    Learning(hidden_dropout=0.1, mini_sample=3.5),
    Learning(algorithm="pa", clock="epochs"),
    Learning(algorithm="pa_i", aggressiveness=0.1, mini_sample=5.0, dropout=0.05),
    Learning(algorithm="pa_ii", aggressiveness=0.5, clock="mistakes", l2=1e-4),
]


def test_what_is_not_set_changes_no_byte(train: Corpus) -> None:
    """Noise of rate 0, and pieces longer than any sentence, are plain training."""
    plain = arrays_of(CharacterSegmenter(learning=Learning(), epochs=3).fit(train))
    longest = max(len("".join(words)) for words in train)
    for learning in (
        Learning(dropout=0.0, hidden_dropout=0.0, l1=0.0, l2=0.0, cumulative_l1=0.0),
        Learning(mini_sample=longest),
        Learning(mini_sample=1e5),
    ):
        assert arrays_of(CharacterSegmenter(learning=learning, epochs=3).fit(train)) == plain
    for learning in LEARNING[1:]:
        assert arrays_of(CharacterSegmenter(learning=learning, epochs=3).fit(train)) != plain


def test_defaults_depend_on_how_many_models_there_are() -> None:
    assert CharacterSegmenter().learning is DEFAULT_LEARNING
    assert CharacterSegmenter(n_models=2).learning is DEFAULT_LEARNING_OF_MANY
    assert CharacterSegmenter(n_models=2, learning=LEARNING[1]).learning is LEARNING[1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scheme": "bio"}, "scheme must be one of bmes, six.*, got 'bio'"),
        ({"mean": "median"}, "mean must be one of nonzero, plain.*, got 'median'"),
        ({"n_models": 0}, "n_models must be at least 1.*, got 0"),
        ({"n_models": 1.5}, "n_models must be an integer, got 1.5"),
        ({"n_models": True}, "n_models must be an integer, got True"),
    ],
    ids=str,
)
def test_settings_that_do_not_exist(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CharacterSegmenter(**settings)


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


# Configs ------------------------------------------------------------------------------------------

CONFIG = """
[nlp]
lang = "zh"

[nlp.tokenizer]
@tokenizers = "spacy_structreg.Segmenter.v1"

[nlp.tokenizer.model]
@architectures = "spacy_structreg.CharacterSegmenter.v1"
scheme = "six"
seed = 3

[nlp.tokenizer.model.learning]
@misc = "spacy_structreg.Learning.v1"
algorithm = "pa_ii"
aggressiveness = 0.25
l1 = 0.001
l2 = 0.0001
dropout = 0.03
hidden_dropout = 0.1
mini_sample = 5.5
clock = "mistakes"
"""
EXPECTED = Learning(
    algorithm="pa_ii",
    aggressiveness=0.25,
    l1=0.001,
    l2=0.0001,
    dropout=0.03,
    hidden_dropout=0.1,
    mini_sample=5.5,
    clock="mistakes",
)


def test_a_config_reaches_the_model(train: Corpus, tmp_path: Path) -> None:
    nlp = spacy.util.load_model_from_config(load_config_from_str(CONFIG), auto_fill=True)
    model = nlp.tokenizer.model
    assert (model.learning, model.scheme, model.seed) == (EXPECTED, "six", 3)
    assert nlp.config["nlp"]["tokenizer"]["model"]["learning"]["mini_sample"] == 5.5
    model.fit(train)
    by_hand = CharacterSegmenter(learning=EXPECTED, scheme="six", seed=3).fit(train)
    assert model.to_bytes() == by_hand.to_bytes()
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert again.tokenizer.model.learning == EXPECTED
    assert again.tokenizer.model.to_bytes() == by_hand.to_bytes()


def test_a_config_that_names_learning_alone_gets_its_defaults() -> None:
    learning = {"@misc": "spacy_structreg.Learning.v1"}
    model = {"@architectures": "spacy_structreg.CharacterSegmenter.v1", "learning": learning}
    tokenizer = {"@tokenizers": "spacy_structreg.Segmenter.v1", "model": model}
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    assert nlp.tokenizer.model.learning == Learning()
    del model["learning"]
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    assert nlp.tokenizer.model.learning == DEFAULT_LEARNING


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("l2 = 2.0", ValueError),
        ("cumulative_l1 = 0.1", ValueError),
        ('clock = "epochs"', ValueError),
        ('algorithm = "mira"', ConfigValidationError),
        ('dropout = "much"', ConfigValidationError),
        ("l3 = 0.1", ConfigValidationError),
    ],
)
def test_configs_that_are_refused(line: str, error: type[Exception]) -> None:
    name = line.split(maxsplit=1)[0]
    kept = [row for row in CONFIG.splitlines() if not row.startswith(f"{name} =")]
    config = load_config_from_str("\n".join([*kept, line]))
    with pytest.raises(error, match=name):
        spacy.util.load_model_from_config(config, auto_fill=True)
