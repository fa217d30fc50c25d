from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t

from spacy_structreg.learn.memory cimport BufferOwner

ctypedef struct Run:
    # Labels first, first + 1, …, last - 1, whose predecessors move along with them: predecessor j
    # of label first + t is predecessors[origins + j] + t.
    int32_t first
    int32_t last
    int32_t fan_in
    int32_t origins
    int32_t edges  # where their transitions stand in `Transitions.edges`, fan_in times the length

ctypedef struct Lattice:
    # A sequence that may be labeled in several ways, each with labels of its own: columns, each of
    # which stands at a position and has a row of the mask. See the module.
    Py_ssize_t n
    const int32_t* positions  # of each column, rising
    const int32_t* first      # (n + 1,): the columns before c: before[first[c] : first[c + 1]]
    const int32_t* before
    const double* scores      # of the steps from `before`, beside it; NULL for none
    const double* last        # of ending at a column, of each; NULL for none


ctypedef struct Hub:
    # Labels that share all their predecessors: predecessors[origins : origins + fan_in]. The
    # labels are spans of numbers, first and last + 1 of each in spans[first_span : last_span].
    int32_t first_span
    int32_t last_span
    int32_t fan_in
    int32_t origins
    int32_t bounds  # where their bounds stand in `Transitions.most` and `least`


cdef class LabelGraph(BufferOwner):
    # What may follow what: the legal predecessors of label y are
    # predecessors[first_predecessor[y] : first_predecessor[y + 1]], rising.
    cdef readonly Py_ssize_t n_labels
    cdef readonly object legal
    cdef readonly object starts
    cdef readonly object ends
    cdef readonly bint by_blocks
    cdef int32_t* first_predecessor
    cdef int32_t* predecessors
    cdef uint8_t* may_start
    cdef uint8_t* may_end
    cdef Run* runs
    cdef Hub* hubs
    cdef int32_t* spans
    cdef int32_t* hub_of
    cdef Py_ssize_t n_runs
    cdef Py_ssize_t n_hubs
    cdef Py_ssize_t n_edges
    cdef Py_ssize_t n_bounds
    # Of few labels the predecessors once more, `fan_in` of each: where there are fewer, the first
    # one is repeated. 0 for graphs of more labels.
    cdef int fan_in
    cdef uint8_t* padded

    cdef int _find_blocks(self) except -1
    cdef int _pad_predecessors(self) except -1


cdef class Transitions(BufferOwner):
    cdef readonly LabelGraph graph
    cdef const double* scores
    cdef double* edges
    cdef double* most
    cdef double* least
    cdef double* reached

    cdef void bind(self, const double* scores) noexcept nogil
    cdef void refresh(self, Py_ssize_t label) noexcept nogil
    cdef void _bound(self, const Hub* hub, Py_ssize_t place) noexcept nogil
    cdef void step(
        self, const double* prefix, const double* emissions, const double* edges,
        const uint8_t* mask, double* extended, uint8_t* back,
    ) noexcept nogil
    cdef void _step_run(self, const Run* run, const double* prefix, double* extended) noexcept nogil
    cdef void _step_hub(self, const Hub* hub, const double* prefix, double* extended) noexcept nogil
    cdef uint16_t best_predecessor(
        self, const double* prefix, const double* edges, Py_ssize_t label
    ) noexcept nogil


cdef class Viterbi(BufferOwner):
    cdef readonly LabelGraph graph
    cdef readonly Transitions transitions
    cdef double* table
    # (n, n_labels): the best predecessors, beside the table, if `_is_traced`.
    cdef uint8_t* _back
    cdef bint _is_traced
    cdef uint8_t* _alive
    cdef double* _merged
    cdef const Lattice* lattice
    cdef Py_ssize_t _base  # all before this position is settled
    cdef Py_ssize_t _due
    cdef bint open_start
    cdef bint open_end
    cdef const double* edges
    cdef Py_ssize_t edges_from

    cdef int reserve_positions(self, Py_ssize_t n) except -1 nogil
    cdef const double* edges_to(self, Py_ssize_t position) noexcept nogil
    cdef bint _has_pointers(self) noexcept nogil
    cdef int advance(
        self, const double* emissions, const uint8_t* mask, Py_ssize_t first, Py_ssize_t count
    ) except -1 nogil
    cdef int walk(
        self, const double* emissions, const uint8_t* mask, const Lattice* lattice,
        Py_ssize_t first, Py_ssize_t last,
    ) except -1 nogil
    cdef Py_ssize_t position_of(self, Py_ssize_t column) noexcept nogil
    cdef double step_score(self, Py_ssize_t b) noexcept nogil
    cdef double last_score(self, Py_ssize_t column) noexcept nogil
    cdef const double* _prefix(self, Py_ssize_t column) noexcept nogil
    cdef void go_back(self, Py_ssize_t* column, uint16_t* label) noexcept nogil
    cdef uint16_t _before(self, Py_ssize_t position, Py_ssize_t label) noexcept nogil
    cdef void settle(self, Py_ssize_t n, uint16_t* path) noexcept nogil
    cdef double finish(self, Py_ssize_t n, uint16_t* path) noexcept nogil
    cdef void _trace(self, Py_ssize_t column, uint16_t label, uint16_t* path) noexcept nogil


ctypedef struct Candidate:
    # A path to a node: its score without the node's emission, and the path that it continues, to a
    # cell: column * n_labels + label. `step` is the score of going from the cell to the node.
    double score
    double step
    uint32_t rank
    int32_t cell

ctypedef struct Node:
    # The paths to one label of one column. Of candidates[first : first + n] the first n_found
    # are its best paths, best first.
    Py_ssize_t first
    uint32_t n
    uint32_t n_found
    uint32_t room


cdef class NBestViterbi(BufferOwner):
    cdef readonly LabelGraph graph
    cdef readonly Viterbi best
    cdef const double* _emissions
    cdef int32_t* _node_of
    cdef Node* _nodes
    cdef Candidate* _candidates
    cdef int32_t* _chain
    cdef Py_ssize_t _n
    cdef Py_ssize_t _n_columns
    cdef Py_ssize_t _n_nodes
    cdef Py_ssize_t _n_candidates

    cdef int solve(
        self, const double* emissions, const uint8_t* mask, Py_ssize_t n, const Lattice* lattice
    ) except -1 nogil
    cdef double path(self, Py_ssize_t rank, uint16_t* path) except? -1 nogil
    cdef Py_ssize_t _node(self, int32_t cell) except -1 nogil
    cdef int _add_before(
        self, Node* node, Py_ssize_t column, Py_ssize_t label, double score
    ) except -1 nogil
    cdef double _pair(self, Py_ssize_t position, Py_ssize_t x, Py_ssize_t y) noexcept nogil
    cdef int _room_for(self, Node* node, uint32_t n) except -1 nogil
    cdef bint _take_best(self, Node* node) noexcept nogil
    cdef bint _find_next(self) except -1 nogil
