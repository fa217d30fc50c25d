"""A trained pipeline as a Python package: ``spacy package``, pip, ``spacy.load``."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from pipeline.made_up import DEV, TEXTS

from spacy_structreg.about import __version__

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.slow
def test_a_packaged_pipeline_is_installed_and_loaded(
    model_best: Path, python: Command, tmp_path: Path
) -> None:
    built, installed = tmp_path / "built", tmp_path / "installed"
    built.mkdir()
    python("-m", "spacy", "package", model_best, built, "--name", "made_up", "--build", "none")
    folder = built / "zh_made_up-0.0.0"
    requirements = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["requirements"]
    # As docs/compatibility.md says: of this minor version, whose patches read its models.
    (ours,) = (r for r in map(Requirement, requirements) if "structreg" in r.name)
    # The name as the distribution has it: an editable install writes it with a hyphen.
    assert ours.name.replace("-", "_") == "spacy_structreg"
    version = Version(__version__)
    patch, minor = (f"{version.major}.{version.minor + step}.99" for step in (0, 1))
    assert list(ours.specifier.filter([__version__, patch, minor])) == [__version__, patch]
    # Nothing is downloaded: what building needs is here, and so is what the package requires.
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--quiet"]
    python("-m", "pip", "install", *options, "--target", installed, folder)
    (metadata,) = installed.glob("zh_made_up-*.dist-info/METADATA")
    lines = metadata.read_text(encoding="utf-8").splitlines()
    assert any(
        line.replace("-", "_").startswith("Requires_Dist: spacy_structreg") for line in lines
    )
    # The packaged pipeline is the one that is loaded, wherever the trained one has gone.
    code = (
        "import json, sys, spacy, zh_made_up\n"
        "texts = json.loads(sys.argv[1])\n"
        "for nlp in (spacy.load('zh_made_up'), zh_made_up.load()):\n"
        "    print(json.dumps([[t.text for t in nlp(text)] for text in texts]))\n"
        "print(zh_made_up.__file__)\n"
    )
    output = python("-c", code, json.dumps(TEXTS), path=installed).stdout
    *segmented, file = output.splitlines()
    assert [json.loads(line) for line in segmented] == [DEV, DEV]
    assert Path(file).is_relative_to(installed)
