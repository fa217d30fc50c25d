"""Head rules, and dependency trees made by them."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest
from looped import looped

from spacy_structreg.corpora.constituents import constituency_sentence
from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.formats.brackets import constituency_sentences, read_brackets
from spacy_structreg.corpora.head_rules import HEAD_RULES, HeadRules, head_rules
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.tag_maps import TAG_MAPS
from spacy_structreg.corpora.trees import Tree


@looped(
    ("label", "children", "head"),
    [
        # The first category that some child bears; of several such children the rightmost.
        ("IP", "NP VP PU", 1),
        ("IP", "IP PU IP PU", 2),
        ("NP", "NP CC NP", 2),
        ("NP", "ADJP NP NN", 1),
        ("NP", "NR NN", 1),
        ("NP", "NR QP", 0),
        ("CP", "IP DEC", 0),
        ("CP", "WHNP CP", 1),
        ("DNP", "NP DEG", 1),
        ("PP", "P NP", 0),
        ("VP", "VV AS NP", 0),
        # VC goes before VV, and VV before VP, from the left.
        ("VP", "PP VP", 1),
        ("VP", "VP PU VP", 0),
        ("VP", "VV VC", 1),
        ("VRD", "VV VA", 0),
        ("VSB", "VV VV", 1),
        ("LCP", "NP LC", 1),
        ("QP", "CD CLP", 1),
        ("QP", "QP CC QP", 2),
        # A step of another side.
        ("DP", "DT CLP", 0),
        ("DP", "DT M", 1),
        ("DP", "DT DT", 0),
        # No child of the rule: the outermost child.
        ("DP", "QP CLP", 0),
        ("FRAG", "AD PU", 0),
        ("PRN", "PU NP PU", 1),
        ("INTJ", "IJ PU", 0),
    ],
)
def test_rules_of_the_chinese_treebank(label: str, children: str, head: int) -> None:
    assert HEAD_RULES["ctb"].head(label, children.split()) == head


@looped(
    ("label", "children", "head"),
    [
        ("S", "NP VP .", 1),
        ("NP", "DT JJ NN", 2),
        ("NP", "NP PP", 0),
        ("NP", "NNP POS", 1),
        ("VP", "TO VP", 1),
        ("VP", "MD VP", 0),
        ("VP", "VBZ ADVP VBN", 2),
        ("PRN", ", NP , -RRB-", 1),
        ("X", ": .", 1),
        # Of a category of two, the first counts.
        ("PRT|ADVP", "NN RP", 1),
        ("VP", "RB ADJP|ADVP", 1),
    ],
)
def test_rules_of_the_penn_treebank(label: str, children: str, head: int) -> None:
    assert HEAD_RULES["ptb"].head(label, children.split()) == head


def test_rules_of_ones_own() -> None:
    rules = HeadRules.from_text("A l x|y z; r w; l", punctuation=["."])
    assert [
        rules.head("A", children.split())
        for children in ("z y x", "w z", "w q w", "q q", ". q", ". .", "x")
    ] == [1, 1, 2, 0, 1, 0, 0]
    assert rules.head("B", ["x", "y", "."]) == 1


@looped(
    ("text", "fault"),
    [
        ("A", "begins with no side"),
        ("A l x; y", "the step 'y' of the row 'A l x; y' begins with no side"),
        ("A l x;", "the step '' of the row"),
        ("A l x\nA r y", "a second row for A"),
    ],
)
def test_rows_that_are_no_rules(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        HeadRules.from_text(text)


def test_a_name_that_nobody_knows() -> None:
    with pytest.raises(ValueError, match="no head rules 'cdt'; take ctb or ptb"):
        head_rules("cdt")


def trees(tmp_path: Path, text: str) -> Iterator[Tree]:
    path = tmp_path / "trees.bracket"
    path.write_text(text, "utf-8")
    return read_brackets(path)


def dependencies(tree: Tree, rules: HeadRules) -> Sentence:
    sentence = constituency_sentence(tree, rules)
    assert sentence is not None
    return sentence.dependencies()


def test_a_chinese_tree_worked_by_hand(tmp_path: Path) -> None:
    text = """
    ( (IP (NP-SBJ (CP (WHNP-1 (-NONE- *OP*))
                      (CP (IP (NP-SBJ (-NONE- *T*-1))
                              (VP (ADVP (AD 昨天)) (VP (VV 来) (AS 了))))
                          (DEC 的)))
                  (NP (NN 客人)))
          (VP (VV 喝) (NP-OBJ (QP (CD 三) (CLP (M 杯))) (NP (NN 茶))))
          (PU 。)))
    """
    (tree,) = trees(tmp_path, text)
    sentence = dependencies(tree, HEAD_RULES["ctb"])
    assert sentence.words == ("昨天", "来", "了", "的", "客人", "喝", "三", "杯", "茶", "。")
    assert sentence.tags == ("AD", "VV", "AS", "DEC", "NN", "VV", "CD", "M", "NN", "PU")
    # The clause heads its CP, so that 的 depends on 来, and 来 on 客人.
    assert sentence.heads == (1, 4, 1, 1, 5, ROOT, 7, 8, 5, 5)
    labels = "advmod acl aux:asp mark nsubj root nummod nummod dobj punct"
    assert " ".join(filter(None, sentence.labels)) == labels
    # A nameless root of several children.
    (tree,) = trees(tmp_path, "( (IP (VP (VV 来))) (PU 。))")
    assert dependencies(tree, HEAD_RULES["ctb"]).heads == (ROOT, 0)


def test_an_english_tree_worked_by_hand(tmp_path: Path) -> None:
    text = """
    (S (NP-SBJ-1 (NP (DT The) (NN man) (POS 's)) (NN dog))
       (VP (VBD wanted)
           (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB bark) (PRT|ADVP (RP out))))))
       (. .))
    """
    (tree,) = trees(tmp_path, text)
    sentence = dependencies(tree, HEAD_RULES["ptb"])
    assert sentence.words == ("The", "man", "'s", "dog", "wanted", "to", "bark", "out", ".")
    # The possessive heads its phrase, and the verb its infinitive.
    assert sentence.heads == (2, 2, 3, 4, ROOT, 6, 4, 6, 4)
    # These rules give no relations.
    assert sentence.labels == ("dep",) * 4 + ("root",) + ("dep",) * 4


def test_english_heads_are_those_that_nltk_gives_out(data_folder: Path) -> None:
    """They were made by another program from the same trees."""
    with lzma.open(data_folder / "ptb-sample/dependency.dp.xz", "rt", encoding="ascii") as stream:
        blocks = stream.read().split("\n\n")
    expected = [
        [int(row.split("\t")[2]) - 1 for row in block.splitlines() if row]
        for block in blocks
        if block.strip()
    ]
    trees = list(constituency_sentences(data_folder / "ptb-sample/combined.mrg.xz", "ptb"))
    assert [list(tree.heads()) for tree in trees] == expected
    # All of their tags have universal ones.
    assert {tag for tree in trees for tag in tree.tags} <= set(TAG_MAPS["ptb"])
