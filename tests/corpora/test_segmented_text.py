"""Plain segmented text: reading, writing, and files that are something else."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.formats.segmented import read_segmented, write_segmented

# Two short lines of words and a long sentence, as a raw text would have it.
RAW_LINE = "他们昨天下午在学校门口等了很久才见到老师。\n"

words = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\u3000\n\r\0\ufeff"),
    min_size=1,
    max_size=5,
)
corpora = st.lists(st.lists(words, min_size=1, max_size=5), min_size=1, max_size=5)


def read(tmp_path: Path, text: str) -> list[list[str]]:
    path = tmp_path / "corpus.txt"
    path.write_bytes(text.encode())
    return list(read_segmented(path))


@looped(
    ("text", "sentences"),
    [
        (
            "我们 来\t了\u3000\u3000。 \t\u3000好\r\n\r\n \u3000\n  再见  ！ \n",
            [["我们", "来", "了", "。", "好"], ["再见", "！"]],
        ),
        # Other white space belongs to words.
        ("a\u00a0b c\u2028d\x0b \x0ce\n", [["a\u00a0b", "c\u2028d\x0b", "\x0ce"]]),
        ("no Han here\n" * 50, [["no", "Han", "here"]] * 50),
    ],
)
def test_words_are_separated_by_runs_of_white_space(
    text: str, sentences: list[list[str]], tmp_path: Path
) -> None:
    assert read(tmp_path, text) == sentences


def test_carriage_return_within_a_line_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r":2: carriage return at offset 3 of the line"):
        read(tmp_path, "好 啊\n一 二\r三 四\n")


class TestUnsegmented:
    @looped(
        "text",
        [
            RAW_LINE * 5,
            RAW_LINE.strip() * 5,  # one line
            "好 啊\n" + RAW_LINE * 10,
            RAW_LINE * 20 + "他 说\n" + "\u3000\u3000" + RAW_LINE.strip() + " \n",
        ],
    )
    def test_is_refused(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(CorpusError, match="the text is not segmented") as caught:
            read(tmp_path, text)
        assert caught.value.line == (2 if text.startswith("好") else 1)

    @looped(
        "text",
        [
            "好\n",
            RAW_LINE,
            RAW_LINE * 4,
            "阿卜杜勒阿齐兹大学\n图书馆\n" * 1000,  # a list of words
            "他们 来 了 。\n" * 10 + RAW_LINE * 5,
            "一二三四五六七八九\n" * 1000,  # lines of 9 characters may be words
        ],
    )
    def test_is_not_what_these_are(self, tmp_path: Path, text: str) -> None:
        assert read(tmp_path, text) == [line.split() for line in text.splitlines()]

    def test_is_seen_at_the_end_of_the_file(self, tmp_path: Path) -> None:
        path = tmp_path / "corpus.txt"
        path.write_text(RAW_LINE * 10, "utf-8")
        sentences = read_segmented(path)
        assert [next(sentences) for _ in range(10)] == [[RAW_LINE.strip()]] * 10
        with pytest.raises(CorpusError):
            next(sentences)


@given(corpora, st.sampled_from(["utf-8", "gb18030"]), st.sampled_from(["", ".gz", ".xz"]))
def test_what_is_written_is_read_back(
    sentences: list[list[str]], encoding: str, suffix: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "corpus.txt" + suffix)
        assert write_segmented(path, iter(sentences), encoding=encoding) == len(sentences)
        assert list(read_segmented(path, encoding=encoding)) == sentences
        if not suffix:
            assert path.read_bytes().decode(encoding) == "".join(
                f"{' '.join(words)}\n" for words in sentences
            )


@looped(
    ("sentences", "fault"),
    [
        ([], "no sentence"),
        ([["好"], []], "sentence 1 has no words"),
        ([["好"], ["a", ""]], "sentence 1: the word ''"),
        ([["New York"]], "sentence 0: the word 'New York'"),
        ([["a\u3000b"]], "sentence 0"),
        ([["a\tb"]], "sentence 0"),
        ([["a\nb"]], "sentence 0"),
        ([["a\r"]], "sentence 0"),
        ([["a\0"]], "sentence 0"),
        ([["a\ud800"]], "sentence 0"),
        ([["\ufeffa"]], "byte order mark"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(
    tmp_path: Path, sentences: list[list[str]], fault: str
) -> None:
    path = tmp_path / "corpus.txt"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match=fault):
        write_segmented(path, sentences)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["sxu/train.txt.xz", "sxu/test.txt"])
def test_real_corpus_is_read_and_its_raw_text_is_refused(
    data_folder: Path, name: str, tmp_path: Path
) -> None:
    sentences = list(read_segmented(data_folder / name))
    copy = tmp_path / "copy.txt"
    assert write_segmented(copy, sentences) == len(sentences)
    assert list(read_segmented(copy)) == sentences
    raw = tmp_path / "raw.txt"
    raw.write_text("".join(f"{''.join(sentence)}\n" for sentence in sentences), "utf-8")
    with pytest.raises(CorpusError, match="not segmented"):
        list(read_segmented(raw))
