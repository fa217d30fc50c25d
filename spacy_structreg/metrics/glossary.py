"""Meaning of each figure, by the key that all reports of the package use."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from spacy_structreg.metrics.classification import CLASSIFICATION_FIGURES
from spacy_structreg.metrics.constituents import bracket_figures
from spacy_structreg.metrics.dependencies import PARSING_FIGURES, TEXT_PARSING_FIGURES
from spacy_structreg.metrics.joint import JOINT_FIGURES
from spacy_structreg.metrics.labeling import SPAN_FIGURES
from spacy_structreg.metrics.tagging import tagging_figures

# Of the scorers of spaCy pipes, which have universal tags as well, and of reports on raw text.
_OTHERS = {
    **{
        f"{kind}_{end}": text.format(what)
        for kind, what in (("tag", "tag"), ("pos", "universal tag"))
        for end, text in {
            "p": "precision, from raw text, of words that are right with their {}",
            "r": "recall, from raw text, of words that are right with their {}",
            "f": "F, from raw text, of words that are right with their {}",
        }.items()
    },
    "text_brackets_f": "F, from raw text, of constituents: with the same characters and label",
    "cats_macro_f": "mean over categories of their F",
}

SCORE_GLOSSARY: Final[Mapping[str, str]] = MappingProxyType(
    {
        **JOINT_FIGURES.meanings,
        **tagging_figures("tag").meanings,
        **tagging_figures("pos").meanings,
        **PARSING_FIGURES.meanings,
        **TEXT_PARSING_FIGURES.meanings,
        **bracket_figures().meanings,
        **SPAN_FIGURES.meanings,
        **CLASSIFICATION_FIGURES.meanings,
        **_OTHERS,
    }
)
"""Descriptions of figures: fractions of 1, printed in percent, unless they say otherwise."""
