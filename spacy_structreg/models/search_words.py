"""Words inside words, for a search index: of 中华人民共和国 also 中华, 人民 and 共和国."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple

from spacy_structreg.tasks.knowledge.lexicon import Lexicon
from spacy_structreg.tasks.knowledge.lexicon_source import LexiconSource
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms

SHORTEST: Final = 2
"""The least number of characters of a word inside a word."""

Analyses = Sequence[tuple[float, Sequence[Any]]]


class SearchWord(NamedTuple):
    """A word of a search index: `text[start:end]`."""

    start: int
    end: int
    text: str


def lexicons_of(model: Any) -> Iterator[tuple[Lexicon, Callable[[str], str]]]:
    """Yield the word lists that a model of raw text knows, and how it sees text to look it up."""
    for atoms in atoms_of(model):
        for source in atoms.sources:
            if isinstance(source, LexiconSource):
                yield source.words.lexicon, atoms.seen


def atoms_of(model: Any) -> Iterator[CharacterAtoms]:
    """Yield what a model of raw text, or each of its models, reads of characters."""
    for name in ("characters", "words"):
        if (part := getattr(model, name, None)) is not None:
            yield from atoms_of(part)
    if hasattr(model, "_fitted_spec"):
        spec = model._fitted_spec()
        yield spec.atoms if hasattr(spec, "atoms") else spec.system.characters


def inner_words(
    word: str,
    nbest: Callable[[str], Analyses],
    lexicons: Sequence[tuple[Lexicon, Callable[[str], str]]],
) -> set[tuple[int, int]]:
    """Begins and ends of the words inside a word, which itself is not among them.

    nbest: gives the best analyses of a text. lexicons: word lists, and how text is looked up there.
    They are the listed words inside it, and its parts: those of the best of its `nbest` analyses
    whose words, two at least, have two characters or more each; and the parts of these. Words in
    ASCII, or with white space, have listed words alone inside.
    """
    found = {
        (start, end)
        for lexicon, seen in lexicons
        for start, end, _ in lexicon.find(seen(word)).tolist()
        if end - start >= SHORTEST
    }
    # Parts of what is written in letters are no words.
    waiting = [] if word.isascii() or word != "".join(word.split()) else [(0, len(word))]
    while waiting:
        start, end = waiting.pop()
        found.add((start, end))
        if end - start >= 2 * SHORTEST:
            bounds = _parts(nbest(word[start:end]))
            waiting += ((start + first, start + last) for first, last in bounds)
    return found - {(0, len(word))}


def _parts(analyses: Analyses) -> list[tuple[int, int]]:
    """Begins and ends of the words of the best analysis that has several long words alone."""
    for _, items in analyses:
        words = [item if isinstance(item, str) else item[0] for item in items]
        if len(words) > 1 and min(map(len, words)) >= SHORTEST:
            return list(pairwise(accumulate(map(len, words), initial=0)))
    return []
