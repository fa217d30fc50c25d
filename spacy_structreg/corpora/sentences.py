r"""The one sentence splitter, by punctuation and line breaks.

A sentence ends

- after one of 。！？!?… together with all such characters and closing quotes or brackets that
  follow it directly (他说：“走吧！”|), and the white space up to a line break, if one follows;
  marks that combine with the character before them stay with it;
- after a line break (\n, \r\n, \r, U+2028, U+2029), together with blank lines that follow.

The full stop of Latin script ends no sentence: it stands in numbers, abbreviations and addresses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

__all__ = ["sentence_ends", "sentence_spans", "split_words"]

TERMINATORS = "。！？!?…"
CLOSERS = "”’」』）》〉】〕］｝〗〙〛﹂﹄｣)]}\"'»›＂＇"
BREAKS = "\n\r\u2028\u2029"
BLANKS = " \t\u3000"

# Combining marks, variation selectors, emoji modifiers and joiners.
EXTENDERS = (
    "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\u302a-\u302f"
    "\u3099\u309a\ufe00-\ufe0f\ufe20-\ufe2f\U0001f3fb-\U0001f3ff\U000e0020-\U000e01ef"
)

# Linear on any input: the first class finds a place to end at, and every further class takes a run
# of characters at most once and gives back at most the blanks behind the last line break in it. No
# group is repeated, so that nothing is kept for each character of a long run.
SENTENCE_END = re.compile(
    "[{t}{b}](?:(?<![{b}])[{t}{c}{x}]+(?:(?<=\u200d)[^{b}])?)?(?:[{s}{b}]*[{b}])?".format(
        t=re.escape(TERMINATORS), b=BREAKS, c=re.escape(CLOSERS), s=BLANKS, x=EXTENDERS
    )
)


def sentence_ends(text: str) -> list[int]:
    """The character offset at which each sentence of a text ends, in rising order.

    The last is `len(text)`; the empty text has none. Every sentence has at least one character.
    """
    ends = [match.end() for match in SENTENCE_END.finditer(text)]
    if text and (not ends or ends[-1] < len(text)):
        ends.append(len(text))
    return ends


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The sentences of a text as (start, end) character offsets; together they cover it exactly."""
    ends = sentence_ends(text)
    return list(zip([0, *ends], ends, strict=False))


def split_words(words: Sequence[str]) -> list[list[str]]:
    """Split the words of a gold line into sentences where `sentence_ends` splits their text.

    An end inside a word is not taken: gold words stay whole (`Yahoo!网` as one word splits
    nowhere), and the sentence goes on to the next end that is a word boundary too. Raises
    ValueError for an empty word.
    """
    if "" in words:
        raise ValueError("a word is empty; leave empty words out")
    ends = set(sentence_ends("".join(words)))
    sentences: list[list[str]] = []
    start = 0
    for stop, offset in enumerate(accumulate(map(len, words)), start=1):
        if offset in ends:
            sentences.append(list(words[start:stop]))
            start = stop
    return sentences
