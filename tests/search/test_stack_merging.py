"""Arc-standard parsing with merged states (Huang & Sagae 2010) against a beam that replays them."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from agenda_twin import SmallWeights
from example_counts import quick_examples
from hypothesis import example, given
from hypothesis import strategies as st
from looped import looped
from parser_twins import ROOT, STANDARD, ParserTwin, agenda_of, beginnings, is_tree, random_tree

from spacy_structreg.features.dependencies import MERGING
from spacy_structreg.features.state_templates import StateTemplate

FEW = "action: S0t S1t | S0w | S1t N0t | S2t"
WITH_CHILDREN = "action: S0t S1t | S1t S1lt S0t | S0rt S1rt N0t"
WITH_LABELS = "action: S0t S1t | S0llabel | S1rlabel S0t | S1llabel S1t"
WITH_DISTANCE = "action: dist(S1,S0) S0t | S0w S1w"
# The labels of children are seen as soon as their head is the second word, not before.
SEEN_LATER = "action: S1rlabel S0t | S1lw | end(S1r)"
TEMPLATES = [SEEN_LATER, FEW, WITH_CHILDREN, WITH_LABELS, WITH_DISTANCE, MERGING]


def made_twin(seed: int, n: int, templates: str, n_labels: int) -> ParserTwin:
    draw = random.Random(seed)
    parsed = STANDARD.parse(templates)
    weights = SmallWeights(seed, STANDARD.new(parsed, n_labels).tables)
    words, tags = draw.choices("大学生在", k=n), draw.choices(["N", "V"], k=n)
    return STANDARD.twin(words, tags, parsed, weights, n_labels)


def tables_of(twin: ParserTwin) -> list[object]:
    assert isinstance(twin.weights, SmallWeights)
    return twin.weights.tables()  # type: ignore[return-value]


@st.composite
def twins(draw: st.DrawFn, n_most: int) -> ParserTwin:
    """Sentences of few different words; templates of any atoms, or those above."""
    n_labels = draw(st.integers(1, 2))
    n = draw(st.integers(1, n_most if n_labels == 1 else n_most - 1))
    template = st.builds(
        StateTemplate,
        st.just("action"),
        st.lists(st.sampled_from(STANDARD.atoms), min_size=1, max_size=2, unique=True).map(tuple),
    )
    twin = made_twin(draw(st.integers(0, 999)), n, draw(st.sampled_from(TEMPLATES)), n_labels)
    if draw(st.booleans()):
        chosen = draw(st.lists(template, min_size=1, max_size=5, unique=True))
        weights = SmallWeights(0, STANDARD.new(chosen, n_labels).tables)
        twin = replace(twin, templates=chosen, weights=weights)
    return twin


@looped("templates", TEMPLATES)
@looped("n_labels", [1, 2])
def test_without_a_limit_the_best_of_all_is_found(templates: str, n_labels: int) -> None:
    for seed in range(3):
        twin = made_twin(seed, 5 if n_labels == 1 else 3, templates, n_labels)
        best = max(score for score, _ in twin.all())
        for memo in (True, False):
            agenda = agenda_of(STANDARD, twin, tables_of(twin), None, merge=True, memo=memo)
            ((score, actions),) = agenda.derivations(1)
            assert score == best == twin.score(actions) == agenda.score(actions)


@given(twins(7), st.sampled_from([1, 2, 3, 8, 50]), st.sampled_from([1, 4]))
@quick_examples(60)
@example(made_twin(3, 9, FEW, 1), 4, 4)
@example(made_twin(4, 9, MERGING, 2), 8, 1)
def test_a_beam_of_merged_states_equals_the_twin(twin: ParserTwin, width: int, n_best: int) -> None:
    expected = twin.beam(width, merge=True, n_best=n_best)
    agenda = agenda_of(STANDARD, twin, tables_of(twin), width, merge=True)
    found = agenda.derivations(n_best)
    assert found == expected
    for score, actions in found:
        assert score == twin.score(actions) == agenda.score(actions)
        assert is_tree(agenda.system.tree(actions)[0])


@pytest.mark.parametrize("n_labels", [1, 3])
def test_labels_that_nothing_sees_do_not_fill_the_beam(n_labels: int) -> None:
    twin = made_twin(1, 6, FEW, n_labels)
    twin = replace(twin, weights=SmallWeights(1, {"action": 1 + 2 * n_labels}))
    everything = twin.beam(10_000, merge=True, n_best=10_000)
    agenda = agenda_of(STANDARD, twin, tables_of(twin), None, merge=True)
    assert agenda.derivations(10_000) == everything
    # One state for each word that may be the root.
    assert len(everything) == 6


def test_merged_states_are_few_in_long_sentences() -> None:
    twin = made_twin(2, 400, FEW, 1)
    list(made_twin(2, 6, FEW, 1).all())
    twin.action_score(twin.replay([0, 0]), 0)
    agenda = agenda_of(STANDARD, twin, tables_of(twin), 8, merge=True)
    ((score, actions),) = agenda.derivations(1)
    assert score == agenda.score(actions)
    assert len(actions) == 799
    assert agenda.system.tree(actions)[0].count(ROOT) == 1
    assert agenda.n_items <= 1 + 8 * 799


@looped("seed", range(12))
def test_the_best_tree_that_has_the_given_arcs_is_found(seed: int) -> None:
    """Given heads count in what is merged, for what they forbid depends on them."""
    twin = made_twin(seed, 5, FEW, 1)
    draw = random.Random(seed)
    heads = [head if draw.random() < 0.5 else None for head in random_tree(draw, 5)]
    given_arcs = (heads, [None] * 5)
    allowed = beginnings(twin, *given_arcs)
    best = max(score for score, actions in twin.all() if tuple(actions) in allowed)
    tables = tables_of(twin)
    agenda = agenda_of(STANDARD, twin, tables, None, merge=True, given=given_arcs)
    ((score, actions),) = agenda.derivations(1)
    assert score == best == agenda.score(actions)
    tree = agenda.system.tree(actions)[0]
    assert all(head in (None, h) for head, h in zip(heads, tree, strict=True))
