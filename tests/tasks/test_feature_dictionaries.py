"""Features given by name: the forms of python-crfsuite, worked by hand."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from twins import murmur_64a

from spacy_structreg.tasks.chain import ChainFeatures
from spacy_structreg.tasks.feature_dictionaries import DictionaryFeatures, flatten_features


# What python-crfsuite 0.9.12 makes of the same items, but for values of 0, which it keeps.
@looped(
    ("item", "expected"),
    [
        ({"a": "b"}, {"a:b": 1.0}),
        ({"a": "b:c", "d:e": "f"}, {"a:b:c": 1.0, "d:e:f": 1.0}),
        ({"a": True, "b": False, "c": np.True_, "d": np.False_}, {"a": 1.0, "c": 1.0}),
        ({"a": 2, "b": -0.5, "c": 0, "d": np.float32(4), "e": Fraction(1, 4)},
         {"a": 2.0, "b": -0.5, "d": 4.0, "e": 0.25}),
        ({"f": {"g": "h", "i": 1.5, "l": {"m": True}}}, {"f:g:h": 1.0, "f:i": 1.5, "f:l:m": 1.0}),
        ({"s": ["x", "y:z"], "t": {"q"}}, {"s:x": 1.0, "s:y:z": 1.0, "t:q": 1.0}),
        (["a", "b:c"], {"a": 1.0, "b:c": 1.0}),
        (("a",), {"a": 1.0}),
        ({"a": "", "": "a"}, {"a:": 1.0, ":a": 1.0}),
        ({"f": [], "g": {}}, {}),
        ({}, {}),
        ([], {}),
        (["a", "a"], {"a": 2.0}),
        ({"a": {"b": 1}, "a:b": -1.0}, {}),
        ({"a\0": "𠀀"}, {"a\0:𠀀": 1.0}),
    ],
)  # fmt: skip
def test_features_of_one_position(item: Any, expected: dict[str, float]) -> None:
    assert flatten_features(item) == expected


def test_any_iterable_of_names_will_do() -> None:
    assert flatten_features(name for name in ["a", "b"]) == {"a": 1.0, "b": 1.0}


def test_sets_have_one_order() -> None:
    names = [f"n{i}" for i in range(50)]
    assert list(flatten_features(set(names))) == sorted(names)
    assert list(flatten_features({"x": frozenset(names)})) == [f"x:{n}" for n in sorted(names)]


def nested(depth: int) -> dict[str, Any]:
    return {"a": nested(depth - 1)} if depth else {"a": True}


def endless() -> dict[str, Any]:
    item: dict[str, Any] = {}
    item["a"] = item
    return item


@looped(
    ("item", "fault"),
    [
        ("word", "got .*; give a mapping"),
        (b"word", "got .*; give a mapping"),
        (3, "got .*; give a mapping"),
        (None, "got .*; give a mapping"),
        ({"a": None}, "has the value None; give"),
        ({"a": b"b"}, "give a number, a string"),
        ({"a": 1j}, "give a number, a string"),
        ({1: "a"}, "feature names must be strings"),
        ([1], "feature names must be strings"),
        ({"a": [("b", 2)]}, "feature names must be strings"),
        ({"a", 1}, "feature names must be strings"),
        ({"a": math.nan}, "must be finite"),
        ({"a": {"b": -math.inf}}, "'a:b' has the value -inf; values must be finite"),
        ({"a": 10**400}, "does not fit"),
        ({"a": {"b": 1e308}, "a:b": 1e308}, "must be finite"),
        (nested(40), "more than 32 deep"),
        (endless(), "more than 32 deep"),
    ],
)
def test_other_forms_are_refused(item: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        flatten_features(item)
    with pytest.raises(ValueError, match=fault):
        DictionaryFeatures().extract([[["a"], item]])


def test_deep_but_not_too_deep() -> None:
    assert flatten_features(nested(32)) == {":".join("a" * 33): 1.0}


def test_names_that_are_no_text_are_refused() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        DictionaryFeatures().extract([[["\ud800"]]])


names = st.text(st.sampled_from("ab:\0𠀀"), max_size=4)
numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
positions: st.SearchStrategy[Any] = st.one_of(
    st.lists(names, max_size=4),
    st.dictionaries(names, st.one_of(st.booleans(), numbers, names, st.lists(names, max_size=2))),
)


@given(st.lists(positions, max_size=5), st.sets(st.sampled_from(["", "a", "b", "ab"])))
def test_lists_are_the_features_of_each_position(items: list[Any], edges: set[str]) -> None:
    features = DictionaryFeatures(edges)
    symbols, lists = features.extract([items], 2)
    assert symbols.shape == (0, len(items) + 4)
    assert features.lists == (("label", "edge") if edges else ("label",))
    chosen: list[Callable[[str], bool]] = [
        lambda name: True, lambda name: name.split(":")[0] in edges,
    ]  # fmt: skip
    assert len(lists) == len(features.lists)
    for (starts, keys, values), is_chosen in zip(lists, chosen, strict=False):
        assert (starts.dtype, keys.dtype) == (np.int64, np.uint64)
        assert len(starts) == len(items) + 1
        assert starts[0] == 0
        assert starts[-1] == len(keys)
        weights = [1.0] * len(keys) if values is None else values.tolist()
        assert values is None or (values.dtype == np.float64 and (values != 1.0).any())
        for i, item in enumerate(items):
            expected = {
                murmur_64a(name.encode()): value
                for name, value in flatten_features(item).items()
                if is_chosen(name)
            }
            part = slice(starts[i], starts[i + 1])
            assert dict(zip(keys[part].tolist(), weights[part], strict=True)) == expected
    assert features.names(items) == [list(flatten_features(item)) for item in items]


def test_attributes_are_those_of_a_chain_without_streams() -> None:
    features = DictionaryFeatures(["word"])
    chain = ChainFeatures(features.shapes, features.atoms, 3)
    assert (chain.reach, chain.tag_bigram, chain.widths) == (0, 0, (9,))
    assert DictionaryFeatures(tag_bigram=False).shapes == ()
    again = pickle.loads(pickle.dumps(features))
    assert (again.edges, again.shapes, again.lists) == (
        ("word",), features.shapes, ("label", "edge"),
    )  # fmt: skip


def test_names_of_edges() -> None:
    assert DictionaryFeatures("word").edges == ("word",)
    with pytest.raises(ValueError, match="up to its first ':'"):
        DictionaryFeatures(["word:cat"])
    with pytest.raises(ValueError, match="must be strings"):
        DictionaryFeatures([3])  # type: ignore[list-item]
