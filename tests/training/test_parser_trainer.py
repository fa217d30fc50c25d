"""Training of parsers on the agenda against a plain twin: all weights after an epoch."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from parser_twins import (
    ROOT,
    SYSTEMS,
    Actions,
    ParserTwin,
    System,
    beginnings,
    random_tree,
)
from trainer_twin import TrainerTwin, check_memo, check_training

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.tasks.dependencies.arcs import DependencyTransitions
from spacy_structreg.tasks.derivations import Derivation

TEMPLATES = {
    "arc_eager": """
        action: S0w N0w | S0t N0t | S0w | S0ht S0t | S0vl N0t | S1t S0t
        left: S0w N0w | S0t between(S0,N0) N0t
        right: S0w N0w
        arc: Pw Cw | Pt between(P,C) Ct | Ct St dist(S,C) | Pt C-1t
        pop: S0t S0vr | S0pt S0t S0rt
        push: N0t N0vl
    """,
    "arc_standard": "action: S0w S1w | S0t S1t | S1t S1lt S0t | N0t S0t | S2t",
}
WITH_LABELS = {
    "arc_eager": "action: S0label S0t | S0llabel N0t | S0sr",
    "arc_standard": "action: S0llabel S0t | S1rlabel",
}


@dataclass(frozen=True)
class Gold:
    words: list[str]
    tags: list[str]
    heads: list[int | None]
    labels: list[int | None]

    def right(self, twin: ParserTwin) -> set[Actions]:
        """All beginnings of the derivations that make a tree with what is known."""
        return beginnings(twin, self.heads, self.labels)


def corpus(draw: random.Random, n_labels: int, n_most: int = 5) -> list[Gold]:
    """A few sentences of few different words, so that features meet again."""
    sentences = []
    for _ in range(draw.randint(1, 3)):
        n = draw.randint(1, n_most)
        heads = random_tree(draw, n)
        labels = [draw.randrange(n_labels) if head != ROOT else ROOT for head in heads]
        words, tags = draw.choices("大学生在", k=n), draw.choices(["N", "V"], k=n)
        sentences.append(Gold(words, tags, heads, labels))
    return sentences


def compiled(made: DependencyTransitions, gold: Gold, learner: Perceptron) -> Derivation | None:
    return made.compile(gold.words, gold.tags, gold.heads, gold.labels, learner)


def check(
    system: System, golds: list[Gold], learning: Learning | None = None, **settings: object
) -> TrainerTwin:
    """Train both for some epochs, and compare all weights after each."""
    templates = system.parse(TEMPLATES[system.name], str(settings.pop("templates", "")))
    return check_training(system, templates, golds, compiled, learning=learning, **settings)


EACH_SYSTEM = pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
SEEDS = st.integers(0, 2**32 - 1).map(random.Random)


@EACH_SYSTEM
@looped("merge", [False, True], ids=["plain", "merged"])
@looped("stop", ["early", "max_violation", "plain"])
@given(
    draw=SEEDS,
    width=st.sampled_from([1, 2, 4, None]),
    margin=st.sampled_from([None, 0.0, 1.0, 3.0]),
)
@quick_examples(10)
def test_updates_equal_the_twin(
    system: System, stop: str, merge: bool, *, draw: random.Random, width: int | None,
    margin: float | None,
) -> None:  # fmt: skip
    n_labels = draw.randint(1, 2)
    golds = corpus(draw, n_labels, 4 if width is None else 5)
    templates = draw.choice(["", WITH_LABELS[system.name]])
    check(
        system, golds, n_labels=n_labels, width=width, stop=stop, merge=merge, margin=margin,
        templates=templates,
    )  # fmt: skip


def hidden(draw: random.Random, golds: list[Gold]) -> list[Gold]:
    """With some heads and labels unknown."""
    share = draw.choice([0.3, 0.7])

    def some(numbers: list[int | None]) -> list[int | None]:
        return [number if draw.random() < share else None for number in numbers]

    return [replace(gold, heads=some(gold.heads), labels=some(gold.labels)) for gold in golds]


@pytest.mark.parametrize("stop", ["early", "max_violation", "plain", "every"])
@given(draw=SEEDS, width=st.sampled_from([1, 2, 4, None]), merge=st.booleans())
@quick_examples(6)
def test_of_partial_trees_the_best_derivation_is_learned(
    stop: str, draw: random.Random, width: int | None, merge: bool
) -> None:
    """Of all that make a tree with what is known, one by one."""
    n_labels = draw.randint(1, 2)
    golds = hidden(draw, corpus(draw, n_labels, 4)) + corpus(draw, n_labels, 4)
    if stop == "every":
        width = 1
    check(
        SYSTEMS["arc_eager"], golds, n_labels=n_labels, width=width, stop=stop, merge=merge,
        templates=WITH_LABELS["arc_eager"],
    )  # fmt: skip


@pytest.mark.parametrize(("stop", "width"), [("plain", None), ("every", 1)])
@given(draw=SEEDS)
@quick_examples(6)
def test_of_partial_trees_the_best_arc_standard_derivation_is_learned(
    stop: str, width: int | None, draw: random.Random
) -> None:
    """At the end; before, a state from which no such tree can be reached may go for right."""
    n_labels = draw.randint(1, 2)
    golds = hidden(draw, corpus(draw, n_labels, 4)) + corpus(draw, n_labels, 4)
    check(
        SYSTEMS["arc_standard"], golds, n_labels=n_labels, width=width, stop=stop,
        templates=WITH_LABELS["arc_standard"],
    )  # fmt: skip


@EACH_SYSTEM
@given(draw=SEEDS)
@quick_examples(20)
def test_an_update_at_every_action_follows_gold(system: System, draw: random.Random) -> None:
    n_labels = draw.randint(1, 3)
    golds = corpus(draw, n_labels, 8)
    check(system, golds, n_labels=n_labels, width=1, stop="every", epochs=3)


@EACH_SYSTEM
@pytest.mark.parametrize("merge", [False, True], ids=["plain", "merged"])
@given(draw=SEEDS)
@quick_examples(8)
def test_wrong_actions_cost(system: System, merge: bool, draw: random.Random) -> None:
    """Passive-aggressive updates against what is best when each wrong action counts 1.

    All steps are of the same, small size, so that sums are exact and ties the same.
    """
    learning = Learning(algorithm="pa_i", aggressiveness=2.0**-12)
    check(system, corpus(draw, 2, 4), learning, n_labels=2, width=3, merge=merge)


@EACH_SYSTEM
@pytest.mark.parametrize("merge", [False, True], ids=["plain", "merged"])
def test_the_memo_changes_no_bit(system: System, merge: bool) -> None:
    """Of weights that are no fractions of two, in training and in decoding."""
    draw = random.Random(8)
    golds = [gold for _ in range(6) for gold in corpus(draw, 3, 9)]
    parsed = system.parse(TEMPLATES[system.name], WITH_LABELS[system.name])
    later = corpus(draw, 3, 30) + corpus(draw, 3, 30)
    check_memo(system, parsed, golds, compiled, later, merge=merge)
