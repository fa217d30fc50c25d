"""Name and version of the package."""

__title__ = "spacy_structreg"
__version__ = "0.1.0"
