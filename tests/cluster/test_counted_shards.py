"""N-grams and classes of words counted over shards, as one process does, whatever the cuts."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")
pytest.importorskip("scipy")

from distributed import Client

from spacy_structreg.cluster import ngram_shards
from spacy_structreg.cluster.ngram_shards import (
    count_ngrams_of_units,
    count_unit,
    merge_range,
)
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
from spacy_structreg.tasks.knowledge.ngrams import NgramTotals, count_ngrams
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms

ATOMS = CharacterAtoms(None, True)


class Inline:
    """Stands for a client: tasks run at once, and their results come in another order."""

    def map(self, function: Any, *columns: Any, pure: bool = True, **settings: Any) -> list[Any]:
        return [function(*row, **settings) for row in zip(*columns, strict=True)][::-1]


def expected(texts: list[str], **settings: int) -> NgramTotals:
    return count_ngrams(texts, view=ATOMS.normalization(), **settings)


def equal(one: NgramTotals, other: NgramTotals) -> bool:
    pairs = zip(dataclasses.astuple(one), dataclasses.astuple(other), strict=True)
    return all(a.tobytes() == b.tobytes() and a.dtype == b.dtype for a, b in pairs)


def sentences(n: int, seed: int) -> list[str]:
    """Lines of few characters, of which some are frequent."""
    generator = np.random.default_rng(seed)
    letters = list("的一是不了在人有我他这中大来上国。，ＡA")
    weights = 1 / np.arange(1, len(letters) + 1)
    lengths = generator.integers(1, 30, n)
    drawn = generator.choice(letters, lengths.sum(), p=weights / weights.sum())
    ends = np.cumsum(lengths)
    return ["".join(drawn[a:b]) for a, b in zip(ends - lengths, ends, strict=True)]


TEXTS = st.lists(st.text("ab在Ａ\U0001f600\U00020001 \u3000。", max_size=30), max_size=12)


@given(
    TEXTS,
    st.tuples(st.integers(20, 300), st.integers(200, 5000), st.sampled_from([1, 2, 1024])),
    st.fixed_dictionaries(
        {"minimum": st.integers(1, 3), "most": st.sampled_from([1, 3, 10, 10_000])}
    ),
)
@quick_examples(25)
def test_any_cut_counts_as_one_process(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    cuts: tuple[int, int, int],
    settings: dict[str, int],
) -> None:
    unit_bytes, range_bytes, step = cuts
    folder = tmp_path_factory.mktemp("shards")
    (folder / "a.txt").write_text("\n".join(texts[::2]), encoding="utf-8")
    lines = [json.dumps({"text": text}) for text in texts[1::2]]
    (folder / "b.jsonl").write_text("\n".join(lines), encoding="utf-8")
    units = plan_units([str(folder / "*.*")], unit_bytes=unit_bytes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ngram_shards, "results_of", lambda client, results: results)
        patch.setattr(ngram_shards, "_STEP", step)
        totals, n_bad = count_ngrams_of_units(
            Inline(),  # type: ignore[arg-type]
            units,
            folder,
            atoms=ATOMS,
            range_bytes=range_bytes,
            **settings,
        )
    assert n_bad == 0
    assert equal(totals, expected(texts, **settings))


def test_on_workers(client: Client, tmp_path: Path) -> None:
    texts = sentences(20_000, 1)
    (tmp_path / "a.txt").write_text("\n".join(texts), encoding="utf-8")
    units = plan_units([str(tmp_path / "a.txt")], unit_bytes=100_000)
    told: list[int] = []
    totals, _ = count_ngrams_of_units(
        client, units, tmp_path, atoms=ATOMS, range_bytes=1 << 20, on_unit=told.append
    )
    assert len(units) == len(told) > 5
    assert sum(told) == totals.characters.sum() == sum(map(len, texts))
    assert equal(totals, expected(texts))
    totals, _ = count_ngrams_of_units(
        client, units, tmp_path, atoms=ATOMS, range_bytes=1 << 20, most=1000
    )
    assert equal(totals, expected(texts, most=1000))


def test_too_many_bad_records(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "在在在在"}\n{"text": 3}\n{}\n', encoding="utf-8")
    (unit,) = plan_units([str(path)])
    counted = count_unit(unit, ATOMS, tmp_path, "text")
    assert counted.n_bad == 2
    assert counted.first_bad is not None
    assert counted.first_bad.record == len('{"text": "在在在在"}\n'.encode())


def test_a_folder_that_a_worker_does_not_see(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="name a folder that all workers share"):
        merge_range([(tmp_path / "elsewhere" / "0.runs", 0, 1)], 0, 1 << 32, 2, 10)


# Classes of words ---------------------------------------------------------------------------------

DRAW = random.Random(0)
SEGMENTED = [
    [f"{DRAW.choice('主谓宾')}{DRAW.randrange(30)}" for _ in range(DRAW.randrange(12))]
    for _ in range(2000)
]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("segmented") / "a.txt"
    path.write_text("\n".join(map(" ".join, SEGMENTED)), encoding="utf-8")
    return path


def test_counts_add_up(client: Client, text: Path) -> None:
    units = plan_units([str(text)], unit_bytes=2000)
    assert len(units) > 20
    counts = summed(client, client.map(words_of_unit, units, text_column="text"))
    assert counts == count_words(SEGMENTED)
    words = frequent_words(counts, 30)
    expected = count_contexts(SEGMENTED, words, 2, 50)
    futures = [client.submit(contexts_of_unit, unit, words, "text", 2, 50) for unit in units]
    found = summed(client, futures)
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))


def test_classes_are_those_of_one_process(client: Client, text: Path) -> None:
    pytest.importorskip("sklearn")
    expected = cluster_counted_words(SEGMENTED, 5, dimensions=8)
    for unit_bytes in (1000, 1 << 20):
        units = plan_units([str(text)], unit_bytes=unit_bytes)
        assert cluster_words_of_units(client, units, 5, dimensions=8) == expected


def test_bad_records_are_named(client: Client, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a b"}\n{}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.jsonl, record 16: "):
        cluster_words_of_units(client, plan_units([str(path)]), 5)


# At last ------------------------------------------------------------------------------------------


def test_a_killed_worker_loses_nothing(client: Client, tmp_path: Path) -> None:
    texts = sentences(20_000, 2)
    (tmp_path / "a.txt").write_text("\n".join(texts), encoding="utf-8")
    units = plan_units([str(tmp_path / "a.txt")], unit_bytes=50_000)
    folder = tmp_path / "runs"
    folder.mkdir()
    killed: list[int] = []

    def kill() -> None:
        """Kill a worker while another unit is being counted."""
        while not list(folder.glob("*.runs")):
            time.sleep(0.01)
        killed.append(next(iter(client.run(os.getpid).values())))
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    totals, _ = count_ngrams_of_units(client, units, folder, atoms=ATOMS, range_bytes=1 << 18)
    thread.join()
    assert killed
    assert equal(totals, expected(texts))
