"""The base of labelers of sequences: a chain of labels over features of any kind."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, pairwise, product
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Literal, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.labeling import OUTSIDE, Scheme, convert
from spacy_structreg.features.template_compiler import Shape
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.model_file import Arrays
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.learn.setting_fields import check_strings, setting
from spacy_structreg.models.base_model import FitOptions
from spacy_structreg.models.decoders import WORD, DecoderPool, OutputT
from spacy_structreg.models.gold import GoldT
from spacy_structreg.models.model_spec import ChainSpec, Labels, StoredSpec
from spacy_structreg.models.predictor import Predictor
from spacy_structreg.models.settings import TrainingSettings
from spacy_structreg.tasks.chain import ChainDecoder, ChainFeatures, CompiledChain
from spacy_structreg.tasks.labeling.label_sequences import LabelDecoder
from spacy_structreg.tasks.labeling.label_transitions import (
    allowed_labels,
    complete_labels,
    label_graph,
)
from spacy_structreg.tasks.tokens import FeatureList

if TYPE_CHECKING:
    from typing_extensions import Self

    from spacy_structreg.metrics.figures import Scores
    from spacy_structreg.models.explanation import Explanation
    from spacy_structreg.training.chain import ChainTrainer
    from spacy_structreg.training.log_linear import LogLinearTrainer

Split: TypeAlias = tuple[Sequence[Any], Sequence[str]]
"""The items of a gold sentence, as features see them, and their labels."""

Given: TypeAlias = Sequence[str | None]
"""The labels that are known of the items of a sequence, None where none is."""

SpanScheme: TypeAlias = Literal["bio", "bioes", "io"]
"""Schemes of labels that stand for spans."""

_BIO: Final = {"S-": "B-", "E-": "I-"}


class SequenceFeatures(Protocol):
    """Features of a sequence (`tasks.tokens`, `tasks.feature_dictionaries`)."""

    @property
    def shapes(self) -> tuple[Shape, ...]: ...

    @property
    def atoms(self) -> dict[str, int]: ...

    @property
    def lists(self) -> tuple[str, ...]: ...

    def extract(
        self, sequences: Sequence[Sequence[Any]], reach: int
    ) -> tuple[NDArray[np.uint64], tuple[FeatureList, ...]]: ...

    def named_lists(self, items: Sequence[Any]) -> list[list[list[tuple[str, str, str]]]]: ...


class StreamFeatures(SequenceFeatures, Protocol):
    """Those that have streams."""

    def value_of(self, items: Sequence[Any], field: str, i: int) -> str: ...

    def source_of(self, field: str) -> str: ...


class SequenceDecoder:
    """Labels sequences of what features see, by one set of weights."""

    def __init__(self, spec: LabelChainSpec[Any], tables: list[TrainedRows]) -> None:
        chain = ChainDecoder(spec.features, spec.graph, tables)
        self._spec = spec
        self._decoder = LabelDecoder(chain)
        self._tables = tables

    @property
    def capacity(self) -> int:
        """For how many positions it keeps working memory."""
        return self._decoder.capacity

    def label(self, queries: Sequence[Query]) -> list[list[str]]:
        """The best labels of sequences, in BIO if there is a scheme; given: see `Labeler.predict`.

        queries: items, and the labels that are given.
        """
        spec = self._spec
        sequences, given = zip(*queries, strict=True)
        lengths = list(map(len, sequences))
        allowed = None
        if any(labels is not None for labels in given):
            given = tuple(map(_checked_labels, given, lengths))
            allowed = np.concatenate(
                [allowed_labels(labels, spec.labels, spec.scheme) for labels in given]
            )
        seen = spec.extract(sequences)
        found = spec.decode(self._decoder.label(*seen, allowed, lengths), lengths)
        if allowed is None:
            return found
        return [_with_given(*pair, spec.scheme) for pair in zip(found, given, strict=True)]

    def nbest(self, items: Sequence[Any], n: int) -> list[tuple[float, list[str]]]:
        """The `n` best labelings with their scores, best first."""
        paths = self._decoder.nbest(*self._spec.extract([items]), n)
        return [(score, self._spec.decode(path, [len(items)])[0]) for score, path in paths]

    def marginals(self, items: Sequence[Any]) -> NDArray[np.float64]:
        """The probability of each label of the chain at each position."""
        return self._decoder.marginals(*self._spec.extract([items]))

    def explain(self, items: Sequence[Any], places: Sequence[str]) -> Explanation:
        """The features behind the labels of items. places: their names."""
        from spacy_structreg.models.explained_chains import ChainView, ExplainedChain
        from spacy_structreg.models.explanation import Explanation, shown

        spec = self._spec
        symbols, lists = spec.extract([items])
        if not items:
            return Explanation("", "", 0.0, ())
        ((score, best),) = self._decoder.nbest(symbols, lists, 1)
        path = best.tolist()

        def rival(i: int) -> Sequence[int] | None:
            allowed = np.ones((len(path), len(spec.labels)), dtype=bool)
            allowed[i, path[i]] = False
            try:
                other: list[int] = self._decoder.label(symbols, lists, allowed).tolist()
            except ValueError:
                # It is the only label that there can be.
                return None
            return other

        view = ChainView(
            symbols,
            lists,
            spec.labels,
            places,
            lambda field, i, _: shown(cast("StreamFeatures", spec.seen).value_of(items, field, i)),
            lambda field, i, _: cast("StreamFeatures", spec.seen).source_of(field),
            spec.seen.named_lists(items),
        )
        decisions = ExplainedChain(self._decoder.chain, view).decisions(
            path, score, lambda y: spec.labels[y], rival
        )
        (labels,) = spec.decode(best, [len(places)])
        analysis = " ".join(map("/".join, zip(places, labels, strict=True)))
        found = Explanation(" ".join(places), analysis, score, tuple(decisions))
        return found.about_items(len(places))

    def transition_weights(self) -> dict[tuple[str, str], float]:
        """The weights of pairs of neighboring labels of the chain, where they are not 0."""
        features = self._spec.features
        if features.tag_bigram < 0:
            return {}
        table = self._tables[features.tag_bigram]
        rows = [table.weights(key) for key in range(features.n_pair_rows)]
        weights = np.concatenate(rows).tolist()
        pairs = product(self._spec.labels, self._spec.labels)
        return {pair: weight for pair, weight in zip(pairs, weights, strict=True) if weight}


KnownFeatures: TypeAlias = tuple[SequenceFeatures, dict[str, Any], Arrays]
"""Features, and the entries and arrays that they need of a model file."""


class LabelChainSpec(ChainSpec[GoldT, SequenceDecoder]):
    """Labels of a scheme, and features of sequences.

    seen: the features. labels: in the spelling of the scheme, any; what the scheme needs besides
        is added. scheme: that of the chain; None for labels that may follow one another freely.
    entries, arrays: what features need of a model file.
    Raises ValueError for labels that are not of the scheme, and for too many or none.
    """

    def __init__(
        self,
        labels: Iterable[str],
        scheme: Scheme | None,
        seen: SequenceFeatures,
        entries: dict[str, Any],
        arrays: Arrays,
    ) -> None:
        self.seen = seen
        self._contents = entries, arrays
        self.scheme = scheme
        self._labels = complete_labels(labels, scheme)
        self.graph = label_graph(self._labels, scheme)
        self.features = ChainFeatures(seen.shapes, seen.atoms, len(self._labels), seen.lists)
        self._numbers = {label: number for number, label in enumerate(self._labels)}
        # The chain decodes nothing but whole spans, so that BIOES can be read label by label.
        self._spelt = self._labels
        if scheme == "bioes":
            begins = [(label[:2], label[2:]) for label in self._labels]
            self._spelt = tuple(_BIO.get(place, place) + name for place, name in begins)

    @classmethod
    @abstractmethod
    def items_and_labels(cls, sentence: GoldT) -> Split:
        """The items of a gold sentence, and its labels, in BIO if there is a scheme."""

    @classmethod
    def new_features(cls, settings: Any) -> KnownFeatures:
        """The features of a new training, and what they need of a model file."""
        return settings.features(), {}, {}

    @classmethod
    def stored_features(cls, settings: Any, stored: StoredSpec) -> KnownFeatures:
        """The features of a model file. Raises ValueError for what is not for them."""
        return settings.features(), {}, {}

    @classmethod
    def of_corpus(cls, settings: Any, examples: Iterable[GoldT], extra: Labels) -> Self:
        scheme = _scheme_of(settings)
        labels = (encode(cls.items_and_labels(example)[1], scheme) for example in examples)
        found = frozenset(extra).union(*labels)
        return cls(found, scheme, *cls.new_features(settings))

    @classmethod
    def of_file(cls, settings: Any, stored: StoredSpec) -> Self:
        known = check_strings("labels", stored.labels)
        features = cls.stored_features(settings, stored)
        return cls(known, _scheme_of(settings), *features)

    @property
    def labels(self) -> tuple[str, ...]:
        return self._labels

    def new_trainer(self, learner: Learner) -> ChainTrainer | LogLinearTrainer:
        from spacy_structreg.training.chain_trainers import new_chain_trainer

        return new_chain_trainer(self.features, self.graph, learner)

    def new_decoder(self, tables: list[TrainedRows]) -> SequenceDecoder:
        return SequenceDecoder(self, tables)

    def compile(self, example: GoldT, learner: Learner) -> CompiledChain | None:
        items, labels = self.items_and_labels(example)
        if not items:
            return None
        try:
            numbers = [self._numbers[label] for label in encode(labels, self.scheme)]
        except KeyError as error:
            raise ValueError(
                f"the label {error.args[0]!r:.60} does not occur in the corpus that the labels "
                "were read from"
            ) from error
        symbols, lists = self.extract([items])
        return self.features.compile(symbols, np.array(numbers, np.uint16), learner, lists)

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        entries, arrays = self._contents
        return dict(entries), dict(arrays)

    def compile_unlabeled(self, items: Sequence[Any], learner: Learner) -> CompiledChain:
        """A sequence of unknown labels, which counts in the regularizer of feature noising."""
        symbols, lists = self.extract([items])
        return self.features.compile(symbols, len(items), learner, lists)

    def extract(
        self, sequences: Sequence[Sequence[Any]]
    ) -> tuple[NDArray[np.uint64], tuple[FeatureList, ...]]:
        """The streams and lists of sequences."""
        return self.seen.extract(sequences, self.features.reach)

    def decode(self, path: NDArray[np.uint16], lengths: Iterable[int]) -> list[list[str]]:
        """The labels of the path of sequences of such lengths, in BIO if there is a scheme."""
        labels = [self._spelt[number] for number in path.tolist()]
        parts = [labels[begin:end] for begin, end in pairwise(accumulate(lengths, initial=0))]
        return [convert(part, "io", "bio") for part in parts] if self.scheme == "io" else parts


Query: TypeAlias = tuple[Sequence[Any], Given | None]
"""The items of a sequence as features see them, and the labels that are given."""


class ChainEstimator(Predictor[GoldT, SequenceDecoder, Any, OutputT], Generic[GoldT, OutputT]):
    """An estimator of label chains.

    A subclass sets what features see and, if labels stand for spans, their scheme, and says what
    the items of its inputs and gold sentences are.
    """

    SPEC: ClassVar[type[LabelChainSpec[Any]]]

    @abstractmethod
    def _items(self, given: Any) -> Sequence[Any]:
        """An input as features see it. Raises ValueError if it is none."""

    def fit(
        self,
        sentences: Iterable[GoldT],
        dev: Iterable[GoldT] | None = None,
        *,
        unlabeled: Iterable[Any] = (),
        **options: Any,
    ) -> Self:
        """As `BaseModel.fit`, which also takes the options, with inputs without labels besides.

        unlabeled: what `predict` takes; their uncertainty under feature noising counts in the
            regularizer, as much as `LogLinear.unlabeled_weight` says (Wang et al. 2013, 2.1).
        """
        further = [items for given in unlabeled if (items := self._items(given))]
        if further and not self.learning.learns_from_unlabeled:
            raise ValueError(
                "what has no labels counts in the regularizer of feature noising only; "
                "choose LogLinear(noise='dropout', noise_level=…), or leave it out"
            )
        self._fit(*self._checked_corpora(sentences, dev), FitOptions(**options), further)
        return self

    # Prediction ----------------------------------------------------------------------------------

    def explain(self, items: Any) -> Explanation:
        """The features behind each label, and what would have changed it.

        items: as `predict` takes them; labels are those of the chain, in its own scheme. Time grows
        with the square of their number. Raises ValueError as `predict`.
        """
        seen = self._items(items)
        with self._decoders().borrow() as decoder:
            return decoder.explain(seen, self._places(seen))

    @staticmethod
    def _places(items: Sequence[Any]) -> list[str]:
        """The names of items in explanations."""
        return [str(number) for number in range(1, len(items) + 1)]

    def _marginals(self, items: Sequence[Any]) -> NDArray[np.float64]:
        with self._probable().borrow() as decoder:
            return decoder.marginals(items)

    def _probable(self) -> DecoderPool[SequenceDecoder]:
        """Decoders whose marginals mean something. Raises ValueError if the model has none."""
        if not self.learning.gives_probabilities:
            raise ValueError(
                "the scores of a perceptron are no probabilities; train with LogLinear settings"
            )
        return self._decoders()

    def _query(self, item: Any, given: Given | None) -> Query:
        return self._items(item), given

    def _size(self, query: Query) -> int:
        return WORD * self._extent(query[0])

    def _marginals_stream(
        self, inputs: Iterable[Any], n_threads: int
    ) -> Iterator[NDArray[np.float64]]:
        return self._probable().stream(
            self._queries(inputs, None), _sum, size=self._size, n_threads=n_threads
        )

    @staticmethod
    def _extent(items: Sequence[Any]) -> int:
        """The size of an input, in items or tokens."""
        return len(items)


class LabelerSettings(TrainingSettings):
    """Settings of labelers of sequences."""

    scheme: SpanScheme | None = setting(
        None,
        'How labels stand for spans within the model: "bio", "bioes" or "io"; gold labels and '
        "predictions are in BIO, whatever it is. null for labels that stand for none.",
    )
    epochs: int = 15


class Labeler(ChainEstimator[GoldT, list[str]]):
    """Labels every item of a sequence, with spans of the scheme if there is one."""

    NOUN = "labeler"
    settings: LabelerSettings

    def __init__(self, settings: LabelerSettings) -> None:
        self.PRIMARY = "label_acc" if settings.scheme is None else "ents_f"
        super().__init__(settings)

    def predict(self, items: Iterable[Any], *, given: Given | None = None) -> list[str]:
        """The labels of a sequence, one an item, in BIO if there is a scheme.

        given: labels that are known and stay, None for the others, which are the best that go with
            them. In BIO they stand for whole spans: none is found that would make one longer, and
            an I that goes on with none comes back as a B. A label that the model does not know is
            as O to it; without a scheme, as None.
        Raises ValueError if the model has not been trained, for items of another form, and for
        what is given if it is not a label or None for each item or, with a scheme, not in BIO.
        """
        return self._predict(items, given)

    def _decode(self, decoder: SequenceDecoder, queries: list[Query]) -> list[list[str]]:
        return decoder.label(queries)

    def nbest(self, items: Iterable[Any], n: int) -> list[tuple[float, list[str]]]:
        """The `n` best labelings of a sequence with their scores, best first. As `predict`."""
        with self._decoders().borrow() as decoder:
            return decoder.nbest(self._items(items), n)

    def predict_marginals(self, items: Iterable[Any]) -> NDArray[np.float64]:
        """The probability of each label at each item: shape (n, n_labels), as `labels` has them.

        Labels are those of the chain, in its own scheme. Raises ValueError as `predict`, and for a
        model that was not trained to have probabilities (by `LogLinear` settings).
        """
        return self._marginals(self._items(items))

    def predict_marginals_stream(
        self, sequences: Iterable[Iterable[Any]], *, n_threads: int = 1
    ) -> Iterator[NDArray[np.float64]]:
        """`predict_marginals` of any number of sequences in bounded memory, in their order."""
        return self._marginals_stream(sequences, n_threads)

    def transition_weights(self) -> dict[tuple[str, str], float]:
        """The weights of pairs of neighboring labels of the chain, where they are not 0.

        Raises ValueError as `predict`.
        """
        with self._decoders().borrow() as decoder:
            return decoder.transition_weights()

    def _score(
        self,
        gold: list[GoldT],
        decoders: DecoderPool[SequenceDecoder],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> Scores:
        from spacy_structreg.metrics.labeling import score_labels, score_spans

        items, labels = zip(*map(self.SPEC.items_and_labels, gold), strict=True)
        predicted = self._stream(items, decoders, n_threads)
        if self.settings.scheme is None:
            return score_labels(labels, predicted)
        return score_spans(labels, predicted)


def _scheme_of(settings: TrainingSettings) -> Scheme | None:
    """The scheme of spans, if labels stand for any."""
    return settings.scheme if isinstance(settings, LabelerSettings) else None


def encode(labels: Sequence[str], scheme: Scheme | None) -> Sequence[str]:
    """Labels of a corpus as those of a chain. Raises ValueError for labels that are not in BIO."""
    return labels if scheme is None else convert(labels, "bio", scheme)


def _checked_labels(given: Given | None, n: int) -> Given:
    """The given labels in a list. Raises ValueError if they are not one or None for each item."""
    if given is None:
        return [None] * n
    labels = [given] if isinstance(given, str) else list(given)
    for label in labels:
        if isinstance(given, str) or not isinstance(label, (str, type(None))):
            raise ValueError(f"{label!r:.60} is no label; give a list of labels, or None for some")
    if len(labels) != n:
        raise ValueError(
            f"labels are given for {len(labels)} items, but the sequence has {n}; give None where "
            "a label is not known"
        )
    return labels


def _with_given(labels: list[str], given: Given, scheme: Scheme | None) -> list[str]:
    """Labels that were found, with those given in place of what the chain has for them."""
    if scheme is not None:
        # As labels of whole spans, which may be unknown to the chain.
        whole = convert([OUTSIDE if label is None else label for label in given], "bio", "bio")
        given = [None if label is None else whole[i] for i, label in enumerate(given)]
    return [found if known is None else known for found, known in zip(labels, given, strict=True)]


def _sum(decoder: SequenceDecoder, portion: list[Query]) -> list[NDArray[np.float64]]:
    return [decoder.marginals(items) for items, _ in portion]
