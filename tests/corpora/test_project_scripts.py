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
ABSTRACTS = PROJECTS / "bio_ner/scripts/abstracts.py"
CHARACTERS = PROJECTS / "chinese_ner/scripts/characters.py"
UNPACK_TEXT = PROJECTS / "conll2002_ner/scripts/unpack.py"
GENRES = PROJECTS / "pos_across_genres/scripts/genres.py"
TEXTS = PROJECTS / "text_classification/scripts/texts.py"
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


class TestAbstracts:
    TRAIN = "###MEDLINE:{}\n\nbeta\tO\ncell {}\tB-X\n\n"

    def part(self, tmp_path: Path, train: str, ids: str) -> tuple[int, str]:
        (tmp_path / "train").write_text(train, "utf-8")
        (tmp_path / "ids").write_text(ids, "utf-8")
        return run(
            ABSTRACTS, *(tmp_path / name for name in ("train", "ids", "new/rest", "new/dev"))
        )

    def test_abstracts_are_parted(self, tmp_path: Path) -> None:
        train = "".join(self.TRAIN.format(i, i) for i in (11, 12, 1, 13))
        assert self.part(tmp_path, train, "13\n12\n") == (0, "")
        rest, dev = ((tmp_path / "new" / name).read_text("utf-8") for name in ("rest", "dev"))
        assert rest == "".join(self.TRAIN.format(i, i) for i in (11, 1))
        assert dev == "".join(self.TRAIN.format(i, i) for i in (12, 13))

    @pytest.mark.parametrize(
        ("train", "ids", "fault"),
        [
            (TRAIN.format(1, 1), "2\n", "such as 2; take files of one release"),
            (TRAIN.format(1, 1), "1\n", "names all abstracts"),
            (TRAIN.format(1, 1), "\n", "or none"),
            (2 * TRAIN.format(1, 1), "1\n", "train:6: the abstract 1 occurs twice"),
            ("beta\tO\n", "1\n", "train:1: there is no line with ###MEDLINE: before it"),
        ],
    )
    def test_faults(self, train: str, ids: str, fault: str, tmp_path: Path) -> None:
        code, errors = self.part(tmp_path, train, ids)
        assert code == 1
        assert fault in errors
        assert not [*tmp_path.glob("new/*")]

    def test_of_the_corpus(self, data_folder: Path, tmp_path: Path) -> None:
        source = data_folder / "jnlpba"
        train = source / "train.approx.iob2.xz"
        assert run(ABSTRACTS, train, source / "devel.ids", tmp_path / "a", tmp_path / "b")[0] == 0
        lines = [(tmp_path / name).read_text("utf-8").splitlines() for name in "ab"]
        counts = [sum(line.startswith("###MEDLINE:") for line in each) for each in lines]
        assert counts == [1800, 200]
        with lzma.open(train, "rt", encoding="utf-8") as stream:
            assert sum(map(len, lines)) == sum(1 for _ in stream)


class TestCharacters:
    def test_digits_are_taken_off(self, tmp_path: Path) -> None:
        source, target = tmp_path / "a", tmp_path / "new/b"
        source.write_text("张0\tB-PER\n张1\tI-PER\n\n20\tO\n#0\tO\n", "utf-8")
        assert run(CHARACTERS, source, target) == (0, "")
        assert target.read_text("utf-8") == "张\tB-PER\n张\tI-PER\n\n2\tO\n#\tO\n\n"

    @pytest.mark.parametrize("cell", ["张", "5", "张二"])
    def test_without_a_digit(self, cell: str, tmp_path: Path) -> None:
        source, target = tmp_path / "a", tmp_path / "b"
        source.write_text(f"{cell}\tO\n", "utf-8")
        code, errors = run(CHARACTERS, source, target)
        assert (code, target.exists()) == (1, False)
        assert "is no character with a digit behind it" in errors


class TestUnpackText:
    def test_in_another_encoding(self, tmp_path: Path) -> None:
        archive = tmp_path / "a.zip"
        files = (f"c/esp={tmp_path / 'new/esp'}", "--encoding", "iso-8859-1")
        assert run(UNPACK_TEXT, archive, *files) == (0, "")
        with zipfile.ZipFile(archive, "w") as opened:
            opened.writestr("c/esp", "Señor NC B-PER\n".encode("iso-8859-1"))
        assert run(UNPACK_TEXT, archive, *files) == (0, "")
        assert (tmp_path / "new/esp").read_text("utf-8") == "Señor NC B-PER\n"
        for wrong in (
            (f"c/ned={tmp_path / 'ned'}",),
            (f"c/esp={tmp_path / 'ned'}",),
            (f"c/esp={tmp_path / 'ned'}", "--encoding", "none"),
        ):
            code, errors = run(UNPACK_TEXT, archive, *wrong)
            assert code == 1
            assert "not the archive of the corpus" in errors
        assert not (tmp_path / "ned").exists()

    @pytest.mark.parametrize("data", [b"", b"PK\x03\x04" + bytes(50), b"<html>"])
    def test_what_is_no_archive(self, data: bytes, tmp_path: Path) -> None:
        archive = tmp_path / "a.zip"
        archive.write_bytes(data)
        code, errors = run(UNPACK_TEXT, archive, f"x={tmp_path / 'y'}")
        assert code == 1
        assert "not the archive of the corpus" in errors


class TestGenres:
    def test_sentences_of_some_genres(self, treebank: Path, tmp_path: Path) -> None:
        parts = [treebank / f"en_ewt-ud-{part}.conllu" for part in ("test", "dev")]
        target = tmp_path / "new/some.conllu"
        assert run(GENRES, target, "reviews,weblog", *parts) == (0, "")
        found = [s.sent_id for s in read_conllu(target)]
        assert sorted(map(str, found)) == ["reviews-0", "reviews-2", "weblog-0", "weblog-2"]
        code, errors = run(GENRES, target, "blogs", *parts)
        assert (code, "'blogs' is no genre" in errors) == (2, True)
        write_conllu(parts[0], [sentence("weblog-1")])
        code, errors = run(GENRES, tmp_path / "x", "weblog,email", parts[0])
        assert (code, "no sentence of the genre email" in errors) == (1, True)

    def test_as_texts(self, tmp_path: Path) -> None:
        source, target = tmp_path / "a.conllu", tmp_path / "new/a.tsv"
        text = Sentence(
            (Word("Two"), Word("boats", misc="SpaceAfter=No"), Word(".")),
            comments=("# sent_id = email-enron-1",),
        )
        spaced = Sentence(
            (Word("One"),), comments=("# sent_id = weblog-1", "# text =  One \xa0 boat ")
        )
        write_conllu(source, [text, spaced])
        assert run(TEXTS, source, target) == (0, "")
        assert target.read_text("utf-8") == "Two boats.\temail\nOne boat\tweblog\n"
        write_conllu(source, [sentence("novel-1")])
        code, errors = run(TEXTS, source, tmp_path / "b.tsv")
        assert (code, "'novel-1'" in errors) == (1, True)
