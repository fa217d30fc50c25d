"""The templates of parsers against the tables of the papers, in their compact notation."""

from __future__ import annotations

import re

import pytest
from looped import looped

from spacy_structreg.features.dependencies import (
    ARC_EAGER_TABLES,
    ARC_STANDARD_TABLES,
    COMBINED,
    GRAPH,
    MERGING,
    RICH,
    RICH_PLUS,
    RICH_PLUS_CHARACTERS,
    TRANSITION,
    ZHANG_CLARK,
)
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.tasks.dependencies.arc_eager import (
    ARC_ATOMS,
    ARC_EAGER_ATOMS,
    ARC_EAGER_EVENTS,
)
from spacy_structreg.tasks.dependencies.arc_standard import ARC_STANDARD_ATOMS, ARC_STANDARD_EVENTS

Seen = set[tuple[str, frozenset[str]]]
"""Templates by their events and atoms, in whatever order."""

# Zhang & Clark 2011, Table 13; the last line is not in Zhang & Nivre 2011.
TABLE_13 = """
S0wt S0w S0t N0wt N0w N0t N1wt N1w N1t
S0wtN0wt S0wtN0w S0wN0wt S0wtN0t S0tN0wt S0wN0w S0tN0t N0tN1t
N0tN1tN2t S0tN0tN1t S0htS0tN0t S0tS0ltN0t S0tS0rtN0t S0tN0tN0lt
"""
LAST_OF_TABLE_13 = "N0wN1tN2t S0tN0wN1t S0htS0tN0w S0tS0ltN0w S0tS0rtN0w S0tN0wN0lt"
# Zhang & Nivre 2011, Tables 1 and 2: what they add.
NON_LOCAL = """
N2wt N2w N2t
S0wD S0tD N0wD N0tD S0wN0wD S0tN0tD
S0wS0vr S0tS0vr S0wS0vl S0tS0vl N0wN0vl N0tN0vl
S0hw S0ht S0label S0lw S0lt S0llabel S0rw S0rt S0rlabel N0lw N0lt N0llabel
S0h2w S0h2t S0hlabel S0l2w S0l2t S0l2label S0r2w S0r2t S0r2label N0l2w N0l2t N0l2label
S0tS0ltS0l2t S0tS0rtS0r2t S0tS0htS0h2t N0tN0ltN0l2t
S0wS0sr S0tS0sr S0wS0sl S0tS0sl N0wN0sl N0tN0sl
"""
# Huang & Sagae 2010, Table 1, with N for the queue.
HUANG_SAGAE = """
S0w S0t S0wt S1w S1t S1wt N0w N0t N0wt
S0wS1w S0tS1t S0tN0t S0wtS1t S0tS1wt S0wS1wt S0wtS1w S0wtS1wt
S0tN0tN1t S1tS0tN0t S0wN0tN1t S1tS0wN0t
S1tS1ltS0t S1tS1rtS0t S1tS0tS0rt S1tS1ltS0w S1tS1rtS0w S1tS0wS0lt
S2tS1tS0t
"""
# Zhang & Clark 2011, Table 14, in its rows: parent, child, both, a tag between, their neighbors,
# then siblings. P, C and S stand for parent, child and sibling, L and R for neighbors.
ROWS_OF_ARCS = """
Pw Pt Pwt Cw Ct Cwt PwtCwt PwtCw PwCwt PwtCt PtCwt PwCw PtCt PtBCt
PtCtPLtCLt PtCtPLtCRt PtCtPRtCLt PtCtPRtCRt PtPLtCLt PtPLtCRt PtPRtCLt PtPRtCRt
CtPLtCLt CtPLtCRt CtPRtCLt CtPRtCRt PtCtPLt PtCtPRt PtCtCLt PtCtCRt
"""
ROW_OF_SIBLINGS = "CwSw CtSt CwSt CtSw PtCtSt"

ATOM = re.compile(r"(S0[+-]1|[SN]-?\d(?:[hlrp]2?)?)(label|v[lr]|s[lr]|wt|w|t)|(B)|(D)")


def atoms_of(compact: str) -> frozenset[str]:
    names: list[str] = []
    place = 0
    for match in ATOM.finditer(compact):
        assert match.start() == place, compact
        place = match.end()
        if match[3]:
            names.append("between(S0,N0)")
        elif match[4]:
            names.append("dist(S0,N0)")
        else:
            fields = ["w", "t"] if match[2] == "wt" else [match[2]]
            names += [f"{match[1]}{name}" for name in fields]
    assert place == len(compact), compact
    return frozenset(names)


def expanded(*texts: str, event: str = "action") -> Seen:
    found = [(event, atoms_of(compact)) for compact in " ".join(texts).split()]
    assert len(set(found)) == len(found)
    return set(found)


def parsed(table: str, system: str = "arc_eager") -> tuple[StateTemplate, ...]:
    if system == "arc_eager":
        return parse_state_templates(
            [table], ARC_EAGER_EVENTS, ARC_EAGER_ATOMS, own_atoms={"arc": ARC_ATOMS}
        )
    return parse_state_templates([table], ARC_STANDARD_EVENTS, ARC_STANDARD_ATOMS)


def seen(table: str, system: str = "arc_eager") -> Seen:
    templates = parsed(table, system)
    found = {(template.event, frozenset(template.atoms)) for template in templates}
    assert len(found) == len(templates)
    return found


def test_transition_templates_are_those_of_table_13() -> None:
    assert seen(TRANSITION) == expanded(TABLE_13, LAST_OF_TABLE_13)
    assert len(seen(TRANSITION)) == 29


def test_rich_templates_are_those_of_zhang_and_nivre() -> None:
    assert seen(RICH) == expanded(TABLE_13, NON_LOCAL)
    assert len(seen(RICH)) == 72


def test_further_templates_are_added_to_the_rich_ones() -> None:
    more = "S0wtN0wtN1t S1tS0tN0t S1wN0w S1tS0tN0tN1t S0wN0tN1t N-1tN0t"
    assert seen(RICH_PLUS) == seen(RICH) | expanded(more)
    characters = [
        "end(S0) S0t", "end(N0) N0t", "end(S0) end(N0)", "end(S0) S0t N0t", "end(N0) S0t N0t",
        "start(N0) N0t", "start(S0) S0t", "len(S0) len(N0) S0t N0t", "end(S0) N0w", "S0w end(N0)",
        "end(N1) end(N0) S0t",
    ]  # fmt: skip
    assert seen(RICH_PLUS_CHARACTERS) == seen(RICH_PLUS) | {
        ("action", frozenset(text.split())) for text in characters
    }


def test_merging_templates_are_those_of_huang_and_sagae() -> None:
    assert seen(MERGING, "arc_standard") == expanded(HUANG_SAGAE)
    assert len(seen(MERGING, "arc_standard")) == 28


@looped(
    ("event", "names", "between", "distances"),
    [
        (
            "left",
            {"PL": "N-1", "PR": "N1", "CL": "S0-1", "CR": "S0+1", "P": "N0", "C": "S0", "S": "N0l"},
            "between(S0,N0)",
            ["dist(S0,N0)", "dist(S0,N0l)"],
        ),
        (
            "right",
            {"PL": "S0-1", "PR": "S0+1", "CL": "N-1", "CR": "N1", "P": "S0", "C": "N0", "S": "S0r"},
            "between(S0,N0)",
            ["dist(S0,N0)", "dist(S0r,N0)"],
        ),
        (
            "arc",
            {"PL": "P-1", "PR": "P+1", "CL": "C-1", "CR": "C+1"},
            "between(P,C)",
            [],
        ),
    ],
)
def test_graph_templates_of_arcs_are_those_of_table_14(
    event: str, names: dict[str, str], between: str, distances: list[str]
) -> None:
    """Rows 1 to 6 as they are, and with the direction and a distance."""

    def row(texts: str, *more: str) -> Seen:
        found = set()
        for text in texts.split():
            atoms = set(more)
            for node, fields in re.findall(r"(B|[PC][LR](?=t)|[PCS])(wt|w|t|)", text):
                named = names.get(node, node)
                atoms |= {named + field for field in fields} if node != "B" else {between}
            found.add((event, frozenset(atoms)))
        assert len(found) == len(texts.split())
        return found

    expected = row(ROWS_OF_ARCS, *distances[:1]) | row(ROW_OF_SIBLINGS, *distances[1:])
    if event == "arc":
        expected |= {("arc", frozenset(["Pt", "Ct", "Clt"]))}
    assert len(expected) == 30 + 5 + (event == "arc")
    assert {found for found in seen(GRAPH) if found[0] == event} == expected
    if event != "arc":
        # When the arc is made a word to the left has its children on both sides, the next its left.
        grandchildren = {"left": "N0tS0tS0lt N0tS0tS0rt", "right": "S0tN0tN0lt"}[event]
        expected |= row(ROWS_OF_ARCS) | row(ROW_OF_SIBLINGS) | expanded(grandchildren, event=event)
        assert {found for found in seen(COMBINED) if found[0] == event} == expected


@looped(("table", "grandchild"), [(ZHANG_CLARK, "S0pt"), (COMBINED, "S0ht")])
def test_graph_templates_of_words_that_are_complete(table: str, grandchild: str) -> None:
    others = {found for found in seen(table) if found[0] not in ("left", "right", "arc")}
    assert others == seen(TRANSITION) | expanded(
        f"{grandchild}S0tS0rt S0tS0vr S0wtS0vr", event="pop"
    ) | expanded("N0tN0vl N0wtN0vl", event="push")


def test_all_tables_can_be_parsed() -> None:
    tables = {name: seen(table) for name, table in ARC_EAGER_TABLES.items()}
    assert tables["lean"] < tables["rich+characters"]
    assert all(seen(table, "arc_standard") for table in ARC_STANDARD_TABLES.values())
    with pytest.raises(ValueError, match="reads the atom"):
        parsed(RICH, "arc_standard")
