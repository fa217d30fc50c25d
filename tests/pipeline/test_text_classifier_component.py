"""The component that classifies texts: what it learns and writes, its figures and files."""

from __future__ import annotations

from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.pipeline.text_classifier import score_categories

TEXTS = [
    ("The tide is high and the boats stay in", "harbour"),
    ("Two boats left the quay at dawn", "harbour"),
    ("Gulls follow the boats to the quay", "harbour"),
    ("The oven is hot and the bread smells", "kitchen"),
    ("Cut the bread and warm the soup", "kitchen"),
    ("The soup is salty", "kitchen"),
    ("Rails and a late train", "station"),
    ("The train stands at platform four", "station"),
]
CATEGORIES = ("harbour", "kitchen", "station")
PERCEPTRON = {"@misc": "spacy_structreg.Learning.v1"}


def gold_doc(nlp: Language, text: str, category: str) -> Doc:
    doc = nlp.make_doc(text)
    doc.cats = {each: float(each == category) for each in CATEGORIES}
    return doc


def examples(nlp: Language) -> list[Example]:
    return [Example(nlp.make_doc(text), gold_doc(nlp, text, category)) for text, category in TEXTS]


def untrained(model: dict[str, Any] | None = None) -> Language:
    nlp = spacy.blank("en")
    block = {"@architectures": "spacy_structreg.TextClassifier.v1", "seed": 1, **(model or {})}
    nlp.add_pipe("structreg_textcat", name="textcat", config={"model": block})
    return nlp


def trained(model: dict[str, Any] | None = None, passes: int = 10) -> Language:
    nlp = untrained(model)
    gold = examples(nlp)
    nlp.initialize(lambda: gold)
    for _ in range(passes):
        nlp.update(gold)
    return nlp


def category(doc: Doc) -> str:
    return max(doc.cats, key=doc.cats.__getitem__)


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A trained pipeline that no test changes."""
    return trained()


# What is written ---------------------------------------------------------------------------------


def test_probabilities(nlp: Language) -> None:
    docs = list(nlp.pipe(text for text, _ in TEXTS))
    assert list(map(category, docs)) == [category for _, category in TEXTS]
    estimator = nlp.get_pipe("textcat").estimator
    for doc in docs:
        assert sorted(doc.cats) == list(CATEGORIES)
        assert sum(doc.cats.values()) == pytest.approx(1.0)
        assert doc.cats == estimator.predict_marginals([token.text for token in doc])
    new = nlp("the boats and the quay")
    assert new.cats["harbour"] > 0.5


def test_perceptrons_write_what_they_find() -> None:
    nlp = trained({"learning": PERCEPTRON})
    assert nlp(TEXTS[0][0]).cats == {"harbour": 1.0, "kitchen": 0.0, "station": 0.0}


def test_texts_without_words(nlp: Language) -> None:
    empty, blank, text = nlp.pipe(["", " \n ", TEXTS[0][0]])
    assert empty.cats == blank.cats
    assert sum(empty.cats.values()) == pytest.approx(1.0)
    spaced = nlp(TEXTS[0][0].replace(" ", "  "))
    assert spaced.cats == text.cats


def test_other_categories_stay(nlp: Language) -> None:
    doc = nlp.make_doc(TEXTS[0][0])
    doc.cats = {"rude": 0.25, "harbour": 0.0}
    doc = nlp(doc)
    assert doc.cats["rude"] == 0.25
    assert category(doc) == "harbour"


# Training ----------------------------------------------------------------------------------------


def test_words_are_those_of_the_predicted_side() -> None:
    nlp = untrained()
    example = examples(nlp)[0]
    example.predicted = Doc(nlp.vocab, words=["The tide", "\n", "turns"])
    pipe = nlp.get_pipe("textcat")
    assert pipe.gold(example) == ([(["The tide", "turns"], "harbour")], 0)


def test_references_without_a_category_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    nlp = untrained()
    gold = examples(nlp)
    gold[0].reference.cats = {}
    gold[1].reference.cats = dict.fromkeys(CATEGORIES, 0.0)
    nlp.initialize(lambda: gold)
    assert "2 of 8 training sentences have no category in doc.cats" in caplog.text
    assert nlp.update(gold[:2])["textcat"] == 0
    gold[0].reference.cats = {"harbour": 1.0}
    assert nlp.get_pipe("textcat").gold(gold[0])[1] == 0


@pytest.mark.parametrize("cats", [{"harbour": 1.0, "station": 1.0}, {"harbour": 0.5}])
def test_references_of_several_categories_are_refused(cats: dict[str, float]) -> None:
    nlp = untrained()
    gold = examples(nlp)
    gold[0].reference.cats = cats
    with pytest.raises(ValueError, match=r"doc\.cats of 'The tide .*textcat_multilabel"):
        nlp.initialize(lambda: gold)
    good = untrained()
    good.initialize(lambda: examples(good))
    with pytest.raises(ValueError, match=r"'textcat' cannot learn from a Doc: doc\.cats of 'The"):
        good.update(gold)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"characters": [0]}, "characters must be at least 1"),
        ({"ngrams": 0}, "nothing is seen of texts"),
        ({"templates": "ner"}, "templates"),
    ],
)
def test_models_that_see_nothing_are_refused(model: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        untrained(model)


# Scores ------------------------------------------------------------------------------------------


def test_figures(nlp: Language) -> None:
    def example(gold: str, found: dict[str, float]) -> Example:
        predicted = nlp.make_doc("x")
        predicted.cats = found
        return Example(predicted, gold_doc(nlp, "x", gold))

    unknown = Example(nlp.make_doc("x"), nlp.make_doc("x"))
    figures = score_categories(
        [
            example("harbour", {"harbour": 0.6, "kitchen": 0.4}),
            example("harbour", {"harbour": 0.4, "kitchen": 0.6}),
            example("kitchen", {"harbour": 0.1, "kitchen": 0.9}),
            # Of a category that the model does not know.
            example("station", {"harbour": 0.9, "kitchen": 0.1}),
            unknown,
        ],
        labels=["harbour", "kitchen"],
    )
    assert figures["cats_acc"] == figures["cats_micro_f"] == 0.5
    assert figures["cats_f_per_type"]["kitchen"] == pytest.approx({"p": 0.5, "r": 1.0, "f": 2 / 3})
    assert figures["cats_macro_f"] == pytest.approx((0.5 + 2 / 3 + 0) / 3)
    assert score_categories([unknown])["cats_acc"] is None
    assert score_categories([example("harbour", {})], labels=CATEGORIES)["cats_acc"] == 0.0
