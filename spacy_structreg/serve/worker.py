"""A process that annotates: requests come by its standard input, answers go to its output.

Both are msgpack, each behind its length in four bytes. What a pipeline prints, logs or warns of
while it annotates may hold the texts of users, and goes nowhere.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, BinaryIO, Final

import msgpack

LENGTH: Final = 4
"""The bytes of a length."""


def packed(message: Any) -> bytes:
    """A message behind its length."""
    data: bytes = msgpack.packb(message)
    return len(data).to_bytes(LENGTH, "big") + data


def main(pipeline: str) -> None:
    """Load a pipeline, tell what it is, and answer requests until the input ends."""
    # The process that has started this one says when it is to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    try:
        annotator = load(pipeline)
        described = annotator.describe()
    except (ImportError, OSError, ValueError) as error:
        send(answers, {"failed": str(error)})
        return
    send(answers, {"pipeline": described})
    sys.stderr.flush()
    os.dup2(nowhere, 2)
    while header := requests.read(LENGTH):
        request = msgpack.unpackb(requests.read(int.from_bytes(header, "big")))
        send(answers, answer(annotator, request))


def load(pipeline: str) -> Any:
    """The annotator of a pipeline. Raises as `spacy.load`."""
    import spacy

    from spacy_structreg.serve.annotator import Annotator

    return Annotator(spacy.load(pipeline))


def send(stream: BinaryIO, message: Any) -> None:
    """Write a message."""
    stream.write(packed(message))
    stream.flush()


def answer(annotator: Any, request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request: ``answers``, as bytes, or the ``fault`` of the request.

    ``failed`` is a fault of the pipeline, by the class of the error and the line where it was
    raised: its message may hold a text.
    """
    from spacy_structreg.serve.annotator import AnnotateOptions
    from spacy_structreg.serve.errors import FaultError, place_of

    try:
        words = tuple(map(tuple, request["options"].pop("user_words")))
        options = AnnotateOptions(user_words=words, **request["options"])
        if "component" in request:
            (text,) = request["texts"]
            return {"answers": [annotator.explain(text, request["component"], options)]}
        return {"answers": annotator.annotate(request["texts"], options)}
    except FaultError as error:
        return {"fault": str(error)}
    except Exception as error:
        return {"failed": place_of(error)}


if __name__ == "__main__":
    main(sys.argv[1])
