"""Relations of dependency trees: small trees annotated by hand, and those of a whole treebank."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from looped import looped

from spacy_structreg.corpora.constituents import ConstituencySentence, constituency_sentence
from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.dependency_relations import CTB_RELATIONS, RelationRules
from spacy_structreg.corpora.formats.brackets import read_brackets, trees_with_words
from spacy_structreg.corpora.head_rules import HEAD_RULES, HeadRules
from spacy_structreg.corpora.trees import Tree

TREEBANK = Path(__file__).parents[2] / "treebank"

# Each tree, and the words as `relation(head, word)` in the order of words.
TREES = [
    (
        "(IP (NP-SBJ (PN 我)) (VP (ADVP (AD 也)) (VP (VV 给) (AS 了) (NP-IO (PN 她)) "
        "(NP-OBJ (DP (DT 这) (CLP (M 本))) (NP (NN 书))))) (PU 。))",
        "nsubj(给, 我) advmod(给, 也) root(给) aux:asp(给, 了) iobj(给, 她) det(书, 这) "
        "mark:clf(这, 本) dobj(给, 书) punct(给, 。)",
    ),
    # What depends on function words; a noun and a clause.
    (
        "(IP (PP-LOC (P 在) (LCP (NP (NN 桌子)) (LC 上))) (LCP-TMP (IP (NP-SBJ (-NONE- *pro*)) "
        "(VP (VV 吃饭))) (LC 前)) (LCP-LOC (NP (NN 树)) (LC 下)) (VP (VV 放) (QP-OBJ (CD 三) "
        "(CLP (M 碗)))))",
        "nmod:prep(放, 在) pobj(上, 桌子) pobj(在, 上) pcomp(前, 吃饭) nmod:tmod(放, 前) "
        "pobj(下, 树) advmod:loc(放, 下) root(放) nummod(碗, 三) dobj(放, 碗)",
    ),
    (
        "(IP (NP-LOC (NN 外面)) (NP-TMP (NT 昨天)) (VP (DVP (ADVP (AD 慢慢)) (DEV 地)) "
        "(VP (MSP 来) (VP (VV 下) (QP-EXT (CD 两) (CLP (M 次))) (NP-OBJ (NN 雨))))) (SP 了))",
        "nmod(下, 外面) nmod:tmod(下, 昨天) pcomp(地, 慢慢) advmod:dvp(下, 地) "
        "aux:prtmod(下, 来) root(下) nummod(次, 两) nmod:range(下, 次) dobj(下, 雨) "
        "discourse(下, 了)",
    ),
    # Modifiers of nouns.
    (
        "(NP (DNP (NP (PN 她)) (DEG 的)) (QP (OD 第一) (CLP (M 个))) (CP (WHNP-1 (-NONE- *OP*)) "
        "(CP (IP (NP-SBJ (-NONE- *T*-1)) (VP (VV 养))) (DEC 的))) (ADJP (JJ 小)) (NP (NN 花) "
        "(NN 猫)))",
        "pobj(的, 她) nmod:assmod(猫, 的) nummod(个, 第一) nummod(猫, 个) acl(猫, 养) mark(养, 的) "
        "amod(猫, 小) compound:nn(猫, 花) root(猫)",
    ),
    (
        "(NP (CP-APP (IP (VP (VV 出国))) (DEC 的)) (NP (NN 机会)))",
        "acl(机会, 出国) mark(出国, 的) root(机会)",
    ),
    (
        "(NP (NP (PN 我)) (NP-APP (NN 老师)) (NP-PN (NR 赵云)))",
        "nmod:poss(赵云, 我) appos(赵云, 老师) root(赵云)",
    ),
    ("(NP (ADJP (JJ 唯一)) (DEG 的))", "amod(的, 唯一) root(的)"),
    (
        "(NP (DNP (ADJP (JJ 唯一)) (DEG 的)) (NP (NN 路)) (PRN (PU （) (NP (NN 山路)) (PU ）)))",
        "pcomp(的, 唯一) nmod:assmod(路, 的) root(路) punct(山路, （) "
        "parataxis:prnmod(路, 山路) punct(山路, ）)",
    ),
    # Coordination: a modifier in front of the first noun is none of the conjuncts.
    (
        "(NP (NN 木) (NN 桌子) (PU 、) (NN 椅子) (CC 和) (NN 床) (ETC 等))",
        "compound:nn(床, 木) conj(床, 桌子) punct(床, 、) conj(床, 椅子) cc(床, 和) root(床) "
        "etc(床, 等)",
    ),
    (
        "(NP (PU 《) (NP (NN 茶)) (PU 》) (PU 、) (PU 《) (NP (NN 水)) (PU 》))",
        "punct(水, 《) conj(水, 茶) punct(水, 》) punct(水, 、) punct(水, 《) root(水) "
        "punct(水, 》)",
    ),
    (
        "(IP (IP (NP-SBJ (PN 他)) (VP (VV 来))) (PU ，) (IP (NP-SBJ (PN 我)) (VP (VP (VV 走)) "
        "(CC 并) (VP (VV 跑)))))",
        "nsubj(来, 他) conj(走, 来) punct(走, ，) nsubj(走, 我) root(走) cc(走, 并) conj(走, 跑)",
    ),
    (
        "(IP (VP (VP (VV 坐) (NP-OBJ (NN 车))) (VP (VV 回家))))",
        "root(坐) dobj(坐, 车) conj(坐, 回家)",
    ),
    (
        "(NP (UCP (NP (NN 国内)) (CC 和) (IP (VP (VV 出口)))) (NN 市场))",
        "conj(出口, 国内) cc(出口, 和) dep(市场, 出口) root(市场)",
    ),
    # Clauses.
    (
        "(IP (CP-CND (CS 如果) (IP (VP (VV 下雨)))) (PU ，) (NP-SBJ (PN 我们)) (VP (ADVP (AD 就)) "
        "(VP (ADVP (AD 不)) (VP (VV 能) (VP (VV 去))))))",
        "mark(下雨, 如果) advcl(能, 下雨) punct(能, ，) nsubj(能, 我们) advmod(能, 就) "
        "neg(能, 不) root(能) xcomp(能, 去)",
    ),
    (
        "(IP (CP (ADVP (CS 虽然)) (IP (VP (VA 冷)))) (PU ，) (VP (VV 说) (IP-OBJ (VP (VC 是) "
        "(NP-PRD (NN 春天))))))",
        "mark(冷, 虽然) advcl(说, 冷) punct(说, ，) root(说) ccomp(说, 是) attr(是, 春天)",
    ),
    (
        "(IP (IP-TPC-1 (VP (VA 好))) (PU ，) (NP-VOC (NN 妈妈)) (PU ，) (NP-SBJ (PN 他)) "
        "(VP (VV 说) (IP-OBJ (-NONE- *T*-1))) (EM 😀))",
        "ccomp(说, 好) punct(说, ，) vocative(说, 妈妈) punct(说, ，) nsubj(说, 他) root(说) "
        "discourse(说, 😀)",
    ),
    (
        "(IP (IJ 哎) (NP-TPC (NN 酒)) (IP-SBJ (VP (VV 喝) (ADVP (AD 少)))) (VP (VA 好)))",
        "discourse(好, 哎) nmod:topic(好, 酒) csubj(好, 喝) advmod(喝, 少) root(好)",
    ),
    # 把 and 被 are heads, the latter with an agent alone.
    (
        "(IP (NP-SBJ (PN 他)) (VP (BA 把) (IP-OBJ (NP-SBJ (NN 门)) (VP (VV 关上)))))",
        "nsubj(把, 他) root(把) dobj(关上, 门) ccomp(把, 关上)",
    ),
    (
        "(IP (NP-SBJ-1 (NN 门)) (VP (LB 被) (IP-OBJ (NP-SBJ (NN 风)) (VP (VV 吹开) "
        "(NP-OBJ (-NONE- *-1))))))",
        "nsubjpass(被, 门) root(被) nsubj(吹开, 风) ccomp(被, 吹开)",
    ),
    (
        "(IP (NP-SBJ-1 (NN 门)) (VP (ADVP (AD 又)) (VP (SB 被) (VP (VV 吹开) "
        "(NP-OBJ (-NONE- *-1))))))",
        "nsubjpass(吹开, 门) advmod(吹开, 又) auxpass(吹开, 被) root(吹开)",
    ),
    (
        "(IP (VP (BA 把) (VP (VV 关上))))",
        "aux:ba(关上, 把) root(关上)",
    ),
    # Compounds of verbs, and what stands behind 得.
    (
        "(IP (VP (VRD (VV 洗) (VA 干净)) (NP-OBJ (NN 手))))",
        "root(洗) advmod:rcomp(洗, 干净) dobj(洗, 手)",
    ),
    (
        "(IP (VP (VPT (VV 打) (AD 不) (VV 开))))",
        "root(打) neg(打, 不) advmod:rcomp(打, 开)",
    ),
    (
        "(CP (IP (VP (VNV (VC 是) (AD 不) (VC 是)) (NP-PRD (NN 茶)))) (SP 呢))",
        "compound:vc(是, 是) neg(是, 不) root(是) attr(是, 茶) discourse(是, 呢)",
    ),
    (
        "(IP (VP (VV 跑) (DER 得) (VP (ADVP (AD 很)) (VP (VA 快)))))",
        "root(跑) mark(跑, 得) advmod(快, 很) advmod:rcomp(跑, 快)",
    ),
    # A function word that some other rule makes no head.
    ("(NP (NP (NN 茶)) (DEG 的) (NP (NN 水)))", "compound:nn(水, 茶) case(水, 的) root(水)"),
    # Entities, labels that begin with a hyphen, and a nameless root of two children.
    (
        "((IP (NP-PN-SBJ=ORG (NR 北京) (NN 大学)) (VP (VA 大))) (-LRB- （))",
        "compound:nn(大学, 北京) nsubj(大, 大学) root(大) dep(大, （)",
    ),
]


@cache
def read(path: Path) -> list[Tree]:
    return list(trees_with_words(path))


def converted(tree: Tree) -> ConstituencySentence:
    sentence = constituency_sentence(tree, HEAD_RULES["ctb"])
    assert sentence is not None
    return sentence


def written(sentence: ConstituencySentence) -> str:
    found = sentence.dependencies()
    arcs = zip(found.words, found.heads, found.labels, strict=True)
    return " ".join(
        f"{label}({word})" if head == ROOT else f"{label}({found.words[head or 0]}, {word})"
        for word, head, label in arcs
    )


@looped(("text", "expected"), TREES)
def test_trees_annotated_by_hand(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "trees.bracket"
    path.write_text(text, "utf-8")
    (tree,) = read_brackets(path)
    assert written(converted(tree)) == expected


def test_every_relation_is_annotated_by_hand() -> None:
    names = {
        arc.split("(")[0] for _, expected in TREES for arc in expected.replace(", ", ",").split()
    }
    assert names == {relation for relation, *_ in CTB_RELATIONS.rows} | {"dep", "root"}


def treebank() -> list[Tree]:
    files = sorted(TREEBANK.glob("dev/*.bracket"))
    return [tree for path in files for tree in read(path) if not tree.is_flat]


def test_hardly_a_word_of_a_treebank_is_left_without_relation() -> None:
    counts: Counter[str] = Counter()
    for tree in treebank():
        sentence = converted(tree)
        assert len(sentence.relations) == len(sentence.words)
        roots = [relation == "root" for relation in sentence.relations]
        assert roots == [head == ROOT for head in sentence.heads()]
        counts.update(sentence.relations)
    assert counts["dep"] < 0.02 * counts.total()
    assert counts.keys() <= {relation for relation, *_ in CTB_RELATIONS.rows} | {"dep", "root"}


def test_without_function_tags_there_are_other_relations_but_the_same_heads() -> None:
    kept = {"punct", "conj", "pobj", "acl", "compound:nn", "aux:asp", "mark:clf", "nmod:prep"}
    counts: Counter[str] = Counter()
    for tree in treebank():
        before, after = converted(tree), converted(tree.without_function_tags())
        assert after.heads() == before.heads()
        for relation in kept:
            for word, found in enumerate(before.relations):
                assert found != relation or after.relations[word] == relation
        counts.update(after.relations)
    assert not counts.keys() & {"nsubj", "nsubjpass", "dobj", "iobj", "attr", "vocative", "csubj"}
    assert counts["dep"] < 0.25 * counts.total()


def test_the_first_row_that_fits() -> None:
    rules = RelationRules.from_text("a X|-F\nb * P\nc Y * H\nd Y")
    assert rules.find({"X"}, {"P"}, {"H"}) == "a"
    assert rules.find({"Z", "-F"}, {"Q"}, set()) == "a"
    assert rules.find({"Z"}, {"P"}, set()) == "b"
    assert rules.find({"Y"}, {"Q"}, {"H"}) == "c"
    assert rules.find({"Y"}, {"Q"}, {"I"}) == "d"
    assert rules.find({"Z"}, {"Q"}, {"H"}) == "dep"


@looped("row", ["nsubj", "nsubj NP IP VP more"])
def test_rows_that_are_none(row: str) -> None:
    with pytest.raises(ValueError, match=f"the row '{row}' is not of the form RELATION child"):
        RelationRules.from_text(row)


def test_rules_without_relations_give_none() -> None:
    rules = HeadRules.from_text("NP r NN")
    tree = Tree("NP", (Tree("NN", word="茶"), Tree("NN", word="水")))
    sentence = constituency_sentence(tree, rules)
    assert sentence is not None
    assert sentence.relations == ()
    assert sentence.dependencies().labels == ("dep", "root")
    # Other heads have other relations.
    assert converted(tree).relations == ("compound:nn", "root")
    assert converted(tree).with_heads(rules).relations == ()


def test_as_many_relations_as_words() -> None:
    with pytest.raises(ValueError, match="'茶': 2 relations for 1 words; give one for each"):
        ConstituencySentence(("茶",), ("NN",), (), ("root", "dep"))


def test_deep_trees_are_no_burden() -> None:
    tree = Tree("NN", word="茶")
    for _ in range(4_000):
        tree = Tree("NP-SBJ", (Tree("ADJP", (Tree("JJ", word="大"),)), tree))
    assert converted(tree).relations == ("amod",) * 4_000 + ("root",)


class CountedWord(str):
    """A word that counts how often words are looked up in sets."""

    lookups = 0

    def __hash__(self) -> int:
        CountedWord.lookups += 1
        return super().__hash__()


def test_wide_phrases_are_no_burden() -> None:
    # Between the conjuncts, only the last mark stands for a conjunction.
    n_marks = 10_000
    marks = [Tree("PU", word=CountedWord("》")) for _ in range(n_marks)]
    comma = Tree("PU", word=CountedWord("、"))
    tree = Tree("NP", (Tree("NN", word="茶"), *marks, comma, Tree("NN", word="水")))
    CountedWord.lookups = 0
    relations = CTB_RELATIONS.relations(
        tree, lambda category, children: len(children) - 1, root="ROOT"
    )
    assert relations == ("conj", *["punct"] * (n_marks + 1), "root")
    assert CountedWord.lookups < 10 * n_marks
