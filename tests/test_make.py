"""The Makefile: what is shown while it sets up, and what if that fails."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.skipif(
    shutil.which("make") is None or not (ROOT / "Makefile").exists(), reason="needs make"
)

# In place of the environment's Python: says what pip and setup.py say.
PIP = """\
#!/bin/sh
echo "$@" >>"$0.calls"
case "$*" in *pip*) ;; *) echo "used"; exit 0;; esac
echo "Using pip 25.0"
echo "  Collecting Cython>=3.1"
echo "[ 1/2] Cythonizing spacy_structreg/search/agenda.pyx"
echo "  [1/2] compiling search/agenda"
echo "gcc: noise" >&2
exit {status}
"""


def quickstart(folder: Path, status: int) -> subprocess.CompletedProcess[str]:
    """`make quickstart` with an environment whose pip ends with a status."""
    environment = folder / "venv"
    (environment / "bin").mkdir(parents=True)
    python = environment / "bin" / "python"
    python.write_text(PIP.format(status=status), "utf-8")
    python.chmod(0o755)
    (environment / ".environment").touch()
    return subprocess.run(
        ["make", "--no-print-directory", "quickstart", f"VENV={environment}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_setting_up_shows_what_is_fetched_and_compiled(tmp_path: Path) -> None:
    done = quickstart(tmp_path, 0)
    assert done.returncode == 0, done.stderr
    announced, *shown, _, used = done.stdout.splitlines()
    assert "some three minutes on two cores" in announced
    assert [line.strip() for line in shown] == [
        "Collecting Cython>=3.1",
        "[ 1/2] Cythonizing spacy_structreg/search/agenda.pyx",
        "[1/2] compiling search/agenda",
    ]
    assert used == "used"
    assert "noise" not in done.stderr
    calls = (tmp_path / "venv" / "bin" / "python.calls").read_text("utf-8").splitlines()
    assert calls == [
        "-m pip install --verbose --editable .",
        "-m spacy project run all projects/quickstart",
    ]


def test_setting_up_that_fails_says_all_and_goes_no_further(tmp_path: Path) -> None:
    done = quickstart(tmp_path, 1)
    assert done.returncode != 0
    assert "gcc: noise" in done.stderr
    assert "used" not in done.stdout
    assert not (tmp_path / "venv" / ".package").exists()
