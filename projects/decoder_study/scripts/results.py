"""The file of results: one JSON line for each run, only ever added to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from grid import Key
from systems import SCORES

from spacy_structreg.cli.studies import ResultFile

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

    def __init__(self, path: Path) -> None:
        super().__init__(path, Key, Result)

    def read(self, given: dict[str, Any]) -> Result:
        scores = {name: given.pop(name) for name in list(given) if _is_score(name)}
        return Result(scores, **given)

    def fields(self, result: Result) -> dict[str, Any]:
        fields = result.scores | asdict(result)
        del fields["scores"]
        return fields


def _is_score(name: str) -> bool:
    return name.startswith(("dev_", "test_"))
