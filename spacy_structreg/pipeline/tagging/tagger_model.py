"""The architecture of the tagger's model: ``spacy_structreg.Tagger.v1``."""

from __future__ import annotations

from spacy_structreg.estimators.tagging import Tagger
from spacy_structreg.pipeline.architectures import component_architecture

create_tagger_model = component_architecture(Tagger)
