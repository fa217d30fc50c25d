"""ufal.udpipe 1: trained on CoNLL-U, without a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.common.systems import Training, cpu_seconds

__all__ = ["DISTRIBUTION", "MODULE", "TITLE", "Udpipe"]

MODULE = "ufal.udpipe"
DISTRIBUTION = "ufal.udpipe"
TITLE = "ufal.udpipe"

METHOD = "morphodita_parsito"  # the only one that it has


class Udpipe:
    """Its library, and what both tasks do with it."""

    def __init__(self) -> None:
        self.library: Any = import_module(MODULE)

    def train(
        self,
        train: Path,
        dev: Path,
        model: Path,
        *,
        tagger: dict[str, int | float | str] | None = None,
        parser: dict[str, int | float | str] | None = None,
    ) -> Training:
        """Train a tagger or a parser by options of its manual; its best iteration is kept.

        Raises ValueError if it cannot be trained.
        """
        library = self.library
        began = cpu_seconds()
        error = library.ProcessingError()
        made: bytes = library.Trainer.train(
            METHOD,
            self._sentences(train),
            self._sentences(dev),
            library.Trainer.NONE,
            self._options(tagger),
            self._options(parser),
            error,
        )
        if error.occurred():
            raise ValueError(f"UDPipe was not trained: {error.message}")
        model.write_bytes(made)
        return Training(cpu_seconds() - began, kept="best iteration by its own dev figure")

    def load(self, path: Path) -> Any:
        """A model. Raises ValueError if the file holds none."""
        model = self.library.Model.load(str(path))
        if model is None:
            raise ValueError("UDPipe cannot load its model")
        return model

    def sentence(self, words: Sequence[str]) -> Any:
        """A sentence of its own kind, which words are numbered in from 1."""
        sentence = self.library.Sentence()
        for word in words:
            sentence.addWord(word)
        return sentence

    def _sentences(self, path: Path) -> Any:
        library = self.library
        reader = library.InputFormat.newConlluInputFormat()
        reader.setText(path.read_text(encoding="utf-8"))
        sentences, error = library.Sentences(), library.ProcessingError()
        sentence = library.Sentence()
        while reader.nextSentence(sentence, error):
            sentences.append(sentence)
            sentence = library.Sentence()
        if error.occurred():
            raise ValueError(f"UDPipe cannot read what it is to be trained on: {error.message}")
        return sentences

    def _options(self, options: dict[str, int | float | str] | None) -> str:
        if options is None:
            none: str = self.library.Trainer.NONE
            return none
        return ";".join(f"{name}={value}" for name, value in options.items())
