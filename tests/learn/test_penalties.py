"""Lazy penalties against weights of which every one is visited at every update."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import settings
from learning_twins import DenseWeights, rows_at, same_rows
from looped import looped

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainingRows

FORMS = ("none", "l2", "l1", "l1 and l2", "cumulative_l1")
RUNS = settings().max_examples  # for each of five forms in two layouts: 250, or 4,000
KEYS = (3, 2**40 + 7, 2**63, 2**64 - 1)

Update = list[tuple[tuple[int, int], float]]
"""Index of a weight, as number of its key and column, and what is added."""


def strengths(form: str, random: np.random.Generator, *, binary: bool) -> dict[str, float]:
    """Penalties of a form; binary ones make weights reach zero exactly."""

    def draw(least: float, most: float) -> float:
        strength = float(np.exp(random.uniform(np.log(least), np.log(most))))
        return 2.0 ** round(np.log2(strength)) if binary else strength

    if form == "none":
        return {}
    if form == "l1 and l2":
        return {"l1": draw(1e-4, 0.5), "l2": draw(1e-5, 0.4)}
    return {form: draw(1e-5, 0.4) if form == "l2" else draw(1e-4, 0.5)}


def recording(random: np.random.Generator, n_columns: int, *, binary: bool) -> list[Update]:
    """Updates with gaps, some of them long, and with several changes of one weight."""
    updates: list[Update] = []
    for _ in range(25):
        gap = random.integers(60) if random.random() < 0.06 else random.geometric(0.5) - 1
        updates += [[] for _ in range(gap)]
        update: Update = []
        for _ in range(random.integers(1, 4)):
            delta = random.integers(-2, 3) if binary else random.normal()
            index = (int(random.integers(len(KEYS))), int(random.integers(n_columns)))
            update += [(index, float(delta))] * int(random.integers(1, 3))
        updates.append(update)
    return updates


PATHS: tuple[Callable[[TrainingRows], TrainingRows], ...] = (
    lambda rows: rows,
    TrainingRows.copy,
    lambda rows: pickle.loads(pickle.dumps(rows)),
    lambda rows: TrainingRows.from_state(rows.n_columns, rows.state(), rows.penalties),
)
"""Ways to go on in the middle of a training."""


def close(found: object, expected: object, scale: float) -> None:
    """Equal to 1e-9; near zero, where weights of size `scale` cancel, to their rounding."""
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12 * scale)


@dataclass
class Run:
    """One training on both sides."""

    rows: TrainingRows
    twin: DenseWeights
    largest: float = 1.0

    def step(self, update: Update, seen: Counter[str]) -> None:
        before = self.twin.weights.copy()
        self.twin.step(update)
        after = self.twin.weights
        seen["sign changes"] += int((before * after < 0).sum())
        seen["to zero"] += int(((before != 0) & (after == 0)).sum())
        self.largest = max(self.largest, float(np.abs(after).max()))
        if update:
            self.rows.add([(self.rows.row(KEYS[k]), c, d) for (k, c), d in update], self.twin.clock)

    def check_weights(self) -> None:
        for key, weights in rows_at(self.rows, self.twin.clock).items():
            close(weights, self.twin.weights[KEYS.index(key)], self.largest)

    def finish(self) -> None:
        """Compare weights and averages, then, after an update that visits all rows, the state."""
        self.check_weights()
        self.check_averages()
        self.step([((k, 0), 0.0) for k in range(len(KEYS))], Counter())
        self.check_averages()
        self.check_state()

    def check_averages(self) -> None:
        trained = self.rows.average(self.twin.clock)
        means = self.twin.totals / self.twin.clock
        for k, key in enumerate(KEYS):
            np.testing.assert_allclose(
                trained.weights(key), means[k], rtol=2**-22, atol=1e-9 * self.largest
            )

    def check_state(self) -> None:
        """Weights, sums and debts of all rows."""
        state = self.rows.state()
        columns = np.tile(np.arange(self.rows.n_columns), len(state["keys"]))
        counts = np.full(len(state["keys"]), self.rows.n_columns)
        if self.rows.adaptive:
            columns, counts = state["columns"], np.diff(state["starts"])
        assert (state["stamps"] == self.twin.clock).all()
        keys = np.repeat([KEYS.index(key) for key in state["keys"].tolist()], counts)
        close(state["values"].ravel(), self.twin.weights[keys, columns], self.largest)
        scale = self.largest * self.twin.clock
        close(state["sums"].ravel(), self.twin.totals[keys, columns], scale)
        if self.twin.cumulative_l1:
            close(state["debts"].ravel(), self.twin.debts[keys, columns], scale)


@looped("adaptive", [False, True], ids=["dense", "adaptive"])
@looped("form", FORMS)
def test_lazy_equals_dense_on_random_runs(form: str, adaptive: bool) -> None:
    seen: Counter[str] = Counter()
    for seed in range(RUNS):
        random = np.random.default_rng([seed, FORMS.index(form), adaptive])
        binary = bool(seed % 2)
        n_columns = int(random.choice([1, 3, 12]))
        penalties = strengths(form, random, binary=binary)
        rows = TrainingRows(n_columns, adaptive=adaptive, **penalties)
        run = Run(rows, DenseWeights(np.zeros((len(KEYS), n_columns)), **penalties))
        updates = recording(random, n_columns, binary=binary)
        halfway = int(random.integers(len(updates)))
        reads = set(random.integers(len(updates), size=3).tolist())
        for time, update in enumerate(updates):
            run.step(update, seen)
            if time == halfway:
                run.rows.average(run.twin.clock)  # Changes nothing.
                run.rows = PATHS[seed % len(PATHS)](run.rows)
                assert run.rows.adaptive == adaptive
            if time in reads:
                run.check_weights()
                # As the kernel does before it decodes: the row moves on, its values are the same.
                for row in range(run.rows.n_rows // 2):
                    run.rows.catch_up(row, run.twin.clock)
                run.check_weights()
        run.finish()
    assert seen["sign changes"] > 1.25 * RUNS
    assert seen["to zero"] > 1.25 * RUNS or form in ("none", "l2")


@looped("form", FORMS)
def test_adaptive_rows_equal_dense_ones_bit_for_bit(form: str) -> None:
    for seed in range(40):
        averages = []
        for adaptive in (False, True):
            random = np.random.default_rng(seed)
            penalties = strengths(form, random, binary=False)
            rows = TrainingRows(12, adaptive=adaptive, **penalties)
            updates = recording(random, 12, binary=False)
            for time, update in enumerate(updates, 1):
                rows.add([(rows.row(KEYS[k]), c, d) for (k, c), d in update], time)
            averages.append(rows.average(len(updates)))
        for key in KEYS:
            assert averages[0].weights(key).tobytes() == averages[1].weights(key).tobytes()


@looped("adaptive", [False, True], ids=["dense", "adaptive"])
@looped("form", FORMS)
def test_going_on_from_trained_weights(form: str, adaptive: bool) -> None:
    """They are the weights before update 1; they decay from then on, and owe nothing."""
    seen: Counter[str] = Counter()
    for seed in range(20):
        random = np.random.default_rng([seed, 9])
        penalties = strengths(form, random, binary=False)
        first = TrainingRows(5, adaptive=adaptive)
        start = random.normal(size=(len(KEYS), 5)).astype(np.float32)
        start[random.random(start.shape) < 0.3] = 0
        start[1] = 0  # a feature that the first training never met
        for (k, c), weight in np.ndenumerate(start):
            if weight:
                first.add([(first.row(KEYS[k]), c, float(weight))], 1)
        rows = TrainingRows.from_trained(first.average(1), penalties)
        assert rows.penalties == {"l1": 0.0, "l2": 0.0, "cumulative_l1": 0.0, **penalties}
        run = Run(rows, DenseWeights(start, **penalties))
        for update in recording(random, 5, binary=False):
            run.step(update, seen)
        run.finish()


@looped("form", FORMS)
def test_a_copy_goes_its_own_way(form: str) -> None:
    random = np.random.default_rng(5)
    penalties = strengths(form, random, binary=False)
    original = TrainingRows(3, **penalties)
    original.add([(original.row(7), 1, 2.0)], 1)
    copy = original.copy()
    assert (copy.penalties, copy.n_rows) == (original.penalties, 1)
    before = original.state()
    copy.add([(copy.row(8), 2, 1.0), (0, 1, -5.0)], 9)
    for name, array in original.state().items():
        assert array.tobytes() == before[name].tobytes()
    original.add([(original.row(8), 2, 1.0), (0, 1, -5.0)], 9)
    assert same_rows(copy.average(12), original.average(12))


def test_reading_changes_nothing() -> None:
    rows = TrainingRows(2, l2=0.25)
    rows.add([(rows.row(1), 0, 1.0)], 2)
    before = rows.state()
    assert [rows.weights(0, time)[0] for time in (4, 2, 3)] == pytest.approx([9 / 16, 1, 3 / 4])
    for name, array in rows.state().items():
        assert array.tobytes() == before[name].tobytes()
    with pytest.raises(ValueError, match="updated later than update 1"):
        rows.weights(0, 1)
    rows.catch_up(0, 4)
    assert (rows.last_visit(), rows.weights(0)[0]) == (4, pytest.approx(9 / 16))
    for row in (-1, 1):
        with pytest.raises(IndexError, match="no row"):
            rows.catch_up(row, 5)


# By hand ------------------------------------------------------------------------------------------


def test_cumulative_l1_by_hand() -> None:
    """Equations 13 to 17 of Zhang et al. 2014 with a strength of 1/4, one weight, eight updates.

    |t  |add|w, 13|c, 14|m, 15|w, 16|c, 17|
    |1  |1  |1    |1/4  |1/4  |3/4  |0    |
    |2  |   |3/4  |1/4  |1/4  |1/2  |0    |
    |3  |   |1/2  |1/4  |1/4  |1/4  |0    |
    |4  |   |1/4  |1/4  |1/4  |0    |0    |
    |5  |   |0    |1/4  |0    |0    |1/4  |
    |6  |   |0    |1/2  |0    |0    |1/2  |
    |7  |-1 |-1   |3/4  |3/4  |-1/4 |0    |
    |8  |2  |7/4  |1/4  |1/4  |3/2  |0    |
    """
    rows = TrainingRows(2, cumulative_l1=0.25)
    row = rows.row(5)
    after = []
    for time, delta in enumerate([1, 0, 0, 0, 0, 0, -1, 2], 1):
        if delta:
            rows.add([(row, 0, float(delta))], time)
        after.append(rows.copy().weights(row, time)[0])
    assert after == [0.75, 0.5, 0.25, 0, 0, 0, -0.25, 1.5]
    assert rows.state()["debts"].tolist() == [[0, 2]]
    assert rows.average(8).weights(5).tolist() == [sum(after) / 8, 0]
    assert rows.average(10).weights(5).tolist() == [
        pytest.approx((sum(after) + 1.25 + 1.0) / 10),
        0,
    ]


@looped(
    ("penalties", "updates", "expected"),
    [
        # By update 4 it has decayed thrice: 1, 1/2, 1/4, then 1/8 + 1, 9/16.
        ({"l2": 0.5}, [1, 0, 0, 1, 0], [1, 1 / 2, 1 / 4, 9 / 8, 9 / 16]),
        # It comes to nothing, and stays there.
        ({"l1": 0.375}, [-1, 0, 0, 0, 0, 1], [-1, -5 / 8, -1 / 4, 0, 0, 1]),
        # One that is first met at update 7 owes 6/4 for those before, and 1/4 more.
        ({"cumulative_l1": 0.25}, [0, 0, 0, 0, 0, 0, 2, 0], [0] * 6 + [1 / 4, 0]),
        # Less than is owed: what is left of the debt, 9/4 - 1, stays.
        ({"cumulative_l1": 0.25}, [0] * 8 + [-1, 2], [0] * 9 + [2 - 5 / 4 - 1 / 4]),
    ],
)
@looped("adaptive", [False, True])
def test_a_weight_by_hand(
    *, penalties: dict[str, float], updates: list[int], expected: list[float], adaptive: bool
) -> None:
    """A weight, after each update, by what is added to it; and its average."""
    rows = TrainingRows(12, adaptive=adaptive, **penalties)
    found = []
    for time, delta in enumerate(updates, 1):
        if delta:
            rows.add([(rows.row(1), 3, float(delta))], time)
        found.append(rows.copy().weights(0, time)[3] if rows.n_rows else 0.0)
    assert found == pytest.approx(expected, abs=1e-15)
    mean = sum(expected) / len(expected)
    assert rows.average(len(updates)).weights(1)[3] == pytest.approx(mean, rel=1e-6)


def test_several_changes_of_one_weight_are_one_update() -> None:
    """Cumulative L1 looks at their sum; had it looked at each, the debt would have been paid."""
    rows = TrainingRows(1, cumulative_l1=0.5)
    row = rows.row(1)
    rows.add([(row, 0, 3.0), (row, 0, -3.0)], 4)
    assert rows.weights(row)[0] == 0
    assert rows.state()["debts"].tolist() == [[2.0]]


def test_l1_after_l2_by_hand() -> None:
    """The decay comes first: 1 → 1/2 - 1/8 → 3/16 - 1/8 → 0."""
    rows = TrainingRows(1, l1=0.125, l2=0.5)
    row = rows.row(1)
    rows.add([(row, 0, 1.0)], 1)
    found = [rows.copy().weights(row, time)[0] for time in (1, 2, 3, 4, 5)]
    assert found == pytest.approx([1, 3 / 8, 1 / 16, 0, 0], abs=1e-15)
    assert found[3:] == [0, 0]
    assert rows.average(5).weights(1)[0] == np.float32((1 + 3 / 8 + 1 / 16) / 5)


# Extremes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [{"l2": 1e-4}, {"l1": 1e-9}, {"cumulative_l1": 1e-9}], ids=str)
def test_many_updates_at_once(penalty: dict[str, float]) -> None:
    """A million of them, against the same million in steps of a thousand."""
    whole, parts = TrainingRows(1, **penalty), TrainingRows(1, **penalty)
    for rows in (whole, parts):
        rows.add([(rows.row(1), 0, 1.0)], 1)
    for time in range(1_000, 1_000_001, 1_000):
        parts.add([(0, 0, 0.0)], time)
    close(whole.weights(0, 1_000_000), parts.weights(0), 1.0)
    whole.add([(0, 0, 0.0)], 1_000_000)
    close(whole.state()["sums"], parts.state()["sums"], 1e3)


@looped(
    "penalties", [{"l2": 1e-300}, {"l1": 1e-300}, {"cumulative_l1": 1e-300}, {"l1": 1e300}], ids=str
)
def test_strengths_next_to_nothing_and_beyond_all(penalties: dict[str, float]) -> None:
    rows = TrainingRows(1, **penalties)
    twin = DenseWeights(np.zeros((1, 1)), **penalties)
    run = Run(rows, twin)
    for update in [[((0, 0), 1.0)], [], [], [((0, 0), -3.0)], [], []]:
        twin.step(update)
        if update:
            rows.add([(rows.row(KEYS[0]), 0, update[0][1])], twin.clock)
    run.check_weights()
    np.testing.assert_allclose(rows.average(6).weights(KEYS[0]), twin.totals[0] / 6, rtol=1e-6)


@looped("l2", [1e-6, 1e-10, 1e-15, 1e-18, 1e-300])
def test_l1_with_very_little_l2(l2: float) -> None:
    rows = TrainingRows(1, l1=0.01, l2=l2)
    twin = DenseWeights(np.zeros((1, 1)), l1=0.01, l2=l2)
    rows.add([(rows.row(1), 0, 1.0)], 1)
    twin.step([((0, 0), 1.0)])
    for _ in range(50):
        twin.step([])
    close(rows.weights(0, 51), twin.weights[0], 1.0)
    rows.add([(0, 0, 0.0)], 51)
    close(rows.state()["sums"], twin.totals, 1.0)


@looped(
    "penalties",
    [
        {"l1": -0.1},
        {"l2": -1e-9},
        {"l2": 1.0},
        {"l1": np.inf},
        {"l1": np.nan},
        {"l2": np.nan},
        {"cumulative_l1": np.nan},
        {"cumulative_l1": -1.0},
        {"cumulative_l1": 0.1, "l1": 0.1},
        {"cumulative_l1": 0.1, "l2": 0.1},
    ],
    ids=str,
)
def test_penalties_that_cannot_be(penalties: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"penalties must be|cannot be combined"):
        TrainingRows(2, **penalties)


def test_with_cumulative_l1_an_update_of_a_row_comes_once() -> None:
    rows = TrainingRows(2, cumulative_l1=0.1)
    rows.add([(rows.row(1), 0, 1.0)], 3)
    with pytest.raises(ValueError, match="update 3 must come after update 3"):
        rows.add([(0, 1, 1.0)], 3)


def test_states_of_other_penalties_are_refused() -> None:
    plain, cumulative = TrainingRows(2), TrainingRows(2, cumulative_l1=0.5)
    for rows in (plain, cumulative):
        rows.add([(rows.row(1), 0, 1.0)], 1)
    with pytest.raises(ValueError, match="lack 'debts'"):
        TrainingRows.from_state(2, plain.state(), cumulative.penalties)
    infinite = {**cumulative.state(), "debts": np.array([[np.inf, 0.0]])}
    with pytest.raises(ValueError, match=r"debts .* must be finite"):
        TrainingRows.from_state(2, infinite, cumulative.penalties)


def test_a_learner_and_its_tables_have_the_same_penalties() -> None:
    for table, learning in [({"l2": 0.1}, Learning()), ({}, Learning(l1=0.1))]:
        with pytest.raises(ValueError, match="penalties of a weight table differ"):
            Perceptron([TrainingRows(2, **table)], learning)
    settings = Learning(l2=0.1, clock="mistakes")
    learner = Perceptron([TrainingRows(2, l2=0.1)], settings, clock=4)
    for again in (pickle.loads(pickle.dumps(learner)), learner.copy()):
        assert (again.settings, again.clock) == (settings, 4)
        assert again.tables[0].penalties == learner.tables[0].penalties
