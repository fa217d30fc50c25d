"""Constructor, header, registered function, config and table of a model are of the same settings.

All follow from one class; here they are held to each other, and to what is wrong from every door.
"""

from __future__ import annotations

import inspect
import json
import math
from typing import Any

import pytest
from confection import Config
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from settings_tables import documented_classes, model_classes, settings_table
from spacy.util import registry

from spacy_structreg.learn.setting_fields import (
    Settings,
    defaults_of,
    described,
    hints_of,
    literals_of,
    members_of,
    plain,
)
from spacy_structreg.models.model_ensemble import ModelEnsemble
from spacy_structreg.models.settings import MAX_BEAM
from spacy_structreg.models.tagging import Tagger, TaggerSettings
from spacy_structreg.pipeline.setting_texts import config_block

MODELS = model_classes()
REGISTERED = {
    name: model
    for name, model in MODELS.items()
    if f"spacy_structreg.{name}.v1" in registry.architectures.get_all()
}
TRAINED = {name: model for name, model in MODELS.items() if not issubclass(model, ModelEnsemble)}
CLASSES = documented_classes()
EVERY = looped("name", CLASSES)
EVERY_MODEL = looped("name", MODELS)


def function(name: str) -> Any:
    """The registered function of a class."""
    kind = registry.misc if name in ("Learning", "LogLinear") else registry.architectures
    return kind.get(f"spacy_structreg.{name}.v1")


def test_every_model_is_documented() -> None:
    assert {"Learning", "LogLinear", *MODELS} == set(CLASSES)


def wrong_values(settings: type[Settings], name: str) -> list[Any]:
    """Values that a setting cannot have, by its type and range."""
    about, hint = dict(described(settings))[name], hints_of(settings)[name]
    kinds = members_of(hint)
    wrong: list[Any] = [object()]
    if literals_of(kinds) or about.choices:
        wrong += ["no such choice", 7]
    if bool in kinds:
        wrong += [1, 0, "true"]
    if int in kinds:
        wrong += [about.minimum - 1, about.maximum + 1, 1.5, True, "1"]
    if float in kinds:
        wrong += [about.minimum - 1, about.below, math.nan, math.inf, "1.0", True]
        wrong += [about.minimum] if about.open_below else []
    if type(None) not in kinds:
        wrong.append(None)
    return wrong


@EVERY_MODEL
def test_constructors(name: str) -> None:
    model = MODELS[name]
    parameters = inspect.signature(model).parameters
    assert {key: p.default for key, p in parameters.items()} == defaults_of(model.SETTINGS)
    made = model()
    assert all(getattr(made, key) is getattr(made.settings, key) for key in parameters)
    with pytest.raises(TypeError, match="nonsense"):
        model(nonsense=1)


@EVERY_MODEL
def test_headers(name: str) -> None:
    model = MODELS[name]
    made = model()
    written = json.loads(json.dumps(made.settings.as_dict()))
    assert list(written)
    assert set(written) == set(inspect.signature(model).parameters)
    again = model.of(model.SETTINGS.from_dict(written))
    assert again.settings.as_dict() == written
    for key in written:
        with pytest.raises(ValueError, match="settings of"):
            model.SETTINGS.from_dict({k: v for k, v in written.items() if k != key})


@looped("name", [*REGISTERED, "Learning", "LogLinear"])
def test_registered_functions(name: str) -> None:
    settings = CLASSES[name]
    parameters = inspect.signature(function(name)).parameters
    expected = {k: plain(v) for k, v in defaults_of(settings, in_config=True).items()}
    assert {key: p.default for key, p in parameters.items()} == expected
    assert {key: p.annotation for key, p in parameters.items()} == {
        key: hints_of(settings)[key] for key in parameters
    }


@looped("name", REGISTERED)
def test_config_blocks(name: str) -> None:
    model = REGISTERED[name]
    text = config_block("part.model", model)
    block = Config().from_str("[part]\n" + text)["part"]["model"]
    assert block.pop("@architectures") == f"spacy_structreg.{name}.v1"
    expected = {k: plain(v) for k, v in defaults_of(model.SETTINGS, in_config=True).items()}
    assert set(block) == set(expected)
    if name in TRAINED:
        learning = block.pop("learning")
        learned = CLASSES[learning.pop("@misc").split(".")[1]].from_dict(learning)
        assert learned == model(seed=0).learning
        del expected["learning"]
    assert block == expected
    comments = " ".join(line[2:] for line in text.splitlines() if line.startswith("# "))
    assert all(about.doc in comments for _, about in described(model.SETTINGS) if about.in_config)
    assert max(map(len, text.splitlines())) <= 100


@EVERY
def test_tables(name: str) -> None:
    rows = settings_table(CLASSES[name]).splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == [key for key, _ in described(CLASSES[name])]
    for row, (_, about) in zip(rows, described(CLASSES[name]), strict=True):
        assert about.doc.replace("|", "\\|") in row
        assert row.replace("\\|", "").count("|") == 5
        assert "\n" not in about.doc
        assert about.doc.endswith(".")


# What is wrong, from every door -------------------------------------------------------------------


@EVERY
def test_wrong_values(name: str) -> None:
    settings = CLASSES[name]
    for key, _ in described(settings):
        for value in wrong_values(settings, key):
            with pytest.raises(ValueError, match=rf"^{key}\b.* must be "):
                settings(**{key: value})


@looped("name", TRAINED)
def test_wrong_values_in_headers_and_configs(name: str) -> None:
    model = TRAINED[name]
    written = model().settings.as_dict()
    for key in ("epochs", "mean"):
        for value in wrong_values(model.SETTINGS, key):
            header = {
                "task": model.KIND,
                "state": "trained",
                "features": model.FEATURES,
                "settings": {**written, key: value},
            }
            with pytest.raises(
                ValueError, match=f"^a file: the model cannot be used: {key} must be "
            ):
                model.from_contents("a file", header, {})
            with pytest.raises(ValueError, match=f"^{key} must be "):
                model(**{key: value})
    if name in REGISTERED:
        with pytest.raises(ValueError, match=r"seed must be at least 0.*, got -1"):
            function(name)(seed=-1)
        block = {"@architectures": f"spacy_structreg.{name}.v1", "seed": "much"}
        with pytest.raises(ValueError, match="seed"):
            registry.resolve({"model": block})


@given(st.one_of(st.none(), st.integers(), st.floats(), st.text(), st.booleans()))
def test_any_beam(value: Any) -> None:
    fits = value is None or (type(value) is int and 1 <= value <= MAX_BEAM)
    if fits:
        assert TaggerSettings(beam=value).beam == value
    else:
        with pytest.raises(ValueError, match=r"^beam must be "):
            TaggerSettings(beam=value)


def test_attributes_are_checked_when_they_are_changed() -> None:
    model = Tagger()
    model.epochs = 3
    assert model.settings.epochs == model.epochs == 3
    with pytest.raises(ValueError, match=r"epochs must be at least 1.*, got 0"):
        model.epochs = 0
    assert model.untrained().epochs == 3


# A setting is one line ----------------------------------------------------------------------------
