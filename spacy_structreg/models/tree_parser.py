"""The base of parsers of tagged words: what they see, settings, and streams of sentences."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence, Sized
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias

from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.features.state_templates import StateTemplate
from spacy_structreg.learn.setting_fields import setting
from spacy_structreg.models.beam_margin import AdaptiveBeam
from spacy_structreg.models.decoders import WORD, OutputT
from spacy_structreg.models.gold import GoldT, Words, check_names
from spacy_structreg.models.knowledge import contents_of_words
from spacy_structreg.models.model_spec import AgendaSpec
from spacy_structreg.models.predictor import Predictor
from spacy_structreg.models.protocols import DecoderT
from spacy_structreg.models.settings import (
    BeamSettings,
    CompleteTemplates,
    PerceptronSettings,
    UpdatePoint,
    ViewSettings,
    WordSettings,
    check_update,
    complete,
)
from spacy_structreg.search.agenda import Agenda

if TYPE_CHECKING:
    from spacy_structreg.learn.model_file import Arrays
    from spacy_structreg.learn.perceptron import Perceptron
    from spacy_structreg.learn.rows import TrainedRows
    from spacy_structreg.training.agenda import AgendaTrainer

TaggedSentence: TypeAlias = tuple[Words, Sequence[str]]
"""Words, and a tag for each."""


def checked_sentence(sentence: TaggedSentence) -> TaggedSentence:
    """A sentence that can be parsed. Raises ValueError for any other."""
    words, tags = sentence
    if isinstance(words, str) or isinstance(tags, str):
        raise ValueError(f"{sentence!r:.60} is not a list of words and a list of tags")
    if not words:
        raise ValueError("a sentence without words has no tree")
    if len(tags) != len(words):
        raise ValueError(f"{len(tags)} tags are given for {len(words)} words")
    for what, listed in (("word", words), ("tag", tags)):
        if set(map(type, listed)) == {str}:
            continue
        for i, each in enumerate(listed):
            if not isinstance(each, str):
                raise ValueError(f"{what} {i} is {each!r:.60}; give a string")
    check_names(tags)
    return words, tags


def visible_places(words: Words) -> list[int]:
    """The places of the words that are not only white space."""
    if all(map(str.strip, words)):
        return list(range(len(words)))
    return [i for i, word in enumerate(words) if word.strip()]


def without_blanks(sentence: Sentence) -> Sentence | None:
    """A sentence without the words of nothing but white space; None if no other is left.

    What hangs on such a word is hung on its head.
    """
    kept = visible_places(sentence.words)
    if len(kept) == len(sentence.words):
        return sentence
    if not kept:
        return None
    place = {old: new for new, old in enumerate(kept)}

    def head_of(word: int) -> int | None:
        head = sentence.heads[word]
        while head is not None and head != ROOT and head not in place:
            head = sentence.heads[head]
        return head if head is None or head == ROOT else place[head]

    return Sentence(
        words=tuple(sentence.words[i] for i in kept),
        tags=tuple(sentence.tags[i] for i in kept),
        heads=tuple(head_of(i) for i in kept),
        labels=tuple(sentence.labels[i] for i in kept),
    )


def heads_of_all(heads: Sequence[int], places: Sequence[int], n_words: int) -> list[int]:
    """The heads of all words from those of the visible ones.

    places: of the visible words, whose heads are counted among them. White space becomes a child of
    the word before it, or of the first visible word; if none is visible, its first is the root.
    """
    if len(places) == n_words:
        return list(heads)
    found = [ROOT] * n_words
    first = places[0] if places else 0
    visible = set(places)
    for i in range(n_words):
        if i not in visible and i != first:
            # Blanks before the first word are its children.
            found[i] = max(i - 1, 0) if i > first else first
    for place, head in zip(places, heads, strict=True):
        found[place] = ROOT if head == ROOT else places[head]
    return found


class TreeParserSettings(WordSettings, ViewSettings, BeamSettings, PerceptronSettings):
    """Settings of parsers of tagged words."""

    templates: str | Sequence[str] | None = setting(
        None,
        "The features: the name of a table, or templates of one's own, an event and its atoms, "
        'such as "action: S0w N0t"; null for the default.',
        restore=CompleteTemplates.checked,
    )
    update: UpdatePoint | None = setting(
        None,
        'Where an update is made: "early", "max_violation", "plain", or, with beam = 1, "every"; '
        'null for "max_violation", and for "every" with beam = 1.',
    )
    training_margin: float | None = setting(
        None,
        "In training, drop states whose score lies further than this behind the best; null for "
        "none. A parser that was trained so needs no more than a small `beam_margin`.",
        minimum=0.0,
    )

    @abstractmethod
    def parsed(self) -> tuple[StateTemplate, ...]:
        """The templates. Raises ValueError for those that cannot be."""

    @property
    def merges(self) -> bool:
        """True if states are merged that no later score can tell apart."""
        return False

    @property
    def chosen_update(self) -> UpdatePoint:
        """The point of updates that is set, or else the default for the beam."""
        if self.update is not None:
            return self.update
        return "every" if self.beam == 1 else "max_violation"

    def _check(self) -> None:
        super()._check()
        check_update(self.update, self.beam)
        if self.learning is not None and self.learning.mini_sample is not None:
            raise ValueError(
                f"mini_sample is {self.learning.mini_sample:g}, but the sentences of a parser "
                "cannot be cut: trees reach over all cuts; leave it at None"
            )


class TreeParser(
    AdaptiveBeam,
    Predictor[GoldT, DecoderT, TaggedSentence, OutputT],
    Generic[GoldT, DecoderT, OutputT],
):
    """Builds a tree over tagged words by beam search over the states of a transition system.

    Raises ValueError for settings that do not exist or contradict each other.
    """

    COUNTS: ClassVar = True
    SPEC: ClassVar[type[TreeSpec[Any, Any]]]
    settings: TreeParserSettings

    def __init__(self, settings: TreeParserSettings) -> None:
        templates, update = complete(settings.parsed()), settings.chosen_update
        super().__init__(replace(settings, templates=templates, update=update))
        self.SPEC.empty(self.settings).check_templates()

    # Prediction ----------------------------------------------------------------------------------

    def predict(self, words: Words, tags: Sequence[str], *, given: Any = None) -> OutputT:
        """The tree over the words of a sentence.

        tags: of the words. given: what is known of the tree, and stays; the rest is found to fit.
        Raises ValueError if there are no words, tags are not one for each, no tree has what is
        given, or the model has not been trained.
        """
        return self._predict((words, tags), given)

    def _size(self, query: Sized) -> int:
        return WORD * len(query)


@dataclass(frozen=True)
class TreeSpec(AgendaSpec[GoldT, DecoderT]):
    """Features of the states of a parser, and how trees are searched for."""

    settings: TreeParserSettings

    @classmethod
    @abstractmethod
    def empty(cls, settings: Any) -> AgendaSpec[GoldT, DecoderT]:
        """A spec without labels."""

    def new_trainer(self, learner: Perceptron) -> AgendaTrainer:
        from spacy_structreg.training.agenda import AgendaTrainer

        settings = self.settings
        return AgendaTrainer(
            self.system.copy(),
            self.templates,
            learner,
            settings.beam,
            settings.chosen_update,
            settings.merges,
            margin=settings.training_margin,
        )

    def new_agenda(self, tables: list[TrainedRows]) -> Agenda:
        """The search by the given weights."""
        settings = self.settings
        scorer = self.new_scorer(tables)
        return Agenda(scorer, settings.beam, settings.merges, settings.beam_margin)

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        return contents_of_words(self.system.words)
