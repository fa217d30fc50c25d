"""The tables of docs/settings.md: every setting of every model and pipe, with its default."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import spacy
from docs.pages import ROOT

from spacy_structreg.learn.setting_fields import described
from spacy_structreg.pipeline.setting_texts import documented_classes, with_tables

NLP = spacy.blank("xx")
TEXT = (ROOT / "docs/settings.md").read_text("utf-8")
PIPES = dict(re.findall(r"<!-- pipe:(\w+) -->\n(.*?)<!-- /pipe -->", TEXT, re.DOTALL))
ROW = re.compile(r"^\| `(\w+)` \| (.+) \| `(.+)` \|$", re.MULTILINE)
# The same settings as those of another model.
WITHOUT = {"GuidedJointTagger"}


def settings(pipe: str) -> dict[str, Any]:
    """The settings of a pipe with their defaults, but for those that all pipes have."""
    found = NLP.get_factory_meta(pipe).default_config
    return {key: value for key, value in found.items() if key not in ("model", "scorer")}


def test_the_tables_of_models_are_made_of_their_settings() -> None:
    assert with_tables(TEXT, documented_classes()) == TEXT, (
        "run: python -m spacy_structreg.pipeline.setting_texts docs/settings.md"
    )


def test_every_registered_model_has_a_table() -> None:
    prefix = "spacy_structreg."
    names = spacy.registry.architectures.get_all()
    models = {name.split(".")[1] for name in names if name.startswith(prefix)}
    assert {"CharacterSegmenter", "TextClassifier"} <= models
    tables = re.findall(r"<!-- settings:(\w+) -->", TEXT)
    assert set(tables) == {"Learning", "LogLinear", *models} - WITHOUT
    classes = documented_classes()
    guided = [
        [name for name, _ in described(classes[model])]
        for model in ("GuidedSegmenter", "GuidedJointTagger")
    ]
    assert guided[0] == guided[1]


@pytest.mark.parametrize("pipe", PIPES)
def test_a_table_of_a_pipe_has_all_settings_with_their_defaults(pipe: str) -> None:
    rows = {setting: json.loads(default) for setting, _, default in ROW.findall(PIPES[pipe])}
    assert rows == settings(pipe)
    assert len(rows) == PIPES[pipe].count("\n") - 2


def test_every_pipe_with_settings_has_a_table() -> None:
    pipes = {name for name in NLP.factory_names if name.startswith("structreg_")}
    assert set(PIPES) == {name for name in pipes if settings(name)}
