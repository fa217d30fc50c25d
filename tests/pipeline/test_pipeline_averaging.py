"""The average of pipelines: our models are averaged, all else is that of the first."""

from __future__ import annotations

import numpy as np
import pytest
import spacy
from pipeline.made_up import DEV, TRAIN, gold_doc, tagged_doc, tokens, untrained
from spacy.language import Language
from spacy.training import Example

from spacy_structreg.cli.average import average_pipelines
from spacy_structreg.learn.model_average import average_rows
from spacy_structreg.learn.model_file import parse_model
from spacy_structreg.models.segmentation import CharacterSegmenter

MODEL = {"@architectures": "spacy_structreg.CharacterSegmenter.v1"}


def pipeline(seed: int, passes: int = 2, **settings: object) -> Language:
    """A pipeline trained with its own order of sentences; few passes, so that models differ."""
    model = {**MODEL, "seed": seed, **settings}
    tokenizer = {"@tokenizers": "spacy_structreg.Segmenter.v1", "model": model}
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    for _ in range(passes):
        nlp.tokenizer.update([gold_doc(nlp.vocab, words) for words in TRAIN[:30]])
    return nlp


def arrays(nlp: Language) -> dict[str, np.ndarray]:
    return parse_model(nlp.tokenizer.model.to_bytes())[1]


@pytest.mark.parametrize("mean", ["nonzero", "plain"])
def test_models_are_averaged(mean) -> None:
    pipelines = [pipeline(seed) for seed in (1, 2, 3)]
    models = [nlp.tokenizer.model for nlp in pipelines]
    tables = [model._decoders().tables for model in models]
    averaged = average_pipelines(pipelines, mean)
    expected = [average_rows(shape, mean) for shape in zip(*tables, strict=True)]
    for number, table in enumerate(expected):
        for name, array in table.arrays.items():
            assert array.tobytes() == arrays(averaged)[f"{number}.{name}"].tobytes()
    assert averaged.tokenizer.model not in models
    assert tokens(averaged("".join(DEV[0])))


def test_everything_else_is_that_of_the_first() -> None:
    pipelines = [pipeline(1), pipeline(2)]
    for nlp, name in zip(pipelines, ("first", "second"), strict=True):
        nlp.meta["name"] = name
        nlp.add_pipe("sentencizer", name=f"splitter_of_the_{name}")
    averaged = average_pipelines(pipelines)
    assert averaged is pipelines[0]
    assert averaged.meta["name"] == "first"
    assert averaged.pipe_names == ["splitter_of_the_first"]


def test_the_others_are_left_alone() -> None:
    pipelines = [pipeline(1), pipeline(2)]
    second = pipelines[1].tokenizer.to_bytes()
    assert average_pipelines(pipelines).tokenizer.to_bytes() != second
    assert pipelines[1].tokenizer.to_bytes() == second


def test_one_pipeline_stays_as_it_is() -> None:
    nlp = pipeline(1)
    before = arrays(nlp)
    after = arrays(average_pipelines([nlp]))
    assert {name: array.tobytes() for name, array in before.items()} == {
        name: array.tobytes() for name, array in after.items()
    }


def test_none_at_all() -> None:
    with pytest.raises(ValueError, match="no pipeline to average"):
        average_pipelines([])


def test_pipelines_without_a_model_of_ours() -> None:
    plain = spacy.blank("zh")
    with pytest.raises(ValueError, match="the first pipeline has no model of spacy_structreg"):
        average_pipelines([plain, pipeline(1)])
    first = pipeline(1)
    before = first.tokenizer.to_bytes()
    with pytest.raises(ValueError, match="pipeline 3 has another tokenizer than the first"):
        average_pipelines([first, pipeline(2), plain])
    assert first.tokenizer.to_bytes() == before


@pytest.mark.parametrize(
    ("settings", "difference"),
    [
        ({"types": "g10"}, "tokenizer: .* differ in templates|types"),
        ({"scheme": "six"}, "tokenizer: .* differ in labels"),
        ({"half_width": False}, "tokenizer: .* differ in half_width"),
        ({"sentences": "doc"}, "tokenizer: .* differ in sentences: '.*' and '.*'"),
        ({"skip_bigram": True}, "tokenizer: .* differ in templates"),
    ],
    ids=str,
)
def test_models_that_see_different_things(settings: dict[str, object], difference: str) -> None:
    first = pipeline(1)
    before = first.tokenizer.to_bytes()
    with pytest.raises(ValueError, match=difference):
        average_pipelines([first, pipeline(2, **settings)])
    assert first.tokenizer.to_bytes() == before


def test_an_untrained_model() -> None:
    with pytest.raises(ValueError, match=r"tokenizer of pipeline \d has not been trained"):
        average_pipelines([pipeline(1), untrained()])


def test_how_they_were_learned_may_differ() -> None:
    """Weights are comparable whatever regularizers made them; the first one's settings stay."""
    learning = {"@misc": "spacy_structreg.Learning.v1", "l2": 0.001}
    averaged = average_pipelines([pipeline(1, learning=learning), pipeline(2)])
    assert isinstance(averaged.tokenizer.model, CharacterSegmenter)
    assert averaged.tokenizer.model.learning.l2 == 0.001


# Taggers ------------------------------------------------------------------------------------------


def tagging(seed: int, passes: int = 1) -> Language:
    """A pipeline with spaCy's tokenizer and a trained tagger of ours."""
    nlp = spacy.blank("zh")
    model = {"@architectures": "spacy_structreg.Tagger.v1", "seed": seed}
    nlp.add_pipe("structreg_tagger", name="tags", config={"model": model})
    docs = [tagged_doc(nlp.vocab, words) for words in TRAIN[:40]]
    examples = [Example(gold_doc(nlp.vocab, [t.text for t in doc]), doc) for doc in docs]
    nlp.initialize(lambda: examples)
    for _ in range(passes):
        nlp.update(examples)
    return nlp


def test_models_of_components_are_averaged() -> None:
    pipelines = [tagging(1), tagging(2)]
    models = [nlp.get_pipe("tags").estimator for nlp in pipelines]
    assert models[0].to_bytes() != models[1].to_bytes()
    expected = type(models[0]).average(models)
    averaged = average_pipelines(pipelines).get_pipe("tags")
    assert averaged.estimator.to_bytes() == expected.to_bytes()
    doc = gold_doc(pipelines[0].vocab, DEV[0])
    assert [token.tag_ for token in pipelines[0](doc)] == expected.predict(DEV[0])


def test_pipelines_of_other_components_are_refused() -> None:
    with pytest.raises(ValueError, match="has a pipe 'tags' of spacy_structreg, but the other"):
        average_pipelines([pipeline(1), both_kinds(2)])
    first = both_kinds(1)
    before = first.to_bytes()
    other = both_kinds(2)
    other.get_pipe("tags").estimator.half_width = False
    with pytest.raises(ValueError, match=r"^tags: the models to average differ in half_width"):
        average_pipelines([first, other])
    assert first.to_bytes() == before


def both_kinds(seed: int) -> Language:
    """A pipeline with a tokenizer and a tagger of ours."""
    nlp = pipeline(seed)
    nlp.add_pipe("structreg_tagger", name="tags")
    nlp.get_pipe("tags").from_bytes(tagging(seed).get_pipe("tags").to_bytes())
    return nlp
