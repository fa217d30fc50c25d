"""Linear structured models for spaCy: beam search and Viterbi decoders, perceptrons and CRFs."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spacy_structreg.about import __version__

__all__ = ["__version__", "load_ipython_extension", "unload_ipython_extension"]


def load_ipython_extension(ipython: Any) -> None:
    """Show Docs as pictures in a notebook: ``%load_ext spacy_structreg`` (`pipeline.display`)."""
    from spacy_structreg.pipeline.display import register

    register(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """Show Docs as text again: ``%unload_ext spacy_structreg``."""
    from spacy_structreg.pipeline.display import unregister

    unregister(ipython)


class _NotCompiled:
    """The last finder of modules, which says of one that has not been compiled what to do."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> None:
        package, _, stem = name.rpartition(".")
        if f"{package}.".startswith(f"{__name__}.") and any(
            Path(folder, f"{stem}.pyx").exists() for folder in path or ()
        ):
            version = ".".join(map(str, sys.version_info[:2]))
            raise ImportError(
                f"the extension modules of {__name__} are not compiled for Python {version}: run "
                f"'make build' in the clone, or 'pip install --editable .' ({name} is missing)",
                name=name,
            )


sys.meta_path.append(_NotCompiled)
