"""The sentence splitter against examples and a slow twin that goes character by character."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.corpora import sentences
from spacy_structreg.corpora.sentences import (
    EXTENDERS,
    LONGEST,
    cut_long,
    latin_spaces,
    sentence_ends,
    sentence_ends_of_all,
    split_words,
)
from spacy_structreg.features.character_classes import EXTENDS, TABLE_SIZE, property_table

# Texts as they stand in books, papers, mails and chats; | marks where sentences are parted.
LAYOUT = [
    # ---- Chinese prose ----
    "我们来了",
    "来了。|走吧！|好？",
    "真的吗？！……|好",
    "他说：“走吧！”|我走了。",
    "（见下文。）|好",
    "「好。』」》)走",
    "“真的？”！|走",
    "好啊！！！|走吧～",
    "｡|好",
    "真的⁉|好‼|走",
    "下雨了……|我们回家。",
    "下雨了…|我们回家。",
    "“……”他没有说话。",
    "……我不知道。|你呢？",
    "桌子、椅子……等家具。|还有书．．．．．等。",
    "——走吧！|——好——……",
    "他问：“……你去吗？”|我说：“去。”",
    "“走吧！”，他说。|我走了。",
    "你好！、再见！、谢谢！|都是客气话。",
    "注意！：不要进来。",
    # ---- indentation and lines ----
    "第一句话。\n　　|第二句话。",
    "　　第一段。\n　　|第二段。\n\n　　|第三段。",
    "\n\n　　第一段",
    "一\n|二\r\n|三\r|四\u2028|五\u2029|六",
    "一。\r\n\r\n|二。\r\n|三",
    "一。” \u3000\r\n\n \n  |二",
    "一。 |二",
    "一。\t|二",
    "一。\u3000\u3000|二。\xa0|三",
    "一\n|”二",
    "一\x0b二\x0c三\x85四",
    "”）一",
    "没有句号的标题\n|正文开始了。|还有一句\n|下一行",
    "Storm hits the coast\n\n|Thousands flee",
    "第一章　春天\n\n　　|他来了。",
    "他走了。\u200b|她来了。",
    # ---- quotes, brackets, titles ----
    "“我不去。|你呢？”他问。",
    "“不行。”她说。|他走了。",
    # Behind white space, only who says it belongs to it.
    "“走吧。” 她说。|“走吧。” |她走了。|「好。」\u3000老師問道。|“好。” |她知道。",
    "〝走。〞他說。|他說：〝走！〟|我走了。",
    "“不行。”|“行。”|“不行！”她说，“不去。”|他走了。",
    "「不行。」她說。|『好！』他問道。",
    '"不行。"她说。|他说："不行。"|她走了。',
    "“去年就死了。”他说完，把枪扔进了河里。|“你呢？”",
    "老师问：“谁去？”|没有人。|她说，“我去。”|好。",
    "“不行。”\n|她说。",
    "讯（记者）“立正！”随着一声口令。|好",
    "“好！”——她说。|“好！”（笑）她走了。",
    # ---- brackets and quotations within sentences ----
    "他（真的！）来了。|好",
    "他(真的!)来了。|好",
    "他（此前是主席。后来辞职。）来了。|她没来。",
    "听到“开始！”的口令，他跑了。|好",
    '听到"开始！"的口令，他跑了。|好',
    "听到「開始！」的口令。|好",
    "他用“你好！再见！”来回答。|好",
    "他【注意！看！】来了。|好",
    "书名《怎么办？为什么？》很长。|好",
    "他走了（真的！）。|好",
    "（他来了。|她走了。）|好",
    "他（没有来。|她走了。\n|）好",
    "他（来了。|" + "她走了。|" * 60 + "好）",
    "“好。”（他没有来。）她走了。",
    "他说：“她问‘你去吗？’”|我笑了。",
    "「他說『走吧！』」我走了。",
    "『好！』|「走。」完",
    "“好。”|“不。”她摇头。",
    '"好。"|"不。"她摇头。',
    '他说:"走吧!"|她说:"好。"',
    '他走了。|"等等"，她说。',
    "《怎么办？》是一本书。|好看！",
    "他读完了《怎么办？》。|好看",
    "他在读《你好！》和《走吧！》。",
    "“读过《怎么办？》”是假的。",
    "他生于（？）年。",
    "价钱（！）太高了。",
    "这(?)不对。",
    "句末加“？”表示疑问。",
    "（他没有来。）|（我来了！）|好",
    "他来了。[1]|她走了。[2][3]|完",
    "【注意！】|请排队。",
    # ---- names, code, addresses ----
    "Yahoo!网站很慢。|我换了一个。",
    "雅虎（Yahoo!）宣布裁员。|股价涨了。",
    "他在Yahoo！工作。|她在家。",
    "Yahoo! Japan is big. |It grew.",
    "He left Yahoo! |The office was closed.",
    "She won on Jeopardy! last night. |He lost.",
    "我看Jeopardy!节目。",
    "见https://example.org/p?a=1&b=2。|好",
    "打开 https://example.org/p?a=1!b#!/c?d 看看。|好",
    "见http://example.org/?q=Hi!There！|好",
    "(see http://example.org/a?b=C). |Then go on.",
    "Go to https://example.org/a. |Then click.",
    "地址是example.org/p?a=1，不是/p?B=2。|懂了吗？",
    "百科example.org/wiki/中国?action=raw在此。",
    "写信到 li.lei@example.org. |Thank you.",
    "给li.lei@example.com发信！|谢谢",
    "打开README.md和a.b.txt。|关上",
    "Open main.py. |Run it.",
    "if (a != b) return !c;",
    "P!nk来了。|大家好！",
    "#!/bin/sh是第一行。",
    # ---- numbers ----
    "圆周率是3.14。|版本v2.0.1发布了！|好",
    "占3.14%, i.e. a.b.c，好",
    "It is 3.14 or so. |Version v2.0.1. |Done.",
    "Pi is 3. 14 in bad scans.",
    "He left in 1999. |She stayed.",
    "They came. |10 of them left.",
    "1. 总则 本法适用。|2. 附则",
    "一. 总则\n|二. 附则",
    "1. Open the door. |2. Close it. |(3). Go.",
    "Two steps: 1. Open it. |2. Close it.",
    "A. First. |B. Second. |IV. Fourth.",
    "1.2.3. Scope of this. |2. Terms.",
    "See No. 5 and Fig. 3. |No. |Not art. 7.",
    # ---- English ----
    "He left. |She stayed! |Why? |Nobody knows.",
    "Mr. Smith met Dr. Who and Mrs. Brown. |They talked.",
    "J. R. R. Tolkien wrote it. |George W. Bush read it.",
    "The U.S. Army came to the U.S. |It left at 5 p.m. |Then it rained.",
    "Apples, e.g. Boskoop, i.e. Belle, etc. are fine. |Pears etc. |Nothing else.",
    "Acme Inc. Chairman Li and Foo Ltd. |They merged.",
    'He said "no." |Then he left.',
    '"Stop!" he cried. |"Why?" |"No."',
    "“Stop!” he cried. |“Why?”",
    "(Done.) |Next.",
    "Well... maybe. |I don't know... |Perhaps not. |Well... I know.",
    "Wait…what? |Well… maybe… |No.",
    "really? |yes! |ok",
    "Hi!|I am here. |Really?|Yes.",
    "He left . |Then he came .",
    "It is 5 km. |Go on.",
    "See vitamin C. |It helps.",
    "Text with a note.[12] |Next.",
    "Vraiment ? |Oui. |À bientôt !",
    "Он пришёл. |Она ушла.",
    "He left.\n|Then he came.",
    # ---- half-width punctuation in Chinese, mixed scripts ----
    "我来了. |他走了. |好!|走?|行",
    "他来了.|她走了.",
    "他来了．|她走了．",
    "他來了.|她走了.3.5万人.|好",
    "萨马兰奇.罗格.",
    "一.总则\n|他用v2.0.1版.|好",
    "见a.cn的U.S.报告.doc吧",
    "乔治.布什来了. |好",
    "他去上海.|德国人来了.|他在西安.|马克来了.|安.兰德和弗拉基米尔.普京.|他拿了.|马走了.",
    "我爱你.",
    "好吗?|A说好!|B说不好。",
    "我用Python. |你用C++吗?|不用。",
    "Hello!|大家好!|我是Tom. |Nice to meet you. |谢谢。",
    "我不知道...|你呢",
    "我...|我不知道。...|你呢",
    "从1...10数到...|了",
    "第1…5章",
    "日本語です。|はい！|한국어입니다. |네.",
    # ---- chats and emoji ----
    "在吗？|在\n|😀\n|好的！",
    "太好了！👍🏻|明天见！😀😀 |好",
    "好的😀明天见",
    "哈哈！~|走吧！～|好",
    "好！|👉看这里",
    "他说好！\u200d♂️|走",
    # A sentence never ends between a character and what combines with it.
    "好！\ufe0f|好",
    "好。\u200d好|。|好",
    "好\u0301。|好",
    "好！”\u0301|好",
    "好\n|\u0301好",
    "？？？",
    "",
]

MARKS = set("。！？｡")
CLOSERS = set("”’」』）")
BREAKS = set("\n\r\u2028\u2029")

# Without what the splitter has a closer look at: Latin script, titles, commas.
texts = st.text(st.sampled_from("我。！？”）“ \t\u3000\n\r\u2028\u2029\x0b\u0085\xa0"), max_size=30)


# All that the splitter has rules for.
NASTY = "aA1IUS.!?…。，：:/=\"'“”()（）《》[]等 \n\u3000\u200d\u0301👍👉~"


def slow_ends(text: str) -> list[int]:
    """Where plain Chinese is parted, one character after the other."""
    ends: list[int] = []
    opened: list[tuple[str, int]] = []
    place = 0
    while place < len(text):
        character = text[place]
        alone = place > 0 and (place not in ends) and text[place - 1] == "“"
        if character in BREAKS:
            opened = []
        elif character == "“" and len(opened) < 16:
            opened.append(slow_kind(text, place, ends[-1] if ends else 0))
        elif character == "”":
            opened = opened[:-1]
        begun = place
        place += 1
        if character not in MARKS | BREAKS:
            continue
        closed: list[tuple[str, int]] = []
        while character in MARKS and place < len(text) and text[place] in MARKS | CLOSERS:
            if text[place] == "”" and opened:
                closed.append(opened.pop())
            place += 1
        run = text[begun:place]
        stop = place
        while place < len(text) and text[place].isspace():
            place += 1
        breaks = character in BREAKS or set(text[stop:place]) & BREAKS
        mentioned = alone and set(run) & CLOSERS
        inside = any(kind == "inside" and end > stop for kind, end in opened)
        goes_on = (
            closed
            and closed[-1][0] != "introduced"
            and not re.search("[”’」』）].*[。！？｡]", run)
            and stop == place < len(text)
            and text[place] != "“"
        )
        if text[:place].strip() and (breaks or not (mentioned or inside or goes_on)):
            ends.append(place)
        if breaks:
            opened = []
    if text and (not ends or ends[-1] != len(text)):
        ends.append(len(text))
    return ends


def slow_kind(text: str, place: int, start: int) -> tuple[str, int]:
    """The part that a quotation has in a sentence, and where it ends; 0 if not in its line."""
    before = text[max(start, place - 16) : place].strip("“ \t\u3000\n\r\u2028\u2029\x0b\x85\xa0")
    line = re.match("[^\n\r\u2028\u2029]*", text[place:])
    assert line is not None
    end = place + line[0].find("”") + 1 if "”" in line[0] else 0
    if not before and place - start <= 16:
        return "begins", end
    return "inside" if before.endswith(("我", "）")) else "introduced", end


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in pairwise([0, *sentence_ends(text)])]


@looped("marked", LAYOUT)
def test_real_layout(marked: str) -> None:
    assert "|".join(split(marked.replace("|", ""))) == marked


@given(texts)
def test_equals_the_slow_twin(text: str) -> None:
    assert sentence_ends(text) == slow_ends(text)


@given(st.lists(st.one_of(texts, st.text(max_size=50), st.text(NASTY, max_size=50)), max_size=4))
def test_texts_together_are_those_alone(several: list[str]) -> None:
    found = sentence_ends_of_all(several)
    expected: list[int] = []
    base = 0
    for text in several:
        expected += [base + end for end in sentence_ends(text)]
        base += len(text)
    assert found.dtype == np.int64
    assert found.tolist() == expected


@pytest.mark.parametrize("text", [None, b"a", 5])
def test_texts_together_that_are_none(text: Any) -> None:
    with pytest.raises(TypeError):
        sentence_ends_of_all(["a", text])


@given(st.one_of(texts, st.text(max_size=50), st.text(NASTY, max_size=50)))
def test_sentences_cover_any_text_exactly(text: str) -> None:
    sentences = split(text)
    assert "".join(sentences) == text
    assert all(sentence.strip() == sentence.rstrip() != "" for sentence in sentences[1:])


# With a step that looks at a character more than a few times, one of these would take minutes.
@looped(
    ("head", "part", "times", "tail", "n_sentences"),
    [
        ("", "中", 100_000, "", 1),
        ("", "”", 100_000, "", 1),
        ("", "。", 100_000, "", 1),
        ("", ".", 100_000, "", 1),
        ("", "\n", 100_000, "", 1),
        ("", "\n\u3000", 100_000, "", 1),
        ("", "。”", 100_000, "", 1),
        ("", "。 ", 20_000, "", 20_000),
        ("", "://", 100_000, "", 1),
        ("", "://!,", 100_000, "", 1),
        ("", "!a", 20_000, "", 1),
        ("", ".)", 20_000, "", 1),
        ("", "《？》", 20_000, "", 1),
        ("", "U.S. ", 20_000, "", 1),
        ("", "1. ", 20_000, "", 1),
        ("", 'a"。', 20_000, "", 10_000),
        ("", "（", 20_000, "", 1),
        ("", "（。", 20_000, "", 20_000),
        ("", "（】。", 20_000, "", 20_000),
        ("", "“。好", 20_000, "", 20_001),
        ("", "好“。", 20_000, "", 20_000),
        ("", "来.了", 20_000, "", 20_001),
        ("", '"！', 20_000, "", 1),
        ("", "。[1]", 20_000, "", 20_000),
        ("", "a?b=", 20_000, "", 1),
        ("", "…a", 20_000, "", 1),
        ("。", "”", 100_000, "", 1),
        ("。", " ", 100_000, "", 1),
        ("。", " ", 100_000, "a", 2),
        ("\n", "\u3000", 100_000, "a", 1),
        (".", ")", 100_000, "a", 1),
        ("://", "!", 100_000, "", 1),
        ("。", "[1]", 100_000, "a", 2),
        ("", " ", 100_000, "。a", 2),
        ("?", "a", 100_000, "=", 1),
    ],
)
def test_repeated_parts(head: str, part: str, times: int, tail: str, n_sentences: int) -> None:
    text = head + part * times + tail
    if n_sentences > 2 or len(text.strip()) <= LONGEST:
        assert len(sentence_ends(text)) == n_sentences
        return
    # But for those that are cut as they are too long.
    assert max(len(sentence.strip()) for sentence in split(text)) <= LONGEST
    assert len(sentence_ends(text)) <= 1 + len(text) // (LONGEST // 2)


HALF = LONGEST // 2


@looped(
    ("text", "first"),
    [
        ("好" * LONGEST, LONGEST),
        ("好" * (LONGEST + 1), LONGEST),
        # Marks, the best first; only those of the second half.
        ("好" * HALF + "；好，好 a" + "好" * LONGEST, HALF + 1),
        ("好" * HALF + "好，好 a" + "好" * LONGEST, HALF + 2),
        ("好" * HALF + "好1,000 a" + "好" * LONGEST, HALF + 7),
        ("，" + "好" * 2 * LONGEST, LONGEST),
        ("好" * HALF + "， \t好" + "好" * LONGEST, HALF + 3),
        # Neither in words of Latin letters, nor in what belongs together, if there is a choice.
        ("好" * (LONGEST - 3) + "Python" + "好" * LONGEST, LONGEST - 3),
        ("好" * (LONGEST - 3) + "（" + "e\u0301" * 9 + "好" * LONGEST, LONGEST - 2),
        ("好" * (LONGEST - 1) + "👍\u200d👍" + "好" * LONGEST, LONGEST - 1),
        ("a" * 2 * LONGEST, LONGEST),
        # White space does not count.
        (" " * LONGEST + "好" * LONGEST, 2 * LONGEST),
        ("好" * LONGEST + " " * LONGEST, 2 * LONGEST),
        ("好。" + " " * LONGEST + "好", LONGEST + 2),
    ],
)
def test_sentences_that_are_too_long(text: str, first: int) -> None:
    ends = sentence_ends(text)
    assert ends[0] == first
    assert ends[-1] == len(text)
    assert sentence_ends_of_all([text, text]).tolist() == [*ends, *(len(text) + e for e in ends)]


@pytest.mark.parametrize(
    ("free", "held", "first"),
    [
        # Held at the place that is the best, but for a part; then for all that may be moved.
        (slice(0), slice(0), LONGEST),
        (slice(HALF, HALF + 7), slice(HALF, None), HALF + 6),
        (slice(0), slice(HALF, None), LONGEST),
    ],
)
def test_sentences_do_not_begin_where_words_are_held(free: slice, held: slice, first: int) -> None:
    text = "好" * 3 * LONGEST
    kept = np.zeros(len(text), dtype=np.uint8)
    kept[held] = 1
    kept[free] = 0
    assert cut_long(text, [len(text)], kept)[0] == first
    kept[: LONGEST + 9] = 2
    assert cut_long(text, [len(text)], kept)[0] == LONGEST + 9
    kept[:] = 2
    assert cut_long(text, [len(text)], kept) == [len(text)]


@looped(
    ("words", "sentences"),
    [
        ([], []),
        (["我们", "来", "了"], [["我们", "来", "了"]]),
        (["来", "了", "。", "”", "走", "！"], [["来", "了", "。", "”"], ["走", "！"]]),
        (["Yahoo!网", "好", "。", "好"], [["Yahoo!网", "好", "。"], ["好"]]),
        (["好", "。”", "走"], [["好", "。”"], ["走"]]),
        (["好！我", "走", "！", "走"], [["好！我", "走", "！"], ["走"]]),
        (["好", "。", " ", "走"], [["好", "。", " "], ["走"]]),
        (["好", "。\n", "走"], [["好", "。\n"], ["走"]]),
        (["好", "。", "\n　　", "走", "。"], [["好", "。", "\n　　"], ["走", "。"]]),
        (["　", "好", "。", "\n", "　", "走"], [["　", "好", "。", "\n", "　"], ["走"]]),
        # The end lies inside a word of white space and letters: there is none.
        (["好", "。", "\n走", "吧", "！", "走"], [["好", "。", "\n走", "吧", "！"], ["走"]]),
    ],
)
def test_gold_words_stay_whole(words: list[str], sentences: list[list[str]]) -> None:
    assert split_words(words) == sentences


@given(st.lists(st.text(st.sampled_from("我a。！”\n "), min_size=1, max_size=3), max_size=12))
def test_words_are_split_at_the_ends_that_they_share_with_the_text(words: list[str]) -> None:
    sentences = split_words(words)
    assert [word for sentence in sentences for word in sentence] == words
    assert all(sentences)
    boundaries = {len("".join(words[:i])) for i in range(1, len(words) + 1)}
    taken = [
        len("".join(word for s in sentences[: i + 1] for word in s)) for i in range(len(sentences))
    ]
    assert taken == [end for end in slow_ends("".join(words)) if end in boundaries]


def test_spaces_are_part_of_the_text() -> None:
    words = ["He", "left", ".", "She", "came", "."]
    assert split_words(words, [True, False, True, True, False, False]) == [words[:3], words[3:]]
    assert split_words(words) == [words]
    with pytest.raises(ValueError, match="a word is empty"):
        split_words(["好", "", "。"])


@looped(
    "marked",
    [
        "他走\n了。|她来\r\n了。\n|好",
        "标题\n\n|第一段走\n到这里。|第二句\n　　|第二段。",
        "清单\n|1. 打开盖子\n|2. 关上\n|- 好\n|* 好\n|①好",
        "He left\nthe house. |She\nstayed.\n|He came.",
        "清单\n|一、打开\n|（二）关上\n|(三) 好\n|⑴好\n|- 好\n|• 好\n|·好\n|# 标题\n|12.好\n|3．好",
        "买了\n3.5万元，温度是\n-5℃，他们去\n#话题#的\n三、四个\n*号门",
        "标题\r\n|=====\r\n|第一段走\r\n到这里\r\n|-----\r\n|他来了",
        "\n他走\n了",
        "",
    ],
)
def test_lines_that_are_wrapped(marked: str) -> None:
    text = marked.replace("|", "")
    ends = sentence_ends(text, wrapped=True)
    assert "|".join(text[a:b] for a, b in pairwise([0, *ends])) == marked
    parts = re.findall(r"\s|\S", text)
    assert [len("".join(each)) for each in split_words(parts, wrapped=True)] == [
        b - a for a, b in pairwise([0, *ends])
    ]


@looped(
    ("words", "text"),
    [
        ([], ""),
        (["用", "Git", "Hub", "，", "好"], "用Git Hub，好"),
        (["It", "works", ".", "Then", ",", "stop", "!", "Go"], "It works. Then, stop! Go"),
        (["我", "会", "Java", ".", "你", "呢"], "我会Java.你呢"),
        (["比", "3", ":", "2"], "比3:2"),
        (["1", ".", "Open"], "1. Open"),
        (["go", "."], "go."),
        (["重", "35", "kg", "Tom"], "重35kg Tom"),
        (["降", "-2.5", "mm", "1,000", "km/h"], "降-2.5mm 1,000km/h"),
        (["iPhone", "15", "Pro", "256", "GB"], "iPhone 15 Pro 256GB"),
        (["重", "about", "kg"], "重about kg"),
        (["git", "--version", "-d", "@lin"], "git --version -d @lin"),
        (["5", "-3"], "5-3"),
    ],
)
def test_spaces_of_latin_words(words: list[str], text: str) -> None:
    spaces = latin_spaces(words)
    assert len(spaces) == len(words)
    assert "".join(word + " " * space for word, space in zip(words, spaces, strict=True)) == text


class PlainMarks:
    """All places that the pattern matches need a closer look."""

    def next(self, text: str, at: int, ends: list[int], n_open: int = 0) -> int:
        found = sentences.CANDIDATE.search(text, at)
        return found.start() if found else -1

    def ends_of_one(
        self, text: str, ends_of: Callable[[str], list[int]], longest: int
    ) -> list[int]:
        return ends_of(text)


SPICE = [
    *"。！？!?….．\"'”」)]:/[ \n\r\t\u2028\x1c、，(“~等\u200d\u200b\u0301👍😀𠀀aA1好",
    "http://a.b/c?d",
    "[1]",
    "……",
    "Mr. ",
    "U.S. He",
]


@given(st.lists(st.one_of(st.sampled_from(SPICE), st.characters(exclude_categories=["Cs"]))))
def test_marks_are_those_of_the_pattern(parts: list[str]) -> None:
    text = "".join(parts)
    found = sentence_ends(text)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sentences, "_MARKS", PlainMarks())
        assert sentence_ends(text) == found


def test_tables_of_marks_hold_the_classes_of_the_pattern() -> None:
    every = "".join(map(chr, range(0x10000)))
    classes = sentences._MARKS.classes
    inner = re.escape(sentences.TERMINATORS + sentences.STOPS + sentences.CLOSERS)
    following = f"[{inner}{sentences.EXTENDERS}{sentences.FOLLOWERS}]"
    assert {c for c in classes["followers"] if c < "\U00010000"} == set(
        re.findall(following, every)
    )
    assert set(re.findall(rf"\s|{following}", every)) <= set(classes["special"])
    assert set(re.findall(r"\s", every)) <= set(classes["after_dots"])


def test_the_splitter_and_the_segmenter_agree_on_what_combines() -> None:
    extender = re.compile(f"[{EXTENDERS}]")
    flagged = [bool(flags & EXTENDS) for flags in property_table()]
    assert flagged == [bool(extender.match(chr(code))) for code in range(TABLE_SIZE)]


@looped("unit", [".)", ".", "。”", "：/", "://", "!’a", "…", '"', "。\n"])
def test_marks_are_found_again_after_pickling(unit: str) -> None:
    text = f"好{unit * 3}好"
    marks = pickle.loads(pickle.dumps(sentences._MARKS))
    ends: list[int] = []
    again: list[int] = []
    assert marks.next(text, 0, ends) == sentences._MARKS.next(text, 0, again)
    assert ends == again
