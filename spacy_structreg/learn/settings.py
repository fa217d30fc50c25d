"""How weights are learnt: the papers' variants, as the settings of one mechanism."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, TypeAlias

UpdateRule: TypeAlias = Literal["perceptron", "pa", "pa_i", "pa_ii"]
Clock: TypeAlias = Literal["examples", "mistakes", "epochs"]

_RULES: Final = ("perceptron", "pa", "pa_i", "pa_ii")
_CLOCKS: Final = ("examples", "mistakes", "epochs")


@dataclass(frozen=True)
class Learning:
    """Settings of a structured perceptron or passive-aggressive learner and its regularisers.

    update: ``"perceptron"`` (Collins 2002); ``"pa"``, passive-aggressive against the best wrong
        output with a margin of 1 (Gao, Qiu & Huang 2010); ``"pa_i"`` and ``"pa_ii"``, against the
        output that is best when each wrong label counts 1 (Crammer et al. 2006, PA-I and PA-II
        with the Hamming cost).
    aggressiveness: C of the passive-aggressive rules, > 0.
    l2, l1, cumulative_l1: strengths of the penalties that every update applies to every weight
        (Zhang, Su & Zhou 2014, equations 10, 12 and 13-17), ≥ 0. They count updates: the more
        examples a corpus has, and the shorter mini-samples are, the smaller they must be.
    dropout: the probability that an input token is hidden, 0 ≤ p < 1 (section 5.1).
    hidden_dropout: the probability that a feature is left out, 0 ≤ q < 1 (section 5.2).
    mini_sample: structure regularisation (Sun 2014): the mean length of the pieces into which
        training sequences are cut, a real number ≥ 1; None for whole sequences.
    clock: what counts as one update, for averaging and penalties alike: ``"examples"``, each
        visit of an example; ``"mistakes"``, each visit that changed weights; ``"epochs"``, which
        averages the weights at the ends of epochs, as Gao et al. do.

    Raises ValueError for values out of range and for combinations without a meaning.
    """

    update: UpdateRule = "perceptron"
    aggressiveness: float = 1.0
    l2: float = 0.0
    l1: float = 0.0
    cumulative_l1: float = 0.0
    dropout: float = 0.0
    hidden_dropout: float = 0.0
    mini_sample: float | None = None
    clock: Clock = "examples"

    def __post_init__(self) -> None:
        if self.update not in _RULES:
            raise ValueError(f"update is {self.update!r}; choose from {', '.join(_RULES)}")
        if self.clock not in _CLOCKS:
            raise ValueError(f"clock is {self.clock!r}; choose from {', '.join(_CLOCKS)}")
        self._hold("aggressiveness", 0.0, math.inf, open_below=True)
        self._hold("l2", 0.0, 1.0)
        self._hold("l1", 0.0, math.inf)
        self._hold("cumulative_l1", 0.0, math.inf)
        self._hold("dropout", 0.0, 1.0)
        self._hold("hidden_dropout", 0.0, 1.0)
        if self.mini_sample is not None:
            self._hold("mini_sample", 1.0, math.inf)
        if self.aggressiveness != 1.0 and self.update == "perceptron":
            raise ValueError(
                f"aggressiveness is {self.aggressiveness}, but update = 'perceptron' has no such "
                "parameter; choose a passive-aggressive update, or leave it at 1"
            )
        if self.cumulative_l1 > 0 and (self.l1 > 0 or self.l2 > 0):
            raise ValueError(
                "cumulative_l1 does not go together with l1 or l2: what is owed counts from the "
                "first update on, whatever another penalty has taken since; choose one"
            )
        if self.clock == "epochs" and self.penalties["l1"] + self.l2 + self.cumulative_l1 > 0:
            raise ValueError(
                "clock = 'epochs' would apply penalties once an epoch only; choose "
                "clock = 'examples' or 'mistakes' with l1, l2 or cumulative_l1"
            )

    @property
    def penalties(self) -> dict[str, float]:
        """The strengths of the penalties by name."""
        return {"l1": self.l1, "l2": self.l2, "cumulative_l1": self.cumulative_l1}

    def as_dict(self) -> dict[str, Any]:
        """The settings by name; `from_dict` takes them back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Learning:
        """The settings that `as_dict` gave. Raises ValueError for unknown or missing names."""
        names = {field.name for field in fields(cls)}
        if set(settings) != names:
            raise ValueError(
                f"settings of learning are {', '.join(sorted(names))}, "
                f"not {', '.join(sorted(map(str, settings)))}"
            )
        return cls(**settings)

    def _hold(self, name: str, least: float, most: float, *, open_below: bool = False) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"{name} is {value!r}; it must be a number")
        if value in (math.inf, -math.inf):
            raise ValueError(f"{name} is {value}; it must be a finite number")
        if not (least < value if open_below else least <= value) or not value < most:
            bound = "above" if open_below else "at least"
            limit = "" if most == math.inf else f" and below {most:g}"
            raise ValueError(f"{name} is {value}; it must be {bound} {least:g}{limit}")
        try:
            number = float(value)
        except OverflowError as error:
            raise ValueError(f"{name} is a number beyond all floats") from error
        object.__setattr__(self, name, number)
