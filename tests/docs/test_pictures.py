"""The pictures of the documentation: what `make pictures` draws is what is committed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from docs.pages import ROOT
from looped import looped
from warm_python import executable

PICTURES = ROOT / "docs" / "pictures"
DRAWN = (
    *("accuracy_and_speed", "words_and_speed", "compression", "registers"),
    *("dependencies", "spans", "tree"),
)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    command = [executable(), str(ROOT / "docs" / "tools" / "pictures.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def texts(path: Path) -> list[str]:
    root = ElementTree.fromstring(path.read_text("utf-8"))
    return [node.text or "" for node in root.iter() if node.tag.endswith("}text")]


def marks(path: Path) -> list[float]:
    """Places of the marks of a plot, across and down in turns."""
    root = ElementTree.fromstring(path.read_text("utf-8"))
    used = [node for node in root.iter() if node.tag.endswith("}use")]
    return [float(node.get(name, 0)) for node in used for name in ("x", "y")]


@pytest.mark.slow
@looped("name", DRAWN)
def test_pictures_are_those_of_the_stored_results(name: str, drawn: Path) -> None:
    assert {path.stem for path in drawn.iterdir()} == {*DRAWN}
    made, committed = drawn / f"{name}.svg", PICTURES / f"{name}.svg"
    # Another matplotlib may draw its letters elsewhere, but writes the same ones.
    assert texts(made) == texts(committed) != []
    assert marks(made) == pytest.approx(marks(committed), abs=1)
    assert committed.stat().st_size < 100_000


@looped("name", ["words", "trees", "dark"])
def test_pictures_of_the_page_are_small_and_shown(name: str) -> None:
    path = PICTURES / f"page-{name}.png"
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size < 150_000
    assert f"](pictures/{path.name})" in (ROOT / "docs/serve.md").read_text("utf-8")


@looped("path", sorted(PICTURES.glob("*.svg")), ids=lambda path: path.stem)
def test_pictures_fit_dark_pages_and_load_nothing(path: Path) -> None:
    picture = path.read_text("utf-8")
    assert "prefers-color-scheme:dark" in picture
    assert "<script" not in picture
    for node in ElementTree.fromstring(picture).iter():
        for name, value in node.attrib.items():
            assert not name.endswith("href") or value.startswith("#")
