"""The Makefile and `.ci/run`: what they call, what they show, and what if something fails."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from lowest_versions import lowest_versions

ROOT = Path(__file__).parent.parent
CI = ROOT / ".ci" / "run"

pytestmark = pytest.mark.skipif(
    shutil.which("make") is None or not (ROOT / "Makefile").exists(), reason="needs make"
)

PASSED_ON = ("MAKEFLAGS", "MAKEOVERRIDES", "PYTEST_ARGS", "PROCESSES", "PYTHON")

# In place of the environment's Python: says what pip and setup.py say.
PIP = """\
#!/bin/sh
echo "$@" >>"$0.calls"
case "$*" in *pip*) ;; *) echo "used"; exit 0;; esac
echo "Using pip 25.0"
echo "  Collecting Cython>=3.1"
echo "[ 1/2] Cythonizing spacy_structreg/search/agenda.pyx"
echo "  [1/2] compiling search/agenda"
echo "Installing collected packages: Cython, and all the others"
echo "gcc: noise" >&2
exit {status}
"""


def make(
    target: str, folder: Path, status: int = 0, done: Sequence[str] = (".environment",)
) -> subprocess.CompletedProcess[str]:
    """Make a target with an environment whose pip ends with a status, and with stamps of `done`."""
    environment = folder / "venv"
    (environment / "bin").mkdir(parents=True)
    python = environment / "bin" / "python"
    python.write_text(PIP.format(status=status), "utf-8")
    python.chmod(0o755)
    for stamp in done:
        (environment / stamp).touch()
    return subprocess.run(
        ["make", "--no-print-directory", target, f"VENV={environment}"],
        cwd=ROOT,
        # What a make that runs these tests was asked for is none of its business.
        env={name: value for name, value in os.environ.items() if name not in PASSED_ON},
        capture_output=True,
        text=True,
        check=False,
    )


def calls(folder: Path) -> list[str]:
    """The arguments of each call of the environment's Python."""
    return (folder / "venv" / "bin" / "python.calls").read_text("utf-8").splitlines()


def test_setting_up_shows_what_is_fetched_and_compiled(tmp_path: Path) -> None:
    done = make("quickstart", tmp_path)
    assert done.returncode == 0, done.stderr
    announced, *shown, running, _, used = done.stdout.splitlines()
    assert "some two minutes on two cores" in announced
    assert running == "Running all steps of projects/quickstart"
    assert [line.strip() for line in shown] == [
        "Collecting Cython>=3.1",
        "[ 1/2] Cythonizing spacy_structreg/search/agenda.pyx",
        "[1/2] compiling search/agenda",
        "Installing collected packages",
    ]
    assert used == "used"
    assert "noise" not in done.stderr
    assert calls(tmp_path) == [
        "-m pip install --verbose --editable .[pipeline,serve]",
        "-m spacy project run all projects/quickstart",
    ]


@pytest.mark.parametrize(
    ("target", "last"),
    [
        ("run", "projects/quickstart/scripts/show.py .* projects/quickstart/assets/.* --limit 2"),
        ("page", "-m spacy structreg serve projects/quickstart/training/pipeline/model --open"),
    ],
)
def test_a_pipeline_is_built_and_shown(target: str, last: str, tmp_path: Path) -> None:
    done = make(target, tmp_path)
    assert done.returncode == 0, done.stderr
    assert ("make page opens the page" in done.stdout) == (target == "run")
    _, build, shown = calls(tmp_path)
    assert build == "projects/quickstart/scripts/build.py projects/quickstart"
    assert re.fullmatch(last, shown)


def test_the_lowest_versions_have_an_environment_of_their_own(tmp_path: Path) -> None:
    lowest = tmp_path / "venv-lowest"
    (lowest / "bin").mkdir(parents=True)
    (lowest / "bin" / "python").write_text(PIP.format(status=0), "utf-8")
    (lowest / "bin" / "python").chmod(0o755)
    (lowest / ".environment").touch()
    done = make("test-lowest", tmp_path)
    assert done.returncode == 0, done.stderr
    constraints, install, tests = (lowest / "bin" / "python.calls").read_text("utf-8").splitlines()
    assert constraints == "tests/lowest_versions.py test serve"
    assert install == "-m pip install --verbose --editable .[test,serve]"
    assert tests.endswith(" -m not slow --hypothesis-profile=fast")


def test_lowest_versions_are_those_of_the_metadata(tmp_path: Path) -> None:
    found = list(lowest_versions(["serve"]))
    assert {"spacy==3.8.13", "uvicorn==0.30", "h11==0.14"} < set(found)
    assert not any("pyarrow" in each for each in found)
    for requirement in ("spacy", "spacy<4"):
        setup = tmp_path / "setup.cfg"
        setup.write_text(
            f"[options]\ninstall_requires =\n    {requirement}\n[options.extras_require]\n", "utf-8"
        )
        with pytest.raises(ValueError, match="has no lower bound"):
            list(lowest_versions([], setup))


def test_setting_up_that_fails_says_all_and_goes_no_further(tmp_path: Path) -> None:
    done = make("quickstart", tmp_path, status=1)
    assert done.returncode != 0
    assert "gcc: noise" in done.stderr
    assert "used" not in done.stdout
    assert not (tmp_path / "venv" / ".package").exists()


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("test", "--no-loadscope-reorder"),
        ("test-fast", "-m not slow --hypothesis-profile=fast"),
        ("test-thorough", "--hypothesis-profile=thorough"),
    ],
)
def test_suites_differ_in_what_they_select(target: str, options: str, tmp_path: Path) -> None:
    done = make(target, tmp_path, done=(".environment", ".develop", ".built"))
    assert done.returncode == 0, done.stderr
    (call,) = calls(tmp_path)
    assert call.startswith("-m pytest --numprocesses auto --dist loadfile")
    assert call.endswith(f" {options}")


@pytest.mark.skipif(not CI.exists(), reason="no part of the sdist")
@pytest.mark.parametrize(
    ("failing", "parts"), [("none", ["build", "check", "test"]), ("check", ["build", "check"])]
)
def test_continuous_integration_says_how_long_its_parts_took(
    failing: str, parts: list[str], tmp_path: Path
) -> None:
    script, fake = tmp_path / ".ci" / "run", tmp_path / "make"
    script.parent.mkdir()
    shutil.copy(CI, script)
    fake.write_text(f'#!/bin/sh\n[ "$1" != {failing} ]\n', "utf-8")
    fake.chmod(0o755)
    done = subprocess.run(
        [script],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) == (failing == "none")
    assert re.findall(r"^ *\d+ min \d\d s  make (\S+)$", done.stdout, re.MULTILINE) == parts
