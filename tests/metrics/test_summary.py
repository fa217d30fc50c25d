"""Means with their intervals, against the density of Student's t and figures worked by hand."""

from __future__ import annotations

import math

import pytest
from looped import looped

from spacy_structreg.metrics.summary import differences, summary, t_quantile


@looped("degrees", [*range(1, 16), 24, 49, 200])
def test_t_quantiles_leave_a_fortieth_above_them(degrees):
    # Simpson's rule over the density of Student's t, from 0 to the quantile.
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2))
    scale /= math.sqrt(degrees * math.pi)
    end, n = t_quantile(degrees), 20_000
    heights = [
        scale * (1 + (i * end / n) ** 2 / degrees) ** (-(degrees + 1) / 2) for i in range(n + 1)
    ]
    area = heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2])
    assert 0.5 - area * end / n / 3 == pytest.approx(0.025, abs=5e-6)


def test_summaries_of_few_numbers():
    one = summary([3.0])
    assert (one.n, one.mean, one.sd, one.half) == (1, 3.0, None, None)
    two = summary([1.0, 3.0])
    assert two.sd == pytest.approx(math.sqrt(2))
    assert two.half == pytest.approx(12.7062, abs=1e-4)
    assert differences([2.0, 5.0], [1.0, 1.0]).mean == 2.5
    with pytest.raises(ValueError, match="no number"):
        summary([])
    with pytest.raises(ValueError, match="shorter"):
        differences([1.0, 2.0], [1.0])
