"""Gold Docs given to a pipeline, and scored for every task that both have annotation of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from spacy_structreg.metrics.figures import Counts
from spacy_structreg.models.progress import progress_bar
from spacy_structreg.pipeline.constituency_documents import read_phrases, word_bounds
from spacy_structreg.pipeline.documents import (
    gold_words,
    tagged_words,
    unknown_stretches,
    visible_tokens,
)
from spacy_structreg.pipeline.partial_words import without_words
from spacy_structreg.pipeline.task import (
    TOKENIZER,
    Figures,
    Given,
    PipelineTask,
    ScoreSettings,
    TaskPart,
    all_tasks,
    is_alphabetic,
    is_ours,
    pipes_writing,
    tags_words,
)


@dataclass(frozen=True)
class ScoredTask:
    """A task, the names of the parts of a pipeline that do it, and pairs of gold and prediction."""

    task: PipelineTask
    parts: list[str]
    pairs: list[tuple[Doc, Doc]] = field(repr=False)


@dataclass(frozen=True)
class Evaluation:
    """The figures of all tasks, as fractions of 1, and the counts behind them.

    counts: of each task, by its stem. per_type: figures of labels, as of `Scores`. sentences: the
    counts of each Doc, by the figures for which pipelines are compared. main: the keys of those
    that are `FigureTable.main`. meanings: of figures, by their keys. left_out: the pipes whose
    labels do not count, as the gold annotation has none of them and has those of other pipes.
    characters, seconds: of the text that was annotated, and of processor time until it was, without
    scoring.
    """

    figures: Figures
    counts: dict[str, Mapping[str, int]]
    per_type: dict[str, dict[str, Figures]]
    sentences: dict[str, list[Counts]] = field(repr=False)
    main: frozenset[str] = frozenset()
    meanings: Mapping[str, str] = field(default_factory=dict, repr=False)
    left_out: list[str] = field(default_factory=list)
    characters: int = 0
    seconds: float = 0.0


def evaluate_docs(
    nlp: Language,
    gold: Sequence[Doc],
    settings: ScoreSettings | None = None,
    *,
    n_threads: int = 1,
    by_doc: bool = False,
) -> Evaluation:
    """Let a pipeline annotate gold Docs, and score it for every task that can be scored.

    gold: of the vocabulary of the pipeline. n_threads: side by side, of tokenizers of ours.
    by_doc: whether to count Doc by Doc as well, for comparisons.

    Each Doc is processed once, or twice where tasks are given different things: the spaces of the
    corpus, which give Chinese words away, are kept for labels and categories alone. Text of
    languages that write spaces between words keeps them for all tasks.
    Shows a progress bar on standard error, if that is a terminal. Raises ValueError if nothing can
    be scored, a part has not been trained, or a pipe would be given no tags.
    """
    settings = settings or ScoreSettings()
    figures: Figures = {}
    counts: dict[str, Mapping[str, int]] = {}
    per_type: dict[str, dict[str, Figures]] = {}
    sentences: dict[str, list[Counts]] = {}
    main: set[str] = set()
    meanings: dict[str, str] = {}
    begin = process_time()
    annotated = annotated_by(nlp, gold, settings.given, n_threads=n_threads)
    seconds = process_time() - begin
    # Of tasks that are given the same these are the same pairs.
    pairs_once = {id(each.pairs): each.pairs for each in annotated}.values()
    characters = sum(len(found.text) for pairs in pairs_once for _, found in pairs)
    left_out: list[str] = []
    for each in annotated:
        part, pairs = TaskPart(nlp, each.parts[0]), each.pairs
        if others := each.task.other_parts(nlp, each.parts):
            left_out += others
            own = each.task.own_parts(nlp, each.parts, [found for _, found in pairs])
            pairs = [(doc, found) for (doc, _), found in zip(pairs, own, strict=True)]
        scores = each.task.score(pairs, part, settings)
        figures |= scores.as_dict()
        counts[each.task.stem] = scores.counts
        per_type |= scores.per_type()
        main |= scores.compared().keys()
        meanings |= scores.table.meanings
        if by_doc:
            for pair in pairs:
                found = each.task.score([pair], part, settings)
                for key, counted in found.compared(further=True).items():
                    sentences.setdefault(key, []).append(counted)
    return Evaluation(
        figures,
        counts,
        per_type,
        sentences,
        frozenset(main),
        meanings,
        left_out,
        characters,
        seconds,
    )


# Prediction --------------------------------------------------------------------------------------


def annotated_by(
    nlp: Language, gold: Sequence[Doc], given: Given, *, n_threads: int = 1
) -> list[ScoredTask]:
    """Annotate gold Docs by a pipeline, for each task that can be scored, in their order."""
    if any(map(unknown_stretches, gold)):
        if given.words:
            raise ValueError(
                "the words of the gold corpus are known in part, so that they cannot be given; "
                "leave --gold out"
            )
        gold = list(map(without_words, gold))
    if not any(map(gold_words, gold)):
        raise ValueError("the gold corpus has no words to score")
    for task in all_tasks():
        task.align_gold(nlp, gold)
    chosen = choose_tasks(nlp, gold, given)
    for task, names in chosen:
        if not task.missing:
            check_trained(nlp, names)
    # Without them, English text would be one word.
    text_has_spaces = not given.words and is_alphabetic(nlp.meta["lang"])
    groups: dict[object, list[tuple[PipelineTask, list[str]]]] = {}
    for task, names in chosen:
        spaced = (task.keeps_spaces or text_has_spaces) and any(map(has_space, gold))
        starts = given.words and any(
            other.given_sentences for other, _ in chosen if other.keeps_spaces == task.keeps_spaces
        )
        groups.setdefault((spaced, starts), []).append((task, names))
    found = []
    for (spaced, starts), group in groups.items():  # type: ignore[misc]
        if given.words:
            docs = words_annotated(nlp, gold, tags=given.tags, spaces=spaced, starts=starts)
        else:
            texts = (doc.text if spaced else "".join(gold_words(doc)) for doc in gold)
            alone = all(names == [TOKENIZER] for _, names in group)
            docs = texts_annotated(nlp, texts, n_threads, alone=alone)
        shown = progress_bar(docs, "evaluate", len(gold), unit=" sentences")
        pairs = list(zip(gold, shown, strict=True))
        for task, names in group:
            check_found(nlp, task, names, (doc for _, doc in pairs))
            found.append(ScoredTask(task, names, pairs))
    return sorted(found, key=lambda each: each.task.order)


def choose_tasks(
    nlp: Language, gold: Sequence[Doc], given: Given
) -> list[tuple[PipelineTask, list[str]]]:
    """The tasks that can be scored, with the parts that do them. Raises ValueError for none."""
    attributes = tag_attributes(gold)
    chosen: list[tuple[PipelineTask, list[str]]] = []
    for alone in (False, True):
        if not chosen:
            each = (
                (task, task.scored_parts(nlp, gold, given, alone=alone)) for task in all_tasks()
            )
            chosen = [(task, names) for task, names in each if names]
    reading = next((task for task, _ in chosen if task.reads_tags), None)
    if given.tags and not attributes and (reading is not None or not chosen):
        raise ValueError("the gold corpus has no tags to give; write --gold words")
    if not chosen:
        raise nothing_to_score(gold, given)
    is_blind = given.words and attributes and not (given.tags or pipes_writing(nlp, "tag", "pos"))
    if reading is not None and is_blind:
        raise ValueError(
            f"no pipe of the pipeline tags given words, so that its {reading.noun} would see none "
            "of the tags that it learned from; write --gold words,tags, or add a tagger"
        )
    replaced = {stem for task, _ in chosen for stem in task.supersedes}
    return [(task, names) for task, names in chosen if task.stem not in replaced]


def nothing_to_score(gold: Sequence[Doc], given: Given) -> ValueError:
    """The error for gold Docs and a pipeline that have no task in common."""
    on_words = [task for task in all_tasks() if task.on_words]
    there = [task for task in on_words if any(map(task.has_gold, gold))]
    if not there:
        first, *others = dict.fromkeys(task.predicts for task in on_words)
        return ValueError(f"the gold corpus has no {first} to score, and no {', '.join(others)}")
    task = next(task for task in on_words if task.reads_tags) if given.tags else there[0]
    return ValueError(
        f"no pipe of the pipeline {task.verb} given words (a tokenizer tags the words that it "
        "finds itself), or the gold corpus has nothing to score it by (of trees in brackets, only "
        f"with --head-rules); train one with 'init-config --task {task.templates[0].name}', or "
        "give another --gold"
    )


def check_trained(nlp: Language, names: Iterable[str]) -> None:
    """Raise ValueError if one of the parts of ours has not been trained."""
    for name in names:
        pipe = TaskPart(nlp, name).pipe
        estimator = getattr(pipe, "estimator", None)
        if estimator is not None and not estimator.is_trained:
            what = "tokenizer" if name == TOKENIZER else f"pipe {name!r}"
            raise ValueError(f"the {what} has not been trained; train it first")


def check_found(
    nlp: Language, task: PipelineTask, names: Sequence[str], docs: Iterable[Doc]
) -> None:
    """Raise ValueError if no Doc has what a task finds in all but untrained pipelines."""
    part = TaskPart(nlp, names[0])
    if task.missing and not any(task.is_found(doc, part) for doc in docs):
        raise ValueError(
            f"the pipeline gave no {task.missing} to any word; train {', '.join(names)} first"
        )


def tag_attributes(docs: Sequence[Doc]) -> list[str]:
    """The kinds of tags, of the two, that any of the Docs has."""
    return [
        attribute
        for attribute in ("tag", "pos")
        if any(doc.has_annotation(attribute.upper()) for doc in docs)
    ]


def has_space(doc: Doc) -> bool:
    """True if there is white space in a Doc."""
    return any(token.whitespace_ for token in doc) or len(gold_words(doc)) < len(doc)


def words_annotated(
    nlp: Language, gold: Sequence[Doc], *, tags: bool, spaces: bool, starts: bool
) -> Iterator[Doc]:
    """Yield Docs of the gold words, as the pipes of a pipeline annotate them.

    tags: whether they are given; pipes that tag are left out then. spaces: whether white space is.
    starts: whether sentences are.
    """
    given = (given_doc(nlp, doc, tags=tags, spaces=spaces, starts=starts) for doc in gold)
    taggers = pipes_writing(nlp, *tag_attributes(gold)) if tags else []
    with nlp.select_pipes(disable=taggers):
        yield from nlp.pipe(given)


def given_doc(nlp: Language, doc: Doc, *, tags: bool, spaces: bool, starts: bool) -> Doc:
    """The words of a gold Doc, and what else of it a pipeline is given."""
    if spaces:
        tokens, words = list(doc), [token.text for token in doc]
        firsts: Any = None
        if starts and doc.has_annotation("SENT_START"):
            firsts = [token.is_sent_start for token in doc]
    else:
        tokens = visible_tokens(doc)
        words = gold_words(doc)
        places = {first for first, _ in word_bounds(doc, read_phrases(doc) or [])} if starts else ()
        firsts = [index in places for index in range(len(words))] if starts else None
    return Doc(
        nlp.vocab,
        words=words,
        spaces=[bool(token.whitespace_) if spaces else False for token in tokens],
        tags=[token.tag_ for token in tokens] if tags else None,
        pos=[token.pos_ for token in tokens] if tags else None,
        sent_starts=firsts,
    )


def texts_annotated(
    nlp: Language, texts: Iterable[str], n_threads: int, *, alone: bool
) -> Iterator[Doc]:
    """Yield the Docs of texts, as all pipes leave them. alone: as the tokenizer makes them."""
    tokenizer: Any = nlp.tokenizer
    if is_ours(tokenizer):
        check_trained(nlp, [TOKENIZER])
        docs: Iterable[Any] = tokenizer.pipe(texts, n_threads=n_threads)
    else:
        docs = map(nlp.make_doc, texts)
    yield from docs if alone else nlp.pipe(docs)


# Words of texts, without Docs where that is faster ------------------------------------------------


def found_words(nlp: Language, texts: Iterable[str], *, n_threads: int = 1) -> Iterator[list[str]]:
    """Yield the words of each text, without white space around them, in bounded memory.

    nlp: any pipeline. A tokenizer of ours segments without making Docs; only there, and no faster
        than there are cores, do threads help.
    Raises ValueError if a tokenizer of ours has not been trained, or a text is longer than the
    pipeline allows.
    """
    tokenizer: Any = nlp.tokenizer
    if is_ours(tokenizer):
        yield from tokenizer.words(texts, n_threads=n_threads)
    else:
        for text in texts:
            yield gold_words(nlp.make_doc(text))


def found_pairs(
    nlp: Language, texts: Iterable[str], *, n_threads: int = 1
) -> Iterator[list[tuple[str, str]]]:
    """Yield the words of each text with their tags, "" for none; otherwise as `found_words`.

    A tokenizer that tags does without Docs, too, unless a pipe tags its words anew.
    """
    tokenizer: Any = nlp.tokenizer
    if tags_words(tokenizer) and not pipes_writing(nlp, "tag"):
        yield from tokenizer.tagged_words(texts, n_threads=n_threads)
    else:
        yield from map(tagged_words, texts_annotated(nlp, texts, n_threads, alone=False))
