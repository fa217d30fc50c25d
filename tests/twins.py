"""Slow, obvious twins of what is compiled: the oracles of the tests of the lower floors."""

from __future__ import annotations

import itertools
import struct
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from spacy_structreg.features.character_classes import ALPHABETS, type_table
from spacy_structreg.features.template_compiler import Shape, compile_edges, compile_shapes
from spacy_structreg.features.templates import Template, parse_templates
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainedRows, TrainingRows
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.tasks.chain import ChainFeatures
from spacy_structreg.tasks.segmentation.bmes import bmes
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms

LABELS = "BEMS"
N_LABELS = len(LABELS)
MASK_64 = 2**64 - 1


def murmur_64a(data: bytes, seed: int = 1) -> int:
    """MurmurHash64A over little-endian words."""
    multiplier = 0xC6A4A7935BD1E995
    state = seed ^ (len(data) * multiplier & MASK_64)
    whole = len(data) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", data[:whole]):
        mixed = word * multiplier & MASK_64
        mixed = (mixed ^ (mixed >> 47)) * multiplier & MASK_64
        state = (state ^ mixed) * multiplier & MASK_64
    if data[whole:]:
        state = (state ^ int.from_bytes(data[whole:], "little")) * multiplier & MASK_64
    state = (state ^ (state >> 47)) * multiplier & MASK_64
    return state ^ (state >> 47)


def legal_paths(graph: LabelGraph, n: int, mask: np.ndarray | None = None) -> Iterator[tuple]:
    """All legal sequences of n labels, by trying every one."""
    for path in itertools.product(range(graph.n_labels), repeat=n):
        if n and not (graph.starts[path[0]] and graph.ends[path[-1]]):
            continue
        if not all(graph.legal[a, b] for a, b in itertools.pairwise(path)):
            continue
        if mask is None or all(mask[i, label] for i, label in enumerate(path)):
            yield path


def path_score(path: Sequence[int], emissions: np.ndarray, transitions: np.ndarray) -> float:
    """The score of one sequence of labels."""
    score = sum(emissions[i][label] for i, label in enumerate(path))
    return float(score + sum(transitions[a][b] for a, b in itertools.pairwise(path)))


def viterbi_twin(
    emissions: Sequence[Sequence[float]],
    transitions: Sequence[Sequence[float]],
    graph: LabelGraph,
    mask: np.ndarray | None = None,
) -> tuple[float, list[int]]:
    """The best path with plain lists; ties go to the lowest label, then lowest predecessor."""
    labels = range(graph.n_labels)
    best: list[dict[int, tuple[float, int]]] = []
    for i, scores in enumerate(emissions):
        column: dict[int, tuple[float, int]] = {}
        for y in labels:
            if mask is not None and not mask[i][y]:
                continue
            if i == 0:
                if graph.starts[y]:
                    column[y] = (scores[y], -1)
                continue
            candidates = [
                (best[-1][x][0] + transitions[x][y], -x)
                for x in labels
                if x in best[-1] and graph.legal[x, y]
            ]
            if candidates:
                score, negative = max(candidates)
                column[y] = (score + scores[y], -negative)
        best.append(column)
    score, negative = max((best[-1][y][0], -y) for y in best[-1] if graph.ends[y])
    path = [-negative]
    for column in reversed(best[1:]):
        path.append(column[path[-1]][1])
    return score, path[::-1]


def rows_by_key(table: TrainingRows) -> dict[int, np.ndarray]:
    """The current weights of all rows of a training."""
    keys = table.state()["keys"].tolist()
    return {key: table.weights(i) for i, key in enumerate(keys)}


@dataclass
class CharacterModel:
    """The compiled side of a character model: what the tests drive."""

    templates: tuple[Template, ...]
    atoms: CharacterAtoms
    features: ChainFeatures
    graph: LabelGraph

    @property
    def shapes(self) -> tuple[Shape, ...]:
        return self.features.shapes


def character_model(
    templates: str, types: str | None = None, half_width: bool = False
) -> CharacterModel:
    """A model of characters and BMES labels with these templates."""
    atoms = CharacterAtoms(types=types, half_width=half_width)
    parsed = parse_templates([templates], atoms.atoms)
    features = ChainFeatures(
        compile_shapes(parsed), atoms.atoms, N_LABELS, edge_shapes=compile_edges(parsed)
    )
    return CharacterModel(parsed, atoms, features, bmes().graph)


def random_tables(
    model: CharacterModel, text: str, seed: int, adaptive: bool | None = None
) -> list[TrainedRows]:
    """Trained rows with a random real weight for every feature that occurs in a text."""
    learner = model.features.new_learner(adaptive=adaptive)
    model.atoms.compile(list(text), bmes(), model.features, learner)
    generator = np.random.default_rng(seed)
    for table in learner.tables:
        for row in range(len(table)):
            for column in range(table.n_columns):
                table.add([(row, column, float(generator.normal()))], 1)
    return Perceptron(learner.tables, clock=1).average()


def symbol(name: str, character: str | None, types: str | None, half_width: bool) -> int:
    """The number by which an atom of a character is known; None is padding."""
    if character is None:
        return 0x110000 if name == "c" else 0
    if half_width and "\uff01" <= character <= "\uff5e":
        character = unicodedata.normalize("NFKC", character)
    code = ord(character)
    if name == "c":
        return code
    assert types is not None
    table = type_table(types)
    return int(table[code]) if code < len(table) else 1 + ALPHABETS[types].index("other")


def symbols_of(model: CharacterModel, text: str) -> np.ndarray:
    """What a model sees of a text and of the padding around it, one row for each stream."""
    padding = [None] * model.features.reach
    seen = [*padding, *text, *padding]
    atoms = model.atoms
    return np.array(
        [[symbol(name, c, atoms.types, atoms.half_width) for c in seen] for name in atoms.atoms],
        dtype=np.uint64,
    )


Feature = tuple[Template, tuple[int, ...]]


class ChainTwin:
    """A character model as dictionaries: one weight for each template, n-gram and label."""

    def __init__(self, model: CharacterModel) -> None:
        self.templates = model.templates
        self.types = model.atoms.types
        self.half_width = model.atoms.half_width
        self.weights: dict[tuple[Feature, int], float] = defaultdict(float)
        self.bigrams = np.zeros((N_LABELS, N_LABELS))
        self.has_bigram = any(template.is_tag_bigram for template in self.templates)

    def features(self, text: str, i: int) -> list[Feature]:
        """What the templates read at position i of a text without white space."""
        return [
            (
                template,
                tuple(
                    symbol(
                        atom.name,
                        text[i + atom.offset] if 0 <= i + atom.offset < len(text) else None,
                        self.types,
                        self.half_width,
                    )
                    for atom in template.atoms
                ),
            )
            for template in self.templates
            if not template.is_tag_bigram
        ]

    def emissions(self, text: str) -> list[list[float]]:
        return [
            [
                sum(self.weights.get((feature, y), 0.0) for feature in self.features(text, i))
                for y in range(N_LABELS)
            ]
            for i in range(len(text))
        ]

    def read(self, model: CharacterModel, tables: Sequence[TrainedRows], texts: list[str]) -> None:
        """Take over the trained weights of all features that occur in some texts."""
        for text in texts:
            for i in range(len(text)):
                for feature in self.features(text, i):
                    for y, weight in enumerate(trained_weights(model, tables, feature)):
                        self.weights[feature, y] = weight
        if self.has_bigram:
            weights = tables[model.features.tag_bigram].weights(0)
            self.bigrams = weights.reshape(N_LABELS, N_LABELS)


def place(model: CharacterModel, feature: Feature) -> tuple[int, int, int]:
    """Where a feature's weights lie: the number of the shape, the key, the first column."""
    template, symbols = feature
    anchor = template.atoms[0].offset
    ngram = [(atom.offset - anchor, atom.name) for atom in template.atoms]
    number, shape = next(
        (number, shape)
        for number, shape in enumerate(model.shapes)
        if [(atom.offset, atom.name) for atom in shape.atoms] == ngram
        and shape.lowest <= anchor <= shape.highest
    )
    bits = [{"c": 21, "type": 4}[atom.name] for atom in template.atoms]
    key = 0
    if sum(bits) <= 64:
        for width, value in zip(bits, symbols, strict=True):
            key = (key << width) | value
    else:
        key = murmur_64a(struct.pack(f"<{len(symbols)}Q", *symbols))
    return number, key, (shape.highest - anchor) * N_LABELS


def trained_weights(
    model: CharacterModel, tables: Sequence[TrainedRows], feature: Feature
) -> list[float]:
    """The weights of one feature, one for each label."""
    number, key, column = place(model, feature)
    return tables[number].weights(key)[column : column + N_LABELS].tolist()


MARKS = "\u0301\u20dd\ufe0f\u200d\U0001f3fd"
"""Characters that belong to the one before them: those that the texts of the tests hold."""


def ngram(model: CharacterModel, symbols: np.ndarray, shape, anchor: int) -> int:
    """The key of an n-gram, by the definition."""
    streams = list(model.atoms.atoms)
    bits = [model.atoms.atoms[atom.name] for atom in shape.atoms]
    numbers = [
        int(symbols[streams.index(atom.name), model.features.reach + anchor + atom.offset])
        for atom in shape.atoms
    ]
    if sum(bits) > 64:
        return murmur_64a(struct.pack(f"<{len(numbers)}Q", *numbers))
    key = 0
    for width, number in zip(bits, numbers, strict=True):
        key = key << width | number
    return key


def slow_score(
    model: CharacterModel, tables: Sequence[TrainedRows], text: str, labels: Sequence[int]
) -> float:
    """The sum of the weights of a labeling, looked up one by one."""
    symbols = model.atoms.symbols(text, model.features.reach)
    total = 0.0
    for shape, table in zip(model.features.shapes, tables, strict=False):
        if shape.is_tag_bigram:
            pairs = table.weights(0).reshape(4, 4)
            total += sum(pairs[pair] for pair in itertools.pairwise(labels))
            continue
        for i, label in enumerate(labels):
            for offset in range(shape.lowest, shape.highest + 1):
                weights = table.weights(ngram(model, symbols, shape, i + offset))
                total += weights[4 * (shape.highest - offset) + label]
    for i in range(1, len(labels)):
        for number, shape in enumerate(model.features.edge_shapes):
            key = ngram(model, symbols, shape, i + shape.lowest)
            weights = tables[-1].weights(murmur_64a(struct.pack("<2Q", key, number)))
            total += weights[4 * labels[i - 1] + labels[i]]
    return total


def squeeze(text: str) -> tuple[str, np.ndarray]:
    """A text without its white space, and which labels that and joining characters allow."""
    pieces = text.split()
    allowed = []
    for piece in pieces:
        n_regional = 0
        for i, character in enumerate(piece):
            regional = "\U0001f1e6" <= character <= "\U0001f1ff"
            joined = i > 0 and (
                character in MARKS or piece[i - 1] == "\u200d" or (regional and n_regional % 2 == 1)
            )
            n_regional = n_regional + 1 if regional else 0
            labels = "BEMS"
            if joined:
                labels = "EM"
            elif i == 0 and allowed:
                labels = "BS"
            allowed.append([label in labels for label in LABELS])
    return "".join(pieces), np.array(allowed, dtype=bool).reshape(-1, N_LABELS)


def labels_of(words: Iterable[str]) -> list[int]:
    """The BMES labels of words, as numbers."""
    labels = ""
    for word in words:
        labels += "S" if len(word) == 1 else "B" + "M" * (len(word) - 2) + "E"
    return [LABELS.index(label) for label in labels]


def words_of(text: str, labels: Iterable[int]) -> list[str]:
    """The words that BMES labels cut out of a text."""
    words: list[str] = []
    for character, label in zip(text, labels, strict=True):
        if LABELS[label] in "BS":
            words.append("")
        words[-1] += character
    return words


Span = tuple[int, int]


def is_maximal(chosen: Iterable[Span], places: Iterable[Span]) -> bool:
    """Whether of the places of listed words no two that are chosen overlap, and none fits in."""
    chosen = sorted(chosen)
    if any(a[1] > b[0] for a, b in itertools.pairwise(chosen)):
        return False
    return all(any(a < end and start < b for a, b in chosen) for start, end in places)
