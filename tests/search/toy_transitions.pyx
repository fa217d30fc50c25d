"""A transition system over numbers, with more atoms and events than any task.

Compiled by `test_many_atoms`, whose twin computes the same atoms.
"""

from libc.stdint cimport int32_t, uint8_t, uint64_t

from spacy_structreg.learn.memory cimport reserve
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.search.transition_system cimport AtomSet, TransitionSystem, has_atom
from spacy_structreg.tasks.derivations cimport Derivation

import numpy as np

cdef enum:
    POSITION
    LAST
    N_ANCHORS


ctypedef struct ToyState:
    int32_t position
    int32_t last  # the action before, -1 at the beginning


cdef class ToyTransitions(TransitionSystem):
    """One action for each number of a sequence, from `n_actions`, all legal."""

    cdef int n_plain
    cdef Py_ssize_t _n
    cdef const int32_t* _numbers
    cdef uint64_t* _values
    cdef object _kept

    def __init__(self, int n_plain, int n_actions):
        self.n_plain = n_plain
        self.slots.in_step = True
        self.state_size = sizeof(ToyState)
        self.n_anchors = N_ANCHORS
        both = (<int> POSITION, <int> LAST)
        self.atoms = (*(f"a{i}" for i in range(n_plain)), "one", "bag", "set")
        self.atom_anchors = (
            *(both if i % 2 else (<int> POSITION,) for i in range(n_plain)),
            both, (<int> POSITION,), (<int> POSITION,),
        )
        self.multi_valued = ("bag", "set")
        self.events = {"action": n_actions, "one": 1, **{f"mod{k}": k for k in range(2, 8)}}
        self.fire_events([
            [("action", action), ("one", 0), *((f"mod{k}", action % k) for k in range(2, 8))]
            for action in range(n_actions)
        ])

    def __reduce__(self):
        return ToyTransitions, (self.n_plain, self.n_actions)

    def load_words(self, numbers, tags, given):
        """Take a sequence of numbers."""
        cdef const int32_t[::1] view = np.array([len(numbers), *numbers], dtype=np.int32)
        self._kept = view
        self.load_part(&view[0], 0, len(numbers), 0.0, NULL)

    def compile(self, numbers, actions, Perceptron learner not None):
        """A gold sequence."""
        cdef Py_ssize_t n = len(numbers)
        cdef Derivation derivation = Derivation.make(
            n, n, (n + 1) * sizeof(int32_t), learner.numbering
        )
        cdef int32_t* block = <int32_t*> derivation.sentence
        cdef Py_ssize_t i
        block[0] = <int32_t> n
        for i in range(n):
            block[i + 1] = numbers[i]
            derivation.actions[i] = actions[i]
        return derivation

    cdef int load_part(
        self, const void* sentence, Py_ssize_t begin, Py_ssize_t count, double dropout,
        uint64_t* noise,
    ) except -1 nogil:
        self._n = (<const int32_t*> sentence)[0]
        self._numbers = <const int32_t*> sentence + 1
        return 0

    cdef Py_ssize_t n_slots(self) noexcept nogil:
        return self._n + 1

    cdef void init(self, void* state) noexcept nogil:
        (<ToyState*> state).position = 0
        (<ToyState*> state).last = -1

    cdef bint is_final(self, const void* state) noexcept nogil:
        return (<const ToyState*> state).position == self._n

    cdef void legal(self, const void* state, uint8_t* mask) noexcept nogil:
        cdef int action
        for action in range(self.n_actions):
            mask[action] = 1

    cdef void apply(self, const void* state, int action, void* after) noexcept nogil:
        (<ToyState*> after).position = (<const ToyState*> state).position + 1
        (<ToyState*> after).last = action

    cdef uint64_t signature(self, const void* state, int action) noexcept nogil:
        return 1 + <uint64_t> action

    cdef void anchors(self, const void* state, uint64_t* values) noexcept nogil:
        values[POSITION] = <uint64_t> (<const ToyState*> state).position
        values[LAST] = <uint64_t> ((<const ToyState*> state).last + 1)

    cdef void fill_atoms(
        self, const void* state, const AtomSet* wanted, uint64_t* values
    ) noexcept nogil:
        cdef uint64_t number = <uint64_t> self._numbers[(<const ToyState*> state).position]
        cdef uint64_t last = <uint64_t> ((<const ToyState*> state).last + 1)
        cdef int i
        for i in range(self.n_plain):
            if has_atom(wanted, i):
                values[i] = (number * (i + 3) + (last * (i + 5) if i % 2 else i)) % 7
        if has_atom(wanted, self.n_plain):
            values[self.n_plain] = 1

    cdef Py_ssize_t multi_values(
        self, const void* state, int atom, const uint64_t** values
    ) noexcept nogil:
        cdef Py_ssize_t n = (<const ToyState*> state).position + 1
        cdef Py_ssize_t k
        reserve(&self.buffers, self._values, n)
        for k in range(n):
            self._values[k] = 1 + <uint64_t> (
                self._numbers[k] if atom == self.n_plain + 1 else self._numbers[k] % 3
            )
        values[0] = self._values
        return n
