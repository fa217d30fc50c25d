"""A slow, obvious twin of training on the agenda, and the comparison with what is compiled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pytest
from agenda_twin import Actions, Feature, Item, StatesTwin, Weights, WordsTwin
from constituency_twins import ConstituencySystem
from learning_twins import GOLDEN, SplitMix64, is_dropped, same_rows
from parser_twins import System, agenda_of
from twins import MASK_64, rows_by_key

from spacy_structreg.features.state_templates import StateTemplate
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainingRows
from spacy_structreg.training.agenda import AgendaTrainer

Name = tuple[str, int, int]
"""A weight: the name of its table, the key of its row, its column."""
REACH = 2  # how many characters beyond a piece atoms see


class TrainerTwin:
    """Updates by the definitions of the papers, with weights by name, beside the kernel.

    made: the compiled system. golds: sentences, of any kind. compiled_by: compiles one of them,
    from the system, the sentence and a learner. twin_of: the twin of a sentence with weights.
    """

    def __init__(
        self,
        made: Any,
        templates: Sequence[StateTemplate],
        golds: Sequence[Any],
        compiled_by: Callable[..., Any],
        twin_of: Callable[[Any, Weights], StatesTwin],
        *,
        learning: Learning | None = None,
        width: int | None = 2,
        stop: str = "early",
        merge: bool = False,
        margin: float | None = None,
        memo: bool = True,
        adaptive: bool | None = None,
    ) -> None:
        self.learning = learning or Learning()
        penalties = self.learning.penalties
        rows = [TrainingRows(n, adaptive, **penalties) for n in made.tables.values()]
        self.learner = Perceptron(rows, self.learning)
        self.trainer = AgendaTrainer(
            made, templates, self.learner, width, stop, merge, memo, margin=margin
        )
        self.golds = golds
        self.compiled = [compiled_by(made, gold, self.learner) for gold in golds]
        self.twins = [twin_of(gold, self.weights_of) for gold in golds]
        self.tables = list(made.tables)
        self.n_columns = made.tables
        self.width = inf if width is None else width
        self.stop = stop
        self.merge = merge
        self.margin = inf if margin is None else margin
        self.weights: dict[Name, float] = defaultdict(float)
        self.clock = 0
        self.draw: int | None = None

    # Weights ------------------------------------------------------------------------------------

    def weights_of(self, feature: Feature) -> list[float]:
        """The weights of a feature that hidden dropout leaves in."""
        table = feature.template.event
        names = [(table, feature.key, column) for column in range(self.n_columns[table])]
        weights = [self.weights.get(name, 0.0) for name in names]
        return [w if w and self.fires(n) else 0.0 for n, w in zip(names, weights, strict=True)]

    def fires(self, name: Name) -> bool:
        """Whether hidden dropout leaves a weight in."""
        if self.draw is None:
            return True
        table, key, column = name
        number = self.tables.index(table)
        row = self.learner.tables[number].row(key)
        draw = self.draw ^ ((number + 1) * GOLDEN & MASK_64)
        return not is_dropped(draw, row, column, self.learning.hidden_dropout)

    def update(
        self, twin: StatesTwin, right: Sequence[int], wrong: Sequence[int], loss: float
    ) -> None:
        """Learn that some actions are right, and others wrong."""
        delta: dict[Name, float] = defaultdict(float)
        for actions, sign in ((right, 1.0), (wrong, -1.0)):
            for state, action in twin.path(actions):
                for feature, column in twin.fired(state, action):
                    delta[feature.template.event, feature.key, column] += sign
        delta = {name: d for name, d in delta.items() if d and self.fires(name)}
        size = 1.0
        if self.learning.algorithm != "perceptron":
            squared = sum(d * d for d in delta.values())
            if not squared or loss <= 0:
                return
            size = min(self.learning.aggressiveness, loss / squared)
            if self.learning.algorithm == "pa_ii":
                size = loss / (squared + 0.5 / self.learning.aggressiveness)
        for name, d in delta.items():
            # Weights are floats of 32 bits.
            self.weights[name] = float(np.float32(self.weights[name] + size * d))

    # One visit ----------------------------------------------------------------------------------

    def visit(self, number: int, begin: int, count: int, noise: SplitMix64) -> int:
        """Learn from a piece of a sentence; returns how many actions were wrong.

        Where a sentence is known in part, `gold.right` tells all beginnings that are right, and the
        best of them is learned.
        """
        twin, derivation = self.twins[number], self.compiled[number]
        if isinstance(twin, WordsTwin) and (count < derivation.n or self.learning.dropout):
            twin = self.corrupted(replace(twin, part=(begin, count)), noise)
        actions = list(derivation.gold)[begin:][: twin.n_steps]
        self.draw = noise.word() if self.learning.hidden_dropout else None
        right = None
        if derivation.is_partial:
            right = self.golds[number].right(twin)
            *_, last = twin.slots(self.width, merge=self.merge, allowed=right)
            actions = list(last[0].actions)
        if self.stop == "every":
            return self.visit_every(twin, actions)
        self.clock += 1
        found = self.find(twin, actions, right)
        if found is None:
            return 0
        item, loss = found
        taken = item.actions
        self.update(twin, actions[: len(taken)], taken, loss)
        wrong = [i for i, action in enumerate(taken) if actions[i : i + 1] != [action]]
        return max(1, len(wrong))

    def corrupted(self, twin: WordsTwin, noise: SplitMix64) -> WordsTwin:
        """A part of a text with some of the characters hidden that atoms see."""
        if not self.learning.dropout:
            return twin
        assert twin.part
        begin, count = twin.part
        seen = range(max(0, begin - REACH), min(len(twin.text), begin + count + REACH))
        hidden = {i for i in seen if noise.unit() < self.learning.dropout}
        return replace(twin, hidden=hidden)

    def visit_every(self, twin: StatesTwin, actions: list[int]) -> int:
        """One update at each action, from states that gold leads to, or the best actions."""
        n_wrong = 0
        taken: list[int] = []
        for right in actions:
            state = twin.replay(taken)
            if twin.is_final(state, len(taken)):
                break
            scores = {each: twin.action_score(state, each) for each in twin.legal(state)}
            ranked = sorted(scores, key=lambda each: (-scores[each], each))
            others = [each for each in ranked if each != right]
            n_wrong += ranked[0] != right
            self.clock += 1
            if others and right in scores:
                loss = scores[others[0]] - scores[right] + (self.learning.algorithm != "perceptron")
                if loss > 0 or ranked[0] == others[0]:
                    self.update(twin, [*taken, right], [*taken, others[0]], loss)
            taken.append(right if twin.follows_gold else ranked[0])
        return n_wrong

    def find(
        self, twin: StatesTwin, actions: list[int], right: AbstractSet[Actions] | None
    ) -> tuple[Item, float] | None:
        """The item to learn against, and the loss. right: what else goes for gold."""
        cost = None
        if self.learning.algorithm in ("pa_i", "pa_ii"):
            cost = lambda step, action: float(actions[step : step + 1] not in ([], [action]))  # noqa: E731
        wanted = float(self.learning.algorithm == "pa")
        violations: list[tuple[float, Item]] = []
        lost = False
        for kept in twin.slots(self.width, merge=self.merge, cost=cost, margin=self.margin):
            step = len(kept[0].actions)
            prefix = tuple(actions[:step])
            if twin.slot(twin.replay(prefix), step) != twin.slot(kept[0].state, step):
                continue
            is_gold = [item.actions in (right or {prefix}) for item in kept]
            lost = lost or not any(is_gold)
            is_last = step == len(actions) or twin.ends(kept)
            gold_score = twin.score(prefix)
            others = [item for item, good in zip(kept, is_gold, strict=True) if not good]
            if is_last and is_gold[0] and not lost:
                if not wanted or not others or others[0].score - gold_score <= -wanted:
                    return None
                return others[0], others[0].score - gold_score + wanted
            if others:
                # The best of the others is the first or, after gold, the second.
                violations.append((others[0].score - gold_score + wanted, others[0]))
                if (self.stop == "early" and lost) or (self.stop != "max_violation" and is_last):
                    return others[0], violations[-1][0]
        if not violations:
            return None
        loss, item = max(violations, key=lambda found: found[0])
        return item, loss

    # Comparison ---------------------------------------------------------------------------------

    def found(self) -> dict[Name, float]:
        """The weights of the kernel that are not zero."""
        return {
            (name, key, column): float(weight)
            for name, table in zip(self.tables, self.learner.tables, strict=True)
            for key, row in rows_by_key(table).items()
            for column, weight in enumerate(row)
            if weight
        }

    def expected(self) -> dict[Name, float]:
        return {name: weight for name, weight in self.weights.items() if weight}

    def whole(self) -> np.ndarray:
        """All sentences as pieces."""
        return np.array([[i, 0, derivation.n] for i, derivation in enumerate(self.compiled)])

    def run(self, pieces: np.ndarray, seed: int = 0) -> None:
        """Let both visit pieces in one epoch, and compare all weights after it."""
        found = self.trainer.epoch(self.compiled, pieces, seed)
        noise = SplitMix64(seed)
        wrong = [self.visit(*piece, noise) for piece in pieces.tolist()]
        assert self.found() == pytest.approx(self.expected(), abs=1e-5)
        assert found == (sum(n > 0 for n in wrong), sum(wrong))
        assert self.learner.clock == self.clock


def check_training(
    system: System | ConstituencySystem,
    templates: Sequence[StateTemplate],
    golds: Sequence[Any],
    compiled_by: Callable[..., Any],
    *,
    n_labels: int = 1,
    stop: str = "max_violation",
    epochs: int = 2,
    **chosen: Any,
) -> TrainerTwin:
    """Train parsers for some epochs, and compare all weights after each.

    golds: with `words` and `tags`.
    """

    def twin_of(gold: Any, weights: Weights) -> StatesTwin:
        return system.twin(gold.words, gold.tags, templates, weights, n_labels)

    made = system.new(templates, n_labels)
    twin = TrainerTwin(
        made, templates, golds, compiled_by, twin_of, stop=stop, adaptive=True, **chosen
    )
    for _ in range(epochs):
        twin.run(twin.whole())
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
