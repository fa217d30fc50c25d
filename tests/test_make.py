"""The Makefile and `.ci/run`: what they call, what they show, and what if something fails."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from configparser import ConfigParser
from pathlib import Path

import pytest
from lowest_versions import lowest_versions

ROOT = Path(__file__).parent.parent
CI = ROOT / ".ci" / "run"

pytestmark = pytest.mark.skipif(
    shutil.which("make") is None or not (ROOT / "Makefile").exists(), reason="needs make"
)

PASSED_ON = ("MAKEFLAGS", "MAKEOVERRIDES", "PYTEST_ARGS", "PROCESSES", "PYTHON")

# In place of the environment's Python: says what pip and setup.py say. One command fails.
PIP = """\
#!/bin/sh
printf '%s\\n' "$*" >>"$0.calls"
case "$*" in
*--requirement*)
    echo "Using pip 25.0"
    echo "  Collecting Cython>=3.1"
    echo "Installing collected packages: Cython, and all the others";;
*build_ext*)
    echo "[ 1/2] Cythonizing spacy_structreg/search/agenda.pyx"
    echo "  [1/2] compiling search/agenda";;
-c*) exec {python} "$@";;
*pip*) ;;
*) echo "used"; exit 0;;
esac
echo "gcc: noise" >&2
case "$*" in *"{failing}"*) exit 1;; esac
"""
COMPILERS = "-m pip install --verbose setuptools>=77.0.3 Cython>=3.1.1"
SET_UP = [
    "-m pip install --verbose --no-deps --no-build-isolation --editable .",
    "-m pip install --verbose --no-compile --requirement {folder}/needed.txt",
    "-m spacy structreg --help",
    COMPILERS,
    "setup.py build_ext --inplace",
]


def fake_environment(folder: Path, failing: str = "none") -> Path:
    """An environment of which a command with some words fails."""
    (folder / "bin").mkdir(parents=True)
    python = folder / "bin" / "python"
    python.write_text(PIP.format(python=sys.executable, failing=failing), "utf-8")
    python.chmod(0o755)
    return folder


def make(
    target: str, folder: Path, failing: str = "none", done: Sequence[str] = (".environment",)
) -> subprocess.CompletedProcess[str]:
    """Make a target with an environment of which a command fails, and with stamps of `done`."""
    environment = fake_environment(folder / "venv", failing)
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


def calls(environment: Path) -> list[str]:
    """The arguments of each call of the environment's Python but its set-up, which was whole."""
    lines = (environment / "bin" / "python.calls").read_text("utf-8").splitlines()
    set_up = [line.format(folder=environment) for line in SET_UP]
    assert sorted(set(lines) & set(set_up)) == sorted(set_up)
    return [line for line in lines if line not in set_up and not line.startswith("-c ")]


def test_setting_up_shows_what_is_fetched_and_compiled(tmp_path: Path) -> None:
    done = make("quickstart", tmp_path)
    assert done.returncode == 0, done.stderr
    announced, *shown, running, _, used = done.stdout.splitlines()
    assert "some two minutes on two cores" in announced
    assert running == "Running all steps of projects/quickstart"
    # It is compiled while the rest is fetched.
    assert sorted(line.strip() for line in shown) == [
        "Collecting Cython>=3.1",
        "Installing collected packages",
        "[ 1/2] Cythonizing spacy_structreg/search/agenda.pyx",
        "[1/2] compiling search/agenda",
    ]
    assert used == "used"
    assert "noise" not in done.stderr
    assert calls(tmp_path / "venv") == ["-m spacy project run all projects/quickstart"]
    needed = (tmp_path / "venv/needed.txt").read_text("utf-8").split()
    config = ConfigParser()
    config.read(ROOT / "setup.cfg", "utf-8")
    extras = config["options.extras_require"]
    lists = [config["options"]["install_requires"], extras["pipeline"], extras["serve"]]
    assert needed == [word for each in lists for word in each.split()]


def test_what_compiles_is_what_the_build_requires() -> None:
    tomllib = pytest.importorskip("tomllib")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert settings["build-system"]["requires"] == COMPILERS.split()[4:]


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
    build, shown = calls(tmp_path / "venv")
    assert build == "projects/quickstart/scripts/build.py projects/quickstart"
    assert re.fullmatch(last, shown)


def test_the_lowest_versions_have_an_environment_of_their_own(tmp_path: Path) -> None:
    lowest = fake_environment(tmp_path / "venv-lowest")
    (lowest / ".environment").touch()
    done = make("test-lowest", tmp_path)
    assert done.returncode == 0, done.stderr
    constraints, tests = calls(lowest)
    assert constraints == "tests/lowest_versions.py test serve"
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


@pytest.mark.parametrize("failing", ["Cython", "--requirement", "build_ext", "--editable"])
def test_setting_up_that_fails_says_all_and_goes_no_further(failing: str, tmp_path: Path) -> None:
    done = make("quickstart", tmp_path, failing)
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
    (call,) = (tmp_path / "venv/bin/python.calls").read_text("utf-8").splitlines()
    assert re.match(r"-m pytest --numprocesses [0-9]+ --dist loadfile", call)
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
