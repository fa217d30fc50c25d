"""The architecture of sequence labelers, ``spacy_structreg.SequenceLabeler.v1``, and their
gazetteers, ``spacy_structreg.Gazetteers.v1``."""

from __future__ import annotations

from spacy_structreg.estimators.labeling.sequence_labeler import SequenceLabeler
from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.pipeline.architectures import component_architecture

create_sequence_labeler_model = component_architecture(SequenceLabeler)


def create_gazetteers(
    lists: dict[str, str | list[str]],
    lower: bool = False,
    characters: bool = False,
    encoding: str = "utf-8",
) -> Gazetteers:
    """Make lists of phrases for ``[initialize.components.<name>.gazetteers]``.

    lists: of each name, a file with a phrase a line, or the phrases themselves. lower, characters:
    see `features.gazetteers.Gazetteers`. encoding: of the files.
    Raises ValueError for faulty files and lists; OSError for files that cannot be read.
    """
    paths = {name: given for name, given in lists.items() if isinstance(given, str)}
    found: dict[str, list[str]] = {
        name: given for name, given in lists.items() if not isinstance(given, str)
    }
    if paths:
        read = Gazetteers.from_files(paths, lower=lower, characters=characters, encoding=encoding)
        found |= read.as_dict()["lists"]
    return Gazetteers(found, lower=lower, characters=characters)
