"""MurmurHash64A (Austin Appleby, public domain), by which strings and long n-grams become keys."""


def hash_string(str text not None, uint64_t seed=1):
    """MurmurHash64A of the UTF-8 bytes of `text`: with seed 1, the ids that spaCy gives strings.

    Raises UnicodeEncodeError if `text` holds a lone surrogate.
    """
    cdef bytes encoded = text.encode("utf-8")
    return murmur_hash_64a(<const char*> encoded, len(encoded), seed)


def hash_numbers(numbers):
    """MurmurHash64A, seed 1, of 64-bit numbers: the keys of features that join several atoms."""
    cdef uint64_t word
    cdef uint64_t state = murmur_begin(len(numbers), 1)
    for word in numbers:
        state = murmur_take(state, murmur_mix(word))
    return murmur_end(state)
