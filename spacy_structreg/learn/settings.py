"""How weights are learnt: the papers' variants, as the settings of one mechanism."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, TypeAlias

UpdateRule: TypeAlias = Literal["perceptron", "pa", "pa_i", "pa_ii"]
Clock: TypeAlias = Literal["examples", "mistakes", "epochs"]
Optimizer: TypeAlias = Literal["sgd", "lbfgs"]
Noise: TypeAlias = Literal["none", "dropout", "multiplicative", "additive"]

LEAST_PRUNED: Final = 50_000
"""Fewest features of a table of weights from which small ones are dropped."""

MAX_MINI_SAMPLE: Final = 1e6
"""Mini-samples are shorter than this, on average."""

MAX_COUNT: Final = 1_000_000
"""The highest count that may be asked of features."""

MAX_NOISE_WINDOW: Final = 1_000_000
"""Widest window of feature noising."""

_RULES: Final = ("perceptron", "pa", "pa_i", "pa_ii")
_CLOCKS: Final = ("examples", "mistakes", "epochs")
_OPTIMIZERS: Final = ("sgd", "lbfgs")
_NOISES: Final = ("none", "dropout", "multiplicative", "additive")


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
        training sequences are cut, a real number from 1 to below 1,000,000; None for whole
        sequences.
    clock: what counts as one update, for averaging and penalties alike: ``"examples"``, each
        visit of an example; ``"mistakes"``, each visit that changed weights; ``"epochs"``, which
        averages the weights at the ends of epochs, as Gao et al. do.
    prune: averaged weights of this absolute value or less are dropped, ≥ 0; 0 keeps all. A step of
        the perceptron changes a weight by 1, so that one touched once, in the first fifth of a
        training, is above 0.8. If several models are averaged, only their mean is pruned. Tables of
        fewer than `LEAST_PRUNED` features are kept whole: a short training touches most weights
        once, and there is little to gain.
    min_count: features that the gold outputs of the training corpus have fewer times, counted
        before training begins, get no weights, ≥ 1. With 1 all do, those of wrong outputs too.

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
    prune: float = 0.0
    min_count: int = 1

    def __post_init__(self) -> None:
        if self.update not in _RULES:
            raise ValueError(f"update is {self.update!r}; choose from {', '.join(_RULES)}")
        if self.clock not in _CLOCKS:
            raise ValueError(f"clock is {self.clock!r}; choose from {', '.join(_CLOCKS)}")
        _hold(self, "aggressiveness", 0.0, math.inf, open_below=True)
        _hold(self, "l2", 0.0, 1.0)
        _hold(self, "l1", 0.0, math.inf)
        _hold(self, "cumulative_l1", 0.0, math.inf)
        _hold(self, "dropout", 0.0, 1.0)
        _hold(self, "hidden_dropout", 0.0, 1.0)
        _hold(self, "prune", 0.0, math.inf)
        _hold_whole(self, "min_count", 1, MAX_COUNT)
        if self.mini_sample is not None:
            _hold(self, "mini_sample", 1.0, MAX_MINI_SAMPLE)
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

    def prune_of(self, n_rows: int) -> float:
        """The size up to which the weights of a table of so many rows are dropped."""
        return self.prune if n_rows >= LEAST_PRUNED else 0.0

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
        return cls(**_complete(cls, settings))


@dataclass(frozen=True)
class LogLinear:
    """Settings of a log-linear model: of a conditional random field, or of logistic regression.

    What is minimised is the sum over all examples of -log p(y | x) and of the noising regulariser,
    plus ``l2`` ‖w‖² + ``l1`` ‖w‖₁: strengths are as c2 and c1 of CRFsuite, and do not depend on how
    sequences are cut.

    optimizer: ``"sgd"``, stochastic gradient descent, an example or mini-sample at a time (Sun
        2014); ``"lbfgs"``, L-BFGS over the whole corpus, one epoch an iteration.
    rate: the step of gradient descent at its beginning, > 0; in units of what it changes the score
        of a label by, so that it does not depend on how many features a position has, or how large
        they are: it is divided by the mean over positions of the sum of their squares.
    decay: after e passes over the corpus the step is rate / (1 + decay e); ≥ 0.
    l2, l1: strengths of the penalties, ≥ 0.
    noise: quadratic feature noising (Wang et al. 2013): ``"dropout"``, of rate `noise_level` below
        1; ``"multiplicative"`` or ``"additive"`` Gaussian noise, whose deviation it is; or
        ``"none"``.
    noise_window: how far from a feature the uncertainty of labels counts in the gradient, in
        positions, up to 1,000,000 (section 4.2); None for the exact gradient.
    unlabelled_weight: α, how much an unlabelled example counts in the regulariser (equation 11).
    mini_sample: structure regularisation (Sun 2014): the mean length of the pieces into which
        training sequences are cut, a real number from 1 to below 1,000,000; None for whole
        sequences.
    tolerance: training ends when an epoch changes what is minimised by less than this share, with
        L-BFGS the mean of ten; 0 for never.

    Raises ValueError for values out of range and for combinations without a meaning.
    """

    optimizer: Optimizer = "sgd"
    rate: float = 0.5
    decay: float = 0.1
    l2: float = 0.1
    l1: float = 0.0
    noise: Noise = "none"
    noise_level: float = 0.0
    noise_window: int | None = None
    unlabelled_weight: float = 1.0
    mini_sample: float | None = None
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        if self.optimizer not in _OPTIMIZERS:
            raise ValueError(
                f"optimizer is {self.optimizer!r}; choose from {', '.join(_OPTIMIZERS)}"
            )
        if self.noise not in _NOISES:
            raise ValueError(f"noise is {self.noise!r}; choose from {', '.join(_NOISES)}")
        _hold(self, "rate", 0.0, math.inf, open_below=True)
        _hold(self, "decay", 0.0, math.inf)
        _hold(self, "l2", 0.0, math.inf)
        _hold(self, "l1", 0.0, math.inf)
        _hold(self, "noise_level", 0.0, 1.0 if self.noise == "dropout" else math.inf)
        _hold(self, "unlabelled_weight", 0.0, math.inf)
        _hold(self, "tolerance", 0.0, math.inf)
        if self.noise_window is not None:
            _hold_whole(self, "noise_window", 0, MAX_NOISE_WINDOW)
        if self.mini_sample is not None:
            _hold(self, "mini_sample", 1.0, MAX_MINI_SAMPLE)
            if self.optimizer == "lbfgs":
                raise ValueError(
                    "mini_sample cuts sequences anew in each epoch, which L-BFGS cannot follow; "
                    "choose optimizer = 'sgd', or leave it at None"
                )
        if self.noise_level > 0 and self.noise == "none":
            raise ValueError(
                f"noise_level is {self.noise_level}, but there is no noise; choose one of "
                f"{', '.join(_NOISES[1:])}, or leave it at 0"
            )

    @property
    def penalties(self) -> dict[str, float]:
        """The penalties that weight rows apply by themselves: none."""
        return {"l1": 0.0, "l2": 0.0, "cumulative_l1": 0.0}

    @property
    def min_count(self) -> int:
        """Least count of a feature: all that a corpus has get weights."""
        return 1

    def prune_of(self, n_rows: int) -> float:
        """The size up to which weights are dropped: none are, L1 sees to that."""
        return 0.0

    @property
    def variance(self) -> float:
        """The variance of a feature of value 1 under the noise; 0 without noise."""
        if self.noise == "dropout":
            return self.noise_level / (1.0 - self.noise_level)
        return self.noise_level**2

    def as_dict(self) -> dict[str, Any]:
        """The settings by name; `from_dict` takes them back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> LogLinear:
        """The settings that `as_dict` gave. Raises ValueError for unknown or missing names."""
        return cls(**_complete(cls, settings))


AnyLearning: TypeAlias = Learning | LogLinear


def learning_from_dict(settings: Mapping[str, Any]) -> AnyLearning:
    """The settings that `as_dict` of either kind gave. Raises ValueError for any others."""
    kind = LogLinear if "optimizer" in settings else Learning
    return kind.from_dict(settings)


def _complete(cls: type[Any], settings: Mapping[str, Any]) -> Mapping[str, Any]:
    names = {field.name for field in fields(cls)}
    if set(settings) != names:
        raise ValueError(
            f"settings of learning are {', '.join(sorted(names))}, "
            f"not {', '.join(sorted(map(str, settings)))}"
        )
    return settings


def _hold_whole(settings: AnyLearning, name: str, least: int, most: int) -> None:
    value = getattr(settings, name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{name} is {value!r}; it must be a whole number")
    if not least <= value <= most:
        raise ValueError(f"{name} is {value}; it must be at least {least} and at most {most:,}")


def _hold(
    settings: AnyLearning, name: str, least: float, most: float, *, open_below: bool = False
) -> None:
    value = getattr(settings, name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{name} is {value!r}; it must be a number")
    if value in (math.inf, -math.inf):
        raise ValueError(f"{name} is {value}; it must be a finite number")
    if not (least < value if open_below else least <= value) or not value < most:
        bound = "above" if open_below else "at least"
        limit = "" if most == math.inf else f" and below {most:,.12g}"
        raise ValueError(f"{name} is {value}; it must be {bound} {least:g}{limit}")
    try:
        number = float(value)
    except OverflowError as error:
        raise ValueError(f"{name} is a number beyond all floats") from error
    object.__setattr__(settings, name, number)
