"""`structreg annotate`: a run through spaCy's command line, and what it says."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import pyarrow.parquet as pq
import pytest
import spacy
from click.testing import Result
from distributed import LocalCluster

from spacy_structreg.cli.annotate import parse_max_bad
from spacy_structreg.cluster.annotate_run import AnnotateSummary


@pytest.fixture
def texts(sentences: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in the working directory."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "texts.txt"
    path.write_text("".join("".join(words) + "\n" for words in sentences), "utf-8")
    return path


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a cluster whose only worker is a thread of this process."""
    here = {"host": "127.0.0.1", "protocol": "tcp", "dashboard_address": None}
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, **here) as cluster:
        yield cluster.scheduler_address


@pytest.mark.slow
def test_a_run_on_processes_of_this_machine(
    pipeline: str, texts: Path, tmp_path: Path, invoke: Callable[..., Result]
) -> None:
    """With warnings as errors, and called again in this process, where nothing is left to do."""
    arguments = ["annotate", pipeline, texts.name, "out", "--workers", "1", "--no-text"]
    command = [sys.executable, "-W", "error", "-m", "spacy", "structreg", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = r"Annotated 5 records of (\d+) characters in 1 unit, in [\d.]+ s; ([\d,]+) bytes in out"
    assert (found := re.fullmatch(said + "\n", done.stdout))
    shard = tmp_path / "out/part-00000.parquet"
    lines = texts.read_text("utf-8").splitlines()
    assert int(found[1]) == sum(map(len, lines))
    assert int(found[2].replace(",", "")) == shard.stat().st_size
    # Besides there is the address of the dashboard, if any, and what Dask warns of.
    said_besides = [line for line in done.stderr.splitlines() if " - distributed." not in line]
    assert re.fullmatch(r"(Dashboard: http://127\.0\.0\.1:\d+/status)?", "\n".join(said_besides))
    rows = pq.read_table(shard).to_pylist()
    assert list(rows[0]) == ["file", "record", "word_starts", "word_ends", "sentence_starts"]
    docs = spacy.load(pipeline).pipe(lines)
    assert [row["word_starts"] for row in rows] == [[token.idx for token in doc] for doc in docs]
    again = invoke("annotate", pipeline, texts, tmp_path / "out", "--no-text")
    assert "in 1 unit, 1 of them before, in" in again.stdout


@pytest.fixture
def without_extra(tmp_path: Path) -> dict[str, str]:
    """The environment of processes where the extra `cluster` is not installed."""
    folder = tmp_path / "blocked"
    folder.mkdir()
    text = "import sys\nfor name in ('dask', 'distributed', 'pyarrow'): sys.modules[name] = None\n"
    (folder / "sitecustomize.py").write_text(text, "utf-8")
    path = os.pathsep.join([str(folder), *map(str, filter(None, sys.path))])
    return {**os.environ, "PYTHONPATH": path}


# Writes all formats, as the command does.
ALL_FORMATS = """
import sys
from spacy_structreg.cluster.annotate_run import annotate

if __name__ == "__main__":
    pipeline, *inputs = sys.argv[1:]
    for format in ("jsonl", "csv", "conllu", "spacy"):
        settings = {"format": format, "keep": ["id"], "unit_bytes": 100}
        done = annotate(pipeline, inputs, f"out-{format}", n_workers=2, **settings)
        print(done.records, done.units > 1, done.bad_records)
"""


@pytest.mark.slow
def test_one_machine_needs_no_extra(
    pipeline: str,
    texts: Path,
    without_extra: dict[str, str],
    scheduler: str,
    invoke: Callable[..., Result],
) -> None:
    tmp_path = texts.parent
    lines = texts.read_text("utf-8").splitlines()
    with (tmp_path / "more.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([["id", "text"], *enumerate(lines)])
    records = (json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(lines))
    (tmp_path / "more.jsonl").write_text("".join(records), "utf-8")
    (tmp_path / "formats.py").write_text(ALL_FORMATS, "utf-8")
    inputs = [tmp_path / "more.csv", tmp_path / "more.jsonl"]
    done = subprocess.run(
        [sys.executable, "-W", "error", "formats.py", pipeline, *inputs],
        capture_output=True,
        text=True,
        env=without_extra,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{2 * len(lines)} True 0\n" * 4
    found = [
        json.loads(line)
        for shard in sorted(tmp_path.glob("out-jsonl/part-*.jsonl"))
        for line in shard.read_text("utf-8").splitlines()
    ]
    assert [(each["text"], each["id"]) for each in found] == [
        (text, str(number)) for _ in range(2) for number, text in enumerate(lines)
    ]
    docs = spacy.load(pipeline).pipe(lines)
    words = [[token.text for token in doc] for doc in docs]
    assert [each["words"] for each in found] == [*words, *words]
    # With the extra, the same is written.
    settings = ("--keep", "id", "--scheduler", scheduler, "--unit-size", 1)
    invoke("annotate", pipeline, *inputs, "same", "--format", "csv", *settings)
    header, *rows = (tmp_path / "same/part-00000.csv").read_text("utf-8").splitlines()
    shards = sorted(tmp_path.glob("out-csv/part-*.csv"))
    parts = [shard.read_text("utf-8").splitlines() for shard in shards]
    assert [(part[0], row) for part in parts for row in part[1:]] == [(header, row) for row in rows]


@pytest.mark.slow
def test_annotation_tools_are_given_entities(
    small_pipeline_folder: Path, tmp_path: Path, scheduler: str, runs: Callable[..., str]
) -> None:
    folder = small_pipeline_folder
    lines = ["小王写大字！", " ", "他看北京。"]
    records = (json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(lines))
    (tmp_path / "a.jsonl").write_text("".join(records), "utf-8")
    found = {}
    for tool, name in (("doccano", "part-00000.jsonl"), ("label-studio", "part-00000.json")):
        given = (tmp_path / "a.jsonl", tmp_path / tool, "--format", tool)
        runs("annotate", folder, *given, "--keep", "id", "--scheduler", scheduler)
        found[tool] = (tmp_path / tool / name).read_text("utf-8")
    expected = [
        (str(i), text, [[span.start_char, span.end_char, span.label_] for span in doc.ents])
        for i, (text, doc) in enumerate(zip(lines, spacy.load(folder).pipe(lines), strict=True))
        if text.strip()
    ]
    assert all(entities for *_, entities in expected)
    labeled = map(json.loads, found["doccano"].splitlines())
    assert [(each["id"], each["text"], each["label"]) for each in labeled] == expected
    for task, (number, text, entities) in zip(
        json.loads(found["label-studio"]), expected, strict=True
    ):
        assert (task["data"]["id"], task["data"]["text"]) == (number, text)
        values = [each["value"] for each in task["predictions"][0]["result"]]
        assert [[each["start"], each["end"], *each["labels"]] for each in values] == entities


@pytest.mark.parametrize(
    ("arguments", "package"),
    [
        (["texts.txt", "out"], "pyarrow"),
        (["a.parquet", "out", "-f", "csv"], "pyarrow"),
        (["a.jsonl", "out", "-f", "csv", "--keep", "id:int64"], "pyarrow"),
        (["a.txt.zst", "out", "-f", "csv"], "pyarrow"),
        (["texts.txt", "out", "-f", "csv", "--scheduler", "tcp://127.0.0.1:1"], "distributed"),
    ],
)
@pytest.mark.usefixtures("texts")
def test_what_needs_the_extra_names_it(
    arguments: list[str],
    package: str,
    pipeline: str,
    fails: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("a.parquet", "a.jsonl", "a.txt.zst"):
        Path(name).write_bytes('{"text": "天"}\n'.encode())
    for module in ("extra_packages", "annotate_run"):
        monkeypatch.setattr(f"spacy_structreg.cluster.{module}.find_spec", lambda name: None)
    message = fails("annotate", pipeline, *arguments, *([] if "tcp" in str(arguments) else ["-n1"]))
    other = "" if "-f" in arguments else ", or choose another --format, such as jsonl"
    extra = "pip install 'spacy_structreg[cluster]'"
    assert message == f"this needs the package {package}; {extra}{other}"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="terminals interrupt groups of processes so")
def test_an_interrupted_run_says_what_was_kept(
    pipeline: str,
    texts: Path,
    without_extra: dict[str, str],
    scheduler: str,
    invoke: Callable[..., Result],
) -> None:
    """As by Ctrl-C, which all processes of the terminal are told of; the next run goes on."""
    texts.write_text(texts.read_text("utf-8") * 4000, "utf-8")
    command = [sys.executable, "-m", "spacy", "structreg", "annotate", pipeline, texts.name, "out"]
    settings = ["--format", "csv", "--unit-size", "4", "--workers"]
    output = texts.parent / "out"

    def n_done() -> int:
        return len(list(output.glob("_units/*.json")))

    before = 0
    for environment, n_workers in ((without_extra, "2"), ({**os.environ}, "1")):
        with subprocess.Popen(
            [*command, *settings, n_workers],
            env=environment,
            cwd=output.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # A suite that runs in the background ignores it, and so would what it starts.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        ) as running:
            while n_done() == before:
                assert running.poll() is None
                time.sleep(0.01)
            os.killpg(running.pid, signal.SIGINT)
            printed, said = running.communicate()
        assert running.returncode != 0
        assert printed == ""
        told = "^Interrupted: ([0-9]+) of ([0-9]+) units are done, and kept in (.*); the same "
        found = re.search(told + "command goes on$", said, re.MULTILINE)
        assert found is not None, said
        assert "Traceback" not in said
        assert found[3] == str(output)
        assert before < int(found[1]) <= n_done() < int(found[2])
        before = n_done()
    settings[-1:] = ["--scheduler", scheduler]
    again = invoke("annotate", pipeline, texts, output, *settings)
    assert f"in {found[2]} units, {before} of them before, in" in again.stdout


def test_the_options_reach_the_run(
    pipeline: str, texts: Path, tmp_path: Path, invoke: Callable[..., Result]
) -> None:
    line = "-f spacy --scheduler tcp://127.0.0.1:1 -t 3 --text-column body --keep id:int64"
    line += " --keep url --max-bad 2.5% --unit-size 16 --verify"
    with patch("spacy_structreg.cluster.annotate_run.annotate") as run:
        run.return_value = AnnotateSummary(9, 2, 0, 1000, 23456, 7, 345678, 12.34)
        result = invoke(
            "annotate", pipeline, texts, tmp_path / "b.txt", tmp_path / "out", *line.split()
        )
    assert result.stdout == (
        "Annotated 1,000 records of 23,456 characters in 9 units, 2 of them before, in 12.3 s; "
        f"345,678 bytes in {tmp_path / 'out'}; 7 bad records in {tmp_path / 'out'}/_bad\n"
    )
    (name, inputs, output), settings = run.call_args
    assert (name, output) == (pipeline, str(tmp_path / "out"))
    assert inputs == [str(texts), str(tmp_path / "b.txt")]
    del settings["log"]
    assert settings == {
        "format": "spacy",
        "scheduler": "tcp://127.0.0.1:1",
        "n_workers": None,
        "n_threads": 3,
        "text_column": "body",
        "keep": ["id:int64", "url"],
        "keep_text": True,
        "max_bad": 0.025,
        "unit_bytes": 16 << 10,
        "verify": True,
    }


def test_numbers_and_shares_of_bad_records() -> None:
    values = {"0": 0, "1000": 1000, "1%": 0.01, "0.5%": 0.005, "100%": 1.0}
    for text, value in values.items():
        assert parse_max_bad(text) == value
        assert type(parse_max_bad(text)) is type(value)
    for text in ("-1", "many", "1.5", "101%", "%", "nan%", "1e3", "", "٣"):
        with pytest.raises(ValueError, match="is neither a number, such as 1000, nor a share, as"):
            parse_max_bad(text)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("none.txt {}", "none.txt: No such file or directory"),
        ("*.parquet {}", "no file goes with the pattern *.parquet"),
        ("texts.docx {}", "the name does not say what format this is"),
        (". {}", "is a folder; name its files"),
        ("texts.txt {} --max-bad x", "--max-bad 'x' is neither a number"),
        ("texts.txt {} --scheduler somewhere", "no Dask scheduler answers at somewhere"),
        ("texts.txt {} --scheduler tcp://127.0.0.1:1 -n 1", "has its workers already"),
    ],
)
def test_faulty_command_lines(
    line: str, message: str, pipeline: str, texts: Path, fails: Callable[..., str]
) -> None:
    (texts.parent / "texts.docx").write_bytes(b"PK")
    assert message in fails("annotate", pipeline, *line.format("out").split())
    assert not list(Path("out").glob("part-*"))


@pytest.mark.slow
def test_faults_that_workers_find(
    untrained: str, texts: Path, tmp_path: Path, fails: Callable[..., str]
) -> None:
    """They are said once, in one line."""
    message = fails("annotate", untrained, texts, tmp_path / "out", "-n", "1")
    assert message == "the tokenizer has not been trained; train it first"
    assert not list((tmp_path / "out").glob("part-*"))
