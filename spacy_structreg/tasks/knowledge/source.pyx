"""Base class of knowledge sources of characters.

A source looks at a sentence and gives every character small symbols, which templates read as atoms
like any other: the streams of `tasks.chain`. It never changes, but for working memory.
"""

from libc.stdint cimport uint64_t

from spacy_structreg.learn.memory cimport BufferOwner


cdef class CharacterSource(BufferOwner):
    """Base class of knowledge sources; subclasses define `NAME`, `fill` and `contents`.

    atoms: the streams that it fills, in their order: the name of the atom, and in how many bits its
        symbols fit. Symbol 0 stands for places beyond the sentence, and for nothing known.
    """

    NAME = ""
    """Name of the source in a model file."""

    LABEL = ""
    """Name of the source in explanations."""

    cdef int fill(
        self, const uint64_t* characters, Py_ssize_t n, uint64_t* symbols, Py_ssize_t stride,
        Py_ssize_t reach,
    ) except -1 nogil:
        """Write the streams of a sentence of `n` normalized characters.

        symbols: position 0 of the first stream; streams lie `stride` apart. Each gets `n` symbols
        and `reach` zeros on both sides.
        """
        return 0

    cpdef CharacterSource copy(self):
        """Return a copy for another thread; the object itself if it has no working memory."""
        return self

    def prefer(self, words, seen):
        """Set the preferred user words, or None; ignored by sources without word lists.

        words: a `CompiledWords`. seen: gives what the model sees of a text, of the same length.
        Returns whether it takes such words. A source that does is copied for each thread.
        """
        return False

    def frozen(self, bits, prune):
        """Return the source with frozen weights (`StoredModel.freeze`); itself if it has none."""
        return self

    def text_of(self, str atom, int symbol):
        """Return the text of a symbol, at least 1, in explanations."""
        return str(symbol)

    def contents(self):
        """The entries of the header of a model file, as msgpack gives them back, and the arrays.

        The class method `from_contents` takes them back, and raises ValueError for anything else.
        """
        raise NotImplementedError
