"""What the harness asks of a system."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Generic, Literal, TypeAlias, TypeVar

__all__ = ["OURS", "Effort", "InputT", "OutputT", "Predictor", "Setting", "System", "Training"]

InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")

Setting: TypeAlias = "Mapping[str, int | float]"

Effort: TypeAlias = Literal["full", "capped", "quick"]
"""How long systems may train: until they have converged; less, where that takes more than some
minutes; or just to see that it works."""

OURS = "ours"
"""The name of the system that the others are compared with."""

cpu_seconds = time.process_time
"""User and system time of all threads of this process; a sleeping process costs nothing."""


@dataclass(frozen=True)
class Training:
    """What one training came to.

    seconds: CPU seconds from corpus files to the model file, evaluations on the development corpus
        included where they belong to the training, up to the model that was kept.
    wasted: CPU seconds spent beyond that, to see that a training gets no better.
    kept: what was kept of the training and why, in words; empty if there is nothing to say.
    curve: CPU seconds so far and the figure on the development corpus, as often as it was known.
    """

    seconds: float
    wasted: float = 0.0
    kept: str = ""
    curve: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True)
class Predictor(Generic[InputT, OutputT]):
    """A loaded model: from the input of one sentence to its output; and of many, if it can."""

    one: Callable[[InputT], OutputT]
    batch: Callable[[list[InputT]], list[OutputT]] | None = None
    # What must stay alive as long as the functions.
    owner: object = field(default=None, repr=False)


class System(ABC, Generic[InputT, OutputT]):
    """A way of doing a task; made anew in each process, with `Task.made_with`.

    name: for `--systems` and for files. title: for reports. module, distribution: what must be
    installed. trains: False for a system with a model of its own, and a standard of its own.
    default: whether it takes part unless `--systems` says otherwise. uses_tags: False for a system
    to which all views of a corpus are the same (`benchmarks.common.corpora`).
    """

    name: ClassVar[str]
    title: ClassVar[str]
    module: ClassVar[str]
    distribution: ClassVar[str]
    trains: ClassVar[bool] = True
    default: ClassVar[bool] = True
    uses_tags: ClassVar[bool] = True

    @classmethod
    def version(cls) -> str | None:
        """The installed version; None if it is not installed."""
        try:
            if importlib.util.find_spec(cls.module) is None:
                return None
        except ModuleNotFoundError:  # of the package that the module is in
            return None
        try:
            return importlib.metadata.version(cls.distribution)
        except importlib.metadata.PackageNotFoundError:
            return "unknown"

    @abstractmethod
    def settings(self, effort: Effort) -> list[Setting]:
        """The settings to train with; the best on the development corpus is chosen."""

    @abstractmethod
    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        """Train on files as the task writes them, and write the model: a file, or a folder."""

    @abstractmethod
    def load(self, model: Path, scratch: Path) -> Predictor[InputT, OutputT]:
        """The model that `train` wrote; scratch is a folder for what loading may write."""

    def size(self, model: Path) -> int:
        """Bytes of the model on disk."""
        files = [model] if model.is_file() else list(model.rglob("*"))
        return sum(path.stat().st_size for path in files if path.is_file())
