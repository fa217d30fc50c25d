from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

from spacy_structreg.learn.frozen_rows cimport Term, WeightKind
from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.learn.rows cimport TrainingRows
from spacy_structreg.search.viterbi cimport LabelGraph, Lattice, NBestViterbi, Viterbi

cdef enum:
    MAX_ATOMS_OF_SHAPE = 8
    MAX_LISTS = 2

ctypedef struct ShapeSpec:
    int n_atoms
    int streams[MAX_ATOMS_OF_SHAPE]
    int offsets[MAX_ATOMS_OF_SHAPE]  # from the anchor, ≥ 0
    int bits[MAX_ATOMS_OF_SHAPE]
    bint packed
    int lowest
    int n_shifts

ctypedef struct Listed:
    # The features of each position in one list: of position i, cells starts[i] to starts[i + 1].
    int64_t* starts
    int32_t* rows
    double* values  # NULL: all are 1

ctypedef struct ChainData:
    # A training sequence. labels: NULL if nothing is known of them. mask: (n, n_labels), which
    # labels may be right; NULL if `labels` are, which else are only those of the mask that come
    # first.
    Py_ssize_t n
    uint16_t* labels
    uint8_t* mask
    int32_t* rows
    Listed lists[MAX_LISTS]


cdef class ChainFeatures(BufferOwner):
    cdef readonly tuple shapes
    cdef readonly dict atoms
    cdef readonly Py_ssize_t n_labels
    cdef readonly int reach
    cdef readonly int overhang
    cdef readonly int n_shapes
    cdef readonly int n_streams
    cdef readonly int tag_bigram
    cdef readonly Py_ssize_t n_pair_rows
    cdef readonly tuple lists
    cdef readonly int n_lists
    cdef readonly int label_list  # their numbers, -1 where there is none
    cdef readonly int edge_list
    cdef readonly tuple edge_shapes
    cdef readonly int n_edges
    cdef readonly int n_given
    cdef ShapeSpec* specs  # of the shapes, and behind them those of edges

    cdef Py_ssize_t rows_of(self, Py_ssize_t n) noexcept nogil
    cdef void keys(
        self, int shape, const uint64_t* symbols, Py_ssize_t stride, Py_ssize_t first,
        Py_ssize_t count, uint64_t* keys,
    ) noexcept nogil
    cdef void list_edges(
        self, const uint64_t* symbols, Py_ssize_t stride, Py_ssize_t n, int64_t* starts,
        uint64_t* keys,
    ) noexcept nogil
    cdef bint hides_edge(
        self, const uint8_t* hidden, Py_ssize_t position, Py_ssize_t edge
    ) noexcept nogil
    cdef void emissions(
        self, void** tables, const int32_t* rows, Py_ssize_t n, double* scores
    ) noexcept nogil
    cdef void listed_emissions(
        self, void** tables, const Listed* listed, Py_ssize_t begin, Py_ssize_t count,
        double* scores,
    ) noexcept nogil
    cdef void edges(
        self, void** tables, const Listed* listed, Py_ssize_t begin, Py_ssize_t count,
        double* scores,
    ) noexcept nogil
    cdef int check_pairs(self, Py_ssize_t n, Py_ssize_t n_tables) except -1 nogil
    cdef void slice_rows(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t begin, Py_ssize_t count,
        int32_t* part,
    ) noexcept nogil
    cdef void hide_rows(
        self, const uint8_t* hidden, Py_ssize_t count, int32_t* rows
    ) noexcept nogil


cdef class CompiledChain(BufferOwner):
    cdef readonly object numbering
    cdef readonly Py_ssize_t n_rows_known
    cdef ChainData data

    @staticmethod
    cdef CompiledChain make(Py_ssize_t n, Py_ssize_t n_rows, bint labeled, object numbering)

    cdef int take_list(
        self, int number, starts, keys, values, TrainingRows table
    ) except -1


cdef class ChainDecoder(BufferOwner):
    cdef readonly ChainFeatures features
    cdef readonly LabelGraph graph
    cdef readonly tuple tables
    cdef void** _tables
    cdef Viterbi viterbi
    cdef NBestViterbi _nbest
    cdef double* transitions
    cdef uint64_t* _symbols
    cdef uint64_t* _keys
    cdef int32_t* _rows
    cdef double* _scores
    cdef double* _edges
    cdef Py_ssize_t _n_together  # whose pairs of labels are scored together, of positions
    cdef uint64_t* _edge_keys
    cdef uint8_t* _mask
    cdef Listed _lists[MAX_LISTS]
    cdef Py_ssize_t stride
    # What the scores are sums of, if weights lie so that they can be added together; else none.
    cdef Term* _terms
    cdef Py_ssize_t _n_terms
    cdef WeightKind _kind
    # Of the sequence at hand, or NULL: set by the task, whose it is.
    cdef const Lattice* lattice

    cdef int _find_terms(self) except -1
    cdef uint64_t* symbols_for(self, Py_ssize_t n) except NULL nogil
    cdef uint8_t* mask_for(self, Py_ssize_t n) except NULL nogil
    cdef int take_list(
        self, int number, Py_ssize_t n, const int64_t* starts, const uint64_t* keys,
        const double* values,
    ) except -1 nogil
    cdef const double* emissions(
        self, Py_ssize_t begin, Py_ssize_t count
    ) except NULL nogil
    cdef const double* all_edges(
        self, Py_ssize_t n, Py_ssize_t n_tables
    ) except? NULL nogil
    cdef Py_ssize_t capacity_of_pairs(self) noexcept nogil
    cdef int score_edges(self, Py_ssize_t first, Py_ssize_t count) except -1 nogil
    cdef const double* _score_pairs(
        self, Py_ssize_t begin, Py_ssize_t count
    ) except NULL nogil
    cdef int _find_edges(self, Py_ssize_t begin, Py_ssize_t count) except -1 nogil
    cdef double decode(self, Py_ssize_t n, bint masked, uint16_t* path) except? -1 nogil
    cdef int advance(
        self, const double* emissions, const uint8_t* mask, Py_ssize_t first, Py_ssize_t count
    ) except -1 nogil
    cdef int _walk(self, Py_ssize_t n) except -1 nogil
    cdef int solve_nbest(self, Py_ssize_t n, bint masked) except -1 nogil
    cdef double nbest_path(self, Py_ssize_t rank, uint16_t* path) except? -1 nogil
