"""What `structreg evaluate` says of labels, spans and categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

__all__ = ["LabelReport", "labels_key", "percent", "print_types", "score_labels"]


class LabelReport(NamedTuple):
    """Figures as fractions of 1, and the counts behind them.

    per_type: precision, recall and F (``p``, ``r``, ``f``) of each label, under the keys of spaCy.
    """

    figures: dict[str, float | None]
    per_type: dict[str, dict[str, dict[str, float | None]]]
    counts: dict[str, Any]


def labels_key(nlp: Language) -> str | None:
    """The span group of the first pipe of ours that labels spans; None without one."""
    from spacy_structreg.cli.pipelines import labelling_pipes

    pipes = labelling_pipes(nlp).values()
    return next((pipe.spans_key for pipe in pipes if pipe.attribute == "spans"), None)


def score_labels(
    nlp: Language, gold: Sequence[Doc], *, words: bool, tags: bool = False
) -> LabelReport:
    """Let a pipeline label and classify gold Docs, and score what it finds.

    These are what the first pipe of ours writes for which there is gold annotation of its kind, of
    those that label and of those that classify. words: whether the pipeline is given the gold words
    and sentences; if not, it is given texts. tags: whether it is given gold tags as well; pipes
    that tag are left out then.
    Returns no figures if there is no such pipe. Shows a progress bar on standard error, if that is
    a terminal. Raises ValueError if one has not been trained.
    """
    from tqdm import tqdm

    from spacy_structreg.cli.pipelines import classifying_pipes, labelling_pipes, tagging_pipes
    from spacy_structreg.pipeline.classification_scorer import score_categories_of_docs
    from spacy_structreg.pipeline.labelling_documents import is_labelled, stands_for_spans
    from spacy_structreg.pipeline.labelling_scorer import (
        score_labels_of_docs,
        score_spans_of_docs,
    )

    given = tagging_pipes(nlp, ("tag", "pos")) if tags else []
    labelers: list[tuple[str, Any]] = [
        (name, pipe)
        for name, pipe in labelling_pipes(nlp).items()
        if name not in given
        # Without the words of the corpus, labels of words cannot be compared.
        and (words or stands_for_spans(pipe.attribute))
        and any(is_labelled(doc, pipe.attribute, pipe.spans_key) for doc in gold)
    ]
    classifiers = [*classifying_pipes(nlp).items()] if any(doc.cats for doc in gold) else []
    if not labelers and not classifiers:
        return LabelReport({}, {}, {})
    for name, pipe in [*labelers[:1], *classifiers[:1]]:
        if not pipe.estimator.is_trained:
            raise ValueError(f"the pipe {name!r} has not been trained; train it first")
    docs = (given_doc(nlp, doc, tags=tags) if words else nlp.make_doc(doc.text) for doc in gold)
    progress: Any = {"desc": "evaluate", "unit": " texts", "total": len(gold), "disable": None}
    with nlp.select_pipes(disable=given):
        pairs = list(zip(gold, tqdm(nlp.pipe(docs), **progress), strict=True))
    figures: dict[str, float | None] = {}
    per_type: dict[str, dict[str, dict[str, float | None]]] = {}
    counts: dict[str, Any] = {}
    for _, pipe in labelers[:1]:
        if stands_for_spans(pipe.attribute):
            spans = score_spans_of_docs(pairs, pipe.attribute, pipe.spans_key)
            figures |= {"ents_p": spans.ents_p, "ents_r": spans.ents_r, "ents_f": spans.ents_f}
            per_type["ents_per_type"] = spans.ents_per_type
            counts["ents"] = {
                "gold": spans.gold,
                "predicted": spans.predicted,
                "correct": spans.correct,
                "by_label": {label: asdict(each) for label, each in spans.by_label.items()},
            }
        else:
            labels = score_labels_of_docs(pairs, pipe.attribute)
            figures |= labels.as_dict()
            counts["labels"] = {"total": labels.total, "correct": labels.correct}
    if classifiers:
        categories = score_categories_of_docs(pairs)
        figures |= categories.as_dict()
        per_type["cats_f_per_type"] = categories.cats_f_per_type
        counts["cats"] = {"texts": categories.texts, "correct": categories.correct}
    return LabelReport(figures, per_type, counts)


def given_doc(nlp: Language, doc: Doc, *, tags: bool) -> Doc:
    """The words of a gold Doc, with its spaces and sentences, and its tags if asked for."""
    from spacy.tokens import Doc

    return Doc(
        nlp.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        tags=[token.tag_ for token in doc] if tags else None,
        pos=[token.pos_ for token in doc] if tags else None,
        sent_starts=(
            [token.is_sent_start for token in doc] if doc.has_annotation("SENT_START") else None
        ),
    )


def print_types(per_type: dict[str, dict[str, float | None]]) -> None:
    """Print precision, recall and F of each label in percent."""
    from wasabi import msg

    rows = [
        (label, *(percent(figures[key]) for key in ("p", "r", "f")))
        for label, figures in per_type.items()
    ]
    msg.table(rows, header=("", "P", "R", "F"), aligns=("l", "r", "r", "r"))


def percent(figure: float | None) -> str:
    """A figure in percent; `-` if it is not known."""
    return "-" if figure is None else f"{100 * figure:.2f}"
