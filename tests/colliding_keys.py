"""Keys that somebody hostile would choose for the hash table of `learn.rows`."""

from __future__ import annotations

import numpy as np


def unmix(mixed: int) -> int:
    """The key whose slot, before masking, is `mixed`: `spread` of rows.pxd, backwards."""
    word = mixed ^ (mixed >> 32)
    word = word * pow(0x9E3779B97F4A7C15, -1, 2**64) % 2**64
    key = word
    for _ in range(3):
        key = word ^ (key >> 29)
    return key


def colliding(n: int) -> np.ndarray:
    """Distinct keys, rising, that all want the first slot of any table of up to 2**32 slots."""
    return np.array(sorted(unmix(i << 33) for i in range(n)), dtype=np.uint64)
