"""The benchmark of workers from its command line to its report, and what is computed by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import spacy

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")

from benchmarks.scale.costs import EngineCosts, Phases, PipelineCosts
from benchmarks.scale.projection import Cluster, projected
from benchmarks.scale.run import documents_of, main

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


@pytest.mark.slow
def test_a_run_measures_every_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = {"@architectures": "spacy_structreg.CharacterSegmenter.v1", "seed": 1}
    tokenizer = {"@tokenizers": "spacy_structreg.Segmenter.v1", "model": model}
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    words = [["海鸥", "飞过", "灯塔", "。"], ["老船长", "望着", "码头", "。"]]
    nlp.tokenizer.model.fit(words)
    nlp.to_disk(tmp_path / "pipeline")
    text = tmp_path / "text.txt"
    text.write_text("\n".join(map(" ".join, words)), encoding="utf-8")
    status = main(
        [
            "--pipelines",
            f"words={tmp_path / 'pipeline'}",
            f"--text={text}",
            "--name=harbour",
            "--workers",
            "1",
            "2",
            "--rounds=1",
            "--seconds=0.001",
            "--counted=2000",
            "--tasks=20",
            f"--output={tmp_path}",
        ]
    )
    assert status == 0
    assert "## Computed, not measured" in capsys.readouterr().out
    data = json.loads((tmp_path / "scale-harbour.json").read_text(encoding="utf-8"))
    (costs,) = data["pipelines"]
    assert set(costs["rates"]) == set(data["engine"]["counting"]) == {"1", "2"}
    assert min(*costs["rates"].values(), *data["engine"]["counting"].values()) > [0]
    phases = costs["phases"]
    assert phases["bytes_out"] > phases["bytes_without_text"] > 0
    assert costs["packed_bytes"] > 1000
    assert min(costs["importing"], costs["loading"], costs["shipping"]) > 0
    assert str(tmp_path) not in (tmp_path / "scale-harbour.md").read_text(encoding="utf-8")
