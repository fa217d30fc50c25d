"""Statistics of raw text as a knowledge source: accessor variety and mutual information.

The class of an accessor variety (`ngrams`; Feng et al. 2004, after Gao, Qiu & Huang 2010,
section 5) is the floor of its binary logarithm, 15 at most (Zhao & Kit 2008, section 3).

The mutual information of a bigram is the binary logarithm of how much more often it occurs than its
characters would meet by chance. Its class is 1 for less than 1, 2 for less than 2 and so on, 15 at
most; 0 where the bigram was hardly seen.

N-grams are stored by a key, their 64 bits mixed one to one, in the order of the keys, with 16 bits:
from the lowest on, the classes of the variety to the left, to the right, and of the information,
4 each. N-grams of which all are 0 are left out. The upper bits of a key say in which part of the
table it is looked for.
"""

from libc.stdint cimport int64_t, uint16_t, uint64_t

from spacy_structreg.learn.rows cimport STRUCTREG_PREFETCH
from spacy_structreg.tasks.knowledge.ngram_counts cimport code_of
from spacy_structreg.tasks.knowledge.source cimport CharacterSource

import numpy as np

from spacy_structreg.features.knowledge import INFORMATION_ATOM, STATISTICS, VARIETY_ATOMS


cdef enum:
    HIGHEST = 15
    CLASS_BITS = 4
    # Streams behind those of the best n-grams of two, three and four characters.
    LEFT = 3
    RIGHT = 4
    MUTUAL = 5
    # So many characters ahead a part of the table is fetched, and then the keys in it. Keys wait in
    # a ring meanwhile.
    AHEAD = 16
    NEAR = 8
    RING = 32

cdef uint64_t FIRST_FACTOR = 0xFF51AFD7ED558CCD
cdef uint64_t SECOND_FACTOR = 0xC4CEB9FE1A85EC53


cdef inline uint64_t mixed(uint64_t ngram) noexcept nogil:
    """The bits of an n-gram in another order: MurmurHash3's last step, which can be undone."""
    ngram ^= ngram >> 33
    ngram *= FIRST_FACTOR
    ngram ^= ngram >> 33
    ngram *= SECOND_FACTOR
    return ngram ^ ngram >> 33


cdef class StatisticsSource(CharacterSource):
    """Classes of n-grams. It never changes and has no working memory, so that threads may share it.

    ngrams: as of `NgramTotals`, distinct. classes: uint16 of shape (n,), what is stored of each.
    information: whether there is mutual information, too.
    """

    NAME = "statistics"
    LABEL = STATISTICS

    def __init__(self, ngrams, classes, bint information=False):
        keys = np.array(ngrams, np.uint64)
        cdef uint64_t[::1] view = keys
        cdef Py_ssize_t i
        for i in range(view.shape[0]):
            view[i] = mixed(view[i])
        order = np.argsort(keys)
        self._index(keys[order], np.array(classes, np.uint16)[order], information)

    def _index(self, keys, values, bint information):
        """Take rising keys and their values."""
        # About one n-gram in each part.
        bits = max(1, int(keys.size).bit_length())
        parts = (keys >> np.uint64(64 - bits)).astype(np.int64)
        starts = np.zeros((1 << bits) + 1, np.int64)
        np.cumsum(np.bincount(parts, minlength=1 << bits), out=starts[1:])
        self._set(keys, values, starts, information)

    def _set(self, keys, values, starts, bint information):
        self.information = information
        self.keys, self.values, self.starts = keys, values, starts
        self._keys = keys
        self._values = values
        self._starts = starts
        self._shift = 64 - (int(starts.size) - 1).bit_length() + 1
        self.atoms = dict.fromkeys(VARIETY_ATOMS, CLASS_BITS)
        # Two bits for the place in the n-gram.
        self.atoms |= dict.fromkeys(VARIETY_ATOMS[:LEFT], CLASS_BITS + 2)
        if information:
            self.atoms[INFORMATION_ATOM] = CLASS_BITS

    def __reduce__(self):
        return _restored, self.contents()

    def __len__(self):
        """The number of stored n-grams."""
        return self._keys.shape[0]

    @classmethod
    def of(cls, totals, bint information=False):
        """The classes of the n-grams that were counted. totals: `NgramTotals`."""
        classes = np.zeros(totals.ngrams.size, np.uint16)
        for place, varieties in enumerate((totals.left, totals.right)):
            found = np.clip(np.frexp(varieties.astype(np.float64))[1] - 1, 0, HIGHEST)
            classes |= found.astype(np.uint16) << np.uint16(4 * place)
        if information:
            pairs = np.flatnonzero(totals.ngrams & np.uint64(0xFFFFFFFF) == 0)
            of_first = totals.characters[totals.ngrams[pairs] >> np.uint64(48)]
            of_second = totals.characters[totals.ngrams[pairs] >> np.uint64(32) & np.uint64(0xFFFF)]
            together = totals.frequencies[pairs] / of_first * (totals.characters.sum() / of_second)
            found = np.clip(np.frexp(together)[1], 1, HIGHEST).astype(np.uint16)
            classes[pairs] |= found << np.uint16(8)
        known = classes > 0
        return cls(totals.ngrams[known], classes[known], information)

    def joined(self, StatisticsSource other not None):
        """The n-grams of both, of each the higher classes; as if both texts had been counted.

        Two classes of a variety that differ by one at most make one above the higher: two sets of
        about a size are up to twice as many together.
        Raises ValueError if one of the two has no mutual information and the other has.
        """
        if other.information != self.information:
            raise ValueError("cannot combine statistics with and without mutual information")
        keys, places = np.unique(np.concatenate((self.keys, other.keys)), return_inverse=True)
        values = np.zeros((2, keys.size), np.uint16)
        values[0, places[:self.keys.size]] = self.values
        values[1, places[self.keys.size:]] = other.values
        joined = np.zeros(keys.size, np.uint16)
        for k in range(3):
            low, high = np.sort(values >> np.uint16(4 * k) & np.uint16(HIGHEST), axis=0)
            if k < 2:
                high = np.minimum(high + ((low > 0) & (high - low <= 1)), HIGHEST)
            joined |= high.astype(np.uint16) << np.uint16(4 * k)
        cdef StatisticsSource source = StatisticsSource.__new__(StatisticsSource)
        source._index(keys, joined, self.information)
        return source

    def contents(self):
        arrays = {"keys": self.keys, "values": self.values, "starts": self.starts}
        return {"information": bool(self.information)}, arrays

    @classmethod
    def from_contents(cls, entries, arrays):
        """The source that `contents` describes. Raises ValueError for anything else."""
        if not isinstance(entries, dict) or set(entries) != {"information"}:
            raise ValueError(f"unexpected entries of raw-text statistics: {entries!r:.60}")
        if not isinstance(entries["information"], bool):
            raise ValueError("the entry 'information' of raw-text statistics must be true or false")
        if set(arrays) != {"keys", "values", "starts"}:
            raise ValueError(f"unexpected arrays of raw-text statistics: {sorted(arrays)}")
        keys, values, starts = arrays["keys"], arrays["values"], arrays["starts"]
        n_parts = starts.size - 1
        if (
            keys.dtype != np.uint64 or values.dtype != np.uint16 or starts.dtype != np.int64
            or keys.ndim != 1 or values.shape != keys.shape or starts.ndim != 1
            or n_parts < 2 or n_parts & (n_parts - 1)
            or starts[0] != 0 or starts[n_parts] != keys.size or (np.diff(starts) < 0).any()
            or (keys[1:] <= keys[: max(0, keys.size - 1)]).any()
        ):
            raise ValueError("the n-grams of the raw-text statistics are damaged")
        cdef StatisticsSource source = cls.__new__(cls)
        source._set(keys, values, starts, entries["information"])
        return source

    cdef uint16_t _value(self, uint64_t key) noexcept nogil:
        """The value of a key; 0 if it has none."""
        cdef int64_t low = self._starts[key >> self._shift]
        cdef int64_t high = self._starts[(key >> self._shift) + 1]
        cdef int64_t middle
        while low < high:
            middle = (low + high) // 2
            if self._keys[middle] < key:
                low = middle + 1
            elif self._keys[middle] == key:
                return self._values[middle]
            else:
                high = middle
        return 0

    cdef int fill(
        self, const uint64_t* characters, Py_ssize_t n, uint64_t* symbols, Py_ssize_t stride,
        Py_ssize_t reach,
    ) except -1 nogil:
        cdef uint64_t* stream
        cdef uint64_t ngram
        cdef uint64_t symbol
        cdef uint64_t key
        cdef uint64_t[3 * RING] keys
        cdef int64_t start
        cdef uint16_t value
        cdef int n_streams = MUTUAL + self.information
        cdef Py_ssize_t i
        cdef int length
        cdef int k
        for k in range(n_streams):
            stream = symbols + k * stride
            for i in range(n + 2 * reach):
                stream[i - reach] = 0
        for i in range(-AHEAD, n - 1):
            # Keys are looked up one after the other, while what later ones need is under way.
            if i + AHEAD < n - 1:
                ngram = code_of(characters[i + AHEAD]) << 48
                for length in range(2, 5):
                    key = 0
                    if i + AHEAD + length <= n:
                        ngram |= code_of(characters[i + AHEAD + length - 1]) << (64 - 16 * length)
                        key = mixed(ngram)
                        STRUCTREG_PREFETCH(&self._starts[key >> self._shift])
                    keys[((i + AHEAD) & (RING - 1)) * 3 + length - 2] = key
            if 0 <= i + NEAR < n - 1:
                for length in range(min(3, n - 1 - i - NEAR)):
                    key = keys[((i + NEAR) & (RING - 1)) * 3 + length]
                    start = self._starts[key >> self._shift]
                    STRUCTREG_PREFETCH(&self._keys[0] + start)
                    STRUCTREG_PREFETCH(&self._values[0] + start)
            if i < 0:
                continue
            for length in range(2, 5):
                if i + length > n:
                    break
                value = self._value(keys[(i & (RING - 1)) * 3 + length - 2])
                if length == 2 and self.information:
                    symbols[MUTUAL * stride + i + 1] = value >> 8 & HIGHEST
                if length == 2:
                    symbols[LEFT * stride + i] = value & HIGHEST
                    symbols[RIGHT * stride + i + 1] = value >> 4 & HIGHEST
                symbol = min(value & HIGHEST, value >> 4 & HIGHEST) << 2
                if symbol == 0:
                    continue
                stream = symbols + (length - 2) * stride + i
                for k in range(length):
                    if symbol > (stream[k] | 3):
                        stream[k] = symbol | k
        return 0


def _restored(entries, arrays):
    return StatisticsSource.from_contents(entries, arrays)
