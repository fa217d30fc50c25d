"""Tagged sentences of every format, by hand and from the corpora."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from looped import looped

from spacy_structreg.corpora.any_format import read_sentences
from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.corpus_options import Compounds, CorpusOptions
from spacy_structreg.corpora.formats.columns import read_columns

Sentences = list[list[tuple[str, str]]]

ROWS = [("他", "PRON", "PN"), ("来", "VERB", "VV")]
CONLLU = "".join(
    f"{number}\t{word}\t_\t{upos}\t{xpos}\t_\t_\t_\t_\t_\n"
    for number, (word, upos, xpos) in enumerate(ROWS, start=1)
)
TEXTS = {
    "brackets": "( (IP (NP-SBJ (PN 他)) (VP (-NONE- *) (VV 来))) )\n",
    "conllu": CONLLU,
    "pfr": "20010305-02-003-001/m  [北方/f  学校/n]nt\n\n20010306-02-003-001/m  来/v\n",
    "tagged": "他_PN 来_VV\n",
}
PAIRS = [[("他", "PN"), ("来", "VV")]]


def tagged_words(path: Path, format: str = "auto", **options: Any) -> Sentences:
    return [each.pairs() for each in read_sentences(path, CorpusOptions(format, **options))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).write_bytes(text.encode())
    return tmp_path


@looped("named", [True, False])
@looped(
    ("format", "options", "expected"),
    [
        ("brackets", {}, PAIRS),
        ("conllu", {}, PAIRS),
        ("tagged", {}, PAIRS),
        ("pfr", {}, [[("北方", "f"), ("学校", "n")], [("来", "v")]]),
        ("pfr", {"compounds": Compounds.merged}, [[("北方学校", "nt")], [("来", "v")]]),
        ("pfr", {"days": frozenset({6})}, [[("来", "v")]]),
    ],
)
def test_formats(
    format: str, options: dict[str, Any], expected: Sentences, named: bool, folder: Path
) -> None:
    assert tagged_words(folder / format, format if named else "auto", **options) == expected


def test_what_has_no_tags(tmp_path: Path, folder: Path) -> None:
    path = tmp_path / "text"
    path.write_text("他 来\n我 走\n", "utf-8")
    with pytest.raises(CorpusError, match=r"text:1: .* has no tag"):
        tagged_words(path, format="tagged")
    with pytest.raises(ValueError, match="no paragraph of the days"):
        tagged_words(folder / "pfr", days=frozenset({7}))


@looped("name", ["words.conllu", "words.tagged"])
def test_names_of_brackets_are_brackets(tmp_path: Path, name: str) -> None:
    """Whole words alone: other words are as they stand."""
    words = ["-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-", "x-LRB-", r"1\/2"]
    path = tmp_path / name
    if name.endswith("conllu"):
        rows = [f"{i}\t{w}\t_\t_\tPU" + "\t_" * 5 for i, w in enumerate(words, 1)]
        path.write_text("\n".join(rows) + "\n\n", "utf-8")
        found = tagged_words(path, format="conllu")
    else:
        path.write_text(" ".join(f"{w}_PU" for w in words) + "\n", "utf-8")
        found = tagged_words(path, format="tagged")
    expected = [*"()[]{}", "x-LRB-", r"1\/2"]
    assert found == [[(word, "PU") for word in expected]]
    path.write_text("\n".join(f"{w}\tPU" for w in words) + "\n", "utf-8")
    assert list(read_columns(path, ("word", "label"))) == found
