"""Statistics of raw text as atoms of characters: they equal a slow twin's, and survive files."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from test_ngram_counts import TEXTS, as_counts, coded

from spacy_structreg.features.knowledge import INFORMATION_ATOM, VARIETY_ATOMS
from spacy_structreg.tasks.knowledge.ngrams import NgramTotals, count_ngrams
from spacy_structreg.tasks.knowledge.statistics_source import StatisticsSource
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms

REACH = 2
CORPUS = ["甲乙丙。甲乙", "丙甲乙丙", "乙丙丁。丁甲乙", "丙甲乙丁"]


def floor_of_log(n: int) -> int:
    return min(n.bit_length() - 1, 15)


def twin(totals: NgramTotals, sentence: str, *, information: bool) -> list[list[int]]:
    """The streams of a sentence, character by character."""
    counts = as_counts(totals)
    seen = "".join(map(coded, sentence))
    n = len(seen)
    classes = {
        ngram: (floor_of_log(left), floor_of_log(right))
        for ngram, (_, left, right) in counts.items()
    }
    streams = []
    for length in (2, 3, 4):
        stream = []
        for i in range(n):
            best = (0, 0)
            for begin in range(max(0, i - length + 1), min(i, n - length) + 1):
                found = min(classes.get(seen[begin : begin + length], (0, 0)))
                if found > best[0]:
                    best = (found, i - begin)
            stream.append(best[0] * 4 + best[1])
        streams.append(stream)
    streams.append([classes.get(seen[i : i + 2], (0, 0))[0] for i in range(n)])
    streams.append([classes.get(seen[max(i - 1, 0) : i + 1], (0, 0))[1] for i in range(n)])
    if information:
        total = int(totals.characters.sum())
        stream = [0] * n
        for i in range(1, n):
            if pair := counts.get(seen[i - 1 : i + 1]):
                first, second = (int(totals.characters[ord(c)]) for c in seen[i - 1 : i + 1])
                bits = math.log2(pair[0] * total / (first * second))
                stream[i] = min(max(math.floor(bits + 1e-9) + 1, 1), 15)
        streams.append(stream)
    return [[0] * REACH + stream + [0] * REACH for stream in streams]


def streams_of(source: StatisticsSource, sentence: str) -> list[list[int]]:
    found: list[list[int]] = CharacterAtoms(sources=[source]).symbols(sentence, REACH)[1:].tolist()
    return found


def test_worked_by_hand() -> None:
    """Before 甲乙 stand 丙 and 丁, and it begins two sentences; behind it stand 丙 and 丁, and it
    ends two. 乙丙 stands behind 甲, and begins one; behind it stand 。 and 丁, and it ends one.
    """
    source = StatisticsSource.of(count_ngrams(CORPUS))
    assert list(source.atoms) == [*VARIETY_ATOMS]
    two, _, _, left, right = streams_of(source, "甲乙丙")
    assert two == [0, 0, 4 * 2 + 0, 4 * 2 + 1, 4 * 1 + 1, 0, 0]
    assert left == [0, 0, 2, 1, 0, 0, 0]
    assert right == [0, 0, 0, 2, 1, 0, 0]


@quick_examples(40)
@given(TEXTS, st.text("ab在\U0001f600\U00020001\0。", max_size=20), st.booleans())
def test_streams_are_those_of_the_twin(texts: list[str], sentence: str, information: bool) -> None:
    totals = count_ngrams(texts * 2)
    source = StatisticsSource.of(totals, information)
    assert streams_of(source, sentence) == twin(totals, sentence, information=information)
    assert max(map(max, streams_of(source, sentence))) < 64


def test_they_survive_files_and_pickling() -> None:
    source = StatisticsSource.of(count_ngrams(CORPUS), True)
    assert list(source.atoms)[-1] == INFORMATION_ATOM
    again = StatisticsSource.from_contents(*source.contents())
    assert again.copy() is again
    for other in (again, pickle.loads(pickle.dumps(source))):
        assert len(other) == len(source) > 0
        assert other.contents()[0] == source.contents()[0]
        for text in CORPUS:
            assert streams_of(other, text) == streams_of(source, text)


def joined_class(one: int, other: int) -> int:
    return min(max(one, other) + (min(one, other) > 0 and abs(one - other) <= 1), 15)


def test_statistics_of_two_texts_are_joined() -> None:
    one = StatisticsSource.of(count_ngrams(CORPUS), True)
    other = StatisticsSource.of(count_ngrams(["乙丙丁戊", "戊乙丙", "甲戊乙丙", "丁戊"]), True)
    joined = one.joined(other)
    for text in ("丁甲乙丙", "戊乙丙丁戊"):
        both = list(zip(streams_of(one, text), streams_of(other, text), strict=True))
        for stream, (a, b) in zip(streams_of(joined, text)[3:5], both[3:5], strict=True):
            assert stream == list(map(joined_class, a, b))
        assert streams_of(joined, text)[5] == np.maximum(*both[5]).tolist()
    assert [joined_class(*pair) for pair in ((0, 3), (1, 3), (2, 3), (3, 3))] == [3, 3, 4, 4]
    assert len(joined) > max(len(one), len(other))
    with pytest.raises(ValueError, match="mutual information"):
        one.joined(StatisticsSource.of(count_ngrams(CORPUS)))


def test_there_may_be_no_ngrams() -> None:
    source = StatisticsSource.of(count_ngrams([]), True)
    assert len(StatisticsSource.from_contents(*source.contents())) == 0
    assert not np.any(streams_of(source, "甲乙丙"))


ENTRIES: dict[str, Any] = {"information": True}
FAULTY_ENTRIES: list[Any] = [{}, {"information": 1}, {"information": None}, {**ENTRIES, "x": 1}, []]


@looped("entries", FAULTY_ENTRIES)
def test_faulty_entries_are_refused(entries: Any) -> None:
    _, arrays = StatisticsSource.of(count_ngrams(CORPUS), True).contents()
    with pytest.raises(ValueError, match=r"entries|true or false"):
        StatisticsSource.from_contents(entries, arrays)


@quick_examples(100)
@given(st.data())
def test_hostile_arrays_are_refused_or_harmless(data: st.DataObject) -> None:
    """Whatever lies in a file, nothing is read beyond its arrays."""
    source = StatisticsSource.of(count_ngrams(CORPUS), True)
    _, arrays = source.contents()
    name = data.draw(st.sampled_from(sorted(arrays)))
    array = arrays[name].copy()
    match data.draw(st.integers(0, 5)):
        case 0:
            array = array[: data.draw(st.integers(0, len(array)))]
        case 1:
            array = array.astype(data.draw(st.sampled_from(["int8", "int32", "float64"])))
        case 2:
            array = array.reshape(1, -1)
        case 3:
            array[data.draw(st.integers(0, len(array) - 1))] = data.draw(st.integers(0, 2**16 - 1))
        case 4:
            array = np.concatenate((array, array))
        case _:
            array = np.full_like(array, np.iinfo(array.dtype).max)
    try:
        hostile = StatisticsSource.from_contents(ENTRIES, {**arrays, name: array})
    except ValueError:
        return
    for text in CORPUS:
        assert np.max(streams_of(hostile, text)) < 64


def test_missing_arrays_are_refused() -> None:
    _, arrays = StatisticsSource.of(count_ngrams(CORPUS), True).contents()
    for name in arrays:
        rest = {other: array for other, array in arrays.items() if other != name}
        with pytest.raises(ValueError, match="arrays"):
            StatisticsSource.from_contents(ENTRIES, rest)
