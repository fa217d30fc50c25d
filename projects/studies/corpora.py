"""Corpora of studies: sentences to train on, to choose on and to score on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from spacy_structreg.corpora.any_format import read_sentences
from spacy_structreg.corpora.corpus_options import CorpusOptions, Spaces
from spacy_structreg.corpora.formats.columns import read_columns
from spacy_structreg.corpora.formats.conllu import dependency_sentences
from spacy_structreg.corpora.splits import fold_bounds

T = TypeVar("T")


def words_of(format: str) -> Callable[..., Iterator[list[str]]]:
    """A reader of the words of a format. Its options are those of `CorpusOptions`."""

    def read(path: Any, **options: Any) -> Iterator[list[str]]:
        for sentence in read_sentences(Path(path), CorpusOptions(format, **SPACES | options)):
            yield list(sentence.words)

    return read


def tagged_words(path: Any, column: str = "xpos") -> Iterator[list[tuple[str, str]]]:
    """The words of CoNLL-U, and the tags of a column, which all have: `xpos` or `upos`."""
    for tree in dependency_sentences(path, column=column):
        yield tree.pairs()


SPACES: Final[dict[str, Any]] = {"spaces": Spaces.none}
READERS: Final[dict[str, Callable[..., Iterable[Any]]]] = {
    "segmented": words_of("segmented"),
    "conllu": words_of("conllu"),
    "conllu_tags": tagged_words,
    "columns": read_columns,
    "pfr": words_of("pfr"),
    "tagged": words_of("tagged"),
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
