"""Models that find URLs, measures, emoji and the like by their form, in any text."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

import numpy as np
import pytest
from example_counts import quick_examples
from features.test_typed_runs import OPEN, known_alone
from hypothesis import assume, example, given
from hypothesis import strategies as st
from looped import looped
from tasks.test_given_spans import agree, go_together, spanned
from tasks.test_text_decoder import spans_in

from spacy_structreg.corpora.partial_sentence import PartialSentence
from spacy_structreg.corpora.sentences import LONGEST
from spacy_structreg.models.guided import GuidedJointTagger, GuidedSegmenter
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter
from spacy_structreg.tasks.segmentation.user_words import UserWords

TAGGED: Final = [
    [("大学", "N"), ("在", "P"), ("北京", "N"), ("。", "U")],
    [("学生", "N"), ("在", "P"), ("大学", "N"), ("生活", "V"), ("！", "U")],
    [("看", "V"), ("www.a.cn", "U"), ("，", "U"), ("学生", "N")],
    [("3", "C"), ("kg", "N"), ("大", "J"), ("学生", "N"), ("😂", "I"), ("ab", "N"), ("12", "C")],
]
SEGMENTED: Final = [[word for word, _ in sentence] for sentence in TAGGED]

SEGMENTERS: Final = [CharacterSegmenter, WordSegmenter, GuidedSegmenter]
TAGGERS: Final = [CharacterJointTagger, WordJointTagger, GuidedJointTagger]
PARTS: Final[dict[Any, Any]] = {
    GuidedSegmenter: (CharacterSegmenter, WordSegmenter),
    GuidedJointTagger: (CharacterJointTagger, WordJointTagger),
}
all_kinds = looped("kind", [*SEGMENTERS, *TAGGERS])
plain_kinds = looped(
    "kind", [CharacterSegmenter, WordSegmenter, CharacterJointTagger, WordJointTagger]
)


def untrained(kind: Any, **chosen: Any) -> Any:
    chosen = {"typed_runs": True, "epochs": 2, "seed": 3, **chosen}
    if kind in PARTS:
        characters, words = PARTS[kind]
        return kind(characters(**chosen), words(beam=4, **chosen), weight=1.0, beam=2)
    return kind(**chosen)


def gold_of(kind: Any) -> list[Any]:
    return TAGGED if kind in TAGGERS else SEGMENTED


def fitted(kind: Any, **chosen: Any) -> Any:
    return untrained(kind, **chosen).fit(gold_of(kind))


@cache
def model(kind: Any) -> Any:
    """A small trained model of the kind; tests do not change it."""
    return fitted(kind)


def words_of(items: list[Any]) -> list[str]:
    return [item if isinstance(item, str) else item[0] for item in items]


# Runs in any text ---------------------------------------------------------------------------------


@cache
def runs() -> list[tuple[str, str, list[int]]]:
    """Runs that are found whatever stands around them: their kinds, texts and edges."""
    return [
        (case.kind, case.text[run[0] : run[-1]], [edge - run[0] for edge in run])
        for case in known_alone()
        if case.kind not in ("topic", "none")
        for run in case.runs
    ]


Bounds = list[tuple[str, list[int]]]


@st.composite
def texts_with_runs(draw: st.DrawFn, n: int = 3) -> tuple[str, Bounds]:
    """A text with runs of the table in it, their kinds, and where they begin, are cut and end."""
    han = st.text("大学生在京。！ \n", max_size=4)
    text = draw(han)
    bounds: Bounds = []
    for kind, run, edges in draw(st.lists(st.sampled_from(runs()), min_size=1, max_size=n)):
        # Han characters between runs, three so that no range is seen. Names in such end with a
        # colon or white space, and a mouth that is an open bracket stands before a mark.
        text += "大"
        bounds.append((kind, [len(text) + edge for edge in edges]))
        after = "：" if kind == "mention" else "，" if run.endswith("(") else "学生"
        text += run + after + draw(han)
    return text, bounds


def check(text: str, bounds: Bounds, words: list[str], *, whole: bool = True) -> None:
    """Words are cut where runs are, and nowhere within; whole: and begin and end with them."""
    spans = spans_in(text, words)
    starts, ends = {start for start, _ in spans}, {end for _, end in spans}
    for kind, edges in bounds:
        inner = {i for i in starts | ends if edges[0] < i < edges[-1]}
        # White space within a run stands behind a cut.
        cuts = {j for i in edges for j in (i, i + 1 if text[i : i + 1].isspace() else i)}
        assert inner <= cuts, (text, words)
        if whole and kind not in OPEN:
            assert {edges[0], *edges[1:-1]} <= starts | ends, (text, words)
            assert edges[0] in starts, (text, words)
            assert edges[-1] in ends, (text, words)


@all_kinds
@given(case=texts_with_runs())
@quick_examples(40)
def test_runs_are_kept(kind: Any, case: tuple[str, Bounds]) -> None:
    text, bounds = case
    words = model(kind).predict(text)
    check(text, bounds, words)
    assert "".join(words) == "".join(text.split())
    spans = model(kind).predict_spans(text)
    assert [text[start:end] for start, end in spans.tolist()] == words
    assert model(kind).predict_batch([text, "大学", text], n_threads=2)[::2] == [words, words]
    assert words_of(model(kind).nbest(text, 1)[0][1]) == words
    for _, items in model(kind).nbest(text, 3):
        check(text, bounds, words_of(items))
    if kind in TAGGERS:
        tagged = model(kind).predict_tagged(text)
        assert words_of(tagged) == words
        assert list(model(kind).predict_tagged_stream([text])) == [tagged]


@all_kinds
@given(case=texts_with_runs(2))
@quick_examples(20)
def test_margins_of_runs_are_infinite(kind: Any, case: tuple[str, Bounds]) -> None:
    text, bounds = case
    (sentences,) = model(kind).predict_margins([text])
    assert "".join(sentence for sentence, _ in sentences) == "".join(text.split())
    # Of each place between two characters of the text without white space; inf between sentences.
    margins = np.concatenate([np.append(each, np.inf) for _, each in sentences])
    before = [len("".join(text[:i].split())) for i in range(len(text) + 1)]
    for name, run in bounds:
        edges = [before[edge] for edge in run]
        for place in set(range(edges[0] + 1, edges[-1])) - set(edges):
            assert margins[place - 1] == -np.inf
        if name not in OPEN:
            assert all(margins[edge - 1] == np.inf for edge in edges if edge)


@all_kinds
def test_without_the_setting_runs_are_cut_as_the_model_likes(kind: Any) -> None:
    """So that the tests above could fail."""
    text = "看http://a.cn/?b=1！大学35kg在a@b.cn生活"
    assert {"http://a.cn/?b=1", "35", "kg", "a@b.cn"} <= set(model(kind).predict(text))
    cut = fitted(kind, typed_runs=False).predict(text)
    assert not {"http://a.cn/?b=1", "35", "kg", "a@b.cn"} <= set(cut)


# Runs and what callers say ------------------------------------------------------------------------


@all_kinds
@given(case=texts_with_runs(2), data=st.data())
@quick_examples(30)
def test_listed_words_never_cut_runs(kind: Any, case: tuple[str, Bounds], data: Any) -> None:
    text, bounds = case
    words = UserWords()
    for _ in range(3):
        bonus = data.draw(st.sampled_from([None, 1e6]))
        start = data.draw(st.integers(0, len(text) - 1))
        end = data.draw(st.integers(start + 1, min(len(text), start + 8)))
        if word := text[start:end].strip():
            # Without a tag, `大 5` would be refused.
            tag = (*getattr(model(kind), "tags", ()), "NN")[0] if " " in word else None
            words.add(word, tag, bonus=bonus)
    # A listed word may hold several pieces, or begin before a run and end behind it.
    check(text, bounds, model(kind).predict(text, words), whole=False)
    for _, items in model(kind).nbest(text, 2, words):
        check(text, bounds, words_of(items), whole=False)


@all_kinds
def test_listed_words_go_beyond_runs(kind: Any) -> None:
    text = "在a.cn大学，重35kg左"
    words = UserWords(["a.cn大", "35kg左"])
    assert {"a.cn大", "35kg左"} <= set(model(kind).predict(text, words))
    assert {"a.cn", "35", "kg"} <= set(model(kind).predict(text, UserWords(["cn大", "5kg", "在a"])))


@all_kinds
@given(case=spanned(st.lists(st.sampled_from([*"大学生。 ", "a.cn", "3kg", "！！"])).map("".join)))
@quick_examples(40)
@example(case=("看a.cn", [(1, 2, "token")]))
@example(case=("看a.cn。大", [(3, 7, "token")]))
@example(case=("3kg", [(0, 3, "token")]))
def test_given_spans_win(kind: Any, case: tuple[str, list[Any]]) -> None:
    text, spans = case
    assume(all(kind_ == "edges" or text[a:b].strip() for a, b, kind_ in spans))
    assume(go_together(text, spans))
    words = model(kind).predict(text, spans=spans)
    assert agree(text, spans, spans_in(text, words))
    assert words_of(model(kind).nbest(text, 1, spans=spans)[0][1]) == words


@pytest.mark.parametrize("kind", [CharacterSegmenter, WordSegmenter])
def test_runs_look_the_same_where_spans_are_given(kind: Any) -> None:
    """So the scores of what both allow are those without spans."""
    text = "看a.cn，学生"
    scores = {tuple(words): score for score, words in model(kind).nbest(text, 16)}
    assert len(scores) == 4
    for spans in ([(1, 5)], [(0, 1), (1, 5, "whole")], [(1, 5, "edges")]):
        given_too = model(kind).nbest(text, 16, spans=spans)
        assert {tuple(words): score for score, words in given_too} == scores


# Training -----------------------------------------------------------------------------------------


@plain_kinds
@pytest.mark.parametrize("runs", [True, False])
def test_addresses_look_alike_in_training(kind: Any, runs: bool) -> None:
    """Those of the same length: then all weights are the same, and otherwise not."""
    scores = []
    for host in ("www.a.cn", "xx.y.org"):
        tagged = [[(word.replace("www.a.cn", host), tag) for word, tag in s] for s in TAGGED]
        gold = tagged if kind in TAGGERS else [[word for word, _ in s] for s in tagged]
        ranked = untrained(kind, typed_runs=runs).fit(gold).nbest(f"看{host}，学生", 3)
        scores.append([score for score, _ in ranked])
    assert (scores[0] == scores[1]) is runs


@plain_kinds
def test_partial_sentences_teach_the_same(kind: Any) -> None:
    whole = [
        PartialSentence.of_words(
            [word for word, _ in sentence],
            [tag for _, tag in sentence] if kind in TAGGERS else None,
        )
        for sentence in TAGGED[:3]
    ]
    gold = gold_of(kind)[:3]
    assert untrained(kind).fit(whole).to_bytes() == untrained(kind).fit(gold).to_bytes()


@all_kinds
def test_development_sentences_are_those_that_people_write(kind: Any) -> None:
    """Latin words have spaces between them, as otherwise two of them would be one run."""
    gold = [["看", "New", "York", "大学"], ["在", "a.cn", "b.cn"]]
    sentences: Any = [[(word, "N") for word in s] for s in gold] if kind in TAGGERS else gold
    scores = model(kind).evaluate(sentences).as_dict()
    found = [model(kind).predict("看New York大学"), model(kind).predict("在a.cn b.cn")]
    right = sum(
        len(set(spans_in("".join(a), a)) & set(spans_in("".join(a), b)))
        for a, b in zip(gold, found, strict=True)
    )
    assert scores["seg_r"] == right / 7


# Settings -----------------------------------------------------------------------------------------


@all_kinds
def test_whole_runs(kind: Any) -> None:
    text = "卖￥35，重35kg。#大学#在￥ 3"
    assert {"￥", "35", "kg", "#"} <= set(model(kind).predict(text))
    whole = fitted(kind, whole_runs=["price", "measure", "topic"])
    assert {"￥35", "35kg", "#大学#", "￥"} <= set(whole.predict(text))
    one = fitted(kind, whole_runs=["price"]).predict(text)
    assert {"￥35", "35", "kg", "#"} <= set(one)


LATIN: Final[list[list[tuple[str, str]]]] = [
    # One-character words are what all but the rule speaks for; 1998年 is one, and AB two.
    *[[("看", "V"), ("a", "N"), ("一", "C"), ("1", "C"), ("书", "N")]] * 3,
    [("1998年", "T"), ("A", "N"), ("B", "M"), ("Ｃ", "M"), ("1", "C"), ("2", "C"), ("看", "V")],
]


@all_kinds
def test_words_cut_no_run_of_latin_letters_or_digits(kind: Any) -> None:
    tagged = kind in TAGGERS
    gold = LATIN if tagged else [[word for word, _ in sentence] for sentence in LATIN]
    text = "看abc12书１２３Ｘ一98年x.y"
    free = untrained(kind, typed_runs=False).fit(gold)
    held = untrained(kind, typed_runs="latin").fit(gold)

    def cuts(words: list[str]) -> list[str]:
        """The runs that are cut, told by pairs of characters."""
        ends = {sum(map(len, words[:i])) for i in range(1, len(words))}
        return [
            text[i - 1 : i + 1]
            for i in ends
            if (text[i - 1] + text[i]).isdigit()
            or all(c.isalpha() and c.upper() != c.lower() for c in text[i - 1 : i + 1])
        ]

    assert cuts(free.predict(text))
    assert not cuts(held.predict(text))
    assert "".join(held.predict(text)) == text


@plain_kinds
def test_training_joins_words_that_cut_a_run(kind: Any) -> None:
    model = kind(typed_runs="latin")
    tagged = kind in TAGGERS
    gold = LATIN[-1] if tagged else [word for word, _ in LATIN[-1]]
    (example,) = model._examples(gold)
    expected = [("1998年", "T"), ("ABＣ", "N"), ("12", "C"), ("看", "V")]
    assert example == (expected if tagged else [word for word, _ in expected])
    with pytest.raises(ValueError, match="choose typed_runs = true, or leave whole_runs out"):
        kind(typed_runs="latin", whole_runs=["price"])
    with pytest.raises(ValueError, match="typed_runs"):
        kind(typed_runs="greek")


# Numbers, signs and marks -------------------------------------------------------------------------

DIGITS: Final = "零一二三四五六七八九"


def chinese(number: int) -> str:
    """A number in Chinese digits, as it is read."""
    parts: list[str] = []
    for unit, sign in ((10**8, "亿"), (10**4, "万"), (1, "")):
        group, number = divmod(number, unit)
        if not group:
            parts.append("零")
            continue
        for power, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
            digit, group = divmod(group, power)
            parts.append(DIGITS[digit] + name if digit else "零")
        parts.append(sign)
    text = re.sub("零+", "零", "".join(parts)).strip("零")
    text = re.sub("零([万亿])", r"\1", text)
    return text.removeprefix("一") if text.startswith("一十") else text


def test_numbers_are_read_so() -> None:
    read = {15: "十五", 203: "二百零三", 1_050: "一千零五十", 100_000_010: "一亿零一十"}
    assert {number: chinese(number) for number in read} == read


@all_kinds
@given(number=st.integers(11, 10**12 - 1), is_traditional=st.booleans())
@example(1_050, False)
@example(203, True)
@example(20_000, False)
@quick_examples(60)
def test_a_number_is_one_word(kind: Any, number: int, is_traditional: bool) -> None:
    read = chinese(number)
    if is_traditional:
        read = read.replace("万", "萬").replace("亿", "億")
    assert f"第{read}" in words_of(model(kind).predict(f"学生在第{read}条"))
    for text in (read, f"学{read}件", f"{read}。", f"（{read}）"):
        spans = spans_in(text, words_of(model(kind).predict(text)))
        start = text.index(read)
        assert [span for span in spans if span[0] <= start and span[1] >= start + len(read)]


@looped(
    ("text", "words"),
    [
        ("￥35", [("￥", "M"), ("35", None)]),
        ("HK$80", [("HK$", "M"), ("80", None)]),
        ("100＄", [("100", None), ("＄", "M")]),
        ("第十二", [("第十二", "OD")]),
        ("三分之一学", [("三分之一", "CD"), ("学", None)]),
        ("二〇二四年学", [("二〇二四年", "NT"), ("学", None)]),
        ("*学*", [("*", "PU"), ("学", None), ("*", "PU")]),
        ("学|生", [("学", None), ("|", "PU"), ("生", None)]),
        ("①学", [("①", "CD"), ("学", None)]),
        ("真？?！", [("真", None), ("？?！", "PU")]),
        # What joins a mark goes with it, and is none of it.
        ("学*\u0301", [("学", None), ("*\u0301", None)]),
        ("", []),
        ("|", [("|", "PU")]),
    ],
)
@looped("kind", TAGGERS)
def test_words_of_which_form_says_the_tag(
    kind: Any, text: str, words: list[tuple[str, str | None]]
) -> None:
    tags = ("M", "OD", "CD", "NT", "PU")
    gold = [[("学", "N"), ("生", "N")] * 2, *([("真", "N"), ("大", tag)] for tag in tags)]
    tagger = _tagger(kind, tuple(map(tuple, gold)))
    found = tagger.predict_tagged(text)
    assert [word for word, _ in found] == [word for word, _ in words]
    assert [known or tag for (_, tag), (_, known) in zip(found, words, strict=True)] == [
        tag for _, tag in found
    ]
    assert tagger.nbest(text, 1)[0][1] == found


@cache
def _tagger(kind: Any, gold: tuple[tuple[tuple[str, str], ...], ...]) -> Any:
    return untrained(kind).fit([list(sentence) for sentence in gold])


@pytest.mark.parametrize("kind", TAGGERS)
def test_words_and_spans_of_users_come_before_marks(kind: Any) -> None:
    tagger = _tagger(kind, ((("学", "N"), ("生", "N")), (("大", "PU"), ("真", "V"))))
    assert tagger.predict_tagged("学|生") == [("学", "N"), ("|", "PU"), ("生", "N")]
    assert words_of(tagger.predict_tagged("学|生", ["学|生"])) == ["学|生"]
    assert tagger.predict_tagged("学|生", [("|", "V")])[1] == ("|", "V")
    favored = UserWords()
    favored.add("学|生", bonus=1e6)
    assert words_of(tagger.predict_tagged("学|生", favored)) == ["学|生"]
    assert words_of(tagger.predict_tagged("学|生", spans=[(0, 3)])) == ["学|生"]
    assert tagger.predict_tagged("学|生", spans=[(1, 2, "token", "V")])[1] == ("|", "V")


UNSEEN: Final = "\u200b\ufeff\u2060\xad\u200e"


@all_kinds
@given(parts=st.lists(st.sampled_from([*UNSEEN, *"大学 \n，", "a.cn", "|"]), max_size=9))
@example(["\u200b", "，大学"])
@example(["大\u200b学 \ufeff|"])
@quick_examples(60)
def test_characters_of_no_width_are_no_words(kind: Any, parts: list[str]) -> None:
    text = "".join(parts)
    words = words_of(model(kind).predict(text))
    assert "".join(words) == "".join(text.split())
    alone = [word for word in words if not word.strip(UNSEEN)]
    assert alone == [piece for piece in text.split() if not piece.strip(UNSEEN)]


# Long texts ---------------------------------------------------------------------------------------


@looped("sentences", ["punctuation", "doc"])
@all_kinds
def test_sentences_without_an_end(kind: Any, sentences: str) -> None:
    """Whatever the text is, and whatever is said of it, no sentence is much too long."""
    segmenter = model(kind) if sentences == "punctuation" else fitted(kind, sentences=sentences)
    overlapping = UserWords(["大大", ("生生", "N")])
    overlapping.add("京京", bonus=1.0)
    for part in ("大", "大生京", "a", "www.a.cn/" + "b" * 1_900, "😂\u200d", "大。", "1,"):
        text = part * (2 * LONGEST // len(part) + 1)
        for words in (None, overlapping.snapshot()):
            (ends,), constraints = segmenter._inputs([text], words)
            assert ends[-1] == len(text)
            assert max(np.diff([0, *ends])) <= LONGEST + 2_000
            listed = constraints[0].words if constraints else np.zeros((0, 3), dtype=np.int32)
            assert np.array_equal(
                np.searchsorted(ends, listed[:, 0], "right"), np.searchsorted(ends, listed[:, 1])
            )
    text = "大生京" * LONGEST
    found = words_of(segmenter.predict(text, overlapping))
    assert "".join(found) == text


@all_kinds
def test_spans_may_be_longer_than_a_sentence(kind: Any) -> None:
    text = "大" * 2 * LONGEST
    spans = [(3, LONGEST + 3)]
    assert text[:LONGEST] in words_of(model(kind).predict(text, spans=spans))


# Were all characters of a word seen at each step, this would take minutes.
@looped("kind", [WordSegmenter, WordJointTagger, GuidedJointTagger])
@looped("part", ["a", "/a", "大\u0301", "a-"])
def test_long_words(kind: Any, part: str) -> None:
    text = part * (40_000 // len(part))
    assert "".join(words_of(model(kind).predict(text))) == text
