"""The base of models that predict for one input after the other: given words, or their features."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

from spacy_structreg.models.decoders import DecoderPool, OutputT, with_given
from spacy_structreg.models.estimator import Estimator
from spacy_structreg.models.gold import GoldT
from spacy_structreg.models.protocols import DecoderT

InputT = TypeVar("InputT")


class Predictor(Estimator[GoldT, DecoderT], Generic[GoldT, DecoderT, InputT, OutputT]):
    """An estimator whose inputs have an output each, of which something may be given.

    A query pairs an input with the part of its output that is given.
    """

    @abstractmethod
    def _query(self, item: InputT, given: Any) -> Any:
        """Make a query. given: None for nothing. Raises ValueError for what cannot be."""

    @abstractmethod
    def _decode(self, decoder: DecoderT, queries: list[Any]) -> list[OutputT]:
        """The outputs of queries. Raises ValueError if no output agrees with what is given."""

    @abstractmethod
    def _size(self, query: Any) -> int:
        """The size of a query in characters, for streams."""

    def _predict(self, item: InputT, given: Any = None) -> OutputT:
        return self._decoders().run(self._decode, [self._query(item, given)])[0]

    def predict_batch(
        self,
        inputs: Iterable[InputT],
        *,
        given: Iterable[Any] | None = None,
        n_threads: int = 1,
    ) -> list[OutputT]:
        """The output for each input, as of `predict`; threads decode side by side.

        given: of each input, what `predict` takes; None for nothing of any.
        Raises as `predict`, and ValueError if there are more or fewer inputs in `given`.
        """
        decoders = self._decoders()
        queries = list(self._queries(inputs, given))
        return decoders.batch(queries, self._decode, size=self._size, n_threads=n_threads)

    def predict_stream(
        self,
        inputs: Iterable[InputT],
        *,
        given: Iterable[Any] | None = None,
        n_threads: int = 1,
    ) -> Iterator[OutputT]:
        """As `predict_batch`, for any number of inputs in bounded memory, in their order."""
        return self._stream(inputs, self._decoders(), n_threads, given)

    def _stream(
        self,
        inputs: Iterable[InputT],
        decoders: DecoderPool[DecoderT],
        n_threads: int,
        given: Iterable[Any] | None = None,
    ) -> Iterator[OutputT]:
        queries = self._queries(inputs, given)
        return decoders.stream(queries, self._decode, size=self._size, n_threads=n_threads)

    def _queries(self, inputs: Iterable[InputT], given: Iterable[Any] | None) -> Iterator[Any]:
        return (self._query(*pair) for pair in with_given(inputs, given))
