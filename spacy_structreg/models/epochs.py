"""Training from nothing: epochs, the choice of the best one, several models side by side."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.metrics.figures import Scores
from spacy_structreg.models.checkpoints import Checkpoint, Run
from spacy_structreg.models.model_spec import ModelSpec
from spacy_structreg.models.protocols import Compiled
from spacy_structreg.models.reports import EpochReport, Progress
from spacy_structreg.models.training_rng import TrainingRng


@dataclass(frozen=True)
class Epochs:
    """A plan of training: for how many epochs, of how many models, and which epoch is kept.

    epochs, patience, n_models, seed: see `models.estimator.Estimator`.
    evaluate: scores averaged weights on the development corpus; None if there is none.
    primary: the name of the figure by which the best epoch is chosen.
    """

    epochs: int
    patience: int | None
    n_models: int
    seed: int
    evaluate: Callable[[list[TrainedRows]], Scores] | None
    primary: str

    def train(
        self,
        spec: ModelSpec[Any, Any],
        learner: Learner,
        examples: Sequence[Compiled],
        *,
        n_threads: int,
        progress: bool,
        on_epoch: Callable[[EpochReport], None] | None,
        on_better: Callable[[list[TrainedRows]], None] | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> tuple[list[list[TrainedRows]], list[EpochReport]]:
        """Train all models; returns the weights of the best epoch of each, and all reports.

        learner: untrained; if there are several models, each trains a copy.
        examples: compiled for the learner. n_threads: how many models are trained at a time.
        progress: show a bar on standard error, or, if that is no terminal, a line for each epoch.
        on_epoch, on_better: called after each epoch, and, with its weights, after one that is
            better than those of all models before, by the thread that trained; an exception ends
            training.
        checkpoint: keeps the state of each model. From one that there is already, training goes on.
        Raises ValueError as `Checkpoint.load`.
        """
        runs = [self._begin(learner, number, checkpoint) for number in range(self.n_models)]
        save = None if checkpoint is None else checkpoint.save
        history = [report for run in runs for report in run.reports]
        highest = max(run.highest for run in runs)
        reporting = threading.Lock()
        stop = threading.Event()

        with (
            Progress(
                visible=progress,
                epochs=self.epochs,
                n_models=self.n_models,
                primary=self.primary,
                done=len(history),
            ) as shown,
            ThreadPoolExecutor(max(1, n_threads)) as pool,
        ):

            def end_epoch(run: Run) -> bool:
                """Report the last epoch of a model; returns whether to go on."""
                nonlocal highest
                with reporting:
                    history.append(run.reports[-1])
                    shown.show(run.reports[-1])
                    if run.highest > highest:
                        highest = run.highest
                        if on_better is not None and run.best is not None:
                            on_better(run.best)
                    if on_epoch is not None:
                        on_epoch(run.reports[-1])
                return not stop.is_set()

            training = [
                pool.submit(self._train_one, spec, run, examples, end_epoch, save) for run in runs
            ]
            try:
                trained = [each.result() for each in training]
            except BaseException:
                # Threads cannot be interrupted: each asks after its epoch whether to go on.
                stop.set()
                for each in training:
                    each.cancel()
                raise
        return trained, sorted(history, key=lambda done: (done.model, done.epoch))

    def train_model(
        self,
        number: int,
        spec: ModelSpec[Any, Any],
        learner: Learner,
        examples: Sequence[Compiled],
        checkpoint: Checkpoint | None,
    ) -> tuple[list[TrainedRows], list[EpochReport]]:
        """Train the model of a number from 0; returns the weights of its best epoch, and reports.

        As `train` does it among the others. Raises ValueError as `Checkpoint.load`.
        """
        run = self._begin(learner, number, checkpoint)
        save = None if checkpoint is None else checkpoint.save
        return self._train_one(spec, run, examples, lambda _: True, save), run.reports

    def gather(
        self,
        models: Iterable[tuple[list[TrainedRows], list[EpochReport]]],
        *,
        progress: bool,
        on_epoch: Callable[[EpochReport], None] | None,
        on_better: Callable[[list[TrainedRows]], None] | None,
    ) -> tuple[list[list[TrainedRows]], list[EpochReport]]:
        """The result of `train`, of models that other processes have trained, as they come.

        progress, on_epoch, on_better: as of `train`, but told of all epochs of a model at its end.
        """
        trained: list[list[TrainedRows]] = []
        history: list[EpochReport] = []
        highest = -1.0
        with Progress(
            visible=progress, epochs=self.epochs, n_models=self.n_models, primary=self.primary
        ) as shown:
            for weights, reports in models:
                trained.append(weights)
                history += reports
                best = max(
                    (each.primary for each in reports if each.primary is not None), default=-1
                )
                if best > highest:
                    highest = best
                    if on_better is not None:
                        on_better(weights)
                for report in reports:
                    shown.show(report)
                    if on_epoch is not None:
                        on_epoch(report)
        return trained, history

    def _begin(self, learner: Learner, number: int, checkpoint: Checkpoint | None) -> Run:
        """The training of model `number`, counted from 0, as far as it has come."""
        seed = self.seed + number
        found = None if checkpoint is None else checkpoint.load(number, learner, seed)
        if found is not None:
            return found
        return Run(number, learner if self.n_models == 1 else learner.copy(), TrainingRng(seed))

    def _train_one(
        self,
        spec: ModelSpec[Any, Any],
        run: Run,
        examples: Sequence[Compiled],
        report: Callable[[Run], bool],
        save: Callable[[Run], None] | None,
    ) -> list[TrainedRows]:
        """Train a model for the epochs that are left; returns the weights of its best epoch.

        report: is told the end of an epoch, and says whether to go on. save: keeps the state after
        an epoch; of L-BFGS, whose memory is SciPy's own, only after the last one.
        """
        from spacy_structreg.training.lbfgs import minimize

        learner = run.learner
        trainer: Any = (
            spec.new_trainer(learner)
            if run.state is None
            else spec.resumed_trainer(learner, run.state)
        )
        by_minimizer = learner.settings.needs_whole_corpus
        began = time.perf_counter()
        interrupted = False

        def weights() -> list[TrainedRows]:
            # What is left out of one model should count in the mean of several.
            return learner.average(pruned=self.n_models == 1)

        def end_epoch(wrong: tuple[int, int], *, converged: bool) -> bool:
            """Look at what an epoch has made of the weights; returns whether to go on."""
            nonlocal began, interrupted
            run.epoch += 1
            if run.epoch == 1:
                # Not before: a trainer on the agenda makes rows as it learns.
                learner.note(trainer.count(examples))
            scores = primary = None
            # Where weights are kept with a scale, what is rounded must not depend on who looks.
            learner.tables_as_weights()
            if self.evaluate is not None:
                tables = weights()
                scores = self.evaluate(tables)
                primary = scores.as_dict()[self.primary] or 0.0
                run.waited += 1
                if primary > run.highest:
                    run.best, run.highest, run.waited = tables, primary, 0
            seconds = time.perf_counter() - began
            began = time.perf_counter()
            run.reports.append(
                EpochReport(run.number + 1, run.epoch, *wrong, seconds, scores, primary)
            )
            run.ended = (
                converged
                or run.epoch >= self.epochs
                or (self.patience is not None and run.waited >= self.patience)
            )
            if save is not None and not by_minimizer:
                run.state = spec.training_state(trainer)
                save(run)
            interrupted = not report(run)
            return not interrupted and not run.ended

        go_on = not run.ended
        if by_minimizer and go_on:
            minimize(trainer, examples, self.epochs, lambda: end_epoch((0, 0), converged=False))
            if run.epoch == 0:
                # There was nothing to improve, as with a single label.
                end_epoch((0, 0), converged=True)
            # What another thread has stopped is to begin anew.
            run.ended = run.ended or not interrupted
            if save is not None and run.ended:
                save(run)
            go_on = False
        while go_on:
            wrong = run.rng.epoch(spec, trainer, examples)
            go_on = end_epoch(wrong, converged=learner.converged)
        return run.best or weights()
