"""The training kernel of label chains against a perceptron of plain dictionaries."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from twins import ChainTwin, CharacterModel, character_model, place, rows_by_key

from spacy_structreg.features.segmentation import CHARACTER_TYPES, SKIP_BIGRAM, ZHANG_2014
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.tasks.segmentation.bmes import bmes
from spacy_structreg.training.chain import ChainTrainer

SETS = [
    ZHANG_2014,
    "c0",
    "t-1t0",
    "c-1 | c0 | c+2 | c-2c+1",
    f"{ZHANG_2014} | {CHARACTER_TYPES} | {SKIP_BIGRAM}",
    "c-2c-1c0c+1 | c-1c0c+1c+2 | type0c0c+1c+2 | t-1t0",
]
WORDS = ["我", "我们", "们", "在", "北京", "大学", "北京大学", "学生", "学", "生", "2024年", "年"]
SENTENCES = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), min_size=1, max_size=6
)


def corpus(n: int, seed: int) -> list[list[str]]:
    random = np.random.default_rng(seed)
    return [random.choice(WORDS, size=random.integers(1, 7)).tolist() for _ in range(n)]


class Training:
    """A learner, its trainer and a corpus that was compiled for it."""

    def __init__(
        self, model: CharacterModel, sentences: list[list[str]], adaptive: bool | None = None
    ) -> None:
        scheme = bmes()
        self.learner = model.features.new_learner(adaptive=adaptive)
        self.trainer = ChainTrainer(model.features, model.graph, self.learner)
        self.chains = [
            model.atoms.compile(words, scheme, model.features, self.learner) for words in sentences
        ]

    def epoch(self, order) -> tuple[int, int]:
        return self.trainer.epoch(self.chains, order)


def expected_rows(model: CharacterModel, weights) -> list[dict[int, np.ndarray]]:
    """The rows of every shape that hold the weights of a twin which are not zero."""
    tables: list[dict[int, np.ndarray]] = [{} for _ in model.shapes]
    for (feature, label), weight in weights.items():
        if weight:
            number, key, column = place(model, feature)
            width = model.features.widths[number]
            tables[number].setdefault(key, np.zeros(width))[column + label] += weight
    return tables


def check(model: CharacterModel, training: Training, twin: ChainTwin) -> None:
    """Weights and averages are those of the twin, and there are no others."""
    current = expected_rows(model, twin.weights)
    averages = expected_rows(
        model, {name: np.float32(total / twin.clock) for name, total in twin.totals.items()}
    )
    assert training.learner.clock == twin.clock
    trained = training.learner.average()
    for number, table in enumerate(training.learner.tables):
        if number == model.features.tag_bigram:
            assert (table.weights(0) == twin.bigrams.ravel()).all()
            mean = (twin.bigram_totals / twin.clock).astype(np.float32).ravel()
            assert (trained[number].weights(0) == mean).all()
            continue
        live = {key: row for key, row in rows_by_key(table).items() if row.any()}
        assert live.keys() == current[number].keys()
        for key, row in live.items():
            assert (row == current[number][key]).all()
        assert trained[number].arrays["keys"].tolist() == sorted(averages[number])
        for key, row in averages[number].items():
            assert (trained[number].weights(key) == row).all()


def run(templates: str, sentences: list[list[str]], orders, adaptive: bool | None = None) -> None:
    model = character_model(templates, "g10")
    training = Training(model, sentences, adaptive)
    twin = ChainTwin(model)
    for order in orders:
        wrong = [twin.visit(sentences[i]) for i in order]
        assert training.epoch(order) == (sum(w > 0 for w in wrong), sum(wrong))
        check(model, training, twin)


@quick_examples(50)
@given(st.sampled_from(SETS), SENTENCES, st.booleans(), st.data())
def test_small_corpora_equal_the_twin(templates: str, sentences, adaptive: bool, data) -> None:
    orders = data.draw(st.lists(st.permutations(range(len(sentences))), min_size=1, max_size=3))
    run(templates, sentences, orders, adaptive)


@looped("templates", SETS)
def test_some_epochs_equal_the_twin(templates: str) -> None:
    random = np.random.default_rng(1)
    run(templates, corpus(25, seed=2), [random.permutation(25).tolist() for _ in range(4)])


def test_what_does_not_fit_a_trainer_is_refused() -> None:
    model = character_model("c0")
    training, other = (Training(model, [["我"], ["我", "们"]]) for _ in range(2))
    for order in ([0, 2], [-1], [0, 10**12]):
        with pytest.raises(IndexError, match=r"sequence index out of range: there are 2"):
            training.epoch(order)
    with pytest.raises(TypeError):
        training.trainer.epoch(["我"], [0])
    with pytest.raises(ValueError, match="another learner"):
        training.trainer.epoch(other.chains, [0])
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(training.chains[0])
    graph = LabelGraph(np.ones((3, 3)), np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="label graph"):
        ChainTrainer(model.features, graph, model.features.new_learner())
    assert training.epoch([]) == (0, 0)
    assert training.learner.clock == 0
    # A sequence may be visited more than once.
    training.epoch([1, 1, 1])
    assert training.learner.clock == 3


def test_a_learner_of_other_features_is_refused() -> None:
    model = character_model("c0 | t-1t0")
    for templates in ("c0", "c0 | c+1 | t-1t0", "t-1t0", "c0 | c0c+1 | t-1t0"):
        foreign = character_model(templates).features.new_learner()
        with pytest.raises(ValueError, match="other features"):
            ChainTrainer(model.features, model.graph, foreign)
    with pytest.raises(ValueError, match="other features"):
        ChainTrainer(model.features, model.graph, Perceptron([]))
