"""jieba: a dictionary and a hidden Markov model of its own; it cannot be trained."""

from __future__ import annotations

import logging
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.segmentation.systems.base import Segmenter, Setting, System, Training


class Jieba(System):
    name = "jieba"
    title = "jieba (own dictionary and standard)"
    module = "jieba"
    distribution = "jieba"
    trains = False

    def settings(self, quick: bool) -> list[Setting]:
        return []

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        raise NotImplementedError("jieba has no training")

    def load(self, model: Path, scratch: Path) -> Segmenter:
        jieba: Any = import_module("jieba")
        jieba.setLogLevel(logging.ERROR)
        jieba.dt.tmp_dir = str(scratch)
        jieba.initialize()
        return Segmenter(jieba.lcut)

    def size(self, model: Path) -> int:
        jieba: Any = import_module("jieba")
        folder = Path(jieba.__file__).parent
        files = [folder / "dict.txt", *folder.glob("finalseg/prob_*.py")]
        return sum(path.stat().st_size for path in files)
