"""`structreg evaluate`: figures worked by hand, and the report."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
from click.testing import Result
from scoring import score
from sighan_release import write_archive
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_structreg.about import __version__
from spacy_structreg.cli.options import load_pipeline
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.metrics.segmentation import score_segmentation
from spacy_structreg.metrics.significance import randomization_test

Invoke = Callable[..., Result]
Runs = Callable[..., str]
Fails = Callable[..., str]
ReportOf = Callable[..., dict[str, Any]]

# Every character a word: 我 去 公 园 and 好 了. Right are 我 and 去 out of 3 + 1 gold words.
GOLD = [["我", "去", "公园"], ["好了"]]
TRAIN = "我 在 公园\n"
FIGURES: dict[str, float | None] = {
    "seg_p": 2 / 6,
    "seg_r": 2 / 4,
    "seg_f": 2 * 2 / (6 + 4),
    # 去 and 好了 are not in the training text; 去 is right. Of 我 and 公园, 我 is right.
    "oov_rate": 2 / 4,
    "oov_r": 1 / 2,
    "iv_r": 1 / 2,
}
NO_VOCABULARY = {**FIGURES, "oov_rate": None, "oov_r": None, "iv_r": None}


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.txt"
    path.write_text("".join(" ".join(words) + "\n" for words in GOLD), "utf-8")
    return path


@pytest.fixture
def train(tmp_path: Path) -> Path:
    path = tmp_path / "train.txt"
    path.write_text(TRAIN, "utf-8")
    return path


def table(text: str) -> dict[str, str]:
    """The rows of a printed table: key and figure."""
    return dict(re.findall(r"^(\w+) +(\S+) *$", text, re.MULTILINE))


def test_report(tmp_path: Path, characters: str, runs: Runs, gold: Path, train: Path) -> None:
    output = tmp_path / "metrics" / "segment.json"
    printed = runs("evaluate", characters, gold, "--train", train, "--output", output)
    assert json.loads(output.read_text("utf-8")) == {
        **FIGURES,
        "counts": {
            "sentences": 2,
            "segmentation": {"gold": 4, "predicted": 6, "correct": 2, "oov": 2, "oov_correct": 1},
        },
        "pipeline": {"lang": "zh", "name": "pipeline", "version": "0.0.0"},
        "gold": "gold.txt",
        "given": "text",
        "conventions": "collins",
        "punctuation": None,
        "format": "segmented",
        "head_rules": None,
        "unscored": [],
        "left_out": [],
        "part": None,
        "days": None,
        "train": "train.txt",
        "spacy_structreg": __version__,
    }
    assert table(printed) == {
        "seg_p": "33.33",
        "seg_r": "50.00",
        "seg_f": "40.00",
        "oov_rate": "50.00",
        "oov_r": "50.00",
        "iv_r": "50.00",
    }


def test_spaces_do_not_give_words_away(
    tmp_path: Path, characters: str, report_of: ReportOf, gold: Path, train: Path
) -> None:
    """Of Docs, and of all training corpora, also a list of words in another encoding."""
    docs = [Doc(Vocab(), words=words, spaces=[True] * len(words)) for words in GOLD]
    DocBin(docs=docs).to_disk(tmp_path / "gold.spacy")
    report = report_of(characters, tmp_path / "gold.spacy")
    assert {key: report[key] for key in FIGURES} == NO_VOCABULARY
    assert (report["format"], report["train"]) == ("spacy", None)
    assert "oov" not in report["counts"]["segmentation"]
    for path, text in ((gold, gold.read_text("utf-8")), (train, TRAIN.replace(" ", "\n"))):
        path.write_bytes(text.encode("gb18030"))
    options = ("--train", train, "--train-format", "segmented", "--encoding", "gb18030")
    report = report_of(characters, gold, *options)
    assert {key: report[key] for key in FIGURES} == FIGURES


def test_days_and_compounds(tmp_path: Path, characters: str, report_of: ReportOf) -> None:
    corpus = tmp_path / "199801.txt"
    corpus.write_text(
        "19980101-01-001-001/m 我/r 在/p [公/n 园/n]ns\n"
        "19980129-01-001-001/m 我/r 去/v [公/n 园/n]ns\n",
        "utf-8",
    )
    options = ("--compounds", "merged", "--train", corpus)
    report = report_of(characters, corpus, "--days", "28-31", *options)
    # 我 去 公园 of that day, and all days as training corpus: no word is unknown.
    assert report["counts"]["segmentation"]["gold"] == 3
    assert report["oov_rate"] == 0.0
    assert report["days"] == [28, 29, 30, 31]
    assert report_of(characters, corpus, *options)["counts"]["segmentation"]["gold"] == 6


def test_a_release(tmp_path: Path, characters: str, report_of: ReportOf) -> None:
    release = write_archive(tmp_path / "x.zip")
    report = report_of(characters, release, "--part", "pku/test", "--train", release)
    # 桥 上 的 风 很 冷 。 and 他们 回 家 了 。 against single characters: all but 他们 are found.
    # Not in the word list are 上, 回, 家 and 了.
    assert report["counts"] == {
        "sentences": 2,
        "segmentation": {"gold": 12, "predicted": 13, "correct": 11, "oov": 4, "oov_correct": 4},
    }
    assert report["part"] == "pku/test"


def test_figures_are_explained(characters: str, runs: Runs, gold: Path) -> None:
    printed = runs("evaluate", characters, gold, "--explain")
    assert re.search(r"^seg_f +40\.00 +F of words, as of the SIGHAN bakeoffs *$", printed, re.M)
    assert re.search(r"^oov_r +- +recall of words that are not in", printed, re.M)


@pytest.mark.parametrize("threads", [1, 3])
def test_figures_are_those_of_the_estimator(
    pipeline: str, sentences: list[list[str]], threads: int
) -> None:
    # The first two words of every other sentence are one, which the model cannot know.
    gold = [["".join(words[: 1 + i % 2]), *words[1 + i % 2 :]] for i, words in enumerate(sentences)]
    vocabulary = {word for words in sentences[:3] for word in words}
    nlp = load_pipeline(pipeline)
    found = score(nlp, map(Sentence, gold), vocabulary=vocabulary, n_threads=threads)
    expected = spacy.load(pipeline).tokenizer.model.evaluate(gold, vocabulary=vocabulary)
    assert found.figures == expected.as_dict()
    assert found.counts["segmentation"]["correct"] == expected.correct < expected.gold


def test_white_space_in_words(pipeline: str, characters: str) -> None:
    gold = [Sentence(("老\xa0师", "\u2028", "好"))]
    for name in (pipeline, characters):
        assert score(load_pipeline(name), gold).counts["segmentation"]["gold"] == 2


def test_comparison(
    *,
    tmp_path: Path,
    pipeline: str,
    characters: str,
    runs: Runs,
    report_of: ReportOf,
    sentences: list[list[str]],
) -> None:
    """The difference of two pipelines, and its p by the counts of each sentence."""
    gold, output = tmp_path / "gold.txt", tmp_path / "x.json"
    gold.write_text("".join(" ".join(words) + "\n" for words in sentences), "utf-8")
    printed = runs("evaluate", pipeline, gold, "--compare", characters, "-o", output)
    model = spacy.load(pipeline).tokenizer.model
    ours = [score_segmentation([words], [model.predict("".join(words))]) for words in sentences]
    theirs = [score_segmentation([words], [list("".join(words))]) for words in sentences]
    whole = score_segmentation(sentences, [list("".join(words)) for words in sentences])
    found = json.loads(output.read_text("utf-8"))["compare"]
    assert found["pipeline"]["name"] == "pipeline"
    assert found["figures"] == {
        "seg_f": {
            "ours": 1.0,
            "theirs": whole.seg_f,
            "difference": 1.0 - (whole.seg_f or 0),
            # Of five sentences, all of which ours gets right: 2 of 32 exchanges.
            "p": 2 / 32,
        }
    }
    assert randomization_test(ours, theirs) == 2 / 32
    row = f"100.00 +{100 * (whole.seg_f or 0):.2f}"
    assert re.search(rf"^seg_f +{row} +\+\d+\.\d\d +0\.0625 *$", printed, re.MULTILINE)
    same = report_of(pipeline, gold, "--compare", pipeline)
    assert same["compare"]["figures"]["seg_f"]["p"] == 1.0


# ---- what is refused ----


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("", [], "gold.txt:1: no text"),
        ("好 了\n", ["--days", "1"], "gold.txt: --days is for the format pfr"),
        ("好 了\n", ["--train", "raw.txt"], "raw.txt:1: the format cannot be told"),
        ("\xa0 \u2028\n", ["--format", "segmented"], "the gold corpus has no words to score"),
    ],
)
def test_faulty_input_leaves_the_old_report(
    *,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    characters: str,
    fails: Fails,
    content: str,
    options: list[str],
    message: str,
) -> None:
    gold, output = tmp_path / "gold.txt", tmp_path / "x.json"
    gold.write_text(content, "utf-8")
    (tmp_path / "raw.txt").write_text("老师来了\n", "utf-8")
    output.write_text("old")
    monkeypatch.chdir(tmp_path)
    assert message in fails("evaluate", characters, gold, "-o", output, *options)
    assert output.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"gold.txt", "raw.txt", "x.json"}
