"""Weight rows for prediction only: small, and found by reading one or two cache lines.

A key is mixed. The high half of the result chooses a *block* of some eight keys, whose place a
directory knows; bits of the low half are the *check* by which a key is told from the others of its
block, and from nearly all that have no row: a stranger is taken for one of them once in a million
look-ups if checks are of 24 bits, or once in 500 million, if of 32. Checks and rows of a block lie
side by side. Keys that are small numbers need neither: the directory knows their rows.

When rows are loaded, the checks leave marks beside the places of their blocks, by which most
strangers are told before a block is read.

Dense rows are of one size, and found by a perfect hash in place of blocks (Belazzougui, Botelho &
Dietzfelbinger 2009, "Hash, displace, and compress"): the directory has a displacement for every
four keys or so, which sends each of them to a slot of its own. Checks and rows of the slots follow
each other, so that no look-up takes a loop or a branch.

`learn.freezing` makes such rows. The bytes of a block: the number of its keys, their checks, and
their rows in the same order, the shortest first, so that who walks to a row passes over few bytes,
and of equal ones that of the least check. `frozen_rows.pxd` has those of a row.
"""

import sys

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.math cimport fabs

from spacy_structreg.learn.memory cimport reserve_zeros
from spacy_structreg.learn.rows cimport STRUCTREG_PREFETCH, TrainedRows, spread

import numpy as np

from spacy_structreg.learn.rows import MAX_WEIGHT

cdef float _MAX_WEIGHT = MAX_WEIGHT

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    /* Items of a row, which is not aligned; compilers make plain loads of these. */
    #define STRUCTREG_LOAD(name, type) \\
        static inline type structreg_load_##name(const uint8_t *place) { \\
            type item; \\
            memcpy(&item, place, sizeof(item)); \\
            return item; \\
        }
    STRUCTREG_LOAD(u16, uint16_t)
    STRUCTREG_LOAD(u32, uint32_t)
    STRUCTREG_LOAD(i16, int16_t)
    STRUCTREG_LOAD(f32, float)

    /* Add dense rows to scores, `step` apart; without a row, one of zeros. Nearly all rows are of
       four labels, or some times four: these loops have a fixed length, and are vectorized. */
    #define STRUCTREG_ADD_ROWS(type, factor, n) \\
        for (i = 0; i < count; ++i, scores += step) { \\
            const uint8_t *row = cells + (rows[i] < 0 ? zeros : rows[i]); \\
            type weights[n]; \\
            int k; \\
            memcpy(weights, row, sizeof(weights)); \\
            for (k = 0; k < n; ++k) { \\
                scores[k] += factor weights[k]; \\
            } \\
        } \\
        return;

    #define STRUCTREG_ADD_DENSE(name, type, factor) \\
        static void structreg_add_##name( \\
            double *scores, Py_ssize_t step, const uint8_t *cells, const int32_t *rows, \\
            Py_ssize_t count, int32_t zeros, Py_ssize_t n_columns, double scale \\
        ) { \\
            Py_ssize_t i, k; \\
            (void) scale; \\
            switch (n_columns) { \\
            case 4: STRUCTREG_ADD_ROWS(type, factor, 4) \\
            case 8: STRUCTREG_ADD_ROWS(type, factor, 8) \\
            case 12: STRUCTREG_ADD_ROWS(type, factor, 12) \\
            case 16: STRUCTREG_ADD_ROWS(type, factor, 16) \\
            case 20: STRUCTREG_ADD_ROWS(type, factor, 20) \\
            } \\
            for (i = 0; i < count; ++i, scores += step) { \\
                if (rows[i] < 0) continue; \\
                for (k = 0; k < n_columns; ++k) { \\
                    type weight; \\
                    memcpy(&weight, cells + rows[i] + k * sizeof(type), sizeof(type)); \\
                    scores[k] += factor weight; \\
                } \\
            } \\
        }
    /* Add four weights to sums. Compilers convert small integers one by one, so that is written
       out for the processors that most people have; sums are the same. */
    #if defined(__SSE2__) || defined(_M_X64)
    #include <emmintrin.h>
    static inline void structreg_add_four(double *sums, __m128i four, double scale) {
        const __m128d factor = _mm_set1_pd(scale);
        _mm_storeu_pd(sums, _mm_add_pd(
            _mm_loadu_pd(sums), _mm_mul_pd(factor, _mm_cvtepi32_pd(four))));
        four = _mm_shuffle_epi32(four, 0xEE);
        _mm_storeu_pd(sums + 2, _mm_add_pd(
            _mm_loadu_pd(sums + 2), _mm_mul_pd(factor, _mm_cvtepi32_pd(four))));
    }
    static inline void structreg_add_four_i8(double *sums, const uint8_t *place, double scale) {
        int32_t bytes;
        __m128i four;
        memcpy(&bytes, place, sizeof(bytes));
        four = _mm_cvtsi32_si128(bytes);
        four = _mm_unpacklo_epi8(four, four);
        structreg_add_four(sums, _mm_srai_epi32(_mm_unpacklo_epi16(four, four), 24), scale);
    }
    static inline void structreg_add_four_i16(double *sums, const uint8_t *place, double scale) {
        const __m128i four = _mm_loadl_epi64((const __m128i *) place);
        structreg_add_four(sums, _mm_srai_epi32(_mm_unpacklo_epi16(four, four), 16), scale);
    }
    #else
    #define STRUCTREG_ADD_FOUR(name, type) \\
        static inline void structreg_add_four_##name( \\
            double *sums, const uint8_t *place, double scale \\
        ) { \\
            type weights[4]; \\
            int k; \\
            memcpy(weights, place, sizeof(weights)); \\
            for (k = 0; k < 4; ++k) sums[k] += scale * (double) weights[k]; \\
        }
    STRUCTREG_ADD_FOUR(i8, int8_t)
    STRUCTREG_ADD_FOUR(i16, int16_t)
    #endif
    static inline void structreg_add_four_f32(double *sums, const uint8_t *place, double scale) {
        float weights[4];
        int k;
        (void) scale;
        memcpy(weights, place, sizeof(weights));
        for (k = 0; k < 4; ++k) sums[k] += (double) weights[k];
    }

    /* The scores of four labels at positions that follow each other: sums over terms, which stay
       in registers. */
    #define STRUCTREG_SUM_TERMS(name) \\
        static void structreg_sum_##name( \\
            const structreg_term *terms, Py_ssize_t n_terms, Py_ssize_t count, double *scores \\
        ) { \\
            Py_ssize_t i, t; \\
            for (i = 0; i < count; ++i, scores += 4) { \\
                double sums[4] = {0.0, 0.0, 0.0, 0.0}; \\
                for (t = 0; t < n_terms; ++t) { \\
                    /* No branch: half of the rows are -1, and it would be foretold badly. */ \\
                    const int32_t row = terms[t].rows[i]; \\
                    const int32_t place = row ^ ((row ^ terms[t].zeros) & -(row < 0)); \\
                    structreg_add_four_##name(sums, terms[t].cells + place, terms[t].scale); \\
                } \\
                memcpy(scores, sums, sizeof(sums)); \\
            } \\
        }
    STRUCTREG_SUM_TERMS(f32)
    STRUCTREG_SUM_TERMS(i16)
    STRUCTREG_SUM_TERMS(i8)
    STRUCTREG_ADD_DENSE(f32, float, (double))
    STRUCTREG_ADD_DENSE(i16, int16_t, scale * (double))
    STRUCTREG_ADD_DENSE(i8, int8_t, scale * (double))
    """
    uint16_t load_u16 "structreg_load_u16" (const uint8_t* place) noexcept nogil
    uint32_t load_u32 "structreg_load_u32" (const uint8_t* place) noexcept nogil
    int16_t load_i16 "structreg_load_i16" (const uint8_t* place) noexcept nogil
    float load_f32 "structreg_load_f32" (const uint8_t* place) noexcept nogil
    void add_f32 "structreg_add_f32" (
        double* scores, Py_ssize_t step, const uint8_t* cells, const int32_t* rows,
        Py_ssize_t count, int32_t zeros, Py_ssize_t n_columns, double scale) noexcept nogil
    void add_i16 "structreg_add_i16" (
        double* scores, Py_ssize_t step, const uint8_t* cells, const int32_t* rows,
        Py_ssize_t count, int32_t zeros, Py_ssize_t n_columns, double scale) noexcept nogil
    void add_i8 "structreg_add_i8" (
        double* scores, Py_ssize_t step, const uint8_t* cells, const int32_t* rows,
        Py_ssize_t count, int32_t zeros, Py_ssize_t n_columns, double scale) noexcept nogil
    void sum_f32 "structreg_sum_f32" (
        const Term* terms, Py_ssize_t n_terms, Py_ssize_t count, double* scores) noexcept nogil
    void sum_i16 "structreg_sum_i16" (
        const Term* terms, Py_ssize_t n_terms, Py_ssize_t count, double* scores) noexcept nogil
    void sum_i8 "structreg_sum_i8" (
        const Term* terms, Py_ssize_t n_terms, Py_ssize_t count, double* scores) noexcept nogil

cdef enum:
    # So many look-ups wait for memory together; but that of so many bytes is never far.
    TOGETHER = 64
    NEAR = 1 << 17

# Where a bucket of keys finds no room by so many displacements, another salt is tried.
cdef uint32_t MOST_DISPLACEMENTS = 1 << 20
# Most keys of a block.
MAX_KEYS = 64
# Zeros after the last row, so that a check of fewer bytes can be read as four.
N_PADDING = 8
# Numbers of rows are places of bytes, and more than these are needed elsewhere.
MAX_BYTES = 0x7FFFF000
# Stands for no row where the directory knows the rows.
NO_ROW = 0xFFFFFFFF


cdef inline double weight_at(FrozenRows rows, const uint8_t* place) noexcept nogil:
    if rows.kind == FLOAT32:
        return <double> load_f32(place)
    if rows.kind == INT16:
        return rows.scale * <double> load_i16(place)
    if rows.kind == INT8:
        return rows.scale * <double> (<const int8_t*> place)[0]
    return rows.levels[place[0]]


cdef inline uint32_t slot_of(
    uint64_t mixed, const uint32_t* displacements, uint64_t n_buckets, uint64_t n_slots
) noexcept nogil:
    """The slot of a mixed key: its low half, displaced as its bucket says, and mixed again."""
    cdef uint32_t low = <uint32_t> mixed
    low += displacements[(mixed >> 32) * n_buckets >> 32] * <uint32_t> 0x9E3779B9
    low = (low ^ (low >> 16)) * <uint32_t> 0x85EBCA6B
    low ^= low >> 13
    return <uint32_t> (low * n_slots >> 32)


cdef inline bint is_own_slot(const uint8_t* cells, uint32_t slot, uint64_t mixed) noexcept nogil:
    """True if the check at a slot is that of a mixed key."""
    return load_u32(cells + 4 * <uint64_t> slot) == <uint32_t> (mixed >> 8)


cdef inline int32_t items_at(const uint8_t* place, int size) noexcept nogil:
    """A number of one byte or two, as those of cells and columns are."""
    return place[0] if size == 1 else load_u16(place)


cdef inline uint32_t marks_of(uint32_t check) noexcept nogil:
    """The marks, one bit or two, that a check leaves on its block."""
    return <uint32_t> 1 << (check & 31) | <uint32_t> 1 << (check >> 5 & 31)


cdef inline int32_t row_in(
    FrozenRows rows, const uint8_t* place, uint32_t check
) noexcept nogil:
    """The row of a check in the block at a place, which has keys; -1 if there is none."""
    cdef int n = place[0]
    cdef int i
    cdef int _
    place += 1
    for i in range(n):
        if load_u32(place + i * rows._check_size) & rows._check_mask == check:
            place += n * rows._check_size
            for _ in range(i):
                place += rows.column_size + (
                    1 + items_at(place, rows.column_size)
                ) * (rows.column_size + rows.weight_size)
            return <int32_t> (place - rows.cells)
    return -1


cdef void sum_terms(
    WeightKind kind, const Term* terms, Py_ssize_t n_terms, Py_ssize_t n, double* scores
) noexcept nogil:
    """Write the scores of four labels at `n` positions: sums over terms, in their order.

    kind: of all weights, not LEVEL.
    """
    if kind == INT8:
        sum_i8(terms, n_terms, n, scores)
    elif kind == INT16:
        sum_i16(terms, n_terms, n, scores)
    else:
        sum_f32(terms, n_terms, n, scores)


cdef class FrozenRows(TrainedRows):
    """Read-only rows in a compact layout, used in place, as in mapped files.

    n_columns: columns of a row.
    arrays:

    - ``layout``, uint64 of shape (5,): the number of rows; the bits of a weight, 8, 16 or 32;
      bytes of a check, 3 or 4, or 0 where the directory has the rows of small keys; bytes of a
      column, 1 up to 256 columns, else 2, or 0 for dense rows; and the salt of keys;
    - ``directory``, uint32: of shape (n_blocks + 1,), where blocks begin and the last ends; or of
      shape (n_keys,), where the row of each small key begins, 0xFFFFFFFF for none; or of shape
      (n_buckets,), the displacements of a perfect hash;
    - ``cells``, uint8: blocks, or rows, or the checks of all slots and their rows; and zeros, eight
      or as many as a dense row has bytes, if that is more;
    - ``levels``, float64 of shape (1,), which whole numbers are multiplied by; of shape (256,),
      which they are the numbers of; or of shape (0,), if weights are float32.

    Raises ValueError if the arrays are not of this form, whatever they contain instead.
    """

    def __init__(self, Py_ssize_t n_columns, arrays):
        self._begin(n_columns)
        if sys.byteorder != "little":
            raise ValueError("frozen models need a little-endian processor")
        self._arrays = {}
        for name, dtype in _TYPES.items():
            given = arrays.get(name)
            if not isinstance(given, np.ndarray) or given.dtype != dtype or given.ndim != 1:
                raise ValueError(f"the frozen rows lack {name!r} as {np.dtype(dtype)}")
            view = self._arrays[name] = np.ascontiguousarray(given).view()
            view.setflags(write=False)
        self._take_layout()
        self._take_levels()

    cdef int _take_layout(self) except -1:
        cdef const uint64_t[::1] layout = self._arrays["layout"]
        cdef const uint32_t[::1] directory = self._arrays["directory"]
        cdef const uint8_t[::1] cells = self._arrays["cells"]
        cdef Py_ssize_t size
        kinds = {8: INT8, 16: INT16, 32: FLOAT32}
        if layout.shape[0] != 5 or layout[1] not in kinds:
            raise ValueError("the frozen rows have an unknown layout")
        if self._arrays["levels"].shape[0] == 256 and layout[1] == 8:
            self.kind = LEVEL
        else:
            self.kind = kinds[layout[1]]
        self.weight_size = <int> layout[1] // 8
        self.adaptive = layout[3] != 0
        if layout[3] not in (0, 1 if self.n_columns <= 256 else 2) or layout[2] not in (0, 3, 4):
            raise ValueError("the checks or columns of the frozen rows have another size")
        self.column_size = <int> layout[3]
        self._check_size = <int> layout[2]
        self._check_mask = <uint32_t> 0xFFFFFFFF >> (8 * (4 - self._check_size)) \
            if self._check_size else 0
        self._salt = layout[4]
        self._row_size = 0 if self.adaptive else self.n_columns * self.weight_size
        size = cells.shape[0] - max(<Py_ssize_t> N_PADDING, self._row_size)
        if not 0 <= size <= MAX_BYTES or self._arrays["cells"][size:].any():
            raise ValueError("the cells of the frozen rows lack their padding")
        self.cells = &cells[0]
        self._zeros = <int32_t> size
        if directory.shape[0]:
            self._directory = &directory[0]
        if self._check_size and not self.adaptive:
            self._n_blocks = <uint64_t> directory.shape[0]
            self._n_slots = <uint64_t> (size // (4 + self._row_size))
            self._check_slots(size, layout[0])
        elif self._check_size:
            self._n_blocks = <uint64_t> max(0, directory.shape[0] - 1)
            if not 1 <= self._n_blocks <= <uint64_t> MAX_BYTES:
                raise ValueError("the frozen rows have no blocks")
            self._check_blocks(size)
        else:
            self._n_direct = <uint64_t> directory.shape[0]
            if self._n_direct == 0:
                raise ValueError("the frozen rows have no directory")
            self._check_direct(size)
        if <uint64_t> self.n_rows != layout[0]:
            raise ValueError(f"there are {self.n_rows:,} frozen rows instead of {layout[0]:,}")
        return 0

    cdef int _take_levels(self) except -1:
        cdef const double[::1] levels = self._arrays["levels"]
        cdef Py_ssize_t i
        if levels.shape[0] != {FLOAT32: 0, LEVEL: 256}.get(self.kind, 1) or (
            self.kind == LEVEL and not self.adaptive
        ):
            raise ValueError(f"the frozen rows have {levels.shape[0]:,} quantization levels")
        for i in range(levels.shape[0]):
            if not fabs(levels[i]) <= _MAX_WEIGHT:
                raise ValueError("a quantization level is not finite or too large")
        if self.kind == LEVEL:
            for i in range(256):
                self.levels[i] = levels[i]
        elif self.kind != FLOAT32:
            self.scale = levels[0]
        return 0

    cdef int _check_blocks(self, Py_ssize_t size) except -1:
        """Validate all blocks in linear time; return the number of rows."""
        cdef Py_ssize_t place = 0
        cdef Py_ssize_t end
        cdef Py_ssize_t i
        cdef uint64_t block
        cdef uint32_t check
        cdef uint32_t before = 0
        cdef const uint8_t* checks
        cdef Py_ssize_t begin
        cdef Py_ssize_t length = 0
        cdef int n
        cdef int most = MAX_KEYS
        reserve_zeros(&self.buffers, self._blocks, <Py_ssize_t> self._n_blocks)
        with nogil:
            for block in range(self._n_blocks):
                end = self._directory[block + 1]
                if self._directory[block] != <uint32_t> place or not place <= end <= size:
                    with gil:
                        raise ValueError("the blocks of the frozen rows are out of order")
                if end == place:
                    continue
                self._blocks[block] = <uint64_t> place << 32
                n = self.cells[place]
                place += 1
                if not 1 <= n <= most:
                    with gil:
                        raise ValueError("keys collide too often to be genuine")
                if end - place < n * self._check_size:
                    with gil:
                        raise ValueError("a block of the frozen rows is too short")
                checks = self.cells + place
                place += n * self._check_size
                for i in range(n):
                    check = load_u32(checks + i * self._check_size) & self._check_mask
                    self._blocks[block] |= marks_of(check)
                    begin = place
                    self._check_row(&place, end)
                    if i > 0 and (
                        place - begin < length or place - begin == length and check <= before
                    ):
                        with gil:
                            raise ValueError("the rows of a block are not in ascending order")
                    length = place - begin
                    before = check
                if place != end:
                    with gil:
                        raise ValueError("a block of the frozen rows is too long")
                self.n_rows += n
        if place != size:
            raise ValueError("the blocks of the frozen rows are out of order")
        return 0

    cdef int _check_slots(self, Py_ssize_t size, uint64_t n_rows) except -1:
        """Validate the slots, so that no look-up reads outside of them."""
        cdef Py_ssize_t place = <Py_ssize_t> (4 * self._n_slots)
        if (
            self._check_size != 4 or not 1 <= self._n_blocks <= <uint64_t> MAX_BYTES
            or n_rows > self._n_slots or self._n_slots < 1
            or <Py_ssize_t> self._n_slots * (4 + self._row_size) != size
        ):
            raise ValueError("the slots of the frozen rows do not fit their cells")
        with nogil:
            while place < size:
                self._check_row(&place, size)
        self.n_rows = <Py_ssize_t> n_rows
        return 0

    cdef int _check_direct(self, Py_ssize_t size) except -1:
        """The same of rows that the directory knows."""
        cdef Py_ssize_t place = 0
        cdef uint64_t key
        with nogil:
            for key in range(self._n_direct):
                if self._directory[key] == <uint32_t> 0xFFFFFFFF:
                    continue
                if self._directory[key] != <uint32_t> place:
                    with gil:
                        raise ValueError("the frozen rows are out of order")
                self._check_row(&place, size)
                self.n_rows += 1
        if place != size:
            raise ValueError("the frozen rows are out of order")
        return 0

    cdef int _check_row(self, Py_ssize_t* place, Py_ssize_t end) except -1 nogil:
        """Validate the row at an offset; move the offset to its end."""
        cdef Py_ssize_t n = self.n_columns
        cdef Py_ssize_t i
        cdef Py_ssize_t _
        cdef int32_t column
        cdef int32_t before = -1
        if self.column_size:
            if end - place[0] < self.column_size:
                with gil:
                    raise ValueError("a block of the frozen rows is too short")
            n = 1 + items_at(self.cells + place[0], self.column_size)
            place[0] += self.column_size
        if end - place[0] < n * (self.column_size + self.weight_size):
            with gil:
                raise ValueError("a block of the frozen rows is too short")
        if self.column_size:
            for _ in range(n):
                column = items_at(self.cells + place[0], self.column_size)
                if column <= before:
                    with gil:
                        raise ValueError("the columns of a frozen row are not in ascending order")
                if column >= self.n_columns:
                    with gil:
                        raise ValueError("a frozen row has a cell beyond its last column")
                before = column
                place[0] += self.column_size
        if self.kind == FLOAT32:
            for i in range(n):
                if not fabs(load_f32(self.cells + place[0] + 4 * i)) <= _MAX_WEIGHT:
                    with gil:
                        raise ValueError("a frozen weight is not finite or too large")
        place[0] += n * self.weight_size
        return 0

    cdef void _find_slots(self, const uint64_t* keys, Py_ssize_t n, int32_t* rows) noexcept nogil:
        """`find_run` where keys have slots: -1 if the slot of a key is another one's."""
        cdef uint64_t mixed[TOGETHER]
        cdef uint32_t slots[TOGETHER]
        cdef const uint8_t* cells = self.cells
        cdef int32_t first = <int32_t> (4 * self._n_slots)
        cdef int32_t row_size = <int32_t> self._row_size
        cdef Py_ssize_t count
        cdef Py_ssize_t i
        cdef int32_t is_own
        cdef int32_t row
        if self._zeros < NEAR:
            for i in range(n):
                mixed[0] = spread(keys[i] ^ self._salt)
                slots[0] = slot_of(mixed[0], self._directory, self._n_blocks, self._n_slots)
                is_own = is_own_slot(cells, slots[0], mixed[0])
                rows[i] = (first + <int32_t> slots[0] * row_size) | -(1 - is_own)
            return
        while n > 0:
            count = min(n, <Py_ssize_t> TOGETHER)
            for i in range(count):
                mixed[i] = spread(keys[i] ^ self._salt)
                STRUCTREG_PREFETCH(self._directory + ((mixed[i] >> 32) * self._n_blocks >> 32))
            for i in range(count):
                slots[i] = slot_of(mixed[i], self._directory, self._n_blocks, self._n_slots)
                STRUCTREG_PREFETCH(cells + 4 * <uint64_t> slots[i])
            for i in range(count):
                row = first + <int32_t> slots[i] * row_size
                # No branch, as half of the keys are strangers; these fetch what others have.
                is_own = is_own_slot(cells, slots[i], mixed[i])
                rows[i] = row | -(1 - is_own)
                STRUCTREG_PREFETCH(cells + (row & -is_own))
            keys += count
            rows += count
            n -= count

    cdef int32_t find(self, uint64_t key) noexcept nogil:
        cdef int32_t row
        self.find_run(&key, 1, &row)
        return row

    cdef void find_run(self, const uint64_t* keys, Py_ssize_t n, int32_t* rows) noexcept nogil:
        # Of some keys at a time: where their blocks lie, and their checks.
        cdef uint64_t sought[TOGETHER]
        cdef int32_t kept[TOGETHER]
        cdef uint64_t mixed
        cdef uint64_t block
        cdef uint32_t marks
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t i
        cdef int count
        cdef int n_kept
        if self._n_direct:
            for i in range(n):
                rows[i] = <int32_t> self._directory[keys[i]] if keys[i] < self._n_direct else -1
            return
        if self._n_slots:
            self._find_slots(keys, n, rows)
            return
        while first < n:
            count = <int> min(n - first, TOGETHER)
            for i in range(count):
                mixed = spread(keys[first + i] ^ self._salt)
                block = (mixed >> 32) * self._n_blocks >> 32
                sought[i] = block << 32 | (mixed & self._check_mask)
                STRUCTREG_PREFETCH(&self._blocks[block])
            n_kept = 0
            for i in range(count):
                block = self._blocks[sought[i] >> 32]
                marks = marks_of(<uint32_t> sought[i])
                rows[first + i] = -1
                sought[n_kept] = block >> 32 << 32 | <uint32_t> sought[i]
                kept[n_kept] = <int32_t> i
                STRUCTREG_PREFETCH(self.cells + (block >> 32))
                # No branch: it would be foretold badly.
                n_kept += (<uint32_t> block & marks) == marks
            for i in range(n_kept):
                STRUCTREG_PREFETCH(self.cells + (sought[i] >> 32) + 64)
            for i in range(n_kept):
                rows[first + kept[i]] = row_in(
                    self, self.cells + (sought[i] >> 32), <uint32_t> sought[i]
                )
            first += count

    cdef void fetch_run(self, const int32_t* rows, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(n):
            if rows[i] >= 0:
                STRUCTREG_PREFETCH(self.cells + rows[i])

    cdef void add_run(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t step, double* scores
    ) noexcept nogil:
        cdef Py_ssize_t n_columns = self.n_columns
        cdef Py_ssize_t n_cells
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        cdef const uint8_t* row
        cdef const uint8_t* weights
        cdef double* target
        if self.column_size == 0 and self.kind == INT8:
            add_i8(scores, step, self.cells, rows, n, self._zeros, n_columns, self.scale)
            return
        if self.column_size == 0 and self.kind == INT16:
            add_i16(scores, step, self.cells, rows, n, self._zeros, n_columns, self.scale)
            return
        if self.column_size == 0 and self.kind == FLOAT32:
            add_f32(scores, step, self.cells, rows, n, self._zeros, n_columns, 1.0)
            return
        for i in range(n):
            if rows[i] < 0:
                continue
            target = scores + i * step
            row = self.cells + rows[i]
            if self.column_size == 1:
                n_cells = 1 + <Py_ssize_t> row[0]
                row += 1
                weights = row + n_cells
                if self.kind == LEVEL:
                    for k in range(n_cells):
                        target[row[k]] += self.levels[weights[k]]
                else:
                    for k in range(n_cells):
                        target[row[k]] += weight_at(self, weights + k * self.weight_size)
            else:
                n_cells = 1 + <Py_ssize_t> load_u16(row)
                row += 2
                weights = row + 2 * n_cells
                for k in range(n_cells):
                    target[load_u16(row + 2 * k)] += weight_at(self, weights + k * self.weight_size)

    cdef void add_weighted(
        self, const int32_t* rows, const double* values, Py_ssize_t n, double* scores
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        cdef Py_ssize_t n_cells
        cdef const uint8_t* row
        cdef const uint8_t* weights
        cdef int32_t column
        if values == NULL:
            self.add_run(rows, n, 0, scores)
            return
        for i in range(n):
            if rows[i] < 0:
                continue
            row = weights = self.cells + rows[i]
            n_cells = self.n_columns
            if self.column_size:
                n_cells = 1 + items_at(row, self.column_size)
                row += self.column_size
                weights = row + n_cells * self.column_size
            for k in range(n_cells):
                column = items_at(row + k * self.column_size, self.column_size) \
                    if self.column_size else <int32_t> k
                scores[column] += values[i] * weight_at(self, weights + k * self.weight_size)

    @property
    def key_limit(self):
        """As of `TrainedRows` if keys are small numbers; else 0, as they are not known."""
        return int(self._n_direct)

    @property
    def bits(self):
        """Bits of a weight: 8, 16 or 32."""
        return 8 * self.weight_size

    def __reduce__(self):
        return FrozenRows, (self.n_columns, {k: np.array(v) for k, v in self.arrays.items()})


_TYPES = {
    "layout": np.uint64, "directory": np.uint32, "cells": np.uint8, "levels": np.float64,
}


def hashes_of(keys, uint64_t salt):
    """The mixed keys of a table, uint64, as `FrozenRows` finds blocks and checks by them."""
    cdef const uint64_t[::1] given = np.ascontiguousarray(keys, dtype=np.uint64)
    cdef Py_ssize_t i
    mixed = np.empty(given.shape[0], dtype=np.uint64)
    cdef uint64_t[::1] view = mixed
    with nogil:
        for i in range(given.shape[0]):
            view[i] = spread(given[i] ^ salt)
    return mixed


def displacements_of(mixed, Py_ssize_t n_buckets, Py_ssize_t n_slots):
    """Displacements by which no two mixed keys share a slot, and the slots of the keys.

    mixed: uint64 of shape (n,), none twice, as `hashes_of` gives them; n_slots: n or more.
    Returns arrays of uint32, of shape (n_buckets,) and (n,); None if there are none of 32 bits that
    can be found in time.
    """
    cdef const uint64_t[::1] keys
    cdef const int64_t[::1] firsts
    cdef uint32_t[::1] found = np.zeros(n_buckets, dtype=np.uint32)
    cdef uint8_t[::1] taken = np.zeros(n_slots, dtype=np.uint8)
    cdef uint32_t[::1] slots = np.zeros(len(mixed), dtype=np.uint32)
    cdef uint32_t displacement
    cdef uint32_t slot
    cdef Py_ssize_t k
    cdef int64_t i
    cdef int64_t j
    cdef uint64_t bucket
    cdef bint fits
    buckets = ((mixed >> np.uint64(32)) * np.uint64(n_buckets) >> np.uint64(32)).astype(np.int64)
    order = np.argsort(buckets, kind="stable")
    keys = mixed[order]
    sizes = np.bincount(buckets, minlength=n_buckets)
    firsts = np.concatenate(([0], np.cumsum(sizes)))
    # The largest buckets first, while there is room.
    cdef const int64_t[::1] by_size = np.argsort(-sizes, kind="stable")
    with nogil:
        for k in range(n_buckets):
            bucket = <uint64_t> by_size[k]
            if firsts[bucket] == firsts[bucket + 1]:
                break
            displacement = 0
            while True:
                found[bucket] = displacement
                fits = True
                for i in range(firsts[bucket], firsts[bucket + 1]):
                    slot = slot_of(keys[i], &found[0], n_buckets, n_slots)
                    slots[i] = slot
                    if taken[slot]:
                        fits = False
                        for j in range(firsts[bucket], i):
                            taken[slots[j]] = 0
                        break
                    taken[slot] = 1
                if fits:
                    break
                displacement += 1
                if displacement == MOST_DISPLACEMENTS:
                    with gil:
                        return None
    in_order = np.empty(len(mixed), dtype=np.uint32)
    in_order[order] = slots
    return np.asarray(found), in_order
