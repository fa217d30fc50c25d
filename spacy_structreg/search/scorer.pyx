"""Scores of the actions of a state: templates, the weight rows of their features, and a memo.

Templates that depend on the same anchors of a state form a group. The memo maps a group and the
values of its anchors to the scores of the group, so that states of the agenda that differ in
little cost little. It is good for one sentence and one set of weights. Groups that follow from
the place of a state in the sentence come first, and are remembered as one. Larger groups whose
anchors mean the same everywhere, such as the current word, are remembered beyond the sentence as
far as there is room, if the weights are those of a trained model, which never change.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from spacy_structreg.learn.memory cimport reserve
from spacy_structreg.learn.murmur cimport murmur_begin, murmur_end, murmur_mix, murmur_take
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.learn.rows cimport STRUCTREG_PREFETCH, Rows, TrainedRows, TrainingRows, spread
from spacy_structreg.search.transition_system cimport (
    MAX_ANCHORS,
    MAX_ATOMS_OF_TASK,
    MAX_EVENTS,
    MAX_EVENTS_OF_ACTION,
    NULL_ATOM,
    Raised,
    TransitionSystem,
)

from spacy_structreg.features.state_templates import MAX_STATE_ATOMS, group_templates
from spacy_structreg.learn.murmur import hash_string
from spacy_structreg.learn.settings import Learning

cdef enum:
    # Groups of fewer templates are not remembered beyond the sentence.
    LEAST_LASTING = 4
    LASTING_BYTES = 0x1000000
    # When the memo holds so many scores of a sentence, it begins anew.
    MOST_CELLS = 0x400000
    NOWHERE = -1
    # In place of a vector: the group has no row, or only this one, counted downwards.
    NO_ROW = -1
    FIRST_ROW = -2

assert MAX_STATE_ATOMS == MAX_ATOMS_OF_STATE_TEMPLATE


@cython.final
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
        templates = tuple(templates)
        for template in templates:
            if (
                template.event not in names or not set(template.atoms) <= set(system.atoms)
                or not 1 <= len(template.atoms) <= MAX_STATE_ATOMS
            ):
                raise ValueError(f"feature template '{template}' does not fit the task")
        by_event = group_templates(
            templates, dict(zip(system.atoms, system.atom_anchors)), system.place
        )
        place = set(system.place)

        def lasts(group):
            # One row is read as fast as a vector that is remembered.
            return (
                set(group.anchors) <= set(system.lasting_anchors)
                and len(group.templates) >= LEAST_LASTING
            )

        def rank(group):
            of_place = bool(place) and set(group.anchors) <= place
            return names.index(group.event), not of_place, of_place and lasts(group)

        self.groups = tuple(sorted(by_event, key=rank))
        if (
            len(system.atoms) > MAX_ATOMS_OF_TASK or system.n_anchors > MAX_ANCHORS
            or self.n_events > MAX_EVENTS
        ):
            raise ValueError("the task has too many atoms, anchors or events")
        if [table.n_columns for table in self.tables] != list(system.events.values()):
            raise ValueError("the weight rows of the model do not fit the events of its task")
        self._free_all()
        self._tables = <void**> calloc(max(1, self.n_events), sizeof(void*))
        self._widths = <int*> calloc(self.n_events + 1, sizeof(int))
        self._offsets = <int*> calloc(self.n_events + 1, sizeof(int))
        self._event_scores = <double*> calloc(
            max(1, sum(system.events.values())), sizeof(double)
        )
        self._groups = <GroupSpec*> calloc(
            len(self.groups) + self.n_events + 1, sizeof(GroupSpec)
        )
        self._specs = <StateTemplateSpec*> calloc(
            max(1, sum([len(members.templates) for members in self.groups])),
            sizeof(StateTemplateSpec),
        )
        self._n_groups = len(self.groups)
        self._first_group = <int*> calloc(self.n_events + 2, sizeof(int))
        self._n_of_place = <int*> calloc(self.n_events + 1, sizeof(int))
        self._events = <uint64_t*> calloc(max(1, system.n_actions), sizeof(uint64_t))
        if (
            self._tables == NULL or self._widths == NULL or self._offsets == NULL
            or self._event_scores == NULL or self._groups == NULL or self._specs == NULL
            or self._first_group == NULL or self._n_of_place == NULL or self._events == NULL
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
                spec.n_atoms = len(template.atoms)
                # Of the hash of the template and its atoms, one word each.
                spec.seed = murmur_take(
                    murmur_begin(spec.n_atoms + 1, 1), murmur_mix(hash_string(str(template)))
                )
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
            group.single = group.last - group.first == 1 and self._specs[group.first].many < 0
            group.lasts = lasts(members)
            if group.lasts:
                self._lasting_width = max(self._lasting_width, self._widths[group.event])
            if place and set(members.anchors) <= place:
                self._n_of_place[group.event] += 1
            self._first_group[group.event + 1] = i + 1
        for i in range(self.n_events if place else 0):
            # What the groups of a place together depend on.
            group = &self._groups[self._n_groups + i]
            group.event = i
            group.n_anchors = 1
            group.anchors[0] = system.place[0]
        for i in range(self.n_events):
            self._first_group[i + 1] = max(self._first_group[i], self._first_group[i + 1])
        for action in range(system.n_actions):
            for i in range(system.n_raised[action]):
                self._events[action] |= (
                    <uint64_t> 1 << system.raised[action * MAX_EVENTS_OF_ACTION + i].event
                )
        self._trained = all([isinstance(table, TrainedRows) for table in self.tables])
        self._lasts = memo and self._lasting_width > 0 and self._trained
        self._plain = self.n_events == 1 and self._widths[0] == system.n_actions and all([
            system.n_raised[action] == 0 or (
                system.n_raised[action] == 1
                and system.raised[action * MAX_EVENTS_OF_ACTION].column == action
            )
            for action in range(system.n_actions)
        ])
        self._memory_slots = 1024
        self._memories = <Memory*> calloc(self._memory_slots, sizeof(Memory))
        if self._memories == NULL:
            raise MemoryError("no memory for a scorer")
        self._age = 1

    def __reduce__(self):
        templates = [template for group in self.groups for template in group.templates]
        return StateScorer, (self.system, templates, self.tables, self.memo)

    def _free_all(self):
        free(self._tables)
        free(self._widths)
        free(self._offsets)
        free(self._event_scores)
        free(self._groups)
        free(self._specs)
        free(self._first_group)
        free(self._n_of_place)
        free(self._events)
        free(self._memories)
        free(self._lasting)
        free(self._lasting_vectors)
        self._tables = NULL
        self._widths = NULL
        self._offsets = NULL
        self._event_scores = NULL
        self._groups = NULL
        self._specs = NULL
        self._first_group = NULL
        self._n_of_place = NULL
        self._events = NULL
        self._memories = NULL
        self._lasting = NULL
        self._lasting_vectors = NULL
        self._lasting_slots = 0
        self._lasting_width = 0

    def __dealloc__(self):
        free(self._tables)
        free(self._widths)
        free(self._offsets)
        free(self._event_scores)
        free(self._groups)
        free(self._specs)
        free(self._first_group)
        free(self._n_of_place)
        free(self._events)
        free(self._memories)
        free(self._lasting)
        free(self._lasting_vectors)
        free(self._vectors)
        free(self._keys)
        free(self._rows)
        free(self._jobs)
        free(self._anchors)
        free(self._raised)
        free(self._places)

    cdef void forget(self) noexcept nogil:
        """Empty the memo: the sentence or the weights are no longer the same."""
        self._age += 1
        self._n_memories = 0
        self._n_vector_cells = 0

    cdef int score(
        self, const void* states, Py_ssize_t n, const uint8_t* masks, double* scores
    ) except -1 nogil:
        """Write the scores of the actions of `n` states whose flags in `masks` are set.

        The states lie side by side; masks and scores have a row of all actions for each. States
        that are scored together wait for memory together.
        """
        cdef const uint8_t* mask = masks
        cdef const Raised* raised
        cdef const int64_t* places
        cdef const double* vector
        cdef double* event_scores
        cdef double total
        cdef Py_ssize_t s
        cdef int32_t row
        cdef int n_actions = self.system.n_actions
        cdef int action
        cdef int width
        cdef int g
        cdef int i
        cdef int e
        self._remember(states, n, masks, False)
        places = self._places
        for s in range(n):
            if self._plain and not self._raised[s]:
                memset(scores, 0, n_actions * sizeof(double))
            for e in range(self.n_events):
                if not self._raised[s] >> e & 1:
                    continue
                width = self._widths[e]
                event_scores = scores if self._plain else self._event_scores + self._offsets[e]
                g = self._first_group[e]
                if g < self._first_group[e + 1] and places[g] >= 0:
                    vector = self._vectors + places[g]
                    for i in range(width):
                        event_scores[i] = 0.0 + vector[i]
                    # All that follows from the place stands together in the first.
                    g += max(1, self._n_of_place[e])
                else:
                    memset(event_scores, 0, width * sizeof(double))
                while g < self._first_group[e + 1]:
                    if places[g] >= 0:
                        vector = self._vectors + places[g]
                        for i in range(width):
                            event_scores[i] += vector[i]
                    elif places[g] < NO_ROW:
                        row = <int32_t> (FIRST_ROW - places[g])
                        (<Rows> self._tables[e]).add_run(&row, 1, 0, event_scores)
                    g += 1
            if not self._plain:
                for action in range(n_actions):
                    if not mask[action]:
                        continue
                    total = 0.0
                    for i in range(self.system.n_raised[action]):
                        raised = &self.system.raised[action * MAX_EVENTS_OF_ACTION + i]
                        total += self._event_scores[self._offsets[raised.event] + raised.column]
                    scores[action] = total
            places += self._n_groups
            scores += n_actions
            mask += n_actions
        return 0

    cdef int remember_places(
        self, const void* states, Py_ssize_t n, const uint8_t* masks
    ) except -1 nogil:
        """Have at hand what follows from the places of `n` states, for states that come later."""
        return self._remember(states, n, masks, True)

    cdef int _remember(
        self, const void* states, Py_ssize_t n, const uint8_t* masks, bint places_only
    ) except -1 nogil:
        """See to the vectors of `n` states."""
        cdef const char* state = <const char*> states
        cdef uint64_t events
        cdef uint64_t met = 0
        cdef Py_ssize_t s
        cdef int n_actions = self.system.n_actions
        cdef int action
        cdef int e
        reserve(
            <void**> &self._anchors, &self._anchor_capacity, n * self.system.n_anchors,
            sizeof(uint64_t),
        )
        reserve(<void**> &self._raised, &self._raised_capacity, n, sizeof(uint64_t))
        reserve(
            <void**> &self._places, &self._place_capacity, n * self._n_groups, sizeof(int64_t)
        )
        if not self.memo:
            self._n_vector_cells = 0
        elif self._n_vector_cells > MOST_CELLS:
            # What lies far back in a long sentence is hardly asked for again.
            self.forget()
        for s in range(n):
            events = 0
            for action in range(n_actions):
                if masks[action]:
                    events |= self._events[action]
                    if events and self.n_events == 1:
                        break
            self._raised[s] = events
            met |= events
            if self.memo:
                self.system.anchors(state, self._anchors + s * self.system.n_anchors)
            state += self.system.state_size
            masks += n_actions
        for e in range(self.n_events):
            if met >> e & 1:
                self._score_event(<const char*> states, n, e, places_only)
        return 0

    cdef int _score_event(
        self, const char* states, Py_ssize_t n, int event, bint places_only
    ) except -1 nogil:
        """See to the vectors of all groups of one event, remembered or computed."""
        cdef const char* state
        cdef const uint64_t* anchors
        cdef int64_t* places
        cdef uint64_t signature = 0
        cdef Py_ssize_t s
        cdef int first = self._first_group[event]
        cdef int first_free = first + self._n_of_place[event]
        cdef int g
        self._n_keys = 0
        self._n_jobs = 0
        for s in range(n):
            if not self._raised[s] >> event & 1:
                continue
            self._filled = 0
            state = states + s * self.system.state_size
            anchors = self._anchors + s * self.system.n_anchors
            places = self._places + s * self._n_groups
            if first < first_free and not (
                self.memo
                and self._is_known(self._n_groups + event, anchors, &signature, &places[first])
            ):
                places[first] = self._new_memory(self._n_groups + event, signature)
                for g in range(first, first_free):
                    # The first begins the sum, unless it must be kept by itself.
                    if g == first and not self._groups[g].lasts:
                        self._add_job(g, state, anchors, places[first], NOWHERE)
                    else:
                        self._add_job(g, state, anchors, NOWHERE, places[first])
            if places_only:
                continue
            for g in range(first_free, self._first_group[event + 1]):
                if n == 1 and self._trained and self._groups[g].single:
                    # No other state waits for the vector.
                    places[g] = NO_ROW
                    self._add_job(g, state, anchors, NOWHERE, NOWHERE)
                elif not (
                    self.memo and self._is_known(g, anchors, &signature, &places[g])
                ):
                    places[g] = self._new_memory(g, signature)
                    self._add_job(g, state, anchors, places[g], NOWHERE)
        self._do_jobs(event)
        return 0

    cdef bint _is_known(
        self, int g, const uint64_t* anchors, uint64_t* signature, int64_t* vector
    ) noexcept nogil:
        """Whether the memo knows the vector of a group; if not, only the signature is written."""
        cdef const Memory* memory
        signature[0] = self._signature(g, anchors)
        memory = self._memory_of(signature[0])
        if memory.age != self._age:
            return False
        vector[0] = memory.vector
        return True

    cdef int64_t _new_memory(self, int g, uint64_t signature) except -1 nogil:
        """A vector of zeros for a group, of which the memo knows from now on."""
        cdef int64_t vector = self._new_vector(self._widths[self._groups[g].event])
        cdef Memory* memory
        if self.memo:
            if self._n_memories * 2 >= self._memory_slots:
                self._grow_memories()
            memory = self._memory_of(signature)
            memory.age = self._age
            memory.signature = signature
            memory.vector = vector
            self._n_memories += 1
        return vector

    cdef int _add_job(
        self, int g, const char* state, const uint64_t* anchors, int64_t vector, int64_t total
    ) except -1 nogil:
        """Take note of a group whose scores a state needs: in `vector`, or added to `total`.

        If both are `NOWHERE`, its only row is needed.
        """
        cdef const GroupSpec* group = &self._groups[g]
        cdef Job* job
        cdef Py_ssize_t last
        cdef Py_ssize_t i
        reserve(<void**> &self._jobs, &self._job_capacity, self._n_jobs + 1, sizeof(Job))
        job = &self._jobs[self._n_jobs]
        self._n_jobs += 1
        job.group = g
        job.vector = vector
        job.total = total
        job.first = self._n_keys
        job.last = self._n_keys
        job.lasting = NOWHERE
        job.ready = False
        if group.lasts and self._lasts:
            if self._lasting_slots == 0:
                self._make_lasting()
            job.signature = self._signature(g, anchors)
            job.lasting = <Py_ssize_t> (job.signature >> 32) & (self._lasting_slots - 1)
            job.ready = self._lasting[job.lasting] == job.signature
            if job.ready:
                # On its way until the job is done.
                last = (job.lasting + 1) * self._lasting_width - 1
                for i in range(job.lasting * self._lasting_width, last, 8):
                    STRUCTREG_PREFETCH(&self._lasting_vectors[i])
                STRUCTREG_PREFETCH(&self._lasting_vectors[last])
                return 0
        if total != NOWHERE:
            job.vector = self._new_vector(self._widths[group.event])
        self.collect(state, group)
        job.last = self._n_keys
        return 0

    cdef int _do_jobs(self, int event) except -1 nogil:
        """Do what `_add_job` took note of; the rows of all jobs wait for memory together."""
        cdef void* table = self._tables[event]
        cdef Job* job
        cdef const double* source
        cdef double* target
        cdef Py_ssize_t j
        cdef int width = self._widths[event]
        cdef int i
        (<Rows> table).find_run(self._keys, self._n_keys, self._rows)
        if self.training:
            (<TrainingRows> table).touch_run(self._rows, self._n_keys, self.time)
        (<Rows> table).fetch_run(self._rows, self._n_keys)
        for j in range(self._n_jobs):
            job = &self._jobs[j]
            if job.vector == NOWHERE and not job.ready:
                # A state that is scored alone is the first.
                if job.last > job.first and self._rows[job.first] >= 0:
                    self._places[job.group] = FIRST_ROW - self._rows[job.first]
                continue
            if job.ready:
                source = self._lasting_vectors + job.lasting * self._lasting_width
            else:
                source = self._vectors + job.vector
                if self.training and self.threshold:
                    (<TrainingRows> table).add_run_thinned(
                        self._rows + job.first, job.last - job.first, 0,
                        self._vectors + job.vector, self.draw_of(event), self.threshold,
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
            if job.lasting != NOWHERE and not job.ready:
                self._lasting[job.lasting] = job.signature
                memcpy(
                    self._lasting_vectors + job.lasting * self._lasting_width,
                    self._vectors + job.vector, width * sizeof(double),
                )
        return 0

    cdef uint64_t _signature(self, int g, const uint64_t* anchors) noexcept nogil:
        """What tells a group and the values of its anchors from all others."""
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

    cdef int _make_lasting(self) except -1 nogil:
        """Room for what lasts, which is filled as texts come."""
        cdef Py_ssize_t slots = LASTING_BYTES // (self._lasting_width * sizeof(double))
        self._lasting_slots = 1
        while self._lasting_slots * 2 <= slots:
            self._lasting_slots *= 2
        self._lasting = <uint64_t*> calloc(self._lasting_slots, sizeof(uint64_t))
        self._lasting_vectors = <double*> malloc(
            self._lasting_slots * self._lasting_width * sizeof(double)
        )
        if self._lasting == NULL or self._lasting_vectors == NULL:
            with gil:
                raise MemoryError("no memory for what a scorer remembers between sentences")
        return 0

    cdef int64_t _new_vector(self, int width) except -1 nogil:
        """The place of a vector of zeros."""
        cdef int64_t place = self._n_vector_cells
        reserve(
            <void**> &self._vectors, &self._vector_capacity, place + width, sizeof(double)
        )
        memset(self._vectors + place, 0, width * sizeof(double))
        self._n_vector_cells += width
        return place

    cdef Memory* _memory_of(self, uint64_t signature) noexcept nogil:
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
                self._memory_of(before[i].signature)[0] = before[i]
        free(before)
        return 0

    cdef int collect(self, const void* state, const GroupSpec* group) except -1 nogil:
        """Append the keys of the features that a group has in a state: `_n_keys` of them."""
        cdef uint64_t missing = group.wanted & ~self._filled
        cdef StateTemplateSpec* spec
        cdef const uint64_t* values
        cdef Py_ssize_t n_values
        cdef Py_ssize_t v
        cdef int a
        cdef int t
        if missing:
            self.system.fill_atoms(state, missing, self._values)
            self._filled |= missing
            a = 0
            while missing:
                if missing & 1:
                    self._mixed[a] = murmur_mix(self._values[a])
                missing >>= 1
                a += 1
        self._reserve_keys(self._n_keys + group.last - group.first)
        for t in range(group.first, group.last):
            spec = &self._specs[t]
            if spec.many < 0:
                self._add_feature(group.event, spec)
                continue
            n_values = self.system.many(state, spec.atoms[spec.many], &values)
            self._reserve_keys(self._n_keys + n_values + group.last - t)
            for v in range(n_values):
                self._mixed[spec.atoms[spec.many]] = murmur_mix(values[v])
                self._add_feature(group.event, spec)
        return 0

    cdef int _reserve_keys(self, Py_ssize_t n) except -1 nogil:
        reserve(<void**> &self._keys, &self._key_capacity, n, sizeof(uint64_t))
        reserve(<void**> &self._rows, &self._row_capacity, n, sizeof(int32_t))
        return 0

    cdef void _add_feature(self, int event, const StateTemplateSpec* spec) noexcept nogil:
        """Append the key of a template's feature, for which there is room; none for a null atom."""
        cdef uint64_t key = spec.seed
        cdef int a
        for a in range(spec.n_atoms):
            # Null stays null when it is mixed.
            if self._mixed[spec.atoms[a]] == NULL_ATOM:
                return
            key = murmur_take(key, self._mixed[spec.atoms[a]])
        key = murmur_end(key)
        # The index is large and rarely cached: the place of the key is on its way until `find`.
        STRUCTREG_PREFETCH(
            &(<Rows> self._tables[event])._tags[
                spread(key) & (<Rows> self._tables[event])._slot_mask
            ]
        )
        self._keys[self._n_keys] = key
        self._n_keys += 1

    cdef uint64_t draw_of(self, int table) noexcept nogil:
        """The draw of an example for one table, so that tables drop weights independently."""
        return self.draw ^ <uint64_t> (table + 1) * <uint64_t> 0x9E3779B97F4A7C15ULL


def new_learner(TransitionSystem system not None, settings=None):
    """A `Perceptron` with an empty table for each event of a task. settings: a `Learning`."""
    settings = Learning() if settings is None else settings
    return Perceptron(
        [TrainingRows(width, **settings.penalties) for width in system.events.values()], settings
    )
