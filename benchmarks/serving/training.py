"""The systems whose models are trained here, and the cost of their training."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.common import spacy_cnn
from benchmarks.common.corpora import Corpus
from benchmarks.common.systems import Effort, Predictor, Setting, System, Training
from benchmarks.common.task import Task
from benchmarks.common.worker import Worker
from benchmarks.parsing.systems import Ours as OursParser
from benchmarks.parsing.task import PARSING
from benchmarks.segmentation.systems.ltp import Ltp
from benchmarks.segmentation.systems.ours import Ours as OursSegmenter
from benchmarks.segmentation.systems.pkuseg import Pkuseg
from benchmarks.segmentation.task import SEGMENTATION
from spacy_structreg.corpora.files import replace_text

__all__ = ["LEARNERS", "Cost", "Learner", "SpacyPipeline", "trained"]


class SpacyPipeline(System[Any, Any]):
    """spaCy's tagger and parser on one convolutional network, as `spacy init config` makes them."""

    name = "spacy_cnn"
    title = "spaCy's CNN tagger and parser"
    module = "spacy"
    distribution = "spacy"

    def settings(self, effort: Effort) -> list[Setting]:
        return spacy_cnn.settings(effort)

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        return spacy_cnn.improve(
            lambda: spacy_cnn.efficient("zh", "tagger", "parser"),
            spacy_cnn.examples,
            "dep_las",
            setting,
            files=(train, dev),
            model=model,
        )

    def load(self, model: Path, scratch: Path) -> Predictor[Any, Any]:
        raise TypeError("its pipes are asked one by one; see benchmarks.serving.systems")


@dataclass(frozen=True)
class Learner:
    """A system that is trained on the treebank, and the task whose files it reads."""

    task: Task[Any, Any, Any]
    system: type[System[Any, Any]]


LEARNERS: Mapping[str, Learner] = {
    "ours-segmenter": Learner(SEGMENTATION, OursSegmenter),
    "ltp": Learner(SEGMENTATION, Ltp),
    "pkuseg": Learner(SEGMENTATION, Pkuseg),
    "ours-parser": Learner(PARSING, OursParser),
    "spacy_cnn": Learner(PARSING, SpacyPipeline),
}
"""By the names of their models: the default settings of ours, and peers that bring no model."""


@dataclass(frozen=True)
class Cost:
    """The cost of a training.

    cpu_seconds: in all, until it had ended by its own criterion. peak_memory: bytes, or None where
    the system does not tell it.
    """

    title: str
    corpus: str
    cpu_seconds: float
    peak_memory: int | None
    model_bytes: int | None
    setting: str = ""


def trained(
    name: str,
    models: Path,
    corpus: Corpus[Any],
    *,
    effort: Effort,
    cpu: int | None,
    scratch: Path,
) -> Cost:
    """Train a model unless there is one in the folder; what its training took is kept beside it.

    corpus: sentences of the treebank, as the task of the learner reads them. Raises WorkerError if
    the system fails, and OSError.
    """
    learner = LEARNERS[name]
    model, kept = models / name, models / f"{name}.json"
    if model.exists() and kept.exists():
        return Cost(**json.loads(kept.read_text(encoding="utf-8")))
    models.mkdir(parents=True, exist_ok=True)
    files = scratch / "train.txt", scratch / "dev.txt"
    for path, sentences in zip(files, (corpus.train, corpus.dev), strict=True):
        learner.task.write(path, sentences)
    setting = learner.system().settings(effort)[-1]
    with Worker(learner.system, cpu, scratch) as worker:
        done = worker.train(setting, *files, model)
    cost = Cost(
        learner.system.title,
        corpus.name,
        done.training.seconds + done.training.wasted,
        done.peak_memory,
        done.model_bytes,
        ", ".join(f"{key} {value}" for key, value in setting.items()) or "defaults",
    )
    with replace_text(kept) as stream:
        stream.write(json.dumps(asdict(cost), ensure_ascii=False, indent=1) + "\n")
    return cost
