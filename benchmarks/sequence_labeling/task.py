"""Sequence labeling: the tokens of one sentence to labels that stand for spans."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from benchmarks.common.corpora import Corpus, data_folder, read_corpus
from benchmarks.common.report import markdown_table
from benchmarks.common.task import Task
from benchmarks.sequence_labeling.choices import LABEL, WORD, Choices, Rows, Tokens
from benchmarks.sequence_labeling.systems import CRFSUITE, SYSTEMS
from spacy_structreg.corpora.formats.columns import SKIPPED, read_columns, write_columns
from spacy_structreg.corpora.labeling import SCHEMES, convert, detect_scheme
from spacy_structreg.metrics.labeling import score_spans

if TYPE_CHECKING:
    from benchmarks.common.report import Result

__all__ = ["LABELING", "Labeling", "seconds_to"]

CHUNKING = "conll2000"

# How far below the score of CRFsuite a model may be to count as one of the same score.
MARGIN = 0.001


class Labeling(Task[Rows, Tokens, list[str]]):
    """Gold sentences are rows of columns with a label in BIO; systems are given the columns."""

    name = "sequence_labeling"
    what = "sequence labelers"
    systems = SYSTEMS
    units = "tokens"
    outputs = "labels"
    figures: ClassVar = {"P": "ents_p", "R": "ents_r", "F": "ents_f", "labels": "label_acc"}
    primary = "ents_f"
    # The strength of L2 is chosen for ours as for the others.
    retrains = False

    def __init__(self, choices: Choices | None = None) -> None:
        self.choices = choices or Choices()

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        default = Choices()
        parser.add_argument(
            "--columns",
            default=",".join(default.columns),
            help=f"the columns of the files, by commas: {WORD}, {LABEL}, names of others that "
            f"templates read, {SKIPPED} for one that is skipped (default: %(default)s)",
        )
        parser.add_argument(
            "--scheme", choices=SCHEMES, help="of the labels (default: as those of a file look)"
        )
        parser.add_argument("--comments", help="how comments between sentences begin")
        parser.add_argument(
            "--drop-last",
            action="store_true",
            help="read words without their last character: that of weibo-ner is a number",
        )
        parser.add_argument(
            "--templates",
            default=default.templates,
            help="a table of features, or templates (default: %(default)s)",
        )
        for name, convertible, values in (
            ("l2", float, default.l2),
            ("c2", float, default.c2),
            ("iterations", int, default.iterations),
            ("perceptron-iterations", int, default.perceptron_iterations),
        ):
            parser.add_argument(
                f"--{name}",
                type=convertible,
                nargs="+",
                default=values,
                metavar="N",
                help=f"{HELP[name]} (default: {' '.join(map(str, values))})",
            )
        for name, convertible in (("rate", float), ("decay", float), ("epochs", int)):
            parser.add_argument(
                f"--{name}", type=convertible, help="of our gradient descent (default: its own)"
            )

    def configured(self, options: argparse.Namespace) -> Labeling:
        return Labeling(
            Choices(
                columns=tuple(options.columns.split(",")),
                scheme=options.scheme,
                comments=options.comments,
                drops_last=options.drop_last,
                templates=options.templates,
                l2=options.l2,
                c2=options.c2,
                iterations=options.iterations,
                perceptron_iterations=options.perceptron_iterations,
                rate=options.rate,
                decay=options.decay,
                epochs=options.epochs,
            )
        )

    @property
    def made_with(self) -> Mapping[str, Any]:
        return {"choices": self.choices}

    def default_corpus(self) -> Corpus[Rows]:
        """The phrases of CoNLL-2000, of whose training sentences a tenth is held out."""
        parts = data_folder(CHUNKING) / CHUNKING
        return read_corpus(self.read, parts / "train.txt.xz", None, parts / "test.txt", CHUNKING)

    def read(self, path: Path) -> list[Rows]:
        choices = self.choices
        sentences = list(read_columns(path, choices.columns, comments=choices.comments))
        # Of the columns that are read, in the order of the file.
        kept = [name for name in choices.columns if name != SKIPPED]
        label = kept.index(LABEL)
        others = [kept.index(name) for name in choices.seen]
        labels = [[row[label] for row in rows] for rows in sentences]
        scheme = choices.scheme or detect_scheme(labels)
        if scheme is None:
            raise ValueError(f"{path}: its labels stand for no spans; they must be BIO or the like")
        read = []
        for rows, given in zip(sentences, labels, strict=True):
            words = [tuple(row[i] for i in others) for row in rows]
            if choices.drops_last:
                words = [(word[:-1], *rest) for word, *rest in words]
                if not all(word for word, *_ in words):
                    raise ValueError(f"{path}: --drop-last leaves nothing of a word")
            spelled = convert(given, scheme, "bio")
            read.append([(*word, one) for word, one in zip(words, spelled, strict=True)])
        return read

    def write(self, path: Path, sentences: Sequence[Rows]) -> None:
        write_columns(path, sentences)

    def words(self, gold: Rows) -> Sequence[str]:
        return [row[0] for row in gold]

    def given(self, gold: Rows) -> Tokens:
        return [row[:-1] for row in gold]

    def score(
        self,
        gold: Sequence[Rows],
        predicted: Sequence[list[str]],
        vocabulary: AbstractSet[str] | None = None,
    ) -> Mapping[str, float | None]:
        return score_spans([[row[-1] for row in rows] for rows in gold], predicted).as_dict()

    def sections(self, results: Sequence[Result]) -> list[str]:
        """How soon each system was as good as CRFsuite in the end, and what the figures mean."""
        about = (
            f"Features of ours and of CRFsuite: {self.choices.templates}, over the columns "
            f"{', '.join(self.choices.seen)}. CRFsuite is given their names: its training time is "
            "without naming them, its speed in a call a sentence with it, and in a call for all "
            "sentences without, all features being kept in its own form from an earlier pass. "
            "spaCy's ner sees words only."
        )
        peer = next((each for each in results if each.name == CRFSUITE), None)
        if peer is None or peer.training is None:
            return [f"## Features\n\n{about}"]
        aim, whole = peer.training.dev_score - MARGIN, peer.training.seconds
        rows = []
        for result in results:
            taken = seconds_to(result, aim)
            rows.append(
                [
                    result.title,
                    "never" if taken is None else f"{taken:,.2f}",
                    "–" if taken is None else f"{whole / taken:,.1f}",
                ]
            )
        return [
            f"## Features\n\n{about}",
            f"## Time to the score of {peer.title}\n\nCPU seconds of training until F on the "
            f"development corpus was at least {100 * aim:.2f}, which is {100 * MARGIN:.1f} below "
            "that of its chosen setting, in whichever of the trainings of a system was the first; "
            f"evaluations included. CRFsuite does not evaluate: its trainings count whole. × is "
            f"how many times sooner than its chosen training ended ({whole:,.2f}).",
            markdown_table(("system", "CPU s", "×"), rows),
        ]


HELP = {
    "l2": "strengths of L2 to try for ours",
    "c2": "strengths of L2 to try for CRFsuite",
    "iterations": "the most iterations of L-BFGS, each tried with each c2",
    "perceptron-iterations": "numbers of iterations to try for CRFsuite's averaged perceptron",
}


def seconds_to(result: Result, aim: float) -> float | None:
    """The fewest CPU seconds after which a training had the figure `aim` on the development corpus.

    None if none had it.
    """
    reached = [
        seconds
        for candidate in result.candidates
        for seconds, figure in candidate.curve or [(candidate.seconds, candidate.dev_score)]
        if figure >= aim
    ]
    return min(reached, default=None)


LABELING = Labeling()
