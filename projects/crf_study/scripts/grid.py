"""The grid of a study: corpora, systems that are compared on them, and the runs that this needs.

A *setting* is what a grid says of one training, as a mapping: ``learner``, ``crf`` (a log-linear
model of any kind) or ``perceptron``; the fields of its settings, `LogLinear` or `Learning`;
``epochs`` and ``patience``; and ``unlabeled``, the part of the corpus that is given without its
labels. Its canonical form, a line of ``name=value``, is what results are filed under, so that a run
that two experiments want is made once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import Any, Final, TypeAlias

from studies.grids import GridFile
from studies.grids import canonical as canonical_line
from studies.results import ResultFile

from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.models.classification import TextClassifier
from spacy_structreg.models.labeling.labelers import SequenceLabeler
from spacy_structreg.models.segmentation import CharacterSegmenter

Setting: TypeAlias = "dict[str, Any]"

ESTIMATORS: Final[dict[str, Any]] = {
    "characters": CharacterSegmenter,
    "labels": SequenceLabeler,
    "texts": TextClassifier,
}
"""What is trained on a corpus, by the `kind` of its entry."""

LEARNERS: Final = {"crf": LogLinear, "perceptron": Learning}
PLAN: Final = frozenset({"learner", "epochs", "patience", "unlabeled"})
UNLABELED: Final = ("test", "rest")
AXES: Final = ("", "linear", "log")


@dataclass(frozen=True)
class Key:
    """What one line of results is about: one training."""

    corpus: str
    setting: str
    seed: int


@dataclass(frozen=True)
class Result:
    """The figures of one model: of the epoch that is best on the dev set.

    curve: the score on the dev set after each epoch, a fraction of 1. epoch: the best one, from 1.
    test: its score on the test set. types: of spans, for each label, how many are gold, predicted
    and correct, in the dev set and in the test set.
    seconds: the CPU time of an epoch, scoring left out; None where the two cannot be told apart.
    checksum: the first digits of the checksum of the corpus. version: of the package.
    """

    curve: list[float]
    epoch: int
    test: float
    types: dict[str, dict[str, list[int]]]
    seconds: float | None
    checksum: str
    version: str

    def __post_init__(self) -> None:
        if not 1 <= self.epoch <= len(self.curve):
            raise ValueError(f"there is no epoch {self.epoch}")
        if not all(0 <= score <= 1 for score in (*self.curve, self.test)):
            raise ValueError("a score is not a fraction of 1")

    @property
    def dev(self) -> float:
        """The score on the dev set."""
        return self.curve[self.epoch - 1]


class Results(ResultFile[Key, Result]):
    """The results of the study by key, from a file that need not exist yet."""

    key, result = Key, Result


Score: TypeAlias = Callable[[Key], float | None]
"""The figure of a run on the dev set; None if it has not been made."""


@dataclass(frozen=True)
class System:
    """What is compared: a setting, and how the rest of it is found.

    like: the name of the system of the experiment whose chosen setting it begins with.
    tune: values of settings, of which those that are best on the dev set are taken.
    vary, values: the setting that varies along a curve; "" for a single row.
    """

    name: str
    setting: Setting
    like: str
    tune: Mapping[str, Sequence[Any]]
    vary: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Row:
    """A row of a table, or a point of a curve.

    name: of the point; "" for a row of its own. tuned: what was chosen on the dev set.
    """

    system: str
    name: str
    setting: Setting
    tuned: Setting
    value: Any = None


@dataclass(frozen=True)
class Plan:
    """What an experiment asks of one corpus. seeds, tune_seeds: how many, from 0 on."""

    corpus: str
    systems: tuple[System, ...]
    seeds: int
    tune_seeds: int

    def keys(self, setting: Setting, seeds: int | None = None) -> list[Key]:
        """The runs of a setting."""
        n = self.seeds if seeds is None else seeds
        return [Key(self.corpus, canonical(setting), seed) for seed in range(n)]

    def rows(self, score: Score) -> Iterator[Row | list[Setting]]:
        """All rows, in the order of the table.

        Before those of a system come the settings that its own is chosen from; as long as it
        cannot be chosen yet, these alone.
        """
        chosen: dict[str, Setting] = {}
        tuned: dict[str, Setting] = {}
        for system in self.systems:
            if system.like and system.like not in chosen:
                continue
            start = {**chosen.get(system.like, {}), **system.setting}
            candidates = [
                {**start, **dict(zip(system.tune, values, strict=True))}
                for values in product(*system.tune.values())
            ]
            if len(candidates) > 1:
                yield candidates
                figures = [self._mean(setting, score) for setting in candidates]
                known = [figure for figure in figures if figure is not None]
                if len(known) < len(candidates):
                    continue
                # The first of equal ones.
                candidates = [candidates[figures.index(max(known))]]
            setting = chosen[system.name] = candidates[0]
            taken = {**tuned.get(system.like, {}), **{each: setting[each] for each in system.tune}}
            tuned[system.name] = taken
            if not system.vary:
                yield Row(system.name, "", setting, taken)
            for value in system.values:
                yield Row(system.name, f"{value:g}", {**setting, system.vary: value}, taken, value)

    def _mean(self, setting: Setting, score: Score) -> float | None:
        found = [score(key) for key in self.keys(setting, self.tune_seeds)]
        known = [figure for figure in found if figure is not None]
        return sum(known) / len(known) if len(known) == len(found) else None


@dataclass(frozen=True)
class Experiment:
    """Systems that are compared.

    against: the name of the system that all rows are compared with. best: the names of curves of
    which the point that is best on the dev set is held against it. axis: of a picture, if there is
    one. times: whether the picture shows the time of training, too. types: the names of the systems
    whose figures are also given for each label.
    """

    name: str
    title: str
    note: str
    plans: tuple[Plan, ...]
    against: str
    best: tuple[str, ...]
    axis: str
    times: bool
    types: tuple[str, ...]


def canonical(setting: Mapping[str, Any]) -> str:
    """A setting as one line; what is None is left unsaid."""
    return canonical_line({name: value for name, value in setting.items() if value is not None})


def estimator(entry: Mapping[str, Any], setting: Setting, seed: int) -> Any:
    """An untrained model. Raises ValueError for settings that do not exist or go together."""
    learner = LEARNERS.get(setting.get("learner", ""))
    if learner is None:
        raise ValueError(f"a setting has no learner; choose from {', '.join(LEARNERS)}")
    names = {field.name for field in fields(learner)}
    if strange := set(setting) - names - PLAN:
        raise ValueError(f"a setting has {sorted(strange)[0]!r}, which {learner.__name__} has not")
    if setting.get("unlabeled") not in (None, *UNLABELED):
        raise ValueError(
            f"unlabeled is {setting['unlabeled']!r}; choose from {', '.join(UNLABELED)}"
        )
    if entry.get("kind") not in ESTIMATORS:
        raise ValueError(
            f"a corpus is of the kind {entry.get('kind')!r}; choose from {', '.join(ESTIMATORS)}"
        )
    return ESTIMATORS[entry["kind"]](
        **entry.get("model", {}),
        learning=learner(**{name: value for name, value in setting.items() if name in names}),
        epochs=setting["epochs"],
        patience=setting.get("patience"),
        seed=seed,
    )


class Grid(GridFile):
    """The grid that a file describes."""

    def read(self, given: dict[str, Any]) -> None:
        self.title = str(given["title"])
        self.corpora = given["corpora"]
        self.experiments = [
            self._experiment(name, entry, given.get("base", {}))
            for name, entry in given["experiments"].items()
        ]

    def wanted(self, score: Score) -> dict[Key, Setting]:
        """The runs that are known to be needed, in their order: all, when none of them is missing.

        What follows from a choice on the dev set is known once there is what to choose from.
        """
        found: dict[Key, Setting] = {}
        for experiment in self.experiments:
            for plan in experiment.plans:
                for row in plan.rows(score):
                    settings = [row.setting] if isinstance(row, Row) else row
                    n_seeds = plan.seeds if isinstance(row, Row) else plan.tune_seeds
                    for setting in settings:
                        found |= dict.fromkeys(plan.keys(setting, n_seeds), setting)
        return found

    def _experiment(
        self, name: str, entry: Mapping[str, Any], base: Mapping[str, Setting]
    ) -> Experiment:
        plans = []
        for corpus, scope in entry["corpora"].items():
            self.known_corpus(corpus, name)
            systems = [
                self._system(each, system or {}, scope, base)
                for each, system in entry["systems"].items()
                if each not in scope.get("without", ())
            ]
            plan = Plan(corpus, tuple(systems), int(scope["seeds"]), int(scope["tune_seeds"]))
            self._check(name, plan)
            plans.append(plan)
        against, best = entry.get("against", ""), tuple(entry.get("best", ()))
        types, axis = tuple(entry.get("types", ())), entry.get("axis", "")
        if unknown := {against, *best, *types} - {"", *entry["systems"]}:
            raise ValueError(f"{name} names an unknown system, {sorted(unknown)[0]!r}")
        if axis not in AXES:
            raise ValueError(f"{name} has the axis {axis!r}; choose linear or log, or leave it out")
        return Experiment(
            name,
            str(entry["title"]),
            str(entry.get("note", "")),
            tuple(plans),
            against,
            best,
            axis,
            bool(entry.get("times", False)),
            types,
        )

    def _system(
        self,
        name: str,
        entry: Mapping[str, Any],
        scope: Mapping[str, Any],
        base: Mapping[str, Setting],
    ) -> System:
        like = entry.get("like", "")
        given = dict(entry.get("setting", {}))
        if not like:
            given = {**base.get(given.get("learner", ""), {}), **given, **scope.get("setting", {})}
        tune = {**entry.get("tune", {})}
        tune |= {each: scope["tune"][each] for each in tune if each in scope.get("tune", {})}
        vary = entry.get("vary", "")
        values = scope.get("values", {}).get(name, entry["values"]) if vary else ()
        return System(name, given, like, tune, vary, tuple(values))

    def _check(self, name: str, plan: Plan) -> None:
        """Raise ValueError if a setting cannot be: all that there can be are tried."""
        entry = self.corpora[plan.corpus]
        starts: dict[str, Setting] = {}
        for system in plan.systems:
            if system.like and system.like not in starts:
                raise ValueError(f"{name}: no system {system.like!r} stands before {system.name!r}")
            start = starts[system.name] = {**starts.get(system.like, {}), **system.setting}
            start |= {each: values[0] for each, values in system.tune.items()}
            for values in product(*system.tune.values()):
                setting = {**start, **dict(zip(system.tune, values, strict=True))}
                for value in system.values or (None,):
                    estimator(entry, {**setting, system.vary: value} if system.vary else setting, 0)
