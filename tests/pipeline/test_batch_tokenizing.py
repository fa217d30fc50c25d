"""``nlp.pipe`` that tokenizes in batches against that of spaCy, which takes a text at a time."""

from __future__ import annotations

import copy
import pickle
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import small_pipeline
import spacy
from spacy.lang.zh import Chinese
from spacy.language import Language
from spacy.tokens import Doc

TEXTS = ["我看书。他看北京。", "", " \n", "小王写大字！", "写" * 30, "👍我 看 书"] * 7


@pytest.fixture(scope="module")
def nlp(tmp_path_factory: pytest.TempPathFactory) -> Language:
    """A trained pipeline whose config asks for batches."""
    folder = tmp_path_factory.mktemp("batches")
    trained = small_pipeline.trained()
    trained.config["nlp"]["after_creation"] = {"@callbacks": "spacy_structreg.batch_tokenizing.v1"}
    trained.to_disk(folder)
    return spacy.load(folder)


def content(doc: Doc) -> bytes:
    return doc.to_bytes(exclude=["strings"])


def singly(nlp: Language, texts: list[str] = TEXTS) -> list[bytes]:
    return list(map(content, Chinese.pipe(nlp, texts)))


def calls(nlp: Language, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the tokenizer is given one by one, from now on."""
    noted: list[str] = []
    make_doc = nlp.make_doc
    monkeypatch.setattr(nlp, "make_doc", lambda text: noted.append(text) or make_doc(text))
    return noted


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("batch_size", [None, 1, 5])
def test_docs_are_those_of_spacy(
    nlp: Language, n_threads: int, batch_size: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = singly(nlp)
    alone = calls(nlp, monkeypatch)
    monkeypatch.setattr(nlp.tokenizer, "n_threads", n_threads)
    assert list(map(content, nlp.pipe(TEXTS, batch_size=batch_size))) == expected
    pairs = [(text, i) for i, text in enumerate(TEXTS)]
    found = list(nlp.pipe(pairs, as_tuples=True, batch_size=batch_size))
    assert [content(doc) for doc, _ in found] == expected
    assert [i for _, i in found] == list(range(len(TEXTS)))
    assert not alone


def test_docs_and_bytes_may_stand_among_the_texts(nlp: Language) -> None:
    doc = nlp.make_doc(TEXTS[0])
    mixed: list[Any] = [TEXTS[3], doc, nlp.make_doc(TEXTS[4]).to_bytes(), TEXTS[5]]
    found = list(nlp.pipe(mixed))
    assert found[1] is doc
    assert list(map(content, found)) == singly(nlp, [TEXTS[i] for i in (3, 0, 4, 5)])


def test_processes_give_the_same(nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = calls(nlp, monkeypatch)
    assert list(map(content, nlp.pipe(TEXTS, n_process=2))) == singly(nlp)
    assert len(alone) == len(TEXTS)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_texts_are_read_a_batch_ahead_at_most(
    nlp: Language, n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nlp.tokenizer, "n_threads", n_threads)
    read: list[str] = []

    def stream() -> Iterator[str]:
        for text in TEXTS:
            read.append(text)
            yield text

    next(nlp.pipe(stream(), batch_size=3))
    assert len(read) <= (3 if n_threads == 1 else 12)


@pytest.mark.parametrize("kind", ["texts", "pairs", "docs", "mixed"])
def test_docs_that_have_been_given_are_not_kept(nlp: Language, kind: str) -> None:
    makers: dict[str, Callable[[int], Any]] = {
        "texts": lambda _: "我看书。",
        "pairs": lambda i: ("我看书。", i),
        "docs": lambda _: nlp.make_doc("我看书。"),
        "mixed": lambda i: nlp.make_doc("我看书。") if i else "我看书。",
    }
    alive: list[weakref.ref[Doc]] = []
    most = 0
    items = map(makers[kind], range(60))
    for found in nlp.pipe(items, as_tuples=kind == "pairs", batch_size=2):
        doc = found[0] if kind == "pairs" else found
        alive = [weakref.ref(doc), *(each for each in alive if each() is not None)]
        most = max(most, len(alive))
        del doc, found
    assert most < 20


def test_what_came_before_an_error_of_the_source_is_given(nlp: Language) -> None:
    def stream() -> Iterator[str]:
        yield from TEXTS[:3]
        raise OSError("the disk is gone")

    docs = nlp.pipe(stream(), disable=nlp.pipe_names)
    assert [next(docs).text for _ in range(3)] == TEXTS[:3]
    with pytest.raises(OSError, match="the disk is gone"):
        next(docs)


def test_errors_are_those_of_spacy(nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nlp, "max_length", 40)
    for wrong, error in [
        ("书" * 41, "E088"),
        (7, "E1041.*int"),
        (None, "E1041.*None"),
        (("我",), "E1041.*tuple"),
        ("我\ud800", "lone surrogate, U.D800, at offset 1"),
    ]:
        docs = nlp.pipe([*TEXTS, wrong], disable=nlp.pipe_names)
        assert [next(docs).text for _ in TEXTS] == TEXTS
        with pytest.raises(ValueError, match=error):
            next(docs)


def test_another_tokenizer_takes_a_text_at_a_time(
    nlp: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nlp, "tokenizer", spacy.blank("zh").tokenizer)
    alone = calls(nlp, monkeypatch)
    first, _ = nlp.pipe(["我看", "书"], disable=nlp.pipe_names)
    assert [token.text for token in first] == ["我", "看"]
    assert alone == ["我看", "书"]


def test_copies_keep_it(nlp: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nlp.to_disk(tmp_path)
    expected = singly(nlp)
    for same in (pickle.loads(pickle.dumps(nlp)), copy.deepcopy(nlp), spacy.load(tmp_path)):
        assert type(same) is type(nlp)
        alone = calls(same, monkeypatch)
        assert list(map(content, same.pipe(TEXTS))) == expected
        assert not alone
