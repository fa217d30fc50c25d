"""Checksum of the contents of a corpus, independent of its file format."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence


def corpus_checksum(sentences: Iterable[Sequence[str]]) -> str:
    """SHA-256, as 64 hexadecimal digits, over the words of all sentences in their order.

    Different sequences of sequences of strings give different input to the hash: the lengths of
    the words come first, then their characters. A tagged corpus passes, for each sentence, its
    words and then its tags.
    """
    digest = hashlib.sha256()
    for sentence in sentences:
        lengths = ",".join(map(str, map(len, sentence)))
        digest.update(f"{lengths}:{''.join(sentence)}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
