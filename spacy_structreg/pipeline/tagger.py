"""The component that tags words: ``structreg_tagger``.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias
from weakref import WeakKeyDictionary

from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc, Token
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_structreg.pipeline.shim import EstimatorShim, shim_of

FACTORY: Final = "structreg_tagger"
ARCHITECTURE: Final = "spacy_structreg.Tagger.v1"

Attribute: TypeAlias = Literal["tag", "pos", "both"]

# What spaCy's own pipelines give to white space.
_SPACE_TAG: Final = "_SP"
_SPACE_POS: Final = "SPACE"
# Stands between tag and pos in the labels of "both"; no pos has it.
_SEPARATOR: Final = "|"

logger = logging.getLogger("spacy")


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


class StructregTagger(TrainablePipe):  # type: ignore[misc]  # spaCy's class has no types
    """Tags the words of Docs, whichever tokenizer made them.

    vocab: of the pipeline. model: from the architecture ``spacy_structreg.Tagger.v1``.
    name: of the component, under which the loss is reported: the number of wrong tags.
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
        self.vocab = vocab
        self.model = model
        self.name = name
        self.attribute: Attribute = attribute
        self.overwrite = overwrite
        self.scorer = scorer
        # spaCy hands these to the scorer.
        self.cfg = {"attribute": attribute}
        self._shim: EstimatorShim = shim_of(model, name, ARCHITECTURE)
        # Training Docs live as long as spaCy keeps its corpus; what was compiled goes with them.
        self._compiled: WeakKeyDictionary[Doc, list[Any]] = WeakKeyDictionary()

    @property
    def estimator(self) -> Any:
        """The `estimators.tagger.Tagger` that does the work."""
        return self._shim.estimator

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, sorted; those of ``"both"`` are ``tag|pos``. None before training."""
        return tuple(self.estimator.labels)

    @property
    def label_data(self) -> tuple[str, ...]:
        """What ``spacy init labels`` writes, and `initialize` takes."""
        return self.labels

    # Prediction ----------------------------------------------------------------------------------

    def predict(self, docs: Iterable[Doc]) -> list[list[str]]:
        """The label of each token of each Doc; empty where there is none to write."""
        docs = list(docs)
        if not self.estimator.is_trained:
            return [[""] * len(doc) for doc in docs]
        spans = [(doc, start, end) for doc in docs for start, end in _sentences(doc)]
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
            labels.append([label for _ in _sentences(doc) for label in next(tagged)])
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

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        # spaCy evaluates this annotation where nothing is imported.
        labels: list[str] | tuple[str, ...] | None = None,
    ) -> None:
        """Let the model see the tags of the training corpus, and the words that have them.

        A trained model keeps its tags and its weights.

        labels: there are these too, whether or not the examples have them; needed where the
            examples are but the beginning of a streamed corpus.
        """
        validate_get_examples(get_examples, f"{type(self).__name__}.initialize")
        gold: list[list[tuple[str, str]]] = []
        n_incomplete = 0
        for example in get_examples():
            complete, incomplete = self._gold(example)
            gold += complete
            n_incomplete += incomplete
        if n_incomplete and gold:
            logger.warning(
                "%s: %d of %d training sentences have words without a tag (attribute = %r) and "
                "are left out",
                self.name,
                n_incomplete,
                n_incomplete + len(gold),
                self.attribute,
            )
        if gold or labels:
            self.estimator.prepare(gold, labels=labels or ())

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from the references of a batch, in one pass.

        drop, sgd: not used; dropout and step are settings of the model.
        Raises ValueError for a tag that was not there when training began, and if updates are
        counted by epochs: spaCy hands over batches.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, f"{type(self).__name__}.update")
        if self.estimator.learning.clock == "epochs":
            raise ValueError(
                "clock = 'epochs' of the model's learning cannot be had in spacy train, which "
                "hands over batches; choose 'examples' or 'mistakes', or train with fit"
            )
        learnt: list[Any] = []
        for example in examples:
            doc = example.reference
            compiled = self._compiled.get(doc)
            if compiled is None or not self.estimator.owns(compiled):
                try:
                    compiled = self.estimator.compile(self._gold(example)[0])
                except ValueError as error:
                    raise ValueError(
                        f"the pipe {self.name!r} cannot learn from a Doc: {error}"
                    ) from error
                self._compiled[doc] = compiled
            learnt += compiled
        losses[self.name] += self.estimator.learn(learnt)[1] if learnt else 0
        return losses

    def _gold(self, example: Example) -> tuple[list[list[tuple[str, str]]], int]:
        """The gold sentences whose words all have labels, and how many others there are.

        The reference is cut into sentences if prediction has them too, so that a model learns from
        what it will see.
        """
        doc = example.reference
        whole = not example.predicted.has_annotation("SENT_START")
        sentences = []
        n_incomplete = 0
        for start, end in [(0, len(doc))] if whole else _sentences(doc):
            tokens = [doc[i] for i in range(start, end) if not doc[i].is_space]
            pairs = [(token.text, self._label(token)) for token in tokens]
            if all(label for _, label in pairs):
                if pairs:
                    sentences.append(pairs)
            else:
                n_incomplete += 1
        return sentences, n_incomplete

    # Files ---------------------------------------------------------------------------------------

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The model, as bytes; none if it is untrained."""
        return self._shim.to_bytes()

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> StructregTagger:
        """Take the model that `to_bytes` gave, its settings included."""
        self._shim.from_bytes(bytes_data)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model file into the folder `path`."""
        self._shim.to_folder(Path(path))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> StructregTagger:
        """Map the model file in the folder `path`, and take its settings.

        Raises ValueError if the file is missing, though the model was trained, or damaged.
        """
        self._shim.from_folder(Path(path))
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        settings = {
            "attribute": self.attribute,
            "overwrite": self.overwrite,
            "scorer": self.scorer,
        }
        return _make, (self.vocab, self.model, self.name, settings)


def _make(
    vocab: Vocab, model: Model[Any, Any], name: str, settings: dict[str, Any]
) -> StructregTagger:
    return StructregTagger(vocab, model, name, **settings)


def _sentences(doc: Doc) -> Iterator[tuple[int, int]]:
    """The first token of each sentence of a Doc, and the first after it."""
    if doc.has_annotation("SENT_START"):
        for sentence in doc.sents:
            yield sentence.start, sentence.end
    elif len(doc):
        yield 0, len(doc)
