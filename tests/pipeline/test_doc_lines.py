"""Docs as CoNLL-U, JSON lines and CSV: read by others, and read back."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.training.converters import conllu_to_docs

from spacy_structreg.corpora.any_format import read_sentences
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.formats.conllu import read_conllu
from spacy_structreg.pipeline.doc_lines import DocLines, conllu_of

ALL = ["tags", "pos", "lemmas", "morphs", "heads", "relations", "entities"]


@pytest.fixture
def doc() -> Doc:
    """Two sentences with white space, and an entity at the end and the beginning of each."""
    words = ["小王", "在", "New", "York", "。", "\n", '"', "好", ","]
    doc = Doc(
        spacy.blank("zh").vocab,
        words=words,
        spaces=[False, False, True, *[False] * 6],
        tags=["NR", "P", "NR", "NR", "PU", "SP", "PU", "VA", "PU"],
        lemmas=["", "在", *[""] * 7],
        morphs=["", "", "Number=Sing", *[""] * 6],
        heads=[1, 1, 3, 1, 1, 1, 7, 7, 7],
        deps=["nsubj", "ROOT", "nn", "obj", "punct", "dep", "punct", "ROOT", "punct"],
    )
    doc.set_ents([Span(doc, 0, 1, "PERSON"), Span(doc, 2, 4, "GPE"), Span(doc, 7, 8, "GPE")])
    return doc


def test_spacy_reads_the_same_conllu(doc: Doc) -> None:
    found = [token for each in conllu_to_docs(conllu_of(doc)) for token in each]
    words = [token for token in doc if not token.is_space]
    for attribute in ("text", "tag_", "lemma_", "dep_", "ent_iob_", "ent_type_"):
        expected = [getattr(token, attribute) for token in words]
        assert [getattr(token, attribute) or "" for token in found] == [
            # Its reader takes this for the lemma of a word without one.
            value or ("_" if attribute == "lemma_" else "")
            for value in expected
        ], attribute
    assert str(found[2].morph) == "Number=Sing"


def test_texts_and_entities_are_read_back(doc: Doc, tmp_path: Path) -> None:
    path = tmp_path / "found.conllu"
    path.write_text(conllu_of(doc), "utf-8")
    assert [each.text for each in read_conllu(path)] == ["小王在New York。", '"好,']
    for each in read_conllu(path):
        assert each.text == each.raw_text()
    first, second = read_sentences(path, CorpusOptions())
    assert (first.entities, second.entities) == (
        [(0, 1, "PERSON"), (2, 4, "GPE")],
        [(1, 2, "GPE")],
    )
    # A file without any says nothing of them.
    doc.set_ents([])
    path.write_text(conllu_of(doc), "utf-8")
    assert next(iter(read_sentences(path, CorpusOptions()))).entities is None
    doc.set_ents([Span(doc, 0, 1, "A|B")])
    with pytest.raises(ValueError, match=r"'B-A\|B': labels of entities in CoNLL-U have no '\|'"):
        conllu_of(doc)


def test_what_comes_with_docs_is_a_comment(doc: Doc) -> None:
    lines = DocLines("conllu", ["id", "note"], ALL)
    record = {"id": 7, "note": "a\nb = c"}
    found = lines.of_doc(doc, record) + lines.of_doc(doc, {"id": None, "note": "好"})
    comments = [line for line in found.splitlines() if line.startswith("#")]
    assert comments == [
        "# newdoc",
        "# id = 7",
        '# note = "a\\nb = c"',
        "# sent_id = 1",
        "# text = 小王在New York。",
        "# sent_id = 2",
        '# text = "好,',
        "# newdoc",
        "# note = 好",
        "# sent_id = 3",
        "# text = 小王在New York。",
        "# sent_id = 4",
        '# text = "好,',
    ]
    assert lines.of_doc(Doc(doc.vocab), record) == ""


def test_csv_has_a_row_a_word(doc: Doc) -> None:
    lines = DocLines("csv", ["id"], ALL)
    rows = list(csv.DictReader(io.StringIO(lines.header + lines.of_doc(doc, {"id": 7}))))
    assert ["".join(row["word"] for row in rows)] == ['小王在NewYork。"好,']
    for row in rows:
        token = doc[int(row["i"])]
        assert doc.text[int(row["start"]) : int(row["end"])] == row["word"] == token.text
        assert (row["id"], row["tag"], row["dep"]) == ("7", token.tag_, token.dep_)
        assert doc[int(row["head"])] == token.head
    labels = ["B-PERSON", "", "B-GPE", "I-GPE", "", "", "B-GPE", ""]
    assert [row["entity"] for row in rows] == labels
    assert [row["sentence"] for row in rows] == [*"00000111"]
    assert DocLines("csv", [], ["tags"]).header == "sentence,i,word,start,end,tag\n"


def test_json_lines_have_all_in_a_line(doc: Doc) -> None:
    lines = DocLines("jsonl", ["id", "score"], ALL)
    (line,) = lines.of_doc(doc, {"id": 7, "score": float("nan")}).splitlines()
    found: dict[str, Any] = json.loads(line)
    assert list(found)[:4] == ["id", "score", "text", "words"]
    assert (found["id"], found["score"], found["text"]) == (7, None, doc.text)
    assert found["words"] == [token.text for token in doc]
    assert found["entities"][1] == {"label": "GPE", "start": 2, "end": 4}
    assert found["tokens"][0] == {"start": 0, "end": 2, "tag": "NR", "dep": "nsubj", "head": 1}


@pytest.mark.parametrize(("format", "name"), [("jsonl", "tokens"), ("csv", "word"), ("csv", "tag")])
def test_names_that_are_taken(format: Any, name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' is kept, and the format {format} has that"):
        DocLines(format, ["id", name], ALL)
    with pytest.raises(ValueError, match="there is no format 'xml'"):
        DocLines("xml", [], ALL)  # type: ignore[arg-type]


def test_columns_are_those_that_a_pipeline_writes() -> None:
    nlp = spacy.blank("zh")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "GPE", "pattern": "北京"}])  # type: ignore[attr-defined]
    assert DocLines.of(nlp, "csv", ["line"]).header == "line,sentence,i,word,start,end,entity\n"
