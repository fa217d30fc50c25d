"""A slow, obvious twin of the agenda and of words as a transition system
(`tasks.segmentation.words`).

States are lists of words, features are templates with values that one can read, and agendas are
lists that are sorted.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from math import inf
from typing import Any

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

Found = list[tuple[float, list[int]]]  # scores and actions
Words = tuple[tuple[str, int], ...]  # words with their tags; the last one may not be complete
Value = tuple  # of an atom: its kind and what it shows
PADDING = ("padding",)
NO_WORD = ("no word",)


class TiedError(Exception):
    """Equal scores: what goes on is a matter of order."""


@dataclass(frozen=True)
class Feature:
    template: StateTemplate
    values: tuple[Value, ...]

    @property
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


@dataclass(frozen=True)
class WordsTwin:
    """Words of one text. weights: those of a feature, one for each column of its event."""

    text: str
    templates: Sequence[StateTemplate]
    weights: Weights
    n_tags: int = 1
    types: str | None = None
    by_words: bool = False
    max_word_length: int | None = None
    constraints: Sequence[int] | None = None

    @property
    def end(self) -> int:
        """The action that ends the last word."""
        return START + self.n_tags

    # States: the words so far -------------------------------------------------------------------

    @property
    def first(self) -> Any:
        return ()

    def is_final(self, words: Any, actions: Sequence[int]) -> bool:
        return bool(actions) and actions[-1] == self.end

    def legal(self, words: Words) -> list[int]:
        i = consumed(words)
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
        character = self.text[consumed(words)]
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
        if not 0 <= i < len(self.text):
            return PADDING
        code = ord(self.text[i])
        return ("character", chr(code - 0xFEE0) if 0xFF01 <= code <= 0xFF5E else chr(code))

    def atoms(self, words: Words) -> dict[str, list[Value]]:
        """The values of every atom; none if it is null."""
        i = consumed(words)
        last = words[-1][0] if words else ""
        previous = words[-2][0] if len(words) > 1 else ""
        tags = [-1, -1, *(tag for _, tag in words)]
        begin = i - len(last)

        def word(length: int, stop: int) -> Value:
            if not length:
                return NO_WORD
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
            if self.types is not None:
                number = 0
                if character != PADDING:
                    table = type_table(self.types)
                    # Those beyond the table share the type of the last one, "other".
                    number = int(table[min(ord(character[1]), len(table) - 1)])
                atoms[f"type{name}"] = [("number", 1 + number)]
        return atoms

    def features(
        self, words: Words, event: str, atoms: dict[str, list[Value]] | None = None
    ) -> list[Feature]:
        """The features of an event. atoms: those of the words, if they are at hand."""
        found = []
        atoms = self.atoms(words) if atoms is None else atoms
        for template in self.templates:
            if template.event == event:
                joined: list[tuple[Value, ...]] = [()]
                for name in template.atoms:
                    joined = [(*some, value) for some in joined for value in atoms[name]]
                found += [Feature(template, values) for values in joined]
        return found

    # Scores -------------------------------------------------------------------------------------

    def action_score(self, words: Words, action: int) -> float:
        atoms = self.atoms(words)
        return sum(
            float(self.weights(feature)[column])
            for event, column in self.events_of(action).items()
            for feature in self.features(words, event, atoms)
        )

    def score(self, actions: Sequence[int]) -> float:
        words = self.first
        total = 0.0
        for action in actions:
            total += self.action_score(words, action)
            words = self.apply(words, action)
        return total

    def all(
        self, words: Any = None, score: float = 0.0, actions: tuple[int, ...] = ()
    ) -> Iterator[tuple[float, list[int]]]:
        """Every legal derivation with its score."""
        words = self.first if words is None else words
        if self.is_final(words, actions):
            yield score, list(actions)
            return
        for action in self.legal(words):
            after = score + self.action_score(words, action)
            yield from self.all(self.apply(words, action), after, (*actions, action))

    # Search -------------------------------------------------------------------------------------

    def view(self, words: Words, ended: bool) -> tuple:
        """What later features see of a state besides the text."""
        return () if ended else tuple((len(word), tag) for word, tag in words[-2:])

    def beam(
        self, width: float, merge: bool = False, n_best: int = 1, margin: float = inf
    ) -> Found:
        """What a single beam finds: after each action the best, ties by action, then by parent.

        margin: those that lie further than this behind the best of all are not among them.
        """
        items: list[tuple[float, Words, list[int]]] = []
        slots: list[list] = [[(0.0, -1, -1, (), [])], *([] for _ in range(len(self.text) + 1))]
        last = len(self.text) + 1
        for slot, candidates in enumerate(slots):
            opened = []
            seen = set()
            for score, _, _, words, actions in sorted(
                candidates, key=lambda candidate: (-candidate[0], *candidate[1:3])
            ):
                view = self.view(words, slot == last)
                if not (merge and view in seen):
                    opened.append((score, words, actions))
                seen.add(view)
            opened = opened[: int(min(max(width, n_best if slot == last else 0), len(opened)))]
            if slot == last:
                return [(score, actions) for score, _, actions in opened[:n_best]]
            for score, words, actions in opened:
                if score < opened[0][0] - margin:
                    break
                items.append((score, words, actions))
                for action in self.legal(words):
                    slots[slot + 1].append(
                        (
                            score + self.action_score(words, action),
                            action,
                            len(items),
                            self.apply(words, action),
                            [*actions, action],
                        )
                    )
        raise AssertionError("the last slot has been opened")

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
