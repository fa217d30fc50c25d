"""spacy-pkuseg: a conditional random field with word features, trained by ADF."""

from __future__ import annotations

import random
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


class _ConvergedError(Exception):
    """Ends its training loop; the best model is on disk by then."""


class Pkuseg(Segmenter):
    name = "pkuseg"
    title = "spacy-pkuseg"
    module = "spacy_pkuseg"
    distribution = "spacy-pkuseg"

    def settings(self, effort: Effort) -> list[Setting]:
        # It is one training for all numbers of iterations: the learning rate does not look ahead.
        return [
            {"train_iter": 2, "patience": 2}
            if effort == "quick"
            else {"train_iter": 40, "patience": 5}
        ]

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        spacy_pkuseg: Any = import_module("spacy_pkuseg")
        Trainer = import_module("spacy_pkuseg.trainer").Trainer  # noqa: N806
        score_epoch = Trainer.test
        best_f, best, done = -1.0, 0, 0
        kept_after = saving = 0.0

        def test(trainer: Any, testset: Any, iteration: int) -> Any:
            """Its own score after an iteration, and the model put aside when it is the best."""
            nonlocal best_f, best, done, kept_after, saving
            scores = score_epoch(trainer, testset, iteration)
            done = iteration + 1
            if scores[0] > best_f:
                before = cpu_seconds()
                trainer.model.save(str(model))
                now = cpu_seconds()
                # Only the last of these would be written by a training of known length.
                kept_after = now - began - saving
                saving += now - before
                best_f, best = scores[0], done
            if done == setting["train_iter"] or done - best >= setting["patience"]:
                # Before it writes the model of the last iteration over the best.
                raise _ConvergedError
            return scores

        random.seed(0)
        Trainer.test = test
        began = cpu_seconds()
        try:
            spacy_pkuseg.train(
                str(train), str(dev), str(model), train_iter=int(setting["train_iter"])
            )
        except _ConvergedError:
            pass
        finally:
            Trainer.test = score_epoch
        total = cpu_seconds() - began
        return Training(
            kept_after,
            max(0.0, total - kept_after),
            f"iteration {best} of {done}, by its own dev F; time to iteration {best}",
        )

    def load(self, model: Path, scratch: Path) -> Predictor[str, list[str]]:
        spacy_pkuseg: Any = import_module("spacy_pkuseg")
        # The dictionary that comes with it is of another standard of words: it costs 10 F.
        segmenter = spacy_pkuseg.pkuseg(str(model), user_dict=None)
        return Predictor(segmenter.cut)
