"""Label chains that are annotated in part: against all paths of short inputs, one by one."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from crf_twins import Enumeration, finite_differences
from example_counts import quick_examples
from hypothesis import example, given
from hypothesis import strategies as st
from learning_twins import label_sequences
from log_linear_twin import LogLinearTwin, Sentence, chain_features, random_path, random_sentence
from looped import looped
from twins import ChainTwin, character_model, legal_paths, place, rows_by_key

from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.tasks.segmentation.bmes import SCHEMES, bmes, with_tags
from spacy_structreg.training.chain import ChainTrainer
from spacy_structreg.training.chain_trainers import new_chain_trainer
from spacy_structreg.training.pieces import cut

AGGRESSIVENESS = {"pa_i": 0.1}
TEMPLATES = "c-1 | c0 | c+1 | c-1c0 | t-1t0"
GRAPHS = [
    LabelGraph(np.ones((3, 3)), np.ones(3), np.ones(3)),
    LabelGraph([[1, 1, 1], [0, 1, 1], [1, 1, 0]], [1, 0, 0], [1, 1, 0]),
    bmes().graph,
]


def boundaries(n: int) -> st.SearchStrategy[list[bool | None]]:
    return st.lists(st.sampled_from([None, None, True, False]), min_size=n, max_size=n)


TEXTS = st.text("人大京", min_size=1, max_size=6)
PARTIAL = TEXTS.flatmap(lambda text: st.tuples(st.just(text), boundaries(len(text) - 1)))


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


# Updates ------------------------------------------------------------------------------------------


class Visit:
    """One visit of one sentence by random weights."""

    def __init__(self, text: str, known: list[bool | None], learning: Learning, seed: int) -> None:
        self.text = text
        self.model = character_model(TEMPLATES)
        scheme = bmes()
        self.learner = self.model.features.new_learner(learning, adaptive=False)
        self.chain = self.model.atoms.compile_partial(
            text, known, (), scheme, self.model.features, self.learner
        )
        self.mask = scheme.allowed(known)
        random = np.random.default_rng(seed)
        for table in self.learner.tables:
            for row in range(len(table)):
                for column in range(table.n_columns):
                    table.add([(row, column, float(random.normal()))], 1)
        self.twin = ChainTwin(self.model)

    def features(self, path, begin: int) -> dict[tuple[int, int, int], float]:
        """How often each weight counts for the labels of a piece."""
        counts: dict[tuple[int, int, int], float] = {}
        for i, label in enumerate(path):
            for feature in self.twin.features(self.text, begin + i):
                number, key, column = place(self.model, feature)
                cell = (number, key, column + label)
                counts[cell] = counts.get(cell, 0.0) + 1.0
        for a, b in pairwise(path):
            cell = (self.model.features.tag_bigram, 0, a * 4 + b)
            counts[cell] = counts.get(cell, 0.0) + 1.0
        return counts

    def weights(self) -> dict[tuple[int, int, int], float]:
        return {
            (number, key, column): float(weight)
            for number, table in enumerate(self.learner.tables)
            for key, row in rows_by_key(table).items()
            for column, weight in enumerate(row)
        }

    def paths(self, begin: int, count: int):
        """The labels of a piece, with whether they are within the mask."""
        n = len(self.text)
        for path in label_sequences(self.model.graph, count, begin > 0, begin + count < n):
            yield path, all(self.mask[begin + i, label] for i, label in enumerate(path))

    def expected(self, begin: int, count: int, algorithm: str) -> dict[tuple[int, int, int], float]:
        """The change of weights by a visit of a piece."""
        before = self.weights()

        def score(path) -> float:
            return sum(before[cell] * n for cell, n in self.features(path, begin).items())

        paths = list(self.paths(begin, count))
        gold = max((path for path, right in paths if right), key=score)

        def cost(path) -> int:
            return sum(not self.mask[begin + i, label] for i, label in enumerate(path))

        if algorithm == "perceptron":
            other = max((path for path, _ in paths), key=score)
            step = None
        elif algorithm == "pa":
            outside = [path for path, right in paths if not right]
            if not outside:
                return {}
            other = max(outside, key=score)
            if score(gold) - score(other) >= 1:
                return {}
            step = 1 - (score(gold) - score(other))
        else:
            other = max((path for path, _ in paths), key=lambda path: score(path) + cost(path))
            step = score(other) + cost(other) - score(gold)
        if (other, True) in paths:
            return {}
        change = self.features(gold, begin)
        for cell, n in self.features(other, begin).items():
            change[cell] = change.get(cell, 0.0) - n
        if step is not None:
            norm = sum(n * n for n in change.values())
            step = 0.0 if norm == 0 else step / norm
            step = min(step, AGGRESSIVENESS.get(algorithm, 1.0))
            change = {cell: n * step for cell, n in change.items()}
        return {cell: n for cell, n in change.items() if n}


@pytest.mark.parametrize("algorithm", ["perceptron", "pa", "pa_i"])
@quick_examples(60)
# A step that would be longer than the aggressiveness.
@example(("京京京", [None, False]), 4508, 1, 0)
@given(PARTIAL, st.integers(0, 10_000), st.integers(0, 5), st.integers(0, 5))
def test_a_visit_equals_brute_force(
    algorithm: str, sentence, seed: int, begin: int, count: int
) -> None:
    text, known = sentence
    learning = Learning(algorithm, AGGRESSIVENESS.get(algorithm, 1.0))
    visit = Visit(text, known, learning, seed)
    begin %= len(text)
    count = 1 + count % (len(text) - begin)
    before = visit.weights()
    expected = visit.expected(begin, count, algorithm)
    trainer = ChainTrainer(visit.model.features, visit.model.graph, visit.learner)
    n_wrong, _ = trainer.epoch([visit.chain], np.array([[0, begin, count]]))
    assert n_wrong == bool(expected)
    after = visit.weights()
    for cell, weight in before.items():
        assert after[cell] == pytest.approx(weight + expected.get(cell, 0.0), abs=1e-9)


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


# Likelihoods --------------------------------------------------------------------------------------


class PartialTwin(LogLinearTwin):
    """A twin whose gold labels are masks, of shape (n, n_labels)."""

    def likelihood(self, sentence, weights, begin=0, count=None):
        count = sentence.length if count is None else count
        gradient = np.zeros(len(weights))
        if not count:
            return 0.0, gradient
        crf, cells = self.crf(sentence, begin, count)
        paths = Enumeration(crf, weights[cells])
        mask = sentence.labels[begin : begin + count]
        right = np.array([all(mask[i, y] for i, y in enumerate(path)) for path in paths.paths])
        local = paths.local.sum(axis=1)
        all_of_mask = paths.probabilities[right].sum()
        expected = paths.probabilities @ local
        within = paths.probabilities[right] @ local[right] / all_of_mask
        np.add.at(gradient, cells, expected - within)
        return -np.log(all_of_mask), gradient

    def wrong(self, sentence, weights, begin, count):
        if not count:
            return 0
        crf, cells = self.crf(sentence, begin, count)
        best = Enumeration(crf, weights[cells]).nodes.argmax(axis=1)
        return int((~sentence.labels[begin : begin + count][np.arange(count), best]).sum())


def partial_twin(graph: LabelGraph, lists, lengths, seed: int, **options) -> PartialTwin:
    features = chain_features("u-1 | u0 | u-1u0 | t-1t0", graph.n_labels, lists)
    sentences: list[Sentence] = []
    for number, length in enumerate(lengths):
        random = np.random.default_rng(seed + number)
        sentence = random_sentence(seed + number, features, graph, length, real=True)
        mask = random.random((length, graph.n_labels)) < 0.5
        mask[np.arange(length), random_path(random, graph, length)] = True
        sentences.append(replace(sentence, labels=graph.prune(mask)))
    return PartialTwin(features, graph, LogLinear(**options), sentences, seed=seed)


NOISES = [{}, {"noise": "dropout", "noise_level": 0.3}]
LISTS = [(), ("label",), ("edge",), ("label", "edge")]


@quick_examples(40)
@given(
    st.sampled_from(GRAPHS),
    st.sampled_from(LISTS),
    st.lists(st.integers(1, 4), min_size=1, max_size=2),
    st.integers(0, 1000),
    st.sampled_from(NOISES),
)
def test_objective_and_gradient_equal_sums_over_all_paths(graph, lists, lengths, seed, noise):
    twin = partial_twin(graph, lists, lengths, seed, **noise)
    value, gradient = twin.found()
    expected, expected_gradient = twin.objective(twin.weights)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-9, atol=1e-9)


def test_the_gradient_equals_finite_differences() -> None:
    twin = partial_twin(GRAPHS[1], ("label", "edge"), [4, 3], 3)
    _, gradient = twin.found()
    differences = finite_differences(lambda weights: twin.objective(weights)[0], twin.weights)
    np.testing.assert_allclose(gradient, differences, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("lists", LISTS)
def test_descent_on_pieces(lists) -> None:
    twin = partial_twin(GRAPHS[2], lists, [4, 3], 5, l2=0.1, rate=0.1)
    twin.run([[0, 0, 4], [1, 1, 2], [0, 1, 2], [1, 0, 3]])


def test_a_mask_without_a_label_is_refused() -> None:
    model = character_model("c0")
    learner = model.features.new_learner()
    mask = np.ones((2, 4), dtype=bool)
    mask[1] = False
    with pytest.raises(ValueError, match="leaves a position without a label"):
        model.features.compile(model.atoms.symbols("人大", 0), mask, learner)
