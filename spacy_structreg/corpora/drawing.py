"""Drawings of trees as SVG, for browsers and notebooks.

Words and relations carry their token, and phrases their number, as ``data-token`` and
``data-phrase``, counted within the sentence; what belongs to an arc has ``data-arc`` besides. The
page of `structreg serve` finds by them what was clicked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape
from itertools import accumulate, pairwise

from spacy_structreg.corpora.constituents import ConstituencySentence
from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.palette import COLORS, DRAWING, FILLS, fill_of
from spacy_structreg.corpora.sentence import Sentence

# All lengths are in font sizes. Those of characters are what common fonts have at most.
NARROW, WIDE = 0.6, 1.2
GAP = 0.8
# From one row of phrases, or of tags, to the next, and from tags to words.
ROW, WORD_ROW = 3.0, 1.4
# From the baseline of a text to the end of the line from above, and to that of the one below.
ASCENT, DESCENT = 1.1, 0.4
# Of spans: from one row of bars to the next, and the height of a bar.
BAR_ROW, BAR = 1.8, 1.5
# Of arcs: the size of relations, and of the tags below the words; from one height of arcs to the
# next; from lines to relations above them; how far from the middle of a word arcs may begin; the
# radius of their corners; and the length of arrows, of which half is the width.
SMALL = 0.8
ARC_ROW = 1.6
LIFT = 0.3
REACH = 0.65
CORNER = 0.4
ARROW = 0.4

# What XML cannot hold: controls, lone surrogates, U+FFFE and U+FFFF.
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

HEADER = (
    f'<svg xmlns="http://www.w3.org/2000/svg" class="{DRAWING}" '
    'width="{width:.1f}" height="{height:.1f}" '
    'viewBox="0 0 {width:.1f} {height:.1f}" font-family="sans-serif" font-size="{font_size:g}" '
    'text-anchor="middle" fill="currentColor">'
)


def tree_svg(sentence: ConstituencySentence, *, font_size: float = 16, heads: bool = False) -> str:
    """A tree as SVG: each phrase in the row below its parent, all tags in one row above the words.

    font_size: in pixels. heads: whether lines to what heads a phrase are thick. The picture has the
    color of the text around it, and its texts have classes, to which `palette.css` gives others;
    characters that XML cannot hold are shown as U+FFFD.

    Raises ValueError for a font size that is not above 0.
    """
    _check_font_size(font_size)
    phrases = sentence.constituents
    rows = _rows(sentence)
    # The innermost phrase of each word.
    owners: list[int | None] = [None] * len(sentence.words)
    for number, phrase in enumerate(phrases):
        owners[phrase.begin : phrase.end] = [number] * (phrase.end - phrase.begin)
    tag_row = max(rows, default=-1) + 1
    edges = _column_edges(sentence, font_size)
    texts: list[str] = []
    lines: list[str] = []

    def middle(begin: int, end: int) -> float:
        return (edges[begin] + edges[end]) / 2

    def baseline(row: float) -> float:
        return font_size * (ASCENT + row * ROW)

    def connect(parent: int, head: int, x: float, bottom: float) -> None:
        """A line from a phrase slanting to the next row, and straight down from there."""
        above = phrases[parent]
        top = baseline(rows[parent]) + font_size * DESCENT
        bend = baseline(rows[parent] + 1) - font_size * ASCENT
        path = f"M{middle(above.begin, above.end):.1f} {top:.1f}L{x:.1f} {bend:.1f}"
        path += f"V{bottom:.1f}" if bottom > bend else ""
        width = font_size * (0.15 if heads and above.head == head else 0.06)
        lines.append(f'<path d="{path}" stroke-width="{width:.2f}"/>')

    places = zip(phrases, rows, sentence.parents(), strict=True)
    for number, (phrase, row, parent) in enumerate(places):
        x, y = middle(phrase.begin, phrase.end), baseline(row)
        attributes = f'class="phrase" data-phrase="{number}"'
        texts.append(_text(phrase.label, x, y, attributes))
        if parent is not None:
            connect(parent, phrase.head, x, y - font_size * ASCENT)
    for index, (word, tag) in enumerate(zip(sentence.words, sentence.tags, strict=True)):
        x, y = middle(index, index + 1), baseline(tag_row)
        below = y + font_size * WORD_ROW
        texts.append(_text(word, x, below, f'data-token="{index}"'))
        if tag:
            texts.append(_text(tag, x, y, 'class="tag"'))
        if (owner := owners[index]) is not None:
            connect(owner, index, x, (y if tag else below) - font_size * ASCENT)
    height = baseline(tag_row) + font_size * (WORD_ROW + DESCENT)
    return _svg(edges[-1], height, font_size, [_strokes(lines), *texts])


def span_svg(sentence: ConstituencySentence, *, font_size: float = 16) -> str:
    """A tree as SVG: words at the top, and a bar with its label for each phrase, by depth.

    font_size, and what is raised: as of `tree_svg`. Phrases of one label have one color.
    """
    _check_font_size(font_size)
    edges = _column_edges(sentence, font_size)
    rows = _rows(sentence)
    texts = [
        _text(word, (begin + end) / 2, font_size * ASCENT, f'data-token="{index}"')
        for index, (word, (begin, end)) in enumerate(
            zip(sentence.words, pairwise(edges), strict=True)
        )
    ]
    top = font_size * (ASCENT + DESCENT)
    margin = font_size * GAP / 8
    # Bars are light on every ground.
    letters = f'fill="{COLORS["text"].light}"'
    bars = []
    for number, (phrase, row) in enumerate(zip(sentence.constituents, rows, strict=True)):
        left, right = edges[phrase.begin] + margin, edges[phrase.end] - margin
        y = top + font_size * BAR_ROW * row
        color = FILLS[fill_of(phrase.label)].light
        bars.append(
            f'<rect x="{left:.1f}" y="{y:.1f}" width="{right - left:.1f}" '
            f'height="{font_size * BAR:.1f}" rx="{font_size * 0.25:g}" fill="{color}" '
            f'data-phrase="{number}"/>'
        )
        attributes = f'{letters} data-phrase="{number}"'
        texts.append(_text(phrase.label, (left + right) / 2, y + font_size * 1.05, attributes))
    height = top + font_size * BAR_ROW * (max(rows, default=-1) + 1)
    return _svg(edges[-1], height, font_size, [*bars, *texts])


def dependency_svg(sentence: Sentence, *, font_size: float = 16) -> str:
    """A dependency tree as SVG: arcs with their relations above the words, tags below them.

    font_size, and what is raised: as of `tree_svg`. An arrow points from a word's head to the word,
    from the top to roots; words whose head is not known have none. Words stand as far apart as the
    relations between them need.
    """
    _check_font_size(font_size)
    n_words = len(sentence.words)
    relations = [label or "" for label in sentence.labels]
    arcs = [(word, head) for word, head in enumerate(sentence.heads) if head not in (None, ROOT)]
    roots = [word for word, head in enumerate(sentence.heads) if head == ROOT]
    levels = _levels(n_words, arcs)
    middles = [font_size * middle for middle in _middles(sentence, relations, arcs)]
    starts = _starts(arcs)
    n_levels = max(levels, default=0) + bool(roots)
    # Where arcs end.
    bottom = font_size * (ASCENT * SMALL + LIFT + ARC_ROW * n_levels)
    lines: list[str] = []
    arrows: list[str] = []
    texts: list[str] = []
    small = f'font-size="{font_size * SMALL:g}"'

    def point_at(word: int, relation: str, x: float, y: float) -> None:
        """The arrow at the end of a line, and the relation above the line."""
        tip, length = middles[word], font_size * ARROW
        arrows.append(f"M{tip:.1f} {bottom:.1f}l{-length / 4:.1f} {-length:.1f}h{length / 2:.1f}Z")
        if relation:
            attributes = f'class="relation" {small} data-token="{word}" data-arc=""'
            texts.append(_text(relation, x, y - font_size * LIFT, attributes))

    for (word, head), level, start in zip(arcs, levels, starts, strict=True):
        y = bottom - font_size * ARC_ROW * level
        x, end = middles[head] + font_size * start, middles[word]
        turn = font_size * (CORNER if head < word else -CORNER)
        low = y + font_size * CORNER
        path = f"M{x:.1f} {bottom:.1f}V{low:.1f}Q{x:.1f} {y:.1f} {x + turn:.1f} {y:.1f}"
        path += f"H{end - turn:.1f}Q{end:.1f} {y:.1f} {end:.1f} {low:.1f}V{bottom:.1f}"
        lines.append(f'<path d="{path}" data-token="{word}" data-arc=""/>')
        point_at(word, relations[word], (x + end) / 2, y)
    for word in roots:
        y = bottom - font_size * ARC_ROW * n_levels
        path = f"M{middles[word]:.1f} {y:.1f}V{bottom:.1f}"
        lines.append(f'<path d="{path}" data-token="{word}" data-arc=""/>')
        point_at(word, relations[word], middles[word], y)
    baseline = bottom + font_size * ASCENT
    for word, (form, tag, x) in enumerate(zip(sentence.words, sentence.tags, middles, strict=True)):
        texts.append(_text(form, x, baseline, f'data-token="{word}"'))
        if tag:
            texts.append(_text(tag, x, baseline + font_size * WORD_ROW, f'class="tag" {small}'))
    height = baseline + font_size * (DESCENT + WORD_ROW * any(sentence.tags))
    width = middles[-1] + font_size * _word_width(sentence, relations, n_words - 1) / 2
    if arrows:
        arrows = [f'<path d="{"".join(arrows)}"/>']
    return _svg(width, height, font_size, [_strokes(lines, font_size * 0.06), *arrows, *texts])


def _check_font_size(font_size: float) -> None:
    if not 0 < font_size < float("inf"):
        raise ValueError(f"font_size is {font_size}; give a number of pixels above 0")


def _svg(width: float, height: float, font_size: float, elements: Iterable[str]) -> str:
    header = HEADER.format(width=width, height=height, font_size=font_size)
    return "\n".join([header, *filter(None, elements), "</svg>"]) + "\n"


def _text(text: str, x: float, y: float, attributes: str = "") -> str:
    written = escape(UNWRITABLE.sub("\ufffd", text))
    return f'<text x="{x:.1f}" y="{y:.1f}"{attributes and " "}{attributes}>{written}</text>'


def _strokes(lines: Sequence[str], width: float | None = None) -> str:
    """Lines in the color of the text; nothing if there are none."""
    if not lines:
        return ""
    given = "" if width is None else f' stroke-width="{width:.2f}"'
    return "\n".join([f'<g fill="none" stroke="currentColor"{given}>', *lines, "</g>"])


def _rows(sentence: ConstituencySentence) -> list[int]:
    """Number of phrases around each phrase."""
    rows: list[int] = []
    for parent in sentence.parents():
        rows.append(0 if parent is None else rows[parent] + 1)
    return rows


def _column_edges(sentence: ConstituencySentence, font_size: float) -> list[float]:
    """Left edge of each word's column in pixels, and the right edge of the last one."""
    return [font_size * edge for edge in accumulate(_column_widths(sentence), initial=0.0)]


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


def _levels(n_words: int, arcs: Sequence[tuple[int, int]]) -> list[int]:
    """The height of each arc, from 1: none is as high as another that is over some of its words.

    Shorter arcs come first, and each goes over those that are there. Nearly linear: what an arc
    goes over becomes one stretch, which is as high everywhere as the arc.
    """
    # Stretches of gaps between words: each gap knows a later one of its stretch, the last itself.
    later = [*range(n_words)]
    height = [0] * n_words

    def last(gap: int) -> int:
        while later[gap] != gap:
            later[gap] = later[later[gap]]
            gap = later[gap]
        return gap

    levels = [0] * len(arcs)
    for number in sorted(
        range(len(arcs)), key=lambda number: abs(arcs[number][0] - arcs[number][1])
    ):
        begin, end = sorted(arcs[number])
        stretch = last(begin)
        highest = height[stretch]
        while stretch < end - 1:
            following = last(stretch + 1)
            highest = max(highest, height[following])
            later[stretch] = following
            stretch = following
        levels[number] = height[stretch] = highest + 1
    return levels


def _middles(
    sentence: Sentence,
    relations: Sequence[str],
    arcs: Sequence[tuple[int, int]],
) -> list[float]:
    """The middle of each word, in font sizes: relations fit between the ends of their arcs."""
    ending: dict[int, list[tuple[int, float]]] = {}
    for word, head in arcs:
        begin, end = sorted((word, head))
        needed = SMALL * _text_width(relations[word]) + REACH + 2 * CORNER
        ending.setdefault(end, []).append((begin, needed))
    middles: list[float] = []
    before = 0.0
    for word in range(len(sentence.words)):
        half = _word_width(sentence, relations, word) / 2
        middle = (middles[-1] if middles else 0.0) + before + half
        middles.append(max([middle, *(middles[at] + more for at, more in ending.get(word, ()))]))
        before = half
    return middles


def _word_width(sentence: Sentence, relations: Sequence[str], word: int) -> float:
    """The width of a word with its tag, and of a root with its relation above it."""
    small = [sentence.tags[word]]
    if sentence.heads[word] == ROOT:
        small.append(relations[word])
    width = max(_text_width(sentence.words[word]), *(SMALL * _text_width(text) for text in small))
    return GAP + width


def _starts(arcs: Sequence[tuple[int, int]]) -> list[float]:
    """Distance of the start of each arc from the middle of its head, to the right, in font sizes.

    The longer the arc, the nearer to the middle, so that no two arcs of a word cross.
    """
    starts = [0.0] * len(arcs)
    sides: dict[tuple[int, bool], list[int]] = {}
    for number, (word, head) in enumerate(arcs):
        sides.setdefault((head, head < word), []).append(number)
    for (_, rightwards), numbers in sides.items():
        numbers.sort(key=lambda number: -abs(arcs[number][0] - arcs[number][1]))
        for place, number in enumerate(numbers, 1):
            offset = REACH * place / (len(numbers) + 1)
            starts[number] = offset if rightwards else -offset
    return starts


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
