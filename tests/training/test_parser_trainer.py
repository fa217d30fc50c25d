"""Training of parsers on the agenda against a plain twin: all weights after an epoch."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parser_twins import ROOT, SYSTEMS, Item, ParserTwin, System, agenda_of, random_tree
from twins import rows_by_key

from spacy_structreg.features.state_templates import StateTemplate
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainingRows
from spacy_structreg.learn.settings import Learning
from spacy_structreg.training.agenda import AgendaTrainer

TEMPLATES = {
    "arc_eager": """
        action: S0w N0w | S0t N0t | S0w | S0ht S0t | S0vl N0t | S1t S0t
        left: S0w N0w | S0t between(S0,N0) N0t
        right: S0w N0w
        pop: S0t S0vr
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
    heads: list[int]
    labels: list[int]


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


class TrainerTwin:
    """Updates by the definitions of the papers, with weights by the keys of their features."""

    def __init__(
        self,
        system: System,
        templates: Sequence[StateTemplate],
        learning: Learning,
        *,
        n_labels: int,
        width: int | None,
        stop: str,
        merge: bool,
    ) -> None:
        self.system = system
        self.templates = templates
        self.n_labels = n_labels
        self.width = float("inf") if width is None else width
        self.stop = stop
        self.merge = merge
        self.learning = learning
        made = system.new(templates, n_labels)
        self.events = list(made.events)
        self.widths = made.events
        self.weights: dict[tuple[str, int], list[float]] = {}
        self.clock = 0

    def visit(self, gold: Gold, actions: list[int]) -> int:
        """Learn from one sentence; returns how many actions were wrong."""

        def weights_of(feature):  # type: ignore[no-untyped-def]
            none = [0.0] * self.widths[feature.template.event]
            return self.weights.get((feature.template.event, feature.key), none)

        twin = self.system.twin(
            gold.words, gold.tags, self.templates, weights_of, self.n_labels
        )  # fmt: skip
        if self.stop == "every":
            return self.visit_every(twin, actions)
        self.clock += 1
        found = self.find(twin, actions)
        if found is None:
            return 0
        item, loss = found
        n = len(item.actions)
        self.update(twin, actions[:n], item.actions, loss)
        return max(1, sum(a != b for a, b in zip(item.actions, actions, strict=False)))

    def visit_every(self, twin: ParserTwin, actions: list[int]) -> int:
        """One update at each gold action that is not the best, along the gold path."""
        n_wrong = 0
        for step, action in enumerate(actions):
            state = twin.replay(actions[:step])
            scores = {each: twin.action_score(state, each) for each in twin.legal(state)}
            others = sorted(scores.keys() - {action}, key=lambda each: (-scores[each], each))
            best = min(scores, key=lambda each: (-scores[each], each))
            n_wrong += best != action
            self.clock += 1
            if others and best != action:
                taken = [*actions[:step], others[0]]
                self.update(twin, actions[: step + 1], taken, 0.0)
        return n_wrong

    def find(self, twin: ParserTwin, actions: list[int]) -> tuple[Item, float] | None:
        """The item to learn against, and the loss."""
        cost = None
        if self.learning.update == "pa_i":
            cost = lambda step, action: float(action != actions[step])  # noqa: E731
        violations: list[tuple[float, Item]] = []
        lost = False
        for step, kept in enumerate(twin.slots(self.width, merge=self.merge, cost=cost), 1):
            prefix = tuple(actions[:step])
            is_gold = [item.actions == prefix for item in kept]
            lost = lost or not any(is_gold)
            is_last = step == len(actions)
            if is_last and is_gold[0] and not lost:
                return None
            others = [item for item, right in zip(kept, is_gold, strict=True) if not right]
            if others:
                # The best of the others is the first or, after gold, the second.
                violations.append((others[0].score - twin.score(prefix), others[0]))
                if self.stop == "early" and (lost or is_last):
                    return violations[-1][1], violations[-1][0]
                if self.stop == "plain" and is_last:
                    return violations[-1][1], violations[-1][0]
        if not violations:
            return None
        loss, item = max(violations, key=lambda found: found[0])
        return item, loss

    def update(
        self, twin: ParserTwin, right: Sequence[int], wrong: Sequence[int], loss: float
    ) -> None:
        delta: dict[tuple[str, int, int], float] = {}
        for path, sign in ((right, 1.0), (wrong, -1.0)):
            for step, action in enumerate(path):
                for feature, column in twin.fired(twin.replay(path[:step]), action):
                    name = feature.template.event, feature.key, column
                    delta[name] = delta.get(name, 0.0) + sign
        size = 1.0
        if self.learning.update == "pa_i":
            squared = sum(d * d for d in delta.values())
            if not squared or loss <= 0:
                return
            size = min(self.learning.aggressiveness, loss / squared)
        for (event, key, column), d in delta.items():
            if d:
                row = self.weights.setdefault((event, key), [0.0] * self.widths[event])
                row[column] = float(np.float32(row[column] + size * d))


def check(
    system: System,
    golds: list[Gold],
    learning: Learning | None = None,
    *,
    n_labels: int = 1,
    width: int | None = 2,
    stop: str = "max_violation",
    merge: bool = False,
    epochs: int = 2,
    templates: str = "",
) -> TrainerTwin:
    """Train both for some epochs, and compare all weights after each."""
    learning = learning or Learning()
    parsed = system.parse(TEMPLATES[system.name], templates)
    made = system.new(parsed, n_labels)
    rows = [TrainingRows(columns, adaptive=True) for columns in made.events.values()]
    learner = Perceptron(rows, learning)
    trainer = AgendaTrainer(made, parsed, learner, width, stop, merge)
    compiled = [made.compile(g.words, g.tags, g.heads, g.labels, learner) for g in golds]
    twin = TrainerTwin(
        system, parsed, learning, n_labels=n_labels, width=width, stop=stop, merge=merge
    )
    for _ in range(epochs):
        found = trainer.epoch(compiled, list(range(len(golds))))
        wrong = [twin.visit(g, list(d.gold)) for g, d in zip(golds, compiled, strict=True)]
        assert found == (sum(n > 0 for n in wrong), sum(wrong))
        assert learner.clock == twin.clock
        weights = {
            (event, key): row.tolist()
            for event, table in zip(made.events, learner.tables, strict=True)
            for key, row in rows_by_key(table).items()
            if row.any()
        }
        expected = {name: row for name, row in twin.weights.items() if any(row)}
        assert weights.keys() == expected.keys()
        for name, row in expected.items():
            assert weights[name] == pytest.approx(row, abs=1e-5)
    return twin


EACH_SYSTEM = pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
SEEDS = st.integers(0, 2**32 - 1).map(random.Random)


@EACH_SYSTEM
@pytest.mark.parametrize("merge", [False, True], ids=["plain", "merged"])
@pytest.mark.parametrize("stop", ["early", "max_violation", "plain"])
@given(draw=SEEDS, width=st.sampled_from([1, 2, 4, None]))
@settings(max_examples=8)
def test_updates_equal_the_twin(
    system: System, stop: str, merge: bool, draw: random.Random, width: int | None
) -> None:
    n_labels = draw.randint(1, 2)
    golds = corpus(draw, n_labels, 4 if width is None else 5)
    templates = draw.choice(["", WITH_LABELS[system.name]])
    check(
        system, golds, n_labels=n_labels, width=width, stop=stop, merge=merge, templates=templates
    )


@EACH_SYSTEM
@given(draw=SEEDS)
@settings(max_examples=20)
def test_an_update_at_every_action_follows_gold(system: System, draw: random.Random) -> None:
    n_labels = draw.randint(1, 3)
    golds = corpus(draw, n_labels, 8)
    check(system, golds, n_labels=n_labels, width=1, stop="every", epochs=3)


@EACH_SYSTEM
@pytest.mark.parametrize("merge", [False, True], ids=["plain", "merged"])
@given(draw=SEEDS)
@settings(max_examples=8)
def test_wrong_actions_cost(system: System, merge: bool, draw: random.Random) -> None:
    """Passive-aggressive updates against what is best when each wrong action counts 1.

    All steps are of the same, small size, so that sums are exact and ties the same.
    """
    learning = Learning(update="pa_i", aggressiveness=2.0**-12)
    check(system, corpus(draw, 2, 4), learning, n_labels=2, width=3, merge=merge)


@EACH_SYSTEM
@pytest.mark.parametrize("merge", [False, True], ids=["plain", "merged"])
def test_sentences_are_learnt(system: System, merge: bool) -> None:
    golds = corpus(random.Random(4), 2, 5) + corpus(random.Random(5), 2, 5)
    twin = check(system, golds, n_labels=2, width=4, merge=merge, epochs=6)
    assert twin.weights


@EACH_SYSTEM
@pytest.mark.parametrize("merge", [False, True], ids=["plain", "merged"])
def test_the_memo_changes_no_bit(system: System, merge: bool) -> None:
    """Of weights that are no fractions of two, in training and in decoding."""
    draw = random.Random(8)
    golds = [gold for _ in range(6) for gold in corpus(draw, 3, 9)]
    learning = Learning(update="pa_i", aggressiveness=0.3, hidden_dropout=0.1)
    parsed = system.parse(TEMPLATES[system.name], WITH_LABELS[system.name])
    trained = []
    for memo in (True, False):
        made = system.new(parsed, 3)
        rows = [TrainingRows(columns, adaptive=True) for columns in made.events.values()]
        learner = Perceptron(rows, learning)
        trainer = AgendaTrainer(made, parsed, learner, 4, "max_violation", merge, memo=memo)
        compiled = [made.compile(g.words, g.tags, g.heads, g.labels, learner) for g in golds]
        for epoch in range(4):
            trainer.epoch(compiled, list(range(len(golds))), epoch)
        trained.append(learner.average())
    for one, other in zip(*trained, strict=True):
        assert one.n_rows
        assert {name: array.tobytes() for name, array in one.arrays.items()} == {
            name: array.tobytes() for name, array in other.arrays.items()
        }
    for gold in corpus(draw, 3, 30) + corpus(draw, 3, 30):
        twin = system.twin(gold.words, gold.tags, parsed, lambda _: [0.0], 3)
        for width in (1, 5, 100):
            with_memo, without = (
                agenda_of(system, twin, trained[0], width, merge=merge, memo=memo)
                for memo in (True, False)
            )
            found = with_memo.derivations(5)
            assert without.derivations(5) == found
            # Again, now that the memo holds what it has seen.
            assert with_memo.derivations(5) == found
