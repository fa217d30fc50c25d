"""Segmenters that bring models of their own, and cannot be trained here."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.common.systems import Effort, Predictor, Setting, System, Training


class _ReadyMade(System[str, list[str]]):
    trains = False
    models: ClassVar[str]
    """The files of the model in the folder of the package, as a pattern."""

    def settings(self, effort: Effort) -> list[Setting]:
        return []

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        raise NotImplementedError(f"{self.name} is not trained")

    def size(self, model: Path) -> int:
        folder = Path(str(import_module(self.module).__file__)).parent
        return sum(path.stat().st_size for path in folder.glob(self.models) if path.is_file())


class Thulac(_ReadyMade):
    name = "thulac"
    title = "thulac (own model, standard of the People's Daily)"
    module = "thulac"
    distribution = "thulac"
    models = "models/*"

    def load(self, model: Path, scratch: Path) -> Predictor[str, list[str]]:
        # It tells of itself on standard output.
        with redirect_stdout(sys.stderr):
            found: Any = import_module("thulac").thulac(seg_only=True)

        def one(text: str) -> list[str]:
            return [word for word, _ in found.cut(text)]

        return Predictor(one)


class Jiojio(_ReadyMade):
    name = "jiojio"
    title = "jiojio (own model and standard)"
    module = "jiojio"
    distribution = "jiojio"
    models = "models/default_cws_model/**/*"

    def load(self, model: Path, scratch: Path) -> Predictor[str, list[str]]:
        with redirect_stdout(sys.stderr):
            jiojio: Any = import_module("jiojio")
            jiojio.init()
        return Predictor(jiojio.cut)
