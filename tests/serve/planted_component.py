"""A component that does harm, as the texts say, and tells the world what it has read."""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc

GATE = "PLANTED_GATE"
"""The variable that names a file for which texts with `WAITS` wait."""

WAITS, RUNTIME, VALUE, DIES = "等", "坏", "錯", "毒"


@Language.factory("planted")
def create_planted(nlp: Language, name: str) -> Callable[[Doc], Doc]:
    """The component."""
    return planted


def planted(doc: Doc) -> Doc:
    """Print, log and warn of a text; then fail as it says."""
    print(doc.text, flush=True)
    print(doc.text, file=sys.stderr, flush=True)
    logging.getLogger("spacy").error(doc.text)
    warnings.warn(doc.text, stacklevel=1)
    if WAITS in doc.text:
        gate = Path(os.environ[GATE])
        gate.with_suffix(".reached").touch()
        while not gate.exists():
            time.sleep(0.01)
    if RUNTIME in doc.text:
        raise RuntimeError(doc.text)
    if VALUE in doc.text:
        raise ValueError(doc.text)
    if DIES in doc.text:
        os._exit(1)
    return doc


def plant(folder: Path) -> tuple[Path, dict[str, str]]:
    """Write a pipeline with the component; returns its folder, and what environment it needs."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("planted")
    nlp.to_disk(folder / "pipeline")
    package = folder / "planted-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: planted\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(
        "[spacy_factories]\nplanted = planted_component:create_planted\n"
    )
    paths = (str(folder), str(Path(__file__).parent), os.environ.get("PYTHONPATH", ""))
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), GATE: str(folder / "gate")}
    return folder / "pipeline", environment
