"""Training of constituency parsers on the agenda against a plain twin: all weights after an epoch.

Derivations are of different lengths: the search may end before gold does, or after it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from constituency_twins import (
    ConstituencySystem,
    Constituents,
)
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from trainer_twin import TrainerTwin, check_memo, check_training

from spacy_structreg.corpora.binarization import debinarize
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.tasks.constituents import ConstituentTransitions
from spacy_structreg.tasks.derivations import Derivation

SYSTEM = ConstituencySystem()
TEMPLATES = SYSTEM.parse(
    "action: S0w S1c | S0c S1c | S0c N0t | S0lc S0rc | S0uw S0uc | S2c S0c | N0w N1t",
    "action: S0c bracket | S0w separator | S1c separators | size(S0) S0c",
)
SEEDS = st.integers(0, 2**32 - 1).map(random.Random)


@dataclass(frozen=True)
class Gold:
    words: list[str]
    tags: list[str]
    constituents: Constituents


def corpus(draw: random.Random, n_labels: int, n_most: int = 4, max_unaries: int = 3) -> list[Gold]:
    """A few sentences of few different words, with the trees of random walks."""
    system = ConstituencySystem(max_unaries)
    sentences = []
    for _ in range(draw.randint(1, 3)):
        n = draw.randint(1, n_most)
        words, tags = draw.choices("大学(),", k=n), draw.choices(["N", "V"], k=n)
        twin = system.twin(words, tags, TEMPLATES, None, n_labels)
        state, actions = twin.start, []
        while not state.done:
            actions.append(draw.choice(twin.legal(state)))
            state = twin.apply(state, actions[-1])
        steps = system.new(TEMPLATES, n_labels).steps(actions)
        sentences.append(Gold(words, tags, debinarize(steps)))
    return sentences


def compiled(made: ConstituentTransitions, gold: Gold, learner: Perceptron) -> Derivation | None:
    return made.compile(gold.words, gold.tags, gold.constituents, learner)


def check(
    golds: list[Gold], learning: Learning | None = None, max_unaries: int = 3, **settings: object
) -> TrainerTwin:
    system = ConstituencySystem(max_unaries)
    return check_training(system, TEMPLATES, golds, compiled, learning=learning, **settings)


@pytest.mark.parametrize("stop", ["early", "max_violation", "plain"])
@given(draw=SEEDS, width=st.sampled_from([1, 2, 4]), margin=st.sampled_from([None, 0.0, 1.0, 3.0]))
@quick_examples(15)
def test_updates_equal_the_twin(
    stop: str, draw: random.Random, width: int, margin: float | None
) -> None:
    n_labels, max_unaries = draw.randint(1, 2), draw.randint(1, 3)
    golds = corpus(draw, n_labels, max_unaries=max_unaries)
    check(
        golds, max_unaries=max_unaries, n_labels=n_labels, width=width, stop=stop, margin=margin,
        epochs=3,
    )  # fmt: skip


@pytest.mark.parametrize("stop", ["early", "max_violation", "plain"])
@given(draw=SEEDS)
@quick_examples(5)
def test_updates_without_a_limit_equal_the_twin(stop: str, draw: random.Random) -> None:
    golds = corpus(draw, 1, 3, max_unaries=1)
    check(golds, max_unaries=1, n_labels=1, width=None, stop=stop)


@given(draw=SEEDS)
@quick_examples(15)
def test_an_update_at_every_action_follows_gold_to_its_end(draw: random.Random) -> None:
    n_labels = draw.randint(1, 3)
    check(corpus(draw, n_labels, 6), n_labels=n_labels, width=1, stop="every", epochs=3)


@given(draw=SEEDS)
@quick_examples(10)
def test_wrong_actions_cost(draw: random.Random) -> None:
    """Passive-aggressive updates against what is best when each wrong action counts 1.

    All steps are of the same, small size, so that sums are exact and ties the same.
    """
    learning = Learning(algorithm="pa_i", aggressiveness=2.0**-12)
    check(corpus(draw, 2, 3), learning, n_labels=2, width=3)


def test_training_meets_ends_before_and_after_that_of_gold() -> None:
    """What the comparison is about does happen: the beam of the twin is looked at."""
    ends = set()
    for seed in range(12):
        draw = random.Random(seed)
        golds = corpus(draw, 2)
        trained = check(golds, n_labels=2, width=2, stop="plain", epochs=1)

        for gold in golds:
            twin = SYSTEM.twin(gold.words, gold.tags, TEMPLATES, trained.weights_of, 2)
            actions = SYSTEM.new(TEMPLATES, 2).oracle(len(gold.words), gold.constituents)
            n_steps = sum(1 for _ in twin.slots(2))
            ends.add((n_steps > len(actions)) - (n_steps < len(actions)))
    assert ends == {-1, 0, 1}


def test_the_memo_changes_no_bit() -> None:
    """Of weights that are no fractions of two, in training and in decoding."""
    draw = random.Random(8)
    golds = [gold for _ in range(6) for gold in corpus(draw, 3, 9)]
    later = corpus(draw, 3, 20) + corpus(draw, 3, 20)
    check_memo(SYSTEM, TEMPLATES, golds, compiled, later)
