"""What is seen of texts: n-grams and their keys, worked by hand."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twins import murmur_64a

from spacy_structreg.tasks.chain import ChainFeatures
from spacy_structreg.tasks.classification import INTERCEPT, WordBag

WORDS = st.lists(st.sampled_from(["a", "b", "ab", "A", "", " ", "\0", "𠀀", "é b"]), max_size=8)


@given(
    words=WORDS,
    ngrams=st.integers(0, 3),
    characters=st.sets(st.integers(1, 4)),
    values=st.sampled_from(["binary", "counts", "log"]),
    normalize=st.booleans(),
)
def test_against_plain_counts(
    words: list[str], ngrams: int, characters: set[int], values: str, normalize: bool
) -> None:
    seen = [word.lower() for word in words if word.strip()]
    text = "".join(seen)
    counts = Counter(
        [
            f"w{n}={' '.join(seen[i : i + n])}"
            for n in range(1, ngrams + 1)
            for i in range(len(seen))
            if len(seen[i : i + n]) == n
        ]
    )
    counts.update(f"c{n}={text[i : i + n]}" for n in characters for i in range(len(text) - n + 1))
    expected = {
        name: {"binary": 1.0, "counts": float(count), "log": 1 + math.log(count)}[values]
        for name, count in counts.items()
    }
    length = math.sqrt(sum(value**2 for value in expected.values())) if normalize else 1.0
    expected = {name: value / length for name, value in expected.items()}
    bag = WordBag(ngrams, sorted(characters), values=values, normalize=normalize)  # type: ignore[arg-type]
    found = bag.features(words)
    assert found == pytest.approx({INTERCEPT: 1.0, **expected})


def test_keys_are_hashes_of_names() -> None:
    bag = WordBag(2, [1], values="counts")
    symbols, lists = bag.extract([[["to", "be", "to"], [], ["\0"]]])
    starts, keys, values = lists[0]
    assert symbols.shape == (0, 3)
    assert bag.extract([[[]]], 4)[0].shape == (0, 9)
    assert starts.tolist() == [0, 9, 10, 13]
    assert values is not None
    features = [bag.features(words) for words in (["to", "be", "to"], [], ["\0"])]
    expected = [(murmur_64a(name.encode()), value) for of in features for name, value in of.items()]
    assert list(zip(keys.tolist(), values.tolist(), strict=True)) == expected
    assert (keys.dtype, values.dtype) == (np.uint64, np.float64)
    # All of them 1: no values are stored.
    assert WordBag().extract([[["a", "b", "a"]]])[1][0][2] is None


def test_it_fits_a_chain() -> None:
    bag = WordBag()
    features = ChainFeatures(bag.shapes, bag.atoms, 3, bag.lists)
    assert features.widths == (3,)
    assert features.reach == 0
