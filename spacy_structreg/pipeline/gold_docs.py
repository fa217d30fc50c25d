"""Gold Docs: read from corpora of any format, and to and from annotated sentences.

This is the one reader of files of Docs, and the one place where what a corpus has becomes what a
Doc has; what of it belongs to a task is read and written by the task (`pipeline.task`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.util import get_lang_class
from spacy.vocab import Vocab

from spacy_structreg.corpora import any_format
from spacy_structreg.corpora.any_format import find_format
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.files import replace_bytes
from spacy_structreg.corpora.sentence import Sentence, join
from spacy_structreg.pipeline.constituency_documents import word_bounds
from spacy_structreg.pipeline.documents import (
    UNKNOWN_WORDS,
    dependency_sentences,
    unknown_stretches,
    visible_tokens,
)
from spacy_structreg.pipeline.task import all_tasks

# What is written of a token; tasks may have more.
WRITTEN = ["ORTH", "TAG", "POS", "HEAD", "DEP", "SENT_START", "ENT_IOB", "ENT_TYPE"]

NO_USER_DATA = b"\x80"
"""The user data of a Doc that has none: an empty map in msgpack."""


def read_docbin(path: Path, vocab: Vocab) -> list[Doc]:
    """The Docs of a `.spacy` file. Raises ValueError for another one, OSError as `open`."""
    data = path.read_bytes()
    try:
        found = DocBin().from_bytes(data)
        # spaCy would ask all entry points for each of them, which takes most of the time.
        found.user_data = [None if each == NO_USER_DATA else each for each in found.user_data]
        return list(found.get_docs(vocab))
    except Exception as error:
        # What a damaged file makes of spaCy's reader is anything at all.
        raise ValueError(
            f"{path}: not a corpus in spaCy's binary format ({error}); make one with "
            "'python -m spacy structreg convert'"
        ) from error


def read_docs(path: Path, vocab: Vocab, options: CorpusOptions | None = None) -> Iterator[Doc]:
    """Yield the gold Docs of a corpus of any format that have words.

    Raises ValueError as `read_sentences`.
    """
    options = options or CorpusOptions()
    if find_format(path, options).name == "spacy":
        yield from _with_words(path, vocab)
        return
    for sentence in read_sentences(path, options):
        yield doc_of_sentence(vocab, sentence)


def read_sentences(path: Path, options: CorpusOptions | None = None) -> Iterator[Sentence]:
    """Yield the sentences of a corpus of any format; those of a `.spacy` file are its Docs.

    White space within the tokens of Docs, and tokens of nothing else, are left out.
    Raises ValueError and OSError as `any_format.read_sentences`.
    """
    options = options or CorpusOptions()
    if find_format(path, options).name == "spacy":
        for doc in _with_words(path, Vocab()):
            yield sentence_of_doc(doc, options.spans_key)
        return
    try:
        get_lang_class(options.lang)
    except ImportError as error:
        raise ValueError(
            f"spaCy has no language {options.lang!r}; choose one of its codes, such as en"
        ) from error

    # Made for the first text, as only few formats have texts that are to be parted into tokens.
    @cache
    def language() -> Language:
        return spacy.blank(options.lang)

    def tokenize(text: str) -> tuple[list[str], list[bool]]:
        doc = language().make_doc(text)
        return [token.text for token in doc], [bool(token.whitespace_) for token in doc]

    yield from any_format.read_sentences(path, replace(options, tokenize=tokenize))


def _with_words(path: Path, vocab: Vocab) -> Iterator[Doc]:
    docs = [doc for doc in read_docbin(path, vocab) if visible_tokens(doc)]
    if not docs:
        raise ValueError(f"{path}: no Doc of the file has a word")
    yield from docs


def sentence_of_doc(doc: Doc, spans_key: str | None = None) -> Sentence:
    """The words of a Doc, as `gold_words` has them, and what it has of the rest.

    spans_key: of labeled spans; None for the usual one.
    Dependency trees are left out unless all words have heads. Raises ValueError as `read_phrases`.
    """
    found = join(dependency_sentences(doc))
    is_parsed = None not in found.heads
    pos = tuple(token.pos_ for token in visible_tokens(doc))
    fields: dict[str, Any] = {}
    extra: dict[str, list[str]] = {}
    for task in all_tasks():
        fields |= task.read_gold(doc, spans_key)
        extra |= fields.pop("extra", None) or {}
    firsts = {first for first, _ in word_bounds(doc, fields.get("constituents") or [])}
    return replace(
        found,
        tags=found.tags if any(found.tags) else (),
        heads=found.heads if is_parsed else (),
        labels=found.labels if is_parsed else (),
        pos=pos if any(pos) else (),
        starts=tuple(i in firsts for i in range(len(found.words))) if len(firsts) > 1 else (),
        extra=extra or None,
        unknown=tuple(unknown_stretches(doc)),
        **fields,
    )


def doc_of_sentence(vocab: Vocab, sentence: Sentence) -> Doc:
    """A Doc with all that there is of a sentence; of trees, with those that are known wholly."""
    n = len(sentence.words)
    heads = labels = None
    if sentence.heads and None not in sentence.heads:
        # The head of a root is itself in a Doc.
        heads = [index if head == ROOT else head for index, head in enumerate(sentence.heads)]
        labels = [label or "" for label in sentence.labels] or None
    starts: list[bool | int | None] = [*(sentence.starts or (index == 0 for index in range(n)))]
    doc = Doc(
        vocab,
        words=list(sentence.words),
        spaces=list(sentence.spaces) or [False] * n,
        tags=list(sentence.tags) or None,
        pos=list(sentence.pos) or None,
        heads=heads,  # type: ignore[arg-type]  # none is None
        deps=labels,
        # spaCy finds them in the tree if there is one.
        sent_starts=starts if heads is None else None,
    )
    for task in all_tasks():
        task.write_gold(doc, sentence)
    if sentence.unknown:
        doc.spans[UNKNOWN_WORDS] = [doc[begin:end] for begin, end in sentence.unknown]
    return doc


def write_docs(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write sentences as Docs to a `.spacy` file, in one step."""
    vocab = Vocab()
    save_docs(path, (doc_of_sentence(vocab, sentence) for sentence in sentences))


def save_docs(path: Path, docs: Iterable[Doc], further: Sequence[str] = ()) -> None:
    """Write Docs to a `.spacy` file, in one step. further: as of `bytes_of_docs`."""
    data = bytes_of_docs(docs, further)
    with replace_bytes(path) as stream:
        stream.write(data)


def bytes_of_docs(docs: Iterable[Doc], further: Sequence[str] = ()) -> bytes:
    """Docs as a `.spacy` file has them.

    further: names of attributes of tokens that are kept, besides the usual ones and those of tasks.
    """
    of_tasks = [name for task in all_tasks() for name in task.attributes]
    attributes = dict.fromkeys([*WRITTEN, *of_tasks, *further])
    return DocBin(attrs=list(attributes), store_user_data=True, docs=docs).to_bytes()
