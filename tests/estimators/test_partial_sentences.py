"""Estimators of words and tags on sentences that are annotated in part."""

from __future__ import annotations

import pytest
from made_up_corpora import sentences as made_up

from spacy_structreg.corpora.partial_annotation import PartialSentence, parse_partial
from spacy_structreg.estimators.joint.character_joint_tagger import CharacterJointTagger
from spacy_structreg.estimators.joint.word_joint_tagger import WordJointTagger
from spacy_structreg.estimators.segmentation.character_segmenter import CharacterSegmenter
from spacy_structreg.estimators.segmentation.word_segmenter import WordSegmenter
from spacy_structreg.estimators.tagging import Tagger
