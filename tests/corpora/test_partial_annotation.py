"""Sentences that are annotated in part, and their files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.corpora.any_format import find_format
from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.formats.partial import (
    parse_partial,
    read_partial,
    write_partial,
)
from spacy_structreg.corpora.partial_sentence import PartialSentence

CHARACTERS = st.characters(exclude_categories=["Cs", "Cc"]).filter(
    lambda c: not c.isspace() and c != "\ufeff"
)
TEXTS = st.text(st.one_of(CHARACTERS, st.sampled_from(r"\/|-?_京")), min_size=1, max_size=12)


@st.composite
def partial_sentences(draw) -> PartialSentence:
    text = draw(TEXTS)
    n = len(text)
    known = draw(st.lists(st.sampled_from([True, False, None]), min_size=n - 1, max_size=n - 1))
    edges = [0, *(i for i in range(1, n) if known[i - 1] is True), n]
    tags = [
        (begin, end, draw(TEXTS))
        for begin, end in pairwise(edges)
        if None not in known[begin : end - 1] and draw(st.booleans())
    ]
    return PartialSentence(text, tuple(known), tuple(tags))


def test_a_line_by_hand() -> None:
    sentence = parse_partial("北-京/NR|大 学?生-们")
    assert sentence.text == "北京大学生们"
    assert sentence.boundaries == (False, True, None, None, False)
    assert sentence.tags == ((0, 2, "NR"),)
    assert sentence.pieces == ["北京", "大", "学", "生们"]
    assert sentence.piece_tags == ["NR", "", "", ""]
    assert sentence.unknown == [(1, 4)]
    assert sentence.says_something
    assert not sentence.has_words
    assert sentence.line([2]) == "北-京/NR|大?学 生-们"
    assert len(sentence) == 6
    # Of several tags the first counts.
    assert parse_partial("北-京/NR/běijīng|大").tags == ((0, 2, "NR"),)
    # A tag may have a hyphen in it.
    assert parse_partial("人-大/NN-学").tags == ((0, 2, "NN-学"),)


@quick_examples(100)
@given(partial_sentences())
def test_lines_are_read_as_they_were_written(sentence: PartialSentence) -> None:
    assert parse_partial(sentence.line()) == sentence
    asked = [i for i, known in enumerate(sentence.boundaries) if known is None]
    assert parse_partial(sentence.line(asked)) == sentence


@quick_examples(100)
@given(partial_sentences())
def test_pieces_and_parts_say_the_same(sentence: PartialSentence) -> None:
    again = PartialSentence.of_words(sentence.pieces, sentence.piece_tags, sentence.unknown)
    assert again == sentence
    parts = sentence.split()
    assert "".join(part.text for part in parts) == sentence.text
    first = 0
    tags = []
    for part in parts:
        last = first + len(part)
        assert part.boundaries == sentence.boundaries[first : last - 1]
        if last < len(sentence):
            assert sentence.boundaries[last - 1] is not False
        tags += [(first + begin, first + end, tag) for begin, end, tag in part.tags]
        first = last
    assert tuple(tags) == sentence.tags


@quick_examples(300)
@given(st.text(st.sampled_from("人大|-? /\\\t\u3000\ufeff\u200b"), max_size=12))
def test_any_line_is_read_or_refused(line: str) -> None:
    try:
        sentence = parse_partial(line)
    except ValueError:
        return
    assert parse_partial(sentence.line()) == sentence


@looped(
    ("line", "fault"),
    [
        ("人|", "the line ends where a character is to stand"),
        ("人大", "stands between two characters at offset 1"),
        ("人  大", "white space stands for a character at offset 2"),
        ("人|\u3000", "white space stands for a character"),
        ("人|大 学/NN", "whether that is a word is not known"),
        ("人 大/NN|学", "whether that is a word is not known"),
        ("人/N N|大", "no tag"),
        ("人/|大", "no tag"),
        ("\\", "the line ends"),
    ],
)
def test_faulty_lines(line: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "faulty.partial"
    path.write_text(f"人|大\n\n{line}\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=fault) as error:
        list(read_partial(path))
    assert error.value.line == 3


def test_files_are_read_as_they_were_written(tmp_path: Path) -> None:
    sentences = [parse_partial("北-京|大 学"), parse_partial("人"), parse_partial("很 好|。")]
    path = tmp_path / "written.partial"
    assert write_partial(path, [(sentences[0], [2]), *sentences[1:]]) == 3
    assert path.read_text("utf-8") == "北-京|大?学\n人\n很 好|。\n"
    assert list(read_partial(path)) == sentences
    with pytest.raises(ValueError, match="no sentence to write"):
        write_partial(tmp_path / "empty.partial", [])


@looped(
    ("text", "boundaries", "tags", "fault"),
    [
        ("", (), (), "no text"),
        ("人 大", (None, None), (), "no text"),
        ("人大", (), (), "1 places"),
        ("人大", (1,), (), "True, False or None"),
        ("人大", (None,), ((0, 1, "N"),), "not known"),
        ("人大", (True,), ((1, 2, "N"), (0, 1, "N")), "not known"),
        ("人大", (True,), ((1, 3, "N"),), "not known"),
    ],
)
def test_values_that_do_not_fit(text: str, boundaries: Any, tags: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        PartialSentence(text, boundaries, tags)


@looped(
    ("text", "format"),
    [
        ("北-京|大 学\n很|好\n", "partial"),
        ("北 京?大 学\n", "partial"),
        ("我 们 在 北 京\n他 很 好\n", "segmented"),
        ("我/r 去/v\n他/r 很/d\n", "pfr"),
        ("北京 大学\n", "segmented"),
        ("北-京/NR|大/NN\n", "partial"),
    ],
)
def test_the_format_is_told(text: str, format: str, tmp_path: Path) -> None:
    path = tmp_path / "corpus"
    path.write_text(text, encoding="utf-8")
    assert find_format(path).name == format
    assert find_format(tmp_path / "corpus.partial").name == "partial"
