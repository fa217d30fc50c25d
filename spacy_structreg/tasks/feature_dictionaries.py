"""Features that users compute themselves: for each position names with values.

The forms are those of python-crfsuite, so that feature functions written for it serve here:

- a mapping from names to numbers: real values; True is 1, and False and 0 are no feature;
- a mapping from names to strings: ``{"word": "cat"}`` is the feature ``word:cat`` with value 1;
- a mapping from names to mappings or collections of names, whose names follow after a ``:``;
- a collection of names, each with value 1.

Values of features that come several times in a position are added up.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.features.knowledge import CORPUS
from spacy_structreg.features.state_templates import StateTemplate
from spacy_structreg.features.template_compiler import Shape, compile_shapes
from spacy_structreg.features.templates import TAG_BIGRAM
from spacy_structreg.learn.murmur import hash_string
from spacy_structreg.tasks.tokens import EDGE, LABEL, FeatureList

SEPARATOR: Final = ":"
_DEEPEST: Final = 32


def flatten_features(item: Mapping[str, object] | Iterable[str]) -> dict[str, float]:
    """The features of one position by their full names, without those of value 0.

    Raises ValueError for anything of another form than this module names, and for values that are
    not finite.
    """
    features: dict[str, float] = {}
    for name, value in _flatten(item, 0):
        features[name] = features.get(name, 0.0) + value
    for name, value in features.items():
        if not math.isfinite(value):
            raise ValueError(
                f"the feature {name!r:.80} has the value {value}; values must be finite numbers"
            )
    return {name: value for name, value in features.items() if value != 0.0}


def _flatten(item: object, depth: int) -> Iterator[tuple[str, float]]:
    if depth > _DEEPEST:
        raise ValueError(f"features are nested more than {_DEEPEST} deep")
    if isinstance(item, str | bytes) or not isinstance(item, Iterable):
        raise ValueError(
            f"expected the features of a position, got {item!r:.80}; give a mapping from "
            "names to values, or a list of names"
        )
    if not isinstance(item, Mapping):
        # Sets have another order in every run.
        for name in sorted(item, key=str) if isinstance(item, set | frozenset) else item:
            yield _checked_name(name), 1.0
        return
    for key, value in item.items():
        name = _checked_name(key)
        if isinstance(value, str):
            yield f"{name}{SEPARATOR}{value}", 1.0
        elif isinstance(value, Real | np.bool_):
            try:
                yield name, float(value)
            except OverflowError as error:
                raise ValueError(
                    f"the value of the feature {name!r:.80} does not fit a float"
                ) from error
        elif isinstance(value, Mapping | list | tuple | set | frozenset):
            for rest, number in _flatten(value, depth + 1):
                yield f"{name}{SEPARATOR}{rest}", number
        else:
            raise ValueError(
                f"the feature {name!r:.80} has the value {value!r:.80}; give a number, a string, "
                "or a mapping or list of such"
            )


def _checked_name(name: object) -> str:
    if not isinstance(name, str):
        raise ValueError(f"feature names must be strings, got {name!r:.80}")
    return name


class DictionaryFeatures:
    """Features given by name, in place of templates and tokens.

    edges: the features whose names are one of these, or have one of these before their first
        ``:``, also go with each pair of labels. tag_bigram: whether pairs of labels have weights of
        their own.
    Attributes are those of `tasks.tokens.TokenFeatures`; there are no streams.
    Raises ValueError for edges with a ``:``, which no name can have.
    """

    def __init__(self, edges: Collection[str] = (), *, tag_bigram: bool = True) -> None:
        if isinstance(edges, str):
            edges = [edges]
        for name in edges:
            if SEPARATOR in _checked_name(name):
                raise ValueError(
                    f"{name!r} names no features: a name is compared up to its first "
                    f"{SEPARATOR!r}; leave out what follows"
                )
        self.edges = tuple(sorted(set(edges)))
        self.tag_bigram = bool(tag_bigram)
        self.templates: tuple[StateTemplate, ...] = ()
        self.columns: tuple[str, ...] = ()
        self.shapes: tuple[Shape, ...] = compile_shapes([TAG_BIGRAM] if tag_bigram else [])
        self.atoms: dict[str, int] = {}
        self.lists = (LABEL, EDGE) if self.edges else (LABEL,)

    def extract(
        self, sequences: Sequence[Sequence[Mapping[str, object] | Iterable[str]]], reach: int = 0
    ) -> tuple[NDArray[np.uint64], tuple[FeatureList, ...]]:
        """The features of sequences; as `TokenFeatures.extract`.

        sequences: the features of each position. A key is the MurmurHash64A of a name. Values are
        None if all of them are 1. Raises ValueError as `flatten_features`, and for names that
        UTF-8 cannot encode.
        """
        features = [flatten_features(item) for items in sequences for item in items]
        found = [feature_list(features)]
        if self.edges:
            found.append(
                feature_list(
                    {
                        name: value
                        for name, value in position.items()
                        if name.partition(SEPARATOR)[0] in self.edges
                    }
                    for position in features
                )
            )
        return no_streams(len(features), len(sequences), reach), tuple(found)

    def named_lists(
        self, items: Sequence[Mapping[str, object] | Iterable[str]]
    ) -> list[list[list[tuple[str, str, str]]]]:
        """Return the named features that `extract` hashes, as `TokenFeatures.named_lists`."""
        return [
            [
                [
                    (f"{event}: {name}", "", CORPUS)
                    for name in position
                    if event == LABEL or name.partition(SEPARATOR)[0] in self.edges
                ]
                for position in self.names(items)
            ]
            for event in self.lists
        ]

    def names(self, items: Sequence[Mapping[str, object] | Iterable[str]]) -> list[list[str]]:
        """The names of the features of each position."""
        return [list(flatten_features(item)) for item in items]


def no_streams(n: int, n_sequences: int, reach: int) -> NDArray[np.uint64]:
    """The streams of sequences of `n` positions in all where features have none."""
    return np.empty((0, n + (n_sequences + 1) * reach), dtype=np.uint64)


def feature_list(features: Iterable[Mapping[str, float]]) -> FeatureList:
    """The features of each position, by the hashes of their names."""
    starts = [0]
    keys: list[int] = []
    values: list[float] = []
    for position in features:
        keys += map(hash_string, position)
        values += position.values()
        starts.append(len(keys))
    numbers = np.array(values, dtype=np.float64)
    return (
        np.array(starts, dtype=np.int64),
        np.array(keys, dtype=np.uint64),
        None if (numbers == 1.0).all() else numbers,
    )
