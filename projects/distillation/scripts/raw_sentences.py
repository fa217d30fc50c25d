"""Take sentences of raw text, a sentence a line, each once.

`python scripts/raw_sentences.py OUTPUT FOLDER` takes all sentences of the files `*.txt` of a
folder; `python scripts/raw_sentences.py OUTPUT --data NAME:N ...` takes N sentences of each file
`raw/NAME.txt.xz` in the folder that STRUCTREG_DATA names, drawn by a fixed seed; none without it.
Sentences have 5 to 100 characters.
"""

from __future__ import annotations

import argparse
import lzma
import os
import random
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from spacy_structreg.corpora.files import replace_text
from spacy_structreg.corpora.sentences import sentence_ends

SHORTEST, LONGEST = 5, 100


def sentences(path: Path) -> Iterator[str]:
    """The sentences of a file, without white space around them."""
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            for begin, end in pairwise([0, *sentence_ends(line)]):
                sentence = line[begin:end].strip()
                if SHORTEST <= len(sentence) <= LONGEST:
                    yield sentence


def sampled(names: list[str]) -> Iterator[str]:
    """Sentences of the files of the folder STRUCTREG_DATA, given as NAME:N."""
    data = os.environ.get("STRUCTREG_DATA")
    if not data:
        print("STRUCTREG_DATA is not set: the teachers see the raw text of the treebank alone")
        return
    rng = random.Random(0)
    for name in names:
        stem, _, number = name.rpartition(":")
        found = list(dict.fromkeys(sentences(Path(data, "raw", f"{stem}.txt.xz"))))
        chosen = sorted(rng.sample(range(len(found)), min(int(number), len(found))))
        print(f"{stem}: {len(chosen):,} of {len(found):,} sentences")
        yield from (found[i] for i in chosen)


def main(arguments: list[str] | None = None) -> int:
    """0 if the sentences were written, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("output", type=Path)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--data", nargs="+", default=[], metavar="NAME:N")
    given = parser.parse_args(arguments)
    try:
        if given.folder is None:
            found = sampled(given.data)
        else:
            files = sorted(given.folder.glob("*.txt"))
            found = iter(dict.fromkeys(each for path in files for each in sentences(path)))
        given.output.parent.mkdir(parents=True, exist_ok=True)
        with replace_text(given.output) as stream:
            stream.writelines(f"{sentence}\n" for sentence in found)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
