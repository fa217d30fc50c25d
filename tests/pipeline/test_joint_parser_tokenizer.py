"""The tokenizer that parses: its Docs, its gold, listed words, figures, explanations."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import spacy
from contract.components import TEXTS, TOKENIZERS, trained_tokenizer
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from pipeline.made_up import tokens
from small_pipeline import WORDS, gold_doc, plain_doc
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.pipeline.documents import dependency_sentences
from spacy_structreg.pipeline.evaluation import evaluate_docs
from spacy_structreg.pipeline.pipeline_correction import correct_pipeline
from spacy_structreg.pipeline.task import Given, ScoreSettings
from spacy_structreg.pipeline.written import written_annotation

TRAINED = trained_tokenizer("joint parser")
MODEL = TRAINED.tokenizer.model
untrained = TOKENIZERS["joint parser"].untrained
SEEN = "".join(sorted({*"".join(TEXTS)}))
any_text = st.text(st.sampled_from(SEEN + " \t\n\u3000A1🇨🇳\u0301"), max_size=40)


@pytest.fixture
def nlp() -> Language:
    """A copy that may be changed."""
    kept: Language = pickle.loads(pickle.dumps(TRAINED))
    return kept


def as_one(doc: Doc) -> Sentence:
    """The words, tags and trees of a Doc, as models give them for a text."""
    words = [token for token in doc if not token.is_space]
    place = {token.i: i for i, token in enumerate(words)}
    return Sentence(
        tuple(token.text for token in words),
        tuple(token.tag_ for token in words),
        tuple(ROOT if token.head == token else place[token.head.i] for token in words),
        tuple(token.dep_ for token in words),
    )


def with_tokenizer(registered: str, model: dict[str, Any]) -> Language:
    block = {"@tokenizers": f"spacy_structreg.{registered}.v1", "model": model}
    return spacy.blank("zh", config={"nlp": {"tokenizer": block}})


# Docs --------------------------------------------------------------------------------------------


def test_words_tags_and_trees_are_those_of_the_model() -> None:
    expected = list(map(MODEL.predict_trees, TEXTS))
    assert expected == [as_one(gold_doc(Vocab(), number)) for number in range(3)]
    # What the tokenizer writes is what it would learn from, and every sentence has its own tree.
    doc = TRAINED("".join(TEXTS))
    assert [sentence.text for sentence in doc.sents] == TEXTS
    assert TRAINED.tokenizer.gold_sentences(doc) == dependency_sentences(doc) == expected


def test_white_space_hangs_on_the_token_before_it() -> None:
    doc = TRAINED("  小王  写大字！\n")
    assert [(t.text, t.head.text, t.dep_) for t in doc if t.is_space] == [
        ("  ", "小王", "dep"),
        (" ", "小王", "dep"),
        ("\n", "！", "dep"),
    ]
    assert len(list(doc.sents)) == 1
    blanks = TRAINED(" \n ")
    assert [(token.head.i, token.dep_, token.tag_) for token in blanks] == [(0, "ROOT", "_SP")]
    assert len(TRAINED("")) == 0


@given(any_text)
@quick_examples(60)
def test_every_token_has_a_head_and_the_text_stays(text: str) -> None:
    doc = TRAINED(text)
    assert doc.text == text
    assert not len(doc) or doc.has_annotation("DEP", require_complete=True)
    assert all(token.has_head() for token in doc)
    if any(not token.is_space for token in doc):
        assert not any(token.head.is_space for token in doc)
        assert as_one(doc) == MODEL.predict_trees(text)


def test_listed_words_and_spans_are_parsed_as_wholes(nlp: Language) -> None:
    nlp.tokenizer.user_words.update([("New York", "PU"), "我看"])
    for doc in (nlp("我看New York。"), *nlp.tokenizer.pipe(["我看New York。"])):
        assert tokens(doc)[:2] == ["我看", "New York"]
        assert doc[1].tag_ == "PU"
        assert doc.has_annotation("DEP", require_complete=True)
    found = nlp.tokenizer("小王写字。", spans=[(0, 3)])
    assert found[0].text == "小王写"
    assert found[0].has_head()


def test_alternatives_and_confidence_are_of_words_and_tags(nlp: Language) -> None:
    plain = as_one(nlp(TEXTS[0]))
    nlp.tokenizer.keep_analyses(alternatives=2, confidence=True)
    doc = nlp(TEXTS[0])
    assert as_one(doc) == plain
    (listed,) = doc._.structreg.alternatives["words"]
    assert listed[0].of == [(token.text, token.tag_) for token in doc]
    confidence = doc._.structreg.confidence
    assert set(confidence) == {"boundaries", "words", "tags"}
    assert len(confidence["words"].margins) == len(confidence["tags"].margins) == len(doc)


def test_other_tokenizers_may_hold_the_model() -> None:
    for name, has_tags in (("Segmenter", False), ("JointTagger", True)):
        other = with_tokenizer(name, {"@architectures": "spacy_structreg.WordJointParser.v1"})
        other.tokenizer.model = pickle.loads(pickle.dumps(MODEL))
        doc = other(TEXTS[0])
        assert tokens(doc) == WORDS[0]
        assert doc.has_annotation("TAG") is has_tags
        assert not doc.has_annotation("DEP")
        gold = gold_doc(other.vocab, 0)
        figures = other.tokenizer.score([Example(doc, gold)])
        assert figures["seg_f"] == 1.0
        assert ("joint_f" in figures) is has_tags
        other.tokenizer.update([gold])


# Gold --------------------------------------------------------------------------------------------


def test_a_model_of_many_roots_learns_from_whole_texts() -> None:
    nlp = untrained(many_roots=True, sentences="doc")
    docs = [gold_doc(nlp.vocab, *pair) for pair in ((0, 1), (1, 2), (2, 0))]
    (gold,) = nlp.tokenizer.gold_sentences(docs[0])
    assert gold.words == (*WORDS[0], *WORDS[1])
    assert gold.heads.count(ROOT) == 2
    assert len(untrained().tokenizer.gold_sentences(docs[0])) == 2
    nlp.initialize(lambda: [Example(doc, doc) for doc in docs])
    for _ in range(8):
        nlp.tokenizer.update(docs)
    assert [sentence.text for sentence in nlp(TEXTS[0] + TEXTS[1]).sents] == TEXTS[:2]


@pytest.mark.parametrize(
    ("annotation", "missing"), [({}, "head"), ({"tags": None, "heads": [1] * 4}, "tag")]
)
def test_gold_docs_without_trees_or_tags_are_an_error(
    annotation: dict[str, Any], missing: str, nlp: Language
) -> None:
    if "heads" in annotation:
        annotation["deps"] = ["nsubj", "ROOT", "obj", "punct"]
    doc = plain_doc(nlp.vocab, 0, **annotation)
    message = f"no word of the gold Doc '我看书。' has a {missing}.*tagged dependency trees"
    with pytest.raises(ValueError, match=message):
        nlp.tokenizer.update([doc])
    with pytest.raises(ValueError, match=message):
        untrained().initialize(lambda: [Example(doc.copy(), doc)])


def test_a_model_that_does_not_parse_is_refused() -> None:
    with pytest.raises(ValueError, match=r"needs a model that parses.*JointTagger\.v1"):
        with_tokenizer("JointParser", {"@architectures": "spacy_structreg.CharacterJointTagger.v1"})


def test_corrections_come_out_right(nlp: Language) -> None:
    gold = Doc(
        nlp.vocab,
        words=["小", "王", "写", "大字", "！"],
        spaces=[False] * 5,
        tags=["JJ", "NN", "VV", "NR", "PU"],
        heads=[1, 2, 2, 2, 2],
        deps=["amod", "obj", "ROOT", "name", "punct"],
    )
    assert as_one(nlp(gold.text)) != as_one(gold)
    report = correct_pipeline(nlp, [gold], sample=list(map(nlp, TEXTS)))
    assert not report["tokenizer"].wrong
    assert as_one(nlp(gold.text)) == as_one(gold)


def test_a_config_names_the_parser_of_a_guided_model(tmp_path: Path) -> None:
    parser = {"@architectures": "spacy_structreg.DependencyParser.v1", "beam": 2}
    model = {"@architectures": "spacy_structreg.GuidedJointParser.v1", "beam": 4, "parser": parser}
    nlp = with_tokenizer("JointParser", model)
    docs = [gold_doc(nlp.vocab, number) for number in range(3)]
    nlp.initialize(lambda: [Example(doc, doc) for doc in docs])
    nlp.tokenizer.update(docs)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert loaded.tokenizer.model.parser.settings.beam == 2
    assert as_one(loaded(TEXTS[0])) == as_one(nlp(TEXTS[0]))


# Figures -----------------------------------------------------------------------------------------


def test_figures_are_those_of_raw_text_even_if_all_words_are_right() -> None:
    gold = gold_doc(TRAINED.vocab, 0)
    predicted = gold.copy()
    predicted[0].dep_ = "other"
    figures = TRAINED.tokenizer.score([Example(predicted, gold)])
    assert figures["seg_f"] == figures["tag_f"] == figures["uas_f"] == 1.0
    assert figures["las_f"] == 3 / 4


def test_commands_score_trees_of_text_and_no_gold_words() -> None:
    gold = [gold_doc(TRAINED.vocab, number) for number in range(3)]
    gold[0][0].dep_ = "other"
    figures = evaluate_docs(TRAINED, gold).figures
    assert (figures["seg_f"], figures["uas_f"], figures["las_f"]) == (1.0, 1.0, 12 / 13)
    with pytest.raises(ValueError, match="no pipe of the pipeline"):
        evaluate_docs(TRAINED, gold, ScoreSettings(Given(words=True)))
    assert written_annotation(TRAINED) == {"tags", "heads", "relations", "sentences"}


# Explanations ------------------------------------------------------------------------------------


def test_explanations_name_every_arc() -> None:
    doc = TRAINED(TEXTS[0])
    found = TRAINED.tokenizer.explain(TEXTS[0])
    chosen = [decision.chosen for decision in found.decisions]
    arcs = [f"{t.text}←{t.head.text}:{t.dep_}" for t in doc if t.head != t]
    (root,) = (token for token in doc if token.head == token)
    assert sorted(choice for choice in chosen if "←" in choice) == sorted(arcs)
    assert chosen[-1] == f"{root.text} is a root"
    assert [choice for choice in chosen if choice.endswith(" ends")] == [
        f"{token.text} ends" for token in doc
    ]
    items = [decision.item for decision in found.decisions if decision.item is not None]
    assert items == list(range(len(TEXTS[0])))


def test_explanations_name_the_words_that_templates_see() -> None:
    """Of the last arc: 看, with its children 我 and 书, and 。 are on the stack."""
    found = TRAINED.tokenizer.explain(TEXTS[0])
    decision = next(each for each in found.decisions if each.chosen == "。←看:punct")
    seen = {part.template: part.value for part in decision.contributions}
    expected = {
        "S2w S1t S0t": "(edge) VV PU",
        "S1t S1lt S1l2t": "VV PN (edge)",
        "S1t S1rt S0w": "VV NN 。",
        "S1t S1llabel": "VV nsubj",
        "S1t S1vr": "VV 1",
        "start(S1) end(S1) S1t": "看 看 VV",
        "len(S0) len(S1) S0t S1t": "1 1 PU VV",
        "S0w dist(S1,S0)": "。 2",
    }
    assert {key: seen.get(f"arc: {key}") for key in expected} == expected
    assert {part.source for part in decision.contributions} == {"corpus"}
