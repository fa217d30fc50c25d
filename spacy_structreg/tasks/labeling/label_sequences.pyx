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

    cdef list _read(self, Sequences* read, symbols, lists, Py_ssize_t n_sequences):
        """Find where the arrays of sequences lie; return those of lists, which are to be kept."""
        cdef const uint64_t[:, ::1] streams = symbols
        cdef Py_ssize_t reach = self.chain.features.reach
        cdef const int64_t[::1] starts
        cdef const uint64_t[::1] keys
        cdef const double[::1] values
        read.n = streams.shape[1] - (n_sequences + 1) * reach
        if read.n < 0 or streams.shape[0] != self.chain.features.n_streams:
            raise ValueError(
                f"symbols of shape {symbols.shape} do not fit {self.chain.features.n_streams} "
                f"streams with {reach} of padding on both sides"
            )
        if len(lists) != self.chain.features.n_lists:
            raise ValueError(
                f"{len(lists)} lists of features do not fit {self.chain.features.lists}"
            )
        read.symbols = &streams[0, 0] if streams.shape[0] else NULL
        read.stride = streams.shape[1]
        lists = [checked_list(listed, read.n) for listed in lists]
        for number, checked in enumerate(lists):
            starts = checked[0]
            keys = checked[1]
            values = checked[2]
            read.starts[number] = &starts[0]
            read.keys[number] = &keys[0] if keys.shape[0] else NULL
            read.values[number] = (
                &values[0] if checked[2] is not None and keys.shape[0] else NULL
            )
        return lists

    cdef int _load(
        self, const Sequences* read, Py_ssize_t number, Py_ssize_t first, Py_ssize_t n
    ) except -1 nogil:
        """Load the sequence of this number, of `n` positions; before it stand `first`."""
        cdef Py_ssize_t reach = self.chain.features.reach
        cdef uint64_t* target = self.chain.symbols_for(n) - reach
        cdef Py_ssize_t s
        cdef int k
        for s in range(self.chain.features.n_streams):
            memcpy(
                target + s * self.chain.stride,
                read.symbols + s * read.stride + first + number * reach,
                self.chain.stride * sizeof(uint64_t),
            )
        for k in range(self.chain.features.n_lists):
            self.chain.take_list(
                k, n, read.starts[k] + first, read.keys[k], read.values[k]
            )
        return 0

    cdef Py_ssize_t _load_one(self, symbols, lists) except -1:
        """Load a single sequence; return its number of positions."""
        cdef Sequences read
        _kept = self._read(&read, symbols, lists, 1)
        self._load(&read, 0, 0, read.n)
        return read.n

    def label(self, symbols, lists=(), allowed=None, lengths=None):
        """The best labels of sequences, one after the other: uint16 of shape (n,).

        lengths: of the sequences, n in all, int64 of shape (n_sequences,); None for a single one.
            symbols then have the shape (n_streams, n + (n_sequences + 1) * reach), padding
            standing before, between and behind them.
        allowed: bool of shape (n, n_labels), which labels each position may have; None for all.
        Raises ValueError if that leaves no legal sequence.
        """
        cdef Sequences read
        cdef const int64_t[::1] each
        cdef Py_ssize_t n_sequences = 1 if lengths is None else len(lengths)
        cdef Py_ssize_t n_labels = self.chain.features.n_labels
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t k
        cdef bint masked = allowed is not None
        cdef const uint8_t[:, ::1] mask
        cdef double score = 0.0
        cdef uint16_t[::1] view
        _kept = self._read(&read, symbols, lists, n_sequences)
        lengths = np.array([read.n] if lengths is None else lengths, dtype=np.int64)
        if lengths.min(initial=0) < 0 or lengths.sum() != read.n:
            raise ValueError(f"sequences of {lengths.sum()} positions do not fit {read.n}")
        if masked:
            allowed = np.ascontiguousarray(allowed, dtype=bool).view(np.uint8)
            if allowed.shape != (read.n, n_labels):
                raise ValueError(
                    f"allowed labels of shape {allowed.shape} do not fit {read.n} positions and "
                    f"{n_labels} labels"
                )
            mask = allowed
        path = np.zeros(read.n, dtype=np.uint16)
        view = path
        each = lengths
        with nogil:
            for k in range(n_sequences):
                if each[k] == 0:
                    continue
                self._load(&read, k, first, each[k])
                if masked:
                    memcpy(self.chain.mask_for(each[k]), &mask[first, 0], each[k] * n_labels)
                score = self.chain.decode(each[k], masked, &view[first])
                if score == -INFINITY:
                    break
                first += each[k]
        if score == -INFINITY:
            raise ValueError("no legal sequence within the allowed labels")
        return path

    def nbest(self, symbols, lists, Py_ssize_t k):
        """The `k` best labelings, best first: a list of (score, uint16 of shape (n,)).

        It is shorter if there are fewer. Raises ValueError if k < 1, and if a model with edge
        features would need too much memory.
        """
        cdef Py_ssize_t n = self._load_one(symbols, lists)
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
        cdef Py_ssize_t n = self._load_one(symbols, lists)
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
