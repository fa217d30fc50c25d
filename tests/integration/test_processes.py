"""``nlp.pipe(n_process=2)``, however the processes are started."""

from __future__ import annotations

import json
import multiprocessing
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from pipeline.made_up import DEV, TEXTS, untrained

SCRIPT = Path(__file__).with_name("processes.py")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "change"),
    [
        ("fork", "none"),
        # What is sent to a process is the same for spawn and forkserver.
        *product(["spawn"], ["trained", "removed", "untrained"]),
    ],
)
def test_two_processes_segment_as_one_does(
    method: str, change: str, model_best: Path, tmp_path: Path
) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot start processes by {method}")
    folder = tmp_path / "pipeline"
    if change == "untrained":
        untrained().to_disk(folder)
    else:
        shutil.copytree(model_best, folder)
    done = subprocess.run(
        [sys.executable, str(SCRIPT), method, str(folder), change],
        input=json.dumps(TEXTS),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["equal"]
    assert result["texts"]
    assert result["processes"] == 2
    assert not result["here"]
    if change in ("none", "removed"):
        assert result["words"] == DEV
    else:
        assert result["words"] != DEV
