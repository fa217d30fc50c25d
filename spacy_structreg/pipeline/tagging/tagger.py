"""The component that tags words: ``structreg_tagger``.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from typing import Any, Final, Literal, TypeAlias, get_args

from spacy.tokens import Doc, Token
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_structreg.pipeline.component import (
    N_THREADS,
    EstimatorPipe,
    check_setting,
    component_factory,
    model_bounds,
)
from spacy_structreg.pipeline.documents import (
    SPACE_TAG,
    AttributeReader,
    TagWriter,
    visible_tokens,
)

Attribute: TypeAlias = Literal["tag", "pos", "both"]

# Stands between tag and pos in the labels of "both"; no pos has it.
_SEPARATOR: Final = "|"
# Attributes, what white space has of them, and their places beside the separator.
_KINDS: Final[tuple[tuple[Literal["TAG", "POS"], str, int], ...]] = (
    ("TAG", SPACE_TAG, 0),
    ("POS", "SPACE", 2),
)


class StructregTagger(EstimatorPipe):
    """Tags the words of Docs, whichever tokenizer made them.

    vocab, model, name: as of `EstimatorPipe`; the model is from ``spacy_structreg.Tagger.v1``.
    attribute: what is learned and written: ``"tag"``, the fine-grained tags of the corpus;
        ``"pos"``, its universal ones; ``"both"``: labels are the pairs of them that occur, so that
        the two always fit each other. Where a corpus has fine-grained tags only, choose ``"tag"``
        and derive the others by spaCy's attribute_ruler.
    overwrite: tag all words anew, for example those that a joint tokenizer has tagged. If not, tags
        that are there stay, and those that are missing are found to fit them.
    n_threads: as of `EstimatorPipe`.
    alternatives: how many of the best analyses are kept on the Doc; 0 for none.
    confidence: keep margins on the Doc, and probabilities once the pipeline is calibrated.
    extension_prefix: what the name of the attribute ``structreg`` of Docs begins with.
    scorer: see `tagging_scorer`.

    A Doc whose sentences are known is tagged sentence by sentence, any other as one sentence, in
    training as in prediction. Words without a tag may be any to training, which learns from the
    others; to ``"both"``, a word with one of the two has none. White space gets the tag ``_SP``,
    and ``SPACE``. Until the model is trained no word gets a tag.
    Raises ValueError for another attribute, or a model that is not ours.
    """

    TASK = "tagging"
    MARGINS = ("tags",)
    ALTERNATIVES = "tags"
    FACTORY = "structreg_tagger"
    ARCHITECTURE = "spacy_structreg.Tagger.v1"
    SCORER = "spacy_structreg.tagging_scorer.v1"

    def __init__(
        self,
        vocab: Vocab,
        model: Model[Any, Any],
        name: str = FACTORY,
        *,
        attribute: Attribute = "tag",
        overwrite: bool = False,
        n_threads: int = N_THREADS,
        alternatives: int = 0,
        confidence: bool = False,
        extension_prefix: str = "",
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        check_setting(name, "attribute", attribute, get_args(Attribute))
        cfg = {"attribute": attribute}
        super().__init__(vocab, model, name, n_threads=n_threads, scorer=scorer, cfg=cfg)
        self.attribute: Attribute = attribute
        self.overwrite = overwrite
        self.keep_analyses(
            alternatives=alternatives, confidence=confidence, extension_prefix=extension_prefix
        )
        self._texts = AttributeReader()

    # Prediction ----------------------------------------------------------------------------------

    def _nothing(self, doc: Doc) -> list[str]:
        return [""] * len(doc)

    def _predict(self, docs: list[Doc]) -> list[list[str]]:
        """The label of each token of each Doc; empty where there is none to write."""
        bounds = [list(model_bounds(doc)) for doc in docs]
        words: list[list[str]] = []
        for doc, of_doc in zip(docs, bounds, strict=True):
            texts = self._texts.read(doc, "ORTH")
            words += (texts[start:end] for start, end in of_doc)
        given = None
        if not self.overwrite and any(map(self._has_any, docs)):
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
        has_any = not self.overwrite and self._has_any(doc)
        # A narrow beam lets few alternatives through.
        n, beam = self.n_asked, self.estimator.settings.decode_beam or 0
        parts = []
        words = self._texts.read(doc, "ORTH")
        for start, end in model_bounds(doc):
            given = [self.label_of(doc[i]) or None for i in range(start, end)] if has_any else None
            found = self.estimator.nbest(words[start:end], n, given=given, beam=max(n, beam))
            parts.append((start, end, found, predicted[start:end]))
        self._keep_parts(doc, "tags", parts)

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[Sequence[str]]) -> None:
        """Write labels, one for each token of each Doc. scores: from `predict`."""
        annotate = self._annotator()
        for doc, labels in zip(docs, scores, strict=True):
            annotate(doc, labels)

    def _annotator(self) -> Callable[[Doc, Sequence[str]], None]:
        writers = [
            (TagWriter(kind, space, overwrite=self.overwrite), part)
            for kind, space, part in _KINDS
            if self.attribute in (kind.lower(), "both")
        ]

        def annotate(doc: Doc, labels: Sequence[str]) -> None:
            for writer, part in writers:
                writer.write(doc, labels if self.attribute != "both" else _parts(labels, part))

        return annotate

    def label_of(self, token: Token) -> str:
        """The label that a token has; empty if a part of it is missing."""
        if self.attribute == "tag":
            return str(token.tag_)
        if self.attribute == "pos":
            return str(token.pos_)
        return f"{token.tag_}{_SEPARATOR}{token.pos_}" if token.tag and token.pos else ""

    def _has_any(self, doc: Doc) -> bool:
        return any(
            doc.has_annotation(kind)
            for kind in ("TAG", "POS")
            if self.attribute in (kind.lower(), "both")
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
        return f"have no word with a tag (attribute = {self.attribute!r})"


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
