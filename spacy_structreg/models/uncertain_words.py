"""Decisions between words that are worth asking about: those a model is least sure of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.partial_sentence import PartialSentence

Sure: TypeAlias = tuple[str, NDArray[np.float64]]
"""A sentence without white space, and its margins, as `predict_margins` gives them."""

CONTEXT: Final = 2
"""Number of characters to either side that make two decisions the same question."""

SPARE: Final = 10_000


def least_certain(sentences: Iterable[Sure], n: int) -> list[tuple[PartialSentence, list[int]]]:
    """The sentences of the `n` decisions of the least margins, with the places of these.

    Of decisions between the same `CONTEXT` characters to either side, only the least certain one
    is asked for. Places where the margin is infinite are never. Sentences come in their order;
    nothing of them is known. Memory grows with `n`, not with the text. Raises ValueError if n < 1.
    """
    if n < 1:
        raise ValueError(f"{n} decisions cannot be asked for; 1 is the least")
    # By contexts: margin, number of the sentence, place; and the sentences.
    asked: dict[str, tuple[float, int, int]] = {}
    texts: dict[int, str] = {}
    for number, (text, margins) in enumerate(sentences):
        for place, margin in enumerate(np.abs(margins).tolist()):
            context = _context(text, place)
            found = (margin, number, place)
            if margin < np.inf and (context not in asked or found < asked[context]):
                asked[context] = found
                texts[number] = text
        if len(asked) > 2 * n + SPARE:
            asked, texts = _kept(asked, texts, n)
    asked, texts = _kept(asked, texts, n)
    places: dict[int, list[int]] = {}
    for _, number, place in asked.values():
        places.setdefault(number, []).append(place)
    return [
        (
            PartialSentence(texts[number], (None,) * (len(texts[number]) - 1)),
            sorted(places[number]),
        )
        for number in sorted(places)
    ]


def flat(texts: Iterable[list[Sure]]) -> Iterator[Sure]:
    """The sentences of texts, one after the other."""
    for sentences in texts:
        yield from sentences


def _context(text: str, place: int) -> str:
    # Beyond the ends of a sentence stands white space, which is in none.
    padded = " " * CONTEXT + text[max(0, place + 1 - CONTEXT) : place + 1]
    return padded[-CONTEXT:] + text[place + 1 : place + 1 + CONTEXT]


def _kept(
    asked: dict[str, tuple[float, int, int]], texts: dict[int, str], n: int
) -> tuple[dict[str, tuple[float, int, int]], dict[int, str]]:
    """The `n` least margins, and the sentences that they are of.

    What is left out now is not among the least in the end, unless it comes again with less.
    """
    least = sorted(asked.items(), key=lambda item: item[1])[:n]
    return dict(least), {number: texts[number] for _, (_, number, _) in least}
