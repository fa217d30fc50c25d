"""Trees as lists of constituents: there and back, heads, and lists that make no tree."""

from __future__ import annotations

import copy
import pickle
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from looped import looped
from random_trees import TAGS, sentences_with_trees

from spacy_structreg.corpora.constituents import (
    ConstituencySentence,
    Constituent,
    constituency_sentence,
)
from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.dependencies import ROOT, is_projective
from spacy_structreg.corpora.formats.brackets import constituency_sentences, read_brackets
from spacy_structreg.corpora.head_rules import HeadRules
from spacy_structreg.corpora.trees import Tree

RULES = HeadRules.from_text("S l VP|VB; r\nNP r NN; r\nVP l VB ADVP; l\nROOT r S; l")


def read(tmp_path: Path, text: str) -> Tree:
    path = tmp_path / "trees.bracket"
    path.write_text(text, "utf-8")
    (tree,) = read_brackets(path)
    return tree


def converted(tree: Tree, rules: HeadRules = RULES) -> ConstituencySentence:
    sentence = constituency_sentence(tree, rules)
    assert sentence is not None
    return sentence


def sentence(words: str, *phrases: tuple[str, int, int, int]) -> ConstituencySentence:
    return ConstituencySentence(
        tuple(words.split()),
        ("T",) * len(words.split()),
        tuple(Constituent(*row) for row in phrases),
    )


def test_worked_by_hand(tmp_path: Path) -> None:
    text = """
    ( (S (NP-SBJ-1 (DT the) (NN dog))
         (VP (VB wants) (NP (-NONE- *T*)) (S (NP (-NONE- *-1)) (VP (VP (VB out)))))
         (. .)))
    """
    found = converted(read(tmp_path, text))
    assert found == ConstituencySentence(
        ("the", "dog", "wants", "out", "."),
        ("DT", "NN", "VB", "VB", "."),
        (
            Constituent("S", 0, 5, 2),
            Constituent("NP", 0, 2, 1),
            Constituent("VP", 2, 4, 2),
            Constituent("S", 3, 4, 3),
            Constituent("VP", 3, 4, 3),
        ),
    )
    assert found.parents() == [None, 0, 0, 2, 3]
    assert found.heads() == (1, 2, ROOT, 2, 2)
    dependencies = found.dependencies()
    assert (dependencies.words, dependencies.tags) == (found.words, found.tags)
    assert dependencies.heads == found.heads()
    assert dependencies.labels == ("dep", "dep", "root", "dep", "dep")
    assert found.tree().to_bracket() == (
        "(S (NP (DT the) (NN dog)) (VP (VB wants) (S (VP (VB out)))) (. .))"
    )


@looped(
    ("text", "left"),
    [
        # A root that is nameless, or called ROOT or TOP, is taken off if it has one child only.
        ("((S (NN a) (VB b)))", "(S (NN a) (VB b))"),
        ("(TOP (S (NN a)))", "(S (NN a))"),
        ("(ROOT (S (NN a)) (. .))", "(ROOT (S (NN a)) (. .))"),
        ("((S (NN a)) (. .))", "(ROOT (S (NN a)) (. .))"),
        ("((NN a))", "(NN a)"),
        ("(NN a)", "(NN a)"),
        ("(NP (NP-X (NP=1 (NN a))))", "(NP (NN a))"),
        ("(NP (S (NP (NN a))))", "(NP (S (NP (NN a))))"),
    ],
)
def test_what_is_left_of_a_tree(tmp_path: Path, text: str, left: str) -> None:
    assert converted(read(tmp_path, text)).tree().to_bracket() == left


def test_trees_without_words(tmp_path: Path) -> None:
    nothing = read(tmp_path, "(NP (-NONE- *pro*))")
    assert constituency_sentence(nothing, RULES) is None
    path = tmp_path / "trees.bracket"
    path.write_text("(NP (-NONE- *pro*))\n(NP (NN 茶))", "utf-8")
    assert [found.words for found in constituency_sentences(path, "ctb")] == [("茶",)]
    assert [found.words for found in constituency_sentences(path, RULES)] == [("茶",)]
    path.write_text("(NP (-NONE- *pro*))", "utf-8")
    with pytest.raises(CorpusError, match="no tree of the file has a word"):
        list(constituency_sentences(path, "ctb"))
    with pytest.raises(ValueError, match="no head rules 'cdt'"):
        list(constituency_sentences(path, "cdt"))  # type: ignore[arg-type]


def test_flat_sentences_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "trees.bracket"
    flat = "( (FLAT (NP=ORG (NR 临江市) (NN 图书馆)) (VV 开放)))\n"
    path.write_text(flat + "( (NP (NN 茶)))\n" + flat, "utf-8")
    assert [found.words for found in constituency_sentences(path, "ctb")] == [("茶",)]
    path.write_text(flat, "utf-8")
    with pytest.raises(CorpusError, match="all sentences of the file are FLAT"):
        list(constituency_sentences(path, "ctb"))


def plain_tree(found: ConstituencySentence) -> Tree:
    """The tree of a list of constituents, by taking what lies in each over and over."""

    def node(number: int) -> Tree:
        phrase = found.constituents[number]
        children: list[Tree] = []
        word, below = phrase.begin, number + 1
        while word < phrase.end:
            part = found.constituents[below] if below < len(found.constituents) else None
            if part is not None and part.begin == word and part.end <= phrase.end:
                children.append(node(below))
                below += count_nodes(children[-1])
                word = part.end
            else:
                children.append(Tree(found.tags[word], word=found.words[word]))
                word += 1
        return Tree(phrase.label, tuple(children))

    return node(0) if found.constituents else Tree(found.tags[0], word=found.words[0])


def count_nodes(tree: Tree) -> int:
    return 0 if tree.is_leaf else 1 + sum(map(count_nodes, tree.children))


def plain_heads(found: ConstituencySentence) -> list[int]:
    """The head of a word is that of the innermost constituent that it does not head."""
    heads = []
    for word in range(len(found.words)):
        others = [
            phrase
            for phrase in found.constituents
            if phrase.begin <= word < phrase.end and phrase.head != word
        ]
        heads.append(min(others, key=lambda one: one.end - one.begin).head if others else ROOT)
    return heads


def plain_parents(found: ConstituencySentence) -> list[int | None]:
    """The parent is the last before that holds it."""
    return [
        max(
            (
                other
                for other in range(number)
                if found.constituents[other].begin <= phrase.begin
                and phrase.end <= found.constituents[other].end
            ),
            default=None,
        )
        for number, phrase in enumerate(found.constituents)
    ]


@given(sentences_with_trees())
def test_parents_heads_and_tree_are_those_of_plain_twins(found: ConstituencySentence) -> None:
    assert found.parents() == plain_parents(found)
    assert list(found.heads()) == plain_heads(found)
    assert found.tree() == plain_tree(found)
    dependencies = found.dependencies()
    assert dependencies.heads.count(ROOT) == 1
    assert is_projective(dependencies.heads)
    assert dependencies.labels.index("root") == dependencies.heads.index(ROOT)


def head_by_rules(tree: Tree, first: int, rules: HeadRules) -> tuple[int, int]:
    """The head word of a tree and the number of its words."""
    if tree.is_leaf:
        return first, 1
    heads, n_words = [], 0
    for child in tree.children:
        head, more = head_by_rules(child, first + n_words, rules)
        heads.append(head)
        n_words += more
    return heads[rules.head(tree.label, [child.label for child in tree.children])], n_words


def with_other_heads(found: ConstituencySentence) -> tuple[Constituent, ...]:
    """The constituents headed by their first words."""
    return tuple(phrase._replace(head=phrase.begin) for phrase in found.constituents)


@given(sentences_with_trees(tags=[tag for tag in TAGS if tag]))
def test_from_tree_to_constituents_and_back(source: ConstituencySentence) -> None:
    tree = source.tree().collapse_unaries()
    found = converted(tree)
    assert found.tree() == tree
    assert (found.words, found.tags) == (source.words, source.tags)
    # Pre-order of both goes together.
    nodes = [node for node in tree.nodes() if not node.is_leaf]
    assert [phrase.label for phrase in found.constituents] == [node.label for node in nodes]
    for phrase, node in zip(found.constituents, nodes, strict=True):
        head, n_words = head_by_rules(node, phrase.begin, RULES)
        assert (phrase.head, phrase.end - phrase.begin) == (head, n_words)
    assert (
        ConstituencySentence(source.words, source.tags, with_other_heads(found)).with_heads(RULES)
        == found
    )


def test_all_lists_over_three_words_are_trees_or_refused() -> None:
    """Any two constituents must be apart, the left one first, or one in the other, after it.

    The head of the outer one, if it is in the inner one, must be the head of that, too.
    """
    phrases = [
        Constituent("X", begin, end, head)
        for begin, end in combinations(range(5), 2)
        for head in range(begin, end)
    ]
    words, tags = ("a", "b", "c"), ("T", "T", "T")
    n_trees = 0
    for number in range(4):
        for chosen in product(phrases, repeat=number):
            is_tree = bool(chosen) and (chosen[0].begin, chosen[0].end) == (0, 3)
            for first, then in combinations(chosen, 2):
                within = first.begin <= then.begin and then.end <= first.end
                headed = not then.begin <= first.head < then.end or then.head == first.head
                is_tree &= (within and headed) or (then.begin >= first.end and then.end <= 3)
            n_trees += is_tree
            try:
                ConstituencySentence(words, tags, chosen)
            except ValueError:
                assert not is_tree, chosen
            else:
                assert is_tree, chosen
    assert n_trees > 50


@looped(
    ("words", "phrases", "fault"),
    [
        ("", [], "a sentence without words"),
        ("a b", [], "no constituent covers all of its 2 words"),
        ("a b", [("X", 0, 1, 0)], "X over the words 0 to 0 lies in no other"),
        ("a b", [("X", 1, 2, 1)], "X over the words 1 to 1 lies in no other"),
        ("a b", [("X", 0, 3, 0)], "X over the words 0 to 2 lies in no other"),
        ("a b", [("X", 0, 2, 0), ("Y", 2, 3, 2)], "Y over the words 2 to 2 lies in no other"),
        ("a b", [("X", 0, 2, 1), ("Y", 1, 3, 1)], "Y over the words 1 to 2 and X .* overlap"),
        ("a b c", [("X", 0, 3, 0), ("Y", 0, 2, 0), ("Z", 1, 3, 1)], "Z .* and Y .* overlap"),
        # Not in pre-order: a part before what holds it, and the right before the left.
        ("a b c", [("X", 0, 3, 0), ("Y", 0, 1, 0), ("Z", 0, 2, 0)], "Z .* and Y .* pre-order"),
        ("a b c", [("X", 0, 3, 0), ("Y", 1, 2, 1), ("Z", 0, 1, 0)], "Z .* and Y .* pre-order"),
        ("a b c", [("X", 0, 3, 0), ("Y", 0, 2, 1)], "X .* headed by word 0, .* of its part Y"),
        # What is no phrase.
        *(
            ("a b", [("X", begin, end, head)], f"X over the words {begin} to before {end}")
            for begin, end, head in ((0, 0, 0), (1, 0, 0), (0, 1, 1), (1, 2, 0), (-1, 1, 0))
        ),
        ("a", [("", 0, 1, 0)], "no label"),
    ],
)
def test_lists_that_make_no_tree(
    words: str, phrases: list[tuple[str, int, int, int]], fault: str
) -> None:
    with pytest.raises(ValueError, match=fault):
        sentence(words, *phrases)


@looped(
    ("words", "tags", "fault"),
    [
        ("ab", ("X", "Y"), "give a tuple of words and a tuple of tags, not a string"),
        (("a", "b"), "XY", "give a tuple of words and a tuple of tags, not a string"),
        (("a", "b"), ("T",), "'a b': 1 tags for 2 words"),
        (("a", ""), ("T", "T"), "word 1 is empty"),
    ],
)
def test_sentences_that_are_none(words: Any, tags: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        ConstituencySentence(words, tags, (Constituent("X", 0, 2, 0),))


@looped(
    ("words", "word", "heads"),
    [
        (("a",), "a", (ROOT,)),
        ((" ", "a", "\n"), "a", (1, ROOT, 1)),
        ((" ", "  "), " ", (ROOT, 0)),
    ],
)
def test_one_word_without_constituents(
    words: tuple[str, ...], word: str, heads: tuple[int, ...]
) -> None:
    found = ConstituencySentence(words, ("T",) * len(words), ())
    assert found.tree() == Tree("T", word=word)
    assert found.heads() == found.dependencies().heads == heads
    assert found.with_heads(RULES) == found
    assert found.parents() == []


def test_deep_trees_are_no_burden() -> None:
    depth = 4_000
    tree = Tree("NN", word="a")
    for _ in range(depth // 2):
        tree = Tree("S", (Tree("NP", (tree,)),))
    found = converted(tree)
    assert found.constituents == (
        Constituent("S", 0, 1, 0),
        Constituent("NP", 0, 1, 0),
    ) * (depth // 2)
    assert found.parents() == [None, *range(depth - 1)]
    assert found.tree() == tree
    assert found.heads() == (ROOT,)
    assert copy.deepcopy(found) == pickle.loads(pickle.dumps(found)) == found
    assert hash(found) == hash(converted(tree))

    for _ in range(depth):
        tree = Tree("S", (tree, Tree("VB", word="b")))
    long = converted(tree)
    # Each VB heads its S, over that on the left.
    assert long.heads() == (*range(1, depth + 1), ROOT)
    assert long.tree() == tree
