"""N-grams of raw text: counts equal a slow twin's, whatever the chunks, threads and order."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st

from spacy_structreg.features.character_classes import half_width_table
from spacy_structreg.features.scripts import Script
from spacy_structreg.tasks.knowledge import ngrams
from spacy_structreg.tasks.knowledge.ngram_counts import RunMerger, TextChunk
from spacy_structreg.tasks.knowledge.ngrams import (
    NgramTotals,
    character_codes,
    count_ngrams,
)
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms

Counts = dict[str, tuple[int, int, int]]

# Few characters, so that n-grams come again; some beyond the first plane, white space and NUL.
TEXTS = st.lists(st.text("ab在\U0001f600\U00020001 \u3000\t\n\0。!\ud800", max_size=30), max_size=6)


def coded(character: str) -> str:
    code = ord(character)
    return chr(0xD800 | (code & 0x7FF)) if code > 0xFFFF else character if code else "\uffff"


def twin(texts: list[str], minimum: int, view: Any = str) -> Counts:
    """How often n-grams occur, and their accessor varieties to the left and to the right."""
    frequency: Counter[str] = Counter()
    before: defaultdict[str, set[str]] = defaultdict(set)
    after: defaultdict[str, set[str]] = defaultdict(set)
    begins: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    for text in texts:
        for part in re.split("(?<=[。！？!?…；;\n\r\u2028\u2029])", text):
            sentence = "".join(coded(view(c)) for c in part if not c.isspace())
            for n in (2, 3, 4):
                for i in range(len(sentence) - n + 1):
                    ngram = sentence[i : i + n]
                    frequency[ngram] += 1
                    if i:
                        before[ngram].add(sentence[i - 1])
                    else:
                        begins[ngram] += 1
                    if i + n < len(sentence):
                        after[ngram].add(sentence[i + n])
                    else:
                        ends[ngram] += 1
    return {
        ngram: (n, len(before[ngram]) + begins[ngram], len(after[ngram]) + ends[ngram])
        for ngram, n in frequency.items()
        if n >= minimum
    }


def as_counts(totals: NgramTotals) -> Counts:
    shifts = (48, 32, 16, 0)
    ngrams = [
        "".join(chr(code >> shift & 0xFFFF) for shift in shifts if code >> shift & 0xFFFF)
        for code in totals.ngrams.tolist()
    ]
    columns = (totals.frequencies.tolist(), totals.left.tolist(), totals.right.tolist())
    return dict(zip(ngrams, zip(*columns, strict=True), strict=True))


@quick_examples(60)
@given(TEXTS, st.integers(1, 3), st.sampled_from([1, 7, 1 << 21]), st.integers(1, 3))
def test_counts_are_those_of_the_twin(
    texts: list[str], minimum: int, chunk: int, n_threads: int
) -> None:
    totals = count_ngrams(texts, minimum=minimum, chunk=chunk, n_threads=n_threads)
    assert as_counts(totals) == twin(texts, minimum)
    assert (np.diff(totals.ngrams.astype(object)) > 0).all()


def test_views_are_seen_through() -> None:
    texts = ["ａｂａ", "abab", "１ａｂ1"]
    table = half_width_table()
    totals = count_ngrams(texts, view=table, minimum=1)
    assert as_counts(totals) == twin(texts, 1, lambda c: chr(table[ord(c)]))


def test_scripts_reach_beyond_the_second_plane() -> None:
    """OpenCC maps some 900 characters of the third and fourth plane."""
    script = Script(np.array([[0x4E0A, 0x4E0B], [0x21ED5, 0x5C81], [0x30EDE, 0x2B5E7]], np.uint32))
    atoms = CharacterAtoms(None, half_width=True, script=script)
    old, new = "上海\U00021ed5月\U00030ede上\U0002a700", "下海岁月\U0002b5e7下\U0002a700"
    assert atoms.seen(old) == new
    seen = count_ngrams([old, old], view=atoms.normalization(), minimum=1)
    assert equal(seen, count_ngrams([new, new], minimum=1))


def long_texts(seed: int, n: int) -> list[str]:
    draw = random.Random(seed)
    common = "".join(map(chr, range(0x4E00, 0x4E40))) + "。"
    return ["".join(draw.choices(common, k=draw.randrange(60))) for _ in range(n)]


def equal(one: NgramTotals, other: NgramTotals) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in vars(one))


def test_neither_order_nor_threads_nor_files_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = long_texts(1, 400)
    totals = count_ngrams(texts)
    assert as_counts(totals) == twin(texts, 2)
    assert equal(totals, count_ngrams(texts[::-1], n_threads=3, chunk=500))
    assert equal(totals, count_ngrams(["\n".join(texts)]))
    monkeypatch.setattr(ngrams, "_PORTION", 7)
    assert equal(totals, count_ngrams(iter(texts), n_threads=2, chunk=500))


@pytest.mark.parametrize("most", [1, 10, 300, 10_000])
def test_of_too_many_the_most_frequent_are_kept(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngrams, "_PORTION", 50)
    texts = long_texts(2, 200)
    counts = twin(texts, 2)
    minimum = 2
    while sum(n >= minimum for n, _, _ in counts.values()) > most:
        minimum += 1
    expected = twin(texts, minimum)
    assert as_counts(count_ngrams(texts, most=most)) == expected
    assert as_counts(count_ngrams(texts[::-1], most=most, n_threads=2, chunk=99)) == expected


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        count_ngrams([], most=0)
    codes, ends = character_codes()
    with pytest.raises(ValueError, match="entries"):
        TextChunk((codes[:5], ends))
    with pytest.raises(ValueError, match="two numbers"):
        RunMerger([np.zeros((2, 3), np.uint64)], 1)


def test_errors_of_threads_reach_the_caller() -> None:
    def texts() -> Any:
        yield "abab"
        raise OSError("the file is gone")

    with pytest.raises(OSError, match="gone"):
        count_ngrams(texts(), n_threads=2)
