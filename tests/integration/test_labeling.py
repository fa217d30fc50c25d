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
from spacy.tokens import DocBin
from spacy.util import load_config
from spacy.vocab import Vocab

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

SPAWN = """
import json, multiprocessing, sys
import spacy

multiprocessing.set_start_method(sys.argv[1])
nlp = spacy.load(sys.argv[2])
texts = json.loads(sys.argv[3])

def read(doc):
    probabilities = doc._.label_probabilities["array"].tolist()
    return [(ent.start, ent.end, ent.label_) for ent in doc.ents], probabilities, doc.cats

here = list(map(read, nlp.pipe(texts)))
print(here == list(map(read, nlp.pipe(texts, n_process=2, batch_size=5))))
print(any(ents for ents, _, _ in here) and all(cats for _, _, cats in here))
"""

PACKAGED = """
import json, sys, en_names

doc = en_names.load()(sys.argv[1])
print(json.dumps([[ent.start, ent.end, ent.label_] for ent in doc.ents]))
"""

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


@pytest.mark.parametrize("task", ["label", "classify"])
def test_the_configs_are_valid(python: Command, folder: Path, task: str) -> None:
    printed = python("-m", "spacy", "debug", "config", folder / f"{task}.cfg").stdout
    assert "Config is valid" in printed


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


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(python: Command, folder: Path, both: Path, method: str) -> None:
    docs = DocBin().from_disk(folder / "label-test.spacy").get_docs(Vocab())
    texts = json.dumps([doc.text for doc in docs])
    printed = python("-c", SPAWN, method, both, texts).stdout
    assert printed.split() == ["True", "True"]


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


def test_a_packaged_pipeline(python: Command, labeling: Path, tmp_path: Path) -> None:
    built, installed = tmp_path / "built", tmp_path / "installed"
    built.mkdir()
    python("-m", "spacy", "package", labeling, built, "--name", "names", "--build", "none")
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--quiet"]
    package = built / "en_names-0.0.0"
    python("-m", "pip", "install", *options, "--target", installed, package)
    text = "Runa Abel sails to Orre today ."
    printed = python("-c", PACKAGED, text, path=installed).stdout
    assert json.loads(printed) == [[0, 2, "PER"], [4, 5, "LOC"]]
