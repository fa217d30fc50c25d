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
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from looped import looped

import spacy_structreg

NAME = "spacy_structreg"
PACKAGE = Path(spacy_structreg.__file__).parent

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

    level: int
    module: str
    name: str | None
    compiled: bool = False


STRING_OR_COMMENT = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|\#[^\n]*''', re.DOTALL
)
# A statement may follow the colon of its block on the same line.
STATEMENT = re.compile(
    r"(?:^|[:;])[ \t]*(?:from\b[ \t]*(?P<dots>[. ]*)(?P<module>[\w.]*?)[ \t]*)?"
    r"\b(?P<how>c?import)\b(?P<names>[^\n;]*)",
    re.MULTILINE,
)
BY_CALL = re.compile(r'\b(?:import_module|__import__)\s*\(\s*"([^"]+)"')


def imports_of_python(source: str) -> list[Import]:
    """Every import, and call of `import_module` with a string, wherever it stands."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [Import(0, name.name, None) for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [Import(node.level, node.module or "", name.name) for name in node.names]
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func).split(".")[-1]
            names = [each.value for each in node.args[:1] if isinstance(each, ast.Constant)]
            if called in ("import_module", "__import__"):
                found += [Import(0, str(name), None) for name in names]
    return found


def imports_of_cython(source: str) -> list[Import]:
    """The same, and cimports, of what Python's own parser cannot read."""
    bare = STRING_OR_COMMENT.sub(lambda match: '""' * (match[0][0] != "#"), source)
    # Names in brackets go over several lines.
    bare = re.sub(r"\([^()]*\)", lambda match: match[0].replace("\n", " "), bare)
    bare = bare.replace("\\\n", " ")
    found = [Import(0, name, None) for name in BY_CALL.findall(source)]
    for match in STATEMENT.finditer(bare):
        compiled = match["how"] == "cimport"
        names = [part.split()[0] for part in match["names"].strip(" ()").split(",") if part.strip()]
        if match["module"] is None:
            found += [Import(0, name, None, compiled) for name in names]
        else:
            level = match["dots"].count(".")
            found += [Import(level, match["module"], name, compiled) for name in names]
    return found


def imports_of(path: str, source: str) -> list[Import]:
    read = imports_of_python if path.endswith((".py", ".pyi")) else imports_of_cython
    return read(source)


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
    for entry in imports_of(path, source):
        target = absolute(entry, [NAME, *folders])
        top, below = target[0], target[1] if len(target) > 1 else ""
        where = f"{path}: {'.'.join(target)}"
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


# ---- the reader of Cython ----


def test_it_reads_python_as_pythons_own_parser_does() -> None:
    for path in SOURCES:
        if path.suffix in (".py", ".pyi"):
            source = path.read_text("utf-8")
            assert {*imports_of_cython(source)} == {*imports_of_python(source)}, path


def test_it_reads_every_form_of_import() -> None:
    source = (
        "# cython: language_level=3\n"
        '"""from spacy_structreg.cli import nothing\nimport nothing"""\n'
        "cimport a.b as c, d; from e cimport f\n"
        'cdef extern from "importance.h" nogil:\n'
        "    int size_of(const char* from_, ...) except? -1\n"
        "from e.f cimport (g as h,  # from spacy import nothing\n"
        "                  i)\n"
        "cdef unsigned long long MASK = 0xFFULL, QUOTE = c'\"'\n"
        "from . cimport j\n"
        "from .. \\\n"
        "    import m\n"
        "cdef void function(int[:, ::1] x) noexcept nogil: pass\n"
        "def late(x='it\\'s'):\n"
        "    if x: from k import l\n"
        "    raise ValueError from None\n"
        '    m = __import__("n"); o = importlib.import_module( "p.q" )\n'
    )
    assert imports_of_cython(source) == [
        Import(0, "n", None),
        Import(0, "p.q", None),
        Import(0, "a.b", None, True),
        Import(0, "d", None, True),
        Import(0, "e", "f", True),
        Import(0, "e.f", "g", True),
        Import(0, "e.f", "i", True),
        Import(1, "", "j", True),
        Import(2, "", "m"),
        Import(0, "k", "l"),
    ]


# ---- the checker: it must be able to fail ----


@looped(
    ("path", "source"),
    [
        ("learn/a.py", "import spacy_structreg.tasks.segmentation.bmes"),
        ("learn/a.py", "from spacy_structreg import tasks"),
        ("learn/a.py", "from .. import search"),
        ("learn/a.py", "from ..search import viterbi"),
        ("learn/__init__.py", "from ..search import viterbi"),
        ("learn/deep/a.py", "from ...search import viterbi"),
        ("learn/a.pyi", "from spacy_structreg.search import viterbi"),
        ("learn/a.pyx", "cimport spacy_structreg.search.viterbi as v"),
        ("learn/a.pxd", "from ..search.viterbi cimport (\n    Viterbi,\n)"),
        ("learn/a.pyx", "if True: from spacy_structreg.models import segmenter"),
        ("learn/a.py", 'import_module("spacy_structreg.search")'),
        ("corpora/a.py", "from spacy_structreg import metrics"),
        ("pipeline/a.py", "from spacy_structreg.cli import convert"),
        ("about.py", "from spacy_structreg import metrics"),
        ("__init__.py", "from .metrics import scores"),
        ("__init__.py", "import spacy"),
        ("models/a.py", "import spacy"),
        ("models/a.py", "import numpy, spacy.tokens as t"),
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
