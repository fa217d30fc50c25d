"""Word segmentation as a task of pipelines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from spacy.language import Language
from spacy.tokens import Doc

from spacy_structreg.metrics.figures import Scores
from spacy_structreg.metrics.segmentation import SegmentationScorer
from spacy_structreg.pipeline.analyses import CONFIG_TEXT
from spacy_structreg.pipeline.documents import gold_words
from spacy_structreg.pipeline.setting_texts import config_block
from spacy_structreg.pipeline.task import (
    TOKENIZER,
    ConfigParts,
    ConfigRequest,
    ConfigTemplate,
    Given,
    Pairs,
    PipelineTask,
    ScoreSettings,
    TaskPart,
    score_weights,
)

if TYPE_CHECKING:
    from spacy_structreg.models.stored_model import StoredModel

TOKENIZER_BLOCK: Final = """\
[nlp.tokenizer]
@tokenizers = {}
# How many threads decode side by side in nlp.tokenizer.pipe; the Docs do not depend on it.
n_threads = 1
{}
"""

TRAINER: Final = """\
# Trains the tokenizer, and leaves texts as they are.
[components.tokenizer_trainer]
factory = {factory}

"""

USER_WORDS: Final = """\
# Words that are to be tokens wherever they occur: a file of one word a line, or of a word, a tab
# and its tag. user_words = "words.txt"
"""


def tokenizer_parts(
    model: type[StoredModel], *, title: str, tokenizer: str, factory: str, about_scores: str
) -> ConfigParts:
    """The parts of the config of a tokenizer. model: the class of its model."""
    return ConfigParts(
        title=title,
        noun="tokenizer",
        pipeline=["tokenizer_trainer"],
        components=TRAINER.format(factory=json.dumps(factory)),
        tokenizer=TOKENIZER_BLOCK.format(json.dumps(tokenizer), CONFIG_TEXT),
        model=config_block("nlp.tokenizer.model", model),
        about_gold="# A tokenizer is given no gold annotation.",
        scores=score_weights(factory),
        about_scores=about_scores,
        arguments=USER_WORDS,
    )


def segmenter_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a segmenter, which learns tags if there are any."""
    from spacy_structreg.estimators.joint.character_joint_tagger import CharacterJointTagger
    from spacy_structreg.estimators.segmentation.character_segmenter import CharacterSegmenter

    facts = request.facts
    has_tags = facts is not None and facts.all_tagged
    tags = has_tags if request.tags is None else request.tags
    return tokenizer_parts(
        CharacterJointTagger if tags else CharacterSegmenter,
        title="a tokenizer that segments text into words",
        tokenizer="spacy_structreg.Segmenter.v1",
        factory="structreg_tokenizer_trainer",
        about_scores="F of words, as the SIGHAN bakeoffs define it",
    )


class Segmentation(PipelineTask):
    """Words of raw text, found by the tokenizer."""

    stem = "segmentation"
    order = 0
    predicts = "words"
    on_words = False
    templates = (ConfigTemplate("segment", "a tokenizer", segmenter_parts, takes_base=False),)

    def parts(self, nlp: Language) -> list[str]:
        """The tokenizer, if it is one that learns."""
        return [TOKENIZER] if hasattr(nlp.tokenizer, "with_estimator") else []

    def has_gold(self, doc: Doc) -> bool:
        """True: every Doc has words."""
        return True

    def scored_parts(
        self, nlp: Language, gold: Sequence[Doc], given: Given, *, alone: bool = False
    ) -> list[str]:
        """As of other tasks; any tokenizer, if there is nothing else to score."""
        if alone and not given.words:
            return [TOKENIZER]
        return super().scored_parts(nlp, gold, given)

    def text_parts(self, nlp: Language) -> list[str]:
        """The tokenizer, whoever made it."""
        return [TOKENIZER]

    def score(self, pairs: Pairs, part: TaskPart, settings: ScoreSettings) -> Scores:
        """Precision, recall and F of words, as those of the SIGHAN bakeoffs."""
        scorer = SegmentationScorer(settings.vocabulary)
        for gold, predicted in pairs:
            scorer.add(gold_words(gold), gold_words(predicted))
        return scorer.scores()


SEGMENTATION: Final = Segmentation()
