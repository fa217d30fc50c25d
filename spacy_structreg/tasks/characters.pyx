"""Sentences of characters: what a model sees of them, and how they are cut into words.

White space is never part of a word: a model sees the characters without it, and a word always
ends where it stood. A character that joins the one before it (a combining mark, the parts of an
emoji) is never cut off. Both are constraints on the labels, given to the decoder as a mask.
"""

from cpython.unicode cimport PyUnicode_Substring
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from spacy_structreg.learn.memory cimport reserve
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.tasks.chain cimport ChainDecoder, ChainFeatures

import numpy as np

from spacy_structreg.features.characters import (
    EXTENDS,
    JOINS_NEXT,
    REGIONAL,
    TABLE_SIZE,
    WHITE_SPACE,
    half_width_table,
    property_table,
    type_table,
)

cdef extern from "Python.h":
    Py_UCS4* PyUnicode_AsUCS4(
        str text, Py_UCS4* buffer, Py_ssize_t length, int copy_null
    ) except NULL

cdef enum:
    CHARACTER_BITS = 21
    TYPE_BITS = 4
    PADDING = 0x110000
    TABLE = 0x20000
    # What constrains a character.
    FREE = 0
    BEGINS_WORD = 1
    CONTINUES_WORD = 2
    # What is marked at a character of the text.
    INSIDE = 0
    BEGINS = 1
    BETWEEN = 2

cdef uint8_t IS_SPACE = WHITE_SPACE
cdef uint8_t IS_EXTENSION = EXTENDS
cdef uint8_t IS_JOINER = JOINS_NEXT
cdef uint8_t IS_REGIONAL = REGIONAL

assert TABLE == TABLE_SIZE

NOT_COVERED = "the sentences of a text do not cover it: their ends do not rise to its length"


cdef inline uint8_t flags_of(const uint8_t* properties, uint32_t character) noexcept nogil:
    """The flags of a character. Beyond the tables only tags and variation selectors have any."""
    if character < TABLE:
        return properties[character]
    return IS_EXTENSION if 0xE0020 <= character <= 0xE01EF else 0


cdef class CharacterAtoms:
    """The atoms of characters: ``c``, the character itself, and ``type``, its type.

    types: the alphabet of types (`features.characters.ALPHABETS`), or None for no types.
    half_width: whether full-width forms of ASCII look to the model like ASCII.
    atoms: the streams of a sentence, and the bits of their symbols.
    """

    def __init__(self, types=None, half_width=False):
        cdef const uint8_t[::1] type_view
        cdef const uint32_t[::1] half_width_view
        self.types = types
        self.half_width = half_width
        self.atoms = {"c": CHARACTER_BITS}
        self._tables = (half_width_table(), None)
        half_width_view = self._tables[0]
        self._half_width = &half_width_view[0] if half_width else NULL
        self._types = NULL
        if types is not None:
            self.atoms["type"] = TYPE_BITS
            self._tables = (half_width_table(), type_table(types))
            type_view = self._tables[1]
            self._types = &type_view[0]

    def __reduce__(self):
        return CharacterAtoms, (self.types, self.half_width)

    cdef void fill(
        self, const uint32_t* text, Py_ssize_t n, uint64_t* symbols, Py_ssize_t stride,
        Py_ssize_t reach,
    ) noexcept nogil:
        """Write the streams of a sentence; `symbols` is position 0 of the first one."""
        cdef uint64_t* types = symbols + stride
        cdef uint64_t other = 0
        cdef uint32_t character
        cdef Py_ssize_t i
        for i in range(reach):
            symbols[i - reach] = PADDING
            symbols[n + i] = PADDING
        for i in range(n):
            character = text[i]
            if self._half_width != NULL and character < TABLE:
                character = self._half_width[character]
            symbols[i] = character
        if self._types == NULL:
            return
        # The last code point of the tables is unassigned; those beyond share its type, "other".
        other = self._types[TABLE - 1]
        for i in range(reach):
            types[i - reach] = 0
            types[n + i] = 0
        for i in range(n):
            types[i] = self._types[symbols[i]] if symbols[i] < TABLE else other

    def symbols(self, str text not None, Py_ssize_t reach):
        """The streams of a sentence without white space: uint64, (n_streams, n + 2 * reach)."""
        cdef Py_ssize_t n = len(text)
        symbols = np.empty((len(self.atoms), n + 2 * reach), dtype=np.uint64)
        cdef uint64_t[:, ::1] view = symbols
        cdef uint32_t* characters = <uint32_t*> malloc((n + 1) * sizeof(uint32_t))
        if characters == NULL:
            raise MemoryError(f"no memory for {n:,} characters")
        try:
            if n:
                PyUnicode_AsUCS4(text, <Py_UCS4*> characters, n, 0)
            if view.shape[1]:
                self.fill(characters, n, &view[0, 0] + reach, n + 2 * reach, reach)
        finally:
            free(characters)
        return symbols

    def compile(
        self, words, scheme, ChainFeatures features not None, Perceptron learner not None,
        tags=None,
    ):
        """A gold sentence as a `CompiledChain`; None if it has nothing but white space.

        words: the words of a sentence. White space in and around them is dropped.
        scheme: a `SegmentationScheme`, or, with the tags of the words, a `JointScheme`.
        Raises ValueError for tags that the scheme does not know, or that are not one a word.
        """
        squeezed = ["".join(word.split()) for word in words]
        text = "".join(squeezed)
        if not text:
            return None
        lengths = [len(word) for word in squeezed if word]
        if tags is None:
            labels = scheme.encode(lengths)
        else:
            kept = [tag for word, tag in zip(squeezed, tags, strict=True) if word]
            labels = scheme.encode(lengths, kept)
        return features.compile(self.symbols(text, features.reach), labels, learner)


cdef class CharacterDecoder:
    """Cuts texts into words by trained weights. It holds working memory: one in each thread.

    atoms: what the model sees of a character. chain: the model's decoder.
    begins: bool of shape (n_labels,), which labels begin a word.
    """

    def __init__(self, CharacterAtoms atoms not None, ChainDecoder chain not None, begins):
        cdef const uint8_t[::1] properties = property_table()
        cdef Py_ssize_t i
        self.atoms = atoms
        self.chain = chain
        self.begins = np.array(begins, dtype=bool)
        if list(atoms.atoms.items()) != list(chain.features.atoms.items()):
            raise ValueError("the atoms of characters are not those of the features")
        if self.begins.shape != (chain.graph.n_labels,):
            raise ValueError("the labels that begin a word do not fit the graph of labels")
        self._properties = &properties[0]
        free(self._begins)
        self._begins = <uint8_t*> malloc(chain.graph.n_labels)
        if self._begins == NULL:
            raise MemoryError("no memory for a decoder")
        for i in range(chain.graph.n_labels):
            self._begins[i] = self.begins[i]

    def __dealloc__(self):
        free(self._begins)
        free(self._text)
        free(self._squeezed)
        free(self._constraints)
        free(self._marks)
        free(self._labels)
        free(self._limits)

    @property
    def capacity(self):
        """For how many characters at a time there is room already."""
        return self._text_capacity

    def __reduce__(self):
        return CharacterDecoder, (self.atoms, self.chain, self.begins)

    cdef int _load(self, list texts) except -1:
        """Copy texts, one after the other, to where code without the GIL can read them."""
        cdef Py_ssize_t total = 0
        cdef Py_ssize_t n
        cdef str text
        for text in texts:
            total += len(text)
        reserve(<void**> &self._text, &self._text_capacity, total + 1, sizeof(uint32_t))
        reserve(<void**> &self._marks, &self._mark_capacity, total + 1, 1)
        total = 0
        for text in texts:
            n = len(text)
            if n:
                PyUnicode_AsUCS4(text, <Py_UCS4*> &self._text[total], n, 0)
            total += n
        return 0

    cdef Py_ssize_t _squeeze(
        self, const uint32_t* text, Py_ssize_t n, bint* constrained
    ) except -1 nogil:
        """Drop the white space of a sentence, and note what it and joining characters demand."""
        cdef Py_ssize_t kept = 0
        cdef Py_ssize_t i
        cdef uint8_t flags
        cdef uint8_t constraint
        cdef bint after_space = False
        cdef bint after_joiner = False
        cdef bint after_regional = False
        reserve(<void**> &self._squeezed, &self._squeezed_capacity, n + 1, sizeof(uint32_t))
        reserve(<void**> &self._constraints, &self._constraint_capacity, n + 1, 1)
        reserve(<void**> &self._labels, &self._label_capacity, n + 1, sizeof(uint16_t))
        constrained[0] = False
        for i in range(n):
            flags = flags_of(self._properties, text[i])
            if flags & IS_SPACE:
                after_space = True
                continue
            constraint = FREE
            if kept > 0:
                if after_space:
                    constraint = BEGINS_WORD
                elif flags & IS_EXTENSION or after_joiner or (
                    after_regional and flags & IS_REGIONAL
                ):
                    constraint = CONTINUES_WORD
            if constraint != FREE:
                constrained[0] = True
            after_regional = (
                flags & IS_REGIONAL != 0 and not (after_regional and not after_space)
            )
            after_joiner = flags & IS_JOINER != 0
            after_space = False
            self._squeezed[kept] = text[i]
            self._constraints[kept] = constraint
            kept += 1
        return kept

    cdef int _present(
        self, const uint32_t* text, Py_ssize_t n, bint constrained
    ) except -1 nogil:
        """Hand a squeezed sentence to the chain decoder: its streams, and the mask if needed."""
        cdef uint64_t* symbols = self.chain.symbols_for(n)
        cdef uint8_t* mask
        cdef Py_ssize_t n_labels = self.chain.graph.n_labels
        cdef Py_ssize_t i
        cdef Py_ssize_t y
        self.atoms.fill(text, n, symbols, self.chain.stride, self.chain.features.reach)
        if not constrained:
            return 0
        mask = self.chain.mask_for(n)
        memset(mask, 1, n * n_labels)
        for i in range(n):
            if self._constraints[i] != FREE:
                for y in range(n_labels):
                    mask[i * n_labels + y] = (
                        self._begins[y] == (self._constraints[i] == BEGINS_WORD)
                    )
        return 0

    cdef void _mark(self, const uint32_t* text, Py_ssize_t n, uint8_t* marks) noexcept nogil:
        """Lay the labels of a squeezed sentence over the characters of the text again."""
        cdef Py_ssize_t kept = 0
        cdef Py_ssize_t i
        for i in range(n):
            if flags_of(self._properties, text[i]) & IS_SPACE:
                marks[i] = BETWEEN
            else:
                marks[i] = BEGINS if self._begins[self._labels[kept]] else INSIDE
                kept += 1

    cdef int _decode(self, const uint32_t* text, Py_ssize_t n, uint8_t* marks) except -1 nogil:
        """Segment one sentence."""
        cdef bint constrained = False
        cdef Py_ssize_t kept = self._squeeze(text, n, &constrained)
        if kept:
            self._present(self._squeezed, kept, constrained)
            self.chain.decode(kept, constrained, self._labels)
        self._mark(text, n, marks)
        return 0

    cdef int _decode_all(self, list texts, list sentences) except -1:
        """Segment all sentences of some texts, without the GIL."""
        cdef Py_ssize_t n_sentences = 0
        cdef Py_ssize_t base = 0
        cdef Py_ssize_t last
        cdef Py_ssize_t i
        cdef str text
        for text, ends in zip(texts, sentences, strict=True):
            reserve(
                <void**> &self._limits, &self._limit_capacity, n_sentences + len(ends) + 1,
                sizeof(Py_ssize_t),
            )
            last = 0
            for end in ends:
                if not last <= end <= len(text):
                    raise ValueError(NOT_COVERED)
                last = end
                self._limits[n_sentences] = base + last
                n_sentences += 1
            if last != len(text):
                raise ValueError(NOT_COVERED)
            base += last
        self._load(texts)
        with nogil:
            last = 0
            for i in range(n_sentences):
                self._decode(self._text + last, self._limits[i] - last, self._marks + last)
                last = self._limits[i]
        return 0

    def segment(self, list texts not None, list sentences not None):
        """The words of each text, without the white space between them.

        sentences: for each text where its sentences end, rising, the last at its length.
        The GIL is released while the texts are decoded.
        """
        cdef Py_ssize_t base = 0
        cdef str text
        self._decode_all(texts, sentences)
        segmented = []
        for text in texts:
            segmented.append(self._words(text, self._marks + base))
            base += len(text)
        return segmented

    def spans(self, str text not None, list sentences not None):
        """Where the words of one text begin and end: int64 of shape (n_words, 2).

        sentences: where the sentences end, as for `segment`.
        """
        cdef Py_ssize_t i
        cdef Py_ssize_t n = len(text)
        cdef Py_ssize_t n_words = 0
        cdef bint open_word = False
        self._decode_all([text], [sentences])
        for i in range(n):
            n_words += self._marks[i] == BEGINS
        spans = np.empty((n_words, 2), dtype=np.int64)
        cdef int64_t[:, ::1] view = spans
        n_words = 0
        for i in range(n):
            if self._marks[i] == INSIDE:
                continue
            if open_word:
                view[n_words, 1] = i
                n_words += 1
            open_word = self._marks[i] == BEGINS
            if open_word:
                view[n_words, 0] = i
        if open_word:
            view[n_words, 1] = n
        return spans

    cdef list _words(self, str text, const uint8_t* marks):
        """The words that are marked in a text."""
        cdef Py_ssize_t n = len(text)
        cdef Py_ssize_t begin = -1
        cdef Py_ssize_t i
        cdef list words = []
        for i in range(n):
            if marks[i] == INSIDE:
                continue
            if begin >= 0:
                words.append(PyUnicode_Substring(text, begin, i))
            begin = i if marks[i] == BEGINS else -1
        if begin >= 0:
            words.append(PyUnicode_Substring(text, begin, n))
        return words

    def nbest(self, str text not None, Py_ssize_t k):
        """The `k` best segmentations of one sentence, best first: (score, words) each.

        There are fewer if the sentence has fewer. Raises ValueError if k < 1.
        """
        cdef bint constrained = False
        cdef Py_ssize_t kept
        cdef double score
        cdef Py_ssize_t rank
        if k < 1:
            raise ValueError(f"at least one segmentation must be asked for, not {k}")
        self._load([text])
        kept = self._squeeze(self._text, len(text), &constrained)
        if kept == 0:
            return [(0.0, [])]
        segmentations = []
        with nogil:
            self._present(self._squeezed, kept, constrained)
            self.chain.solve_nbest(kept, constrained)
        for rank in range(k):
            score = self.chain.nbest_path(rank, self._labels)
            if score == -np.inf:
                break
            self._mark(self._text, len(text), self._marks)
            segmentations.append((score, self._words(text, self._marks)))
        return segmentations
