"""The margin of a beam is tuned; what it changes is in `tests/contract`."""

from __future__ import annotations

from pathlib import Path

import pytest

from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.models.constituents import ConstituencyParser

TREEBANK = Path(__file__).parents[2] / "treebank/train/general.bracket"


def test_it_is_tuned_as_by_trying_all() -> None:
    """Figures rise with the margin here, at least where it is decided."""
    trees = list(constituency_sentences(TREEBANK, "ctb"))[:60]
    model, dev = ConstituencyParser(epochs=1, beam=8).fit(trees[:40]), trees[40:]

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
