"""Training from nothing: epochs, the choice of the best one, several models side by side."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tqdm import tqdm

from spacy_structreg.estimators.draws import Draws
from spacy_structreg.estimators.protocols import Compiled, Scores
from spacy_structreg.estimators.structure import Structure
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.log_linear import LogLinearLearner
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.training.lbfgs import minimise
from spacy_structreg.training.log_linear import LogLinearTrainer

ScoresT = TypeVar("ScoresT", bound=Scores)


@dataclass(frozen=True)
class EpochReport(Generic[ScoresT]):
    """What one epoch of training did.

    model: the number of the model, from 1, if several are trained. epoch: its number, from 1.
    wrong_examples, wrong_labels: how many sentences or mini-samples, and how many labels, were
    to be corrected when they were visited; passive-aggressive rules also count what is right by
    too little, gradient descent what was not the most probable, and L-BFGS nothing. seconds: wall
    time, evaluation included. dev: the scores of the averaged weights on the development corpus, if
    there is one.
    primary: the figure among them by which the best epoch is chosen, 0 where it is undefined.
    """

    model: int
    epoch: int
    wrong_examples: int
    wrong_labels: int
    seconds: float
    dev: ScoresT | None
    primary: float | None = None


@dataclass(frozen=True)
class Epochs(Generic[ScoresT]):
    """A plan of training: for how many epochs, of how many models, and which epoch is kept.

    epochs, patience, n_models, seed: see `base.Estimator`.
    evaluate: scores averaged weights on the development corpus; None if there is none.
    primary: the name of the figure by which the best epoch is chosen.
    """

    epochs: int
    patience: int | None
    n_models: int
    seed: int
    evaluate: Callable[[list[TrainedRows]], ScoresT] | None
    primary: str

    def train(
        self,
        structure: Structure[Any, Any],
        learner: Learner,
        examples: Sequence[Compiled],
        *,
        n_threads: int,
        progress: bool,
        on_epoch: Callable[[EpochReport[ScoresT]], None] | None,
    ) -> tuple[list[list[TrainedRows]], list[EpochReport[ScoresT]]]:
        """Train all models; returns the weights of the best epoch of each, and all reports.

        learner: untrained; if there are several models, each trains a copy.
        examples: compiled for the learner. n_threads: how many models are trained at a time.
        progress: show a bar on standard error, if that is a terminal.
        on_epoch: called after each epoch, by the thread that trained; an exception ends training.
        """
        history: list[EpochReport[ScoresT]] = []
        reporting = threading.Lock()
        stop = threading.Event()
        total = self.epochs * self.n_models
        hidden = None if progress else True

        with (
            tqdm(total=total, desc="train", unit="epoch", disable=hidden) as bar,
            ThreadPoolExecutor(max(1, n_threads)) as pool,
        ):

            def report(done: EpochReport[ScoresT]) -> bool:
                with reporting:
                    history.append(done)
                    if done.primary is not None:
                        bar.set_postfix({f"dev_{self.primary}": f"{done.primary:.4f}"})
                    bar.update()
                    if on_epoch is not None:
                        on_epoch(done)
                return not stop.is_set()

            runs = [
                pool.submit(self._train_one, structure, learner, examples, number, report)
                for number in range(self.n_models)
            ]
            try:
                trained = [run.result() for run in runs]
            except BaseException:
                # Threads cannot be interrupted: each asks after its epoch whether to go on.
                stop.set()
                for run in runs:
                    run.cancel()
                raise
        return trained, sorted(history, key=lambda done: (done.model, done.epoch))

    def _train_one(
        self,
        structure: Structure[Any, Any],
        learner: Learner,
        examples: Sequence[Compiled],
        number: int,
        report: Callable[[EpochReport[ScoresT]], bool],
    ) -> list[TrainedRows]:
        """Train model `number`, counted from 0; returns the weights of its best epoch.

        report: takes the report of an epoch, and says whether to go on.
        """
        learner = learner if self.n_models == 1 else learner.copy()
        trainer = structure.new_trainer(learner)
        draws = Draws(self.seed + number)
        best: list[TrainedRows] | None = None
        highest = -1.0
        waited = epoch = 0
        began = time.perf_counter()

        def weights() -> list[TrainedRows]:
            # What is left out of one model should count in the mean of several.
            return learner.average(pruned=self.n_models == 1)

        def end_epoch(wrong: tuple[int, int]) -> bool:
            nonlocal best, highest, waited, epoch, began
            epoch += 1
            scores = primary = None
            if self.evaluate is not None:
                tables = weights()
                scores = self.evaluate(tables)
                primary = scores.as_dict()[self.primary] or 0.0
                waited += 1
                if primary > highest:
                    best, highest, waited = tables, primary, 0
            seconds = time.perf_counter() - began
            began = time.perf_counter()
            go_on = report(EpochReport(number + 1, epoch, *wrong, seconds, scores, primary))
            return go_on and (self.patience is None or waited < self.patience)

        if isinstance(trainer, LogLinearTrainer) and trainer.learner.settings.optimizer == "lbfgs":
            minimise(trainer, examples, self.epochs, lambda: end_epoch((0, 0)))
            if epoch == 0:
                # There was nothing to improve, as with a single label.
                end_epoch((0, 0))
            return best or weights()
        for _ in range(self.epochs):
            go_on = end_epoch(draws.epoch(structure, trainer, examples))
            converged = isinstance(learner, LogLinearLearner) and learner.converged
            if not go_on or converged:
                break
        return best or weights()
