"""Functions that configs name in ``@architectures`` and ``@misc``, made of the settings of classes.

Here are those of tokenizers and of learning; those of components lie beside their components.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from thinc.api import Model

from spacy_structreg.estimators.guided import GuidedJointParser, GuidedJointTagger, GuidedSegmenter
from spacy_structreg.estimators.joint.character_joint_tagger import CharacterJointTagger
from spacy_structreg.estimators.joint.joint_reranker import JointReranker
from spacy_structreg.estimators.joint.word_joint_parser import WordJointParser
from spacy_structreg.estimators.joint.word_joint_tagger import WordJointTagger
from spacy_structreg.estimators.segmentation.character_segmenter import CharacterSegmenter
from spacy_structreg.estimators.segmentation.word_segmenter import WordSegmenter
from spacy_structreg.learn.learning_settings import Learning, LogLinear, gao_2010
from spacy_structreg.learn.setting_fields import Settings, defaults_of, hints_of, plain
from spacy_structreg.models.stored_model import StoredModel
from spacy_structreg.pipeline.shim import estimator_model, shim_of

MadeT = TypeVar("MadeT")
ModelT = TypeVar("ModelT", bound=StoredModel)


def registered_name(cls: type) -> str:
    """The name under which configs know a class of models or of learning."""
    return f"spacy_structreg.{cls.__name__}.v1"


def function_of(
    settings: type[Settings], make: Callable[..., MadeT], name: str
) -> Callable[..., MadeT]:
    """`make` as a function whose signature has the settings of configs, their types and defaults.

    name: under which it is registered.
    """
    defaults = {key: plain(value) for key, value in defaults_of(settings, in_config=True).items()}
    hints = hints_of(settings)

    def create(**values: Any) -> MadeT:
        return make(**{**defaults, **values})

    made: Any = create
    made.__doc__ = f"Make what ``{name}`` stands for, by the settings of `{settings.__name__}`."
    made.__signature__ = inspect.Signature(
        [
            inspect.Parameter(
                key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[key]
            )
            for key, default in defaults.items()
        ]
    )
    return create


def tokenizer_architecture(model: type[ModelT]) -> Callable[..., ModelT]:
    """The function that makes untrained models of a tokenizer."""

    def make(**values: Any) -> ModelT:
        # A part may be the model of a component.
        parts = {key: value for key, value in values.items() if isinstance(value, Model)}
        estimators = {key: shim_of(part, key, part.name).estimator for key, part in parts.items()}
        return model(**{**values, **estimators})

    return function_of(model.SETTINGS, make, registered_name(model))


def component_architecture(estimator: type[StoredModel]) -> Callable[..., Model[Any, Any]]:
    """The function that makes models of a component, which hold untrained estimators."""
    name = registered_name(estimator)
    return function_of(
        estimator.SETTINGS, lambda **values: estimator_model(name, estimator(**values)), name
    )


create_character_segmenter = tokenizer_architecture(CharacterSegmenter)
create_word_segmenter = tokenizer_architecture(WordSegmenter)
create_guided_segmenter = tokenizer_architecture(GuidedSegmenter)
create_character_joint_tagger = tokenizer_architecture(CharacterJointTagger)
create_word_joint_tagger = tokenizer_architecture(WordJointTagger)
create_guided_joint_tagger = tokenizer_architecture(GuidedJointTagger)
create_word_joint_parser = tokenizer_architecture(WordJointParser)
create_guided_joint_parser = tokenizer_architecture(GuidedJointParser)
create_joint_reranker = tokenizer_architecture(JointReranker)
create_learning = function_of(Learning, Learning, registered_name(Learning))
create_log_linear = function_of(LogLinear, LogLinear, registered_name(LogLinear))


def create_gao2010(aggressiveness: float = 1.0) -> Learning:
    """Make what ``spacy_structreg.Gao2010.v1`` stands for (`learning_settings.gao_2010`)."""
    return gao_2010(aggressiveness)
