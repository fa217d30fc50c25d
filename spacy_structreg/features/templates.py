"""Feature templates over a window of a sequence, and their notation.

A template is a conjunction of *atoms*. Each atom is a named property of one position, counted
from the current one: ``c-1c0`` reads property ``c`` (the character) of the position before and of
the current position. ``t-1t0`` stands for the tag bigram, which reads no property at all, and
``t-1t0c0`` for a rich edge feature (Sun 2014): the character with each pair of a tag and the one
before. The notation is the usual one of the literature, e.g. Zhang, Su & Zhou 2014, Table 1.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

MAX_ATOMS = 8
MAX_OFFSET = 16

_ATOM = re.compile(r"([A-Za-z]+)([+-]?[0-9]{1,4})")
_TAG_BIGRAM = "t-1t0"
_TAG_BIGRAM_SPELLINGS = (_TAG_BIGRAM, "t0t-1")


@dataclass(frozen=True, order=True)
class Atom:
    """Property `name` of the position `offset` places after the current one (before, if < 0)."""

    offset: int
    name: str

    def __str__(self) -> str:
        return f"{self.name}{self.offset:+d}" if self.offset else f"{self.name}0"


@dataclass(frozen=True)
class Template:
    """A conjunction of atoms; without atoms, the tag bigram.

    atoms: sorted by offset, then by name, so that two spellings of one feature are equal.
    is_edge: whether its atoms go with each pair of a tag and the one before, not with each tag.
    """

    atoms: tuple[Atom, ...]
    is_edge: bool = False

    @property
    def is_tag_bigram(self) -> bool:
        """True if the template reads the previous tag instead of the input."""
        return not self.atoms

    def __str__(self) -> str:
        atoms = "".join(map(str, self.atoms))
        return _TAG_BIGRAM + atoms if self.is_edge else atoms or _TAG_BIGRAM


TAG_BIGRAM = Template(())


def parse_template(text: str, known: Collection[str]) -> Template:
    """Read one template in the notation of this module.

    text: for example ``"c-1c0"`` or ``"t-1t0c0"``; white space is ignored.
    known: the names of the atoms that the task fills.
    Raises ValueError if the notation is broken, an atom is unknown or repeated, there are more
    than `MAX_ATOMS` atoms, or an offset lies outside ±`MAX_OFFSET`.
    """
    squeezed = "".join(text.split())
    if squeezed in _TAG_BIGRAM_SPELLINGS:
        return TAG_BIGRAM
    atoms: list[Atom] = []
    is_edge = squeezed.startswith(_TAG_BIGRAM_SPELLINGS)
    place = len(_TAG_BIGRAM) if is_edge else 0
    # One after the other: a search would try every place of what cannot be read.
    while len(atoms) <= MAX_ATOMS and (found := _ATOM.match(squeezed, place)):
        atoms.append(Atom(int(found[2]), found[1]))
        place = found.end()
    if not atoms or (len(atoms) <= MAX_ATOMS and place < len(squeezed)):
        raise ValueError(
            f"feature template {text!r:.80} cannot be read: write atoms with their offsets one "
            f"after the other, as in 'c-1c0', or {_TAG_BIGRAM!r} for the tag bigram, which may "
            f"stand before them, as in '{_TAG_BIGRAM}c0'"
        )
    for atom in atoms:
        if atom.name not in known:
            raise ValueError(
                f"feature template {text!r:.80} reads the atom {atom.name!r:.80}, which this model "
                f"does not have; it has {', '.join(sorted(known))}"
            )
        if abs(atom.offset) > MAX_OFFSET:
            raise ValueError(
                f"feature template {text!r:.80} looks {abs(atom.offset)} positions away; "
                f"{MAX_OFFSET} is the limit"
            )
    if len(atoms) > MAX_ATOMS:
        raise ValueError(f"feature template {text!r:.80} has more than {MAX_ATOMS} atoms")
    if len(set(atoms)) != len(atoms):
        raise ValueError(f"feature template {text!r:.80} reads the same atom twice")
    return Template(tuple(sorted(atoms)), is_edge)


def parse_templates(
    texts: Iterable[str], known: Collection[str], tables: Mapping[str, str] = MappingProxyType({})
) -> tuple[Template, ...]:
    """Read several templates; each item may itself hold several, parted by ``|``.

    tables: templates by name; the name may stand in place of a template.
    Repeated templates are kept once, at their first place. Raises ValueError as `parse_template`
    does, and if there is no template at all.
    """
    parts = [part.strip() for text in texts for part in text.split("|")]
    expanded = [part for named in parts for part in tables.get(named, named).split("|")]
    try:
        templates = tuple(
            dict.fromkeys(parse_template(part, known) for part in expanded if part.strip())
        )
    except ValueError as error:
        if not tables:
            raise
        raise ValueError(f"{error}; tables of templates are {', '.join(tables)}") from error
    if not templates:
        raise ValueError("the list of feature templates is empty; name at least one, e.g. 'c0'")
    return templates
