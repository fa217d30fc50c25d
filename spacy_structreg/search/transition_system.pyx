"""Interface of a task for the agenda: its states and their legal actions.

A *state* is a block of `state_size` bytes without pointers into itself. A task declares

- *atoms*, the numbers that templates read (`NULL_ATOM` for none), and for each atom the *anchors*
  that it depends on: small numbers that say what a state refers to, such as where its last word
  begins. States that agree in the anchors of an atom agree in the atom. It may have several
  values;
- *events*, on which templates fire, and how many columns their scores have. An action fires one
  or more, each with the column that belongs to it: its score is the sum of these. Each event has
  a table of weights, which it may share with others that read other atoms by the same names;
- *slots*, in which states compete: places of the agenda, visited in rising order. Every action
  leads to a later slot than that of its state. In some they may just wait for a later one.

A system holds the sentence that it works on, and so belongs to one thread at a time.
"""

from libc.stdint cimport int32_t, uint8_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner, reserve, reserve_zeros


cdef class TransitionSystem(BufferOwner):
    """The base of all transition systems; it has no actions. The methods are for compiled code."""

    def __cinit__(self, *args, **kwargs):
        self.events = {}
        self.variants = {}
        self.tables = {}
        self.event_tables = ()
        self.atoms = ()
        self.atom_anchors = ()
        self.multi_valued = ()
        self.global_anchors = ()
        self.position_anchors = ()
        self.slots.ranking_action = -1

    cdef int fire_events(self, list of_actions) except -1:
        """Register the events of each action, as pairs of name and column.

        `events` is known before, and so is `variants`: of each table that several events share, a
        dictionary of their names, and of the atoms that each of them reads in place of those that
        templates name. All other events have a table of their own, of the same name.
        """
        cdef int action
        cdef int n = 0
        names = list(self.events)
        shared = {event: table for table, events in self.variants.items() for event in events}
        self.tables = {shared.get(event, event): width for event, width in self.events.items()}
        self.event_tables = tuple(
            [list(self.tables).index(shared.get(event, event)) for event in names]
        )
        self.n_actions = len(of_actions)
        reserve(&self.buffers, self.fired, <Py_ssize_t> sum(map(len, of_actions)))
        reserve_zeros(&self.buffers, self.first_fired, self.n_actions + 1)
        for action, events in enumerate(of_actions):
            for name, column in events:
                if not 0 <= column < self.events[name]:
                    raise ValueError(f"column {column} of the event {name!r} is out of range")
                self.fired[n] = FiredEvent(names.index(name), column)
                n += 1
            self.first_fired[action + 1] = n
        return 0

    cdef int sort_actions(self, list kinds, bint compete=False) except -1:
        """Set the kind of each action; actions of one kind lead to states with equal features.

        kinds: of each action, below `MAX_KINDS`; -1 for an action that is like no other. Merging
        then looks at the best of each kind only. compete: let the search do so without merging as
        well, where actions of one kind differ little in what they lead to.
        """
        cdef int action
        reserve_zeros(&self.buffers, self.kinds, self.n_actions)
        for action, kind in enumerate(kinds):
            if not -1 <= kind < MAX_KINDS:
                raise ValueError(f"too many kinds of actions: {kind + 1}")
            self.kinds[action] = kind
        self.n_kinds = max(kinds) + 1
        self.kinds_compete = compete
        return 0

    cdef int load_part(
        self, const void* sentence, Py_ssize_t begin, Py_ssize_t count, double dropout,
        uint64_t* noise,
    ) except -1 nogil:
        """Load a part of a training sentence: `count` positions from `begin` on.

        Atoms see the whole sentence, but nothing that is decided before `begin` or after the part.
        dropout: the probability that a token is hidden, drawn from `noise`; atoms that would show
        a hidden token are null.
        """
        return 0

    cdef void constrain(self, const void* known) noexcept nogil:
        """Restrict `legal` to actions consistent with a partial annotation; NULL lifts that.

        known: as the task has compiled it. Loading another part lifts it, too.
        """

    cdef int observe_gold(
        self, const void* sentence, const int32_t* actions, const void* known, Py_ssize_t begin,
        Py_ssize_t count,
    ) except -1 nogil:
        """Update statistics of the system from a training sentence, if it has any.

        Called before a part of it is loaded to be decoded: `count` positions from `begin` on.
        actions: of gold, the first of the sentence first. known: NULL, or what is known of the
        sentence, as the task has compiled it; there is no gold then.
        """
        return 0

    cdef int unload(self) except -1 nogil:
        """Unload the sentence: drop all pointers to memory of others.

        Whoever has loaded a sentence calls it before anything of it may go.
        """
        return 0

    cdef Py_ssize_t n_slots(self) noexcept nogil:
        """Number of slots of the sentence. The state of `init` stands in the first."""
        return 0

    cdef int reserve_states(self, Py_ssize_t n) except -1 nogil:
        """Reserve memory for `n` more states written by `apply`.

        For systems whose states share what they have in common outside of their blocks.
        """
        return 0

    cdef void init(self, void* state) noexcept nogil:
        """Write the state before the first action."""

    cdef bint is_final(self, const void* state) noexcept nogil:
        """Return True for a final state.

        If slots end early, states of one slot may have different numbers of actions before them:
        one that is final takes an action that fires no event and changes nothing, to the next slot,
        and the search ends as soon as the best of a slot is final.
        """
        return True

    cdef void legal(self, const void* state, uint8_t* mask) noexcept nogil:
        """Set the flag of each legal action; all flags are 0 on entry."""

    cdef int only_action(self, const void* state) noexcept nogil:
        """Return the only legal action if it can be found faster than by `legal`, else -1."""
        return -1

    cdef void apply(self, const void* state, int action, void* after) noexcept nogil:
        """Write the state that a legal action leads to."""

    cdef Py_ssize_t slot(self, const void* state, int action) noexcept nogil:
        """Return the slot of the successor, if slots differ from steps."""
        return 0

    cdef uint64_t signature(self, const void* state, int action) noexcept nogil:
        """Return a hash of the successor's properties that later scores depend on."""
        return 0

    cdef uint64_t apply_on(
        self, const void* state, int action, const void* below, void* after
    ) noexcept nogil:
        """As `apply`, of an action that takes what lies below the top of the stack; returns the
        signature of the state.

        Of a task whose states are the top of a stack. Merging keeps one state for all that look
        alike, which may lie on different ones: those in which an action below `first_pop` put a new
        top on the stack. Actions from there on take what lies below, and are tried with each of
        these. below: the state that is there, which is no part of the signature.
        """
        return 0

    cdef void anchors(self, const void* state, uint64_t* values) noexcept nogil:
        """Write the anchors of a state."""

    cdef void fill_atoms(
        self, const void* state, const AtomSet* wanted, uint64_t* values
    ) noexcept nogil:
        """Write at least the wanted atoms."""

    cdef Py_ssize_t multi_values(
        self, const void* state, int atom, const uint64_t** values
    ) noexcept nogil:
        """Point to the values of a multi-valued atom; returns their number."""
        return 0

    cdef double external_score(self, const void* state, int action) noexcept nogil:
        """A score of another model that is added to an action's; if `has_external_score`."""
        return 0.0

    cdef double heuristic(self, const void* state, int action) noexcept nogil:
        """The best score that the rest may add, for the ranking of states; if `has_heuristic`."""
        return 0.0
