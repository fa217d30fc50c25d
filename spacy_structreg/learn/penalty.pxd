"""Penalties of weights, in the closed form of many updates that change nothing else.

Zhang, Su & Zhou 2014, section 4, restated so that a weight is caught up when it is next read
(method.md, section 2). One update takes a weight w with a debt c to

- L2: (1 - l2) w;
- L1: sign(w) max(0, |w| - l1), after the decay if both are set;
- cumulative L1: with m = min(|w|, c + cumulative), sign(w) (|w| - m), and the debt to
  c + cumulative - m.
"""

from libc.math cimport exp, expm1, fabs, floor, log, log1p

ctypedef struct Penalty:
    double l1
    double l2
    double cumulative
    bint active

ctypedef struct Span:
    # What `missed` updates amount to, for all weights of a row: the factor of the last one, and
    # the sum of the factors of all.
    double missed
    double power
    double powers


cdef inline Span span_of(const Penalty* penalty, double missed) noexcept nogil:
    cdef Span span
    cdef double shrunk
    span.missed = missed
    span.power = 1.0
    span.powers = missed
    if penalty.l2 > 0.0:
        # 1 - (1 - l2) ** missed, without cancellation.
        shrunk = -expm1(missed * log1p(-penalty.l2))
        span.power = 1.0 - shrunk
        span.powers = (1.0 - penalty.l2) * shrunk / penalty.l2
    return span


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
        # |w| + l1 / l2 shrinks by the factor 1 - l2 until |w| is zero.
        offset = penalty.l1 / penalty.l2
        steps = floor(log(offset / (size + offset)) / log1p(-penalty.l2))
        alive = span[0] if steps >= span.missed else span_of(penalty, steps)
        total[0] += (size + offset if weight[0] > 0 else -size - offset) * alive.powers
        total[0] -= alive.missed * (offset if weight[0] > 0 else -offset)
        if steps >= span.missed:
            size = (size + offset) * span.power - offset
            weight[0] = 0.0 if size <= 0.0 else (size if weight[0] > 0 else -size)
        else:
            weight[0] = 0.0
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
