"""The figures of the benchmarks, on numbers worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

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


def test_ratios_are_those_of_the_rounds() -> None:
    assert paired_ratios([10.0, 30.0, 20.0], [5.0, 3.0, 20.0]) == [2.0, 10.0, 1.0]
    with pytest.raises(ValueError, match="2 rounds of ours, 1 of theirs"):
        paired_ratios([1.0, 2.0], [1.0])
    ours = result(
        "ours",
        one=[10.0, 30.0, 20.0],
        batch=[40.0, 60.0, 80.0],
        candidates=[candidate(0.9, 1.0), candidate(0.9, 3.0)],
        chosen=0,
    )
    # Each training of a peer is followed by one of ours.
    tried = [candidate(0.7, 9.0, ours_seconds=1.0), candidate(0.8, 12.0, ours_seconds=3.0)]
    rates = {"one": [5.0, 3.0, 20.0], "batch": [20.0, 6.0, 16.0]}
    peer = result("peer", **rates, candidates=tried, chosen=1)
    # The medians of 2, 10 and 1, and of 2, 10 and 5.
    assert report(ours, peer).ratios(peer) == {"training": 4.0, "batch": 5.0, "one": 2.0}
    # Without a batch call, its calls a sentence count: 40 / 5, 60 / 3 and 80 / 20.
    alone = result("alone", one=[5.0, 3.0, 20.0], batch=None)
    assert report(ours, alone).ratios(alone) == {"training": None, "batch": 8.0, "one": 2.0}
    # Nothing is compared without ours, nor ours with itself.
    for made, each in ((report(peer), peer), (report(ours), ours)):
        assert set(made.ratios(each).values()) == {None}
    assert choose([candidate(0.5), candidate(0.9), candidate(0.9), candidate(0.7)]) == 1


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


def test_what_rows_say_and_what_is_written(tmp_path: Path) -> None:
    ours = result("ours", one=[4.0], batch=[8.0], candidates=[candidate(0.5)], chosen=0)
    peer = result("peer", one=[2.0], candidates=[candidate(0.5)], chosen=0, differing=3)
    failed = result("failed", error="OSError: a|b is full")
    made = report(ours, peer, failed, Result("missing", "Missing", None))
    publish(made, tmp_path / "new")
    markdown, data = (tmp_path / "new" / f"segmentation-made_up.{end}" for end in ("md", "json"))
    text = markdown.read_text(encoding="utf-8")
    assert text == made.as_markdown()
    for table in (0, 1):
        said = row_of(text, "Missing", table)[1]
        assert said == "not installed: pip install spacy_structreg[bench]"
    assert row_of(text, "Failed", 0)[1] == "failed: OSError: a/b is full"
    assert text.count("3 sentences have other words") == text.count("other words") == 1
    read = json.loads(data.read_text(encoding="utf-8"))
    assert [entry["name"] for entry in read["results"]] == ["ours", "peer", "failed", "missing"]
    assert read["results"][1]["ours_times_faster"] == {"training": None, "batch": 4.0, "one": 2.0}
    assert read["results"][1]["candidates"][0]["setting"] == {"epoch": 5}
