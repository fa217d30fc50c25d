"""Name and version of the package."""

__title__ = "spacy_structreg"
__version__ = "0.1.0"
"""Version of the package."""
MODEL_FILE = "model.srt"
"""Name of the model file in the folder of a component."""
