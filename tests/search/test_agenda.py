"""The agenda against exhaustive enumeration and a beam kept by sorting, on words."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import pytest
from agenda_twin import (
    RowWeights,
    SmallWeights,
    TiedError,
    WordsTwin,
    agenda_of,
    empty_tables,
    ends_of,
    words_of,
)
from example_counts import quick_examples
from hypothesis import example, given, reject
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.features.joint import JOINT_TABLES
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer, new_learner
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms
from spacy_structreg.tasks.segmentation.words import WordTransitions
from spacy_structreg.training.agenda import AgendaTrainer

WIDTHS = [1, 2, 4, 16]
MARGINS = [0.0, 0.5, 1.0, 2.5, 6.0, 1e9, inf, inf]
EVENTS = {n_tags: WordTransitions(CharacterAtoms(), n_tags).events for n_tags in (1, 3)}
ATOMS = WordTransitions(CharacterAtoms()).atoms


def parse(*texts: str, n_tags: int = 1) -> tuple[StateTemplate, ...]:
    return parse_state_templates(texts, EVENTS[n_tags], ATOMS, JOINT_TABLES)


@st.composite
def twins(draw: st.DrawFn) -> WordsTwin:
    """Twins with small weights; templates join any atoms."""
    n_tags = draw(st.sampled_from([1, 3]))
    template = st.builds(
        StateTemplate,
        st.sampled_from(sorted(EVENTS[n_tags])),
        st.lists(st.sampled_from(ATOMS), min_size=1, max_size=3, unique=True).map(tuple),
    )
    # Few characters, so that words repeat; with types, full-width forms, and one beyond the BMP.
    text = draw(st.text(alphabet="我们的我1１Ａ，𠮷", max_size=6 if n_tags == 1 else 4))
    twin = WordsTwin(
        text,
        draw(st.lists(template, min_size=1, max_size=6, unique=True)),
        SmallWeights(draw(st.integers(0, 99)), EVENTS[n_tags]),
        n_tags,
        draw(st.sampled_from([None, "extended"])),
        draw(st.booleans()),
    )
    if draw(st.booleans()):
        twin = replace(twin, max_word_length=draw(st.integers(1, 3)))
    if draw(st.booleans()):
        wishes = st.lists(st.integers(0, 2), min_size=len(text), max_size=len(text))
        twin = replace(twin, constraints=draw(wishes))
    return twin


def tables_of(twin: WordsTwin) -> list[TrainedRows]:
    """Tables of all features that a twin's text has in any derivation."""
    for _ in replace(twin, max_word_length=None, constraints=None).all():
        pass
    assert isinstance(twin.weights, SmallWeights)
    return twin.weights.tables()


TAGGED_TEXT = WordsTwin(
    "我们的我１",
    parse("zhang_clark_2011_joint", "types", n_tags=3)[::3],
    SmallWeights(5, EVENTS[3]),
    3,
    "extended",
)


@quick_examples(40)
@given(twins())
@example(TAGGED_TEXT)
def test_without_a_limit_every_derivation_is_found(twin: WordsTwin) -> None:
    tables = tables_of(twin)
    everything = list(twin.all())
    agenda = agenda_of(twin, tables, None)
    found = agenda.derivations(2 * len(everything))
    assert sorted(found) == sorted(everything)
    assert [score for score, _ in found] == sorted((s for s, _ in everything), reverse=True)
    assert agenda.derivations(1) == found[:1]
    assert agenda.derivations(3) == found[:3]
    assert [agenda.score(actions) for _, actions in found] == [score for score, _ in found]


@quick_examples(100)
@given(twins(), st.booleans(), st.sampled_from([3, 20]), st.sampled_from(MARGINS))
@example(TAGGED_TEXT, False, 3, inf)
def test_a_beam_keeps_the_best_of_each_slot(
    twin: WordsTwin, merge: bool, n_best: int, margin: float
) -> None:
    twin = replace(twin, by_words=False)
    tables = tables_of(twin)
    for width in WIDTHS:
        agenda = agenda_of(twin, tables, width, merge=merge, margin=margin)
        assert agenda.derivations(1) == twin.beam(width, merge, margin=margin)
        # Lists of several are searched for without a margin.
        assert agenda.derivations(n_best) == twin.beam(width, merge, n_best)


# Characters that do not repeat and templates that tell words apart: scores tie by chance only.
DISTINCT = "我们的1Ａ，𠮷"
TELLING = {
    1: parse("separate: w-1", "append: c0 start(w0)"),
    3: parse("separate: w-1 t-1 | w-1 w-2", "tag: t-1 c0 | t-2 t-1", "append: c0 t0", n_tags=3),
}


@quick_examples(60)
@given(twins(), st.permutations(DISTINCT), st.booleans(), st.sampled_from([1, 1, 3, 20]))
@example(TAGGED_TEXT, list(DISTINCT), True, 20)
@example(
    replace(TAGGED_TEXT, text="一二三四", templates=parse("zhang_clark_2011_joint", n_tags=3)),
    list(DISTINCT),
    True,
    3,
)
@example(
    # The second word is longer than words should be, as it must not end before.
    replace(TAGGED_TEXT, max_word_length=2, constraints=[0, 0, 2, 2, 0]), list(DISTINCT), False, 3
)  # fmt: skip
def test_multiple_beams_are_those_of_the_paper(
    twin: WordsTwin, characters: list[str], merge: bool, n_best: int
) -> None:
    twin = replace(
        twin,
        text="".join(characters[: len(twin.text)]),
        templates=list(dict.fromkeys([*twin.templates, *TELLING[twin.n_tags]])),
        weights=SmallWeights(len(twin.templates), EVENTS[twin.n_tags], wide=True),
        by_words=True,
    )
    tables = tables_of(twin)
    for width in WIDTHS:
        try:
            expected = twin.multiple_beams(width, merge, n_best)
        except TiedError:
            reject()
        assert agenda_of(twin, tables, width, merge=merge).derivations(n_best) == expected


@pytest.mark.parametrize("n_tags", [1, 3])
def test_what_multiple_beams_keep_grows_with_the_sentence(n_tags: int) -> None:
    """In proportion, if words have a greatest length."""
    tables = empty_tables(WordTransitions(CharacterAtoms(), n_tags))
    templates = parse("append: c0", n_tags=n_tags)
    n_items = []
    for n in (40, 80):
        twin = WordsTwin("一" * n, templates, lambda _: (0,), n_tags, None, True, 2)
        agenda = agenda_of(twin, tables, 2)
        agenda.derivations()
        n_items.append(agenda.n_items)
    # Of two beams for each tag, all words of one or two characters.
    assert n_items[0] < 40 * 2 * n_tags * 2 * 2
    assert n_items[1] < 2.1 * n_items[0]


@quick_examples(40)
@given(twins())
@example(TAGGED_TEXT)
@example(replace(TAGGED_TEXT, by_words=True))
def test_merging_without_a_limit_is_exact(twin: WordsTwin) -> None:
    tables = tables_of(twin)
    agenda = agenda_of(twin, tables, None, merge=True)
    ((score, actions),) = agenda.derivations(1)
    assert score == max(score for score, _ in twin.all())
    assert score == twin.score(actions)


# Weights of a training ----------------------------------------------------------------------------

TAGGED = [
    "小王_0 在_1 图书馆_0 看书_2 。_1",
    "图书_0 馆长_0 看_2 小王_0 １２_1 次_0 。_1",
    "王小明_0 明天_0 在_1 馆_0 里_1 看_2 图_0 。_1",
    "天天_1 看_2 小说_0 ，_1 说_2 小_2 天_0",
]
PROBES = ["小王天天在馆里看书。", "图书馆长说王小明１２次", "看看看", "𠮷"]


@dataclass(frozen=True)
class Trained:
    templates: tuple[StateTemplate, ...]
    n_tags: int
    tables: list[TrainedRows]

    def twin(self, text: str, **settings: object) -> WordsTwin:
        weights = RowWeights(self.tables, EVENTS[self.n_tags])
        return WordsTwin(text, self.templates, weights, self.n_tags, "extended", **settings)  # type: ignore[arg-type]


def train(
    templates: Sequence[StateTemplate], n_tags: int, *, memo: bool = True
) -> list[TrainedRows]:
    """Averaged tables of a training on the sentences above."""
    system = WordTransitions(CharacterAtoms("extended", True), n_tags)
    learner = new_learner(system)
    compiled = []
    for line in TAGGED:
        words, tags = zip(*(pair.split("_") for pair in line.split()), strict=True)
        compiled.append(system.compile(words, [int(tag) % n_tags for tag in tags], learner))
    trainer = AgendaTrainer(system, templates, learner, 4, memo=memo)
    for _ in range(10):
        trainer.epoch(compiled, np.arange(len(compiled)))
    return learner.average()


@pytest.fixture(scope="module", params=[1, 3], ids=["words", "tags"])
def trained(request: pytest.FixtureRequest) -> Trained:
    n_tags = request.param
    table = "zhang_clark_2011" if n_tags == 1 else "zhang_clark_2011_joint"
    templates = parse(table, "types", "characters", n_tags=n_tags)
    return Trained(templates, n_tags, train(templates, n_tags))


def in_steps(tables: Sequence[TrainedRows]) -> list[TrainedRows]:
    """Weights rounded to steps of 1/64, whose sums are exact in any order."""
    return [
        TrainedRows(t.n_columns, t.arrays | {"values": np.round(t.arrays["values"] * 64) / 64})
        for t in tables
    ]


@looped("by_words", [False, True], ids=["by characters", "by words"])
@looped("merge", [False, True], ids=["all", "merged"])
def test_the_memo_changes_no_bit(trained: Trained, by_words: bool, merge: bool) -> None:
    for text in PROBES:
        twin = trained.twin(text, by_words=by_words)
        for width in (3, 200):
            with_memo, without = (
                agenda_of(twin, trained.tables, width, merge=merge, memo=memo)
                for memo in (True, False)
            )
            found = with_memo.derivations(50)
            assert without.derivations(50) == found
            # Scored again, now that the memo holds what it has seen.
            assert with_memo.derivations(50) == found


def test_anchors_that_look_alike_do_not_meet_in_the_memo() -> None:
    # Small numbers of groups and small positions: each group's only anchor is the position.
    templates = parse(
        "append: c0 | c-1 c+1 | append: c0 type0", "separate: c0 | c-1", "boundary: c-2 c0 | c+1",
        "tag: c0 | c0 c+1", "tag: type0 t-1 | c0 t-2", "separate: c0 t-1 | w-1 | w-2 | w-1 w-2",
        n_tags=3,
    )  # fmt: skip
    system = WordTransitions(CharacterAtoms("extended", True), 3)
    assert len(StateScorer(system, templates, empty_tables(system)).groups) > 8
    with_memo, without = (train(templates, 3, memo=memo) for memo in (True, False))
    for one, other in zip(with_memo, without, strict=True):
        assert sorted(one.arrays) == sorted(other.arrays)
        assert all(
            one.arrays[name].tobytes() == other.arrays[name].tobytes() for name in one.arrays
        )
    assert any(table.n_rows for table in with_memo)
    # Much longer than the sentences, and than what the memo begins with.
    text = "".join(PROBES) * 12
    twin = WordsTwin(text, templates, lambda _: (0,), 3, "extended")
    found = agenda_of(twin, with_memo, 6).derivations(6)
    assert agenda_of(twin, with_memo, 6, memo=False).derivations(6) == found
    exact = in_steps(with_memo)
    twin = replace(twin, text=text[:60], weights=RowWeights(exact, EVENTS[3]))
    assert agenda_of(twin, exact, 3).derivations(3) == twin.beam(3, n_best=3)


# Gold derivations ---------------------------------------------------------------------------------

WORD = st.tuples(st.text(alphabet="我们的1𠮷 \t　", max_size=5), st.integers(0, 2))


@given(st.lists(WORD, max_size=6), st.sampled_from([1, 3]))
def test_gold_actions_rebuild_the_words(pairs: list[tuple[str, int]], n_tags: int) -> None:
    system = WordTransitions(CharacterAtoms(), n_tags)
    learner = new_learner(system)
    tags = [tag % n_tags for _, tag in pairs]
    derivation = system.compile([word for word, _ in pairs], tags, learner)
    kept = [
        ("".join(word.split()), tag)
        for (word, _), tag in zip(pairs, tags, strict=True)
        if word.split()
    ]
    if not kept:
        assert derivation is None
        return
    words = [word for word, _ in kept]
    text = "".join(words)
    assert derivation.gold[-1] == 1 + n_tags
    assert words_of(text, derivation.gold) == words
    assert [a - 1 for a in derivation.gold[:-1] if a] == [tag for _, tag in kept]
    assert len(derivation) == len(text)
    assert derivation.units.tolist() == [0, *ends_of(words)]
    if n_tags == 1:
        assert system.compile(words, None, learner).gold == derivation.gold
    # Gold is a derivation: every action is legal where it is taken.
    system.load_text(text)
    tables = empty_tables(system)
    agenda = Agenda(StateScorer(system, parse("append: c0"), tables))
    for i, action in enumerate(derivation.gold):
        assert action in agenda.legal(derivation.gold[:i])


def test_gold_needs_a_tag_that_exists_for_every_word() -> None:
    system = WordTransitions(CharacterAtoms(), 2)
    learner = new_learner(system)
    for tag in (-1, 2):
        with pytest.raises(ValueError, match=f"unknown tag {tag}"):
            system.compile(["一"], [tag], learner)
    with pytest.raises(ValueError, match="zip"):
        system.compile(["一", "二"], [0], learner)


# Use ----------------------------------------------------------------------------------------------


def test_agendas_and_systems_that_cannot_be() -> None:
    atoms = CharacterAtoms()
    system = WordTransitions(atoms)
    scorer = StateScorer(system, parse("append: c0"), empty_tables(system))
    for width in (0, -1, 2**31):
        with pytest.raises(ValueError, match=f"beam must be at least 1, got {width}"):
            Agenda(scorer, width)
    for margin in (-1.0, float("nan")):
        with pytest.raises(ValueError, match=f"margin must be at least 0, got {margin}"):
            Agenda(scorer, 4, margin=margin)
    with pytest.raises(ValueError, match="expected 1 to 10,000 tags, got 0"):
        WordTransitions(atoms, 0)
    with pytest.raises(ValueError, match="max_word_length must be at least 1, got 0"):
        WordTransitions(atoms, max_word_length=0)
    with pytest.raises(ValueError, match="constraints must have one value per character"):
        system.load_text("一二", [0])
    system.load_text("", [])


def test_actions_that_do_not_exist_or_come_after_the_end() -> None:
    system = WordTransitions(CharacterAtoms())
    agenda = Agenda(StateScorer(system, parse("append: c0"), empty_tables(system)))
    system.load_text("一")
    for look in (agenda.score, agenda.legal):
        for action in (-1, 3):
            with pytest.raises(ValueError, match=f"there is no action {action}"):
                look([action])
        with pytest.raises(ValueError, match="the sentence has ended before"):
            look([1, 2, 1])
    assert agenda.score([1, 2]) == 0.0


def test_before_a_text_is_loaded_there_is_an_empty_one() -> None:
    system = WordTransitions(CharacterAtoms("extended"))
    templates = parse("zhang_clark_2011", "types")
    agenda = Agenda(StateScorer(system, templates, empty_tables(system)))
    assert agenda.legal([]) == [2]
    assert agenda.score([2]) == 0.0
    assert agenda.derivations() == [(0.0, [2])]


@pytest.mark.parametrize("width", [None, 5])
def test_an_agenda_can_be_pickled(trained: Trained, width: int | None) -> None:
    twin = trained.twin(PROBES[0][:6], by_words=True, max_word_length=3)
    agenda = agenda_of(twin, trained.tables, width, merge=True, margin=1e6)
    again = pickle.loads(pickle.dumps(agenda))
    again.system.load_text(twin.text)
    assert (again.width, again.merge, again.margin) == (agenda.width, True, 1e6)
    assert again.derivations(5) == agenda.derivations(5)


def test_a_sentence_leaves_nothing_to_the_next(trained: Trained) -> None:
    agenda = agenda_of(trained.twin(""), trained.tables, 4)
    for text in [*PROBES, *PROBES[::-1]]:
        agenda.system.load_text(text)
        alone = agenda_of(trained.twin(text), trained.tables, 4)
        assert agenda.derivations(4) == alone.derivations(4)
