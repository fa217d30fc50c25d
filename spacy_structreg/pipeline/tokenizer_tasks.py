"""Tasks of tokenizers, words and words with tags, with their scorers and configs.

The tokenizers themselves are compiled in part: commands that need none do not import them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.metrics.figures import Scores
from spacy_structreg.metrics.joint import JointScorer
from spacy_structreg.metrics.segmentation import SegmentationScorer
from spacy_structreg.pipeline.component import TaggingTokenizerSettings, TokenizerSettings
from spacy_structreg.pipeline.documents import (
    UNKNOWN_WORDS,
    gold_words,
    is_tagged_throughout,
    tagged_words,
)
from spacy_structreg.pipeline.setting_texts import config_block, tokenizer_block
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
    is_ours,
    pipes_writing,
    score_weights,
    tags_texts,
)

if TYPE_CHECKING:
    from spacy_structreg.models.stored_model import StoredModel


# Scorers ------------------------------------------------------------------------------------------


def make_segmentation_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_structreg.segmentation_scorer.v1``."""
    return score_segmentation


def score_segmentation(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    """Score the words of Docs, as fractions of 1.

    Returns spaCy's ``token_acc``, ``token_p``, ``token_r`` and ``token_f``, and ``seg_p``,
    ``seg_r`` and ``seg_f`` as the SIGHAN bakeoffs define them. Reference Docs that do not know
    their spaces are left out, as spaCy does: their text is not that of the source. Figures are
    None if nothing is left.
    """
    examples = list(examples)
    scorer = SegmentationScorer()
    for example in examples:
        if not example.reference.has_unknown_spaces:
            scorer.add(gold_words(example.reference), gold_words(example.predicted))
    figures = scorer.scores().as_dict("seg_p", "seg_r", "seg_f")
    return {**Scorer.score_tokenization(examples), **figures}


def make_joint_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_structreg.joint_scorer.v1``."""
    return score_joint


def score_joint(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    """Score the words of Docs, and the words together with their tags, as fractions of 1.

    Returns what `score_segmentation` returns, and ``joint_p``, ``joint_r`` and ``joint_f``: a word
    is right if a gold word of the same tag has the same first and last character. spaCy's
    ``tag_acc`` looks at the words that were found alone, and is left out. Reference Docs in which a
    word has no tag do not count for the joint figures; these are None if no other is left.
    """
    examples = list(examples)
    scorer = JointScorer()
    for example in examples:
        if not example.reference.has_unknown_spaces:
            scorer.add(tagged_words(example.reference), tagged_words(example.predicted))
    figures = scorer.scores().as_dict("joint_p", "joint_r", "joint_f")
    return {**score_segmentation(examples), **figures}


# Words: config and task ---------------------------------------------------------------------------


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
    """The parts of the config of a tokenizer.

    model: the class of its model. tokenizer: the block of the tokenizer itself.
    """
    return ConfigParts(
        title=title,
        noun="tokenizer",
        pipeline=["tokenizer_trainer"],
        components=TRAINER.format(factory=json.dumps(factory)),
        tokenizer=tokenizer,
        model=config_block("nlp.tokenizer.model", model),
        about_gold="# A tokenizer is given no gold annotation.",
        scores=score_weights(factory),
        about_scores=about_scores,
        arguments=USER_WORDS,
    )


def segmenter_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a segmenter, which learns tags if there are any."""
    from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger
    from spacy_structreg.models.segmentation import CharacterSegmenter

    facts = request.facts
    has_tags = facts is not None and facts.all_tagged
    tags = has_tags if request.tags is None else request.tags
    return tokenizer_parts(
        CharacterJointTagger if tags else CharacterSegmenter,
        title="a tokenizer that segments text into words",
        tokenizer=tokenizer_block("spacy_structreg.Segmenter.v1", TokenizerSettings),
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
        return [TOKENIZER] if is_ours(nlp.tokenizer) else []

    def has_gold(self, doc: Doc) -> bool:
        """True if the words are known: every Doc has some."""
        return UNKNOWN_WORDS not in doc.spans or bool(doc.spans[UNKNOWN_WORDS])

    def scored_parts(
        self, nlp: Language, gold: Sequence[Doc], given: Given, *, alone: bool = False
    ) -> list[str]:
        """As of other tasks; any tokenizer, if there is nothing else to score."""
        if alone and not given.words and any(map(self.has_gold, gold)):
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


# Words with tags: config and task -----------------------------------------------------------------

# Share of the words of a corpus whose tags a table must have to be chosen.
LEAST_KNOWN: Final = 0.95
NO_MAP: Final = "none"


def joint_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a tokenizer that tags its words. Raises as `chosen_tag_map`."""
    from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger

    return tokenizer_parts(
        CharacterJointTagger,
        title="a tokenizer that finds words and their tags",
        tokenizer=tokenizer_block(
            "spacy_structreg.JointTagger.v1",
            TaggingTokenizerSettings,
            tag_map=chosen_tag_map(request),
        ),
        factory="structreg_joint_trainer",
        about_scores="F of words that are right with their tag",
    )


def chosen_tag_map(request: ConfigRequest) -> str | None:
    """The name of the table of universal tags that was asked for, or that fits the corpus.

    Raises ValueError if there is no table of the name that was asked for.
    """
    from spacy_structreg.corpora.tag_maps import TAG_MAPS

    name = request.tag_map
    if name is None and request.facts is not None:
        name = fitting_tag_map(request.facts.tags)
    if name is None or name == NO_MAP:
        return None
    if name not in TAG_MAPS:
        raise ValueError(f"{name!r} is no table of tags; there are {', '.join(TAG_MAPS)}, {NO_MAP}")
    return name


def fitting_tag_map(counts: Counter[str]) -> str | None:
    """The name of the table that has the most words of a corpus, by its tags; None if few."""
    from spacy_structreg.corpora.tag_maps import TAG_MAPS

    def known(name: str) -> int:
        return sum(counts[tag] for tag in TAG_MAPS[name])

    best = max(TAG_MAPS, key=known)
    return best if known(best) > LEAST_KNOWN * counts.total() else None


class Joint(PipelineTask):
    """Words of raw text and their tags, found by the tokenizer, or by it and a tagger."""

    stem = "joint"
    order = 1
    predicts = "tags"
    on_words = False
    templates = (
        ConfigTemplate(
            "joint", "a tokenizer that tags its words", joint_parts, takes_base=False, tags="all"
        ),
    )

    def parts(self, nlp: Language) -> list[str]:
        """The tokenizer, and the pipes that tag anew or alone; none if there are no tags."""
        return [TOKENIZER, *pipes_writing(nlp, "tag")] if tags_texts(nlp) else []

    def has_gold(self, doc: Doc) -> bool:
        """True if all words have tags, of which there are some."""
        return is_tagged_throughout(doc) and SEGMENTATION.has_gold(doc)

    def scored_parts(
        self, nlp: Language, gold: Sequence[Doc], given: Given, *, alone: bool = False
    ) -> list[str]:
        """As of other tasks, if the tokenizer is one that learns, or there is nothing else."""
        if not alone and not is_ours(nlp.tokenizer):
            return []
        return super().scored_parts(nlp, gold, given)

    def score(self, pairs: Pairs, part: TaskPart, settings: ScoreSettings) -> Scores:
        """Precision, recall and F of words that are right with their tag."""
        scorer = JointScorer(settings.vocabulary)
        for gold, predicted in pairs:
            scorer.add(tagged_words(gold), tagged_words(predicted))
        return scorer.scores()


JOINT: Final = Joint()
