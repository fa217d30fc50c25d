"""The margin of a beam: what it changes, how it is tuned, and that files keep it."""

from __future__ import annotations

import pickle
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from spacy_structreg.corpora.constituents import ConstituencySentence
from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.models.constituents import ConstituencyParser
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.models.guided import GuidedSegmenter
from spacy_structreg.models.joint.joint_taggers import WordJointTagger
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter

TREEBANK = Path(__file__).parents[2] / "treebank/train/general.bracket"


@cache
def trees() -> list[ConstituencySentence]:
    return list(constituency_sentences(TREEBANK, "ctb"))[:60]


def inputs(kind: str) -> list[Any]:
    if kind in ("arcs", "phrases"):
        return [(list(each.words), list(each.tags)) for each in trees()]
    return ["".join(each.words) for each in trees()]


def gold(kind: str) -> list[Any]:
    match kind:
        case "arcs":
            return [each.dependencies() for each in trees()]
        case "phrases":
            return trees()
        case "tagged":
            return [list(zip(each.words, each.tags, strict=True)) for each in trees()]
    return [list(each.words) for each in trees()]


@cache
def trained(kind: str) -> bytes:
    models: dict[str, Any] = {
        "arcs": lambda: DependencyParser(epochs=1, beam=8),
        "phrases": lambda: ConstituencyParser(epochs=1, beam=8),
        "words": lambda: WordSegmenter(epochs=1, beam=8),
        "tagged": lambda: WordJointTagger(epochs=1, beam=8),
        "guided": lambda: GuidedSegmenter(
            CharacterSegmenter(epochs=1),
            WordSegmenter(epochs=1),
            weight=1.0,
            beam=8,
            beam_margin=None,
        ),
    }
    found: bytes = models[kind]().fit(gold(kind)[:40]).to_bytes()
    return found


CLASSES: dict[str, Any] = {
    "arcs": DependencyParser,
    "phrases": ConstituencyParser,
    "words": WordSegmenter,
    "tagged": WordJointTagger,
    "guided": GuidedSegmenter,
}
EACH = pytest.mark.parametrize("kind", CLASSES)


def model_of(kind: str) -> Any:
    return CLASSES[kind].from_bytes(trained(kind))


@EACH
def test_a_wide_margin_changes_nothing_and_a_narrow_one_does(kind: str) -> None:
    model, texts = model_of(kind), inputs(kind)
    whole = model.predict_batch(texts)
    assert model.beam_margin is None
    model.set_beam_margin(1e12)
    assert model.predict_batch(texts) == whole
    model.set_beam_margin(0.0)
    narrow = model.predict_batch(texts)
    assert narrow != whole
    assert model.predict_batch(texts, n_threads=3) == narrow
    # Files and other processes have it.
    for copy in (CLASSES[kind].from_bytes(model.to_bytes()), pickle.loads(pickle.dumps(model))):
        assert copy.beam_margin == 0.0
        assert copy.predict_batch(texts) == narrow
    model.set_beam_margin(None)
    assert model.predict_batch(texts) == whole


def test_it_is_tuned_as_by_trying_all() -> None:
    """Figures rise with the margin here, at least where it is decided."""
    model, dev = model_of("phrases"), gold("phrases")[40:]

    def figure(margin: float | None) -> float:
        model.set_beam_margin(margin)
        found: float = model.evaluate(dev).as_dict()[model.PRIMARY]
        return found

    enough = figure(None) - 0.01
    margin = model.tune_beam_margin(dev, max_loss=0.01)
    assert model.beam_margin == margin
    assert figure(margin) >= enough
    # The next lower one of those that are tried.
    assert figure(margin / 2**0.125) < enough
    # Any margin is good enough: the least one that is tried.
    assert model.tune_beam_margin(dev, max_loss=1.0) < 2.0**-10
    with pytest.raises(ValueError, match="max_loss must be at least 0"):
        model.tune_beam_margin(dev, max_loss=-1.0)


def test_a_margin_below_nothing_is_refused() -> None:
    model = model_of("words")
    with pytest.raises(ValueError, match="beam_margin must be at least 0"):
        model.set_beam_margin(-1.0)
    assert model.beam_margin is None


def test_an_untrained_model_cannot_be_tuned() -> None:
    with pytest.raises(ValueError, match="has not been trained"):
        DependencyParser().tune_beam_margin(gold("arcs"))
