"""A slow, obvious twin of the training of parsers, and the comparison with what is compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import pytest
from constituency_twins import ConstituencySystem
from learning_twins import same_rows
from parser_twins import Actions, Item, ParserTwin, System, agenda_of
from twins import rows_by_key

from spacy_structreg.features.state_templates import StateTemplate
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainingRows
from spacy_structreg.training.agenda import AgendaTrainer


class TrainerTwin:
    """Updates by the definitions of the papers, with weights by the keys of their features."""

    def __init__(
        self,
        system: System | ConstituencySystem,
        templates: Sequence[StateTemplate],
        learning: Learning,
        *,
        n_labels: int,
        width: int | None,
        stop: str,
        merge: bool,
        margin: float | None = None,
    ) -> None:
        self.system = system
        self.templates = templates
        self.n_labels = n_labels
        self.width = float("inf") if width is None else width
        self.stop = stop
        self.merge = merge
        self.margin = float("inf") if margin is None else margin
        self.learning = learning
        made = system.new(templates, n_labels)
        self.events = list(made.tables)
        self.widths = made.tables
        self.weights: dict[tuple[str, int], list[float]] = {}
        self.clock = 0

    def visit(self, gold: Any, actions: list[int] | None) -> int:
        """Learn from one sentence; returns how many actions were wrong.

        Without actions, all of `gold.right` are right, and the best of them is learned.
        """

        def weights_of(feature):  # type: ignore[no-untyped-def]
            none = [0.0] * self.widths[feature.template.event]
            return self.weights.get((feature.template.event, feature.key), none)

        twin = self.system.twin(
            gold.words, gold.tags, self.templates, weights_of, self.n_labels
        )  # fmt: skip
        right = None
        if actions is None:
            right = gold.right(twin)
            *_, last = twin.slots(self.width, merge=self.merge, allowed=right)
            actions = list(last[0].actions)
        if self.stop == "every":
            return self.visit_every(twin, actions)
        self.clock += 1
        found = self.find(twin, actions, right)
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
            if twin.is_final(state, step):
                break
            scores = {each: twin.action_score(state, each) for each in twin.legal(state)}
            others = sorted(scores.keys() - {action}, key=lambda each: (-scores[each], each))
            best = min(scores, key=lambda each: (-scores[each], each))
            n_wrong += best != action
            self.clock += 1
            if others and best != action:
                taken = [*actions[:step], others[0]]
                self.update(twin, actions[: step + 1], taken, 0.0)
        return n_wrong

    def find(
        self, twin: ParserTwin, actions: list[int], right: AbstractSet[Actions] | None
    ) -> tuple[Item, float] | None:
        """The item to learn against, and the loss. right: what else goes for gold."""
        cost = None
        if self.learning.algorithm == "pa_i":
            cost = lambda step, action: float(action != actions[step])  # noqa: E731
        violations: list[tuple[float, Item]] = []
        lost = False
        slots = twin.slots(self.width, merge=self.merge, cost=cost, margin=self.margin)
        for step, kept in enumerate(slots, 1):
            prefix = tuple(actions[:step])
            is_gold = [item.actions in (right or {prefix}) for item in kept]
            lost = lost or not any(is_gold)
            is_last = step == len(actions) or twin.ends(kept)
            if is_last and is_gold[0] and not lost:
                return None
            others = [item for item, good in zip(kept, is_gold, strict=True) if not good]
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
        if self.learning.algorithm == "pa_i":
            squared = sum(d * d for d in delta.values())
            if not squared or loss <= 0:
                return
            size = min(self.learning.aggressiveness, loss / squared)
        for (event, key, column), d in delta.items():
            if d:
                row = self.weights.setdefault((event, key), [0.0] * self.widths[event])
                row[column] = float(np.float32(row[column] + size * d))


def check_training(
    system: System | ConstituencySystem,
    templates: Sequence[StateTemplate],
    golds: Sequence[Any],
    compiled_by: Callable[..., Any],
    learning: Learning | None = None,
    *,
    n_labels: int = 1,
    width: int | None = 2,
    stop: str = "max_violation",
    merge: bool = False,
    margin: float | None = None,
    epochs: int = 2,
) -> TrainerTwin:
    """Train both for some epochs, and compare all weights after each.

    golds: with `words` and `tags`. compiled_by: compiles one of them, from a system, the gold
    sentence and a learner.
    """
    learning = learning or Learning()
    made = system.new(templates, n_labels)
    rows = [TrainingRows(columns, adaptive=True) for columns in made.tables.values()]
    learner = Perceptron(rows, learning)
    trainer = AgendaTrainer(made, templates, learner, width, stop, merge, margin=margin)
    compiled = [compiled_by(made, gold, learner) for gold in golds]
    twin = TrainerTwin(
        system,
        templates,
        learning,
        n_labels=n_labels,
        width=width,
        stop=stop,
        merge=merge,
        margin=margin,
    )
    for _ in range(epochs):
        found = trainer.epoch(compiled, list(range(len(golds))))
        wrong = [
            twin.visit(g, None if d.is_partial else list(d.gold))
            for g, d in zip(golds, compiled, strict=True)
        ]
        assert found == (sum(n > 0 for n in wrong), sum(wrong))
        assert learner.clock == twin.clock
        weights = {
            (event, key): row.tolist()
            for event, table in zip(made.tables, learner.tables, strict=True)
            for key, row in rows_by_key(table).items()
            if row.any()
        }
        expected = {name: row for name, row in twin.weights.items() if any(row)}
        assert weights.keys() == expected.keys()
        for name, row in expected.items():
            assert weights[name] == pytest.approx(row, abs=1e-5)
    return twin


def check_memo(
    system: System | ConstituencySystem,
    templates: Sequence[StateTemplate],
    golds: Sequence[Any],
    compiled_by: Callable[..., Any],
    later: Sequence[Any],
    *,
    merge: bool = False,
) -> None:
    """Train on gold sentences, and decode later ones, with a memo and without: all bits are equal.

    Labels are three.
    """
    learning = Learning(algorithm="pa_i", aggressiveness=0.3, hidden_dropout=0.1, dropout=0.1)
    trained = []
    for memo in (True, False):
        made = system.new(templates, 3)
        rows = [TrainingRows(columns, adaptive=True) for columns in made.tables.values()]
        learner = Perceptron(rows, learning)
        trainer = AgendaTrainer(made, templates, learner, 4, "max_violation", merge, memo=memo)
        compiled = [compiled_by(made, gold, learner) for gold in golds]
        for epoch in range(4):
            trainer.epoch(compiled, list(range(len(golds))), epoch)
        trained.append(learner.average())
    for one, other in zip(*trained, strict=True):
        assert one.n_rows
        assert same_rows(one, other)
    for gold in later:
        twin = system.twin(gold.words, gold.tags, templates, lambda _: [0.0], 3)
        for width in (1, 5, 100):
            with_memo, without = (
                agenda_of(system, twin, trained[0], width, merge=merge, memo=memo)
                for memo in (True, False)
            )
            found = with_memo.derivations(5)
            assert without.derivations(5) == found
            # Again, now that the memo holds what it has seen.
            assert with_memo.derivations(5) == found
