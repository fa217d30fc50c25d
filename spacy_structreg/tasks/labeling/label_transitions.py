"""Legal transitions between labels, so that every decoded sequence stands for spans.

The schemes are those of `corpora.labeling`; None stands for tags, which may follow one another
as they like.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.labeling import (
    OUTSIDE,
    Place,
    Scheme,
    Span,
    labels_of,
    place_of,
    spans_of,
)
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.tasks.segmentation.bmes import MOST_LABELS

# Of each scheme that labels are written in: the places that go with a place, so that spans of its
# label can be of any length; None where labels have no prefix.
NEEDED: Final[Mapping[str, Mapping[str, str] | None]] = MappingProxyType(
    {
        "bio": dict.fromkeys("BI", "BI"),
        "bioes": dict.fromkeys("BIES", "BIES"),
        "io": None,
    }
)

# What stands before a sentence and behind it.
NOWHERE: Final[Place] = (OUTSIDE, "")


def complete_labels(labels: Iterable[str], scheme: Scheme | None) -> tuple[str, ...]:
    """Return the sorted labels, completed so that spans of any length can be labeled.

    Those are `O`; and of each label of spans, all of B-X, I-X and, in bioes, E-X and S-X. Without a
    scheme, nothing is needed.

    Raises ValueError for labels that are not of the scheme or are in another spelling than
    `labels_of` writes, and for a scheme that is unknown or only read (iob1).
    """
    if scheme is None:
        return tuple(sorted(set(labels)))
    if scheme not in NEEDED:
        raise ValueError(
            f"labels cannot be predicted in {scheme!r}; choose one of {', '.join(NEEDED)}, or None"
        )
    needed = NEEDED[scheme]
    complete = {OUTSIDE}
    for label in set(labels) - complete:
        letter, name = place_of(label, scheme)
        if needed is None:
            complete.add(label)
        elif letter == label[0]:
            complete.update(f"{each}-{name}" for each in needed[letter])
        else:
            raise ValueError(
                f"{label!r:.60} must be written as {letter}-{name:.60}; convert the labels to "
                f"{scheme} first"
            )
    return tuple(sorted(complete))


def label_graph(labels: Sequence[str], scheme: Scheme | None) -> LabelGraph:
    """Legal transitions between the labels, and legal first and last labels.

    labels: as `complete_labels` gives them. Without a scheme, and in io, everything is legal.
    Raises ValueError as it does; for labels that are not sorted, not distinct or not complete; for
    none at all, and for more than 1,024.
    """
    complete = complete_labels(labels, scheme)
    if tuple(labels) != complete:
        missing = sorted({*complete} - {*labels})
        fault = f"lack {', '.join(missing)}" if missing else "are not sorted and distinct"
        raise ValueError(f"the labels {fault:.80}; take them from complete_labels")
    if not labels:
        raise ValueError("no labels in the training corpus")
    if len(labels) > MOST_LABELS:
        raise ValueError(f"expected 1 to {MOST_LABELS:,} labels, got {len(labels):,}")
    if scheme is None or NEEDED[scheme] is None:
        n_labels = len(labels)
        anywhere = np.ones(n_labels, dtype=bool)
        return LabelGraph(np.ones((n_labels, n_labels), dtype=bool), anywhere, anywhere)
    places = [place_of(label, scheme) for label in labels]
    return LabelGraph(
        [[_may_follow(after, before, scheme) for after in places] for before in places],
        [_may_follow(after, NOWHERE, scheme) for after in places],
        [_may_follow(NOWHERE, before, scheme) for before in places],
    )


def allowed_labels(
    given: Sequence[str | None], labels: Sequence[str], scheme: Scheme | None
) -> NDArray[np.bool_]:
    """Labels that tokens may have when some are given: shape (len(given), len(labels)).

    given: None where nothing is. In bio if there is a scheme, and then spans are whole: no token
    beside one goes on with it. A span of an unknown label stands for tokens in no span, and an
    unknown label without a scheme for nothing given. `label_graph` always leaves a way.
    labels: as `complete_labels` gives them. Raises ValueError for given labels that are not in bio.
    """
    n = len(given)
    number = {label: i for i, label in enumerate(labels)}
    allowed = np.ones((n, len(labels)), dtype=bool)
    fixed = list(given)
    spans: list[Span] = []
    if scheme is not None:
        # What is given side by side may be several spans; None stands in none.
        names = {place_of(label, scheme)[1] for label in labels if label != OUTSIDE}
        found = spans_of([OUTSIDE if label is None else label for label in given])
        spans = [span for span in found if span[2] in names]
        spelled = labels_of(spans, n, scheme)
        fixed = [None if known is None else spelled[i] for i, known in enumerate(given)]
    for i, one in enumerate(fixed):
        if one in number:
            allowed[i] = False
            allowed[i, number[one]] = True
    # In bioes a span says itself where it begins and ends.
    for begin, end, name in spans:
        if scheme == "bio" and end < n and given[end] is None:
            allowed[end, number[f"I-{name}"]] = False
        elif scheme == "io":
            for beside in (begin - 1, end):
                if 0 <= beside < n and given[beside] is None:
                    allowed[beside, number[name]] = False
    return allowed


def _may_follow(after: Place, before: Place, scheme: Scheme) -> bool:
    """Return True if a position prefix may follow another one, in bio or in bioes."""
    is_open = before[0] in ("B", "I")
    if after[0] in ("I", "E"):
        return is_open and after[1] == before[1]
    return not is_open or scheme == "bio"
