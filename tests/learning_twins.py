"""Slow twins of learning with penalties, noise and mini-samples: every weight at every update.

They follow the equations of the papers step by step, and know no closed form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from crf_twins import Enumeration
from log_linear_twin import FeatureReader, Sentence
from twins import MASK_64, CharacterModel, character_model, symbols_of

from spacy_structreg.features.template_compiler import compile_shapes
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainedRows, TrainingRows
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.tasks.chain import ChainFeatures, CompiledChain
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


def labeled_model(templates: str, labels: str = "bmes", types: str = "g10") -> CharacterModel:
    """A character model with the labels of a scheme."""
    model = character_model(templates, types)
    scheme = SCHEMES[labels]()
    features = ChainFeatures(compile_shapes(model.templates), model.atoms.atoms, len(scheme.labels))
    return CharacterModel(model.templates, model.atoms, features, scheme.graph)


class Undecided(Exception):  # noqa: N818
    """A visit whose outcome rounding decides: a margin that was just met to the last bit."""


class PerceptronTwin(FeatureReader):
    """A perceptron on label chains, all of whose weights are visited at every update.

    It starts from random weights for all features of the sentences, so that nothing ties; or, with
    no seed, as a new learner. Which features fire, `FeatureReader` has from the compiled templates;
    that these are those of the texts is the test of `ChainTwin`, in tests/tasks.
    """

    learner: Perceptron
    new_trainer = ChainTrainer

    def __init__(
        self,
        features: ChainFeatures,
        graph: LabelGraph,
        sentences: Sequence[Sentence],
        settings: Learning,
        *,
        adaptive: bool | None = None,
        seed: int | None = 0,
    ) -> None:
        super().__init__(features, graph, sentences)
        self.settings = settings
        if seed is None:
            self.take(features.new_learner(settings, adaptive))
        else:
            self.take(self.randomized(features.new_learner(adaptive=adaptive), seed))
        self.dense = DenseWeights(self.weights(), **settings.penalties)
        self.visits: list[dict[str, Any]] = []
        self.undecided = 0
        self.ties = 0

    def randomized(self, learner: Perceptron, seed: int) -> Perceptron:
        """A learner that begins with random weights."""
        for sentence in self.sentences:
            self.compile(sentence, learner)
        random = np.random.default_rng(seed)
        for table in learner.tables:
            for row in range(table.n_rows):
                weights = random.normal(size=table.n_columns).tolist()
                table.add([(row, column, weight) for column, weight in enumerate(weights)], 1)
        trained = Perceptron(learner.tables, clock=1).average()
        return Perceptron.from_trained(trained, self.settings)

    def weights(self) -> np.ndarray:
        """The weights of the learner, in one array."""
        clock = self.learner.clock
        tables = self.learner.tables
        return self.flat(
            [table.weights(row, clock) for table in tables for row in range(table.n_rows)]
        )

    def averages(self) -> np.ndarray:
        """The averaged weights of the learner, in one array."""
        pairs = zip(self.learner.tables, self.learner.average(), strict=True)
        return self.flat(
            [rows.weights(key) for table, rows in pairs for key in table.state()["keys"].tolist()]
        )

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
        return sum(n > 0 for n in wrong), sum(wrong)

    def visit(self, number: int, begin: int, count: int, noise: SplitMix64) -> int:
        """Learn from a piece; returns how many labels were wrong."""
        sentence = self.sentences[number]
        hidden = frozenset(self.hidden(sentence, begin, count, noise))
        draw = noise.word() if self.settings.hidden_dropout else None
        crf, cells = self.crf(sentence, begin, count, hidden)
        crf.values[..., [self.is_dropped(cell, draw) for cell in cells.tolist()]] = 0.0
        paths = Enumeration(crf, self.dense.weights[cells])
        assert sentence.labels is not None
        right = sentence.labels[begin : begin + count]
        if right.ndim == 1:
            right = right[:, None] == np.arange(self.graph.n_labels)
        wrong = (~right[np.arange(count), paths.at[:, 1:]]).sum(axis=1)
        gold = self.gold(paths.scores, wrong)
        other, loss = self.opponent(paths, wrong, gold)
        delta = np.zeros(len(self.dense.weights))
        step = 0.0
        if wrong[other]:
            counts = paths.counts(paths.paths[gold]) - paths.counts(paths.paths[other])
            np.add.at(delta, cells, counts)
            step = self.step(loss, float(delta @ delta))
        if self.settings.clock == "epochs":
            self.dense.weights += step * delta
        elif self.settings.clock == "examples" or step:
            self.dense.step([(slice(None), step * delta)])
        path = {"gold": paths.paths[gold], "path": paths.paths[other]}
        fired = sum(float(paths.counts(each).sum()) for each in path.values())
        squared = float(delta @ delta)
        self.visits.append(path | {"loss": loss, "step": step, "squared": squared, "fired": fired})
        return int(wrong[other])

    def hidden(self, sentence: Sentence, begin: int, count: int, noise: SplitMix64) -> list[int]:
        """The positions that dropout hides."""
        if not self.settings.dropout:
            return []
        reach = self.features.reach
        around = range(max(0, begin - reach), min(sentence.length, begin + count + reach))
        return [i for i in around if noise.unit() < self.settings.dropout]

    def is_dropped(self, cell: int, draw: int | None) -> bool:
        """Whether hidden dropout leaves out a weight."""
        if draw is None:
            return False
        table = int(np.searchsorted(self.starts, cell, side="right")) - 1
        row, column = divmod(cell - int(self.starts[table]), self.learner.tables[table].n_columns)
        of_table = draw ^ ((table + 1) * GOLDEN & MASK_64)
        return is_dropped(of_table, row, column, self.settings.hidden_dropout)

    def gold(self, scores: np.ndarray, wrong: np.ndarray) -> int:
        """The best path of those that are right."""
        first, *others = sorted(np.flatnonzero(wrong == 0).tolist(), key=lambda k: -scores[k])
        if others and scores[first] - scores[others[0]] < 1e-9:
            raise Undecided
        return int(first)

    def opponent(self, paths: Enumeration, wrong: np.ndarray, gold: int) -> tuple[int, float]:
        """The path to learn against, found by trying all of them, and the loss."""
        rule = self.settings.algorithm
        scores = paths.scores + wrong if rule in ("pa_i", "pa_ii") else paths.scores
        candidates = [k for k in range(len(scores)) if wrong[k] or rule != "pa"]
        if not candidates:
            return gold, 0.0
        losses = scores - paths.scores[gold] + (rule == "pa")
        most = max(losses[k] for k in candidates)
        # Ties go to the lowest label, from the end.
        tied = [k for k in candidates if losses[k] >= most - 1e-9]
        self.ties += len(tied) > 1
        other = min(tied, key=lambda k: paths.paths[k][::-1])
        loss = float(losses[other])
        if rule == "perceptron":
            return other, loss
        if loss < 1e-9 and any(abs(losses[k]) < 1e-9 for k in candidates if wrong[k]):
            # Whether such a visit counts as a mistake is a matter of rounding; the weights do not
            # change either way, unless a tick of the clock makes them.
            self.undecided += 1
            if self.settings.clock == "mistakes":
                raise Undecided
            return gold, 0.0
        return (other if loss > 0 else gold), max(0.0, loss)

    def step(self, loss: float, squared: float) -> float:
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
        before = self.undecided
        wrong = self.epoch(pieces, noise)
        found = self.trainer.epoch(self.chains, pieces, noise)
        undecided = self.undecided - before
        assert found == wrong or undecided
        assert wrong[0] <= found[0] <= wrong[0] + undecided
        assert self.learner.clock == self.dense.clock
        np.testing.assert_allclose(self.weights(), self.dense.weights, rtol=1e-9, atol=1e-11)
        if self.dense.clock:
            means = self.dense.totals / self.dense.clock
            np.testing.assert_allclose(self.averages(), means, rtol=2.0**-22, atol=1e-11)


@dataclass(frozen=True)
class WordSentence(Sentence):
    words: Sequence[str]


class CharacterTwin(PerceptronTwin):
    """A perceptron on the characters of words, whose labels are those of a scheme."""

    def __init__(
        self,
        templates: str,
        sentences: Sequence[Sequence[str]],
        settings: Learning,
        *,
        labels: str = "bmes",
        **chosen: Any,
    ) -> None:
        self.model = labeled_model(templates, labels)
        self.scheme = SCHEMES[labels]()
        self.texts = ["".join(words) for words in sentences]
        made = []
        for words, text in zip(sentences, self.texts, strict=True):
            gold = self.scheme.encode(map(len, words))
            made.append(WordSentence(symbols_of(self.model, text), gold, (), len(text), words))
        super().__init__(self.model.features, self.model.graph, made, settings, **chosen)

    def compile(self, sentence: Sentence, learner: Perceptron) -> CompiledChain:  # type: ignore[override]
        assert isinstance(sentence, WordSentence)
        return self.model.atoms.compile(sentence.words, self.scheme, self.features, learner)


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
