"""Parts of configs of pipes that look at the tags of words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spacy_structreg.pipeline.component import EstimatorPipe
from spacy_structreg.pipeline.setting_texts import component_parts
from spacy_structreg.pipeline.task import ConfigParts, ConfigRequest, Figures, pipes_writing

ABOUT_GOLD = """\
# The gold annotation that the {noun} is given. Tags should be as good as those that it will meet:
# 'python -m spacy structreg jackknife' writes a training corpus with such tags."""

SOURCE = """\
# Tags words for the {noun}, and is not trained here.
[components.{name}]
source = {base}

"""


def tag_reading_parts(
    request: ConfigRequest,
    *,
    name: str,
    title: str,
    noun: str,
    component: type[EstimatorPipe],
    model: type[Any],
    scores: Figures,
    about_scores: str,
    with_sentences: bool = False,
    model_settings: Mapping[str, Any] | None = None,
    **settings: Any,
) -> ConfigParts:
    """The parts of the config of a pipe that looks at tags, with the pipes before it that tag.

    with_sentences: whether readers give these as well. settings: of the component, others than the
    defaults and the attribute and sentences of the language. Others: as of `component_parts`.
    """
    nlp, attribute = request.base_pipeline, request.attribute
    taggers = [] if nlp is None else pipes_writing(nlp, attribute)
    metas = {} if nlp is None else {each: nlp.get_pipe_meta(each) for each in nlp.pipe_names}
    # Rulers write what follows from tags, those of a tokenizer too.
    kept = [each for each in metas if each in taggers or metas[each].factory == "attribute_ruler"]
    base = json.dumps(request.base, ensure_ascii=False)
    sources = [SOURCE.format(noun=noun, name=each, base=base) for each in kept]
    # The figures of pipes that are not trained here do not count.
    others = dict.fromkeys(
        each for pipe in kept for each in metas[pipe].default_score_weights or ()
    )
    given = ["words", "tags"]
    last = ["sents"] if with_sentences else []
    chosen = {"sentences": "doc" if request.is_alphabetic else "punctuation"}
    if "attribute" not in settings:
        chosen["attribute"] = attribute
    parts = component_parts(
        name,
        component,
        model,
        title=title,
        noun=noun,
        about_gold=ABOUT_GOLD.format(noun=noun),
        gold=[*given, *last],
        scores={**scores, **others},
        about_scores=about_scores,
        model_settings=model_settings,
        **{**chosen, **settings},
    )
    return replace(
        parts,
        pipeline=[*kept, name],
        frozen=kept,
        components="".join(sources) + parts.components,
        dev_gold=[*(["words"] if taggers else given), *last],
    )
