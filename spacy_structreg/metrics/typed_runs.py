"""Scores of typed runs: URLs, measures, emoticons and the like in segmented text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from spacy_structreg.metrics.segmentation import word_ends

__all__ = ["has_right_runs"]


def has_right_runs(
    text: str, runs: Iterable[Sequence[int]], words: Sequence[str], *, whole: bool = True
) -> bool:
    """True if words begin and end at the bounds of every run, and nowhere else within it.

    runs: for each the offsets in the text of its beginning, its cuts and its end. words: of the
    text, without white space, which counts nowhere. whole: if not, words may begin before a run,
    reach over its cuts and end after it, and only must not begin or end elsewhere within it.
    Raises ValueError if the words are of another text.
    """
    if "".join(words) != "".join(text.split()):
        raise ValueError(f"the words {' '.join(words)!r:.60} are not those of {text!r:.60}")
    before = list(accumulate((not character.isspace() for character in text), initial=0))
    ends = {0, *word_ends(words)}
    for offsets in runs:
        bounds = {before[offset] for offset in offsets}
        within = {end for end in ends if min(bounds) <= end <= max(bounds)}
        if within != bounds if whole else not within <= bounds:
            return False
    return True
