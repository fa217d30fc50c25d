"""Words, their tags and dependency trees in one search (Hatori et al. 2012).

The characters of a sentence become words as in `tasks.segmentation.words`, and these join a stack
of trees as in arc-standard parsing:

- APPEND lets the next character go on with the current word;
- START begins a word with a tag at the next character;
- END ends the current word and puts it on the stack;
- LEFT makes the second tree of the stack a child of the top, RIGHT the top one of the second;
- ROOT takes the only tree off the stack, which is complete.

Arcs may join words that have ended only, before the next one begins. A derivation of n characters
and w words has n appended or started characters, w ends, w - 1 arcs and a root. States compete that
have the same sum of three times the characters consumed, less the trees on the stack, and two if
the current word has ended: every action raises it, whole derivations of one sentence end in the
same, and those that compete have come about equally far. Of the labels of an arc, the best goes on:
a beam of labels would leave no room for other words and trees.

Beyond the atoms of `tasks.segmentation.words` there are those of nodes: `S0` to `S2`, the roots of
the topmost trees; `l` and `r` after `S0` or `S1`, the outermost child on either side; `l2` and
`r2`, those next to it. Of a node (`S0` for any) they are

- ``S0w``, ``S0t``: the word and its tag; ``start(S0)``, ``end(S0)``: its first and last character;
  ``len(S0)``: how many it has, up to 4;
- ``S0llabel``, …: the label of a child's arc; ``S0vl``, ``S0vr``, …: how many children there are on
  each side;
- ``dist(S1,S0)``: the distance of the two in words, 6 for 6 to 10 and 7 for more.
"""

from cpython.unicode cimport PyUnicode_4BYTE_KIND, PyUnicode_FromKindAndData
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from spacy_structreg.learn.memory cimport reserve
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.search.agenda cimport Agenda
from spacy_structreg.search.transition_system cimport NULL_ATOM, AtomSet, has_atom
from spacy_structreg.tasks.dependencies.arcs cimport check_arcs, distance
from spacy_structreg.tasks.joint.tag_records cimport TagRecords
from spacy_structreg.tasks.segmentation.characters cimport CharacterAtoms
from spacy_structreg.tasks.segmentation.text cimport TextDecoder
from spacy_structreg.tasks.segmentation.words cimport (
    APPEND,
    REACH,
    START,
    WordDecoder,
    WordGuide,
    WordState,
    WordTransitions,
)
from spacy_structreg.tasks.tagged_words cimport number_of
from spacy_structreg.tasks.word_fields cimport mixed

import numpy as np

cdef enum:
    MAX_LENGTH = 4
    # More children than this count as so many.
    MOST_CHILDREN = 15
    # What stands for a word that is not there.
    NO_WORD = 1
    # Columns of the event "arc": START, ROOT, then labels of LEFT and of RIGHT.
    FIRST_LABEL = 2

cdef enum:
    # Anchors beyond those of words: the words of the topmost trees,
    TOP
    SECOND
    THIRD
    # the children of two of them,
    TOP_LEFT
    TOP_RIGHT
    SECOND_LEFT
    SECOND_RIGHT
    # and the distance of these.
    APART
    N_TREE_ANCHORS

cdef enum:
    # Nodes, in the order in which `fill_atoms` lists them.
    N_NODES = 11
    # Fields of a node.
    WORD = 0
    TAG
    FIRST_CHARACTER
    LAST_CHARACTER
    LENGTH
    N_NODE_FIELDS

_NODES = {
    "S0": [<int> TOP], "S1": [<int> SECOND], "S2": [<int> THIRD],
    "S0l": [<int> TOP_LEFT], "S0l2": [<int> TOP_LEFT],
    "S0r": [<int> TOP_RIGHT], "S0r2": [<int> TOP_RIGHT],
    "S1l": [<int> SECOND_LEFT], "S1l2": [<int> SECOND_LEFT],
    "S1r": [<int> SECOND_RIGHT], "S1r2": [<int> SECOND_RIGHT],
}
_FIELDS = ("{}w", "{}t", "start({})", "end({})", "len({})")
_CHILDREN = {
    "S0l": <int> TOP_LEFT, "S0r": <int> TOP_RIGHT,
    "S1l": <int> SECOND_LEFT, "S1r": <int> SECOND_RIGHT,
}
# In the order in which `fill_atoms` writes them: of each node, of each side of children.
_ATOMS = {
    **{field.format(node): anchors for node, anchors in _NODES.items() for field in _FIELDS},
    **{
        name: [anchor]
        for side, anchor in _CHILDREN.items()
        for name in (f"{side}label", f"{side}2label", f"{side[:2]}v{side[2]}")
    },
    "dist(S1,S0)": [<int> APART],
}


cdef inline void no_word(TaggedSpan* word) noexcept nogil:
    word.first = -1
    word.end = -1
    word.tag = -1


cdef inline void no_children(Children* children) noexcept nogil:
    no_word(&children.outer.word)
    no_word(&children.inner.word)
    children.outer.label = -1
    children.inner.label = -1
    children.count = 0


cdef inline void no_tree(Tree* tree) noexcept nogil:
    no_word(&tree.word)
    tree.number = -1
    no_children(&tree.left)
    no_children(&tree.right)


cdef inline void add_child(Children* children, const TaggedSpan* word, int label) noexcept nogil:
    """Add an outermost child."""
    children.inner = children.outer
    children.outer.word = word[0]
    children.outer.label = label
    children.count += 1


cdef inline uint64_t mixed_word(uint64_t state, const TaggedSpan* word) noexcept nogil:
    return mixed(
        mixed(state, (<uint64_t> <uint32_t> word.first << 32) | <uint32_t> word.end),
        number_of(word.tag),
    )


cdef inline uint64_t mixed_children(const Tree* tree, const Children* children) noexcept nogil:
    """Hash of the children and of the presence of their head, on which null atoms depend."""
    cdef uint64_t found = mixed_word(
        mixed(tree.word.first >= 0, <uint64_t> children.count), &children.outer.word
    )
    found = mixed_word(found, &children.inner.word)
    return mixed(
        found, (number_of(children.outer.label) << 32) | number_of(children.inner.label)
    )


cdef class WordTreeTransitions(WordTransitions):
    """Words with tags and labeled trees over them.

    n_labels: of arcs, ≥ 1. many_roots: let a sentence end, by ROOT, wherever its tree is alone on
    the stack, so that a text has several; else at its last character only. best_labels: let only
    the best label of an arc compete; without, a search of all labels can be exhaustive. The other
    settings are those of `WordTransitions`.
    """

    def __init__(
        self, CharacterAtoms characters not None, int n_tags, int n_labels, max_word_length=None,
        TagRecords records=None, bint prune=True, bint many_roots=False, bint best_labels=True,
    ):
        super().__init__(characters, n_tags, False, max_word_length, records, prune)
        if not 1 <= n_labels <= 10_000:
            raise ValueError(f"expected 1 to 10,000 arc labels, got {n_labels:,}")
        self.n_labels = n_labels
        self.many_roots = many_roots
        self.slots.in_step = False
        self.static_oracle = True
        self.state_size = sizeof(WordTreeState)
        self._first_atom = len(self.atoms)
        self._first_anchor = self.n_anchors
        self.n_anchors += N_TREE_ANCHORS
        self.atoms = (*self.atoms, *_ATOMS)
        self.atom_anchors = (*self.atom_anchors, *[
            tuple([self._first_anchor + anchor for anchor in anchors])
            for anchors in _ATOMS.values()
        ])
        self._end_word = START + n_tags
        self._pop_root = self._end_word + 1
        self._first_arc = self._pop_root + 1
        self.events = {**self.events, "arc": FIRST_LABEL + 2 * n_labels}
        starts = [[("arc", 0)] for _ in range(n_tags)]
        if n_tags > 1:
            for tag, events in enumerate(starts):
                events.append(("tag", tag))
        self.fire_events([
            [("append", 0), ("boundary", 0)],
            *starts,
            [("separate", 0), ("boundary", 1)],
            [("arc", 1)],
            *[[("arc", FIRST_LABEL + label)] for label in range(2 * n_labels)],
        ])
        # Of the labels of an arc, the best one goes on: other states say more.
        self.sort_actions(
            [*[-1] * self._first_arc, *[0] * n_labels, *[1] * n_labels], compete=best_labels
        )

    def __reduce__(self):
        return WordTreeTransitions, self._settings()

    def _settings(self):
        return (
            self.characters, self.n_tags, self.n_labels, self.max_word_length or None,
            self.records, self.prune, self.many_roots, self.kinds_compete,
        )

    def copy(self, prune=None, records=None):
        characters, n_tags, n_labels, longest, own, prunes, *rest = self._settings()
        return WordTreeTransitions(
            characters.copy(), n_tags, n_labels, longest, own if records is None else records,
            prunes if prune is None else prune, *rest,
        )

    # The sentence ------------------------------------------------------------------------------

    cdef int load(
        self, const uint32_t* text, Py_ssize_t n, const uint8_t* constraints
    ) except -1 nogil:
        WordTransitions.load(self, text, n, constraints)
        self._n_nodes = 0
        self._has_guide_arcs = False
        return 0

    cdef int load_part(
        self, const void* sentence, Py_ssize_t begin, Py_ssize_t count, double dropout,
        uint64_t* noise,
    ) except -1 nogil:
        WordTransitions.load_part(self, sentence, begin, count, dropout, noise)
        self._n_nodes = 0
        self._has_guide_arcs = False
        return 0

    cdef int reserve_states(self, Py_ssize_t n) except -1 nogil:
        reserve(&self.buffers, self._nodes, self._n_nodes + n)
        return 0

    def oracle(self, lengths, tags, heads, labels):
        """The actions that build words and their trees, arcs as early as may be.

        lengths: of the words, in characters. tags, labels: numbers. heads: of each word the number
        of its head; -1 for a root, whose label is not looked at. Raises ValueError if these are no
        projective trees, one after the other, or, without `many_roots`, several, or if a tag or a
        label does not exist.
        """
        n = len(lengths)
        check_arcs(heads, labels, n, self.n_labels)
        pending = [0] * n
        for head in heads:
            if head >= 0:
                pending[head] += 1
        actions = []
        stack = []
        for word, (length, tag) in enumerate(zip(lengths, tags, strict=True)):
            if not 0 <= tag < self.n_tags:
                raise ValueError(f"unknown tag {tag}")
            actions += [START + tag, *[<int> APPEND] * (length - 1), self._end_word]
            stack.append(word)
            while stack:
                top = stack[len(stack) - 1]
                second = stack[len(stack) - 2] if len(stack) > 1 else -1
                if second >= 0 and heads[second] == top and pending[second] == 0:
                    actions.append(self._first_arc + labels[second])
                    del stack[len(stack) - 2]
                    pending[top] -= 1
                elif second >= 0 and heads[top] == second and pending[top] == 0:
                    actions.append(self._first_arc + self.n_labels + labels[top])
                    stack.pop()
                    pending[second] -= 1
                elif second < 0 and heads[top] == -1 and pending[top] == 0 and (
                    self.many_roots or word == n - 1
                ):
                    actions.append(self._pop_root)
                    stack.pop()
                else:
                    break
        if stack:
            raise ValueError("the heads must form a projective tree with one root")
        return actions

    def compile_trees(self, words, tags, heads, labels, Perceptron learner not None):
        """A gold sentence as a `Derivation`; None if it has no words.

        words: without white space, none of them empty. The others as of `oracle`, which see for
        errors.
        """
        text = "".join(words)
        actions = self.oracle(list(map(len, words)), tags, heads, labels)
        # A tree reaches over all places at which it might be cut.
        return self._derivation(text, actions, np.array([0, len(text)], dtype=np.int64), learner)

    # States ------------------------------------------------------------------------------------

    cdef Py_ssize_t n_slots(self) noexcept nogil:
        return 3 * self._n + 3

    cdef void init(self, void* state) noexcept nogil:
        cdef WordTreeState* first = <WordTreeState*> state
        cdef int i
        WordTransitions.init(self, state)
        first.is_closed = True
        first.n_words = 0
        first.n_trees = 0
        first.below = -1
        first.ahead = 0.0
        for i in range(N_VISIBLE):
            no_tree(&first.stack[i])

    cdef bint is_final(self, const void* state) noexcept nogil:
        cdef const WordTreeState* at = <const WordTreeState*> state
        return at.is_closed and at.n_trees == 0 and at.word.position == self._n

    cdef void legal(self, const void* state, uint8_t* mask) noexcept nogil:
        cdef const WordTreeState* at = <const WordTreeState*> state
        cdef bint goes_on = at.word.position < self._n
        cdef bint ends = False
        cdef int tag
        if not at.is_closed or goes_on:
            # What may be done with the characters, where a start ends the word before.
            WordTransitions.legal(self, state, mask)
        if not at.is_closed:
            for tag in range(self.n_tags):
                ends |= mask[START + tag]
                mask[START + tag] = 0
            mask[self._end_word] = ends if goes_on else mask[self._end_word]
            return
        mask[APPEND] = 0
        mask[self._end_word] = 0
        mask[self._pop_root] = at.n_trees == 1 and (self.many_roots or not goes_on)
        if at.n_trees > 1:
            memset(mask + self._first_arc, 1, 2 * self.n_labels)

    cdef int only_action(self, const void* state) noexcept nogil:
        return -1

    cdef void apply(self, const void* state, int action, void* after) noexcept nogil:
        cdef const WordTreeState* before = <const WordTreeState*> state
        cdef WordTreeState* target = <WordTreeState*> after
        cdef int label
        target[0] = before[0]
        if action < self._end_word:
            WordTransitions.apply(self, state, action, after)
            target.is_closed = False
        elif action == self._end_word:
            target.is_closed = True
            target.ahead = self._best_ahead(&before.word)
            self._push(target)
        elif action == self._pop_root:
            self._pop(target)
        else:
            label = action - self._first_arc
            if label < self.n_labels:
                target.stack[1] = before.stack[0]
                add_child(&target.stack[1].left, &before.stack[1].word, label)
            else:
                add_child(
                    &target.stack[1].right, &before.stack[0].word, label - self.n_labels
                )
            self._pop(target)

    cdef void _push(self, WordTreeState* state) noexcept nogil:
        """Put the current word on the stack."""
        cdef int i
        cdef Tree* top = &state.stack[0]
        if state.n_trees >= N_VISIBLE:
            self._nodes[self._n_nodes] = TreeNode(state.stack[N_VISIBLE - 1], state.below)
            state.below = <int32_t> self._n_nodes
            self._n_nodes += 1
        i = N_VISIBLE - 1
        while i > 0:
            state.stack[i] = state.stack[i - 1]
            i -= 1
        no_tree(top)
        top.word = TaggedSpan(state.word.first0, state.word.position, state.word.tag0)
        top.number = state.n_words
        state.n_words += 1
        state.n_trees += 1

    cdef void _pop(self, WordTreeState* state) noexcept nogil:
        """Take the top off the stack."""
        cdef int i
        for i in range(N_VISIBLE - 1):
            state.stack[i] = state.stack[i + 1]
        if state.below >= 0:
            state.stack[N_VISIBLE - 1] = self._nodes[state.below].tree
            state.below = self._nodes[state.below].below
        else:
            no_tree(&state.stack[N_VISIBLE - 1])
        state.n_trees -= 1

    cdef Py_ssize_t slot(self, const void* state, int action) noexcept nogil:
        cdef const WordTreeState* at = <const WordTreeState*> state
        cdef Py_ssize_t consumed = at.word.position
        cdef Py_ssize_t n_trees = at.n_trees
        cdef bint is_closed = at.is_closed
        if action < self._end_word:
            consumed += 1
            is_closed = False
        elif action == self._end_word:
            n_trees += 1
            is_closed = True
        else:
            n_trees -= 1
        return 3 * consumed - n_trees + 2 * is_closed

    # Features ----------------------------------------------------------------------------------

    cdef void anchors(self, const void* state, uint64_t* values) noexcept nogil:
        cdef const WordTreeState* at = <const WordTreeState*> state
        cdef uint64_t* own = values + self._first_anchor
        cdef int i
        WordTransitions.anchors(self, state, values)
        for i in range(N_VISIBLE):
            own[TOP + i] = mixed_word(0, &at.stack[i].word)
        for i in range(2):
            own[TOP_LEFT + 2 * i] = mixed_children(&at.stack[i], &at.stack[i].left)
            own[TOP_RIGHT + 2 * i] = mixed_children(&at.stack[i], &at.stack[i].right)
        own[APART] = distance(at.stack[1].number, at.stack[0].number)

    cdef uint64_t _word_atom(self, const TaggedSpan* word) noexcept nogil:
        return NO_WORD if word.first < 0 else self._word(word.first, word.end)

    cdef void fill_atoms(
        self, const void* state, const AtomSet* wanted, uint64_t* values
    ) noexcept nogil:
        cdef const WordTreeState* at = <const WordTreeState*> state
        cdef const TaggedSpan* nodes[N_NODES]
        cdef const TaggedSpan* word
        cdef const Children* children
        cdef const uint64_t* symbols
        cdef uint64_t* own = values + self._first_atom
        cdef int first = self._first_atom
        cdef int i
        cdef int a
        if wanted.words[0] & ((<uint64_t> 1 << first) - 1):
            WordTransitions.fill_atoms(self, state, wanted, values)
        symbols = self._symbols + REACH
        for i in range(N_VISIBLE):
            nodes[i] = &at.stack[i].word
        for i in range(2):
            nodes[3 + 4 * i] = &at.stack[i].left.outer.word
            nodes[4 + 4 * i] = &at.stack[i].left.inner.word
            nodes[5 + 4 * i] = &at.stack[i].right.outer.word
            nodes[6 + 4 * i] = &at.stack[i].right.inner.word
        for i in range(N_NODES):
            word = nodes[i]
            a = i * N_NODE_FIELDS
            if has_atom(wanted, first + a + WORD):
                own[a + WORD] = self._word_atom(word)
            own[a + TAG] = NO_WORD if word.first < 0 else <uint64_t> word.tag + 2
            own[a + FIRST_CHARACTER] = NO_WORD
            own[a + LAST_CHARACTER] = NO_WORD
            own[a + LENGTH] = NO_WORD
            if word.first >= 0:
                own[a + FIRST_CHARACTER] = self._character(symbols, word.first)
                own[a + LAST_CHARACTER] = self._character(symbols, word.end - 1)
                own[a + LENGTH] = 1 + <uint64_t> min(word.end - word.first, MAX_LENGTH)
        own += N_NODES * N_NODE_FIELDS
        for i in range(4):
            children = &at.stack[i // 2].left if i % 2 == 0 else &at.stack[i // 2].right
            own[0] = number_of(children.outer.label)
            own[1] = number_of(children.inner.label)
            own[2] = NULL_ATOM
            if at.stack[i // 2].word.first >= 0:
                own[2] = number_of(min(children.count, MOST_CHILDREN))
            own += 3
        own[0] = distance(at.stack[1].number, at.stack[0].number)

    # Guides ------------------------------------------------------------------------------------

    cdef double external_score(self, const void* state, int action) noexcept nogil:
        cdef const WordTreeState* at = <const WordTreeState*> state
        cdef int32_t top = at.stack[0].word.first
        cdef int32_t second = at.stack[1].word.first
        cdef int32_t label = action - self._first_arc
        # What a word of its own begins has been scored when the one before ended.
        if action == APPEND or action == self._end_word:
            return WordTransitions.external_score(self, state, action)
        if not self._has_guide_arcs or action < self._end_word:
            return 0.0
        if action == self._pop_root:
            return self._guide_score(top, -1, -1)
        if label < self.n_labels:
            return self._guide_score(second, top, label)
        return self._guide_score(top, second, label - self.n_labels)

    cdef double _guide_score(self, int32_t child, int32_t head, int32_t label) noexcept nogil:
        """The sum of the scores that a guide gives an arc."""
        cdef double score = 0.0
        cdef const GuideArc* arc
        cdef int32_t place = self._first_arcs[child]
        while place >= 0:
            arc = &self._guide_arcs[place]
            if arc.head == head and (arc.label < 0 or arc.label == label):
                score += arc.score
            place = arc.following
        return score

    cdef int _take_guide_arcs(self, arcs) except -1:
        """Add a guide's scores to those of arcs, in the sentence that is loaded."""
        cdef const int32_t[:, ::1] places = arcs[0]
        cdef const double[::1] scores = arcs[1]
        cdef Py_ssize_t n = places.shape[0]
        cdef Py_ssize_t i
        cdef int32_t child
        if scores.shape[0] != n or (n and places.shape[1] != 3):
            raise ValueError("arcs of a guide must have a child, a head, a label and a score")
        reserve(&self.buffers, self._first_arcs, self._n)
        reserve(&self.buffers, self._guide_arcs, n)
        memset(self._first_arcs, 0xFF, self._n * sizeof(int32_t))
        for i in range(n):
            child = places[i, 0]
            if not 0 <= child < self._n:
                raise ValueError(f"guide arc to character {child} is out of range for {self._n}")
            self._guide_arcs[i] = GuideArc(
                scores[i], places[i, 1], places[i, 2], self._first_arcs[child]
            )
            self._first_arcs[child] = <int32_t> i
        self._has_guide_arcs = True
        return 0

    cdef double heuristic(self, const void* state, int action) noexcept nogil:
        cdef const WordTreeState* at = <const WordTreeState*> state
        if action == self._end_word:
            return self._best_ahead(&at.word)
        if action > self._end_word:
            return at.ahead
        return WordTransitions.heuristic(self, state, action)

    cdef double _best_ahead(self, const WordState* word) noexcept nogil:
        """Return the best score that a start of the next word may add."""
        cdef double best = -INFINITY
        cdef int tag
        if not self.has_heuristic or word.position == self._n:
            return 0.0
        for tag in range(self.n_tags):
            best = max(best, WordTransitions.heuristic(self, word, START + tag))
        return best


cdef class WordTreeDecoder(WordDecoder):
    """Finds the words of texts, their tags, and trees over them.

    agenda: its system is a `WordTreeTransitions`. tags, guide: as of `WordDecoder`. arc_labels: the
    names of the labels of arcs, in the order of their numbers; root_label: that of roots.
    arc_guide: called with each sentence, a string without white space; returns scores that are
    added to those of arcs: arcs, int32 of shape (n, 3), each the first character of a word, that of
    its head or -1 for the root, and the number of a label or -1 for any; and their scores, float64
    of shape (n,). None for no such scores.
    Raises ValueError if they do not fit each other.
    """

    def __init__(
        self, Agenda agenda not None, tags, arc_labels, str root_label not None,
        WordGuide guide=None, arc_guide=None,
    ):
        super().__init__(agenda, tags, guide)
        self.arc_guide = arc_guide
        self.arc_labels = tuple(arc_labels)
        self.root_label = root_label
        self._end_word = (<WordTreeTransitions?> self.system)._end_word
        self._pop_root = (<WordTreeTransitions> self.system)._pop_root
        self._first_arc = (<WordTreeTransitions> self.system)._first_arc
        self._n_labels = (<WordTreeTransitions> self.system).n_labels
        if len(self.arc_labels) not in (0, self._n_labels):
            raise ValueError("the labels do not match those of the transition system")

    cdef int _make_room(self, Py_ssize_t n) except -1 nogil:
        TextDecoder._make_room(self, n)
        reserve(&self.buffers, self._heads, n + 1)
        reserve(&self.buffers, self._labels, n + 1)
        reserve(&self.buffers, self._stack, n + 1)
        reserve(&self.buffers, self._kept_places, n + 1)
        reserve(&self.buffers, self._marked_heads, n + 1)
        reserve(&self.buffers, self._marked_labels, n + 1)
        reserve(&self.buffers, self._actions, 3 * n + 3)
        return 0

    cdef int _consult(self, Py_ssize_t n, bint narrowly) except -1 nogil:
        WordDecoder._consult(self, n, narrowly)
        if self.arc_guide is not None:
            with gil:
                (<WordTreeTransitions> self.system)._take_guide_arcs(
                    self.arc_guide(
                        PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, self.characters, n)
                    )
                )
            self.system.has_external_score = True
        return 0

    cdef double _take(self, Py_ssize_t item) except? -1 nogil:
        cdef Py_ssize_t n = self.agenda.items[item].step
        cdef Py_ssize_t position = 0
        cdef Py_ssize_t n_trees = 0
        cdef Py_ssize_t i
        cdef int32_t first = 0
        cdef int32_t child
        cdef int32_t head
        cdef int action
        cdef int label
        self.agenda.trace(item, self._actions)
        for i in range(n):
            action = self._actions[i]
            if action < self._end_word:
                if action != APPEND:
                    first = <int32_t> position
                self.begins[position] = action != APPEND
                self.word_tags[position] = action - START
                position += 1
            elif action == self._end_word:
                self._stack[n_trees] = first
                n_trees += 1
            elif action == self._pop_root:
                n_trees -= 1
                self._heads[self._stack[n_trees]] = -1
                self._labels[self._stack[n_trees]] = -1
            else:
                label = action - self._first_arc
                child = self._stack[n_trees - 2]
                head = self._stack[n_trees - 1]
                if label >= self._n_labels:
                    label -= self._n_labels
                    child = self._stack[n_trees - 1]
                    head = self._stack[n_trees - 2]
                self._heads[child] = head
                self._labels[child] = label
                n_trees -= 1
                self._stack[n_trees - 1] = head
        return self.agenda.items[item].score

    def _taken_actions(self, Py_ssize_t n):
        cdef Py_ssize_t i
        # Every word ends, and leaves the stack, by an arc or as a root.
        n_words = sum([1 for i in range(n) if self.begins[i]])
        return [self._actions[i] for i in range(n + 2 * n_words)]

    cdef void _mark(self, Py_ssize_t first, Py_ssize_t n, Py_ssize_t kept) noexcept nogil:
        cdef Py_ssize_t k = 0
        cdef Py_ssize_t i
        TextDecoder._mark(self, first, n, kept)
        for i in range(n):
            if not self.is_space(first + i):
                self._kept_places[k] = <int32_t> (first + i)
                k += 1
        for k in range(kept):
            if not self.begins[k]:
                continue
            i = self._kept_places[k]
            self._marked_heads[i] = -1 if self._heads[k] < 0 else self._kept_places[self._heads[k]]
            self._marked_labels[i] = self._labels[k]

    def trees(self, list texts not None, sentences not None, list constraints=None):
        """The words of texts with their tags and trees; arguments as of `TextDecoder.segment`.

        Returns what `TextDecoder.tagged_spans` does, and of each word the number of its head among
        those of its text, -1 for roots, and the number of its label, -1 for roots: int32 of shape
        (n_words,) both.
        """
        cdef int32_t[::1] head_view
        cdef int32_t[::1] label_view
        cdef int32_t[::1] number_of_word
        cdef const int64_t[:, ::1] span_view
        cdef Py_ssize_t base = 0
        cdef Py_ssize_t text
        cdef Py_ssize_t first
        cdef Py_ssize_t last
        cdef Py_ssize_t place
        cdef Py_ssize_t w
        spans, starts, tags = self.tagged_spans(texts, sentences, constraints)
        heads = np.empty(len(spans), dtype=np.int32)
        labels = np.empty(len(spans), dtype=np.int32)
        numbers = np.zeros(sum(map(len, texts)) + 1, dtype=np.int32)
        head_view, label_view, number_of_word, span_view = heads, labels, numbers, spans
        for text in range(len(texts)):
            first, last = starts[text], starts[text + 1]
            for w in range(first, last):
                number_of_word[base + span_view[w, 0]] = <int32_t> (w - first)
            for w in range(first, last):
                place = base + span_view[w, 0]
                head_view[w] = (
                    -1 if self._marked_heads[place] < 0
                    else number_of_word[self._marked_heads[place]]
                )
                label_view[w] = self._marked_labels[place]
            base += len(texts[text])
        return spans, starts, tags, heads, labels
