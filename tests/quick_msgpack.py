"""srsly's msgpack, with its encoders and decoders looked up once.

It looks through all entry points of the environment for them at every call, which takes a
millisecond or more where much is installed: most of the time that Docs with spans take to read.
"""

from __future__ import annotations

from functools import cache

from srsly.msgpack import msgpack_decoders, msgpack_encoders


def remember_encoders() -> None:
    """Keep what the next call finds. To be called before Docs are read or written."""
    for registry in (msgpack_encoders, msgpack_decoders):
        registry.get_all = cache(registry.get_all)
