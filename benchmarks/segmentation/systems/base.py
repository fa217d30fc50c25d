"""What the harness asks of a system."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TypeAlias

__all__ = ["Segmenter", "Setting", "System", "Training", "cpu_seconds"]

Setting: TypeAlias = "Mapping[str, int | float]"

cpu_seconds = time.process_time
"""User and system time of all threads of this process; a sleeping process costs nothing."""


@dataclass(frozen=True)
class Training:
    """What one training came to.

    seconds: CPU seconds from segmented text files to the model file, evaluations on the development
        corpus included where they belong to the training, up to the model that was kept.
    wasted: CPU seconds spent beyond that, to see that a training gets no better.
    kept: what was kept of the training and why, in words; empty if there is nothing to say.
    """

    seconds: float
    wasted: float = 0.0
    kept: str = ""


@dataclass(frozen=True)
class Segmenter:
    """A loaded model: text of one sentence to its words, and the same for many, if it can."""

    one: Callable[[str], list[str]]
    batch: Callable[[list[str]], list[list[str]]] | None = None
    # What must stay alive as long as the functions.
    owner: object = field(default=None, repr=False)


class System(ABC):
    """A way of segmenting; made anew in each process.

    name: for `--systems` and for files. title: for reports. module, distribution: what must be
    installed. trains: False for a system with a model of its own and its own standard of words.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    module: ClassVar[str]
    distribution: ClassVar[str]
    trains: ClassVar[bool] = True

    @classmethod
    def version(cls) -> str | None:
        """The installed version; None if it is not installed."""
        if importlib.util.find_spec(cls.module) is None:
            return None
        try:
            return importlib.metadata.version(cls.distribution)
        except importlib.metadata.PackageNotFoundError:
            return "unknown"

    @abstractmethod
    def settings(self, quick: bool) -> list[Setting]:
        """The settings to train with; the best on the development corpus is chosen."""

    @abstractmethod
    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        """Train on segmented text and write the model: a file, or a folder."""

    @abstractmethod
    def load(self, model: Path, scratch: Path) -> Segmenter:
        """The model that `train` wrote; scratch is a folder for what loading may write."""

    def size(self, model: Path) -> int:
        """Bytes of the model on disk."""
        files = [model] if model.is_file() else list(model.rglob("*"))
        return sum(path.stat().st_size for path in files if path.is_file())
