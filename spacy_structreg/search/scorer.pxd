cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from spacy_structreg.search.transition_system cimport (
    MAX_ANCHORS,
    MAX_ATOMS_OF_TASK,
    TransitionSystem,
)

cdef enum:
    MAX_ATOMS_OF_STATE_TEMPLATE = 8


ctypedef struct StateTemplateSpec:
    uint64_t seed  # the hash as far as it depends on the template alone
    int n_atoms
    int atoms[MAX_ATOMS_OF_STATE_TEMPLATE]
    int many  # which of its atoms has many values; -1 if none has


ctypedef struct GroupSpec:
    int event
    int n_anchors
    int anchors[MAX_ANCHORS]
    uint64_t wanted  # the atoms that its templates read
    int first        # its templates are specs[first : last]
    int last
    bint lasts       # its scores are the same in every sentence
    bint single      # it has one template, with one value


ctypedef struct Memory:
    uint64_t signature
    int64_t vector
    int64_t age


ctypedef struct Job:
    # Scores of a group: the rows of keys[first : last], added up.
    int group
    int64_t vector      # where they are added up
    int64_t total       # the vector that they are added to then; -1 if there is none
    Py_ssize_t first
    Py_ssize_t last
    uint64_t signature
    Py_ssize_t lasting  # where they are kept for later sentences; -1 if they are not
    bint ready          # they are kept there already


@cython.final
cdef class StateScorer:
    cdef readonly TransitionSystem system
    cdef readonly tuple groups
    cdef readonly tuple tables
    cdef readonly bint memo
    cdef readonly int n_events
    cdef void** _tables
    cdef int* _widths
    cdef int* _offsets
    cdef double* _event_scores
    cdef GroupSpec* _groups
    cdef StateTemplateSpec* _specs
    cdef int* _first_group         # the groups of event e are those from [e] to [e + 1];
    cdef int* _n_of_place          # so many of them, the first, follow from the place
    cdef uint64_t* _events         # of each action, as bits
    cdef int _n_groups
    cdef bint _plain               # there is one event, whose columns are the actions
    cdef bint _trained             # the weights never change
    cdef Memory* _memories
    cdef Py_ssize_t _n_memories
    cdef Py_ssize_t _memory_slots
    cdef int64_t _age
    # What lasts from sentence to sentence: where signatures fall, the last of them stays.
    cdef bint _lasts
    cdef uint64_t* _lasting
    cdef double* _lasting_vectors  # (_lasting_slots, _lasting_width)
    cdef Py_ssize_t _lasting_slots
    cdef Py_ssize_t _lasting_width
    cdef double* _vectors
    cdef Py_ssize_t _n_vector_cells
    cdef Py_ssize_t _vector_capacity
    cdef uint64_t* _keys
    cdef int32_t* _rows
    cdef Py_ssize_t _n_keys
    cdef Py_ssize_t _key_capacity
    cdef Py_ssize_t _row_capacity
    cdef Job* _jobs
    cdef Py_ssize_t _n_jobs
    cdef Py_ssize_t _job_capacity
    # Of the states that are scored together.
    cdef uint64_t* _anchors        # (n, n_anchors)
    cdef Py_ssize_t _anchor_capacity
    cdef uint64_t* _raised         # the events, as bits
    cdef Py_ssize_t _raised_capacity
    cdef int64_t* _places          # (n, n_groups): of the vectors of their groups, or of rows
    cdef Py_ssize_t _place_capacity
    # Of one state: its atoms, and which of them are known.
    cdef uint64_t _values[MAX_ATOMS_OF_TASK]
    cdef uint64_t _mixed[MAX_ATOMS_OF_TASK]   # the same, as hashes take them
    cdef uint64_t _filled
    # Of a training.
    cdef bint training
    cdef int64_t time
    cdef uint64_t draw
    cdef uint64_t threshold

    cdef void forget(self) noexcept nogil
    cdef int score(
        self, const void* states, Py_ssize_t n, const uint8_t* masks, double* scores
    ) except -1 nogil
    cdef int remember_places(
        self, const void* states, Py_ssize_t n, const uint8_t* masks
    ) except -1 nogil
    cdef int _remember(
        self, const void* states, Py_ssize_t n, const uint8_t* masks, bint places_only
    ) except -1 nogil
    cdef int _score_event(
        self, const char* states, Py_ssize_t n, int event, bint places_only
    ) except -1 nogil
    cdef bint _is_known(
        self, int g, const uint64_t* anchors, uint64_t* signature, int64_t* vector
    ) noexcept nogil
    cdef int64_t _new_memory(self, int g, uint64_t signature) except -1 nogil
    cdef int _add_job(
        self, int g, const char* state, const uint64_t* anchors, int64_t vector, int64_t total
    ) except -1 nogil
    cdef int _do_jobs(self, int event) except -1 nogil
    cdef int64_t _new_vector(self, int width) except -1 nogil
    cdef int _make_lasting(self) except -1 nogil
    cdef uint64_t _signature(self, int g, const uint64_t* anchors) noexcept nogil
    cdef int collect(
        self, const void* state, const GroupSpec* group
    ) except -1 nogil
    cdef int _reserve_keys(self, Py_ssize_t n) except -1 nogil
    cdef void _add_feature(self, int event, const StateTemplateSpec* spec) noexcept nogil
    cdef Memory* _memory_of(self, uint64_t signature) noexcept nogil
    cdef int _grow_memories(self) except -1 nogil
    cdef uint64_t draw_of(self, int table) noexcept nogil
