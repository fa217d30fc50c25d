"""Perceptrons on chains with lists of features, against brute force."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from crf_twins import Enumeration
from example_counts import quick_examples
from hypothesis import given, reject
from hypothesis import strategies as st
from learning_twins import GOLDEN, DenseWeights, SplitMix64, Undecided, is_dropped
from log_linear_twin import FeatureReader, Sentence, chain_features, random_sentence, with_mask
from looped import looped
from twins import MASK_64

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainingRows
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.training.chain import ChainTrainer, cut

# Label 0 comes first and may come last; 1 is not followed by 0; 2 never follows itself.
HELD = LabelGraph([[1, 1, 1], [0, 1, 1], [1, 1, 0]], [1, 0, 0], [1, 1, 0])
RULES = ["perceptron", "pa", "pa_i"]


class PerceptronTwin(FeatureReader):
    """A perceptron with random weights, all of which are visited at every update."""

    new_trainer = ChainTrainer

    def __init__(
        self,
        lists: Sequence[str],
        lengths: Sequence[int],
        learning: Learning,
        *,
        adaptive: bool = False,
        seed: int = 0,
        edges: str = "",
        partial: bool = False,
    ) -> None:
        templates = f"u-1u0 | u0 | u+1 | t-1t0{edges}"
        features = chain_features(templates, HELD.n_labels, lists)
        sentences = [
            random_sentence(seed + i, features, HELD, length, real=True)
            for i, length in enumerate(lengths)
        ]
        if partial:
            sentences = [with_mask(sentence, HELD, seed) for sentence in sentences]
        super().__init__(features, HELD, sentences)
        self.learning = learning
        trained = []
        for number, random in enumerate(self.random_rows(learning, seed)):
            table = TrainingRows(random.n_columns, adaptive and number != features.tag_bigram)
            for row, key in enumerate(random.state()["keys"].tolist()):
                weights = random.weights(row).astype(np.float32).tolist()
                table.add([(table.row(key), column, w) for column, w in enumerate(weights)], 1)
            trained.append(table.average(1))
        self.take(Perceptron.from_trained(trained, learning))
        self.dense = DenseWeights(self.weights(), **learning.penalties)

    def weights(self) -> np.ndarray:
        """The weights of the learner, in one array."""
        clock = self.learner.clock
        tables = self.learner.tables
        return self.flat(
            [table.weights(row, clock) for table in tables for row in range(table.n_rows)]
        )

    def visit(self, sentence: Sentence, begin: int, count: int, noise: SplitMix64) -> int:
        """Learn from a piece; returns how many labels were wrong."""
        hidden = frozenset(self.hidden(sentence, begin, count, noise))
        draw = noise.word() if self.learning.hidden_dropout else None
        crf, cells = self.crf(sentence, begin, count, hidden)
        crf.values[..., [self.is_dropped(cell, draw) for cell in cells.tolist()]] = 0.0
        paths = Enumeration(crf, self.dense.weights[cells])
        assert sentence.labels is not None
        right = sentence.labels[begin : begin + count]
        if right.ndim == 1:
            right = right[:, None] == np.arange(HELD.n_labels)
        wrong = {path: sum(not right[i, y] for i, y in enumerate(path)) for path in paths.paths}
        rule = self.learning.algorithm
        scores = {path: paths.log_likelihood(path) for path in paths.paths}
        # Of all that is right, the best is learned.
        gold, *others = sorted((path for path in scores if not wrong[path]), key=scores.get)[::-1]
        if others and scores[gold] - scores[others[0]] < 1e-9:
            raise Undecided
        if rule == "pa":
            scores = {path: score for path, score in scores.items() if wrong[path]}
        elif rule == "pa_i":
            scores = {path: score + wrong[path] for path, score in scores.items()}
        if not scores:
            self.dense.step([])
            return 0
        path = max(scores, key=lambda path: scores[path])
        loss = scores[path] - paths.log_likelihood(gold) + (rule == "pa")
        close = [other for other, score in scores.items() if score > scores[path] - 1e-9]
        if len(close) > 1 or (rule == "pa" and abs(loss) < 1e-9):
            # Dropout hides all that would tell paths apart, or a margin was just met.
            raise Undecided
        if not wrong[path] or (rule != "perceptron" and loss <= 0):
            self.dense.step([])
            return 0
        changes = paths.counts(gold) - paths.counts(path)
        size = 1.0
        if rule != "perceptron":
            by_cell = np.zeros(len(self.dense.weights))
            np.add.at(by_cell, cells, changes)
            squared = float(by_cell @ by_cell)
            size = min(self.learning.aggressiveness, loss / squared) if squared else 0.0
        self.dense.step(zip(cells.tolist(), (size * changes).tolist(), strict=True))
        return wrong[path]

    def hidden(self, sentence: Sentence, begin: int, count: int, noise: SplitMix64) -> list[int]:
        """The positions that dropout hides."""
        if not self.learning.dropout:
            return []
        reach = self.features.reach
        around = range(max(0, begin - reach), min(sentence.length, begin + count + reach))
        return [i for i in around if noise.unit() < self.learning.dropout]

    def is_dropped(self, cell: int, draw: int | None) -> bool:
        """Whether hidden dropout leaves out a weight."""
        if draw is None:
            return False
        table = int(np.searchsorted(self.starts, cell, side="right")) - 1
        row, column = divmod(cell - int(self.starts[table]), self.learner.tables[table].n_columns)
        of_table = draw ^ ((table + 1) * GOLDEN & MASK_64)
        return is_dropped(of_table, row, column, self.learning.hidden_dropout)

    def run(self, pieces: np.ndarray, seed: int) -> None:
        """An epoch on both sides, which must agree on what was wrong and on all weights."""
        noise = SplitMix64(seed)
        wrong = [
            self.visit(self.sentences[number], begin, count, noise)
            for number, begin, count in pieces.tolist()
        ]
        found = self.trainer.epoch(self.chains, pieces, seed)
        assert found == (sum(n > 0 for n in wrong), sum(wrong))
        assert self.learner.clock == self.dense.clock
        np.testing.assert_allclose(self.weights(), self.dense.weights, rtol=1e-9, atol=1e-11)
        averages = [
            rows.weights(key)
            for table, rows in zip(self.learner.tables, self.learner.average(), strict=True)
            for key in table.state()["keys"].tolist()
        ]
        means = self.dense.totals / self.dense.clock
        np.testing.assert_allclose(self.flat(averages), means, rtol=1e-6, atol=1e-9)


@quick_examples(80)
@given(
    lists=st.sampled_from([("label",), ("edge",), ("label", "edge")]),
    # Edge features that are n-grams come in place of those of a list.
    edges=st.sampled_from(["", " | t-1t0u0 | t-1t0u-1u0 | t-1t0v+1u+2"]),
    rule=st.sampled_from(RULES),
    penalties=st.sampled_from([{}, {"l2": 0.05}, {"l1": 0.02}, {"cumulative_l1": 0.02}]),
    dropout=st.sampled_from([0.0, 0.3]),
    hidden_dropout=st.sampled_from([0.0, 0.3]),
    mini_sample=st.sampled_from([1.5, 2.5, 10.0]),
    adaptive=st.booleans(),
    partial=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_lists_of_features_are_learned(
    *,
    lists: tuple[str, ...],
    edges: str,
    rule: str,
    penalties: dict[str, float],
    adaptive: bool,
    partial: bool,
    seed: int,
    **options: Any,
) -> None:
    learning = Learning(algorithm=rule, **penalties, **options)  # type: ignore[arg-type]
    lists = tuple(name for name in lists if name == "label" or not edges)
    twin = PerceptronTwin(
        lists, (4, 3, 5), learning, adaptive=adaptive, seed=seed, edges=edges, partial=partial
    )
    for epoch in range(2):
        try:
            twin.run(cut([4, 3, 5], learning.mini_sample, seed + epoch), seed + epoch)
        except Undecided:
            reject()


def test_chains_without_labels_are_refused() -> None:
    twin = PerceptronTwin(("label",), (3,), Learning())
    sentence = twin.sentences[0]
    unlabeled = Sentence(sentence.symbols, None, sentence.lists, sentence.length)
    chains = [*twin.chains, twin.compile(unlabeled, twin.learner)]
    with pytest.raises(ValueError, match="sequence 1 has no labels"):
        twin.trainer.epoch(chains, [0])


@looped(
    ("listed", "message"),
    [
        (([0, 1, 1], [4], None), "does not fit 3 positions"),
        (([0, 1, 1, 2], [4], None), "does not fit 3 positions"),
        (([0, 1, 0, 1], [4], None), "does not fit 3 positions"),
        (([1, 1, 1, 1], [4], None), "does not fit 3 positions"),
        (([0, 1, 1, 1], [4], [np.nan]), "must be finite"),
        (([0, 1, 1, 1], [4], [1e31]), "must be finite and not too large"),
        (([0, 1, 1, 1], [4], [1.0, 2.0]), "must be finite"),
    ],
)
def test_wrong_lists_are_refused(listed: tuple[Any, Any, Any], message: str) -> None:
    twin = PerceptronTwin(("label",), (3,), Learning())
    starts, keys, values = listed
    arrays = (
        np.array(starts),
        np.array(keys, dtype=np.uint64),
        None if values is None else np.array(values),
    )
    before = twin.learner.n_rows()
    sentence = twin.sentences[0]
    with pytest.raises(ValueError, match=message):
        twin.compile(Sentence(sentence.symbols, sentence.labels, (arrays,), 3), twin.learner)
    with pytest.raises(ValueError, match="0 lists of features do not fit"):
        twin.compile(Sentence(sentence.symbols, sentence.labels, (), 3), twin.learner)
    assert twin.learner.n_rows() == before
