"""The reader of corpora: what it reads, which gold it hands on, and what it refuses."""

from __future__ import annotations

import lzma
import random
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
from looped import looped
from pipeline.made_up import DEV, gold_doc, tokens, trained, untrained
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_structreg.pipeline.readers import create_corpus

NLP = untrained()
WORDS = DEV[:5]


def docbin(docs: list[Doc]) -> bytes:
    return DocBin(docs=docs).to_bytes()


def gold_docs() -> list[Doc]:
    return [gold_doc(Vocab(), words) for words in WORDS]


def read(path: Path, nlp: Language = NLP, **settings: Any) -> list[Example]:
    return list(create_corpus(path, **settings)(nlp))


def reference_words(examples: list[Example]) -> list[list[str]]:
    return [tokens(example.reference) for example in examples]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A file in spaCy's binary format."""
    path = tmp_path / "corpus.spacy"
    path.write_bytes(docbin(gold_docs()))
    return path


# What is read ------------------------------------------------------------------------------------


def test_a_binary_file(corpus: Path) -> None:
    examples = read(corpus)
    assert reference_words(examples) == WORDS
    # The untrained tokenizer makes the words of the other side.
    assert [tokens(e.predicted) for e in examples] == [list("".join(words)) for words in WORDS]
    assert all(e.reference.vocab is e.predicted.vocab is NLP.vocab for e in examples)


@pytest.mark.parametrize("suffix", [".txt", ".txt.xz"])
def test_a_text_file(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"corpus{suffix}"
    lines = "\n\n".join("  ".join(words) for words in WORDS)
    data = f"\n{lines}\n".encode()
    path.write_bytes(lzma.compress(data) if suffix == ".txt.xz" else data)
    examples = read(path)
    assert reference_words(examples) == WORDS
    assert [e.reference.text for e in examples] == ["".join(words) for words in WORDS]
    assert [e.predicted.text for e in examples] == ["".join(words) for words in WORDS]
    assert reference_words(read(path, gold=["words"], limit=2)) == WORDS[:2]


def test_files_of_other_formats_are_known_by_their_names(tmp_path: Path) -> None:
    nlp = spacy.blank("zh")
    (tmp_path / "own.jsonl").write_text(
        '{"text": "我在临江市", "label": [[2, 5, "CITY"]]}\n', "utf-8"
    )
    (example,) = create_corpus(tmp_path / "own.jsonl")(nlp)
    assert [(span.text, span.label_) for span in example.reference.ents] == [("临江市", "CITY")]
    rows = "1\t他们\t_\tPRON\tPN\t_\t2\tnsubj\t_\t_\n2\t来\t_\tVERB\tVV\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "trees.conllu").write_text(rows, "utf-8")
    (example,) = create_corpus(tmp_path / "trees.conllu", ["words", "tags"])(nlp)
    assert [token.tag_ for token in example.predicted] == ["PN", "VV"]
    assert [token.head.text for token in example.reference] == ["来", "来"]
    # Not as words of segmented text.
    (tmp_path / "own.jsonl").write_text("[1]\n", "utf-8")
    with pytest.raises(ValueError, match=r"own\.jsonl:1"):
        list(create_corpus(tmp_path / "own.jsonl")(nlp))


def test_a_folder_in_the_order_of_its_paths(tmp_path: Path) -> None:
    docs = gold_docs()
    (tmp_path / "b").mkdir()
    for name, part in (("c.spacy", docs[2:]), ("a.spacy", docs[:1]), ("b/x.spacy", docs[1:2])):
        (tmp_path / name).write_bytes(docbin(part))
    (tmp_path / "notes.txt").write_text("不是 语料\n", encoding="utf-8")
    assert reference_words(read(tmp_path)) == WORDS
    # The limit counts Docs over all files; empty ones are passed over.
    (tmp_path / "a.spacy").write_bytes(docbin([Doc(Vocab()), docs[0], Doc(Vocab())]))
    assert reference_words(read(tmp_path, limit=3)) == WORDS[:3]
    for path in tmp_path.rglob("*.spacy"):
        path.unlink()
    with pytest.raises(ValueError, match=rf"{re.escape(str(tmp_path))} is a folder without"):
        read(tmp_path)


def test_the_corpus_is_read_anew_each_time(corpus: Path) -> None:
    nlp = untrained()
    reader = create_corpus(corpus)
    first = list(reader(nlp))
    nlp.tokenizer = trained().tokenizer
    second = list(reader(nlp))
    assert [tokens(e.predicted) for e in first] == [list("".join(words)) for words in WORDS]
    assert [tokens(e.predicted) for e in second] == WORDS
    corpus.unlink()
    with pytest.raises(FileNotFoundError):
        list(reader(nlp))


def test_limit(corpus: Path) -> None:
    for limit, n in ((0, 5), (1, 1), (5, 5), (9, 5)):
        assert reference_words(read(corpus, limit=limit)) == WORDS[:n]


# Gold on the predicted side ----------------------------------------------------------------------


@pytest.fixture
def annotated(tmp_path: Path) -> Path:
    """One Doc with everything, in a text with spaces: three words and white space."""
    doc = Doc(
        Vocab(),
        words=["好", "。", "New York", " ", "大"],
        spaces=[False, True, True, False, True],
        tags=["VA", "PU", "NR", "_SP", "VA"],
        pos=["ADJ", "PUNCT", "PROPN", "SPACE", "ADJ"],
        sent_starts=[True, False, True, False, False],
        heads=[0, 0, 4, 2, 4],
        deps=["ROOT", "punct", "nsubj", "dep", "ROOT"],
        ents=["O", "O", "B-GPE", "O", "O"],
    )
    doc.spans["constituents"] = [doc[0:2]]
    path = tmp_path / "annotated.spacy"
    path.write_bytes(docbin([doc]))
    return path


@pytest.mark.parametrize("gold", [["words"], ["words", "tags"], ["words", "tags", "sents"]])
def test_only_the_gold_that_is_asked_for_is_handed_on(gold: list[str], annotated: Path) -> None:
    (example,) = read(annotated, gold=gold)
    predicted, reference = example.predicted, example.reference
    assert predicted is not reference
    assert predicted.text == reference.text == "好。 New York  大 "
    assert tokens(predicted) == ["好", "。", "New York", " ", "大"]
    assert [bool(t.whitespace_) for t in predicted] == [False, True, True, False, True]
    tags = ["VA", "PU", "NR", "_SP", "VA"] if "tags" in gold else [""] * 5
    assert [t.tag_ for t in predicted] == tags
    pos = ["ADJ", "PUNCT", "PROPN", "SPACE", "ADJ"] if "tags" in gold else [""] * 5
    assert [t.pos_ for t in predicted] == pos
    assert predicted.has_annotation("SENT_START") == ("sents" in gold)
    if "sents" in gold:
        assert [len(sentence) for sentence in predicted.sents] == [2, 3]
    for attribute in ("DEP", "HEAD", "ENT_IOB"):
        assert reference.has_annotation(attribute)
        assert not predicted.has_annotation(attribute)
    assert reference.spans
    assert not predicted.spans


@pytest.mark.parametrize("gold", [None, []])
def test_without_gold_the_tokenizer_makes_the_words(
    gold: list[str] | None, annotated: Path
) -> None:
    (example,) = read(annotated, gold=gold)
    assert tokens(example.predicted) == [*"好。NewYork", " ", "大"]
    assert not example.predicted.has_annotation("TAG")
    assert not example.predicted.has_annotation("SENT_START")


def test_gold_that_the_corpus_does_not_have(corpus: Path) -> None:
    for example in read(corpus, gold=["words", "tags", "sents"]):
        assert tokens(example.predicted) == tokens(example.reference)
        assert not example.predicted.has_annotation("TAG")
        assert not example.predicted.has_annotation("SENT_START")


# Refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("gold", [["tags"], ["sents"], ["tags", "sents"]])
def test_tags_and_sentences_need_words(gold: list[Any], corpus: Path) -> None:
    with pytest.raises(ValueError, match="needs 'words' as well") as error:
        create_corpus(corpus, gold=gold)
    assert str(corpus) in str(error.value)


def test_no_path() -> None:
    with pytest.raises(ValueError, match=r"no path; .*--paths\.train and --paths\.dev"):
        create_corpus(None)


def test_gold_words_give_a_tokenizer_away_that_is_being_trained(corpus: Path) -> None:
    nlp = untrained()
    nlp.add_pipe("structreg_tokenizer_trainer", name="any_name")
    with pytest.raises(ValueError, match=r"score 1\.0 untrained; set gold = \[\]"):
        read(corpus, nlp, gold=["words"])
    assert reference_words(read(corpus, nlp, gold=[])) == WORDS


def test_a_missing_file(tmp_path: Path) -> None:
    for name in ("none.spacy", "none.txt"):
        with pytest.raises(FileNotFoundError, match=name):
            read(tmp_path / name)


def test_docs_that_do_not_know_their_spaces(tmp_path: Path) -> None:
    vocab = Vocab()
    path = tmp_path / "corpus.spacy"
    path.write_bytes(docbin([gold_doc(vocab, WORDS[0]), Doc(vocab, words=WORDS[1])]))
    with pytest.raises(ValueError, match=r"Doc 2 does not know its spaces.*spaces=\[False") as e:
        read(path)
    assert str(path) in str(e.value)


@looped(
    ("name", "data"),
    [
        ("no_words.txt", b""),
        ("no_words.txt", b"\n \n"),
        ("not segmented.txt", "\n".join("".join(words) for words in DEV).encode()),
        ("gb18030.txt", "没有 编码".encode("gb18030")),
        ("utf-16.txt", b"\xff\xfe\x00"),
        ("no_docs.spacy", docbin([])),
        ("no_words.spacy", docbin([Doc(Vocab())] * 2)),
    ],
)
def test_files_from_which_nothing_can_be_read(name: str, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(ValueError, match=re.escape(str(path))):
        read(path)


def refused(path: Path) -> None:
    """Reading the file ends in an error that names it and says what to do."""
    message = rf"(?s)^{re.escape(str(path))}: not a corpus in spaCy's binary .*structreg convert"
    with pytest.raises(ValueError, match=message):
        read(path)


@looped(
    "damage",
    [
        lambda data: random.Random(0).randbytes(1000),
        lambda data: "中国 经济\n".encode(),
        lambda data: zlib.compress(b""),
        lambda data: zlib.compress(zlib.decompress(data)[:-20]),
        lambda data: zlib.compress(srsly.msgpack_dumps([1, 2])),
        lambda data: zlib.compress(srsly.msgpack_dumps({"attrs": [65]})),
        lambda data: zlib.compress(b"\xc1" * 9),
    ],
)
def test_files_that_are_no_corpus(damage: Callable[[bytes], bytes], corpus: Path) -> None:
    corpus.write_bytes(damage(corpus.read_bytes()))
    refused(corpus)


def test_every_prefix_of_a_corpus_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "corpus.spacy"
    data = docbin(gold_docs()[:1])
    for length in range(len(data)):
        path.write_bytes(data[:length])
        refused(path)


# spaCy's own errors would name neither file nor fault.
@looped(
    ("field", "value"),
    [
        ("attrs", []),
        ("attrs", [1]),
        ("attrs", None),
        ("cats", []),
        ("flags", []),
        ("flags", [1] * len(WORDS)),
        ("span_groups", []),
        ("tokens", b"12345"),
        ("lengths", b"123"),
        ("strings", None),
    ],
)
def test_fields_of_a_corpus_that_are_damaged(field: str, value: object, corpus: Path) -> None:
    fields = srsly.msgpack_loads(zlib.decompress(corpus.read_bytes()))
    assert field in fields
    corpus.write_bytes(zlib.compress(srsly.msgpack_dumps({**fields, field: value})))
    refused(corpus)


CHARACTERS = "北京大学的学生在图书馆看书"


@pytest.mark.parametrize("text", [CHARACTERS, "臺灣大學的學生在圖書館看書", "ＡＢ" + CHARACTERS])
def test_characters_become_words_of_the_tokenizer(tmp_path: Path, text: str) -> None:
    """What is trained on them would find nothing, such as labels of columns of characters."""
    nlp = untrained()
    corpus = tmp_path / "characters.spacy"

    def write(
        parts: Callable[[str], list[str]], n_docs: int = 5, tags: list[str] | None = None
    ) -> None:
        words = parts(text)
        doc = Doc(nlp.vocab, words=words, spaces=[False] * len(words), tags=tags)
        if parts is list:
            # The last word is cut.
            doc.set_ents([Span(doc, 0, 2, "A"), Span(doc, len(words) - 1, len(words), "B")])
        DocBin(docs=[doc] * n_docs).to_disk(corpus)

    reader = create_corpus(corpus, ["words", "sents"])
    write(list)
    # As long as the tokenizer finds characters, too.
    assert [len(each.reference) for each in reader(nlp)] == [len(text)] * 5
    nlp.tokenizer.model.fit([[text[:2], text[2:4], *text[4:]], [text[-2:], text[:1]]])
    wanted = [token.text for token in nlp.tokenizer(text, spans=[(len(text) - 1, len(text))])]
    for each in reader(nlp):
        assert [token.text for token in each.predicted] == wanted
        assert [token.text for token in each.reference] == wanted
        assert [(span.text, span.label_) for span in each.reference.ents] == [
            (text[:2], "A"),
            (text[-1], "B"),
        ]
    write(list, tags=["NN"] * len(text))
    with pytest.raises(ValueError, match="are single characters with tags or heads"):
        list(reader(nlp))
    # Without gold words, there is nothing to go wrong.
    assert len(list(create_corpus(corpus, [])(nlp))) == 5
    # Few words may well be short, and others are words.
    write(list, n_docs=1)
    assert len(list(reader(nlp))) == 1
    write(lambda text: [text[-4:-2], *text[:-4], text[-2:]])
    assert len(list(reader(nlp))) == 5
