"""Make `spacy_structreg/models/word_rarity.txt.xz`, the words that keywords are compared with.

    python projects/scripts/word_rarity.py PIPELINE OUTPUT TEXT...

Each text, one paragraph a line, is a register: the share of a word is the mean of its shares in all
of them and in the dictionary of jieba, so that no register outweighs the others. Needs the packages
jieba and OpenCC.
"""

from __future__ import annotations

import lzma
from collections import Counter, defaultdict
from math import expm1, log, log1p
from pathlib import Path
from typing import Annotated

import jieba
import spacy
from opencc import OpenCC
from spacy.cli._util import Arg

from spacy_structreg.cli.commands import run
from spacy_structreg.corpora.files import read_lines
from spacy_structreg.pipeline.evaluation import found_words

TEXT_LENGTH = 300
LONGEST_WORD = 12
MOST_CHARACTERS = 3_000_000
N_WORDS = 90_000
N_TRADITIONAL = 40_000
# Of the inverse document frequencies that are told apart.
STEP = 0.25


def make(
    pipeline: Annotated[Path, Arg(help="Pipeline that segments")],
    output: Annotated[Path, Arg(help="Table to write")],
    texts: Annotated[list[Path], Arg(help="Texts, one paragraph a line")],
) -> None:
    """Write how rare the words of texts are."""
    nlp = spacy.load(pipeline)
    registers = [jieba_counts(), *(count(nlp, path) for path in texts)]
    shares: dict[str, float] = defaultdict(float)
    for counts in registers:
        total = sum(counts.values())
        for word, times in counts.items():
            if times > 1 and word.isalpha() and len(word) <= LONGEST_WORD:
                shares[word] += times / total / len(registers)
    best = sorted(shares, key=lambda word: (-shares[word], word))[:N_WORDS]
    to_traditional = OpenCC("s2t").convert
    table = {word: shares[word] for word in best}
    for word in best[:N_TRADITIONAL]:
        table.setdefault(to_traditional(word), shares[word])
    lines: dict[float, list[str]] = defaultdict(list)
    for word, share in table.items():
        # The negative logarithm of the chance that a text has it.
        idf = -log(-expm1(TEXT_LENGTH * log1p(-share)))
        lines[round(idf / STEP) * STEP].append(word)
    text = "".join(f"{idf:g} {' '.join(sorted(lines[idf]))}\n" for idf in sorted(lines))
    output.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def jieba_counts() -> Counter[str]:
    """The counts that come with jieba."""
    with jieba.get_dict_file() as lines:
        rows = (line.decode().split() for line in lines)
        return Counter({word: int(times) for word, times, _ in rows})


def count(nlp: spacy.Language, path: Path) -> Counter[str]:
    """Count the words of a text; of a long one, of lines from all over it."""
    lines = [line for _, line in read_lines(path)]
    step = max(1, sum(map(len, lines)) // MOST_CHARACTERS)
    return Counter(word for words in found_words(nlp, lines[::step]) for word in words)


if __name__ == "__main__":
    run(make)
