"""Files of typed runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from typed_run_cases import TypedRunCase, read_typed_runs

from spacy_structreg.corpora.corpus_errors import CorpusError


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "typed_runs.txt"
    path.write_text(text, "utf-8")
    return path


def test_marks_are_offsets(tmp_path: Path) -> None:
    text = (
        "# a comment\n\nmeasure\t这箱重⟦35|kg⟧左右\ntopic\t⟦#|早安|#⟧ a|b ⟦#|x|#⟧\n"
        "number\t⟦3.5⟧万\n"
    )
    measure, topic, number = read_typed_runs(written(tmp_path, text))
    assert measure == TypedRunCase("measure", "这箱重35kg左右", [[3, 5, 7]])
    # A bar outside of the marks is text.
    assert topic == TypedRunCase("topic", "#早安# a|b #x#", [[0, 1, 3, 4], [9, 10, 11, 12]])
    assert number == TypedRunCase("number", "3.5万", [[0, 3]])
    assert [case.whole for case in (measure, topic, number)] == [True, True, False]


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        ("", 1, "no case"),
        ("# x\n\n", 2, "no case"),
        ("time\t⟦15:30⟧\nurl ⟦a.cn⟧\n", 2, "no kind, tab and text"),
        ("\t⟦a⟧\n", 1, "no kind, tab and text"),
        ("#time\n", 1, "no kind, tab and text"),
        ("url\ta.cn\n", 1, "marks no run"),
        ("url\t⟦a.cn\n", 1, "not in pairs"),
        ("url\ta⟧.⟦cn⟧\n", 1, "not in pairs"),
        ("url\t⟦a⟦.cn⟧⟧\n", 1, "not in pairs"),
        ("url\t⟦⟧\n", 1, "is empty"),
        ("measure\t⟦35||kg⟧\n", 1, "is empty"),
        ("measure\t⟦35| |kg⟧\n", 1, "is empty"),
    ],
)
def test_faults_are_named(tmp_path: Path, text: str, line: int, fault: str) -> None:
    with pytest.raises(CorpusError, match=fault) as caught:
        list(read_typed_runs(written(tmp_path, text)))
    assert caught.value.line == line
