"""Classes of words counted over shards: those of one process."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")
pytest.importorskip("scipy")

from distributed import Client

from spacy_structreg.cluster.records import plan_units
from spacy_structreg.cluster.word_shards import (
    cluster_words_of_units,
    contexts_of_unit,
    summed,
    words_of_unit,
)
from spacy_structreg.models.word_clustering import (
    cluster_counted_words,
    count_contexts,
    count_words,
    frequent_words,
)

DRAW = random.Random(0)
SENTENCES = [
    [f"{DRAW.choice('主谓宾')}{DRAW.randrange(30)}" for _ in range(DRAW.randrange(12))]
    for _ in range(2000)
]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("segmented") / "a.txt"
    path.write_text("\n".join(map(" ".join, SENTENCES)), encoding="utf-8")
    return path


def test_counts_add_up(client: Client, text: Path) -> None:
    units = plan_units([str(text)], unit_bytes=2000)
    assert len(units) > 20
    counts = summed(client, client.map(words_of_unit, units, text_column="text"))
    assert counts == count_words(SENTENCES)
    words = frequent_words(counts, 30)
    expected = count_contexts(SENTENCES, words, 2, 50)
    futures = [client.submit(contexts_of_unit, unit, words, "text", 2, 50) for unit in units]
    found = summed(client, futures)
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))


def test_classes_are_those_of_one_process(client: Client, text: Path) -> None:
    pytest.importorskip("sklearn")
    expected = cluster_counted_words(SENTENCES, 5, dimensions=8)
    for unit_bytes in (1000, 1 << 20):
        units = plan_units([str(text)], unit_bytes=unit_bytes)
        assert cluster_words_of_units(client, units, 5, dimensions=8) == expected


def test_bad_records_are_named(client: Client, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a b"}\n{}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.jsonl, record 16: "):
        cluster_words_of_units(client, plan_units([str(path)]), 5)
