"""Treebanks in bracket notation, with heads by the rules that go with their tags."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from spacy_structreg.corpora.any_format import read_sentences
from spacy_structreg.corpora.constituents import ConstituencySentence
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.files import replace_text
from spacy_structreg.corpora.formats.brackets import constituency_sentences

__all__ = ["read_treebank", "write_treebank"]

# The tag that the Chinese Treebank has, and the Penn Treebank has not.
CHINESE_TAG = "PU"

BRACKETS = CorpusOptions("brackets")


def read_treebank(path: Path) -> list[ConstituencySentence]:
    """The trees of a file, with heads by the rules of the Chinese or of the Penn Treebank.

    Which of the two, its tags say. Raises as `constituency_sentences`.
    """
    tags = {tag for sentence in read_sentences(path, BRACKETS) for tag in sentence.tags}
    return list(constituency_sentences(path, "ctb" if CHINESE_TAG in tags else "ptb"))


def write_treebank(path: Path, sentences: Iterable[ConstituencySentence]) -> None:
    """Write trees, one a line. Raises ValueError for words that the notation cannot hold."""
    with replace_text(path) as stream:
        stream.writelines(f"( {sentence.tree().to_bracket()})\n" for sentence in sentences)
