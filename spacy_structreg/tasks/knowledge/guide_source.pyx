"""Labels of characters by a model of another standard, as a knowledge source.

A corpus of another standard needs no conversion: a model trained on it labels the sentence, and
templates read its labels (Jiang, Huang & Liu 2009).
"""

from libc.stdint cimport uint32_t, uint64_t

from spacy_structreg.tasks.knowledge.source cimport CharacterSource

from spacy_structreg.features.knowledge import GUIDE

cdef enum:
    # The places of a character in its word.
    BEGIN
    MIDDLE
    END
    SINGLE
    N_PLACES

PLACES = "BMES"

cdef class GuideSource(CharacterSource):
    """Labels by a trained model: the place of a character in its word, with the word's tag.

    It holds working memory: `copy` it for another thread.
    atom: the name of its atom. model: a trained model that finds words in raw text.
    """

    NAME = "guide"
    LABEL = GUIDE

    def __init__(self, str atom not None, model not None):
        self.atom = atom
        self.model = model
        self._decoder = model._decoders().new_decoder()
        n_symbols = 1 + N_PLACES * max(1, len(self._decoder.tags))
        self.atoms = {atom: n_symbols.bit_length()}

    def __reduce__(self):
        return GuideSource, (self.atom, self.model)

    cpdef CharacterSource copy(self):
        return GuideSource(self.atom, self.model)

    def frozen(self, bits, prune):
        if self.model.is_frozen:
            return self
        return GuideSource(self.atom, self.model.freeze(bits=bits, prune=prune))

    def contents(self):
        return self.model.contents()

    def text_of(self, str atom, int symbol):
        tag, place = divmod(symbol - 1, <int> N_PLACES)
        tags = self._decoder.tags
        return f"{PLACES[place]}-{tags[tag]}" if tags else PLACES[place]

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
