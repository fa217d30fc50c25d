from spacy_structreg.tasks.knowledge.lexicon cimport Lexicon
from spacy_structreg.tasks.knowledge.source cimport CharacterSource


cdef class LexiconSource(CharacterSource):
    cdef readonly object words
    cdef Lexicon _lexicon
