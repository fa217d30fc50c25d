"""What the agenda knows of a task."""

from libc.stdint cimport uint8_t, uint64_t

cdef enum:
    # An atom of this value silences every template that reads it.
    NULL_ATOM = 0
    MAX_ATOMS_OF_TASK = 64
    MAX_ANCHORS = 16
    MAX_EVENTS = 64
    MAX_EVENTS_OF_ACTION = 4
    MAX_KINDS = 8
    FINAL = -1


ctypedef struct Raised:
    # An event that an action raises, and the column of its scores that belongs to the action.
    int event
    int column


cdef class TransitionSystem:
    # Fixed when the system is made.
    cdef readonly Py_ssize_t state_size
    cdef readonly int n_actions
    cdef readonly tuple atoms            # names; number i stands at values[i]
    cdef readonly tuple atom_anchors     # for each atom the anchors that it depends on
    cdef readonly tuple many_valued      # the atoms that may have several values
    cdef readonly dict events            # names, and how many columns their scores have
    cdef readonly int n_anchors
    cdef readonly tuple lasting_anchors  # those whose values mean the same in every sentence
    cdef readonly tuple place            # an anchor, and others that follow from it in a sentence
    cdef readonly bint has_bonus
    cdef readonly bint has_outlook
    cdef readonly bint in_step           # slots are the numbers of actions taken
    cdef readonly bint has_free_slots    # in some slots states do not compete: see `keeps_all`
    cdef readonly bint ends_early        # final states go on, until the best is one: see `is_final`
    cdef readonly bint has_stack         # a state may lie on others: see `apply_on`
    cdef readonly bint follows_gold      # a gold action is right only after those before it
    cdef Raised* raised                  # (n_actions, MAX_EVENTS_OF_ACTION)
    cdef int* n_raised                   # (n_actions,)

    cdef int n_kinds                     # of actions, if there are any
    cdef int* kinds                      # (n_actions,); see `sort_actions`

    cdef int raise_events(self, list of_actions) except -1
    cdef int sort_actions(self, list kinds) except -1

    cdef int present(
        self, const void* sentence, Py_ssize_t begin, Py_ssize_t count, double dropout,
        uint64_t* noise,
    ) except -1 nogil
    cdef int release(self) except -1 nogil

    # Of the sentence that is loaded.
    cdef Py_ssize_t n_slots(self) noexcept nogil
    cdef int make_room(self, Py_ssize_t n) except -1 nogil
    cdef void init(self, void* state) noexcept nogil
    cdef bint is_final(self, const void* state) noexcept nogil
    cdef void legal(self, const void* state, uint8_t* mask) noexcept nogil
    cdef void apply(self, const void* state, int action, void* after) noexcept nogil
    cdef Py_ssize_t slot(self, const void* state, int action) noexcept nogil
    cdef bint keeps_all(self, Py_ssize_t slot) noexcept nogil
    cdef uint64_t signature(self, const void* state, int action) noexcept nogil
    cdef bint takes_below(self, int action) noexcept nogil
    cdef void apply_on(
        self, const void* state, int action, const void* below, void* after
    ) noexcept nogil
    cdef uint64_t signature_on(
        self, const void* state, int action, const void* below
    ) noexcept nogil
    cdef void anchors(self, const void* state, uint64_t* values) noexcept nogil
    cdef void fill_atoms(
        self, const void* state, uint64_t wanted, uint64_t* values
    ) noexcept nogil
    cdef Py_ssize_t many(
        self, const void* state, int atom, const uint64_t** values
    ) noexcept nogil
    cdef double bonus(self, const void* state, int action) noexcept nogil
    cdef double outlook(self, const void* state, int action) noexcept nogil
