"""Perceptrons and passive-aggressive learners on label chains: one pass over a corpus as one call.

A visit of an example is the same for all settings: corrupt the input, score and decode it, collect
the difference of gold and predicted features, and let the learner apply it.

Of an example that is annotated in part, every path within its mask is right. The gold output is the
best of them by the weights at hand, and there is nothing to learn as long as the prediction is one
of them, with its margin if the rule asks for one.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

from spacy_structreg.learn.learner cimport Learner
from spacy_structreg.learn.memory cimport BufferOwner, reserve, reserve_zeros
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.learn.random cimport next_unit, next_word
from spacy_structreg.learn.rows cimport TrainingRows, draw_of_table, is_dropped
from spacy_structreg.search.viterbi cimport LabelGraph, NBestViterbi
from spacy_structreg.tasks.chain cimport ChainData, ChainFeatures, CompiledChain, Listed

import numpy as np

from spacy_structreg.training.visits import checked_pieces


def cut(lengths, mini_sample, uint64_t seed):
    """Cut sequences at random into mini-samples: structure regularization (Sun 2014, Alg. 1).

    lengths: of the sequences. mini_sample: the mean length of the pieces, a real number ≥ 1; 5.5
        means pieces of 5 and of 6, half of each. None leaves all sequences whole, and so does a
        length that no sequence exceeds. seed: of the cuts.
    A sequence begins within a piece, at a place drawn anew, so that its cuts differ from epoch to
    epoch.
    Returns the number of the sequence, the first position and the number of positions of each
    piece: int64 of shape (n_pieces, 3). Sequences without positions are one piece.
    """
    cdef const int64_t[::1] sizes = np.ascontiguousarray(lengths, dtype=np.int64)
    cdef double mean = np.inf if mini_sample is None else mini_sample
    cdef uint64_t state = seed
    cdef Py_ssize_t n_pieces = 0
    cdef Py_ssize_t i
    cdef int64_t begin
    cdef int64_t end
    cdef int64_t whole
    if not mean >= 1:
        raise ValueError(f"mini_sample must be at least 1, got {mini_sample}")
    most = sum([max(1, n) for n in lengths]) if mean < np.inf else len(lengths)
    pieces = np.empty((most, 3), dtype=np.int64)
    cdef int64_t[:, ::1] view = pieces
    for i in range(sizes.shape[0]):
        begin = 0
        while begin < sizes[i] or (begin == 0 and sizes[i] == 0):
            end = sizes[i]
            if sizes[i] > mean:
                whole = <int64_t> mean
                whole += next_unit(&state) < mean - <double> whole
                if begin == 0:
                    whole = 1 + <int64_t> (next_unit(&state) * <double> whole)
                end = min(end, begin + whole)
            view[n_pieces, 0] = i
            view[n_pieces, 1] = begin
            view[n_pieces, 2] = end - begin
            n_pieces += 1
            begin = max(end, 1)
    return pieces[:n_pieces]


def count_features(ChainFeatures features not None, Learner learner not None, chains):
    """Count the features of each row in sequences: a list of int64 (n_rows,) arrays.

    chains: `CompiledChain`s. Pairs of labels count once a position, whichever they are.
    Raises ValueError if a sequence was compiled for another learner.
    """
    cdef CompiledChain chain
    cdef const int32_t* rows
    cdef const Listed* listed
    cdef int64_t[::1] view
    cdef Py_ssize_t n
    cdef Py_ssize_t i
    cdef int s
    counts = [np.zeros(table.n_rows, dtype=np.int64) for table in learner.tables]
    for number, chain in enumerate(chains):
        if not learner.owns(chain.numbering, chain.n_rows_known):
            raise ValueError(f"sequence {number} was compiled for another learner")
        rows = chain.data.rows
        for s in range(features.n_shapes):
            if s == features.tag_bigram:
                counts[s] += chain.data.n
                continue
            view = counts[s]
            n = chain.data.n + features.specs[s].n_shifts - 1
            for i in range(n):
                if rows[i] >= 0:
                    view[rows[i]] += 1
            rows += n
        for s in range(features.n_lists):
            view = counts[features.n_shapes + s]
            listed = &chain.data.lists[s]
            for i in range(listed.starts[chain.data.n]):
                if listed.rows[i] >= 0:
                    view[listed.rows[i]] += 1
    return counts


cdef class ChainTrainer(BufferOwner):
    """Trains a learner on compiled sequences. One thread at a time may use it.

    features, graph: of the model. learner: the `Perceptron` that the sequences were compiled for,
    or a copy of it; its settings say how it learns.
    """

    def __init__(
        self, ChainFeatures features not None, LabelGraph graph not None,
        Perceptron learner not None,
    ):
        cdef TrainingRows table
        cdef Py_ssize_t i
        if tuple([t.n_columns for t in learner.tables]) != features.widths:
            raise ValueError("the learner was made for other features")
        if graph.n_labels != features.n_labels:
            raise ValueError("the label graph was made for other features")
        self.features = features
        self.graph = graph
        self.learner = learner
        self._nbest = NBestViterbi(graph)
        self._viterbi = self._nbest.best
        self._dropout = learner.settings.dropout
        self._threshold = int(learner.settings.hidden_dropout * 2.0 ** 64)
        self._penalised = any(learner.settings.penalties.values())
        reserve_zeros(&self.buffers, self._pairs, features.n_labels * features.n_labels)
        reserve_zeros(&self.buffers, self._pair_rows, features.n_pair_rows + 1)
        if features.tag_bigram >= 0:
            table = learner.tables[features.tag_bigram]
            if table.adaptive:
                raise ValueError("the tag bigram needs dense rows")
            for i in range(features.n_pair_rows):
                # A learner that goes on from trained weights lacks rows of nothing but zeros.
                self._pair_rows[i] = table.insert(i)
            if table.n_rows != features.n_pair_rows:
                raise ValueError("the tag bigram has a row beyond its labels")

    def __reduce__(self):
        return ChainTrainer, (self.features, self.graph, self.learner)

    def epoch(self, chains, pieces, uint64_t noise=0):
        """Visit pieces of sequences once and correct the weights where the prediction is wrong.

        chains: a list of `CompiledChain`. pieces: which to visit, in this order, as `cut` gives
        them; or just the numbers of the sequences, to visit them whole.
        noise: the seed of what is drawn to corrupt the input.
        Returns how many pieces, and how many labels in all, were predicted wrongly.
        The GIL is released. Raises IndexError for pieces that do not exist, ValueError if a
        sequence was compiled for another learner.
        """
        cdef CompiledChain chain
        cdef const int64_t[:, ::1] visits
        # A list of our own keeps the sequences alive while the GIL is released.
        cdef list owned = list(chains)
        cdef Py_ssize_t n_chains = len(owned)
        cdef Py_ssize_t n_rows = self.learner.n_rows()
        cdef Py_ssize_t n_wrong = 0
        cdef Py_ssize_t n_labels_wrong = 0
        cdef Py_ssize_t wrong
        cdef Py_ssize_t i
        cdef BufferOwner scratch = BufferOwner()
        cdef ChainData* views = NULL
        cdef void** tables = self.learner.table_pointers
        lengths = np.array([(<CompiledChain?> chain).data.n for chain in owned], dtype=np.int64)
        pieces = checked_pieces(pieces, lengths)
        visits = pieces
        reserve(&scratch.buffers, views, n_chains)
        for i, chain in enumerate(owned):
            if chain.numbering is not self.learner.numbering or chain.n_rows_known > n_rows:
                raise ValueError(f"sequence {i} was compiled for another learner")
            if chain.data.labels == NULL:
                raise ValueError(f"sequence {i} has no labels to learn from")
            views[i] = chain.data
        self._reserve(
            pieces[:, 2].max(initial=0), any([(<CompiledChain> each).is_partial for each in owned])
        )
        self._noise = noise
        self.learner.begin_epoch()
        if self.features.tag_bigram >= 0:
            for i in range(self.features.n_labels):
                self._read_pairs(tables[self.features.tag_bigram], i)
        self._viterbi.transitions.bind(self._pairs)
        with nogil:
            for i in range(visits.shape[0]):
                wrong = self._visit(
                    tables, &views[visits[i, 0]], visits[i, 1], visits[i, 2]
                )
                n_labels_wrong += wrong
                n_wrong += wrong > 0
        return n_wrong, n_labels_wrong

    def count(self, chains):
        """Count the features of chains, as `count_features`."""
        return count_features(self.features, self.learner, chains)

    cdef int _reserve(self, Py_ssize_t count, bint partial) except -1 nogil:
        """Allocate working memory for the longest piece.

        partial: whether a piece may have a mask.
        """
        reserve(
            &self.buffers, self._scores,
            (count + 2 * self.features.overhang) * self.features.n_labels,
        )
        if self.features.edge_list >= 0:
            self.features.check_pairs(count, 1)
            reserve(
                &self.buffers, self._edges, count * self.features.n_labels * self.features.n_labels
            )
        reserve(&self.buffers, self._path, count)
        if partial:
            reserve(&self.buffers, self._latent, count)
        if partial and self.learner.margin > 0.0:
            reserve(&self.buffers, self._outside, 2 * count * self.features.n_labels)
            reserve(&self.buffers, self._origins, 2 * count * self.features.n_labels)
        reserve(&self.buffers, self._rows, self.features.rows_of(count))
        reserve(&self.buffers, self._hidden, count + 2 * self.features.reach)
        self._viterbi.reserve_positions(count)
        return 0

    cdef Py_ssize_t _visit(
        self, void** tables, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count
    ) except -1 nogil:
        """Decode one piece and update; returns how many labels were wrong."""
        cdef const uint16_t* gold = chain.labels + begin
        cdef const uint8_t* mask = NULL
        cdef double* scores = self._scores + self.features.overhang * self.features.n_labels
        cdef Py_ssize_t wrong = 0
        cdef Py_ssize_t i
        cdef double loss
        if count == 0:
            self.learner.begin_example()
            return 0
        self._score_piece(tables, chain, begin, count)
        self._viterbi.open_start = begin > 0
        self._viterbi.open_end = begin + count < chain.n
        if chain.mask != NULL:
            mask = chain.mask + begin * self.features.n_labels
            self._viterbi.advance(scores, mask, 0, count)
            self._viterbi.finish(count, self._latent)
            gold = self._latent
        self._gold = gold
        loss = self._predict(mask, count, scores)
        self.learner.begin_example()
        for i in range(count):
            wrong += not self._is_right(mask, i, self._path[i])
        if wrong:
            self._compare(chain, begin, count)
            self.learner.apply(loss)
            if self.features.tag_bigram >= 0 and not self._threshold and not self._penalised:
                for i in range(1, count):
                    if gold[i] != self._path[i] or gold[i - 1] != self._path[i - 1]:
                        self._refresh_pairs(tables[self.features.tag_bigram], gold[i - 1])
                        self._refresh_pairs(tables[self.features.tag_bigram], self._path[i - 1])
        return wrong

    cdef void _read_pairs(self, void* table, Py_ssize_t label) noexcept nogil:
        """Copy the weights of the pairs that a label begins."""
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef int32_t row = self._pair_rows[0]
        cdef Py_ssize_t column = label * n_labels
        if self.features.n_pair_rows > 1:
            row = self._pair_rows[label]
            column = 0
        memcpy(
            self._pairs + label * n_labels,
            (<TrainingRows> table)._values + row * (<TrainingRows> table).n_columns + column,
            n_labels * sizeof(double),
        )

    cdef void _refresh_pairs(self, void* table, Py_ssize_t label) noexcept nogil:
        """Pass changed weights of pairs that begin with a label to the decoder."""
        self._read_pairs(table, label)
        self._viterbi.transitions.refresh(label)

    cdef void _score_pairs(self, void* table, int64_t time) noexcept nogil:
        """Bring the weights of all pairs to a time, without those that are dropped."""
        cdef const int32_t* predecessors = self.graph.predecessors
        cdef const int32_t* bounds = self.graph.first_predecessor
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef uint64_t draw = draw_of_table(self._draw, self.features.tag_bigram)
        cdef bint one_row = self.features.n_pair_rows == 1
        cdef Py_ssize_t x
        cdef Py_ssize_t y
        cdef int32_t p
        (<TrainingRows> table).catch_up_run(self._pair_rows, self.features.n_pair_rows, time)
        for x in range(n_labels):
            self._read_pairs(table, x)
        if self._threshold:
            for y in range(n_labels):
                for p in range(bounds[y], bounds[y + 1]):
                    x = predecessors[p]
                    if is_dropped(
                        draw, self._pair_rows[0 if one_row else x],
                        <int> (x * n_labels + y if one_row else y), self._threshold,
                    ):
                        self._pairs[x * n_labels + y] = 0.0
        self._viterbi.transitions.bind(self._pairs)

    cdef void _score_piece(
        self, void** tables, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count
    ) noexcept nogil:
        """Corrupt the input and score it: into `_rows`, `_scores` and the decoder's transitions."""
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef Py_ssize_t reach = self.features.reach
        cdef double* scores = self._scores + self.features.overhang * n_labels
        cdef int64_t time = self.learner.read_time()
        cdef const int32_t* rows = self._rows
        cdef Py_ssize_t n_rows
        cdef Py_ssize_t position
        cdef Py_ssize_t i
        cdef int s
        self.features.slice_rows(chain.rows, chain.n, begin, count, self._rows)
        if self._dropout > 0.0:
            for i in range(count + 2 * reach):
                position = begin - reach + i
                self._hidden[i] = (
                    0 <= position < chain.n and next_unit(&self._noise) < self._dropout
                )
            self.features.hide_rows(self._hidden, count, self._rows)
        if self._threshold:
            self._draw = next_word(&self._noise)
            memset(
                self._scores, 0, (count + 2 * self.features.overhang) * n_labels * sizeof(double)
            )
        for s in range(self.features.n_shapes):
            if s == self.features.tag_bigram:
                if self._threshold or self._penalised:
                    self._score_pairs(tables[s], time)
                continue
            n_rows = count + self.features.specs[s].n_shifts - 1
            (<TrainingRows> tables[s]).catch_up_run(rows, n_rows, time)
            if self._threshold:
                (<TrainingRows> tables[s]).add_run_dropout(
                    rows, n_rows, n_labels,
                    scores - (self.features.specs[s].n_shifts - 1) * n_labels,
                    draw_of_table(self._draw, s), self._threshold,
                )
            rows += n_rows
        if not self._threshold:
            self.features.emissions(tables, self._rows, count, scores)
        if self.features.label_list >= 0:
            for i in range(count):
                self._score_list(
                    tables, self.features.label_list, &chain.lists[self.features.label_list],
                    begin, i, time, scores + i * n_labels,
                )
        self._viterbi.edges = NULL
        if self.features.edge_list >= 0:
            memset(self._edges, 0, count * n_labels * n_labels * sizeof(double))
            for i in range(1, count):
                self._score_list(
                    tables, self.features.edge_list, &chain.lists[self.features.edge_list],
                    begin, i, time, self._edges + (i - 1) * n_labels * n_labels,
                )
            self._viterbi.edges = self._edges

    cdef bint _is_hidden(self, int number, Py_ssize_t i, Py_ssize_t k) noexcept nogil:
        """True if dropout hides feature `k` of position `i` of the piece, of a list."""
        if self._dropout == 0.0:
            return False
        if number == self.features.edge_list:
            return self.features.hides_edge(self._hidden, i, k)
        return self._hidden[self.features.reach + i]

    cdef void _score_list(
        self, void** tables, int number, const Listed* listed, Py_ssize_t begin, Py_ssize_t i,
        int64_t time, double* scores,
    ) noexcept nogil:
        """Add the scores of the features of position `i` of the piece in a list."""
        cdef int64_t first = listed.starts[begin + i]
        cdef Py_ssize_t n = listed.starts[begin + i + 1] - first
        cdef Py_ssize_t k
        if self._dropout == 0.0:
            self._score_cells(tables, number, listed, first, n, time, scores)
            return
        for k in range(n):
            if not self._is_hidden(number, i, k):
                self._score_cells(tables, number, listed, first + k, 1, time, scores)

    cdef void _score_cells(
        self, void** tables, int number, const Listed* listed, int64_t first, Py_ssize_t n,
        int64_t time, double* scores,
    ) noexcept nogil:
        """Add the scores of list features: `n` cells, from `first` on."""
        cdef int table = self.features.n_shapes + number
        (<TrainingRows> tables[table]).catch_up_run(listed.rows + first, n, time)
        if self._threshold:
            (<TrainingRows> tables[table]).add_weighted_dropout(
                listed.rows + first, NULL if listed.values == NULL else listed.values + first, n,
                scores, draw_of_table(self._draw, table), self._threshold,
            )
        else:
            (<TrainingRows> tables[table]).add_weighted(
                listed.rows + first, NULL if listed.values == NULL else listed.values + first, n,
                scores,
            )

    cdef double _pair(self, Py_ssize_t i, Py_ssize_t x, Py_ssize_t y) noexcept nogil:
        """The score of label `y` at position `i` > 0 of the piece after label `x`."""
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef double score = self._pairs[x * n_labels + y]
        if self.features.edge_list >= 0:
            score += self._edges[((i - 1) * n_labels + x) * n_labels + y]
        return score

    cdef bint _is_right(self, const uint8_t* mask, Py_ssize_t i, Py_ssize_t label) noexcept nogil:
        """Return True if a label is gold, or allowed by the mask, at position `i` of the piece."""
        if mask == NULL:
            return label == self._gold[i]
        return mask[i * self.features.n_labels + label]

    cdef double _predict(
        self, const uint8_t* mask, Py_ssize_t count, double* scores
    ) except? -1 nogil:
        """Write the output to learn against into `_path`; returns the loss of its rule.

        mask: of the piece, or NULL. An output that is right stands for: nothing to learn.
        """
        cdef const uint16_t* gold = self._gold
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef double gold_score = 0.0
        cdef double score
        cdef double cost = self.learner.cost
        cdef double margin = self.learner.margin
        cdef Py_ssize_t i
        cdef Py_ssize_t y
        if cost > 0.0 or margin > 0.0:
            for i in range(count):
                gold_score += scores[i * n_labels + gold[i]]
                if i:
                    gold_score += self._pair(i, gold[i - 1], gold[i])
        if margin > 0.0:
            self._nbest.solve(scores, NULL, count, NULL)
            score = self._nbest.path(0, self._path)
            for i in range(count):
                if not self._is_right(mask, i, self._path[i]):
                    return margin - (gold_score - score)
            if mask == NULL:
                score = self._nbest.path(1, self._path)
            else:
                score = self._best_outside(mask, count, scores)
            if score == -INFINITY or gold_score - score >= margin:
                for i in range(count):
                    self._path[i] = gold[i]
            return margin - (gold_score - score)
        if cost > 0.0:
            for i in range(count):
                for y in range(n_labels):
                    if not self._is_right(mask, i, y):
                        scores[i * n_labels + y] += cost
        self._viterbi.advance(scores, NULL, 0, count)
        return self._viterbi.finish(count, self._path) - gold_score

    cdef double _best_outside(
        self, const uint8_t* mask, Py_ssize_t count, const double* scores
    ) noexcept nogil:
        """Write the best labels that are not all within the mask into `_path`; returns their score.

        It is minus infinity if there are none. Prefixes compete apart: those within the mask, and
        those that are not.
        """
        cdef const int32_t* predecessors = self.graph.predecessors
        cdef const int32_t* bounds = self.graph.first_predecessor
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef double* here = self._outside
        cdef const double* before
        cdef int32_t* origins
        cdef double best[2]
        cdef int32_t origin[2]
        cdef double result = -INFINITY
        cdef double score
        cdef Py_ssize_t i
        cdef Py_ssize_t x
        cdef Py_ssize_t y
        cdef int32_t cell = 0
        cdef int32_t p
        cdef int layer
        cdef bint right
        for i in range(count):
            here = self._outside + 2 * i * n_labels
            before = here - 2 * n_labels
            origins = self._origins + 2 * i * n_labels
            for y in range(n_labels):
                right = mask[i * n_labels + y]
                best = [-INFINITY, -INFINITY]
                origin = [0, 0]
                if i == 0 and (self._viterbi.open_start or self.graph.may_start[y]):
                    best[0] = 0.0
                for p in range(bounds[y], bounds[y + 1] if i else bounds[y]):
                    x = predecessors[p]
                    for layer in range(2):
                        score = before[layer * n_labels + x] + self._pair(i, x, y)
                        if score > best[layer]:
                            best[layer] = score
                            origin[layer] = <int32_t> (layer * n_labels + x)
                layer = 1
                if not right:
                    # What was within the mask leaves it here.
                    layer = 0 if best[0] >= best[1] else 1
                here[y] = best[0] + scores[i * n_labels + y] if right else -INFINITY
                here[n_labels + y] = best[layer] + scores[i * n_labels + y]
                origins[y] = origin[0]
                origins[n_labels + y] = origin[layer]
        for y in range(n_labels):
            if (self._viterbi.open_end or self.graph.may_end[y]) and here[n_labels + y] > result:
                result = here[n_labels + y]
                cell = <int32_t> (n_labels + y)
        if result > -INFINITY:
            for i in range(count - 1, -1, -1):
                self._path[i] = <uint16_t> (cell % n_labels)
                cell = self._origins[2 * i * n_labels + cell]
        return result

    cdef int _compare(
        self, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count
    ) except -1 nogil:
        """Collect Φ(gold) - Φ(path) of the piece that was presented."""
        cdef const uint16_t* gold = self._gold
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef const uint16_t* path = self._path
        cdef const int32_t* rows = self._rows
        cdef int32_t row
        cdef Py_ssize_t i
        cdef int n_shifts
        cdef int block
        cdef int s
        for s in range(self.features.n_shapes):
            if s == self.features.tag_bigram:
                for i in range(1, count):
                    if gold[i] != path[i] or gold[i - 1] != path[i - 1]:
                        self._change_pair(gold[i - 1], gold[i], 1.0)
                        self._change_pair(path[i - 1], path[i], -1.0)
                continue
            n_shifts = self.features.specs[s].n_shifts
            for i in range(count):
                if gold[i] == path[i]:
                    continue
                for block in range(n_shifts):
                    # Row i + n_shifts - 1 - block holds position i in its block of that number.
                    row = rows[i + n_shifts - 1 - block]
                    if row >= 0:
                        self._change(s, row, block * n_labels + gold[i], 1.0)
                        self._change(s, row, block * n_labels + path[i], -1.0)
            rows += count + n_shifts - 1
        if self.features.n_lists:
            self._compare_lists(chain, begin, count)
        return 0

    cdef int _compare_lists(
        self, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count
    ) except -1 nogil:
        """`_compare` of the features in lists."""
        cdef const uint16_t* gold = self._gold
        cdef const uint16_t* path = self._path
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef int number
        cdef Py_ssize_t i
        for i in range(count):
            number = self.features.label_list
            if number >= 0 and gold[i] != path[i]:
                self._change_listed(number, &chain.lists[number], begin, i, gold[i], 1.0)
                self._change_listed(number, &chain.lists[number], begin, i, path[i], -1.0)
            number = self.features.edge_list
            if number >= 0 and i and (gold[i] != path[i] or gold[i - 1] != path[i - 1]):
                self._change_listed(
                    number, &chain.lists[number], begin, i,
                    <int> (gold[i - 1] * n_labels + gold[i]), 1.0,
                )
                self._change_listed(
                    number, &chain.lists[number], begin, i,
                    <int> (path[i - 1] * n_labels + path[i]), -1.0,
                )
        return 0

    cdef int _change_listed(
        self, int number, const Listed* listed, Py_ssize_t begin, Py_ssize_t i, int column,
        double sign,
    ) except -1 nogil:
        """Note the change of one column in the rows of position `i` of the piece in a list."""
        cdef int64_t first = listed.starts[begin + i]
        cdef int64_t cell
        for cell in range(first, listed.starts[begin + i + 1]):
            if self._is_hidden(number, i, cell - first):
                continue
            self._change(
                self.features.n_shapes + number, listed.rows[cell], column,
                sign if listed.values == NULL else sign * listed.values[cell],
            )
        return 0

    cdef int _change_pair(self, Py_ssize_t x, Py_ssize_t y, double value) except -1 nogil:
        """Note the change of the weight of label `y` after label `x`."""
        if self.features.n_pair_rows > 1:
            return self._change(self.features.tag_bigram, self._pair_rows[x], <int> y, value)
        return self._change(
            self.features.tag_bigram, self._pair_rows[0],
            <int> (x * self.features.n_labels + y), value,
        )

    cdef int _change(self, int table, int32_t row, int column, double value) except -1 nogil:
        """Note the change of a weight, unless it is dropped."""
        if self._threshold and is_dropped(
            draw_of_table(self._draw, table), row, column, self._threshold
        ):
            return 0
        self.learner.changes.add(table, row, column, value)
        return 0
