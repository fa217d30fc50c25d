"""Explanations of the words that models find in raw text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from spacy_structreg.features.character_classes import ALPHABETS
from spacy_structreg.features.knowledge import (
    BEYOND,
    CORPUS,
    GUIDE,
    TYPED_RUN,
    USER_WORDS,
    WORD_LIST,
)
from spacy_structreg.features.typed_runs import FIRST_STAND_IN, STAND_INS
from spacy_structreg.models.explained_chains import ChainView, ExplainedChain
from spacy_structreg.models.explained_states import ExplainedStates, StateNames
from spacy_structreg.models.explanation import (
    Contribution,
    Decision,
    Explanation,
    Placed,
    around,
    decision_of,
    named,
    placed,
    shown,
)
from spacy_structreg.search.visited_states import visited_states
from spacy_structreg.tasks.joint.reranking import RerankingDecoder
from spacy_structreg.tasks.joint.tag_records import key_of_codes
from spacy_structreg.tasks.joint.word_trees import WordTreeDecoder
from spacy_structreg.tasks.knowledge.lexicon_source import LexiconSource
from spacy_structreg.tasks.segmentation.bmes import JointScheme, SegmentationScheme
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms, CharacterDecoder
from spacy_structreg.tasks.segmentation.words import WordDecoder

if TYPE_CHECKING:
    from spacy_structreg.tasks.segmentation.constraints import Constraints

AnyScheme: TypeAlias = SegmentationScheme | JointScheme

_LAST_CHARACTER = 0x10FFFF
# Actions of `tasks.segmentation.words`.
_APPEND = 0
_START = 1
# Atoms of words: a field around a word or node, or behind a node (`tasks.joint.word_trees`).
_OF_WORD = re.compile(r"(\w+)\(|S[012](?:[lr]2?)?(w|t|label|vl|vr)$")
_STAND_INS = {
    FIRST_STAND_IN + number - 1: f"<{kind}>" if number == first else f"<{kind}…>"
    for kind, (first, last) in STAND_INS.items()
    for number in (first, last)
}


def explained_sentence(
    decoder: Any, scheme: AnyScheme | None, text: str, constraints: Constraints | None
) -> Explanation:
    """The explanation of one sentence of a text.

    scheme: of the labels of characters, if the model has any. constraints: of the sentence.
    """
    _, words = decoder.nbest(text, 1, constraints)[0]
    analysis = " ".join(word if isinstance(word, str) else "/".join(word) for word in words)
    if isinstance(decoder, WordDecoder):
        return _by_words(decoder, text, analysis, constraints)
    assert isinstance(decoder, CharacterDecoder)
    assert scheme is not None
    explain = _by_both if isinstance(decoder, RerankingDecoder) else _by_characters
    found: Explanation = explain(decoder, scheme, text, analysis, constraints)  # type: ignore[arg-type]
    return found.about_items(len(_visible(text)))


# Chains of characters ----------------------------------------------------------------------------


def _by_characters(
    decoder: CharacterDecoder,
    scheme: AnyScheme,
    text: str,
    analysis: str,
    constraints: Constraints | None,
) -> Explanation:
    characters, score, path = decoder.best_labels(text, constraints)
    if not characters:
        return Explanation(text, analysis, 0.0, ())
    visible = _visible(text)
    kinds = _kinds(decoder)
    choices = _choices(decoder)
    view = _view(decoder, scheme, characters, visible)

    def bonuses(of: Sequence[int]) -> list[tuple[int, Contribution]]:
        return [
            (start, Contribution("user word", "".join(visible[start:end]), USER_WORDS, bonus))
            for start, end, bonus in _bonuses(text, constraints, of, kinds, decoder.tags)
        ]

    def rival(i: int) -> Sequence[int] | None:
        excluded = [y for y, kind in enumerate(kinds) if kind == kinds[path[i]]]
        _, best, other = decoder.best_labels(text, constraints, place=i, excluded=excluded)
        # Listed words hold the place, whatever the labels.
        return other if best > -np.inf and kinds[other[i]] != kinds[path[i]] else None

    explained = ExplainedChain(decoder.chain, view, bonuses)
    decisions = explained.decisions(path, score, lambda y: choices[y], rival)
    return Explanation(text, analysis, score, tuple(decisions))


def _visible(text: str) -> list[str]:
    """The characters that are no white space."""
    return [character for character in text if not character.isspace()]


def _kinds(decoder: CharacterDecoder) -> list[tuple[bool, int]]:
    """The meaning of labels for the words: those that mean the same are one choice."""
    return list(zip(decoder.label_begins.tolist(), decoder.label_tags.tolist(), strict=True))


def _choices(decoder: CharacterDecoder) -> list[str]:
    """The meaning of labels, in words."""
    return [
        _choice(begins, named(decoder.tags, tag) if decoder.tags else "")
        for begins, tag in _kinds(decoder)
    ]


def _view(
    decoder: CharacterDecoder, scheme: AnyScheme, characters: str, visible: Sequence[str]
) -> ChainView:
    values = _CharacterValues(decoder.atoms)
    return ChainView(
        decoder.atoms.symbols(characters, decoder.chain.features.reach),
        (),
        scheme.labels,
        [around(visible, i) for i in range(len(visible))],
        values.value,
        values.source,
    )


def _choice(begins: bool, tag: str = "") -> str:
    name = "begins a word" if begins else "goes on"
    return f"{name}, {tag}" if tag else name


def _bonuses(
    text: str,
    constraints: Constraints | None,
    path: Sequence[int],
    kinds: Sequence[tuple[bool, int]],
    tags: Sequence[str],
) -> Iterable[tuple[int, int, float]]:
    """Yield the words of a path that have a bonus: begin, end, and the bonus."""
    if constraints is None:
        return
    starts = [i for i, y in enumerate(path) if kinds[y][0] or i == 0]
    words = {
        (start, end): tags[kinds[path[start]][1]] if tags else ""
        for start, end in pairwise([*starts, len(path)])
    }
    before = np.cumsum([0, *(not character.isspace() for character in text)])
    names = constraints.tags

    def places(found: Any) -> list[tuple[tuple[int, int], str]]:
        return [
            (
                (int(before[start]), int(before[end])),
                names[tag] if tag >= 0 and tags and names[tag] in tags else "",
            )
            for start, end, tag in found.tolist()
        ]

    forced = {each for each, _ in places(constraints.words)}
    bonuses = constraints.bonuses.tolist()
    for (place, tag), bonus in zip(places(constraints.bonus_words), bonuses, strict=True):
        if place in words and place not in forced and tag in ("", words[place]):
            yield *place, bonus


# Both ---------------------------------------------------------------------------------------------


def _by_both(
    decoder: RerankingDecoder,
    scheme: AnyScheme,
    text: str,
    analysis: str,
    constraints: Constraints | None,
) -> Explanation:
    """The runner-up is the next of the analyses that are ranked."""
    characters = decoder.best_labels(text, constraints)[0]
    if not characters:
        return Explanation(text, analysis, 0.0, ())
    visible, kinds, choices = _visible(text), _kinds(decoder), _choices(decoder)
    chain = ExplainedChain(decoder.chain, _view(decoder, scheme, characters, visible))
    ranked: list[tuple[list[int], list[list[Contribution]]]] = []
    scores = []
    for score, words in decoder.nbest(text, decoder.n_best, constraints):
        lengths = [len("".join(word.split())) for word, _ in words]
        path: list[int] = scheme.encode(lengths, [tag for _, tag in words]).tolist()  # type: ignore[call-arg]
        actions = [_START + kinds[y][1] if kinds[y][0] else _APPEND for y in path]
        actions.append(_START + len(decoder.tags))
        decoder.system.load_text(characters)
        visited = visited_states(decoder.system, actions)
        values = _WordValues(decoder, characters, actions)
        names = StateNames(values.value, values.source, str, values.action)
        states = ExplainedStates(decoder.scorer, visited, names)
        found = [states.contributions(i, action) for i, action in enumerate(actions)]
        for i in range(len(path)):
            found[i] += (
                replace(each, number=decoder.weight * each.number)
                for each in chain.contributions(path, i)
            )
        for start, end, bonus in _bonuses(text, constraints, path, kinds, decoder.tags):
            word = "".join(visible[start:end])
            found[start].append(Contribution("user word", word, USER_WORDS, bonus))
        ranked.append((path, found))
        scores.append(score)
    best, own = ranked[0]

    def seen_from(i: int, of: Sequence[Sequence[Contribution]]) -> list[Placed]:
        return [
            (placed(around(visible, j), j - i), each)
            for j, contributions in enumerate(of)
            for each in contributions
        ]

    decisions = []
    for i, y in enumerate(best):
        other = next((each for each in ranked if kinds[each[0][i]] != kinds[y]), None)
        rival = None
        if other is not None:
            rival = choices[other[0][i]], seen_from(i, own), seen_from(i, other[1])
        decisions.append(decision_of(around(visible, i), choices[y], own[i], scores[0], rival))
    decisions.append(decision_of(around(visible, len(best)), "ends", own[-1], scores[0]))
    return Explanation(text, analysis, scores[0], tuple(decisions))


# Values -------------------------------------------------------------------------------------------


class _CharacterValues:
    """The values of the atoms of characters, and their sources."""

    def __init__(self, atoms: CharacterAtoms) -> None:
        self._types = atoms.types
        self._sources = {name: source for source in atoms.sources for name in source.atoms}

    def value(self, name: str, position: int, symbol: int) -> str:
        source = self._sources.get(name)
        if name == "c":
            return character_text(symbol)
        if name == "type":
            return self.type_text(symbol)
        if source is None or not symbol:
            return str(symbol) if symbol else "-"
        return source.text_of(name, symbol)

    def type_text(self, symbol: int) -> str:
        return ALPHABETS[self._types or ""][symbol - 1] if symbol else BEYOND

    def source(self, name: str, position: int, symbol: int) -> str:
        source = self._sources.get(name)
        if name == "c":
            return TYPED_RUN if symbol in _STAND_INS else CORPUS
        return CORPUS if source is None else source.LABEL


def character_text(code: int) -> str:
    """A character by its code point, as explanations show it."""
    if code > _LAST_CHARACTER:
        return BEYOND
    return _STAND_INS.get(code) or shown(chr(code))


# States of words ---------------------------------------------------------------------------------


def _by_words(
    decoder: WordDecoder, text: str, analysis: str, constraints: Constraints | None
) -> Explanation:
    characters, score, visited, bonuses = decoder.best_states(text, constraints)
    visible = _visible(text)
    actions = [state.action for state in visited]
    values = (
        _TreeValues(decoder, characters, actions)
        if isinstance(decoder, WordTreeDecoder)
        else _WordValues(decoder, characters, actions)
    )

    def extras(number: int, action: int) -> list[Contribution]:
        external = visited[number].external.get(action, 0.0)
        bonus = bonuses[number].get(action, 0.0)
        word = values.last_word(number)
        return [
            Contribution("guide", word, GUIDE, external - bonus),
            Contribution("user word", word, USER_WORDS, bonus),
        ]

    def place(number: int) -> str:
        return around(visible, values.places[number])

    names = StateNames(values.value, values.source, place, values.action)
    decisions: list[Decision] = []
    if visited:
        explained = ExplainedStates(decoder.agenda.scorer, visited, names, extras)
        decisions = [
            replace(each, item=values.item(number))
            for number, each in enumerate(explained.decisions())
        ]
    return Explanation(text, analysis, score, tuple(decisions), len(visible))


class _WordValues:
    """The values of the atoms of words over characters (`tasks.segmentation.words`)."""

    def __init__(
        self, decoder: WordDecoder | RerankingDecoder, characters: str, actions: Sequence[int]
    ) -> None:
        self._tags = decoder.tags
        self._text = decoder.system.characters.seen(characters)
        self._types = _CharacterValues(decoder.system.characters)
        self._lexicon = next(
            (
                source
                for source in decoder.system.characters.sources
                if isinstance(source, LexiconSource)
            ),
            None,
        )
        self._actions = actions
        # Actions from here on consume no character.
        self._end = _START + max(1, len(decoder.tags))
        # Of each state, the characters that it has consumed, and where its last two words begin.
        self.places: list[int] = []
        self._begins: list[list[int]] = []
        begins: list[int] = []
        place = 0
        for action in actions:
            self.places.append(place)
            self._begins.append(begins[-2:])
            if action == _APPEND or action < self._end:
                begins = begins if action == _APPEND else [*begins, place]
                place += 1

        # By the values of atoms, the words as far as states see them.
        self._words = {
            key_of_codes(list(map(ord, word))): word
            for word in (
                self._text[starts[-1] : end]
                for starts, end in zip(self._begins, self.places, strict=True)
                if starts
            )
        }
        self._readers: dict[str, Callable[[int, str, int], str]] = {
            "w": self._word,
            "t": self._tag,
            "start": self._character,
            "end": self._character,
            "cat": self._category,
            "listed": self._listed,
            "tags": self._listed_tags,
            "type": lambda number, name, value: self._types.type_text(value - 1),
            "len": lambda number, name, value: str(value - 1) if value > 1 else BEYOND,
            "first": lambda number, name, value: "yes" if value > 1 else "no",
        }

    def item(self, number: int) -> int | None:
        """The character that the action in a state is about, if it is about one."""
        return self.places[number] if self._actions[number] < self._end else None

    def last_word(self, number: int) -> str:
        """The last word of a state, as far as it goes."""
        begins = self._begins[number]
        return self._shown(self._text[begins[-1] : self.places[number]]) if begins else BEYOND

    @staticmethod
    def _shown(seen: str) -> str:
        return "".join(character_text(ord(each)) for each in seen)

    def action(self, number: int, action: int) -> str:
        if action == self._end:
            return "ends"
        tag = named(self._tags, action - 1) if self._tags and action != _APPEND else ""
        return _choice(action != _APPEND, tag)

    def value(self, number: int, name: str, rank: int, value: int) -> str:
        # Those that are not here are characters: of words, and around the place.
        parts = _OF_WORD.match(name)
        kind = name.rstrip("+-012") if parts is None else parts[1] or parts[2]
        read = self._readers.get(kind)
        return character_text(value - 1) if read is None else read(number, name, value)

    def _word(self, number: int, name: str, value: int) -> str:
        return self._shown(self._words[value]) if value in self._words else BEYOND

    def _character(self, number: int, name: str, value: int) -> str:
        return character_text(value - 1) if value > 1 else BEYOND

    def _tag(self, number: int, name: str, value: int) -> str:
        return named(self._tags, value - 2) if value > 1 else BEYOND

    def _category(self, number: int, name: str, value: int) -> str:
        # What is seen is which tags the words with this character have.
        i = self.places[number] - (name != "cat(c0)")
        return self._shown(self._text[i : i + 1]) if i >= 0 else BEYOND

    def _listed(self, number: int, name: str, value: int) -> str:
        return {1: BEYOND, 2: "not listed"}.get(value, f"listed:{value - 3}")

    def _listed_tags(self, number: int, name: str, value: int) -> str:
        known = self._lexicon.words.tag_sets if self._lexicon is not None else ()
        return {1: BEYOND, 2: "-"}.get(value) or named(known, value - 3)

    def source(self, number: int, name: str, value: int) -> str:
        if name.startswith(("listed", "tags")):
            return WORD_LIST
        if name.startswith("w") or name.endswith("w"):
            seen = map(ord, self._words.get(value, ""))
            return TYPED_RUN if any(each in _STAND_INS for each in seen) else CORPUS
        return TYPED_RUN if value - 1 in _STAND_INS else CORPUS


# Trees over words ---------------------------------------------------------------------------------


class _TreeValues(_WordValues):
    """The values of the atoms of words and the trees over them (`tasks.joint.word_trees`)."""

    def __init__(self, decoder: WordTreeDecoder, characters: str, actions: Sequence[int]) -> None:
        super().__init__(decoder, characters, actions)
        self._labels = decoder.arc_labels or ("",)
        self._readers |= {
            "dist": lambda number, name, value: str(value),
            "label": lambda number, name, value: named(self._labels, value - 1),
            "vl": lambda number, name, value: str(value - 1),
            "vr": lambda number, name, value: str(value - 1),
        }
        # Of each state the words on top of the stack.
        self._tops: list[list[str]] = []
        stack: list[str] = []
        for number, action in enumerate(actions):
            self._tops.append(stack[-2:])
            if action == self._end:
                stack.append(self.last_word(number))
            elif action == self._end + 1:
                stack.pop()
            elif action > self._end:
                stack.pop(-2 if self._arc(action)[1] else -1)

    def _arc(self, action: int) -> tuple[str, bool]:
        """The label of an arc, and whether the second tree becomes a child of the top."""
        side, label = divmod(action - self._end - 2, len(self._labels))
        return self._labels[label], side == 0

    def action(self, number: int, action: int) -> str:
        if action < self._end:
            return super().action(number, action)
        if action == self._end:
            return f"{self.last_word(number)} ends"
        tops = self._tops[number]
        if action == self._end + 1:
            return f"{tops[-1]} is a root"
        label, goes_left = self._arc(action)
        child, head = tops if goes_left else reversed(tops)
        return f"{child}←{head}:{label}"
