"""The lexicon against a dict and brute force, and against arrays that nobody built."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import example, given
from hypothesis import strategies as st
from looped import looped
from numpy.typing import NDArray

from spacy_structreg.tasks.knowledge.lexicon import LONGEST_WORD, Lexicon

characters = st.sampled_from("ab\0中\U0010ffff\ud800")
words = st.text(characters, min_size=1, max_size=5)
lexicons = st.dictionaries(words, st.integers(1, 65_535), max_size=12)
texts = st.text(characters, max_size=12)


def lexicon_of(entries: dict[str, int]) -> Lexicon:
    listed = sorted(entries)
    return Lexicon(listed, np.array([entries[word] for word in listed], dtype=np.uint16))


def restored(lexicon: Lexicon) -> Lexicon:
    entries, arrays = lexicon.contents()
    return Lexicon.from_contents(entries, arrays)


def places(entries: dict[str, int], text: str) -> list[list[int]]:
    """Where words stand in a text, by start and end, and their values."""
    return [
        [start, end, entries[text[start:end]]]
        for start in range(len(text))
        for end in range(start + 1, len(text) + 1)
        if text[start:end] in entries
    ]


@quick_examples(100)
@given(lexicons, texts)
@example({"a" * n: n for n in range(1, 6)}, "a" * 12)
def test_a_lexicon_finds_what_a_dict_does(entries: dict[str, int], text: str) -> None:
    for lexicon in (lexicon_of(entries), restored(lexicon_of(entries))):
        assert lexicon.items() == sorted(entries.items())
        assert len(lexicon) == lexicon.n_words == len(entries)
        assert lexicon.longest == max(map(len, entries), default=0)
        assert lexicon.find(text).tolist() == places(entries, text)
        for start in range(len(text)):
            for end in range(start, len(text) + 1):
                word = text[start:end]
                assert lexicon.get(word) == entries.get(word, 0)
                assert (word in lexicon) == (word in entries)


def test_many_words_and_long_ones() -> None:
    draw = np.random.default_rng(1)
    entries = {
        "".join(map(chr, draw.integers(0x4E00, 0x4E40, draw.integers(1, 6)))): int(value)
        for value in draw.integers(1, 65_535, 20_000)
    }
    entries |= {"天" * n: n for n in range(1, LONGEST_WORD + 1)}
    lexicon = lexicon_of(entries)
    assert lexicon.items() == sorted(entries.items())
    assert lexicon.nodes.nbytes < 14 * len({w[:n] for w in entries for n in range(1, len(w) + 1)})
    text = "".join(map(chr, draw.integers(0x4E00, 0x4E40, 300))) + "天" * 300
    assert lexicon.find(text).tolist() == [
        place
        for start in range(len(text))
        for place in (
            [start, end, entries[text[start:end]]]
            for end in range(start + 1, min(len(text), start + LONGEST_WORD) + 1)
            if text[start:end] in entries
        )
    ]
    assert not lexicon.get("天" * (LONGEST_WORD + 1))


def test_pickles_and_nodes() -> None:
    lexicon = Lexicon(["天", "天气"])
    copy = pickle.loads(pickle.dumps(lexicon))
    assert copy.items() == [("天", 1), ("天气", 1)]
    assert (copy.nodes == lexicon.nodes).all()
    assert not lexicon.nodes.flags.writeable
    assert "气" not in lexicon
    assert None not in lexicon
    with pytest.raises(TypeError):
        lexicon.__init__(["天"])  # type: ignore[misc]


@looped(
    ("words", "fault"),
    [
        (["b", "a"], "sort the words"),
        (["a", "a"], "each of them once"),
        ([""], "is empty"),
        ([b"a"], "expected words as str"),
        (["a" * (LONGEST_WORD + 1)], "255 are the most"),
    ],
)
def test_words_that_cannot_be_listed(words: list[str], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        Lexicon(words)


@looped("values", [[], [0], [65_536], [-1], [1.0], [[1]], [1, 1]])
def test_values_that_no_word_can_have(values: list[int]) -> None:
    with pytest.raises(ValueError, match="integer from 1 to 65,535"):
        Lexicon(["a"], values)


def contents() -> tuple[dict[str, int], NDArray[np.uint64]]:
    entries, arrays = Lexicon(["a", "ab", "abc", "b"], [1, 2, 3, 4]).contents()
    return entries, arrays["nodes"].copy()


@looped("name", ["n_words", "longest", "n_home", "salt"])
@looped("value", [-1, 1 << 64, None, "1", True])
def test_entries_that_do_not_fit(name: str, value: object) -> None:
    entries, nodes = contents()
    with pytest.raises(ValueError, match=r"lexicon|header"):
        Lexicon.from_contents(entries | {name: value}, {"nodes": nodes})


def test_arrays_that_do_not_fit() -> None:
    entries, nodes = contents()
    for wrong in (nodes.astype(np.int64), nodes.reshape(1, -1), nodes[:0], nodes[:2], None):
        with pytest.raises(ValueError, match="nodes of the lexicon are missing"):
            Lexicon.from_contents(entries, {"nodes": wrong})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="nodes of the lexicon are missing"):
        Lexicon.from_contents(entries, {})
    with pytest.raises(ValueError, match="is damaged"):
        Lexicon.from_contents(entries, {"nodes": nodes}, 3)


@quick_examples(100)
@given(st.data())
def test_no_array_leads_a_look_up_astray(data: st.DataObject) -> None:
    entries, nodes = contents()
    node = st.one_of(
        st.integers(0, 2**64 - 1),
        # Nodes that may be reached: of few characters and of prefixes that exist.
        st.builds(
            lambda value, prefix, character: value << 48 | prefix << 21 | character + 1,
            st.integers(0, 2),
            st.one_of(
                st.integers(0, nodes.size - 1),
                st.sampled_from([0x7FFFFFF, 0x7FFFFFF - 0x110000 + ord("a")]),
            ),
            st.sampled_from([ord("a"), ord("b")]),
        ),
    )
    for slot in data.draw(st.lists(st.integers(0, nodes.size - 1), max_size=8)):
        nodes[slot] = data.draw(node)
    entries["n_words"] = int(np.count_nonzero(nodes >> np.uint64(48)))
    entries["longest"] = data.draw(st.integers(0, LONGEST_WORD))
    try:  # A file with such nodes is refused, or right in its way.
        lexicon = Lexicon.from_contents(entries, {"nodes": nodes})
    except ValueError:
        return
    text = "ab" * 300
    for start, end, value in lexicon.find(text).tolist():
        assert 0 <= start < end <= len(text)
        assert lexicon.get(text[start:end]) == value
    lexicon.items()
