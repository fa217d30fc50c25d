"""The structured perceptron on label chains: one pass over a corpus as one call."""

from libc.stdint cimport int32_t, int64_t, uint16_t
from libc.stdlib cimport free, malloc

from spacy_structreg.learn.memory cimport reserve
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.learn.rows cimport TrainingRows
from spacy_structreg.search.viterbi cimport LabelGraph, Viterbi
from spacy_structreg.tasks.chain cimport ChainFeatures, CompiledChain

import numpy as np


cdef class ChainTrainer:
    """Trains a learner on compiled sequences. One thread at a time may use it.

    features, graph: of the model. learner: the `Perceptron` that the sequences were compiled for.
    """

    def __init__(
        self, ChainFeatures features not None, LabelGraph graph not None,
        Perceptron learner not None,
    ):
        cdef TrainingRows table
        if tuple([t.n_columns for t in learner.tables]) != features.widths:
            raise ValueError("the learner belongs to other features")
        if graph.n_labels != features.n_labels:
            raise ValueError("the graph of labels belongs to other features")
        self.features = features
        self.graph = graph
        self.learner = learner
        self._viterbi = Viterbi(graph)
        if features.tag_bigram >= 0:
            table = learner.tables[features.tag_bigram]
            if table.adaptive or table.insert(0) != 0:
                raise ValueError("the tag bigram needs one dense row")
        free(self._transitions)
        self._transitions = <double*> malloc(
            features.n_labels * features.n_labels * sizeof(double)
        )
        if self._transitions == NULL:
            raise MemoryError("no memory for a trainer")
        for i in range(features.n_labels * features.n_labels):
            self._transitions[i] = 0.0

    def __dealloc__(self):
        free(self._transitions)
        free(self._scores)
        free(self._path)

    def __reduce__(self):
        return ChainTrainer, (self.features, self.graph, self.learner)

    def epoch(self, chains, order):
        """Visit each sequence once and correct the weights where the prediction is wrong.

        chains: a list of `CompiledChain`. order: the numbers of the chains to visit, integers.
        Returns how many sequences, and how many labels in all, were predicted wrongly.
        The GIL is released. Raises IndexError if `order` names a sequence that does not exist,
        ValueError if a sequence was compiled for another learner.
        """
        cdef CompiledChain chain
        cdef const int64_t[::1] visits = np.ascontiguousarray(order, dtype=np.int64)
        cdef Py_ssize_t n_chains = len(chains)
        cdef Py_ssize_t n_wrong = 0
        cdef Py_ssize_t n_labels_wrong = 0
        cdef Py_ssize_t wrong
        cdef Py_ssize_t i
        cdef void** tables
        cdef ChainView* views
        for visit in visits:
            if not 0 <= visit < n_chains:
                raise IndexError(f"there is no sequence {visit} among {n_chains:,}")
        views = <ChainView*> malloc(max(1, n_chains) * sizeof(ChainView))
        tables = <void**> malloc(max(1, self.features.n_shapes) * sizeof(void*))
        try:
            if views == NULL or tables == NULL:
                raise MemoryError(f"no memory for {n_chains:,} sequences")
            for i, chain in enumerate(chains):
                if chain.learner is not self.learner:
                    raise ValueError(f"sequence {i} was compiled for another learner")
                views[i] = ChainView(chain.n, chain.labels, chain.rows)
            for i, table in enumerate(self.learner.tables):
                tables[i] = <void*> table
            with nogil:
                for i in range(visits.shape[0]):
                    wrong = self._visit(tables, &views[visits[i]])
                    n_labels_wrong += wrong
                    n_wrong += wrong > 0
        finally:
            free(views)
            free(tables)
        return n_wrong, n_labels_wrong

    cdef Py_ssize_t _visit(self, void** tables, const ChainView* chain) except -1 nogil:
        """Decode one sequence and update; returns how many labels were wrong."""
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef Py_ssize_t overhang = self.features.overhang
        cdef Py_ssize_t wrong = 0
        cdef const double* transitions = self._transitions
        cdef double* scores
        cdef Py_ssize_t i
        self.learner.clock += 1
        if chain.n == 0:
            return 0
        reserve(
            <void**> &self._scores, &self._score_capacity,
            (chain.n + 2 * overhang) * n_labels, sizeof(double),
        )
        reserve(<void**> &self._path, &self._path_capacity, chain.n, sizeof(uint16_t))
        self._viterbi.reserve_positions(chain.n)
        scores = self._scores + overhang * n_labels
        if self.features.tag_bigram >= 0:
            transitions = (<TrainingRows> tables[self.features.tag_bigram]).dense_row(0)
        self.features.emissions(tables, chain.rows, chain.n, scores)
        self._viterbi.advance(scores, transitions, NULL, 0, chain.n)
        self._viterbi.finish(chain.n, self._path)
        for i in range(chain.n):
            wrong += self._path[i] != chain.labels[i]
        if wrong:
            self._update(tables, chain)
        return wrong

    cdef int _update(self, void** tables, const ChainView* chain) except -1 nogil:
        """Add the features of the gold labels and take away those of the predicted ones."""
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef const uint16_t* gold = chain.labels
        cdef const uint16_t* path = self._path
        cdef const int32_t* rows = chain.rows
        cdef int64_t time = self.learner.clock
        cdef Py_ssize_t i
        cdef int n_shifts
        cdef int block
        cdef int s
        for s in range(self.features.n_shapes):
            if s == self.features.tag_bigram:
                for i in range(1, chain.n):
                    if gold[i] != path[i] or gold[i - 1] != path[i - 1]:
                        (<TrainingRows> tables[s]).update(
                            0, gold[i - 1] * n_labels + gold[i], 1.0, time
                        )
                        (<TrainingRows> tables[s]).update(
                            0, path[i - 1] * n_labels + path[i], -1.0, time
                        )
                continue
            n_shifts = self.features.specs[s].n_shifts
            for i in range(chain.n):
                if gold[i] == path[i]:
                    continue
                for block in range(n_shifts):
                    # Row i + n_shifts - 1 - block holds position i in its block of that number.
                    (<TrainingRows> tables[s]).update(
                        rows[i + n_shifts - 1 - block], block * n_labels + gold[i], 1.0, time
                    )
                    (<TrainingRows> tables[s]).update(
                        rows[i + n_shifts - 1 - block], block * n_labels + path[i], -1.0, time
                    )
            rows += chain.n + n_shifts - 1
        return 0
