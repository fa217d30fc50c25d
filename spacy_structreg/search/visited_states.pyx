"""States of a derivation, for inspection and explanations.

Nothing here is fast, and nothing is shared with the scorer: what is found goes by the contract of
`search.transition_system` alone.
"""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from spacy_structreg.learn.memory cimport BufferOwner, reserve
from spacy_structreg.search.transition_system cimport (
    MAX_ATOMS_OF_TASK,
    AtomSet,
    TransitionSystem,
    add_atom,
)

from typing import NamedTuple


class VisitedState(NamedTuple):
    """A state, and the action that was taken in it.

    legal: the actions that might have been taken, rising; the one that was is among them.
    external: of each of these the score of another model; empty if there is none.
    atoms: by name, their values.
    """

    action: int
    legal: list
    external: dict
    atoms: dict


def visited_states(TransitionSystem system not None, actions):
    """The `VisitedState`s of a sequence of actions from the first state of the loaded sentence.

    Raises ValueError for an action that does not exist, and for one after the last.
    """
    cdef BufferOwner scratch = BufferOwner()
    cdef char* states = NULL
    cdef uint8_t* mask = NULL
    cdef uint64_t values[MAX_ATOMS_OF_TASK]
    cdef const uint64_t* many = NULL
    cdef const char* state
    cdef AtomSet wanted
    cdef Py_ssize_t size = system.state_size
    cdef Py_ssize_t n
    cdef Py_ssize_t v
    cdef int n_atoms = len(system.atoms)
    cdef int action
    cdef int a
    cdef int i
    multi = [name in system.multi_valued for name in system.atoms]
    memset(&wanted, 0, sizeof(AtomSet))
    for a in range(n_atoms):
        if not multi[a]:
            add_atom(&wanted, a)
    reserve(&scratch.buffers, states, 2 * size)
    reserve(&scratch.buffers, mask, max(1, system.n_actions))
    system.init(states)
    visited = []
    for i, action in enumerate(actions):
        state = states + (i % 2) * size
        if not 0 <= action < system.n_actions:
            raise ValueError(f"there is no action {action}")
        if system.is_final(state) and not system.slots.ends_early:
            raise ValueError(f"the sentence has ended before action {i}")
        memset(mask, 0, system.n_actions)
        system.legal(state, mask)
        # That of another model may be one that this one's lists rule out.
        mask[action] = 1
        legal = [each for each in range(system.n_actions) if mask[each]]
        external = {}
        if system.has_external_score:
            external = {each: system.external_score(state, each) for each in legal}
        memset(values, 0, sizeof(values))
        system.fill_atoms(state, &wanted, values)
        atoms = {}
        for a in range(n_atoms):
            if not multi[a]:
                atoms[system.atoms[a]] = [values[a]]
                continue
            n = system.multi_values(state, a, &many)
            atoms[system.atoms[a]] = [many[v] for v in range(n)]
        visited.append(VisitedState(action, legal, external, atoms))
        system.reserve_states(1)
        system.apply(state, action, states + (1 - i % 2) * size)
    return visited


def fired_events(TransitionSystem system not None):
    """The events that each action fires: of each the name, and the column of its scores."""
    names = list(system.events)
    return [
        [
            (names[system.fired[i].event], system.fired[i].column)
            for i in range(system.first_fired[action], system.first_fired[action + 1])
        ]
        for action in range(system.n_actions)
    ]
