"""Folders that appear whole, whenever the process that writes them is killed; locks."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spacy_structreg.corpora import folders
from spacy_structreg.corpora.files import _mark, check_writable, replace_text
from spacy_structreg.corpora.folders import folder_beside, locked, put_in_place

# Writes a folder of two files that say the same, and dies before its system call of that number.
DYING = """
import os, signal, sys
from pathlib import Path
from spacy_structreg.corpora import folders
target, content, calls = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
if sys.argv[4] == "no exchange":
    folders._exchange = lambda one, other: False
def audit(event, arguments):
    global calls
    if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.listdir"):
        calls -= 1
        if calls == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(audit)
with folders.folder_beside(target) as folder:
    new = folder / "whole"
    new.mkdir()
    for name in "ab":
        (new / name).write_text(content)
    folders.put_in_place(new, target)
"""


def write(target: Path, content: str, n_calls: int = 0, way: str = "exchange") -> int:
    """Write a folder in a process, which dies at a call; returns how it has ended."""
    arguments = [str(target), content, str(n_calls), way]
    return subprocess.run([sys.executable, "-S", "-c", DYING, *arguments], check=False).returncode


@pytest.mark.slow
@pytest.mark.parametrize("way", ["exchange", "no exchange"])
def test_a_process_that_is_killed_leaves_the_old_folder_or_the_new_one(
    tmp_path: Path, way: str
) -> None:
    target = tmp_path / "target"
    assert write(target, "first") == 0
    found = set()
    for n_calls in range(1, 100):
        ended = write(target, "second", n_calls, way)
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
        if way == "exchange" or target.exists():
            found.add(tuple(path.read_text("utf-8") for path in sorted(target.iterdir())))
        # What comes next finds the way, and leaves nothing.
        with folder_beside(target) as folder:
            assert [path.name for path in folder.iterdir()] == [".lock"]
        assert sorted(path.name for path in tmp_path.iterdir()) == ["target"]
        found.add(tuple(path.read_text("utf-8") for path in sorted(target.iterdir())))
        assert write(target, "first") == 0
    else:
        pytest.fail("the process does not end")
    assert found == {("first", "first"), ("second", "second")}


def test_a_lock_is_held_once(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "folder"
    with locked(folder):
        with (
            pytest.raises(BlockingIOError, match="another process is writing here") as caught,
            locked(folder),
        ):
            raise AssertionError("it was held twice")
        assert caught.value.filename == str(folder)
        (folder / "mine").touch()
    assert [path.name for path in folder.iterdir()] == ["mine"]
    (folder / "mine").unlink()
    # A file that nobody holds.
    (folder / ".lock").touch()
    with locked(folder):
        assert folder.exists()
    assert not folder.exists()


def test_where_files_cannot_be_locked_work_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **options: object) -> bool:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(folders, "lock_stream", refuse)
    monkeypatch.setattr("spacy_structreg.corpora.files.lock_stream", refuse)
    with folder_beside(tmp_path / "a") as folder:
        (folder / "new").mkdir()
        put_in_place(folder / "new", tmp_path / "a")
    with replace_text(tmp_path / "b") as stream:
        stream.write("b")
    # Nobody knows whether it is still written.
    left = tmp_path / "left"
    kept = left.with_name(f".{_mark(left)}00000000.tmp")
    kept.touch()
    check_writable(left)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["a", "b", kept.name])


def test_what_a_killed_process_has_left_of_a_file_goes(tmp_path: Path) -> None:
    """But not what is being written, nor what belongs to another file."""
    target, other = tmp_path / "target", tmp_path / "other"
    with replace_text(other) as of_other, replace_text(target) as stream:
        stream.write("whole")
        of_other.write("whole")
        for path in (target, other):
            path.with_name(f".{_mark(path)}00000000.tmp").touch()
        check_writable(target)
        assert len(list(tmp_path.iterdir())) == 3
    assert target.read_text("utf-8") == other.read_text("utf-8") == "whole"
    left = other.with_name(f".{_mark(other)}00000000.tmp")
    assert sorted(tmp_path.iterdir()) == sorted([target, other, left])
    check_writable(other)
    assert sorted(tmp_path.iterdir()) == sorted([target, other])
