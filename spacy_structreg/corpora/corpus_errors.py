"""`CorpusError`, raised by all corpus readers, and warnings."""

from __future__ import annotations

import logging
import os
from typing import TypeAlias

logger = logging.getLogger("spacy_structreg")

StrPath: TypeAlias = "str | os.PathLike[str]"
"""A path, as text or object."""

LONGEST_SHOWN = 40

# So many words do not end in digits by chance.
LEAST_WORDS = 5


def shown(text: str) -> str:
    """Quote text for error messages, cut after 40 characters."""
    return repr(text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…")


class CorpusError(ValueError):
    """An error in a corpus file, with its line number.

    file: path or name of the file, as the user gave it.
    line: number of the line with the fault, counted from 1.
    fault: what is wrong and, after a semicolon, what to do about it.
    """

    def __init__(self, file: StrPath, line: int, fault: str) -> None:
        # The three go to `args` as they are, so that the error survives pickling.
        super().__init__(os.fspath(file), line, fault)
        self.file = os.fspath(file)
        self.line = line
        self.fault = fault

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.fault}"


def warn_of_digits(file: StrPath, n_words: int, n_digits: int) -> None:
    """Warn once, at the end of a file, when all of its words end in digits: they are hardly words.

    n_digits: how many of the words end in a digit.
    """
    if n_words == n_digits >= LEAST_WORDS:
        logger.warning(
            "%s: every one of the %d words ends in a digit; make sure that the file has words "
            "there, and no numbers or columns of another order",
            os.fspath(file),
            n_words,
        )
