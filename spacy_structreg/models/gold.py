"""Gold sentences: how they are checked, and their layers of annotation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any, Final, Generic, TypeAlias, TypeVar

from spacy_structreg.corpora.partial_sentence import PartialSentence
from spacy_structreg.corpora.sentences import split_words

Words: TypeAlias = Sequence[str]
TaggedWords: TypeAlias = Sequence[tuple[str, str]]
SegmentedGold: TypeAlias = Words | PartialSentence
TaggedGold: TypeAlias = TaggedWords | PartialSentence

GoldT = TypeVar("GoldT")


class ExampleSchema(ABC, Generic[GoldT]):
    """Checks gold sentences of one kind, and gives their layers of annotation.

    Never instantiated but as a part of a `ModelSpec`.
    """

    @classmethod
    @abstractmethod
    def checked(cls, sentence: Any) -> GoldT:
        """A sentence as a list. Raises ValueError if it is none of this kind."""

    @classmethod
    @abstractmethod
    def layers(cls, sentence: GoldT) -> tuple[list[str], ...]:
        """The words of a sentence; then, as long a list each, what is said about them."""

    @classmethod
    def check_corpus(cls, sentences: Iterable[Any], purpose: str) -> list[GoldT]:
        """All sentences of a corpus, as lists.

        purpose: names the corpus in errors. Raises ValueError, with the number of the sentence, if
        one is not of this kind, or is annotated in part and not for training; and if there is no
        word in the corpus.
        """
        checked: list[GoldT] = []
        for number, sentence in enumerate(sentences, 1):
            try:
                checked.append(cls.checked(sentence))
                if purpose != "training" and isinstance(checked[-1], PartialSentence):
                    raise ValueError(
                        "it is annotated in part, which training alone can use; give whole "
                        "sentences here"
                    )
            except ValueError as error:
                raise ValueError(f"sentence {number} of the {purpose} corpus: {error}") from error
        if not any(word.strip() for sentence in checked for word in cls.layers(sentence)[0]):
            raise ValueError(f"the {purpose} corpus is empty: it has no word in it")
        return checked


class TextSchema(ExampleSchema[GoldT]):
    """Gold sentences that are read off texts, so that they may be cut as texts are."""

    @classmethod
    @abstractmethod
    def squeezed(cls, sentence: GoldT) -> GoldT:
        """A sentence without white space in its words, and without words of nothing else."""

    @classmethod
    def text(cls, sentence: GoldT) -> str:
        """The text of a sentence."""
        if isinstance(sentence, PartialSentence):
            return sentence.text
        return "".join(cls.layers(sentence)[0])

    @classmethod
    @abstractmethod
    def split(cls, sentence: GoldT) -> Sequence[GoldT]:
        """A squeezed sentence, split again as `corpora.sentences.split_words` does."""

    @classmethod
    @abstractmethod
    def with_words(cls, sentence: GoldT, words: list[str]) -> GoldT:
        """A sentence, not known in part only, that has other words instead of its own."""

    @classmethod
    def examples(cls, sentence: GoldT, *, split: bool) -> Sequence[GoldT]:
        """The training examples in a sentence: squeezed, and split if that is asked for.

        Of sentences that are annotated in part, those that say something.
        """
        if not isinstance(sentence, PartialSentence):
            squeezed = cls.squeezed(sentence)
            return cls.split(squeezed) if split else [squeezed]
        parts = sentence.split() if split else [sentence]
        return [cls.checked(part) for part in parts if len(part) == 1 or part.says_something]


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


def as_list(sentence: Any) -> list[Any] | None:
    """A sentence as a list; None if it is no iterable, or a string."""
    is_list = isinstance(sentence, Iterable) and not isinstance(sentence, str)
    return list(sentence) if is_list else None


def is_pair(item: Any) -> bool:
    """True if an item is a pair of strings."""
    return is_row(item) and len(item) == 2


def is_row(item: Any) -> bool:
    """True if an item is a tuple or list of two strings or more."""
    return (
        isinstance(item, (tuple, list))
        and len(item) >= 2
        and all(isinstance(cell, str) for cell in item)
    )


def partial_layers(sentence: PartialSentence) -> tuple[list[str], list[str]]:
    """The layers of a sentence that is annotated in part: words and tags, "" where not known.

    If not all words are known, the sentence as it is written stands for a word.
    """
    if sentence.has_words:
        return sentence.pieces, sentence.piece_tags
    return [sentence.line()], [""]


def squeeze(word: str) -> str:
    """A word without its white space."""
    return "".join(word.split())


class SegmentedSchema(TextSchema[SegmentedGold]):
    """Lists of words; or a `PartialSentence`, whose tags play no part."""

    @classmethod
    def checked(cls, sentence: Any) -> SegmentedGold:
        if isinstance(sentence, PartialSentence):
            return sentence.pieces if sentence.has_words else replace(sentence, tags=())
        listed = as_list(sentence)
        if listed is None or not all(isinstance(word, str) for word in listed):
            raise ValueError(f"{sentence!r:.60} is not a list of words")
        return listed

    @classmethod
    def layers(cls, sentence: SegmentedGold) -> tuple[list[str], ...]:
        if isinstance(sentence, PartialSentence):
            return partial_layers(sentence)[:1]
        return (list(sentence),)

    @classmethod
    def squeezed(cls, sentence: SegmentedGold) -> Words:
        assert not isinstance(sentence, PartialSentence)
        return [word for word in map(squeeze, sentence) if word]

    @classmethod
    def split(cls, sentence: SegmentedGold) -> Sequence[Words]:
        assert not isinstance(sentence, PartialSentence)
        return split_words(sentence)

    @classmethod
    def with_words(cls, sentence: SegmentedGold, words: list[str]) -> Words:
        return words


class TaggedSchema(TextSchema[TaggedGold]):
    """Lists of (word, tag) pairs, the tag None where it is not known; or a `PartialSentence`."""

    @classmethod
    def checked(cls, sentence: Any) -> TaggedGold:
        if isinstance(sentence, PartialSentence):
            check_names(tag for _, _, tag in sentence.tags)
            if not sentence.has_words or "" in sentence.piece_tags:
                return sentence
            return list(zip(sentence.pieces, sentence.piece_tags, strict=True))
        listed = as_list(sentence)
        if listed is not None and any(map(is_untagged, listed)):
            return cls._partial(listed)
        if listed is None or not all(map(is_pair, listed)):
            raise ValueError(f"{sentence!r:.60} is not a list of pairs of a word and its tag")
        check_names(tag for _, tag in listed)
        for word, tag in listed:
            if not tag.strip() and word.strip():
                raise ValueError(f"the word {word!r:.60} has no tag")
        return [(word, tag) for word, tag in listed]

    @classmethod
    def _partial(cls, listed: list[Any]) -> TaggedGold:
        """Pairs of which some tags are None."""
        cls.checked([(item[0], "-") if is_untagged(item) else item for item in listed])
        kept = [(squeeze(word), tag) for word, tag in listed if squeeze(word)]
        if not kept:
            return []
        return cls.checked(
            PartialSentence.of_words([word for word, _ in kept], [tag for _, tag in kept])
        )

    @classmethod
    def layers(cls, sentence: TaggedGold) -> tuple[list[str], ...]:
        if isinstance(sentence, PartialSentence):
            return partial_layers(sentence)
        return [word for word, _ in sentence], [tag for _, tag in sentence]

    @classmethod
    def squeezed(cls, sentence: TaggedGold) -> TaggedWords:
        assert not isinstance(sentence, PartialSentence)
        return [(word, tag) for word, tag in ((squeeze(w), t) for w, t in sentence) if word]

    @classmethod
    def split(cls, sentence: TaggedGold) -> Sequence[TaggedWords]:
        assert not isinstance(sentence, PartialSentence)
        sizes = map(len, split_words([word for word, _ in sentence]))
        return [sentence[start:stop] for start, stop in pairwise(accumulate(sizes, initial=0))]

    @classmethod
    def with_words(cls, sentence: TaggedGold, words: list[str]) -> TaggedWords:
        return list(zip(words, cls.layers(sentence)[1], strict=True))


def known_pairs(sentence: TaggedGold) -> TaggedWords:
    """The words of a sentence that are known with their tags."""
    if not isinstance(sentence, PartialSentence):
        return sentence
    return [(sentence.text[begin:end], tag) for begin, end, tag in sentence.tags]


def tags_of(sentences: Iterable[TaggedGold]) -> set[str]:
    """All tags of some sentences."""
    return {tag for sentence in sentences for _, tag in known_pairs(sentence)}


def is_untagged(item: Any) -> bool:
    """True if an item is a pair of a word and None."""
    return (
        isinstance(item, (tuple, list))
        and len(item) == PAIR
        and isinstance(item[0], str)
        and item[1] is None
    )


PAIR: Final = 2
