"""The pipe that classifies texts, ``structreg_textcat``, with its scorer, config and task.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.pipeline.component import EstimatorPipe, component_factory
from spacy_structreg.pipeline.documents import AttributeReader, category_of
from spacy_structreg.pipeline.task import (
    ConfigParts,
    ConfigRequest,
    ConfigTemplate,
    Pairs,
    PipelineTask,
    ScoreSettings,
    TaskPart,
)

if TYPE_CHECKING:
    from spacy_structreg.metrics.figures import Scores


class StructregTextClassifier(EstimatorPipe):
    """Finds the one category of each Doc, and writes the probabilities of all to ``doc.cats``.

    The model of a perceptron has no probabilities: the category found has 1, all others 0.

    The model learns the category of the reference that has 1, from the words of the predicted side;
    a reference without one is left out. Other categories in ``doc.cats`` stay as they are. Until
    the model is trained nothing is written.
    Raises ValueError for a model that is not ours, and in training for a reference of several
    categories, or with other values than 0 and 1.
    """

    TASK = "classification"
    FACTORY = "structreg_textcat"
    ARCHITECTURE = "spacy_structreg.TextClassifier.v1"
    SCORER = "spacy_structreg.classification_scorer.v1"

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._texts = AttributeReader()

    def _predict(self, docs: list[Doc]) -> list[dict[str, float]]:
        """The probability of each category, of each Doc."""
        texts = map(self._words, docs)
        if self.estimator.learning.gives_probabilities:
            return list(self.estimator.predict_marginals_stream(texts))
        return [
            {label: float(label == found) for label in self.labels}
            for found in self.estimator.predict_stream(texts)
        ]

    def _annotate(self, doc: Doc, predicted: dict[str, float]) -> None:
        """Write the probabilities of categories."""
        doc.cats = {**doc.cats, **predicted}

    def gold(self, example: Example) -> tuple[list[tuple[list[str], str]], int]:
        """The text and its category, if it has one, and how many texts have none."""
        category = category_of(example.reference)
        if category is None:
            return [], 1
        return [(self._words(example.predicted), category)], 0

    def _sentences_of(self, doc: Doc) -> Iterable[tuple[Any, ...]]:
        return ((sequence,) for sequence in self.unlabeled(doc))

    def unlabeled(self, doc: Doc) -> list[list[str]]:
        """The words of a Doc."""
        return [self._words(doc)]

    def _seen(self, example: Example) -> tuple[str, ...]:
        return tuple(self._words(example.predicted))

    def _left_out(self) -> str:
        return "have no category in doc.cats"

    def _words(self, doc: Doc) -> list[str]:
        return [word for word in self._texts.read(doc, "ORTH") if not word.isspace()]


create_text_classifier = component_factory(
    StructregTextClassifier,
    assigns=["doc.cats"],
    score_weights={
        **{"cats_acc": 1.0, "cats_score": None, "cats_score_desc": None},
        **dict.fromkeys(f"cats_micro_{end}" for end in "prf"),
        **{"cats_macro_p": None, "cats_macro_r": None, "cats_macro_f": 0.0},
        **{"cats_macro_auc": None, "cats_f_per_type": None},
    },
)


# Scorer -------------------------------------------------------------------------------------------


def make_classification_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_structreg.classification_scorer.v1``."""
    return score_categories


def score_categories(
    examples: Iterable[Example], *, labels: Iterable[str] = (), **kwargs: Any
) -> dict[str, Any]:
    """Score the categories of Docs, of one category each, as fractions of 1.

    Returns the figures of spaCy (``cats_micro_f``, ``cats_macro_f``, ``cats_f_per_type`` and the
    like), and ``cats_acc``, the share of Docs of the right category. References without a category
    do not count; ``cats_acc`` is None if no other is left.
    labels: the categories of the model; those of the references are added.
    """
    known = [each for each in examples if category_of(each.reference) is not None]
    categories = {*labels, *(str(category_of(each.reference)) for each in known)}

    def cats(doc: Doc, attribute: str) -> dict[str, float]:
        # Where there is nothing at all, spaCy's scorer fails.
        return {**dict.fromkeys(sorted(categories), 0.0), **doc.cats}

    figures: dict[str, Any] = dict(
        Scorer.score_cats(known, "cats", getter=cats, labels=sorted(categories), multi_label=False)
    )
    pairs = [(example.reference, example.predicted) for example in known]
    return {**figures, **score_categories_of_docs(pairs).as_dict("cats_acc")}


def score_categories_of_docs(pairs: Iterable[tuple[Doc, Doc]]) -> Scores:
    """Score the likeliest category of predicted Docs against that of their references.

    References without a category do not count.
    """
    from spacy_structreg.metrics.classification import score_classification

    gold: list[str] = []
    found: list[str] = []
    for reference, predicted in pairs:
        category = category_of(reference)
        if category is not None:
            gold.append(category)
            found.append(max(predicted.cats, key=predicted.cats.__getitem__, default=""))
    return score_classification(gold, found)


# Config and task ----------------------------------------------------------------------------------


def classifier_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a classifier of texts."""
    from spacy_structreg.models.classification import TextClassifier
    from spacy_structreg.pipeline.setting_texts import component_parts

    return component_parts(
        "textcat",
        StructregTextClassifier,
        TextClassifier,
        model_settings={"characters": None if request.is_alphabetic else [1, 2]},
        title="a classifier of texts",
        noun="classifier",
        about_gold="# The classifier is given no gold annotation: words are those of the "
        "tokenizer.",
        about_scores="the share of texts of the right category",
    )


class Classification(PipelineTask):
    """The one category of each text, found by a pipe."""

    stem = "classification"
    order = 6
    predicts = "categories"
    verb = "classifies"
    noun = "classifier"
    keeps_spaces = True
    given_sentences = True
    templates = (
        ConfigTemplate(
            "classify",
            "a pipe that finds the category of a text",
            classifier_parts,
            gold="a category",
            advice="make the file with 'convert --format classified' from lines of text and "
            "category",
            has_gold=lambda doc: sole_category(doc) is not None,
        ),
    )

    def has_gold(self, doc: Doc) -> bool:
        """True if a Doc has categories."""
        return bool(doc.cats)

    def read_gold(self, doc: Doc, spans_key: str | None) -> dict[str, Any]:
        """The category of a Doc, if it has one alone."""
        return {"category": sole_category(doc)}

    def write_gold(self, doc: Doc, sentence: Sentence) -> None:
        """Write the category."""
        if sentence.category is not None:
            doc.cats = {sentence.category: 1.0}

    def score(self, pairs: Pairs, part: TaskPart, settings: ScoreSettings) -> Scores:
        """The share of texts of the right category, and figures of each category."""
        return score_categories_of_docs(pairs)


def sole_category(doc: Doc) -> str | None:
    """The category of a Doc that has 1 in ``doc.cats``; None if there is none, or several."""
    found = [category for category, value in doc.cats.items() if value == 1]
    return found[0] if len(found) == 1 else None


CLASSIFICATION: Final = Classification()
