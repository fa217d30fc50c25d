"""Functions that configs name in ``@architectures`` and ``@misc``, made of the settings of classes.

An architecture has the name of its model, as in the package, and is made when it is asked for:
``architectures.Tagger`` is that of `Tagger`. So a pipeline imports no other models than its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeVar

from thinc.api import Model

import spacy_structreg
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


# Models of components; the others are of tokenizers.
_OF_COMPONENTS: Final = frozenset(
    {"ConstituencyParser", "DependencyParser", "SequenceLabeler", "Tagger", "TextClassifier"}
)


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _architecture(name)


# spaCy asks several times for each block of a config.
@cache
def _architecture(name: str) -> Callable[..., Any]:
    model = getattr(spacy_structreg, name)
    return (component_architecture if name in _OF_COMPONENTS else tokenizer_architecture)(model)


create_learning = function_of(Learning, Learning, registered_name(Learning))
create_log_linear = function_of(LogLinear, LogLinear, registered_name(LogLinear))


def create_gao2010(aggressiveness: float = 1.0) -> Learning:
    """Make what ``spacy_structreg.Gao2010.v1`` stands for (`learning_settings.gao_2010`)."""
    return gao_2010(aggressiveness)
