from libc.stdint cimport uint8_t, uint16_t

from spacy_structreg.tasks.knowledge.lexicon cimport Lexicon
from spacy_structreg.tasks.knowledge.source cimport CharacterSource


cdef class LexiconSource(CharacterSource):
    cdef readonly object words
    cdef Lexicon _lexicon
    cdef const uint8_t[::1] _frequencies
    cdef const uint16_t[::1] _tags
