"""Word clusters, such as Brown clusters, for words that the training corpus may lack.

A class has a name. Where all names are strings of the bits 0 and 1, they are paths in a binary
tree, as in Brown clustering (Brown et al. 1992), and their beginnings are classes, too: those of 4,
6, 10 and 20 bits (Koo, Carreras & Collins 2008, section 3; Ratinov & Roth 2009, section 6.1).
"""

from libc.stdint cimport int32_t, uint16_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner, reserve
from spacy_structreg.learn.rows cimport Rows
from spacy_structreg.search.transition_system cimport NULL_ATOM

import numpy as np

from spacy_structreg.features.word_fields import CLASS_FIELDS, PATH_LENGTHS
from spacy_structreg.learn.model_file import keyed_arrays
from spacy_structreg.learn.murmur import hash_string

MAX_CLASSES = 0xFFFF
"""Most classes."""

# Values below are those of nodes and words that are not there (`tagged_words`, `word_fields`).
cdef uint64_t NO_CLASS = 3

assert len(CLASS_FIELDS) == N_CLASS_FIELDS


cdef class WordClasses(BufferOwner):
    """Classes of words, by 64-bit keys.

    names: of the classes, sorted and distinct.
    arrays: keys, uint64 of shape (n,), rising; numbers, uint16 of shape (n,), of their classes.
    is_tree: whether the names are paths.
    Raises ValueError if names or arrays are not of this form.
    """

    def __init__(self, names, arrays):
        cdef const uint16_t[::1] numbers
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        if self._fields != NULL:
            raise TypeError("word classes cannot be initialized twice")
        self.names = tuple(names)
        if len(self.names) > MAX_CLASSES or not all(
            isinstance(name, str) and name for name in self.names
        ) or any(a >= b for a, b in zip(self.names, self.names[1:], strict=False)):
            raise ValueError("the names of word classes must be sorted, distinct and not too many")
        self._n_classes = len(self.names)
        self._arrays = _checked(arrays, self._n_classes)
        self._index = Rows()
        self._index.index(self._arrays["keys"])
        self.n = len(self._arrays["keys"])
        self.is_tree = bool(self.names) and all(set(name) <= {"0", "1"} for name in self.names)
        if self.n:
            numbers = self._arrays["numbers"]
            self._numbers = &numbers[0]
        reserve(&self.buffers, self._fields, (len(self.names) + 1) * N_CLASS_FIELDS)
        for i in range(len(self.names) + 1):
            for k in range(N_CLASS_FIELDS):
                value = self.text_of(i, k)
                self._fields[i * N_CLASS_FIELDS + k] = (
                    NULL_ATOM if value is None else NO_CLASS if not value else _symbol(value)
                )

    def __reduce__(self):
        return WordClasses, (self.names, self._arrays)

    def __len__(self):
        return self.n

    @property
    def arrays(self):
        """The arrays by name."""
        return dict(self._arrays)

    def text_of(self, Py_ssize_t number, Py_ssize_t field):
        """A field of the words of a class, as text: empty for no class, None if there is none."""
        if field and not self.is_tree:
            return None
        if number == len(self.names):
            return ""
        return self.names[number] if field == 0 else self.names[number][: PATH_LENGTHS[field - 1]]

    def number(self, uint64_t key):
        """Return the class number of a word; the number of classes if it has none."""
        cdef int32_t found = self._index.find(key)
        return len(self.names) if found < 0 else self._numbers[found]

    cdef const uint64_t* fields_of(self, uint64_t key) noexcept nogil:
        """The `N_CLASS_FIELDS` fields of a word."""
        cdef int32_t found = self._index.find(key)
        cdef Py_ssize_t number = self._numbers[found] if found >= 0 else self._n_classes
        return self._fields + number * N_CLASS_FIELDS

    @classmethod
    def of_words(cls, words, key_of):
        """Classes of words by the key of each; of words of one key the first counts.

        words: pairs of words and names of classes. key_of: such as `WordFields.key_of`.
        Raises ValueError for more classes than `MAX_CLASSES`.
        """
        classes = {}
        for word, name in words:
            classes.setdefault(key_of(word), name)
        names = sorted(set(classes.values()))
        if len(names) > MAX_CLASSES:
            raise ValueError(f"too many word classes: {len(names):,}, at most {MAX_CLASSES:,}")
        number = {name: i for i, name in enumerate(names)}
        keys = sorted(classes)
        return cls(names, {
            "keys": np.array(keys, dtype=np.uint64),
            "numbers": np.array([number[classes[key]] for key in keys], dtype=np.uint16),
        })


def _symbol(value):
    found = hash_string(value)
    return found if found > NO_CLASS else found + NO_CLASS + 1


def _checked(arrays, n_classes):
    """Validate the arrays of `WordClasses`; return them in the layout of the kernels."""
    kept = keyed_arrays(arrays, {"keys": np.uint64, "numbers": np.uint16}, "word classes")
    numbers = kept["numbers"]
    if len(kept["keys"]) != len(numbers):
        raise ValueError("word classes must have one class per word")
    if len(numbers) and int(numbers.max()) >= n_classes:
        raise ValueError("the class of a word is out of range")
    return kept
