"""Segmenters in other processes: by path where the file is still the one, else by bytes."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest
from child_pickles import for_a_child

from spacy_structreg.models.segmentation import CharacterSegmenter

Corpus = list[list[str]]
TEXTS = ["今天天气很好，学生在图书馆看书。", "", "大学 生活\n他们去海边！"]


@pytest.fixture
def path(fitted: CharacterSegmenter, tmp_path: Path) -> Path:
    fitted.save(tmp_path / "spawned.srm")
    return tmp_path / "spawned.srm"


@pytest.fixture
def loaded(path: Path) -> CharacterSegmenter:
    return CharacterSegmenter.load(path, mapped=True)


@pytest.fixture(scope="module")
def another(dev: Corpus) -> CharacterSegmenter:
    return CharacterSegmenter(epochs=1).fit(dev)


class TestPickledForAChild:
    """The same without processes, so that the moment between pickling and loading can be held."""

    def test_a_relative_path(
        self,
        path: Path,
        fitted: CharacterSegmenter,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.chdir(tmp_path)
        segmenter = CharacterSegmenter.load(path.name)
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        pickled = for_a_child(segmenter)
        assert len(pickled) < 1_000
        assert pickle.loads(pickled).to_bytes() == fitted.to_bytes()

    def test_a_link_that_was_turned(
        self, path: Path, another: CharacterSegmenter, tmp_path: Path
    ) -> None:
        link = tmp_path / "link.srm"
        link.symlink_to(path)
        segmenter = CharacterSegmenter.load(link)
        expected = segmenter.to_bytes()
        another.save(tmp_path / "another.srm")
        link.unlink()
        link.symlink_to(tmp_path / "another.srm")
        assert pickle.loads(for_a_child(segmenter)).to_bytes() == expected

    def test_a_file_of_the_same_length_and_time(
        self, path: Path, loaded: CharacterSegmenter, train: Corpus
    ) -> None:
        """Not the looks of a file decide, but its checksum."""
        expected = loaded.to_bytes()
        before = path.stat()
        twin = CharacterSegmenter(epochs=3).fit(train)
        twin.corpus_checksum = "0" * 64
        twin.save(path)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert path.stat().st_size == before.st_size
        assert pickle.loads(for_a_child(loaded)).to_bytes() == expected

    @pytest.mark.parametrize("file", ["another", "damaged", "gone"])
    def test_between_pickling_and_loading(
        self,
        file: str,
        path: Path,
        loaded: CharacterSegmenter,
        another: CharacterSegmenter,
    ) -> None:
        """Too late for the bytes: the child says so and predicts nothing wrong."""
        pickled = for_a_child(loaded)
        if file == "another":
            another.save(path)
            with pytest.raises(ValueError, match=r"spawned\.srm: the model file changed"):
                pickle.loads(pickled)
        elif file == "damaged":
            path.rename(path.with_suffix(".old"))
            data = bytearray(path.with_suffix(".old").read_bytes())
            data[-1] ^= 1
            path.write_bytes(data)
            with pytest.raises(ValueError, match=r"spawned\.srm: .*damaged"):
                pickle.loads(pickled)
        else:
            path.unlink()
            with pytest.raises(FileNotFoundError, match=r"spawned\.srm"):
                pickle.loads(pickled)

    def test_saved_in_training(self, path: Path, train: Corpus) -> None:
        """A loaded training is not mapped; it travels as the trained weights it has."""
        running = CharacterSegmenter().partial_fit(train)
        running.save(path, state="training")
        resumed = CharacterSegmenter.load(path)
        path.unlink()
        again = pickle.loads(for_a_child(resumed))
        assert again.predict_batch(TEXTS) == running.predict_batch(TEXTS)
