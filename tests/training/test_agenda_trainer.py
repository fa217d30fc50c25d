"""Training on the agenda against a plain twin: where updates are, rules, dropout, pieces."""

from __future__ import annotations

import pickle
import random
import re
import struct
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from agenda_twin import Weights, WordsTwin
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from trainer_twin import TrainerTwin
from twins import murmur_64a, rows_by_key

from spacy_structreg.features.state_templates import parse_state_templates
from spacy_structreg.features.typed_runs import LatinRuns
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.murmur import hash_string
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.search.scorer import new_learner
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms
from spacy_structreg.tasks.segmentation.words import WordTransitions
from spacy_structreg.training.agenda import AgendaTrainer
from spacy_structreg.training.pieces import cut_units

TEMPLATES = """
separate: w-1 | w-1 w-2 | end(w-1) c0 | len(w-1) start(w-1)
append: c-1 c0
boundary: first c0
"""
TAGGED = TEMPLATES + "tag: t-1 | w-1 t-1 | c0 c-1"
SENTENCES = [["我们", "在"], ["北京", "大", "学"], ["学生"], ["大学生", "在"], ["生", "大学", "生"]]
PADDING = 0x110000
STOPS = ["early", "max_violation", "plain"]

Word = tuple[int, int]
Gold = tuple[str, list[Word]]
"""The text of a sentence; the length and the tag of each word."""


def gold_of(words: Sequence[str], tags: Sequence[int] | None = None) -> Gold:
    tags = tags or [0] * len(words)
    return "".join(words), list(zip(map(len, words), tags, strict=True))


def compiled(system: WordTransitions, gold: Gold, learner: Perceptron) -> Derivation | None:
    text, words = gold
    ends = np.cumsum([length for length, _ in words]).tolist()
    forms = [text[a:b] for a, b in pairwise([0, *ends])]
    return system.compile(forms, [tag for _, tag in words], learner)


class Pair(TrainerTwin):
    """A kernel and its twin, on the same gold sentences."""

    def __init__(
        self,
        golds: Sequence[Gold],
        learning: Learning | None = None,
        *,
        n_tags: int = 1,
        by_words: bool = False,
        longest: int | None = None,
        templates: str | None = None,
        **chosen: Any,
    ) -> None:
        system = WordTransitions(CharacterAtoms(), n_tags, by_words, longest)
        texts = [templates or (TAGGED if n_tags > 1 else TEMPLATES)]
        parsed = parse_state_templates(texts, system.events, system.atoms)

        def twin_of(gold: Gold, weights: Weights) -> WordsTwin:
            return WordsTwin(gold[0], parsed, weights, n_tags, None, by_words, longest)

        super().__init__(system, parsed, golds, compiled, twin_of, learning=learning, **chosen)


@st.composite
def corpora(draw: st.DrawFn, n_tags: int) -> list[Gold]:
    """A few short sentences of few characters, so that features meet again."""
    sentences = []
    for _ in range(draw(st.integers(1, 3))):
        lengths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
        text = draw(st.text("大学生在", min_size=sum(lengths), max_size=sum(lengths)))
        tags = draw(st.lists(st.integers(0, n_tags - 1), min_size=9, max_size=9))
        sentences.append((text, list(zip(lengths, tags, strict=False))))
    return sentences


# Points of update ---------------------------------------------------------------------------------


@pytest.mark.parametrize("stop", ["early", "max_violation", "plain", "every"])
@given(st.data())
@quick_examples(15)
def test_updates_equal_the_twin(stop: str, data: st.DataObject) -> None:
    n_tags = data.draw(st.sampled_from([1, 2]))
    golds = data.draw(corpora(n_tags))
    # Without a limit the twin looks at all analyses.
    widths = [1, 2, 4, None] if max(len(text) for text, _ in golds) <= 5 else [1, 2, 4]
    pair = Pair(
        golds,
        stop=stop,
        width=1 if stop == "every" else data.draw(st.sampled_from(widths)),
        n_tags=n_tags,
        by_words=data.draw(st.booleans()),
        longest=data.draw(st.sampled_from([None, 1, 2])),
        memo=data.draw(st.booleans()),
        merge=data.draw(st.booleans()),
    )
    for _ in range(3):
        # One visit at a time: weights are compared after each.
        for piece in pair.whole():
            pair.run(piece[None], data.draw(st.integers(0, 2**64 - 1)))


START = {"append 们": 2.0, "separate 在": 3.0}
"""They speak for 我们 | 在. Gold, 我 | 们在, is behind by 2 after 们, by 5 from 在 on."""
BIG = {"append 们": 5.0, "append 在": 1.0}
"""They speak for 我们在. Gold is behind by 5 from 们 on."""
AT_FIRST = {"append 们": 1.0, "separate 们": 1.0, "separate 在": 3.0}
WHOLE = {"append 们": 1.0, "separate 们": 1.0, "append 在": 1.0, "separate 在": 2.0}
BIG_AFTER = {"append 们": 4.0, "separate 们": 1.0, "append 在": 1.0}
RIGHT = {"separate 们": 1.0, "append 在": 1.0}
CLOSE = {"separate 们": 2.0, "append 在": 0.5}
FAR = {"separate 们": 2.0, "append 在": 1.0}


def by_step(step: float) -> dict[str, float]:
    """`START` after a step against all that is wrong."""
    signs = {"append 们": -1, "separate 们": 1, "append 在": 1, "separate 在": -1}
    return {name: START.get(name, 0.0) + sign * step for name, sign in signs.items()}


@looped(
    ("stop", "width", "learning", "before", "wrong", "after"),
    [
        # With one place, gold falls off at 们: nothing beyond it is learned.
        ("early", 1, Learning(), START, (1, 1), AT_FIRST),
        # With two it survives 们, and falls off at 在: 我们|在 has 5, 我|们|在 3, 我们在 2.
        ("early", 2, Learning(), START, (1, 2), WHOLE),
        # All four analyses have room: the update comes at the end, against the best.
        *((stop, 4, Learning(), START, (1, 2), WHOLE) for stop in STOPS),
        # By 2 at 们, by 5 at 在: the whole of it. Or nowhere by more than at 们.
        ("max_violation", 1, Learning(), START, (1, 2), WHOLE),
        ("max_violation", 1, Learning(), BIG, (1, 1), BIG_AFTER),
        # At the end, wherever gold fell off; what both have there is not changed.
        ("plain", 1, Learning(), START, (1, 2), WHOLE),
        ("plain", 1, Learning(), BIG, (1, 1), BIG_AFTER),
        # One update at 们 and one at 在, from states that the model has chosen.
        ("every", 1, Learning(), START, (1, 2), WHOLE),
        # What is right changes nothing.
        *((stop, 1, Learning(), RIGHT, (0, 0), RIGHT) for stop in [*STOPS, "every"]),
        # Behind by 5, with two wrong actions: the loss is 7, and ‖ΔΦ‖² is 4.
        ("plain", 4, Learning("pa_i", 0.25), START, (1, 2), by_step(0.25)),
        ("plain", 4, Learning("pa_i", 100.0), START, (1, 2), by_step(7 / 4)),
        ("plain", 4, Learning("pa_ii", 0.25), START, (1, 2), by_step(7 / 6)),
        # Ahead of 我|们|在 by 1/2: the loss is 1/2, ‖ΔΦ‖² is 2. By 1 is enough.
        ("early", 4, Learning("pa"), CLOSE, None, FAR | {"append 在": 0.75, "separate 在": -0.25}),
        ("early", 4, Learning("pa"), FAR, (0, 0), FAR),
    ],
)
def test_updates_by_hand(  # noqa: PLR0917 - a table
    stop: str,
    width: int,
    learning: Learning,
    before: dict[str, float],
    wrong: tuple[int, int] | None,
    after: dict[str, float],
) -> None:
    """Of the sentence 我 | 们在, with weights of the character that an action looks at."""
    templates = "append: c0 | separate: c0"
    pair = Pair([gold_of(["我", "们在"])], learning, stop=stop, width=width, templates=templates)
    rows = {}
    for table, event in zip(pair.learner.tables, ["append", "separate"], strict=False):
        for character in "们在":
            ngram = struct.pack("<2Q", hash_string(f"{event}: c0"), 1 + ord(character))
            rows[f"{event} {character}"] = table, table.row(murmur_64a(ngram))
    for name, weight in before.items():
        table, row = rows[name]
        table.add([(row, 0, weight)], 1)
    pair.learner.clock = 1
    assert pair.trainer.epoch(pair.compiled, [0]) == wrong or wrong is None
    assert pair.learner.clock == 1 + (4 if stop == "every" else 1)
    found = {name: float(table.weights(row)[0]) for name, (table, row) in rows.items()}
    assert {name: weight for name, weight in found.items() if weight} == pytest.approx(after)
    # Nothing else is learned: the characters around them are common to both.
    assert len(pair.found()) == len(after)


@looped(
    ("stop", "by_words"),
    [("early", False), ("early", True), ("max_violation", False), ("plain", False)],
)
def test_merged_states_leave_room_for_others(stop: str, by_words: bool) -> None:
    chance = random.Random(0)
    golds = []
    for _ in range(4):
        lengths = [chance.randint(1, 2) for _ in range(6)]
        text = "".join(chance.choices("大学生在", k=sum(lengths)))
        golds.append((text, [(length, chance.randrange(2)) for length in lengths]))
    found = []
    for merge in (False, True):
        pair = Pair(
            golds,
            stop=stop,
            width=8,
            n_tags=2,
            by_words=by_words,
            templates="separate: w-1\ntag: t-1 | c0\nappend: c0",
            merge=merge,
        )
        for _ in range(3):
            pair.run(pair.whole())
        found.append(pair.found())
    assert found[0] != found[1]


@looped("stop", ["early", "max_violation", "plain"])
def test_the_common_prefix_gets_no_rows(stop: str) -> None:
    """Features before the first difference cancel out; they are not even inserted."""
    pair = Pair([gold_of(["大", "学", "生在"])], stop=stop, width=1, templates="separate: c-1 c0")
    pair.trainer.epoch(pair.compiled, [0])
    keys = set(rows_by_key(pair.learner.tables[1]))

    def key(previous: int, current: int) -> int:
        seed = hash_string("separate: c-1 c0")
        return murmur_64a(struct.pack("<3Q", seed, 1 + previous, 1 + current))

    # Appending comes first among equals: 学 is wrong, and what stands before it is common.
    assert key(ord("大"), ord("学")) in keys
    assert key(PADDING, ord("大")) not in keys


# Counts of features -------------------------------------------------------------------------------


def counted(template: str, least: int) -> tuple[Pair, set[int]]:
    """A training restricted by counts, and the keys of c-1 c0 that it should have, by hand.

    template: of an event that either begins a word or goes on with it.
    """
    separates = template.startswith("separate")
    pair = Pair(GOLDS + GOLDS[2:], templates=template, width=2)
    counts: Counter[tuple[int, int]] = Counter()
    for words in SENTENCES + SENTENCES[2:]:
        text = "".join(words)
        begins = {sum(map(len, words[:i])) for i in range(len(words))}
        for i, character in enumerate(text):
            if (i in begins) == separates:
                counts[ord(text[i - 1]) if i else PADDING, ord(character)] += 1
        # The last word is ended as if another began.
        counts[ord(text[-1]), PADDING] += separates
    counts = +counts
    assert min(counts.values()) == 1 < max(counts.values())
    seed = hash_string(template)
    pair.trainer.restrict(pair.compiled, least)
    return pair, {
        murmur_64a(struct.pack("<3Q", seed, 1 + previous, 1 + current))
        for (previous, current), count in counts.items()
        if count >= least
    }


@looped("least", [1, 2, 3, 100])
@looped("template", ["separate: c-1 c0", "append: c-1 c0"])
def test_rare_features_of_gold_get_no_rows(template: str, least: int) -> None:
    pair, expected = counted(template, least)
    for _ in range(3):
        pair.trainer.epoch(pair.compiled, pair.whole())
        tables = [table for table in pair.learner.tables if table.n_rows]
        assert [set(rows_by_key(table)) for table in tables] == ([expected] if expected else [])
    assert pair.learner.clock == 3 * len(pair.golds)
    twin = pickle.loads(pickle.dumps(pair.learner))
    for table in (*twin.tables, *pair.learner.copy().tables):
        before = table.n_rows
        assert (table.closed, table.row(12345), table.n_rows) == (True, -1, before)


def test_no_sentence_is_held_after_its_features_were_counted() -> None:
    pair, _ = counted("append: c-1 c0", 1)
    ((_, actions),) = pair.trainer.agenda.derivations(1)
    # Of an empty sentence: that it ends.
    assert len(actions) == 1


# Passive-aggressive rules -------------------------------------------------------------------------


@pytest.mark.parametrize("update", ["pa", "pa_i", "pa_ii"])
@pytest.mark.parametrize("stop", ["early", "max_violation", "plain"])
@given(st.data())
@quick_examples(8)
def test_the_first_visit_of_passive_aggressive_rules(
    update: str, stop: str, data: st.DataObject
) -> None:
    """From integer weights, so that no rounding decides."""
    learning = Learning(algorithm=update, aggressiveness=0.5)
    gold = data.draw(corpora(1))[:1]
    width = data.draw(st.sampled_from([1, 2, 4]))
    teacher = Pair(gold, stop=stop, width=width)
    teacher.run(teacher.whole())
    pair = Pair(gold, learning, stop=stop, width=width)
    for (name, key, column), weight in teacher.expected().items():
        table = pair.learner.tables[pair.tables.index(name)]
        table.add([(table.row(key), column, -weight)], 1)
        pair.weights[name, key, column] = -weight
    pair.learner.clock = pair.clock = 1
    pair.run(pair.whole())


# Noise --------------------------------------------------------------------------------------------


def state_of(learner: Perceptron) -> list[dict[str, bytes]]:
    return [
        {name: array.tobytes() for name, array in table.state().items()} for table in learner.tables
    ]


GOLDS = [gold_of(words) for words in SENTENCES]


def learned(learning: Learning, noises: Sequence[int], **chosen: object) -> Pair:
    pair = Pair(GOLDS, learning, **chosen)  # type: ignore[arg-type]
    for noise in noises:
        pair.trainer.epoch(pair.compiled, pair.whole(), noise)
    return pair


@looped("stop", ["early", "max_violation", "plain"])
@looped("noise", ["dropout", "hidden_dropout"])
@looped("probability", [0.1, 0.5])
def test_dropout_equals_the_twin(noise: str, probability: float, stop: str) -> None:
    """Hidden characters, and words that contain one, fire nothing; nor do weights left out."""
    pair = Pair(GOLDS, Learning(**{noise: probability}), stop=stop, width=2)
    for epoch in range(4):
        pair.run(pair.whole(), epoch * 2**61 + 5)


@pytest.mark.parametrize(("dropout", "seen"), [(0.0, True), (1 - 2.0**-53, False)])
def test_types_of_hidden_characters_are_hidden(dropout: float, seen: bool) -> None:
    system = WordTransitions(CharacterAtoms("extended", False))
    texts = ["boundary: type0 | type-1 type+1"]
    templates = parse_state_templates(texts, system.events, system.atoms)
    learner = new_learner(system, Learning(dropout=dropout))
    trainer = AgendaTrainer(system, templates, learner, 2)
    compiled = [system.compile(words, None, learner) for words in SENTENCES]
    for noise in range(3):
        trainer.epoch(compiled, range(len(compiled)), noise)
    # Padding is always seen, and has no type.
    padding = {
        murmur_64a(struct.pack(f"<{1 + len(types)}Q", hash_string(f"boundary: {name}"), *types))
        for name, types in [("type0", [1]), ("type-1 type+1", [1, 1])]
    }
    assert seen == bool(set(rows_by_key(learner.tables[2])) - padding)


# Penalties and what is left behind ----------------------------------------------------------------


@looped("penalties", [{"l2": 0.02}, {"l1": 0.01}, {"cumulative_l1": 0.01}], ids=str)
@looped("stop", ["early", "max_violation"])
def test_penalties_need_no_visit_of_rows_that_do_not_fire(
    penalties: dict[str, float], stop: str
) -> None:
    """Catching up all rows after every example changes no weight and no average."""
    order = np.random.default_rng(5).integers(len(GOLDS), size=40)
    learning = Learning(**penalties)  # type: ignore[arg-type]
    lazy, dense = (Pair(GOLDS, learning, stop=stop, width=2) for _ in range(2))
    lazy.trainer.epoch(lazy.compiled, lazy.whole()[order])
    for number in order.tolist():
        dense.trainer.epoch(dense.compiled, dense.whole()[[number]])
        for table in dense.learner.tables:
            for row in range(table.n_rows):
                table.catch_up(row, dense.learner.clock)
    assert lazy.learner.clock == dense.learner.clock == 40
    for one, other in zip(lazy.learner.tables, dense.learner.tables, strict=True):
        assert one.n_rows == other.n_rows > 0
        for row in range(one.n_rows):
            np.testing.assert_allclose(
                one.weights(row, 40), other.weights(row, 40), rtol=1e-9, atol=1e-12
            )
    for one, other in zip(lazy.learner.average(), dense.learner.average(), strict=True):
        assert one.arrays["keys"].tolist() == other.arrays["keys"].tolist()
        np.testing.assert_allclose(one.arrays["values"], other.arrays["values"], rtol=1e-5)


@looped("update", ["perceptron", "pa", "pa_i"])
def test_after_training_the_agenda_decodes_without_gold_and_costs(update: str) -> None:
    pair = learned(Learning(algorithm=update), [0, 1], width=4)  # type: ignore[arg-type]
    agenda = pair.trainer.agenda
    for text in ("北京大学生", "我们在"):
        pair.trainer.system.load_text(text)
        for score, actions in agenda.derivations(4):
            assert agenda.score(actions) == pytest.approx(score, rel=1e-12)


# Pieces -------------------------------------------------------------------------------------------


@given(
    st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=12), max_size=5),
    st.one_of(st.none(), st.floats(1, 15)),
    st.integers(0, 2**63),
)
def test_cuts_fall_between_units(
    lengths: list[list[int]], mini_sample: float | None, seed: int
) -> None:
    units = [np.concatenate(([0], np.cumsum(each))).astype(np.int64) for each in lengths]
    pieces = cut_units(units, mini_sample, seed).tolist()
    for number, bounds in enumerate(units):
        own = [(begin, count) for owner, begin, count in pieces if owner == number]
        assert [i for begin, count in own for i in range(begin, begin + count)] == list(
            range(bounds[-1])
        )
        for begin, count in own:
            assert begin in bounds
            assert begin + count in bounds
            if mini_sample is not None:
                held = bounds.tolist().index(begin + count) - bounds.tolist().index(begin)
                assert 1 <= held <= np.ceil(mini_sample)
        if mini_sample is None or len(bounds) - 1 <= mini_sample:
            assert len(own) == 1
    assert cut_units([], 2.0, 1).shape == (0, 3)


@looped("by_words", [False, True])
@looped("stop", ["early", "max_violation", "plain", "every"])
def test_pieces_equal_the_twin(stop: str, by_words: bool) -> None:
    """Beyond a cut nothing is decided: words and tags there are unknown, characters are not."""
    golds = [gold_of(words, [len(word) % 2 for word in words]) for words in SENTENCES]
    width = 1 if stop == "every" else 2
    pair = Pair(golds, stop=stop, width=width, n_tags=2, by_words=by_words)
    units = [derivation.units for derivation in pair.compiled]
    for epoch in range(6):
        pair.run(cut_units(units, 1.5, epoch))
    assert pair.expected()


def test_a_piece_draws_for_what_it_sees_of_a_sentence() -> None:
    """Not for the whole sentence: that would take the square of its length for all pieces."""
    words = ["大学", "学生", "在"] * 9
    pair = Pair([gold_of(words)], Learning(dropout=0.3))
    for epoch in range(3):
        pair.run(cut_units([pair.compiled[0].units], 2.0, epoch), epoch)
    assert pair.expected()


def test_numbers_stand_for_whole_sentences() -> None:
    one, other = Pair(GOLDS), Pair(GOLDS)
    one.trainer.epoch(one.compiled, [3, 1, 1, 0])
    other.trainer.epoch(other.compiled, other.whole()[[3, 1, 1, 0]])
    assert state_of(one.learner) == state_of(other.learner)


def test_empty_pieces_are_examples_too() -> None:
    pair = Pair(GOLDS)
    assert pair.trainer.epoch(pair.compiled, [[0, 0, 0], [1, 2, 0]]) == (0, 0)
    assert pair.learner.clock == 2
    assert pair.trainer.epoch(pair.compiled, np.zeros((0, 3), dtype=np.int64)) == (0, 0)
    assert pair.trainer.epoch([], []) == (0, 0)


@looped("stop", ["early", "max_violation", "plain", "every"])
@looped("by_words", [False, True])
def test_pieces_that_begin_within_a_word(stop: str, by_words: bool) -> None:
    """No cut is made there; whoever asks for it gets finite weights and an answer."""
    pair = Pair(GOLDS, stop=stop, width=1, by_words=by_words)
    pieces = [[3, 1, 2], [3, 2, 1], [3, 1, 3], [3, 0, 1], [0, 1, 2]]
    n_pieces, _ = pair.trainer.epoch(pair.compiled, pieces)
    assert 0 <= n_pieces <= len(pieces)
    assert all(np.isfinite(weight) for weight in pair.found().values())
    # And the trainer goes on as any other.
    assert pair.trainer.epoch(pair.compiled, pair.whole())[0] <= len(GOLDS)


# Errors -------------------------------------------------------------------------------------------


def test_settings_that_cannot_be() -> None:
    system = WordTransitions(CharacterAtoms(None, False))
    parsed = parse_state_templates([TEMPLATES], system.events, system.atoms)
    learner = new_learner(system)
    with pytest.raises(ValueError, match="update must be one of early"):
        AgendaTrainer(system, parsed, learner, 4, "late")
    for width in (2, None):
        with pytest.raises(ValueError, match="needs beam = 1"):
            AgendaTrainer(system, parsed, learner, width, "every")
    with pytest.raises(ValueError, match="beam must be at least 1, got"):
        AgendaTrainer(system, parsed, learner, 0)
    tagged = new_learner(WordTransitions(CharacterAtoms(None, False), 3))
    with pytest.raises(ValueError, match="do not fit the events"):
        AgendaTrainer(system, parsed, tagged)


def test_derivations_of_other_learners() -> None:
    pair, other = Pair(GOLDS), Pair(GOLDS)
    before = state_of(pair.learner)
    with pytest.raises(ValueError, match="sentence 1 was compiled for another learner"):
        pair.trainer.epoch([pair.compiled[0], other.compiled[1]], [0])
    with pytest.raises(ValueError, match="sentence 1 was compiled for another learner"):
        pair.trainer.restrict([pair.compiled[0], other.compiled[1]], 2)
    with pytest.raises(TypeError):
        pair.trainer.epoch([None], [0])
    with pytest.raises(TypeError):
        pair.trainer.restrict([None], 2)
    assert state_of(pair.learner) == before
    assert pair.learner.clock == 0
    assert not any(table.closed for table in pair.learner.tables)


def test_pieces_that_do_not_exist() -> None:
    pair = Pair(GOLDS)
    for pieces in ([[0, 0, 4]], [[0, -1, 2]], [[0, 3, 1]], [[0, 0, -1]], [[0, 2**62, 2**62]]):
        with pytest.raises(IndexError, match="outside its sequence"):
            pair.trainer.epoch(pair.compiled, pieces)
    for missing in ([[5, 0, 1]], [[-1, 0, 1]], [5], [-1]):
        with pytest.raises(IndexError, match="sequence index out of range"):
            pair.trainer.epoch(pair.compiled, missing)
    for strange in ([[0, 1]], [[[0, 0, 1]]]):
        with pytest.raises(ValueError, match="shape"):
            pair.trainer.epoch(pair.compiled, strange)
    with pytest.raises(ValueError, match="must be integers"):
        pair.trainer.epoch(pair.compiled, [[0.0, 0.0, 1.0]])
    assert pair.learner.clock == 0


def test_a_trainer_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="cannot be pickled"):
        Pair(GOLDS).trainer.__reduce__()


# Runs of letters and of digits --------------------------------------------------------------------


@looped("by_words", [False, True])
@looped(
    "text",
    [
        "AB",
        "az",
        "Zａ",
        "１2",
        "09",
        "A1",
        "１ａ",
        "学A",
        "B学",
        "@A",
        "Z[",
        "`a",
        "z{",
        "/0",
        "9:",
        "：９",
    ],
)
def test_the_search_of_training_keeps_to_the_rule_of_runs(text: str, by_words: bool) -> None:
    """Once single characters are words, runs stay whole nevertheless, and nothing else does."""
    wrong = {}
    for joins_runs in (False, True):
        system = WordTransitions(CharacterAtoms(), by_words=by_words, joins_runs=joins_runs)
        parsed = parse_state_templates(["separate: len(w-1)"], system.events, system.atoms)
        learner = new_learner(system, Learning(algorithm="perceptron"))
        trainer = AgendaTrainer(system, parsed, learner, 4, "early")
        compiled = [system.compile(words, None, learner) for words in (["学", "在"], [text])]
        partial = system.compile_partial(text, [None], [], learner)
        trainer.epoch(compiled, [0, 0, 0])
        wrong[joins_runs] = trainer.epoch([*compiled, partial], [2, 0, 1])[0]
    assert wrong[False] == 1
    is_one_run = re.fullmatch("[A-Za-zＡ-Ｚａ-ｚ]{2}|[0-9０-９]{2}", text)
    found = [(run.start, run.end) for run in LatinRuns().find(text)]
    assert (found == [(0, 2)]) == bool(is_one_run)
    assert wrong[True] == (0 if is_one_run else 1)
