"""The file of results: one JSON line for each run, only ever added to."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from grid import Key
from systems import SCORES

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


class Results:
    """Results by key, from a file that need not exist yet.

    A last line that was not finished, as after a crash, is dropped. Raises ValueError, naming file
    and line, for any other line that is not a result; OSError if the file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results: dict[Key, Result] = {}
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                fields = json.loads(line)
                key = Key(**{name: fields.pop(name) for name in Key.__dataclass_fields__})
                scores = {name: fields.pop(name) for name in list(fields) if _is_score(name)}
                self._results[key] = Result(scores, **fields)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ValueError(
                    f"{path}:{number}: not a result of this study ({error!r}); remove the line, "
                    "or the file to run everything anew"
                ) from error
        if whole != text:
            path.write_text(whole, encoding="utf-8", newline="\n")

    def __contains__(self, key: Key) -> bool:
        return key in self._results

    def __getitem__(self, key: Key) -> Result:
        try:
            return self._results[key]
        except KeyError:
            raise ValueError(
                f"{self.path}: no result of {key.corpus}, {key.parts}, {key.decoding or 'as it is'}"
                f", seeds {key.seeds}; run the grid first"
            ) from None

    def __len__(self) -> int:
        return len(self._results)

    def items(self) -> list[tuple[Key, Result]]:
        """All results, in the order of the file."""
        return list(self._results.items())

    def add(self, key: Key, result: Result) -> None:
        """Keep a result, in the file too."""
        fields: dict[str, Any] = asdict(key) | result.scores | asdict(result)
        del fields["scores"]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n")
        self._results[key] = result


def _is_score(name: str) -> bool:
    return name.startswith(("dev_", "test_"))
