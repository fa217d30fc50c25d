"""The architecture of constituency parsers: ``spacy_structreg.ConstituencyParser.v1``."""

from __future__ import annotations

from spacy_structreg.estimators.constituents.constituency_parser import ConstituencyParser
from spacy_structreg.pipeline.architectures import component_architecture

create_constituency_model = component_architecture(ConstituencyParser)
