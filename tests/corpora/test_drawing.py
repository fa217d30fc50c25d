"""Pictures of trees: well-formed, everything in it once, and nothing over something else."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations, pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from random_trees import sentences_with_trees

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.corpora.drawing import tree_svg

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
    assert [width == max(widths) for width in widths] == [
        False,
        True,
        False,
        True,
        True,
        False,
        True,
        False,
    ]


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
        # Letters of 0.6 font sizes of 16, centred.
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


def test_a_word_alone() -> None:
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


@pytest.mark.parametrize("font_size", [0, -1, float("nan"), float("inf")])
def test_font_sizes_that_are_none(font_size: float) -> None:
    with pytest.raises(ValueError, match="font_size is"):
        tree_svg(SENTENCE, font_size=font_size)


def test_deep_trees_are_no_burden() -> None:
    depth = 5_000
    phrases = tuple(Constituent("X", 0, depth - at, 0) for at in range(depth))
    picture = tree_svg(ConstituencySentence(("a",) * depth, ("T",) * depth, phrases))
    assert len(texts(picture)) == 3 * depth
