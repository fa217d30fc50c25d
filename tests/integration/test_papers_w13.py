"""The project `papers`, W13: its rows on corpora in the layouts of the paper's, made of our own."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
from papers_project import FOLDER, TREES, finish, papers
from study_contract import RUNS, project, run, tables

from spacy_structreg.corpora.formats.brackets import read_brackets
from spacy_structreg.corpora.labeling import labels_of
from spacy_structreg.corpora.trees import Tree
from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.learn.learning_settings import LogLinear
from spacy_structreg.models.classification import TextClassifier
from spacy_structreg.models.labeling.labelers import SequenceLabeler

# A fixture.
__all__ = ["project"]

REAL = srsly.read_yaml(FOLDER / "configs/w13.yml")
# Rows of the real grid, by corpora of the paper that are licensed.
ROWS = {
    "conll2003": ["names_l2", "words_dropout_test"],
    "conll2003_thirds": ["thirds_l2", "thirds_dropout_unlabeled"],
    "sancl": ["tags_l2"],
    "20news": ["texts_dropout", "texts_dropout_test", "texts_l2"],
    "rcv14_thirds": ["texts_dropout", "texts_dropout_unlabeled"],
    "religion": ["gaussian"],
}
COLUMNS = {
    "conll2003": "ents_f",
    "conll2003_thirds": "ents_f",
    "sancl": "reviews_label_acc",
}
# Of a large corpus; the few sentences here have a minimum that is reached sooner.
FEW = {"training.max_epochs": 60}
TEXTS = ("news", "novels")
KINDS = {"PERSON": "PER", "GPE": "LOC", "LOC": "LOC", "ORG": "ORG"}


def untuned(name: str) -> dict[str, Any]:
    """A system of the real grid by the settings of its config, and trained for fewer epochs."""
    given = {key: value for key, value in REAL["systems"][name].items() if key != "tuned"}
    few = {} if name in ("names_l2", "texts_l2") else FEW
    return given | {"changed": given.get("changed", {}) | few}


def entry(corpus: str) -> dict[str, Any]:
    """That of the real grid, in the folder of the tests."""
    given = {**REAL["corpora"][corpus]}
    assert given.pop("needs")
    given.pop("variable")
    return given


GRID = srsly.yaml_dumps(
    {
        "title": "W13",
        "corpora": {corpus: entry(corpus) for corpus in ROWS},
        "systems": {name: untuned(name) for names in ROWS.values() for name in names},
        "tables": {
            corpus: {
                "title": corpus,
                "columns": {COLUMNS.get(corpus, "cats_acc"): "figure"},
                "seeds": {corpus: 2 if "draws" in entry(corpus) else 1},
                "rows": {name: {"system": name, "against": names[0]} for name in names},
            }
            for corpus, names in ROWS.items()
        },
    }
)

STUDY = papers(GRID)


def trees_of(path: Path, n: int) -> list[Tree]:
    return list(islice(read_brackets(path), n))


def labeled(tree: Tree) -> list[tuple[str, str, str]]:
    """The words of a tree, their tags, and labels of the kinds of CoNLL-2003 in BIO."""
    words = tree.without_function_tags().remove_empties().tagged_words()
    spans = [(begin, end, KINDS.get(label, "MISC")) for begin, end, label in tree.entities()]
    labels = labels_of(spans, len(words))
    return [(word, tag, label) for (word, tag), label in zip(words, labels, strict=True)]


def in_iob1(labels: list[str]) -> list[str]:
    """B stands only where two spans of a label meet."""
    return [
        f"I{label[1:]}" if label[0] == "B" and (i == 0 or labels[i - 1][2:] != label[2:]) else label
        for i, label in enumerate(labels)
    ]


def texts_of(kind: str) -> list[str]:
    trees = trees_of(TREES / f"train/{kind}.bracket", 40)
    return [" ".join(word for word, *_ in labeled(tree)) for tree in trees]


def write_corpora(folder: Path) -> None:
    """Sentences of ours in the layouts of the paper's corpora."""
    for name, part in (("eng.train", "train"), ("eng.testa", "dev"), ("eng.testb", "test")):
        blocks = ["-DOCSTART- -X- -X- O\n"]
        for tree in trees_of(TREES / part / "news.bracket", 40):
            rows = labeled(tree)
            labels = in_iob1([label for *_, label in rows])
            lines = zip(rows, labels, strict=True)
            blocks.append("".join(f"{word} {tag} I-X {label}\n" for (word, tag, _), label in lines))
        (folder / name).write_text("\n".join(blocks), encoding="utf-8")
    columns = {"ontonotes-wsj-train": ("train", "news")}
    for genre, kind in (("newsgroups", "chat"), ("reviews", "reviews"), ("answers", "everyday")):
        columns |= {f"gweb-{genre}-{part}": (part, kind) for part in ("dev", "test")}
    for name, (part, kind) in columns.items():
        blocks = []
        for tree in trees_of(TREES / part / f"{kind}.bracket", 12):
            rows = enumerate(labeled(tree), 1)
            blocks.append(
                "".join(
                    f"{i}\t{word}\t_\t{tag}\t{tag}\t_\t_\t_\t_\t_\n" for i, (word, tag, _) in rows
                )
            )
        (folder / f"{name}.conll").write_text("\n".join(blocks), encoding="utf-8")
    texts = {kind: [f"{kind}\t{text}\n" for text in texts_of(kind)] for kind in TEXTS}
    for name, begin, end in (("train", 0, 25), ("test", 25, 40)):
        lines = "".join(line for each in texts.values() for line in each[begin:end])
        for corpus in ("20news", "rcv14"):
            (folder / f"{corpus}-{name}.tsv").write_text(lines, encoding="utf-8")
    (folder / "religion.tsv").write_text("".join(map("".join, texts.values())), encoding="utf-8")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project after the runs and the report of the grid."""
    data = tmp_path_factory.mktemp("data")
    write_corpora(data)
    project = STUDY.copied(tmp_path_factory.mktemp("projects"))
    return finish(project, data=data)


def lines_of(project: Path, corpus: str) -> list[dict[str, Any]]:
    text = (project / RUNS).read_text(encoding="utf-8")
    return [line for line in map(json.loads, text.splitlines()) if line["corpus"] == corpus]


@pytest.mark.slow
def test_names_are_learned_to_the_optimum(finished):
    """The same model, fitted here without a development set, makes the same figures."""
    (found,) = (one for one in lines_of(finished, "conll2003") if one["system"] == "w13_ner")
    config = (finished / "systems/w13_ner.cfg").read_text(encoding="utf-8")
    templates = json.loads(config.split("templates = ")[1].split("\n\n")[0].replace("\n", ""))
    titles = (finished / "systems/titles.txt").read_text(encoding="utf-8").split()
    gold = {
        prefix: [
            [(word, label) for word, _, label in labeled(tree)]
            for tree in trees_of(TREES / part / "news.bracket", 40)
        ]
        for prefix, part in (("train", "train"), ("dev_", "dev"), ("", "test"))
    }
    (l2,) = REAL["systems"]["names_l2"]["changed"].values()
    model = SequenceLabeler(
        templates=templates,
        scheme="io",
        gazetteers=Gazetteers({"title": titles}),
        learning=LogLinear(optimizer="lbfgs", l2=l2),
        epochs=500,
    )
    model.fit(gold.pop("train"))
    assert found["epochs"] == [len(model.history)]
    assert len(model.history) < 500, "not at the optimum"
    for prefix, sentences in gold.items():
        expected = model.evaluate(sentences)
        assert found["figures"][f"{prefix}ents_f"] == pytest.approx(expected.ents_f, abs=1e-6)
        for kind in ("PER", "LOC"):
            recall = expected.by_label[kind].r
            assert found["figures"][f"{prefix}ents_r {kind}"] == pytest.approx(recall, abs=1e-6)


@pytest.mark.slow
def test_texts_are_learned_with_those_that_were_held_out(finished):
    """The same model, fitted here on the whole training set, makes the same figure."""
    found = lines_of(finished, "20news")
    (line,) = (one for one in found if "learning.l2=" in one["setting"])
    tokens = spacy.blank("en").make_doc
    gold = {
        part: [
            ([token.text for token in tokens(text)], kind)
            for kind in TEXTS
            for text in texts_of(kind)[begin:end]
        ]
        for part, begin, end in (("train", 0, 25), ("test", 25, 40))
    }
    (l2,) = REAL["systems"]["texts_l2"]["changed"].values()
    for n_left_out in (0, 5):
        learning = LogLinear(optimizer="lbfgs", l2=l2)
        model = TextClassifier(ngrams=1, values="counts", learning=learning, epochs=500)
        model.fit(gold["train"][: len(gold["train"]) - n_left_out])
        # Without the held-out tenth, it would be another model.
        assert (line["epochs"] == [len(model.history)]) == (not n_left_out)
        if not n_left_out:
            accuracy = model.evaluate(gold["test"]).cats_acc
            assert line["figures"]["cats_acc"] == pytest.approx(accuracy, abs=1e-6)
    assert line["dev"] == {}


@pytest.mark.slow
def test_sentences_are_not_paired_where_each_seed_draws_its_test_set(finished):
    """Differences are still given, with their intervals over seeds."""
    for corpus, is_drawn in (("20news", False), ("rcv14_thirds", True)):
        text = (finished / f"report/{corpus}.md").read_text(encoding="utf-8")
        header = tables(text)[0][0]
        assert "difference" in header
        assert ("p" in header) == ("*p* is the probability" in text) == (not is_drawn)
        assert ("tested over seeds alone" in text) == is_drawn


PARTS = """
import sys
from pathlib import Path
sys.path[:0] = ["scripts", ".."]
from corpora import read_corpus
from grid import Grid
from spacy.tokens import DocBin
from spacy.vocab import Vocab
corpus = read_corpus("", Grid(Path("configs/small.yml")).corpora["rcv14_thirds"], Path("."))
for seed in (0, 1):
    for name, content in corpus.parts(seed, 0).items():
        docs = list(DocBin().from_bytes(content).get_docs(Vocab()))
        print(seed, name, *(f"{doc.text.replace(' ', '')}/{[*doc.cats][0]}" for doc in docs))
"""


def test_each_seed_has_parts_of_its_own(project: Path) -> None:
    for name, kind, n in (("train", "a", 40), ("test", "b", 20)):
        text = "".join(f"{kind}\ttext {kind}{i}\n" for i in range(n))
        (project / f"rcv14-{name}.tsv").write_text(text, encoding="utf-8")
    done = run("-c", PARTS, folder=project)
    assert done.returncode == 0, done.stderr
    said = [line.split() for line in done.stdout.splitlines()]
    for seed in ("0", "1"):
        parts = {name: texts for number, name, *texts in said if number == seed}
        sizes = {name: len(texts) for name, texts in parts.items()}
        assert sizes == {"train": 18, "dev": 2, "test": 20, "unlabeled": 20}
        # All texts, each once.
        expected = [f"texta{i}/a" for i in range(40)] + [f"textb{i}/b" for i in range(20)]
        assert sorted(text for texts in parts.values() for text in texts) == sorted(expected)
    assert set(said[0][2:]) != set(said[4][2:])


FAULTS = (
    ("unlabeled: test", "unlabeled: dev", "unlabeled is one of test, unlabeled"),
    ("rcv14_thirds: 2", "rcv14_thirds: 6", "rcv14_thirds has fewer draws than seeds"),
    ("system: names_l2", "system: names_l2\n        kind: X", "no corpus has the kind 'X'"),
    (
        "config: w13_ner",
        "config: w13_ner\n    learns_dev: true",
        "conll2003: names_l2 has learns_dev, so it has no figures of the development set",
    ),
)


def test_faults_of_a_grid_are_named(project: Path) -> None:
    assert all(GRID.count(before) for before, *_ in FAULTS)
    grids = [GRID.replace(before, after) for before, after, _ in FAULTS]
    for found, (*_, expected) in zip(STUDY.said(project, grids, []), FAULTS, strict=True):
        assert expected in found
