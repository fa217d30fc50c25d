"""A sentence never ends between a character and what combines with it."""

import re

from looped import looped

from spacy_structreg.corpora.sentences import EXTENDERS, sentence_ends
from spacy_structreg.features.character_classes import EXTENDS, TABLE_SIZE, property_table


def test_the_splitter_and_the_segmenter_agree_on_what_combines() -> None:
    extender = re.compile(f"[{EXTENDERS}]")
    flagged = [bool(flags & EXTENDS) for flags in property_table()]
    assert flagged == [bool(extender.match(chr(code))) for code in range(TABLE_SIZE)]


@looped(
    ("text", "ends"),
    [
        ("好！\ufe0f好", [3, 4]),
        ("好。\u200d好。好", [4, 5, 6]),
        ("好\u0301。好", [3, 4]),
        ("好！”\u0301好", [4, 5]),
        ("好\n\u0301好", [2, 4]),
    ],
)
def test_marks_stay_with_their_character(text: str, ends: list[int]) -> None:
    assert sentence_ends(text) == ends
