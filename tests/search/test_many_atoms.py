"""More atoms and events than any task has, against a twin."""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from agenda_twin import Item, SmallWeights, Value, table_of
from parser_twins import ParserTwin, agenda_of, check_scores, tables_of, walk
from training.trainer_twin import check_memo, check_training

import spacy_structreg
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.search.scorer import StateScorer
from spacy_structreg.tasks.derivations import Derivation

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


class ToyTwin(ParserTwin):
    """Its words are numbers, its labels actions."""

    @property
    def n_steps(self) -> int:
        return self.n

    @property
    def start(self) -> State:
        return 0, -1

    def legal(self, state: State) -> list[int]:
        return list(range(self.n_labels))

    def apply(self, state: State, action: int) -> State:
        return state[0] + 1, action

    def front(self, position: int) -> int | None:
        return None

    def view(self, item: Item) -> object:
        return item.state

    def events_of(self, action: int) -> dict[str, int]:
        return {"action": action, "one": 0, **{f"mod{k}": action % k for k in range(2, 8)}}

    def atom(self, state: State, name: str) -> list[Value]:
        position, last = state
        seen: Sequence[int] = self.words[: position + 1]
        if name == "one":
            values = [1]
        elif name == "bag":
            values = [1 + number for number in seen]
        elif name == "set":
            values = [1 + number % 3 for number in seen]
        else:
            i = int(name[1:])
            values = [(seen[-1] * (i + 3) + ((last + 1) * (i + 5) if i % 2 else i)) % 7]
        return [("number", value) for value in values if value]


@dataclass(frozen=True)
class ToySystem:
    """The compiled side: the counterpart of `parser_twins.System`."""

    make: Callable[..., Any]
    twin: type[ToyTwin] = ToyTwin
    name: str = "toy"

    def parse(self, *texts: str) -> tuple[StateTemplate, ...]:
        made = self.make(N_PLAIN, 2)
        return parse_state_templates(texts, made.events, made.atoms)

    def new(self, templates: Sequence[StateTemplate], n_labels: int) -> Any:
        return self.make(N_PLAIN, n_labels)


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> ToySystem:
    """The toy system, compiled as one outside of the package would be."""
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
    return ToySystem(module.ToyTransitions)


@dataclass(frozen=True)
class Gold:
    words: list[int]
    actions: list[int]
    tags: list[str] = field(default_factory=list)


GOLDS = [Gold([4, 1, 0, 6], [2, 0, 1, 1]), Gold([2, 2, 5, 3], [2, 2, 1, 0])]


def compiled(made: Any, gold: Gold, learner: Perceptron) -> Derivation:
    derivation: Derivation = made.compile(gold.words, gold.actions, learner)
    return derivation


def twin_of(toy: ToySystem, gold: Gold, n_actions: int) -> ToyTwin:
    templates = toy.parse(*TEMPLATES)
    weights = SmallWeights(3, toy.new(templates, n_actions).events)
    return toy.twin(gold.words, [], templates, weights, n_actions)


@pytest.mark.parametrize("gold", GOLDS)
def test_scores_and_derivations_equal_the_twin(toy: ToySystem, gold: Gold) -> None:
    twin = twin_of(toy, gold, 4)
    check_scores(toy, twin, walk(random.Random(1), twin))
    everything = sorted(twin.all(), reverse=True)
    for memo in (True, False):
        agenda = agenda_of(toy, twin, tables_of(toy, twin), None, memo=memo)
        assert sorted(agenda.derivations(1000), reverse=True) == everything
        merged = agenda_of(toy, twin, tables_of(toy, twin), None, memo=memo, merge=True)
        assert merged.derivations(1)[0][0] == everything[0][0]


def test_thousands_of_actions(toy: ToySystem) -> None:
    twin = twin_of(toy, GOLDS[0], 3_000)
    for actions in ([0, 2_999], [2_048, 1_024]):
        expected = twin.score(actions)
        agenda = agenda_of(toy, twin, tables_of(toy, twin), 2)
        assert agenda.score(actions) == expected
    assert agenda.system.n_actions == 3_000


def test_too_many_atoms_are_refused(toy: ToySystem) -> None:
    system = toy.make(N_PLAIN + 1, 2)
    tables = [table_of(width, {}) for width in system.tables.values()]
    with pytest.raises(ValueError, match="too many atoms"):
        StateScorer(system, parse_state_templates(["one: a1"], system.events, system.atoms), tables)


# The steps of the second are of one small size, so that sums are exact and ties the same.
@pytest.mark.parametrize("learning", [Learning(), Learning("pa_i", aggressiveness=2.0**-12)])
@pytest.mark.parametrize("stop", ["early", "max_violation"])
def test_updates_equal_the_twin(toy: ToySystem, stop: str, learning: Learning) -> None:
    twin = check_training(
        toy,
        toy.parse(*TEMPLATES),
        GOLDS,
        compiled,
        learning=learning,
        n_labels=3,
        stop=stop,
        epochs=4,
    )
    assert twin.expected()


def test_the_memo_changes_no_bit(toy: ToySystem) -> None:
    check_memo(toy, toy.parse(*TEMPLATES), GOLDS, compiled, GOLDS)
