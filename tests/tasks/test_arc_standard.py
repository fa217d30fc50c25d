"""Arc-standard parsing, worked by hand."""

from __future__ import annotations

from agenda_twin import NO_WORD, Feature, Value, table_of
from looped import looped
from parser_twins import NO_NODE, STANDARD, StandardTwin, agenda_of

from spacy_structreg.learn.murmur import hash_string
from spacy_structreg.tasks.word_fields import WordFields

WORDS = ["我", "看", "一", "本", "书", "。"]
TAGS = ["PN", "VV", "CD", "M", "NN", "PU"]
HEADS = [1, -1, 3, 4, 1, 1]
SUBJECT, OBJECT, OTHER = 0, 1, 2
LABELS = [SUBJECT, -1, OTHER, OTHER, OBJECT, OTHER]
SHIFT, LEFT, RIGHT = 0, 1, 4
ACTIONS = [
    SHIFT, SHIFT, LEFT + SUBJECT, SHIFT, SHIFT, LEFT + OTHER, SHIFT, LEFT + OTHER, RIGHT + OBJECT,
    SHIFT, RIGHT + OTHER,
]  # fmt: skip


def word(form: str) -> Value:
    return ("number", WordFields().key_of(form))


def tag(name: str) -> Value:
    return ("number", hash_string(name))


def number(value: int) -> Value:
    return ("number", value)


# With two words on the stack, then three, then two with children of their own, then all but one.
STATES: dict[int, dict[str, list[Value]]] = {
    2: {
        "S0w": [word("看")], "S1w": [word("我")], "S2w": [NO_NODE], "N0t": [tag("CD")],
        "S0lw": [NO_NODE],
        "S1rt": [NO_NODE], "S0llabel": [], "dist(S1,S0)": [number(1)], "len(S0)": [number(3)],
    },
    7: {
        "S0w": [word("书")], "S1w": [word("本")], "S2w": [word("看")], "S1lw": [word("一")],
        "S1llabel": [number(1 + OTHER)], "S1rw": [NO_NODE], "S0lw": [NO_NODE], "N0t": [tag("PU")],
        "N1t": [NO_WORD], "N3w": [NO_WORD], "dist(S1,S0)": [number(1)],
    },
    8: {
        "S0w": [word("书")], "S1w": [word("看")], "S2w": [NO_NODE], "S0lt": [tag("M")],
        "S0llabel": [number(1 + OTHER)], "S0rt": [NO_NODE], "S1lt": [tag("PN")],
        "S1llabel": [number(1 + SUBJECT)], "dist(S1,S0)": [number(3)],
    },
    # The queue is empty, but begins with padding.
    10: {
        "S0w": [word("。")], "S1w": [word("看")], "S1lw": [word("我")], "S1rw": [word("书")],
        "S1rlabel": [number(1 + OBJECT)], "N0w": [NO_WORD], "dist(S1,S0)": [number(4)],
    },
}  # fmt: skip


def test_gold_actions() -> None:
    system = STANDARD.new(STANDARD.parse("action: S0t"), 3)
    assert system.oracle(HEADS, LABELS) == ACTIONS
    system.load_words(WORDS, TAGS)
    assert system.tree(ACTIONS) == (HEADS, LABELS)


@looped(
    ("step", "atom", "values"),
    [(step, atom, values) for step, atoms in STATES.items() for atom, values in atoms.items()],
)
def test_atoms(step: int, atom: str, values: list[Value]) -> None:
    (template,) = STANDARD.parse(f"action: {atom}")
    twin = StandardTwin(WORDS, TAGS, [template], lambda _: [0.0] * 7, 3)
    state = twin.replay(ACTIONS[:step])
    assert twin.atom(state, atom) == values
    rows = {Feature(template, (value,)).key: [1.0] * 7 for value in values}
    agenda = agenda_of(STANDARD, twin, [table_of(7, rows)], None)
    assert agenda.score(ACTIONS[: step + 1]) - agenda.score(ACTIONS[:step]) == len(values)


def test_what_may_be_done() -> None:
    """By hand, on three words with one label."""
    twin = StandardTwin(["一"] * 3, ["N"] * 3, STANDARD.parse("action: S0t"), lambda _: [0.0] * 3)
    agenda = agenda_of(STANDARD, twin, [table_of(3, {})], None)
    shift, left, right = range(3)
    assert agenda.legal([]) == agenda.legal([shift]) == [shift]
    assert agenda.legal([shift, shift]) == [shift, left, right]
    assert agenda.legal([shift, shift, left]) == [shift]
    assert agenda.legal([shift, shift, shift]) == [left, right]
    assert agenda.legal([shift, shift, left, shift, right]) == []
    assert agenda.system.tree([shift, shift, left, shift, right]) == ([1, -1, 1], [0, -1, 0])


def test_arcs_that_are_given_whole_are_made_at_once() -> None:
    """So that any beam finds the tree: where some heads are open, waiting may be needed."""
    twin = StandardTwin(["一"] * 3, ["N"] * 3, STANDARD.parse("action: S0t"), lambda _: [0.0] * 3)
    table, labels = [table_of(3, {})], [None] * 3
    shift, left, right = range(3)
    whole = agenda_of(STANDARD, twin, table, None, given=([1, -1, 1], labels))
    assert whole.derivations(9) == [(0.0, [shift, shift, left, shift, right])]
    part = agenda_of(STANDARD, twin, table, None, given=([1, -1, None], labels))
    assert part.legal([shift, shift]) == [left]
    waits = agenda_of(STANDARD, twin, table, None, given=([-1, 0, None], labels))
    assert waits.legal([shift, shift]) == [shift, right]
    # A word with a child to come is not taken off, and the root never.
    waiting = agenda_of(STANDARD, twin, table, None, given=([None, None, 1], labels))
    assert waiting.legal([shift, shift]) == [shift, left]
    root = agenda_of(STANDARD, twin, table, None, given=([-1, None, None], labels))
    assert root.legal([shift, shift]) == [shift, right]
