"""The training of label chains against a perceptron that tries all label sequences."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from learning_twins import CharacterTwin
from looped import looped
from twins import CharacterModel, character_model

from spacy_structreg.features.segmentation import CHARACTER_TYPES, SKIP_BIGRAM, ZHANG_2014
from spacy_structreg.learn.learning_settings import Learning
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
MOST = 8  # characters of a sentence: all their label sequences are tried


def shortened(words: Sequence[str]) -> list[str]:
    """The first words, no more than can be tried."""
    lengths = accumulate(map(len, words))
    return [str(word) for word, length in zip(words, lengths, strict=True) if length <= MOST]


SENTENCES = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(shortened), min_size=1, max_size=6
)


def corpus(n: int, seed: int) -> list[list[str]]:
    random = np.random.default_rng(seed)
    return [shortened(random.choice(WORDS, size=random.integers(1, 7))) for _ in range(n)]


class Training:
    """A learner, its trainer and a corpus that was compiled for it."""

    def __init__(self, model: CharacterModel, sentences: list[list[str]]) -> None:
        scheme = bmes()
        self.learner = model.features.new_learner()
        self.trainer = ChainTrainer(model.features, model.graph, self.learner)
        self.chains = [
            model.atoms.compile(words, scheme, model.features, self.learner) for words in sentences
        ]

    def epoch(self, order) -> tuple[int, int]:
        return self.trainer.epoch(self.chains, order)


def run(templates: str, sentences: list[list[str]], orders, adaptive: bool | None = None) -> None:
    """From zeros, all is exact in binary, ties and averages included."""
    twin = CharacterTwin(templates, sentences, Learning(), adaptive=adaptive, seed=None)
    for order in orders:
        twin.run(np.array([[i, 0, len(twin.texts[i])] for i in order]))
        assert (twin.weights() == twin.dense.weights).all()
        means = twin.dense.totals / twin.dense.clock
        assert (twin.averages() == means.astype(np.float32)).all()
        # Rows of zeros are left out.
        places = zip(twin.places(), means, strict=True)
        live = {(table, key) for (table, key, _), mean in places if mean}
        kept = [rows.arrays["keys"].tolist() for rows in twin.learner.average()]
        assert {(table, key) for table, keys in enumerate(kept) for key in keys} == live


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
