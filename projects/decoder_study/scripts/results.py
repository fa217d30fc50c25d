"""The file of results: one JSON line for each run, only ever added to."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from grid import Key


@dataclass(frozen=True)
class Result:
    """The figures of one system; those of accuracy are fractions of 1.

    dev_joint_f, test_joint_f: None for systems without tags. weight: of the guide, or None.
    speed: characters per CPU second. reference: those of the reference in the same minute.
    seconds: the CPU time of training all its models, 0 where they are averages.
    checksum: the first digits of the checksum of the training corpus. version: of the package.
    """

    dev_f: float
    dev_oov_r: float
    test_f: float
    test_oov_r: float
    dev_joint_f: float | None
    test_joint_f: float | None
    weight: float | None
    speed: float
    reference: float
    seconds: float
    checksum: str
    version: str


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
                result = Result(**fields)
                if not (result.speed > 0 and result.reference > 0):
                    raise ValueError("a speed is not above 0")
                self._results[key] = result
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
        fields: dict[str, Any] = asdict(key) | asdict(result)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n")
        self._results[key] = result
