"""The fields of words (`features.word_fields`) as numbers, for templates of taggers, parsers and
labelers.

A field is a hash of the characters that it is made of, or a small number; null
(`search.transition_system.NULL_ATOM`) if the word has none, and `NO_WORD` for words beyond the ends
of a sentence.
"""

cimport cython
from cpython.unicode cimport PyUnicode_4BYTE_KIND, PyUnicode_FromKindAndData
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from spacy_structreg.learn.memory cimport BufferOwner, reserve
from spacy_structreg.learn.murmur cimport murmur_hash_64a
from spacy_structreg.learn.rows cimport Rows
from spacy_structreg.search.transition_system cimport NULL_ATOM
from spacy_structreg.tasks.knowledge.word_classes cimport N_CLASS_FIELDS, WordClasses

import numpy as np

from spacy_structreg.features.character_classes import ALPHABETS, TABLE_SIZE
from spacy_structreg.features.scripts import normalization_table
from spacy_structreg.features.word_fields import (
    CLASS_FIELDS,
    GREEK,
    MAX_AFFIX,
    MAX_CHARACTERS,
    MAX_NGRAM,
    ROMAN,
    UPPER_CASE,
    WORD_FIELDS,
    lower_case_table,
    shape_table,
)
from spacy_structreg.features.word_fields import MAX_LENGTH as _MAX_LENGTH
from spacy_structreg.learn.model_file import keyed_arrays
from spacy_structreg.tasks.joint.tag_records import check_tags
from spacy_structreg.tasks.knowledge.lexicon import LONGEST_WORD

# The fields of the ends of words.
cdef uint64_t SUFFIXES = ((<uint64_t> 1 << 6) - 1) << END

cdef enum:
    TABLE = 0x20000
    LONGEST_AFFIX = 6
    LONGEST_NGRAM = 6
    MAX_LENGTH = 15
    # In place of the only tag that a word may get.
    SEVERAL = -1
    # Most characters of a listed word.
    LONGEST = 255
    # Kinds of characters.
    DIGIT = 1
    LETTER = 2
    PUNCTUATION = 7
    UPPER = 9
    # No characters: the end of a word, a Greek letter and a Roman numeral in a name, and kinds.
    END_OF_WORD = 0x110000
    GREEK_LETTER
    ROMAN_NUMERAL
    PART_OF_KIND
    # Of Greek letters and of Roman numerals there are fewer, and none is longer.
    MOST_TERMS = 64
    LONGEST_TERM = 7

assert len(WORD_FIELDS) == N_FIELDS
assert list(WORD_FIELDS)[WORD_CLASS:GUIDE] == list(CLASS_FIELDS)
assert len(CLASS_FIELDS) == N_CLASS_FIELDS
assert TABLE == TABLE_SIZE
assert LONGEST == LONGEST_WORD
assert (LONGEST_AFFIX, LONGEST_NGRAM, NGRAM_CHARACTERS, MAX_LENGTH, UPPER) == (
    MAX_AFFIX, MAX_NGRAM, MAX_CHARACTERS, _MAX_LENGTH, UPPER_CASE,
)
assert [ALPHABETS["extended"][kind - 1] for kind in (DIGIT, LETTER, PUNCTUATION)] == [
    "digit", "letter", "punctuation",
]


cdef uint64_t text_key(str text):
    """The key of a text as it is, distinct from reserved values."""
    cdef uint64_t state = 0
    cdef Py_UCS4 character
    for character in text:
        state = mixed(state, character)
    return field_of(state)


cdef str text_of(const uint32_t* characters, Py_ssize_t n):
    """The text of characters."""
    return PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, characters, n)


cdef struct Terms:
    uint64_t keys[MOST_TERMS]
    int n


cdef Terms terms_of(words):
    cdef Terms terms
    terms.n = 0
    assert len(words) <= MOST_TERMS and max(map(len, words)) <= LONGEST_TERM
    for word in words:
        terms.keys[terms.n] = text_key(word)
        terms.n += 1
    return terms


cdef Terms greek_letters = terms_of(GREEK)
cdef Terms roman_numerals = terms_of(ROMAN)


cdef bint has_term(const Terms* terms, uint64_t key) noexcept nogil:
    cdef int i
    for i in range(terms.n):
        if terms.keys[i] == key:
            return True
    return False


cdef Py_ssize_t letter_ngrams(const uint32_t* word, Py_ssize_t n, uint64_t* keys) noexcept nogil:
    """Write the keys of the letter n-grams of a normalized word, `MAX_NGRAMS` at most, in the order
    of `features.word_fields.letter_ngrams`; return how many they are."""
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t start
    cdef Py_ssize_t end
    cdef Py_ssize_t i
    cdef uint64_t state
    cdef uint64_t key
    n = min(n, NGRAM_CHARACTERS)
    if n == 0:
        return 0
    for start in range(-1, n):
        state = mixed(0, start < 0)
        for end in range(max(start, 0) + 1, min(start + LONGEST_NGRAM, n + 1) + 1):
            state = mixed(state, word[end - 1] if end <= n else <uint32_t> END_OF_WORD)
            key = field_of(state)
            i = 0
            while i < count and keys[i] != key:
                i += 1
            if i == count:
                keys[count] = key
                count += 1
    return count


cdef class TagSets(BufferOwner):
    """Sets of tags by 64-bit keys, of words or of characters.

    n_tags: how many tags there are.
    arrays: keys, uint64 of shape (n,), rising; tags, uint16, and starts, int64 of shape (n + 1,):
        the tags of key i, rising, are tags[starts[i] : starts[i + 1]], one at least.
    Raises ValueError if the arrays are not of this form.
    """

    def __init__(self, int n_tags, arrays):
        cdef const int64_t[::1] starts
        cdef const uint16_t[::1] tags
        cdef Py_ssize_t i
        if self._ids != NULL:
            raise TypeError("tag sets cannot be initialized twice")
        check_tags(n_tags)
        self.n_tags = n_tags
        self._arrays = _checked_sets(n_tags, arrays)
        self._index = Rows()
        self._index.index(self._arrays["keys"])
        self.n = len(self._arrays["keys"])
        reserve(&self.buffers, self._ids, self.n)
        starts = self._arrays["starts"]
        self._starts = &starts[0]
        if self.n:
            tags = self._arrays["tags"]
            self._tags = &tags[0]
        for i in range(self.n):
            self._ids[i] = field_of(
                murmur_hash_64a(
                    self._tags + starts[i], (starts[i + 1] - starts[i]) * sizeof(uint16_t), 1
                )
            )

    def __reduce__(self):
        return TagSets, (self.n_tags, self._arrays)

    def __len__(self):
        return self.n

    @property
    def arrays(self):
        """The arrays by name."""
        return dict(self._arrays)

    def get(self, uint64_t key):
        """The tags of a key, rising; None if it has none."""
        cdef int32_t found = self.find(key)
        if found < 0:
            return None
        return self._arrays["tags"][self._starts[found] : self._starts[found + 1]].tolist()

    cdef int32_t find(self, uint64_t key) noexcept nogil:
        """The number of a key; -1 if it has no set."""
        return self._index.find(key)

    cdef int32_t sole(self, int32_t number) noexcept nogil:
        """The only tag of a set; `SEVERAL` if there are more."""
        if self._starts[number + 1] - self._starts[number] > 1:
            return SEVERAL
        return self._tags[self._starts[number]]

    cdef void allow(self, int32_t number, uint8_t* mask) noexcept nogil:
        """Set the flags of the tags of a set."""
        cdef int64_t k
        for k in range(self._starts[number], self._starts[number + 1]):
            mask[self._tags[k]] = 1

    @classmethod
    def from_mapping(cls, int n_tags, sets):
        """The sets of a mapping from keys to tags; empty ones are left out."""
        kept = sorted([(key, sorted(tags)) for key, tags in sets.items() if tags])
        return cls(n_tags, {
            "keys": np.array([key for key, _ in kept], dtype=np.uint64),
            "starts": np.cumsum([0, *[len(tags) for _, tags in kept]], dtype=np.int64),
            "tags": np.array([tag for _, tags in kept for tag in tags], dtype=np.uint16),
        })


def _checked_sets(n_tags, arrays):
    """Validate the arrays of `TagSets`; return them in the layout of the kernels."""
    dtypes = {"keys": np.uint64, "starts": np.int64, "tags": np.uint16}
    kept = keyed_arrays(arrays, dtypes, "tag sets")
    keys, starts, tags = kept["keys"], kept["starts"], kept["tags"]
    n = len(keys)
    if len(starts) != n + 1 or starts[0] != 0 or starts[n] != len(tags):
        raise ValueError("the offsets of the tag sets are not in ascending order")
    if (starts[1:] <= starts[:n]).any():
        raise ValueError("a tag set is empty")
    begins = np.zeros(len(tags) + 1, dtype=bool)
    begins[starts] = True
    if len(tags) and (
        int(tags.max()) >= n_tags
        or ((tags[1:] <= tags[: len(tags) - 1]) & ~begins[1 : len(tags)]).any()
    ):
        raise ValueError("the tags of a set are not in ascending order, or out of range")
    return kept


@cython.final
cdef class WordFields:
    """The fields of words.

    half_width: whether full-width forms of ASCII look to the model like ASCII.
    categories: the tags of the training words that contain a character, by characters.
    classes: the tags of a training word, by `key_of`.
    script: as which characters others look to the model (`features.scripts.Script`), or None.
    word_classes: classes of words, by `key_of`, or None.
    known: what word lists say of words, a `KnownWords` of words as they are seen; or None.
    """

    def __init__(
        self, bint half_width=True, TagSets categories=None, TagSets classes=None, script=None,
        WordClasses word_classes=None, known=None,
    ):
        cdef const uint32_t[::1] seen
        cdef const uint32_t[::1] lower
        cdef const uint8_t[::1] kinds
        self.half_width = half_width
        self.categories = categories
        self.classes = classes
        self.script = script
        self.word_classes = word_classes
        self.known = known
        if known is not None:
            self._lexicon = known.lexicon
            self._listed_tags = known.tags
        self._tables = (normalization_table(half_width, script), lower_case_table(), shape_table())
        seen, lower, kinds = self._tables
        self.n_seen = len(seen)
        self._seen_as = &seen[0] if self.n_seen else NULL
        self._lower = &lower[0]
        self._kinds = &kinds[0]

    def __reduce__(self):
        return WordFields, (
            self.half_width, self.categories, self.classes, self.script, self.word_classes,
            self.known,
        )

    cdef uint32_t normalize(self, uint32_t character) noexcept nogil:
        """Return the normalized character."""
        return self._seen_as[character] if character < self.n_seen else character

    cdef uint32_t lower(self, uint32_t character) noexcept nogil:
        """Return the character without upper case."""
        return self._lower[character] if character < TABLE else character

    cdef uint32_t kind(self, uint32_t character) noexcept nogil:
        """Return the kind of a normalized character."""
        # The last code point of the table is unassigned; those beyond share its kind.
        return self._kinds[character if character < TABLE else TABLE - 1]

    cdef void read(self, str word, uint32_t* characters):
        """Write the normalized characters of a word."""
        cdef Py_UCS4 character
        cdef Py_ssize_t i = 0
        for character in word:
            characters[i] = self.normalize(character)
            i += 1

    cdef uint64_t key(self, const uint32_t* word, Py_ssize_t n) noexcept nogil:
        """Return the key of a normalized word."""
        cdef uint64_t state = 0
        cdef Py_ssize_t i
        for i in range(n):
            state = mixed(state, word[i])
        return field_of(state)

    cdef uint64_t category(self, uint32_t character) noexcept nogil:
        """Return the category of a normalized character."""
        cdef int32_t found = self.categories.find(character)
        return self.categories._ids[found] if found >= 0 else NO_TAGS

    cdef void fill(
        self, const uint32_t* word, Py_ssize_t n, uint64_t wanted, uint64_t* fields
    ) noexcept nogil:
        """Write the requested fields of a normalized word."""
        cdef uint64_t state = 0
        cdef uint64_t lower = 0
        cdef uint64_t kinds = 0
        cdef uint64_t shape = 0
        cdef uint64_t digits = 0
        cdef uint32_t character
        cdef uint32_t small
        cdef uint32_t kind
        cdef uint32_t last_kind = 0
        cdef Py_ssize_t n_letters = 0
        cdef Py_ssize_t n_upper = 0
        cdef bint begins_upper = False
        cdef Py_ssize_t found
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        for i in range(LONGEST_AFFIX):
            fields[START + i] = NULL_ATOM
            fields[END + i] = NULL_ATOM
        for i in range(n):
            character = word[i]
            small = self.lower(character)
            kind = self.kind(character)
            state = mixed(state, character)
            lower = mixed(lower, small)
            if i < LONGEST_AFFIX:
                fields[START + i] = field_of(lower)
            kinds = mixed(kinds, kind)
            if kind != last_kind:
                shape = mixed(shape, kind)
            last_kind = kind
        fields[WORD] = field_of(state)
        fields[LOWER] = field_of(lower)
        # Only labelers see words without characters, whose length is not that of `NO_WORD`.
        fields[LENGTH] = 1 + <uint64_t> (min(n, MAX_LENGTH) if n else MAX_LENGTH + 1)
        fields[LENGTH4] = NO_TAGS + <uint64_t> min(n, 4)
        fields[ONE] = fields[WORD] if n == 1 else NULL_ATOM
        fields[KINDS] = field_of(kinds)
        fields[SHAPE] = field_of(shape)
        if wanted & SUFFIXES:
            state = 0
            for i in range(min(n, LONGEST_AFFIX)):
                state = mixed(state, self.lower(word[n - 1 - i]))
                fields[END + i] = field_of(state)
        if wanted >> PATTERN & 1:
            state = 0
            for i in range(min(n, MAX_LENGTH)):
                k = 0
                while word[k] != word[i]:
                    k += 1
                state = mixed(state, k)
            fields[PATTERN] = field_of(state)
        if wanted >> CAPITALS & 1 or wanted >> DIGITS & 1:
            for i in range(n):
                kind = self.kind(word[i])
                digits = mixed(digits, c"0" if kind == DIGIT else self.lower(word[i]))
                if kind == UPPER:
                    n_upper += 1
                    begins_upper = begins_upper or n_letters == 0
                n_letters += kind == UPPER or kind == LETTER
            fields[DIGITS] = field_of(digits)
            fields[CAPITALS] = NO_TAGS + 1 + <uint64_t> (
                0 if n_letters == 0 else 1 if n_upper == 0 else
                2 if begins_upper and n_upper == 1 else 3 if n_upper == n_letters else 4
            )
        if wanted >> PARTS & 1:
            fields[PARTS] = self.parts(word, n)
        fields[CATEGORY_OF_START] = NO_TAGS
        fields[CATEGORY_OF_END] = NO_TAGS
        if self.categories is not None and n:
            if wanted >> CATEGORY_OF_START & 1:
                fields[CATEGORY_OF_START] = self.category(word[0])
            if wanted >> CATEGORY_OF_END & 1:
                fields[CATEGORY_OF_END] = self.category(word[n - 1])
        fields[TAGS] = NO_TAGS
        if self.classes is not None and wanted >> TAGS & 1:
            found = self.classes.find(fields[WORD])
            if found >= 0:
                fields[TAGS] = self.classes._ids[found]
        fields[LISTED] = NULL_ATOM
        if self._lexicon is not None and wanted >> LISTED & 1:
            fields[LISTED] = self.listed(word, n)
        if self.word_classes is not None and wanted >> WORD_CLASS:
            memcpy(
                fields + WORD_CLASS, self.word_classes.fields_of(fields[WORD]),
                N_CLASS_FIELDS * sizeof(uint64_t),
            )

    cdef uint64_t parts(self, const uint32_t* word, Py_ssize_t n) noexcept nogil:
        """Return the field of the classes of the parts of a name."""
        cdef uint64_t state = 0
        cdef uint64_t lower
        cdef uint32_t kind
        cdef uint32_t part
        cdef Py_ssize_t start = 0
        cdef Py_ssize_t end
        cdef Py_ssize_t i
        while start < n:
            kind = self.kind(word[start])
            end = start + 1
            while end < n and self.kind(word[end]) == kind:
                end += 1
            if kind == PUNCTUATION:
                for i in range(start, end):
                    if i == start or word[i] != word[i - 1]:
                        state = mixed(state, word[i])
            else:
                part = PART_OF_KIND + kind
                if (kind == LETTER or kind == UPPER) and end - start <= LONGEST_TERM:
                    lower = 0
                    for i in range(start, end):
                        lower = mixed(lower, self.lower(word[i]))
                    if has_term(&greek_letters, field_of(lower)):
                        part = GREEK_LETTER
                    elif (
                        kind == UPPER and not (end < n and self.kind(word[end]) == LETTER)
                        and has_term(&roman_numerals, self.key(word + start, end - start))
                    ):
                        part = ROMAN_NUMERAL
                state = mixed(state, part)
            start = end
        return field_of(state)

    cdef uint64_t listed(self, const uint32_t* word, Py_ssize_t n) noexcept nogil:
        """Return the field of the listed tags of a normalized word."""
        cdef uint64_t[LONGEST] characters
        cdef uint16_t value
        cdef Py_ssize_t i
        if n > LONGEST:
            return NO_TAGS
        for i in range(n):
            characters[i] = word[i]
        value = self._lexicon.lookup(characters, n)
        return NO_TAGS if value == 0 else NO_TAGS + 1 + <uint64_t> self._listed_tags[value]

    def key_of(self, str word not None):
        """The key of a word, as sets of tags use it; of one character, use `code_of`."""
        cdef uint32_t[::1] seen = self._seen(word)
        return self.key(&seen[0], len(word))

    def codes_of(self, str word not None):
        """Return the normalized characters of a word as code points."""
        return self._seen(word)[: len(word)].tolist()

    def _seen(self, str word):
        cdef uint32_t[::1] seen = np.empty(len(word) + 1, dtype=np.uint32)
        self.read(word, &seen[0])
        return np.asarray(seen)

    def normalized(self, str word not None):
        """Return a word as the model sees it."""
        cdef uint32_t[::1] seen
        if not self.n_seen:
            return word
        seen = self._seen(word)
        return text_of(&seen[0], len(word))

    def values(self, str word not None):
        """The numbers of all fields of a word by name; null for the tag of a guide."""
        cdef uint64_t[::1] fields = np.zeros(N_FIELDS, dtype=np.uint64)
        cdef uint32_t[::1] seen = self._seen(word)
        self.fill(&seen[0], len(word), ~(<uint64_t> 0), &fields[0])
        return dict(zip(WORD_FIELDS, np.asarray(fields).tolist(), strict=True))

    def text(self, str field, str word not None, tags=()):
        """The value of a field of a word as text; None if it has none.

        tags: the names of tags by their numbers. Raises KeyError for a field that does not exist.
        """
        read = WORD_FIELDS[field].text
        seen = self.normalized(word)
        if read is not None:
            return read(seen)
        if field in CLASS_FIELDS:
            if self.word_classes is None:
                return None
            number = self.word_classes.number(self.key_of(word))
            return self.word_classes.text_of(number, CLASS_FIELDS.index(field))
        if field == "listed":
            number = self.values(word)[field] - NO_TAGS - 1
            return None if number < 0 else ("", *self.known.tag_sets)[number]
        if field == "tags":
            sets, key = self.classes, self.key_of(word)
        else:
            sets, key = self.categories, ord(seen[0 if field == "catstart" else -1])
        found = None if sets is None else sets.get(key)
        return None if found is None else "/".join([tags[tag] for tag in found])
