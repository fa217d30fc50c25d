"""`explain` of the pipes: the parts of a Doc, each as the estimator explains it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.corpora.sentence import Sentence

WORDS = ["dogs", "walk", " ", "cats", "see"]
TAGS = ["N", "V", "_SP", "N", "V"]
TREE = Sentence(("dogs", "walk"), ("N", "V"), (1, -1), ("nsubj", "root"))
PHRASES = ConstituencySentence(
    ("dogs", "walk"), ("N", "V"), (Constituent("S", 0, 2, 1), Constituent("NP", 0, 1, 0))
)


@pytest.fixture(scope="module")
def doc() -> Doc:
    """Two sentences, and white space that belongs to the first."""
    starts = [True, False, False, True, False]
    return Doc(spacy.blank("en").vocab, words=WORDS, tags=TAGS, sent_starts=starts)


@pytest.mark.parametrize(
    ("factory", "gold", "parts"),
    [
        (
            "structreg_tagger",
            [("dogs", "N"), ("walk", "V")],
            lambda model: [model.nbest(WORDS[:3], 1), model.nbest(WORDS[3:], 1)],
        ),
        (
            "structreg_parser",
            TREE,
            lambda model: [
                model.nbest(WORDS[:3], TAGS[:3], 1),
                model.nbest(WORDS[3:], TAGS[3:], 1),
            ],
        ),
        (
            "structreg_constituency",
            PHRASES,
            lambda model: [
                model.nbest(["dogs", "walk"], ["N", "V"], 1),
                model.nbest(["cats", "see"], ["N", "V"], 1),
            ],
        ),
        (
            "structreg_sequence_labeler",
            [("dogs", "B-X"), ("walk", "O")],
            lambda model: [model.nbest(["dogs", "walk"], 1), model.nbest(["cats", "see"], 1)],
        ),
    ],
)
def test_a_doc_is_explained_sentence_by_sentence(
    factory: str, gold: Any, parts: Callable[[Any], list[Any]], doc: Doc
) -> None:
    pipe = spacy.blank("en").add_pipe(factory)
    with pytest.raises(ValueError, match="train"):
        pipe.explain(doc)
    with pytest.raises(TypeError, match="a Doc, not a str; call nlp"):
        pipe.explain(doc.text)
    pipe.estimator.fit([gold] * 3)
    found = pipe.explain(doc)
    assert found.text == doc.text
    assert found.score == pytest.approx(sum(best[0][0] for best in parts(pipe.estimator)))
    listed = [each.score for one in found.decisions for each in one.contributions]
    assert sum(listed) == pytest.approx(found.score)


def test_a_doc_without_tokens_or_with_white_space_alone(doc: Doc) -> None:
    for factory, gold in (("structreg_tagger", [("a", "D")]), ("structreg_parser", TREE)):
        pipe = spacy.blank("en").add_pipe(factory)
        pipe.estimator.fit([gold] * 2)
        for words in ([], [" "]):
            assert pipe.explain(Doc(doc.vocab, words=words)).decisions == ()


def test_the_category_of_a_doc(doc: Doc) -> None:
    pipe = spacy.blank("en").add_pipe("structreg_textcat")
    pipe.estimator.fit([(["dogs", "walk"], "land"), (["fish"], "sea")] * 3)
    (decision,) = pipe.explain(doc).decisions
    assert decision.place == "dogs walk cats see"
    assert decision.chosen == pipe.estimator.predict(["dogs", "walk", "cats", "see"])
