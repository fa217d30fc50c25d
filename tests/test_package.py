"""What is delivered: stubs that match the compiled modules, an sdist, and a wheel built from it.

And the workflows that build and test them elsewhere.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from configparser import ConfigParser
from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import srsly

import spacy_structreg

PACKAGE = Path(spacy_structreg.__file__).parent
ROOT = Path(__file__).parent.parent

COMPILED = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in sorted(PACKAGE.rglob("*.pyx"))
]

PYTHONS = re.findall(
    r"^ *Programming Language :: Python :: (3\.\d+)$",
    (ROOT / "setup.cfg").read_text("utf-8"),
    re.MULTILINE,
)

# Made of no source of ours: what Cython compiles into every module otherwise.
SHARED = "spacy_structreg._cyutility"


def test_modules_that_are_not_compiled_are_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    """As in a fresh clone; what does not exist at all is missing as ever."""
    copied = tmp_path / "spacy_structreg"
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        return done.stderr.splitlines()[-1]

    advice = r"the extension modules .* are not compiled .*: run 'make build' in the clone"
    imported = "from spacy_structreg.models.segmentation import character_segmenter"
    assert re.match(f"ImportError: {advice}", run("-c", imported))
    convert = run("-m", "spacy", "structreg", "convert", "words.txt", "out.spacy")
    assert re.search(advice, convert)
    assert run("-c", "import spacy_structreg.nothing").startswith("ModuleNotFoundError: No module")


# ---- stubs ----


def test_stubs_are_what_the_tool_writes(tmp_path: Path) -> None:
    stubs = pytest.importorskip("stubs", reason="stubs need the developers' tools")
    written = {path.relative_to(tmp_path): path for path in stubs.write_stubs(tmp_path)}
    assert {path.relative_to(ROOT) for path in PACKAGE.rglob("*.pyi")} == written.keys()
    for name, path in written.items():
        assert path.read_text("utf-8") == (ROOT / name).read_text("utf-8"), "run make stubs"


def test_stubs_keep_types_that_c_does_not_say(tmp_path: Path) -> None:
    stubs = pytest.importorskip("stubs", reason="stubs need the developers' tools")
    sources = {
        "rows.pxd": """\
from a.tables cimport Table
cdef class Rows(Table):
    cdef readonly tuple names
    cdef int _n
""",
        "rows.pyx": """\
LIMIT = 3
cdef class Rows(Table):
    cpdef Rows copy(self):
        return self
    def __init__(self, words, int n=LIMIT, *, kinds=('a',), str unit=None):
        pass
    def _own(self):
        pass
def function(a, bint b, **d):
    pass
cdef int hidden(int a):
    return a
""",
        "rows.pyi": """\
from typing import Generic, Iterable, TypeVar
T = TypeVar('T')
LIMIT: int
GONE: int
class Rows(Table[int], Gone[str], Generic[T]):
    def __init__(self, words: Iterable[str], n: str, old: int) -> None: ...
    def gone(self) -> None: ...
    @property
    def names(self) -> tuple[str, ...]: ...
def function(a: list[int]) -> str: ...
""",
    }
    for name, text in sources.items():
        (tmp_path / name).write_text(text, "utf-8")
    _, _, written = stubs.Writer(tmp_path / "rows.pyx").text().partition("\n\n")
    assert (
        written
        == """\
T = TypeVar('T')
LIMIT: int
class Rows(Table[int], Generic[T]):
    def __init__(self, words: Iterable[str], n: int = ..., *, kinds: Any = ('a',), \
unit: str | None = None) -> None: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    def copy(self) -> Rows: ...
def function(a: list[int], b: bool, **d: Any) -> str: ...
"""
    )


# ---- what is built ----


class Built(NamedTuple):
    """The names of the files in the sdist and the wheel, the size of the wheel in bytes, the folder
    of the unpacked wheel, and what was printed.
    """

    sdist: set[str]
    wheel: set[str]
    size: int
    unpacked: Path
    printed: str


@pytest.fixture(scope="module")
def built(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The sdist and the wheel that all tests share."""
    unpacked = tmp_path_factory.mktemp("whl")
    (sdist,) = dist.glob("*.tar.gz")
    (wheel,) = dist.glob("*.whl")
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
        archive.extractall(unpacked)
    printed = (dist / "printed.txt").read_text("utf-8")
    return Built(in_sdist, in_wheel, wheel.stat().st_size, unpacked, printed)


def compiled_file(folder: Path, name: str) -> Path:
    return folder / (name.replace(".", "/") + EXTENSION_SUFFIXES[0])


def sources_of_the_package() -> set[str]:
    suffixes = (".py", ".pyi", ".pyx", ".pxd", ".typed", ".html", ".css", ".js", ".svg", ".xz")
    return {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.suffix in suffixes
    }


@pytest.mark.slow
def test_sdist_holds_sources_only(built: Built) -> None:
    expected = sources_of_the_package()
    assert "spacy_structreg/py.typed" in expected
    assert expected <= built.sdist
    assert {"LICENSE", "NOTICE", "pyproject.toml", "setup.cfg", "setup.py"} <= built.sdist
    assert {"tests/test_package.py", "docs/index.md", "treebank/check.py"} <= built.sdist
    assert [name for name in built.sdist if name.endswith((".c", ".cpp", ".so", ".pyc"))] == []


@pytest.mark.slow
def test_wheel_holds_sources_stubs_and_compiled_modules(built: Built) -> None:
    compiled = {str(compiled_file(Path(), name)) for name in [SHARED, *COMPILED]}
    in_package = {name for name in built.wheel if not name.split("/")[0].endswith(".dist-info")}
    assert in_package == sources_of_the_package() | compiled


@pytest.mark.slow
def test_wheel_is_small(built: Built) -> None:
    # Unoptimized code is about as long as optimized code.
    assert built.size <= 6_000_000
    for name in [SHARED, *COMPILED]:
        assert b".debug_info" not in compiled_file(built.unpacked, name).read_bytes()


@pytest.mark.slow
def test_metadata_says_where_things_are_and_what_is_supported(built: Built) -> None:
    (distribution,) = metadata.distributions(name="spacy_structreg", path=[str(built.unpacked)])
    facts = distribution.metadata
    links = dict(line.split(", ") for line in facts.get_all("Project-URL"))
    assert set(links) == {"Documentation", "Source", "Changelog", "Issues"}
    assert all(link.startswith("https://") for link in links.values())
    assert links["Changelog"].startswith(links["Source"])
    assert (ROOT / links["Changelog"].rpartition("/")[2]).is_file()
    assert facts["Version"] == spacy_structreg.__version__
    assert facts["License-Expression"] == "MIT"
    assert facts.get_all("License-File") == ["LICENSE", "NOTICE"]
    (folder,) = built.unpacked.glob("*.dist-info")
    for name in ("LICENSE", "NOTICE"):
        assert (folder / "licenses" / name).read_bytes() == (ROOT / name).read_bytes()
    assert facts["Description"].startswith("# spacy_structreg")
    targets = re.findall(r"\]\(([^)\s]+)\)", facts["Description"])
    assert f"{links['Source']}/blob/main/docs/start.md" in targets
    for target in targets:
        assert target.startswith("https://")
        path = target.partition("/main/")[2].partition("#")[0]
        assert (ROOT / path).exists(), target
    assert facts["Author"] == facts["Maintainer"] == "The spacy_structreg developers"
    assert facts["Requires-Python"] == f">={PYTHONS[0]}"
    # Of other platforms and Pythons, wheels are neither built nor tested.
    assert PYTHONS == ["3.10", "3.11", "3.12", "3.13", "3.14"]
    page = (ROOT / "docs" / "compatibility.md").read_text("utf-8")
    for extra in facts.get_all("Provides-Extra"):
        assert f"| `{extra}` |" in page, f"docs/compatibility.md does not list the extra {extra}"


def test_notice_names_whose_words_are_in_the_package() -> None:
    """The dictionary of jieba went into `word_rarity.txt.xz`; its license asks for its notice."""
    notice = (ROOT / "NOTICE").read_text("utf-8")
    assert (ROOT / "spacy_structreg" / "models" / "word_rarity.txt.xz").is_file()
    assert "spacy_structreg/models/word_rarity.txt.xz\n" in notice
    assert "Copyright (c) 2013 Sun Junyi\n" in notice
    # That of the MIT License is one and the same.
    permission = (ROOT / "LICENSE").read_text("utf-8").partition("developers\n")[2].split()
    assert " ".join(permission) in " ".join(notice.split())
    config = ConfigParser()
    config.read(ROOT / "setup.cfg", "utf-8")
    assert config["metadata"]["license_files"].split() == ["LICENSE", "NOTICE"]


# ---- workflows ----


@pytest.fixture(scope="module")
def workflows() -> dict[str, dict[str, Any]]:
    """The jobs of the workflow files, by file and name."""
    folder = ROOT / ".github" / "workflows"
    if not folder.is_dir():
        pytest.skip("no part of the sdist")
    files = {path.stem: srsly.read_yaml(path) for path in folder.iterdir()}
    assert set(files) == {"tests", "docs", "wheels"}
    return {name: file["jobs"] for name, file in files.items()}


def test_workflows_run_what_exists(workflows: dict[str, dict[str, Any]]) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("\\\n", "")
    (phony,) = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    made = set()
    for jobs in workflows.values():
        for job in jobs.values():
            for step in job["steps"]:
                words = step.get("run", "uses").split()
                if words[0] == "make":
                    made.add(words[1])
                elif words[0].startswith("."):
                    assert os.access(ROOT / words[0], os.X_OK), words[0]
                else:
                    assert words[0] in ("gh", "python", "sudo", "test", "uses"), words
    assert made == {"docs", "test", "test-lowest", "wheels"}
    assert made <= set(phony.split())


def test_workflows_build_and_test_the_pythons_of_the_metadata(
    workflows: dict[str, dict[str, Any]],
) -> None:
    tomllib = pytest.importorskip("tomllib")
    tests = workflows["tests"]
    assert tests["linux"]["strategy"]["matrix"]["python"] == PYTHONS
    assert set(tests["others"]["strategy"]["matrix"]["python"]) <= set(PYTHONS)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["cibuildwheel"]
    assert settings["build"] == [f"cp{version.replace('.', '')}-*" for version in PYTHONS]
    copied = settings["test-sources"]
    used = [word for word in settings["test-command"].split() if word.startswith("tests/")]
    for path in [*copied, *used]:
        assert (ROOT / path).exists(), path
    assert all(path.partition("/")[0] in copied for path in used)


@pytest.mark.slow
def test_a_line_is_printed_for_each_module_that_is_compiled(built: Built) -> None:
    lines = re.findall(r"^\[(\d+)/(\d+)\] compiling (\S+)$", built.printed, re.MULTILINE)
    n_modules = len(COMPILED) + 1
    # Of two threads the later one may be the first to write.
    assert sorted((int(number), int(of)) for number, of, _ in lines) == [
        (number, n_modules) for number in range(1, n_modules + 1)
    ]
    modules = {name.partition(".")[2].replace(".", "/") for name in [SHARED, *COMPILED]}
    assert {module for _, _, module in lines} == modules


@pytest.mark.slow
def test_memoryviews_are_compiled_into_one_module(built: Built) -> None:
    message = b"itemsize <= 0 for cython.array"
    with_them = [
        name
        for name in [SHARED, *COMPILED]
        if message in compiled_file(built.unpacked, name).read_bytes()
    ]
    assert with_them == [SHARED]


# Run in the unpacked wheel: import every compiled module and load every entry point.
LOAD = """
import importlib, importlib.metadata, json, sys
(distribution,) = importlib.metadata.distributions(name="spacy_structreg", path=[sys.argv[1]])
for entry in distribution.entry_points:
    entry.load()
print(json.dumps([importlib.import_module(name).__file__ for name in sys.argv[2:]]))
"""


@pytest.mark.slow
def test_wheel_works_without_the_sources(built: Built, tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", LOAD, built.unpacked, *COMPILED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(built.unpacked)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    for file in json.loads(result.stdout):
        assert Path(file).is_relative_to(built.unpacked)
