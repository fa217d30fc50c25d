"""The component that tags words: ``structreg_tagger``.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias

from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_structreg.pipeline.component import EstimatorPipe, sentence_bounds

FACTORY: Final = "structreg_tagger"
ARCHITECTURE: Final = "spacy_structreg.Tagger.v1"

Attribute: TypeAlias = Literal["tag", "pos", "both"]

# What spaCy's own pipelines give to white space.
_SPACE_TAG: Final = "_SP"
_SPACE_POS: Final = "SPACE"
# Stands between tag and pos in the labels of "both"; no pos has it.
_SEPARATOR: Final = "|"


@Language.factory(
    FACTORY,
    assigns=["token.tag", "token.pos"],
    default_config={
        "model": {"@architectures": ARCHITECTURE},
        "attribute": "tag",
        "overwrite": False,
        "scorer": {"@scorers": "spacy_structreg.tagging_scorer.v1"},
    },
    # One of them has a value: tag_acc on gold words, tag_f on words of the pipeline's own.
    default_score_weights={
        "tag_acc": 1.0,
        "pos_acc": 1.0,
        "tag_f": 1.0,
        "pos_f": 1.0,
        "tag_p": None,
        "tag_r": None,
        "pos_p": None,
        "pos_r": None,
    },
)
def create_tagger(
    nlp: Language,
    name: str,
    *,
    model: Model[Any, Any],
    attribute: Attribute,
    overwrite: bool,
    scorer: Callable[..., dict[str, Any]] | None,
) -> StructregTagger:
    """Make the component ``structreg_tagger``; the settings are those of `StructregTagger`."""
    return StructregTagger(
        nlp.vocab, model, name, attribute=attribute, overwrite=overwrite, scorer=scorer
    )


class StructregTagger(EstimatorPipe):
    """Tags the words of Docs, whichever tokenizer made them.

    vocab, model, name: as of `EstimatorPipe`; the model is from ``spacy_structreg.Tagger.v1``.
    attribute: what is learnt and written: ``"tag"``, the fine-grained tags of the corpus;
        ``"pos"``, its universal ones; ``"both"``: labels are the pairs of them that occur, so that
        the two always fit each other. Where a corpus has fine-grained tags only, choose ``"tag"``
        and derive the others by spaCy's attribute_ruler.
    overwrite: tag all words anew, for example those that a joint tokenizer has tagged. If not, tags
        that are there stay, and those that are missing are found to fit them.
    scorer: see `tagging_scorer`.

    A Doc whose sentences are known is tagged sentence by sentence, any other as one sentence, in
    training as in prediction. White space gets the tag ``_SP``, and ``SPACE``. Until the model is
    trained no word gets a tag.
    Raises ValueError for another attribute, or a model that is not ours.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[Any, Any],
        name: str = FACTORY,
        *,
        attribute: Attribute = "tag",
        overwrite: bool = False,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        if attribute not in ("tag", "pos", "both"):
            raise ValueError(
                f"attribute of the pipe {name!r} is {attribute!r}; choose 'tag', 'pos' or 'both'"
            )
        super().__init__(
            vocab,
            model,
            name,
            architecture=ARCHITECTURE,
            scorer=scorer,
            cfg={"attribute": attribute},
        )
        self.attribute: Attribute = attribute
        self.overwrite = overwrite

    # Prediction ----------------------------------------------------------------------------------

    def _nothing(self, doc: Doc) -> list[str]:
        return [""] * len(doc)

    def _predict(self, docs: list[Doc]) -> list[list[str]]:
        """The label of each token of each Doc; empty where there is none to write."""
        spans = [(doc, start, end) for doc in docs for start, end in sentence_bounds(doc)]
        words = [[doc[i].text for i in range(start, end)] for doc, start, end in spans]
        given = None
        if not self.overwrite and any(map(self._has_any, docs)):
            given = [
                [self._label(doc[i]) or None for i in range(start, end)]
                for doc, start, end in spans
            ]
        tagged = iter(self.estimator.predict_batch(words, given=given))
        labels: list[list[str]] = []
        for doc in docs:
            labels.append([label for _ in sentence_bounds(doc) for label in next(tagged)])
        return labels

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[Sequence[str]]) -> None:
        """Write labels, one for each token of each Doc. scores: from `predict`."""
        for doc, labels in zip(docs, scores, strict=True):
            for token, label in zip(doc, labels, strict=True):
                if token.is_space and not label:
                    self._write(token, _SPACE_TAG, _SPACE_POS)
                elif label:
                    tag, _, pos = label.rpartition(_SEPARATOR)
                    if self.attribute != "both":
                        tag = pos = label
                    self._write(token, tag, pos)

    def _write(self, token: Token, tag: str, pos: str) -> None:
        if self.attribute != "pos" and (self.overwrite or not token.tag):
            token.tag_ = tag
        if self.attribute != "tag" and (self.overwrite or not token.pos):
            token.pos_ = pos

    def _label(self, token: Token) -> str:
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

    def gold(self, example: Example) -> tuple[list[list[tuple[str, str]]], int]:
        """The gold sentences whose words all have labels, and how many others there are.

        The reference is cut into sentences if prediction has them too, so that a model learns from
        what it will see.
        """
        doc = example.reference
        bounds = sentence_bounds(doc) if self._seen(example) else [(0, len(doc))]
        sentences = []
        n_incomplete = 0
        for start, end in bounds:
            tokens = [doc[i] for i in range(start, end) if not doc[i].is_space]
            pairs = [(token.text, self._label(token)) for token in tokens]
            if all(label for _, label in pairs):
                if pairs:
                    sentences.append(pairs)
            else:
                n_incomplete += 1
        return sentences, n_incomplete

    def _seen(self, example: Example) -> bool:
        return bool(example.predicted.has_annotation("SENT_START"))

    def _left_out(self) -> str:
        return f"have words without a tag (attribute = {self.attribute!r})"

    def _settings(self) -> dict[str, Any]:
        return {
            "attribute": self.attribute,
            "overwrite": self.overwrite,
            "scorer": self.scorer,
        }
