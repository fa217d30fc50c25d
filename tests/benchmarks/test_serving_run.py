"""The serving benchmark from its command line to its report, on pipelines of made-up sentences."""

from __future__ import annotations

import importlib.util
import json
import random
import shlex
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import spacy

from benchmarks.common.worker import resident_memory
from benchmarks.parsing.task import PARSING
from benchmarks.segmentation.task import SEGMENTATION
from benchmarks.serving.report import Result, ServingReport, quantile
from benchmarks.serving.run import batches_of, main, pipelines, units_of
from benchmarks.serving.systems import sizes_of
from benchmarks.serving.training import Cost
from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.sentence import Sentence

NOUNS = ("海鸥", "渔船", "灯塔", "码头", "老船长", "贝壳")
VERBS = ("飞过", "望着", "离开", "照亮")


def made_up(n_sentences: int, seed: int) -> list[Sentence]:
    """A subject, a verb, an object and a full stop."""
    choose = random.Random(seed).choice
    return [
        Sentence(
            (choose(NOUNS), choose(VERBS), choose(NOUNS), "。"),
            ("NN", "VV", "NN", "PU"),
            (1, ROOT, 1, 1),
            ("nsubj", "ROOT", "dobj", "punct"),
        )
        for _ in range(n_sentences)
    ]


@pytest.fixture(scope="module")
def corpus(made_once: Callable[..., Path]) -> Path:
    """Treebanks, a text, and two pipelines of them."""

    def fill(folder: Path) -> None:
        train = made_up(60, 0)
        PARSING.write(folder / "train.conllu", train)
        PARSING.write(folder / "dev.conllu", made_up(10, 1))
        PARSING.write(folder / "test.conllu", made_up(10, 2))
        SEGMENTATION.write(folder / "text.txt", [list(each.words) for each in made_up(80, 3)])
        (folder / "registers").mkdir()
        trees = map(tree, made_up(10, 4))
        (folder / "registers" / "harbour.bracket").write_text("".join(trees), "utf-8")
        for name in ("segmenter", "parser"):
            save_pipeline(folder / name, train, name)

    return made_once("serving", fill)


def tree(sentence: Sentence) -> str:
    """A made-up sentence in brackets."""
    subject, verb, thing, stop = sentence.words
    phrase = f"(VP (VV {verb}) (NP (NN {thing})))"
    return f"( (IP (NP (NN {subject})) {phrase} (PU {stop})) )\n"


def save_pipeline(folder: Path, train: list[Sentence], kind: str) -> None:
    """A pipeline of a segmenter alone, or of a joint tagger, a tagger and a parser."""
    names = "Segmenter", "CharacterSegmenter"
    if kind == "parser":
        names = "JointTagger", "CharacterJointTagger"
    model = {"@architectures": f"spacy_structreg.{names[1]}.v1", "seed": 1}
    tokenizer = {"@tokenizers": f"spacy_structreg.{names[0]}.v1", "model": model}
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    tagged = [list(zip(each.words, each.tags, strict=True)) for each in train]
    if kind == "parser":
        nlp.tokenizer.model.fit(tagged)
        for name, gold in (("tagger", tagged), ("parser", train)):
            config = {"model": {"seed": 1, "beam": 4}}
            nlp.add_pipe(f"structreg_{name}", name=name, config=config).estimator.fit(gold)
    else:
        nlp.tokenizer.model.fit([list(each.words) for each in train])
    nlp.to_disk(folder)


def arguments(corpus: Path, *further: str) -> list[str]:
    return [
        "--quick",
        f"--text={corpus / 'text.txt'}",
        f"--registers={corpus / 'registers'}",
        f"--trees={corpus / 'test.conllu'}",
        f"--train={corpus / 'train.conllu'}",
        f"--dev={corpus / 'dev.conllu'}",
        "--batch=20",
        "--name=harbour",
        *further,
    ]


@pytest.mark.slow
def test_a_run_measures_pipelines_and_peers(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The parser has been trained, and its costs were kept.
    models = tmp_path / "models"
    models.mkdir()
    (models / "ours-parser").touch()
    kept = asdict(Cost("ours-parser", "harbour", 1.5, 1 << 20, 2048))
    (models / "ours-parser.json").write_text(json.dumps(kept), "utf-8")
    code = 'import time; text = "a" * 10**8; time.sleep(0.5)'
    command = shlex.join([sys.executable, "-c", code])
    status = main(
        arguments(
            corpus,
            "--pipelines",
            f"parser={corpus / 'parser'}",
            "--systems=parser,jieba,cnn-jieba",
            f"--models={models}",
            f"--output={tmp_path}",
            "--parts=throughput,latency,threads,accuracy,training",
            "--training",
            f"a command={command}",
        )
    )
    assert "## Latency" in capsys.readouterr().out
    data = json.loads((tmp_path / "serving-harbour.json").read_text(encoding="utf-8"))
    results: dict[str, dict[str, Any]] = {result["name"]: result for result in data["results"]}
    assert {name: (r["error"], r["errors"]) for name, r in results.items()} == dict.fromkeys(
        ("parser", "jieba", "cnn-jieba"), (None, {})
    )
    assert status == 0
    words = {"boundaries", "lists", "list", "tagged_lists"}
    words |= {"bare_docs", "make_doc", "tokenizer_pipe"}
    trees = {"tagger_lists", "tagger_pipe", "parser", "parser_greedy", "parser_pipe", "raw"}
    assert set(results["parser"]["rates"]) == words | trees
    assert set(results["jieba"]["rates"]) == {"list", "lists", "tagged_lists"}
    assert set(results["cnn-jieba"]["rates"]) == {"bare_docs", "make_doc", "parser_pipe", "raw"}
    for result in results.values():
        assert all(len(r) == 2 and min(r) > 0 for r in result["rates"].values())
    parser = results["parser"]
    peer = results["cnn-jieba"]["rates"]
    assert parser["ratios"]["parser"] == [
        ours / theirs
        for ours, theirs in zip(parser["rates"]["parser"], peer["parser_pipe"], strict=True)
    ]
    assert parser["ratios"]["make_doc"] == [
        one / bare
        for one, bare in zip(parser["rates"]["make_doc"], parser["rates"]["bare_docs"], strict=True)
    ]
    assert parser["ratios"]["bare_docs"] == []

    # Six nouns and four verbs are learned from sixty sentences.
    assert parser["words_f"] == 1.0
    right = {"words": 1.0, "crossed": 0.0, "lowest": 1.0, "register": "harbour"}
    assert parser["fits"] == {
        "lists": {**right, "tagged": None},
        **{key: {**right, "tagged": 1.0} for key in ("raw", "tokenizer_pipe", "tagged_lists")},
    }
    assert set(results["jieba"]["fits"]) == {"lists", "tagged_lists"}
    assert 0 < results["jieba"]["fits"]["tagged_lists"]["tagged"] < 1
    assert parser["trees"]["las_f"] == parser["trees"]["dep_las"] == 1.0
    assert {"las_f", "dep_las"} <= set(results["cnn-jieba"]["trees"])
    assert set(parser["latency"]) == {"list", "make_doc", "raw"}
    for calls in parser["latency"].values():
        assert 0 < calls["p50 CPU s"] <= calls["p99 CPU s"] <= calls["max CPU s"]
    assert set(parser["threads"]) >= {"lists", "tokenizer_pipe", "parser"}
    assert parser["files"] == sizes_of(corpus / "parser")
    assert set(parser["files"]) >= {"tokenizer", "tagger", "parser", "vocab"}

    costs = {cost["title"]: cost for cost in data["trainings"]}
    assert costs["ours-parser"]["cpu_seconds"] == 1.5
    assert costs["a command"]["peak_memory"] > 10**8
    assert costs["spaCy's CNN tagger and parser"]["model_bytes"] > 0
    pictures = list(tmp_path.glob("*.svg"))
    assert len(pictures) == (importlib.util.find_spec("matplotlib") is not None)


@pytest.mark.slow
def test_what_users_get_is_scored_timed_and_loaded(corpus: Path, tmp_path: Path) -> None:
    status = main(
        [
            *("--quick", "--ready-made", f"--text={corpus / 'text.txt'}", "--batch=20"),
            *("--systems=words", f"--registers={corpus / 'registers'}"),
            *("--pipelines", f"words={corpus / 'segmenter'}", f"--output={tmp_path}"),
            *("--parts=throughput,accuracy,memory", "--processes=2"),
        ]
    )
    assert status == 0
    data = json.loads((tmp_path / "serving-ready_made.json").read_text("utf-8"))
    (words,) = data["results"]
    assert set(words["fits"]) == set(words["rates"]) == {"raw", "tokenizer_pipe", "lists"}
    assert {fit["words"] for fit in words["fits"].values()} == {1.0}
    assert {fit["tagged"] for fit in words["fits"].values()} == {None}
    memory = words["memory"]
    assert len(memory["loads"]) == 2
    if resident_memory() is not None:
        assert memory["imports"] < memory["one"] < memory["several"] < 2.5 * memory["one"]


def test_units_are_counted_round_the_text() -> None:
    batches = batches_of([["海鸥", "。"], ["渔船"], ["灯塔", "照亮", "码头"]], 2)
    assert list(map(len, batches)) == [2, 1]
    # The second batch, the first, the second again.
    assert units_of(batches, "lists", 1, 3) == 6 + 5 + 6
    assert units_of(batches, "tagger_lists", 1, 3) == 3 + 3 + 3
    assert units_of(batches, "parser", 3, 3) == 1 + 2 + 1


def test_quantiles_are_of_the_numbers_themselves() -> None:
    hundred = [float(number) for number in range(100, 0, -1)]
    assert [quantile(hundred, share) for share in (0.5, 0.99, 1.0)] == [50.0, 99.0, 100.0]
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert quantile([7.0], 0.99) == 7.0


def test_ratios_are_of_one_round_and_the_reference_of_the_kind() -> None:
    peer = Result("ltp", "Peer", "1.0", rates={"lists": [1e6, 4e6, 2e6]})
    rates = {
        "lists": [8e6, 8e6, 8e6],
        "bare_docs": [2e6] * 3,
        "make_doc": [1e6, 1.5e6, 1.9e6],
        "parser": [300.0] * 3,
    }
    ours = Result("ours", "Ours", "1.0", rates=rates)
    facts = {"CPU": "Test"}, {"name": "x"}, {"threads": 2}
    made = ServingReport("serving-x", *facts, [ours, peer])
    assert made.ratios(ours, "lists") == [8.0, 2.0, 4.0]
    assert made.ratios(ours, "make_doc") == [0.5, 0.75, 0.95]
    # Nobody to compare it with.
    for result, kind in ((peer, "lists"), (ours, "bare_docs"), (ours, "parser")):
        assert made.ratios(result, kind) == []
    markdown = made.as_markdown()
    assert "| 8,000 (8,000 to 8,000) | 4.00 (2.00 to 8.00) |" in markdown
    assert "| 300 (300 to 300) | – |" in markdown


def test_pipelines_are_folders_or_installed(corpus: Path) -> None:
    folder = corpus / "segmenter"
    assert pipelines([f"words={folder}"]) == {"words": folder}
    with pytest.raises(ValueError, match="no installed package; write NAME=FOLDER"):
        pipelines(["no_such_package"])
