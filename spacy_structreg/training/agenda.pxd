from libc.stdint cimport int32_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.search.agenda cimport Agenda
from spacy_structreg.search.scorer cimport StateScorer
from spacy_structreg.search.transition_system cimport TransitionSystem
from spacy_structreg.tasks.derivations cimport Derivation

cdef enum UpdatePoint:
    EARLY
    MAX_VIOLATION
    PLAIN
    EVERY


ctypedef struct DerivationView:
    # What the kernel reads of a derivation.
    Py_ssize_t n
    Py_ssize_t n_actions
    const int32_t* actions
    const void* sentence
    const void* known


cdef class AgendaTrainer(BufferOwner):
    cdef readonly Agenda agenda
    cdef readonly StateScorer scorer
    cdef readonly TransitionSystem system
    cdef readonly Perceptron learner
    cdef readonly UpdatePoint update
    cdef uint64_t _noise
    cdef double _dropout
    cdef uint64_t _threshold
    cdef char* _gold_states
    cdef char* _states
    cdef int32_t* _predicted
    cdef int32_t* _latent  # the best actions that go with what is known

    cdef Py_ssize_t _visit(
        self, const DerivationView* derivation, Py_ssize_t begin, Py_ssize_t count
    ) except -1 nogil
    cdef Py_ssize_t _find_latent(
        self, const DerivationView* derivation, Py_ssize_t begin, Py_ssize_t count
    ) except -1 nogil
    cdef int _load(
        self, const DerivationView* derivation, Py_ssize_t begin, Py_ssize_t count,
        uint64_t* noise,
    ) except -1 nogil
    cdef Py_ssize_t _visit_every(
        self, const int32_t* gold, Py_ssize_t n_gold
    ) except -1 nogil
    cdef Py_ssize_t _walk(
        self, const int32_t* gold, Py_ssize_t n_gold, Py_ssize_t* step, double* loss
    ) except? -2 nogil
    cdef int _compare(
        self, const int32_t* gold, Py_ssize_t n_gold, Py_ssize_t n_predicted
    ) except -1 nogil
    cdef list _counts(self, derivations)
    cdef DerivationView _view(self, Derivation derivation, Py_ssize_t number) except *
    cdef int _count(self, const DerivationView* derivation, void** counts) except -1 nogil
