"""Typed runs: what is found, how it is cut, and that nothing else is."""

from __future__ import annotations

import re
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Final, get_args

import pytest
from example_counts import quick_examples
from hypothesis import example, given
from hypothesis import strategies as st
from looped import looped
from typed_run_cases import TypedRunCase as Case
from typed_run_cases import read_typed_runs

from spacy_structreg.corpora.any_format import read_sentences
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.sentences import latin_spaces
from spacy_structreg.features.typed_runs import (
    _BEGIN,
    FIRST_STAND_IN,
    KINDS,
    MAX_LENGTH,
    STAND_INS,
    CutKind,
    Run,
    RunKind,
    TypedRuns,
    _pattern,
)

CASES: Final = list(read_typed_runs(Path(__file__).parents[2] / "treebank" / "typed_runs.txt"))
FINDER = TypedRuns()
WHOLE = TypedRuns(get_args(CutKind))


def found(text: str, finder: TypedRuns = FINDER) -> list[tuple[str, str]]:
    """The kinds and words of the runs of a text."""
    return [
        (run.kind, "|".join(text[start:end] for start, end in run.pieces))
        for run in finder.find(text)
    ]


# Kinds by hand ------------------------------------------------------------------------------------


@looped(
    ("text", "kind", "words"),
    [
        ("看https://a.cn/b?c=1&d=%E4#e，好", "url", "https://a.cn/b?c=1&d=%E4#e"),
        ("见http://a.cn/b。", "url", "http://a.cn/b"),
        ("见http://a.cn/b.", "url", "http://a.cn/b"),
        ("(http://a.cn/b_(c))", "url", "http://a.cn/b_(c)"),
        ("ＨＴＴＰ没有", "word", "ＨＴＴＰ"),
        ("www.a.com的", "url", "www.a.com"),
        ("点t.cn/Rx9q领", "url", "t.cn/Rx9q"),
        ("a.b.example.com:80/x的", "url", "a.b.example.com:80/x"),
        ("发a.b+c@d.com.cn吧", "email", "a.b+c@d.com.cn"),
        ("发ａ＠ｂ．ｃｎ吧", "email", "ａ＠ｂ．ｃｎ"),
        ("问@小林：好", "mention", "@小林"),
        ("问@小林 好", "mention", "@小林"),
        ("问@lin_1好", "mention", "@lin_1"),
        ("看/usr/local/bin里", "path", "/usr/local/bin"),
        ("打开~/notes。", "path", "~/notes"),
        ("见C:\\a\\b.txt。", "path", "C:\\a\\b.txt"),
        ("读README.md。", "path", "README.md"),
        ("跑src/main.py吧", "path", "src/main.py"),
        ("改.gitignore吧", "path", ".gitignore"),
        ("调get_user时", "identifier", "get_user"),
        ("调foo.bar()时", "identifier", "foo.bar()"),
        ("加--no-cache吧", "identifier", "--no-cache"),
        ("加-rf吧", "identifier", "-rf"),
        ("升v2.4.0了", "version", "v2.4.0"),
        ("用3.11.4吧", "version", "3.11.4"),
        ("用2.0.0-rc1吧", "version", "2.0.0-rc1"),
        ("时间：9:00开", "time", "9:00"),
        ("在15:30:05断", "time", "15:30:05"),
        ("在2024-03-05到", "time", "2024-03-05"),
        ("戳2024-03-05T15:30:00+08:00对", "time", "2024-03-05T15:30:00+08:00"),
        ("重35kg左右", "measure", "35|kg"),
        ("重35 kg左右", "measure", "35|kg"),
        ("重３５ｋｇ左右", "measure", "３５|ｋｇ"),
        ("约1,200.5mAh的", "measure", "1,200.5|mAh"),
        ("冷到-18℃了", "measure", "-18|℃"),
        ("有16G的", "measure", "16|G"),
        ("有1,200人", "number", "1,200"),
        ("占99.9%的", "number", "99.9%"),
        ("率1e-5小", "number", "1e-5"),
        ("早-5度", "number", "-5"),
        ("以71:64胜", "number", "71:64"),
        ("拨0571-5550188吧", "number", "0571-5550188"),
        ("好^_^呀", "emoticon", "^_^"),
        ("T_T我", "emoticon", "T_T"),
        ("好[狗头]呀", "emoticon", "[狗头]"),
        ("(╯°□°)╯走", "emoticon", "(╯°□°)╯"),
        ("好:)", "emoticon", ":)"),
        ("笑😂😂死", "emoji", "😂😂"),
        ("家👨‍👩‍👧好", "emoji", "👨‍👩‍👧"),
        ("国🇨🇳好", "emoji", "🇨🇳"),
        ("按1️⃣开", "emoji", "1️⃣"),
        ("赞👍🏽。", "emoji", "👍🏽"),
        ("哈哈哈走", "laughter", "哈哈哈"),
        ("笑hhhh走", "laughter", "hhhh"),
        ("学C++吧", "word", "C++"),
        ("在AT&T吧", "word", "AT&T"),
        ("得COVID-19了", "word", "COVID-19"),
        ("学Node.js吧", "word", "Node.js"),
        ("用TCP/IP的", "word", "TCP/IP"),
        ("好……我", "punctuation", "……"),
        ("好？！我", "punctuation", "？！"),
        ("好~~~我", "punctuation", "~~~"),
    ],
)
def test_a_kind(text: str, kind: RunKind, words: str) -> None:
    assert found(text) == [(kind, words)]


QUOTE: Final = [("mark", "'")]


@looped(
    ("text", "expected"),
    [
        # The number of a price is found for itself: it may go on.
        ("首付￥3.5万", [("price", "￥"), ("number", "3.5万")]),
        ("US$ 20", [("price", "US$"), ("number", "20")]),
        ("#早安#你好", [("topic", "#"), ("topic", "#")]),
        ("学 #Python", [("topic", "#"), ("word", "Python")]),
        ("#a\n#早安#", [("topic", "#"), ("word", "a"), ("topic", "#"), ("topic", "#")]),
        ("😂👍", [("emoji", "😂"), ("emoji", "👍")]),
        ("5kg-10kg", [("measure", "5|kg"), ("measure", "10|kg")]),
        ("9:00-18:00", [("time", "9:00"), ("mark", "-"), ("time", "18:00")]),
        ("a@b.cn,c@d.cn", [("email", "a@b.cn"), ("email", "c@d.cn")]),
        ("v2.3.1版", [("version", "v2.3.1")]),
        (
            "http://a.cn;http://b.cn",
            [("url", "http://a.cn"), ("mark", ";"), ("url", "http://b.cn")],
        ),
        ("www.a.cn,www.b.cn", [("url", "www.a.cn"), ("url", "www.b.cn")]),
        (
            "'http://a.cn','b.cn'",
            [*QUOTE, ("url", "http://a.cn"), *QUOTE * 2, ("url", "b.cn"), *QUOTE],
        ),
        ("给--port=80", [("identifier", "--port"), ("mark", "="), ("number", "80")]),
        ("C/C++", [("word", "C"), ("word", "C++")]),
        ("http://a.cn/?b=1,2;3", [("url", "http://a.cn/?b=1,2;3")]),
        ("@所有人大家好", [("mention", "@所有人")]),
        ("foo@bar", [("word", "foo"), ("word", "bar")]),
        ("Math.log(x)", [("word", "Math.log"), ("word", "x")]),
        ("第一百货商店，第一百貨公司", [("ordinal", "第一"), ("ordinal", "第一")]),
        ("第一百名", [("ordinal", "第一百")]),
        ("2.4Ghz和100MHZ", [("measure", "2.4|Ghz"), ("measure", "100|MHZ")]),
        ("（哈哈:)）", [("emoticon", ":)")]),
        ("R$50和A$一百", [("price", "R$"), ("number", "50"), ("price", "A$"), ("numeral", "一百")]),
        ("‣好◦⁃´«‹好›»", [("mark", mark) for mark in "‣◦⁃´«‹›»"]),
        # As the mark within names, it is none.
        ("•好 • 列夫•托尔斯泰", [("mark", "•"), ("mark", "•")]),
        (
            "&lt;b&gt;中文AT&T",
            [
                *(("mark", "&"), ("word", "lt"), ("mark", ";"), ("word", "b")),
                *(("mark", "&"), ("word", "gt"), ("mark", ";"), ("word", "AT&T")),
            ],
        ),
        *(
            (f"{before}{mark}ab{mark}好", [("mark", mark), ("word", "ab"), ("mark", mark)])
            for before in ("", "好")
            for mark in "$%^&"
        ),
        ("A$AP和$HOME", [("word", "A"), ("word", "AP"), ("word", "HOME")]),
        ("#$x$#", list(zip(("topic", *("mark", "word", "mark"), "topic"), "#$x$#", strict=True))),
        ("24x7和", [("number", "24"), ("mark", "x"), ("number", "7")]),
        (
            "2.5X30x4",
            [("number", "2.5"), ("mark", "X"), ("number", "30"), ("mark", "x"), ("number", "4")],
        ),
        ("30x40cm", [("number", "30"), ("mark", "x"), ("number", "40"), ("word", "cm")]),
        *((word, [("word", word)]) for word in ("0x10", "0x1F", "v2x3", "1080x", "3x7a", "x7")),
        ("response.json()", [("identifier", "response.json()")]),
        ("config.json(新)", [("path", "config.json")]),
        ("process.env里", [("word", "process.env")]),
        ("my_app.log和b/c.log", [("path", "my_app.log"), ("path", "b/c.log")]),
        ("学vue.js，改app.js", [("word", "vue.js"), ("path", "app.js")]),
        ("user.name和yes.it", [("word", "user.name"), ("word", "yes.it")]),
        ("t.me/x和a.b.vip", [("url", "t.me/x"), ("url", "a.b.vip")]),
        ("12306.cn和asp.net", [("url", "12306.cn"), ("word", "asp.net")]),
        ("2.5A和220V", [("measure", "2.5|A"), ("measure", "220|V")]),
        ("1.8m和2.5 A", [("measure", "1.8|m"), ("measure", "2.5|A")]),
        ("降至-5℃，早-5度", [("measure", "-5|℃"), ("number", "-5")]),
        ("哈 :D", [("emoticon", ":D")]),
        ("难过:(，好:)", [("emoticon", ":("), ("emoticon", ":)")]),
        ("(≧ω≦)和(´▽｀)", [("emoticon", "(≧ω≦)"), ("emoticon", "(´▽｀)")]),
        ("装.bashrc，以.txt结尾", [("path", ".bashrc"), ("path", ".txt")]),
        (
            "ls -R，git --ab-c",
            [("word", "ls"), ("identifier", "-R"), ("word", "git"), ("identifier", "--ab-c")],
        ),
    ],
)
def test_several(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@looped(
    "text",
    [
        *(
            "",
            "大学生活",
            "好。",
            "哈哈",
            "呵呵，",
            "北京-上海",
            "¥",
            "（一）",
            "和/或",
        ),
        *("如下:(一)总则", "(ω)", "(□□)", "@小林同学\n"),
        "@这一句话太长不是名字：",
    ],
)
def test_nothing(text: str) -> None:
    assert found(text) == []


@looped(
    ("text", "expected"),
    [
        ("￥35的", [("price", "￥35")]),
        ("重35kg的", [("measure", "35kg")]),
        ("#早安 Tom#好", [("topic", "#"), ("word", "Tom"), ("topic", "#")]),
        ("#早安#好", [("topic", "#早安#")]),
        ("#早安##晚安#", [("topic", "#早安#"), ("topic", "#晚安#")]),
        # White space is of no word.
        ("￥ 35的", [("price", "￥"), ("number", "35")]),
        ("重35 kg的", [("measure", "35|kg")]),
    ],
)
def test_whole(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text, WHOLE) == expected


def test_only_numbers_and_words_are_open() -> None:
    runs = {run.kind: run.is_open for case in CASES for run in FINDER.find(case.text)}
    assert set(runs) == set(KINDS) == set(get_args(RunKind))
    assert {kind for kind, is_open in runs.items() if is_open} == {"number", "numeral", "word"}


def test_stand_ins_are_private_and_differ() -> None:
    numbers = [number for pair in STAND_INS.values() for number in pair]
    assert len(set(numbers)) == len(numbers)
    assert set(STAND_INS) <= set(KINDS)
    # They are said with the constraint in eight bits, and lie in the block for private use.
    assert all(1 <= number < 64 for number in numbers)
    assert all(0xE000 <= FIRST_STAND_IN + number - 1 <= 0xF8FF for number in numbers)


# Any text -----------------------------------------------------------------------------------------

PARTS = st.sampled_from(
    [case.text[run[0] : run[-1]] for case in CASES for run in case.runs]
    + [
        *"大学0a1.:/@#￥-_~+()（ 哈！…。\n\t\u3000\x1c\x85\u2028\u0301\u200d\ufe0f😂🏽🇨",
        "://",
        "kg",
    ]
)
TEXTS = st.lists(PARTS, max_size=8).map("".join) | st.text()


def check_runs(text: str, runs: list[Run]) -> None:
    for before, after in pairwise(runs):
        assert before.end <= after.start
    for run in runs:
        assert 0 <= run.start < run.end <= len(text)
        assert run.end - run.start <= MAX_LENGTH
        bounds = [run.start, *(edge for piece in run.pieces for edge in piece), run.end]
        assert bounds == sorted(bounds)
        assert (run.pieces[0][0], run.pieces[-1][1]) == (run.start, run.end)
        for start, end in run.pieces:
            assert start < end
            assert not re.search(r"\s", text[start:end])
        for (_, end), (start, _) in pairwise(run.pieces):
            assert not text[end:start].strip()


@given(TEXTS)
@quick_examples(200)
@example("#早安 你好#")
@example("#a\n#早安#")
@example("( ´ ▽ ` )")
@example("￥ 35 kg")
def test_runs_are_apart_in_order_and_without_white_space(text: str) -> None:
    for finder in (FINDER, WHOLE):
        check_runs(text, list(finder.find(text)))


@looped(
    "piece",
    [
        *"aA1._-/:@#(~+ 哈—…",
        "http://",
        "www.",
        "(a)",
        "a.",
        "a-",
        "1,",
        "1:",
        "-_",
        "#a",
        "a" * 98 + "/",
    ],
)
def test_long_repeats(piece: str) -> None:
    """None is longer than it may be."""
    for text in (piece * (5_000 // len(piece)), "http://" + piece * (5_000 // len(piece))):
        check_runs(text, list(FINDER.find(text)))


@pytest.mark.parametrize("piece", ["1", "a", "1A", "a1", "哈"])
def test_rows_are_passed_at_once(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    class Counted:
        def match(self, text: str, start: int, end: int) -> re.Match[str] | None:
            tries.append(start)
            return _pattern().match(text, start, end)

    monkeypatch.setattr("spacy_structreg.features.typed_runs._pattern", Counted)
    list(FINDER.find(piece * 5_000))
    assert 0 < len(tries) <= 5_000 * len(piece) / 50


# The table ----------------------------------------------------------------------------------------

# What is left to the model in part: mostly words beside a run that are no run themselves.
LEFT: Final = {
    "v2.3.1版修复了闪退",
    "行吧…",
    "“没了？”她问",
    "“来！！”",
    "救命……！",
    "首付￥1.2万",
    "好啊啊啊",
}
# Of these, the words between the marks are, and all.
PARTLY: Final = {"topic", "none"}
# Of these, some or all are found as what may be a part of a longer word.
OPEN: Final = {
    *("number", "numeral", "word", "price", "measure", "identifier", "laughter", "mark"),
    "punctuation",
}


def said(text: str) -> tuple[set[int], set[int], set[int]]:
    """Where words begin or end, where they may, and where they do not, without white space."""
    before = [len("".join(text[:i].split())) for i in range(len(text) + 1)]
    closed: set[int] = {0, before[-1]}
    open_: set[int] = set()
    inside: set[int] = set()
    for run in FINDER.find(text):
        for start, end in run.pieces:
            (open_ if run.is_open else closed).update((before[start], before[end]))
            inside.update(range(before[start] + 1, before[end]))
    return closed, open_, inside


def faults(case: Case, *, left: bool = False) -> list[str]:
    """What is said of a text that is not as the case has it; left: or left to the model."""
    closed, open_, inside = said(case.text)
    found: list[str] = []
    for run in case.runs:
        bounds = {len("".join(case.text[:edge].split())) for edge in run}
        within = set(range(min(bounds), max(bounds) + 1))
        if bounds & inside or (closed & within) - bounds:
            found.append(f"{case.text} {run} is contradicted")
        if left or case.kind in PARTLY:
            continue
        if not bounds <= (closed | open_ if case.kind in OPEN else closed):
            found.append(f"{case.text} {run} has ends of which nothing is said")
        if not within <= inside | bounds:
            found.append(f"{case.text} {run} has words that could be cut")
    return found


def test_the_table_has_all_kinds() -> None:
    assert {case.kind for case in CASES} == {*KINDS, "none"}
    assert {case.text for case in CASES} >= LEFT


@looped("kind", [*KINDS, "none"])
def test_runs_are_cut_as_the_table_has_them(kind: str) -> None:
    cases = [case for case in CASES if case.kind == kind]
    assert [fault for case in cases for fault in faults(case, left=case.text in LEFT)] == []


def test_marks_of_topics_are_words() -> None:
    for case in CASES:
        if case.kind == "topic":
            closed, _, _ = said(case.text)
            for run in case.runs:
                marks = [i for i in range(run[0], run[-1]) if case.text[i] == "#"]
                before = [len("".join(case.text[:i].split())) for i in marks]
                assert {edge for i in before for edge in (i, i + 1)} <= closed


@looped("kind", [kind for kind in KINDS if kind not in PARTLY])
@given(data=st.data())
@quick_examples(20)
def test_the_context_changes_nothing(kind: str, data: st.DataObject) -> None:
    """Whatever Han characters stand around a run that is known without those that do."""
    case = data.draw(st.sampled_from([case for case in known_alone() if case.kind == kind]))
    run = data.draw(st.sampled_from(case.runs))
    # No numerals, as 一年-5 is a range, and no 生, as 一生 is a word.
    han = st.text("大学师在北京的了龍", max_size=4)
    before, after = data.draw(han), data.draw(han)
    # A colon or white space ends names in Han characters, and a mark a mouth that is a bracket.
    if kind == "mention":
        after = data.draw(st.sampled_from("： :\u3000")) + after
    if case.text[run[-1] - 1] == "(":
        after = "，" + after
    text = f"{before}{case.text[run[0] : run[-1]]}{after}"
    shift = len(before) - run[0]
    assert faults(Case(kind, text, [[edge + shift for edge in run]])) == []


# What may stand before runs, and the kinds of which some are something else behind it: 5月-18℃ has
# no sign, 20%a@b.cn is one address, and so is 微信/src/main.py one path.
BEFORE: Final[dict[str, set[RunKind]]] = {
    "5月": {"number", "measure"},
    "20%": {"number", "measure", "email", "identifier", "path"},
    "数量:": {"emoticon"},
    "微信/": {"path", "word", "punctuation", "mark"},
    "（": {"emoticon"},
}


def is_known_alone(case: Case) -> bool:
    """True if the runs of a case are found whatever stands around them."""
    afters = "：" if case.kind == "mention" else "，在"
    return not any(
        faults(
            Case(
                case.kind,
                f"学{case.text[run[0] : run[-1]]}{after}",
                [[at + 1 - run[0] for at in run]],
            )
        )
        for run in case.runs
        for after in afters
    )


@cache
def known_alone() -> list[Case]:
    """Cases whose runs are found so, whatever stands around them."""
    return [case for case in CASES if case.text not in LEFT and is_known_alone(case)]


@looped("before", BEFORE)
def test_marks_and_numbers_before(before: str) -> None:
    found: list[str] = []
    for case in known_alone():
        if case.kind not in PARTLY | BEFORE[before]:
            for run in case.runs:
                piece = case.text[run[0] : run[-1]]
                after = "：" if case.kind == "mention" else "，" if piece.endswith("(") else "大"
                shift = len(before) - run[0]
                runs = [[edge + shift for edge in run]]
                found += faults(Case(case.kind, before + piece + after, runs))
    assert found == []


# The treebank -------------------------------------------------------------------------------------

# One word in Han and Latin letters, which no pattern knows.
MIXED: Final = {"终稿v7.docx"}


@cache
def treebank() -> list[tuple[Path, Sentence]]:
    """Sentences of the training and development parts, with their files."""
    folder = Path(__file__).parents[2] / "treebank"
    paths = sorted(path for part in ("train", "dev") for path in folder.glob(f"{part}/*"))
    return [(path, sentence) for path in paths for sentence in read_sentences(path)]


def test_the_treebank_is_not_contradicted() -> None:
    """Words that were cut by hand end where runs do, and nowhere inside them."""
    found: list[str] = []
    n_runs = 0
    for path, sentence in treebank():
        words = sentence.words
        text = "".join(
            word + " " * space for word, space in zip(words, latin_spaces(words), strict=True)
        )
        closed, _, inside = said(text)
        bounds = [0, *accumulate(map(len, words))]
        for at in (closed - {*bounds}) | (inside & {*bounds}):
            parts = [w for w, (a, b) in zip(words, pairwise(bounds), strict=True) if a <= at <= b]
            if not MIXED.intersection(parts):
                found.append(f"{path.name} {parts} {text}")
        n_runs += len(inside)
    assert found == []
    assert n_runs > 1000


def test_tags_that_form_says_are_those_of_the_treebank() -> None:
    n_tags = 0
    for path, sentence in treebank():
        ends = accumulate(map(len, sentence.words))
        tags = dict(zip(pairwise([0, *ends]), sentence.tags, strict=True))
        for run in FINDER.find("".join(sentence.words)):
            for piece, tag in zip(run.pieces, run.tags, strict=bool(run.tags)):
                assert tags.get(piece, tag) == tag, (path, sentence, run)
                n_tags += 1
    assert n_tags > 200


@given(
    st.text(
        st.sampled_from(
            "!！?？,，:：)）('-|pDP3;.…~～/\\\"#@$%^&*_=+<>[]{}`一二十第元年百哈a9☆ \n😀"
        ),
        max_size=30,
    )
)
def test_runs_are_looked_for_wherever_a_pattern_matches(text: str) -> None:
    for at in range(len(text)):
        match = _pattern().match(text, at, at + MAX_LENGTH)
        # A numeral alone is no run.
        if match and match.lastgroup != "numeral":
            assert _BEGIN.next(text, at) == at
