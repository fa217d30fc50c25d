"""The word tagger as a transition system: what it sees, what it may do, and what training leaves.

A word is seen through the key of a feature only. Whether two words look the same is found out by
training on one and asking what is known of the other.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from twins import rows_by_key
from word_field_twins import unfold

from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainingRows
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer
from spacy_structreg.tasks.tagging import (
    OTHER_WORDS,
    TAGGING_ATOMS,
    TAGGING_EVENTS,
    TagDecoder,
    TagTransitions,
)
from spacy_structreg.tasks.word_fields import TagSets, WordFields
from spacy_structreg.training.agenda import AgendaTrainer

CATEGORIES = {"学": [0, 1], "生": [0, 1], "a": [1], "家": [2]}
CLASSES = {"学生": [0], "家": [0], "a": [1], "do": [1, 2]}


def sets(mapping: dict[str, list[int]], n_tags: int, *, of_words: bool) -> TagSets:
    plain = WordFields()
    keys = {word: plain.key_of(word) if of_words else ord(word) for word in mapping}
    return TagSets.from_mapping(n_tags, {keys[word]: tags for word, tags in mapping.items()})


def atoms(n_tags: int = 3) -> WordFields:
    return WordFields(
        True,
        sets(CATEGORIES, n_tags, of_words=False),
        sets(CLASSES, n_tags, of_words=True),
    )


class Model:
    """A task, templates and weights, and shorthands for what tests do with them."""

    def __init__(self, templates: str, n_tags: int = 3, learning: Learning | None = None) -> None:
        self.templates: Sequence[StateTemplate] = parse_state_templates(
            [templates], TAGGING_EVENTS, TAGGING_ATOMS
        )
        self.n_tags = n_tags
        names = [atom for template in self.templates for atom in template.atoms]
        self.system = TagTransitions(atoms(n_tags), n_tags, names)
        self.learning = learning or Learning()
        rows = TrainingRows(n_tags, adaptive=True, **self.learning.penalties)
        self.learner = Perceptron([rows], self.learning)

    def train(
        self,
        gold: Sequence[Sequence[tuple[str, int]]],
        epochs: int = 1,
        pieces: Any = None,
        **settings: Any,
    ) -> Model:
        trainer = AgendaTrainer(self.system, self.templates, self.learner, **settings)
        compiled = [
            self.system.compile([w for w, _ in s], [t for _, t in s], self.learner) for s in gold
        ]
        for epoch in range(epochs):
            trainer.epoch(compiled, list(range(len(gold))) if pieces is None else pieces, epoch)
        return self

    def agenda(
        self,
        width: int | None = None,
        *,
        dictionary: TagSets | None = None,
        memo: bool = True,
        merge: bool = False,
    ) -> Agenda:
        system = self.system.copy(dictionary)
        tables = self.learner.average()
        return Agenda(StateScorer(system, self.templates, tables, memo), width, merge)

    def score(self, words: Sequence[str], tags: Sequence[int]) -> float:
        agenda = self.agenda()
        agenda.system.load_words(list(words))
        return agenda.score(tags)


# What is seen of words ----------------------------------------------------------------------------

# With two characters of each kind, and full-width and upper-case ones that look like others.
words = st.text(st.sampled_from("学生家aAｂB12３。，三十年Éé"), min_size=1, max_size=7)


def known(template: str, seen: Sequence[str], other: Sequence[str], place: int) -> bool:
    """Whether what is learned of one word of a sentence is known of that of another sentence."""
    tags = [0] * len(seen)
    tags[place] = 1
    gold = [list(zip(seen, tags, strict=True))]
    model = Model(f"tag: {template}").train(gold, 1, [[0, place, 1]])
    assert model.learner.n_rows() <= 1
    return model.score(other, tags) != 0.0


@looped(
    "name",
    [
        *("w", "lower", "start", "end", "prefix2", "suffix2", "len", "kinds", "shape", "pattern"),
        *("catstart", "catend", "tags"),
    ],
)
@looped("offset", range(-2, 3))
def test_fields_of_words_around(name: str, offset: int) -> None:
    """What they tell apart, `test_word_numbers` says. These words differ in all of them."""
    if (name, offset) == ("tags", 0):
        return
    at = f"w{offset:+d}" if offset else "w0"
    template = at if name == "w" else f"{name}({at})"
    sentences = [["。"] * 5, ["。"] * 5]
    for sentence, word in zip(sentences, ("学生", "aaa家"), strict=True):
        sentence[2 + offset] = word
    assert known(template, sentences[0], sentences[0], 2)
    assert not known(template, *sentences, 2)


@given(words, words)
def test_values_of_one_word(word: str, other: str) -> None:
    of: dict[str, Callable[[str], set[object]]] = {
        "chars(w0)": lambda w: set(unfold(w)),
        "inner(w0)": lambda w: set(unfold(w)[1:-1]),
        "repeated(w0)": lambda w: {
            b for a, b in zip(unfold(w), unfold(w)[1:], strict=False) if a == b
        },
        "cats(w0)": lambda w: {tuple(CATEGORIES.get(c, ())) for c in unfold(w)},
    }
    for name, values in of.items():
        model = Model(f"tag: {name}").train([[(word, 1)]])
        assert model.learner.n_rows() == len(values(word))
        assert (model.score([other], [1]) != 0.0) == bool(values(word) & values(other))


def test_words_beyond_the_ends_are_seen() -> None:
    model = Model("tag: w-1 w+1").train([[("家", 1)]])
    assert model.score(["x"], [1]) > 0.0
    assert model.score(["x", "y"], [1, 0]) == 0.0
    # No word looks like one that is not there.
    assert model.learner.n_rows() == 1


def test_tags_before_are_seen() -> None:
    model = Model("tag: t-2 t-1").train([[("a", 0), ("b", 1), ("c", 2), ("d", 2)]], width=None)
    weights = {
        before: model.score("xyz", [*before, 2]) - model.score("xyz", [*before, 0])
        for before in product(range(3), repeat=2)
    }
    assert weights[0, 1] > 0.0
    assert {before for before, weight in weights.items() if weight} <= {(0, 1), (1, 2), (0, 0)}


# Search -------------------------------------------------------------------------------------------

EVERYTHING = " | ".join(
    f"tag: {part}"
    for part in (
        "t-1", "t-2 t-1", "w0 t-1", "w0", "w-1", "w+1", "w-1 w0", "start(w0)", "end(w0)",
        "chars(w0)", "shape(w0)", "catend(w0)", "tags(w+1)", "suffix2(w0) t-1", "len(w0)",
    )
)  # fmt: skip
VOCABULARY = ["学生", "学", "家", "生", "do", "DO", "a", "3", "。"]
sentence = st.lists(st.sampled_from(VOCABULARY), max_size=4)
tagged = st.lists(
    st.lists(st.tuples(st.sampled_from(VOCABULARY), st.integers(0, 2)), min_size=1, max_size=5),
    min_size=1,
    max_size=5,
)


def all_analyses(
    model: Model, words: list[str], allowed: np.ndarray | None = None
) -> list[tuple[float, list[int]]]:
    """Every sequence of tags with its score, best first."""
    found = [
        (model.score(words, tags), list(tags))
        for tags in product(range(model.n_tags), repeat=len(words))
        if allowed is None or all(allowed[i, tag] for i, tag in enumerate(tags))
    ]
    return sorted(found, key=lambda each: -each[0])


@given(tagged, sentence, st.sampled_from(["early", "max_violation", "plain"]))
def test_the_unlimited_agenda_is_brute_force(gold: Any, words: list[str], stop: str) -> None:
    model = Model(EVERYTHING).train(gold, 2, width=2, update=stop)
    expected = all_analyses(model, words)
    agenda = model.agenda()
    agenda.system.load_words(words)
    found = agenda.derivations(len(expected) + 1)
    assert [score for score, _ in found] == pytest.approx([score for score, _ in expected])
    assert sorted(actions for _, actions in found) == sorted(tags for _, tags in expected)
    for score, actions in found:
        assert score == pytest.approx(model.score(words, actions))
    merged = model.agenda(merge=True)
    merged.system.load_words(words)
    assert merged.derivations()[0][0] == pytest.approx(expected[0][0])


@given(tagged, sentence, st.data())
def test_only_allowed_tags(gold: Any, words: list[str], data: st.DataObject) -> None:
    model = Model(EVERYTHING).train(gold, 2, width=2)
    row = st.lists(st.booleans(), min_size=3, max_size=3).filter(any)
    allowed = np.array([data.draw(row) for _ in words], dtype=np.uint8).reshape(len(words), 3)
    expected = all_analyses(model, words, allowed)
    agenda = model.agenda()
    agenda.system.load_words(words, allowed)
    found = agenda.derivations(len(expected) + 1)
    assert [score for score, _ in found] == pytest.approx([score for score, _ in expected])
    width = data.draw(st.sampled_from([1, 2, 4]))
    decoder = TagDecoder(model.agenda(width), "ABC")
    (tags,) = decoder.tag([words], allowed)
    assert all(allowed[i, "ABC".index(tag)] for i, tag in enumerate(tags))


@given(tagged, st.lists(sentence, max_size=4), st.sampled_from([1, 2, 3, None]))
def test_what_is_remembered_changes_no_bit(
    gold: Any, sentences: list[list[str]], width: int | None
) -> None:
    model = Model(EVERYTHING).train(gold, 2, width=2)
    with_memo, without = model.agenda(width), model.agenda(width, memo=False)
    decoders = [TagDecoder(agenda, "ABC") for agenda in (with_memo, without)]
    # The second time, words are remembered from the first.
    first, plain, second = (decoders[i].tag(sentences) for i in (0, 1, 0))
    assert first == plain == second
    for words in sentences:
        with_memo.system.load_words(words)
        without.system.load_words(words)
        found = with_memo.derivations(3)
        assert found == without.derivations(3)
        # Nor does it matter whether states are scored together or alone.
        assert all(score == with_memo.score(actions) for score, actions in found)
        # The decoder does as the agenda does.
        best = ["ABC"[action] for action in found[0][1]]
        if width != 1:
            assert decoders[0].tag([words]) == [best]


def test_words_that_take_each_others_room_change_no_bit() -> None:
    n_tags = 2000  # There is room for a thousand or so.
    words = [chr(0x4E00 + i) + chr(0x5E00 + i % 7) for i in range(1500)]
    gold = [[(word, i * 7 % n_tags) for i, word in enumerate(words)]]
    model = Model("tag: t-1 | w-1 w0 | w0 | start(w0) | end(w0) | suffix2(w0)", n_tags)
    model.train(gold, width=1, update="every")
    remembering, plain = (TagDecoder(model.agenda(1, memo=m), range(n_tags)) for m in (True, False))
    expected = plain.tag([words])
    assert len(set(expected[0])) > 1000
    assert remembering.tag([words, words]) == expected * 2


@given(tagged, st.lists(sentence, max_size=3), st.data())
def test_words_of_one_tag_are_passed_over_in_greedy_search_only(
    gold: Any, sentences: list[list[str]], data: st.DataObject
) -> None:
    model = Model(EVERYTHING).train(gold, 2, width=2)
    tags = st.lists(st.integers(0, 2), min_size=1, max_size=2, unique=True)
    listed = data.draw(st.dictionaries(st.sampled_from(VOCABULARY), tags, max_size=6))
    dictionary = sets(listed, 3, of_words=True)
    row = st.sampled_from([(1, 1, 1), (0, 1, 0), (0, 0, 1), (1, 0, 1)])
    for width in (1, 2):
        for memo in (True, False):
            agenda = model.agenda(width, dictionary=dictionary, memo=memo)
            decoder = TagDecoder(agenda, range(3))
            for words in sentences:
                allowed = np.array([data.draw(row) for _ in words], dtype=np.uint8).reshape(-1, 3)
                agenda.system.load_words(words, allowed)
                expected = agenda.derivations()[0][1]
                assert decoder.tag([words], allowed) == [expected]


@given(tagged, sentence, st.data())
def test_words_get_the_tags_of_the_dictionary(
    gold: Any, words: list[str], data: st.DataObject
) -> None:
    """Those of their own or, where there are any, those of all other words."""
    model = Model(EVERYTHING).train(gold, 2, width=2)
    tags = st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True)
    listed = data.draw(st.dictionaries(st.sampled_from(VOCABULARY), tags, max_size=6))
    others = data.draw(st.none() | tags)
    plain = WordFields()
    keyed = {plain.key_of(word): its for word, its in listed.items()}
    if others is not None:
        keyed[OTHER_WORDS] = others
    agenda = model.agenda(dictionary=TagSets.from_mapping(3, keyed))
    allowed = np.zeros((len(words), 3), dtype=np.uint8)
    for i, word in enumerate(words):
        allowed[i, keyed.get(plain.key_of(word), [0, 1, 2] if others is None else others)] = 1
    expected = all_analyses(model, words, allowed)
    agenda.system.load_words(words)
    found = agenda.derivations(len(expected) + 1)
    assert [score for score, _ in found] == pytest.approx([score for score, _ in expected])
    assert sorted(actions for _, actions in found) == sorted(tags for _, tags in expected)


@given(tagged, sentence)
def test_a_beam_of_one_is_greedy(gold: Any, words: list[str]) -> None:
    model = Model(EVERYTHING).train(gold, 2, width=2)
    tags: list[int] = []
    for i in range(len(words)):
        filler = [0] * (len(words) - i - 1)
        scores = [
            model.score(words, [*tags, tag, *filler]) - tail(model, words, [*tags, tag], filler)
            for tag in range(3)
        ]
        tags.append(int(np.argmax(np.round(scores, 9))))
    agenda = model.agenda(1)
    agenda.system.load_words(words)
    assert agenda.derivations()[0][1] == tags
    assert TagDecoder(model.agenda(1), "012").tag([words]) == [[str(tag) for tag in tags]]


def tail(model: Model, words: list[str], tags: list[int], filler: list[int]) -> float:
    """What the tags after the first ones add to the score."""
    agenda = model.agenda()
    agenda.system.load_words(words)
    return agenda.score([*tags, *filler]) - agenda.score(tags)


def test_no_tag_at_all() -> None:
    decoder = TagDecoder(Model("tag: w0").train([[("a", 1)]]).agenda(2), "ABC")
    with pytest.raises(ValueError, match="a word has no allowed tag"):
        decoder.tag([["a"]], np.zeros((1, 3), dtype=np.uint8))
    with pytest.raises(ValueError, match="must have the shape"):
        decoder.tag([["a", "b"]], np.ones((1, 3), dtype=np.uint8))
    with pytest.raises(ValueError, match="expected a word as str, got 3"):
        decoder.tag([["a", 3]])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="k must be at least 1"):
        decoder.nbest(["a"], 0)
    with pytest.raises(ValueError, match="do not match those of the transition system"):
        TagDecoder(Model("tag: w0").agenda(2), "AB")


def test_white_space_is_not_shown() -> None:
    model = Model("tag: w-1 | w0 | w+1").train([[("a", 1), ("do", 2)]], 2, width=2)
    decoder = TagDecoder(model.agenda(2), "ABC")
    plain = decoder.tag([["a", "do"], ["do"]])
    odd = [["", "a", "\n", "do"], ["\u3000 ", "do"], [" "], []]
    assert decoder.tag(odd) == [["", "B", "", "C"], ["", *plain[1]], [""], []]
    assert plain[0] == ["B", "C"]
    allowed = np.ones((7, 3), dtype=np.uint8)
    allowed[1] = [1, 0, 0]
    assert decoder.tag(odd, allowed)[0][1] == "A"
    (best,) = decoder.nbest([" ", "a", "do"], 1)
    assert best[1] == ["", "B", "C"]


@given(st.lists(st.lists(st.text(max_size=20), max_size=5), max_size=5))
def test_any_words(sentences: list[list[str]]) -> None:
    decoder = TagDecoder(Model(EVERYTHING).train([[("a", 1), ("do", 2)]]).agenda(2), "ABC")
    tags = decoder.tag([[*words, "\ud800", "\U0010ffff"] for words in sentences])
    assert list(map(len, tags)) == [len(words) + 2 for words in sentences]


# Training -----------------------------------------------------------------------------------------


def test_a_beam_of_one_learns_from_every_word() -> None:
    """Against a perceptron kept by hand, whose features are the word and its own last tag."""
    gold = [[("a", 1), ("b", 2), ("a", 0), ("c", 1)], [("b", 1), ("a", 1), ("c", 2)]]
    model = Model("tag: w0 | t-1").train(gold, 3, width=1, update="every")
    weights: dict[tuple[str, object], np.ndarray] = {}
    sums: dict[tuple[str, object], np.ndarray] = {}
    n_updates = 0
    for _ in range(3):
        for sentence in gold:
            before: object = "nothing"
            for word, tag in sentence:
                features = [("w0", word), ("t-1", before)]
                scores = sum((weights.get(f, np.zeros(3)) for f in features), np.zeros(3))
                found = int(scores.argmax())
                for feature in features if found != tag else []:
                    weights.setdefault(feature, np.zeros(3))[[tag, found]] += [1.0, -1.0]
                for feature, row in weights.items():
                    sums[feature] = sums.get(feature, np.zeros(3)) + row
                n_updates += 1
                before = found
    assert model.learner.clock == n_updates

    def mean(kind: str, value: object) -> np.ndarray:
        return sums.get((kind, value), np.zeros(3)) / n_updates

    for words in (["a"], ["b", "a"], ["c", "b"]):
        for tags in product(range(3), repeat=len(words)):
            befores = ["nothing", *tags]
            expected = sum(
                mean("w0", word)[tag] + mean("t-1", before)[tag]
                for word, tag, before in zip(words, tags, befores, strict=False)
            )
            assert model.score(words, tags) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("stop", "width"), [("early", 2), ("every", 1)])
def test_hidden_words_show_nothing(stop: str, width: int) -> None:
    gold = [[("a", 1), ("do", 2)]]
    hidden = Model("tag: w0 | w-1 | suffix2(w0) | chars(w0)", learning=Learning(dropout=0.999999))
    hidden.train(gold, 5, width=width, update=stop)
    # What is beyond the sentence is seen nonetheless.
    assert hidden.learner.n_rows() == 1
    assert Model("tag: w0", learning=Learning(dropout=0.5)).train(gold, 5).learner.n_rows() <= 2


def test_a_piece_draws_for_what_it_sees_of_a_sentence() -> None:
    """Not for the whole sentence: that would take the square of its length for all pieces."""
    seen = [("a", 1), ("do", 2), ("家", 1), ("do", 1), ("go", 2), ("b", 1)]
    learned = []
    for n in (0, 7):
        model = Model("tag: w-2 | w-1 | w0 | w+1 | w+2", learning=Learning(dropout=0.5))
        beyond = [("x", 0)] * n
        pieces = [[0, n + 2, 2]] * 3
        model.train([[*beyond, *seen, *beyond]], 3, pieces, width=2)
        rows = rows_by_key(model.learner.tables[0])
        learned.append({name: row.tolist() for name, row in rows.items()})
    assert learned[0] == learned[1]


def test_pieces_see_words_beyond_the_cut_but_no_tags() -> None:
    gold = [[("a", 1), ("do", 2), ("家", 1)]]
    cut = Model("tag: t-1 | t-2").train(gold, 1, [[0, 1, 1], [0, 2, 1]], width=2)
    assert cut.learner.n_rows() == 0
    whole = Model("tag: t-1").train(gold, 1, [[0, 0, 1]], width=2)
    assert whole.learner.n_rows() == 1
    around = Model("tag: w-1 w0 w+1").train(gold, 1, [[0, 1, 1]], width=2)
    assert around.score(["a", "do", "家"], [0, 2, 0]) > 0.0
    assert around.score(["x", "do", "家"], [0, 2, 0]) == 0.0


def test_gold_derivations() -> None:
    model = Model("tag: w0")
    derivation = model.system.compile(["学生", "", "\U0010ffff"], [2, 0, 1], model.learner)
    assert derivation is not None
    assert derivation.gold == [2, 0, 1]
    assert len(derivation) == 3
    assert model.system.compile([], [], model.learner) is None
    with pytest.raises(ValueError, match="unknown tag 3"):
        model.system.compile(["a"], [3], model.learner)
    with pytest.raises(ValueError, match="zip"):
        model.system.compile(["a"], [1, 2], model.learner)


# Sets of tags -------------------------------------------------------------------------------------


@given(st.dictionaries(st.integers(0, 2**64 - 1), st.sets(st.integers(0, 299)), max_size=30))
def test_sets_of_tags(mapping: dict[int, set[int]]) -> None:
    found = TagSets.from_mapping(300, mapping)
    assert len(found) == sum(map(bool, mapping.values()))
    for key, tags in mapping.items():
        assert found.get(key) == (sorted(tags) or None)
    assert found.get(next(key for key in range(31) if key not in mapping)) is None
    for copy in (TagSets(300, found.arrays), pickle.loads(pickle.dumps(found))):
        assert all(np.array_equal(copy.arrays[name], array) for name, array in found.arrays.items())
        assert all(copy.get(key) == found.get(key) for key in mapping)


def arrays(**changes: Any) -> dict[str, np.ndarray]:
    whole = {
        "keys": np.array([3, 7], dtype=np.uint64),
        "starts": np.array([0, 2, 3], dtype=np.int64),
        "tags": np.array([0, 1, 1], dtype=np.uint16),
    }
    return whole | {name: np.asarray(array) for name, array in changes.items()}


@looped(
    ("changes", "message"),
    [
        ({"keys": np.array([7, 3], dtype=np.uint64)}, "not in ascending order"),
        ({"keys": np.array([3, 3], dtype=np.uint64)}, "not in ascending order"),
        ({"keys": np.array([3, 7], dtype=np.int64)}, "must be 1-D uint64"),
        ({"keys": np.array([[3, 7]], dtype=np.uint64)}, "must be 1-D"),
        ({"starts": np.array([0, 3], dtype=np.int64)}, "offsets of the tag sets"),
        ({"starts": np.array([0, 2, 4], dtype=np.int64)}, "offsets of the tag sets"),
        ({"starts": np.array([1, 2, 3], dtype=np.int64)}, "offsets of the tag sets"),
        ({"starts": np.array([0, 3, 3], dtype=np.int64)}, "is empty"),
        ({"starts": np.array([0, -(2**62), 3], dtype=np.int64)}, "is empty"),
        ({"tags": np.array([1, 0, 1], dtype=np.uint16)}, "not in ascending order"),
        ({"tags": np.array([0, 2, 1], dtype=np.uint16)}, "out of range"),
        ({"extra": np.zeros(1)}, "keys, starts, tags"),
    ],
)
def test_arrays_that_are_no_sets(changes: dict[str, np.ndarray], message: str) -> None:
    TagSets(2, arrays())
    with pytest.raises(ValueError, match=message):
        TagSets(2, arrays(**changes))


def test_systems_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="expected 1 to 10,000 tags, got 0"):
        TagTransitions(WordFields(), 0, ["w0"])
    with pytest.raises(ValueError, match="unknown atom 'w7'"):
        TagTransitions(WordFields(), 2, ["w7"])
    with pytest.raises(ValueError, match="need the categories"):
        TagTransitions(WordFields(), 2, ["cats(w0)"])
    with pytest.raises(ValueError, match="need the tag dictionary"):
        TagTransitions(WordFields(), 2, ["tags(w-1)"])
    with pytest.raises(ValueError, match="expected tag sets of 2 tags, got 3"):
        TagTransitions(atoms(3), 2, ["w0"])
    with pytest.raises(ValueError, match="allowed must have the shape"):
        TagTransitions(WordFields(), 2, ["w0"]).load_words(["a"], np.ones((1, 3)))


def test_systems_travel() -> None:
    model = Model(EVERYTHING)
    twin = pickle.loads(pickle.dumps(model.system))
    assert twin.atoms == model.system.atoms
    assert twin.n_tags == 3
    assert twin.words.categories.arrays["keys"].tolist() == sorted(map(ord, CATEGORIES))
    with pytest.raises(TypeError, match="pickle the model"):
        pickle.dumps(TagDecoder(model.train([[("a", 1)]]).agenda(2), "ABC"))
