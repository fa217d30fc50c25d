"""The scorer of phrase structure trees: ``spacy_structreg.constituency_scorer.v1``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, Final

from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.metrics.constituents import (
    CONVENTIONS,
    BracketScorer,
    HeadedBracket,
)
from spacy_structreg.metrics.figures import Scores
from spacy_structreg.pipeline.component import logger
from spacy_structreg.pipeline.constituents.constituency_documents import (
    SPANS_KEY,
    constituency_sentences,
    read_phrases,
)
from spacy_structreg.pipeline.documents import gold_words, tagged_words

# The figure of taggers, for which words of punctuation count as well.
TAGS: Final = "tag_acc"


def make_constituency_scorer(conventions: str = "collins") -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_structreg.constituency_scorer.v1``.

    conventions: what counts, by a name of `metrics.constituents.CONVENTIONS`. The scorer gives the
    figures of `metrics.constituents.bracket_figures` but for tags, as fractions of 1, if all words
    are those of the reference. They are None if they are not, which is warned of, or there are no
    gold trees; that of heads also where gold constituents have none.
    Raises ValueError for another name.
    """
    if conventions not in CONVENTIONS:
        raise ValueError(
            f"conventions of the scorer is {conventions!r}; choose {', '.join(CONVENTIONS)}"
        )
    # Which pickles, as processes that are spawned need it.
    return partial(score_constituency, conventions=conventions)


def score_constituency(
    examples: Iterable[Example],
    *,
    conventions: str = "collins",
    spans_key: str = SPANS_KEY,
    **kwargs: Any,
) -> dict[str, Any]:
    """Score the constituents of Docs, as `make_constituency_scorer` says."""
    pairs = [(example.reference, example.predicted) for example in examples]
    n_others = sum(gold_words(reference) != gold_words(predicted) for reference, predicted in pairs)
    if n_others:
        logger.warning(
            "%d of %d Docs have other words than the gold ones, so there are no figures of "
            "constituents; let the pipeline start from the gold words",
            n_others,
            len(pairs),
        )
        pairs = []
    return score_brackets_of_docs(pairs, conventions, spans_key).as_dict()


def score_brackets_of_docs(
    pairs: Iterable[tuple[Doc, Doc]],
    conventions: str = "collins",
    spans_key: str = SPANS_KEY,
    predicted_key: str | None = None,
) -> Scores:
    """The scores of predicted Docs against references of the same words.

    pairs: reference and prediction. Gold sentences without a tree do not count. Gold sentences that
    a predicted constituent goes beyond count as one. Heads do not count if any gold ones are
    missing.
    conventions: a name of `metrics.constituents.CONVENTIONS`. spans_key, predicted_key: the span
    groups of the gold and of the predicted constituents; None for the same one.
    Raises ValueError if there are other words, or for constituents that make no tree.
    """
    scorer = BracketScorer(CONVENTIONS[conventions])
    all_headed = True
    for reference, predicted in pairs:
        phrases = read_phrases(reference, spans_key) or []
        headed = all(phrase.head is not None for phrase in phrases)
        all_headed &= headed
        for gold, found in _sentences(
            reference, predicted, spans_key, predicted_key or spans_key, headed=headed
        ):
            scorer.add(gold, found)
    scores = scorer.scores().without(TAGS)
    return scores if all_headed else scores.without_counts("heads")


def score_brackets_of_texts(
    pairs: Iterable[tuple[Doc, Doc]],
    conventions: str = "collins",
    spans_key: str = SPANS_KEY,
    predicted_key: str | None = None,
) -> Scores:
    """The scores of predicted Docs against references of the same text, whatever their words are.

    A bracket is right if a gold one has the same label, first and last character: characters are
    the words here, with the tags of the gold words. Heads do not count, nor do gold Docs without a
    constituent. Other parameters and errors are those of `score_brackets_of_docs`.
    """
    scorer = BracketScorer(CONVENTIONS[conventions])
    for reference, predicted in pairs:
        if read_phrases(reference, spans_key):
            tags = [tag for word, tag in tagged_words(reference) for _ in word]
            gold = _by_characters(reference, spans_key, tags)
            scorer.add(gold, _by_characters(predicted, predicted_key or spans_key, tags))
    return scorer.scores().without(TAGS).without_counts("heads")


def _by_characters(doc: Doc, spans_key: str, tags: list[str]) -> _Brackets:
    words = gold_words(doc)
    bounds = list(accumulate(map(len, words), initial=0))
    constituents: list[HeadedBracket] = [
        _Bracket(each.label, bounds[each.begin], bounds[each.end], bounds[each.begin])
        for each in read_phrases(doc, spans_key) or []
    ]
    return _Brackets(list("".join(words)), tags, constituents)


@dataclass(frozen=True)
class _Brackets:
    """Tagged words and phrases over them, outer ones first."""

    words: list[str]
    tags: list[str]
    constituents: list[HeadedBracket]


@dataclass(frozen=True)
class _Bracket:
    label: str
    begin: int
    end: int
    head: int


def _sentences(
    reference: Doc, predicted: Doc, spans_key: str, predicted_key: str, *, headed: bool
) -> Iterable[tuple[_Brackets, _Brackets]]:
    """Gold brackets, and those that are predicted over the same words."""
    gold, found = tagged_words(reference), tagged_words(predicted)
    phrases = read_phrases(predicted, predicted_key) or []
    wanted: list[HeadedBracket] = []
    first = start = at = 0
    complete = True
    for n_words, tree in constituency_sentences(reference, spans_key, headed=headed):
        complete &= tree is not None
        wanted += (
            _Bracket(each.label, *(start - first + i for i in (each.begin, each.end, each.head)))
            for each in (tree.constituents if tree is not None else ())
        )
        start += n_words
        last = at
        while last < len(phrases) and phrases[last].begin < start:
            last += 1
        if any(phrase.end > start for phrase in phrases[at:last]):
            continue
        if complete:
            inside = [
                _Bracket(
                    each.label,
                    each.begin - first,
                    each.end - first,
                    # One that nobody knows is none of the words.
                    -1 if each.head is None else each.head - first,
                )
                for each in phrases[at:last]
            ]
            yield _brackets(gold[first:start], wanted), _brackets(found[first:start], inside)
        wanted, complete = [], True
        first, at = start, last


def _brackets(pairs: list[tuple[str, str]], constituents: Iterable[HeadedBracket]) -> _Brackets:
    return _Brackets([word for word, _ in pairs], [tag for _, tag in pairs], list(constituents))
