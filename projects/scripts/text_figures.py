"""Figures of texts, of pipelines whoever made them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spacy.language import Language
from spacy.tokens import Doc

from spacy_structreg.metrics.figures import Counts
from spacy_structreg.metrics.segmentation import count_crossed
from spacy_structreg.models.progress import progress_bar
from spacy_structreg.pipeline.documents import gold_words
from spacy_structreg.pipeline.evaluation import check_found, check_trained, texts_annotated
from spacy_structreg.pipeline.task import TaskPart, all_tasks


def annotate_texts(nlp: Language, gold: Sequence[Doc]) -> list[tuple[Doc, Doc]]:
    """Let a pipeline annotate the texts of gold Docs, with their spaces; pairs of gold and found.

    Shows a progress bar on standard error, if that is a terminal. Raises ValueError if a part has
    not been trained.
    """
    docs = texts_annotated(nlp, (doc.text for doc in gold), 1, alone=False)
    shown = progress_bar(docs, "evaluate", len(gold), unit=" sentences")
    pairs = list(zip(gold, shown, strict=True))
    for task in all_tasks():
        if not (names := task.text_parts(nlp)):
            continue
        if task.missing and pairs:
            check_found(nlp, task, names, (doc for _, doc in pairs))
        else:
            check_trained(nlp, names)
    return pairs


def count_texts(nlp: Language, pairs: Sequence[tuple[Doc, Doc]]) -> dict[str, Counts]:
    """The counts behind the figures of texts, of every task that a pipeline and the gold Docs have.

    pairs: of `annotate_texts`. Unlike `evaluate_docs`, this asks nothing of pipelines of others but
    what their pipes say that they write, and leaves no task out beside another.
    """
    counts: dict[str, Counts] = {}
    for task in all_tasks():
        names = task.text_parts(nlp)
        if names and any(task.has_gold(gold) for gold, _ in pairs):
            counts |= task.text_counts(pairs, TaskPart(nlp, names[0]))
    return counts


def count_crossed_words(pairs: Iterable[tuple[Doc, Doc]]) -> int:
    """The number of gold words that found words cross: see `count_crossed`."""
    return sum(count_crossed(gold_words(gold), gold_words(found)) for gold, found in pairs)
