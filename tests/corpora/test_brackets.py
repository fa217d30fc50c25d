"""Bracketed trees: examples, faults with their lines, round trips, any depth."""

from __future__ import annotations

import copy
import pickle
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.corpora.any_format import read_sentences
from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.formats.brackets import marks_entities, read_brackets
from spacy_structreg.corpora.trees import Tree, escaped_word, plain_word

LDC_FILE = """\
<DOC>
<DOCID> EXAMPLE_001 </DOCID>
<HEADER>
<DATE> 2026-11-20 </DATE>
</HEADER>
<BODY>
<P>
<S ID=1>
( (IP-HLN (NP-SBJ (-NONE- *pro*))
          (VP (VV 欢迎)
              (NP-OBJ (NN 读者)))) )
</S>
<S ID=2>
( (FRAG (NP (-NONE- *)) (PU 。)) ) ( (NP (NT-SHORT 今) (-LRB- -LRB-)) )
</S>
</P>
</BODY>
</DOC>
"""


def leaf(tag: str, word: str) -> Tree:
    return Tree(tag, word=word)


def node(label: str, *children: Tree) -> Tree:
    return Tree(label, children)


def read(tmp_path: Path, text: str) -> list[Tree]:
    path = tmp_path / "trees.mrg"
    path.write_bytes(text.encode())
    return list(read_brackets(path))


symbols = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="() \t\n\r\v\f\0"),
    min_size=1,
    max_size=4,
)
labels = st.sampled_from(["IP", "NP-SBJ", "NP=2", "-NONE-", "<P>", "X-1=2"]) | symbols
leaves = st.builds(lambda tag, word: Tree(tag, word=word), labels, symbols)
named_trees = st.recursive(
    leaves,
    lambda trees: st.builds(
        lambda label, children: Tree(label, tuple(children)),
        labels,
        st.lists(trees, min_size=1, max_size=3),
    ),
    max_leaves=12,
)
trees = named_trees | st.builds(lambda tree: Tree("", (tree,)), named_trees)


def recursive_bracket(tree: Tree) -> str:
    """The notation, by its obvious definition."""
    if tree.word is not None:
        names = dict(zip("()[]{}", ["LRB", "RRB", "LSB", "RSB", "LCB", "RCB"], strict=True))
        word = "".join(f"-{names[each]}-" if each in names else each for each in tree.word)
        for escaped in ("\\/", "\\*"):
            word = word.replace(escaped, "\\" + escaped)
        return f"({tree.label} {word})"
    return f"({tree.label} {' '.join(map(recursive_bracket, tree.children))})"


def recursive_without_empties(tree: Tree) -> Tree | None:
    if tree.word is not None:
        return None if tree.label == "-NONE-" else tree
    children = [recursive_without_empties(child) for child in tree.children]
    kept = tuple(child for child in children if child is not None)
    return Tree(tree.label, kept) if kept else None


class TestReading:
    def test_ldc_file(self, tmp_path: Path) -> None:
        expected = [
            node(
                "",
                node(
                    "IP-HLN",
                    node("NP-SBJ", leaf("-NONE-", "*pro*")),
                    node("VP", leaf("VV", "欢迎"), node("NP-OBJ", leaf("NN", "读者"))),
                ),
            ),
            node("", node("FRAG", node("NP", leaf("-NONE-", "*")), leaf("PU", "。"))),
            node("", node("NP", leaf("NT-SHORT", "今"), leaf("-LRB-", "("))),
        ]
        assert read(tmp_path, LDC_FILE) == expected

    @looped("text", ["(ROOT (NN 书))", "(TOP(NN 书))", "((NN 书))", "(\n(\nNN\n书\n)\t)"])
    def test_roots(self, tmp_path: Path, text: str) -> None:
        (tree,) = read(tmp_path, text)
        assert tree.children == (leaf("NN", "书"),)
        assert tree.without_root() == leaf("NN", "书")
        # A leaf of that label, or a phrase of another one, is none.
        for other in (leaf("ROOT", "根"), node("IP", leaf("NN", "书"))):
            assert other.without_root() == other

    @looped(
        ("text", "trees"),
        [
            (
                "(NP (NN 书))(NP (NN 笔)) ((NN 纸)\n)(NN 墨)",
                [
                    node("NP", leaf("NN", "书")),
                    node("NP", leaf("NN", "笔")),
                    node("", leaf("NN", "纸")),
                    leaf("NN", "墨"),
                ],
            ),
            # A nameless root of several children, which stays.
            ("( (NN 书) (PU 。))", [node("", leaf("NN", "书"), leaf("PU", "。"))]),
            # A wide space is part of a word.
            ("(NN 一\u3000二)", [leaf("NN", "一\u3000二")]),
        ],
    )
    def test_trees_of_a_file(self, tmp_path: Path, text: str, trees: list[Tree]) -> None:
        found = read(tmp_path, text)
        assert found == trees
        assert found[-1].without_root() == found[-1]

    def test_trees_come_as_they_are_read(self, tmp_path: Path) -> None:
        path = tmp_path / "trees.mrg"
        path.write_text("(NN 书)\n(NN 笔", "utf-8")
        stream = read_brackets(path)
        assert next(stream) == leaf("NN", "书")
        with pytest.raises(CorpusError):
            next(stream)

    @looped(
        ("text", "line", "fault"),
        [
            ("<DOC>\n</DOC>\n\n", 3, "no tree"),
            ("(NN 书)\n(NP\n(NN 笔)\n\n", 2, "file ends inside the tree .* 1 closing brackets"),
            ("(NP (NP (NN 笔", 1, "3 closing brackets are missing"),
            ("(NN 书)\n)", 2, "closing bracket too many"),
            ("(NN 书)\n书\n", 2, "'书' stands outside"),
            ("<S ID=1> 书\n(NN 书)", 1, "'书' stands outside"),
            ("<S ID=1>\n书\n(NN 书)\n</S>", 2, "'书' stands outside"),
            ("<DOC>\n书 )\n(NN 书)", 2, "'书' stands outside"),
            ("1994\n<DOC>\n(NN 书)", 1, "'1994' stands outside"),
            ("(NP\n (NN ))", 2, r"\(NN\) has only one part.*tree that begins on line 1"),
            ("(NP\n\n (书))", 3, "only one part"),
            ("(NP)", 1, "only one part"),
            ("(NP ())", 1, "empty brackets"),
            ("(NN 书)\n( )", 2, "empty brackets"),
            ("(NP\n ((NN 书)))", 2, "brackets without a label"),
            ("(NN 书 笔)", 1, "'笔' stands where a bracket must"),
            ("(NP (NN 书)\n笔)", 2, "'笔' stands where a bracket must"),
            ("((NN 书) 笔)", 1, "'笔' stands where a bracket must"),
            ("(NP 书 (NN 笔))", 1, r"inside the leaf \(NP 书"),
            ("\n(NP (NN 书)\n</S>\n", 3, "mark-up inside the tree that begins on line 2"),
            ("( (IP (NN 书))\n( (IP (NN 笔)) )\n)", 2, "brackets without a label.*line 1"),
        ],
    )
    def test_faults(self, tmp_path: Path, text: str, line: int, fault: str) -> None:
        with pytest.raises(CorpusError, match=fault) as caught:
            read(tmp_path, text)
        assert caught.value.line == line

    @given(st.text("()ab \n\u3000", max_size=40) | st.text("()<>aS \n", max_size=40))
    def test_any_text_is_trees_or_a_clear_error(self, text: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "trees.mrg")
            path.write_bytes(text.encode())
            try:
                found = list(read_brackets(path))
            except CorpusError as error:
                if not 1 <= error.line <= text.count("\n") + 1:
                    raise
            else:
                assert found
                written = "".join(map(recursive_bracket, found)).replace(" ", "")
                plain = "".join(text.split("\n")).replace(" ", "")
                if "<" not in text:
                    assert written == plain
                # Nothing is read that does not stand there, in this order.
                rest = iter(plain)
                assert all(character in rest for character in written)

    def test_headers_of_ldc_files(self, tmp_path: Path) -> None:
        text = (
            "<DOC>\n<DOCID> A_1 </DOCID>\n<HEADER>\n<DATE/TIME>\n1994-01-27\n</DATE/TIME>\n"
            "新闻\n</HEADER>\n<BODY>\n<AUTHOR> 王 </AUTHOR>\n<S ID=1>\n(NN 书)\n</S>\n"
            "<S ID=2>(NN 笔)</S>\n<s id=3>\n(NP (NN 纸) \n (PU >)) </s> </P>\n</BODY>\n</DOC>"
        )
        assert read(tmp_path, text) == [
            leaf("NN", "书"),
            leaf("NN", "笔"),
            node("NP", leaf("NN", "纸"), leaf("PU", ">")),
        ]


class TestTrees:
    def test_collapse_unaries(self) -> None:
        twice = node("NP", node("NP", node("NP", leaf("NN", "书"))))
        assert twice.collapse_unaries() == node("NP", leaf("NN", "书"))
        # A tag is no phrase, and a sister keeps both.
        kept = node("IP", node("NN", leaf("NN", "书")), node("IP", node("VP", leaf("VV", "来"))))
        assert kept.collapse_unaries() == kept

    @given(st.lists(trees, min_size=1, max_size=3), st.sampled_from([None, 0, 2]))
    def test_written_trees_are_read_back(self, written: list[Tree], indent: int | None) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "trees.mrg")
            text = "\n".join(tree.to_bracket(indent) for tree in written)
            path.write_bytes(text.encode())
            assert list(read_brackets(path)) == written

    @given(trees)
    def test_one_line_form(self, tree: Tree) -> None:
        assert tree.to_bracket() == recursive_bracket(tree)

    def test_indented_form(self, tmp_path: Path) -> None:
        text = "(\n  (IP\n    (NP (PN 我))\n    (VP (VV 来) (AS 了))))"
        (tree,) = read(tmp_path, text)
        assert tree.to_bracket(2) == text

    @looped(
        "tree",
        [
            leaf("NN", "a b"),
            leaf("NN", ""),
            leaf("", "书"),
            leaf("NN", "\0"),
            leaf("NN", "\ud800"),
            node("N)P", leaf("NN", "书")),
            node("IP", node("", leaf("NN", "书"))),
        ],
    )
    def test_what_could_not_be_read_back_is_not_written(self, tree: Tree) -> None:
        with pytest.raises(ValueError, match="cannot be written in bracket notation"):
            tree.to_bracket()
        assert "Tree" in repr(tree)

    def test_a_node_has_children_or_a_word(self) -> None:
        with pytest.raises(ValueError, match="either children or a word"):
            Tree("NP")
        with pytest.raises(ValueError, match="either children or a word"):
            Tree("NP", (leaf("NN", "书"),), "书")

    def test_leaves_and_tagged_words(self, tmp_path: Path) -> None:
        tree = read(tmp_path, LDC_FILE)[0]
        labels = ["", "IP-HLN", "NP-SBJ", "-NONE-", "VP", "VV", "NP-OBJ", "NN"]
        assert [each.label for each in tree.nodes()] == labels
        empty = leaf("-NONE-", "*pro*")
        words = [leaf("VV", "欢迎"), leaf("NN", "读者")]
        assert tree.leaves() == [empty, *words]
        assert tree.leaves(empties=False) == words
        assert tree.tagged_words() == [("欢迎", "VV"), ("读者", "NN")]

    def test_remove_empties(self, tmp_path: Path) -> None:
        tree = read(tmp_path, LDC_FILE)[0].remove_empties()
        assert tree is not None
        assert tree.to_bracket() == "( (IP-HLN (VP (VV 欢迎) (NP-OBJ (NN 读者)))))"
        # A number makes no other of an empty one.
        numbered = node("NP", leaf("-NONE-1", "*"), leaf("NN", "书"))
        assert numbered.tagged_words() == [("书", "NN")]
        assert numbered.remove_empties() == node("NP", leaf("NN", "书"))

    @given(trees)
    def test_remove_empties_equals_its_recursive_twin(self, tree: Tree) -> None:
        assert tree.remove_empties() == recursive_without_empties(tree)

    @looped(
        ("label", "bare"),
        [
            ("NP", "NP"),
            ("NP-SBJ", "NP"),
            ("NP-PN-SBJ-1", "NP"),
            ("NP=2", "NP"),
            ("NP-TPC=2", "NP"),
            ("NN-SHORT", "NN"),
            ("-NONE-", "-NONE-"),
            ("-LRB-", "-LRB-"),
            ("-RRB-", "-RRB-"),
            ("--", "--"),
            ("=", "="),
            ("PRP$", "PRP$"),
            ("ADVP|PRT", "ADVP|PRT"),
        ],
    )
    def test_without_function_tags(self, label: str, bare: str) -> None:
        tree = node(label, leaf(label, "a-b"), leaf("NN", "书"))
        expected = node(bare, leaf(bare, "a-b"), leaf("NN", "书"))
        assert tree.without_function_tags() == expected

    @given(trees, trees)
    def test_equality_hash_and_copies(self, one: Tree, other: Tree) -> None:
        assert (one == other) == (recursive_bracket(one) == recursive_bracket(other))
        for again in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
            assert again == one
            assert hash(again) == hash(one)
        assert one != recursive_bracket(one)
        assert recursive_bracket(one) in repr(one)

    @pytest.mark.slow
    def test_depth_is_not_limited(self, tmp_path: Path) -> None:
        depth = 20_000
        text = "(A-X " * depth + "(-NONE- *) (B b)" + ")" * depth
        (tree,) = read(tmp_path, text)
        assert tree.to_bracket() == text
        assert read(tmp_path, tree.to_bracket(1)) == [tree]
        assert tree.tagged_words() == [("b", "B")]
        bare = tree.without_function_tags().remove_empties()
        assert bare is not None
        assert bare.to_bracket() == "(A " * depth + "(B b)" + ")" * depth
        assert pickle.loads(pickle.dumps(tree)) == copy.deepcopy(tree) == tree
        assert len(repr(tree)) > depth

    def test_unclosed_brackets_of_any_depth_are_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(CorpusError, match="100000 closing brackets are missing"):
            read(tmp_path, "(A " * 100_000)
        with pytest.raises(CorpusError, match="without a label"):
            read(tmp_path, "(" * 100_000)


@looped(
    ("text", "entities"),
    [
        ("(IP (NP-SBJ=PERSON (NR 李雷)) (VP (VV 来)))", [(0, 1, "PERSON")]),
        ("(IP (NP (-NONE- *pro*)) (VV 到) (NR=GPE 杭州) (CD=CARDINAL 三))", [(1, 2), (2, 3)]),
        # The empty terminals in it do not count, nor does what has no word.
        ("(IP (NP-1=WORK_OF_ART (NN 红) (-NONE- *) (NN 楼)) (NP=ORG (-NONE- *)))", [(0, 2)]),
        # Of entities in others, the outermost.
        ("(NP (NP=ORG (NR=GPE 北京) (NN 大学)) (NN=LOC 湖))", [(0, 2, "ORG"), (2, 3, "LOC")]),
        # Gapped parts, and what is no mark.
        ("(S (NP=1 (NN a)) (NP-SBJ=2 (NN =ORG)) (NP=Org (NN A=B)) (NP=ORG-1 (NN c)))", []),
        ("(NP (NN b))", []),
    ],
)
def test_entities(text: str, entities: list[tuple[object, ...]], tmp_path: Path) -> None:
    (tree,) = read(tmp_path, text)
    found = tree.entities()
    assert [each[: len(other)] for each, other in zip(found, entities, strict=True)] == entities
    path = tmp_path / "again.mrg"
    for indent in (None, 2):
        path.write_text(tree.to_bracket(indent), "utf-8")
        assert marks_entities(path) == bool(entities)


def test_entities_of_deep_trees_are_found_in_linear_time() -> None:
    tree = leaf("NN", "a")
    for _ in range(100_000):
        tree = node("NP=ORG", tree, leaf("-NONE-", "*"))
    assert tree.entities() == [(0, 1, "ORG")]


def test_tags_are_without_entities(tmp_path: Path) -> None:
    path = tmp_path / "trees.mrg"
    text = "( (FLAT (NR=PERSON 李雷) (NP=DATE (NT-SHORT=DATE 三月) (NT 五日))))\n"
    path.write_text(f'<DOC id="a-1">\n{text}</DOC>\n', "utf-8")
    (sentence,) = read_sentences(path)
    assert sentence.pairs() == [("李雷", "NR"), ("三月", "NT"), ("五日", "NT")]
    flat, other = read(tmp_path, text + "(IP (FLAT (NN a)) (NN b))")
    assert flat.is_flat
    assert not other.is_flat


def test_sentences(tmp_path: Path) -> None:
    path = tmp_path / "trees.mrg"
    path.write_text(LDC_FILE + "( (IP (NP (-NONE- *))) )\n", "utf-8")
    assert [each.pairs() for each in read_sentences(path)] == [
        [("欢迎", "VV"), ("读者", "NN")],
        [("。", "PU")],
        [("今", "NT"), ("(", "-LRB-")],
    ]
    path.write_text("(IP (-NONE- *))\n", "utf-8")
    with pytest.raises(CorpusError, match="no tree of the file has a word"):
        list(read_sentences(path))


@looped(
    ("escaped", "plain"),
    [
        *(("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("-LCB-", "{")),
        *(("-RCB-", "}"), (r"1\/2", "1/2"), (r"\*\*", "**"), (r"a\b", r"a\b"), ("``", "``")),
        *(("x-LRB-", "x("), ("-LRB--RRB-", "()"), (":-RRB-", ":)"), (r"\\\/", r"\\/")),
        *(("-LXB-", "-LXB-"), ("-lrb-", "-lrb-")),
    ],
)
def test_words_as_they_stand_in_text(escaped: str, plain: str) -> None:
    assert plain_word(escaped) == plain
    assert plain_word(escaped_word(plain)) == plain


@given(st.text(st.sampled_from("()[]{}\\/*-LRx（［")))
def test_words_come_back_from_the_notation(word: str) -> None:
    escaped = escaped_word(word)
    assert not set("()[]{}") & set(escaped)
    assert plain_word(escaped) == word


def test_trees_have_words_as_they_stand_in_text(tmp_path: Path) -> None:
    (tree,) = read(tmp_path, r"(NP (NR 张三) (PRN (-LRB- -LRB-) (VV 笑[x]) (PU -RRB-)) (CD 1\/2))")
    pairs = [("张三", "NR"), ("(", "-LRB-"), ("笑[x]", "VV"), (")", "PU"), ("1/2", "CD")]
    assert tree.tagged_words() == pairs
    written = "(NP (NR 张三) (PRN (-LRB- -LRB-) (VV 笑-LSB-x-RSB-) (PU -RRB-)) (CD 1/2))"
    assert tree.to_bracket() == written
    assert read(tmp_path, written) == [tree]
