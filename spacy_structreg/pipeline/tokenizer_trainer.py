"""The pipe that trains the pipeline's tokenizer inside ``spacy train``.

spaCy trains pipes, not tokenizers. This one has no weights: it hands the gold Docs of each batch
to the tokenizer and lets every Doc pass as it is. spaCy makes the dev corpus anew for every
evaluation, so that its table, early stopping and ``model-best`` follow the tokenizer. In a trained
pipeline the pipe stays, so that the tokenizer can be trained further (``nlp.resume_training``, then
``nlp.update``); it does nothing, and says so, where other pipes are trained.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, runtime_checkable
from weakref import ref

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

FACTORY = "structreg_tokenizer_trainer"
JOINT_FACTORY = "structreg_joint_trainer"
PARSER_FACTORY = "structreg_joint_parser_trainer"


@runtime_checkable
class TrainableTokenizer(Protocol):
    """A tokenizer that learns from gold Docs."""

    @property
    def is_trained(self) -> bool:
        """True if it finds words by what it has learned."""
        ...

    def update(self, docs: Sequence[Doc]) -> int:
        """Learn from gold Docs; returns how many labels were predicted wrongly."""
        ...

    def correct(self, docs: Sequence[Doc]) -> Any:
        """Let gold Docs come out right; ``wrong`` of what is returned are those that do not."""
        ...


class TokenizerTrainer:
    """Trains the tokenizer of the pipeline that it belongs to, if no other pipe is trained.

    spaCy tokenizes a training corpus once, at the start, so that one run trains the tokenizer or
    the other pipes. A trained tokenizer stays as it is beside pipes that are trained: with a
    warning, once.

    name: of the pipe, under which the loss is reported: the number of wrong labels. nlp: the
    pipeline, or None for that which `initialize` gets.
    """

    is_trainable = True
    model = None

    def __init__(self, name: str = FACTORY, nlp: Language | None = None) -> None:
        self.name = name
        self._nlp: Callable[[], Language | None] = (lambda: None) if nlp is None else ref(nlp)
        self._is_initialized = False
        self._has_warned = False

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

        Raises ValueError if the tokenizer cannot be trained, or if it has learned nothing yet, and
        other pipes are to be trained in the same run.
        """
        tokenizer = self._tokenizer_of(nlp)
        if others := others_to_train(nlp.components, nlp):
            if not tokenizer.is_trained:
                raise ValueError(
                    f"one run trains either the tokenizer or the other pipes ({', '.join(others)}):"
                    " train the tokenizer alone first, then copy it into the pipeline of the others"
                    " with [initialize.before_init] @callbacks = 'spacy.copy_from_base_model.v1'"
                )
            self._warn(others)
        self._nlp = ref(nlp)
        self._is_initialized = True

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
        correct: bool = False,
    ) -> dict[str, float]:
        """Hand the gold Docs of a batch to the tokenizer; do nothing if other pipes are trained.

        drop, sgd: not used; dropout and step are settings of the model.
        correct: do not train, but let these Docs come out right at once, by as little a change as
            can be; the loss is the number of those that do not. To be asked for with
            ``nlp.update(…, component_cfg={name: {"correct": True}})``.
        Raises ValueError if the pipe belongs to another pipeline, or neither it nor the tokenizer
        has been initialized.
        """
        nlp = self._nlp()
        if nlp is None:
            raise ValueError(
                f"the pipe {self.name!r} belongs to no tokenizer: call nlp.initialize first, and "
                "do not source the pipe from another pipeline"
            )
        tokenizer = self._tokenizer_of(nlp)
        if not self._is_initialized and not tokenizer.is_trained:
            raise ValueError(
                f"the tokenizer that the pipe {self.name!r} trains has learned nothing yet: call "
                "nlp.initialize first"
            )
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        others = [] if correct else others_to_train(nlp.pipeline, nlp)
        if others:
            self._warn(others)
            return losses
        docs = [example.reference for example in examples]
        if any(doc.vocab is not nlp.vocab for doc in docs):
            raise ValueError(
                f"the pipe {self.name!r} trains the tokenizer of another pipeline than that of "
                "these Docs: add the pipe with nlp.add_pipe, and do not source it"
            )
        losses[self.name] += (
            len(tokenizer.correct(docs).wrong) if correct else tokenizer.update(docs)
        )
        return losses

    def _tokenizer_of(self, nlp: Language) -> TrainableTokenizer:
        if not isinstance(nlp.tokenizer, TrainableTokenizer):
            raise ValueError(
                f"the pipe {self.name!r} trains tokenizers of spacy_structreg, but the pipeline "
                f"has a {type(nlp.tokenizer).__name__}; set [nlp.tokenizer] @tokenizers to "
                "'spacy_structreg.Segmenter.v1', or remove the pipe"
            )
        return nlp.tokenizer

    def _warn(self, others: list[str]) -> None:
        if not self._has_warned:
            warnings.warn(
                f"the pipe {self.name!r} does nothing, as other pipes are trained "
                f"({', '.join(others)}): the tokenizer stays as it is; remove the pipe, or, to "
                f"train the tokenizer, nlp.select_pipes(enable={self.name!r})",
                UserWarning,
                stacklevel=2,
            )
            self._has_warned = True

    def __reduce__(self) -> tuple[Any, ...]:
        return TokenizerTrainer, (self.name,)


def others_to_train(pipes: Iterable[tuple[str, Any]], nlp: Language) -> list[str]:
    """The names of the pipes that are trained beside a tokenizer: all but those that are frozen.

    pipes: of `nlp`, with their names.
    """
    trainable = [
        name
        for name, pipe in pipes
        if getattr(pipe, "is_trainable", False) and not isinstance(pipe, TokenizerTrainer)
    ]
    # The config is made anew whenever it is asked for.
    frozen = nlp.config["training"].get("frozen_components") if trainable else None
    return [name for name in trainable if name not in (frozen or ())]


def trains_tokenizer(nlp: Language) -> bool:
    """True if training a pipeline means training its tokenizer."""
    has_trainer = any(isinstance(pipe, TokenizerTrainer) for _, pipe in nlp.pipeline)
    return has_trainer and not others_to_train(nlp.components, nlp)


def _factory(name: str, *others: str, best: str) -> Callable[..., TokenizerTrainer]:
    """Register a factory of the pipe; what counts as the best model is fixed for a factory.

    best, others: the figures that it is chosen by, and that are shown.
    """
    weights: dict[str, float | None] = {best: 1.0, **dict.fromkeys(others, 0.0), "token_acc": None}

    def create(nlp: Language, name: str) -> TokenizerTrainer:
        return TokenizerTrainer(name, nlp)

    create.__doc__ = f"Make the pipe ``{name}``."
    made: Callable[..., TokenizerTrainer] = Language.factory(name, default_score_weights=weights)(
        create
    )
    return made


create_tokenizer_trainer = _factory(FACTORY, "seg_p", "seg_r", best="seg_f")
create_joint_trainer = _factory(JOINT_FACTORY, "joint_p", "joint_r", "seg_f", best="joint_f")
create_joint_parser_trainer = _factory(PARSER_FACTORY, "uas_f", "tag_f", "seg_f", best="las_f")
