"""Inputs as units and records: however they are cut, and whatever is in them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
import random
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.cluster import records
from spacy_structreg.cluster.records import (
    BadRecord,
    Part,
    Unit,
    plan_units,
    read_records,
)
from spacy_structreg.corpora.files import LONGEST_LINE

TEXTS = ["今天上午开放。", "a  b", "他说：“ＯＫ 👍”。", "第一行", "零\0字符", "e\u0301", "x" * 300]
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


def read(units: Sequence[Unit], **settings: Any) -> tuple[list[dict[str, Any]], list[BadRecord]]:
    """The records of units and what is left out, without their files."""
    bad: list[BadRecord] = []
    rows = [
        {**each.place_and_kept(), "text": each.text}
        for unit in units
        for each in read_records(unit, on_bad=bad.append, **settings)
    ]
    return rows, bad


def texts_of(file: Path, **settings: Any) -> list[str]:
    rows, bad = read(plan_units([str(file)]), **settings)
    assert bad == []
    return [row["text"] for row in rows]


def jsonl(rows: Iterable[object]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


# Lines, cut anywhere -----------------------------------------------------------------------------

LINES = st.lists(
    st.one_of(st.sampled_from(["", " ", "\t"]), st.text("天 ab。\u2028\x0c\0\r👍", max_size=12)),
    max_size=12,
)


@given(LINES, st.lists(st.sampled_from([b"\n", b"\r\n"]), min_size=12, max_size=12), st.data())
def test_lines_are_the_same_however_a_file_is_cut(
    lines: list[str], breaks: list[bytes], data: st.DataObject
) -> None:
    """Against Python's own splitting at line feeds; offsets lead back into the file."""
    last = data.draw(st.booleans(), "a line end at the end")
    content = b"".join(line.encode() + end for line, end in zip(lines, breaks, strict=False))
    if not last:
        content = content.removesuffix(b"\n").removesuffix(b"\r")
    if data.draw(st.booleans(), "byte order mark"):
        content = b"\xef\xbb\xbf" + content
    with pytest.MonkeyPatch.context() as patch:
        # The content is all that is opened.
        patch.setattr(records, "open_file", lambda _: records.io.BytesIO(content))
        cuts = sorted({0, len(content), *data.draw(st.lists(st.integers(0, len(content))))})
        parts = [
            Part("a.txt", "text", begin, None if end == len(content) else end)
            for begin, end in pairwise(cuts)
        ]
        rows, bad = read([Unit(0, tuple(parts))])
        assert (rows, bad) == read([Unit(0, (Part("a.txt", "text"),))])
    assert bad == []
    expected = []
    for number, line in enumerate(content.split(b"\n")):
        text = line.removesuffix(b"\r").decode("utf-8-sig" if number == 0 else "utf-8")
        # Blank to bytes: what is white space in ASCII.
        if text.encode().strip():
            expected.append(text)
    assert [row["text"] for row in rows] == expected
    for row in rows:
        found = content[row["record"] :].removeprefix(b"\xef\xbb\xbf")
        assert found.startswith(row["text"].encode())


@given(st.lists(st.integers(0, 40), max_size=12), st.integers(1, 200))
def test_units_of_any_size_give_all_records_once(lengths: list[int], unit_bytes: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        contents = {
            f"/{number:02}.txt": b"".join(b"%d-%d\n" % (number, i) for i in range(length))
            for number, length in enumerate(lengths)
        }
        sizes = {name: len(content) for name, content in contents.items()}
        patch.setattr(records, "open_file", lambda name: records.io.BytesIO(contents[name]))
        patch.setattr(records, "find_files", lambda _: sizes)
        units = plan_units(["any"], unit_bytes=unit_bytes)
        rows, bad = read(units)
    assert bad == []
    assert [unit.number for unit in units] == list(range(len(units)))
    assert "".join(row["text"] + "\n" for row in rows).encode() == b"".join(contents.values())
    # Two units that follow each other do not fit into one.
    spans = [[(p.begin, sizes[p.file] if p.end is None else p.end) for p in u.parts] for u in units]
    totals = [sum(end - begin for begin, end in of_unit) for of_unit in spans]
    assert all(total <= unit_bytes for total in totals)
    first = [end - begin for (begin, end), *_ in spans]
    assert all(a + b > unit_bytes for a, b in zip(totals, first[1:], strict=False))


@looped("suffix", COMPRESS)
def test_compressed_files_read_as_those_that_are_not(tmp_path: Path, suffix: str) -> None:
    content = b"\xef\xbb\xbf" + jsonl({"text": text} for text in TEXTS)
    folder = tmp_path / suffix
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(content)
    (folder / f"b.jsonl{suffix}").write_bytes(COMPRESS[suffix](content))
    # Two streams, one behind the other.
    parts = (COMPRESS[suffix](part) for part in (content[:100], content[100:]))
    (folder / f"c.jsonl{suffix}").write_bytes(b"".join(parts))
    rows, bad = read(plan_units([f"{folder}/*"]))
    assert [row["text"] for row in rows] == 3 * TEXTS
    a, b, c = (
        [row["record"] for row in rows if Path(row["file"]).name[0] == name] for name in "abc"
    )
    assert a == b == c
    assert bad == []


# Parquet -----------------------------------------------------------------------------------------


@looped("kind", ["string", "large_string", "binary", "string_view", "dictionary"])
def test_parquet_of_several_row_groups_and_types_of_text(tmp_path: Path, kind: str) -> None:
    texts = pa.array([*TEXTS, None] * 10)
    if kind == "dictionary":
        texts = texts.dictionary_encode()
    else:
        texts = texts.cast(pa.string_view() if kind == "string_view" else kind)
    if kind == "string_view" and int(pa.__version__.partition(".")[0]) < 21:
        pytest.skip("pyarrow writes such files from 21 on")
    table = pa.table({"text": texts, "id": pa.array(range(len(texts)), pa.int32())})
    file = tmp_path / "a.parquet"
    pq.write_table(table, file, row_group_size=7)
    whole = read(plan_units([str(file)]), keep=["id"])
    units = plan_units([str(file)], unit_bytes=1)
    assert len(units) == -(-len(texts) // 7)
    assert read(units, keep=["id"]) == whole
    rows, bad = whole
    assert [row["text"] for row in rows] == TEXTS * 10
    assert [row["record"] for row in rows] == [row["id"] for row in rows]
    gaps = range(len(TEXTS), len(texts), len(TEXTS) + 1)
    assert [each.record for each in bad] == list(gaps)
    assert {each.reason for each in bad} == {"the column 'text' is null"}


def test_faulty_values_of_parquet_are_left_out(tmp_path: Path) -> None:
    invalid = pa.StringArray.from_buffers(
        3,
        pa.py_buffer(pa.array([0, 1, 3, 4], pa.int32()).buffers()[1]),
        pa.py_buffer(b"a\xff\xfeb"),
    )
    table = pa.table({"text": invalid, "n": ["1", "2", "three"]})
    pq.write_table(table, tmp_path / "a.parquet")
    rows, bad = read(plan_units([f"{tmp_path}/a.parquet"]), keep=["n:int64"])
    assert [(row["text"], row["n"]) for row in rows] == [("a", 1)]
    assert [(each.record, each.content) for each in bad] == [(1, "\ufffd\ufffd"), (2, "b")]
    assert "no large_string" in bad[0].reason
    assert "no int64" in bad[1].reason


def test_damaged_parquet_is_one_bad_record_for_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    table = pa.table({"text": [f"{i} 号" for i in range(1000)]})
    pq.write_table(table, file, row_group_size=100, write_page_checksum=True, use_dictionary=False)
    data = file.read_bytes()
    offset = pq.read_metadata(file).row_group(5).column(0).data_page_offset
    file.write_bytes(data[: offset + 60] + b"damage" + data[offset + 66 :])
    rows, bad = read(plan_units([str(file)]))
    assert [row["record"] for row in rows] == list(range(500))
    assert [each.record for each in bad] == [500]
    assert "damaged" in bad[0].reason
    # Cut by row groups, the others can be read.
    rows, bad = read(plan_units([str(file)], unit_bytes=1))
    assert [row["record"] for row in rows] == [*range(500), *range(600, 1000)]
    for content in (b"", b"PAR1", data[:-100], b"\0" * 1000, data[:-8] + b"\xff\xff\xff\x7fPAR1"):
        file.write_bytes(content)
        for unit_bytes in (1, 1 << 20):
            rows, bad = read(plan_units([str(file)], unit_bytes=unit_bytes))
            assert rows == []
            assert [each.record for each in bad] == [0]


@given(st.data())
def test_no_damage_of_parquet_goes_unsaid(tmp_path_factory: Any, data: st.DataObject) -> None:
    """Without check sums, rows may have another text; but none is lost, and nothing fails."""
    file = tmp_path_factory.getbasetemp() / "damaged.parquet"
    table = pa.table({"text": [f"{i} 号" * (i % 5) for i in range(100)]})
    pq.write_table(table, file, row_group_size=30, use_dictionary=data.draw(st.booleans()))
    content = bytearray(file.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=3)):
        content[place] ^= data.draw(st.integers(1, 255))
    file.write_bytes(content)
    try:
        rows, bad = read(plan_units([str(file)], unit_bytes=data.draw(st.sampled_from([1, 9999]))))
    except ValueError as error:
        assert "has no column 'text'" in str(error)  # noqa: PT017 - or there is none
    else:
        assert bad or len(rows) == 100


# Fields ------------------------------------------------------------------------------------------


def test_kept_fields_and_their_types(tmp_path: Path) -> None:
    rows = [
        {"body": "一", "id": 7, "day": "2026-11-23", "more": {"a": [1, "é"]}, "ok": True},
        {"body": "二", "id": 2**53 + 1, "day": None, "more": "as it is"},
    ]
    (tmp_path / "a.jsonl").write_bytes(jsonl(rows))
    keep = ["id:int64", "day:date32", "more", "ok"]
    (unit,) = plan_units([f"{tmp_path}/a.jsonl"])
    first, second = read_records(unit, text_column="body", keep=keep, on_bad=pytest.fail)
    assert first.kept == {
        "id": pa.scalar(7),
        "day": pa.scalar(date(2026, 11, 23)),
        "more": '{"a": [1, "é"]}',
        "ok": "true",
    }
    assert second.kept["day"].type == pa.date32()
    assert second.place_and_kept() == {
        "file": str(tmp_path / "a.jsonl"),
        "record": second.record,
        **{"id": 2**53 + 1, "day": None, "more": "as it is", "ok": None},
    }


BAD_LINES = {
    b"{": "no JSON",
    b"[1]": "no object",
    b'{"txt": ""}': "no field 'text'",
    b'{"text": null}': "is no string",
    b'{"text": 3}': "is no string",
    b'{"text": "\xff"}': "byte 0xff at byte offset 10 of the line is not UTF-8",
    rb'{"text": "a\ud800"}': "lone surrogate U+D800 at offset 1",
    rb'{"text": "a", "s": "\udc00"}': "lone surrogate U+DC00 at offset 0",
    rb'{"text": "a", "s": {"\udc00": 1}}': "lone surrogate",
    b'{"text": "a", "id": "x"}': "the field 'id' is no int64",
    b'{"text": "a", "id": 1e30}': "the field 'id' is no int64",
    b'{"text": "a", "id": %d}' % 10**30: "the field 'id' is no int64",
    b'{"text": "a", "id": {"b": 1}}': "the field 'id' is no int64",
    b'{"text": "a", "id": ' + b"1" * 5000 + b"}": "no JSON",
    b"[" * 100_000: "no JSON",
}


def test_bad_lines_are_left_out_with_place_and_reason(tmp_path: Path) -> None:
    good = b'{"text": "\\ud83d\\udc4d", "id": 1, "s": 2}\n'
    content, places = good, []
    for line in BAD_LINES:
        places.append(len(content))
        content += line + b"\n" + good
    (tmp_path / "a.jsonl").write_bytes(content)
    rows, bad = read(plan_units([f"{tmp_path}/a.jsonl"]), keep=["id:int64", "s"])
    assert [row["text"] for row in rows] == ["👍"] * (len(BAD_LINES) + 1)
    assert [each.record for each in bad] == places
    for each, (line, reason) in zip(bad, BAD_LINES.items(), strict=True):
        assert reason in each.reason
        assert each.content == line.decode(errors="replace")[:1000]
        assert len(each.reason) < 300


# Hostile files -----------------------------------------------------------------------------------


@looped("suffix", COMPRESS)
def test_damaged_compression_is_one_bad_record_for_the_rest(tmp_path: Path, suffix: str) -> None:
    # Of which little can be packed, so that the first half comes out.
    drawn = random.Random(0)
    lines = [bytes(drawn.choices(b"0123456789abcdef", k=99)) for _ in range(5000)]
    whole = COMPRESS[suffix](b"\n".join(lines))
    half = len(whole) // 2
    cases = {
        "truncated": whole[:half],
        "damaged": whole[:half] + b"\xff" * 50 + whole[half + 50 :],
        "no compression": b"no compression",
    }
    for name, content in cases.items():
        (tmp_path / f"a.txt{suffix}").write_bytes(content)
        rows, bad = read(plan_units([f"{tmp_path}/a.txt{suffix}"]))
        assert len(bad) == 1, name
        assert "damaged" in bad[0].reason
        n_sound = 0 if name == "no compression" else 1000
        # Only a check sum tells that what follows is not as it was.
        assert [row["text"].encode() for row in rows[:n_sound]] == lines[:n_sound]
        assert bad[0].record >= 100 * n_sound


def test_lines_without_end_take_neither_memory_nor_time(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    content = b"a\n" + b"x" * (20 << 20) + b"\nb\n"
    file.write_bytes(content)
    expected = ["a", "b"], [(2, "the line is longer than 16777216 bytes")]
    for unit_bytes in (64 << 20, 1 << 20):
        tracemalloc.start()
        rows, bad = read(plan_units([str(file)], unit_bytes=unit_bytes))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert ([row["text"] for row in rows], [(b.record, b.reason) for b in bad]) == expected
        assert len(bad[0].content) == 1000
        assert peak < 4 * LONGEST_LINE
    # Zeros in a file of some kilobytes.
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(bytes(100 << 20)))
    rows, bad = read(plan_units([f"{tmp_path}/b.txt.gz"]))
    assert (rows, len(bad)) == ([], 1)


def test_every_part_reads_what_is_its_own_alone(tmp_path: Path) -> None:
    """Or a file without line ends would be read once for every part."""

    class Counted(records.io.BytesIO):
        n_read = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            data = super().readline(size)
            Counted.n_read += len(data)
            return data

    content = b"x" * 100_000
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "open_lines", lambda _: Counted(content))
        parts = [Part("a.txt", "text", begin, begin + 1000) for begin in range(0, 100_000, 1000)]
        rows, bad = read([Unit(0, tuple(parts))])
    assert [len(row["text"]) for row in rows] == [100_000]
    assert bad == []
    # They are read in two ways.
    assert Counted.n_read <= 2 * 3 * len(content)


# CSV ----------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.text("天 ab,\"'\n\r。\0👍", max_size=8), st.integers(0, 99)), max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_csv_is_read_as_it_was_written(rows: list[tuple[str, int]], end: str, marked: bool) -> None:
    """By Python's own writer."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(["id", "text", "more"])
    writer.writerows([number, text, ""] for text, number in rows)
    content = stream.getvalue().encode("utf-8-sig" if marked else "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "open_file", lambda _: records.io.BytesIO(content))
        limit = csv.field_size_limit()
        unit = Unit(0, (Part("a.csv", "csv"),))
        found, bad = read([unit], keep=["id:int64", "more"])
        assert csv.field_size_limit() == limit
    assert bad == []
    assert [(row["text"], row["id"], row["more"]) for row in found] == [
        (text, number, "") for text, number in rows
    ]
    assert [row["record"] for row in found] == list(range(len(rows)))


def test_bad_rows_of_csv_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(
        "text,id\n天,1\n\n雨,2,3\n".encode()
        + b"\xff,4\n"
        + "雪,x\n".encode()
        + b'"a"b,6\n'
        + b"x" * (LONGEST_LINE + 9)
        + ',8\n风,\n"雷'.encode()
    )
    found, bad = read(plan_units([str(path)]), keep=["id:int64"])
    assert [(row["text"], row["record"], row["id"]) for row in found] == [
        ("天", 0, 1),
        ("风", 6, None),
    ]
    reasons = [
        r"3 columns in place of 2",
        r"no CSV: byte 0xff at byte offset 0 of the line is not UTF-8",
        r"the field 'id' is no int64: 'x'",
        "no CSV: ',' expected after '\"'",
        rf"no CSV: the line is longer than {LONGEST_LINE} bytes",
        r"no CSV: unexpected end of data",
    ]
    assert [each.record for each in bad] == [1, 2, 3, 4, 5, 7]
    assert [each.reason for each in bad] == reasons


def test_csv_is_one_part_of_a_unit(tmp_path: Path) -> None:
    for number in range(3):
        text = "text\n" + "".join(f'"{number}\n{row}"\n' for row in range(100))
        with gzip.open(tmp_path / f"{number}.csv.gz", "wt", encoding="utf-8") as stream:
            stream.write(text)
        (tmp_path / f"{number}.csv").write_text(text, "utf-8")
    (tmp_path / "empty.csv").write_bytes(b"")
    units = plan_units([f"{tmp_path}/*.csv*"], unit_bytes=50)
    assert len(units) == 7
    rows, bad = read(units)
    assert bad == []
    assert [row["text"] for row in rows] == [
        f"{number}\n{row}" for number in range(3) for _ in range(2) for row in range(100)
    ]


# Units -------------------------------------------------------------------------------------------


def test_types_of_columns_are_those_of_each_file_or_those_asked_for(tmp_path: Path) -> None:
    for number, ids in enumerate([[1], [2], ["3"], [4]]):
        table = pa.table({"text": ["a"], "id": ids})
        pq.write_table(table, tmp_path / f"{number}.parquet")
    units = plan_units([f"{tmp_path}/*.parquet"])
    assert [row["id"] for row in read(units, keep=["id"])[0]] == [1, 2, "3", 4]
    assert [row["id"] for row in read(units, keep=["id:int64"])[0]] == [1, 2, 3, 4]


def test_names_patterns_and_urls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec

    (tmp_path / "deep").mkdir()
    for name in ("b.TXT", "a.ndjson", "deep/c.txt", "e[1].txt"):
        (tmp_path / name).write_bytes(b'{"text": "1"}\n')
    fsspec.filesystem("memory").pipe("/folder/d.txt", b"2\n")
    monkeypatch.chdir(tmp_path)
    inputs = ["memory://folder/*.txt", "**/c.txt", "b.TXT", "a.ndjson", "deep/c.txt", "e[1].txt"]
    units = plan_units(inputs)
    files = [part.file for unit in units for part in unit.parts]
    local = [str(tmp_path / name) for name in ("a.ndjson", "b.TXT", "deep/c.txt", "e[1].txt")]
    assert files == [*local, "memory:///folder/d.txt"]
    assert plan_units(reversed(inputs)) == units
    assert [row["text"] for row in read(units)[0]][-1] == "2"


NAMELESS = r"the name does not say what format this is; let it end"


@looped(
    ("name", "content", "settings", "fault"),
    [
        *((name, b"", {}, NAMELESS) for name in ("a.tsv", "a", "a.gz", "a.parquet.gz")),
        *((name, b"", {}, NAMELESS) for name in ("a.txt.bz2", "txt", ".txt")),
        ("a.csv", b"body\n1\n", {}, "has no column 'text'; it has body"),
        ("a.csv", b"text\n1\n", {"keep": ["id"]}, "has no column 'id'; it has text"),
        ("a.csv", b'"te"xt\n1\n', {}, "the first row is no CSV"),
        ("a.csv", b"\xff\n1\n", {}, "the first row is no CSV: byte 0xff"),
        ("a.txt", b"a", {"keep": ["id"]}, "text file has no fields, so that 'id' cannot be kept"),
        ("a.parquet", None, {"text_column": "body"}, "has no column 'body'; it has text, list"),
        ("a.parquet", None, {"text_column": "list"}, "the column 'list' is list.*no large_string"),
        ("a.parquet", None, {"keep": ["id"]}, "has no column 'id'"),
        ("a.parquet", None, {"keep": ["id:int"]}, "'int' of the kept column 'id:int' is no type"),
        ("a.parquet", None, {"keep": ["record"]}, "the column 'record' cannot be kept"),
    ],
)
def test_files_and_columns_that_are_refused(
    name: str, content: bytes | None, settings: dict[str, Any], fault: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    if content is None:
        pq.write_table(pa.table({"text": ["a"], "list": [[1]]}), path)
    else:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=fault):
        read(plan_units([str(path)]), **settings)


def test_what_cannot_be_planned(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no file goes with the pattern .*\*\.txt; correct it"):
        plan_units([f"{tmp_path}/*.txt"])
    with pytest.raises(ValueError, match="is a folder; name its files"):
        plan_units([str(tmp_path)])
    with pytest.raises(FileNotFoundError, match="none"):
        plan_units([f"{tmp_path}/none.txt"])
    with pytest.raises(ValueError, match="unit_bytes is 0"):
        plan_units([], unit_bytes=0)


def test_large_texts_of_parquet_are_read_few_at_a_time(tmp_path: Path) -> None:
    texts = ["x" * 100_000] * 200 + [""] * 10_000
    table = pa.table({"text": texts})
    pq.write_table(table, tmp_path / "b.parquet", row_group_size=200)
    (unit,) = plan_units([f"{tmp_path}/b.parquet"])
    tracemalloc.start()
    try:
        n_records = sum(1 for _ in read_records(unit, on_bad=pytest.fail))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert n_records == len(texts)
    assert peak < 3 * records.BATCH_BYTES
