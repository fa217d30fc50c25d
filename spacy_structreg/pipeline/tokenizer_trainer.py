"""The pipe that trains the pipeline's tokenizer inside ``spacy train``.

spaCy trains pipes, not tokenizers. This one has no weights: it hands the gold Docs of each batch
to the tokenizer and lets every Doc pass as it is. spaCy makes the dev corpus anew for every
evaluation, so that its table, early stopping and ``model-best`` follow the tokenizer.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, runtime_checkable
from weakref import ref

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

FACTORY = "structreg_tokenizer_trainer"
JOINT_FACTORY = "structreg_joint_trainer"


@runtime_checkable
class TrainableTokenizer(Protocol):
    """A tokenizer that learns from gold Docs."""

    def update(self, docs: Sequence[Doc]) -> int:
        """Learn from gold Docs; returns how many labels were predicted wrongly."""
        ...


@Language.factory(
    FACTORY, default_score_weights={"seg_f": 1.0, "seg_p": 0.0, "seg_r": 0.0, "token_acc": None}
)
def create_tokenizer_trainer(nlp: Language, name: str) -> TokenizerTrainer:
    """Make the pipe ``structreg_tokenizer_trainer``."""
    return TokenizerTrainer(name)


@Language.factory(
    JOINT_FACTORY,
    default_score_weights={
        "joint_f": 1.0,
        "joint_p": 0.0,
        "joint_r": 0.0,
        "seg_f": 0.0,
        "token_acc": None,
    },
)
def create_joint_trainer(nlp: Language, name: str) -> TokenizerTrainer:
    """Make the pipe ``structreg_joint_trainer``: the same, for tokenizers that tag.

    What counts as the best model is fixed for a factory, and is another figure here.
    """
    return TokenizerTrainer(name)


class TokenizerTrainer:
    """Trains the tokenizer of the pipeline that it was initialized in.

    name: of the pipe, under which the loss is reported: the number of wrong labels.
    """

    is_trainable = True
    model = None

    def __init__(self, name: str = FACTORY) -> None:
        self.name = name
        self._nlp: Callable[[], Language | None] = lambda: None

    def __call__(self, doc: Doc) -> Doc:
        """Return the Doc as it is."""
        return doc

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language,
    ) -> None:
        """Bind the pipe to the tokenizer of `nlp`.

        Raises ValueError if the tokenizer cannot be trained, or if other pipes are to be trained
        in the same run: spaCy tokenises their training Docs once, before the tokenizer has learnt
        anything.
        """
        if not isinstance(nlp.tokenizer, TrainableTokenizer):
            raise ValueError(
                f"the pipe {self.name!r} trains tokenizers of spacy_structreg, but the pipeline "
                f"has a {type(nlp.tokenizer).__name__}; set [nlp.tokenizer] @tokenizers to "
                "'spacy_structreg.Segmenter.v1', or remove the pipe"
            )
        frozen = nlp.config["training"].get("frozen_components", [])
        others = [
            name
            for name, pipe in nlp.components
            if pipe is not self and getattr(pipe, "is_trainable", False) and name not in frozen
        ]
        if others:
            raise ValueError(
                f"one run trains either the tokenizer or the other pipes ({', '.join(others)}): "
                "train the tokenizer alone first, then copy it into the pipeline of the others "
                "with [initialize.before_init] @callbacks = 'spacy.copy_from_base_model.v1'"
            )
        self._nlp = ref(nlp)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Hand the gold Docs of a batch to the tokenizer.

        drop, sgd: not used; dropout and step are settings of the model.
        Raises ValueError if the pipe was not initialized in this pipeline.
        """
        nlp = self._nlp()
        if nlp is None or not isinstance(nlp.tokenizer, TrainableTokenizer):
            raise ValueError(
                f"the pipe {self.name!r} belongs to no tokenizer: call nlp.initialize first, and "
                "do not source the pipe from another pipeline"
            )
        docs = [example.reference for example in examples]
        if any(doc.vocab is not nlp.vocab for doc in docs):
            raise ValueError(
                f"the pipe {self.name!r} trains the tokenizer of another pipeline than that of "
                "these Docs: add the pipe with nlp.add_pipe, and do not source it"
            )
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        losses[self.name] += nlp.tokenizer.update(docs)
        return losses

    def __reduce__(self) -> tuple[Any, ...]:
        return TokenizerTrainer, (self.name,)
