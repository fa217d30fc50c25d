"""Contract of all scorers: what is faulty is named by its sentence, and not counted."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import pytest

from spacy_structreg import metrics
from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.corpora.dependencies import Parse
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.metrics.constituents import BracketScorer, score_brackets
from spacy_structreg.metrics.dependencies import ParsingScorer, score_parses
from spacy_structreg.metrics.joint import JointScorer, score_joint
from spacy_structreg.metrics.labeling import SpanScorer, score_spans
from spacy_structreg.metrics.segmentation import SegmentationScorer, score_segmentation
from spacy_structreg.metrics.tagging import TaggingScorer, score_tagging


def phrase(*words: str) -> ConstituencySentence:
    n = len(words)
    return ConstituencySentence(words, ("X",) * n, (Constituent("S", 0, n, 0),))


class Case(NamedTuple):
    """A scorer, a function that scores all sentences, one that is right, and those with faults."""

    scorer: Callable[[], Any]
    score: Callable[..., Any]
    right: tuple[Any, Any]
    faulty: list[tuple[Any, Any, str]]


SCORERS = {
    "segmentation": Case(
        SegmentationScorer,
        score_segmentation,
        (["a"], ["a"]),
        [
            (["ab", "c"], ["a", "bd"], r".* offset 2 \('c' and 'd'\)"),
            (["ab"], ["a"], r".* offset 1 \('b' and end of text\)"),
            ([], ["a"], r".* offset 0 \(end of text and 'a'\)"),
            (["a", ""], ["a"], "a word is empty"),
            (["a"], ["", "a"], "a word is empty"),
        ],
    ),
    "joint": Case(
        JointScorer,
        score_joint,
        ([("a", "N")], [("a", "N")]),
        [
            ([("ab", "N")], [("a", "N")], r".* offset 1 \('b' and end of text\)"),
            ([("a", "N"), ("", "N")], [("a", "N")], "a word is empty"),
        ],
    ),
    "tagging": Case(
        TaggingScorer,
        score_tagging,
        ([("a", "N")], ["N"]),
        [([("a", "N")], ["N", "V"], "2 tags for 1 words")],
    ),
    "spans": Case(
        SpanScorer,
        score_spans,
        (["B-X"], ["B-X"]),
        [
            (["O"], ["O", "O"], "2 predicted labels for 1 tokens"),
            (["O"], ["S-X"], "'S-X' is no label of this scheme; labels are O, B-X, I-X"),
            (["X"], ["O"], "'X' is no label"),
            (["B-X"], ["B-"], "'B-' is no label"),
            (["B-X"], [""], "'' is no label"),
        ],
    ),
    "brackets": Case(
        BracketScorer,
        score_brackets,
        (phrase("a", "b"), phrase("a", "b")),
        [
            (phrase("a", "b"), phrase("a", "c"), "word 1 is 'c' in the prediction and 'b'"),
            (phrase("a", "b"), phrase("a"), "1 words in the prediction and 2 in the gold"),
        ],
    ),
    "parses": Case(
        ParsingScorer,
        score_parses,
        (Sentence(("a",), ("X",), (-1,), ("root",)), Parse((-1,), ("root",))),
        [
            (
                Sentence(("a",), ("X",), (-1,), ("root",)),
                Parse((-1, 0), ("root", "x")),
                "2 heads for 1 words",
            )
        ],
    ),
}
# Those that do not count one sentence after the other.
OTHERS = {
    "TextParsingScorer": "it counts texts of several sentences: test_parsing_scores.py",
    "score_labels": "it counts sequences of any labels: its callers' tests hold it",
    "score_classification": "it counts labels of texts: test_classification_scores.py",
}
EVERY = pytest.mark.parametrize("case", SCORERS.values(), ids=SCORERS)


def test_every_scorer_is_here() -> None:
    found = set()
    for _, name, _ in pkgutil.iter_modules(metrics.__path__, f"{metrics.__name__}."):
        for key, each in vars(import_module(name)).items():
            if getattr(each, "__module__", None) == name:
                found.add(key)
    scorers = {name for name in found if name.endswith("Scorer") or name.startswith("score_")}
    held = {each.__name__ for case in SCORERS.values() for each in (case.scorer, case.score)}
    assert scorers - held == OTHERS.keys()
    assert held <= scorers


@EVERY
def test_faulty_sentences_are_named_and_not_counted(case: Case) -> None:
    scorer = case.scorer()
    scorer.add(*case.right)
    before = scorer.scores()
    for gold, predicted, fault in case.faulty:
        with pytest.raises(ValueError, match=f"sentence 1: {fault}"):
            scorer.add(gold, predicted)
        assert scorer.scores() == before


@EVERY
def test_different_numbers_of_sentences(case: Case) -> None:
    gold, predicted = case.right
    with pytest.raises(ValueError, match="the prediction ends after 1 sentences"):
        case.score([gold, gold], [predicted])
    with pytest.raises(ValueError, match="the gold ends after 1 sentences"):
        case.score([gold], [predicted, predicted])


@EVERY
def test_nothing_has_no_figures(case: Case) -> None:
    assert set(case.score([], []).as_dict().values()) == {None}
