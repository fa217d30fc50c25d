"""The project `quickstart`: its treebank, the script that checks it, and the workflow `all`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from docs.pages import README, blocks, run_python
from spacy.tokens.underscore import Underscore
from thinc.api import Config
from warm_python import executable

from spacy_structreg.cli.init_config import init_config
from spacy_structreg.corpora.constituents import constituency_sentences

PROJECT = Path(__file__).parents[2] / "projects" / "quickstart"
TREEBANK = PROJECT / "assets" / "treebank"
PARTS = ("train", "dev", "test")
QUICKSTART = "projects/quickstart"
MADE = ("corpus", "training", "metrics", "project.lock")
FIGURES = ("seg_p", "seg_r", "seg_f", "oov_rate", "oov_r", "iv_r")

GOOD = """\
( (IP (NP-SBJ (PN 我们))
      (VP (ADVP (AD 明天))
          (VP (VV 去)
              (NP-PN-OBJ (NR 杭州))))
      (PU 。)))
"""
RELATIVE = (
    "( (NP (CP (WHNP-1 (-NONE- *OP*)) (CP (IP (NP-SBJ (-NONE- *T*-1)) (VP (VV 说话))) (DEC 的))) "
    "(NP (NN 人))))\n"
)


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run this interpreter in a folder; UTF-8 in and out, whatever the machine's settings."""
    return subprocess.run(
        [executable(), *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )


def check(*files: Path) -> subprocess.CompletedProcess[str]:
    return run(str(PROJECT / "scripts" / "check_treebank.py"), *map(str, files), folder=PROJECT)


def leaves(part: str) -> list[list[tuple[str, str]]]:
    """(word, tag) of each leaf of each tree, read without the package: trees part at empty lines.

    Empty categories are left out.
    """
    blocks = (TREEBANK / f"{part}.bracket").read_text(encoding="utf-8").split("\n\n")
    return [
        [
            (word, tag)
            for tag, word in re.findall(r"\(([^() \n]+) ([^() \n]+)\)", block)
            if tag != "-NONE-"
        ]
        for block in blocks
    ]


def spans(words: list[str]) -> set[tuple[int, int]]:
    ends = [sum(map(len, words[: i + 1])) for i in range(len(words))]
    return {(end - len(word), end) for word, end in zip(words, ends, strict=True)}


@pytest.fixture(scope="module")
def corpus() -> dict[str, list[list[tuple[str, str]]]]:
    return {part: leaves(part) for part in PARTS}


def test_the_check_passes_on_the_treebank_and_counts_it(corpus):
    result = check(*(TREEBANK / f"{part}.bracket" for part in PARTS))
    assert result.returncode == 0, result.stderr
    rows = {row.split()[0]: row.split()[1:] for row in result.stdout.splitlines()[1:]}
    for part, sentences in corpus.items():
        words = [word for sentence in sentences for word, _ in sentence]
        tags = {tag for sentence in sentences for _, tag in sentence}
        assert [int(count) for count in rows[f"{part}.bracket"]] == [
            len(sentences),
            len(words),
            len("".join(words)),
            len(set(words)),
            len(tags),
        ]


def test_the_treebank_is_as_large_as_its_readme_says(corpus):
    text = (TREEBANK / "README.md").read_text(encoding="utf-8")
    for part, sentences in corpus.items():
        words = [word for sentence in sentences for word, _ in sentence]
        counts = (len(sentences), len(words), len("".join(words)), len(set(words)))
        row = " | ".join(f"{count:,}" for count in counts)
        assert f"| `{part}.bracket` | {row} |" in text


def test_no_sentence_is_there_twice(corpus):
    texts = ["".join(word for word, _ in s) for part in PARTS for s in corpus[part]]
    assert len(texts) >= 400
    assert len(set(texts)) == len(texts)


def test_the_parts_are_in_proportion_and_alike(corpus):
    total = sum(map(len, corpus.values()))
    assert 0.78 < len(corpus["train"]) / total < 0.82
    lengths = {part: sum(map(len, s)) / len(s) for part, s in corpus.items()}
    assert max(lengths.values()) - min(lengths.values()) < 2
    # Tags that a tagger meets in the test set and has never seen are few.
    seen = {tag for sentence in corpus["train"] for _, tag in sentence}
    unseen = [tag for s in corpus["test"] for _, tag in s if tag not in seen]
    assert len(unseen) <= 1


def broken(old: str, new: str, text: str = GOOD) -> str:
    assert old in text
    return text.replace(old, new, 1)


FAULTS = {
    "a bracket is missing": (GOOD.rstrip()[:-1] + "\n", 1, "closing brackets are missing"),
    "a bracket too many": (GOOD.rstrip() + ")\n", 5, "a closing bracket too many"),
    "an empty leaf": (broken("(PN 我们)", "(PN )"), 1, "has only one part"),
    "a tag of another scheme": (broken("(PN 我们)", "(PRP 我们)"), 1, "'PRP'"),
    "a tag in lower case": (broken("(AD 明天)", "(ad 明天)"), 1, "'ad'"),
    "another phrase label": (broken("(ADVP ", "(AVP "), 1, "'AVP'"),
    "another functional tag": (broken("NP-SBJ", "NP-SUBJ"), 1, "'SUBJ'"),
    "another empty category": (broken("(PN 我们)", "(-NONE- *X*)"), 1, "'*X*'"),
    "a word tagged as punctuation": (broken("(AD 明天)", "(PU 明天)"), 1, "PU goes with"),
    "punctuation tagged as a word": (broken("(PU 。)", "(SP 。)"), 1, "PU goes with"),
    "no root": (broken("( (IP", "(IP").rstrip()[:-1] + "\n", 1, "brackets without a label"),
    "a question without Q": (broken("。", "？"), 1, "-Q"),
    "no subject": (broken("(NP-SBJ (PN 我们))", ""), 1, "one subject"),
    "a name without PN": (broken("NP-PN-OBJ", "NP-OBJ"), 1, "expected NP-PN"),
    "nested adjuncts": (
        "( (IP (NP-SBJ (PN 我们)) (VP (ADVP (AD 明天)) (VP (ADVP (AD 也)) (VP (VV 去))))))\n",
        1,
        "sisters",
    ),
    "a date that is no NT": (broken("(AD 明天)", "(AD 3月)"), 1, "expected NT"),
    "a number that is no CD": (broken("(NR 杭州)", "(NR 三百)"), 1, "expected CD"),
    "a trace without antecedent": (broken("WHNP-1", "WHNP", RELATIVE), 1, "on a trace only"),
    "an antecedent without trace": (broken("*T*-1", "*pro*", RELATIVE), 1, "on an antecedent only"),
    "a relative clause without operator": (
        "( (NP (CP (IP (NP-SBJ (-NONE- *pro*)) (VP (VV 说话))) (DEC 的)) (NP (NN 人))))\n",
        1,
        "CP-APP",
    ),
    "DEG after a clause": (broken("(DEC 的)", "(DEG 的)", RELATIVE), 1, "expected DNP"),
    "a short resultative in two": (
        broken("(VV 去)", "(VRD (VV 打) (VV 开))"),
        1,
        "a resultative of two characters is one VV",
    ),
    "a sentence twice": (GOOD + "\n" + GOOD, 7, "again"),
    "one word, two tags": (GOOD + "\n" + broken("(AD 明天)", "(AD 杭州)"), 1, "elsewhere"),
    "one word, and two": (
        GOOD + "\n" + broken("(NR 杭州)", "(NR 杭) (NR 州)"),
        7,
        "is one word elsewhere",
    ),
}


def test_the_check_accepts_what_the_faults_are_made_from(tmp_path):
    file = tmp_path / "good.bracket"
    file.write_text(GOOD + "\n" + RELATIVE, encoding="utf-8")
    result = check(file)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("fault", FAULTS)
def test_the_check_finds(fault, tmp_path):
    text, line, message = FAULTS[fault]
    file = tmp_path / "broken.bracket"
    file.write_text(text, encoding="utf-8")
    result = check(file)
    assert result.returncode == 1
    assert result.stdout == ""
    assert any(
        found.startswith(f"{file}:{line}: ") and message in found
        for found in result.stderr.splitlines()
    ), result.stderr


def test_the_check_finds_a_sentence_in_two_parts(tmp_path):
    files = [tmp_path / "train.bracket", tmp_path / "test.bracket"]
    for file in files:
        file.write_text(GOOD, encoding="utf-8")
    result = check(*files)
    assert result.returncode == 1
    assert result.stderr.startswith(f"{files[1]}:1: the sentence of {files[0]}:1 again")


def test_the_check_names_a_file_that_is_missing(tmp_path):
    result = check(tmp_path / "none.bracket")
    assert result.returncode == 1
    assert "none.bracket" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_config_is_what_init_config_gives():
    given = Config().from_str(
        init_config(train=TREEBANK / "train.bracket", tags=False), interpolate=False
    )
    given["paths"]["train"] = None
    kept = Config().from_disk(PROJECT / "configs" / "segment.cfg", interpolate=False)
    given["nlp"]["tokenizer"]["model"]["lexicon"] = ["corpus/words.txt"]
    assert kept == given, "make the config anew: see the README of the project"


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[Path, str]:
    """A copy of the project after `spacy project run all`, and what that printed."""
    folder = tmp_path_factory.mktemp("projects") / "quickstart"
    shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns(*MADE, "__pycache__"))
    result = run("-m", "spacy", "project", "run", "all", folder=folder)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder, result.stdout


@pytest.fixture(scope="module")
def segment(finished) -> Callable[[str], list[str]]:
    folder, _ = finished
    nlp = spacy.load(folder / "training" / "segment" / "model-best")
    return lambda text: [token.text for token in nlp(text)]


@pytest.mark.slow
def test_all_writes_to_its_own_folders_only(finished):
    folder, _ = finished
    new = {
        path.relative_to(folder).parts[0]
        for path in folder.rglob("*")
        if path.is_file() and not (PROJECT / path.relative_to(folder)).exists()
    }
    new |= {name for name in MADE if (folder / name).exists()}
    assert new == set(MADE)


@pytest.mark.slow
def test_all_makes_a_pipeline_that_keeps_the_text(segment):
    text = "张晓梅2024年3月在杭州买了一台X200相机，花了4580元。\n  “好吗？”\n"
    assert "".join(segment(text)).split() == text.split()
    words = segment("我们明天去图书馆。")
    assert "".join(words) == "我们明天去图书馆。"
    assert words[-1] == "。"
    assert "我们" in words


@pytest.mark.slow
def test_all_writes_figures_that_hold(finished, segment, corpus):
    folder, _ = finished
    metrics = json.loads((folder / "metrics" / "segment.json").read_text(encoding="utf-8"))
    assert all(0 < metrics[key] < 1 for key in FIGURES)

    known = {word for sentence in corpus["train"] for word, _ in sentence}
    gold = [[word for word, _ in sentence] for sentence in corpus["test"]]
    n_gold = sum(map(len, gold))
    assert metrics["oov_rate"] == pytest.approx(
        sum(word not in known for sentence in gold for word in sentence) / n_gold
    )

    def f_score(segmented: list[list[str]]) -> float:
        correct = sum(len(spans(g) & spans(s)) for g, s in zip(gold, segmented, strict=True))
        return 2 * correct / (n_gold + sum(map(len, segmented)))

    assert metrics["seg_f"] == pytest.approx(f_score([segment("".join(g)) for g in gold]))
    characters = f_score([list("".join(sentence)) for sentence in gold])
    assert characters + 0.2 < metrics["seg_f"]
    assert 0.75 < metrics["seg_f"] < 0.95


@pytest.mark.slow
def test_all_trains_a_parser_of_constituents(finished):
    folder, _ = finished
    nlp = spacy.load(folder / "training" / "constituents" / "model-best")
    n_gold = n_found = n_right = n_headed = 0
    for tree in constituency_sentences(folder / "assets" / "treebank" / "test.bracket", "ctb"):
        spaces = [False] * len(tree.words)
        doc = nlp(spacy.tokens.Doc(nlp.vocab, tree.words, spaces, tags=tree.tags))
        group = doc.spans["constituents"]
        heads = group.attrs["heads"]
        found = [(s.label_, s.start, s.end, head) for s, head in zip(group, heads, strict=True)]
        gold = [(each.label, each.begin, each.end, each.head) for each in tree.constituents]
        bare = [Counter(phrase[:3] for phrase in side) for side in (gold, found)]
        n_gold += len(gold)
        n_found += len(found)
        n_right += (bare[0] & bare[1]).total()
        n_headed += (Counter(gold) & Counter(found)).total()
    metrics = json.loads((folder / "metrics" / "constituents.json").read_text(encoding="utf-8"))
    assert metrics["given"] == "words,tags"
    assert metrics["brackets_p"] == pytest.approx(n_right / n_found)
    assert metrics["brackets_r"] == pytest.approx(n_right / n_gold)
    assert metrics["head_acc"] == pytest.approx(n_headed / n_right)
    assert 0.8 < metrics["brackets_f"] < 0.97


@pytest.mark.slow
def test_all_makes_what_the_tour_of_the_readme_shows(finished, tmp_path, monkeypatch):
    folder, _ = finished
    (tmp_path / QUICKSTART).parent.mkdir()
    (tmp_path / QUICKSTART).symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    tour = [block for block in blocks(README) if block.language == "python"]
    assert any(QUICKSTART in block.text for block in tour)
    before = Underscore.get_state()
    names = {}
    for block in tour:
        run_python(block, names, "README.md")
    Underscore.load_state(before)


@pytest.mark.slow
def test_all_prints_the_example_segmented(finished):
    folder, printed = finished
    lines = (folder / "assets" / "example.txt").read_text(encoding="utf-8").splitlines()
    # The last command is this; it prints the text, and nothing after it.
    segmented = printed.rstrip("\n").splitlines()[-len(lines) :]
    assert [line.replace(" ", "") for line in segmented] == lines
    assert sum(line.count(" ") for line in segmented) > len(lines)


@pytest.mark.slow
def test_a_second_run_has_nothing_to_train(finished):
    folder, _ = finished
    model = folder / "training" / "segment" / "model-best" / "meta.json"
    before = model.stat().st_mtime_ns
    result = run("-m", "spacy", "project", "run", "segment", folder=folder)
    assert result.returncode == 0, result.stderr
    assert "Skipping 'train-segment'" in result.stdout
    assert model.stat().st_mtime_ns == before
