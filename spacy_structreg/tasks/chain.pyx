"""Label chains: sequences whose features are n-grams of symbols and pairs of neighbouring labels.

A task describes a position by *streams* of symbols, one stream for each atom of its templates: a
symbol is an unsigned integer, and beyond both ends of a sequence stands the stream's padding. All
streams of a sequence lie in one array, `stride` apart, each with `ChainFeatures.reach` symbols
of padding on both sides. `ChainFeatures` turns them into keys of weight rows and the rows into
scores; it serves training and prediction alike.
"""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from spacy_structreg.learn.memory cimport reserve
from spacy_structreg.learn.murmur cimport murmur_hash_64a
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.learn.rows cimport Rows, TrainedRows, TrainingRows
from spacy_structreg.search.viterbi cimport LabelGraph, NBestViterbi, Viterbi

import numpy as np

from spacy_structreg.features.templates import MAX_ATOMS
from spacy_structreg.learn.settings import Learning

cdef enum:
    # Positions scored at a time: few enough that keys, rows and scores stay in the cache.
    BLOCK = 512

assert MAX_ATOMS == MAX_ATOMS_OF_SHAPE


cdef class ChainFeatures:
    """The shapes of a model, bound to the streams of a task.

    shapes: as `features.shapes.compile_shapes` made them.
    atoms: the streams in their order: the name of the atom, and in how many bits its symbols fit.
        N-grams of at most 64 bits are keys as they are; longer ones are hashed.
    n_labels: how many labels there are.
    reach: how far features look beyond the ends of a sequence, in positions.
    overhang: how many positions a weight row may stick out beyond the part that is scored.
    tag_bigram: which shape holds the weights of pairs of labels; -1 if none does.
    n_pair_rows: how many rows it has: 1, or one for each label (`features.shapes.Shape`).
    Raises ValueError if a shape has too many atoms, or one that is no stream of the task.
    """

    def __init__(self, shapes, atoms, Py_ssize_t n_labels):
        cdef ShapeSpec* spec
        self.shapes = tuple(shapes)
        self.atoms = dict(atoms)
        self.n_labels = n_labels
        self.n_shapes = len(self.shapes)
        self.n_streams = len(self.atoms)
        self.reach = 0
        self.overhang = 0
        self.tag_bigram = -1
        self.n_pair_rows = 0
        free(self.specs)
        self.specs = <ShapeSpec*> malloc(max(1, self.n_shapes) * sizeof(ShapeSpec))
        if self.specs == NULL:
            raise MemoryError("no memory for the shapes of a model")
        streams = {name: i for i, name in enumerate(self.atoms)}
        for i, shape in enumerate(self.shapes):
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

    def __dealloc__(self):
        free(self.specs)

    def __reduce__(self):
        return ChainFeatures, (self.shapes, self.atoms, self.n_labels)

    @property
    def widths(self):
        """How many columns the rows of each shape have."""
        return tuple(shape.n_columns(self.n_labels) for shape in self.shapes)

    def new_learner(self, settings=None, adaptive=None):
        """A `Perceptron` with an empty table for each shape.

        settings: a `Learning`. adaptive: how rows are laid out (see `learn.rows`); the tag bigram
        is always dense.
        """
        cdef TrainingRows table
        cdef Py_ssize_t i
        settings = Learning() if settings is None else settings
        tables = []
        for shape, width in zip(self.shapes, self.widths):
            table = TrainingRows(
                width, False if shape.is_tag_bigram else adaptive, **settings.penalties
            )
            if shape.is_tag_bigram:
                for i in range(self.n_pair_rows):
                    table.insert(i)
            tables.append(table)
        return Perceptron(tables, settings)

    cdef Py_ssize_t rows_of(self, Py_ssize_t n) noexcept nogil:
        """How many row numbers a sequence of `n` positions has, over all shapes.

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

    def compile(self, symbols, labels, Perceptron learner not None):
        """Look up, or make, the rows of all features of a sequence, for training.

        symbols: uint64 of shape (n_streams, n + 2 * reach), padding included.
        labels: the gold labels, uint16 of shape (n,).
        Raises ValueError if shapes do not agree or a label does not exist.
        """
        cdef const uint64_t[:, ::1] streams = symbols
        cdef const uint16_t[::1] gold = labels
        cdef Py_ssize_t n = gold.shape[0]
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
        if len(learner.tables) != self.n_shapes:
            raise ValueError("the learner belongs to other features")
        if learner.is_copy:
            raise ValueError("a copy of a learner gets no new rows; compile for the original")
        if n and labels.max() >= self.n_labels:
            raise ValueError(f"label {labels.max()} does not exist")
        chain = CompiledChain.make(n, self.rows_of(n), learner.lineage)
        for i in range(n):
            chain.labels[i] = gold[i]
        if n == 0:
            return chain
        keys = np.empty(n + self.overhang, dtype=np.uint64)
        cdef uint64_t[::1] key_view = keys
        rows = chain.rows
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
        chain.n_rows_known = learner.n_rows()
        return chain


cdef class CompiledChain:
    """A training sequence, reduced to gold labels and numbers of weight rows.

    `ChainFeatures.compile` makes it. n: its length. lineage: of the learner whose rows these are.
    n_rows_known: how many rows the learner had when the sequence had been compiled.
    """

    def __init__(self):
        raise TypeError("a sequence is compiled by ChainFeatures.compile")

    @staticmethod
    cdef CompiledChain make(Py_ssize_t n, Py_ssize_t n_rows, object lineage):
        """A sequence of `n` positions, whose labels and rows are still to be filled in."""
        cdef CompiledChain chain = CompiledChain.__new__(CompiledChain)
        chain.labels = <uint16_t*> malloc(max(1, n) * sizeof(uint16_t))
        chain.rows = <int32_t*> malloc(max(1, n_rows) * sizeof(int32_t))
        if chain.labels == NULL or chain.rows == NULL:
            raise MemoryError(f"no memory for a sequence of {n:,} positions")
        chain.n = n
        chain.lineage = lineage
        return chain

    def __dealloc__(self):
        free(self.labels)
        free(self.rows)

    def __len__(self):
        return self.n

    def __reduce__(self):
        raise TypeError(
            "a compiled sequence belongs to a running training and cannot be pickled; "
            "compile it again where it is needed"
        )


cdef class ChainDecoder:
    """Labels sequences by trained weights. It holds working memory: use one in each thread.

    features, graph: of the model. tables: a `TrainedRows` for each shape.
    Raises ValueError if tables and features do not fit each other.
    """

    def __init__(self, ChainFeatures features not None, LabelGraph graph not None, tables):
        cdef TrainedRows table
        cdef Py_ssize_t i
        self.features = features
        self.graph = graph
        self.tables = tuple(tables)
        self._viterbi = Viterbi(graph)
        if tuple([t.n_columns for t in self.tables]) != features.widths:
            raise ValueError("the weight rows of the model do not fit its templates")
        if graph.n_labels != features.n_labels:
            raise ValueError("the graph of labels belongs to other features")
        free(self._tables)
        free(self._transitions)
        self._tables = <void**> malloc(max(1, features.n_shapes) * sizeof(void*))
        self._transitions = <double*> malloc(
            features.n_labels * features.n_labels * sizeof(double)
        )
        if self._tables == NULL or self._transitions == NULL:
            raise MemoryError("no memory for a decoder")
        for i in range(features.n_shapes):
            self._tables[i] = <void*> (<TrainedRows?> self.tables[i])
        for i in range(features.n_labels * features.n_labels):
            self._transitions[i] = 0.0
        if features.tag_bigram >= 0:
            table = self.tables[features.tag_bigram]
            weights = [table.weights(key) for key in range(features.n_pair_rows)]
            for i, weight in enumerate(np.concatenate(weights)):
                self._transitions[i] = weight
        self._viterbi.transitions.bind(self._transitions)

    def __dealloc__(self):
        free(self._tables)
        free(self._transitions)
        free(self._symbols)
        free(self._keys)
        free(self._rows)
        free(self._scores)
        free(self._mask)

    def __reduce__(self):
        return ChainDecoder, (self.features, self.graph, self.tables)

    cdef uint64_t* symbols_for(self, Py_ssize_t n) except NULL nogil:
        """Room for the streams of a sequence: returns position 0 of the first one.

        The task fills in `n` symbols and `reach` of padding on both sides, for every stream;
        streams lie `stride` apart.
        """
        self.stride = n + 2 * self.features.reach
        reserve(
            <void**> &self._symbols, &self._symbol_capacity,
            self.stride * self.features.n_streams, sizeof(uint64_t),
        )
        return self._symbols + self.features.reach

    cdef uint8_t* mask_for(self, Py_ssize_t n) except NULL nogil:
        """Room for a mask of shape (n, n_labels), which the task fills in."""
        reserve(<void**> &self._mask, &self._mask_capacity, n * self.features.n_labels + 1, 1)
        return self._mask

    cdef const double* _emissions(self, Py_ssize_t begin, Py_ssize_t count) except NULL nogil:
        """Score positions `begin` to `begin` + `count` of the sequence in the streams."""
        cdef Py_ssize_t n_anchors
        cdef int32_t* rows
        cdef double* scores
        cdef int s
        reserve(
            <void**> &self._keys, &self._key_capacity, count + self.features.overhang,
            sizeof(uint64_t),
        )
        reserve(
            <void**> &self._rows, &self._row_capacity, self.features.rows_of(count) + 1,
            sizeof(int32_t),
        )
        reserve(
            <void**> &self._scores, &self._score_capacity,
            (count + 2 * self.features.overhang) * self.features.n_labels, sizeof(double),
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
            rows += n_anchors
        scores = self._scores + self.features.overhang * self.features.n_labels
        self.features.emissions(self._tables, self._rows, count, scores)
        return scores

    cdef double decode(self, Py_ssize_t n, bint masked, uint16_t* path) except? -1 nogil:
        """Write the best labels of the sequence in the streams; returns the score.

        masked: whether the mask of `mask_for` is in force. Without a legal path the score is
        minus infinity.
        """
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t count
        cdef const double* scores
        while first < n:
            if first:
                self._viterbi.settle(first, path)
            count = min(<Py_ssize_t> BLOCK, n - first)
            scores = self._emissions(first, count)
            self._viterbi.advance(
                scores, self._mask + first * self.features.n_labels if masked else NULL,
                first, count,
            )
            first += count
        return self._viterbi.finish(n, path)

    cdef int solve_nbest(self, Py_ssize_t n, bint masked) except -1 nogil:
        """Score the labellings of the sequence in the streams, for `nbest_path`."""
        cdef const double* scores = self._emissions(0, n)
        if self._nbest is None:
            with gil:
                self._nbest = NBestViterbi(self.graph)
                self._nbest.best.transitions.bind(self._transitions)
        self._nbest.solve(scores, self._mask if masked else NULL, n)
        return 0

    cdef double nbest_path(self, Py_ssize_t rank, uint16_t* path) except? -1 nogil:
        """See `NBestViterbi.path`."""
        return self._nbest.path(rank, path)
