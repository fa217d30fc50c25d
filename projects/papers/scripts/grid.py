"""The grid of a paper: corpora, systems, and the tables and figures that they are run for.

A *system* is a config of `systems/` with settings that are changed, and how many models of it are
averaged. Results are filed under the name of the config and these settings, so that a run that two
tables want is made once. A *figure* is a table whose rows are the points of curves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import srsly  # type: ignore[import-untyped]
from studies.grids import GridFile, canonical, value_text
from studies.results import ResultFile

from spacy_structreg.learn.model_average import MEANS

GIVEN: Final = ("text", "words", "words,tags")
UNLABELED: Final = ("", "test", "unlabeled")
HERE: Final = ("yes", "in part", "no")
HOLDS: Final = "holds"
FAILS: Final = "does not hold"
OPEN: Final = "cannot be told"
VERDICTS: Final = (HOLDS, FAILS, OPEN)
ON: Final = ("test", "dev")
RAW: Final = ("", "alone", "together")

TO_BE_CHOSEN: Final = "(to be chosen)"

SPEED: Final = "sentences_a_second"
"""In columns: sentences of the test set in a second of `Result.decoding_seconds`."""

MEASURED: Final = {
    SPEED: "sentences a second",
    "training_seconds": "seconds to train",
    "epoch_milliseconds": "milliseconds an epoch",
}
"""What is no score, but was measured of runs: its title on an axis."""


TABLE_KEYS: Final = (
    *("title", "because", "columns", "seeds", "of", "against", "rows"),
    *("differs", "shows", "on", "axis", "panels"),
)
AXIS_KEYS: Final = ("title", "by", "log", "vary", "values")
ROW_KEYS: Final = ("system", "paper", "against", "changed", "models", "mean", "of")
"""What rows of tables and curves may have."""
IN_TABLES: Final = (*ROW_KEYS, "length", "kind")
IN_FIGURES: Final = (*ROW_KEYS, "systems", "level", "vary", "values")


@dataclass(frozen=True)
class Key:
    """What one line of results is about.

    system: the name of a config. setting: what is changed in it, `System.setting`. seed: the first
    group of models has 0. fold: the one that is the test set, 0 for corpora that are not folded.
    """

    corpus: str
    system: str
    setting: str
    seed: int
    fold: int


@dataclass(frozen=True)
class Result:
    """The figures of one model or average on the test set, as fractions of 1.

    sentences: by the name of a figure, the counts of each sentence, as `packed` writes them;
    none of runs that no test over sentences wants. epochs: those that were best on the development
    set, of each model. training_seconds, decoding_seconds: CPU time. config: the first digits of
    the checksum of the config. commit: of the code that made the run. checksum: of the corpus.
    version: of the package.

    What early runs lack: dev: as `figures`, on the development set; none of corpora with `refit`,
    whose models have learned from it. n_sentences: of the test set.
    after: of runs that a curve over epochs is of, by the name of a figure its values on the
    development set after each epoch, and as "seconds" the CPU time until then, scoring included.
    """

    figures: dict[str, float | None]
    sentences: dict[str, str]
    epochs: list[int]
    training_seconds: float
    decoding_seconds: float
    config: str
    commit: str
    checksum: str
    version: str
    dev: dict[str, float | None] = field(default_factory=dict)
    after: dict[str, list[float | None]] = field(default_factory=dict)
    n_sentences: int = 0

    def __post_init__(self) -> None:
        mappings = (self.figures, self.sentences, self.dev, self.after)
        if not all(isinstance(each, dict) for each in mappings):
            raise ValueError("figures, sentences, dev and after are mappings")


class Results(ResultFile[Key, Result]):
    """The results of a paper by key, from a file that need not exist yet."""

    key, result = Key, Result


@dataclass(frozen=True)
class Tuning:
    """Settings of a system that are chosen, before it is run on a test set.

    settings: by their names in the config, the values that are tried, in all combinations. by: the
    figure that is to be highest in the mean over seeds and folds; of equal ones, the first is
    taken. seeds: how many. corpora: by the name of a corpus, another one that values are tried on,
    by figures of its test set; else it is the development set of the corpus itself.
    """

    settings: Mapping[str, Sequence[Any]]
    by: str
    seeds: int = 2
    corpora: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.settings or not all(self.settings.values()) or self.seeds < 1:
            raise ValueError("tuned has settings with their values, and seeds, 1 or more")

    def tried(self) -> Iterator[dict[str, Any]]:
        """Yield the combinations of values."""
        for values in product(*self.settings.values()):
            yield dict(zip(self.settings, values, strict=True))


@dataclass(frozen=True)
class System:
    """A config of `systems/`, and how it is trained and scored.

    changed: settings by their names in the config. models: how many are averaged, `mean`: how.
    before: systems that are trained for themselves, and whose models annotate the test set before
    this one: a tokenizer, a tagger. given: what the pipeline is given of the test set, as in
    `structreg evaluate --gold`. lengths: sentences of at most so many words are scored once more.
    drawn: whether training draws anything; if not, one run stands for all seeds, unless these have
    parts of the corpus of their own. of: the models are the first of a group of so many, from which
    averages of other sizes are taken as well. to_the_optimum: train until the objective stands
    still, and look at no development set. learns_dev: train on the development set as well, and
    so for all epochs, or to the optimum. unlabeled: the part of the corpus whose texts count
    without their labels. raw: whether what the model knows of raw text is counted anew on the
    text of the test set, "alone" or "together" with that of training; "" for no. tuned: settings
    that are chosen first, by what is best.
    """

    config: str
    changed: Mapping[str, Any] = field(default_factory=dict)
    models: int = 1
    mean: str = "nonzero"
    before: tuple[System, ...] = ()
    given: str = "text"
    lengths: tuple[int, ...] = ()
    drawn: bool = True
    of: int = 0
    to_the_optimum: bool = False
    learns_dev: bool = False
    unlabeled: str = ""
    raw: str = ""
    tuned: Tuning | None = None

    def candidates(self) -> list[System]:
        """The systems that it is chosen from."""
        return [
            replace(self, changed={**self.changed, **each}, tuned=None)
            for each in (self.tuned.tried() if self.tuned else [{}])
        ]

    @property
    def group(self) -> int:
        """The number of seeds that are left for its models."""
        return max(self.models, self.of)

    @property
    def members(self) -> str:
        """What the models are trained by that averages are taken of, as one line; "" for none."""
        return f"{self.config} {canonical({**self.changed, 'of': self.of})}" if self.of else ""

    @property
    def model(self) -> str:
        """What its own model is trained by, as one line."""
        return f"{self.config} {canonical(self._changed)}".strip()

    @property
    def chooses_epoch(self) -> bool:
        """True if the epoch that is best on the development set is kept."""
        return not (self.to_the_optimum or self.learns_dev)

    @property
    def setting(self) -> str:
        """What is changed, as one line."""
        changed = self._changed
        if self.before:
            changed["before"] = ", ".join(each.model for each in self.before)
        if self.given != "text":
            changed["given"] = self.given
        if self.lengths:
            changed["lengths"] = ",".join(map(str, self.lengths))
        if self.raw:
            changed["raw"] = self.raw
        return canonical(changed)

    @property
    def _changed(self) -> dict[str, Any]:
        changed = dict(self.changed)
        if self.models > 1:
            changed |= {"models": self.models, "mean": self.mean}
        if self.of > self.models:
            changed |= {"models": self.models, "of": self.of}
        if self.to_the_optimum:
            changed["to_the_optimum"] = True
        if self.learns_dev:
            changed["learns_dev"] = True
        if self.unlabeled:
            changed["unlabeled"] = self.unlabeled
        return changed


@dataclass(frozen=True)
class Row:
    """A system in a table.

    paper: the figures of the paper, in percent, by corpus and name of the figure. against: the name
    of the row that it is held against; "" for none. length: of the sentences that it is about,
    at most so many words, one of `System.lengths`; None for all sentences. kind: the label that it
    is about, one of `Corpus.kinds`; "" for all.

    Of a point of a figure, series: the name of its curve; value: what is varied, None for a level
    that curves are held against. on: whose figures are shown, of the "test" or the "dev" set, or,
    "epoch", of the latter after so many epochs as `value` says.
    """

    name: str
    system: System
    paper: Mapping[str, Mapping[str, float]]
    against: str
    length: int | None = None
    series: str = ""
    value: Any = None
    on: str = "test"
    kind: str = ""


@dataclass(frozen=True)
class Axis:
    """The horizontal axis of a figure.

    title: of what is varied. by: what points are placed by, this "value" or one of `MEASURED`.
    log: whether the axis is logarithmic.
    """

    title: str
    by: str
    log: bool


@dataclass(frozen=True)
class Claim:
    """A difference that a paper has between systems.

    says: what the paper says. more, less: rows or curves, of several their mean; `more` is what the
    paper has above. column: the figure that is compared; "" for the first. panel: of a figure; ""
    for each that has the rows. corpora: if not all. at_most: of a claim that `more` gains nothing,
    what counts as nothing, in points. published: the difference in the paper, of times the ratio,
    where it is not that of the figures of its rows. why: a line by hand, by the verdict that it is
    written for.
    """

    says: str
    more: tuple[str, ...]
    less: tuple[str, ...]
    column: str = ""
    panel: str = ""
    corpora: tuple[str, ...] = ()
    at_most: float | None = None
    published: float | None = None
    why: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """A table of a paper, or the points of a figure.

    columns: titles by the names of figures; of several, with "or" between them, the first that a
    system has; `SPEED` is one, too. seeds: how many there are, by corpus. of: the corpus of the
    paper whose figures stand beside those of corpora that the paper does not have. because: what of
    it is run. differs: in the data. shows: by hand, of tables that are of no paper. claims: of the
    paper; lacks: what the paper does and our runs do not, such as the choice of a setting. axis: of
    a figure. panels: of a figure that has several, each with columns, seeds, rows and an axis of
    its own.
    """

    name: str
    title: str
    because: str
    columns: Mapping[str, str]
    seeds: Mapping[str, int]
    of: str
    rows: tuple[Row, ...]
    differs: str
    shows: str
    axis: Axis | None = None
    panels: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = ()
    lacks: str = ""

    @property
    def parts(self) -> tuple[Table, ...]:
        """The panels, or itself if there are none."""
        return self.panels or (self,)

    def has(self, claim: Claim) -> bool:
        """True if it is, or as a panel may be, what a claim is about."""
        return (
            claim.panel in ("", self.title)
            and {*claim.more, *claim.less}
            <= {name for row in self.rows for name in (row.name, row.series)}
            and (not claim.column or claim.column in (*self.columns, *MEASURED))
            and {*claim.corpora} <= self.seeds.keys()
        )


class Grid(GridFile):
    """The grid that a file describes."""

    def read(self, given: dict[str, Any]) -> None:
        self.title = str(given["title"])
        self.corpora = given["corpora"]
        systems: dict[str, System] = {}
        for name, each in given["systems"].items():
            systems[name] = self._system(name, each, systems)
        self._results: Results | None = None
        self.tables = [self._table(name, each, systems) for name, each in given["tables"].items()]
        # What the papers say stands apart from what is run.
        path = self.path.parent.parent / "claims" / self.path.name
        if path.exists():
            self._claim(path)
        self.choose((), ())

    def choose(self, tables: Collection[str], corpora: Collection[str]) -> None:
        """Run nothing but these tables and corpora; an empty one stands for all.

        Raises ValueError for a name that the grid does not have.
        """
        named = [each.name for each in self.tables]
        for kind, chosen, known in (("table", tables, named), ("corpus", corpora, self.corpora)):
            for name in chosen:
                if name not in known:
                    raise ValueError(
                        f"{self.path}: no {kind} {name!r}; choose from {', '.join(known)}"
                    )
        self._tables, self._corpora = tables or named, corpora or list(self.corpora)

    def folds(self, corpus: str) -> int:
        """The folds that a corpus is tested on, one by one."""
        return int(self.corpora[corpus].get("folds", 1))

    def varies(self, corpus: str, row: Row) -> bool:
        """True if the seeds of a row on a corpus differ: something is drawn, or parts are."""
        return row.system.drawn or "draws" in self.corpora[corpus]

    def settle(self, results: ResultFile[Any, Any]) -> None:
        self._results = results if isinstance(results, Results) else None

    def chosen(self, corpus: str, system: System) -> System | None:
        """A system with the settings that are best for a corpus; None if that is not known yet."""
        if system.tuned is None:
            return system
        scores = []
        for candidate, keys in self._tried(corpus, system):
            results = self._results
            if results is None or not all(key in results for key in keys):
                return None
            found = [results[key] for key in keys]
            figures = [
                each.dev if key.corpus == corpus else each.figures
                for key, each in zip(keys, found, strict=True)
            ]
            scores.append((candidate, fmean(each.get(system.tuned.by) or 0.0 for each in figures)))
        return max(scores, key=itemgetter(1))[0]

    def _tried(self, corpus: str, system: System) -> Iterator[tuple[System, list[Key]]]:
        """The candidates of a system that is tuned, with the runs that choose between them."""
        if system.tuned is not None:
            where = system.tuned.corpora.get(corpus, corpus)
            for each in system.candidates():
                yield each, list(self._keys(where, each, system.tuned.seeds))

    def _keys(self, corpus: str, system: System, n_seeds: int) -> Iterator[Key]:
        varies = system.drawn or "draws" in self.corpora[corpus]
        for seed in range(n_seeds if varies else 1):
            for fold in range(self.folds(corpus)):
                yield Key(corpus, system.config, system.setting, seed, fold)

    def keys(self, corpus: str, row: Row, n_seeds: int) -> Iterator[Key]:
        """The runs of a row on a corpus, seed by seed, fold by fold.

        Of a system whose settings are still to be chosen, keys that no run has.
        """
        chosen = self.chosen(corpus, row.system)
        for key in self._keys(corpus, chosen or row.system, n_seeds):
            yield key if chosen else replace(key, setting=f"{key.setting} {TO_BE_CHOSEN}".strip())

    def keys_of(self, table: Table) -> set[Key]:
        """The runs of a table."""
        return {
            key
            for part in table.parts
            for corpus, n_seeds in part.seeds.items()
            for row in part.rows
            for key in self.keys(corpus, row, n_seeds)
        }

    def runs(self) -> dict[Key, System]:
        """All that is to be run of the chosen tables and corpora, each once."""
        return {
            key: system
            for key, system, row, part in self._wanted()
            if part.name in self._tables and key.corpus in self._corpora
        }

    def shown_on(self, on: str) -> set[Key]:
        """The runs of which figures are shown on these sentences; see `Row.on`.

        On the development set, settings are chosen as well, unless on another corpus.
        """

        def chooses(key: Key, tuned: Tuning) -> bool:
            return key.corpus not in {*tuned.corpora, *tuned.corpora.values()}

        return {
            key
            for key, _, row, _ in self._wanted()
            if row.on == on
            or (on == "dev" and row.system.tuned is not None and chooses(key, row.system.tuned))
        }

    def in_tables(self) -> set[Key]:
        """The runs that tables want with tests over sentences.

        Where each seed has parts of its own, there are none.
        """
        return {
            key
            for key, _, _, part in self._wanted()
            if part.axis is None and "draws" not in self.corpora[key.corpus]
        }

    def _wanted(self) -> Iterator[tuple[Key, System, Row, Table]]:
        """The runs of all rows, and those before them that settings are chosen by."""
        for corpus in self.corpora:
            for part in [part for table in self.tables for part in table.parts]:
                for row in part.rows if corpus in part.seeds else ():
                    for candidate, keys in self._tried(corpus, row.system):
                        for key in keys:
                            yield key, candidate, row, part
                    if chosen := self.chosen(corpus, row.system):
                        for key in self._keys(corpus, chosen, part.seeds[corpus]):
                            yield key, chosen, row, part

    def _system(self, name: str, given: Mapping[str, Any], above: Mapping[str, System]) -> System:
        before, lengths = given.get("before", ()), given.get("lengths", ())
        if wrong := [each for each in before if each not in above or above[each].before]:
            raise ValueError(
                f"{name}: before names {wrong[0]!r}; name systems that stand above it, and have "
                "none before them"
            )
        if any(above[each].tuned for each in before):
            raise ValueError(f"{name}: settings of what stands before a system are not tuned")
        tuned = Tuning(**given["tuned"]) if "tuned" in given else None
        further = {
            **{"before": tuple(above[each] for each in before), "lengths": tuple(lengths)},
            "tuned": tuned,
        }
        system = System(**{**given, **further})
        if not config_of(system.config).is_file():
            raise ValueError(f"{name}: there is no {config_of(system.config).as_posix()}")
        if system.mean not in MEANS or system.given not in GIVEN or system.models < 1:
            raise ValueError(
                f"{name}: mean is one of {', '.join(MEANS)}, given one of {'; '.join(GIVEN)}, "
                "models 1 or more"
            )
        if system.unlabeled not in UNLABELED:
            raise ValueError(f"{name}: unlabeled is one of {', '.join(filter(None, UNLABELED))}")
        if system.raw not in RAW:
            raise ValueError(f"{name}: raw is one of {' or '.join(filter(None, RAW))}")
        return system

    def _table(self, name: str, given: dict[str, Any], systems: Mapping[str, System]) -> Table:
        known_keys(given, TABLE_KEYS, name)
        known_keys(given.get("axis", {}), AXIS_KEYS, f"{name}: axis")
        for row, each in given.get("rows", {}).items():
            known_keys(each, IN_FIGURES if "axis" in given else IN_TABLES, f"{name}: {row}")
        if given.get("on", "test") not in ON:
            raise ValueError(f"{name}: on is one of {', '.join(ON)}")
        panels = given.get("panels", {})
        shared = {key: value for key, value in given.items() if key != "panels"}
        axis = self._axis(name, given["axis"]) if "axis" in given else None
        rows = dict((self._points if axis else self._rows)(name, given, systems))
        for row in rows.values():
            if row.against and row.against not in rows:
                raise ValueError(f"{name}: {row.name} is held against an unknown row")
        seeds = {
            self.known_corpus(each, name): int(n) for each, n in given.get("seeds", {}).items()
        }
        for corpus, n_seeds in seeds.items():
            if n_seeds > self.corpora[corpus].get("draws", n_seeds):
                raise ValueError(f"{name}: {corpus} has fewer draws than seeds")
            if self.corpora[corpus].get("refit"):
                check_refit(f"{name}: {corpus}", rows.values())
            check_learns_dev(f"{name}: {corpus}", self.corpora[corpus], rows.values())
            self._check_tuned(f"{name}: {corpus}", corpus, rows.values())
        texts = {each: str(given.get(each, "")) for each in ("because", "of", "differs", "shows")}
        return Table(
            name=name,
            title=str(given["title"]),
            columns=given.get("columns", {}),
            seeds=seeds,
            rows=tuple(rows.values()),
            axis=axis,
            panels=tuple(
                self._table(name, {**shared, "title": title, **each}, systems)
                for title, each in panels.items()
            ),
            **texts,
        )

    def _claim(self, path: Path) -> None:
        """Give tables the claims of a file. Raises ValueError, naming it, if it is not sound."""
        given = srsly.read_yaml(path)
        if unknown := given.keys() - {each.name for each in self.tables}:
            raise ValueError(f"{path}: there is no table {min(unknown)!r}")
        for number, table in enumerate(self.tables):
            of_table = given.get(table.name, {})
            where = f"{path}: {table.name}"
            known_keys(of_table, ("lacks", "claims"), where)
            claims = [self._read_claim(where, table, each) for each in of_table.get("claims", ())]
            self.tables[number] = replace(
                table, claims=tuple(claims), lacks=str(of_table.get("lacks", ""))
            )

    def _read_claim(self, where: str, table: Table, given: dict[str, Any]) -> Claim:
        known_keys(given, [each.name for each in fields(Claim)], where)
        listed = {
            name: (each,) if isinstance(each := given.get(name, ()), str) else tuple(each)
            for name in ("more", "less", "corpora")
        }
        claim = Claim(**{**given, **listed})
        where = f"{where}: {claim.says}"
        known_keys(claim.why, VERDICTS, where)
        if not any(part.has(claim) for part in table.parts):
            raise ValueError(f"{where}: no panel has these rows, this column and these corpora")
        return claim

    def _check_tuned(self, where: str, corpus: str, rows: Iterable[Row]) -> None:
        """Raise ValueError for rows that settings cannot be chosen for on a corpus."""
        for row in rows:
            tuned = row.system.tuned
            if tuned is None:
                continue
            other = tuned.corpora.get(corpus)
            if other is not None:
                self.known_corpus(other, where)
            elif self.corpora[corpus].get("refit") or row.system.learns_dev:
                raise ValueError(
                    f"{where}: {row.name} is tuned, but learns from the development set: name "
                    "another corpus in tuned"
                )
            draws = self.corpora[other or corpus].get("draws", tuned.seeds)
            if tuned.seeds > draws:
                raise ValueError(f"{where}: {row.name} is tuned with more seeds than draws")

    def _rows(
        self, table: str, given: dict[str, Any], systems: Mapping[str, System]
    ) -> Iterator[tuple[str, Row]]:
        for name, each in given.get("rows", {}).items():
            system = self._system_of(table, name, each, systems)
            against = each.get("against", given.get("against", ""))
            against = "" if against == name else against
            length = each.get("length")
            if length is not None and length not in system.lengths:
                raise ValueError(f"{table}: {name}: {each['system']} has no lengths {length}")
            kind = each.get("kind", "")
            if kind and not any(kind in self.corpora[c].get("kinds", []) for c in given["seeds"]):
                raise ValueError(f"{table}: {name}: no corpus has the kind {kind!r}")
            paper = each.get("paper", {})
            yield name, Row(name, system, paper, against, length, kind=kind)

    def _points(
        self, table: str, given: dict[str, Any], systems: Mapping[str, System]
    ) -> Iterator[tuple[str, Row]]:
        """The points of each curve of a figure."""
        axis = given["axis"]
        points = [
            (series, {**axis, **each}, value, system)
            for series, each in given.get("rows", {}).items()
            for value, system in self._curve(table, series, {**axis, **each}, systems)
        ]
        names = {point_name(series, value) for series, _, value, _ in points}
        for series, each, value, system in points:
            name = point_name(series, value)
            against = each.get("against", given.get("against", ""))
            # A curve is held against another one point by point.
            held = next(
                (one for one in (point_name(against, value), against) if one in names), against
            )
            paper = {
                corpus: {
                    figure: of[value] if isinstance(of, dict) else of
                    for figure, of in figures.items()
                    if not isinstance(of, dict) or value in of
                }
                for corpus, figures in each.get("paper", {}).items()
            }
            over_epochs = value is not None and each.get("vary") == "epoch"
            on = "epoch" if over_epochs else given.get("on", "test")
            held = "" if held == name else held
            yield name, Row(name, system, paper, held, None, series, value, on)

    def _curve(
        self, table: str, series: str, given: Mapping[str, Any], systems: Mapping[str, System]
    ) -> Iterator[tuple[Any, System]]:
        """What is varied along a curve, and the systems that come of it."""
        if "systems" in given:
            for value, name in given["systems"].items():
                yield value, self._system_of(table, series, {**given, "system": name}, systems)
            return
        system = self._system_of(table, series, given, systems)
        if given.get("level"):
            yield None, system
            return
        for value in given["values"]:
            if given.get("log") and not value > 0:
                raise ValueError(f"{table}: {series} has {value}, on a logarithmic axis")
            if given["vary"] == "epoch":
                if system.models > 1:
                    raise ValueError(f"{table}: {series}: epochs are those of a single model")
                yield value, system
            elif given["vary"] == "models":
                yield value, replace(system, models=value, of=max(given["values"]))
            else:
                names = [given["vary"]] if isinstance(given["vary"], str) else given["vary"]
                yield (
                    value,
                    replace(system, changed={**system.changed, **dict.fromkeys(names, value)}),
                )

    def _system_of(
        self, table: str, name: str, given: Mapping[str, Any], systems: Mapping[str, System]
    ) -> System:
        """The system that a row names, with what it changes of it."""
        if given["system"] not in systems:
            raise ValueError(f"{table}: {name} names an unknown system, {given['system']!r}")
        system = systems[given["system"]]
        changed = {**system.changed, **given.get("changed", {})}
        return replace(
            system,
            changed=changed,
            models=given.get("models", system.models),
            mean=given.get("mean", system.mean),
            of=given.get("of", system.of),
        )

    def _axis(self, name: str, given: Mapping[str, Any]) -> Axis:
        axis = Axis(str(given["title"]), given.get("by", "value"), bool(given.get("log", False)))
        if axis.by not in ("value", *MEASURED):
            raise ValueError(f"{name}: by is one of value, {', '.join(MEASURED)}")
        return axis


def known_keys(given: Mapping[str, Any], keys: Collection[str], where: str) -> None:
    """Raise ValueError if there are others than these keys."""
    if unknown := [key for key in given if key not in keys]:
        raise ValueError(f"{where} has unknown keys: {', '.join(map(str, unknown))}")


def check_refit(where: str, rows: Iterable[Row]) -> None:
    """Raise ValueError for rows that a corpus with `refit` cannot have.

    A model that is trained on the development set in the end has no figures of it; averages of
    groups, and models that look at no development set, are not trained once more.
    """
    for row in rows:
        if row.on == "dev":
            raise ValueError(f"{where} has refit, so no figures of the development set are shown")
        for system in (*row.system.before, row.system):
            if system.of or system.to_the_optimum:
                raise ValueError(
                    f"{where} has refit, which {row.name} cannot be: leave out refit, "
                    "or to_the_optimum, of, and vary: models"
                )


def check_learns_dev(where: str, corpus: Mapping[str, Any], rows: Iterable[Row]) -> None:
    """Raise ValueError for rows with `learns_dev` that need the development set for something else.

    Systems before such a row learn from the same sentences, so they have it as well.
    """
    for row in rows:
        systems = (*row.system.before, row.system)
        if not any(system.learns_dev for system in systems):
            continue
        if row.on != "test" or "dev" in corpus.get("scored", ()) or corpus.get("refit"):
            raise ValueError(
                f"{where}: {row.name} has learns_dev, so it has no figures of the development set, "
                "and is not trained once more: leave out learns_dev, or what asks for these"
            )
        if row.system.of or not all(system.learns_dev for system in systems):
            raise ValueError(
                f"{where}: {row.name} has learns_dev: give it to the systems before as well, and "
                "leave out of, and vary: models"
            )


def point_name(series: str, value: Any) -> str:
    """The name of a point of a curve, or of a level, in tables."""
    return series if value is None else f"{series}, {value_text(value)}"


def config_of(name: str) -> Path:
    """The config of a system."""
    return Path("systems") / f"{name}.cfg"
