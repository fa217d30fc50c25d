"""Word lists: their formats and faults."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.word_lists import (
    LONGEST_ENTRY,
    ListedWord,
    WordListFormat,
    read_word_list,
)

CEDICT = """# CC-CEDICT
#! version=1
中國 中国 [Zhong1 guo2] /China/
一 一 [yi1] /one/a/
AA制 AA制 [A A zhi4] /to go Dutch/
"""
JIEBA = """中国 34488 ns
一 217830 m

云计算 5
"""
WORDS = """#话题#
New York\tNR,NN
 北京 \tNR \t 120
苹果\t\t3
上海\t
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "words.txt"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "expected", "format"),
    [
        (
            CEDICT,
            [("中國", (), 0), ("中国", (), 0), ("一", (), 0), ("AA制", (), 0)],
            "cedict",
        ),
        (JIEBA, [("中国", ("ns",), 34488), ("一", ("m",), 217830), ("云计算", (), 5)], "jieba"),
        (
            WORDS,
            [
                ("#话题#", (), 0),
                ("New York", ("NR", "NN"), 0),
                ("北京", ("NR",), 120),
                ("苹果", (), 3),
                ("上海", (), 0),
            ],
            "words",
        ),
    ],
)
def test_formats_are_told_apart(
    tmp_path: Path,
    text: str,
    expected: list[tuple[str, tuple[str, ...], int]],
    format: WordListFormat,
) -> None:
    path = written(tmp_path, text)
    assert list(read_word_list(path)) == [ListedWord(*entry) for entry in expected]
    assert list(read_word_list(path, format=format)) == list(read_word_list(path))


def test_cedict_without_comments_compressed_files_and_empty_ones(tmp_path: Path) -> None:
    path = tmp_path / "words.txt.gz"
    path.write_bytes(gzip.compress("中國 中国 [Zhong1 guo2] /China/\n".encode()))
    assert [word for word, _, _ in read_word_list(path)] == ["中國", "中国"]
    assert list(read_word_list(written(tmp_path, "\n \n"))) == []


def test_files_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    words = read_word_list(written(tmp_path, "词\n" * 50 + "词\t\t\t\n"))
    assert [next(words).word for _ in range(50)] == ["词"] * 50
    with pytest.raises(CorpusError):
        next(words)


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        (CEDICT + "中國 中国\n", 6, "no entry such as `中國"),
        (JIEBA * 20 + "中国 ns 34488\n", 81, "no entry such as `中国 34488 ns`"),
        ("词\tN\t3\t4\n", 1, "3 tabs"),
        ("词\tN\t-3\n", 1, "no whole number"),
        ("词\tN\t" + "9" * 5000 + "\n", 1, "no whole number"),
        ("词\tN,,V\n", 1, "an empty tag"),
        ("\tN\n", 1, "no word before the tab"),
        ("词" * (LONGEST_ENTRY + 1), 1, "255 are the most"),
        ("词\t" + "N" * (LONGEST_ENTRY + 1), 1, "255 are the most"),
        ("词\r词\n", 1, "carriage return"),
    ],
)
def test_faults_are_named_with_their_line(tmp_path: Path, text: str, line: int, fault: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(CorpusError, match=fault) as caught:
        list(read_word_list(path))
    assert (caught.value.file, caught.value.line) == (str(path), line)


def test_a_format_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no format 'xml'"):
        list(read_word_list(written(tmp_path, WORDS), format="xml"))  # type: ignore[arg-type]
