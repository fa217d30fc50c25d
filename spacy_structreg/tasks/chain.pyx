"""Label chains: sequences whose features are n-grams of symbols and pairs of neighboring labels.

A task describes a position by *streams* of symbols, one stream for each atom of its templates: a
symbol is an unsigned integer, and beyond both ends of a sequence stands the stream's padding. All
streams of a sequence lie in one array, `stride` apart, each with `ChainFeatures.reach` symbols
of padding on both sides. `ChainFeatures` turns them into keys of weight rows and the rows into
scores; it serves training and prediction alike.

What no n-gram can say stands in *lists*: any number of features of a position, given by their keys,
with real values if need be. There is one of features that speak for labels, and one of rich edge
features (Sun 2014), which speak for the label of a position together with the one before it. A task
gives them; or those of edges are n-grams of the streams, too, and found here.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

from spacy_structreg.learn.learner cimport Learner
from spacy_structreg.learn.log_linear cimport LogLinearLearner
from spacy_structreg.learn.memory cimport BufferOwner, capacity_of, reserve
from spacy_structreg.learn.murmur cimport murmur_hash_64a
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.learn.frozen_rows cimport FrozenRows, sum_terms
from spacy_structreg.learn.rows cimport Rows, TrainedRows, TrainingRows
from spacy_structreg.search.viterbi cimport LabelGraph, NBestViterbi, Viterbi

import numpy as np

from spacy_structreg.features.templates import MAX_ATOMS
from spacy_structreg.learn.learning_settings import Learning, LogLinear

LISTS = ("label", "edge")
"""Names of the feature lists that a model may have."""

cdef enum:
    # Positions scored at a time: few enough that keys, rows and scores stay in the cache.
    BLOCK = 512
    # A weight row has up to 65,536 columns.
    MAX_LABELS_OF_EDGES = 256
    # So many scores of pairs of labels at a time stay in the cache: a position at least.
    PAIRS_TOGETHER = 16384

# What the scores of pairs may take where those of a whole sequence are needed at once, in bytes.
cdef int64_t MAX_BYTES_OF_PAIRS = 2_147_483_648

assert MAX_ATOMS == MAX_ATOMS_OF_SHAPE


cdef class ChainFeatures(BufferOwner):
    """The shapes of a model, bound to the streams of a task.

    shapes: as `features.template_compiler.compile_shapes` made them.
    atoms: the streams in their order: the name of the atom, and in how many bits its symbols fit.
        N-grams of at most 64 bits are keys as they are; longer ones are hashed.
    n_labels: how many labels there are.
    lists: which lists of features there are, in their order: of `LISTS`. Their tables follow those
        of the shapes; `label_list` and `edge_list` are their numbers, -1 where there is none.
    edge_shapes: shapes of one template each, whose n-grams are the list of edge features; none if
        there is no such list, or the task gives it. `n_given` is how many lists it gives.
    reach: how far features look beyond the ends of a sequence, in positions.
    overhang: how many positions a weight row may stick out beyond the part that is scored.
    tag_bigram: which shape holds the weights of pairs of labels; -1 if none does.
    n_pair_rows: how many rows it has: 1, or one for each label (`Shape.is_tag_bigram`).
    Raises ValueError if a shape has too many atoms, or one that is no stream of the task; and for
    lists that do not exist.
    """

    def __init__(self, shapes, atoms, Py_ssize_t n_labels, lists=(), edge_shapes=()):
        cdef ShapeSpec* spec
        self.shapes = tuple(shapes)
        self.edge_shapes = tuple(edge_shapes)
        self.atoms = dict(atoms)
        self.n_labels = n_labels
        self.n_shapes = len(self.shapes)
        self.n_streams = len(self.atoms)
        self.reach = 0
        self.overhang = 0
        self.tag_bigram = -1
        self.n_pair_rows = 0
        self.n_edges = len(self.edge_shapes)
        self.n_given = len(lists)
        self.lists = (*lists, *(LISTS[1:] if self.edge_shapes else ()))
        self.n_lists = len(self.lists)
        if self.lists not in [(), LISTS[:1], LISTS[1:], LISTS]:
            raise ValueError(f"there are the lists {', '.join(LISTS)}, not {self.lists}")
        if any([shape.is_tag_bigram or shape.n_shifts > 1 for shape in self.edge_shapes]):
            raise ValueError("the shapes of edge features are n-grams of one template each")
        self.label_list = self.lists.index("label") if "label" in self.lists else -1
        self.edge_list = self.lists.index("edge") if "edge" in self.lists else -1
        reserve(&self.buffers, self.specs, self.n_shapes + self.n_edges + 1)
        streams = {name: i for i, name in enumerate(self.atoms)}
        for i, shape in enumerate(self.shapes + self.edge_shapes):
            if len(shape.atoms) > MAX_ATOMS or any(
                [atom.name not in streams for atom in shape.atoms]
            ):
                raise ValueError(
                    f"the shape {str(shape)[:80]} does not fit the atoms {sorted(streams)}"
                )
            spec = &self.specs[i]
            spec.n_atoms = len(shape.atoms)
            spec.lowest = shape.lowest
            spec.n_shifts = shape.n_shifts
            spec.packed = sum([self.atoms[atom.name] for atom in shape.atoms]) <= 64
            for a, atom in enumerate(shape.atoms):
                spec.streams[a] = streams[atom.name]
                spec.offsets[a] = atom.offset
                spec.bits[a] = self.atoms[atom.name]
                self.reach = max(
                    self.reach, -shape.lowest, shape.highest + atom.offset
                )
            if shape.is_tag_bigram:
                self.tag_bigram = i
                self.n_pair_rows = n_labels * n_labels // shape.n_columns(n_labels)
            else:
                self.overhang = max(self.overhang, spec.n_shifts - 1)

    def __reduce__(self):
        lists = self.lists[:self.n_given]
        return ChainFeatures, (self.shapes, self.atoms, self.n_labels, lists, self.edge_shapes)

    @property
    def widths(self):
        """Number of columns of the rows of each shape and list."""
        listed = {"label": self.n_labels, "edge": self.n_labels * self.n_labels}
        return (
            *[shape.n_columns(self.n_labels) for shape in self.shapes],
            *[listed[name] for name in self.lists],
        )

    def new_learner(self, settings=None, adaptive=None):
        """A `Perceptron` or `LogLinearLearner` with an empty table for each shape and list.

        settings: a `Learning`, or `LogLinear`. adaptive: how rows are laid out (see `learn.rows`);
        the tag bigram and the rows of log-linear models are always dense.
        Raises ValueError if there are too many pairs of labels for edge features.
        """
        cdef TrainingRows table
        cdef Py_ssize_t i
        if self.edge_list >= 0 and self.n_labels > MAX_LABELS_OF_EDGES:
            raise ValueError(
                f"edge features go with every pair of labels, and {self.n_labels:,} labels have "
                f"too many; leave out edge features, or keep to {MAX_LABELS_OF_EDGES} labels"
            )
        settings = Learning() if settings is None else settings
        log_linear = isinstance(settings, LogLinear)
        tables = []
        for number, width in enumerate(self.widths):
            dense = log_linear or number == self.tag_bigram
            table = TrainingRows(width, False if dense else adaptive, **settings.penalties)
            if number == self.tag_bigram:
                for i in range(self.n_pair_rows):
                    table.insert(i)
            tables.append(table)
        return LogLinearLearner(tables, settings) if log_linear else Perceptron(tables, settings)

    cdef Py_ssize_t rows_of(self, Py_ssize_t n) noexcept nogil:
        """Number of row numbers of a sequence of `n` positions, over all shapes.

        Those of one shape follow each other, n + n_shifts - 1 of them: the n-grams whose anchors
        lie from the shape's lowest offset before the first position on.
        """
        cdef Py_ssize_t total = 0
        cdef int s
        for s in range(self.n_shapes):
            if self.specs[s].n_atoms:
                total += n + self.specs[s].n_shifts - 1
        return total

    cdef void keys(
        self, int shape, const uint64_t* symbols, Py_ssize_t stride, Py_ssize_t first,
        Py_ssize_t count, uint64_t* keys,
    ) noexcept nogil:
        """The keys of the n-grams of a shape that are anchored at `first`, `first` + 1, ….

        symbols: position 0 of the first stream.
        """
        cdef ShapeSpec* spec = &self.specs[shape]
        cdef const uint64_t* stream
        cdef uint64_t ngram[MAX_ATOMS_OF_SHAPE]
        cdef Py_ssize_t i
        cdef int a
        if spec.packed:
            memset(keys, 0, count * sizeof(uint64_t))
            for a in range(spec.n_atoms):
                stream = symbols + spec.streams[a] * stride + spec.offsets[a] + first
                if spec.bits[a] == 64:
                    for i in range(count):
                        keys[i] = stream[i]
                else:
                    for i in range(count):
                        keys[i] = (keys[i] << spec.bits[a]) | stream[i]
            return
        for i in range(count):
            for a in range(spec.n_atoms):
                ngram[a] = symbols[spec.streams[a] * stride + spec.offsets[a] + first + i]
            keys[i] = murmur_hash_64a(ngram, spec.n_atoms * sizeof(uint64_t), 1)

    cdef void list_edges(
        self, const uint64_t* symbols, Py_ssize_t stride, Py_ssize_t n, int64_t* starts,
        uint64_t* keys,
    ) noexcept nogil:
        """The list of the n-grams of edges of `n` > 0 positions: a key of each, but for the first.

        symbols: as for `keys`. starts: of n + 1 positions. keys: room for n * (`n_edges` + 1).
        """
        cdef uint64_t* ngrams = keys + n * self.n_edges
        cdef uint64_t named[2]
        cdef Py_ssize_t i
        cdef int e
        starts[0] = 0
        for i in range(n):
            starts[i + 1] = i * self.n_edges
        for e in range(self.n_edges):
            self.keys(
                self.n_shapes + e, symbols, stride, 1 + self.specs[self.n_shapes + e].lowest, n - 1,
                ngrams,
            )
            named[1] = e
            for i in range(n - 1):
                # All have one table.
                named[0] = ngrams[i]
                keys[i * self.n_edges + e] = murmur_hash_64a(named, sizeof(named), 1)

    cdef bint hides_edge(
        self, const uint8_t* hidden, Py_ssize_t position, Py_ssize_t edge
    ) noexcept nogil:
        """True if a hidden position occurs in an n-gram of edges, the one of this number.

        hidden: as for `hide_rows`. Of lists that a task gives, it is the position alone.
        """
        cdef const ShapeSpec* spec = &self.specs[self.n_shapes + edge]
        cdef int a
        if self.n_edges == 0:
            return hidden[self.reach + position]
        for a in range(spec.n_atoms):
            if hidden[self.reach + position + spec.lowest + spec.offsets[a]]:
                return True
        return False

    def edge_list_of(self, symbols):
        """The list of edge features of a sequence that are n-grams, as `compile` takes lists.

        symbols: as for `compile`.
        """
        cdef const uint64_t[:, ::1] streams = symbols
        cdef Py_ssize_t n = streams.shape[1] - 2 * self.reach
        cdef int64_t[::1] starts = np.zeros(n + 1, dtype=np.int64)
        cdef uint64_t[::1] keys = np.empty(n * (self.n_edges + 1) + 1, dtype=np.uint64)
        if n > 0:
            self.list_edges(
                &streams[0, self.reach], streams.shape[1], n, &starts[0], &keys[0]
            )
        return np.asarray(starts), np.asarray(keys)[:starts[n]].copy(), None

    cdef void emissions(
        self, void** tables, const int32_t* rows, Py_ssize_t n, double* scores
    ) noexcept nogil:
        """Score every label at each of `n` positions.

        tables: the `Rows` of each shape. rows: as `rows_of` lays them out.
        scores: of shape (n, n_labels), with `overhang` positions of room on both sides.
        """
        cdef Py_ssize_t n_labels = self.n_labels
        cdef Py_ssize_t count
        cdef int s
        memset(
            scores - self.overhang * n_labels, 0,
            (n + 2 * self.overhang) * n_labels * sizeof(double),
        )
        for s in range(self.n_shapes):
            if not self.specs[s].n_atoms:
                continue
            count = n + self.specs[s].n_shifts - 1
            (<Rows> tables[s]).add_run(
                rows, count, n_labels, scores - (self.specs[s].n_shifts - 1) * n_labels
            )
            rows += count

    cdef void listed_emissions(
        self, void** tables, const Listed* listed, Py_ssize_t begin, Py_ssize_t count,
        double* scores,
    ) noexcept nogil:
        """Add the scores of list features at positions `begin` to `begin` + `count`.

        listed: of the whole sequence. scores: of shape (count, n_labels).
        """
        cdef void* table = tables[self.n_shapes + self.label_list]
        cdef int64_t first
        cdef Py_ssize_t i
        for i in range(count):
            first = listed.starts[begin + i]
            (<Rows> table).add_weighted(
                listed.rows + first, NULL if listed.values == NULL else listed.values + first,
                listed.starts[begin + i + 1] - first, scores + i * self.n_labels,
            )

    cdef void edges(
        self, void** tables, const Listed* listed, Py_ssize_t begin, Py_ssize_t count,
        double* scores,
    ) noexcept nogil:
        """Score every pair of labels at the positions after `begin`, to before `begin` + `count`.

        listed: of the whole sequence. scores: of shape (count - 1, n_labels, n_labels).
        """
        cdef Py_ssize_t n_pairs = self.n_labels * self.n_labels
        cdef void* table = tables[self.n_shapes + self.edge_list]
        cdef int64_t first
        cdef Py_ssize_t i
        if count > 1:
            memset(scores, 0, (count - 1) * n_pairs * sizeof(double))
        for i in range(1, count):
            first = listed.starts[begin + i]
            (<Rows> table).add_weighted(
                listed.rows + first, NULL if listed.values == NULL else listed.values + first,
                listed.starts[begin + i + 1] - first, scores + (i - 1) * n_pairs,
            )

    cdef int check_pairs(self, Py_ssize_t n, Py_ssize_t n_tables) except -1 nogil:
        """Raise ValueError if the scores of all pairs of labels of a sequence take too much memory.

        n: its positions. n_tables: how many tables of such numbers there are at a time.
        """
        cdef int64_t n_bytes = n * self.n_labels * self.n_labels * n_tables * sizeof(double)
        if n_bytes <= MAX_BYTES_OF_PAIRS:
            return 0
        with gil:
            what = "edge features" if self.edge_list >= 0 else "noise"
            raise ValueError(
                f"the pairs of labels of a sentence of {n:,} characters or words with "
                f"{self.n_labels} labels take {n_bytes:,} bytes, and {MAX_BYTES_OF_PAIRS:,} are "
                "the most; give shorter sentences (mini_sample cuts those of a training), or leave "
                f"out {what}"
            )

    cdef void slice_rows(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t begin, Py_ssize_t count,
        int32_t* part,
    ) noexcept nogil:
        """Copy the row numbers of positions `begin` to `begin` + `count` out of a sequence's.

        They are laid out like those of a sequence of `count` positions, whose features look
        beyond its ends.
        """
        cdef Py_ssize_t n_rows
        cdef int s
        for s in range(self.n_shapes):
            if not self.specs[s].n_atoms:
                continue
            n_rows = count + self.specs[s].n_shifts - 1
            memcpy(part, rows + begin, n_rows * sizeof(int32_t))
            part += n_rows
            rows += n + self.specs[s].n_shifts - 1

    cdef void hide_rows(
        self, const uint8_t* hidden, Py_ssize_t count, int32_t* rows
    ) noexcept nogil:
        """Take away the rows of n-grams in which a hidden position occurs.

        hidden: flags of the positions from `reach` before the first one on, count + 2 * reach of
        them. rows: of `count` positions.
        """
        cdef ShapeSpec* spec
        cdef Py_ssize_t i
        cdef int a
        cdef int s
        for s in range(self.n_shapes):
            spec = &self.specs[s]
            if not spec.n_atoms:
                continue
            for i in range(count + spec.n_shifts - 1):
                for a in range(spec.n_atoms):
                    if hidden[self.reach + spec.lowest + i + spec.offsets[a]]:
                        rows[i] = -1
                        break
            rows += count + spec.n_shifts - 1

    def compile(self, symbols, labels, Learner learner not None, lists=()):
        """Look up, or make, the rows of all features of a sequence, for training.

        symbols: uint64 of shape (n_streams, n + 2 * reach), padding included.
        labels: the gold labels, uint16 of shape (n,); or which labels may be right, bool of shape
            (n, n_labels), as `LabelGraph.prune` gives them; or how many positions there are, if
            nothing is known of their labels. Where one label is left at every position, these are
            the gold labels.
        lists: of each list that the task gives, in the order of `lists`: starts, int64 (n + 1,),
            keys, uint64 of shape (m,), and values, float64 of shape (m,), or None if all are 1. The
            features of position i are starts[i] to starts[i + 1].
        Raises ValueError if shapes do not agree, a label does not exist, or a value is not finite.
        """
        cdef const uint64_t[:, ::1] streams = symbols
        cdef bint labeled = not isinstance(labels, int)
        allowed = None
        if labeled and labels.ndim == 2:
            labels, allowed = _gold_of_mask(labels, self.n_labels)
        cdef const uint16_t[::1] gold = labels if labeled else None
        cdef const uint8_t[:, ::1] mask = allowed
        cdef Py_ssize_t n = gold.shape[0] if labeled else <Py_ssize_t> labels
        cdef CompiledChain chain
        cdef TrainingRows table
        cdef int32_t* rows
        cdef Py_ssize_t count
        cdef Py_ssize_t i
        if streams.shape[0] != len(self.atoms) or streams.shape[1] != n + 2 * self.reach:
            raise ValueError(
                f"symbols of shape {symbols.shape} do not fit {len(self.atoms)} streams "
                f"of {n} positions with {self.reach} more on both sides"
            )
        if len(learner.tables) != self.n_shapes + self.n_lists:
            raise ValueError("the learner was made for other features")
        if learner.is_copy:
            raise ValueError("a copied learner cannot add features; compile with the original")
        if labeled and n and labels.max() >= self.n_labels:
            raise ValueError(f"label {labels.max()} is out of range")
        if len(lists) != self.n_given:
            raise ValueError(
                f"{len(lists)} lists of features do not fit {self.lists[:self.n_given]}"
            )
        lists = [checked_list(listed, n) for listed in lists]
        if self.n_edges:
            lists.append(self.edge_list_of(symbols))
        chain = CompiledChain.make(n, self.rows_of(n), labeled, learner.numbering)
        if labeled:
            for i in range(n):
                chain.data.labels[i] = gold[i]
        if mask is not None:
            reserve(&chain.buffers, chain.data.mask, n * self.n_labels)
            memcpy(chain.data.mask, &mask[0, 0], n * self.n_labels)
        if isinstance(learner, LogLinearLearner) and labeled:
            (<LogLinearLearner> learner).n_positions += n
            (<LogLinearLearner> learner).sum_of_squares += n * sum(
                [shape.n_shifts for shape in self.shapes]
            ) + sum([keys.size if values is None else values @ values for _, keys, values in lists])
        if n == 0:
            return chain
        keys = np.empty(n + self.overhang, dtype=np.uint64)
        cdef uint64_t[::1] key_view = keys
        rows = chain.data.rows
        for s in range(self.n_shapes):
            if not self.specs[s].n_atoms:
                continue
            count = n + self.specs[s].n_shifts - 1
            self.keys(
                s, &streams[0, self.reach], streams.shape[1], self.specs[s].lowest, count,
                &key_view[0],
            )
            table = learner.tables[s]
            for i in range(count):
                rows[i] = table.insert(key_view[i])
            rows += count
        for number, (starts, keys, values) in enumerate(lists):
            chain.take_list(number, starts, keys, values, learner.tables[self.n_shapes + number])
        chain.n_rows_known = learner.n_rows()
        return chain


def _gold_of_mask(allowed, Py_ssize_t n_labels):
    """Gold labels from a mask, and the mask as uint8 if it leaves a choice."""
    allowed = np.ascontiguousarray(allowed, dtype=np.uint8)
    if allowed.shape[1] != n_labels or not allowed.any(axis=1).all():
        raise ValueError(f"a mask of shape {allowed.shape} leaves a position without a label")
    return allowed.argmax(axis=1).astype(np.uint16), allowed if (allowed.sum(1) > 1).any() else None


def checked_list(listed, Py_ssize_t n):
    """Convert a list of features of `n` positions to the arrays of `ChainFeatures.compile`.

    Raises ValueError if it is none.
    """
    starts, keys, values = listed
    starts = np.ascontiguousarray(starts, dtype=np.int64)
    keys = np.ascontiguousarray(keys, dtype=np.uint64)
    if (
        keys.ndim != 1 or starts.shape != (n + 1,) or starts[0] != 0 or starts[n] != keys.size
        or (starts[1:] < starts[:n]).any()
    ):
        raise ValueError(f"a list of {keys.size} features does not fit {n} positions")
    if values is not None:
        values = np.ascontiguousarray(values, dtype=np.float64)
        if values.shape != keys.shape or not (np.abs(values) <= 1e30).all():
            raise ValueError("feature values must be finite and not too large")
    return starts, keys, values


cdef class CompiledChain(BufferOwner):
    """A training sequence, reduced to gold labels and numbers of weight rows.

    `ChainFeatures.compile` makes it. n: its length. numbering: of the rows (`Learner`).
    n_rows_known: how many rows the learner had when the sequence had been compiled.
    is_labeled: whether it has gold labels, at least in part. is_partial: whether in part alone.
    """

    def __init__(self):
        raise TypeError("a sequence is compiled by ChainFeatures.compile")

    @staticmethod
    cdef CompiledChain make(Py_ssize_t n, Py_ssize_t n_rows, bint labeled, object numbering):
        """Allocate a sequence of `n` positions; the caller fills in labels and rows."""
        cdef CompiledChain chain = CompiledChain.__new__(CompiledChain)
        if labeled:
            reserve(&chain.buffers, chain.data.labels, n)
        reserve(&chain.buffers, chain.data.rows, n_rows)
        chain.data.n = n
        chain.numbering = numbering
        return chain

    cdef int take_list(
        self, int number, starts, keys, values, TrainingRows table
    ) except -1:
        """Set a list of features whose rows are in `table`, from the arrays of `checked_list`."""
        cdef Listed* listed = &self.data.lists[number]
        cdef const int64_t[::1] start_view = starts
        cdef const uint64_t[::1] key_view = keys
        cdef const double[::1] value_view = values
        cdef Py_ssize_t n_cells = key_view.shape[0]
        cdef Py_ssize_t i
        reserve(&self.buffers, listed.starts, start_view.shape[0])
        reserve(&self.buffers, listed.rows, n_cells)
        if values is not None:
            reserve(&self.buffers, listed.values, n_cells)
        for i in range(start_view.shape[0]):
            listed.starts[i] = start_view[i]
        for i in range(n_cells):
            listed.rows[i] = table.insert(key_view[i])
            if listed.values != NULL:
                listed.values[i] = value_view[i]
        return 0

    @property
    def n(self):
        return self.data.n

    @property
    def is_labeled(self):
        return self.data.labels != NULL

    @property
    def is_partial(self):
        return self.data.mask != NULL

    def __len__(self):
        return self.data.n

    def __reduce__(self):
        raise TypeError(
            "a compiled sequence belongs to a running training and cannot be pickled; "
            "compile it again where it is needed"
        )


cdef class ChainDecoder(BufferOwner):
    """Labels sequences by trained weights. It holds working memory: use one in each thread.

    features, graph: of the model. tables: a `TrainedRows` for each shape and list.
    Raises ValueError if tables and features do not fit each other.
    """

    def __init__(self, ChainFeatures features not None, LabelGraph graph not None, tables):
        cdef TrainedRows table
        cdef Py_ssize_t i
        if self._tables != NULL:
            raise TypeError("a decoder cannot be initialized twice")
        self.features = features
        self.graph = graph
        self.tables = tuple(tables)
        self.viterbi = Viterbi(graph)
        if tuple([t.n_columns for t in self.tables]) != features.widths:
            raise ValueError("the weight rows of the model do not fit its templates")
        if graph.n_labels != features.n_labels:
            raise ValueError("the label graph was made for other features")
        reserve(&self.buffers, self._tables, len(self.tables))
        reserve(&self.buffers, self.transitions, features.n_labels * features.n_labels)
        for i in range(len(self.tables)):
            self._tables[i] = <void*> (<TrainedRows?> self.tables[i])
        for i in range(features.n_labels * features.n_labels):
            self.transitions[i] = 0.0
        if features.tag_bigram >= 0:
            table = self.tables[features.tag_bigram]
            if table.adaptive and not isinstance(table, FrozenRows):
                raise ValueError("the tag bigram needs dense rows")
            if table.key_limit > features.n_pair_rows:
                raise ValueError("the tag bigram has a row beyond its labels")
            weights = [table.weights(key) for key in range(features.n_pair_rows)]
            for i, weight in enumerate(np.concatenate(weights)):
                self.transitions[i] = weight
        self.viterbi.transitions.bind(self.transitions)
        self._n_together = max(1, PAIRS_TOGETHER // features.n_labels ** 2)
        self._find_terms()

    cdef int _find_terms(self) except -1:
        """Collect the parts of dense frozen rows, four labels each, that scores sum."""
        cdef FrozenRows table
        cdef ShapeSpec* spec
        cdef Term* term
        cdef int n_terms = 0
        cdef int s
        cdef int shift
        kinds = set()
        for s in range(self.features.n_shapes):
            if self.features.specs[s].n_atoms:
                if not isinstance(self.tables[s], FrozenRows) or self.tables[s].adaptive:
                    return 0
                self._kind = (<FrozenRows> self.tables[s]).kind
                kinds.add(self._kind)
        if self.features.n_labels != 4 or len(kinds) != 1:
            return 0
        for s in range(self.features.n_shapes):
            n_terms += self.features.specs[s].n_shifts
        reserve(&self.buffers, self._terms, n_terms)
        for s in range(self.features.n_shapes):
            spec = &self.features.specs[s]
            if not spec.n_atoms:
                continue
            table = self.tables[s]
            for shift in range(spec.n_shifts):
                # The first of the rows that reach a position has its last columns for it.
                term = &self._terms[self._n_terms]
                term.cells = table.cells + 4 * table.weight_size * (spec.n_shifts - 1 - shift)
                term.zeros = table._zeros
                term.scale = table.scale
                self._n_terms += 1
        return 0

    def __reduce__(self):
        return ChainDecoder, (self.features, self.graph, self.tables)

    cdef uint64_t* symbols_for(self, Py_ssize_t n) except NULL nogil:
        """Reserve memory for the streams of a sequence; return position 0 of the first one.

        The task fills in `n` symbols and `reach` of padding on both sides, for every stream;
        streams lie `stride` apart.
        """
        self.stride = n + 2 * self.features.reach
        reserve(&self.buffers, self._symbols, self.stride * self.features.n_streams + 1)
        return self._symbols + self.features.reach

    cdef uint8_t* mask_for(self, Py_ssize_t n) except NULL nogil:
        """Reserve a mask of `n` positions, or columns, by labels, which the task fills in."""
        reserve(&self.buffers, self._mask, n * self.features.n_labels + 1)
        return self._mask

    cdef int take_list(
        self, int number, Py_ssize_t n, const int64_t* starts, const uint64_t* keys,
        const double* values,
    ) except -1 nogil:
        """Set one list of features of a sequence of `n` positions; values may be NULL.

        starts: of n + 1 positions, in keys and values. Every list must be taken before a sequence
        is scored.
        """
        cdef Listed* listed = &self._lists[number]
        cdef Py_ssize_t n_cells = starts[n] - starts[0]
        cdef void* table = self._tables[self.features.n_shapes + number]
        cdef Py_ssize_t i
        reserve(&self.buffers, listed.starts, n + 1)
        reserve(&self.buffers, listed.rows, n_cells + 1)
        # Values there always are, because a NULL in their place could not be taken back.
        reserve(&self.buffers, listed.values, n_cells + 1)
        for i in range(n + 1):
            listed.starts[i] = starts[i] - starts[0]
        (<Rows> table).find_run(keys + starts[0], n_cells, listed.rows)
        if values != NULL:
            memcpy(listed.values, values + starts[0], n_cells * sizeof(double))
        else:
            for i in range(n_cells):
                listed.values[i] = 1.0
        return 0

    cdef const double* emissions(self, Py_ssize_t begin, Py_ssize_t count) except NULL nogil:
        """Score positions `begin` to `begin` + `count` of the sequence in the streams."""
        cdef Py_ssize_t n_anchors
        cdef Py_ssize_t t = 0
        cdef int32_t* rows
        cdef double* scores
        cdef int s
        cdef int shift
        reserve(&self.buffers, self._keys, count + self.features.overhang)
        reserve(&self.buffers, self._rows, self.features.rows_of(count) + 1)
        reserve(
            &self.buffers, self._scores,
            (count + 2 * self.features.overhang) * self.features.n_labels,
        )
        rows = self._rows
        for s in range(self.features.n_shapes):
            if not self.features.specs[s].n_atoms:
                continue
            n_anchors = count + self.features.specs[s].n_shifts - 1
            self.features.keys(
                s, self._symbols + self.features.reach, self.stride,
                begin + self.features.specs[s].lowest, n_anchors, self._keys,
            )
            (<Rows> self._tables[s]).find_run(self._keys, n_anchors, rows)
            if self._n_terms:
                for shift in range(self.features.specs[s].n_shifts):
                    self._terms[t].rows = rows + shift
                    t += 1
            rows += n_anchors
        scores = self._scores + self.features.overhang * self.features.n_labels
        if self._n_terms:
            sum_terms(self._kind, self._terms, self._n_terms, count, scores)
        else:
            self.features.emissions(self._tables, self._rows, count, scores)
        if self.features.label_list >= 0:
            self.features.listed_emissions(
                self._tables, &self._lists[self.features.label_list], begin, count, scores
            )
        return scores

    cdef const double* all_edges(self, Py_ssize_t n, Py_ssize_t n_tables) except? NULL nogil:
        """Score all pairs of labels of the current sequence; NULL without edge features.

        n_tables: as for `ChainFeatures.check_pairs`, which raises.
        """
        if self.features.edge_list < 0:
            return NULL
        self.features.check_pairs(n, n_tables)
        return self._score_pairs(0, n)

    cdef Py_ssize_t capacity_of_pairs(self) noexcept nogil:
        """Capacity for pair scores, in positions of four labels each."""
        return capacity_of(self._edges) // 16

    cdef int score_edges(self, Py_ssize_t first, Py_ssize_t count) except -1 nogil:
        """Pass the pair scores of `count` > 0 positions from `first` on to `viterbi`.

        For models with edge features.
        """
        cdef Py_ssize_t begin = max(0, first - 1)
        self.viterbi.edges = self._score_pairs(begin, first + count - begin)
        self.viterbi.edges_from = begin
        return 0

    cdef const double* _score_pairs(
        self, Py_ssize_t begin, Py_ssize_t count
    ) except NULL nogil:
        """`ChainFeatures.edges` for the current sequence; count > 0."""
        cdef Py_ssize_t n_pairs = self.features.n_labels * self.features.n_labels
        reserve(&self.buffers, self._edges, (count - 1) * n_pairs + 1)
        if self.features.n_edges:
            self._find_edges(begin, count)
            begin = 0
        self.features.edges(
            self._tables, &self._lists[self.features.edge_list], begin, count, self._edges
        )
        return self._edges

    cdef int _find_edges(self, Py_ssize_t begin, Py_ssize_t count) except -1 nogil:
        """Find the rows of the edge n-grams of some positions only."""
        cdef Listed* listed = &self._lists[self.features.edge_list]
        cdef void* table = self._tables[self.features.n_shapes + self.features.edge_list]
        reserve(&self.buffers, self._edge_keys, count * (self.features.n_edges + 1))
        reserve(&self.buffers, listed.starts, count + 1)
        reserve(&self.buffers, listed.rows, count * self.features.n_edges)
        self.features.list_edges(
            self._symbols + self.features.reach + begin, self.stride, count, listed.starts,
            self._edge_keys,
        )
        (<Rows> table).find_run(self._edge_keys, listed.starts[count], listed.rows)
        return 0

    cdef double decode(self, Py_ssize_t n, bint masked, uint16_t* path) except? -1 nogil:
        """Write the best labels of the sequence in the streams; returns the score.

        masked: whether the mask of `mask_for` is in force; if the task has set a `lattice`, it is.
        Without a legal path the score is minus infinity.
        """
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t count
        cdef const double* scores
        if self.lattice != NULL:
            self._walk(n)
            return self.viterbi.finish(n, path)
        while first < n:
            if first:
                self.viterbi.settle(first, path)
            count = min(<Py_ssize_t> BLOCK, n - first)
            scores = self.emissions(first, count)
            self.advance(
                scores, self._mask + first * self.features.n_labels if masked else NULL,
                first, count,
            )
            first += count
        return self.viterbi.finish(n, path)

    cdef int advance(
        self, const double* emissions, const uint8_t* mask, Py_ssize_t first, Py_ssize_t count
    ) except -1 nogil:
        """`Viterbi.advance` with edges of a few positions at a time."""
        cdef Py_ssize_t n_labels = self.features.n_labels
        cdef Py_ssize_t end = first + count
        self.viterbi.edges = NULL
        while first < end:
            if self.features.edge_list >= 0:
                count = min(self._n_together, end - first)
                self.score_edges(first, count)
            self.viterbi.advance(emissions, mask, first, count)
            emissions += count * n_labels
            if mask != NULL:
                mask += count * n_labels
            first += count
        return 0

    cdef int _walk(self, Py_ssize_t n) except -1 nogil:
        """`Viterbi.walk` for all columns, with edges of a few positions at a time."""
        cdef const double* scores = self.emissions(0, n)
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t last
        cdef Py_ssize_t end
        self.viterbi.edges = NULL
        while first < self.lattice.n:
            last = self.lattice.n
            if self.features.edge_list >= 0:
                end = min(n, self.lattice.positions[first] + self._n_together)
                self.score_edges(self.lattice.positions[first], end - self.lattice.positions[first])
                last = first + 1
                while last < self.lattice.n and self.lattice.positions[last] < end:
                    last += 1
            self.viterbi.walk(scores, self._mask, self.lattice, first, last)
            first = last
        return 0

    cdef int solve_nbest(self, Py_ssize_t n, bint masked) except -1 nogil:
        """Score the labelings of the sequence in the streams, for `nbest_path`.

        Raises ValueError as `all_edges`.
        """
        cdef const double* edges = self.all_edges(n, 1)
        cdef const double* scores = self.emissions(0, n)
        if self._nbest is None:
            with gil:
                self._nbest = NBestViterbi(self.graph)
                self._nbest.best.transitions.bind(self.transitions)
        self._nbest.best.edges = edges
        self._nbest.solve(scores, self._mask if masked else NULL, n, self.lattice)
        return 0

    cdef double nbest_path(self, Py_ssize_t rank, uint16_t* path) except? -1 nogil:
        """See `NBestViterbi.path`."""
        return self._nbest.path(rank, path)
