"""Model files of the segmenter: mapped, written to while in use, and with crafted trainings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from crafted import (
    entry,
    put,
    tampered,
)

from spacy_structreg.models.segmentation import CharacterSegmenter

TEXT = "今天天气很好，学生在图书馆看书。大学生活！"


@pytest.fixture(scope="module")
def files(small: CharacterSegmenter) -> dict[str, bytes]:
    """A small model in both states."""
    running = CharacterSegmenter.from_bytes(small.to_bytes()).partial_fit([["大学", "生", "活"]])
    return {"trained": small.to_bytes(), "training": running.to_bytes(state="training")}


def refused(data: bytes) -> str:
    with pytest.raises(ValueError, match=r"^some\.srm: ") as caught:
        CharacterSegmenter.from_bytes(data, name="some.srm")
    return str(caught.value)


class TestMapped:
    def test_weights_lie_in_the_file(self, fitted: CharacterSegmenter, tmp_path: Path) -> None:
        maps = Path("/proc/self/maps")
        if not maps.exists():
            pytest.skip("the system does not list the files that a process has mapped")
        path = tmp_path / "mapped.srm"
        fitted.save(path)
        segmenter = CharacterSegmenter.load(path)
        # Small files are copied.
        assert str(path) not in maps.read_text()
        segmenter = CharacterSegmenter.load(path, mapped=True)
        assert segmenter.predict(TEXT) == fitted.predict(TEXT)
        assert str(path) in maps.read_text()
        segmenter.save(path)
        # Copied before the file was replaced, and the map given up.
        assert str(path) not in maps.read_text()
        assert segmenter.predict(TEXT) == fitted.predict(TEXT)

    @pytest.mark.parametrize("arguments", ["", ", mapped=True"])
    @pytest.mark.parametrize("size", [0, 200, -1], ids=["emptied", "cut", "a byte short"])
    def test_a_loaded_file_that_is_written_to(
        self, arguments: str, size: int, fitted: CharacterSegmenter, tmp_path: Path
    ) -> None:
        """In a process of its own, which the system might end."""
        path = tmp_path / "m.srm"
        fitted.save(path)
        if arguments and sys.platform == "win32":
            pytest.skip("no mapped file can be written to")
        code = f"""
import os, pathlib
from spacy_structreg.models.segmentation import CharacterSegmenter
path = pathlib.Path({str(path)!r})
segmenter = CharacterSegmenter.load(path{arguments})
before = segmenter.predict({TEXT!r})
path.write_bytes(path.read_bytes()[:{size}])
os.utime(path, ns=(1, 1))
try:
    print(segmenter.predict({TEXT!r}) == before, segmenter.to_bytes() != b"")
except ValueError as error:
    print(error)
"""
        done = subprocess.run(
            [sys.executable, "-c", code], check=False, capture_output=True, text=True
        )
        assert (done.returncode, done.stderr) == (0, "")
        if arguments:
            assert done.stdout.startswith(f"{path}: the file was written to while it was in use")
        else:
            assert done.stdout == "True True\n"

    def test_a_failed_save_changes_nothing(
        self, fitted: CharacterSegmenter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "m.srm"
        fitted.save(path)
        segmenter = CharacterSegmenter.load(path)

        def fail(*args: object) -> None:
            raise OSError("no space left")

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", fail)
            with pytest.raises(OSError, match="no space left"):
                segmenter.save(path)
        with pytest.raises(ValueError, match="no training is running"):
            segmenter.save(path, state="training")
        with pytest.raises(OSError, match="missing"):
            segmenter.save(tmp_path / "missing" / "m.srm")
        assert path.read_bytes() == fitted.to_bytes()
        assert segmenter.predict(TEXT) == fitted.predict(TEXT)
        assert list(tmp_path.iterdir()) == [path]


class TestCrafted:
    """Files whose checksums are right and whose contents are wrong."""

    def test_a_clock_at_its_end(self, files: dict[str, bytes]) -> None:
        """It is refused, or it can go on; a training may not write what cannot be read."""
        for clock in (2**63 - 1, 2**63 - 2, 2**53):
            data = tampered(files["training"], entry("clock", clock))
            try:
                segmenter = CharacterSegmenter.from_bytes(data, name="some.srm")
            except ValueError as error:
                assert str(error).startswith("some.srm: ")  # noqa: PT017
                continue
            segmenter.partial_fit([["大学", "生"], ["活"], ["大", "学生"]])
            again = CharacterSegmenter.from_bytes(segmenter.to_bytes(state="training"))
            assert again.predict("大学生活") == segmenter.predict("大学生活")

    def test_weights_beyond_single_precision(self, files: dict[str, bytes]) -> None:
        """A training of finite weights whose average is not: refused when it is read."""
        data = tampered(files["training"], put("1.values", np.float64(1e300)))
        refused(tampered(data, put("1.sums", np.float64(1e300))))
