"""Gold sentences of joint taggers and taggers: lists of (word, tag) pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final

from spacy_structreg.corpora.formats.partial import PartialSentence
from spacy_structreg.corpora.sentences import split_words
from spacy_structreg.models.example_schema import (
    TaggedGold,
    TaggedWords,
    TextSchema,
    as_list,
    check_names,
    is_pair,
    partial_layers,
    squeeze,
)


class TaggedSchema(TextSchema[TaggedGold]):
    """Lists of (word, tag) pairs, the tag None where it is not known; or a `PartialSentence`."""

    def checked(self, sentence: Any) -> TaggedGold:
        if isinstance(sentence, PartialSentence):
            check_names(tag for _, _, tag in sentence.tags)
            if not sentence.has_words or "" in sentence.piece_tags:
                return sentence
            return list(zip(sentence.pieces, sentence.piece_tags, strict=True))
        listed = as_list(sentence)
        if listed is not None and any(map(is_untagged, listed)):
            return self._partial(listed)
        if listed is None or not all(map(is_pair, listed)):
            raise ValueError(f"{sentence!r:.60} is not a list of pairs of a word and its tag")
        check_names(tag for _, tag in listed)
        for word, tag in listed:
            if not tag.strip() and word.strip():
                raise ValueError(f"the word {word!r:.60} has no tag")
        return [(word, tag) for word, tag in listed]

    def _partial(self, listed: list[Any]) -> TaggedGold:
        """Pairs of which some tags are None."""
        self.checked([(item[0], "-") if is_untagged(item) else item for item in listed])
        kept = [(squeeze(word), tag) for word, tag in listed if squeeze(word)]
        if not kept:
            return []
        return self.checked(
            PartialSentence.of_words([word for word, _ in kept], [tag for _, tag in kept])
        )

    def layers(self, sentence: TaggedGold) -> tuple[list[str], ...]:
        if isinstance(sentence, PartialSentence):
            return partial_layers(sentence)
        return [word for word, _ in sentence], [tag for _, tag in sentence]

    def squeezed(self, sentence: TaggedGold) -> TaggedWords:
        assert not isinstance(sentence, PartialSentence)
        return [(word, tag) for word, tag in ((squeeze(w), t) for w, t in sentence) if word]

    def split(self, sentence: TaggedGold) -> Sequence[TaggedWords]:
        assert not isinstance(sentence, PartialSentence)
        sizes = map(len, split_words([word for word, _ in sentence]))
        return [sentence[start:stop] for start, stop in pairwise(accumulate(sizes, initial=0))]

    def with_words(self, sentence: TaggedGold, words: list[str]) -> TaggedWords:
        return list(zip(words, self.layers(sentence)[1], strict=True))


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

TAGGED: Final = TaggedSchema()
