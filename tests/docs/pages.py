"""README.md and docs/*.md as the tests read them: blocks of code, markers, commands and links.

A comment right before a block says what the tests do with it:

    <!-- not run: needs CTB -->   do not run it; the reason is one of `REASONS`
    <!-- file: words.txt -->      write it to that file, in the folder of the page
    <!-- config: segment -->      lay it over the config of that task (blocks of `ini`)

Other blocks of `python` and `bash` are run in their order, and a block of `text` below one of
`bash` is what that prints. In both kinds of output, … stands for anything.
"""

from __future__ import annotations

import ast
import io
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
CARD = ROOT / "docs" / "zh_structreg.md"
FAST_CARD = ROOT / "docs" / "zh_structreg_fast.md"
# Those in Chinese have a folder of their own.
DOCS = [*sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("docs/zh/*.md"))]
PAGES = [README, ROOT / "README.zh.md", *DOCS]

# What a block may need that no test has.
REASONS = (
    "sets up an environment",
    "needs the network",
    "needs a cluster",
    "needs a corpus of its own",
    # These take minutes, and measure time; the tests of benchmarks run them on little.
    "needs an idle machine",
    # These are run where there is one: see `conftest.py`.
    "needs the Chinese pipeline",
    # These are run by tests/serve/test_api.py and test_recipes.py.
    "needs a service",
    # What these do step by step is run by test_start_page.py and test_recipes.py.
    "needs Docker",
    "needs conda",
    # These are run by tests/cluster/test_other_engines.py.
    "needs Ray",
    "needs Spark",
)

# Makes of a pyproject.toml what `pip install -e .` leaves in its folder: enough for interpreters
# that look for modules there.
INSTALL = ["-c", "from setuptools import setup; setup()", "--quiet", "egg_info"]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARKER = re.compile(r"<!-- ([a-z ]+): (.+) -->\s*\Z")
# Commands within sentences, which may go over the end of a line.
INLINE = re.compile(r"`((?:[A-Z_]+=\S+ )?python -m [^`]+)`")
LINK = re.compile(r"(?<!!)\[(?:[^\]]*)\]\(([^)\s]+)\)")


class Block(NamedTuple):
    """A block of code: its language, text and first line, and the marker before it, if any."""

    language: str
    text: str
    line: int
    marker: str
    value: str
    follows: str
    """The language of the block right before it, if no text stands between."""


def name_of(path: Path) -> str:
    """The path of a page within its folder of pages: `start.md`, `zh/start.md`, `README.md`."""
    return path.relative_to(ROOT).as_posix().removeprefix("docs/")


def code_for_the_pipeline(path: Path) -> str:
    """The Python of a page that needs the Chinese pipeline."""
    needed = ("python", "needs the Chinese pipeline")
    return "\n".join(
        block.text for block in blocks(path) if (block.language, block.value) == needed
    )


class Command(NamedTuple):
    """A command line, and the folder that it is called in."""

    folder: Path
    words: list[str]


def blocks(path: Path) -> list[Block]:
    """The blocks of a page, in their order. Raises ValueError for an unknown kind of block."""
    text = path.read_text(encoding="utf-8")
    found: list[Block] = []
    end = 0
    for match in FENCE.finditer(text):
        before = text[end : match.start()]
        marker = MARKER.search(before)
        name, value = marker.groups() if marker else ("", "")
        line = text.count("\n", 0, match.start()) + 2
        follows = found[-1].language if found and not before.strip() else ""
        block = Block(match[1], match[2], line, name, value, follows)
        kind = (block.language, name)
        if not (
            (name == "not run" and value in REASONS and block.language in ("bash", "python"))
            or kind in (("bash", ""), ("python", ""), ("ini", "config"))
            or (name == "file" and Path(value).name == value)
            or (kind == ("text", "") and follows == "bash")
        ):
            raise ValueError(f"{path.name}:{line}: no test for a block of {kind} {value!r}")
        found.append(block)
        end = match.end()
    return found


def commands(path: Path) -> Iterator[Command]:
    """The commands of a page, as a shell would call them; what is redirected is left out."""
    text = path.read_text(encoding="utf-8")
    # Pages are about the repository, not about their own folder.
    home = ROOT if path in DOCS else path.parent
    for language, block in FENCE.findall(text):
        if language != "bash":
            continue
        folder = home
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                del words[0]
            if ">" in words:
                del words[words.index(">") :]
            if words[:1] == ["cd"]:
                folder = (folder / words[1]).resolve()
                assert folder.is_dir(), line
            elif words:
                yield Command(folder, words)
    for line in INLINE.findall(FENCE.sub("", text)):
        words = shlex.split(line)
        yield Command(home, words[words.index("python") :])


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile and their arguments."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    return re.findall(r"^([A-Z]+) (.*)$", text, re.MULTILINE)


def links(path: Path) -> list[str]:
    """The links of a page to files and headings of the repository."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    return [target for target in LINK.findall(text) if not re.match("[a-z]+:", target)]


def anchors(path: Path) -> set[str]:
    """The names that GitHub gives to the headings of a page."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def matches(expected: str, printed: str) -> bool:
    """Compare an output with what a page says; … in the latter stands for anything."""
    pattern = ".*".join(map(re.escape, expected.strip().split("…")))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def run_python(block: Block, names: dict[str, Any], at: str) -> None:
    """Run Python statement by statement; comments right below one are what it prints, if it does.

    A failure names the page and the line.
    """
    lines = block.text.splitlines()
    for statement in ast.parse(block.text).body:
        output = io.StringIO()
        code = compile(ast.Module([statement], []), at, "exec")
        with redirect_stdout(output):
            exec(code, names)
        assert statement.end_lineno is not None
        expected = []
        for line in lines[statement.end_lineno :]:
            if not line.startswith("# "):
                break
            expected.append(line[2:])
        printed = output.getvalue()
        if expected and printed:
            line = f"{at} and {statement.lineno - 1} lines below"
            assert matches("\n".join(expected), printed), f"{line}: this was printed:\n{printed}"
