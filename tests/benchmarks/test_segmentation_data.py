"""What the segmentation benchmark reads, and how python-crfsuite is given it."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.common.corpora import default_corpus, read_corpus
from benchmarks.segmentation.systems.crfsuite import features, labels, words_of
from benchmarks.segmentation.task import read_sentences

ROW = "{}\t{}" + "\t_" * 8 + "\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_formats_are_told_by_their_content(tmp_path: Path) -> None:
    wanted = [["小", "船", "靠岸"], ["雨停", "了"]]
    texts = {
        "segmented": "小 船 靠岸\n雨停 了\n",
        "conllu": "\n".join(
            "".join(ROW.format(i, word) for i, word in enumerate(words, 1)) for words in wanted
        )
        + "\n",
        "tagged": "小_JJ 船_NN 靠岸_VV\n雨停_VV 了_AS\n",
        "pfr": "小/a 船/n 靠岸/v\n雨停/v 了/u\n",
        "brackets": "( (IP (JJ 小) (NN 船) (VV 靠岸)) )\n( (IP (VV 雨停) (AS 了)) )\n",
    }
    for name, text in texts.items():
        assert read_sentences(write(tmp_path / name, text)) == wanted, name


def test_white_space_in_words_is_left_out(tmp_path: Path) -> None:
    rows = ROW.format(1, "新 街") + ROW.format(2, "\u00a0") + ROW.format(3, "口")
    assert read_sentences(write(tmp_path / "a", rows + "\n")) == [["新街", "口"]]


def test_a_whole_release_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "icwb2-data.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("icwb2-data/training/pku_training.utf8", "小 船\n")
    with pytest.raises(ValueError, match="name the corpus and part of the release"):
        read_sentences(path)


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


def test_one_sentence_has_no_tenth(tmp_path: Path) -> None:
    path = write(tmp_path / "train.txt", "小 船 靠岸\n")
    with pytest.raises(ValueError, match=r"train\.txt: too few sentences.*give --dev"):
        read_corpus(read_sentences, path, None, path)


def test_without_data_the_error_says_what_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STRUCTREG_DATA", raising=False)
    with pytest.raises(ValueError, match=r"set STRUCTREG_DATA .* or give --train and --test"):
        default_corpus(read_sentences)


def test_the_default_corpus_is_the_one_of_the_papers_figures(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRUCTREG_DATA", str(data_folder))
    corpus = default_corpus(read_sentences)
    assert corpus.name == "ud_chinese"
    assert [len(part) for part in (corpus.train, corpus.dev, corpus.test)] == [3997, 500, 500]
    assert [sum(map(len, part)) for part in (corpus.train, corpus.dev, corpus.test)] == [
        98_608,
        12_663,
        12_012,
    ]


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
