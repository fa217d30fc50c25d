"""The table by which ``spacy evaluate`` prints figures of ours.

spaCy prints figures of its own keys and no others, and beside them tables of precision, recall and
F, one of which is for spans of the key "sc", or of ``--spans-key``. Words are spans of characters.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

from spacy.tokens import Doc
from spacy.training import Example

SPANS_KEY: Final = "sc"
TABLE: Final = f"spans_{SPANS_KEY}_per_type"

# What spaCy prints by itself; means over categories are for those who ask for them.
_PRINTED: Final = ("tag_acc", "pos_acc", "dep_uas", "dep_las")
_PRINTED_STEMS: Final = ("token_", "ents_", "cats_m", "cats_score")
# A number, where the table has figures in percent.
_NUMBERS: Final = ("brackets_crossing", "brackets_crossing_40")
_UNKNOWN: Final = "-"

# Of the Docs of each evaluation, by the first of them: all pipes write into one table.
_rows: WeakKeyDictionary[Doc, dict[str, dict[str, Any]]] = WeakKeyDictionary()


def with_table(figures: dict[str, Any], examples: Sequence[Example]) -> dict[str, Any]:
    """Figures of a pipe, and beside them ``"spans_sc_per_type"``: the table to be printed.

    Its rows are named by keys: that of ``seg`` has ``seg_p``, ``seg_r`` and ``seg_f``; that of
    ``dep_root`` has this figure in the column of F. Figures that spaCy prints, and those that are
    None, are left out. Docs that have spans of this key get no table: it is theirs.
    examples: that were scored, the same ones for all pipes of a pipeline.
    """
    new: dict[str, dict[str, Any]] = {}
    for key, figure in figures.items():
        is_figure = isinstance(figure, float) and key not in _NUMBERS
        if not is_figure or key in _PRINTED or key.startswith(_PRINTED_STEMS):
            continue
        stem, _, column = key.rpartition("_")
        if column not in ("p", "r", "f"):
            stem, column = key, "f"
        row = new.setdefault(stem, dict.fromkeys("prf", _UNKNOWN))
        row[column] = figure
    if not new or any(SPANS_KEY in example.reference.spans for example in examples):
        return figures
    rows = _rows.setdefault(examples[0].predicted, {})
    rows |= new
    return {**figures, TABLE: dict(rows)}
