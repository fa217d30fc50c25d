"""Spaces of hyper-parameters, and the trials of a search in them."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from spacy_structreg.learn.setting_fields import check_choice, check_float, check_int

if TYPE_CHECKING:
    import numpy as np

Method: TypeAlias = Literal["random", "halving"]
Resource: TypeAlias = Literal["epochs", "corpus"]
"""The resource of which each round of halving gives more to the trials that are left."""

MAX_TRIALS: Final = 100_000
_DRAWS: Final = 100
"""So many times in a row, what is drawn may be there already; then the space counts as empty."""
_DIGITS: Final = 4
"""Significant digits of a number that is drawn: more would make no difference that can be told."""


@dataclass(frozen=True)
class Range:
    """The numbers from low to high, both included, in steps or not.

    log: small numbers are drawn as often as large ones. If low, high and step are whole, so is
    what is drawn. Raises ValueError if there are no such numbers.
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            check_float(name, getattr(self, name), -sys.float_info.max)
        if not isinstance(self.log, bool):
            raise ValueError(f"log is {self.log!r:.40}; it must be true or false")
        if self.low > self.high:
            raise ValueError(f"low is {self.low}, which is more than high, {self.high}")
        if self.log and (self.low <= 0 or self.step is not None):
            raise ValueError("log needs a low above 0, and no step")
        if self.step is not None:
            check_float("step", self.step, 0, above=True)

    @property
    def is_whole(self) -> bool:
        """True if whole numbers are drawn."""
        numbers = (self.low, self.high, 1 if self.step is None else self.step)
        return all(isinstance(number, int) for number in numbers)

    def draw(self, rng: np.random.Generator) -> float:
        """One of the numbers."""
        step = self.step
        if step is None and self.is_whole and not self.log:
            step = 1
        if step is not None:
            # A step that should end at high may end just below, as 0.1 is not a binary number.
            n_steps = math.floor((self.high - self.low) / step + 1e-9)
            number = self.low + step * int(rng.integers(n_steps + 1))
            return number if self.is_whole else float(f"{number:.12g}")
        if self.log:
            number = math.exp(rng.uniform(math.log(self.low), math.log(self.high)))
        else:
            number = rng.uniform(self.low, self.high)
        rounded = round(number) if self.is_whole else float(f"{number:.{_DIGITS}g}")
        return min(max(rounded, self.low), self.high)


@dataclass(frozen=True)
class Space:
    """A search: what is tried, how often, and what counts as best.

    settings: by their dotted names in a config, a `Range`, or a list of choices. A name without
    dots is that of several settings which are chosen together; its choices are dicts of them.
    trials: most trials. metric: the name of a figure; None for that by which the model chooses its
    epochs. method: "random", or "halving", which gives a little of a resource to all trials, then
    `factor` times as much to the best 1 of `factor`, and so on. resource: the epochs, or the
    training corpus, in Docs. least: how much of it a trial gets at the very least.
    """

    settings: Mapping[str, Range | list[Any]]
    trials: int = 30
    method: Method = "random"
    factor: int = 3
    resource: Resource = "epochs"
    least: int = 1
    seed: int = 0
    metric: str | None = None

    def __post_init__(self) -> None:
        check_int("trials", self.trials, 1, MAX_TRIALS)
        check_int("factor", self.factor, 2)
        check_int("least", self.least, 1)
        check_int("seed", self.seed, 0, (1 << 32) - 1)
        check_choice("method", self.method, get_args(Method))
        check_choice("resource", self.resource, get_args(Resource))
        if self.metric is not None and not isinstance(self.metric, str):
            raise ValueError(f"metric is {self.metric!r:.40}; it must be the name of a figure")

    def draw(self) -> list[dict[str, Any]]:
        """The settings of all trials, no two alike: fewer than `trials` if there are no more."""
        import numpy as np

        rng = np.random.default_rng(self.seed)
        found: dict[str, dict[str, Any]] = {}
        misses = 0
        while len(found) < self.trials and misses < _DRAWS:
            drawn: dict[str, Any] = {}
            # The order of the file makes no difference.
            for name in sorted(self.settings):
                values = self.settings[name]
                if isinstance(values, Range):
                    drawn[name] = values.draw(rng)
                    continue
                choice = values[int(rng.integers(len(values)))]
                drawn |= {name: choice} if "." in name else choice
            misses = misses + 1 if repr(drawn) in found else 0
            found.setdefault(repr(drawn), drawn)
        return list(found.values())


def rounds_of(space: Space, n_trials: int, most: int) -> list[tuple[int, int]]:
    """Of each round of a search, how many trials it has, and how much of the resource each gets.

    most: how much there is, which the trials of the last round get. A search at random has one
    round. Rounds are as many as leave one trial, or as begin with `least`, whichever is fewer.
    """
    counts = [n_trials]
    if space.method == "halving":
        while counts[-1] >= space.factor and most >= space.least * space.factor ** len(counts):
            counts.append(counts[-1] // space.factor)
    last = len(counts) - 1
    return [(n, round(most / space.factor ** (last - i))) for i, n in enumerate(counts)]


def read_space(path: Path) -> Space:
    """The search that a YAML file describes.

    Raises ValueError, naming the file, if it describes none, and as `corpora.files.read_lines`;
    OSError if it cannot be read.
    """
    import srsly  # type: ignore[import-untyped]

    from spacy_structreg.corpora.files import read_lines

    text = "\n".join(line for _, line in read_lines(path))
    try:
        given = srsly.yaml_loads(text)
    except Exception as error:
        # YAML has no base of its errors that all of them have.
        raise ValueError(f"{path}: no YAML: {error}") from error
    try:
        return _space(given)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _space(given: Any) -> Space:
    known = Space.__dataclass_fields__
    if not isinstance(given, dict) or not isinstance(given.get("settings"), dict):
        raise ValueError("there is no block `settings`, of names of settings and what to try")
    if unknown := sorted(str(name) for name in given if name not in known):
        raise ValueError(f"there is no {unknown[0]!r:.60}; choose from {', '.join(known)}")
    settings: dict[str, Range | list[Any]] = {}
    names: Counter[str] = Counter()
    for name, values in given["settings"].items():
        try:
            settings[name] = _values(values)
            names.update(_names(name, settings[name]))
        except ValueError as error:
            raise ValueError(f"{name!s:.80}: {error}") from error
    if not settings:
        raise ValueError("there is nothing to try in `settings`")
    if twice := sorted(name for name, n in names.items() if n > 1):
        raise ValueError(f"{twice[0]} is there twice")
    return Space(settings, **{name: given[name] for name in given if name != "settings"})


def _values(given: Any) -> Range | list[Any]:
    if isinstance(given, dict) and set(given) == {"choices"}:
        choices = given["choices"]
        if isinstance(choices, list) and choices:
            return choices
        raise ValueError("choices must be a list of values")
    if isinstance(given, dict) and {"low", "high"} <= set(given) <= set(Range.__dataclass_fields__):
        return Range(**given)
    raise ValueError(
        "give it low and high, with log or step if you like, or choices: {low: 1, high: 8}"
    )


def _names(name: Any, values: Range | list[Any]) -> set[str]:
    """The settings that are chosen by one name. Raises ValueError if they are none."""
    if isinstance(name, str) and "." in name:
        return {name}
    if isinstance(values, Range) or not all(isinstance(each, dict) and each for each in values):
        raise ValueError(
            "name a setting by the dots of its place in the config, as in training.max_epochs; or "
            "let the choices be of several settings, {choices: [{a.b: 1, a.c: 2}, {a.b: 3}]}"
        )
    names = {str(each) for choice in values for each in choice}
    if wrong := sorted(each for each in names if "." not in each):
        raise ValueError(f"{wrong[0]} is no setting: it has no dots")
    return names
