"""What ``spacy package`` requires of those who install a pipeline."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from packages import installed_tokens
from packaging.requirements import Requirement
from packaging.version import Version
from pipeline.made_up import DEV, TEXTS

from spacy_structreg.about import __version__

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.slow
def test_a_packaged_pipeline_is_installed_and_loaded(
    model_best: Path, python: Command, tmp_path: Path
) -> None:
    python("-m", "spacy", "package", model_best, tmp_path, "--name", "made_up", "--build", "none")
    folder = tmp_path / "zh_made_up-0.0.0"
    requirements = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["requirements"]
    # As docs/compatibility.md says: of this minor version, whose patches read its models.
    (ours,) = (r for r in map(Requirement, requirements) if "structreg" in r.name)
    # The name as the distribution has it: an editable install writes it with a hyphen.
    assert ours.name.replace("-", "_") == "spacy_structreg"
    version = Version(__version__)
    patch, minor = (f"{version.major}.{version.minor + step}.99" for step in (0, 1))
    assert list(ours.specifier.filter([__version__, patch, minor])) == [__version__, patch]
    found = installed_tokens(folder, "zh_made_up", TEXTS[0], tmp_path)
    assert [word for word, *_ in found] == DEV[0]
    (metadata,) = (tmp_path / "installed").glob("zh_made_up-*.dist-info/METADATA")
    lines = metadata.read_text(encoding="utf-8").replace("-", "_").splitlines()
    assert any(line.startswith("Requires_Dist: spacy_structreg") for line in lines)
