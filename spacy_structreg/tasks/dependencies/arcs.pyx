"""The base of transition systems for dependency trees: sentences, atoms, and a decoder.

States of such a system refer to words as *nodes*: `S0` is the top of the stack, `S1` and `S2` lie
below it, `N0` to `N3` come next in the queue, `N-1` stands before `N0` in the sentence. `h` after a
node is its head, `l` and `r` its outermost child on either side, `h2`, `l2` and `r2` the head of
the head and the children next to the outermost. Beyond the atoms of `tasks.tagged_words`, those of
a node are (`S0` for any)

- ``S0label``: the label of its arc, of nodes that may have a head; ``S0vl``, ``S0vr``: how many
  children it has on each side; ``S0sl``, ``S0sr``: the set of their labels.

Labels and numbers that are not there silence templates.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from spacy_structreg.learn.memory cimport reserve
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.search.agenda cimport Agenda
from spacy_structreg.tasks.derivations cimport Derivation
from spacy_structreg.tasks.tagged_words cimport TaggedWordTransitions, TreeDecoder
from spacy_structreg.tasks.word_fields cimport WordFields

import numpy as np

# Weights of actions, of which a label has two, must fit memory.
MAX_LABELS = 10_000


cdef class DependencyTransitions(TaggedWordTransitions):
    """The base of transition systems that build dependency trees.

    A subclass declares nodes and numbers, what they are in a state, and what actions do; its
    method `oracle` gives the actions that build a tree.
    """

    def __reduce__(self):
        return type(self), (self.words, self.n_labels, self.atoms, tuple(self.tables))

    def copy(self):
        """A system for another thread."""
        return type(self)(self.words, self.n_labels, self.atoms, tuple(self.tables))

    cdef int describe(self, WordFields words, int n_labels, events, known) except -1:
        """Set the common settings of parsing systems. known: names of the events.

        Raises ValueError for other events, and for numbers of labels below 1 or beyond 10,000.
        """
        if not 1 <= n_labels <= MAX_LABELS:
            raise ValueError(
                f"expected 1 to {MAX_LABELS:,} arc labels, got {n_labels:,}"
            )
        unknown = sorted(set(events) - set(known))
        if unknown:
            raise ValueError(f"unknown event {unknown[0]!r}")
        self.words = words
        self.n_labels = n_labels
        self.static_oracle = True
        self.slots.in_step = True
        return 0

    # The sentence ------------------------------------------------------------------------------

    cdef int load(
        self, const uint32_t* text, const int32_t* bounds, const uint64_t* tags, Py_ssize_t n
    ) except -1 nogil:
        TaggedWordTransitions.load(self, text, bounds, tags, n)
        self.constrain(NULL)
        if self._reads_many:
            self._index_tags(tags, n)
        return 0

    cdef void constrain(self, const void* known) noexcept nogil:
        # As `write_known` has laid it out.
        self._heads = <const int32_t*> known
        if known != NULL:
            self._labels = self._heads + self._n
            self._firsts = self._labels + self._n
            self._lasts = self._firsts + self._n
            self._ends = self._lasts + self._n

    cdef int _index_tags(self, const uint64_t* tags, Py_ssize_t n) except -1 nogil:
        """Build the table of the next position of each tag."""
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        self._n_tags = 0
        for i in range(n):
            for k in range(self._n_tags):
                if self._tags[k] == tags[i]:
                    break
            else:
                reserve(&self.buffers, self._tags, self._n_tags + 1)
                self._tags[self._n_tags] = tags[i]
                self._n_tags += 1
        reserve(&self.buffers, self._next, (n + 1) * self._n_tags)
        reserve(&self.buffers, self._between, self._n_tags)
        for k in range(self._n_tags):
            self._next[n * self._n_tags + k] = <int32_t> n
        i = n - 1
        while i >= 0:
            for k in range(self._n_tags):
                self._next[i * self._n_tags + k] = (
                    <int32_t> i if self._tags[k] == tags[i]
                    else self._next[(i + 1) * self._n_tags + k]
                )
            i -= 1
        return 0

    cdef Py_ssize_t tags_between(
        self, Py_ssize_t left, Py_ssize_t right, const uint64_t** values
    ) noexcept nogil:
        """Point to the distinct tags of the words between two; return their number.

        There is nothing between a word and one that is not there.
        """
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t k
        if left < 0 or right >= self._n:
            return 0
        for k in range(self._n_tags):
            if self._next[(left + 1) * self._n_tags + k] < right:
                self._between[n] = self._tags[k]
                n += 1
        values[0] = self._between
        return n

    cdef int32_t[::1] constraints_of(self, given, Py_ssize_t n_words):
        """given: heads and labels of words, as numbers; None for those that are not known."""
        cdef int32_t[::1] known = np.empty(
            max(1, <Py_ssize_t> KNOWN_PER_WORD * n_words), dtype=np.int32
        )
        heads, labels = given
        write_known(&known[0], heads, labels, n_words, self.n_labels)
        return known

    def compile(self, words, tags, heads, labels, Perceptron learner not None):
        """A gold sentence as a `Derivation`; None if it has no words.

        words, tags: lists of strings. heads: of each word the number of its head, `ROOT` for one
        of them. labels: of their arcs, as numbers; that of the root is not looked at. Any may be
        None, for not known; the heads must be part of a projective tree with one root.
        Raises ValueError as `oracle` and `ParseDecoder.parse`, and if the words are too long to be
        counted.
        """
        cdef Derivation derivation
        cdef Py_ssize_t n = len(words)
        if n == 0:
            return None
        if None not in heads and not any(
            label is None and head != ROOT for head, label in zip(heads, labels, strict=True)
        ):
            return self.derivation_of(words, tags, self.oracle(heads, labels), learner.numbering)
        derivation = self.derivation_of(words, tags, [0] * (2 * n - 1), learner.numbering)
        reserve(
            &derivation.buffers, derivation.known,
            <Py_ssize_t> KNOWN_PER_WORD * n * sizeof(int32_t),
        )
        write_known(<int32_t*> derivation.known, heads, labels, n, self.n_labels)
        return derivation

    # What a transition system says of its states -------------------------------------------------

    cdef Py_ssize_t n_steps(self) noexcept nogil:
        """Number of actions that the sentence takes."""
        return 2 * self._n - 1 if self._n else 0

    cdef Py_ssize_t n_slots(self) noexcept nogil:
        return self.n_steps() + 1

    cdef void allow_labels(self, uint8_t* mask, int32_t child) noexcept nogil:
        """Set the flags of the labels that the arc to a word may get."""
        if self._heads != NULL and self._labels[child] >= 0:
            mask[self._labels[child]] = 1
        else:
            memset(mask, 1, self.n_labels)

    cdef void build(
        self, const int32_t* actions, Py_ssize_t n, int32_t* heads, int32_t* labels
    ) noexcept nogil:
        """Write the heads and the labels of the tree that actions build; `ROOT` for none."""

    cdef object built_tree(
        self, const int32_t* actions, Py_ssize_t n_actions, Py_ssize_t n_words
    ):
        """The heads and the labels of words, as lists."""
        cdef int32_t[::1] built = np.empty(2 * n_words + 1, dtype=np.int32)
        if n_actions != (2 * n_words - 1 if n_words else 0):
            raise ValueError(f"{n_actions} actions do not build a tree over {n_words} words")
        if n_words:
            self.build(actions, n_actions, &built[0], &built[n_words])
        return (
            [built[i] for i in range(n_words)], [built[n_words + i] for i in range(n_words)]
        )


cdef int check_arcs(heads, labels, Py_ssize_t n, int n_labels) except -1:
    """Raise ValueError unless n words have a head each that exists, and their arcs labels."""
    for _, head, label in zip(range(n), heads, labels, strict=True):
        if not ROOT <= head < n:
            raise ValueError(f"head {head} is out of range for {n} words")
        if head != ROOT and not 0 <= label < n_labels:
            raise ValueError(f"label {label} is out of range; there are {n_labels}")
    return 0


cdef int write_known(int32_t* known, heads, labels, Py_ssize_t n, int n_labels) except -1:
    """Write a partially known tree over n words for `constrain`: `KNOWN_PER_WORD` numbers each.

    These say what actions would leave no tree. heads, labels: None for those that are not known.
    Raises ValueError if they are not one for each word, do not exist, or go in a circle.
    """
    cdef int32_t* firsts = known + 2 * n
    cdef int32_t* lasts = known + 3 * n
    cdef int32_t* ends = known + 4 * n
    cdef Py_ssize_t n_above
    cdef int32_t end
    cdef int32_t top
    cdef int32_t i
    for k, (numbers, most) in enumerate([(heads, n), (labels, n_labels)]):
        if len(numbers) != n:
            raise ValueError(f"expected one head or label per word, {n}, got {len(numbers)}")
        for i, number in enumerate(numbers):
            if number is not None and not ROOT <= number < most:
                raise ValueError(f"head or label {number} is out of range; the limit is {most}")
            known[<Py_ssize_t> k * n + i] = UNKNOWN if number is None else number
    for i in range(<int32_t> n):
        firsts[i] = i
        lasts[i] = i
    for i in range(<int32_t> n):
        top = i
        n_above = 0
        while known[top] >= 0:
            top = known[top]
            firsts[top] = min(firsts[top], i)
            lasts[top] = max(lasts[top], i)
            n_above += 1
            if n_above > n:
                raise ValueError(f"the given heads form a cycle above word {i}")
        ends[i] = top
    # The first word of what is known to hang together with each word; -1 for what hangs on a root.
    for i in range(<int32_t> n):
        ends[i] = firsts[ends[i]] if known[ends[i]] == UNKNOWN else -1
    for i in range(<int32_t> n):
        end = <int32_t> n
        if 0 <= known[i] < i:
            end = lasts[i] + 1
            while end < n and ends[end] > i:
                end += 1
        ends[i] = end
    return 0


cdef class ParseDecoder(TreeDecoder):
    """Parses sentences into dependency trees: a list of heads and one of the numbers of labels.

    agenda: its system is a `DependencyTransitions`. labels: the names of the labels, in the order
    of their numbers; root_label: that of the root, whose head and number are -1.
    Constraints are pairs of heads and labels, of which any may be None. No tree is consistent with
    them if they are part of no projective tree with one root.
    Raises ValueError if the labels do not fit the system.
    """

    def __init__(self, Agenda agenda not None, labels, root_label):
        super().__init__(agenda)
        self.labels = tuple(labels)
        self.root_label = root_label
        if len(self.labels) not in ((<DependencyTransitions?> self.system).n_labels, 0):
            raise ValueError("the labels do not match those of the transition system")
