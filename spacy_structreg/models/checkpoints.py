"""The state of a training in files, so that it can go on after an interruption."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

import msgpack
import numpy as np

from spacy_structreg.about import __version__
from spacy_structreg.corpora.corpus_errors import StrPath
from spacy_structreg.learn import model_file
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.model_file import read_model, write_model
from spacy_structreg.learn.rows import TrainedRows, TrainingRows
from spacy_structreg.learn.setting_fields import check_float, check_int
from spacy_structreg.models.reports import EpochReport, StoredScores
from spacy_structreg.models.stored_model import by_table, nested, numbered, unnested
from spacy_structreg.models.training_rng import TrainingRng

_BEST: Final = "best"
_STATE: Final = "state"
_LEAST_PAUSE: Final = 9.0
"""Pause after writing a state, in multiples of what writing took: a tenth of the time."""


@dataclass
class Run:
    """The training of one model, and how far it has come.

    number: of the model, from 0. learner: its weights. rng: its random numbers. highest: the best
    figure on the development corpus so far, and best: the weights that had it. waited: epochs since
    then. ended: whether there is no epoch left to train. state: what the trainer kept besides
    weights when it was saved (`ModelSpec.training_state`); None before.
    """

    number: int
    learner: Learner
    rng: TrainingRng
    epoch: int = 0
    waited: int = 0
    highest: float = -1.0
    best: list[TrainedRows] | None = None
    ended: bool = False
    state: model_file.Arrays | None = None
    reports: list[EpochReport] = field(default_factory=list)


class Checkpoint:
    """A folder with a state for each of the models that one `fit` trains.

    folder: is made when something is written. identity: what the training is, by name; a state
    of another one is refused.
    """

    def __init__(self, folder: StrPath, identity: dict[str, Any]) -> None:
        # Other processes may work in other folders.
        self._folder = Path(folder).absolute()
        # As it comes back from a file.
        self._identity: dict[str, Any] = msgpack.unpackb(msgpack.packb(identity))
        # By model: when the next state may be written.
        self._due: dict[int, float] = {}

    def make_folder(self) -> None:
        """Make the folder, for other processes, each of which sees whether it `has_folder`."""
        self._folder.mkdir(parents=True, exist_ok=True)

    @property
    def has_folder(self) -> bool:
        """True if the folder is there, as it need not be on other machines."""
        return self._folder.is_dir()

    def save(self, run: Run) -> None:
        """Write the state of a model in one step, unless the last one is too recent.

        Writing takes a tenth of the time of training at most. Which states are written does not
        change what is learned.
        """
        began = time.monotonic()
        if not run.ended and began < self._due.get(run.number, began):
            return
        self.make_folder()
        write_model(self._path(run.number), *self._contents(run))
        ended = time.monotonic()
        self._due[run.number] = ended + _LEAST_PAUSE * (ended - began)

    def load(self, number: int, learner: Learner, seed: int) -> Run | None:
        """The state of a model; None if there is none.

        learner: a new one, for which the examples were compiled. seed: of the model. Raises
        ValueError, naming the file, if that is damaged or of another training.
        """
        path = self._path(number)
        if not path.exists():
            return None
        header, arrays = read_model(path)
        try:
            return self._run(number, learner, seed, header, arrays)
        except (ValueError, OverflowError) as error:
            raise ValueError(f"{path}: the training cannot be resumed: {error}") from error

    def _path(self, number: int) -> Path:
        return self._folder / f"{number + 1}.srt"

    def _contents(self, run: Run) -> tuple[dict[str, Any], model_file.Arrays]:
        learner = run.learner
        arrays = numbered([table.state() for table in learner.tables_as_weights()])
        arrays |= nested(_STATE, run.state or {})
        if run.best is not None:
            arrays |= nested(_BEST, numbered([table.arrays for table in run.best]))
        header = {
            "package": "spacy_structreg",
            "version": __version__,
            "state": "checkpoint",
            "identity": self._identity,
            "clock": learner.clock,
            "objective": learner.objective,
            "totals": learner.totals(),
            "generators": run.rng.state(),
            "epoch": run.epoch,
            "waited": run.waited,
            "highest": run.highest,
            "best": run.best is not None,
            "ended": run.ended,
            "reports": [
                {**_flat(report), "dev": None if report.dev is None else report.dev.as_dict()}
                for report in run.reports
            ],
        }
        return header, arrays

    def _run(
        self,
        number_of_model: int,
        learner: Learner,
        seed: int,
        header: dict[str, Any],
        arrays: model_file.Arrays,
    ) -> Run:
        if model_file.field(header, "state", str) != "checkpoint":
            raise ValueError("it is no state of a training that was interrupted")
        self._check_identity(model_file.field(header, "identity", dict))
        widths = [table.n_columns for table in learner.tables]
        debts = learner.settings.penalties["cumulative_l1"] > 0
        best = unnested(_BEST, arrays)
        running = {name: array for name, array in arrays.items() if name[: len(_BEST)] != _BEST}
        tables = by_table(running, len(widths), "training", debts=debts)
        resumed = learner.resumed(
            [
                TrainingRows.from_state(width, table, learner.settings.penalties)
                for width, table in zip(widths, tables, strict=True)
            ],
            model_file.field(header, "clock", int),
        )
        objective = model_file.field(header, "objective", float)
        resumed.objective = objective
        resumed.restore_totals(model_file.field(header, "totals", dict))
        weights = None
        if model_file.field(header, "best", bool) != bool(best):
            raise ValueError("what it says of its best weights is not so")
        if best:
            stored = by_table(best, len(widths), "trained", debts=debts)
            # Copies, as the file is about to be replaced.
            weights = [
                TrainedRows(width, {name: np.array(array) for name, array in table.items()})
                for width, table in zip(widths, stored, strict=True)
            ]
        return Run(
            number_of_model,
            resumed,
            TrainingRng.from_state(seed, model_file.field(header, "generators", list)),
            epoch=check_int("epoch", model_file.field(header, "epoch", int), 1),
            waited=check_int("waited", model_file.field(header, "waited", int), 0),
            highest=check_float("highest", model_file.field(header, "highest", float), -1.0),
            best=weights,
            ended=model_file.field(header, "ended", bool),
            state=unnested(_STATE, arrays),
            reports=[_report(each) for each in model_file.field(header, "reports", list)],
        )

    def _check_identity(self, found: dict[str, Any]) -> None:
        """Raise ValueError, naming the difference, for the identity of another training."""
        for name, expected in self._identity.items():
            other = found.get(name)
            if other == expected:
                continue
            changed = [name]
            if isinstance(expected, dict) and isinstance(other, dict):
                changed = [key for key in expected if other.get(key) != expected[key]] or changed
            raise ValueError(
                f"it is of another training, which differs in {' and '.join(changed)}; train as "
                "before, or begin anew"
            )


def _flat(report: EpochReport) -> dict[str, Any]:
    return {each.name: getattr(report, each.name) for each in fields(report)}


def _report(stored: Any) -> EpochReport:
    """The report of an epoch, from a file. Raises ValueError if it is none."""
    names = {each.name for each in fields(EpochReport)}
    if not isinstance(stored, dict) or set(stored) != names:
        raise ValueError("a report of an epoch is unusable")
    for name, kinds in _REPORTED.items():
        model_file.field(stored, name, kinds)
    dev = stored["dev"]
    return EpochReport(**{**stored, "dev": None if dev is None else StoredScores(dev)})


_REPORTED: Final = {
    **dict.fromkeys(("model", "epoch", "wrong_examples", "wrong_labels"), (int,)),
    "seconds": (float,),
    "dev": (dict, type(None)),
    "primary": (float, type(None)),
}
