"""What runs have written, and what `nlp.pipe` says in one process, in a form to compare."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import spacy
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab


def analyses_by_pipe(pipeline: str, texts: Iterable[str]) -> list[tuple[Any, ...]]:
    """Text, words, tags, heads and relations of each text, in the order of the texts."""
    return [analysis(doc) for doc in spacy.load(pipeline).pipe(texts)]


def analysis(doc: Doc) -> tuple[Any, ...]:
    return (
        doc.text,
        [token.text for token in doc],
        [token.tag_ for token in doc],
        [token.head.i for token in doc],
        [token.dep_ for token in doc],
    )


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """The rows of all shards of Parquet, in the order of their names."""
    shards = sorted(folder.glob("part-*.parquet"))
    return [row for shard in shards for row in pq.ParquetFile(shard).read().to_pylist()]


def analyses_of(folder: Path) -> list[tuple[Any, ...]]:
    """The same as of `analyses_by_pipe`, of all shards in the order of their names."""
    docs = [
        doc
        for shard in sorted(folder.glob("part-*.spacy"))
        for doc in DocBin().from_disk(shard).get_docs(Vocab())
    ]
    return [*map(analysis, docs), *map(analysis_of_row, rows_of(folder))]


def analysis_of_row(row: dict[str, Any]) -> tuple[Any, ...]:
    spans = zip(row["word_starts"], row["word_ends"], strict=True)
    words = [row["text"][start:end] for start, end in spans]
    return row["text"], words, row["tags"], row["heads"], row["relations"]


def stamps_of(folder: Path) -> dict[str, tuple[int, int]]:
    """The time of change and the inode of every file that is whole, by its path."""
    files = sorted(path for path in folder.rglob("[!.]*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_mtime_ns, path.stat().st_ino)
        for path in files
    }
