"""Categories of texts, by logistic regression or a perceptron over their words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar, Final

from numpy.typing import NDArray

from spacy_structreg.estimators.base import Estimator
from spacy_structreg.estimators.decoders import DecoderPool
from spacy_structreg.estimators.gold import CLASSIFIED, ClassifiedWords, Words
from spacy_structreg.estimators.label_chain import ChainEstimator, SequenceDecoder, Split
from spacy_structreg.estimators.settings import choose, whole
from spacy_structreg.learn.averaging import Mean
from spacy_structreg.learn.settings import AnyLearning, LogLinear
from spacy_structreg.metrics.classification import ClassificationScores, score_classification
from spacy_structreg.tasks.word_bags import LONGEST_NGRAM, VALUES, Values, WordBag

__all__ = ["DEFAULT_LEARNING", "TextClassifier"]

DEFAULT_LEARNING: Final = LogLinear(rate=1.0, l2=0.0, noise="dropout", noise_level=0.7)
"""How a model is trained, chosen on sentences of UD English EWT by genre, where noise is worth
three points (project `text_classification`)."""


class TextClassifier(ChainEstimator[ClassifiedWords, ClassificationScores]):
    """Finds the category of a text: multinomial logistic regression on its words and n-grams.

    It is a chain of a single label, so that the weights are learnt, and features noised, as those
    of sequences (Wang et al. 2013, section 2).

    ngrams: n-grams of one up to so many words, 0 to 3. characters: of so many characters, too, as
        in ``[1, 2]``, for texts without spaces between words; None for none.
    lower: let upper case look like lower case.
    values: what the value of an n-gram is: ``"binary"``, 1; ``"counts"``, how often it is in the
        text; ``"log"``, 1 + log of that.
    normalise: scale the values of each text so that their squares add up to 1.
    learning: `LogLinear` for logistic regression, `Learning` for a perceptron; None for
        `DEFAULT_LEARNING`.
    epochs, patience, n_models, mean, seed: see `base.Estimator`.

    Gold texts are pairs of a list of words and a category; what is predicted from are lists of
    words. Raises ValueError for settings that do not exist or contradict each other.
    """

    TASK = "text_classifier"
    NOUN = "text classifier"
    GOLD = CLASSIFIED
    GIVEN_WORDS = True
    PRIMARY = "cats_acc"
    MUST_AGREE = ("ngrams", "characters", "lower", "values", "normalise", "labels")
    SETTINGS: ClassVar = {
        "ngrams": (int,),
        "characters": (list, type(None)),
        "lower": (bool,),
        "values": (str,),
        "normalise": (bool,),
        **Estimator.SETTINGS,
    }

    def __init__(
        self,
        *,
        ngrams: int = 1,
        characters: Sequence[int] | None = None,
        lower: bool = True,
        values: Values = "binary",
        normalise: bool = False,
        learning: AnyLearning | None = None,
        epochs: int = 15,
        patience: int | None = None,
        n_models: int = 1,
        mean: Mean = "nonzero",
        seed: int | None = 0,
    ) -> None:
        choose("values", values, VALUES)
        self.ngrams = whole("ngrams", ngrams, 0, 3)
        self.characters = _sizes(characters)
        self.lower = bool(lower)
        self.values: Values = values
        self.normalise = bool(normalise)
        if self.ngrams == 0 and self.characters is None:
            raise ValueError("nothing is seen of texts; choose ngrams = 1, or some characters")
        self._seen: WordBag = WordBag(
            self.ngrams,
            self.characters or (),
            lower=self.lower,
            values=values,
            normalise=self.normalise,
        )
        super().__init__(
            learning=DEFAULT_LEARNING if learning is None else learning,
            epochs=epochs,
            patience=patience,
            n_models=n_models,
            mean=mean,
            seed=seed,
        )

    def features(self, words: Words) -> dict[str, float]:
        """The names and values of the features of a text, for inspection and other programs."""
        return self._seen.features(_text(words))

    def predict(self, words: Words) -> str:
        """The category of a text. Raises ValueError if the model has not been trained."""
        with self._decoders().borrow() as decoder:
            return decoder.label(self._items(words))[0]

    def predict_batch(self, texts: Iterable[Words], *, n_threads: int = 1) -> list[str]:
        """The category of each text; threads work side by side. As `predict`."""
        return list(self.predict_stream(texts, n_threads=n_threads))

    def predict_stream(self, texts: Iterable[Words], *, n_threads: int = 1) -> Iterator[str]:
        """As `predict_batch`, for any number of texts in bounded memory, in their order."""
        return self._categories(map(self._items, texts), self._decoders(), n_threads)

    def predict_marginals(self, words: Words) -> dict[str, float]:
        """The probability of each category of a text.

        Raises ValueError as `predict`, and for a model that was not trained to have probabilities
        (by `LogLinear` settings).
        """
        return self._named(self._marginals(self._items(words)))

    def predict_marginals_stream(
        self, texts: Iterable[Words], *, n_threads: int = 1
    ) -> Iterator[dict[str, float]]:
        """`predict_marginals` of any number of texts in bounded memory, in their order."""
        return map(self._named, self._marginals_stream(map(self._items, texts), n_threads))

    def _named(self, marginals: NDArray[Any]) -> dict[str, float]:
        return dict(zip(self.labels, marginals[0].tolist(), strict=True))

    # Hooks of the base classes -------------------------------------------------------------------

    @staticmethod
    def _split(sentence: ClassifiedWords) -> Split:
        return [sentence[0]], [sentence[1]]

    def _items(self, given: Any) -> Sequence[Any]:
        return [_text(given)]

    @staticmethod
    def _extent(items: Sequence[Any]) -> int:
        return len(items[0])

    def _categories(
        self,
        inputs: Iterable[Sequence[Any]],
        decoders: DecoderPool[SequenceDecoder],
        n_threads: int,
    ) -> Iterator[str]:
        return (labels[0] for labels in self._stream(inputs, decoders, n_threads))

    def _score(
        self,
        gold: list[ClassifiedWords],
        decoders: DecoderPool[SequenceDecoder],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> ClassificationScores:
        found = self._categories(([words] for words, _ in gold), decoders, n_threads)
        return score_classification((category for _, category in gold), found)

    def _settings(self) -> dict[str, Any]:
        return {
            "ngrams": self.ngrams,
            "characters": None if self.characters is None else list(self.characters),
            "lower": self.lower,
            "values": self.values,
            "normalise": self.normalise,
            **super()._settings(),
        }


def _text(words: Any) -> Words:
    """The words of a text as a list. Raises ValueError if they are none."""
    listed = None if isinstance(words, str) or not isinstance(words, Iterable) else list(words)
    if listed is None or not all(isinstance(word, str) for word in listed):
        raise ValueError(f"{words!r:.60} is not a list of words")
    return listed


def _sizes(characters: Any) -> tuple[int, ...] | None:
    """The sizes of n-grams of characters, sorted."""
    if characters is None:
        return None
    if isinstance(characters, str) or not isinstance(characters, Iterable):
        raise ValueError(f"characters is {characters!r}; give a list of sizes, as in [1, 2]")
    sizes = {whole("characters", each, 1, LONGEST_NGRAM) for each in characters}
    return tuple(sorted(sizes)) or None
