"""Model files of the segmenter: equal through every way, refused when damaged or crafted."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from colliding_keys import colliding
from crafted import (
    Arrays,
    entry,
    put,
    tampered,
)
from looped import looped

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


def adaptive_rows(arrays: Arrays, starts: list[int], columns: list[int]) -> None:
    """Give the table of characters four rows of cells instead of rows of columns."""
    kind = arrays["1.values"].dtype
    arrays["1.keys"] = np.array([ord(c) for c in "大学活生"], dtype=np.uint64)
    arrays["1.keys"].sort()
    arrays["1.starts"] = np.array(starts, dtype=np.int64)
    arrays["1.columns"] = np.array(columns, dtype=np.uint16)
    arrays["1.values"] = np.ones(len(columns), dtype=kind)
    arrays["1.occurrences"] = np.zeros(4, dtype=arrays["1.occurrences"].dtype)
    if "1.sums" in arrays:
        arrays["1.sums"] = np.ones(len(columns))
        arrays["1.stamps"] = np.zeros(4, dtype=np.int64)


CELLS = {
    "start beyond 0": ([1, 1, 2, 3, 4], [0, 1, 2, 3]),
    "too few starts": ([0, 1, 2, 4], [0, 1, 2, 3]),
    "too many starts": ([0, 1, 2, 3, 4, 4], [0, 1, 2, 3]),
    "no starts": ([], [0, 1, 2, 3]),
    "falling": ([0, 3, 2, 3, 4], [0, 1, 2, 3]),
    "too long": ([0, 1, 2, 3, 5], [0, 1, 2, 3]),
    "too short": ([0, 1, 2, 3, 3], [0, 1, 2, 3]),
    "negative": ([0, -1, 2, 3, 4], [0, 1, 2, 3]),
    "differences that wrap around": ([0, 2**63 - 1, -(2**63), -1, 0], []),
    "far beyond": ([0, 2**62, 2**62, 2**62, 4], [0, 1, 2, 3]),
    "a column too many": ([0, 1, 2, 3, 4], [0, 1, 2, 4]),
    "a column far beyond": ([0, 1, 2, 3, 4], [0, 1, 2, 65535]),
    "a column twice": ([0, 2, 2, 3, 4], [1, 1, 2, 3]),
}


@pytest.fixture(scope="module")
def refusals(files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is said of the files of broken cells, read in a process of their own.

    What was believed could be read outside of all arrays; of files from such a one on, nothing
    is said.
    """
    folder = tmp_path_factory.mktemp("cells")
    for state, data in files.items():
        for name, cells in CELLS.items():
            broken = tampered(data, lambda _, arrays, cells=cells: adaptive_rows(arrays, *cells))
            (folder / f"{name}, {state}").write_bytes(broken)
    program = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "from pathlib import Path\n"
        "from spacy_structreg.models.segmentation "
        "import CharacterSegmenter\n"
        f"for path in Path({str(folder)!r}).iterdir():\n"
        "    try:\n"
        "        CharacterSegmenter.load(path).predict('大学生活' * 100)\n"
        "    except ValueError as error:\n"
        "        print(path.name, error, sep='|', flush=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", program],
        capture_output=True, encoding="utf-8", timeout=60, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    return dict(line.split("|") for line in done.stdout.splitlines())


class TestCrafted:
    """Files whose checksums are right and whose contents are wrong."""

    @pytest.fixture(autouse=True)
    def no_unpickling(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*args: object, **kwargs: object) -> None:
            raise AssertionError("something was unpickled")

        monkeypatch.setattr(pickle, "loads", fail)
        monkeypatch.setattr(pickle, "load", fail)
        monkeypatch.setattr(np, "load", fail)

    @pytest.mark.parametrize("state", ["trained", "training"])
    def test_sound_cells(self, state: str, files: dict[str, bytes]) -> None:
        """What the broken cells below are variations of."""
        # Only in training there may be rows that have not been changed yet.
        starts = [0, 1, 2, 3 if state == "trained" else 2, 4]
        data = tampered(files[state], lambda _, arrays: adaptive_rows(arrays, starts, [0, 1, 2, 3]))
        assert "".join(CharacterSegmenter.from_bytes(data).predict("大学生活")) == "大学生活"

    @looped("state", ["trained", "training"])
    @looped("cells", CELLS)
    def test_cells(self, state: str, cells: str, refusals: dict[str, str]) -> None:
        name = f"{cells}, {state}"
        path, _ = refusals[name].split(": ", 1)
        assert Path(path).name == name

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

    @pytest.mark.parametrize("state", ["trained", "training"])
    def test_keys_that_collide(self, state: str, files: dict[str, bytes]) -> None:
        """Keys made for one slot of the hash table of `learn.rows`, whatever its size."""
        n = 8_000

        def change(_: object, arrays: Arrays) -> None:
            arrays["1.keys"] = colliding(n)
            for name in ("1.values", "1.sums", "1.stamps", "1.occurrences"):
                if name in arrays:
                    shape = (n, *arrays[name].shape[1:])
                    arrays[name] = np.zeros(shape, dtype=arrays[name].dtype)

        assert "collide" in refused(tampered(files[state], change))
