"""The tokenizer that parses: its Docs, its gold, listed words, figures, saving."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest
import spacy
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from pipeline.made_up import DEV, TEXTS, TRAIN, gold_doc, tag_of, tokens
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

CONFIG: dict[str, Any] = {
    "nlp": {
        "tokenizer": {
            "@tokenizers": "spacy_structreg.JointParser.v1",
            "model": {"@architectures": "spacy_structreg.WordJointParser.v1", "seed": 7, "beam": 4},
        }
    }
}
SEEN = "".join(sorted({character for words in TRAIN for word in words for character in word}))
any_text = st.text(st.sampled_from(SEEN + " \t\n\u3000A1🇨🇳\u0301"), max_size=40)


def tree_of(words: list[str]) -> tuple[list[int], list[str]]:
    """Heads and labels: all words hang on the first verb, but modifiers on the next word."""
    tags = list(map(tag_of, words))
    root = tags.index("VV")
    heads, labels = [], []
    for i, tag in enumerate(tags):
        modifies = tag in ("DT", "M", "CD", "JJ")
        heads.append(i if i == root else i + 1 if modifies else root)
        labels.append(
            "ROOT" if i == root else "mod" if modifies else "punct" * (tag == "PU") or "arg"
        )
    return heads, labels


def parsed_doc(vocab: Vocab, *sentences: list[str]) -> Doc:
    """A gold Doc of sentences with their tags and trees."""
    words: list[str] = []
    heads: list[int] = []
    labels: list[str] = []
    for sentence in sentences:
        found = tree_of(sentence)
        heads += [len(words) + head for head in found[0]]
        labels += found[1]
        words += sentence
    return gold_doc(vocab, words, tags=list(map(tag_of, words)), heads=heads, deps=labels)


def gold_tree(words: list[str]) -> Sentence:
    """The gold sentence of a list of words."""
    heads, labels = tree_of(words)
    return Sentence(
        tuple(words),
        tuple(map(tag_of, words)),
        tuple(ROOT if head == i else head for i, head in enumerate(heads)),
        tuple(labels),
    )


def blank(**settings: Any) -> Language:
    config = copy.deepcopy(CONFIG)
    config["nlp"]["tokenizer"]["model"] |= settings
    return spacy.blank("zh", config=config)


def made(passes: int = 4) -> Language:
    nlp = blank()
    nlp.add_pipe("structreg_joint_parser_trainer")
    docs = [parsed_doc(nlp.vocab, words) for words in TRAIN]
    examples = [Example(doc, doc) for doc in docs]
    nlp.initialize(lambda: examples)
    for _ in range(passes):
        nlp.update(examples)
    return nlp


TRAINED = made()


@pytest.fixture
def nlp() -> Language:
    """A copy that may be changed."""
    kept: Language = pickle.loads(pickle.dumps(TRAINED))
    return kept


def tree(doc: Doc) -> list[tuple[str, str, int, str]]:
    return [(token.text, token.tag_, token.head.i, token.dep_) for token in doc]


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


# Docs --------------------------------------------------------------------------------------------


def test_words_tags_and_trees_are_those_of_the_model() -> None:
    """The corpus is easy, so that most are right, too."""
    expected = [TRAINED.tokenizer.model.predict_trees(text) for text in TEXTS]
    assert [as_one(TRAINED(text)) for text in TEXTS] == expected
    assert sum(a == gold_tree(b) for a, b in zip(expected, DEV, strict=True)) > 0.8 * len(DEV)
    # What the tokenizer writes is what it would learn from.
    doc = TRAINED("".join(TEXTS[:2]))
    assert TRAINED.tokenizer.gold_sentences(doc) == dependency_sentences(doc) == expected[:2]


def test_every_sentence_has_a_tree_of_its_own() -> None:
    doc = TRAINED("".join(TEXTS[:3]))
    assert [sentence.text for sentence in doc.sents] == TEXTS[:3]
    assert all(token.head in token.sent for token in doc)
    assert [token.dep_ for token in doc if token.head == token] == ["ROOT"] * 3


def test_white_space_hangs_on_the_token_before_it() -> None:
    doc = TRAINED("  小王  去公园。\n")
    assert [(t.text, t.head.text, t.dep_) for t in doc if t.is_space] == [
        ("  ", "小王", "dep"),
        (" ", "小王", "dep"),
        ("\n", "。", "dep"),
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
        assert as_one(doc) == TRAINED.tokenizer.model.predict_trees(text)


def test_listed_words_and_spans_are_parsed_as_wholes(nlp: Language) -> None:
    tag = nlp.tokenizer.model.tags[-1]
    nlp.tokenizer.user_words.update([("New York", tag), "我们去"])
    for doc in (nlp("我们去New York。"), *nlp.tokenizer.pipe(["我们去New York。"])):
        assert tokens(doc)[:2] == ["我们去", "New York"]
        assert doc[1].tag_ == tag
        assert doc.has_annotation("DEP", require_complete=True)
    found = nlp.tokenizer("老师去公园。", spans=[(0, 3)])
    assert found[0].text == "老师去"
    assert found[0].has_head()


def test_alternatives_and_confidence_are_of_words_and_tags(nlp: Language) -> None:
    plain = tree(nlp(TEXTS[0]))
    nlp.tokenizer.keep_analyses(alternatives=2, confidence=True)
    doc = nlp(TEXTS[0])
    assert tree(doc) == plain
    (listed,) = doc._.structreg.alternatives["words"]
    assert listed[0].of == [(token.text, token.tag_) for token in doc]
    assert set(doc._.structreg.confidence) == {"boundaries", "words", "tags"}
    assert all(
        len(doc._.structreg.confidence[kind].margins) == len(doc) for kind in ("words", "tags")
    )


def test_other_tokenizers_may_hold_the_model(nlp: Language) -> None:
    for name, has_tags in (("Segmenter", False), ("JointTagger", True)):
        config = copy.deepcopy(CONFIG)
        config["nlp"]["tokenizer"]["@tokenizers"] = f"spacy_structreg.{name}.v1"
        other = spacy.blank("zh", config=config)
        other.tokenizer.model = nlp.tokenizer.model
        doc = other(TEXTS[0])
        assert tokens(doc) == tokens(nlp(TEXTS[0]))
        assert doc.has_annotation("TAG") is has_tags
        assert not doc.has_annotation("DEP")
        other.tokenizer.update([parsed_doc(other.vocab, TRAIN[0])])


# Gold --------------------------------------------------------------------------------------------


def test_a_model_of_many_roots_learns_from_whole_texts() -> None:
    nlp = blank(many_roots=True, sentences="doc")
    doc = parsed_doc(nlp.vocab, *TRAIN[:3])
    (gold,) = nlp.tokenizer.gold_sentences(doc)
    assert gold.words == tuple(word for words in TRAIN[:3] for word in words)
    assert gold.heads.count(ROOT) == 3
    assert len(blank().tokenizer.gold_sentences(doc)) == 3
    docs = [parsed_doc(nlp.vocab, *TRAIN[i : i + 2]) for i in range(0, 60, 2)]
    nlp.initialize(lambda: [Example(doc, doc) for doc in docs])
    for _ in range(4):
        nlp.tokenizer.update(docs)
    found = nlp("".join(TRAIN[0] + TRAIN[1]))
    assert [sentence.text for sentence in found.sents] == ["".join(words) for words in TRAIN[:2]]


@pytest.mark.parametrize(
    ("annotation", "missing"),
    [({"tags": ["NR", "VV"]}, "head"), ({"heads": [1, 1], "deps": ["arg", "ROOT"]}, "tag")],
)
def test_gold_docs_without_trees_or_tags_are_an_error(
    annotation: dict[str, Any], missing: str, nlp: Language
) -> None:
    doc = gold_doc(nlp.vocab, ["老师", "好"], **annotation)
    message = f"no word of the gold Doc '老师好' has a {missing}.*tagged dependency trees"
    with pytest.raises(ValueError, match=message):
        nlp.tokenizer.update([doc])
    untrained = blank()
    with pytest.raises(ValueError, match=message):
        untrained.initialize(lambda: [Example(untrained.make_doc("老师好"), doc)])


def test_a_model_that_does_not_parse_is_refused() -> None:
    config = copy.deepcopy(CONFIG)
    block = {"@architectures": "spacy_structreg.CharacterJointTagger.v1"}
    config["nlp"]["tokenizer"]["model"] = block
    with pytest.raises(ValueError, match=r"needs a model that parses.*JointTagger\.v1"):
        spacy.blank("zh", config=config)


def test_corrections_come_out_right(nlp: Language) -> None:
    words = ["小王", "放到", "公园", "。"]
    gold = parsed_doc(nlp.vocab, words)
    assert as_one(nlp(gold.text)) != gold_tree(words)
    report = correct_pipeline(nlp, [gold], sample=[nlp(text) for text in TEXTS[:5]])
    assert not report["tokenizer"].wrong
    assert as_one(nlp(gold.text)) == gold_tree(words)


def test_a_config_names_the_parser_of_a_guided_model(tmp_path: Path) -> None:
    config = copy.deepcopy(CONFIG)
    config["nlp"]["tokenizer"]["model"] = {
        "@architectures": "spacy_structreg.GuidedJointParser.v1",
        "beam": 4,
        "parser": {"@architectures": "spacy_structreg.DependencyParser.v1", "beam": 2},
    }
    nlp = spacy.blank("zh", config=config)
    docs = [parsed_doc(nlp.vocab, words) for words in TRAIN[:20]]
    nlp.initialize(lambda: [Example(doc, doc) for doc in docs])
    nlp.tokenizer.update(docs)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert loaded.tokenizer.model.parser.settings.beam == 2
    assert as_one(loaded(TEXTS[0])) == as_one(nlp(TEXTS[0]))


# Figures -----------------------------------------------------------------------------------------


def test_figures_are_those_of_raw_text_even_if_all_words_are_right() -> None:
    examples = []
    for words in DEV[:5]:
        gold = parsed_doc(TRAINED.vocab, words)
        heads = [token.head.i for token in gold]
        # One label is wrong.
        labels = ["other", *(token.dep_ for token in gold)][: len(gold)]
        tags = [token.tag_ for token in gold]
        predicted = gold_doc(TRAINED.vocab, words, tags=tags, heads=heads, deps=labels)
        examples.append(Example(predicted, gold))
    figures = TRAINED.tokenizer.score(examples)
    assert figures["seg_f"] == figures["tag_f"] == figures["uas_f"] == 1.0
    pairs = [
        (token.dep_, other.dep_)
        for each in examples
        for token, other in zip(each.reference, each.predicted, strict=True)
    ]
    assert figures["las_f"] == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))


def test_commands_score_trees_of_text_and_no_gold_words() -> None:
    gold = [parsed_doc(TRAINED.vocab, words) for words in DEV]
    figures = evaluate_docs(TRAINED, gold).figures
    right = sum(
        a == b
        for words, text in zip(DEV, TEXTS, strict=True)
        for a, b in [(as_one(TRAINED(text)), gold_tree(words))]
    )
    assert figures["las_f"] is not None
    assert right / len(DEV) <= figures["las_f"] <= (figures["seg_f"] or 0)
    with pytest.raises(ValueError, match="no pipe of the pipeline"):
        evaluate_docs(TRAINED, gold, ScoreSettings(Given(words=True)))
    assert written_annotation(TRAINED) == {"tags", "heads", "relations", "sentences"}


# Explanations ------------------------------------------------------------------------------------


def test_explanations_name_every_arc() -> None:
    text = TEXTS[0]
    doc = TRAINED(text)
    found = TRAINED.tokenizer.explain(text)
    chosen = [decision.chosen for decision in found.decisions]
    arcs = [f"{t.text}←{t.head.text}:{t.dep_}" for t in doc if t.head != t]
    (root,) = (token for token in doc if token.head == token)
    assert sorted(choice for choice in chosen if "←" in choice) == sorted(arcs)
    assert chosen[-1] == f"{root.text} is a root"
    assert [choice for choice in chosen if choice.endswith(" ends")] == [
        f"{token.text} ends" for token in doc
    ]
    items = [decision.item for decision in found.decisions if decision.item is not None]
    assert items == list(range(len(text)))


def test_explanations_name_the_words_that_templates_see() -> None:
    """Of the last arc: 去, with its children 老师 and 公园, and 。 are on the stack."""
    found = TRAINED.tokenizer.explain("老师去公园。")
    decision = next(each for each in found.decisions if each.chosen == "。←去:punct")
    seen = {part.template: part.value for part in decision.contributions}
    expected = {
        "S0w S0t S1w S1t": "。 PU 去 VV",
        "S2w S1t S0t": "(edge) VV PU",
        "S1t S1lt S1l2t": "VV NR (edge)",
        "S1t S1rt S0w": "VV NN 。",
        "S1t S1llabel": "VV arg",
        "S1t S1vr": "VV 1",
        "S0w S0vl": "。 0",
        "start(S1) end(S1) S1t": "去 去 VV",
        "len(S0) len(S1) S0t S1t": "1 1 PU VV",
        "S0w dist(S1,S0)": "。 2",
        "S0w c0": "。 (edge)",
    }
    assert {key: seen[f"arc: {key}"] for key in expected} == expected
    assert {part.source for part in decision.contributions} == {"corpus"}
