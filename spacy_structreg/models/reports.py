"""Reports of epochs, and the display of them while a training runs."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spacy_structreg.metrics.figures import Scores
from spacy_structreg.models.progress import progress_bar, shows_bars

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class EpochReport:
    """Report of one epoch of training.

    model: the number of the model, from 1, if several are trained. epoch: its number, from 1.
    wrong_examples, wrong_labels: how many sentences or mini-samples, and how many labels, were
    to be corrected when they were visited; passive-aggressive rules also count what is right by
    too little, gradient descent what was not the most probable, and L-BFGS nothing. seconds: wall
    time, evaluation included. dev: the scores of the averaged weights on the development corpus, if
    there is one; of an epoch before an interruption, its figures alone (`StoredScores`).
    primary: the figure among them by which the best epoch is chosen, 0 where it is undefined.
    """

    model: int
    epoch: int
    wrong_examples: int
    wrong_labels: int
    seconds: float
    dev: Scores | StoredScores | None
    primary: float | None = None


@dataclass(frozen=True)
class StoredScores:
    """The figures of an evaluation that were read from a file. values: by their names."""

    values: dict[str, float | None]

    def as_dict(self) -> dict[str, float | None]:
        """The figures as fractions of 1, by the names that all reports use."""
        return dict(self.values)


class Progress:
    """Shows the epochs of a training on standard error, as a context manager.

    On a terminal or in a notebook that is a bar, and elsewhere, as in the log of a job, a line for
    each epoch.

    visible: show anything. epochs: how many there are at most, of each of n_models models.
    done: how many were done before an interruption. primary: the name of the figure by which
    epochs are chosen.
    """

    def __init__(
        self, *, visible: bool, epochs: int, n_models: int, primary: str, done: int = 0
    ) -> None:
        self._epochs = epochs
        self._n_models = n_models
        self._primary = primary
        has_bar = shows_bars()
        self._lines = visible and not has_bar
        self._bar = progress_bar(
            total=epochs * n_models,
            initial=done,
            desc="train",
            unit="epoch",
            disable=not (visible and has_bar),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()

    def show(self, report: EpochReport) -> None:
        """Show that an epoch has ended."""
        if self._lines:
            print(self._line(report), file=sys.stderr, flush=True)
        if report.primary is not None:
            self._bar.set_postfix({f"dev_{self._primary}": f"{100 * report.primary:.2f}"})
        self._bar.update()

    def _line(self, report: EpochReport) -> str:
        parts = [f"epoch {report.epoch} of {self._epochs}: {report.wrong_labels:,} corrected"]
        if self._n_models > 1:
            parts[0] = f"model {report.model} of {self._n_models}, {parts[0]}"
        if report.primary is not None:
            parts.append(f"dev_{self._primary} {100 * report.primary:.2f}")
        parts.append(f"{report.seconds:.1f} s")
        return ", ".join(parts)
