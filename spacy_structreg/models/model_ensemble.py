"""Models that are trained apart, on the same sentences, and find the words of texts together.

One of them is of words; another one, of characters. How they are asked together is a subclass's to
say; the weight of the scores of characters against those of words is tuned on development
sentences.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from spacy_structreg.corpora.corpus_errors import StrPath
from spacy_structreg.learn.model_file import Arrays, SourceFile, State, field
from spacy_structreg.learn.setting_fields import Settings, check_float, setting
from spacy_structreg.models.base_model import FitOptions
from spacy_structreg.models.decoders import DecoderPool
from spacy_structreg.models.protocols import Compiled
from spacy_structreg.models.raw_text import RawTextPredictor, TextDecoderT
from spacy_structreg.models.segmentation import DEFAULT_LEARNING_OF_MANY
from spacy_structreg.models.stored_model import StoredModel, nested, unnested
from spacy_structreg.models.text_estimator import TextEstimator

if TYPE_CHECKING:
    from typing_extensions import Self

    from spacy_structreg.learn.freezing import Bits
    from spacy_structreg.learn.learning_settings import Mean

WEIGHTS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""The weights of the scores of characters that are tried on development sentences.

The scores of passive-aggressive models are several times smaller than those of perceptrons.
"""

CharactersT = TypeVar("CharactersT", bound=TextEstimator[Any, Any])
WordsT = TypeVar("WordsT", bound=TextEstimator[Any, Any])


def weight_setting() -> Any:
    """The setting of the weight of the scores of characters."""
    return setting(
        None,
        "Of the scores of characters, against 1 for those of words; null to tune it on development "
        "sentences.",
    )


class PairSettings(Settings):
    """Settings of a model of characters and one of words."""

    characters: StoredModel | None
    words: StoredModel | None
    weight: float | None = weight_setting()


def part(model: type[StoredModel], of: str) -> Any:
    """The setting of one of the models, by its class. of: what it is a model of."""

    def restore(stored: Any) -> StoredModel:
        return model.of(model.SETTINGS.from_dict(stored))

    doc = (
        f"The model of {of}: a block of spacy_structreg.{model.__name__}.v1; null for its defaults."
    )
    return setting(None, doc, restore=restore)


def best_of(
    weights: Iterable[float], figure: Callable[[float], float], tolerance: float = 0.0
) -> float:
    """The weight with the highest figure; of those that are as good, the middle one.

    tolerance: figures that are lower by as much count as good.
    """
    figures = {weight: figure(weight) for weight in weights}
    best = [weight for weight in figures if figures[weight] >= max(figures.values()) - tolerance]
    return best[len(best) // 2]


def _of_all(name: str) -> Any:
    """An attribute of the model of words, which is changed for all."""

    def change(ensemble: Any, value: Any) -> None:
        for model in ensemble.parts.values():
            setattr(model, name, value)

    return property(lambda ensemble: getattr(ensemble.words, name), change)


class ModelEnsemble(RawTextPredictor[TextDecoderT], Generic[TextDecoderT, CharactersT, WordsT]):
    """A model of words and others, trained apart and asked together.

    PARTS: the classes of the models by the settings and attributes that they are, in the order in
    which they are trained; the last is ``"words"``. TUNED_FOR: the figure by which the weight of
    characters is chosen, None for `PRIMARY`; TOLERANCE: by how much a figure may be lower and count
    as equal. Models of None are those of the default
    settings. A weight of None is `DEFAULT_WEIGHT` until `fit` gets development sentences.
    Raises ValueError if models do not cut texts into sentences alike, or look for other runs.
    """

    TUNED_FOR: ClassVar[str | None] = None
    TOLERANCE: ClassVar[float] = 0.0
    DEFAULT_WEIGHT: ClassVar[float]
    PARTS: ClassVar[dict[str, type[Any]]]

    # `PairSettings`, or such of other models.
    settings: Any
    characters: CharactersT
    words: WordsT

    def __init__(self, settings: Any) -> None:
        given = {name: getattr(settings, name) for name in self.PARTS}
        models = {
            name: self._default(name) if model is None else model for name, model in given.items()
        }
        super().__init__(replace(settings, **models))
        for name, model in models.items():
            setattr(self, name, model)
        self.tuned_weight = self.DEFAULT_WEIGHT if settings.weight is None else settings.weight
        for name in ("sentences", "typed_runs", "whole_runs"):
            if getattr(self._characters, name) != getattr(self.words, name):
                raise ValueError(f"the two models of a pair must have the same setting {name}")
        self.sentences = self.words.sentences
        self.typed_runs = self.words.typed_runs
        self.whole_runs = self.words.whole_runs
        self._pool: tuple[list[Any], DecoderPool[TextDecoderT]] | None = None
        # Those of the file that all models come from.
        self._loaded: DecoderPool[TextDecoderT] | None = None

    def _default(self, name: str) -> Any:
        """Hook: a model of the default settings."""
        if name == "characters":
            # Perceptrons, whose scores are of the size of those of words.
            return self.PARTS[name](learning=DEFAULT_LEARNING_OF_MANY)
        return self.PARTS[name]()

    @property
    def _characters(self) -> CharactersT:
        """Hook: the model of characters."""
        return self.characters

    @property
    def parts(self) -> dict[str, Any]:
        """The models, by their names."""
        return {name: getattr(self, name) for name in self.PARTS}

    @property
    def _mapped(self) -> SourceFile | None:
        mapped = (model._mapped for model in self.parts.values())
        return next(filter(None, mapped), None)

    @_mapped.setter
    def _mapped(self, source: SourceFile | None) -> None:
        for model in self.parts.values():
            model._mapped = source

    # What a tokenizer's model has ----------------------------------------------------------------

    @property
    def is_trained(self) -> bool:
        trained = [getattr(self, name).is_trained for name in self.PARTS]
        return all(trained)

    @property
    def is_frozen(self) -> bool:
        return all(model.is_frozen for model in self.parts.values())

    @property
    def is_training(self) -> bool:
        return all(model.is_training for model in self.parts.values())

    learning = _of_all("learning")
    epochs = _of_all("epochs")
    patience = _of_all("patience")
    n_models = _of_all("n_models")
    mean = _of_all("mean")
    seed = _of_all("seed")
    history = _of_all("history")

    # Training ------------------------------------------------------------------------------------

    def _fit(self, gold: list[Any], dev: list[Any] | None, options: FitOptions) -> None:
        # One after the other. `on_better` gets models whose weight is not tuned.
        def call_with_all(words: Any) -> None:
            assert options.on_better is not None
            ensemble = self.untrained()
            for name, model in {**self.parts, "words": words}.items():
                setattr(ensemble, name, model)
            options.on_better(ensemble)

        with self._lock:
            corpora = self._corpora(gold, dev, options.n_threads)
            for name, model in self.parts.items():
                wanted = options.on_better is not None and name == "words"
                folder = options.checkpoint
                of_part = replace(
                    options,
                    on_better=call_with_all if wanted else None,
                    checkpoint=None if folder is None else Path(folder) / name,
                )
                model.fit(*corpora[name], **vars(of_part))
            self._let_go()
            if dev is not None:
                self.tune(dev, n_threads=options.n_threads)

    def tune(self, dev: Iterable[Any], *, n_threads: int = 1) -> float:
        """Choose the weight that is best on development sentences; returns it.

        The middle one of equally good ones is taken. Does nothing if the setting `weight` fixes it.
        """
        held_out = self.SPEC.check_corpus(dev, "development")
        if self.settings.weight is None:

            def figure(weight: float) -> float:
                scores = self._score(held_out, self._new_pool(weight), None, n_threads)
                return scores.as_dict()[self.TUNED_FOR or self.PRIMARY] or 0.0

            self.tuned_weight = best_of(WEIGHTS, figure, self.TOLERANCE)
        return self.tuned_weight

    def prepare(self, sentences: Iterable[Any]) -> None:
        listed = list(sentences)
        for name, model in self.parts.items():
            model.prepare(self._examples_for(name, listed))

    def _examples_for(self, name: str, gold: Sequence[Any]) -> list[Any]:
        """Hook: gold sentences as one of the models takes them."""
        return list(gold)

    def _corpora(
        self, gold: list[Any], dev: list[Any] | None, n_threads: int
    ) -> dict[str, tuple[list[Any], list[Any] | None]]:
        """Hook: training and development sentences with which each of the models is fitted."""
        return {
            name: (
                self._examples_for(name, gold),
                None if dev is None else self._examples_for(name, dev),
            )
            for name in self.parts
        }

    def compile(self, sentences: Iterable[Any]) -> list[Compiled]:
        listed = list(sentences)
        with self._lock:
            compiled = [
                model.compile(self._examples_for(name, listed))
                for name, model in self.parts.items()
            ]
            self._let_go()
            # One of them may cut a sentence that the others take whole.
            return [EnsembleExample(each) for each in zip_longest(*compiled)]

    def owns(self, sentences: Sequence[Compiled]) -> bool:
        return all(model.owns(examples) for model, examples in self._parted(sentences))

    def learn(self, sentences: Sequence[Compiled]) -> tuple[int, int]:
        counts = 0, 0  # Those of words, in the end.
        with self._lock:
            for model, examples in self._parted(sentences):
                counts = model.learn(examples)
        return counts

    def _parted(self, sentences: Sequence[Any]) -> Iterator[tuple[Any, list[Compiled]]]:
        """Yield each model with its own of compiled sentences; that of words is the last."""
        for number, model in enumerate(self.parts.values()):
            examples = (each.of_models[number] for each in sentences)
            yield model, [example for example in examples if example is not None]

    def _correction(
        self, gold: list[Any], sample: Iterable[Any]
    ) -> Callable[[], tuple[dict[int, str], int]]:
        return partial(self._change, gold, list(sample))

    def _change(self, gold: list[Any], sample: list[Any]) -> tuple[dict[int, str], int]:
        reasons: dict[int, str] = {}
        n_steps = 0
        for name, model in self.parts.items():
            found = model.correct(
                self._examples_for(name, gold), sample=self._examples_for(name, sample)
            )
            reasons |= {number: reason for number, reason in found.wrong.items() if reason}
            n_steps += found.n_steps
        return reasons, n_steps

    # Prediction ----------------------------------------------------------------------------------

    def _decoders(self) -> DecoderPool[TextDecoderT]:
        known: list[Any] = [getattr(self, name)._decoders() for name in self.PARTS]
        known += self._tuned().values()
        pool = self._pool
        if pool is None or pool[0] != known:
            self._let_go()
            pool = self._pool = known, self._new_pool(self.tuned_weight)
        return pool[1]

    def _let_go(self) -> None:
        """Forget the file, whose models these are no more; those that lie in it know that."""
        self._source = self._pool = self._loaded = None

    def _search_anew(self) -> None:
        self._pool = None

    @abstractmethod
    def _new_pool(self, weight: float) -> DecoderPool[TextDecoderT]:
        """Hook: decoders of all models as they are now, with this weight of characters."""

    def _tuned(self) -> dict[str, float]:
        """Hook: what `tune` chooses, by the names of attributes and entries of files."""
        return {"tuned_weight": self.tuned_weight}

    def _with_parts(self, make: Callable[[Any], Any]) -> Self:
        """An ensemble of models that are made of these, tuned like this one."""
        made = self.untrained()
        for name, model in self.parts.items():
            setattr(made, name, make(model))
        for name, value in self._tuned().items():
            setattr(made, name, value)
        return made

    def untrained(self) -> Self:
        """An ensemble of the same settings that has learned nothing."""
        models = {name: model.untrained() for name, model in self.parts.items()}
        return self.of(replace(self.settings, **models))

    @property
    def can_adapt(self) -> bool:
        return self.is_trained and bool(self._characters.can_adapt)

    def adapt(
        self,
        texts: Iterable[str],
        *,
        counts: Iterable[StrPath] = (),
        together: bool = True,
        n_threads: int = 1,
    ) -> Self:
        first = next(iter(self.parts.values()))

        def adapted(model: Any) -> Any:
            if model is not first:
                return model.from_bytes(model.to_bytes())
            return model.adapt(texts, counts=counts, together=together, n_threads=n_threads)

        return self._with_parts(adapted)

    def freeze(self, *, bits: Bits = 8, prune: float = 0.0) -> Self:
        """An ensemble of frozen models; see `StoredModel.freeze`."""
        return self._with_parts(lambda model: model.freeze(bits=bits, prune=prune))

    # Averages and files --------------------------------------------------------------------------

    @classmethod
    def average(cls, models: Sequence[Self], mean: Mean = "nonzero") -> Self:
        # Tuned like the first.
        if not models:
            raise ValueError("there is no model to average")
        if len({type(model) for model in models}) > 1:
            raise ValueError("the models to average differ in kind")
        averaged = models[0]._with_parts(lambda model: model.untrained())
        for name, model in cls.PARTS.items():
            setattr(averaged, name, model.average([getattr(each, name) for each in models], mean))
        return averaged

    def _state(self, state: State) -> tuple[dict[str, Any], Arrays]:
        contents = {name: model.contents(state) for name, model in self.parts.items()}
        arrays: Arrays = {}
        for name, (_, inner) in contents.items():
            arrays |= nested(name, inner)
        return {
            "settings": self.settings.as_dict(),
            **self._tuned(),
            "models": {name: header for name, (header, _) in contents.items()},
        }, arrays

    def _restore(self, header: dict[str, Any], arrays: Arrays) -> None:
        models = field(header, "models", dict)
        if set(models) != set(self.PARTS):
            raise ValueError(f"it holds the models {sorted(map(str, models))}")
        if strange := [name for name in arrays if name.split(".")[0] not in models]:
            raise ValueError(f"it has an array {strange[0]!r} that belongs to nothing")
        for name, cls in self.PARTS.items():
            inner = field(models, name, dict)
            if inner.get("settings") != header["settings"][name]:
                raise ValueError(f"the settings of its model of {name} are not its own")
            if inner.get("state") != header["state"]:
                raise ValueError(f"its model of {name} is in a state that is not its own")
            setattr(self, name, cls.from_contents(name, inner, unnested(name, arrays)))
        for name in self._tuned():
            setattr(self, name, self._checked_weight(name, field(header, name, float)))
        if field(header, "state", str) != "training":
            self._loaded = self._decoders()
            with self._loaded.borrow():
                pass  # They must fit each other, before the first text.

    def _checked_weight(self, name: str, value: float) -> float:
        """Hook: what `tune` has chosen, from a file. Raises ValueError if it cannot be."""
        return check_float(name, value, 0.0)

    def _copy_to_memory(self) -> None:
        for model in self.parts.values():
            model._copy_to_memory()
        self._let_go()

    @property
    def _is_as_loaded(self) -> bool:
        return self._source is not None and self._decoders() is self._loaded

    @property
    def corpus_checksum(self) -> str | None:
        """The checksum of the corpus that the model of words was trained on."""
        return self.words.corpus_checksum


class EnsembleExample:
    """A training example of several models; None for a model that has no more of them."""

    def __init__(self, of_models: Sequence[Compiled | None]) -> None:
        self.of_models = of_models

    @property
    def _one(self) -> Compiled:
        # That of words, if it has one.
        return next(each for each in reversed(self.of_models) if each is not None)

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
