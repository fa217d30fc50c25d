"""Sums over all label sequences: log-partitions and marginals, by the forward-backward algorithm.

The same scores, graphs and open ends as in `search.viterbi`. Sums are made of products of
exponentials, scaled at every position; where what was lost to underflow might count, the whole
sequence is done again in logarithms.
"""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from spacy_structreg.learn.memory cimport BufferOwner, reserve, reserve_zeros
from spacy_structreg.search.viterbi cimport LabelGraph

import numpy as np

from spacy_structreg.search.viterbi import check_scores

cdef enum:
    # What underflow takes is below 1e-323, and so below 1e-273 of a position's sum if that is at
    # least 10 to the first power. Nothing of it counts unless what follows is likelier than usual
    # by 10 to the second power.
    LEAST_EXPONENT = -50
    MOST_EXPONENT = 250

cdef double LEAST = 10.0 ** LEAST_EXPONENT
cdef double MOST = 10.0 ** MOST_EXPONENT


cdef inline double product(const double* first, const double* second, Py_ssize_t n) noexcept nogil:
    """Inner product in four independent partial sums."""
    cdef double a = 0.0
    cdef double b = 0.0
    cdef double c = 0.0
    cdef double d = 0.0
    cdef Py_ssize_t i = 0
    while i + 4 <= n:
        a += first[i] * second[i]
        b += first[i + 1] * second[i + 1]
        c += first[i + 2] * second[i + 2]
        d += first[i + 3] * second[i + 3]
        i += 4
    while i < n:
        a += first[i] * second[i]
        i += 1
    return (a + b) + (c + d)


cdef class SumProduct(BufferOwner):
    """Marginals of label sequences. It holds working memory: use one in each thread.

    `bind` takes the scores of pairs of labels, `solve` those of a sequence. With `open_start` or
    `open_end` a sequence is a part of a longer one, which may begin or end with any label there.
    """

    def __init__(self, LabelGraph graph not None):
        cdef Py_ssize_t n_pairs = graph.n_labels * graph.n_labels
        self.graph = graph
        reserve_zeros(&self.buffers, self._factors, n_pairs)
        reserve_zeros(&self.buffers, self.totals, n_pairs)
        reserve_zeros(&self.buffers, self._flow, graph.n_labels)
        reserve_zeros(&self.buffers, self._column, graph.n_labels)

    def __reduce__(self):
        return SumProduct, (self.graph,)

    cdef int reserve_positions(self, Py_ssize_t n, bint by_position) except -1 nogil:
        """Make room for a sequence of `n` positions, so that `solve` allocates nothing."""
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef Py_ssize_t size = n * n_labels
        reserve(&self.buffers, self.nodes, size)
        reserve(&self.buffers, self._heads, size)
        reserve(&self.buffers, self._forward_sums, size)
        reserve(&self.buffers, self._backward_sums, size)
        if by_position:
            reserve(&self.buffers, self.pairs, size * n_labels)
        return 0

    cdef void bind(self, const double* transitions) noexcept nogil:
        """Use these pair scores of shape (n_labels, n_labels), which must outlive the object."""
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef const int32_t* bounds = self.graph.first_predecessor
        cdef const int32_t* predecessors = self.graph.predecessors
        cdef double highest = -INFINITY
        cdef double score
        cdef Py_ssize_t place
        cdef Py_ssize_t y
        cdef int32_t p
        self._transitions = transitions
        for y in range(n_labels):
            for p in range(bounds[y], bounds[y + 1]):
                score = transitions[predecessors[p] * n_labels + y]
                highest = score if score > highest else highest
        memset(self._factors, 0, n_labels * n_labels * sizeof(double))
        self._factor_scale = highest if highest > -INFINITY else 0.0
        for y in range(n_labels):
            for p in range(bounds[y], bounds[y + 1]):
                place = predecessors[p] * n_labels + y
                self._factors[place] = exp(transitions[place] - self._factor_scale)

    cdef int solve(
        self, const double* emissions, const double* edges, Py_ssize_t n, bint keep_pairs
    ) except -1 nogil:
        """Sum over all labelings of a sequence.

        emissions: of shape (n, n_labels). edges: NULL, or of shape (n - 1, n_labels, n_labels).
        keep_pairs: whether to keep the marginals of the pairs of each position apart.
        Afterwards `log_partition` is minus infinity if there is no legal labeling, and all
        marginals are 0 then.
        """
        cdef Py_ssize_t n_labels = self.graph.n_labels
        self.reserve_positions(n, keep_pairs or edges != NULL)
        self._edges = edges
        memset(self.totals, 0, n_labels * n_labels * sizeof(double))
        self.log_partition = 0.0
        if n and not self._by_products(emissions, n, keep_pairs):
            memset(self.totals, 0, n_labels * n_labels * sizeof(double))
            self._by_logarithms(emissions, n, keep_pairs)
        return 0

    cdef const double* _factors_to(self, Py_ssize_t position) noexcept nogil:
        """Return the factors of the pairs whose second label is at a position."""
        if self._edges == NULL:
            return self._factors
        return self.pairs + (position - 1) * self.graph.n_labels * self.graph.n_labels

    cdef double _exponentiate_edges(self, Py_ssize_t n) noexcept nogil:
        """Write the factors of each position into `pairs`; returns the logarithm of their scale.

        They are exponentials of sums: the two scores of a pair may make up for each other.
        """
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef const int32_t* bounds = self.graph.first_predecessor
        cdef const int32_t* predecessors = self.graph.predecessors
        cdef double* factors
        cdef double scale = 0.0
        cdef double highest
        cdef double score
        cdef Py_ssize_t i
        cdef Py_ssize_t y
        cdef int32_t p
        memset(self.pairs, 0, (n - 1) * n_labels * n_labels * sizeof(double))
        for i in range(1, n):
            factors = self.pairs + (i - 1) * n_labels * n_labels
            highest = -INFINITY
            for y in range(n_labels):
                for p in range(bounds[y], bounds[y + 1]):
                    score = self._pair_score(i, predecessors[p], y)
                    highest = score if score > highest else highest
            for y in range(n_labels):
                for p in range(bounds[y], bounds[y + 1]):
                    score = self._pair_score(i, predecessors[p], y)
                    factors[predecessors[p] * n_labels + y] = exp(score - highest)
            scale += highest if highest > -INFINITY else 0.0
        return scale

    cdef bint _by_products(self, const double* emissions, Py_ssize_t n, bint keep) noexcept nogil:
        """`solve` by scaled sums of products; return False on under- or overflow."""
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef const double* factors
        cdef double* prefix = self._forward_sums
        cdef double* suffix
        cdef double* head
        cdef double* flow = self._flow
        cdef double* nodes
        cdef double* target
        cdef double highest
        cdef double total
        cdef double value
        cdef Py_ssize_t i
        cdef Py_ssize_t x
        cdef Py_ssize_t y
        if self._edges != NULL:
            self.log_partition = self._exponentiate_edges(n)
        else:
            self.log_partition = self._factor_scale * <double> (n - 1)
        for i in range(n):
            prefix = self._forward_sums + i * n_labels
            head = self._heads + i * n_labels
            highest = -INFINITY
            for y in range(n_labels):
                value = emissions[i * n_labels + y]
                highest = value if value > highest else highest
            for y in range(n_labels):
                head[y] = exp(emissions[i * n_labels + y] - highest)
            if i == 0:
                for y in range(n_labels):
                    prefix[y] = 1.0 if self.open_start or self.graph.may_start[y] else 0.0
            else:
                factors = self._factors_to(i)
                for y in range(n_labels):
                    prefix[y] = 0.0
                for x in range(n_labels):
                    value = prefix[x - n_labels]
                    if value > 0.0:
                        for y in range(n_labels):
                            prefix[y] += value * factors[x * n_labels + y]
            total = 0.0
            for y in range(n_labels):
                prefix[y] *= head[y]
                total += prefix[y]
            if not total > LEAST:
                return False
            self.log_partition += highest + log(total)
            for y in range(n_labels):
                prefix[y] /= total
                head[y] /= total
        total = 0.0
        suffix = self._backward_sums + (n - 1) * n_labels
        for y in range(n_labels):
            suffix[y] = 1.0 if self.open_end or self.graph.may_end[y] else 0.0
            total += suffix[y] * prefix[y]
        if not total > LEAST:
            return False
        self.log_partition += log(total)
        for y in range(n_labels):
            suffix[y] /= total
        i = n - 1
        while True:
            nodes = self.nodes + i * n_labels
            prefix = self._forward_sums + i * n_labels
            suffix = self._backward_sums + i * n_labels
            head = self._heads + i * n_labels
            for y in range(n_labels):
                if not suffix[y] <= MOST:
                    return False
                nodes[y] = prefix[y] * suffix[y]
                flow[y] = head[y] * suffix[y]
            if i == 0:
                break
            factors = self._factors_to(i)
            prefix -= n_labels
            suffix -= n_labels
            for x in range(n_labels):
                suffix[x] = product(factors + x * n_labels, flow, n_labels)
            if keep or self._edges != NULL:
                # Where there are edges, the factors of a position give way to its marginals.
                target = self.pairs + (i - 1) * n_labels * n_labels
                for x in range(n_labels):
                    value = prefix[x]
                    for y in range(n_labels):
                        target[x * n_labels + y] = value * factors[x * n_labels + y] * flow[y]
                        self.totals[x * n_labels + y] += target[x * n_labels + y]
            else:
                for x in range(n_labels):
                    value = prefix[x]
                    for y in range(n_labels):
                        self.totals[x * n_labels + y] += value * flow[y]
            i -= 1
        if n > 1 and not (keep or self._edges != NULL):
            for x in range(n_labels * n_labels):
                self.totals[x] *= self._factors[x]
        return True

    cdef double _pair_score(self, Py_ssize_t position, Py_ssize_t x, Py_ssize_t y) noexcept nogil:
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef double score = self._transitions[x * n_labels + y]
        if self._edges != NULL:
            score += self._edges[((position - 1) * n_labels + x) * n_labels + y]
        return score

    cdef void _by_logarithms(
        self, const double* emissions, Py_ssize_t n, bint keep
    ) noexcept nogil:
        """`solve` in log space: slower, for scores of any magnitude."""
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef const int32_t* bounds = self.graph.first_predecessor
        cdef const int32_t* predecessors = self.graph.predecessors
        cdef double* prefix
        cdef double* suffix
        cdef double* highest = self._flow
        cdef double* sums = self._column
        cdef double value
        cdef Py_ssize_t i
        cdef Py_ssize_t x
        cdef Py_ssize_t y
        cdef int32_t p
        for i in range(n):
            prefix = self._forward_sums + i * n_labels
            for y in range(n_labels):
                if i == 0:
                    prefix[y] = (
                        emissions[y] if self.open_start or self.graph.may_start[y] else -INFINITY
                    )
                    continue
                highest[y] = -INFINITY
                for p in range(bounds[y], bounds[y + 1]):
                    x = predecessors[p]
                    value = prefix[x - n_labels] + self._pair_score(i, x, y)
                    highest[y] = value if value > highest[y] else highest[y]
                prefix[y] = -INFINITY
                if highest[y] > -INFINITY:
                    value = 0.0
                    for p in range(bounds[y], bounds[y + 1]):
                        x = predecessors[p]
                        value += exp(
                            prefix[x - n_labels] + self._pair_score(i, x, y) - highest[y]
                        )
                    prefix[y] = highest[y] + log(value) + emissions[i * n_labels + y]
        prefix = self._forward_sums + (n - 1) * n_labels
        suffix = self._backward_sums + (n - 1) * n_labels
        self.log_partition = -INFINITY
        for y in range(n_labels):
            suffix[y] = 0.0 if self.open_end or self.graph.may_end[y] else -INFINITY
            value = prefix[y] + suffix[y]
            self.log_partition = value if value > self.log_partition else self.log_partition
        if self.log_partition == -INFINITY:
            memset(self.nodes, 0, n * n_labels * sizeof(double))
            if keep or self._edges != NULL:
                memset(self.pairs, 0, (n - 1) * n_labels * n_labels * sizeof(double))
            return
        value = 0.0
        for y in range(n_labels):
            value += exp(prefix[y] + suffix[y] - self.log_partition)
        self.log_partition += log(value)
        i = n - 1
        while i > 0:
            suffix = self._backward_sums + i * n_labels
            for x in range(n_labels):
                highest[x] = -INFINITY
                sums[x] = 0.0
            for y in range(n_labels):
                for p in range(bounds[y], bounds[y + 1]):
                    x = predecessors[p]
                    value = (
                        self._pair_score(i, x, y) + emissions[i * n_labels + y] + suffix[y]
                    )
                    highest[x] = value if value > highest[x] else highest[x]
            for y in range(n_labels):
                for p in range(bounds[y], bounds[y + 1]):
                    x = predecessors[p]
                    if highest[x] > -INFINITY:
                        sums[x] += exp(
                            self._pair_score(i, x, y) + emissions[i * n_labels + y] + suffix[y]
                            - highest[x]
                        )
            for x in range(n_labels):
                suffix[x - n_labels] = (
                    highest[x] + log(sums[x]) if highest[x] > -INFINITY else -INFINITY
                )
            i -= 1
        for i in range(n * n_labels):
            self.nodes[i] = exp(self._forward_sums[i] + self._backward_sums[i] - self.log_partition)
        if keep or self._edges != NULL:
            memset(self.pairs, 0, (n - 1) * n_labels * n_labels * sizeof(double))
        for i in range(1, n):
            prefix = self._forward_sums + (i - 1) * n_labels
            suffix = self._backward_sums + i * n_labels
            for y in range(n_labels):
                for p in range(bounds[y], bounds[y + 1]):
                    x = predecessors[p]
                    value = exp(
                        prefix[x] + self._pair_score(i, x, y) + emissions[i * n_labels + y]
                        + suffix[y] - self.log_partition
                    )
                    self.totals[x * n_labels + y] += value
                    if keep or self._edges != NULL:
                        self.pairs[((i - 1) * n_labels + x) * n_labels + y] = value


def marginals(
    LabelGraph graph not None, emissions, transitions, edges=None, *, bint open_start=False,
    bint open_end=False,
):
    """The log-partition of a sequence, and the marginals of its labels and of their pairs.

    Arguments as for `search.viterbi.viterbi`. Returns a float, float64 of shape (n, n_labels), and
    float64 of shape (n - 1, n_labels, n_labels): from the row's label to the column's.
    Raises ValueError if shapes do not agree, a score is not finite, or nothing is legal.
    """
    emissions, transitions, _, edges = check_scores(graph, emissions, transitions, None, edges)
    cdef const double[:, ::1] scores = emissions
    cdef const double[:, ::1] bigrams = transitions
    cdef const double[:, :, ::1] further = edges
    cdef Py_ssize_t n = scores.shape[0]
    cdef SumProduct sums = SumProduct(graph)
    cdef double[:, ::1] node_view
    cdef double[:, :, ::1] pair_view
    nodes = np.zeros((n, graph.n_labels))
    pairs = np.zeros((max(0, n - 1), graph.n_labels, graph.n_labels))
    if n == 0:
        return 0.0, nodes, pairs
    sums.open_start = open_start
    sums.open_end = open_end
    sums.bind(&bigrams[0, 0])
    sums.solve(&scores[0, 0], &further[0, 0, 0] if edges.size else NULL, n, True)
    if sums.log_partition == -INFINITY:
        raise ValueError("no sequence of labels is legal")
    node_view = nodes
    memcpy(&node_view[0, 0], sums.nodes, nodes.nbytes)
    if n > 1:
        pair_view = pairs
        memcpy(&pair_view[0, 0, 0], sums.pairs, pairs.nbytes)
    return sums.log_partition, nodes, pairs
