"""Explanations of models of given words: what the atoms of words and of states stand for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from spacy_structreg.features.knowledge import BEYOND, CORPUS
from spacy_structreg.features.word_fields import WORD_FIELDS
from spacy_structreg.models.explained_states import ExplainedStates, StateNames
from spacy_structreg.models.explanation import Explanation, named, shown
from spacy_structreg.search.visited_states import visited_states
from spacy_structreg.tasks.dependencies.arcs import ParseDecoder
from spacy_structreg.tasks.tagged_words import TaggedWordTransitions, hash_of_tag
from spacy_structreg.tasks.tagging import TagDecoder
from spacy_structreg.tasks.word_fields import WordFields

_OF_WORD: Final = re.compile(r"(?:(\w+)\()?w[+-]?\d\)?")
_OF_NODE: Final = re.compile(r"(\w+)\([^,()]+\)|.+([wt])")
# Smaller values stand for what is not there.
_FIRST_NUMBER: Final = 3
_SEPARATORS: Final = (",", ".", "、", ";")
_BRACKETS: Final = ("to come", "on the stack", "in a phrase")


class _FieldTexts:
    """The fields of the words of a sentence as text, by their numbers.

    tags: the names of the tags of the model.
    """

    def __init__(self, fields: WordFields, words: Iterable[str], tags: Sequence[str] = ()) -> None:
        self._fields = fields
        self._tags = tags
        self._words: dict[tuple[str, int], str] = {}
        for word in words:
            for each in fields.values(word).items():
                self._words.setdefault(each, word)

    def text(self, field: str, value: int) -> str:
        word = self._words.get((field, value))
        if word is None:
            return BEYOND
        text = self._fields.text(field, word, self._tags)
        return "-" if text is None else shown(text)


def _source_of(pattern: re.Pattern[str], name: str) -> str:
    parts = pattern.fullmatch(name)
    field = WORD_FIELDS.get(parts[1]) if parts is not None and parts[1] else None
    return CORPUS if field is None else field.source


# Tagging -----------------------------------------------------------------------------------------


def explained_tags(decoder: TagDecoder, words: list[str]) -> Explanation:
    """The explanation of the tags of a sentence, of the words that are no white space."""
    score, tags = decoder.nbest(words, 1)[0]
    pairs = [(word, tag) for word, tag in zip(words, tags, strict=True) if tag]
    analysis = " ".join(f"{word}/{tag}" for word, tag in pairs)
    visible = [word for word, _ in pairs]
    system = decoder.system
    texts = _FieldTexts(system.words, visible, decoder.tags)
    characters = _FieldTexts(system.words, {*"".join(visible)}, decoder.tags)
    number_of = {tag: number for number, tag in enumerate(decoder.tags)}
    guide_tags = () if system.guide is None else system.guide.tags

    def value(number: int, name: str, rank: int, found: int) -> str:
        if name in ("t-1", "t-2"):
            return named(decoder.tags, found - 2) if found > 1 else BEYOND
        parts = _OF_WORD.fullmatch(name)
        assert parts is not None
        field = parts[1] or "w"
        if field == "cats":
            return characters.text("catstart", found)
        if field in ("chars", "inner", "repeated"):
            return shown(chr(found - 1))
        if field == "guide":
            return named(guide_tags, found - _FIRST_NUMBER) if found >= _FIRST_NUMBER else BEYOND
        return texts.text(field, found)

    names = StateNames(
        value,
        lambda number, name, found: _source_of(_OF_WORD, name),
        lambda number: visible[number],
        lambda _, action: decoder.tags[action],
    )
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
        self._texts = _FieldTexts(system.words, words)
        self._tags = {hash_of_tag(tag): tag for tag in tags}
        self._labels: Sequence[str] = (
            decoder.labels if isinstance(decoder, ParseDecoder) else system.labels  # type: ignore[attr-defined]
        )
        self._numbers: dict[re.Pattern[str], Callable[[int], str]] = {
            re.compile(r"^between"): lambda value: self._tags.get(value, BEYOND),
            re.compile(r"^(dist|size)"): str,
            # Of a node, lengths are counted up to 4 only.
            re.compile(r"^len"): lambda value: self._texts.text("len4", value),
            re.compile(r"^separators|v[lr]$"): lambda value: str(value - 1),
            re.compile(r"^separator$"): lambda value: named(_SEPARATORS, value - 1),
            re.compile(r"^bracket$"): lambda value: named(_BRACKETS, value - 1),
            re.compile(r"label$"): lambda value: named(self._labels, value - 1),
            re.compile(r"s[lr]$"): self._set,
        }

    def value(self, name: str, value: int) -> str:
        """The value of an atom."""
        number_of = next((read for end, read in self._numbers.items() if end.search(name)), None)
        if number_of is not None:
            return number_of(value)
        parts = _OF_NODE.fullmatch(name)
        if parts is None:
            # The label of a phrase, or the tag of a word.
            label = named(self._labels, value - _FIRST_NUMBER)
            return self._tags.get(value) or (label if value >= _FIRST_NUMBER else BEYOND)
        if parts[2] == "t":
            return self._tags.get(value, BEYOND)
        return self._texts.text(parts[1] or "w", value)

    def _set(self, value: int) -> str:
        """The set of labels whose bits are those of the number before a value."""
        # Labels of which there are more than bits share them.
        bits = value - 1
        found = (label for i, label in enumerate(self._labels) if bits >> (i & 63) & 1)
        return f"{{{','.join(found)}}}"

    def source(self, name: str) -> str:
        return _source_of(_OF_NODE, name)

    def place(self, atoms: dict[str, list[int]], number: int) -> str:
        """A state by its topmost words and the next one, as far as templates read them."""
        shown_nodes = [
            f"{node} {self.value(f'{node}w', atoms[f'{node}w'][0])}"
            for node in ("S1", "S0", "N0")
            if f"{node}w" in atoms
        ]
        return " ".join(shown_nodes) or f"step {number + 1}"
