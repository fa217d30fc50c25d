"""The grid of the study: corpora, settings of segmenters, and the runs that tables and plots need.

A *setting* is what `configs/*.yml` says of one segmenter, as a mapping: fields of `Learning`, and
arguments of `CharacterSegmenter`. Its canonical form, a line of ``name=value``, is what results
are filed under, so that a run that two experiments want is made once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, TypeAlias

from studies.grids import GridFile
from studies.grids import canonical as canonical_line
from studies.results import ResultFile

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.model_average import MEANS
from spacy_structreg.models.segmentation import CharacterSegmenter

Setting: TypeAlias = "dict[str, Any]"

LEARNING: Final = frozenset(field.name for field in fields(Learning))
PLAIN: Final = Learning()
STRENGTHS: Final = LEARNING - {"algorithm", "clock"}
ARGUMENTS: Final = frozenset({"types", "half_width", "skip_bigram", "scheme"})
FILED: Final = {"algorithm": "update", "scheme": "labels"}
"""Settings that have other names in the lines of results."""

EXPERIMENTS: Final = ("mini_samples", "defaults", "combinations", "averaging", "strengths")


@dataclass(frozen=True)
class Key:
    """What one line of results is about.

    seeds: of the models, ``"3"`` for a single model, ``"0-4"`` for the average of five. mean: how
    they are averaged, ``""`` for a single model.
    """

    corpus: str
    setting: str
    epochs: int
    seeds: str
    mean: str = ""


@dataclass(frozen=True)
class Result:
    """The figures of one model or average, as fractions of 1.

    seconds: the CPU time of its training, reading and scoring left out; 0 for averages.
    checksum: the first digits of the checksum of the training corpus. version: of the package.
    """

    dev_f: float
    dev_oov_r: float
    test_f: float
    test_oov_r: float
    seconds: float
    checksum: str
    version: str


class Results(ResultFile[Key, Result]):
    """The results of the study by key, from a file that need not exist yet."""

    key, result = Key, Result


@dataclass(frozen=True)
class Unit:
    """Models that are trained one after the other, and the averages that are made of them."""

    corpus: str
    setting: str
    epochs: int
    first: int
    last: int
    averages: tuple[tuple[int, int], ...] = ()

    def single(self, seed: int) -> Key:
        """The key of one model."""
        return Key(self.corpus, self.setting, self.epochs, str(seed))

    def average(self, first: int, last: int, mean: str) -> Key:
        """The key of the average of the models with the seeds `first` to `last`."""
        return Key(self.corpus, self.setting, self.epochs, f"{first}-{last}", mean)

    def lines(self) -> Iterator[Key]:
        """All lines of results that the unit gives."""
        for seed in range(self.first, self.last + 1):
            yield self.single(seed)
        for first, last in self.averages:
            for mean in MEANS:
                yield self.average(first, last, mean)


@dataclass(frozen=True)
class Row:
    """A named setting of an experiment: a row of a table, or a point of a curve.

    models: how many are trained.
    """

    name: str
    setting: str
    models: int
    value: float | None = None


@dataclass(frozen=True)
class Plan:
    """What an experiment asks of one corpus.

    curve, parameter: its name and what varies along it; "" for a table.
    rows: in the order of the table. group: how many models are averaged together; 0 for none.
    sizes: the numbers of models to average, from the first of each group on.
    """

    experiment: str
    corpus: str
    curve: str
    parameter: str
    rows: tuple[Row, ...]
    epochs: int
    group: int
    sizes: tuple[int, ...]

    def units(self) -> Iterator[Unit]:
        """The runs, one group of models after the other."""
        for row in self.rows:
            step = self.group or row.models
            for first in range(0, row.models, step):
                last = first + step - 1
                yield Unit(
                    self.corpus,
                    row.setting,
                    self.epochs,
                    first,
                    last,
                    tuple((first, first + n - 1) for n in self.sizes),
                )

    def singles(self, row: Row) -> list[Key]:
        """The keys of the single models of a row."""
        return [Key(self.corpus, row.setting, self.epochs, str(seed)) for seed in range(row.models)]

    def averages(self, row: Row, mean: str, size: int | None = None) -> list[Key]:
        """The keys of the averages of `size` models of a row, one for each group."""
        size = self.group if size is None else size
        return [
            Key(self.corpus, row.setting, self.epochs, f"{first}-{first + size - 1}", mean)
            for first in range(0, row.models, self.group)
        ]


@dataclass(frozen=True)
class Claim:
    """What a paper says of two rows of the experiment `combinations`, or of `curve`'s points.

    more, less: which of them has the higher F according to it: the name of a row, of a single model
        or, with ``" x 5"`` behind it, of the average of a group by equation 8, with ``" x 5 (7)"``
        by equation 7.
    equal: the paper sees no difference.
    """

    source: str
    says: str
    more: str
    less: str
    equal: bool = False


def canonical(setting: Mapping[str, Any]) -> str:
    """A setting as one line. Raises ValueError for names that no segmenter has."""
    unknown = set(setting) - LEARNING - ARGUMENTS
    if unknown:
        raise ValueError(
            f"a setting has {', '.join(sorted(map(str, unknown)))}; known are "
            f"{', '.join(sorted(LEARNING | ARGUMENTS))}"
        )
    return canonical_line({FILED.get(key, key): value for key, value in setting.items()})


def segmenter(setting: Mapping[str, Any], epochs: int, seed: int) -> CharacterSegmenter:
    """An untrained segmenter. Raises ValueError for values that do not go."""
    return CharacterSegmenter(
        learning=Learning(**{k: v for k, v in setting.items() if k in LEARNING}),
        epochs=epochs,
        seed=seed,
        **{k: v for k, v in setting.items() if k in ARGUMENTS},
    )


class Grid(GridFile):
    """The grid that a file describes."""

    def read(self, given: dict[str, Any]) -> None:
        self.base: Setting = given["base"]
        self.corpora = given["corpora"]
        self.settings: dict[str, Setting] = {}
        self.claims = [Claim(**claim) for claim in given.get("claims", [])]
        self.plans = list(self._plans(given))

    def of(self, experiment: str, corpus: str | None = None) -> list[Plan]:
        """The plans of an experiment, of one corpus or of all."""
        return [
            plan
            for plan in self.plans
            if plan.experiment == experiment and corpus in (None, plan.corpus)
        ]

    def units(self) -> list[Unit]:
        """What is to be run, without what several experiments want alike."""
        merged: dict[tuple[str, str, int, int, int], Unit] = {}
        for unit in (unit for plan in self.plans for unit in plan.units()):
            same = (unit.corpus, unit.setting, unit.epochs, unit.first, unit.last)
            before = merged[same].averages if same in merged else ()
            averages = tuple(dict.fromkeys(before + unit.averages))
            merged[same] = replace(unit, averages=averages)
        return list(merged.values())

    def _plans(self, given: Mapping[str, Any]) -> Iterator[Plan]:
        for experiment in EXPERIMENTS:
            if experiment not in given:
                continue
            entry = given[experiment]
            for corpus, scope in entry["corpora"].items():
                self.known_corpus(corpus, experiment)
                group = int(scope.get("group", 0))
                sizes = range(2, group + 1) if experiment == "averaging" else [group]
                given_epochs = scope["epochs"]
                for epochs in given_epochs if isinstance(given_epochs, list) else [given_epochs]:
                    for curve, rows in self._tables(experiment, entry, scope):
                        odd = [row.models for row in rows if group and row.models % group]
                        if odd:
                            raise ValueError(
                                f"{experiment}: {odd[0]} models are no groups of {group}"
                            )
                        yield Plan(
                            experiment,
                            corpus,
                            curve,
                            entry["curves"][curve]["parameter"] if curve else "",
                            tuple(rows),
                            int(epochs),
                            group,
                            tuple(sizes) if group else (),
                        )

    def _tables(
        self, experiment: str, entry: Mapping[str, Any], scope: Mapping[str, Any]
    ) -> Iterator[tuple[str, list[Row]]]:
        """The named lists of rows of an experiment: curves have one each, tables one in all."""
        models = int(scope["models"])
        if "curves" not in entry:
            more = scope.get("more_models", {})
            yield (
                "",
                [
                    self._row(name, entry["settings"][name], int(more.get(name, models)))
                    for name in scope.get("settings") or list(entry["settings"])
                ],
            )
            return
        for name, curve in entry["curves"].items():
            values = scope.get("values", {}).get(name, curve["values"])
            if not values:
                continue
            yield (
                name,
                [
                    self._row(
                        "whole" if value is None else f"{value:g}",
                        {**curve.get("with", {}), curve["parameter"]: value},
                        models,
                        None if value is None else float(value),
                    )
                    for value in values
                ],
            )

    def _row(self, name: str, setting: Setting, models: int, value: float | None = None) -> Row:
        # What is as it is without being said is left unsaid, so that equal settings are equal.
        whole = {
            name: float(v) if isinstance(v, int) and name in STRENGTHS else v
            for name, v in {**self.base, **(setting or {})}.items()
            if name not in LEARNING or v != getattr(PLAIN, name)
        }
        segmenter(whole, 1, 0)
        line = canonical(whole)
        self.settings[line] = whole
        return Row(name, line, models, value)
