"""Scores of the actions of a state: templates, the weight rows of their features, and a memo.

Templates that depend on the same anchors of a state form a group. The memo maps a group and the
values of its anchors to the scores of the group, so that states of the agenda that differ in
little cost little. It is good for one sentence and one set of weights.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from spacy_structreg.learn.memory cimport reserve
from spacy_structreg.learn.murmur cimport murmur_hash_64a
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.learn.rows cimport Rows, TrainingRows
from spacy_structreg.search.transition_system cimport (
    MAX_ANCHORS,
    MAX_ATOMS_OF_TASK,
    MAX_EVENTS_OF_ACTION,
    NULL_ATOM,
    Raised,
    TransitionSystem,
)

from spacy_structreg.features.state_templates import MAX_STATE_ATOMS, group_templates
from spacy_structreg.learn.murmur import hash_string
from spacy_structreg.learn.settings import Learning

assert MAX_STATE_ATOMS == MAX_ATOMS_OF_STATE_TEMPLATE


cdef class StateScorer:
    """Scores actions by templates and weight rows. It holds working memory: one in each thread.

    system: the task. templates: `StateTemplate`s over its events and atoms.
    tables: the `Rows` of each event of the system, in its order. memo: whether to keep the scores
        of groups; it changes no score by a bit.
    Raises ValueError if they do not fit each other.
    """

    def __init__(self, TransitionSystem system not None, templates, tables, bint memo=True):
        cdef GroupSpec* group
        cdef StateTemplateSpec* spec
        cdef int i
        cdef int n = 0
        self.system = system
        self.tables = tuple(tables)
        self.memo = memo
        self.n_events = len(system.events)
        names = list(system.events)
        by_event = group_templates(templates, dict(zip(system.atoms, system.atom_anchors)))
        self.groups = tuple(sorted(by_event, key=lambda group: names.index(group.event)))
        if len(system.atoms) > MAX_ATOMS_OF_TASK or system.n_anchors > MAX_ANCHORS:
            raise ValueError("the task has too many atoms or anchors")
        if [table.n_columns for table in self.tables] != list(system.events.values()):
            raise ValueError("the weight rows of the model do not fit the events of its task")
        self._free_all()
        self._tables = <void**> calloc(max(1, self.n_events), sizeof(void*))
        self._widths = <int*> calloc(self.n_events + 1, sizeof(int))
        self._offsets = <int*> calloc(self.n_events + 1, sizeof(int))
        self._event_scores = <double*> calloc(
            max(1, sum(system.events.values())), sizeof(double)
        )
        self._groups = <GroupSpec*> calloc(max(1, len(self.groups)), sizeof(GroupSpec))
        self._specs = <StateTemplateSpec*> calloc(
            max(1, sum([len(members.templates) for members in self.groups])), sizeof(StateTemplateSpec)
        )
        self._first_group = <int*> calloc(self.n_events + 2, sizeof(int))
        if (
            self._tables == NULL or self._widths == NULL or self._offsets == NULL
            or self._event_scores == NULL or self._groups == NULL or self._specs == NULL
            or self._first_group == NULL
        ):
            raise MemoryError("no memory for a scorer")
        for i, table in enumerate(self.tables):
            self._tables[i] = <void*> (<Rows?> table)
            self._widths[i] = table.n_columns
            self._offsets[i + 1] = self._offsets[i] + self._widths[i]
        for i, members in enumerate(self.groups):
            group = &self._groups[i]
            group.event = names.index(members.event)
            group.n_anchors = len(members.anchors)
            for a, anchor in enumerate(members.anchors):
                group.anchors[a] = anchor
            group.first = n
            for template in members.templates:
                spec = &self._specs[n]
                spec.seed = hash_string(str(template))
                spec.n_atoms = len(template.atoms)
                spec.many = -1
                for a, atom in enumerate(template.atoms):
                    spec.atoms[a] = system.atoms.index(atom)
                    if atom in system.many_valued:
                        if spec.many >= 0:
                            raise ValueError(f"feature template '{template}' has two atoms that "
                                             "may have many values; one is the limit")
                        spec.many = a
                    else:
                        group.wanted |= <uint64_t> 1 << spec.atoms[a]
                n += 1
            group.last = n
            self._first_group[group.event + 1] = i + 1
        for i in range(self.n_events):
            self._first_group[i + 1] = max(self._first_group[i], self._first_group[i + 1])
        self._memory_slots = 1024
        self._memories = <Memory*> calloc(self._memory_slots, sizeof(Memory))
        if self._memories == NULL:
            raise MemoryError("no memory for a scorer")
        self._age = 1

    def _free_all(self):
        free(self._tables)
        free(self._widths)
        free(self._offsets)
        free(self._event_scores)
        free(self._groups)
        free(self._specs)
        free(self._first_group)
        free(self._memories)
        self._tables = NULL
        self._widths = NULL
        self._offsets = NULL
        self._event_scores = NULL
        self._groups = NULL
        self._specs = NULL
        self._first_group = NULL
        self._memories = NULL

    def __dealloc__(self):
        free(self._tables)
        free(self._widths)
        free(self._offsets)
        free(self._event_scores)
        free(self._groups)
        free(self._specs)
        free(self._first_group)
        free(self._memories)
        free(self._vectors)
        free(self._keys)
        free(self._rows)

    cdef void forget(self) noexcept nogil:
        """Empty the memo: the sentence or the weights are no longer the same."""
        self._age += 1
        self._n_memories = 0
        self._n_vector_cells = 0

    cdef int score(
        self, const void* state, const uint8_t* mask, double* scores
    ) except -1 nogil:
        """Write the scores of the actions whose flag in `mask` is set."""
        cdef const Raised* raised
        cdef double* event_scores
        cdef uint64_t done = 0
        cdef double total
        cdef int action
        cdef int g
        cdef int i
        cdef int e
        self._filled = 0
        self.system.anchors(state, self._anchors)
        for action in range(self.system.n_actions):
            if not mask[action]:
                continue
            total = 0.0
            for i in range(self.system.n_raised[action]):
                raised = &self.system.raised[action * MAX_EVENTS_OF_ACTION + i]
                e = raised.event
                event_scores = self._event_scores + self._offsets[e]
                if not done >> e & 1:
                    done |= <uint64_t> 1 << e
                    memset(event_scores, 0, self._widths[e] * sizeof(double))
                    for g in range(self._first_group[e], self._first_group[e + 1]):
                        self._add_group(state, &self._groups[g], event_scores)
                total += event_scores[raised.column]
            scores[action] = total
        return 0

    cdef int _add_group(
        self, const void* state, GroupSpec* group, double* scores
    ) except -1 nogil:
        """Add the scores of one group, remembered or computed, to those of its event."""
        cdef int width = self._widths[group.event]
        cdef uint64_t signature
        cdef Memory* memory
        cdef double* vector
        cdef Py_ssize_t base
        cdef int i
        if not self.memo:
            # Added up apart, so that the order of additions is that of the memo.
            reserve(<void**> &self._vectors, &self._vector_capacity, width, sizeof(double))
            vector = self._vectors
            memset(vector, 0, width * sizeof(double))
            self._score_group(state, group, vector)
        else:
            # Mixed before the first anchor comes in: they are small numbers both.
            signature = (<uint64_t> (group - self._groups) + 1) * (
                <uint64_t> 0x94D049BB133111EBULL
            )
            for i in range(group.n_anchors):
                signature = (signature ^ self._anchors[group.anchors[i]]) * (
                    <uint64_t> 0x9E3779B97F4A7C15ULL
                )
                signature ^= signature >> 29
            signature *= <uint64_t> 0xBF58476D1CE4E5B9ULL
            signature ^= signature >> 32
            memory = self._recall(signature)
            if memory.age != self._age:
                if self._n_memories * 2 >= self._memory_slots:
                    self._grow_memories()
                    memory = self._recall(signature)
                base = self._n_vector_cells
                reserve(
                    <void**> &self._vectors, &self._vector_capacity, base + width, sizeof(double)
                )
                self._n_vector_cells += width
                self._n_memories += 1
                memory.age = self._age
                memory.signature = signature
                memory.vector = base
                memset(self._vectors + base, 0, width * sizeof(double))
                self._score_group(state, group, self._vectors + base)
            vector = self._vectors + memory.vector
        for i in range(width):
            scores[i] += vector[i]
        return 0

    cdef Memory* _recall(self, uint64_t signature) noexcept nogil:
        """The memory of a signature, or the empty place where it belongs."""
        cdef Py_ssize_t place = <Py_ssize_t> (signature & <uint64_t> (self._memory_slots - 1))
        while (
            self._memories[place].age == self._age
            and self._memories[place].signature != signature
        ):
            place = (place + 1) & (self._memory_slots - 1)
        return &self._memories[place]

    cdef int _grow_memories(self) except -1 nogil:
        """Double the memo; all that it holds stays."""
        cdef Memory* before = self._memories
        cdef Py_ssize_t n = self._memory_slots
        cdef Py_ssize_t i
        cdef Memory* grown = <Memory*> calloc(2 * n, sizeof(Memory))
        if grown == NULL:
            with gil:
                raise MemoryError(f"no memory for a memo of {2 * n:,} entries")
        self._memories = grown
        self._memory_slots = 2 * n
        for i in range(n):
            if before[i].age == self._age:
                self._recall(before[i].signature)[0] = before[i]
        free(before)
        return 0

    cdef int _score_group(
        self, const void* state, GroupSpec* group, double* scores
    ) except -1 nogil:
        """Look up the features of a group and add their rows to `scores`."""
        cdef void* table = self._tables[group.event]
        self.collect(state, group)
        if self._n_keys == 0:
            return 0
        (<Rows> table).find_run(self._keys, self._n_keys, self._rows)
        if self.training:
            (<TrainingRows> table).touch_run(self._rows, self._n_keys, self.time)
            if self.threshold:
                (<TrainingRows> table).add_run_thinned(
                    self._rows, self._n_keys, 0, scores, self.draw_of(group.event), self.threshold
                )
                return 0
        (<Rows> table).add_run(self._rows, self._n_keys, 0, scores)
        return 0

    cdef int collect(self, const void* state, const GroupSpec* group) except -1 nogil:
        """Write the keys of the features that a group has in a state: `_n_keys` of them."""
        cdef uint64_t missing = group.wanted & ~self._filled
        cdef StateTemplateSpec* spec
        cdef uint64_t ngram[MAX_ATOMS_OF_STATE_TEMPLATE + 1]
        cdef const uint64_t* values
        cdef Py_ssize_t n_values
        cdef Py_ssize_t v
        cdef bint silent
        cdef int a
        cdef int t
        if missing:
            self.system.fill_atoms(state, missing, self._values)
            self._filled |= missing
        self._n_keys = 0
        for t in range(group.first, group.last):
            spec = &self._specs[t]
            ngram[0] = spec.seed
            silent = False
            for a in range(spec.n_atoms):
                if a == spec.many:
                    continue
                ngram[a + 1] = self._values[spec.atoms[a]]
                if ngram[a + 1] == NULL_ATOM:
                    silent = True
                    break
            if silent:
                continue
            values = NULL
            n_values = 1
            if spec.many >= 0:
                n_values = self.system.many(state, spec.atoms[spec.many], &values)
            reserve(
                <void**> &self._keys, &self._key_capacity, self._n_keys + n_values,
                sizeof(uint64_t),
            )
            reserve(
                <void**> &self._rows, &self._row_capacity, self._n_keys + n_values,
                sizeof(int32_t),
            )
            for v in range(n_values):
                if spec.many >= 0:
                    if values[v] == NULL_ATOM:
                        continue
                    ngram[spec.many + 1] = values[v]
                self._keys[self._n_keys] = murmur_hash_64a(
                    ngram, (spec.n_atoms + 1) * sizeof(uint64_t), 1
                )
                self._n_keys += 1
        return 0

    cdef uint64_t draw_of(self, int table) noexcept nogil:
        """The draw of an example for one table, so that tables drop weights independently."""
        return self.draw ^ <uint64_t> (table + 1) * <uint64_t> 0x9E3779B97F4A7C15ULL


def new_learner(TransitionSystem system not None, settings=None):
    """A `Perceptron` with an empty table for each event of a task. settings: a `Learning`."""
    settings = Learning() if settings is None else settings
    return Perceptron(
        [TrainingRows(width, **settings.penalties) for width in system.events.values()], settings
    )
