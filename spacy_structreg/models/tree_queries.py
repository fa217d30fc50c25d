"""Sentences to be parsed: what a parser sees of them, and what is given of their trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TypeAlias, TypeVar

from spacy_structreg.corpora.dependencies import ROOT, Parse, is_projective
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.models.gold import Words, check_names
from spacy_structreg.tasks.dependencies.arcs import ParseDecoder

TaggedSentence: TypeAlias = tuple[Words, Sequence[str]]
"""Words, and a tag for each."""

GivenArcs: TypeAlias = tuple[Sequence[int | None], Sequence[str | None]]
"""Of each word the index of its head, `ROOT`, or None where it is not known; and the label."""

HeadT = TypeVar("HeadT", int, "int | None")
"""The index of a head, or None where it is not known."""


def checked_sentence(sentence: TaggedSentence) -> TaggedSentence:
    """A sentence that can be parsed. Raises ValueError for any other."""
    words, tags = sentence
    if isinstance(words, str) or isinstance(tags, str):
        raise ValueError(f"{sentence!r:.60} is not a list of words and a list of tags")
    if not words:
        raise ValueError("a sentence without words has no tree")
    if len(tags) != len(words):
        raise ValueError(f"{len(tags)} tags are given for {len(words)} words")
    for what, listed in (("word", words), ("tag", tags)):
        if set(map(type, listed)) == {str}:
            continue
        for i, each in enumerate(listed):
            if not isinstance(each, str):
                raise ValueError(f"{what} {i} is {each!r:.60}; give a string")
    check_names(tags)
    return words, tags


def visible_places(words: Words) -> list[int]:
    """The places of the words that are not only white space."""
    if all(map(str.strip, words)):
        return list(range(len(words)))
    return [i for i, word in enumerate(words) if word.strip()]


def _checked_arcs(given: GivenArcs) -> tuple[tuple[int | None, ...], tuple[str | None, ...]]:
    """The given heads and labels as tuples. Raises ValueError for anything else."""
    try:
        heads, labels = tuple(given[0]), tuple(given[1])
        is_pair = len(given) == 2
    except (TypeError, IndexError):
        is_pair = False
    if not is_pair:
        raise ValueError(f"{given!r:.60} is given, which is not a list of heads and one of labels")
    for word, (head, label) in enumerate(zip(heads, labels, strict=False)):
        if not (head is None or isinstance(head, Integral)):
            raise ValueError(
                f"the head {head!r:.60} is given of word {word}; give a number, or None"
            )
        if not (label is None or isinstance(label, str)):
            raise ValueError(
                f"the label {label!r:.60} is given of word {word}; give a string, or None"
            )
    return heads, labels


def mirrored(sentence: Sentence) -> Sentence:
    """A sentence from its last word to its first, with the same tree."""
    return Sentence(
        words=sentence.words[::-1],
        tags=sentence.tags[::-1],
        heads=tuple(_mirrored_heads(sentence.heads)),
        labels=sentence.labels[::-1],
    )


def _mirrored_heads(heads: Sequence[HeadT]) -> list[HeadT]:
    last = len(heads) - 1
    return [head if head is None or head == ROOT else last - head for head in heads[::-1]]


def without_blanks(sentence: Sentence) -> Sentence | None:
    """A sentence without the words of nothing but white space; None if no other is left.

    What hangs on such a word is hung on its head.
    """
    kept = visible_places(sentence.words)
    if len(kept) == len(sentence.words):
        return sentence
    if not kept:
        return None
    place = {old: new for new, old in enumerate(kept)}

    def head_of(word: int) -> int | None:
        head = sentence.heads[word]
        while head is not None and head != ROOT and head not in place:
            head = sentence.heads[head]
        return head if head is None or head == ROOT else place[head]

    return Sentence(
        words=tuple(sentence.words[i] for i in kept),
        tags=tuple(sentence.tags[i] for i in kept),
        heads=tuple(head_of(i) for i in kept),
        labels=tuple(sentence.labels[i] for i in kept),
    )


@dataclass(frozen=True, slots=True)
class Query:
    """A sentence to be parsed: the words that are none of white space, and what is known of them.

    words, tags: in the order in which the decoder reads them, from the last to the first if
    `backward`; all else is in the order of the sentence. places: where the words stand among all
    n_words. given: what is given for all words. heads: those of it that bind the visible words.
    """

    words: list[str]
    tags: list[str]
    places: list[int]
    n_words: int
    given: GivenArcs | None
    heads: list[int | None] | None
    backward: bool

    @classmethod
    def of(
        cls, sentence: TaggedSentence, given: GivenArcs | None, *, backward: bool = False
    ) -> Query:
        """Raises ValueError for what cannot be parsed, or not with the given arcs."""
        words, tags = checked_sentence(sentence)
        heads = None
        if given is not None:
            given = arcs = _checked_arcs(given)
            tree = Sentence(tuple(words), tuple(tags), *arcs)
            visible = without_blanks(tree)
            heads = [] if visible is None else list(visible.heads)
            if heads.count(ROOT) > 1 or not is_projective(heads):
                raise ValueError(
                    f"no projective tree with one root over {' '.join(words)[:40]!r} has the heads "
                    f"that are given: {list(given[0])}"
                )
        places = visible_places(words)
        n = len(words)
        if len(places) < n:
            words, tags = [words[i] for i in places], [tags[i] for i in places]
        order = -1 if backward else 1
        return cls(list(words)[::order], list(tags)[::order], places, n, given, heads, backward)

    def __len__(self) -> int:
        return len(self.words)

    def bound(self, number: dict[str, int]) -> tuple[list[int | None], list[int | None]] | None:
        """The given heads and labels of visible words, labels by number; None if there are none."""
        if self.given is None or self.heads is None:
            return None
        labels = [self.given[1][place] for place in self.places]
        numbers = [None if label is None else number.get(label) for label in labels]
        if self.backward:
            return _mirrored_heads(self.heads), numbers[::-1]
        return self.heads, numbers

    def answer(self, decoder: ParseDecoder, tree: tuple[list[int], list[int]]) -> Parse:
        """The tree over all words, from one over the visible words."""
        heads, numbers = tree
        if self.backward:
            heads, numbers = _mirrored_heads(heads), numbers[::-1]
        # A model of nothing but roots has no labels of arcs. The number of the root is -1.
        names = (*(decoder.labels or ("",)), decoder.root_label)
        labels = list(map(names.__getitem__, numbers))
        if len(self.places) < self.n_words:
            of_visible = dict(zip(self.places, labels, strict=True))
            labels = [of_visible.get(place, "") for place in range(self.n_words)]
            heads = heads_of_all(heads, self.places, self.n_words)
        if self.given is not None:
            for i, label in enumerate(self.given[1]):
                if label is not None:
                    labels[i] = label
        return Parse(tuple(heads), tuple(labels))


def heads_of_all(heads: Sequence[int], places: Sequence[int], n_words: int) -> list[int]:
    """The heads of all words from those of the visible ones.

    places: of the visible words, whose heads are counted among them. White space becomes a child of
    the word before it, or of the first visible word; if none is visible, its first is the root.
    """
    if len(places) == n_words:
        return list(heads)
    found = [ROOT] * n_words
    first = places[0] if places else 0
    visible = set(places)
    for i in range(n_words):
        if i not in visible and i != first:
            # Blanks before the first word are its children.
            found[i] = max(i - 1, 0) if i > first else first
    for place, head in zip(places, heads, strict=True):
        found[place] = ROOT if head == ROOT else places[head]
    return found


def parse_queries(decoder: ParseDecoder, queries: list[Query]) -> list[Parse]:
    """The tree of each query."""
    number = {label: i for i, label in enumerate(decoder.labels)}
    trees = decoder.parse(
        [(query.words, query.tags) for query in queries],
        [query.bound(number) for query in queries],
    )
    answers = []
    for query, tree in zip(queries, trees, strict=True):
        # Some tree has what is given, and no beam loses all that have it.
        assert tree is not None
        answers.append(query.answer(decoder, tree))
    return answers
