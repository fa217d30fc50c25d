"""jieba, in Python and in Rust: a dictionary and a hidden Markov model; it cannot be trained."""

from __future__ import annotations

import logging
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.common.systems import Predictor
from benchmarks.common.treebank import Pairs
from benchmarks.segmentation.systems.segmenter import ReadyMade


class Jieba(ReadyMade):
    name = "jieba"
    title = "jieba (own dictionary and standard)"
    module = "jieba"
    distribution = "jieba"
    models = ("dict.txt", "finalseg/prob_*.py")
    tags = True

    def load(self, model: Path, scratch: Path) -> Predictor[str, list[str]]:
        jieba: Any = import_module("jieba")
        jieba.setLogLevel(logging.ERROR)
        jieba.dt.tmp_dir = str(scratch)
        jieba.initialize()
        return Predictor(jieba.lcut)

    def load_tagger(self, scratch: Path) -> Predictor[str, Pairs]:
        return Predictor(import_module("jieba.posseg").lcut)


class Rjieba(ReadyMade):
    name = "rjieba"
    title = "rjieba, jieba in Rust (own dictionary and standard)"
    module = "rjieba"
    distribution = "rjieba"
    tags = True

    def load(self, model: Path, scratch: Path) -> Predictor[str, list[str]]:
        cut = import_module("rjieba").cut
        # The dictionary is read at first use.
        cut("。")
        return Predictor(cut)

    def load_tagger(self, scratch: Path) -> Predictor[str, Pairs]:
        return Predictor(import_module("rjieba").tag)
