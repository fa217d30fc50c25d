"""What a labeler sees of tokens, against an obvious twin made of strings."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from numpy.typing import NDArray
from twins import murmur_64a
from word_field_twins import FIELDS

from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.features.labeling import LABELING_TABLES
from spacy_structreg.features.templates import TAG_BIGRAM
from spacy_structreg.features.word_fields import (
    MAX_CHARACTERS,
    letter_ngrams,
)
from spacy_structreg.tasks.chain import ChainFeatures
from spacy_structreg.tasks.token_keys import (
    FIRST_COLUMN,
    GAZETTEERS,
    NGRAMS,
    PADDING,
    TokenKeys,
)
from spacy_structreg.tasks.tokens import FeatureList, TokenFeatures, TokenRows, token_atoms
from spacy_structreg.tasks.word_fields import WordFields

Row = tuple[str, str]

LISTS = {"city": ["a", "a b", "学 生"], "team": ["b", "b a b"]}
GAZETTEER = Gazetteers(LISTS)

words = st.one_of(
    st.sampled_from(
        ["a", "b", "A", "ab", "学", "生", "3", "", "\0", "𠀀", "|", "\\", "\\-", "a|b"]
    ),
    st.text(st.sampled_from("abAB1.-学𠀀É\\|=^$"), max_size=8),
)
sentences = st.lists(st.tuples(words, st.sampled_from(["N", "V", "", "|"])), max_size=6)


# The twin ----------------------------------------------------------------------------------------


def values_of(atom: str, sentence: Sequence[Row], i: int) -> Iterator[object]:
    """All values of an atom at a position."""
    field, _, place = atom.rstrip(")").partition("(")
    if not place:
        field, place = "w", atom
    if field == "words":
        first, last = map(int, place.split(".."))
        yield from {sentence[j][0] for j in range(max(0, i + first), i + last + 1)
                    if j < len(sentence)}  # fmt: skip
        return
    j = i + (0 if place == "w0" else int(place[1:]))
    outside = not 0 <= j < len(sentence)
    if field == "ngrams":
        yield from () if outside else letter_ngrams(sentence[j][0])
    elif field == "gazetteers":
        yield from () if outside else GAZETTEER.matcher()([word for word, _ in sentence])[j]
    elif outside:
        yield ("padding",)
    elif field == "tag":
        yield sentence[j][1]
    elif (value := FIELDS[field](sentence[j][0])) is not None:
        yield value


def fired(atoms: Sequence[str], sentence: Sequence[Row], i: int) -> list[tuple[object, ...]]:
    """What a template sees at a position: once for each of the values of its many-valued atom."""
    found: list[tuple[object, ...]] = [()]
    for atom in atoms:
        values = list(values_of(atom, sentence, i))
        found = [(*before, value) for before in found for value in values]
    return found


def make(*templates: str) -> TokenFeatures:
    return TokenFeatures(templates, ["w", "tag"], GAZETTEER)


def keys_at(found: FeatureList, i: int) -> list[int]:
    starts, keys, values = found
    assert values is None
    return [int(key) for key in keys[starts[i] : starts[i + 1]]]


# One template against the twin -------------------------------------------------------------------

SINGLE = [
    f"{field}({at})" if field != "w" else at
    for field in [*FIELDS, "tag"]
    for at in ("w-4", "w-1", "w0", "w+1", "w+4")
]
MANY = [
    "ngrams(w0)", "ngrams(w-1)", "ngrams(w+1)", "gazetteers(w-1)", "gazetteers(w0)",
    "gazetteers(w+1)", *(f"words(-{n}..-1)" for n in (2, 3, 4)),
    *(f"words(+1..+{n})" for n in (2, 3, 4)),
]  # fmt: skip
joined = st.tuples(
    st.lists(st.sampled_from(SINGLE), max_size=3, unique=True),
    st.lists(st.sampled_from(MANY), max_size=1),
).filter(lambda both: bool(both[0] or both[1]))


@pytest.mark.parametrize("event", ["label", "edge"])
@given(joined, st.lists(sentences, min_size=1, max_size=3), st.booleans(), st.integers(0, 6))
def test_keys_tell_apart_what_the_twin_tells_apart(
    event: str,
    both: tuple[list[str], list[str]],
    texts: list[list[Row]],
    many_first: bool,
    reach: int,
) -> None:
    atoms = [*both[1], *both[0]] if many_first else [*both[0], *both[1]]
    features = make(f"{event}: {' '.join(atoms)}")
    if features.shapes:
        reach = max(reach, 4)
    key_of: dict[object, object] = {}
    symbols, lists = features.extract(texts, reach)
    n = sum(map(len, texts))
    assert symbols.shape == (len(features.atoms), n + (len(texts) + 1) * reach)
    assert symbols.flags.c_contiguous
    before = 0
    for number, text in enumerate(texts, 1):
        for i in range(len(text)):
            seen = fired(atoms, text, i)
            if features.shapes:
                keys: list[object] = [ngram(features, symbols, number * reach + before + i)]
            else:
                keys = list(keys_at(lists[0], before + i))
            assert len(set(keys)) == len(keys) == len(seen)
            # Many values come in one order or another.
            if len(seen) == 1:
                key_of.setdefault(seen[0], keys[0])
            for value, key in key_of.items():
                assert (key in keys) == (value in seen)
        before += len(text)
    assert len(set(key_of.values())) == len(key_of)


def ngram(features: TokenFeatures, symbols: NDArray[np.uint64], at: int) -> object:
    (shape,) = features.shapes
    streams = list(features.atoms)
    return tuple(
        int(symbols[streams.index(atom.name), at + shape.lowest + atom.offset])
        for atom in shape.atoms
    )


# Whole tables against names ----------------------------------------------------------------------


def key_by_hand(features: TokenFeatures, number: int, symbols: Sequence[int]) -> int:
    return murmur_64a(b"".join(int(n).to_bytes(8, "little") for n in (number, *symbols)))


def symbol_by_hand(value: str) -> int:
    """The symbol of a text: its characters, counted from 1 on, go into a hash one by one."""
    state = 0
    for character in value:
        state = (state ^ (ord(character) + 1)) * 0x9E3779B97F4A7C15 % 2**64
        state ^= state >> 29
    return state if state > 2 else state + 3


def test_keys_and_symbols_by_hand() -> None:
    features = make("label: w0 | w-1 tag(w0) | w-1 prefix2(w0) | edge: words(+1..+2) w0 | edge:")
    symbols, lists = features.extract([[("ab", "N"), ("c", "V"), ("c", "V")]], 1)
    assert features.lists == ("label", "edge")
    assert features.atoms == {"w": 64, "tag": 64}
    ab, c = symbol_by_hand("ab"), symbol_by_hand("c")
    n, v = symbol_by_hand("N"), symbol_by_hand("V")
    assert symbols.tolist() == [[PADDING, ab, c, c, PADDING], [PADDING, n, v, v, PADDING]]
    assert [keys_at(lists[0], i) for i in range(3)] == [
        [key_by_hand(features, 2, [PADDING, ab])], [], [],
    ]  # fmt: skip
    assert [keys_at(lists[1], i) for i in range(3)] == [
        [key_by_hand(features, 3, [c, ab])], [key_by_hand(features, 3, [c, c])], [],
    ]  # fmt: skip
    assert features.names([("ab", "N"), ("c", "V"), ("c", "V")]) == [
        ["w0=ab", r"w-1=\-|tag(w0)=N", r"w-1=\-|prefix2(w0)=ab"],
        ["w0=c", "w-1=ab|tag(w0)=V"],
        ["w0=c", "w-1=c|tag(w0)=V"],
    ]


@looped("table", sorted(LABELING_TABLES.keys() - {"classes"}))
@given(texts=st.lists(sentences, min_size=1, max_size=3))
def test_two_positions_share_a_name_exactly_when_they_share_a_key(
    table: str, texts: list[list[Row]]
) -> None:
    features = make(table)
    streams = list(features.atoms)
    name_of: dict[object, str] = {}
    for text in texts:
        symbols, lists = features.extract([text], 4)
        names = features.names(text)
        assert len(names) == len(text)
        for i in range(len(text)):
            # The templates in their order: those that go to lists keep it there.
            rest = keys_at(lists[0], i) if features.lists[:1] == ("label",) else []
            keys: list[object] = []
            for number, template in enumerate(features.templates):
                if template.event != "label":
                    continue
                atoms = [features._atoms[name] for name in template.atoms]
                if features._is_single(template):
                    ngram = [symbols[streams.index(a.field), 4 + i + a.first] for a in atoms]
                    keys.append((number, *map(int, ngram)))
                else:
                    count = len(fired(template.atoms, text, i))
                    keys += rest[:count]
                    rest = rest[count:]
            assert not rest
            assert len(keys) == len(names[i])
            for key, name in zip(keys, names[i], strict=True):
                assert name_of.setdefault(key, name) == name
    assert len(set(name_of.values())) == len(name_of)


def test_ngrams_of_long_words_are_those_of_their_beginning() -> None:
    features = make("label: ngrams(w0)")
    word = "".join(map(chr, range(0x4E00, 0x4E00 + 100)))
    keys = [
        keys_at(features.extract([[(text, "N")]], 0)[1][0], 0)
        for text in (word, word[:MAX_CHARACTERS])
    ]
    assert keys[0] == keys[1]
    assert len(keys[0]) == len(letter_ngrams(word))


# What the chain is given -------------------------------------------------------------------------


def test_shapes_fit_a_chain() -> None:
    features = make("chunking+edges")
    chain = ChainFeatures(features.shapes, features.atoms, 3)
    assert (chain.reach, features.lists) == (2, ("edge",))
    assert chain.tag_bigram >= 0
    assert [str(shape) for shape in features.shapes] == [
        "t-1t0", "tag0[-2..+2]", "w0[-2..+2]", "tag0tag+1[-2..+1]", "w0w+1[-1..+0]",
        "tag0tag+1tag+2[-2..+0]",
    ]  # fmt: skip
    plain = make("label: w0")
    assert all(shape.atoms for shape in plain.shapes)
    assert TAG_BIGRAM.atoms == make("edge:").shapes[0].atoms


@looped("table", sorted(LABELING_TABLES.keys() - {"classes"}))
def test_empty_sentences_and_single_tokens(table: str) -> None:
    features = make(table)
    symbols, lists = features.extract([[]], 2)
    assert symbols.tolist() == [[PADDING] * 4] * len(features.atoms)
    assert [[part.tolist() for part in found[:2]] for found in lists] == [[[0], []]] * len(lists)
    assert features.names([]) == []
    symbols, lists = features.extract([[("", "")]], 0)
    assert symbols.shape == (len(features.atoms), 1)
    for starts, keys, _ in lists:
        assert starts.tolist() == [0, len(keys)]


def test_phrases_end_with_their_sentence() -> None:
    features = make("label: gazetteers(w0)")
    both, apart = [("学", "N"), ("生", "N")], ([("学", "N")], [("生", "N")])
    assert features.extract([both], 0)[1][0][0].tolist() == [0, 1, 2]
    assert features.extract(apart, 0)[1][0][0].tolist() == [0, 0, 0]


def test_rows_of_columns_are_their_tokens() -> None:
    rows = TokenRows([["a", "b", "学"], ["N", "V", "N"]])
    tokens = [("a", "N"), ("b", "V"), ("学", "N")]
    assert [*rows] == tokens == [rows[i] for i in range(len(rows))]
    assert [*rows[1:]] == tokens[1:]
    features = make("label: w0 | end(w-1) tag(w+1) | gazetteers(w0) | edge:")
    (found, (of_rows,)), (symbols, (listed,)) = (features.extract([x], 4) for x in (rows, tokens))
    assert np.array_equal(found, symbols)
    assert np.array_equal(of_rows[1], listed[1])
    assert not TokenRows([[], []])


def test_lists_are_only_those_in_use() -> None:
    assert make("label: w0 | edge:").lists == ()
    assert make("label: start(w0)").lists == ("label",)
    assert make("edge: w0").lists == ("edge",)
    assert make("edge: w0").atoms == {}
    assert make("edge: w0 | label: end(w0)").lists == ("label", "edge")


def test_the_same_atoms_in_another_order_are_one_template() -> None:
    features = make("label: w0 w-1 | w-1 w0 | edge: w-1 w0")
    assert [str(template) for template in features.templates] == [
        "label: w0 w-1", "edge: w-1 w0",
    ]  # fmt: skip
    assert features.names([("a", "N")]) == [[r"w0=a|w-1=\-"]]


def test_gazetteers_are_not_asked_for_where_there_are_none() -> None:
    without = TokenFeatures("ner")
    assert not any("gazetteers" in str(template) for template in without.templates)
    assert len(make("ner").templates) == len(without.templates) + 3
    with pytest.raises(ValueError, match="no gazetteer was given"):
        TokenFeatures(["label: gazetteers(w0)"])


def test_features_survive_pickling() -> None:
    features = make("bio+edges")
    again = pickle.loads(pickle.dumps(features))
    assert (again.templates, again.columns, again.shapes, again.atoms, again.lists) == (
        features.templates, features.columns, features.shapes, features.atoms, features.lists,
    )  # fmt: skip
    text = [("a", "N"), ("b", "V")]
    assert again.names(text) == features.names(text)
    both = (each.extract([text], 4)[1] for each in (features, again))
    for found, other in zip(*both, strict=True):
        assert found[1].tolist() == other[1].tolist()


# Refusals ----------------------------------------------------------------------------------------


@looped(
    ("token", "fault"),
    [
        (("a",), "is not a row of 2 strings"),
        (("a", "N", "x"), "is not a row of 2 strings"),
        ("ab", "is not a row of 2 strings"),
        ((3, "N"), "is not a row of"),
        ((None, "N"), "is not a row of"),
        (("a", None), "is not a row of 2 strings"),
    ],
)
def test_other_tokens_are_refused(token: Any, fault: str) -> None:
    features = make("label: w0 | tag(w0) | ngrams(w0)")
    with pytest.raises(ValueError, match=fault):
        features.extract([[("a", "N"), token]], 1)
    with pytest.raises(ValueError, match=fault):
        features.names([token])


@looped(
    ("templates", "fault"),
    [
        (["label: w0 | w+9"], "'w\\+9', which this model does not have"),
        (["label: pos(w0)"], "'pos\\(w0\\)'"),
        (["label:"], "has no atoms"),
        (["word: w0"], "event 'word'"),
        (["w0"], "names no event"),
        (["label: ngrams(w0) words(-4..-1)"], "joins ngrams\\(w0\\) and words"),
        ([], "is empty"),
    ],
)
def test_unusable_templates_are_refused(templates: list[str], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        make(*templates)


@looped(
    ("columns", "fault"),
    [
        ([], "columns must not be empty"),
        ("w", "columns must not be empty"),
        (["w", "shape"], "'shape' of a column is taken"),
        (["w", "ngrams"], "is taken"),
        (["w", "w"], "is taken"),
        (["w", "tag", "tag"], "is taken"),
        (["w", "my tag"], "cannot be the name"),
        (["w", "a(b)"], "cannot be the name"),
        (["w", 3], "cannot be the name"),
    ],
)
def test_unusable_columns_are_refused(columns: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        token_atoms(columns)


@looped(
    ("streams", "lists", "fault"),
    [
        ([FIRST_COLUMN], [], "a stream index is out of range"),
        ([0], [[(0, [(FIRST_COLUMN, 0, 0)])]], f"no field {FIRST_COLUMN}"),
        ([0], [[(0, [(0, 1, 0)])]], "no field 0 at the offsets 1 to 0"),
        ([0], [[(0, [(0, 0, 1)])]], "must be at one offset"),
        ([0], [[(0, [(NGRAMS, 0, 0), (GAZETTEERS, 0, 0)])]], "two multi-valued atoms"),
        ([0], [[(0, [(0, 0, 0)] * 9)]], "more than 8"),
    ],
)
def test_keys_that_do_not_fit_are_refused(streams: Any, lists: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        TokenKeys(WordFields(), ["w"], streams, lists)


def test_keys_are_made_once() -> None:
    keys = pickle.loads(pickle.dumps(TokenKeys(WordFields(), ["w"], [0], [])))
    assert keys.arguments[1:] == (("w",), (0,), ())
    with pytest.raises(TypeError, match="initialized twice"):
        keys.__init__(WordFields(), ["w"], [0], [])
