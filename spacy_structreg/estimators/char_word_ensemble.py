"""A model of characters and one of words that find the words of texts together.

Two models are trained apart, on the same sentences. How they are asked together is a subclass's to
say; the weight of the scores of characters against those of words is tuned on development
sentences.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from spacy_structreg.corpora.corpus_errors import StrPath
from spacy_structreg.estimators.raw_text import FinderT, RawTextPredictor, TextEstimator
from spacy_structreg.estimators.segmentation.character_segmenter import DEFAULT_LEARNING_OF_MANY
from spacy_structreg.learn.freezing import Bits
from spacy_structreg.learn.learning_settings import AnyLearning
from spacy_structreg.learn.model_average import Mean
from spacy_structreg.learn.model_file import Arrays, State, field
from spacy_structreg.learn.setting_fields import Settings, check_float, setting
from spacy_structreg.models.corrections import Corrections, corrected
from spacy_structreg.models.decoders import DecoderPool
from spacy_structreg.models.example_schema import ExampleSchema
from spacy_structreg.models.protocols import Compiled
from spacy_structreg.models.reports import EpochReport
from spacy_structreg.models.stored_model import StoredModel, nested, unnested

if TYPE_CHECKING:
    from typing_extensions import Self

WEIGHTS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""The weights of the scores of characters that are tried on development sentences.

The scores of passive-aggressive models are several times smaller than those of perceptrons.
"""

CharactersT = TypeVar("CharactersT", bound=TextEstimator[Any, Any, Any])
WordsT = TypeVar("WordsT", bound=TextEstimator[Any, Any, Any])


@dataclass(frozen=True, kw_only=True)
class PairSettings(Settings):
    """Settings of a model of characters and one of words."""

    characters: StoredModel | None
    words: StoredModel | None
    weight: float | None = setting(
        None,
        "Of the scores of characters, against 1 for those of words; null to tune it on development "
        "sentences.",
    )


def part(model: type[StoredModel], of: str) -> Any:
    """The setting of one of two models, by its class. of: what it is a model of."""

    def restore(stored: Any) -> StoredModel:
        return model.of(model.SETTINGS.from_dict(stored))

    doc = (
        f"The model of {of}: a block of spacy_structreg.{model.__name__}.v1; null for its defaults."
    )
    return setting(None, doc, restore=restore)


def _of_both(name: str) -> Any:
    """A setting of the model of words, which is changed for both."""

    def change(ensemble: Any, value: Any) -> None:
        setattr(ensemble.characters, name, value)
        setattr(ensemble.words, name, value)

    return property(lambda ensemble: getattr(ensemble.words, name), change)


class CharWordEnsemble(
    StoredModel, RawTextPredictor[FinderT], Generic[FinderT, CharactersT, WordsT]
):
    """A model of characters and one of words, trained apart and asked together.

    Models of None are those of the default settings. A weight of None is `DEFAULT_WEIGHT` until
    `fit` gets development sentences.
    Raises ValueError if the two do not cut texts into sentences alike, or look for other runs.
    """

    SCHEMA: ClassVar[ExampleSchema[Any]]
    PRIMARY: str
    DEFAULT_WEIGHT: ClassVar[float]
    CHARACTERS: ClassVar[type[Any]]
    WORDS: ClassVar[type[Any]]

    SETTINGS: ClassVar[type[PairSettings]]
    settings: PairSettings
    characters: CharactersT
    words: WordsT

    def __init__(self, settings: PairSettings) -> None:
        characters = settings.characters
        if characters is None:
            # Perceptrons, whose scores are of the size of those of words.
            characters = self.CHARACTERS(learning=DEFAULT_LEARNING_OF_MANY)
        words = self.WORDS() if settings.words is None else settings.words
        super().__init__(replace(settings, characters=characters, words=words))
        self.tuned_weight = self.DEFAULT_WEIGHT if settings.weight is None else settings.weight
        for name in ("sentences", "typed_runs", "whole_runs"):
            if getattr(self.characters, name) != getattr(self.words, name):
                raise ValueError(f"the two models of a pair must have the same setting {name}")
        self.sentences = self.characters.sentences
        self.typed_runs = self.characters.typed_runs
        self.whole_runs = self.characters.whole_runs
        self._pool: tuple[Any, Any, float, DecoderPool[FinderT]] | None = None
        # Those of the file that both models come from.
        self._loaded: DecoderPool[FinderT] | None = None

    # What a tokenizer's model has ----------------------------------------------------------------

    @property
    def is_trained(self) -> bool:
        """True if both models have weights to predict with."""
        return self.characters.is_trained and self.words.is_trained

    @property
    def is_frozen(self) -> bool:
        """True if both models are for prediction only (`freeze`)."""
        return bool(self.characters.is_frozen and self.words.is_frozen)

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
        """The settings of learning of the model of words."""
        return self.words.learning

    epochs = _of_both("epochs")
    patience = _of_both("patience")
    n_models = _of_both("n_models")
    mean = _of_both("mean")
    seed = _of_both("seed")

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

        gold = self.SCHEMA.check_corpus(sentences, "training")
        held_out = None if dev is None else self.SCHEMA.check_corpus(dev, "development")
        with self._lock:
            for name, model in (("characters", self.characters), ("words", self.words)):
                wanted = on_better is not None and name == "words"
                of_model = self._of_characters if model is self.characters else list
                model.fit(
                    of_model(gold),
                    None if held_out is None else of_model(held_out),
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
        held_out = self.SCHEMA.check_corpus(dev, "development")
        if self.settings.weight is None:
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
        self.characters.prepare(self._of_characters(listed))
        self.words.prepare(listed)

    def _of_characters(self, gold: Sequence[Any]) -> list[Any]:
        """Hook: gold sentences as the model of characters takes them."""
        return list(gold)

    def compile(self, sentences: Iterable[Any]) -> list[Compiled]:
        """Sentences made ready for `learn`, for both models; as `Estimator.compile`."""
        listed = list(sentences)
        with self._lock:
            # One of the two may cut a sentence that the other takes whole.
            return [
                PairedExample(*pair)
                for pair in zip_longest(
                    self.characters.compile(self._of_characters(listed)),
                    self.words.compile(listed),
                )
            ]

    def owns(self, sentences: Sequence[Compiled]) -> bool:
        """True if compiled sentences belong to the running trainings."""
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
        gold = self.SCHEMA.check_corpus(sentences, "training")
        self.learn(self.compile(gold))
        return self

    def correct(self, sentences: Iterable[Any], *, sample: Iterable[Any] = ()) -> Corrections:
        """Correct both models, so that sentences come out right; as `Estimator.correct`."""
        with self._lock:
            self._decoders()
            self._check_not_frozen("corrected")
            gold = self.SCHEMA.check_corpus(sentences, "correction")
            listed = list(sample)
            return corrected(gold, self._is_right, lambda: self._change(gold, listed))

    def _change(self, gold: list[Any], sample: list[Any]) -> tuple[dict[int, str], int]:
        reasons: dict[int, str] = {}
        n_steps = 0
        parts = (
            (self.characters, self._of_characters(gold), self._of_characters(sample)),
            (self.words, gold, sample),
        )
        for model, wanted, known in parts:
            found = model.correct(wanted, sample=known)
            reasons |= {number: reason for number, reason in found.wrong.items() if reason}
            n_steps += found.n_steps
        return reasons, n_steps

    def _is_right(self, sentence: Any) -> bool:
        scores = self._score([sentence], self._decoders(), None, 1)
        return scores.as_dict()[self.PRIMARY] in (None, 1.0)

    # Prediction ----------------------------------------------------------------------------------

    def evaluate(
        self,
        gold: Iterable[Any],
        *,
        vocabulary: AbstractSet[str] | None = None,
        n_threads: int = 1,
    ) -> Any:
        """Score what is predicted for gold sentences; as `Estimator.evaluate`."""
        checked = self.SCHEMA.check_corpus(gold, "evaluation")
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

    def untrained(self) -> Self:
        """A pair of the same settings that has learned nothing."""
        characters, words = self.characters.untrained(), self.words.untrained()
        return self.of(replace(self.settings, characters=characters, words=words))

    @property
    def can_adapt(self) -> bool:
        """True if characters have been trained with statistics of raw text."""
        return self.is_trained and bool(self.characters.can_adapt)

    def adapt(
        self,
        texts: Iterable[str],
        *,
        counts: Iterable[StrPath] = (),
        together: bool = True,
        n_threads: int = 1,
    ) -> Self:
        """A model of the same weights with statistics counted anew; as `TextEstimator.adapt`."""
        adapted = self.untrained()
        adapted.characters = self.characters.adapt(
            texts, counts=counts, together=together, n_threads=n_threads
        )
        adapted.words = self.words._with_weights(self.words._decoders().tables)
        adapted.tuned_weight = self.tuned_weight
        return adapted

    def freeze(self, *, bits: Bits = 8, prune: float = 0.0) -> Self:
        """A pair of frozen models; see `StoredModel.freeze`."""
        frozen = self.untrained()
        frozen.characters = self.characters.freeze(bits=bits, prune=prune)
        frozen.words = self.words.freeze(bits=bits, prune=prune)
        frozen.tuned_weight = self.tuned_weight
        return frozen

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

    def _state(self, state: State) -> tuple[dict[str, Any], Arrays]:
        parts = {"characters": self.characters, "words": self.words}
        contents = {name: model.contents(state) for name, model in parts.items()}
        arrays: Arrays = {}
        for name, (_, inner) in contents.items():
            arrays |= nested(name, inner)
        return {
            "settings": self.settings.as_dict(),
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
        self.tuned_weight = check_float("tuned_weight", field(header, "tuned_weight", float), 0.0)
        if field(header, "state", str) != "training":
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


class PairedExample:
    """A training example of two models; None for a model that has no more of them."""

    def __init__(self, characters: Compiled | None, words: Compiled | None) -> None:
        self.characters = characters
        self.words = words

    @property
    def _one(self) -> Compiled:
        one = self.characters if self.words is None else self.words
        assert one is not None
        return one

    @property
    def numbering(self) -> object:
        """Of the learner of words, if it has an example."""
        return self._one.numbering

    @property
    def n_rows_known(self) -> int:
        """Of the learner of words, if it has an example."""
        return self._one.n_rows_known

    def __len__(self) -> int:
        return len(self._one)


def _parted(sentences: Sequence[Any]) -> tuple[list[Compiled], list[Compiled]]:
    return (
        [both.characters for both in sentences if both.characters is not None],
        [both.words for both in sentences if both.words is not None],
    )
