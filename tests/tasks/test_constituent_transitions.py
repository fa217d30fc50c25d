"""Shift-reduce constituency parsing as a transition system, against its twin and brute force."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise
from math import inf

import pytest
from agenda_twin import Feature, SmallWeights, table_of
from constituency_twins import (
    IDLE,
    SHIFT,
    TERMINATE,
    ConstituencySystem,
    ConstituencyTwin,
    Given,
    Heads,
    all_trees,
    has_given,
    label_names,
    n_unaries,
    random_given,
    random_heads,
    twin_of,
)
from example_counts import quick_examples
from hypothesis import example, given
from hypothesis import strategies as st
from looped import looped
from parser_twins import agenda_of, check_scores, tables_of, walk
from random_trees import LABELS, sentences_with_trees

from spacy_structreg.corpora.binarization import debinarize
from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.features.state_templates import StateTemplate
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainingRows
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer
from spacy_structreg.tasks.constituents import (
    CONSTITUENT_ATOMS,
    MAX_LABELS,
    MAX_UNARIES,
    ConstituentDecoder,
    ConstituentTransitions,
)
from spacy_structreg.tasks.word_fields import WordFields

# Those of word classes have tests of their own.
ATOMS = [name for name in CONSTITUENT_ATOMS if not name.startswith("class")]
WORDS = ["我", "Ab", "１2", "大学生", "xyz12"]
MARKS = [*"(）“”[]，,。、；.", "-LRB-", "-RRB-", "``", "''"]
TAGS = ["N", "V", "PU", ""]
SYSTEM = ConstituencySystem()
SEEDS = st.integers(0, 2**32 - 1).map(random.Random)
WALKED = quick_examples(25)


def sentence(draw: random.Random, n: int) -> tuple[list[str], list[str]]:
    """Half of the words are brackets and separators."""
    words = [draw.choice(draw.choice([WORDS, MARKS])) for _ in range(n)]
    return words, draw.choices(TAGS, k=n)


def no_weights(
    n: int,
    n_labels: int,
    max_unaries: int = 3,
    given_ones: Sequence[Given] = (),
    heads: Heads = None,
) -> tuple[ConstituencyTwin, Agenda]:
    """A parser of n words to which all trees are alike."""
    system = ConstituencySystem(max_unaries, heads)
    words, tags = sentence(random.Random(n), n)
    twin = system.twin(words, tags, system.parse("action: S0t"), lambda _: [0.0] * 999, n_labels)
    return twin, agenda_of(system, twin, tables_of(system, twin), None, given=given_ones)


def drawn_twin(
    draw: random.Random, n: int, n_labels: int = 2, n_templates: int = 8, max_unaries: int = 1
) -> tuple[ConstituencySystem, ConstituencyTwin]:
    """A twin of a random sentence with small weights; templates join any atoms."""
    system = ConstituencySystem(max_unaries)
    templates = set()
    while len(templates) < n_templates:
        atoms = draw.sample(ATOMS, draw.randint(1, 3))
        templates.add(StateTemplate("action", tuple(atoms)))
    chosen = sorted(templates, key=str)
    return system, twin_of(draw, system, sentence(draw, n), chosen, n_labels)


def without_idling(actions: Sequence[int]) -> list[int]:
    return [action for action in actions if action != IDLE]


def random_walk(draw: random.Random, agenda: Agenda, most: int) -> list[int]:
    """Legal actions at random to the end; fails where none is legal."""
    actions: list[int] = []
    while not actions or actions[-1] != TERMINATE:
        legal = agenda.legal(actions)
        assert legal, f"no way on from {actions}"
        actions.append(draw.choice(legal))
        assert len(actions) <= most
    return actions


def tree_of(agenda: Agenda, actions: Sequence[int]) -> tuple[Constituent, ...]:
    return debinarize(agenda.system.steps(actions))


# Gold derivations ---------------------------------------------------------------------------------


@given(sentences_with_trees())
@quick_examples(60)
def test_gold_actions_rebuild_every_tree(tree: ConstituencySentence) -> None:
    words, constituents = list(tree.words), tree.constituents
    system = ConstituentTransitions(WordFields(), LABELS, ["S0t"])
    doubled = any(
        (a.label, a.begin, a.end) == (b.label, b.begin, b.end) for a, b in pairwise(constituents)
    )
    if doubled:
        with pytest.raises(ValueError, match="is the only child of another"):
            system.oracle(len(words), constituents)
        return
    twin = SYSTEM.twin(words, list(tree.tags), SYSTEM.parse("action: S0t"), None, len(LABELS))
    actions = system.oracle(len(words), constituents)
    assert system.steps(actions) == system.steps(actions[:-1])
    assert debinarize(system.steps(actions)) == constituents
    assert len(actions) <= system.most_steps(len(words)) == twin.n_steps
    system.load_words(words, list(tree.tags))
    scorer = StateScorer(system, twin.templates, SmallWeights(0, system.events).tables())
    agenda = Agenda(scorer, 1)
    for step, action in enumerate(actions):
        assert action in twin.legal(twin.replay(actions[:step]))
        assert action in agenda.legal(actions[:step])
    assert agenda.legal(actions) == []
    # One phrase fewer may lie on another than do.
    if fewer := n_unaries(constituents) - 1:
        short = ConstituentTransitions(WordFields(), LABELS, ["S0t"], max_unaries=max(1, fewer))
        if fewer > 0:
            with pytest.raises(
                ValueError, match=f"{fewer + 1} unary phrases in a row; max_unaries is {fewer}"
            ):
                short.oracle(len(words), constituents)
    known = {each.label for each in constituents}
    for label in known:
        rest = [other for other in LABELS if other != label]
        with pytest.raises(ValueError, match=f"unknown label '{label}'"):
            ConstituentTransitions(WordFields(), rest, ["S0t"]).oracle(len(words), constituents)


def test_compiled_sentences_hold_the_gold_actions_and_then_wait() -> None:
    system = SYSTEM.new(SYSTEM.parse("action: S0t"), 2)
    learner = Perceptron([TrainingRows(width) for width in system.tables.values()], Learning())
    tree = (Constituent("L0", 0, 2, 1), Constituent("L1", 0, 1, 0))
    derivation = system.compile(["我", "学"], ["N", "V"], tree, learner)
    assert derivation is not None
    actions = system.oracle(2, tree)
    assert list(derivation.gold[: len(actions)]) == actions
    assert set(derivation.gold[len(actions) :]) == {IDLE}
    assert len(derivation.gold) == system.most_steps(2) == 13
    assert system.compile([], [], (), learner) is None
    with pytest.raises(ValueError, match="zip"):
        system.compile(["我", "学"], ["N"], tree, learner)


# Legal actions ------------------------------------------------------------------------------------


@given(SEEDS, st.integers(1, 9), st.sampled_from([1, 2, 3, 40]), st.integers(1, 3))
@quick_examples(60)
@example(random.Random(1), 1, 1, 1)
def test_the_mask_is_that_of_the_twin(
    draw: random.Random, n: int, n_labels: int, max_unaries: int
) -> None:
    heads = random_heads(draw, label_names(n_labels), TAGS)
    twin, agenda = no_weights(n, n_labels, max_unaries, heads=heads)
    actions = random_walk(draw, agenda, twin.n_steps)
    assert agenda.system.most_steps(n) == twin.n_steps
    for step in range(len(actions)):
        assert agenda.legal(actions[:step]) == twin.legal(twin.replay(actions[:step]))
    tree = tree_of(agenda, actions)
    ConstituencySentence(tuple(twin.words), tuple(twin.tags), tree)
    assert n_unaries(tree) <= max_unaries
    # There is one way to each tree.
    assert agenda.system.oracle(n, tree) == actions


@looped(("n", "n_labels", "max_unaries"), [(1, 2, 3), (2, 2, 3), (3, 1, 1), (3, 2, 1), (4, 1, 1)])
def test_every_tree_has_one_derivation(n: int, n_labels: int, max_unaries: int) -> None:
    _, agenda = no_weights(n, n_labels, max_unaries)
    found = Counter(tree_of(agenda, actions) for _, actions in agenda.derivations(100_000))
    assert set(found) == all_trees(n, tuple(label_names(n_labels)), max_unaries)
    assert set(found.values()) == {1}


@looped("tags", [["P"], ["P", "N"], ["N", "X"], ["N", "P", "N"]])
def test_phrases_have_heads_of_their_kind(tags: list[str]) -> None:
    """Of all trees those are found whose heads are known; X may be the head of anything."""
    heads = (("L0", "P"), ("L0", "L1"), ("L1", "N"), ("L1", "L0"))
    any_tag = [(label, "X") for label in ("L0", "L1")]
    system = ConstituencySystem(1, heads)
    templates = system.parse("action: S0t")
    words = ["我"] * len(tags)
    twin = system.twin(words, tags, templates, lambda _: [0.0] * 999, 2)
    agenda = agenda_of(system, twin, tables_of(system, twin), None)

    def is_known(tree: tuple[Constituent, ...]) -> bool:
        def head_of(phrase: Constituent, parts: list[tuple[str, int]]) -> tuple[str, int]:
            pairs.append((phrase.label, next(name for name, at in parts if at == phrase.head)))
            return phrase.label, phrase.head

        pairs: list[tuple[str, str]] = []
        if tree:
            sentence = ConstituencySentence(tuple(words), tuple(tags), tree)
            sentence.fold([(tag, at) for at, tag in enumerate(tags)], head_of)
        return {*pairs} <= {*heads, *any_tag}

    found = {tree_of(agenda, actions) for _, actions in agenda.derivations(100_000)}
    assert found == set(filter(is_known, all_trees(len(tags), ("L0", "L1"), 1)))


def test_words_that_head_nothing_get_a_tree() -> None:
    twin, agenda = no_weights(3, 2, heads=(("L0", "N"),))
    for tag in ("L0", "N", "PU"):
        decoder = ConstituentDecoder(agenda)
        assert decoder.parse([(twin.words, [tag] * 3)], [[(0, 2, "L1")]])[0]
        assert decoder.parse([(twin.words, [tag] * 3)])[0]


# What is given ------------------------------------------------------------------------------------


@given(SEEDS, st.integers(1, 9), st.integers(1, 3), st.integers(1, 3))
@quick_examples(60)
def test_given_constituents_leave_a_way_from_everywhere(
    draw: random.Random, n: int, n_labels: int, max_unaries: int
) -> None:
    given_ones = random_given(draw, n, label_names(n_labels))
    n_given = Counter((begin, end) for begin, end, _ in given_ones)
    if n_labels == 1 and max(n_given.values(), default=0) > 1:
        with pytest.raises(ValueError, match="is given twice over the words"):
            no_weights(n, n_labels, max_unaries, given_ones)
        return
    heads = random_heads(draw, label_names(n_labels), TAGS)
    twin, agenda = no_weights(n, n_labels, max_unaries, given_ones, heads)
    for _ in range(3):
        # What is given may need an unary phrase, and another below it, that none else may have.
        tree = tree_of(agenda, random_walk(draw, agenda, twin.n_steps + 2 * len(given_ones)))
        ConstituencySentence(tuple(twin.words), tuple(twin.tags), tree)
        assert has_given(tree, given_ones)
        for words, chain in groupby(tree, lambda each: (each.begin, each.end)):
            most = max_unaries + 2 * n_given[words] + (words[1] - words[0] > 1)
            assert len(list(chain)) <= most


@given(SEEDS, st.sampled_from([(1, 2), (2, 2), (3, 1), (3, 2), (4, 1)]), st.integers(1, 2))
@quick_examples(25)
def test_all_trees_that_have_what_is_given_are_found_and_no_others(
    draw: random.Random, size: tuple[int, int], max_unaries: int
) -> None:
    n, n_labels = size
    given_ones = random_given(draw, n, label_names(n_labels), 1 if n_labels == 1 else 2)
    if n > 2:
        max_unaries = 1
        given_ones = given_ones[: 2 if n_labels == 1 else 1]
    _, agenda = no_weights(n, n_labels, max_unaries, given_ones)
    found = [tree_of(agenda, actions) for _, actions in agenda.derivations(100_000)]
    assert len(set(found)) == len(found) < 100_000
    assert all(has_given(tree, given_ones) for tree in found)
    # Some take more unary phrases.
    assert {tree for tree in found if n_unaries(tree) <= max_unaries} == {
        tree
        for tree in all_trees(n, tuple(label_names(n_labels)), max_unaries)
        if has_given(tree, given_ones)
    }


@given(sentences_with_trees(longest=6), st.integers(1, 3), SEEDS)
@quick_examples(40)
def test_whole_trees_that_are_given_are_kept_by_any_beam(
    tree: ConstituencySentence, width: int, draw: random.Random
) -> None:
    constituents: list[Constituent] = []
    for each in tree.constituents:
        if not constituents or constituents[-1] != each:
            constituents.append(each)
    # All that are given may be there, however few unary phrases may be.
    system = ConstituencySystem(1)
    names = {name: f"L{i}" for i, name in enumerate(LABELS)}
    given_ones = [(each.begin, each.end, names[each.label]) for each in constituents]
    words = (list(tree.words), list(tree.tags))
    twin = twin_of(draw, system, words, system.parse("action: S0c S1c | S0w N0t"), len(LABELS))
    agenda = agenda_of(system, twin, tables_of(system, twin), width, given=given_ones)
    ((_, actions),) = agenda.derivations(1)
    found = tree_of(agenda, actions)
    assert has_given(found, given_ones)
    trees = ConstituentDecoder(agenda).parse([words, words], [given_ones, None])
    assert trees[0] == found
    assert trees[1] == ConstituentDecoder(agenda).parse([words])[0]


@looped(
    ("given_ones", "message"),
    [
        ([(0, 2, None), (1, 3, "L0")], "words 0 to 1 and 1 to 2 overlap"),
        ([(1, 3, None), (0, 4, None), (0, 2, None)], "words 0 to 1 and 1 to 2 overlap"),
        ([(0, 5, None)], "constituent 0:5 is out of range for 4 words"),
        ([(-1, 2, None)], "constituent -1:2"),
        ([(2, 2, None)], "constituent 2:2"),
        ([(3, 2, None)], "constituent 3:2"),
        ([(0, 2**40, None)], "0:1099511627776"),
        ([(0, 2, "L9")], "unknown label 'L9' of a given constituent; choose from L0, L1, L2"),
        ([(0, 2, "")], "unknown label '' of a given constituent"),
        ([(0, 1, None)] * 101, "more than 100 constituents are given over the words 0 to 0"),
        ([(0, 4, "L0"), (0, 4, "L1")] * 51, "more than 100 constituents are given .* 0 to 3"),
        ([(0, 1, "L0"), (0, 1, "L0")], "L0 is given twice over the words 0 to 0"),
        ([(1, 3, "L0"), (0, 1, None), (1, 3, "L0")], "L0 is given twice over the words 1 to 2"),
    ],
)
def test_given_constituents_must_fit(given_ones: list[Given], message: str) -> None:
    decoder = decoder_of(n_labels=3)
    words = ["我", "学", "大", "小"], ["N"] * 4
    with pytest.raises(ValueError, match=message):
        decoder.parse([words], [given_ones])
    with pytest.raises(ValueError, match=message):
        decoder.system.load_words(*words, given_ones)


def test_the_outermost_of_several_stands_first() -> None:
    decoder = decoder_of(n_labels=3)
    words = ["我", "学"], ["N", "V"]
    given_ones = [(0, 2, "L2"), (0, 1, "L0"), (0, 2, "L0"), (0, 1, "L1"), (0, 1, "L2")]
    (tree,) = decoder.parse([words], [given_ones])
    assert tree is not None
    assert has_given(tree, given_ones)
    whole = [each.label for each in tree if each.end - each.begin == 2]
    assert whole.index("L2") < len(whole) - 1 - whole[::-1].index("L0")
    (chain,) = decoder.parse([words], [[(0, 1, "L0")] + [(0, 1, "L1"), (0, 1, "L0")] * 49])
    assert chain is not None
    assert sum(each.end == 1 for each in chain) >= 99


# Search -------------------------------------------------------------------------------------------


@given(SEEDS, st.sampled_from([(1, 3), (2, 2), (3, 2)]))
@quick_examples(6)
@example(random.Random(4), (3, 2))
def test_without_a_limit_every_derivation_is_found(
    draw: random.Random, size: tuple[int, int]
) -> None:
    system, twin = drawn_twin(draw, *size, n_templates=4)
    everything = list(twin.all())
    tables = tables_of(system, twin)
    found = agenda_of(system, twin, tables, None).derivations(len(everything) + 1)
    assert sorted((s, without_idling(actions)) for s, actions in found) == sorted(everything)
    assert [score for score, _ in found] == sorted((s for s, _ in everything), reverse=True)
    # The best of those that there are, and not only of those that end when it is the best.
    assert found[0][0] == max(score for score, _ in everything)
    scoring = agenda_of(system, twin, tables, 1)
    for score, actions in found[:3]:
        assert scoring.score(without_idling(actions)) == score == twin.score(actions)


@given(SEEDS, st.integers(1, 3))
@quick_examples(8)
def test_without_a_limit_the_search_ends_when_the_best_is_complete(
    draw: random.Random, n: int
) -> None:
    system, twin = drawn_twin(draw, n, n_labels=1 if n == 3 else 2, n_templates=4)
    for n_best in (1, 2, 10):
        expected = twin.beam(float("inf"), n_best=n_best)
        agenda = agenda_of(system, twin, tables_of(system, twin), None)
        assert agenda.derivations(n_best) == expected
        assert all(actions[-1] in (IDLE, TERMINATE) for _, actions in expected)


@given(
    SEEDS, st.integers(1, 6), st.sampled_from([3, 6]), st.integers(1, 3),
    st.sampled_from([0.0, 1.0, 2.5, 6.0, inf]),
)  # fmt: skip
@quick_examples(40)
def test_what_is_complete_stays_in_the_beam_until_it_is_the_best(
    draw: random.Random, n: int, n_best: int, n_labels: int, margin: float
) -> None:
    n_templates = draw.choice([1, 5])
    system, twin = drawn_twin(draw, n, n_labels, n_templates, max_unaries=draw.randint(1, 3))
    for width in (1, 2, 4):
        best = twin.beam(width, margin=margin)
        # Lists of several are searched for without a margin.
        expected = twin.beam(width, n_best=n_best)
        for memo in (True, False):
            tables = tables_of(system, twin)
            agenda = agenda_of(system, twin, tables, width, memo=memo, margin=margin)
            assert agenda.derivations(1) == best
            assert agenda.derivations(n_best) == expected


# Atoms --------------------------------------------------------------------------------------------


def test_every_atom_shows_what_its_name_says() -> None:
    draw = random.Random(7)
    for begin in range(0, len(ATOMS), 20):
        some = ATOMS[begin : begin + 20]
        templates = SYSTEM.parse(" | ".join(f"action: {name}" for name in some))
        seen: set[StateTemplate] = set()
        for n in (9, *[16] * 20):
            if seen == {*templates}:
                break
            twin = twin_of(draw, SYSTEM, sentence(draw, n), templates, 2)
            check_scores(SYSTEM, twin, without_idling(walk(draw, twin)))
            assert isinstance(twin.weights, SmallWeights)
            seen |= {feature.template for feature in twin.weights.drawn}
        assert seen == {*templates}


@given(SEEDS, st.integers(1, 9), st.integers(1, 3))
@WALKED
def test_templates_of_any_atoms_score_as_the_twin_says(
    draw: random.Random, n: int, n_labels: int
) -> None:
    system, twin = drawn_twin(draw, n, n_labels, max_unaries=3)
    check_scores(system, twin, walk(draw, twin))


@given(SEEDS, st.integers(3, 14))
@quick_examples(60)
def test_brackets_separators_and_sizes_score_as_the_twin_says(draw: random.Random, n: int) -> None:
    templates = SYSTEM.parse("action: bracket | separator | separators | size(S0) size(S1)")
    words = draw.choices(MARKS if draw.random() < 0.5 else ["(", ")", "[", "]", "a", ","], k=n)
    twin = twin_of(draw, SYSTEM, (words, ["N"] * n), templates, 1)
    check_scores(SYSTEM, twin, walk(draw, twin))


def shown(words: str, actions: str, atom: str) -> list[int]:
    """The values, from 1 to 8, that an atom shows after actions.

    actions: s to shift, l and r for temporary phrases headed from the left and the right, u for a
    phrase on the last node.
    """
    templates = SYSTEM.parse(f"action: {atom}")
    made = SYSTEM.new(templates, 1)
    listed = words.split()
    made.load_words(listed, ["N"] * len(listed))
    values = {Feature(templates[0], (("number", v),)).key: v for v in range(1, 9)}
    rows = {key: [float(1 << 4 * (v - 1))] * made.n_actions for key, v in values.items()}
    agenda = Agenda(StateScorer(made, templates, [table_of(made.n_actions, rows)]), 1)
    taken = [{"s": SHIFT, "u": 3, "l": 6, "r": 7}[action] for action in actions]
    sums = int(agenda.score([*taken, SHIFT]) - agenda.score(taken))
    times = [sums >> 4 * (v - 1) & 15 for v in range(1, 9)]
    return [v for v, n in enumerate(times, 1) for _ in range(n)]


@looped(
    ("words", "actions", "expected"),
    [
        ("a b c d e", "ss", []),
        ("( b c d e", "ss", [1]),
        ("( b ) d e", "ss", [1]),
        ("( b ) d e", "sss", [2]),
        ("( b ) d e", "sssl", [3]),
        ("( b ) d e", "ssslr", []),
        ("( b ) d e", "ssu", [1]),
        # A phrase over a bracket is none.
        ("( b ) d e", "su", []),
        ("( b ) d e", "sssu", [3]),
        # The last left bracket counts, closed or not.
        ("( ( c ) ) f", "ssss", [2]),
        ("( ( c ) ) f", "sssss", [2]),
        ("( ( c ) ) f", "ssssll", [1]),
        ("( ( c ) ) f", "ssssllsl", [3]),
        ("( a ) ( c ) g", "sssssslr", [2]),
        ("( a ( c ) ) g", "ssssslls", [2]),
        # Another bracket that closes nothing, or one of another kind.
        ("( b ) ] e f", "ssss", [2]),
        ("( b ] ) e f", "sss", [1]),
        ("( [ ) b c", "sss", [1]),
        ("-LRB- b ) d e", "sss", [2]),
        ("“ b '' d e", "sss", [2]),
        ("《 b 〉 d e", "sss", [1]),
        ("） （ c ) e", "ssss", [2]),
    ],
)
def test_the_state_of_the_last_left_bracket(words: str, actions: str, expected: list[int]) -> None:
    assert shown(words, actions, "bracket") == expected


@looped(
    ("words", "actions", "kinds", "how_many"),
    [
        ("a b c", "s", [], []),
        ("a b c", "ss", [], [1]),
        ("a , c d", "sss", [], [1]),
        # Between the heads: that of the second is the comma, or the first word.
        ("a , c d", "ssrs", [], [1]),
        ("a , c d", "ssls", [1], [2]),
        ("a , ， c d", "ssslls", [1], [3]),
        ("a , 。 c ; d e", "sssllsssrr", [1, 2, 4], [4]),
        ("、 a . 、 c", "sssrrs", [], [1]),
        ("a 、 、 c d", "ssslls", [3], [3]),
    ],
)
def test_each_kind_of_separator_counts_once(
    words: str, actions: str, kinds: list[int], how_many: list[int]
) -> None:
    assert shown(words, actions, "separator") == kinds
    assert shown(words, actions, "separators") == how_many


# Use ----------------------------------------------------------------------------------------------


def decoder_of(n_labels: int = 2) -> ConstituentDecoder:
    templates = SYSTEM.parse("action: S0w N0w | S0c S1c | separators bracket")
    made = SYSTEM.new(templates, n_labels)
    scorer = StateScorer(made, templates, SmallWeights(0, made.events).tables())
    return ConstituentDecoder(Agenda(scorer, 4))


def test_a_decoder_parses_sentence_by_sentence() -> None:
    decoder = decoder_of()
    one, two = (["我"], ["N"]), (["我", "学"], ["N", "V"])
    trees = decoder.parse([one, two, one], [None, [(0, 2, "L1")], [(0, 1, "L1")]])
    assert trees[0] == ()
    assert trees[1] is not None
    assert has_given(trees[1], [(0, 2, "L1")])
    assert trees[2] is not None
    assert has_given(trees[2], [(0, 1, "L1")])
    assert decoder.parse([], []) == []
    assert decoder.parse([([], [])]) == [()]
    assert decoder.nbest(*one, 1) == [(0.0, ())]
    assert decoder.nbest([], [], 2) == [(0.0, ())]
    with pytest.raises(ValueError, match="k must be at least 1"):
        decoder.nbest(*one, 0)


def test_a_decoder_refuses_what_is_no_tagged_sentence() -> None:
    decoder = decoder_of()
    with pytest.raises(ValueError, match="expected a tag for each of 2 words, got 1"):
        decoder.parse([(["我", "学"], ["N"])])
    with pytest.raises(TypeError):
        decoder.parse([(["我", 1], ["N", "V"])])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        decoder.parse([(["我"], [None])])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="pickle the model"):
        pickle.dumps(decoder)


def test_systems_that_cannot_be() -> None:
    words = WordFields()
    with pytest.raises(ValueError, match="duplicate labels"):
        ConstituentTransitions(words, ["X", "X"], ["S0t"])
    with pytest.raises(ValueError, match="at most 10,000 phrase labels, got 10,001"):
        ConstituentTransitions(words, map(str, range(MAX_LABELS + 1)), ["S0t"])
    for max_unaries in (0, MAX_UNARIES + 1):
        with pytest.raises(ValueError, match="max_unaries must be at least 1"):
            ConstituentTransitions(words, ["X"], ["S0t"], max_unaries=max_unaries)
    with pytest.raises(ValueError, match="unknown atom 'S9t'"):
        ConstituentTransitions(words, ["X"], ["S9t"])
    with pytest.raises(ValueError, match="unknown label 'Y'; choose from X"):
        ConstituentTransitions(words, ["X"], ["S0t"], heads=[("Y", "N")])
    many = [str(i) for i in range(MAX_LABELS)]
    with pytest.raises(ValueError, match="10,000 phrase labels and 1 categories is too large"):
        ConstituentTransitions(words, many, ["S0t"], heads=[("1", "N")])


def test_systems_can_be_pickled_and_copied() -> None:
    made = ConstituencySystem(5, (("L0", "N"), ("L1", "L0"))).new(
        SYSTEM.parse("action: S0t N0t separator"), 2
    )
    for again in (made.copy(), pickle.loads(pickle.dumps(made))):
        assert type(again) is ConstituentTransitions
        assert (again.atoms, again.events, again.labels) == (made.atoms, made.events, made.labels)
        assert again.max_unaries == 5
        assert again.heads == made.heads == (("L0", "N"), ("L1", "L0"))


def test_a_sentence_leaves_nothing_to_the_next() -> None:
    draw = random.Random(1)
    sentences = [sentence(draw, n) for n in (9, 1, 3, 30, 2, 9)]
    decoder = decoder_of()
    alone = [decoder_of().parse([each])[0] for each in sentences]
    assert decoder.parse(sentences) == alone
    assert [decoder.parse([each])[0] for each in sentences] == alone
