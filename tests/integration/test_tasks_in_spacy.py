"""Models of all tasks under spaCy's own commands: what they train, choose, score and keep."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.util import load_config

from spacy_structreg.pipeline.task import all_tasks

Command = Callable[..., "subprocess.CompletedProcess[str]"]
Trained = Callable[[str], tuple[Path, str]]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("extensions")]

OURS = ("-m", "spacy", "structreg")


@dataclass(frozen=True)
class Task:
    """A task: figures, the first of which chooses the best; options of trainings and evaluations.

    gold: those by which spaCy's `evaluate` and ours give words, where they must; None where they
    cannot.
    """

    figures: tuple[str, ...]
    config: tuple[object, ...] = ()
    training: tuple[object, ...] = ()
    gold: tuple[tuple[str, ...] | None, tuple[str, ...]] = ((), ())


WORDS = (("--gold-preproc",), ("--gold", "words"))
SOME = ("--corpora.train.limit", 150)
TASKS = {
    "joint": Task(("joint_f", "joint_p", "joint_r", "seg_f"), training=SOME),
    "joint-parse": Task(
        ("las_f", "uas_f", "tag_f", "seg_f"),
        training=(*SOME, "--nlp.tokenizer.model.beam", 2),
    ),
    "parse": Task(("dep_las", "dep_uas", "dep_complete_nopunct", "tag_acc"), gold=WORDS),
    "constituency": Task(
        ("brackets_f", "brackets_complete", "brackets_crossing", "head_acc", "tag_acc"),
        training=("--components.constituency.model.beam", 4),
        gold=(None, WORDS[1]),
    ),
    "label": Task(("ents_f", "ents_p", "ents_r"), ("--lang", "en")),
    "classify": Task(("cats_acc", "cats_macro_f"), ("--lang", "en")),
}

# Configs that are tried elsewhere.
OTHERS = {
    "segment": "test_train.py and test_interrupted_training.py train it",
    "tag": "the base of others here, and trained by test_interrupted_training.py",
    "chunk": "labels of chunks are learned as those of entities: test_cli_labels.py",
}

# Figures without a weight, which the meta.json of a pipeline does not keep.
NOT_KEPT = {"dep_complete_nopunct", "brackets_complete", "brackets_crossing", "head_acc"}

PEOPLE = ["Mira", "Jonas", "Ida", "Holt", "Abel", "Runa"]
PLACES = ["Veldau", "Ulmen", "Anselm", "Orre"]
# Of each template its category; P is a person of one or two names, L a place.
TEMPLATES = [
    ("P sails to L today .", "harbour"),
    ("the boats of P left L .", "harbour"),
    ("P and P bake bread .", "kitchen"),
    ("in L the soup is cold , P says .", "kitchen"),
    ("no train leaves L .", "station"),
]


def columns_and_texts(n: int, seed: int) -> tuple[str, str]:
    """Sentences as columns, and as texts with their categories."""
    choose = random.Random(seed)
    columns, texts = "", ""
    for _ in range(n):
        template, category = choose.choice(TEMPLATES)
        rows: list[tuple[str, str]] = []
        for part in template.split():
            if part == "P":
                names = choose.sample(PEOPLE, choose.choice([1, 2]))
                rows += zip(names, ["B-PER", "I-PER"], strict=False)
            elif part == "L":
                rows.append((choose.choice(PLACES), "B-LOC"))
            else:
                rows.append((part, "O"))
        columns += "".join(f"{word}\t{label}\n" for word, label in rows) + "\n"
        texts += " ".join(word for word, _ in rows) + f"\t{category}\n"
    return columns, texts


@pytest.fixture(scope="module")
def corpora(
    python: Command, tagged_treebank: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[Path, Path]]:
    """The training and the development corpus of a task."""
    folder = tmp_path_factory.mktemp("corpora")
    for seed, (part, n) in enumerate((("train", 120), ("dev", 40))):
        made = zip(("label", "classify"), columns_and_texts(n, seed), strict=True)
        for (task, text), names in zip(made, ("word,label", "text,category"), strict=True):
            source, target = folder / f"{task}-{part}.txt", folder / f"{task}-{part}.spacy"
            source.write_text(text, "utf-8")
            python(*OURS, "convert", source, target, "--columns", names)

    def of(task: str) -> tuple[Path, Path]:
        if task in ("label", "classify"):
            return folder / f"{task}-train.spacy", folder / f"{task}-dev.spacy"
        return tagged_treebank / "train.spacy", tagged_treebank / "dev.spacy"

    return of


@pytest.fixture(scope="module")
def trained(
    python: Command,
    corpora: Callable[[str], tuple[Path, Path]],
    tagged_treebank: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Trained:
    """What `spacy train` makes of the config of a task, and what it prints."""
    folder = tmp_path_factory.mktemp("trained")
    made: dict[str, tuple[Path, str]] = {}

    def train(name: str) -> tuple[Path, str]:
        if name not in made:
            task, config, output = TASKS[name], folder / f"{name}.cfg", folder / name
            parts = zip(("--train", "--dev"), corpora(name), strict=True)
            base = ("--base", tagged_treebank / "tag") if name in ("parse", "constituency") else ()
            options = [each for part in parts for each in part]
            python(*OURS, "init-config", config, "--task", name, *base, *task.config, *options)
            epochs = ("--training.max_epochs", 5 if name in ("label", "classify") else 3)
            command = ("-m", "spacy", "train", config, "--output", output)
            made[name] = output / "model-best", python(*command, *epochs, *task.training).stdout
        return made[name]

    return train


def figures_of(python: Command, output: Path, *command: object) -> dict[str, Any]:
    """The figures that a command writes about its pipeline."""
    python("-m", "spacy", *command, "--output", output)
    return dict(json.loads(output.read_text("utf-8")))


def test_every_config_is_here() -> None:
    assert {each.name for task in all_tasks() for each in task.templates} == TASKS.keys() | OTHERS
    assert not TASKS.keys() & OTHERS


@pytest.mark.parametrize("name", TASKS)
def test_the_best_is_kept_and_all_commands_give_its_figures(
    name: str, trained: Trained, corpora: Any, python: Command, tmp_path: Path
) -> None:
    """`spacy train`, `spacy evaluate` and `structreg evaluate` count the same."""
    task, (pipeline, log) = TASKS[name], trained(name)
    performance = json.loads((pipeline / "meta.json").read_text("utf-8"))["performance"]
    assert not any(key.endswith("loss") for key in performance)
    rows = [line.split() for line in log.splitlines()]
    heading = task.figures[0].upper()
    column = next(row for row in rows if heading in row).index(heading)
    # The column LOSS has the name of the pipe behind it, which makes one word more.
    found = [float(row[column - 1]) for row in rows if len(row) > column and row[0].isdigit()]
    assert performance[task.figures[0]] == pytest.approx(max(found) / 100, abs=1e-4)
    assert performance[task.figures[0]] > 0.05
    _, dev = corpora(name)
    seen = []
    for group, options in zip(((), ("structreg",)), task.gold, strict=True):
        if options is not None:
            command = (*group, "evaluate", pipeline, dev, *options)
            seen.append(figures_of(python, tmp_path / "figures.json", *command))
    for key in task.figures:
        assert seen[0][key] is not None, key
        assert all(figures[key] == pytest.approx(seen[0][key]) for figures in seen), key
        if key not in NOT_KEPT:
            assert seen[0][key] == pytest.approx(performance[key]), key
    assert not NOT_KEPT & performance.keys()
    # A figure of gold words, which spaCy would give on the words that were found alone.
    assert "tag_acc" in task.figures or all(each.get("tag_acc") is None for each in seen)


# All words are single characters, which the pipeline finds.
CHARACTERS = """
(IP (NP (PN 我)) (VP (VV 看) (NP (NN 书))) (PU 。))
(IP (NP (ADJP (JJ 小)) (NP (NN 店))) (VP (ADVP (AD 又)) (VP (VV 卖) (NP (NN 米)))) (PU 。))
(FRAG (NN 书) (NN 米))
"""


def test_constituents_of_text_count_as_those_of_words(
    trained: Trained, python: Command, tmp_path: Path
) -> None:
    pipeline, _ = trained("constituency")
    source, gold = tmp_path / "characters.bracket", tmp_path / "characters.spacy"
    source.write_text(CHARACTERS, "utf-8")
    python(*OURS, "convert", source, gold, "--head-rules", "ctb")
    command, output = ("evaluate", pipeline, gold), tmp_path / "figures.json"
    ours = figures_of(python, output, "structreg", *command, "--gold", "words")
    spacys = figures_of(python, output, *command)
    for key in TASKS["constituency"].figures:
        assert spacys[key] == pytest.approx(ours[key])
    assert 0 < ours["brackets_f"] < 1


@pytest.mark.parametrize("name", ["parse", "constituency"])
def test_behind_a_frozen_tagger(
    name: str, trained: Trained, tagged_treebank: Path, python: Command, tmp_path: Path
) -> None:
    pipeline, _ = trained(name)
    tagger = spacy.load(tagged_treebank / "tag").get_pipe("tagger")
    assert spacy.load(pipeline).get_pipe("tagger").to_bytes() == tagger.to_bytes()
    # Over-segmented text is not scored as if it were gold: the tokenizer finds characters.
    command = ("evaluate", pipeline, tagged_treebank / "dev.spacy")
    figures = figures_of(python, tmp_path / "text.json", *command)
    assert all(figures[key] is None for key in TASKS[name].figures[:1])
    if name == "parse":
        assert 0 < figures["las_f"] <= figures["uas_f"] < figures["tag_f"] < figures["token_f"]


def test_a_sourced_pipe_stays_what_it_was(
    trained: Trained, corpora: Any, python: Command, tmp_path: Path
) -> None:
    """Beside a classifier that is trained."""
    labeling, _ = trained("label")
    pipeline, _ = trained("classify")
    config = load_config(pipeline / "config.cfg")
    config["nlp"]["pipeline"] = ["sequence_labeler", "textcat"]
    config["components"]["sequence_labeler"] = {"source": str(labeling)}
    config["training"] |= {"frozen_components": ["sequence_labeler"], "max_epochs": 1}
    config.to_disk(tmp_path / "both.cfg")
    python("-m", "spacy", "train", tmp_path / "both.cfg", "--output", tmp_path / "both")
    before, after = (
        spacy.load(path).get_pipe("sequence_labeler").to_bytes()
        for path in (labeling, tmp_path / "both/model-last")
    )
    assert after == before


def test_lbfgs_needs_the_whole_corpus(trained: Trained, python: Command, tmp_path: Path) -> None:
    optimizer = ("--components.sequence_labeler.model.learning.optimizer", "lbfgs")
    config = trained("label")[0] / "config.cfg"
    output = ("--output", tmp_path / "none")
    done = python("-m", "spacy", "train", config, *output, *optimizer, fails=True)
    assert "optimizer = 'lbfgs' of the model's learning cannot be had in spacy train" in done.stderr
    assert "train with 'python -m spacy structreg fit'" in done.stderr


def test_given_words_need_a_tagger_of_them(trained: Trained, corpora: Any, python: Command) -> None:
    for name in ("joint", "joint-parse"):
        command = ("evaluate", trained(name)[0], corpora(name)[1], "--gold", "words")
        done = python(*OURS, *command, fails=True)
        assert "tags" in done.stderr


def test_trees_of_a_tokenizer_are_drawn(trained: Trained, python: Command, tmp_path: Path) -> None:
    pipeline, _ = trained("joint-parse")
    text, output = tmp_path / "text.txt", tmp_path / "trees.html"
    text.write_text("我们看书。他来了。\n今天很冷。\n", "utf-8")
    python(*OURS, "draw", text, "--pipeline", pipeline, "--output", output)
    docs = spacy.load(pipeline).pipe(text.read_text("utf-8").splitlines())
    n_sentences = sum(len(list(doc.sents)) for doc in docs)
    assert output.read_text("utf-8").count("<svg") == n_sentences
