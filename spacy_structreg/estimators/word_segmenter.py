"""Word-based segmentation: beam search over characters that are appended or separated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.estimators.base import Estimator
from spacy_structreg.estimators.gold import Words
from spacy_structreg.estimators.settings import (
    MAX_WORD_LENGTH,
    CompleteTemplates,
    beam_width,
    choose,
    whole,
)
from spacy_structreg.estimators.structure import Structure
from spacy_structreg.estimators.texts import BaseSegmenter, Sentences, checked_sentences
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.features.word_tables import WORD_TABLES
from spacy_structreg.learn.averaging import Mean
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.learn.settings import Learning
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer, new_learner
from spacy_structreg.tasks.characters import CharacterAtoms
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.words import WordDecoder, WordGuide, WordTransitions
from spacy_structreg.training.agenda import STOPS, AgendaTrainer
from spacy_structreg.training.pieces import cut_units

DEFAULT_LEARNING: Final = Learning(mini_sample=5.0)
"""Whole words in pieces of five: chosen on the development set of UD Chinese GSD."""


class WordSegmenter(BaseSegmenter[WordDecoder]):
    """Segments text into words by features of whole words (Zhang & Clark 2011, section 3).

    templates: the name of a table (``"zhang_clark_2011"``), templates in the notation of
        `features.state_templates`, or a list of these; events and atoms are those of
        `tasks.words`.
    types: the alphabet of character types, ``"extended"`` or ``"g10"``, whose templates are added;
        None for no types. characters: add the templates of single characters (Table 2).
    half_width: let full-width letters, digits and punctuation look like their half-width forms.
    beam: how many states are kept, in training as in prediction, 1 to 10,000; None for no limit.
    merge: in prediction, keep only the best of the states that no later score can tell apart; with
        no limit and `by_words` that is exact decoding (Fig. 5). None: where it is worth its time,
        with no limit and with a guide (`estimators.guided`).
    by_words: let complete words compete where they end (multiple beams, Fig. 4) instead of all
        states that have consumed the same characters.
    max_word_length: no longer words are proposed, 1 to 10,000; None for no limit.
    update: where an update is made: ``"early"``, ``"max_violation"`` or ``"plain"``
        (`training.agenda`).
    learning, sentences, epochs, patience, n_models, mean, seed: as for `CharacterSegmenter`;
        mini-samples are counted in words, and cut between them.

    Gold sentences are lists of words. Raises ValueError for settings that do not exist or
    contradict each other.
    """

    TASK = "word_segmenter"
    MUST_AGREE = ("templates", "types", "half_width", "sentences")
    COUNTS: ClassVar = True
    SETTINGS: ClassVar = {
        "templates": (list,),
        "types": (str, type(None)),
        "half_width": (bool,),
        "beam": (int, type(None)),
        "merge": (bool, type(None)),
        "by_words": (bool,),
        "max_word_length": (int, type(None)),
        "update": (str,),
        "sentences": (str,),
        **Estimator.SETTINGS,
    }

    def __init__(
        self,
        *,
        templates: str | Sequence[str] = "zhang_clark_2011",
        types: str | None = "extended",
        characters: bool = False,
        half_width: bool = True,
        beam: int | None = 16,
        merge: bool | None = None,
        by_words: bool = False,
        max_word_length: int | None = None,
        update: str = "early",
        sentences: Sentences = "punctuation",
        learning: Learning | None = None,
        epochs: int = 12,
        patience: int | None = None,
        n_models: int = 1,
        mean: Mean = "nonzero",
        seed: int | None = 0,
    ) -> None:
        self.sentences = checked_sentences(sentences)
        tables = [templates] if isinstance(templates, str) else list(templates)
        if not isinstance(templates, CompleteTemplates):
            tables += ["types"] * (types is not None) + ["characters"] * characters
        atoms = CharacterAtoms(types, half_width)
        self.beam = beam_width("beam", beam)
        self.merge = merge
        self.by_words = by_words
        if max_word_length is not None:
            max_word_length = whole("max_word_length", max_word_length, 1, MAX_WORD_LENGTH)
        self.max_word_length = max_word_length
        choose("update", update, STOPS)
        self.update = update
        system = WordTransitions(atoms, 1, by_words, max_word_length)
        parsed = parse_state_templates(tables, system.events, system.atoms, WORD_TABLES)
        self.templates = tuple(map(str, parsed))
        self._features = WordFeatures(system, parsed, self.beam, merge, update)
        super().__init__(
            learning=DEFAULT_LEARNING if learning is None else learning,
            epochs=epochs,
            patience=patience,
            n_models=n_models,
            mean=mean,
            seed=seed,
            structure=self._features,
        )

    @property
    def types(self) -> str | None:
        """The alphabet of character types, if any."""
        return self._features.system.characters.types

    @property
    def half_width(self) -> bool:
        """Whether full-width forms look like half-width ones to the model."""
        return self._features.system.characters.half_width

    # Hooks of the base classes -------------------------------------------------------------------

    def _structure_of(self, examples: Iterable[Words]) -> Structure[Words, WordDecoder]:
        return self._features

    def _settings(self) -> dict[str, Any]:
        return {
            "templates": list(self.templates),
            "types": self.types,
            "half_width": self.half_width,
            "beam": self.beam,
            "merge": self.merge,
            "by_words": self.by_words,
            "max_word_length": self.max_word_length,
            "update": self.update,
            "sentences": self.sentences,
            **super()._settings(),
        }


@dataclass(frozen=True)
class WordFeatures(Structure[Words, WordDecoder]):
    """Features of words under construction, and how they are searched for.

    system: of one thread; trainers and decoders get copies of it.
    """

    system: WordTransitions
    templates: tuple[StateTemplate, ...]
    beam: int | None
    merge: bool | None
    update: str

    @property
    def labels(self) -> tuple[str, ...]:
        return ()

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(self.system.events.values())

    def new_learner(self, learning: Learning) -> Perceptron:
        return new_learner(self.system, learning)

    def new_trainer(self, learner: Perceptron) -> AgendaTrainer:
        # Without a limit there would be as many states as segmentations.
        merge = self.beam is None
        return AgendaTrainer(
            self.system.copy(), self.templates, learner, self.beam, self.update, merge
        )

    def new_decoder(
        self,
        tables: list[TrainedRows],
        *,
        beam: int | None = None,
        guide: WordGuide | None = None,
    ) -> WordDecoder:
        scorer = StateScorer(self.system.copy(), self.templates, tables)
        width = beam or self.beam
        merge = width is None or guide is not None if self.merge is None else self.merge
        return WordDecoder(Agenda(scorer, width, merge), (), guide)

    def compile(self, example: Words, learner: Perceptron) -> Derivation | None:
        return self.system.compile(example, None, learner)

    def pieces(
        self, examples: Sequence[Any], mini_sample: float | None, seed: int
    ) -> NDArray[np.int64]:
        return cut_units([example.units for example in examples], mini_sample, seed)
