"""Sequence labeling as a task of pipelines: entities, spans, and labels of tokens."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from spacy.language import Language
from spacy.tokens import Doc

from spacy_structreg.corpora.annotated import AnnotatedSentence, LabeledSpan
from spacy_structreg.metrics.figures import Scores
from spacy_structreg.pipeline.component import N_THREADS_TEXT
from spacy_structreg.pipeline.documents import visible_tokens
from spacy_structreg.pipeline.labeling.labeling_documents import (
    ENTS,
    SPANS,
    SPANS_KEY,
    is_labeled,
    known_tokens,
    spans_of_doc,
    stands_for_spans,
    write_spans,
)
from spacy_structreg.pipeline.labeling.labeling_scorer import (
    score_labels_of_docs,
    score_spans_of_docs,
)
from spacy_structreg.pipeline.setting_texts import config_block
from spacy_structreg.pipeline.tag_reading_configs import tag_reading_parts
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
[components.sequence_labeler]
factory = "structreg_sequence_labeler"
# What is learned and written: "ents", entities; "spans", those of a span group; "tag", "pos",
# "lemma", "morph" or "dep" of each token, or an extension of tokens, as in "_.chunk": these need
# scheme = null below.
attribute = "{{writes}}"
# The span group of "spans".
spans_key = "chunks"
# What is labeled as a sequence: "doc", each sentence that the Doc knows of, or all of it if it
# knows of none; "punctuation", these cut by punctuation and at line breaks; "wrapped",
# within paragraphs not at these.
sentences = "doc"
# Label anew what is labeled already; false keeps it, and finds what goes best with it.
overwrite = false
# The name of an extension of Docs for the probabilities of all labels, such as
# "label_probabilities"; null for none.
probabilities = null
{N_THREADS_TEXT}

# Where the columns of the model are read from, if not from the attribute of their name.
[components.sequence_labeler.columns]
{{columns}}
[components.sequence_labeler.scorer]
@scorers = "spacy_structreg.labeling_scorer.v1"

"""

GAZETTEERS: Final = """\
# Lists of known phrases, as features; the model keeps them. Remove the # to have some.
# [initialize.components.sequence_labeler]
# [initialize.components.sequence_labeler.gazetteers]
# @misc = "spacy_structreg.Gazetteers.v1"
# lower = false
# [initialize.components.sequence_labeler.gazetteers.lists]
# city = "cities.txt"

"""

PATH: Final = "components.sequence_labeler.model"
SCORES: Final = {
    **{"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0},
    **{"ents_per_type": None, "label_acc": None},
}
ABOUT_SCORES: Final = "F of entities or spans"


def entity_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a pipe that finds entities."""
    from spacy_structreg.estimators.labeling.sequence_labeler import SequenceLabeler

    templates = "ner" if request.is_alphabetic else "characters"
    return ConfigParts(
        title="a labeler of tokens",
        noun="labeler",
        pipeline=["sequence_labeler"],
        components=COMPONENT.format(writes=ENTS, columns=""),
        model=config_block(PATH, SequenceLabeler, templates=templates),
        about_gold='# The gold annotation that the labeler is given: with "sents", it sees '
        "sentences one by one.",
        gold=["words", "sents"],
        dev_gold=["words", "sents"],
        scores=SCORES,
        about_scores=ABOUT_SCORES,
        initialize=GAZETTEERS,
    )


def chunk_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a pipe that finds spans of tagged words."""
    from spacy_structreg.estimators.labeling.sequence_labeler import SequenceLabeler

    parts = tag_reading_parts(
        request,
        name="sequence_labeler",
        title="a labeler of tokens",
        noun="labeler",
        component=COMPONENT,
        model=config_block(PATH, SequenceLabeler, templates="chunking", columns=["w", "tag"]),
        scores=SCORES,
        about_scores=ABOUT_SCORES,
        with_sentences=True,
        writes=SPANS,
        columns="" if request.attribute == "tag" else f"tag = {json.dumps(request.attribute)}\n",
    )
    return replace(parts, initialize=GAZETTEERS)


class Labeling(PipelineTask):
    """Entities, spans of a group, or labels of tokens, found by a pipe."""

    stem = "labeling"
    order = 5
    predicts = "labels"
    verb = "labels"
    noun = "labeler"
    keeps_spaces = True
    given_sentences = True
    templates = (
        ConfigTemplate(
            "label",
            "a pipe that finds entities",
            entity_parts,
            gold="entities that are known",
            advice="make the file with 'convert --columns word,label' from columns",
            has_gold=lambda doc: visible_spans(doc, ENTS) is not None,
        ),
        ConfigTemplate(
            "chunk",
            "a pipe that finds spans of tagged words",
            chunk_parts,
            tags="some",
            gold="spans",
            advice="make the file with 'convert --columns word,tag,label --spans-key chunks' from "
            "columns",
            has_gold=lambda doc: visible_spans(doc, SPANS) is not None,
        ),
    )

    def has_gold(self, doc: Doc) -> bool:
        """True if it is known of any word whether it is in an entity or a span."""
        return is_labeled(doc, ENTS) or is_labeled(doc, SPANS)

    def read_gold(self, doc: Doc, spans_key: str | None) -> dict[str, Any]:
        """Entities and spans that are known of all words."""
        return {
            "entities": visible_spans(doc, ENTS),
            "chunks": visible_spans(doc, SPANS, spans_key or SPANS_KEY),
            "spans_key": spans_key,
        }

    def write_gold(self, doc: Doc, sentence: AnnotatedSentence) -> None:
        """Write entities, and spans into their group."""
        key = sentence.spans_key or SPANS_KEY
        for attribute, spans in ((ENTS, sentence.entities), (SPANS, sentence.chunks)):
            if spans is not None:
                write_spans(doc, spans, attribute, key, overwrite=True)

    def spans_key(self, nlp: Language) -> str | None:
        """The group of the first pipe that writes into one."""
        pipes = (TaskPart(nlp, name).pipe for name in self.parts(nlp))
        return next((pipe.spans_key for pipe in pipes if pipe.attribute == SPANS), None)

    def scored_parts(
        self, nlp: Language, gold: Sequence[Doc], given: Given, *, alone: bool = False
    ) -> list[str]:
        """The first pipe for which there is gold annotation; only of spans, if words are not given.

        Without the words of the corpus, labels of words cannot be compared.
        """
        tagging = pipes_writing(nlp, "tag", "pos") if given.tags else []
        for name in self.parts(nlp):
            pipe = TaskPart(nlp, name).pipe
            if (
                name not in tagging
                and (given.words or stands_for_spans(pipe.attribute))
                and any(is_labeled(doc, pipe.attribute, pipe.spans_key) for doc in gold)
            ):
                return [name]
        return []

    def text_parts(self, nlp: Language) -> list[str]:
        """The pipes that find entities, whoever made them."""
        return [
            name
            for name, pipe in nlp.pipeline
            if "doc.ents" in nlp.get_pipe_meta(name).assigns
            and getattr(pipe, "attribute", ENTS) == ENTS
        ]

    def score(self, pairs: Pairs, part: TaskPart, settings: ScoreSettings) -> Scores:
        """F of entities or spans, by their characters; or the share of right labels of tokens."""
        attribute = part.setting("attribute", ENTS)
        if not stands_for_spans(attribute):
            return score_labels_of_docs(pairs, attribute)
        return score_spans_of_docs(pairs, attribute, part.setting("spans_key", SPANS_KEY))


def visible_spans(doc: Doc, attribute: str, key: str = SPANS_KEY) -> list[LabeledSpan] | None:
    """Entities or spans over visible words; None unless they are known of all of them."""
    visible = [token.i for token in visible_tokens(doc)]
    known = known_tokens(doc, attribute, key)
    if not visible or not all(known[i] for i in visible):
        return None
    index = {place: number for number, place in enumerate(visible)}
    return [
        (index[start], index[end - 1] + 1, label)
        for start, end, label in spans_of_doc(doc, attribute, key)
    ]


LABELING: Final = Labeling()
