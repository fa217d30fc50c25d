"""The glossary of figures: of all that there are, and of no others."""

from __future__ import annotations

from spacy_structreg.metrics.classification import score_classification
from spacy_structreg.metrics.constituents import BracketScorer
from spacy_structreg.metrics.dependencies import ParsingScorer, TextParsingScorer
from spacy_structreg.metrics.glossary import SCORE_GLOSSARY
from spacy_structreg.metrics.joint import JointScorer
from spacy_structreg.metrics.labeling import SpanScorer
from spacy_structreg.metrics.segmentation import score_segmentation
from spacy_structreg.metrics.tagging import TaggingScorer

# Those that only spaCy's scorers have: of tags from raw text, and of universal tags.
OF_TAGS = {"tag_p", "tag_r", "pos_p", "pos_r", "pos_f"}
# Of reports, on raw text.
OF_TEXTS = {"text_brackets_f"}


def test_all_figures_are_explained_and_no_others() -> None:
    scores = (
        *(score_segmentation([["a"]], [["a"]]), JointScorer().scores(), TaggingScorer().scores()),
        TaggingScorer(kind="pos").scores(),
        *(ParsingScorer().scores(), TextParsingScorer().scores(), BracketScorer().scores()),
        *(SpanScorer().scores(), score_classification([], [])),
    )
    keys = {key for each in scores for key in each.as_dict()}
    assert set(SCORE_GLOSSARY) == keys | OF_TAGS | OF_TEXTS


def test_explanations_differ() -> None:
    assert len(set(SCORE_GLOSSARY.values())) == len(SCORE_GLOSSARY)
