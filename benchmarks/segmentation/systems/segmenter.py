"""What the segmenters of this benchmark have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.common.systems import Effort, Predictor, Setting, System, Training
from benchmarks.common.treebank import Pairs


@dataclass(frozen=True)
class Knowledge:
    """What systems are given besides the corpus.

    guides, raw_text: models of other standards, and files of text that is counted, for `ours-best`.
    pkuseg_model: the folder of the model of `pkuseg-own` and `pkuseg-own-dictionary`.
    """

    guides: tuple[Path, ...] = ()
    raw_text: tuple[Path, ...] = ()
    pkuseg_model: Path | None = None

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings of `ours-best`, which has the word list of jieba, too."""
        return {
            "lexicon": [str(Path(str(import_module("jieba").__file__)).with_name("dict.txt"))],
            "guides": list(map(str, self.guides)),
            "statistics": "accessor_variety" if self.raw_text else None,
            "raw_text": list(map(str, self.raw_text)),
        }


class Segmenter(System[str, list[str]]):
    """A system that makes words of text."""

    def __init__(self, knowledge: Knowledge | None = None) -> None:
        self.knowledge = knowledge or Knowledge()


class ReadyMade(Segmenter):
    """A segmenter with a model of its own, which cannot be trained here.

    models: the files of the model in the folder of the package, as patterns. tags: whether it finds
    tags, too. pfr_tags: those of its tags that the People's Daily has other names for.
    """

    trains = False
    models: ClassVar[tuple[str, ...]] = ()
    tags: ClassVar[bool] = False
    pfr_tags: ClassVar[Mapping[str, str]] = {}

    def load_tagger(self, scratch: Path) -> Predictor[str, Pairs]:
        """A system that finds words with tags of its own; scratch as of `load`."""
        raise TypeError(f"{self.name} finds no tags")

    def settings(self, effort: Effort) -> list[Setting]:
        return []

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Training:
        raise TypeError(f"{self.name} brings its model, and is not trained")

    def size(self, model: Path) -> int:
        folder = Path(str(import_module(self.module).__file__)).parent
        files = {path for pattern in self.models for path in folder.glob(pattern)}
        return sum(path.stat().st_size for path in files if path.is_file())
