"""The constituency benchmark from its command line to its report, on the treebank of a project."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.common.run import main
from benchmarks.common.worker import Worker
from benchmarks.constituency.systems import Nltk
from benchmarks.constituency.task import CONSTITUENCY
from spacy_structreg.corpora.constituents import ConstituencySentence
from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.metrics.constituents import score_brackets
from spacy_structreg.models.constituents import ConstituencyParser

TREEBANK = Path(__file__).parents[2] / "treebank"
PARTS = {part: TREEBANK / f"{part}/general.bracket" for part in ("train", "dev", "test")}
LONGEST = 9


def trees(part: str, longest: int | None = None) -> list[ConstituencySentence]:
    found = constituency_sentences(PARTS[part], "ctb")
    return [tree for tree in found if longest is None or len(tree.words) <= longest]


def pairs(sentences: Sequence[ConstituencySentence]) -> list[Any]:
    return list(map(CONSTITUENCY.given, sentences))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    def without_relations(sentences: Sequence[ConstituencySentence]) -> list[Any]:
        # They come from function tags, which are not written.
        return [replace(each, relations=()) for each in sentences]

    written = trees("test")
    CONSTITUENCY.write(tmp_path / "test.bracket", written)
    read = CONSTITUENCY.read(tmp_path / "test.bracket")
    assert without_relations(read) == without_relations(written)


def test_heads_are_those_of_the_rules_of_the_treebank(tmp_path: Path) -> None:
    path = tmp_path / "english.mrg"
    path.write_text("( (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))\n", "utf-8")
    assert CONSTITUENCY.read(path) == list(constituency_sentences(path, "ptb"))


@pytest.mark.slow
def test_a_run_scores_and_times_every_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [f"--{part}={path}" for part, path in PARTS.items()]
    status = main(
        CONSTITUENCY,
        [*files, "--quick", f"--longest={LONGEST}", f"--output={tmp_path}", "--name=embedded"],
    )
    data: dict[str, Any] = json.loads((tmp_path / "constituency-embedded.json").read_text("utf-8"))
    results = {result["name"]: result for result in data["results"]}
    assert status == 0
    assert list(results) == ["ours", "ours-4", "ours-greedy", "nltk"]
    assert {result["error"] for result in results.values()} == {None}

    # The figures are those of the same training without the harness, which takes so many sentences.
    parser = ConstituencyParser(epochs=2)
    train, dev, test = trees("train"), trees("dev")[:100], trees("test")[:100]
    dev, test = ([tree for tree in part if len(tree.words) <= LONGEST] for part in (dev, test))
    parser.fit(train, dev)
    assert results["ours"]["scores"] == parser.evaluate(test).as_dict()
    assert results["ours"]["scores"]["brackets_f"] > 0.8
    markdown = capsys.readouterr().out
    if Nltk.version() is None:
        assert "not installed: pip install" in markdown
    else:
        assert results["nltk"]["scores"]["brackets_f"] > 0.7
    assert f"sentences of up to {LONGEST} words only" in markdown


@pytest.mark.skipif(Nltk.version() is None, reason="NLTK is not installed")
def test_a_grammar_of_the_treebank_parses(tmp_path: Path) -> None:
    test = trees("test", LONGEST)
    with Worker(Nltk, None, tmp_path) as worker:
        worker.train({"horizontal": 1}, PARTS["train"], PARTS["dev"], tmp_path / "model")
        worker.load(tmp_path / "model")
        predicted = worker.predict(pairs(test), batch=False)
        # A tag that the grammar has not.
        ((flat,),) = [worker.predict([(("a", "b"), ("?", "NN"))], batch=False)]
    assert score_brackets(test, predicted).as_dict()["brackets_f"] > 0.7
    assert not any("~" in each.label for tree in predicted for each in tree.constituents)
    assert [(each.label, each.begin, each.end) for each in flat.constituents] == [("S", 0, 2)]


def test_sentences_that_are_too_long_for_all_are_an_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = [f"--{part}={path}" for part, path in PARTS.items()]
    assert main(CONSTITUENCY, [*files, "--quick", "--longest=1"]) == 2
    assert "no sentence has 1 words or fewer" in capsys.readouterr().err
