"""What a corpus says about tags, and how the search holds to it: against the definitions."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from colliding_keys import colliding
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.features.joint import JOINT_TABLES
from spacy_structreg.features.state_templates import parse_state_templates
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer, new_learner
from spacy_structreg.tasks.joint.tag_records import GrowingRecords, TagRecords
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms
from spacy_structreg.tasks.segmentation.words import WordDecoder, WordTransitions
from spacy_structreg.training.agenda import AgendaTrainer

ATOMS = CharacterAtoms(None, True)
TAGS = ("A", "B", "C")
Tagged = Sequence[tuple[str, str]]

words = st.tuples(st.text("甲乙丙", min_size=1, max_size=3), st.sampled_from(TAGS))
corpora = st.lists(st.lists(words, min_size=1, max_size=4), min_size=1, max_size=8)


def collect(corpus: Sequence[Tagged], **kwargs: Any) -> TagRecords:
    return TagRecords.collect(corpus, TAGS, ATOMS, **kwargs)


def names(numbers: Sequence[int]) -> str:
    return "".join(TAGS[number] for number in numbers)


class Untrained:
    """A search by the records alone: no weight is anything but 0."""

    def __init__(self, records: TagRecords, width: int | None = 8, **kwargs: Any) -> None:
        self.system = WordTransitions(ATOMS, len(TAGS), records=records, **kwargs)
        templates = parse_state_templates(["tag: c0"], self.system.events, self.system.atoms)
        self.learner = new_learner(self.system)
        scorer = StateScorer(self.system, templates, self.learner.average())
        self.agenda = Agenda(scorer, width)

    def legal(self, text: str, actions: Sequence[int]) -> list[int]:
        self.system.load_text(text)
        return self.agenda.legal(actions)

    def decode(self, text: str, n: int = 1) -> list[tuple[float, list[Any]]]:
        return WordDecoder(self.agenda, TAGS).nbest(text, n)


def actions_of(sentence: Tagged) -> list[int]:
    """0 appends, 1 + tag begins a word, and the last one ends the sentence."""
    return [
        1 + TAGS.index(tag) if i == 0 else 0 for word, tag in sentence for i in range(len(word))
    ] + [1 + len(TAGS)]


# What is recorded ---------------------------------------------------------------------------------


def test_lengths_are_those_of_the_longest_words() -> None:
    corpus = [[("甲乙", "A"), ("丙", "B")], [("甲", "A"), ("丙乙甲", "C")]]
    assert collect(corpus).arrays["lengths"].tolist() == [2, 1, 3]
    assert collect(corpus, lengths=False).arrays["lengths"].tolist() == [0, 0, 0]


def test_characters_are_those_that_the_model_sees() -> None:
    corpus = [[("２", "A")]] * 6
    records = collect(corpus, least_begun=6)
    assert names(records.word("2", ATOMS)) == names(records.first("2", ATOMS)) == "A"
    plain = CharacterAtoms(None, False)
    other = TagRecords.collect(corpus, TAGS, plain, least_begun=6)
    assert names(other.word("2", plain)) == names(other.first("2", plain)) == "ABC"


def test_more_tags_than_a_block_has_bits() -> None:
    tags = [f"T{i:03}" for i in range(130)]
    corpus = [[("甲", tags[0]), ("甲", tags[64]), ("甲", tags[129])]] * 6
    records = TagRecords.collect(corpus, tags, ATOMS, least_begun=1)
    assert records.word("甲", ATOMS) == records.first("甲", ATOMS) == [0, 64, 129]
    assert records.word("乙", ATOMS) == list(range(130))


@quick_examples(50)
@given(corpora, st.integers(1, 4), st.sets(st.sampled_from(TAGS)), st.booleans())
def test_records_are_what_the_definitions_say(
    corpus: list[Tagged], least: int, closed: set[str], dictionary: bool
) -> None:
    records = collect(
        corpus, least_begun=least, closed=closed, closed_firsts=closed, dictionary=dictionary
    )
    pairs = [pair for sentence in corpus for pair in sentence]
    counts = Counter(word for word, _ in pairs)
    begun = Counter(word[0] for word, _ in pairs)
    most = max(counts.values())
    for word in map("".join, product("甲乙丙", repeat=2)):
        frequent = dictionary and counts[word] > most / 5000 + 5
        expected = [
            tag for tag in TAGS
            if (word, tag) in pairs or not (frequent or tag in closed)
        ]  # fmt: skip
        assert names(records.word(word, ATOMS)) == "".join(expected)
    for character in "甲乙丙丁":
        seen = {tag for word, tag in pairs if word[0] == character}
        expected = [
            tag for tag in TAGS if tag in seen or not (begun[character] >= least or tag in closed)
        ]
        assert names(records.first(character, ATOMS)) == "".join(expected)


# Records that grow --------------------------------------------------------------------------------


def test_records_that_grow_know_their_tags_and_stay_where_they_are() -> None:
    records = GrowingRecords(TAGS)
    with pytest.raises(ValueError, match="unknown tag 3"):
        records.add("甲", 3, ATOMS)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(records)


def test_what_is_frequent_depends_on_the_most_frequent_word() -> None:
    records = GrowingRecords(TAGS)
    for _ in range(6):
        records.add("乙", 0, ATOMS)
    assert names(records.word("乙", ATOMS)) == "A"
    for _ in range(4999):
        records.add("甲", 1, ATOMS)
    assert names(records.word("乙", ATOMS)) == "A"
    records.add("甲", 1, ATOMS)  # 5000 / 5000 + 5: six times is not more any longer.
    assert names(records.word("乙", ATOMS)) == "ABC"


@quick_examples(50)
@given(corpora, st.integers(1, 4), st.integers(1, 3), st.sets(st.sampled_from(TAGS)), st.booleans())
def test_grown_records_are_those_of_what_they_took_in(
    corpus: list[Tagged], least: int, passes: int, closed: set[str], dictionary: bool
) -> None:
    settings: dict[str, Any] = {
        "least_begun": least,
        "closed": closed,
        "closed_firsts": closed,
        "dictionary": dictionary,
    }
    growing = GrowingRecords(TAGS, **settings)
    for done in range(1, passes + 1):
        for sentence in corpus:
            for word, tag in sentence:
                growing.add(word, TAGS.index(tag), ATOMS)
        whole = collect(corpus, passes=done, **settings)
        assert growing.longest() == np.maximum(whole.longest(), 1).tolist()
        for text in map("".join, product("甲乙丙", repeat=2)):
            assert growing.word(text, ATOMS) == whole.word(text, ATOMS)
            assert growing.word(text[0], ATOMS) == whole.word(text[0], ATOMS)
        for character in "甲乙丙丁":
            assert growing.first(character, ATOMS) == whole.first(character, ATOMS)


def allowed(records: TagRecords) -> list[list[int]]:
    """All that records of three characters say."""
    texts = ["甲", "乙", "丙", "丁", *map("".join, product("甲乙丙", repeat=2))]
    return [
        records.longest(),
        *(records.word(text, ATOMS) for text in texts),
        *(records.first(text, ATOMS) for text in texts[:4]),
    ]


@quick_examples(50)
@given(corpora, corpora, st.integers(1, 3), st.sets(st.sampled_from(TAGS)), st.booleans())
def test_records_go_on_growing_from_their_state(
    before: list[Tagged], after: list[Tagged], least: int, closed: set[str], lengths: bool
) -> None:
    settings: dict[str, Any] = {"least_begun": least, "closed": closed, "lengths": lengths}
    straight = GrowingRecords(TAGS, **settings)
    for sentence in before:
        for word, tag in sentence * 3:
            straight.add(word, TAGS.index(tag), ATOMS)
    restored = GrowingRecords(TAGS, **settings, state=straight.state())
    assert allowed(restored) == allowed(straight)
    for sentence in after:
        for word, tag in sentence:
            for records in (straight, restored):
                records.add(word, TAGS.index(tag), ATOMS)
            assert allowed(restored) == allowed(straight)
    for name, array in straight.state().items():
        np.testing.assert_array_equal(restored.state()[name], array)


def test_states_that_no_records_have_are_refused() -> None:
    records = GrowingRecords(TAGS, closed=["A"])
    for word in ("甲乙", "乙", "丙"):
        records.add(word, 1, ATOMS)
    state = records.state()
    assert allowed(GrowingRecords(TAGS, closed=["A"], state=state)) == allowed(records)
    for name in state:
        lacking = {key: state[key] for key in state if key != name}
        with pytest.raises(ValueError, match="records"):
            GrowingRecords(TAGS, closed=["A"], state=lacking)
    huge = np.full(3, 1 << 62)
    for changed in (
        {"word_counts": state["word_counts"][:-1]},
        {"word_counts": state["word_counts"] - 1},
        {"first_counts": state["first_counts"] - 2},
        {"character_counts": state["character_counts"].astype(np.int32)},
        {"character_counts": huge},
        {"words": state["words"][::-1]},
        {"word_tags": state["word_tags"] | np.uint64(8)},
        {"lengths": state["lengths"] - 1},
        {"lengths": state["lengths"] * -1},
        {"more": huge},
    ):
        with pytest.raises(ValueError, match="record"):
            GrowingRecords(TAGS, closed=["A"], state={**state, **changed})
    for settings in ({}, {"closed": ["A"], "closed_firsts": ["B"]}):
        with pytest.raises(ValueError, match="other closed tags"):
            GrowingRecords(TAGS, **settings, state=state)
    with pytest.raises(ValueError, match="other length limits"):
        GrowingRecords(TAGS, closed=["A"], lengths=False, state=state)
    # Keys that all want one place in the index.
    keys = colliding(6000)
    crowded = {
        **state,
        "words": keys,
        "word_tags": np.ones((keys.size, 1), dtype=np.uint64),
        "word_counts": np.ones(keys.size, dtype=np.int64),
    }
    with pytest.raises(ValueError, match="collide"):
        GrowingRecords(TAGS, closed=["A"], state=crowded)


@pytest.mark.parametrize("by_words", [False, True])
@quick_examples(30)
@given(corpora, st.integers(0, 9))
def test_training_knows_each_example_before_it_is_decoded(
    by_words: bool, corpus: list[Tagged], seed: int
) -> None:
    """Against one trainer for each visit, with the records of all examples up to it."""
    settings: dict[str, Any] = {"least_begun": 2, "closed": "A", "closed_firsts": "B"}
    order = np.random.default_rng(seed).integers(len(corpus), size=2 * len(corpus))

    def system_of(records: TagRecords) -> WordTransitions:
        return WordTransitions(ATOMS, len(TAGS), by_words, records=records)

    def trained(*, at_once: bool) -> list[dict[str, np.ndarray]]:
        system = system_of(GrowingRecords(TAGS, **settings))
        templates = parse_state_templates(
            ["zhang_clark_2011_joint"], system.events, system.atoms, JOINT_TABLES
        )
        learner = new_learner(system)
        compiled = [
            system.compile([w for w, _ in each], [TAGS.index(t) for _, t in each], learner)
            for each in corpus
        ]
        if at_once:
            AgendaTrainer(system, templates, learner, 2).epoch(compiled, order)
        else:
            for i in range(len(order)):
                known = collect([corpus[k] for k in order[: i + 1]], **settings)
                arrays = {**known.arrays, "lengths": np.maximum(known.arrays["lengths"], 1)}
                one = system_of(TagRecords(len(TAGS), arrays))
                AgendaTrainer(one, templates, learner, 2).epoch(compiled, order[i : i + 1])
        return [table.state() for table in learner.tables]

    for found, expected in zip(trained(at_once=True), trained(at_once=False), strict=True):
        assert found.keys() == expected.keys()
        for name, array in found.items():
            np.testing.assert_array_equal(array, expected[name])


def test_known_words_of_partial_sentences_are_taken_in() -> None:
    records = GrowingRecords(TAGS, least_begun=1)
    system = WordTransitions(ATOMS, len(TAGS), records=records)
    templates = parse_state_templates(["tag: c0"], system.events, system.atoms)
    learner = new_learner(system)
    # 甲乙 is a word of A; 丙 begins one, of which nothing else is known.
    part = system.compile_partial("甲乙丙丁", [False, True, None], [(0, 2, 0)], learner)
    AgendaTrainer(system, templates, learner, 2).epoch([part], [0])
    assert records.longest() == [2, 1, 1]
    assert names(records.first("甲", ATOMS)) == "A"
    assert names(records.first("丙", ATOMS)) == "ABC"


# What the search makes of it ----------------------------------------------------------------------


@quick_examples(50)
@given(corpora, st.text("甲乙丙丁", min_size=1, max_size=5), st.data())
def test_legal_is_what_the_records_allow(
    corpus: list[Tagged], text: str, data: st.DataObject
) -> None:
    """Along any path at all, legal or not."""
    records = collect(corpus, least_begun=2, closed=["A"], closed_firsts=["B"])
    search = Untrained(records)
    longest = records.arrays["lengths"].tolist()
    spans: list[tuple[int, int]] = []  # Where words began, and their tags.
    actions: list[int] = []
    for i in range(len(text) + 1):
        whole = True
        if spans:
            begin, tag = spans[-1]
            whole = tag in records.word(text[begin:i], ATOMS)
            whole = whole and not 0 < longest[tag] < i - begin
        expected = []
        if i == len(text):
            expected = [1 + len(TAGS)] * whole
        else:
            if spans and (longest[tag] == 0 or i - begin < longest[tag]):
                expected.append(0)
            if whole:
                expected += [1 + t for t in records.first(text[i], ATOMS)]
        assert search.legal(text, actions) == expected
        if i < len(text):
            action = data.draw(st.integers(0 if spans else 1, len(TAGS)))
            actions.append(action)
            if action:
                spans.append((i, action - 1))


@quick_examples(50)
@given(corpora, st.integers(1, 3), st.sets(st.sampled_from(TAGS)))
def test_gold_is_always_legal(corpus: list[Tagged], least: int, closed: set[str]) -> None:
    search = Untrained(
        collect(corpus, least_begun=least, closed=closed, closed_firsts=closed), width=2
    )
    for sentence in corpus:
        text = "".join(word for word, _ in sentence)
        actions = actions_of(sentence)
        for i, action in enumerate(actions):
            assert action in search.legal(text, actions[:i])


def test_without_pruning_records_exclude_nothing() -> None:
    records = collect([[("甲", "A")]], closed=TAGS, closed_firsts=TAGS)
    assert Untrained(records).legal("乙", []) == []
    assert Untrained(records, prune=False).legal("乙", []) == [1, 2, 3]


def test_a_dead_end_is_decoded_without_records() -> None:
    records = collect([[("甲乙", "A")]], closed=TAGS, closed_firsts=TAGS)
    search = Untrained(records)
    for text in ("丙", "甲", "甲丙", "甲乙甲"):
        ((_, tagged),) = search.decode(text)
        assert "".join(word for word, _ in tagged) == text
    # And records hold again afterwards.
    assert search.decode("甲乙")[0][1] == [("甲乙", "A")]
    assert search.system.prune


def test_what_white_space_demands_comes_before_lengths() -> None:
    records = collect([[("甲", "A"), ("乙", "B"), ("丙", "C")]])
    search = Untrained(records)
    # A combining mark must not be cut off, however long the word.
    for text in ("甲\u0301\u0301\u0301", "甲\u0301 乙"):
        ((_, tagged),) = search.decode(text)
        assert [word for word, _ in tagged] == text.split()


# Atoms --------------------------------------------------------------------------------------------


def tag_score(records: TagRecords, template: str, training: Tagged, probe: Tagged) -> float:
    """The score of a tagged text by one template, after some visits of a sentence."""
    system = WordTransitions(ATOMS, len(TAGS), records=records, prune=False)
    templates = parse_state_templates([template], system.events, system.atoms)
    learner = new_learner(system)
    compiled = system.compile(
        [word for word, _ in training], [TAGS.index(tag) for _, tag in training], learner
    )
    trainer = AgendaTrainer(system, templates, learner, 4)
    for noise in range(4):
        trainer.epoch([compiled], np.zeros(1, dtype=np.int64), noise)
    agenda = Agenda(StateScorer(system, templates, learner.average()), 4)
    system.load_text("".join(word for word, _ in probe))
    return float(agenda.score(actions_of(probe)))


def test_categories_are_the_tags_of_words_with_a_character() -> None:
    corpus = [[("甲子", "A"), ("丑甲", "C"), ("乙", "A"), ("寅乙", "C"), ("丙", "B")]] * 2
    records = collect(corpus, least_seen=2)
    score = lambda probe: tag_score(records, "tag: cat(c0)", [("甲", "C")], [probe])  # noqa: E731
    assert score(("甲", "C")) > 0
    assert score(("乙", "C")) == score(("甲", "C"))  # Both of A and C.
    assert score(("丙", "C")) == score(("子", "C")) == score(("丁", "C")) == 0


def test_rare_characters_have_no_category() -> None:
    corpus = [[("甲", "A")], [("甲", "A")], [("乙", "A")]]
    score = lambda probe: tag_score(  # noqa: E731
        collect(corpus, least_seen=2), "tag: cat(c0)", [("甲", "C")], [probe]
    )
    assert score(("甲", "C")) > 0
    assert score(("乙", "C")) == 0


def test_the_last_character_of_a_complete_word_has_a_category() -> None:
    corpus = [[("甲", "A"), ("乙", "A"), ("丙", "B")]]
    template = "separate: cat(end(w-1)) t-1"
    trained = [("甲甲", "C"), ("丙", "A")]
    records = collect(corpus)
    same = tag_score(records, template, trained, trained)
    assert tag_score(records, template, trained, [("甲乙", "C"), ("丙", "A")]) == same != 0
    assert tag_score(records, template, trained, [("甲丙", "C"), ("丁", "A")]) != same


# Arrays -------------------------------------------------------------------------------------------


def test_records_travel() -> None:
    records = collect([[("甲乙", "A"), ("丙", "B")]], closed=["A"], least_begun=1)
    copy = pickle.loads(pickle.dumps(records))
    assert copy.n_tags == 3
    for name, array in records.arrays.items():
        assert np.array_equal(copy.arrays[name], array)
    assert copy.word("甲乙", ATOMS) == records.word("甲乙", ATOMS)
    system = pickle.loads(pickle.dumps(WordTransitions(ATOMS, 3, records=records, prune=False)))
    assert not system.prune
    assert system.records.first("甲", ATOMS) == records.first("甲", ATOMS)


def test_records_are_copies() -> None:
    arrays = dict(collect([[("甲", "A")]] * 6).arrays)
    records = TagRecords(3, arrays)
    arrays["word_tags"][:] = 0
    assert names(records.word("甲", ATOMS)) == "A"


@looped(
    ("name", "array"),
    [
        ("words", np.array([2, 2], dtype=np.uint64)),
        ("words", np.array([3, 4], dtype=np.uint64)),
        ("words", np.array([[3]], dtype=np.uint64)),
        ("characters", np.array([2, 1], dtype=np.uint64)),
        ("lengths", np.array([1, 2], dtype=np.int64)),
        ("lengths", np.array([1, 2, -1], dtype=np.int64)),
        ("lengths", np.array([1, 2, 1 << 40], dtype=np.int64)),
        ("lengths", np.array([1, 2, 3], dtype=np.uint64)),
        ("any_words", np.array([8], dtype=np.uint64)),
        ("any_firsts", np.array([1, 1], dtype=np.uint64)),
        ("first_tags", np.zeros((0, 1), dtype=np.uint64)),
        ("character_tags", np.full((2, 1), 8, dtype=np.uint64)),
    ],
)
def test_arrays_that_cannot_be_are_refused(name: str, array: np.ndarray) -> None:
    arrays = collect([[("甲乙", "A")]] * 6).arrays
    TagRecords(3, arrays)
    with pytest.raises(ValueError, match="record"):
        TagRecords(3, {**arrays, name: array})


def test_unknown_and_missing_arrays_are_refused() -> None:
    arrays = collect([[("甲乙", "A")]]).arrays
    with pytest.raises(ValueError, match="unexpected tag records"):
        TagRecords(3, {**arrays, "more": arrays["words"]})
    with pytest.raises(ValueError, match="unexpected tag records"):
        TagRecords(3, {name: array for name, array in arrays.items() if name != "words"})
    with pytest.raises(ValueError, match="expected 1 to 10,000 tags, got 0"):
        TagRecords(0, arrays)
    with pytest.raises(ValueError, match="expected records of 2 tags, got 3"):
        WordTransitions(ATOMS, 2, records=TagRecords(3, arrays))
