"""Packages of pipelines, installed and used as their users do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def installed_tokens(package: Path, name: str, text: str, folder: Path) -> list[list[Any]]:
    """Install a package into a new folder and let its pipeline annotate a text.

    For each token: text, tag, universal tag, relation, head, whether a sentence starts.
    """
    # Nothing is downloaded: what building needs is here, and so is what the package requires.
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--quiet"]
    installed = folder / "installed"
    target = ["--target", str(installed), str(package)]
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
    # Away from the folder of the project: the package is whole.
    paths = [str(installed), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-c", code, name, text],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    tokens: list[list[Any]] = json.loads(done.stdout)
    return tokens
