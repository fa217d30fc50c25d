"""Segmenters that bring models of their own, and cannot be trained here."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.common.systems import Predictor
from benchmarks.segmentation.systems.segmenter import ReadyMade


class Thulac(ReadyMade):
    name = "thulac"
    title = "thulac (own model, standard of the People's Daily)"
    module = "thulac"
    distribution = "thulac"
    models = ("models/*",)

    def load(self, model: Path, scratch: Path) -> Predictor[str, list[str]]:
        # It tells of itself on standard output.
        with redirect_stdout(sys.stderr):
            found: Any = import_module("thulac").thulac(seg_only=True)

        def one(text: str) -> list[str]:
            return [word for word, _ in found.cut(text)]

        return Predictor(one)


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
    models = ()
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
