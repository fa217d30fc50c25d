"""Prediction: any text whatever, sentences, n-best against brute force."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from crafted import tampered
from example_counts import quick_examples
from hypothesis import example, given
from hypothesis import strategies as st
from looped import looped
from made_up_corpora import sentences, squeeze

from spacy_structreg.learn.model_file import parse_model
from spacy_structreg.models.segmentation import CharacterSegmenter

Corpus = list[list[str]]

# Everything a str can hold, surrogates included, mixed with what means something to a segmenter.
any_text = st.lists(
    st.text(st.characters(exclude_categories=()), max_size=5)
    | st.sampled_from(
        ["今天", "天气", "。", "！”", "……", " ", "\n", "\r\n", "\u3000", "\u2028", "\x1c", "\x85"]
    )
    | st.sampled_from(["\0", "\ud83d", "\udc00", "𠀀", "\U0010ffff", "\u0301", "\u200d", "👩", "🇨"])
    | st.sampled_from(["ＡＢ", "3.5", "\ufe0f", "\u200b", "\ufeff", "\u00a0"]),
    max_size=12,
).map("".join)


@pytest.fixture(scope="module")
def as_document(fitted: CharacterSegmenter) -> CharacterSegmenter:
    """The same weights, but every text is one sentence."""
    data = tampered(fitted.to_bytes(), lambda h, _: h["settings"].update(sentences="doc"))
    return CharacterSegmenter.from_bytes(data)


class TestAnyText:
    @quick_examples(300)
    @given(any_text)
    @example("")
    @example(" \n\t\u3000")
    @example("\u0301")
    @example("。" * 1000)
    @example("\n" * 1000)
    @example("🇨🇳🇨" * 20)
    @example("\u200d" * 700)
    def test_words_and_spans(
        self, fitted: CharacterSegmenter, as_document: CharacterSegmenter, text: str
    ) -> None:
        for segmenter in (fitted, as_document):
            words = segmenter.predict(text)
            assert "".join(words) == squeeze(text)
            for word in words:
                assert word
                assert squeeze(word) == word
            spans = segmenter.predict_spans(text)
            assert spans.dtype == np.int64
            assert spans.shape == (len(words), 2)
            assert [text[begin:end] for begin, end in spans] == words
            # No word reaches over white space, where it would lose it.
            assert squeeze(text) == "".join(text[begin:end] for begin, end in spans)
            assert (spans[1:, 0] >= spans[:-1, 1]).all()
            found = segmenter.nbest(text, 4)
            assert found[0][1] == words
            assert all(np.isfinite(score) for score, _ in found)
            assert all("".join(each) == squeeze(text) and all(each) for _, each in found)

    @given(st.text("今天天气很好大学生。", min_size=1, max_size=8), st.data())
    def test_joining_characters_are_never_cut_off(
        self, as_document: CharacterSegmenter, text: str, data: st.DataObject
    ) -> None:
        at = data.draw(st.integers(1, len(text)))
        mark = data.draw(st.sampled_from(["\u0301", "\ufe0f", "\u200d", "\U0001f3fb"]))
        marked = text[:at] + mark + text[at:]
        assert at not in as_document.predict_spans(marked)[:, 0]

    @looped("text", ["好！\ufe0f", "好？\u0301好", "好\n\u0301好", "好。\u200d好"])
    def test_joining_characters_behind_a_sentence(
        self, fitted: CharacterSegmenter, text: str
    ) -> None:
        """The end of a sentence cuts them off no more than a word does; a line break does."""
        at = next(i for i, character in enumerate(text) if character in "\ufe0f\u0301\u200d")
        starts = fitted.predict_spans(text)[:, 0]
        assert (at in starts) == (text[at - 1] == "\n")

    def test_evaluate(self, fitted: CharacterSegmenter, dev: Corpus) -> None:
        predicted = fitted.predict_batch("".join(words) for words in dev)
        assert fitted.evaluate(predicted).seg_f == 1.0
        spaced = [[" ", *words, "\n"] for words in dev]
        figures = fitted.evaluate(dev)
        assert fitted.evaluate(spaced, n_threads=2) == figures
        assert figures.gold == sum(map(len, dev))
        assert figures.predicted == sum(map(len, predicted))
        known = fitted.evaluate(dev, vocabulary={"我"})
        assert known.oov == sum(word != "我" for words in dev for word in words)


class TestSentences:
    PIECES = (
        "今天天气很好。", "他说：“去吃饭吧！”", "海边人不好？？", "老师看书……", "学生会\n",
        "上海\r\n", "\u3000\u3000老师看书。\n\u3000\u3000", "学生A来。  ", "我是Tom. ",
    )  # fmt: skip

    @given(st.lists(st.sampled_from(PIECES), max_size=6))
    def test_a_text_is_the_sum_of_its_sentences(
        self, fitted: CharacterSegmenter, as_document: CharacterSegmenter, pieces: list[str]
    ) -> None:
        whole = fitted.predict("".join(pieces))
        assert whole == [word for piece in pieces for word in as_document.predict(piece)]

    def test_a_document_sees_over_the_end_of_a_sentence(self, small: CharacterSegmenter) -> None:
        """One template, which reads what follows: only as one document the ending is seen."""
        corpus = [["大学", "。", "生"], ["大", "学", "。", "活"]] * 4
        context = {"templates": "c+2c+3 | c+1c+2 | c0 | t-1t0", "types": None, "epochs": 10}
        document = CharacterSegmenter(**context, sentences="doc").fit(corpus)
        assert document.predict("大学。生") == ["大学", "。", "生"]
        assert document.predict("大学。活") == ["大", "学", "。", "活"]
        cut = CharacterSegmenter(**context, sentences="punctuation").fit(corpus)
        assert cut.predict("大学。生")[:-2] == cut.predict("大学。活")[:-2]

    def test_gold_is_cut_as_texts_are(self, train: Corpus) -> None:
        """Two sentences on one line train as the same two on two lines."""
        ended = [[*words, "。"] for words in train]
        joined = [left + right for left, right in zip(ended[::2], ended[1::2], strict=True)]
        weights = {}
        for kind in ("punctuation", "doc"):
            for name, corpus in (("apart", ended), ("joined", joined)):
                segmenter = CharacterSegmenter(sentences=kind, epochs=2).fit(corpus)
                arrays = parse_model(segmenter.to_bytes())[1]
                weights[kind, name] = {key: array.tobytes() for key, array in arrays.items()}
        assert weights["punctuation", "apart"] == weights["punctuation", "joined"]
        assert weights["punctuation", "apart"] == weights["doc", "apart"]
        assert weights["doc", "joined"] != weights["doc", "apart"]

    def test_no_sentence_of_the_corpus_needs_a_mark(self) -> None:
        """A gold word with a mark inside stays whole, and the sentence goes on behind it."""
        corpus = [["Yahoo!网", "好"], ["去", "Yahoo!网", "。"]] * 3
        assert CharacterSegmenter(sentences="punctuation").fit(corpus).evaluate(corpus).gold == 15


def with_weights(data: bytes, seed: int) -> bytes:
    """The same model with random weights, so that no two segmentations score the same."""
    chance = np.random.default_rng(seed)

    def change(_: object, arrays: dict[str, np.ndarray]) -> None:
        for name, array in arrays.items():
            if name.endswith(".values"):
                array[:] = chance.normal(size=array.shape)

    return tampered(data, change)


def segmentations(text: str, ends: list[int]) -> Iterator[list[str]]:
    """All ways to cut a text that cut it where they must: at `ends` and at white space."""
    places = range(1, len(text))
    for cuts in itertools.product([False, True], repeat=len(places)):
        bounds = [i for i, cut in zip(places, cuts, strict=True) if cut]
        if set(ends) - {len(text)} <= set(bounds):
            yield [text[a:b] for a, b in itertools.pairwise([0, *bounds, len(text)])]


def score_by_hand(segmenter: CharacterSegmenter, words: list[str], ends: list[int]) -> float:
    """Emissions of single characters and transitions of labels, read from the model file."""
    arrays = parse_model(segmenter.to_bytes())[1]
    # Shapes are sorted: the tag bigram, then the characters, whose keys are code points.
    transitions = arrays["0.values"].astype(float).reshape(4, 4)
    emissions = dict(zip(arrays["1.keys"].tolist(), arrays["1.values"].astype(float), strict=True))
    labels = "".join("S" if len(w) == 1 else f"B{'M' * (len(w) - 2)}E" for w in words)
    path = ["BEMS".index(label) for label in labels]
    score = 0.0
    for i, character in enumerate("".join(words)):
        score += emissions.get(ord(character), np.zeros(4))[path[i]]
        if i and i not in ends:
            score += transitions[path[i - 1], path[i]]
    return score


class TestNBest:
    @looped("seed", range(5))
    @looped(
        ("text", "ends"),
        [
            ("学", [1]),
            ("大学生活", [4]),
            ("大学生活学生", [6]),
            ("活。生", [2, 3]),
            ("大学。学生。活", [3, 6, 7]),
            ("学。。生。活活。学", [3, 5, 8, 9]),
        ],
    )
    def test_brute_force(
        self, seed: int, text: str, ends: list[int], small: CharacterSegmenter
    ) -> None:
        segmenter = CharacterSegmenter.from_bytes(with_weights(small.to_bytes(), seed))
        expected = sorted(
            ((score_by_hand(segmenter, words, ends), words) for words in segmentations(text, ends)),
            reverse=True,
        )
        for n in (1, 2, 3, len(expected) - 1, len(expected), len(expected) + 5, 500):
            if n < 1:
                continue
            found = segmenter.nbest(text, n)
            assert len(found) == min(n, len(expected))
            assert [words for _, words in found] == [words for _, words in expected[:n]]
            assert [s for s, _ in found] == pytest.approx([s for s, _ in expected[: len(found)]])
        assert segmenter.predict(text) == expected[0][1]

    @looped("n", [1, 2, 3, 7])
    def test_sums_of_the_best_of_each_sentence(self, n: int, fitted: CharacterSegmenter) -> None:
        pieces = ["今天天气好。", "学生会去图书馆看书！", "他们工作过去，", "\n", "上海边人？"]
        pieces[2] += "吃饭。"
        each = [fitted.nbest(piece, n) for piece in pieces]
        sums = sorted(
            (
                (sum(score for score, _ in chosen), [w for _, words in chosen for w in words])
                for chosen in itertools.product(*each)
            ),
            key=lambda item: -item[0],
        )
        found = fitted.nbest("".join(pieces), n)
        assert [score for score, _ in found] == pytest.approx([score for score, _ in sums[:n]])
        by_words = {tuple(words): score for score, words in sums}
        for score, words in found:
            assert by_words[tuple(words)] == pytest.approx(score)

    def test_white_space_is_a_boundary(self, small: CharacterSegmenter) -> None:
        found = small.nbest("大学 生活", 100)
        assert len(found) == 4
        assert {" ".join(words) for _, words in found} == {
            "大 学 生 活", "大学 生 活", "大 学 生活", "大学 生活"
        }  # fmt: skip

    @looped("text", ["", " ", "\n\u3000"])
    def test_texts_without_words(self, text: str, fitted: CharacterSegmenter) -> None:
        assert fitted.nbest(text, 3) == [(0.0, [])]


@pytest.mark.slow
def test_ten_million_characters_in_one_line(train: Corpus) -> None:
    segmenter = CharacterSegmenter(epochs=2).fit(train)
    line = "".join("".join(words) for words in sentences(2_000, seed=8)).translate(
        str.maketrans("", "", "。！？…")
    )
    text = (line * (10_000_000 // len(line) + 1))[:10_000_000]
    words = segmenter.predict(text)
    assert "".join(words) == text
    assert 0.3 < len(words) / len(text) < 1
