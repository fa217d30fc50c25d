"""Slow, obvious twins of the agenda, and of words as a transition system
(`tasks.segmentation.words`).

What a search keeps are lists that are sorted, and features are templates with values that one can
read. States of words are lists of words.
"""

from __future__ import annotations

import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain, count, pairwise, product
from math import inf
from typing import Any, ClassVar

import numpy as np
from twins import murmur_64a

from spacy_structreg.features.character_classes import type_table
from spacy_structreg.features.state_templates import StateTemplate
from spacy_structreg.learn.murmur import hash_string
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms
from spacy_structreg.tasks.segmentation.words import WordTransitions

APPEND = 0
START = 1

Actions = tuple[int, ...]
Found = list[tuple[float, list[int]]]  # scores and actions
Words = tuple[tuple[str, int], ...]  # words with their tags; the last one may not be complete
Value = tuple  # of an atom: its kind and what it shows
PADDING = ("padding",)
NO_WORD = ("no word",)
HIDDEN = ("hidden",)


class TiedError(Exception):
    """Equal scores: what goes on is a matter of order."""


@dataclass(frozen=True)
class Feature:
    template: StateTemplate
    values: tuple[Value, ...]

    @cached_property
    def key(self) -> int:
        """The key under which the tables hold it."""
        seed = hash_string(str(self.template))
        numbers = [number_of(value) for value in self.values]
        return murmur_64a(struct.pack(f"<{1 + len(numbers)}Q", seed, *numbers))


Weights = Callable[[Feature], Sequence[float]]


def number_of(value: Value) -> int:
    match value:
        case ("padding",):
            return 1 + 0x110000
        case ("no word",):
            return 1
        case ("character", character):
            return 1 + ord(character)
        case ("word", word):
            return murmur_64a(word.encode("utf-32-le"))
        case ("number", number):
            return int(number)
    raise AssertionError(value)


# Any transition system ----------------------------------------------------------------------------


@dataclass(eq=False)
class Item:
    """A state of the search, with the best way to it.

    rank: the score by which it competes.

    When states are merged that lie on different ones (Huang & Sagae 2010, Figure 3): inside, the
    actions since the word was shifted that the subtree on top begins with, and their score; origin,
    the item which that shift led to; below, of an origin, the items that were there before, with
    the score of the shift.
    """

    score: float
    number: int
    actions: Actions
    state: Any
    rank: float = 0.0
    parent: Item | None = None
    taken: Item | None = None
    inside: Actions = ()
    inside_score: float = 0.0
    origin: Item | None = None
    below: list[tuple[Item, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.origin = self.origin or self

    @property
    def order(self) -> tuple[float, ...]:
        """The best first; ties by action, then parent."""
        assert self.parent
        taken = self.taken.number if self.taken else -1
        return -self.rank, self.actions[-1], self.parent.number, taken


class StatesTwin(ABC):
    """A transition system over one sentence.

    templates: what is read of states. weights: those of a feature, one for each column of its
    event. found: features that have been read, by state and event. ends_early: the search ends when
    the best states are final, before the last step. follows_gold: where every action is learned,
    the next state is that of gold, not the best one.
    """

    ends_early: ClassVar[bool] = False
    follows_gold: ClassVar[bool] = False

    templates: Sequence[StateTemplate]
    weights: Weights
    found: dict[tuple[Any, str], list[Feature]]

    # States -------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def start(self) -> Any: ...

    @abstractmethod
    def legal(self, state: Any) -> list[int]: ...

    @abstractmethod
    def apply(self, state: Any, action: int) -> Any: ...

    @property
    @abstractmethod
    def n_steps(self) -> int:
        """How many actions there are, at most if the search ends early."""

    def is_final(self, state: Any, n_actions: int) -> bool:
        return n_actions == self.n_steps

    @abstractmethod
    def view(self, item: Item) -> object:
        """What is to be equal in states that are merged."""

    def slot(self, state: Any, n_actions: int) -> Any:
        """Where a state competes; slots are opened in their order."""
        return n_actions

    def competes(self, slot: Any) -> bool:
        """Whether the states of a slot compete; else all of them go on."""
        return True

    def path(self, actions: Sequence[int]) -> Iterator[tuple[Any, int]]:
        """The states in which some actions are taken, and these."""
        state = self.start
        for action in actions:
            yield state, action
            state = self.apply(state, action)

    def replay(self, actions: Sequence[int]) -> Any:
        state = self.start
        for action in actions:
            state = self.apply(state, action)
        return state

    # Features and scores ------------------------------------------------------------------------

    @abstractmethod
    def events_of(self, action: int) -> dict[str, int]:
        """The events of an action, with the columns of their scores."""

    @abstractmethod
    def atom(self, state: Any, name: str) -> list[Value]:
        """The values of an atom; none if it is null."""

    def read(self, state: Any, event: str) -> list[Feature]:
        """The features of an event."""
        found = []
        for template in self.templates:
            if template.event == event:
                values = [self.atom(state, name) for name in template.atoms]
                found += [Feature(template, joined) for joined in product(*values)]
        return found

    def fired(self, state: Any, action: int) -> Iterator[tuple[Feature, int]]:
        """The features that score an action, and the columns of their weights."""
        for event, column in self.events_of(action).items():
            if (state, event) not in self.found:
                self.found[state, event] = self.read(state, event)
            for feature in self.found[state, event]:
                yield feature, column

    def action_score(self, state: Any, action: int) -> float:
        return sum(float(self.weights(f)[column]) for f, column in self.fired(state, action))

    def score(self, actions: Sequence[int]) -> float:
        return sum(self.action_score(state, action) for state, action in self.path(actions))

    def all(
        self, state: Any = None, score: float = 0.0, actions: Actions = ()
    ) -> Iterator[tuple[float, list[int]]]:
        """Every legal derivation with its score."""
        state = self.start if state is None else state
        if self.is_final(state, len(actions)):
            yield score, list(actions)
            return
        for action in self.legal(state):
            after = score + self.action_score(state, action)
            yield from self.all(self.apply(state, action), after, (*actions, action))

    # Search -------------------------------------------------------------------------------------

    def slots(
        self,
        width: float,
        *,
        merge: bool = False,
        n_best: int = 1,
        margin: float = inf,
        cost: Callable[[int, int], float] | None = None,
        allowed: AbstractSet[Actions] | None = None,
    ) -> Iterator[list[Item]]:
        """What is kept in each slot where states compete.

        n_best: so many are kept at the end, which may be any step if the search ends early.
        margin: those that lie further than this behind the best are dropped.
        cost: of an action at a step, beyond its features. allowed: the only ways to go.
        """
        numbers = count()
        kept = [Item(0.0, next(numbers), (), self.start)]
        waiting: dict[Any, list[Item]] = {}
        while True:
            for item in kept:
                step = len(item.actions)
                for action, score in self.choices(item):
                    more = cost(step, action) if cost else 0.0
                    for found in self.led_to(item, action, score + more, merge):
                        if allowed is None or found.actions in allowed:
                            found.rank = found.score if width == inf else self.rank(found)
                            place = self.slot(found.state, step + 1)
                            waiting.setdefault(place, []).append(found)
            if not waiting:
                return
            place = min(waiting)
            kept = waiting.pop(place)
            if self.competes(place):
                is_last = all(self.is_final(item.state, len(item.actions)) for item in kept)
                room = max(width, n_best) if is_last or self.ends_early else width
                kept = self.best_of(kept, room, margin, merge)
            for item in kept:
                item.number = next(numbers)
            if self.competes(place):
                yield kept
                if self.ends(kept, n_best):
                    return

    def choices(self, item: Item) -> Iterator[tuple[int, float]]:
        """The actions that go on from a state, with their scores."""
        if self.ends_early or not self.is_final(item.state, len(item.actions)):
            for action in self.legal(item.state):
                yield action, self.action_score(item.state, action)

    def led_to(self, item: Item, action: int, score: float, merge: bool) -> list[Item]:
        """The items that an action leads to: one, unless merged states are popped."""
        actions = (*item.actions, action)
        return [Item(item.score + score, 0, actions, self.apply(item.state, action), parent=item)]

    def rank(self, item: Item) -> float:
        """The score by which an item competes where not all are kept."""
        return item.score

    def best_of(
        self, candidates: list[Item], room: float, margin: float, merge: bool
    ) -> list[Item]:
        """The best of a slot, in order."""
        candidates.sort(key=lambda candidate: candidate.order)
        kept: list[Item] = []
        alike: dict[object, Item] = {}
        for candidate in candidates:
            if len(kept) >= room or candidate.rank < candidates[0].rank - margin:
                break
            view = self.view(candidate) if merge else len(kept)
            if view in alike:
                alike[view].below += candidate.below if candidate.origin is candidate else []
                continue
            alike[view] = candidate
            kept.append(candidate)
        return kept

    def ends(self, kept: Sequence[Item], n_best: int = 1) -> bool:
        """Whether the best `n_best` are final, in a search that may end early."""
        return self.ends_early and all(
            self.is_final(item.state, len(item.actions)) for item in kept[:n_best]
        )

    def beam(
        self, width: float, merge: bool = False, n_best: int = 1, margin: float = inf
    ) -> Found:
        """What the agenda finds."""
        *_, last = self.slots(width, merge=merge, n_best=n_best, margin=margin)
        return [(item.score, list(item.actions)) for item in last[:n_best]]


# Words --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WordsTwin(StatesTwin):
    """Words of one text, or of a part of it of which only that is known.

    part: its first character and how many there are; None for the whole. hidden: characters of
    which nothing is seen, nor of words with one of them.
    """

    text: str
    templates: Sequence[StateTemplate]
    weights: Weights
    n_tags: int = 1
    types: str | None = None
    by_words: bool = False
    max_word_length: int | None = None
    constraints: Sequence[int] | None = None
    part: tuple[int, int] | None = None
    hidden: AbstractSet[int] = frozenset()
    found: dict[tuple[Any, str], list[Feature]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    seen: dict[Any, dict[str, list[Value]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def end(self) -> int:
        """The action that ends the last word."""
        return START + self.n_tags

    @property
    def begin(self) -> int:
        return self.part[0] if self.part else 0

    @property
    def n_steps(self) -> int:
        """The last word of the text is ended by an action of its own."""
        begin, count = self.part or (0, len(self.text))
        return count + (begin + count == len(self.text))

    # States: the words so far -------------------------------------------------------------------

    @property
    def start(self) -> Any:
        return ()

    def slot(self, words: Any, n_actions: int) -> Any:
        """By words, those compete that have just begun a word of the same tag; others wait."""
        if not self.by_words or self.is_final(words, n_actions):
            return n_actions, 0
        return n_actions, words[-1][1] if len(words[-1][0]) == 1 else self.n_tags

    def competes(self, slot: Any) -> bool:
        return slot[1] < self.n_tags

    def view(self, item: Item) -> object:
        """What later features see besides the text: the last two words and their tags.

        By words, the score of the tag of the word that begins, which the rank is without, depends
        on the word before these as well.
        """
        if item.actions[-1] == self.end:
            return ()
        words = item.state
        began = self.by_words and item.actions[-1] != APPEND
        tags = tuple(tag for _, tag in words[-2 - began :])
        return tuple(len(word) for word, _ in words[-2:]), tags

    def rank(self, item: Item) -> float:
        """Words that end compete without what the tag of the next one adds."""
        action = item.actions[-1]
        if not self.by_words or action == APPEND or self.is_final(item.state, len(item.actions)):
            return item.score
        assert item.parent
        words = item.parent.state
        return item.score - self.action_score(words, action) + self.action_score(words, self.end)

    def position(self, words: Words) -> int:
        """How many characters of the text have been consumed, or lie before the part."""
        return self.begin + consumed(words)

    def legal(self, words: Words) -> list[int]:
        i = self.position(words)
        starts = [START + tag for tag in range(self.n_tags)]
        if i == len(self.text):
            return [self.end]
        if not words:
            return starts
        wish = self.constraints[i] if self.constraints is not None else 0
        if wish:
            return starts if wish == 1 else [APPEND]
        if self.max_word_length is not None and len(words[-1][0]) >= self.max_word_length:
            return starts
        return [APPEND, *starts]

    def apply(self, words: Words, action: int) -> Words:
        if action == self.end:
            return words
        character = self.text[self.position(words)]
        if action == APPEND:
            word, tag = words[-1]
            return (*words[:-1], (word + character, tag))
        return (*words, (character, action - START))

    # Features -----------------------------------------------------------------------------------

    def events_of(self, action: int) -> dict[str, int]:
        """The events of an action, with the columns of their scores."""
        if action == APPEND:
            return {"append": 0, "boundary": 0}
        events = {"separate": 0, "boundary": 1}
        if action != self.end and self.n_tags > 1:
            events["tag"] = action - START
        return events

    def character(self, i: int) -> Value:
        if i in self.hidden:
            return HIDDEN
        if not 0 <= i < len(self.text):
            return PADDING
        code = ord(self.text[i])
        return ("character", chr(code - 0xFEE0) if 0xFF01 <= code <= 0xFF5E else chr(code))

    def atom(self, words: Words, name: str) -> list[Value]:
        if words not in self.seen:
            self.seen[words] = self.atoms(words)
        return [value for value in self.seen[words][name] if value != HIDDEN]

    def atoms(self, words: Words) -> dict[str, list[Value]]:
        """The values of every atom; none if it is null."""
        i = self.position(words)
        last = words[-1][0] if words else ""
        previous = words[-2][0] if len(words) > 1 else ""
        tags = [-1, -1, *(tag for _, tag in words)]
        begin = i - len(last)

        def word(length: int, stop: int) -> Value:
            if not length:
                return NO_WORD
            if not self.hidden.isdisjoint(range(stop - length, stop)):
                return HIDDEN
            return ("word", "".join(self.character(k)[1] for k in range(stop - length, stop)))

        start = self.character(begin if last else -1)
        atoms = {
            "w-1": [word(len(last), i)],
            "w-2": [word(len(previous), begin)],
            "one(w-1)": [start] if len(last) == 1 else [],
            "len(w-1)": [("number", 1 + min(len(last), 15))],
            "len(w-2)": [("number", 1 + min(len(previous), 15))],
            "start(w-1)": [start],
            "start(w0)": [start],
            "end(w-1)": [self.character(i - 1 if last else -1)],
            "end(w-2)": [self.character(begin - 1 if previous else -1)],
            "first": [("number", 1 + (len(last) == 1))] if last else [],
            "t0": [("number", tags[-1] + 2)],
            "t-1": [("number", tags[-1] + 2)],
            "t-2": [("number", tags[-2] + 2)],
            "inner(w-1)": [self.character(k) for k in range(max(begin, i - 65), i - 1)],
            # There are no records.
            "cat(c0)": [],
            "cat(end(w-1))": [],
            # Nor are there word lists.
            "listed(w-1)": [],
            "listed(w-2)": [],
            "tags(w-1)": [],
            "tags(w-2)": [],
        }
        for name, offset in (("-2", -2), ("-1", -1), ("0", 0), ("+1", 1)):
            character = self.character(i + offset)
            atoms[f"c{name}"] = [character]
            atoms[f"type{name}"] = []
            if self.types is not None and character != HIDDEN:
                number = 0
                if character != PADDING:
                    table = type_table(self.types)
                    # Those beyond the table share the type of the last one, "other".
                    number = int(table[min(ord(character[1]), len(table) - 1)])
                atoms[f"type{name}"] = [("number", 1 + number)]
        if self.begin:
            # Nothing is known of words before a part.
            unknown = ["w-2", "t-2"] if words else ["w-1", "w0", "t-1", "t0", "w-2", "t-2"]
            for name in atoms:
                if len(words) < 2 and any(each in name for each in unknown):
                    atoms[name] = []
        return atoms

    # Search -------------------------------------------------------------------------------------

    def multiple_beams(self, width: int | None, merge: bool = False, n_best: int = 1) -> Found:
        """What Zhang & Clark 2011, Fig. 4, finds, as sections 3.5.1 and 4.3.1 apply it.

        An agenda for each character keeps the best sentences of complete words that end before it.
        Each goes on with all words of all tags that end at a later character. merge: of those that
        later scores cannot tell apart only the best is kept (section 4.2): they have the last word
        in common, its tag, and the tag before. Raises TiedError where the scores do not say which
        are the best.
        """
        n = len(self.text)
        tags = range(self.n_tags)
        agendas: dict[tuple[int, int], list[tuple[float, Words]]] = {}
        if not n:
            return [(self.action_score((), self.end), [self.end])]
        for tag in tags:
            agendas[0, tag] = [(self.action_score((), START + tag), ())]
        for k in range(1, n + 1):
            sentences = [
                self.with_word(score, words, begin, k, tag)
                for begin in range(k)
                for tag in tags
                for score, words in agendas[begin, tag]
                if self.may_be_word(begin, k)
            ]

            def ranked(action: int, sentences: list = sentences) -> list[tuple[float, Words]]:
                scored = [(score + self.action_score(w, action), w) for score, w in sentences]
                scored.sort(reverse=True)
                if len({score for score, _ in scored}) < len(scored):
                    raise TiedError
                return scored

            if k == n:
                # At the end all that there is looks alike.
                found = ranked(self.end)[: 1 if merge else n_best]
                return [(score, self.actions(words)) for score, words in found]
            before = {words: score for score, words in sentences}
            kept = ranked(self.end)
            if merge:
                first: dict[tuple, tuple[float, Words]] = {}
                for score, words in kept:
                    view = words[-1], words[-2][1] if len(words) > 1 and self.n_tags > 1 else None
                    first.setdefault(view, (score, words))
                kept = list(first.values())
            for tag in tags:
                agendas[k, tag] = [
                    (before[words] + self.action_score(words, START + tag), words)
                    for _, words in kept[:width]
                ]
        raise AssertionError("the last agenda has been opened")

    def may_be_word(self, begin: int, end: int) -> bool:
        """Whether characters may be a word under the constraints, and as long as that."""
        wishes = [0] * len(self.text) if self.constraints is None else list(self.constraints)
        wishes = [1, *wishes[1:], 1]
        longest = self.max_word_length or len(self.text)
        return (
            wishes[begin] != 2
            and 1 not in wishes[begin + 1 : end]
            and wishes[end] != 2
            # A word that is too long goes on only where it must.
            and set(wishes[begin + longest : end]) <= {2}
        )

    def with_word(
        self, score: float, words: Words, begin: int, end: int, tag: int
    ) -> tuple[float, Words]:
        """Some words and another one, whose first character has been scored already."""
        for i in range(begin + 1, end):
            score += self.action_score((*words, (self.text[begin:i], tag)), APPEND)
        return score, (*words, (self.text[begin:end], tag))

    def actions(self, words: Words) -> list[int]:
        """The actions that make all words of the text."""
        made = [[START + tag, *[APPEND] * (len(word) - 1)] for word, tag in words]
        return [*chain.from_iterable(made), self.end]


def consumed(words: Words) -> int:
    return sum(len(word) for word, _ in words)


def words_of(text: str, actions: Sequence[int]) -> list[str]:
    """The words that a complete derivation makes of a text."""
    begins = [i for i, action in enumerate(actions[:-1]) if action != APPEND]
    return [text[i:j] for i, j in pairwise([*begins, len(text)])]


def ends_of(words: Sequence[str]) -> list[int]:
    return list(accumulate(map(len, words)))


class SmallWeights:
    """Weights from -2 to 2 drawn for each feature: sums are exact, and there are many ties.

    One feature in three has no row. `tables` holds those that were asked for.
    wide: draw from so many numbers instead that ties are rare, and give each feature a row.
    """

    def __init__(self, salt: int, events: dict[str, int], *, wide: bool = False) -> None:
        self.salt = salt
        self.wide = wide
        self.events = events
        self.drawn: dict[Feature, list[int]] = {}

    def __call__(self, feature: Feature) -> list[int]:
        if feature not in self.drawn:
            said = f"{self.salt} {feature.template} {feature.values}".encode()
            noise = [zlib.crc32(said, column) for column in range(1 + self._width(feature))]
            exists = noise[0] % 3 > 0
            self.drawn[feature] = [
                (some >> 7) - 2**24 if self.wide else exists * ((some >> 7) % 5 - 2)
                for some in noise[1:]
            ]
        return self.drawn[feature]

    def _width(self, feature: Feature) -> int:
        return self.events[feature.template.event]

    def tables(self) -> list[TrainedRows]:
        tables = []
        for event, width in self.events.items():
            rows = {
                feature.key: weights
                for feature, weights in self.drawn.items()
                if feature.template.event == event and any(weights)
            }
            tables.append(table_of(width, rows))
        return tables


class RowWeights:
    """The weights of tables, by their keys."""

    def __init__(self, tables: Sequence[TrainedRows], events: dict[str, int]) -> None:
        self.tables = dict(zip(events, tables, strict=True))
        self.known: dict[Feature, np.ndarray] = {}

    def __call__(self, feature: Feature) -> np.ndarray:
        if feature not in self.known:
            self.known[feature] = self.tables[feature.template.event].weights(feature.key)
        return self.known[feature]


def table_of(width: int, rows: dict[int, Sequence[float]]) -> TrainedRows:
    """A table of rows by key."""
    keys = sorted(rows)
    values = np.array([rows[key] for key in keys], dtype=np.float32).reshape(-1, width)
    return TrainedRows(width, {"keys": np.array(keys, dtype=np.uint64), "values": values})


def empty_tables(system: WordTransitions) -> list[TrainedRows]:
    return [table_of(width, {}) for width in system.tables.values()]


def agenda_of(
    twin: WordsTwin,
    tables: Sequence[TrainedRows],
    width: int | None,
    *,
    merge: bool = False,
    memo: bool = True,
    margin: float | None = None,
) -> Agenda:
    """The agenda of a twin, its text loaded."""
    system = WordTransitions(
        CharacterAtoms(twin.types, True), twin.n_tags, twin.by_words, twin.max_word_length
    )
    system.load_text(twin.text, twin.constraints)
    return Agenda(StateScorer(system, twin.templates, tables, memo), width, merge, margin)
