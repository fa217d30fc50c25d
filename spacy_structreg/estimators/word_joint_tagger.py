"""Word-based joint segmentation and tagging: beam search over characters, words and their tags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.estimators.base import Estimator
from spacy_structreg.estimators.gold import TaggedWords
from spacy_structreg.estimators.settings import (
    MAX_WORD_LENGTH,
    CompleteTemplates,
    beam_width,
    choose,
    strings,
    whole,
)
from spacy_structreg.estimators.structure import Structure
from spacy_structreg.estimators.texts import BaseJointTagger, Sentences, checked_sentences
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.features.word_tables import WORD_TABLES
from spacy_structreg.learn.averaging import Mean
from spacy_structreg.learn.model_file import Arrays
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.learn.settings import Learning
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer, new_learner
from spacy_structreg.tasks.characters import CharacterAtoms
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.tag_records import CTB_CLOSED_FIRST_TAGS, CTB_CLOSED_TAGS, TagRecords
from spacy_structreg.tasks.words import WordDecoder, WordGuide, WordTransitions
from spacy_structreg.training.agenda import STOPS, AgendaTrainer
from spacy_structreg.training.pieces import cut_units

DEFAULT_LEARNING: Final = Learning(mini_sample=5.0)


class WordJointTagger(BaseJointTagger[WordDecoder]):
    """Segments text and tags its words by features of both (Zhang & Clark 2011, section 4).

    templates: the name of a table (``"zhang_clark_2011_joint"``), templates in the notation of
        `features.state_templates`, or a list of these; events and atoms are those of
        `tasks.words`.
    types: the alphabet of character types, ``"extended"`` or ``"g10"``, whose templates are added;
        None for no types.
    half_width: let full-width letters, digits and punctuation look like their half-width forms.

    What is not proposed, by the records of the training corpus (section 4.2, `tasks.tag_records`);
    where they leave nothing at all, a sentence is decoded without them:

    lengths: words longer than all with their tag.
    dictionary: other tags for frequent words than those that they were seen with.
    closed_tags: words that were not seen with one of these tags as words of it; ``"ctb"`` names
        those of the Chinese Treebank. closed_first_tags: words of these tags with a first character
        that none has; None for `closed_tags`.
    least_begun: other tags for words beginning with a character than those of the words that it was
        seen to begin, if these were so many; None excludes nothing.
    prune_training: hold to the records in training too, instead of in prediction only.
    least_seen: how often a character must have been seen for the tags of its words to be an atom
        (``cat``), ≥ 1.

    beam: how many states are kept, in training as in prediction, 1 to 10,000; None for no limit,
        which merges states in training too.
    merge: in prediction, unless it is for n-best lists, keep only the best of the states that no
        later score can tell apart: of those that have just begun a word, one for its tag, the tag
        before and the word before.
    by_words: let complete words compete where they end (multiple beams, Fig. 4 and section 4.3.1)
        instead of all states that have consumed the same characters: `beam` of them for each tag of
        the next word. Better at small widths, and many times slower.
    max_word_length: no longer words are proposed, 1 to 10,000; None for no limit.
    update: where an update is made: ``"early"``, ``"max_violation"`` or ``"plain"``
        (`training.agenda`).
    learning, sentences, epochs, patience, n_models, mean, seed: as for `CharacterSegmenter`;
        mini-samples are counted in words, and cut between them.

    Gold sentences are lists of (word, tag) pairs. Records are those of the corpus that `fit` or
    `prepare` has seen, or, without it, of the first sentences that are compiled; models are
    averaged if they have the same. Raises ValueError for settings that do not exist or contradict
    each other.
    """

    TASK = "word_joint_tagger"
    MUST_AGREE = ("templates", "types", "half_width", "sentences", "labels")
    COUNTS: ClassVar = True
    SETTINGS: ClassVar = {
        "templates": (list,),
        "types": (str, type(None)),
        "half_width": (bool,),
        "lengths": (bool,),
        "dictionary": (bool,),
        "closed_tags": (list,),
        "closed_first_tags": (list,),
        "least_begun": (int, type(None)),
        "least_seen": (int,),
        "prune_training": (bool,),
        "beam": (int, type(None)),
        "merge": (bool,),
        "by_words": (bool,),
        "max_word_length": (int, type(None)),
        "update": (str,),
        "sentences": (str,),
        **Estimator.SETTINGS,
    }

    def __init__(
        self,
        *,
        templates: str | Sequence[str] = "zhang_clark_2011_joint",
        types: str | None = "extended",
        half_width: bool = True,
        lengths: bool = True,
        dictionary: bool = True,
        closed_tags: str | Sequence[str] = (),
        closed_first_tags: Sequence[str] | None = None,
        least_begun: int | None = 30,
        least_seen: int = 1,
        prune_training: bool = True,
        beam: int | None = 16,
        merge: bool = True,
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
            tables += ["types"] * (types is not None)
        atoms = CharacterAtoms(types, half_width)
        if isinstance(closed_tags, str):
            choose("closed_tags", closed_tags, ["ctb"])
            closed_tags = CTB_CLOSED_TAGS
            if closed_first_tags is None:
                closed_first_tags = CTB_CLOSED_FIRST_TAGS
        self.lengths = bool(lengths)
        self.dictionary = bool(dictionary)
        self.closed_tags = tuple(strings("closed_tags", closed_tags))
        if closed_first_tags is None:
            closed_first_tags = self.closed_tags
        self.closed_first_tags = tuple(strings("closed_first_tags", closed_first_tags))
        self.least_begun = None if least_begun is None else whole("least_begun", least_begun, 1)
        self.least_seen = whole("least_seen", least_seen, 1)
        self.prune_training = bool(prune_training)
        self.beam = beam_width("beam", beam)
        self.merge = bool(merge)
        self.by_words = bool(by_words)
        if max_word_length is not None:
            max_word_length = whole("max_word_length", max_word_length, 1, MAX_WORD_LENGTH)
        self.max_word_length = max_word_length
        choose("update", update, STOPS)
        self.update = update
        self._atoms = atoms
        system = WordTransitions(atoms, 2, by_words, max_word_length)
        self._parsed = parse_state_templates(tables, system.events, system.atoms, WORD_TABLES)
        self.templates = tuple(map(str, self._parsed))
        super().__init__(
            learning=DEFAULT_LEARNING if learning is None else learning,
            epochs=epochs,
            patience=patience,
            n_models=n_models,
            mean=mean,
            seed=seed,
        )

    @property
    def types(self) -> str | None:
        """The alphabet of character types, if any."""
        return self._atoms.types

    @property
    def half_width(self) -> bool:
        """Whether full-width forms look like half-width ones to the model."""
        return self._atoms.half_width

    # Hooks of the base classes -------------------------------------------------------------------

    def _structure_of(self, examples: Iterable[TaggedWords]) -> JointFeatures:
        sentences = list(examples)
        tags = tuple(sorted({tag for sentence in sentences for _, tag in sentence}))
        records = TagRecords.collect(
            sentences,
            tags,
            self._atoms,
            lengths=self.lengths,
            dictionary=self.dictionary,
            closed=self.closed_tags,
            closed_firsts=self.closed_first_tags,
            least_begun=self.least_begun,
            least_seen=self.least_seen,
        )
        return self._features(tags, records)

    def _restored_structure(
        self, labels: list[Any], entries: dict[str, Any], arrays: Arrays
    ) -> JointFeatures:
        tags = tuple(strings("labels", labels))
        return self._features(tags, TagRecords(len(tags), arrays))

    def _features(self, tags: tuple[str, ...], records: TagRecords) -> JointFeatures:
        system = WordTransitions(
            self._atoms, len(tags), self.by_words, self.max_word_length, records
        )
        # A corpus of one tag has no choice of tags.
        templates = tuple(each for each in self._parsed if each.event in system.events)
        return JointFeatures(
            tags,
            records,
            system,
            templates,
            self.beam,
            self.merge,
            self.update,
            self.prune_training,
        )

    def _settings(self) -> dict[str, Any]:
        return {
            "templates": list(self.templates),
            "types": self.types,
            "half_width": self.half_width,
            "lengths": self.lengths,
            "dictionary": self.dictionary,
            "closed_tags": list(self.closed_tags),
            "closed_first_tags": list(self.closed_first_tags),
            "least_begun": self.least_begun,
            "least_seen": self.least_seen,
            "prune_training": self.prune_training,
            "beam": self.beam,
            "merge": self.merge,
            "by_words": self.by_words,
            "max_word_length": self.max_word_length,
            "update": self.update,
            "sentences": self.sentences,
            **super()._settings(),
        }


@dataclass(frozen=True)
class JointFeatures(Structure[TaggedWords, WordDecoder]):
    """Features of tagged words under construction, and how they are searched for.

    records: of the tags, by their numbers. system: of one thread; trainers and decoders get copies
    of it.
    """

    tags: tuple[str, ...]
    records: TagRecords
    system: WordTransitions
    templates: tuple[StateTemplate, ...]
    beam: int | None
    merge: bool
    update: str
    prune_training: bool

    @property
    def labels(self) -> tuple[str, ...]:
        return self.tags

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(self.system.events.values())

    def new_learner(self, learning: Learning) -> Perceptron:
        return new_learner(self.system, learning)

    def new_trainer(self, learner: Perceptron) -> AgendaTrainer:
        system = self.system.copy(prune=self.prune_training)
        # Without a limit there would be as many states as analyses.
        merge = self.beam is None
        return AgendaTrainer(system, self.templates, learner, self.beam, self.update, merge)

    def new_decoder(
        self,
        tables: list[TrainedRows],
        *,
        beam: int | None = None,
        guide: WordGuide | None = None,
    ) -> WordDecoder:
        agenda = Agenda(self.new_scorer(tables), beam or self.beam, self.merge)
        return WordDecoder(agenda, self.tags, guide)

    def new_scorer(self, tables: list[TrainedRows]) -> StateScorer:
        """Scores of actions by the given weights, for one thread."""
        return StateScorer(self.system.copy(), self.templates, tables)

    def compile(self, example: TaggedWords, learner: Perceptron) -> Derivation | None:
        words = [word for word, _ in example]
        unknown = sorted({tag for _, tag in example} - set(self.tags))
        if unknown:
            raise ValueError(f"the tag {unknown[0]!r} is none that the model has")
        numbers = [self.tags.index(tag) for _, tag in example]
        return self.system.compile(words, numbers, learner)

    def pieces(
        self, examples: Sequence[Any], mini_sample: float | None, seed: int
    ) -> NDArray[np.int64]:
        return cut_units([example.units for example in examples], mini_sample, seed)

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        return {}, dict(self.records.arrays)
