"""jieba: a dictionary and a hidden Markov model of its own; it cannot be trained."""

from __future__ import annotations

import logging
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.common.systems import Effort, Predictor, Setting, System, Training


class Jieba(System[str, list[str]]):
    name = "jieba"
    title = "jieba (own dictionary and standard)"
    module = "jieba"
    distribution = "jieba"
    trains = False

    def settings(self, effort: Effort) -> list[Setting]:
        return []

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        raise NotImplementedError("jieba has no training")

    def load(self, model: Path, scratch: Path) -> Predictor[str, list[str]]:
        jieba: Any = import_module("jieba")
        jieba.setLogLevel(logging.ERROR)
        jieba.dt.tmp_dir = str(scratch)
        jieba.initialize()
        return Predictor(jieba.lcut)

    def size(self, model: Path) -> int:
        jieba: Any = import_module("jieba")
        folder = Path(jieba.__file__).parent
        files = [folder / "dict.txt", *folder.glob("finalseg/prob_*.py")]
        return sum(path.stat().st_size for path in files)
