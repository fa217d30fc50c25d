"""The workflows of the projects that find constituents, on treebanks made from the quickstart's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from test_projects import PROJECTS, copy_of, made, run_project, whole_treebank
from thinc.api import Config

from spacy_structreg.cli.init_config import init_config
from spacy_structreg.corpora.constituents import ConstituencySentence
from spacy_structreg.corpora.splits import fold_bounds

LANGUAGES = {"ctb5": "zh", "ptb_sample": "en", "quickstart": "zh", "sinica": "zh"}
FEW = ("--vars.folds", "2")
# Their labels are one to EVALB.
SAME = {"PRT": "ADVP"}

# A fixture of the tests of projects.
__all__ = ["made"]


@pytest.fixture(scope="module")
def finished(
    made: tuple[Path, object], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """Makes a copy of a project after its workflows of constituents."""
    folders: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in folders:
            folder = copy_of(name, tmp_path_factory.mktemp("constituents"), epochs=3)
            run_project(folder, "constituents", data=made[0])
            run_project(folder, "constituents-tagged", *FEW, data=made[0])
            folders[name] = folder
        return folders[name]

    return make


def gold_parts(name: str) -> tuple[list[ConstituencySentence], list[ConstituencySentence]]:
    """The training and the test set that a project makes of the trees, with their heads."""
    if name == "ptb_sample":
        trees = whole_treebank("ptb")
        folds = fold_bounds(len(trees))
        return trees[: folds[-2][0]], trees[folds[-1][0] :]
    trees = whole_treebank("ctb")
    return trees[: len(trees) * 80 // 100], trees[len(trees) * 90 // 100 :]


def phrases_of(doc: Doc) -> list[tuple[str, int, int, int]]:
    group = doc.spans["constituents"]
    heads = group.attrs["heads"]
    return [
        (span.label_, span.start, span.end, head) for span, head in zip(group, heads, strict=True)
    ]


def check_figures(nlp: Any, gold: Sequence[ConstituencySentence], report: dict[str, Any]) -> None:
    """Figures that were written are those of a pipeline; it is given tags if it tags no words."""
    n_gold = n_found = n_right = n_headed = n_whole = 0
    for tree in gold:
        tags = None if report["given"] == "words" else list(tree.tags)
        spaces = [False] * len(tree.words)
        doc = nlp(Doc(nlp.vocab, words=list(tree.words), tags=tags, spaces=spaces))
        found = phrases_of(doc)
        wanted = [(each.label, each.begin, each.end, each.head) for each in tree.constituents]
        bare = [
            Counter((SAME.get(phrase[0], phrase[0]), *phrase[1:3]) for phrase in side)
            for side in (wanted, found)
        ]
        right = (bare[0] & bare[1]).total()
        n_gold += len(wanted)
        n_found += len(found)
        n_right += right
        n_headed += (Counter(wanted) & Counter(found)).total()
        n_whole += right == len(wanted) == len(found)
    assert report["brackets_p"] == pytest.approx(n_right / n_found)
    assert report["brackets_r"] == pytest.approx(n_right / n_gold)
    assert report["brackets_f"] == pytest.approx(2 * n_right / (n_gold + n_found))
    assert report["head_acc"] == pytest.approx(n_headed / n_right)
    assert report["brackets_complete"] == pytest.approx(n_whole / len(gold))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ptb_sample", "sinica"])
def test_constituents_are_learned_from_gold_tags_and_from_automatic_ones(
    name: str, finished: Callable[[str], Path]
) -> None:
    folder = finished(name)
    train, test = gold_parts(name)
    corpus = folder / ("corpus/10" if name == "ptb_sample" else "corpus")
    for part, trees in (("train", train), ("test", test)):
        docs = DocBin().from_disk(corpus / f"{part}.spacy").get_docs(spacy.Vocab())
        for doc, tree in zip(docs, trees, strict=True):
            assert [token.text for token in doc] == list(tree.words)
            assert phrases_of(doc) == [
                (each.label, each.begin, each.end, each.head) for each in tree.constituents
            ]

    report = json.loads((folder / "metrics/constituents.json").read_text("utf-8"))
    assert report["given"] == "words,tags"
    nlp = spacy.load(folder / "training/constituents/model-best")
    assert nlp.lang == LANGUAGES[name]
    check_figures(nlp, test, report)
    assert 0.6 < report["brackets_f"] < 1
    assert (folder / "metrics/constituents/dev.json").is_file()

    tagged = json.loads((folder / "metrics/constituents/tagged.json").read_text("utf-8"))
    assert tagged["given"] == "words"
    nlp = spacy.load(folder / "training/constituents-tagged/model-best")
    assert nlp.pipe_names == ["tagger", "constituency"]
    check_figures(nlp, test, tagged)
    assert 0.5 < tagged["brackets_f"] < report["brackets_f"]
    assert 0.6 < tagged["tag_acc"] < 1


@pytest.mark.slow
def test_a_study_is_the_mean_of_ten_folds(made: tuple[Path, object], tmp_path: Path) -> None:
    folder = copy_of("ptb_sample", tmp_path)
    config = folder / "configs/constituents.cfg"
    config.write_text(config.read_text("utf-8").replace("beam = 16", "beam = 2"), "utf-8")
    one_epoch = ("--vars.study_epochs", "1")
    run_project(folder, "study", *one_epoch, data=made[0])
    metrics = folder / "metrics/constituents"
    study = json.loads((metrics / "folds.json").read_text("utf-8"))
    assert list(study["folds"]) == list(map(str, range(1, 11)))

    trees = whole_treebank("ptb")
    for fold, (begin, end) in enumerate(fold_bounds(len(trees)), 1):
        docs = DocBin().from_disk(folder / f"corpus/{fold}/test.spacy").get_docs(spacy.Vocab())
        words = [[token.text for token in doc] for doc in docs]
        assert words == [list(tree.words) for tree in trees[begin:end]]
        report = json.loads((metrics / f"folds/{fold}.json").read_text("utf-8"))
        assert study["folds"][str(fold)]["brackets_f"] == report["brackets_f"]
    values = [each["brackets_f"] for each in study["folds"].values()]
    mean = sum(values) / 10
    assert study["mean"]["brackets_f"] == pytest.approx(mean)
    variance = sum((value - mean) ** 2 for value in values) / 9
    assert study["sd"]["brackets_f"] == pytest.approx(variance**0.5)
    assert 0.5 < mean < 1
    begin, end = fold_bounds(len(trees))[2]
    report = json.loads((metrics / "folds/3.json").read_text("utf-8"))
    nlp = spacy.load(folder / "training/constituents/folds/3")
    check_figures(nlp, trees[begin:end], report)

    # Folds that are done are not trained again.
    model = folder / "training/constituents/folds/3/meta.json"
    before = model.stat().st_mtime_ns
    (metrics / "folds.json").unlink()
    (metrics / "folds/10.json").unlink()
    run_project(folder, "study", *one_epoch, data=made[0])
    assert json.loads((metrics / "folds.json").read_text("utf-8")) == study
    assert model.stat().st_mtime_ns == before


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_configs_are_what_init_config_gives(name: str) -> None:
    text = init_config(None, task="constituency", lang=LANGUAGES[name])
    given = Config().from_str(text, interpolate=False)
    kept = Config().from_disk(PROJECTS / name / "configs/constituents.cfg", interpolate=False)
    # They depend on the number of sentences.
    for config in (given, kept):
        assert config["training"].pop("eval_frequency") > 0
        config["training"].pop("patience")
    assert kept == given, "make the config anew: see the README of the project"
