"""Contract between the agenda and a task."""

from libc.stdint cimport int32_t, uint8_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner

cdef enum:
    # An atom of this value silences every template that reads it.
    NULL_ATOM = 0
    MAX_ATOMS_OF_TASK = 256
    WORDS_OF_ATOM_SET = 4
    MAX_ANCHORS = 32
    MAX_EVENTS = 64
    MAX_KINDS = 8


ctypedef struct AtomSet:
    # Numbers of atoms, as bits.
    uint64_t words[WORDS_OF_ATOM_SET]


cdef inline void add_atom(AtomSet* atoms, int atom) noexcept nogil:
    atoms.words[atom >> 6] |= <uint64_t> 1 << (atom & 63)


cdef inline bint has_atom(const AtomSet* atoms, int atom) noexcept nogil:
    return atoms.words[atom >> 6] >> (atom & 63) & 1


ctypedef struct FiredEvent:
    # An event that an action fires, and the column of its scores that belongs to the action.
    int event
    int column


ctypedef struct SlotPolicy:
    # How states compete in slots.
    bint in_step            # slots are the numbers of actions taken: `slot` is not asked
    bint ends_early         # final states go on, until the best is one: see `is_final`
    # In every so many slots, the first and not the last, states wait: they all go on, whatever the
    # width, and are not merged. 0: in none.
    Py_ssize_t period
    # If there is a period: where they do not wait, but in the last slot, candidates are ranked by
    # the score that their parent's action of this number would have, legal or not, in place of that
    # of the action taken, unless there is no limit of the width. Its events are among those of all
    # actions that lead there. -1: they are ranked by their own.
    int ranking_action
    # Of the sentence that is loaded: whether what one slot that is ranked so keeps, all do that the
    # same states lead to. The actions that lead there are the last ones then, and the same are
    # legal for all these states. It does not count where external scores, heuristics, or costs of
    # actions that differ from gold tell the slots apart.
    bint alike


cdef inline bint is_waiting(
    const SlotPolicy* slots, Py_ssize_t slot, Py_ssize_t last
) noexcept nogil:
    """True if the states of a slot do not compete. last: the last slot."""
    return slots.period > 0 and slot < last and slot % slots.period == 0


cdef class TransitionSystem(BufferOwner):
    # Fixed when the system is made.
    cdef readonly Py_ssize_t state_size
    cdef readonly int n_actions
    cdef readonly tuple atoms            # names; number i stands at values[i]
    cdef readonly tuple atom_anchors     # for each atom the anchors that it depends on
    cdef readonly tuple multi_valued     # the atoms that may have several values
    cdef readonly dict events            # names, and how many columns their scores have
    cdef readonly dict variants          # tables of several events: see `fire_events`
    cdef readonly dict tables            # of weights: names, and how many columns they have
    cdef readonly tuple event_tables     # of each event, the number of its table
    cdef readonly int n_anchors
    cdef readonly tuple global_anchors   # those whose values mean the same in every sentence
    cdef readonly tuple position_anchors  # an anchor, and others that follow from it in a sentence
    cdef readonly bint has_external_score
    cdef readonly bint has_heuristic
    cdef SlotPolicy slots
    cdef int first_pop                   # from this action on, see `apply_on`; 0 without a stack
    cdef readonly bint fills_together    # all atoms of a state cost little more than one of them
    cdef readonly bint static_oracle     # a gold action is right only after those before it
    cdef FiredEvent* fired               # those of action a: first_fired[a] to first_fired[a + 1]
    cdef int* first_fired

    cdef int n_kinds                     # of actions, if there are any
    cdef int* kinds                      # (n_actions,); see `sort_actions`
    cdef readonly bint kinds_compete     # without merging, too

    cdef int fire_events(self, list of_actions) except -1
    cdef int sort_actions(self, list kinds, bint compete=*) except -1

    cdef int load_part(
        self, const void* sentence, Py_ssize_t begin, Py_ssize_t count, double dropout,
        uint64_t* noise,
    ) except -1 nogil
    cdef int observe_gold(
        self, const void* sentence, const int32_t* actions, const void* known, Py_ssize_t begin,
        Py_ssize_t count,
    ) except -1 nogil
    cdef int unload(self) except -1 nogil
    cdef void constrain(self, const void* known) noexcept nogil

    # Of the sentence that is loaded.
    cdef Py_ssize_t n_slots(self) noexcept nogil
    cdef int reserve_states(self, Py_ssize_t n) except -1 nogil
    cdef void init(self, void* state) noexcept nogil
    cdef bint is_final(self, const void* state) noexcept nogil
    cdef void legal(self, const void* state, uint8_t* mask) noexcept nogil
    cdef int only_action(self, const void* state) noexcept nogil
    cdef void apply(self, const void* state, int action, void* after) noexcept nogil
    cdef Py_ssize_t slot(self, const void* state, int action) noexcept nogil
    cdef uint64_t signature(self, const void* state, int action) noexcept nogil
    cdef uint64_t apply_on(
        self, const void* state, int action, const void* below, void* after
    ) noexcept nogil
    cdef void anchors(self, const void* state, uint64_t* values) noexcept nogil
    cdef void fill_atoms(
        self, const void* state, const AtomSet* wanted, uint64_t* values
    ) noexcept nogil
    cdef Py_ssize_t multi_values(
        self, const void* state, int atom, const uint64_t** values
    ) noexcept nogil
    cdef double external_score(self, const void* state, int action) noexcept nogil
    cdef double heuristic(self, const void* state, int action) noexcept nogil
