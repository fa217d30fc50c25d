"""The grid of a paper: corpora, systems, and the tables that they are run for.

A *system* is a config of `systems/` with settings that are changed, and how many models of it are
averaged. Results are filed under the name of the config and these settings, so that a run that two
tables want is made once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from studies.grids import GridFile, canonical
from studies.results import ResultFile

from spacy_structreg.learn.model_average import MEANS

GIVEN: Final = ("text", "words", "words,tags")
HERE: Final = ("yes", "in part", "no")

SPEED: Final = "sentences_a_second"
"""In columns: sentences of the test set in a second of `Result.decoding_seconds`."""


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

    sentences: by the name of a figure, the counts of each sentence, as `packed` writes them.
    epochs: those that were best on the development set, of each model. training_seconds,
    decoding_seconds: CPU time. config: the first digits of the checksum of the config. commit: of
    the code that made the run. checksum: of the corpus. version: of the package.
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

    def __post_init__(self) -> None:
        if not isinstance(self.figures, dict) or not isinstance(self.sentences, dict):
            raise ValueError("figures and sentences are mappings")


class Results(ResultFile[Key, Result]):
    """The results of a paper by key, from a file that need not exist yet."""

    key, result = Key, Result


@dataclass(frozen=True)
class System:
    """A config of `systems/`, and how it is trained and scored.

    changed: settings by their names in the config. models: how many are averaged, `mean`: how.
    before: systems that are trained for themselves, and whose models annotate the test set before
    this one: a tokenizer, a tagger. given: what the pipeline is given of the test set, as in
    `structreg evaluate --gold`. lengths: sentences of at most so many words are scored once more.
    drawn: whether training draws anything; if not, one run stands for all seeds.
    """

    config: str
    changed: Mapping[str, Any] = field(default_factory=dict)
    models: int = 1
    mean: str = "nonzero"
    before: tuple[System, ...] = ()
    given: str = "text"
    lengths: tuple[int, ...] = ()
    drawn: bool = True

    @property
    def model(self) -> str:
        """What its own model is trained by, as one line."""
        return f"{self.config} {canonical(self._changed)}".strip()

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
        return canonical(changed)

    @property
    def _changed(self) -> dict[str, Any]:
        changed = dict(self.changed)
        if self.models > 1:
            changed |= {"models": self.models, "mean": self.mean}
        return changed


@dataclass(frozen=True)
class Row:
    """A system in a table.

    paper: the figures of the paper, in percent, by corpus and name of the figure. against: the name
    of the row that it is held against; "" for none. length: of the sentences that it is about,
    at most so many words, one of `System.lengths`; None for all sentences.
    """

    name: str
    system: System
    paper: Mapping[str, Mapping[str, float]]
    against: str
    length: int | None = None


@dataclass(frozen=True)
class Table:
    """A table of a paper, or the points of a figure.

    columns: titles by the names of figures; of several, with "or" between them, the first that a
    system has; `SPEED` is one, too. seeds: how many there are, by corpus. of: the corpus of the
    paper whose figures stand beside those of corpora that the paper does not have. here: as much as
    there is of it: "yes", "in part" or "no"; because: the reason. differs: in the data. shows: one
    sentence on what our figures show.
    """

    name: str
    title: str
    here: str
    because: str
    columns: Mapping[str, str]
    seeds: Mapping[str, int]
    of: str
    rows: tuple[Row, ...]
    differs: str
    shows: str


class Grid(GridFile):
    """The grid that a file describes."""

    def read(self, given: dict[str, Any]) -> None:
        self.title = str(given["title"])
        self.corpora = given["corpora"]
        systems: dict[str, System] = {}
        for name, each in given["systems"].items():
            systems[name] = self._system(name, each, systems)
        self.tables = [self._table(name, each, systems) for name, each in given["tables"].items()]

    def folds(self, corpus: str) -> int:
        """The folds that a corpus is tested on, one by one."""
        return int(self.corpora[corpus].get("folds", 1))

    def keys(self, corpus: str, row: Row, n_seeds: int) -> Iterator[Key]:
        """The runs of a row on a corpus, seed by seed, fold by fold."""
        for seed in range(n_seeds if row.system.drawn else 1):
            for fold in range(self.folds(corpus)):
                yield Key(corpus, row.system.config, row.system.setting, seed, fold)

    def runs(self) -> dict[Key, System]:
        """All that is to be run, each once."""
        return {
            key: row.system
            for corpus in self.corpora
            for table in self.tables
            if corpus in table.seeds
            for row in table.rows
            for key in self.keys(corpus, row, table.seeds[corpus])
        }

    def _system(self, name: str, given: Mapping[str, Any], above: Mapping[str, System]) -> System:
        before, lengths = given.get("before", ()), given.get("lengths", ())
        if wrong := [each for each in before if each not in above or above[each].before]:
            raise ValueError(
                f"{name}: before names {wrong[0]!r}; name systems that stand above it, and have "
                "none before them"
            )
        further = {"before": tuple(above[each] for each in before), "lengths": tuple(lengths)}
        system = System(**{**given, **further})
        if not config_of(system.config).is_file():
            raise ValueError(f"{name}: there is no {config_of(system.config).as_posix()}")
        if system.mean not in MEANS or system.given not in GIVEN or system.models < 1:
            raise ValueError(
                f"{name}: mean is one of {', '.join(MEANS)}, given one of {'; '.join(GIVEN)}, "
                "models 1 or more"
            )
        return system

    def _table(self, name: str, given: dict[str, Any], systems: Mapping[str, System]) -> Table:
        if given["here"] not in HERE:
            raise ValueError(f"{name}: here is one of {', '.join(HERE)}")
        rows = dict(self._rows(name, given, systems))
        for row in rows.values():
            if row.against and row.against not in rows:
                raise ValueError(f"{name}: {row.name} is held against an unknown row")
        seeds = {
            self.known_corpus(each, name): int(n) for each, n in given.get("seeds", {}).items()
        }
        texts = {each: str(given.get(each, "")) for each in ("because", "of", "differs", "shows")}
        return Table(
            name=name,
            title=str(given["title"]),
            here=given["here"],
            columns=given.get("columns", {}),
            seeds=seeds,
            rows=tuple(rows.values()),
            **texts,
        )

    def _rows(
        self, table: str, given: dict[str, Any], systems: Mapping[str, System]
    ) -> Iterator[tuple[str, Row]]:
        for name, each in given.get("rows", {}).items():
            if each["system"] not in systems:
                raise ValueError(f"{table}: {name} names an unknown system, {each['system']!r}")
            against = each.get("against", given.get("against", ""))
            against = "" if against == name else against
            system, length = systems[each["system"]], each.get("length")
            if length is not None and length not in system.lengths:
                raise ValueError(f"{table}: {name}: {each['system']} has no lengths {length}")
            yield name, Row(name, system, each.get("paper", {}), against, length)


def config_of(name: str) -> Path:
    """The config of a system."""
    return Path("systems") / f"{name}.cfg"
