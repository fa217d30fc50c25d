"""Segmentation: text of one sentence to its words."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.common.task import Task
from benchmarks.segmentation.systems import SYSTEMS
from benchmarks.segmentation.systems.segmenter import Knowledge
from spacy_structreg.corpora import any_format
from spacy_structreg.corpora.corpus_options import CorpusOptions, Spaces
from spacy_structreg.corpora.formats.segmented import write_segmented
from spacy_structreg.metrics.segmentation import score_segmentation

__all__ = ["SEGMENTATION", "Segmentation", "read_sentences"]


def read_sentences(path: Path) -> list[list[str]]:
    """The words of each sentence of a file, without white space in or as words.

    Raises ValueError (CorpusError for faults that have a line) and OSError as the readers do.
    """
    options = CorpusOptions(spaces=Spaces.none)
    sentences = (sentence.words for sentence in any_format.read_sentences(path, options))
    squeezed = ([word for word in ("".join(word.split()) for word in s) if word] for s in sentences)
    return [sentence for sentence in squeezed if sentence]


class Segmentation(Task[list[str], str, list[str]]):
    """Gold sentences are lists of words; speed counts characters."""

    name = "segmentation"
    what = "word segmenters"
    systems = SYSTEMS
    units = "characters"
    outputs = "words"
    figures: ClassVar = {"P": "seg_p", "R": "seg_r", "F": "seg_f", "R_oov": "oov_r"}
    primary = "seg_f"

    def __init__(self, knowledge: Knowledge | None = None) -> None:
        self.knowledge = knowledge or Knowledge()

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        for name, what in (
            ("guides", "models of other standards, or folders of pipelines,"),
            ("raw-text", "files of raw text"),
        ):
            parser.add_argument(
                f"--{name}", type=Path, nargs="+", default=[], metavar="PATH",
                help=f"{what} that ours-best is to know",
            )  # fmt: skip

        parser.add_argument(
            "--pkuseg-model", type=Path, metavar="FOLDER", help="the model that pkuseg brings"
        )

    def configured(self, options: argparse.Namespace) -> Segmentation:
        return Segmentation(
            Knowledge(tuple(options.guides), tuple(options.raw_text), options.pkuseg_model)
        )

    @property
    def made_with(self) -> Mapping[str, Any]:
        return {"knowledge": self.knowledge}

    def read(self, path: Path) -> list[list[str]]:
        return read_sentences(path)

    def write(self, path: Path, sentences: Sequence[list[str]]) -> None:
        write_segmented(path, sentences)

    def words(self, gold: list[str]) -> list[str]:
        return gold

    def given(self, gold: list[str]) -> str:
        return "".join(gold)

    def size(self, gold: list[str]) -> int:
        return sum(map(len, gold))

    def score(
        self,
        gold: Sequence[list[str]],
        predicted: Sequence[list[str]],
        vocabulary: AbstractSet[str] | None = None,
    ) -> Mapping[str, float | None]:
        return score_segmentation(gold, predicted, vocabulary).as_dict()


SEGMENTATION = Segmentation()
