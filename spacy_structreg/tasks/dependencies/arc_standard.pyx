"""Arc-standard dependency parsing as a transition system (Huang & Sagae 2010, section 2).

The words of a sentence move from a queue through a stack:

- SHIFT puts the next word on the stack;
- LEFT makes the second word of the stack a child of the top;
- RIGHT makes the top a child of the second word.

Every word is put on the stack once and all but one are taken off: 2n - 1 actions. The one that is
left is the root. Where heads are known, the top first gets all that is known to be below it on its
left, and then another word may be put on it. Features see the two topmost words with their
outermost children, the third, and the queue; states that agree in that, in the extent of the top
and in the words themselves can be merged, whatever lies below (section 3.1).
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint64_t
from libc.string cimport memset

from spacy_structreg.learn.memory cimport reserve
from spacy_structreg.search.transition_system cimport MAX_ATOMS_OF_TASK, AtomSet, add_atom
from spacy_structreg.tasks.dependencies.arcs cimport (
    ROOT,
    UNKNOWN,
    DependencyTransitions,
    check_arcs,
    distance,
)
from spacy_structreg.tasks.tagged_words cimport PADDING, number_of, row_of
from spacy_structreg.tasks.word_fields cimport WordFields, mixed

from spacy_structreg.tasks.tagged_words import atoms_of_nodes

cdef enum:
    SHIFT
    # By labels from here on: LEFT, then RIGHT.
    FIRST_ARC

cdef enum:
    QUEUE_ANCHOR     # the position of the next word
    TOP_ANCHOR       # the word on top of the stack
    SECOND_ANCHOR
    THIRD_ANCHOR
    TOP_CHILDREN_ANCHOR
    SECOND_CHILDREN_ANCHOR
    N_ANCHORS

_QUEUE = (<int> QUEUE_ANCHOR,)
_TOP = (<int> TOP_ANCHOR,)
_SECOND = (<int> SECOND_ANCHOR,)
_TOP_CHILDREN = (<int> TOP_ANCHOR, <int> TOP_CHILDREN_ANCHOR)
_SECOND_CHILDREN = (<int> SECOND_ANCHOR, <int> SECOND_CHILDREN_ANCHOR)

# In the order in which `find_nodes` writes them.
_NODES = {
    "S0": _TOP, "S1": _SECOND, "S2": (<int> THIRD_ANCHOR,),
    "N0": _QUEUE, "N1": _QUEUE, "N2": _QUEUE, "N3": _QUEUE,
    "S0l": _TOP_CHILDREN, "S0r": _TOP_CHILDREN, "S1l": _SECOND_CHILDREN, "S1r": _SECOND_CHILDREN,
}

# In the order in which `find_numbers` writes them.
_NUMBERS = {
    "S0llabel": _TOP_CHILDREN, "S0rlabel": _TOP_CHILDREN,
    "S1llabel": _SECOND_CHILDREN, "S1rlabel": _SECOND_CHILDREN,
    "dist(S1,S0)": (*_TOP, *_SECOND),
}

ARC_STANDARD_ATOMS = (*atoms_of_nodes(_NODES), *_NUMBERS)
"""The names of all atoms that templates of arc-standard parsing may read.

Beyond those of `tasks.dependencies.arcs`: ``dist(S1,S0)``, the distance of the two topmost words of
the stack, 6 for 6 to 10 and 7 for more. The queue begins with `N0`."""

ARC_STANDARD_EVENTS = ("action",)
"""The names of the events on which they fire: ``action``, always."""


cdef inline void no_subtree(Subtree* subtree) noexcept nogil:
    memset(subtree, 0, sizeof(Subtree))
    subtree.word = -1
    subtree.left = -1
    subtree.right = -1
    subtree.left_label = -1
    subtree.right_label = -1


cdef inline uint64_t children_of(const Subtree* subtree) noexcept nogil:
    """Encode the children of a word that templates read as one number."""
    return mixed(
        mixed(0, ((<uint64_t> (subtree.left + 1)) << 32) | <uint64_t> (subtree.right + 1)),
        ((<uint64_t> (subtree.left_label + 1)) << 16) | <uint64_t> (subtree.right_label + 1),
    )


cdef class ArcStandard(DependencyTransitions):
    """Arc-standard parsing with labels.

    words: the fields of words. n_labels: of arcs, from 1 to 10,000; 1 for parsing without labels.
    atoms: those of `ARC_STANDARD_ATOMS` that templates read. events: ``("action",)``.
    Raises ValueError for atoms or events that do not exist.
    """

    def __init__(self, WordFields words not None, int n_labels, atoms, events=("action",)):
        self.describe(words, n_labels, events, ARC_STANDARD_EVENTS)
        self.first_pop = FIRST_ARC
        self.state_size = sizeof(StandardState)
        self.n_anchors = N_ANCHORS
        # What is seen of the children of the second word belongs to the signatures of states in
        # which that word is still the top.
        atoms = list(atoms)
        atoms += [
            name.replace("S1", "S0") for name in atoms if "S1l" in name or "S1r" in name
        ]
        self.declare(atoms, _NODES, _NUMBERS, ())
        self._n_atoms = len(self.atoms)
        reserve(&self.buffers, self._seen, self._n_atoms)
        memset(&self._all_atoms, 0, sizeof(AtomSet))
        for i in range(min(self._n_atoms, MAX_ATOMS_OF_TASK)):
            add_atom(&self._all_atoms, i)
        n_actions = <int> FIRST_ARC + 2 * n_labels
        self.events = {"action": n_actions}
        self.fire_events([[("action", action)] for action in range(n_actions)])
        if not any(name.endswith("label") for name in self.atoms):
            self.sort_actions([0, *[1] * n_labels, *[2] * n_labels])

    def oracle(self, heads, labels):
        """The actions that build a tree, arcs as early as may be.

        heads: of each word the number of its head; -1 for the root. labels: of their arcs, as
        numbers; that of the root is not looked at. Raises ValueError if it is no projective tree
        with one root, or a label does not exist.
        """
        n = len(heads)
        check_arcs(heads, labels, n, self.n_labels)
        actions = []
        stack = []
        pending = [0] * n
        for head in heads:
            if head >= 0:
                pending[head] += 1
        position = 0
        while len(actions) < 2 * n - 1:
            top = stack[len(stack) - 1] if stack else -1
            second = stack[len(stack) - 2] if len(stack) > 1 else -1
            if second >= 0 and heads[second] == top and pending[second] == 0:
                actions.append(<int> FIRST_ARC + labels[second])
                del stack[len(stack) - 2]
                pending[top] -= 1
            elif second >= 0 and heads[top] == second and pending[top] == 0:
                actions.append(<int> FIRST_ARC + self.n_labels + labels[top])
                del stack[len(stack) - 1]
                pending[second] -= 1
            elif position < n:
                actions.append(<int> SHIFT)
                stack.append(position)
                position += 1
            else:
                break
        # The last word may be its own head yet.
        if len(actions) != 2 * n - 1 or heads[stack[0]] != ROOT:
            raise ValueError("the heads must form a projective tree with one root")
        return actions

    # The sentence ------------------------------------------------------------------------------

    cdef int reserve_states(self, Py_ssize_t n) except -1 nogil:
        reserve(&self.buffers, self._nodes, self._n_nodes + n)
        return 0

    # States ------------------------------------------------------------------------------------

    cdef void init(self, void* state) noexcept nogil:
        cdef StandardState* first = <StandardState*> state
        cdef int i
        for i in range(N_VISIBLE):
            no_subtree(&first.stack[i])
        first.position = 0
        first.step = 0
        first.below = -1

    cdef bint is_final(self, const void* state) noexcept nogil:
        return (<const StandardState*> state).step == self.n_steps()

    cdef void legal(self, const void* state, uint8_t* mask) noexcept nogil:
        cdef const StandardState* at = <const StandardState*> state
        cdef const Subtree* top = &at.stack[0]
        cdef const Subtree* second = &at.stack[1]
        cdef bint shifts = at.position < self._n
        cdef bint lefts = second.word >= 0
        cdef bint rights = lefts
        if self._heads != NULL and top.word >= 0:
            # What is known to be below the top on its left comes first, as it may always do.
            if self._firsts[top.word] < top.begin:
                shifts = False
                rights = False
            shifts = (
                shifts and at.position < self._ends[top.word] and not 0 < top.end <= at.position
            )
            lefts = (
                lefts and self._lasts[second.word] < top.begin
                and self._may_get_head(second.word, top.word)
            )
            rights = (
                rights and self._lasts[top.word] < at.position
                and self._may_get_head(top.word, second.word)
            )
        mask[SHIFT] = shifts
        if lefts:
            self.allow_labels(mask + FIRST_ARC, second.word)
        if rights:
            self.allow_labels(mask + FIRST_ARC + self.n_labels, top.word)

    cdef bint _may_get_head(self, int32_t word, int32_t head) noexcept nogil:
        """Return True if the known heads allow a word to have a head."""
        return self._heads[word] == UNKNOWN or self._heads[word] == head

    cdef void _shift(
        self, const StandardState* state, StandardState* after, bint keep
    ) noexcept nogil:
        cdef int i
        after.position = state.position + 1
        after.step = state.step + 1
        after.below = -1
        if keep and state.stack[N_VISIBLE - 1].word >= 0:
            after.below = <int32_t> self._n_nodes
            self._nodes[self._n_nodes] = StandardNode(state.stack[N_VISIBLE - 1], state.below)
            self._n_nodes += 1
        for i in range(N_VISIBLE - 1):
            after.stack[i + 1] = state.stack[i]
        no_subtree(&after.stack[0])
        after.stack[0].word = state.position
        after.stack[0].begin = state.position
        if self._heads != NULL and state.stack[0].word >= 0:
            after.stack[0].end = self._ends[state.stack[0].word]
            if state.stack[0].end:
                after.stack[0].end = min(after.stack[0].end, state.stack[0].end)

    cdef void _attach(
        self, int action, const Subtree* second, const Subtree* top, Subtree* after
    ) noexcept nogil:
        """Write the joined two topmost words of the stack."""
        if action < FIRST_ARC + self.n_labels:
            after[0] = top[0]
            # Children to the left are found from the inside outwards.
            after.left = second.word
            after.left_label = <int16_t> (action - FIRST_ARC)
        else:
            after[0] = second[0]
            after.right = top.word
            after.right_label = <int16_t> (action - FIRST_ARC - self.n_labels)
        after.begin = second.begin

    cdef void apply(self, const void* state, int action, void* after) noexcept nogil:
        cdef const StandardState* at = <const StandardState*> state
        cdef StandardState* target = <StandardState*> after
        cdef int i
        if action == SHIFT:
            self._shift(at, target, True)
            return
        self._attach(action, &at.stack[1], &at.stack[0], &target.stack[0])
        for i in range(1, N_VISIBLE - 1):
            target.stack[i] = at.stack[i + 1]
        target.position = at.position
        target.step = at.step + 1
        if at.below >= 0:
            target.stack[N_VISIBLE - 1] = self._nodes[at.below].top
            target.below = self._nodes[at.below].below
        else:
            no_subtree(&target.stack[N_VISIBLE - 1])
            target.below = -1

    cdef uint64_t apply_on(
        self, const void* state, int action, const void* below, void* after
    ) noexcept nogil:
        cdef const StandardState* at = <const StandardState*> state
        cdef const StandardState* second = <const StandardState*> below
        cdef StandardState* target = <StandardState*> after
        target[0] = second[0]
        self._attach(action, &second.stack[0], &at.stack[0], &target.stack[0])
        target.position = at.position
        target.step = at.step + 1
        return self._signature_of(target)

    cdef uint64_t signature(self, const void* state, int action) noexcept nogil:
        cdef StandardState after
        if action == SHIFT:
            self._shift(<const StandardState*> state, &after, False)
        else:
            self.apply(state, action, &after)
        return self._signature_of(&after)

    cdef uint64_t _signature_of(self, const StandardState* state) noexcept nogil:
        """Signature of a state: the words that may get arcs, and the extent of the top."""
        cdef uint64_t found = mixed(
            mixed(0, (<uint64_t> state.position << 32) | <uint64_t> state.step),
            <uint64_t> (state.stack[0].begin + 1),
        )
        cdef Py_ssize_t i
        for i in range(N_VISIBLE):
            found = mixed(
                found, (number_of(state.stack[i].word) << 32) | <uint64_t> state.stack[i].end
            )
        self.fill_atoms(state, &self._all_atoms, self._seen)
        for i in range(self._n_atoms):
            found = mixed(found, self._seen[i])
        return found

    cdef void build(
        self, const int32_t* actions, Py_ssize_t n, int32_t* heads, int32_t* labels
    ) noexcept nogil:
        # As long as a word is on the stack, its place holds the word below: -3 for none, -4 for
        # the first word, and so on.
        cdef int32_t top = -1
        cdef int32_t second
        cdef int32_t next_word = 0
        cdef Py_ssize_t i
        cdef int action
        for i in range(n):
            action = actions[i]
            if action == SHIFT:
                heads[next_word] = -4 - top
                labels[next_word] = ROOT
                top = next_word
                next_word += 1
                continue
            second = -4 - heads[top]
            if action < FIRST_ARC + self.n_labels:
                heads[top] = heads[second]
                heads[second] = top
                labels[second] = action - FIRST_ARC
            else:
                heads[top] = second
                labels[top] = action - FIRST_ARC - self.n_labels
                top = second
        heads[top] = ROOT

    # Features ----------------------------------------------------------------------------------

    cdef void anchors(self, const void* state, uint64_t* values) noexcept nogil:
        cdef const StandardState* at = <const StandardState*> state
        values[QUEUE_ANCHOR] = <uint64_t> at.position
        values[TOP_ANCHOR] = number_of(at.stack[0].word)
        values[SECOND_ANCHOR] = number_of(at.stack[1].word)
        values[THIRD_ANCHOR] = number_of(at.stack[2].word)
        values[TOP_CHILDREN_ANCHOR] = children_of(&at.stack[0])
        values[SECOND_CHILDREN_ANCHOR] = children_of(&at.stack[1])

    cdef void find_nodes(self, const void* state, int32_t* rows) noexcept nogil:
        cdef const StandardState* at = <const StandardState*> state
        cdef int i
        for i in range(N_VISIBLE):
            rows[i] = row_of(at.stack[i].word)
        for i in range(4):
            rows[3 + i] = row_of(at.position + i) if at.position + i < self._n else PADDING
        for i in range(2):
            rows[7 + 2 * i] = row_of(at.stack[i].left)
            rows[8 + 2 * i] = row_of(at.stack[i].right)

    cdef void find_numbers(self, const void* state, uint64_t* numbers) noexcept nogil:
        cdef const StandardState* at = <const StandardState*> state
        cdef int i
        for i in range(2):
            numbers[2 * i] = number_of(at.stack[i].left_label)
            numbers[2 * i + 1] = number_of(at.stack[i].right_label)
        numbers[4] = distance(at.stack[1].word, at.stack[0].word)
