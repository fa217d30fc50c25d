"""MurmurHash64A (Austin Appleby, public domain), by which strings and long n-grams become keys."""


def hash_string(str text not None, uint64_t seed=1):
    """MurmurHash64A of the UTF-8 bytes of `text`: with seed 1, the ids that spaCy gives strings.

    Raises UnicodeEncodeError if `text` holds a lone surrogate.
    """
    cdef bytes encoded = text.encode("utf-8")
    return murmur_hash_64a(<const char*> encoded, len(encoded), seed)
