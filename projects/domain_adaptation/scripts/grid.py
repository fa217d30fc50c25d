"""The grid of the study: targets, systems that are compared on them, and the runs that this needs.

A *system* says what a segmenter knows of a target. Its canonical form, a line of ``name=value``, is
what results are filed under, so that a run that two experiments want is made once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, TypeAlias

from studies.grids import GridFile, canonical
from studies.results import ResultFile

from spacy_structreg.metrics.figures import Scores
from spacy_structreg.metrics.segmentation import SEGMENTATION_FIGURES

CHOICES: Final[dict[str, tuple[Any, ...]]] = {
    "train": ("source", "target"),
    "statistics": (None, "accessor_variety", "all"),
    "counted": ("source", "together", "all", "target"),
    "join": ("added", "guided"),
}
"""The values of settings that have few of them."""

ALL: Final = "all"


@dataclass(frozen=True)
class System:
    """What a segmenter is trained on, and what it knows besides.

    train: ``"source"``, the training part of the source, or ``"target"``, that of the target alone.
    sentences: of the training part of the target whose words are given, drawn by the seed; "all";
        0 for none.
    join: how these come to the source: ``"added"`` to its sentences, or ``"guided"``: they train a
        segmenter of their own, which has one trained on the source as a further guide.
    given: the share of the decisions of these sentences that is given, the least certain ones.
    statistics: of raw text, as the setting of that name has them; or None.
    counted: text that the statistics are of: that of the source; this and the raw text of the
        target together; "all", these and the very text that is scored; or that of the target.
    lexicon: whether there is a word list. guides: whether segmenters of other standards help.
    self_training: whether the target's raw text is learned from, as the system without it, and
        without sentences of the target, segments it.

    Raises ValueError for settings that do not exist or do not go together.
    """

    train: str = "source"
    sentences: int | str = 0
    join: str = "added"
    given: float = 1.0
    statistics: str | None = None
    counted: str = "source"
    lexicon: bool = False
    guides: bool = False
    self_training: bool = False

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} is {getattr(self, name)!r}; choose from {choices}")
        if self.sentences != ALL and not (isinstance(self.sentences, int) and self.sentences >= 0):
            raise ValueError(f"sentences is {self.sentences!r}; choose a number, or {ALL}")
        if not 0 < self.given <= 1:
            raise ValueError(f"given is {self.given!r}; choose a share above 0, up to 1")
        if self.counted != "source" and self.statistics is None:
            raise ValueError("nothing is counted without statistics; choose counted = source")
        if not self.sentences and (
            self.train == "target" or self.join != "added" or self.given < 1
        ):
            raise ValueError("a system trains on sentences of the target, but is given none")
        if self.train == "target" and (
            self.self_training or self.join != "added" or self.counted != "source"
        ):
            raise ValueError("what is trained on the target alone has nothing of the source")

    @property
    def line(self) -> str:
        """What differs from the default, as one line."""
        said = asdict(self)
        return canonical({n: said[n] for n, value in asdict(System()).items() if said[n] != value})

    @property
    def labeled(self) -> bool:
        """True if it sees words of the target."""
        return bool(self.sentences)

    @property
    def without_words(self) -> System:
        """The same without words of the target, given or guessed."""
        return replace(self, sentences=0, join="added", given=1.0, self_training=False)


@dataclass(frozen=True)
class Key:
    """What one line of results is about: one system on one target."""

    corpus: str
    system: str
    seed: int


@dataclass(frozen=True)
class Result:
    """The counts of one system.

    dev, test: words in the gold text, predicted, correct, words that the source has not, and those
    of them that are found; dev is None if the target has no such part.
    sentences: of the target whose words were given.
    seconds: the CPU time of training, all models that it needs included, on one core.
    speed: characters of the test part per CPU second.
    checksum: the first digits of the checksum of the corpora. version: of the package.
    Raises ValueError for counts that cannot be.
    """

    dev: list[int] | None
    test: list[int]
    sentences: int
    seconds: float
    speed: float
    checksum: str
    version: str

    def __post_init__(self) -> None:
        for counts in (self.dev or self.test, self.test):
            gold, predicted, correct, unseen, found = counts
            if not 0 <= found <= correct <= min(gold, predicted) or not found <= unseen <= gold:
                raise ValueError(f"the counts {counts} cannot be")

    def scores(self, part: str) -> Scores | None:
        """The figures on a part, "dev" or "test", if there is one."""
        counts = getattr(self, part)
        if counts is None:
            return None
        names = ("gold", "predicted", "correct", "oov", "oov_correct")
        return Scores(SEGMENTATION_FIGURES, dict(zip(names, counts, strict=True)))


class Results(ResultFile[Key, Result]):
    """The results of the study by key, from a file that need not exist yet."""

    key, result = Key, Result


@dataclass(frozen=True)
class Row:
    """A system by its name. value: what varies along a curve; None for a single row."""

    name: str
    system: System
    value: int | None = None

    def keys(self, corpus: str, n_seeds: int) -> list[Key]:
        """The runs on a target."""
        return [Key(corpus, self.system.line, seed) for seed in range(n_seeds)]


@dataclass(frozen=True)
class Plan:
    """What an experiment asks of one target. seeds: how many, from 0 on."""

    corpus: str
    rows: tuple[Row, ...]
    seeds: int

    def keys(self, row: Row) -> list[Key]:
        """The runs of a row."""
        return row.keys(self.corpus, self.seeds)


Pair: TypeAlias = "tuple[str, str]"


@dataclass(frozen=True)
class Experiment:
    """Systems that are compared.

    against: the name of the row that all are compared with. ceiling: that of the one trained on the
    target, or "". pairs: names of further rows to be compared, the one that should be better first.
    """

    name: str
    title: str
    note: str
    plans: tuple[Plan, ...]
    against: str
    ceiling: str
    pairs: tuple[Pair, ...]

    @property
    def has_curves(self) -> bool:
        """True if something varies, so that there is a picture."""
        return any(row.value is not None for plan in self.plans for row in plan.rows)


class Grid(GridFile):
    """The grid that a file describes.

    epochs: of trainings on the source, "source", and of those on other corpora, "target".
    """

    def read(self, given: dict[str, Any]) -> None:
        self.title = str(given["title"])
        self.epochs = {name: int(given["epochs"][name]) for name in CHOICES["train"]}
        if min(self.epochs.values()) < 1:
            raise ValueError(f"epochs are {self.epochs}; choose 1 at least")
        targets = given["corpora"]
        for name in given["guides"]:
            if name not in targets:
                raise ValueError(f"guides names an unknown corpus, {name!r}")
        self.corpora = {
            name: {
                **entry,
                "source": given["source"],
                "guides": {g: targets[g] for g in given["guides"] if g != name},
                "lexicon": given.get("lexicon"),
            }
            for name, entry in targets.items()
        }
        self.experiments = [
            self._experiment(name, entry) for name, entry in given["experiments"].items()
        ]

    def wanted(self) -> dict[Key, System]:
        """All runs, seed by seed, so that there is a whole table soon."""
        found = {
            key: row.system
            for experiment in self.experiments
            for plan in experiment.plans
            for row in plan.rows
            for key in plan.keys(row)
        }
        return dict(sorted(found.items(), key=lambda item: item[0].seed))

    def _experiment(self, name: str, entry: Mapping[str, Any]) -> Experiment:
        rows = [*self._rows(entry["systems"])]
        plans = []
        for corpus, scope in entry["corpora"].items():
            self.known_corpus(corpus, name)
            without = scope.get("without", ())
            kept = tuple(
                row
                for row in rows
                if row.name not in without
                and not (row.value is not None and row.value > scope.get("most", row.value))
            )
            has_parts = "train" in self.corpora[corpus]
            if not has_parts and any(row.system.labeled for row in kept):
                raise ValueError(f"{name}: {corpus} has no sentences to train on")
            plans.append(Plan(corpus, kept, int(scope["seeds"])))
        names = {row.name for row in rows}
        pairs = tuple((more, less) for more, less in entry.get("pairs", ()))
        against, ceiling = str(entry["against"]), str(entry.get("ceiling", ""))
        for each in {against, ceiling, *(each for pair in pairs for each in pair)} - names - {""}:
            raise ValueError(f"{name} names an unknown system, {each!r}")
        return Experiment(
            name, str(entry["title"]), str(entry.get("note", "")), tuple(plans), against, ceiling,
            pairs,
        )  # fmt: skip

    def _rows(self, systems: Mapping[str, Any]) -> Iterator[Row]:
        known: dict[str, dict[str, Any]] = {}
        names = {field.name for field in fields(System)}
        for name, entry in systems.items():
            given = dict(entry or {})
            like, values = given.pop("like", None), given.pop("values", None)
            if like is not None and like not in known:
                raise ValueError(f"no system {like!r} stands before {name!r}")
            setting = known[name] = {**known.get(like, {}), **given}
            if strange := sorted(set(setting) - names):
                raise ValueError(f"the system {name!r} has {strange[0]!r}; choose from {names}")
            if values is None:
                yield Row(name, System(**setting))
            for value in values or ():
                yield Row(name, System(**{**setting, "sentences": value}), value)


def single(rows: Sequence[Row], name: str) -> Row | None:
    """The row of that name that is no point of a curve, if there is one."""
    return next((row for row in rows if row.name == name and row.value is None), None)
