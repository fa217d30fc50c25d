"""Frozen models: of every kind, they predict as before, travel as before, and learn no more."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.learn.model_file import parse_model
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger
from spacy_structreg.models.segmentation import CharacterSegmenter
from spacy_structreg.models.tagging import Tagger

TREES = list(
    constituency_sentences(Path(__file__).parents[2] / "treebank/train/general.bracket", "ctb")
)[:24]
WORDS = [list(tree.words) for tree in TREES]
TAGGED = [list(zip(tree.words, tree.tags, strict=True)) for tree in TREES]
SHORT: Any = {"epochs": 2, "seed": 3}


def of_texts(model: Any) -> list[Any]:
    find = getattr(model, "predict_tagged", model.predict)
    return [find("".join(words)) for words in WORDS]


# A model that is not trained, its gold sentences, and what is predicted.
KINDS: dict[str, tuple[Any, list[Any], Callable[[Any], list[Any]]]] = {
    "characters": (CharacterSegmenter(**SHORT), WORDS, of_texts),
    "characters, tagged": (CharacterJointTagger(**SHORT), TAGGED, of_texts),
    "tagger": (Tagger(**SHORT), TAGGED, lambda m: [m.nbest(words, 2) for words in WORDS]),
    "dependencies": (DependencyParser(**SHORT), [tree.dependencies() for tree in TREES], list),
}


@cache
def trained(kind: str) -> Any:
    make, gold, _ = KINDS[kind]
    return make.untrained().fit(gold)


def predicted(kind: str, model: Any) -> list[Any]:
    return KINDS[kind][2](model)


def test_pruning_makes_models_smaller() -> None:
    sizes = [
        len(trained("dependencies").freeze(bits=8, prune=prune).to_bytes())
        for prune in (0.0, 0.5, 1.0, 1e9)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 4


@pytest.mark.parametrize("kind", ["tagger", "characters, tagged"])
def test_guides_are_frozen_too(kind: str, tmp_path: Path) -> None:
    """Those of taggers and of segmenters, which are stored within their models."""
    path = tmp_path / "guide.srt"
    trained(kind).save(path)
    model: Any
    if kind == "tagger":
        model = Tagger(guide=str(path), **SHORT).fit(TAGGED)
        expected = predicted(kind, model)
    else:
        model = CharacterSegmenter(guides=[str(path)], **SHORT).fit(WORDS)
        expected = of_texts(model)
    frozen = type(model).from_bytes(model.freeze(bits=32).to_bytes())
    assert (predicted(kind, frozen) if kind == "tagger" else of_texts(frozen)) == expected
    small = model.freeze(bits=8).to_bytes()
    _, arrays = parse_model(small)
    assert not [name for name in arrays if re.search(r"(^|\.)[0-9]+\.keys$", name)]
    assert [name for name in arrays if name.startswith(("guide.", "source0.")) and "cells" in name]
    # A frozen model can be the guide of another one.
    trained(kind).freeze(bits=32).save(path)
    again = type(model)(**{**model.settings.as_dict(), "learning": model.learning}).fit(
        TAGGED if kind == "tagger" else WORDS
    )
    assert (predicted(kind, again) if kind == "tagger" else of_texts(again)) == expected
