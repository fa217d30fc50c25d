"""Cutting texts into words: what always holds, whatever the weights are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from twins import (
    ChainTwin,
    character_model,
    labels_of,
    legal_paths,
    path_score,
    random_tables,
    slow_score,
    squeeze,
    viterbi_twin,
    words_of,
)

from spacy_structreg.features.segmentation import CHARACTER_TYPES, SKIP_BIGRAM, ZHANG_2014
from spacy_structreg.learn.freezing import Bits, frozen_rows
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.tasks.chain import ChainDecoder
from spacy_structreg.tasks.segmentation.bmes import bmes
from spacy_structreg.tasks.segmentation.characters import CharacterDecoder
from spacy_structreg.tasks.segmentation.constraints import Constraints

TRAINED_ON = "我们在北京大学学习，2024年1月\u0301e\u20dd👍\U0001f3fd👩\u200d🚀🇨🇳🇩🇪\x00𠀀\ud800"
FAMILY = "👨\u200d👩\u200d👧"
CHINA, GERMANY = "🇨🇳", "🇩🇪"

SPACES, JOINING = " \t\n\u3000\u2028\x1c", "\u0301\u20dd\u200d\ufe0f🇨🇳🇩🇪👍\U0001f3fd"
PIECES = st.sampled_from([*"我们在大学，1年\x00", *SPACES, *JOINING, FAMILY, CHINA])
TEXTS = st.lists(st.one_of(PIECES, st.characters()), max_size=30).map("".join)


def make_decoder(seed: int = 0) -> CharacterDecoder:
    """A segmenter with random weights: what it says is arbitrary, but what must hold, holds."""
    model = character_model(f"{ZHANG_2014} | {CHARACTER_TYPES} | {SKIP_BIGRAM}", "g10")
    tables = random_tables(model, TRAINED_ON * 2, seed)
    chain = ChainDecoder(model.features, model.graph, tables)
    return CharacterDecoder(model.atoms, chain, bmes().begins)


DECODERS = [make_decoder(seed) for seed in range(3)]
DECODER = st.sampled_from(DECODERS)


def segment(decoder: CharacterDecoder, text: str) -> list[str]:
    return decoder.segment([text], [[len(text)]])[0]


def spans_of(text: str, words: list[str]) -> list[list[int]]:
    """Where words stand in a text, from left to right."""
    spans, end = [], 0
    for word in words:
        begin = text.index(word, end)
        assert not text[end:begin].split()
        end = begin + len(word)
        spans.append([begin, end])
    return spans


@given(DECODER, TEXTS)
def test_nothing_but_white_space_is_lost(decoder: CharacterDecoder, text: str) -> None:
    words = segment(decoder, text)
    assert "".join(words) == "".join(text.split())
    assert all(word.split() == [word] for word in words)
    spans = decoder.spans([text], [[len(text)]])[0]
    assert spans.dtype == np.int64
    assert spans.tolist() == spans_of(text, words)


@given(DECODER, st.lists(TEXTS, max_size=30), st.integers(1, 40))
def test_sentences_decoded_together_are_those_decoded_alone(
    decoder: CharacterDecoder, texts: list[str], longest: int
) -> None:
    """A text of one sentence is decoded alone; the first text is too long to join others."""
    texts = ["我们在北京大学学习" * 60, *texts]
    ends = [[*range(longest, len(text), longest), len(text)] if text else [] for text in texts]
    alone = [
        [
            word
            for first, last in itertools.pairwise([0, *limits])
            for word in segment(decoder, text[first:last])
        ]
        for text, limits in zip(texts, ends, strict=True)
    ]
    assert decoder.segment(texts, ends) == alone
    spans, starts = decoder.spans(texts, ends)
    assert starts.tolist() == [0, *itertools.accumulate(map(len, alone))]
    for i, text in enumerate(texts):
        assert spans[starts[i] : starts[i + 1]].tolist() == spans_of(text, alone[i])


CLUSTERS = [
    "e\u0301", "e\u0301\u20dd", "👍\U0001f3fd", "❤\ufe0f", "1\ufe0f\u20e3", "か\u3099", FAMILY,
    "👩\U0001f3fd\u200d🚀", "🏳\ufe0f\u200d🌈", CHINA, GERMANY,
]  # fmt: skip


@given(DECODER, st.lists(st.sampled_from([*CLUSTERS, *"我们在1，", " "]), max_size=12))
def test_what_belongs_together_is_never_cut(decoder: CharacterDecoder, parts: list[str]) -> None:
    text = "".join(parts)
    ends = set(itertools.accumulate(map(len, parts)))
    for begin, end in decoder.spans([text], [[len(text)]])[0].tolist():
        assert end in ends
        assert begin in {0, *ends}


def test_letters_of_flags_pair_up_from_the_left() -> None:
    for decoder in DECODERS:
        segmentations = [words for _, words in decoder.nbest(CHINA + GERMANY[0], 10)]
        assert sorted(segmentations) == sorted([[CHINA + GERMANY[0]], [CHINA, GERMANY[0]]])
        # White space starts the count anew, within a pair too.
        assert [words for _, words in decoder.nbest("🇨 🇳🇩🇪", 10)] in (
            [["🇨", "🇳🇩", "🇪"], ["🇨", "🇳🇩🇪"]],
            [["🇨", "🇳🇩🇪"], ["🇨", "🇳🇩", "🇪"]],
        )


@given(DECODER, st.lists(PIECES, max_size=6).map("".join), st.integers(1, 12))
def test_n_best_equals_brute_force(decoder: CharacterDecoder, text: str, k: int) -> None:
    squeezed, mask = squeeze(text)
    if len(squeezed) > 6:
        squeezed, mask, text = "", mask[:0], ""
    model = character_model(f"{ZHANG_2014} | {CHARACTER_TYPES} | {SKIP_BIGRAM}", "g10")
    twin = ChainTwin(model)
    twin.read(model, decoder.chain.tables, [squeezed])
    emissions = np.array(twin.emissions(squeezed)).reshape(-1, 4)
    scored = sorted(
        (
            (path_score(path, emissions, twin.bigrams), words_of(squeezed, path))
            for path in legal_paths(model.graph, len(squeezed), mask)
        ),
        reverse=True,
    )
    found = decoder.nbest(text, k)
    assert [score for score, _ in found] == pytest.approx([s for s, _ in scored[:k]], abs=1e-9)
    assert len({tuple(words) for _, words in found}) == len(found)
    for score, words in found:
        assert score == pytest.approx(next(s for s, w in scored if w == words), abs=1e-9)
    assert [words for _, words in found[:1]] == [segment(decoder, text)]


@looped("n", [511, 512, 513, 1_024, 1_500])
@looped("spaced", [False, True])
def test_sentences_longer_than_a_block_equal_the_twin(n: int, spaced: bool) -> None:
    random = np.random.default_rng(n)
    alphabet = [*"我们在北京大学，1年\u0301", CHINA[0], *(" " if spaced else "")]
    text = "".join(random.choice(alphabet, size=n))
    model = character_model(f"{ZHANG_2014} | c-2c0c+1c+2 | type-3type+3", "g10")
    tables = random_tables(model, text, seed=n)
    chain = ChainDecoder(model.features, model.graph, tables)
    decoder = CharacterDecoder(model.atoms, chain, bmes().begins)
    squeezed, mask = squeeze(text)
    twin = ChainTwin(model)
    twin.read(model, tables, [squeezed])
    score, path = viterbi_twin(twin.emissions(squeezed), twin.bigrams.tolist(), model.graph, mask)
    assert segment(decoder, text) == words_of(squeezed, path)
    assert decoder.nbest(text, 1)[0][0] == pytest.approx(score)


def test_no_text_and_empty_texts() -> None:
    decoder = make_decoder()
    assert decoder.segment([], []) == []
    assert decoder.segment(["", " ", ""], [[], [1], [0, 0]]) == [[], [], []]
    assert decoder.spans([""], [[]])[0].shape == (0, 2)
    assert decoder.nbest("", 3) == [(0.0, [])]
    assert decoder.nbest(" \n", 3) == [(0.0, [])]


@looped(
    ("texts", "sentences", "complaint"),
    [
        (["我们"], [[1]], "do not cover"),
        (["我们"], [[3]], "do not cover"),
        (["我们"], [[]], "do not cover"),
        (["我们"], [[3, 2]], "do not rise"),
        (["我们"], [[-1, 2]], "do not rise"),
        (["我们", "在"], [[2, 1, 2], [1]], "do not rise"),
        (["我们"], [], r"zip\(\)"),
        (["我们"], [[2], [2]], r"zip\(\)"),
    ],
)
def test_sentences_that_do_not_fit(texts, sentences, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        make_decoder().segment(texts, sentences)


@given(DECODER, st.lists(TEXTS, max_size=5), st.integers(1, 10))
def test_ends_may_be_offsets_in_all_texts(
    decoder: CharacterDecoder, texts: list[str], longest: int
) -> None:
    ends = [[*range(longest, len(text), longest), len(text)] if text else [] for text in texts]
    bases = [0, *itertools.accumulate(map(len, texts))]
    joined = [base + end for base, limits in zip(bases, ends, strict=False) for end in limits]
    found = decoder.segment(texts, np.array(joined, dtype=np.int64))
    assert found == decoder.segment(texts, ends)


@looped("ends", [[], [3], [2], [4, 3], [3, 2, 4], [-1, 3, 4], [3, 4, 5]])
def test_offsets_in_all_texts_that_do_not_fit(ends: list[int]) -> None:
    with pytest.raises(ValueError, match="do not cover"):
        make_decoder().spans(["我们在", "年"], np.array(ends, dtype=np.int64))


def test_words_are_those_of_their_text() -> None:
    """Short words are remembered by their characters, of which some share a place."""
    decoder = make_decoder()
    han = [chr(code) for code in range(0x4E00, 0x9E00)]
    for words in (han, ["中\x00", "中", "\x00中", "\x00\x00中", "a中", "\xe9", "中"], han[::-1]):
        text = " ".join(words)
        begins = np.where(np.array([*" " + text[:-1]]) == " ", 1, 2).astype(np.uint8)
        assert decoder.segment([text], [[len(text)]], [Constraints(boundaries=begins)]) == [words]


def with_other_rows(table: TrainedRows, n: int) -> TrainedRows:
    """A table with so many rows more, of random keys and weights."""
    rng = np.random.default_rng(n)
    others = rng.integers(1 << 63, 1 << 64, n, dtype=np.uint64)
    keys, first = np.unique(np.append(table.arrays["keys"], others), return_index=True)
    weights = rng.normal(size=(n, table.n_columns)).astype(np.float32)
    values = np.concatenate((table.arrays["values"], weights))[first]
    return TrainedRows(table.n_columns, {"keys": keys, "values": values})


@looped("n_others", [0, 40_000])
@looped("bits", [8, 16, 32])
def test_frozen_rows_are_summed_up(bits: Bits, n_others: int) -> None:
    """Rows of four labels are added in a way of their own, if they are frozen.

    Those of large tables are looked up in another way than those of small ones.
    """
    model = character_model(f"{ZHANG_2014} | {CHARACTER_TYPES} | {SKIP_BIGRAM}", "g10")
    tables = random_tables(model, TRAINED_ON * 2, 1)
    for i, shape in enumerate(model.features.shapes):
        if n_others and not shape.is_tag_bigram:
            tables[i] = with_other_rows(tables[i], n_others)
    tables = [frozen_rows(table, bits) for table in tables]
    chain = ChainDecoder(model.features, model.graph, tables)
    decoder = CharacterDecoder(model.atoms, chain, bmes().begins)
    text = "我们在大学习，学习X204年" * 6
    for score, words in decoder.nbest(text, 5):
        assert score == pytest.approx(slow_score(model, tables, text, labels_of(words)), abs=1e-9)


@pytest.mark.parametrize("text", [None, b"abc", 5])
def test_what_is_not_text(text) -> None:
    decoder = make_decoder()
    with pytest.raises(TypeError):
        decoder.segment([text], [[3]])
    with pytest.raises(TypeError):
        decoder.nbest(text, 1)
