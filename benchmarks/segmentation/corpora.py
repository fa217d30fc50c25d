"""The data of a run: three lists of sentences, from files of any format of the package."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from spacy_structreg.corpora.brackets import tagged_sentences
from spacy_structreg.corpora.conllu import segmented_sentences
from spacy_structreg.corpora.formats import guess_format
from spacy_structreg.corpora.pfr import read_tagged, segmented_paragraphs
from spacy_structreg.corpora.segmented import read_segmented

__all__ = ["Corpus", "default_corpus", "read_corpus", "read_sentences"]

Sentences: TypeAlias = "list[list[str]]"

VARIABLE = "STRUCTREG_DATA"
UD_CHINESE = "ud-chinese-gsd-simplified"


@dataclass(frozen=True)
class Corpus:
    """What systems are trained on, chosen on and scored on. The name holds no path."""

    name: str
    train: Sentences
    dev: Sentences
    test: Sentences
    note: str = ""

    def head(self, train: int, others: int) -> Corpus:
        """The first sentences of each part."""
        return Corpus(
            self.name,
            self.train[:train],
            self.dev[:others],
            self.test[:others],
            f"{self.note}; the first {train}, {others} and {others} sentences only".lstrip("; "),
        )


def read_sentences(path: Path) -> Sentences:
    """The words of each sentence of a file, without white space in or as words.

    Raises ValueError (CorpusError for faults that have a line) and OSError as the readers do.
    """
    form = guess_format(path)
    sentences: Iterable[Iterable[str]]
    if form == "segmented":
        sentences = read_segmented(path)
    elif form == "conllu":
        sentences = segmented_sentences(path)
    elif form == "pfr":
        sentences = segmented_paragraphs(path)
    elif form in ("brackets", "tagged"):
        pairs = tagged_sentences(path) if form == "brackets" else read_tagged(path)
        sentences = ([word for word, _ in sentence] for sentence in pairs)
    else:
        raise ValueError(f"{path}: a whole release; name a file of it")
    squeezed = ([word for word in ("".join(word.split()) for word in s) if word] for s in sentences)
    return [sentence for sentence in squeezed if sentence]


def read_corpus(train: Path, dev: Path | None, test: Path, name: str | None = None) -> Corpus:
    """Read the parts; without a development file, the last tenth of the training sentences is it.

    name: by default that of the folder of the training file. Raises as `read_sentences`, and
    ValueError when the training file is too short to part with a tenth.
    """
    name = name or train.resolve().parent.name or "corpus"
    sentences = read_sentences(train)
    if dev is not None:
        return Corpus(name, sentences, read_sentences(dev), read_sentences(test))
    kept = len(sentences) * 9 // 10
    if kept == 0:
        raise ValueError(f"{train}: too few sentences to take a tenth of; give --dev")
    return Corpus(
        name,
        sentences[:kept],
        sentences[kept:],
        read_sentences(test),
        "development: the last tenth of the training sentences, not trained on",
    )


def default_corpus() -> Corpus:
    """UD Chinese GSD, simplified, from the folder of real corpora. Raises ValueError without it."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        raise ValueError(
            f"no corpus: set {VARIABLE} to a folder that holds {UD_CHINESE}, or give --train and "
            "--test (and --dev)"
        )
    parts = Path(folder, UD_CHINESE)
    return read_corpus(
        parts / "train.conll.xz", parts / "dev.conll", parts / "test.conll", "ud_chinese"
    )
