"""Tagging: the words of one sentence to their tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import ClassVar

from benchmarks.common.task import Task
from benchmarks.tagging.systems import SYSTEMS
from spacy_structreg.corpora import any_format
from spacy_structreg.corpora.corpus_options import CorpusOptions, Spaces
from spacy_structreg.corpora.formats.conllu import (
    NOTHING,
    TreebankSentence,
    Word,
    write_conllu,
)
from spacy_structreg.metrics.tagging import score_tagging

__all__ = ["TAGGING", "Tagged", "Tagging", "read_sentences"]

Tagged = list[tuple[str, str]]
"""A sentence: words and their tags."""


def read_sentences(path: Path) -> list[Tagged]:
    """Words and tags of each sentence of a file; of CoNLL-U, the tags of the language (XPOS).

    Raises ValueError (CorpusError for faults that have a line) and OSError as the readers do.
    """
    options = CorpusOptions(spaces=Spaces.none)
    sentences = (sentence.pairs() for sentence in any_format.read_sentences(path, options))
    squeezed = ([("".join(word.split()), tag) for word, tag in sentence] for sentence in sentences)
    listed = ([(word, tag) for word, tag in sentence if word] for sentence in squeezed)
    return [sentence for sentence in listed if sentence]


class Tagging(Task[Tagged, list[str], list[str]]):
    """Gold sentences are lists of words with tags; systems are given the words."""

    name = "tagging"
    what = "taggers"
    systems = SYSTEMS
    units = "words"
    outputs = "tags"
    figures: ClassVar = {"accuracy": "tag_acc", "of unknown words": "oov_tag_acc"}
    primary = "tag_acc"

    def read(self, path: Path) -> list[Tagged]:
        return read_sentences(path)

    def write(self, path: Path, sentences: Sequence[Tagged]) -> None:
        blank = NOTHING
        write_conllu(
            path,
            (
                TreebankSentence(
                    tuple(
                        Word(word, blank, blank, tag, blank, None, blank, blank, blank)
                        for word, tag in sentence
                    )
                )
                for sentence in sentences
            ),
        )

    def words(self, gold: Tagged) -> list[str]:
        return [word for word, _ in gold]

    def given(self, gold: Tagged) -> list[str]:
        return self.words(gold)

    def score(
        self,
        gold: Sequence[Tagged],
        predicted: Sequence[list[str]],
        vocabulary: AbstractSet[str] | None = None,
    ) -> Mapping[str, float | None]:
        return score_tagging(gold, predicted, vocabulary).as_dict()


TAGGING = Tagging()
