"""Pipelines that annotate texts by the thousands: each is loaded once a process."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import spacy
from numpy.typing import ArrayLike
from spacy.language import Language
from spacy.tokens import Doc

from spacy_structreg.pipeline.evaluation import texts_annotated
from spacy_structreg.pipeline.vocab_limit import VocabLimit

BATCH_SIZE: Final = 4096
"""So many texts are annotated at a time, at most."""

# Their characters, if it is not one text.
BATCH_CHARACTERS: Final = 500_000
# As of `VocabLimit`.
MOST_WORDS: Final = 500_000

_LOADED: Final[dict[str, tuple[int, LoadedPipeline]]] = {}
_LOADING: Final = threading.Lock()


def load(pipeline: str) -> LoadedPipeline:
    """The pipeline of a folder or package; this process loads it once, and when it has changed.

    Raises OSError if there is none of that name.
    """
    meta = Path(pipeline) / "meta.json"
    with _LOADING:
        changed = meta.stat().st_mtime_ns if meta.is_file() else 0
        known = _LOADED.get(pipeline)
        if known is None or known[0] != changed:
            _LOADED[pipeline] = known = changed, OwnPipeline(spacy.load(pipeline))
        return known[1]


class LoadedPipeline:
    """A pipeline that annotates texts. lock: is held by whoever lets it."""

    def __init__(self, nlp: Language) -> None:
        self.nlp = nlp
        self.lock = threading.Lock()
        self.errors: list[str] = []

    def annotate(
        self, texts: Sequence[str | None], n_threads: int
    ) -> tuple[list[Doc | None], dict[int, str]]:
        """The Docs of texts, and by the numbers of those without one, the reason."""
        for part in (self.nlp.tokenizer, *(pipe for _, pipe in self.nlp.pipeline)):
            if hasattr(part, "n_threads"):
                part.n_threads = n_threads
        longest = self.nlp.max_length
        reasons: dict[int, str] = {}
        for row, text in enumerate(texts):
            if text is None:
                reasons[row] = "the text is null"
            elif len(text) > longest:
                reasons[row] = (
                    f"the text has {len(text)} characters, and the pipeline allows {longest}"
                )
        good = [(row, text) for row, text in enumerate(texts) if row not in reasons]
        docs: list[Doc | None] = [None] * len(texts)
        found = self._docs([text for _, text in good], n_threads)  # type: ignore[misc]
        if len(found) < len(good):
            # Which of them are missing is not to be seen.
            found = []
            for row, text in good:
                self.errors.clear()
                of_text = self._docs([text], n_threads)  # type: ignore[list-item]
                if not of_text:
                    reasons[row] = self.errors[0] if self.errors else "no Doc came out"
                found += of_text or [None]
        for (row, _), doc in zip(good, found, strict=True):
            docs[row] = doc
        return docs, dict(sorted(reasons.items()))

    def _docs(self, texts: list[str], n_threads: int) -> list[Doc | None]:
        return list(texts_annotated(self.nlp, texts, n_threads, alone=False))


class OwnPipeline(LoadedPipeline):
    """A pipeline that nobody else uses, so that it may forget words, and go on after errors."""

    def __init__(self, nlp: Language) -> None:
        super().__init__(nlp)
        self._vocab_limit = VocabLimit(nlp, MOST_WORDS)
        nlp.set_error_handler(self._take_error)  # type: ignore[arg-type]  # others do not raise

    def annotate(
        self, texts: Sequence[str | None], n_threads: int
    ) -> tuple[list[Doc | None], dict[int, str]]:
        """As `LoadedPipeline.annotate`, in bounded memory: Docs are those of the last call."""
        self._vocab_limit.forget()
        return super().annotate(texts, n_threads)

    def _take_error(self, name: str, pipe: Any, docs: Sequence[Doc], error: Exception) -> None:
        """Note the error of a pipe; its Docs are missing from what comes out."""
        self.errors.append(f"the pipe {name!r} fails: {type(error).__name__}: {error}")


def slices(lengths: ArrayLike, batch_size: int = BATCH_SIZE) -> Iterator[tuple[int, int]]:
    """The first text of each batch, and the first after it. lengths: of all texts, characters."""
    ends = np.cumsum(lengths)
    start = 0
    while start < len(ends):
        before = ends[start - 1] if start else 0
        end = int(np.searchsorted(ends, before + BATCH_CHARACTERS, side="right"))
        end = min(max(end, start + 1), start + batch_size)
        yield start, end
        start = end
