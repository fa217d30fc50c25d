"""`structreg keywords`: of files, of lines, and of files against others."""

from __future__ import annotations

import csv
import gzip
import json
import lzma
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spacy
from typer.testing import CliRunner

from spacy_structreg import CharacterSegmenter
from spacy_structreg.cli.app import structreg_app
from spacy_structreg.cli.keywords import KeywordMethod, TableFormat, keywords
from spacy_structreg.models.keywords import compare_counts, tf_idf

TEXT = "我们在图书馆看书。\n\n学生在图书馆。\n"
OTHER = "老师和学生一起去公园！\n我们去公园。\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline that finds words, and two texts."""
    folder = tmp_path_factory.mktemp("keywords")
    block = {"@architectures": "spacy_structreg.CharacterSegmenter.v1", "seed": 1}
    tokenizer = {"@tokenizers": "spacy_structreg.Segmenter.v1", "model": block}
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    nlp.tokenizer.model = CharacterSegmenter(seed=1).fit(
        [
            ["我们", "在", "图书馆", "看", "书", "。"],
            ["学生", "在", "图书馆", "。"],
            ["老师", "和", "学生", "一起", "去", "公园", "！"],
            ["我们", "去", "公园", "。"],
        ]
    )
    nlp.add_pipe("structreg_keywords", config={"extension_prefix": "cli_"})
    nlp.to_disk(folder / "nlp")
    (folder / "a.txt").write_text(TEXT, "utf-8")
    (folder / "b.txt").write_text(OTHER, "utf-8")
    return folder


def run(folder: Path, *options: str, text: Path | None = None) -> str:
    arguments = ["keywords", str(folder / "nlp"), str(text or folder / "a.txt"), *options]
    done = CliRunner().invoke(structreg_app, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_files(folder: Path) -> None:
    (record,) = map(json.loads, run(folder).splitlines())
    found = {each["text"]: each["score"] for each in record["keywords"]}
    expected = tf_idf(Counter(["图书馆", "图书馆", "学生"]))
    assert record["file"] == str(folder / "a.txt")
    assert found == pytest.approx(expected, abs=1e-6)
    assert list(found) == ["图书馆", "学生"]
    assert len(json.loads(run(folder, "-n", "1"))["keywords"]) == 1
    ranked = json.loads(run(folder, "--method", "textrank"))["keywords"]
    assert {each["text"] for each in ranked} == {"图书馆", "学生"}
    assert ranked[0]["score"] == 1.0


def test_lines_as_rows(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "keywords.csv"
    printed = run(folder, str(folder / "b.txt"), "--lines", "--format", "csv", "-o", str(output))
    assert printed == ""
    with output.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    places = [(Path(row["file"]).name, row["line"], row["text"]) for row in rows]
    assert set(places) == {
        *{("a.txt", "1", "图书馆"), ("a.txt", "3", "图书馆"), ("a.txt", "3", "学生")},
        *{("b.txt", "1", "老师"), ("b.txt", "1", "学生"), ("b.txt", "1", "公园")},
        ("b.txt", "2", "公园"),
    }
    assert all(float(row["score"]) > 0 for row in rows)


@pytest.mark.parametrize("name", ["a.ndjson.gz", "a.csv.xz", "a.parquet"])
def test_records_are_as_lines_of_text(name: str, folder: Path, tmp_path: Path) -> None:
    texts, path = TEXT.split("\n"), tmp_path / name
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"body": texts}), path)
    elif path.suffix == ".gz":
        lines = "".join(json.dumps({"body": text}) + "\n" for text in texts)
        path.write_bytes(gzip.compress(lines.encode()))
    else:
        with lzma.open(path, "wt", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([["id", "body"], *enumerate(texts)])
    for options in ([], ["--lines"], ["--against", str(folder / "b.txt")]):
        expected = run(folder, *options).replace(str(folder / "a.txt"), str(path))
        assert run(folder, "--text-column", "body", *options, text=path) == expected


def test_files_against_others(folder: Path) -> None:
    found = [
        json.loads(line) for line in run(folder, "--against", str(folder / "b.txt")).splitlines()
    ]
    a = Counter(["我们", "在", "图书馆", "看", "书", "。", "学生", "在", "图书馆", "。"])
    b = Counter(["老师", "和", "学生", "一起", "去", "公园", "！", "我们", "去", "公园", "。"])
    expected: list[Any] = [each for each in compare_counts(a, b) if each.word != "。"]
    assert [(each["word"], each["n"], each["n_against"]) for each in found] == [
        (each.word, each.n, each.n_other) for each in expected
    ]
    assert found[0]["log_likelihood"] == pytest.approx(expected[0].log_likelihood, abs=0.01)
    rows = list(
        csv.reader(run(folder, "--against", str(folder / "b.txt"), "-f", "csv").splitlines())
    )
    assert rows[0] == ["word", "log_likelihood", "n", "n_against"]
    assert len(rows) == len(found) + 1


def test_settings_are_those_of_the_pipeline(folder: Path, tmp_path: Path) -> None:
    nlp = spacy.load(folder / "nlp")
    nlp.remove_pipe("structreg_keywords")
    config = {"extension_prefix": "one_", "method": "textrank", "n_keywords": 1, "min_length": 3}
    nlp.add_pipe("structreg_keywords", config=config)
    nlp.to_disk(tmp_path / "nlp")

    def texts(**options: Any) -> dict[str, float]:
        output = tmp_path / "found.jsonl"
        keywords(str(tmp_path / "nlp"), [folder / "a.txt"], output=output, **options)
        record = json.loads(output.read_text("utf-8"))
        return {each["text"]: each["score"] for each in record["keywords"]}

    assert texts() == {"图书馆": 1.0}
    assert texts(n=5) == {"图书馆": 1.0}
    scores = tf_idf(Counter(["图书馆", "图书馆"]))
    assert texts(method=KeywordMethod.tfidf) == pytest.approx(scores, abs=1e-6)


def test_texts_without_words(folder: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("\n \n", "utf-8")
    record = json.dumps({"file": str(empty), "keywords": []})
    for format, expected in (("jsonl", f"{record}\n"), ("csv", "file,text,score\n")):
        output = tmp_path / f"out.{format}"
        keywords(str(folder / "nlp"), [empty], output=output, format=TableFormat(format))
        assert output.read_text("utf-8") == expected


def test_mistakes(folder: Path, tmp_path: Path) -> None:
    text, empty, records = folder / "a.txt", tmp_path / "empty.txt", tmp_path / "a.jsonl"
    empty.write_text("\n \n", "utf-8")

    def refused(message: str, path: Path, **options: Any) -> None:
        with pytest.raises(ValueError, match=message):
            keywords(str(folder / "nlp"), [path], output=tmp_path / "out.jsonl", **options)
        assert not (tmp_path / "out.jsonl").exists()

    refused("nothing to compare", empty, against=[text])
    for options in ({"lines": True}, {"method": KeywordMethod.tfidf}, {"no_phrases": True}):
        refused("not for --against", text, against=[folder / "b.txt"], **options)
    for content, fault in (
        ('{"text": "书"}\n{"text": 7}\n', "record 16: the field 'text' is no string; mend"),
        ('{"body": "书"}\n', "record 0: no field 'text'"),
    ):
        records.write_text(content, "utf-8")
        refused(fault, records)
