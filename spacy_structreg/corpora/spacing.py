"""White space between words: patterns of words and Han characters, and where writers put spaces.

White space is the space, the tab and U+3000 (ideographic space). Every other character, the
no-break space and the line separators of Unicode included, belongs to a word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from spacy_structreg.corpora.lazy_pattern import lazy_pattern

WORD = re.compile("[^ \t\u3000]+")
"""A run of characters that are no white space."""
IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff"
"""Ranges of the unified ideographs of the first plane, for a class of a regular expression."""
# Besides them the radicals, 々 〇, the compatibility ideographs, planes 2 and 3.
HAN = f"\u2e80-\u2fd5\u3005\u3007{IDEOGRAPHS}\uf900-\ufaff\U00020000-\U0003ffff"
"""Ranges of Han characters, for a class of a regular expression."""
SPACED_HAN = lazy_pattern(f"[{HAN}][ \t\u3000]+(?=[{HAN}])")
"""A Han character and the white space before another one."""
HAN_PAIR = lazy_pattern(f"[{HAN}][ \t\u3000]*[{HAN}]")
"""Two Han characters, with white space between them or none."""


def spaces_between(words: Sequence[str]) -> list[bool]:
    """For each word, True if a space follows: not the last one, nor next to a Han character."""
    is_han = re.compile(f"[{HAN}\u3000-\u303f\uff00-\uffef]").match
    between = [not is_han(left[-1]) and not is_han(right[0]) for left, right in pairwise(words)]
    return [*between, False]
