"""README.md and the pages in docs: what their code does, what it prints, and where links lead.

The blocks of a page are run in their order, in a folder that holds the Chinese pipeline, or a small
one in its stead, the quickstart as it is cloned, and small corpora in several formats.
`docs.pages` says how blocks are marked.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import spacy
from docs.configs import pipeline_of
from docs.conftest import REAL
from docs.pages import (
    DOCS,
    INSTALL,
    PAGES,
    README,
    ROOT,
    Block,
    anchors,
    blocks,
    links,
    matches,
    name_of,
    run_python,
)
from docs.stand_in import TREEBANK, structreg
from looped import looped
from spacy.tokens.underscore import Underscore
from warm_python import executable

from spacy_structreg.metrics.glossary import SCORE_GLOSSARY

# Trees of each part of the small corpora, and sentences of words.
N_TREES = {"train": 30, "dev": 15, "test": 15}
N_SENTENCES = 250
# Of the development part of the treebank, which a page scores on every register.
REGISTERS = ("law", "social")
# Blocks of all pages that the tests do not run; what more is left out says so here.
NOT_RUN = {
    "sets up an environment": 4,
    "needs a cluster": 2,
    "needs a corpus of its own": 3,
    "needs an idle machine": 1,
    "needs the Chinese pipeline": 19,
    "needs a service": 16,
    "needs Docker": 2,
    "needs conda": 2,
    "needs Ray": 1,
    "needs Spark": 1,
}
# Packages that a page is skipped without.
PACKAGES = {"dataframes.md": ("pandas", "polars")}

# The start pages are run where nothing is installed, by test_start_page.py.
PAGES_TO_RUN = [path for path in PAGES if path.name != "start.md"]

# Stands for pip, and changes no environment. For the rest of the page `python` is one that knows
# the package.
PIP = """\
#!/bin/sh -e
[ "$*" = "install -e ." ]
{install}
rm bin/python
echo '#!/bin/sh\nPYTHONPATH="'$PWD':$PYTHONPATH" exec "{program}" "$@"' > bin/python
chmod +x bin/python
"""

PLACES = ["New York", "Oslo", "Hamburg", "Lagos", "Lima", "Hanoi", "Cape Town", "Kyoto"]
NAMES = ["Anna", "Omar", "Li", "Rosa", "Noor", "Ivan"]
SEA = ["Two boats left the quay at dawn.", "The ferry to {} was late.", "{} has a harbor."]
TOWN = ["The bus to {} is full.", "A new library opens in {}.", "Trams stop here at noon."]


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small corpora, each in three parts: words, trees in two formats, entities and categories."""
    folder = tmp_path_factory.mktemp("corpora")
    for part, n_trees in N_TREES.items():
        lines = (TREEBANK / f"{part}/general.bracket").read_text("utf-8").splitlines(keepends=True)
        starts = [number for number, line in enumerate(lines) if line.startswith("(")]
        brackets, words = folder / f"{part}.bracket", folder / f"{part}.txt"
        brackets.write_text("".join(lines[: starts[n_trees]]), "utf-8")
        structreg("convert", brackets, folder / f"{part}.conllu", "--head-rules", "ctb")
        structreg("convert", TREEBANK / f"{part}/general.bracket", words)
        sentences = words.read_text("utf-8").splitlines(keepends=True)
        words.write_text("".join(sentences[:N_SENTENCES]), "utf-8")
        columns = "".join(
            f"{name} B-PER\nlives O\nin O\n{_label(place)}. O\n\n"
            for name in NAMES
            for place in PLACES
        )
        (folder / f"{part}.col").write_text(columns, "utf-8")
        texts = "".join(
            f"{each.format(place)}\t{category}\n"
            for category, group in (("sea", SEA), ("town", TOWN))
            for each in group
            for place in PLACES
        )
        (folder / f"{part}.tsv").write_text(texts, "utf-8")
    (folder / "text.txt").write_text("昨天，市政府召开了会议。我们在北京学习汉语。\n", "utf-8")
    return folder


def _label(place: str) -> str:
    words = place.split()
    return "".join(f"{word} {'I' if i else 'B'}-LOC\n" for i, word in enumerate(words))


@pytest.fixture
def folder(
    pipelines: dict[str, Path],
    corpora: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Path]:
    """The folder that a page is read in; extensions of spaCy are afterwards as they were."""
    shutil.copytree(corpora, tmp_path, dirs_exist_ok=True)
    ignored = shutil.ignore_patterns("corpus", "training", "metrics", "project.lock")
    shutil.copytree(ROOT / "projects/quickstart", tmp_path / "projects/quickstart", ignore=ignored)
    shutil.copytree(ROOT / "projects/scripts", tmp_path / "projects/scripts")
    (tmp_path / "treebank/dev").mkdir(parents=True)
    registers = [TREEBANK / f"dev/{name}.bracket" for name in REGISTERS]
    for path in {*TREEBANK.iterdir(), *registers} - {TREEBANK / "dev"}:
        (tmp_path / "treebank" / path.relative_to(TREEBANK)).symlink_to(path)
    # spaCy takes the name of a package for that of a folder where there is no such package.
    for name, pipeline in pipelines.items():
        (tmp_path / name).symlink_to(pipeline)
    monkeypatch.chdir(tmp_path)
    # Files of Python that a page writes are for that page alone.
    monkeypatch.syspath_prepend(tmp_path)
    modules = set(sys.modules)
    # Which comes with an extra alone.
    monkeypatch.setitem(sys.modules, "scipy", None)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to(executable())
    pip = PIP.format(install=shlex.join([sys.executable, *INSTALL]), program=executable())
    (tmp_path / "bin/pip").write_text(pip, "utf-8")
    (tmp_path / "bin/pip").chmod(0o755)
    before = Underscore.get_state()
    Underscore.load_state(({}, {}, {}))
    # A worker of Celery lets nothing but errors through to those who listen after it.
    level, handlers = logging.root.level, [*logging.root.handlers]
    yield tmp_path
    logging.root.setLevel(level)
    logging.root.handlers[:] = handlers
    Underscore.load_state(before)
    for name in {*sys.modules} - modules:
        if getattr(sys.modules[name], "__file__", None) == str(tmp_path / f"{name}.py"):
            del sys.modules[name]


# ---- how blocks are run ----


def run_page(path: Path) -> dict[str, Any]:
    """Run the blocks of a page in this folder; returns the names that its Python has made."""
    names: dict[str, Any] = {"__name__": path.stem}
    printed: str | None = ""
    for block in blocks(path):
        at = f"{path.name}:{block.line}"
        match (block.marker, block.language):
            case ("not run", "python") if REAL and block.value == "needs the Chinese pipeline":
                run_python(block, names, at)
            case ("not run", "bash") if REAL and block.value == "needs the Chinese pipeline":
                printed = run_shell(block.text, at)
            case ("not run", _):
                # Nor is there what it prints.
                printed = None
            case ("file", _):
                Path(block.value).write_text(block.text, "utf-8")
            case ("config", _):
                check_config(block, at)
            case (_, "python"):
                run_python(block, names, at)
            case (_, "bash"):
                printed = run_shell(block.text, at)
            case (_, "text") if printed is not None:
                assert matches(block.text, printed), f"{at}: this was printed:\n{printed}"
    return names


def run_shell(text: str, at: str) -> str:
    """Run a shell script with `python` being this one; returns what it prints."""
    path = f"{Path('bin').resolve()}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONUTF8": "1", "ANSI_COLORS_DISABLED": "1"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )
    assert done.returncode == 0, f"{at}:\n{done.stdout}\n{done.stderr}"
    assert "Warning" not in done.stderr, f"{at}:\n{done.stderr}"
    return done.stdout


def check_config(block: Block, at: str) -> None:
    """Lay a block over the config of a task, and have spaCy make all that the config names."""
    nlp = pipeline_of(block)
    settings = nlp.config.interpolate()["initialize"]
    resolved = spacy.registry.resolve(settings, schema=spacy.schemas.ConfigSchemaInit)
    for name, arguments in resolved["components"].items():
        assert name in nlp.pipe_names, f"{at}: there is no component {name}"
        assert arguments


# ---- pages ----


def check_parser(names: dict[str, Any]) -> None:
    nlp = spacy.load("parser")
    doc = nlp(Path("text.txt").read_text("utf-8").strip())
    # Words, with tags, and not characters.
    assert sum(len(token) > 1 for token in doc) >= 4
    assert all(token.tag_ and token.dep_ for token in doc)
    assert len(list(doc.sents)) == 2
    assert nlp.pipe_names == ["tagger", "parser"]
    # The tokenizer and the tagger are those that were trained first.
    for folder, place in (("segmenter", "tokenizer"), ("tagger", "tagger")):
        here, there = Path("parser", place, "model.srt"), Path(folder, place, "model.srt")
        assert here.read_bytes() == there.read_bytes()


def check_constituents(names: dict[str, Any]) -> None:
    nlp = spacy.load("pipeline")
    doc = nlp(Path("text.txt").read_text("utf-8").strip())
    assert sum(len(token) > 1 for token in doc) >= 4
    first, second = doc.sents
    assert first._.parse_string.startswith("(")
    assert "北京" in second._.parse_string
    assert nlp.pipe_names == ["constituency"]
    assert all(token.tag_ and token.pos_ for token in doc)


# What else is to hold after the blocks of a page.
CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "constituents.md": check_constituents,
    "parse.md": check_parser,
}


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the commands are those of a shell")
@pytest.mark.parametrize("path", PAGES_TO_RUN, ids=name_of)
def test_blocks_run_and_print_what_the_page_says(path: Path, folder: Path) -> None:
    for package in PACKAGES.get(path.name, ()):
        pytest.importorskip(package, reason=f"{package} comes with the extra test")
    names = run_page(path)
    if path.name in CHECKS:
        CHECKS[path.name](names)


def test_blocks_that_are_not_run_are_counted() -> None:
    every = [block for path in PAGES for block in blocks(path)]
    assert Counter(block.value for block in every if block.marker == "not run") == NOT_RUN


@looped(
    "path",
    [*PAGES, ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("projects/*/README.md"))],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_links_lead_somewhere(path: Path) -> None:
    for link in links(path):
        name, _, anchor = link.partition("#")
        target = (path.parent / name) if name else path
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize(("readme", "folder"), [("README.md", "docs"), ("README.zh.md", "docs/zh")])
def test_the_readme_is_short_and_leads_to_every_page(readme: str, folder: str) -> None:
    assert len((ROOT / readme).read_text("utf-8").splitlines()) <= 170
    assert f"{folder}/index.md" in {link.partition("#")[0] for link in links(ROOT / readme)}
    linked = {link.partition("#")[0] for link in links(ROOT / folder / "index.md")}
    assert {path.name for path in DOCS if path.parent == ROOT / folder} - {"index.md"} <= linked


def test_pages_in_both_languages_lead_to_each_other() -> None:
    for path in sorted(ROOT.glob("docs/zh/*.md")):
        other = ROOT / "docs" / path.name
        assert f"../{path.name}" in links(path), path
        assert f"zh/{path.name}" in links(other), other
    assert "README.zh.md" in links(README)
    assert "README.md" in links(ROOT / "README.zh.md")


@pytest.mark.parametrize("name", ["docs/search.md", "docs/architecture.md", "docs/settings.md"])
def test_all_models_are_named(name: str) -> None:
    points = metadata.entry_points(group="spacy_architectures")
    models = {each.name.split(".")[1] for each in points if each.name.startswith("spacy_structreg")}
    named = set(
        re.findall(r"`(?:spacy_structreg\.)?(\w+)(?:\.v1)?`", (ROOT / name).read_text("utf-8"))
    )
    assert "WordJointParser" in models
    assert models <= named


def test_all_figures_are_explained() -> None:
    text = (ROOT / "docs/evaluate.md").read_text("utf-8")
    named = {key for row in re.findall(r"^\| (`.*?) \|", text, re.M) for key in row.split("`")}
    assert {key.removesuffix("_nopunct").removesuffix("_40") for key in SCORE_GLOSSARY} <= named


# ---- the tests themselves ----


def page(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "page.md"
    path.write_text(text, "utf-8")
    return path


@looped(
    ("text", "fault"),
    [
        # What is printed, also by a loop; an assertion; an exit code; what a command prints.
        ("```python\ni = 1\nprint(i)\n# 2\n```\n", r"page\.md:2 and 1 lines below: this was"),
        ("```python\nfor i in range(2):\n    print(i)\n# 0\n```\n", r"page\.md:2 and 0 lines"),
        ("```python\nassert 1 > 2, 'no'\n```\n", "no"),
        ("```bash\nfalse\n```\n", r"page\.md:2"),
        ("```bash\necho a\n```\n\n```text\nb\n```\n", r"page\.md:6: this was printed"),
    ],
)
def test_blocks_that_are_wrong_fail(text: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=fault):
        run_page(page(tmp_path, text))


@looped(
    "text",
    [
        # Another language, a config of nothing, another reason, a file elsewhere, text of nothing.
        "```sh\nls\n```\n",
        "```ini\n[nlp]\n```\n",
        "<!-- not run: it is slow -->\n```bash\nls\n```\n",
        "<!-- file: ../words.txt -->\n```text\nls\n```\n",
        "```text\nout of the blue\n```\n",
    ],
)
def test_blocks_of_which_nothing_would_be_tested_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"page\.md:\d: no test for"):
        blocks(page(tmp_path, text))


def test_blocks_that_are_right_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        "<!-- file: a.txt -->\n```text\none\ntwo\n```\n\n```bash\ncat a.txt\n```\n\n"
        "```text\none\n…\n```\n\n```python\nprint(1)\n# 1\n\n# And then:\nfor i in range(2):\n"
        "    print(i)\n# 0\n# 1\n```\n"
    )
    assert run_page(page(tmp_path, text))["i"] == 1
