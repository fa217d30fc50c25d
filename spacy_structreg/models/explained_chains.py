"""Explanations of label chains: the features of labels and of their neighbors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.features.knowledge import CORPUS, joined_sources
from spacy_structreg.features.template_compiler import Shape
from spacy_structreg.features.templates import TAG_BIGRAM, Atom, Template
from spacy_structreg.learn.murmur import hash_numbers
from spacy_structreg.models.explanation import Contribution, Decision, Placed, decision_of, placed
from spacy_structreg.tasks.chain import ChainDecoder, ChainFeatures
from spacy_structreg.tasks.tokens import FeatureList

NamedFeature = tuple[str, str, str]
"""The template of a feature in a list, its value, and its source."""


@dataclass(frozen=True)
class ChainView:
    """A sequence as a chain model sees it, and the names of what it sees.

    symbols, lists: as `ChainFeatures.compile` takes them. labels: names of the labels. places: of
    the positions. value: the value of an atom, by its name and position, which may lie beyond the
    ends, and the symbol. source: that of an atom, by its name, position and symbol. listed: of each
    list, and each position, its features.
    """

    symbols: NDArray[np.uint64]
    lists: Sequence[FeatureList]
    labels: Sequence[str]
    places: Sequence[str]
    value: Callable[[str, int, int], str]
    source: Callable[[str, int, int], str]
    listed: Sequence[Sequence[Sequence[NamedFeature]]] = ()


class _Feature(NamedTuple):
    """A feature of a position; its weights are those of labels, or of pairs of them."""

    template: str
    value: str
    source: str
    number: float
    weights: NDArray[np.float64]


class ExplainedChain:
    """The features of a sequence, with their weights.

    chain: the decoder, whose sequence it need not be.
    extras: of a path of labels, what else is added to its score: positions and contributions.
    """

    def __init__(
        self,
        chain: ChainDecoder,
        view: ChainView,
        extras: Callable[[Sequence[int]], Sequence[tuple[int, Contribution]]] = lambda path: (),
    ) -> None:
        features = chain.features
        self._view = view
        self._extras = extras
        self._n_labels = features.n_labels
        self._of_labels: list[list[_Feature]] = [[] for _ in view.places]
        self._of_pairs: list[list[_Feature]] = [[] for _ in view.places]
        self._transitions: NDArray[np.float64] = np.zeros((self._n_labels, self._n_labels))
        for shape, table in zip(features.shapes, chain.tables, strict=False):
            if shape.is_tag_bigram:
                rows = [table.weights(key) for key in range(features.n_pair_rows)]
                self._transitions = np.concatenate(rows).reshape(self._transitions.shape)
                continue
            for i in range(len(view.places)):
                for offset in range(shape.lowest, shape.highest + 1):
                    named, key = self._ngram(features, shape, i, offset)
                    first = (shape.highest - offset) * self._n_labels
                    weights = table.weights(key)[first : first + self._n_labels]
                    self._of_labels[i].append(_Feature(*named, 1.0, weights))
        if features.edge_shapes:
            table = chain.tables[features.n_shapes + features.edge_list]
            for i in range(1, len(view.places)):
                for number, shape in enumerate(features.edge_shapes):
                    named, key = self._ngram(features, shape, i, shape.lowest, is_edge=True)
                    weights = table.weights(hash_numbers([key, number]))
                    self._of_pairs[i].append(_Feature(*named, 1.0, weights))
        for number, name in enumerate(features.lists[: features.n_given]):
            starts, keys, values = view.lists[number]
            table = chain.tables[features.n_shapes + number]
            target = self._of_labels if name == "label" else self._of_pairs
            for i, names in enumerate(view.listed[number]):
                cells = range(starts[i], starts[i + 1])
                target[i] += (
                    _Feature(
                        *feature,
                        1.0 if values is None else float(values[cell]),
                        table.weights(int(keys[cell])),
                    )
                    for cell, feature in zip(cells, names, strict=True)
                )

    def _ngram(
        self, features: ChainFeatures, shape: Shape, i: int, offset: int, *, is_edge: bool = False
    ) -> tuple[NamedFeature, int]:
        """The n-gram of one template of a shape, anchored `offset` from i, and its key."""
        view = self._view
        streams = list(features.atoms)
        atoms = [Atom(atom.offset + offset, atom.name) for atom in shape.atoms]
        numbers = [
            int(view.symbols[streams.index(atom.name), features.reach + i + atom.offset])
            for atom in atoms
        ]
        bits = [features.atoms[atom.name] for atom in atoms]
        if sum(bits) <= 64:
            key = 0
            for number, width in zip(numbers, bits, strict=True):
                key = (key << width) | number
        else:
            key = hash_numbers(numbers)
        seen = [(atom.name, i + atom.offset, n) for atom, n in zip(atoms, numbers, strict=True)]
        named = (
            str(Template(tuple(atoms), is_edge)),
            " ".join(view.value(*each) for each in seen),
            joined_sources(view.source(*each) for each in seen),
        )
        return named, key

    def contributions(self, path: Sequence[int], i: int) -> Iterator[Contribution]:
        """Yield the features of a position: of its label, and of that before it; no extras."""
        y = path[i]
        for feature in self._of_labels[i]:
            weight = float(feature.weights[y])
            yield Contribution(*feature[:3], weight, feature.number)
        if i:
            x = path[i - 1]
            pair = f"{self._view.labels[x]} {self._view.labels[y]}"
            yield Contribution(str(TAG_BIGRAM), pair, CORPUS, float(self._transitions[x, y]))
            for feature in self._of_pairs[i]:
                weight = float(feature.weights[x * self._n_labels + y])
                value = f"{pair} {feature.value}".rstrip()
                yield Contribution(feature.template, value, feature.source, weight, feature.number)

    def decisions(
        self,
        path: Sequence[int],
        score: float,
        chosen: Callable[[int], str],
        rival: Callable[[int], Sequence[int] | None],
    ) -> Iterator[Decision]:
        """Yield the decisions behind the labels of a path.

        path: the best one, and its score. chosen: how a label is told. rival: of a position, the
        best path with another choice there; None if there is none.
        """
        places = self._view.places

        own = [list(self.contributions(path, i)) for i in range(len(path))]
        extras = self._extras(path)
        for i, extra in extras:
            own[i].append(extra)
        for i, y in enumerate(path):
            other = rival(i)
            compared: tuple[str, list[Placed], list[Placed]] | None = None
            if other is not None:
                changed = [
                    j
                    for j in range(len(path))
                    if other[j] != path[j] or (j and other[j - 1] != path[j - 1])
                ]
                ours: list[Placed] = [
                    (placed(places[j], j - i), each)
                    for j in changed
                    for each in self.contributions(path, j)
                ]
                theirs: list[Placed] = [
                    (placed(places[j], j - i), each)
                    for j in changed
                    for each in self.contributions(other, j)
                ]
                ours += ((placed(places[j], j - i), each) for j, each in extras)
                theirs += ((placed(places[j], j - i), each) for j, each in self._extras(other))
                compared = chosen(other[i]), ours, theirs
            yield decision_of(places[i], chosen(y), own[i], score, compared)
