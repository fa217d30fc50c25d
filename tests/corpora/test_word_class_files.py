"""Files of word classes."""

from __future__ import annotations

from pathlib import Path

import pytest
from looped import looped

from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.word_classes import read_word_classes, write_word_classes


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "classes.txt"
    path.write_bytes(text.encode())
    return path


def test_both_formats(tmp_path: Path) -> None:
    path = written(tmp_path, "狗\tanimal\n\n猫\tanimal\n狗\tanimal\nnew york\tcity\n")
    assert list(read_word_classes(path)) == [
        ("狗", "animal"), ("猫", "animal"), ("狗", "animal"), ("new york", "city"),
    ]  # fmt: skip
    path = written(tmp_path, "0010\t狗\t12\r\n0011\t猫\t3\n")
    assert list(read_word_classes(path)) == [("狗", "0010"), ("猫", "0011")]


@looped("name", ["classes.txt", "classes.txt.gz", "classes.txt.xz"])
def test_what_is_written_is_read(tmp_path: Path, name: str) -> None:
    write_word_classes(tmp_path / name, [("0", "一", 3), ("11", "二", 0)])
    assert list(read_word_classes(tmp_path / name)) == [("一", "0"), ("二", "11")]


@looped(
    ("text", "line", "fault"),
    [
        ("狗 animal\n", 1, "1 cells"),
        ("狗\tanimal\n0\t猫\t2\n", 2, "3 cells"),
        ("0\t1\t2\t3\n", 1, "4 cells"),
        ("狗\t\n", 1, "no word, or no class"),
        (" \tx\n", 1, "no word, or no class"),
        ("狗\t" + "x" * 101 + "\n", 1, "100 characters"),
        ("0\t狗\t1\n012\t猫\t1\n", 2, "path of 0 and 1"),
        ("0\t狗\tx\n", 1, "path of 0 and 1"),
        ("\t狗\t1\n", 1, "path of 0 and 1"),
        ("狗\ta\n猫\tb\n狗\tb\n", 3, "of the class 'b' here"),
        ("狗\ta\rb\n", 1, "carriage return"),
    ],
)
def test_faults_are_named(tmp_path: Path, text: str, line: int, fault: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(CorpusError, match=fault) as caught:
        list(read_word_classes(path))
    assert caught.value.line == line
