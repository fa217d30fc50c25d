"""Shift-reduce constituency parsing as a transition system (Zhang & Clark 2011, section 6).

The words of a sentence move from a queue through a stack of words and phrases:

- SHIFT puts the next word on the stack;
- UNARY-X makes the top the only child of a phrase X;
- BINARY-LEFT-X and BINARY-RIGHT-X make the two topmost nodes the children of a phrase X, whose head
  is that of the left or of the right one; the phrase may be temporary (`corpora.binarization`);
- TERMINATE ends the parse when one phrase, or word, is left.

How many actions a sentence takes depends on its unary phrases. What has ended goes on unchanged, by
IDLE, which scores nothing, until it is the best of its step (section 6.1.1).

Which actions are legal guarantees a tree over all words (Zhang & Clark 2009, section 2): there are
at most so many unary phrases on one another, none of them over one of the same label or over a
temporary one; nothing is put on a temporary phrase that is headed from the right; of two temporary
phrases nothing is made, and of one only what it belongs to; and a temporary phrase that has
nothing, or another temporary one, below it on the stack must be headed from the left, with words
left in the queue. Given constituents narrow this further, such that a way is left always.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcpy, memset

from spacy_structreg.learn.memory cimport reserve
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.search.agenda cimport Agenda
from spacy_structreg.search.transition_system cimport NULL_ATOM
from spacy_structreg.tasks.tagged_words cimport (
    N_FIELDS_OF_WORD,
    NOWHERE,
    PADDING,
    TAG,
    TaggedWordTransitions,
    TreeDecoder,
    number_of,
    row_of,
)
from spacy_structreg.tasks.word_fields cimport WordFields, mixed

import numpy as np

import numpy as np

from spacy_structreg.corpora.binarization import Kind, Step, binarize
from spacy_structreg.corpora.constituents import Constituent
from spacy_structreg.tasks.tagged_words import atoms_of_nodes, hash_of_tag

cdef enum:
    SHIFT
    TERMINATE
    IDLE
    # By labels from here on: UNARY, BINARY-LEFT, BINARY-RIGHT, and these two for temporary phrases.
    FIRST_PHRASE

cdef enum:
    # In the order of the actions.
    UNARY
    LEFT
    RIGHT
    LEFT_TEMPORARY
    RIGHT_TEMPORARY
    N_WAYS

_WAYS = {
    Kind.UNARY: <int> UNARY, Kind.LEFT: <int> LEFT, Kind.RIGHT: <int> RIGHT,
    Kind.LEFT_TEMPORARY: <int> LEFT_TEMPORARY, Kind.RIGHT_TEMPORARY: <int> RIGHT_TEMPORARY,
}

# Weights of actions, of which a label has several, must fit memory.
MAX_LABELS = 10_000
# What may be the head of what takes so many bytes at most.
MOST_HEADS = 1 << 26
# Longer chains of unary phrases are none that a treebank has.
MAX_UNARIES = 16
# Nor are longer chains of given constituents.
MOST_GIVEN = 100

cdef enum:
    QUEUE_ANCHOR     # the position of the next word
    TOP_ANCHOR       # the head and the label of the top of the stack
    SECOND_ANCHOR
    THIRD_ANCHOR
    FOURTH_ANCHOR
    PARTS_ANCHOR     # the children of the two topmost nodes, and where these begin
    BRACKET_ANCHOR
    N_ANCHORS

_QUEUE = (<int> QUEUE_ANCHOR,)
_TOP = (<int> TOP_ANCHOR,)
_SECOND = (<int> SECOND_ANCHOR,)
_THIRD = (<int> THIRD_ANCHOR,)
_FOURTH = (<int> FOURTH_ANCHOR,)
# Templates that look into phrases stand in one group, with whatever else they read. Finer anchors
# would be met with more often, but make more groups, whose scores are added up for every state.
_PARTS = (*_QUEUE, *_TOP, *_SECOND, <int> PARTS_ANCHOR)

# In the order in which `find_nodes` writes them.
_NODES = {
    "S0": _TOP, "S1": _SECOND, "S2": _THIRD, "S3": _FOURTH,
    "N0": _QUEUE, "N1": _QUEUE, "N2": _QUEUE, "N3": _QUEUE,
    "S0l": _PARTS, "S0r": _PARTS, "S0u": _PARTS, "S1l": _PARTS, "S1r": _PARTS, "S1u": _PARTS,
    "S0first": _PARTS, "S0last": _QUEUE, "S1first": _PARTS, "S1last": _PARTS,
}

# In the order in which `find_numbers` writes them.
_NUMBERS = {
    "S0c": _TOP, "S1c": _SECOND, "S2c": _THIRD, "S3c": _FOURTH,
    "S0lc": _PARTS, "S0rc": _PARTS, "S0uc": _PARTS,
    "S1lc": _PARTS, "S1rc": _PARTS, "S1uc": _PARTS,
    "bracket": (<int> BRACKET_ANCHOR,),
    "separators": (*_TOP, *_SECOND),
    "size(S0)": _PARTS, "size(S1)": _PARTS,
    "separator": (*_TOP, *_SECOND),
}

_MANY = ("separator",)

CONSTITUENT_ATOMS = (*atoms_of_nodes(_NODES), *_NUMBERS)
"""The names of all atoms that templates of constituency parsing may read.

Nodes are the four topmost of the stack, `S0` to `S3`, as words their heads; their children by
binary (`S0l`, `S0r`) and unary (`S0u`) phrases; the first and the last word of a phrase,
`S0first` and `S0last`; and the queue, `N0` to `N3`. Beyond the atoms of `tasks.tagged_words`:

- ``S0c``: the label of a phrase, or the tag of a word; null for children that are not there;
- ``bracket``: of the last left bracket on the stack, whether its right one is still to come, on the
  stack, or part of a phrase already; null if there is none;
- ``separator``, which has many values: each kind of separator (comma, full stop, Chinese
  enumeration comma, semicolon) between the heads of `S1` and `S0`; ``separators``: how many;
- ``size(S0)``: how many words a phrase has: 1 to 4, then 5 for up to 7, 6 for up to 12, and 7."""

CONSTITUENT_EVENTS = ("action",)
"""The names of the events on which they fire: ``action``, always."""


cdef inline int bracket_of(const uint32_t* word, Py_ssize_t n) noexcept nogil:
    """Bracket kind of a word, negative for a right bracket; 0 for other words."""
    if n == 1:
        if word[0] in (0x28, 0xFF08):
            return 1
        if word[0] in (0x29, 0xFF09):
            return -1
        if word[0] == 0x201C:
            return 2
        if word[0] == 0x201D:
            return -2
        if word[0] == 0x300A:
            return 3
        if word[0] == 0x300B:
            return -3
        if word[0] == 0x300C:
            return 4
        if word[0] == 0x300D:
            return -4
        if word[0] == 0x300E:
            return 5
        if word[0] == 0x300F:
            return -5
        if word[0] in (0x5B, 0xFF3B, 0x3010):
            return 6
        if word[0] in (0x5D, 0xFF3D, 0x3011):
            return -6
        if word[0] in (0x7B, 0xFF5B):
            return 7
        if word[0] in (0x7D, 0xFF5D):
            return -7
        if word[0] == 0x2018:
            return 8
        if word[0] == 0x2019:
            return -8
        if word[0] == 0x3008:
            return 9
        if word[0] == 0x3009:
            return -9
    elif n == 2 and word[0] == word[1]:
        # The quotes of the Penn Treebank.
        if word[0] == 0x60:
            return 2
        if word[0] == 0x27:
            return -2
    elif n == 5 and word[0] == 0x2D and word[4] == 0x2D and word[3] == 0x42 and word[2] == 0x52:
        # -LRB- and the like.
        if word[1] == 0x4C:
            return 1
        if word[1] == 0x52:
            return -1
    return 0


cdef inline int separator_of(const uint32_t* word, Py_ssize_t n) noexcept nogil:
    """Separator number of a word; -1 for other words."""
    if n != 1:
        return -1
    if word[0] in (0x2C, 0xFF0C):
        return 0
    if word[0] in (0x2E, 0x3002, 0xFF0E, 0xFF61):
        return 1
    if word[0] in (0x3001, 0xFF64):
        return 2
    if word[0] in (0x3B, 0xFF1B):
        return 3
    return -1


cdef inline uint64_t size_of(int32_t n) noexcept nogil:
    """The size of a phrase of `n` words as an atom."""
    if n <= 4:
        return <uint64_t> n
    if n <= 7:
        return 5
    return 6 if n <= 12 else 7


cdef inline Py_ssize_t most_steps(Py_ssize_t n_words, int max_unaries) noexcept nogil:
    """Maximum number of actions for so many words, unary phrases included."""
    return (2 * n_words - 1) * (1 + max_unaries) + 1 if n_words else 0


cdef inline bint crosses(const Span* span, int32_t begin, int32_t end) noexcept nogil:
    """Return True if a span crosses the words from `begin` to before `end`."""
    return (
        (span.begin < begin and begin < span.end and span.end < end)
        or (begin < span.begin and span.begin < end and end < span.end)
    )


cdef class ConstituentTransitions(TaggedWordTransitions):
    """Shift-reduce parsing into binarized trees.

    words: the fields of words. labels: of phrases, up to 10,000.
    atoms: those of `CONSTITUENT_ATOMS` that templates read.
    max_unaries: how many unary phrases may lie on one another, from 1 to 16.
    heads: pairs of a label and a category, the tag or the label of a child that may be the head of
    a phrase of that label; None for any. Tags that are in no pair may be heads of anything.
    Raises ValueError for atoms and labels that do not exist, and numbers that cannot be.
    """

    def __init__(self, WordFields words not None, labels, atoms, int max_unaries=3, heads=None):
        self.labels = tuple(labels)
        self._n_labels = len(self.labels)
        self._number = {label: i for i, label in enumerate(self.labels)}
        if self._n_labels > MAX_LABELS:
            raise ValueError(
                f"expected at most {MAX_LABELS:,} phrase labels, got {self._n_labels:,}"
            )
        if len(self._number) < self._n_labels:
            raise ValueError("duplicate labels")
        if not 1 <= max_unaries <= MAX_UNARIES:
            raise ValueError(
                f"max_unaries must be at least 1 and at most {MAX_UNARIES}, got {max_unaries}"
            )
        self.words = words
        self.max_unaries = max_unaries
        self.heads = None if heads is None else tuple(heads)
        self._set_heads()
        self.static_oracle = True
        self.slots.in_step = True
        self.slots.ends_early = True
        self.state_size = sizeof(ConstituentState)
        self.n_anchors = N_ANCHORS
        self.declare(atoms, _NODES, _NUMBERS, _MANY)
        n_actions = <int> FIRST_PHRASE + <int> N_WAYS * self._n_labels
        self.events = {"action": n_actions}
        self.fire_events([
            [("action", action)] if action != <int> IDLE else [] for action in range(n_actions)
        ])

    def __reduce__(self):
        return ConstituentTransitions, (
            self.words, self.labels, self.atoms, self.max_unaries, self.heads
        )

    cdef int _set_heads(self) except -1:
        """Build the table of the phrases that a child may head."""
        cdef Py_ssize_t n = self._n_labels
        cdef Py_ssize_t column
        # A tag may be called like a label.
        tags = sorted({(hash_of_tag(category), category) for _, category in self.heads or ()})
        rows = {tag: n + i for i, (_, tag) in enumerate(tags)}
        if (n + len(tags) + 1) * n > MOST_HEADS:
            raise ValueError(
                f"the head table of {n:,} phrase labels and {len(tags):,} categories is "
                "too large; choose known_heads = False"
            )
        self._n_tags = <int32_t> len(tags)
        reserve(&self.buffers, self._known_tags, self._n_tags)
        for i, (hashed, _) in enumerate(tags):
            self._known_tags[i] = hashed
        reserve(&self.buffers, self._may_head, (n + self._n_tags + 1) * n)
        memset(self._may_head, 0, (n + self._n_tags) * n)
        memset(self._may_head + (n + self._n_tags) * n, 1, n)
        for label, category in self.heads or ():
            if label not in self._number:
                raise ValueError(f"unknown label {label!r}; choose from {', '.join(self.labels)}")
            column = self._number[label]
            self._may_head[<Py_ssize_t> rows[category] * n + column] = 1
            if category in self._number:
                self._may_head[<Py_ssize_t> self._number[category] * n + column] = 1
        self._heads_here = self._may_head
        return 0

    def copy(self):
        """A system for another thread."""
        cls, arguments = self.__reduce__()
        return cls(*arguments)

    def oracle(self, n_words, constituents):
        """The actions that build a tree, up to and with TERMINATE.

        constituents: the `Constituent`s of a tree over so many words.
        Raises ValueError for labels that there are not, and for more unary phrases on one another
        than may be, or one over another of the same label.
        """
        actions = []
        chain = []
        for kind, label in binarize(n_words, constituents):
            chain = [*chain, label] if kind == Kind.UNARY else [label]
            if kind == Kind.WORD:
                actions.append(<int> SHIFT)
                continue
            if label not in self._number:
                raise ValueError(f"unknown label {label!r}; choose from {', '.join(self.labels)}")
            if len(chain) > self.max_unaries + 1:
                raise ValueError(
                    f"{len(chain) - 1} unary phrases in a row; max_unaries is {self.max_unaries}"
                )
            if len(chain) > 1 and label == chain[len(chain) - 2]:
                raise ValueError(f"{label} is the only child of another {label}")
            actions.append(
                <int> FIRST_PHRASE + _WAYS[kind] * self._n_labels + self._number[label]
            )
        return [*actions, <int> TERMINATE]

    def steps(self, actions):
        """The `Step`s of a binarized tree that actions take; those that build nothing left out."""
        kinds = {way: kind for kind, way in _WAYS.items()}
        taken = []
        for action in actions:
            if action == <int> SHIFT:
                taken.append(Step(Kind.WORD))
            elif action >= <int> FIRST_PHRASE:
                way, label = divmod(action - <int> FIRST_PHRASE, self._n_labels)
                taken.append(Step(kinds[way], self.labels[label]))
        return taken

    def compile(self, words, tags, constituents, Perceptron learner not None):
        """A gold sentence as a `Derivation`; None if it has no words.

        words, tags: lists of strings. constituents: as for `oracle`. Raises ValueError as that, and
        if the words are too long to be counted.
        """
        n_words = len(words)
        if not n_words:
            return None
        actions = self.oracle(n_words, constituents)
        # Others may take longer.
        actions += [<int> IDLE] * (self.most_steps(n_words) - len(actions))
        return self.derivation_of(words, tags, actions, learner.numbering)

    def most_steps(self, Py_ssize_t n_words):
        """Maximum number of actions for so many words without given constituents."""
        return most_steps(n_words, self.max_unaries)

    # The sentence ------------------------------------------------------------------------------

    cdef int load(
        self, const uint32_t* text, const int32_t* bounds, const uint64_t* tags, Py_ssize_t n
    ) except -1 nogil:
        TaggedWordTransitions.load(self, text, bounds, tags, n)
        self._given = NULL
        self._n_given = 0
        self._heads_here = self._may_head
        if self.heads is not None:
            reserve(&self.buffers, self._own_heads, self._n_head_rows() * self._n_labels)
        self._find_punctuation(text, bounds)
        self._find_tag_rows(tags)
        return 0

    cdef int _find_tag_rows(self, const uint64_t* tags) except -1 nogil:
        """Store the tag rows of words."""
        cdef int32_t low
        cdef int32_t high
        cdef int32_t middle
        cdef Py_ssize_t i
        reserve(&self.buffers, self._tag_rows, self._n)
        for i in range(self._n):
            low = 0
            high = self._n_tags
            while low < high:
                middle = (low + high) // 2
                if self._known_tags[middle] < tags[i]:
                    low = middle + 1
                else:
                    high = middle
            if low == self._n_tags or self._known_tags[low] != tags[i]:
                low = self._n_tags
            self._tag_rows[i] = self._n_labels + low
        return 0

    cdef Py_ssize_t _n_head_rows(self) noexcept nogil:
        return self._n_labels + self._n_tags + 1

    cdef int32_t[::1] constraints_of(self, given, Py_ssize_t n_words):
        """given: (begin, end, label or None) of constituents, of those over the same words the
        outermost first.
        """
        spans = []
        for begin, end, label in given:
            if not 0 <= begin < end <= n_words:
                raise ValueError(
                    f"the given constituent {begin}:{end} is out of range for {n_words} words"
                )
            if label is not None and label not in self._number:
                raise ValueError(
                    f"unknown label {label!r} of a given constituent; choose from "
                    f"{', '.join(self.labels)}"
                )
            # By depth from the inside outwards.
            spans.append((begin, end, -len(spans), -1 if label is None else self._number[label]))
        spans.sort()
        _check_given(spans, self.labels)
        # Their number, and the items of a `Span` each.
        numbers = [len(spans)]
        for begin, end, _, label in spans:
            numbers += (begin, end, label, -1)
        return np.array(numbers, dtype=np.int32)

    cdef void constrain(self, const void* known) noexcept nogil:
        # As `constraints_of` has laid it out: the innermost of several over the same words first.
        cdef Py_ssize_t n_rows = self._n_head_rows()
        cdef Py_ssize_t n_labels = self._n_labels
        cdef Py_ssize_t i
        cdef Py_ssize_t row
        if known == NULL:
            return
        self._n_given = (<const int32_t*> known)[0]
        self._given = <const Span*> ((<const int32_t*> known) + 1)
        if self._n_given == 0 or self.heads is None:
            return
        # Phrases of labels that are given may have any head.
        memcpy(self._own_heads, self._may_head, n_rows * n_labels)
        for i in range(self._n_given):
            if self._given[i].label >= 0:
                for row in range(n_rows):
                    self._own_heads[row * n_labels + self._given[i].label] = 1
        self._heads_here = self._own_heads

    cdef int _find_punctuation(self, const uint32_t* text, const int32_t* bounds) except -1 nogil:
        """Find matching brackets, and separators."""
        cdef Py_ssize_t n_opened = 0
        cdef Py_ssize_t i
        cdef int kind
        cdef int k
        reserve(&self.buffers, self._brackets, self._n)
        reserve(&self.buffers, self._matches, self._n)
        reserve(&self.buffers, self._opened, self._n)
        reserve(&self.buffers, self._separators, (self._n + 1) * N_SEPARATORS)
        memset(self._separators, 0, N_SEPARATORS * sizeof(int32_t))
        for i in range(self._n):
            kind = bracket_of(text + bounds[i], bounds[i + 1] - bounds[i])
            self._brackets[i] = kind
            self._matches[i] = -1
            if kind > 0:
                self._opened[n_opened] = <int32_t> i
                n_opened += 1
            elif kind < 0 and n_opened and self._brackets[self._opened[n_opened - 1]] == -kind:
                n_opened -= 1
                self._matches[self._opened[n_opened]] = <int32_t> i
            for k in range(N_SEPARATORS):
                self._separators[(i + 1) * N_SEPARATORS + k] = (
                    self._separators[i * N_SEPARATORS + k]
                )
            k = separator_of(text + bounds[i], bounds[i + 1] - bounds[i])
            if k >= 0:
                self._separators[(i + 1) * N_SEPARATORS + k] += 1
        return 0

    # States ------------------------------------------------------------------------------------

    cdef Py_ssize_t n_slots(self) noexcept nogil:
        # What is given may take two unary phrases each: see `_leaves_way`.
        return most_steps(self._n, self.max_unaries) + 2 * self._n_given + 1

    cdef int reserve_states(self, Py_ssize_t n) except -1 nogil:
        reserve(&self.buffers, self._nodes, self._n_nodes + n)
        return 0

    cdef void init(self, void* state) noexcept nogil:
        (<ConstituentState*> state)[0] = ConstituentState(-1, 0, 0, self._n == 0)

    cdef bint is_final(self, const void* state) noexcept nogil:
        return (<const ConstituentState*> state).done

    cdef void legal(self, const void* state, uint8_t* mask) noexcept nogil:
        cdef const ConstituentState* at = <const ConstituentState*> state
        self._allow(at, mask, self.heads is None)
        if self.heads is not None and memchr(mask, 1, self.n_actions) == NULL:
            # There is a tree over any words and tags.
            self._allow(at, mask, True)

    cdef void _allow(
        self, const ConstituentState* at, uint8_t* mask, bint any_head
    ) noexcept nogil:
        """Set the flags of legal actions. any_head: ignore the head table."""
        cdef const Node* top
        cdef const uint8_t* headed
        cdef int32_t label
        if at.done:
            mask[IDLE] = 1
            return
        mask[SHIFT] = self._may_shift(at)
        if at.top < 0:
            return
        top = &self._nodes[at.top]
        if top.below >= 0:
            self._allow_binaries(at, &self._nodes[top.below], top, mask, any_head)
        if top.category >= self._n_labels:
            return
        mask[TERMINATE] = (
            at.position == self._n and top.below < 0 and self._is_met(top, at.position)
        )
        headed = self._headed_by(top, any_head)
        if self._n_given == 0:
            if top.n_unaries < self.max_unaries:
                memcpy(mask + FIRST_PHRASE, headed, self._n_labels)
        else:
            for label in range(self._n_labels):
                mask[FIRST_PHRASE + label] = headed[label] and self._leaves_way(
                    top.begin, at.position, top.n_met, label, top.n_unaries + 1
                )
        if top.category != WORD:
            mask[FIRST_PHRASE + top.category] = 0

    cdef const uint8_t* _headed_by(self, const Node* node, bint any_head) noexcept nogil:
        """Flags of the labels of phrases that a node may be the head of."""
        cdef Py_ssize_t row = self._n_labels + self._n_tags
        if not any_head:
            row = self._tag_rows[node.head] if node.category == WORD else node.category
        return self._heads_here + row * self._n_labels

    cdef bint _may_shift(self, const ConstituentState* at) noexcept nogil:
        """True if the next word may be put on the stack."""
        cdef const Node* top
        cdef const Span* span
        cdef Py_ssize_t i
        if at.position == self._n:
            return False
        if at.top < 0:
            return True
        top = &self._nodes[at.top]
        if top.category >= self._n_labels and top.from_right:
            return False
        for i in range(self._n_given):
            span = &self._given[i]
            # What ends here must be there before anything comes after it.
            if span.end == at.position and span.begin < top.begin:
                return False
        return self._n_given == 0 or self._is_met(top, at.position)

    cdef void _allow_binaries(
        self, const ConstituentState* at, const Node* second, const Node* top, uint8_t* mask,
        bint any_head,
    ) noexcept nogil:
        """Set the flags of the actions that join the two topmost nodes."""
        cdef bint top_temporary = top.category >= self._n_labels
        cdef bint second_temporary = second.category >= self._n_labels
        # Whether there is nothing on the left that a temporary phrase could be joined with.
        cdef bint bound = (
            second.below < 0 or self._nodes[second.below].category >= self._n_labels
        )
        cdef bint grows_left = not bound
        cdef bint grows_right = at.position < self._n
        cdef int32_t begin = second.begin
        cdef int32_t end = at.position
        cdef int32_t label = -1
        cdef const uint8_t* headed
        cdef const Span* span
        cdef Py_ssize_t i
        if top_temporary and second_temporary:
            return
        if top_temporary:
            label = top.category - self._n_labels
        elif second_temporary:
            label = second.category - self._n_labels
        if self._n_given:
            if not self._is_met(top, end):
                return
            for i in range(self._n_given):
                span = &self._given[i]
                if crosses(span, begin, end):
                    return
                # Beyond what is given over a part of them, phrases do not grow.
                if span.begin == begin and span.end > end:
                    grows_left = False
                elif span.end == end and span.begin < begin:
                    grows_right = False
                elif span.begin == begin and span.end == end:
                    grows_left = False
                    grows_right = False
        mask += FIRST_PHRASE
        # The head of a temporary phrase is not asked for again.
        if not top_temporary:
            headed = self._headed_by(second, any_head or second_temporary)
            self._allow_labels(mask + LEFT * self._n_labels, label, headed, begin, end, False)
            if grows_left or grows_right:
                self._allow_labels(
                    mask + LEFT_TEMPORARY * self._n_labels, label, headed, begin, end, True
                )
        if not second_temporary:
            headed = self._headed_by(top, any_head or top_temporary)
            self._allow_labels(mask + RIGHT * self._n_labels, label, headed, begin, end, False)
            if grows_left:
                self._allow_labels(
                    mask + RIGHT_TEMPORARY * self._n_labels, label, headed, begin, end, True
                )

    cdef void _allow_labels(
        self, uint8_t* mask, int32_t label, const uint8_t* headed, int32_t begin, int32_t end,
        bint temporary,
    ) noexcept nogil:
        """Set the flags of the labels that a new phrase of two parts may have.

        label: of its part that is temporary, which has found its head; -1 for none. headed: as
        `_headed_by` its head.
        """
        cdef int32_t i
        if self._n_given == 0 or temporary:
            if label >= 0:
                mask[label] = 1
            else:
                memcpy(mask, headed, self._n_labels)
            return
        for i in range(self._n_labels):
            mask[i] = (
                (label == i or (label < 0 and headed[i]))
                and self._leaves_way(begin, end, 0, i, 0)
            )

    # What is given over the words of a node must be met, from the inside outwards, before the node
    # becomes part of another, or lies below one.

    cdef Py_ssize_t _n_due(
        self, int32_t begin, int32_t end, Py_ssize_t* first
    ) noexcept nogil:
        """Number of constituents given over these words; `first` is the innermost of them."""
        cdef Py_ssize_t low = 0
        cdef Py_ssize_t high = self._n_given
        cdef Py_ssize_t middle
        cdef const Span* span
        while low < high:
            middle = (low + high) // 2
            span = &self._given[middle]
            if span.begin < begin or (span.begin == begin and span.end < end):
                low = middle + 1
            else:
                high = middle
        first[0] = low
        while (
            high < self._n_given
            and self._given[high].begin == begin and self._given[high].end == end
        ):
            high += 1
        return high - low

    cdef bint _is_met(self, const Node* node, int32_t end) noexcept nogil:
        """Return True if a node covers all constituents given over its words."""
        cdef Py_ssize_t first
        return self._n_given == 0 or node.n_met == self._n_due(node.begin, end, &first)

    cdef uint8_t _met_with(
        self, int32_t begin, int32_t end, uint8_t n_met, int32_t label
    ) noexcept nogil:
        """Number of given constituents over words that one more phrase builds."""
        cdef Py_ssize_t first
        if n_met == self._n_due(begin, end, &first):
            return n_met
        first += n_met
        return n_met + (self._given[first].label < 0 or self._given[first].label == label)

    cdef bint _leaves_way(
        self, int32_t begin, int32_t end, uint8_t n_met, int32_t label, int n_unaries
    ) noexcept nogil:
        """Return True if the constituents due over words can still be built after one phrase.

        What is given takes a unary phrase, and perhaps another before it that keeps apart two of
        the same label: these may be there beyond `max_unaries`.
        """
        cdef Py_ssize_t first
        cdef Py_ssize_t n_due = self._n_due(begin, end, &first)
        cdef Py_ssize_t n_left = n_due - self._met_with(begin, end, n_met, label)
        return 2 * n_left <= self.max_unaries + 2 * n_due - n_unaries

    cdef void apply(self, const void* state, int action, void* after) noexcept nogil:
        cdef const ConstituentState* at = <const ConstituentState*> state
        cdef ConstituentState* target = <ConstituentState*> after
        cdef Node* node
        target[0] = at[0]
        target.step += 1
        if action == IDLE:
            return
        if action == TERMINATE:
            target.done = True
            return
        node = &self._nodes[self._n_nodes]
        if action == SHIFT:
            node[0] = Node(
                at.top, at.position, at.position, -1, -1, WORD, WORD, WORD, False, 0, 0, -1, -1
            )
            if at.top >= 0:
                node.opening = self._nodes[at.top].opening
                node.closing = self._nodes[at.top].closing
            if self._brackets[at.position] > 0:
                node.opening = at.position
                node.closing = -1
            elif node.opening >= 0 and self._matches[node.opening] == at.position:
                node.closing = at.position
            target.position += 1
        else:
            self._reduce(at, action, node)
        target.top = <int32_t> self._n_nodes
        self._n_nodes += 1

    cdef void _reduce(
        self, const ConstituentState* state, int action, Node* after
    ) noexcept nogil:
        """Write the phrase that an action makes."""
        cdef const Node* top = &self._nodes[state.top]
        cdef const Node* first = top
        cdef int way = (action - FIRST_PHRASE) // self._n_labels
        cdef int label = (action - FIRST_PHRASE) % self._n_labels
        if way != UNARY:
            first = &self._nodes[top.below]
        after.below = first.below
        after.begin = first.begin
        after.first_head = first.head
        after.first_category = first.category
        after.from_right = way == RIGHT or way == RIGHT_TEMPORARY
        if way == UNARY:
            after.second_head = -1
            after.second_category = WORD
            after.n_unaries = top.n_unaries + 1
            after.n_met = top.n_met
        else:
            after.second_head = top.head
            after.second_category = top.category
            after.n_unaries = 0
            after.n_met = 0
        after.head = top.head if after.from_right else first.head
        after.category = <int16_t> label
        if way == LEFT_TEMPORARY or way == RIGHT_TEMPORARY:
            after.category += <int16_t> self._n_labels
        elif self._n_given:
            after.n_met = self._met_with(after.begin, state.position, after.n_met, label)
        after.opening = -1
        after.closing = -1
        if after.below >= 0:
            after.opening = self._nodes[after.below].opening
            after.closing = self._nodes[after.below].closing

    cdef Py_ssize_t build(
        self, const int32_t* actions, Py_ssize_t n, Span* found, Span* stack
    ) noexcept nogil:
        """Write the constituents that actions make, children before parents; returns how many.

        found, stack: room for as many as there are actions.
        """
        cdef Py_ssize_t n_found = 0
        cdef Py_ssize_t size = 0
        cdef int32_t position = 0
        cdef Py_ssize_t i
        cdef int label
        cdef int way
        for i in range(n):
            if actions[i] == SHIFT:
                stack[size] = Span(position, position + 1, -1, position)
                size += 1
                position += 1
            elif actions[i] >= FIRST_PHRASE:
                way = (actions[i] - FIRST_PHRASE) // self._n_labels
                label = (actions[i] - FIRST_PHRASE) % self._n_labels
                if way != UNARY:
                    size -= 1
                    if way == RIGHT or way == RIGHT_TEMPORARY:
                        stack[size - 1].head = stack[size].head
                    stack[size - 1].end = stack[size].end
                if way != LEFT_TEMPORARY and way != RIGHT_TEMPORARY:
                    found[n_found] = stack[size - 1]
                    found[n_found].label = label
                    n_found += 1
        return n_found

    cdef object built_tree(
        self, const int32_t* actions, Py_ssize_t n_actions, Py_ssize_t n_words
    ):
        """The `Constituent`s in pre-order."""
        return tuple([
            Constituent(self.labels[label], begin, end, head)
            for label, begin, end, head
            in self.tree_array(actions, n_actions, n_words).tolist()
        ])

    cdef object tree_array(
        self, const int32_t* actions, Py_ssize_t n_actions, Py_ssize_t n_words
    ):
        """The label, begin, end and head of each constituent in pre-order, shape (n, 4)."""
        cdef Py_ssize_t n_found
        cdef Py_ssize_t i
        cdef Py_ssize_t row
        cdef const Span* span
        cdef int32_t[:, ::1] rows
        reserve(&self.buffers, self._found, n_actions + 1)
        reserve(&self.buffers, self._stack, n_actions + 1)
        reserve(&self.buffers, self._n_before, n_words + 1)
        n_found = self.build(actions, n_actions, self._found, self._stack)
        array = np.empty((n_found, 4), dtype=np.int32)
        rows = array
        # Those that begin with the same word stand together; the last to be built is the outermost.
        memset(self._n_before, 0, (n_words + 1) * sizeof(int32_t))
        for i in range(n_found):
            self._n_before[self._found[i].begin + 1] += 1
        for i in range(n_words):
            self._n_before[i + 1] += self._n_before[i]
        for i in reversed(range(n_found)):
            span = &self._found[i]
            row = self._n_before[span.begin]
            self._n_before[span.begin] += 1
            rows[row, 0] = span.label
            rows[row, 1] = span.begin
            rows[row, 2] = span.end
            rows[row, 3] = span.head
        return array

    # Features ----------------------------------------------------------------------------------

    cdef void anchors(self, const void* state, uint64_t* values) noexcept nogil:
        cdef const ConstituentState* at = <const ConstituentState*> state
        cdef const Node* node
        cdef int32_t place = at.top
        cdef uint64_t parts = 0
        cdef int i
        memset(values, 0, N_ANCHORS * sizeof(uint64_t))
        values[QUEUE_ANCHOR] = <uint64_t> at.position
        for i in range(4):
            if place < 0:
                break
            node = &self._nodes[place]
            place = node.below
            values[TOP_ANCHOR + i] = number_of(node.head) << 16 | <uint64_t> (node.category + 1)
            if i < 2:
                # One after the other: what shares bits must not be mixed in together.
                parts = mixed(
                    mixed(parts, number_of(node.first_head) << 32 | number_of(node.second_head)),
                    number_of(node.begin) << 32
                    | <uint64_t> (node.first_category + 1) << 16
                    | <uint64_t> (node.second_category + 1),
                )
        values[PARTS_ANCHOR] = parts
        values[BRACKET_ANCHOR] = self._bracket(at)

    cdef uint64_t _bracket(self, const ConstituentState* at) noexcept nogil:
        """The atom of the last left bracket on the stack."""
        cdef const Node* top
        cdef int32_t match
        if at.top < 0:
            return NULL_ATOM
        top = &self._nodes[at.top]
        if top.opening < 0:
            return NULL_ATOM
        match = self._matches[top.opening]
        if match < 0 or match >= at.position:
            return 1
        return 2 if top.closing >= 0 else 3

    cdef void find_nodes(self, const void* state, int32_t* rows) noexcept nogil:
        cdef const ConstituentState* at = <const ConstituentState*> state
        cdef const Node* node
        cdef int32_t place = at.top
        cdef int32_t end = at.position
        cdef int i
        for i in range(18):
            rows[i] = row_of(-1)
        for i in range(4):
            rows[4 + i] = row_of(at.position + i) if at.position + i < self._n else PADDING
            if place < 0:
                continue
            node = &self._nodes[place]
            place = node.below
            rows[i] = row_of(node.head)
            if i > 1:
                continue
            if node.second_head >= 0:
                rows[8 + 3 * i] = row_of(node.first_head)
                rows[9 + 3 * i] = row_of(node.second_head)
            else:
                rows[10 + 3 * i] = row_of(node.first_head)
            rows[14 + 2 * i] = row_of(node.begin)
            rows[15 + 2 * i] = row_of(end - 1)
            end = node.begin

    cdef uint64_t _category(self, int32_t head, int16_t category) noexcept nogil:
        """The atom of the label of a phrase, or of the tag of a word; null for -1."""
        if head < 0:
            return NULL_ATOM
        if category == WORD:
            return self._fields[row_of(head) * N_FIELDS_OF_WORD + TAG]
        return <uint64_t> (NOWHERE + 1 + category)

    cdef void find_numbers(self, const void* state, uint64_t* numbers) noexcept nogil:
        cdef const ConstituentState* at = <const ConstituentState*> state
        cdef const Node* node
        cdef int32_t heads[2]
        cdef int32_t place = at.top
        cdef int32_t end = at.position
        cdef int32_t total = 0
        cdef int i
        for i in range(4):
            if i < 2:
                numbers[4 + 3 * i] = NULL_ATOM
                numbers[5 + 3 * i] = NULL_ATOM
                numbers[6 + 3 * i] = NULL_ATOM
                numbers[12 + i] = NULL_ATOM
                heads[i] = -1
            if place < 0:
                numbers[i] = NOWHERE
                continue
            node = &self._nodes[place]
            place = node.below
            numbers[i] = self._category(node.head, node.category)
            if i > 1:
                continue
            heads[i] = node.head
            if node.second_head >= 0:
                numbers[4 + 3 * i] = self._category(node.first_head, node.first_category)
                numbers[5 + 3 * i] = self._category(node.second_head, node.second_category)
            else:
                numbers[6 + 3 * i] = self._category(node.first_head, node.first_category)
            numbers[12 + i] = size_of(end - node.begin)
            end = node.begin
        numbers[10] = self._bracket(at)
        numbers[11] = NULL_ATOM
        if heads[1] >= 0:
            for i in range(N_SEPARATORS):
                total += self._n_between(heads[1], heads[0], i)
            numbers[11] = number_of(total)

    cdef int32_t _n_between(self, int32_t left, int32_t right, int separator) noexcept nogil:
        """Number of separators of a kind between two words."""
        return (
            self._separators[right * N_SEPARATORS + separator]
            - self._separators[(left + 1) * N_SEPARATORS + separator]
        )

    cdef Py_ssize_t multi_values(
        self, const void* state, int atom, const uint64_t** values
    ) noexcept nogil:
        cdef const ConstituentState* at = <const ConstituentState*> state
        cdef const Node* top
        cdef Py_ssize_t n = 0
        cdef int i
        values[0] = self._between
        if at.top < 0 or self._nodes[at.top].below < 0:
            return 0
        top = &self._nodes[at.top]
        for i in range(N_SEPARATORS):
            if self._n_between(self._nodes[top.below].head, top.head, i):
                self._between[n] = number_of(i)
                n += 1
        return n


cdef class ConstituentDecoder(TreeDecoder):
    """Parses sentences into phrase structure: a tuple of `Constituent`s in pre-order.

    agenda: its system is a `ConstituentTransitions`.
    Constraints are (begin, end, label or None), constituents that the tree must have, of several
    over the same words the outermost first.
    """

    def __init__(self, Agenda agenda not None):
        super().__init__(agenda)
        self.system = <ConstituentTransitions?> self.system


def _check_given(spans, labels):
    """Check that a tree can have all given constituents, which are in their final order.

    Raises ValueError, naming two that overlap or lie on each other as phrases of a tree do not.
    """
    opened = []
    chain = []
    for begin, end, _, label in sorted(spans, key=lambda span: (span[0], -span[1], -span[2])):
        while opened and opened[len(opened) - 1][1] <= begin:
            opened.pop()
        if opened and opened[len(opened) - 1][1] < end:
            other = opened[len(opened) - 1]
            raise ValueError(
                f"the given constituents over the words {other[0]} to {other[1] - 1} and "
                f"{begin} to {end - 1} overlap"
            )
        same = opened and opened[len(opened) - 1] == (begin, end)
        if same and (len(labels) == 1 or (label >= 0 and label == chain[len(chain) - 1])):
            raise ValueError(
                f"{labels[label]} is given twice over the words {begin} to {end - 1}, as its only "
                "child"
            )
        chain = [*chain, label] if same else [label]
        if len(chain) > MOST_GIVEN:
            raise ValueError(
                f"more than {MOST_GIVEN} constituents are given over the words {begin} to "
                f"{end - 1}"
            )
        opened.append((begin, end))


def heads_of_words(const int32_t[:, ::1] constituents not None, Py_ssize_t n_words):
    """The head of each word by those of the constituents; -1 for the head of the sentence.

    constituents: of a tree over so many words, as `TreeDecoder.parse` gives them as arrays.
    Returns int32 of shape (n_words,). The same as `ConstituencySentence.heads`.
    """
    heads = np.full(n_words, -1, dtype=np.int32)
    cdef int32_t[::1] found = heads
    # Heads of parts that wait for their parent, the leftmost last.
    cdef int32_t[::1] waiting = np.empty(n_words + 1, dtype=np.int32)
    cdef Py_ssize_t n_waiting = 0
    cdef Py_ssize_t i
    cdef int32_t word = <int32_t> n_words
    cdef int32_t head
    for i in reversed(range(constituents.shape[0])):
        head = constituents[i, 3]
        while word > constituents[i, 1]:
            word -= 1
            waiting[n_waiting] = word
            n_waiting += 1
        while n_waiting > 0 and waiting[n_waiting - 1] < constituents[i, 2]:
            n_waiting -= 1
            if waiting[n_waiting] != head:
                found[waiting[n_waiting]] = head
        waiting[n_waiting] = head
        n_waiting += 1
    return heads
