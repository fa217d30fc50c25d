"""Joint word segmentation and tagging as a task of pipelines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from spacy.language import Language
from spacy.tokens import Doc

from spacy_structreg.metrics.figures import Scores
from spacy_structreg.metrics.joint import JointScorer
from spacy_structreg.pipeline.documents import is_tagged_throughout, tagged_words
from spacy_structreg.pipeline.segmentation.segmentation_task import tokenizer_parts
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
    pipes_writing,
)

# Share of the words of a corpus whose tags a table must have to be chosen.
LEAST_KNOWN: Final = 0.95
NO_MAP: Final = "none"

RULER: Final = """\
# Writes token.pos_ by token.tag_. Its figures would count the words that were found alone.
[components.attribute_ruler]
factory = "attribute_ruler"
scorer = null
validate = false

"""

RULES: Final = """\
[initialize.components.attribute_ruler]

# From the tags of the corpus to universal ones: {names}.
[initialize.components.attribute_ruler.patterns]
@misc = "spacy_structreg.TagMap.v1"
name = {name}

"""


def joint_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a tokenizer that tags its words. Raises as `with_tag_map`."""
    from spacy_structreg.estimators.joint.character_joint_tagger import CharacterJointTagger

    parts = tokenizer_parts(
        CharacterJointTagger,
        title="a tokenizer that finds words and their tags",
        tokenizer="spacy_structreg.JointTagger.v1",
        factory="structreg_joint_trainer",
        about_scores="F of words that are right with their tag",
    )
    return with_tag_map(parts, request)


def with_tag_map(parts: ConfigParts, request: ConfigRequest) -> ConfigParts:
    """The parts of a config, and a pipe that writes universal tags, if there is a table of them.

    Raises ValueError if there is no table from tags to universal ones of the name asked for.
    """
    from spacy_structreg.corpora.tag_maps import TAG_MAPS

    name = request.tag_map
    if name is None and request.facts is not None:
        name = fitting_tag_map(request.facts.tags)
    if name is None or name == NO_MAP:
        return parts
    if name not in TAG_MAPS:
        raise ValueError(f"{name!r} is no table of tags; there are {', '.join(TAG_MAPS)}, {NO_MAP}")
    names = ", ".join(map(json.dumps, TAG_MAPS))
    return replace(
        parts,
        pipeline=[*parts.pipeline, "attribute_ruler"],
        components=parts.components + RULER,
        initialize=RULES.format(names=names, name=json.dumps(name)),
    )


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
        taggers = pipes_writing(nlp, "tag")
        tags = hasattr(nlp.tokenizer, "tagged_words")
        return [TOKENIZER, *taggers] if tags or taggers else []

    def has_gold(self, doc: Doc) -> bool:
        """True if all words have tags, of which there are some."""
        return is_tagged_throughout(doc)

    def scored_parts(
        self, nlp: Language, gold: Sequence[Doc], given: Given, *, alone: bool = False
    ) -> list[str]:
        """As of other tasks, if the tokenizer is one that learns, or there is nothing else."""
        if not alone and not hasattr(nlp.tokenizer, "with_estimator"):
            return []
        return super().scored_parts(nlp, gold, given)

    def score(self, pairs: Pairs, part: TaskPart, settings: ScoreSettings) -> Scores:
        """Precision, recall and F of words that are right with their tag."""
        scorer = JointScorer(settings.vocabulary)
        for gold, predicted in pairs:
            scorer.add(tagged_words(gold), tagged_words(predicted))
        return scorer.scores()


JOINT: Final = Joint()
