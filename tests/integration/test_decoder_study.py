"""The project `decoder_study`: its workflow on a made-up corpus, and the report it holds."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from parser_twins import all_trees
from pipeline.made_up import DEV, TRAIN
from study_contract import (
    PROJECTS,
    Study,
    StudyContract,
    finished,
    project,
)

from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.models.guided import GuidedJointTagger, GuidedSegmenter
from spacy_structreg.models.joint.joint_reranker import JointReranker
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.joint.parsed_analyses import ParsedAnalysis, expected_arcs
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter

# Fixtures of every study.
__all__ = ["finished", "project"]

GRID = """
corpora:
  tree: {reader: conllu, tags: true, train: train.conllu, dev: dev.conllu, test: dev.conllu}
  lines: {reader: segmented, train: train.txt, test: test.txt}
  parsed: {reader: conllu, trees: true, train: train.conllu, dev: dev.conllu, test: dev.conllu}
models:
  words: {kind: words, beam: 4, update: early, mini_sample: 5, epochs: 2}
  whole: {like: words, mini_sample: null}
  characters: {kind: characters, rule: perceptron, epochs: 2}
  tagger: {kind: tagger, beam: 2, epochs: 1}
  both: {kind: word_joint, beam: 2, epochs: 1}
  chain: {kind: character_joint, rule: perceptron, epochs: 1}
  parser: {kind: parser, templates: transition, beam: 4, epochs: 3}
  stack: {kind: parser, system: arc_standard, beam: 4, epochs: 1}
  of_texts: {kind: parser_of_texts, beam: 2, epochs: 1}
  backward: {kind: backward_parser, beam: 2, epochs: 1}
  trees: {kind: joint_parser, beam: 4, epochs: 2}
references:
  texts: {parts: {words: words}, decode: {merge: false}}
  tagged_words: {parts: {parser: parser}}
timing: {rounds: 2, characters: 100, sentences: 5, enough: 1}
experiments:
  widths:
    title: Widths
    x: speed
    curves:
      "single": {parts: {words: words}, decode: {merge: false}, vary: decode.beam, values: [1, 4]}
      "exact": {parts: {words: words}, decode: {merge: true, by_words: true, beam: null}}
    corpora:
      tree: {seeds: 2}
      lines: {seeds: 1, values: {single: [4]}, curves: [single]}
  pieces:
    title: Pieces
    note: Of sentences.
    x: value
    curves:
      "of words":
        {parts: {words: whole}, vary: train.mini_sample, values: [2.5, null], none: whole}
      "updates": {parts: {words: words}, train: {update: plain}}
    corpora:
      tree: {seeds: 1, seeds_of: {"of words": 2}}
  guides:
    title: Guides
    curves:
      "product":
        {parts: {characters: characters, words: words}, decode: {beam: 2, window: null}}
      "window":
        {parts: {characters: characters, words: words},
         decode: {adds_scores: false, looks_ahead: false, window: 5}}
      "fixed":
        {parts: {characters: characters, words: words}, vary: decode.weight, values: [0.5]}
    corpora:
      tree: {seeds: 2, average: [product]}
  joint:
    title: Joint
    curves:
      "pipeline":
        {parts: {words: words, tagger: tagger}, vary: decode.tagger_beam, values: [1, 4]}
      "joint": {parts: {words: both}, decode: {beam: 4}}
      "chain": {parts: {characters: chain}}
      "guided": {parts: {characters: chain, words: both}, decode: {beam: 2, window: 10}}
      "ranked again": {parts: {characters: chain, words: both}, decode: {n_best: 3}}
      "retagged": {parts: {words: both, tagger: tagger}}
    corpora:
      tree: {seeds: 1}
  parsing:
    title: Parsing
    x: speed
    curves:
      "trained": {parts: {parser: parser}, vary: train.beam, values: [1, 4]}
      "decoded": {parts: {parser: parser}, vary: decode.beam, values: [2]}
      "epochs": {parts: {parser: parser}, vary: train.epochs, values: [1, 2]}
      "arc-standard": {parts: {parser: stack}}
      "unmerged": {parts: {parser: stack}, decode: {merge: false}}
    corpora:
      parsed: {seeds: 1, seeds_of: {"trained": 2}, average: [trained]}
  joint_parsing:
    title: Joint parsing
    curves:
      "one after the other":
        {parts: {characters: chain, words: both, tagger: tagger, parser: of_texts},
         decode: {search: pipeline}}
      "ranked":
        {parts: {characters: chain, words: both, tagger: tagger, parser: of_texts,
                 backward: backward}, decode: {search: reranked, n_best: 2}}
      "ranked by arcs":
        {parts: {characters: chain, words: both, tagger: tagger, parser: of_texts,
                 backward: backward}, decode: {search: expected, n_best: 2}}
      "at once": {parts: {joint: trees}, decode: {beam: 2}}
      "guided by all":
        {parts: {characters: chain, words: both, tagger: tagger, parser: of_texts,
                 backward: backward, joint: trees}, decode: {search: guided, n_best: 2}}
    corpora:
      parsed: {seeds: 1}
claims:
  - {source: A, says: wide beams help, more: widths / single / 4, less: widths / single / 1}
  - {source: B, says: narrow ones are fast, more: widths / single / 1, less: widths / single / 4,
     figure: speed}
"""

WORDS = "beam=4 epochs=2 kind=words mini_sample=5 update=early"
WHOLE = "beam=4 epochs=2 kind=words mini_sample={} update=early"
CHARACTERS = "epochs=2 kind=characters rule=perceptron"
GUIDED = f"characters({CHARACTERS}) + words({WORDS})"
PIPELINE = f"words({WORDS}) + tagger(beam=2 epochs=1 kind=tagger)"
CHAIN = "epochs=1 kind=character_joint rule=perceptron"
JOINT = "beam=2 epochs=1 kind=word_joint"
PARSER = "beam={} epochs={} kind=parser templates=transition"
STACK = "beam=4 epochs=1 kind=parser system=arc_standard"
OF_TEXTS = (
    f"characters({CHAIN}) + words({JOINT}) + tagger(beam=2 epochs=1 kind=tagger) + "
    "parser(beam=2 epochs=1 kind=parser_of_texts)"
)
BACKWARD = f"{OF_TEXTS} + backward(beam=2 epochs=1 kind=backward_parser)"
TREES = "joint(beam=4 epochs=2 kind=joint_parser)"
EXACT = "beam=None by_words=True merge=True"
# What the grid asks for, in words.
EXPECTED = {
    *(
        ("tree", f"words({WORDS})", decoding, seed)
        for decoding in ("beam=1 merge=False", "beam=4 merge=False", EXACT)
        for seed in "01"
    ),
    ("lines", f"words({WORDS})", "beam=4 merge=False", "0"),
    *(("tree", f"words({WHOLE.format(n)})", "", seed) for n in ("2.5", "None") for seed in "01"),
    ("tree", f"words({WORDS.replace('early', 'plain')})", "", "0"),
    *(("tree", GUIDED, "beam=2 window=None", seeds) for seeds in ("0", "1", "0-1")),
    *(("tree", GUIDED, "adds_scores=False looks_ahead=False window=5", seed) for seed in "01"),
    *(("tree", GUIDED, "weight=0.5", seed) for seed in "01"),
    *(("tree", PIPELINE, f"tagger_beam={beam}", "0") for beam in (1, 4)),
    ("tree", f"words({JOINT})", "beam=4", "0"),
    ("tree", f"characters({CHAIN})", "", "0"),
    ("tree", f"characters({CHAIN}) + words({JOINT})", "beam=2 window=10", "0"),
    ("tree", f"characters({CHAIN}) + words({JOINT})", "n_best=3", "0"),
    ("tree", f"words({JOINT}) + tagger(beam=2 epochs=1 kind=tagger)", "", "0"),
    *(
        ("parsed", f"parser({PARSER.format(beam, 3)})", "", seeds)
        for beam in (1, 4)
        for seeds in ("0", "1", "0-1")
    ),
    ("parsed", f"parser({PARSER.format(4, 3)})", "beam=2", "0"),
    *(("parsed", f"parser({PARSER.format(4, epochs)})", "", "0") for epochs in (1, 2)),
    *(("parsed", f"parser({STACK})", decoding, "0") for decoding in ("", "merge=False")),
    ("parsed", OF_TEXTS, "search=pipeline", "0"),
    ("parsed", BACKWARD, "n_best=2 search=reranked", "0"),
    ("parsed", BACKWARD, "n_best=2 search=expected", "0"),
    ("parsed", TREES, "beam=2", "0"),
    ("parsed", f"{BACKWARD} + {TREES}", "n_best=2 search=guided", "0"),
}
FEW = TRAIN[:80]


STUDY = Study(
    name="decoder_study",
    grid=GRID,
    key=("corpus", "parts", "decoding", "seeds"),
    times=("speed", "reference", "seconds"),
    pictures=frozenset({"widths.svg", "pieces.svg", "parsing.svg"}),
    reports=(
        ("study", "report", "findings"),
        ("constituents", "report/constituents", "constituents"),
        ("joint_parsing", "report/joint_parsing", "joint_parsing"),
    ),
    faulty=(
        ("kind: words, beam: 4", "kind: words, beams: 4", "beams"),
        ("kind: words, beam: 4", "kind: words, beam: 0", "beam"),
        ("kind: words", "kind: letters", "letters"),
        ("mini_sample: 5", "mini_sample: 0.5", "mini_sample"),
        ("decode: {merge: false}, vary", "decode: {merged: false}, vary", "merged"),
        ("vary: decode.weight", "vary: weight", "train.… or decode.…"),
        ("{words: words, tagger: tagger}", "{tagger: tagger}", "finds words"),
        ("{words: words, tagger: tagger}", "{words: characters}", "cannot be the part"),
        ("{characters: chain, words: both}", "{characters: chain, words: words}", "or neither"),
        (
            "{parts: {words: both}, decode: {beam: 4}}",
            "{parts: {words: both}, decode: {n_best: 2}}",
            "n_best",
        ),
        ("tags: true, ", "", "needs tags"),
        ("trees: true, ", "", "needs trees"),
        ("{parts: {parser: parser}, vary", "{parts: {words: parser}, vary", "cannot be the part"),
        (
            "{parts: {parser: parser}, vary",
            "{parts: {parser: parser, words: words}, vary",
            "needs the setting search",
        ),
        (
            "{parts: {parser: parser}, vary",
            "{parts: {parser: parser, backward: backward}, vary",
            "needs the setting search",
        ),
        ("{search: reranked, n_best: 2}", "{search: reranked}", "needs the setting 'n_best'"),
        (
            "{characters: chain, words: both, tagger: tagger, parser: of_texts}",
            "{characters: chain, words: words, tagger: tagger, parser: of_texts}",
            "must find tags",
        ),
        ("{search: reranked, n_best: 2}", "{search: pipeline, n_best: 2}", "takes the parts"),
        ("{search: reranked, n_best: 2}", "{search: reranked, n_best: 2, beam: 2}", "beam"),
        ("vary: decode.beam, values: [2]", "vary: decode.by_words, values: [2]", "by_words"),
        ("\n  tagged_words: {parts: {parser: parser}}", "", "a reference that reads tagged_words"),
        (
            "less: widths / single / 4,\n     figure: speed",
            "less: widths / single / 4,\n     figure: las",
            "about nothing",
        ),
        ("average: [product]", "average: [products]", "no curve"),
        ("average: [product]", "average: [product], seeds_of: {product: 1}", "too few"),
        ("lines: {seeds", "rows: {seeds", "unknown corpus"),
        (
            "x: speed\n    curves",
            "x: speed\n    panels: {a: [single]}\n    curves",
            "'exact' is in no",
        ),
        ("more: widths / single / 4", "more: widths / single / 5", "about nothing"),
        ("corpora:\n  tree", "corpus:\n  tree", "not a grid"),
    ),
    line={
        **{"corpus": "tree", "parts": "words(kind=words)", "decoding": "beam=1", "seeds": "0"},
        **{"dev_f": 0.5, "dev_oov_r": 0.25, "test_f": 0.5, "test_oov_r": 0.125},
        **{"weight": None, "speed": 100.0, "reference": 100.0, "seconds": 2.0},
        **{"checksum": "0" * 12, "version": "0"},
    },
    broken={"speed": 0},
)


class TestContract(StudyContract):
    """What holds for every study."""


def tagged(sentences: list[list[str]]) -> list[list[tuple[str, str]]]:
    return [[(word, f"T{len(word) % 3}") for word in words] for words in sentences]


def trees(sentences: list[list[str]]) -> list[Sentence]:
    """A tree over each sentence: its root is the longest word, and words hang on their neighbors.

    The words before the root hang on the next one, those behind it on the one before.
    """
    found = []
    for sentence in tagged(sentences):
        words, tags = zip(*sentence, strict=True)
        root = max(range(len(words)), key=lambda i: len(words[i]))
        heads = [-1 if i == root else i + 1 if i < root else i - 1 for i in range(len(words))]
        labels = ["root" if i == root else "pre" if i < root else "post" for i in range(len(words))]
        found.append(Sentence(words, tags, tuple(heads), tuple(labels)))
    return found


def conllu(sentences: list[list[str]]) -> str:
    blocks = (
        "".join(
            f"{number}\t{word}\t_\tX\t{tag}\t_\t{head + 1}\t{label}\t_\t_\n"
            for number, (word, tag, head, label) in enumerate(
                zip(tree.words, tree.tags, tree.heads, tree.labels, strict=True), 1
            )
        )
        for tree in trees(sentences)
    )
    return "\n".join(blocks) + "\n"


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """A folder with a made-up corpus in two formats."""
    folder = tmp_path_factory.mktemp("data")
    for name, sentences in (("train", FEW), ("test", DEV)):
        text = "".join(" ".join(words) + "\n" for words in sentences)
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    (folder / "train.conllu").write_text(conllu(FEW), encoding="utf-8")
    (folder / "dev.conllu").write_text(conllu(DEV), encoding="utf-8")
    return folder


@pytest.mark.slow
def test_the_workflow_runs_the_whole_grid_once(finished):
    found = STUDY.results(finished)
    assert set(found) == EXPECTED
    for (_, _, _, seeds), line in found.items():
        assert min(line["speed"], line["reference"]) > 0
        assert (line["seconds"] == 0) == ("-" in seeds)
        assert all(0 <= line[n] <= 1 for n in line if n.startswith(("dev_", "test_")))


@pytest.mark.slow
def test_runs_are_what_the_estimators_find(finished):
    found = STUDY.results(finished)
    vocabulary = {word for words in FEW for word in words}

    def agrees(key: tuple[str, ...], scores: Any) -> None:
        assert found[key]["test_f"] == pytest.approx(scores.seg_f, abs=1e-6)
        assert found[key]["test_oov_r"] == pytest.approx(scores.oov_r or 0.0, abs=1e-6)

    of_five = Learning(mini_sample=5)
    pairs = [
        (
            CharacterSegmenter(learning=Learning(), epochs=2, seed=seed).fit(FEW),
            WordSegmenter(beam=4, learning=of_five, epochs=2, seed=seed).fit(FEW),
        )
        for seed in (0, 1)
    ]
    guided = GuidedSegmenter(
        CharacterSegmenter.average([pair[0] for pair in pairs]),
        WordSegmenter.average([pair[1] for pair in pairs]),
        beam=2,
        window=None,
    )
    key = ("tree", GUIDED, "beam=2 window=None", "0-1")
    assert found[key]["weight"] == guided.tune(DEV)
    agrees(key, guided.evaluate(DEV, vocabulary=vocabulary))
    # With no words longer than all that there are, to be quick; there is no other way to be exact.
    header, arrays = pairs[1][1].contents()
    changed = {"beam": None, "merge": True, "max_word_length": 12}
    exact = WordSegmenter.from_contents(
        "exact", {**header, "settings": {**header["settings"], **changed}}, arrays
    )
    agrees(("tree", f"words({WORDS})", EXACT, "1"), exact.evaluate(DEV, vocabulary=vocabulary))

    chain = CharacterJointTagger(learning=Learning(), epochs=1).fit(tagged(FEW))
    both = WordJointTagger(beam=2, learning=Learning(), epochs=1).fit(tagged(FEW))
    for decoding, model in (
        ("beam=2 window=10", GuidedJointTagger(chain, both, beam=2, window=10.0)),
        ("n_best=3", JointReranker(chain, both, n_best=3)),
    ):
        line = found["tree", f"characters({CHAIN}) + words({JOINT})", decoding, "0"]
        assert line["weight"] == model.tune(tagged(DEV))
        joint_f = model.evaluate(tagged(DEV)).joint_f
        assert line["test_joint_f"] == pytest.approx(joint_f, abs=1e-6)


def script(name: str) -> ModuleType:
    """A module of the study that needs no other."""
    path = PROJECTS / f"decoder_study/scripts/{name}.py"
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tree_of_the_most_expected_arcs_is_the_best_of_all():
    trees_of = script("expected_trees")
    draw = np.random.default_rng(0)
    for n in range(1, 6):
        every = all_trees(n)
        for _ in range(8):
            scores = draw.integers(0, 6, (n + 1, n)).astype(float)

            def total(heads: Sequence[int], scores: Any = scores) -> float:
                return sum(scores[head, child] for child, head in enumerate(heads))

            found = tuple(trees_of.projective_heads(scores))
            assert found in every
            assert total(found) == max(map(total, every))


def test_expected_arcs_are_those_of_all_analyses():
    """Two trees over 我 看 书, one of them twice as probable, and one over 我 看书."""
    trees_of = script("expected_trees")
    three, tags = ("我", "看", "书"), ("PN", "VV", "NN")
    right = Sentence(three, tags, (1, -1, 1), ("nsubj", "root", "obj"))
    wrong = Sentence(three, tags, (2, 2, -1), ("nsubj", "dep", "root"))
    other = Sentence(("我", "看书"), ("PN", "VV"), (1, -1), ("nsubj", "root"))
    analyses = [ParsedAnalysis(0.0, (0.0,), (tree,)) for tree in (right, wrong, other)]
    labels = ("dep", "nsubj", "obj", "root")
    arcs = expected_arcs(analyses, np.array([0.5, 0.25, 0.25]), labels)
    assert arcs[0, 1, -1] == arcs[0, 1, 1] == 0.75  # 我 hangs on what begins with 看
    assert arcs[2, 1, 2] == 0.5
    assert trees_of.expected_tree(three, tags, arcs, labels) == right
    # No analysis has these words: an arc that is in none has the first label.
    found = trees_of.expected_tree(("我看", "书"), ("X", "NN"), arcs, labels)
    assert found.heads == (1, -1)
    assert found.labels == ("nsubj", "root")
