"""Corrections of weights against the smallest change, found by another way over all outputs."""

from __future__ import annotations

import numpy as np
import pytest
from crf_twins import Enumeration
from learning_twins import CharacterTwin
from looped import looped
from scipy.optimize import nnls

from spacy_structreg.learn.corrector import Corrector
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.rows import TrainingRows
from spacy_structreg.training.chain import ChainTrainer

LEARNING = Learning("pa", clock="mistakes")
TEMPLATES = "c-1 | c0 | c-1c0 | t-1t0"
SENTENCES = [["我们", "在"], ["北京", "大", "学"], ["大学生", "在"], ["京", "生", "北"]]


class Case:
    """A model of random weights that is corrected, and the names of its weights."""

    def __init__(self, seed: int) -> None:
        self.twin = twin = CharacterTwin(TEMPLATES, SENTENCES, LEARNING, seed=seed)
        trained = twin.learner.average()
        self.tables = trained
        self.corrector = Corrector.from_trained(trained, LEARNING)
        self.trainer = ChainTrainer(twin.model.features, twin.model.graph, self.corrector)
        self.chains = [twin.compile(sentence, self.corrector) for sentence in twin.sentences]

    def weights(self) -> np.ndarray:
        tables = self.corrector.tables
        places = self.twin.places()
        return np.array([tables[t].weights(tables[t].row(key))[y] for t, key, y in places])

    def correct(self, number: int) -> None:
        self.corrector.begin()
        for _ in range(100):
            before = self.corrector.n_steps
            self.trainer.epoch(self.chains, [number])
            if self.corrector.n_steps == before:
                return

    def differences(self, number: int) -> np.ndarray:
        """ΔΦ of gold against every other output, one a row."""
        sentence = self.twin.sentences[number]
        assert sentence.labels is not None
        crf, cells = self.twin.crf(sentence)
        gold = tuple(sentence.labels.tolist())
        paths = Enumeration(crf, np.zeros(len(cells)))
        rows = []
        for path in paths.paths:
            if path != gold:
                rows.append(np.zeros(len(self.twin.dense.weights)))
                np.add.at(rows[-1], cells, paths.counts(gold) - paths.counts(path))
        return np.array(rows)


def smallest(start: np.ndarray, rows: np.ndarray, shares: np.ndarray, margin: float) -> np.ndarray:
    """min Σ (w - start)² / share subject to rows · w ≥ margin, by nonnegative least squares.

    The least-distance problem of Lawson & Hanson 1974, chapter 23.
    """
    scaled = rows * np.sqrt(shares)
    bound = margin - rows @ start
    e = np.vstack((scaled.T, bound))
    f = np.zeros(len(e))
    f[-1] = 1
    solution, _ = nnls(e, f)
    residual = e @ solution - f
    return start + np.sqrt(shares) * (-residual[:-1] / residual[-1])


@looped("counted", [False, True])
@looped("seed", range(1, 7))  # with 0, the sentence is right already
def test_no_smaller_change_makes_a_sentence_right(seed: int, counted: bool) -> None:
    case = Case(seed)
    sizes = [table.n_rows for table in case.corrector.tables]
    shares = np.array([(max(1, n) / max(sizes)) ** 2 for n in sizes])
    per_row = [np.ones(n) for n in sizes]
    if counted:
        counts = [np.random.default_rng(seed).integers(0, 4, n) for n in sizes]
        case.corrector.set_feature_counts(counts)
        shares = np.sqrt(shares)
        per_row = [1 / (1 + each) ** 2 for each in counts]
    tables = case.corrector.tables
    of_weights = np.array(
        [shares[t] * per_row[t][tables[t].row(key)] for t, key, _ in case.twin.places()]
    )
    start = case.weights()
    case.correct(1)
    found = case.weights()
    rows = case.differences(1)
    expected = smallest(start, rows, of_weights, case.corrector.margin)

    def cost(weights: np.ndarray) -> float:
        return float((((weights - start) ** 2) / of_weights).sum())

    assert (rows @ found >= 0.98 * case.corrector.margin).all()
    assert case.corrector.n_steps > 0
    assert cost(found) == pytest.approx(cost(expected), rel=0.05, abs=1e-4)


def test_what_is_right_by_the_margin_stays() -> None:
    case = Case(0)
    case.correct(2)
    weights, steps = case.weights(), case.corrector.n_steps
    case.correct(2)
    assert case.corrector.n_steps == steps
    assert case.weights().tolist() == weights.tolist()


def test_the_corrected_tables_are_the_weights() -> None:
    """Rows that were touched are replaced, the others are those of before."""
    case = Case(3)
    case.correct(0)
    first = case.corrector.corrected(case.tables)
    case.correct(3)
    second = case.corrector.corrected(first)
    whole = case.corrector.average()
    for table, all_of_it in zip(second, whole, strict=True):
        for key in all_of_it.arrays["keys"].tolist():
            assert table.weights(key).tolist() == all_of_it.weights(key).tolist()
    assert any(a is not b for a, b in zip(first, case.tables, strict=True))


def test_counts_of_chains_by_hand() -> None:
    case = Case(0)
    counts = case.trainer.count([case.chains[1], case.chains[2]])
    number = next(n for n, key, _ in case.twin.places() if key == ord("大"))
    row = case.corrector.tables[number].row(ord("大"))
    # 北京大学 and 大学生在, each with the character once; a row serves all shifts of a shape.
    assert counts[number][row] == 2


@looped("margin", [0.0, -1.0, 1.5, float("nan")])
def test_margins_that_cannot_be(margin: float) -> None:
    with pytest.raises(ValueError, match="margin must be"):
        Corrector([TrainingRows(4)], LEARNING, margin=margin)


def test_settings_and_counts_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="corrections need"):
        Corrector([TrainingRows(4)], Learning("pa"))
    with pytest.raises(ValueError, match="expected the counts of 1 tables"):
        Corrector([TrainingRows(4)], LEARNING).set_feature_counts([])
