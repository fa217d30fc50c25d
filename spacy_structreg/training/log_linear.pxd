from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t

from spacy_structreg.learn.log_linear cimport LogLinearLearner
from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.search.marginals cimport SumProduct
from spacy_structreg.search.viterbi cimport LabelGraph
from spacy_structreg.tasks.chain cimport ChainData, ChainFeatures, Listed


ctypedef struct Shares:
    # What a visit counts: the likelihood 1 or 0, the noising regularizer any part of 1.
    double likelihood
    double noise


cdef enum Deed:
    SQUARE
    PULL_SUMS
    PULL_VALUES


cdef class LogLinearTrainer(BufferOwner):
    cdef readonly ChainFeatures features
    cdef readonly LabelGraph graph
    cdef readonly LogLinearLearner learner
    cdef SumProduct _sums
    cdef SumProduct _masked_sums  # within the mask of a sequence that is annotated in part
    cdef double* _masked_scores
    cdef double _variance
    cdef bint _additive
    cdef bint _gaussian
    cdef bint _pulls_features   # noise pulls at the weights of features that fire, each by itself
    # Of additive noise: the sum of the squares of all weights of a label, or pair of labels, as
    # tables hold them, and that of μ (1 - μ) over the positions visited.
    cdef double* _label_squares
    cdef double* _pair_squares
    cdef double* _label_doubts
    cdef double* _pair_doubts
    cdef double _decay_upper
    cdef double _decay_lower
    cdef int _window            # -1: the whole sequence
    cdef double _loss
    cdef double _most           # how far noise may move a score in one step
    cdef double _l1_due           # what L1 has taken from every weight in an epoch so far,
    cdef double** _l1_paid  # and how much of it each row has paid; NULL without L1
    cdef double** _rates        # of each row, with how it was used; NULL for one rate
    cdef double* _pairs         # weights of pairs of labels
    cdef int32_t* _pair_rows
    cdef int32_t* _rows         # of the piece at work
    # By position and label, or pair of labels: scores; what the score adds to the gradient of each
    # weight in it, a part that does not depend on the weight, and a factor of the weight; variances
    # of scores; the c of the module; and what is expected of them before and after a position.
    cdef double* _scores
    cdef double* _edges
    cdef double* _steps
    cdef double* _pair_steps
    cdef double* _edge_steps
    cdef double* _pulls
    cdef double* _pair_pulls
    cdef double* _edge_pulls
    cdef double* _variances
    cdef double* _edge_variances
    cdef double* _weights
    cdef double* _forward
    cdef double* _backward
    cdef double* _reached
    cdef double* _passed
    cdef double* _moved

    cdef void _visit_all(self, void** tables, Deed deed, double factor) noexcept nogil
    cdef tuple _shares(self, list chains)
    cdef ChainData* _views(self, list chains, BufferOwner owner) except NULL
    cdef int _reserve(self, Py_ssize_t count) except -1
    cdef void _read_pairs(self, void** tables) noexcept nogil
    cdef Py_ssize_t _score_gradient(
        self, void** tables, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count,
        Shares shares,
    ) except -1 nogil
    cdef Py_ssize_t _compare(self, const uint16_t* gold, Py_ssize_t count) noexcept nogil
    cdef Py_ssize_t _compare_sums(self, const uint8_t* mask, Py_ssize_t count) except -1 nogil
    cdef void _compute_variances(
        self, void** tables, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count
    ) noexcept nogil
    cdef void _add_variances(
        self, void* table, const Listed* listed, Py_ssize_t position, double* variances
    ) noexcept nogil
    cdef const double* _marginals(self, Py_ssize_t i) noexcept nogil
    cdef void _add_uncertainty(self, Py_ssize_t i, double share) noexcept nogil
    cdef void _gaussian_gradient(self, Py_ssize_t count, double share) noexcept nogil
    cdef void _noise_gradient(self, Py_ssize_t count, double share) noexcept nogil
    cdef void _step_forward(self, Py_ssize_t i, const double* before, double* after) noexcept nogil
    cdef void _step_backward(self, Py_ssize_t i, const double* after, double* before) noexcept nogil
    cdef void _noise_gradient_at(
        self, Py_ssize_t i, const double* before, const double* after, double share
    ) noexcept nogil
    cdef void _update_weights(
        self, void** tables, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count,
        double step,
    ) noexcept nogil
    cdef void _feature_gradient(
        self, void** tables, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count,
        double factor, bint into_sums,
    ) noexcept nogil
    cdef double _row_rate(self, int table, Py_ssize_t row) noexcept nogil
    cdef void _end_window(self, void** tables, double l1, double l2) noexcept nogil
    cdef void _list_gradient(
        self, void** tables, int table, const Listed* listed, Py_ssize_t position,
        const double* steps, const double* pulls, double factor, bint into_sums,
    ) noexcept nogil
    cdef void _row_gradient(
        self, void* table, int32_t row, const double* steps, const double* pulls, double value,
        double factor, bint into_sums,
    ) noexcept nogil
    cdef void _apply_l1_to_piece(
        self, void** tables, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count
    ) noexcept nogil
    cdef void _apply_l1(self, void** tables, int table, Py_ssize_t row) noexcept nogil
    cdef void _finish_l1(self, void** tables) noexcept nogil
    cdef void _fold(self, void** tables) noexcept nogil
