"""Corrections of trained pipelines, and what else they change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.models.corrections import Corrections
from spacy_structreg.pipeline.documents import gold_words
from spacy_structreg.pipeline.evaluation import given_doc, has_space
from spacy_structreg.pipeline.task import (
    TOKENIZER,
    Given,
    PipelineTask,
    ScoreSettings,
    TaskPart,
    parts_of,
    task_of,
)

__all__ = ["ChangedDoc", "changed_docs", "correct_pipeline"]

# Attributes of tokens that are shown where they change.
_SHOWN: Final = ("tag_", "pos_", "dep_", "head", "ent_iob_", "ent_type_")


def correct_pipeline(
    nlp: Language,
    gold: Sequence[Doc],
    *,
    names: Sequence[str] | None = None,
    sample: Sequence[Doc] = (),
) -> dict[str, Corrections]:
    """Let gold Docs come out right, by each model of a pipeline that they have annotation for.

    gold: of the vocabulary of the pipeline. names: of the tokenizer and pipes to correct, others
        stay; None for all. sample: Docs as the pipeline annotates them, which are to change little.
    Pipes see the gold words, annotated by the pipes before them, which have been corrected already.
    Returns what has become of it by the names of pipes. Raises ValueError for a name that no model
    of ours has, if there is nothing to correct, and for models that are untrained.
    """
    parts = dict(parts_of(nlp))
    for name in names or ():
        if name not in parts:
            raise ValueError(
                f"the pipeline has no model of spacy_structreg named {name!r}; choose from "
                f"{', '.join(parts) or 'another pipeline'}"
            )
    found = {}
    wanted = []
    for name, part in parts.items():
        task = task_of(part)
        if task is None or (names is not None and name not in names):
            continue
        wanted.append(f"{task.predicts} for {name}")
        task.align_gold(nlp, gold)
        # Of words without tags, a tokenizer that tags can learn, too.
        chosen = [doc for doc in gold if name == TOKENIZER or task.has_gold(doc)]
        if not chosen:
            continue
        try:
            if name == TOKENIZER:
                found[name] = part.correct(chosen, sample=sample)
            else:
                examples = list(_examples(nlp, name, task, chosen))
                rest = [Example(doc, doc) for doc in sample if task.has_gold(doc)]
                found[name] = part.correct(examples, sample=rest)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    if not any(each.n_sentences for each in found.values()):
        raise ValueError(
            "the corrections have nothing that a model of the pipeline could learn from; give a "
            f"corpus with {' or '.join(wanted)}"
            if wanted
            else "the pipeline has no model of spacy_structreg"
        )
    return found


def _examples(
    nlp: Language, name: str, task: PipelineTask, gold: Iterable[Doc]
) -> Iterator[Example]:
    """Gold Docs beside Docs of their words, as the pipes before one annotate them."""
    before = nlp.pipe_names[: nlp.pipe_names.index(name)]
    with nlp.select_pipes(enable=before):
        for doc in gold:
            spaces = task.keeps_spaces and has_space(doc)
            given = given_doc(nlp, doc, tags=False, spaces=spaces, starts=task.given_sentences)
            yield Example(nlp(given), doc)


# What else changes --------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChangedDoc:
    """A text that is annotated in another way after corrections.

    before, after: the part that differs, in words, or in words with what differs of their
    annotation.
    """

    text: str
    before: str
    after: str


def changed_docs(nlp: Language, before: Sequence[Doc], after: Sequence[Doc]) -> list[ChangedDoc]:
    """The Docs that differ in what a task of the pipeline finds.

    before, after: of the same texts.
    """
    settings = ScoreSettings(Given())
    tasks = [
        (task, TaskPart(nlp, name))
        for name, part in parts_of(nlp)
        if (task := task_of(part)) is not None
    ]
    changed = []
    for old, new in zip(before, after, strict=True):
        differs = gold_words(old) != gold_words(new)
        for task, part in tasks:
            if differs:
                break
            if task.has_gold(old) or task.has_gold(new):
                tested = task.score([(old, new)], part, settings).compared()
                differs = any(
                    not each.gold == each.predicted == each.correct for each in tested.values()
                )
        if differs:
            changed.append(ChangedDoc(old.text, *_difference(old, new)))
    return changed


def _difference(old: Doc, new: Doc) -> tuple[str, str]:
    """The words around what differs between two Docs of a text, or words with what differs."""
    first, second = [t.text for t in old], [t.text for t in new]
    if first != second:
        same = 0
        while first[same : same + 1] == second[same : same + 1]:
            same += 1
        tail = 0
        while tail < min(len(first), len(second)) - same and first[-1 - tail] == second[-1 - tail]:
            tail += 1
        begin = max(0, same - 2)
        return tuple(  # type: ignore[return-value]
            " ".join(words[begin : len(words) - max(0, tail - 2)]) for words in (first, second)
        )
    shown: tuple[list[str], list[str]] = ([], [])
    for a, b in zip(old, new, strict=True):
        names = [name for name in _SHOWN if str(getattr(a, name)) != str(getattr(b, name))]
        for token, words in zip((a, b), shown, strict=True):
            if names:
                values = "/".join(str(getattr(token, name)) or "-" for name in names)
                words.append(f"{token.text}_{values}")
    return " ".join(shown[0]) or "other annotation", " ".join(shown[1]) or "other annotation"
