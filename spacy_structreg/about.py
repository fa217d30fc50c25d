"""What the package is called and which version this is."""

__title__ = "spacy_structreg"
__version__ = "0.1.0"
