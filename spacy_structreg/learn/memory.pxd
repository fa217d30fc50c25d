"""Arrays that grow, and the base of the classes that own some.

An array knows its capacity, and its owner knows all of its arrays, so a class declares pointers,
calls `reserve` before it writes to them, and frees nothing: its arrays go when it goes.
"""

cdef extern from *:
    """
    #include <stdint.h>
    #include <stdlib.h>
    #include <string.h>
    #ifdef __linux__
    #include <sys/mman.h>
    #endif

    /* Stands before the first item; of a size that leaves items aligned as malloc does. */
    typedef struct structreg_block {
        struct structreg_block *next, *previous;
        Py_ssize_t capacity;  /* in items */
        Py_ssize_t padding;
    } structreg_block;

    typedef struct {
        structreg_block *first;
        void *grown;  /* the array that was grown last */
    } structreg_buffers;

    static inline Py_ssize_t structreg_capacity(const void *buffer) {
        return buffer == NULL ? 0 : ((const structreg_block *) buffer - 1)->capacity;
    }

    /* Tables of many megabytes, which are read here and there, need few entries of the processor's
       table of pages then. */
    static inline void structreg_use_large_pages(void *begin, size_t size) {
    #ifdef MADV_HUGEPAGE
        const uintptr_t page = 1 << 21;
        const uintptr_t first = ((uintptr_t) begin + page - 1) / page * page;
        const uintptr_t end = ((uintptr_t) begin + size) / page * page;
        if (size >= 2 * page && first < end)
            (void) madvise((void *) first, end - first, MADV_HUGEPAGE);
    #else
        (void) begin;
        (void) size;
    #endif
    }

    static inline int structreg_grow(
        structreg_buffers *owner, void *buffer, Py_ssize_t needed, size_t item_size
    ) {
        structreg_block *block = buffer == NULL ? NULL : (structreg_block *) buffer - 1;
        Py_ssize_t capacity = structreg_capacity(buffer);
        structreg_block *moved = NULL;
        capacity += capacity / 2 + 16;
        if (capacity < needed)
            capacity = needed;
        if ((size_t) capacity <= (PY_SSIZE_T_MAX - sizeof(structreg_block)) / item_size)
            moved = (structreg_block *) realloc(
                block, sizeof(structreg_block) + (size_t) capacity * item_size);
        if (moved == NULL) {
            PyGILState_STATE state = PyGILState_Ensure();
            PyErr_Format(
                PyExc_MemoryError, "no memory for %zd items of %zu bytes", capacity, item_size);
            PyGILState_Release(state);
            return -1;
        }
        if (block == NULL) {
            moved->previous = NULL;
            moved->next = owner->first;
        }
        if (moved->previous == NULL)
            owner->first = moved;
        else
            moved->previous->next = moved;
        if (moved->next != NULL)
            moved->next->previous = moved;
        structreg_use_large_pages(moved, (size_t) capacity * item_size);
        moved->capacity = capacity;
        owner->grown = moved + 1;
        return 0;
    }

    static inline void structreg_free(structreg_buffers *owner) {
        structreg_block *block = owner->first;
        structreg_block *next;
        owner->first = NULL;
        for (; block != NULL; block = next) {
            next = block->next;
            free(block);
        }
    }

    static inline void *structreg_copied(void *target, const void *source, size_t size) {
        return size == 0 ? target : memcpy(target, source, size);
    }

    /* Macros, because the pointer is set to where the array lies then, whatever its type. */
    #define STRUCTREG_RESERVE(owner, buffer, needed) ( \\
        (buffer) != NULL && (Py_ssize_t) (needed) <= structreg_capacity(buffer) ? 0 \\
        : structreg_grow(owner, (void *) (buffer), (Py_ssize_t) (needed), sizeof(*(buffer))) < 0 \\
        ? -1 : ((buffer) = (owner)->grown, 0))
    #define STRUCTREG_RESERVE_ZEROS(owner, buffer, needed) ( \\
        STRUCTREG_RESERVE(owner, buffer, needed) < 0 \\
        ? -1 : (memset((void *) (buffer), 0, (size_t) (needed) * sizeof(*(buffer))), 0))
    #define STRUCTREG_DUPLICATE(owner, buffer, source, n) ( \\
        STRUCTREG_RESERVE(owner, buffer, n) < 0 \\
        ? -1 : (structreg_copied(buffer, source, (size_t) (n) * sizeof(*(buffer))), 0))
    """
    ctypedef struct Buffers "structreg_buffers":
        pass

    # Called as reserve(&self.buffers, self.pointer, needed): make room for `needed` items. Grows
    # by half at least, keeps the contents, never shrinks. The pointer is NULL before the first
    # call; the array stays where it is as long as it has room.
    int reserve "STRUCTREG_RESERVE" (Buffers* owner, ...) except -1 nogil

    # The same, and lets the first `needed` items be zero.
    int reserve_zeros "STRUCTREG_RESERVE_ZEROS" (Buffers* owner, ...) except -1 nogil

    # The same, and copies the first items of another array, which stands before `needed`.
    int duplicate "STRUCTREG_DUPLICATE" (Buffers* owner, ...) except -1 nogil

    # Number of items that an array has room for; 0 if the pointer is NULL.
    Py_ssize_t capacity_of "structreg_capacity" (const void* buffer) noexcept nogil

    void free_buffers "structreg_free" (Buffers* owner) noexcept nogil


cdef class BufferOwner:
    cdef Buffers buffers
