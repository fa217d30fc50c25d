"""The file of results of a study: one JSON line for each run, only ever added to."""

from __future__ import annotations

import json
from collections.abc import Callable, Container
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from spacy_structreg.corpora.files import replace_text


class Keyed(Protocol):
    """The key of a line: a frozen data class of plain values, of which one is the corpus."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def corpus(self) -> str: ...


class Checked(Protocol):
    """What a line says: a data class; `checksum` is that of the corpus that it was made on."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def checksum(self) -> str: ...


KeyT = TypeVar("KeyT", bound=Keyed)
ResultT = TypeVar("ResultT", bound=Checked)
T = TypeVar("T")


class ResultFile(Generic[KeyT, ResultT]):
    """Results by key: one JSON line for each run, only ever added to.

    A study names the data classes of its keys and results, which share no field.

    path: of the file, which need not exist yet. A last line that was not finished, as after a
    crash, is dropped. Raises ValueError, naming file and line, for any other line that is not a
    result; OSError if the file cannot be read.
    """

    key: type[KeyT]
    result: type[ResultT]
    anew: bool = False
    """Whether results of another version of a config or corpus are to be made anew."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results: dict[KeyT, ResultT] = {}
        self._has_more = False  # the file, than there are results
        names = {field.name for field in fields(self.key)}
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                given = json.loads(line)
                found = self.key(**{name: given.pop(name) for name in names})
                self._results[found] = self.read(given)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ValueError(
                    f"{path}:{number}: not a result of this study ({error!r}); remove the line, "
                    "or the file to run everything anew"
                ) from error
        if whole != text:
            path.write_text(whole, encoding="utf-8", newline="\n")

    def read(self, given: dict[str, Any]) -> ResultT:
        """The result of a line, without its key. Raises ValueError or TypeError if it is none."""
        return self.result(**given)

    def fields(self, result: ResultT) -> dict[str, Any]:
        """What stands in the line of a result, besides its key."""
        return asdict(result)

    def __contains__(self, key: KeyT) -> bool:
        return key in self._results

    def __getitem__(self, key: KeyT) -> ResultT:
        try:
            return self._results[key]
        except KeyError:
            told = ", ".join(f"{name} {value}" for name, value in asdict(key).items() if value)
            raise ValueError(f"{self.path}: no result of {told}; run the grid first") from None

    def __len__(self) -> int:
        return len(self._results)

    def get(self, key: KeyT, figure: Callable[[ResultT], T]) -> T | None:
        """A figure of a result; None if there is no such result."""
        return figure(self._results[key]) if key in self._results else None

    def items(self) -> list[tuple[KeyT, ResultT]]:
        """All results, in the order of the file."""
        return list(self._results.items())

    def check(self, corpus: str, checksum: str) -> None:
        """Raise ValueError if there are results on another version of the corpus; or drop them."""
        stale = {
            key
            for key, each in self._results.items()
            if key.corpus == corpus and each.checksum != checksum
        }
        if stale and self.anew:
            self.drop(stale)
        elif stale:
            raise ValueError(
                f"{self.path}: has results on another training corpus {corpus}; --anew yes removes "
                "them, and makes them again"
            )

    def drop(self, keys: Container[KeyT]) -> None:
        """Remove results; from the file when the next one comes."""
        self._results = {key: each for key, each in self._results.items() if key not in keys}
        self._has_more = True

    def _line(self, key: KeyT, result: ResultT) -> str:
        line: dict[str, Any] = asdict(key) | self.fields(result)
        return json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"

    def add(self, key: KeyT, result: ResultT) -> None:
        """Keep a result, in the file too; one that is there already stays."""
        if key in self._results:
            return
        if self._has_more:
            with replace_text(self.path) as stream:
                stream.writelines(self._line(*each) for each in self._results.items())
            self._has_more = False
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(self._line(key, result))
        self._results[key] = result
