"""The start page, word for word, where nothing is installed, and what the Dockerfile runs.

An empty folder holds the wheels, and a new environment of Python knows neither the repository nor
what is installed beside it. A small pipeline takes the place of the Chinese one, which takes
minutes to train, unless STRUCTREG_DIST names a folder with the wheels that `make wheels` has made;
then the code on its card is run as well.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Timer
from urllib.request import Request, urlopen

import pytest
from docs.pages import (
    CARD,
    DOCS,
    blocks,
    code_for_the_pipeline,
    instructions,
    matches,
)
from warm_python import executable

PAGE, CHINESE = (path for path in DOCS if path.name == "start.md")
SERVE = "python -m spacy structreg serve"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="the commands are those of a shell"),
]


@pytest.fixture
def wheels(request: pytest.FixtureRequest) -> list[Path]:
    """The wheels of the package and of its pipeline."""
    if "STRUCTREG_DIST" in os.environ:
        return sorted(Path(os.environ["STRUCTREG_DIST"]).glob("*.whl"))
    made_once: Callable[..., Path] = request.getfixturevalue("made_once")
    pipeline: Path = request.getfixturevalue("zh_structreg")
    dist: Path = request.getfixturevalue("dist")
    made = made_once("package", lambda folder: package_stand_in(pipeline, folder))
    return [*dist.glob("*.whl"), *made.rglob("*.whl")]


def package_stand_in(pipeline: Path, folder: Path) -> None:
    """A wheel of a small pipeline, under the name of the Chinese one."""
    package = ["-m", "spacy", "package", pipeline, folder, "--build", "none"]
    name = ["--name", "structreg", "--version", "0.1.0"]
    build = ["-m", "build", "--wheel", "--no-isolation", "--skip-dependency-check"]
    for command in (
        [executable(), *package, *name],
        [sys.executable, *build, folder / "zh_structreg-0.1.0"],
    ):
        done = subprocess.run(command, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Variables of a user with a home and this Python; pip fetches from where it does here."""
    dry = ["install", "--dry-run", "--no-deps", "--ignore-installed", "wasabi"]
    if subprocess.run(
        [sys.executable, "-m", "pip", *dry], capture_output=True, check=False
    ).returncode:
        pytest.skip("pip reaches no index of packages, from which it would install spaCy")
    python = Path(sys.base_prefix, "bin", "python{}.{}".format(*sys.version_info))
    for folder in ("home", "bin"):
        (tmp_path / folder).mkdir()
    program = tmp_path / "bin/python3"
    program.write_text(f'#!/bin/sh\nexec {python} "$@"\n')
    program.chmod(0o755)
    said = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    )
    listed = re.findall(r"^(?:global|install|:env:)\.(\S+)='(.*)'$", said.stdout, re.M)
    pip = {f"PIP_{name.upper().replace('-', '_')}": value for name, value in listed}
    # Most of what pip installs is never imported.
    pip["PIP_COMPILE"] = "0"
    return {**pip, "HOME": str(tmp_path / "home"), "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}


def run(text: str, folder: Path, environment: dict[str, str]) -> tuple[str, dict[str, str]]:
    """Run a part of a shell session; returns what it prints, and the environment after it."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f"{text}\nenv -0 > ../environment"],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
    after = (folder / "../environment").read_text("utf-8").rstrip("\0").split("\0")
    return done.stdout, dict(each.split("=", 1) for each in after)


def ask(address: str, texts: list[str] | None = None) -> str:
    """What the service answers: its page, or the annotation of texts."""
    body = json.dumps({"texts": texts}).encode() if texts else None
    path = "/v1/annotate" if texts else "/"
    request = Request(address + path, body, {"Content-Type": "application/json"})
    with urlopen(request, timeout=60) as answer:
        return str(answer.read().decode())


def check_service(
    command: str, folder: Path, environment: dict[str, str], health: str = "true"
) -> None:
    """Start the service, ask at the address that page and service name, and end it by Ctrl-C.

    health: a command that must succeed while it runs.
    """
    (address,) = re.findall(r"<(http://127\.0\.0\.1:\d+)>", PAGE.read_text("utf-8"))
    # A shell lets what it runs in the background ignore this signal, and the service would, too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        ["bash", "-c", f"exec {command}"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    ) as server:
        signal.signal(signal.SIGINT, before)
        hung = Timer(120, server.kill)
        hung.start()
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            assert address in line, line + server.stdout.read()
            run(health, folder, environment)
            assert "<html" in ask(address)
            text = "我们在北京学习汉语。"
            (document,) = json.loads(ask(address, [text]))["documents"]
            words = [text[each["start"] : each["end"]] for each in document["tokens"]]
            assert words == ["我们", "在", "北京", "学习", "汉语", "。"]
        finally:
            server.send_signal(signal.SIGINT)
            printed, _ = server.communicate()
            hung.cancel()
    assert server.returncode == 0, printed


def check_python(code: str, folder: Path, environment: dict[str, str]) -> None:
    """Run Python whose comments are all that it prints."""
    (folder / "block.py").write_text(code, "utf-8")
    expected = re.findall(r"^# (.*\n)", code, re.M)
    printed, _ = run("python block.py", folder, environment)
    assert matches("".join(expected), printed), printed


def test_the_start_page_works_word_for_word(
    wheels: list[Path], environment: dict[str, str], tmp_path: Path
) -> None:
    with socket.socket() as taken:
        if not taken.connect_ex(("127.0.0.1", 8000)):
            pytest.skip("port 8000, which the page names, is taken")
    folder = tmp_path / "start"
    (folder / "dist").mkdir(parents=True)
    for wheel in wheels:
        shutil.copy(wheel, folder / "dist")
    printed = ""
    n_services = 0
    for block in blocks(PAGE):
        if block.language == "python":
            check_python(block.text, folder, environment)
        elif block.language == "text":
            assert matches(block.text, printed), printed
        elif block.text.startswith(SERVE):
            check_service(block.text.strip(), folder, environment)
            n_services += 1
        else:
            printed, environment = run(block.text, folder, environment)
    assert n_services == 1
    image = dict(instructions())
    service, health = (
        shlex.join(json.loads(image[name].partition("CMD ")[2] or image[name]))
        for name in ("CMD", "HEALTHCHECK")
    )
    check_service(service, folder, environment, health)
    if "STRUCTREG_DIST" in os.environ:
        check_python(code_for_the_pipeline(CARD), folder, environment)
    # All of it comes from the wheels.
    where, _ = run(
        "python -c 'import spacy_structreg as s; print(s.__file__)'", folder, environment
    )
    assert Path(where.strip()).is_relative_to(folder / "env")


def test_the_chinese_page_has_the_same_commands() -> None:
    assert [each.text for each in blocks(CHINESE)] == [each.text for each in blocks(PAGE)]
