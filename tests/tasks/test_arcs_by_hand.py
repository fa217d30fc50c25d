"""Arc-eager parsing, and given arcs of arc-standard parsing, worked by hand."""

from __future__ import annotations

from agenda_twin import NO_WORD, Feature, Value, table_of
from looped import looped
from parser_twins import EAGER, NO_NODE, STANDARD, EagerTwin, StandardTwin, agenda_of

from spacy_structreg.learn.murmur import hash_string
from spacy_structreg.tasks.word_fields import WordFields

WORDS = ["我", "给", "他", "一", "本", "书", "。"]
TAGS = ["PN", "VV", "PN", "CD", "M", "NN", "PU"]
HEADS = [1, -1, 1, 4, 5, 1, 1]
SUBJECT, OBJECT, OTHER = 0, 1, 2
LABELS = [SUBJECT, -1, OBJECT, OTHER, OTHER, OBJECT, OTHER]
SHIFT, REDUCE, LEFT, RIGHT = 0, 1, 2, 5
ACTIONS = [
    SHIFT, LEFT + SUBJECT, SHIFT, RIGHT + OBJECT, SHIFT, LEFT + OTHER, SHIFT, LEFT + OTHER,
    REDUCE, RIGHT + OBJECT, REDUCE, RIGHT + OTHER, REDUCE,
]  # fmt: skip


def word(form: str) -> Value:
    return ("number", WordFields().key_of(form))


def tag(name: str) -> Value:
    return ("number", hash_string(name))


def number(value: int) -> Value:
    return ("number", value)


# Before REDUCE the pronoun is on top, and the noun comes next; then it is the noun that is on top;
# then the verb is, with all its children but the last.
STATES: dict[int, dict[str, list[Value]]] = {
    8: {
        "S0w": [word("他")], "S1w": [word("给")], "S2w": [NO_NODE], "N0w": [word("书")],
        "N1t": [tag("PU")], "N2t": [NO_WORD], "N3w": [NO_WORD], "N-1t": [tag("M")],
        "S0-1t": [tag("VV")], "S0+1w": [word("一")], "S0hw": [word("给")], "S0h2w": [NO_NODE],
        "S0label": [number(1 + OBJECT)], "S0hlabel": [], "S0lw": [NO_NODE], "S0rw": [NO_NODE],
        "N0lw": [word("本")], "N0l2w": [NO_NODE], "N0llabel": [number(1 + OTHER)], "N0l2label": [],
        "S0vl": [number(1)], "S0vr": [number(1)], "N0vl": [number(2)], "S0sl": [number(1)],
        "N0sl": [number(1 + 2**OTHER)], "dist(S0,N0)": [number(3)], "dist(S0,N0l)": [number(2)],
        "dist(S0r,N0)": [], "len(S0)": [number(3)], "end(N1)": [word("。")], "prefix2(S0)": [],
    },
    10: {
        "S0w": [word("书")], "S0hw": [word("给")], "S0lw": [word("本")], "S0l2w": [NO_NODE],
        "S0llabel": [number(1 + OTHER)], "S0vl": [number(2)], "S0vr": [number(1)],
        "N0w": [word("。")], "N1w": [NO_WORD], "N0lw": [NO_NODE], "N0vl": [number(1)],
        "dist(S0,N0)": [number(1)], "dist(S0,N0l)": [], "between(S0,N0)": [],
    },
    11: {
        "S0w": [word("给")], "S1w": [NO_NODE], "S0hw": [NO_NODE], "S0label": [],
        "S0lw": [word("我")],
        "S0rw": [word("书")], "S0r2w": [word("他")], "S0r2label": [number(1 + OBJECT)],
        "S0vl": [number(2)], "S0vr": [number(3)], "S0sr": [number(1 + 2**OBJECT)],
        "S0sl": [number(1 + 2**SUBJECT)], "dist(S0,N0)": [number(5)],
        "dist(S0r,N0)": [number(1)],
        "between(S0,N0)": [tag("PN"), tag("CD"), tag("M"), tag("NN")],
    },
    # All words have come; the last is on top, and nothing comes next.
    12: {
        "S0w": [word("。")], "S0+1w": [NO_WORD], "S0hw": [word("给")], "N0w": [NO_NODE], "N0vl": [],
        "N1w": [NO_WORD], "N-1w": [word("。")], "dist(S0,N0)": [], "between(S0,N0)": [],
    },
}  # fmt: skip


def test_gold_actions() -> None:
    system = EAGER.new(EAGER.parse("action: S0t"), 3)
    assert system.oracle(HEADS, LABELS) == ACTIONS
    system.load_words(WORDS, TAGS)
    assert system.tree(ACTIONS) == (HEADS, LABELS)


@looped(
    ("step", "atom", "values"),
    [(step, atom, values) for step, atoms in STATES.items() for atom, values in atoms.items()],
)
def test_atoms(step: int, atom: str, values: list[Value]) -> None:
    (template,) = EAGER.parse(f"action: {atom}")
    twin = EagerTwin(WORDS, TAGS, [template], lambda _: [0.0] * 8, 3)
    state = twin.replay(ACTIONS[:step])
    assert sorted(twin.atom(state, atom)) == sorted(values)
    # Each value is worth a power of two to the action that is taken.
    rows = {
        Feature(template, (value,)).key: [float(2**i)] * 8 for i, value in enumerate(values)
    }  # fmt: skip
    agenda = agenda_of(EAGER, twin, [table_of(8, rows)], None)
    before = agenda.score(ACTIONS[:step])
    assert agenda.score(ACTIONS[: step + 1]) - before == 2 ** len(values) - 1
    if not values:
        # A null atom silences the template, and is not the number 0, nor padding.
        (joined,) = EAGER.parse(f"action: S0w {atom}")
        (top,) = twin.atom(state, "S0w")
        wrong = {Feature(joined, (top, number(n))).key: [1.0] * 8 for n in (0, 1)}
        twin = EagerTwin(WORDS, TAGS, [joined], lambda _: [0.0] * 8, 3)
        agenda = agenda_of(EAGER, twin, [table_of(8, wrong)], None)
        assert agenda.score(ACTIONS[: step + 1]) == 0.0


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
