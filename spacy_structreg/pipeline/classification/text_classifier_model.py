"""The architecture of the classifier's model: ``spacy_structreg.TextClassifier.v1``."""

from __future__ import annotations

from spacy_structreg.estimators.classification.text_classifier import TextClassifier
from spacy_structreg.pipeline.architectures import component_architecture

create_text_classifier_model = component_architecture(TextClassifier)
