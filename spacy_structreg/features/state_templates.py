"""Feature templates over the states of a transition system.

A template is an event and some atoms: ``separate: w-1 c0`` fires on the event *separate*,
with the last word and the current character. Which events and atoms there are is the task's
to say. An atom without a value in a state (*null*) silences the template; padding is a value like
any other. One atom of a template may have many values; the template fires once for each.

Templates are parted by ``|`` or line breaks, atoms by white space; a template without an event of
its own has that of the template before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

MAX_STATE_ATOMS: Final = 8
"""Most atoms of a template."""


@dataclass(frozen=True)
class StateTemplate:
    """The event on which a feature fires, and the atoms that it joins, in their order.

    name: what its features are known by, if not by the event and the atoms.
    """

    event: str
    atoms: tuple[str, ...]
    name: str = ""

    def __str__(self) -> str:
        return self.name or f"{self.event}: {' '.join(self.atoms)}".rstrip()


@dataclass(frozen=True)
class Group:
    """Templates of one event that depend on the same anchors of a state, and on nothing else.

    anchors: their numbers, rising. States that agree in them agree in the scores of the group, so
    that a memo of the scores need not look at the atoms.
    """

    event: str
    anchors: tuple[int, ...]
    templates: tuple[StateTemplate, ...]


def parse_state_templates(
    texts: Iterable[str],
    events: Collection[str],
    atoms: Collection[str],
    tables: Mapping[str, str] | None = None,
    without_atoms: Collection[str] = (),
    *,
    own_atoms: Mapping[str, Collection[str]] | None = None,
) -> tuple[StateTemplate, ...]:
    """Read templates in the notation of this module.

    texts: each holds one template, several, or the name of a table. events, atoms: the names that
    the task knows. tables: templates by name. without_atoms: the events that mean something alone.
    own_atoms: of events that have others than `atoms`, these.
    Repeated templates are kept once, at their first place. Raises ValueError for unknown names, a
    template without an event or atoms, repeated atoms, more than `MAX_STATE_ATOMS` atoms, and if
    there is no template at all.
    """
    tables = tables or {}
    own_atoms = own_atoms or {}
    templates: dict[StateTemplate, None] = {}
    for text in texts:
        event: str | None = None
        for part in tables.get(text.strip(), text).replace("\n", "|").split("|"):
            if not part.strip():
                continue
            named, colon, rest = part.rpartition(":")
            if colon:
                event = named.strip()
            if event is None:
                known = f"; tables of templates are {', '.join(tables)}" if tables else ""
                raise ValueError(
                    f"feature template {part.strip()!r:.80} names no event: write for example "
                    f"'{min(events)}: {min(atoms)}'{known}"
                )
            template = _template(
                part.strip(), event, tuple(rest.split()), events, own_atoms.get(event, atoms)
            )
            if not template.atoms and event not in without_atoms:
                raise ValueError(f"feature template {part.strip()!r:.80} has no atoms")
            templates[template] = None
    if not templates:
        raise ValueError("the list of feature templates is empty")
    return tuple(templates)


def _template(
    text: str, event: str, names: tuple[str, ...], events: Collection[str], atoms: Collection[str]
) -> StateTemplate:
    if event not in events:
        raise ValueError(
            f"feature template {text!r:.80} fires on the event {event!r:.80}, which this model "
            f"does not have; it has {', '.join(sorted(events))}"
        )
    for name in names:
        if name not in atoms:
            raise ValueError(
                f"feature template {text!r:.80} reads the atom {name!r:.80}, which this model "
                f"does not have; it has {', '.join(sorted(atoms))}"
            )
    if len(names) > MAX_STATE_ATOMS:
        raise ValueError(f"feature template {text!r:.80} has more than {MAX_STATE_ATOMS} atoms")
    if len(set(names)) != len(names):
        raise ValueError(f"feature template {text!r:.80} reads the same atom twice")
    return StateTemplate(event, names)


def for_events(
    templates: Iterable[StateTemplate], variants: Mapping[str, Mapping[str, Mapping[str, str]]]
) -> tuple[StateTemplate, ...]:
    """Templates of what several events share, as one for each of these, of the same name.

    variants: by what they share, the events, and of each of them its atoms by the names that
    templates call them.
    """
    return tuple(
        each
        for template in templates
        for each in (
            [
                StateTemplate(event, tuple(map(atoms.__getitem__, template.atoms)), str(template))
                for event, atoms in variants[template.event].items()
            ]
            if template.event in variants
            else [template]
        )
    )


def group_templates(
    templates: Iterable[StateTemplate],
    atom_anchors: Mapping[str, Collection[int]],
    place: Sequence[int] = (),
) -> tuple[Group, ...]:
    """Gather templates into groups, in the order in which the first of each group stands.

    atom_anchors: which anchors of a state each atom depends on. place: an anchor, and others that
    follow from it within a sentence; what depends on several of them depends on the first alone.
    """
    families: dict[tuple[str, tuple[int, ...]], list[StateTemplate]] = {}
    for template in templates:
        anchors = {anchor for atom in template.atoms for anchor in atom_anchors[atom]}
        if len(anchors & set(place)) > 1:
            anchors = anchors - set(place) | {place[0]}
        families.setdefault((template.event, tuple(sorted(anchors))), []).append(template)
    return tuple(
        Group(event, anchors, tuple(members)) for (event, anchors), members in families.items()
    )
