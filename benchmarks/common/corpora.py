"""The data of a run: three lists of sentences."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

__all__ = ["Corpus", "GoldT", "data_folder", "default_corpus", "read_corpus"]

GoldT = TypeVar("GoldT")

VARIABLE = "STRUCTREG_DATA"
UD_CHINESE = "ud-chinese-gsd-simplified"


@dataclass(frozen=True)
class Corpus(Generic[GoldT]):
    """What systems are trained on, chosen on and scored on. The name holds no path.

    view: tells corpora of one run apart that have the same sentences, but give systems other
    things to go by, such as automatic tags; empty if there is only one.
    """

    name: str
    train: list[GoldT]
    dev: list[GoldT]
    test: list[GoldT]
    note: str = ""
    view: str = ""

    def head(self, train: int, others: int) -> Corpus[GoldT]:
        """The first sentences of each part."""
        note = f"{self.note}; the first {train}, {others} and {others} sentences only"
        return replace(
            self,
            train=self.train[:train],
            dev=self.dev[:others],
            test=self.test[:others],
            note=note.lstrip("; "),
        )


def read_corpus(
    read: Callable[[Path], list[GoldT]],
    train: Path,
    dev: Path | None,
    test: Path,
    name: str | None = None,
) -> Corpus[GoldT]:
    """Read the parts; without a development file, the last tenth of the training sentences is it.

    read: the sentences of a file. name: by default that of the folder of the training file. Raises
    as `read`, and ValueError when the training file is too short to part with a tenth.
    """
    name = name or train.resolve().parent.name or "corpus"
    sentences = read(train)
    if dev is not None:
        return Corpus(name, sentences, read(dev), read(test))
    kept = len(sentences) * 9 // 10
    if kept == 0:
        raise ValueError(f"{train}: too few sentences to take a tenth of; give --dev")
    return Corpus(
        name,
        sentences[:kept],
        sentences[kept:],
        read(test),
        "development: the last tenth of the training sentences, not trained on",
    )


def data_folder(holds: str) -> Path:
    """The folder of real corpora. Raises ValueError if none is named. holds: what is looked for."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        raise ValueError(
            f"no corpus: set {VARIABLE} to a folder that holds {holds}, or give --train and --test "
            "(and --dev)"
        )
    return Path(folder)


def default_corpus(read: Callable[[Path], list[GoldT]]) -> Corpus[GoldT]:
    """UD Chinese GSD, simplified, from the folder of real corpora. Raises ValueError without it."""
    parts = data_folder(UD_CHINESE) / UD_CHINESE
    return read_corpus(
        read, parts / "train.conll.xz", parts / "dev.conll", parts / "test.conll", "ud_chinese"
    )
