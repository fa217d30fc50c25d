"""A model of characters and one of words that find the words of texts together.

Two models are trained apart, on the same sentences. How they are asked together is a subclass's to
say; the weight of the scores of characters against those of words is tuned on development
sentences.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from spacy_structreg.corpora.errors import StrPath
from spacy_structreg.estimators.character_segmenter import DEFAULT_LEARNING_OF_MANY
from spacy_structreg.estimators.decoders import DecoderPool
from spacy_structreg.estimators.gold import GoldKind
from spacy_structreg.estimators.protocols import Compiled
from spacy_structreg.estimators.reports import EpochReport
from spacy_structreg.estimators.settings import number
from spacy_structreg.estimators.stored import StoredModel, nested, unnested
from spacy_structreg.estimators.texts import FinderT, TextEstimator, TextReader
from spacy_structreg.learn.averaging import Mean
from spacy_structreg.learn.model_file import Arrays, State, field
from spacy_structreg.learn.settings import AnyLearning

if TYPE_CHECKING:
    from typing_extensions import Self

WEIGHTS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""The weights of the scores of characters that are tried on development sentences.

The scores of passive-aggressive models are several times smaller than those of perceptrons.
"""

CharactersT = TypeVar("CharactersT", bound=TextEstimator[Any, Any, Any])
WordsT = TypeVar("WordsT", bound=TextEstimator[Any, Any, Any])


class Paired(StoredModel, TextReader[FinderT], Generic[FinderT, CharactersT, WordsT]):
    """A model of characters and one of words, trained apart and asked together.

    characters, words: the two models; None for those of the default settings. weight: of the scores
        of characters, ≥ 0; None to tune it on development sentences when `fit` gets some,
        `DEFAULT_WEIGHT` until then.
    Raises ValueError if the two do not cut texts into sentences alike.
    """

    GOLD: ClassVar[GoldKind[Any]]
    PRIMARY: str
    DEFAULT_WEIGHT: ClassVar[float]
    CHARACTERS: ClassVar[type[Any]]
    WORDS: ClassVar[type[Any]]

    SETTINGS: ClassVar = {
        "characters": (dict,),
        "words": (dict,),
        "weight": (float, type(None)),
    }

    def __init__(
        self, characters: CharactersT | None, words: WordsT | None, weight: float | None
    ) -> None:
        super().__init__()
        if characters is None:
            # Perceptrons, whose scores are of the size of those of words.
            characters = self.CHARACTERS(learning=DEFAULT_LEARNING_OF_MANY)
        self.characters: CharactersT = characters
        self.words: WordsT = self.WORDS() if words is None else words
        self.weight = None if weight is None else number("weight", weight, 0.0)
        self.tuned_weight = self.DEFAULT_WEIGHT if self.weight is None else self.weight
        if self.characters.sentences != self.words.sentences:
            raise ValueError("the two models of a pair must cut texts into sentences alike")
        self.sentences = self.characters.sentences
        self._pool: tuple[Any, Any, float, DecoderPool[FinderT]] | None = None
        # Those of the file that both models come from.
        self._loaded: DecoderPool[FinderT] | None = None

    # What a tokenizer's model has ----------------------------------------------------------------

    @property
    def is_trained(self) -> bool:
        """Whether both models have weights to predict with."""
        return self.characters.is_trained and self.words.is_trained

    @property
    def is_training(self) -> bool:
        """True if trainings of both are running, whose state `save` can write."""
        return self.characters.is_training and self.words.is_training

    @property
    def history(self) -> Sequence[EpochReport[Any]]:
        """Reports of the epochs of the model of words."""
        return self.words.history

    @property
    def learning(self) -> AnyLearning:
        """How the model of words is learnt."""
        return self.words.learning

    @property
    def epochs(self) -> int:
        """Passes over the training corpus, for the model of words; setting it holds for both."""
        return self.words.epochs

    @epochs.setter
    def epochs(self, value: int) -> None:
        self.characters.epochs = self.words.epochs = value

    @property
    def patience(self) -> int | None:
        """Stop each training after so many epochs without a better figure; None for never."""
        return self.words.patience

    @patience.setter
    def patience(self, value: int | None) -> None:
        self.characters.patience = self.words.patience = value

    @property
    def n_models(self) -> int:
        """How many models of each kind are trained and averaged."""
        return self.words.n_models

    @n_models.setter
    def n_models(self, value: int) -> None:
        self.characters.n_models = self.words.n_models = value

    @property
    def seed(self) -> int:
        """Of all that the trainings draw."""
        return self.words.seed

    @seed.setter
    def seed(self, value: int) -> None:
        self.characters.seed = self.words.seed = value

    # Training ------------------------------------------------------------------------------------

    def fit(
        self,
        sentences: Iterable[Any],
        dev: Iterable[Any] | None = None,
        *,
        n_threads: int = 1,
        progress: bool = False,
        on_epoch: Callable[[EpochReport[Any]], None] | None = None,
        on_better: Callable[[Self], None] | None = None,
        checkpoint: StrPath | None = None,
    ) -> Self:
        """Train both models from nothing, one after the other, then tune the weight.

        As `Estimator.fit`. dev also tunes the weight, if the setting `weight` is None.
        on_better: is called while words are trained, with a model whose weight is not tuned.
        """

        def call_with_pair(words: Any) -> None:
            assert on_better is not None
            pair = self.untrained()
            pair.characters, pair.words = self.characters, words
            on_better(pair)

        gold = self.GOLD.checked_corpus(sentences, "training")
        held_out = None if dev is None else self.GOLD.checked_corpus(dev, "development")
        with self._lock:
            for name, model in (("characters", self.characters), ("words", self.words)):
                wanted = on_better is not None and name == "words"
                model.fit(
                    gold,
                    held_out,
                    n_threads=n_threads,
                    progress=progress,
                    on_epoch=on_epoch,
                    on_better=call_with_pair if wanted else None,
                    checkpoint=None if checkpoint is None else Path(checkpoint) / name,
                )
            if held_out is not None:
                self.tune(held_out, n_threads=n_threads)
        return self

    def tune(self, dev: Iterable[Any], *, n_threads: int = 1) -> float:
        """Choose the weight that is best on development sentences; returns it.

        The middle one of equally good ones is taken. Does nothing if the setting `weight` fixes it.
        """
        held_out = self.GOLD.checked_corpus(dev, "development")
        if self.weight is None:
            figures: dict[float, float] = {}
            for weight in WEIGHTS:
                scores = self._score(held_out, self._new_pool(weight), None, n_threads)
                figures[weight] = scores.as_dict()[self.PRIMARY] or 0.0
            best = [weight for weight in WEIGHTS if figures[weight] == max(figures.values())]
            self.tuned_weight = best[len(best) // 2]
        return self.tuned_weight

    def prepare(self, sentences: Iterable[Any]) -> None:
        """Let both models see what they take from data; as `Estimator.prepare`."""
        listed = list(sentences)
        self.characters.prepare(listed)
        self.words.prepare(listed)

    def compile(self, sentences: Iterable[Any]) -> list[Compiled]:
        """Sentences made ready for `learn`, for both models; as `Estimator.compile`."""
        listed = list(sentences)
        with self._lock:
            return [
                Both(*pair)
                for pair in zip(
                    self.characters.compile(listed), self.words.compile(listed), strict=True
                )
            ]

    def owns(self, sentences: Sequence[Compiled]) -> bool:
        """Whether compiled sentences belong to the running trainings."""
        characters, words = _parted(sentences)
        return self.characters.owns(characters) and self.words.owns(words)

    def learn(self, sentences: Sequence[Compiled]) -> tuple[int, int]:
        """Let both models visit each compiled sentence once; counts are those of words."""
        characters, words = _parted(sentences)
        with self._lock:
            self.characters.learn(characters)
            return self.words.learn(words)

    def partial_fit(self, sentences: Iterable[Any]) -> Self:
        """Train both models one pass further, from the weights that there are."""
        gold = self.GOLD.checked_corpus(sentences, "training")
        self.learn(self.compile(gold))
        return self

    # Prediction ----------------------------------------------------------------------------------

    def evaluate(
        self,
        gold: Iterable[Any],
        *,
        vocabulary: AbstractSet[str] | None = None,
        n_threads: int = 1,
    ) -> Any:
        """Score what is predicted for gold sentences; as `Estimator.evaluate`."""
        checked = self.GOLD.checked_corpus(gold, "evaluation")
        return self._score(checked, self._decoders(), vocabulary, n_threads)

    @abstractmethod
    def _score(
        self,
        gold: list[Any],
        decoders: DecoderPool[FinderT],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> Any:
        """Hook: the scores of what decoders predict for checked gold sentences."""

    def _decoders(self) -> DecoderPool[FinderT]:
        self._check_source()
        of_characters = self.characters._decoders()
        of_words = self.words._decoders()
        pool = self._pool
        known = (of_characters, of_words, self.tuned_weight)
        if pool is None or any(a is not b for a, b in zip(pool[:3], known, strict=True)):
            pool = self._pool = (*known, self._new_pool(self.tuned_weight))
        return pool[3]

    @abstractmethod
    def _new_pool(self, weight: float) -> DecoderPool[FinderT]:
        """Hook: decoders of both models as they are now, with this weight of characters."""

    # Averages and files --------------------------------------------------------------------------

    @classmethod
    def average(cls, models: Sequence[Self], mean: Mean = "nonzero") -> Self:
        """The averages of both kinds of models, with the settings and the weight of the first.

        Raises ValueError as `Estimator.average`.
        """
        if not models:
            raise ValueError("there is no model to average")
        if len({type(model) for model in models}) > 1:
            raise ValueError("the models to average differ in task")
        averaged = models[0].untrained()
        averaged.characters = cls.CHARACTERS.average([model.characters for model in models], mean)
        averaged.words = cls.WORDS.average([model.words for model in models], mean)
        averaged.tuned_weight = models[0].tuned_weight
        return averaged

    def _settings(self) -> dict[str, Any]:
        return {
            "characters": self.characters._settings(),
            "words": self.words._settings(),
            "weight": self.weight,
        }

    @classmethod
    def _arguments(cls, settings: dict[str, Any]) -> dict[str, Any]:
        parts = {"characters": cls.CHARACTERS, "words": cls.WORDS}
        made = {
            name: part(**part._arguments(part._checked_settings({"settings": settings[name]})))
            for name, part in parts.items()
        }
        return {**settings, **made}

    def _state(self, state: State) -> tuple[dict[str, Any], Arrays]:
        parts = {"characters": self.characters, "words": self.words}
        contents = {name: model.contents(state) for name, model in parts.items()}
        arrays: Arrays = {}
        for name, (_, inner) in contents.items():
            arrays |= nested(name, inner)
        return {
            "settings": self._settings(),
            "tuned_weight": self.tuned_weight,
            "models": {name: header for name, (header, _) in contents.items()},
        }, arrays

    def _restore(self, header: dict[str, Any], arrays: Arrays) -> None:
        models = field(header, "models", dict)
        if set(models) != {"characters", "words"}:
            raise ValueError(f"it holds the models {sorted(map(str, models))}")
        if strange := [name for name in arrays if name.split(".")[0] not in models]:
            raise ValueError(f"it has an array {strange[0]!r} that belongs to nothing")
        for name, cls in (("characters", self.CHARACTERS), ("words", self.WORDS)):
            inner = field(models, name, dict)
            if inner.get("settings") != header["settings"][name]:
                raise ValueError(f"the settings of its model of {name} are not its own")
            if inner.get("state") != header["state"]:
                raise ValueError(f"its model of {name} is in a state that is not its own")
            setattr(self, name, cls.from_contents(name, inner, unnested(name, arrays)))
        self.tuned_weight = number("tuned_weight", field(header, "tuned_weight", float), 0.0)
        if field(header, "state", str) == "trained":
            self._loaded = self._decoders()
            with self._loaded.borrow():
                pass  # The two must fit each other, before the first text.

    def _copy_to_memory(self) -> None:
        self.characters._copy_to_memory()
        self.words._copy_to_memory()
        self._pool = self._loaded = None

    @property
    def _is_as_loaded(self) -> bool:
        return self._source is not None and self._decoders() is self._loaded

    @property
    def corpus_checksum(self) -> str | None:
        """The checksum of the corpus that the model of words was trained on."""
        return self.words.corpus_checksum


class Both:
    """A training example of two models."""

    def __init__(self, characters: Compiled, words: Compiled) -> None:
        self.characters = characters
        self.words = words

    @property
    def lineage(self) -> object:
        """Of the learner of words."""
        return self.words.lineage

    @property
    def n_rows_known(self) -> int:
        """Of the learner of words."""
        return self.words.n_rows_known

    def __len__(self) -> int:
        return len(self.words)


def _parted(sentences: Sequence[Any]) -> tuple[list[Compiled], list[Compiled]]:
    return [both.characters for both in sentences], [both.words for both in sentences]
