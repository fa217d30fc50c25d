cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from spacy_structreg.learn.changes cimport Changes
from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.search.transition_system cimport (
    MAX_ANCHORS,
    MAX_ATOMS_OF_TASK,
    AtomSet,
    TransitionSystem,
)

cdef enum:
    MAX_ATOMS_OF_STATE_TEMPLATE = 8


ctypedef struct StateTemplateSpec:
    uint64_t seed  # the hash as far as it depends on the template alone
    int n_atoms
    int atoms[MAX_ATOMS_OF_STATE_TEMPLATE]
    int multi        # which of its atoms has several values; -1 if none has


ctypedef struct GroupSpec:
    int event
    int n_anchors
    int anchors[MAX_ANCHORS]
    AtomSet wanted   # the atoms that its templates read
    int first        # its templates are specs[first : last]
    int last
    bint is_cached   # its scores are the same in every sentence
    bint recurs      # later states often need it again, even of a state that is scored alone


ctypedef struct MemoEntry:
    uint64_t signature
    int64_t vector
    int64_t age


ctypedef struct FoundRow:
    uint64_t key
    int32_t row    # -1 if there is none
    int32_t table  # counted from 1; 0 for an empty place


ctypedef struct Job:
    # Scores of a group: the rows of keys[first : last], added up.
    int group
    int64_t vector      # where they are added up
    int64_t total       # the vector that they are added to then; -1 if there is none
    Py_ssize_t first
    Py_ssize_t last
    uint64_t signature
    Py_ssize_t cached   # where they are kept for later sentences; -1 if they are not
    bint ready          # they are kept there already


@cython.final
cdef class StateScorer(BufferOwner):
    cdef readonly TransitionSystem system
    cdef readonly tuple groups
    cdef readonly tuple tables
    cdef readonly bint memo
    cdef readonly int n_events
    cdef void** _tables            # of each event
    cdef int* _table_numbers
    cdef int* _widths
    cdef int* _offsets
    cdef double* _event_scores
    cdef int* _fired_scores        # of each fired event: where its score stands among these
    cdef GroupSpec* _groups
    cdef StateTemplateSpec* _specs
    cdef int* _first_group         # the groups of event e are those from [e] to [e + 1];
    cdef int* _n_positional          # so many of them, the first, follow from the place
    cdef uint64_t* _events         # of each action, as bits
    cdef int* _columns             # (n_actions, n_events): which one an action fires, if it is one
    cdef uint64_t* _group_anchors  # of each group, as bits
    cdef int _n_groups
    cdef bint _plain               # there is one event, whose columns are the actions
    cdef bint _trained             # the weights never change
    cdef MemoEntry* _entries
    cdef MemoEntry* _spare_entries   # where they lay before they grew
    cdef Py_ssize_t _n_entries
    cdef Py_ssize_t _memo_slots
    cdef int64_t _age
    # What is kept from sentence to sentence: where signatures fall, the last of them stays.
    cdef bint _caches
    cdef uint64_t* _cache_signatures
    cdef double* _cache_vectors  # (_cache_slots, _cache_width)
    cdef Py_ssize_t _cache_slots
    cdef Py_ssize_t _cache_width
    cdef double* _vectors
    cdef Py_ssize_t _n_vector_cells
    cdef const double** _addends   # the vectors of the groups of a state
    cdef uint64_t* _keys
    cdef int32_t* _rows
    cdef Py_ssize_t _n_keys
    # Rows that were found last, where their keys fall; NULL if weights may change.
    cdef FoundRow* _found
    cdef uint64_t* _new_keys       # those that were not found among these, their places, and rows
    cdef int32_t* _new_places
    cdef int32_t* _new_rows
    cdef Job* _jobs
    cdef Py_ssize_t _n_jobs
    # Of the states that are scored together.
    cdef uint64_t* _anchors        # (n, n_anchors)
    cdef uint64_t* _fired          # the events, as bits
    cdef bint _is_apart            # what is the same for all is left out:
    cdef uint64_t _shared_events     # events that all their actions fire, with the same column,
    cdef uint64_t _shared_anchors    # and anchors whose values they share, as bits
    cdef uint64_t* _group_signatures   # (n, n_groups)
    cdef int64_t* _places          # (n, n_groups): of the vectors of their groups; NOWHERE for none
    # Of one state: its atoms, and which of them are known.
    cdef uint64_t _values[MAX_ATOMS_OF_TASK]
    cdef uint64_t _mixed[MAX_ATOMS_OF_TASK]   # the same, as hashes take them
    cdef AtomSet _filled
    cdef AtomSet _wanted       # those with one value that templates read
    # Of a training.
    cdef bint _training
    cdef int64_t _time
    cdef uint64_t _draw
    cdef uint64_t _threshold

    cdef void clear_memo(self) noexcept nogil
    cdef int score(
        self, const void* states, Py_ssize_t n, const uint8_t* masks, double* scores
    ) except -1 nogil
    cdef int score_apart(
        self, const void* states, Py_ssize_t n, const uint8_t* masks, double* scores
    ) except -1 nogil
    cdef void _find_shared(self, Py_ssize_t n, const uint8_t* masks) noexcept nogil
    cdef int prefill_memo(
        self, const void* states, Py_ssize_t n, const uint8_t* masks
    ) except -1 nogil
    cdef int _fill_memo(
        self, const void* states, Py_ssize_t n, const uint8_t* masks, bint places_only
    ) except -1 nogil
    cdef int _score_event(
        self, const char* states, Py_ssize_t n, int event, bint places_only
    ) except -1 nogil
    cdef bint _is_known(self, uint64_t signature, int64_t* vector) noexcept nogil
    cdef int64_t _new_entry(self, int g, uint64_t signature) except -1 nogil
    cdef int _add_job(
        self, int g, const char* state, const uint64_t* anchors, int64_t vector, int64_t total
    ) except -1 nogil
    cdef int _add_rest(self, int first, const char* state, const int64_t* places) except -1 nogil
    cdef int _do_jobs(self, int event) except -1 nogil
    cdef int _find_rows(self, int event) except -1 nogil
    cdef int64_t _new_vector(self, int width) except -1 nogil
    cdef int _make_cache(self) except -1 nogil
    cdef uint64_t _signature(self, int g, const uint64_t* anchors) noexcept nogil
    cdef int _add_features(self, const void* state, const GroupSpec* group) except -1 nogil
    cdef int _reserve_keys(self, Py_ssize_t n) except -1 nogil
    cdef void _add_feature(self, int event, const StateTemplateSpec* spec) noexcept nogil
    cdef int _features_of(self, const void* state, int event) except -1 nogil
    cdef MemoEntry* _entry_of(self, uint64_t signature) noexcept nogil
    cdef int _grow_memo(self) except -1 nogil

    cdef void begin_training(self, uint64_t threshold) noexcept nogil
    cdef void set_time(self, int64_t time) noexcept nogil
    cdef void set_draw(self, uint64_t draw) noexcept nogil
    cdef int add_changes(
        self, const void* state, int action, double sign, Changes changes
    ) except -1 nogil
    cdef int count_features(
        self, const void* state, int action, void** counts
    ) except -1 nogil
