"""The tokenizer that tags: its Docs, its gold, listed words with tags, universal tags, saving."""

from __future__ import annotations

import copy
from functools import partial
from pathlib import Path

import pytest
import spacy
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from pipeline.made_up import (
    DEV,
    JOINT_CONFIG,
    TEXTS,
    TRAIN,
    gold_doc,
    tagged_doc,
    tokens,
    trained_joint,
    with_tags,
)
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from universal_tags import universal_tag

from spacy_structreg.tasks.segmentation.user_words import UserWords

TRAINED = trained_joint()
SEEN = "".join(sorted({character for words in TRAIN for word in words for character in word}))
any_text = st.text(st.sampled_from(SEEN + " \t\n\u3000A1🇨🇳\u0301"), max_size=60)


@pytest.fixture
def nlp() -> Language:
    return trained_joint()


def pairs(doc: Doc) -> list[tuple[str, str]]:
    return [(token.text, token.tag_) for token in doc]


def blank() -> Language:
    return spacy.blank("zh", config=JOINT_CONFIG)


# Docs --------------------------------------------------------------------------------------------


def test_words_and_tags_are_those_of_the_model() -> None:
    """The corpus is easy, so that they are right, too."""
    expected = list(map(with_tags, DEV))
    assert [TRAINED.tokenizer.model.predict_tagged(text) for text in TEXTS] == expected
    assert [pairs(TRAINED(text)) for text in TEXTS] == expected
    assert list(TRAINED.tokenizer.tagged_words(TEXTS, n_threads=3)) == expected
    with pytest.raises(ValueError, match="has not been trained"):
        list(blank().tokenizer.tagged_words(["好"]))


@given(any_text)
@quick_examples(60)
def test_every_token_has_a_tag_and_the_text_stays(text: str) -> None:
    doc = TRAINED(text)
    assert doc.text == text
    found = TRAINED.tokenizer.model.predict_tagged(text)
    assert [pair for pair in pairs(doc) if not pair[0].isspace()] == found
    assert all(token.tag_ == "_SP" for token in doc if token.is_space)
    assert not len(doc) or doc.has_annotation("TAG", require_complete=True)


def test_tags_outlive_a_memory_zone() -> None:
    nlp = blank()
    nlp.tokenizer.user_words.add("雨伞", "BRAND")
    with nlp.memory_zone():
        assert "BRAND" in {token.tag_ for token in nlp("请把雨伞放到河边去！")}
    assert dict(pairs(nlp("请把雨伞放到河边去！")))["雨伞"] == "BRAND"


# Listed words ------------------------------------------------------------------------------------


def test_listed_words_have_the_tags_that_they_are_listed_with(nlp: Language) -> None:
    text = "我们去New York买了雨伞。"
    # Tags that the model would not give them, and none.
    nlp.tokenizer.user_words.update([("雨伞", "VV"), ("New York", "VV"), "我们去"])
    expected = {"雨伞": "VV", "New York": "VV"}
    for doc in (nlp(text), *nlp.tokenizer.pipe([text])):
        found = dict(pairs(doc))
        assert doc.text == text
        assert found.items() >= expected.items()
        assert found["我们去"] in nlp.tokenizer.model.tags
    untrained = blank()
    untrained.tokenizer.user_words.update([("New York", "CITY")])
    assert [pair for pair in pairs(untrained(text)) if pair[1]] == [("New York", "CITY")]


def test_tags_that_the_model_does_not_know_are_refused(nlp: Language) -> None:
    text = "我们去New York买了雨伞。"
    tokenizer = nlp.tokenizer
    with pytest.raises(ValueError, match=r"the span 0:2 has the tag 'ZZ'.* VV"):
        tokenizer(text, spans=[(0, 2, "token", "ZZ")])
    with pytest.raises(ValueError, match=r"'雨伞' is listed with the tag 'ZZ'.* VV"):
        tokenizer.user_words.add("雨伞", "ZZ")
    assert not tokenizer.user_words
    tokenizer.user_words.add("雨伞", "ZZ", mode="prefer")
    for mode, bonus in (("force", None), ("bonus", 5.0)):
        # It did not know the model then.
        listed = UserWords([("雨伞", "ZZ")], mode=mode, bonus=bonus)
        tokenizer.user_words = listed
        for call in (
            lambda: nlp(text),
            lambda: list(tokenizer.pipe([text])),
            lambda: list(tokenizer.tagged_words([text])),
            lambda: tokenizer.explain(text),
            lambda: tokenizer.model.predict(text, tokenizer.user_words),
            lambda: tokenizer.model.nbest(text, 2, tokenizer.user_words),
        ):
            with pytest.raises(ValueError, match=r"'雨伞' is listed with the tag 'ZZ'.* VV"):
                call()
        # The list as it is now counts, and not what was once on it.
        tokenizer.user_words.remove("雨伞")
        nlp(text)
    # Before the training, too, as soon as tags are known.
    untrained = blank()
    untrained.tokenizer.user_words.add("雨伞", "ZZ")
    docs = [tagged_doc(untrained.vocab, words) for words in TRAIN[:3]]
    with pytest.raises(ValueError, match="'雨伞' is listed with the tag 'ZZ'"):
        untrained.initialize(lambda: [Example(doc, doc) for doc in docs])


# Gold --------------------------------------------------------------------------------------------


def test_initialize_sees_the_tags_of_the_whole_corpus() -> None:
    nlp = blank()
    docs = [tagged_doc(nlp.vocab, words) for words in TRAIN]
    nlp.initialize(lambda: [Example(nlp.make_doc(doc.text), doc) for doc in docs])
    nlp.tokenizer.update(docs[:1])
    tags = {tag for words in TRAIN for _, tag in with_tags(words)}
    assert tags == set(nlp.tokenizer.model.tags)


def test_gold_docs_without_tags_are_an_error(nlp: Language) -> None:
    doc = gold_doc(nlp.vocab, ["老师", "好"], tags=None)
    message = r"the word '(老师|好)' of the gold Doc '老师好' has no tag"
    with pytest.raises(ValueError, match=message):
        nlp.tokenizer.update([doc])
    untrained = blank()
    with pytest.raises(ValueError, match=message):
        untrained.initialize(lambda: [Example(untrained.make_doc("老师好"), doc)])


def test_a_model_of_words_alone_is_refused() -> None:
    config = copy.deepcopy(JOINT_CONFIG)
    block = {"@architectures": "spacy_structreg.CharacterSegmenter.v1"}
    config["nlp"]["tokenizer"]["model"] = block
    with pytest.raises(ValueError, match=r"needs a model that tags.*Segmenter\.v1"):
        spacy.blank("zh", config=config)


# Universal tags ----------------------------------------------------------------------------------


def test_the_attribute_ruler_writes_universal_tags(tmp_path: Path, nlp: Language) -> None:
    nlp.add_pipe("attribute_ruler", config={"scorer": None})
    nlp.config["initialize"]["components"]["attribute_ruler"] = {
        "patterns": {"@misc": "spacy_structreg.TagMap.v1", "name": "ctb"}
    }
    nlp.initialize()
    nlp.to_disk(tmp_path)
    for pipeline in (nlp, spacy.load(tmp_path)):
        doc = pipeline("老师  在河边买了三个苹果。")
        assert [(t.text, t.pos_) for t in doc if t.is_space] == [(" ", "SPACE")]
        words = [token for token in doc if not token.is_space]
        assert [t.pos_ for t in words] == [universal_tag("ctb", t.tag_, t.text) for t in words]
        assert {"PROPN", "NUM", "NOUN", "PUNCT"} <= {t.pos_ for t in words}


@pytest.mark.parametrize("name", ["ctb", "ptb"])
def test_the_tokenizer_writes_universal_tags(tmp_path: Path, name: str) -> None:
    config = copy.deepcopy(JOINT_CONFIG)
    config["nlp"]["tokenizer"]["tag_map"] = name
    nlp = spacy.blank("zh", config=config)
    rename = {"ctb": {}, "ptb": {"VV": "VBZ", "P": "IN", "PU": "."}}[name]
    train = [[(word, rename.get(tag, tag)) for word, tag in with_tags(each)] for each in TRAIN]
    # A word of which the table of English has a rule.
    train += [[("It", "PRP"), ("is", "VBZ"), ("because", "IN")]] * 3
    nlp.tokenizer.model.fit(train)
    nlp.to_disk(tmp_path)
    for pipeline in (nlp, spacy.load(tmp_path)):
        doc = pipeline("老师  在河边买了三个苹果。It is because")
        assert [(t.text, t.pos_) for t in doc if t.is_space] == [(" ", "SPACE")]
        words = [token for token in doc if not token.is_space]
        assert [t.pos_ for t in words] == [universal_tag(name, t.tag_, t.text) or "" for t in words]
        assert {"NOUN", "PUNCT", "VERB"} <= {t.pos_ for t in words}
        pipeline.tokenizer.tag_map = None
        assert not pipeline("老师在河边").has_annotation("POS")
    make = spacy.registry.misc.get("spacy_structreg.TagMap.v1")
    for setting in (make, partial(setattr, nlp.tokenizer, "tag_map")):
        with pytest.raises(ValueError, match="'ctb5' is no table of tags; there are ctb, pfr"):
            setting("ctb5")


# Every model -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokenizer", "model"),
    [
        ("Segmenter", "GuidedSegmenter"),
        ("Segmenter", "WordJointTagger"),
        ("JointTagger", "GuidedJointTagger"),
        ("JointTagger", "JointReranker"),
    ],
)
def test_every_model_is_trained_and_kept(tokenizer: str, model: str, tmp_path: Path) -> None:
    block = {
        "@tokenizers": f"spacy_structreg.{tokenizer}.v1",
        "model": {"@architectures": f"spacy_structreg.{model}.v1"},
    }
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": block}})
    nlp.add_pipe("structreg_tokenizer_trainer")
    docs = [tagged_doc(nlp.vocab, words) for words in TRAIN]
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    nlp.initialize(lambda: examples)
    for _ in range(4):
        nlp.update(examples)
    nlp.tokenizer.user_words.add("我们去", "VV")
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert loaded.tokenizer.to_bytes() == nlp.tokenizer.to_bytes()
    docs = list(map(loaded, TEXTS))
    words = sum(tokens(doc) == words for doc, words in zip(docs, DEV, strict=True))
    right = sum(pairs(doc) == with_tags(words) for doc, words in zip(docs, DEV, strict=True))
    assert words > 0.8 * len(DEV)
    assert right > 0.7 * len(DEV) if tokenizer == "JointTagger" else right == 0
    assert "我们去" in tokens(loaded("昨天我们去公园。"))


def test_tags_of_a_dictionary_are_mapped_to_those_of_the_model(tmp_path: Path) -> None:
    words = TRAINED.tokenizer.user_words
    path = tmp_path / "userdict.txt"
    path.write_text("我们去 5 v\n图书 3 i\n李小福 2 nr\n", encoding="utf-8")
    try:
        words.load(path)
        assert [words.tag(word) for word in ("我们去", "图书", "李小福")] == ["VV", None, "NR"]
        path.write_text("李小福 2 nr\n语 3 star\n", encoding="utf-8")
        with pytest.raises(ValueError, match=r"userdict\.txt:2: the model has no tag 'star'"):
            words.load(path)
    finally:
        words.clear()
