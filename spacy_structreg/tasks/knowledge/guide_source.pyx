"""Labels of characters by a model of another standard, as a knowledge source.

A corpus of another standard needs no conversion: a model trained on it labels the sentence, and
templates read its labels (Jiang, Huang & Liu 2009).
"""

from libc.stdint cimport uint32_t, uint64_t

from spacy_structreg.tasks.knowledge.source cimport CharacterSource

cdef enum:
    # The places of a character in its word.
    BEGIN
    MIDDLE
    END
    SINGLE
    N_PLACES


cdef class GuideSource(CharacterSource):
    """Labels by a trained model: the place of a character in its word, with the word's tag.

    It holds working memory: `copy` it for another thread.
    atom: the name of its atom. new_decoder: gives a new decoder of the model, a `TextDecoder`.
    stored: what `contents` returns, the header and the arrays of the model's file. restore: makes a
        source of these and the name of the atom, for pickling.
    """

    NAME = "guide"

    def __init__(self, str atom not None, new_decoder, stored, restore):
        self._new_decoder = new_decoder
        self._contents = (atom, stored, restore)
        self._decoder = new_decoder()
        n_symbols = 1 + N_PLACES * max(1, len(self._decoder.tags))
        self.atoms = {atom: n_symbols.bit_length()}

    def __reduce__(self):
        atom, stored, restore = self._contents
        return restore, (atom, *stored)

    cpdef CharacterSource copy(self):
        atom, stored, restore = self._contents
        return GuideSource(atom, self._new_decoder, stored, restore)

    @property
    def tags(self):
        """The names of the tags of words; none if the model has none."""
        return self._decoder.tags

    def contents(self):
        return self._contents[1]

    cdef int fill(
        self, const uint64_t* characters, Py_ssize_t n, uint64_t* symbols, Py_ssize_t stride,
        Py_ssize_t reach,
    ) except -1 nogil:
        cdef Py_ssize_t i
        cdef Py_ssize_t first
        cdef Py_ssize_t end
        cdef uint64_t base
        for i in range(reach):
            symbols[i - reach] = 0
            symbols[n + i] = 0
        if n == 0:
            return 0
        self._decoder._make_room(n)
        for i in range(n):
            self._decoder.characters[i] = <uint32_t> characters[i]
        self._decoder.is_constrained = False
        self._decoder.listed = NULL
        self._decoder.solve(n)
        first = 0
        while first < n:
            end = first + 1
            while end < n and not self._decoder.begins[end]:
                end += 1
            base = 1 + N_PLACES * self._decoder.word_tags[first]
            for i in range(first, end):
                symbols[i] = base + (BEGIN if i == first else END if i == end - 1 else MIDDLE)
            if end == first + 1:
                symbols[first] = base + SINGLE
            first = end
        return 0
