"""The symbols of tokens, and the keys of features that a position has any number of."""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from spacy_structreg.learn.memory cimport BufferOwner, reserve, reserve_zeros
from spacy_structreg.learn.murmur cimport murmur_hash_64a
from spacy_structreg.search.transition_system cimport NULL_ATOM
from spacy_structreg.tasks.word_fields cimport (
    MAX_NGRAMS,
    N_FIELDS,
    NO_WORD,
    WORD,
    WordFields,
    letter_ngrams,
    text_key,
    text_of,
)

import numpy as np

from spacy_structreg.features.state_templates import MAX_STATE_ATOMS

cdef enum:
    MAX_ATOMS = 8
    # In place of the number of a field: the values of several words, or lists of values.
    MANY_WORDS = -1
    MANY_NGRAMS = -2
    MANY_PHRASES = -3

PADDING = <int> NO_WORD
WORDS = <int> MANY_WORDS
NGRAMS = <int> MANY_NGRAMS
GAZETTEERS = <int> MANY_PHRASES
FIRST_COLUMN = <int> N_FIELDS
"""The number of the field that is the column after the word."""

assert MAX_ATOMS == MAX_STATE_ATOMS


cdef struct AtomSpec:
    # A field, or one of the constants above, of the positions from `first` to `last`.
    int field
    int first
    int last


cdef struct TemplateSpec:
    uint64_t number
    int n_atoms
    int many  # which atom has many values; -1 if none has
    AtomSpec atoms[MAX_ATOMS]


cdef struct Values:
    # Of each token the values of one field with many, from starts[i] to starts[i + 1].
    uint64_t* keys
    Py_ssize_t* starts


cdef class LoadedTokens(BufferOwner):
    """The fields of the tokens of sequences, with `margin` tokens that are none before, between and
    behind the sequences."""

    cdef Py_ssize_t n  # tokens, those that are none among them
    cdef Py_ssize_t margin
    cdef Py_ssize_t n_fields
    cdef uint64_t* fields
    cdef uint32_t* characters
    cdef Values ngrams
    cdef Values phrases

    cdef int pad(self, Py_ssize_t n_ngrams) except -1:
        """Add a margin, after this many n-grams."""
        cdef Py_ssize_t i
        for i in range(self.margin * self.n_fields):
            self.fields[self.n * self.n_fields + i] = NO_WORD
        for i in range(self.margin):
            self.ngrams.starts[self.n + i] = n_ngrams
        self.n += self.margin
        self.ngrams.starts[self.n] = n_ngrams
        return 0

    cdef int load_phrases(self, list matches) except -1:
        """Fill the values of lists of phrases, of each token strings."""
        cdef Py_ssize_t count = 0
        cdef Py_ssize_t i
        reserve(&self.buffers, self.phrases.starts, self.n + 1)
        for i in range(self.n):
            self.phrases.starts[i] = count
            for value in <list> matches[i]:
                reserve(&self.buffers, self.phrases.keys, count + 1)
                self.phrases.keys[count] = text_key(value)
                count += 1
        self.phrases.starts[self.n] = count
        return 0

    cdef bint is_padding(self, Py_ssize_t at) noexcept nogil:
        """True for a token that is none."""
        return self.fields[at * self.n_fields + WORD] == NO_WORD

    cdef Py_ssize_t values_of(
        self, const AtomSpec* atom, Py_ssize_t at, const uint64_t** values
    ) noexcept nogil:
        """Return the number of values of a multi-valued atom of a token, and their address."""
        cdef const Values* many = &self.ngrams if atom.field == MANY_NGRAMS else &self.phrases
        if atom.field == MANY_WORDS:
            values[0] = self.fields + at * self.n_fields + WORD
            return not self.is_padding(at)
        if many.starts == NULL:
            return 0
        values[0] = many.keys + many.starts[at]
        return many.starts[at + 1] - many.starts[at]


cdef class TokenKeys(BufferOwner):
    """The fields of tokens, which of them are streams, and the templates of lists of features.

    A field is a symbol of each token: a field of its word by its number, and `FIRST_COLUMN` + i for
    the column behind i others and the word.
    words: the fields of words. columns: the names of the columns of a token.
    streams: the fields that are streams.
    lists: for each list its templates: a number, and atoms (field, first, last) as in `AtomSpec`.
    Raises ValueError if these do not fit each other.
    """

    cdef readonly tuple arguments
    cdef WordFields words
    cdef tuple columns
    cdef tuple read_columns
    cdef tuple streams
    cdef tuple ends
    cdef Py_ssize_t n_fields
    cdef uint64_t wanted
    cdef int reach
    cdef bint reads_ngrams
    cdef TemplateSpec* templates

    def __init__(self, WordFields words not None, columns, streams, lists):
        cdef TemplateSpec* template
        cdef AtomSpec* atom
        if self.templates != NULL:
            raise TypeError("token keys cannot be initialized twice")
        self.arguments = (
            words, tuple(columns), tuple(streams),
            tuple([tuple([(number, tuple(atoms)) for number, atoms in each]) for each in lists]),
        )
        self.words, self.columns, self.streams, lists = self.arguments
        self.n_fields = N_FIELDS + len(self.columns) - 1
        self.reach = 0
        everything = [spec for each in lists for spec in each]
        self.ends = tuple(np.cumsum([len(each) for each in lists], dtype=np.int64).tolist())
        reserve_zeros(&self.buffers, self.templates, len(everything))
        read = set(self.streams)
        for i, (number, atoms) in enumerate(everything):
            template = &self.templates[i]
            if len(atoms) > MAX_ATOMS:
                raise ValueError(f"a template has more than {MAX_STATE_ATOMS} atoms")
            template.number = number
            template.n_atoms = len(atoms)
            template.many = -1
            for a, (field, first, last) in enumerate(atoms):
                if not MANY_PHRASES <= field < self.n_fields or first > last:
                    raise ValueError(f"no field {field} at the offsets {first} to {last}")
                if field < 0:
                    if template.many >= 0:
                        raise ValueError("a template has two multi-valued atoms")
                    template.many = a
                elif first != last:
                    raise ValueError("an atom of a list must be at one offset")
                atom = &template.atoms[a]
                atom.field = field
                atom.first = first
                atom.last = last
                self.reach = max(self.reach, -first, last)
                read.add(field)
        if any([not 0 <= stream < self.n_fields for stream in self.streams]):
            raise ValueError("a stream index is out of range")
        self.reads_ngrams = MANY_NGRAMS in read
        self.read_columns = tuple(
            [field - N_FIELDS + 1 for field in sorted(read) if field >= N_FIELDS]
        )
        self.wanted = 0
        for field in read:
            if 0 <= field < N_FIELDS:
                self.wanted |= <uint64_t> 1 << <int> field

    def __reduce__(self):
        return TokenKeys, self.arguments

    def extract(self, sequences not None, match, Py_ssize_t reach):
        """The streams of sequences of tokens, and the keys of their lists.

        sequences: of tokens, each with its columns. match: finds for words the values in lists of
        phrases (`Gazetteers.matcher`); None if there are no lists.
        Returns symbols, of shape (n_streams, n + (n_sequences + 1) * reach) for n tokens, with
        padding before, between and behind the sequences; and for each list where the keys of each
        token begin, int64 of shape (n + 1,), the keys, and None in place of values.
        Raises ValueError for tokens of other columns.
        """
        cdef uint64_t[:, ::1] view
        cdef LoadedTokens at
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t length
        cdef Py_ssize_t before
        cdef Py_ssize_t target = reach
        cdef Py_ssize_t source
        cdef Py_ssize_t stream
        cdef Py_ssize_t s
        cdef Py_ssize_t i
        for tokens in sequences:
            n += len(tokens)
        words = None if match is None else []
        # No phrase goes on behind a sequence.
        at = self._loaded(sequences, n, max(1, reach, <Py_ssize_t> self.reach), words)
        if match is not None:
            at.load_phrases(match(words))
        symbols = np.full(
            (len(self.streams), n + (len(sequences) + 1) * reach), PADDING, dtype=np.uint64
        )
        view = symbols
        source = at.margin
        for tokens in sequences:
            length = len(tokens)
            for s, stream in enumerate(self.streams):
                for i in range(length):
                    view[s, target + i] = at.fields[(source + i) * self.n_fields + stream]
            target += length + reach
            source += length + at.margin
        lists = []
        before = 0
        for end in self.ends:
            lists.append(self._list(at, n, before, end))
            before = end
        return symbols, tuple(lists)

    cdef LoadedTokens _loaded(
        self, sequences, Py_ssize_t n_tokens, Py_ssize_t margin, list words
    ):
        """Return the fields of all tokens. words: gets their normalized words, "" for margins."""
        cdef LoadedTokens at = LoadedTokens()
        cdef Py_ssize_t n_ngrams = 0
        cdef Py_ssize_t n
        cdef Py_ssize_t column
        cdef uint64_t* fields
        cdef str word
        n = n_tokens + (len(sequences) + 1) * margin
        at.n_fields = self.n_fields
        at.margin = margin
        reserve(&at.buffers, at.fields, n * at.n_fields)
        reserve(&at.buffers, at.ngrams.starts, n + 1)
        at.pad(0)
        beyond = [""] * margin
        if words is not None:
            words += beyond
        for tokens in sequences:
            for token in tokens:
                if isinstance(token, str) or len(token) != len(self.columns):
                    raise self._fault(token)
                if not isinstance(token[0], str):
                    raise self._fault(token)
                # A plain string, not one of a subclass.
                word = str(token[0])
                fields = at.fields + at.n * at.n_fields
                reserve(&at.buffers, at.characters, len(word) + 1)
                self.words.read(word, at.characters)
                memset(fields, 0, at.n_fields * sizeof(uint64_t))
                self.words.fill(at.characters, len(word), self.wanted, fields)
                for column in self.read_columns:
                    if not isinstance(token[column], str):
                        raise self._fault(token)
                    fields[N_FIELDS + column - 1] = text_key(str(token[column]))
                if self.reads_ngrams:
                    reserve(&at.buffers, at.ngrams.keys, n_ngrams + MAX_NGRAMS)
                    n_ngrams += letter_ngrams(at.characters, len(word), at.ngrams.keys + n_ngrams)
                at.n += 1
                at.ngrams.starts[at.n] = n_ngrams
                if words is not None:
                    words.append(text_of(at.characters, len(word)))
            at.pad(n_ngrams)
            if words is not None:
                words += beyond
        return at

    def _fault(self, token):
        return ValueError(
            f"the token {token!r:.80} is not a row of {len(self.columns)} strings, "
            f"({', '.join(self.columns)})"
        )

    cdef _list(self, LoadedTokens tokens, Py_ssize_t n, Py_ssize_t first, Py_ssize_t last):
        """The keys of the templates from `first` to `last` of each of `n` tokens."""
        cdef int64_t[::1] starts = np.zeros(n + 1, dtype=np.int64)
        cdef uint64_t[::1] keys
        with nogil:
            n = self._most_keys(tokens, first, last)
        keys = np.empty(n + 1, dtype=np.uint64)
        with nogil:
            n = self._write_keys(tokens, first, last, &starts[0], &keys[0])
        return np.asarray(starts), np.asarray(keys)[:n].copy(), None

    cdef Py_ssize_t _most_keys(
        self, LoadedTokens tokens, Py_ssize_t first, Py_ssize_t last
    ) noexcept nogil:
        """As many keys as there may be at most."""
        cdef const AtomSpec* atom
        cdef const uint64_t* values
        cdef Py_ssize_t size = 0
        cdef Py_ssize_t p
        cdef Py_ssize_t t
        cdef Py_ssize_t at
        for p in range(tokens.n):
            if tokens.is_padding(p):
                continue
            for t in range(first, last):
                if self.templates[t].many < 0:
                    size += 1
                    continue
                atom = &self.templates[t].atoms[self.templates[t].many]
                for at in range(p + atom.first, p + atom.last + 1):
                    size += tokens.values_of(atom, at, &values)
        return size

    cdef Py_ssize_t _write_keys(
        self, LoadedTokens tokens, Py_ssize_t first, Py_ssize_t last, int64_t* starts,
        uint64_t* keys,
    ) noexcept nogil:
        """Write where the keys of each token begin, and the keys; return how many they are."""
        cdef const TemplateSpec* template
        cdef const AtomSpec* atom
        cdef const uint64_t* values
        cdef uint64_t joined[MAX_ATOMS + 1]
        cdef uint64_t key
        cdef Py_ssize_t kept = 0
        cdef Py_ssize_t before
        cdef Py_ssize_t count
        cdef Py_ssize_t p
        cdef Py_ssize_t t
        cdef Py_ssize_t at
        cdef Py_ssize_t k
        cdef Py_ssize_t j
        cdef int a
        for p in range(tokens.n):
            if tokens.is_padding(p):
                continue
            for t in range(first, last):
                template = &self.templates[t]
                joined[0] = template.number
                for a in range(template.n_atoms):
                    if a != template.many:
                        at = p + template.atoms[a].first
                        joined[a + 1] = tokens.fields[at * self.n_fields + template.atoms[a].field]
                        if joined[a + 1] == NULL_ATOM:
                            break
                else:
                    if template.many < 0:
                        keys[kept] = murmur_hash_64a(
                            joined, (template.n_atoms + 1) * sizeof(uint64_t), 1
                        )
                        kept += 1
                        continue
                    atom = &template.atoms[template.many]
                    before = kept
                    for at in range(p + atom.first, p + atom.last + 1):
                        count = tokens.values_of(atom, at, &values)
                        for k in range(count):
                            joined[template.many + 1] = values[k]
                            key = murmur_hash_64a(
                                joined, (template.n_atoms + 1) * sizeof(uint64_t), 1
                            )
                            # Values of one token differ; words of several may be the same.
                            if atom.first < atom.last:
                                j = before
                                while j < kept and keys[j] != key:
                                    j += 1
                                if j < kept:
                                    continue
                            keys[kept] = key
                            kept += 1
            starts += 1
            starts[0] = kept
        return kept
