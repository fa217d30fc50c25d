"""Categories of texts, by logistic regression or a perceptron over their words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from numpy.typing import NDArray

from spacy_structreg.learn.learning_settings import LogLinear
from spacy_structreg.learn.setting_fields import from_settings, setting
from spacy_structreg.models.decoders import DecoderPool
from spacy_structreg.models.gold import Words, as_list, check_names
from spacy_structreg.models.label_chain import (
    ChainEstimator,
    LabelChainSpec,
    Query,
    SequenceDecoder,
    Split,
)
from spacy_structreg.models.settings import TrainingSettings
from spacy_structreg.tasks.classification import LONGEST_NGRAM, Values, WordBag

if TYPE_CHECKING:
    from spacy_structreg.metrics.figures import Scores

ClassifiedWords: TypeAlias = tuple[list[str], str]


DEFAULT_LEARNING: Final = LogLinear(rate=1.0, l2=0.0, noise="dropout", noise_level=0.7)
"""Default learning, chosen on sentences of UD English EWT by genre, where noise is worth
three points (project `text_classification`)."""


class TextClassifierSettings(TrainingSettings):
    """Settings of a `TextClassifier`."""

    DEFAULT_LEARNING: ClassVar[LogLinear] = DEFAULT_LEARNING

    ngrams: int = setting(1, "N-grams of one up to so many words are features.", maximum=3)
    characters: Sequence[int] | None = setting(
        None,
        "N-grams of so many characters are features, as in [1, 2], for texts without spaces "
        "between words; null for none.",
        minimum=1,
        maximum=LONGEST_NGRAM,
    )
    lower: bool = setting(True, "Let upper case look like lower case.")
    values: Values = setting(
        "binary",
        'What counts of an n-gram: "binary", that it is there; "counts", how often; "log", 1 + log '
        "of that.",
    )
    normalize: bool = setting(
        False, "Scale the values of each text, so that their squares add up to 1."
    )
    epochs: int = 15

    def features(self) -> WordBag:
        """The features of a text."""
        return WordBag(
            self.ngrams,
            tuple(self.characters or ()),
            lower=self.lower,
            values=self.values,
            normalize=self.normalize,
        )

    def _check(self) -> None:
        super()._check()
        if self.ngrams == 0 and not self.characters:
            raise ValueError("nothing is seen of texts; choose ngrams = 1, or some characters")


class TextClassifierSpec(LabelChainSpec[ClassifiedWords]):
    """Pairs of the words of a text and its category; categories; features of words."""

    @classmethod
    def checked(cls, sentence: Any) -> ClassifiedWords:
        is_pair = isinstance(sentence, (tuple, list)) and len(sentence) == 2
        words = as_list(sentence[0]) if is_pair else None
        if (
            words is None
            or not all(isinstance(word, str) for word in words)
            or not isinstance(sentence[1], str)
        ):
            raise ValueError(f"{sentence!r:.60} is not a pair of a list of words and a category")
        category = sentence[1]
        check_names([category])
        if not category.strip():
            raise ValueError(f"the text {words!r:.60} has no category")
        return words, category

    @classmethod
    def layers(cls, sentence: ClassifiedWords) -> tuple[list[str], ...]:
        words, category = sentence
        return list(words), [category] * len(words)

    @classmethod
    def items_and_labels(cls, sentence: ClassifiedWords) -> Split:
        return [sentence[0]], [sentence[1]]


class TextClassifier(ChainEstimator[ClassifiedWords, str]):
    """Finds the category of a text: multinomial logistic regression on its words and n-grams.

    It is a chain of a single label, so that the weights are learned, and features noised, as those
    of sequences (Wang et al. 2013, section 2).

    Gold texts are pairs of a list of words and a category; what is predicted from are lists of
    words.

    Examples
    --------
    >>> from spacy_structreg import TextClassifier
    >>> gold = [(["two", "boats", "left"], "sea"), (["the", "bus", "is", "late"], "town")]
    >>> TextClassifier().fit(gold).predict(["a", "late", "bus"])
    'town'
    """

    KIND = "text_classifier"
    NOUN = "text classifier"
    SPEC = TextClassifierSpec
    GIVEN_WORDS = True
    CLASSIFIES = True
    PRIMARY = "cats_acc"
    MUST_AGREE = ("ngrams", "characters", "lower", "values", "normalize", "labels")
    SETTINGS = TextClassifierSettings
    settings: TextClassifierSettings

    @from_settings(TextClassifierSettings)
    def __init__(self, settings: TextClassifierSettings) -> None:
        sizes = tuple(sorted(set(settings.characters or ())))
        super().__init__(replace(settings, characters=sizes or None))
        self._seen = self.settings.features()

    def features(self, words: Words) -> dict[str, float]:
        """The names and values of the features of a text, for inspection and other programs."""
        return self._seen.features(_text(words))

    def predict(self, words: Words) -> str:
        """The category of a text. Raises ValueError if the model has not been trained."""
        return self._predict(words)

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
        return map(self._named, self._marginals_stream(texts, n_threads))

    def _named(self, marginals: NDArray[Any]) -> dict[str, float]:
        return dict(zip(self.labels, marginals[0].tolist(), strict=True))

    # Hooks of the base classes -------------------------------------------------------------------

    def _query(self, item: Any, given: Any) -> Query:
        if given is not None:
            raise ValueError("nothing can be given of the category of a text")
        return super()._query(item, given)

    def _items(self, given: Any) -> Sequence[Any]:
        return [_text(given)]

    @staticmethod
    def _places(items: Sequence[Any]) -> list[str]:
        return [" ".join(words) for words in items]

    @staticmethod
    def _extent(items: Sequence[Any]) -> int:
        return len(items[0])

    def _decode(self, decoder: SequenceDecoder, queries: list[Query]) -> list[str]:
        return [labels[0] for labels in decoder.label(queries)]

    def _score(
        self,
        gold: list[ClassifiedWords],
        decoders: DecoderPool[SequenceDecoder],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> Scores:
        from spacy_structreg.metrics.classification import score_classification

        found = self._stream((words for words, _ in gold), decoders, n_threads)
        return score_classification((category for _, category in gold), found)


def _text(words: Any) -> Words:
    """The words of a text as a list. Raises ValueError if they are none."""
    listed = None if isinstance(words, str) or not isinstance(words, Iterable) else list(words)
    if listed is None or not all(isinstance(word, str) for word in listed):
        raise ValueError(f"{words!r:.60} is not a list of words")
    return listed
