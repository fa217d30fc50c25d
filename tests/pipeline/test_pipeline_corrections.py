"""Corrections of pipelines, by nlp.update and as a whole, and what else they change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from made_up import (
    TEXTS,
    TRAIN,
    gold_doc,
    tag_of,
    tagged_doc,
    tokens,
    trained,
    trained_joint,
)
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.cli.info import describe_model, describe_pipeline
from spacy_structreg.pipeline.pipeline_correction import changed_docs, correct_pipeline
from spacy_structreg.pipeline.task import TOKENIZER

# Other words and tags than those of the corpus.
WORDS = ["小", "王昨", "天在", "公园", "。"]
TAGS = ["NR", "NN", "VV", "NN", "PU"]
CORRECT = {"correct": True}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline whose tokenizer and tagger are trained."""
    nlp = trained()
    nlp.add_pipe("structreg_tokenizer_trainer")
    tagger = nlp.add_pipe("structreg_tagger", config={"model": {"dictionary": None}})
    docs = [tagged_doc(nlp.vocab, words) for words in TRAIN]
    tagger.estimator.epochs = 3
    tagger.estimator.fit(
        [[*zip(tokens(doc), map(tag_of, tokens(doc)), strict=True)] for doc in docs]
    )
    path = tmp_path_factory.mktemp("pipelines") / "saved"
    nlp.to_disk(path)
    return path


@pytest.fixture
def nlp(saved: Path) -> Language:
    return spacy.load(saved)


def gold_of(nlp: Language) -> Doc:
    return gold_doc(nlp.vocab, WORDS, tags=TAGS)


def test_update_corrects_where_it_is_asked_to(nlp: Language) -> None:
    gold = gold_of(nlp)
    assert tokens(nlp.make_doc(gold.text)) != WORDS
    names = ("structreg_tokenizer_trainer", "structreg_tagger")
    losses = nlp.update(
        [Example(gold_doc(nlp.vocab, WORDS), gold)],
        component_cfg={name: dict(CORRECT) for name in names},
    )
    assert losses == dict.fromkeys(names, 0.0)
    doc = nlp(gold.text)
    assert tokens(doc) == WORDS
    assert [token.tag_ for token in doc] == TAGS


def test_update_says_where_there_is_nothing_to_correct(nlp: Language) -> None:
    gold = gold_doc(nlp.vocab, WORDS)
    names = ("structreg_tokenizer_trainer", "structreg_tagger")
    with pytest.raises(ValueError, match="'structreg_tagger' is to be corrected, but the examples"):
        nlp.update([Example(gold, gold)], component_cfg={name: dict(CORRECT) for name in names})


def test_a_whole_pipeline(nlp: Language, tmp_path: Path) -> None:
    before = list(nlp.pipe(TEXTS))
    report = correct_pipeline(nlp, [gold_of(nlp)], sample=before)
    assert list(report) == [TOKENIZER, "structreg_tagger"]
    assert not any(each.wrong for each in report.values())
    nlp.to_disk(tmp_path / "corrected")
    again = spacy.load(tmp_path / "corrected")
    doc = again(gold_of(nlp).text)
    assert (tokens(doc), [token.tag_ for token in doc]) == (WORDS, TAGS)
    after = list(nlp.pipe(TEXTS))
    changed = changed_docs(nlp, before, after)
    different = [
        (old, new)
        for old, new in zip(before, after, strict=True)
        if [(t.text, t.tag_) for t in old] != [(t.text, t.tag_) for t in new]
    ]
    assert [each.text for each in changed] == [old.text for old, _ in different]


def test_one_pipe_alone(nlp: Language) -> None:
    tokenizer = nlp.tokenizer.model.to_bytes()
    report = correct_pipeline(nlp, [gold_of(nlp)], names=["structreg_tagger"])
    assert list(report) == ["structreg_tagger"]
    assert nlp.tokenizer.model.to_bytes() == tokenizer


def test_corrections_without_tags_leave_the_tagger(nlp: Language) -> None:
    assert list(correct_pipeline(nlp, [gold_doc(nlp.vocab, WORDS)])) == [TOKENIZER]
    with pytest.raises(ValueError, match="give a corpus with tags for structreg_tagger"):
        correct_pipeline(nlp, [gold_doc(nlp.vocab, WORDS)], names=["structreg_tagger"])
    with pytest.raises(ValueError, match="no model of spacy_structreg named 'nope'; choose from"):
        correct_pipeline(nlp, [gold_doc(nlp.vocab, WORDS)], names=["nope"])
    with pytest.raises(ValueError, match="the pipeline has no model of"):
        correct_pipeline(spacy.blank("zh"), [gold_doc(nlp.vocab, WORDS)])


def test_what_changed_is_shown(nlp: Language) -> None:
    old, new = (
        gold_doc(nlp.vocab, list("甲乙丙丁戊己")),
        gold_doc(nlp.vocab, [*"甲乙", "丙丁", *"戊己"]),
    )
    (changed,) = changed_docs(nlp, [old], [new])
    assert (changed.before, changed.after) == ("甲 乙 丙 丁 戊 己", "甲 乙 丙丁 戊 己")
    old = gold_doc(nlp.vocab, ["我", "去"], tags=["PN", "VV"])
    new = gold_doc(nlp.vocab, ["我", "去"], tags=["PN", "NN"])
    (changed,) = changed_docs(nlp, [old], [new])
    assert (changed.before, changed.after) == ("去_VV", "去_NN")
    assert changed_docs(nlp, [old], [old.copy()]) == []


@pytest.mark.parametrize("tags", [None, ["", "NN", "", "", ""]])
def test_words_without_tags_correct_a_tokenizer_that_tags(tags: list[str] | None) -> None:
    nlp = trained_joint()
    gold = gold_doc(nlp.vocab, WORDS, tags=tags)
    assert tokens(nlp(gold.text)) != WORDS
    # What is not known is what the model finds best beside what is.
    spans = [(t.idx, t.idx + len(t), "token", t.tag_ or None) for t in gold]
    expected = [token.tag_ for token in nlp.tokenizer(gold.text, spans=spans)]
    assert list(correct_pipeline(nlp, [gold])) == [TOKENIZER]
    doc = nlp(gold.text)
    assert tokens(doc) == WORDS
    assert [token.tag_ for token in doc] == expected
    assert tags is None or doc[1].tag_ == "NN"


@pytest.mark.parametrize("make", [trained, trained_joint])
def test_sentences_of_which_a_part_is_known(make: Callable[[], Language]) -> None:
    nlp = make()
    pieces = ["小", "王昨", "天", "在", "公园", "。"]
    gold = gold_doc(nlp.vocab, pieces, tags=["NR", "", "", "", "NN", "PU"])
    gold.spans["unknown_words"] = [gold[2:4]]
    assert not {1, 3} <= {token.idx for token in nlp(gold.text)}
    assert not nlp.tokenizer.correct([gold]).wrong
    begins = {token.idx for token in nlp(gold.text)}
    assert {1, 3, 5, 7} <= begins
    assert begins <= {token.idx for token in gold}


def test_tags_that_are_unknown_to_the_model_stay_wrong() -> None:
    nlp = trained_joint()
    gold = gold_doc(nlp.vocab, WORDS, tags=["", "XX", "", "", ""])
    assert nlp.tokenizer.correct([gold]).wrong == {0: "unknown tag 'XX'"}


def test_words_with_unknown_tags_are_no_sample() -> None:
    nlp = trained_joint()
    doc = nlp("小王去公园。")
    doc[0].tag_ = "XX"
    assert not nlp.tokenizer.correct([gold_of(nlp)], sample=[doc]).wrong


# Descriptions -------------------------------------------------------------------------------------


def test_a_description_of_a_pipeline(nlp: Language) -> None:
    nlp.tokenizer.user_words.add("云计算")
    described = describe_pipeline(nlp)
    parts = described["parts"]
    assert list(parts) == [TOKENIZER, "structreg_tokenizer_trainer", "structreg_tagger"]
    tokenizer, trainer, tagger = parts.values()
    assert tokenizer["user_words"] == 1
    assert tokenizer["size"] >= tokenizer["model"]["bytes"] > 0
    assert tokenizer["model"]["labels"] == ["B", "E", "M", "S"]
    assert "c-1c0" in tokenizer["model"]["templates"]
    assert tokenizer["model"]["learning"]["algorithm"] == "pa_i"
    assert "model" not in trainer
    model = nlp.get_pipe("structreg_tagger").estimator
    assert tagger["factory"] == "structreg_tagger"
    assert tagger["model"]["corpus"] == model.corpus_checksum
    tables = model._decoders().tables
    assert tagger["model"]["features"] == sum(table.n_rows for table in tables)
    assert tagger["model"]["weights"] == sum(
        int((table.weights(key) != 0).sum())
        for table in tables
        for key in table.arrays["keys"].tolist()
    )


def test_descriptions_of_untrained_and_foreign_parts() -> None:
    nlp = spacy.blank("zh")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("structreg_parser")
    nlp.disable_pipe("sentencizer")
    described = describe_pipeline(nlp)["parts"]
    assert described[TOKENIZER]["size"] is None
    assert "model" not in described[TOKENIZER]
    assert described["sentencizer"]["disabled"]
    assert described["structreg_parser"]["model"]["trained"] is False
    assert "labels" not in described["structreg_parser"]["model"]


def test_a_description_of_models_within_a_model() -> None:
    from spacy_structreg.models.guided import GuidedSegmenter

    model = GuidedSegmenter()
    model.characters.epochs = model.words.epochs = 1
    model.fit(TRAIN[:20])
    described = describe_model(model)
    assert set(described["models"]) == {"characters", "words"}
    inner = describe_model(model.characters)
    of_characters = described["models"]["characters"]
    assert of_characters["weights"] == inner["weights"] > 0
    assert of_characters["settings"] == inner["settings"]
    assert described["features"] == 0
    assert not {"characters", "words"} & set(described["settings"])
