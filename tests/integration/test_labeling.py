"""The labeler and the classifier in spaCy's own commands, on sentences out of templates."""

from __future__ import annotations

import json
import random
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy.util import load_config

Command = Callable[..., "subprocess.CompletedProcess[str]"]

PARTS = {"train": 120, "dev": 40, "test": 40}
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


pytestmark = pytest.mark.slow


def sentences(n: int, choose: random.Random) -> tuple[str, str]:
    """Sentences as columns, and as texts with their categories."""
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
def folder(python: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with corpora of both kinds, and configs for both."""
    folder = tmp_path_factory.mktemp("labeling")
    choose = random.Random(0)
    structreg = ("-m", "spacy", "structreg")
    for part, n in PARTS.items():
        columns, texts = sentences(n, choose)
        (folder / f"{part}.col").write_text(columns, "utf-8")
        (folder / f"{part}.tsv").write_text(texts, "utf-8")
        for task, suffix, names in (
            ("label", "col", "word,label"),
            ("classify", "tsv", "text,category"),
        ):
            source, target = folder / f"{part}.{suffix}", folder / f"{task}-{part}.spacy"
            python(*structreg, "convert", source, target, "--columns", names)
    for task in ("label", "classify"):
        corpora = ("--train", folder / f"{task}-train.spacy", "--dev", folder / f"{task}-dev.spacy")
        options = ("--task", task, "--lang", "en", *corpora)
        python(*structreg, "init-config", folder / f"{task}.cfg", *options)
    return folder


@pytest.fixture(scope="module")
def labeling(python: Command, folder: Path) -> Path:
    """What `spacy train` makes of the config of the labeler."""
    options = (
        *("--training.max_epochs", 5),
        *("--components.sequence_labeler.probabilities", "label_probabilities"),
    )
    output = folder / "labeling"
    printed = python("-m", "spacy", "train", folder / "label.cfg", "--output", output, *options)
    assert "ENTS_F" in printed.stdout
    return output / "model-best"


@pytest.fixture(scope="module")
def both(python: Command, folder: Path, labeling: Path) -> Path:
    """A pipeline whose classifier was trained beside the labeler, which was frozen."""
    config = load_config(folder / "classify.cfg")
    config["nlp"]["pipeline"] = ["sequence_labeler", "textcat"]
    config["components"]["sequence_labeler"] = {"source": str(labeling)}
    config["training"]["frozen_components"] = ["sequence_labeler"]
    config["training"]["max_epochs"] = 5
    path, output = folder / "both.cfg", folder / "both"
    config.to_disk(path)
    printed = python("-m", "spacy", "train", path, "--output", output)
    assert "CATS_ACC" in printed.stdout
    return output / "model-best"


def figures_of(python: Command, *command: object) -> dict[str, object]:
    """The figures that a command writes about its pipeline."""
    with tempfile.NamedTemporaryFile(suffix=".json") as output:
        python("-m", "spacy", *command, "--output", output.name)
        return dict(json.loads(Path(output.name).read_text("utf-8")))


def test_the_figures_are_those_of_all_commands(
    python: Command, folder: Path, labeling: Path
) -> None:
    """`spacy train`, `spacy evaluate` and `structreg evaluate` count the same entities."""
    gold = folder / "label-dev.spacy"
    meta = json.loads((labeling / "meta.json").read_text("utf-8"))
    spacys = figures_of(python, "evaluate", labeling, gold)
    # spaCy's tokenizer finds the words of these texts.
    for given in ("text", "words"):
        ours = figures_of(python, "structreg", "evaluate", labeling, gold, "--gold", given)
        for key in ("ents_p", "ents_r", "ents_f"):
            assert ours[key] == pytest.approx(spacys[key])
            assert meta["performance"][key] == pytest.approx(spacys[key])
        assert ours["ents_per_type"] == spacys["ents_per_type"]
    assert spacys["ents_f"] > 0.9


def test_categories(python: Command, folder: Path, labeling: Path, both: Path) -> None:
    gold = folder / "classify-test.spacy"
    spacys = figures_of(python, "evaluate", both, gold)
    ours = figures_of(python, "structreg", "evaluate", both, gold)
    assert spacys["cats_score"] == pytest.approx(spacys["cats_macro_f"])
    for key in ("cats_acc", "cats_macro_f"):
        assert ours[key] == pytest.approx(spacys[key])
    assert ours["cats_acc"] > 0.9
    # Frozen, the labeler stayed what it was.
    before, after = (spacy.load(path).get_pipe("sequence_labeler") for path in (labeling, both))
    assert after.to_bytes() == before.to_bytes()


def test_the_quick_way_is_as_good(python: Command, folder: Path) -> None:
    corpora = ("--train", folder / "label-train.spacy", "--dev", folder / "label-dev.spacy")
    optimizer = ("--components.sequence_labeler.model.learning.optimizer", "lbfgs")
    for options in ((), optimizer):
        output = folder / f"fitted{len(options)}"
        structreg = ("-m", "spacy", "structreg")
        python(*structreg, "fit", folder / "label.cfg", output, *corpora, *options)
        gold = folder / "label-test.spacy"
        figures = figures_of(python, "structreg", "evaluate", output, gold, "--gold", "words")
        assert figures["ents_f"] > 0.9


def test_lbfgs_needs_the_whole_corpus(python: Command, folder: Path) -> None:
    optimizer = ("--components.sequence_labeler.model.learning.optimizer", "lbfgs")
    output = ("--output", folder / "none")
    done = python("-m", "spacy", "train", folder / "label.cfg", *output, *optimizer, fails=True)
    assert "optimizer = 'lbfgs' of the model's learning cannot be had in spacy train" in done.stderr
    assert "train with 'python -m spacy structreg fit'" in done.stderr
