"""The template compiler: templates that are shifts of one another become one shape.

``c-1c0`` at position j and ``c0c+1`` at position j - 1 read the same two characters. A *shape* is
such a family. It has one key per n-gram, and the row of that key holds one block of columns (one
column a label) for each shift, so that one look-up serves all positions that the n-gram touches.
Blocks are ordered so that consecutive blocks belong to consecutive positions: adding a row to the
scores of a sequence is one addition of contiguous numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from spacy_structreg.features.templates import Atom, Template

LABELS_OF_ONE_ROW: Final = 16


@dataclass(frozen=True)
class Shape:
    """A family of templates that are shifts of one another by consecutive offsets.

    atoms: the n-gram; the smallest offset is 0 (its position is called the anchor). Without atoms
        the shape is the tag bigram's.
    lowest, highest: the smallest and the largest offset of the anchor among the templates. The
        template whose anchor lies at `highest` owns block 0, the next lower one block 1, ….
    """

    atoms: tuple[Atom, ...]
    lowest: int
    highest: int

    @property
    def n_shifts(self) -> int:
        """Number of templates that the shape stands for."""
        return self.highest - self.lowest + 1

    @property
    def is_tag_bigram(self) -> bool:
        """True if the weights belong to pairs of labels instead of shifts and labels.

        Up to 16 labels all pairs are the columns of one row, key 0; the pairs of more labels have a
        row for each first label, whose number is its key, so that few are visited in an update.
        """
        return not self.atoms

    def n_columns(self, n_labels: int) -> int:
        """The width of a weight row, for `n_labels` labels."""
        if self.is_tag_bigram and n_labels > LABELS_OF_ONE_ROW:
            return n_labels
        return (n_labels if self.is_tag_bigram else self.n_shifts) * n_labels

    def __str__(self) -> str:
        ngram = "".join(map(str, self.atoms)) or "t-1t0"
        return f"{ngram}[{self.lowest:+d}..{self.highest:+d}]" if self.atoms else ngram


def compile_shapes(templates: Iterable[Template]) -> tuple[Shape, ...]:
    """Gather templates into shapes, in an order that depends on nothing but the set of templates.

    Shifts that are not consecutive go into shapes of their own, so that no column stays unused.
    Rich edge features are left to `compile_edges`.
    """
    families: defaultdict[tuple[Atom, ...], set[int]] = defaultdict(set)
    for template in templates:
        if not template.is_edge:
            ngram, anchor = _anchored(template)
            families[ngram].add(anchor)
    shapes = []
    for ngram, anchors in sorted(families.items(), key=lambda item: (len(item[0]), item[0])):
        offsets = sorted(anchors)
        breaks = [i + 1 for i, (a, b) in enumerate(pairwise(offsets)) if b != a + 1]
        for start, end in pairwise([0, *breaks, len(offsets)]):
            shapes.append(Shape(ngram, offsets[start], offsets[end - 1]))
    return tuple(shapes)


def compile_edges(templates: Iterable[Template]) -> tuple[Shape, ...]:
    """The templates of rich edge features, each a shape of its own, in an order as above."""
    found = {_anchored(template) for template in templates if template.is_edge}
    return tuple(Shape(ngram, anchor, anchor) for ngram, anchor in sorted(found))


def _anchored(template: Template) -> tuple[tuple[Atom, ...], int]:
    """The n-gram of a template, with offsets from its anchor, and the offset of that."""
    anchor = template.atoms[0].offset if template.atoms else 0
    return tuple(Atom(atom.offset - anchor, atom.name) for atom in template.atoms), anchor
