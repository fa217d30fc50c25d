"""Dependency parsing as a task of pipelines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from spacy.language import Language
from spacy.tokens import Doc

from spacy_structreg.metrics.figures import Scores
from spacy_structreg.pipeline.component import N_THREADS_TEXT
from spacy_structreg.pipeline.dependencies.parsing_scorer import score_texts, score_trees
from spacy_structreg.pipeline.documents import dependency_sentences, is_tagged_throughout
from spacy_structreg.pipeline.joint.joint_task import with_tag_map
from spacy_structreg.pipeline.segmentation.segmentation_task import tokenizer_parts
from spacy_structreg.pipeline.setting_texts import config_block
from spacy_structreg.pipeline.tag_reading_configs import tag_reading_parts
from spacy_structreg.pipeline.task import (
    TOKENIZER,
    ConfigParts,
    ConfigRequest,
    ConfigTemplate,
    DrawnTask,
    Given,
    Pairs,
    Picture,
    ScoreSettings,
    Style,
    TaskPart,
    pipes_writing,
)

COMPONENT: Final = f"""\
[components.parser]
factory = "structreg_parser"
# Which tags of words the parser looks at: "tag", those of the corpus, or "pos", its universal tags.
attribute = "{{attribute}}"
# What gets a tree of its own: "doc", each sentence that the Doc knows of, or all of it if it knows
# of none; "punctuation", these cut by punctuation and at line breaks; "wrapped",
# within paragraphs not at these.
sentences = "{{sentences}}"
# Parse anew what is parsed already; false keeps heads that are there, and finds the others;
# "labels" keeps heads, and finds all labels.
overwrite = true
{N_THREADS_TEXT}
{{analyses}}
[components.parser.scorer]
@scorers = "spacy_structreg.parsing_scorer.v1"

"""


def parser_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a dependency parser."""
    from spacy_structreg.estimators.dependencies.dependency_parser import DependencyParser

    return tag_reading_parts(
        request,
        name="parser",
        title="a dependency parser",
        noun="parser",
        component=COMPONENT,
        model=config_block("components.parser.model", DependencyParser),
        scores={
            "dep_las": 1.0,
            "dep_uas": 0.0,
            "las_f": None,
            "uas_f": None,
            "dep_las_per_type": None,
        },
        about_scores="the share of words with the right head and label",
    )


def joint_parser_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a tokenizer that parses its words. Raises as `with_tag_map`."""
    from spacy_structreg.estimators.joint.word_joint_parser import WordJointParser

    parts = tokenizer_parts(
        WordJointParser,
        title="a tokenizer that finds words, their tags and dependency trees",
        tokenizer="spacy_structreg.JointParser.v1",
        factory="structreg_joint_parser",
        about_scores="F of words that are right with their head and label",
    )
    return with_tag_map(parts, request)


class Dependencies(DrawnTask):
    """Heads of words and their labels, found by a pipe."""

    stem = "dependencies"
    order = 3
    predicts = "heads"
    verb = "parses"
    noun = "parser"
    missing = "head"
    reads_tags = True
    of_trees = True
    given_sentences = True
    supersedes = ("joint",)
    draw_order = 1
    styles: ClassVar = {"dep": Style("a dependency tree, as arcs above the words", heads="always")}
    templates = (
        ConfigTemplate(
            "parse",
            "a pipe that finds heads of tagged words",
            parser_parts,
            tags="some",
            gold="a tree",
        ),
        ConfigTemplate(
            "joint-parse",
            "a tokenizer that tags and parses its words",
            joint_parser_parts,
            takes_base=False,
            tags="some",
            gold="a tree",
        ),
    )

    def parts(self, nlp: Language) -> list[str]:
        """The tokenizer, if it parses, and all pipes that write heads and their labels."""
        tokenizer = [TOKENIZER] if getattr(nlp.tokenizer, "TASK", None) == self.stem else []
        return tokenizer + [
            name
            for name, pipe in nlp.pipeline
            if "token.dep" in nlp.get_pipe_meta(name).assigns
            # Pipes that find constituents write heads if they are told to.
            and getattr(pipe, "dependencies", "parser") is not None
        ]

    def has_gold(self, doc: Doc) -> bool:
        """True if a word has a head."""
        return bool(doc.has_annotation("DEP"))

    def scored_parts(
        self, nlp: Language, gold: Sequence[Doc], given: Given, *, alone: bool = False
    ) -> list[str]:
        """As of other tasks; on text if words are tagged too, in the corpus and by the pipeline."""
        if not given.words:
            ours = hasattr(nlp.tokenizer, "with_estimator")
            tags = hasattr(nlp.tokenizer, "tagged_words") or pipes_writing(nlp, "tag")
            if not (alone or ours) or not tags:
                return []
            gold = [doc for doc in gold if is_tagged_throughout(doc) and is_parsed_throughout(doc)]
        found = super().scored_parts(nlp, gold, given)
        # A tokenizer parses the words that it finds itself.
        return [name for name in found if name != TOKENIZER] if given.words else found

    def score(self, pairs: Pairs, part: TaskPart, settings: ScoreSettings) -> Scores:
        """Attachment scores of gold words, or F of words, tags and heads of raw text."""
        if settings.given.words:
            return score_trees(pairs, punctuation=settings.punctuation)
        return score_texts(pairs, settings.vocabulary, punctuation=settings.punctuation)

    def draw(
        self, doc: Doc, style: str, lengths: Sequence[int] | None, part: TaskPart | None, **how: Any
    ) -> list[Picture]:
        """Draw the sentences in which a head is known."""
        from spacy_structreg.corpora.drawing import dependency_svg

        wanted = how.get("wanted")
        pictures: list[Picture] = []
        for number, tree in enumerate(dependency_sentences(doc, lengths)):
            is_drawn = wanted is None or number in wanted
            has_heads = any(head is not None for head in tree.heads)
            drawn = dependency_svg(tree) if is_drawn and has_heads else None
            pictures.append((len(tree.words), drawn))
        return pictures


def is_parsed_throughout(doc: Doc) -> bool:
    """True if all words of a Doc have heads."""
    return all(None not in sentence.heads for sentence in dependency_sentences(doc))


DEPENDENCIES: Final = Dependencies()
