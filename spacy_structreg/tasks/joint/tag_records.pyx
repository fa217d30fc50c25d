"""Records of the tags that words and characters have in a training corpus.

Zhang & Clark 2011, section 4.2, prune joint segmentation and tagging by such records: how long the
words of a tag are; the tags of frequent words; the words, and the first characters, of tags that
are closed sets. Their atoms also read the tags seen with words that contain a character.

The paper's records start empty and take in each training sentence before it is decoded:
`GrowingRecords`. `TagRecords` are of the whole corpus from the beginning. A record that is right
about every training sentence because it was made of it teaches trust that fails on new words; what
rare words and characters would say is therefore left out.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.string cimport memcpy, memset

from spacy_structreg.learn.memory cimport BufferOwner, reserve
from spacy_structreg.learn.murmur cimport murmur_hash_64a
from spacy_structreg.learn.rows cimport FeatureCounts, Rows
from spacy_structreg.tasks.segmentation.characters cimport CharacterAtoms

from collections import Counter, defaultdict

import numpy as np

cdef enum:
    BITS = 64
    # Of longer words, only the beginning tells one from another: states ask at every character.
    LONGEST_KEY = 64
    # Atoms below are for words that are not there.
    NO_WORD = 1

MAX_TAGS = 10_000
"""Maximum number of tags, so that weights and tag sets fit into memory."""

_DTYPES = {
    "lengths": np.int64,
    "any_words": np.uint64,
    "any_firsts": np.uint64,
    "words": np.uint64,
    "word_tags": np.uint64,
    "characters": np.uint64,
    "first_tags": np.uint64,
    "character_tags": np.uint64,
}
_COUNTED = {"word_counts": "words", "first_counts": "characters", "character_counts": "characters"}
# Far more than can be counted, and far from what overflows.
_MAX_COUNT = 1 << 48


cdef uint64_t word_key(const uint32_t* characters, Py_ssize_t n) noexcept nogil:
    """Hash of a word, distinct from the null atom and the absent word."""
    cdef uint64_t word = murmur_hash_64a(characters, min(n, LONGEST_KEY) * sizeof(uint32_t), 1)
    return word if word > NO_WORD else NO_WORD + 1


def key_of_codes(codes):
    """The key of a normalized word, by its code points: the value of atoms of words."""
    cdef uint32_t[::1] characters = np.array(codes or [0], dtype=np.uint32)
    return word_key(&characters[0], len(codes))


def check_tags(n_tags):
    """Raise ValueError for no tags or too many."""
    if not 1 <= n_tags <= MAX_TAGS:
        raise ValueError(f"expected 1 to {MAX_TAGS:,} tags, got {n_tags:,}")


cdef class TagRecords(BufferOwner):
    """The records of one corpus, which never change: threads may share them.

    n_tags: how many tags there are. arrays: as `arrays` holds them, of numbers of tags and bits:

    - ``lengths``, int64 (n_tags,): the longest word of each tag in characters; 0 for no limit;
    - ``words``, uint64 (n,), rising: keys of the words that have a record, ``word_tags``, uint64
      (n, n_blocks): which tags they may have, a bit each; ``any_words``, uint64 (n_blocks,): those
      of all others;
    - ``characters``, uint64 (n,), rising, with ``first_tags``, the tags of the words that may begin
      with each, and ``character_tags``, those of the words that were seen with it, none for
      rare characters; ``any_firsts``: which tags words may have that begin with any other.

    Raises ValueError for arrays that do not fit each other.
    """

    def __init__(self, int n_tags, arrays not None):
        cdef const int32_t[::1] lengths
        check_tags(n_tags)
        if set(arrays) != set(_DTYPES):
            raise ValueError(f"unexpected tag records: {', '.join(sorted(map(str, arrays)))}")
        self.n_tags = n_tags
        self.n_blocks = (n_tags + BITS - 1) // BITS
        self.arrays = {}
        for name, dtype in _DTYPES.items():
            array = np.ascontiguousarray(arrays[name])
            if array.dtype != dtype:
                raise ValueError(f"the record {name!r} must be {dtype.__name__}, got {array.dtype}")
            # A copy: files that are mapped may change, and be gone.
            self.arrays[name] = array.copy()
        self._check()
        self._views = []
        lengths_array = self.arrays["lengths"].astype(np.int32)
        self._views.append(lengths_array)
        lengths = lengths_array
        self.lengths = &lengths[0]
        self.any_words = self._start("any_words")
        self.any_firsts = self._start("any_firsts")
        self._word_tags = self._start("word_tags")
        self._first_tags = self._start("first_tags")
        self._character_tags = self._start("character_tags")
        self._word_index = Rows()
        self._word_index.index(self.arrays["words"])
        self._character_index = Rows()
        self._character_index.index(self.arrays["characters"])

    cdef const uint64_t* _start(self, str name) except NULL:
        """Pointer to the values of an array."""
        cdef const uint64_t[::1] flat
        # An empty array has no beginning.
        array = np.append(self.arrays[name].ravel(), np.zeros(1, dtype=np.uint64))
        self._views.append(array)
        flat = array
        return &flat[0]

    def _check(self):
        arrays = self.arrays
        n_words, n_characters = arrays["words"].size, arrays["characters"].size
        shapes = {
            "lengths": (self.n_tags,),
            "any_words": (self.n_blocks,),
            "any_firsts": (self.n_blocks,),
            "words": (n_words,),
            "word_tags": (n_words, self.n_blocks),
            "characters": (n_characters,),
            "first_tags": (n_characters, self.n_blocks),
            "character_tags": (n_characters, self.n_blocks),
        }
        for name, shape in shapes.items():
            if arrays[name].shape != shape:
                raise ValueError(f"unexpected shape of the record {name!r}: {arrays[name].shape}")
        for name in ("words", "characters"):
            if (arrays[name][1:] <= arrays[name][:max(0, arrays[name].size - 1)]).any():
                raise ValueError(f"the record {name!r} is not in ascending order")
        if (arrays["lengths"] < 0).any() or (arrays["lengths"] > 1 << 30).any():
            raise ValueError("the record 'lengths' has values out of range")
        rest = self.n_tags % BITS
        if rest:
            for name in ("any_words", "any_firsts", "word_tags", "first_tags", "character_tags"):
                if (arrays[name][..., self.n_blocks - 1] >> np.uint64(rest)).any():
                    raise ValueError(f"the record {name!r} has unknown tags")

    def __reduce__(self):
        return TagRecords, (self.n_tags, self.arrays)

    @staticmethod
    def collect(
        sentences, tags, CharacterAtoms atoms not None, *, bint lengths=True,
        bint dictionary=True, closed=(), closed_firsts=(), least_begun=30, least_seen=1,
        passes=1,
    ):
        """The records of a corpus.

        sentences: squeezed sentences of (word, tag) pairs. tags: all tags, in their order.
        atoms: what the model sees of a character.
        lengths: hold words to the length of the longest with their tag.
        dictionary: hold words seen more than M / 5000 + 5 times, where M is the count of the most
            frequent one, to the tags that they were seen with.
        closed: tags that only words have that were seen with them. closed_firsts: tags that only
            words have that begin as one that was seen with them. Those that are no tags of the
            corpus are left aside.
        least_begun: hold words that begin with a character that has begun so many of them to
            the tags that these had; None never does. least_seen: record the tags of the words
            that contain a character if it was seen so often.
        passes: count as if the corpus had been seen so often.
        """
        cdef dict number = {tag: i for i, tag in enumerate(tags)}
        n_tags = len(number)
        check_tags(n_tags)
        longest = np.zeros(n_tags, dtype=np.int64)
        tags_of_word = defaultdict(set)
        word_counts = Counter()
        tags_of_first = defaultdict(set)
        first_counts = Counter()
        tags_of_character = defaultdict(set)
        character_counts = Counter()
        pairs = Counter(pair for sentence in sentences for pair in sentence)
        for (text, tag), times in pairs.items():
            count = times * passes
            word = tuple(atoms.symbols(text, 0)[0].tolist())
            t = number[tag]
            longest[t] = max(longest[t], len(word))
            tags_of_word[word].add(t)
            word_counts[word] += count
            tags_of_first[word[0]].add(t)
            first_counts[word[0]] += count
            for character in word:
                character_counts[character] += count
            for character in set(word):
                tags_of_character[character].add(t)
        every = set(range(n_tags))
        closed_set = {number[tag] for tag in closed if tag in number}
        closed_first_set = {number[tag] for tag in closed_firsts if tag in number}
        allowed = {}
        if dictionary or closed_set:
            most = max(word_counts.values(), default=0)
            for word, seen in tags_of_word.items():
                if dictionary and word_counts[word] > most / 5000 + 5:
                    allowed[key_of_codes(word)] = seen
                elif seen & closed_set:
                    allowed[key_of_codes(word)] = seen | (every - closed_set)
        firsts = {}
        for character, seen in tags_of_first.items():
            if least_begun is not None and first_counts[character] >= least_begun:
                firsts[character] = seen
            else:
                firsts[character] = seen | (every - closed_first_set)
        characters = sorted(character_counts)
        any_firsts = every - closed_first_set
        words = sorted(allowed)
        return TagRecords(n_tags, {
            "lengths": longest if lengths else np.zeros_like(longest),
            "any_words": _bits([every - closed_set], n_tags)[0],
            "any_firsts": _bits([any_firsts], n_tags)[0],
            "words": np.array(words, dtype=np.uint64),
            "word_tags": _bits([allowed[word] for word in words], n_tags),
            "characters": np.array(characters, dtype=np.uint64),
            "first_tags": _bits([firsts.get(c, any_firsts) for c in characters], n_tags),
            "character_tags": _bits(
                [
                    tags_of_character[c] if character_counts[c] >= least_seen else ()
                    for c in characters
                ],
                n_tags,
            ),
        })

    # What is recorded -----------------------------------------------------------------------------

    cdef const uint64_t* tags_of_word(self, uint64_t word) noexcept nogil:
        """The tags that a word may have, by its key."""
        cdef Py_ssize_t entry = self._word_index.find(word)
        return self.any_words if entry < 0 else self._word_tags + entry * self.n_blocks

    cdef int32_t number_of(self, uint64_t character) noexcept nogil:
        """The number of a character, or -1 if it was not seen."""
        return self._character_index.find(character)

    cdef const uint64_t* tags_of_first(self, int32_t number) noexcept nogil:
        """The tags that a word may have that begins with a character, by its number."""
        return (
            self.any_firsts if number < 0
            else self._first_tags + <Py_ssize_t> number * self.n_blocks
        )

    cdef uint64_t category(self, int32_t number) noexcept nogil:
        """An atom of the tags of the words that contain a character; null if there is no record."""
        cdef const uint64_t* tags = self._character_tags + <Py_ssize_t> number * self.n_blocks
        cdef uint64_t any_tag = 0
        cdef int i
        if number < 0:
            return 0
        for i in range(self.n_blocks):
            any_tag |= tags[i]
        if any_tag == 0:
            return 0
        return murmur_hash_64a(tags, self.n_blocks * sizeof(uint64_t), 1) | 1

    cdef bint is_in(self, const uint64_t* tags, int tag) noexcept nogil:
        return tags[tag // BITS] >> (tag % BITS) & 1

    def longest(self):
        """The most characters of a word of each tag; 0 for no limit."""
        return [self.lengths[tag] for tag in range(self.n_tags)]

    def word(self, str word not None, CharacterAtoms atoms not None):
        """The numbers of the tags that a word may have."""
        return self._numbers(
            self.tags_of_word(key_of_codes(atoms.symbols(word, 0)[0].tolist()))
        )

    def first(self, str character not None, CharacterAtoms atoms not None):
        """The numbers of the tags that a word may have that begins with a character."""
        return self._numbers(
            self.tags_of_first(self.number_of(int(atoms.symbols(character, 0)[0][0])))
        )

    cdef list _numbers(self, const uint64_t* tags):
        return [tag for tag in range(self.n_tags) if self.is_in(tags, tag)]


cdef class GrowingRecords(TagRecords):
    """Tag records that grow with each training example.

    The longest words are of one character at first, and all counts 0. Counts go on from epoch to
    epoch, so that ever more words are frequent. They belong to one training, and cannot be pickled.

    Taking in a word costs a look-up of it and one of each of its characters; memory is taken when
    one of them is new, never while a sentence is decoded. After all examples have been taken in
    `passes` times, they say what `TagRecords.collect` says with these passes.

    tags: all tags, in their order. state: what the `state` of others was, whose place these take;
    None for nothing. The other settings are those of `TagRecords.collect`. Raises ValueError for a
    state that is none of such records.
    """

    def __init__(
        self, tags, *, bint lengths=True, bint dictionary=True, closed=(), closed_firsts=(),
        least_begun=30, least_seen=1, state=None,
    ):
        n_tags = len(tags)
        check_tags(n_tags)
        n_blocks = (n_tags + BITS - 1) // BITS
        nothing = np.zeros(0, dtype=np.uint64)
        no_tags = np.zeros((0, n_blocks), dtype=np.uint64)
        open_words, open_firsts = (
            [i for i, tag in enumerate(tags) if tag not in of] for of in (closed, closed_firsts)
        )
        super().__init__(n_tags, {
            "lengths": np.full(n_tags, lengths, dtype=np.int64),
            "any_words": _bits([open_words], n_tags)[0],
            "any_firsts": _bits([open_firsts], n_tags)[0],
            "words": nothing,
            "word_tags": no_tags,
            "characters": nothing,
            "first_tags": no_tags,
            "character_tags": no_tags,
        })
        self._limits_lengths = lengths
        self._has_dictionary = dictionary
        self._least_begun = 0 if least_begun is None else least_begun
        self._least_seen = least_seen
        # Indexes that rows can be added to.
        self._word_index = FeatureCounts()
        self._character_index = FeatureCounts()
        if state is not None:
            self._restore(state)

    def __reduce__(self):
        raise TypeError("growing records belong to a running training and cannot be pickled")

    def state(self):
        """The records so far, as arrays.

        Those of `TagRecords`, of the tags that words and characters were seen with, and int64 (n,)
        of how often: ``word_counts``, ``character_counts``, and ``first_counts`` of those that
        begin a word.
        """
        n_words = self._word_index.n_rows
        n_characters = self._character_index.n_rows
        words = _copied(self._word_index._keys, n_words, np.uint64)
        characters = _copied(self._character_index._keys, n_characters, np.uint64)
        arrays = {
            "words": words,
            "word_tags": _copied(self._word_seen, n_words * self.n_blocks, np.uint64),
            "word_counts": _copied(self._word_counts, n_words, np.int64),
            "characters": characters,
            "first_tags": _copied(self._first_seen, n_characters * self.n_blocks, np.uint64),
            "first_counts": _copied(self._first_counts, n_characters, np.int64),
            "character_tags": _copied(
                self._character_seen, n_characters * self.n_blocks, np.uint64
            ),
            "character_counts": _copied(self._character_counts, n_characters, np.int64),
        }
        by_word, by_character = np.argsort(words), np.argsort(characters)
        for name, array in arrays.items():
            if name.endswith("_tags"):
                array = array.reshape(-1, self.n_blocks)
            arrays[name] = array[by_word if name.startswith("word") else by_character]
        return {
            "lengths": np.array(self.longest(), dtype=np.int64),
            "any_words": self.arrays["any_words"],
            "any_firsts": self.arrays["any_firsts"],
            **arrays,
        }

    cdef int _restore(self, state) except -1:
        """Restore records from a `state`; raise ValueError for an invalid one."""
        cdef const uint64_t[::1] keys
        cdef const uint64_t[:, ::1] seen
        cdef const uint64_t[:, ::1] firsts
        cdef const int64_t[::1] counts
        cdef const int64_t[::1] first_counts
        cdef int32_t row
        cdef Py_ssize_t i
        cdef Py_ssize_t block
        cdef Py_ssize_t at
        known = TagRecords(
            self.n_tags, {name: state[name] for name in state if name not in _COUNTED}
        )
        arrays = known.arrays
        if not all(
            np.array_equal(arrays[name], self.arrays[name]) for name in ("any_words", "any_firsts")
        ):
            raise ValueError("the growing records were made with other closed tags")
        if ((arrays["lengths"] > 0) != self._limits_lengths).any():
            raise ValueError("the growing records were made with other length limits")
        for name, counted in _COUNTED.items():
            array = np.ascontiguousarray(state.get(name))
            least = 0 if name == "first_counts" else 1
            if array.dtype != np.int64 or array.shape != arrays[counted].shape:
                raise ValueError(f"the growing records lack {name!r}")
            if ((array < least) | (array > _MAX_COUNT)).any():
                raise ValueError(f"the growing records have values of {name!r} out of range")
            arrays[name] = array
        # Keys from a file may be chosen to collide.
        self._word_index._bounded = self._character_index._bounded = True
        keys, seen, counts = arrays["words"], arrays["word_tags"], arrays["word_counts"]
        for i in range(keys.shape[0]):
            row = self._row_of_word(keys[i])
            self._word_counts[row] = counts[i]
            self._most = max(self._most, counts[i])
            for block in range(self.n_blocks):
                at = <Py_ssize_t> row * self.n_blocks + block
                self._word_seen[at] = seen[i, block]
                self._word_open[at] |= seen[i, block]
        keys, seen, firsts = arrays["characters"], arrays["character_tags"], arrays["first_tags"]
        counts, first_counts = arrays["character_counts"], arrays["first_counts"]
        for i in range(keys.shape[0]):
            row = self._row_of_character(keys[i])
            self._character_counts[row] = counts[i]
            self._first_counts[row] = first_counts[i]
            for block in range(self.n_blocks):
                at = <Py_ssize_t> row * self.n_blocks + block
                self._character_seen[at] = seen[i, block]
                self._first_seen[at] = firsts[i, block]
                self._first_open[at] |= firsts[i, block]
        self._word_index._bounded = self._character_index._bounded = False
        for i in range(self.n_tags):
            (<int32_t*> self.lengths)[i] = known.lengths[i]
        return 0

    cdef int observe(self, const uint32_t* characters, Py_ssize_t n, int tag) except -1 nogil:
        """Record a normalized word and its tag."""
        cdef uint64_t bit = <uint64_t> 1 << (tag % BITS)
        cdef Py_ssize_t block = tag // BITS
        cdef Py_ssize_t at
        cdef Py_ssize_t i
        cdef int32_t row = self._row_of_word(word_key(characters, n))
        if self._limits_lengths and self.lengths[tag] < n:
            (<int32_t*> self.lengths)[tag] = <int32_t> n
        self._word_counts[row] += 1
        self._most = max(self._most, self._word_counts[row])
        at = <Py_ssize_t> row * self.n_blocks + block
        self._word_seen[at] |= bit
        self._word_open[at] |= bit
        for i in range(n):
            row = self._row_of_character(characters[i])
            at = <Py_ssize_t> row * self.n_blocks + block
            self._character_counts[row] += 1
            self._character_seen[at] |= bit
            if i == 0:
                self._first_counts[row] += 1
                self._first_seen[at] |= bit
                self._first_open[at] |= bit
        return 0

    cdef int32_t _row_of_word(self, uint64_t word) except -1 nogil:
        """Return the row of a word; a new one if it has none."""
        cdef Py_ssize_t size = self.n_blocks * sizeof(uint64_t)
        cdef Py_ssize_t row = self._word_index.find(word)
        if row >= 0:
            return <int32_t> row
        row = self._word_index.n_rows
        reserve(&self.buffers, self._word_counts, row + 1)
        reserve(&self.buffers, self._word_seen, (row + 1) * self.n_blocks)
        reserve(&self.buffers, self._word_open, (row + 1) * self.n_blocks)
        self._word_counts[row] = 0
        memset(self._word_seen + row * self.n_blocks, 0, size)
        memcpy(self._word_open + row * self.n_blocks, self.any_words, size)
        self._word_index._append(word)
        return <int32_t> row

    cdef int32_t _row_of_character(self, uint64_t character) except -1 nogil:
        """Return the row of a character; a new one if it has none."""
        cdef Py_ssize_t size = self.n_blocks * sizeof(uint64_t)
        cdef Py_ssize_t row = self._character_index.find(character)
        if row >= 0:
            return <int32_t> row
        row = self._character_index.n_rows
        reserve(&self.buffers, self._first_counts, row + 1)
        reserve(&self.buffers, self._first_seen, (row + 1) * self.n_blocks)
        reserve(&self.buffers, self._first_open, (row + 1) * self.n_blocks)
        reserve(&self.buffers, self._character_counts, row + 1)
        reserve(&self.buffers, self._character_seen, (row + 1) * self.n_blocks)
        self._first_counts[row] = 0
        self._character_counts[row] = 0
        memset(self._first_seen + row * self.n_blocks, 0, size)
        memset(self._character_seen + row * self.n_blocks, 0, size)
        memcpy(self._first_open + row * self.n_blocks, self.any_firsts, size)
        self._character_tags = self._character_seen
        self._character_index._append(character)
        return <int32_t> row

    cdef const uint64_t* tags_of_word(self, uint64_t word) noexcept nogil:
        cdef Py_ssize_t row = self._word_index.find(word)
        if row < 0:
            return self.any_words
        # More than most / 5000 + 5 times.
        if self._has_dictionary and self._word_counts[row] * 5000 > self._most + 25000:
            return self._word_seen + row * self.n_blocks
        return self._word_open + row * self.n_blocks

    cdef const uint64_t* tags_of_first(self, int32_t number) noexcept nogil:
        if number < 0:
            return self.any_firsts
        if 0 < self._least_begun <= self._first_counts[number]:
            return self._first_seen + <Py_ssize_t> number * self.n_blocks
        return self._first_open + <Py_ssize_t> number * self.n_blocks

    cdef uint64_t category(self, int32_t number) noexcept nogil:
        if number < 0 or self._character_counts[number] < self._least_seen:
            return 0
        return TagRecords.category(self, number)

    def add(self, str word not None, int tag, CharacterAtoms atoms not None):
        """Record one more word, of one character at least, with the number of its tag."""
        cdef uint32_t[::1] characters = atoms.symbols(word, 0)[0].astype(np.uint32)
        if not 0 <= tag < self.n_tags:
            raise ValueError(f"unknown tag {tag}")
        self.observe(&characters[0], characters.shape[0], tag)


cdef object _copied(const void* values, Py_ssize_t n, dtype):
    """Copy n numbers of eight bytes to an array."""
    return np.frombuffer(PyBytes_FromStringAndSize(<const char*> values, 8 * n), dtype=dtype)


def _bits(sets, n_tags):
    """Sets of numbers of tags as bits: uint64 of shape (n_sets, n_blocks)."""
    n_blocks = (n_tags + BITS - 1) // BITS
    bits = np.zeros((len(sets), n_blocks), dtype=np.uint64)
    for i, tags in enumerate(sets):
        for tag in tags:
            bits[i, tag // BITS] |= np.uint64(1 << tag % BITS)
    return bits
