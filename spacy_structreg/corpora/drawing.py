"""Phrase structure trees as pictures: SVG, which browsers and notebooks show."""

from __future__ import annotations

import re
import unicodedata
from html import escape
from itertools import accumulate

from spacy_structreg.corpora.constituents import ConstituencySentence

__all__ = ["tree_svg"]

# All lengths are in font sizes. Those of characters are what common fonts have at most.
NARROW, WIDE = 0.6, 1.2
GAP = 0.8
# From one row of phrases, or of tags, to the next, and from tags to words.
ROW, WORD_ROW = 3.0, 1.4
# From the baseline of a text to the end of the line from above, and to that of the one below.
ASCENT, DESCENT = 1.1, 0.4

# What XML cannot hold: controls, lone surrogates, U+FFFE and U+FFFF.
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

HEADER = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{width:.1f}" height="{height:.1f}" '
    'viewBox="0 0 {width:.1f} {height:.1f}" font-family="sans-serif" font-size="{font_size:g}" '
    'text-anchor="middle" fill="currentColor">'
)


def tree_svg(sentence: ConstituencySentence, *, font_size: float = 16, heads: bool = False) -> str:
    """A tree as SVG: each phrase in the row below its parent, all tags in one row above the words.

    font_size: in pixels. heads: whether lines to what heads a phrase are thick. The picture has the
    colour of the text around it; characters that XML cannot hold are shown as U+FFFD.

    Raises ValueError for a font size that is not above 0.
    """
    if not 0 < font_size < float("inf"):
        raise ValueError(f"font_size is {font_size}; give a number of pixels above 0")
    phrases = sentence.constituents
    # The row of each phrase, and the innermost phrase of each word.
    rows: list[int] = []
    owners: list[int | None] = [None] * len(sentence.words)
    for number, parent in enumerate(sentence.parents()):
        rows.append(0 if parent is None else rows[parent] + 1)
        begin, end = phrases[number].begin, phrases[number].end
        owners[begin:end] = [number] * (end - begin)
    tag_row = max(rows, default=-1) + 1
    edges = [font_size * edge for edge in accumulate(_column_widths(sentence), initial=0.0)]
    texts: list[str] = []
    lines: list[str] = []

    def middle(begin: int, end: int) -> float:
        return (edges[begin] + edges[end]) / 2

    def baseline(row: float) -> float:
        return font_size * (ASCENT + row * ROW)

    def write(text: str, x: float, y: float) -> None:
        written = escape(UNWRITABLE.sub("\ufffd", text))
        texts.append(f'<text x="{x:.1f}" y="{y:.1f}">{written}</text>')

    def connect(parent: int, head: int, x: float, bottom: float) -> None:
        """A line from a phrase slanting to the next row, and straight down from there."""
        above = phrases[parent]
        top = baseline(rows[parent]) + font_size * DESCENT
        bend = baseline(rows[parent] + 1) - font_size * ASCENT
        path = f"M{middle(above.begin, above.end):.1f} {top:.1f}L{x:.1f} {bend:.1f}"
        path += f"V{bottom:.1f}" if bottom > bend else ""
        width = font_size * (0.15 if heads and above.head == head else 0.06)
        lines.append(f'<path d="{path}" stroke-width="{width:.2f}"/>')

    for phrase, row, parent in zip(phrases, rows, sentence.parents(), strict=True):
        x, y = middle(phrase.begin, phrase.end), baseline(row)
        write(phrase.label, x, y)
        if parent is not None:
            connect(parent, phrase.head, x, y - font_size * ASCENT)
    for index, (word, tag) in enumerate(zip(sentence.words, sentence.tags, strict=True)):
        x, y = middle(index, index + 1), baseline(tag_row)
        below = y + font_size * WORD_ROW
        write(word, x, below)
        if tag:
            write(tag, x, y)
        if (owner := owners[index]) is not None:
            connect(owner, index, x, (y if tag else below) - font_size * ASCENT)
    height = baseline(tag_row) + font_size * (WORD_ROW + DESCENT)
    header = HEADER.format(width=edges[-1], height=height, font_size=font_size)
    drawn = ['<g fill="none" stroke="currentColor">', *lines, "</g>"] if lines else []
    return "\n".join([header, *drawn, *texts, "</svg>"]) + "\n"


def _column_widths(sentence: ConstituencySentence) -> list[float]:
    """The width of each word's column, so that labels stay within the columns of their words."""
    widths = [
        GAP + max(_text_width(word), _text_width(tag))
        for word, tag in zip(sentence.words, sentence.tags, strict=True)
    ]
    # From the innermost outwards.
    for phrase in reversed(sentence.constituents):
        n_words = phrase.end - phrase.begin
        lacking = GAP + _text_width(phrase.label) - sum(widths[phrase.begin : phrase.end])
        if lacking > 0:
            for word in range(phrase.begin, phrase.end):
                widths[word] += lacking / n_words
    return widths


def _text_width(text: str) -> float:
    """The width of a text: wide characters, such as Chinese ones, count twice, marks nothing."""
    return sum(
        WIDE
        if unicodedata.east_asian_width(character) in "WF"
        else 0
        if unicodedata.category(character) in ("Mn", "Me", "Cf")
        else NARROW
        for character in text
    )
