"""The floors of the package: who may import whom, and who may know spaCy.

The imports and cimports are read from the text of all files, Cython's included, and held to the
list in CONTRIBUTING.md. Then every module below `pipeline/` is really imported, to see that spaCy
does not come in by a back door.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from looped import looped

import spacy_structreg

NAME = "spacy_structreg"
PACKAGE = Path(spacy_structreg.__file__).parent
TESTS = Path(__file__).parent

# From the cellar to the roof; a floor may use itself and what comes before it.
FLOORS = (
    "corpora",
    "metrics",
    "features",
    "learn",
    "search",
    "tasks",
    "training",
    "models",
    "pipeline",
    "compat",
    "cluster",
    "serve",
    "cli",
)
KNOW_SPACY = ("pipeline", "compat", "cluster", "serve", "cli")
SPACY = ("spacy", "thinc")

# What comes with Cython itself. Building needs Cython and a C compiler, nothing else; compiling
# against the C interface of spaCy or numpy would tie a wheel to one of their versions.
CIMPORTABLE = (NAME, "cython", "cpython", "libc", "libcpp", "posix")

# What IPython calls on the package: the one arrow upwards, taken when it is called.
DOOR = ("__init__.py", ["spacy_structreg", "pipeline", "display"])

SUFFIXES = (".py", ".pyi", ".pyx", ".pxd", ".pxi")
SOURCES = sorted(path for path in PACKAGE.rglob("*") if path.suffix in SUFFIXES)


class Import(NamedTuple):
    """One imported name: `from ..a import b` is level 2, module "a", name "b"."""

    line: int
    level: int
    module: str
    name: str | None
    compiled: bool = False


TOKEN = re.compile(
    r'''(?P<string>"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'
                  |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      |(?P<comment>\#[^\n]*)
      |(?P<joined>\\\r?\n)
      |(?P<end>[\n;])
      |(?P<open>[(\[{])
      |(?P<close>[)\]}])
      |(?P<other>[^"'\#\\;(\[{)\]}\n]+|.)''',
    re.DOTALL | re.VERBOSE,
)
FROM = re.compile(
    r"from\b\s*(?P<dots>[.\s]*)(?P<module>[\w.]*?)\s*\b(?P<how>c?import)\b(?P<names>.*)"
)
IMPORT = re.compile(r"(?P<how>c?import)\b(?P<names>.*)")
BY_CALL = re.compile(r'\b(?:import_module|__import__)\s*\(\s*"(?P<string>\d+)"')


def statements(source: str) -> Iterator[tuple[int, str, list[str]]]:
    """The line, text and strings of every logical line; in the text, strings are numbered."""
    line = start = 1
    depth = 0
    text: list[str] = []
    strings: list[str] = []
    for token in TOKEN.finditer(source + "\n"):
        kind, value = token.lastgroup, token.group()
        if kind == "string":
            text.append(f'"{len(strings)}"')
            strings.append(value.strip("\"'"))
        elif kind == "end" and depth == 0:
            yield start, "".join(text).strip(), strings
            text, strings = [], []
        elif kind in ("joined", "end"):
            text.append(" ")
        elif kind != "comment":
            depth += (kind == "open") - (kind == "close")
            text.append(value)
        line += value.count("\n")
        if not any(map(str.strip, text)):
            start = line


def imported_names(names: str) -> list[str]:
    """`(a as b, c.d)` names a and c.d."""
    parts = names.strip().strip("()").split(",")
    return [part.split()[0] for part in parts if part.strip()]


def imports_of(source: str) -> list[Import]:
    """Every import, cimport and call of `import_module` with a string, wherever it stands."""
    found = []
    for line, text, strings in statements(source):
        for call in BY_CALL.finditer(text):
            found.append(Import(line, 0, strings[int(call["string"])], None))
        # A statement may follow the colon of its block on the same line.
        for part in text.split(":"):
            statement = part.strip()
            if match := FROM.match(statement):
                level = match["dots"].count(".")
                compiled = match["how"] == "cimport"
                for name in imported_names(match["names"]):
                    found.append(Import(line, level, match["module"], name, compiled))
            elif match := IMPORT.match(statement):
                compiled = match["how"] == "cimport"
                for name in imported_names(match["names"]):
                    found.append(Import(line, 0, name, None, compiled))
    return found


def absolute(entry: Import, package: Sequence[str]) -> list[str]:
    """The full dotted path of what is imported by a file of `package`, in parts."""
    parts = entry.module.split(".") if entry.module else []
    if entry.level:
        parts = [*package[: max(0, len(package) - entry.level + 1)], *parts]
    return parts if entry.name is None else [*parts, entry.name]


def faults_of(path: str, source: str) -> list[str]:
    """What the file at `path` (seen from the package's folder) imports and may not."""
    folders = path.split("/")[:-1]
    floor = folders[0] if folders else None
    if floor is not None and floor not in FLOORS:
        return [f"{path}: {floor} is not a floor of the house"]
    height = FLOORS.index(floor) if floor is not None else -1
    faults = []
    for entry in imports_of(source):
        target = absolute(entry, [NAME, *folders])
        top, below = target[0], target[1] if len(target) > 1 else ""
        where = f"{path}:{entry.line}: {'.'.join(target)}"
        if (path, target[:3]) == DOOR:
            continue
        if top == NAME and below in FLOORS and FLOORS.index(below) > height:
            faults.append(f"{where} is above {floor or 'the root of the package'}")
        if top in SPACY and floor not in KNOW_SPACY:
            faults.append(f"{where}: only {' and '.join(KNOW_SPACY)} know spaCy")
        elif entry.compiled and top not in CIMPORTABLE:
            faults.append(f"{where}: nothing is compiled against other packages")
    return faults


def relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join([NAME, *(part for part in parts if part != "__init__")])


# Imports each module in turn, and says after which of them one of the heavy packages was there.
PROBE = """
import importlib, sys
heavy = set(sys.argv[1].split(","))
for name in sys.argv[2:]:
    importlib.import_module(name)
    present = sorted(heavy & set(sys.modules))
    if present:
        sys.exit(f"importing {name} brings in {', '.join(present)}")
"""


def probe(names: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Import modules, found from `folder`, in an interpreter of its own; warnings are errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", PROBE, ",".join(SPACY), *names],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


# ---- the package ----


def test_floors_are_the_folders_of_the_package() -> None:
    folders = {path.relative_to(PACKAGE).parts[0] for path in SOURCES if path.parent != PACKAGE}
    assert folders == set(FLOORS)


@looped("path", SOURCES, ids=relative)
def test_imports_keep_to_the_floors(path: Path) -> None:
    assert faults_of(relative(path), path.read_text("utf-8")) == []


def test_lower_floors_do_not_bring_in_spacy() -> None:
    names = [
        module_name(path)
        for path in SOURCES
        if path.suffix in (".py", ".pyx") and relative(path).split("/")[0] not in KNOW_SPACY
    ]
    assert len(names) >= len(FLOORS) - len(KNOW_SPACY)
    result = probe(names, PACKAGE.parent)
    assert result.returncode == 0, result.stderr


# ---- the reader of imports, against Python's own parser ----


def imports_by_ast(source: str) -> list[Import]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [Import(node.lineno, 0, name.name, None) for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found += [Import(node.lineno, node.level, module, name.name) for name in node.names]
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = ast.unparse(node.func).split(".")[-1]
            if called in ("import_module", "__import__"):
                found.append(Import(node.lineno, 0, str(node.args[0].value), None))
    return sorted(found)


@looped(
    "path",
    [
        path
        for path in [*SOURCES, *sorted(TESTS.rglob("*.py"))[::10]]
        if path.suffix in (".py", ".pyi")
    ],
    ids=lambda path: path.name,
)
def test_reader_agrees_with_ast(path: Path) -> None:
    source = path.read_text("utf-8")
    assert sorted(imports_of(source)) == imports_by_ast(source)


SAMPLE = '''"""from spacy_structreg.cli import nothing
import nothing"""
import a, b.c as d; from e import f
from . import g
from .h.i import (
    j as k,  # from spacy import nothing
    l,
)
from .. \\
    import m
text = "#"; from n import *
def function(x: "import nothing" = 'it\\'s'):
    if x: import o
    else: from .import p
    yield from x
    raise ValueError from None
important = from_ = 1
'''


def test_reader_on_every_form_of_import() -> None:
    expected = [
        Import(3, 0, "a", None),
        Import(3, 0, "b.c", None),
        Import(3, 0, "e", "f"),
        Import(4, 1, "", "g"),
        Import(5, 1, "h.i", "j"),
        Import(5, 1, "h.i", "l"),
        Import(9, 2, "", "m"),
        Import(11, 0, "n", "*"),
        Import(13, 0, "o", None),
        Import(14, 1, "", "p"),
    ]
    assert imports_of(SAMPLE) == expected
    assert imports_by_ast(SAMPLE) == sorted(expected)


def test_reader_on_cython() -> None:
    source = (
        "# cython: language_level=3\n"
        "cimport a.b as c, d\n"
        'cdef extern from "importance.h" nogil:\n'
        "    int size_of(const char* from_, ...) except? -1\n"
        "from e.f cimport (g as h,\n"
        "                  i)\n"
        "cdef unsigned long long MASK = 0xFFULL, QUOTE = c'\"'\n"
        "from . cimport j\n"
        "cdef void function(int[:, ::1] x) noexcept nogil: pass\n"
        "def late():\n"
        "    from k import l\n"
        '    m = __import__("n"); o = importlib.import_module( "p.q" )\n'
    )
    assert imports_of(source) == [
        Import(2, 0, "a.b", None, True),
        Import(2, 0, "d", None, True),
        Import(5, 0, "e.f", "g", True),
        Import(5, 0, "e.f", "i", True),
        Import(8, 1, "", "j", True),
        Import(11, 0, "k", "l"),
        Import(12, 0, "n", None),
        Import(12, 0, "p.q", None),
    ]


# ---- the checker: it must be able to fail ----


@looped(
    ("path", "source"),
    [
        ("learn/a.py", "import spacy_structreg.tasks.segmentation.bmes"),
        ("learn/a.py", "from spacy_structreg import tasks"),
        ("learn/a.py", "from spacy_structreg import (\n    about,\n    cli,\n)"),
        ("learn/a.py", "from spacy_structreg.search.viterbi import decode"),
        ("learn/a.py", "from .. import search"),
        ("learn/a.py", "from ..search import viterbi"),
        ("learn/__init__.py", "from ..search import viterbi"),
        ("learn/deep/a.py", "from ...search import viterbi"),
        ("learn/a.pyi", "from spacy_structreg.search import viterbi"),
        ("learn/a.pyx", "cimport spacy_structreg.search.viterbi as v"),
        ("learn/a.pxd", "from spacy_structreg.search.viterbi cimport Viterbi"),
        ("learn/a.pxd", "from ..search.viterbi cimport (\n    Viterbi,\n)"),
        ("learn/a.pyx", "def f():\n    from spacy_structreg.models import segmenter"),
        ("learn/a.pyx", "if True: from spacy_structreg.models import segmenter"),
        ("learn/a.py", 'import_module("spacy_structreg.search")'),
        ("corpora/a.py", "from spacy_structreg import metrics"),
        ("pipeline/a.py", "from spacy_structreg.cli import convert"),
        ("about.py", "from spacy_structreg import metrics"),
        ("__init__.py", "from .metrics import scores"),
        ("__init__.py", "import spacy"),
        ("models/a.py", "import spacy"),
        ("models/a.py", "import numpy, spacy.tokens as t"),
        ("models/a.py", "def f():\n    from thinc.api import Model"),
        ("tasks/a.pyx", "from spacy.tokens.doc cimport Doc"),
        ("pipeline/a.pyx", "from spacy.tokens.doc cimport Doc"),
        ("learn/a.pyx", "cimport numpy as np"),
        ("learn/a.pxd", "from cymem.cymem cimport Pool"),
        ("attic/a.py", ""),
    ],
)
def test_checker_flags(path: str, source: str) -> None:
    assert len(faults_of(path, source)) == 1


@looped(
    ("path", "source"),
    [
        ("learn/a.py", "from spacy_structreg import __version__, about, learn, features"),
        ("learn/a.py", "from . import rows\nfrom .rows import Rows\nfrom ..features import shapes"),
        ("learn/__init__.py", "from .rows import Rows"),
        ("learn/a.py", '"""\nimport spacy\n"""\n# import thinc\ntext = "import spacy"'),
        ("learn/a.py", "import spacy_structreg.features, numpy, spacy_structreg_other"),
        ("learn/a.pyx", "from libc.math cimport exp\ncimport cython\nimport numpy as np"),
        ("learn/a.pyx", "from .rows cimport Rows\nfrom spacy_structreg.features.a cimport b"),
        ("training/a.pyx", "from spacy_structreg.tasks.segmentation.bmes cimport Bmes"),
        ("pipeline/a.py", "import spacy\nfrom thinc.api import Model\nfrom ..models import a"),
        ("cli/a.py", "from spacy.cli import app\nfrom spacy_structreg.pipeline import tokenizers"),
        ("__init__.py", "from spacy_structreg.about import __version__"),
    ],
)
def test_checker_passes(path: str, source: str) -> None:
    assert faults_of(path, source) == []


def test_probe_sees_a_back_door(tmp_path: Path) -> None:
    (tmp_path / "thinc.py").write_text("")
    (tmp_path / "clean.py").write_text("import json")
    (tmp_path / "hidden.py").write_text("__import__('thi' + 'nc')")
    assert probe(["clean"], tmp_path).returncode == 0
    result = probe(["clean", "hidden"], tmp_path)
    assert result.returncode == 1
    assert "importing hidden brings in thinc" in result.stderr
    (tmp_path / "broken.py").write_text("import nowhere_to_be_found")
    assert probe(["broken"], tmp_path).returncode == 1
