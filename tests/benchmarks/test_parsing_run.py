"""The parsing benchmark from its command line to its report, on trees of a made-up grammar."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.common.corpora import Corpus
from benchmarks.common.run import main
from benchmarks.parsing.systems import Udpipe
from benchmarks.parsing.task import PARSING, jackknifed
from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.formats.conllu import dependency_sentences
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.models.dependencies import DependencyParser

KNOWN = ("海鸥", "渔船", "灯塔", "码头"), ("飞过", "望着", "离开", "照亮")
UNKNOWN = ("雪山", "猎人", "松鼠", "小屋"), ("越过", "追赶", "害怕", "看见")


def made_up(
    n_sentences: int, seed: int, vocabulary: tuple[tuple[str, ...], ...] = KNOWN
) -> list[Sentence]:
    """Verb, subject and object in any order; either noun may have a number and a classifier."""
    nouns, verbs = vocabulary
    generator = random.Random(seed)
    sentences = []
    for _ in range(n_sentences):
        words: list[str] = []
        tags: list[str] = []
        # Heads by role, until its position is known.
        heads: list[str | int] = []
        labels: list[str] = []
        at: dict[str, int] = {}

        def add(word: str, tag: str, head: str | int, label: str, lists: Any) -> None:
            for values, value in zip(lists, (word, tag, head, label), strict=True):
                values.append(value)

        lists = (words, tags, heads, labels)
        roles = [("subject", "nsubj"), ("verb", "root"), ("object", "dobj")]
        for role, label in generator.sample(roles, 3):
            if role == "verb":
                at[role] = len(words)
                add(generator.choice(verbs), "VV", ROOT, label, lists)
                continue
            if generator.random() < 0.5:
                add("三", "CD", len(words) + 1, "nummod", lists)
                add("只", "M", role, "clf", lists)
            at[role] = len(words)
            add(generator.choice(nouns), "NN", "verb", label, lists)
        add("。", "PU", "verb", "punct", lists)
        sentences.append(
            Sentence(
                tuple(words),
                tuple(tags),
                tuple(at[head] if isinstance(head, str) else head for head in heads),
                tuple(labels),
            )
        )
    return sentences


@pytest.fixture
def parts(tmp_path: Path) -> dict[str, Path]:
    folder = tmp_path / "harbour"
    folder.mkdir()
    paths = {}
    corpus = {
        "train": made_up(80, 0),
        "dev": made_up(20, 1),
        # Only tags tell its nouns and verbs apart.
        "test": made_up(40, 2, UNKNOWN),
    }
    for part, sentences in corpus.items():
        paths[part] = folder / f"{part}.conllu"
        PARSING.write(paths[part], sentences)
    return paths


def options(parts: dict[str, Path]) -> list[str]:
    return [f"--{part}={path}" for part, path in parts.items()]


@pytest.mark.slow
def test_a_run_scores_and_times_every_system_on_both_kinds_of_tags(
    parts: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Automatic tags that are all the same, and of no use.
    wrong = {}
    for part, path in parts.items():
        wrong[part] = path.with_name(f"tagged-{path.name}")
        same = (replace(gold, tags=("X",) * len(gold.tags)) for gold in PARSING.read(path))
        PARSING.write(wrong[part], list(same))
    tagged = [f"--tagged-{part}={path}" for part, path in wrong.items()]
    output = tmp_path / "output"
    status = main(PARSING, [*options(parts), *tagged, "--quick", f"--output={output}"])
    path = output / "parsing-harbour.json"
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    results = {(result["name"], result["view"]): result for result in data["results"]}
    assert status == 0
    views = ("gold tags", "automatic tags")
    assert list(results) == [
        *((name, view) for name in ("ours", "ours-greedy", "udpipe") for view in views),
        ("spacy", ""),
    ]
    assert {result["error"] for result in results.values()} == {None}

    # The figures are those of the same training without the harness.
    for view, files in zip(views, (parts, wrong), strict=True):
        parser = DependencyParser(epochs=2)
        parser.fit(dependency_sentences(files["train"]), dependency_sentences(files["dev"]))
        scores = parser.evaluate(dependency_sentences(files["test"])).as_dict()
        assert results["ours", view]["scores"] == scores

    markdown = capsys.readouterr().out
    installed = ["ours"]
    if Udpipe.version() is None:
        assert "| ufal.udpipe, gold tags | not installed: pip install" in markdown
    else:
        installed.append("udpipe")
    for name in installed:
        assert results[name, "gold tags"]["scores"]["dep_uas"] > 0.9, name
        assert results[name, "automatic tags"]["scores"]["dep_uas"] < 0.8, name
    spacy = results["spacy", ""]
    assert spacy["ours_times_faster"]["one"] > 0
    assert spacy["scores"]["dep_uas"] is not None


def test_no_sentence_is_tagged_by_a_tagger_that_has_seen_it() -> None:
    train, dev, test = (made_up(size, seed) for seed, size in enumerate((40, 10, 10)))
    # A tag that one sentence alone has is unknown to the tagger of that sentence.
    train[7] = replace(train[7], tags=("ONLY-HERE", *train[7].tags[1:]))
    made = jackknifed(Corpus("harbour", train, dev, test))
    assert made.view == "automatic tags"
    assert not any("ONLY-HERE" in sentence.tags for sentence in made.train)
    for gold, tagged in ((train, made.train), (dev, made.dev), (test, made.test)):
        assert [(s.words, s.heads, s.labels) for s in tagged] == [
            (s.words, s.heads, s.labels) for s in gold
        ]
    # Every other word has one tag wherever it occurs.
    assert made.test == test
