"""What the command line says of files, features and settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spacy_structreg.corpora.formats.columns import SKIPPED
from spacy_structreg.corpora.labeling import Scheme

__all__ = ["LABEL", "WORD", "Choices", "Rows", "Tokens"]

WORD = "word"
LABEL = "label"

Tokens = list[tuple[str, ...]]
"""The columns of each token of a sentence."""

Rows = Tokens
"""The same, with a label in BIO besides, the last of each row."""


@dataclass(frozen=True)
class Choices:
    """How files are read, and what systems see and try.

    columns: the names of the columns of files, `_` for those that are skipped. scheme: of their
    labels; None if labels tell it. comments: how comments in files begin. drops_last: whether words
    are read without their last character.
    templates: of ours, which name the features of CRFsuite, too.
    l2, c2: strengths of L2 to try, of ours and of CRFsuite. iterations: the most of L-BFGS; several
    are tried each. perceptron_iterations: of CRFsuite's averaged perceptron.
    rate, decay, epochs: of the gradient descent of ours; None for its own.
    Raises ValueError for columns without words or labels.
    """

    columns: tuple[str, ...] = (WORD, "tag", LABEL)
    scheme: Scheme | None = None
    comments: str | None = None
    drops_last: bool = False
    templates: str = "chunking"
    l2: Sequence[float] = (0.1,)
    c2: Sequence[float] = (0.1, 0.3, 1.0)
    iterations: Sequence[int] = (300,)
    perceptron_iterations: Sequence[int] = (10, 20, 40)
    rate: float | None = None
    decay: float | None = None
    epochs: int | None = None

    def __post_init__(self) -> None:
        for name in (WORD, LABEL):
            if name not in self.columns:
                raise ValueError(
                    f"--columns {','.join(self.columns)}: one of them must be {name!r}"
                )

    @property
    def seen(self) -> tuple[str, ...]:
        """The columns that systems may see, the word first."""
        others = [name for name in self.columns if name not in (WORD, LABEL, SKIPPED)]
        return (WORD, *others)
