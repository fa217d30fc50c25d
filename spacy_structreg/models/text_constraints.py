"""Constraints of texts by user words, given spans and typed runs, as decoders take them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.sentences import LONGEST, cut_long
from spacy_structreg.features.typed_runs import LatinRuns, TypedRuns
from spacy_structreg.tasks.segmentation.constraints import Constraints
from spacy_structreg.tasks.segmentation.given_spans import (
    BEGINS,
    CONTINUES,
    SAYS_STAND_IN,
    AnySpan,
    run_limits,
    span_limits,
)
from spacy_structreg.tasks.segmentation.user_words import CompiledWords, whole_ends

NO_CONSTRAINTS: Final = Constraints()


def constrained_text(
    text: str,
    ends: list[int],
    user_words: CompiledWords | None,
    spans: Sequence[AnySpan],
    *,
    runs: TypedRuns | LatinRuns | None,
    known_tags: Sequence[str],
) -> tuple[list[int], Constraints]:
    """The ends of the sentences of a text that its constraints leave, and these.

    No word or span that is forced lies across an end. ends: of the sentences without constraints.
    runs: finder of typed runs. known_tags: of the model; none if it takes any.
    Raises ValueError for spans that cannot be, or have an unknown tag.
    """
    words, bonus_words, bonuses, tags, _ = (
        user_words.look_up(text) if user_words else NO_CONSTRAINTS
    )
    boundaries, run_tags = _run_constraints(text, runs, known_tags)
    if boundaries is None and not (user_words or spans):
        return ends, NO_CONSTRAINTS
    limits = span_limits(text, spans) if spans else None
    if limits is not None:
        given = limits.constraints
        if boundaries is None:
            boundaries = given
        else:
            # Runs look the same to the model, however they are cut.
            boundary = boundaries % SAYS_STAND_IN
            boundaries = boundaries - boundary + np.where(given, given, boundary)
    if boundaries is not None and len(words):
        # Listed words may go beyond runs, but not cut them.
        inside = np.append(boundaries % SAYS_STAND_IN == CONTINUES, False)
        words = words[~(inside[words[:, 0]] | inside[words[:, 1]])]
    if limits is not None:
        words = words[limits.without_rivals(words)]
        kept = limits.without_rivals(bonus_words)
        bonus_words, bonuses = bonus_words[kept], bonuses[kept]
        for span in limits.tagged:
            check_tag(f"the span {span.start}:{span.end} has", span.tag, known_tags)
        rows = [(span.start, span.end, len(tags) + i) for i, span in enumerate(limits.tagged)]
        tags = (*tags, *(span.tag for span in limits.tagged if span.tag))
        rows += map(tuple, words.tolist())
        words = np.array(sorted(rows), dtype=np.int32).reshape(-1, 3)
    if boundaries is not None:
        names = sorted({name for *_, name in run_tags})
        number = {name: len(tags) + i for i, name in enumerate(names)}
        tags = (*tags, *names)
        rows = [(start, end, number[name]) for start, end, name in run_tags]
        words = _with_tagged_runs(words, rows, boundaries, [words, bonus_words])
        ends = [
            end for end in ends if end == len(text) or boundaries[end] % SAYS_STAND_IN != CONTINUES
        ]
    for places in (words, bonus_words):
        if len(places):
            ends = whole_ends(ends, places)
    constraints = Constraints(words, bonus_words, bonuses, tags, boundaries)
    return (ends, constraints) if len(text) <= LONGEST else _cut(text, ends, constraints)


def check_tag(what: str, tag: str | None, known_tags: Sequence[str]) -> None:
    """Raise ValueError for a tag that a model does not know, if it knows any.

    what: has the tag, in the message.
    """
    if known_tags and tag not in known_tags:
        raise ValueError(
            f"{what} the tag {tag!r}, which the model does not know; leave it out, or give one "
            f"of {', '.join(known_tags)}"
        )


def _run_constraints(
    text: str, runs: TypedRuns | LatinRuns | None, known_tags: Sequence[str]
) -> tuple[NDArray[np.uint8] | None, list[tuple[int, int, str]]]:
    """Boundaries by the typed runs of a text, None if there are none, and words of known tags.

    Of each word begin, end and tag; none if the model has no tags.
    """
    found = [] if runs is None else list(runs.find(text))
    if not found:
        return None, []
    boundaries = run_limits(text, found)
    return boundaries if boundaries.any() else None, [
        (start, end, tag)
        for run in found
        for (start, end), tag in zip(run.pieces, run.tags, strict=False)
        if tag in known_tags
    ]


def _with_tagged_runs(
    forced: NDArray[np.int32],
    rows: list[tuple[int, int, int]],
    boundaries: NDArray[np.uint8],
    words: Sequence[NDArray[np.int32]],
) -> NDArray[np.int32]:
    """Places of forced words, and those of typed runs with a tag, by their begins.

    words: places of words of the user, which come first.
    """
    if not rows:
        return forced
    begins = (boundaries % SAYS_STAND_IN == BEGINS).tolist()
    begins.append(True)
    rows = [row for row in rows if begins[row[0]] and begins[row[1]]]
    if any(map(len, words)):
        covered = [0, *np.cumsum(_covered(len(boundaries), words, 0)).tolist()]
        rows = [row for row in rows if covered[row[0]] == covered[row[1]]]
    places = np.array(rows, dtype=np.int32).reshape(-1, 3)
    if not len(forced):
        return places
    joined = np.concatenate([forced, places])
    return joined[np.argsort(joined[:, 0], kind="stable")]


def _covered(n: int, words: Iterable[NDArray[np.int32]], skipped: int) -> NDArray[np.bool_]:
    """Mask of the characters of a text of `n` in words at some places.

    skipped: how many of the first characters of each word do not count.
    """
    opened = np.zeros(n + 1, dtype=np.int64)
    for places in words:
        np.add.at(opened, np.minimum(places[:, 0] + skipped, places[:, 1]), 1)
        np.subtract.at(opened, places[:, 1], 1)
    inside: NDArray[np.bool_] = np.cumsum(opened[:-1]) > 0
    return inside


def _cut(text: str, ends: list[int], constraints: Constraints) -> tuple[list[int], Constraints]:
    """Cut sentences again that constraints have made too long.

    Listed words that lie across an end then are taken out: of words that overlap, some must.
    """
    words, bonus_words, bonuses, _, boundaries = constraints
    inside = _covered(len(text), (words, bonus_words), 1).astype(np.uint8)
    if boundaries is not None:
        inside[boundaries % SAYS_STAND_IN == CONTINUES] = 2
    ends = cut_long(text, ends, inside)
    kept = _are_whole(bonus_words, ends)
    return ends, constraints._replace(
        words=words[_are_whole(words, ends)],
        bonus_words=bonus_words[kept],
        bonuses=bonuses[kept],
    )


def _are_whole(places: NDArray[np.int32], ends: Sequence[int]) -> NDArray[np.bool_]:
    """Mask of the places that no end of a sentence lies within."""
    before = np.searchsorted(ends, places[:, 0], side="right")
    whole: NDArray[np.bool_] = before == np.searchsorted(ends, places[:, 1], side="left")
    return whole
