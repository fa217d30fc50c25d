"""The layout of SIGHAN 2005, as a folder and as an archive; hostile archives; real files."""

from __future__ import annotations

import dataclasses
import io
import lzma
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from sighan_release import SENTENCES, release_files, write_archive, write_release

from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.formats import sighan
from spacy_structreg.corpora.formats.sighan import (
    CORPORA,
    PARTS,
    find_sighan,
    list_sighan,
    training_vocabulary,
)


@pytest.fixture(params=["folder", "parent", "archive", "flat"])
def release(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The whole release in each of the forms that it may have."""
    if request.param == "archive":
        return write_archive(tmp_path / "icwb2-data.zip")
    if request.param == "flat":
        for name, content in release_files().items():
            (tmp_path / Path(name).name).write_bytes(content)
        return tmp_path
    root = write_release(tmp_path)
    return root if request.param == "folder" else tmp_path


def test_all_files_of_the_release_are_listed(release: Path) -> None:
    listed = list_sighan(release)
    assert [(file.corpus, file.part) for file in listed] == [
        (corpus, part) for corpus in CORPORA for part in PARTS
    ]
    assert {file.encoding for file in listed} == {"utf-8"}
    assert list_sighan(str(release), original=False) == listed


@looped("original", [None, True])
@looped("corpus", CORPORA)
def test_sentences_texts_and_words(release: Path, corpus: str, original: bool | None) -> None:
    training, test = SENTENCES[corpus]
    for part, sentences in [("training", training), ("test", test)]:
        file = find_sighan(release, corpus, part, original=original)
        assert file.encoding == ("utf-8" if original is None else file.encoding)
        assert list(file.sentences()) == sentences
    raw = find_sighan(release, corpus, "test_raw", original=original)
    assert list(raw.lines()) == [(i, "".join(words)) for i, words in enumerate(test, start=1)]
    assert training_vocabulary(release, corpus, original=original) == {
        word for sentence in training for word in sentence
    }


def test_original_encodings(tmp_path: Path) -> None:
    release = write_release(tmp_path)
    files = list_sighan(release, original=True)
    assert len(files) == 16
    assert {(file.corpus, file.encoding) for file in files} == {
        ("as", "cp950"),
        ("cityu", "big5hkscs"),
        ("msr", "gb18030"),
        ("pku", "gb18030"),
    }
    assert find_sighan(release, "as", "training", original=True).path.name == "as_training.b5"
    # They stand in for what is not there in UTF-8, unless they are not wanted.
    for path in release.rglob("pku*.utf8"):
        path.unlink()
    assert find_sighan(release, "pku", "test").path.name == "pku_test_gold.txt"
    assert find_sighan(release, "msr", "test").path.name == "msr_test_gold.utf8"
    with pytest.raises(ValueError, match=r"no gold/pku_test_gold\.utf8; name the folder icwb2"):
        find_sighan(release, "pku", "test", original=False)


def test_another_encoding_can_be_tried(tmp_path: Path) -> None:
    file = find_sighan(write_release(tmp_path), "cityu", "test", original=True)
    wrong = dataclasses.replace(file, encoding="cp950")
    with pytest.raises(CorpusError, match=r"cityu_test_gold.txt:1: byte 0x.* is not cp950"):
        list(wrong.sentences())
    assert list(file.sentences()) == SENTENCES["cityu"][1]


def test_compressed_files_and_parts_of_the_release(tmp_path: Path) -> None:
    files = release_files()
    (tmp_path / "as_test_gold.utf8.xz").write_bytes(
        lzma.compress(files["gold/as_testing_gold.utf8"])
    )
    (tmp_path / "notes.txt").write_text("nothing of it")
    (file,) = list_sighan(tmp_path)
    assert (file.corpus, file.part) == ("as", "test")
    assert list(file.sentences()) == SENTENCES["as"][1]
    assert list_sighan(tmp_path, original=True) == []


def test_the_folder_of_a_part_comes_before_others(tmp_path: Path) -> None:
    root = write_release(tmp_path)
    (root / "pku_test_gold.utf8").write_text("他 错 了\n", "utf-8")
    (root / "training/pku_test_gold.utf8").write_text("他 错 了\n", "utf-8")
    assert find_sighan(root, "pku", "test").path == root / "gold/pku_test_gold.utf8"


def test_vocabulary_without_a_word_list_is_that_of_the_training_set(tmp_path: Path) -> None:
    root = write_release(tmp_path)
    # The list may differ: a line is a word, whatever white space it holds.
    listing = root / "gold/cityu_training_words.utf8"
    listing.write_text("車站\n\nNew\u3000York\n \n去 \r\n", "utf-8")
    assert training_vocabulary(root, "cityu") == {"車站", "New\u3000York", "去"}
    listing.write_text("\n", "utf-8")
    with pytest.raises(ValueError, match=r"words\.utf8: the list of words is empty"):
        training_vocabulary(root, "cityu")
    for path in root.glob("gold/cityu_training_words.*"):
        path.unlink()
    assert training_vocabulary(root, "cityu") == {w for s in SENTENCES["cityu"][0] for w in s}
    for path in root.glob("training/cityu*"):
        path.unlink()
    with pytest.raises(ValueError, match="no gold/cityu_training_words"):
        training_vocabulary(root, "cityu")


@looped("form", ["folder", "archive"])
def test_faults_come_with_file_and_line(tmp_path: Path, form: str) -> None:
    files = release_files()
    files["training/pku_training.utf8"] = "他 来\n好 \0\n".encode()
    files["training/msr_training.utf8"] = ("他们昨天下午在学校门口等了很久。\n" * 20).encode()
    write = write_archive if form == "archive" else write_release
    source = write(tmp_path / form, files)
    sentences = find_sighan(source, "pku", "training").sentences()
    assert next(sentences) == ["他", "来"]
    with pytest.raises(CorpusError, match="NUL character") as caught:
        next(sentences)
    assert caught.value.line == 2
    assert Path(caught.value.file) == (
        source / ("icwb2-data" if form == "archive" else "") / "training/pku_training.utf8"
    )
    with pytest.raises(CorpusError, match=r"msr_training.utf8:1: the text is not segmented"):
        list(find_sighan(source, "msr", "training").sentences())


def test_names_that_are_none(tmp_path: Path) -> None:
    root = write_release(tmp_path)
    with pytest.raises(ValueError, match=r"'ctb' is no corpus .* as, cityu, msr, pku"):
        find_sighan(root, "ctb", "test")
    with pytest.raises(ValueError, match=r"'dev' is no part .* training, test, test_raw, train"):
        find_sighan(root, "pku", "dev")
    with pytest.raises(ValueError, match="'ctb' is no corpus"):
        training_vocabulary(root, "ctb")
    with pytest.raises(ValueError, match="test_raw is not segmented"):
        list(find_sighan(root, "pku", "test_raw").sentences())
    assert list_sighan(tmp_path / "icwb2-data/gold") != []
    assert list_sighan(Path(__file__).parent) == []
    with pytest.raises(FileNotFoundError):
        list_sighan(tmp_path / "missing")


GOLD = "icwb2-data/gold/pku_test_gold.utf8"


def packed(compression: int, text: str = "他 来 。\n") -> bytearray:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        archive.writestr(GOLD, text)
    return bytearray(stream.getvalue())


def with_lying_size() -> bytes:
    data = packed(zipfile.ZIP_DEFLATED, "他 来\n" * 1000)
    assert data.count((8000).to_bytes(4, "little")) == 2
    return data.replace((8000).to_bytes(4, "little"), (80).to_bytes(4, "little"))


def encrypted() -> bytes:
    data = packed(zipfile.ZIP_STORED)
    # Bit 0 of the flags, in the local header and in the directory.
    for signature, offset in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)]:
        data[data.index(signature) + offset] |= 1
    return data


def with_late_directory() -> bytes:
    """The directory claims to begin one byte later than it does."""
    data = packed(zipfile.ZIP_STORED)
    data[data.rindex(b"PK\x05\x06") + 16] += 1
    return data


class TestHostileArchives:
    def test_names_that_lead_outside_are_not_followed(self, tmp_path: Path) -> None:
        path = tmp_path / "inner" / "release.zip"
        path.parent.mkdir()
        with zipfile.ZipFile(path, "w") as archive:
            for name in ["../pku_test_gold.utf8", "/absolute/pku_training.utf8", "gold/../x", GOLD]:
                archive.writestr(name, "他 来\n")
        before = sorted(tmp_path.rglob("*"))
        (file,) = list_sighan(path)
        assert file.member == GOLD
        assert list(file.sentences()) == [["他", "来"]]
        assert sorted(tmp_path.rglob("*")) == before

    def test_huge_members_are_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "release.zip"
        path.write_bytes(packed(zipfile.ZIP_DEFLATED, "他 来\n" * 1000))
        file = find_sighan(path, "pku", "test")
        assert sum(1 for _ in file.sentences()) == 1000
        monkeypatch.setattr(sighan, "LARGEST_MEMBER", 7999)
        with pytest.raises(ValueError, match=f"{GOLD}: 8000 bytes are more than the 7999"):
            list(file.sentences())

    @looped(
        ("damage", "fault"),
        [
            (lambda: b"Rar!", "not a readable zip archive"),
            (lambda: packed(zipfile.ZIP_BZIP2), "compressed by another method than Deflate"),
            (with_lying_size, "the member cannot be unpacked"),
            (encrypted, "the member cannot be unpacked"),
            (with_late_directory, "the member cannot be unpacked"),
        ],
    )
    def test_what_cannot_be_unpacked(
        self, tmp_path: Path, damage: Callable[[], bytes], fault: str
    ) -> None:
        path = tmp_path / "release.zip"
        path.write_bytes(damage())
        with pytest.raises(ValueError, match=fault):
            list(find_sighan(path, "pku", "test").sentences())

    def test_an_archive_that_has_changed(self, tmp_path: Path) -> None:
        path = write_archive(tmp_path / "release.zip")
        file = find_sighan(path, "pku", "test")
        write_archive(path, {"README": b""})
        with pytest.raises(ValueError, match="no such member any more"):
            list(file.sentences())

    @quick_examples(300)
    @given(st.data())
    def test_any_damage_is_refused_or_harmless(self, data: st.DataObject) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "release.zip")
            content = packed(zipfile.ZIP_DEFLATED)
            for _ in range(data.draw(st.integers(1, 3))):
                at = data.draw(st.integers(0, len(content) - 1))
                content[at] = data.draw(st.integers(0, 255))
            path.write_bytes(content[: data.draw(st.integers(1, len(content)))])
            try:
                files = list_sighan(path)
                sentences = [list(file.sentences()) for file in files]
            except ValueError:
                return
            assert sentences in ([], [[["他", "来", "。"]]])


def test_reading_can_stop_early(tmp_path: Path) -> None:
    path = write_archive(tmp_path / "release.zip")
    sentences = find_sighan(path, "as", "training").sentences()
    assert next(sentences) == SENTENCES["as"][0][0]
    sentences.close()


class TestRealFiles:
    @looped(
        ("corpus", "n_vocabulary"),
        [("as", 141_338), ("cityu", 69_085), ("msr", 88_119), ("pku", 55_303)],
    )
    def test_vocabulary_and_raw_text(
        self, data_folder: Path, corpus: str, n_vocabulary: int
    ) -> None:
        source = data_folder / "sighan2005"
        assert len(training_vocabulary(source, corpus)) == n_vocabulary
        listed = [file.part for file in list_sighan(source) if file.corpus == corpus]
        if corpus == "pku":
            assert listed == ["training_words"]
            return
        test = list(find_sighan(source, corpus, "test").sentences())
        raw = [line for _, line in find_sighan(source, corpus, "test_raw").lines() if line.strip()]
        assert len(raw) == len(test)

    @pytest.mark.parametrize(
        ("corpus", "encoding"), [("as", "cp950"), ("cityu", "big5hkscs"), ("msr", "cp936")]
    )
    def test_original_encodings_hold_the_real_text(
        self, data_folder: Path, tmp_path: Path, corpus: str, encoding: str
    ) -> None:
        sentences = list(find_sighan(data_folder / "sighan2005", corpus, "test").sentences())
        text = "\n".join(" ".join(words) for words in sentences)
        if corpus == "cityu":
            # Big5-HKSCS has this one under another code point.
            assert text.count("\u2027") == 1
            text = text.replace("\u2027", "\u2022")
        (tmp_path / f"{corpus}_test_gold.txt").write_bytes(text.encode(encoding))
        file = find_sighan(tmp_path, corpus, "test")
        assert "\n".join(" ".join(words) for words in file.sentences()) == text
