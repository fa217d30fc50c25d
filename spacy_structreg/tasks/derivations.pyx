"""Gold derivations: compiled training sentences with their gold actions."""

from spacy_structreg.learn.memory cimport BufferOwner, reserve


cdef class Derivation(BufferOwner):
    """A training sentence of a transition system, in the form in which kernels read it.

    Tasks make it. n: how many positions it has; position i is decided by action i, the actions
    beyond end the derivation. units: where the derivation may be cut: the positions at which its
    units (words) begin, rising from 0, and n at the end. numbering: of the rows (`Learner`).
    is_partial: whether only something is known of it, so that there are no gold actions.
    """

    def __init__(self):
        raise TypeError("a derivation is made by the compile method of a task")

    @staticmethod
    cdef Derivation make(
        Py_ssize_t n, Py_ssize_t n_actions, Py_ssize_t sentence_size, object numbering
    ):
        """Room for the actions and for a sentence of `sentence_size` bytes, to be filled in."""
        cdef Derivation derivation = Derivation.__new__(Derivation)
        reserve(&derivation.buffers, derivation.actions, n_actions)
        reserve(&derivation.buffers, derivation.sentence, sentence_size)
        derivation.n = n
        derivation.n_actions = n_actions
        derivation.numbering = numbering
        return derivation

    def __len__(self):
        return self.n

    @property
    def is_partial(self):
        return self.known != NULL

    @property
    def gold(self):
        """The gold actions."""
        return [self.actions[i] for i in range(self.n_actions)]

    def __reduce__(self):
        raise TypeError(
            "a derivation belongs to a running training and cannot be pickled; "
            "compile it again where it is needed"
        )
