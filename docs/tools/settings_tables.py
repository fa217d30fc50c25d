"""Tables of settings for the reference."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pkgutil import walk_packages
from types import NoneType
from typing import Any, Final, get_args, get_origin

from spacy_structreg import models
from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.learn.setting_fields import (
    MAX_INT,
    Setting,
    Settings,
    defaults_of,
    described,
    hints_of,
    literals_of,
    members_of,
    plain,
)
from spacy_structreg.models.stored_model import StoredModel

_TYPES: Final = {bool: "true, false", str: "a string"}


def settings_table(settings: type[Settings]) -> str:
    """The settings of a class as a table in Markdown: name, values, default and documentation."""
    defaults, of_configs = defaults_of(settings), defaults_of(settings, in_config=True)
    hints = hints_of(settings)
    rows = ["| setting | values | default | |", "|---|---|---|---|"]
    for name, about in described(settings):
        default = f"`{json.dumps(plain(defaults[name]))}`"
        if name not in of_configs:
            default += ", not in configs"
        elif of_configs[name] != defaults[name]:
            default += f", `{json.dumps(plain(of_configs[name]))}` in configs"
        cells = (f"`{name}`", values_text(about, hints[name]), default, about.doc)
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(rows) + "\n"


def values_text(about: Setting, hint: Any) -> str:
    """The values that a setting may have, in words. hint: its type."""
    kinds = members_of(hint)
    texts = [f'`"{choice}"`' for choice in (*literals_of(kinds), *about.choices)]
    for kind in kinds:
        if kind is int:
            most = "" if about.maximum == MAX_INT else f" to {about.maximum:,}"
            texts.append(f"{about.minimum:g}{most}" if most else f"≥ {about.minimum:g}")
        elif kind is float:
            low = f"{'>' if about.open_below else '≥'} {about.minimum:g}"
            texts.append(low if about.below == float("inf") else f"{low}, < {about.below:,.12g}")
        elif kind is str and about.choices:
            continue
        elif kind in _TYPES:
            texts.append(_TYPES[kind])
        elif kind is NoneType:
            texts.append("`null`")
        elif get_origin(kind) is Mapping:
            texts.append(f"{'strings' if get_args(kind)[1] is str else 'lists'} by name")
        elif get_origin(kind) is None:
            texts.append(f"`{kind.__name__}`")
        elif choices := literals_of(get_args(kind)):
            texts.append("a list of " + ", ".join(f'`"{choice}"`' for choice in choices))
        elif not literals_of([kind]):
            texts.append(
                "a list of whole numbers" if int in get_args(kind) else "a list of strings"
            )
    return ", ".join(texts)


def model_classes() -> dict[str, type[StoredModel]]:
    """All classes of models, by their names."""
    return {
        name: value
        for module in walk_packages(models.__path__, f"{models.__name__}.")
        for name, value in vars(import_module(module.name)).items()
        # Python 3.10 takes list[int], too, for a class.
        if StoredModel in getattr(value, "__mro__", ()) and "KIND" in vars(value)
    }


def documented_classes() -> dict[str, type[Settings]]:
    """All classes of settings, by the names of what they are settings of."""
    of_models = {name: model.SETTINGS for name, model in model_classes().items()}
    return {"Learning": Learning, "LogLinear": LogLinear, **of_models}
