"""Corpora of studies: sentences to train on, to choose on and to score on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

from spacy_structreg.corpora.formats.columns import read_columns
from spacy_structreg.corpora.formats.conllu import segmented_sentences, tagged_sentences
from spacy_structreg.corpora.formats.pfr import segmented_paragraphs
from spacy_structreg.corpora.formats.segmented import read_segmented
from spacy_structreg.corpora.formats.tagged import read_tagged
from spacy_structreg.corpora.splits import fold_bounds

T = TypeVar("T")


def words_of_tagged(path: Any, **options: Any) -> Iterator[list[str]]:
    """The words of tagged text, as `read_tagged` takes it."""
    for sentence in read_tagged(path, **options):
        yield [word for word, _ in sentence]


READERS: Final[dict[str, Callable[..., Iterable[Any]]]] = {
    "segmented": read_segmented,
    "conllu": segmented_sentences,
    "conllu_tags": tagged_sentences,
    "columns": read_columns,
    "pfr": segmented_paragraphs,
    "tagged": words_of_tagged,
}
"""The sentences of a file, by the name of its reader."""


def reader(name: str, entry: Mapping[str, Any]) -> Callable[..., Iterable[Any]]:
    """The reader of a corpus. Raises ValueError if its entry names none."""
    if entry.get("reader") not in READERS:
        raise ValueError(f"the corpus {name} has no reader; choose from {', '.join(READERS)}")
    return READERS[entry["reader"]]


def read_part(
    name: str, entry: Mapping[str, Any], part: str, read: Callable[[Any], Iterable[T]]
) -> list[T]:
    """The sentences of a part. Raises ValueError if there is none."""
    sentences = list(read(entry[part]))
    if not sentences:
        raise ValueError(f"the corpus {name} has no sentence in its part {part!r}")
    return sentences


def read_parts(
    name: str, entry: Mapping[str, Any], read: Callable[[Any], Iterable[T]]
) -> tuple[list[T], list[T], list[T]]:
    """The training, the development and the test set of a corpus.

    read: the sentences of what the entry has under "train", "dev" and "test". Without "dev", the
    last tenth of "train" is it. Of a corpus in one file, "whole", the last tenth is the test set,
    the one before it "dev". Raises ValueError for a part without sentences, and what `read` does.
    """
    if "whole" in entry:
        whole = read_part(name, entry, "whole", read)
        *_, held_out, tested = (whole[begin:end] for begin, end in fold_bounds(len(whole)))
        return whole[: -len(held_out) - len(tested)], held_out, tested
    train, test = (read_part(name, entry, part, read) for part in ("train", "test"))
    if "dev" in entry:
        return train, read_part(name, entry, "dev", read), test
    return *hold_out(name, train), test


def hold_out(name: str, train: list[T]) -> tuple[list[T], list[T]]:
    """All but the last tenth of a training set, and that. Raises ValueError if it is too small."""
    kept = len(train) * 9 // 10
    if not kept:
        raise ValueError(f"the corpus {name} is too small to take a tenth of")
    return train[:kept], train[kept:]
