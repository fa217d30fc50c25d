"""The agenda: one decoder for all transition systems (Zhang & Clark 2011, section 2).

States compete in slots. Slots are visited in rising order; of the candidates that have gathered in
a slot the best `width` become items and are expanded by all legal actions. What a slot is, is the
task's to say: the characters consumed give the single beam, the place of complete words gives
multiple beams (Fig. 4), and, with merging and no limit, exact dynamic programming (Fig. 5). States
that are not to be compared yet can wait in slots that keep all of them.

States of a stack are merged when their tops look alike, and go on from all that these lie on: the
graph-structured stack of Huang & Sagae 2010, section 3. An item holds the score of the best way to
it, the score of what has been done since its top was put on the stack, and, in the item where that
was, links to the items that lie below.

Candidates of equal rank are ordered by their action, then by the rank of their parent, so that a
run can be repeated bit for bit.

Where a model is sure, few states are worth going on from: with a margin, those are dropped whose
rank lies further than that behind the best of their slot.
"""

cimport cython
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.string cimport memset

from spacy_structreg.learn.memory cimport BufferOwner, reserve
from spacy_structreg.search.scorer cimport StateScorer
from spacy_structreg.search.transition_system cimport MAX_KINDS, SlotPolicy, is_waiting

import numpy as np

NO_LIMIT = 0x7FFFFFFF


cdef enum:
    # So many items are scored together.
    TOGETHER = 64
    # Up to so many candidates are sorted by insertion, which is faster than a heap for few.
    FEW = 64
    # In wider beams candidates are not held to the least that a slot will keep.
    MOST_BOUNDS = 1024
    MOST_BOUNDS_WHEN_MERGING = 64
    NO_BOUND = 0
    # So many ranks are noted, of as many slots as that allows.
    BOUNDS = 0x4000


@cython.final
cdef class Agenda(BufferOwner):
    """Beam search over the states of a task. It holds working memory: use one in each thread.

    scorer: scores the actions of a state; its system is the task.
    width: how many items a slot keeps, ≥ 1; None for no limit.
    merge: keep only the best of the candidates of a slot that no later score can tell apart.
    margin: drop those whose rank is lower than that of the best of their slot by more than this,
        if only the best derivation is searched for; None drops none.
    Raises ValueError if the width is less than 1, or the margin less than 0.
    """

    def __init__(self, StateScorer scorer not None, width=16, bint merge=False, margin=None):
        if width is not None and not 1 <= width <= NO_LIMIT:
            raise ValueError(f"beam must be at least 1, got {width}")
        if margin is not None and not margin >= 0:
            raise ValueError(f"margin must be at least 0, got {margin}")
        self.scorer = scorer
        self.system = scorer.system
        self.width = NO_LIMIT if width is None else width
        self.merge = merge
        self._ranks_apart = scorer.system.slots.ranking_action >= 0 and width is not None
        self.margin = INFINITY if margin is None else margin
        reserve(&self.buffers, self.mask, max(1, self.system.n_actions) * TOGETHER)
        reserve(&self.buffers, self.scores,  max(1, self.system.n_actions) * TOGETHER)
        reserve(&self.buffers, self._right, max(1, self.system.n_actions))
        self._right_after = -1

    def __reduce__(self):
        width = None if self.width == NO_LIMIT else self.width
        return Agenda, (self.scorer, width, self.merge, self.margin)

    cdef void* state(self, Py_ssize_t item) noexcept nogil:
        """The state of an item."""
        return self._states + item * self.system.state_size

    cdef int begin(self) except -1 nogil:
        """Start an agenda for the loaded sentence, with its first item."""
        cdef Py_ssize_t n_slots = self.system.n_slots()
        self._last_slot = n_slots - 1
        reserve(&self.buffers, self._heads, n_slots)
        memset(self._heads, 0xFF, n_slots * sizeof(int32_t))
        reserve(&self.buffers, self.items, 1)
        reserve(&self.buffers, self._states, self.system.state_size)
        self._n_candidates = 0
        self._free_candidate = -1
        self._right_after = -1
        self.n_items = 1
        self.items[0] = Item(0.0, -1, -1, 0, self.gold != NULL, 0.0, True, -1, 0, -1)
        self._packs = self.merge and self.system.first_pop > 0
        self._n_links = 0
        self._margin = INFINITY
        self._is_relative = False
        self._keep = NO_BOUND
        # States that are merged on a stack lie on all that they were put on.
        if not self._packs and self.width <= (
            MOST_BOUNDS_WHEN_MERGING if self.merge else MOST_BOUNDS
        ):
            self._begin_bounds(self.width)
        self._is_plain = (
            self._keep != NO_BOUND and not self.merge and self.cost == 0.0
            and self.system.slots.in_step and self.system.slots.period == 0
            and not self.system.has_external_score and not self.system.has_heuristic
        )
        self.system.init(self._states)
        self.scorer.clear_memo()
        return 0

    cdef Py_ssize_t open(self, Py_ssize_t slot, Py_ssize_t width) except -1 nogil:
        """Turn the best candidates of a slot into items, best first; return their number.

        They are the last of the items. The first slot holds the first item only. Where states do
        not compete, they all become items, in the order in which they came.
        """
        cdef const Candidate* kept
        cdef uint64_t signature
        cdef Py_ssize_t n
        cdef Py_ssize_t n_kept = 0
        cdef Py_ssize_t room = 16
        cdef Py_ssize_t next_one = 0
        cdef Py_ssize_t place = 0
        cdef Py_ssize_t i
        cdef double least
        cdef bint is_heap
        if slot == 0:
            return 1
        n = self._gather(slot)
        if n == 0:
            return 0
        if is_waiting(&self.system.slots, slot, self._last_slot):
            return self._keep_all(n)
        is_heap = (n if self.merge else min(n, width)) > FEW
        if is_heap:
            i = n // 2 - 1
            while i >= 0:
                self._sift_down(n, i)
                i -= 1
        else:
            self._sort(n, n if self.merge else min(n, width))
        if self.merge:
            while room < 4 * min(n, width):
                room *= 2
            reserve(&self.buffers, self._signatures, room)
            memset(self._signatures, 0, room * sizeof(uint64_t))
            reserve(&self.buffers, self._signed, room)
        reserve(&self.buffers, self.items, self.n_items + min(n, width))
        reserve(
            &self.buffers, self._states, (self.n_items + min(n, width)) * self.system.state_size
        )
        self.system.reserve_states(min(n, width))
        least = self._ranked[0].rank - self._margin
        while n > 0 and n_kept < width and self._ranked[next_one].rank >= least:
            kept = &self._candidates[self._ranked[next_one].place]
            if self.merge:
                signature = (
                    self.system.signature(self.state(kept.parent), kept.action)
                    if kept.below < 0
                    else self.system.apply_on(
                        self.state(kept.parent), kept.action, self.state(kept.below),
                        self.state(self.n_items),
                    )
                )
                # 0 marks an empty place.
                signature |= <uint64_t> (signature == 0)
                place = self._find_signature(signature, room)
            if not self.merge or self._signatures[place] == 0:
                if self.merge:
                    self._signatures[place] = signature
                    self._signed[place] = <int32_t> self.n_items
                self._add_item(kept)
                n_kept += 1
            elif self._packs and kept.below < 0:
                self._add_link(self._signed[place], kept)
            n -= 1
            if not is_heap:
                next_one += 1
            elif n:
                self._ranked[0] = self._ranked[n]
                self._sift_down(n, 0)
        return n_kept

    cdef Py_ssize_t _keep_all(self, Py_ssize_t n) except -1 nogil:
        """Turn all gathered candidates into items; return their number."""
        cdef Py_ssize_t i
        reserve(&self.buffers, self.items, self.n_items + n)
        reserve(&self.buffers, self._states, (self.n_items + n) * self.system.state_size)
        self.system.reserve_states(n)
        for i in range(n):
            self._add_item(&self._candidates[self._ranked[i].place])
        return n

    cdef int _add_item(self, const Candidate* candidate) except -1 nogil:
        """Turn a candidate into an item; the caller has reserved space.

        If it lies on another item, its state has been written.
        """
        cdef const Item* parent = &self.items[candidate.parent]
        cdef const Item* below
        cdef Item* item = &self.items[self.n_items]
        cdef bint follows = self._follows_gold(candidate.parent, candidate.action)
        item[0] = Item(
            candidate.score, candidate.parent, candidate.action, parent.step + 1,
            parent.is_gold and follows, 0.0, True, candidate.below, <int32_t> self.n_items, -1,
        )
        if candidate.below >= 0:
            below = &self.items[candidate.below]
            follows = (
                follows and parent.inside_is_gold
                and self._follows_gold(candidate.below, self.items[parent.origin].action)
            )
            item.inside = candidate.inside
            item.inside_is_gold = follows and below.inside_is_gold
            item.is_gold = follows and below.is_gold
            item.origin = below.origin
        else:
            self.system.apply(
                self.state(candidate.parent), candidate.action, self.state(self.n_items)
            )
            if self._packs:
                self._add_link(self.n_items, candidate)
        self.n_items += 1
        return 0

    cdef bint _follows_gold(self, Py_ssize_t item, int action) noexcept nogil:
        """Return True if an action is the gold action after an item."""
        cdef int32_t step = self.items[item].step
        if self.known != NULL:
            if self._right_after != item:
                self._right_after = item
                memset(self._right, 0, self.system.n_actions)
                self.system.constrain(self.known)
                self.system.legal(self.state(item), self._right)
                self.system.constrain(NULL)
            return self._right[action]
        return step < self.n_gold and self.gold[step] == action

    cdef int _add_link(self, Py_ssize_t item, const Candidate* candidate) except -1 nogil:
        """Record an item as a further parent of the stack below a candidate."""
        reserve(&self.buffers, self._links, self._n_links + 1)
        self._links[self._n_links] = Link(
            candidate.inside, candidate.parent, self.items[item].link
        )
        self.items[item].link = <int32_t> self._n_links
        self._n_links += 1
        return 0

    cdef Py_ssize_t _gather(self, Py_ssize_t slot) except -1 nogil:
        """List the candidates of a slot in order of arrival; return their number.

        Their places are free for others from the next expansion on.
        """
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t i
        cdef int32_t place = self._heads[slot]
        cdef int32_t last = -1
        cdef Ranked other
        while place >= 0:
            reserve(&self.buffers, self._ranked, n + 1)
            self._ranked[n].rank = self._candidates[place].rank
            self._ranked[n].place = place
            n += 1
            last = place
            place = self._candidates[place].following
        if n == 0:
            return 0
        self._candidates[last].following = self._free_candidate
        self._free_candidate = self._heads[slot]
        # The last that came stands first. Parents were expanded best first: nearly sorted.
        for i in range(n // 2):
            other = self._ranked[i]
            self._ranked[i] = self._ranked[n - 1 - i]
            self._ranked[n - 1 - i] = other
        return n

    cdef bint _is_better(self, const Ranked* one, const Ranked* other) noexcept nogil:
        cdef const Candidate* first
        cdef const Candidate* second
        if one.rank != other.rank:
            return one.rank > other.rank
        first = &self._candidates[one.place]
        second = &self._candidates[other.place]
        if first.action != second.action:
            return first.action < second.action
        if first.parent != second.parent:
            return first.parent < second.parent
        return first.below < second.below

    cdef void _sort(self, Py_ssize_t n, Py_ssize_t most) noexcept nogil:
        """Sort the best `most` candidates, best first, and drop the others."""
        cdef Ranked* ranked = self._ranked
        cdef Ranked moved
        cdef Py_ssize_t n_sorted = 0
        cdef Py_ssize_t i
        cdef Py_ssize_t j
        for i in range(n):
            moved = ranked[i]
            j = n_sorted
            if n_sorted == most:
                j -= 1
                if not self._is_better(&moved, &ranked[j]):
                    continue
            else:
                n_sorted += 1
            while j > 0 and self._is_better(&moved, &ranked[j - 1]):
                ranked[j] = ranked[j - 1]
                j -= 1
            ranked[j] = moved

    cdef void _sift_down(self, Py_ssize_t n, Py_ssize_t place) noexcept nogil:
        """Restore the max-heap of candidates below one index."""
        cdef Ranked* heap = self._ranked
        cdef Ranked moved = heap[place]
        cdef Py_ssize_t child
        while True:
            child = 2 * place + 1
            if child >= n:
                break
            if child + 1 < n and self._is_better(&heap[child + 1], &heap[child]):
                child += 1
            if not self._is_better(&heap[child], &moved):
                break
            heap[place] = heap[child]
            place = child
        heap[place] = moved

    cdef Py_ssize_t _find_signature(self, uint64_t signature, Py_ssize_t room) noexcept nogil:
        """Return the slot of a signature in the hash table, or the empty slot for it."""
        cdef Py_ssize_t place = <Py_ssize_t> (
            (signature * <uint64_t> 0x9E3779B97F4A7C15ULL) >> 32 & <uint64_t> (room - 1)
        )
        while self._signatures[place] != 0 and self._signatures[place] != signature:
            place = (place + 1) & (room - 1)
        return place

    cdef int expand(self, Py_ssize_t first, Py_ssize_t count) except -1 nogil:
        """Expand items: put the successors by all legal actions into their slots."""
        cdef Py_ssize_t n_actions = self.system.n_actions
        cdef Py_ssize_t n
        cdef Py_ssize_t i
        while count > 0:
            n = min(count, TOGETHER)
            memset(self.mask, 0, n * n_actions)
            for i in range(n):
                self.system.legal(self.state(first + i), self.mask + i * n_actions)
            self._expand_masked(first, n)
            first += n
            count -= n
        return 0

    cdef int _expand_masked(self, Py_ssize_t first, Py_ssize_t n) except -1 nogil:
        """`expand` for up to `TOGETHER` items whose legal actions are known: `mask`."""
        cdef Py_ssize_t n_actions = self.system.n_actions
        cdef Py_ssize_t i
        if self._is_relative:
            self.scorer.score_apart(self.state(first), n, self.mask, self.scores)
        else:
            self.scorer.score(self.state(first), n, self.mask, self.scores)
        for i in range(n):
            if self.system.n_kinds and (self.merge or self.system.kinds_compete):
                self._keep_best_of_kinds(
                    first + i, self.mask + i * n_actions, self.scores + i * n_actions
                )
            self._propose(first + i, self.mask + i * n_actions, self.scores + i * n_actions)
        return 0

    cdef bint _goes_on_alone(self, Py_ssize_t item) except -1 nogil:
        """Take the only legal action of the last item, with no score, or expand it.

        Returns whether there is only one.
        """
        cdef int action = self.system.only_action(self.state(item))
        cdef int n = 1
        cdef int a
        if action < 0:
            n = 0
            memset(self.mask, 0, self.system.n_actions)
            self.system.legal(self.state(item), self.mask)
            for a in range(self.system.n_actions):
                if self.mask[a]:
                    action = a
                    n += 1
        if n != 1:
            self._expand_masked(item, 1)
            return False
        reserve(&self.buffers, self.items, item + 2)
        reserve(&self.buffers, self._states, (item + 2) * self.system.state_size)
        self.system.reserve_states(1)
        self.items[item + 1] = Item(
            self.items[item].score, <int32_t> item, action, self.items[item].step + 1, False, 0.0,
            True, -1, <int32_t> item + 1, -1,
        )
        self.n_items += 1
        self.system.apply(self.state(item), action, self.state(item + 1))
        return True

    cdef void _keep_best_of_kinds(
        self, Py_ssize_t item, uint8_t* mask, const double* scores
    ) noexcept nogil:
        """Clear the flags of actions that score below another of their kind on the same item."""
        cdef int best[MAX_KINDS]
        cdef double highest[MAX_KINDS]
        cdef double score
        cdef int action
        cdef int kind
        for kind in range(self.system.n_kinds):
            best[kind] = -1
        for action in range(self.system.n_actions):
            if not mask[action]:
                continue
            kind = self.system.kinds[action]
            if kind < 0:
                continue
            mask[action] = 0
            score = scores[action]
            if self.system.has_external_score:
                score += self.system.external_score(self.state(item), action)
            if self.cost != 0.0 and not self._follows_gold(item, action):
                score += self.cost
            if best[kind] < 0 or score > highest[kind]:
                best[kind] = action
                highest[kind] = score
        for kind in range(self.system.n_kinds):
            if best[kind] >= 0:
                mask[best[kind]] = 1

    cdef int _propose(
        self, Py_ssize_t item, const uint8_t* mask, const double* scores
    ) except -1 nogil:
        """Put the candidates of one item into their slots."""
        cdef const void* state = self.state(item)
        cdef double before = self.items[item].score
        cdef int32_t step = self.items[item].step
        cdef const Link* link
        cdef Py_ssize_t slot = step + 1
        cdef int32_t place
        cdef double inside
        cdef double score
        cdef double rank
        cdef double paid
        cdef double outside
        cdef int action
        cdef const SlotPolicy* slots = &self.system.slots
        cdef bint waits = False
        cdef bint is_apart = False
        cdef bint is_kept = False
        if self._is_plain:
            return self._propose_plainly(item, mask, scores)
        for action in range(self.system.n_actions):
            if not mask[action]:
                continue
            if not slots.in_step:
                slot = self.system.slot(state, action)
            if is_kept:
                self._put(slot, item, action, before + scores[action], rank, scores[action], -1)
                continue
            paid = 0.0
            if self.cost != 0.0 and not self._follows_gold(item, action):
                paid = self.cost
            if self._packs and action >= self.system.first_pop:
                place = self.items[self.items[item].origin].link
                while place >= 0:
                    link = &self._links[place]
                    inside = link.score + self.items[item].inside + scores[action] + paid
                    score = self.items[link.item].score + inside
                    inside += self.items[link.item].inside
                    self._put(slot, item, action, score, score, inside, link.item)
                    place = link.following
                continue
            score = before + scores[action]
            if slots.period > 0:
                waits = is_waiting(slots, slot, self._last_slot)
                is_apart = self._ranks_apart and not waits and slot < self._last_slot
            rank = before + scores[slots.ranking_action] if is_apart else score
            if self.system.has_external_score:
                outside = self.system.external_score(state, action)
                score += outside
                rank += outside
            score += paid
            rank += paid
            if self.system.has_heuristic:
                rank += self.system.heuristic(state, action)
            if (
                is_apart and slots.alike and self._keep and self.cost == 0.0
                and not self.system.has_external_score and not self.system.has_heuristic
            ):
                # So will be all that follow.
                is_kept = self._may_stay(slot, rank, state, action)
                if not is_kept:
                    break
            elif self._keep and not waits and not self._may_stay(slot, rank, state, action):
                continue
            self._put(slot, item, action, score, rank, scores[action] + paid, -1)
        return 0

    cdef int _propose_plainly(
        self, Py_ssize_t item, const uint8_t* mask, const double* scores
    ) except -1 nogil:
        """`_propose` where the score decides, among the candidates of one slot."""
        cdef double before = self.items[item].score
        cdef Py_ssize_t slot = self.items[item].step + 1
        cdef const Bounded* bounded = self._bounded_of(slot)
        cdef double score
        cdef int action
        for action in range(self.system.n_actions):
            score = before + scores[action]
            # Most are told by this alone. What was not scored is anything.
            if (
                score >= bounded.least and mask[action]
                and self._may_stay(slot, score, NULL, action)
            ):
                self._put(slot, item, action, score, score, scores[action], -1)
        return 0

    cdef int _put(
        self, Py_ssize_t slot, Py_ssize_t item, int action, double score, double rank,
        double inside, Py_ssize_t below,
    ) except -1 nogil:
        """Put one candidate into its slot."""
        cdef Candidate* candidate
        cdef int32_t place = self._free_candidate
        if place >= 0:
            self._free_candidate = self._candidates[place].following
        else:
            place = <int32_t> self._n_candidates
            reserve(&self.buffers, self._candidates, self._n_candidates + 1)
            self._n_candidates += 1
        candidate = &self._candidates[place]
        candidate.score = score
        candidate.rank = rank
        candidate.inside = inside
        candidate.parent = <int32_t> item
        candidate.below = <int32_t> below
        candidate.action = action
        candidate.following = self._heads[slot]
        self._heads[slot] = place
        return 0

    cdef int _begin_bounds(self, Py_ssize_t keep) except -1 nogil:
        """Forget all ranks; track the best `keep` ranks of each slot from now on."""
        cdef Py_ssize_t n_slots = self.system.n_slots()
        cdef Py_ssize_t row
        self._keep = keep
        self._n_bounded = 1
        while self._n_bounded < n_slots and self._n_bounded * 2 * keep <= BOUNDS:
            self._n_bounded *= 2
        reserve(&self.buffers, self._bounds, self._n_bounded * keep)
        reserve(&self.buffers, self._bounded, self._n_bounded)
        for row in range(self._n_bounded):
            self._bounded[row] = Bounded(-1, 0, -INFINITY)
        return 0

    cdef Bounded* _bounded_of(self, Py_ssize_t slot) noexcept nogil:
        """Return the tracked ranks of a slot."""
        # Slots that share a row forget each other, and so keep more for a while.
        cdef Bounded* bounded = &self._bounded[slot & (self._n_bounded - 1)]
        if bounded.slot != slot:
            bounded[0] = Bounded(slot, 0, -INFINITY)
        return bounded

    cdef bint _may_stay(
        self, Py_ssize_t slot, double rank, const void* state, int action
    ) noexcept nogil:
        """Return True if a candidate may be among the best of its slot, and track its rank."""
        cdef Bounded* bounded = self._bounded_of(slot)
        cdef Bound* bounds = self._bounds + (slot & (self._n_bounded - 1)) * self._keep
        cdef uint64_t signature = 0
        cdef Py_ssize_t place
        cdef Py_ssize_t child
        if rank < bounded.least:
            return False
        bounded.least = max(bounded.least, rank - self._margin)
        place = bounded.n
        if self.merge:
            signature = self.system.signature(state, action)
            place = 0
            while place < bounded.n and bounds[place].signature != signature:
                place += 1
            if place < bounded.n and rank <= bounds[place].rank:
                # Of equal ones the order decides, when the slot is opened.
                return rank == bounds[place].rank
        if place == bounded.n < self._keep:
            bounded.n += 1
            while place > 0 and rank < bounds[(place - 1) // 2].rank:
                bounds[place] = bounds[(place - 1) // 2]
                place = (place - 1) // 2
        else:
            if place == bounded.n:
                place = 0
            while True:
                child = 2 * place + 1
                if child >= bounded.n:
                    break
                if child + 1 < bounded.n and bounds[child + 1].rank < bounds[child].rank:
                    child += 1
                if bounds[child].rank >= rank:
                    break
                bounds[place] = bounds[child]
                place = child
        bounds[place] = Bound(rank, signature)
        if bounded.n == self._keep:
            bounded.least = max(bounded.least, bounds[0].rank)
        return True

    cdef Py_ssize_t search(self, Py_ssize_t n_best, Py_ssize_t* n_found) except -1 nogil:
        """Decode the sentence that the system has loaded.

        Returns the best of the items of the last slot; the `n_found` that were found, at most
        `n_best` or the width, whichever is more, follow it in the order of their rank.
        """
        cdef Py_ssize_t n_slots = self.system.n_slots()
        cdef Py_ssize_t most = max(self.width, n_best)
        cdef Py_ssize_t slot
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t count = 0
        cdef bint is_last
        cdef bint is_open = False
        self.begin()
        if n_best == 1:
            self._margin = self.margin
        if self._is_plain and most == 1 and not self.system.slots.ends_early:
            n_found[0] = self._search_greedily(n_slots)
            return self.n_items - 1
        if self._keep:
            self._begin_bounds(most)
        # All that compete are scored together.
        self._is_relative = (
            self.ranks_only and most <= TOGETHER and self.system.slots.in_step
            and not self.system.slots.ends_early and self.system.first_pop == 0
        )
        for slot in range(n_slots):
            is_last = slot == n_slots - 1
            # Any slot may be the last of a task that ends early.
            if not is_open:
                count = self.open(
                    slot, most if is_last or self.system.slots.ends_early else self.width
                )
            first = self.n_items - count
            if is_last or self.has_ended(first, count, n_best):
                break
            # What a state adds that all others come from changes none of their order.
            is_open = False
            if self._is_relative and count == 1:
                is_open = self._goes_on_alone(first)
            else:
                self.expand(first, count)
        n_found[0] = count
        return first

    cdef Py_ssize_t _search_greedily(self, Py_ssize_t n_slots) except -1 nogil:
        """`search` of a width of 1, which needs no candidates; returns the number of items found.

        Only where the score decides.
        """
        cdef Py_ssize_t step
        cdef double before = 0.0
        cdef double highest
        cdef double score
        cdef int action
        cdef int best
        reserve(&self.buffers, self.items, n_slots)
        reserve(&self.buffers, self._states, n_slots * self.system.state_size)
        self.system.reserve_states(n_slots)
        for step in range(n_slots - 1):
            memset(self.mask, 0, self.system.n_actions)
            self.system.legal(self.state(step), self.mask)
            self.scorer.score(self.state(step), 1, self.mask, self.scores)
            best = -1
            highest = -INFINITY
            for action in range(self.system.n_actions):
                score = before + self.scores[action]
                if score > highest and self.mask[action]:
                    best = action
                    highest = score
            if best < 0:
                return 0
            before = highest
            self.items[step + 1] = Item(
                highest, <int32_t> step, best, <int32_t> step + 1, False, 0.0, True, -1,
                <int32_t> step + 1, -1,
            )
            self.n_items += 1
            self.system.apply(self.state(step), best, self.state(step + 1))
        return 1

    cdef bint has_ended(
        self, Py_ssize_t first, Py_ssize_t count, Py_ssize_t n_best
    ) noexcept nogil:
        """Return True if the best `n_best` items of a slot are final although more slots follow."""
        cdef Py_ssize_t i
        if not self.system.slots.ends_early or count == 0:
            return False
        for i in range(first, first + min(count, n_best)):
            if not self.system.is_final(self.state(i)):
                return False
        return True

    cdef int trace(self, Py_ssize_t item, int32_t* actions) except -1 nogil:
        """Write the actions that lead to an item: one per step."""
        cdef Py_ssize_t step = self.items[item].step
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t place
        cdef const Item* at
        # Items whose actions are still to be written, the last first: those that end in an item, or
        # only those since its top was put on the stack, which are marked by the item's complement.
        reserve(&self.buffers, self._pending, 2)
        self._pending[0] = <int32_t> item
        n = 1
        while n > 0:
            n -= 1
            place = self._pending[n]
            at = &self.items[place if place >= 0 else ~place]
            if at.parent < 0:
                continue
            step -= 1
            actions[step] = at.action
            reserve(&self.buffers, self._pending, n + 2)
            if at.below >= 0:
                self._pending[n] = at.below if place >= 0 else ~at.below
                self._pending[n + 1] = ~at.parent
                n += 2
            elif place >= 0:
                self._pending[n] = at.parent
                n += 1
        return 0

    # For tests and for looking at what a model does -----------------------------------------------

    def derivations(self, Py_ssize_t n_best=1):
        """The best sequences of actions for the loaded sentence: (score, actions) each."""
        cdef Py_ssize_t count = 0
        cdef Py_ssize_t first
        cdef int32_t[::1] actions
        cdef Py_ssize_t n
        cdef Py_ssize_t i
        with nogil:
            first = self.search(n_best, &count)
        found = []
        for i in range(first, first + min(n_best, count)):
            n = self.items[i].step
            actions = np.empty(n + 1, dtype=np.int32)
            self.trace(i, &actions[0])
            found.append((self.items[i].score, np.asarray(actions)[:n].tolist()))
        return found

    def score(self, actions):
        """The score of a sequence of actions from the first state, legal or not to the mask.

        Raises ValueError for an action that does not exist, and for one after the last.
        """
        cdef BufferOwner scratch = BufferOwner()
        cdef char* states = NULL
        cdef Py_ssize_t size = self.system.state_size
        cdef double total = 0.0
        cdef int32_t action
        cdef int i
        cdef list taken = list(actions)
        reserve(&scratch.buffers, states, 2 * size)
        self.scorer.clear_memo()
        self.system.init(states)
        for i in range(len(taken)):
            action = taken[i]
            if not 0 <= action < self.system.n_actions:
                raise ValueError(f"there is no action {action}")
            if self.system.is_final(states + (i % 2) * size):
                raise ValueError(f"the sentence has ended before action {i}")
            memset(self.mask, 0, self.system.n_actions)
            self.mask[action] = 1
            self.scorer.score(states + (i % 2) * size, 1, self.mask, self.scores)
            total += self.scores[action]
            if self.system.has_external_score:
                total += self.system.external_score(states + (i % 2) * size, action)
            self.system.reserve_states(1)
            self.system.apply(
                states + (i % 2) * size, action, states + (1 - i % 2) * size
            )
        return total

    def legal(self, actions):
        """Legal actions after a sequence of actions from the first state.

        Raises ValueError for an action that does not exist, and for one after the last.
        """
        cdef Py_ssize_t size = self.system.state_size
        cdef BufferOwner scratch = BufferOwner()
        cdef char* states = NULL
        cdef int32_t action
        cdef int i = 0
        reserve(&scratch.buffers, states, 2 * size)
        self.system.init(states)
        for action in actions:
            if not 0 <= action < self.system.n_actions:
                raise ValueError(f"there is no action {action}")
            if self.system.is_final(states + i * size):
                raise ValueError("the sentence has ended before the last of the actions")
            self.system.reserve_states(1)
            self.system.apply(states + i * size, action, states + (1 - i) * size)
            i = 1 - i
        memset(self.mask, 0, self.system.n_actions)
        if not self.system.is_final(states + i * size):
            self.system.legal(states + i * size, self.mask)
        return [action for action in range(self.system.n_actions) if self.mask[action]]
