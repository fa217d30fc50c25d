from spacy_structreg.tasks.knowledge.source cimport CharacterSource
from spacy_structreg.tasks.segmentation.text cimport TextDecoder


cdef class GuideSource(CharacterSource):
    cdef readonly str atom
    cdef readonly object model
    cdef TextDecoder _decoder
