"""Sentences to be parsed into constituents: what a parser sees of them, and what is given."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.models.tree_queries import (
    TaggedSentence,
    checked_sentence,
    visible_places,
)
from spacy_structreg.tasks.constituents import ConstituentDecoder

GivenConstituents: TypeAlias = Sequence[tuple[int, int, str | None]]
"""Constituents that a tree must have: begin, end, and the label, or None for any. Of several over
the same words the outermost stands first."""


def visible_constituents(sentence: ConstituencySentence) -> ConstituencySentence | None:
    """A sentence as a parser learns from it; None if it has no visible word.

    Words of nothing but white space are left out, and phrases of nothing else; so are phrases that
    are the only child of one of the same label.
    Raises ValueError if such a word is the head of a phrase of others.
    """
    places = visible_places(sentence.words)
    if not places:
        return None
    kept: list[Constituent] = []
    for constituent in sentence.constituents:
        begin, end = bisect_left(places, constituent.begin), bisect_left(places, constituent.end)
        if begin == end:
            continue
        head = bisect_left(places, constituent.head)
        if head == len(places) or places[head] != constituent.head:
            raise ValueError(
                f"word {constituent.head}, which is white space, is the head of "
                f"{constituent.label} over the words {constituent.begin} to {constituent.end - 1}"
            )
        found = Constituent(constituent.label, begin, end, head)
        if not kept or kept[-1] != found:
            kept.append(found)
    return ConstituencySentence(
        tuple(sentence.words[i] for i in places),
        tuple(sentence.tags[i] for i in places),
        tuple(kept),
    )


@dataclass(frozen=True, slots=True)
class ConstituentQuery:
    """A sentence to be parsed: all of it, and the words that are none of white space.

    places: where these stand among all words. given: constituents, counted in visible words.
    """

    all_words: tuple[str, ...]
    all_tags: tuple[str, ...]
    places: list[int]
    given: list[tuple[int, int, str | None]] | None

    @classmethod
    def of(cls, sentence: TaggedSentence, given: GivenConstituents | None) -> ConstituentQuery:
        """Raises ValueError for what cannot be parsed, and for a constituent of white space."""
        words, tags = checked_sentence(sentence)
        if "" in words:
            raise ValueError(f"word {list(words).index('')} is empty; leave it out")
        places = visible_places(words)
        bound = None
        if given is not None:
            for each in given:
                if not _is_constituent(each):
                    raise ValueError(
                        f"the constituent {each!r:.60} is given; give its begin, its end, and its "
                        "label, or None for any"
                    )
            bound = [
                (bisect_left(places, begin), bisect_left(places, end), label)
                for begin, end, label in given
            ]
            for (begin, end, _), (first, last, _) in zip(given, bound, strict=True):
                if not 0 <= begin < end <= len(words) or first == last:
                    raise ValueError(
                        f"a constituent is given over the words {begin} to before {end} of "
                        f"{len(words)}, which is none, or white space"
                    )
        return cls(tuple(words), tuple(tags), places, bound)

    def __len__(self) -> int:
        return len(self.all_words)

    @property
    def visible(self) -> tuple[list[str], list[str]]:
        """The visible words and their tags."""
        if len(self.places) == len(self.all_words):
            return list(self.all_words), list(self.all_tags)
        return (
            [self.all_words[i] for i in self.places],
            [self.all_tags[i] for i in self.places],
        )

    def answer(self, constituents: Sequence[Constituent]) -> ConstituencySentence:
        """The tree over all words, from the one over the visible words.

        Phrases reach from their first visible word to their last; those over all visible words,
        over all words.
        """
        n_visible, n_words = len(self.places), len(self.all_words)
        if n_visible < n_words:
            constituents = [
                Constituent(
                    each.label,
                    *(
                        (0, n_words)
                        if each.end - each.begin == n_visible
                        else (self.places[each.begin], self.places[each.end - 1] + 1)
                    ),
                    self.places[each.head],
                )
                for each in constituents
            ]
        return ConstituencySentence.built(self.all_words, self.all_tags, tuple(constituents))


def _is_constituent(each: Any) -> bool:
    """True if this has the form of an item of `GivenConstituents`."""
    if not isinstance(each, (tuple, list)) or len(each) != 3:
        return False
    begin, end, label = each
    numbers = isinstance(begin, Integral) and isinstance(end, Integral)
    return numbers and (label is None or isinstance(label, str))


def parse_constituents(
    decoder: ConstituentDecoder, queries: list[ConstituentQuery]
) -> list[ConstituencySentence]:
    """The tree of each query. Raises ValueError if no tree has what is given."""
    sentences, given = [], []
    for query in queries:
        if query.places:
            sentences.append(query.visible)
            given.append(query.given)
    trees = iter(decoder.parse(sentences, given))
    answers = []
    for query in queries:
        tree = next(trees) if query.places else ()
        if tree is None:
            raise ValueError(
                f"no tree over {' '.join(query.all_words)[:40]!r} has the constituents that are "
                "given"
            )
        answers.append(query.answer(tree))
    return answers
