"""Frozen models: pruning, and models within models; what all promise is in `tests/contract`."""

from __future__ import annotations

import re
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


def test_pruning_makes_models_smaller() -> None:
    model = DependencyParser(**SHORT).fit([tree.dependencies() for tree in TREES])
    sizes = [len(model.freeze(bits=8, prune=prune).to_bytes()) for prune in (0.0, 0.5, 1.0, 1e9)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 4


@pytest.mark.parametrize("cls", [Tagger, CharacterSegmenter])
def test_guides_are_frozen_too(cls: Any, tmp_path: Path) -> None:
    """Those of taggers and of segmenters, which are stored within their models."""
    path = tmp_path / "guide.srt"
    of_words = cls is Tagger
    guide = (Tagger if of_words else CharacterJointTagger)(**SHORT).fit(TAGGED)
    guide.save(path)
    settings: Any = {"guide": str(path)} if of_words else {"guides": [str(path)]}

    def trained() -> Any:
        return cls(**settings, **SHORT).fit(TAGGED if of_words else WORDS)

    def predicted(model: Any) -> list[Any]:
        return [model.nbest(words if of_words else "".join(words), 2) for words in WORDS]

    model = trained()
    expected = predicted(model)
    assert predicted(cls.from_bytes(model.freeze(bits=32).to_bytes())) == expected
    _, arrays = parse_model(model.freeze(bits=8).to_bytes())
    assert not [name for name in arrays if re.search(r"(^|\.)[0-9]+\.keys$", name)]
    assert [name for name in arrays if name.startswith(("guide.", "source0.")) and "cells" in name]
    # A frozen model can be the guide of another one.
    guide.freeze(bits=32).save(path)
    assert predicted(trained()) == expected
