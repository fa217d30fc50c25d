"""Pictures of trees: well-formed, everything in it once, and nothing over something else."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations, pairwise
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from random_trees import sentences_with_trees

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.drawing import dependency_svg, span_svg, tree_svg
from spacy_structreg.corpora.sentence import Sentence

SVG = "{http://www.w3.org/2000/svg}"

SENTENCE = ConstituencySentence(
    ("我", "喝", "綠", "茶", "<&\"'>"),
    ("PN", "VV", "JJ", "NN", "PU"),
    (
        Constituent("IP", 0, 5, 1),
        Constituent("NP", 0, 1, 0),
        Constituent("VP", 1, 4, 1),
        Constituent("NP", 2, 4, 3),
    ),
)


def texts(picture: str) -> list[tuple[str, float, float]]:
    """What is written, with the middle of its baseline."""
    return [
        (node.text or "", float(node.attrib["x"]), float(node.attrib["y"]))
        for node in ET.fromstring(picture).iter(f"{SVG}text")
    ]


def paths(picture: str) -> list[tuple[list[tuple[float, float]], float]]:
    """The points of each line, and its width."""
    found = []
    for node in ET.fromstring(picture).iter(f"{SVG}path"):
        numbers = [float(number) for number in re.findall(r"[0-9.]+", node.attrib["d"])]
        points = [(numbers[0], numbers[1]), (numbers[2], numbers[3])]
        if len(numbers) == 5:
            points.append((numbers[2], numbers[4]))
        found.append((points, float(node.attrib["stroke-width"])))
    return found


def test_a_tree_worked_by_hand() -> None:
    picture = tree_svg(SENTENCE, font_size=10)
    # Columns of 1.2 + 0.8 or 5 × 0.6 + 0.8 font sizes; the labels PN, VV, ... are no wider.
    assert texts(picture) == [
        ("IP", 59.0, 11.0),
        ("NP", 10.0, 41.0),
        ("VP", 50.0, 41.0),
        ("NP", 60.0, 71.0),
        ("我", 10.0, 115.0),
        ("PN", 10.0, 101.0),
        ("喝", 30.0, 115.0),
        ("VV", 30.0, 101.0),
        ("綠", 50.0, 115.0),
        ("JJ", 50.0, 101.0),
        ("茶", 70.0, 115.0),
        ("NN", 70.0, 101.0),
        ("<&\"'>", 99.0, 115.0),
        ("PU", 99.0, 101.0),
    ]
    assert [points for points, _ in paths(picture)] == [
        [(59.0, 15.0), (10.0, 30.0)],
        [(59.0, 15.0), (50.0, 30.0)],
        [(50.0, 45.0), (60.0, 60.0)],
        [(10.0, 45.0), (10.0, 60.0), (10.0, 90.0)],
        [(50.0, 45.0), (30.0, 60.0), (30.0, 90.0)],
        [(60.0, 75.0), (50.0, 90.0)],
        [(60.0, 75.0), (70.0, 90.0)],
        [(59.0, 15.0), (99.0, 30.0), (99.0, 90.0)],
    ]
    root = ET.fromstring(picture)
    assert (root.attrib["width"], root.attrib["height"]) == ("118.0", "119.0")
    assert root.attrib["viewBox"] == "0 0 118.0 119.0"
    assert len({width for _, width in paths(picture)}) == 1


def test_lines_to_heads() -> None:
    widths = [width for _, width in paths(tree_svg(SENTENCE, heads=True))]
    # VP of IP; of the words 我, 喝 and 茶.
    assert [i for i, width in enumerate(widths) if width == max(widths)] == [1, 3, 4, 6]


@given(sentences_with_trees())
def test_everything_stands_in_it_once_and_apart(sentence: ConstituencySentence) -> None:
    picture = tree_svg(sentence)
    found = texts(picture)
    labels = [phrase.label for phrase in sentence.constituents]
    expected = Counter([*labels, *sentence.words, *filter(None, sentence.tags)])
    assert Counter(text for text, _, _ in found) == expected
    # One line to each phrase but the root, and to each word.
    n_lines = len(labels) - 1 + len(sentence.words) if labels else 0
    assert len(paths(picture)) == n_lines
    for (one, x, y), (other, other_x, other_y) in combinations(found, 2):
        # Letters of 0.6 font sizes of 16, centered.
        if y == other_y:
            assert abs(x - other_x) > (len(one) + len(other)) / 2 * 0.6 * 16
    root = ET.fromstring(picture)
    for text, x, y in found:
        half = len(text) * 0.3 * 16
        assert half < x < float(root.attrib["width"]) - half
        assert 0 < y < float(root.attrib["height"])
    # A line goes down, and through no text: what it passes at a height stands beside it.
    for points, _ in paths(picture):
        assert all(above[1] < below[1] for above, below in pairwise(points))
        if len(points) == 3:
            x = points[1][0]
            for text, other_x, y in found:
                if points[1][1] < y < points[2][1]:
                    assert abs(x - other_x) > len(text) * 0.3 * 16


def test_a_label_that_is_wider_than_its_words() -> None:
    phrases = (Constituent("AVERYLONGLABEL", 0, 2, 0), Constituent("ANOTHERLONGONE", 0, 1, 0))
    sentence = ConstituencySentence(("我", "a"), ("", ""), phrases)
    root = ET.fromstring(tree_svg(sentence, font_size=10))
    # 14 letters and the gap over the first word alone, then one letter and its gap.
    assert float(root.attrib["width"]) == pytest.approx(10 * (14 * 0.6 + 0.8 + 0.6 + 0.8))


def test_wide_characters_and_marks() -> None:
    def width(word: str) -> float:
        sentence = ConstituencySentence((word,), ("",), ())
        return float(ET.fromstring(tree_svg(sentence, font_size=10)).attrib["width"])

    assert width("a") == pytest.approx(6 + 8)
    assert width("ab") == width("茶") == pytest.approx(12 + 8)
    # A letter with a combining accent.
    assert width("e\u0301") == width("a")
    # A word alone.
    assert texts(tree_svg(ConstituencySentence(("茶",), ("NN",), ()))) == [
        ("茶", 16.0, 40.0),
        ("NN", 16.0, 17.6),
    ]


def test_what_xml_cannot_hold() -> None:
    sentence = ConstituencySentence(
        ("\x00a\x1b\ud800\uffff", "]]>\U0001f375"), ("A", "B"), (Constituent("-->&amp;", 0, 2, 0),)
    )
    picture = tree_svg(sentence)
    picture.encode("utf-8")
    assert [text for text, _, _ in texts(picture)] == [
        "-->&amp;",
        "\ufffda\ufffd\ufffd\ufffd",
        "A",
        "]]>\U0001f375",
        "B",
    ]


@looped("font_size", [0, -1, float("nan"), float("inf")])
def test_font_sizes_that_are_none(font_size: float) -> None:
    for draw, sentence in ((tree_svg, SENTENCE), (span_svg, SENTENCE), (dependency_svg, ARCS)):
        with pytest.raises(ValueError, match="font_size is"):
            draw(sentence, font_size=font_size)  # type: ignore[operator]


def test_deep_trees_are_no_burden() -> None:
    depth = 5_000
    phrases = tuple(Constituent("X", 0, depth - at, 0) for at in range(depth))
    picture = tree_svg(ConstituencySentence(("a",) * depth, ("T",) * depth, phrases))
    assert len(texts(picture)) == 3 * depth


# ---- spans ----


def bars(picture: str) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of each bar."""
    found = []
    for node in ET.fromstring(picture).iter(f"{SVG}rect"):
        x, y, width, height = (float(node.attrib[name]) for name in ("x", "y", "width", "height"))
        found.append((x, y, x + width, y + height))
    return found


@given(sentences_with_trees())
def test_bars_hold_their_labels_and_cover_their_words(sentence: ConstituencySentence) -> None:
    picture = span_svg(sentence)
    found = texts(picture)
    words, labels = found[: len(sentence.words)], found[len(sentence.words) :]
    assert [text for text, _, _ in words] == [*sentence.words]
    assert [text for text, _, _ in labels] == [each.label for each in sentence.constituents]
    drawn = bars(picture)
    for phrase, bar, (label, x, y) in zip(sentence.constituents, drawn, labels, strict=True):
        left, top, right, bottom = bar
        half = len(label) * 0.3 * 16
        assert left < x - half < x + half < right
        assert top < y - 12 < y < bottom
        for index, (_, middle, _) in enumerate(words):
            assert (left < middle < right) == (phrase.begin <= index < phrase.end)
    for one, other in combinations(drawn, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart
    root = ET.fromstring(picture)
    assert all(right <= float(root.attrib["width"]) for _, _, right, _ in drawn)
    assert all(bottom <= float(root.attrib["height"]) for _, _, _, bottom in drawn)


def test_colors_of_bars_are_those_of_labels() -> None:
    ip, one, vp, other = (
        node.attrib["fill"] for node in ET.fromstring(span_svg(SENTENCE)).iter(f"{SVG}rect")
    )
    assert one == other
    assert len({ip, one, vp}) == 3


# ---- arcs ----

ARCS = Sentence(
    ("我", "喝", "綠", "茶", "<&>"),
    ("PN", "VV", "", "NN", "PU"),
    (1, -1, 3, 1, None),
    ("nsubj", "ROOT", "amod:a_long_subtype", "obj<&>", None),
)


class Arc(NamedTuple):
    """A line from `start` up to the height `y` and down to the word at `end`."""

    start: float
    end: float
    y: float


def arcs(picture: str) -> list[Arc]:
    """The arcs, then the lines to roots, where start and end are one."""
    (group,) = ET.fromstring(picture).iter(f"{SVG}g")
    found = []
    for node in group:
        numbers = [float(number) for number in re.findall(r"[0-9.]+", node.attrib["d"])]
        if len(numbers) == 3:
            found.append(Arc(numbers[0], numbers[0], numbers[1]))
        else:
            found.append(Arc(numbers[0], numbers[-2 - 1], numbers[4]))
    return found


def test_a_dependency_tree_worked_by_hand() -> None:
    picture = dependency_svg(ARCS, font_size=10)
    # Columns of 2.0, of ROOT above 喝 4 × 0.6 × 0.8 + 0.8, then 1.2 + 0.8 and, of <&>, 1.8 + 0.8.
    # Between 我 and 喝, 5 × 0.48 + 0.65 + 0.8 are needed, between 綠 and 茶 19 × 0.48 + 1.45.
    assert [(text, x) for text, x, _ in texts(picture)] == [
        ("nsubj", pytest.approx((10 + 48.5 - 6.5 / 2) / 2, abs=0.1)),
        ("amod:a_long_subtype", pytest.approx((72.1 + 177.8 - 6.5 / 2) / 2, abs=0.1)),
        ("obj<&>", pytest.approx((48.5 + 6.5 / 2 + 177.8) / 2, abs=0.1)),
        ("ROOT", 48.5),
        ("我", 10.0),
        ("PN", 10.0),
        ("喝", 48.5),
        ("VV", 48.5),
        ("綠", 72.1),
        ("茶", 177.8),
        ("NN", 177.8),
        ("<&>", pytest.approx(200.8)),
        ("PU", pytest.approx(200.8)),
    ]
    # Two heights of arcs, and one more of the root.
    bottom = 8.8 + 3 + 3 * 16
    heights = [round(bottom - arc.y, 1) for arc in arcs(picture)]
    assert heights == [16, 16, 32, 48]


@st.composite
def dependency_trees(draw: st.DrawFn) -> Sentence:
    """A tree, which need not be projective, or a part of one."""
    n_words = draw(st.integers(1, 9))
    order = draw(st.permutations(range(n_words)))
    heads: list[int | None] = [None] * n_words
    for place, word in enumerate(order):
        heads[word] = draw(st.sampled_from([-1, None, *order[:place]]))
    labels = draw(
        st.lists(st.sampled_from(["a", "relation", None]), min_size=n_words, max_size=n_words)
    )
    return Sentence(("w",) * n_words, ("T",) * n_words, tuple(heads), tuple(labels))


@given(dependency_trees())
def test_no_arc_runs_over_another_and_relations_fit(sentence: Sentence) -> None:
    picture = dependency_svg(sentence)
    found = texts(picture)
    middles = [x for text, x, _ in found if text == "w"]
    assert len(middles) == len(sentence.words)
    known = [word for word, head in enumerate(sentence.heads) if head is not None]
    drawn = arcs(picture) if known else []
    order = sorted(known, key=lambda word: sentence.heads[word] == -1)
    relations = iter([each for each in found if each[0] not in ("w", "T")])
    for word, arc in zip(order, drawn, strict=True):
        head = sentence.heads[word]
        assert arc.end == middles[word]
        if head != -1:
            assert abs(arc.start - middles[head]) <= 0.65 * 16
            assert (arc.start < middles[head]) == (word < head)
        if label := sentence.labels[word]:
            text, x, y = next(relations)
            assert text == label
            assert x == pytest.approx((arc.start + arc.end) / 2, abs=0.2)
            assert arc.y - 8 < y < arc.y
            if head != -1:
                assert len(label) * 0.6 * 0.8 * 16 < abs(arc.start - arc.end)
    for (word, one), (other_word, other) in combinations(zip(order, drawn, strict=True), 2):
        sides = [sorted(arc[:2]) for arc in (one, other)]
        heads = [sentence.heads[word], sentence.heads[other_word]]
        if -1 not in heads and sides[0][0] < sides[1][1] and sides[1][0] < sides[0][1]:
            # Nowhere at one height; and the inner one of two is below the outer one.
            assert abs(one.y - other.y) > 20
            if sides[0][0] <= sides[1][0] and sides[1][1] <= sides[0][1]:
                assert one.y < other.y
        elif heads != [-1, -1] and -1 in heads:
            # Roots are above all.
            assert (one.y < other.y) == (heads[0] == -1)
    root = ET.fromstring(picture)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for text, x, y in found:
        half = len(text) * (0.3 if text == "w" else 0.24) * 16
        assert half <= x <= width - half + 0.1
        assert 9 < y < height


def test_arcs_of_many_words() -> None:
    n_words = 2_000
    # All words below the first, and each below the one before it.
    star = (-1, *[0] * (n_words - 1))
    chain = tuple(range(-1, n_words - 1))
    for heads, n_levels in ((star, n_words - 1), (chain, 1)):
        sentence = Sentence(("a",) * n_words, ("",) * n_words, heads, ("x",) * n_words)
        heights = {arc.y for arc in arcs(dependency_svg(sentence))}
        assert len(heights) == n_levels + 1


def test_parts_of_pictures_say_what_they_belong_to() -> None:
    tree = ConstituencySentence(
        ("我", "看", "书"),
        ("PN", "VV", "NN"),
        (Constituent("IP", 0, 3, 1), Constituent("VP", 1, 3, 1)),
    )
    for draw in (tree_svg, span_svg):
        of_tokens, of_phrases = (
            parts_by(draw(tree), "data-token"),
            parts_by(draw(tree), "data-phrase"),
        )
        assert of_tokens == [("我", "0"), ("看", "1"), ("书", "2")]
        assert sorted(of_phrases) == [("IP", "0"), ("VP", "1")]
    arcs = Sentence(("我", "看", "书"), ("", "", ""), (1, ROOT, 1), ("nsubj", "root", "dobj"))
    svg = dependency_svg(arcs)
    assert sorted(parts_by(svg, "data-token")) == sorted(
        [("我", "0"), ("看", "1"), ("书", "2"), ("nsubj", "0"), ("root", "1"), ("dobj", "2")]
    )
    assert {text for text, _ in parts_by(svg, "data-arc")} == {"nsubj", "root", "dobj"}


def parts_by(svg: str, attribute: str) -> list[tuple[str, str]]:
    """The texts of a picture that have an attribute, with its value."""
    return [
        (each.text or "", each.attrib[attribute])
        for each in ET.fromstring(svg).iter(f"{SVG}text")
        if attribute in each.attrib
    ]
