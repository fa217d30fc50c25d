"""`structreg convert`, and how corpora of any format are told apart and read."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus
from spacy.vocab import Vocab

from spacy_structreg.cli.convert import convert
from spacy_structreg.cli.corpus_files import (
    CorpusFormat,
    Sentence,
    detect_format,
    read_sentences,
)
from spacy_structreg.pipeline.readers import create_corpus

TREES = """\
<S ID=1>
( (IP (NP-SBJ (NR 小王)) (VP (VV 看) (NP-OBJ (NN 书) (-NONE- *T*-1))) (PU 。)) )
</S>
(IP (NP (NN 老师)
        (NN 们))
    (VP (VV 来) (AS 了)))
"""
TAGGED = [
    [("小王", "NR"), ("看", "VV"), ("书", "NN"), ("。", "PU")],
    [("老师", "NN"), ("们", "NN"), ("来", "VV"), ("了", "AS")],
]


def docs_of(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(Vocab()))


def words_of(docs: list[Doc]) -> list[list[str]]:
    return [[token.text for token in doc] for doc in docs]


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


# ---- what is written ----


def test_segmented_text_becomes_docs(
    tmp_path: Path, invoke: Callable[..., Result], text: str, sentences: list[list[str]]
) -> None:
    source, output = write(tmp_path / "corpus.txt", text), tmp_path / "deep" / "er" / "corpus.spacy"
    result = invoke("convert", source, output)
    assert result.exit_code == 0
    assert "5 sentences, 38 words" in result.stdout
    docs = docs_of(output)
    assert words_of(docs) == sentences
    for doc, words in zip(docs, sentences, strict=True):
        assert doc.text == "".join(words)
        assert [token.is_sent_start for token in doc] == [True] + [False] * (len(words) - 1)
        assert not doc.has_unknown_spaces
        assert not doc.has_annotation("TAG")


def test_brackets_become_docs_with_tags(tmp_path: Path, invoke: Callable[..., Result]) -> None:
    source, output = write(tmp_path / "trees.mrg", TREES), tmp_path / "trees.spacy"
    assert invoke("convert", source, output).exit_code == 0
    docs = docs_of(output)
    assert [[(token.text, token.tag_) for token in doc] for doc in docs] == TAGGED
    assert [doc.text for doc in docs] == ["小王看书。", "老师们来了"]
    assert [len(list(doc.sents)) for doc in docs] == [1, 1]


def test_inputs_of_two_formats_in_their_order(
    tmp_path: Path, invoke: Callable[..., Result]
) -> None:
    trees = write(tmp_path / "b.mrg", TREES)
    lines = write(tmp_path / "a.txt", "学生 来 了\r\n\r\n好　的\n")
    output = tmp_path / "all.txt"
    assert "4 sentences, 13 words" in invoke("convert", trees, lines, output).stdout
    expected = "小王 看 书 。\n老师 们 来 了\n学生 来 了\n好 的\n"
    assert output.read_bytes().decode() == expected


def test_encoding_and_compression(tmp_path: Path, invoke: Callable[..., Result]) -> None:
    source = tmp_path / "corpus.txt.gz"
    source.write_bytes(gzip.compress("学生 来 了\n".encode("gb18030")))
    output = tmp_path / "corpus.spacy"
    assert invoke("convert", source, output, "--encoding", "gb18030").exit_code == 0
    assert words_of(docs_of(output)) == [["学生", "来", "了"]]


def test_same_input_same_bytes(tmp_path: Path, text: str) -> None:
    source = write(tmp_path / "corpus.txt", text)
    first, second = tmp_path / "1.spacy", tmp_path / "2.spacy"
    convert([source], first)
    convert([source], second)
    assert first.read_bytes() == second.read_bytes()


def test_training_readers_take_the_output(
    tmp_path: Path, text: str, sentences: list[list[str]]
) -> None:
    output = tmp_path / "corpus.spacy"
    convert([write(tmp_path / "corpus.txt", text)], output)
    nlp = spacy.blank("zh")
    for corpus in (create_corpus(output), Corpus(output)):
        examples = list(corpus(nlp))
        assert words_of([example.reference for example in examples]) == sentences
        assert [example.predicted.text for example in examples] == list(map("".join, sentences))


def test_for_real(
    tmp_path: Path, command: Callable[..., subprocess.CompletedProcess[bytes]], text: str
) -> None:
    write(tmp_path / "corpus.txt", text)
    result = command("structreg", "convert", "corpus.txt", "corpus.spacy")
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.decode() == "corpus.spacy: 5 sentences, 38 words\n"
    assert len(docs_of(tmp_path / "corpus.spacy")) == 5


# Whatever white space is to str.split but not to segmented text belongs to a word, and is left out
# when Docs are read: it has no place in this comparison.
words = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"], exclude_characters="\ufeff()"),
    min_size=1,
    max_size=4,
)
corpora = st.lists(st.lists(words, min_size=1, max_size=6), min_size=1, max_size=5)


@given(corpora)
def test_converting_keeps_the_words(
    tmp_path_factory: pytest.TempPathFactory, corpus: list[list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("convert")
    lines = write(folder / "a.txt", "".join(" ".join(line) + "\n" for line in corpus))
    # A leaf for each word; the tag is its number, to be told from all others.
    trees = write(
        folder / "a.mrg",
        "".join(
            f"(IP {' '.join(f'(T{i} {word})' for i, word in enumerate(line))})\n" for line in corpus
        ),
    )
    for source, as_text in ((lines, folder / "b.txt"), (trees, folder / "c.txt")):
        binary = as_text.with_suffix(".spacy")
        for output in (binary, as_text):
            assert convert([source], output) == (len(corpus), sum(map(len, corpus)))
            assert [sentence.words for sentence in read_sentences(output)] == corpus
        assert words_of(docs_of(binary)) == corpus
    tags = [[token.tag_ for token in doc] for doc in docs_of(folder / "c.spacy")]
    assert tags == [[f"T{i}" for i in range(len(line))] for line in corpus]


# ---- what is refused ----

UNSEGMENTED = "老师和学生昨天一起去了河边的公园。\n" * 20


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (b"\xff\xfe\n", [], "bad.txt:1: byte 0xff at byte offset 0 of the line is not utf-8"),
        ("书 好\n书\0好\n".encode(), [], "bad.txt:2: NUL character"),
        (UNSEGMENTED.encode(), [], "bad.txt:1: the text is not segmented"),
        (b"", [], "bad.txt:1: no sentence"),
        (b"(IP (NN \xe4\xb9\xa6)\n", [], "bad.txt:1: the file ends inside the tree"),
        ("书 好\n".encode(), ["--format", "brackets"], "bad.txt:1: '书' stands outside"),
        ("书 好\n".encode(), ["--encoding", "klingon"], "'klingon' is not an encoding"),
        ("书 好\n".encode(), ["--encoding", "utf-16"], "'utf-16' is not an encoding"),
    ],
)
@pytest.mark.parametrize("suffix", [".spacy", ".txt"])
def test_faulty_input_leaves_the_old_output(
    *,
    tmp_path: Path,
    fails: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    arguments: list[str],
    message: str,
    suffix: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.txt").write_text("学生 来 了\n", "utf-8")
    Path("bad.txt").write_bytes(content)
    output = Path("output" + suffix)
    output.write_bytes(b"old")
    # A good file first, so that there is something to write before the fault.
    inputs = ["bad.txt"] if "--format" in arguments else ["good.txt", "bad.txt"]
    assert message in fails("convert", *inputs, output, *arguments)
    assert output.read_bytes() == b"old"
    assert {path.name for path in tmp_path.iterdir()} == {"good.txt", "bad.txt", output.name}


def test_outputs_that_are_refused(tmp_path: Path, fails: Callable[..., str], text: str) -> None:
    source = write(tmp_path / "corpus.txt", text)
    assert "ends in .spacy" in fails("convert", source, tmp_path / "corpus.conllu")
    (tmp_path / "folder.spacy").mkdir()
    assert "not a regular file" in fails("convert", source, tmp_path / "folder.spacy")
    assert "Not a directory" in fails("convert", source, source / "x" / "corpus.spacy")
    assert {path.name for path in tmp_path.iterdir()} == {"corpus.txt", "folder.spacy"}


def test_words_that_text_cannot_hold(tmp_path: Path, fails: Callable[..., str]) -> None:
    source = write(tmp_path / "trees.mrg", "(IP (NN 老　师))")
    assert "cannot be written as segmented text" in fails("convert", source, tmp_path / "x.txt")
    assert not (tmp_path / "x.txt").exists()


# ---- formats ----


@pytest.mark.parametrize(
    ("content", "format"),
    [
        ("( (IP (NP (NN 书)))", "brackets"),
        ("(IP\n  (NP\n    (NN 书)))", "brackets"),
        ("(\n(IP (NP (NN 书)))\n)", "brackets"),
        ("((IP (NP (NN 书))))", "brackets"),
        ("\ufeff\n\n<DOC>\n<S ID=1>\n(NP-SBJ=1 (NN 书))", "brackets"),
        ("(NN 书)", "brackets"),
        ("老师 和 学生", "segmented"),
        ("( 新闻 ) 老师 来 了", "segmented"),
        ("( ( 一 ) ) 老师", "segmented"),
        ("（ 新闻 ） 老师", "segmented"),
        ("<标题> ( 一 )", "segmented"),
        ("(", "segmented"),
        ("", "segmented"),
    ],
)
def test_detection(tmp_path: Path, content: str, format: str) -> None:
    assert detect_format(write(tmp_path / "corpus", content)).value == format


def test_spacy_files_are_known_by_their_name(tmp_path: Path) -> None:
    assert detect_format(tmp_path / "corpus.spacy") is CorpusFormat.spacy


def test_docs_lose_their_white_space(tmp_path: Path) -> None:
    vocab = Vocab()
    docs = [
        Doc(vocab, words=["iPhone", "14\xa0Pro", "\n", "好"], spaces=[True, False, False, True]),
        Doc(vocab, words=["\n"], spaces=[False]),
        Doc(vocab),
    ]
    DocBin(docs=docs).to_disk(tmp_path / "corpus.spacy")
    assert list(read_sentences(tmp_path / "corpus.spacy")) == [
        Sentence(["iPhone", "14Pro", "好"], None)
    ]


@pytest.mark.parametrize("content", [b"", b"x", b"not zlib at all" * 9, b"x\x9c\x03\x00\x00\x00"])
def test_damaged_docs(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "corpus.spacy"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"corpus\.spacy: not a corpus in spaCy's binary format"):
        list(read_sentences(path))


def test_docs_without_words(tmp_path: Path) -> None:
    DocBin(docs=[Doc(Vocab())]).to_disk(tmp_path / "corpus.spacy")
    with pytest.raises(ValueError, match=r"corpus\.spacy: no Doc of the file has a word"):
        list(read_sentences(tmp_path / "corpus.spacy"))
