"""Explanations of transition systems: the features of the actions of a derivation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from spacy_structreg.features.knowledge import joined_sources
from spacy_structreg.features.state_templates import StateTemplate
from spacy_structreg.learn.murmur import hash_numbers, hash_string
from spacy_structreg.models.explanation import Contribution, Decision, decision_of
from spacy_structreg.search.scorer import StateScorer
from spacy_structreg.search.visited_states import VisitedState, fired_events


@dataclass(frozen=True)
class StateNames:
    """The names of what templates see in the states of a derivation.

    value: the value of an atom, by the number of the state, the name of the atom, the number of the
    value among those that it has, and the value. source: that of an atom, by the number of the
    state, the name and the value. place: of a decision, by the number of the state. action: its
    name, by the state and the action.
    """

    value: Callable[[int, str, int, int], str]
    source: Callable[[int, str, int], str]
    place: Callable[[int], str]
    action: Callable[[int, int], str]


class ExplainedStates:
    """The features of the states of a derivation, with their weights.

    scorer: whose templates and weights are looked up. extras: what else is added to the score of an
    action, by the number of the state and the action.
    """

    def __init__(
        self,
        scorer: StateScorer,
        visited: Sequence[VisitedState],
        names: StateNames,
        extras: Callable[[int, int], Sequence[Contribution]] = lambda number, action: (),
    ) -> None:
        system = scorer.system
        self._tables: dict[str, Any] = {
            event: scorer.tables[number]
            for event, number in zip(system.events, system.event_tables, strict=True)
        }
        self._templates: dict[str, list[StateTemplate]] = {event: [] for event in system.events}
        for group in scorer.groups:
            self._templates[group.event] += group.templates
        self._fired = fired_events(system)
        self._visited = visited
        self._names = names
        self._extras = extras
        # The features of states that are looked at.
        self._found: dict[tuple[int, str], list[tuple[str, str, str, Any]]] = {}

    def _features(self, number: int, event: str) -> Iterator[tuple[str, str, str, Any]]:
        """Yield the features of an event in a state: template, value, source, weights."""
        atoms = self._visited[number].atoms
        table = self._tables[event]
        for template in self._templates[event]:
            values = [list(enumerate(atoms[name])) for name in template.atoms]
            for chosen in product(*values):
                numbers = [value for _, value in chosen]
                # Null silences the template.
                if 0 in numbers:
                    continue
                key = hash_numbers([hash_string(str(template)), *numbers])
                pairs = list(zip(template.atoms, chosen, strict=True))
                yield (
                    str(template),
                    " ".join(
                        self._names.value(number, name, rank, value)
                        for name, (rank, value) in pairs
                    ),
                    joined_sources(
                        self._names.source(number, name, value) for name, (_, value) in pairs
                    ),
                    table.weights(key),
                )

    def contributions(self, number: int, action: int) -> list[Contribution]:
        """The features of an action in a state: their sum is its score."""
        found = []
        for event, column in self._fired[action]:
            if (number, event) not in self._found:
                self._found[number, event] = list(self._features(number, event))
            found += [
                Contribution(template, value, source, float(weights[column]))
                for template, value, source, weights in self._found[number, event]
            ]
        return [*found, *self._extras(number, action)]

    def decisions(self) -> Iterator[Decision]:
        """Yield the decisions behind the actions, each against the next best in its state."""
        for number, state in enumerate(self._visited):
            scores = {
                action: sum(each.score for each in self.contributions(number, action))
                for action in state.legal
            }
            own = self.contributions(number, state.action)
            others = [action for action in state.legal if action != state.action]
            rival = None
            if others:
                best = max(others, key=lambda action: (scores[action], -action))
                rival = (
                    self._names.action(number, best),
                    [("", each) for each in own],
                    [("", each) for each in self.contributions(number, best)],
                )
            yield decision_of(
                self._names.place(number),
                self._names.action(number, state.action),
                own,
                scores[state.action],
                rival,
            )
            self._found.clear()
