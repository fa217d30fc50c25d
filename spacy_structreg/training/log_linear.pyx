"""Conditional random fields and logistic regression: one pass over a corpus as one call.

A visit of an example scores it, sums over all labelings, and turns marginals into what each score
adds to the gradient; weights that make up the score then share it. The same visit serves gradient
descent and objectives of the whole corpus. Of an example that is annotated in part the likelihood
is that of all labelings within its mask together (Tsuboi et al. 2008, section 4).

Feature noising (Wang et al. 2013) adds R = ½ Σ μ (1 - μ) V, over all positions t and pairs of
labels a, b there, of marginal μ and variance V. The first part of its gradient, equation 15 summed
over t, a and b with the weights ½ (1 - 2μ) V =: c, is Σ c μ (E[f | a, b] - E[f]): the covariance of
each feature f with the sum C of the c along a labeling. Features of the same labels and position
share it, which is what section 4.1 collapses, and E[C | a, b] needs messages of one number a label
instead of one vector: O(K²T) in all for what section 3.1 does in O(K²Tq).

Additive noise falls on all features, also on those of value 0 (section 2): V is σ² times the sum of
the squares of all weights of the label b and of the pair a, b, and each step visits all weights.

Gaussian dropout (Wang & Manning 2013, "Fast dropout training") is for two labels without pairs:
the difference d of their scores is a sum over features, and under dropout nearly normal, of the
variance v = δ / (1 - δ) Σ g² (θ_0 - θ_1)². R is E[log(1 + exp d)] under that distribution, less
log(1 + exp d) of the mean. The mean is that of points at equal distances: the closed form that the
paper takes for it is twice too large where most texts are right.
"""

from libc.math cimport INFINITY, exp, fabs, floor, isfinite, log1p, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t
from libc.string cimport memcpy, memset

from spacy_structreg.learn.log_linear cimport LogLinearLearner
from spacy_structreg.learn.memory cimport BufferOwner, reserve, reserve_zeros
from spacy_structreg.learn.rows cimport TrainingRows
from spacy_structreg.search.marginals cimport SumProduct
from spacy_structreg.search.viterbi cimport LabelGraph
from spacy_structreg.tasks.chain cimport ChainData, ChainFeatures, CompiledChain, Listed

import numpy as np

from spacy_structreg.training.chain import count_features
from spacy_structreg.training.visits import checked_pieces

# Weights are brought back to what their tables hold before this factor can lose digits.
cdef double LEAST_SCALE = 1e-9

# Of means under a normal distribution: so many points on either side, up to so many deviations.
cdef enum:
    N_POINTS = 32
cdef double LAST_POINT = 8.0
# Below this deviation, differences have no digits left.
cdef double LEAST_SPREAD = 1e-5


cdef inline double softplus(double x) noexcept nogil:
    """log(1 + exp x)."""
    return max(x, 0.0) + log1p(exp(-fabs(x)))


cdef inline double sigmoid(double x) noexcept nogil:
    """1 / (1 + exp(-x))."""
    cdef double small = exp(-fabs(x))
    return (1.0 if x >= 0.0 else small) / (1.0 + small)


cdef inline void shrink(double* weights, Py_ssize_t n, double by) noexcept nogil:
    """Soft threshold: move weights towards 0 by so much, and no further."""
    cdef Py_ssize_t k
    for k in range(n):
        if fabs(weights[k]) <= by:
            weights[k] = 0.0
        else:
            weights[k] -= by if weights[k] > 0.0 else -by


cdef class LogLinearTrainer(BufferOwner):
    """Trains a log-linear model on compiled sequences. One thread at a time may use it.

    features, graph: of the model. learner: the `LogLinearLearner` that the sequences were compiled
    for, or a copy of it; its settings say how it learns.
    Raises ValueError if these three do not belong together, and for Gaussian dropout of anything
    but two labels, free of one another.
    """

    def __init__(
        self, ChainFeatures features not None, LabelGraph graph not None,
        LogLinearLearner learner not None,
    ):
        cdef TrainingRows table
        cdef Py_ssize_t n_pairs = features.n_labels * features.n_labels
        cdef Py_ssize_t i
        if tuple([t.n_columns for t in learner.tables]) != features.widths:
            raise ValueError("the learner was made for other features")
        if graph.n_labels != features.n_labels:
            raise ValueError("the label graph was made for other features")
        self.features = features
        self.graph = graph
        self.learner = learner
        self._sums = SumProduct(graph)
        self._masked_sums = SumProduct(graph)
        self._variance = learner.settings.variance
        self._additive = learner.settings.noise == "additive"
        self._gaussian = learner.settings.noise == "gaussian_dropout"
        is_free = bool(graph.legal.all() and graph.starts.all() and graph.ends.all())
        if self._gaussian and not (
            features.n_labels == 2 and features.n_shapes == 0 and features.edge_list < 0 and is_free
        ):
            raise ValueError(
                "noise = 'gaussian_dropout' is for texts of two categories; choose 'dropout', "
                "which is for any number of labels, and for sequences"
            )
        self._pulls_features = self._variance > 0.0 and not self._additive
        self._decay_upper = learner.settings.decay_upper
        self._decay_lower = learner.settings.decay_lower
        window = learner.settings.noise_window
        self._window = -1 if window is None else min(window, 1 << 30)
        if self._pairs != NULL:
            raise TypeError("a trainer cannot be initialized twice")
        reserve_zeros(&self.buffers, self._pairs, n_pairs)
        reserve_zeros(&self.buffers, self._pair_steps, n_pairs)
        reserve_zeros(&self.buffers, self._pair_pulls, n_pairs)
        reserve_zeros(&self.buffers, self._label_squares, features.n_labels)
        reserve_zeros(&self.buffers, self._label_doubts, features.n_labels)
        reserve_zeros(&self.buffers, self._pair_squares, n_pairs)
        reserve_zeros(&self.buffers, self._pair_doubts, n_pairs)
        reserve_zeros(&self.buffers, self._reached, 2 * features.n_labels)
        reserve_zeros(&self.buffers, self._passed, 2 * features.n_labels)
        reserve_zeros(&self.buffers, self._moved, features.n_labels)
        reserve_zeros(&self.buffers, self._pair_rows, features.n_pair_rows + 1)
        if features.tag_bigram >= 0:
            table = learner.tables[features.tag_bigram]
            for i in range(features.n_pair_rows):
                # A learner that goes on from trained weights lacks rows of nothing but zeros.
                self._pair_rows[i] = table.insert(i)
            if table.n_rows != features.n_pair_rows:
                raise ValueError("the tag bigram has a row beyond its labels")

    def __reduce__(self):
        return LogLinearTrainer, (self.features, self.graph, self.learner)

    def epoch(self, chains, pieces, noise=0):
        """Visit pieces of sequences once, and go a step down the gradient of each.

        chains: a list of `CompiledChain`; those without labels count in the noising regularizer
            only. pieces: which to visit, in this order, as `training.chain.cut` gives them; or just
            the numbers of the sequences, to visit them whole. noise: nothing is drawn here.
        Returns how many labeled pieces, and how many labels in all, were not the most probable.
        Sets `objective` and `converged` of the learner. The GIL is released. Raises IndexError for
        pieces that do not exist, ValueError if a sequence was compiled for another learner, and if
        weights grow beyond all bounds.
        """
        cdef LogLinearLearner learner = self.learner
        cdef list owned = list(chains)
        cdef const int64_t[:, ::1] visits
        cdef BufferOwner scratch = BufferOwner()
        cdef ChainData* views = NULL
        cdef void** tables = learner.table_pointers
        cdef const ChainData* chain
        cdef Shares labeled
        cdef Shares unlabeled
        cdef Py_ssize_t n_wrong = 0
        cdef Py_ssize_t n_labels_wrong = 0
        cdef Py_ssize_t wrong
        cdef Py_ssize_t i
        # A model without features has nothing to learn by any rate.
        cdef double rate = learner.settings.rate * max(1, learner.n_positions) / max(
            1e-9, learner.sum_of_squares
        )
        cdef bint adaptive = learner.settings.optimizer == "adf"
        cdef double slowing = 0.0 if adaptive else learner.settings.decay
        cdef double windows = learner.settings.decay_windows
        cdef int64_t clock
        cdef double l2 = learner.settings.l2
        cdef double l1 = learner.settings.l1
        cdef double size
        cdef double part
        cdef double step
        lengths = np.array([(<CompiledChain?> each).data.n for each in owned], dtype=np.int64)
        pieces = checked_pieces(pieces, lengths)
        visits = pieces
        labeled, unlabeled = self._shares(owned)
        # What is not labeled counts as little as it does in the whole corpus.
        size = <double> max(1, learner.n_positions, lengths.max(initial=0))
        before = learner.objective
        lazy_l1 = l1 > 0 and not adaptive
        debts = [np.zeros(table.n_rows) for table in learner.tables] if lazy_l1 else []
        debt_pointers = np.array([debt.ctypes.data for debt in debts] or [0], dtype=np.uintp)
        cdef size_t[::1] debt_view = debt_pointers
        self._l1_paid = <double**> &debt_view[0] if debts else NULL
        rate_pointers = learner.row_rates() if adaptive else np.zeros(1, dtype=np.uintp)
        cdef size_t[::1] rate_view = rate_pointers
        self._rates = <double**> &rate_view[0] if adaptive else NULL
        try:
            views = self._views(owned, scratch)
            self._reserve(pieces[:, 2].max(initial=0))
            self._loss = 0.0
            self._l1_due = 0.0
            # Variances grow with the squares of weights, so that a step too long makes the next one
            # longer: at 1, they move no score further than its likelihood can. The pulls, which are
            # in proportion to the weights, are as they are.
            clip = learner.settings.noise_clip
            self._most = INFINITY if clip is None else clip
            with nogil:
                for i in range(visits.shape[0]):
                    chain = &views[visits[i, 0]]
                    if visits[i, 2] == 0 or (
                        chain.labels == NULL and unlabeled.noise * self._variance == 0.0
                    ):
                        continue
                    if self._additive:
                        if self._l1_paid != NULL:
                            self._finish_l1(tables)
                        self._visit_all(tables, SQUARE, 0.0)
                    elif self._l1_paid != NULL:
                        self._apply_l1_to_piece(tables, chain, visits[i, 1], visits[i, 2])
                    learner.window_visits += adaptive
                    step = rate / (1.0 + slowing * <double> learner._clock / size)
                    wrong = self._score_gradient(
                        tables, chain, visits[i, 1], visits[i, 2],
                        unlabeled if chain.labels == NULL else labeled,
                    )
                    self._update_weights(tables, chain, visits[i, 1], visits[i, 2], step)
                    if chain.labels == NULL:
                        continue
                    n_labels_wrong += wrong
                    n_wrong += wrong > 0
                    clock = learner._clock
                    learner._clock += visits[i, 2]
                    if adaptive:
                        learner.window_positions += visits[i, 2]
                        if (
                            floor(<double> learner._clock * windows / size)
                            > floor(<double> clock * windows / size)
                        ):
                            part = <double> learner.window_positions / size
                            self._end_window(tables, step * l1 * part, step * l2 * part)
                        continue
                    # Each visit applies its share of the penalties: of L1, then of L2, as what is
                    # nearest to the new weights and small (their proximal operator).
                    part = <double> visits[i, 2] / size
                    self._l1_due += step * l1 * part / learner.scale
                    learner.scale /= 1.0 + 2.0 * step * l2 * part
                    if learner.scale < LEAST_SCALE:
                        self._fold(tables)
                if self._l1_paid != NULL:
                    self._finish_l1(tables)
        finally:
            self._l1_paid = NULL
            self._rates = NULL
        learner.objective = self._loss + self._penalties()
        if not isfinite(learner.objective):
            raise ValueError(
                f"training diverged: choose a learning rate below {learner.settings.rate:g}"
            )
        change = fabs(learner.objective - before)
        learner.converged = change < learner.settings.tolerance * fabs(learner.objective)
        return n_wrong, n_labels_wrong

    def count(self, chains):
        """Count the features of chains, as `count_features`."""
        return count_features(self.features, self.learner, chains)

    def objective(self, chains, bint noisy=True):
        """The objective over whole sequences, without penalties, and its gradient.

        noisy: with the regularizer of noise, if the settings have any.
        Returns a float, and for each table float64 of shape (n_rows, n_columns). Raises ValueError
        as `epoch`.
        """
        cdef LogLinearLearner learner = self.learner
        cdef list owned = list(chains)
        cdef BufferOwner scratch = BufferOwner()
        cdef ChainData* views = NULL
        cdef void** tables = learner.table_pointers
        cdef Shares labeled
        cdef Shares unlabeled
        cdef Shares shares
        cdef TrainingRows table
        cdef double[:, ::1] view
        cdef Py_ssize_t n = len(owned)
        cdef Py_ssize_t i
        gradients = []
        learner.fold()
        labeled, unlabeled = self._shares(owned)
        if not noisy:
            labeled.noise = unlabeled.noise = 0.0
        views = self._views(owned, scratch)
        self._reserve(max([(<CompiledChain> each).data.n for each in owned], default=0))
        self._loss = 0.0
        self._most = INFINITY
        with nogil:
            if self._additive and noisy:
                self._visit_all(tables, SQUARE, 0.0)
            for i in range(n):
                if views[i].n == 0:
                    continue
                shares = unlabeled if views[i].labels == NULL else labeled
                if shares.likelihood == 0.0 and shares.noise * self._variance == 0.0:
                    continue
                self._score_gradient(tables, &views[i], 0, views[i].n, shares)
                self._feature_gradient(tables, &views[i], 0, views[i].n, 1.0, True)
            if self._additive and noisy:
                self._visit_all(tables, PULL_SUMS, self._variance)
        for table in learner.tables:
            gradient = np.empty((table.n_rows, table.n_columns))
            if gradient.size:
                view = gradient
                memcpy(&view[0, 0], table._sums, gradient.nbytes)
                memset(table._sums, 0, gradient.nbytes)
            gradients.append(gradient)
        return self._loss, gradients

    cdef tuple _shares(self, list chains):
        """The weights of a visit of a labeled and of an unlabeled sequence (equation 11)."""
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t m
        cdef double alpha = self.learner.settings.unlabeled_weight
        cdef CompiledChain chain
        for chain in chains:
            n += chain.data.labels != NULL
        m = len(chains) - n
        share = n / (n + alpha * m) if n else 0.0
        return Shares(1.0, share), Shares(0.0, alpha * share)

    cdef ChainData* _views(self, list chains, BufferOwner owner) except NULL:
        """Views of sequences for the kernel; the result keeps their owner alive."""
        cdef Py_ssize_t n_rows = self.learner.n_rows()
        cdef CompiledChain chain
        cdef Py_ssize_t i
        cdef ChainData* views = NULL
        for i, chain in enumerate(chains):
            if chain.numbering is not self.learner.numbering or chain.n_rows_known > n_rows:
                raise ValueError(f"sequence {i} was compiled for another learner")
        reserve(&owner.buffers, views, len(chains))
        for i, chain in enumerate(chains):
            views[i] = chain.data
        return views

    def _penalties(self):
        """The penalties of the weights as they are now."""
        l1, l2 = self.learner.settings.l1, self.learner.settings.l2
        if l1 == 0 and l2 == 0:
            return 0.0
        cdef TrainingRows table
        cdef double absolute = 0.0
        cdef double squared = 0.0
        cdef Py_ssize_t k
        for table in self.learner.tables:
            for k in range(table.n_rows * table.n_columns):
                absolute += fabs(table._values[k])
                squared += table._values[k] * table._values[k]
        scale = self.learner.scale
        return l1 * scale * absolute + l2 * scale * scale * squared

    cdef int _reserve(self, Py_ssize_t count) except -1:
        """Allocate working memory for the longest piece."""
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef Py_ssize_t n_scores = (count + 2 * self.features.overhang) * n_labels
        cdef Py_ssize_t n_edges = count * n_labels * n_labels + 1
        cdef bint edges = self.features.edge_list >= 0
        # Of edges: scores, what they add to the gradient, and marginals, also of a mask. Of noise:
        # marginals and weights, and of edges variances and what these add.
        self.features.check_pairs(
            count, 4 * edges + (2 + edges if self._variance > 0.0 else 0)
        )
        reserve(&self.buffers, self._rows, self.features.rows_of(count) + 1)
        reserve(&self.buffers, self._scores, n_scores)
        reserve(&self.buffers, self._steps, n_scores)
        self._sums.reserve_positions(count, edges or self._variance > 0.0)
        self._masked_sums.reserve_positions(count, edges)
        reserve(&self.buffers, self._masked_scores, count * n_labels)
        if edges:
            reserve(&self.buffers, self._edges, n_edges)
            reserve(&self.buffers, self._edge_steps, n_edges)
        if self._variance > 0.0:
            reserve(&self.buffers, self._pulls, n_scores)
            reserve(&self.buffers, self._variances, n_scores)
            reserve(&self.buffers, self._weights, n_edges)
            reserve(&self.buffers, self._forward, n_scores)
            reserve(&self.buffers, self._backward, n_scores)
            if edges:
                reserve(&self.buffers, self._edge_pulls, n_edges)
                reserve(&self.buffers, self._edge_variances, n_edges)
        return 0

    # Scores and marginals ------------------------------------------------------------------------

    cdef void _read_pairs(self, void** tables) noexcept nogil:
        """Copy the weights of pairs of labels for the sums."""
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef Py_ssize_t n_columns
        cdef const double* values
        cdef Py_ssize_t x
        cdef Py_ssize_t y
        if self.features.tag_bigram >= 0:
            values = (<TrainingRows> tables[self.features.tag_bigram])._values
            n_columns = (<TrainingRows> tables[self.features.tag_bigram]).n_columns
            for x in range(n_labels):
                for y in range(n_labels):
                    self._pairs[x * n_labels + y] = self.learner.scale * (
                        values[x * n_labels + y] if self.features.n_pair_rows == 1
                        else values[self._pair_rows[x] * n_columns + y]
                    )
        self._sums.bind(self._pairs)

    cdef Py_ssize_t _score_gradient(
        self, void** tables, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count,
        Shares shares,
    ) except -1 nogil:
        """Compute the gradient by each score of a piece: `_steps` and `_pulls`.

        Adds to `_loss`; returns how many labels were not the most probable.
        """
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef Py_ssize_t n_pairs = n_labels * n_labels
        cdef Py_ssize_t overhang = self.features.overhang * n_labels
        cdef double* scores = self._scores + overhang
        cdef double* steps = self._steps + overhang
        cdef bint edges = self.features.edge_list >= 0
        cdef bint noisy = shares.noise * self._variance > 0.0
        cdef double scale = self.learner.scale
        cdef Py_ssize_t wrong = 0
        cdef Py_ssize_t i
        self.features.slice_rows(chain.rows, chain.n, begin, count, self._rows)
        self.features.emissions(tables, self._rows, count, scores)
        if self.features.label_list >= 0:
            self.features.listed_emissions(
                tables, &chain.lists[self.features.label_list], begin, count, scores
            )
        if edges:
            self.features.edges(
                tables, &chain.lists[self.features.edge_list], begin, count, self._edges
            )
        if scale != 1.0:
            for i in range(count * n_labels):
                scores[i] *= scale
            if edges:
                for i in range((count - 1) * n_pairs):
                    self._edges[i] *= scale
        if count > 1:
            # A single position, such as a text with its category, has no pairs of labels.
            self._read_pairs(tables)
        self._sums.open_start = begin > 0
        self._sums.open_end = begin + count < chain.n
        self._sums.solve(scores, self._edges if edges else NULL, count, noisy)
        memset(self._steps, 0, overhang * sizeof(double))
        memset(steps + count * n_labels, 0, overhang * sizeof(double))
        if shares.likelihood > 0.0:
            if chain.mask == NULL:
                wrong = self._compare(chain.labels + begin, count)
            else:
                wrong = self._compare_sums(chain.mask + begin * n_labels, count)
        else:
            memset(steps, 0, count * n_labels * sizeof(double))
            memset(self._pair_steps, 0, n_pairs * sizeof(double))
            if edges:
                memset(self._edge_steps, 0, (count - 1) * n_pairs * sizeof(double))
        if self._variance > 0.0:
            memset(self._pulls, 0, (count * n_labels + 2 * overhang) * sizeof(double))
            memset(self._pair_pulls, 0, n_pairs * sizeof(double))
            if edges:
                memset(self._edge_pulls, 0, (count - 1) * n_pairs * sizeof(double))
        if noisy:
            self._compute_variances(tables, chain, begin, count)
            if self._gaussian:
                self._gaussian_gradient(count, shares.noise)
            else:
                self._noise_gradient(count, shares.noise)
        return wrong

    cdef Py_ssize_t _compare(self, const uint16_t* gold, Py_ssize_t count) noexcept nogil:
        """Set steps to marginals minus gold; add -log p of the gold labels to the loss.

        Returns how many gold labels were not the most probable.
        """
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef Py_ssize_t n_pairs = n_labels * n_labels
        cdef Py_ssize_t overhang = self.features.overhang * n_labels
        cdef const double* scores = self._scores + overhang
        cdef const double* nodes = self._sums.nodes
        cdef double* steps = self._steps + overhang
        cdef bint edges = self.features.edge_list >= 0
        cdef Py_ssize_t wrong = 0
        cdef Py_ssize_t place
        cdef Py_ssize_t i
        cdef Py_ssize_t y
        self._loss += self._sums.log_partition
        memcpy(steps, nodes, count * n_labels * sizeof(double))
        memcpy(self._pair_steps, self._sums.totals, n_pairs * sizeof(double))
        if edges and count > 1:
            memcpy(self._edge_steps, self._sums.pairs, (count - 1) * n_pairs * sizeof(double))
        for i in range(count):
            self._loss -= scores[i * n_labels + gold[i]]
            steps[i * n_labels + gold[i]] -= 1.0
            for y in range(n_labels):
                if nodes[i * n_labels + y] > nodes[i * n_labels + gold[i]]:
                    wrong += 1
                    break
            if i:
                place = gold[i - 1] * n_labels + gold[i]
                self._loss -= self._pairs[place]
                self._pair_steps[place] -= 1.0
                if edges:
                    self._loss -= self._edges[(i - 1) * n_pairs + place]
                    self._edge_steps[(i - 1) * n_pairs + place] -= 1.0
        return wrong

    cdef Py_ssize_t _compare_sums(self, const uint8_t* mask, Py_ssize_t count) except -1 nogil:
        """`_compare` for partial labels: all labels of a mask may be right.

        Returns at how many positions the most probable label is none of them.
        """
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef Py_ssize_t n_pairs = n_labels * n_labels
        cdef Py_ssize_t overhang = self.features.overhang * n_labels
        cdef const double* scores = self._scores + overhang
        cdef const double* nodes = self._sums.nodes
        cdef const double* right
        cdef double* steps = self._steps + overhang
        cdef bint edges = self.features.edge_list >= 0
        cdef Py_ssize_t wrong = 0
        cdef Py_ssize_t best
        cdef Py_ssize_t i
        cdef Py_ssize_t y
        for i in range(count * n_labels):
            self._masked_scores[i] = scores[i] if mask[i] else -INFINITY
        if count > 1:
            self._masked_sums.bind(self._pairs)
        self._masked_sums.open_start = self._sums.open_start
        self._masked_sums.open_end = self._sums.open_end
        self._masked_sums.solve(self._masked_scores, self._edges if edges else NULL, count, False)
        right = self._masked_sums.nodes
        self._loss += self._sums.log_partition - self._masked_sums.log_partition
        for i in range(count):
            best = 0
            for y in range(n_labels):
                steps[i * n_labels + y] = nodes[i * n_labels + y] - right[i * n_labels + y]
                if nodes[i * n_labels + y] > nodes[i * n_labels + best]:
                    best = y
            wrong += not mask[i * n_labels + best]
        for i in range(n_pairs):
            self._pair_steps[i] = self._sums.totals[i] - self._masked_sums.totals[i]
        if edges:
            for i in range((count - 1) * n_pairs):
                self._edge_steps[i] = self._sums.pairs[i] - self._masked_sums.pairs[i]
        return wrong

    # Noise ---------------------------------------------------------------------------------------

    cdef void _compute_variances(
        self, void** tables, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count
    ) noexcept nogil:
        """Find the variances of the scores of labels and pairs under the noise.

        Of Gaussian dropout, that of the difference of the scores, for either label.
        """
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef Py_ssize_t n_pairs = n_labels * n_labels
        cdef Py_ssize_t overhang = self.features.overhang * n_labels
        cdef double factor = self._variance * self.learner.scale * self.learner.scale
        cdef double* variances = self._variances + overhang
        cdef const int32_t* rows = self._rows
        cdef const double* weights
        cdef double* target
        cdef Py_ssize_t n_columns
        cdef Py_ssize_t n_rows
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        cdef int s
        if self._additive:
            return
        memset(self._variances, 0, (count * n_labels + 2 * overhang) * sizeof(double))
        for s in range(self.features.n_shapes):
            if not self.features.specs[s].n_atoms:
                continue
            n_rows = count + self.features.specs[s].n_shifts - 1
            n_columns = (<TrainingRows> tables[s]).n_columns
            for i in range(n_rows):
                if rows[i] < 0:
                    continue
                weights = (<TrainingRows> tables[s])._values + rows[i] * n_columns
                target = variances + (i - self.features.specs[s].n_shifts + 1) * n_labels
                for k in range(n_columns):
                    target[k] += weights[k] * weights[k]
            rows += n_rows
        if self.features.label_list >= 0:
            for i in range(count):
                self._add_variances(
                    tables[self.features.n_shapes + self.features.label_list],
                    &chain.lists[self.features.label_list], begin + i, variances + i * n_labels,
                )
        for k in range(count * n_labels):
            variances[k] *= factor
        if self.features.edge_list >= 0:
            memset(self._edge_variances, 0, (count - 1) * n_pairs * sizeof(double))
            for i in range(1, count):
                self._add_variances(
                    tables[self.features.n_shapes + self.features.edge_list],
                    &chain.lists[self.features.edge_list], begin + i,
                    self._edge_variances + (i - 1) * n_pairs,
                )
            for k in range((count - 1) * n_pairs):
                self._edge_variances[k] *= factor

    cdef void _add_variances(
        self, void* table, const Listed* listed, Py_ssize_t position, double* variances
    ) noexcept nogil:
        """Add the squared scores of the list features of a position."""
        cdef Py_ssize_t n_columns = (<TrainingRows> table).n_columns
        cdef const double* weights
        cdef double weight
        cdef double value = 1.0
        cdef int64_t cell
        cdef Py_ssize_t k
        for cell in range(listed.starts[position], listed.starts[position + 1]):
            if listed.values != NULL:
                value = listed.values[cell] * listed.values[cell]
            weights = (<TrainingRows> table)._values + listed.rows[cell] * n_columns
            for k in range(n_columns):
                weight = weights[k] - weights[1 - k] if self._gaussian else weights[k]
                variances[k] += value * weight * weight

    cdef void _visit_all(self, void** tables, Deed deed, double factor) noexcept nogil:
        """Apply a function to all weights, for noise on all of them.

        SQUARE: find the sums of squares of the weights of each label, and each pair of labels, and
        forget doubts. PULL_SUMS, PULL_VALUES: add to sums, or values, what is a weight times the
        doubt about its label, or pair of labels, times `factor`.
        """
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef Py_ssize_t n_pairs = n_labels * n_labels
        cdef Py_ssize_t n_columns
        cdef Py_ssize_t n_rows
        cdef Py_ssize_t place
        cdef Py_ssize_t row
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        cdef double* values
        cdef double* sums
        cdef double* squares
        cdef double* doubts
        cdef bint pairs
        cdef int table
        if deed == SQUARE:
            memset(self._label_squares, 0, n_labels * sizeof(double))
            memset(self._label_doubts, 0, n_labels * sizeof(double))
            memset(self._pair_squares, 0, n_pairs * sizeof(double))
            memset(self._pair_doubts, 0, n_pairs * sizeof(double))
        for table in range(self.features.n_shapes + self.features.n_lists):
            pairs = table == self.features.tag_bigram or (
                self.features.edge_list >= 0
                and table == self.features.n_shapes + self.features.edge_list
            )
            squares = self._pair_squares if pairs else self._label_squares
            doubts = self._pair_doubts if pairs else self._label_doubts
            n_columns = (<TrainingRows> tables[table]).n_columns
            n_rows = (<TrainingRows> tables[table]).n_rows
            for i in range(n_rows):
                row = self._pair_rows[i] if table == self.features.tag_bigram else i
                values = (<TrainingRows> tables[table])._values + row * n_columns
                sums = (<TrainingRows> tables[table])._sums + row * n_columns
                # The pairs of many labels have a row for each first one.
                place = i * n_columns if table == self.features.tag_bigram else 0
                for k in range(n_columns):
                    if deed == SQUARE:
                        squares[place] += values[k] * values[k]
                    elif deed == PULL_VALUES:
                        values[k] += factor * doubts[place] * values[k]
                    else:
                        sums[k] += factor * doubts[place] * values[k]
                    place += 1
                    if not pairs and place == n_labels:
                        # The next shift of a template.
                        place = 0

    cdef void _gaussian_gradient(self, Py_ssize_t count, double share) noexcept nogil:
        """`_noise_gradient` of Gaussian dropout."""
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        cdef double mean
        cdef double spread
        cdef double z
        cdef double weight
        cdef double total
        cdef double value
        cdef double slope
        cdef double bend
        cdef double above
        cdef double below
        cdef double step
        for i in range(2 * self.features.overhang, 2 * (self.features.overhang + count), 2):
            mean = self._scores[i] - self._scores[i + 1]
            spread = sqrt(self._variances[i])
            total = 1.0
            value = softplus(mean)
            slope = sigmoid(mean)
            bend = 0.0
            for k in range(1, N_POINTS + 1):
                z = LAST_POINT / N_POINTS * k
                weight = exp(-0.5 * z * z)
                above = sigmoid(mean + spread * z)
                below = sigmoid(mean - spread * z)
                total += 2.0 * weight
                value += weight * (softplus(mean + spread * z) + softplus(mean - spread * z))
                slope += weight * (above + below)
                bend += weight * z * (above - below)
            above = sigmoid(mean)
            self._loss += share * (value / total - softplus(mean))
            step = share * (slope / total - above)
            step = min(max(step, -self._most), self._most)
            self._steps[i] += step
            self._steps[i + 1] -= step
            # By the variance, whose own derivative by θ_0 is 2 δ / (1 - δ) g² (θ_0 - θ_1).
            if spread > LEAST_SPREAD:
                step = bend / (total * spread)
            else:
                step = above * (1.0 - above)
            self._pulls[i] += share * self._variance * step
            self._pulls[i + 1] += share * self._variance * step

    cdef void _noise_gradient(self, Py_ssize_t count, double share) noexcept nogil:
        """Add the regularizer to the loss, and its gradient to steps and pulls."""
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef Py_ssize_t size = n_labels * sizeof(double)
        cdef Py_ssize_t i
        cdef Py_ssize_t t
        for i in range(count):
            self._add_uncertainty(i, share)
        if self._window < 0 or self._window >= count:
            for i in range(count - 1):
                self._step_forward(
                    i, self._forward + (i - 1) * n_labels if i else NULL,
                    self._forward + i * n_labels,
                )
            memset(self._backward + (count - 1) * n_labels, 0, size)
            for i in range(count - 1, 0, -1):
                self._step_backward(
                    i, self._backward + i * n_labels, self._backward + (i - 1) * n_labels
                )
            for i in range(count):
                self._noise_gradient_at(
                    i, self._forward + (i - 1) * n_labels if i else NULL,
                    self._backward + i * n_labels, share,
                )
            return
        # What is expected within the window alone, for each position anew: each step ahead or back
        # goes from one half of the buffer to the other.
        for i in range(count):
            memset(self._reached, 0, size)
            for t in range(max(0, i - self._window), i):
                self._step_forward(t, self._reached, self._reached + n_labels)
                memcpy(self._reached, self._reached + n_labels, size)
            memset(self._passed, 0, size)
            for t in range(min(count - 1, i + self._window), i, -1):
                self._step_backward(t, self._passed, self._passed + n_labels)
                memcpy(self._passed, self._passed + n_labels, size)
            self._noise_gradient_at(i, self._reached, self._passed, share)

    cdef inline const double* _marginals(self, Py_ssize_t i) noexcept nogil:
        """The marginals μ of pairs whose second label stands at a position; of labels at 0."""
        if i == 0:
            return self._sums.nodes
        return self._sums.pairs + (i - 1) * self.features.n_labels * self.features.n_labels

    cdef void _add_uncertainty(self, Py_ssize_t i, double share) noexcept nogil:
        """Find c = ½ (1 - 2μ) V of a position; add ½ μ (1 - μ) V to the loss, the rest to pulls.

        At position 0 there is one of each label, elsewhere of each pair.
        """
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef Py_ssize_t n_pairs = n_labels * n_labels
        cdef const double* marginals = self._marginals(i)
        cdef const double* variances = (
            self._label_squares if self._additive
            else self._variances + (self.features.overhang + i) * n_labels
        )
        cdef double factor = self._variance * self.learner.scale * self.learner.scale
        cdef double* pulls = self._pulls + (self.features.overhang + i) * n_labels
        cdef double* weights = self._weights + i * n_pairs
        cdef double* edge_pulls = NULL
        cdef const double* edge_variances = NULL
        cdef double loss = 0.0
        cdef double variance
        cdef double doubt
        cdef Py_ssize_t place = 0
        cdef Py_ssize_t _x
        cdef Py_ssize_t y
        if i and self.features.edge_list >= 0:
            edge_pulls = self._edge_pulls + (i - 1) * n_pairs
            edge_variances = self._edge_variances + (i - 1) * n_pairs
        for _x in range(n_labels if i else 1):
            for y in range(n_labels):
                variance = variances[y]
                doubt = share * marginals[place] * (1.0 - marginals[place])
                if self._additive:
                    self._label_doubts[y] += doubt
                    if i:
                        variance += self._pair_squares[place]
                        self._pair_doubts[place] += doubt
                    variance *= factor
                else:
                    pulls[y] += self._variance * doubt
                if i and not self._additive:
                    variance += self._variance * self._pairs[place] * self._pairs[place]
                    self._pair_pulls[place] += self._variance * doubt
                    if edge_variances != NULL:
                        variance += edge_variances[place]
                        edge_pulls[place] += self._variance * doubt
                loss += doubt * variance
                weights[place] = 0.5 * (1.0 - 2.0 * marginals[place]) * variance
                place += 1
        self._loss += 0.5 * loss

    cdef void _step_forward(self, Py_ssize_t i, const double* before, double* after) noexcept nogil:
        """Forward step of expectations: from position i - 1 to i, by label.

        before: not read at position 0.
        """
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef const double* weights = self._weights + i * n_labels * n_labels
        cdef const double* marginals = self._marginals(i)
        cdef const double* nodes = self._sums.nodes + i * n_labels
        cdef Py_ssize_t x
        cdef Py_ssize_t y
        if i == 0:
            memcpy(after, weights, n_labels * sizeof(double))
            return
        for y in range(n_labels):
            after[y] = 0.0
        for x in range(n_labels):
            for y in range(n_labels):
                after[y] += marginals[y] * (before[x] + weights[y])
            marginals += n_labels
            weights += n_labels
        for y in range(n_labels):
            after[y] = after[y] / nodes[y] if nodes[y] > 0.0 else 0.0

    cdef void _step_backward(
        self, Py_ssize_t i, const double* after, double* before
    ) noexcept nogil:
        """Backward step of expectations: from position i to i - 1, by label."""
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef const double* weights = self._weights + i * n_labels * n_labels
        cdef const double* marginals = self._marginals(i)
        cdef const double* nodes = self._sums.nodes + (i - 1) * n_labels
        cdef double total
        cdef Py_ssize_t x
        cdef Py_ssize_t y
        for x in range(n_labels):
            total = 0.0
            for y in range(n_labels):
                total += marginals[y] * (after[y] + weights[y])
            before[x] = total / nodes[x] if nodes[x] > 0.0 else 0.0
            marginals += n_labels
            weights += n_labels

    cdef void _noise_gradient_at(
        self, Py_ssize_t i, const double* before, const double* after, double share
    ) noexcept nogil:
        """`_noise_gradient` for one position.

        before: what is expected before it, by the label before it; not read at position 0. after:
        what is expected after it, by its own label.
        """
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef Py_ssize_t n_pairs = n_labels * n_labels
        cdef const double* weights = self._weights + i * n_pairs
        cdef const double* marginals = self._marginals(i)
        cdef double* steps = self._steps + (self.features.overhang + i) * n_labels
        cdef double* edge_steps = NULL
        cdef double* moved = self._moved
        cdef Py_ssize_t place = 0
        cdef Py_ssize_t x
        cdef Py_ssize_t y
        cdef double mean = 0.0
        cdef double known
        cdef double step
        if i and self.features.edge_list >= 0:
            edge_steps = self._edge_steps + (i - 1) * n_pairs
        for x in range(n_labels if i else 1):
            known = before[x] if i else 0.0
            for y in range(n_labels):
                mean += marginals[place] * (known + weights[place] + after[y])
                place += 1
        place = 0
        memset(moved, 0, n_labels * sizeof(double))
        for x in range(n_labels if i else 1):
            known = before[x] - mean if i else -mean
            for y in range(n_labels):
                step = share * marginals[place] * (known + weights[place] + after[y])
                moved[y] += step
                if i:
                    step = min(max(step, -self._most), self._most)
                    self._pair_steps[place] += step
                    if edge_steps != NULL:
                        edge_steps[place] += step
                place += 1
        for y in range(n_labels):
            steps[y] += min(max(moved[y], -self._most), self._most)

    # Weights -------------------------------------------------------------------------------------

    cdef void _update_weights(
        self, void** tables, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count,
        double step,
    ) noexcept nogil:
        """Take a gradient step for the current piece."""
        cdef double factor = -step / self.learner.scale
        if not self._pulls_features:
            if self._additive:
                self._visit_all(tables, PULL_VALUES, -step * self._variance)
            self._feature_gradient(tables, chain, begin, count, factor, False)
            return
        # The gradient depends on the weights then, and rows may occur several times: first all of
        # it, then the step.
        self._feature_gradient(tables, chain, begin, count, 1.0, True)
        self._feature_gradient(tables, chain, begin, count, factor, False)

    cdef void _feature_gradient(
        self, void** tables, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count,
        double factor, bint into_sums,
    ) noexcept nogil:
        """Distribute the gradient by scores over the weights of their features.

        into_sums: add it to the sums of the tables. Otherwise a part of it, `factor`, goes to the
        values; what sums have gathered, if there is noise, which leaves them empty.
        """
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef Py_ssize_t overhang = self.features.overhang * n_labels
        cdef const int32_t* rows = self._rows
        cdef Py_ssize_t n_columns
        cdef Py_ssize_t n_rows
        cdef Py_ssize_t shift
        cdef Py_ssize_t i
        cdef int s
        for s in range(self.features.n_shapes):
            n_columns = (<TrainingRows> tables[s]).n_columns
            if s == self.features.tag_bigram:
                for i in range(self.features.n_pair_rows):
                    self._row_gradient(
                        tables[s], self._pair_rows[i], self._pair_steps + i * n_columns,
                        self._pair_pulls + i * n_columns, 1.0,
                        factor * self._row_rate(s, self._pair_rows[i]), into_sums,
                    )
                continue
            n_rows = count + self.features.specs[s].n_shifts - 1
            for i in range(n_rows):
                if rows[i] >= 0:
                    shift = overhang + (i - self.features.specs[s].n_shifts + 1) * n_labels
                    self._row_gradient(
                        tables[s], rows[i], self._steps + shift,
                        self._pulls + shift if self._variance > 0.0 else NULL, 1.0,
                        factor * self._row_rate(s, rows[i]), into_sums,
                    )
            rows += n_rows
        if self.features.label_list >= 0:
            for i in range(count):
                self._list_gradient(
                    tables, self.features.n_shapes + self.features.label_list,
                    &chain.lists[self.features.label_list], begin + i,
                    self._steps + overhang + i * n_labels,
                    self._pulls + overhang + i * n_labels if self._variance > 0.0 else NULL,
                    factor, into_sums,
                )
        if self.features.edge_list >= 0:
            for i in range(1, count):
                shift = (i - 1) * n_labels * n_labels
                self._list_gradient(
                    tables, self.features.n_shapes + self.features.edge_list,
                    &chain.lists[self.features.edge_list], begin + i, self._edge_steps + shift,
                    self._edge_pulls + shift if self._variance > 0.0 else NULL, factor, into_sums,
                )

    cdef void _list_gradient(
        self, void** tables, int table, const Listed* listed, Py_ssize_t position,
        const double* steps, const double* pulls, double factor, bint into_sums,
    ) noexcept nogil:
        cdef int64_t cell
        for cell in range(listed.starts[position], listed.starts[position + 1]):
            self._row_gradient(
                tables[table], listed.rows[cell], steps, pulls,
                1.0 if listed.values == NULL else listed.values[cell],
                factor * self._row_rate(table, listed.rows[cell]), into_sums,
            )

    cdef inline void _row_gradient(
        self, void* table, int32_t row, const double* steps, const double* pulls, double value,
        double factor, bint into_sums,
    ) noexcept nogil:
        """`_feature_gradient` for one feature of a value."""
        cdef Py_ssize_t n_columns = (<TrainingRows> table).n_columns
        cdef double* weights = (<TrainingRows> table)._values + row * n_columns
        cdef double* sums = (<TrainingRows> table)._sums + row * n_columns
        cdef double pull
        cdef Py_ssize_t k
        if not into_sums and self._pulls_features:
            for k in range(n_columns):
                weights[k] += factor * sums[k]
                sums[k] = 0.0
        elif not into_sums:
            factor *= value
            for k in range(n_columns):
                weights[k] += factor * steps[k]
        else:
            for k in range(n_columns):
                sums[k] += value * steps[k]
            if self._pulls_features:
                pull = self.learner.scale * value * value
                for k in range(n_columns):
                    sums[k] += pull * pulls[k] * (
                        weights[k] - weights[1 - k] if self._gaussian else weights[k]
                    )

    # A rate for each feature ----------------------------------------------------------------------

    cdef inline double _row_rate(self, int table, Py_ssize_t row) noexcept nogil:
        """The rate of a feature as a part of the first one; counts that this visit has used it."""
        cdef double* state
        if self._rates == NULL:
            return 1.0
        state = self._rates[table] + 3 * row
        if state[2] != <double> self.learner.window_visits:
            state[1] += 1.0
            state[2] = <double> self.learner.window_visits
        return state[0]

    cdef void _end_window(self, void** tables, double l1, double l2) noexcept nogil:
        """Apply penalties to all weights, each by its rate; then let rates decay."""
        cdef double upper = self._decay_upper
        cdef double fall = (self._decay_upper - self._decay_lower) / self.learner.window_visits
        cdef double* state
        cdef double* weights
        cdef Py_ssize_t n_columns
        cdef Py_ssize_t row
        cdef Py_ssize_t k
        cdef int table
        for table in range(self.features.n_shapes + self.features.n_lists):
            n_columns = (<TrainingRows> tables[table]).n_columns
            for row in range((<TrainingRows> tables[table]).n_rows):
                state = self._rates[table] + 3 * row
                if l1 > 0.0 or l2 > 0.0:
                    weights = (<TrainingRows> tables[table])._values + row * n_columns
                    shrink(weights, n_columns, state[0] * l1)
                    for k in range(n_columns):
                        weights[k] /= 1.0 + 2.0 * state[0] * l2
                state[0] *= upper - fall * state[1]
                state[1] = 0.0
                state[2] = 0.0
        self.learner.window_visits = 0
        self.learner.window_positions = 0

    # L1 ------------------------------------------------------------------------------------------

    cdef void _apply_l1_to_piece(
        self, void** tables, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count
    ) noexcept nogil:
        """Apply pending cumulative L1 penalties to the weights that a piece reads."""
        cdef const int32_t* rows = self._rows
        cdef Py_ssize_t n_rows
        cdef Py_ssize_t i
        cdef int64_t cell
        cdef int s
        self.features.slice_rows(chain.rows, chain.n, begin, count, self._rows)
        for s in range(self.features.n_shapes):
            if s == self.features.tag_bigram:
                for i in range(self.features.n_pair_rows):
                    self._apply_l1(tables, s, self._pair_rows[i])
                continue
            n_rows = count + self.features.specs[s].n_shifts - 1
            for i in range(n_rows):
                if rows[i] >= 0:
                    self._apply_l1(tables, s, rows[i])
            rows += n_rows
        for s in range(self.features.n_lists):
            for cell in range(
                chain.lists[s].starts[begin], chain.lists[s].starts[begin + count]
            ):
                self._apply_l1(tables, self.features.n_shapes + s, chain.lists[s].rows[cell])

    cdef void _apply_l1(self, void** tables, int table, Py_ssize_t row) noexcept nogil:
        cdef Py_ssize_t n_columns = (<TrainingRows> tables[table]).n_columns
        cdef double* weights = (<TrainingRows> tables[table])._values + row * n_columns
        cdef double owed = self._l1_due - self._l1_paid[table][row]
        if owed == 0.0:
            return
        shrink(weights, n_columns, owed)
        self._l1_paid[table][row] = self._l1_due

    cdef void _finish_l1(self, void** tables) noexcept nogil:
        """Apply pending cumulative L1 penalties to all weights."""
        cdef Py_ssize_t row
        cdef int table
        for table in range(self.features.n_shapes + self.features.n_lists):
            for row in range((<TrainingRows> tables[table]).n_rows):
                self._apply_l1(tables, table, row)

    cdef void _fold(self, void** tables) noexcept nogil:
        """Fold the scale of the weights into the values of the tables."""
        if self._l1_paid != NULL:
            self._finish_l1(tables)
        self.learner.fold()
