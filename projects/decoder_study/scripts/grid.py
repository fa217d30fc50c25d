"""The grid of the study: corpora, models, how they decode, and the experiments that need them.

A *model* is what `configs/*.yml` says of one training, as a mapping: the kind of estimator, its
arguments, and fields of `Learning` (`rule` is its `algorithm`). A *system* is one or several models
and how they decode. Both have a canonical form, a line of ``name=value``, under which results are
filed, so that what two experiments want is run once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias

from studies.grids import GridFile, canonical, value_text
from studies.results import ResultFile
from systems import ROLES, SCORES, checked_decoding, found_by, new_model

Setting: TypeAlias = "dict[str, Any]"

READS: Final = {
    "words": "texts",
    "tags": "texts",
    "trees": "tagged_words",
    "constituents": "tagged_words",
    "trees_of_texts": "texts",
}
"""What systems read, by what they find; those that read the same share a reference."""


@dataclass(frozen=True)
class System:
    """Models by their roles, and how they decode; the names are canonical lines."""

    parts: tuple[tuple[str, str], ...]
    decoding: str

    @property
    def line(self) -> str:
        """The parts as one line."""
        return " + ".join(f"{role}({model})" for role, model in self.parts)


@dataclass(frozen=True)
class Key:
    """What one line of results is about.

    parts: `System.line`. seeds: of the models, ``"3"`` for single models, ``"0-4"`` where each part
    is the average of five.
    """

    corpus: str
    parts: str
    decoding: str
    seeds: str


SCORED: Final = frozenset(
    frozenset(f"{part}_{name}" for part in ("dev", "test") for name in names)
    for names in SCORES.values()
)
"""The sets of scores that a system may have."""


@dataclass(frozen=True)
class Result:
    """The figures of one system.

    scores: fractions of 1, one of the sets `SCORED`; in the file they stand beside the others.
    weight: of the guide, or None. speed: characters, or sentences of a parser, per CPU second.
    reference: those of the reference in the same minute.
    seconds: the CPU time of training all its models, 0 where they are averages.
    checksum: the first digits of the checksum of the training corpus. version: of the package.
    Raises ValueError for other scores, for such as are no fractions, and for speeds not above 0.
    """

    scores: dict[str, float]
    weight: float | None
    speed: float
    reference: float
    seconds: float
    checksum: str
    version: str

    def __post_init__(self) -> None:
        if frozenset(self.scores) not in SCORED:
            raise ValueError(f"the scores of nothing are {sorted(self.scores)}")
        if not all(0 <= score <= 1 for score in self.scores.values()):
            raise ValueError("a score is not a fraction of 1")
        if not (self.speed > 0 and self.reference > 0):
            raise ValueError("a speed is not above 0")


class Results(ResultFile[Key, Result]):
    """The results of the study by key, from a file that need not exist yet."""

    key, result = Key, Result

    def read(self, given: dict[str, Any]) -> Result:
        scores = {name: given.pop(name) for name in list(given) if _is_score(name)}
        return Result(scores, **given)

    def fields(self, result: Result) -> dict[str, Any]:
        fields = result.scores | asdict(result)
        del fields["scores"]
        return fields


def _is_score(name: str) -> bool:
    return name.startswith(("dev_", "test_"))


@dataclass(frozen=True)
class Row:
    """A system of an experiment: a row of a table, a point of a curve.

    seeds: the single runs. average: the seeds of the run on averages, or "".
    """

    name: str
    value: float | None
    corpus: str
    system: System
    seeds: tuple[str, ...]
    average: str

    def key(self, seeds: str) -> Key:
        """The key of one run."""
        return Key(self.corpus, self.system.line, self.system.decoding, seeds)

    def singles(self) -> list[Key]:
        """The keys of the runs on single models."""
        return [self.key(seeds) for seeds in self.seeds]

    def all_keys(self) -> list[Key]:
        """The keys of all runs."""
        return [*self.singles(), *([self.key(self.average)] if self.average else [])]


@dataclass(frozen=True)
class Curve:
    """Rows of an experiment in which one setting varies."""

    name: str
    varies: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Plan:
    """What an experiment asks of one corpus. finds: what is scored, of `systems.SCORES`."""

    experiment: str
    corpus: str
    curves: tuple[Curve, ...]
    finds: str


@dataclass(frozen=True)
class Experiment:
    """A section of the report.

    x: of its picture, ``"speed"``, ``"value"`` or ``""`` for none. panels: of the picture, titles
    and the curves that each shows.
    """

    name: str
    title: str
    note: str
    x: str
    panels: tuple[tuple[str, tuple[str, ...]], ...]
    plans: tuple[Plan, ...]


@dataclass(frozen=True)
class Claim:
    """What a paper says of two rows: `more` has the higher figure, or, where `equal`, no higher.

    more, less: ``"experiment / curve / row"``. figure: ``"speed"``, or
    one of `systems.SCORES`.
    """

    source: str
    says: str
    more: str
    less: str
    figure: str = "f"
    equal: bool = False


class Grid(GridFile):
    """The grid that a file describes."""

    def read(self, given: dict[str, Any]) -> None:
        self.models: dict[str, Setting] = {}
        self.decodings: dict[str, Setting] = {}
        self.corpora = given["corpora"]
        self._named: dict[str, Setting] = {}
        for name, setting in given["models"].items():
            like = self._named[setting["like"]] if "like" in setting else {}
            self._named[name] = {**like, **{k: v for k, v in setting.items() if k != "like"}}
        timing = given["timing"]
        self.rounds = int(timing["rounds"])
        self.timed_characters = int(timing["characters"])
        self.timed_sentences = int(timing["sentences"])
        self.enough = float(timing["enough"])
        self.references = {
            reads: self._system(reference["parts"], {}, reference.get("decode") or {})
            for reads, reference in given["references"].items()
        }
        self.experiments = [
            self._experiment(name, entry) for name, entry in given["experiments"].items()
        ]
        self.claims = [Claim(**claim) for claim in given.get("claims") or []]
        for claim in self.claims:
            rows = [self.rows(claim.more), self.rows(claim.less)]
            if not all(rows) or not all(
                claim.figure in ("speed", *SCORES[self.finds(row.system)])
                for side in rows
                for row in side.values()
            ):
                raise ValueError(f"the claim {claim.says!r} is about nothing in the grid")

    def plans(self) -> list[Plan]:
        """All plans, in the order of the grid."""
        return [plan for experiment in self.experiments for plan in experiment.plans]

    def rows(self, name: str) -> dict[str, Row]:
        """By corpus, the rows called ``"experiment / curve / row"``."""
        experiment, curve, row = (part.strip() for part in name.split(" / "))
        return {
            plan.corpus: each
            for plan in self.plans()
            if plan.experiment == experiment
            for one in plan.curves
            if one.name == curve
            for each in one.rows
            if each.name == row
        }

    def finds(self, system: System) -> str:
        """What a system finds, of `systems.SCORES`."""
        return found_by(self.models[line]["kind"] for _, line in system.parts)

    def wanted(self, corpus: str) -> dict[Key, System]:
        """The runs that a corpus needs."""
        return {
            key: row.system
            for plan in self.plans()
            if plan.corpus == corpus
            for curve in plan.curves
            for row in curve.rows
            for key in row.all_keys()
        }

    def _experiment(self, name: str, entry: Mapping[str, Any]) -> Experiment:
        return Experiment(
            name,
            entry["title"],
            entry.get("note", ""),
            entry.get("x", ""),
            self._panels(name, entry),
            tuple(
                self._plan(name, self.known_corpus(corpus, name), scope, entry["curves"])
                for corpus, scope in entry["corpora"].items()
            ),
        )

    def _panels(
        self, name: str, entry: Mapping[str, Any]
    ) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The panels of a picture; without any, one with all curves."""
        panels = entry.get("panels") or {"": list(entry["curves"])}
        shown = [curve for curves in panels.values() for curve in curves]
        for curve in {*shown} ^ {*entry["curves"]}:
            raise ValueError(f"{name}: the curve {curve!r} is in no panel, or no curve")
        return tuple((title, tuple(curves)) for title, curves in panels.items())

    def _plan(
        self, name: str, corpus: str, scope: Mapping[str, Any], curves: Mapping[str, Any]
    ) -> Plan:
        averaged = scope.get("average") or []
        picked = scope.get("curves") or list(curves)
        seeds_of = scope.get("seeds_of", {})
        for curve in [*averaged, *picked, *scope.get("values", {}), *seeds_of]:
            if curve not in curves:
                raise ValueError(f"{name} has no curve {curve!r}")
        made = []
        for curve in picked:
            entry = curves[curve]
            n_seeds = int(seeds_of.get(curve, scope["seeds"]))
            if n_seeds < 1 or (curve in averaged and n_seeds < 2):
                raise ValueError(f"{name}, {curve}: {n_seeds} seeds are too few")
            values = scope.get("values", {}).get(curve, entry.get("values", []))
            varies = entry.get("vary", "")
            rows = [
                Row(
                    label,
                    value,
                    corpus,
                    system,
                    tuple(map(str, range(n_seeds))),
                    f"0-{n_seeds - 1}" if curve in averaged else "",
                )
                for label, value, system in self._varied(curve, entry, varies, values)
            ]
            made.append(Curve(curve, varies, tuple(rows)))
        found = {self.finds(row.system) for curve in made for row in curve.rows}
        if len(found) != 1:
            raise ValueError(f"{name} is to compare systems that find {sorted(found)}")
        (finds,) = found
        needed = "trees" if finds == "trees_of_texts" else finds
        if needed != "words" and not self.corpora[corpus].get(needed):
            raise ValueError(f"{name} needs {needed}, which the corpus {corpus} has not")
        if READS[finds] not in self.references:
            raise ValueError(f"{name} needs a reference that reads {READS[finds]}")
        learns = self.finds(self.references[READS[finds]])
        if learns != "words" and not self.corpora[corpus].get(learns):
            raise ValueError(
                f"{name} needs a reference other than one of {learns}, which the corpus {corpus} "
                "has not"
            )
        return Plan(name, corpus, tuple(made), finds)

    def _varied(
        self, curve: str, entry: Mapping[str, Any], varies: str, values: Sequence[Any]
    ) -> Iterator[tuple[str, float | None, System]]:
        """The systems of a curve, each with its name and the value of what varies."""
        train, decode = entry.get("train") or {}, entry.get("decode") or {}
        if not varies:
            yield curve, None, self._system(entry["parts"], train, decode)
            return
        where, _, setting = varies.partition(".")
        if where not in ("train", "decode") or not setting:
            raise ValueError(f"{curve} varies {varies!r}; it must be train.… or decode.…")
        for value in values:
            yield (
                entry.get("none", "none") if value is None else value_text(value),
                float(value) if isinstance(value, (int, float)) else None,
                self._system(
                    entry["parts"],
                    {**train, setting: value} if where == "train" else train,
                    {**decode, setting: value} if where == "decode" else decode,
                ),
            )

    def _system(
        self, parts: Mapping[str, str], train: Mapping[str, Any], decode: Mapping[str, Any]
    ) -> System:
        """A system. train: replaces settings of its model of words, or of its only one."""
        strange = set(parts) - set(ROLES)
        if strange or not parts:
            raise ValueError(f"a system has the parts {sorted(parts)}; choose from {ROLES}")
        changed = "words" if "words" in parts else next(iter(parts))
        lines = []
        for role in ROLES:
            if role not in parts:
                continue
            setting = {**self._named[parts[role]], **(train if role == changed else {})}
            line = canonical(setting)
            if line not in self.models:
                new_model(setting, 0)
                self.models[line] = setting
            lines.append((role, line))
        decoding = dict(decode)
        checked_decoding({role: self.models[line]["kind"] for role, line in lines}, decoding)
        self.decodings[canonical(decoding)] = decoding
        return System(tuple(lines), canonical(decoding))
