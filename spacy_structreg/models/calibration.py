"""Calibration: from the margins of decisions to probabilities that they are right."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

CalibrationMethod: TypeAlias = Literal["isotonic", "temperature"]
"""Methods of fitting probabilities."""

# Steepest curve that is tried: margins are of the size of 1 and more.
_GREATEST_SLOPE: Final = 1e3
# Halves of an interval; a double has no more digits.
_STEPS: Final = 60


def isotonic_regression(values: ArrayLike, weights: ArrayLike | None = None) -> NDArray[np.float64]:
    """The sequence that never falls and has the least squared distance from `values`.

    By pooling adjacent violators, in linear time. weights: of the squares, above 0; None for 1.
    """
    given = np.asarray(values, dtype=np.float64)
    shares = np.ones(len(given)) if weights is None else np.asarray(weights, dtype=np.float64)
    # Blocks of equal values: mean, weight, length.
    blocks: list[tuple[float, float, int]] = []
    for value, weight in zip(given.tolist(), shares.tolist(), strict=True):
        block = (value, weight, 1)
        while blocks and blocks[-1][0] >= block[0]:
            mean, whole, length = blocks.pop()
            total = whole + block[1]
            block = ((mean * whole + block[0] * block[1]) / total, total, length + block[2])
        blocks.append(block)
    return np.repeat([mean for mean, _, _ in blocks], [length for _, _, length in blocks])


def sigmoid(margins: ArrayLike) -> NDArray[np.float64]:
    """1 / (1 + exp(-margin)): the probability that a log-linear choice of two would have."""
    half: NDArray[np.float64] = np.tanh(np.asarray(margins, dtype=np.float64) / 2)
    return (1 + half) / 2


@dataclass(frozen=True)
class Calibration:
    """A curve from margins to probabilities that never falls.

    margins, probabilities: float64 of shape (n,), the knots of the curve, margins rising; it is
    straight between two, and level before the first and after the last. None for a curve without
    knots: `sigmoid` of margin / temperature.
    temperature: above 0; None for a curve of knots.
    least, most: the probabilities at the margins -inf and inf, where a model has no alternative.
    Raises ValueError for curves that are none.
    """

    margins: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()
    temperature: float | None = None
    least: float = 0.0
    most: float = 1.0

    def __post_init__(self) -> None:
        knots = np.array(self.margins)
        heights = np.array(self.probabilities)
        shares = np.array([self.least, *self.probabilities, self.most])
        sound = len(self.margins) == len(self.probabilities)
        sound = sound and bool(self.margins) == (self.temperature is None)
        sound = sound and bool(np.isfinite(knots).all() and (np.diff(knots) > 0).all())
        sound = sound and bool(((shares >= 0) & (shares <= 1)).all())
        sound = sound and bool((np.diff(heights) >= 0).all())
        if self.temperature is not None:
            sound = sound and 0 < self.temperature < np.inf
        if not sound:
            raise ValueError("a calibration is damaged; calibrate the pipeline anew")

    @classmethod
    def fit(
        cls, margins: ArrayLike, came_true: ArrayLike, method: CalibrationMethod = "isotonic"
    ) -> Calibration:
        """The curve that fits decisions best.

        margins: of any decisions, ±inf where a model has no alternative, which count by themselves.
        came_true: for each whether it was right (or, of places, whether a word ends there).
        method: ``"isotonic"``, any curve that never falls, by least squares (Zadrozny & Elkan
            2002); ``"temperature"``, one number, by maximum likelihood (Guo et al. 2017).
        Raises ValueError for another method, and if there are no decisions.
        """
        if method not in get_args(CalibrationMethod):
            raise ValueError(f"there is no method {method!r}; choose 'isotonic' or 'temperature'")
        given = np.asarray(margins, dtype=np.float64)
        true = np.asarray(came_true, dtype=np.float64)
        if given.shape != true.shape or not len(given) or np.isnan(given).any():
            raise ValueError("there are no decisions to calibrate by")
        finite = np.isfinite(given)
        knots: NDArray[np.float64] = np.empty(0)
        heights: NDArray[np.float64] = np.empty(0)
        temperature: float | None = None
        if method == "isotonic" and finite.any():
            knots, heights = _curve(given[finite], true[finite])
        else:
            temperature = _temperature(given[finite], true[finite])
        low, high = (0.0, 1.0) if not len(heights) else (float(heights[0]), float(heights[-1]))
        # That all of a beam agree says something else than a great margin, and need not be surer.
        least = float(true[given == -np.inf].mean()) if (given == -np.inf).any() else low
        most = float(true[given == np.inf].mean()) if (given == np.inf).any() else high
        return cls(tuple(knots.tolist()), tuple(heights.tolist()), temperature, least, most)

    def __call__(self, margins: ArrayLike) -> NDArray[np.float64]:
        """The probabilities at margins: float64 of the same shape, between 0 and 1."""
        given = np.asarray(margins, dtype=np.float64)
        if self.temperature is not None:
            found = sigmoid(given / self.temperature)
        else:
            found = np.interp(given, self.margins, self.probabilities)
        found = np.where(given == np.inf, self.most, found)
        return np.where(given == -np.inf, self.least, found)

    def as_dict(self) -> dict[str, Any]:
        """The curve as JSON has it; `from_dict` takes it back."""
        if self.temperature is None:
            curve = {"margins": list(self.margins), "probabilities": list(self.probabilities)}
        else:
            curve = {"temperature": self.temperature}  # type: ignore[dict-item]
        return {**curve, "least": self.least, "most": self.most}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Calibration:
        """The curve that `as_dict` gave. Raises ValueError for anything else."""
        known = {"margins", "probabilities", "temperature", "least", "most"}
        if not stored.keys() <= known:
            raise ValueError("a calibration is damaged; calibrate the pipeline anew")
        temperature = stored.get("temperature")
        return cls(
            _numbers(stored.get("margins", [])),
            _numbers(stored.get("probabilities", [])),
            None if temperature is None else _numbers([temperature])[0],
            *_numbers([stored.get("least"), stored.get("most")]),
        )


def calibrations_to_json(calibrations: Mapping[str, Calibration]) -> bytes:
    """The calibrations of some kinds of decisions, by their names, as JSON in UTF-8."""
    content = {name: each.as_dict() for name, each in sorted(calibrations.items())}
    return json.dumps(content).encode()


def calibrations_from_json(data: bytes, kinds: Sequence[str]) -> dict[str, Calibration]:
    """The calibrations that `calibrations_to_json` wrote.

    kinds: the names that there may be. Raises ValueError for anything else.
    """
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the calibration cannot be read ({error})") from error
    if (
        not isinstance(content, dict)
        or not content.keys() <= set(kinds)
        or not all(isinstance(each, dict) for each in content.values())
    ):
        raise ValueError("a calibration is damaged; calibrate the pipeline anew")
    return {name: Calibration.from_dict(each) for name, each in content.items()}


def _curve(
    margins: NDArray[np.float64], came_true: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The knots of the isotonic curve: both ends of each of its steps."""
    knots, places, counts = np.unique(margins, return_inverse=True, return_counts=True)
    means = np.bincount(places.ravel(), weights=came_true) / counts
    heights = np.clip(isotonic_regression(means, counts), 0, 1)
    changes = np.flatnonzero(np.diff(heights)) + 1
    ends = np.unique(np.concatenate([[0], changes, changes - 1, [len(knots) - 1]])).astype(np.intp)
    return knots[ends], heights[ends]


def _temperature(margins: NDArray[np.float64], came_true: NDArray[np.float64]) -> float:
    """The temperature of the greatest likelihood; 1 without margins."""
    if not len(margins):
        return 1.0
    slope, low, high = 1.0, 1 / _GREATEST_SLOPE, _GREATEST_SLOPE
    # The derivative by 1 / temperature falls, so that its zero is found by halving.
    for _ in range(_STEPS):
        slope = float(np.sqrt(low * high))
        if ((came_true - sigmoid(margins * slope)) * margins).sum() > 0:
            low = slope
        else:
            high = slope
    return 1 / slope


def _numbers(values: Any) -> tuple[float, ...]:
    if not isinstance(values, list) or not all(
        isinstance(each, (int, float)) and not isinstance(each, bool) for each in values
    ):
        raise ValueError("a calibration is damaged; calibrate the pipeline anew")
    try:
        return tuple(map(float, values))
    except OverflowError as error:
        raise ValueError("a calibration is damaged; calibrate the pipeline anew") from error
