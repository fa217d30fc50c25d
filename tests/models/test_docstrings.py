"""The examples in docstrings of what the package exports: they run, and give what they say."""

from __future__ import annotations

import doctest
import inspect
from typing import Any

from looped import looped

import spacy_structreg
from spacy_structreg.models.base_model import BaseModel
from spacy_structreg.models.raw_text import RawTextPredictor
from spacy_structreg.models.stored_model import StoredModel

MODELS = [name for name in spacy_structreg.__all__ if name[0].isupper()]
METHODS = [
    (BaseModel, "fit"),
    (BaseModel, "partial_fit"),
    (StoredModel, "save"),
    (StoredModel, "freeze"),
    (RawTextPredictor, "predict"),
    (RawTextPredictor, "predict_stream"),
    (RawTextPredictor, "nbest"),
    (RawTextPredictor, "explain"),
]


@looped(
    "thing",
    [getattr(*each) for each in METHODS] + [getattr(spacy_structreg, name) for name in MODELS],
)
def test_examples_of_docstrings(thing: Any) -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(thing, thing.__qualname__)
    assert example.examples, f"{thing.__qualname__} has no example"
    results = doctest.DocTestRunner().run(example)
    assert results.failed == 0


@looped(("owner", "name"), METHODS)
def test_parameters_are_those_of_the_method(owner: Any, name: str) -> None:
    text = inspect.getdoc(getattr(owner, name)) or ""
    section = text.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    named = [
        each
        for line in section.splitlines()
        if line and not line.startswith(" ")
        for each in line.partition(" : ")[0].split(", ")
    ]
    parameters = [*inspect.signature(getattr(owner, name)).parameters]
    assert named == [each for each in parameters if each != "self"]


@looped("name", [name for name in MODELS if hasattr(getattr(spacy_structreg, name), "SETTINGS")])
def test_docstrings_of_models_name_their_settings_before_the_examples(name: str) -> None:
    model = getattr(spacy_structreg, name)
    text = inspect.getdoc(model) or ""
    for heading in ("Parameters\n----------\n", "Raises\n------\n", "Examples\n--------\n"):
        assert text.count(heading) == 1
        before, _, text = text.partition(heading)
        assert before.endswith("\n\n")
        if heading.startswith("Raises"):
            assert before == f"**settings\n    The fields of `{model.SETTINGS.__name__}`.\n\n"
