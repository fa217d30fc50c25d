"""The Sinica Treebank: trees and heads from its notation, and lines that are none of it."""

from __future__ import annotations

import lzma
import re
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from looped import looped
from random_trees import sentences_with_trees

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.formats.sinica import sinica_sentences
from spacy_structreg.corpora.trees import Tree


def read(tmp_path: Path, *lines: str) -> list[ConstituencySentence]:
    path = tmp_path / "parsed"
    path.write_text("\n".join(lines), "utf-8")
    return list(sinica_sentences(path))


def parse(tmp_path: Path, tree: str) -> ConstituencySentence:
    (found,) = read(tmp_path, f"#1:1.[0] {tree}#。(PERIODCATEGORY)")
    return found


def test_worked_by_hand(tmp_path: Path) -> None:
    found = parse(
        tmp_path,
        "S(agent:NP(property:N‧的(head:Nhaa:我|Head:DE:的)|Head:Nab:貓)"
        "|location:PP(Head:P21:在|DUMMY:NP(Head:Nab:椅子|Head:Ncda:上))"
        "|Head:VA4[+ASP]:睡著了)",
    )
    assert found.words == ("我", "的", "貓", "在", "椅子", "上", "睡著了")
    assert found.tags == ("Nhaa", "DE", "Nab", "P21", "Nab", "Ncda", "VA4")
    assert [(row.label, row.begin, row.end, row.head) for row in found.constituents] == [
        ("S", 0, 7, 6),
        ("NP", 0, 3, 2),
        ("N‧的", 0, 2, 1),
        ("PP", 3, 6, 3),
        ("NP", 4, 6, 4),
    ]
    assert found.heads() == (1, 2, 6, 6, 3, 4, ROOT)


@looped(
    ("parts", "head"),
    [
        ("theme:X:a|Head:X:b|goal:X:c", 1),
        # The head of the grammar goes before that of the meaning, wherever it stands.
        ("head:X:a|Head:X:b", 1),
        ("Head:X:a|head:X:b", 0),
        ("theme:X:a|head:X:b|aspect:X:c", 1),
        # A conjunction heads the coordination, and a preposition its object.
        ("DUMMY1:X:a|Head:Caa:b|DUMMY2:X:c", 1),
        ("Head:X:a|DUMMY:X:b", 0),
        ("condition:X:a|DUMMY:X:b", 1),
        ("quantifier:X:a|DUMMY1:X:b|DUMMY2:X:c", 1),
        # Several heads, and none.
        ("degree:X:a|Head:X:b|negation:X:c|Head:X:d", 1),
        ("quantifier:X:a|property:X:b", 1),
        # A mark twice.
        ("theme:X:a|Head:Head:X:b|goal:X:c", 1),
        ("Head:X:a|head:Head:X:b", 0),
    ],
)
def test_which_part_is_the_head(tmp_path: Path, parts: str, head: int) -> None:
    assert parse(tmp_path, f"NP({parts})").constituents[0].head == head


@looped(
    ("tree", "left"),
    [
        ("NP(Head:NP(Head:Nab:貓))", "(NP (Nab 貓))"),
        ("NP(Head:NP[+theme](Head:NP(Head:Nab:貓)))", "(NP (Nab 貓))"),
        ("NP(Head:NP(Head:Nab:貓)|quantifier:Naeb:們)", "(NP (NP (Nab 貓)) (Naeb 們))"),
        ("NP(Head:GP(Head:NP(Head:Nab:貓)))", "(NP (GP (NP (Nab 貓))))"),
        ("VP(Head:Caa[P1}:又|DUMMY1:VH[+NEG,+DE]:冷)", "(VP (Caa 又) (VH 冷))"),
        ("Nab:貓", "(Nab 貓)"),
        # What would be part of the notation elsewhere.
        ("NP(Head:Nab:#)", "(NP (Nab #))"),
        ("NP(Head:Nab:]|Head:Nab:　)", "(NP (Nab -RSB-) (Nab 　))"),
    ],
)
def test_what_a_tree_comes_to(tmp_path: Path, tree: str, left: str) -> None:
    assert parse(tmp_path, tree).tree().to_bracket() == left


def written(tree: Tree, phrases: Iterator[Constituent], begin: int, role: str) -> tuple[str, int]:
    """A tree in the notation of the treebank, with the heads of phrases marked; and its end."""
    if tree.is_leaf:
        return f"{role}{tree.label}:{tree.word}", begin + 1
    phrase = next(phrases)
    parts, at = [], begin
    for child in tree.children:
        is_head = at <= phrase.head < at + len(child.leaves())
        part, at = written(child, phrases, at, "Head:" if is_head else "theme:")
        parts.append(part)
    return f"{role}{tree.label}({'|'.join(parts)})", at


@given(sentences_with_trees(tags=["Nab", "VA", "的"], labels=["S", "NP", "N‧的"]))
def test_any_tree_and_its_heads(sentence: ConstituencySentence) -> None:
    # What is the only part of a phrase of the same label is taken off, and equal to that phrase.
    phrases = sentence.constituents
    kept = [phrase for above, phrase in pairwise((None, *phrases)) if phrase != above]
    text, _ = written(sentence.tree(), iter(phrases), 0, "")
    with tempfile.TemporaryDirectory() as folder:
        found = parse(Path(folder), text)
    assert (found.words, found.tags) == (sentence.words, sentence.tags)
    assert list(found.constituents) == kept


def test_lines(tmp_path: Path) -> None:
    lines = [
        "#1:1.[12] VP(Head:VA:來)#，(COMMACATEGORY)",
        "",
        "#2:.[] VP(Head:VA:去)#",
        "#3:2.1.[7]VP(Head:VA:走)#。」(PERIODCATEGORY)",
    ]
    assert [found.words for found in read(tmp_path, *lines)] == [("來",), ("去",), ("走",)]


@looped(
    ("tree", "fault"),
    [
        ("", "nothing stands before #"),
        ("NP()", r"nothing stands before \)"),
        ("NP(Head:Nab:a|)", r"nothing stands before \)"),
        ("NP(|Head:Nab:a)", r"nothing stands before \|"),
        ("NP(Head:Nab:a||Head:Nab:b)", r"nothing stands before \|"),
        ("(Head:Nab:a)", r"nothing stands before \("),
        ("NP(Head:(Head:Nab:a))", "'Head:' is not of the form role:LABEL"),
        ("NP(Head:Nab:a", "1 closing brackets are missing"),
        ("NP(Head:NP(Head:Nab:a)|Head:Nab:b", "1 closing brackets are missing"),
        ("NP(Head:Nab:a))", r"\) stands outside of brackets"),
        ("Nab:a|Nab:b", r"\| stands outside of brackets"),
        ("NP(Head:Nab:a)|NP(Head:Nab:a)", r"\| stands outside of brackets"),
        ("NP(Head:Nab:a)NP(Head:Nab:a)", r"'NP\(' stands right behind a bracket"),
        ("NP(Head:NP(Head:Nab:a)Head:Nab:b)", r"'Head:Nab:b\)' stands right behind a bracket"),
        ("NP(Head:NP(Head:Nab:a)(Head:Nab:b))", r"'\(' stands right behind a bracket"),
        ("theme:NP(Head:Nab:a)", r"'theme:NP' is not of the form LABEL\("),
        ("NP(NP(Head:Nab:a))", r"'NP' is not of the form role:LABEL\("),
        ("NP(Nab:a)", "'Nab:a' is not of the form role:TAG:word"),
        ("NP(a)", "'a' is not of the form role:TAG:word"),
        ("NP(Head:Nab:)", "'Head:Nab:' is not of the form"),
        ("NP(:Nab:a)", "':Nab:a' is not of the form"),
        ("NP(Head::a)", "'Head::a' is not of the form"),
        ("NP(theme:Head:Nab:a)", "'theme:Head:Nab:a' is not of the form"),
        ("NP(Head:theme:Nab:a)", "'Head:theme:Nab:a' is not of the form"),
        ("NP(Head:[+ASP]:a)", "has features in brackets and no label"),
        ("NP(Head:Nab:a b)", "'Head:Nab:a b' has white space in it"),
        ("NP(Head:" + "x" * 90 + ")", "'Head:x{35}…' is not of the form"),
    ],
)
def test_lines_that_are_no_trees(tmp_path: Path, tree: str, fault: str) -> None:
    with pytest.raises(CorpusError, match=f"parsed:2: .*{fault}"):
        read(tmp_path, "#1[1] VP(Head:VA:來)#。", f"#2[2] {tree}#。(PERIODCATEGORY)")


@looped(
    "line",
    [
        "VP(Head:VA:來)",
        "#1 VP(Head:VA:來)#。",
        "#1[1] VP(Head:VA:來)",
        "#1[1]",
        "#",
        "[]#",
        "x" * 99,
        # With two repeats side by side that both take it, this would not end.
        "#1[1]" + "\t" * 1_000_000,
    ],
)
def test_lines_that_are_none_of_the_treebank(tmp_path: Path, line: str) -> None:
    with pytest.raises(CorpusError, match=r"parsed:1: .* is no line of the treebank"):
        read(tmp_path, line)


def test_deep_trees_are_no_burden(tmp_path: Path) -> None:
    depth = 20_000
    found = parse(
        tmp_path, "S(" + "Head:S(Head:VP(" * depth + "Head:VA:來" + "))" * depth + "|theme:Nab:貓)"
    )
    assert len(found.constituents) == 2 * depth + 1
    assert found.heads() == (ROOT, 0)
    with pytest.raises(CorpusError, match=f"{depth} closing brackets are missing"):
        parse(tmp_path, "S(" + "Head:S(" * (depth - 1) + "Head:VA:來")


def test_the_sample_of_the_corpus(data_folder: Path) -> None:
    path = data_folder / "sinica-treebank/parsed.xz"
    sentences = list(sinica_sentences(path))
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        words = [tuple(re.findall(r":([^:()|#]+)(?=[|)])", line)) for line in stream]
    assert [found.words for found in sentences] == words
    assert (len(words), sum(map(len, words))) == (10_000, 91_634)
    # 59,215 opening brackets, 16 of them of phrases that are the only part of one of their label.
    assert sum(len(found.constituents) for found in sentences) == 59_199
    assert all(found.heads().count(ROOT) == 1 for found in sentences)
