"""All estimators by the names of their tasks, and models of any of them from files."""

from __future__ import annotations

from typing import Final

from spacy_structreg.corpora.errors import StrPath
from spacy_structreg.estimators.character_joint_tagger import CharacterJointTagger
from spacy_structreg.estimators.character_segmenter import CharacterSegmenter
from spacy_structreg.estimators.constituency_parser import ConstituencyParser
from spacy_structreg.estimators.dependency_parser import DependencyParser
from spacy_structreg.estimators.feature_labeler import FeatureLabeler
from spacy_structreg.estimators.guided import GuidedJointTagger, GuidedSegmenter
from spacy_structreg.estimators.reranker import JointReranker
from spacy_structreg.estimators.sequence_labeler import SequenceLabeler
from spacy_structreg.estimators.stored import StoredModel
from spacy_structreg.estimators.tagger import Tagger
from spacy_structreg.estimators.text_classifier import TextClassifier
from spacy_structreg.estimators.word_joint_tagger import WordJointTagger
from spacy_structreg.estimators.word_segmenter import WordSegmenter
from spacy_structreg.learn.model_file import SourceFile, field, parse_model

_CLASSES: Final[tuple[type[StoredModel], ...]] = (
    CharacterJointTagger,
    CharacterSegmenter,
    ConstituencyParser,
    DependencyParser,
    FeatureLabeler,
    GuidedJointTagger,
    GuidedSegmenter,
    JointReranker,
    SequenceLabeler,
    Tagger,
    TextClassifier,
    WordJointTagger,
    WordSegmenter,
)

ESTIMATORS: Final = {cls.TASK: cls for cls in _CLASSES}
"""The classes of models by the task that the header of a model file names."""


def load_estimator(source: StrPath | bytes, *, verify: bool = True) -> StoredModel:
    """The model of a file, whatever its task.

    source: the path of the file (see `StoredModel.load`), or its contents as bytes.
    verify: check the checksums of the weights.
    Raises ValueError, naming the file, if it is no sound model file or its task is unknown;
    OSError if it cannot be read.
    """
    if isinstance(source, bytes):
        header, arrays = parse_model(source, verify=verify)
        return estimator_class(header, "model").from_contents("model", header, arrays)
    file = SourceFile(source)
    header, arrays = parse_model(file.data, name=str(source), verify=verify)
    return estimator_class(header, str(source)).from_source(file, header, arrays)


def estimator_class(header: dict[str, object], name: str = "model") -> type[StoredModel]:
    """The class of the model that a header belongs to. name: of the file, for errors.

    Raises ValueError if the header names no task that there is.
    """
    try:
        task: str = field(header, "task", str)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    if task not in ESTIMATORS:
        raise ValueError(
            f"{name}: it is a model of the task {task!r}, which this version does not know; it "
            f"knows {', '.join(ESTIMATORS)}"
        )
    return ESTIMATORS[task]
