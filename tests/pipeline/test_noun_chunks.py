"""`doc.noun_chunks`: which phrases they are, and that Docs of all origins have them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import spacy
from looped import looped
from pipeline.made_up import copies
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from spacy_structreg.corpora.corpus_options import CorpusOptions, HeadRuleSet
from spacy_structreg.pipeline.gold_docs import read_docs
from spacy_structreg.pipeline.noun_chunks import NounChunks, give_noun_chunks, noun_phrases

# Trees, and their base noun phrases; those by heads where these are others.
TREES: list[tuple[str, list[str], list[str] | None]] = [
    # Modifiers before the noun belong to it, those with 的 as well.
    (
        "(IP (NP-SBJ (DNP (NP (NR 中国)) (DEG 的)) (NP (NN 经济) (NN 改革))) (VP (VV 成功)))",
        ["中国的经济改革"],
        None,
    ),
    (
        "(IP (NP-SBJ (PN 我)) (VP (VV 看) (NP-OBJ (QP (CD 三) (CLP (M 本))) (ADJP (JJ 旧)) "
        "(NP (NN 书)))))",
        ["我", "三本旧书"],
        None,
    ),
    # A clause is none of it, but has its own.
    (
        "(IP (NP-SBJ (CP (IP (NP-SBJ (PN 我)) (VP (VV 买))) (DEC 的)) (NP (NN 书))) (VP (VV 旧)))",
        ["我", "书"],
        None,
    ),
    # Nor is what stands before the clause, if there is no noun in it.
    (
        "(IP (NP-SBJ (DP (DT 那)) (CP (IP (VP (VV 买))) (DEC 的)) (NP (NR 北京) (NN 地图))) "
        "(VP (VV 旧)))",
        ["北京地图"],
        None,
    ),
    # Coordinated ones are two; with conjunctions and marks, in phrases of their own or not.
    ("(NP (NP (NN 老师)) (CC 和) (NP (NN 学生)))", ["老师", "学生"], None),
    ("(NP (NN 老师) (PU 、) (NN 学生) (CC 和) (NN 工人))", ["老师", "学生", "工人"], None),
    ("(NP (NN 老师) (PU 、) (NN 学生) (ETC 等))", ["老师", "学生等"], ["老师", "学生"]),
    # Prepositions and localizers have noun phrases, and are none.
    (
        "(IP (PP (P 在) (LCP (NP (NN 桌子)) (LC 上))) (VP (VE 有) (NP-OBJ (NN 书))))",
        ["桌子", "书"],
        None,
    ),
    # What only belongs to coordinated nouns is none of its own.
    (
        "(NP (DP (DT 各) (CLP (M 种))) (DNP (NP (NN 城市)) (DEG 的)) (NP (NN 理论)) (CC 和) "
        "(NP (NN 方法)))",
        ["各种城市的理论", "方法"],
        ["城市", "理论", "方法"],
    ),
    (
        "(NP (DNP (NP (NN 城市)) (DEG 的)) (NP (NP (NN 理论)) (CC 和) (NP (NN 方法))))",
        ["城市", "理论", "方法"],
        None,
    ),
    # A time is none.
    (
        "(IP (NP-TMP (NT 昨天)) (NP-SBJ (PN 他)) (VP (VV 写) (NP-OBJ (NN 信))))",
        ["他", "信"],
        None,
    ),
    ("(IP (VP (VV 来)) (PU 。))", [], None),
]


def doc_of(tree: str, folder: Path, vocab: Vocab) -> Doc:
    """A Doc of a tree in brackets, with constituents and heads."""
    path = folder / "tree.bracket"
    path.write_text(f"{tree}\n", "utf-8")
    (doc,) = read_docs(path, vocab, CorpusOptions(head_rules=HeadRuleSet.ctb))
    return doc


def chunks(doc: Doc) -> list[str]:
    return [chunk.text for chunk in doc.noun_chunks]


@pytest.fixture(scope="module")
def nlp() -> Any:
    """A pipeline whose constituents are those that its Docs have."""
    made = spacy.blank("zh")
    made.add_pipe("structreg_constituency")
    return made


@looped(("tree", "expected", "by_heads"), TREES)
def test_base_noun_phrases(
    tree: str, expected: list[str], by_heads: list[str] | None, nlp: Any, tmp_path: Path
) -> None:
    doc = doc_of(tree, tmp_path, nlp.vocab)
    assert chunks(doc) == expected
    assert all(chunk.label_ == "NP" for chunk in doc.noun_chunks)
    del doc.spans["constituents"]
    assert chunks(doc) == (expected if by_heads is None else by_heads)


def test_parts_of_docs(nlp: Any, tmp_path: Path) -> None:
    doc = doc_of(TREES[1][0], tmp_path, nlp.vocab)
    assert [chunk.text for chunk in doc[1:].noun_chunks] == ["三本旧书"]
    assert [chunk.text for chunk in doc[:4].noun_chunks] == ["我"]
    assert list(nlp.vocab.get_noun_chunks(doc[2:])) == list(NounChunks()(doc[2:]))
    assert len(list(NounChunks()(doc[2:]))) == 1


def test_docs_of_all_origins_have_them(nlp: Any, tmp_path: Path) -> None:
    doc = doc_of(TREES[1][0], tmp_path, nlp.vocab)
    expected = ["我", "三本旧书"]
    nlp.to_disk(tmp_path / "nlp")
    loaded = spacy.load(tmp_path / "nlp")
    data = DocBin(docs=[doc]).to_bytes()
    for other in (
        *copies(doc),
        Doc(loaded.vocab).from_bytes(doc.to_bytes()),
        *DocBin().from_bytes(data).get_docs(loaded.vocab),
        *nlp.pipe([doc.copy()]),
        *pickle.loads(pickle.dumps(nlp)).pipe([doc.copy()]),
    ):
        assert chunks(other) == expected
    bare = Vocab()
    with pytest.raises(NotImplementedError):
        list(next(DocBin().from_bytes(data).get_docs(bare)).noun_chunks)
    (before,) = DocBin().from_bytes(data).get_docs(bare)
    give_noun_chunks(bare)
    (stored,) = DocBin().from_bytes(data).get_docs(bare)
    assert chunks(stored) == expected
    give_noun_chunks(before)
    assert chunks(before) == expected


def test_pipes_of_other_pipelines(nlp: Any, tmp_path: Path) -> None:
    """One that is copied there is made by no factory of that pipeline."""
    other = spacy.blank("zh")
    other.add_pipe("structreg_constituency", source=nlp)
    assert other.vocab.get_noun_chunks is None
    made = doc_of(TREES[1][0], tmp_path, other.vocab)
    assert chunks(other(made)) == ["我", "三本旧书"]
    assert isinstance(other.vocab.get_noun_chunks, NounChunks)


def test_pipelines_of_others_stay_as_they_are() -> None:
    english = spacy.blank("en")
    before = english.vocab.get_noun_chunks
    english.add_pipe("structreg_parser")
    english.add_pipe("structreg_constituency")
    assert english.vocab.get_noun_chunks is before
    with pytest.raises(NotImplementedError):
        chunks(spacy.blank("zh")("我"))


def test_tokenizers_of_ours_have_them_for_pipes_to_come() -> None:
    block = {"@architectures": "spacy_structreg.CharacterSegmenter.v1"}
    tokenizer = {"@tokenizers": "spacy_structreg.Segmenter.v1", "model": block}
    config = {"nlp": {"tokenizer": tokenizer}}
    assert isinstance(spacy.blank("zh", config=config).vocab.get_noun_chunks, NounChunks)


def test_span_groups_are_those_of_the_pipe(tmp_path: Path) -> None:
    nlp = spacy.blank("zh")
    nlp.add_pipe("structreg_parser")
    config = {"spans_key": "trees", "extension_prefix": "noun_chunks_test_"}
    nlp.add_pipe("structreg_constituency", config=config)
    doc = doc_of(TREES[4][0], tmp_path, nlp.vocab)
    for token in doc:
        token.dep_ = ""
    doc.spans["trees"] = doc.spans.pop("constituents")
    assert chunks(doc) == ["老师", "学生"]


def test_docs_without_trees(nlp: Any) -> None:
    assert chunks(Doc(nlp.vocab)) == []
    with pytest.raises(ValueError, match="no constituents and no heads"):
        chunks(Doc(nlp.vocab, ["我", "看"]))


def test_a_mark_that_is_taken_for_a_noun_is_none(nlp: Any) -> None:
    doc = Doc(
        nlp.vocab,
        ["他", "。"],
        tags=["PN", "PU"],
        pos=["PRON", "NOUN"],
        heads=[1, 1],
        deps=["nsubj", "ROOT"],
    )
    assert chunks(doc) == ["他"]
    doc.spans["constituents"] = [Span(doc, 1, 2, label="NP")]
    assert chunks(doc) == []


def test_constituents_that_cross_are_refused(nlp: Any) -> None:
    doc = Doc(nlp.vocab, ["我", "看", "书"], tags=["PN", "VV", "NN"])
    doc.spans["constituents"] = [doc.char_span(0, 3, label="IP"), doc.char_span(2, 5, label="NP")]
    with pytest.raises(ValueError, match=r"NP over .* crosses IP"):
        noun_phrases(doc)


def test_noun_chunks_and_entities_are_merged(nlp: Any, tmp_path: Path) -> None:
    tree = "(IP (NP-SBJ (NR 北京) (NN 大学)) (VP (VV 看) (NP-OBJ (ADJP (JJ 旧)) (NP (NN 书)))))"
    for pipe, expected in (
        ("merge_noun_chunks", ["北京大学", "看", "旧书"]),
        ("merge_entities", ["北京大学", "看", "旧", "书"]),
    ):
        doc = doc_of(tree, tmp_path, nlp.vocab)
        doc.set_ents([Span(doc, 0, 2, "ORG")])
        nlp.create_pipe(pipe)(doc)
        assert [token.text for token in doc] == expected
        assert doc[0].tag_ == "NN"
        assert chunks(doc) == ["北京大学", "".join(expected[2:])]
        assert next(iter(doc._.constituents)).text == doc.text
