"""Packages of pipelines, installed and used as their users do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from warm_python import executable


def installed_tokens(package: Path, name: str, text: str, folder: Path) -> list[list[Any]]:
    """Install a package into a new folder and let its pipeline annotate a text.

    For each token: text, tag, universal tag, relation, head, whether a sentence starts.
    """
    # Nothing is downloaded: what building needs is here, and so is what the package requires.
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--quiet"]
    target = ["--target", str(folder / "installed"), str(package)]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, *target],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    code = (
        "import json, sys, spacy\n"
        "print(json.dumps([\n"
        "    [t.text, t.tag_, t.pos_, t.dep_, t.head.i, t.is_sent_start]\n"
        "    for t in spacy.load(sys.argv[1])(sys.argv[2])\n"
        "]))\n"
    )
    # Away from the folder of the project, and in a new interpreter: the package is whole.
    found = run_code(code, name, text, folder=folder, python=sys.executable)
    tokens: list[list[Any]] = json.loads(found)
    return tokens


def run_code(code: str, *arguments: str, folder: Path, python: str | None = None) -> str:
    """What code prints in a folder, with the packages that are installed there.

    python: the interpreter; by default the one that has imported the package.
    """
    paths = [str(folder / "installed"), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [python or executable(), "-c", code, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
