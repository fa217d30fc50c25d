"""The project `papers`, W13: corpora of labels and of texts, random parts, and the optimum."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest
from study_contract import CONFIG, PROJECTS, RUNS, Study, command, project, run

from spacy_structreg.corpora.brackets import read_brackets
from spacy_structreg.corpora.labeling import labels_of
from spacy_structreg.estimators.labeling.sequence_labeler import SequenceLabeler
from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.learn.learning_settings import LogLinear

# A fixture.
__all__ = ["project"]

OURS = PROJECTS.parent / "treebank"
KINDS = ("PERSON", "GPE")
NAMES = "{config: w13_ner, drawn: false, to_the_optimum: true, given: words, changed: {L.l2: 0.1}}"

# The layout of CoNLL-2003: blocks of columns, documents apart, IOB1; and texts of two kinds.
GRID = f"""
title: "W13"
corpora:
  conll2003:
    columns: "word,tag,_,label"
    kinds: [{", ".join(KINDS)}]
    scored: [dev, test]
    train: eng.train
    dev: eng.testa
    test: eng.testb
  kinds_of_text:
    draws: 2
    shares: {{train: 2, dev: 1, test: 2, unlabeled: 1}}
    whole: [{{path: news.txt, category: news}}, {{path: novels.txt, category: novels, first: 30}}]
systems:
  names: {NAMES.replace("L.", "components.sequence_labeler.model.learning.")}
  texts: {{config: w13_texts, drawn: false, to_the_optimum: true, given: words, changed: &noise
    {{components.textcat.model.learning.noise: dropout,
      components.textcat.model.learning.noise_level: 0.5}}}}
  with_test:
    {{config: w13_texts, drawn: false, to_the_optimum: true, given: words, unlabeled: test,
      changed: *noise}}
  with_more:
    {{config: w13_texts, drawn: false, to_the_optimum: true, given: words, unlabeled: unlabeled,
      changed: *noise}}
tables:
  names:
    {{title: "Table 4", here: in part, columns: {{dev_ents_f: dev, ents_f: test}},
      seeds: {{conll2003: 1}}, rows: {{L2: {{system: names}}}}}}
  texts:
    title: "Table 2"
    here: in part
    columns: {{cats_acc: accuracy}}
    against: dropout
    seeds: {{kinds_of_text: 2}}
    rows: {{dropout: {{system: texts}}, "+ test": {{system: with_test}},
      "+ unlabeled": {{system: with_more}}}}
"""

STUDY = Study(
    name="papers",
    grid=GRID,
    key=("corpus", "system", "setting", "seed", "fold"),
    pictures=frozenset(),
    interrupted=(),
    reports=(),
    missing="",
    faulty=(),
    line={},
    broken={},
)


def conll_blocks(path: Path, n: int) -> str:
    """Sentences of ours in the layout of CoNLL-2003."""
    blocks = ["-DOCSTART- -X- -X- O\n"]
    for tree in islice(read_brackets(path), n):
        words = tree.without_function_tags().remove_empties().tagged_words()
        bio = labels_of(tree.entities(), len(words))
        # IOB1 has B where two spans of a label meet.
        iob1 = [
            f"I{label[1:]}" if label[0] == "B" and bio[max(0, i - 1)][2:] != label[2:] else label
            for i, label in enumerate(bio)
        ]
        rows = zip(words, iob1, strict=True)
        blocks.append("".join(f"{word} {tag} I-X {label}\n" for (word, tag), label in rows))
    return "\n".join(blocks)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project after the runs and the report of the grid."""
    data = tmp_path_factory.mktemp("data")
    for name, part in (("eng.train", "train"), ("eng.testa", "dev"), ("eng.testb", "test")):
        text = conll_blocks(OURS / part / "news.bracket", 40)
        (data / name).write_text(text, encoding="utf-8")
    for kind in ("news", "novels"):
        trees = islice(read_brackets(OURS / f"train/{kind}.bracket"), 40)
        lines = (" ".join(word for word, _ in tree.tagged_words()) + "\n" for tree in trees)
        (data / f"{kind}.txt").write_text("".join(lines), encoding="utf-8")
    project = STUDY.copied(tmp_path_factory.mktemp("projects"))
    for arguments in (("run", CONFIG, RUNS), ("report", CONFIG, RUNS, "report/README.md")):
        done = command(*arguments, folder=project, data=data)
        assert done.returncode == 0, done.stderr
    return project


def lines(project: Path) -> list[dict]:
    return [json.loads(line) for line in (project / RUNS).read_text("utf-8").splitlines()]


@pytest.mark.slow
def test_labels_of_columns_are_learnt_to_the_optimum(finished):
    """The same model, fitted here without a development set, makes the same figures."""
    found = {line["corpus"]: line for line in lines(finished)}["conll2003"]
    config = (finished / "systems/w13_ner.cfg").read_text(encoding="utf-8")
    templates = json.loads(config.split("templates = ")[1].split("\n\n")[0].replace("\n", ""))
    titles = (finished / "systems/titles.txt").read_text(encoding="utf-8").split()
    gold = {}
    for name, part in (("train", "train"), ("dev_", "dev"), ("", "test")):
        gold[name] = [
            [
                (word, label)
                for (word, _), label in zip(
                    words, labels_of(tree.entities(), len(words)), strict=True
                )
            ]
            for tree in islice(read_brackets(OURS / part / "news.bracket"), 40)
            for words in [tree.without_function_tags().remove_empties().tagged_words()]
        ]
    model = SequenceLabeler(
        templates=templates,
        scheme="io",
        gazetteers=Gazetteers({"title": titles}),
        learning=LogLinear(optimizer="lbfgs", l2=0.1),
        epochs=500,
    )
    model.fit(gold.pop("train"))
    assert found["epochs"] == [len(model.history)]
    assert len(model.history) < 500, "not at the optimum"
    for prefix, sentences in gold.items():
        expected = model.evaluate(sentences)
        assert found["figures"][f"{prefix}ents_f"] == pytest.approx(expected.ents_f, abs=1e-6)
        for kind in KINDS:
            by_kind = expected.ents_per_type.get(kind, {})
            assert found["figures"][f"{prefix}ents_r {kind}"] == pytest.approx(
                by_kind["r"], abs=1e-6
            )


@pytest.mark.slow
def test_texts_without_labels_count(finished):
    found = {
        (line["setting"].partition("unlabeled=")[2], line["seed"]): line
        for line in lines(finished)
        if line["corpus"] == "kinds_of_text"
    }
    assert set(found) == {(part, seed) for part in ("", "test", "unlabeled") for seed in (0, 1)}
    # They are a part of what is minimized.
    epochs = [
        tuple(found[part, seed]["epochs"][0] for seed in (0, 1))
        for part in ("", "test", "unlabeled")
    ]
    assert len(set(epochs)) == 3


PARTS = """
import sys
from pathlib import Path
sys.path[:0] = ["scripts", ".."]
from corpora import read_corpus
from grid import Grid
from spacy.tokens import DocBin
from spacy.vocab import Vocab
corpus = read_corpus("", Grid(Path("configs/small.yml")).corpora["kinds_of_text"], Path("."))
for seed in (0, 1):
    parts = corpus.parts(seed, 0)
    for name, content in parts.items():
        docs = list(DocBin().from_bytes(content).get_docs(Vocab()))
        print(seed, name, *sorted(f"{doc.text.replace(' ', '')}/{[*doc.cats][0]}" for doc in docs))
"""


def test_each_seed_has_parts_of_its_own(project: Path) -> None:
    for kind, n in (("news", 40), ("novels", 40)):
        text = "".join(f"{kind} number{i}\n" for i in range(n))
        (project / f"{kind}.txt").write_text(text, encoding="utf-8")
    done = run("-c", PARTS, folder=project)
    assert done.returncode == 0, done.stderr
    said = [line.split() for line in done.stdout.splitlines()]
    for seed in ("0", "1"):
        parts = {name: texts for number, name, *texts in said if number == seed}
        assert {name: len(texts) for name, texts in parts.items()} == {
            **{"train": 23, "dev": 12, "test": 23, "unlabeled": 12}
        }
        # All texts, each once: the first 30 novels, the 40 of news.
        expected = [f"newsnumber{i}/news" for i in range(40)]
        expected += [f"novelsnumber{i}/novels" for i in range(30)]
        assert sorted(text for texts in parts.values() for text in texts) == sorted(expected)
    assert said[0][2:] != said[4][2:]
