"""The extension attributes that lead through trees, against trees made of nested lists."""

from __future__ import annotations

import pickle
import random
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, Span, SpanGroup, Token
from spacy.tokens.underscore import Underscore
from spacy.vocab import Vocab

from spacy_structreg.corpora.formats.brackets import read_brackets
from spacy_structreg.pipeline.constituency_attributes import register_attributes

NAMES = ("labels", "constituents", "children", "parent", "parse_string")


@pytest.fixture(autouse=True)
def attributes(extensions: None) -> None:
    """Each test begins without extensions but ours."""
    register_attributes()


@dataclass
class Node:
    """A node of a tree: labels of one chain over words from `begin` to before `end`."""

    labels: tuple[str, ...]
    begin: int
    end: int
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None

    def nodes(self) -> list[Node]:
        return [self, *(node for child in self.children for node in child.nodes())]

    def bracketed(self, words: list[str], tags: list[str]) -> str:
        inner = " ".join(child.bracketed(words, tags) for child in self.children)
        inner = inner or f"({tags[self.begin]} {words[self.begin]})"
        for label in reversed(self.labels):
            inner = f"({label} {inner})"
        return inner


Shape = Any  # a chain of labels and the shapes of its children

LABELS = st.lists(st.sampled_from(["IP", "NP", "VP"]), max_size=3)
SHAPES: st.SearchStrategy[Shape] = st.recursive(
    st.tuples(LABELS, st.just([])),
    lambda below: st.tuples(
        st.lists(st.sampled_from(["IP", "NP", "VP"]), min_size=1, max_size=3),
        st.lists(below, min_size=2, max_size=4),
    ),
    max_leaves=12,
)


def tree_of(shape: Shape, begin: int = 0, parent: Node | None = None) -> Node:
    labels, below = shape
    node = Node(tuple(labels), begin, begin + 1, parent=parent)
    for each in below:
        child = tree_of(each, node.children[-1].end if node.children else begin, node)
        node.children.append(child)
        node.end = child.end
    return node


def doc_of(trees: list[Node], blanks: random.Random | None = None) -> tuple[Doc, list[int]]:
    """A Doc with the trees one behind the other, and the tokens that their words are."""
    n_words = sum(tree.end for tree in trees)
    words: list[str] = []
    places: list[int] = []
    for word in range(n_words):
        while blanks is not None and blanks.random() < 0.3:
            words.append(blanks.choice(["\n", " ", "\u3000"]))
        places.append(len(words))
        words.append(f"w{word}")
    doc = Doc(Vocab(), words=words, spaces=[False] * len(words), tags=[f"T{w}" for w in words])
    spans = []
    first = 0
    for tree in trees:
        for node in tree.nodes():
            begin, last = places[first + node.begin], places[first + node.end - 1]
            spans += [Span(doc, begin, last + 1, label=label) for label in node.labels]
        first += tree.end
    doc.spans["constituents"] = SpanGroup(doc, name="constituents", spans=spans)
    return doc, places


@given(st.lists(SHAPES, min_size=1, max_size=3), st.none() | st.randoms(use_true_random=False))
def test_attributes_are_those_of_the_trees(
    shapes: list[Shape], blanks: random.Random | None
) -> None:
    trees = list(map(tree_of, shapes))
    doc, places = doc_of(trees, blanks)
    first = 0
    expected = []
    for tree in trees:

        def span_of(node: Node, first: int = first) -> Span:
            return doc[places[first + node.begin] : places[first + node.end - 1] + 1]

        words = [f"w{first + i}" for i in range(tree.end)]
        tags = [f"T{word}" for word in words]
        for node in tree.nodes():
            span = span_of(node)
            assert span._.labels == node.labels
            assert list(span._.constituents) == list(map(span_of, node.nodes()))
            assert list(span._.children) == list(map(span_of, node.children))
            assert span._.parent == (None if node.parent is None else span_of(node.parent))
            assert span._.parse_string == node.bracketed(words, tags)
            if not node.children:
                token = span[0]
                for name in ("labels", "parent", "parse_string"):
                    assert token._.get(name) == span._.get(name)
                assert list(token._.constituents) == [span]
                assert list(token._.children) == []
        expected += map(span_of, tree.nodes())
        first += tree.end
    assert list(doc._.constituents) == expected


@given(SHAPES, st.data())
def test_other_spans_are_refused(shape: Shape, data: st.DataObject) -> None:
    tree = tree_of(shape)
    doc, _ = doc_of([tree])
    begin = data.draw(st.integers(0, tree.end - 1))
    end = data.draw(st.integers(begin + 1, tree.end))
    if any((node.begin, node.end) == (begin, end) for node in tree.nodes()):
        return
    for name in NAMES:
        with pytest.raises(ValueError, match="is no constituent; begin with a sentence"):
            doc[begin:end]._.get(name)


def test_sentences_of_several_trees() -> None:
    """As `sentences = "punctuation"` makes them of longer sentences of a dependency parser."""
    words = ["我", "看", "。", "\n", "好", "你", "写", "。"]
    starts = [i in (0, 5) for i in range(8)]
    doc = Doc(Vocab(), words=words, spaces=[False] * 8, sent_starts=starts)
    doc.spans["constituents"] = [
        Span(doc, begin, end, label=label)
        # The word 好 is a tree of its own.
        for label, begin, end in (("IP", 0, 3), ("VP", 1, 2), ("IP", 5, 8), ("VP", 5, 7))
    ]
    first, second = doc.sents
    several = "is no constituent, but several trees; .* with sentences = 'doc'"
    for span in (first, doc[:], doc[4:8]):
        for name in NAMES:
            with pytest.raises(ValueError, match=several):
                span._.get(name)
    assert second._.labels == ("IP",)
    # The way that the message names.
    roots = [span for span in doc._.constituents if span._.parent is None]
    assert [span.text for span in roots] == ["我看。", "好", "你写。"]
    # What begins or ends within a tree is not several.
    for span in (doc[0:2], doc[1:5], doc[0:7], doc[2:8]):
        with pytest.raises(ValueError, match="is no constituent; begin with a sentence"):
            _ = span._.labels


def example() -> Doc:
    """A sentence with brackets and white space in its words, and a full stop behind it."""
    words = ["他", "说", "（看", "[好]", "A (b)\n", "\n", "。"]
    doc = Doc(
        Vocab(),
        words=words,
        spaces=[False] * len(words),
        tags=["PN", "VV", "VV", "JJ", "NN", "_SP", ""],
        pos=["PRON", "VERB", "VERB", "ADJ", "NOUN", "SPACE", ""],
        sent_starts=[True, False, False, False, False, False, True],
    )
    doc.spans["constituents"] = [
        Span(doc, begin, end, label=label)
        for label, begin, end in (
            ("IP", 0, 5), ("NP", 0, 1), ("VP", 1, 5), ("IP", 2, 5), ("VP", 2, 5), ("NP", 3, 5),
        )
    ]  # fmt: skip
    return doc


def test_an_example_by_hand() -> None:
    doc = example()
    first, second = doc.sents
    # The line break at the end of the sentence is none of its tree.
    assert first.end == 6
    assert first._.labels == ("IP",)
    assert [span.text for span in first._.children] == ["他", "说（看[好]A (b)\n"]
    assert first._.parent is doc[:5]._.parent is second._.parent is None
    assert first._.parse_string == (
        "(IP (NP (PN 他)) (VP (VV 说) "
        "(IP (VP (VV （看) (NP (JJ -LSB-好-RSB-) (NN A-LRB-b-RRB-))))))"
    )
    assert second._.labels == ()
    assert second._.parse_string == doc[6]._.parse_string == "(_ 。)"


def is_no_node(of: Span | Token) -> bool:
    """True if there is nothing at a span or token."""
    lists = [list(of._.get(name)) for name in ("labels", "constituents", "children")]
    return lists == [[], [], []] and of._.parent is None and of._.parse_string == ""


def test_white_space_alone_is_no_node() -> None:
    doc = example()
    # At the end of a sentence, and no token at all.
    for nothing in (doc[5], doc[5:6], doc[4:4], doc[0:0], doc[7:7]):
        assert is_no_node(nothing)
    for text in ("\n", " ", "\u3000", "\t", "\u2028", "\r\n"):
        # Alone, and before, within and behind a tree.
        for words in ([text], [text, text], [text, "w", text, "w", text]):
            doc = Doc(Vocab(), words=words, spaces=[False] * len(words))
            doc.spans["constituents"] = [Span(doc, 1, 4, label="IP")] if "w" in words else []
            assert all(is_no_node(token) for token in doc if token.text == text)
            if "w" not in words:
                assert is_no_node(doc[:])
                assert list(doc._.constituents) == []


def test_strings_are_bracket_notation(tmp_path: Any) -> None:
    path = tmp_path / "tree.bracket"
    path.write_text(next(example().sents)._.parse_string, "utf-8")
    (tree,) = read_brackets(path)
    assert [word for word, _ in tree.tagged_words()][-2:] == ["[好]", "A(b)"]


def test_they_follow_the_spans() -> None:
    doc = example()
    assert doc[3:5]._.labels == ("NP",)
    doc.spans["constituents"][5] = Span(doc, 3, 5, label="QP")
    assert doc[3:5]._.labels == ("QP",)
    del doc.spans["constituents"]
    for of in (doc[3:5], doc[0]):
        for name in NAMES:
            with pytest.raises(ValueError, match="has no constituents under doc"):
                of._.get(name)
    with pytest.raises(ValueError, match="add the pipe structreg_constituency"):
        _ = doc._.constituents


def test_groups_that_are_no_trees() -> None:
    doc = example()
    # Out of order: its place is not found.
    doc.spans["constituents"].append(Span(doc, 0, 2, label="X"))
    with pytest.raises(ValueError, match="X over '他说' is out of order"):
        _ = doc[0:2]._.labels
    with pytest.raises(ValueError, match="X over '他说' is out of order"):
        list(doc._.constituents)
    doc.spans["constituents"] = [Span(doc, 0, 3, label="A"), Span(doc, 2, 5, label="B")]
    for broken in (
        lambda: list(doc._.constituents),
        lambda: list(doc[0:3]._.constituents),
        lambda: list(doc[0:3]._.children),
        lambda: doc[0:3]._.parse_string,
    ):
        with pytest.raises(ValueError, match=r"B over '（看.*' is out of order"):
            broken()


def test_they_are_read_only() -> None:
    doc = example()
    for of in (doc, doc[0:5], doc[0]):
        with pytest.raises(AttributeError, match="cannot be set"):
            of._.constituents = []
    assert doc.user_data == {}


def test_docs_of_a_docbin_and_other_processes() -> None:
    doc = example()
    (found,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(Vocab())
    assert found[0:5]._.parse_string == doc[0:5]._.parse_string
    # What spaCy hands to processes that it spawns, where the component is made once more.
    Underscore.load_state(pickle.loads(pickle.dumps(Underscore.get_state())))
    register_attributes()
    assert found[2:5]._.labels == ("IP", "VP")


def test_names_that_are_taken() -> None:
    register_attributes()
    for kind, name in ((Doc, "constituents"), (Span, "labels"), (Token, "parent")):
        Underscore.load_state(({}, {}, {}))
        kind.set_extension(name, default=None)
        message = rf"{kind.__name__}\._\.{name} is taken by another extension, .* set ext"
        with pytest.raises(ValueError, match=message):
            register_attributes()
        register_attributes("tree_")
        assert example()[2:5]._.tree_labels == ("IP", "VP")
    doc = example()
    doc.spans["other"] = [Span(doc, 0, 2, label="X")]
    with pytest.raises(ValueError, match=r"Doc\._\.tree_constituents is taken"):
        register_attributes("tree_", "other")
    register_attributes("other_", "other")
    assert doc[0:2]._.other_labels == ("X",)


def test_deep_trees() -> None:
    """A chain, and a tree that leans to the right: neither is walked through recursively."""
    depth = 3000
    doc = Doc(Vocab(), words=["w"] * depth, spaces=[False] * depth, tags=["T"] * depth)
    chain = [Span(doc, 0, depth, label="A")] * depth
    right = [Span(doc, i, depth, label="B") for i in range(depth - 1)]
    doc.spans["constituents"] = chain + right
    assert doc[:]._.labels == ("A",) * depth + ("B",)
    assert sum(1 for _ in doc._.constituents) == 2 * depth - 1
    assert [len(span) for span in doc[:]._.children] == [1, depth - 1]
    assert doc[depth - 1]._.parent == doc[depth - 2 :]
    assert doc[:]._.parse_string.count("(") == 3 * depth - 1
