"""Dependency trees over the words of a sentence, and projectivization.

Words are counted from 0; the head of a root is `ROOT`, -1, and that of a word whose head nobody has
annotated is None. A tree may have several roots, as some treebanks do.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

ROOT = -1
"""Head of a root, in place of a position."""
DEPENDENCY = "dep"
"""Relation of which no more is known: of words that no rule fits, in trees without labels, and of
white space."""


@dataclass(frozen=True, slots=True)
class Parse:
    """A predicted tree.

    heads: the index of each word's head, `ROOT` for the root.
    labels: the relation of each word to its head.

    Raises ValueError if there are more of one than of the other.
    """

    heads: tuple[int, ...]
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.heads) != len(self.labels):
            raise ValueError(
                f"{len(self.labels)} labels for {len(self.heads)} heads; give one for each"
            )


def find_circle(heads: Sequence[int | None]) -> list[int]:
    """Return the words of one cycle of heads, from the first of them on; empty without a cycle."""
    # The word from which each word was first reached; a word met twice from one start is in a
    # circle.
    start_of: dict[int, int] = {}
    for start in range(len(heads)):
        word: int | None = start
        while word is not None and word != ROOT and word not in start_of:
            start_of[word] = start
            word = heads[word]
        if word is not None and start_of.get(word) == start:
            circle = [word]
            while (above := heads[circle[-1]]) != word:
                assert above is not None
                circle.append(above)
            return circle
    return []


def is_projective(heads: Sequence[int | None]) -> bool:
    """True if a tree is projective; of a part of a tree, if it is part of a projective one.

    heads: without circles. A tree is projective when every word between a word and its head is
    below that head. Arcs do not cross then, the one to each root from beyond the left end of the
    sentence among them; and where the head of a word is not known, no arc between words below it
    may span that word.
    """
    # From left to right, outer arcs first: those that are still open lie in one another.
    arcs = [
        (word, -head) if word < head else (head, -word)
        for word, head in enumerate(heads)
        if head is not None
    ]
    open_ends: list[int] = []
    for left, inverse in sorted(arcs):
        right = -inverse
        while open_ends and open_ends[-1] <= left:
            open_ends.pop()
        if open_ends and open_ends[-1] < right:
            return False
        open_ends.append(right)
    if None not in heads:
        return True
    tops = _tops(heads)
    return not any(
        head is not None and min(word, head) < tops[word] < max(word, head)
        for word, head in enumerate(heads)
    )


def projectivize(heads: Sequence[int | None]) -> tuple[int | None, ...]:
    """The heads of a projective tree close to a tree, which stays as it is if it is projective.

    heads: without circles. While an arc is not projective, the shortest such (the first of equal
    ones) is lifted: its word gets the head of its head (Nivre and Nilsson 2005, "Pseudo-projective
    dependency parsing", section 2). That may make a word a further root only if there were several.
    Its head is unknown then if the head of its head was, and, in a part of a tree, if that would
    make it a second root. Labels stay what they are.
    """
    lifted = list(heads)
    if is_projective(lifted):
        return tuple(lifted)
    one_root = lifted.count(ROOT) == 1
    dependents: list[set[int]] = [set() for _ in lifted]
    # Every arc that may not be projective, by its length.
    queue: list[tuple[int, int]] = []
    for word, head in enumerate(lifted):
        if head is not None and head != ROOT:
            dependents[head].add(word)
            queue.append((abs(word - head), word))
    heapq.heapify(queue)
    while queue:
        length, word = heapq.heappop(queue)
        head = lifted[word]
        # An arc may be queued more than once, and another time under the length it had.
        if head is None or head == ROOT or abs(word - head) != length:
            continue
        if _is_projective_arc(word, head, lifted):
            continue
        above = lifted[head]
        if above == ROOT and one_root:
            above = None
        lifted[word] = above
        dependents[head].remove(word)
        if above is not None and above != ROOT:
            dependents[above].add(word)
            heapq.heappush(queue, (abs(word - above), word))
        # What was below the head is not any more: no other arcs can have lost by it.
        for sister in dependents[head]:
            heapq.heappush(queue, (abs(sister - head), sister))
    return tuple(lifted)


def _is_projective_arc(word: int, head: int, heads: Sequence[int | None]) -> bool:
    """Return True if all words in between are, or may become, descendants of the head."""
    left, right = min(word, head), max(word, head)
    seen = {head}
    loose: set[int] = set()
    for between in range(left + 1, right):
        above: int | None = between
        while above is not None and above not in seen:
            if above == ROOT:
                return False
            seen.add(above)
            if heads[above] is None:
                loose.add(above)
            above = heads[above]
    if not loose:
        return True
    # Their tops may be put below the head if they lie, with all below them, under the arc.
    inside = range(left + 1, right)
    return all(top not in loose or at in inside for at, top in enumerate(_tops(heads)))


def _tops(heads: Sequence[int | None]) -> list[int]:
    """The word that each word is below whose head is unknown; `ROOT` for those below a root."""
    tops: list[int | None] = [None] * len(heads)
    for start in range(len(heads)):
        path = [start]
        while tops[path[-1]] is None and (above := heads[path[-1]]) not in (None, ROOT):
            assert above is not None
            path.append(above)
        end = path[-1]
        known = tops[end]
        top = known if known is not None else end if heads[end] is None else ROOT
        for word in path:
            tops[word] = top
    return [ROOT if top is None else top for top in tops]
