"""The scripts by which projects make the parts of their corpora."""

from __future__ import annotations

import lzma
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_structreg.corpora.conllu import Sentence, Word, read_conllu, write_conllu
from spacy_structreg.corpora.splits import EWT_GENRES, fold_bounds, genre

PROJECTS = Path(__file__).parents[2] / "projects"
TREEBANK = PROJECTS / "ud_english/scripts/treebank.py"
SAMPLE = PROJECTS / "ptb_sample/scripts/sample.py"
UNPACK = PROJECTS / "sinica/scripts/unpack.py"
VARIABLE = "STRUCTREG_DATA"


def run(script: Path, *arguments: object, data: Path | None = None) -> tuple[int, str]:
    """Run a script; its return code, and what it said of errors."""
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    environment["PYTHONUTF8"] = "1"
    if data is not None:
        environment[VARIABLE] = str(data)
    result = subprocess.run(
        [sys.executable, str(script), *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )
    assert "Traceback" not in result.stderr
    return result.returncode, result.stderr


def sentence(identity: str) -> Sentence:
    return Sentence((Word(identity, xpos="NN"),), comments=(f"# sent_id = {identity}",))


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    """A folder with three sentences of each genre: one to train, one of dev, one of test."""
    folder = tmp_path / "data/ewt"
    folder.mkdir(parents=True)
    for name in EWT_GENRES:
        path = folder / f"en_ewt-{name}.conllu.xz"
        write_conllu(path, [sentence(f"{name}-{number}") for number in range(3)])
    for part, number in (("dev", 0), ("test", 2)):
        path = folder / f"en_ewt-ud-{part}.conllu"
        write_conllu(path, [sentence(f"{name}-{number}") for name in EWT_GENRES])
    return folder


class TestEnglishTreebank:
    def test_the_training_set_is_the_rest(self, treebank: Path, tmp_path: Path) -> None:
        target = tmp_path / "assets/train.conllu"
        assert run(TREEBANK, "train", "ewt", target, data=treebank.parent) == (0, "")
        assert [s.sent_id for s in read_conllu(target)] == [f"{name}-1" for name in EWT_GENRES]

    def test_nothing_is_done_without_the_genres(self, treebank: Path, tmp_path: Path) -> None:
        target = tmp_path / "train.conllu"
        (treebank / "en_ewt-ud-train.conllu").touch()
        assert run(TREEBANK, "train", "ewt", target, data=treebank.parent) == (0, "")
        (treebank / "en_ewt-ud-train.conllu").unlink()
        (treebank / "en_ewt-email.conllu.xz").unlink()
        assert run(TREEBANK, "train", "ewt", target, data=treebank.parent) == (0, "")
        assert run(TREEBANK, "train", "ewt", target) == (0, "")
        assert not target.exists()

    def test_parts_of_another_release(self, treebank: Path, tmp_path: Path) -> None:
        target = tmp_path / "train.conllu"
        write_conllu(treebank / "en_ewt-ud-dev.conllu", [sentence("weblog-9")])
        code, errors = run(TREEBANK, "train", "ewt", target, data=treebank.parent)
        assert (code, "'weblog-9'" in errors, target.exists()) == (1, True, False)

    def test_genres(self, treebank: Path, tmp_path: Path) -> None:
        path, folder = treebank / "en_ewt-ud-test.conllu", tmp_path / "made/test"
        assert run(TREEBANK, "genres", path, folder) == (0, "")
        for name in EWT_GENRES:
            assert [s.sent_id for s in read_conllu(folder / f"{name}.conllu")] == [f"{name}-2"]
        one = tmp_path / "one.conllu"
        write_conllu(one, [sentence("weblog-1")])
        code, errors = run(TREEBANK, "genres", one, tmp_path / "other")
        assert code == 1
        assert "one.conllu: no sentence of the genre email" in errors

    def test_of_the_corpus(self, data_folder: Path, tmp_path: Path) -> None:
        target = tmp_path / "train.conllu"
        assert run(TREEBANK, "train", "ud-english-ewt", target, data=data_folder) == (0, "")
        kept = list(read_conllu(target))
        assert len(kept) == 12_544
        assert sum(genre(s) == "email" for s in kept) == 3770


class TestPennSample:
    TREES = r"( (S (NP-SBJ (NNP Ann) (-LRB- -LRB-)) (VP (VBZ eats) (CD {}\/2))) )" + "\n"

    def test_joined_in_the_order_of_names(self, tmp_path: Path) -> None:
        archive, target = tmp_path / "treebank.zip", tmp_path / "assets/combined.mrg"
        assert run(SAMPLE, "join", archive, target) == (0, "")
        assert not target.exists()
        with zipfile.ZipFile(archive, "w") as opened:
            for number in (10, 2, 1):
                opened.writestr(f"treebank/combined/wsj_{number:04}.mrg", self.TREES.format(number))
            opened.writestr("treebank/combined/README", "no trees")
            opened.writestr("treebank/parsed/wsj_0001.prd", "no trees")
        assert run(SAMPLE, "join", archive, target) == (0, "")
        assert target.read_text("utf-8") == "".join(map(self.TREES.format, (1, 2, 10)))

    @pytest.mark.parametrize("data", [b"", b"PK\x03\x04" + bytes(50), b"<html>"])
    def test_what_is_no_archive(self, data: bytes, tmp_path: Path) -> None:
        archive, target = tmp_path / "treebank.zip", tmp_path / "combined.mrg"
        archive.write_bytes(data)
        code, errors = run(SAMPLE, "join", archive, target)
        assert (code, "get it again" in errors, target.exists()) == (1, True, False)
        with zipfile.ZipFile(archive, "w") as opened:
            opened.writestr("other/wsj_0001.mrg", self.TREES)
        assert run(SAMPLE, "join", archive, target)[0] == 1
        assert not target.exists()

    @pytest.mark.parametrize(("fold", "test", "dev"), [(1, 0, 9), (2, 1, 0), (10, 9, 8)])
    def test_folds(self, fold: int, test: int, dev: int, tmp_path: Path) -> None:
        trees, folder = tmp_path / "combined.mrg.xz", tmp_path / "corpus"
        trees.write_bytes(lzma.compress("".join(map(self.TREES.format, range(23))).encode()))
        assert run(SAMPLE, "fold", trees, folder, fold) == (0, "")
        parts = {
            part: list(DocBin().from_disk(folder / f"{part}.spacy").get_docs(Vocab()))
            for part in ("train", "dev", "test")
        }
        doc = parts["test"][0]
        assert [(token.text, token.tag_) for token in doc[:3]] == [
            *(("Ann", "NNP"), ("(", "-LRB-"), ("eats", "VBZ"))
        ]
        assert [token.head.i for token in doc] == [2, 0, 2, 2]
        assert [(span.label_, span.start, span.end) for span in doc.spans["constituents"]] == [
            *(("S", 0, 4), ("NP", 0, 2), ("VP", 2, 4))
        ]
        assert list(doc.spans["constituents"].attrs["heads"]) == [2, 0, 2]
        # The last word of a sentence is its number, halved.
        numbers = {
            part: [int(doc[-1].text.removesuffix("/2")) for doc in docs]
            for part, docs in parts.items()
        }
        bounds = fold_bounds(23)
        assert numbers["test"] == list(range(*bounds[test]))
        assert numbers["dev"] == list(range(*bounds[dev]))
        assert sorted(numbers["train"] + numbers["dev"] + numbers["test"]) == list(range(23))

    def test_a_fold_that_there_is_not(self, tmp_path: Path) -> None:
        code, errors = run(SAMPLE, "fold", tmp_path / "combined.mrg", tmp_path / "corpus", 11)
        assert code == 1
        assert "folds are numbered from 1 to 10" in errors


class TestSinicaSample:
    TREES = "#1[1] S(Head:VA:來)#。\n"

    def test_unpacked(self, tmp_path: Path) -> None:
        archive, target = tmp_path / "treebank.zip", tmp_path / "assets/parsed"
        assert run(UNPACK, archive, target) == (0, "")
        assert not target.exists()
        with zipfile.ZipFile(archive, "w") as opened:
            opened.writestr("sinica_treebank/raw", "no trees")
            opened.writestr("sinica_treebank/parsed", self.TREES)
        assert run(UNPACK, archive, target) == (0, "")
        assert target.read_text("utf-8") == self.TREES

    @pytest.mark.parametrize("data", [b"", b"PK\x03\x04" + bytes(50), b"<html>"])
    def test_what_is_no_archive(self, data: bytes, tmp_path: Path) -> None:
        archive, target = tmp_path / "treebank.zip", tmp_path / "parsed"
        archive.write_bytes(data)
        code, errors = run(UNPACK, archive, target)
        assert (code, "get it again" in errors, target.exists()) == (1, True, False)
        with zipfile.ZipFile(archive, "w") as opened:
            opened.writestr("other", self.TREES)
        assert run(UNPACK, archive, target)[0] == 1
        assert not target.exists()
