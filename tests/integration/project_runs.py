"""Copies of projects, their workflows, and small corpora in the forms of theirs.

The corpora are slices of the treebank of the quickstart.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from sighan_release import SENTENCES, release_files, write_archive
from test_treebank import TREEBANK, leaves
from warm_python import executable

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.corpora.formats.brackets import constituency_sentences, read_brackets
from spacy_structreg.corpora.head_rules import HeadRuleName

PROJECTS = Path(__file__).parents[2] / "projects"
MADE = ("assets", "corpus", "metrics", "project.lock", "training")
# Of the project whose `all` ends with a package.
PACKAGES = "packages"
# Of so many sentences of each part of the treebank.
SIZES = {"train": 120, "dev": 30, "test": 30}
# Days of the month of the usual split of January 1998.
DAYS = {"train": range(1, 25), "dev": range(25, 28), "test": range(28, 32)}
VARIABLE = "STRUCTREG_DATA"

Tagged = list[list[tuple[str, str]]]
Words = list[list[str]]


def run(
    folder: Path, *arguments: str, data: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run this interpreter in a folder, with a folder of corpora or none."""
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    environment["PYTHONUTF8"] = "1"
    if data is not None:
        environment[VARIABLE] = str(data)
    return subprocess.run(
        [executable(), *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )


def run_project(folder: Path, workflow: str, *variables: str, data: Path | None) -> str:
    """Run a workflow that must succeed; returns what it printed."""
    arguments = ("-m", "spacy", "project", "run", workflow, ".", *variables)
    result = run(folder, *arguments, data=data)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def copy_of(name: str, folder: Path, *, epochs: int = 6) -> Path:
    """A copy of a project whose trainings are shorter and have narrower beams."""
    target = folder / name
    # The assets of the quickstart are its own.
    ignored = [made for made in (*MADE, PACKAGES) if (name, made) != ("quickstart", "assets")]
    shutil.copytree(PROJECTS / name, target, ignore=shutil.ignore_patterns(*ignored, "__pycache__"))
    # What projects share lies beside them.
    for shared in ("scripts", "studies"):
        shutil.copytree(PROJECTS / shared, folder / shared, dirs_exist_ok=True)
    project = target / "project.yml"
    text = project.read_text("utf-8").replace("../../treebank", TREEBANK.as_posix())
    # A training whose config is made on the way.
    ended = rf"\g<0> --training.max_epochs {epochs}"
    project.write_text(re.sub(r"--report \S+/tagged-epochs\.json", ended, text), "utf-8")
    for path in (target / "configs").glob("*.cfg"):
        text = path.read_text("utf-8").replace("beam = 16\n", "beam = 4\n")
        path.write_text(text.replace("max_epochs = 20\n", f"max_epochs = {epochs}\n"), "utf-8")
    return target


def copy_systems(folder: Path, *, epochs: int = 2) -> None:
    """Copies of the configs of the papers, for projects in a folder; trainings end sooner."""
    target = folder / "papers/systems"
    target.mkdir(parents=True)
    for path in (PROJECTS / "papers/systems").glob("*.cfg"):
        text = re.sub(r"max_epochs = \d+", f"max_epochs = {epochs}", path.read_text("utf-8"))
        (target / path.name).write_text(text, "utf-8")


def report_of(folder: Path, metrics: str) -> dict[str, Any]:
    return dict(json.loads((folder / "metrics" / metrics).read_text("utf-8")))


def words_of(sentences: Iterable[Iterable[tuple[str, str]]]) -> Words:
    return [[word for word, _ in sentence] for sentence in sentences]


def conllu_of(sentences: Tagged) -> str:
    """CoNLL-U without SpaceAfter, as the treebank of UD 1 is; each word hangs on the next."""
    blocks = []
    for sentence in sentences:
        rows = []
        for i, (word, tag) in enumerate(sentence, start=1):
            head, relation = (i + 1, "dep") if i < len(sentence) else (0, "root")
            rows.append(f"{i}\t{word}\t_\t_\t{tag}\t_\t{head}\t{relation}\t_\t_\n")
        blocks.append("".join(rows))
    return "\n".join(blocks) + "\n"


def pfr_of(corpus: dict[str, Tagged]) -> str:
    """Paragraphs, those of each part on its days in turn; the first two words are a compound."""
    lines = []
    for part, sentences in corpus.items():
        days = DAYS[part]
        for number, sentence in enumerate(sentences):
            tokens = [f"{word}/{tag}" for word, tag in sentence]
            if len(tokens) > 1:
                tokens[0] = "[" + tokens[0]
                tokens[1] += "]nt"
            day = days[number % len(days)]
            lines.append("  ".join([f"199801{day:02}-01-001-{number + 1:03}/m", *tokens]) + "\n")
    return "\n".join(lines)


def tagged_part(part: str) -> Tagged:
    """The tagged words of a part, read without the package."""
    return leaves(part)[: SIZES[part]]


def trees_of(part: str, rules: HeadRuleName) -> list[ConstituencySentence]:
    """The trees of a part, with heads by these rules."""
    found = constituency_sentences(TREEBANK / f"{part}/general.bracket", rules)
    return list(islice(found, SIZES[part]))


def sinica_of(tree: ConstituencySentence) -> str:
    """A line of the Sinica Treebank: a part that has the head word of its phrase is its head."""

    def role(above: Constituent, head: int) -> str:
        return "Head" if head == above.head else "x"

    # What is written for a phrase, and behind it: the first word of a phrase begins a part.
    opening: dict[int, str] = {}
    closing: dict[int, str] = {}
    for phrase, parent in zip(tree.constituents, tree.parents(), strict=True):
        above = None if parent is None else tree.constituents[parent]
        name = phrase.label if above is None else f"{role(above, phrase.head)}:{phrase.label}"
        opening[phrase.begin] = opening.get(phrase.begin, "") + f"{name}("
        closing[phrase.end - 1] = closing.get(phrase.end - 1, "") + ")"
    parts = []
    for place, (word, tag) in enumerate(zip(tree.words, tree.tags, strict=True)):
        around = [each for each in tree.constituents if each.begin <= place < each.end]
        part = f"{role(around[-1], place)}:{tag}:{word}"
        parts.append(opening.get(place, "") + part + closing.get(place, ""))
    return f"#1:1.[0] {'|'.join(parts)}#。(PERIODCATEGORY)\n"


def tagged_of(sentences: Tagged) -> str:
    return "".join(" ".join(f"{word}_{tag}" for word, tag in s) + "\n" for s in sentences)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode()
    path.write_bytes(lzma.compress(data) if path.suffix == ".xz" else data)


def write_corpora(folder: Path) -> None:
    """Corpora in the forms of those of the projects."""
    corpus = {part: tagged_part(part) for part in SIZES}
    train, dev, test = (words_of(corpus[part]) for part in SIZES)
    write(folder / "ud-chinese-gsd-simplified/train.conll.xz", conllu_of(corpus["train"]))
    for part in ("dev", "test"):
        write(folder / f"ud-chinese-gsd-simplified/{part}.conll", conllu_of(corpus[part]))
    write(folder / "pfr-199801/199801.txt.xz", pfr_of(corpus))
    for part in SIZES:
        write(folder / f"zhuxian/{part}.wordpos", tagged_of(corpus[part]))
        write(folder / f"ud-english-ewt/en_ewt-ud-{part}.conllu", conllu_of(corpus[part]))
    trees = [tree for part in SIZES for tree in trees_of(part, "ctb")]
    brackets = [tree for part in SIZES for tree in bracketed(part)]
    write(folder / "ptb-sample/combined.mrg", "".join(brackets))
    write(folder / "sinica-treebank/parsed.xz", "".join(map(sinica_of, trees)))
    both = train + dev
    write(folder / "sxu/train.txt.xz", "".join("  ".join(words) + "\n" for words in both))
    write(folder / "sxu/test.txt", "".join("  ".join(words) + "\n" for words in test))
    # The treebank is in simplified script, which two of the original encodings do not have.
    release = {**SENTENCES, "msr": (both, test), "pku": (both, test)}
    (folder / "sighan2005").mkdir()
    write_archive(folder / "sighan2005/icwb2-data.zip", release_files(release))


def bracketed(part: str) -> list[str]:
    trees = islice(read_brackets(TREEBANK / f"{part}/general.bracket"), SIZES[part])
    return [f"( {tree.without_root().to_bracket(2)})\n" for tree in trees]
