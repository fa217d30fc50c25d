"""What the segmentation benchmark reads, and how python-crfsuite is given it."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.common.corpora import read_corpus
from benchmarks.segmentation.systems.crfsuite import features, labels, words_of
from benchmarks.segmentation.task import read_sentences


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_development_file_the_last_tenth_is_held_out(tmp_path: Path) -> None:
    lines = [f"第 {number} 行" for number in range(25)]
    train = write(tmp_path / "train.txt", "\n".join(lines))
    test = write(tmp_path / "test.txt", "第 一 行\n")
    corpus = read_corpus(read_sentences, train, None, test)
    assert corpus.name == tmp_path.name
    assert [words[1] for words in corpus.train] == [str(number) for number in range(22)]
    assert [words[1] for words in corpus.dev] == ["22", "23", "24"]
    assert "last tenth" in corpus.note
    head = corpus.head(4, 2)
    assert (len(head.train), len(head.dev), len(head.test)) == (4, 2, 1)
    assert (head.train, head.dev) == (corpus.train[:4], corpus.dev[:2])


def test_features_are_the_seven_templates() -> None:
    # ␂ before, ␃ after; c-1, c0, c+1, c-2c-1, c-1c0, c0c+1, c+1c+2.
    assert features("雨停了") == [
        ["a␂", "b雨", "c停", "d␂␂", "e␂雨", "f雨停", "g停了"],
        ["a雨", "b停", "c了", "d␂雨", "e雨停", "f停了", "g了␃"],
        ["a停", "b了", "c␃", "d雨停", "e停了", "f了␃", "g␃␃"],
    ]


def test_labels_are_bmes() -> None:
    assert labels(["我", "们俩", "图书馆", "一去不回"]) == list("SBEBMEBMME")


@given(st.lists(st.text(min_size=1), min_size=1))
def test_words_come_back_from_their_labels(words: list[str]) -> None:
    assert words_of("".join(words), labels(words)) == words


@given(st.text(alphabet="BMES", min_size=1))
def test_any_labels_give_words_of_the_same_text(tags: str) -> None:
    # A conditional random field may predict what no word has, M after S, say.
    text = "".join(chr(0x4E00 + index) for index in range(len(tags)))
    words = words_of(text, list(tags))
    assert "".join(words) == text
    assert "" not in words
