"""What all estimators share: training by epochs, averages of models, weights in files."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Generic

import numpy as np

from spacy_structreg.about import __version__
from spacy_structreg.corpora.checksum import corpus_checksum
from spacy_structreg.corpora.errors import StrPath
from spacy_structreg.estimators.checkpoints import Checkpoint
from spacy_structreg.estimators.decoders import DecoderPool
from spacy_structreg.estimators.draws import Draws
from spacy_structreg.estimators.epochs import Epochs
from spacy_structreg.estimators.gold import GoldKind, GoldT
from spacy_structreg.estimators.protocols import Compiled, DecoderT, Trainer
from spacy_structreg.estimators.reports import EpochReport, ScoresT
from spacy_structreg.estimators.settings import (
    MAX_EPOCHS,
    MAX_MODELS,
    CompleteTemplates,
    choose,
    number,
    whole,
)
from spacy_structreg.estimators.stored import StoredModel, besides_tables, by_table, numbered
from spacy_structreg.estimators.structure import Structure
from spacy_structreg.estimators.word_counts import WordCounts
from spacy_structreg.learn.averaging import MEANS, Mean, average_rows
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.learners import learner_from_trained, new_learner
from spacy_structreg.learn.log_linear import LogLinearLearner
from spacy_structreg.learn.model_file import Arrays, State, field
from spacy_structreg.learn.rows import TrainedRows, TrainingRows
from spacy_structreg.learn.settings import AnyLearning, Learning, LogLinear, learning_from_dict

if TYPE_CHECKING:
    from typing_extensions import Self


class Estimator(StoredModel, Generic[GoldT, DecoderT, ScoresT]):
    """A linear model that is trained on gold sentences, one structure of labels and features.

    A subclass names its settings (`SETTINGS`, `_settings`, `_arguments`) and its structure, and
    says how to score; see the class attributes and the methods under "Hooks".

    learning: how weights are learnt and regularised; of a kind that `LEARNS` names.
    epochs: passes over the training corpus, 1 to 1,000,000. patience: stop after so many epochs
        without a better figure on the development corpus, if `fit` gets one; None for never.
    n_models: train so many models, 1 to 1,000, with the seeds `seed`, `seed` + 1, …, and average
        them; the seeds of groups that are to be independent lie n_models apart. mean: how to
        average, ``"nonzero"`` or ``"plain"`` (`learn.averaging`).
    seed: of all that training draws; None draws one from Python's generator.
    structure: None if labels or features come from the data.

    Raises ValueError for settings that do not exist.
    """

    GOLD: ClassVar[GoldKind[Any]]
    """What gold sentences are."""

    PRIMARY: str
    """The name of the figure by which the best epoch is chosen, in `Scores.as_dict`."""

    MUST_AGREE: ClassVar[tuple[str, ...]]
    """The attributes that models must have in common to be averaged: what they see."""

    LEARNS: ClassVar[tuple[type[AnyLearning], ...]] = (Learning,)
    """The kinds of learning that its kernels can do."""

    GIVEN_WORDS: ClassVar[bool] = False
    """True if it predicts from given words, so that those of its training are counted."""

    COUNTS: ClassVar[bool] = False
    """True if its trainers can count features first (`AgendaTrainer.restrict`)."""

    SETTINGS: ClassVar[Mapping[str, tuple[type, ...]]] = {
        "learning": (dict,),
        "epochs": (int,),
        "patience": (int, type(None)),
        "n_models": (int,),
        "mean": (str,),
        "seed": (int,),
    }

    def __init__(
        self,
        *,
        learning: AnyLearning,
        epochs: int,
        patience: int | None,
        n_models: int,
        mean: Mean,
        seed: int | None,
        structure: Structure[GoldT, DecoderT] | None = None,
    ) -> None:
        super().__init__()
        choose("mean", mean, MEANS)
        if not isinstance(learning, self.LEARNS):
            raise ValueError(
                f"a {self.NOUN} of this kind is not trained by {type(learning).__name__} settings, "
                f"only by {' or '.join(kind.__name__ for kind in self.LEARNS)}"
            )
        if learning.min_count > 1 and not self.COUNTS:
            raise ValueError(
                f"min_count is {learning.min_count}, but a {self.NOUN} of this kind has weights "
                "for all features of its corpus; leave it at 1"
            )
        if isinstance(learning, LogLinear) and learning.optimizer == "lbfgs" and n_models > 1:
            raise ValueError(
                f"optimizer = 'lbfgs' draws nothing, so that {n_models} models would be the same; "
                "choose n_models = 1, or optimizer = 'sgd'"
            )
        self.learning = learning
        self.epochs = whole("epochs", epochs, 1, MAX_EPOCHS)
        self.patience = None if patience is None else whole("patience", patience, 1, MAX_EPOCHS)
        self.n_models = whole("n_models", n_models, 1, MAX_MODELS)
        self.mean: Mean = mean
        self.seed = random.getrandbits(32) if seed is None else whole("seed", seed, 0)
        self.corpus_checksum: str | None = None
        # Of the corpus that labels were read from; empty where there was none.
        self.word_counts = WordCounts()
        self.history: list[EpochReport[ScoresT]] = []
        self._structure = structure
        # Labels that there are, whether or not the examples have them.
        self._expected: frozenset[str] = frozenset()
        self._trained: DecoderPool[DecoderT] | None = None
        self._trainer: Trainer | None = None
        self._draws = Draws(self.seed)
        # Whether weights have changed since they were averaged.
        self._outdated = False

    # Hooks ---------------------------------------------------------------------------------------

    @abstractmethod
    def _structure_of(self, examples: Iterable[GoldT]) -> Structure[GoldT, DecoderT]:
        """The structure for a training on these examples, which `_examples` gave.

        Only a structure that depends on data needs to read them; one whose labels do has those of
        `_expected`, too. Raises ValueError if there can be none for them.
        """

    def _restored_structure(
        self, labels: list[Any], entries: dict[str, Any], arrays: Arrays
    ) -> Structure[GoldT, DecoderT]:
        """The structure of a model file: from its labels and what `Structure.contents` gave.

        To be overridden where structures depend on data. Only that labels are a list is certain:
        raises ValueError for whatever cannot be used. Afterwards labels, columns, entries and the
        names of arrays are held to what the structure says of itself.
        """
        return self._structure_of(())

    def _examples(self, sentence: GoldT) -> Sequence[GoldT]:
        """The training examples in a gold sentence."""
        return [sentence]

    @abstractmethod
    def _score(
        self,
        gold: list[GoldT],
        decoders: DecoderPool[DecoderT],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> ScoresT:
        """The scores of what decoders predict for checked gold sentences."""

    def _settings(self) -> dict[str, Any]:
        return {
            "learning": self.learning.as_dict(),
            "epochs": self.epochs,
            "patience": self.patience,
            "n_models": self.n_models,
            "mean": self.mean,
            "seed": self.seed,
        }

    @classmethod
    def _arguments(cls, settings: dict[str, Any]) -> dict[str, Any]:
        arguments = {**settings, "learning": learning_from_dict(settings["learning"])}
        if "templates" in cls.SETTINGS:
            # Of a file: all that there are.
            arguments["templates"] = CompleteTemplates.checked(settings["templates"])
        return arguments

    # Training ------------------------------------------------------------------------------------

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, sorted; none as long as they are to be learnt from data."""
        return () if self._structure is None else self._structure.labels

    @property
    def is_trained(self) -> bool:
        """Whether there are weights to predict with."""
        trainer = self._trainer
        return self._trained is not None or (trainer is not None and trainer.learner.clock > 0)

    @property
    def is_training(self) -> bool:
        """True if a training is running, whose state `save` can write."""
        return self._trainer is not None

    def fit(
        self,
        sentences: Iterable[GoldT],
        dev: Iterable[GoldT] | None = None,
        *,
        n_threads: int = 1,
        progress: bool = False,
        on_epoch: Callable[[EpochReport[ScoresT]], None] | None = None,
        on_better: Callable[[Self], None] | None = None,
        checkpoint: StrPath | None = None,
    ) -> Self:
        """Train from nothing, for `epochs` passes.

        sentences: the gold sentences. White space within words is dropped.
        dev: a development corpus; the epoch of the highest figure `PRIMARY` on it is kept, the
            earliest of equal ones. Without it the last epoch is kept.
        n_threads: how many models are trained at a time, or, if there is only one, how many
            threads decode the development corpus; the result does not depend on it.
        progress: show a bar on standard error, or, if that is no terminal, a line for each epoch.
        on_epoch: called after each epoch, by the thread that trained; an exception ends training.
        on_better: called before that, with a model of the weights of the epoch, if they are the
            best on the development corpus so far (of any model, if several are trained).
        checkpoint: a folder that keeps the state of the training, so that an interrupted one goes
            on, and comes to the same weights, when `fit` is called again with the same settings and
            corpora. To be removed when training is done. L-BFGS begins anew: only whole trainings
            by it are kept, as SciPy's memory of it cannot be.
        Raises ValueError if there is nothing to learn from, or a sentence is not of the kind, and
        if the folder holds the state of another training; OSError if it cannot be written.
        """
        return self._fit(
            sentences,
            dev,
            self._begin,
            n_threads=n_threads,
            progress=progress,
            on_epoch=on_epoch,
            on_better=on_better,
            checkpoint=checkpoint,
        )

    def _fit(
        self,
        sentences: Iterable[GoldT],
        dev: Iterable[GoldT] | None,
        begin: Callable[[list[GoldT]], tuple[Structure[GoldT, DecoderT], Learner, list[Compiled]]],
        *,
        n_threads: int,
        progress: bool,
        on_epoch: Callable[[EpochReport[ScoresT]], None] | None,
        on_better: Callable[[Self], None] | None,
        checkpoint: StrPath | None,
    ) -> Self:
        """`fit`, with what `begin` makes of the checked training corpus, as `_begin`."""
        word_counts = WordCounts()
        checked = self.GOLD.checked_corpus(sentences, "training")
        gold = list(self._counting(checked, word_counts))
        held_out = None if dev is None else self.GOLD.checked_corpus(dev, "development")
        structure, learner, compiled = begin(gold)
        # Threads that have a model each leave none over for the development corpus.
        idle = n_threads if self.n_models == 1 else 1

        def evaluate(tables: list[TrainedRows]) -> ScoresT:
            pool = DecoderPool(tables, structure.new_decoder)
            return self._score(held_out or [], pool, None, idle)

        plan = Epochs(
            epochs=self.epochs,
            patience=self.patience,
            n_models=self.n_models,
            seed=self.seed,
            evaluate=evaluate if held_out else None,
            primary=self.PRIMARY,
        )
        checksum = self._checksum(gold)
        identity = {
            "task": self.TASK,
            "settings": self._settings(),
            "training corpus": checksum,
            "number of examples": len(compiled),
            "development corpus": None if held_out is None else self._checksum(held_out),
            "version": __version__,
        }

        def call_with_model(tables: list[TrainedRows]) -> None:
            assert on_better is not None
            model = self.untrained()
            model._structure = structure
            model.word_counts = word_counts
            model._take(tables)
            model.corpus_checksum = checksum
            on_better(model)

        trained, history = plan.train(
            structure,
            learner,
            compiled,
            n_threads=n_threads,
            progress=progress,
            on_epoch=on_epoch,
            on_better=None if on_better is None else call_with_model,
            checkpoint=None if checkpoint is None else Checkpoint(checkpoint, identity),
        )
        tables = _mean_of(trained, self.mean, self.learning)
        with self._lock:
            self._structure = structure
            self.word_counts = word_counts
            self._take(tables)
            self._trainer = None
            self._draws = Draws(self.seed)
            self.history = history
            self.corpus_checksum = checksum
        return self

    def _checksum(self, gold: list[GoldT]) -> str:
        return corpus_checksum(chain.from_iterable(map(self.GOLD.layers, gold)))

    def _begin(
        self, gold: list[GoldT]
    ) -> tuple[Structure[GoldT, DecoderT], Learner, list[Compiled]]:
        """What a training of its own needs: a structure, a learner, and compiled examples."""
        examples = self._all_examples(gold)
        structure = self._structure_of(examples)
        learner = structure.new_learner(self.learning)
        compiled = _compile(structure, examples, learner)
        if not compiled:
            raise ValueError(
                f"there is nothing in the training corpus that a {self.NOUN} could learn from"
            )
        _count(structure, learner, compiled)
        return structure, learner, compiled

    def prepare(self, sentences: Iterable[GoldT], *, labels: Iterable[str] = ()) -> None:
        """Learn from gold sentences what labels and features depend on, if they do, but no weights.

        Features are counted here, if the setting `min_count` asks for it.
        labels: there are these too, whether or not the sentences have them.
        For a training in portions, which begins by seeing the whole corpus. Does nothing to a model
        that has been trained, or whose training is running. Raises ValueError as `compile`, and for
        labels that the model cannot have.
        """
        with self._lock:
            if self._trained is not None or self._trainer is not None:
                return
            word_counts = WordCounts()
            checked = self._counting(map(self.GOLD.checked, sentences), word_counts)
            examples: Iterable[GoldT] = chain.from_iterable(map(self._examples, checked))
            counts = self.learning.min_count > 1
            self._expected = frozenset(labels)
            try:
                examples = list(examples) if counts else examples
                structure = self._structure_of(examples)
            finally:
                expected, self._expected = self._expected, frozenset()
            if unknown := sorted(expected.difference(structure.labels)):
                raise ValueError(f"a {self.NOUN} of this kind has no label {unknown[0]!r:.60}")
            self._structure = structure
            self.word_counts = word_counts
            if counts:
                self._compile_for_running(structure, examples)

    def compile(self, sentences: Iterable[GoldT]) -> list[Compiled]:
        """Sentences made ready for `learn`; those with nothing but white space are left out.

        They belong to the running training, which is begun if need be, from the weights that there
        are. `fit` ends it. Labels that come from data are those of these sentences, unless there
        are any already; with `min_count`, so it is with features. Raises ValueError if a sentence
        is not of the kind.
        """
        with self._lock:
            word_counts = WordCounts()
            checked = self._counting(map(self.GOLD.checked, sentences), word_counts)
            examples = self._all_examples(checked)
            if self._structure is None:
                self._structure = self._structure_of(examples)
                self.word_counts = word_counts
            return self._compile_for_running(self._structure, examples)

    def _compile_for_running(
        self, structure: Structure[GoldT, DecoderT], examples: Iterable[GoldT]
    ) -> list[Compiled]:
        """Compile examples for the running training, and count features if none were counted."""
        learner = self._running().learner
        compiled = _compile(structure, examples, learner)
        try:
            _count(structure, learner, compiled)
        except ValueError:
            # It has no features, and has learnt nothing: other examples may have enough.
            self._trainer = None
            raise
        return compiled

    def learn(self, sentences: Sequence[Compiled]) -> tuple[int, int]:
        """Visit each compiled sentence once, in an order of the model's own generator.

        Returns how many sentences or mini-samples, and how many labels, were to be corrected.
        Raises ValueError if a sentence was compiled for another training.
        """
        with self._lock:
            trainer = self._running()
            if not self.owns(sentences):
                raise ValueError(
                    "a sentence was compiled for another training; compile it again after fit"
                )
            if isinstance(self.learning, LogLinear) and self.learning.optimizer != "sgd":
                raise ValueError(
                    f"optimizer = {self.learning.optimizer!r} needs the whole corpus at once: "
                    "call fit, or choose optimizer = 'sgd'"
                )
            if not sentences:
                return 0, 0
            # Before anything can fail: weights may have changed even then.
            self._outdated = True
            try:
                wrong = self._draws.epoch(self._known_structure(), trainer, sentences)
            except ValueError:
                # The weights are good for nothing then; those before the training are.
                self._trainer = None
                self._outdated = False
                raise
            self.corpus_checksum = None
            return wrong

    def owns(self, sentences: Sequence[Compiled]) -> bool:
        """Whether compiled sentences belong to the running training, so that `learn` takes them."""
        trainer = self._trainer
        return trainer is not None and all(
            trainer.learner.owns(sentence.lineage, sentence.n_rows_known) for sentence in sentences
        )

    def partial_fit(self, sentences: Iterable[GoldT]) -> Self:
        """Train one pass further, from the weights that there are.

        After `load` and `fit`, training goes on from the averaged weights, which count as the
        weights before the first update of a new average. To a log-linear model the sentences of all
        calls are one corpus, over which a pass spreads penalties and the decay of steps: to visit
        the same ones several times, `compile` them once, and `learn` as often.
        Raises ValueError as `fit` does.
        """
        gold = self.GOLD.checked_corpus(sentences, "training")
        with self._lock:
            self.learn(self.compile(gold))
        return self

    def _running(self) -> Trainer:
        """The running training; one that goes on from the trained weights, or from nothing."""
        if self._trainer is None:
            structure = self._known_structure()
            self._trainer = structure.new_trainer(
                structure.new_learner(self.learning)
                if self._trained is None
                else learner_from_trained(self._trained.tables, self.learning)
            )
        return self._trainer

    def _known_structure(self) -> Structure[GoldT, DecoderT]:
        if self._structure is None:
            raise ValueError(f"the {self.NOUN} knows no labels; call fit, or prepare")
        return self._structure

    def _all_examples(self, gold: Iterable[GoldT]) -> list[GoldT]:
        return list(chain.from_iterable(map(self._examples, gold)))

    def _counting(self, gold: Iterable[GoldT], counts: WordCounts) -> Iterable[GoldT]:
        """The same sentences, of which the words are counted as they pass, if that is asked for."""
        return counts.counting(self.GOLD, gold) if self.GIVEN_WORDS else gold

    # Prediction ----------------------------------------------------------------------------------

    def evaluate(
        self,
        gold: Iterable[GoldT],
        *,
        vocabulary: AbstractSet[str] | None = None,
        n_threads: int = 1,
    ) -> ScoresT:
        """Score what is predicted for gold sentences.

        vocabulary: the words of the training corpus, for the figures on words out of it.
        Raises ValueError if there is no sentence, or the model has not been trained.
        """
        checked = self.GOLD.checked_corpus(gold, "evaluation")
        return self._score(checked, self._decoders(), vocabulary, n_threads)

    def _decoders(self) -> DecoderPool[DecoderT]:
        """Decoders of the weights as they are now, averaged anew if training has gone on."""
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
            return self._take(self._running().learner.average())

    def _take(self, tables: list[TrainedRows]) -> DecoderPool[DecoderT]:
        """Predict by these weights from now on."""
        self._trained = DecoderPool(tables, self._known_structure().new_decoder)
        self._source = None
        self._outdated = False
        return self._trained

    # Averages ------------------------------------------------------------------------------------

    @classmethod
    def average(cls, models: Sequence[Self], mean: Mean = "nonzero") -> Self:
        """The average of trained models (`learn.averaging`), with the settings of the first.

        Raises ValueError if there is none, one is untrained, or they differ in what they see; the
        message names the difference.
        """
        if not models:
            raise ValueError("there is no model to average")
        for name in ("TASK", "LEARNING", *cls.MUST_AGREE):
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
        structures = [model._known_structure() for model in models]
        entries, arrays = structures[0].contents()
        for structure in structures[1:]:
            _hold_to(entries, arrays, structure)
        averaged = models[0].untrained()
        averaged._structure = structures[0]
        averaged._take(_mean_of(weights, mean, averaged.learning))
        checksums = {model.corpus_checksum for model in models}
        averaged.word_counts = sum((model.word_counts for model in models), WordCounts())
        averaged.corpus_checksum = checksums.pop() if len(checksums) == 1 else None
        return averaged

    # Files ---------------------------------------------------------------------------------------

    def _state(self, state: State) -> tuple[dict[str, Any], Arrays]:
        running: dict[str, Any] = {}
        if state == "trained":
            tables = [table.arrays for table in self._decoders().tables]
        elif self._trainer is not None:
            tables = [table.state() for table in self._trainer.learner.tables_as_weights()]
            learner = self._trainer.learner
            running["clock"] = learner.clock
            if isinstance(learner, LogLinearLearner):
                running["positions"] = learner.n_positions
                running["squares"] = learner.sum_of_squares
            running["generators"] = self._draws.state()
        else:
            raise ValueError("no training is running whose state could be saved")
        structure = self._known_structure()
        entries, arrays = structure.contents()
        return {
            "labels": list(structure.labels),
            "settings": self._settings(),
            "corpus": self.corpus_checksum,
            "columns": list(structure.widths),
            **({"words": self.word_counts.as_dict()} if self.GIVEN_WORDS else {}),
            **({"structure": entries} if entries else {}),
            **running,
        }, {**numbered(tables), **arrays}

    def _restore(self, header: dict[str, Any], arrays: Arrays) -> None:
        structure = self._structure = self._stored_structure(header, besides_tables(arrays))
        self.corpus_checksum = field(header, "corpus", (str, type(None)))
        if self.GIVEN_WORDS:
            self.word_counts = WordCounts.from_dict(field(header, "words", dict))
        state = field(header, "state", str)
        debts = self.learning.penalties["cumulative_l1"] > 0
        tables = by_table(arrays, len(structure.widths), state, debts=debts)
        rows = list(zip(structure.widths, tables, strict=True))
        if state == "trained":
            self._take([TrainedRows(width, table) for width, table in rows])
            with self._decoders().borrow():
                pass  # A decoder checks that rows and features fit, before the first text.
        else:
            learner = new_learner(
                [
                    TrainingRows.from_state(width, table, self.learning.penalties)
                    for width, table in rows
                ],
                self.learning,
                field(header, "clock", int),
            )
            if isinstance(learner, LogLinearLearner):
                learner.n_positions = whole("positions", field(header, "positions", int), 0)
                learner.sum_of_squares = number("squares", field(header, "squares", float), 0.0)
            self._trainer = structure.new_trainer(learner)
            self._draws = Draws.from_state(self.seed, field(header, "generators", list))
            self._outdated = True

    def _stored_structure(
        self, header: dict[str, Any], arrays: Arrays
    ) -> Structure[GoldT, DecoderT]:
        """The structure of a file, which must say of itself what the file says."""
        labels = field(header, "labels", list)
        entries = field(header, "structure", dict) if "structure" in header else {}
        structure = self._restored_structure(labels, entries, arrays)
        if tuple(labels) != structure.labels or any(a >= b for a, b in pairwise(labels)):
            raise ValueError(f"its labels are not sorted and distinct: {labels!r:.80}")
        if tuple(field(header, "columns", list)) != structure.widths:
            raise ValueError("its weight rows do not fit its templates")
        expected = structure.contents()
        if unknown := sorted(set(arrays) - set(expected[1])):
            raise ValueError(f"it has an array {unknown[0]!r} that belongs to nothing")
        if expected[0] != entries or set(expected[1]) != set(arrays):
            raise ValueError("its labels and features are not what they say of themselves")
        return structure

    def _copy_to_memory(self) -> None:
        if self._trained is not None:
            tables = [
                TrainedRows(
                    table.n_columns,
                    {name: np.array(array) for name, array in table.arrays.items()},
                )
                for table in self._trained.tables
            ]
            self._trained = DecoderPool(tables, self._known_structure().new_decoder)

    @property
    def _is_as_loaded(self) -> bool:
        return self._source is not None and not self._outdated


def _compile(
    structure: Structure[GoldT, Any], examples: Iterable[GoldT], learner: Learner
) -> list[Compiled]:
    compiled = (structure.compile(example, learner) for example in examples)
    return [example for example in compiled if example is not None]


def _count(
    structure: Structure[GoldT, Any], learner: Learner, compiled: Sequence[Compiled]
) -> None:
    """Restrict a training to features that are frequent enough, unless that has been done.

    Without examples it is left to the next ones. Raises ValueError if no feature is.
    """
    least: int = learner.settings.min_count
    if least > 1 and compiled and not any(table.closed for table in learner.tables):
        trainer: Any = structure.new_trainer(learner)
        trainer.restrict(compiled, least)
        if learner.n_rows() == 0:
            raise ValueError(
                f"min_count is {least}, but no feature of the training corpus is counted so often; "
                "lower it, or give more sentences"
            )


def _mean_of(
    models: Sequence[list[TrainedRows]], mean: Mean, learning: AnyLearning
) -> list[TrainedRows]:
    """The mean of the weights of models, pruned as the settings have it."""
    if len(models) == 1:
        return models[0]
    return [
        average_rows(tables, mean, learning.prune_of(max(table.n_rows for table in tables)))
        for tables in zip(*models, strict=True)
    ]


def _hold_to(entries: dict[str, Any], arrays: Arrays, structure: Structure[Any, Any]) -> None:
    """Raise ValueError if a structure holds other contents than these."""
    others, other_arrays = structure.contents()
    for name in sorted(entries.keys() | others.keys()):
        if entries.get(name) != others.get(name):
            raise ValueError(f"the models to average differ in {name}")
    for name in sorted(arrays.keys() | other_arrays.keys()):
        if not np.array_equal(arrays.get(name, ()), other_arrays.get(name, ())):
            raise ValueError(f"the models to average differ in {name}")
