"""Gold sentences: words, alone, with their tags, labels or a category, or tagged and in a tree;
and items that are known by features alone."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final, Generic, TypeAlias, TypeVar

from spacy_structreg.corpora.constituents import ConstituencySentence
from spacy_structreg.corpora.dependencies import DependencySentence
from spacy_structreg.corpora.sentences import split_words
from spacy_structreg.tasks.feature_dictionaries import flatten_features

Words: TypeAlias = Sequence[str]
TaggedWords: TypeAlias = Sequence[tuple[str, str]]
LabelledTokens: TypeAlias = Sequence[tuple[str, ...]]
ClassifiedWords: TypeAlias = tuple[list[str], str]
LabelledFeatures: TypeAlias = Sequence[tuple[dict[str, float], str]]

GoldT = TypeVar("GoldT")


class GoldKind(ABC, Generic[GoldT]):
    """What can be done with gold sentences of one kind."""

    @abstractmethod
    def checked(self, sentence: Any) -> GoldT:
        """A sentence as a list. Raises ValueError if it is none of this kind."""

    @abstractmethod
    def layers(self, sentence: GoldT) -> tuple[list[str], ...]:
        """The words of a sentence; then, as long a list each, what is said about them."""

    def checked_corpus(self, sentences: Iterable[Any], purpose: str) -> list[GoldT]:
        """All sentences of a corpus, as lists.

        purpose: names the corpus in errors. Raises ValueError, with the number of the sentence, if
        one is not of this kind; and if there is no word in the corpus.
        """
        checked: list[GoldT] = []
        for number, sentence in enumerate(sentences, 1):
            try:
                checked.append(self.checked(sentence))
            except ValueError as error:
                raise ValueError(f"sentence {number} of the {purpose} corpus: {error}") from error
        if not any(word.strip() for sentence in checked for word in self.layers(sentence)[0]):
            raise ValueError(f"the {purpose} corpus is empty: it has no word in it")
        return checked


class TextKind(GoldKind[GoldT]):
    """Gold sentences that are read off texts, so that they may be cut as texts are."""

    @abstractmethod
    def squeezed(self, sentence: GoldT) -> GoldT:
        """A sentence without white space in its words, and without words of nothing else."""

    @abstractmethod
    def split(self, sentence: GoldT) -> Sequence[GoldT]:
        """A squeezed sentence, split again as `corpora.sentences.split_words` does."""


class _Segmented(TextKind[Words]):
    def checked(self, sentence: Any) -> Words:
        listed = _listed(sentence)
        if listed is None or not all(isinstance(word, str) for word in listed):
            raise ValueError(f"{sentence!r:.60} is not a list of words")
        return listed

    def layers(self, sentence: Words) -> tuple[list[str], ...]:
        return (list(sentence),)

    def squeezed(self, sentence: Words) -> Words:
        return [word for word in map(_squeeze, sentence) if word]

    def split(self, sentence: Words) -> Sequence[Words]:
        return split_words(sentence)


class _Tagged(TextKind[TaggedWords]):
    def checked(self, sentence: Any) -> TaggedWords:
        listed = _listed(sentence)
        if listed is None or not all(map(_is_pair, listed)):
            raise ValueError(f"{sentence!r:.60} is not a list of pairs of a word and its tag")
        check_names(tag for _, tag in listed)
        for word, tag in listed:
            if not tag.strip() and word.strip():
                raise ValueError(f"the word {word!r:.60} has no tag")
        return [(word, tag) for word, tag in listed]

    def layers(self, sentence: TaggedWords) -> tuple[list[str], ...]:
        return [word for word, _ in sentence], [tag for _, tag in sentence]

    def squeezed(self, sentence: TaggedWords) -> TaggedWords:
        return [(word, tag) for word, tag in ((_squeeze(w), t) for w, t in sentence) if word]

    def split(self, sentence: TaggedWords) -> Sequence[TaggedWords]:
        sizes = map(len, split_words([word for word, _ in sentence]))
        return [sentence[start:stop] for start, stop in pairwise(accumulate(sizes, initial=0))]


class _Labelled(GoldKind[LabelledTokens]):
    """Tokens as tuples: the word, any further columns, the label."""

    def checked(self, sentence: Any) -> LabelledTokens:
        listed = _listed(sentence)
        if listed is None or not all(map(_is_row, listed)):
            raise ValueError(
                f"{sentence!r:.60} is not a list of tuples of strings, each a word, its other "
                "columns if any, and its label"
            )
        check_names(row[-1] for row in listed)
        for row in listed:
            if len(row) != len(listed[0]):
                raise ValueError(
                    f"the token {row!r:.60} has {len(row)} columns, the first one "
                    f"{len(listed[0])}; give each the same"
                )
            if not row[-1].strip():
                raise ValueError(f"the word {row[0]!r:.60} has no label")
        return [tuple(row) for row in listed]

    def layers(self, sentence: LabelledTokens) -> tuple[list[str], ...]:
        # A sentence without tokens has words and labels, too, but none.
        return tuple(map(list, zip(*sentence, strict=True))) or ([], [])

    def checked_corpus(self, sentences: Iterable[Any], purpose: str) -> list[LabelledTokens]:
        """As of other kinds; sentences also have as many columns as each other."""
        checked = super().checked_corpus(sentences, purpose)
        n_columns = next(len(sentence[0]) for sentence in checked if sentence)
        for number, sentence in enumerate(checked, 1):
            if sentence and len(sentence[0]) != n_columns:
                raise ValueError(
                    f"sentence {number} of the {purpose} corpus: its tokens have "
                    f"{len(sentence[0])} columns, those before {n_columns}; give each the same"
                )
        return checked


class _Featured(GoldKind[LabelledFeatures]):
    """Pairs of the features of an item (`tasks.feature_dictionaries`) and its label."""

    def checked(self, sentence: Any) -> LabelledFeatures:
        listed = _listed(sentence)
        if listed is None or not all(
            isinstance(item, (tuple, list)) and len(item) == 2 and isinstance(item[1], str)
            for item in listed
        ):
            raise ValueError(
                f"{sentence!r:.60} is not a list of pairs of the features of an item and its label"
            )
        check_names(label for _, label in listed)
        if not all(label.strip() for _, label in listed):
            raise ValueError("an item has no label")
        return [(flatten_features(features), label) for features, label in listed]

    def layers(self, sentence: LabelledFeatures) -> tuple[list[str], ...]:
        # ASCII alone: names may be such that UTF-8 cannot encode them, which is found out later.
        return [json.dumps(features) for features, _ in sentence], [label for _, label in sentence]


class _Classified(GoldKind[ClassifiedWords]):
    """Pairs of the words of a text and its category."""

    def checked(self, sentence: Any) -> ClassifiedWords:
        is_pair = isinstance(sentence, (tuple, list)) and len(sentence) == 2
        words = _listed(sentence[0]) if is_pair else None
        if (
            words is None
            or not all(isinstance(word, str) for word in words)
            or not isinstance(sentence[1], str)
        ):
            raise ValueError(f"{sentence!r:.60} is not a pair of a list of words and a category")
        category = sentence[1]
        check_names([category])
        if not category.strip():
            raise ValueError(f"the text {words!r:.60} has no category")
        return words, category

    def layers(self, sentence: ClassifiedWords) -> tuple[list[str], ...]:
        words, category = sentence
        return list(words), [category] * len(words)


class _Dependencies(GoldKind[DependencySentence]):
    def checked(self, sentence: Any) -> DependencySentence:
        if not isinstance(sentence, DependencySentence):
            raise ValueError(f"{sentence!r:.60} is not a DependencySentence")
        check_names([*sentence.tags, *sentence.labels])
        return sentence

    def layers(self, sentence: DependencySentence) -> tuple[list[str], ...]:
        return (
            list(sentence.words),
            list(sentence.tags),
            ["" if head is None else str(head) for head in sentence.heads],
            [label or "" for label in sentence.labels],
        )


class _Constituents(GoldKind[ConstituencySentence]):
    def checked(self, sentence: Any) -> ConstituencySentence:
        if not isinstance(sentence, ConstituencySentence):
            raise ValueError(f"{sentence!r:.60} is not a ConstituencySentence")
        check_names([*sentence.tags, *(each.label for each in sentence.constituents)])
        return sentence

    def layers(self, sentence: ConstituencySentence) -> tuple[list[str], ...]:
        # Of each word the phrases that begin with it, outer ones first.
        begun: list[list[str]] = [[] for _ in sentence.words]
        for each in sentence.constituents:
            begun[each.begin].append(f"{each.label} {each.end} {each.head}")
        return list(sentence.words), list(sentence.tags), ["\n".join(each) for each in begun]


SEGMENTED: Final[TextKind[Words]] = _Segmented()
TAGGED: Final[TextKind[TaggedWords]] = _Tagged()
LABELLED: Final[GoldKind[LabelledTokens]] = _Labelled()
FEATURED: Final[GoldKind[LabelledFeatures]] = _Featured()
CLASSIFIED: Final[GoldKind[ClassifiedWords]] = _Classified()
DEPENDENCIES: Final[GoldKind[DependencySentence]] = _Dependencies()
CONSTITUENTS: Final[GoldKind[ConstituencySentence]] = _Constituents()


def check_names(names: Iterable[str | None]) -> None:
    """Raise ValueError if a tag or the like cannot be written: for a lone surrogate in it."""
    listed = [name for name in names if name]
    try:
        "".join(listed).encode()
    except UnicodeEncodeError as error:
        surrogate = error.object[error.start]
        name = next(name for name in listed if surrogate in name)
        raise ValueError(
            f"the tag or label {name!r:.60} has a lone surrogate, U+{ord(surrogate):04X}, which "
            "UTF-8 cannot encode; correct it"
        ) from error


def _listed(sentence: Any) -> list[Any] | None:
    is_list = isinstance(sentence, Iterable) and not isinstance(sentence, str)
    return list(sentence) if is_list else None


def _is_pair(item: Any) -> bool:
    return _is_row(item) and len(item) == 2


def _is_row(item: Any) -> bool:
    return (
        isinstance(item, (tuple, list))
        and len(item) >= 2
        and all(isinstance(cell, str) for cell in item)
    )


def _squeeze(word: str) -> str:
    return "".join(word.split())
