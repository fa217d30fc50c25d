"""Slow, obvious twins of the transition systems of parsing, their beams and training.

States are lists of words and arcs, what templates read is looked up by the names of atoms, beams
are sorted lists, and merged states are replayed from their actions.
"""

from __future__ import annotations

import random
import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any, ClassVar

from agenda_twin import (
    NO_WORD,
    Actions,
    Feature,
    Item,
    SmallWeights,
    StatesTwin,
    Value,
    Weights,
)

from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.features.word_fields import shape_table
from spacy_structreg.learn.murmur import hash_string
from spacy_structreg.learn.rows import Rows, TrainedRows
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer
from spacy_structreg.tasks.dependencies.arc_eager import (
    ARC_ATOMS,
    ARC_EAGER_ATOMS,
    ARC_EAGER_EVENTS,
    ArcEager,
)
from spacy_structreg.tasks.dependencies.arc_standard import (
    ARC_STANDARD_ATOMS,
    ARC_STANDARD_EVENTS,
    ArcStandard,
)
from spacy_structreg.tasks.dependencies.arcs import DependencyTransitions
from spacy_structreg.tasks.word_fields import WordFields

ROOT = -1
SHIFT = 0
REDUCE = 1
# The word and the tag of a node that is not there; beyond the sentence there is no word.
NO_NODE: Value = ("number", 2)
PLAIN = WordFields(False)
KINDS = shape_table()

Heads = tuple[int, ...]
Tree = tuple[list[int], list[int]]


# Trees --------------------------------------------------------------------------------------------


def random_tree(draw: random.Random, n: int) -> list[int]:
    """The heads of a projective tree with one root: parts of spans hang on the word beside them."""
    heads = [ROOT] * n
    spans = []

    def place(top: int, begin: int, end: int) -> None:
        spans.extend([(begin, top, top), (top + 1, end, top)])

    place(draw.randrange(n), 0, n)
    while spans:
        begin, end, head = spans.pop()
        if begin < end:
            stop = draw.randint(begin + 1, end)
            top = draw.randrange(begin, stop)
            heads[top] = head
            place(top, begin, stop)
            spans.append((stop, end, head))
    return heads


def is_tree(heads: Sequence[int]) -> bool:
    """Whether heads make a projective tree with one root, by the definition."""
    if list(heads).count(ROOT) != 1:
        return False
    above = [set[int]() for _ in heads]
    for word in range(len(heads)):
        at = word
        while at != ROOT:
            if at in above[word]:
                return False
            above[word].add(at)
            at = heads[at]
    return all(
        head in above[between]
        for word, head in enumerate(heads)
        if head != ROOT
        for between in range(min(word, head) + 1, max(word, head))
    )


@cache
def all_trees(n: int) -> tuple[Heads, ...]:
    """The heads of all projective trees with one root over n words."""
    return tuple(filter(is_tree, product(range(ROOT, n), repeat=n)))


# Transition systems -------------------------------------------------------------------------------


@dataclass(frozen=True)
class State:
    """stack: the top last. arcs: child, head and label, in the order in which they were made."""

    stack: tuple[int, ...] = ()
    position: int = 0
    arcs: tuple[tuple[int, int, int], ...] = ()
    has_reduced: bool = False

    def head(self, word: int) -> int | None:
        return next((head for child, head, _ in self.arcs if child == word), None)

    def label(self, word: int) -> int | None:
        return next((label for child, _, label in self.arcs if child == word), None)

    def children(self, word: int, side: str) -> list[int]:
        """Those on one side, the outermost first."""
        found = [child for child, head, _ in self.arcs if head == word]
        if side == "l":
            return sorted(child for child in found if child < word)
        return sorted((child for child in found if child > word), reverse=True)


@dataclass(frozen=True)
class ParserTwin(StatesTwin):
    """The parser of one sentence."""

    follows_gold: ClassVar[bool] = True

    words: Sequence[str]
    tags: Sequence[str]
    templates: Sequence[StateTemplate]
    weights: Weights
    n_labels: int = 1
    found: dict[tuple[Any, str], list[Feature]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @abstractmethod
    def front(self, position: int) -> int | None:
        """N0 as a node, which may not be there."""

    @property
    def n(self) -> int:
        return len(self.words)

    @property
    def n_steps(self) -> int:
        return 2 * self.n - 1

    @property
    def start(self) -> Any:
        return State()

    def arcs_of(self, first: int) -> tuple[list[int], list[int]]:
        """The actions that make arcs to the left and to the right, by labels."""
        lefts = [first + label for label in range(self.n_labels)]
        return lefts, [action + self.n_labels for action in lefts]

    def tree(self, actions: Sequence[int]) -> Tree:
        state = self.replay(actions)
        heads = [state.head(word) for word in range(self.n)]
        labels = [state.label(word) for word in range(self.n)]
        return [ROOT if h is None else h for h in heads], [ROOT if x is None else x for x in labels]

    # Features -----------------------------------------------------------------------------------

    def node(self, state: State, name: str) -> int | None:
        """The word that a node stands for; one beyond the ends of the sentence for padding."""
        match = re.fullmatch(r"([SN])(-?\d)(.*)", name)
        assert match
        place, relation = int(match[2]), match[3]
        if match[1] == "N":
            word = self.front(state.position) if place == 0 else state.position + place
        else:
            word = state.stack[-1 - place] if place < len(state.stack) else None
        if word is None or relation == "":
            return word
        if relation in ("-1", "+1"):
            return word + int(relation)
        if relation[0] in "hp":
            above = state.head(word)
            if relation == "p" and above is None:
                return self.front(state.position)
            return state.head(above) if relation == "h2" and above is not None else above
        return dict(enumerate(state.children(word, relation[0]))).get(len(relation) - 1)

    def field(self, word: int | None, name: str) -> Value | None:
        if word is None:
            return NO_NODE
        if not 0 <= word < self.n:
            return NO_WORD
        if name == "t":
            return ("number", hash_string(self.tags[word]))
        seen = "".join(chr(ord(c) - 0xFEE0) if "！" <= c <= "～" else c for c in self.words[word])
        kinds = [chr(KINDS[min(ord(c), len(KINDS) - 1)]) for c in seen]
        lower = seen.lower()
        length = int(name[-1]) if name[-1].isdigit() else 1
        if length > len(seen):
            return None
        if name in ("len", "caps", "digits", "parts"):
            # The last three are held to their texts by tests/tasks/test_word_numbers.py.
            return ("number", 2 + min(len(seen), 4) if name == "len" else PLAIN.values(seen)[name])
        text = {
            "w": seen,
            "lower": lower,
            "kinds": "".join(kinds),
            "shape": "".join(b for a, b in zip(["", *kinds], kinds, strict=False) if a != b),
            "start": lower[0],
            "prefix": lower[:length],
            "end": lower[-1],
            "suffix": lower[::-1][:length],
        }[name.rstrip("23456")]
        return ("number", PLAIN.key_of(text))

    def atom(self, state: State, name: str) -> list[Value]:
        value: Value | int | None
        if name.startswith(("dist(", "between(")):
            nodes = [self.node(state, node) for node in name[:-1].partition("(")[2].split(",")]
            left, right = nodes
            if left is None or right is None:
                return []
            if name.startswith("between("):
                tags = {self.field(word, "t") for word in range(left + 1, right)}
                return [tag for tag in tags if tag is not None]
            far = abs(right - left)
            value = far if far < 6 else 6 if far <= 10 else 7
        elif name.endswith(")"):
            kind, _, node = name[:-1].partition("(")
            word = self.node(state, node)
            value = self.field(word, kind)
        elif name.endswith("label"):
            word = self.node(state, name.removesuffix("label"))
            label = None if word is None else state.label(word)
            value = None if label is None else 1 + label
        elif name[-2:] in ("vl", "vr", "sl", "sr"):
            word = self.node(state, name[:-2])
            children = [] if word is None else state.children(word, name[-1])
            if name[-2] == "v":
                value = 1 + min(len(children), 15)
            else:
                labels = {label for child, _, label in state.arcs if child in children}
                value = 1 + sum(2**label for label in labels)
            value = None if word is None else value
        else:
            word = self.node(state, name[:-1])
            value = self.field(word, name[-1])
        if value is None:
            return []
        return [("number", value) if isinstance(value, int) else value]


ROLES = {
    "left": {"P": "N0", "P-1": "N-1", "P+1": "N1", "C": "S0", "S": "N0l", "Cl": "S0l"},
    "right": {"P": "S0", "C": "N0", "C-1": "N-1", "C+1": "N1", "S": "S0r", "Cl": "N0l"},
}


def renamed(atom: str, side: str) -> str:
    """An atom of an arc as that of the state in which the arc is made."""

    def node(match: re.Match[str]) -> str:
        roles = ROLES[side]
        return roles.get(match[0]) or roles[match[0][0]] + match[0][1:]

    if atom.startswith("dist"):
        # The twin's distances are of two nodes in the order of the sentence.
        nodes = re.findall(r"[PCS]", atom)
        ordered = sorted((ROLES[side][each] for each in nodes), key=ORDER.index)
        return f"dist({','.join(ordered)})"
    if atom.startswith("between"):
        return "between(S0,N0)"
    return re.sub(r"\b[PCS](?:[+-]1|l)?(?=[wt)]|$)", node, atom)


ORDER = ["S0", "S0r", "N0l", "N0"]


class EagerTwin(ParserTwin):
    """SHIFT, REDUCE, then ARC-LEFT and ARC-RIGHT by labels."""

    def legal(self, state: State) -> list[int]:
        lefts, rights = self.arcs_of(2)
        has_next, is_last = state.position < self.n, state.position == self.n - 1
        headless = [word for word in state.stack if state.head(word) is None]
        found = []
        if has_next and not state.has_reduced and not (is_last and state.stack):
            found.append(SHIFT)
        if state.stack and state.stack[-1] not in headless:
            found.append(REDUCE)
        if has_next and state.stack and state.stack[-1] in headless:
            found += lefts
        if has_next and state.stack and not (is_last and len(headless) > 1):
            found += rights
        return found

    def apply(self, state: State, action: int) -> State:
        stack, i = state.stack, state.position
        label = (action - 2) % self.n_labels
        if action == SHIFT:
            return State((*stack, i), i + 1, state.arcs)
        if action == REDUCE:
            return State(stack[:-1], i, state.arcs, has_reduced=True)
        if action < 2 + self.n_labels:
            return State(stack[:-1], i, (*state.arcs, (stack[-1], i, label)))
        return State((*stack, i), i + 1, (*state.arcs, (i, stack[-1], label)))

    def front(self, position: int) -> int | None:
        return position if position < self.n else None

    def events_of(self, action: int) -> dict[str, int]:
        label = (action - 2) % self.n_labels
        pushes = action == SHIFT or action >= 2 + self.n_labels
        events = {"action": action, "push" if pushes else "pop": 0}
        if action > REDUCE:
            side = "right" if pushes else "left"
            events |= {side: label, f"arc to the {side}": 0}
        return events

    def read(self, state: State, event: str) -> list[Feature]:
        if not event.startswith("arc to the "):
            return super().read(state, event)
        found = []
        for template in self.templates:
            if template.event == "arc":
                names = [
                    renamed(name, event.removeprefix("arc to the ")) for name in template.atoms
                ]
                values = [self.atom(state, name) for name in names]
                found += [Feature(template, joined) for joined in product(*values)]
        return found

    def view(self, item: Item) -> object:
        state = item.state

        def side(word: int, which: str) -> object:
            children = state.children(word, which)
            labels = [state.label(child) for child in children]
            return children[:2], labels[:2], len(children), sorted({*map(str, labels)})

        return repr((
            state.position, state.has_reduced, side(state.position, "l"),
            [(word, state.label(word), side(word, "l"), side(word, "r")) for word in state.stack],
        ))  # fmt: skip


class StandardTwin(ParserTwin):
    """SHIFT, then LEFT and RIGHT by labels."""

    def legal(self, state: State) -> list[int]:
        found = [SHIFT] if state.position < self.n else []
        if len(state.stack) > 1:
            lefts, rights = self.arcs_of(1)
            found += lefts + rights
        return found

    def apply(self, state: State, action: int) -> State:
        if action == SHIFT:
            return State((*state.stack, state.position), state.position + 1, state.arcs)
        *rest, second, top = state.stack
        label = (action - 1) % self.n_labels
        if action <= self.n_labels:
            return State((*rest, top), state.position, (*state.arcs, (second, top, label)))
        return State((*rest, second), state.position, (*state.arcs, (top, second, label)))

    def front(self, position: int) -> int | None:
        return position

    def events_of(self, action: int) -> dict[str, int]:
        return {"action": action}

    def view(self, item: Item) -> object:
        state = item.state
        begin = state.stack[-1]
        while children := state.children(begin, "l"):
            begin = children[0]
        names = {name for template in self.templates for name in template.atoms}
        # The top will be the second word, whose children may be seen.
        names |= {name.replace("S1", "S0") for name in names if re.search("S1[lr]", name)}
        seen = [self.atom(state, name) for name in sorted(names)]
        return repr((state.position, begin, state.stack[-3:], seen))

    def led_to(self, item: Item, action: int, score: float, merge: bool) -> list[Item]:
        if not merge:
            return super().led_to(item, action, score, merge)
        if action == SHIFT:
            (shifted,) = super().led_to(item, action, score, merge)
            shifted.below = [(item, score)]
            return [shifted]
        assert item.origin
        found_all = []
        for below, shift_score in item.origin.below:
            inside = (SHIFT, *item.inside, action)
            inside_score = shift_score + item.inside_score + score
            actions = (*below.actions, *inside)
            state = self.replay(actions)
            found = Item(below.score + inside_score, 0, actions, state, parent=item)
            found.taken, found.origin = below, below.origin
            found.inside = (*below.inside, *inside)
            found.inside_score = below.inside_score + inside_score
            found_all.append(found)
        return found_all


def beginnings(
    twin: ParserTwin, heads: Sequence[int | None], labels: Sequence[int | None]
) -> set[Actions]:
    """All beginnings of the derivations that make a tree with what is known of it.

    Arc-standard ones put a word on the stack only when the one there before has all below it that
    is known to be on its left. heads, labels: None where they are not known.
    """
    found: set[Actions] = set()

    def waits(state: State) -> bool:
        below = {*state.stack[-1:]}
        for _ in heads:
            below |= {word for word, head in enumerate(heads) if head in below}
        return any(word in below for word in state.stack[:-1])

    def follow(state: State, actions: Actions) -> bool:
        if twin.is_final(state, len(actions)):
            # The label of a root says nothing of an arc.
            goes = all(
                wish in (None, head) and (name in (None, ROOT, label) or label == ROOT)
                for wish, head, name, label in zip(
                    heads, twin.tree(actions)[0], labels, twin.tree(actions)[1], strict=True
                )
            )
        else:
            goes = False
            for action in twin.legal(state):
                if not (isinstance(twin, StandardTwin) and action == SHIFT and waits(state)):
                    goes |= follow(twin.apply(state, action), (*actions, action))
        if goes:
            found.add(actions)
        return goes

    assert follow(twin.start, ())
    return found


@dataclass(frozen=True)
class System:
    """A transition system by its parts, and its twin."""

    name: str
    make: Callable[..., DependencyTransitions]
    twin: type[ParserTwin]
    atoms: tuple[str, ...]
    events: tuple[str, ...]
    own_atoms: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def parse(self, *texts: str) -> tuple[StateTemplate, ...]:
        return parse_state_templates(texts, self.events, self.atoms, own_atoms=self.own_atoms)

    def new(self, templates: Sequence[StateTemplate], n_labels: int) -> DependencyTransitions:
        atoms = [atom for template in templates for atom in template.atoms]
        events = [event for event in self.events if event in {t.event for t in templates}]
        return self.make(WordFields(), n_labels, atoms, events)


def without_classes(atoms: Sequence[str]) -> tuple[str, ...]:
    """Atoms but those of word classes, which have tests of their own."""
    return tuple(atom for atom in atoms if not atom.startswith("class"))


EAGER = System(
    "arc_eager",
    ArcEager,
    EagerTwin,
    without_classes(ARC_EAGER_ATOMS),
    ARC_EAGER_EVENTS,
    {"arc": without_classes(ARC_ATOMS)},
)
STANDARD = System(
    "arc_standard",
    ArcStandard,
    StandardTwin,
    without_classes(ARC_STANDARD_ATOMS),
    ARC_STANDARD_EVENTS,
)
SYSTEMS = {system.name: system for system in (EAGER, STANDARD)}


def agenda_of(
    system: System,
    twin: ParserTwin,
    tables: Sequence[Rows],
    width: int | None,
    *,
    merge: bool = False,
    memo: bool = True,
    margin: float | None = None,
    given: Any = None,
) -> Agenda:
    """The agenda of a twin, its sentence loaded."""
    loaded = system.new(twin.templates, twin.n_labels)
    loaded.load_words(twin.words, twin.tags, given)
    return Agenda(StateScorer(loaded, twin.templates, tables, memo), width, merge, margin)


def tables_of(system: System, twin: ParserTwin) -> list[TrainedRows]:
    """Tables of the weights that the twin has drawn so far."""
    if isinstance(twin.weights, SmallWeights):
        return twin.weights.tables()
    return SmallWeights(0, system.new(twin.templates, twin.n_labels).tables).tables()


def walk(draw: random.Random, twin: ParserTwin) -> list[int]:
    """A random legal path, with all features on its way drawn."""
    state, actions = twin.start, []
    while not twin.is_final(state, len(actions)):
        for action in twin.legal(state):
            twin.action_score(state, action)
        actions.append(draw.choice(twin.legal(state)))
        state = twin.apply(state, actions[-1])
    return actions


def check_scores(system: System, twin: ParserTwin, actions: Sequence[int]) -> None:
    """Every action on a path, taken or not, scores what the twin says; features have been drawn."""
    agenda = agenda_of(system, twin, tables_of(system, twin), None)
    state, score = twin.start, 0.0
    for step, taken in enumerate(actions):
        for action in twin.legal(state):
            expected = score + twin.action_score(state, action)
            assert agenda.score([*actions[:step], action]) == expected
        score += twin.action_score(state, taken)
        state = twin.apply(state, taken)
