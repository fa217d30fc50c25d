"""Tagging of given words as a task of pipelines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from spacy.language import Language
from spacy.tokens import Doc

from spacy_structreg.metrics.figures import Scores
from spacy_structreg.metrics.tagging import TaggingScorer, TagKind
from spacy_structreg.pipeline.analyses import CONFIG_TEXT
from spacy_structreg.pipeline.component import N_THREADS_TEXT
from spacy_structreg.pipeline.documents import tagged_words
from spacy_structreg.pipeline.setting_texts import config_block
from spacy_structreg.pipeline.task import (
    ConfigParts,
    ConfigRequest,
    ConfigTemplate,
    Given,
    Pairs,
    PipelineTask,
    ScoreSettings,
    TaskPart,
    pipes_writing,
)

COMPONENT: Final = f"""\
[components.tagger]
factory = "structreg_tagger"
# What is learned and written: "tag", the tags of the corpus; "pos", its universal tags; or "both".
attribute = "{{attribute}}"
# Tag words anew that have a tag already.
overwrite = false
{N_THREADS_TEXT}
{{analyses}}
[components.tagger.scorer]
@scorers = "spacy_structreg.tagging_scorer.v1"

"""


def tagger_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a tagger."""
    from spacy_structreg.estimators.tagging import Tagger

    attribute = request.attribute
    templates = "latin" if request.is_alphabetic else "words"
    other = "tag" if attribute == "pos" else "pos"
    weights = dict.fromkeys(f"{kind}_{end}" for kind in ("tag", "pos") for end in "fpr")
    return ConfigParts(
        title="a tagger of words",
        noun="tagger",
        pipeline=["tagger"],
        components=COMPONENT.format(attribute=attribute, analyses=CONFIG_TEXT),
        model=config_block("components.tagger.model", Tagger, templates=templates),
        about_gold='# The gold annotation that the tagger is given: with "sents" as well, it sees '
        "sentences one by one.",
        gold=["words"],
        dev_gold=["words"],
        scores={f"{attribute}_acc": 1.0, f"{other}_acc": None, **weights},
        about_scores="the share of words that get the right tag",
    )


class Tagging(PipelineTask):
    """Tags of given words, found by a pipe."""

    stem = "tagging"
    order = 2
    predicts = "tags"
    verb = "tags"
    noun = "tagger"
    missing = "tag"
    on_text = False
    templates = (ConfigTemplate("tag", "a pipe that tags given words", tagger_parts, tags="some"),)

    def parts(self, nlp: Language) -> list[str]:
        """All pipes that write fine-grained tags."""
        return pipes_writing(nlp, "tag")

    def has_gold(self, doc: Doc) -> bool:
        """True if a word has a tag."""
        return bool(doc.has_annotation("TAG"))

    def scored_parts(
        self, nlp: Language, gold: Sequence[Doc], given: Given, *, alone: bool = False
    ) -> list[str]:
        """As of other tasks; none if the tags are given."""
        return [] if given.tags else super().scored_parts(nlp, gold, given)

    def score(self, pairs: Pairs, part: TaskPart, settings: ScoreSettings) -> Scores:
        """The share of words with the right tag; words whose gold tag is not known do not count."""
        kind: TagKind = "pos" if part.setting("attribute", "tag") == "pos" else "tag"
        scorer = TaggingScorer(settings.vocabulary, kind)
        for gold, predicted in pairs:
            scorer.add(tagged_words(gold, kind), [tag for _, tag in tagged_words(predicted, kind)])
        return scorer.scores()


TAGGING: Final = Tagging()
