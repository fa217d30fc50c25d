"""Model files of the segmenter: equal through every way, refused when damaged or crafted."""

from __future__ import annotations

import contextlib
import copy
import pickle
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from colliding_keys import colliding
from crafted import (
    NOT_LISTS,
    NOT_STRINGS,
    NOT_WHOLE,
    Arrays,
    array,
    entry,
    generator,
    put,
    setting,
)
from made_up_corpora import Change, arrays_of, tampered

from spacy_structreg.about import __version__
from spacy_structreg.estimators.segmentation.character_segmenter import CharacterSegmenter

Corpus = list[list[str]]
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


class TestEveryWay:
    def test_bytes_and_predictions_are_equal(
        self, fitted: CharacterSegmenter, dev: Corpus, tmp_path: Path
    ) -> None:
        data = fitted.to_bytes()
        texts = ["".join(words) for words in dev]
        fitted.save(tmp_path / "m.srm")
        assert (tmp_path / "m.srm").read_bytes() == data
        fitted.save(str(tmp_path / "n.srm"))
        for again in (
            CharacterSegmenter.load(tmp_path / "m.srm"),
            CharacterSegmenter.load(str(tmp_path / "n.srm")),
            CharacterSegmenter.load(tmp_path / "m.srm", verify=False),
            CharacterSegmenter.from_bytes(data),
            pickle.loads(pickle.dumps(fitted)),
            pickle.loads(pickle.dumps(CharacterSegmenter.load(tmp_path / "m.srm"))),
            copy.deepcopy(fitted),
        ):
            assert again.is_trained
            assert again.to_bytes() == data
            assert again.predict_batch(texts) == fitted.predict_batch(texts)
            assert again.nbest(TEXT, 5) == fitted.nbest(TEXT, 5)

    def test_settings_travel(self, train: Corpus) -> None:
        for settings in (
            {"types": None, "half_width": False},
            {"types": "g10", "skip_bigram": True, "sentences": "doc", "patience": 3, "seed": 5},
            {"templates": ["zhang2014", "c-2c+2"], "epochs": 1},
        ):
            segmenter = CharacterSegmenter(**settings).fit(train[:20])
            again = CharacterSegmenter.from_bytes(segmenter.to_bytes())
            for name in (*settings, "templates", "labels"):
                if name != "skip_bigram":
                    assert getattr(again, name) == getattr(segmenter, name)
            assert arrays_of(again.fit(train[:20])) == arrays_of(segmenter)

    def test_an_unknown_state_is_not_written(self, train: Corpus, tmp_path: Path) -> None:
        running = CharacterSegmenter().partial_fit(train)
        for state in ("compressed", "", None):
            with pytest.raises(ValueError, match="state"):
                running.save(tmp_path / "m.srm", state=state)  # type: ignore[arg-type]
        assert list(tmp_path.iterdir()) == []


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
from spacy_structreg.estimators.segmentation.character_segmenter import CharacterSegmenter
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

    def test_saving_over_the_loaded_file(self, fitted: CharacterSegmenter, tmp_path: Path) -> None:
        path = tmp_path / "m.srm"
        fitted.save(path)
        segmenter = CharacterSegmenter.load(path, mapped=True)
        for _ in range(3):
            segmenter.save(path)
            assert path.read_bytes() == fitted.to_bytes()
            assert segmenter.predict(TEXT) == fitted.predict(TEXT)
        assert list(tmp_path.iterdir()) == [path]
        assert CharacterSegmenter.load(path).to_bytes() == fitted.to_bytes()

    def test_two_on_one_file(
        self, fitted: CharacterSegmenter, train: Corpus, dev: Corpus, tmp_path: Path
    ) -> None:
        path = tmp_path / "m.srm"
        fitted.save(path)
        one, other = (CharacterSegmenter.load(path, mapped=True) for _ in range(2))
        one.partial_fit(dev)
        one.save(path)
        assert path.read_bytes() != fitted.to_bytes()
        one.save(path, state="training")
        assert other.to_bytes() == fitted.to_bytes()
        assert other.predict(TEXT) == fitted.predict(TEXT)
        path.unlink()
        assert other.predict(TEXT) == fitted.predict(TEXT)
        other.partial_fit(train)
        other.save(path)
        assert CharacterSegmenter.load(path).to_bytes() == other.to_bytes()

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


@pytest.mark.parametrize("state", ["trained", "training"])
class TestDamage:
    def test_every_prefix(self, state: str, files: dict[str, bytes], tmp_path: Path) -> None:
        path = tmp_path / "cut.srm"
        for length in range(len(files[state])):
            refused(files[state][:length])
            if length % 13 == 0:
                path.write_bytes(files[state][:length])
                with pytest.raises(ValueError, match=r"cut\.srm: "):
                    CharacterSegmenter.load(path)

    @pytest.mark.slow
    def test_every_flip(self, state: str, files: dict[str, bytes], tmp_path: Path) -> None:
        data = files[state]
        whole = CharacterSegmenter.from_bytes(data)
        path = tmp_path / "flipped.srm"
        loaded = 0
        for i in range(len(data)):
            for flip in (*(1 << bit for bit in range(8)), 0xFF):
                damaged = bytearray(data)
                damaged[i] ^= flip
                try:
                    again = CharacterSegmenter.from_bytes(bytes(damaged), name="some.srm")
                except ValueError as error:
                    assert str(error).startswith("some.srm: ")  # noqa: PT017
                    if flip == 1 << i % 8:
                        path.write_bytes(damaged)
                        with pytest.raises(ValueError, match=r"flipped\.srm: "):
                            CharacterSegmenter.load(path)
                    continue
                loaded += 1
                assert again.to_bytes(state=state) == whole.to_bytes(state=state)  # type: ignore[arg-type]
        assert 0 < loaded < 9 * len(data) / 2

    def test_appended_bytes(self, state: str, files: dict[str, bytes]) -> None:
        for more in (b"\0", bytes(64), files[state]):
            refused(files[state] + more)


BAD_IN_BOTH: dict[str, Change] = {
    "no settings": lambda header, _: header.pop("settings"),
    "no labels": lambda header, _: header.pop("labels"),
    "no columns": lambda header, _: header.pop("columns"),
    "no corpus": lambda header, _: header.pop("corpus"),
    "no state": lambda header, _: header.pop("state"),
    "no task": lambda header, _: header.pop("task"),
    "nothing": lambda header, _: header.clear(),
    **{f"task {v!r}": entry("task", v) for v in (*NOT_STRINGS, "", "tagger")},
    **{f"state {v!r}": entry("state", v) for v in (*NOT_STRINGS, "", "compressed")},
    **{f"settings {v!r}": entry("settings", v) for v in (*NOT_LISTS, [["epochs", 1]])},
    **{f"corpus {v!r}": entry("corpus", v) for v in NOT_STRINGS if v is not None},
    **{
        f"labels {v!r}": entry("labels", v)
        for v in (*NOT_LISTS, [], ["B"], ["S", "M", "E", "B"], [*"BEMS", "X"], [[], 1, None, "S"])
    },
    **{
        f"columns {v!r}": entry("columns", v)
        for v in (*NOT_LISTS, [], [16], [4, 16], [16, 4, 4], [16, -4], [16, 2**63], [16, None])
    },
    "another setting": setting("more", 1),
    "a setting is missing": lambda header, _: header["settings"].pop("seed"),
    **{f"epochs {v!r}": setting("epochs", v) for v in (*NOT_WHOLE, 0, None)},
    **{f"patience {v!r}": setting("patience", v) for v in (*NOT_WHOLE, 0)},
    **{f"seed {v!r}": setting("seed", v) for v in (*NOT_WHOLE, None)},
    **{f"types {v!r}": setting("types", v) for v in (*NOT_STRINGS[1:], "", "g11")},
    **{f"sentences {v!r}": setting("sentences", v) for v in (*NOT_STRINGS, "", "line")},
    **{f"half width {v!r}": setting("half_width", v) for v in (None, 0, 1, "yes", [], {})},
    **{
        f"templates {v!r}": setting("templates", v)
        for v in (
            *(None, 1, "c0 | t-1t0", b"c0", {}, [], [1], [None], [["c0"]], [b"c0"], ["c0"]),
            *(["c0", "c+1", "t-1t0"], ["c99999", "t-1t0"], ["w0"], ["c0" * 9], ["\0"]),
        )
    },
    **{
        f"no {name}": lambda _, arrays, name=name: arrays.pop(name)  # type: ignore[misc]
        for name in ("0.keys", "0.values", "1.keys", "1.values")
    },
    "no arrays": lambda _, arrays: arrays.clear(),
    **{
        f"{name!r} besides": lambda _, arrays, name=name: arrays.update({name: np.zeros(1)})  # type: ignore[misc]
        for name in ("2.keys", "-1.keys", "keys", "", ".", "1.", "1.more", "x.keys", "1.keys ",
                     "1.keys.1", "²", "9" * 5000 + ".keys", "1.starts")
    },
    **{
        f"{name!r} again": lambda _, arrays, name=name: arrays.update({name: arrays["1.keys"]})  # type: ignore[misc]
        for name in ("01.keys", "１.keys", "0000000001.keys")
    },
    "keys in two dimensions": array("1.keys", lambda a: a.reshape(-1, 1)),
    "values in one dimension": array("1.values", lambda a: a.reshape(-1)),
    "values turned": array("1.values", lambda a: a.T),
    "a key too many": array("1.keys", lambda a: np.append(a, a[-1:] + np.uint64(1))),
    "a key too few": array("1.keys", lambda a: a[:-1]),
    "wide": array("1.values", lambda a: np.hstack([a, a])),
    "narrow": array("1.values", lambda a: a[:, :2]),
    "signed keys": array("1.keys", lambda a: a.astype(np.int64)),
    "half of the columns' names": array("1.keys", lambda a: a.astype(np.uint16)),
    "a key twice": lambda _, arrays: put("1.keys", arrays["1.keys"][0], 1)(_, arrays),
    **{f"{v} as a weight": put("1.values", v, 2) for v in map(np.float64, ("nan", "inf", "-inf"))},
    "adaptive without the rest": lambda _, arrays: arrays.update(
        {"1.columns": np.zeros(arrays["1.values"].size, dtype=np.uint16)}
    ),
}  # fmt: skip


BAD_TRAINED: dict[str, Change] = {
    "falling keys": array("1.keys", lambda a: a[::-1]),
    "double values": array("1.values", lambda a: a.astype(np.float64)),
    "integral values": array("1.values", lambda a: a.astype(np.int64)),
    "a training, it says": entry("state", "training"),
}


BAD_TRAINING: dict[str, Change] = {
    "trained, it says": entry("state", "trained"),
    "no clock": lambda header, _: header.pop("clock"),
    "no generators": lambda header, _: header.pop("generators"),
    **{
        f"clock {v!r}": entry("clock", v) for v in (*NOT_WHOLE, None, 0, -(2**63), 2**63, 2**64 - 1)
    },
    **{f"generators {v!r}": entry("generators", v) for v in NOT_LISTS},
    "one generator": lambda header, _: header["generators"].pop(),
    "no generators in it": lambda header, _: header["generators"].clear(),
    **{f"kind {v!r}": generator("kind", v) for v in (*NOT_STRINGS, "", "MT19937")},
    **{
        f"{part} of the generator {v!r}": generator(part, v)
        for part in ("state", "inc")
        for v in (*NOT_STRINGS, "", "g", "-1", "f" * 33, "1" + "0" * 32, "f" * 5000)
    },
    **{f"uinteger {v!r}": generator("uinteger", v) for v in (*NOT_WHOLE, None, 2**32, 2**64 - 1)},
    **{f"has_uint32 {v!r}": generator("has_uint32", v) for v in (*NOT_WHOLE, None, 2, 2**40)},
    **{
        f"no {name}": lambda _, arrays, name=name: arrays.pop(name)  # type: ignore[misc]
        for name in ("1.stamps", "1.sums", "0.stamps")
    },
    "single values": array("1.values", lambda a: a.astype(np.float32)),
    "single sums": array("1.sums", lambda a: a.astype(np.float32)),
    "narrow sums": array("1.sums", lambda a: a[:, :2]),
    "floating counts": array("1.occurrences", lambda a: a.astype(np.float64)),
    "a count below 0": put("1.occurrences", np.int64(-1)),
    "floating times": array("1.stamps", lambda a: a.astype(np.float64)),
    "a time too few": array("1.stamps", lambda a: a[:-1]),
    "a time before the first": put("1.stamps", np.int64(-1)),
    "a time to come": put("1.stamps", np.int64(10**6)),
    "the last of all times": put("1.stamps", np.int64(2**63 - 1)),
    **{f"{v} as a sum": put("1.sums", v, 2) for v in map(np.float64, ("nan", "inf", "-inf"))},
    "adaptive tag bigram": lambda _, arrays: arrays.update(
        {
            "0.starts": np.array([0, 16], dtype=np.int64),
            "0.columns": np.arange(16, dtype=np.uint16),
            "0.values": arrays["0.values"].reshape(-1),
            "0.sums": arrays["0.sums"].reshape(-1),
        }
    ),
    "tag bigram under another key": put("0.keys", np.uint64(1)),
}


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
        "from spacy_structreg.estimators.segmentation.character_segmenter "
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


class TestOtherVersions:
    """Files of versions whose models have other settings."""

    @pytest.mark.parametrize("written_by", ["0.0.9", "17.2.0"])
    def test_an_error_names_the_version_that_wrote_a_file(
        self, files: dict[str, bytes], written_by: str
    ) -> None:
        def change(header: dict[str, Any], _: Arrays) -> None:
            header["version"] = written_by
            header["settings"]["made_up"] = 1

        message = refused(tampered(files["trained"], change))
        assert "made_up" in message
        assert f"written by spacy_structreg {written_by}, this is {__version__}" in message
        assert "use that version, or train again" in message

    def test_another_version_alone_is_no_fault(
        self, small: CharacterSegmenter, files: dict[str, bytes]
    ) -> None:
        data = tampered(files["trained"], entry("version", "0.0.9"))
        assert CharacterSegmenter.from_bytes(data).predict(TEXT) == small.predict(TEXT)

    @pytest.mark.parametrize("version", [__version__, None, 1, b"0.0.9", ["0.0.9"]])
    def test_a_fault_of_the_file_is_not_put_down_to_its_version(
        self, files: dict[str, bytes], version: object
    ) -> None:
        data = tampered(files["trained"], entry("version", version))
        message = refused(tampered(data, setting("made_up", 1)))
        assert "made_up" in message
        assert "written by" not in message


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
    def test_nothing_changed(self, state: Any, files: dict[str, bytes]) -> None:
        same = tampered(files[state], lambda header, arrays: None)
        assert same == files[state]
        assert CharacterSegmenter.from_bytes(same).to_bytes(state=state) == files[state]

    @pytest.mark.parametrize("state", ["trained", "training"])
    @pytest.mark.parametrize(
        "change", BAD_IN_BOTH.values(), ids=[name[:40] for name in BAD_IN_BOTH]
    )
    def test_both_states(self, state: str, change: Change, files: dict[str, bytes]) -> None:
        refused(tampered(files[state], change))

    @pytest.mark.parametrize("change", BAD_TRAINED.values(), ids=BAD_TRAINED)
    def test_trained(self, change: Change, files: dict[str, bytes]) -> None:
        refused(tampered(files["trained"], change))

    @pytest.mark.parametrize(
        "change", BAD_TRAINING.values(), ids=[name[:40] for name in BAD_TRAINING]
    )
    def test_training(self, change: Change, files: dict[str, bytes]) -> None:
        refused(tampered(files["training"], change))

    @pytest.mark.parametrize("state", ["trained", "training"])
    def test_sound_cells(self, state: str, files: dict[str, bytes]) -> None:
        """What the broken cells below are variations of."""
        # Only in training there may be rows that have not been changed yet.
        starts = [0, 1, 2, 3 if state == "trained" else 2, 4]
        data = tampered(files[state], lambda _, arrays: adaptive_rows(arrays, starts, [0, 1, 2, 3]))
        assert "".join(CharacterSegmenter.from_bytes(data).predict("大学生活")) == "大学生活"

    @pytest.mark.parametrize("state", ["trained", "training"])
    @pytest.mark.parametrize("cells", CELLS)
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

    def test_little_memory(self, files: dict[str, bytes]) -> None:
        """What a crafted file makes us allocate is in proportion to its size."""
        everything = {**BAD_IN_BOTH, **BAD_TRAINED}
        crafted = [tampered(files["trained"], change) for change in everything.values()]
        largest = max(map(len, crafted))
        tracemalloc.start()
        try:
            for data in crafted:
                with contextlib.suppress(ValueError):
                    CharacterSegmenter.from_bytes(data)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 1_000_000 + 20 * largest
