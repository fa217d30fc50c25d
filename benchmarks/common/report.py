"""From measurements to figures, Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from benchmarks.common.machine import log_line
from benchmarks.common.systems import OURS, Setting
from benchmarks.common.task import Task
from spacy_structreg.corpora.files import replace_text

__all__ = [
    "Candidate",
    "Report",
    "Result",
    "cell",
    "choose",
    "facts_line",
    "markdown_table",
    "paired_ratios",
    "percent",
    "publish",
    "shown",
    "spread",
]

INSTALL = "pip install spacy_structreg[bench]"
NOTHING = "–"
MEGA = 1e6


class Publishable(Protocol):
    """A report that `publish` can print and write."""

    @property
    def name(self) -> str: ...

    def as_markdown(self) -> str: ...

    def as_dict(self) -> dict[str, Any]: ...


@dataclass
class Candidate:
    """One setting that a system was trained with.

    dev_score: the primary figure of the task on the development corpus. seconds, wasted, kept,
    curve: as of `Training`. peak_memory: bytes of the process that did nothing else, or None.
    ours_seconds: a training of ours right after it.
    """

    setting: Setting
    dev_score: float
    seconds: float
    wasted: float = 0.0
    kept: str = ""
    curve: Sequence[tuple[float, float]] = ()
    peak_memory: int | None = None
    model_bytes: int = 0
    ours_seconds: float | None = None


@dataclass
class Result:
    """All that is known of a system.

    version: None if it is not installed. error: why it failed, if it did, in a line.
    candidates, chosen: the trainings, and the index of the one whose model was used.
    scores: figures on the test corpus, fractions of 1. batch, one: units a CPU second in each
    round, by one call for all sentences (None: it has no such call), and by a call a sentence.
    differing: sentences of which the two made different things. view: of the corpus.
    """

    name: str
    title: str
    version: str | None
    trains: bool = True
    error: str | None = None
    candidates: list[Candidate] = field(default_factory=list)
    chosen: int | None = None
    scores: Mapping[str, float | None] | None = None
    model_bytes: int | None = None
    peak_memory: int | None = None
    batch: list[float] | None = None
    one: list[float] = field(default_factory=list)
    differing: int | None = None
    view: str = ""

    @property
    def training(self) -> Candidate | None:
        """The chosen training."""
        return None if self.chosen is None else self.candidates[self.chosen]


@dataclass
class Report:
    """A run: of what, where and on what, and the results in their order.

    units_a_sentence: the mean of the test corpus.
    """

    task: Task[Any, Any, Any]
    machine: Mapping[str, Any]
    corpus: Mapping[str, Any]
    method: Mapping[str, Any]
    results: list[Result]
    units_a_sentence: float | None = None

    @property
    def name(self) -> str:
        """Of its files."""
        return f"{self.task.name}-{self.corpus['name']}"

    def ours(self, result: Result) -> Result | None:
        """What a result is compared with, if we took part: our own on the same view, or our first
        for a system that knows no views.
        """
        ours = (each for each in self.results if each.name == OURS)
        return next((each for each in ours if result.view in ("", each.view)), None)

    def ratios(self, result: Result) -> dict[str, float | None]:
        """How much faster we are: training, all sentences in a call, a sentence a call.

        A system without a call for all sentences is compared by its calls a sentence in both.
        A training is compared with that of ours right after it, if there was one, or the one of
        the chosen model. None where there is nothing to compare.
        """
        ours = self.ours(result)
        ratios: dict[str, float | None] = dict.fromkeys(("training", "batch", "one"))
        if ours is None or result is ours:
            return ratios
        training = result.training
        if training is not None:
            seconds = training.ours_seconds
            if not self.task.retrains and ours.training is not None:
                seconds = ours.training.seconds
            ratios["training"] = training.seconds / seconds if seconds else None
        if ours.one and result.one:
            ratios["one"] = median(paired_ratios(ours.one, result.one))
            ratios["batch"] = median(
                paired_ratios(ours.batch or ours.one, result.batch or result.one)
            )
        return ratios

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON; seconds, bytes, fractions of 1 and units a CPU second."""
        results = []
        for result in self.results:
            entry = asdict(result)
            entry["ours_times_faster"] = self.ratios(result)
            results.append(entry)
        return {
            "benchmark": self.task.name,
            "units": self.task.units,
            "units a sentence": self.units_a_sentence,
            "machine": dict(self.machine),
            "corpus": dict(self.corpus),
            "method": dict(self.method),
            "results": results,
        }

    def as_markdown(self) -> str:
        """Three tables: figures, speed, and what was tried; and what they rest on."""
        task = self.task
        compared = ", trained right after it," if task.retrains else ""
        median_of = "; ours is the median of all its trainings" if task.retrains else ""
        parts = [
            f"# {task.name.capitalize()}: {self.corpus['name']}",
            facts_line("Corpus", self.corpus),
            facts_line("Machine", self.machine),
            facts_line("Method", self.method),
            "## Accuracy and cost\n\nTest figures in per cent. Training: CPU seconds of the chosen "
            f"setting, from text files to the model file; × is how many times ours{compared} was "
            f"faster{median_of}. MB are 10⁶ bytes.",
            markdown_table(
                (
                    *("system", *task.figures, "training CPU s", "×"),
                    *("model MB", "peak MB, training", "peak MB, predicting"),
                ),
                [self._cost_row(result) for result in self.results],
            ),
            f"## Speed\n\nThousand {task.units} a CPU second to lists of {task.outputs}: median "
            "over the rounds (lowest to highest). × is how many times faster ours was in the same "
            "round, the median of these. A system without a call for many sentences is compared "
            "by its calls a sentence in both columns.",
            markdown_table(
                (
                    *("system", "all in a call", "×", "sentences/s"),
                    *("a sentence a call", "×", "sentences/s"),
                ),
                [self._speed_row(result) for result in self.results],
            ),
        ]
        tried = [row for result in self.results for row in _candidate_rows(result, task.retrains)]
        if tried:
            parts += [
                f"## Settings tried\n\nThe bold one has the best {task.primary_title} on the "
                "development corpus and is the one above. Beyond it: CPU seconds spent after the "
                "model that was kept.",
                markdown_table(
                    (
                        *("system", "setting", f"dev {task.primary_title}"),
                        *("CPU s", "beyond it", "kept"),
                    ),
                    tried,
                ),
            ]
            parts.append(
                "CPU seconds of all trainings: "
                + ", ".join(
                    f"{_viewed(result.name, result)} "
                    f"{sum(c.seconds + c.wasted for c in result.candidates):.1f}"
                    for result in self.results
                    if result.candidates
                )
                + "."
            )
        parts += task.sections(self.results)
        notes = [note for result in self.results if (note := self._note(result))]
        if notes:
            parts.append("## Notes\n\n" + "\n".join(f"- {note}" for note in notes))
        return "\n\n".join(parts) + "\n"

    def _cost_row(self, result: Result) -> list[str]:
        if missing := _missing(result):
            return [_viewed(result.title, result), missing, *[""] * (len(self.task.figures) + 4)]
        scores = result.scores or {}
        training = result.training
        seconds = training.seconds if training else None
        if result.name == OURS and result.candidates and self.task.retrains:
            seconds = median(candidate.seconds for candidate in result.candidates)
        return [
            _titled(result),
            *(percent(scores.get(key)) for key in self.task.figures.values()),
            shown(seconds, 2),
            shown(self.ratios(result)["training"], 1),
            shown(result.model_bytes, 1, MEGA),
            shown(training.peak_memory if training else None, 0, MEGA),
            shown(result.peak_memory, 0, MEGA),
        ]

    def _speed_row(self, result: Result) -> list[str]:
        if missing := _missing(result):
            return [_viewed(result.title, result), missing, *[""] * 5]
        ratios = self.ratios(result)
        return [
            _titled(result),
            spread(result.batch),
            shown(ratios["batch"], 1),
            self._sentence_speed(result.batch),
            spread(result.one),
            shown(ratios["one"], 1),
            self._sentence_speed(result.one),
        ]

    def _sentence_speed(self, speeds: Sequence[float] | None) -> str:
        if not speeds or not self.units_a_sentence:
            return NOTHING
        return shown(median(speeds) / self.units_a_sentence, 0)

    def _note(self, result: Result) -> str:
        if not result.differing:
            return ""
        return (
            f"{_viewed(result.title, result)}: {result.differing} sentences have other "
            f"{self.task.outputs} when all are given in a call; figures are those of a sentence a "
            "call."
        )


def choose(candidates: Sequence[Candidate]) -> int:
    """The index of the highest figure on the development corpus; the first of equal ones."""
    return max(range(len(candidates)), key=lambda index: candidates[index].dev_score)


def paired_ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Our speed by theirs, round by round: both of a round were measured one after the other.

    Raises ValueError when the numbers of rounds differ.
    """
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} rounds of ours, {len(theirs)} of theirs: not the same run")
    return [our / their for our, their in zip(ours, theirs, strict=True)]


def publish(report: Publishable, folder: Path | None) -> None:
    """Print a report, and write it as Markdown and JSON to a folder, if one is named.

    It is made if need be. Files have the name of the report, in which what is not plain becomes
    underscores. Raises OSError if they cannot be written.
    """
    print(report.as_markdown())
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    name = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in report.name)
    data = json.dumps(report.as_dict(), ensure_ascii=False, indent=1) + "\n"
    for suffix, content in (("md", report.as_markdown()), ("json", data)):
        path = folder / f"{name}.{suffix}"
        with replace_text(path) as stream:
            stream.write(content)
        log_line(f"wrote {path}")


def _missing(result: Result) -> str:
    """Why there are no figures of a system; empty if there are."""
    if result.version is None:
        return f"not installed: {INSTALL}"
    return f"failed: {cell(result.error)}" if result.error else ""


def _viewed(name: str, result: Result) -> str:
    return f"{name}, {result.view}" if result.view else name


def _titled(result: Result) -> str:
    return _viewed(f"{result.title} {result.version}", result)


def _candidate_rows(result: Result, retrains: bool) -> list[list[str]]:
    # Where ours is trained by its defaults alone, it is so many times over.
    again_and_again = result.name == OURS and retrains
    candidates = result.candidates[:1] if again_and_again else result.candidates
    rows = []
    for index, candidate in enumerate(candidates):
        mark = "**" if index == result.chosen and len(candidates) > 1 else ""
        setting = ", ".join(f"{name} {value}" for name, value in candidate.setting.items())
        kept = candidate.kept
        if again_and_again and len(result.candidates) > 1:
            seconds = [again.seconds for again in result.candidates]
            kept += f"; trained {len(seconds)} times, {min(seconds):.2f} to {max(seconds):.2f} s"
        rows.append(
            [
                _viewed(result.title, result),
                f"{mark}{setting or 'defaults'}{mark}",
                percent(candidate.dev_score),
                shown(candidate.seconds, 2),
                shown(candidate.wasted or None, 2),
                kept,
            ]
        )
    return rows


def facts_line(title: str, facts: Mapping[str, Any]) -> str:
    """Facts in a line, under a title; those without a value are left out."""
    return f"**{title}.** " + "; ".join(
        f"{key}: {value}" for key, value in facts.items() if value not in ("", None)
    )


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that hold no bars."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cell(text: str) -> str:
    """A text that can stand in a table."""
    return text.replace("|", "/").strip()


def percent(value: float | None) -> str:
    """A fraction of 1 in per cent."""
    return shown(value, 2, 0.01)


def shown(value: float | None, digits: int, unit: float = 1.0) -> str:
    """A number in a unit, or a dash for none."""
    return NOTHING if value is None else f"{value / unit:,.{digits}f}"


def spread(speeds: Sequence[float] | None, unit: float = 1000.0) -> str:
    """The median of speeds in a unit, with the lowest and the highest."""
    if not speeds:
        return NOTHING
    low, middle, high = (speed / unit for speed in (min(speeds), median(speeds), max(speeds)))
    digits = 1 if middle < 100 else 0
    return f"{middle:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"
