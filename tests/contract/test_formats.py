"""Contract of every reader of text files: encodings, compression, damage, faults with their line.

A new format takes a line in `READERS`.
"""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.corpora import files
from spacy_structreg.corpora.any_format import all_formats, read_sentences, write_sentences
from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.word_classes import read_word_classes
from spacy_structreg.corpora.word_lists import ListedWord, read_word_list
from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.tasks.segmentation.user_words import read_user_words


class Reader(NamedTuple):
    """How a file is named, what stands in it, and what reads it.

    is_whole: whether a file is one value, without lines. beside: the text that a file is about.
    """

    name: str
    text: str
    read: Callable[..., Iterable[Any]]
    is_whole: bool = False
    beside: str | None = None

    def write(
        self,
        folder: Path,
        text: str | None = None,
        encoding: str = "utf-8",
        pack: Callable[[bytes], bytes] = bytes,
        suffix: str = "",
    ) -> Path:
        """Write a file, by default with the text of the sample."""
        if self.beside is not None:
            name = self.name.replace(".ann", ".txt")
            (folder / name).write_bytes(self.beside.encode(encoding))
        path = folder / f"{self.name}{suffix}"
        path.write_bytes(pack((self.text if text is None else text).encode(encoding)))
        return path


def of_format(path: Path, encoding: str = "utf-8", **options: Any) -> Iterator[Any]:
    return read_sentences(path, CorpusOptions(encoding=encoding, **options))


def format_reader(format: str, name: str, text: str, **more: Any) -> Reader:
    options = {"columns": more.pop("columns")} if "columns" in more else {}
    return Reader(name, text, partial(of_format, format=format, **options), **more)


def gazetteer(path: Path, encoding: str = "utf-8") -> list[Any]:
    return [Gazetteers.from_files({"x": path}, encoding=encoding)]


def lines(*objects: dict[str, Any]) -> str:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects)


# In gb18030, the second byte of this character is a backslash.
FIRST, SECOND = "乗客", "好"
REGION = {"start": 0, "end": 2, "text": FIRST, "labels": ["X"]}
TASKS = [{"id": 1, "text": FIRST, "label": [REGION]}]
CONLLU = "1\t{}\t_\t_\tNN\t_\t0\troot\t_\t_\n\n"
READERS = {
    "brackets": format_reader("brackets", "a", f"(NP (NN {FIRST}))\n(NN {SECOND})\n"),
    "brat": format_reader(
        "brat", "a.ann", f"T1\tX 0 2\t{FIRST}\nT2\tX 3 4\t{SECOND}\n", beside=f"{FIRST}\n{SECOND}\n"
    ),
    "classified": format_reader("classified", "a.tsv", f"{FIRST}\tsea\n{SECOND}\tland\n"),
    "classified as JSON": format_reader(
        "classified",
        "b.jsonl",
        lines(*({"text": text, "category": "sea"} for text in (FIRST, SECOND))),
    ),
    "columns": format_reader("columns", "b", f"{FIRST} O\n\n{SECOND} O\n", columns=("word", "tag")),
    "conllu": format_reader("conllu", "c", CONLLU.format(FIRST) + CONLLU.format(SECOND)),
    "doccano": format_reader(
        "doccano", "c.jsonl", lines(*({"text": text, "label": []} for text in (FIRST, SECOND)))
    ),
    "label-studio": format_reader(
        "label-studio", "a.json", json.dumps(TASKS, ensure_ascii=False), is_whole=True
    ),
    "partial": format_reader("partial", "a.partial", f"{FIRST[0]}-{FIRST[1]}|{SECOND}\n{SECOND}\n"),
    "pfr": format_reader("pfr", "d", f"[{FIRST}/n  {SECOND}/a]nt\n{SECOND}/a\n"),
    "prodigy": format_reader(
        "prodigy", "d.jsonl", lines(*({"text": text, "spans": []} for text in (FIRST, SECOND)))
    ),
    "segmented": format_reader("segmented", "e", f"{FIRST} {SECOND}\n{SECOND}\n"),
    "sinica": format_reader("sinica", "f", f"#1[1] VP(Head:VA:{FIRST})#\n#2[1] VA:{SECOND}#\n"),
    "tagged": format_reader("tagged", "g", f"{FIRST}_NN\n{SECOND}_VA\n"),
    "told by its content": Reader("k", f"{FIRST} 来 了 。\n{SECOND} 人 来 。\n", of_format),
    "word list": Reader("h", f"{FIRST}\tNN\t3\n{SECOND}\n", read_word_list),
    "word classes": Reader("i", f"{FIRST}\tsea\n{SECOND}\tland\n", read_word_classes),
    "gazetteer": Reader("j", f"{FIRST}\n{SECOND}\n", gazetteer),
    "user words": Reader("k", f"{FIRST}\tNN\n{SECOND}\n", read_user_words),
}
# What is said of a file without words; that of brat is about texts of another one.
EMPTY = {
    "brackets": "no tree in the file; trees are written (IP (NP (NR 上海)) (VP (VA 大)))",
    "classified": "no text in the file; write a text and its category on each line",
    "classified as JSON": "no text in the file; write an object a line",
    "columns": "no token in the file; column files have a token with its columns a line",
    "conllu": "no sentence in the file; a word is a line of 10 columns separated by tabs",
    "doccano": "no text in the file; export some",
    "label-studio": "this is no JSON (Expected object or value); export JSON or JSON-MIN",
    "partial": "no sentence in the file; partial annotation has one sentence a line",
    "pfr": "no words in the file; each word is written 词/tag",
    "prodigy": "no text in the file was accepted; annotate some",
    "segmented": (
        "no sentence in the file; segmented text has one sentence a line, "
        "its words separated by white space"
    ),
    "sinica": "no tree in the file; trees are written #1[1] S(Head:VA:來)#。",
    "tagged": "no words in the file; each word is written 词_tag",
    "told by its content": "no text in the file; name a corpus",
    "word list": "no word in the list; write one a line",
    "word classes": "no word in the file; write a word, a tab and its class a line",
    "gazetteer": "no phrase in the file; write one a line",
    "user words": "no word in the list; write one a line",
}
# A line of white space has columns there, by single tabs.
WHITE = EMPTY | {
    "conllu": "2 columns instead of 10; a word has the columns ID FORM LEMMA UPOS XPOS FEATS HEAD "
    "DEPREL DEPS MISC, separated by single tabs"
}
# What is read of the samples that are no sentences.
VALUES: dict[str, list[Any]] = {
    "word list": [ListedWord(FIRST, ("NN",), 3), ListedWord(SECOND, (), 0)],
    "word classes": [(FIRST, "sea"), (SECOND, "land")],
    "gazetteer": [Gazetteers({"x": [FIRST, SECOND]})],
    "user words": [(FIRST, "NN"), (SECOND, None)],
}
# The release of SIGHAN is a folder or an archive, and spaCy's own files are no text.
OTHERS = {"sighan", "spacy"}
PACKS = ((".gz", gzip.compress), (".xz", lzma.compress))


def test_every_format_is_here() -> None:
    assert all_formats().keys() == OTHERS | READERS.keys() & all_formats().keys()


@looped("name", READERS)
def test_any_encoding_line_end_and_compression_is_read(name: str, tmp_path: Path) -> None:
    reader = READERS[name]
    expected = list(reader.read(reader.write(tmp_path)))
    texts = ["".join(each.words) for each in expected if isinstance(each, Sentence)]
    if name in VALUES:
        assert expected == VALUES[name]
    else:
        assert len(texts) == len(expected) == (1 if reader.is_whole else 2)
        assert all(map(str.startswith, texts, (FIRST, SECOND)))
    for text, encoding in (
        (f"\ufeff{reader.text}", "utf-8"),
        (reader.text.replace("\n", "\r\n"), "utf-8"),
        (reader.text, "gb18030"),
    ):
        assert list(reader.read(reader.write(tmp_path, text, encoding), encoding=encoding)) == (
            expected
        )
    with pytest.raises(CorpusError, match=r":1: byte 0x.. at byte offset .* is not utf-8; name"):
        list(reader.read(reader.write(tmp_path, encoding="gb18030")))
    with pytest.raises(ValueError, match="'utf-16' is not an encoding"):
        list(reader.read(reader.write(tmp_path), encoding="utf-16"))
    for suffix, pack in PACKS:
        path = reader.write(tmp_path, pack=pack, suffix=suffix)
        assert list(reader.read(path)) == expected
        data = path.read_bytes()
        flipped = bytes([*data[:30], data[30] ^ 0xFF, *data[31:]])
        for broken in (data[:-20], data[: len(data) // 2], b"no archive"):
            path.write_bytes(broken)
            with pytest.raises(CorpusError, match="the compressed data is damaged or truncated"):
                list(reader.read(path))
        path.write_bytes(flipped)
        with pytest.raises(CorpusError, match=path.name):
            list(reader.read(path))


@looped("name", [name for name, each in all_formats().items() if each.write])
def test_no_sentences_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{all_formats()[name].written_suffix}"
    with pytest.raises(ValueError, match="there is no sentence to write"):
        write_sentences(path, [])
    assert not list(tmp_path.iterdir())


@looped("name", READERS)
def test_faults_come_with_file_and_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = READERS[name]
    for empty, said in (("", EMPTY), ("\n", EMPTY), ("\n \n\t\n", WHITE)):
        path = reader.write(tmp_path, empty)
        if reader.beside is None:
            with pytest.raises(CorpusError) as caught:
                list(reader.read(path))
            assert str(caught.value).endswith(f": {said[name]}")
            assert caught.value.file == str(path)
            assert caught.value.line <= max(1, empty.count("\n"))
    if reader.is_whole:
        return
    monkeypatch.setattr(files, "LONGEST_LINE", 1000)
    for end, fault in (
        (b"a\0\n", "NUL character at offset 1"),
        (b"\xff\n", "byte 0xff at byte offset 0"),
        (b"a" * 1001, "the line is longer than 1000 bytes"),
    ):
        path = reader.write(tmp_path)
        path.write_bytes(path.read_bytes() + end)
        with pytest.raises(CorpusError, match=fault) as caught:
            list(reader.read(path))
        assert (caught.value.file, caught.value.line) == (str(path), 1 + reader.text.count("\n"))


@pytest.mark.parametrize("name", READERS)
@given(data=st.data())
def test_any_text_is_read_or_refused_with_its_line(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    reader = READERS[name]
    parts = [*reader.text, *reader.text.splitlines(keepends=True), *"()[]{}/_#|-\t \u3000\r1"]
    text = "".join(data.draw(st.lists(st.sampled_from(parts), max_size=20)))
    path = reader.write(tmp_path_factory.getbasetemp(), text)
    try:
        found = list(reader.read(path))
    except CorpusError as error:
        if error.file != str(path) or not 1 <= error.line <= text.count("\n") + 1:
            raise
    else:
        assert found
