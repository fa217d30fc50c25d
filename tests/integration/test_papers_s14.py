"""The project `papers`, S14: its tasks, on the layouts of its corpora made of our own trees."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest
from papers_project import TREES, finish, papers
from sighan_release import release_files, write_release
from study_contract import PROJECTS, RUNS

from spacy_structreg.corpora.formats.brackets import read_brackets
from spacy_structreg.corpora.labeling import labels_of
from spacy_structreg.corpora.trees import Tree
from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.models.labeling.labelers import SequenceLabeler
from spacy_structreg.models.segmentation import CharacterSegmenter

LABELS = "components.sequence_labeler.model.learning"
GRID = f"""
title: "S14"
corpora:
  msr:
    format: sighan
    train: {{path: icwb2-data, part: msr/training}}
    dev: {{path: icwb2-data, part: msr/training, first: 5}}
    test: {{path: icwb2-data, part: msr/test}}
  ptb:
    format: brackets
    train: {{path: wsj, sections: [0, 1]}}
    dev: {{path: wsj, sections: [2, 2]}}
    test: {{path: wsj, sections: [3, 3]}}
  bionlp:
    columns: "word,label"
    comments: "###MEDLINE:"
    tagger: {{path: wsj, sections: [0, 1], format: brackets}}
    train: Genia4ERtask1.iob2
    dev: {{path: Genia4ERtask1.iob2, first: 5}}
    test: Genia4EReval2.iob2
  ptb_choice: {{format: brackets, folds: 4, choice: true, whole: {{path: wsj, sections: [0, 1]}}}}
  signals_choice:
    folds: 4
    signals: {{world: 0, train: 18, dev: 1, test: 10, windows: 50, samples: 8}}
  signals:
    signals: {{world: 0, train: 20, dev: 1, test: 10, windows: 50, samples: 8}}
systems:
  words_crf: {{config: s14_crf, to_the_optimum: true}}
  words_perceptron: {{config: s14_perceptron, to_the_optimum: true}}
  tags: {{config: s14_tags_perceptron, to_the_optimum: true, given: words}}
  names: {{config: s14_names_crf, to_the_optimum: true, given: "words,tags",
    changed: {{training.max_epochs: 5, {LABELS}.l2: 0.1}}}}
  activities_crf: {{config: s14_activities_crf, changed: {{training.max_epochs: 5}}}}
  activities_perceptron: {{config: s14_activities_perceptron}}
tables:
  table_1:
    title: "Table 1"
    panels:
      "words":
        columns: {{seg_f: F}}
        seeds: {{msr: 1}}
        rows: {{CRF: {{system: words_crf}}, pieces: {{system: words_crf, against: CRF,
          changed: {{nlp.tokenizer.model.learning.mini_sample: 5.5}}}},
          perceptron: {{system: words_perceptron}}}}
      "tags": {{columns: {{label_acc: accuracy}}, seeds: {{ptb: 1}}, rows: {{P: {{system: tags}}}}}}
      "names": {{columns: {{ents_f: F}}, seeds: {{bionlp: 1}}, rows: {{CRF: {{system: names}}}}}}
      "choice of tags":
        columns: {{label_acc: accuracy}}
        seeds: {{ptb_choice: 1}}
        rows: {{P: {{system: tags}}}}
      "choice of activities":
        columns: {{label_acc: accuracy}}
        seeds: {{signals_choice: 1}}
        rows: {{P: {{system: activities_perceptron}}}}
  figure_2:
    title: "Figure 2"
    columns: {{label_acc: accuracy, epoch_milliseconds: milliseconds an epoch}}
    seeds: {{signals: 2}}
    axis: {{title: size, vary: labeler.learning.mini_sample, values: [1.5, 5.5]}}
    rows:
      "pieces": {{system: activities_crf, against: "L2"}}
      "L2": {{system: activities_crf, level: true}}
      "perceptron": {{system: activities_perceptron, level: true}}
"""

STUDY = papers(GRID)


def trees(part: str, name: str, n: int) -> list[Tree]:
    """Some of our trees."""
    return list(islice(read_brackets(TREES / part / f"{name}.bracket"), n))


def tagged(tree: Tree) -> list[tuple[str, str]]:
    return list(tree.without_function_tags().remove_empties().tagged_words())


WORDS = {
    part: [[word for word, _ in tagged(tree)] for tree in trees(part, "general", 60)]
    for part in ("train", "test")
}
SECTIONS = {0: ("train", "news"), 1: ("train", "novels"), 2: ("dev", "news"), 3: ("test", "news")}
NAMED = {
    part: [
        [(word, label) for (word, _), label in zip(words, labels, strict=True)]
        for tree in trees(part, "news", 40)
        for words in [tagged(tree)]
        for labels in [labels_of(tree.entities(), len(words))]
    ]
    for part in ("train", "test")
}


def write_corpora(folder: Path) -> None:
    """The layouts of MSR of SIGHAN 2005, of the Penn Treebank, and of BioNLP-2004."""
    write_release(folder, release_files({"msr": (WORDS["train"], WORDS["test"])}))
    for number, (part, name) in SECTIONS.items():
        section = folder / f"wsj/{number:02}"
        section.mkdir(parents=True)
        for file, tree in enumerate(trees(part, name, 15), 1):
            path = section / f"wsj_{number:02}{file:02}.mrg"
            path.write_text(f"{tree.to_bracket(2)}\n", encoding="utf-8")
    for part, name in (("train", "Genia4ERtask1"), ("test", "Genia4EReval2")):
        sentences = [
            "".join(f"{word}\t{label}\n" for word, label in sentence) for sentence in NAMED[part]
        ]
        text = "\n".join(["###MEDLINE:1\n", *sentences])
        (folder / f"{name}.iob2").write_text(text + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project after the runs and the report of the grid."""
    data = tmp_path_factory.mktemp("data")
    write_corpora(data)
    folder = tmp_path_factory.mktemp("projects")
    project = STUDY.copied(folder)
    (folder / "activity_recognition").symlink_to(PROJECTS / "activity_recognition")
    finish(project, data=data)
    (project / "data").symlink_to(data)
    return project


def lines(project: Path) -> dict[tuple[str, str, str, int], dict]:
    found = map(json.loads, (project / RUNS).read_text("utf-8").splitlines())
    names = ("corpus", "system", "setting", "fold")
    return {tuple(line[name] for name in names): line for line in found}


@pytest.mark.slow
def test_words_are_learnt_as_by_the_model_itself(finished):
    """With rich edge features, whole training sets and no development set."""
    found = {key: line["figures"].get("seg_f") for key, line in lines(finished).items()}
    for system, learning, epochs in (
        ("s14_crf", LogLinear(l2=1.0, decay=0.01, mini_sample=5.5), 2000),
        ("s14_perceptron", Learning(), 10),
    ):
        model = CharacterSegmenter(
            templates="sun2014",
            types=None,
            half_width=False,
            sentences="doc",
            learning=learning,
            epochs=epochs,
            seed=0,
        )
        model.fit(WORDS["train"])
        expected = model.evaluate(WORDS["test"]).as_dict()["seg_f"]
        (seg_f,) = (
            f
            for (corpus, by, setting, _), f in found.items()
            if (corpus, by) == ("msr", system)
            and ("mini_sample" in setting) == (system == "s14_crf")
        )
        assert seg_f == pytest.approx(expected, abs=1e-6)


def with_edges(*rows: str) -> list[str]:
    """Templates of labels, each once more with pairs of labels."""
    return [f"{kind}: {row}" for row in rows for kind in ("label", "edge")] + ["edge:"]


NEAR = "w-2 | w-1 | w0 | w+1 | w+2 | w-1 w0 | w0 w+1"
AFFIXES = " | ".join(
    f"{name}(w0)"
    for one, kind in (("start", "prefix"), ("end", "suffix"))
    for name in (one, *(f"{kind}{n}" for n in range(2, 5)))
)


def tagger_of(gold: list[list[tuple[str, str]]]) -> SequenceLabeler:
    """Sun 2014's tagger, by perceptron."""
    templates = with_edges(NEAR, "shape(w0)", AFFIXES)
    tagger = SequenceLabeler(
        templates=templates, scheme=None, learning=Learning(), epochs=10, seed=0
    )
    return tagger.fit(gold)


@pytest.fixture(scope="module")
def gold() -> dict[int, list[list[tuple[str, str]]]]:
    """Tagged words by the numbers of sections."""
    return {number: [tagged(tree) for tree in trees(*of, 15)] for number, of in SECTIONS.items()}


@pytest.mark.slow
def test_folds_of_a_choice_are_every_fourth_sentence(finished, gold):
    whole = gold[0] + gold[1]
    setting = "given=words to_the_optimum=True"
    for fold in range(4):
        rest = [sentence for k in range(4) if k != fold for sentence in whole[k::4]]
        held_out = whole[fold::4]
        line = lines(finished)["ptb_choice", "s14_tags_perceptron", setting, fold]
        expected = tagger_of(rest).evaluate(held_out).as_dict()["label_acc"]
        assert line["figures"]["label_acc"] == pytest.approx(expected, abs=1e-6)
        assert line["n_sentences"] == len(held_out)
    found = [
        lines(finished)["signals_choice", "s14_activities_perceptron", "", k] for k in range(4)
    ]
    assert [line["n_sentences"] for line in found] == [5, 5, 4, 4]
    assert len({line["figures"]["label_acc"] for line in found}) == 4
