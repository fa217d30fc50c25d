"""The notation of templates over states, and the groups of those that see the same anchors."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.features.joint import (
    JOINT_TABLES,
    ZHANG_CLARK_2011,
)
from spacy_structreg.features.state_templates import (
    MAX_STATE_ATOMS,
    Group,
    StateTemplate,
    group_templates,
    parse_state_templates,
)
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms
from spacy_structreg.tasks.segmentation.words import WordTransitions

EVENTS = ("go", "stop")
ATOMS = ("a", "b-1", "len(b)", *(f"n{i}" for i in range(10)))
# The anchors that atoms depend on.
ANCHORS = {name: {i % 3, i % 5} for i, name in enumerate(ATOMS)}

templates = st.builds(
    StateTemplate,
    st.sampled_from(EVENTS),
    st.lists(st.sampled_from(ATOMS), min_size=1, max_size=MAX_STATE_ATOMS, unique=True).map(tuple),
)


def parse(*texts: str, tables: dict[str, str] | None = None) -> tuple[StateTemplate, ...]:
    return parse_state_templates(texts, EVENTS, ATOMS, tables)


def go(*atoms: str) -> StateTemplate:
    return StateTemplate("go", atoms)


def stop(*atoms: str) -> StateTemplate:
    return StateTemplate("stop", atoms)


@looped(
    ("texts", "expected"),
    [
        (["go: a b-1"], [go("a", "b-1")]),
        # They are parted by bars and line breaks.
        (["go: a | b-1\nlen(b) a |\n\n| a b-1"],
         [go("a"), go("b-1"), go("len(b)", "a"), go("a", "b-1")]),
        # An event holds until the next one of the same text.
        (["go: a | b-1\nstop: a\nb-1 | go: len(b)"],
         [go("a"), go("b-1"), stop("a"), stop("b-1"), go("len(b)")]),
        # White space does not count, but the order of atoms does.
        (["  go :\ta   b-1 ", "go:b-1 a"], [go("a", "b-1"), go("b-1", "a")]),
        # What is repeated stays at its first place.
        (["go: a | b-1 | a", "stop: a", "go: b-1"], [go("a"), go("b-1"), stop("a")]),
    ],
)  # fmt: skip
def test_templates_are_events_and_atoms(texts: list[str], expected: list[StateTemplate]) -> None:
    assert parse(*texts) == tuple(expected)


def test_an_event_does_not_hold_for_the_next_text() -> None:
    with pytest.raises(ValueError, match="'b-1' names no event"):
        parse("go: a", "b-1")


def test_tables_are_called_by_their_names() -> None:
    tables = {"all": "go: a | b-1", "more": "stop: a"}
    assert parse(" all ", "go: len(b) | a", "more", tables=tables) == (
        go("a"), go("b-1"), go("len(b)"), stop("a"),
    )  # fmt: skip
    with pytest.raises(
        ValueError, match=r"'most' names no event.*tables of templates are all, more"
    ):
        parse("most", tables=tables)


@looped(
    ("text", "complaint"),
    [
        ("a b-1", "'a b-1' names no event: write for example 'go: a'"),
        ("wait: a", "the event 'wait', which this model does not have; it has go, stop"),
        (": a", "the event ''"),
        ("go: stop: a", "the event 'go: stop'"),
        ("go: a c", "the atom 'c', which this model does not have; it has a, b-1"),
        ("go: A", "the atom 'A'"),
        ("go:", "'go:' has no atoms"),
        ("go: | a", "'go:' has no atoms"),
        ("go: a b-1 a", "'go: a b-1 a' reads the same atom twice"),
        ("go: " + " ".join(ATOMS[: MAX_STATE_ATOMS + 1]), "has more than 8 atoms"),
    ],
)
def test_broken_templates_are_quoted_and_explained(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(complaint)) as error:
        parse(text)
    assert text.partition("|")[0].strip() in str(error.value)


def test_an_event_may_mean_something_alone() -> None:
    def parse_with_bare_go(text: str) -> tuple[StateTemplate, ...]:
        return parse_state_templates([text], EVENTS, ATOMS, without_atoms=["go"])

    assert parse_with_bare_go("go: | a | stop: a") == (go(), go("a"), stop("a"))
    assert str(go()) == "go:"
    assert parse_with_bare_go(str(go())) == (go(),)
    with pytest.raises(ValueError, match="'stop:' has no atoms"):
        parse_with_bare_go("go: | stop:")


@looped("texts", [[], [""], [" | ", "\n"]])
def test_a_model_without_templates_is_refused(texts: list[str]) -> None:
    with pytest.raises(ValueError, match="empty"):
        parse(*texts)


@given(st.lists(templates, min_size=1, unique=True), st.sampled_from([" | ", "\n", "|\n|"]))
def test_what_is_written_is_read(written: list[StateTemplate], mark: str) -> None:
    assert parse(*map(str, written)) == tuple(written)
    assert parse(mark.join(map(str, written))) == tuple(written)


@given(st.text(alphabet="go:|\n stpabn1-", max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parsed = parse(text)
    except ValueError:
        return
    assert parse(*map(str, parsed)) == parsed


def test_groups_share_an_event_and_anchors() -> None:
    anchors = {"a": [2, 0], "b": [0], "c": [2], "d": []}
    parsed = (go("b"), go("a"), stop("a"), go("c", "b"), go("d"), go("b", "d"))
    assert group_templates(parsed, anchors) == (
        Group("go", (0,), (go("b"), go("b", "d"))),
        Group("go", (0, 2), (go("a"), go("c", "b"))),
        Group("stop", (0, 2), (stop("a"),)),
        Group("go", (), (go("d"),)),
    )


@given(st.lists(templates, unique=True))
def test_every_template_is_in_one_group(given_: list[StateTemplate]) -> None:
    groups = group_templates(given_, ANCHORS)
    assert sorted(map(str, given_)) == sorted(str(t) for group in groups for t in group.templates)
    assert len({(group.event, group.anchors) for group in groups}) == len(groups)
    for group in groups:
        # The templates keep their order.
        assert list(group.templates) == [t for t in given_ if t in group.templates]
        for template in group.templates:
            seen = set().union(*(ANCHORS[atom] for atom in template.atoms))
            assert (template.event, tuple(sorted(seen))) == (group.event, group.anchors)


def test_the_templates_of_zhang_and_clark() -> None:
    # Table 1 of the paper, its templates numbered from 1 to 14.
    separate = [
        "w-1", "w-1 w-2", "one(w-1)", "start(w-1) len(w-1)", "end(w-1) len(w-1)", "end(w-1) c0",
        "start(w-1) end(w-1)", "w-1 c0", "end(w-2) w-1", "start(w-1) c0", "end(w-2) end(w-1)",
        "w-2 len(w-1)", "len(w-2) w-1",
    ]  # fmt: skip
    expected = {f"separate: {atoms}" for atoms in separate} | {"append: c-1 c0"}
    system = WordTransitions(CharacterAtoms("extended"))
    parsed = parse_state_templates([ZHANG_CLARK_2011], system.events, system.atoms)
    assert {str(template) for template in parsed} == expected


@looped("name", JOINT_TABLES)
def test_every_table_fits_its_task(name: str) -> None:
    system = WordTransitions(CharacterAtoms("extended"), 3)
    parsed = parse_state_templates([name], system.events, system.atoms, JOINT_TABLES)
    assert len(parsed) == len(set(parsed)) > 0
    without_tags = WordTransitions(CharacterAtoms("extended"))
    if name in ("zhang_clark_2011_joint", "listed_tags"):
        with pytest.raises(ValueError, match="the event 'tag'"):
            parse_state_templates([name], without_tags.events, system.atoms, JOINT_TABLES)
    else:
        assert (
            parse_state_templates([name], without_tags.events, system.atoms, JOINT_TABLES) == parsed
        )
