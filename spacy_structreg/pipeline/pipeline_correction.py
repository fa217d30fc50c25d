"""Corrections of trained pipelines, and what else they change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.models.corrections import Corrections
from spacy_structreg.pipeline.component import NothingToLearnError
from spacy_structreg.pipeline.documents import (
    gold_words,
    tagged_words,
    unknown_stretches,
    visible_tokens,
)
from spacy_structreg.pipeline.evaluation import given_doc, has_space
from spacy_structreg.pipeline.partial_words import in_words_of
from spacy_structreg.pipeline.task import (
    TOKENIZER,
    Given,
    PipelineTask,
    ScoreSettings,
    TaskPart,
    parts_of,
    task_of,
)

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
    Pipes see the gold words, annotated by the tokenizer and the pipes before them, which have been
    corrected already. A sentence that a pipe finds in the end, and the pipeline does not, as what
    another pipe says comes first, counts as wrong, with that reason.
    Returns what has become of it by the names of the pipes that there was something to learn for.
    Raises ValueError for a name that no model of ours has, if there is nothing to correct, and for
    models that are untrained.
    """
    parts = dict(parts_of(nlp))
    for name in names or ():
        if name not in parts:
            raise ValueError(
                f"the pipeline has no model of spacy_structreg named {name!r}; choose from "
                f"{', '.join(parts) or 'another pipeline'}"
            )
    found: dict[str, Corrections] = {}
    chosen_by: dict[str, tuple[PipelineTask, list[Doc]]] = {}
    wanted = []
    for name, part in parts.items():
        task = task_of(part)
        if task is None or (names is not None and name not in names):
            continue
        wanted.append(f"{task.predicts} for {name}")
        task.align_gold(nlp, gold)
        # Of words without tags, a tokenizer that tags can learn, too.
        own = task.own_parts(nlp, [name], gold)
        chosen = [doc for doc in own if name == TOKENIZER or task.has_gold(doc)]
        if not chosen:
            continue
        try:
            chosen_by[name] = task, chosen
            if name == TOKENIZER:
                found[name] = part.correct(chosen, sample=sample)
            else:
                examples = list(_examples(nlp, name, task, chosen))
                rest = [Example(doc, doc) for doc in sample if task.has_gold(doc)]
                found[name] = part.correct(examples, sample=rest)
        except NothingToLearnError:
            # Other pipes may.
            found[name] = Corrections(0, 0)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    if not any(each.n_sentences for each in found.values()):
        raise ValueError(
            "the corrections have nothing that a model of the pipeline could learn from; give a "
            f"corpus with {' or '.join(wanted)}"
            if wanted
            else "the pipeline has no model of spacy_structreg"
        )
    return {
        name: _undone(nlp, name, *chosen_by[name], each)
        for name, each in found.items()
        if each.n_sentences
    }


def _examples(
    nlp: Language, name: str, task: PipelineTask, gold: Iterable[Doc]
) -> Iterator[Example]:
    """Gold Docs beside Docs of their words, as the pipes before one annotate them."""
    before = nlp.pipe_names[: nlp.pipe_names.index(name)]
    with nlp.select_pipes(enable=before):
        for doc in gold:
            words = in_words_of(nlp, doc) if unknown_stretches(doc) else doc
            yield Example(nlp(_given(nlp, task, words)), words)


def _given(nlp: Language, task: PipelineTask, doc: Doc) -> Doc:
    """The words of a gold Doc as the tokenizer gives them, which may have tags."""
    spaces = task.keeps_spaces and has_space(doc)
    given = given_doc(nlp, doc, tags=False, spaces=spaces, starts=task.given_sentences)
    tokenizer: Any = nlp.tokenizer
    if "tags" in getattr(tokenizer, "WRITES", ()) and tokenizer.is_trained:
        tagged = visible_tokens(tokenizer.completed(doc, user_words=None))
        for token, found in zip(visible_tokens(given), tagged, strict=True):
            token.tag_ = found.tag_
            token.pos_ = found.pos_
    return given


def _undone(
    nlp: Language, name: str, task: PipelineTask, gold: Sequence[Doc], found: Corrections
) -> Corrections:
    """A report in which sentences are wrong, too, that a part finds and the pipeline does not.

    Of a Doc, the first sentence stands for all.
    """
    pipe = TaskPart(nlp, name).pipe
    wrong = dict(found.wrong)
    first = 0
    for doc in gold:
        if name == TOKENIZER:
            n_sentences = len(pipe.gold_sentences(pipe.completed(doc)))
            is_right = bool(unknown_stretches(doc)) or _has_tokens(
                doc, nlp.make_doc(doc.text), tags="tags" in pipe.WRITES
            )
        else:
            (example,) = _examples(nlp, name, task, [doc])
            n_sentences = len(pipe.gold(example)[0])
            is_right = _is_found(nlp, name, task, example.reference)
        own = range(first, first + n_sentences)
        first += n_sentences
        if own and not is_right and wrong.keys().isdisjoint(own):
            wrong[own[0]] = _reason(nlp, name)
    n_right = min(found.n_right, found.n_sentences - len(wrong))
    return replace(found, wrong=wrong, n_right=n_right)


def _has_tokens(gold: Doc, found: Doc, *, tags: bool) -> bool:
    """True if a Doc has the words of a gold one. tags: and the tags of those that have one."""
    if gold_words(gold) != gold_words(found):
        return False
    pairs = zip(tagged_words(gold), tagged_words(found), strict=True)
    return not tags or all(tag in ("", other) for (_, tag), (_, other) in pairs)


def _is_found(nlp: Language, name: str, task: PipelineTask, gold: Doc) -> bool:
    """True if the whole pipeline, given the words of a gold Doc, finds what a task has of it."""
    (found,) = task.own_parts(nlp, [name], [nlp(_given(nlp, task, gold))])
    scores = task.score([(gold, found)], TaskPart(nlp, name), ScoreSettings(Given(words=True)))
    return all(each.gold == each.predicted == each.correct for each in scores.compared().values())


def _reason(nlp: Language, name: str) -> str:
    if name == TOKENIZER:
        return "the model finds it, but listed words come before the model"
    overwrite = getattr(TaskPart(nlp, name).pipe, "overwrite", True)
    if overwrite is not True:
        return (
            "the model finds it, but what other pipes write before it stays, as the pipe has "
            f"overwrite = {overwrite!r}; correct these pipes, or set overwrite = True"
        )
    return "the model finds it, but another pipe writes it anew"


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
