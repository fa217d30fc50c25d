"""Word-based segmentation: beam search over characters that are appended or separated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.formats.partial import PartialSentence
from spacy_structreg.features.segmentation import WORD_TABLES
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.model_file import Arrays
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.learn.setting_fields import from_settings, setting
from spacy_structreg.models.beam_margin import AdaptiveBeam
from spacy_structreg.models.example_schema import GoldT, SegmentedGold
from spacy_structreg.models.knowledge import (
    contents_of,
    read_atoms,
    restored_atoms,
)
from spacy_structreg.models.model_spec import ModelSpec
from spacy_structreg.models.protocols import DecoderT
from spacy_structreg.models.raw_text import BaseSegmenter
from spacy_structreg.models.settings import (
    CompleteTemplates,
    PerceptronSettings,
    WordSearchSettings,
    WordTextSettings,
    complete,
    joined,
)
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer, new_learner
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms
from spacy_structreg.tasks.segmentation.words import WordDecoder, WordGuide, WordTransitions

if TYPE_CHECKING:
    from spacy_structreg.training.agenda import AgendaTrainer


DEFAULT_LEARNING: Final = Learning(mini_sample=5.0)
"""Whole words in pieces of five: chosen on the development set of UD Chinese GSD."""


@dataclass(frozen=True, kw_only=True)
class WordSegmenterSettings(WordTextSettings, WordSearchSettings, PerceptronSettings):
    """Settings of a `WordSegmenter`."""

    DEFAULT_LEARNING: ClassVar[Learning] = DEFAULT_LEARNING

    templates: str | Sequence[str] = setting(
        "zhang_clark_2011",
        'The features: the name of a table, "zhang_clark_2011", or templates of one\'s own, an '
        'event and its atoms, such as "separate: w-1 c0".',
        restore=CompleteTemplates.checked,
    )
    characters: bool = setting(
        False, "Add the templates of single characters (Zhang & Clark 2011, Table 2)."
    )
    merge: bool | None = setting(
        None,
        "In prediction, keep only the best of the states that no later score can tell apart, which "
        "with by_words and no limit is exact; null does so with no limit and with a guide.",
    )


class WordSegmenter(AdaptiveBeam, BaseSegmenter[WordDecoder]):
    """Segments text into words by features of whole words (Zhang & Clark 2011, section 3).

    Mini-samples are counted in words, and cut between them. Gold sentences are lists of words, or
    `PartialSentence`s.
    Raises ValueError for settings that do not exist or contradict each other.
    """

    TASK = "word_segmenter"
    MUST_AGREE = ("templates", "types", "half_width", "script", "sentences")
    COUNTS: ClassVar = True
    SETTINGS = WordSegmenterSettings
    settings: WordSegmenterSettings

    @from_settings(WordSegmenterSettings)
    def __init__(self, settings: WordSegmenterSettings) -> None:
        system = _system_of(settings, CharacterAtoms(settings.types, settings.half_width))
        further = ["types"] * (settings.types is not None) + ["characters"] * settings.characters
        further += ["lexicon"] * bool(settings.lexicon)
        templates = parse_state_templates(
            joined(settings.templates, *further), system.events, system.atoms, WORD_TABLES
        )
        self._features = WordSpec(
            system,
            templates,
            settings.beam,
            settings.merge,
            settings.update,
            settings.beam_margin,
        )
        # Word lists and scripts are read when the model is trained.
        reads = settings.lexicon or settings.script is not None
        spec = None if reads else self._features
        super().__init__(replace(settings, templates=complete(templates)), spec)

    # Hooks of the base classes -------------------------------------------------------------------

    def _spec_of(self, examples: Iterable[SegmentedGold]) -> WordSpec:
        return self._spec_for(read_atoms(self.settings))

    def _restored_spec(
        self, labels: list[Any], entries: dict[str, Any], arrays: Arrays
    ) -> WordSpec:
        return self._spec_for(restored_atoms(self.settings, entries, arrays))

    def _spec_for(self, atoms: CharacterAtoms) -> WordSpec:
        return replace(self._features, system=_system_of(self.settings, atoms))


def _system_of(settings: WordSegmenterSettings, atoms: CharacterAtoms) -> WordTransitions:
    return WordTransitions(
        atoms,
        1,
        settings.by_words,
        settings.max_word_length,
        joins_runs=settings.typed_runs == "latin",
    )


@dataclass(frozen=True)
class WordSearchSpec(ModelSpec[GoldT, DecoderT]):
    """Features of words under construction, and how they are searched for.

    system: of one thread; trainers and decoders get copies of it. prune_training: whether training
    proposes as little as prediction does.
    """

    system: WordTransitions
    templates: tuple[StateTemplate, ...]
    beam: int | None
    merge: bool | None
    update: str
    margin: float | None = None
    prune_training: bool = True

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(self.system.tables.values())

    def new_learner(self, learning: Learning) -> Perceptron:
        return new_learner(self.system, learning)

    def new_trainer(self, learner: Perceptron) -> AgendaTrainer:
        from spacy_structreg.training.agenda import AgendaTrainer

        system = self.system.copy(prune=self.prune_training)
        # Without a limit there would be as many states as analyses.
        merge = self.beam is None
        return AgendaTrainer(system, self.templates, learner, self.beam, self.update, merge)

    def new_scorer(self, tables: list[TrainedRows]) -> StateScorer:
        """Scores of actions by the given weights, for one thread."""
        return StateScorer(self.system.copy(), self.templates, tables)

    def pieces(
        self, examples: Sequence[Any], mini_sample: float | None, seed: int
    ) -> NDArray[np.int64]:
        from spacy_structreg.training.pieces import cut_units

        return cut_units([example.units for example in examples], mini_sample, seed)

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        return contents_of(self.system.characters)


class WordSpec(WordSearchSpec[SegmentedGold, WordDecoder]):
    """Features and search of words without tags."""

    @property
    def labels(self) -> tuple[str, ...]:
        return ()

    def new_decoder(
        self,
        tables: list[TrainedRows],
        *,
        beam: int | None = None,
        margin: float | None = None,
        guide: WordGuide | None = None,
    ) -> WordDecoder:
        width = beam or self.beam
        merge = width is None or guide is not None if self.merge is None else self.merge
        margin = self.margin if beam is None else margin
        return WordDecoder(Agenda(self.new_scorer(tables), width, merge, margin), (), guide)

    def compile(self, example: SegmentedGold, learner: Perceptron) -> Derivation | None:
        if isinstance(example, PartialSentence):
            return self.system.compile_partial(example.text, example.boundaries, (), learner)
        return self.system.compile(example, None, learner)
