"""Arc-eager dependency parsing (Nivre 2003; Zhang & Clark 2011, section 5) as a transition system.

The words of a sentence move from a queue through a stack:

- SHIFT puts the next word on the stack;
- ARC-RIGHT does too, and makes it a child of what was the top;
- ARC-LEFT makes the top a child of the next word, and takes it off; only if it has no head yet;
- REDUCE takes the top off; only if it has a head.

Every word is put on the stack once and all but one are taken off: 2n - 1 actions. The one that is
left is the root. That there is one only is seen to when the last word comes: it is put on an empty
stack, or made a child when one word without a head is left. SHIFT does not follow REDUCE, which
leaves one derivation for each tree.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint64_t
from libc.string cimport memset

from spacy_structreg.learn.memory cimport reserve
from spacy_structreg.search.transition_system cimport NULL_ATOM
from spacy_structreg.tasks.dependencies.arcs cimport (
    ROOT,
    UNKNOWN,
    DependencyTransitions,
    check_arcs,
    distance,
)
from spacy_structreg.tasks.tagged_words cimport NO_NODE, PADDING, number_of, row_of
from spacy_structreg.tasks.word_fields cimport WordFields, mixed

import numpy as np

from spacy_structreg.tasks.tagged_words import atoms_of_nodes

cdef enum:
    SHIFT
    REDUCE
    # By labels from here on: ARC-LEFT, then ARC-RIGHT.
    FIRST_ARC
    # More children than this count as so many.
    MOST_CHILDREN = 15

cdef enum:
    QUEUE_ANCHOR     # the position of the next word
    TOP_ANCHOR       # the word on top of the stack
    SECOND_ANCHOR
    THIRD_ANCHOR
    HEAD_ANCHOR      # the head of the top, and its head
    LEFT_ANCHOR      # the left children of the top
    RIGHT_ANCHOR
    NEXT_ANCHOR      # the left children of the next word
    N_ANCHORS

_QUEUE = (<int> QUEUE_ANCHOR,)
_TOP = (<int> TOP_ANCHOR,)
_HEAD = (<int> TOP_ANCHOR, <int> HEAD_ANCHOR)
_LEFT = (<int> TOP_ANCHOR, <int> LEFT_ANCHOR)
_RIGHT = (<int> TOP_ANCHOR, <int> RIGHT_ANCHOR)
_NEXT = (<int> QUEUE_ANCHOR, <int> NEXT_ANCHOR)
_BOTH = (<int> QUEUE_ANCHOR, <int> TOP_ANCHOR)
_PARENT = (<int> QUEUE_ANCHOR, *_HEAD)

# In the order in which `find_nodes` writes them.
_NODES = {
    "S0": _TOP, "S1": (<int> SECOND_ANCHOR,), "S2": (<int> THIRD_ANCHOR,),
    "N-1": _QUEUE, "N0": _QUEUE, "N1": _QUEUE, "N2": _QUEUE, "N3": _QUEUE,
    "S0-1": _TOP, "S0+1": _TOP,
    "S0h": _HEAD, "S0h2": _HEAD, "S0l": _LEFT, "S0l2": _LEFT, "S0r": _RIGHT, "S0r2": _RIGHT,
    "N0l": _NEXT, "N0l2": _NEXT, "S0p": _PARENT,
}

# In the order in which `find_numbers` writes them.
_NUMBERS = {
    "S0label": _HEAD, "S0hlabel": _HEAD,
    "S0llabel": _LEFT, "S0l2label": _LEFT, "S0rlabel": _RIGHT, "S0r2label": _RIGHT,
    "N0llabel": _NEXT, "N0l2label": _NEXT,
    "S0vl": _LEFT, "S0vr": _RIGHT, "N0vl": _NEXT,
    "S0sl": _LEFT, "S0sr": _RIGHT, "N0sl": _NEXT,
    "dist(S0,N0)": _BOTH,
    "dist(S0,N0l)": (*_BOTH, <int> NEXT_ANCHOR), "dist(S0r,N0)": (*_BOTH, <int> RIGHT_ANCHOR),
    "between(S0,N0)": _BOTH,
}

ARC_EAGER_ATOMS = (*atoms_of_nodes(_NODES), *_NUMBERS)
"""The names of all atoms that templates of arc-eager parsing may read.

Beyond those of `tasks.dependencies.arcs`: ``dist``, the distance of two nodes in words, 6 for 6 to
10 and 7 for more; ``between(S0,N0)``, the tags of the words between, which has many values;
``S0-1`` and ``S0+1``, nodes for the neighbors of `S0` in the sentence; ``S0p``, a node for the
parent that `S0` has when it is popped: its head, or `N0` if it has none."""

ARC_EAGER_EVENTS = ("action", "left", "right", "arc", "pop", "push")
"""The names of the events on which they fire.

``action``: always, with a weight for each action and label; ``left`` and ``right``: an arc, with a
weight for each label; ``arc``: an arc, with one weight for both directions and all labels, on the
atoms of `ARC_ATOMS`; ``pop``: the top of the stack has got all its children; ``push``: the next
word has got all its left children."""

# What stands for the nodes and numbers of an arc, if it is to the left and if to the right.
_NODES_OF_ARC = {
    "P": ("N0", "S0"), "P-1": ("N-1", "S0-1"), "P+1": ("N1", "S0+1"),
    "C": ("S0", "N0"), "C-1": ("S0-1", "N-1"), "C+1": ("S0+1", "N1"),
    "S": ("N0l", "S0r"), "Cl": ("S0l", "N0l"),
}
_NUMBERS_OF_ARC = {
    "dist(P,C)": ("dist(S0,N0)", "dist(S0,N0)"), "dist(S,C)": ("dist(S0,N0l)", "dist(S0r,N0)"),
    "between(P,C)": ("between(S0,N0)", "between(S0,N0)"),
}
_OF_ARCS = {
    event: dict(zip(
        (*atoms_of_nodes(_NODES_OF_ARC), *_NUMBERS_OF_ARC),
        (
            *atoms_of_nodes([nodes[side] for nodes in _NODES_OF_ARC.values()]),
            *(numbers[side] for numbers in _NUMBERS_OF_ARC.values()),
        ),
    ))
    for side, event in enumerate(("arc-left", "arc-right"))
}

ARC_ATOMS = tuple(_OF_ARCS["arc-left"])
"""The names of all atoms that templates of the event ``arc`` may read.

Nodes are ``P``, the parent, and ``C``, the child, with ``P-1``, ``P+1``, ``C-1`` and ``C+1`` for
their neighbors in the sentence; ``S``, the outermost child of the parent so far, on the side of
the new one; and ``Cl``, the leftmost child of the child."""


cdef inline uint64_t mixed_children(uint64_t state, const Children* children) noexcept nogil:
    """Hash of the children on one side, as far as templates read them."""
    if children.count == 0:
        return mixed(state, 1)
    state = mixed(state, (<uint64_t> (children.outer + 1) << 32) | <uint64_t> (children.inner + 1))
    state = mixed(
        state,
        (<uint64_t> children.count << 32) | (<uint64_t> (children.outer_label + 1) << 16)
        | <uint64_t> (children.inner_label + 1),
    )
    return mixed(state, children.labels)


cdef inline uint64_t mixed_word(uint64_t state, const StackWord* word) noexcept nogil:
    state = mixed(
        state, (<uint64_t> (word.word + 1) << 32) | <uint64_t> (word.label + 1)
    )
    return mixed_children(mixed_children(state, &word.left), &word.right)


cdef inline void no_children(Children* children) noexcept nogil:
    memset(children, 0, sizeof(Children))
    children.outer = -1
    children.inner = -1
    children.outer_label = -1
    children.inner_label = -1


cdef inline void add_child(Children* children, int32_t word, int label) noexcept nogil:
    """Add an outermost child."""
    children.inner = children.outer
    children.inner_label = children.outer_label
    children.outer = word
    children.outer_label = <int16_t> label
    children.count += 1
    # Labels of which there are more than bits share them.
    children.labels |= <uint64_t> 1 << (label & 63)


cdef class ArcEager(DependencyTransitions):
    """Arc-eager parsing with labels.

    words: the fields of words. n_labels: of arcs, from 1 to 10,000; 1 for parsing without labels.
    atoms: those of `ARC_EAGER_ATOMS` and `ARC_ATOMS` that templates read. events: those of
    `ARC_EAGER_EVENTS` on which they fire.
    Raises ValueError for atoms or events that do not exist.
    """

    def __init__(self, WordFields words not None, int n_labels, atoms, events=("action",)):
        self.describe(words, n_labels, events, ARC_EAGER_EVENTS)
        self.state_size = sizeof(EagerState)
        self.n_anchors = N_ANCHORS
        self.declare(
            [
                name for atom in atoms
                for name in (
                    [names[atom] for names in _OF_ARCS.values()] if atom in ARC_ATOMS else [atom]
                )
            ],
            _NODES, _NUMBERS, ("between(S0,N0)",),
        )
        n_actions = <int> FIRST_ARC + 2 * n_labels
        columns = {
            "action": n_actions, "left": n_labels, "right": n_labels, "pop": 1, "push": 1,
        }
        self.events = {name: columns[name] for name in columns if name in events}
        if "arc" in events:
            self.variants = {"arc": _OF_ARCS}
            self.events |= {name: 1 for name in _OF_ARCS}
        of_actions = [[("push", 0)], [("pop", 0)]]
        of_actions += [
            [("left", label), ("arc-left", 0), ("pop", 0)] for label in range(n_labels)
        ]
        of_actions += [
            [("right", label), ("arc-right", 0), ("push", 0)] for label in range(n_labels)
        ]
        self.fire_events([
            [
                event for event in [("action", action), *others] if event[0] in self.events
            ]
            for action, others in enumerate(of_actions)
        ])

    def oracle(self, heads, labels):
        """The actions that build a tree.

        heads: of each word the number of its head; -1 for the root. labels: of their arcs, as
        numbers; that of the root is not looked at. Raises ValueError if it is no projective tree
        with one root, or a label does not exist.
        """
        cdef Py_ssize_t n = len(heads)
        cdef const int32_t[::1] taken
        check_arcs(heads, labels, n, self.n_labels)
        actions = []
        stack = []
        attached = [False] * n
        # The leftmost of the words that a word has an arc with.
        reach = list(range(n))
        for word, head in enumerate(heads):
            if head >= 0:
                reach[max(word, head)] = min(reach[max(word, head)], word, head)
        position = 0
        while position < n or len(stack) > 1:
            top = stack[len(stack) - 1] if stack else -1
            if position < n and top >= 0 and heads[top] == position:
                actions.append(<int> FIRST_ARC + labels[top])
                stack.pop()
            elif position < n and top >= 0 and heads[position] == top:
                actions.append(<int> FIRST_ARC + self.n_labels + labels[position])
                attached[position] = True
                stack.append(position)
                position += 1
            elif top >= 0 and attached[top] and (position == n or reach[position] < top):
                actions.append(<int> REDUCE)
                stack.pop()
            elif position < n:
                actions.append(<int> SHIFT)
                stack.append(position)
                position += 1
            else:
                break
        taken = np.array([*actions, 0], dtype=np.int32)
        if len(actions) != 2 * n - 1 or self.built_tree(&taken[0], 2 * n - 1, n)[0] != list(heads):
            raise ValueError("the heads must form a projective tree with one root")
        return actions

    # The sentence ------------------------------------------------------------------------------

    cdef int reserve_states(self, Py_ssize_t n) except -1 nogil:
        reserve(&self.buffers, self._nodes, self._n_nodes + n)
        return 0

    # States ------------------------------------------------------------------------------------

    cdef void init(self, void* state) noexcept nogil:
        cdef EagerState* first = <EagerState*> state
        memset(first, 0, sizeof(EagerState))
        first.top.word = -1
        first.top.label = -1
        no_children(&first.top.left)
        no_children(&first.top.right)
        no_children(&first.left)
        first.below = -1

    cdef bint is_final(self, const void* state) noexcept nogil:
        cdef const EagerState* at = <const EagerState*> state
        return at.position == self._n and at.below < 0

    cdef void legal(self, const void* state, uint8_t* mask) noexcept nogil:
        cdef const EagerState* at = <const EagerState*> state
        cdef int32_t top = at.top.word
        cdef int32_t next_word = at.position
        # What REDUCE leads to could have been had without it.
        cdef bint shifts = (
            next_word < self._n and not at.has_reduced
            and not (top >= 0 and self._is_last(next_word))
        )
        if shifts and self._heads != NULL:
            shifts = self._firsts[next_word] > top and (
                self._heads[next_word] == UNKNOWN or self._heads[next_word] > next_word
                or (self._heads[next_word] == ROOT and top < 0)
            )
        mask[SHIFT] = shifts
        mask[REDUCE] = at.top.label >= 0 and self._may_reduce(at)
        if top >= 0 and next_word < self._n:
            if self._may_go_left(&at.top, next_word):
                self.allow_labels(mask + FIRST_ARC, top)
            if self._may_go_right(top, next_word, at.n_headless):
                self.allow_labels(mask + FIRST_ARC + self.n_labels, next_word)

    cdef bint _is_last(self, int32_t next_word) noexcept nogil:
        """Return True if no later word can be the head of the next word, or of one before it."""
        # All to the last that is known to be below it will be.
        return self._n - 1 == (next_word if self._heads == NULL else self._lasts[next_word])

    cdef bint _may_go_left(self, const StackWord* top, int32_t head) noexcept nogil:
        """True if a word of the stack may become a child of the next."""
        return top.label < 0 and (
            self._heads == NULL
            or (
                self._lasts[top.word] < head
                and (self._heads[top.word] == UNKNOWN or self._heads[top.word] == head)
            )
        )

    cdef bint _may_go_right(
        self, int32_t head, int32_t next_word, int32_t n_headless
    ) noexcept nogil:
        """True if the next word may become a child of one of the stack."""
        return not (n_headless != 1 and self._is_last(next_word)) and (
            self._heads == NULL
            or (
                self._firsts[next_word] > head
                and (self._heads[next_word] == UNKNOWN or self._heads[next_word] == head)
            )
        )

    cdef bint _may_reduce(self, const EagerState* state) noexcept nogil:
        """Return True if the top may be reduced: an arc with the next word can follow."""
        cdef int32_t next_word = state.position
        cdef int32_t node = state.below
        cdef const StackWord* top
        if self._heads == NULL:
            return True
        if self._lasts[state.top.word] >= next_word:
            return False
        if next_word == self._n:
            return True
        while node >= 0:
            top = &self._nodes[node].top
            if self._may_go_left(top, next_word) or self._may_go_right(
                top.word, next_word, state.n_headless
            ):
                return True
            if top.label < 0 or self._lasts[top.word] >= next_word:
                return False
            node = self._nodes[node].below
        return False

    cdef void apply(self, const void* state, int action, void* after) noexcept nogil:
        self._lead(<const EagerState*> state, action, <EagerState*> after, True)

    cdef void _lead(
        self, const EagerState* state, int action, EagerState* after, bint keep
    ) noexcept nogil:
        """Write the state after an action. keep: whether to keep covered words."""
        if action == SHIFT:
            self._push(state, -1, after, keep)
            return
        if action >= FIRST_ARC + self.n_labels:
            self._push(state, action - FIRST_ARC - self.n_labels, after, keep)
            return
        after[0] = state[0]
        after.step += 1
        after.has_reduced = action == REDUCE
        if action >= FIRST_ARC:
            add_child(&after.left, state.top.word, action - FIRST_ARC)
            after.n_headless -= 1
        if state.below < 0:
            after.top.word = -1
            after.top.label = -1
            no_children(&after.top.left)
            no_children(&after.top.right)
            after.signature = 0
        else:
            after.top = self._nodes[state.below].top
            after.signature = self._nodes[state.below].signature
            after.below = self._nodes[state.below].below

    cdef void _push(
        self, const EagerState* state, int label, EagerState* after, bint keep
    ) noexcept nogil:
        """Put the next word on the stack; with a label, as a child of the top."""
        cdef StackWord covered = state.top
        after.position = state.position + 1
        after.step = state.step + 1
        after.has_reduced = False
        after.n_headless = state.n_headless + (label < 0)
        after.below = -1
        after.signature = 0
        if covered.word >= 0:
            if label >= 0:
                add_child(&covered.right, state.position, label)
            after.signature = mixed_word(state.signature, &covered)
            if keep:
                after.below = <int32_t> self._n_nodes
                self._nodes[self._n_nodes] = StackNode(covered, state.below, state.signature)
                self._n_nodes += 1
        after.top.word = state.position
        after.top.label = label
        after.top.left = state.left
        no_children(&after.top.right)
        no_children(&after.left)

    cdef uint64_t signature(self, const void* state, int action) noexcept nogil:
        cdef EagerState after
        cdef uint64_t found
        self._lead(<const EagerState*> state, action, &after, False)
        found = mixed_word(after.signature, &after.top)
        found = mixed_children(found, &after.left)
        return mixed(
            found, (<uint64_t> (after.position + 1) << 1) | <uint64_t> after.has_reduced
        )

    cdef void build(
        self, const int32_t* actions, Py_ssize_t n, int32_t* heads, int32_t* labels
    ) noexcept nogil:
        # As long as a word of the stack has no head, its place holds what lies below: -3 for
        # nothing, -4 for the first word, and so on; a word with a head lies on that.
        cdef int32_t top = -1
        cdef int32_t below
        cdef int32_t next_word = 0
        cdef Py_ssize_t i
        cdef int action
        for i in range(n):
            action = actions[i]
            if action == SHIFT or action >= FIRST_ARC + self.n_labels:
                if action == SHIFT:
                    heads[next_word] = -4 - top
                    labels[next_word] = ROOT
                else:
                    heads[next_word] = top
                    labels[next_word] = action - FIRST_ARC - self.n_labels
                top = next_word
                next_word += 1
            else:
                below = heads[top] if heads[top] >= 0 else -4 - heads[top]
                if action != REDUCE:
                    heads[top] = next_word
                    labels[top] = action - FIRST_ARC
                top = below
        heads[top] = ROOT

    # Features ----------------------------------------------------------------------------------

    cdef const StackWord* _covered(self, int32_t node) noexcept nogil:
        """A word of the stack below the top; NULL if there is none."""
        return &self._nodes[node].top if node >= 0 else NULL

    cdef void anchors(self, const void* state, uint64_t* values) noexcept nogil:
        cdef const EagerState* at = <const EagerState*> state
        cdef const StackWord* second = self._covered(at.below)
        cdef const StackWord* third = NULL
        cdef uint64_t head = 0
        if second != NULL:
            third = self._covered(self._nodes[at.below].below)
        values[QUEUE_ANCHOR] = <uint64_t> at.position
        values[TOP_ANCHOR] = number_of(at.top.word)
        values[SECOND_ANCHOR] = 0 if second == NULL else number_of(second.word)
        values[THIRD_ANCHOR] = 0 if third == NULL else number_of(third.word)
        if at.top.label >= 0:
            # The head lies below; only what has a head itself has one above it.
            head = mixed(
                mixed(0, number_of(at.top.label)),
                (number_of(second.word) << 32) | number_of(second.label),
            )
            if second.label >= 0:
                head = mixed(head, number_of(third.word))
        values[HEAD_ANCHOR] = head
        values[LEFT_ANCHOR] = mixed_children(0, &at.top.left)
        values[RIGHT_ANCHOR] = mixed_children(0, &at.top.right)
        values[NEXT_ANCHOR] = mixed_children(0, &at.left)

    cdef void find_nodes(self, const void* state, int32_t* rows) noexcept nogil:
        cdef const EagerState* at = <const EagerState*> state
        cdef const StackWord* second = self._covered(at.below)
        cdef const StackWord* third = NULL
        cdef int32_t top = at.top.word
        cdef int i
        if second != NULL:
            third = self._covered(self._nodes[at.below].below)
        rows[0] = row_of(top)
        rows[1] = NO_NODE if second == NULL else row_of(second.word)
        rows[2] = NO_NODE if third == NULL else row_of(third.word)
        rows[3] = row_of(at.position - 1) if at.position > 0 else PADDING
        rows[4] = row_of(at.position) if at.position < self._n else NO_NODE
        for i in range(1, 4):
            rows[4 + i] = row_of(at.position + i) if at.position + i < self._n else PADDING
        rows[8] = NO_NODE if top < 0 else row_of(top - 1) if top > 0 else PADDING
        rows[9] = NO_NODE if top < 0 else row_of(top + 1) if top + 1 < self._n else PADDING
        rows[10] = rows[1] if at.top.label >= 0 else NO_NODE
        rows[11] = rows[2] if at.top.label >= 0 and second.label >= 0 else NO_NODE
        rows[12] = row_of(at.top.left.outer)
        rows[13] = row_of(at.top.left.inner)
        rows[14] = row_of(at.top.right.outer)
        rows[15] = row_of(at.top.right.inner)
        rows[16] = row_of(at.left.outer)
        rows[17] = row_of(at.left.inner)
        rows[18] = NO_NODE if top < 0 else rows[10] if at.top.label >= 0 else rows[4]

    cdef void find_numbers(self, const void* state, uint64_t* numbers) noexcept nogil:
        cdef const EagerState* at = <const EagerState*> state
        cdef bint has_top = at.top.word >= 0
        cdef bint has_next = at.position < self._n
        cdef int32_t next_word = at.position if has_next else -1
        numbers[0] = number_of(at.top.label)
        numbers[1] = (
            number_of(self._covered(at.below).label) if at.top.label >= 0 else NULL_ATOM
        )
        numbers[2] = number_of(at.top.left.outer_label)
        numbers[3] = number_of(at.top.left.inner_label)
        numbers[4] = number_of(at.top.right.outer_label)
        numbers[5] = number_of(at.top.right.inner_label)
        numbers[6] = number_of(at.left.outer_label)
        numbers[7] = number_of(at.left.inner_label)
        numbers[8] = number_of(min(at.top.left.count, MOST_CHILDREN)) if has_top else NULL_ATOM
        numbers[9] = number_of(min(at.top.right.count, MOST_CHILDREN)) if has_top else NULL_ATOM
        numbers[10] = number_of(min(at.left.count, MOST_CHILDREN)) if has_next else NULL_ATOM
        # By 1 more: no labels are a set too. All 64 bits cannot be set beside an empty one.
        numbers[11] = at.top.left.labels + 1 if has_top else NULL_ATOM
        numbers[12] = at.top.right.labels + 1 if has_top else NULL_ATOM
        numbers[13] = at.left.labels + 1 if has_next else NULL_ATOM
        numbers[14] = distance(at.top.word, next_word)
        numbers[15] = distance(at.top.word, at.left.outer)
        numbers[16] = distance(at.top.right.outer, next_word)

    cdef Py_ssize_t multi_values(
        self, const void* state, int atom, const uint64_t** values
    ) noexcept nogil:
        cdef const EagerState* at = <const EagerState*> state
        return self.tags_between(at.top.word, at.position, values)
