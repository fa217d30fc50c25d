from spacy_structreg.tasks.knowledge.source cimport CharacterSource
from spacy_structreg.tasks.segmentation.text cimport TextDecoder


cdef class GuideSource(CharacterSource):
    cdef object _new_decoder
    cdef object _contents
    cdef TextDecoder _decoder
