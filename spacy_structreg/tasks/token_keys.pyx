"""The symbols of tokens, and the keys of features that a position has any number of."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from spacy_structreg.learn.memory cimport BufferOwner, reserve_zeros
from spacy_structreg.learn.murmur cimport murmur_hash_64a

import numpy as np

from spacy_structreg.features.state_templates import MAX_STATE_ATOMS
from spacy_structreg.features.word_atoms import MAX_CHARACTERS, MAX_NGRAM

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(str text, Py_ssize_t* size) except NULL

cdef enum:
    MAX_ATOMS = 8
    LONGEST_WORD = 64
    LONGEST_NGRAM = 6
    UTF8_BYTES = 4
    # Symbols that stand for no text: no value, and a place beyond the ends of the sentence.
    NO_VALUE = 0
    BEYOND = 1
    # In place of the number of a field: the values of several words, or lists of values.
    MANY_WORDS = -1
    MANY_NGRAMS = -2
    MANY_PHRASES = -3

NULL_SYMBOL = <int> NO_VALUE
PADDING = <int> BEYOND
WORDS = <int> MANY_WORDS
NGRAMS = <int> MANY_NGRAMS
GAZETTEERS = <int> MANY_PHRASES

assert MAX_ATOMS == MAX_STATE_ATOMS
assert (LONGEST_WORD, LONGEST_NGRAM) == (MAX_CHARACTERS, MAX_NGRAM)


cdef inline uint64_t symbol_of_bytes(const char* utf8, Py_ssize_t size) noexcept nogil:
    cdef uint64_t symbol = murmur_hash_64a(utf8, size, 1)
    return symbol if symbol > BEYOND else symbol + BEYOND + 1


cdef inline uint64_t hashed(str text) except? 0:
    cdef Py_ssize_t size
    cdef const char* utf8 = PyUnicode_AsUTF8AndSize(text, &size)
    return symbol_of_bytes(utf8, size)


def symbol_of(str text not None):
    """The symbol of a value: its MurmurHash64A, but neither `NULL_SYMBOL` nor `PADDING`.

    Raises UnicodeEncodeError if `text` holds a lone surrogate.
    """
    return hashed(text)


def ngram_symbols(str word not None):
    """The symbols of `features.word_atoms.letter_ngrams`, uint64, as bytes."""
    cdef uint64_t symbols[LONGEST_NGRAM * (LONGEST_WORD + 1)]
    # Where the characters begin, and the last one ends.
    cdef Py_ssize_t offsets[LONGEST_WORD + 1]
    cdef char text[LONGEST_NGRAM * UTF8_BYTES + 2]
    cdef Py_ssize_t size
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t length
    cdef Py_ssize_t start
    cdef Py_ssize_t end
    cdef Py_ssize_t first
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t i
    cdef uint64_t symbol
    word = word[:LONGEST_WORD]
    cdef const char* utf8 = PyUnicode_AsUTF8AndSize(word, &size)
    for i in range(size):
        # Bytes that begin with 10 go on with a character.
        if utf8[i] & 0xC0 != 0x80:
            offsets[n] = i
            n += 1
    offsets[n] = size
    for length in range(1, LONGEST_NGRAM + 1):
        for start in range(-1, n + 2 - length):
            end = start + length
            first = offsets[max(start, 0)]
            size = offsets[min(end, n)] - first
            if size <= 0:
                continue
            text[0] = c"^" if start < 0 else c"."
            memcpy(text + 1, utf8 + first, size)
            text[size + 1] = c"$" if end > n else c"."
            symbol = symbol_of_bytes(text, size + 2)
            i = 0
            while i < count and symbols[i] != symbol:
                i += 1
            if i == count:
                symbols[count] = symbol
                count += 1
    return PyBytes_FromStringAndSize(<char*> symbols, count * sizeof(uint64_t))


cdef struct AtomSpec:
    # A field, or one of the constants above, of the positions from `first` to `last`.
    int field
    int first
    int last


cdef struct TemplateSpec:
    uint64_t number
    int n_atoms
    int many  # which atom has many values; -1 if none has
    AtomSpec atoms[MAX_ATOMS]


cdef class TokenKeys(BufferOwner):
    """The fields of tokens, which of them are streams, and the templates of lists of features.

    A field is a symbol of each token. The first `n_word_fields` depend on the word alone, and are
    handed in; the values of `columns`, the numbers of columns of a token, follow.
    streams: the fields that are streams. word: the field that is the word itself; -1 if none is.
    lists: for each list its templates: a number, and atoms (field, first, last) as in `AtomSpec`.
    Raises ValueError if these do not fit each other.
    """

    cdef readonly tuple arguments
    cdef Py_ssize_t n_word_fields
    cdef Py_ssize_t n_fields
    cdef Py_ssize_t word
    cdef int reach
    cdef tuple columns
    cdef tuple streams
    cdef tuple ends
    cdef TemplateSpec* templates

    def __init__(self, Py_ssize_t n_word_fields, columns, streams, Py_ssize_t word, lists):
        cdef TemplateSpec* template
        cdef AtomSpec* atom
        if self.templates != NULL:
            raise TypeError("token keys cannot be initialized twice")
        self.arguments = (
            n_word_fields, tuple(columns), tuple(streams), word,
            tuple([tuple([(number, tuple(atoms)) for number, atoms in each]) for each in lists]),
        )
        _, self.columns, self.streams, _, lists = self.arguments
        self.n_word_fields = n_word_fields
        self.n_fields = n_word_fields + len(self.columns)
        self.word = word
        self.reach = 0
        everything = [spec for each in lists for spec in each]
        self.ends = tuple(np.cumsum([len(each) for each in lists], dtype=np.int64).tolist())
        reserve_zeros(&self.buffers, self.templates, len(everything))
        for i, (number, atoms) in enumerate(everything):
            template = &self.templates[i]
            if len(atoms) > MAX_ATOMS:
                raise ValueError(f"a template has more than {MAX_STATE_ATOMS} atoms")
            template.number = number
            template.n_atoms = len(atoms)
            template.many = -1
            for a, (field, first, last) in enumerate(atoms):
                if not MANY_PHRASES <= field < self.n_fields or first > last:
                    raise ValueError(f"no field {field} at the offsets {first} to {last}")
                if field < 0:
                    if template.many >= 0:
                        raise ValueError("a template has two multi-valued atoms")
                    template.many = a
                elif first != last:
                    raise ValueError("an atom of a list must be at one offset")
                atom = &template.atoms[a]
                atom.field = field
                atom.first = first
                atom.last = last
                self.reach = max(self.reach, -first, last)
                if field == MANY_WORDS and not 0 <= word < n_word_fields:
                    raise ValueError("the words themselves are not a field")
        if any([not 0 <= stream < self.n_fields for stream in self.streams]):
            raise ValueError("a stream index is out of range")

    def __reduce__(self):
        return TokenKeys, self.arguments

    def extract(self, list words not None, tokens, list gazetteers, Py_ssize_t reach):
        """The streams of a sentence, and the keys of its lists.

        words: for each token the fields of its word, and then the values of its letter n-grams;
            native uint64. tokens: the columns of each, as long as `words`.
        gazetteers: for each token its values, uint64; None if there are none.
        Returns symbols, of shape (n_streams, n + 2 * reach), and for each list where the keys of
        each position begin, int64 of shape (n + 1,), the keys, and None in place of values.
        """
        cdef Py_ssize_t n = len(words)
        cdef Py_ssize_t margin = max(reach, self.reach)
        cdef uint64_t[:, ::1] fields
        cdef Py_ssize_t i
        cdef Py_ssize_t f
        cdef bytes entry
        array = np.full((self.n_fields, n + 2 * margin), PADDING, dtype=np.uint64)
        fields = array
        for i in range(n):
            entry = words[i]
            if PyBytes_GET_SIZE(entry) < self.n_word_fields * <Py_ssize_t> sizeof(uint64_t):
                raise ValueError("the fields of a word are missing")
            for f in range(self.n_word_fields):
                memcpy(
                    &fields[f, margin + i],
                    PyBytes_AS_STRING(entry) + f * sizeof(uint64_t), sizeof(uint64_t),
                )
        f = self.n_word_fields
        for column in self.columns:
            for i in range(n):
                fields[f, margin + i] = hashed(tokens[i][column])
            f += 1
        if gazetteers is not None and len(gazetteers) != n:
            raise ValueError("the gazetteers must have values for each token")
        symbols = array[list(self.streams), margin - reach : margin + n + reach]
        lists = []
        f = 0
        for end in self.ends:
            lists.append(self._list(f, end, words, gazetteers, fields, margin, n))
            f = end
        return np.ascontiguousarray(symbols), tuple(lists)

    cdef Py_ssize_t _values(
        self, const AtomSpec* atom, Py_ssize_t at, list words, list gazetteers,
        const uint64_t[:, ::1] fields, Py_ssize_t margin, const char** values,
    ):
        """Return the number of values of a multi-valued atom at a position, and their address."""
        cdef Py_ssize_t skipped = 0
        cdef bytes entry
        values[0] = NULL
        if at < 0 or at >= len(words):
            return 0
        if atom.field == MANY_WORDS:
            values[0] = <const char*> &fields[self.word, margin + at]
            return 1
        if atom.field == MANY_NGRAMS:
            entry = words[at]
            skipped = self.n_word_fields * sizeof(uint64_t)
        elif gazetteers is None:
            return 0
        else:
            entry = gazetteers[at]
        values[0] = PyBytes_AS_STRING(entry) + skipped
        return (PyBytes_GET_SIZE(entry) - skipped) // <Py_ssize_t> sizeof(uint64_t)

    cdef _list(
        self, Py_ssize_t first, Py_ssize_t last, list words, list gazetteers,
        const uint64_t[:, ::1] fields, Py_ssize_t margin, Py_ssize_t n,
    ):
        """The keys of the templates from `first` to `last` at each position."""
        cdef TemplateSpec* template
        cdef const char* values
        cdef uint64_t joined[MAX_ATOMS + 1]
        cdef uint64_t* keys
        cdef uint64_t key
        cdef Py_ssize_t size = 0
        cdef Py_ssize_t kept = 0
        cdef Py_ssize_t before
        cdef Py_ssize_t count
        cdef Py_ssize_t i
        cdef Py_ssize_t t
        cdef Py_ssize_t at
        cdef Py_ssize_t k
        cdef Py_ssize_t j
        cdef int a
        cdef int many
        starts = np.zeros(n + 1, dtype=np.int64)
        cdef int64_t[::1] start_view = starts
        # As many keys as there may be at most.
        for t in range(first, last):
            template = &self.templates[t]
            many = template.many
            if many < 0:
                size += n
                continue
            for i in range(n):
                for at in range(
                    i + template.atoms[many].first, i + template.atoms[many].last + 1
                ):
                    size += self._values(
                        &template.atoms[many], at, words, gazetteers, fields, margin, &values
                    )
        array = np.empty(size + 1, dtype=np.uint64)
        cdef uint64_t[::1] key_view = array
        keys = &key_view[0]
        for i in range(n):
            for t in range(first, last):
                template = &self.templates[t]
                many = template.many
                joined[0] = template.number
                for a in range(template.n_atoms):
                    if a != many:
                        joined[a + 1] = fields[
                            template.atoms[a].field, margin + i + template.atoms[a].first
                        ]
                        if joined[a + 1] == NO_VALUE:
                            break
                else:
                    if many < 0:
                        keys[kept] = murmur_hash_64a(
                            joined, (template.n_atoms + 1) * sizeof(uint64_t), 1
                        )
                        kept += 1
                        continue
                    before = kept
                    for at in range(
                        i + template.atoms[many].first, i + template.atoms[many].last + 1
                    ):
                        count = self._values(
                            &template.atoms[many], at, words, gazetteers, fields, margin, &values
                        )
                        for k in range(count):
                            memcpy(
                                &joined[many + 1], values + k * sizeof(uint64_t), sizeof(uint64_t)
                            )
                            key = murmur_hash_64a(
                                joined, (template.n_atoms + 1) * sizeof(uint64_t), 1
                            )
                            # Values of one position differ; words of several may be the same.
                            if template.atoms[many].first < template.atoms[many].last:
                                j = before
                                while j < kept and keys[j] != key:
                                    j += 1
                                if j < kept:
                                    continue
                            keys[kept] = key
                            kept += 1
            start_view[i + 1] = kept
        return starts, array[:kept].copy(), None
