"""Words as a transition system over characters: segmentation, with tags or without.

Each character is appended to the current word or separated from it and begins the next one (Zhang
& Clark 2011, section 3); with tags, a word takes its tag at its first character and keeps it
(section 4). After the last character one more action ends the last word. Without tags there is one
kind of word.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from spacy_structreg.learn.memory cimport BufferOwner, capacity_of, reserve
from spacy_structreg.learn.murmur cimport murmur_hash_64a
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.learn.random cimport next_unit
from spacy_structreg.search.agenda cimport Agenda
from spacy_structreg.search.transition_system cimport (
    NULL_ATOM,
    AtomSet,
    TransitionSystem,
    has_atom,
)
from spacy_structreg.tasks.segmentation.characters cimport CharacterAtoms
from spacy_structreg.tasks.derivations cimport Derivation
from spacy_structreg.tasks.joint.tag_records cimport GrowingRecords, TagRecords, word_key
from spacy_structreg.tasks.knowledge.lexicon_source cimport LexiconSource
from spacy_structreg.tasks.segmentation.text cimport (
    ANY_TAG,
    BEGINS_WORD,
    CONTINUES_WORD,
    FREE,
    GETS_ITS_TAG,
    GOES_ON,
    IS_LISTED,
    ListedWords,
    NO_DEADLINE,
    BonusWords,
    TextDecoder,
    bonus_beyond,
    bonus_of,
    listed_as,
)

import numpy as np

from spacy_structreg.features.character_classes import TABLE_SIZE, run_table
from spacy_structreg.search.visited_states import visited_states
from spacy_structreg.tasks.joint.tag_records import check_tags

cdef enum:
    TABLE = 0x20000
    MAX_LENGTH = 15
    # Of a long word, features see so many of its inner characters, the last ones: with all of them,
    # time would grow with the square of its length.
    MAX_INNER = 64
    # What stands for a word that is not there.
    NO_WORD = 1

assert TABLE == TABLE_SIZE

cdef enum:
    POSITION
    FIRST0
    FIRST1
    TAG0
    TAG1
    TAG2
    N_ANCHORS

cdef enum:
    W1
    W2
    ONE
    LENGTH1
    LENGTH2
    START1
    END1
    END2
    C_2
    C_1
    C0
    C1
    FIRST
    Y_2
    Y_1
    Y0
    Y1
    T0
    T_1
    T_2
    START0
    INNER
    CATEGORY0
    CATEGORY1
    LISTED1
    LISTED2
    TAGS1
    TAGS2
    N_ATOMS

# Names, in the notation of the papers, and anchors. On separating, w-1 is the word that has just
# been completed; on appending, w0 is the word that goes on.
_ATOMS = {
    W1: ("w-1", [POSITION, FIRST0]),
    W2: ("w-2", [FIRST0, FIRST1]),
    ONE: ("one(w-1)", [POSITION, FIRST0]),
    LENGTH1: ("len(w-1)", [POSITION, FIRST0]),
    LENGTH2: ("len(w-2)", [FIRST0, FIRST1]),
    START1: ("start(w-1)", [FIRST0]),
    END1: ("end(w-1)", [POSITION, FIRST0]),
    END2: ("end(w-2)", [FIRST0]),
    C_2: ("c-2", [POSITION]),
    C_1: ("c-1", [POSITION]),
    C0: ("c0", [POSITION]),
    C1: ("c+1", [POSITION]),
    FIRST: ("first", [POSITION, FIRST0]),
    Y_2: ("type-2", [POSITION]),
    Y_1: ("type-1", [POSITION]),
    Y0: ("type0", [POSITION]),
    Y1: ("type+1", [POSITION]),
    T0: ("t0", [TAG0]),
    T_1: ("t-1", [TAG0]),
    T_2: ("t-2", [TAG1]),
    START0: ("start(w0)", [FIRST0]),
    INNER: ("inner(w-1)", [POSITION, FIRST0]),
    # The tags seen with words that contain a character; null without records.
    CATEGORY0: ("cat(c0)", [POSITION]),
    CATEGORY1: ("cat(end(w-1))", [POSITION, FIRST0]),
    # Whether word lists have a word, and how frequent it is there; and its tags. Null without a
    # `LexiconSource` among the sources of the characters.
    LISTED1: ("listed(w-1)", [POSITION, FIRST0]),
    LISTED2: ("listed(w-2)", [FIRST0, FIRST1]),
    TAGS1: ("tags(w-1)", [POSITION, FIRST0]),
    TAGS2: ("tags(w-2)", [FIRST0, FIRST1]),
}

cdef class WordTransitions(TransitionSystem):
    """Appending and separating characters.

    characters: what the model sees of a character. n_tags: how many tags a word may have, ≥ 1.
    by_words: let whole words compete where they end, and prefixes of words not at all, instead of
        all states that have consumed the same characters (multiple beams instead of one; sections
        3.5.1 and 4.3.1). The tag of the next word is chosen together with the end of a word, and
        has a slot of its own, but no part in the rank: the same words are kept for all tags.
    max_word_length: no word becomes longer, unless it must not end; None for no limit.
    records: what words and characters are known to be; None for nothing. `GrowingRecords` take in
        each part of a training sentence, of whole words, before it is decoded.
    prune: do not propose what they exclude.
    joins_runs: in training, let no word cut a run of Latin letters or of digits, of either width
        (`features.typed_runs.LatinRuns`).
    """

    def __init__(
        self, CharacterAtoms characters not None, int n_tags=1, bint by_words=False,
        max_word_length=None, TagRecords records=None, bint prune=True, bint joins_runs=False,
    ):
        cdef const uint8_t[::1] runs
        check_tags(n_tags)
        if max_word_length is not None and max_word_length < 1:
            raise ValueError(f"max_word_length must be at least 1, got {max_word_length}")
        self.characters = characters
        self._n_streams = max(2, len(characters.atoms))
        self._lexicon = None
        for source in characters.sources:
            if isinstance(source, LexiconSource):
                self._lexicon = source
        self.n_tags = n_tags
        self.by_words = by_words
        self.max_word_length = 0 if max_word_length is None else max_word_length
        if records is not None and records.n_tags != n_tags:
            raise ValueError(f"expected records of {n_tags} tags, got {records.n_tags}")
        self.records = records
        self._growing = records if isinstance(records, GrowingRecords) else None
        self.prune = prune and records is not None
        self.joins_runs = joins_runs
        self._run_table = run_table()
        runs = self._run_table
        self._runs = &runs[0]
        self.slots.in_step = not by_words
        if by_words:
            # Words that are not complete do not compete.
            self.slots.period = n_tags + 1
        if by_words and n_tags > 1:
            # The end of a word, without a tag of the next one.
            self.slots.ranking_action = START + n_tags
        self.state_size = sizeof(WordState)
        self.n_anchors = N_ANCHORS
        # Without types their atoms stay, and are null.
        self.atoms = tuple([_ATOMS[i][0] for i in range(N_ATOMS)])
        self.atom_anchors = tuple([tuple(map(int, _ATOMS[i][1])) for i in range(N_ATOMS)])
        self.multi_valued = (_ATOMS[INNER][0],)
        self.events = {"append": 1, "separate": 1, "boundary": 2}
        starts = [[("separate", 0), ("boundary", 1)] for _ in range(n_tags)]
        if n_tags > 1:
            self.events["tag"] = n_tags
            for tag, events in enumerate(starts):
                events.append(("tag", tag))
        self.fire_events(
            [[("append", 0), ("boundary", 0)], *starts, [("separate", 0), ("boundary", 1)]]
        )
        self.load(NULL, 0, NULL)

    def __reduce__(self):
        return WordTransitions, (
            self.characters, self.n_tags, self.by_words, self.max_word_length or None,
            self.records, self.prune, self.joins_runs,
        )

    def copy(self, prune=None, records=None):
        """A system of the same settings, for another thread. prune, records: others than these."""
        return WordTransitions(
            self.characters.copy(), self.n_tags, self.by_words, self.max_word_length or None,
            self.records if records is None else records, self.prune if prune is None else prune,
            self.joins_runs,
        )

    # The sentence ------------------------------------------------------------------------------

    cdef int load(
        self, const uint32_t* text, Py_ssize_t n, const uint8_t* constraints
    ) except -1 nogil:
        """Load a sentence without white space. constraints: of each character, or NULL."""
        self._fill(text, n, 0, n)
        self._begin = 0
        self._end = n
        self._any_hidden = False
        self._constraints = constraints
        self._has_runs = False
        self._known_tags = NULL
        self._listed = NULL
        self._bonuses = NULL
        self.slots.alike = True
        memset(&self.guide, 0, sizeof(GuideView))
        return 0

    cdef int unload(self) except -1 nogil:
        return self.load(NULL, 0, NULL)

    cdef int _fill(
        self, const uint32_t* text, Py_ssize_t n, Py_ssize_t first, Py_ssize_t last
    ) except -1 nogil:
        """Extend a sentence of `n` characters by those from `first` up to `last`."""
        cdef Py_ssize_t stride = n + 2 * REACH
        cdef Py_ssize_t i
        self._n = n
        reserve(&self.buffers, self._symbols, self._n_streams * stride)
        reserve(&self.buffers, self._characters, n + 1)
        self.characters.fill(
            text + first, last - first, self._symbols + REACH + first, stride, REACH
        )
        self._types = self._symbols + stride if self.characters._types != NULL else NULL
        for i in range(first, last):
            self._characters[i] = <uint32_t> self._symbols[REACH + i]
        if self.records is not None:
            reserve(&self.buffers, self._numbers, n + 1)
            reserve(&self.buffers, self._categories, n + 1)
            for i in range(first, last):
                self._numbers[i] = self.records.number_of(self._characters[i])
                self._categories[i] = self.records.category(self._numbers[i])
        return 0

    cdef bint _is_one_run(self, const uint32_t* pair) noexcept nogil:
        """True if two characters belong to one run of letters or of digits."""
        return (
            pair[0] < TABLE and pair[1] < TABLE
            and self._runs[pair[0]] != 0 and self._runs[pair[0]] == self._runs[pair[1]]
        )

    cdef int load_part(
        self, const void* sentence, Py_ssize_t begin, Py_ssize_t count, double dropout,
        uint64_t* noise,
    ) except -1 nogil:
        cdef const uint32_t* block = <const uint32_t*> sentence
        cdef Py_ssize_t n = block[0]
        # No further does any atom see: a sentence of many pieces is not gone through for each.
        cdef Py_ssize_t first = max(0, begin - REACH)
        cdef Py_ssize_t last = min(n, begin + count + REACH)
        cdef Py_ssize_t i
        self._fill(block + 1, n, first, last)
        self._any_hidden = False
        self._has_runs = self.joins_runs
        if self.joins_runs:
            reserve(&self.buffers, self._run_constraints, n + 1)
            for i in range(begin, min(n, begin + count + 1)):
                self._run_constraints[i] = (
                    CONTINUES_WORD if i > begin and self._is_one_run(block + i) else FREE
                )
        self.constrain(NULL)
        self._listed = NULL
        self._bonuses = NULL
        memset(&self.guide, 0, sizeof(GuideView))
        self._begin = begin
        self._end = begin + count
        if dropout > 0.0:
            reserve(&self.buffers, self._hidden, n + 1)
            # How many of the characters before each one are hidden.
            self._hidden[first] = 0
            for i in range(first, last):
                self._hidden[i + 1] = self._hidden[i] + (next_unit(noise) < dropout)
            self._any_hidden = self._hidden[last] > 0
        return 0

    cdef int observe_gold(
        self, const void* sentence, const int32_t* actions, const void* known, Py_ssize_t begin,
        Py_ssize_t count,
    ) except -1 nogil:
        cdef const uint32_t* block = <const uint32_t*> sentence
        cdef const int32_t* known_tags = <const int32_t*> known
        cdef const uint8_t* constraints = NULL
        cdef Py_ssize_t last = begin + count
        cdef Py_ssize_t i = begin
        cdef Py_ssize_t end
        cdef int32_t tag
        if self._growing is None:
            return 0
        if known != NULL:
            constraints = <const uint8_t*> (known_tags + block[0])
        self._fill(block + 1, block[0], begin, last)
        while i < last:
            end = i + 1
            if known == NULL:
                tag = actions[i] - START
                while end < last and actions[end] == APPEND:
                    end += 1
            else:
                tag = known_tags[i]
                while end < last and constraints[end] == CONTINUES_WORD:
                    end += 1
            # Of a part that begins within a word, and of a word whose tag is not known, nothing is.
            if 0 <= tag < self.n_tags:
                self._growing.observe(self._characters + i, end - i, tag)
            i = end
        return 0

    cdef void constrain(self, const void* known) noexcept nogil:
        # As `compile_partial` has laid it out: tags, then constraints.
        self._known_tags = <const int32_t*> known
        self._constraints = self._run_constraints if self._has_runs else NULL
        if known != NULL:
            self._constraints = <const uint8_t*> (self._known_tags + self._n)

    def load_text(self, str text not None, constraints=None):
        """Load a sentence without white space, as for `Agenda.derivations`.

        constraints: uint8 of each character: 0 for none, 1 if it must begin a word, 2 if it must
        not. They are kept until the next sentence.
        """
        cdef uint32_t[::1] codes = np.array([ord(c) for c in text] or [0], dtype=np.uint32)
        cdef const uint8_t[::1] view
        self.load(&codes[0], len(text), NULL)
        self._kept = None
        if constraints is not None and len(text):
            self._kept = np.ascontiguousarray(constraints, dtype=np.uint8)
            view = self._kept
            if view.shape[0] != len(text):
                raise ValueError("constraints must have one value per character")
            self._constraints = &view[0]

    def compile(self, words, tags, Perceptron learner not None):
        """A gold sentence as a `Derivation`; None if it has nothing but white space.

        words: white space in and around them is dropped. tags: their numbers, or None.
        """
        squeezed = ["".join(word.split()) for word in words]
        tags = [0] * len(squeezed) if tags is None else list(tags)
        actions = []
        for word, tag in zip(squeezed, tags, strict=True):
            if not 0 <= tag < self.n_tags:
                raise ValueError(f"unknown tag {tag}")
            actions += [START + tag, *[<int> APPEND] * (len(word) - 1)] if word else []
        lengths = [len(word) for word in squeezed if word]
        units = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        return self._derivation("".join(squeezed), [*actions, START + self.n_tags], units, learner)

    def _derivation(self, str text not None, list actions not None, units, Perceptron learner):
        """A text and its gold actions as a `Derivation`; None if there is no text."""
        cdef Derivation derivation
        cdef uint32_t* block
        cdef Py_ssize_t i
        if not text:
            return None
        derivation = Derivation.make(
            len(text), len(actions), (len(text) + 1) * sizeof(uint32_t), learner.numbering
        )
        block = <uint32_t*> derivation.sentence
        block[0] = <uint32_t> len(text)
        for i, character in enumerate(text):
            block[1 + i] = ord(character)
        for i, action in enumerate(actions):
            derivation.actions[i] = action
        derivation.units = units
        return derivation

    def compile_partial(self, str text not None, boundaries, tags, Perceptron learner not None):
        """A sentence of which some words or tags are known as a `Derivation`.

        text: without white space. boundaries: of each place between two characters, whether a word
        ends there; None where that is not known. tags: first character, first character after, and
        number of the tag of some words whose ends are known. What is known may not be the whole.
        Raises ValueError if a tag does not exist.
        """
        cdef Py_ssize_t n = len(text)
        cdef Derivation derivation = Derivation.make(
            n, n + 1, (n + 1) * sizeof(uint32_t), learner.numbering
        )
        cdef uint32_t* block = <uint32_t*> derivation.sentence
        cdef int32_t* known_tags
        cdef uint8_t* constraints
        cdef Py_ssize_t i
        cdef int32_t tag
        reserve(&derivation.buffers, derivation.known, n * (sizeof(int32_t) + sizeof(uint8_t)))
        known_tags = <int32_t*> derivation.known
        constraints = <uint8_t*> (known_tags + n)
        block[0] = <uint32_t> n
        for i, (character, begins) in enumerate(zip(text, [True, *boundaries], strict=True)):
            block[1 + i] = ord(character)
            derivation.actions[i] = START
            known_tags[i] = ANY_TAG
            constraints[i] = FREE
            if begins is not None:
                constraints[i] = BEGINS_WORD if begins else CONTINUES_WORD
            elif self.joins_runs and self._is_one_run(block + i):
                constraints[i] = CONTINUES_WORD
        derivation.actions[n] = START + self.n_tags
        for i, _, tag in tags:
            if not 0 <= tag < self.n_tags:
                raise ValueError(f"unknown tag {tag}")
            known_tags[i] = tag
        units = [i for i in range(n) if constraints[i] == BEGINS_WORD]
        derivation.units = np.array([*units, n], dtype=np.int64)
        return derivation

    # States ------------------------------------------------------------------------------------

    cdef Py_ssize_t n_slots(self) noexcept nogil:
        cdef Py_ssize_t count = self._end - self._begin
        if self._end == self._n:
            count += 1
        if self.by_words:
            count = (self._end - self._begin) * (self.n_tags + 1) + (self._end == self._n)
        return count + 1

    cdef void init(self, void* state) noexcept nogil:
        cdef WordState* first = <WordState*> state
        first.position = <int32_t> self._begin
        first.first0 = BEFORE_SENTENCE if self._begin == 0 else BEYOND_CUT
        first.first1 = first.first0
        first.tag0 = first.first0
        first.tag1 = first.first0
        first.tag2 = first.first0
        first.deadline = NO_DEADLINE if self._listed == NULL else self._listed.deadlines[0]
        first.must_be = False
        first.is_final = self._end == self._begin and self._end < self._n

    cdef bint is_final(self, const void* state) noexcept nogil:
        return (<const WordState*> state).is_final

    cdef void legal(self, const void* state, uint8_t* mask) noexcept nogil:
        cdef const WordState* at = <const WordState*> state
        cdef bint may_separate = True
        cdef int32_t i = at.position
        cdef int tag
        if self._listed != NULL or self._bonuses != NULL:
            self._follow_list(at, mask)
        elif i == self._n:
            mask[START + self.n_tags] = not self.prune or self._may_be_word(at)
        else:
            if at.first0 >= 0:
                mask[APPEND] = self._may_append(at)
                if self._constraints != NULL:
                    may_separate = self._constraints[i] != CONTINUES_WORD
                if self.prune:
                    may_separate = may_separate and self._may_be_word(at)
            if may_separate:
                if self.guide.allowed != NULL:
                    memcpy(mask + START, self.guide.begins + i * self.n_tags, self.n_tags)
                else:
                    memset(mask + START, 1, self.n_tags)
                if self.prune:
                    self._prune_starts(i, mask)
        if self._known_tags != NULL and i < self._n and self._known_tags[i] != ANY_TAG:
            for tag in range(self.n_tags):
                mask[START + tag] = mask[START + tag] and tag == self._known_tags[i]
        if self.guide.allowed != NULL and i < self._n:
            self._keep_window(at, mask)

    cdef int only_action(self, const void* state) noexcept nogil:
        cdef const WordState* at = <const WordState*> state
        cdef const GuideView* guide = &self.guide
        cdef int32_t i = at.position
        cdef int32_t action
        if guide.allowed == NULL or i == self._n or self._listed != NULL:
            return -1
        action = guide.sure[i]
        if action < 0 or at.first0 < 0:
            return -1
        if not guide.allowed[(i - 1) * guide.n_labels + self._settled(at, action == APPEND)]:
            return -1
        if action == APPEND:
            return APPEND if self._window_goes_on(at) and self._may_append(at) else -1
        if self._constraints != NULL and self._constraints[i] == CONTINUES_WORD:
            return -1
        if self.prune and not (
            self.records.is_in(self.records.tags_of_first(self._numbers[i]), action - START)
            and self._may_be_word(at)
        ):
            return -1
        return action

    cdef bint _may_append(self, const WordState* at) noexcept nogil:
        """True if the current word may take the next character if it is not a listed one."""
        cdef int32_t i = at.position
        if i >= at.deadline or at.must_be:
            return False
        if self._constraints != NULL and self._constraints[i] != FREE:
            return self._constraints[i] == CONTINUES_WORD
        if self.max_word_length and i - at.first0 >= self.max_word_length:
            return False
        if self.prune and self.records.lengths[at.tag0]:
            return i - at.first0 < self.records.lengths[at.tag0]
        return True

    # Listed words (`tasks.segmentation.text`). Whether the current word is one of them is seen when
    # it ends: until then it may be one, or, as long as the deadline is not past, another one. So a
    # deadline of 0 says that it must be one. That it has a bonus is seen when it ends, too: where
    # nothing else may go on, it must have one, unless it is listed.

    cdef void _follow_list(self, const WordState* at, uint8_t* mask) noexcept nogil:
        """`legal` where there are listed words, or words with a bonus."""
        cdef const ListedWords* words = self._listed
        cdef const BonusWords* bonuses = self._bonuses
        cdef int32_t i = at.position
        cdef bint is_listed = self._is_listed(at)
        cdef bint is_other = i <= at.deadline and (
            self._has_bonus(at)
            or (not at.must_be and (not self.prune or self._may_be_word(at)))
        )
        cdef bint begins_other
        cdef bint begins_bonus
        cdef int32_t w
        cdef int tag
        if i == self._n:
            mask[START + self.n_tags] = is_listed or is_other
            return
        if at.first0 >= 0:
            mask[APPEND] = (
                self._may_append(at)
                or (
                    words != NULL
                    and listed_as(words, at.first0, i, at.tag0) & GOES_ON != 0
                )
                or (
                    bonuses != NULL and i < at.deadline
                    and bonus_beyond(bonuses, at.first0, i, at.tag0, at.deadline)
                )
            )
        if not is_listed and not is_other:
            return
        begins_other = (
            i < words.deadlines[i] if is_listed
            else i < at.deadline
            and (self._constraints == NULL or self._constraints[i] != CONTINUES_WORD)
        )
        begins_bonus = begins_other and bonuses != NULL
        if words != NULL:
            for w in range(words.first[i], words.first[i + 1]):
                begins_other = begins_other or words.tags[w] == ANY_TAG
        for tag in range(self.n_tags):
            mask[START + tag] = begins_other
        if self.prune:
            self._prune_starts(i, mask)
            if begins_bonus:
                for tag in range(self.n_tags):
                    mask[START + tag] = mask[START + tag] or self._begins_bonus(
                        i, tag, words.deadlines[i] if is_listed else at.deadline
                    )
        if words != NULL:
            for w in range(words.first[i], words.first[i + 1]):
                if words.tags[w] != ANY_TAG:
                    mask[START + words.tags[w]] = 1

    cdef bint _has_bonus(self, const WordState* at) noexcept nogil:
        """True if the current word, as it is, has a bonus."""
        cdef double score
        if self._bonuses == NULL or at.first0 < 0:
            return False
        return bonus_of(self._bonuses, at.first0, at.position, at.tag0, &score)

    cdef bint _begins_bonus(self, Py_ssize_t i, int tag, int32_t last) noexcept nogil:
        """True if a word with a bonus and a tag of its own begins at a character.

        It must end at `last` or before.
        """
        cdef int32_t w
        for w in range(self._bonuses.first[i], self._bonuses.first[i + 1]):
            if self._bonuses.tags[w] == tag and self._bonuses.ends[w] <= last:
                return True
        return False

    cdef bint _is_listed(self, const WordState* at) noexcept nogil:
        """True if the current word is a listed one as it is, with its tag."""
        cdef int found
        if self._listed == NULL or at.first0 < 0:
            return False
        found = listed_as(self._listed, at.first0, at.position, at.tag0)
        if not found & IS_LISTED:
            return False
        return not self.prune or found & GETS_ITS_TAG or self._may_be_word(at)

    cdef int32_t _next_deadline(
        self, const WordState* at, int action, int32_t* must_be
    ) noexcept nogil:
        """The deadline of the state that an action leads to; whether its word must have a bonus.

        A word that must be a listed one has a deadline of 0.
        """
        cdef int32_t i = at.position
        cdef int32_t deadline = at.deadline
        must_be[0] = False
        if (self._listed == NULL and self._bonuses == NULL) or i == self._n:
            return deadline
        if action == APPEND:
            if self._may_append(at):
                return deadline
            if (
                self._bonuses != NULL and i < deadline
                and bonus_beyond(self._bonuses, at.first0, i, at.tag0, deadline)
            ):
                must_be[0] = True
                return deadline
            return 0
        if self._is_listed(at):
            deadline = self._listed.deadlines[i]
        elif i and self._constraints != NULL and self._constraints[i] == CONTINUES_WORD:
            return 0
        if self.prune and not self.records.is_in(
            self.records.tags_of_first(self._numbers[i]), action - START
        ):
            if self._bonuses == NULL or not self._begins_bonus(i, action - START, deadline):
                return 0
            must_be[0] = True
        return deadline if i < deadline else 0

    # Guides' windows --------------------------------------------------------------------------

    cdef void _keep_window(self, const WordState* at, uint8_t* mask) noexcept nogil:
        """Clear the actions to labels outside the window of the guide."""
        cdef const GuideView* guide = &self.guide
        cdef const uint8_t* before = guide.allowed + (at.position - 1) * guide.n_labels
        cdef const uint8_t* begins = guide.begins + at.position * self.n_tags
        cdef bint may_separate = True
        cdef int tag
        if at.first0 >= 0:
            mask[APPEND] = (
                mask[APPEND] and before[self._settled(at, True)] and self._window_goes_on(at)
            )
            may_separate = before[self._settled(at, False)]
        for tag in range(self.n_tags):
            mask[START + tag] &= begins[tag] & may_separate

    cdef bint _window_goes_on(self, const WordState* at) noexcept nogil:
        """True if the next character may go on with the current word."""
        cdef const GuideView* guide = &self.guide
        cdef const uint8_t* allowed = guide.allowed + at.position * guide.n_labels
        cdef const int32_t* labels = guide.labels + 4 * at.tag0
        return allowed[labels[M]] or allowed[labels[E]]

    cdef bint _may_be_word(self, const WordState* at) noexcept nogil:
        """Return True if the tag records allow the current word."""
        cdef Py_ssize_t n = at.position - at.first0
        if at.first0 < 0:
            return True
        if self.records.lengths[at.tag0] and n > self.records.lengths[at.tag0]:
            return False
        return self.records.is_in(
            self.records.tags_of_word(word_key(self._characters + at.first0, n)), at.tag0
        )

    cdef void _prune_starts(self, Py_ssize_t i, uint8_t* mask) noexcept nogil:
        """Clear the tags that the records exclude for words beginning with a character."""
        cdef const uint64_t* tags = self.records.tags_of_first(self._numbers[i])
        cdef int tag
        for tag in range(self.n_tags):
            if mask[START + tag]:
                mask[START + tag] = self.records.is_in(tags, tag)

    cdef void apply(self, const void* state, int action, void* after) noexcept nogil:
        cdef const WordState* before = <const WordState*> state
        cdef WordState* target = <WordState*> after
        target[0] = before[0]
        if action == START + self.n_tags or before.position == self._end:
            target.is_final = True
            return
        target.position += 1
        target.deadline = self._next_deadline(before, action, &target.must_be)
        if action != APPEND:
            target.first1 = before.first0
            target.first0 = before.position
            target.tag2 = before.tag1
            target.tag1 = before.tag0
            target.tag0 = action - START
        target.is_final = target.position == self._end and self._end < self._n

    cdef Py_ssize_t slot(self, const void* state, int action) noexcept nogil:
        cdef const WordState* at = <const WordState*> state
        cdef Py_ssize_t consumed = at.position - self._begin
        if action == START + self.n_tags or (
            at.position + 1 == self._end and self._end < self._n
        ):
            return self.n_slots() - 1
        # For each character a slot of complete words for each tag of the word that it begins, and
        # then one of the words that it goes on.
        if action == APPEND:
            return (consumed + 1) * (self.n_tags + 1)
        return consumed * (self.n_tags + 1) + action

    cdef uint64_t signature(self, const void* state, int action) noexcept nogil:
        cdef const WordState* at = <const WordState*> state
        cdef int32_t view[7]
        if action == APPEND or action == START + self.n_tags:
            view = [at.first0, at.first1, at.tag0, at.tag1, 0, 0, 0]
        else:
            view = [at.position, at.first0, action - START, at.tag0, 0, 0, 0]
            if self.slots.ranking_action >= 0:
                # The score of the next tag, which the rank is without, depends on it.
                view[6] = at.tag1
        # Templates see the tags of two words, the current one included.
        view[4] = self._next_deadline(at, action, &view[5])
        if action == START + self.n_tags:
            view = [0, 0, 0, 0, 0, 0, 0]
        return murmur_hash_64a(view, sizeof(view), 1)

    # Features ----------------------------------------------------------------------------------

    cdef void anchors(self, const void* state, uint64_t* values) noexcept nogil:
        cdef const WordState* at = <const WordState*> state
        values[POSITION] = <uint64_t> at.position
        values[FIRST0] = <uint64_t> <uint32_t> at.first0
        values[FIRST1] = <uint64_t> <uint32_t> at.first1
        values[TAG0] = <uint64_t> <uint32_t> at.tag0
        values[TAG1] = <uint64_t> <uint32_t> at.tag1
        values[TAG2] = <uint64_t> <uint32_t> at.tag2

    cdef uint64_t _word(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """The atom of the word between two characters."""
        if self._any_hidden and self._hidden[last] > self._hidden[first]:
            return NULL_ATOM
        return word_key(self._characters + first, last - first)

    cdef void fill_atoms(
        self, const void* state, const AtomSet* wanted, uint64_t* values
    ) noexcept nogil:
        cdef const WordState* at = <const WordState*> state
        cdef const uint64_t* symbols = self._symbols + REACH
        cdef const uint64_t* types
        cdef Py_ssize_t i = at.position
        cdef Py_ssize_t first0 = at.first0
        cdef Py_ssize_t first1 = at.first1
        cdef int a
        if has_atom(wanted, W1):
            values[W1] = (
                self._word(first0, i) if first0 >= 0
                else NO_WORD if first0 == BEFORE_SENTENCE else NULL_ATOM
            )
        if has_atom(wanted, W2):
            values[W2] = (
                self._word(first1, first0) if first1 >= 0
                else NO_WORD if first1 == BEFORE_SENTENCE else NULL_ATOM
            )
        if has_atom(wanted, ONE):
            values[ONE] = NULL_ATOM
            if first0 >= 0 and i - first0 == 1:
                values[ONE] = self._character(symbols, first0)
        values[LENGTH1] = NULL_ATOM
        if first0 != BEYOND_CUT:
            values[LENGTH1] = 1 + (<uint64_t> min(i - first0, MAX_LENGTH) if first0 >= 0 else 0)
        values[LENGTH2] = NULL_ATOM
        if first1 != BEYOND_CUT:
            values[LENGTH2] = 1 + (
                <uint64_t> min(first0 - first1, MAX_LENGTH) if first1 >= 0 else 0
            )
        values[START1] = NULL_ATOM
        if first0 != BEYOND_CUT:
            values[START1] = self._character(symbols, first0)
        values[START0] = values[START1]
        values[END1] = NULL_ATOM
        if first0 != BEYOND_CUT:
            values[END1] = self._character(symbols, i - 1)
        values[END2] = NULL_ATOM
        if first1 != BEYOND_CUT:
            values[END2] = self._character(symbols, first0 - 1 if first0 >= 0 else -1)
        values[C_2] = self._character(symbols, i - 2)
        values[C_1] = self._character(symbols, i - 1)
        values[C0] = self._character(symbols, i)
        values[C1] = self._character(symbols, i + 1)
        values[FIRST] = NULL_ATOM if first0 < 0 else 1 + <uint64_t> (first0 == i - 1)
        if self._types != NULL:
            types = self._types + REACH
            for a in range(4):
                values[Y_2 + a] = self._character(types, i - 2 + a)
        else:
            for a in range(4):
                values[Y_2 + a] = NULL_ATOM
        # A tag is counted from 2 on, after nothing and the beginning of the sentence.
        values[T_1] = <uint64_t> (at.tag0 + 2)
        values[T0] = values[T_1]
        values[T_2] = <uint64_t> (at.tag1 + 2)
        values[CATEGORY0] = self._category(i)
        values[CATEGORY1] = self._category(i - 1)
        if first0 == BEYOND_CUT:
            values[CATEGORY1] = NULL_ATOM
        if self._lexicon is None:
            for a in range(4):
                values[LISTED1 + a] = NULL_ATOM
            return
        if has_atom(wanted, LISTED1) or has_atom(wanted, TAGS1):
            self._look_up(first0, i, &values[LISTED1], &values[TAGS1])
        if has_atom(wanted, LISTED2) or has_atom(wanted, TAGS2):
            self._look_up(first1, first0, &values[LISTED2], &values[TAGS2])

    cdef void _look_up(
        self, Py_ssize_t first, Py_ssize_t last, uint64_t* listed, uint64_t* tags
    ) noexcept nogil:
        """Return the lexicon atoms of the word between two characters."""
        cdef int32_t value
        listed[0] = NULL_ATOM
        tags[0] = NULL_ATOM
        if first == BEFORE_SENTENCE:
            listed[0] = NO_WORD
            tags[0] = NO_WORD
        elif first >= 0 and not (
            self._any_hidden and self._hidden[last] > self._hidden[first]
        ):
            value = self._lexicon.value_of(self._symbols + REACH + first, last - first)
            tags[0] = NO_WORD + 1 + <uint64_t> self._lexicon._tags[value]
            # Not listed, listed without a frequency, and so on.
            listed[0] = NO_WORD + 1
            if value:
                listed[0] = NO_WORD + 2 + <uint64_t> self._lexicon._frequencies[value]

    cdef uint64_t _character(self, const uint64_t* symbols, Py_ssize_t i) noexcept nogil:
        """The atom of a character or its type; padding beyond the ends, null if it is hidden."""
        if self._any_hidden and 0 <= i < self._n and self._hidden[i + 1] > self._hidden[i]:
            return NULL_ATOM
        return 1 + symbols[i]

    cdef uint64_t _category(self, Py_ssize_t i) noexcept nogil:
        """The atom of the tags of words with a character; null if it is hidden or not there."""
        if self.records is None or not 0 <= i < self._n:
            return NULL_ATOM
        if self._any_hidden and self._hidden[i + 1] > self._hidden[i]:
            return NULL_ATOM
        return self._categories[i]

    cdef Py_ssize_t multi_values(
        self, const void* state, int atom, const uint64_t** values
    ) noexcept nogil:
        cdef const WordState* at = <const WordState*> state
        cdef const uint64_t* symbols = self._symbols + REACH
        cdef Py_ssize_t n = min(at.position - at.first0 - 1, MAX_INNER)
        cdef Py_ssize_t first = at.position - 1 - n
        cdef Py_ssize_t i
        if at.first0 < 0 or n <= 0:
            return 0
        reserve(&self.buffers, self._inner, n)
        for i in range(n):
            self._inner[i] = self._character(symbols, first + i)
        values[0] = self._inner
        return n

    # Guides ------------------------------------------------------------------------------------

    cdef int32_t _settled(self, const WordState* state, bint appends) noexcept nogil:
        """The label of the last character, once it is known whether the next one is appended."""
        cdef const int32_t* labels = self.guide.labels + 4 * state.tag0
        if state.first0 == state.position - 1:
            return labels[B] if appends else labels[S]
        return labels[M] if appends else labels[E]

    cdef double external_score(self, const void* state, int action) noexcept nogil:
        cdef const WordState* at = <const WordState*> state
        cdef const GuideView* guide = &self.guide
        cdef const int32_t* labels
        cdef Py_ssize_t i = at.position
        cdef double score
        cdef double bonus = 0.0
        cdef int32_t settled
        cdef int32_t before = -1
        if self._bonuses != NULL and at.first0 >= 0 and action != APPEND:
            bonus_of(self._bonuses, at.first0, i, at.tag0, &bonus)
        if guide.emissions == NULL or at.first0 < 0:
            return bonus
        settled = self._settled(at, action == APPEND)
        score = guide.emissions[(i - 1) * guide.n_labels + settled]
        if at.first0 < i - 1:
            labels = guide.labels + 4 * at.tag0
            before = labels[B] if at.first0 == i - 2 else labels[M]
        elif at.first1 >= 0:
            labels = guide.labels + 4 * at.tag1
            before = labels[S] if at.first1 == i - 2 else labels[E]
        if before >= 0:
            score += guide.transitions[before * guide.n_labels + settled]
        return guide.weight * score + bonus

    cdef double heuristic(self, const void* state, int action) noexcept nogil:
        cdef const WordState* at = <const WordState*> state
        cdef const GuideView* guide = &self.guide
        cdef const double* ahead
        cdef const double* transitions
        cdef const int32_t* labels
        cdef double one
        cdef double other
        cdef int32_t settled
        cdef int32_t y
        cdef int32_t z
        cdef double bonus = 0.0
        cdef Py_ssize_t start = at.first0 if action == APPEND else at.position
        cdef int32_t tag = at.tag0 if action == APPEND else action - START
        cdef int32_t w
        if action == START + self.n_tags:
            return 0.0
        if self._bonuses != NULL:
            # The word may get a bonus yet: prefixes of such words must last until they end.
            for w in range(self._bonuses.first[start], self._bonuses.first[start + 1]):
                if self._bonuses.ends[w] > at.position and (
                    self._bonuses.tags[w] == ANY_TAG or self._bonuses.tags[w] == tag
                ):
                    bonus = max(bonus, self._bonuses.scores[w])
        if guide.heuristic == NULL:
            return bonus
        if action == APPEND:
            labels = guide.labels + 4 * at.tag0
            y = labels[M]
            z = labels[E]
        else:
            labels = guide.labels + 4 * (action - START)
            y = labels[B]
            z = labels[S]
        ahead = guide.heuristic + at.position * guide.n_labels
        one = ahead[y]
        other = ahead[z]
        if at.first0 >= 0:
            settled = self._settled(at, action == APPEND)
            transitions = guide.transitions + settled * guide.n_labels
            one += transitions[y]
            other += transitions[z]
        return guide.weight * max(one, other) + bonus


cdef class WordGuide(BufferOwner):
    """Interface of a chain model that scores a sentence before the agenda decodes it."""

    @property
    def capacity(self):
        """Capacity of the working memory, as of decoders."""
        return 0

    def prefer(self, words):
        """See `TextDecoder.prefer`."""
        return False

    cdef int consult(
        self, const uint32_t* characters, Py_ssize_t n, const uint8_t* constraints,
        const ListedWords* listed, const BonusWords* bonuses, bint narrowly, GuideView* view,
    ) except -1 nogil:
        """Score a sentence with the chain model under its constraints (NULL for none).

        narrowly: whether to shut out labels beyond its window, if it has one.
        """
        return 0


cdef class WordDecoder(TextDecoder):
    """Finds the words of texts, and their tags if there are any, by the agenda.

    agenda: its system is a `WordTransitions`. tags: the names of the tags, in their order; none
    for segmentation. guide: a `WordGuide`, or None.
    Raises ValueError if they do not fit each other.
    """

    def __init__(self, Agenda agenda not None, tags=(), WordGuide guide=None):
        self.agenda = agenda
        self.system = <WordTransitions?> agenda.system
        self.tags = tuple(tags)
        self.guide = guide
        if max(1, len(self.tags)) != self.system.n_tags:
            raise ValueError("the tags do not match those of the transition system")

    @property
    def capacity(self):
        """Capacity of the working memory, in characters, that of the guide included."""
        return max(capacity_of(self._text), 0 if self.guide is None else self.guide.capacity)

    def prefer(self, words):
        by_guide = self.guide is not None and self.guide.prefer(words)
        return self.system.characters.prefer(words) or by_guide

    cdef int _present_sentence(self, Py_ssize_t n) except -1 nogil:
        """Load the current sentence into the system."""
        self.system.load(
            self.characters, n, self.constraints if self.is_constrained else NULL
        )
        self.system._listed = self.listed
        self.system._bonuses = self.bonuses
        self.system.slots.alike = self.listed == NULL and self.guide is None
        self.system.has_external_score = self.bonuses != NULL or (
            self.guide is not None and self.guide.adds_scores
        )
        self.system.has_heuristic = self.bonuses != NULL or (
            self.guide is not None and self.guide.looks_ahead
        )
        return 0

    cdef int _consult(self, Py_ssize_t n, bint narrowly) except -1 nogil:
        """Run the guide, if any, on the loaded sentence.

        narrowly: see `WordGuide.consult`.
        """
        if self.guide is None:
            return 0
        return self.guide.consult(
            self.characters, n, self.constraints if self.is_constrained else NULL, self.listed,
            self.bonuses, narrowly, &self.system.guide,
        )

    cdef Py_ssize_t _search(
        self, Py_ssize_t n, Py_ssize_t n_best, Py_ssize_t* n_found
    ) except -1 nogil:
        """Decode the current sentence; return the first item found."""
        cdef bint prune = self.system.prune
        cdef Py_ssize_t first
        self._present_sentence(n)
        try:
            self._consult(n, True)
            first = self.agenda.search(n_best, n_found)
            if n_found[0] == 0 and prune:
                # What the records leave need not reach the end.
                self.system.prune = False
                first = self.agenda.search(n_best, n_found)
            if n_found[0] == 0 and self.system.guide.allowed != NULL:
                # Nor need what the window leaves, which knows neither the longest word nor, of
                # listed words that overlap, which a state has chosen.
                self._consult(n, False)
                self.system.prune = prune
                first = self.agenda.search(n_best, n_found)
                if n_found[0] == 0 and prune:
                    self.system.prune = False
                    first = self.agenda.search(n_best, n_found)
        finally:
            # Whatever has failed, the next sentence is pruned again.
            self.system.prune = prune
            self.system.unload()
        return first

    cdef double _take(self, Py_ssize_t item) except? -1 nogil:
        """Write the solution that an item of the last slot stands for; returns its score."""
        cdef double score = self.agenda.items[item].score
        cdef Py_ssize_t place = self.agenda.items[item].parent
        cdef int32_t action
        cdef Py_ssize_t i
        # Every action but the last consumes a character.
        i = self.agenda.items[place].step - 1
        while i >= 0:
            action = self.agenda.items[place].action
            self.begins[i] = action != APPEND
            self.word_tags[i] = action - START
            place = self.agenda.items[place].parent
            i -= 1
        return score

    cdef int solve(self, Py_ssize_t n) except -1 nogil:
        cdef Py_ssize_t n_found = 0
        cdef Py_ssize_t first
        self.agenda.ranks_only = True
        try:
            first = self._search(n, 1, &n_found)
        finally:
            self.agenda.ranks_only = False
        if n_found == 0:
            with gil:
                raise AssertionError("the transition system led into a dead end")
        self._take(first)
        return 0

    cdef Py_ssize_t find_best(self, Py_ssize_t n, Py_ssize_t k) except -1 nogil:
        # States are not merged if there is to be more than one: it takes away what comes second.
        cdef bint merge = self.agenda.merge
        cdef Py_ssize_t n_found = 0
        self.agenda.merge = merge and k == 1
        try:
            self._first_found = self._search(n, k, &n_found)
        finally:
            self.agenda.merge = merge
        return min(k, n_found)

    cdef double take_best(self, Py_ssize_t rank, Py_ssize_t n) except? -1 nogil:
        return self._take(self._first_found + rank)

    def _taken_actions(self, Py_ssize_t n):
        """The actions of the analysis that was taken last, of n characters."""
        return [
            *[START + self.word_tags[i] if self.begins[i] else APPEND for i in range(n)],
            START + self.system.n_tags,
        ]

    def best_states(self, str text not None, constraints=None):
        """The way to the best analysis of one sentence, for inspection.

        Returns the characters of the sentence, without white space and before the model's view of
        them; the score; the `search.visited_states.VisitedState`s; and of each the part of its
        external scores that bonuses are, by action. constraints: as for `nbest`.
        """
        cdef Py_ssize_t n = self._open_text(text, constraints)
        cdef Py_ssize_t n_found = 0
        cdef Py_ssize_t first
        cdef double score
        cdef Py_ssize_t i
        if n == 0:
            return "", 0.0, [], []
        first = self._search(n, 1, &n_found)
        score = self._take(first)
        actions = self._taken_actions(n)
        characters = "".join([chr(self.characters[i]) for i in range(n)])
        self._present_sentence(n)
        try:
            # What lies beyond the window of the guide is compared too: its scores say why.
            self._consult(n, False)
            visited = visited_states(self.system, actions)
            # What is left without them is the guide's.
            self.system._bonuses = NULL
            others = visited_states(self.system, actions)
        finally:
            self.system.unload()
        parts = [
            {action: total - other.external.get(action, 0.0)
             for action, total in state.external.items()}
            for state, other in zip(visited, others, strict=True)
        ]
        return characters, score, visited, parts
