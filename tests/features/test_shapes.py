"""The template compiler: which templates share a shape."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from spacy_structreg.features.segmentation import ZHANG_2014
from spacy_structreg.features.template_compiler import compile_edges, compile_shapes
from spacy_structreg.features.templates import TAG_BIGRAM, Atom, Template, parse_templates

ATOMS = st.builds(Atom, st.integers(-4, 4), st.sampled_from(["c", "type"]))
TEMPLATES = st.lists(ATOMS, max_size=4, unique=True).map(
    lambda atoms: Template(tuple(sorted(atoms)))
)
SETS = st.lists(TEMPLATES, max_size=12, unique=True)


def expand(shapes) -> list[Template]:
    """The templates that shapes stand for, shift by shift."""
    return [
        Template(tuple(Atom(atom.offset + shift, atom.name) for atom in shape.atoms))
        for shape in shapes
        for shift in range(shape.lowest, shape.highest + 1)
    ]


@given(SETS)
def test_every_template_is_represented_exactly_once(templates: list[Template]) -> None:
    shapes = compile_shapes(templates)
    assert Counter(expand(shapes)) == Counter(templates)
    assert sum(shape.n_shifts for shape in shapes) == len(templates)
    for shape in shapes:
        assert not shape.atoms or shape.atoms[0].offset == 0
        assert shape.is_tag_bigram == (not shape.atoms)


@given(SETS)
def test_shapes_are_as_long_as_can_be(templates: list[Template]) -> None:
    given_templates = set(templates)
    for shape in compile_shapes(templates):
        for shift in (shape.lowest - 1, shape.highest + 1):
            if shape.atoms:
                atoms = tuple(Atom(atom.offset + shift, atom.name) for atom in shape.atoms)
                assert Template(atoms) not in given_templates


@given(SETS, st.randoms(use_true_random=False))
def test_the_order_of_templates_does_not_matter(templates, random) -> None:
    shuffled = random.sample(templates, len(templates))
    assert compile_shapes(shuffled + templates) == compile_shapes(templates)


@given(SETS, SETS, st.randoms(use_true_random=False))
def test_edge_features_have_shapes_of_their_own(templates, edges, random) -> None:
    edges = [Template(each.atoms, is_edge=True) for each in edges if each.atoms]
    shapes = compile_edges(templates + edges)
    assert Counter(expand(shapes)) == Counter(Template(each.atoms) for each in edges)
    assert all(shape.n_shifts == 1 for shape in shapes)
    assert compile_edges(random.sample(edges, len(edges)) + edges) == shapes
    assert compile_shapes(templates + edges) == compile_shapes(templates)


def test_the_table_of_zhang_2014_by_hand() -> None:
    shapes = compile_shapes(parse_templates([ZHANG_2014], ["c"]))
    assert [(str(shape), shape.n_shifts, shape.n_columns(4)) for shape in shapes] == [
        ("t-1t0", 1, 16),
        ("c0[-1..+1]", 3, 12),
        ("c0c+1[-2..+1]", 4, 16),
    ]


def test_shifts_that_are_not_consecutive_part() -> None:
    shapes = compile_shapes(parse_templates(["c-3 | c-1 | c0 | c+2"], ["c"]))
    assert [(shape.lowest, shape.highest) for shape in shapes] == [(-3, -3), (-1, 0), (2, 2)]


def test_atoms_of_other_names_do_not_share() -> None:
    shapes = compile_shapes(parse_templates(["c0type+1 | type0c+1 | c-1type0"], ["c", "type"]))
    assert [str(shape) for shape in shapes] == ["c0type+1[-1..+0]", "type0c+1[+0..+0]"]


def test_the_tag_bigram_has_pairs_of_labels_for_columns() -> None:
    (shape,) = compile_shapes([TAG_BIGRAM])
    assert shape.is_tag_bigram
    assert shape.n_columns(5) == 25
    assert shape.n_columns(16) == 256
    assert shape.n_columns(17) == 17  # a row for each label that comes first
