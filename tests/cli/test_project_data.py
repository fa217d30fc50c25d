"""The scripts `copy_data`, `unpack` and `select_sentences`, which prepare files of corpora."""

from __future__ import annotations

import gzip
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from copy_data import copy_data
from select_sentences import rest_of_treebank, select
from unpack import unpack

from spacy_structreg.cli.commands import as_command
from spacy_structreg.corpora.formats.conllu import TreebankSentence, Word, read_conllu, write_conllu

Runs = Callable[..., str]
Fails = Callable[..., str]
GENRES = ("weblog", "email", "newsgroup", "answers", "reviews")


@pytest.fixture
def app() -> typer.Typer:
    """The scripts as commands."""
    scripts = typer.Typer()
    for script in (copy_data, unpack, select):
        scripts.command()(as_command(script))
    return scripts


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder, without a folder of corpora."""
    monkeypatch.delenv("STRUCTREG_DATA", raising=False)
    monkeypatch.chdir(tmp_path)


class TestCopyData:
    def test_files_are_copied_and_decompressed(
        self, tmp_path: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        data = tmp_path / "data"
        (data / "x").mkdir(parents=True)
        (data / "x/a.txt").write_bytes(b"a")
        (data / "x/b.txt.xz").write_bytes(lzma.compress(b"b"))
        (data / "x/c.txt.gz").write_bytes(gzip.compress(b"c"))
        Path("d.txt").write_bytes(b"old")
        files = [f"x/{name}.txt=deep/{name}.txt" for name in "abc"] + ["x/d.txt=d.txt"]
        printed = runs("copy-data", *files, "--data", data)
        assert printed.splitlines() == [
            *(f"deep/{name}.txt: x/{name}.txt of {data}" for name in "abc"),
            "d.txt: as it is",
        ]
        assert [Path(f"deep/{name}.txt").read_bytes() for name in "abc"] == [b"a", b"b", b"c"]
        # What is not in the folder stays as it is; a change in the folder is followed.
        assert Path("d.txt").read_bytes() == b"old"
        (data / "x/d.txt").write_bytes(b"new")
        monkeypatch.setenv("STRUCTREG_DATA", str(data))
        runs("copy-data", *files)
        assert Path("d.txt").read_bytes() == b"new"
        # Without a folder, all stay.
        monkeypatch.delenv("STRUCTREG_DATA")
        assert runs("copy-data", *files).count(": as it is\n") == 4

    def test_files_of_installed_packages_are_copied(
        self,
        tmp_path: Path,
        runs: Runs,
        fails: Fails,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        package = tmp_path / "site" / "made_up_words"
        package.mkdir(parents=True)
        # It is not imported.
        (package / "__init__.py").write_text("raise ValueError", "utf-8")
        (package / "dict.txt").write_bytes(b"word\n")
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        file = "made_up_words:dict.txt=words.txt"
        assert runs("copy-data", file) == "words.txt: made_up_words:dict.txt\n"
        assert Path("words.txt").read_bytes() == b"word\n"
        assert "install the package none_such" in fails("copy-data", "none_such:a.txt=a.txt")
        assert "install the package made_up_words" in fails(
            "copy-data", "made_up_words:none.txt=none.txt"
        )
        assert "install the package ../site" in fails("copy-data", "../site:a.txt=a.txt")
        assert not Path("a.txt").exists()

    def test_sources_of_one_target_are_joined_or_none_is_copied(
        self, tmp_path: Path, runs: Runs, fails: Fails
    ) -> None:
        Path("b").write_bytes(b"b\n")
        Path("a.xz").write_bytes(lzma.compress(b"a\n"))
        files = ["b=new/c", "a=new/c"]
        assert runs("copy-data", *files, "-d", tmp_path) == f"new/c: b, a of {tmp_path}\n"
        assert Path("new/c").read_bytes() == b"b\na\n"
        Path("a.xz").unlink()
        assert runs("copy-data", *files, "-d", tmp_path) == "new/c: as it is\n"
        Path("new/c").unlink()
        assert runs("copy-data", *files, "-d", tmp_path, "--missing-ok") == ""
        assert "has b, a" in fails("copy-data", *files, "-d", tmp_path)
        assert not Path("new/c").exists()

    def test_all_that_is_missing_is_named(self, fails: Fails) -> None:
        said = fails("copy-data", "x=a/x", "y=a/y", "z=a/z")
        assert said.startswith("a/x, like a/y, a/z, is missing: run 'python -m spacy project asset")
        assert said.endswith("or set STRUCTREG_DATA to a folder that has x")
        assert not Path("a").exists()

    def test_what_is_damaged_leaves_what_there_is(self, tmp_path: Path, fails: Fails) -> None:
        for suffix, data in ((".xz", lzma.compress(b"a" * 1000)), (".gz", gzip.compress(b"a"))):
            Path("a.txt" + suffix).write_bytes(data[:-5])
            Path("b.txt").write_bytes(b"old")
            said = fails("copy-data", "a.txt=b.txt", "--data", tmp_path)
            assert f"a.txt{suffix}: the compressed data is damaged or truncated" in said
            assert Path("b.txt").read_bytes() == b"old"
            Path("a.txt" + suffix).unlink()

    def test_a_file_is_not_copied_onto_itself(self, tmp_path: Path, fails: Fails) -> None:
        Path("a").write_bytes(b"a")
        assert "a is an input" in fails("copy-data", "a=a", "--data", tmp_path)


class TestUnpack:
    def test_members_are_written_as_they_are(self, runs: Runs) -> None:
        with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as opened:
            opened.writestr("c/x", b"\xff\r\n")
            opened.writestr("c/y", b"y")
        printed = runs("unpack", "a.zip", "c/x=new/x", "c/y=y")
        assert printed == "new/x: c/x of a.zip\ny: c/y of a.zip\n"
        assert (Path("new/x").read_bytes(), Path("y").read_bytes()) == (b"\xff\r\n", b"y")

    def test_members_of_a_pattern_are_joined_in_the_order_of_names(
        self, runs: Runs, fails: Fails
    ) -> None:
        with zipfile.ZipFile("a.zip", "w") as opened:
            for number in (10, 2, 1):
                opened.writestr(f"t/c[1]/wsj_{number:04}.mrg", f"{number}\n")
            opened.writestr("t/c[1]/README", "no trees")
            opened.writestr("t/c1/wsj_0001.mrg", "no trees")
        printed = runs("unpack", "a.zip", "*/c[1]/wsj_????.mrg=b")
        assert printed == "b: 3 files of a.zip\n"
        assert Path("b").read_text("utf-8") == "1\n2\n10\n"
        assert "there is no *.prd in it, but t/c1/wsj_0001.mrg, t/c[1]/README" in fails(
            "unpack", "a.zip", "*.prd=c"
        )

    def test_another_encoding(self, runs: Runs, fails: Fails) -> None:
        text = "Señor NC B-PER\r\n" * 10_000
        with zipfile.ZipFile("a.zip", "w") as opened:
            opened.writestr("c/esp", text.encode("iso-8859-1"))
            opened.writestr("c/han", ("中" * 100_000).encode("gb18030"))
        runs("unpack", "a.zip", "c/esp=esp", "-e", "iso-8859-1")
        assert Path("esp").read_bytes().decode() == text
        # A character may begin in one block and end in the next.
        runs("unpack", "a.zip", "c/han=han", "-e", "gb18030")
        assert Path("han").read_text("utf-8") == "中" * 100_000
        assert "a.zip/c/esp: not in utf-8" in fails("unpack", "a.zip", "c/esp=x", "-e", "utf-8")
        for encoding in ("none", "hex", "utf-16"):
            assert "is not an encoding" in fails("unpack", "a.zip", "c/esp=x", "-e", encoding)
        assert not Path("x").exists()

    def test_archives_and_members_that_are_none(
        self, fails: Fails, runs: Runs, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert fails("unpack", "a.zip", "x=y") == "a.zip: No such file or directory"
        assert runs("unpack", "a.zip", "x=y", "--missing-ok") == ""
        Path("y").write_bytes(b"old")
        for data in (b"", b"PK\x03\x04" + bytes(50), b"<html>"):
            Path("a.zip").write_bytes(data)
            assert "a.zip: not a readable zip archive" in fails("unpack", "a.zip", "x=y")
        with zipfile.ZipFile("a.zip", "w") as opened:
            opened.writestr("x", "wholly other bytes")
        Path("b.zip").write_bytes(Path("a.zip").read_bytes().replace(b"wholly", b"partly"))
        assert "b.zip/x: the member cannot be unpacked" in fails("unpack", "b.zip", "x=y")
        monkeypatch.setattr("unpack.LARGEST", 17)
        assert "a.zip/x: 18 bytes are more than the 17" in fails("unpack", "a.zip", "x=y")
        assert Path("y").read_bytes() == b"old"


def write_treebank(path: str, *identities: str | None) -> None:
    write_conllu(path, map(sentence, identities))


def identities(path: str) -> list[str | None]:
    return [sentence.sent_id for sentence in read_conllu(path)]


class TestSelect:
    def test_sentences_by_the_beginning_of_their_names(self, runs: Runs, fails: Fails) -> None:
        write_treebank("a.conllu", "weblog-1", "email-1", None)
        write_treebank("b.conllu", "reviews-1", "weblog-0", "web-1")
        runs("select", "b.conllu", "a.conllu", "new/c.conllu", "--sent-id", "weblog-,email-")
        assert identities("new/c.conllu") == ["weblog-0", "weblog-1", "email-1"]
        said = fails("select", "a.conllu", "d.conllu", "--sent-id", "weblog-,reviews-,answers-")
        assert said == "no sentence of a.conllu has a sent_id that begins with 'answers-'"
        assert "has an empty part" in fails("select", "a.conllu", "d.conllu", "--sent-id", "a,")
        assert not Path("d.conllu").exists()

    def test_the_rest_of_a_treebank(self, runs: Runs, fails: Fails) -> None:
        write_treebank("all.conllu", *(f"{name}-{i}" for name in GENRES for i in range(3)))
        for number, part in ((0, "dev"), (2, "test")):
            write_treebank(f"{part}.conllu", *(f"{name}-{number}" for name in GENRES))
        exclude = ("--exclude", "dev.conllu", "--exclude", "test.conllu")
        printed = runs("select", "all.conllu", "train.conllu", *exclude)
        assert printed == "train.conllu: 5 sentences\n"
        assert identities("train.conllu") == [f"{name}-1" for name in GENRES]
        runs("select", "all.conllu", "some.conllu", *exclude, "--sent-id", "email-")
        assert identities("some.conllu") == ["email-1"]
        assert "no sentence is left" in fails("select", "dev.conllu", "x.conllu", *exclude[:2])
        # Parts of another release.
        write_treebank("dev.conllu", "weblog-9")
        assert "'weblog-9'" in fails("select", "all.conllu", "x.conllu", *exclude)
        assert not Path("x.conllu").exists()

    def test_inputs_and_outputs(self, runs: Runs, fails: Fails) -> None:
        write_treebank("a.conllu", "1")
        given = ("select", "a.conllu", "b.conllu", "c.conllu")
        assert fails(*given) == "b.conllu: No such file or directory"
        assert runs(*given, "--missing-ok") == ""
        assert not Path("c.conllu").exists()
        write_treebank("b.conllu", "2")
        assert "b.conllu is an input" in fails("select", "a.conllu", "b.conllu", "-x", "b.conllu")

    @pytest.mark.parametrize(
        ("treebank", "held_out", "fault"),
        [
            (["a", None], [], "a sentence has no sent_id: 'a'"),
            (["a"], [None], "a sentence has no sent_id"),
            (["a", "a"], [], "the sent_id 'a' occurs twice"),
            (["a"], ["a", "a"], "the sent_id 'a' occurs twice"),
            (["a"], ["b", "c"], "2 sentences that are held out are not in the treebank.* 'b'"),
        ],
    )
    def test_rests_that_are_none(
        self, treebank: list[str | None], held_out: list[str | None], fault: str
    ) -> None:
        with pytest.raises(ValueError, match=fault):
            list(rest_of_treebank(map(sentence, treebank), map(sentence, held_out)))


def sentence(identity: str | None) -> TreebankSentence:
    comments = () if identity is None else (f"# sent_id = {identity}",)
    return TreebankSentence((Word("a", xpos="NN"),), comments=comments)
