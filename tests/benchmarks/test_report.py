"""The figures of the benchmarks, on numbers worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median

import pytest

from benchmarks.common.report import (
    Candidate,
    Report,
    Result,
    choose,
    paired_ratios,
    publish,
)
from benchmarks.parsing.task import PARSING
from benchmarks.segmentation.task import SEGMENTATION


def candidate(dev_score: float, seconds: float = 1.0, **others: object) -> Candidate:
    return Candidate({"epoch": 5}, dev_score, seconds, **others)  # type: ignore[arg-type]


def result(name: str, **others: object) -> Result:
    return Result(name, name.title(), "1.0", **others)  # type: ignore[arg-type]


def report(*results: Result) -> Report:
    facts = {"CPU": "Test"}, {"name": "made up"}, {"rounds": 3}
    return Report(SEGMENTATION, *facts, list(results), units_a_sentence=20.0)


def row_of(markdown: str, start: str, table: int) -> list[str]:
    """The cells of the row that starts with a title, in the table of that number, from 0."""
    rows = [line for line in markdown.splitlines() if line.startswith(f"| {start}")]
    return [cell.strip() for cell in rows[table].strip("|").split("|")]


def test_ratios_are_paired_by_round() -> None:
    assert paired_ratios([10.0, 30.0, 20.0], [5.0, 3.0, 20.0]) == [2.0, 10.0, 1.0]


def test_rounds_that_do_not_pair_are_refused() -> None:
    with pytest.raises(ValueError, match="2 rounds of ours, 1 of theirs"):
        paired_ratios([1.0, 2.0], [1.0])


def test_the_ratio_is_the_median_of_the_rounds_not_the_ratio_of_medians() -> None:
    ours = result("ours", one=[10.0, 30.0, 20.0], batch=[40.0, 60.0, 80.0])
    peer = result("peer", one=[5.0, 3.0, 20.0], batch=[20.0, 6.0, 16.0])
    ratios = report(ours, peer).ratios(peer)
    assert ratios["one"] == 2.0  # of 2, 10 and 1; the medians 20 and 5 would give 4
    assert median(ours.one) / median(peer.one) == 4.0
    assert ratios["batch"] == 5.0  # of 2, 10 and 5


def test_a_system_without_a_batch_call_is_compared_by_its_calls_a_sentence() -> None:
    ours = result("ours", one=[10.0], batch=[40.0])
    peer = result("peer", one=[5.0], batch=None)
    assert report(ours, peer).ratios(peer) == {"training": None, "batch": 8.0, "one": 2.0}


def test_training_is_compared_with_the_training_of_ours_right_after_it() -> None:
    ours = result("ours", candidates=[candidate(0.9, 1.0), candidate(0.9, 3.0)], chosen=0)
    peer = result(
        "peer",
        candidates=[candidate(0.7, 9.0, ours_seconds=1.0), candidate(0.8, 12.0, ours_seconds=3.0)],
        chosen=1,
    )
    assert report(ours, peer).ratios(peer)["training"] == 4.0


def test_nothing_is_compared_without_ours_nor_ours_with_itself() -> None:
    peer = result("peer", one=[5.0], batch=[5.0])
    assert set(report(peer).ratios(peer).values()) == {None}
    ours = result("ours", one=[5.0], batch=[5.0])
    assert set(report(ours).ratios(ours).values()) == {None}


def test_each_view_is_compared_with_ours_on_the_same_view() -> None:
    gold = result("ours", view="gold tags", one=[8.0], candidates=[candidate(0.9, 2.0)], chosen=0)
    other = result("ours", view="automatic tags", one=[4.0], candidates=[candidate(0.8)], chosen=0)
    peer = result("peer", view="automatic tags", one=[2.0], candidates=[candidate(0.7)], chosen=0)
    blind = result("blind", one=[2.0], candidates=[candidate(0.6, 10.0)], chosen=0)
    facts = {"CPU": "Test"}, {"name": "made up"}, {"rounds": 1}
    made = Report(PARSING, *facts, [gold, other, peer, blind])
    assert made.ratios(peer) == {"training": 1.0, "batch": 2.0, "one": 2.0}
    # What sees no tags is compared with the first.
    assert made.ratios(blind) == {"training": 5.0, "batch": 4.0, "one": 4.0}
    assert set(made.ratios(gold).values()) == set(made.ratios(other).values()) == {None}
    markdown = made.as_markdown()
    assert row_of(markdown, "Ours", 0)[0] == "Ours 1.0, gold tags"
    assert "ours, automatic tags 1.0, peer, automatic tags 1.0, blind 10.0." in markdown


def test_the_first_of_the_best_on_development_is_chosen() -> None:
    assert choose([candidate(0.5), candidate(0.9), candidate(0.9), candidate(0.7)]) == 1


def test_a_missing_system_is_a_row_that_says_how_to_get_it() -> None:
    missing = Result("peer", "Peer", None)
    markdown = report(missing).as_markdown()
    for table in (0, 1):
        assert row_of(markdown, "Peer", table)[1] == (
            "not installed: pip install spacy_structreg[bench]"
        )


def test_a_failed_system_is_a_row_with_its_error() -> None:
    failed = result("peer", error="OSError: a|b is full")
    assert row_of(report(failed).as_markdown(), "Peer", 0)[1] == "failed: OSError: a/b is full"


def test_words_that_differ_between_the_two_calls_are_told() -> None:
    differing = result("peer", one=[1.0], batch=[1.0], differing=3)
    assert "3 sentences have other words" in report(differing).as_markdown()
    assert "other words" not in report(result("peer", differing=0)).as_markdown()


def test_markdown_and_json_are_written(tmp_path: Path) -> None:
    ours = result("ours", one=[4.0], batch=[8.0], candidates=[candidate(0.5)], chosen=0)
    peer = result("peer", one=[2.0], candidates=[candidate(0.5)], chosen=0)
    made = report(ours, peer)
    publish(made, tmp_path / "new")
    markdown, data = (tmp_path / "new" / f"segmentation-made_up.{end}" for end in ("md", "json"))
    assert markdown.read_text(encoding="utf-8") == made.as_markdown()
    read = json.loads(data.read_text(encoding="utf-8"))
    assert [entry["name"] for entry in read["results"]] == ["ours", "peer"]
    assert read["results"][1]["ours_times_faster"] == {"training": None, "batch": 4.0, "one": 2.0}
    assert read["results"][1]["candidates"][0]["setting"] == {"epoch": 5}
