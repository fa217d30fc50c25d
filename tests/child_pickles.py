"""Models as they are pickled for child processes of this machine."""

from __future__ import annotations

import io
from multiprocessing.context import set_spawning_popen
from multiprocessing.reduction import ForkingPickler
from typing import Any


def for_a_child(model: Any) -> bytes:
    """What is handed to a child process that is being started."""
    stream = io.BytesIO()
    set_spawning_popen(object())
    try:
        ForkingPickler(stream).dump(model)
    finally:
        set_spawning_popen(None)
    return stream.getvalue()
