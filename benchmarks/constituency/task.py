"""Constituency parsing: the tagged words of one sentence to their tree."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from benchmarks.common.corpora import Corpus, data_folder
from benchmarks.common.task import Task
from benchmarks.constituency.systems import SYSTEMS, TaggedWords
from benchmarks.constituency.treebanks import read_treebank, write_treebank
from spacy_structreg.corpora.constituents import ConstituencySentence
from spacy_structreg.corpora.splits import fold_bounds
from spacy_structreg.metrics.constituents import score_brackets

__all__ = ["CONSTITUENCY", "Constituency", "cut"]

PTB_SAMPLE = "ptb-sample/combined.mrg.xz"


class Constituency(Task[ConstituencySentence, TaggedWords, ConstituencySentence]):
    """Gold sentences are trees in brackets; systems are given words and gold tags."""

    name = "constituency"
    what = "constituency parsers"
    systems = SYSTEMS
    units = "words"
    outputs = "trees"
    figures: ClassVar = {
        "P": "brackets_p",
        "R": "brackets_r",
        "F": "brackets_f",
        "complete": "brackets_complete",
    }
    primary = "brackets_f"
    # A training of ours takes minutes.
    retrains = False

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--longest",
            type=int,
            default=10,
            help="words of the longest sentences of the test and the development corpus "
            "that are taken (default: 10, so that all systems can; 0: any)",
        )

    def default_corpus(self) -> Corpus[ConstituencySentence]:
        """The sample of the Penn Treebank: the last tenth is tested on, the one before is dev."""
        sentences = self.read(data_folder(PTB_SAMPLE) / PTB_SAMPLE)
        *_, dev, test = fold_bounds(len(sentences))
        return Corpus(
            "ptb_sample", sentences[: dev[0]], sentences[slice(*dev)], sentences[slice(*test)]
        )

    def views(
        self, corpus: Corpus[ConstituencySentence], options: argparse.Namespace
    ) -> list[Corpus[ConstituencySentence]]:
        return [cut(corpus, options.longest)]

    def read(self, path: Path) -> list[ConstituencySentence]:
        return read_treebank(path)

    def write(self, path: Path, sentences: Sequence[ConstituencySentence]) -> None:
        write_treebank(path, sentences)

    def words(self, gold: ConstituencySentence) -> Sequence[str]:
        return gold.words

    def given(self, gold: ConstituencySentence) -> TaggedWords:
        return gold.words, gold.tags

    def score(
        self,
        gold: Sequence[ConstituencySentence],
        predicted: Sequence[ConstituencySentence],
        vocabulary: AbstractSet[str] | None = None,
    ) -> Mapping[str, float | None]:
        return score_brackets(gold, predicted).as_dict()


def cut(corpus: Corpus[ConstituencySentence], longest: int) -> Corpus[ConstituencySentence]:
    """The corpus with no longer sentences to develop and test on; 0 for all of them.

    Raises ValueError if none is left.
    """
    if longest <= 0:
        return corpus
    dev, test = (
        [sentence for sentence in part if len(sentence.words) <= longest]
        for part in (corpus.dev, corpus.test)
    )
    if not dev or not test:
        raise ValueError(f"no sentence has {longest} words or fewer; raise --longest")
    note = f"{corpus.note}; developed and tested on sentences of up to {longest} words only"
    return replace(corpus, dev=dev, test=test, note=note.lstrip("; "))


CONSTITUENCY = Constituency()
