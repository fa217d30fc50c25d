"""Exact first-order decoding of label sequences: the best path, and the n best.

The decoders see scores only: `emissions`, float64 of shape (n, n_labels), and `transitions`,
float64 of shape (n_labels, n_labels), from the row's label to the column's. Where the scores of
pairs differ from place to place, `edges`, float64 of shape (n - 1, n_labels, n_labels), are added
to the transitions to positions 1, 2, …. What may follow what is a `LabelGraph`; a mask of shape (n,
n_labels) forbids labels at single positions.

What a mask of positions cannot say, such as which of some spans that overlap go together, a
*lattice* can: a graph of columns, each of which stands at a position and has a row of the mask of
its own. A path goes through columns of the positions 0, 1, …, each of them among those `before` the
next; scores are those of its labels at their positions, and of the lattice's own for its steps from
column to column and for the column where it ends. A column without others before it stands at
position 0. Of a sequence without a lattice, the columns are the positions.

Ties go to the lowest label, then to the lowest
predecessor, so that results can be repeated.

Decoders keep the scores of all prefixes and look for the best predecessor again where a path goes:
a step to the next position then is additions and maxima of numbers that lie side by side, and the n
best paths need nothing else. Of few labels, the best path keeps back pointers as well, which cost
less than to look again; and where there are edges, which then need not be there again.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memmove, memset

from spacy_structreg.learn.memory cimport BufferOwner, reserve, reserve_zeros

import numpy as np

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define STRUCTREG_UNROLLED static inline __attribute__((always_inline))
    #else
    #define STRUCTREG_UNROLLED static __forceinline
    #endif

    /* Extends the best paths over `count` positions: `table` gets their scores, and `back` their
       best predecessors, the lowest of equal ones. The scores before the first position stand
       before `table`. Nothing is compared by jumps, which could not be foreseen. */
    STRUCTREG_UNROLLED void structreg_extend(
        const Py_ssize_t n_labels, const Py_ssize_t fan_in, const uint8_t *predecessors,
        const double *transitions, const double *emissions, const uint8_t *mask, Py_ssize_t count,
        double *table, uint8_t *back
    ) {
        Py_ssize_t i, y, p;
        for (i = 0; i < count; i++) {
            const double *prefix = table - n_labels;
            for (y = 0; y < n_labels; y++) {
                const uint8_t *from = predecessors + y * fan_in;
                const double *steps = transitions + y * fan_in;
                double best = prefix[from[0]] + steps[0];
                uint8_t origin = from[0];
                for (p = 1; p < fan_in; p++) {
                    const double score = prefix[from[p]] + steps[p];
                    const int is_better = score > best;
                    best = is_better ? score : best;
                    origin = is_better ? from[p] : origin;
                }
                table[y] = best + emissions[y];
                back[y] = origin;
            }
            if (mask) {
                for (y = 0; y < n_labels; y++)
                    table[y] = mask[y] ? table[y] : -INFINITY;
                mask += n_labels;
            }
            table += n_labels;
            back += n_labels;
            emissions += n_labels;
        }
    }

    #if defined(__SSE2__) || defined(_M_X64)
    #include <emmintrin.h>
    #include <string.h>
    /* The same without a mask for the graph of B, E, M and S, which stand in this order: before B
       and S stand E and S, before E and M stand B and M. Scores are kept in pairs of these. */
    static const uint8_t structreg_bems[8] = {1, 3, 0, 2, 0, 2, 1, 3};
    static void structreg_extend_bems(
        const double *steps, const double *emissions, Py_ssize_t count, double *table,
        uint8_t *back
    ) {
        /* Of each label, if the second predecessor is better: bits of B, S, E, M. */
        static const uint8_t origins[16][4] = {
            {1, 0, 0, 1}, {3, 0, 0, 1}, {1, 0, 0, 3}, {3, 0, 0, 3},
            {1, 2, 0, 1}, {3, 2, 0, 1}, {1, 2, 0, 3}, {3, 2, 0, 3},
            {1, 0, 2, 1}, {3, 0, 2, 1}, {1, 0, 2, 3}, {3, 0, 2, 3},
            {1, 2, 2, 1}, {3, 2, 2, 1}, {1, 2, 2, 3}, {3, 2, 2, 3},
        };
        const __m128d bs_after_e = _mm_set_pd(steps[6], steps[0]);
        const __m128d bs_after_s = _mm_set_pd(steps[7], steps[1]);
        const __m128d em_after_b = _mm_set_pd(steps[4], steps[2]);
        const __m128d em_after_m = _mm_set_pd(steps[5], steps[3]);
        __m128d bs = _mm_set_pd(table[-1], table[-4]);
        __m128d em = _mm_set_pd(table[-2], table[-3]);
        Py_ssize_t i;
        int better;
        for (i = 0; i < count; i++) {
            const __m128d be_scores = _mm_loadu_pd(emissions + 4 * i);
            const __m128d ms_scores = _mm_loadu_pd(emissions + 4 * i + 2);
            const __m128d from_e = _mm_add_pd(_mm_unpacklo_pd(em, em), bs_after_e);
            const __m128d from_s = _mm_add_pd(_mm_unpackhi_pd(bs, bs), bs_after_s);
            const __m128d from_b = _mm_add_pd(_mm_unpacklo_pd(bs, bs), em_after_b);
            const __m128d from_m = _mm_add_pd(_mm_unpackhi_pd(em, em), em_after_m);
            better = _mm_movemask_pd(_mm_cmplt_pd(from_e, from_s))
                | _mm_movemask_pd(_mm_cmplt_pd(from_b, from_m)) << 2;
            /* Of equal scores the second operand is taken, that of the lower label. */
            bs = _mm_add_pd(
                _mm_max_pd(from_s, from_e), _mm_shuffle_pd(be_scores, ms_scores, 2));
            em = _mm_add_pd(
                _mm_max_pd(from_m, from_b), _mm_shuffle_pd(be_scores, ms_scores, 1));
            _mm_storeu_pd(table + 4 * i, _mm_unpacklo_pd(bs, em));
            _mm_storeu_pd(table + 4 * i + 2, _mm_unpackhi_pd(em, bs));
            memcpy(back + 4 * i, origins[better], 4);
        }
    }
    #endif

    static void structreg_extend_all(
        Py_ssize_t n_labels, Py_ssize_t fan_in, const uint8_t *predecessors,
        const double *transitions, const double *emissions, const uint8_t *mask, Py_ssize_t count,
        double *table, uint8_t *back
    ) {
        #define STRUCTREG_EXTEND(labels, origins) structreg_extend( \
            labels, origins, predecessors, transitions, emissions, mask, count, table, back)
        #if defined(__SSE2__) || defined(_M_X64)
        if (n_labels == 4 && fan_in == 2 && mask == NULL
                && memcmp(predecessors, structreg_bems, sizeof(structreg_bems)) == 0) {
            structreg_extend_bems(transitions, emissions, count, table, back);
            return;
        }
        #endif
        if (n_labels == 4 && fan_in == 2)
            STRUCTREG_EXTEND(4, 2);
        else if (n_labels == 6 && fan_in == 4)
            STRUCTREG_EXTEND(6, 4);
        else
            STRUCTREG_EXTEND(n_labels, fan_in);
        #undef STRUCTREG_EXTEND
    }
    """
    void structreg_extend_all(
        Py_ssize_t n_labels, Py_ssize_t fan_in, const uint8_t* predecessors,
        const double* transitions, const double* emissions, const uint8_t* mask, Py_ssize_t count,
        double* table, uint8_t* back,
    ) noexcept nogil

cdef enum:
    # Graphs of more labels are decoded by blocks.
    FEW_LABELS = 16
    # Back pointers have a byte each.
    MOST_TRACED = 256
    # So many labels with so many predecessors in common are worth a hub.
    HUB_LABELS = 4
    HUB_PREDECESSORS = 4


cdef class LabelGraph(BufferOwner):
    """Legal label sequences.

    legal: bool of shape (n_labels, n_labels), whether the column's label may follow the row's.
    starts, ends: bool of shape (n_labels,), whether a label may be the first, or the last.
    by_blocks: whether to decode labels of alike predecessors together, which changes nothing but
        the time; by default, if there are more than 16 labels.
    Raises ValueError if the shapes do not agree.
    """

    def __init__(self, legal, starts, ends, by_blocks=None):
        cdef Py_ssize_t y
        cdef Py_ssize_t x
        cdef Py_ssize_t n = 0
        self.legal = np.array(legal, dtype=bool)
        self.starts = np.array(starts, dtype=bool)
        self.ends = np.array(ends, dtype=bool)
        for array in (self.legal, self.starts, self.ends):
            array.setflags(write=False)
        self.n_labels = self.starts.size
        if (
            not 1 <= self.n_labels <= 0xFFFF
            or self.starts.shape != (self.n_labels,)
            or self.legal.shape != (self.n_labels, self.n_labels)
            or self.ends.shape != (self.n_labels,)
        ):
            raise ValueError(
                f"legal transitions of shape {self.legal.shape} do not fit starts of shape "
                f"{self.starts.shape} and ends of shape {self.ends.shape}"
            )
        self.by_blocks = self.n_labels > FEW_LABELS if by_blocks is None else by_blocks
        reserve_zeros(&self.buffers, self.first_predecessor, self.n_labels + 1)
        reserve_zeros(&self.buffers, self.predecessors, <Py_ssize_t> self.legal.sum() + 1)
        reserve_zeros(&self.buffers, self.may_start, self.n_labels)
        reserve_zeros(&self.buffers, self.may_end, self.n_labels)
        reserve_zeros(&self.buffers, self.runs, self.n_labels)
        reserve_zeros(&self.buffers, self.hubs, self.n_labels)
        reserve_zeros(&self.buffers, self.spans, 2 * self.n_labels)
        reserve_zeros(&self.buffers, self.hub_of, self.n_labels)
        for y in range(self.n_labels):
            self.may_start[y] = self.starts[y]
            self.may_end[y] = self.ends[y]
            self.hub_of[y] = -1
            for x in np.flatnonzero(self.legal[:, y]).tolist():
                self.predecessors[n] = <int32_t> x
                n += 1
            self.first_predecessor[y + 1] = <int32_t> n
        if self.by_blocks:
            self._find_blocks()
        else:
            self._pad_predecessors()

    def __reduce__(self):
        return LabelGraph, (self.legal, self.starts, self.ends, self.by_blocks)

    cdef int _find_blocks(self) except -1:
        """Split the labels into hubs, which share all their predecessors, and runs."""
        cdef int32_t* bounds = self.first_predecessor
        cdef Run* run
        cdef Hub* hub
        cdef Py_ssize_t y
        cdef int32_t n_spans = 0
        self.n_runs = self.n_hubs = self.n_edges = self.n_bounds = 0
        preceding = [
            tuple([self.predecessors[p] for p in range(bounds[y], bounds[y + 1])])
            for y in range(self.n_labels)
        ]
        sharing = {}
        for y in range(self.n_labels):
            sharing.setdefault(preceding[y], []).append(y)
        for predecessors, labels in sharing.items():
            if len(predecessors) < HUB_PREDECESSORS or len(labels) < HUB_LABELS:
                continue
            hub = &self.hubs[self.n_hubs]
            hub[0] = Hub(n_spans, n_spans, len(predecessors), bounds[labels[0]], self.n_bounds)
            for y in labels:
                self.hub_of[y] = <int32_t> self.n_hubs
                if hub.last_span == hub.first_span or self.spans[2 * n_spans - 1] != y:
                    self.spans[2 * n_spans] = <int32_t> y
                    n_spans += 1
                    hub.last_span = n_spans
                self.spans[2 * n_spans - 1] = <int32_t> y + 1
            self.n_bounds += len(predecessors)
            self.n_hubs += 1
        y = 0
        while y < self.n_labels:
            if self.hub_of[y] >= 0:
                y += 1
                continue
            run = &self.runs[self.n_runs]
            run[0] = Run(y, y + 1, len(preceding[y]), bounds[y], self.n_edges)
            while (
                run.last < self.n_labels and self.hub_of[run.last] < 0
                and preceding[run.last] == tuple([x + run.last - y for x in preceding[y]])
            ):
                run.last += 1
            self.n_edges += run.fan_in * (run.last - run.first)
            self.n_runs += 1
            y = run.last
        return 0

    cdef int _pad_predecessors(self) except -1:
        """Store the predecessors of few labels as a dense table, if every label has some."""
        cdef const int32_t* bounds = self.first_predecessor
        cdef Py_ssize_t widest = 0
        cdef Py_ssize_t y
        cdef Py_ssize_t j
        for y in range(self.n_labels):
            if self.n_labels > FEW_LABELS or bounds[y] == bounds[y + 1]:
                return 0
            widest = max(widest, bounds[y + 1] - bounds[y])
        self.fan_in = <int> widest
        reserve_zeros(&self.buffers, self.padded, self.n_labels * widest)
        for y in range(self.n_labels):
            for j in range(widest):
                self.padded[y * widest + j] = <uint8_t> self.predecessors[
                    bounds[y] + j if bounds[y] + j < bounds[y + 1] else bounds[y]
                ]
        return 0

    def prune(self, mask):
        """The labels of a mask that are on a path that is legal and within it.

        mask: bool of shape (n, n_labels). Returns such a one. Raises ValueError for other shapes,
        and if no path is left.
        """
        given = np.asarray(mask, dtype=bool)
        if given.ndim != 2 or given.shape[1] != self.n_labels:
            raise ValueError(f"a mask of shape {given.shape} does not fit {self.n_labels} labels")
        pruned = np.array(given, dtype=np.uint8, order="C")
        cdef uint8_t[:, ::1] alive = pruned
        cdef Py_ssize_t n = pruned.shape[0]
        cdef Py_ssize_t i
        cdef Py_ssize_t y
        cdef int32_t p
        cdef bint found
        if n == 0:
            return given
        reached = np.zeros(self.n_labels, dtype=np.uint8)
        cdef uint8_t[::1] before = reached
        for y in range(self.n_labels):
            alive[0, y] &= self.may_start[y]
        for i in range(1, n):
            for y in range(self.n_labels):
                found = False
                if alive[i, y]:
                    for p in range(self.first_predecessor[y], self.first_predecessor[y + 1]):
                        if alive[i - 1, self.predecessors[p]]:
                            found = True
                            break
                alive[i, y] = found
        for y in range(self.n_labels):
            alive[n - 1, y] &= self.may_end[y]
        for i in range(n - 1, 0, -1):
            before[:] = 0
            for y in range(self.n_labels):
                if alive[i, y]:
                    for p in range(self.first_predecessor[y], self.first_predecessor[y + 1]):
                        before[self.predecessors[p]] = 1
            for y in range(self.n_labels):
                alive[i - 1, y] &= before[y]
        if not pruned[0].any():
            raise ValueError("no sequence of labels is legal within the mask")
        return pruned.astype(bool)


cdef class Transitions(BufferOwner):
    """The scores of neighboring labels, laid out for the steps of decoders of one graph.

    A predecessor that many labels share is left out of a step if another one is better for every
    one of them: it is if its score and its `most`, the highest of its transitions, are below the
    score and the `least` of the other. Rounding does not disturb that, because it keeps order.
    """

    def __init__(self, LabelGraph graph not None):
        self.graph = graph
        reserve_zeros(&self.buffers, self.edges, graph.n_edges + 1)
        reserve_zeros(&self.buffers, self.most, graph.n_bounds + 1)
        reserve_zeros(&self.buffers, self.least, graph.n_bounds + 1)
        reserve_zeros(&self.buffers, self.reached, graph.n_labels)

    def __reduce__(self):
        raise TypeError("transitions belong to a decoder and cannot be pickled alone")

    cdef void bind(self, const double* scores) noexcept nogil:
        """Use these scores of shape (n_labels, n_labels), which must outlive the object."""
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef const int32_t* origins
        cdef const Run* run
        cdef const Hub* hub
        cdef Py_ssize_t place
        cdef Py_ssize_t b
        cdef int32_t j
        cdef int32_t t
        self.scores = scores
        for b in range(self.graph.n_runs):
            run = &self.graph.runs[b]
            origins = self.graph.predecessors + run.origins
            place = run.edges
            for j in range(run.fan_in):
                for t in range(run.last - run.first):
                    self.edges[place] = scores[(origins[j] + t) * n_labels + run.first + t]
                    place += 1
        for b in range(self.graph.n_hubs):
            hub = &self.graph.hubs[b]
            for j in range(hub.fan_in):
                self._bound(hub, j)

    cdef void refresh(self, Py_ssize_t label) noexcept nogil:
        """Refresh the layout after the scores from one label have changed."""
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef const int32_t* origins
        cdef const Run* run
        cdef const Hub* hub
        cdef Py_ssize_t length
        cdef Py_ssize_t t
        cdef Py_ssize_t b
        cdef int32_t low
        cdef int32_t high
        cdef int32_t j
        for b in range(self.graph.n_runs):
            run = &self.graph.runs[b]
            origins = self.graph.predecessors + run.origins
            length = run.last - run.first
            for j in range(run.fan_in):
                t = label - origins[j]
                if 0 <= t < length:
                    self.edges[run.edges + j * length + t] = (
                        self.scores[label * n_labels + run.first + t]
                    )
        for b in range(self.graph.n_hubs):
            hub = &self.graph.hubs[b]
            origins = self.graph.predecessors + hub.origins
            low = 0
            high = hub.fan_in
            while low < high:
                j = (low + high) // 2
                if origins[j] < label:
                    low = j + 1
                else:
                    high = j
            if low < hub.fan_in and origins[low] == label:
                self._bound(hub, low)

    cdef void _bound(self, const Hub* hub, Py_ssize_t place) noexcept nogil:
        """Find the highest and the lowest transition of one predecessor of a hub."""
        cdef const double* row = (
            self.scores + self.graph.predecessors[hub.origins + place] * self.graph.n_labels
        )
        cdef double most = -INFINITY
        cdef double least = INFINITY
        cdef int32_t s
        cdef int32_t y
        for s in range(hub.first_span, hub.last_span):
            for y in range(self.graph.spans[2 * s], self.graph.spans[2 * s + 1]):
                most = row[y] if row[y] > most else most
                least = row[y] if row[y] < least else least
        self.most[hub.bounds + place] = most
        self.least[hub.bounds + place] = least

    cdef void step(
        self, const double* prefix, const double* emissions, const double* edges,
        const uint8_t* mask, double* extended, uint8_t* back,
    ) noexcept nogil:
        """Extend the best paths to every label by one position.

        prefix: their scores. extended: gets the scores of the longer paths. edges: NULL, or the
        further scores of all pairs here. mask: NULL, or which labels are allowed at the new
        position. back: gets the best predecessors if there are edges; or NULL.
        """
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef const int32_t* predecessors = self.graph.predecessors
        cdef const int32_t* bounds = self.graph.first_predecessor
        cdef Py_ssize_t b
        cdef Py_ssize_t y
        cdef int32_t p
        cdef int32_t x
        cdef int32_t origin
        cdef double score
        cdef double best
        if edges != NULL:
            for y in range(n_labels):
                best = -INFINITY
                origin = 0
                for p in range(bounds[y], bounds[y + 1]):
                    x = predecessors[p]
                    score = prefix[x] + (self.scores[x * n_labels + y] + edges[x * n_labels + y])
                    if score > best:
                        best = score
                        origin = x
                extended[y] = best + emissions[y]
                if back != NULL:
                    back[y] = <uint8_t> origin
        elif not self.graph.by_blocks:
            for y in range(n_labels):
                best = -INFINITY
                for p in range(bounds[y], bounds[y + 1]):
                    x = predecessors[p]
                    score = prefix[x] + self.scores[x * n_labels + y]
                    if score > best:
                        best = score
                extended[y] = best + emissions[y]
        else:
            for b in range(self.graph.n_runs):
                self._step_run(&self.graph.runs[b], prefix, extended)
            for b in range(self.graph.n_hubs):
                self._step_hub(&self.graph.hubs[b], prefix, extended)
            for y in range(n_labels):
                extended[y] += emissions[y]
        if mask != NULL:
            for y in range(n_labels):
                if not mask[y]:
                    extended[y] = -INFINITY

    cdef void _step_run(
        self, const Run* run, const double* prefix, double* extended
    ) noexcept nogil:
        cdef const double* edges = self.edges + run.edges
        cdef const double* origin
        cdef double* target = extended + run.first
        cdef Py_ssize_t length = run.last - run.first
        cdef Py_ssize_t t
        cdef int32_t j
        cdef double score
        for t in range(length):
            target[t] = -INFINITY
        for j in range(run.fan_in):
            origin = prefix + self.graph.predecessors[run.origins + j]
            for t in range(length):
                score = origin[t] + edges[t]
                target[t] = score if score > target[t] else target[t]
            edges += length

    cdef void _step_hub(
        self, const Hub* hub, const double* prefix, double* extended
    ) noexcept nogil:
        cdef const int32_t* origins = self.graph.predecessors + hub.origins
        cdef const int32_t* spans = self.graph.spans
        cdef const double* most = self.most + hub.bounds
        cdef const double* least = self.least + hub.bounds
        cdef double* reached = self.reached
        cdef const double* row
        cdef double sure = -INFINITY
        cdef double score
        cdef double start
        cdef int32_t j
        cdef int32_t s
        cdef int32_t y
        for s in range(hub.first_span, hub.last_span):
            for y in range(spans[2 * s], spans[2 * s + 1]):
                extended[y] = -INFINITY
        for j in range(hub.fan_in):
            start = prefix[origins[j]]
            reached[j] = start + most[j]
            score = start + least[j]
            sure = score if score > sure else sure
        if sure == -INFINITY:
            return
        for j in range(hub.fan_in):
            if reached[j] < sure:
                continue
            start = prefix[origins[j]]
            row = self.scores + origins[j] * self.graph.n_labels
            for s in range(hub.first_span, hub.last_span):
                for y in range(spans[2 * s], spans[2 * s + 1]):
                    score = start + row[y]
                    extended[y] = score if score > extended[y] else extended[y]

    cdef uint16_t best_predecessor(
        self, const double* prefix, const double* edges, Py_ssize_t label
    ) noexcept nogil:
        """The label before `label` on the best path to it; 0 if there is no path. As `step`."""
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef int32_t hub = -1 if edges != NULL else self.graph.hub_of[label]
        cdef const double* most = NULL if hub < 0 else self.most + self.graph.hubs[hub].bounds
        cdef Py_ssize_t first = self.graph.first_predecessor[label]
        cdef Py_ssize_t p
        cdef Py_ssize_t x
        cdef Py_ssize_t best_x = 0
        cdef double best = -INFINITY
        cdef double score
        for p in range(first, self.graph.first_predecessor[label + 1]):
            x = self.graph.predecessors[p]
            # Transitions to one label lie far apart: read only those that may matter.
            if most != NULL and not prefix[x] + most[p - first] > best:
                continue
            score = self.scores[x * n_labels + label]
            if edges != NULL:
                score += edges[x * n_labels + label]
            score += prefix[x]
            if score > best:
                best = score
                best_x = x
        return <uint16_t> best_x


cdef class Viterbi(BufferOwner):
    """A decoder for the best path. It holds working memory: use one in each thread.

    The emissions may come in blocks, so that long sequences need memory for the scores of their
    prefixes only, and with `settle` not even for those. With `open_start` or `open_end` a sequence
    is a part of a longer one, which may begin or end with any label there. `edges` are NULL, or
    those to the positions after `edges_from` on: of the whole sequence, or, with up to 256 labels,
    of the block at hand.
    """

    def __init__(self, LabelGraph graph not None):
        self.graph = graph
        self.transitions = Transitions(graph)
        reserve_zeros(&self.buffers, self._alive, 2 * graph.n_labels)
        reserve_zeros(&self.buffers, self._merged, graph.n_labels)

    def __reduce__(self):
        return Viterbi, (self.graph,)

    cdef int reserve_positions(self, Py_ssize_t n) except -1 nogil:
        """Make room for a sequence of `n` positions."""
        reserve(&self.buffers, self.table, n * self.graph.n_labels)
        if self.graph.fan_in or self.edges != NULL:
            reserve(&self.buffers, self._back, n * self.graph.n_labels)
        return 0

    cdef const double* edges_to(self, Py_ssize_t position) noexcept nogil:
        """Return the edge scores of the pairs whose second label is at a position, or NULL."""
        if self.edges == NULL:
            return NULL
        return self.edges + (
            (position - 1 - self.edges_from) * self.graph.n_labels * self.graph.n_labels
        )

    cdef bint _has_pointers(self) noexcept nogil:
        """Return True if back pointers are kept for the new sequence."""
        return self.edges != NULL and self.graph.n_labels <= MOST_TRACED

    cdef int advance(
        self, const double* emissions, const uint8_t* mask, Py_ssize_t first, Py_ssize_t count
    ) except -1 nogil:
        """Extend all paths over positions `first` to `first` + `count`, by `transitions`.

        emissions: those of these positions. mask: NULL, or theirs too; 0 forbids a label.
        Blocks are given in order, beginning with position 0, which begins a new sequence.
        """
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef double transitions[FEW_LABELS * FEW_LABELS]
        cdef double* prefix
        cdef Py_ssize_t fan_in = self.graph.fan_in
        cdef Py_ssize_t i
        cdef Py_ssize_t y
        cdef Py_ssize_t j
        if first == 0:
            self._base = 0
            self._due = 0
            self.lattice = NULL
            self._is_traced = self._has_pointers() or (fan_in > 0 and self.edges == NULL)
        self.reserve_positions(first + count - self._base)
        prefix = self.table + (first - self._base) * n_labels
        for i in range(count):
            if first + i > 0 and self._is_traced and self.edges == NULL:
                for y in range(n_labels):
                    for j in range(fan_in):
                        transitions[y * fan_in + j] = self.transitions.scores[
                            self.graph.padded[y * fan_in + j] * n_labels + y
                        ]
                structreg_extend_all(
                    n_labels, fan_in, self.graph.padded, transitions, emissions + i * n_labels,
                    NULL if mask == NULL else mask + i * n_labels, count - i, prefix,
                    self._back + (first + i - self._base) * n_labels,
                )
                return 0
            if first + i > 0:
                self.transitions.step(
                    prefix - n_labels, emissions + i * n_labels, self.edges_to(first + i),
                    NULL if mask == NULL else mask + i * n_labels, prefix,
                    self._back + (first + i - self._base) * n_labels if self._is_traced else NULL,
                )
            else:
                for y in range(n_labels):
                    prefix[y] = (
                        emissions[y]
                        if (self.open_start or self.graph.may_start[y])
                        and (mask == NULL or mask[y])
                        else -INFINITY
                    )
            prefix += n_labels
        return 0

    cdef int walk(
        self, const double* emissions, const uint8_t* mask, const Lattice* lattice,
        Py_ssize_t first, Py_ssize_t last,
    ) except -1 nogil:
        """Extend all paths over the columns `first` to before `last` of a lattice.

        emissions: of all positions. mask: of shape (lattice.n, n_labels). Columns are given in
        order, from 0, which begins a new sequence, to the last. The lattice must stay there until
        `finish`.
        """
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef const double* scores
        cdef double* extended
        cdef Py_ssize_t c
        cdef Py_ssize_t y
        if first == 0:
            self._base = 0
            self._is_traced = self._has_pointers()
            self.lattice = lattice
            self.reserve_positions(lattice.n)
        for c in range(first, last):
            extended = self.table + c * n_labels
            scores = emissions + lattice.positions[c] * n_labels
            if lattice.first[c] < lattice.first[c + 1]:
                self.transitions.step(
                    self._prefix(c), scores, self.edges_to(lattice.positions[c]),
                    mask + c * n_labels, extended,
                    self._back + c * n_labels if self._is_traced else NULL,
                )
                continue
            for y in range(n_labels):
                extended[y] = -INFINITY
                if (self.open_start or self.graph.may_start[y]) and mask[c * n_labels + y]:
                    extended[y] = scores[y]
        return 0

    cdef Py_ssize_t position_of(self, Py_ssize_t column) noexcept nogil:
        return column if self.lattice == NULL else self.lattice.positions[column]

    cdef double step_score(self, Py_ssize_t b) noexcept nogil:
        """Return the lattice's score of the step from column `before[b]`."""
        return 0.0 if self.lattice.scores == NULL else self.lattice.scores[b]

    cdef double last_score(self, Py_ssize_t column) noexcept nogil:
        """The lattice's own score of ending at a column."""
        if self.lattice == NULL or self.lattice.last == NULL:
            return 0.0
        return self.lattice.last[column]

    cdef const double* _prefix(self, Py_ssize_t column) noexcept nogil:
        """The scores of the best paths to the labels before a column that has any before it."""
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef const double* row
        cdef double more
        cdef Py_ssize_t y
        cdef int32_t b
        cdef int32_t low
        cdef int32_t high
        if self.lattice == NULL:
            return self.table + (column - 1 - self._base) * n_labels
        low = self.lattice.first[column]
        high = self.lattice.first[column + 1]
        row = self.table + self.lattice.before[low] * n_labels
        more = self.step_score(low)
        if high - low == 1 and more == 0.0:
            return row
        for y in range(n_labels):
            self._merged[y] = row[y] + more
        for b in range(low + 1, high):
            row = self.table + self.lattice.before[b] * n_labels
            more = self.step_score(b)
            for y in range(n_labels):
                self._merged[y] = max(self._merged[y], row[y] + more)
        return self._merged

    cdef void go_back(self, Py_ssize_t* column, uint16_t* label) noexcept nogil:
        """Go from a label of a column to the label and the column before, on the best path.

        Of equal ones to the lowest label, and of those to the lowest column.
        """
        cdef const double* prefix = self._prefix(column[0])
        cdef Py_ssize_t here = column[0]
        cdef int32_t b
        if self._is_traced:
            label[0] = self._back[(here - self._base) * self.graph.n_labels + label[0]]
        else:
            label[0] = self.transitions.best_predecessor(
                prefix, self.edges_to(self.position_of(here)), label[0]
            )
        column[0] -= 1
        if self.lattice == NULL:
            return
        column[0] = here
        for b in range(self.lattice.first[here], self.lattice.first[here + 1]):
            if (
                self.lattice.before[b] < column[0]
                and self.table[self.lattice.before[b] * self.graph.n_labels + label[0]]
                + self.step_score(b) == prefix[label[0]]
            ):
                column[0] = self.lattice.before[b]

    cdef uint16_t _before(self, Py_ssize_t position, Py_ssize_t label) noexcept nogil:
        """The label before one at a position, on the best path to it; without a lattice."""
        cdef Py_ssize_t place = (position - self._base) * self.graph.n_labels
        if self._is_traced:
            return self._back[place + label]
        return self.transitions.best_predecessor(
            self.table + place - self.graph.n_labels, self.edges_to(position), label
        )

    cdef void settle(self, Py_ssize_t n, uint16_t* path) noexcept nogil:
        """Write the common prefix of all best paths over the first `n` positions.

        The scores of that part are forgotten; sequences of any length then fit into little memory,
        because paths agree but for their last few positions. If they do not, it is tried again when
        twice as much is open, so that the time stays linear. path: of the whole sequence.
        """
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef uint8_t* alive = self._alive
        cdef uint8_t* before = self._alive + n_labels
        cdef const double* prefix
        cdef Py_ssize_t n_alive
        cdef Py_ssize_t i = n - 1
        cdef Py_ssize_t y
        cdef uint16_t x
        if n - self._base < self._due:
            return
        for y in range(n_labels):
            alive[y] = self.table[(i - self._base) * n_labels + y] > -INFINITY
        while i > self._base:
            i -= 1
            prefix = self.table + (i - self._base) * n_labels
            memset(before, 0, n_labels)
            n_alive = 0
            x = 0
            for y in range(n_labels):
                if alive[y]:
                    x = self._before(i + 1, y)
                    n_alive += not before[x]
                    before[x] = 1
            alive, before = before, alive
            if n_alive == 1:
                self._trace(i, x, path)
                memmove(self.table, prefix, (n - i) * n_labels * sizeof(double))
                if self._is_traced:
                    memmove(
                        self._back, self._back + (i - self._base) * n_labels, (n - i) * n_labels
                    )
                self._base = i
                break
        self._due = 2 * (n - self._base)

    cdef double finish(self, Py_ssize_t n, uint16_t* path) noexcept nogil:
        """Write the best path over all `n` positions, and return its score.

        The score is minus infinity if the graph and the mask leave no path; `path` then has no
        meaning.
        """
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef Py_ssize_t column = (n if self.lattice == NULL else self.lattice.n) - 1
        cdef Py_ssize_t last = column
        cdef const double* prefix
        cdef double best = -INFINITY
        cdef double score
        cdef Py_ssize_t y
        cdef uint16_t label = 0
        if n == 0:
            return 0.0
        while column >= 0 and self.position_of(column) == n - 1:
            prefix = self.table + (column - self._base) * n_labels
            for y in range(n_labels):
                score = prefix[y] + self.last_score(column)
                if (self.open_end or self.graph.may_end[y]) and (
                    score > best or (score == best and y <= label)
                ):
                    best = score
                    label = <uint16_t> y
                    last = column
            column -= 1
        if best > -INFINITY:
            self._trace(last, label, path)
        return best

    cdef void _trace(self, Py_ssize_t column, uint16_t label, uint16_t* path) noexcept nogil:
        """Write the best path to a label of a column, as far back as it is not settled."""
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef Py_ssize_t i = self.position_of(column)
        cdef const uint8_t* back
        path[i] = label
        if self._is_traced and self.lattice == NULL:
            back = self._back + (i - self._base) * n_labels
            while i > self._base:
                label = back[label]
                back -= n_labels
                i -= 1
                path[i] = label
            return
        while i > self._base:
            if self.lattice == NULL:
                label = self._before(i, label)
            else:
                self.go_back(&column, &label)
            i -= 1
            path[i] = label


cdef inline bint _is_lower(int32_t one, int32_t other, int32_t n_labels) noexcept nogil:
    """Order of cells: by label, then by column."""
    if one % n_labels != other % n_labels:
        return one % n_labels < other % n_labels
    return one < other


cdef class NBestViterbi(BufferOwner):
    """A decoder for the n best paths. It holds working memory: use one in each thread.

    The best path is found as by `best`, and further ones one after the other, from what differs:
    the next best path to a label is the next best to one of its predecessors (the recursive
    enumeration algorithm of Jiménez & Marzal 1999). `open_start`, `open_end`, `edges` and
    `transitions` are those of `best`.
    """

    def __init__(self, LabelGraph graph not None):
        self.graph = graph
        self.best = Viterbi(graph)

    def __reduce__(self):
        return NBestViterbi, (self.graph,)

    cdef int solve(
        self, const double* emissions, const uint8_t* mask, Py_ssize_t n, const Lattice* lattice
    ) except -1 nogil:
        """Score all prefixes of a sequence, n ≥ 1, for `path`.

        lattice: or NULL. It and the emissions must stay there.
        """
        cdef Py_ssize_t size
        self._n = n
        self._n_columns = n if lattice == NULL else lattice.n
        size = self._n_columns * self.graph.n_labels + 1
        reserve(&self.buffers, self._node_of, size)
        reserve(&self.buffers, self._chain, n + 1)
        memset(self._node_of, 0, size * sizeof(int32_t))
        self._n_nodes = 0
        self._n_candidates = 0
        self._emissions = emissions
        if lattice == NULL:
            self.best.advance(emissions, mask, 0, n)
        else:
            self.best.walk(emissions, mask, lattice, 0, lattice.n)
        return 0

    cdef double path(self, Py_ssize_t rank, uint16_t* path) except? -1 nogil:
        """Write the path of a rank, counted from 0, and return its score.

        The score is minus infinity if there are not so many paths.
        """
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef Py_ssize_t node = self._node(<int32_t> (self._n_columns * n_labels))
        cdef Py_ssize_t column
        cdef Py_ssize_t i
        cdef uint16_t label
        cdef Candidate found
        while self._nodes[node].n_found <= rank:
            if not self._find_next():
                return -INFINITY
        found = self._candidates[self._nodes[node].first + rank]
        cdef double score = found.score
        for i in range(self._n - 1, -1, -1):
            path[i] = <uint16_t> (found.cell % n_labels)
            if i == 0:
                break
            node = self._node_of[found.cell]
            if node > 0:
                found = self._candidates[self._nodes[node - 1].first + found.rank]
            else:
                # Nobody has asked for more than the best path to this label.
                column = found.cell // n_labels
                label = path[i]
                self.best.go_back(&column, &label)
                found.cell = <int32_t> (column * n_labels + label)
        return score

    cdef Py_ssize_t _node(self, int32_t cell) except -1 nogil:
        """The node of a label of a column, whose best path is found when it is made.

        Past the last column there is one node, to which all last labels lead.
        """
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef Py_ssize_t column = cell // n_labels
        cdef const Lattice* lattice = self.best.lattice
        cdef const double* prefix
        cdef Node* node
        cdef double more
        cdef Py_ssize_t x
        cdef int32_t b
        if self._node_of[cell]:
            return self._node_of[cell] - 1
        reserve(&self.buffers, self._nodes, self._n_nodes + 1)
        node = &self._nodes[self._n_nodes]
        node[0] = Node(0, 0, 0, 0)
        self._n_nodes += 1
        self._node_of[cell] = <int32_t> self._n_nodes
        if column == self._n_columns:
            column -= 1
            while column >= 0 and self.best.position_of(column) == self._n - 1:
                prefix = self.best.table + column * n_labels
                more = self.best.last_score(column)
                self._room_for(node, node.n + <uint32_t> n_labels)
                for x in range(n_labels):
                    if (
                        (self.best.open_end or self.graph.may_end[x])
                        and prefix[x] + more > -INFINITY
                    ):
                        self._candidates[node.first + node.n] = Candidate(
                            prefix[x] + more, more, 0, <int32_t> (column * n_labels + x)
                        )
                        node.n += 1
                column -= 1
        elif self.best.position_of(column) == 0:
            # The one path that begins here: no label, no path before it.
            self._room_for(node, 1)
            self._candidates[node.first] = Candidate(0.0, 0.0, 0, 0)
            node.n = 1
        elif lattice == NULL:
            self._add_before(node, column - 1, cell % n_labels, 0.0)
        else:
            for b in range(lattice.first[column], lattice.first[column + 1]):
                self._add_before(
                    node, lattice.before[b], cell % n_labels, self.best.step_score(b)
                )
        self._take_best(node)
        return self._n_nodes - 1

    cdef int _add_before(
        self, Node* node, Py_ssize_t column, Py_ssize_t label, double score
    ) except -1 nogil:
        """Add the best paths to the labels of a column that go on with `label`.

        score: the lattice's own, of that step.
        """
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef const double* prefix = self.best.table + column * n_labels
        cdef Py_ssize_t p = self.graph.first_predecessor[label]
        cdef Py_ssize_t last = self.graph.first_predecessor[label + 1]
        cdef Py_ssize_t x
        cdef double pair
        self._room_for(node, node.n + <uint32_t> (last - p))
        for p in range(p, last):
            x = self.graph.predecessors[p]
            if prefix[x] + score > -INFINITY:
                pair = self._pair(self.best.position_of(column) + 1, x, label)
                self._candidates[node.first + node.n] = Candidate(
                    prefix[x] + score + pair, score + pair, 0, <int32_t> (column * n_labels + x)
                )
                node.n += 1
        return 0

    cdef double _pair(self, Py_ssize_t position, Py_ssize_t x, Py_ssize_t y) noexcept nogil:
        """The score of label `y` at a position after label `x`, without its emission."""
        cdef Py_ssize_t place = x * self.graph.n_labels + y
        cdef const double* edges = self.best.edges_to(position)
        cdef double score = self.best.transitions.scores[place]
        return score if edges == NULL else score + edges[place]

    cdef int _room_for(self, Node* node, uint32_t n) except -1 nogil:
        """Reserve memory for `n` candidates in all."""
        cdef Py_ssize_t first = self._n_candidates
        cdef uint32_t room = n + node.n // 2
        if n <= node.room:
            return 0
        reserve(&self.buffers, self._candidates, first + room)
        memmove(
            self._candidates + first, self._candidates + node.first, node.n * sizeof(Candidate)
        )
        self._n_candidates += room
        node.first = first
        node.room = room
        return 0

    cdef bint _take_best(self, Node* node) noexcept nogil:
        """Find the best of the candidates that are left; of equal ones, that of the lowest label.

        There is at most one of each label of a column; of equal labels, the lowest column is first.
        Returns false if none is left.
        """
        cdef Candidate* candidates = self._candidates + node.first
        cdef int32_t n_labels = <int32_t> self.graph.n_labels
        cdef uint32_t best = node.n_found
        cdef uint32_t c
        if best == node.n:
            return False
        for c in range(node.n_found + 1, node.n):
            if candidates[c].score > candidates[best].score or (
                candidates[c].score == candidates[best].score
                and _is_lower(candidates[c].cell, candidates[best].cell, n_labels)
            ):
                best = c
        candidates[node.n_found], candidates[best] = candidates[best], candidates[node.n_found]
        node.n_found += 1
        return True

    cdef bint _find_next(self) except -1 nogil:
        """Find the next best path; return False if there is none."""
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef int32_t* chain = self._chain
        cdef Py_ssize_t position = self._n
        cdef Py_ssize_t number
        cdef Node* node
        cdef Node* lower
        cdef Candidate* last
        cdef Candidate* found
        cdef uint32_t rank
        cdef int32_t cell
        cdef double score
        cdef double step
        cdef bint more = False
        # Down: whatever was found last at a node is to be followed by the next path to the same
        # predecessor, which may have to be found first.
        chain[position] = <int32_t> (self._n_columns * n_labels)
        while True:
            number = self._node(chain[position])
            node = &self._nodes[number]
            if position == 0 or node.n_found == 0:
                break
            last = &self._candidates[node.first + node.n_found - 1]
            cell = last.cell
            rank = last.rank + 1
            number = self._node(cell)
            if self._nodes[number].n_found > rank:
                break
            position -= 1
            chain[position] = cell
        # Up: follow the last one by its successor, if there is one, and take the best.
        while position <= self._n:
            node = &self._nodes[self._node_of[chain[position]] - 1]
            if position > 0 and node.n_found > 0:
                last = &self._candidates[node.first + node.n_found - 1]
                cell = last.cell
                step = last.step
                rank = last.rank + 1
                lower = &self._nodes[self._node_of[cell] - 1]
                if lower.n_found > rank:
                    found = &self._candidates[lower.first + rank]
                    score = found.score + self._emissions[
                        (position - 1) * n_labels + cell % n_labels
                    ] + step
                    self._room_for(node, node.n + 1)
                    self._candidates[node.first + node.n] = Candidate(score, step, rank, cell)
                    node.n += 1
            more = self._take_best(node)
            position += 1
        return more


cdef class Columns:
    """A lattice as arrays; `lattice` points into them.

    columns: of each column its position, and the columns before it, or pairs of these and the score
    of the step from each; if wanted, then the score of ending there. Raises ValueError if they are
    not in the order of their positions, or those before are not at the position before.
    """

    cdef Lattice lattice
    cdef int32_t[::1] _positions
    cdef int32_t[::1] _first
    cdef int32_t[::1] _before
    cdef double[::1] _scores
    cdef double[::1] _last

    def __init__(self, columns):
        positions = [position for position, *_ in columns]
        steps = [
            [other if isinstance(other, tuple) else (other, 0.0) for other in others]
            for _, others, *_ in columns
        ]
        before = [[other for other, _ in others] for others in steps]
        last = [rest[0] if rest else 0.0 for _, _, *rest in columns]
        for c, (position, others) in enumerate(zip(positions, before, strict=True)):
            if (
                (position == 0) != (not others) or position < max(positions[:c], default=0)
                or any([not 0 <= b < c or positions[b] != position - 1 for b in others])
            ):
                raise ValueError(f"predecessors of lattice column {c} must be earlier columns")
        self._positions = np.array([*positions, 0], dtype=np.int32)
        self._first = np.cumsum([0, *map(len, before)], dtype=np.int32)
        self._before = np.array([*sum(before, []), 0], dtype=np.int32)
        self._scores = np.array([*[score for _, score in sum(steps, [])], 0.0])
        self._last = np.array([*last, 0.0])
        self.lattice = Lattice(
            len(positions), &self._positions[0], &self._first[0], &self._before[0],
            &self._scores[0], &self._last[0],
        )


def check_scores(
    LabelGraph graph, emissions, transitions, mask=None, edges=None, Columns columns=None
):
    """Scores and a mask as arrays of the types that kernels read; raises as `viterbi`."""
    emissions = np.ascontiguousarray(emissions, dtype=np.float64)
    transitions = np.ascontiguousarray(transitions, dtype=np.float64)
    if emissions.ndim != 2 or emissions.shape[1] != graph.n_labels:
        raise ValueError(
            f"emissions must have the shape (n, {graph.n_labels}), got {emissions.shape}"
        )
    if transitions.shape != (graph.n_labels, graph.n_labels):
        raise ValueError(
            f"transitions must have the shape {(graph.n_labels, graph.n_labels)}, "
            f"got {transitions.shape}"
        )
    pairs = (max(0, len(emissions) - 1), graph.n_labels, graph.n_labels)
    given = edges is not None
    edges = np.ascontiguousarray(edges if given else np.zeros((0, 1, 1)), dtype=np.float64)
    if given and edges.shape != pairs:
        raise ValueError(f"edges must have the shape {pairs}, got {edges.shape}")
    for scores in (emissions, transitions, edges):
        # Not a number fails the comparison too; larger ones might overflow when added up.
        if not (np.abs(scores) <= 1e100).all():
            raise ValueError("scores must be finite and between -1e100 and 1e100")
    rows = len(emissions)
    if columns is not None:
        rows = columns.lattice.n
        if rows == 0 or columns.lattice.positions[rows - 1] != len(emissions) - 1:
            raise ValueError("the columns of a lattice do not end at the last position")
        if mask is None:
            mask = np.ones((rows, graph.n_labels))
    if mask is not None:
        mask = np.ascontiguousarray(mask, dtype=bool).view(np.uint8)
        if mask.shape != (rows, graph.n_labels):
            raise ValueError(f"mask must have the shape {(rows, graph.n_labels)}, got {mask.shape}")
    return emissions, transitions, mask, edges


def viterbi(
    LabelGraph graph not None, emissions, transitions, mask=None, Py_ssize_t block=0, *,
    edges=None, lattice=None, bint open_start=False, bint open_end=False,
):
    """The best path and its score: (score, uint16 array of shape (n,)).

    graph: what is legal. emissions, transitions, mask, edges: see the module; true marks the labels
    that a mask allows. block: how many positions to take in at a time, settling the path in
    between; by default all; lattices are taken in whole. lattice: of each column its position, and
    the columns before it, as `Columns` has them; the mask then has a row for each. open_start,
    open_end: whether any label may be the first, or the last.
    Raises ValueError if shapes do not agree, a score is not finite, or no path is legal.
    """
    cdef Columns columns = None if lattice is None else Columns(lattice)
    emissions, transitions, mask, edges = check_scores(
        graph, emissions, transitions, mask, edges, columns
    )
    cdef const double[:, ::1] scores = emissions
    cdef const double[:, ::1] bigrams = transitions
    cdef const double[:, :, ::1] pairs = edges
    cdef const uint8_t[:, ::1] allowed = None
    cdef Py_ssize_t n = scores.shape[0]
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t count
    cdef Viterbi decoder = Viterbi(graph)
    path = np.zeros(n, dtype=np.uint16)
    cdef uint16_t[::1] labels = path
    if mask is not None:
        allowed = mask
    if n == 0:
        return 0.0, path
    decoder.open_start = open_start
    decoder.open_end = open_end
    decoder.transitions.bind(&bigrams[0, 0])
    decoder.edges = &pairs[0, 0, 0] if edges.size else NULL
    if columns is not None:
        decoder.walk(&scores[0, 0], &allowed[0, 0], &columns.lattice, 0, columns.lattice.n)
        first = n
    while first < n:
        count = n - first if block <= 0 else min(block, n - first)
        decoder.advance(
            &scores[first, 0], NULL if mask is None else &allowed[first, 0], first, count
        )
        first += count
        if block > 0:
            decoder.settle(first, &labels[0])
    score = decoder.finish(n, &labels[0])
    if score == -INFINITY:
        raise ValueError("no sequence of labels is legal under this mask")
    return score, path


def viterbi_nbest(
    LabelGraph graph not None, emissions, transitions, Py_ssize_t k, mask=None, *,
    edges=None, lattice=None, bint open_start=False, bint open_end=False,
):
    """The `k` best paths, best first: a list of (score, uint16 array of shape (n,)).

    Arguments as for `viterbi`. The list is shorter if fewer paths are legal.
    Raises ValueError if shapes do not agree, a score is not finite, or k < 1.
    """
    cdef Columns columns = None if lattice is None else Columns(lattice)
    emissions, transitions, mask, edges = check_scores(
        graph, emissions, transitions, mask, edges, columns
    )
    cdef const double[:, ::1] scores = emissions
    cdef const double[:, ::1] bigrams = transitions
    cdef const double[:, :, ::1] pairs = edges
    cdef const uint8_t[:, ::1] allowed = None
    cdef Py_ssize_t n = scores.shape[0]
    cdef NBestViterbi decoder = NBestViterbi(graph)
    cdef uint16_t[::1] labels
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    if n == 0:
        return [(0.0, np.zeros(0, dtype=np.uint16))]
    if mask is not None:
        allowed = mask
    decoder.best.open_start = open_start
    decoder.best.open_end = open_end
    decoder.best.transitions.bind(&bigrams[0, 0])
    decoder.best.edges = &pairs[0, 0, 0] if edges.size else NULL
    decoder.solve(
        &scores[0, 0], NULL if mask is None else &allowed[0, 0], n,
        NULL if columns is None else &columns.lattice,
    )
    paths = []
    for rank in range(k):
        path = np.empty(n, dtype=np.uint16)
        labels = path
        score = decoder.path(rank, &labels[0])
        if score == -INFINITY:
            break
        paths.append((score, path))
    return paths
