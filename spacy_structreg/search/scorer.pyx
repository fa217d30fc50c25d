"""Scores of the actions of a state: templates, the weight rows of their features, and a memo.

Templates that depend on the same anchors of a state form a group. The memo maps a group and the
values of its anchors to the scores of the group, so that states of the agenda that differ in
little cost little. It is good for one sentence and one set of weights. Groups that follow from
the place of a state in the sentence come first, and are remembered as one. Larger groups whose
anchors mean the same everywhere, such as the current word, are cached beyond the sentence as
far as there is room, if the weights are those of a trained model, which never change.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from spacy_structreg.learn.changes cimport Changes
from spacy_structreg.learn.memory cimport BufferOwner, reserve, reserve_zeros
from spacy_structreg.learn.murmur cimport murmur_begin, murmur_end, murmur_mix, murmur_take
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.learn.rows cimport (
    STRUCTREG_PREFETCH,
    FeatureCounts,
    Rows,
    TrainedRows,
    TrainingRows,
    draw_of_table,
    is_dropped,
    spread,
)
from spacy_structreg.search.transition_system cimport (
    MAX_ANCHORS,
    MAX_ATOMS_OF_TASK,
    MAX_EVENTS,
    NULL_ATOM,
    WORDS_OF_ATOM_SET,
    AtomSet,
    FiredEvent,
    TransitionSystem,
    add_atom,
)

from spacy_structreg.features.state_templates import MAX_STATE_ATOMS, for_events, group_templates
from spacy_structreg.learn.murmur import hash_string
from spacy_structreg.learn.learning_settings import Learning

cdef enum:
    # Groups of fewer templates are not cached beyond the sentence.
    LEAST_CACHED = 4
    CACHE_BYTES = 0x1000000
    # So many rows are remembered: what fits the cache of a core.
    FOUND_ROWS = 0x4000
    # When the memo holds so many scores of a sentence, it begins anew.
    MOST_CELLS = 0x400000
    NOWHERE = -1
    # In place of a column: an action does not fire the event, or more than once.
    NO_COLUMN = -1
    COLUMNS = -2

assert MAX_STATE_ATOMS == MAX_ATOMS_OF_STATE_TEMPLATE


cdef inline void add_vectors(
    double* scores, const double* const* vectors, int n, int width
) noexcept nogil:
    """Add vectors to scores, in their order; four sums at a time stay in registers."""
    cdef double first
    cdef double second
    cdef double third
    cdef double fourth
    cdef const double* vector
    cdef int i = 0
    cdef int k
    if n == 0:
        return
    while i + 4 <= width:
        first = scores[i]
        second = scores[i + 1]
        third = scores[i + 2]
        fourth = scores[i + 3]
        for k in range(n):
            vector = vectors[k] + i
            first += vector[0]
            second += vector[1]
            third += vector[2]
            fourth += vector[3]
        scores[i] = first
        scores[i + 1] = second
        scores[i + 2] = third
        scores[i + 3] = fourth
        i += 4
    while i < width:
        for k in range(n):
            scores[i] += vectors[k][i]
        i += 1


@cython.final
cdef class StateScorer(BufferOwner):
    """Scores actions by templates and weight rows. It holds working memory: one in each thread.

    system: the task. templates: `StateTemplate`s over its events and atoms.
    tables: the `Rows` of each table of the system, in its order. memo: whether to keep the scores
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
        templates = for_events(templates, system.variants)
        for template in templates:
            if (
                template.event not in names or not set(template.atoms) <= set(system.atoms)
                or not 1 <= len(template.atoms) <= MAX_STATE_ATOMS
            ):
                raise ValueError(f"feature template '{template}' does not fit the task")
        by_event = group_templates(
            templates, dict(zip(system.atoms, system.atom_anchors)), system.position_anchors
        )
        place = set(system.position_anchors)

        def is_cached(group):
            # One row is read as fast as a vector that is remembered.
            return (
                set(group.anchors) <= set(system.global_anchors)
                and len(group.templates) >= LEAST_CACHED
            )

        def rank(group):
            of_place = bool(place) and set(group.anchors) <= place
            return names.index(group.event), not of_place, of_place and is_cached(group)

        self.groups = tuple(sorted(by_event, key=rank))
        if (
            len(system.atoms) > MAX_ATOMS_OF_TASK or system.n_anchors > MAX_ANCHORS
            or self.n_events > MAX_EVENTS
        ):
            raise ValueError("the task has too many atoms, anchors or events")
        if [table.n_columns for table in self.tables] != list(system.tables.values()):
            raise ValueError("the weight rows of the model do not fit the events of its task")
        self._cache_slots = 0
        self._cache_width = 0
        reserve_zeros(&self.buffers, self._tables, self.n_events)
        reserve_zeros(&self.buffers, self._table_numbers, self.n_events + 1)
        reserve_zeros(&self.buffers, self._widths, self.n_events + 1)
        reserve_zeros(&self.buffers, self._offsets, self.n_events + 1)
        reserve_zeros(&self.buffers, self._event_scores, <Py_ssize_t> sum(system.events.values()))
        reserve_zeros(&self.buffers, self._groups, len(self.groups) + self.n_events + 1)
        reserve_zeros(&self.buffers, self._specs, len(templates))
        self._n_groups = len(self.groups)
        reserve(&self.buffers, self._addends, self._n_groups + 1)
        reserve_zeros(&self.buffers, self._first_group, self.n_events + 2)
        reserve_zeros(&self.buffers, self._n_positional, self.n_events + 1)
        reserve_zeros(&self.buffers, self._events, system.n_actions)
        reserve(&self.buffers, self._columns, system.n_actions * self.n_events)
        for i in range(system.n_actions * self.n_events):
            self._columns[i] = NO_COLUMN
        reserve_zeros(&self.buffers, self._group_anchors, len(self.groups) + 1)
        for i, number in enumerate(system.event_tables):
            table = self.tables[number]
            self._tables[i] = <void*> (<Rows?> table)
            self._table_numbers[i] = number
            self._widths[i] = table.n_columns
            self._offsets[i + 1] = self._offsets[i] + self._widths[i]
        for i, members in enumerate(self.groups):
            group = &self._groups[i]
            group.event = names.index(members.event)
            group.n_anchors = len(members.anchors)
            for a, anchor in enumerate(members.anchors):
                group.anchors[a] = anchor
                self._group_anchors[i] |= <uint64_t> 1 << <int> anchor
            group.first = n
            for template in members.templates:
                spec = &self._specs[n]
                spec.n_atoms = len(template.atoms)
                # Of the hash of the template and its atoms, one word each.
                spec.seed = murmur_take(
                    murmur_begin(spec.n_atoms + 1, 1), murmur_mix(hash_string(str(template)))
                )
                spec.multi = -1
                for a, atom in enumerate(template.atoms):
                    spec.atoms[a] = system.atoms.index(atom)
                    if atom in system.multi_valued:
                        if spec.multi >= 0:
                            raise ValueError(f"feature template '{template}' has two atoms that "
                                             "may have many values; one is the limit")
                        spec.multi = a
                    else:
                        add_atom(&group.wanted, spec.atoms[a])
                        add_atom(&self._wanted, spec.atoms[a])
                n += 1
            group.last = n
            group.is_cached = is_cached(members)
            group.recurs = group.is_cached or (group.n_anchors == 1 and n - group.first > 1)
            if group.is_cached:
                self._cache_width = max(self._cache_width, self._widths[group.event])
            if place and set(members.anchors) <= place:
                self._n_positional[group.event] += 1
            self._first_group[group.event + 1] = i + 1
        for i in range(self.n_events if place else 0):
            # What the groups of a place together depend on.
            group = &self._groups[self._n_groups + i]
            group.event = i
            group.n_anchors = 1
            group.anchors[0] = system.position_anchors[0]
        for i in range(self.n_events):
            self._first_group[i + 1] = max(self._first_group[i], self._first_group[i + 1])
        if system.n_actions:
            reserve(&self.buffers, self._fired_scores, system.first_fired[system.n_actions])
        for action in range(system.n_actions):
            for i in range(system.first_fired[action], system.first_fired[action + 1]):
                event = system.fired[i].event
                self._events[action] |= <uint64_t> 1 << <int> event
                cell = action * self.n_events + event
                self._columns[cell] = (
                    system.fired[i].column if self._columns[cell] == NO_COLUMN else COLUMNS
                )
                self._fired_scores[i] = self._offsets[event] + system.fired[i].column
        self._trained = all([isinstance(table, TrainedRows) for table in self.tables])
        self._caches = memo and self._cache_width > 0 and self._trained
        if self._trained:
            reserve_zeros(&self.buffers, self._found, FOUND_ROWS)
        self._plain = self.n_events == 1 and self._widths[0] == system.n_actions and all([
            system.first_fired[action + 1] == system.first_fired[action] or (
                system.first_fired[action + 1] == system.first_fired[action] + 1
                and system.fired[system.first_fired[action]].column == action
            )
            for action in range(system.n_actions)
        ])
        self._memo_slots = 1024
        reserve_zeros(&self.buffers, self._entries, self._memo_slots)
        self._age = 1

    def __reduce__(self):
        templates = [template for group in self.groups for template in group.templates]
        return StateScorer, (self.system, templates, self.tables, self.memo)

    cdef void clear_memo(self) noexcept nogil:
        """Clear the memo, as after a change of sentence or weights."""
        self._age += 1
        self._n_entries = 0
        self._n_vector_cells = 0

    cdef int score(
        self, const void* states, Py_ssize_t n, const uint8_t* masks, double* scores
    ) except -1 nogil:
        """Write the scores of the actions of `n` states whose flags in `masks` are set, and that of
        the ranking action, as far as its events are among theirs.

        The states lie side by side; masks and scores have a row of all actions for each. States
        that are scored together wait for memory together.
        """
        cdef const uint8_t* mask = masks
        cdef const int* first_fired = self.system.first_fired
        cdef const int* fired_scores = self._fired_scores
        cdef const int64_t* places
        cdef double* event_scores
        cdef double total
        cdef Py_ssize_t s
        cdef int n_vectors
        cdef int n_actions = self.system.n_actions
        cdef int action
        cdef int width
        cdef int g
        cdef int i
        cdef int e
        self._fill_memo(states, n, masks, False)
        places = self._places
        for s in range(n):
            if self._plain and not self._fired[s]:
                memset(scores, 0, n_actions * sizeof(double))
            for e in range(self.n_events):
                if not self._fired[s] >> e & 1:
                    continue
                width = self._widths[e]
                event_scores = scores if self._plain else self._event_scores + self._offsets[e]
                memset(event_scores, 0, width * sizeof(double))
                n_vectors = 0
                g = self._first_group[e]
                while g < self._first_group[e + 1]:
                    if places[g] >= 0:
                        self._addends[n_vectors] = self._vectors + places[g]
                        n_vectors += 1
                    # All that follows from the place stands together in the first.
                    g += (
                        max(1, self._n_positional[e]) if g == self._first_group[e] else 1
                    )
                add_vectors(event_scores, self._addends, n_vectors, width)
            if not self._plain:
                event_scores = self._event_scores
                for action in range(n_actions):
                    if not mask[action]:
                        continue
                    total = 0.0
                    for i in range(first_fired[action], first_fired[action + 1]):
                        total += event_scores[fired_scores[i]]
                    scores[action] = total
                action = self.system.slots.ranking_action
                if action >= 0:
                    total = 0.0
                    for i in range(first_fired[action], first_fired[action + 1]):
                        total += event_scores[fired_scores[i]]
                    scores[action] = total
            places += self._n_groups
            scores += n_actions
            mask += n_actions
        return 0

    cdef int score_apart(
        self, const void* states, Py_ssize_t n, const uint8_t* masks, double* scores
    ) except -1 nogil:
        """As `score`, but for a number that is added to all scores of all states.

        What all legal actions of all states have in common is not even looked up.
        """
        self._is_apart = self.memo
        try:
            self.score(states, n, masks, scores)
        finally:
            self._is_apart = False
        return 0

    cdef void _find_shared(self, Py_ssize_t n, const uint8_t* masks) noexcept nogil:
        """Set `_shared_events` and `_shared_anchors`, which all states share."""
        cdef const int* columns = NULL
        cdef const int* others
        cdef Py_ssize_t s
        cdef int n_anchors = self.system.n_anchors
        cdef int action
        cdef int a
        cdef int e
        self._shared_events = ~<uint64_t> 0
        self._shared_anchors = ~<uint64_t> 0
        for s in range(n):
            for a in range(n_anchors):
                if self._anchors[s * n_anchors + a] != self._anchors[a]:
                    self._shared_anchors &= ~(<uint64_t> 1 << a)
            for action in range(self.system.n_actions):
                if not masks[action]:
                    continue
                others = self._columns + action * self.n_events
                columns = others if columns == NULL else columns
                for e in range(self.n_events):
                    if others[e] != columns[e] or others[e] == COLUMNS:
                        self._shared_events &= ~(<uint64_t> 1 << e)
            masks += self.system.n_actions

    cdef int prefill_memo(
        self, const void* states, Py_ssize_t n, const uint8_t* masks
    ) except -1 nogil:
        """Compute in advance the vectors that depend on the positions of `n` states."""
        return self._fill_memo(states, n, masks, True)

    cdef int _fill_memo(
        self, const void* states, Py_ssize_t n, const uint8_t* masks, bint places_only
    ) except -1 nogil:
        """Compute or look up the vectors of `n` states."""
        cdef const char* state = <const char*> states
        cdef uint64_t events
        cdef uint64_t met = 0
        cdef uint64_t differing
        cdef Py_ssize_t s
        cdef int n_actions = self.system.n_actions
        cdef int action
        cdef int e
        cdef int g
        reserve(&self.buffers, self._anchors, n * self.system.n_anchors)
        reserve(&self.buffers, self._fired, n)
        reserve(&self.buffers, self._places, n * self._n_groups)
        reserve(&self.buffers, self._group_signatures, n * self._n_groups)
        if not self.memo:
            self._n_vector_cells = 0
        elif self._n_vector_cells > MOST_CELLS:
            # What lies far back in a long sentence is hardly asked for again.
            self.clear_memo()
        for s in range(n):
            events = 0
            for action in range(n_actions):
                if masks[action]:
                    events |= self._events[action]
                    if events and self.n_events == 1:
                        break
            self._fired[s] = events
            met |= events
            if self.memo:
                self.system.anchors(state, self._anchors + s * self.system.n_anchors)
            state += self.system.state_size
            masks += n_actions
        if self._is_apart:
            self._find_shared(n, masks - n * n_actions)
        for e in range(self.n_events):
            if self._is_apart and (met & self._shared_events) >> e & 1:
                differing = 0
                for g in range(self._first_group[e], self._first_group[e + 1]):
                    differing |= self._group_anchors[g] & ~self._shared_anchors
                if not differing:
                    # Nothing is left of it.
                    for s in range(n):
                        self._fired[s] &= ~(<uint64_t> 1 << e)
                    memset(
                        self._event_scores + self._offsets[e], 0,
                        self._widths[e] * sizeof(double),
                    )
                    continue
            if met >> e & 1:
                self._score_event(<const char*> states, n, e, places_only)
        return 0

    cdef int _score_event(
        self, const char* states, Py_ssize_t n, int event, bint places_only
    ) except -1 nogil:
        """Compute or look up the vectors of all groups of one event."""
        cdef const char* state
        cdef const uint64_t* anchors
        cdef int64_t* places
        cdef uint64_t* signatures
        cdef uint64_t signature = 0
        cdef Py_ssize_t s
        # Groups that depend on none of these anchors are left out.
        cdef uint64_t differing = 0
        cdef bint is_apart = self._is_apart and self._shared_events >> event & 1
        cdef int first = self._first_group[event]
        cdef int first_free = first + self._n_positional[event]
        # What a state that is scored alone needs of several anchors, later ones rarely ask for.
        cdef bint is_alone = n == 1 and self._trained and self.memo and not is_apart
        cdef int rest = NOWHERE
        cdef int g
        self._n_keys = 0
        self._n_jobs = 0
        if is_apart:
            differing = ~self._shared_anchors
        if self.memo and not places_only:
            # Of all states first: what is known of them is on its way then.
            for s in range(n):
                if not self._fired[s] >> event & 1:
                    continue
                anchors = self._anchors + s * self.system.n_anchors
                signatures = self._group_signatures + s * self._n_groups
                for g in range(first_free, self._first_group[event + 1]):
                    if is_apart and not self._group_anchors[g] & differing:
                        continue
                    signatures[g] = self._signature(g, anchors)
                    STRUCTREG_PREFETCH(
                        &self._entries[signatures[g] & <uint64_t> (self._memo_slots - 1)]
                    )
        for s in range(n):
            if not self._fired[s] >> event & 1:
                continue
            memset(&self._filled, 0, sizeof(AtomSet))
            state = states + s * self.system.state_size
            anchors = self._anchors + s * self.system.n_anchors
            signatures = self._group_signatures + s * self._n_groups
            places = self._places + s * self._n_groups
            if first < first_free and self.memo:
                signature = self._signature(self._n_groups + event, anchors)
            if first < first_free and not (
                self.memo and self._is_known(signature, &places[first])
            ):
                places[first] = self._new_entry(self._n_groups + event, signature)
                for g in range(first, first_free):
                    # The first begins the sum, unless it must be kept by itself.
                    if g == first and not self._groups[g].is_cached:
                        self._add_job(g, state, anchors, places[first], NOWHERE)
                    else:
                        self._add_job(g, state, anchors, NOWHERE, places[first])
            if places_only:
                continue
            for g in range(first_free, self._first_group[event + 1]):
                if is_apart and not self._group_anchors[g] & differing:
                    places[g] = NOWHERE
                elif is_alone and not self._groups[g].recurs:
                    places[g] = NOWHERE
                    if rest == NOWHERE:
                        rest = g
                        places[g] = self._new_vector(self._widths[event])
                elif not (self.memo and self._is_known(signatures[g], &places[g])):
                    places[g] = self._new_entry(g, signatures[g])
                    self._add_job(g, state, anchors, places[g], NOWHERE)
            if rest != NOWHERE:
                self._add_rest(rest, state, places)
        if self._n_jobs:
            self._do_jobs(event)
        return 0

    cdef bint _is_known(self, uint64_t signature, int64_t* vector) noexcept nogil:
        """Copy the vector of a group from the memo; return False if it is not there."""
        cdef const MemoEntry* entry = self._entry_of(signature)
        if entry.age != self._age:
            return False
        vector[0] = entry.vector
        STRUCTREG_PREFETCH(&self._vectors[entry.vector])
        return True

    cdef int64_t _new_entry(self, int g, uint64_t signature) except -1 nogil:
        """Add a zero vector for a group to the memo and return it."""
        cdef int64_t vector = self._new_vector(self._widths[self._groups[g].event])
        cdef MemoEntry* entry
        if self.memo:
            if self._n_entries * 2 >= self._memo_slots:
                self._grow_memo()
            entry = self._entry_of(signature)
            entry.age = self._age
            entry.signature = signature
            entry.vector = vector
            self._n_entries += 1
        return vector

    cdef int _add_job(
        self, int g, const char* state, const uint64_t* anchors, int64_t vector, int64_t total
    ) except -1 nogil:
        """Queue a group whose scores a state needs: in `vector`, or added to `total`.

        """
        cdef const GroupSpec* group = &self._groups[g]
        cdef Job* job
        cdef Py_ssize_t last
        cdef Py_ssize_t i
        reserve(&self.buffers, self._jobs, self._n_jobs + 1)
        job = &self._jobs[self._n_jobs]
        self._n_jobs += 1
        job.group = g
        job.vector = vector
        job.total = total
        job.first = self._n_keys
        job.last = self._n_keys
        job.cached = NOWHERE
        job.ready = False
        if group.is_cached and self._caches:
            if self._cache_slots == 0:
                self._make_cache()
            job.signature = self._signature(g, anchors)
            job.cached = <Py_ssize_t> (job.signature >> 32) & (self._cache_slots - 1)
            job.ready = self._cache_signatures[job.cached] == job.signature
            if job.ready:
                # On its way until the job is done.
                last = (job.cached + 1) * self._cache_width - 1
                for i in range(job.cached * self._cache_width, last, 8):
                    STRUCTREG_PREFETCH(&self._cache_vectors[i])
                STRUCTREG_PREFETCH(&self._cache_vectors[last])
                return 0
        if total != NOWHERE:
            job.vector = self._new_vector(self._widths[group.event])
        self._add_features(state, group)
        job.last = self._n_keys
        return 0

    cdef int _add_rest(self, int first, const char* state, const int64_t* places) except -1 nogil:
        """Queue all groups from the first on that have no vector, to be added up in its vector."""
        cdef int event = self._groups[first].event
        cdef Py_ssize_t n_keys = self._n_keys
        cdef int g
        for g in range(first, self._first_group[event + 1]):
            if g == first or places[g] == NOWHERE:
                self._add_features(state, &self._groups[g])
        reserve(&self.buffers, self._jobs, self._n_jobs + 1)
        self._jobs[self._n_jobs] = Job(
            first, places[first], NOWHERE, n_keys, self._n_keys, 0, NOWHERE, False
        )
        self._n_jobs += 1
        return 0

    cdef int _do_jobs(self, int event) except -1 nogil:
        """Run the jobs queued by `_add_job`; the rows of all are prefetched together."""
        cdef void* table = self._tables[event]
        cdef Job* job
        cdef const double* source
        cdef double* target
        cdef Py_ssize_t j
        cdef int width = self._widths[event]
        cdef int i
        self._find_rows(event)
        if self._training:
            (<TrainingRows> table).catch_up_run(self._rows, self._n_keys, self._time)
        (<Rows> table).fetch_run(self._rows, self._n_keys)
        for j in range(self._n_jobs):
            job = &self._jobs[j]
            if job.ready:
                source = self._cache_vectors + job.cached * self._cache_width
            else:
                source = self._vectors + job.vector
                if self._training and self._threshold:
                    (<TrainingRows> table).add_weighted_dropout(
                        self._rows + job.first, NULL, job.last - job.first,
                        self._vectors + job.vector,
                        draw_of_table(self._draw, self._table_numbers[event]),
                        self._threshold,
                    )
                else:
                    (<Rows> table).add_run(
                        self._rows + job.first, job.last - job.first, 0,
                        self._vectors + job.vector,
                    )
            if job.total != NOWHERE:
                target = self._vectors + job.total
                for i in range(width):
                    target[i] += source[i]
            elif job.ready:
                memcpy(self._vectors + job.vector, source, width * sizeof(double))
        # Only now: what is kept may take the place of what another job has read.
        for j in range(self._n_jobs):
            job = &self._jobs[j]
            if job.cached != NOWHERE and not job.ready:
                self._cache_signatures[job.cached] = job.signature
                memcpy(
                    self._cache_vectors + job.cached * self._cache_width,
                    self._vectors + job.vector, width * sizeof(double),
                )
        return 0

    cdef int _find_rows(self, int event) except -1 nogil:
        """Find the rows of all keys through a cache of recent look-ups."""
        cdef void* table = self._tables[event]
        cdef int number = self._table_numbers[event]
        cdef FoundRow* found
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t i
        if self._found == NULL:
            (<Rows> table).find_run(self._keys, self._n_keys, self._rows)
            return 0
        reserve(&self.buffers, self._new_keys, self._n_keys + 1)
        reserve(&self.buffers, self._new_places, self._n_keys + 1)
        reserve(&self.buffers, self._new_rows, self._n_keys + 1)
        for i in range(self._n_keys):
            found = &self._found[self._keys[i] & <uint64_t> (FOUND_ROWS - 1)]
            self._rows[i] = found.row
            self._new_keys[n] = self._keys[i]
            self._new_places[n] = <int32_t> i
            # No branch: it would be foretold badly.
            n += (found.key != self._keys[i]) | (found.table != number + 1)
        (<Rows> table).find_run(self._new_keys, n, self._new_rows)
        for i in range(n):
            self._rows[self._new_places[i]] = self._new_rows[i]
            self._found[self._new_keys[i] & <uint64_t> (FOUND_ROWS - 1)] = FoundRow(
                self._new_keys[i], self._new_rows[i], number + 1
            )
        return 0

    cdef uint64_t _signature(self, int g, const uint64_t* anchors) noexcept nogil:
        """A hash of a group and the values of its anchors."""
        # Mixed before the first anchor comes in: they are small numbers both.
        cdef uint64_t signature = (<uint64_t> g + 1) * <uint64_t> 0x94D049BB133111EBULL
        cdef int i
        for i in range(self._groups[g].n_anchors):
            signature = (signature ^ anchors[self._groups[g].anchors[i]]) * (
                <uint64_t> 0x9E3779B97F4A7C15ULL
            )
            signature ^= signature >> 29
        signature *= <uint64_t> 0xBF58476D1CE4E5B9ULL
        return signature ^ (signature >> 32)

    cdef int _make_cache(self) except -1 nogil:
        """Allocate the look-up cache."""
        cdef Py_ssize_t slots = CACHE_BYTES // (self._cache_width * sizeof(double))
        self._cache_slots = 1
        while self._cache_slots * 2 <= slots:
            self._cache_slots *= 2
        reserve_zeros(&self.buffers, self._cache_signatures, self._cache_slots)
        reserve(&self.buffers, self._cache_vectors, self._cache_slots * self._cache_width)
        return 0

    cdef int64_t _new_vector(self, int width) except -1 nogil:
        """Return the index of a new zero vector."""
        cdef int64_t place = self._n_vector_cells
        reserve(&self.buffers, self._vectors, place + width)
        memset(self._vectors + place, 0, width * sizeof(double))
        self._n_vector_cells += width
        return place

    cdef MemoEntry* _entry_of(self, uint64_t signature) noexcept nogil:
        """Return the entry of a signature in the hash table, or the empty slot for it."""
        cdef Py_ssize_t place = <Py_ssize_t> (signature & <uint64_t> (self._memo_slots - 1))
        while (
            self._entries[place].age == self._age
            and self._entries[place].signature != signature
        ):
            place = (place + 1) & (self._memo_slots - 1)
        return &self._entries[place]

    cdef int _grow_memo(self) except -1 nogil:
        """Double the capacity of the memo."""
        cdef MemoEntry* before = self._entries
        cdef Py_ssize_t n = self._memo_slots
        cdef Py_ssize_t i
        reserve_zeros(&self.buffers, self._spare_entries, 2 * n)
        self._entries = self._spare_entries
        self._spare_entries = before
        self._memo_slots = 2 * n
        for i in range(n):
            if before[i].age == self._age:
                self._entry_of(before[i].signature)[0] = before[i]
        return 0

    cdef int _add_features(self, const void* state, const GroupSpec* group) except -1 nogil:
        """Append the features that a group has in a state to the keys, `_n_keys` of them."""
        cdef AtomSet missing
        cdef uint64_t bits = 0
        cdef StateTemplateSpec* spec
        cdef const uint64_t* values
        cdef Py_ssize_t n_values
        cdef Py_ssize_t v
        cdef int w
        cdef int a
        cdef int t
        for w in range(WORDS_OF_ATOM_SET):
            missing.words[w] = group.wanted.words[w] & ~self._filled.words[w]
            bits |= missing.words[w]
        if bits:
            if self.system.fills_together:
                missing = self._wanted
            self.system.fill_atoms(state, &missing, self._values)
            for w in range(WORDS_OF_ATOM_SET):
                self._filled.words[w] |= missing.words[w]
                bits = missing.words[w]
                a = 64 * w
                while bits:
                    if bits & 1:
                        self._mixed[a] = murmur_mix(self._values[a])
                    bits >>= 1
                    a += 1
        self._reserve_keys(self._n_keys + group.last - group.first)
        for t in range(group.first, group.last):
            spec = &self._specs[t]
            if spec.multi < 0:
                self._add_feature(group.event, spec)
                continue
            a = spec.atoms[spec.multi]
            n_values = self.system.multi_values(state, a, &values)
            self._reserve_keys(self._n_keys + n_values + group.last - t)
            for v in range(n_values):
                self._mixed[a] = murmur_mix(values[v])
                self._add_feature(group.event, spec)
        return 0

    cdef int _reserve_keys(self, Py_ssize_t n) except -1 nogil:
        reserve(&self.buffers, self._keys, n)
        reserve(&self.buffers, self._rows, n)
        return 0

    cdef void _add_feature(self, int event, const StateTemplateSpec* spec) noexcept nogil:
        """Append a template's feature, for which there is room; none for a null atom."""
        cdef uint64_t key = spec.seed
        cdef int a
        for a in range(spec.n_atoms):
            # Null stays null when it is mixed.
            if self._mixed[spec.atoms[a]] == NULL_ATOM:
                return
            key = murmur_take(key, self._mixed[spec.atoms[a]])
        key = murmur_end(key)
        # The place of the key is on its way until it is looked up.
        if self._found != NULL:
            STRUCTREG_PREFETCH(&self._found[key & <uint64_t> (FOUND_ROWS - 1)])
        else:
            STRUCTREG_PREFETCH(
                &(<Rows> self._tables[event])._tags[
                    spread(key) & (<Rows> self._tables[event])._slot_mask
                ]
            )
        self._keys[self._n_keys] = key
        self._n_keys += 1

    # For trainers, whose tables are `TrainingRows` ------------------------------------------------

    cdef void begin_training(self, uint64_t threshold) noexcept nogil:
        """Apply pending penalties before reading rows. threshold: of draws that drop a weight."""
        self._training = True
        self._threshold = threshold

    cdef void set_time(self, int64_t time) noexcept nogil:
        """Set the time at which rows are read."""
        self._time = time

    cdef void set_draw(self, uint64_t draw) noexcept nogil:
        """Set the seed that decides which weights are dropped."""
        self._draw = draw

    cdef int _features_of(self, const void* state, int event) except -1 nogil:
        """Set `_keys` to the features of an event in a state."""
        cdef int g
        self._n_keys = 0
        for g in range(self._first_group[event], self._first_group[event + 1]):
            self._add_features(state, &self._groups[g])
        return 0

    cdef int add_changes(
        self, const void* state, int action, double sign, Changes changes
    ) except -1 nogil:
        """Add the features of an action in a state, times `sign`, to those of an update.

        Features that are new get rows; weights that are dropped are left out.
        """
        cdef const FiredEvent* fired
        cdef Py_ssize_t k
        cdef int32_t row
        cdef int table
        cdef int i
        memset(&self._filled, 0, sizeof(AtomSet))
        for i in range(self.system.first_fired[action], self.system.first_fired[action + 1]):
            fired = &self.system.fired[i]
            table = self._table_numbers[fired.event]
            self._features_of(state, fired.event)
            for k in range(self._n_keys):
                row = (<TrainingRows> self._tables[fired.event]).insert(self._keys[k])
                if row < 0 or self._threshold and is_dropped(
                    draw_of_table(self._draw, table), row, fired.column, self._threshold
                ):
                    continue
                changes.add(table, row, fired.column, sign)
        return 0

    cdef int count_features(
        self, const void* state, int action, void** counts
    ) except -1 nogil:
        """Count the features of an action in a state. counts: `FeatureCounts` of each table."""
        cdef Py_ssize_t k
        cdef int event
        cdef int i
        memset(&self._filled, 0, sizeof(AtomSet))
        for i in range(self.system.first_fired[action], self.system.first_fired[action + 1]):
            event = self.system.fired[i].event
            self._features_of(state, event)
            for k in range(self._n_keys):
                (<FeatureCounts> counts[self._table_numbers[event]]).add(self._keys[k])
        return 0


def new_learner(TransitionSystem system not None, settings=None):
    """A `Perceptron` with the empty tables of a task. settings: a `Learning`."""
    settings = Learning() if settings is None else settings
    return Perceptron(
        [TrainingRows(width, **settings.penalties) for width in system.tables.values()], settings
    )
