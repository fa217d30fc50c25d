"""Character-based word segmentation: a first-order chain of BMES labels."""

from __future__ import annotations

import random
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import nlargest
from itertools import chain
from multiprocessing.context import get_spawning_popen
from operator import index, itemgetter
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from spacy_structreg.about import __version__
from spacy_structreg.corpora.checksum import corpus_checksum
from spacy_structreg.corpora.errors import StrPath
from spacy_structreg.corpora.sentences import sentence_ends, split_words
from spacy_structreg.features.shapes import compile_shapes
from spacy_structreg.features.tables import CHARACTER_TABLES, CHARACTER_TYPES, SKIP_BIGRAM
from spacy_structreg.features.templates import parse_templates
from spacy_structreg.learn.averaging import MEANS, Mean, average_rows
from spacy_structreg.learn.model_file import (
    Arrays,
    State,
    field,
    model_bytes,
    model_checksum,
    parse_model,
    read_model,
    write_model,
)
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainedRows, TrainingRows
from spacy_structreg.learn.settings import Learning
from spacy_structreg.metrics.segmentation import SegmentationScores, score_segmentation
from spacy_structreg.tasks.bmes import SCHEMES
from spacy_structreg.tasks.chain import ChainDecoder, ChainFeatures, CompiledChain
from spacy_structreg.tasks.characters import CharacterAtoms, CharacterDecoder
from spacy_structreg.training.chain import ChainTrainer, cut

TASK: Final = "character_segmenter"

Sentences: TypeAlias = Literal["punctuation", "doc"]

DEFAULT_LEARNING: Final = Learning(update="pa_i", aggressiveness=0.1, mini_sample=5.0)
"""How one model is trained, chosen on the development sets of three corpora (README.md)."""

DEFAULT_LEARNING_OF_MANY: Final = Learning(mini_sample=5.0)
"""How several models are trained that are to be averaged. Passive-aggressive models are better
alone, but hardly differ, so that there is little to average."""

# How many characters one thread takes at a time, and how many such portions wait for each thread.
_PORTION: Final = 20_000
_AHEAD: Final = 2
# Working memory for more characters than this is given back after use.
_KEPT: Final = 1_000_000


@dataclass(frozen=True)
class EpochReport:
    """What one epoch of training did.

    model: the number of the model, from 1, if several are trained. epoch: its number, from 1.
    wrong_examples, wrong_labels: how many sentences or mini-samples, and how many labels, were
    to be corrected when they were visited; passive-aggressive rules also count what is right by
    too little. seconds: wall time, evaluation included. dev: the
    scores of the averaged weights on the development corpus, if there is one.
    """

    model: int
    epoch: int
    wrong_examples: int
    wrong_labels: int
    seconds: float
    dev: SegmentationScores | None


class CharacterSegmenter:
    """Segments text into words by labelling its characters (method.md, section 3).

    templates: the name of a table (``"zhang2014"``), templates parted by ``|``, or a list of
        these; see `features.templates` for the notation. Atoms are ``c``, the character, and
        ``type``, its type.
    types: the alphabet of character types, ``"extended"`` or ``"g10"``, whose templates are added;
        None for no types.
    half_width: let full-width letters, digits and punctuation look like their half-width forms.
    skip_bigram: add the template of the two neighbours of a character.
    labels: the label scheme, ``"bmes"`` or ``"six"`` (`tasks.bmes`).
    learning: how weights are learnt and regularised; None for `DEFAULT_LEARNING`, or, if several
        models are averaged, for `DEFAULT_LEARNING_OF_MANY`.
    sentences: ``"punctuation"`` cuts texts into sentences before they are labelled, in training
        as in prediction; ``"doc"`` takes every text as one sentence.
    epochs: passes over the training corpus, ≥ 1. patience: stop after so many epochs without a
        better F on the development corpus, if `fit` gets one; None for never.
    n_models: train so many models, with the seeds `seed`, `seed` + 1, …, and average them; the
        seeds of groups that are to be independent lie n_models apart. mean: how to average,
        ``"nonzero"`` or ``"plain"`` (`learn.averaging`).
    seed: of all that training draws; None draws one from Python's generator.

    Raises ValueError for settings that do not exist or contradict each other.
    """

    def __init__(
        self,
        *,
        templates: str | Sequence[str] = "zhang2014",
        types: str | None = "extended",
        half_width: bool = True,
        skip_bigram: bool = False,
        sentences: Sentences = "punctuation",
        labels: str = "bmes",
        learning: Learning | None = None,
        epochs: int = 20,
        patience: int | None = None,
        n_models: int = 1,
        mean: Mean = "nonzero",
        seed: int | None = 0,
    ) -> None:
        if sentences not in ("punctuation", "doc"):
            raise ValueError(f"sentences is {sentences!r}; choose 'punctuation' or 'doc'")
        if labels not in SCHEMES:
            raise ValueError(f"labels is {labels!r}; choose from {', '.join(SCHEMES)}")
        if mean not in MEANS:
            raise ValueError(f"mean is {mean!r}; choose from {', '.join(MEANS)}")
        self.sentences: Sentences = sentences
        self.scheme = labels
        self.n_models = _whole("n_models", n_models, 1)
        default = DEFAULT_LEARNING if self.n_models == 1 else DEFAULT_LEARNING_OF_MANY
        self.learning = default if learning is None else learning
        self.mean: Mean = mean
        self.epochs = _whole("epochs", epochs, 1)
        self.patience = None if patience is None else _whole("patience", patience, 1)
        self.seed = random.getrandbits(32) if seed is None else _whole("seed", seed, 0)
        self.corpus_checksum: str | None = None
        self.history: list[EpochReport] = []
        self._atoms = CharacterAtoms(types, half_width)
        self._scheme = SCHEMES[labels]()
        tables = [templates] if isinstance(templates, str) else list(templates)
        if types is not None and not isinstance(templates, _Complete):
            tables.append(CHARACTER_TYPES)
        if skip_bigram:
            tables.append(SKIP_BIGRAM)
        parsed = parse_templates(tables, self._atoms.atoms, CHARACTER_TABLES)
        self.templates = tuple(map(str, parsed))
        self._features = ChainFeatures(
            compile_shapes(parsed), self._atoms.atoms, len(self._scheme.labels)
        )
        self._trained: _Decoders | None = None
        self._trainer: ChainTrainer | None = None
        self._draws = _Draws(self.seed)
        self._source: tuple[Path, int] | None = None
        # Held while weights change or are averaged; decoding works on weights that never change.
        self._lock = threading.RLock()
        self._outdated = False

    # Settings ----------------------------------------------------------------------------------

    @property
    def types(self) -> str | None:
        """The alphabet of character types, if any."""
        return self._atoms.types

    @property
    def half_width(self) -> bool:
        """Whether full-width forms look like half-width ones to the model."""
        return self._atoms.half_width

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of characters, sorted."""
        return self._scheme.labels

    @property
    def is_trained(self) -> bool:
        """Whether there are weights to predict with."""
        trainer = self._trainer
        return self._trained is not None or (trainer is not None and trainer.learner.clock > 0)

    # Training ----------------------------------------------------------------------------------

    def fit(
        self,
        sentences: Iterable[Sequence[str]],
        dev: Iterable[Sequence[str]] | None = None,
        *,
        n_threads: int = 1,
        progress: bool = False,
        on_epoch: Callable[[EpochReport], None] | None = None,
    ) -> CharacterSegmenter:
        """Train from nothing, for `epochs` passes.

        sentences: the words of each sentence. White space within words is dropped.
        dev: a development corpus; the epoch of the highest F on it is kept, the earliest of equal
            ones. Without it the last epoch is kept.
        n_threads: how many models are trained at a time, or, if there is only one, how many
            threads segment the development corpus; the result does not depend on it.
        progress: show a bar on standard error, if that is a terminal.
        on_epoch: called after each epoch, by the thread that trained; an exception ends training.
        Raises ValueError if there is nothing to train on, or a sentence is not a list of words.
        """
        gold = _checked(sentences, "training")
        held_out = None if dev is None else _checked(dev, "development")
        learner = self._features.new_learner(self.learning)
        chains = self._compile(chain.from_iterable(map(self._split, gold)), learner)
        history: list[EpochReport] = []
        reporting = threading.Lock()
        stop = threading.Event()
        hidden = None if progress else True

        with (
            tqdm(
                total=self.epochs * self.n_models, desc="train", unit="epoch", disable=hidden
            ) as bar,
            ThreadPoolExecutor(max(1, n_threads)) as pool,
        ):

            def report(done: EpochReport) -> None:
                with reporting:
                    history.append(done)
                    if done.dev is not None:
                        bar.set_postfix(dev_f=f"{done.dev.seg_f or 0.0:.4f}")
                    bar.update()
                    if on_epoch is not None:
                        on_epoch(done)

            # Threads that have a model each leave none over for the development corpus.
            each = n_threads if self.n_models == 1 else 1
            runs = [
                pool.submit(
                    self._train,
                    learner,
                    chains,
                    held_out,
                    number=number,
                    n_threads=each,
                    report=report,
                    stop=stop,
                )
                for number in range(self.n_models)
            ]
            try:
                trained = [run.result() for run in runs]
            except BaseException:
                # Threads cannot be interrupted: each looks after its epoch whether to go on.
                stop.set()
                for run in runs:
                    run.cancel()
                raise
        tables = [average_rows(shape, self.mean) for shape in zip(*trained, strict=True)]
        with self._lock:
            self._trained = self._decoders_of(tables)
            self._trainer = None
            self._outdated = False
            self._source = None
            self._draws = _Draws(self.seed)
            self.history = sorted(history, key=lambda done: (done.model, done.epoch))
            self.corpus_checksum = corpus_checksum(gold)
        return self

    def _train(
        self,
        learner: Perceptron,
        chains: list[CompiledChain],
        held_out: list[Sequence[str]] | None,
        *,
        number: int,
        n_threads: int,
        report: Callable[[EpochReport], None],
        stop: threading.Event,
    ) -> list[TrainedRows]:
        """Train model `number`, counted from 0; returns the weights of its best epoch.

        learner: untrained; of several models each trains a copy.
        """
        learner = learner if self.n_models == 1 else learner.copy()
        trainer = self._new_trainer(learner)
        draws = _Draws(self.seed + number)
        best: list[TrainedRows] | None = None
        best_f = -1.0
        waited = 0
        for epoch in range(1, self.epochs + 1):
            began = time.perf_counter()
            wrong = draws.epoch(trainer, chains)
            scores = None
            if held_out is not None:
                tables = learner.average()
                scores = self._score(held_out, self._decoders_of(tables), None, n_threads)
                waited += 1
                if (scores.seg_f or 0.0) > best_f:
                    best, best_f, waited = tables, scores.seg_f or 0.0, 0
            seconds = time.perf_counter() - began
            report(EpochReport(number + 1, epoch, *wrong, seconds, scores))
            if stop.is_set() or (self.patience is not None and waited >= self.patience):
                break
        return best or learner.average()

    def compile(self, sentences: Iterable[Sequence[str]]) -> list[CompiledChain]:
        """Sentences made ready for `learn`; those with nothing but white space are left out.

        They belong to the running training, which is begun if need be, from the weights that there
        are. `fit` ends it. Raises ValueError if a sentence is not a list of words.
        """
        with self._lock:
            split = chain.from_iterable(map(self._split, map(_checked_words, sentences)))
            return self._compile(split, self._running().learner)

    def learn(self, sentences: Sequence[CompiledChain]) -> tuple[int, int]:
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
            if not sentences:
                return 0, 0
            # Before anything can fail: weights may have changed even then.
            self._outdated = True
            wrong = self._draws.epoch(trainer, sentences)
            self.corpus_checksum = None
            return wrong

    def owns(self, sentences: Sequence[CompiledChain]) -> bool:
        """Whether compiled sentences belong to the running training, so that `learn` takes them."""
        trainer = self._trainer
        return trainer is not None and all(
            trainer.learner.owns(sentence.lineage, sentence.n_rows_known) for sentence in sentences
        )

    def partial_fit(self, sentences: Iterable[Sequence[str]]) -> CharacterSegmenter:
        """Train one pass further, from the weights that there are.

        After `load` and `fit`, training goes on from the averaged weights, which count as the
        weights before the first update of a new average. Raises ValueError as `fit` does.
        """
        gold = _checked(sentences, "training")
        with self._lock:
            self.learn(self.compile(gold))
        return self

    def _running(self) -> ChainTrainer:
        """The running training; one that goes on from the trained weights, or from nothing."""
        if self._trainer is None:
            self._trainer = self._new_trainer(
                self._features.new_learner(self.learning)
                if self._trained is None
                else Perceptron.from_trained(self._trained.tables, self.learning)
            )
        return self._trainer

    def _new_trainer(self, learner: Perceptron) -> ChainTrainer:
        return ChainTrainer(self._features, self._scheme.graph, learner)

    def _compile(
        self, sentences: Iterable[Sequence[str]], learner: Perceptron
    ) -> list[CompiledChain]:
        compiled = (
            self._atoms.compile(words, self._scheme, self._features, learner) for words in sentences
        )
        return [sentence for sentence in compiled if sentence is not None]

    def _split(self, words: Sequence[str]) -> list[list[str]]:
        squeezed = _squeezed(words)
        return split_words(squeezed) if self.sentences == "punctuation" else [squeezed]

    # Prediction --------------------------------------------------------------------------------

    def predict(self, text: str) -> list[str]:
        """The words of a text, without the white space between them.

        Raises ValueError if the segmenter has not been trained.
        """
        return self._segment(self._decoders(), [str(text)])[0]

    def predict_batch(self, texts: Iterable[str], *, n_threads: int = 1) -> list[list[str]]:
        """The words of each text; threads decode side by side. Raises as `predict`."""
        return list(self.predict_stream(texts, n_threads=n_threads))

    def predict_stream(self, texts: Iterable[str], *, n_threads: int = 1) -> Iterator[list[str]]:
        """As `predict_batch`, for any number of texts in bounded memory, in their order."""
        return self._stream(texts, self._decoders(), n_threads)

    def _stream(
        self, texts: Iterable[str], decoders: _Decoders, n_threads: int
    ) -> Iterator[list[str]]:
        portions = _portions(texts)
        if n_threads <= 1:
            for portion in portions:
                yield from self._segment(decoders, portion)
            return
        with ThreadPoolExecutor(n_threads) as pool:
            pending: deque[Future[list[list[str]]]] = deque()
            for portion in portions:
                pending.append(pool.submit(self._segment, decoders, portion))
                if len(pending) == n_threads * _AHEAD:
                    yield from pending.popleft().result()
            while pending:
                yield from pending.popleft().result()

    def predict_spans(self, text: str) -> NDArray[np.int64]:
        """Where the words of a text begin and end: shape (n_words, 2). Raises as `predict`."""
        with self._decoders().borrow() as decoder:
            return decoder.spans(str(text), self._sentence_ends(text))

    def nbest(self, text: str, n: int) -> list[tuple[float, list[str]]]:
        """The `n` best segmentations, best first, each with its score; fewer if there are fewer.

        The score is the sum of the weights of all features. Raises ValueError if n < 1, or if the
        segmenter has not been trained.
        """
        # Sentences are independent: the best of all are sums of the best of each. `steps` keeps,
        # for each sentence, which of the best so far it continues and by which of its own.
        scores = [0.0]
        steps: list[list[tuple[int, list[str]]]] = []
        start = 0
        with self._decoders().borrow() as decoder:
            for end in self._sentence_ends(text) or [0]:
                sentence = decoder.nbest(str(text[start:end]), n)
                start = end
                best = nlargest(
                    n,
                    (
                        (score + more, rank, words)
                        for rank, score in enumerate(scores)
                        for more, words in sentence
                    ),
                    key=itemgetter(0),
                )
                scores = [score for score, _, _ in best]
                steps.append([(rank, words) for _, rank, words in best])
        segmentations = []
        for last, score in enumerate(scores):
            rank = last
            parts = []
            for step in reversed(steps):
                rank, words = step[rank]
                parts.append(words)
            segmentations.append((score, list(chain.from_iterable(reversed(parts)))))
        return segmentations

    def evaluate(
        self,
        gold: Iterable[Sequence[str]],
        *,
        vocabulary: AbstractSet[str] | None = None,
        n_threads: int = 1,
    ) -> SegmentationScores:
        """Segment the texts of gold sentences and score the result.

        vocabulary: the words of the training corpus, for the figures on words out of it.
        Raises ValueError if there is no sentence, or as `predict`.
        """
        checked = _checked(gold, "evaluation")
        return self._score(checked, self._decoders(), vocabulary, n_threads)

    def _score(
        self,
        gold: list[Sequence[str]],
        decoders: _Decoders,
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> SegmentationScores:
        squeezed = list(map(_squeezed, gold))
        predicted = self._stream(map("".join, squeezed), decoders, n_threads)
        return score_segmentation(squeezed, predicted, vocabulary)

    def _segment(self, decoders: _Decoders, texts: list[str]) -> list[list[str]]:
        with decoders.borrow() as decoder:
            return decoder.segment(texts, [self._sentence_ends(text) for text in texts])

    def _sentence_ends(self, text: str) -> list[int]:
        if self.sentences == "punctuation":
            return sentence_ends(text)
        return [len(text)] if text else []

    def _decoders(self) -> _Decoders:
        """Decoders of the weights as they are now, averaged anew if training has gone on."""
        if self._outdated or self._trained is None:
            with self._lock:
                if not self.is_trained:
                    raise ValueError(
                        "the segmenter has not been trained; call fit, or load a trained model"
                    )
                if self._outdated or self._trained is None:
                    self._trained = self._decoders_of(self._running().learner.average())
                    self._source = None
                    self._outdated = False
        return self._trained

    def _decoders_of(self, tables: list[TrainedRows]) -> _Decoders:
        def make() -> CharacterDecoder:
            decoder = ChainDecoder(self._features, self._scheme.graph, tables)
            return CharacterDecoder(self._atoms, decoder, self._scheme.begins)

        return _Decoders(tables, make)

    def untrained(self) -> CharacterSegmenter:
        """A segmenter of the same settings that has learnt nothing."""
        return CharacterSegmenter(**self._arguments())

    # Averages ----------------------------------------------------------------------------------

    @classmethod
    def average(
        cls, models: Sequence[CharacterSegmenter], mean: Mean = "nonzero"
    ) -> CharacterSegmenter:
        """The average of trained models (`learn.averaging`), with the settings of the first.

        Raises ValueError if there is none, one is untrained, or they differ in what they see of a
        text; the message names the difference.
        """
        if not models:
            raise ValueError("there is no model to average")
        for name in ("templates", "labels", "types", "half_width", "sentences"):
            seen = dict.fromkeys(getattr(model, name) for model in models)
            if len(seen) > 1:
                raise ValueError(
                    f"the models to average differ in {name}: {' and '.join(map(repr, seen))}"
                )
        averaged = cls(**models[0]._arguments())
        tables = zip(*(model._decoders().tables for model in models), strict=True)
        averaged._trained = averaged._decoders_of([average_rows(shape, mean) for shape in tables])
        checksums = {model.corpus_checksum for model in models}
        averaged.corpus_checksum = checksums.pop() if len(checksums) == 1 else None
        return averaged

    # Files -------------------------------------------------------------------------------------

    def to_bytes(self, *, state: State = "trained") -> bytes:
        """The contents of the file that `save` writes. Raises ValueError as `save`."""
        return model_bytes(*self._contents(state))

    def save(self, path: StrPath, *, state: State = "trained") -> None:
        """Write the model file, in one step.

        state: ``"trained"``, the averaged weights; or ``"training"``, all that a training needs to
            go on as if it had not been interrupted.
        Raises ValueError if the segmenter has not been trained, or, for ``"training"``, if no
        training is running.
        """
        with self._lock:
            target = Path(path).absolute()
            mapped = (
                self._source is not None and target.exists() and target.samefile(self._source[0])
            )
            if mapped and self._trained is not None:
                # A mapped file cannot be replaced everywhere: work on a copy from here on.
                self._trained = self._decoders_of(
                    [
                        TrainedRows(
                            table.n_columns,
                            {name: np.array(array) for name, array in table.arrays.items()},
                        )
                        for table in self._trained.tables
                    ]
                )
                self._source = None
            write_model(path, *self._contents(state))

    @classmethod
    def load(cls, path: StrPath, *, verify: bool = True) -> CharacterSegmenter:
        """Read a model file. The weights stay in it and are mapped into memory.

        verify: check the checksums of the weights, about 1 ms a MB.
        Raises ValueError, naming the file, if it is not a whole and sound model file of a
        character segmenter; OSError if it cannot be read.
        """
        segmenter = cls._from_contents(str(path), *read_model(path, verify=verify))
        if segmenter._trainer is None:
            segmenter._source = (Path(path).absolute(), model_checksum(path))
        return segmenter

    @classmethod
    def from_bytes(cls, data: bytes, *, name: str = "model") -> CharacterSegmenter:
        """The segmenter that `to_bytes` wrote. Raises ValueError as `load`."""
        return cls._from_contents(name, *parse_model(data, name=name))

    def __reduce__(self) -> tuple[Any, ...]:
        # Weights and settings travel, a running training does not.
        # A child process on this machine can map the file that this process has mapped.
        if get_spawning_popen() is not None and self._source is not None and not self._outdated:
            path, checksum = self._source
            try:
                if model_checksum(path) == checksum:
                    return _load_checked, (path, checksum)
            except (OSError, ValueError):
                pass  # The file is gone or another one; the weights travel instead.
        if not self.is_trained:
            return _untrained, (self._arguments(),)
        return CharacterSegmenter.from_bytes, (self.to_bytes(),)

    def _arguments(self) -> dict[str, Any]:
        """The keywords that make a segmenter of these settings."""
        return {
            "templates": _Complete(self.templates),
            "types": self.types,
            "half_width": self.half_width,
            "sentences": self.sentences,
            "labels": self.scheme,
            "learning": self.learning,
            "epochs": self.epochs,
            "patience": self.patience,
            "n_models": self.n_models,
            "mean": self.mean,
            "seed": self.seed,
        }

    def _contents(self, state: State) -> tuple[dict[str, Any], Arrays]:
        with self._lock:
            header: dict[str, Any] = {
                "package": "spacy_structreg",
                "version": __version__,
                "state": state,
                "task": TASK,
                "labels": list(self.labels),
                "settings": {
                    **self._arguments(),
                    "templates": list(self.templates),
                    "learning": self.learning.as_dict(),
                },
                "corpus": self.corpus_checksum,
                "columns": list(self._features.widths),
            }
            if state == "trained":
                tables = [table.arrays for table in self._decoders().tables]
            elif state != "training":
                raise ValueError(f"there is no state {state!r}; choose 'trained' or 'training'")
            elif self._trainer is not None:
                tables = [table.state() for table in self._trainer.learner.tables]
                header["clock"] = self._trainer.learner.clock
                header["generators"] = self._draws.state()
            else:
                raise ValueError("no training is running whose state could be saved")
        arrays = {
            f"{i}.{name}": array for i, table in enumerate(tables) for name, array in table.items()
        }
        return header, arrays

    @classmethod
    def _from_contents(
        cls, name: str, header: dict[str, Any], arrays: Arrays
    ) -> CharacterSegmenter:
        try:
            if field(header, "task", str) != TASK:
                raise ValueError(f"it is a model of the task {header['task']!r}, not {TASK!r}")
            segmenter = cls(**_checked_settings(field(header, "settings", dict)))
            if tuple(field(header, "labels", list)) != segmenter.labels:
                raise ValueError(f"it has the labels {header['labels']}")
            if tuple(field(header, "columns", list)) != segmenter._features.widths:
                raise ValueError("its weight rows do not fit its templates")
            corpus = field(header, "corpus", (str, type(None)))
            segmenter.corpus_checksum = corpus
            state = field(header, "state", str)
            n_tables = len(segmenter._features.widths)
            tables = _tables(arrays, n_tables, state, segmenter.learning.cumulative_l1 > 0)
            rows = zip(segmenter._features.widths, tables, strict=True)
            if state == "trained":
                segmenter._trained = segmenter._decoders_of(
                    [TrainedRows(width, table) for width, table in rows]
                )
                with segmenter._trained.borrow():
                    pass  # A decoder checks that rows and features fit, before the first text.
            elif state == "training":
                learner = Perceptron(
                    [
                        TrainingRows.from_state(width, table, segmenter.learning.penalties)
                        for width, table in rows
                    ],
                    segmenter.learning,
                    field(header, "clock", int),
                )
                segmenter._trainer = segmenter._new_trainer(learner)
                segmenter._draws = _Draws.from_state(
                    segmenter.seed, field(header, "generators", list)
                )
                segmenter._outdated = True
            else:
                raise ValueError(f"it is in the state {state!r}, which is unknown")
        except (ValueError, OverflowError) as error:
            raise ValueError(f"{name}: the model cannot be used: {error}") from error
        return segmenter


class _Complete(tuple[str, ...]):
    """All templates of a model: no setting adds any to them."""


class _Decoders:
    """Decoders of one set of weights, each lent to one thread at a time."""

    def __init__(self, tables: list[TrainedRows], make: Callable[[], CharacterDecoder]) -> None:
        self.tables = tables
        self._make = make
        self._idle: list[CharacterDecoder] = []

    @contextmanager
    def borrow(self) -> Iterator[CharacterDecoder]:
        # Taking from and adding to a list are atomic.
        try:
            decoder = self._idle.pop()
        except IndexError:
            decoder = self._make()
        yield decoder
        if decoder.capacity <= _KEPT:
            self._idle.append(decoder)


def _tables(arrays: Arrays, n_tables: int, state: str, cumulative: bool) -> list[Arrays]:
    """Sort the arrays of a file by the table that they belong to; ValueError for any other."""
    tables: list[Arrays] = [{} for _ in range(n_tables)]
    for key, array in arrays.items():
        named = _ARRAY_NAME.fullmatch(key)
        if named is None or int(named[1]) >= n_tables:
            raise ValueError(f"it has an array {key!r} that belongs to nothing")
        tables[int(named[1])][named[2]] = array
    for number, table in enumerate(tables):
        expected = {"keys", "values"}
        if "columns" in table:
            expected |= {"starts", "columns"}
        if state == "training":
            expected |= {"stamps", "sums", *(["debts"] if cumulative else [])}
        if set(table) != expected:
            raise ValueError(f"table {number} of its weights has the arrays {sorted(table)}")
    return tables


_ARRAY_NAME: Final = re.compile(r"(0|[1-9][0-9]{0,3})\.([a-z]+)")


def _portions(texts: Iterable[str]) -> Iterator[list[str]]:
    """Texts in portions of about `_PORTION` characters."""
    portion: list[str] = []
    size = 0
    for text in texts:
        # Subclasses of str, such as numpy's, are not what compiled code takes.
        portion.append(text if type(text) is str else str(text))
        size += len(text) + 1
        if size >= _PORTION:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _checked(sentences: Iterable[Sequence[str]], purpose: str) -> list[Sequence[str]]:
    """The sentences as a list, if they are any and are lists of words."""
    checked: list[Sequence[str]] = []
    for number, words in enumerate(sentences, 1):
        try:
            checked.append(_checked_words(words))
        except ValueError as error:
            raise ValueError(f"sentence {number} of the {purpose} corpus: {error}") from error
    if not any(word.strip() for words in checked for word in words):
        raise ValueError(f"the {purpose} corpus is empty: it has no word in it")
    return checked


def _whole(name: str, value: Any, least: int) -> int:
    """A setting that is a whole number of at least `least`, and not beyond 63 bits."""
    try:
        if isinstance(value, bool):
            raise TypeError("a truth value")
        number = int(index(value))
    except TypeError as error:
        raise ValueError(f"{name} is {value!r}; it must be a whole number") from error
    if not least <= number < 1 << 63:
        raise ValueError(f"{name} is {number}; it must be at least {least}, and below 2 ** 63")
    return number


def _squeezed(words: Iterable[str]) -> list[str]:
    """Words without the white space in them, and without those that are nothing else."""
    return [word for word in ("".join(word.split()) for word in words) if word]


def _checked_words(words: Sequence[str]) -> list[str]:
    """A sentence as a list, if it is a list of words."""
    is_list = isinstance(words, Iterable) and not isinstance(words, str)
    listed = list(words) if is_list else []
    if not is_list or not all(isinstance(word, str) for word in listed):
        raise ValueError(f"{words!r:.60} is not a list of words")
    return listed


_SETTINGS: Final[dict[str, tuple[type, ...]]] = {
    "templates": (list,),
    "types": (str, type(None)),
    "half_width": (bool,),
    "sentences": (str,),
    "labels": (str,),
    "learning": (dict,),
    "epochs": (int,),
    "patience": (int, type(None)),
    "n_models": (int,),
    "mean": (str,),
    "seed": (int,),
}


def _checked_settings(settings: dict[str, Any]) -> dict[str, Any]:
    if set(settings) != set(_SETTINGS):
        raise ValueError(f"its settings are {sorted(map(str, settings))}")
    for name, kinds in _SETTINGS.items():
        field(settings, name, kinds)
    if not all(isinstance(template, str) for template in settings["templates"]):
        raise ValueError("its templates are not strings")
    return {
        **settings,
        "templates": _Complete(settings["templates"]),
        "learning": Learning.from_dict(settings["learning"]),
    }


class _Draws:
    """The random numbers of one training: the order of examples; cuts and corrupted inputs.

    The two come from generators of their own, so that a setting that draws nothing changes nothing.
    """

    def __init__(self, seed: int) -> None:
        self._order = np.random.default_rng(seed)
        self._noise = np.random.default_rng([seed, 1])

    def epoch(self, trainer: ChainTrainer, chains: Sequence[CompiledChain]) -> tuple[int, int]:
        """Let a trainer visit all sequences once; returns what `ChainTrainer.epoch` does."""
        mini_sample = trainer.learner.settings.mini_sample
        cuts, noise = map(int, self._noise.integers(1 << 63, size=2))
        pieces = cut(list(map(len, chains)), mini_sample, cuts)
        return trainer.epoch(chains, pieces[self._order.permutation(len(pieces))], noise)

    def state(self) -> list[dict[str, Any]]:
        """The states of the generators, in what msgpack can hold."""
        return [_generator_state(self._order), _generator_state(self._noise)]

    @classmethod
    def from_state(cls, seed: int, states: list[Any]) -> _Draws:
        """The generators that `state` described. Raises ValueError if they cannot be."""
        if len(states) != 2 or not all(isinstance(state, dict) for state in states):
            raise ValueError("the states of its random generators are unusable")
        draws = cls(seed)
        draws._order, draws._noise = map(_generator, states)
        return draws


def _generator_state(generator: np.random.Generator) -> dict[str, Any]:
    # msgpack has no integers of 128 bits.
    state: dict[str, Any] = dict(generator.bit_generator.state)
    return {
        "kind": state["bit_generator"],
        "state": f"{state['state']['state']:x}",
        "inc": f"{state['state']['inc']:x}",
        "has_uint32": state["has_uint32"],
        "uinteger": state["uinteger"],
    }


def _generator(state: dict[str, Any]) -> np.random.Generator:
    bits = np.random.PCG64()
    if field(state, "kind", str) != "PCG64":
        raise ValueError(f"it was trained with the generator {state['kind']!r}, not PCG64")
    if field(state, "has_uint32", int) not in (0, 1):
        raise ValueError("the state of its random generator is unusable")
    try:
        bits.state = {
            "bit_generator": "PCG64",
            "state": {
                "state": int(field(state, "state", str), 16),
                "inc": int(field(state, "inc", str), 16),
            },
            "has_uint32": field(state, "has_uint32", int),
            "uinteger": field(state, "uinteger", int),
        }
    except (OverflowError, TypeError) as error:
        raise ValueError(f"the state of its random generator is unusable: {error}") from error
    return np.random.Generator(bits)


def _load_checked(path: Path, checksum: int) -> CharacterSegmenter:
    """Load a model file that must still be the one that the parent process had mapped."""
    if model_checksum(path) != checksum:
        raise ValueError(f"{path}: the model file changed while a process was being started")
    return CharacterSegmenter.load(path)


def _untrained(settings: dict[str, Any]) -> CharacterSegmenter:
    return CharacterSegmenter(**settings)
