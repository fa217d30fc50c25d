"""Penalties of weights, in the closed form of many updates that change nothing else.

Zhang, Su & Zhou 2014, section 4, restated so that a weight is caught up when it is next read. One
update takes a weight w with a debt c to

- L2: (1 - l2) w;
- L1: sign(w) max(0, |w| - l1), after the decay if both are set;
- cumulative L1: with m = min(|w|, c + cumulative), sign(w) (|w| - m), and the debt to
  c + cumulative - m.
"""

from libc.math cimport expm1, fabs, floor, log1p

ctypedef struct Penalty:
    double l1
    double l2
    double cumulative
    bint active

ctypedef struct Span:
    # What `missed` updates amount to, for all weights of a row: with γ = 1 - l2, the factor of
    # the last one γ^missed, one minus it, and the sum γ + γ² + … of the factors of all.
    double missed
    double power
    double shrunk
    double powers


cdef inline Span span_of(const Penalty* penalty, double missed) noexcept nogil:
    cdef Span span
    span.missed = missed
    span.power = 1.0
    span.shrunk = 0.0
    span.powers = missed
    if penalty.l2 > 0.0:
        # Without the cancellation of 1 - γ^missed.
        span.shrunk = -expm1(missed * log1p(-penalty.l2))
        span.power = 1.0 - span.shrunk
        span.powers = (1.0 - penalty.l2) * span.shrunk / penalty.l2
    return span


cdef inline double shrunk_sum(double l2, const Span* span) noexcept nogil:
    """The sum of (1 - γ^i) / l2 over the updates i = 1, 2, … of a span."""
    cdef double k = span.missed
    cdef double term
    cdef double total
    cdef int j
    if l2 * k > 1e-2:
        return (k - span.powers) / l2
    # The difference would cancel: binomials of the series instead, C(k + 1, j + 1) (-l2)^(j - 1).
    term = k * (k + 1.0) / 2.0
    total = term
    for j in range(2, 9):
        term *= -l2 * (k + 1.0 - j) / (j + 1.0)
        total += term
    return total


cdef inline void advance(
    const Penalty* penalty, const Span* span, double* weight, double* total, double* debt
) noexcept nogil:
    """Take a weight and the sum of its values over `span`; `debt` is for cumulative L1 only."""
    cdef double size
    cdef double rate
    cdef double steps
    cdef double offset
    cdef Span alive
    if not penalty.active:
        total[0] += span.missed * weight[0]
        return
    if weight[0] == 0.0:
        if penalty.cumulative > 0.0:
            debt[0] += span.missed * penalty.cumulative
        return
    if penalty.l1 == 0.0 and penalty.cumulative == 0.0:
        total[0] += span.powers * weight[0]
        weight[0] *= span.power
        return
    size = fabs(weight[0])
    if penalty.l1 > 0.0 and penalty.l2 > 0.0:
        # After k updates |w| is |w| γ^k - l1 (1 - γ^k) / l2, with γ = 1 - l2, until that is zero.
        steps = floor(log1p(size * penalty.l2 / penalty.l1) / -log1p(-penalty.l2))
        alive = span[0] if steps >= span.missed else span_of(penalty, steps)
        offset = size * alive.powers - penalty.l1 * shrunk_sum(penalty.l2, &alive)
        total[0] += offset if weight[0] > 0 else -offset
        size = size * span.power - penalty.l1 * span.shrunk / penalty.l2
        if steps < span.missed or size <= 0.0:
            size = 0.0
        weight[0] = size if weight[0] > 0 else -size
        return
    # A weight that is not zero has no debt: every update takes the same off it.
    rate = penalty.l1 if penalty.l1 > 0.0 else penalty.cumulative
    steps = floor(size / rate)
    if steps > span.missed:
        steps = span.missed
    offset = steps * size - rate * steps * (steps + 1.0) / 2.0
    total[0] += offset if weight[0] > 0 else -offset
    if size > span.missed * rate:
        weight[0] -= span.missed * rate if weight[0] > 0 else -span.missed * rate
    else:
        if penalty.cumulative > 0.0:
            debt[0] += span.missed * rate - size
        weight[0] = 0.0


cdef inline void settle_cumulative(
    double rate, double* weight, double* total, double* debt
) noexcept nogil:
    """The penalty of one update, after its change was added (equations 13 to 17)."""
    cdef double owed = debt[0] + rate
    cdef double taken = fabs(weight[0])
    if taken > owed:
        taken = owed
    weight[0] -= taken if weight[0] > 0 else -taken
    debt[0] = owed - taken
    total[0] += weight[0]
