"""Training on the agenda: one epoch as one kernel, without the GIL.

While a sentence is decoded the gold derivation is followed beside the agenda: at every slot that it
passes and in which states compete, its score is compared with the best there. One trace of these
serves the three update points: *early*, the first slot that gold does not survive (Collins & Roark
2004); *max-violation*, the slot where gold lies behind the best by most (Huang, Fayong & Guo 2012);
*plain*, the end. An update skips the actions that prediction and gold begin with in common.

A beam of one can instead learn from *every* action, as a classifier does, and go on from its own
choice, right or wrong, so that it sees such histories as it will meet in decoding; or from that of
gold, in tasks where later gold actions would not be right after a wrong one.

Of an example that is annotated in part, all derivations that go with what is known are right. Gold
is the best of them, searched for anew at every visit by the weights at hand; it is lost where none
of them is left, and compared with the best of the others.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from spacy_structreg.learn.memory cimport BufferOwner, reserve
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.learn.random cimport next_word
from spacy_structreg.learn.rows cimport FeatureCounts
from spacy_structreg.search.agenda cimport Agenda
from spacy_structreg.search.scorer cimport StateScorer
from spacy_structreg.search.transition_system cimport MAX_EVENTS, TransitionSystem, is_waiting
from spacy_structreg.tasks.derivations cimport Derivation

import numpy as np

from spacy_structreg.training.visits import checked_pieces

UPDATES = {"early": EARLY, "max_violation": MAX_VIOLATION, "plain": PLAIN, "every": EVERY}


cdef class AgendaTrainer(BufferOwner):
    """Trains a learner on gold derivations. One thread at a time may use it.

    system: the task; it must be no other thread's. templates: `StateTemplate`s.
    learner: a `Perceptron` with the tables of the task (`search.scorer.new_learner`).
    width: of the beam. update: which update, ``"early"``, ``"max_violation"`` or ``"plain"``; or
        ``"every"``, one at each action, which is an example to the clock of its own; it needs a
        width of 1.
    merge: also merge in training, which the papers do not; see `search.agenda`.
    margin: drop states that lie further than this behind the best, as in prediction; None for none.
    Raises ValueError for settings that do not exist or do not fit each other.
    """

    def __init__(
        self, TransitionSystem system not None, templates, Perceptron learner not None,
        width=16, update="early", bint merge=False, bint memo=True, margin=None,
    ):
        if update not in UPDATES:
            raise ValueError(f"update must be one of {', '.join(UPDATES)}, got {update!r}")
        if update == "every" and width != 1:
            raise ValueError(f"update = 'every' needs beam = 1, got {width}")
        self.system = system
        self.learner = learner
        # Weights that change at every action leave nothing to remember.
        self.scorer = StateScorer(system, templates, learner.tables, memo and update != "every")
        self.agenda = Agenda(self.scorer, width, merge, margin)
        self.update = UPDATES[update]
        self._dropout = learner.settings.dropout
        self._threshold = int(learner.settings.hidden_dropout * 2.0 ** 64)
        self.scorer.begin_training(self._threshold)

    def __reduce__(self):
        raise TypeError("a running training cannot be pickled; save its state instead")

    def epoch(self, derivations, pieces, uint64_t noise=0):
        """Visit pieces of derivations once and correct the weights where the prediction is wrong.

        derivations: a list of `Derivation`. pieces: which to visit, in this order: the number of
            the derivation, the first position and the number of positions, int64 of shape (n, 3);
            or just the numbers of the derivations, to visit them whole.
        noise: the seed of what is drawn to corrupt the input.
        Returns how many pieces, and how many actions up to the points of update, were wrong.
        The GIL is released. Raises IndexError for pieces that do not exist, ValueError if a
        derivation was made for another learner.
        """
        # A list of our own keeps the derivations alive while the GIL is released.
        cdef list owned = list(derivations)
        cdef Py_ssize_t n_wrong = 0
        cdef Py_ssize_t n_actions_wrong = 0
        cdef Py_ssize_t wrong
        cdef Py_ssize_t i
        cdef BufferOwner scratch = BufferOwner()
        cdef DerivationView* views = NULL
        lengths = np.array(
            [(<Derivation?> derivation).n for derivation in owned], dtype=np.int64
        )
        pieces = checked_pieces(pieces, lengths)
        cdef const int64_t[:, ::1] visits = pieces
        reserve(&scratch.buffers, views, len(owned))
        try:
            for i in range(len(owned)):
                views[i] = self._view(owned[i], i)
            self._noise = noise
            self.learner.begin_epoch()
            with nogil:
                for i in range(visits.shape[0]):
                    wrong = self._visit(&views[visits[i, 0]], visits[i, 1], visits[i, 2])
                    n_actions_wrong += wrong
                    n_wrong += wrong > 0
        finally:
            # Whoever looks at the agenda later decodes without gold.
            self.agenda.gold = NULL
            self.agenda.n_gold = 0
            self.agenda.known = NULL
            self.agenda.cost = 0.0
            self.system.unload()
        return n_wrong, n_actions_wrong

    def restrict(self, derivations, Py_ssize_t least):
        """Select the features that occur at least `least` times in gold derivations.

        derivations: `Derivation`s, whole; a feature counts once a state and event. Those that are
        known in part are passed over. The weights must be new. Raises ValueError if a derivation
        was made for another learner.
        """
        for table, count in zip(self.learner.tables, self._counts(derivations), strict=True):
            table.restrict(count, least)

    def count(self, derivations):
        """Counts of the feature of each row in gold derivations: a list of int64 (n_rows,).

        derivations: `Derivation`s, whole; a feature counts once a state and event.
        Raises ValueError if a derivation was made for another learner.
        """
        return [
            table.counts(count)
            for table, count in zip(self.learner.tables, self._counts(derivations), strict=True)
        ]

    cdef list _counts(self, derivations):
        """The `FeatureCounts` of gold derivations, for each table."""
        cdef list owned = [FeatureCounts() for _ in self.learner.tables]
        cdef void* counts[MAX_EVENTS]
        cdef DerivationView view
        for i, count in enumerate(owned):
            counts[i] = <void*> count
        try:
            for i, derivation in enumerate(derivations):
                view = self._view(<Derivation?> derivation, i)
                if view.known != NULL:
                    continue
                with nogil:
                    self._count(&view, counts)
        finally:
            self.system.unload()
        return owned

    cdef DerivationView _view(self, Derivation derivation, Py_ssize_t number) except *:
        if derivation.numbering is not self.learner.numbering:
            raise ValueError(f"sentence {number} was compiled for another learner")
        return DerivationView(
            derivation.n, derivation.n_actions, derivation.actions, derivation.sentence,
            derivation.known,
        )

    cdef int _count(self, const DerivationView* derivation, void** counts) except -1 nogil:
        """Count the features of a gold derivation."""
        cdef Py_ssize_t size = self.system.state_size
        cdef Py_ssize_t step
        cdef char* state
        reserve(&self.buffers, self._states, 2 * size)
        state = self._states
        self.system.load_part(derivation.sentence, 0, derivation.n, 0.0, &self._noise)
        self.system.reserve_states(derivation.n_actions)
        self.system.init(state)
        for step in range(derivation.n_actions):
            self.scorer.count_features(state, derivation.actions[step], counts)
            self.system.apply(state, derivation.actions[step], state + size)
            memcpy(state, state + size, size)
        return 0

    cdef Py_ssize_t _visit(
        self, const DerivationView* derivation, Py_ssize_t begin, Py_ssize_t count
    ) except -1 nogil:
        """Decode one piece and update; returns how many actions were wrong."""
        cdef const int32_t* gold = derivation.actions + begin
        cdef Py_ssize_t n_gold = count
        cdef Py_ssize_t n_predicted
        cdef Py_ssize_t n_wrong = 0
        cdef Py_ssize_t step = 0
        cdef Py_ssize_t item
        cdef Py_ssize_t i
        cdef double loss = 0.0
        if begin + count == derivation.n:
            n_gold = derivation.n_actions - begin
        if count == 0:
            self.learner.begin_example()
            return 0
        self.system.observe_gold(
            derivation.sentence, derivation.actions, derivation.known, begin, count
        )
        if derivation.known != NULL:
            n_gold = self._find_latent(derivation, begin, count)
            gold = self._latent
        self._load(derivation, begin, count, &self._noise)
        if n_gold == 0:
            # Nothing that the beam lets through goes with what is known.
            self.learner.begin_example()
            return 0
        if self.update == EVERY:
            return self._visit_every(gold, n_gold)
        self.scorer.set_time(self.learner.read_time())
        self.agenda.gold = gold
        self.agenda.n_gold = n_gold
        self.agenda.known = derivation.known
        self.agenda.cost = self.learner.cost
        item = self._walk(gold, n_gold, &step, &loss)
        self.learner.begin_example()
        if item < 0:
            return 0
        n_predicted = self.agenda.items[item].step
        reserve(&self.buffers, self._predicted, n_predicted + 1)
        self.agenda.trace(item, self._predicted)
        for i in range(n_predicted):
            n_wrong += i >= n_gold or self._predicted[i] != gold[i]
        self._compare(gold, step, n_predicted)
        self.learner.apply(loss)
        return max(1, n_wrong)

    cdef int _load(
        self, const DerivationView* derivation, Py_ssize_t begin, Py_ssize_t count,
        uint64_t* noise,
    ) except -1 nogil:
        """Load a piece and draw its noise."""
        self.system.load_part(derivation.sentence, begin, count, self._dropout, noise)
        if self._threshold:
            self.scorer.set_draw(next_word(noise))
        return 0

    cdef Py_ssize_t _find_latent(
        self, const DerivationView* derivation, Py_ssize_t begin, Py_ssize_t count
    ) except -1 nogil:
        """Find the best actions consistent with the annotation: `_latent`; returns how many, or 0.

        The piece is corrupted as it will be when it is visited.
        """
        cdef uint64_t noise = self._noise
        cdef Py_ssize_t n_slots
        cdef Py_ssize_t n_items = 0
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t slot
        self._load(derivation, begin, count, &noise)
        self.system.constrain(derivation.known)
        self.scorer.set_time(self.learner.read_time())
        self.agenda.gold = NULL
        self.agenda.n_gold = 0
        self.agenda.known = NULL
        self.agenda.cost = 0.0
        n_slots = self.system.n_slots()
        self.agenda.begin()
        for slot in range(n_slots):
            n_items = self.agenda.open(slot, self.agenda.width)
            first = self.agenda.n_items - n_items
            if slot == n_slots - 1 or self.agenda.has_ended(first, n_items, 1):
                break
            self.agenda.expand(first, n_items)
        if n_items == 0:
            return 0
        reserve(&self.buffers, self._latent, self.agenda.items[first].step + 1)
        self.agenda.trace(first, self._latent)
        return self.agenda.items[first].step

    cdef Py_ssize_t _visit_every(
        self, const int32_t* gold, Py_ssize_t n_gold
    ) except -1 nogil:
        """Learn from the best action of each state; returns how many were wrong.

        The best action leads to the next state, or that of gold where the task asks for it. Where
        gold is not legal, nothing is learned. Ties go to the lower action, as in the agenda.
        """
        cdef Py_ssize_t size = self.system.state_size
        cdef uint8_t* mask = self.agenda.mask
        cdef double* scores = self.agenda.scores
        cdef Py_ssize_t n_wrong = 0
        cdef Py_ssize_t step
        cdef double violation
        cdef double score
        cdef char* state
        cdef int action
        cdef int best
        cdef int other
        reserve(&self.buffers, self._gold_states, 2 * size)
        state = self._gold_states
        self.system.init(state)
        for step in range(n_gold):
            if self.system.is_final(state):
                break
            self.system.reserve_states(1)
            memset(mask, 0, self.system.n_actions)
            self.system.legal(state, mask)
            self.scorer.set_time(self.learner.read_time())
            self.scorer.score(state, 1, mask, scores)
            best = -1
            other = -1
            for action in range(self.system.n_actions):
                if not mask[action]:
                    continue
                if self.system.has_external_score:
                    scores[action] += self.system.external_score(state, action)
                if best < 0 or scores[action] > scores[best]:
                    best = action
                if action != gold[step] and (other < 0 or scores[action] > scores[other]):
                    other = action
            if best < 0:
                break
            n_wrong += best != gold[step]
            self.learner.begin_example()
            if other >= 0 and mask[gold[step]]:
                score = scores[gold[step]]
                violation = scores[other] - score + self.learner.cost + self.learner.margin
                if violation > 0.0 or best == other:
                    self.scorer.add_changes(state, gold[step], 1.0, self.learner.changes)
                    self.scorer.add_changes(state, other, -1.0, self.learner.changes)
                    self.learner.apply(violation)
            self.system.apply(
                state, gold[step] if self.system.static_oracle else best, state + size
            )
            memcpy(state, state + size, size)
        return n_wrong

    cdef Py_ssize_t _walk(
        self, const int32_t* gold, Py_ssize_t n_gold, Py_ssize_t* step, double* loss
    ) except? -2 nogil:
        """Search up to the update point; return the item to learn against, or -1.

        step: how many actions of gold stand against it. loss: of the update rule.
        """
        cdef Py_ssize_t size = self.system.state_size
        cdef Py_ssize_t n_slots = self.system.n_slots()
        cdef Py_ssize_t gold_slot = 0
        cdef Py_ssize_t gold_step = 0
        cdef Py_ssize_t worst_item = -1
        cdef Py_ssize_t other
        cdef Py_ssize_t count
        cdef Py_ssize_t first
        cdef Py_ssize_t slot
        cdef Py_ssize_t i
        cdef double gold_score = 0.0
        cdef double margin = self.learner.margin
        cdef double worst = -INFINITY
        cdef double violation
        cdef bint lost = False
        cdef bint competes
        cdef bint survives
        cdef bint is_last
        reserve(&self.buffers, self._gold_states, (n_gold + 1) * size)
        self.system.init(self._gold_states)
        self.agenda.begin()
        self.agenda._margin = self.agenda.margin
        for slot in range(n_slots):
            count = self.agenda.open(slot, self.agenda.width)
            first = self.agenda.n_items - count
            is_last = slot == n_slots - 1 or self.agenda.has_ended(first, count, 1)
            if slot == gold_slot:
                competes = not is_waiting(&self.system.slots, slot, n_slots - 1)
                survives = False
                for i in range(first, first + count):
                    survives = survives or self.agenda.items[i].is_gold
                lost = lost or not survives
                if gold_step > 0 and count > 0 and competes:
                    # Of items other than gold; one that is gold again would say nothing.
                    other = first
                    while other < first + count and self.agenda.items[other].is_gold and (
                        other == first or self.agenda.known != NULL
                    ):
                        other += 1
                    if other == first + count:
                        other = -1
                    if other >= 0:
                        violation = self.agenda.items[other].score - gold_score
                        if (
                            is_last or self.update == MAX_VIOLATION
                            or (self.update == EARLY and lost)
                        ) and (violation > worst or self.update != MAX_VIOLATION):
                            worst = violation
                            worst_item = other
                            step[0] = gold_step
                    if is_last and self.agenda.items[first].is_gold and not lost:
                        # Right; passive-aggressive rules may want more than that.
                        worst_item = other
                        step[0] = gold_step
                        worst = -INFINITY
                        if other >= 0:
                            worst = self.agenda.items[other].score - gold_score
                        if margin == 0.0 or worst <= -margin:
                            return -1
                        loss[0] = margin + worst
                        return worst_item
                if lost and self.update == EARLY and worst_item >= 0:
                    break
                if gold_step < n_gold:
                    memset(self.agenda.mask, 0, self.system.n_actions)
                    self.agenda.mask[gold[gold_step]] = 1
                    self.scorer.score(
                        self._gold_states + gold_step * size, 1, self.agenda.mask,
                        self.agenda.scores,
                    )
                    gold_score += self.agenda.scores[gold[gold_step]]
                    if self.system.has_external_score:
                        gold_score += self.system.external_score(
                            self._gold_states + gold_step * size, gold[gold_step]
                        )
                    gold_slot = gold_step + 1
                    if not self.system.slots.in_step:
                        gold_slot = self.system.slot(
                            self._gold_states + gold_step * size, gold[gold_step]
                        )
                    self.system.reserve_states(1)
                    self.system.apply(
                        self._gold_states + gold_step * size, gold[gold_step],
                        self._gold_states + (gold_step + 1) * size,
                    )
                    gold_step += 1
            if is_last:
                break
            self.agenda.expand(first, count)
        loss[0] = worst + margin
        return worst_item

    cdef int _compare(
        self, const int32_t* gold, Py_ssize_t n_gold, Py_ssize_t n_predicted
    ) except -1 nogil:
        """Collect Φ(gold) - Φ(predicted) of the first actions of gold and of those predicted.

        The states that were predicted are gone through again: when states are merged, those of the
        agenda may lie on others.
        """
        cdef Py_ssize_t size = self.system.state_size
        cdef Py_ssize_t common = 0
        cdef Py_ssize_t i
        cdef char* state
        while (
            common < n_gold and common < n_predicted and self._predicted[common] == gold[common]
        ):
            common += 1
        for i in range(common, n_gold):
            self.scorer.add_changes(
                self._gold_states + i * size, gold[i], 1.0, self.learner.changes
            )
        reserve(&self.buffers, self._states, 2 * size)
        self.system.reserve_states(n_predicted - common)
        state = self._states
        memcpy(state, self._gold_states + common * size, size)
        for i in range(common, n_predicted):
            self.scorer.add_changes(state, self._predicted[i], -1.0, self.learner.changes)
            self.system.apply(state, self._predicted[i], state + size)
            memcpy(state, state + size, size)
        return 0
