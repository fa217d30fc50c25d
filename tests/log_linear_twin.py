"""A slow, obvious twin of log-linear training: every feature found anew, every weight in one array.

It reads what is compiled from the definitions of shapes and lists, and leaves the sums over label
sequences and their gradients to `crf_twins`.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from crf_twins import Crf, Enumeration, Noise, log_sum_exp, new_crf, new_values
from hypothesis import assume
from twins import murmur_64a

from spacy_structreg.features.template_compiler import Shape, compile_edges, compile_shapes
from spacy_structreg.features.templates import parse_templates
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.learning_settings import AnyLearning, LogLinear
from spacy_structreg.learn.log_linear import LogLinearLearner
from spacy_structreg.learn.rows import TrainingRows
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.tasks.chain import ChainFeatures, CompiledChain
from spacy_structreg.training.log_linear import LogLinearTrainer

FeatureList = tuple[np.ndarray, np.ndarray, np.ndarray | None]
ATOMS = {"u": 5, "v": 64}


@dataclass(frozen=True)
class Sentence:
    """A sequence as a task describes it: see `ChainFeatures.compile`. labels: None if unknown."""

    symbols: np.ndarray
    labels: np.ndarray | None
    lists: tuple[FeatureList, ...]
    length: int


def chain_features(
    templates: str, n_labels: int, lists: Sequence[str] = ("label", "edge")
) -> ChainFeatures:
    """Templates over the streams u, of few bits, and v, of many.

    Those of edges make the list of edges; else it may be among `lists`, which are given.
    """
    parsed = parse_templates([templates], ATOMS) if templates else ()
    return ChainFeatures(
        compile_shapes(parsed), ATOMS, n_labels, lists, edge_shapes=compile_edges(parsed)
    )


def random_list(
    random: np.random.Generator, length: int, mean: float, real: bool, n_keys: int = 5
) -> FeatureList:
    """Features with few different keys, no key twice at one position."""
    sizes = np.minimum(random.poisson(mean, length), n_keys)
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    keys = [random.permutation(n_keys)[:size] * 2**60 + 7 for size in sizes]
    values = random.choice([1.0, 0.5, -2.0, 3.25], starts[-1]) if real else None
    return starts, np.concatenate([np.zeros(0), *keys]).astype(np.uint64), values


def random_path(random: np.random.Generator, graph: LabelGraph, length: int) -> np.ndarray:
    """A legal sequence of labels, by trial."""
    while True:
        path = random.integers(0, graph.n_labels, length)
        if not length or (
            graph.starts[path[0]]
            and graph.ends[path[-1]]
            and graph.legal[path[:-1], path[1:]].all()
        ):
            return path.astype(np.uint16)


def random_sentence(
    seed: int,
    features: ChainFeatures,
    graph: LabelGraph,
    length: int,
    *,
    labeled: bool = True,
    real: bool = False,
) -> Sentence:
    """A sentence of few different symbols, so that its n-grams repeat."""
    random = np.random.default_rng(seed)
    width = length + 2 * features.reach
    symbols = random.integers(0, 2, (len(features.atoms), width)).astype(np.uint64)
    inside = np.zeros(width, dtype=bool)
    inside[features.reach : features.reach + length] = True
    symbols[:, ~inside] = 9
    labels = random_path(random, graph, length) if labeled else None
    means = {"label": 1.5, "edge": 0.8}
    names = features.lists[: features.n_given]
    lists = tuple(random_list(random, length, means[name], real) for name in names)
    return Sentence(symbols, labels, lists, length)


def with_mask(sentence: Sentence, graph: LabelGraph, seed: int) -> Sentence:
    """A sentence of which only is known which labels each position may have."""
    if not sentence.length:
        return sentence
    random = np.random.default_rng(seed)
    mask = random.random((sentence.length, graph.n_labels)) < 0.5
    mask[np.arange(sentence.length), random_path(random, graph, sentence.length)] = True
    return replace(sentence, labels=graph.prune(mask))


class FeatureReader:
    """Finds the features of sentences anew, and which weights of a learner are theirs.

    Weights stand in one array: those of a table after those of the one before, row by row.
    """

    new_trainer: type[Any]

    def __init__(
        self, features: ChainFeatures, graph: LabelGraph, sentences: Sequence[Sentence]
    ) -> None:
        self.features = features
        self.graph = graph
        self.sentences = list(sentences)

    def random_rows(
        self, settings: AnyLearning, seed: int, scale: float = 1.0
    ) -> list[TrainingRows]:
        """Tables with a random weight for every feature of the sentences."""
        first = self.features.new_learner(settings, adaptive=False)
        for sentence in self.sentences:
            self.compile(sentence, first)
        random = np.random.default_rng(seed)
        tables = []
        for table in first.tables:
            state = table.state()
            state["values"] = scale * random.normal(size=state["values"].shape)
            tables.append(TrainingRows.from_state(table.n_columns, state, settings.penalties))
        return tables

    def take(self, learner: Learner) -> None:
        """Train this learner from here on."""
        self.learner = learner
        self.chains = [self.compile(sentence, learner) for sentence in self.sentences]
        self.trainer = self.new_trainer(self.features, self.graph, learner)
        sizes = [table.n_rows * table.n_columns for table in learner.tables]
        self.starts = np.concatenate(([0], np.cumsum(sizes)))

    def compile(self, sentence: Sentence, learner: Learner) -> CompiledChain:
        labels = sentence.length if sentence.labels is None else sentence.labels
        return self.features.compile(sentence.symbols, labels, learner, sentence.lists)

    @staticmethod
    def flat(tables: Sequence[np.ndarray]) -> np.ndarray:
        return np.concatenate([np.zeros(0), *(table.ravel() for table in tables)])

    def cell(self, table: int, key: int, column: int) -> int:
        """Where the weight of a column of a key stands."""
        rows = self.learner.tables[table]
        return int(self.starts[table]) + rows.row(key) * rows.n_columns + column

    def places(self) -> list[tuple[int, int, int]]:
        """Table, key and column of each weight."""
        return [
            (number, key, column)
            for number, table in enumerate(self.learner.tables)
            for key in table.state()["keys"].tolist()
            for column in range(table.n_columns)
        ]

    def fired(
        self, sentence: Sentence, i: int, hidden: Set[int] = frozenset()
    ) -> Iterator[tuple[str, int, float]]:
        """The features of a position: what they speak for, their first cell, and their value.

        hidden: positions of which nothing is seen.
        """
        n_labels = self.features.n_labels
        for number, shape in enumerate(self.features.shapes):
            for anchor in range(shape.lowest, shape.highest + 1) if shape.atoms else ():
                key = self.ngram(sentence, shape, i + anchor, hidden)
                if key is not None:
                    column = (shape.highest - anchor) * n_labels
                    yield "label", self.cell(number, key, column), 1.0
        given = self.features.lists[: self.features.n_given]
        for number, name in enumerate(given if i not in hidden else ()):
            starts, keys, values = sentence.lists[number]
            for place in range(starts[i], starts[i + 1]):
                value = 1.0 if values is None else float(values[place])
                table = len(self.features.shapes) + number
                yield name, self.cell(table, int(keys[place]), 0), value
        for number, shape in enumerate(self.features.edge_shapes if i else ()):
            key = self.ngram(sentence, shape, i + shape.lowest, hidden)
            if key is not None:
                named = murmur_64a(struct.pack("<2Q", key, number))
                yield "edge", self.cell(len(self.learner.tables) - 1, named, 0), 1.0

    def ngram(self, sentence: Sentence, shape: Shape, anchor: int, hidden: Set[int]) -> int | None:
        """The key of an n-gram; None if a position of it is hidden."""
        atoms = list(self.features.atoms)
        places = [anchor + atom.offset for atom in shape.atoms]
        if not hidden.isdisjoint(places):
            return None
        symbols = [
            int(sentence.symbols[atoms.index(atom.name), self.features.reach + place])
            for atom, place in zip(shape.atoms, places, strict=True)
        ]
        if sum(self.features.atoms[atom.name] for atom in shape.atoms) > 64:
            return murmur_64a(struct.pack(f"<{len(symbols)}Q", *symbols))
        key = 0
        for atom, symbol in zip(shape.atoms, symbols, strict=True):
            key = (key << self.features.atoms[atom.name]) | symbol
        return key

    def bigram(self, a: int, b: int) -> int:
        """Where the weight of a pair of labels stands."""
        table = self.features.tag_bigram
        if self.features.n_pair_rows == 1:
            return self.cell(table, 0, a * self.features.n_labels + b)
        return self.cell(table, a, b)

    def crf(
        self,
        sentence: Sentence,
        begin: int = 0,
        count: int | None = None,
        hidden: Set[int] = frozenset(),
    ) -> tuple[Crf, np.ndarray]:
        """A piece of a sentence, and the cells of the weights of its features.

        A feature that a list names again at a position is noised anew, though its weight is the
        same.
        """
        n_labels = self.features.n_labels
        count = sentence.length if count is None else count
        labels = range(n_labels)
        fires: list[tuple[int, int, int, int, int, float]] = []
        for t in range(count):
            previous = range(n_labels) if t else [n_labels]
            pairs = [(a, b) for a in previous for b in labels]
            times: Counter[int] = Counter()
            for kind, first, value in self.fired(sentence, begin + t, hidden):
                times[first] += 1
                if kind == "label":
                    fires += [(t, a, b, first + b, times[first], value) for a, b in pairs]
                elif t:
                    fires += [
                        (t, a, b, first + a * n_labels + b, times[first], value) for a, b in pairs
                    ]
            if t and self.features.tag_bigram >= 0:
                fires += [(t, a, b, self.bigram(a, b), 1, 1.0) for a, b in pairs]
        names = sorted({(cell, time) for *_, cell, time, _ in fires})
        numbers = {name: j for j, name in enumerate(names)}
        values = new_values(count, n_labels, len(names))
        for t, a, b, cell, time, value in fires:
            values[t, a, b, numbers[cell, time]] = value
        crf = new_crf(
            self.graph,
            values,
            open_start=begin > 0,
            open_end=begin + count < sentence.length,
        )
        return crf, np.array([cell for cell, _ in names], dtype=np.int64)


@dataclass
class FeatureRates:
    """Rates of features as parts of the first one (Sun, Wang & Li 2012, Figure 1), all at once."""

    parts: dict[int, float] = field(default_factory=dict)
    times: Counter[int] = field(default_factory=Counter)
    n_visits: int = 0
    n_positions: int = 0

    def of(self, features: Sequence[int], first_rate: float) -> np.ndarray:
        for feature in features:
            self.parts.setdefault(feature, 1.0)
        return np.array([first_rate * self.parts[feature] for feature in features])

    def visit(self, features: Set[int]) -> None:
        self.times.update(features)
        self.n_visits += 1

    def decay(self, upper: float, lower: float) -> None:
        for feature in self.parts:
            self.parts[feature] *= upper - self.times[feature] / self.n_visits * (upper - lower)
        self.times.clear()
        self.n_visits = self.n_positions = 0


class LogLinearTwin(FeatureReader):
    """A log-linear model with random weights, as one array and as the learner of a trainer."""

    learner: LogLinearLearner
    new_trainer = LogLinearTrainer

    def __init__(
        self,
        features: ChainFeatures,
        graph: LabelGraph,
        settings: LogLinear,
        sentences: Sequence[Sentence],
        *,
        seed: int = 0,
        scale: float = 1.0,
    ) -> None:
        super().__init__(features, graph, sentences)
        self.settings = settings
        self.rates = FeatureRates()
        self.take(LogLinearLearner(self.random_rows(settings, seed, scale), settings))

    @property
    def weights(self) -> np.ndarray:
        """The weights of the learner, in one array."""
        return self.flat(self.learner.weights())

    @property
    def labeled(self) -> list[Sentence]:
        return [sentence for sentence in self.sentences if sentence.labels is not None]

    @property
    def noise(self) -> Noise:
        """The noising scheme of the settings."""
        settings = self.settings
        if settings.noise == "none":
            return Noise()
        is_rate = settings.noise == "dropout"
        strength = settings.noise_level if is_rate else settings.noise_level**2
        return Noise(settings.noise, strength, settings.noise_window)

    def with_all_features(self, crf: Crf, cells: np.ndarray) -> tuple[Crf, np.ndarray]:
        """A chain with the features of all weights there are, once each, and their cells."""
        n_labels, n_cells = self.features.n_labels, len(self.weights)
        values = np.zeros((*crf.values.shape[:-1], n_cells))
        for j, cell in enumerate(cells):
            values[..., cell] += crf.values[..., j]
        on_edge = np.zeros(values.shape, dtype=bool)
        for cell, (number, key, column) in enumerate(self.places()):
            is_edge = number - len(self.features.shapes) == self.features.edge_list >= 0
            a, b = divmod(column, n_labels)
            if number == self.features.tag_bigram and self.features.n_pair_rows > 1:
                on_edge[1:, key, b, cell] = True
            elif number == self.features.tag_bigram or is_edge:
                on_edge[1:, a, b, cell] = True
            else:
                on_edge[:, :, b, cell] = True
        return replace(crf, values=values, on_edge=on_edge), np.arange(n_cells)

    # Objectives -----------------------------------------------------------------------------------

    def likelihood(
        self, sentence: Sentence, weights: np.ndarray, begin: int = 0, count: int | None = None
    ) -> tuple[float, np.ndarray]:
        """-log p(y | x) of a piece, or of all y that a mask allows, and its gradient."""
        count = sentence.length if count is None else count
        gradient = np.zeros(len(weights))
        if not count:
            return 0.0, gradient
        assert sentence.labels is not None
        labels = sentence.labels[begin : begin + count]
        crf, cells = self.crf(sentence, begin, count)
        paths = Enumeration(crf, weights[cells])
        if labels.ndim == 1:
            np.add.at(gradient, cells, -paths.log_likelihood_gradient(labels.tolist()))
            return -paths.log_likelihood(labels.tolist()), gradient
        right = np.array([labels[np.arange(count), path].all() for path in paths.paths])
        local = paths.local.sum(axis=1)
        scores = local[right] @ weights[cells]
        total = float(log_sum_exp(scores))
        within = np.exp(scores - total) @ local[right]
        np.add.at(gradient, cells, paths.probabilities @ local - within)
        return paths.log_partition - total, gradient

    def regularizer(
        self, sentence: Sentence, weights: np.ndarray, begin: int = 0, count: int | None = None
    ) -> tuple[float, np.ndarray]:
        """R^q of a piece, and its gradient."""
        count = sentence.length if count is None else count
        gradient = np.zeros(len(weights))
        if not count or not self.noise.strength:
            return 0.0, gradient
        crf, cells = self.crf(sentence, begin, count)
        if self.noise.kind == "additive":
            crf, cells = self.with_all_features(crf, cells)
        value, of_cells = Enumeration(crf, weights[cells]).noising(self.noise)
        np.add.at(gradient, cells, of_cells)
        return value, gradient

    def share(self, sentence: Sentence) -> float:
        """How much a sentence counts in R* (equation 11)."""
        n = len(self.labeled)
        alpha = self.settings.unlabeled_weight
        share = n / (n + alpha * (len(self.sentences) - n)) if n else 0.0
        return share if sentence.labels is not None else alpha * share

    def part(
        self, sentence: Sentence, weights: np.ndarray, begin: int = 0, count: int | None = None
    ) -> tuple[float, np.ndarray]:
        """What a piece adds to the objective and to its gradient."""
        value, gradient = self.regularizer(sentence, weights, begin, count)
        value, gradient = self.share(sentence) * value, self.share(sentence) * gradient
        if sentence.labels is None:
            return value, gradient
        likelihood, likelihood_gradient = self.likelihood(sentence, weights, begin, count)
        return value + likelihood, gradient + likelihood_gradient

    def objective(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Σ -log p(y | x) + R*, and its gradient."""
        parts = [self.part(sentence, weights) for sentence in self.sentences]
        gradients = [gradient for _, gradient in parts]
        return sum(value for value, _ in parts), np.sum(
            [np.zeros(len(weights)), *gradients], axis=0
        )

    def found(self) -> tuple[float, np.ndarray]:
        """What the trainer says of the objective at the learner's weights."""
        value, gradients = self.trainer.objective(self.chains)
        assert [gradient.shape for gradient in gradients] == [
            (table.n_rows, table.n_columns) for table in self.learner.tables
        ]
        return value, self.flat(gradients)

    @property
    def mean_square(self) -> float:
        """The mean over labeled positions of the sum of the squares of their features."""
        squares = [
            float(self.features.tag_bigram >= 0)
            + sum(value**2 for _, _, value in self.fired(sentence, i))
            for sentence in self.labeled
            for i in range(sentence.length)
        ]
        return max(float(np.mean(squares)), 1e-9) if squares else 1.0

    # Gradient descent -----------------------------------------------------------------------------

    def descend(self, pieces: Sequence[Sequence[int]]) -> tuple[np.ndarray, float, int, int]:
        """One pass over pieces with every weight visited at every step.

        Returns the weights, what was minimized, and how many pieces and labels were wrong. Like the
        learner's, the clock counts positions.
        """
        options = self.settings
        weights = self.weights
        n_positions = sum(sentence.length for sentence in self.labeled)
        clock = self.learner.clock
        first_rate = options.rate / self.mean_square
        rate: Any
        loss, n_wrong, n_labels_wrong = 0.0, 0, 0
        for number, begin, count in pieces:
            sentence = self.sentences[number]
            rate = first_rate / (1 + options.decay * clock / max(1, n_positions))
            if options.optimizer == "adf":
                rate = self.rates.of(self.features_of_cells(), first_rate)
                if count and (sentence.labels is not None or self.noise.strength):
                    self.rates.visit(self.features_of(sentence, begin, count))
            value, gradient = self.part(sentence, weights, begin, count)
            if sentence.labels is not None:
                wrong = self.wrong(sentence, weights, begin, count)
                n_labels_wrong += wrong
                n_wrong += wrong > 0
            loss += value
            weights = weights - rate * gradient
            if sentence.labels is not None and count:
                # The piece's part of the penalties, by their proximal operators; of all pieces of a
                # window where features have rates.
                part = count / n_positions
                if options.optimizer == "adf":
                    self.rates.n_positions += count
                    windows = options.decay_windows
                    part = self.rates.n_positions / n_positions
                    if (clock + count) * windows // n_positions == clock * windows // n_positions:
                        part = 0.0
                owed = rate * options.l1 * part
                weights = np.sign(weights) * np.maximum(0.0, np.abs(weights) - owed)
                weights = weights / (1 + 2 * rate * options.l2 * part)
                clock += count
                if options.optimizer == "adf" and part:
                    self.rates.decay(options.decay_upper, options.decay_lower)
        penalties = options.l1 * np.abs(weights).sum() + options.l2 * (weights**2).sum()
        return weights, loss + float(penalties), n_wrong, n_labels_wrong

    def features_of(self, sentence: Sentence, begin: int, count: int) -> set[int]:
        """The features of a piece: the first cells of their rows."""
        used = {
            cell
            for t in range(count)
            for kind, cell, _ in self.fired(sentence, begin + t)
            if t or kind == "label"
        }
        first = self.features_of_cells()
        bigram = self.features.tag_bigram
        pairs = range(self.starts[bigram], self.starts[bigram + 1]) if bigram >= 0 else ()
        return {first[cell] for cell in [*used, *pairs]}

    def features_of_cells(self) -> list[int]:
        """The first cell of the row of each cell."""
        return [cell - column for cell, (_, _, column) in enumerate(self.places())]

    def wrong(self, sentence: Sentence, weights: np.ndarray, begin: int, count: int) -> int:
        """How many gold labels are not the most probable."""
        if not count:
            return 0
        assert sentence.labels is not None
        crf, cells = self.crf(sentence, begin, count)
        nodes = Enumeration(crf, weights[cells]).nodes
        labels = sentence.labels[begin : begin + count]
        if labels.ndim == 1:
            return int((nodes.max(axis=1) > nodes[np.arange(count), labels] + 1e-12).sum())
        right, wrong = (np.where(some, nodes, 0).max(axis=1) for some in (labels, ~labels))
        # Of labels that are as probable, rounding decides.
        assume((np.abs(right - wrong) > 1e-12).all())
        return int((wrong > right).sum())

    def run(self, pieces: Sequence[Sequence[int]]) -> None:
        """A pass of the trainer, which must agree with that of the twin."""
        clock = self.learner.clock
        weights, objective, *wrong = self.descend(pieces)
        found = self.trainer.epoch(self.chains, np.array(pieces, dtype=np.int64).reshape(-1, 3))
        np.testing.assert_allclose(self.weights, weights, rtol=1e-9, atol=1e-11)
        assert list(found) == wrong
        assert np.isclose(self.learner.objective, objective, rtol=1e-9)
        labeled = [self.sentences[number].labels is not None for number, *_ in pieces]
        assert self.learner.clock == clock + sum(np.array(pieces)[labeled, 2])
