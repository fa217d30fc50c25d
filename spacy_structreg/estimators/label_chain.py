"""What labellers of sequences share: a chain of labels over features of any kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.label_schemes import Scheme, convert
from spacy_structreg.estimators.base import Estimator
from spacy_structreg.estimators.decoders import DecoderPool
from spacy_structreg.estimators.epochs import EpochReport, ScoresT
from spacy_structreg.estimators.gold import GoldT
from spacy_structreg.estimators.protocols import Compiled
from spacy_structreg.estimators.structure import Structure
from spacy_structreg.features.shapes import Shape
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.learn.settings import AnyLearning, Learning, LogLinear
from spacy_structreg.tasks.chain import ChainDecoder, ChainFeatures, CompiledChain
from spacy_structreg.tasks.label_schemes import complete_labels, label_graph
from spacy_structreg.tasks.labelling import LabelDecoder
from spacy_structreg.tasks.tokens import FeatureList
from spacy_structreg.training.chain import ChainTrainer
from spacy_structreg.training.chains import new_chain_trainer
from spacy_structreg.training.log_linear import LogLinearTrainer

if TYPE_CHECKING:
    from typing_extensions import Self


class SequenceFeatures(Protocol):
    """What a chain sees of a sequence (`tasks.tokens`, `tasks.feature_dictionaries`)."""

    @property
    def shapes(self) -> tuple[Shape, ...]: ...

    @property
    def atoms(self) -> dict[str, int]: ...

    @property
    def lists(self) -> tuple[str, ...]: ...

    def see(
        self, items: Sequence[Any], reach: int
    ) -> tuple[NDArray[np.uint64], tuple[FeatureList, ...]]: ...


class SequenceDecoder:
    """Labels sequences of what features see, by one set of weights."""

    def __init__(self, structure: LabelChain[Any], tables: list[TrainedRows]) -> None:
        chain = ChainDecoder(structure.features, structure.graph, tables)
        self._structure = structure
        self._decoder = LabelDecoder(chain)

    @property
    def capacity(self) -> int:
        """For how many positions it keeps working memory."""
        return self._decoder.capacity

    def label(self, items: Sequence[Any]) -> list[str]:
        """The best labels, in BIO if there is a scheme."""
        return self._structure.decode(self._decoder.label(*self._structure.see(items)))

    def nbest(self, items: Sequence[Any], n: int) -> list[tuple[float, list[str]]]:
        """The `n` best labellings with their scores, best first."""
        paths = self._decoder.nbest(*self._structure.see(items), n)
        return [(score, self._structure.decode(path)) for score, path in paths]

    def marginals(self, items: Sequence[Any]) -> NDArray[np.float64]:
        """The probability of each label of the chain at each position."""
        return self._decoder.marginals(*self._structure.see(items))


class LabelChain(Structure[GoldT, SequenceDecoder]):
    """Labels of a scheme, and features of sequences.

    seen: the features. labels: in the spelling of the scheme, any; what the scheme needs besides
        is added. scheme: that of the chain; None for labels that may follow one another freely.
    split: parts a gold sentence into what features see and its labels, in BIO if there is a scheme.
    Raises ValueError for labels that are not of the scheme, and for too many or none.
    """

    def __init__(
        self,
        seen: SequenceFeatures,
        labels: Iterable[str],
        scheme: Scheme | None,
        split: Any,
    ) -> None:
        self.seen = seen
        self.scheme = scheme
        self._split = split
        self._labels = complete_labels(labels, scheme)
        self.graph = label_graph(self._labels, scheme)
        self.features = ChainFeatures(seen.shapes, seen.atoms, len(self._labels), seen.lists)
        self._numbers = {label: number for number, label in enumerate(self._labels)}

    @property
    def labels(self) -> tuple[str, ...]:
        return self._labels

    @property
    def widths(self) -> tuple[int, ...]:
        return self.features.widths

    def new_learner(self, learning: AnyLearning) -> Learner:
        return self.features.new_learner(learning)

    def new_trainer(self, learner: Learner) -> ChainTrainer | LogLinearTrainer:
        return new_chain_trainer(self.features, self.graph, learner)

    def new_decoder(self, tables: list[TrainedRows]) -> SequenceDecoder:
        return SequenceDecoder(self, tables)

    def compile(self, example: GoldT, learner: Learner) -> CompiledChain | None:
        items, labels = self._split(example)
        if not items:
            return None
        try:
            numbers = [self._numbers[label] for label in self.encode(labels)]
        except KeyError as error:
            raise ValueError(
                f"the label {error.args[0]!r:.60} does not occur in the corpus that the labels "
                "were read from"
            ) from error
        symbols, lists = self.see(items)
        return self.features.compile(symbols, np.array(numbers, np.uint16), learner, lists)

    def compile_unlabelled(self, items: Sequence[Any], learner: Learner) -> CompiledChain:
        """A sequence of unknown labels, which counts in the regulariser of feature noising."""
        symbols, lists = self.see(items)
        return self.features.compile(symbols, len(items), learner, lists)

    def see(self, items: Sequence[Any]) -> tuple[NDArray[np.uint64], tuple[FeatureList, ...]]:
        """The streams and lists of a sequence."""
        return self.seen.see(items, self.features.reach)

    def encode(self, labels: Sequence[str]) -> Sequence[str]:
        """Labels of a corpus as those of the chain."""
        return labels if self.scheme is None else convert(labels, "bio", self.scheme)

    def decode(self, path: NDArray[np.uint16]) -> list[str]:
        """The labels of a path, in BIO if there is a scheme."""
        labels = [self._labels[number] for number in path.tolist()]
        return labels if self.scheme in (None, "bio") else convert(labels, self.scheme, "bio")


class Labeler(Estimator[GoldT, SequenceDecoder, ScoresT]):
    """An estimator of label chains; a subclass makes their structure."""

    NOUN = "labeller"
    LEARNS = (Learning, LogLinear)
    _unlabelled: Sequence[Sequence[Any]] = ()

    def _items(self, items: Any) -> Sequence[Any]:
        """A sequence as features see it. Raises ValueError if it cannot be."""
        return list(items)

    def fit(
        self,
        sentences: Iterable[GoldT],
        dev: Iterable[GoldT] | None = None,
        *,
        unlabelled: Iterable[Any] = (),
        n_threads: int = 1,
        progress: bool = False,
        on_epoch: Callable[[EpochReport[ScoresT]], None] | None = None,
    ) -> Self:
        """As `Estimator.fit`, with sequences without labels besides.

        unlabelled: what `predict` takes; their uncertainty under feature noising counts in the
            regulariser, as much as `LogLinear.unlabelled_weight` says (Wang et al. 2013, 2.1).
        """
        further = [listed for items in unlabelled if (listed := self._items(items))]
        noisy = isinstance(self.learning, LogLinear) and self.learning.variance > 0
        if further and not noisy:
            raise ValueError(
                "sequences without labels count in the regulariser of feature noising only; "
                "choose LogLinear(noise='dropout', noise_level=…), or leave them out"
            )
        with self._lock:
            self._unlabelled = further
            try:
                return super().fit(
                    sentences, dev, n_threads=n_threads, progress=progress, on_epoch=on_epoch
                )
            finally:
                self._unlabelled = ()

    def _begin(
        self, gold: list[GoldT]
    ) -> tuple[Structure[GoldT, SequenceDecoder], Learner, list[Compiled]]:
        structure, learner, compiled = super()._begin(gold)
        assert isinstance(structure, LabelChain)
        compiled += [structure.compile_unlabelled(items, learner) for items in self._unlabelled]
        return structure, learner, compiled

    # Prediction ----------------------------------------------------------------------------------

    def predict(self, items: Iterable[Any]) -> list[str]:
        """The labels of a sequence, one an item, in BIO if there is a scheme.

        Raises ValueError if the model has not been trained, or for items of another form.
        """
        with self._decoders().borrow() as decoder:
            return decoder.label(self._items(items))

    def predict_batch(
        self, sequences: Iterable[Iterable[Any]], *, n_threads: int = 1
    ) -> list[list[str]]:
        """The labels of each sequence; threads decode side by side. As `predict`."""
        return list(self.predict_stream(sequences, n_threads=n_threads))

    def predict_stream(
        self, sequences: Iterable[Iterable[Any]], *, n_threads: int = 1
    ) -> Iterator[list[str]]:
        """As `predict_batch`, for any number of sequences in bounded memory, in their order."""
        return self._stream(map(self._items, sequences), self._decoders(), n_threads)

    def nbest(self, items: Iterable[Any], n: int) -> list[tuple[float, list[str]]]:
        """The `n` best labellings of a sequence with their scores, best first. As `predict`."""
        with self._decoders().borrow() as decoder:
            return decoder.nbest(self._items(items), n)

    def predict_marginals(self, items: Iterable[Any]) -> NDArray[np.float64]:
        """The probability of each label at each item: shape (n, n_labels), as `labels` has them.

        Labels are those of the chain, in its own scheme. Raises ValueError as `predict`, and for a
        model that was not trained to have probabilities (by `LogLinear` settings).
        """
        if not isinstance(self.learning, LogLinear):
            raise ValueError(
                "the scores of a perceptron are no probabilities; train with LogLinear settings"
            )
        with self._decoders().borrow() as decoder:
            return decoder.marginals(self._items(items))

    def _stream(
        self,
        sequences: Iterable[Sequence[Any]],
        decoders: DecoderPool[SequenceDecoder],
        n_threads: int,
    ) -> Iterator[list[str]]:
        def decode(decoder: SequenceDecoder, portion: list[Sequence[Any]]) -> list[list[str]]:
            return [decoder.label(items) for items in portion]

        return decoders.stream(sequences, decode, size=len, n_threads=n_threads)
