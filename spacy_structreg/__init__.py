"""Linear structured models for spaCy: beam search and Viterbi decoders, perceptrons and CRFs."""

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
