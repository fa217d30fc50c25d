"""Calibration of the margins of a pipeline, on gold Docs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc

from spacy_structreg.metrics.calibration import ReliabilityBin, calibration_error, reliability
from spacy_structreg.models.calibration import Calibration, CalibrationMethod, sigmoid
from spacy_structreg.pipeline.analyses import Confidence, VisibleText, analyses_of
from spacy_structreg.pipeline.documents import gold_words, head_of
from spacy_structreg.pipeline.evaluation import (
    check_trained,
    has_space,
    texts_annotated,
    words_annotated,
)
from spacy_structreg.pipeline.task import TOKENIZER, Given, is_alphabetic, parts_of, pipes_writing

FOLDS: Final = 5
"""The number of parts of a corpus, each of which is judged by the curve of the others."""


@dataclass
class Decisions:
    """Decisions of one kind about gold Docs, in their order.

    margins: float64. came_true: whether each was right; of boundaries, whether a word ends there.
    docs: the numbers of their Docs.
    """

    margins: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    came_true: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, bool))
    docs: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def __len__(self) -> int:
        return len(self.margins)


@dataclass(frozen=True)
class KindReport:
    """Figures of the calibration of a kind of decisions.

    part, kind: of which pipe (or the tokenizer) and which decisions. n: how many they are. before,
    after: their expected calibration errors, fractions of 1: of the sigmoid of margins, and of the
    curve, each Doc by that of other Docs. bins_before, bins_after: their reliability tables.
    """

    part: str
    kind: str
    n: int
    before: float
    after: float
    bins_before: list[ReliabilityBin]
    bins_after: list[ReliabilityBin]


def calibrate_pipeline(
    nlp: Language, gold: Sequence[Doc], given: Given, method: CalibrationMethod = "isotonic"
) -> list[KindReport]:
    """Fit the curves of all kinds of decisions of a pipeline, and keep them in its parts.

    gold, given: as of `measure_decisions`. What the gold Docs say nothing of keeps its curve.
    Raises ValueError as `measure_decisions`.
    """
    reports = []
    for (name, kind), decisions in measure_decisions(nlp, gold, given).items():
        part: Any = nlp.tokenizer if name == TOKENIZER else nlp.get_pipe(name)
        reports.append(report_of(name, kind, decisions, method))
        part.calibrations[kind] = Calibration.fit(decisions.margins, decisions.came_true, method)
    return reports


def report_of(name: str, kind: str, decisions: Decisions, method: CalibrationMethod) -> KindReport:
    """The figures of a kind of decisions, by curves that have not seen what they are judged by."""
    before = sigmoid(decisions.margins)
    after = before.copy()
    folds = decisions.docs % FOLDS
    for fold in range(FOLDS):
        held, rest = folds == fold, folds != fold
        if held.any():
            # Of a single Doc there are no others.
            fitted = rest if rest.any() else held
            curve = Calibration.fit(decisions.margins[fitted], decisions.came_true[fitted], method)
            after[held] = curve(decisions.margins[held])
    true = decisions.came_true
    return KindReport(
        name,
        kind,
        len(decisions),
        calibration_error(before, true) or 0.0,
        calibration_error(after, true) or 0.0,
        reliability(before, true),
        reliability(after, true),
    )


def measure_decisions(
    nlp: Language, gold: Sequence[Doc], given: Given
) -> dict[tuple[str, str], Decisions]:
    """The decisions of the parts of a pipeline about gold Docs, by the names of part and kind.

    gold: of the vocabulary of the pipeline. given: what of them it is given.
    Words are right if both ends and nothing else between them are gold. Tags and heads are those
    of tokens that are gold words; a head is right if it is the gold word, or the root.
    Raises ValueError if a part is untrained, and if nothing can be compared.
    """
    parts = {name: part for name, part in parts_of(nlp) if getattr(part, "MARGINS", ())}
    if given.words:
        parts.pop(TOKENIZER, None)
    taggers = pipes_writing(nlp, "tag", "pos") if given.tags else []
    parts = {name: part for name, part in parts.items() if name not in taggers}
    check_trained(nlp, parts)
    # Of two pipes that decide the same, the second one counts.
    writers = {kind: name for name, part in parts.items() for kind in part.MARGINS}
    before = {name: part.kept_settings for name, part in parts.items()}
    found: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    try:
        for part in parts.values():
            part.keep_analyses(confidence=True, extension_prefix=part.extension_prefix)
        for number, (theirs, doc) in enumerate(
            zip(gold, _annotated(nlp, gold, given), strict=True)
        ):
            for kind, confidence in analyses_of(doc).confidence.items():
                label = getattr(parts[writers[kind]], "label_of", _tag)
                rows = _compared(kind, confidence, theirs, doc, label)
                found.setdefault((writers[kind], kind), []).append((number, *rows))
    finally:
        for name, part in parts.items():
            part.keep_analyses(**before[name])
    decisions = {key: _joined(rows) for key, rows in found.items()}
    decisions = {key: each for key, each in decisions.items() if len(each)}
    if not decisions:
        raise ValueError(
            "no part of the pipeline decides anything that the gold corpus knows; calibrate "
            "pipelines of spacy_structreg, by a corpus with the annotation that they find"
        )
    return decisions


def _annotated(nlp: Language, gold: Sequence[Doc], given: Given) -> Iterator[Doc]:
    """Yield the gold Docs as a pipeline annotates them."""
    if given.words:
        return words_annotated(nlp, gold, tags=given.tags, spaces=False, starts=False)
    spaced = is_alphabetic(nlp.meta["lang"]) and any(map(has_space, gold))
    texts = (doc.text if spaced else "".join(gold_words(doc)) for doc in gold)
    return texts_annotated(nlp, texts, 1, alone=False)


def _compared(
    kind: str, confidence: Confidence, gold: Doc, doc: Doc, label: Callable[[Any], str]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The margins of decisions about a Doc, and of each True if it is right."""
    ours, theirs = VisibleText.of(doc), VisibleText.of(gold)
    if ours.bounds[-1:] and ours.bounds[-1][1] != len(theirs.places):
        raise ValueError(f"the pipeline changes the text {gold.text!r:.60} of the gold corpus")
    word_at = dict(zip(theirs.bounds, theirs.tokens, strict=True))
    places: list[int] = []
    true: list[bool] = []
    if kind == "boundaries":
        places = ours.places[:-1][ours.touches].tolist()
        true = theirs.ends[ours.touches].tolist()
    elif kind == "words":
        places = ours.tokens
        true = [bounds in word_at for bounds in ours.bounds]
    else:
        bounds_of = dict(zip(ours.tokens, ours.bounds, strict=True))
        for i, bounds in bounds_of.items():
            if bounds not in word_at:
                continue
            word, token = gold[word_at[bounds]], doc[i]
            if kind == "tags" and label(word):
                places.append(i)
                true.append(label(word) == label(token))
            head, found = head_of(word), head_of(token)
            if kind == "heads" and head is not None and found is not None:
                places.append(i)
                true.append(word_at.get(bounds_of[found.i]) == head.i)
    return confidence.margins[places], np.array(true, dtype=bool)


def _joined(rows: Iterable[tuple[Any, ...]]) -> Decisions:
    """The decisions about several Docs, each with its number, in one."""
    numbers, margins, true = zip(*rows, strict=True)
    return Decisions(
        np.concatenate(margins),
        np.concatenate(true),
        np.repeat(numbers, [len(each) for each in margins]),
    )


def _tag(token: Any) -> str:
    return str(token.tag_)
