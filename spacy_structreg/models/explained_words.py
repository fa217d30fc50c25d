"""Explanations of models of given words: what the atoms of words and of states stand for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, Final

from spacy_structreg.features.character_classes import ALPHABETS, TABLE_SIZE
from spacy_structreg.features.knowledge import BEYOND, CORPUS, GUIDE, WORD_CLASSES, WORD_LIST
from spacy_structreg.features.word_shapes import UPPER_CASE, lower_case_table, shape_table
from spacy_structreg.models.explained_states import ExplainedStates, StateNames
from spacy_structreg.models.explanation import Explanation, named, shown
from spacy_structreg.search.visited_states import visited_states
from spacy_structreg.tasks.dependencies.arcs import ParseDecoder
from spacy_structreg.tasks.knowledge.word_classes import CLASS_FIELDS
from spacy_structreg.tasks.tagged_words import TaggedWordTransitions
from spacy_structreg.tasks.tagging import WORD_FIELDS, TagDecoder, WordAtoms

_OF_WORD: Final = re.compile(r"(?:(\w+)\()?w([+-]?\d)\)?")
_OF_NODE: Final = re.compile(r"(\w+)\(([^,()]+)\)|(.+)([wt])")
_MAX_LENGTH: Final = 15
# Smaller values stand for what is not there.
_FIRST_NUMBER: Final = 3
_SEPARATORS: Final = (",", ".", "、", ";")
_BRACKETS: Final = ("to come", "on the stack", "in a phrase")


class _Words:
    """The fields of words, as people read them. tags: the names of the tags of the model."""

    def __init__(self, atoms: WordAtoms, tags: Sequence[str] = ()) -> None:
        self._atoms = atoms
        self._tags = tags
        self._readers: dict[str, Callable[[str, str, int], str]] = {
            "w": lambda name, word, value: shown(self.seen(word)),
            "one": lambda name, word, value: shown(self.seen(word)),
            "lower": lambda name, word, value: shown(self._lower(word)),
            "start": lambda name, word, value: shown(self._lower(word)[:1]),
            "end": lambda name, word, value: shown(self._lower(word)[-1:]),
            "prefix": self._prefix,
            "suffix": self._suffix,
            "len": lambda name, word, value: str(min(len(self.seen(word)), _MAX_LENGTH)),
            "kinds": self._kinds,
            "shape": self._kinds,
            "pattern": self._pattern,
            "class": self._class,
            "tags": self._tags_of,
            "catstart": lambda name, word, value: self.category(self.seen(word)[:1]),
            "catend": lambda name, word, value: self.category(self.seen(word)[-1:]),
            "listed": self._listed,
        }

    def seen(self, word: str) -> str:
        """A word as the model sees it."""
        return "".join(map(chr, self._atoms.codes_of(word)))

    def field(self, name: str, word: str, value: int) -> str:
        """The value of a field of a word, of which some are found by their numbers alone."""
        read = self._readers.get(name.rstrip("0123456789"))
        return str(value) if read is None else read(name, word, value)

    def _lower(self, word: str) -> str:
        table = lower_case_table()
        return "".join(chr(_in_table(table, ord(each))) for each in self.seen(word))

    def _prefix(self, name: str, word: str, value: int) -> str:
        return shown(self._lower(word)[: int(name[len("prefix") :] or 1)])

    def _suffix(self, name: str, word: str, value: int) -> str:
        return shown(self._lower(word)[-int(name[len("suffix") :] or 1) :])

    def _kinds(self, name: str, word: str, value: int) -> str:
        kinds = [_kind(each) for each in self.seen(word)]
        if name == "shape":
            kinds = [kind for kind, _ in groupby(kinds)]
        return "+".join(kinds)

    def _pattern(self, name: str, word: str, value: int) -> str:
        seen = self.seen(word)
        return "".join(chr(ord("A") + seen.index(each)) for each in seen[:_MAX_LENGTH])

    def _class(self, name: str, word: str, value: int) -> str:
        classes = self._atoms.word_classes
        if classes is None:
            return str(value)
        number = classes.number(self._atoms.key_of(word))
        return classes.text_of(number, CLASS_FIELDS.index(name)) or "-"

    def _tags_of(self, name: str, word: str, value: int) -> str:
        classes = self._atoms.classes
        return self._set(None if classes is None else classes.get(self._atoms.key_of(word)))

    def _listed(self, name: str, word: str, value: int) -> str:
        known = self._atoms.known
        if known is None or value <= _FIRST_NUMBER:
            return "-"
        return named(known.tag_sets, value - _FIRST_NUMBER - 1)

    def category(self, character: str) -> str:
        """The tags of the words with a character that is seen."""
        categories = self._atoms.categories
        if categories is None or not character:
            return "-"
        return self._set(categories.get(ord(character)))

    def _set(self, tags: list[int] | None) -> str:
        return "/".join(named(self._tags, tag) for tag in tags or ()) or "-"


def _in_table(table: Any, code: int) -> int:
    return int(table[code]) if code < TABLE_SIZE else code


def _kind(character: str) -> str:
    number = int(shape_table()[min(ord(character), TABLE_SIZE - 1)])
    return "upper" if number == UPPER_CASE else ALPHABETS["extended"][number - 1]


def _source_of(field: str) -> str:
    if field in CLASS_FIELDS:
        return WORD_CLASSES
    return {"listed": WORD_LIST, "guide": GUIDE}.get(field, CORPUS)


# Tagging -----------------------------------------------------------------------------------------


def explained_tags(decoder: TagDecoder, words: list[str]) -> Explanation:
    """The explanation of the tags of a sentence, of the words that are no white space."""
    score, tags = decoder.nbest(words, 1)[0]
    pairs = [(word, tag) for word, tag in zip(words, tags, strict=True) if tag]
    analysis = " ".join(f"{word}/{tag}" for word, tag in pairs)
    visible = [word for word, _ in pairs]
    texts = _Words(decoder.system.words, decoder.tags)
    number_of = {tag: number for number, tag in enumerate(decoder.tags)}
    guide = decoder.system.guide

    def value(number: int, name: str, rank: int, found: int) -> str:
        if name in ("t-1", "t-2"):
            return named(decoder.tags, found - 2) if found > 1 else BEYOND
        parts = _OF_WORD.fullmatch(name)
        assert parts is not None
        field, at = parts[1] or "w", number + int(parts[2])
        if not 0 <= at < len(visible):
            return BEYOND
        if field == "cats":
            return texts.category(texts.seen(visible[at])[rank])
        if field == "guide" and guide is not None:
            return named(guide.tags, found - _FIRST_NUMBER)
        is_character = field in ("chars", "inner", "repeated")
        return shown(chr(found - 1)) if is_character else texts.field(field, visible[at], found)

    def source(number: int, name: str, found: int) -> str:
        parts = _OF_WORD.fullmatch(name)
        return CORPUS if parts is None else _source_of(parts[1] or "w")

    names = StateNames(
        value, source, lambda number: visible[number], lambda _, action: decoder.tags[action]
    )
    system = decoder.system
    system.load_words(visible)
    visited = visited_states(system, [number_of[tag] for _, tag in pairs])
    decisions = ExplainedStates(decoder.agenda.scorer, visited, names).decisions()
    found = Explanation(" ".join(visible), analysis, score, tuple(decisions))
    return found.about_items(len(visible))


# Trees -------------------------------------------------------------------------------------------


def explained_tree(
    decoder: Any,
    words: list[str],
    tags: list[str],
    actions: Sequence[str],
    show: Any,
) -> Explanation:
    """The explanation of the actions that build a tree over words that are no white space.

    decoder: a `ParseDecoder` or `ConstituentDecoder`. actions: their names. show: gives the text of
    the actions that were taken.
    """
    system: TaggedWordTransitions[Any, Any] = decoder.system
    system.load_words(words, tags)
    if not words:
        return Explanation("", "", 0.0, ())
    ((score, taken),) = decoder.agenda.derivations(1)
    visited = visited_states(system, taken)
    values = _NodeValues(system, words, tags, decoder)
    names = StateNames(
        lambda number, name, rank, value: values.value(name, value),
        lambda number, name, value: values.source(name),
        lambda number: values.place(visited[number].atoms, number),
        lambda number, action: actions[action],
    )
    decisions = ExplainedStates(decoder.agenda.scorer, visited, names).decisions()
    return Explanation(" ".join(words), show(taken), score, tuple(decisions), len(words))


class _NodeValues:
    """The values of the atoms of nodes (`tasks.tagged_words`), and of numbers of states."""

    def __init__(
        self,
        system: TaggedWordTransitions[Any, Any],
        words: list[str],
        tags: list[str],
        decoder: Any,
    ) -> None:
        self._words = words
        self._texts = _Words(system.words)
        self._labels: Sequence[str] = (
            decoder.labels if isinstance(decoder, ParseDecoder) else system.labels  # type: ignore[attr-defined]
        )
        self._numbers: dict[re.Pattern[str], Callable[[int], str]] = {
            re.compile(r"^between"): lambda value: self._tags.get(value, BEYOND),
            re.compile(r"^(dist|size)"): str,
            # Of a node, lengths are counted up to 4 only.
            re.compile(r"^len"): lambda value: str(value - 2) if value > 2 else BEYOND,
            re.compile(r"^separators|v[lr]$"): lambda value: str(value - 1),
            re.compile(r"^separator$"): lambda value: named(_SEPARATORS, value - 1),
            re.compile(r"^bracket$"): lambda value: named(_BRACKETS, value - 1),
            re.compile(r"label$"): lambda value: named(self._labels, value - 1),
            re.compile(r"s[lr]$"): self._set,
        }
        fields = system.fields().tolist()
        # The first word with each value of a field, and the tag of each number.
        self._with: dict[tuple[int, int], str] = {}
        self._tags: dict[int, str] = {}
        for word, tag, row in zip(words, tags, fields, strict=True):
            self._tags[row[-1]] = tag
            for number, value in enumerate(row):
                self._with.setdefault((number, value), word)

    def value(self, name: str, value: int) -> str:
        """The value of an atom."""
        parts = _OF_NODE.fullmatch(name)
        number_of = next((read for end, read in self._numbers.items() if end.search(name)), None)
        if number_of is not None:
            return number_of(value)
        if parts is None:
            # The label of a phrase, or the tag of a word.
            label = named(self._labels, value - _FIRST_NUMBER)
            return self._tags.get(value) or (label if value >= _FIRST_NUMBER else BEYOND)
        if parts[4] == "t":
            return self._tags.get(value, BEYOND)
        field = parts[1] or "w"
        word = self._with.get((WORD_FIELDS.index(field), value))
        return BEYOND if word is None else self._texts.field(field, word, value)

    def _set(self, value: int) -> str:
        """The set of labels whose bits are those of the number before a value."""
        # Labels of which there are more than bits share them.
        bits = value - 1
        found = (label for i, label in enumerate(self._labels) if bits >> (i & 63) & 1)
        return f"{{{','.join(found)}}}"

    def source(self, name: str) -> str:
        parts = _OF_NODE.fullmatch(name)
        return CORPUS if parts is None else _source_of(parts[1] or "w")

    def place(self, atoms: dict[str, list[int]], number: int) -> str:
        """A state by its topmost words and the next one, as far as templates read them."""
        shown_nodes = [
            f"{node} {self.value(f'{node}w', atoms[f'{node}w'][0])}"
            for node in ("S1", "S0", "N0")
            if f"{node}w" in atoms
        ]
        return " ".join(shown_nodes) or f"step {number + 1}"
