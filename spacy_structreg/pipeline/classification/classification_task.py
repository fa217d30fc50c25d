"""Text classification as a task of pipelines."""

from __future__ import annotations

from typing import Any, Final

from spacy.tokens import Doc

from spacy_structreg.corpora.annotated import AnnotatedSentence
from spacy_structreg.metrics.figures import Scores
from spacy_structreg.pipeline.classification.classification_scorer import score_categories_of_docs
from spacy_structreg.pipeline.component import N_THREADS_TEXT
from spacy_structreg.pipeline.setting_texts import config_block
from spacy_structreg.pipeline.task import (
    ConfigParts,
    ConfigRequest,
    ConfigTemplate,
    Pairs,
    PipelineTask,
    ScoreSettings,
    TaskPart,
    score_weights,
)

COMPONENT: Final = f"""\
[components.textcat]
factory = "structreg_textcat"
{N_THREADS_TEXT}

[components.textcat.scorer]
@scorers = "spacy_structreg.classification_scorer.v1"

"""


def classifier_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a classifier of texts."""
    from spacy_structreg.estimators.classification.text_classifier import TextClassifier

    sizes = None if request.is_alphabetic else [1, 2]
    return ConfigParts(
        title="a classifier of texts",
        noun="classifier",
        pipeline=["textcat"],
        components=COMPONENT,
        model=config_block("components.textcat.model", TextClassifier, characters=sizes),
        about_gold="# The classifier is given no gold annotation: words are those of the "
        "tokenizer.",
        scores=score_weights("structreg_textcat"),
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

    def write_gold(self, doc: Doc, sentence: AnnotatedSentence) -> None:
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
