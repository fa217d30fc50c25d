"""`structreg word-classes`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner

from spacy_structreg.cli.app import structreg_app
from spacy_structreg.cli.word_classes import SegmentedFiles, read_vectors
from spacy_structreg.corpora.word_classes import read_word_classes

SENTENCES = [["我们", "学", "语言"], ["你们", "看", "书"]]


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(structreg_app, ["word-classes", *arguments])
    return result.exit_code, " ".join(result.output.split())


def test_text_and_docs_are_read_alike(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("我们 学\u3000语言\n\n你们 看 书\n", encoding="utf-8")
    vocab = spacy.blank("xx").vocab
    docs = DocBin(docs=[Doc(vocab, words=[*words, " "]) for words in SENTENCES])
    docs.to_disk(tmp_path / "b.spacy")
    files = SegmentedFiles([str(text), str(tmp_path / "b.spacy")])
    assert list(files) == list(files) == SENTENCES * 2


def test_vectors_of_files_and_pipelines(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("2 3\n狗 1 0 -2.5\n猫 0 1 1e-3 \n", encoding="utf-8")
    words, vectors = read_vectors(str(path))
    assert words == ["狗", "猫"]
    assert vectors.tolist() == np.array([[1, 0, -2.5], [0, 1, 1e-3]], dtype=np.float32).tolist()
    nlp = spacy.blank("xx")
    for word, row in zip([*words, "a b"], [*vectors, vectors[0]], strict=True):
        nlp.vocab.set_vector(word, row)
    nlp.to_disk(tmp_path / "pipeline")
    words, again = read_vectors(str(tmp_path / "pipeline"))
    order = [words.index(word) for word in ("狗", "猫")]
    assert again[order].tolist() == vectors.tolist()
    assert len(words) == 2


@pytest.mark.parametrize("text", ["", "狗\n", "狗 x\n", "狗 1 2\n猫 1\n", " 1 2\n"])
def test_faulty_vectors_are_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "v.txt"
    path.write_text(text, encoding="utf-8")
    pytest.importorskip("sklearn")
    code, output = run("--vectors", str(path), str(tmp_path / "out.txt"))
    assert code == 1
    assert "v.txt:" in output
    assert not (tmp_path / "out.txt").exists()


def test_mistakes(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a b\n" * 9, encoding="utf-8")
    code, output = run(str(path), str(path))
    assert code == 1
    assert "is an input" in output
    (tmp_path / "b.spacy").write_bytes(b"x")
    pytest.importorskip("gensim")
    pytest.importorskip("sklearn")
    for arguments, fault in [
        ([str(path)], "2 words are frequent enough"),
        ([str(tmp_path / "none.txt")], "No such file"),
        ([str(tmp_path / "b.spacy")], "no file of Docs"),
        (["--vectors", str(path), str(path)], "from one place"),
    ]:
        code, output = run(*arguments, str(tmp_path / "out.txt"))
        assert code == 1
        assert fault in output
        assert not (tmp_path / "out.txt").exists()


def test_a_file_that_models_read(tmp_path: Path) -> None:
    pytest.importorskip("gensim")
    pytest.importorskip("sklearn")
    path = tmp_path / "a.txt"
    path.write_text("\n".join(" ".join(words) for words in SENTENCES * 5), encoding="utf-8")
    out = tmp_path / "out.txt"
    code, output = run(str(path), str(out), "--classes", "2", "--dimensions", "4")
    assert (code, output) == (0, "")
    words = dict(read_word_classes(out))
    assert set(words) == {word for sentence in SENTENCES for word in sentence}


def test_classes_by_counts_in_this_process_and_on_workers(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("distributed")
    path = tmp_path / "a.txt"
    path.write_text("\n".join(" ".join(words) for words in SENTENCES * 5), encoding="utf-8")
    settings = ["--method", "counts", "--classes", "2", "--dimensions", "4"]
    assert run(str(path), str(tmp_path / "one.txt"), *settings) == (0, "")
    workers = ["--workers", "1"]
    assert run(str(path), str(tmp_path / "many.txt"), *settings, *workers) == (0, "")
    assert (tmp_path / "one.txt").read_bytes() == (tmp_path / "many.txt").read_bytes()
    code, output = run(str(path), str(tmp_path / "out.txt"), "--workers", "1")
    assert code == 1
    assert "choose --method counts" in output
