"""The runs of the study: systems are trained, scored and timed.

Models are not kept: those are trained again whose runs were not all done.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from corpora import Corpus, Part
from grid import READS, Grid, Key, Results, System
from studies.grids import canonical
from systems import SCORES, Reader, build, epochs_of, fit, gold_of, inputs_of

from spacy_structreg.metrics.constituents import score_brackets
from spacy_structreg.metrics.dependencies import TextParsingScorer, score_parses
from spacy_structreg.metrics.joint import score_joint
from spacy_structreg.metrics.segmentation import score_segmentation


class Bench:
    """Trains, scores and times systems on one corpus; models stay as long as they are wanted.

    wanted: the runs to come, in their order. corpus: is set before the first of them.
    """

    corpus: Corpus

    def __init__(self, grid: Grid, wanted: dict[Key, System]) -> None:
        self.grid = grid
        self._models: dict[tuple[str, int], tuple[Any, float]] = {}
        self._left = Counter(
            (line, seed)
            for key, system in wanted.items()
            for _, line in system.parts
            for seed in seeds_of(key)
        )
        # The references are wanted to the end.
        for reads in {READS[grid.finds(system)] for system in wanted.values()}:
            self._left.update((line, 0) for _, line in grid.references[reads].parts)
        self._references: dict[str, Reader] = {}

    def run(self, key: Key, system: System) -> dict[str, Any]:
        """The figures of a run, whose models are trained if need be."""
        models, seconds = {}, 0.0
        for role, line in system.parts:
            group = [self._model(line, seed) for seed in seeds_of(key)]
            if len(group) > 1:
                models[role] = type(group[0][0]).average([model for model, _ in group])
            else:
                models[role] = group[0][0]
                seconds += group[0][1]
        reader = build(models, self.grid.decodings[system.decoding], self.corpus.dev)
        speed, reference = self._times(reader)
        scores = {
            f"{name}_{figure}": value
            for name, part in (("dev", self.corpus.dev), ("test", self.corpus.test))
            for figure, value in self._score(reader, part).items()
        }
        for _, line in system.parts:
            for seed in seeds_of(key):
                self._left[line, seed] -= 1
                if not self._left[line, seed]:
                    del self._models[line, seed]
        return {
            "scores": scores,
            "weight": reader.weight,
            "speed": round(speed, 1),
            "reference": round(reference, 1),
            "seconds": round(seconds, 3),
        }

    def _model(self, line: str, seed: int) -> tuple[Any, float]:
        """A trained model, and the CPU seconds that it took.

        One training makes all models that are still wanted and differ in nothing but their epochs.
        """
        if (line, seed) not in self._models:
            like = unlimited(self.grid.models[line])
            wanted: dict[int, list[str]] = {}
            for (other, its_seed), n in self._left.items():
                setting = self.grid.models[other]
                if n and its_seed == seed and unlimited(setting) == like:
                    wanted.setdefault(epochs_of(setting), []).append(other)
            began = time.process_time()
            for epochs, model in fit(self.grid.models[line], seed, self.corpus.train, wanted):
                for other in wanted[epochs]:
                    self._models[other, seed] = (model, time.process_time() - began)
        return self._models[line, seed]

    def _score(self, reader: Reader, part: Part) -> dict[str, float]:
        found = reader.read(inputs_of(part, reader.finds))
        gold = gold_of(part, reader.finds)
        vocabulary = self.corpus.vocabulary
        scores: Any
        if reader.finds == "trees_of_texts":
            scorer = TextParsingScorer(vocabulary)
            for wanted, tree in zip(gold, found, strict=True):
                scorer.add([wanted], [tree])
            scores = scorer.scores()
        elif reader.finds == "trees":
            scores = score_parses(gold, found)
        elif reader.finds == "constituents":
            scores = score_brackets(gold, found)
        elif reader.finds == "tags":
            scores = score_joint(gold, found, vocabulary)
        else:
            scores = score_segmentation(gold, found, vocabulary)
        figures = scores.as_dict()
        names = SCORES[reader.finds]
        return {name: round(figures[given] or 0.0, 6) for name, given in names.items()}

    def _times(self, reader: Reader) -> tuple[float, float]:
        """Characters or sentences per CPU second: of a system; of its reference, in turns."""
        reads = READS[reader.finds]
        if reads not in self._references:
            system = self.grid.references[reads]
            models = {role: self._model(line, 0)[0] for role, line in system.parts}
            decoding = self.grid.decodings[system.decoding]
            self._references[reads] = build(models, decoding, self.corpus.dev)
        inputs = inputs_of(self.corpus.test, reader.finds)
        if reads == "texts":
            inputs = sample(inputs, self.grid.timed_characters)
            n = sum(map(len, inputs))
        else:
            inputs = inputs[: self.grid.timed_sentences]
            n = len(inputs)
        best = [float("inf"), float("inf")]
        for _ in range(self.grid.rounds):
            for i, each in enumerate((self._references[reads], reader)):
                if best[i] <= self.grid.enough:
                    best[i] = min(best[i], seconds_of(each, inputs))
                elif best[i] == float("inf"):
                    best[i] = seconds_of(each, inputs)
        return n / best[1], n / best[0]


def unlimited(setting: dict[str, Any]) -> str:
    """What a model's training has in common with longer and shorter ones."""
    return canonical({name: value for name, value in setting.items() if name != "epochs"})


def seconds_of(reader: Reader, inputs: Sequence[Any]) -> float:
    """The CPU seconds of this process that reading takes."""
    began = time.process_time()
    reader.read(inputs)
    return max(time.process_time() - began, 1e-6)


def sample(texts: Sequence[str], n_characters: int) -> list[str]:
    """The first texts, until they have so many characters."""
    taken: list[str] = []
    for text in texts:
        if sum(map(len, taken)) >= n_characters:
            break
        taken.append(text)
    return taken


def seeds_of(key: Key) -> range:
    """The seeds of a run."""
    first, _, last = key.seeds.partition("-")
    return range(int(first), int(last or first) + 1)


def ordered(wanted: dict[Key, System]) -> dict[Key, System]:
    """Runs in an order that keeps few models: seed by seed, model by model, averages last."""
    places = {line: i for i, line in enumerate(dict.fromkeys(key.parts for key in wanted))}
    return dict(
        sorted(
            wanted.items(),
            key=lambda item: ("-" in item[0].seeds, seeds_of(item[0])[0], places[item[0].parts]),
        )
    )


@dataclass(frozen=True)
class Run:
    """A run of one system."""

    bench: Bench
    key: Key
    system: System

    @property
    def corpus(self) -> str:
        return self.key.corpus

    def __str__(self) -> str:
        return f"seeds {self.key.seeds}: {self.key.parts} | {self.key.decoding or 'as it is'}"

    def run(self, corpus: Corpus) -> Iterator[tuple[Key, dict[str, Any]]]:
        """Train, score and time."""
        self.bench.corpus = corpus
        yield self.key, self.bench.run(self.key, self.system)


def tasks(grid: Grid, results: Results) -> list[Run]:
    """What is missing, corpus by corpus."""
    found = []
    for name in grid.corpora:
        wanted = {key: each for key, each in grid.wanted(name).items() if key not in results}
        bench = Bench(grid, wanted)
        found += [Run(bench, key, system) for key, system in ordered(wanted).items()]
    return found
