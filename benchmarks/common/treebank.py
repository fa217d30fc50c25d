"""The registers of our treebank: gold words with universal tags, and figures of what is found.

Tags are compared as universal tags: those of the gold annotation by the table of the Chinese
Treebank, those of systems that are nearly those of the People's Daily by its table. Systems have
conventions of their own of what a word is, so that F says how well they fit the treebank, not how
good they are. Gold words that a found word crosses are errors by any standard: their share is fair.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from spacy_structreg.corpora.any_format import read_sentences
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.sentences import latin_spaces
from spacy_structreg.corpora.tag_maps import TAG_MAPS
from spacy_structreg.metrics.joint import score_joint
from spacy_structreg.metrics.segmentation import count_crossed

__all__ = [
    "BLIND",
    "Fit",
    "Pairs",
    "Registers",
    "by_ctb",
    "by_pfr",
    "fit_of",
    "read_registers",
    "text_of",
    "untagged",
]

Pairs: TypeAlias = "list[tuple[str, str]]"
"""Words with tags; a tag is empty if there is none."""

Registers: TypeAlias = "Mapping[str, Sequence[Pairs]]"
"""The gold sentences of each register."""

BLIND: Final = Path(__file__).parents[2] / "treebank" / "second" / "test"
"""The part that nobody trained on, a file a register."""

CTB, PFR = TAG_MAPS["ctb"], TAG_MAPS["pfr"]
# A letter, a digit or a Han character.
WORDLIKE: Final = re.compile(r"\w")


@dataclass(frozen=True)
class Fit:
    """Figures on all registers, as fractions of 1.

    words, tagged: F of words, and of words with universal tags; None without tags. crossed: the
    share of gold words that a found word crosses. lowest, register: F of words where it is lowest.
    """

    words: float
    tagged: float | None
    crossed: float
    lowest: float
    register: str


def read_registers(folder: Path) -> dict[str, list[Pairs]]:
    """The sentences of the files of a folder. Raises ValueError if there are none."""
    options = CorpusOptions("brackets")
    registers = {
        path.stem: [
            by_ctb(zip(each.words, each.tags or [], strict=True))
            for each in read_sentences(path, options)
        ]
        for path in sorted(folder.glob("*.bracket"))
    }
    if not registers:
        raise ValueError(f"{folder} has no file *.bracket; name a part of the treebank")
    return registers


def text_of(sentence: Pairs) -> str:
    """The text of a sentence, with spaces between its Latin words."""
    words = [word for word, _ in sentence]
    return "".join(
        word + " " * space for word, space in zip(words, latin_spaces(words), strict=True)
    )


def untagged(words: Iterable[str]) -> Pairs:
    """Words without tags."""
    return [(word, "") for word in words]


def by_ctb(pairs: Iterable[tuple[str, str]]) -> Pairs:
    """Words with universal tags for tags of the Chinese Treebank."""
    return [(word, CTB.get(tag, "X")) for word, tag in pairs]


def by_pfr(pairs: Iterable[tuple[str, str]], names: Mapping[str, str]) -> Pairs:
    """Words with universal tags for tags like those of the People's Daily.

    Finer tags count by their letter, and marks as punctuation, which jieba calls x. names: tags
    that it has for others.
    """
    found = ((word, names.get(tag, tag)) for word, tag in pairs)
    return [
        (word, (PFR.get(tag) or PFR.get(tag[:1], "X")) if WORDLIKE.search(word) else "PUNCT")
        for word, tag in found
    ]


def fit_of(registers: Registers, found: Mapping[str, Sequence[Pairs]]) -> Fit:
    """The figures of what was found in the sentences of each register.

    White space does not count. Raises ValueError for other sentences.
    """
    words = {name: list(map(squeezed, found[name])) for name in registers}
    scores = {name: score_joint(registers[name], words[name]).as_dict() for name in registers}
    gold = [sentence for sentences in registers.values() for sentence in sentences]
    every = [sentence for sentences in words.values() for sentence in sentences]
    figures = score_joint(gold, every).as_dict()
    crossed = sum(
        count_crossed([word for word, _ in wanted], [word for word, _ in pairs])
        for wanted, pairs in zip(gold, every, strict=True)
    )
    lowest = {name: each["seg_f"] or 0.0 for name, each in scores.items()}
    register = min(lowest, key=lowest.__getitem__)
    tagged = any(tag for pairs in every for _, tag in pairs)
    return Fit(
        figures["seg_f"] or 0.0,
        figures["joint_f"] if tagged else None,
        crossed / sum(map(len, gold)),
        lowest[register],
        register,
    )


def squeezed(pairs: Pairs) -> Pairs:
    """Words without white space, and without those of nothing else."""
    return [(word, tag) for word, tag in (("".join(w.split()), t) for w, t in pairs) if word]
