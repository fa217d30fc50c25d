"""The project `papers`: settings that are chosen before a system is run on a test set."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest
from papers_project import finish, papers
from pipeline.made_up import DEV, TRAIN
from study_contract import CONFIG, RUNS, command

L2 = "nlp.tokenizer.model.learning.l2"
EPOCHS = "training.max_epochs"
GRID = f"""
title: "A paper"
corpora:
  lines: {{train: train.txt, dev: dev.txt, test: test.txt}}
  others: {{train: train.txt, dev: dev.txt, test: test.txt}}
  folds: {{whole: train.txt, folds: 3, choice: true}}
  paragraphs: {{train: {{path: train.txt, sentences: true}}, dev: dev.txt, test: test.txt}}
systems:
  plain: {{config: z14_characters, changed: {{{EPOCHS}: 2}}}}
  tuned:
    config: z14_characters
    changed: {{{EPOCHS}: 2}}
    tuned:
      settings: {{{L2}: [0.9, 1.0e-5]}}
      by: seg_f
      corpora: {{others: folds}}
tables:
  table:
    title: "Table 1"
    because: "It is small."
    columns: {{seg_f: F}}
    seeds: {{lines: 3, others: 1}}
    rows: {{"none": {{system: plain}}, "L2": {{system: tuned, against: "none"}}}}
  other:
    title: "Table 2"
    because: "It is small."
    columns: {{seg_f: F}}
    seeds: {{paragraphs: 1}}
    rows: {{"none": {{system: plain}}}}
"""

STUDY = papers(
    GRID,
    faulty=(
        (f"{L2}: [0.9, 1.0e-5]", f"{L2}: []", "tuned has settings with their values"),
        ("others: folds", "others: nothing", "unknown corpus, 'nothing'"),
        (
            "config: z14_characters\n",
            "config: z14_characters\n    learns_dev: true\n",
            "tuned, but",
        ),
        ("dev: dev.txt, test", "dev: dev.txt, refit: true, test", "tuned, but learns from the dev"),
    ),
)


@pytest.mark.slow
def test_what_is_best_without_the_test_set_is_run_on_it(tmp_path: Path) -> None:
    for name, sentences in (("train", TRAIN), ("dev", DEV), ("test", TRAIN[::3] + DEV)):
        text = "".join(" ".join(words) + "\n" for words in sentences)
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    project = finish(STUDY.copied(tmp_path), data=tmp_path)
    lines = STUDY.results(project)
    settings = [f"{L2}={value} {EPOCHS}=2" for value in ("0.9", "1e-05")]
    # On the development set of the corpus itself, by two seeds.
    of_dev = {
        each: fmean(lines["lines", "z14_characters", each, s, 0]["dev"]["seg_f"] for s in (0, 1))
        for each in settings
    }
    best = max(settings, key=of_dev.__getitem__)
    assert of_dev[settings[0]] != of_dev[settings[1]]
    of_corpus = [key for key in lines if key[0] == "lines" and key[2] != f"{EPOCHS}=2"]
    assert set(of_corpus) == {
        *(("lines", "z14_characters", each, seed, 0) for each in settings for seed in (0, 1)),
        ("lines", "z14_characters", best, 2, 0),
    }
    # On the folds of another one.
    tried = [key for key in lines if key[0] == "folds"]
    assert len(tried) == 2 * 2 * 3
    of_folds = {
        each: fmean(lines[key]["figures"]["seg_f"] for key in tried if key[2] == each)
        for each in settings
    }
    (chosen,) = (k[2] for k in lines if k[0] == "others" and k[2] != f"{EPOCHS}=2")
    assert chosen == max(settings, key=of_folds.__getitem__)
    page = (project / "report/table.md").read_text(encoding="utf-8")
    assert page.count(f"`z14_characters.cfg` {best}") == 1 + (chosen == best)
    assert "not run" not in page
    # Of another version of a corpus, results are refused, or made again.
    text = (tmp_path / "dev.txt").read_text(encoding="utf-8")
    (tmp_path / "dev.txt").write_text(text + "天 气 很 好\n", encoding="utf-8")
    runs = project / RUNS
    kept = runs.read_text(encoding="utf-8").splitlines(keepends=True)
    some = [line for line in kept if '"corpus":"lines"' not in line or '"seed":2' not in line]
    runs.write_text("".join(some), encoding="utf-8")
    refused = command("run", CONFIG, RUNS, folder=project, data=tmp_path)
    assert "another training corpus lines; --anew yes" in refused.stderr
    assert runs.read_text(encoding="utf-8") == "".join(some)
    finish(project, data=tmp_path, anew=True)
    again = STUDY.results(project)
    assert again.keys() >= {key for key in lines if key[2] == f"{EPOCHS}=2"}
    changed = {k for k in lines if k in again and again[k]["checksum"] != lines[k]["checksum"]}
    assert {key[0] for key in changed} == {"lines"}


def test_faulty_choices_are_refused(tmp_path: Path) -> None:
    project = STUDY.copied(tmp_path)
    assert all(old in GRID for old, _, _ in STUDY.faulty)
    grids = [GRID.replace(old, new) for old, new, _ in STUDY.faulty]
    for (_, new, said), message in zip(STUDY.faulty, STUDY.said(project, grids, []), strict=True):
        assert said in message, new
