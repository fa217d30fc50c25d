"""The architecture of the parser's model: ``spacy_structreg.DependencyParser.v1``."""

from __future__ import annotations

from spacy_structreg.estimators.dependencies.dependency_parser import DependencyParser
from spacy_structreg.pipeline.architectures import component_architecture

create_parser_model = component_architecture(DependencyParser)
