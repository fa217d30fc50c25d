"""A chain model of characters as the guide of a word-based search over the same characters.

It helps in three ways, each of which is a setting. Its scores of labels and of their neighbors can
be added to those of the words, with one weight: a product of two independently trained models. The
score of its best completion can be added to the rank of a state, which is never part of its score:
a look-ahead. And labels whose best path lies too far behind the best of all can be shut out: a
window.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from spacy_structreg.learn.memory cimport reserve, reserve_zeros
from spacy_structreg.search.viterbi cimport LabelGraph, Lattice, Transitions
from spacy_structreg.tasks.chain cimport ChainDecoder
from spacy_structreg.tasks.segmentation.characters cimport CharacterDecoder
from spacy_structreg.tasks.segmentation.text cimport BonusWords, ListedWords
from spacy_structreg.tasks.segmentation.words cimport APPEND, START, B, GuideView, S, WordGuide

import numpy as np

EDGES = (
    "a guide scores neighboring labels alike at all places, which rich edge features do not; "
    "leave out templates such as 't-1t0c0' from the model of characters"
)

cdef enum:
    # The labels of a tag: begin, middle, end, single.
    N_BOUNDARIES = 4
    EIGHT = 8


cdef inline int32_t next_above(
    const double* values, int32_t first, Py_ssize_t last, double least
) noexcept nogil:
    """Return the first index from `first` on whose value is at least `least`; else `last`."""
    cdef bint met
    cdef int k
    while first + EIGHT <= last:
        # No branches: a compiler compares several at once.
        met = False
        for k in range(EIGHT):
            met |= values[first + k] >= least
        if met:
            break
        first += EIGHT
    while first < last and values[first] < least:
        first += 1
    return first


cdef class ChainGuide(WordGuide):
    """Guides a `WordDecoder`. It holds working memory: use one in each thread.

    decoder: of the chain model.
    labels: the numbers of the labels begin, middle, end and single for each tag, of shape
        (n_tags, 4).
    weight: of its scores against those of the words, ≥ 0. adds_scores: whether to add them.
    looks_ahead: whether to rank states by its best completion too.
    window: how far the best path with a label may lie behind the best of all; None for any.
    Raises ValueError if labels do not exist, for a negative weight or window, and for a model with
    rich edge features, whose scores of neighbors differ from place to place.
    """

    def __init__(
        self, CharacterDecoder decoder not None, labels, *, double weight=1.0,
        bint adds_scores=True, bint looks_ahead=True, window=None,
    ):
        cdef ChainDecoder chain = decoder.chain
        cdef LabelGraph graph = chain.graph
        cdef const int32_t[:, ::1] view
        cdef const uint8_t[:, ::1] legal = np.ascontiguousarray(chain.graph.legal, dtype=np.uint8)
        cdef Py_ssize_t place
        cdef Py_ssize_t x
        cdef Py_ssize_t y
        if self._transposed != NULL:
            raise TypeError("a guide cannot be initialized twice")
        self.decoder = decoder
        self.chain = chain
        self.labels = np.ascontiguousarray(labels, dtype=np.int32)
        self.weight = weight
        self.adds_scores = adds_scores
        self.looks_ahead = looks_ahead
        self.window = INFINITY if window is None else window
        if chain.features.edge_list >= 0:
            raise ValueError(EDGES)
        if self.labels.ndim != 2 or self.labels.shape[1] != N_BOUNDARIES or not self.labels.size:
            raise ValueError(f"labels must have the shape (n_tags, 4), got {self.labels.shape}")
        if self.labels.min() < 0 or self.labels.max() >= graph.n_labels:
            raise ValueError("a label of the guide is out of range")
        if len(set(self.labels.ravel().tolist())) < self.labels.size:
            raise ValueError("tags of the guide share a label")
        if not 0 <= weight < INFINITY:
            raise ValueError(f"the weight of a guide must be finite and at least 0, got {weight}")
        if not self.window >= 0:
            raise ValueError(f"the window of a guide must be at least 0, got {window}")
        view = self.labels
        self._labels = &view[0, 0]
        self._n_tags = view.shape[0]
        reserve(&self.buffers, self._actions, graph.n_labels)
        for y in range(graph.n_labels):
            self._actions[y] = -1
        for x in range(self._n_tags):
            for y in range(N_BOUNDARIES):
                self._actions[view[x, y]] = START + <int32_t> x if y in (B, S) else APPEND
        reserve(&self.buffers, self._within, 2 * graph.n_labels)
        reserve(&self.buffers, self._most, graph.n_labels)
        reserve(&self.buffers, self._legal, graph.n_labels * graph.n_labels)
        reserve_zeros(&self.buffers, self._transposed, graph.n_labels * graph.n_labels)
        for y in range(graph.n_labels):
            self._most[y] = -INFINITY
            for x in range(graph.n_labels):
                place = y * graph.n_labels + x
                self._transposed[place] = chain.transitions[x * graph.n_labels + y]
                self._legal[place] = legal[x, y]
                if self._legal[place]:
                    self._most[y] = max(self._most[y], self._transposed[place])
        self._backward = Transitions(
            LabelGraph(graph.legal.T, graph.ends, graph.starts, graph.by_blocks)
        )
        self._backward.bind(self._transposed)

    @property
    def capacity(self):
        return self.decoder.capacity

    def prefer(self, words):
        return self.decoder.prefer(words)

    def __reduce__(self):
        raise TypeError("a guide belongs to a decoder and cannot be pickled alone")

    cdef int consult(
        self, const uint32_t* characters, Py_ssize_t n, const uint8_t* constraints,
        const ListedWords* listed, const BonusWords* bonuses, bint narrowly, GuideView* view,
    ) except -1 nogil:
        cdef Py_ssize_t n_labels = self.chain.graph.n_labels
        cdef const uint8_t* mask = NULL
        cdef const double* emissions
        if self.decoder.load_chain(characters, n, constraints, listed, bonuses, False):
            mask = self.chain._mask
        emissions = self.chain.emissions(0, n)
        view.n_labels = n_labels
        view.labels = self._labels
        view.transitions = self.chain.transitions
        view.weight = self.weight
        view.emissions = emissions if self.adds_scores else NULL
        view.heuristic = NULL
        view.allowed = NULL
        # What a bonus may make up for, the chain model does not know.
        narrowly = narrowly and self.window < INFINITY and bonuses == NULL
        if narrowly and self.chain.lattice == NULL:
            narrowly = self._look_ahead_narrowly(emissions, mask, n)
            if not narrowly and self.looks_ahead:
                self._look_ahead(emissions, mask, n)
        elif narrowly or self.looks_ahead:
            self._look_ahead(emissions, mask, n)
            narrowly = narrowly and self._open_window(emissions, mask, n)
        if self.looks_ahead:
            view.heuristic = self._best_completions(n)
        if narrowly:
            self._list_actions(n)
            view.allowed = self._allowed
            view.begins = self._begins
            view.sure = self._sure
        return 0

    cdef int _list_actions(self, Py_ssize_t n) except -1 nogil:
        """Find the actions to the labels within the window: `_begins` and `_sure`."""
        cdef Py_ssize_t n_labels = self.chain.graph.n_labels
        cdef const uint8_t* allowed = self._allowed
        cdef uint8_t* begins
        cdef uint64_t eight
        cdef Py_ssize_t i
        cdef Py_ssize_t y
        cdef int32_t action
        cdef int32_t sure
        cdef int n_actions
        reserve_zeros(&self.buffers, self._begins, n * self._n_tags)
        reserve(&self.buffers, self._sure, n)
        begins = self._begins
        for i in range(n):
            n_actions = 0
            sure = -1
            y = 0
            while y < n_labels:
                # Few labels are left.
                if y + 8 <= n_labels:
                    memcpy(&eight, allowed + y, 8)
                    if eight == 0:
                        y += 8
                        continue
                action = self._actions[y] if allowed[y] else -1
                y += 1
                if action < 0 or action == sure:
                    continue
                if action >= START:
                    n_actions += begins[action - START] == 0
                    begins[action - START] = True
                else:
                    n_actions += 1
                sure = action
            self._sure[i] = sure if n_actions == 1 else -1
            allowed += n_labels
            begins += self._n_tags
        return 0

    cdef bint _look_ahead_narrowly(
        self, const double* emissions, const uint8_t* mask, Py_ssize_t n
    ) except -1 nogil:
        """Find the labels within the window, and best completions from them on.

        They are `_allowed` and `_ahead`, which is minus infinity for other labels: a path within
        the window has no others. For a sentence without a lattice. Returns whether there is any
        legal path; if not, nothing is found.
        """
        cdef Py_ssize_t n_labels = self.chain.graph.n_labels
        cdef const double* prefix
        cdef const double* following
        cdef double* ahead
        cdef uint8_t* allowed
        cdef double best = -INFINITY
        cdef double most
        cdef double score
        cdef double step
        cdef Py_ssize_t n_within = 0
        cdef Py_ssize_t n_after
        cdef Py_ssize_t place
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        cdef int32_t* within = self._within
        cdef int32_t* after = self._within + n_labels
        cdef int32_t x
        cdef int32_t y
        self.chain.viterbi.edges = NULL
        self.chain.viterbi.advance(emissions, mask, 0, n)
        prefix = self.chain.viterbi.table + (n - 1) * n_labels
        for y in range(n_labels):
            if self.chain.graph.may_end[y] and prefix[y] > best:
                best = prefix[y]
        if best == -INFINITY:
            return False
        # Sums of the same numbers in another order differ by rounding.
        best -= self.window + 1e-9 * (1.0 + (best if best > 0.0 else -best))
        reserve(&self.buffers, self._ahead, n * n_labels)
        reserve_zeros(&self.buffers, self._allowed, n * n_labels)
        for k in range(n * n_labels):
            self._ahead[k] = -INFINITY
        ahead = self._ahead + (n - 1) * n_labels
        allowed = self._allowed + (n - 1) * n_labels
        for y in range(n_labels):
            if self.chain.graph.may_end[y] and prefix[y] >= best:
                ahead[y] = emissions[(n - 1) * n_labels + y]
                allowed[y] = True
                within[n_within] = y
                n_within += 1
        for i in range(n - 2, -1, -1):
            following = ahead
            ahead -= n_labels
            allowed -= n_labels
            prefix -= n_labels
            after, within = within, after
            n_after = n_within
            n_within = 0
            most = -INFINITY
            for k in range(n_after):
                most = max(most, following[after[k]] + self._most[after[k]])
            # With room for rounding. Few labels are so good that any step from them is of interest.
            most = best - most - 1e-9 * (1.0 + (most if most > 0.0 else -most))
            x = next_above(prefix, 0, n_labels, most)
            while x < n_labels:
                step = -INFINITY
                for k in range(n_after):
                    y = after[k]
                    place = y * n_labels + x
                    if self._legal[place]:
                        step = max(step, following[y] + self._transposed[place])
                score = step + emissions[i * n_labels + x]
                if prefix[x] + score - emissions[i * n_labels + x] >= best:
                    ahead[x] = score
                    allowed[x] = True
                    within[n_within] = x
                    n_within += 1
                x = next_above(prefix, x + 1, n_labels, most)
        return True

    cdef int _look_ahead(
        self, const double* emissions, const uint8_t* mask, Py_ssize_t n
    ) except -1 nogil:
        """Find the best completions from labels on, their own scores included: `_ahead`.

        They are of the columns of the sentence, as is the mask.
        """
        cdef Py_ssize_t n_labels = self.chain.graph.n_labels
        cdef const Lattice* lattice = self.chain.lattice
        cdef Py_ssize_t n_columns = n if lattice == NULL else lattice.n
        cdef const double* following
        cdef double* ahead
        cdef double* before
        cdef Py_ssize_t c
        cdef Py_ssize_t i
        cdef Py_ssize_t y
        cdef int32_t b
        reserve(&self.buffers, self._ahead, n_columns * n_labels)
        reserve(&self.buffers, self._following, n_labels)
        if lattice != NULL:
            # What follows a column gathers in its place until it is its turn.
            for y in range(n_columns * n_labels):
                self._ahead[y] = -INFINITY
        c = n_columns - 1
        while c >= 0:
            i = c if lattice == NULL else lattice.positions[c]
            ahead = self._ahead + c * n_labels
            if i == n - 1:
                for y in range(n_labels):
                    ahead[y] = -INFINITY
                    if self.chain.graph.may_end[y] and (mask == NULL or mask[c * n_labels + y]):
                        ahead[y] = emissions[i * n_labels + y]
            else:
                following = ahead + n_labels
                if lattice != NULL:
                    memcpy(self._following, ahead, n_labels * sizeof(double))
                    following = self._following
                self._backward.step(
                    following, emissions + i * n_labels, NULL,
                    NULL if mask == NULL else mask + c * n_labels, ahead, NULL,
                )
            if lattice != NULL:
                for b in range(lattice.first[c], lattice.first[c + 1]):
                    before = self._ahead + lattice.before[b] * n_labels
                    for y in range(n_labels):
                        before[y] = ahead[y] if ahead[y] > before[y] else before[y]
            c -= 1
        return 0

    cdef const double* _best_completions(self, Py_ssize_t n) except NULL nogil:
        """The best completions from labels of positions on, in whatever column: from `_ahead`."""
        cdef Py_ssize_t n_labels = self.chain.graph.n_labels
        cdef const Lattice* lattice = self.chain.lattice
        cdef const double* ahead = self._ahead
        cdef double* best
        cdef Py_ssize_t c
        cdef Py_ssize_t y
        if lattice == NULL:
            return ahead
        reserve(&self.buffers, self._heuristic, n * n_labels)
        for y in range(n * n_labels):
            self._heuristic[y] = -INFINITY
        for c in range(lattice.n):
            best = self._heuristic + lattice.positions[c] * n_labels
            for y in range(n_labels):
                best[y] = ahead[y] if ahead[y] > best[y] else best[y]
            ahead += n_labels
        return self._heuristic

    cdef bint _open_window(
        self, const double* emissions, const uint8_t* mask, Py_ssize_t n
    ) except -1 nogil:
        """Find the labels within the window: `_allowed`, of shape (n, n_labels), from `_ahead`.

        For a sentence with a lattice. Returns whether there is any legal path.
        """
        cdef Py_ssize_t n_labels = self.chain.graph.n_labels
        cdef const Lattice* lattice = self.chain.lattice
        cdef const double* prefix
        cdef const double* ahead
        cdef uint8_t* allowed
        cdef double best = -INFINITY
        cdef Py_ssize_t c
        cdef Py_ssize_t i
        cdef Py_ssize_t y
        reserve(&self.buffers, self._allowed, n * n_labels)
        memset(self._allowed, 0, n * n_labels)
        self.chain.viterbi.edges = NULL
        self.chain.viterbi.walk(emissions, mask, lattice, 0, lattice.n)
        for c in range(lattice.n):
            if lattice.positions[c] > 0:
                break
            for y in range(n_labels):
                if self.chain.viterbi.table[c * n_labels + y] > -INFINITY:
                    best = max(best, self._ahead[c * n_labels + y])
        if best == -INFINITY:
            return False
        # Sums of the same numbers in another order differ by rounding.
        best -= self.window + 1e-9 * (1.0 + (best if best > 0.0 else -best))
        for c in range(lattice.n):
            i = lattice.positions[c]
            prefix = self.chain.viterbi.table + c * n_labels
            ahead = self._ahead + c * n_labels
            allowed = self._allowed + i * n_labels
            for y in range(n_labels):
                allowed[y] |= prefix[y] + ahead[y] - emissions[i * n_labels + y] >= best
        return True

    def tables(self, str text not None):
        """The scores of the guide for a sentence without white space, for inspection.

        Returns emissions and the scores of best completions, float64, and which labels lie within
        the window, bool, each of shape (n, n_labels).
        """
        cdef Py_ssize_t n = len(text)
        cdef Py_ssize_t n_labels = self.chain.graph.n_labels
        cdef uint32_t[::1] codes = np.array([ord(c) for c in text] or [0], dtype=np.uint32)
        cdef GuideView view
        emissions = np.zeros((n, n_labels))
        heuristic = np.zeros((n, n_labels))
        allowed = np.ones((n, n_labels), dtype=bool)
        if n:
            self.consult(&codes[0], n, NULL, NULL, NULL, True, &view)
            self._look_ahead(self.chain.emissions(0, n), NULL, n)
            emissions[:] = <double[:n, :n_labels]> <double*> self.chain.emissions(0, n)
            heuristic[:] = <double[:n, :n_labels]> self._ahead
            if view.allowed != NULL:
                allowed[:] = np.asarray(<uint8_t[:n, :n_labels]> self._allowed) != 0
        return emissions, heuristic, allowed
