"""A slow, obvious twin of shift-reduce constituency parsing, and all trees of short sentences.

Phrases know their children, and what is legal is decided action by action.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, groupby, pairwise, product
from typing import ClassVar

from agenda_twin import Item, SmallWeights, Value
from parser_twins import ParserTwin

from spacy_structreg.corpora.binarization import Kind
from spacy_structreg.corpora.constituents import Constituent
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.tasks.constituents import (
    CONSTITUENT_ATOMS,
    CONSTITUENT_EVENTS,
    ConstituentTransitions,
)
from spacy_structreg.tasks.word_fields import WordFields

SHIFT, TERMINATE, IDLE, FIRST_PHRASE = range(4)
# In the order of the actions, each for all labels.
WAYS = (Kind.UNARY, Kind.LEFT, Kind.RIGHT, Kind.LEFT_TEMPORARY, Kind.RIGHT_TEMPORARY)
HEADED_RIGHT = (Kind.RIGHT, Kind.RIGHT_TEMPORARY)
TEMPORARY = (Kind.LEFT_TEMPORARY, Kind.RIGHT_TEMPORARY)

LEFT_BRACKETS = "(“《「『[{‘〈"
RIGHT_BRACKETS = ")”》」』]}’〉"
SEPARATORS = [",", ".。", "、", ";"]
SAME_WORDS = {"-LRB-": "(", "-RRB-": ")", "``": "“", "''": "”", "【": "[", "】": "]"}

Given = tuple[int, int, str | None]
Constituents = tuple[Constituent, ...]
Heads = tuple[tuple[str, str], ...] | None


# Trees --------------------------------------------------------------------------------------------


@cache
def all_trees(n: int, labels: tuple[str, ...], max_unaries: int) -> frozenset[Constituents]:
    """All trees over n words with heads, by building every one."""

    def over(begin: int, end: int) -> Iterator[tuple[int, Constituents]]:
        """Heads and constituents of all nodes over some words."""
        bases: list[tuple[int, Constituents]] = [(begin, ())] if end - begin == 1 else []
        for n_cuts in range(1, end - begin):
            for cuts in combinations(range(begin + 1, end), n_cuts):
                for parts in product(*(list(over(*p)) for p in pairwise((begin, *cuts, end)))):
                    inside = tuple(found for _, some in parts for found in some)
                    bases += [
                        (head, (Constituent(label, begin, end, head), *inside))
                        for label in labels
                        for head, _ in parts
                    ]
        for _ in range(max_unaries + 1):
            yield from bases
            bases = [
                (head, (Constituent(label, begin, end, head), *some))
                for head, some in bases
                for label in labels
                if not is_over(some, begin, end) or some[0].label != label
            ]

    def is_over(some: Constituents, begin: int, end: int) -> bool:
        return bool(some) and (some[0].begin, some[0].end) == (begin, end)

    return frozenset(constituents for _, constituents in over(0, n))


def has_given(constituents: Sequence[Constituent], given: Sequence[Given]) -> bool:
    """Whether a tree has what is given: over the same words, in the same order."""

    def fits(wanted: list[str | None], there: list[str]) -> bool:
        return not wanted or any(
            wanted[0] in (None, label) and fits(wanted[1:], there[i + 1 :])
            for i, label in enumerate(there)
        )

    return all(
        fits(
            [label for *words, label in given if words == [begin, end]],
            [each.label for each in constituents if (each.begin, each.end) == (begin, end)],
        )
        for begin, end, _ in given
    )


def n_unaries(constituents: Sequence[Constituent]) -> int:
    """How many unary phrases lie on one another at most."""
    chains = groupby(constituents, lambda each: (each.begin, each.end))
    return max((len(list(chain)) - (end > begin + 1) for (begin, end), chain in chains), default=0)


def random_given(draw: random.Random, n: int, labels: Sequence[str], most: int = 3) -> list[Given]:
    """Constituents that do not cross, up to `most` over the same words."""
    given: list[Given] = []
    spans = [(0, n)]
    share = draw.random()
    while spans:
        begin, end = spans.pop()
        if draw.random() < share:
            above = None
            for _ in range(draw.choice([1, 1, 1, draw.randint(1, most)])):
                choices = [None, *(label for label in labels if label != above)]
                above = draw.choice(choices)
                given.append((begin, end, above))
        if end - begin > 1:
            cut = draw.randrange(begin + 1, end)
            spans += [(begin, cut), (cut, end)]
    # Only of those over the same words the order counts.
    keys = {words: draw.random() for words in {each[:2] for each in given}}
    return sorted(given, key=lambda each: keys[each[:2]])


def random_heads(draw: random.Random, labels: Sequence[str], tags: Sequence[str]) -> Heads:
    """Pairs of labels and categories, which may leave out some; None for any."""
    pairs = list(product(labels, [*labels, *tags]))
    return draw.choice([None, tuple(draw.sample(pairs, draw.randint(0, len(pairs))))])


# The transition system ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Node:
    """A word, without a label, or a phrase."""

    begin: int
    end: int
    head: int
    label: int | None = None
    temporary: bool = False
    children: tuple[Node, ...] = ()

    @property
    def headed_right(self) -> bool:
        return len(self.children) == 2 and self.head >= self.children[1].begin

    @property
    def n_unaries(self) -> int:
        return 1 + self.children[0].n_unaries if len(self.children) == 1 else 0


@dataclass(frozen=True)
class Parse:
    """A state. nodes: of the stack, the top last."""

    nodes: tuple[Node, ...] = ()
    position: int = 0
    done: bool = False


@dataclass(frozen=True)
class ConstituencyTwin(ParserTwin):
    ends_early: ClassVar[bool] = True

    max_unaries: int = 3
    heads: Heads = None

    @property
    def n_steps(self) -> int:
        # Each of the 2n - 1 words and phrases of two parts may have all unary phrases on it.
        return (2 * self.n - 1) * (1 + self.max_unaries) + 1

    @property
    def n_actions(self) -> int:
        return FIRST_PHRASE + len(WAYS) * self.n_labels

    @property
    def start(self) -> Parse:
        return Parse()

    def is_final(self, state: Parse, n_actions: int) -> bool:
        return state.done

    def phrase(self, action: int) -> tuple[Kind, int]:
        way, label = divmod(action - FIRST_PHRASE, self.n_labels)
        return WAYS[way], label

    def legal(self, state: Parse) -> list[int]:
        found = [action for action in range(self.n_actions) if self.may(state, action)]
        return [action for action in found if self.may_head(state, action)] or found

    def may_head(self, state: Parse, action: int) -> bool:
        """Return true if the head of the phrase that an action makes is one of its kind."""
        if self.heads is None or action < FIRST_PHRASE:
            return True
        kind, label = self.phrase(action)
        child = state.nodes[-1 if kind in (Kind.UNARY, *HEADED_RIGHT) else -2]
        if child.temporary:
            return True
        if child.label is not None:
            return (f"L{label}", f"L{child.label}") in self.heads
        tag = self.tags[child.head]
        return (f"L{label}", tag) in self.heads or tag not in {name for _, name in self.heads}

    def may(self, state: Parse, action: int) -> bool:
        """Whether an action is legal, by the rules of Zhang & Clark 2009."""
        if state.done or action == IDLE:
            return state.done and action == IDLE
        if not state.nodes:
            return action == SHIFT
        *below, top = state.nodes
        queue_is_empty = state.position == self.n
        if action == SHIFT:
            return not queue_is_empty and not (top.temporary and top.headed_right)
        if action == TERMINATE:
            return queue_is_empty and not below and not top.temporary
        kind, label = self.phrase(action)
        if kind == Kind.UNARY:
            is_free = top.n_unaries < self.max_unaries and top.label != label
            return is_free and not top.temporary
        return bool(below) and self.may_join(kind, label, below, top, queue_is_empty)

    def may_join(
        self, kind: Kind, label: int, below: Sequence[Node], right: Node, queue_is_empty: bool
    ) -> bool:
        """Whether the two topmost nodes may be the children of a phrase."""
        *rest, left = below
        headed_right = kind in HEADED_RIGHT
        if left.temporary and right.temporary:
            return False
        for child, has_head in ((left, not headed_right), (right, headed_right)):
            # The temporary phrase of a label belongs to one of that label, and has its head.
            if child.temporary and not (has_head and child.label == label):
                return False
        if kind in TEMPORARY and (not rest or rest[-1].temporary):
            return not headed_right and not queue_is_empty
        return True

    def apply(self, state: Parse, action: int) -> Parse:
        nodes, i = state.nodes, state.position
        if action == IDLE:
            return state
        if action == TERMINATE:
            return replace(state, done=True)
        if action == SHIFT:
            return Parse((*nodes, Node(i, i + 1, i)), i + 1)
        kind, label = self.phrase(action)
        children = nodes[-1:] if kind == Kind.UNARY else nodes[-2:]
        head = children[-1 if kind in HEADED_RIGHT else 0].head
        begin, end = children[0].begin, children[-1].end
        made = Node(begin, end, head, label, kind in TEMPORARY, children)
        return Parse((*nodes[: -len(children)], made), i)

    def front(self, position: int) -> int | None:
        return position

    def events_of(self, action: int) -> dict[str, int]:
        return {} if action == IDLE else {"action": action}

    def view(self, item: Item) -> object:
        return item.state

    # Features -----------------------------------------------------------------------------------

    def place(self, state: Parse, name: str) -> Node | None:
        """The node of the stack that a name says, or a child of it: S0, S1u, ..."""
        place, child = int(name[1]), name[2:]
        node = state.nodes[-1 - place] if place < len(state.nodes) else None
        if node is None or child == "":
            return node
        if child == "u":
            return node.children[0] if len(node.children) == 1 else None
        return node.children["lr".index(child)] if len(node.children) == 2 else None

    def node(self, state: Parse, name: str) -> int | None:
        if name.startswith("N"):
            return state.position + int(name[1])
        found = self.place(state, re.sub("first|last", "", name))
        if found is None:
            return None
        return {"first": found.begin, "last": found.end - 1}.get(name[2:], found.head)

    def category(self, node: Node) -> Value | None:
        if node.label is None:
            return self.field(node.head, "t")
        # After the values for words that are not there.
        return ("number", 3 + node.label + node.temporary * self.n_labels)

    def seen(self, word: int) -> str:
        text = "".join(chr(ord(c) - 0xFEE0) if "！" <= c <= "～" else c for c in self.words[word])
        return SAME_WORDS.get(text, text)

    def partner(self, word: int) -> int | None:
        """The right bracket of a left one: what is open in between is closed in between."""
        kind = LEFT_BRACKETS.index(self.seen(word))
        for other in range(word + 1, self.n):
            if self.seen(other) == RIGHT_BRACKETS[kind] and all(
                (self.partner(between) or self.n) < other
                for between in range(word + 1, other)
                if self.seen(between) in LEFT_BRACKETS
            ):
                return other
        return None

    def bracket(self, state: Parse) -> int | None:
        """Zhang & Clark 2011, section 6: the status of the last left bracket on the stack."""
        words = [node.begin for node in state.nodes if node.label is None]
        left = [word for word in words if self.seen(word) in LEFT_BRACKETS]
        if not left:
            return None
        right = self.partner(left[-1])
        if right is None or right >= state.position:
            return 1
        return 2 if right in words else 3

    def separators(self, state: Parse) -> list[int]:
        """The kinds of the separators between the heads of the two topmost nodes."""
        if len(state.nodes) < 2:
            return []
        left, right = (node.head for node in state.nodes[-2:])
        between = [self.seen(word) for word in range(left + 1, right)]
        return [k for word in between for k in range(4) if word in SEPARATORS[k]]

    def size(self, state: Parse, name: str) -> int | None:
        node = self.place(state, name)
        if node is None:
            return None
        n = node.end - node.begin
        return n if n < 5 else 5 if n <= 7 else 6 if n <= 12 else 7

    def atom(self, state: Parse, name: str) -> list[Value]:
        number: int | None
        if name == "separator":
            return [("number", 1 + kind) for kind in sorted(set(self.separators(state)))]
        if name.endswith("c"):
            node = self.place(state, name[:-1])
            if node is not None:
                return [self.category(node)]
            # Of nodes of the stack the lack of one is a value too.
            number = 2 if len(name) == 3 else None
        elif name == "bracket":
            number = self.bracket(state)
        elif name == "separators":
            number = 1 + len(self.separators(state)) if len(state.nodes) > 1 else None
        elif name.startswith("size("):
            number = self.size(state, name[5:7])
        else:
            return super().atom(state, name)
        return [] if number is None else [("number", number)]


@dataclass(frozen=True)
class ConstituencySystem:
    """The compiled side: the counterpart of `parser_twins.System`."""

    max_unaries: int = 3
    heads: Heads = None
    name: str = "constituents"

    def parse(self, *texts: str) -> tuple[StateTemplate, ...]:
        return parse_state_templates(texts, CONSTITUENT_EVENTS, CONSTITUENT_ATOMS)

    def new(self, templates: Sequence[StateTemplate], n_labels: int) -> ConstituentTransitions:
        atoms = [atom for template in templates for atom in template.atoms]
        return ConstituentTransitions(
            WordFields(),
            label_names(n_labels),
            atoms,
            max_unaries=self.max_unaries,
            heads=self.heads,
        )

    def twin(self, *parts: object) -> ConstituencyTwin:
        return ConstituencyTwin(*parts, max_unaries=self.max_unaries, heads=self.heads)


def label_names(n_labels: int) -> list[str]:
    return [f"L{i}" for i in range(n_labels)]


def twin_of(
    draw: random.Random,
    system: ConstituencySystem,
    words: tuple[list[str], list[str]],
    templates: Sequence[StateTemplate],
    n_labels: int,
) -> ConstituencyTwin:
    """A twin of a sentence with small weights."""
    weights = SmallWeights(draw.randrange(99), system.new(templates, n_labels).events)
    return system.twin(*words, templates, weights, n_labels)
