"""ltp-extension: the averaged perceptron of LTP's "legacy" models, in Rust."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.common.systems import (
    Effort,
    Predictor,
    Setting,
    Training,
    cpu_seconds,
)
from benchmarks.segmentation.systems.segmenter import Segmenter


class Ltp(Segmenter):
    name = "ltp"
    title = "ltp-extension"
    module = "ltp_extension"
    distribution = "ltp-extension"

    def settings(self, effort: Effort) -> list[Setting]:
        return [{"epoch": epochs} for epochs in ([2, 4] if effort == "quick" else [5, 10, 20, 40])]

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        ltp: Any = import_module("ltp_extension.perceptron")

        began = cpu_seconds()
        trainer = ltp.CWSTrainer()
        trainer.algorithm = ltp.Algorithm("AP", 1)
        trainer.epoch = int(setting["epoch"])
        trainer.eval_threads = 1
        trainer.compress = False
        trainer.verbose = False
        trainer.load_train_data(str(train))
        # Its trainer scores every epoch on these, as part of its training.
        trainer.load_eval_data(str(dev))
        trainer.train().save(str(model))
        return Training(cpu_seconds() - began, kept="order of sentences without a seed")

    def load(self, model: Path, scratch: Path) -> Predictor[str, list[str]]:
        ltp: Any = import_module("ltp_extension.perceptron")
        loaded = ltp.CWSModel.load(str(model))

        def batch(texts: list[str]) -> list[list[str]]:
            words: list[list[str]] = loaded.batch_predict(texts, parallelism=False)
            return words

        return Predictor(loaded.predict, batch)
