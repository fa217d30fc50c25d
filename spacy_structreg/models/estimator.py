"""The base of models of one spec: training by epochs, averages of models, weights in files."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Generic

import numpy as np

from spacy_structreg.about import __version__
from spacy_structreg.learn.frozen_rows import FrozenRows
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.learning_settings import AnyLearning
from spacy_structreg.learn.model_file import Arrays, State, field
from spacy_structreg.learn.rows import TrainedRows, TrainingRows
from spacy_structreg.models.base_model import BaseModel, FitOptions
from spacy_structreg.models.decoders import DecoderPool
from spacy_structreg.models.gold import GoldT
from spacy_structreg.models.model_spec import ModelSpec, StoredSpec
from spacy_structreg.models.protocols import Compiled, DecoderT, Trainer
from spacy_structreg.models.settings import TrainingSettings
from spacy_structreg.models.stored_model import besides_tables, by_table, nested, numbered, unnested
from spacy_structreg.models.word_counts import WordCounts

if TYPE_CHECKING:
    from typing_extensions import Self

    from spacy_structreg.learn.freezing import Bits
    from spacy_structreg.learn.learning_settings import Mean
    from spacy_structreg.metrics.figures import Scores
    from spacy_structreg.models.checkpoints import Checkpoint
    from spacy_structreg.models.corrections import CorrectionTrainer
    from spacy_structreg.models.epochs import Epochs
    from spacy_structreg.models.reports import EpochReport
    from spacy_structreg.models.training_rng import TrainingRng

# Arrays of a running training that are no weights.
_KEPT = "training"


class Estimator(BaseModel[GoldT], Generic[GoldT, DecoderT]):
    """A linear model that is trained on gold sentences, one spec of labels and features.

    A subclass names its settings (`SETTINGS`) and its spec (`SPEC`), and says how to predict and
    to score.

    settings: a seed of None is drawn from Python's generator. spec: None if labels or features
    come from the data.

    Raises ValueError for settings that it cannot be trained by.
    """

    SPEC: ClassVar[type[ModelSpec[Any, Any]]]
    """Its gold sentences, labels and features."""

    MUST_AGREE: ClassVar[tuple[str, ...]]
    """The attributes that models must have in common to be averaged: what they see."""

    GIVEN_WORDS: ClassVar[bool] = False
    """True if it predicts from given words, so that those of its training are counted."""

    COUNTS: ClassVar[bool] = False
    """True if its trainers can count features first (`AgendaTrainer.restrict`)."""

    CLASSIFIES: ClassVar[bool] = False
    """True if an input has one label, so that there are no pairs of labels."""

    SETTINGS: ClassVar[type[TrainingSettings]]
    settings: TrainingSettings

    def __init__(
        self, settings: TrainingSettings, spec: ModelSpec[GoldT, DecoderT] | None = None
    ) -> None:
        learning = settings.chosen_learning
        if learning.min_count > 1 and not self.COUNTS:
            raise ValueError(
                f"min_count is {learning.min_count}, but a {self.NOUN} of this kind has weights "
                "for all features of its corpus; leave it at 1"
            )
        if learning.needs_classes and not self.CLASSIFIES:
            raise ValueError(
                f"noise is 'gaussian_dropout', but a {self.NOUN} of this kind labels sequences, "
                "and it is for texts of two categories; choose 'dropout'"
            )
        seed = random.getrandbits(32) if settings.seed is None else settings.seed
        super().__init__(replace(settings, learning=learning, seed=seed))
        self.corpus_checksum: str | None = None
        # Of the corpus that labels were read from; empty where there was none.
        self.word_counts = WordCounts()
        self.history: list[EpochReport] = []
        self._spec = spec
        self._trained: DecoderPool[DecoderT] | None = None
        self._trainer: Trainer | None = None
        self._rng: TrainingRng | None = None
        # A trainer of corrections, and the weights that it has come from or to.
        self._correcting: tuple[DecoderPool[DecoderT], CorrectionTrainer] | None = None
        # Whether weights have changed since they were averaged.
        self._outdated = False

    # Hooks ---------------------------------------------------------------------------------------

    def _examples(self, sentence: GoldT) -> Sequence[GoldT]:
        """The training examples in a gold sentence."""
        return [sentence]

    # Training ------------------------------------------------------------------------------------

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, sorted; none as long as they are to be learned from data."""
        return () if self._spec is None else self._spec.labels

    @property
    def is_trained(self) -> bool:
        """True if there are weights to predict with."""
        trainer = self._trainer
        return self._trained is not None or (trainer is not None and trainer.learner.clock > 0)

    @property
    def is_frozen(self) -> bool:
        """True if it is for prediction only (`freeze`)."""
        return self._trained is not None and self._trained.is_frozen

    @property
    def is_training(self) -> bool:
        return self._trainer is not None

    def _fit(
        self,
        gold: list[GoldT],
        dev: list[GoldT] | None,
        options: FitOptions,
        unlabeled: Sequence[Any] = (),
    ) -> None:
        """`fit`. unlabeled: what the spec can compile without labels (`compile_unlabeled`)."""
        from spacy_structreg.models.checkpoints import Checkpoint
        from spacy_structreg.models.parallel import in_other_processes, run_tasks

        word_counts = WordCounts()
        gold = list(self._counting(gold, word_counts))
        examples = self._all_examples(gold)
        spec = self.SPEC.of_corpus(self.settings, examples, frozenset())
        checksum = self._checksum(gold)
        identity = {
            "task": self.KIND,
            "settings": self.settings.as_dict(),
            "training corpus": checksum,
            "number of examples": len(examples) + len(unlabeled),
            "development corpus": None if dev is None else self._checksum(dev),
            "version": __version__,
        }
        state = None if options.checkpoint is None else Checkpoint(options.checkpoint, identity)
        # Threads that have a model each leave none over for the development corpus.
        plan = self._epochs(spec, dev, options.n_threads if self.n_models == 1 else 1)

        def call_with_model(tables: list[TrainedRows]) -> None:
            assert options.on_better is not None
            model = self.untrained()
            model._spec = spec
            model.word_counts = word_counts
            model._set_weights(tables)
            model.corpus_checksum = checksum
            options.on_better(model)

        calls: dict[str, Any] = {
            "progress": options.progress,
            "on_epoch": options.on_epoch,
            "on_better": None if options.on_better is None else call_with_model,
        }
        if self.n_models > 1 and in_other_processes():
            if state is not None:
                state.make_folder()
            parts = _Parts(self.untrained(), spec, examples, unlabeled, dev, state)
            with closing(
                run_tasks(_train_model, parts, range(self.n_models), options.n_threads)
            ) as models:
                trained, history = plan.gather(models, **calls)
        else:
            learner, compiled = self._learner_of(spec, examples, unlabeled)
            trained, history = plan.train(
                spec, learner, compiled, n_threads=options.n_threads, checkpoint=state, **calls
            )
        tables = _mean_of(trained, self.mean, self.learning)
        with self._lock:
            self._spec = spec
            self.word_counts = word_counts
            self._set_weights(tables)
            self._trainer = None
            self._rng = None
            self.history = history
            self.corpus_checksum = checksum

    def _generators(self) -> TrainingRng:
        """The random generators of the running training."""
        from spacy_structreg.models.training_rng import TrainingRng

        if self._rng is None:
            self._rng = TrainingRng(self.seed)
        return self._rng

    def _checksum(self, gold: list[GoldT]) -> str:
        from spacy_structreg.corpora.checksum import corpus_checksum

        return corpus_checksum(chain.from_iterable(map(self.SPEC.layers, gold)))

    def _epochs(
        self, spec: ModelSpec[GoldT, DecoderT], held_out: list[GoldT] | None, n_threads: int
    ) -> Epochs:
        """The plan of `fit`. held_out: the development corpus, which n_threads threads decode."""
        from spacy_structreg.models.epochs import Epochs

        def evaluate(tables: list[TrainedRows]) -> Scores:
            pool = DecoderPool(tables, spec.new_decoder)
            return self._score(held_out or [], pool, None, n_threads)

        return Epochs(
            epochs=self.epochs,
            patience=self.patience,
            n_models=self.n_models,
            seed=self.seed,
            evaluate=evaluate if held_out else None,
            primary=self.PRIMARY,
        )

    def _learner_of(
        self, spec: Any, examples: Sequence[GoldT], unlabeled: Sequence[Any]
    ) -> tuple[Learner, list[Compiled]]:
        """A new learner, and the examples of a training compiled for it."""

        def compile_all(learner: Learner) -> tuple[list[Compiled], list[Compiled]]:
            return _compile(spec, examples, learner), [
                spec.compile_unlabeled(items, learner) for items in unlabeled
            ]

        learner = spec.new_learner(self.learning)
        spec.check_memory(learner, compile_all)
        compiled, further = compile_all(learner)
        if not compiled:
            raise ValueError(
                f"there is nothing in the training corpus that a {self.NOUN} could learn from"
            )
        _count(spec, learner, compiled)
        return learner, compiled + further

    def prepare(self, sentences: Iterable[GoldT], *, labels: Iterable[str] = ()) -> None:
        """Learn what labels and features depend on; as `BaseModel.prepare`.

        Features are counted here, if the setting `min_count` asks for it.
        labels: there are these too, whether or not the sentences have them. Raises ValueError for
        labels that the model cannot have.
        """
        with self._lock:
            if self._trained is not None or self._trainer is not None:
                return
            word_counts = WordCounts()
            checked = self._counting(map(self.SPEC.checked, sentences), word_counts)
            examples: Iterable[GoldT] = chain.from_iterable(map(self._examples, checked))
            counts = self.learning.min_count > 1
            expected = frozenset(labels)
            counted = list(examples) if counts else []
            spec = self.SPEC.of_corpus(self.settings, counted if counts else examples, expected)
            if unknown := sorted(expected.difference(spec.labels)):
                raise ValueError(f"a {self.NOUN} of this kind has no label {unknown[0]!r:.60}")
            self._spec = spec
            self.word_counts = word_counts
            if counts:
                self._compile_for_running(spec, counted)

    def compile(self, sentences: Iterable[GoldT]) -> list[Compiled]:
        with self._lock:
            word_counts = WordCounts()
            checked = self._counting(map(self.SPEC.checked, sentences), word_counts)
            examples = self._all_examples(checked)
            if self._spec is None:
                self._spec = self.SPEC.of_corpus(self.settings, examples, frozenset())
                self.word_counts = word_counts
            return self._compile_for_running(self._spec, examples)

    def _compile_for_running(
        self, spec: ModelSpec[GoldT, DecoderT], examples: Sequence[GoldT]
    ) -> list[Compiled]:
        """Compile examples for the running training, and count features if none were counted."""
        learner = self._active_trainer().learner
        spec.check_memory(learner, lambda other: _compile(spec, examples, other))
        compiled = _compile(spec, examples, learner)
        try:
            _count(spec, learner, compiled)
        except ValueError:
            # It has no features, and has learned nothing: other examples may have enough.
            self._trainer = None
            raise
        return compiled

    def learn(self, sentences: Sequence[Compiled]) -> tuple[int, int]:
        with self._lock:
            trainer = self._active_trainer()
            if not self.owns(sentences):
                raise ValueError(
                    "a sentence was compiled for another training; compile it again after fit"
                )
            if self.learning.needs_whole_corpus:
                raise ValueError(
                    "optimizer = 'lbfgs' needs the whole corpus at once: call fit, or choose "
                    "optimizer = 'sgd'"
                )
            if not sentences:
                return 0, 0
            # Before anything can fail: weights may have changed even then.
            self._outdated = True
            try:
                wrong = self._generators().epoch(self._fitted_spec(), trainer, sentences)
            except ValueError:
                # The weights are good for nothing then; those before the training are.
                self._trainer = None
                self._outdated = False
                raise
            # For corrections. Not before: a trainer on the agenda makes rows as it learns.
            trainer.learner.note(trainer.count(sentences))
            self.corpus_checksum = None
            return wrong

    def owns(self, sentences: Sequence[Compiled]) -> bool:
        trainer = self._trainer
        return trainer is not None and all(
            trainer.learner.owns(sentence.numbering, sentence.n_rows_known)
            for sentence in sentences
        )

    # Corrections ---------------------------------------------------------------------------------

    def _correction(
        self, gold: list[GoldT], sample: Iterable[GoldT]
    ) -> Callable[[], tuple[dict[int, str], int]]:
        trainer = self._correction_trainer()
        if examples := self._compiled_sample(sample, trainer.learner):
            trainer.count_features(examples)
        return partial(self._change, trainer, gold)

    def _correction_trainer(self) -> CorrectionTrainer:
        """A trainer that goes on from the trained weights, or from where it has put them."""
        from spacy_structreg.learn.learner_factory import corrector_from_trained
        from spacy_structreg.models.corrections import CorrectionTrainer

        trained = self._decoders()
        if self._correcting is None or self._correcting[0] is not trained:
            # Most of the corrected weights are still those of a file, but need it no longer.
            self._copy_to_memory()
            trained = self._decoders()
            corrector = corrector_from_trained(trained.tables, self.learning)
            trainer = CorrectionTrainer(self._fitted_spec().new_correction_trainer(corrector))
            self._correcting = (trained, trainer)
        return self._correcting[1]

    def _compiled_sample(self, sample: Iterable[GoldT], learner: Learner) -> list[Compiled]:
        compiled = []
        for sentence in map(self.SPEC.checked, sample):
            # Not all that is found can be learned: tags of listed words, for one, may be unknown.
            with suppress(ValueError):
                compiled += _compile(self._fitted_spec(), self._examples(sentence), learner)
        return compiled

    def _change(
        self, trainer: CorrectionTrainer, gold: Sequence[GoldT]
    ) -> tuple[dict[int, str], int]:
        """Let a trainer correct sentences, and predict by its weights."""
        reasons = {}
        compiled = []
        spec = self._fitted_spec()
        for number, sentence in enumerate(gold):
            examples = self._examples(sentence)
            try:
                compiled.append(_compile(spec, examples, trainer.learner))
            except ValueError as error:
                reasons[number] = str(error)
                continue
            for reason in filter(None, map(spec.unreachable_reason, examples)):
                reasons.setdefault(number, reason)
        n_steps = trainer.correct(compiled)
        if n_steps:
            tables = trainer.learner.corrected(self._decoders().tables)
            self._correcting = (self._set_weights(tables), trainer)
            self._trainer = None
            self.corpus_checksum = None
        return reasons, n_steps

    def _active_trainer(self) -> Trainer:
        """The running training; one that goes on from the trained weights, or from nothing."""
        from spacy_structreg.learn.learner_factory import learner_from_trained

        if self._trainer is None:
            self._check_not_frozen("trained further")
            # Also the weights, which stand again if the training fails.
            self._copy_to_memory()
            spec = self._fitted_spec()
            self._trainer = spec.new_trainer(
                spec.new_learner(self.learning)
                if self._trained is None
                else learner_from_trained(self._trained.tables, self.learning)
            )
        return self._trainer

    def _fitted_spec(self) -> ModelSpec[GoldT, DecoderT]:
        if self._spec is None:
            raise ValueError(f"the {self.NOUN} knows no labels; call fit, or prepare")
        return self._spec

    def _all_examples(self, gold: Iterable[GoldT]) -> list[GoldT]:
        return list(chain.from_iterable(map(self._examples, gold)))

    def _counting(self, gold: Iterable[GoldT], counts: WordCounts) -> Iterable[GoldT]:
        """The same sentences, of which the words are counted as they pass, if that is asked for."""
        return counts.counting(self.SPEC, gold) if self.GIVEN_WORDS else gold

    # Prediction ----------------------------------------------------------------------------------

    def _decoders(self) -> DecoderPool[DecoderT]:
        # Averaged anew if training has gone on.
        if self._mapped is not None:
            self._check_source()
        trained = self._trained
        if trained is not None and not self._outdated:
            return trained
        with self._lock:
            if not self.is_trained:
                raise ValueError(
                    f"the {self.NOUN} has not been trained; call fit, or load a trained model"
                )
            if self._trained is not None and not self._outdated:
                return self._trained
            return self._set_weights(self._active_trainer().learner.average())

    def _set_weights(self, tables: list[TrainedRows]) -> DecoderPool[DecoderT]:
        """Predict by these weights from now on."""
        self._trained = DecoderPool(tables, self._fitted_spec().new_decoder)
        self._source = self._mapped = None
        self._outdated = False
        return self._trained

    def _search_anew(self) -> None:
        if self._spec is None:
            return
        spec: Any = replace(self._spec, settings=self.settings)  # type: ignore[type-var]
        self._spec = spec
        if self._trained is not None:
            self._trained = DecoderPool(self._trained.tables, spec.new_decoder)

    # Frozen models -------------------------------------------------------------------------------

    def freeze(self, *, bits: Bits = 8, prune: float = 0.0) -> Self:
        """A model for prediction only; see `StoredModel.freeze`."""
        from spacy_structreg.learn.freezing import check_freezing, frozen_rows

        check_freezing(bits, prune)
        with self._lock:
            tables = self._decoders().tables
            self._check_not_frozen("frozen again")
            frozen = self.untrained()
            frozen._spec = self._spec_in_memory().frozen(bits, prune)
            frozen._set_weights([frozen_rows(table, bits, prune) for table in tables])
            frozen.word_counts = self.word_counts
            frozen.corpus_checksum = self.corpus_checksum
        return frozen

    # Averages ------------------------------------------------------------------------------------

    @classmethod
    def average(cls, models: Sequence[Self], mean: Mean = "nonzero") -> Self:
        if not models:
            raise ValueError("there is no model to average")
        for name in ("KIND", "LEARNING", *cls.MUST_AGREE):
            seen = dict.fromkeys(
                type(model.learning).__name__ if name == "LEARNING" else getattr(model, name)
                for model in models
            )
            if len(seen) > 1:
                raise ValueError(
                    f"the models to average differ in {name.lower()}: "
                    f"{' and '.join(map(repr, seen))}"
                )
        weights = [model._decoders().tables for model in models]
        for model in models:
            model._check_not_frozen("averaged")
        specs = [model._fitted_spec() for model in models]
        entries, arrays = specs[0].contents()
        for spec in specs[1:]:
            _check_same_contents(entries, arrays, spec)
        averaged = models[0].untrained()
        averaged._spec = models[0]._spec_in_memory()
        if len(models) == 1:
            weights = [models[0]._tables_in_memory()]
        averaged._set_weights(_mean_of(weights, mean, averaged.learning))
        checksums = {model.corpus_checksum for model in models}
        averaged.word_counts = sum((model.word_counts for model in models), WordCounts())
        averaged.corpus_checksum = checksums.pop() if len(checksums) == 1 else None
        return averaged

    # Files ---------------------------------------------------------------------------------------

    def _state(self, state: State) -> tuple[dict[str, Any], Arrays]:
        running: dict[str, Any] = {}
        kept: Arrays = {}
        if state != "training":
            tables = [table.arrays for table in self._decoders().tables]
        elif self._trainer is not None:
            tables = [table.state() for table in self._trainer.learner.tables_as_weights()]
            learner = self._trainer.learner
            running["clock"] = learner.clock
            running |= learner.totals()
            running["generators"] = self._generators().state()
        else:
            raise ValueError("no training is running whose state could be saved")
        spec = self._fitted_spec()
        if state == "training":
            kept = nested(_KEPT, spec.training_state(self._trainer))
        entries, arrays = spec.contents()
        return {
            "labels": list(spec.labels),
            "settings": self.settings.as_dict(),
            "corpus": self.corpus_checksum,
            "columns": list(spec.widths),
            **({"words": self.word_counts.as_dict()} if self.GIVEN_WORDS else {}),
            **({"spec": entries} if entries else {}),
            **running,
        }, {**numbered(tables), **kept, **arrays}

    def _restore(self, header: dict[str, Any], arrays: Arrays) -> None:
        state = field(header, "state", str)
        others = besides_tables(arrays)
        kept = unnested(_KEPT, others) if state == "training" else {}
        for name in nested(_KEPT, kept):
            del others[name]
        if state == "training":
            # The tables are copied as well.
            others, kept = _copies(others), _copies(kept)
        spec = self._spec = self._stored_spec(header, others)
        self.corpus_checksum = field(header, "corpus", (str, type(None)))
        if self.GIVEN_WORDS:
            self.word_counts = WordCounts.from_dict(field(header, "words", dict))
        debts = self.learning.penalties["cumulative_l1"] > 0
        tables = by_table(arrays, len(spec.widths), state, debts=debts)
        rows = list(zip(spec.widths, tables, strict=True))
        if state != "training":
            kind = FrozenRows if state == "frozen" else TrainedRows
            self._set_weights([kind(width, table) for width, table in rows])
            with self._decoders().borrow():
                pass  # A decoder checks that rows and features fit, before the first text.
        else:
            from spacy_structreg.learn.learner_factory import new_learner

            learner = new_learner(
                [
                    TrainingRows.from_state(width, table, self.learning.penalties)
                    for width, table in rows
                ],
                self.learning,
                field(header, "clock", int),
            )
            learner.restore_totals(header)
            self._trainer = spec.resumed_trainer(learner, kept)
            from spacy_structreg.models.training_rng import TrainingRng

            self._rng = TrainingRng.from_state(self.seed, field(header, "generators", list))
            self._outdated = True

    def _stored_spec(self, header: dict[str, Any], arrays: Arrays) -> ModelSpec[GoldT, DecoderT]:
        """The spec of a file, which must say of itself what the file says."""
        labels = field(header, "labels", list)
        entries = field(header, "spec", dict) if "spec" in header else {}
        spec = self.SPEC.of_file(self.settings, StoredSpec(labels, entries, arrays))
        if tuple(labels) != spec.labels or any(a >= b for a, b in pairwise(labels)):
            raise ValueError(f"its labels are not sorted and distinct: {labels!r:.80}")
        if tuple(field(header, "columns", list)) != spec.widths:
            raise ValueError("its weight rows do not fit its templates")
        expected = spec.contents()
        if unknown := sorted(set(arrays) - set(expected[1])):
            raise ValueError(f"it has an array {unknown[0]!r} that belongs to nothing")
        if expected[0] != entries or set(expected[1]) != set(arrays):
            raise ValueError("its labels and features are not what they say of themselves")
        return spec

    def _spec_in_memory(self) -> ModelSpec[GoldT, DecoderT]:
        """The spec, of copies of what it has of a mapped file: for other weights than its own."""
        spec = self._fitted_spec()
        if self._mapped is None:
            return spec
        self._check_source()
        entries, arrays = spec.contents()
        if not arrays:
            return spec
        stored = StoredSpec(list(spec.labels), entries, _copies(arrays))
        return self.SPEC.of_file(self.settings, stored)

    def _tables_in_memory(self) -> list[TrainedRows]:
        """The weights, of copies of what lies in a mapped file."""
        tables = self._decoders().tables
        if self._mapped is None:
            return tables
        return [
            (FrozenRows if isinstance(table, FrozenRows) else TrainedRows)(
                table.n_columns, _copies(table.arrays)
            )
            for table in tables
        ]

    def _copy_to_memory(self) -> None:
        if self._mapped is not None:
            spec, tables = self._spec_in_memory(), self._tables_in_memory()
            self._spec = spec
            self._set_weights(tables)

    @property
    def _is_as_loaded(self) -> bool:
        return self._source is not None and not self._outdated


@dataclass(frozen=True)
class _Parts(Generic[GoldT]):
    """The parts of a training of several models, which other processes can have, too.

    The spec travels as in a model file, so that no file that it was made from is read there.
    """

    model: Estimator[GoldT, Any]
    spec: ModelSpec[GoldT, Any]
    examples: Sequence[GoldT]
    unlabeled: Sequence[Any]
    held_out: list[GoldT] | None
    checkpoint: Checkpoint | None

    def __reduce__(self) -> tuple[Any, ...]:
        spec = StoredSpec(list(self.spec.labels), *self.spec.contents())
        others = self.examples, self.unlabeled, self.held_out, self.checkpoint
        return _restored_parts, (self.model, spec, *others)


def _restored_parts(model: Any, spec: StoredSpec, *others: Any) -> _Parts[Any]:
    return _Parts(model, model.SPEC.of_file(model.settings, spec), *others)


def _train_model(parts: _Parts[Any], number: int) -> tuple[list[TrainedRows], list[EpochReport]]:
    """Train the model of a number, counted from 0, in whatever process."""
    model, spec, state = parts.model, parts.spec, parts.checkpoint
    if state is not None and not state.has_folder:
        state = None
    learner, compiled = model._learner_of(spec, parts.examples, parts.unlabeled)
    plan = model._epochs(spec, parts.held_out, 1)
    return plan.train_model(number, spec, learner, compiled, state)


def _copies(arrays: Arrays) -> Arrays:
    return {name: np.array(array) for name, array in arrays.items()}


def _compile(
    spec: ModelSpec[GoldT, Any], examples: Iterable[GoldT], learner: Learner
) -> list[Compiled]:
    compiled = (spec.compile(example, learner) for example in examples)
    return [example for example in compiled if example is not None]


def _count(spec: ModelSpec[GoldT, Any], learner: Learner, compiled: Sequence[Compiled]) -> None:
    """Restrict a training to features that are frequent enough, unless that has been done.

    Without examples it is left to the next ones. Raises ValueError if no feature is.
    """
    least: int = learner.settings.min_count
    if least > 1 and compiled and not any(table.closed for table in learner.tables):
        trainer: Any = spec.new_trainer(learner)
        trainer.restrict(compiled, least)
        if learner.n_rows() == 0:
            raise ValueError(
                f"min_count is {least}, but no feature of the training corpus is counted so often; "
                "lower it, or give more sentences"
            )


def _mean_of(
    models: Sequence[list[TrainedRows]], mean: Mean, learning: AnyLearning
) -> list[TrainedRows]:
    """The mean of the weights of models, pruned and rounded as the settings have it."""
    from spacy_structreg.learn.model_average import average_rows, rounded_rows

    if len(models) == 1:
        return models[0]
    return [
        rounded_rows(
            average_rows(tables, mean, learning.prune_of(max(table.n_rows for table in tables))),
            learning.precision,
        )
        for tables in zip(*models, strict=True)
    ]


def _check_same_contents(
    entries: dict[str, Any], arrays: Arrays, spec: ModelSpec[Any, Any]
) -> None:
    """Raise ValueError if a spec holds other contents than these."""
    others, other_arrays = spec.contents()
    for name in sorted(entries.keys() | others.keys()):
        if entries.get(name) != others.get(name):
            raise ValueError(f"the models to average differ in {name}")
    for name in sorted(arrays.keys() | other_arrays.keys()):
        if not np.array_equal(arrays.get(name, ()), other_arrays.get(name, ())):
            raise ValueError(f"the models to average differ in {name}")
