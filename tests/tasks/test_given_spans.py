"""Spans that a caller gives: they hold, and the rest is the best there is."""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import assume, example, given
from hypothesis import strategies as st
from looped import looped
from tasks.test_text_decoder import TEXTS, flat, model, spans_in

from spacy_structreg.features.typed_runs import FIRST_STAND_IN, STAND_INS, TypedRuns
from spacy_structreg.tasks.segmentation.constraints import Constraints
from spacy_structreg.tasks.segmentation.given_spans import (
    SAYS_STAND_IN,
    AnySpan,
    GivenSpan,
    run_limits,
    span_limits,
    with_stand_ins,
)
from spacy_structreg.tasks.segmentation.user_words import UserWords

KINDS = ["characters", "words", "narrow", "by words", "cut", "guided", "guided and narrow"]
TAGGERS = ["tagged characters", "tagged words"]
SPAN_KINDS = ["token", "whole", "edges"]


@st.composite
def spanned(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> tuple[str, list[AnySpan]]:
    """A text and spans in it, which need not go together."""
    text = draw(texts)
    spans: list[AnySpan] = []
    if text:
        for _ in range(draw(st.integers(1, 3))):
            start = draw(st.integers(0, len(text) - 1))
            end = draw(st.integers(start + 1, min(len(text), start + 6)))
            spans.append((start, end, draw(st.sampled_from(SPAN_KINDS))))
    return text, spans


def trimmed(text: str, spans: list[AnySpan]) -> list[tuple[int, int, str]]:
    """The spans without white space at the edges of tokens and wholes."""
    kept = []
    for start, end, kind, *_ in spans:
        inner = [i for i in range(start, end) if kind == "edges" or not text[i].isspace()]
        kept.append((inner[0], inner[-1] + 1, kind))
    return kept


def agree(text: str, spans: list[AnySpan], tokens: list[tuple[int, int]]) -> bool:
    """Whether tokens, and the white space between them, are as the spans say."""
    for start, end, kind in trimmed(text, spans):
        inner = any(a < start < b or a < end < b for a, b in tokens)
        if kind == "token" and (start, end) not in tokens:
            return False
        if kind == "whole" and not any(a <= start and end <= b for a, b in tokens):
            return False
        if kind == "edges" and inner:
            return False
    return True


def go_together(text: str, spans: list[AnySpan]) -> bool:
    """Whether any words are as the spans say: no edge lies within what must be whole."""
    checked = trimmed(text, spans)
    return not any(
        start < edge < end
        for start, end, kind in checked
        if kind != "edges"
        for a, b, other in checked
        if other != "whole"
        for edge in (a, b)
    )


@looped("kind", [*KINDS, *TAGGERS])
@given(case=spanned(TEXTS), words=st.lists(st.text("大学生在 ab", min_size=1, max_size=4)))
@quick_examples(60)
@example(case=("大 学生", [(0, 3, "token")]), words=[])
@example(case=("学。大", [(0, 3, "whole")]), words=[])
@example(case=("大学生", [(1, 2, "edges")]), words=["大学生", "大学"])
@example(case=("大\u0301学", [(0, 1, "edges")]), words=[])
def test_spans_hold(kind: str, case: tuple[str, list[AnySpan]], words: list[str]) -> None:
    """Whatever the words that are listed, and the settings of the model."""
    text, spans = case
    listed_words = UserWords([word for word in words if word == word.strip()])
    listed_words.add("生在", bonus=3.0)
    blank = any(kind != "edges" and not text[a:b].strip() for a, b, kind in spans)
    if blank or not go_together(text, spans):
        fault = "contains only white space" if blank else "would be cut by"
        with pytest.raises(ValueError, match=fault):
            model(kind).predict(text, listed_words, spans=spans)
        return
    predicted = model(kind).predict(text, listed_words, spans=spans)
    tokens = spans_in(text, predicted)
    assert agree(text, spans, tokens)
    found = model(kind).predict_spans(text, listed_words, spans=spans)
    assert list(map(tuple, found.tolist())) == tokens


@pytest.mark.parametrize("kind", ["characters", "words", "guided and wide"])
@given(case=spanned(st.text("大学生在京a", min_size=1, max_size=7)))
@quick_examples(60)
def test_the_best_of_those_that_agree_wins(kind: str, case: tuple[str, list[AnySpan]]) -> None:
    text, spans = case
    assume(go_together(text, spans))
    plain = dict(map(flat, model(kind).nbest(text, 64)))
    expected = {
        words: score
        for words, score in plain.items()
        if agree(text, spans, spans_in(text, list(words)))
    }
    found = dict(map(flat, model(kind).nbest(text, 64, spans=spans)))
    assert found == pytest.approx(expected, abs=1e-9)
    predicted = tuple(model(kind).predict(text, spans=spans))
    assert expected[predicted] == pytest.approx(max(expected.values()), abs=1e-9)


@looped("kind", TAGGERS)
@looped("tag", ["CD", "P", "NR", "VV"])
def test_tokens_with_tags(kind: str, tag: str) -> None:
    text = "在北京大学生活。"
    words = UserWords([("北京", "NR"), ("大学", "NN")])
    tagged = model(kind).predict_tagged(text, words, spans=[(1, 5, "token", tag)])
    assert ("北京大学", tag) in tagged
    tagged = model(kind).predict_tagged(text, words, spans=[(1, 3, "token", tag)])
    assert ("北京", tag) in tagged
    assert ("大学", "NN") in tagged
    with pytest.raises(
        ValueError, match="the span 1:5 has the tag '没有', which the model does not"
    ):
        model(kind).predict_tagged(text, spans=[(1, 5, "token", "没有"), (5, 7)])
    for _, cut in model(kind).nbest(text, 3, words, spans=[(1, 5, "token", tag), (5, 7)]):
        assert ("北京大学", tag) in cut


def test_a_span_joins_sentences() -> None:
    assert "学。生" in model("cut").predict("大学。生活。", spans=[(1, 4)])
    assert "学。生" in model("cut").nbest("大学。生活。", 1, spans=[(1, 4)])[0][1]


def test_limits_by_hand() -> None:
    limits = span_limits("在 北京大学 的", [(1, 6, "token", "NR"), (6, 8, "edges")])
    assert limits.constraints.tolist() == [0, 0, 1, 2, 2, 2, 1, 0]
    assert limits.tagged == [GivenSpan(2, 6, "token", "NR")]
    assert limits.wholes() == [(2, 6)]
    places = np.array([[0, 3, -1], [2, 4, -1], [2, 6, -1], [3, 6, -1], [6, 8, -1], [7, 8, -1]])
    assert limits.without_rivals(places).tolist() == [False, False, False, False, True, True]


@looped(
    ("span", "fault"),
    [
        ((0,), "expected a span"),
        ("ab", "expected a span"),
        (3, "expected a span"),
        ((0, 1, "token", None, 1), "expected a span"),
        ((0.5, 1), "must be integers"),
        ((None, 1), "must be integers"),
        ((-1, 1), "is empty or goes beyond the text, which has 3 characters"),
        ((0, 4), "goes beyond"),
        ((1, 1), "is empty"),
        ((2, 1), "is empty"),
        ((0, 1, "word"), "unknown kind 'word' of spans; choose token, whole or edges"),
        ((0, 1, "whole", "NN"), "cannot have the tag 'NN'; tokens have tags"),
        ((0, 1, "token", ""), "cannot have the tag ''"),
        ((0, 1, "token", 3), "cannot have the tag 3"),
        ((2, 3), "contains only white space"),
    ],
)
def test_spans_that_are_refused(span: object, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        span_limits("大学 ", [span])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="the span 0:2 of kind 'token' has two tags, 'A' and 'B'"):
        span_limits("大学", [(0, 2, "token", "A"), (0, 2, "token", "B")])
    assert span_limits("大学", [(0, 2, "token", "A"), (0, 2)]).tagged[0].tag == "A"


# Typed runs ---------------------------------------------------------------------------------------


@looped(
    ("text", "boundaries"),
    [
        ("大学", "00"),
        ("重35kg的", "012121"),
        # White space begins nothing; what follows it does.
        ("重35 kg的", "0121121"),
        ("有1,200人", "0022220"),
        ("￥3.5万", "11222"),
        ("学#AI课#", "011201"),
        # What joins a run is of its last word.
        ("见a.cn\u0301。", "0122201"),
        ("a.cn\U000e0100好", "122201"),
        ("哈哈哈\u200d大学", "122001"),
        ("哈哈哈\u200d哈哈哈", "1220022"),
        # No joiner, though the one below it by two planes is.
        ("a.cn\U00020300好", "122210"),
        # A run that joins what stands before it.
        ("大🏽学", "001"),
        ("好\u200d😂", "000"),
    ],
)
def test_limits_of_runs_by_hand(text: str, boundaries: str) -> None:
    said = run_limits(text, TypedRuns().find(text))
    assert said.dtype == np.uint8
    assert "".join(map(str, (said % SAYS_STAND_IN).tolist())) == boundaries


def test_what_joins_a_run_is_gone_through_once() -> None:
    """Were it gone through for each run, this would take hours."""
    text = "😀\u200d" * 500_000
    said = run_limits(text, TypedRuns().find(text))
    assert not (said % SAYS_STAND_IN == 1)[1:].any()


def test_stand_ins_by_hand() -> None:
    text = "见a.cn 和😂😂。重3kg"
    runs = list(TypedRuns().find(text))
    url, emoji = ([chr(FIRST_STAND_IN + n - 1) for n in STAND_INS[k]] for k in ("url", "emoji"))
    seen = with_stand_ins(text, runs)
    assert seen == f"见{url[0]}{url[1] * 3} 和{emoji[0]}{emoji[1]}。重3kg"
    numbers = run_limits(text, runs) // SAYS_STAND_IN
    assert [chr(FIRST_STAND_IN + n - 1) if n else "" for n in numbers.tolist()] == [
        there if there != here else "" for here, there in zip(text, seen, strict=True)
    ]
    assert with_stand_ins("大学", []) == "大学"
    assert run_limits("", []).tolist() == []


WITH_RUNS = st.lists(
    st.sampled_from(
        [*"大学生在，。 ", "www.a.cn/b", "a@b.cn", "😂😂", "👨‍👩‍👧", "3kg", "哈哈哈", "\u0301"]
    ),
    max_size=6,
).map("".join)


@pytest.mark.parametrize("kind", ["characters with runs", "words with runs"])
@given(text=WITH_RUNS)
@quick_examples(60)
@example("在www.a.cn/b生活")
def test_stand_ins_are_what_the_model_sees(kind: str, text: str) -> None:
    """The same as if they were written into the text."""
    runs = list(TypedRuns().find(text))
    said = run_limits(text, runs)
    ends = [len(text)] if text else []
    seen, cut = with_stand_ins(text, runs), said % SAYS_STAND_IN
    given_text, given_seen = (Constraints(boundaries=each) for each in (said, cut))
    with model(kind)._decoders().borrow() as decoder:
        found = decoder.spans([text], [ends], [given_text])[0].tolist()
        assert found == decoder.spans([seen], [ends], [given_seen])[0].tolist()
        words, *others = decoder.segment(
            [text, seen, text], [ends] * 3, [given_text, given_seen, given_text]
        )
        assert words == others[1] == [text[start:end] for start, end in found]
        assert list(map(len, others[0])) == list(map(len, words))
        if not text.strip():
            return
        here, there = decoder.nbest(text, 8, given_text), decoder.nbest(seen, 8, given_seen)
        assert [score for score, _ in here] == [score for score, _ in there]
        assert [list(map(len, each)) for _, each in here] == [
            list(map(len, each)) for _, each in there
        ]
        squeezed, kept = "".join(text.split()), [not each.isspace() for each in text]
        assert np.array_equal(
            decoder.margins(squeezed, said[kept]),
            decoder.margins("".join(seen.split()), cut[kept]),
        )


@pytest.mark.parametrize("kind", ["characters with runs", "words with runs"])
def test_without_stand_ins_the_model_sees_the_text(kind: str) -> None:
    """So that the test before could fail."""
    text = "在https://b.cn生活"
    said = run_limits(text, TypedRuns().find(text))
    with model(kind)._decoders().borrow() as decoder:
        scores = [
            decoder.nbest(text, 1, Constraints(boundaries=each))[0][0]
            for each in (said, said % SAYS_STAND_IN)
        ]
    assert scores[0] != scores[1]
