"""Segments in two processes, and prints what came of it: a script of `test_processes`.

Arguments: the start method, the pipeline's folder, what to do to the pipeline before.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc


@Language.component("process_id")
def process_id(doc: Doc) -> Doc:
    """Note which process made the Doc."""
    doc.user_data["process"] = os.getpid()
    return doc


def main(method: str, folder: str, change: str) -> None:
    multiprocessing.set_start_method(method)
    nlp = spacy.load(folder)
    texts = json.loads(sys.stdin.read())
    if change == "trained":
        # The file in the folder no longer is what the pipeline has in memory.
        gold = [Doc(nlp.vocab, words=list(text), spaces=[False] * len(text)) for text in texts]
        nlp.tokenizer.update(gold)
    elif change == "removed":
        (Path(folder) / "tokenizer" / "model.srt").unlink()
    expected = [[token.text for token in nlp(text)] for text in texts]
    nlp.add_pipe("process_id")
    docs = list(nlp.pipe(texts, n_process=2, batch_size=5))
    result = {
        "equal": [[token.text for token in doc] for doc in docs] == expected,
        "words": expected,
        "texts": [doc.text for doc in docs] == texts,
        "processes": len({doc.user_data["process"] for doc in docs}),
        "here": os.getpid() in {doc.user_data["process"] for doc in docs},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
