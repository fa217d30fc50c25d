"""Claims of the papers: what becomes of them follows from the runs, and their pages say so."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
import srsly
from papers_project import FOLDER, papers
from study_contract import CONFIG, PROJECTS, command, pictures_of, project, tables, write_results

# A fixture of every study.
__all__ = ["project"]

GRID = """
title: "A paper"
corpora:
  one: {title: "One corpus (1,000 sentences)", train: train, test: test}
  two: {title: "Another (500 sentences)", train: train, test: test}
  licensed: {variable: STRUCTREG_OF_NOBODY, needs: "a license", train: train, test: test}
systems:
  base: {config: z14_characters}
  other: {config: z14_characters, changed: {training.max_epochs: 2}}
  wide: {config: z14_characters, changed: {training.max_epochs: 3}}
tables:
  first:
    title: "Table 1, words"
    because: "It is small."
    columns: {seg_f: F, oov_r: recall}
    of: licensed
    seeds: {one: 5, two: 5, licensed: 5}
    rows:
      base: {system: base, paper: {licensed: {seg_f: 97.5}}}
      other: {system: other, paper: {licensed: {seg_f: 97.0}}}
      wide: {system: wide}
  second:
    title: "Table 2, the same"
    because: "It is small."
    columns: {seg_f: F}
    seeds: {one: 5}
    rows: {base: {system: base}}
"""

CLAIMS = """
first:
  claims:
    - {says: "Above", more: base, less: other, why: {holds: "As expected.", does not hold: "Odd."}}
    - says: "Below"
      more: other
      less: base
      corpora: one
      why: {holds: "No.", does not hold: "So."}
    - {says: "Nothing", more: base, less: other, corpora: one, at_most: 5}
    - {says: "Little", more: other, less: base, corpora: one, at_most: 0.5}
    - {says: "Much", more: base, less: other, corpora: one, at_most: 1}
    - {says: "Recall", column: oov_r, more: base, less: other, corpora: one}
    - {says: "Slower", column: training_seconds, more: base, less: other, published: 2}
    - {says: "Unknown", more: wide, less: base}
    - {says: "Middle", more: base, less: [base, other], corpora: one}
"""

STUDY = papers(GRID)


def line(corpus: str, epochs: int, seed: int, f: float, seconds: float) -> dict[str, Any]:
    return {
        **{"corpus": corpus, "system": "z14_characters", "seed": seed, "fold": 0},
        **{"setting": f"training.max_epochs={epochs}" if epochs else "", "sentences": {}},
        **{"figures": {"seg_f": f, "oov_r": 0.5 + seed % 2 * (0.1 if epochs else -0.1)}},
        **{"training_seconds": seconds, "decoding_seconds": 0.0, "epochs": [1], "config": "0"},
        **{"commit": "", "checksum": "0" * 12, "version": "0"},
    }


@pytest.fixture
def reported(project: Path) -> Path:
    """A project whose differences in points are 1 to 5 on one corpus, 1 to 1.4 on another."""
    lines = []
    for corpus, step in (("one", 0.01), ("two", 0.001)):
        for seed in range(5):
            gain = 0.01 + step * seed
            lines += [line(corpus, 0, seed, 0.9, 3.0), line(corpus, 2, seed, 0.9 - gain, 1.0)]
    lines.remove(line("two", 0, 4, 0.9, 3.0))
    lines.append(line("two", 0, 4, 0.9, 3.3))
    write_results(project, "".join(json.dumps(each) + "\n" for each in lines))
    (project / "claims").mkdir(exist_ok=True)
    (project / "claims/small.yml").write_text(CLAIMS, encoding="utf-8")
    done = command("report", CONFIG, "report/runs.jsonl", "report/README.md", folder=project)
    assert done.returncode == 0, done.stderr
    return project / "report"


def test_what_becomes_of_a_claim_follows_from_the_interval(reported: Path) -> None:
    """By hand: 1 to 5 have a mean of 3, a standard deviation of 1.581, so 2.776 * 0.707 = 1.963."""
    text = (reported / "first.md").read_text(encoding="utf-8")
    found = next(rows for rows in tables(text) if rows[0][0] == "claim of the paper")[1:]
    assert found[:4] == [
        # Seed by seed the mean of both: 1, 1.55, … 3.2.
        ["Above", "mean of 2", "+0.50", "+2.10 ± 1.08", "**holds**"],
        ["", "One corpus", "", "+3.00 ± 1.96", "holds"],
        ["", "Another", "", "+1.20 ± 0.20", "holds"],
        ["Below", "One corpus", "-0.50", "-3.00 ± 1.96", "**does not hold**"],
    ]
    assert [(row[0], row[3], row[4]) for row in found[4:]] == [
        ("Nothing (at most 5)", "+3.00 ± 1.96", "**holds**"),
        ("Little (at most 0.5)", "-3.00 ± 1.96", "**holds**"),
        ("Much (at most 1)", "+3.00 ± 1.96", "**does not hold**"),
        ("Recall", "-8.00 ± 13.60", "**cannot be told**"),
        # Of five seeds of both corpora, all ratios are 3 but the last, which is √(3 · 3.3).
        ("Slower", "× 3.03 (2.95 to 3.11)", "**holds**"),
        ("", "× 3.00 (3.00 to 3.00)", "holds"),
        ("", "× 3.06 (2.90 to 3.22)", "holds"),
        ("Unknown", "", "**not run**"),
        ("Middle", "+1.50 ± 0.98", "**holds**"),
    ]
    assert "9 claims of the paper: 5 hold, 2 do not hold, 1 cannot be told, 1 not run" in text
    # Lines by hand stand below the verdict that they are written for.
    assert "As expected.\n\nSo.\n" in text
    assert "Odd." not in text
    assert "No." not in text


def test_a_page_says_what_is_missing_and_which_runs_it_shares(reported: Path) -> None:
    text = (reported / "first.md").read_text(encoding="utf-8")
    assert "Run here: **in part**: 2 of 3 rows. It is small." in text
    assert "Of its 20 runs, these are also those of other pages: [Table 2](second.md) (5)." in text
    assert "Run here: **yes**. It is small." in (reported / "second.md").read_text(encoding="utf-8")
    listed = tables((reported / "README.md").read_text(encoding="utf-8"))[0][1:]
    assert [row[1:3] for row in listed] == [["in part", "2 of 3 rows"], ["yes", ""]]
    assert [row[4] for row in listed] == [
        "20 of 45 runs; 5 of Table 2",
        "5 of 5 runs; 5 of Table 1",
    ]


def test_the_time_of_missing_runs_is_that_of_the_nearest_that_are_made(project: Path) -> None:
    """Of one corpus three of five seeds are made; of the other, half as large, none."""
    lines = [line("one", 0, seed, 0.9, 60.0) for seed in range(3)]
    lines += [line("one", 2, seed, 0.9, 30.0) for seed in range(5)]
    text = (project / "systems/z14_characters.cfg").read_text(encoding="utf-8")
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]
    lines = [{**each, "config": digest, "sentences": {"seg_f": ""}} for each in lines]
    write_results(project, "".join(json.dumps(each) + "\n" for each in lines))
    done = command("todo", CONFIG, "report/runs.jsonl", folder=project)
    assert done.returncode == 0, done.stderr
    # 2 · 60 s and 5 · 30 s; of the third system, by the mean of 0.06 · 3 + 0.03 · 5 a sentence,
    # 41.25 s and 20.625 s, 5 of each; of the other corpus 5 · 30 s and 5 · 15 s.
    assert done.stdout.splitlines() == [
        "first: 22 runs, about 11 min",
        "A paper: 22 of 45 runs are missing, about 11 min of one process",
    ]
    assert "left out: licensed" in done.stderr


def test_claims_that_no_table_can_have_are_refused(project: Path) -> None:
    (project / "claims").mkdir(exist_ok=True)
    for old, new, said in (
        ("first:", "third:", "there is no table 'third'"),
        ("more: wide", "more: narrow", "first: Unknown: no panel has these rows, this column"),
        ("column: oov_r", "column: oov_p", "first: Recall: no panel has these rows, this column"),
        ('why: {holds: "As', 'why: {hold: "As', "first: Above has unknown keys: hold"),
        ("at_most: 5", "most: 5", "first has unknown keys: most"),
    ):
        assert old in CLAIMS
        text = CLAIMS.replace(old, new, 1)
        (project / "claims/small.yml").write_text(text, encoding="utf-8")
        done = command("report", CONFIG, "report/runs.jsonl", "report/README.md", folder=project)
        assert done.returncode == 1
        assert f"claims/small.yml: {said}" in done.stderr, new


def test_each_line_by_hand_stands_on_its_page() -> None:
    """If it does not, the runs say something else than what it was written for."""
    n_lines, stray = 0, []
    for path in sorted((FOLDER / "claims").glob("*.yml")):
        for name, each in srsly.read_yaml(path).items():
            page = FOLDER / "report" / path.stem / f"{name}.md"
            text = page.read_text(encoding="utf-8")
            for claim in each.get("claims", ()):
                assert claim["says"] in text, f"{page}: {claim['says']}"
                for verdict, line in claim.get("why", {}).items():
                    if line.strip() not in text:
                        stray.append(f"{page.parent.name}/{name}: {claim['says']}: {verdict}")
                    n_lines += 1
    assert not stray
    assert n_lines


def test_every_kept_page_and_picture_is_linked() -> None:
    """From README.md of its project, over other pages."""
    n_pages = 0
    for report in sorted(PROJECTS.glob("*/report")):
        linked, left = set[Path](), [report.parent / "README.md", report / "README.md"]
        while left:
            page = left.pop().resolve()
            if page in linked or not page.is_relative_to(report.parent):
                continue
            linked.add(page)
            if page.suffix == ".md" and page.exists():
                text = page.read_text(encoding="utf-8")
                links = {link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)}
                left += [page.parent / link for link in links | pictures_of(text)]
        kept = [path for path in report.rglob("*") if path.suffix in (".md", ".svg")]
        assert {path for path in kept if path.resolve() not in linked} == set(), report
        n_pages += len(kept)
    assert n_pages
