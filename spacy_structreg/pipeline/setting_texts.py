"""Blocks of configs, made of settings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from spacy_structreg.learn.setting_fields import Settings, defaults_of, described, plain
from spacy_structreg.pipeline.task import ConfigParts, Figures, score_weights

if TYPE_CHECKING:
    from spacy_structreg.pipeline.component import EstimatorPipe

_WIDTH: Final = 100


def config_block(path: str, model: type[Any], **values: Any) -> str:
    """The block of a model in a config, each setting under its documentation.

    path: of the block, such as ``"nlp.tokenizer.model"``. model: the class, which is registered
    under its name. values: of settings, others than the defaults; learning is that of the model.
    Raises ValueError for settings that do not exist.
    """
    settings: type[Settings] = model.SETTINGS
    chosen = {**defaults_of(settings, in_config=True), **values}
    if chosen.get("learning", ...) is None:
        chosen["learning"] = settings(**chosen).chosen_learning  # type: ignore[attr-defined]
    settings(**chosen)
    return _block(path, f'@architectures = "spacy_structreg.{model.__name__}.v1"', settings, chosen)


def component_block(name: str, component: type[EstimatorPipe], **values: Any) -> str:
    """The blocks of a component in a config, each setting under its documentation.

    values: of settings, others than the defaults. Its model is left out. Raises ValueError for
    settings that do not exist.
    """
    settings, path = component.SETTINGS, f"components.{name}"
    chosen = {**defaults_of(settings, in_config=True), **values}
    settings(**chosen)
    block = _block(path, f'factory = "{component.FACTORY}"', settings, chosen)
    scorer = [f"{key} = {json.dumps(value)}" for key, value in component.scorer_config().items()]
    lines = "\n".join([f"[{path}.scorer]", *scorer])
    return f"{block}\n\n{lines}\n{component.SCORER_TEXT}\n"


def component_parts(
    name: str,
    component: type[EstimatorPipe],
    model: type[Any],
    *,
    title: str,
    noun: str,
    about_scores: str,
    scores: Figures | None = None,
    gold: Sequence[str] = (),
    about_gold: str | None = None,
    model_settings: Mapping[str, Any] | None = None,
    **settings: Any,
) -> ConfigParts:
    """The parts of the config that trains one component.

    name: of the component. model: the class of its model. title, noun, about_scores, about_gold: as
    of `ConfigParts`. scores: those of its factory by default. gold: of both corpora.
    model_settings, settings: of the model and of the component, others than the defaults. Raises
    ValueError for settings that do not exist.
    """
    if about_gold is None:
        annotation = "the gold annotation below" if gold else "no gold annotation"
        about_gold = f"# The {noun} is given {annotation}."
    return ConfigParts(
        title=title,
        noun=noun,
        pipeline=[name],
        components=component_block(name, component, **settings),
        model=config_block(f"components.{name}.model", model, **(model_settings or {})),
        about_gold=about_gold,
        gold=gold,
        dev_gold=gold,
        scores=score_weights(component.FACTORY) if scores is None else scores,
        about_scores=about_scores,
    )


def tokenizer_block(name: str, settings: type[Settings], **values: Any) -> str:
    """The block of a registered tokenizer in a config, without its model.

    settings: of the tokenizer. values: of those that do not have their defaults.
    """
    values = {**defaults_of(settings), **values}
    return _block("nlp.tokenizer", f'@tokenizers = "{name}"', settings, values) + "\n\n"


def _block(path: str, maker: str, settings: type[Settings], values: Mapping[str, Any]) -> str:
    lines = [f"[{path}]", maker]
    blocks: list[str] = []
    for name, about in described(settings):
        if not about.in_config:
            continue
        comment = [f"# {line}" for line in wrap(about.doc, _WIDTH - 2, break_on_hyphens=False)]
        value = values[name]
        if isinstance(value, Settings):
            kind = type(value)
            block = _block(
                f"{path}.{name}", f'@misc = "spacy_structreg.{kind.__name__}.v1"', kind, vars(value)
            )
            blocks.append("\n".join([*comment, block]))
        else:
            text = json.dumps(plain(value), ensure_ascii=False)
            lines += [*comment, f"{name} = {text}"]
    return "\n\n".join(["\n".join(lines), *blocks])
