"""What transition systems for dependency trees share: sentences, atoms, and a decoder.

States of such a system refer to words as *nodes*: `S0` is the top of the stack, `S1` and `S2` lie
below it, `N0` to `N3` come next in the queue, `N-1` stands before `N0` in the sentence. `h` after a
node is its head, `l` and `r` its outermost child on either side, `h2`, `l2` and `r2` the head of
the head and the children next to the outermost. Of a node an atom is (`S0` for any)

- ``S0w``, ``S0t``: the word and its tag; ``start(S0)``, ``end(S0)``: its first and last character;
  ``prefix2(S0)`` to ``prefix5(S0)``, ``suffix2(S0)`` to ``suffix5(S0)``: characters of its ends;
  ``len(S0)``: how many it has, up to 4; ``lower(S0)``, ``kinds(S0)``, ``shape(S0)``:
  `tasks.tagging`;
- ``S0label``: the label of its arc, of nodes that may have a head; ``S0vl``, ``S0vr``: how many
  children it has on each side; ``S0sl``, ``S0sr``: the set of their labels.

The word and the tag of a node that is not there, such as the head of a word that has none yet, are
values like any other, and others again beyond the ends of the sentence; labels and numbers that are
not there silence templates.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from spacy_structreg.learn.memory cimport reserve
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.learn.random cimport next_unit
from spacy_structreg.search.agenda cimport Agenda
from spacy_structreg.search.transition_system cimport TransitionSystem
from spacy_structreg.tasks.derivations cimport Derivation
from spacy_structreg.tasks.tagging cimport N_FIELDS, WordAtoms

import numpy as np

from spacy_structreg.learn.murmur import hash_string

cdef extern from "Python.h":
    Py_UCS4* PyUnicode_AsUCS4(
        str text, Py_UCS4* buffer, Py_ssize_t length, int copy_null
    ) except NULL

cdef enum:
    TAG = N_FIELDS
    N_FIELDS_OF_WORD = N_FIELDS + 1
    # The place of the length among the fields of `WordAtoms`.
    LENGTH = 12
    MAX_LENGTH = 4
    # The fields beyond the ends of the sentence, and of a node that is not there.
    BEYOND = 1
    NOWHERE = 2

_WORD_FIELDS = {
    "lower": 1, "start": 2, "prefix2": 3, "prefix3": 4, "prefix4": 5, "prefix5": 6, "end": 7,
    "suffix2": 8, "suffix3": 9, "suffix4": 10, "suffix5": 11, "len": <int> LENGTH, "kinds": 13,
    "shape": 14,
}


def atoms_of_nodes(nodes):
    """The names of all atoms that nodes have as words of the sentence.

    Returns a mapping to the node and the number of the field.
    """
    names = {}
    for node in nodes:
        names[f"{node}w"] = node, 0
        names[f"{node}t"] = node, <int> TAG
        for field, number in _WORD_FIELDS.items():
            names[f"{field}({node})"] = node, number
    return names


cdef class DependencyTransitions(TransitionSystem):
    """The base of transition systems that build dependency trees.

    A subclass declares nodes and numbers, what they are in a state, and what actions do; its
    method `oracle` gives the actions that build a tree.
    """

    def __dealloc__(self):
        free(self._sources)
        free(self._fields_read)
        free(self._fields)
        free(self._tags)
        free(self._next)
        free(self._between)

    def __reduce__(self):
        return type(self), (self.words, self.n_labels, self.atoms, tuple(self.events))

    def copy(self):
        """A system for another thread."""
        return type(self)(self.words, self.n_labels, self.atoms, tuple(self.events))

    cdef int describe(self, WordAtoms words, int n_labels, events, known) except -1:
        """Take the settings that all such systems have. known: the events that there are.

        Raises ValueError for other events, and for numbers of labels below 1 or beyond 32,767.
        """
        if not 1 <= n_labels < 0x8000:
            raise ValueError(f"there cannot be {n_labels:,} labels of arcs")
        unknown = sorted(set(events) - set(known))
        if unknown:
            raise ValueError(f"there is no event {unknown[0]!r}")
        self.words = words
        self.n_labels = n_labels
        self.follows_gold = True
        self.in_step = True
        return 0

    cdef int declare(self, names, dict nodes, dict numbers, tuple many) except -1:
        """Take note of the atoms that templates read.

        names: of atoms. nodes, numbers: by their names, in the order of their numbers in a state,
        the anchors that they depend on. many: atoms with many values, after all others: tags
        between two words, which depend on the anchors of both.
        Raises ValueError for atoms that do not exist.
        """
        cdef int i
        of_nodes = atoms_of_nodes(nodes)
        chosen = dict.fromkeys(names)
        for name in chosen:
            if name not in of_nodes and name not in numbers:
                raise ValueError(f"there is no atom {name!r}")
        known = [name for name in chosen if name not in many]
        self.many_valued = tuple(name for name in chosen if name in many)
        self._reads_between = len(self.many_valued) > 0
        self.atoms = (*known, *self.many_valued)
        self.atom_anchors = tuple(
            tuple(nodes[of_nodes[name][0]] if name in of_nodes else numbers[name])
            for name in self.atoms
        )
        free(self._sources)
        free(self._fields_read)
        self._sources = <int*> malloc(max(1, len(self.atoms)) * sizeof(int))
        self._fields_read = <int*> calloc(max(1, len(self.atoms)), sizeof(int))
        if self._sources == NULL or self._fields_read == NULL:
            raise MemoryError("no memory for a transition system")
        node_numbers = {node: i for i, node in enumerate(nodes)}
        number_numbers = {number: i for i, number in enumerate(numbers)}
        self._wanted_fields = 0
        for i, name in enumerate(self.atoms):
            if name in of_nodes:
                node, field = of_nodes[name]
                self._sources[i] = node_numbers[node]
                self._fields_read[i] = field
                self._wanted_fields |= <uint64_t> 1 << <int> field
            else:
                self._sources[i] = <int> MAX_NODES + <int> number_numbers[name]
        return 0

    # The sentence ------------------------------------------------------------------------------

    cdef int load(
        self, const uint32_t* text, const int32_t* bounds, const uint64_t* tags, Py_ssize_t n,
        const int32_t* heads, const int32_t* labels,
    ) except -1 nogil:
        """Take a sentence of `n` words: word i lies in `text`, as it is seen, from bounds[i] to
        bounds[i + 1].

        tags: hashes. heads, labels: those that are given, `UNKNOWN` for others, or NULL; they must
        stay. A head is the number of a word, or `ROOT`.
        """
        cdef uint64_t* fields
        cdef Py_ssize_t i
        reserve(
            <void**> &self._fields, &self._field_capacity, (n + FIRST_WORD) * N_FIELDS_OF_WORD,
            sizeof(uint64_t),
        )
        self._n = n
        self._heads = heads
        self._labels = labels
        for i in range(N_FIELDS_OF_WORD):
            self._fields[NO_NODE * N_FIELDS_OF_WORD + i] = NOWHERE
            self._fields[PADDING * N_FIELDS_OF_WORD + i] = BEYOND
        for i in range(n):
            fields = self._fields + (FIRST_WORD + i) * N_FIELDS_OF_WORD
            self.words.fill(
                text + bounds[i], bounds[i + 1] - bounds[i], self._wanted_fields, fields
            )
            fields[LENGTH] = NOWHERE + <uint64_t> min(bounds[i + 1] - bounds[i], MAX_LENGTH)
            fields[TAG] = tags[i]
        if self._reads_between:
            self._index_tags(tags, n)
        return 0

    cdef int _index_tags(self, const uint64_t* tags, Py_ssize_t n) except -1 nogil:
        """Note for each place where each tag of the sentence stands next."""
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        self._n_tags = 0
        for i in range(n):
            for k in range(self._n_tags):
                if self._tags[k] == tags[i]:
                    break
            else:
                reserve(
                    <void**> &self._tags, &self._tag_capacity, self._n_tags + 1, sizeof(uint64_t)
                )
                self._tags[self._n_tags] = tags[i]
                self._n_tags += 1
        reserve(
            <void**> &self._next, &self._next_capacity, (n + 1) * self._n_tags, sizeof(int32_t)
        )
        reserve(<void**> &self._between, &self._between_capacity, self._n_tags, sizeof(uint64_t))
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
        """Point to the different tags of the words between two; returns their number.

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

    cdef int present(
        self, const void* sentence, Py_ssize_t begin, Py_ssize_t count, double dropout,
        uint64_t* noise,
    ) except -1 nogil:
        cdef const uint64_t* block = <const uint64_t*> sentence
        cdef Py_ssize_t n = <Py_ssize_t> block[0]
        cdef const int32_t* bounds = <const int32_t*> (block + 1 + n)
        cdef uint64_t* fields
        cdef Py_ssize_t i
        self.load(<const uint32_t*> (bounds + n + 1), bounds, block + 1, n, NULL, NULL)
        if dropout > 0.0:
            for i in range(n):
                if next_unit(noise) < dropout:
                    # The tag stays: only words are hidden.
                    fields = self._fields + (FIRST_WORD + i) * N_FIELDS_OF_WORD
                    memset(fields, 0, TAG * sizeof(uint64_t))
        return 0

    def load_words(self, words, tags, heads=None, labels=None):
        """Take a sentence, for `Agenda.derivations` and the like.

        words, tags: lists of strings. heads, labels: numbers that are given, None for those that
        are not.
        Raises ValueError for heads and labels that do not exist, or are not one for each word.
        """
        cdef int32_t[::1] given_heads
        cdef int32_t[::1] given_labels
        cdef Py_ssize_t n = len(words)
        cdef ParseDecoder loader = ParseDecoder.__new__(ParseDecoder)
        # A decoder knows how to lay sentences out, and holds the memory for them.
        loader.system = self
        loader._hashes = {}
        loader._load([(list(words), list(tags))])
        given_heads = np.array(
            _given_numbers(heads or [None] * n, n, n) or [0], dtype=np.int32
        )
        given_labels = np.array(
            _given_numbers(labels or [None] * n, n, self.n_labels) or [0], dtype=np.int32
        )
        self._kept = (loader, given_heads, given_labels)
        self.load(
            loader._text, loader._bounds, loader._tags, n,
            &given_heads[0] if heads is not None else NULL,
            &given_labels[0] if labels is not None else NULL,
        )

    def compile(self, words, tags, heads, labels, Perceptron learner not None):
        """A gold sentence as a `Derivation`; None if it has no words.

        words, tags: lists of strings. heads: of each word the number of its head, `ROOT` for one
        of them. labels: of their arcs, as numbers; that of the root is not looked at.
        Raises ValueError as `oracle`, and if the words are too long to be counted.
        """
        cdef Derivation derivation
        cdef uint64_t* block
        cdef int32_t* bounds
        cdef int64_t total = 0
        cdef Py_ssize_t n = len(words)
        cdef Py_ssize_t i
        if n == 0:
            return None
        for word in words:
            total += len(word)
        if total + n > 0x3FFFFFFF:
            raise ValueError(f"a sentence of {total:,} characters is too long")
        actions = self.oracle(heads, labels)
        derivation = Derivation.make(
            len(actions), len(actions),
            (n + 1) * sizeof(uint64_t) + (n + 1 + total) * sizeof(int32_t), learner.lineage,
        )
        block = <uint64_t*> derivation.sentence
        bounds = <int32_t*> (block + 1 + n)
        block[0] = <uint64_t> n
        bounds[0] = 0
        total = 0
        for i, (word, tag) in enumerate(zip(words, tags, strict=True)):
            block[i + 1] = hash_of_tag(tag)
            for code in self.words.codes_of(word):
                bounds[n + 1 + total] = code
                total += 1
            bounds[i + 1] = <int32_t> total
        for i in range(len(actions)):
            derivation.actions[i] = actions[i]
        return derivation

    # Features ----------------------------------------------------------------------------------

    cdef void fill_atoms(
        self, const void* state, uint64_t wanted, uint64_t* values
    ) noexcept nogil:
        cdef int32_t rows[MAX_NODES]
        cdef uint64_t numbers[MAX_NUMBERS]
        cdef int source
        cdef int i = 0
        self.find_nodes(state, rows)
        self.find_numbers(state, numbers)
        while wanted:
            if wanted & 1:
                source = self._sources[i]
                if source < MAX_NODES:
                    values[i] = self._fields[
                        rows[source] * N_FIELDS_OF_WORD + self._fields_read[i]
                    ]
                else:
                    values[i] = numbers[source - MAX_NODES]
            wanted >>= 1
            i += 1

    # What a transition system says of its states -------------------------------------------------

    cdef void find_nodes(self, const void* state, int32_t* rows) noexcept nogil:
        """Write the row of fields of each node."""

    cdef void find_numbers(self, const void* state, uint64_t* numbers) noexcept nogil:
        """Write the values of the atoms that are no fields of words."""

    cdef Py_ssize_t n_steps(self) noexcept nogil:
        """How many actions the sentence takes."""
        return 2 * self._n - 1 if self._n else 0

    cdef Py_ssize_t n_slots(self) noexcept nogil:
        return self.n_steps() + 1

    cdef void allow_labels(self, uint8_t* mask, int32_t child) noexcept nogil:
        """Set the flags of the labels that the arc to a word may get."""
        if self._labels != NULL and self._labels[child] >= 0:
            mask[self._labels[child]] = 1
        else:
            memset(mask, 1, self.n_labels)

    cdef void build(
        self, const int32_t* actions, Py_ssize_t n, int32_t* heads, int32_t* labels
    ) noexcept nogil:
        """Write the heads and the labels of the tree that actions build; `ROOT` for none."""

    def tree(self, actions):
        """The heads and the labels that actions for the loaded sentence build."""
        cdef int32_t* taken = NULL
        cdef int32_t* heads = NULL
        cdef Py_ssize_t i
        cdef list listed = list(actions)
        if len(listed) != self.n_steps():
            raise ValueError(f"{len(listed)} actions make no tree of {self._n} words")
        taken = <int32_t*> malloc((len(listed) + 1) * sizeof(int32_t))
        heads = <int32_t*> malloc((2 * self._n + 1) * sizeof(int32_t))
        if taken == NULL or heads == NULL:
            free(taken)
            free(heads)
            raise MemoryError("no memory for a tree")
        for i in range(len(listed)):
            taken[i] = listed[i]
        self.build(taken, len(listed), heads, heads + self._n)
        built = (
            [heads[i] for i in range(self._n)], [heads[self._n + i] for i in range(self._n)]
        )
        free(taken)
        free(heads)
        return built


def hash_of_tag(tag):
    """A tag as an atom: none of the values that mean something else."""
    found = hash_string(tag)
    return found if found > NOWHERE else found + NOWHERE + 1


def _given_numbers(numbers, n_words, end):
    """Given heads or labels as decoders take them: `UNKNOWN` for None, `ROOT` for none.

    Raises ValueError if they are not one for each word, or one is not below `end`.
    """
    if len(numbers) != n_words:
        raise ValueError(f"{len(numbers)} heads or labels are given for {n_words} words")
    for number in numbers:
        if number is not None and not ROOT <= number < end:
            raise ValueError(f"{number} is given as a head or label, of {end}")
    return [UNKNOWN if number is None else number for number in numbers]


cdef class ParseDecoder:
    """Parses sentences of words and tags. It holds working memory: use one in each thread.

    agenda: its system is a `DependencyTransitions`. labels: the names of the labels, in the order
    of their numbers; root_label: that of the root. Words must not be white space only.
    Raises ValueError if the labels do not fit the system.
    """

    def __init__(self, Agenda agenda not None, labels, root_label):
        self.agenda = agenda
        self.system = <DependencyTransitions?> agenda.system
        self.labels = tuple(labels)
        self.root_label = root_label
        self._hashes = {}
        if len(self.labels) not in (self.system.n_labels, 0):
            raise ValueError("the labels are not those of the transition system")

    def __dealloc__(self):
        free(self._text)
        free(self._bounds)
        free(self._tags)
        free(self._heads)
        free(self._labels)
        free(self._actions)

    @property
    def capacity(self):
        """For how many characters, or words, at a time there is room already."""
        return max(self._text_capacity, self._bound_capacity)

    cdef uint64_t _hash(self, str tag) except? 0:
        found = self._hashes.get(tag)
        if found is None:
            if len(self._hashes) > 10_000:
                self._hashes.clear()
            found = self._hashes[tag] = hash_of_tag(tag)
        return found

    cdef Py_ssize_t _load(self, list sentences) except -1:
        """Copy sentences to where code without the GIL can read them; returns how many words."""
        cdef Py_ssize_t total = 0
        cdef Py_ssize_t n_words = 0
        cdef Py_ssize_t i
        cdef Py_ssize_t n
        cdef str word
        cdef str tag
        reserve(<void**> &self._bounds, &self._bound_capacity, 1, sizeof(int32_t))
        self._bounds[0] = 0
        for words, tags in sentences:
            n = len(<list?> words)
            if len(<list?> tags) != n:
                raise ValueError(f"{len(tags)} tags are given for {n} words")
            reserve(<void**> &self._bounds, &self._bound_capacity, n_words + n + 1, sizeof(int32_t))
            reserve(<void**> &self._tags, &self._tag_capacity, n_words + n, sizeof(uint64_t))
            for i in range(n):
                word = <str?> (<list> words)[i]
                tag = <str?> (<list> tags)[i]
                if total + len(word) > 0x3FFFFFFF:
                    raise ValueError("so many characters are too many for one call")
                reserve(
                    <void**> &self._text, &self._text_capacity, total + len(word) + 1,
                    sizeof(uint32_t),
                )
                if word:
                    PyUnicode_AsUCS4(word, <Py_UCS4*> (self._text + total), len(word), 0)
                total += len(word)
                self._tags[n_words] = self._hash(tag)
                n_words += 1
                self._bounds[n_words] = <int32_t> total
        if self.system.words.half_width:
            for i in range(total):
                self._text[i] = self.system.words.see(self._text[i])
        return n_words

    def parse(self, list sentences not None, given=None):
        """The trees of sentences: a list of heads and one of the numbers of labels, for each.

        sentences: pairs of a list of words and one of their tags. given: None, or for each
        sentence None or pairs of heads and labels, of which any may be None.
        The head of the root is -1, and its label too. None instead of a tree where what is given
        left no way within the beam. The GIL is released while parsing.
        Raises ValueError for tags that are not one for each word and for given heads and labels
        that do not exist, TypeError for what is no string.
        """
        cdef Py_ssize_t n_sentences = len(sentences)
        cdef Py_ssize_t n_words = self._load(sentences)
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        cdef Py_ssize_t n
        cdef bint constrained
        cdef int found
        cdef list trees = []
        reserve(<void**> &self._heads, &self._head_capacity, n_words + 1, sizeof(int32_t))
        reserve(<void**> &self._labels, &self._label_capacity, n_words + 1, sizeof(int32_t))
        for i in range(n_sentences):
            n = len(<list> sentences[i][0])
            constrained = given is not None and given[i] is not None
            if constrained:
                heads, labels = given[i]
                heads = _given_numbers(heads, n, n)
                labels = _given_numbers(labels, n, self.system.n_labels)
                for k in range(n):
                    self._heads[first + k] = heads[k]
                    self._labels[first + k] = labels[k]
            with nogil:
                self.system.load(
                    self._text, self._bounds + first, self._tags + first, n,
                    self._heads + first if constrained else NULL,
                    self._labels + first if constrained else NULL,
                )
                found = self._decode(first, n)
            trees.append((
                [self._heads[first + k] for k in range(n)],
                [self._labels[first + k] for k in range(n)],
            ) if found else None)
            first += n
        return trees

    cdef int _decode(self, Py_ssize_t first, Py_ssize_t n) except -1 nogil:
        """Parse the sentence that the system has loaded; whether there was a way to do it."""
        cdef Py_ssize_t n_found = 0
        cdef Py_ssize_t n_actions = self.system.n_steps()
        cdef Py_ssize_t item
        if n == 0:
            return True
        item = self.agenda.search(1, &n_found)
        if n_found == 0:
            return False
        reserve(<void**> &self._actions, &self._action_capacity, n_actions, sizeof(int32_t))
        self.agenda.trace(item, self._actions)
        self.system.build(self._actions, n_actions, self._heads + first, self._labels + first)
        return True

    def nbest(self, list words not None, list tags not None, Py_ssize_t k):
        """The `k` best trees that the beam lets through, best first, as `parse` gives them.

        Fewer where several ways lead to one tree, which gets the score of the best.
        Returns pairs of a score and a tree. Raises ValueError if k < 1, and as `parse`.
        """
        if k < 1:
            raise ValueError(f"at least one tree must be asked for, not {k}")
        self.system.load_words(words, tags)
        if not words:
            return [(0.0, ([], []))]
        found = []
        seen = set()
        for score, actions in self.agenda.derivations(k):
            heads, labels = self.system.tree(actions)
            if (*heads, *labels) not in seen:
                seen.add((*heads, *labels))
                found.append((score, (heads, labels)))
        return found

    def __reduce__(self):
        raise TypeError("a decoder holds working memory; pickle the model instead")
