"""Slow twins of learning with penalties, noise and mini-samples: every weight at every update.

They follow the equations of the papers step by step, and know no closed form.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from twins import MASK_64, N_LABELS, ChainTwin, CharacterModel, Feature, character_model, place

from spacy_structreg.features.template_compiler import compile_shapes
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainedRows, TrainingRows
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.tasks.chain import ChainFeatures
from spacy_structreg.tasks.segmentation.bmes import SCHEMES
from spacy_structreg.training.chain import ChainTrainer

GOLDEN = 0x9E3779B97F4A7C15


class DenseWeights:
    """An array of weights, all of which every update penalizes (Zhang et al. 2014, section 4)."""

    def __init__(
        self, weights: np.ndarray, *, l1: float = 0.0, l2: float = 0.0, cumulative_l1: float = 0.0
    ) -> None:
        self.weights = weights.astype(np.float64)
        self.totals = np.zeros_like(self.weights)
        self.debts = np.zeros_like(self.weights)
        self.clock = 0
        self.l1 = l1
        self.l2 = l2
        self.cumulative_l1 = cumulative_l1

    def step(self, changes: Iterable[tuple[Any, float]]) -> None:
        """One update: changes are the index of a weight and what is added to it."""
        self.clock += 1
        if self.cumulative_l1:
            self.add(changes)  # equation 13
            self.debts += self.cumulative_l1  # 14
            paid = np.minimum(np.abs(self.weights), self.debts)  # 15
            self.weights = np.sign(self.weights) * (np.abs(self.weights) - paid)  # 16
            self.debts -= paid  # 17
        else:
            self.weights = (1 - self.l2) * self.weights  # 10
            shrunk = np.maximum(0.0, np.abs(self.weights) - self.l1)  # 12
            self.weights = np.sign(self.weights) * shrunk
            self.add(changes)
        self.totals += self.weights

    def add(self, changes: Iterable[tuple[Any, float]]) -> None:
        for index, delta in changes:
            self.weights[index] += delta


class SplitMix64:
    """The generator of Steele, Lea & Flood 2014."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def word(self) -> int:
        self.state = (self.state + GOLDEN) & MASK_64
        return finalize(self.state)

    def unit(self) -> float:
        return (self.word() >> 11) / 2**53


def finalize(word: int) -> int:
    """The mixing function of SplitMix64."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & MASK_64
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & MASK_64
    return word ^ (word >> 31)


def is_dropped(draw: int, row: int, column: int, probability: float) -> bool:
    """Whether hidden dropout leaves out a weight."""
    return finalize((draw & MASK_64) ^ (row << 20) ^ column) < int(probability * 2.0**64)


def label_sequences(
    graph: LabelGraph, n: int, open_start: bool = False, open_end: bool = False
) -> Iterator[list[int]]:
    """All legal label sequences of n positions; an open end may bear any label."""

    def grow(path: list[int]) -> Iterator[list[int]]:
        if len(path) == n:
            if open_end or graph.ends[path[-1]]:
                yield path
            return
        for label in range(graph.n_labels):
            legal = graph.legal[path[-1], label] if path else open_start or graph.starts[label]
            if legal:
                yield from grow([*path, label])

    return grow([])


def labeled_model(templates: str, labels: str = "bmes", types: str = "g10") -> CharacterModel:
    """A character model with the labels of a scheme."""
    model = character_model(templates, types)
    scheme = SCHEMES[labels]()
    features = ChainFeatures(compile_shapes(model.templates), model.atoms.atoms, len(scheme.labels))
    return CharacterModel(model.templates, model.atoms, features, scheme.graph)


class Undecided(Exception):  # noqa: N818
    """A visit whose outcome rounding decides: a margin that was just met to the last bit."""


Name = tuple[Feature | None, int]
"""A weight: a feature with a label; or no feature, with the number of a pair of labels."""


class LearningTwin:
    """A learner on label chains whose weights are named, and all visited at every update.

    It starts from random weights for all features of the sentences, so that nothing ties; or from
    zeros.
    """

    def __init__(
        self,
        templates: str,
        sentences: Sequence[Sequence[str]],
        settings: Learning,
        *,
        labels: str = "bmes",
        adaptive: bool | None = None,
        seed: int | None = 0,
    ) -> None:
        self.model = labeled_model(templates, labels)
        self.reader = ChainTwin(self.model)
        self.scheme = SCHEMES[labels]()
        self.n_labels = len(self.scheme.labels)
        self.settings = settings
        self.texts = ["".join(words) for words in sentences]
        self.gold = [self.scheme.encode(map(len, words)).tolist() for words in sentences]
        self.names: dict[Name, int] = {}
        for text in self.texts:
            for i in range(len(text)):
                for feature in self.reader.features(text, i):
                    for y in range(self.n_labels):
                        self.names.setdefault((feature, y), len(self.names))
        if self.reader.has_bigram:
            for pair in range(self.n_labels**2):
                self.names.setdefault((None, pair), len(self.names))
        start = np.zeros(len(self.names), dtype=np.float32)
        if seed is not None:
            start = np.random.default_rng(seed).normal(size=len(start)).astype(np.float32)
        self.places = [self._place(name) for name in self.names]
        self.dense = DenseWeights(start, **settings.penalties)
        self.learner = self._learner(start, adaptive)
        self.trainer = ChainTrainer(self.model.features, self.model.graph, self.learner)
        self.chains = [
            self.model.atoms.compile(words, self.scheme, self.model.features, self.learner)
            for words in sentences
        ]
        self.visits: list[dict[str, Any]] = []
        self.undecided = 0
        self.ties = 0

    def _place(self, name: Name) -> tuple[int, int, int]:
        """Table, key and column of a weight."""
        feature, y = name
        if feature is None:
            return self.model.features.tag_bigram, 0, y
        number, key, first = place(self.model, feature)
        return number, key, first // N_LABELS * self.n_labels + y

    def _learner(self, start: np.ndarray, adaptive: bool | None) -> Perceptron:
        """A learner of the kernel with the same weights to begin with."""
        learner = self.model.features.new_learner(adaptive=adaptive)
        for (number, key, column), weight in zip(self.places, start.tolist(), strict=True):
            table = learner.tables[number]
            table.add([(table.row(key), column, weight)], 1)
        trained = Perceptron(learner.tables, clock=1).average()
        return Perceptron.from_trained(trained, self.settings)

    # One epoch, here and in the kernel ------------------------------------------------------------

    def epoch(self, pieces: np.ndarray, noise: int) -> tuple[int, int]:
        """Visit pieces once; returns how many pieces and labels were wrong."""
        generator = SplitMix64(noise)
        if self.settings.restart and self.dense.clock:
            self.dense.weights[:] = 0.0
        wrong = [self.visit(*piece, generator) for piece in np.asarray(pieces).tolist()]
        if self.settings.clock == "epochs":
            self.dense.totals += self.dense.weights
            self.dense.clock += 1
        return sum(count > 0 for count in wrong), sum(wrong)

    def visit(self, number: int, begin: int, count: int, generator: SplitMix64) -> int:
        fired = self._fired(self.texts[number], begin, count, generator)
        gold = self.gold[number][begin : begin + count]
        changes: dict[int, float] = {}
        step = 0.0
        paths = list(
            label_sequences(
                self.model.graph, count, begin > 0, begin + count < len(self.texts[number])
            )
        )
        path, loss = self._opponent(paths, gold, fired)
        if path != gold:
            for labels, sign in ((gold, 1.0), (path, -1.0)):
                for index in self._active(fired, labels):
                    changes[index] = changes.get(index, 0.0) + sign
            step = self._step(loss, sum(value**2 for value in changes.values()))
        scaled = [(index, step * value) for index, value in changes.items()]
        if self.settings.clock == "epochs":
            self.dense.add(scaled)
        elif self.settings.clock == "examples" or step:
            self.dense.step(scaled)
        self.visits.append(
            {"fired": fired, "gold": gold, "path": path, "loss": loss, "step": step}
            | {"squared": sum(value**2 for value in changes.values())}
        )
        return sum(a != b for a, b in zip(gold, path, strict=True))

    def _fired(
        self, text: str, begin: int, count: int, generator: SplitMix64
    ) -> list[dict[int, list[int]]]:
        """Which weights each label would read at each position; pairs of labels come last."""
        hidden = set()
        if self.settings.dropout:
            reach = self.model.features.reach
            for i in range(begin - reach, begin + count + reach):
                if 0 <= i < len(text) and generator.unit() < self.settings.dropout:
                    hidden.add(i)
        draw = generator.word() if self.settings.hidden_dropout else None
        fired: list[dict[int, list[int]]] = []
        for i in range(begin, begin + count):
            seen = [
                feature
                for feature in self.reader.features(text, i)
                if not any(i + atom.offset in hidden for atom in feature[0].atoms)
            ]
            fired.append(
                {y: [self.names[feature, y] for feature in seen] for y in range(self.n_labels)}
            )
        pairs = range(self.n_labels**2) if self.reader.has_bigram else []
        fired.append({pair: [self.names[None, pair]] for pair in pairs})
        for labels in fired:
            for indices in labels.values():
                indices[:] = [index for index in indices if self._survives(index, draw)]
        return fired

    def _survives(self, index: int, draw: int | None) -> bool:
        if draw is None:
            return True
        number, key, column = self.places[index]
        row = self.learner.tables[number].row(key)
        of_table = draw ^ ((number + 1) * GOLDEN & MASK_64)
        return not is_dropped(of_table, row, column, self.settings.hidden_dropout)

    def _active(self, fired: list[dict[int, list[int]]], labels: list[int]) -> Iterator[int]:
        """The weights of a label sequence, each as often as it counts."""
        for i, y in enumerate(labels):
            yield from fired[i][y]
        for a, b in itertools.pairwise(labels):
            yield from fired[-1].get(a * self.n_labels + b, [])

    def score(self, fired: list[dict[int, list[int]]], labels: list[int]) -> float:
        return float(sum(self.dense.weights[index] for index in self._active(fired, labels)))

    def _opponent(
        self, paths: list[list[int]], gold: list[int], fired: list[dict[int, list[int]]]
    ) -> tuple[list[int], float]:
        """What to learn against, found by trying all of it, and the loss."""
        scores = [self.score(fired, path) for path in paths]
        gold_score = self.score(fired, gold)
        rule = self.settings.algorithm
        candidates = list(range(len(paths)))
        if rule in ("pa_i", "pa_ii"):
            for k, path in enumerate(paths):
                scores[k] += sum(a != b for a, b in zip(gold, path, strict=True))
        elif rule == "pa":
            candidates = [k for k, path in enumerate(paths) if path != gold]
            if not candidates:
                return gold, 0.0
        best = max(scores[k] for k in candidates)
        # Ties go to the lowest label, from the end.
        tied = [k for k in candidates if scores[k] >= best - 1e-9]
        self.ties += len(tied) > 1
        k = min(tied, key=lambda k: paths[k][::-1])
        loss = scores[k] - gold_score + (rule == "pa")
        if rule == "perceptron":
            return paths[k], loss
        met = any(
            abs(scores[k] - gold_score + (rule == "pa")) < 1e-9
            for k in candidates
            if paths[k] != gold
        )
        if met and loss < 1e-9:
            # Whether such a visit counts as a mistake is a matter of rounding; the weights do not
            # change either way, unless a tick of the clock makes them.
            self.undecided += 1
            if self.settings.clock == "mistakes":
                raise Undecided
            return gold, 0.0
        return (paths[k] if loss > 0 else gold), max(0.0, loss)

    def _step(self, loss: float, squared: float) -> float:
        """How far to go (Crammer et al. 2006, figure 1; Gao et al. 2010, equation 14)."""
        limit = self.settings.aggressiveness
        if self.settings.algorithm == "perceptron":
            return 1.0
        if squared == 0.0:
            return 0.0
        if self.settings.algorithm == "pa_ii":
            return loss / (squared + 1 / (2 * limit))
        return min(limit, loss / squared)

    # Comparison -----------------------------------------------------------------------------------

    def run(self, pieces: np.ndarray, noise: int = 0) -> None:
        """An epoch on both sides, which must agree on what was wrong and on all weights."""
        undecided = self.undecided
        wrong, labels_wrong = self.epoch(pieces, noise)
        found, labels_found = self.trainer.epoch(self.chains, pieces, noise)
        if self.undecided == undecided:
            assert (found, labels_found) == (wrong, labels_wrong)
        assert wrong <= found <= wrong + self.undecided - undecided
        self.check()

    def check(self) -> None:
        """Weights and averages are the same, and the kernel has no others."""
        assert self.learner.clock == self.dense.clock
        self._compare(
            self.dense.weights,
            [rows_at(table, self.dense.clock) for table in self.learner.tables],
            1e-9,
        )
        if self.dense.clock:
            averages = [
                {key: table.weights(key) for key in table.arrays["keys"].tolist()}
                for table in self.learner.average()
            ]
            self._compare(self.dense.totals / self.dense.clock, averages, 2.0**-22)

    def _compare(
        self, weights: np.ndarray, found: list[dict[int, np.ndarray]], tolerance: float
    ) -> None:
        expected: list[dict[int, np.ndarray]] = [{} for _ in found]
        for (number, key, column), weight in zip(self.places, weights, strict=True):
            width = self.model.features.widths[number]
            expected[number].setdefault(key, np.zeros(width))[column] = weight
        for rows, other in zip(found, expected, strict=True):
            for key in rows.keys() | other.keys():
                width = len(next(iter(other.values())))
                np.testing.assert_allclose(
                    rows.get(key, np.zeros(width)),
                    other.get(key, np.zeros(width)),
                    rtol=tolerance,
                    atol=1e-11,
                )


def rows_at(table: TrainingRows, time: int) -> dict[int, np.ndarray]:
    """The weights of all rows after update `time`, by key."""
    keys = table.state()["keys"].tolist()
    return {key: table.weights(row, time) for row, key in enumerate(keys)}


def same_rows(first: TrainedRows, second: TrainedRows) -> bool:
    """Whether two tables hold the same bytes."""
    left, right = first.arrays, second.arrays
    return left.keys() == right.keys() and all(
        left[name].tobytes() == right[name].tobytes() for name in left
    )
