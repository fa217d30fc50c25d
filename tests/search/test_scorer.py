"""Scores of actions: keys, weight rows and groups, worked out by hand and by the twin."""

from __future__ import annotations

import pickle
import struct

import pytest
from agenda_twin import SmallWeights, WordsTwin, agenda_of, empty_tables, table_of
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from twins import murmur_64a

from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms
from spacy_structreg.tasks.segmentation.words import WordTransitions

APPEND, START, END = 0, 1, 2


def parse(system: WordTransitions, *texts: str) -> tuple[StateTemplate, ...]:
    return parse_state_templates(texts, system.events, system.atoms)


def key_of(template: str, *numbers: int) -> int:
    seed = murmur_64a(template.encode())
    return murmur_64a(struct.pack(f"<{1 + len(numbers)}Q", seed, *numbers))


def word(text: str) -> int:
    return murmur_64a(text.encode("utf-32-le"))


def score(
    template: str,
    key: int,
    text: str,
    actions: list[int],
    *,
    n_tags: int = 1,
    half_width: bool = True,
) -> float:
    """The score of a derivation if one key weighs 1, 2, … in the columns of its event."""
    system = WordTransitions(CharacterAtoms("extended", half_width), n_tags)
    event = template.partition(":")[0]
    tables = [
        table_of(width, {key: range(1, width + 1)} if name == event else {})
        for name, width in system.events.items()
    ]
    system.load_text(text)
    return Agenda(StateScorer(system, parse(system, template), tables)).score(actions)


@looped(
    ("template", "numbers", "actions", "expected"),
    [
        # 一二|三: the first word of all, the word before it, the next character.
        ("separate: w-1", [word("一二")], [1, 0, 1, 2], 1),
        ("separate: w-1", [word("三")], [1, 0, 1, 2], 1),
        ("separate: w-1", [1], [1, 0, 1, 2], 1),
        ("separate: w-2", [1], [1, 0, 1, 2], 2),
        ("separate: w-1 w-2", [word("三"), word("一二")], [1, 0, 1, 2], 1),
        ("separate: w-1 c0", [word("一二"), 1 + ord("三")], [1, 0, 1, 2], 1),
        ("separate: w-1 c0", [word("三"), 1 + 0x110000], [1, 0, 1, 2], 1),
        ("separate: one(w-1)", [1 + ord("三")], [1, 0, 1, 2], 1),
        ("separate: len(w-1)", [1 + 2], [1, 0, 1, 2], 1),
        ("separate: len(w-2)", [1], [1, 0, 1, 2], 2),
        ("separate: end(w-2) end(w-1)", [1 + ord("二"), 1 + ord("三")], [1, 0, 1, 2], 1),
        ("separate: start(w-1)", [1 + 0x110000], [1, 0, 1, 2], 1),
        ("append: c-1 c0", [1 + ord("一"), 1 + ord("二")], [1, 0, 1, 2], 1),
        ("append: start(w0)", [1 + ord("一")], [1, 0, 0, 2], 2),
        # The columns of the boundary: 1 for appending, 2 for separating.
        ("boundary: c0", [1 + ord("二")], [1, 0, 1, 2], 1),
        ("boundary: c0", [1 + ord("三")], [1, 0, 1, 2], 2),
        ("boundary: c+1", [1 + 0x110000], [1, 0, 1, 2], 2 + 2),
        ("boundary: c-2", [1 + 0x110000], [1, 0, 1, 2], 2 + 1),
        # Nothing is known of a first character before the first.
        ("boundary: first", [1 + 1], [1, 0, 1, 2], 1 + 2),
        ("boundary: first", [1 + 0], [1, 0, 1, 2], 2),
        ("boundary: first", [0], [1, 0, 1, 2], 0),
        # Every inner character fires: all but the last of the word.
        ("separate: inner(w-1)", [1 + ord("一")], [1, 0, 1, 2], 1),
        ("separate: inner(w-1) end(w-1)", [1 + ord("一"), 1 + ord("三")], [1, 0, 0, 2], 1),
        ("separate: inner(w-1)", [1 + ord("三")], [1, 0, 0, 2], 0),
    ],
)
def test_features_worked_by_hand(
    template: str, numbers: list[int], actions: list[int], expected: float
) -> None:
    assert score(template, key_of(template, *numbers), "一二三", actions) == expected


@looped("length", [14, 15, 16, 40])
def test_lengths_are_told_apart_up_to_fifteen(length: int) -> None:
    key = key_of("separate: len(w-1)", 1 + min(length, 15))
    actions = [START, *[APPEND] * (length - 1), END]
    assert score("separate: len(w-1)", key, "一" * length, actions) == 1


def test_full_width_forms_look_like_half_width_ones() -> None:
    for template, plain in (("separate: w-1", word("A1")), ("append: c0", 1 + ord("1"))):
        key = key_of(template, plain)
        assert score(template, key, "Ａ１", [START, APPEND, END]) == 1
        assert score(template, key, "Ａ１", [START, APPEND, END], half_width=False) == 0


@quick_examples(40)
@given(
    st.data(),
    st.sampled_from([1, 3]),
    st.text(alphabet="我们我Ａ1𠮷。", min_size=1, max_size=25),
    st.booleans(),
)
def test_derivations_score_as_the_twin_says(
    data: st.DataObject, n_tags: int, text: str, memo: bool
) -> None:
    system = WordTransitions(CharacterAtoms(), n_tags)
    template = st.builds(
        StateTemplate,
        st.sampled_from(sorted(system.events)),
        st.lists(st.sampled_from(system.atoms), min_size=1, max_size=8, unique=True).map(tuple),
    )
    templates = data.draw(st.lists(template, min_size=1, max_size=12, unique=True))
    weights = SmallWeights(data.draw(st.integers(0, 99)), system.events)
    twin = WordsTwin(text, templates, weights, n_tags, "extended")
    rest = st.lists(
        st.sampled_from([APPEND, APPEND, *range(START, START + n_tags)]),
        min_size=len(text) - 1,
        max_size=len(text) - 1,
    )
    actions = [START, *data.draw(rest), twin.end]
    expected = twin.score(actions)
    agenda = agenda_of(twin, weights.tables(), 1, memo=memo)
    assert agenda.score(actions) == expected
    assert agenda.score(actions) == expected


# Use ----------------------------------------------------------------------------------------------


@looped(
    "template",
    [
        StateTemplate("jump", ("c0",)),
        StateTemplate("append", ("c7",)),
        StateTemplate("append", ()),
        StateTemplate("tag", ("c0",)),
        StateTemplate("append", ("c0",) * 9),
    ],
)
def test_templates_of_another_task_are_refused(template: StateTemplate) -> None:
    system = WordTransitions(CharacterAtoms())
    with pytest.raises(ValueError, match="does not fit the task") as error:
        StateScorer(system, [template], empty_tables(system))
    assert str(template) in str(error.value)


def test_tables_of_other_events_are_refused() -> None:
    system = WordTransitions(CharacterAtoms(), 3)
    templates = parse(system, "append: c0")
    tables = empty_tables(system)
    for wrong in (tables[:-1], tables[::-1], [*tables, tables[0]], []):
        with pytest.raises(ValueError, match="weight rows of the model do not fit the events"):
            StateScorer(system, templates, wrong)


def test_a_scorer_can_be_pickled() -> None:
    system = WordTransitions(CharacterAtoms("extended", True), 2)
    templates = parse(system, "append: c0 | boundary: type0 c-1 | tag: t-1 | c0 | append: c-1")
    scorer = StateScorer(system, templates, empty_tables(system), False)
    again = pickle.loads(pickle.dumps(scorer))
    assert again.groups == scorer.groups
    assert not again.memo
    assert all(isinstance(table, TrainedRows) for table in again.tables)
    assert again.n_events == 4
