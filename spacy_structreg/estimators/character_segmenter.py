"""Character-based word segmentation: a first-order chain of BMES labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from spacy_structreg.estimators.base import Estimator
from spacy_structreg.estimators.gold import Words
from spacy_structreg.estimators.reports import EpochReport
from spacy_structreg.estimators.settings import CompleteTemplates, choose
from spacy_structreg.estimators.structure import Structure
from spacy_structreg.estimators.texts import BaseSegmenter, Sentences, checked_sentences
from spacy_structreg.features.shapes import compile_shapes
from spacy_structreg.features.tables import CHARACTER_TABLES, CHARACTER_TYPES, SKIP_BIGRAM
from spacy_structreg.features.templates import Template, parse_templates
from spacy_structreg.learn.averaging import Mean
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.learn.settings import AnyLearning, Learning, LogLinear
from spacy_structreg.tasks.bmes import SCHEMES, SegmentationScheme
from spacy_structreg.tasks.chain import ChainDecoder, ChainFeatures, CompiledChain
from spacy_structreg.tasks.characters import CharacterAtoms, CharacterDecoder
from spacy_structreg.tasks.guide import ChainGuide
from spacy_structreg.training.chain import ChainTrainer
from spacy_structreg.training.chains import new_chain_trainer
from spacy_structreg.training.log_linear import LogLinearTrainer

__all__ = [
    "DEFAULT_LEARNING",
    "DEFAULT_LEARNING_OF_MANY",
    "CharacterSegmenter",
    "EpochReport",
]

DEFAULT_LEARNING: Final = Learning(update="pa_i", aggressiveness=0.1, mini_sample=5.0)
"""How one model is trained, chosen on the development sets of three corpora (README.md)."""

DEFAULT_LEARNING_OF_MANY: Final = Learning(mini_sample=5.0)
"""How several models are trained that are to be averaged. Passive-aggressive models are better
alone, but hardly differ, so that there is little to average."""


class CharacterSegmenter(BaseSegmenter[CharacterDecoder]):
    """Segments text into words by labelling its characters (method.md, section 3).

    templates: the name of a table (``"zhang2014"``), templates parted by ``|``, or a list of
        these; see `features.templates` for the notation. Atoms are ``c``, the character, and
        ``type``, its type.
    types: the alphabet of character types, ``"extended"`` or ``"g10"``, whose templates are added;
        None for no types.
    half_width: let full-width letters, digits and punctuation look like their half-width forms.
    skip_bigram: add the template of the two neighbours of a character.
    labels: the label scheme, ``"bmes"`` or ``"six"`` (`tasks.bmes`).
    learning: how weights are learnt and regularised; None for `DEFAULT_LEARNING`, or, if several
        models are averaged, for `DEFAULT_LEARNING_OF_MANY`.
    sentences: ``"punctuation"`` cuts texts into sentences before they are labelled, in training
        as in prediction; ``"doc"`` takes every text as one sentence.
    epochs: passes over the training corpus, ≥ 1. patience: stop after so many epochs without a
        better F on the development corpus, if `fit` gets one; None for never.
    n_models: train so many models, with the seeds `seed`, `seed` + 1, …, and average them; the
        seeds of groups that are to be independent lie n_models apart. mean: how to average,
        ``"nonzero"`` or ``"plain"`` (`learn.averaging`).
    seed: of all that training draws; None draws one from Python's generator.

    Gold sentences are lists of words. Raises ValueError for settings that do not exist or
    contradict each other.
    """

    TASK = "character_segmenter"
    LEARNS = (Learning, LogLinear)
    MUST_AGREE = ("templates", "labels", "types", "half_width", "sentences")
    SETTINGS: ClassVar = {
        "templates": (list,),
        "types": (str, type(None)),
        "half_width": (bool,),
        "sentences": (str,),
        "labels": (str,),
        **Estimator.SETTINGS,
    }

    def __init__(
        self,
        *,
        templates: str | Sequence[str] = "zhang2014",
        types: str | None = "extended",
        half_width: bool = True,
        skip_bigram: bool = False,
        sentences: Sentences = "punctuation",
        labels: str = "bmes",
        learning: AnyLearning | None = None,
        epochs: int = 20,
        patience: int | None = None,
        n_models: int = 1,
        mean: Mean = "nonzero",
        seed: int | None = 0,
    ) -> None:
        choose("labels", labels, SCHEMES)
        self.sentences = checked_sentences(sentences)
        self.scheme = labels
        atoms = CharacterAtoms(types, half_width)
        parsed = character_templates(templates, atoms, skip_bigram)
        self.templates = tuple(map(str, parsed))
        scheme = SCHEMES[labels]()
        features = ChainFeatures(compile_shapes(parsed), atoms.atoms, len(scheme.labels))
        self._chain = CharacterChain(atoms, scheme, features)
        if learning is None:
            learning = DEFAULT_LEARNING if n_models == 1 else DEFAULT_LEARNING_OF_MANY
        super().__init__(
            learning=learning,
            epochs=epochs,
            patience=patience,
            n_models=n_models,
            mean=mean,
            seed=seed,
            structure=self._chain,
        )

    @property
    def types(self) -> str | None:
        """The alphabet of character types, if any."""
        return self._chain.atoms.types

    @property
    def half_width(self) -> bool:
        """Whether full-width forms look like half-width ones to the model."""
        return self._chain.atoms.half_width

    # Hooks of the base classes -------------------------------------------------------------------

    def _structure_of(self, examples: Iterable[Words]) -> Structure[Words, CharacterDecoder]:
        return self._chain

    def _settings(self) -> dict[str, Any]:
        return {
            "templates": list(self.templates),
            "types": self.types,
            "half_width": self.half_width,
            "sentences": self.sentences,
            "labels": self.scheme,
            **super()._settings(),
        }


def character_templates(
    templates: str | Sequence[str], atoms: CharacterAtoms, skip_bigram: bool
) -> tuple[Template, ...]:
    """The templates of a character model, by its settings; `atoms` says whether there are types."""
    tables = [templates] if isinstance(templates, str) else list(templates)
    if atoms.types is not None and not isinstance(templates, CompleteTemplates):
        tables.append(CHARACTER_TYPES)
    if skip_bigram:
        tables.append(SKIP_BIGRAM)
    return parse_templates(tables, atoms.atoms, CHARACTER_TABLES)


@dataclass(frozen=True)
class CharacterChain(Structure[Words, CharacterDecoder]):
    """The labels of a scheme, and features of characters."""

    atoms: CharacterAtoms
    scheme: SegmentationScheme
    features: ChainFeatures

    @property
    def labels(self) -> tuple[str, ...]:
        return self.scheme.labels

    @property
    def widths(self) -> tuple[int, ...]:
        return self.features.widths

    def new_learner(self, learning: AnyLearning) -> Learner:
        return self.features.new_learner(learning)

    def new_trainer(self, learner: Learner) -> ChainTrainer | LogLinearTrainer:
        return new_chain_trainer(self.features, self.scheme.graph, learner)

    def new_decoder(self, tables: list[TrainedRows]) -> CharacterDecoder:
        decoder = ChainDecoder(self.features, self.scheme.graph, tables)
        return CharacterDecoder(self.atoms, decoder, self.scheme.begins)

    def new_guide(
        self, tables: list[TrainedRows], tags: Sequence[str] = (), **settings: Any
    ) -> ChainGuide:
        """A guide of word-based search (`tasks.guide`), which also takes the settings.

        Raises ValueError if the labels are not BMES, or the words have tags.
        """
        if tags or self.labels != ("B", "E", "M", "S"):
            raise ValueError(
                "a guide of word-based segmentation needs the labels 'bmes', and no tags"
            )
        labels = [[self.labels.index(label) for label in "BMES"]]
        return ChainGuide(self.new_decoder(tables), labels, **settings)

    def compile(self, example: Words, learner: Learner) -> CompiledChain | None:
        return self.atoms.compile(example, self.scheme, self.features, learner)
