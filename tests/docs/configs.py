"""Blocks of configs on pages, laid over the config that `init-config` writes for their task."""

from __future__ import annotations

import re
from typing import Any

import spacy
from docs.pages import Block
from docs.stand_in import structreg
from spacy.language import Language
from thinc.api import Config


def pipeline_of(block: Block) -> Language:
    """The pipeline of the config of a task, with a block laid over it. Writes into this folder."""
    structreg("init-config", f"{block.value}.cfg", "--task", block.value, "--lang", "zh", "--force")
    config = Config().from_disk(f"{block.value}.cfg", interpolate=False)
    sections = re.findall(r"^\[(.+)\]$", block.text, re.M)
    # Sections above those of the block are there, but have to be named before them.
    above = {
        ".".join(name.split(".")[:n]) for name in sections for n in range(1, name.count(".") + 1)
    }
    text = "".join(f"[{name}]\n" for name in sorted(above - {*sections})) + block.text
    _merge(config, Config().from_str(text, interpolate=False))
    return spacy.util.load_model_from_config(config.interpolate(), auto_fill=False, validate=True)


def _merge(config: dict[str, Any], given: dict[str, Any]) -> None:
    for name, value in given.items():
        there = config.get(name)
        # A block that names its function has its own arguments.
        if isinstance(value, dict) and isinstance(there, dict) and not _names_function(value):
            _merge(there, value)
        else:
            config[name] = value


def _names_function(section: dict[str, Any]) -> bool:
    return any(name.startswith("@") for name in section)
