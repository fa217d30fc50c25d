"""More atoms and events than any task has, against dense twins."""

from __future__ import annotations

import importlib.util
import itertools
import os
import random
import shutil
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agenda_twin import table_of
from learning_twins import GOLDEN, DenseWeights, SplitMix64, is_dropped
from twins import murmur_64a

import spacy_structreg
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.murmur import hash_string
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer, new_learner
from spacy_structreg.training.agenda import AgendaTrainer

N_PLAIN = 253  # and three others are as many as there may be
TEMPLATES = (
    *(f"action: a{i}" for i in range(0, N_PLAIN, 9)),
    *(f"action: a{i} a{N_PLAIN - 1 - i}" for i in range(0, 60, 7)),
    "action: one | action: one a64",
    "one: a63 a64 a127 a128 a191 a192 | one: set a252",
    "mod2: a200 a3 | mod2: bag",
    "mod3: one a1 | mod3: set",
    "mod4: bag one a100 | mod4: a65",
    "mod5: one set | mod5: a130",
    "mod6: bag a3",
    "mod7: a251",
)

# The toy system is compiled first.
pytestmark = pytest.mark.slow

State = tuple[int, int]  # the position and the last action


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The module of the toy system, compiled as one outside of the package would be."""
    folder = tmp_path_factory.mktemp("toy")
    source = shutil.copy(Path(__file__).with_name("toy_transitions.pyx"), folder)
    command = [sys.executable, "-m", "Cython.Build.Cythonize", "-i", "-3", "-q", str(source)]
    subprocess.run(
        command,
        cwd=Path(spacy_structreg.__file__).parents[1],
        env={**os.environ, "CFLAGS": f"{os.environ.get('CFLAGS', '')} -O0 -g0"},
        check=True,
        capture_output=True,
    )
    (compiled,) = [*folder.glob("toy_transitions.*.so"), *folder.glob("toy_transitions.*.pyd")]
    spec = importlib.util.spec_from_file_location("toy_transitions", compiled)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def events_of(action: int) -> Iterator[tuple[str, int]]:
    yield "action", action
    yield "one", 0
    for k in range(2, 8):
        yield f"mod{k}", action % k


def atom_values(numbers: Sequence[int], state: State, name: str) -> list[int]:
    """The values of an atom."""
    position, last = state
    number = numbers[position]
    if name == "one":
        return [1]
    if name == "bag":
        return [1 + numbers[k] for k in range(position + 1)]
    if name == "set":
        return [1 + numbers[k] % 3 for k in range(position + 1)]
    i = int(name[1:])
    return [(number * (i + 3) + ((last + 1) * (i + 5) if i % 2 else i)) % 7]


def features(
    templates: Sequence[StateTemplate], numbers: Sequence[int], state: State, event: str
) -> list[int]:
    """The keys of the features of an event in a state."""
    found = []
    for template in templates:
        if template.event != event:
            continue
        seed = hash_string(str(template))
        values = [atom_values(numbers, state, atom) for atom in template.atoms]
        for joined in itertools.product(*values):
            if all(joined):
                found.append(murmur_64a(struct.pack(f"<{1 + len(joined)}Q", seed, *joined)))
    return found


class Model:
    """A toy system with random weights for all features of a sequence, and its twin."""

    def __init__(self, toy: Any, n_actions: int, numbers: list[int]) -> None:
        self.system = toy.ToyTransitions(N_PLAIN, n_actions)
        self.system.load(numbers)
        self.numbers = numbers
        self.n_actions = n_actions
        self.templates = parse_state_templates(TEMPLATES, self.system.events, self.system.atoms)
        draw = random.Random(str(numbers))
        self.weights: dict[str, dict[int, list[float]]] = {}
        for event, width in self.system.events.items():
            states = [(0, -1), *itertools.product(range(1, len(numbers)), range(n_actions))]
            keys = sorted({key for s in states for key in self.features(s, event)})
            self.weights[event] = {
                key: [draw.randint(-8, 8) / 8 for _ in range(width)] for key in keys
            }

    def features(self, state: State, event: str) -> list[int]:
        return features(self.templates, self.numbers, state, event)

    def agenda(self, width: int | None, *, memo: bool, merge: bool = False) -> Agenda:
        tables = [table_of(self.system.events[e], rows) for e, rows in self.weights.items()]
        return Agenda(StateScorer(self.system, self.templates, tables, memo), width, merge)

    def action_score(self, state: State, action: int) -> float:
        return sum(
            self.weights[event][key][column]
            for event, column in events_of(action)
            for key in self.features(state, event)
        )

    def score(self, actions: Sequence[int]) -> float:
        states = zip(range(len(actions)), [-1, *actions], strict=False)
        return sum(map(self.action_score, states, actions))


NUMBERS = [[4, 1, 0, 6], [2, 2, 5, 3]]


@pytest.mark.parametrize("numbers", NUMBERS)
def test_scores_equal_the_twin(toy: Any, numbers: list[int]) -> None:
    model = Model(toy, 6, numbers)
    draw = random.Random(1)
    for _ in range(10):
        actions = [draw.randrange(6) for _ in numbers]
        for memo in (True, False):
            assert model.agenda(4, memo=memo).score(actions) == pytest.approx(
                model.score(actions), abs=1e-9
            )


@pytest.mark.parametrize("numbers", NUMBERS)
def test_the_best_derivation_equals_brute_force(toy: Any, numbers: list[int]) -> None:
    model = Model(toy, 4, numbers)
    best = max(itertools.product(range(4), repeat=len(numbers)), key=model.score)
    for memo, merge in itertools.product((True, False), repeat=2):
        ((score, actions),) = model.agenda(None, memo=memo, merge=merge).derivations()
        assert (score, tuple(actions)) == (pytest.approx(model.score(best), abs=1e-9), best)


@pytest.mark.parametrize("width", [1, 3, 70])
def test_the_memo_changes_no_bit(toy: Any, width: int) -> None:
    model = Model(toy, 12, NUMBERS[0])
    found = [model.agenda(width, memo=memo).derivations(width) for memo in (True, False)]
    assert found[0] == found[1]


def test_thousands_of_actions(toy: Any) -> None:
    model = Model(toy, 3_000, [3, 5])
    for actions in ([0, 2_999], [2_048, 1_024]):
        assert model.agenda(2, memo=True).score(actions) == pytest.approx(model.score(actions))
    assert model.system.n_actions == 3_000


def test_too_many_atoms_are_refused(toy: Any) -> None:
    system = toy.ToyTransitions(N_PLAIN + 1, 2)
    tables = [table_of(width, {}) for width in system.tables.values()]
    with pytest.raises(ValueError, match="too many atoms"):
        StateScorer(system, parse_state_templates(["one: a1"], system.events, system.atoms), tables)


# Training ---------------------------------------------------------------------------------------

Weight = tuple[str, int, int]  # the event, the key and the column


class TrainerTwin:
    """Updates at every action, of all weights at once."""

    def __init__(self, model: Model, learning: Learning, rows: dict[tuple[str, int], int]) -> None:
        self.model = model
        self.learning = learning
        self.rows = rows
        self.names: dict[Weight, int] = {}
        for event, keys in model.weights.items():
            for key, weights in keys.items():
                for column in range(len(weights)):
                    self.names[event, key, column] = len(self.names)
        self.dense = DenseWeights(
            np.zeros(len(self.names)),
            **{name: value for name, value in learning.penalties.items() if value},
        )

    def kept(self, state: State, action: int, draw: int) -> Iterator[int]:
        """The features of an action whose weights are not dropped, as indices."""
        events = list(self.model.weights)
        for event, column in events_of(action):
            own = draw ^ (events.index(event) + 1) * GOLDEN & 0xFFFFFFFFFFFFFFFF
            for key in self.model.features(state, event):
                dropout = self.learning.hidden_dropout
                if not dropout or not is_dropped(own, self.rows[event, key], column, dropout):
                    yield self.names[event, key, column]

    def visit(self, gold: Sequence[int], noise: SplitMix64) -> None:
        draw = noise.word() if self.learning.hidden_dropout else 0
        state = (0, -1)
        for action in gold:
            scores = [
                sum(self.dense.weights[w] for w in self.kept(state, a, draw))
                for a in range(self.model.n_actions)
            ]
            ranked = sorted(range(self.model.n_actions), key=lambda a: (-scores[a], a))
            best = ranked[0]
            other = next(a for a in ranked if a != action)
            violation = scores[other] - scores[action] + (self.learning.algorithm != "perceptron")
            changes: Counter[int] = Counter()
            if violation > 0 or best == other:
                for a, sign in ((action, 1.0), (other, -1.0)):
                    for weight in self.kept(state, a, draw):
                        changes[weight] += sign  # type: ignore[assignment]
            step = 1.0
            if self.learning.algorithm == "pa_i" and changes:
                squared = sum(value * value for value in changes.values())
                step = min(self.learning.aggressiveness, violation / squared) if squared else 0.0
            self.dense.step((weight, step * value) for weight, value in changes.items())
            state = (state[0] + 1, best)


@pytest.mark.parametrize(
    "learning",
    [
        Learning(),
        Learning("pa_i", aggressiveness=0.05),
        Learning(l2=0.01),
        Learning("pa_i", l1=1e-3),
        Learning(cumulative_l1=1e-3),
        Learning("pa_i", hidden_dropout=0.3),
    ],
    ids=str,
)
def test_updates_equal_the_twin(toy: Any, learning: Learning) -> None:
    model = Model(toy, 5, NUMBERS[0])
    gold = [3, 0, 4, 1]
    learner = new_learner(model.system, learning)
    rows = {
        (event, key): table.row(key)
        for (event, keys), table in zip(model.weights.items(), learner.tables, strict=True)
        for key in keys
    }
    twin = TrainerTwin(model, learning, rows)
    trainer = AgendaTrainer(model.system, model.templates, learner, width=1, update="every")
    derivations = [model.system.compile(NUMBERS[0], gold, learner)]
    for epoch in range(4):
        trainer.epoch(derivations, np.zeros(3, dtype=np.int64), epoch)
        noise = SplitMix64(epoch)
        for _ in range(3):
            twin.visit(gold, noise)
    assert np.abs(twin.dense.weights).max() > 0
    assert learner.clock == twin.dense.clock
    means = learner.average()
    for i, (event, keys) in enumerate(model.weights.items()):
        for key, columns in keys.items():
            own = [twin.names[event, key, column] for column in range(len(columns))]
            now = learner.tables[i].weights(rows[event, key], learner.clock)
            assert now == pytest.approx(twin.dense.weights[own], abs=1e-9)
            mean = twin.dense.totals[own] / twin.dense.clock
            assert means[i].weights(key) == pytest.approx(mean, abs=1e-6)


@pytest.mark.parametrize("update", ["perceptron", "pa_i"])
def test_the_memo_changes_no_bit_of_training(toy: Any, update: str) -> None:
    states = []
    for memo in (True, False):
        model = Model(toy, 5, NUMBERS[0])
        learning = Learning(update, l2=1e-3, hidden_dropout=0.1)  # type: ignore[arg-type]
        learner = new_learner(model.system, learning)
        trainer = AgendaTrainer(
            model.system, model.templates, learner, width=3, update="max_violation", memo=memo
        )
        golds = [[3, 0, 4, 1], [2, 2, 1, 0]]
        derivations = [
            model.system.compile(numbers, gold, learner)
            for numbers, gold in zip(NUMBERS, golds, strict=True)
        ]
        for epoch in range(3):
            trainer.epoch(derivations, np.arange(2), epoch)
        states.append(
            [
                {name: array.tobytes() for name, array in table.state().items()}
                for table in learner.tables
            ]
        )
    assert states[0] == states[1]
    assert any(state["values"] for state in states[0])
