"""Labels of sequences whose streams and lists of features are given as arrays."""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy

from spacy_structreg.learn.memory cimport capacity_of
from spacy_structreg.search.marginals cimport SumProduct
from spacy_structreg.tasks.chain cimport ChainDecoder

import numpy as np

from spacy_structreg.tasks.chain import checked_list


cdef class LabelDecoder:
    """Labels sequences by trained weights. It holds working memory: use one in each thread.

    What it takes of a sequence is what `ChainFeatures.compile` takes: symbols, uint64 of shape
    (n_streams, n + 2 * reach), and lists of features. Its methods raise ValueError if shapes do
    not agree.
    """

    def __init__(self, ChainDecoder chain not None):
        if self.chain is not None:
            raise TypeError("a decoder cannot be initialized twice")
        self.chain = chain

    def __reduce__(self):
        return LabelDecoder, (self.chain,)

    @property
    def capacity(self):
        """Capacity of the working memory, in positions."""
        return max(
            capacity_of(self.chain._scores) // self.chain.features.n_labels,
            self.chain.capacity_of_pairs(),
        )

    cdef Py_ssize_t _load(self, symbols, lists) except -1:
        """Load a sequence; return its number of positions."""
        cdef const uint64_t[:, ::1] streams = symbols
        cdef Py_ssize_t reach = self.chain.features.reach
        cdef Py_ssize_t n = streams.shape[1] - 2 * reach
        cdef const int64_t[::1] starts
        cdef const uint64_t[::1] keys
        cdef const double[::1] values
        cdef const uint64_t* key = NULL
        cdef uint64_t* target
        cdef Py_ssize_t s
        if n < 0 or streams.shape[0] != self.chain.features.n_streams:
            raise ValueError(
                f"symbols of shape {symbols.shape} do not fit {self.chain.features.n_streams} "
                f"streams with {reach} of padding on both sides"
            )
        if len(lists) != self.chain.features.n_lists:
            raise ValueError(
                f"{len(lists)} lists of features do not fit {self.chain.features.lists}"
            )
        target = self.chain.symbols_for(n) - reach
        for s in range(streams.shape[0]):
            memcpy(
                target + s * self.chain.stride, &streams[s, 0],
                streams.shape[1] * sizeof(uint64_t),
            )
        for number, listed in enumerate(lists):
            checked = checked_list(listed, n)
            starts = checked[0]
            keys = checked[1]
            values = checked[2]
            key = &keys[0] if keys.shape[0] else NULL
            self.chain.take_list(
                number, n, &starts[0], key,
                &values[0] if checked[2] is not None and keys.shape[0] else NULL,
            )
        return n

    def label(self, symbols, lists=(), allowed=None):
        """The best labels of a sequence: uint16 of shape (n,).

        allowed: bool of shape (n, n_labels), which labels each position may have; None for all.
        Raises ValueError if that leaves no legal sequence.
        """
        cdef Py_ssize_t n = self._load(symbols, lists)
        cdef bint masked = allowed is not None
        cdef const uint8_t[:, ::1] mask
        cdef double score = 0.0
        cdef uint16_t[::1] view
        path = np.zeros(n, dtype=np.uint16)
        if masked:
            allowed = np.ascontiguousarray(allowed, dtype=bool).view(np.uint8)
            if allowed.shape != (n, self.chain.features.n_labels):
                raise ValueError(
                    f"allowed labels of shape {allowed.shape} do not fit {n} positions and "
                    f"{self.chain.features.n_labels} labels"
                )
        if n:
            view = path
            if masked:
                mask = allowed
                memcpy(self.chain.mask_for(n), &mask[0, 0], n * mask.shape[1])
            with nogil:
                score = self.chain.decode(n, masked, &view[0])
        if score == -INFINITY:
            raise ValueError("no legal sequence within the allowed labels")
        return path

    def nbest(self, symbols, lists, Py_ssize_t k):
        """The `k` best labelings, best first: a list of (score, uint16 of shape (n,)).

        It is shorter if there are fewer. Raises ValueError if k < 1, and if a model with edge
        features would need too much memory.
        """
        cdef Py_ssize_t n = self._load(symbols, lists)
        cdef Py_ssize_t rank
        cdef uint16_t[::1] view
        if k < 1:
            raise ValueError(f"k must be at least 1, got {k}")
        if n == 0:
            return [(0.0, np.zeros(0, dtype=np.uint16))]
        self.chain.solve_nbest(n, False)
        paths = []
        for rank in range(k):
            path = np.empty(n, dtype=np.uint16)
            view = path
            score = self.chain.nbest_path(rank, &view[0])
            if score == -INFINITY:
                break
            paths.append((score, path))
        return paths

    def marginals(self, symbols, lists=()):
        """The probability of every label at every position: float64 of shape (n, n_labels).

        They are those of a conditional random field, whatever the weights were trained for. Raises
        ValueError, too, if a model with edge features would need too much memory.
        """
        cdef Py_ssize_t n = self._load(symbols, lists)
        cdef double[:, ::1] view
        probabilities = np.zeros((n, self.chain.features.n_labels))
        if n == 0:
            return probabilities
        if self._sums is None:
            self._sums = SumProduct(self.chain.graph)
            self._sums.bind(self.chain.transitions)
        view = probabilities
        with nogil:
            self._sums.solve(
                self.chain.emissions(0, n), self.chain.all_edges(n, 2), n, False
            )
            memcpy(&view[0, 0], self._sums.nodes, n * view.shape[1] * sizeof(double))
        return probabilities
