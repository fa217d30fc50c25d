"""Gold sentences of joint taggers and taggers: lists of (word, tag) pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, Final

from spacy_structreg.corpora.sentences import split_words
from spacy_structreg.models.example_schema import (
    TaggedWords,
    TextSchema,
    as_list,
    check_names,
    is_pair,
    squeeze,
)


class TaggedSchema(TextSchema[TaggedWords]):
    """Lists of (word, tag) pairs."""

    def checked(self, sentence: Any) -> TaggedWords:
        listed = as_list(sentence)
        if listed is None or not all(map(is_pair, listed)):
            raise ValueError(f"{sentence!r:.60} is not a list of pairs of a word and its tag")
        check_names(tag for _, tag in listed)
        for word, tag in listed:
            if not tag.strip() and word.strip():
                raise ValueError(f"the word {word!r:.60} has no tag")
        return [(word, tag) for word, tag in listed]

    def layers(self, sentence: TaggedWords) -> tuple[list[str], ...]:
        return [word for word, _ in sentence], [tag for _, tag in sentence]

    def squeezed(self, sentence: TaggedWords) -> TaggedWords:
        return [(word, tag) for word, tag in ((squeeze(w), t) for w, t in sentence) if word]

    def split(self, sentence: TaggedWords) -> Sequence[TaggedWords]:
        sizes = map(len, split_words([word for word, _ in sentence]))
        return [sentence[start:stop] for start, stop in pairwise(accumulate(sizes, initial=0))]


TAGGED: Final[TextSchema[TaggedWords]] = TaggedSchema()
