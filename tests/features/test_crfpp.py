"""Template files of CRF++."""

from __future__ import annotations

import pytest
from looped import looped

from spacy_structreg.features.crfpp import parse_crfpp
from spacy_structreg.features.segmentation import ZHANG_2014
from spacy_structreg.features.templates import parse_templates

ZHANG_FILE = """\
# Unigram
U00:%x[-1,0]
U01:%x[0,0]
U02:%x[1,0]

U03:%x[-2,0]/%x[-1,0]
  U04:%x[-1,0]/%x[0,0]
U05:%x[0,0]/%x[ +1 , 0 ]
U06:%x[1,0]/%x[2,0]
# Bigram
B
"""


@looped("newline", ["\n", "\r\n"])
def test_the_table_of_zhang_2014_as_a_file(newline: str) -> None:
    text = ZHANG_FILE.replace("\n", newline)
    assert parse_templates(parse_crfpp(text, ["c"]), ["c"]) == parse_templates([ZHANG_2014], ["c"])


def test_columns_are_atoms() -> None:
    templates = parse_crfpp("U:%x[-1,1]/%x[0,0]/%x[2,1]", ["c", "type"])
    (template,) = parse_templates(templates, ["c", "type"])
    assert str(template) == "type-1c0type+2"


def test_bigram_lines_that_read_the_input_are_edge_features() -> None:
    templates = parse_crfpp("B01:%x[-1,0]/%x[0,0]\nU01:%x[0,0]\nB", ["c"])
    assert [str(each) for each in parse_templates(templates, ["c"])] == [
        "t-1t0c-1c0",
        "c0",
        "t-1t0",
    ]


@looped(
    "line",
    [
        "C00:%x[0,0]",
        "U00",
        "U00:",
        "U00:text",
        "U00:%x[0,0]-%x[1,0]",
        "U00:%x[0]",
        "U00:%x[a,0]",
        "U00:%X[0,0]",
        "B00:%x[0,0]-",
        "B00",
        "\x00",
        "U00:%x[0,0] # the current one",
    ],
)
def test_other_lines_are_named_by_file_and_number(line: str) -> None:
    with pytest.raises(ValueError, match="not understood") as error:
        parse_crfpp(f"# comment\n\nU00:%x[0,0]\n{line}\n", ["c"], source="my.template")
    assert str(error.value).startswith("my.template:4: ")
    assert repr(line) in str(error.value)


def test_a_column_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(ValueError, match=r"t:2: column 2 .* 0 \(c\), 1 \(type\)"):
        parse_crfpp("U0:%x[0,1]\nU1:%x[0,2]", ["c", "type"], source="t")


@looped("text", ["", "\n\n", "# nothing but a comment\n"])
def test_a_file_without_templates_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="my file: no template"):
        parse_crfpp(text, ["c"], source="my file")
