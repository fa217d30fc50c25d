"""Linear structured models for spaCy: beam search and Viterbi decoders, perceptrons and CRFs.

Models are imported from here: ``from spacy_structreg import CharacterSegmenter``. A model is loaded
when it is asked for, so that the others cost no time.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from spacy_structreg.about import __version__

_MODELS: Final = {
    "CRF": "models.labeling.crf",
    "CharacterJointTagger": "models.joint.joint_taggers",
    "CharacterSegmenter": "models.segmentation",
    "ConstituencyParser": "models.constituents",
    "DependencyParser": "models.dependencies",
    "FeatureLabeler": "models.labeling.labelers",
    "GuidedJointParser": "models.joint.guided_joint_parser",
    "GuidedJointTagger": "models.guided",
    "GuidedSegmenter": "models.guided",
    "JointReranker": "models.joint.joint_reranker",
    "SequenceLabeler": "models.labeling.labelers",
    "Tagger": "models.tagging",
    "TextClassifier": "models.classification",
    "WordJointParser": "models.joint.word_joint_parser",
    "WordJointTagger": "models.joint.joint_taggers",
    "WordSegmenter": "models.segmentation",
}

__all__ = ["__version__", "load_ipython_extension", "unload_ipython_extension"]
__all__ += list(_MODELS)


def __getattr__(name: str) -> Any:
    if name not in _MODELS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODELS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODELS})


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
