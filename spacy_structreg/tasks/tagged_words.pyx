"""The base of transition systems over tagged words: sentences, atoms of words, and a decoder.

States of such a system refer to words as *nodes*, such as the top of a stack. Of a node an atom is
(`S0` for any)

- ``S0w``, ``S0t``: the word and its tag; ``start(S0)``, ``end(S0)``: its first and last character;
  ``len(S0)``: how many it has, up to 4; ``prefix2(S0)``, ``suffix2(S0)``, ``lower(S0)``,
  ``shape(S0)``, ``class(S0)``, …: `features.word_fields`.

The word and the tag of a node that is not there are values like any other, and others again beyond
the ends of the sentence.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from spacy_structreg.learn.memory cimport BufferOwner, capacity_of, reserve, reserve_zeros
from spacy_structreg.learn.random cimport next_unit
from spacy_structreg.search.agenda cimport Agenda
from spacy_structreg.search.transition_system cimport (
    WORDS_OF_ATOM_SET,
    AtomSet,
    TransitionSystem,
)
from spacy_structreg.tasks.derivations cimport Derivation
from spacy_structreg.tasks.word_fields cimport LENGTH4, N_FIELDS, WORD_CLASS, WordFields

import numpy as np

from spacy_structreg.features.word_fields import WORD_FIELDS
from spacy_structreg.learn.murmur import hash_string

# Those that are asked for in another notation, need lists of words, or are for taggers alone.
_OTHER_FIELDS = ("w", "one", "pattern", "catstart", "catend", "tags", "guide", "listed", "len4")
NODE_FIELDS = {
    **{field: number for number, field in enumerate(WORD_FIELDS) if field not in _OTHER_FIELDS},
    "len": <int> LENGTH4,
}
"""The fields of nodes, by name, and their numbers."""


def atoms_of_nodes(nodes):
    """The names of all atoms that nodes have as words of the sentence.

    Returns a mapping to the node and the number of the field.
    """
    names = {}
    for node in nodes:
        names[f"{node}w"] = node, 0
        names[f"{node}t"] = node, <int> TAG
        for field, number in NODE_FIELDS.items():
            names[f"{field}({node})"] = node, number
    return names


cdef class TaggedWordTransitions(TransitionSystem):
    """The base of transition systems over tagged words.

    A subclass declares nodes and numbers, what they are in a state, and what actions do.
    """

    cdef int declare(self, names, dict nodes, dict numbers, tuple many) except -1:
        """Register the atoms that templates read.

        names: of atoms. nodes, numbers: by their names, in the order of their numbers in a state,
        the anchors that they depend on. many: atoms with many values, which come after all others;
        their anchors stand among those of `numbers`.
        Raises ValueError for atoms that do not exist.
        """
        cdef int i
        self.fills_together = True
        of_nodes = atoms_of_nodes(nodes)
        chosen = dict.fromkeys(names)
        for name in chosen:
            if name not in of_nodes and name not in numbers:
                raise ValueError(f"unknown atom {name!r}")
            if (
                self.words.word_classes is None
                and name in of_nodes
                and WORD_CLASS <= of_nodes[name][1] < <int> N_FIELDS
            ):
                raise ValueError("atoms of word classes need the setting word_classes")
        known = [name for name in chosen if name not in many]
        self.multi_valued = tuple(name for name in chosen if name in many)
        self._reads_many = len(self.multi_valued) > 0
        self.atoms = (*known, *self.multi_valued)
        self.atom_anchors = tuple(
            tuple(nodes[of_nodes[name][0]] if name in of_nodes else numbers[name])
            for name in self.atoms
        )
        reserve(&self.buffers, self._sources, len(self.atoms))
        reserve_zeros(&self.buffers, self._fields_read, len(self.atoms))
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
        self, const uint32_t* text, const int32_t* bounds, const uint64_t* tags, Py_ssize_t n
    ) except -1 nogil:
        """Load a sentence of `n` words without given parts of its tree: word i lies in `text`, as
        it is seen, from bounds[i] to bounds[i + 1]. tags: hashes.
        """
        cdef uint64_t* fields
        cdef Py_ssize_t i
        reserve(&self.buffers, self._fields, (n + FIRST_WORD) * N_FIELDS_OF_WORD)
        self._n = n
        self._n_nodes = 0
        for i in range(N_FIELDS_OF_WORD):
            self._fields[NO_NODE * N_FIELDS_OF_WORD + i] = NOWHERE
            self._fields[PADDING * N_FIELDS_OF_WORD + i] = BEYOND
        for i in range(n):
            fields = self._fields + (FIRST_WORD + i) * N_FIELDS_OF_WORD
            self.words.fill(
                text + bounds[i], bounds[i + 1] - bounds[i], self._wanted_fields, fields
            )
            fields[TAG] = tags[i]
        return 0

    cdef int load_part(
        self, const void* sentence, Py_ssize_t begin, Py_ssize_t count, double dropout,
        uint64_t* noise,
    ) except -1 nogil:
        cdef const uint64_t* block = <const uint64_t*> sentence
        cdef Py_ssize_t n = <Py_ssize_t> block[0]
        cdef const int32_t* bounds = <const int32_t*> (block + 1 + n)
        cdef uint64_t* fields
        cdef Py_ssize_t i
        self.load(<const uint32_t*> (bounds + n + 1), bounds, block + 1, n)
        if dropout > 0.0:
            for i in range(n):
                if next_unit(noise) < dropout:
                    # The tag stays: only words are hidden.
                    fields = self._fields + (FIRST_WORD + i) * N_FIELDS_OF_WORD
                    memset(fields, 0, TAG * sizeof(uint64_t))
        return 0

    cdef int unload(self) except -1 nogil:
        return self.load(NULL, NULL, NULL, 0)

    def load_words(self, words, tags, given=None):
        """Load a sentence, as for `Agenda.derivations`; arguments as of `TreeDecoder.parse`."""
        cdef TaggedWordBuffer buffer = TaggedWordBuffer()
        cdef int32_t[::1] known = None
        buffer.fill(self.words, [(list(words), list(tags))])
        self.load(buffer.text, buffer.bounds, buffer.tags, len(words))
        if given is not None:
            known = self.constraints_of(given, len(words))
            self.constrain(&known[0])
        self._kept = buffer, known

    cdef int32_t[::1] constraints_of(self, given, Py_ssize_t n_words):
        """Constraints of the tree of a sentence as `constrain` reads them, one number at least."""
        raise NotImplementedError

    cdef object built_tree(
        self, const int32_t* actions, Py_ssize_t n_actions, Py_ssize_t n_words
    ):
        """The tree over so many words that actions build."""
        raise NotImplementedError

    cdef object tree_array(
        self, const int32_t* actions, Py_ssize_t n_actions, Py_ssize_t n_words
    ):
        """The same as an array of numbers."""
        raise NotImplementedError

    def tree(self, actions):
        """The tree that actions for the loaded sentence build. Raises ValueError if it is none."""
        cdef const int32_t[::1] taken = np.array([*actions, 0], dtype=np.int32)
        return self.built_tree(&taken[0], len(taken) - 1, self._n)

    cdef Derivation derivation_of(self, words, tags, list actions, object numbering):
        """A training sentence: words and tags, strings, and its gold actions.

        Raises ValueError if the words are too long to be counted.
        """
        cdef Derivation derivation
        cdef uint64_t* block
        cdef int32_t* bounds
        cdef int64_t total = 0
        cdef Py_ssize_t n = len(words)
        cdef Py_ssize_t i
        for word in words:
            total += len(word)
        if total + n > 0x3FFFFFFF:
            raise ValueError(f"sentence too long: {total:,} characters")
        derivation = Derivation.make(
            len(actions), len(actions),
            (n + 1) * sizeof(uint64_t) + (n + 1 + total) * sizeof(int32_t), numbering,
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
        self, const void* state, const AtomSet* wanted, uint64_t* values
    ) noexcept nogil:
        cdef int32_t rows[MAX_NODES]
        cdef uint64_t numbers[MAX_NUMBERS]
        cdef uint64_t bits
        cdef int source
        cdef int word
        cdef int i
        self.find_nodes(state, rows)
        self.find_numbers(state, numbers)
        for word in range(WORDS_OF_ATOM_SET):
            bits = wanted.words[word]
            i = 64 * word
            while bits:
                if bits & 1:
                    source = self._sources[i]
                    if source < MAX_NODES:
                        values[i] = self._fields[
                            rows[source] * N_FIELDS_OF_WORD + self._fields_read[i]
                        ]
                    else:
                        values[i] = numbers[source - MAX_NODES]
                bits >>= 1
                i += 1

    cdef void find_nodes(self, const void* state, int32_t* rows) noexcept nogil:
        """Write the row of fields of each node."""

    cdef void find_numbers(self, const void* state, uint64_t* numbers) noexcept nogil:
        """Write the values of the atoms that are no fields of words."""


def hash_of_tag(tag):
    """Atom of a tag, distinct from reserved values."""
    found = hash_string(tag)
    return found if found > NOWHERE else found + NOWHERE + 1


cdef class TaggedWordBuffer(BufferOwner):
    """Buffer of tagged sentences that code without the GIL can read.

    text: all words as they are seen, one after the other; word i reaches from bounds[i] to
    bounds[i + 1]. tags: hashes.
    """

    def __cinit__(self):
        self._hashes = {}

    @property
    def capacity(self):
        """Capacity of the working memory, in characters or words."""
        return max(capacity_of(self.text), capacity_of(self.bounds))

    cdef uint64_t _hash(self, str tag) except? 0:
        found = self._hashes.get(tag)
        if found is None:
            if len(self._hashes) > 10_000:
                self._hashes.clear()
            found = self._hashes[tag] = hash_of_tag(tag)
        return found

    cdef Py_ssize_t fill(self, WordFields words, list sentences) except -1:
        """Copy sentences, pairs of lists of words and of tags; return the number of words.

        words: how they are seen.
        Raises ValueError for tags that are not one for each word, TypeError for what is no string.
        """
        cdef Py_ssize_t total = 0
        cdef Py_ssize_t n_words = 0
        cdef Py_ssize_t i
        cdef Py_ssize_t n
        cdef str word
        cdef str tag
        reserve(&self.buffers, self.bounds, 1)
        self.bounds[0] = 0
        for of_sentence, tags in sentences:
            n = len(<list?> of_sentence)
            if len(<list?> tags) != n:
                raise ValueError(f"expected a tag for each of {n} words, got {len(tags)}")
            reserve(&self.buffers, self.bounds, n_words + n + 1)
            reserve(&self.buffers, self.tags, n_words + n)
            for i in range(n):
                word = <str?> (<list> of_sentence)[i]
                tag = <str?> (<list> tags)[i]
                if total + len(word) > 0x3FFFFFFF:
                    raise ValueError("too many characters for one call")
                reserve(&self.buffers, self.text, total + len(word) + 1)
                words.read(word, self.text + total)
                total += len(word)
                self.tags[n_words] = self._hash(tag)
                n_words += 1
                self.bounds[n_words] = <int32_t> total
        return n_words


cdef class TreeDecoder(BufferOwner):
    """Parses sentences of words and tags. It holds working memory: use one in each thread.

    agenda: its system is a `TaggedWordTransitions`. Words must not be white space only.
    """

    def __init__(self, Agenda agenda not None):
        self.agenda = agenda
        self.system = <TaggedWordTransitions?> agenda.system
        self._sentences = TaggedWordBuffer()

    @property
    def capacity(self):
        """Capacity of the working memory, in characters or words."""
        return self._sentences.capacity

    def parse(self, list sentences not None, given=None, *, bint arrays=False):
        """The trees of sentences.

        sentences: pairs of a list of words and one of their tags. given: None, or for each sentence
        None or constraints of its tree, as the system takes them. arrays: whether trees are to be
        arrays of numbers.
        None instead of a tree where the constraints left no way within the beam. The GIL is
        released while parsing.
        Raises ValueError for tags that are not one for each word and for constraints that no tree
        can have, TypeError for what is no string.
        """
        cdef TaggedWordBuffer taken = self._sentences
        cdef Py_ssize_t n_sentences = len(sentences)
        cdef Py_ssize_t first_word = 0
        cdef Py_ssize_t n_actions = 0
        cdef Py_ssize_t i
        cdef SentencePart* part
        cdef int32_t[::1] known
        cdef list kept = []
        cdef list trees = []
        # Lists of our own, which nobody changes while the GIL is released.
        sentences = [(list(<list?> words), list(<list?> tags)) for words, tags in sentences]
        taken.fill(self.system.words, sentences)
        reserve(&self.buffers, self._parts, n_sentences)
        for i in range(n_sentences):
            part = &self._parts[i]
            part.n_words = len(<list> sentences[i][0])
            part.known = NULL
            if given is not None and given[i] is not None:
                known = self.system.constraints_of(given[i], part.n_words)
                part.known = &known[0]
                kept.append(known)
        try:
            with nogil:
                for i in range(n_sentences):
                    part = &self._parts[i]
                    self.system.load(
                        taken.text, taken.bounds + first_word, taken.tags + first_word,
                        part.n_words,
                    )
                    if part.known != NULL:
                        self.system.constrain(part.known)
                    part.n_actions = self._decode(n_actions)
                    first_word += part.n_words
                    n_actions += max(part.n_actions, 0)
        finally:
            self.system.unload()
        n_actions = 0
        for i in range(n_sentences):
            part = &self._parts[i]
            if part.n_actions < 0:
                trees.append(None)
            elif arrays:
                trees.append(self.system.tree_array(
                    self._actions + n_actions, part.n_actions, part.n_words
                ))
            else:
                trees.append(self.system.built_tree(
                    self._actions + n_actions, part.n_actions, part.n_words
                ))
            n_actions += max(part.n_actions, 0)
        return trees

    cdef Py_ssize_t _decode(self, Py_ssize_t first) except -2 nogil:
        """Decode the loaded sentence; write its actions from `first` on, and return their number.

        -1 if no tree is consistent with the constraints.
        """
        cdef Py_ssize_t n_found = 0
        cdef Py_ssize_t item = self.agenda.search(1, &n_found)
        if n_found == 0:
            return -1
        reserve(&self.buffers, self._actions, first + self.agenda.items[item].step + 1)
        self.agenda.trace(item, self._actions + first)
        return self.agenda.items[item].step

    def nbest(self, list words not None, list tags not None, Py_ssize_t k):
        """The `k` best trees that the beam lets through, best first, as `parse` gives them.

        Fewer where several ways lead to one tree, which gets the score of the best. Where the
        search ends when the best are complete, it may end later than for one, and find a better.
        Returns pairs of a score and a tree. Raises ValueError if k < 1, and as `parse`.
        """
        if k < 1:
            raise ValueError(f"k must be at least 1, got {k}")
        self.system.load_words(words, tags)
        best = {}
        for score, actions in self.agenda.derivations(k):
            tree = self.system.tree(actions)
            # The parts of a tree may be lists.
            best.setdefault(tuple(map(tuple, tree)), (score, tree))
        return list(best.values())
