"""The notation of feature templates, and the tables written in it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.features import templates
from spacy_structreg.features.segmentation import (
    CHARACTER_TABLES,
    CHARACTER_TYPES,
    SKIP_BIGRAM,
    ZHANG_2014,
)
from spacy_structreg.features.templates import (
    MAX_ATOMS,
    MAX_OFFSET,
    TAG_BIGRAM,
    Atom,
    Template,
    parse_template,
    parse_templates,
)
from spacy_structreg.models.segmentation import CharacterSegmenterSettings

KNOWN = ("c", "type")

ATOM_LISTS = st.lists(
    st.tuples(st.integers(-MAX_OFFSET, MAX_OFFSET), st.sampled_from(KNOWN)),
    min_size=1,
    max_size=MAX_ATOMS,
    unique=True,
)


# Gao, Qiu & Huang 2010, Table 1: Ci (i = -1..2); Ci Ci+1 (i = -2..1); T-1,0; Tc.
GAO_2010_BY_HAND = {
    *(((i, "c"),) for i in (-1, 0, 1, 2)),
    *(((i, "c"), (i + 1, "c")) for i in (-2, -1, 0, 1)),
    (),
    ((0, "type"),),
}


def test_the_table_of_gao_2010_is_the_papers() -> None:
    for types, expected in (("g10", GAO_2010_BY_HAND), (None, GAO_2010_BY_HAND - {((0, "type"),)})):
        settings = CharacterSegmenterSettings(templates="gao2010", types=types)
        found = [
            tuple((atom.offset, atom.name) for atom in template.atoms)
            for template in settings.parsed()
        ]
        assert len(found) == len(expected)
        assert set(found) == expected


def spell(offset: int, name: str) -> str:
    return f"{name}{offset:+d}" if offset else f"{name}0"


@given(ATOM_LISTS)
def test_a_template_is_read_as_it_is_written(atoms: list[tuple[int, str]]) -> None:
    template = parse_template("".join(spell(*atom) for atom in atoms), KNOWN)
    assert [(atom.offset, atom.name) for atom in template.atoms] == sorted(atoms)
    assert parse_template(str(template), KNOWN) == template


@given(ATOM_LISTS)
def test_atoms_behind_the_tag_bigram_are_an_edge_feature(atoms: list[tuple[int, str]]) -> None:
    plain = "".join(spell(*atom) for atom in atoms)
    template = parse_template(f"t-1 t0 {plain}", KNOWN)
    assert (template.is_edge, template.is_tag_bigram) == (True, False)
    assert template.atoms == parse_template(plain, KNOWN).atoms
    assert template == parse_template(f"t0t-1{plain}", KNOWN) != parse_template(plain, KNOWN)
    assert parse_template(str(template), KNOWN) == template


def test_the_table_of_sun_2014_has_each_ngram_with_the_tag_and_with_the_pair() -> None:
    found = CharacterSegmenterSettings(templates="sun2014", types=None).parsed()
    labels = {each.atoms for each in found if not each.is_edge}
    assert labels - {()} == {each.atoms for each in found if each.is_edge}
    ngrams = {tuple((atom.offset, atom.name) for atom in atoms) for atoms in labels}
    assert ngrams == {
        (),
        *(((i, "c"),) for i in range(-2, 3)),
        *(((i, "c"), (i + 1, "c")) for i in range(-2, 2)),
    }


@given(ATOM_LISTS, st.randoms(use_true_random=False))
def test_order_of_atoms_and_white_space_do_not_matter(atoms, random) -> None:
    shuffled = random.sample(atoms, len(atoms))
    spaced = "  ".join(spell(*atom) for atom in shuffled)
    plain = "".join(spell(*atom) for atom in atoms)
    assert parse_template(f" {spaced}\t", KNOWN) == parse_template(plain, KNOWN)


@looped("text", ["c0", "c+0", "c-0", " c 0 "])
def test_spellings_of_the_current_position(text: str) -> None:
    assert parse_template(text, KNOWN) == Template((Atom(0, "c"),))
    assert str(parse_template(text, KNOWN)) == "c0"


def test_the_tag_bigram_reads_no_atom() -> None:
    template = parse_template("t-1 t0", KNOWN)
    assert template == TAG_BIGRAM
    assert template.is_tag_bigram
    assert str(template) == "t-1t0"
    assert not parse_template("c0", KNOWN).is_tag_bigram


@looped("text", ["", "  ", "c", "0", "c-", "c0/c1", "c0,c1", "cc0 c", "c--1", "c1.5", "字0", "c０"])
def test_broken_notation_is_quoted_with_a_right_example(text: str) -> None:
    with pytest.raises(ValueError, match="cannot be read") as error:
        parse_template(text, KNOWN)
    assert repr(text) in str(error.value)
    assert "'c-1c0'" in str(error.value)


def test_an_unknown_atom_is_named_with_those_that_are_known() -> None:
    with pytest.raises(ValueError, match="'word'") as error:
        parse_template("c0word-1", KNOWN)
    assert "'c0word-1'" in str(error.value)
    assert "it has c, type" in str(error.value)


@looped(
    ("text", "complaint"),
    [
        (f"c{MAX_OFFSET + 1}", "17 positions away; 16"),
        (f"c-{MAX_OFFSET + 1}", "17 positions away; 16"),
        ("".join(f"c{i}" for i in range(MAX_ATOMS + 1)), "more than 8 atoms"),
        ("c0c1c+0", "same atom twice"),
    ],
)
def test_limits_are_named(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as error:
        parse_template(text, KNOWN)
    assert repr(text) in str(error.value)


def test_several_templates_in_one_string_or_in_many() -> None:
    parsed = parse_templates(["c0 | c-1c0", "t-1t0|", "c0c-1"], KNOWN)
    assert [str(template) for template in parsed] == ["c0", "c-1c0", "t-1t0"]


@looped("texts", [[], [""], [" | "]])
def test_a_model_without_templates_is_refused(texts: list[str]) -> None:
    with pytest.raises(ValueError, match="empty"):
        parse_templates(texts, KNOWN)


def test_the_table_of_zhang_2014() -> None:
    # Table 1 of the paper, written out as offsets.
    unigrams = {(-1,), (0,), (1,)}
    bigrams = {(-2, -1), (-1, 0), (0, 1), (1, 2)}
    expected = {Template(tuple(Atom(i, "c") for i in offsets)) for offsets in unigrams | bigrams}
    parsed = parse_templates([ZHANG_2014], ["c"])
    assert len(parsed) == 8
    assert set(parsed) == expected | {TAG_BIGRAM}
    assert CHARACTER_TABLES["zhang2014"] == ZHANG_2014


def test_the_optional_templates() -> None:
    assert [
        [(atom.name, atom.offset) for atom in template.atoms]
        for template in parse_templates([CHARACTER_TYPES, SKIP_BIGRAM], KNOWN)
    ] == [
        [("type", i) for i in (-1, 0, 1)],
        [("type", i) for i in (-2, -1, 0, 1, 2)],
        [("c", -1), ("c", 1)],
    ]


def test_what_cannot_be_read_is_tried_at_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Letters without an offset may be many; a search would go over the rest from each of them."""
    pattern, places = templates._ATOM, []

    class Counting:
        def match(self, text: str, place: int) -> re.Match[str] | None:
            places.append(place)
            return pattern.match(text, place)

    monkeypatch.setattr(templates, "_ATOM", Counting())
    for text in ("a" * 10_000, "c0" + "a" * 10_000, "c0" * 10_000):
        places.clear()
        with pytest.raises(ValueError, match=r"feature template '[ac0]{1,80}") as caught:
            parse_template(text, ["c"])
        assert len(places) <= MAX_ATOMS + 1
        assert len(str(caught.value)) < 300
