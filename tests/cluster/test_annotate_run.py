"""Runs over files on real workers: what they write, what they go on with, what they refuse."""

from __future__ import annotations

import csv
import gzip
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spacy
from cluster.shards import analyses_by_pipe, analyses_of, rows_of, stamps_of
from distributed import Client
from looped import looped
from small_pipeline import trained
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_structreg.about import __version__
from spacy_structreg.cluster import annotated_units
from spacy_structreg.cluster.annotate_run import AnnotateSummary, annotate
from spacy_structreg.cluster.annotated_units import MANIFEST, Job, annotate_unit, checksum_of
from spacy_structreg.cluster.loaded_pipelines import load
from spacy_structreg.cluster.output_folder import OutputFolder
from spacy_structreg.cluster.pipeline_copies import PipelineCopy, find_copy, tree_checksum
from spacy_structreg.cluster.records import plan_units
from spacy_structreg.cluster.shipped_pipelines import ShippedPipeline, packed, ship_pipeline
from spacy_structreg.corpora.folders import locked
from spacy_structreg.corpora.formats.conllu import read_conllu

pytestmark = pytest.mark.slow

UNIT = 3_000
Run = Callable[..., AnnotateSummary]


@pytest.fixture
def run(client: Client, raw_pipeline: str, jsonl: Path, tmp_path: Path) -> Run:
    """Annotate the texts, to the folder `out`, unless something else is said."""

    def call(inputs: Any = None, output: Path = tmp_path / "out", **settings: Any) -> Any:
        settings = {
            "pipeline": raw_pipeline,
            "scheduler": client.scheduler.address,
            "unit_bytes": UNIT,
            **settings,
        }
        pipeline = settings.pop("pipeline")
        return annotate(pipeline, inputs or [jsonl], output, **settings)

    return call


@pytest.fixture(scope="module")
def expected(raw_pipeline: str, texts: list[str]) -> list[tuple[Any, ...]]:
    """What `nlp.pipe` says of the texts in one process."""
    return analyses_by_pipe(raw_pipeline, texts)


def job_of(pipeline: str, output: OutputFolder, *, run: Any = None, format: Any = "parquet") -> Job:
    """What workers are told of a run whose manifest is there."""
    copy, of_run = PipelineCopy.of(pipeline), checksum_of({} if run is None else run)
    return Job(copy, __version__, of_run, output.address, format, "text", (), True, 1, None, 5)


# ---- what is written ----


@pytest.mark.parametrize("format", ["parquet", "spacy"])
def test_shards_hold_what_the_pipeline_says(
    format: str, run: Run, expected: list[Any], jsonl: Path, tmp_path: Path
) -> None:
    summary = run(format=format, n_threads=2, keep=["id:int64"])
    assert analyses_of(tmp_path / "out") == expected
    assert summary.units > 5
    assert (summary.resumed, summary.repeated, summary.bad_records) == (0, 0, 0)
    assert summary.records == len(expected)
    assert summary.characters == sum(len(text) for text, *_ in expected)
    shards = list((tmp_path / "out").glob(f"part-*.{format}"))
    assert len(shards) == summary.units
    assert summary.shard_bytes == sum(path.stat().st_size for path in shards)
    assert not list((tmp_path / "out").glob("_bad/*"))
    if format == "spacy":
        # Docs know where they come from.
        docs = DocBin().from_disk(min(shards)).get_docs(Vocab())
        for number, doc in enumerate(docs):
            assert doc.user_data["id"] == number
            assert doc.user_data["file"] == str(jsonl)
            line = jsonl.read_bytes()[doc.user_data["record"] :].split(b"\n")[0]
            assert json.loads(line)["text"] == doc.text


def test_all_formats_with_places_and_kept_columns(
    run: Run, texts: list[str], expected: list[Any], tmp_path: Path
) -> None:
    table = pa.table({"body": texts[:100], "id": range(100)})
    pq.write_table(table, tmp_path / "a.parquet")
    records = [{"body": text, "id": number} for number, text in enumerate(texts)]
    with gzip.open(tmp_path / "b.jsonl.gz", "wt") as stream:
        stream.writelines(json.dumps(each) + "\n" for each in records[100:200])
    (tmp_path / "c.ndjson").write_text(
        "".join(json.dumps(each) + "\n" for each in records[200:]), "utf-8"
    )
    pattern = str(tmp_path / "*.[pjn]*")
    run([pattern], text_column="body", keep=["id:int64"], keep_text=False)
    rows = rows_of(tmp_path / "out")
    assert [row["id"] for row in rows] == list(range(len(texts)))
    assert "text" not in rows[0]
    assert [row["heads"] for row in rows] == [heads for *_, heads, _ in expected]
    assert (rows[7]["file"], rows[7]["record"]) == (str(tmp_path / "a.parquet"), 7)
    # Where a line begins is enough to find it again.
    last = rows[-1]
    data = Path(last["file"]).read_bytes()[last["record"] :]
    assert json.loads(data)["body"] == texts[-1]


def test_kept_columns_of_lists_and_maps_may_have_nulls(run: Run, tmp_path: Path) -> None:
    integers = pa.list_(pa.int64())
    columns = {
        "list": pa.array([[1, None], None, []], integers),
        "large": pa.array([None, [1], [2, 3]], pa.large_list(pa.int64())),
        "pair": pa.array([[1, 2], None, [3, None]], pa.list_(pa.int64(), 2)),
        "map": pa.array([[("a", 1), ("b", None)], None, []], pa.map_(pa.string(), pa.int64())),
        "lists": pa.array([[None, [1]], None, [[]]], pa.list_(integers)),
        "struct": pa.array([{"a": None}, None, {"a": [1]}], pa.struct([("a", integers)])),
        "nothing": pa.nulls(3, integers),
        # Python's times end at microseconds.
        "times": pa.array([[1], None, [1_001]], pa.list_(pa.time64("ns"))),
    }
    table = pa.table({"text": ["我看书", "他看书", "我看他"], **columns})
    pq.write_table(table, tmp_path / "a.parquet")
    # Without these fields.
    (tmp_path / "b.jsonl").write_text('{"text": "他看他"}\n', "utf-8")
    run([str(tmp_path / "[ab].*")], keep=[*columns], unit_bytes=1 << 20)
    written = pq.read_table(tmp_path / "out/part-00000.parquet").select([*columns])
    table = table.select([*columns])
    assert written.cast(table.schema).slice(0, 3).equals(table)
    assert written.slice(3).to_pylist() == [dict.fromkeys(columns)]


def test_lines_say_the_same_as_docs(
    run: Run, expected: list[Any], jsonl: Path, tmp_path: Path
) -> None:
    found: dict[str, list[Path]] = {}
    for format in ("jsonl", "csv", "conllu"):
        run(format=format, output=tmp_path / format, keep=["id:int64"])
        found[format] = sorted((tmp_path / format).glob(f"part-*.{format}"))
        assert found[format]
    lines = [line for path in found["jsonl"] for line in path.read_text("utf-8").split("\n")[:-1]]
    records = [json.loads(line) for line in lines]
    assert [each["id"] for each in records] == list(range(len(expected)))
    assert [
        (
            each["text"],
            each["words"],
            [token["tag"] for token in each["tokens"]],
            [token["head"] for token in each["tokens"]],
            [token["dep"] for token in each["tokens"]],
        )
        for each in records
    ] == expected
    rows = []
    for path in found["csv"]:
        with path.open(encoding="utf-8", newline="") as stream:
            rows += list(csv.DictReader(stream))
    assert [(int(row["id"]), row["word"], row["tag"], int(row["head"])) for row in rows] == [
        (number, word, tag, head)
        for number, (_, words, tags, heads, _) in enumerate(expected)
        for word, tag, head in zip(words, tags, heads, strict=True)
        if not word.isspace()
    ]
    sentences = [each for path in found["conllu"] for each in read_conllu(path)]
    assert [word for each in sentences for word in each.forms] == [row["word"] for row in rows]
    ids = [each.comment("id") for each in sentences if "# newdoc" in each.comments]
    assert ids == [str(number) for number in range(len(expected))]


def test_what_a_format_cannot_hold_is_a_bad_record(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "我看书"}\n{"text": "我\\u0000看"}\n', "utf-8")
    summary = run([tmp_path / "a.jsonl"], format="conllu")
    assert (summary.records, summary.characters, summary.bad_records) == (1, 3, 1)
    bad = json.loads((tmp_path / "out/_bad/00000.jsonl").read_text("utf-8"))
    assert bad["content"] == "我\0看"
    assert "cannot be written as CoNLL-U" in bad["reason"]
    with pytest.raises(ValueError, match="'words' is kept, and the format jsonl has that name"):
        run([tmp_path / "a.jsonl"], format="jsonl", keep=["words"], output=tmp_path / "other")
    with pytest.raises(ValueError, match="csv has the texts; keep them, or choose the format parq"):
        run(format="csv", keep_text=False)


def test_files_without_records_have_a_shard_with_the_columns(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n\n")
    assert run([tmp_path / "empty.txt"]).records == 0
    names = pq.read_schema(tmp_path / "out/part-00000.parquet").names
    assert names[:5] == ["file", "record", "text", "word_starts", "word_ends"]


def test_shards_go_wherever_fsspec_does(raw_pipeline: str, jsonl: Path, tmp_path: Path) -> None:
    """To the memory of this process, which plays the bucket."""
    unit = plan_units([str(jsonl)], unit_bytes=UNIT)[1]
    for address in ("memory://bucket/run", str(tmp_path)):
        output = OutputFolder(address)
        for name in ("_units", "_bad"):
            output.make(name)
        output.write(MANIFEST, b"{}")
        report = annotate_unit(job_of(raw_pipeline, output), unit)
        shard = output.read("part-00001.parquet")
        assert len(shard) == report.shard_bytes
        assert output.read("_units/00001.json") == report.to_json()
    assert OutputFolder("memory://bucket/run").read("part-00001.parquet") == shard


@pytest.mark.parametrize("format", ["parquet", "jsonl"])
def test_others_use_the_pipeline_while_files_are_finished(
    format: Any, raw_pipeline: str, jsonl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = load(str(find_copy(PipelineCopy.of(raw_pipeline)))).lock
    seen: list[tuple[str, bool]] = []

    class Watched(OutputFolder):
        """Notes whether the pipeline is held when files are read, opened, closed or removed."""

        @contextmanager
        def replaced(self, name: str) -> Iterator[Any]:
            seen.append((name, lock.locked()))
            with super().replaced(name) as stream:
                yield stream
                seen.append((name, lock.locked()))

        def read(self, name: str) -> bytes:
            seen.append((name, lock.locked()))
            return super().read(name)

        def remove(self, name: str) -> None:
            seen.append((name, lock.locked()))
            super().remove(name)

    output = Watched(f"memory://watched-{format}")
    output.write(MANIFEST, b"{}")
    monkeypatch.setattr(annotated_units, "OutputFolder", Watched)
    job = job_of(raw_pipeline, output, format=format)
    (unit, *_) = plan_units([str(jsonl)], unit_bytes=UNIT)
    assert annotate_unit(job, unit).records
    assert {name for name, _ in seen} == {MANIFEST, job.shard(0), job.quarantine(0), job.mark(0)}
    assert not [name for name, held in seen if held]


# ---- going on ----


def test_the_same_command_writes_nothing_twice(run: Run, raw_pipeline: str, tmp_path: Path) -> None:
    """Wherever the pipeline lies; and what killed processes have left is removed."""
    first = run()
    stamps = stamps_of(tmp_path / "out")
    shutil.copytree(raw_pipeline, tmp_path / "moved")
    for name in (".0123456789abcdef.tmp", "_units/.0123456789abcdef.tmp"):
        (tmp_path / "out" / name).write_bytes(b"PAR1")
    # Nobody is asked.
    second = run(pipeline=str(tmp_path / "moved"), scheduler="tcp://127.0.0.1:1")
    assert stamps_of(tmp_path / "out") == stamps
    assert not list((tmp_path / "out").rglob(".*"))
    assert second.resumed == second.units == first.units
    assert (second.records, second.shard_bytes) == (first.records, first.shard_bytes)


def test_what_is_damaged_is_made_again(run: Run, expected: list[Any], tmp_path: Path) -> None:
    run()
    folder = tmp_path / "out"
    shard, mark = folder / "part-00002.parquet", folder / "_units/00002.json"
    data, stamps = shard.read_bytes(), stamps_of(folder)
    faults = {
        "cut": lambda: shard.write_bytes(data[: len(data) // 2]),
        "gone": shard.unlink,
        "changed": lambda: shard.write_bytes(data[:100] + bytes([data[100] ^ 1]) + data[101:]),
        "mark": lambda: mark.write_bytes(mark.read_bytes()[:20]),
        "unmarked": mark.unlink,
    }
    for fault, damage in faults.items():
        damage()
        said: list[str] = []
        summary = run(verify=fault == "changed", log=said.append)
        assert summary.resumed == summary.units - 1, fault
        assert summary.repeated == (fault != "unmarked")
        assert any("part-00002.parquet is missing or damaged" in line for line in said) == (
            fault != "unmarked"
        )
        assert shard.read_bytes() == data
        assert analyses_of(folder) == expected
        others = {name: each for name, each in stamps_of(folder).items() if "00002" not in name}
        assert others == {name: each for name, each in stamps.items() if "00002" not in name}


# ---- what is refused ----


def test_a_run_goes_on_as_it_was_begun(run: Run, jsonl: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    shutil.copy(jsonl, path)
    run([path])
    stamps = stamps_of(tmp_path / "out")
    trained(["parser"], seed=2).to_disk(tmp_path / "other")
    with pytest.raises(ValueError, match=r"begun by another pipeline .* choose another output"):
        run([path], pipeline=str(tmp_path / "other"))
    for name, value in (
        ("keep", ["id"]),
        ("keep_text", False),
        ("unit_bytes", 30_000),
        ("format", "spacy"),
    ):
        with pytest.raises(ValueError, match=f"with other settings: {name} was"):
            run([path], **{name: value})
    with pytest.raises(ValueError, match=r"with other inputs.* such as .*texts\.jsonl"):
        run([path, jsonl])
    # Of the same size.
    path.write_bytes(path.read_bytes().replace("小王".encode(), "老王".encode()))
    with pytest.raises(ValueError, match=r"have changed since, such as .*a\.jsonl"):
        run([path])
    assert stamps_of(tmp_path / "out") == stamps


def test_one_process_at_a_time_annotates_to_a_folder(run: Run, tmp_path: Path) -> None:
    with (
        locked(tmp_path / "out"),
        pytest.raises(BlockingIOError, match="another process is writing here"),
    ):
        run()
    assert not (tmp_path / "out").exists()
    assert run().resumed == 0


@looped("there", [b'{"is": "another"}', b"{", None])
def test_no_run_writes_into_the_folder_of_another(
    there: bytes | None, raw_pipeline: str, jsonl: Path
) -> None:
    """Where nothing can be locked, the manifest says whose folder it is."""
    output = OutputFolder(f"memory://another/{there!r}")
    if there is not None:
        output.write(MANIFEST, there)
    job = job_of(raw_pipeline, output, run={"is": "this"})
    for unit in plan_units([str(jsonl)], unit_bytes=UNIT)[:2]:
        with pytest.raises(ValueError, match="was taken by another run meanwhile"):
            annotate_unit(job, unit)
    assert set(output.sizes()) == ({MANIFEST} if there is not None else set())


def test_what_has_done_nothing_yet_binds_nobody(
    run: Run, jsonl: Path, expected: list[Any], tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="records are bad"):
        run(text_column="body", max_bad=0)
    assert list((tmp_path / "out").glob("_bad/*"))
    assert run().bad_records == 0
    assert not list((tmp_path / "out").glob("_bad/*"))
    assert analyses_of(tmp_path / "out") == expected


def test_marks_of_another_run_do_not_count(run: Run, expected: list[Any], tmp_path: Path) -> None:
    run(keep=["id"])
    marks = {path.name: path.read_bytes() for path in (tmp_path / "out/_units").iterdir()}
    shutil.rmtree(tmp_path / "out")
    run()
    for name, mark in list(marks.items())[:3]:
        (tmp_path / "out/_units" / name).write_bytes(mark)
    assert run().repeated == 3
    assert analyses_of(tmp_path / "out") == expected


def test_a_folder_of_something_else_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/thesis.txt").write_text("all of it")
    with pytest.raises(ValueError, match="is not empty, and not of such a run"):
        run()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.txt"]


@looped(
    ("settings", "message"),
    [
        ({"format": "xml"}, "no format 'xml'"),
        ({"format": "spacy", "keep_text": False}, "spacy has the texts"),
        ({"max_bad": -1}, "max_bad is -1"),
        ({"max_bad": 1.5}, "max_bad is 1.5"),
        ({"n_threads": 0}, "n_threads is 0"),
        ({"pipeline": "no-such-pipeline"}, "neither the folder of a pipeline nor"),
        ({"text_column": "body", "max_bad": 399}, "400 of 400 records are bad"),
    ],
)
def test_faulty_settings(settings: dict[str, Any], message: str, run: Run, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        run(unit_bytes=1 << 20, **settings)
    assert not list((tmp_path / "out").glob("part-*"))


def test_kept_columns_that_change_their_type_are_refused(run: Run, tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["我看书"], "id": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"text": ["他看书"], "id": ["b"]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"'id' is int64 in one file and string .* id:int64"):
        run([str(tmp_path / "?.parquet")], keep=["id"])


# ---- bad records ----


@pytest.fixture
def spoilt(jsonl: Path, tmp_path: Path) -> tuple[Path, dict[int, str]]:
    """The texts with ten bad records among them, and the words of the reasons by their places."""
    lines = jsonl.read_bytes().splitlines(keepends=True)
    faults = {b'{"text": 3}\n': "no string", b"{\n": "no JSON", b'{"text": "\xff"}\n': "not UTF-8"}
    faults |= {b'{"body": "x"}\n': "no field 'text'", b'{"text": "\\ud800"}\n': "lone surrogate"}
    places: dict[int, str] = {}
    data = b""
    for number, line in enumerate(lines):
        if number % 40 == 20:
            fault, reason = list(faults.items())[number // 40 % len(faults)]
            places[len(data)] = reason
            data += fault
        data += line
    path = tmp_path / "spoilt.jsonl"
    path.write_bytes(data)
    return path, places


def test_bad_records_are_put_aside_with_place_and_reason(
    spoilt: tuple[Path, dict[int, str]], run: Run, expected: list[Any], tmp_path: Path
) -> None:
    path, places = spoilt
    summary = run([path], max_bad=0.025)
    assert (summary.bad_records, summary.records) == (10, len(expected))
    assert analyses_of(tmp_path / "out") == expected
    found = [
        json.loads(line)
        for file in sorted((tmp_path / "out").glob("_bad/*"))
        for line in file.read_text("utf-8").splitlines()
    ]
    assert [each["record"] for each in found] == list(places)
    for each in found:
        assert each["file"] == str(path)
        assert places[each["record"]] in each["reason"]
        assert each["content"].startswith("{")


@pytest.mark.parametrize("most", [0, 9, 0.001])
def test_too_many_bad_records_end_the_run_which_can_go_on(
    most: int | float,
    spoilt: tuple[Path, dict[int, str]],
    run: Run,
    expected: list[Any],
    tmp_path: Path,
) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match=r"records are bad, and .* may be; .*/_bad, and allow"):
            run([spoilt[0]], max_bad=most)
    assert list((tmp_path / "out").glob("_bad/*"))
    assert run([spoilt[0]], max_bad=10).bad_records == 10
    assert analyses_of(tmp_path / "out") == expected


def test_texts_too_long_for_the_pipeline_are_put_aside(
    run: Run, raw_pipeline: str, tmp_path: Path
) -> None:
    longest = spacy.load(raw_pipeline).max_length
    texts = ["我看书", "书" * (longest + 1), "他看书"]
    (tmp_path / "a.txt").write_text("".join(f"{text}\n" for text in texts), "utf-8")
    pq.write_table(pa.table({"text": texts, "score": [1, 2, 3]}), tmp_path / "a.parquet")
    for name, keep, place in (("a.txt", [], 10), ("a.parquet", ["score"], 1)):
        out = tmp_path / f"out-{name}"
        assert run([tmp_path / name], out, keep=keep, unit_bytes=1 << 24).bad_records == 1
        rows = rows_of(out)
        assert [row["text"] for row in rows] == ["我看书", "他看书"]
        assert [row.get("score") for row in rows] == ([1, 3] if keep else [None, None])
        bad = json.loads((out / "_bad/00000.jsonl").read_text("utf-8"))
        assert (bad["record"], bad["content"]) == (place, "书" * 1000)


# ---- pipelines on other machines ----


def test_a_pipeline_is_shipped_where_it_is_not(
    client: Client, raw_pipeline: str, jsonl: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "here"
    shutil.copytree(raw_pipeline, folder)
    copy = PipelineCopy.of(folder)
    archive = packed(folder)
    folder.rename(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="does not lie on the machine of the worker"):
        client.submit(find_copy, copy, pure=False).result()
    try:
        client.register_plugin(ShippedPipeline(copy, archive), name="shipped")
        assert set(client.run(find_copy, copy).values()) == {copy.unpacked}
        assert tree_checksum(copy.unpacked) == copy.checksum
        # There it is now, for whoever comes next.
        assert ship_pipeline(client, copy) == 0
    finally:
        client.unregister_worker_plugin("shipped")
        shutil.rmtree(copy.unpacked, ignore_errors=True)


def test_a_checksum_sees_every_change(raw_pipeline: str, tmp_path: Path) -> None:
    folder = tmp_path / "pipeline"
    shutil.copytree(raw_pipeline, folder)
    checksum = tree_checksum(folder)
    assert checksum == PipelineCopy.of(raw_pipeline).checksum
    model = folder / "tokenizer/model.srt"
    data = model.read_bytes()
    model.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    changed = tree_checksum(folder)
    model.write_bytes(data)
    model.rename(folder / "tokenizer/model2.srt")
    renamed = tree_checksum(folder)
    assert len({checksum, changed, renamed}) == 3


def test_workers_of_a_cluster_are_processes_of_this_machine_alone(client: Client) -> None:
    assert client.scheduler.address.startswith("tcp://127.0.0.1:")
    pids = client.run(os.getpid)
    assert len({*pids.values(), os.getpid()}) == 3
    assert all(address.startswith("tcp://127.0.0.1:") for address in pids)
