"""Exports of annotation tools: what they look like, what is read of them, and what is refused.

The examples have the keys of files that Label Studio 1.x, doccano 1.x, Prodigy 1.x and brat 1.3
write (their documentation, and the test data of label-studio-converter and doccano).
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from looped import looped

from spacy_structreg.corpora import files
from spacy_structreg.corpora.any_format import find_format, read_sentences, write_sentences
from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.text_spans import TextSpan, sentences_of_text

TEXT = "小李在临江市买了 Nova 9。"
SPANS = [(3, 6, "CITY"), (9, 15, "PRODUCT")]
# The second one has no entity.
OTHER = "今天下雨。"


def region(begin: int, end: int, label: str, text: str = TEXT) -> dict[str, Any]:
    return {"start": begin, "end": end, "text": text[begin:end], "labels": [label]}


def result(begin: int, end: int, label: str, text: str = TEXT) -> dict[str, Any]:
    return {
        "id": f"r{begin}",
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "origin": "manual",
        "value": region(begin, end, label, text),
    }


def annotation(spans: list[tuple[int, int, str]], **further: Any) -> dict[str, Any]:
    return {
        **{"id": 22, "completed_by": 1, "was_cancelled": False, "ground_truth": False},
        **{"created_at": "2024-01-30T02:40:43.893565Z", "lead_time": 8.65, "task": 87},
        "result": [result(*span) for span in spans],
        **further,
    }


def task(text: str, annotations: list[dict[str, Any]], key: str = "annotations") -> dict[str, Any]:
    return {
        **{"id": 87, key: annotations, "file_upload": "a.txt", "drafts": [], "predictions": []},
        **{"data": {"text": text}, "meta": {}, "inner_id": 1, "project": 29},
    }


def json_min(text: str, spans: list[tuple[int, int, str]]) -> dict[str, Any]:
    found = {"label": [region(*span) for span in spans]} if spans else {}
    return {
        **{"text": text, "id": 87, **found, "annotator": 1, "annotation_id": 22},
        **{"created_at": "2024-01-30T02:40:43.893565Z", "updated_at": "2024-01-30", "lead_time": 8},
    }


def lines(*objects: dict[str, Any]) -> str:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects)


SKIPPED = annotation([], was_cancelled=True)
WRONG = annotation([(0, 2, "CITY")])
EXPORTS = {
    "a.json": json.dumps([task(TEXT, [WRONG, annotation(SPANS)]), task(OTHER, [annotation([])])]),
    "truth.json": json.dumps(
        [
            task(TEXT, [annotation(SPANS, ground_truth=True), WRONG, SKIPPED]),
            task("没有人看过。", []),
            task("跳过了。", [SKIPPED]),
            task(OTHER, [annotation([])]),
        ]
    ),
    "completions.json": json.dumps(
        [task(TEXT, [annotation(SPANS)], "completions"), task(OTHER, [annotation([])])]
    ),
    "min.json": json.dumps(
        [json_min(TEXT, SPANS), {"text": "没有人看过。", "id": 3}, json_min(OTHER, [])]
    ),
    "label.jsonl": lines(
        {"id": 1, "text": TEXT, "label": [list(span) for span in SPANS], "Comments": []},
        {"id": 2, "text": OTHER, "label": [], "Comments": []},
    ),
    "labels.jsonl": lines(
        {"id": 1, "text": TEXT, "meta": {}, "labels": [list(span) for span in SPANS]},
        {"id": 2, "data": OTHER, "meta": {}, "labels": []},
    ),
    "entities.jsonl": lines(
        {
            **{"id": 1, "text": TEXT, "relations": [], "Comments": []},
            "entities": [
                {"id": n, "label": label, "start_offset": begin, "end_offset": end}
                for n, (begin, end, label) in enumerate(SPANS)
            ],
        },
        {"id": 2, "text": OTHER, "relations": [], "entities": [], "Comments": []},
    ),
    "prodigy.jsonl": lines(
        {
            **{"text": TEXT, "_input_hash": 1, "_task_hash": 2, "_view_id": "ner_manual"},
            "tokens": [{"text": "小李", "start": 0, "end": 2, "id": 0, "ws": False}],
            "spans": [
                {"start": begin, "end": end, "token_start": 2, "token_end": 2, "label": label}
                for begin, end, label in SPANS
            ],
            "answer": "accept",
        },
        {"text": "不是这样。", "spans": [], "answer": "reject"},
        {"text": "不知道。", "spans": [], "answer": "ignore"},
        {"text": OTHER, "_input_hash": 3, "answer": "accept"},
    ),
}
FORMATS = {"label-studio": ".json", "doccano": "s.jsonl", "prodigy": "prodigy.jsonl"}


def read(path: Path, **options: Any) -> list[Sentence]:
    return list(read_sentences(path, CorpusOptions(**options)))


def texts(sentences: list[Sentence]) -> list[tuple[str, list[tuple[str, str]]]]:
    found = []
    for sentence in sentences:
        spans = [
            ("".join(sentence.words[begin:end]), label)
            for begin, end, label in sentence.entities or ()
        ]
        found.append(("".join(sentence.words), spans))
    return found


EXPECTED = [
    (TEXT.replace(" ", ""), [("临江市", "CITY"), ("Nova9", "PRODUCT")]),
    (OTHER, []),
]


@looped("name", EXPORTS)
def test_exports(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(EXPORTS[name], "utf-8")
    assert texts(read(path)) == EXPECTED
    wanted = "label-studio" if name.endswith(".json") else name.split(".", maxsplit=1)[0]
    assert find_format(path).name == (wanted if wanted in FORMATS else "doccano")


def brat(tmp_path: Path, annotations: str, text: str = TEXT) -> Path:
    (tmp_path / "a.txt").write_text(text, "utf-8")
    path = tmp_path / "a.ann"
    path.write_text(annotations, "utf-8")
    return path


def test_brat(tmp_path: Path) -> None:
    path = brat(
        tmp_path,
        "T1\tCITY 3 6\t临江市\nT2\tPRODUCT 9 15\tNova 9\nR1\tIn Arg1:T1 Arg2:T2\n"
        "A1\tNegation T1\n#1\tAnnotatorNotes T1\tnote\nE1\tCITY:T1\n*\tEquiv T1 T2\n",
        f"{TEXT}\n\n{OTHER}\n",
    )
    assert texts(read(path)) == EXPECTED


@looped(
    ("annotations", "fault"),
    [
        ("T1\tCITY 3 6;9 15\t临江市 Nova 9\n", "1: .* is a span in several parts"),
        ("\nT1\tCITY 3\t临江市\n", "2: .* is no span"),
        ("T1\tCITY 2 5\t临江市\n", "1: .* does not stand at 2-5 of a.txt"),
        ("T1\tCITY 3 60\t临江市\n", "does not stand at 3-60"),
        ("T1\tCITY 3 6\t临江市\nT2\tCITY 5 7\t市买\n", "overlap; keep one"),
    ],
)
def test_faults_of_brat(annotations: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=fault):
        read(brat(tmp_path, annotations))


@looped(
    ("name", "text", "fault"),
    [
        ("a.json", "{}", "the file is no list of tasks"),
        ("a.json", "[1]", "the file is no list of tasks"),
        ("a.json", "[", r"a.json:1: this is no JSON \(.*\); export JSON or JSON-MIN"),
        ("a.json", "[" * 100_000, "this is no JSON"),
        ("a.json", json.dumps([task(TEXT, [])]), "no task in the file is annotated"),
        ("a.json", json.dumps([task(TEXT, [annotation([(0, 99, "X")])])]), "task 87: the span"),
        (
            "a.json",
            json.dumps([task(OTHER, [annotation([(0, 2, "X")])])]),
            "task 87: the span '小李' does not stand at 0-2",
        ),
        (
            "a.json",
            json.dumps(
                [task(TEXT, [annotation([], result=[{"value": {"start": "/p[1]", "end": "x"}}])])]
            ),
            "no labeled span of characters",
        ),
        ("a.json", json.dumps([task(TEXT, [{"result": 1}])]), "task 87: 'result' of"),
        ("a.json", json.dumps([{"a": "x", "b": "y", "l": [region(0, 1, "X")]}]), "'a', 'b'; name"),
        ("a.json", json.dumps([task("\ud800", [annotation([])])]), "lone surrogate"),
        ("a.jsonl", lines({"text": TEXT, "label": [[0, 99, "X"]]}), "1: the span 0-99 'X' is not"),
        ("a.jsonl", lines({"text": TEXT, "label": [[2, 2, "X"]]}), "1: the span 2-2"),
        ("a.jsonl", lines({"text": TEXT, "label": [[0, True, "X"]]}), "is no span"),
        ("a.jsonl", lines({"text": TEXT, "label": ["X"]}), "is no span"),
        ("a.jsonl", lines({"text": TEXT, "label": [[0, 2, " "]]}), "label ' ' of .* is blank"),
        ("a.jsonl", lines({"text": " \n ", "label": []}), "is blank"),
        ("a.jsonl", lines({"text": TEXT, "label": [[8, 9, "X"]]}), "a span 'X' of .* is blank"),
        ("a.jsonl", lines({"text": TEXT, "label": [[0, 3, "A"], [2, 5, "B"]]}), "overlap"),
        ("a.jsonl", lines({"text": TEXT, "annotations": [{"label": 3}]}), "numbers of a database"),
        ("a.jsonl", lines({"text": 3, "label": []}), "no string under 'text' or 'data'"),
        ("a.jsonl", lines({"text": TEXT, "label": []}) + "3\n", "2: .* is no object"),
        ("a.jsonl", lines({"text": TEXT, "label": []}) + "{\n", "2: '{': this is no JSON"),
        ("a.jsonl", lines({"text": TEXT, "spans": 3}), "'spans' is no list"),
        ("a.jsonl", lines({"text": TEXT, "spans": [], "answer": "reject"}), "no text in the file"),
    ],
)
def test_faults(name: str, text: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with pytest.raises(CorpusError, match=fault):
        read(path)


def value(**said: Any) -> dict[str, Any]:
    return {"start": 3, "end": 6, "text": TEXT[3:6], **said}


def typed(kind: str, **said: Any) -> dict[str, Any]:
    return {"id": "r3", "from_name": kind, "to_name": "text", "type": kind, "value": value(**said)}


def test_what_else_is_said_of_spans_is_left_out(tmp_path: Path) -> None:
    """Choices, ratings and texts of a region have its place, in a result of their own."""
    others = [
        typed("choices", choices=["sure"]),
        typed("rating", rating=4),
        typed("textarea", text=["a note"]),
        {"type": "choices", "value": {"choices": ["news"]}},
        {"type": ["choices"], "value": value()},
        {"type": "relation", "from_id": "r3", "to_id": "r9", "direction": "right"},
    ]
    results = [*others, *(result(*span) for span in SPANS), typed("choices", choices=["sure"])]
    path = tmp_path / "a.json"
    tasks = [task(TEXT, [annotation([], result=results)]), task(OTHER, [annotation([])])]
    path.write_text(json.dumps(tasks), "utf-8")
    assert texts(read(path)) == EXPECTED
    least = {
        **json_min(TEXT, SPANS),
        **{"sure": [value(choices=["sure"])], "rating": [value(rating=4)]},
        **{"note": [value(text=["a note"])], "kind": "news", "kinds": {"choices": ["a", "b"]}},
    }
    path.write_text(json.dumps([least, json_min(OTHER, [])]), "utf-8")
    assert texts(read(path)) == EXPECTED


@looped(
    ("found", "fault"),
    [
        (typed("labels", labels=[]), "task 87: the span '临江市' at 3-6 has no label; give it one"),
        (typed("labels"), "task 87: the span '临江市' at 3-6 has no label"),
        (typed("labels", labels="CITY"), "no labeled span of characters"),
        (typed("hypertextlabels", start="/p[1]", hypertextlabels=["X"]), "no labeled span of char"),
        (typed("paragraphlabels", start="0", paragraphlabels=["X"]), "no labeled span of char"),
    ],
)
def test_results_that_should_be_labeled_spans(
    found: dict[str, Any], fault: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([task(TEXT, [annotation([], result=[found])])]), "utf-8")
    with pytest.raises(CorpusError, match=fault):
        read(path)
    if "labels" in found["value"]:
        path.write_text(json.dumps([{**json_min(TEXT, []), "label": [found["value"]]}]), "utf-8")
        with pytest.raises(CorpusError, match=fault):
            read(path)


def test_files_of_json_are_not_read_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = EXPORTS["a.json"].encode()
    monkeypatch.setattr(files, "LONGEST_FILE", len(data))
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(data))
    assert texts(read(path)) == EXPECTED
    path.write_bytes(gzip.compress(data + b"\n"))
    with pytest.raises(CorpusError, match=f"longer than {len(data)} bytes; part it into several"):
        read(path)


def test_offsets_of_browsers(tmp_path: Path) -> None:
    """JavaScript counts characters beyond the basic plane twice."""
    text = "😀在临江市。"
    said = {"start": 3, "end": 6, "text": "临江市", "labels": ["CITY"]}
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"text": text, "label": [said]}]), "utf-8")
    assert texts(read(path)) == [(text, [("临江市", "CITY")])]


def test_lines_and_words_that_are_known() -> None:
    text = "  我在\r\n 临江\n市 学习。\n\n好 \n"
    spans = [TextSpan(7, 11, "CITY"), TextSpan(6, 12, "CITY")]
    first, second, third = sentences_of_text(text, [spans[1]])
    # White space at the ends does not belong to a span, and a line break within it is a space.
    assert list(sentences_of_text(text, spans[:1]))[1] == second
    assert (first.words, first.unknown) == (("我", "在"), ((0, 2),))
    assert second.words == tuple("临江市学习。")
    assert second.entities == [(0, 3, "CITY")]
    assert second.spaces == (False, True, True, False, False, False)
    assert second.unknown == ((0, 2), (3, 6))
    assert (third.words, third.unknown, third.entities) == (("好",), (), [])


@looped("name", ["a.json", "a.jsonl"])
def test_what_is_written(name: str, tmp_path: Path) -> None:
    sentence = Sentence(
        ("小李", "在", "临江市", "买", "了", "Nova", "9", "。"),
        spaces=(False, False, False, False, True, True, False, False),
        entities=[(2, 3, "CITY"), (5, 7, "PRODUCT")],
    )
    path = tmp_path / name
    write_sentences(path, [sentence, Sentence((OTHER,))])
    text = path.read_text("utf-8")
    if name == "a.jsonl":
        assert list(map(json.loads, text.splitlines())) == [
            {"text": TEXT, "label": [list(span) for span in SPANS]},
            {"text": OTHER, "label": []},
        ]
        assert texts(read(path)) == EXPECTED
        return
    first, second = json.loads(text)
    assert first["data"] == {"text": TEXT}
    (prediction,) = first["predictions"]
    wanted = [result(*span) for span in SPANS]
    for found, said in zip(prediction["result"], wanted, strict=True):
        assert found.items() >= {key: said[key] for key in said.keys() - {"id", "origin"}}.items()
    assert second["predictions"][0]["result"] == []
    # Predictions are no annotation.
    with pytest.raises(CorpusError, match="no task in the file is annotated"):
        read(path)


def test_characters_a_line_have_no_spaces_between_letters(tmp_path: Path) -> None:
    path = tmp_path / "a.col"
    path.write_text("买 O\nN B-X\no I-X\nv I-X\na I-X\n\n", "utf-8")
    (sentence,) = read(path, columns=("word", "label"))
    assert not any(sentence.spaces)
