"""Words, tags and trees in one search: against a slow twin, exhaustive enumeration and by hand."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
import pytest
from agenda_twin import (
    APPEND,
    NO_WORD,
    START,
    Item,
    SmallWeights,
    Value,
    Words,
    WordsTwin,
    consumed,
    empty_tables,
)
from example_counts import quick_examples
from hypothesis import example, given
from hypothesis import strategies as st
from looped import looped
from numpy.typing import NDArray
from parser_twins import random_tree

from spacy_structreg.features.joint import WORD_TREE_TABLES
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer, new_learner
from spacy_structreg.tasks.joint.word_trees import WordTreeDecoder, WordTreeTransitions
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms

N_TAGS, N_LABELS = 2, 2
END, ROOT, LEFT = START + N_TAGS, START + N_TAGS + 1, START + N_TAGS + 2
RIGHT = LEFT + N_LABELS
SYSTEM = WordTreeTransitions(CharacterAtoms(), N_TAGS, N_LABELS)
Arc = tuple[int, int, int]  # child, head and label


@dataclass(frozen=True)
class State:
    """stack: numbers of words, the top last. arcs: in the order in which they were made."""

    words: Words = ()
    closed: bool = True
    stack: tuple[int, ...] = ()
    arcs: tuple[Arc, ...] = ()

    def children(self, head: int, side: str) -> list[Arc]:
        """Those on one side, the outermost first."""
        found = [arc for arc in self.arcs if arc[1] == head and (arc[0] < head) == (side == "l")]
        return sorted(found, reverse=side == "r")


@dataclass(frozen=True)
class WordTreesTwin(WordsTwin):
    """Words with trees of one text."""

    many_roots: bool = False
    best_labels: bool = True

    @property
    def start(self) -> State:
        return State()

    def legal(self, state: State) -> list[int]:
        i = consumed(state.words)
        if not state.closed:
            allowed = [*super().legal(state.words)]
            ends = any(action != APPEND for action in allowed)
            return [*([APPEND] if APPEND in allowed else []), *([END] if ends else [])]
        found = []
        if i < len(self.text):
            found = [action for action in super().legal(state.words) if action != APPEND]
        if len(state.stack) == 1 and (self.many_roots or i == len(self.text)):
            found.append(ROOT)
        if len(state.stack) > 1:
            found += range(LEFT, RIGHT + N_LABELS)
        return found

    def apply(self, state: State, action: int) -> State:
        if action < END:
            return replace(state, words=super().apply(state.words, action), closed=False)
        if action == END:
            stack = (*state.stack, len(state.words) - 1)
            return replace(state, closed=True, stack=stack)
        if action == ROOT:
            return replace(state, stack=())
        *rest, second, top = state.stack
        arc = (second, top, action - LEFT) if action < RIGHT else (top, second, action - RIGHT)
        return replace(state, stack=(*rest, arc[1]), arcs=(*state.arcs, arc))

    def is_final(self, state: State, n_actions: int) -> bool:
        return state.closed and not state.stack and consumed(state.words) == len(self.text)

    def slot(self, state: State, n_actions: int) -> int:
        """By the characters consumed, the trees and whether the word has ended."""
        ended = state.closed and bool(state.words)
        return 3 * consumed(state.words) - len(state.stack) + 2 * ended

    def competes(self, slot: int) -> bool:
        return True

    # Features -----------------------------------------------------------------------------------

    def events_of(self, action: int) -> dict[str, int]:
        if action == APPEND:
            return {"append": 0, "boundary": 0}
        if action < END:
            return {"arc": 0, "tag": action - START}
        if action == END:
            return {"separate": 0, "boundary": 1}
        return {"arc": 1} if action == ROOT else {"arc": 2 + action - LEFT}

    def atoms(self, state: State) -> dict[str, list[Value]]:
        atoms = super().atoms(state.words)
        ends = [0, *accumulate(len(word) for word, _ in state.words)]
        top_down = [*state.stack[::-1], None, None, None]
        nodes: dict[str, int | None] = {f"S{i}": top_down[i] for i in range(3)}
        for name in ("S0", "S1"):
            word = nodes[name]
            for side in "lr":
                arcs = [] if word is None else state.children(word, side)
                atoms[f"{name}v{side}"] = [] if word is None else [("number", 1 + len(arcs))]
                for place, suffix in enumerate(("", "2")):
                    arc = arcs[place] if place < len(arcs) else None
                    nodes[f"{name}{side}{suffix}"] = None if arc is None else arc[0]
                    label = f"{name}{side}{suffix}label"
                    atoms[label] = [] if arc is None else [("number", 1 + arc[2])]
        for name, word in nodes.items():
            if word is None:
                for form in ("{}w", "{}t", "start({})", "end({})", "len({})"):
                    atoms[form.format(name)] = [NO_WORD]
                continue
            begin, end = ends[word], ends[word + 1]
            seen = "".join(self.character(k)[1] for k in range(begin, end))
            atoms[f"{name}w"] = [("word", seen)]
            atoms[f"{name}t"] = [("number", 2 + state.words[word][1])]
            atoms[f"start({name})"] = [self.character(begin)]
            atoms[f"end({name})"] = [self.character(end - 1)]
            atoms[f"len({name})"] = [("number", 1 + min(end - begin, 4))]
        top, second = nodes["S0"], nodes["S1"]
        apart = 0 if top is None or second is None else top - second
        atoms["dist(S1,S0)"] = [("number", 7 if apart > 10 else min(apart, 6))] if apart else []
        return atoms

    # Search -------------------------------------------------------------------------------------

    def choices(self, item: Item) -> Iterator[tuple[int, float]]:
        """Of arcs with any label, the best one only, the first of equal ones."""
        scores = dict(super().choices(item))
        for first in (LEFT, RIGHT):
            arcs = range(first, first + N_LABELS)
            if self.best_labels and first in scores:
                best = max(arcs, key=lambda arc: scores[arc])
                for arc in arcs:
                    if arc != best:
                        del scores[arc]
        yield from scores.items()


def agenda_of(twin: WordTreesTwin, tables: Sequence[TrainedRows], width: int | None) -> Agenda:
    system = WordTreeTransitions(
        CharacterAtoms(twin.types, True),
        N_TAGS,
        N_LABELS,
        twin.max_word_length,
        many_roots=twin.many_roots,
        best_labels=twin.best_labels,
    )
    system.load_text(twin.text, twin.constraints)
    return Agenda(StateScorer(system, twin.templates, tables), width)


@st.composite
def twins(draw: st.DrawFn) -> WordTreesTwin:
    """Twins with small weights; templates join any atoms."""
    template = st.builds(
        StateTemplate,
        st.sampled_from(sorted(SYSTEM.events)),
        st.lists(st.sampled_from(SYSTEM.atoms), min_size=1, max_size=3, unique=True)
        .map(tuple)
        .filter(lambda atoms: "inner(w-1)" not in atoms or len(atoms) < 3),
    )
    text = draw(st.text(alphabet="我们的Ａ1", min_size=1, max_size=3))
    twin = WordTreesTwin(
        text,
        draw(st.lists(template, min_size=1, max_size=8, unique=True)),
        SmallWeights(draw(st.integers(0, 99)), SYSTEM.events),
        N_TAGS,
        draw(st.sampled_from([None, "extended"])),
        many_roots=draw(st.booleans()),
        best_labels=draw(st.booleans()),
    )
    if draw(st.booleans()):
        twin = replace(twin, max_word_length=draw(st.integers(1, 3)))
    if draw(st.booleans()):
        wishes = st.lists(st.integers(0, 2), min_size=len(text), max_size=len(text))
        twin = replace(twin, constraints=[0, *draw(wishes)[1:]])
    return twin


def tables_of(twin: WordTreesTwin) -> list[TrainedRows]:
    """Tables of all features that a twin's text has in any derivation."""
    for _ in replace(twin, max_word_length=None, constraints=None).all():
        pass
    assert isinstance(twin.weights, SmallWeights)
    return twin.weights.tables()


WHOLE_TABLE = WordTreesTwin(
    "我们的",
    parse_state_templates(["word_trees"], SYSTEM.events, SYSTEM.atoms, WORD_TREE_TABLES)[::4],
    SmallWeights(7, SYSTEM.events),
    N_TAGS,
)


@quick_examples(30)
@given(twins())
@example(WHOLE_TABLE)
def test_without_a_limit_every_derivation_is_found(twin: WordTreesTwin) -> None:
    twin = replace(twin, best_labels=False)
    tables = tables_of(twin)
    everything = list(twin.all())
    agenda = agenda_of(twin, tables, None)
    found = agenda.derivations(2 * len(everything) + 1)
    assert sorted(found) == sorted(everything)
    assert [score for score, _ in found] == sorted((s for s, _ in everything), reverse=True)
    for score, actions in found[:5]:
        assert agenda.score(actions) == score


@quick_examples(30)
@given(twins(), st.sampled_from([1, 2, 5]), st.sampled_from([1, 3]))
@example(WHOLE_TABLE, 3, 3)
def test_a_beam_keeps_the_best_of_each_slot(twin: WordTreesTwin, width: int, n_best: int) -> None:
    tables = tables_of(twin)
    assert agenda_of(twin, tables, width).derivations(n_best) == twin.beam(width, n_best=n_best)


@quick_examples(60)
@given(st.integers(0, 10**6), st.booleans())
def test_gold_actions_build_the_tree(seed: int, many_roots: bool) -> None:
    draw = random.Random(seed)
    lengths = [draw.randint(1, 3) for _ in range(draw.randint(1, 9))]
    heads = random_tree(draw, len(lengths))
    if many_roots:
        others = [draw.randint(1, 2) for _ in range(draw.randint(1, 4))]
        heads += [
            head if head < 0 else len(lengths) + head for head in random_tree(draw, len(others))
        ]
        lengths += others
    tags = [draw.randrange(N_TAGS) for _ in lengths]
    labels = [draw.randrange(N_LABELS) for _ in lengths]
    system = WordTreeTransitions(CharacterAtoms(), N_TAGS, N_LABELS, many_roots=many_roots)
    actions = system.oracle(lengths, tags, heads, labels)
    twin = WordTreesTwin("字" * sum(lengths), (), lambda _: (), N_TAGS, many_roots=many_roots)
    state = State()
    for action in actions:
        assert action in twin.legal(state)
        state = twin.apply(state, action)
    assert twin.is_final(state, len(actions))
    assert [(len(word), tag) for word, tag in state.words] == list(zip(lengths, tags, strict=True))
    wanted = {(i, head, labels[i]) for i, head in enumerate(heads) if head >= 0}
    assert set(state.arcs) == wanted
    assert len(actions) == sum(lengths) + 2 * len(lengths)


def test_what_is_no_tree_is_refused() -> None:
    for heads in ([1, 0], [2, 3, -1, 2], [-1, -1], [-1, 2]):
        n = len(heads)
        with pytest.raises(ValueError, match=r"a projective tree|out of range"):
            SYSTEM.oracle([1] * n, [0] * n, heads, [0] * n)
    with pytest.raises(ValueError, match="unknown tag 2"):
        SYSTEM.oracle([1], [2], [-1], [0])
    for label in (-1, N_LABELS):
        assert SYSTEM.oracle([1], [0], [-1], [label])
        for heads in ([1, -1], [-1, 0]):
            labels = [0 if head == -1 else label for head in heads]
            with pytest.raises(ValueError, match=f"label {label} is out of range"):
                SYSTEM.oracle([1, 1], [0, 0], heads, labels)
    with pytest.raises(ValueError, match="longer"):
        SYSTEM.oracle([1], [0], [-1, 0], [0, 0])


def decoder_of(twin: WordTreesTwin, tables: Sequence[TrainedRows], width: int) -> WordTreeDecoder:
    agenda = agenda_of(twin, tables, width)
    return WordTreeDecoder(agenda, ("N", "V"), ("a", "b"), "root")


@quick_examples(30)
@given(twins(), st.integers(0, 99))
def test_trees_are_laid_over_texts(twin: WordTreesTwin, seed: int) -> None:
    """White space is passed over; heads are numbers of the words of a text."""
    twin = replace(twin, constraints=None)
    tables = tables_of(twin)
    draw = random.Random(seed)
    parted = draw.random() < 0.3
    spaced = " ".join(["", *twin.text, ""]) if parted else f" {twin.text}  "
    constraints = [1] * len(twin.text) if parted else None
    _score, actions = replace(twin, constraints=constraints).beam(4)[0]
    state = twin.replay(actions)
    decoder = decoder_of(twin, tables, 4)
    texts = ["的", spaced, "", spaced]
    spans, starts, tags, heads, labels = decoder.trees(
        texts, [[len(t)] if t else [] for t in texts]
    )
    for number in (1, 3):
        part = slice(starts[number], starts[number + 1])
        found = [spaced[begin:end] for begin, end in spans[part].tolist()]
        assert found == [word for word, _ in state.words]
        assert tags[part].tolist() == [tag for _, tag in state.words]
        arcs = {child: (head, label) for child, head, label in state.arcs}
        assert list(zip(heads[part].tolist(), labels[part].tolist(), strict=True)) == [
            arcs.get(word, (-1, -1)) for word in range(len(state.words))
        ]
    assert starts[2] == starts[3]


@quick_examples(12)
@given(twins(), st.lists(st.tuples(*[st.integers(-1, 2)] * 3, st.integers(-3, 3)), max_size=6))
def test_a_guide_of_arcs_adds_its_scores(
    twin: WordTreesTwin, arcs: list[tuple[int, int, int, int]]
) -> None:
    """The best tree is that of all derivations by the model's score and the guide's together."""
    twin = replace(twin, constraints=None, best_labels=False)
    tables = tables_of(twin)
    arcs = [arc for arc in arcs if 0 <= arc[0] < len(twin.text)]

    def guide(sentence: str) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        assert sentence == twin.text
        return (
            np.array([arc[:3] for arc in arcs], dtype=np.int32).reshape(-1, 3),
            np.array([arc[3] for arc in arcs], dtype=np.float64),
        )

    def guided(score: float, actions: Sequence[int]) -> float:
        state = twin.replay(actions)
        firsts = [0, *accumulate(len(word) for word, _ in state.words)]
        made = {child: (firsts[head], label) for child, head, label in state.arcs}
        for word, first in enumerate(firsts[: len(state.words)]):
            above, label = made.get(word, (-1, -1))
            score += sum(
                arc[3] for arc in arcs if arc[:3] in {(first, above, label), (first, above, -1)}
            )
        return score

    decoder = WordTreeDecoder(
        agenda_of(twin, tables, 10_000), ("N", "V"), ("a", "b"), "root", arc_guide=guide
    )
    everything = list(twin.all())
    (best, _words), *_ = decoder.nbest(f"{twin.text} ", 1)
    assert best == pytest.approx(max(guided(*each) for each in everything))


@looped(
    ("places", "scores"),
    [([[3, 0, 0]], [1.0]), ([[-1, 0, 0]], [1.0]), ([[0, 1]], [1.0]), ([[0, 1, 0]], [1.0, 2.0])],
)
def test_arcs_of_a_guide_that_cannot_be_are_refused(
    places: list[list[int]], scores: list[float]
) -> None:
    arcs = np.array(places, dtype=np.int32), np.array(scores)
    decoder = WordTreeDecoder(
        agenda_of(WHOLE_TABLE, tables_of(WHOLE_TABLE), 4),
        ("N", "V"),
        ("a", "b"),
        "root",
        arc_guide=lambda sentence: arcs,
    )
    with pytest.raises(ValueError, match="guide"):
        decoder.trees(["我们的"], [[3]])


def test_a_copy_searches_alike() -> None:
    tables = tables_of(WHOLE_TABLE)
    agenda = agenda_of(WHOLE_TABLE, tables, 4)
    found = agenda.derivations(4)
    for system in (agenda.system.copy(), pickle.loads(pickle.dumps(agenda.system))):
        system.load_text(WHOLE_TABLE.text)
        again = Agenda(StateScorer(system, WHOLE_TABLE.templates, tables), 4)
        assert again.derivations(4) == found


def test_labels_that_do_not_fit_are_refused() -> None:
    agenda = Agenda(StateScorer(SYSTEM.copy(), (), empty_tables(SYSTEM)))
    with pytest.raises(ValueError, match="labels do not match those"):
        WordTreeDecoder(agenda, ("N", "V"), ("a",), "root")
    with pytest.raises(ValueError, match="1 to 10,000 arc labels"):
        WordTreeTransitions(CharacterAtoms(), 2, 10_001)


def test_a_sentence_becomes_a_derivation() -> None:
    learner = new_learner(SYSTEM)
    gold = SYSTEM.compile_trees(["我", "爱", "北京"], [0, 1, 0], [1, -1, 1], [0, 0, 1], learner)
    assert gold.gold == SYSTEM.oracle([1, 1, 2], [0, 1, 0], [1, -1, 1], [0, 0, 1])
    assert len(gold) == 4
    assert gold.units.tolist() == [0, 4]
    assert SYSTEM.compile_trees([], [], [], [], learner) is None
