"""`structreg segment`: lines in, lines out, streaming."""

from __future__ import annotations

import csv
import gzip
import json
import os
import select
import struct
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from itertools import count, repeat
from pathlib import Path
from typing import Any

import pytest
import spacy
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from warm_python import executable

from spacy_structreg.cli.options import load_pipeline
from spacy_structreg.cli.segment import PORTION_BYTES, arriving_lines, in_blocks, word_lines
from spacy_structreg.corpora import files
from spacy_structreg.corpora.any_format import read_sentences
from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.formats.conllu import read_conllu
from spacy_structreg.corpora.text_spans import marked_text
from spacy_structreg.pipeline.evaluation import found_words

Invoke = Callable[..., Result]
Runs = Callable[..., str]
Fails = Callable[..., str]

SEGMENT = ["-W", "error", "-m", "spacy", "structreg", "segment"]
# Long enough for any machine; a test that waits for it fails.
PATIENCE = 120
posix = pytest.mark.skipif(os.name != "posix", reason="pipes and terminals are POSIX ones here")


def predicted(pipeline: str, *lines: str) -> bytes:
    """What the model itself makes of lines, as segmented text."""
    model = spacy.load(pipeline).tokenizer.model
    return "".join(" ".join(model.predict(line)) + "\n" for line in lines).encode()


# ---- lines ----


@pytest.mark.parametrize(
    ("given_text", "lines"),
    [
        ("老师和学生\n去公园", ["老师和学生", "去公园"]),
        ("老师\r\n\r\n学生\r\n", ["老师", "", "学生"]),
        ("\n\n老师\n\n", ["", "", "老师", ""]),
        ("\n", [""]),
        ("", []),
        ("\ufeff老师", ["老师"]),
        ("老师\u2028学\x85生\x0c去\r公园\n", ["老师\u2028学\x85生\x0c去\r公园"]),
        ("老师\0学生\n\0\n", ["老师\0学生", "\0"]),
        ("  老师 去　公园\t\n   \n", ["老师 去　公园", ""]),
    ],
)
def test_one_line_for_one_line(
    pipeline: str, invoke: Invoke, given_text: str, lines: list[str]
) -> None:
    result = invoke("segment", pipeline, stdin=given_text.encode())
    assert result.stdout_bytes == predicted(pipeline, *lines)
    assert result.stdout_bytes.count(b"\n") == len(lines)
    assert b"\r" not in result.stdout_bytes


def test_files_standard_input_and_separator(tmp_path: Path, characters: str, runs: Runs) -> None:
    """By any tokenizer."""
    (tmp_path / "a.txt").write_bytes("老师".encode("gb18030"))
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress("学生\n\n 好".encode("gb18030")))
    files = (tmp_path / "a.txt", "-", tmp_path / "b.txt.gz")
    options = ("--encoding", "gb18030", "--separator", " | ")
    printed = runs("segment", characters, *files, *options, stdin="公园\n".encode("gb18030"))
    assert printed == "老 | 师\n公 | 园\n学 | 生\n\n好\n"


def test_threads_change_nothing(tmp_path: Path, pipeline: str, runs: Runs) -> None:
    source = tmp_path / "text.txt"
    source.write_text("".join(f"老师{i}去公园看书。\n" * (i % 3) + "\n" for i in range(3000)))
    one = runs("segment", pipeline, source)
    assert one == runs("segment", pipeline, source, "--threads", 3)
    assert one.count("\n") == source.read_bytes().count(b"\n")


def test_output_file(tmp_path: Path, pipeline: str, runs: Runs, fails: Fails) -> None:
    source, output = tmp_path / "text.txt", tmp_path / "new" / "words.txt"
    source.write_text("老师去公园\n", "utf-8")
    assert runs("segment", pipeline, source, "--output", output) == ""
    assert output.read_bytes() == predicted(pipeline, "老师去公园")
    # What is read stays: the text, and the pipeline.
    before = source.read_bytes()
    for read in (source, Path(pipeline, "meta.json")):
        message = fails("segment", pipeline, source, "-o", read)
        assert "is an input, and would be replaced" in message
    assert source.read_bytes() == before


# ---- formats ----


@pytest.fixture(scope="module")
def tagging(small_pipeline_folder: Path) -> str:
    """The folder of a pipeline with parts of all kinds."""
    return str(small_pipeline_folder)


TEXT = "我看书。小王写大字！\n\n他看北京。\n"


@pytest.mark.parametrize("threads", [1, 2])
def test_formats_hold_what_the_pipeline_finds(
    threads: int, tagging: str, tmp_path: Path, runs: Runs
) -> None:
    docs = [spacy.load(tagging)(line) for line in TEXT.split("\n")[:-1]]

    def run(name: str, *options: object) -> Path:
        options = ("-o", tmp_path / name, "-t", threads, *options)
        assert runs("segment", tagging, *options, stdin=TEXT.encode()) == ""
        return tmp_path / name

    records = [json.loads(line) for line in run("a.jsonl").read_text("utf-8").splitlines()]
    assert [(each["line"], each["text"]) for each in records] == [
        (number, doc.text) for number, doc in enumerate(docs, 1)
    ]
    assert [each["words"] for each in records] == [[token.text for token in doc] for doc in docs]
    assert [len(each["entities"]) for each in records] == [len(doc.ents) for doc in docs]
    with gzip.open(run("a.csv.gz"), "rt", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["line"], row["word"], row["tag"], row["dep"]) for row in rows] == [
        (str(number), token.text, token.tag_, token.dep_)
        for number, doc in enumerate(docs, 1)
        for token in doc
    ]
    found = list(read_conllu(run("out", "-f", "conllu")))
    assert [each.text for each in found] == [sent.text for doc in docs for sent in doc.sents]
    assert [each.comment("line") for each in found] == ["1", None, "3"]
    stored = list(DocBin().from_disk(run("a.spacy")).get_docs(Vocab()))
    assert [doc.to_json() for doc in stored] == [doc.to_json() for doc in docs]
    assert [doc.user_data["line"] for doc in stored] == [1, 2, 3]
    assert run("a.txt").read_text("utf-8").count("\n") == len(docs)
    # Of annotation tools: what is imported there is exported again, and read.
    spans = [
        [(span.start_char, span.end_char, span.label_) for span in doc.ents]
        for doc in docs
        if doc.text
    ]
    assert any(spans)
    labeled = map(json.loads, run("b.jsonl", "-f", "doccano").read_text("utf-8").splitlines())
    assert [(each["line"], each["text"], each["label"]) for each in labeled] == [
        (line, doc.text, [list(span) for span in of_doc])
        for (line, doc), of_doc in zip(((1, docs[0]), (3, docs[2])), spans, strict=True)
    ]
    tasks = json.loads(run("tasks.json").read_text("utf-8"))
    assert [task["data"]["line"] for task in tasks] == [1, 3]
    exported = [{"data": task["data"], "annotations": task.pop("predictions")} for task in tasks]
    (tmp_path / "exported.json").write_text(json.dumps(exported), "utf-8")
    for name in ("b.jsonl", "exported.json"):
        found = [marked_text(each)[1] for each in read_sentences(tmp_path / name)]
        assert found == spans


def test_formats_on_standard_output(tagging: str, pipeline: str, runs: Runs, fails: Fails) -> None:
    printed = runs("segment", tagging, "-f", "jsonl", stdin=TEXT.encode())
    assert [json.loads(line)["line"] for line in printed.splitlines()] == [1, 2, 3]
    for options, message in (
        (["-f", "spacy"], "Docs are no text; name a file for them with --output"),
        (["-f", "csv", "--tags"], "--tags and --separator are for words, and not for csv"),
    ):
        assert fails("segment", tagging, *options, stdin=b"") == message
    assert "NUL" in fails("segment", tagging, "-f", "conllu", stdin="我\0看\n".encode())
    assert json.loads(runs("segment", tagging, "-f", "label-studio", stdin=b"\n")) == []
    for tool in ("doccano", "label-studio"):
        assert fails("segment", pipeline, "-f", tool, stdin=b"") == (
            f"the pipeline finds no entities, which {tool} is to show; choose another format"
        )


# ---- portions ----


class Chunks:
    """A stream that has its bytes arrive in given chunks."""

    def __init__(self, chunks: list[bytes]) -> None:
        self.chunks = iter([chunk for chunk in chunks if chunk])

    def read1(self, size: int, /) -> bytes:
        return next(self.chunks, b"")


@given(st.lists(st.text(st.sampled_from("a书\n\r\0\ufeff\u2028 "), max_size=6).map(str.encode)))
def test_lines_do_not_depend_on_how_they_arrive(chunks: list[bytes]) -> None:
    whole = b"".join(chunks).decode()
    expected = whole.removeprefix("\ufeff").split("\n")
    if not expected[-1] and whole != "\ufeff":
        expected.pop()
    expected = [line.removesuffix("\r") for line in expected]
    assert [line for lines in arriving_lines(Chunks(chunks), "x") for line in lines] == expected


@given(st.binary(max_size=30), st.sampled_from(["utf-8", "gb18030", "big5hkscs", "utf-7"]))
def test_any_bytes_are_lines_or_an_error(data: bytes, encoding: str) -> None:
    fault: CorpusError | None = None
    lines: list[str] = []
    try:
        for portion in arriving_lines(Chunks([data]), "x", encoding):
            lines += portion
    except CorpusError as error:
        fault = error
    if fault is not None:
        assert fault.file == "x"
        assert 1 <= fault.line <= data.count(b"\n") + 1
    else:
        assert len(lines) == data.count(b"\n") + (data[-1:] not in (b"\n", b""))
        "".join(lines).encode()


@given(st.lists(st.text("a\n", max_size=4), max_size=9))
def test_lines_have_a_limit(chunks: list[str]) -> None:
    lines = "".join(chunks).split("\n")
    first_long = next((n for n, line in enumerate(lines, 1) if len(line) > 5), None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "LONGEST_LINE", 5)
        portions = arriving_lines(Chunks([chunk.encode() for chunk in chunks]), "x")
        if first_long is None:
            found = [line for portion in portions for line in portion]
            assert found == lines[: len(found)]
        else:
            with pytest.raises(CorpusError, match="longer than 5 bytes") as caught:
                list(portions)
            assert caught.value.line == first_long


def test_what_never_ends_is_read_up_to_the_limit() -> None:
    taken = 0

    class Zeros:
        def read1(self, size: int, /) -> bytes:
            nonlocal taken
            taken += size
            return bytes(size)

    with pytest.raises(CorpusError, match="x:1: the line is longer than"):
        list(arriving_lines(Zeros(), "x"))
    assert taken <= files.LONGEST_LINE + 2 * PORTION_BYTES


@pytest.mark.parametrize("n_threads", [1, 2])
def test_no_more_is_read_than_is_needed(pipeline: str, n_threads: int) -> None:
    taken = 0

    def portions() -> Iterator[list[str]]:
        nonlocal taken
        for taken in count(1):  # noqa: B007
            yield ["老师和学生一起去公园！"] * 1000

    nlp = load_pipeline(pipeline)
    find = partial(word_lines, separator=" ", tags=False)
    blocks = in_blocks(find, nlp, portions(), n_threads)
    for _ in range(3):
        assert next(blocks)[0] == "老师 和 学生 一起 去 公园 ！\n"
    blocks.close()
    # Each thread has two portions of 100,000 characters waiting.
    assert taken <= (3 if n_threads == 1 else 60)


def test_endless_texts(characters: str) -> None:
    assert next(found_words(load_pipeline(characters), repeat("好了"))) == ["好", "了"]


# ---- errors ----


@pytest.mark.parametrize("threads", [1, 2])
def test_bytes_of_another_encoding(
    tmp_path: Path, pipeline: str, fails: Fails, threads: int
) -> None:
    source, output = tmp_path / "text.txt", tmp_path / "words.txt"
    source.write_bytes("老师\n".encode() * 3 + b"ab\xff\n")
    output.write_bytes(b"old")
    message = fails("segment", pipeline, source, "-o", output, "-t", threads)
    assert message.startswith(f"{source}:4: byte 0xff at byte offset 2 of the line is not utf-8")
    assert "--encoding" in message
    assert output.read_bytes() == b"old"
    assert {path.name for path in tmp_path.iterdir()} == {"text.txt", "words.txt"}


def test_other_faults(tmp_path: Path, pipeline: str, untrained: str, fails: Fails) -> None:
    source = tmp_path / "text.txt.gz"
    source.write_bytes(gzip.compress(b"text")[:-4])
    assert "damaged or truncated" in fails("segment", pipeline, source)
    assert fails("segment", pipeline, stdin=b"\xff").startswith("<stdin>:1: byte 0xff")
    message = fails("segment", pipeline, "-", "--encoding", "utf-7", stdin=b"a\n+2AA-\n")
    assert message.startswith("<stdin>:2: lone surrogate U+D800 at offset 0")
    assert "has not been trained" in fails("segment", untrained, stdin="好\n".encode())
    assert "meta.json" in fails("segment", tmp_path)
    message = fails("segment", pipeline, "--separator", "\n")
    assert "the separator has a line break in it" in message


# ---- for real ----


@posix
def test_lines_are_answered_as_they_arrive(pipeline: str) -> None:
    with subprocess.Popen(
        [executable(), *SEGMENT, pipeline], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in ("老师去公园", "", "学生看书"):
            process.stdin.write((line + "\n").encode())
            process.stdin.flush()
            assert select.select([process.stdout], [], [], PATIENCE)[0], "no answer"
            assert process.stdout.readline() == predicted(pipeline, line)
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(PATIENCE) == 0


@posix
@pytest.mark.parametrize("to_terminal", [False, True])
def test_progress_is_shown_beside_the_output_only(
    tmp_path: Path, pipeline: str, to_terminal: bool
) -> None:
    source = tmp_path / "text.txt"
    source.write_text("老师去公园\n", "utf-8")
    fcntl, pty, termios = map(import_module, ("fcntl", "pty", "termios"))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    stdout: Any = theirs if to_terminal else subprocess.PIPE
    with subprocess.Popen(
        [executable(), *SEGMENT, pipeline, source],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        shown = b"".join(iter(lambda: read_terminal(ours), b""))
        piped = process.stdout.read() if process.stdout else b""
        assert process.wait(PATIENCE) == 0
    os.close(ours)
    words = predicted(pipeline, "老师去公园")
    if to_terminal:
        assert shown.replace(b"\r\n", b"\n") == words
    else:
        assert piped == words
        assert b"segment: 1 lines" in shown


def read_terminal(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # Linux says so when the other end is closed.
        return b""
