"""The interface of all models: training, scoring, corrections, for the commands and the pipes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic

from spacy_structreg.corpora.corpus_errors import StrPath
from spacy_structreg.learn.learning_settings import AnyLearning
from spacy_structreg.models.decoders import DecoderPool
from spacy_structreg.models.gold import ExampleSchema, GoldT
from spacy_structreg.models.protocols import Compiled
from spacy_structreg.models.stored_model import StoredModel

if TYPE_CHECKING:
    from typing_extensions import Self

    from spacy_structreg.learn.learning_settings import Mean
    from spacy_structreg.metrics.figures import Scores
    from spacy_structreg.models.corrections import Corrections
    from spacy_structreg.models.reports import EpochReport


@dataclass(frozen=True)
class FitOptions:
    """The arguments of `fit` but for the corpora; see there."""

    n_threads: int = 1
    progress: bool = False
    on_epoch: Callable[[EpochReport], None] | None = None
    on_better: Callable[[Any], None] | None = None
    checkpoint: StrPath | None = None


class BaseModel(StoredModel, Generic[GoldT]):
    """A model that is trained on gold sentences."""

    SPEC: ClassVar[type[ExampleSchema[Any]]]
    """The schema of gold sentences."""

    PRIMARY: str
    """The name of the figure by which the best epoch is chosen, in `Scores.as_dict`."""

    history: list[EpochReport]
    """Reports of the epochs of the last training."""

    # Settings that commands read and change.
    learning: AnyLearning
    epochs: int
    patience: int | None
    n_models: int
    mean: Mean
    seed: int

    # What a subclass gives -----------------------------------------------------------------------

    @property
    @abstractmethod
    def is_training(self) -> bool:
        """True if a training is running, whose state `save` can write."""

    @abstractmethod
    def prepare(self, sentences: Iterable[GoldT]) -> None:
        """Learn from gold sentences what labels and features depend on, if they do, but no weights.

        For a training in portions, which begins by seeing the whole corpus. Does nothing to a model
        that has been trained, or whose training is running. Raises ValueError as `compile`.
        """

    @abstractmethod
    def compile(self, sentences: Iterable[GoldT]) -> list[Compiled]:
        """Sentences made ready for `learn`; those with nothing but white space are left out.

        They belong to the running training, which is begun if need be, from the weights that there
        are. `fit` ends it. Labels that come from data are those of these sentences, unless there
        are any already; with `min_count`, so it is with features. Raises ValueError if a sentence
        is not of the kind.
        """

    @abstractmethod
    def owns(self, sentences: Sequence[Compiled]) -> bool:
        """True if compiled sentences belong to the running training, so that `learn` takes them."""

    @abstractmethod
    def learn(self, sentences: Sequence[Compiled]) -> tuple[int, int]:
        """Visit each compiled sentence once, in an order of the model's own generator.

        Returns how many sentences or mini-samples, and how many labels, were to be corrected.
        Raises ValueError if a sentence was compiled for another training.
        """

    @classmethod
    @abstractmethod
    def average(cls, models: Sequence[Self], mean: Mean = "nonzero") -> Self:
        """The average of trained models (`learn.model_average`), with the settings of the first.

        Raises ValueError if there is none, one is untrained, or they differ in what they see; the
        message names the difference.
        """

    @abstractmethod
    def _fit(self, gold: list[GoldT], dev: list[GoldT] | None, options: FitOptions) -> None:
        """Train on checked sentences; for `fit`."""

    @abstractmethod
    def _correction(
        self, gold: list[GoldT], sample: Iterable[GoldT]
    ) -> Callable[[], tuple[dict[int, str], int]]:
        """A change of weights by which sentences come out right; for `correct`.

        It returns the reasons why some cannot, by their numbers, and how many steps were taken.
        """

    @abstractmethod
    def _decoders(self) -> DecoderPool[Any]:
        """Decoders of the weights as they are now. Raises ValueError if there are none."""

    @abstractmethod
    def _search_anew(self) -> None:
        """Let decoders search by the settings as they are now."""

    @abstractmethod
    def _score(
        self,
        gold: list[GoldT],
        decoders: DecoderPool[Any],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> Scores:
        """The scores of what decoders predict for checked gold sentences."""

    # What it gets --------------------------------------------------------------------------------

    def fit(
        self,
        sentences: Iterable[GoldT],
        dev: Iterable[GoldT] | None = None,
        *,
        n_threads: int = 1,
        progress: bool = False,
        on_epoch: Callable[[EpochReport], None] | None = None,
        on_better: Callable[[Self], None] | None = None,
        checkpoint: StrPath | None = None,
    ) -> Self:
        """Train from nothing, for `epochs` passes.

        Parameters
        ----------
        sentences : iterable of gold sentences
            White space within words is dropped.
        dev : iterable of gold sentences, optional
            A development corpus: the epoch of the highest figure `PRIMARY` on it is kept, the
            earliest of equal ones. Without it the last epoch is kept. Models of several parts tune
            on it how they weigh these, unless settings fix that.
        n_threads : int, default 1
            How many models are trained at a time, or, if there is only one, how many threads decode
            the development corpus; the result does not depend on it. Where
            ``joblib.parallel_config`` has chosen a backend of other processes, such as "loky" or
            "dask", several models are trained there, and come out the same to the byte.
        progress : bool, default False
            Show a bar on standard error, or, if that is no terminal, a line for each epoch. From
            other processes, epochs are told of when the training of their model has ended.
        on_epoch : callable, optional
            Called with an `EpochReport` after each epoch, by the thread that trained; an exception
            ends training.
        on_better : callable, optional
            Called before that, with a model of the weights of the epoch, if they are the best on
            the development corpus so far (of any model, if several are trained).
        checkpoint : path, optional
            A folder that keeps the state of the training, so that an interrupted one goes on, and
            comes to the same weights, when `fit` is called again with the same settings and
            corpora. To be removed when training is done. L-BFGS begins anew: only whole trainings
            by it are kept, as SciPy's memory of it cannot be. Other processes keep it where they
            find the folder, as on this machine or in a shared file system, and none elsewhere.

        Returns
        -------
        Self
            This model, trained.

        Raises
        ------
        ValueError
            If there is nothing to learn from, a sentence is not of the kind, or the folder holds
            the state of another training.
        OSError
            If the folder cannot be written.

        Examples
        --------
        >>> from spacy_structreg import CharacterSegmenter
        >>> gold = [["我", "在", "北京"], ["北京", "大学", "很", "大"]]
        >>> CharacterSegmenter(epochs=5).fit(gold).predict("我在大学")
        ['我', '在', '大学']
        """
        options = FitOptions(n_threads, progress, on_epoch, on_better, checkpoint)
        self._fit(*self._checked_corpora(sentences, dev), options)
        return self

    def _checked_corpora(
        self, sentences: Iterable[GoldT], dev: Iterable[GoldT] | None
    ) -> tuple[list[GoldT], list[GoldT] | None]:
        gold = self.SPEC.check_corpus(sentences, "training")
        return gold, None if dev is None else self.SPEC.check_corpus(dev, "development")

    def partial_fit(self, sentences: Iterable[GoldT]) -> Self:
        """Train one pass further, from the weights that there are.

        After `load` and `fit`, training goes on from the averaged weights, which count as the
        weights before the first update of a new average. To a log-linear model the sentences of all
        calls are one corpus, over which a pass spreads penalties and the decay of steps: to visit
        the same ones several times, `compile` them once, and `learn` as often.

        Parameters
        ----------
        sentences : iterable of gold sentences

        Returns
        -------
        Self
            This model.

        Raises
        ------
        ValueError
            If a sentence is not of the kind, or has a label that training did not begin with.

        Examples
        --------
        >>> from spacy_structreg import CharacterSegmenter
        >>> segmenter = CharacterSegmenter()
        >>> for _ in range(5):
        ...     segmenter = segmenter.partial_fit([["北京", "大学"], ["大学", "很", "大"]])
        >>> segmenter.predict("北京很大")
        ['北京', '很', '大']
        """
        gold = self.SPEC.check_corpus(sentences, "training")
        with self._lock:
            self.learn(self.compile(gold))
        return self

    def correct(self, sentences: Iterable[GoldT], *, sample: Iterable[GoldT] = ()) -> Corrections:
        """Change the trained weights as little as makes sentences come out right, at once.

        A running training ends. What `save` writes are the corrected weights.

        sentences: gold ones, as `fit` takes them; a handful, as all weights are held in memory.
        sample: more sentences as the model finds them, or gold ones, such as the text that
            it works on has. The more often a feature occurs in them, or occurred in the training
            corpus, the less of a change it takes, so that the model stays as it is elsewhere. It is
            kept for further calls, until another training changes the weights.
        Raises ValueError if the model has not been trained, or a sentence is not of the kind.
        """
        from spacy_structreg.models.corrections import Corrections

        with self._lock:
            self._decoders()
            self._check_not_frozen("corrected")
            gold = self.SPEC.check_corpus(sentences, "correction")
            change = self._correction(gold, sample)
            right = list(map(self._is_right, gold))
            if all(right):
                return Corrections(len(right), len(right))
            reasons, n_steps = change()
            wrong = {
                number: reasons.get(number)
                for number, sentence in enumerate(gold)
                if not self._is_right(sentence)
            }
            n_right = sum(was and number not in wrong for number, was in enumerate(right))
            return Corrections(len(right), n_right, wrong, n_steps)

    def _is_right(self, sentence: GoldT) -> bool:
        """True if the model finds what a gold sentence has, or there is nothing to be found."""
        scores = self._score([sentence], self._decoders(), None, 1)
        return scores.as_dict()[self.PRIMARY] in (None, 1.0)

    def evaluate(
        self,
        gold: Iterable[GoldT],
        *,
        vocabulary: AbstractSet[str] | None = None,
        n_threads: int = 1,
    ) -> Scores:
        """Score what is predicted for gold sentences.

        vocabulary: the words of the training corpus, for the figures on words out of it.
        Raises ValueError if there is no sentence, or the model has not been trained.
        """
        checked = self.SPEC.check_corpus(gold, "evaluation")
        return self._score(checked, self._decoders(), vocabulary, n_threads)
