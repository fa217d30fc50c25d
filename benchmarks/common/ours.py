"""Estimators of this package as a system of a benchmark."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.common.systems import (
    OURS,
    Effort,
    InputT,
    OutputT,
    Predictor,
    Setting,
    System,
    Training,
    cpu_seconds,
)

__all__ = ["OurEstimator"]


class OurEstimator(System[InputT, OutputT]):
    """An estimator, of which the best epoch on the development corpus is kept.

    arguments: of the estimator. epochs: how many it trains; None for its default. figure: the one
    that chooses the epoch.
    """

    name = OURS
    title = "spacy_structreg"
    module = "spacy_structreg"
    distribution = "spacy_structreg"
    arguments: ClassVar[dict[str, Any]] = {}
    epochs: ClassVar[dict[Effort, int] | None] = None
    figure: ClassVar[str]

    @abstractmethod
    def estimator(self) -> Any:
        """The class of the estimator; imported here, as other systems need none of it."""

    @abstractmethod
    def read(self, corpus: Path) -> Iterable[Any]:
        """Gold sentences of a file as the task writes it."""

    def one(self, predict: Callable[..., OutputT], sentence: InputT) -> OutputT:
        """The output of one sentence by the estimator's `predict`."""
        return predict(sentence)

    def settings(self, effort: Effort) -> list[Setting]:
        return [{} if self.epochs is None else {"epochs": self.epochs[effort]}]

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        kind = self.estimator()
        began = cpu_seconds()
        estimator = kind(**setting, **self.arguments)
        estimator.fit(self.read(train), self.read(dev))
        estimator.save(model)
        n_epochs = estimator.epochs * estimator.n_models
        return Training(
            cpu_seconds() - began,
            kept=f"best epoch, by dev {self.figure}; time of all {n_epochs}",
        )

    def load(self, model: Path, scratch: Path) -> Predictor[InputT, OutputT]:
        estimator = self.estimator().load(model)
        return Predictor(partial(self.one, estimator.predict), estimator.predict_batch)
