"""Base class of the components, which learn from Docs by an estimator, and their factories.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

import inspect
import logging
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar
from weakref import WeakKeyDictionary

from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.util import minibatch
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_structreg.learn.setting_fields import (
    Settings,
    attributes,
    defaults_of,
    hints_of,
    setting,
)
from spacy_structreg.pipeline.analyses import (
    AnalysesMixin,
    AnalysisSettings,
    calibrations_as_bytes,
    calibrations_of_bytes,
    load_calibrations,
    packed_parts,
    save_calibrations,
    unpacked_parts,
)
from spacy_structreg.pipeline.shim import (
    EstimatorShim,
    estimator_model,
    load_estimator,
    save_estimator,
    shim_of,
)
from spacy_structreg.pipeline.tokenizer_trainer import TokenizerTrainer
from spacy_structreg.pipeline.word_check import WordCheck

if TYPE_CHECKING:
    from typing_extensions import Self

    from spacy_structreg.models.calibration import Calibration
    from spacy_structreg.models.corrections import Corrections
    from spacy_structreg.models.explanation import Explanation

ValueT = TypeVar("ValueT")

N_THREADS: Final = 1
"""The default of how many threads predict side by side."""

TASK_SCORER: Final = "spacy_structreg.task_scorer.v1"
"""The scorer of components that have none of their own (`pipeline.task.make_task_scorer`)."""

logger = logging.getLogger("spacy")


class HasSettings:
    """A tokenizer or component whose settings are attributes, checked when they are changed.

    SETTINGS: the class of the settings, from which constructor, factory, config and reference
    follow.
    """

    SETTINGS: ClassVar[type[Settings]] = Settings

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for name, attribute in attributes(cls.SETTINGS):
            setattr(cls, name, attribute)


class PipeSettings(Settings):
    """Settings of any component."""

    n_threads: int = setting(
        N_THREADS,
        "How many threads predict side by side in streams; the Docs do not depend on it.",
        minimum=1,
    )


class TokenizerSettings(PipeSettings, AnalysisSettings):
    """Settings of any tokenizer."""


class TaggingTokenizerSettings(TokenizerSettings):
    """Settings of tokenizers that tag their words."""

    tag_map: str | None = setting(
        None,
        'The table by which token.pos_ is written from token.tag_: "ctb", "pfr", "ptb", '
        '"ud_chinese" or "ud_chinese_1"; null to leave pos_ empty.',
    )

    def _check(self) -> None:
        super()._check()
        if self.tag_map is not None:
            from spacy_structreg.corpora.tag_maps import tag_map

            tag_map(self.tag_map)


class NothingToLearnError(ValueError):
    """There is nothing that a pipe could learn from what it is to be corrected by."""


class EstimatorPipe(HasSettings, AnalysesMixin, TrainablePipe):  # type: ignore[misc]  # spaCy's class has no types
    """A component whose model holds an estimator, which learns from the references of Examples.

    A subclass defines the gold sentences of an Example (`gold`), predicts (`_predict`) and writes
    the predictions (`_annotate`).

    TASK: the stem of the task (`pipeline.task`). FACTORY, ARCHITECTURE, SCORER: the names under
    which the factory, that of its model and that of its scorer are registered; the default scorer
    is `PipelineTask.score`. SCORER_TEXT: the lines of a config with settings of the scorer. SCORED:
    the settings that spaCy hands to it.
    vocab: of the pipeline. model: from the architecture. name: of the component, under which the
    loss is reported. scorer: makes figures of Examples. settings: by their names.
    Raises ValueError for settings out of range, and a model that is not ours or does not go with
    them.
    """

    TASK: ClassVar[str]
    FACTORY: ClassVar[str]
    ARCHITECTURE: ClassVar[str]
    SCORER: ClassVar[str] = TASK_SCORER
    SETTINGS: ClassVar[type[PipeSettings]] = PipeSettings
    SCORER_TEXT: ClassVar[str] = ""
    SCORED: ClassVar[tuple[str, ...]] = ()

    settings: PipeSettings

    def __init__(
        self,
        vocab: Vocab,
        model: Model[Any, Any],
        name: str | None = None,
        *,
        scorer: Callable[..., dict[str, Any]] | None = None,
        **settings: Any,
    ) -> None:
        from spacy_structreg.pipeline.spacy_glossary import extend_glossary

        extend_glossary()
        self.vocab = vocab
        self.model = model
        self.name = name = self.FACTORY if name is None else name
        self.scorer = scorer
        try:
            self.settings = self.SETTINGS(**settings)
        except ValueError as error:
            raise ValueError(f"the pipe {name!r}: {error}") from error
        self._shim: EstimatorShim = shim_of(model, name, self.ARCHITECTURE)
        self._check = WordCheck(name)
        self._has_warned = False
        self.calibrations = {}
        # Training Docs live as long as spaCy keeps its corpus; what was compiled goes with them.
        self._compiled: WeakKeyDictionary[Doc, tuple[Hashable, list[Any]]] = WeakKeyDictionary()
        self._check_model()
        self.keep_analyses(**self.kept_settings)

    @classmethod
    def scorer_config(cls) -> dict[str, str]:
        """The block of the scorer in a config, without the lines of `SCORER_TEXT`."""
        of_task = {"task": cls.TASK} if cls.SCORER == TASK_SCORER else {}
        return {"@scorers": cls.SCORER, **of_task}

    @property
    def cfg(self) -> dict[str, Any]:
        """The settings that spaCy hands to the scorer."""
        return {name: getattr(self.settings, name) for name in self.SCORED}

    def _set_estimator(self, estimator: Any) -> None:
        self._shim.estimator = estimator

    estimator: Any = property(
        attrgetter("_shim._model"), _set_estimator, doc="The estimator that does the work."
    )

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, sorted; none before training."""
        return tuple(self.estimator.labels)

    @property
    def label_data(self) -> tuple[str, ...]:
        """The labels, as ``spacy init labels`` writes them and `initialize` takes them."""
        return self.labels

    def with_estimator(self, estimator: Any) -> Self:
        """A component of the same settings that predicts anew by another estimator."""
        settings = self._settings()
        if "overwrite" in settings:
            settings["overwrite"] = True
        model = estimator_model(self.name, estimator)
        return type(self)(self.vocab, model, self.name, **settings)

    # Prediction -----------------------------------------------------------------------------------

    @abstractmethod
    def _predict(self, docs: list[Doc]) -> list[Any]:
        """Predict with the trained model for each Doc, for `set_annotations`."""

    def _sentences_of(self, doc: Doc) -> Iterable[tuple[Any, ...]]:
        """The input of the estimator for each part of a Doc, as arguments of its `explain`.

        Raises ValueError for components that explain nothing.
        """
        raise ValueError(
            f"the pipe {self.name!r} explains nothing; define _sentences_of of "
            f"{type(self).__name__}, or ask for another part of the pipeline"
        )

    def explain(self, doc: Doc) -> Explanation:
        """The features behind the decisions about a Doc, and what would have changed them.

        What the Doc has already of what is predicted is not looked at. Raises ValueError if the
        model has not been trained, TypeError for anything but a Doc.
        """
        from spacy_structreg.models.explanation import joined

        if not isinstance(doc, Doc):
            raise TypeError(
                f"a pipe explains a Doc, not a {type(doc).__name__}; call nlp on the text"
            )

        parts = [self.estimator.explain(*each) for each in self._sentences_of(doc) if any(each)]
        return joined(parts, doc.text)

    @abstractmethod
    def _annotate(self, doc: Doc, predicted: Any) -> None:
        """Write the prediction for a Doc. predicted: of `_predict`."""

    def _annotator(self) -> Callable[[Doc, Any], None]:
        """Make a function that does what `_annotate` does, for the Docs of one batch."""
        return self._annotate

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[Any]) -> None:
        """Write the predictions for each Doc. scores: from `predict`; nothing is written of None.

        Raises ValueError if there are more or fewer of them than Docs.
        """
        annotate = self._annotator()
        for doc, predicted in zip(docs, scores, strict=True):
            if predicted is not None:
                annotate(doc, predicted)

    def predict(self, docs: Iterable[Doc]) -> list[Any]:
        """Predict for each Doc, for `set_annotations`; None if the model is untrained.

        Alternatives and confidence are written to the Docs at once, if they are to be kept.
        Warns, once, of Docs that are not of the kind that the model learned from (`WordCheck`).
        """
        docs = list(docs)
        if not self.estimator.is_trained:
            return [None] * len(docs)
        self._check_docs(docs)
        return self._predict_checked(docs)

    def _predict_checked(self, docs: list[Doc]) -> list[Any]:
        """As `predict`, by a trained model, without a look at the kind of the Docs."""
        predicted = self._predict(docs)
        if self.keeps_analyses:
            for doc, of_doc in zip(docs, predicted, strict=True):
                self._keep_analyses(doc, of_doc)
        return predicted

    def _keep_analyses(self, doc: Doc, predicted: Any) -> None:
        """Write alternatives and confidence of a Doc, as `keep_analyses` has set.

        predicted: of `_predict`, for this Doc, which does not have it yet.
        """

    def _check_docs(self, docs: list[Doc]) -> None:
        self._check.words(docs, self.estimator.word_counts)

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate a stream of Docs, in batches; `n_threads` threads predict side by side.

        Threads take batches that are small enough to go round, and run ahead of what is asked for;
        Docs are read from the stream, and annotated, in the thread of the caller.

        If no prediction can be had of a batch, its Docs are taken one by one. So the error handler
        of the pipeline is given those alone that cannot be annotated.
        """
        for docs, predicted in self._predicted(stream, batch_size):
            if predicted is None:
                yield from super().pipe(docs, batch_size=1)
                continue
            annotate = self._annotator()
            annotated = []
            for doc, of_doc in zip(docs, predicted, strict=True):
                try:
                    if of_doc is not None:
                        annotate(doc, of_doc)
                except Exception as error:
                    self.get_error_handler()(self.name, self, [doc], error)
                else:
                    annotated.append(doc)
            yield from annotated

    def _predicted(
        self, stream: Iterable[Doc], batch_size: int
    ) -> Iterator[tuple[list[Doc], list[Any] | None]]:
        """Batches of a stream, and what is predicted of their Docs; None after an error.

        The error comes up again where the Docs are taken one by one.
        """
        from spacy_structreg.learn.threads import side_by_side
        from spacy_structreg.models.decoders import WORD, portions

        def checked(docs: list[Doc]) -> tuple[list[Doc], bool]:
            # Not in the threads: which Docs are warned of is not to depend on their number.
            try:
                if self.estimator.is_trained:
                    self._check_docs(docs)
            except Exception:
                return docs, False
            return docs, True

        def predict(batch: tuple[list[Doc], bool]) -> tuple[list[Doc], list[Any] | None]:
            docs, is_good = batch
            if not self.estimator.is_trained:
                return docs, [None] * len(docs)
            try:
                return docs, self._predict_checked(docs) if is_good else None
            except Exception:
                return docs, None

        batches: Iterable[list[Doc]] = (
            minibatch(stream, size=batch_size)  # type: ignore[no-untyped-call]
            if self.settings.n_threads == 1
            else portions(stream, lambda doc: WORD * len(doc), batch_size)
        )
        return side_by_side(predict, map(checked, batches), self.settings.n_threads)

    # Training -------------------------------------------------------------------------------------

    @abstractmethod
    def gold(self, example: Example) -> tuple[list[Any], int]:
        """The gold sentences that the estimator learns from, and how many others there are."""

    def unlabeled(self, doc: Doc) -> list[Any]:
        """The sentences of a Doc as the model sees them, to learn from without gold labels.

        Raises ValueError for models that do not.
        """
        raise ValueError(
            f"the pipe {self.name!r} does not learn from what has no labels; leave it out"
        )

    def _left_out(self) -> str:
        """The reason why sentences are left out, for the warning that counts them."""
        return "have no gold annotation"

    def _seen(self, example: Example) -> Hashable:
        """The part of the predicted side that `gold` reads, which may change from pass to pass."""
        return None

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        # spaCy evaluates this annotation where nothing is imported.
        labels: list[str] | tuple[str, ...] | None = None,
    ) -> None:
        """Let the model see the labels of the training corpus, and what else it has to know of it.

        A trained model keeps its labels and its weights.

        labels: there are these too, whether or not the examples have them; needed where the
            examples are but the beginning of a streamed corpus.
        """
        validate_get_examples(get_examples, f"{type(self).__name__}.initialize")
        gold: list[Any] = []
        n_others = n_examples = 0
        for example in get_examples():
            n_examples += 1
            sentences, others = self.gold(example)
            gold += sentences
            n_others += others
        # Where no corpus is given, spaCy gives one Doc that has nothing.
        if n_others and (gold or (n_examples > 1 and not self.estimator.is_trained)):
            logger.warning(
                "%s: %d of %d training sentences %s and are left out",
                self.name,
                n_others,
                n_others + len(gold),
                self._left_out(),
            )
        if gold or labels:
            self._prepare(gold, labels or ())

    def _prepare(self, gold: list[Any], labels: Iterable[str]) -> None:
        self.estimator.prepare(gold, labels=labels)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
        correct: bool = False,
    ) -> dict[str, float]:
        """Learn from the references of a batch, in one pass.

        The loss is the number of labels, or of actions, that were to be corrected.

        drop, sgd: not used; dropout and step are settings of the model.
        correct: do not train, but `correct`; the loss is the number of sentences that still come
            out wrong. To be asked for with
            ``nlp.update(…, component_cfg={name: {"correct": True}})``.
        Raises ValueError for a label that was not there when training began, for examples without
        anything to correct, and as `check_learns_from_batches`.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, f"{type(self).__name__}.update")
        if correct:
            losses[self.name] += len(self.correct(examples).wrong)
            return losses
        check_learns_from_batches(self.estimator.learning)
        learned: list[Any] = []
        for example in examples:
            learned += self._compile(example)
        if learned:
            # Curves of the margins that were.
            self.calibrations = {}
            losses[self.name] += self.estimator.learn(learned)[1]
        elif examples and not self._has_warned:
            self._has_warned = True
            # No error: others may learn from these examples.
            logger.warning(
                "%s: learns nothing from a batch, whose sentences %s and are left out. Train other "
                "pipes alone by nlp.select_pipes(enable=[…]), and words by a pipe "
                "'structreg_tokenizer_trainer'",
                self.name,
                self._left_out(),
            )
        return losses

    def correct(
        self, examples: Iterable[Example], *, sample: Iterable[Example] = ()
    ) -> Corrections:
        """Change the weights as little as makes the references of Examples come out right, at once.

        sample: Examples whose references are as the pipe leaves them; what occurs in them often
            takes less of a change (`BaseModel.correct`).
        Raises ValueError if the model is untrained, NothingToLearnError without gold annotation.
        """
        gold = self._learned_from(examples)
        if not gold:
            raise NothingToLearnError(
                f"the pipe {self.name!r} is to be corrected, but the examples give it nothing to "
                f"learn: their sentences {self._left_out()} and are left out. Add what is missing, "
                "or leave the pipe out"
            )
        self.calibrations = {}
        corrections: Corrections = self.estimator.correct(gold, sample=self._learned_from(sample))
        return corrections

    def _learned_from(self, examples: Iterable[Example]) -> list[Any]:
        return [sentence for example in examples for sentence in self.gold(example)[0]]

    def _compile(self, example: Example) -> list[Any]:
        doc, seen = example.reference, self._seen(example)
        before, compiled = self._compiled.get(doc, (None, None))
        if compiled is None or before != seen or not self.estimator.owns(compiled):
            try:
                compiled = self.estimator.compile(self.gold(example)[0])
            except ValueError as error:
                raise ValueError(
                    f"the pipe {self.name!r} cannot learn from a Doc: {error}"
                ) from error
            self._compiled[doc] = seen, compiled
        return list(compiled)

    # Evaluation -----------------------------------------------------------------------------------

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """The figures of the scorer, and the table of them that ``spacy evaluate`` prints."""
        from spacy_structreg.pipeline.score_table import with_table

        examples = list(examples)
        return with_table(super().score(examples, **kwargs), examples)

    # Files ----------------------------------------------------------------------------------------

    def _check_model(self) -> None:
        """Raise ValueError if a model that was read does not go with the settings."""

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The model, none if it is untrained, and the calibrations, as bytes."""
        return packed_parts(self._shim.to_bytes(), calibrations_as_bytes(self.calibrations))

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Take the model that `to_bytes` gave, its settings included."""
        model, calibration = unpacked_parts(bytes_data)
        calibrations = calibrations_of_bytes(calibration)
        self._shim.from_bytes(model)
        self._check_model()
        self.calibrations = calibrations
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model file, and that of calibrations if there are any, into a folder."""
        save_estimator(self.estimator, Path(path))
        save_calibrations(self.calibrations, Path(path))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Map the model file in the folder `path`, and take its settings.

        Raises ValueError if the file is missing, though the model was trained, or damaged, or the
        model does not go with the settings of the component.
        """
        calibrations = load_calibrations(Path(path))
        self.estimator = load_estimator(self.estimator, Path(path))
        self._check_model()
        self.calibrations = calibrations
        return self

    def _settings(self) -> dict[str, Any]:
        """The keywords of the constructor."""
        return {**vars(self.settings), "scorer": self.scorer}

    def __reduce__(self) -> tuple[Any, ...]:
        kept = self._settings(), self.calibrations
        return _make, (type(self), self.vocab, self.model, self.name, kept)


def _make(
    cls: type[Any],
    vocab: Vocab,
    model: Model[Any, Any],
    name: str,
    kept: tuple[dict[str, Any], dict[str, Calibration]],
) -> Any:
    settings, calibrations = kept
    pipe = cls(vocab, model, name, **settings)
    pipe.calibrations = calibrations
    return pipe


def component_factory(
    component: type[EstimatorPipe],
    *,
    assigns: list[str],
    score_weights: dict[str, float | None],
) -> Callable[..., EstimatorPipe]:
    """Register the factory of a component, and return it.

    Types and defaults of its settings are those of its `SETTINGS`. assigns, score_weights: as of
    ``Language.factory``. None requires tags, as ``nlp.analyze_pipes`` sees no tags of a tokenizer.
    """
    settings = component.SETTINGS
    hints, defaults = hints_of(settings), defaults_of(settings, in_config=True)

    def create(nlp: Language, name: str, model: Model[Any, Any], **values: Any) -> EstimatorPipe:
        return component(nlp.vocab, model, name, **values)

    made: Any = create
    made.__doc__ = f"Make ``{component.FACTORY}``, by the settings of `{settings.__name__}`."
    keywords = {name: hints[name] for name in defaults}
    keywords["scorer"] = Callable[..., dict[str, Any]] | None
    registered: Callable[..., EstimatorPipe] = Language.factory(
        component.FACTORY,
        assigns=assigns,
        default_config={
            "model": {"@architectures": component.ARCHITECTURE},
            **defaults,
            "scorer": component.scorer_config(),
        },
        default_score_weights=score_weights,
    )(keyword_signature(made, keywords))
    return registered


def keyword_signature(create: Any, hints: Mapping[str, Any]) -> Any:
    """Show spaCy the settings of a factory that takes them as ``**values``, with their types."""
    *fixed, _ = inspect.signature(create, eval_str=True).parameters.values()
    create.__signature__ = inspect.Signature(
        [
            *fixed,
            *(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint)
                for name, hint in hints.items()
            ),
        ]
    )
    return create


def create_without_losses() -> Callable[[Language], Language]:
    """Make what ``[training.before_to_disk]`` calls: `without_losses`."""
    return without_losses


def without_losses(nlp: Language) -> Language:
    """Take the losses of pipes of ours out of the meta data of a pipeline, and return it.

    They count what was corrected between two evaluations, which is no figure of the model.
    """
    performance = nlp.meta.get("performance", {})
    for name, pipe in nlp.components:
        if isinstance(pipe, (EstimatorPipe, TokenizerTrainer)):
            performance.pop(f"{name}_loss", None)
    return nlp


def sentence_bounds(doc: Doc) -> list[tuple[int, int]]:
    """The first token of each sentence of a Doc, and the first after it.

    A Doc that knows of no sentences is one.
    """
    if "sents" in doc.user_hooks:
        return [(sentence.start, sentence.end) for sentence in doc.sents]
    if not len(doc):
        return []
    starts = doc.to_array("SENT_START").tolist()
    return list(pairwise([0, *[i for i, start in enumerate(starts) if i and start == 1], len(doc)]))


def model_bounds(doc: Doc) -> list[tuple[int, int]]:
    """Parts of a Doc that a model takes at a time, none too long.

    They are those of `sentence_bounds`, of which those of more than `corpora.sentences.LONGEST`
    tokens are cut by punctuation, or at the best place: memory grows with the length of a part.
    """
    from spacy_structreg.corpora.sentences import LONGEST

    if len(doc) <= LONGEST:
        return sentence_bounds(doc)
    bounds: list[tuple[int, int]] = []
    for start, end in sentence_bounds(doc):
        if end - start > LONGEST:
            bounds += punctuation_bounds(doc, [(start, end)])
        else:
            bounds.append((start, end))
    return bounds


def punctuation_bounds(
    doc: Doc,
    bounds: Iterable[tuple[int, int]],
    held: Sequence[bool] | None = None,
    *,
    wrapped: bool = False,
) -> Iterator[tuple[int, int]]:
    """Parts of a Doc, cut where `corpora.sentences` finds that a sentence ends.

    bounds: the first token of each part, and the first after it. held: for each token, whether it
    is to stay with the one before it. wrapped: as of `sentence_ends`.
    """
    # It is compiled, and no pipeline but ours is to need what is.
    from spacy_structreg.corpora.sentences import split_words

    for start, end in bounds:
        tokens = doc[start:end]
        sentences = split_words(
            [token.text for token in tokens],
            [bool(token.whitespace_) for token in tokens],
            wrapped=wrapped,
        )
        ends = accumulate(map(len, sentences), initial=start)
        cuts = [i for i in ends if start < i < end and not (held and held[i])]
        yield from pairwise([start, *cuts, end])


def aligned(example: Example, values: Sequence[ValueT]) -> list[ValueT | None]:
    """For each token of the reference, the value of the predicted one; None if there is none.

    values: of all tokens of the predicted side.
    """
    predicted, reference = example.predicted, example.reference
    if [token.text for token in predicted] == [token.text for token in reference]:
        return list(values)
    there, back = example.alignment.y2x, example.alignment.x2y
    found: list[ValueT | None] = []
    for i in range(len(reference)):
        places = there[i]
        same = len(places) == 1 and len(back[int(places[0])]) == 1
        found.append(values[int(places[0])] if same else None)
    return found


def check_learns_from_batches(learning: Any) -> None:
    """Raise ValueError for settings of learning that need the whole corpus at once.

    spaCy hands over batches.
    """
    for name, whole, others in (
        ("clock", "epochs", "'examples' or 'mistakes'"),
        ("optimizer", "lbfgs", "'sgd'"),
    ):
        if getattr(learning, name, None) == whole:
            raise ValueError(
                f"{name} = {whole!r} of the model's learning cannot be had in spacy train, "
                f"which hands over batches; choose {others}, or train with 'python -m spacy "
                "structreg fit'"
            )
