"""The pipe that tags words, ``structreg_tagger``, with its scorer, config and task.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example

from spacy_structreg.learn.setting_fields import setting
from spacy_structreg.pipeline.analyses import AnalysisSettings
from spacy_structreg.pipeline.component import (
    EstimatorPipe,
    PipeSettings,
    component_factory,
    model_bounds,
)
from spacy_structreg.pipeline.documents import (
    SPACE_TAG,
    AttributeReader,
    TagWriter,
    tagged_words,
    visible_tokens,
)
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

if TYPE_CHECKING:
    from spacy_structreg.metrics.figures import Scores
    from spacy_structreg.metrics.tagging import TagKind

Attribute: TypeAlias = Literal["tag", "pos", "both"]

# Stands between tag and pos in the labels of "both"; no pos has it.
_SEPARATOR: Final = "|"
# Attributes, what white space has of them, and their places beside the separator.
_KINDS: Final[tuple[tuple[Literal["TAG", "POS"], str, int], ...]] = (
    ("TAG", SPACE_TAG, 0),
    ("POS", "SPACE", 2),
)


class TaggerPipeSettings(PipeSettings, AnalysisSettings):
    """Settings of the tagger of a pipeline."""

    attribute: Attribute = setting(
        "tag",
        'What is learned and written: "tag", the tags of the corpus; "pos", its universal tags; or '
        '"both", the pairs of them that occur, so that the two always fit each other.',
    )
    overwrite: bool = setting(
        False,
        "Whether words that have a tag already are tagged anew; false keeps tags, and finds those "
        "that are missing to fit them.",
    )


class StructregTagger(EstimatorPipe):
    """Tags the words of Docs, whichever tokenizer made them.

    A Doc whose sentences are known is tagged sentence by sentence, any other as one sentence, in
    training as in prediction. Words without a tag may be any to training, which learns from the
    others; to ``"both"``, a word with one of the two has none. White space gets the tag ``_SP``,
    and ``SPACE``. Until the model is trained no word gets a tag.
    Parameters and errors are those of `EstimatorPipe`.
    """

    TASK = "tagging"
    MARGINS = ("tags",)
    ALTERNATIVES = "tags"
    FACTORY = "structreg_tagger"
    ARCHITECTURE = "spacy_structreg.Tagger.v1"
    SCORER = "spacy_structreg.tagging_scorer.v1"
    SETTINGS: ClassVar[type[TaggerPipeSettings]] = TaggerPipeSettings
    SCORED = ("attribute",)

    settings: TaggerPipeSettings

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._texts = AttributeReader()

    # Prediction ----------------------------------------------------------------------------------

    def _predict(self, docs: list[Doc]) -> list[list[str]]:
        """The label of each token of each Doc; empty where there is none to write."""
        bounds = [list(model_bounds(doc)) for doc in docs]
        words: list[list[str]] = []
        for doc, of_doc in zip(docs, bounds, strict=True):
            texts = self._texts.read(doc, "ORTH")
            words += (texts[start:end] for start, end in of_doc)
        given = None
        if not self.settings.overwrite and any(map(self._has_any, docs)):
            given = [
                [self.label_of(doc[i]) or None for i in range(start, end)]
                for doc, of_doc in zip(docs, bounds, strict=True)
                for start, end in of_doc
            ]
        tagged = self.estimator.predict_stream(words, given=given)
        return [list(chain.from_iterable(islice(tagged, len(of_doc)))) for of_doc in bounds]

    def _sentences_of(self, doc: Doc) -> Iterable[tuple[Any, ...]]:
        words = self._texts.read(doc, "ORTH")
        return ((words[start:end],) for start, end in model_bounds(doc))

    def _keep_analyses(self, doc: Doc, predicted: list[str]) -> None:
        has_any = not self.settings.overwrite and self._has_any(doc)
        # A narrow beam lets few alternatives through.
        n, beam = self.n_asked, self.estimator.settings.decode_beam or 0
        parts = []
        words = self._texts.read(doc, "ORTH")
        for start, end in model_bounds(doc):
            given = [self.label_of(doc[i]) or None for i in range(start, end)] if has_any else None
            found = self.estimator.nbest(words[start:end], n, given=given, beam=max(n, beam))
            parts.append((start, end, found, predicted[start:end]))
        self._keep_parts(doc, "tags", parts)

    def _annotate(self, doc: Doc, predicted: Sequence[str]) -> None:
        """Write labels, one for each token."""
        self._annotator()(doc, predicted)

    def _annotator(self) -> Callable[[Doc, Sequence[str]], None]:
        writers = [
            (TagWriter(kind, space, overwrite=self.settings.overwrite), part)
            for kind, space, part in _KINDS
            if self.settings.attribute in (kind.lower(), "both")
        ]

        def annotate(doc: Doc, labels: Sequence[str]) -> None:
            for writer, part in writers:
                writer.write(
                    doc, labels if self.settings.attribute != "both" else _parts(labels, part)
                )

        return annotate

    def label_of(self, token: Token) -> str:
        """The label that a token has; empty if a part of it is missing."""
        if self.settings.attribute == "tag":
            return str(token.tag_)
        if self.settings.attribute == "pos":
            return str(token.pos_)
        return f"{token.tag_}{_SEPARATOR}{token.pos_}" if token.tag and token.pos else ""

    def _has_any(self, doc: Doc) -> bool:
        return any(
            doc.has_annotation(kind)
            for kind in ("TAG", "POS")
            if self.settings.attribute in (kind.lower(), "both")
        )

    # Training ------------------------------------------------------------------------------------

    def gold(self, example: Example) -> tuple[list[list[tuple[str, str | None]]], int]:
        """The gold sentences of which a word has a label, and how many others there are.

        The label of a word is None if it is not known. The reference is cut into sentences if
        prediction has them too, so that a model learns from what it will see.
        """
        doc = example.reference
        bounds = model_bounds(doc) if self._seen(example) else [(0, len(doc))]
        sentences = []
        n_others = 0
        for start, end in bounds:
            tokens = visible_tokens(doc[start:end])
            pairs = [(token.text, self.label_of(token) or None) for token in tokens]
            if any(label for _, label in pairs):
                sentences.append(pairs)
            else:
                n_others += len(pairs) > 0
        return sentences, n_others

    def _seen(self, example: Example) -> bool:
        return bool(example.predicted.has_annotation("SENT_START"))

    def _left_out(self) -> str:
        return f"have no word with a tag (attribute = {self.settings.attribute!r})"


def _parts(labels: Sequence[str], part: int) -> list[str]:
    """The tags before the separator in labels of both, part 0, or after it, part 2."""
    found = {label: label.rpartition(_SEPARATOR)[part] for label in set(labels)}
    return [found[label] for label in labels]


create_tagger = component_factory(
    StructregTagger,
    assigns=["token.tag", "token.pos"],
    # One of them has a value: tag_acc on gold words, tag_f on words of the pipeline's own.
    score_weights={
        **dict.fromkeys(("tag_acc", "pos_acc", "tag_f", "pos_f"), 1.0),
        **dict.fromkeys(("tag_p", "tag_r", "pos_p", "pos_r")),
    },
)


# Scorer -------------------------------------------------------------------------------------------


def make_tagging_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_structreg.tagging_scorer.v1``."""
    return score_tags


def score_tags(
    examples: Iterable[Example], *, attribute: Attribute = "tag", **kwargs: Any
) -> dict[str, Any]:
    """Score the tags of Docs, as fractions of 1, under ``tag`` and, or, ``pos``.

    If all words are those of the reference: ``tag_acc``, the share of words with the right tag;
    words whose gold tag is not known do not count. If not: ``tag_p``, ``tag_r`` and ``tag_f`` of
    words that have both their place and their tag right, in Docs whose gold tags are all known.
    The other figures are None, so that none stands for another.
    """
    from spacy_structreg.metrics.joint import JointScorer
    from spacy_structreg.metrics.tagging import TaggingScorer

    examples = list(examples)
    kinds: tuple[Literal["tag", "pos"], ...] = (
        ("tag", "pos") if attribute == "both" else (attribute,)
    )
    figures: dict[str, Any] = {}
    for kind in kinds:
        pairs = [
            (tagged_words(example.reference, kind), tagged_words(example.predicted, kind))
            for example in examples
        ]
        accuracy = precision = recall = f_score = None
        if all(_words(gold) == _words(predicted) for gold, predicted in pairs):
            words = TaggingScorer()
            for gold, predicted in pairs:
                words.add(gold, [tag for _, tag in predicted])
            accuracy = words.scores().tag_acc
        else:
            spans = JointScorer()
            for gold, predicted in pairs:
                if "".join(_words(gold)) == "".join(_words(predicted)):
                    spans.add(gold, predicted)
            scores = spans.scores()
            precision, recall, f_score = scores.joint_p, scores.joint_r, scores.joint_f
        figures |= {
            f"{kind}_acc": accuracy,
            f"{kind}_p": precision,
            f"{kind}_r": recall,
            f"{kind}_f": f_score,
        }
    return figures


def _words(pairs: list[tuple[str, str]]) -> list[str]:
    return [word for word, _ in pairs]


# Config and task ----------------------------------------------------------------------------------


def tagger_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a tagger."""
    from spacy_structreg.models.tagging import Tagger
    from spacy_structreg.pipeline.setting_texts import component_parts

    attribute = request.attribute
    other = "tag" if attribute == "pos" else "pos"
    weights = dict.fromkeys(f"{kind}_{end}" for kind in ("tag", "pos") for end in "fpr")
    return component_parts(
        "tagger",
        StructregTagger,
        Tagger,
        attribute=attribute,
        model_settings={"templates": "latin" if request.is_alphabetic else "words"},
        title="a tagger of words",
        noun="tagger",
        about_gold='# The gold annotation that the tagger is given: with "sents" as well, it sees '
        "sentences one by one.",
        gold=["words"],
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
        from spacy_structreg.metrics.tagging import TaggingScorer

        kind: TagKind = "pos" if part.setting("attribute", "tag") == "pos" else "tag"
        scorer = TaggingScorer(settings.vocabulary, kind)
        for gold, predicted in pairs:
            scorer.add(tagged_words(gold, kind), [tag for _, tag in tagged_words(predicted, kind)])
        return scorer.scores()


TAGGING: Final = Tagging()
