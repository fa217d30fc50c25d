"""Tagging the words of a sentence, as a transition system: one action a word, its tag.

The atoms of a state are fields of the words around the current one, which are computed once a
sentence, and the last two tags (Collins 2002, after Ratnaparkhi 1996; fields of Chinese words as in
Zhang & Clark 2011, section 4). Field `f` of the current word is ``f(w0)``, of the word before it
``f(w-1)``, and so on, two words to either side:

- ``w``: the word; ``lower``: without case;
- ``start``, ``end``: its first and last character; ``prefix2`` to ``prefix6``, ``suffix2`` to
  ``suffix6``: its first and last characters, null for shorter words; all without case;
- ``len``: how many characters it has, up to 15; ``len4``: up to 4; ``one``: the word itself if it
  has one character, null otherwise;
- ``kinds``, ``shape``, ``caps``, ``digits``, ``parts``: the kinds of its characters
  (`features.word_fields`); ``pattern``: which of its characters are the same;
- ``catstart``, ``catend``: the tags of all training words that contain its first or last character;
  ``tags``: the tags that it has in training itself, for words beside the current one;
- ``listed``: the set of tags that it has in word lists; null without any;
- ``class``, and ``class4`` to ``class20``, the beginnings of its path, if there are classes of
  words (`tasks.knowledge.word_classes`);
- ``guide``: its tag by a guide, a tagger of another standard.

``chars(w0)``, ``inner(w0)`` (neither first nor last), ``repeated(w0)`` (same as the one before)
and ``cats(w0)`` have many values. ``t-1`` and ``t-2`` are the last two tags.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from spacy_structreg.learn.memory cimport BufferOwner, capacity_of, reserve, reserve_zeros
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.learn.random cimport next_unit
from spacy_structreg.search.agenda cimport Agenda
from spacy_structreg.search.transition_system cimport (
    WORDS_OF_ATOM_SET,
    AtomSet,
    TransitionSystem,
    add_atom,
)
from spacy_structreg.tasks.derivations cimport Derivation
from spacy_structreg.tasks.word_fields cimport (
    GUIDE,
    N_FIELDS,
    NO_TAGS,
    NO_WORD,
    WORD,
    TagSets,
    WordFields,
)

import numpy as np

from spacy_structreg.features.character_classes import (
    TABLE_SIZE,
    WHITE_SPACE,
    property_table,
)
from spacy_structreg.features.word_fields import WORD_FIELDS
from spacy_structreg.tasks.joint.tag_records import check_tags

cdef enum:
    TABLE = 0x20000
    # How far atoms look beyond the ends of a sentence.
    REACH = 2
    # Tags that are not there: before the sentence, or beyond a cut.
    BEFORE_SENTENCE = -1
    BEYOND_CUT = -2
    # In place of the only tag that a word may get.
    SEVERAL = -1
    # At so many positions together what depends on the words alone is scored ahead.
    AHEAD = 32

assert TABLE == TABLE_SIZE

cdef uint8_t IS_SPACE = WHITE_SPACE

cdef enum:
    POSITION
    # The words from the one before to the one after.
    WORD_BEFORE
    CURRENT_WORD
    WORD_AFTER
    TAG1
    TAG2
    N_ANCHORS

cdef enum:
    CHARACTERS
    INNER
    REPEATED
    CATEGORIES

# Of atoms at these distances from the current word; those of others depend on the position.
_ANCHORS = {-1: <int> WORD_BEFORE, 0: <int> CURRENT_WORD, 1: <int> WORD_AFTER}

_MANY = ["chars(w0)", "inner(w0)", "repeated(w0)", "cats(w0)"]

# The fields of words by the names of their atoms, and how far the word is from the current one.
_ATOMS = {
    f"w{at}" if field == "w" else f"{field}(w{at})": (number, offset)
    for number, field in enumerate(WORD_FIELDS)
    for offset, at in zip(range(-REACH, REACH + 1), ["-2", "-1", "0", "+1", "+2"], strict=True)
    if (field, offset) != ("tags", 0)
}

TAGGING_ATOMS = (*_ATOMS, *_MANY, "t-1", "t-2")
"""The names of all atoms that templates of tagging may read."""

TAGGING_EVENTS = ("tag",)
"""The names of the events on which they fire."""

CATEGORY_ATOMS = frozenset(
    [name for name in TAGGING_ATOMS if name.startswith("cat")]
)
"""Atoms of character categories."""

NEEDS_GUIDE = frozenset([name for name in TAGGING_ATOMS if name.startswith("guide")])
"""Atoms of the tags of a guide."""

TAG_SET_ATOMS = frozenset([name for name in TAGGING_ATOMS if name.startswith("tags")])
"""Atoms of the tag sets of words."""

OTHER_WORDS = 0
"""In a dictionary of tags, the key of all words that have none of their own; no word has it."""

NEEDS_WORD_CLASSES = frozenset([name for name in TAGGING_ATOMS if name.startswith("class")])
"""Atoms of word clusters."""


cdef class TagTransitions(TransitionSystem):
    """Tagging words from left to right.

    words: the fields of words. n_tags: how many tags there are, ≥ 1.
    atoms: those of `TAGGING_ATOMS` that templates read.
    dictionary: the only tags that listed words may get, by `WordFields.key_of`, and under
        `OTHER_WORDS` those of all other words, if these are held to any; not in training, where it
        would always be right.
    new_guide: makes a `TagDecoder` of another standard, whose tags are atoms; None for none.
    Raises ValueError for atoms that do not exist, or do not go together with `words`.
    """

    def __init__(
        self, WordFields words not None, int n_tags, atoms, TagSets dictionary=None,
        new_guide=None,
    ):
        cdef int i
        check_tags(n_tags)
        for sets in (words.categories, words.classes, dictionary):
            if sets is not None and sets.n_tags != n_tags:
                raise ValueError(f"expected tag sets of {n_tags} tags, got {sets.n_tags}")
        chosen = dict.fromkeys(atoms)
        unknown = sorted(set(chosen) - set(TAGGING_ATOMS))
        if unknown:
            raise ValueError(f"unknown atom {unknown[0]!r}")
        if words.categories is None and CATEGORY_ATOMS & set(chosen):
            raise ValueError("atoms of character categories need the categories of characters")
        if words.classes is None and TAG_SET_ATOMS & set(chosen):
            raise ValueError("atoms of the tags of words need the tag dictionary of words")
        if words.word_classes is None and NEEDS_WORD_CLASSES & set(chosen):
            raise ValueError("atoms of word classes need the setting word_classes")
        if new_guide is None and NEEDS_GUIDE & set(chosen):
            raise ValueError("atoms of the tags of a guide need a guide")
        of_words = [name for name in chosen if name in _ATOMS]
        many = [name for name in _MANY if name in chosen]
        of_tags = [name for name in ("t-1", "t-2") if name in chosen]
        self.words = words
        self.n_tags = n_tags
        self.dictionary = dictionary
        self._others = -1 if dictionary is None else dictionary.find(OTHER_WORDS)
        self._new_guide = new_guide
        self.guide = None if new_guide is None else new_guide()
        self.state_size = sizeof(TagState)
        self.n_anchors = N_ANCHORS
        self.atoms = (*of_words, *many, *of_tags)
        self.atom_anchors = (
            # A guide looks at the whole sentence: its tags depend on more than the word.
            *(
                (<int> POSITION if name in NEEDS_GUIDE
                 else _ANCHORS.get(_ATOMS[name][1], <int> POSITION),)
                for name in of_words
            ),
            *((<int> CURRENT_WORD,) for _ in many),
            *((<int> (TAG1 if name == "t-1" else TAG2),) for name in of_tags),
        )
        self.global_anchors = (*_ANCHORS.values(), <int> TAG1, <int> TAG2)
        self.position_anchors = (<int> POSITION, *_ANCHORS.values())
        self.multi_valued = tuple(many)
        self.events = {"tag": n_tags}
        self.fire_events([[("tag", tag)] for tag in range(n_tags)])
        self._n_of_words = len(of_words)
        memset(&self._atoms_of_words, 0, sizeof(AtomSet))
        reserve(&self.buffers, self._places, len(of_words))
        reserve(&self.buffers, self._many_kinds, len(_MANY) + 1)
        self._wanted_fields = 0
        for i, name in enumerate(of_words):
            field, offset = _ATOMS[name]
            self._places[i] = offset * N_FIELDS + field
            add_atom(&self._atoms_of_words, i)
            self._wanted_fields |= <uint64_t> 1 << <int> field
        for i, name in enumerate(many):
            self._many_kinds[i] = _MANY.index(name)
        self._tag1 = self.atoms.index("t-1") if "t-1" in chosen else -1
        self._tag2 = self.atoms.index("t-2") if "t-2" in chosen else -1

    def __reduce__(self):
        if self._new_guide is not None:
            raise TypeError("a guide holds working memory; pickle the model instead")
        return TagTransitions, (self.words, self.n_tags, self.atoms, self.dictionary)

    def copy(self, TagSets dictionary=None):
        """A system for another thread, with another dictionary."""
        return TagTransitions(self.words, self.n_tags, self.atoms, dictionary, self._new_guide)

    # The sentence ------------------------------------------------------------------------------

    cdef int load(
        self, const uint32_t* text, const int32_t* bounds, Py_ssize_t n, const uint8_t* allowed
    ) except -1 nogil:
        """Load a sentence of `n` words: word i lies in `text`, normalized, from bounds[i] to
        bounds[i + 1]. Text and bounds must stay.

        allowed: (n, n_tags), the tags that each word may get, or NULL. A word that may get all of
        them is held to the dictionary.
        """
        self._fill(text, bounds, n, 0, n, allowed, self._ask_guide(text, bounds, n))
        self._begin = 0
        self._end = n
        self._any_hidden = False
        return 0

    cdef const int32_t* _ask_guide(
        self, const uint32_t* text, const int32_t* bounds, Py_ssize_t n
    ) except? NULL nogil:
        """The tags of the words of a sentence by the guide; NULL if there is none."""
        cdef Py_ssize_t i
        if self.guide is None or n == 0:
            return NULL
        reserve(&self.buffers, self._guide_text, bounds[n] - bounds[0] + 1)
        reserve(&self.buffers, self._guide_tags, n)
        reserve(&self.buffers, self._guide_bounds, n + 1)
        for i in range(n + 1):
            self._guide_bounds[i] = bounds[i] - bounds[0]
        for i in range(bounds[n] - bounds[0]):
            self._guide_text[i] = self.guide.system.words.normalize(text[bounds[0] + i])
        self.guide.system.load(self._guide_text, self._guide_bounds, n, NULL)
        self.guide._decode(n, self._guide_tags)
        return self._guide_tags

    cdef int _fill(
        self, const uint32_t* text, const int32_t* bounds, Py_ssize_t n, Py_ssize_t first,
        Py_ssize_t last, const uint8_t* allowed, const int32_t* guide_tags,
    ) except -1 nogil:
        """Extend a sentence of `n` words by those from `first` up to `last`.

        guide_tags: of all words, or NULL if there is no guide.
        """
        cdef uint64_t* fields
        cdef const uint8_t* mask
        cdef Py_ssize_t i
        cdef int32_t found
        cdef int32_t sole
        cdef int n_allowed
        cdef int k
        reserve(&self.buffers, self._fields, (n + 2 * REACH) * N_FIELDS)
        reserve(&self.buffers, self._masks, n + 1)
        reserve(&self.buffers, self._sets, n + 1)
        reserve(&self.buffers, self._soles, n + 1)
        self._n = n
        self._known = NULL
        self._text = text
        self._bounds = bounds
        for i in range(REACH * N_FIELDS):
            self._fields[i] = NO_WORD
            self._fields[(n + REACH) * N_FIELDS + i] = NO_WORD
        for i in range(first, last):
            fields = self._fields + (REACH + i) * N_FIELDS
            self.words.fill(
                text + bounds[i], bounds[i + 1] - bounds[i], self._wanted_fields, fields
            )
            fields[GUIDE] = (
                NO_TAGS if guide_tags == NULL else NO_TAGS + 1 + <uint64_t> guide_tags[i]
            )
            mask = NULL
            found = -1
            sole = SEVERAL
            if allowed != NULL:
                mask = allowed + i * self.n_tags
                n_allowed = 0
                for k in range(self.n_tags):
                    if mask[k]:
                        n_allowed += 1
                        sole = k
                if n_allowed != 1:
                    sole = SEVERAL
                if n_allowed == self.n_tags:
                    mask = NULL
            if mask == NULL and self.dictionary is not None:
                found = self.dictionary.find(fields[WORD])
                if found < 0:
                    found = self._others
                if found >= 0:
                    sole = self.dictionary.sole(found)
            self._masks[i] = mask
            self._sets[i] = found
            self._soles[i] = sole
        return 0

    cdef int unload(self) except -1 nogil:
        return self.load(NULL, NULL, 0, NULL)

    cdef void constrain(self, const void* known) noexcept nogil:
        self._known = <const int32_t*> known

    cdef int load_part(
        self, const void* sentence, Py_ssize_t begin, Py_ssize_t count, double dropout,
        uint64_t* noise,
    ) except -1 nogil:
        cdef const int32_t* block = <const int32_t*> sentence
        cdef Py_ssize_t n = block[0]
        # No further does any atom see: a sentence of many pieces is not gone through for each.
        cdef Py_ssize_t first = max(0, begin - REACH)
        cdef Py_ssize_t last = min(n, begin + count + REACH)
        cdef const int32_t* guide_tags = NULL
        cdef Py_ssize_t i
        if self.guide is not None:
            # They stand behind the text.
            guide_tags = block + n + 2 + block[n + 1]
        self._fill(
            <const uint32_t*> (block + n + 2), block + 1, n, first, last, NULL, guide_tags
        )
        # Training asks no dictionary.
        memset(self._sets + first, 0xFF, (last - first) * sizeof(int32_t))
        self._begin = begin
        self._end = begin + count
        self._any_hidden = False
        if dropout > 0.0:
            reserve(&self.buffers, self._hidden, n)
            for i in range(first, last):
                self._hidden[i] = next_unit(noise) < dropout
                if self._hidden[i]:
                    self._any_hidden = True
                    memset(
                        self._fields + (REACH + i) * N_FIELDS, 0, N_FIELDS * sizeof(uint64_t)
                    )
        return 0

    def load_words(self, words, allowed=None):
        """Load a sentence, as for `Agenda.derivations`.

        words: a list of strings. allowed: uint8 or bool of shape (n_words, n_tags), the tags that
        each word may get. They are kept until the next sentence.
        """
        cdef int32_t[::1] bounds = np.cumsum([0, *map(len, words)], dtype=np.int32)
        cdef uint32_t[::1] text = np.array(
            [code for word in words for code in self.words.codes_of(word)] or [0], dtype=np.uint32
        )
        cdef const uint8_t[:, ::1] masks
        cdef const uint8_t* mask = NULL
        if allowed is not None:
            allowed = np.ascontiguousarray(allowed, dtype=np.uint8)
            if allowed.shape != (len(words), self.n_tags):
                raise ValueError(f"allowed must have the shape {len(words), self.n_tags}")
            if len(words):
                masks = allowed
                mask = &masks[0, 0]
        self._kept = (bounds, text, allowed)
        self.load(&text[0], &bounds[0], len(words), mask)

    def compile(self, words, tags, Perceptron learner not None):
        """A gold sentence as a `Derivation`; None if it has no words.

        words: a list of strings. tags: their numbers, None for words whose tag is not known.
        Raises ValueError if a tag does not exist, or the words are too long to be counted.
        """
        cdef Derivation derivation
        cdef int32_t* block
        cdef int64_t total = 0
        cdef Py_ssize_t n = len(words)
        cdef Py_ssize_t i
        cdef int32_t tag
        cdef const int32_t* guide_tags
        if n == 0:
            return None
        for word in words:
            total += len(word)
        if total + n > 0x3FFFFFFF:
            raise ValueError(f"sentence too long: {total:,} characters")
        derivation = Derivation.make(
            n, n, (2 * n + 2 + total) * sizeof(int32_t), learner.numbering
        )
        if None in tags:
            reserve(&derivation.buffers, derivation.known, n * sizeof(int32_t))
            for i in range(n):
                (<int32_t*> derivation.known)[i] = -1 if tags[i] is None else tags[i]
            tags = [0 if each is None else each for each in tags]
        block = <int32_t*> derivation.sentence
        block[0] = <int32_t> n
        block[1] = 0
        total = n + 2
        for i, (word, tag) in enumerate(zip(words, tags, strict=True)):
            if not 0 <= tag < self.n_tags:
                raise ValueError(f"unknown tag {tag}")
            for code in self.words.codes_of(word):
                block[total] = code
                total += 1
            block[i + 2] = <int32_t> (total - n - 2)
            derivation.actions[i] = tag
        guide_tags = self._ask_guide(<const uint32_t*> (block + n + 2), block + 1, n)
        for i in range(n):
            block[total + i] = 0 if guide_tags == NULL else guide_tags[i]
        return derivation

    # States ------------------------------------------------------------------------------------

    cdef Py_ssize_t n_slots(self) noexcept nogil:
        return self._end - self._begin + 1

    cdef void init(self, void* state) noexcept nogil:
        cdef TagState* first = <TagState*> state
        first.position = <int32_t> self._begin
        first.tag1 = BEFORE_SENTENCE if self._begin == 0 else BEYOND_CUT
        first.tag2 = first.tag1

    cdef bint is_final(self, const void* state) noexcept nogil:
        return (<const TagState*> state).position == self._end

    cdef void legal(self, const void* state, uint8_t* mask) noexcept nogil:
        cdef Py_ssize_t position = (<const TagState*> state).position
        if self._known != NULL and self._known[position] >= 0:
            mask[self._known[position]] = 1
        elif self._masks[position] != NULL:
            memcpy(mask, self._masks[position], self.n_tags)
        elif self._sets[position] >= 0:
            self.dictionary.allow(self._sets[position], mask)
        else:
            memset(mask, 1, self.n_tags)

    cdef void apply(self, const void* state, int action, void* after) noexcept nogil:
        cdef const TagState* before = <const TagState*> state
        cdef TagState* target = <TagState*> after
        target.tag2 = before.tag1
        target.tag1 = action
        target.position = before.position + 1

    cdef Py_ssize_t slot(self, const void* state, int action) noexcept nogil:
        return (<const TagState*> state).position + 1 - self._begin

    cdef uint64_t signature(self, const void* state, int action) noexcept nogil:
        cdef const TagState* at = <const TagState*> state
        # A template that reads t-2 sees the tag before the one that is given now.
        if at.position + 1 == self._end:
            return 1
        return 1 + (
            <uint64_t> action * <uint64_t> (self.n_tags + 2)
            + (<uint64_t> (at.tag1 + 2) if self._tag2 >= 0 else 0)
        )

    # Features ----------------------------------------------------------------------------------

    cdef void anchors(self, const void* state, uint64_t* values) noexcept nogil:
        cdef const TagState* at = <const TagState*> state
        cdef const uint64_t* word = self._fields + (REACH + at.position) * N_FIELDS + WORD
        values[POSITION] = <uint64_t> at.position
        values[WORD_BEFORE] = word[-N_FIELDS]
        values[CURRENT_WORD] = word[0]
        values[WORD_AFTER] = word[N_FIELDS]
        values[TAG1] = <uint64_t> (at.tag1 + 2)
        values[TAG2] = <uint64_t> (at.tag2 + 2)

    cdef void fill_atoms(
        self, const void* state, const AtomSet* wanted, uint64_t* values
    ) noexcept nogil:
        cdef const TagState* at = <const TagState*> state
        cdef const uint64_t* fields = self._fields + (REACH + at.position) * N_FIELDS
        cdef bint needs_words = False
        cdef int i
        # A tag is counted from 2 on, after nothing and the beginning of the sentence.
        if self._tag1 >= 0:
            values[self._tag1] = <uint64_t> (at.tag1 + 2)
        if self._tag2 >= 0:
            values[self._tag2] = <uint64_t> (at.tag2 + 2)
        for i in range(WORDS_OF_ATOM_SET):
            needs_words = needs_words or wanted.words[i] & self._atoms_of_words.words[i] != 0
        if needs_words:
            for i in range(self._n_of_words):
                values[i] = fields[self._places[i]]

    cdef Py_ssize_t multi_values(
        self, const void* state, int atom, const uint64_t** values
    ) noexcept nogil:
        cdef Py_ssize_t position = (<const TagState*> state).position
        cdef const uint32_t* word = self._text + self._bounds[position]
        cdef Py_ssize_t length = self._bounds[position + 1] - self._bounds[position]
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t i
        cdef int kind = self._many_kinds[atom - self._n_of_words]
        if self._any_hidden and self._hidden[position]:
            return 0
        reserve(&self.buffers, self._inner, length)
        for i in range(length):
            if kind == INNER and (i == 0 or i == length - 1):
                continue
            if kind == REPEATED and (i == 0 or word[i] != word[i - 1]):
                continue
            self._inner[n] = (
                self.words.category(word[i]) if kind == CATEGORIES else 1 + <uint64_t> word[i]
            )
            n += 1
        values[0] = self._inner
        return n


cdef class TagDecoder(BufferOwner):
    """Tags sentences of words. It holds working memory: use one in each thread.

    agenda: its system is a `TagTransitions`. tags: their names, in the order of their numbers.
    Words of nothing but white space are not shown to the system; their tag is ``""``.
    Raises ValueError if agenda and tags do not fit each other.
    """

    def __init__(self, Agenda agenda not None, tags):
        cdef const uint8_t[::1] properties
        self.agenda = agenda
        self.system = <TagTransitions?> agenda.system
        self.tags = tuple(tags)
        self._property_table = property_table()
        properties = self._property_table
        self._properties = &properties[0]
        if len(self.tags) != self.system.n_tags:
            raise ValueError("the tags do not match those of the transition system")
        reserve(&self.buffers, self._ahead, AHEAD)
        reserve_zeros(&self.buffers, self._ahead_masks, AHEAD * self.system.n_tags)
        for i in range(AHEAD):
            # One action fires the event.
            self._ahead_masks[i * self.system.n_tags] = 1

    @property
    def capacity(self):
        """Capacity of the working memory, in characters or words."""
        return max(capacity_of(self._text), capacity_of(self._bounds))

    cdef bint _is_blank(self, const uint32_t* word, Py_ssize_t n) noexcept nogil:
        """True if a word is nothing but white space."""
        cdef Py_ssize_t i
        for i in range(n):
            if word[i] >= TABLE or not self._properties[word[i]] & IS_SPACE:
                return False
        return True

    cdef Py_ssize_t _load(self, list sentences) except -1:
        """Copy sentences to memory that code without the GIL can read.

        Returns how many words they have, visible or not.
        """
        cdef Py_ssize_t total = 0
        cdef Py_ssize_t n_words = 0
        cdef Py_ssize_t n_visible = 0
        cdef Py_ssize_t before
        cdef Py_ssize_t i
        cdef Py_ssize_t n
        cdef str word
        n = 0
        for sentence in sentences:
            n += len(<list?> sentence)
        reserve(&self.buffers, self._counts, len(sentences) + 1)
        reserve(&self.buffers, self._bounds, n + 1)
        reserve(&self.buffers, self._decided, n + 1)
        reserve(&self.buffers, self._visible, n + 1)
        self._bounds[0] = 0
        for i, sentence in enumerate(sentences):
            before = n_visible
            for item in <list> sentence:
                if type(item) is str:
                    word = <str> item
                elif isinstance(item, str):
                    word = str(item)
                else:
                    raise ValueError(f"expected a word as str, got {item!r:.60}")
                n = len(word)
                if total + n > 0x3FFFFFFF:
                    raise ValueError("too many characters for one call")
                reserve(&self.buffers, self._text, total + n + 1)
                self.system.words.read(word, self._text + total)
                self._visible[n_words] = not self._is_blank(self._text + total, n)
                if self._visible[n_words]:
                    total += n
                    n_visible += 1
                    self._bounds[n_visible] = <int32_t> total
                n_words += 1
            self._counts[i] = <int32_t> (n_visible - before)
        return n_words

    def tag(self, list sentences not None, allowed=None):
        """The tags of the words of each sentence.

        sentences: lists of words. allowed: uint8 of shape (n_words, n_tags), the tags that each
        word of all sentences may get; None if they may get any. A word that may get all of them is
        held to the dictionary.
        Raises ValueError for a word that may get no tag, and for one that is no string. The GIL is
        released while tagging.
        """
        cdef const uint8_t[:, ::1] masks
        cdef const uint8_t* mask = NULL
        cdef Py_ssize_t n_words
        cdef Py_ssize_t n_sentences = len(sentences)
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t place = 0
        cdef Py_ssize_t i
        cdef list tagged = []
        cdef list tags
        cdef tuple names = self.tags
        # Lists of our own, which nobody changes while the GIL is released.
        sentences = [list(<list?> sentence) for sentence in sentences]
        n_words = self._load(sentences)
        if allowed is not None and n_words:
            masks = _checked_masks(allowed, n_words, self.system.n_tags)[
                np.asarray(<uint8_t[:n_words]> self._visible, dtype=bool)
            ]
            if masks.shape[0]:
                mask = &masks[0, 0]
        try:
            with nogil:
                for i in range(n_sentences):
                    self.system.load(
                        self._text, self._bounds + first, self._counts[i],
                        NULL if mask == NULL else mask + first * self.system.n_tags,
                    )
                    self._decode(self._counts[i], self._decided + first)
                    first += self._counts[i]
        finally:
            self.system.unload()
        first = 0
        for sentence in sentences:
            tags = []
            for _ in range(len(<list> sentence)):
                if self._visible[place]:
                    tags.append(names[self._decided[first]])
                    first += 1
                else:
                    tags.append("")
                place += 1
            tagged.append(tags)
        return tagged

    cdef Py_ssize_t _look_ahead(self, Py_ssize_t position, Py_ssize_t n) except -1 nogil:
        """Fill the memo with the vectors that depend on words only, from `position` on.

        Rows of several positions wait for memory together. A beam of one asks only for words that
        may get several tags. Returns the position after the last that it has seen to.
        """
        cdef bint all_words = self.agenda.width != 1
        cdef Py_ssize_t count = 0
        while position < n and count < AHEAD:
            if all_words or self.system._soles[position] == SEVERAL:
                self._ahead[count].position = <int32_t> position
                self._ahead[count].tag1 = BEYOND_CUT
                self._ahead[count].tag2 = BEYOND_CUT
                count += 1
            position += 1
        self.agenda.scorer.prefill_memo(self._ahead, count, self._ahead_masks)
        return position

    cdef int _decode(self, Py_ssize_t n, int32_t* decided) except -1 nogil:
        """Tag the loaded sentence."""
        cdef Py_ssize_t seen = 0
        cdef Py_ssize_t count
        cdef Py_ssize_t slot
        cdef Py_ssize_t place
        if self.agenda.width == 1:
            return self._decode_greedily(n, decided)
        self.agenda.begin()
        for slot in range(n):
            if slot == seen and self.agenda.scorer.memo:
                seen = self._look_ahead(slot, n)
            count = self.agenda.open(slot, self.agenda.width)
            self.agenda.expand(self.agenda.n_items - count, count)
        place = self.agenda.n_items - 1 if n == 0 else self.agenda.n_items
        self.agenda.open(n, 1)
        while self.agenda.items[place].parent >= 0:
            decided[self.agenda.items[place].step - 1] = self.agenda.items[place].action
            place = self.agenda.items[place].parent
        return 0

    cdef int _decode_greedily(self, Py_ssize_t n, int32_t* decided) except -1 nogil:
        """As the agenda would with a width of 1, which has no use for candidates, nor for scores
        where there is no choice."""
        cdef uint8_t* mask = self.agenda.mask
        cdef double* scores = self.agenda.scores
        cdef TagState states[2]
        cdef Py_ssize_t seen = 0
        cdef Py_ssize_t i
        cdef double highest
        cdef int action
        cdef int best
        self.agenda.scorer.clear_memo()
        self.system.init(&states[0])
        for i in range(n):
            if i == seen and self.agenda.scorer.memo:
                seen = self._look_ahead(i, n)
            best = self.system._soles[i]
            if best == SEVERAL:
                # Scores of a single event are those of all tags, allowed or not.
                self.agenda.scorer.score(&states[i & 1], 1, self._ahead_masks, scores)
                memset(mask, 0, self.system.n_tags)
                self.system.legal(&states[i & 1], mask)
                highest = -INFINITY
                for action in range(self.system.n_tags):
                    if scores[action] > highest and mask[action]:
                        best = action
                        highest = scores[action]
            decided[i] = best
            self.system.apply(&states[i & 1], best, &states[1 - (i & 1)])
        return 0

    def nbest(self, list words not None, Py_ssize_t k, allowed=None):
        """The `k` best sequences of tags for a sentence, best first: (score, tags) each.

        No more are found than the width of the agenda, or `k` if that is more, lets through.
        States are not merged: it takes away what would come second.
        Raises ValueError if k < 1, and as `tag`.
        """
        cdef Py_ssize_t i
        cdef bint merge = self.agenda.merge
        if k < 1:
            raise ValueError(f"k must be at least 1, got {k}")
        self._load([words])
        places = [i for i in range(len(words)) if self._visible[i]]
        if allowed is not None and len(words):
            allowed = _checked_masks(allowed, len(words), self.system.n_tags)[places]
        self.system.load_words([words[i] for i in places], allowed)
        found = []
        self.agenda.merge = merge and k == 1
        try:
            derivations = self.agenda.derivations(k)
        finally:
            self.agenda.merge = merge
        for score, actions in derivations:
            tags = [""] * len(words)
            for i, action in zip(places, actions, strict=True):
                tags[i] = self.tags[action]
            found.append((score, tags))
        return found


def _checked_masks(allowed, n_words, n_tags):
    masks = np.ascontiguousarray(allowed, dtype=np.uint8)
    if masks.shape != (n_words, n_tags):
        raise ValueError(f"allowed must have the shape {n_words, n_tags}")
    if not masks.any(axis=1).all():
        raise ValueError("a word has no allowed tag")
    return masks
