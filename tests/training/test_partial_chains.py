"""Masks of label chains that are annotated in part; twins of the trainers learn from such."""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from twins import character_model, legal_paths

from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.tasks.segmentation.bmes import SCHEMES, bmes, with_tags
from spacy_structreg.training.chain_trainers import new_chain_trainer
from spacy_structreg.training.pieces import cut

TEMPLATES = "c-1 | c0 | c+1 | c-1c0 | t-1t0"
GRAPHS = [
    LabelGraph(np.ones((3, 3)), np.ones(3), np.ones(3)),
    LabelGraph([[1, 1, 1], [0, 1, 1], [1, 1, 0]], [1, 0, 0], [1, 1, 0]),
    bmes().graph,
]


# Masks --------------------------------------------------------------------------------------------


@quick_examples(100)
@given(st.sampled_from(GRAPHS), st.integers(1, 4), st.integers(0, 10_000))
def test_a_pruned_mask_has_the_labels_of_its_paths(graph: LabelGraph, n: int, seed: int) -> None:
    mask = np.random.default_rng(seed).random((n, graph.n_labels)) < 0.6
    paths = list(legal_paths(graph, n, mask))
    if not paths:
        with pytest.raises(ValueError, match="no sequence of labels is legal"):
            graph.prune(mask)
        return
    expected = np.zeros_like(mask)
    for path in paths:
        expected[np.arange(n), path] = True
    assert (graph.prune(mask) == expected).all()


def test_masks_of_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="does not fit 4 labels"):
        bmes().graph.prune(np.ones((2, 3)))


@pytest.mark.parametrize("name", SCHEMES)
@quick_examples(50)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_known_words_leave_one_path(name: str, lengths: list[int]) -> None:
    ends = np.cumsum(lengths)[:-1]
    known = [i + 1 in ends for i in range(sum(lengths) - 1)]
    scheme = SCHEMES[name]()
    allowed = scheme.allowed(known)
    assert (allowed.sum(axis=1) == 1).all()
    assert allowed.argmax(axis=1).tolist() == scheme.encode(lengths).tolist()


def test_tags_of_known_words() -> None:
    scheme = with_tags(bmes(), ["NN", "VV"])
    allowed = scheme.allowed([False, True, None], [(0, 2, "VV")])
    assert [scheme.labels[i] for i in np.flatnonzero(allowed[0])] == ["B-VV"]
    assert [scheme.labels[i] for i in np.flatnonzero(allowed[1])] == ["E-VV"]
    assert {scheme.labels[i] for i in np.flatnonzero(allowed[2])} == {
        "B-NN",
        "B-VV",
        "S-NN",
        "S-VV",
    }
    with pytest.raises(ValueError, match="unknown tag 'XX'"):
        scheme.allowed([False], [(0, 2, "XX")])


# What is known as a whole -------------------------------------------------------------------------

WORDS = [["北京", "大学", "人"], ["人", "人人"], ["大学生", "在", "北京大学"], ["人"]]
SETTINGS = [
    Learning(),
    Learning(algorithm="pa"),
    Learning(algorithm="pa_i", aggressiveness=0.1, mini_sample=2.0),
    Learning(l2=0.01, dropout=0.2),
    LogLinear(),
    LogLinear(noise="dropout", noise_level=0.3),
]


@looped("settings", SETTINGS)
@looped("scheme", SCHEMES)
def test_what_is_known_as_a_whole_trains_bit_for_bit(settings, scheme: str) -> None:
    labels = SCHEMES[scheme]()
    tables = []
    for partial in (False, True):
        model = character_model(TEMPLATES)
        features = type(model.features)(model.shapes, model.atoms.atoms, len(labels.labels))
        learner = features.new_learner(settings)
        chains = []
        for words in WORDS:
            text = "".join(words)
            ends = np.cumsum(list(map(len, words)))
            known = [i + 1 in ends for i in range(len(text) - 1)]
            chains.append(
                model.atoms.compile_partial(text, known, (), labels, features, learner)
                if partial
                else model.atoms.compile(words, labels, features, learner)
            )
        assert not any(chain.is_partial for chain in chains)
        trainer = new_chain_trainer(features, labels.graph, learner)
        for epoch in range(4):
            pieces = cut(list(map(len, chains)), settings.mini_sample, epoch)
            trainer.epoch(chains, pieces, epoch)
        tables.append([table.state() for table in learner.tables])
    for whole, part in zip(*tables, strict=True):
        assert whole.keys() == part.keys()
        for name in whole:
            assert whole[name].tobytes() == part[name].tobytes()


def test_a_mask_without_a_label_is_refused() -> None:
    model = character_model("c0")
    learner = model.features.new_learner()
    mask = np.ones((2, 4), dtype=bool)
    mask[1] = False
    with pytest.raises(ValueError, match="leaves a position without a label"):
        model.features.compile(model.atoms.symbols("人大", 0), mask, learner)
