"""Arc-eager and arc-standard parsing as transition systems, against their twins and brute force."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import inf

import pytest
from agenda_twin import SmallWeights
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from parser_twins import (
    ROOT,
    SYSTEMS,
    ParserTwin,
    System,
    agenda_of,
    all_trees,
    check_scores,
    is_tree,
    random_tree,
    tables_of,
    walk,
)

from spacy_structreg.features.state_templates import StateTemplate
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainingRows
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer
from spacy_structreg.tasks.dependencies.arcs import ParseDecoder
from spacy_structreg.tasks.word_fields import WordFields

ALPHABET = ["我", "我们", "Ab", "ab", "１2", "学", "大学生", "，", "xyz12", "Café-9"]
TAGS = ["N", "V", "PU"]
WALKED = quick_examples(25)
EACH_SYSTEM = pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)


def sentence(draw: random.Random, n: int) -> tuple[list[str], list[str]]:
    return draw.choices(ALPHABET, k=n), draw.choices(TAGS, k=n)


def no_weights(system: System, n_labels: int, n: int) -> tuple[ParserTwin, Agenda]:
    """A parser of n words to which all trees are alike."""
    templates = system.parse("action: S0t N0t")
    words, tags = sentence(random.Random(n), n)
    twin = system.twin(words, tags, templates, lambda _: [0.0] * 99, n_labels)
    return twin, agenda_of(system, twin, tables_of(system, twin), None)


def drawn_twin(draw: random.Random, system: System, n: int, n_templates: int = 8) -> ParserTwin:
    """A twin of a random sentence with small weights; templates join any atoms."""
    n_labels = draw.randint(1, 2)
    templates = set()
    while len(templates) < n_templates:
        event = draw.choice(system.events)
        atoms = draw.sample(system.own_atoms.get(event, system.atoms), draw.randint(1, 3))
        # Two atoms of one template cannot have many values.
        templates.add(StateTemplate(event, tuple(atoms)))
    return twin_of(draw, system, n, sorted(templates, key=str), n_labels)


def twin_of(
    draw: random.Random, system: System, n: int, templates: Sequence[StateTemplate], n_labels: int
) -> ParserTwin:
    weights = SmallWeights(draw.randrange(99), system.new(templates, n_labels).tables)
    return system.twin(*sentence(draw, n), templates, weights, n_labels)


SEEDS = st.integers(0, 2**32 - 1).map(random.Random)


# Gold derivations ---------------------------------------------------------------------------------


@EACH_SYSTEM
@given(SEEDS, st.integers(1, 25))
@quick_examples(50)
def test_gold_actions_rebuild_every_projective_tree(
    system: System, draw: random.Random, n: int
) -> None:
    twin, agenda = no_weights(system, 3, n)
    heads = random_tree(draw, n)
    labels = [draw.randrange(3) if head != ROOT else ROOT for head in heads]
    actions = agenda.system.oracle(heads, labels)
    assert len(actions) == 2 * n - 1
    for step, action in enumerate(actions):
        assert action in agenda.legal(actions[:step])
    assert agenda.legal(actions) == []
    assert agenda.system.tree(actions) == (heads, labels) == twin.tree(actions)


@EACH_SYSTEM
@looped("n", [1, 2, 3, 4])
def test_only_projective_trees_with_one_root_have_a_derivation(system: System, n: int) -> None:
    made = system.new(system.parse("action: S0t"), 1)
    for heads in product(range(ROOT, n), repeat=n):
        if is_tree(heads):
            assert len(made.oracle(heads, [0] * n)) == 2 * n - 1
        else:
            with pytest.raises(ValueError, match="a projective tree with one root"):
                made.oracle(heads, [0] * n)
    for head in (n, -2):
        with pytest.raises(ValueError, match="head"):
            made.oracle([head, *[0] * (n - 1)], [0] * n)


@EACH_SYSTEM
def test_labels_of_arcs_that_do_not_exist_are_refused(system: System) -> None:
    made = system.new(system.parse("action: S0t"), 2)
    for heads in ([1, ROOT, 1], [ROOT, 0, 0]):
        # That of the root is not looked at.
        for label in (-1, 2, 99):
            labels = [label if head == ROOT else 1 for head in heads]
            assert made.oracle(heads, labels) == made.oracle(heads, [1, 1, 1])
        for label in (-1, 2):
            with pytest.raises(ValueError, match=f"label {label} is out of range; there are 2"):
                made.oracle(heads, [1, 1, label])
        with pytest.raises(ValueError, match="shorter"):
            made.oracle(heads, [1, 1])


@EACH_SYSTEM
def test_compiled_sentences_hold_the_gold_actions(system: System) -> None:
    made = system.new(system.parse("action: S0t"), 2)
    learner = Perceptron([TrainingRows(width) for width in made.tables.values()], Learning())
    heads, labels = [1, ROOT, 1], [1, ROOT, 0]
    derivation = made.compile(["我", "学", "，"], ["N", "V", "PU"], heads, labels, learner)
    assert derivation is not None
    assert derivation.gold == made.oracle(heads, labels)
    assert made.compile([], [], [], [], learner) is None
    with pytest.raises(ValueError, match="a projective tree"):
        made.compile(["我", "学"], ["N", "V"], [ROOT, ROOT], [0, 0], learner)
    with pytest.raises(ValueError, match="zip"):
        made.compile(["我", "学"], ["N"], [ROOT, 0], [0, 0], learner)


# Legal actions ------------------------------------------------------------------------------------


@EACH_SYSTEM
@given(SEEDS, st.integers(1, 12), st.integers(1, 2))
@WALKED
def test_the_mask_is_that_of_the_twin(
    system: System, draw: random.Random, n: int, n_labels: int
) -> None:
    twin, agenda = no_weights(system, n_labels, n)
    actions = walk(draw, twin)
    for step in range(len(actions)):
        assert agenda.legal(actions[:step]) == twin.legal(twin.replay(actions[:step]))
    heads, labels = agenda.system.tree(actions)
    assert is_tree(heads)
    assert (heads, labels) == twin.tree(actions)
    assert all((label == ROOT) == (head == ROOT) for head, label in zip(heads, labels, strict=True))


@EACH_SYSTEM
@looped(("n", "n_trees"), [(1, 1), (2, 2), (3, 7), (4, 30), (5, 143)])
def test_every_path_ends_in_a_tree_and_every_tree_has_a_path(
    system: System, n: int, n_trees: int
) -> None:
    twin, agenda = no_weights(system, 1, n)
    found = Counter(
        tuple(agenda.system.tree(actions)[0]) for _, actions in agenda.derivations(10_000)
    )
    assert set(found) == set(all_trees(n))
    assert len(found) == n_trees
    assert sum(found.values()) == sum(1 for _ in twin.all())
    if system.name == "arc_eager":
        assert set(found.values()) == {1}
    if n < 5:
        paths = [[]]
        while paths:
            path = paths.pop()
            paths += [[*path, action] for action in agenda.legal(path)]
            assert agenda.legal(path) or len(path) == 2 * n - 1


@EACH_SYSTEM
@looped("width", [1, 4, 16])
def test_any_weights_give_trees_at_any_length(system: System, width: int) -> None:
    rich = {"arc_eager": "action: S0w N0w | S0t S1t | dist(S0,N0) | S0vl | S0label",
            "arc_standard": "action: S0w S1w | S0t S1t | N0t | dist(S1,S0)"}  # fmt: skip
    for n in (1, 2, 3, 50, 2_000):
        draw = random.Random(n)
        templates = system.parse(rich[system.name])
        twin = twin_of(draw, system, n, templates, 2)
        # Features of states that walks come upon; long sentences repeat them.
        walk(draw, replace(twin, words=twin.words[:50], tags=twin.tags[:50]))
        agenda = agenda_of(system, twin, tables_of(system, twin), width)
        for score, actions in agenda.derivations(3):
            heads, labels = agenda.system.tree(actions)
            assert heads.count(ROOT) == 1
            assert n > 100 or is_tree(heads)
            assert agenda.system.oracle(heads, labels)
            assert agenda.score(actions) == score


# Search -------------------------------------------------------------------------------------------


@EACH_SYSTEM
@given(SEEDS, st.integers(1, 4))
@WALKED
def test_without_a_limit_every_derivation_is_found(
    system: System, draw: random.Random, n: int
) -> None:
    twin = drawn_twin(draw, system, n)
    if n == 4:
        twin = replace(twin, n_labels=1)
        twin = replace(twin, weights=SmallWeights(3, system.new(twin.templates, 1).tables))
    everything = list(twin.all())
    agenda = agenda_of(system, twin, tables_of(system, twin), None)
    found = agenda.derivations(2 * len(everything))
    assert sorted(found) == sorted(everything)
    assert [score for score, _ in found] == sorted((s for s, _ in everything), reverse=True)
    for score, actions in found[:5]:
        assert agenda.score(actions) == score
    merged = agenda_of(system, twin, tables_of(system, twin), None, merge=True)
    ((score, actions),) = merged.derivations(1)
    assert score == found[0][0] == twin.score(actions)


@EACH_SYSTEM
@given(
    draw=SEEDS,
    n=st.integers(1, 7),
    n_best=st.sampled_from([3, 20]),
    margin=st.sampled_from([0.0, 1.0, 2.5, 6.0, inf]),
    merge=st.booleans(),
)
@quick_examples(40)
def test_a_beam_keeps_the_best_of_each_step(
    system: System, *, draw: random.Random, n: int, n_best: int, margin: float, merge: bool
) -> None:
    # With few features, states tie which differ in what is no longer seen.
    twin = drawn_twin(draw, system, n, n_templates=draw.choice([1, 2, 5]))
    for width in (1, 2, 3, 8):
        best = twin.beam(width, merge, margin=margin)
        # Lists of several are searched for without a margin.
        expected = twin.beam(width, merge, n_best)
        for memo in (True, False):
            tables = tables_of(system, twin)
            agenda = agenda_of(system, twin, tables, width, merge=merge, memo=memo, margin=margin)
            assert agenda.derivations(1) == best
            assert agenda.derivations(n_best) == expected


# Atoms --------------------------------------------------------------------------------------------


@EACH_SYSTEM
def test_every_atom_shows_what_its_name_says(system: System) -> None:
    draw = random.Random(7)
    for begin in range(0, len(system.atoms), 20):
        some = system.atoms[begin : begin + 20]
        templates = system.parse(" | ".join(f"action: {name}" for name in some))
        seen: set[StateTemplate] = set()
        for n in (9, *[16] * 20):
            if seen == {*templates}:
                break
            twin = twin_of(draw, system, n, templates, 3)
            check_scores(system, twin, walk(draw, twin))
            assert isinstance(twin.weights, SmallWeights)
            seen |= {feature.template for feature in twin.weights.drawn}
        assert seen == {*templates}


@EACH_SYSTEM
@given(SEEDS, st.integers(1, 9))
@WALKED
def test_templates_of_any_atoms_score_as_the_twin_says(
    system: System, draw: random.Random, n: int
) -> None:
    twin = drawn_twin(draw, system, n)
    check_scores(system, twin, walk(draw, twin))


@EACH_SYSTEM
def test_children_beyond_fifteen_count_as_fifteen(system: System) -> None:
    if system.name == "arc_standard":
        assert "S0vl" not in system.atoms
        return
    templates = system.parse("action: S0vr | S0sr | S0r2label | dist(S0,N0) | N0vl")
    twin = twin_of(random.Random(1), system, 20, templates, 2)
    shift, reduce, left, right = 0, 1, 2, 4
    # All on the first word, then all on the last.
    star = [shift, *[right + 1, reduce] * 19]
    check_scores(system, twin, draw_all(twin, star))
    chain = [shift, *[right] * 18]
    chain += [reduce] * 18 + [left, shift]
    check_scores(system, twin, draw_all(twin, chain))


def test_an_event_that_few_actions_raise_may_be_the_only_one() -> None:
    # SHIFT comes first, and raises none.
    system = SYSTEMS["arc_eager"]
    twin = twin_of(random.Random(5), system, 4, system.parse("right: N0w | S0w"), 2)
    everything = list(twin.all())
    found = agenda_of(system, twin, tables_of(system, twin), None).derivations(1_000)
    assert sorted(found) == sorted(everything)
    assert found[0][0] > 0


def draw_all(twin: ParserTwin, actions: list[int]) -> list[int]:
    """The same actions, with all features on their way drawn."""
    for step in range(len(actions)):
        state = twin.replay(actions[:step])
        for action in twin.legal(state):
            twin.action_score(state, action)
    return actions


# What is given ------------------------------------------------------------------------------------


@EACH_SYSTEM
@given(SEEDS, st.integers(1, 5))
@quick_examples(40)
def test_all_trees_that_have_the_given_arcs_are_found_and_no_others(
    system: System, draw: random.Random, n: int
) -> None:
    twin, _ = no_weights(system, 1, n)
    tree = random_tree(draw, n)
    heads = [head if draw.random() < 0.4 else None for head in tree]
    agenda = agenda_of(
        system, twin, tables_of(system, twin), None, given=(heads, [None] * n)
    )  # fmt: skip
    found = {tuple(agenda.system.tree(actions)[0]) for _, actions in agenda.derivations(100_000)}
    assert found == {
        other
        for other in all_trees(n)
        if all(head in (None, h) for head, h in zip(heads, other, strict=True))
    }


@EACH_SYSTEM
@given(SEEDS, st.integers(1, 14))
@quick_examples(150)
def test_no_legal_action_loses_what_is_given(system: System, draw: random.Random, n: int) -> None:
    twin, _ = no_weights(system, 1, n)
    share = draw.random()
    heads = [head if draw.random() < share else None for head in random_tree(draw, n)]
    agenda = agenda_of(
        system, twin, tables_of(system, twin), None, given=(heads, [None] * n)
    )  # fmt: skip
    actions: list[int] = []
    while len(actions) < 2 * n - 1:
        actions.append(draw.choice(agenda.legal(actions)))
    found, _ = agenda.system.tree(actions)
    assert is_tree(found)
    assert all(head in (None, h) for head, h in zip(heads, found, strict=True))


@EACH_SYSTEM
@given(SEEDS, st.integers(1, 4))
@WALKED
def test_given_labels_are_kept(system: System, draw: random.Random, n: int) -> None:
    twin, _ = no_weights(system, 2, n)
    labels = [draw.choice([None, 0, 1]) for _ in range(n)]
    for heads in ([None] * n, random_tree(draw, n)):
        agenda = agenda_of(system, twin, tables_of(system, twin), None, given=(heads, labels))
        trees = {
            (tuple(tree[0]), tuple(tree[1]))
            for tree in (agenda.system.tree(actions) for _, actions in agenda.derivations(100_000))
        }
        # The label of the root is not looked at.
        assert trees == {
            (other, chosen)
            for other in all_trees(n)
            if heads[0] is None or other == tuple(heads)
            for chosen in product([ROOT, 0, 1], repeat=n)
            if all(
                label == ROOT if head == ROOT else label != ROOT and wish in (None, label)
                for head, label, wish in zip(other, chosen, labels, strict=True)
            )
        }


@EACH_SYSTEM
@given(SEEDS, st.integers(1, 30), st.sampled_from([1, 4]), st.booleans())
@WALKED
def test_whole_trees_that_are_given_are_kept_by_any_beam(
    system: System, draw: random.Random, n: int, width: int, merge: bool
) -> None:
    twin = drawn_twin(draw, system, n, n_templates=3)
    heads = random_tree(draw, n)
    labels = [draw.randrange(twin.n_labels) if head != ROOT else ROOT for head in heads]
    agenda = agenda_of(
        system, twin, tables_of(system, twin), width, merge=merge, given=(heads, labels)
    )  # fmt: skip
    ((_, actions),) = agenda.derivations(1)
    assert agenda.system.tree(actions) == (heads, labels)


# Use ----------------------------------------------------------------------------------------------


def decoder_of(system: System, width: int | None = 4) -> ParseDecoder:
    made = system.new(system.parse("action: S0w N0w"), 2)
    tables = SmallWeights(0, made.tables).tables()
    scorer = StateScorer(made, system.parse("action: S0w N0w"), tables)
    return ParseDecoder(Agenda(scorer, width), ["a", "b"], "root")


@EACH_SYSTEM
def test_a_decoder_parses_sentence_by_sentence(system: System) -> None:
    decoder = decoder_of(system)
    one, two = (["我"], ["N"]), (["我", "学"], ["N", "V"])
    given_arcs = [None, ([ROOT, None], [None, 1]), ([1, None], [None, None])]
    trees = decoder.parse([one, two, two], given_arcs)
    assert trees == [([ROOT], [ROOT]), ([ROOT, 0], [ROOT, 1]), ([1, ROOT], [0, ROOT])]
    assert decoder.parse([], []) == []
    assert decoder.parse([([], [])]) == [([], [])]
    assert [tree for _, tree in decoder.nbest(*one, 5)] == [([ROOT], [ROOT])]
    assert decoder.nbest([], [], 1) == [(0.0, ([], []))]
    with pytest.raises(ValueError, match="k must be at least 1"):
        decoder.nbest(*one, 0)


@EACH_SYSTEM
@looped(
    "given_arcs",
    [
        ([2, None], [None, None]),
        ([-3, None], [None, None]),
        ([1, 0], [None, None]),
        ([2**40, None], [None, None]),
        ([None, None], [None, 2]),
        ([None, None], [None, -2]),
        ([None], [None, None]),
        ([None, None], [None] * 3),
    ],
)
def test_given_heads_and_labels_must_exist(
    system: System, given_arcs: tuple[list[int | None], list[int | None]]
) -> None:
    decoder = decoder_of(system)
    with pytest.raises(ValueError, match=r"head or label|cycle"):
        decoder.parse([(["我", "学"], ["N", "V"])], [given_arcs])
    with pytest.raises(ValueError, match=r"head or label|cycle"):
        decoder.system.load_words(["我", "学"], ["N", "V"], given_arcs)


@EACH_SYSTEM
def test_a_decoder_refuses_what_is_no_tagged_sentence(system: System) -> None:
    decoder = decoder_of(system)
    with pytest.raises(ValueError, match="expected a tag for each of 2 words, got 1"):
        decoder.parse([(["我", "学"], ["N"])])
    with pytest.raises(TypeError):
        decoder.parse([(["我", 1], ["N", "V"])])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        decoder.parse([(["我"], [None])])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="labels do not match those"):
        ParseDecoder(decoder.agenda, ["a"], "root")
    with pytest.raises(TypeError, match="pickle the model"):
        pickle.dumps(decoder)


@EACH_SYSTEM
def test_systems_that_cannot_be(system: System) -> None:
    for n_labels in (0, 10_001):
        with pytest.raises(ValueError, match="expected 1 to 10,000 arc labels"):
            system.make(WordFields(), n_labels, ["S0t"])
    with pytest.raises(ValueError, match="unknown atom 'S9t'"):
        system.make(WordFields(), 1, ["S9t"])
    with pytest.raises(ValueError, match="unknown event 'append'"):
        system.make(WordFields(), 1, ["S0t"], ["append"])
    with pytest.raises(ValueError, match="2 actions do not build a tree over 3 words"):
        no_weights(system, 1, 3)[1].system.tree([0, 0])


@EACH_SYSTEM
def test_systems_can_be_pickled_and_copied(system: System) -> None:
    made = system.new(system.parse("action: S0t N0t", "action: S0w"), 2)
    for again in (made.copy(), pickle.loads(pickle.dumps(made))):
        assert type(again) is type(made)
        assert (again.atoms, again.events, again.n_labels) == (made.atoms, made.events, 2)


def test_a_sentence_leaves_nothing_to_the_next() -> None:
    for system in SYSTEMS.values():
        decoder = decoder_of(system)
        draw = random.Random(1)
        sentences = [sentence(draw, n) for n in (9, 1, 3, 30, 2, 9)]
        alone = [decoder_of(system).parse([each])[0] for each in sentences]
        assert decoder.parse(sentences) == alone
        assert [decoder.parse([each])[0] for each in sentences] == alone
