"""Gazetteers: phrases found in sentences, files and plain lists, against brute force."""

from __future__ import annotations

import gzip
import lzma
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.features.gazetteers import MAX_PHRASE, Gazetteers

CITIES = ["New York", "York", "New York City Hall", "Rome"]


def test_the_longest_phrase_wins_and_phrases_do_not_overlap() -> None:
    gazetteers = Gazetteers({"city": CITIES, "title": ["Mr."], "part": ["York City"]})
    assert gazetteers.matcher()(["Mr.", "York", "saw", "New", "York", "City", "."]) == [
        ["B-title"],
        ["B-city"],
        [],
        ["B-city"],
        ["I-city", "B-part"],
        ["I-part"],
        [],
    ]
    assert gazetteers.matcher()([]) == []
    assert gazetteers.matcher()(["Rome"]) == [["B-city"]]
    assert gazetteers.matcher()(["rome", "", "\0", "𠀀"]) == [[], [], [], []]


def test_case_may_be_left_out_of_account() -> None:
    gazetteers = Gazetteers({"city": ["ROME", "Évry"]}, lower=True)
    assert gazetteers.matcher()(["Rome", "rome", "évry"]) == [["B-city"]] * 3
    assert Gazetteers({"city": ["ROME"]}).matcher()(["Rome"]) == [[]]


def test_characters_as_tokens() -> None:
    gazetteers = Gazetteers({"地": ["北京", "北 京 市"]}, characters=True)
    assert gazetteers.matcher()(list("在北京市北")) == [[], ["B-地"], ["I-地"], ["I-地"], []]


def brute_force(phrases: set[tuple[str, ...]], tokens: list[str]) -> list[str]:
    places = [""] * len(tokens)
    at = 0
    while at < len(tokens):
        fitting = [p for p in phrases if tuple(tokens[at : at + len(p)]) == p]
        size = max(map(len, fitting), default=0)
        for i in range(size):
            places[at + i] = "I" if i else "B"
        at += size or 1
    return places


phrases_of = st.lists(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(tuple), min_size=1, max_size=5
).map(set)


@given(st.lists(phrases_of, min_size=1, max_size=3), st.lists(st.sampled_from("abc"), max_size=12))
def test_matches_are_those_of_brute_force(
    lists: list[set[tuple[str, ...]]], tokens: list[str]
) -> None:
    named = {f"n{i}": [" ".join(phrase) for phrase in each] for i, each in enumerate(lists)}
    gazetteers = Gazetteers(named)
    found = gazetteers.matcher()(tokens)
    expected: list[list[str]] = [[] for _ in tokens]
    for i, each in enumerate(lists):
        for at, place in enumerate(brute_force(each, tokens)):
            expected[at] += [f"{place}-n{i}"] if place else []
    assert found == expected
    assert {value for values in found for value in values} <= set(gazetteers.values)
    for again in (Gazetteers(**gazetteers.as_dict()), pickle.loads(pickle.dumps(gazetteers))):
        assert again.matcher()(tokens) == found
        assert again.as_dict() == gazetteers.as_dict()


def test_plain_lists_do_not_depend_on_the_order_of_phrases() -> None:
    shuffled = random.Random(1).sample(CITIES, len(CITIES))
    plain = Gazetteers({"b": shuffled, "a": ["Rome  \t Sud"]}).as_dict()
    assert plain == {
        "lists": {"a": ["Rome Sud"], "b": ["New York", "New York City Hall", "Rome", "York"]},
        "lower": False,
        "characters": False,
    }
    assert list(plain["lists"]) == ["a", "b"]


def test_files(tmp_path: Path) -> None:
    text = "\ufeffNew York\r\n\n  \nRome\n".encode()
    (tmp_path / "plain").write_bytes(text)
    (tmp_path / "packed.xz").write_bytes(lzma.compress(text))
    (tmp_path / "packed.gz").write_bytes(gzip.compress(text))
    (tmp_path / "chinese").write_bytes("北京\n".encode("gb18030"))
    for name in ("plain", "packed.xz", "packed.gz"):
        gazetteers = Gazetteers.from_files({"city": tmp_path / name}, lower=True)
        assert gazetteers.as_dict() == {
            "lists": {"city": ["new york", "rome"]}, "lower": True, "characters": False,
        }  # fmt: skip
    chinese = Gazetteers.from_files(
        {"city": tmp_path / "chinese"}, characters=True, encoding="gb18030"
    )
    assert chinese.matcher()(list("北京")) == [["B-city"], ["I-city"]]


@looped(
    ("data", "line", "fault"),
    [
        (b"", 1, "no phrase in the file"),
        (b"\n \n", 1, "no phrase in the file"),
        ("北京 大学\n奔驰 600\n李小福 2 nr\n".encode(), 3, "entry of a dictionary of jieba"),
        (b"Rome\n" + b"a " * (MAX_PHRASE + 1) + b"\n", 2, "65 tokens"),
        (b"Rome\n\xff\n", 2, "is not utf-8"),
        (b"Ro\0me\n", 1, "NUL"),
    ],
)
def test_faults_in_files_are_told_with_their_place(
    tmp_path: Path, data: bytes, line: int, fault: str
) -> None:
    path = tmp_path / "cities"
    path.write_bytes(data)
    with pytest.raises(CorpusError, match=fault) as caught:
        Gazetteers.from_files({"city": path})
    assert (caught.value.file, caught.value.line) == (str(path), line)


def test_damaged_compression_is_told(tmp_path: Path) -> None:
    path = tmp_path / "cities.xz"
    path.write_bytes(lzma.compress(b"Rome\n" * 1000)[:-20])
    with pytest.raises(CorpusError, match="damaged or truncated"):
        Gazetteers.from_files({"city": path})


@looped(
    ("lists", "fault"),
    [
        ({"city": []}, "'city' is empty"),
        ({"city": ["  "]}, "is empty; leave it out"),
        ({"city": "Rome"}, "must be a list"),
        ({"city": None}, "must be a list"),
        ({"city": [3]}, "phrases are strings"),
        ({"city": ["a " * (MAX_PHRASE + 1)]}, "65 tokens"),
        ({"city": ["\ud800"]}, "lone surrogate"),
        ({"": ["Rome"]}, "cannot be the name"),
        ({"my city": ["Rome"]}, "cannot be the name"),
        ({"\ud800": ["Rome"]}, "cannot be the name"),
        ({3: ["Rome"], "city": ["Rome"]}, "cannot be the name"),
        ([["Rome"]], "must be a mapping"),
    ],
)
def test_unusable_lists_are_refused(lists: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        Gazetteers(lists)
