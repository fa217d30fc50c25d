"""Constituency parsing of tagged words, in any language."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar, Final

from spacy_structreg.corpora.constituents import ConstituencySentence
from spacy_structreg.estimators.base import Estimator
from spacy_structreg.estimators.constituent_queries import (
    ConstituentQuery,
    GivenConstituents,
    parse_constituents,
    visible_constituents,
)
from spacy_structreg.estimators.decoders import DecoderPool
from spacy_structreg.estimators.gold import CONSTITUENTS, Words
from spacy_structreg.estimators.parse_queries import TaggedSentence
from spacy_structreg.estimators.settings import strings, whole
from spacy_structreg.estimators.structure import Structure
from spacy_structreg.features.constituent_tables import CONSTITUENT_TABLES
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.learn.averaging import Mean
from spacy_structreg.learn.model_file import Arrays, field
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainedRows, TrainingRows
from spacy_structreg.learn.settings import Learning
from spacy_structreg.metrics.evalb import BracketScores, score_brackets
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer
from spacy_structreg.tasks.constituents import (
    CONSTITUENT_ATOMS,
    CONSTITUENT_EVENTS,
    MAX_UNARIES,
    ConstituentDecoder,
    ConstituentTransitions,
)
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.tagging import WordAtoms
from spacy_structreg.training.agenda import AgendaTrainer

logger = logging.getLogger("spacy_structreg")

LEAST_UNARIES: Final = 3
"""How many unary phrases may lie on one another, whatever the training corpus has (Zhang & Clark
2009)."""


class ConstituencyParser(Estimator[ConstituencySentence, ConstituentDecoder, BracketScores]):
    """Builds a phrase structure tree with heads over tagged words, by beam search.

    Zhang & Clark 2011, section 6.

    templates: the name of a table of `features.constituent_tables`, templates in the notation of
        `features.state_templates`, or a list of these; None for the default.
    half_width: let full-width letters, digits and punctuation look like their half-width forms.
    beam: how many states are kept, in training and in prediction; None for no limit.
    update: where an update is made: ``"early"``, ``"max_violation"``, ``"plain"``, or, with
        `beam` = 1, ``"every"`` (`training.agenda`); None for max-violation, or for an update at
        every action with a beam of 1.
    learning, epochs, patience, n_models, mean, seed: as for `CharacterSegmenter`; sentences are not
        cut, so that `mini_sample` must be None.

    Gold sentences are `ConstituencySentence`s. Of phrases over the same words with the same label
    on each other one is learnt; trees with more than 16 unary phrases on one another are left out,
    and counted in the log. Words of nothing but white space are no words to the model.
    Raises ValueError for settings that do not exist or contradict each other.
    """

    TASK = "constituency_parser"
    NOUN = "constituency parser"
    GOLD = CONSTITUENTS
    PRIMARY = "brackets_f"
    MUST_AGREE = ("templates", "labels", "half_width")
    SETTINGS: ClassVar = {
        "templates": (list,),
        "half_width": (bool,),
        "beam": (int, type(None)),
        "update": (str,),
        **Estimator.SETTINGS,
    }

    def __init__(
        self,
        *,
        templates: str | Sequence[str] | None = None,
        half_width: bool = True,
        beam: int | None = 16,
        update: str | None = None,
        learning: Learning | None = None,
        epochs: int = 12,
        patience: int | None = None,
        n_models: int = 1,
        mean: Mean = "nonzero",
        seed: int | None = 0,
    ) -> None:
        if templates is None:
            templates = "phrases+"
        self._templates = parse_state_templates(
            [templates] if isinstance(templates, str) else list(templates),
            CONSTITUENT_EVENTS,
            CONSTITUENT_ATOMS,
            CONSTITUENT_TABLES,
        )
        self.templates = tuple(map(str, self._templates))
        self.half_width = half_width
        self.beam = None if beam is None else whole("beam", beam, 1)
        if update is None:
            update = "every" if self.beam == 1 else "max_violation"
        self.update = update
        learning = Learning() if learning is None else learning
        if learning.mini_sample is not None:
            raise ValueError(
                f"mini_sample is {learning.mini_sample:g}, but the sentences of a parser cannot be "
                "cut: phrases may reach over the cut; leave it at None"
            )
        super().__init__(
            learning=learning,
            epochs=epochs,
            patience=patience,
            n_models=n_models,
            mean=mean,
            seed=seed,
        )
        # Labels that there are, whether or not the examples have them.
        self._expected: frozenset[str] = frozenset()
        # A trainer checks which updates there are, and which beams go with them.
        structure = self._structure_for((), LEAST_UNARIES)
        structure.new_trainer(structure.new_learner(self.learning))

    def prepare(
        self, sentences: Iterable[ConstituencySentence], *, labels: Iterable[str] = ()
    ) -> None:
        """Learn which labels there are, but no weights.

        labels: there are these too, whether or not the sentences have them.
        For a training in portions; does nothing to a model that has been trained. Raises ValueError
        if a sentence is not of the kind.
        """
        with self._lock:
            self._expected = frozenset(labels)
            try:
                super().prepare(sentences)
            finally:
                self._expected = frozenset()

    # Prediction ----------------------------------------------------------------------------------

    def predict(
        self, words: Words, tags: Sequence[str], *, given: GivenConstituents | None = None
    ) -> ConstituencySentence:
        """The tree over the words of a sentence, and the head of each phrase.

        tags: of the words. given: constituents that the tree must have.
        Raises ValueError if there are no words, tags are not one for each word, given constituents
        are of no tree that the model can build, or the model has not been trained.
        """
        return self.predict_batch([(words, tags)], given=None if given is None else [given])[0]

    def predict_batch(
        self,
        sentences: Iterable[TaggedSentence],
        *,
        given: Iterable[GivenConstituents | None] | None = None,
        n_threads: int = 1,
    ) -> list[ConstituencySentence]:
        """The tree of each sentence; threads decode side by side. given: for each sentence.

        Raises as `predict`, and ValueError if there are more or fewer sentences in `given`.
        """
        return list(self.predict_stream(sentences, given=given, n_threads=n_threads))

    def predict_stream(
        self,
        sentences: Iterable[TaggedSentence],
        *,
        given: Iterable[GivenConstituents | None] | None = None,
        n_threads: int = 1,
    ) -> Iterator[ConstituencySentence]:
        """As `predict_batch`, for any number of sentences in bounded memory, in their order."""
        return self._stream(sentences, given, self._decoders(), n_threads)

    def nbest(
        self, words: Words, tags: Sequence[str], n: int
    ) -> list[tuple[float, ConstituencySentence]]:
        """The `n` best trees that the beam lets through, best first, with their scores.

        The beam is at least `n` wide, and the search goes on until the best `n` are complete: for
        more than one, the first may be another than `predict` finds. The score is the sum of the
        weights of all features. Raises ValueError if n < 1, and as `predict`.
        """
        query = ConstituentQuery.of((words, tags), None)
        with self._decoders().borrow() as decoder:
            return [(score, query.answer(tree)) for score, tree in decoder.nbest(*query.visible, n)]

    def _stream(
        self,
        sentences: Iterable[TaggedSentence],
        given: Iterable[GivenConstituents | None] | None,
        decoders: DecoderPool[ConstituentDecoder],
        n_threads: int,
    ) -> Iterator[ConstituencySentence]:
        queries = (
            (ConstituentQuery.of(sentence, None) for sentence in sentences)
            if given is None
            else (ConstituentQuery.of(*pair) for pair in zip(sentences, given, strict=True))
        )
        return decoders.stream(queries, parse_constituents, size=len, n_threads=n_threads)

    # Hooks of the base class ---------------------------------------------------------------------

    def _examples(self, sentence: ConstituencySentence) -> Sequence[ConstituencySentence]:
        visible = visible_constituents(sentence)
        return [] if visible is None else [visible]

    def _score(
        self,
        gold: list[ConstituencySentence],
        decoders: DecoderPool[ConstituentDecoder],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> BracketScores:
        predicted = self._stream(
            ((sentence.words, sentence.tags) for sentence in gold), None, decoders, n_threads
        )
        return score_brackets(gold, predicted)

    def _structure_of(self, examples: Iterable[ConstituencySentence]) -> ConstituentStructure:
        labels = set(self._expected)
        most_unaries = LEAST_UNARIES
        n_left_out = 0
        for example in examples:
            n_unaries = _n_unaries(example)
            if n_unaries > MAX_UNARIES:
                n_left_out += 1
                continue
            most_unaries = max(most_unaries, n_unaries)
            labels.update(constituent.label for constituent in example.constituents)
        if n_left_out:
            logger.warning(
                "%d trees are left out of training: more than %d unary phrases lie on one another",
                n_left_out,
                MAX_UNARIES,
            )
        if not labels:
            raise ValueError(
                "there is no phrase in the training corpus from which a constituency parser could "
                "learn"
            )
        return self._structure_for(sorted(labels), most_unaries)

    def _structure_for(self, labels: Sequence[str], max_unaries: int) -> ConstituentStructure:
        atoms = [atom for template in self._templates for atom in template.atoms]
        system = ConstituentTransitions(
            WordAtoms(self.half_width), labels, atoms, max_unaries=max_unaries
        )
        return ConstituentStructure(system, self._templates, self.beam, self.update)

    def _restored_structure(
        self, labels: list[Any], entries: dict[str, Any], arrays: Arrays
    ) -> ConstituentStructure:
        max_unaries = whole("max_unaries", field(entries, "max_unaries", int), 1)
        known = sorted(set(strings("labels", labels)))
        if not all(known) or not known:
            raise ValueError("phrases need labels, none of which is empty")
        return self._structure_for(known, min(max_unaries, MAX_UNARIES + 1))

    def _settings(self) -> dict[str, Any]:
        return {
            "templates": list(self.templates),
            "half_width": self.half_width,
            "beam": self.beam,
            "update": self.update,
            **super()._settings(),
        }


@dataclass(frozen=True)
class ConstituentStructure(Structure[ConstituencySentence, ConstituentDecoder]):
    """Labels of phrases, features of states, and how trees are searched for.

    system: of one thread; trainers and decoders get copies of it.
    """

    system: ConstituentTransitions
    templates: tuple[StateTemplate, ...]
    beam: int | None
    update: str

    @property
    def labels(self) -> tuple[str, ...]:
        return self.system.labels

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(self.system.events.values())

    def new_learner(self, learning: Learning) -> Perceptron:
        # A feature of words has seen few of all actions.
        rows = [TrainingRows(width, adaptive=True, **learning.penalties) for width in self.widths]
        return Perceptron(rows, learning)

    def new_trainer(self, learner: Perceptron) -> AgendaTrainer:
        return AgendaTrainer(self.system.copy(), self.templates, learner, self.beam, self.update)

    def new_decoder(self, tables: list[TrainedRows]) -> ConstituentDecoder:
        scorer = StateScorer(self.system.copy(), self.templates, tables)
        return ConstituentDecoder(Agenda(scorer, self.beam))

    def compile(self, example: ConstituencySentence, learner: Perceptron) -> Derivation | None:
        if _n_unaries(example) > MAX_UNARIES:
            return None
        try:
            return self.system.compile(example.words, example.tags, example.constituents, learner)
        except ValueError as error:
            raise ValueError(
                f"{error}: what the training did not begin with; call fit, or prepare with the "
                "whole corpus"
            ) from error

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        return {"max_unaries": self.system.max_unaries}, {}


def _n_unaries(sentence: ConstituencySentence) -> int:
    """How many unary phrases lie on one another at most."""
    chains = groupby(sentence.constituents, key=lambda each: (each.begin, each.end))
    return max((len(list(chain)) - (end - begin > 1) for (begin, end), chain in chains), default=0)
