"""Recipes of docs/recipes.md: servers, jobs, containers and packages, as far as a test can run."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from threading import Timer

import httpx
import pytest
import srsly
from docs.pages import ROOT, Block, blocks, instructions
from packaging.requirements import Requirement

from spacy_structreg.about import __version__

PAGE = ROOT / "docs/recipes.md"
RECIPE = ROOT / "conda/recipe.yaml"
# Names of packages of conda-forge that differ from those of the package index.
CONDA_NAMES = {"msgpack-python": "msgpack"}


def command(name: str) -> list[str]:
    """The command line of the page that begins with the name of a program."""
    (found,) = (each.text for each in blocks(PAGE) if each.text.startswith(f"{name} "))
    return str(found).split()


@pytest.fixture
def folder(zh_structreg: Path, tmp_path: Path) -> Path:
    """A folder with the pipeline and the files of the page."""
    (tmp_path / "zh_structreg").symlink_to(zh_structreg)
    files: list[Block] = [each for each in blocks(PAGE) if each.marker == "file"]
    for each in files:
        (tmp_path / each.value).write_text(each.text, "utf-8")
    return tmp_path


@pytest.mark.slow
def test_gunicorn_serves_the_application(folder: Path) -> None:
    pytest.importorskip("gunicorn")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    words = command("gunicorn")
    words[words.index("--bind") + 1] = address
    with subprocess.Popen(
        [sys.executable, "-m", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    ) as server:
        assert server.stdout is not None
        # A worker that is told to end while it still loads the pipeline takes half a minute to.
        said = ""
        hung = Timer(240, server.kill)
        hung.start()
        try:
            while said.count("ASGI server listening") < int(words[words.index("--workers") + 1]):
                line = server.stdout.readline()
                assert line, said
                said += line
            with httpx.Client(trust_env=False, timeout=120) as client:
                texts = {"texts": ["李明昨天在杭州。"]}
                answer = client.post(f"http://{address}/entities", json=texts)
            assert ["杭州", "GPE"] in answer.json()[0], answer.text
        finally:
            server.send_signal(signal.SIGTERM)
            said += server.communicate()[0]
            hung.cancel()
    assert server.returncode == 0, said


def test_the_image_is_made_by_what_the_start_page_says() -> None:
    found = instructions()
    runs = [text for name, text in found if name == "RUN"]
    start = "".join(each.text for each in blocks(ROOT / "docs/start.md"))
    (install,) = re.findall("^pip (install .*)$", start, re.MULTILINE)
    assert runs[0].split()[:2] == ["make", "wheels"]
    of_the_image = runs[1].replace("--no-cache-dir ", "").replace("/dist", "dist")
    assert of_the_image.partition(" && ")[0] == f"pip {install}"
    # test_start_page.py installs by that line, and runs these two.
    assert {"CMD", "HEALTHCHECK"} <= {name for name, _ in found}
    assert [text.split()[0] for name, text in found if name == "USER"] == ["65534"]
    # What git ignores stays out of the image.
    left_out = set((ROOT / ".dockerignore").read_text("utf-8").split())
    for line in (ROOT / ".gitignore").read_text("utf-8").split():
        name = line.strip("/")
        if name.startswith("projects") or name in ("dist", "build", "site"):
            assert name in left_out


def test_the_recipe_of_conda_needs_what_the_package_needs() -> None:
    config = ConfigParser(delimiters=["="])
    config.read(ROOT / "setup.cfg", "utf-8")
    recipe = srsly.read_yaml(RECIPE)
    assert recipe["context"]["version"] == __version__
    listed = [each.replace(" ", "", 1) for each in recipe["requirements"]["run"]]
    needed = {each.name: each.specifier for each in map(Requirement, listed)}
    assert needed.pop("python") == Requirement(f"p{config['options']['python_requires']}").specifier
    lines = config["options"]["install_requires"].strip().splitlines()
    theirs = [Requirement(line) for line in lines if not line.startswith("#")]
    assert {CONDA_NAMES.get(name, name): which for name, which in needed.items()} == {
        each.name: each.specifier for each in theirs
    }


def test_the_recipe_of_conda_can_be_rendered() -> None:
    rattler_build = pytest.importorskip("rattler_build", reason="needs py-rattler-build, of 80 MB")
    (variant,) = rattler_build.Stage0Recipe.from_file(str(RECIPE)).render()
    assert variant.recipe.package.name == "spacy_structreg"
