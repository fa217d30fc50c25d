"""The average of pipelines: our models are averaged, all else is that of the first."""

from __future__ import annotations

import pytest
import spacy
from contract.components import TOKENIZERS, trained_pipe
from small_pipeline import gold_doc, plain_doc
from spacy.language import Language

from spacy_structreg.cli.average import average_pipelines


def pipeline(seed: int, *, tagger: bool = True) -> Language:
    """A pipeline with a tokenizer and a tagger of ours; of few passes, so that models differ."""
    nlp = TOKENIZERS["segmenter"].trained(passes=1, seed=seed)
    nlp.add_pipe("sentencizer", name=f"splitter_{seed}")
    if tagger:
        pipe = nlp.add_pipe("structreg_tagger", name="tags")
        estimator = trained_pipe("tagger").get_pipe("pipe").estimator.untrained()
        estimator.seed = seed
        docs = [gold_doc(nlp.vocab, number) for number in range(3)]
        pipe.estimator = estimator.fit([[(t.text, t.tag_) for t in doc] for doc in docs])
    return nlp


@pytest.mark.parametrize("mean", ["nonzero", "plain"])
def test_models_are_averaged(mean: str) -> None:
    pipelines = [pipeline(seed) for seed in (1, 2, 3)]
    tokenizers = [nlp.tokenizer.model for nlp in pipelines]
    taggers = [nlp.get_pipe("tags").estimator for nlp in pipelines]
    others = [nlp.to_bytes() for nlp in pipelines[1:]]
    averaged = average_pipelines(pipelines, mean)
    tokenizer = type(tokenizers[0]).average(tokenizers, mean)
    tagger = type(taggers[0]).average(taggers, mean)
    assert averaged.tokenizer.model.to_bytes() == tokenizer.to_bytes()
    assert averaged.get_pipe("tags").estimator.to_bytes() == tagger.to_bytes()
    doc = averaged(plain_doc(averaged.vocab, 1))
    assert [token.tag_ for token in doc] == tagger.predict([token.text for token in doc])
    # Everything else is that of the first, and the others are left alone.
    assert averaged is pipelines[0]
    assert averaged.pipe_names == ["splitter_1", "tags"]
    assert [nlp.to_bytes() for nlp in pipelines[1:]] == others


def test_pipelines_that_do_not_go_together() -> None:
    first = pipeline(1)
    before = first.to_bytes()
    wide, bare, plain = pipeline(2), pipeline(1, tagger=False), spacy.blank("zh")
    wide.get_pipe("tags").estimator.half_width = False
    for pipelines, message in (
        ([], "no pipeline to average"),
        ([plain, first], "the first pipeline has no model of spacy_structreg"),
        (
            [bare, pipeline(2, tagger=False), plain],
            "pipeline 3 has another tokenizer",
        ),
        ([first, TOKENIZERS["segmenter"].untrained()], "pipe 'tags' of spacy_structreg, but the"),
        ([bare, first], "has a pipe 'tags' of spacy_structreg, but the other"),
        ([bare, TOKENIZERS["segmenter"].untrained()], r"pipeline \d has not been trained"),
        ([first, wide], r"^tags: the models to average differ in half_width"),
    ):
        with pytest.raises(ValueError, match=message):
            average_pipelines(pipelines)
        assert first.to_bytes() == before
