"""What parsers of tagged words share: settings, labels, and streams of sentences."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from spacy_structreg.estimators.base import Estimator
from spacy_structreg.estimators.decoders import DecoderPool, with_given
from spacy_structreg.estimators.gold import GoldT, Words
from spacy_structreg.estimators.parse_queries import TaggedSentence
from spacy_structreg.estimators.protocols import DecoderT
from spacy_structreg.estimators.reports import ScoresT
from spacy_structreg.estimators.settings import beam_width
from spacy_structreg.estimators.structure import Structure
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.learn.averaging import Mean
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainingRows
from spacy_structreg.learn.settings import Learning
from spacy_structreg.search.transition_system import TransitionSystem

GivenT = TypeVar("GivenT")
"""What may be given of a tree."""

QueryT = TypeVar("QueryT", bound=Sized)
"""A sentence to be parsed, and what is given of its tree; its size is in characters."""

TreeT = TypeVar("TreeT")
"""A predicted tree."""


class TreeParser(
    Estimator[GoldT, DecoderT, ScoresT], Generic[GoldT, DecoderT, ScoresT, GivenT, QueryT, TreeT]
):
    """Builds a tree over tagged words by beam search over the states of a transition system.

    templates: the name of one of `tables`, templates in the notation of `features.state_templates`,
        or a list of these. events, atoms: those that templates may name.
    half_width: let full-width letters, digits and punctuation look like their half-width forms.
    beam: how many states are kept, in training and in prediction, 1 to 10,000; None for no limit.
    update: where an update is made: ``"early"``, ``"max_violation"``, ``"plain"``, or, with
        `beam` = 1, ``"every"`` (`training.agenda`); None for max-violation, or for an update at
        every action with a beam of 1.
    learning, epochs, patience, n_models, mean, seed: as of `Estimator`; sentences are not cut, so
        that `mini_sample` must be None.
    Raises ValueError for settings that do not exist or contradict each other.
    """

    COUNTS: ClassVar = True
    SETTINGS: ClassVar[Mapping[str, tuple[type, ...]]] = {
        "templates": (list,),
        "half_width": (bool,),
        "beam": (int, type(None)),
        "update": (str,),
        **Estimator.SETTINGS,
    }

    def __init__(
        self,
        *,
        templates: str | Sequence[str],
        events: Sequence[str],
        atoms: Sequence[str],
        tables: Mapping[str, str],
        half_width: bool,
        beam: int | None,
        update: str | None,
        learning: Learning | None,
        epochs: int,
        patience: int | None,
        n_models: int,
        mean: Mean,
        seed: int | None,
    ) -> None:
        self._templates = parse_state_templates(
            [templates] if isinstance(templates, str) else list(templates), events, atoms, tables
        )
        self.templates = tuple(map(str, self._templates))
        self.half_width = half_width
        self.beam = beam_width("beam", beam)
        if update is None:
            update = "every" if self.beam == 1 else "max_violation"
        self.update = update
        learning = Learning() if learning is None else learning
        if learning.mini_sample is not None:
            raise ValueError(
                f"mini_sample is {learning.mini_sample:g}, but the sentences of a parser cannot be "
                "cut: trees reach over all cuts; leave it at None"
            )
        super().__init__(
            learning=learning,
            epochs=epochs,
            patience=patience,
            n_models=n_models,
            mean=mean,
            seed=seed,
        )
        # A trainer checks which updates there are, and which beams go with them.
        structure = self._empty_structure()
        structure.new_trainer(structure.new_learner(self.learning))

    # Hooks ---------------------------------------------------------------------------------------

    @abstractmethod
    def _empty_structure(self) -> Structure[GoldT, DecoderT]:
        """A structure without labels."""

    @abstractmethod
    def _query(self, sentence: TaggedSentence, given: GivenT | None) -> QueryT:
        """A sentence to be parsed. Raises ValueError for what cannot be."""

    @abstractmethod
    def _parse(self, decoder: DecoderT, queries: list[QueryT]) -> list[TreeT]:
        """The trees of sentences. Raises ValueError if no tree has what is given."""

    # Prediction ----------------------------------------------------------------------------------

    def predict(self, words: Words, tags: Sequence[str], *, given: GivenT | None = None) -> TreeT:
        """The tree over the words of a sentence.

        tags: of the words. given: what is known of the tree, and stays; the rest is found to fit.
        Raises ValueError if there are no words, tags are not one for each, no tree has what is
        given, or the model has not been trained.
        """
        return self.predict_batch([(words, tags)], given=None if given is None else [given])[0]

    def predict_batch(
        self,
        sentences: Iterable[TaggedSentence],
        *,
        given: Iterable[GivenT | None] | None = None,
        n_threads: int = 1,
    ) -> list[TreeT]:
        """The tree of each sentence; threads decode side by side. given: for each sentence.

        Raises as `predict`, and ValueError if there are more or fewer sentences in `given`.
        """
        return list(self.predict_stream(sentences, given=given, n_threads=n_threads))

    def predict_stream(
        self,
        sentences: Iterable[TaggedSentence],
        *,
        given: Iterable[GivenT | None] | None = None,
        n_threads: int = 1,
    ) -> Iterator[TreeT]:
        """As `predict_batch`, for any number of sentences in bounded memory, in their order."""
        return self._stream(sentences, given, self._decoders(), n_threads)

    def _stream(
        self,
        sentences: Iterable[TaggedSentence],
        given: Iterable[GivenT | None] | None,
        decoders: DecoderPool[DecoderT],
        n_threads: int,
    ) -> Iterator[TreeT]:
        queries = (
            (self._query(sentence, None) for sentence in sentences)
            if given is None
            else (self._query(*pair) for pair in with_given(sentences, given))
        )
        return decoders.stream(queries, self._parse, size=len, n_threads=n_threads)

    def _settings(self) -> dict[str, Any]:
        return {
            "templates": list(self.templates),
            "half_width": self.half_width,
            "beam": self.beam,
            "update": self.update,
            **super()._settings(),
        }


@dataclass(frozen=True)
class TreeStructure(Structure[GoldT, DecoderT]):
    """Features of the states of a transition system.

    system: of one thread; trainers and decoders get copies of it.
    """

    system: TransitionSystem
    templates: tuple[StateTemplate, ...]
    beam: int | None
    update: str

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(self.system.events.values())

    def new_learner(self, learning: Learning) -> Perceptron:
        # A feature of words has seen few of all actions.
        rows = [TrainingRows(width, adaptive=True, **learning.penalties) for width in self.widths]
        return Perceptron(rows, learning)
