"""ΔΦ: what an update would change, added up weight by weight, seen through the steps it gives."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from learning_twins import LearningTwin
from looped import looped

from spacy_structreg.learn.changes import Changes
from spacy_structreg.learn.learning_settings import Learning

# Characters that recur, so that most weights change more than once, and some come to nothing.
SENTENCES = [["人" * 3, "人", "人" * 2], ["中人", "人中", "中"], ["人", "中中", "人"]]
TEMPLATES = ["c0", "c-1 | c0 | c+1", "t-1t0", "c-1 | c0 | c0c+1 | t-1t0", "c-2 | c+2 | c-1c+1"]


def test_there_is_nothing_between_updates() -> None:
    assert len(Changes()) == 0
    twin = LearningTwin("c0", SENTENCES, Learning(algorithm="pa"))
    for number, text in enumerate(twin.texts):
        twin.run(np.array([[number, 0, len(text)]]))
        assert len(twin.learner.changes) == 0
    assert len(pickle.loads(pickle.dumps(twin.learner.changes))) == 0


@looped("update", ["pa", "pa_i", "pa_ii"])
@looped("templates", TEMPLATES)
def test_changes_of_one_weight_add_up(templates: str, update: str) -> None:
    """The step depends on the norm of their sums, which the twin takes from a dictionary."""
    learning = Learning(algorithm=update, aggressiveness=100.0)
    merged = 0
    for seed in range(15):
        twin = LearningTwin(templates, SENTENCES, learning, seed=seed)
        for number, text in enumerate(twin.texts):
            twin.run(np.array([[number, 0, len(text)]]))
        for visit in twin.visits:
            labels = (visit["gold"], visit["path"])
            single = sum(len(list(twin._active(visit["fired"], path))) for path in labels)
            merged += 0 < visit["squared"] != single
    assert merged > 5


def test_a_long_sentence() -> None:
    """Thousands of changes of a few weights: 0.5 n of S against B and E, in a row of one character.

    With weights of 0 the output opposed is the best by cost: all of B E, at a cost of n. ΔΦ is
    (-n/2, -n/2, n) on B, E and S.
    """
    for n in (2, 8, 5_000):
        twin = LearningTwin(
            "c0", [["人"]], Learning(algorithm="pa_i", aggressiveness=10.0), seed=None
        )
        chain = twin.model.atoms.compile(["人"] * n, twin.scheme, twin.model.features, twin.learner)
        assert twin.trainer.epoch([chain], [0]) == (1, n)
        step = n / (1.5 * n**2)
        weights = twin.learner.tables[0].weights(0)
        assert weights[3] == pytest.approx(step * n, rel=1e-12)
        assert weights[:2] == pytest.approx([-step * n / 2] * 2, rel=1e-12)
