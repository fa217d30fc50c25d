"""Means, standard deviations and intervals over seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

# The 97.5 % points of Student's t distribution, for 1 to 10 degrees of freedom.
_T: Final = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281)
_NORMAL: Final = 1.959964


def t_quantile(degrees: int) -> float:
    """The 97.5 % point of Student's t, ≥ 1 degree of freedom, to four digits.

    Above 10 by the expansion of Abramowitz & Stegun 1964, 26.7.5.
    """
    if degrees <= len(_T):
        return _T[degrees - 1]
    x = _NORMAL
    terms: tuple[float, ...] = (
        x,
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
    )
    return math.fsum(term / float(degrees) ** power for power, term in enumerate(terms))


@dataclass(frozen=True)
class Summary:
    """Number, mean, standard deviation and confidence interval of a sample.

    sd: the standard deviation of one of them (n - 1 in the denominator). half: half the length of
    the 95 % interval of the mean by Student's t. Both are None for a single number.
    """

    n: int
    mean: float
    sd: float | None
    half: float | None


def summary(numbers: Iterable[float]) -> Summary:
    """The summary of numbers. Raises ValueError if there are none."""
    values: Sequence[float] = list(numbers)
    n = len(values)
    if n == 0:
        raise ValueError("there is no number to summarize")
    mean = math.fsum(values) / n
    if n == 1:
        return Summary(1, mean, None, None)
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    return Summary(n, mean, sd, t_quantile(n - 1) * sd / math.sqrt(n))


def differences(more: Sequence[float], less: Sequence[float]) -> Summary:
    """The summary of paired differences. Raises ValueError for sequences of unequal lengths."""
    return summary(a - b for a, b in zip(more, less, strict=True))
