"""Gold derivations: training sentences as what a transition system sees and the gold actions."""

from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc


cdef class Derivation:
    """A training sentence of a transition system, in the form in which kernels read it.

    Tasks make it. n: how many positions it has; position i is decided by action i, the actions
    beyond end the derivation. units: where the derivation may be cut: the positions at which its
    units (words) begin, rising from 0, and n at the end. lineage: of the learner that it was made
    for.
    """

    def __init__(self):
        raise TypeError("a derivation is made by the compile method of a task")

    @staticmethod
    cdef Derivation make(
        Py_ssize_t n, Py_ssize_t n_actions, size_t sentence_size, object lineage
    ):
        """Room for the actions and for a sentence of `sentence_size` bytes, to be filled in."""
        cdef Derivation derivation = Derivation.__new__(Derivation)
        derivation.actions = <int32_t*> malloc(max(1, n_actions) * sizeof(int32_t))
        derivation.sentence = malloc(max(1, sentence_size))
        if derivation.actions == NULL or derivation.sentence == NULL:
            raise MemoryError(f"no memory for a sentence of {n:,} positions")
        derivation.n = n
        derivation.n_actions = n_actions
        derivation.lineage = lineage
        return derivation

    def __dealloc__(self):
        free(self.actions)
        free(self.sentence)

    def __len__(self):
        return self.n

    @property
    def gold(self):
        """The gold actions."""
        return [self.actions[i] for i in range(self.n_actions)]

    def __reduce__(self):
        raise TypeError(
            "a derivation belongs to a running training and cannot be pickled; "
            "compile it again where it is needed"
        )
