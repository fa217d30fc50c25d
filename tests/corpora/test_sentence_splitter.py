"""The sentence splitter against examples and a slow twin that goes character by character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_structreg.corpora.sentences import sentence_ends, sentence_spans, split_words

TERMINATORS = set("。！？!?…")
CLOSERS = set("”’」』）》〉】〕］｝〗〙〛﹂﹄｣)]}\"'»›＂＇")
BREAKS = set("\n\r\u2028\u2029")
BLANKS = set(" \t\u3000")

texts = st.text(
    st.sampled_from('我a.。！?…”）"“( \t\u3000\n\r\u2028\u2029\x0b\u0085😀'), max_size=30
)


def slow_ends(text: str) -> list[int]:
    """The definition in the module's docstring, one character after the other."""
    ends = []
    place = 0
    while place < len(text):
        character = text[place]
        place += 1
        if character not in TERMINATORS and character not in BREAKS:
            continue
        if character in TERMINATORS:
            while place < len(text) and text[place] in TERMINATORS | CLOSERS:
                place += 1
        # Blanks count only when a line break follows them.
        ahead = place
        while ahead < len(text) and text[ahead] in BLANKS | BREAKS:
            ahead += 1
            if text[ahead - 1] in BREAKS:
                place = ahead
        ends.append(place)
    if text and (not ends or ends[-1] != len(text)):
        ends.append(len(text))
    return ends


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("我们来了", ["我们来了"]),
        ("来了。走吧！好？", ["来了。", "走吧！", "好？"]),
        ("真的吗？！……好", ["真的吗？！……", "好"]),
        ("他说：“走吧！”我走了。", ["他说：“走吧！”", "我走了。"]),
        ("（见下文。）好", ["（见下文。）", "好"]),
        ("「好。』」》)走", ["「好。』」》)", "走"]),
        ("“真的？”！走", ["“真的？”！", "走"]),
        ("占3.14%, i.e. a.b.c，好", ["占3.14%, i.e. a.b.c，好"]),
        (
            "一\n二\r\n三\r四\u2028五\u2029六",
            ["一\n", "二\r\n", "三\r", "四\u2028", "五\u2029", "六"],
        ),
        ("一。\n二", ["一。\n", "二"]),
        ("一。” \u3000\r\n\n \n  二", ["一。” \u3000\r\n\n \n", "  二"]),
        ("一。 二", ["一。", " 二"]),
        ("一\n”二", ["一\n", "”二"]),
        ("\n\n一", ["\n\n", "一"]),
        ("一\x0b二\x0c三\x85四", ["一\x0b二\x0c三\x85四"]),
        ("”）一", ["”）一"]),
    ],
)
def test_examples(text: str, sentences: list[str]) -> None:
    assert split(text) == sentences


@given(texts)
def test_equals_the_slow_twin(text: str) -> None:
    assert sentence_ends(text) == slow_ends(text)


@given(st.one_of(texts, st.text(max_size=50)))
def test_spans_cover_any_text_exactly(text: str) -> None:
    sentences = split(text)
    assert "".join(sentences) == text
    assert all(sentences)
    spans = sentence_spans(text)
    assert [end for _, end in spans] == sentence_ends(text)
    assert [start for start, _ in spans] == [0, *(end for _, end in spans)][: len(spans)]


@given(texts)
def test_splitting_a_sentence_again_changes_nothing(text: str) -> None:
    for sentence in split(text):
        assert split(sentence) == [sentence]


# With a step that looks at a character more than a few times, one of these would take hours.
@pytest.mark.parametrize(
    ("text", "n_sentences"),
    [
        ("中" * 10_000_000, 1),
        ("”" * 10_000_000, 1),
        ("。" * 10_000_000, 1),
        ("。" + "”" * 10_000_000, 1),
        ("。" + " " * 10_000_000, 2),
        ("\n" * 10_000_000, 1),
        ("\n" + "\u3000" * 10_000_000 + "a", 2),
        ("\n " * 5_000_000, 2),
        ("。 " * 1_000_000, 1_000_001),
    ],
    ids=[
        "none",
        "closers",
        "ends",
        "end-closers",
        "blanks",
        "breaks",
        "break-blanks",
        "mix",
        "many",
    ],
)
def test_long_texts(text: str, n_sentences: int) -> None:
    assert len(sentence_ends(text)) == n_sentences


@pytest.mark.parametrize(
    ("words", "sentences"),
    [
        ([], []),
        (["我们", "来", "了"], [["我们", "来", "了"]]),
        (["来", "了", "。", "”", "走", "！"], [["来", "了", "。", "”"], ["走", "！"]]),
        (["Yahoo!网", "好", "。", "好"], [["Yahoo!网", "好", "。"], ["好"]]),
        (["好", "。”", "走"], [["好", "。”"], ["走"]]),
        (["好！我", "走", "！", "走"], [["好！我", "走", "！"], ["走"]]),
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


def test_empty_words_are_refused() -> None:
    with pytest.raises(ValueError, match="a word is empty"):
        split_words(["好", "", "。"])
