"""Character features, and the word decoder on a label chain."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from spacy_structreg.learn.learner cimport Learner
from spacy_structreg.learn.memory cimport BufferOwner, capacity_of, reserve
from spacy_structreg.tasks.chain cimport ChainDecoder, ChainFeatures
from spacy_structreg.tasks.knowledge.source cimport CharacterSource
from spacy_structreg.tasks.segmentation.text cimport (
    ANY_TAG,
    BEGINS_WORD,
    FREE,
    OTHER_TAGS,
    BonusWords,
    ListedWords,
    TextDecoder,
)
from spacy_structreg.tasks.segmentation.word_lattice cimport WordLattice

import numpy as np

from spacy_structreg.features.character_classes import TABLE_SIZE, type_table
from spacy_structreg.features.scripts import normalization_table
from spacy_structreg.tasks.segmentation.constraints import Constraints

cdef extern from "Python.h":
    Py_UCS4* PyUnicode_AsUCS4(
        str text, Py_UCS4* buffer, Py_ssize_t length, int copy_null
    ) except NULL

cdef enum:
    CHARACTER_BITS = 21
    TYPE_BITS = 4
    PADDING = 0x110000
    TABLE = 0x20000
    # So many characters of sentences are scored together: what that takes stays in the cache.
    TOGETHER = 128

assert TABLE == TABLE_SIZE

NO_LABELS = "no legal label sequence under the constraints of a sentence"


cdef class CharacterAtoms(BufferOwner):
    """The atoms of characters: ``c``, the character itself, ``type``, its type, and of sources.

    types: the alphabet of types (`features.character_classes.ALPHABETS`), or None for no types.
    half_width: whether full-width forms of ASCII look to the model like ASCII.
    sources: knowledge sources (`tasks.knowledge`), whose atoms come last.
    script: as which characters others look to the model (`features.scripts.Script`), or None.
    atoms: the streams of a sentence, and the bits of their symbols.
    Raises ValueError if two streams have one name.
    """

    def __init__(self, types=None, half_width=False, sources=(), script=None):
        cdef const uint8_t[::1] type_view
        cdef const uint32_t[::1] view
        cdef CharacterSource source
        self.types = types
        self.half_width = half_width
        self.script = script
        self.atoms = {"c": CHARACTER_BITS}
        self._tables = (normalization_table(half_width, script), None)
        view = self._tables[0]
        self._n_seen = len(view)
        self._seen = &view[0] if self._n_seen else NULL
        self._types = NULL
        if types is not None:
            self.atoms["type"] = TYPE_BITS
            self._tables = (self._tables[0], type_table(types))
            type_view = self._tables[1]
            self._types = &type_view[0]
        self.sources = tuple(sources)
        self.n_sources = len(self.sources)
        reserve(&self.buffers, self._sources, self.n_sources + 1)
        reserve(&self.buffers, self._first_streams, self.n_sources + 1)
        for i, source in enumerate(self.sources):
            self._sources[i] = <void*> source
            self._first_streams[i] = len(self.atoms)
            if known := sorted(self.atoms.keys() & source.atoms.keys()):
                raise ValueError(f"two sources have the atom {known[0]!r}")
            self.atoms.update(source.atoms)

    def __reduce__(self):
        return CharacterAtoms, (self.types, self.half_width, self.sources, self.script)

    def copy(self):
        """Atoms for another thread: sources may have working memory."""
        sources = [source.copy() for source in self.sources]
        if not sources:
            return self
        return CharacterAtoms(self.types, self.half_width, sources, self.script)

    cdef int fill(
        self, const uint32_t* text, Py_ssize_t n, uint64_t* symbols, Py_ssize_t stride,
        Py_ssize_t reach,
    ) except -1 nogil:
        """Write the streams of a sentence; `symbols` is position 0 of the first one."""
        cdef uint64_t* types = symbols + stride
        cdef uint64_t other = 0
        cdef uint32_t character
        cdef Py_ssize_t i
        for i in range(reach):
            symbols[i - reach] = PADDING
            symbols[n + i] = PADDING
        for i in range(n):
            character = text[i]
            if character < self._n_seen:
                character = self._seen[character]
            symbols[i] = character
        if self._types != NULL:
            # The last code point of the tables is unassigned; those beyond share its type, "other".
            other = self._types[TABLE - 1]
            for i in range(reach):
                types[i - reach] = 0
                types[n + i] = 0
            for i in range(n):
                types[i] = self._types[symbols[i]] if symbols[i] < TABLE else other
        if self.n_sources:
            self._fill_sources(symbols, n, symbols, stride, reach)
        return 0

    cdef int _fill_sources(
        self, const uint64_t* characters, Py_ssize_t n, uint64_t* symbols, Py_ssize_t stride,
        Py_ssize_t reach,
    ) except -1 nogil:
        """Write the streams of the sources."""
        cdef int i
        for i in range(self.n_sources):
            (<CharacterSource> self._sources[i]).fill(
                characters, n, symbols + self._first_streams[i] * stride, stride, reach
            )
        return 0

    def prefer(self, words):
        """See `TextDecoder.prefer`."""
        return self.n_sources > 0 and any(
            [source.prefer(words, self.seen) for source in self.sources]
        )

    def seen(self, str text not None):
        """Normalize a text; the length stays."""
        return "".join(map(chr, self.without_sources().symbols(text, 0)[0].tolist()))

    def normalization(self):
        """Normalize code points: uint32 of shape (n,).

        n: 0x20000, or more, if a script has characters beyond; others look like themselves.
        """
        n = max(TABLE, len(normalization_table(self.half_width, self.script)))
        every = "".join(map(chr, range(n)))
        return self.without_sources().symbols(every, 0)[0].astype(np.uint32)

    def with_sources(self, sources):
        """Return atoms with the same normalization and these sources."""
        return CharacterAtoms(self.types, self.half_width, sources, self.script)

    def without_sources(self):
        """Return atoms with the same normalization and no sources."""
        return CharacterAtoms(None, self.half_width, script=self.script)

    def symbols(self, str text not None, Py_ssize_t reach):
        """The streams of a sentence without white space: uint64, (n_streams, n + 2 * reach)."""
        cdef Py_ssize_t n = len(text)
        symbols = np.empty((len(self.atoms), n + 2 * reach), dtype=np.uint64)
        cdef uint64_t[:, ::1] view = symbols
        cdef BufferOwner scratch = BufferOwner()
        cdef uint32_t* characters = NULL
        reserve(&scratch.buffers, characters, n)
        if n:
            PyUnicode_AsUCS4(text, <Py_UCS4*> characters, n, 0)
        if view.shape[1]:
            self.fill(characters, n, &view[0, 0] + reach, n + 2 * reach, reach)
        return symbols

    def compile(
        self, words, scheme, ChainFeatures features not None, Learner learner not None,
        tags=None,
    ):
        """A gold sentence as a `CompiledChain`; None if it has nothing but white space.

        words: the words of a sentence. White space in and around them is dropped.
        scheme: a `SegmentationScheme`, or, with the tags of the words, a `JointScheme`.
        Raises ValueError for tags that the scheme does not know, or that are not one a word.
        """
        squeezed = ["".join(word.split()) for word in words]
        text = "".join(squeezed)
        if not text:
            return None
        lengths = [len(word) for word in squeezed if word]
        if tags is None:
            labels = scheme.encode(lengths)
        else:
            kept = [tag for word, tag in zip(squeezed, tags, strict=True) if word]
            labels = scheme.encode(lengths, kept)
        return features.compile(self.symbols(text, features.reach), labels, learner)

    def compile_partial(
        self, str text not None, boundaries, tags, scheme, ChainFeatures features not None,
        Learner learner not None,
    ):
        """A sentence of which some words or tags are known as a `CompiledChain`.

        text: without white space. boundaries, tags: as the scheme's `allowed` takes them, which
        raises ValueError for tags that it does not know.
        """
        allowed = scheme.allowed(boundaries, tags)
        return features.compile(self.symbols(text, features.reach), allowed, learner)


cdef class CharacterDecoder(TextDecoder):
    """Finds the words of texts by trained weights. It holds working memory: one in each thread.

    atoms: what the model sees of a character. chain: the model's decoder.
    label_begins: bool of shape (n_labels,), which labels begin a word.
    tags: the names of the tags, if words get tags; label_tags: int32 of shape (n_labels,), the
        number of the tag of each label.
    lists: None, or which labels some characters may have: their code points as the model sees them,
        uint32 of shape (n,), rising, and bool of shape (n, n_labels). Other characters may have any
        label. Where nothing else is left, the lists do not count.
    Raises ValueError if these do not fit each other.
    """

    def __init__(
        self, CharacterAtoms atoms not None, ChainDecoder chain not None, label_begins, *,
        tags=(), label_tags=None, lists=None,
    ):
        cdef Py_ssize_t n_labels = chain.graph.n_labels
        cdef Py_ssize_t i
        self.atoms = atoms
        self.chain = chain
        self.lattice = WordLattice()
        self.tags = tuple(tags)
        self.label_begins = np.array(label_begins, dtype=bool)
        self.label_tags = np.zeros(n_labels, dtype=np.int32)
        if label_tags is not None:
            self.label_tags = np.array(label_tags, dtype=np.int32)
        if list(atoms.atoms.items()) != list(chain.features.atoms.items()):
            raise ValueError("the character atoms do not match those of the features")
        if self.label_begins.shape != (n_labels,):
            raise ValueError("the labels that begin a word do not match the label graph")
        if self.label_tags.shape != (n_labels,) or not (
            0 <= self.label_tags.min() and self.label_tags.max() < max(1, len(self.tags))
        ):
            raise ValueError("the tags of labels are not among the tags")
        reserve(&self.buffers, self._begins_of, n_labels)
        reserve(&self.buffers, self._tag_of, n_labels)
        for i in range(n_labels):
            self._begins_of[i] = self.label_begins[i]
            self._tag_of[i] = self.label_tags[i]
        self.lists = None
        self._listed = None
        self._allowed = None
        if lists is not None:
            self._listed = np.array(lists[0], dtype=np.uint32)
            self._allowed = np.array(lists[1], dtype=np.uint8)
            self.lists = (np.asarray(self._listed), np.asarray(self._allowed, dtype=bool))
            if (
                self._allowed.shape[0] != self._listed.shape[0]
                or self._allowed.shape[1] != n_labels
                or (np.diff(self.lists[0].astype(np.int64)) <= 0).any()
            ):
                raise ValueError("the lists of labels do not fit the characters or the labels")

    def __reduce__(self):
        return _decoder, (
            self.atoms, self.chain, self.label_begins, self.tags, self.label_tags, self.lists
        )

    @property
    def capacity(self):
        """Capacity of the working memory, in characters or lattice columns."""
        return max(
            capacity_of(self._text), self.lattice.capacity, self.chain.capacity_of_pairs()
        )

    def prefer(self, words):
        return self.atoms.prefer(words)

    cdef bint load_chain(
        self, const uint32_t* characters, Py_ssize_t n, const uint8_t* constraints,
        const ListedWords* listed, const BonusWords* bonuses, bint by_lists,
    ) except -1 nogil:
        """Load a sentence without white space, n ≥ 1, into the chain decoder.

        constraints, listed, bonuses: as in `TextDecoder`, or NULL. by_lists: whether the lists of
        labels count. Returns whether there is a mask, which the chain decoder then holds: of the
        columns of its lattice, if words are listed or have a bonus.
        """
        cdef Py_ssize_t n_labels = self.chain.graph.n_labels
        cdef Py_ssize_t n_columns = n
        cdef uint64_t* symbols = self.chain.symbols_for(n)
        cdef const int32_t* tags = NULL
        cdef uint8_t* mask
        cdef Py_ssize_t place
        cdef Py_ssize_t c
        cdef Py_ssize_t y
        cdef int32_t w
        cdef bint by_columns = listed != NULL or bonuses != NULL
        by_lists = by_lists and self._listed is not None
        self.atoms.fill(characters, n, symbols, self.chain.stride, self.chain.features.reach)
        self.chain.lattice = NULL
        if by_columns:
            self.lattice.build(n, constraints, listed, bonuses)
            self.chain.lattice = &self.lattice.lattice
            n_columns = self.lattice.lattice.n
            constraints = self.lattice.constraints
            tags = self.lattice.tags
        elif constraints == NULL and not by_lists:
            return False
        mask = self.chain.mask_for(n_columns)
        for c in range(n_columns):
            place = -1
            if by_lists:
                place = self._place(
                    symbols[self.lattice.lattice.positions[c] if by_columns else c]
                )
            if place < 0:
                memset(mask, 1, n_labels)
            else:
                memcpy(mask, &self._allowed[place, 0], n_labels)
            if constraints != NULL:
                self._constrain(constraints[c], mask)
            if tags != NULL and tags[c] == OTHER_TAGS:
                place = self.lattice.lattice.positions[c]
                for w in range(bonuses.first[place], bonuses.first[place + 1]):
                    for y in range(n_labels):
                        mask[y] = mask[y] and self._tag_of[y] != bonuses.tags[w]
            elif tags != NULL and tags[c] != ANY_TAG:
                for y in range(n_labels):
                    mask[y] = mask[y] and self._tag_of[y] == tags[c]
            mask += n_labels
        return True

    cdef void _constrain(self, uint8_t constraint, uint8_t* mask) noexcept nogil:
        """Mask the labels of one character that violate its constraint."""
        cdef bint begins = constraint == BEGINS_WORD
        cdef Py_ssize_t y
        if constraint != FREE:
            for y in range(self.chain.graph.n_labels):
                mask[y] = mask[y] and self._begins_of[y] == begins

    cdef Py_ssize_t _place(self, uint64_t character) noexcept nogil:
        """The number of the list of a character; -1 if it has none."""
        cdef Py_ssize_t low = 0
        cdef Py_ssize_t high = self._listed.shape[0]
        cdef Py_ssize_t middle
        while low < high:
            middle = (low + high) // 2
            if self._listed[middle] < character:
                low = middle + 1
            else:
                high = middle
        return low if low < self._listed.shape[0] and self._listed[low] == character else -1

    cdef bint _present_sentence(self, Py_ssize_t n, bint by_lists) except -1 nogil:
        """`present` for the current sentence."""
        reserve(&self.buffers, self._labels, n)
        return self.load_chain(
            self.characters, n, self.constraints if self.is_constrained else NULL, self.listed,
            self.bonuses, by_lists,
        )

    cdef int solve(self, Py_ssize_t n) except -1 nogil:
        cdef double score = self.chain.decode(n, self._present_sentence(n, True), self._labels)
        if score == -INFINITY and self._listed is not None:
            score = self.chain.decode(n, self._present_sentence(n, False), self._labels)
        if score == -INFINITY:
            with gil:
                raise ValueError(NO_LABELS)
        self._take(n)
        return 0

    cdef int _decode_sentences(self, Py_ssize_t n_sentences) except -1 nogil:
        """As of a `TextDecoder`; short sentences are scored together, which takes less time."""
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t last
        cdef Py_ssize_t begin
        if (
            self._places.shape[0] or self._bonus_places.shape[0] or self._listed is not None
            or self.atoms.n_sources or self.chain.features.n_lists
        ):
            return TextDecoder._decode_sentences(self, n_sentences)
        while first < n_sentences:
            begin = self._limits[first - 1] if first else 0
            last = first
            # Sentences may be empty.
            while last < min(n_sentences, first + TOGETHER) and (
                self._limits[last] - begin <= TOGETHER
            ):
                last += 1
            if last > first + 1:
                self._decode_together(first, last)
                first = last
            else:
                self._decode(begin, self._limits[first] - begin)
                first += 1
        return 0

    cdef int _decode_together(self, Py_ssize_t first, Py_ssize_t last) except -1 nogil:
        """Find and mark the words of some sentences, `TOGETHER` characters at most.

        To the model they are one sequence, in which padding stands between them: as much as
        features can see.
        """
        cdef Py_ssize_t n_labels = self.chain.graph.n_labels
        cdef Py_ssize_t reach = self.chain.features.reach
        cdef Py_ssize_t begin = self._limits[first - 1] if first else 0
        cdef Py_ssize_t start = begin
        cdef Py_ssize_t place = 0
        cdef Py_ssize_t at = 0
        cdef int32_t kept[TOGETHER]
        cdef uint8_t constrained[TOGETHER]
        cdef uint64_t* symbols = self.chain.symbols_for(
            self._limits[last - 1] - begin + (last - first) * reach
        )
        cdef const double* scores
        cdef uint8_t* mask
        cdef Py_ssize_t s
        cdef Py_ssize_t i
        cdef Py_ssize_t n
        reserve(&self.buffers, self._labels, TOGETHER)
        for s in range(last - first):
            n = self._squeeze(start, self._limits[first + s] - start, at)
            kept[s] = <int32_t> n
            constrained[s] = self.is_constrained
            self.atoms.fill(
                self.characters + at, n, symbols + place, self.chain.stride, reach
            )
            start = self._limits[first + s]
            at += n
            place += n + reach
        scores = self.chain.emissions(0, place - reach)
        self.chain.viterbi.edges = NULL
        mask = self.chain.mask_for(TOGETHER)
        start = begin
        at = 0
        for s in range(last - first):
            n = kept[s]
            if n:
                if constrained[s]:
                    memset(mask, 1, n * n_labels)
                    for i in range(n):
                        self._constrain(self.constraints[at + i], mask + i * n_labels)
                self.chain.viterbi.advance(scores, mask if constrained[s] else NULL, 0, n)
                if self.chain.viterbi.finish(n, self._labels) == -INFINITY:
                    with gil:
                        raise ValueError(NO_LABELS)
                self._take(n)
            self._mark(start, self._limits[first + s] - start, n)
            start = self._limits[first + s]
            at += n
            scores += (n + reach) * n_labels
        return 0

    cdef void _take(self, Py_ssize_t n) noexcept nogil:
        """Decode the best labels into the solution."""
        cdef Py_ssize_t i
        for i in range(n):
            self.begins[i] = self._begins_of[self._labels[i]]
            self.word_tags[i] = self._tag_of[self._labels[i]]

    cdef Py_ssize_t find_best(self, Py_ssize_t n, Py_ssize_t k) except -1 nogil:
        self.chain.solve_nbest(n, self._present_sentence(n, True))
        if self._listed is not None and self.chain.nbest_path(0, self._labels) == -INFINITY:
            self.chain.solve_nbest(n, self._present_sentence(n, False))
        return k

    cdef double take_best(self, Py_ssize_t rank, Py_ssize_t n) except? -1 nogil:
        cdef double score = self.chain.nbest_path(rank, self._labels)
        if score > -INFINITY:
            self._take(n)
        return score

    def margins(self, str text not None, boundaries=None):
        """Margins as of a `TextDecoder`, over all analyses; infinite where there is no choice."""
        cdef Py_ssize_t n = self._open_text(text, Constraints(boundaries=boundaries))
        cdef Py_ssize_t n_labels = self.chain.graph.n_labels
        cdef double[:, ::1] ahead = np.zeros((n + 1, n_labels))
        cdef double[::1] found
        cdef double best[2]
        cdef Py_ssize_t i
        if n != len(text):
            raise ValueError("the sentence must not contain white space")
        margins = np.zeros(max(0, n - 1))
        found = margins
        if n < 2:
            return margins
        with nogil:
            if not self._solve_both_ways(n, ahead, True):
                self._solve_both_ways(n, ahead, False)
            for i in range(1, n):
                self._best_of_both(i, &ahead[i, 0], best)
                found[i - 1] = best[1] - best[0]
        return margins

    cdef bint _solve_both_ways(
        self, Py_ssize_t n, double[:, ::1] ahead, bint by_lists
    ) except -1 nogil:
        """Score the best beginnings up to each label, and ends after it: `ahead`.

        The chain's decoder has the beginnings, which hold the score of the label itself. Returns
        whether there is any path.
        """
        cdef const int32_t* predecessors = self.chain.graph.predecessors
        cdef const int32_t* bounds = self.chain.graph.first_predecessor
        cdef Py_ssize_t n_labels = self.chain.graph.n_labels
        cdef const uint8_t* mask = NULL
        cdef const double* edges = NULL
        cdef const double* scores
        cdef double score
        cdef bint found = False
        cdef Py_ssize_t i
        cdef Py_ssize_t x
        cdef Py_ssize_t y
        cdef int32_t p
        if self._present_sentence(n, by_lists):
            mask = self.chain._mask
        scores = self.chain.emissions(0, n)
        self.chain.advance(scores, mask, 0, n)
        for y in range(n_labels):
            ahead[n - 1, y] = -INFINITY
            if self.chain.graph.may_end[y]:
                ahead[n - 1, y] = scores[(n - 1) * n_labels + y]
        for i in range(n - 2, -1, -1):
            if self.chain.features.edge_list >= 0:
                self.chain.score_edges(i + 1, 1)
                edges = self.chain.viterbi.edges_to(i + 1)
            for x in range(n_labels):
                ahead[i, x] = -INFINITY
            for y in range(n_labels):
                if mask != NULL and not mask[(i + 1) * n_labels + y]:
                    continue
                for p in range(bounds[y], bounds[y + 1]):
                    x = predecessors[p]
                    score = (
                        ahead[i + 1, y] + self.chain.transitions[x * n_labels + y]
                        + scores[i * n_labels + x]
                    )
                    if edges != NULL:
                        score += edges[x * n_labels + y]
                    ahead[i, x] = max(ahead[i, x], score)
        # What is counted twice.
        for i in range(n):
            for y in range(n_labels):
                ahead[i, y] -= scores[i * n_labels + y]
                found = found or (
                    i == 0 and self.chain.viterbi.table[y] + ahead[0, y] > -INFINITY
                )
        return found

    cdef void _best_of_both(self, Py_ssize_t i, const double* ahead, double* best) noexcept nogil:
        """The best scores with a label at a position that goes on with a word, and that begins one.

        The chain's decoder has the beginnings. If there is none of either, they differ infinitely.
        """
        cdef Py_ssize_t n_labels = self.chain.graph.n_labels
        cdef const double* prefix = self.chain.viterbi.table + i * n_labels
        cdef double score
        cdef Py_ssize_t y
        best[0] = -INFINITY
        best[1] = -INFINITY
        for y in range(n_labels):
            score = prefix[y] + ahead[y]
            if score > best[self._begins_of[y]]:
                best[self._begins_of[y]] = score

    def best_labels(self, str text not None, constraints=None, *, place=None, excluded=()):
        """The best labels of one sentence: (characters, score, numbers of labels), for inspection.

        characters: those that are labeled, without white space, before the model's view of them.
        constraints: as for `nbest`. place: the number of a character that gets none of the labels
        `excluded`. Without a legal path the score is minus infinity.
        """
        cdef Py_ssize_t n = self._open_text(text, constraints)
        cdef Py_ssize_t n_labels = self.chain.graph.n_labels
        cdef Py_ssize_t n_columns
        cdef Py_ssize_t c
        cdef Py_ssize_t i
        cdef double score = 0.0
        cdef bint masked
        if not all([0 <= y < n_labels for y in excluded]):
            raise ValueError(f"labels must be below {n_labels}")
        characters = "".join([chr(self.characters[i]) for i in range(n)])
        for by_lists in (True, False) if n else ():
            masked = self._present_sentence(n, by_lists)
            if place is not None:
                n_columns = n if self.chain.lattice == NULL else self.chain.lattice.n
                if not masked:
                    memset(self.chain.mask_for(n_columns), 1, n_columns * n_labels)
                    masked = True
                for c in range(n_columns):
                    i = c if self.chain.lattice == NULL else self.chain.lattice.positions[c]
                    if i == place:
                        for y in excluded:
                            self.chain._mask[c * n_labels + <Py_ssize_t?> y] = 0
            score = self.chain.decode(n, masked, self._labels)
            if score > -INFINITY or self._listed is None:
                break
        return characters, score, [self._labels[i] for i in range(n)]

    def tag_scores(self, str text not None, boundaries=None):
        """Tag scores as of a `TextDecoder`, over all analyses; -inf for impossible tags."""
        cdef Py_ssize_t n = self._open_text(text, Constraints(boundaries=boundaries))
        cdef Py_ssize_t n_labels = self.chain.graph.n_labels
        cdef double[:, ::1] ahead = np.zeros((n + 1, n_labels))
        cdef double[:, ::1] found
        cdef double score
        cdef Py_ssize_t i
        cdef Py_ssize_t y
        if n != len(text):
            raise ValueError("the sentence must not contain white space")
        scores = np.full((n, len(self.tags)), -np.inf)
        if not n or not self.tags:
            return scores
        found = scores
        with nogil:
            if not self._solve_both_ways(n, ahead, True):
                self._solve_both_ways(n, ahead, False)
            for i in range(n):
                for y in range(n_labels):
                    score = self.chain.viterbi.table[i * n_labels + y] + ahead[i, y]
                    if score > found[i, self._tag_of[y]]:
                        found[i, self._tag_of[y]] = score
        return scores


def _decoder(atoms, chain, label_begins, tags, label_tags, lists):
    return CharacterDecoder(
        atoms, chain, label_begins, tags=tags, label_tags=label_tags, lists=lists
    )
