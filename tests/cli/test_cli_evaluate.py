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
from sighan_release import write_archive, write_release
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_structreg.about import __version__
from spacy_structreg.cli.options import load_pipeline
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.metrics.segmentation import score_segmentation
from spacy_structreg.metrics.significance import randomization_test

Invoke = Callable[..., Result]
Fails = Callable[..., str]

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


def report(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def figures(path: Path) -> dict[str, float | None]:
    return {key: report(path)[key] for key in FIGURES}


def test_report(tmp_path: Path, characters: str, invoke: Invoke, gold: Path, train: Path) -> None:
    output = tmp_path / "metrics" / "segment.json"
    result = invoke("evaluate", characters, gold, "--train", train, "--output", output)
    assert (result.exit_code, result.stderr) == (0, "")
    assert report(output) == {
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
    assert table(result.stdout) == {
        "seg_p": "33.33",
        "seg_r": "50.00",
        "seg_f": "40.00",
        "oov_rate": "50.00",
        "oov_r": "50.00",
        "iv_r": "50.00",
    }


def test_without_a_vocabulary(tmp_path: Path, characters: str, invoke: Invoke, gold: Path) -> None:
    output = tmp_path / "x.json"
    result = invoke("evaluate", characters, gold, "-o", output)
    assert figures(output) == NO_VOCABULARY
    assert report(output)["train"] is None
    assert "oov" not in report(output)["counts"]["segmentation"]
    assert table(result.stdout)["oov_rate"] == "-"


CONLLU = "".join(
    "".join(f"{i}\t{word}" + "\t_" * 8 + "\n" for i, word in enumerate(words, start=1)) + "\n"
    for words in GOLD
)
AS_TEXT = {
    "brackets": "((IP (PN 我) (VV 去) (NN 公园) (-NONE- *)))\n((IP (VA 好了)))",
    "conllu": CONLLU,
    "pfr": "19980128-01-001-001/m 我/r 去/v 公园/n\n19980129-01-001-001/m 好了/l",
    "tagged": "我_PN 去_VV 公园_NN\n好了_VA",
}


def test_figures_are_explained(characters: str, invoke: Invoke, gold: Path) -> None:
    printed = invoke("evaluate", characters, gold, "--explain").stdout
    assert re.search(r"^seg_f +40\.00 +F of words, as of the SIGHAN bakeoffs *$", printed, re.M)
    assert re.search(r"^oov_r +- +recall of words that are not in", printed, re.M)


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("format", [*AS_TEXT, "spacy"])
def test_formats(tmp_path: Path, characters: str, invoke: Invoke, format: str, named: bool) -> None:
    gold, output = tmp_path / "gold.spacy", tmp_path / "x.json"
    if format in AS_TEXT:
        gold = tmp_path / "gold.txt"
        gold.write_text(AS_TEXT[format], "utf-8")
    else:
        # The spaces of the Docs give the words away, so that they may not reach the pipeline.
        vocab = Vocab()
        docs = [Doc(vocab, words=words, spaces=[True] * len(words)) for words in GOLD]
        DocBin(docs=docs).to_disk(gold)
    options = ["--format", format] if named else []
    assert invoke("evaluate", characters, gold, "-o", output, *options).exit_code == 0
    assert figures(output) == NO_VOCABULARY
    assert report(output)["format"] == format


def test_days_and_compounds(tmp_path: Path, characters: str, invoke: Invoke) -> None:
    corpus, output = tmp_path / "199801.txt", tmp_path / "x.json"
    corpus.write_text(
        "19980101-01-001-001/m 我/r 在/p [公/n 园/n]ns\n"
        "19980129-01-001-001/m 我/r 去/v [公/n 园/n]ns\n",
        "utf-8",
    )
    options = ["--days", "28-31", "--compounds", "merged", "--train", corpus, "-o", output]
    assert invoke("evaluate", characters, corpus, *options).exit_code == 0
    # 我 去 公园 of that day, and all days as training corpus: no word is unknown.
    assert report(output)["counts"]["segmentation"]["gold"] == 3
    assert report(output)["oov_rate"] == 0.0
    assert report(output)["days"] == [28, 29, 30, 31]
    assert invoke("evaluate", characters, corpus, *options[2:]).exit_code == 0
    assert report(output)["counts"]["segmentation"]["gold"] == 6


@pytest.mark.parametrize("encoded", [False, True])
@pytest.mark.parametrize("archived", [False, True])
def test_a_release(
    tmp_path: Path, characters: str, invoke: Invoke, encoded: bool, archived: bool
) -> None:
    release = write_archive(tmp_path / "x.zip") if archived else write_release(tmp_path)
    output = tmp_path / "x.json"
    options = ["--part", "pku/test", "--train", release, "-o", output]
    options += ["--encoding", "gb18030"] if encoded else []
    assert invoke("evaluate", characters, release, *options).exit_code == 0
    # 桥 上 的 风 很 冷 。 and 他们 回 家 了 。 against single characters: all but 他们 are found.
    # Not in the word list are 上, 回, 家 and 了.
    assert report(output)["counts"] == {
        "sentences": 2,
        "segmentation": {"gold": 12, "predicted": 13, "correct": 11, "oov": 4, "oov_correct": 4},
    }
    assert report(output)["part"] == "pku/test"


def test_the_format_of_the_training_corpus(
    tmp_path: Path, characters: str, invoke: Invoke, gold: Path
) -> None:
    # A list of words does not look segmented.
    train, output = tmp_path / "words.txt", tmp_path / "x.json"
    train.write_text("我\n在\n公园\n", "utf-8")
    options = ["--train", train, "--train-format", "segmented", "-o", output]
    assert invoke("evaluate", characters, gold, *options).exit_code == 0
    assert figures(output) == FIGURES


def test_encoding_is_of_both_corpora(
    tmp_path: Path, characters: str, invoke: Invoke, gold: Path, train: Path
) -> None:
    for path in (gold, train):
        path.write_bytes(path.read_text("utf-8").encode("gb18030"))
    output = tmp_path / "x.json"
    options = ("--train", train, "--encoding", "gb18030", "-o", output)
    assert invoke("evaluate", characters, gold, *options).exit_code == 0
    assert figures(output) == FIGURES


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
    tmp_path: Path, pipeline: str, characters: str, invoke: Invoke, sentences: list[list[str]]
) -> None:
    """The difference of two pipelines, and its p by the counts of each sentence."""
    gold, output = tmp_path / "gold.txt", tmp_path / "x.json"
    gold.write_text("".join(" ".join(words) + "\n" for words in sentences), "utf-8")
    result = invoke("evaluate", pipeline, gold, "--compare", characters, "-o", output)
    assert (result.exit_code, result.stderr) == (0, "")
    model = spacy.load(pipeline).tokenizer.model
    ours = [score_segmentation([words], [model.predict("".join(words))]) for words in sentences]
    theirs = [score_segmentation([words], [list("".join(words))]) for words in sentences]
    whole = score_segmentation(sentences, [list("".join(words)) for words in sentences])
    found = report(output)["compare"]
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
    assert re.search(rf"^seg_f +{row} +\+\d+\.\d\d +0\.0625 *$", result.stdout, re.MULTILINE)
    same = invoke("evaluate", pipeline, gold, "--compare", pipeline, "-o", output)
    assert same.exit_code == 0
    assert report(output)["compare"]["figures"]["seg_f"]["p"] == 1.0


# ---- what is refused ----


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("老师和学生昨天一起去了河边的公园。\n" * 20, [], "gold.txt:1: the format cannot be told"),
        ("", [], "gold.txt:1: no text"),
        ("", ["--format", "segmented"], "gold.txt:1: no sentence"),
        ("好 了\n", ["--days", "1"], "gold.txt: --days is for the format pfr"),
        ("好 了\n", ["--train", "raw.txt"], "raw.txt:1: the format cannot be told"),
        ("\xa0 \u2028\n", ["--format", "segmented"], "the gold corpus has no words to score"),
        ("好 了\n", ["--format", "brackets"], "gold.txt:1: '好' stands outside"),
        ("好 了\n", ["--format", "spacy"], "gold.txt: not a corpus in spaCy's binary format"),
        ("好 了\n", ["--train", "missing.txt"], "missing.txt: No such file or directory"),
        ("好 了\n", ["--encoding", "utf-16"], "'utf-16' is not an encoding"),
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
