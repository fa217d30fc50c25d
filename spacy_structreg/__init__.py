"""Linear structured models for spaCy: beam search and Viterbi decoders, perceptrons and CRFs."""

from spacy_structreg.about import __version__

__all__ = ["__version__"]
