"""Settings of models that contradict each other, or name what there is not.

Values out of range are refused in `tests/contract`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from looped import looped

from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.models.classification import TextClassifier
from spacy_structreg.models.constituents import ConstituencyParser
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.models.guided import GuidedJointTagger, GuidedSegmenter
from spacy_structreg.models.joint.guided_joint_parser import GuidedJointParser
from spacy_structreg.models.joint.joint_reranker import JointReranker
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.joint.word_joint_parser import WordJointParser
from spacy_structreg.models.labeling.labelers import FeatureLabeler, SequenceLabeler
from spacy_structreg.models.segmentation import (
    DEFAULT_LEARNING,
    DEFAULT_LEARNING_OF_MANY,
    CharacterSegmenter,
    WordSegmenter,
)
from spacy_structreg.models.tagging import Tagger

NO_RUNS = "choose typed_runs = true, or leave whole_runs out"
OF_TEXTS = [CharacterSegmenter, WordSegmenter, CharacterJointTagger, WordJointTagger]
PERCEPTRONS = [ConstituencyParser, DependencyParser, Tagger, WordJointTagger, WordSegmenter]
PAIRS: list[tuple[Any, Any, Any]] = [
    (GuidedSegmenter, CharacterSegmenter, WordSegmenter),
    (GuidedJointTagger, CharacterJointTagger, WordJointTagger),
    (JointReranker, CharacterJointTagger, WordJointTagger),
]
PRICES = {"typed_runs": True, "whole_runs": ["price"]}

REFUSED: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    *((cls, {"learning": LogLinear()}, "learning must be Learning.*, got LogLinear.*")
      for cls in PERCEPTRONS),
    *((cls, {"whole_runs": ["price"]}, NO_RUNS) for cls in OF_TEXTS),
    *((cls, {"typed_runs": "latin", "whole_runs": ["price"]}, NO_RUNS) for cls in OF_TEXTS),
    *((cls, {"typed_runs": True, "whole_runs": ["url"]}, "whole_runs must be") for cls in OF_TEXTS),
    *((cls, {"update": "every", "beam": 4}, "update = 'every' needs beam = 1")
      for cls in [*PERCEPTRONS, WordJointParser]),
    *((cls, {"templates": "action: S9w"}, "reads the atom 'S9w'")
      for cls in (ConstituencyParser, DependencyParser)),
    *((cls, {"templates": "append: S0w"}, "fires on the event 'append'")
      for cls in (ConstituencyParser, DependencyParser)),
    *((cls, {"templates": "poor"}, "tables of templates are .*(phrases|transition)")
      for cls in (ConstituencyParser, DependencyParser)),
    *((cls, {"templates": []}, "templates is empty")
      for cls in (ConstituencyParser, DependencyParser)),
    *((cls, {"learning": Learning(mini_sample=5.0)}, "mini_sample is 5|cannot be cut")
      for cls in (ConstituencyParser, DependencyParser, WordJointParser)),
    *((pair, {"characters": characters(sentences="doc"), "words": words()},
       "the same setting sentences")
      for pair, characters, words in PAIRS),
    *((pair, {"characters": characters(typed_runs=True), "words": words()},
       "must have the same setting typed_runs")
      for pair, characters, words in PAIRS),
    *((pair, {"characters": characters(**PRICES), "words": words(typed_runs=True)},
       "must have the same setting whole_runs")
      for pair, characters, words in PAIRS),
    (CharacterSegmenter, {"templates": "w-1"}, "atom 'w', .* does not have; it has c, type"),
    (CharacterSegmenter, {"templates": "type0", "types": None}, "atom 'type', .* it has c;"),
    (CharacterSegmenter, {"templates": "zhang2015"}, "tables of templates are zhang2014"),
    (CharacterSegmenter, {"templates": ["c0", "zhang2015"]}, "tables of templates are zhang2014"),
    (CharacterSegmenter, {"templates": "c"}, "write atoms with their offsets"),
    *((CharacterSegmenter, {"templates": none, "types": None}, "name at least one")
      for none in ([], "", " | ")),
    (CharacterSegmenter, {"raw_text": ["a.txt"]}, "raw_text names files"),
    (CharacterSegmenter, {"learning": Learning(min_count=2)},
     "min_count is 2, but a segmenter of this kind has"),
    (CharacterSegmenter, {"learning": LogLinear(noise="gaussian_dropout")},
     "noise is 'gaussian_dropout', but a segmenter of this kind .* choose 'dropout'"),
    (GuidedSegmenter, {"characters": CharacterSegmenter(templates="sun2014")},
     "leave out templates such as 't-1t0c0'"),
    (WordSegmenter, {"templates": "zhang2014"}, "zhang2014"),
    (WordSegmenter, {"templates": ["tag: c0"], "types": None}, "tag"),
    (WordSegmenter, {"templates": [], "types": None}, "empty"),
    (WordJointTagger, {"templates": "zhang2014"}, "names no event"),
    (WordJointTagger, {"templates": "tag: w0"}, "reads the atom 'w0'"),
    (WordJointTagger, {"closed_tags": "pku"}, "closed_tags must be one of ctb, ud.*, got 'pku'"),
    (WordJointTagger, {"closed_tags": [1]}, "closed_tags must be a list of strings"),
    (WordJointTagger, {"closed_first_tags": [None]}, "closed_first_tags must be a list of strings"),
    (WordJointTagger, {"growing_records": True, "learning": Learning(min_count=2)},
     "growing_records begin empty"),
    (WordJointParser, {"by_words": True}, "by_words"),
    (WordJointParser, {"typed_runs": "latin"}, "typed_runs"),
    (WordJointParser, {"templates": ["arc: S9w"]}, "S9w"),
    (WordJointParser, {"templates": ["action: S0w"]}, "action"),
    (GuidedJointParser, {"backward": DependencyParser()},
     "set backward = true in the settings of backward"),
    (GuidedJointParser, {"parser": DependencyParser(backward=True)},
     "set backward = false in the settings of parser"),
    (GuidedJointParser, {"tagger": GuidedJointTagger(beam=4), "n_best": 5},
     "more than the 4 analyses"),
    (GuidedJointParser, {"n_best": 9}, "more than the 8 analyses"),
    (Tagger, {"templates": "tag: nonsense"}, "nonsense"),
    (Tagger, {"templates": "append: w0"}, "append"),
    (Tagger, {"templates": "tag: guide(w0)"}, "need a guide"),
    (Tagger, {"closed_tags": "pku"}, "must be one of ctb, ud"),
    (DependencyParser, {"templates": "rich", "system": "arc_standard"},
     "tables of templates are .*merging"),
    (DependencyParser, {"templates": "action: S0vl", "system": "arc_standard"},
     "reads the atom 'S0vl'"),
    (SequenceLabeler, {"templates": "label: pos(w0)"}, "pos"),
    (SequenceLabeler, {"templates": "nonsense"}, "nonsense"),
    (SequenceLabeler, {"columns": ()}, "columns"),
    (SequenceLabeler, {"columns": ("w", "w")}, "taken"),
    (SequenceLabeler, {"gazetteers": {"": ["x"]}}, "gazetteer"),
    (SequenceLabeler, {"gazetteers": ["x"]}, "must be Gazetteers or Mapping"),
    (SequenceLabeler, {"learning": "sgd"}, "learning must be Learning or LogLinear.*, got 'sgd'"),
    (SequenceLabeler, {"learning": LogLinear(optimizer="lbfgs"), "n_models": 2},
     "2 models would be the same"),
    (FeatureLabeler, {"edges": ["a:b"]}, "leave out what follows"),
    (FeatureLabeler, {"edges": [1]}, "list of strings"),
    (TextClassifier, {"ngrams": 0}, "nothing is seen"),
    (TextClassifier, {"ngrams": 0, "characters": []}, "nothing is seen"),
    (TextClassifier, {"characters": [0]}, "at least 1"),
    (TextClassifier, {"characters": [9]}, "at most 8"),
    (TextClassifier, {"characters": "12"}, "list of integers"),
    (TextClassifier, {"characters": 2}, "list of integers"),
]  # fmt: skip


@looped(("make", "settings", "message"), REFUSED)
def test_settings_that_cannot_be(
    make: Callable[..., Any], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make(**settings)


@pytest.mark.parametrize("pair", [pair for pair, _, _ in PAIRS])
def test_settings_of_training_are_those_of_both_models(pair: Any) -> None:
    model = pair()
    chosen = {"epochs": 3, "patience": 2, "n_models": 2, "seed": 7, "mean": "plain"}
    for name, value in chosen.items():
        setattr(model, name, value)
    for each in (model, model.characters, model.words):
        assert {name: getattr(each, name) for name in chosen} == chosen


@pytest.mark.parametrize("cls", [CharacterSegmenter, CharacterJointTagger])
def test_models_of_an_average_learn_otherwise_by_default(cls: Any) -> None:
    assert cls().learning == DEFAULT_LEARNING
    assert cls(n_models=2).learning == DEFAULT_LEARNING_OF_MANY
    assert cls(n_models=2, learning=Learning()).learning == Learning()
