"""Exact first-order decoding of label sequences: the best path, and the n best.

The decoders see scores only: `emissions`, float64 of shape (n, n_labels), and `transitions`,
float64 of shape (n_labels, n_labels), from the row's label to the column's. What may follow what
is a `LabelGraph`; a mask of shape (n, n_labels) forbids labels at single positions. Ties go to
the lowest label, then to the lowest predecessor, so that results can be repeated.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free, malloc

from spacy_structreg.learn.memory cimport reserve

import numpy as np

cdef enum:
    # Back pointers of the n best paths have 31 bits.
    MAX_BEST = 0x7FFFFFFF


cdef class LabelGraph:
    """Which label sequences are legal.

    legal: bool of shape (n_labels, n_labels), whether the column's label may follow the row's.
    starts, ends: bool of shape (n_labels,), whether a label may be the first, or the last.
    Raises ValueError if the shapes do not agree.
    """

    def __init__(self, legal, starts, ends):
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
        free(self.first_predecessor)
        free(self.predecessors)
        free(self.may_start)
        free(self.may_end)
        self.first_predecessor = <int32_t*> calloc(self.n_labels + 1, sizeof(int32_t))
        self.predecessors = <int32_t*> calloc(self.n_labels * self.n_labels, sizeof(int32_t))
        self.may_start = <uint8_t*> calloc(self.n_labels, 1)
        self.may_end = <uint8_t*> calloc(self.n_labels, 1)
        if not (
            self.first_predecessor and self.predecessors and self.may_start and self.may_end
        ):
            raise MemoryError("no memory for a graph of labels")
        for y in range(self.n_labels):
            self.may_start[y] = self.starts[y]
            self.may_end[y] = self.ends[y]
            for x in range(self.n_labels):
                if self.legal[x, y]:
                    self.predecessors[n] = <int32_t> x
                    n += 1
            self.first_predecessor[y + 1] = <int32_t> n

    def __dealloc__(self):
        free(self.first_predecessor)
        free(self.predecessors)
        free(self.may_start)
        free(self.may_end)

    def __reduce__(self):
        return LabelGraph, (self.legal, self.starts, self.ends)


cdef class Viterbi:
    """A decoder for the best path. It holds working memory: use one in each thread.

    The emissions may come in blocks, so that long sequences need memory for their back pointers
    only. With `open_start` or `open_end` a sequence is a part of a longer one, which may begin or
    end with any label there.
    """

    def __init__(self, LabelGraph graph not None):
        self.graph = graph
        free(self._prefix)
        free(self._next)
        self._prefix = <double*> malloc(graph.n_labels * sizeof(double))
        self._next = <double*> malloc(graph.n_labels * sizeof(double))
        if self._prefix == NULL or self._next == NULL:
            raise MemoryError("no memory for a decoder")

    def __dealloc__(self):
        free(self._prefix)
        free(self._next)
        free(self._back)

    def __reduce__(self):
        return Viterbi, (self.graph,)

    cdef int reserve_positions(self, Py_ssize_t n) except -1 nogil:
        """Make room for a sequence of `n` positions."""
        reserve(
            <void**> &self._back, &self._capacity, n * self.graph.n_labels, sizeof(uint16_t)
        )
        return 0

    cdef void advance(
        self, const double* emissions, const double* transitions, const uint8_t* mask,
        Py_ssize_t first, Py_ssize_t count,
    ) noexcept nogil:
        """Extend all paths over positions `first` to `first` + `count`.

        emissions: those of these positions. mask: NULL, or theirs too; 0 forbids a label.
        Blocks are given in order, beginning with position 0, which begins a new sequence.
        """
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef const int32_t* predecessors = self.graph.predecessors
        cdef const int32_t* bounds = self.graph.first_predecessor
        cdef double* prefix = self._prefix
        cdef double* extended = self._next
        cdef uint16_t* back
        cdef double best
        cdef double score
        cdef Py_ssize_t i
        cdef Py_ssize_t y
        cdef int32_t x
        cdef int32_t p
        cdef int32_t best_x
        for i in range(count):
            back = self._back + (first + i) * n_labels
            for y in range(n_labels):
                if mask != NULL and not mask[i * n_labels + y]:
                    extended[y] = -INFINITY
                    back[y] = 0
                    continue
                if first + i == 0:
                    extended[y] = (
                        emissions[y] if self.open_start or self.graph.may_start[y] else -INFINITY
                    )
                    back[y] = 0
                    continue
                best = -INFINITY
                best_x = 0
                for p in range(bounds[y], bounds[y + 1]):
                    x = predecessors[p]
                    score = prefix[x] + transitions[x * n_labels + y]
                    if score > best:
                        best = score
                        best_x = x
                extended[y] = best + emissions[i * n_labels + y]
                back[y] = <uint16_t> best_x
            prefix, extended = extended, prefix
        self._prefix = prefix
        self._next = extended

    cdef double finish(self, Py_ssize_t n, uint16_t* path) noexcept nogil:
        """Write the best path over all `n` positions, and return its score.

        The score is minus infinity if the graph and the mask leave no path; `path` then has no
        meaning.
        """
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef double best = -INFINITY
        cdef Py_ssize_t y
        cdef Py_ssize_t i
        cdef uint16_t label = 0
        if n == 0:
            return 0.0
        for y in range(n_labels):
            if (self.open_end or self.graph.may_end[y]) and self._prefix[y] > best:
                best = self._prefix[y]
                label = <uint16_t> y
        for i in range(n - 1, -1, -1):
            path[i] = label
            label = self._back[i * n_labels + label]
        return best


cdef class NBestViterbi:
    """A decoder for the n best paths. It holds working memory: use one in each thread.

    `open_start` and `open_end` are as in `Viterbi`.
    """

    def __init__(self, LabelGraph graph not None):
        self.graph = graph

    def __dealloc__(self):
        free(self._prefix)
        free(self._back)

    def __reduce__(self):
        return NBestViterbi, (self.graph,)

    cdef int solve(
        self, const double* emissions, const double* transitions, const uint8_t* mask,
        Py_ssize_t n, Py_ssize_t k,
    ) except -1 nogil:
        """Find the `k` best paths to every label of every position; n ≥ 1, k ≥ 1.

        Each label keeps a list of its k best prefixes, best first. A back pointer is the
        predecessor's label times k plus the rank in the predecessor's list.
        """
        cdef Py_ssize_t n_labels = self.graph.n_labels
        cdef Py_ssize_t width = n_labels * k
        cdef double* prefix
        cdef double* extended
        cdef double* scores
        cdef uint32_t* back
        cdef double score
        cdef Py_ssize_t i
        cdef Py_ssize_t y
        cdef Py_ssize_t r
        cdef Py_ssize_t slot
        cdef int32_t first
        cdef int32_t p
        cdef int32_t x
        if k > MAX_BEST // n_labels:
            with gil:
                raise ValueError(f"{k:,} best paths are more than can be told apart")
        reserve(<void**> &self._prefix, &self._prefix_capacity, 2 * width, sizeof(double))
        reserve(<void**> &self._back, &self._back_capacity, (n + 1) * width, sizeof(uint32_t))
        for i in range(n):
            prefix = self._prefix + ((i + 1) % 2) * width
            extended = self._prefix + (i % 2) * width
            for y in range(n_labels):
                scores = extended + y * k
                back = self._back + i * width + y * k
                for r in range(k):
                    scores[r] = -INFINITY
                    back[r] = 0
                if mask != NULL and not mask[i * n_labels + y]:
                    continue
                if i == 0:
                    if self.open_start or self.graph.may_start[y]:
                        scores[0] = emissions[y]
                    continue
                first = self.graph.first_predecessor[y]
                for p in range(first, self.graph.first_predecessor[y + 1]):
                    x = self.graph.predecessors[p]
                    for r in range(k):
                        score = prefix[x * k + r] + transitions[x * n_labels + y]
                        if not score > scores[k - 1]:
                            break
                        slot = k - 1
                        while slot > 0 and score > scores[slot - 1]:
                            scores[slot] = scores[slot - 1]
                            back[slot] = back[slot - 1]
                            slot -= 1
                        scores[slot] = score
                        back[slot] = <uint32_t> (x * k + r)
                for r in range(k):
                    scores[r] += emissions[i * n_labels + y]
        # The last list gathers the ends of whole paths, in the room of position n.
        prefix = self._prefix + ((n + 1) % 2) * width
        scores = self._prefix + (n % 2) * width
        back = self._back + n * width
        for r in range(k):
            scores[r] = -INFINITY
            back[r] = 0
        for y in range(n_labels):
            if not (self.open_end or self.graph.may_end[y]):
                continue
            for r in range(k):
                score = prefix[y * k + r]
                if not score > scores[k - 1]:
                    break
                slot = k - 1
                while slot > 0 and score > scores[slot - 1]:
                    scores[slot] = scores[slot - 1]
                    back[slot] = back[slot - 1]
                    slot -= 1
                scores[slot] = score
                back[slot] = <uint32_t> (y * k + r)
        return 0

    cdef double path(
        self, Py_ssize_t n, Py_ssize_t k, Py_ssize_t rank, uint16_t* path
    ) noexcept nogil:
        """Write the path of a rank, counted from 0, and return its score.

        The score is minus infinity if there are not so many paths.
        """
        cdef Py_ssize_t width = self.graph.n_labels * k
        cdef double score = self._prefix[(n % 2) * width + rank]
        cdef uint32_t pointer = self._back[n * width + rank]
        cdef Py_ssize_t i
        for i in range(n - 1, -1, -1):
            path[i] = <uint16_t> (pointer // k)
            pointer = self._back[i * width + pointer]
        return score


def _check_scores(LabelGraph graph, emissions, transitions, mask):
    emissions = np.ascontiguousarray(emissions, dtype=np.float64)
    transitions = np.ascontiguousarray(transitions, dtype=np.float64)
    if emissions.ndim != 2 or emissions.shape[1] != graph.n_labels:
        raise ValueError(
            f"emissions need the shape (n, {graph.n_labels}), not {emissions.shape}"
        )
    if transitions.shape != (graph.n_labels, graph.n_labels):
        raise ValueError(
            f"transitions need the shape {(graph.n_labels, graph.n_labels)}, "
            f"not {transitions.shape}"
        )
    for scores in (emissions, transitions):
        # Not a number fails the comparison too; larger ones might overflow when added up.
        if not (np.abs(scores) <= 1e100).all():
            raise ValueError("a score is not a finite number between -1e100 and 1e100")
    if mask is not None:
        mask = np.ascontiguousarray(mask, dtype=bool).view(np.uint8)
        if mask.shape != emissions.shape:
            raise ValueError(f"a mask needs the shape {emissions.shape}, not {mask.shape}")
    return emissions, transitions, mask


def viterbi(LabelGraph graph not None, emissions, transitions, mask=None, Py_ssize_t block=0):
    """The best path and its score: (score, uint16 array of shape (n,)).

    graph: what is legal. emissions, transitions, mask: see the module; true marks the labels that
    a mask allows. block: how many positions to take in at a time, by default all.
    Raises ValueError if shapes do not agree, a score is not finite, or no path is legal.
    """
    emissions, transitions, mask = _check_scores(graph, emissions, transitions, mask)
    cdef const double[:, ::1] scores = emissions
    cdef const double[:, ::1] bigrams = transitions
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
    decoder.reserve_positions(n)
    while first < n:
        count = n - first if block <= 0 else min(block, n - first)
        decoder.advance(
            &scores[first, 0], &bigrams[0, 0], NULL if mask is None else &allowed[first, 0],
            first, count,
        )
        first += count
    score = decoder.finish(n, &labels[0])
    if score == -INFINITY:
        raise ValueError("no sequence of labels is legal under this mask")
    return score, path


def viterbi_nbest(
    LabelGraph graph not None, emissions, transitions, Py_ssize_t k, mask=None
):
    """The `k` best paths, best first: a list of (score, uint16 array of shape (n,)).

    Arguments as for `viterbi`. The list is shorter if fewer paths are legal.
    Raises ValueError if shapes do not agree, a score is not finite, or k < 1.
    """
    emissions, transitions, mask = _check_scores(graph, emissions, transitions, mask)
    cdef const double[:, ::1] scores = emissions
    cdef const double[:, ::1] bigrams = transitions
    cdef const uint8_t[:, ::1] allowed = None
    cdef Py_ssize_t n = scores.shape[0]
    cdef NBestViterbi decoder = NBestViterbi(graph)
    cdef uint16_t[::1] labels
    if k < 1:
        raise ValueError(f"at least one path must be asked for, not {k}")
    if n == 0:
        return [(0.0, np.zeros(0, dtype=np.uint16))]
    if mask is not None:
        allowed = mask
    # There are not more paths than these, however many are asked for.
    k = min(<object> k, (<object> graph.n_labels) ** (<object> min(n, 64)))
    decoder.solve(
        &scores[0, 0], &bigrams[0, 0], NULL if mask is None else &allowed[0, 0], n, k
    )
    paths = []
    for rank in range(k):
        path = np.empty(n, dtype=np.uint16)
        labels = path
        score = decoder.path(n, k, rank, &labels[0])
        if score == -INFINITY:
            break
        paths.append((score, path))
    return paths
