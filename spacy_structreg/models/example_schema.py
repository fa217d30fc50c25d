"""The schema of gold sentences: how they are checked, and what is said of each word."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from spacy_structreg.corpora.formats.partial import PartialSentence

Words: TypeAlias = Sequence[str]
TaggedWords: TypeAlias = Sequence[tuple[str, str]]
SegmentedGold: TypeAlias = Words | PartialSentence
TaggedGold: TypeAlias = TaggedWords | PartialSentence

GoldT = TypeVar("GoldT")


class ExampleSchema(ABC, Generic[GoldT]):
    """Checks gold sentences of one kind, and gives their layers of annotation."""

    @abstractmethod
    def checked(self, sentence: Any) -> GoldT:
        """A sentence as a list. Raises ValueError if it is none of this kind."""

    @abstractmethod
    def layers(self, sentence: GoldT) -> tuple[list[str], ...]:
        """The words of a sentence; then, as long a list each, what is said about them."""

    def check_corpus(self, sentences: Iterable[Any], purpose: str) -> list[GoldT]:
        """All sentences of a corpus, as lists.

        purpose: names the corpus in errors. Raises ValueError, with the number of the sentence, if
        one is not of this kind, or is annotated in part and not for training; and if there is no
        word in the corpus.
        """
        checked: list[GoldT] = []
        for number, sentence in enumerate(sentences, 1):
            try:
                checked.append(self.checked(sentence))
                if purpose != "training" and isinstance(checked[-1], PartialSentence):
                    raise ValueError(
                        "it is annotated in part, which training alone can use; give whole "
                        "sentences here"
                    )
            except ValueError as error:
                raise ValueError(f"sentence {number} of the {purpose} corpus: {error}") from error
        if not any(word.strip() for sentence in checked for word in self.layers(sentence)[0]):
            raise ValueError(f"the {purpose} corpus is empty: it has no word in it")
        return checked


class TextSchema(ExampleSchema[GoldT]):
    """Gold sentences that are read off texts, so that they may be cut as texts are."""

    @abstractmethod
    def squeezed(self, sentence: GoldT) -> GoldT:
        """A sentence without white space in its words, and without words of nothing else."""

    def text(self, sentence: GoldT) -> str:
        """The text of a sentence."""
        if isinstance(sentence, PartialSentence):
            return sentence.text
        return "".join(self.layers(sentence)[0])

    @abstractmethod
    def split(self, sentence: GoldT) -> Sequence[GoldT]:
        """A squeezed sentence, split again as `corpora.sentences.split_words` does."""

    @abstractmethod
    def with_words(self, sentence: GoldT, words: list[str]) -> GoldT:
        """A sentence, not known in part only, that has other words instead of its own."""

    def examples(self, sentence: GoldT, *, split: bool) -> Sequence[GoldT]:
        """The training examples in a sentence: squeezed, and split if that is asked for.

        Of sentences that are annotated in part, those that say something.
        """
        if not isinstance(sentence, PartialSentence):
            squeezed = self.squeezed(sentence)
            return self.split(squeezed) if split else [squeezed]
        parts = sentence.split() if split else [sentence]
        return [self.checked(part) for part in parts if len(part) == 1 or part.says_something]


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
