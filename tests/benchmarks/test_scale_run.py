"""The benchmark of workers from its command line to its report, and what is computed by hand."""

from __future__ import annotations

import pytest

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")

from benchmarks.scale.costs import EngineCosts, Phases, PipelineCosts
from benchmarks.scale.projection import Cluster, projected
from benchmarks.scale.run import documents_of

SENTENCES = ["海鸥飞过灯塔。", "老船长望着码头。", "渔船离开。"]


def test_documents_have_all_characters_until_there_are_enough() -> None:
    found = list(documents_of(SENTENCES * 3, 30, 10))
    assert found == [SENTENCES[:2], [SENTENCES[2], SENTENCES[0]], [SENTENCES[1]]]
    assert list(documents_of(SENTENCES, 10_000, 10)) == [SENTENCES[:2]]


def test_a_projection_worked_by_hand() -> None:
    phases = Phases(10, 1000, 0.1, 1.0, 0.1, bytes_out=2000, bytes_without_text=500)
    costs = PipelineCosts("p", phases, sentences=40, bytes_in=3000, packed_bytes=10**8)
    costs.rates = {1: [400.0], 2: [800.0]}
    costs.cpu_rates = {1: [400.0, 500.0, 600.0], 2: [1.0]}
    costs.importing, costs.loading = 2.0, 1.0
    engine = EngineCosts({1: 1.0, 2: 2.0}, tasks=100.0, counting={})
    cluster = Cluster(
        documents=1e6,
        document_characters=1000,
        machines=10,
        cores=4,
        core_share=0.5,
        storage=1e6,
        network=1e8,
    )
    found = projected(costs, engine, cluster)
    # 10⁹ characters by 500 a second; 40 cores of which half counts.
    assert found.core_hours == pytest.approx(2e6 / 3600)
    assert found.decoding == pytest.approx(2e6 / 20)
    assert (found.bytes_in, found.bytes_out) == (3e9, 2e9)
    assert (found.reading, found.writing) == (3000, 2000)
    assert found.units == 90
    assert found.scheduling == pytest.approx(0.9)
    # Ten machines get a second each.
    assert found.starting == pytest.approx(2 + 1 + 10)
    assert found.limit == "decoding"
    assert found.seconds == pytest.approx(100_000 + 13)
