"""Template tables of dependency parsers, as data.

Atoms and events are those of `tasks.dependencies.arc_eager` and `tasks.dependencies.arc_standard`.
"""

from __future__ import annotations

from typing import Final

# What the tables of arc-eager parsing have in common (Zhang & Clark 2011, Table 13, without its
# last six templates).
_COMMON: Final = """
action: S0w S0t | S0w | S0t | N0w N0t | N0w | N0t | N1w N1t | N1w | N1t
action: S0w S0t N0w N0t | S0w S0t N0w | S0w N0w N0t | S0w S0t N0t | S0t N0w N0t | S0w N0w | S0t N0t
action: N0t N1t
action: N0t N1t N2t | S0t N0t N1t | S0ht S0t N0t | S0t S0lt N0t | S0t S0rt N0t | S0t N0t N0lt
"""

TRANSITION: Final = f"""{_COMMON}
action: N0w N1t N2t | S0t N0w N1t | S0ht S0t N0w | S0t S0lt N0w | S0t S0rt N0w | S0t N0w N0lt
"""
"""The transition templates of Zhang & Clark 2011, Table 13."""

# Of the words and the tags of a parent and a child; and of a tag between and of their neighbors.
_PAIRS: Final = """
{p}w | {p}t | {p}w {p}t | {c}w | {c}t | {c}w {c}t
{p}w {p}t {c}w {c}t | {p}w {p}t {c}w | {p}w {c}w {c}t | {p}w {p}t {c}t | {p}t {c}w {c}t
{p}w {c}w | {p}t {c}t | {p}t {between} {c}t
"""
_AROUND: Final = "{p}t {c}t {x}t {y}t | {p}t {x}t {y}t | {c}t {x}t {y}t"
_SIBLINGS: Final = "{c}w {s}w | {c}t {s}t | {c}w {s}t | {c}t {s}w | {p}t {c}t {s}t"


def _arc(
    event: str,
    parent: tuple[str, str, str],
    child: tuple[str, str, str],
    sibling: str,
    *,
    between: str,
    distances: tuple[str, str] = ("", ""),
) -> str:
    """Templates 1 to 6 of Zhang & Clark 2011, Table 14, on an event.

    parent, child: nodes of the word and of its neighbors on the left and on the right.
    between: the tags between the two. distances: what else they join, of the arc and of child and
    sibling.
    """
    (p, *beside_parent), (c, *beside_child) = parent, child
    texts = _PAIRS.format(p=p, c=c, between=between).strip().replace("\n", " | ").split(" | ")
    for x in beside_parent:
        for y in beside_child:
            texts += _AROUND.format(p=p, c=c, x=x, y=y).split(" | ")
    texts += [f"{p}t {c}t {x}t" for x in (*beside_parent, *beside_child)]
    siblings = _SIBLINGS.format(p=p, c=c, s=sibling).split(" | ")
    lines = [f"{text} {distances[0]}" for text in texts]
    lines += [f"{text} {distances[1]}" for text in siblings]
    return "\n".join(f"{event}: {line.rstrip()}" for line in lines)


_NEXT: Final = ("N0", "N-1", "N1")
_TOP: Final = ("S0", "S0-1", "S0+1")
_BETWEEN: Final = "between(S0,N0)"
_FAR: Final = f"""
{_arc("left", _NEXT, _TOP, "N0l", between=_BETWEEN, distances=("dist(S0,N0)", "dist(S0,N0l)"))}
{_arc("right", _TOP, _NEXT, "S0r", between=_BETWEEN, distances=("dist(S0,N0)", "dist(S0r,N0)"))}
"""
_ARITIES: Final = "pop: S0t S0vr | S0w S0t S0vr\npush: N0t N0vl | N0w N0t N0vl\n"

GRAPH: Final = f"""
{_arc("arc", ("P", "P-1", "P+1"), ("C", "C-1", "C+1"), "S", between="between(P,C)")}{_FAR}
arc: Pt Ct Clt
pop: S0pt S0t S0rt
{_ARITIES}"""
"""The graph templates of Zhang & Clark 2011, Table 14, each at the earliest action at which all
that it reads is known: the rightmost grandchild and the right arity when a word is popped, the left
arity when it is pushed. Templates 1 to 6 stand once without the direction of the arc and its label,
and once with both and with the distance of the two words, of siblings with that of child and
sibling. The grandchild and the arity of what is never popped, on the right of the root, are not
counted."""

ZHANG_CLARK: Final = f"{TRANSITION}{GRAPH}"
"""The combined parser of Zhang & Clark 2011: Tables 13 and 14."""

DIRECTED_GRAPH: Final = f"""
{_arc("left", _NEXT, _TOP, "N0l", between=_BETWEEN)}
{_arc("right", _TOP, _NEXT, "S0r", between=_BETWEEN)}{_FAR}
left: N0t S0t S0lt | N0t S0t S0rt
right: S0t N0t N0lt
pop: S0ht S0t S0rt
{_ARITIES}"""
"""`GRAPH`, but with the direction and the label of the arc in all templates of arcs."""

COMBINED: Final = f"{TRANSITION}{DIRECTED_GRAPH}"
"""The templates of transitions, and those of graphs with the direction of arcs and their labels."""

RICH: Final = f"""{_COMMON}
action: N2w N2t | N2w | N2t
action: S0w dist(S0,N0) | S0t dist(S0,N0) | N0w dist(S0,N0) | N0t dist(S0,N0)
action: S0w N0w dist(S0,N0) | S0t N0t dist(S0,N0)
action: S0w S0vr | S0t S0vr | S0w S0vl | S0t S0vl | N0w N0vl | N0t N0vl
action: S0hw | S0ht | S0label | S0lw | S0lt | S0llabel | S0rw | S0rt | S0rlabel
action: N0lw | N0lt | N0llabel
action: S0h2w | S0h2t | S0hlabel | S0l2w | S0l2t | S0l2label | S0r2w | S0r2t | S0r2label
action: N0l2w | N0l2t | N0l2label
action: S0t S0lt S0l2t | S0t S0rt S0r2t | S0t S0ht S0h2t | N0t N0lt N0l2t
action: S0w S0sr | S0t S0sr | S0w S0sl | S0t S0sl | N0w N0sl | N0t N0sl
"""
"""The templates of Zhang & Nivre 2011."""

RICH_PLUS: Final = f"""{RICH}
action: S0w S0t N0w N0t N1t | S1t S0t N0t | S1w N0w | S1t S0t N0t N1t | S0w N0t N1t | N-1t N0t
"""
"""`RICH`, with the second word of the stack and the words around the front of the queue."""

RICH_PLUS_CHARACTERS: Final = f"""{RICH_PLUS}
action: end(S0) S0t | end(N0) N0t | end(S0) end(N0) | end(S0) S0t N0t | end(N0) S0t N0t
action: start(N0) N0t | start(S0) S0t | len(S0) len(N0) S0t N0t
action: end(S0) N0w | S0w end(N0) | end(N1) end(N0) S0t
"""
"""`RICH_PLUS`, with the first and last characters and the lengths of words."""

LEAN: Final = """
action: S0t | N0w | N0t | N1w | N1t | S0w S0t N0t | S0w N0w | S0t N0t | N0t N1t | S0t N0t N1t
action: S0ht S0t N0t | S0t S0lt N0t | S0t S0rt N0t | S0t N0t N0lt | N2w N2t | N2w | N2t
action: N0w dist(S0,N0) | S0w S0vr | S0t S0vr | S0w S0vl | S0t S0vl | N0t N0vl | S0hw | S0label
action: S0lt | S0llabel | S0rt | N0lw | N0lt | N0llabel | S0h2w | S0h2t | S0l2w | S0l2t
action: S0l2label | S0r2w | S0r2t | S0r2label | N0l2w | S0t S0rt S0r2t | S0t S0ht S0h2t
action: N0t N0lt N0l2t | S0w S0sr | S0t S0sr | S0w S0sl | S0t S0sl | N0w N0sl | N0t N0sl
action: S1t S0t N0t | S1w N0w | S1t S0t N0t N1t | S0w N0t N1t | N-1t N0t | end(S0) S0t
action: end(N0) N0t | end(S0) S0t N0t | end(N0) S0t N0t | start(N0) N0t | start(S0) S0t
action: len(S0) len(N0) S0t N0t | end(N1) end(N0) S0t
"""
"""`RICH_PLUS_CHARACTERS` without the third that a parser of Chinese misses least: templates were
taken away, always those without which heads and labels of the dev set came out best."""

_CLASSES: Final = """
action: class({p}) | class({c}) | class({p}) {p}t | class({c}) {c}t | class({p}) class({c})
action: class({p}) {c}t | {p}t class({c}) | class6({p}) class6({c}) | class4({p}) class4({c})
action: class6({p}) {p}t {c}t | {p}t {c}t class6({c})
action: class4({p}) {p}t {c}t | {p}t {c}t class4({c})
"""
# Classes of the two words that an action may join, with their tags, and the beginnings of their
# paths, which are added where there are classes: after Koo, Carreras & Collins 2008, section 3.

ARC_EAGER_TABLES: Final = {
    "classes": f"{_CLASSES.format(p='S0', c='N0')}action: class(N1) | class(S0h) class(S0)\n",
    "transition": TRANSITION,
    "combined": COMBINED,
    "zhang_clark_2011": ZHANG_CLARK,
    "rich": RICH,
    "rich+": RICH_PLUS,
    "rich+characters": RICH_PLUS_CHARACTERS,
    "lean": LEAN,
}
"""Tables that an arc-eager parser may name instead of listing templates."""

MERGING: Final = """
action: S0w | S0t | S0w S0t | S1w | S1t | S1w S1t | N0w | N0t | N0w N0t
action: S0w S1w | S0t S1t | S0t N0t | S0w S0t S1t | S0t S1w S1t | S0w S1w S1t | S0w S0t S1w
action: S0w S0t S1w S1t
action: S0t N0t N1t | S1t S0t N0t | S0w N0t N1t | S1t S0w N0t
action: S1t S1lt S0t | S1t S1rt S0t | S1t S0t S0rt | S1t S1lt S0w | S1t S1rt S0w | S1t S0w S0lt
action: S2t S1t S0t
"""
"""The templates of Huang & Sagae 2010, which see little, so that many states look alike."""

ARC_STANDARD_TABLES: Final = {
    "classes": _CLASSES.format(p="S1", c="S0"),
    "merging": MERGING,
}
"""Tables that an arc-standard parser may name instead of listing templates."""
