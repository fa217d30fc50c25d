"""Words with their tags: a chain of labels of characters such as B-NN, or a search for words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.partial_sentence import PartialSentence
from spacy_structreg.corpora.tag_maps import CLOSED_TAGS
from spacy_structreg.features.joint import JOINT_TABLES
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.model_file import Arrays
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.learn.setting_fields import check_strings, from_settings, setting
from spacy_structreg.models.beam_margin import AdaptiveBeam
from spacy_structreg.models.decoders import DecoderPool
from spacy_structreg.models.gold import GoldT, TaggedGold, TaggedSchema, known_pairs, tags_of
from spacy_structreg.models.knowledge import contents_of, read_atoms, restored_atoms
from spacy_structreg.models.model_spec import Labels, StoredSpec
from spacy_structreg.models.protocols import DecoderT
from spacy_structreg.models.raw_text import TaggedPredictor, TextDecoderT, stream_texts
from spacy_structreg.models.segmentation import (
    DEFAULT_LEARNING_OF_WORDS,
    CharacterChainSpec,
    CharacterSettings,
    WordSearchSpec,
)
from spacy_structreg.models.settings import (
    CompleteTemplates,
    PerceptronSettings,
    WordSearchSettings,
    WordTextSettings,
    complete,
    joined,
)
from spacy_structreg.models.text_estimator import TextEstimator
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.tasks.chain import ChainDecoder, CompiledChain
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.joint.tag_records import GrowingRecords, TagRecords
from spacy_structreg.tasks.segmentation.bmes import SCHEMES, JointScheme, with_tags
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms, CharacterDecoder
from spacy_structreg.tasks.segmentation.guide import ChainGuide
from spacy_structreg.tasks.segmentation.words import WordDecoder, WordGuide, WordTransitions

if TYPE_CHECKING:
    from typing_extensions import Self

    from spacy_structreg.learn.perceptron import Perceptron
    from spacy_structreg.metrics.figures import Scores
    from spacy_structreg.training.agenda import AgendaTrainer


class JointPredictor(TaggedPredictor[TextDecoderT]):
    """Finds words and their tags, and is scored by both."""

    def _score(
        self,
        gold: Sequence[TaggedGold],
        decoders: DecoderPool[TextDecoderT],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> Scores:
        from spacy_structreg.metrics.joint import score_joint

        squeezed = list(map(TaggedSchema.squeezed, gold))
        texts = (self._text_of([word for word, _ in sentence]) for sentence in squeezed)
        predicted = stream_texts(texts, decoders, self._tag, n_threads)
        return score_joint(squeezed, predicted, vocabulary)


class BaseJointTagger(JointPredictor[TextDecoderT], TextEstimator[TaggedGold, TextDecoderT]):
    """A text estimator that tags, too; gold sentences are (word, tag) pairs, or known in part."""

    NOUN = "tagger"
    PRIMARY = "joint_f"


class CharacterJointTaggerSettings(CharacterSettings):
    """Settings of a `CharacterJointTagger`."""

    prune: int | None = setting(
        None,
        "In prediction, characters that occur so often in training, or more, get only labels that "
        "they had there; null for any labels.",
        minimum=1,
    )


@dataclass(frozen=True)
class Lists:
    """Labels that characters may have.

    characters: their code points as the model sees them, rising: uint32 of shape (n,).
    allowed: bool of shape (n, n_labels).
    """

    characters: NDArray[np.uint32]
    allowed: NDArray[np.bool_]

    def packed(self) -> Arrays:
        """The arrays of a model file: 64 labels in a number, the first in its lowest bit."""
        n_words = -(-self.allowed.shape[1] // 64)
        filled = np.zeros((len(self.characters), 64 * n_words), dtype=bool)
        filled[:, : self.allowed.shape[1]] = self.allowed
        words = np.packbits(filled, axis=1, bitorder="little").view("<u8").astype(np.uint64)
        return {"lists.characters": self.characters.astype(np.uint64), "lists.labels": words}

    @classmethod
    def unpacked(cls, arrays: Arrays, n_labels: int) -> Lists:
        """The lists that `packed` gave. Raises ValueError for anything else."""
        characters, words = arrays["lists.characters"], arrays["lists.labels"]
        if (
            characters.dtype != np.uint64
            or characters.ndim != 1
            or words.dtype != np.uint64
            or words.shape != (len(characters), -(-n_labels // 64))
            or (characters > 0x10FFFF).any()
            or (characters[1:] <= characters[:-1]).any()
        ):
            raise ValueError("its lists of labels do not fit its labels")
        packed = np.ascontiguousarray(words.astype("<u8")).view(np.uint8)
        allowed = np.unpackbits(packed, axis=1, count=n_labels, bitorder="little")
        return cls(characters.astype(np.uint32), allowed.astype(bool))


@dataclass(frozen=True)
class CharacterJointSpec(TaggedSchema, CharacterChainSpec[TaggedGold, JointScheme]):
    """Labels with tags, features of characters, and lists of labels, if there are any."""

    lists: Lists | None

    @classmethod
    def of_corpus(
        cls, settings: CharacterJointTaggerSettings, examples: Iterable[TaggedGold], extra: Labels
    ) -> CharacterJointSpec:
        listed = list(examples)
        atoms = read_atoms(settings, lambda: map(cls.text, listed))
        spec = cls._of(settings, tags_of(listed), atoms)
        if settings.prune is None:
            return spec
        return replace(spec, lists=_label_lists(spec, listed, settings.prune))

    @classmethod
    def of_file(
        cls, settings: CharacterJointTaggerSettings, stored: StoredSpec
    ) -> CharacterJointSpec:
        tags = [label.partition("-")[2] for label in check_strings("labels", stored.labels)]
        spec = cls._of(settings, tags, restored_atoms(settings, stored.entries, stored.arrays))
        if not {"lists.characters", "lists.labels"} <= stored.arrays.keys():
            return spec
        return replace(spec, lists=Lists.unpacked(stored.arrays, len(stored.labels)))

    @classmethod
    def _of(
        cls, settings: CharacterJointTaggerSettings, tags: Iterable[str], atoms: CharacterAtoms
    ) -> CharacterJointSpec:
        scheme = with_tags(SCHEMES[settings.scheme](), tags)
        return cls(atoms, scheme, settings.features(atoms, len(scheme.labels)), None)

    def new_decoder(self, tables: list[TrainedRows]) -> CharacterDecoder:
        lists = None if self.lists is None else (self.lists.characters, self.lists.allowed)
        return CharacterDecoder(
            self.atoms.copy(),
            ChainDecoder(self.features, self.scheme.graph, tables),
            self.scheme.begins,
            tags=self.scheme.tags,
            label_tags=self.scheme.tag_of,
            lists=lists,
        )

    def new_guide(
        self, tables: list[TrainedRows], tags: Sequence[str] = (), **settings: Any
    ) -> ChainGuide:
        """A guide of word-based search (`tasks.segmentation.guide`), which also takes the settings.

        tags: of the words, in the order of their numbers. Raises ValueError if they are not those
        of the labels, or the labels are not BMES.
        """
        if tuple(tags) != self.scheme.tags or len(self.labels) != 4 * len(tags):
            raise ValueError("a guide of words with tags needs the scheme 'bmes', and these tags")
        number = {label: i for i, label in enumerate(self.labels)}
        labels = [[number[f"{place}-{tag}"] for place in "BMES"] for tag in tags]
        return ChainGuide(self.new_decoder(tables), labels, **settings)

    def compile(self, example: TaggedGold, learner: Learner) -> CompiledChain | None:
        if isinstance(example, PartialSentence):
            return self.atoms.compile_partial(
                example.text, example.boundaries, example.tags, self.scheme, self.features, learner
            )
        words = [word for word, _ in example]
        tags = [tag for _, tag in example]
        return self.atoms.compile(words, self.scheme, self.features, learner, tags)

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        entries, arrays = super().contents()
        return entries, arrays if self.lists is None else {**arrays, **self.lists.packed()}


def _label_lists(spec: CharacterJointSpec, examples: Iterable[TaggedGold], least: int) -> Lists:
    """The labels with which each character occurs that occurs at least `least` times."""
    counts: Counter[int] = Counter()
    seen: defaultdict[int, set[int]] = defaultdict(set)
    for example in examples:
        if isinstance(example, PartialSentence):
            continue
        text = "".join(word for word, _ in example)
        labels = spec.scheme.encode([len(word) for word, _ in example], [tag for _, tag in example])
        characters = spec.atoms.without_sources().symbols(text, 0)[0].tolist()
        counts.update(characters)
        for character, label in zip(characters, labels.tolist(), strict=True):
            seen[character].add(label)
    listed = sorted(character for character, count in counts.items() if count >= least)
    allowed = np.zeros((len(listed), len(spec.labels)), dtype=bool)
    for row, character in enumerate(listed):
        allowed[row, list(seen[character])] = True
    return Lists(np.array(listed, dtype=np.uint32), allowed)


class CharacterJointTagger(BaseJointTagger[CharacterDecoder]):
    """Finds words and their tags by labeling characters (Ng & Low 2004, section 3.2).

    A label says where in its word a character stands and which tag the word has; tags are those of
    the training corpus.

    The default learning is that of a `CharacterSegmenter`, checked on the development set of UD
    Chinese. Rare characters should stay free of `prune`, and training always is: there, the lists
    of labels would never be wrong.

    Gold sentences are lists of (word, tag) pairs, or `PartialSentence`s, which `prune` does not
    look at.

    Examples
    --------
    >>> from spacy_structreg import CharacterJointTagger
    >>> gold = [
    ...     [("我", "PN"), ("在", "P"), ("北京", "NR")],
    ...     [("大学", "NN"), ("很", "AD"), ("大", "VA")],
    ... ]
    >>> CharacterJointTagger(epochs=5).fit(gold).predict_tagged("大学在北京")
    [('大学', 'NN'), ('在', 'P'), ('北京', 'NR')]
    """

    KIND = "character_joint_tagger"
    SPEC = CharacterJointSpec
    MUST_AGREE = ("templates", "labels", "types", "half_width", "script", "sentences")
    SETTINGS = CharacterJointTaggerSettings
    settings: CharacterJointTaggerSettings

    @from_settings(CharacterJointTaggerSettings)
    def __init__(self, settings: CharacterJointTaggerSettings) -> None:
        super().__init__(replace(settings, templates=complete(settings.parsed())))

    @property
    def tags(self) -> tuple[str, ...]:
        return self._spec.scheme.tags if isinstance(self._spec, CharacterJointSpec) else ()

    def _character_scheme(self) -> JointScheme:
        spec: Any = self._fitted_spec()
        scheme: JointScheme = spec.scheme
        return scheme


class TaggedWordSettings(WordTextSettings, WordSearchSettings, PerceptronSettings):
    """Settings of models that search for words with their tags."""

    templates: str | Sequence[str] = setting(
        "zhang_clark_2011_joint",
        'The features: the name of a table, "zhang_clark_2011_joint", or templates of one\'s own, '
        'an event and its atoms, such as "tag: t-1 c0".',
        restore=CompleteTemplates.checked,
    )
    lengths: bool = setting(True, "Propose no words longer than all with their tag.")
    dictionary: bool = setting(
        True, "Propose no other tags for frequent words than those that they were seen with."
    )
    closed_tags: str | Sequence[str] | None = setting(
        None,
        'Tags of which no words are proposed that were not seen with them; "ctb" names those of '
        'the Chinese Treebank, "ud" those of Universal Dependencies.',
        choices=CLOSED_TAGS,
    )
    closed_first_tags: Sequence[str] | None = setting(
        None,
        "Tags of which no words are proposed whose first character was never seen to begin one; "
        "null for the closed tags.",
    )
    least_begun: int | None = setting(
        30,
        "Words that begin with a character get only tags of the words that it was seen to begin, "
        "if these were so many; null for any tags.",
        minimum=1,
    )
    least_seen: int = setting(
        1,
        "How often a character must have been seen for the tags of its words to be a feature.",
        minimum=1,
    )
    prune_training: bool = setting(
        True, "Propose so little in training too, instead of in prediction only."
    )

    @property
    def records(self) -> dict[str, Any]:
        """The settings of records of the training corpus (`TagRecords.collect`)."""
        from spacy_structreg.corpora.tag_maps import CLOSED_FIRST_TAGS

        closed, closed_firsts = self.closed_tags, self.closed_first_tags
        if isinstance(closed, str):
            closed_firsts = CLOSED_FIRST_TAGS[closed] if closed_firsts is None else closed_firsts
            closed = CLOSED_TAGS[closed]
        closed = tuple(closed or ())
        return {
            "lengths": self.lengths,
            "dictionary": self.dictionary,
            "closed": closed,
            "closed_firsts": closed if closed_firsts is None else tuple(closed_firsts),
            "least_begun": self.least_begun,
            "least_seen": self.least_seen,
        }

    @property
    def further_tables(self) -> list[str]:
        """Tables of templates that settings add."""
        further = ["types"] * (self.types is not None)
        return further + ["lexicon", "listed_tags"] * bool(self.lexicon)

    def completed(self, templates: Sequence[StateTemplate]) -> Self:
        """The same settings with all templates, and with the closed tags that names stand for."""
        return replace(
            self,
            templates=complete(templates),
            closed_tags=self.records["closed"],
            closed_first_tags=self.records["closed_firsts"],
        )


class WordJointTaggerSettings(TaggedWordSettings):
    """Settings of a `WordJointTagger`."""

    DEFAULT_LEARNING: ClassVar[Learning] = DEFAULT_LEARNING_OF_WORDS

    growing_records: bool = setting(
        False,
        "In training, fill the tag dictionary (tags of words and characters, counts of words) "
        "example by example, each before it is decoded, and go on from epoch to epoch, as Zhang & "
        "Clark 2011; false fills it from the whole corpus first. Predictions use the dictionary "
        "after `epochs` epochs.",
    )
    merge: bool = setting(
        True,
        "In prediction, keep only the best of the states that no later score can tell apart, but "
        "for n-best lists.",
    )
    merge_training: bool = setting(
        False,
        "Keep only the best of these in training too, as Zhang & Clark 2011, section 4.2: of "
        "those that begin a word, one for each last word, its tag and that of the word.",
    )

    def parsed(self) -> tuple[StateTemplate, ...]:
        """The templates. Raises ValueError for those that cannot be."""
        atoms = CharacterAtoms(self.types, self.half_width)
        system = WordTransitions(atoms, 2, self.by_words, self.max_word_length)
        names = joined(self.templates, *self.further_tables)
        return parse_state_templates(names, system.events, system.atoms, JOINT_TABLES)

    def _check(self) -> None:
        super()._check()
        if self.growing_records and self.chosen_learning.min_count > 1:
            raise ValueError(
                "growing_records begin empty, so that their features cannot be counted before "
                "training; choose min_count = 1, or growing_records = false"
            )


@dataclass(frozen=True, kw_only=True)
class TaggedWordSpec(WordSearchSpec[GoldT, DecoderT]):
    """Features and search of words with tags. records: of the tags, by their numbers."""

    tags: tuple[str, ...]
    records: TagRecords

    @property
    def labels(self) -> tuple[str, ...]:
        return self.tags

    @cached_property
    def _number(self) -> dict[str, int]:
        return {tag: i for i, tag in enumerate(self.tags)}

    def numbers_of(self, tags: Iterable[str]) -> list[int]:
        """The numbers of tags. Raises ValueError for tags that the model does not have."""
        listed = list(tags)
        if unknown := sorted(set(listed) - self._number.keys()):
            raise ValueError(f"the tag {unknown[0]!r} is none that the model has")
        return [self._number[tag] for tag in listed]

    def unreachable_reason_of(self, words: Iterable[tuple[str, str]]) -> str | None:
        """Say which of some words with tags the records exclude, and by which setting."""
        atoms, longest = self.system.characters, self.records.arrays["lengths"]
        for word, tag in words:
            number = self._number[tag]
            for rule, allowed in (
                ("dictionary and closed_tags", number in self.records.word(word, atoms)),
                (
                    "least_begun and closed_first_tags",
                    number in self.records.first(word[0], atoms),
                ),
                ("lengths", longest[number] == 0 or len(word) <= longest[number]),
            ):
                if not allowed:
                    return (
                        f"the model never gives {word!r} the tag {tag}, by its settings of "
                        f"{rule}; train with others"
                    )
        return None

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        entries, arrays = super().contents()
        return entries, {**self.records.arrays, **arrays}


@dataclass(frozen=True, kw_only=True)
class WordJointSpec(TaggedSchema, TaggedWordSpec[TaggedGold, WordDecoder]):
    """Features and search of words with tags, and no more.

    growing: settings of records of its own that a training from nothing begins with; None for none.
    """

    settings: WordJointTaggerSettings
    growing: dict[str, Any] | None = None

    @classmethod
    def of_corpus(
        cls, settings: WordJointTaggerSettings, examples: Iterable[TaggedGold], extra: Labels
    ) -> WordJointSpec:
        sentences = list(map(known_pairs, examples))
        tags = tuple(sorted(tags_of(sentences)))
        atoms = read_atoms(settings)
        passes = settings.epochs if settings.growing_records else 1
        records = TagRecords.collect(sentences, tags, atoms, passes=passes, **settings.records)
        return cls._of(settings, tags, records, atoms)

    @classmethod
    def of_file(cls, settings: WordJointTaggerSettings, stored: StoredSpec) -> WordJointSpec:
        tags = tuple(check_strings("labels", stored.labels))
        atoms = restored_atoms(settings, stored.entries, stored.arrays)
        known = contents_of(atoms)[1]
        of_records = {name: array for name, array in stored.arrays.items() if name not in known}
        return cls._of(settings, tags, TagRecords(len(tags), of_records), atoms)

    @classmethod
    def _of(
        cls,
        settings: WordJointTaggerSettings,
        tags: tuple[str, ...],
        records: TagRecords,
        atoms: CharacterAtoms,
    ) -> WordJointSpec:
        system = WordTransitions(
            atoms,
            len(tags),
            settings.by_words,
            settings.max_word_length,
            records,
            joins_runs=settings.typed_runs == "latin",
        )
        # A corpus of one tag has no choice of tags.
        templates = tuple(each for each in settings.parsed() if each.event in system.events)
        return cls(
            settings=settings,
            system=system,
            templates=templates,
            prune_training=settings.prune_training,
            merge_training=settings.merge_training,
            tags=tags,
            records=records,
            growing=settings.records if settings.growing_records else None,
        )

    def new_trainer(self, learner: Perceptron) -> AgendaTrainer:
        # Trained weights have seen a corpus whose words would be missing.
        is_new = learner.clock == 0 and learner.n_rows() == 0
        return self._trainer(learner, None if is_new else {})

    def new_correction_trainer(self, learner: Perceptron) -> AgendaTrainer:
        return self._trainer(learner, {})

    def training_state(self, trainer: AgendaTrainer) -> Arrays:
        system: Any = trainer.system
        return system.records.state() if isinstance(system.records, GrowingRecords) else {}

    def resumed_trainer(self, learner: Perceptron, state: Arrays) -> AgendaTrainer:
        if state and self.growing is None:
            raise ValueError("it has records that grow, which its settings do not ask for")
        return self._trainer(learner, state)

    def _trainer(self, learner: Perceptron, grown: Arrays | None) -> AgendaTrainer:
        """A trainer whose records have grown so far; None for not at all, empty if they do not."""
        if self.growing is None or grown == {}:
            return super().new_trainer(learner)
        records = GrowingRecords(self.tags, **self.growing, state=grown)
        system = self.system.copy(records=records)
        return replace(self, system=system, growing=None)._trainer(learner, {})

    def new_decoder(
        self,
        tables: list[TrainedRows],
        *,
        beam: int | None = None,
        margin: float | None = None,
        guide: WordGuide | None = None,
    ) -> WordDecoder:
        settings = self.settings
        margin = settings.beam_margin if beam is None else margin
        agenda = Agenda(self.new_scorer(tables), beam or settings.beam, settings.merge, margin)
        return WordDecoder(agenda, self.tags, guide)

    def compile(self, example: TaggedGold, learner: Perceptron) -> Derivation | None:
        if isinstance(example, PartialSentence):
            numbers = self.numbers_of(tag for _, _, tag in example.tags)
            tags = [
                (begin, end, number)
                for (begin, end, _), number in zip(example.tags, numbers, strict=True)
            ]
            return self.system.compile_partial(example.text, example.boundaries, tags, learner)
        words = [word for word, _ in example]
        return self.system.compile(words, self.numbers_of(tag for _, tag in example), learner)

    def unreachable_reason(self, example: TaggedGold) -> str | None:
        return None if isinstance(example, PartialSentence) else self.unreachable_reason_of(example)


class WordJointTagger(AdaptiveBeam, BaseJointTagger[WordDecoder]):
    """Segments text and tags its words by features of both (Zhang & Clark 2011, section 4).

    What is not proposed is known by the records of the training corpus (section 4.2,
    `tasks.joint.tag_records`); where they leave nothing at all, a sentence is decoded without them.
    With no limit of the beam, or `merge_training`, states are merged in training too. With
    `by_words` (section 4.3.1), whole words compete where they end: better at small widths, and many
    times slower. With `growing_records` an example is looked up once more, word by word and
    character by character, before it is decoded; to trained weights that are trained further
    records no longer grow. Mini-samples are counted in words, and cut between them.

    Gold sentences are lists of (word, tag) pairs. Records are those of the corpus that `fit` or
    `prepare` has seen, or, without it, of the first sentences that are compiled; models are
    averaged if they have the same.

    Examples
    --------
    >>> from spacy_structreg import WordJointTagger
    >>> gold = [
    ...     [("我", "PN"), ("在", "P"), ("北京", "NR")],
    ...     [("大学", "NN"), ("很", "AD"), ("大", "VA")],
    ... ]
    >>> WordJointTagger(epochs=5).fit(gold).predict_tagged("大学在北京")
    [('大学', 'NN'), ('在', 'P'), ('北京', 'NR')]
    """

    KIND = "word_joint_tagger"
    SPEC = WordJointSpec
    MUST_AGREE = ("templates", "types", "half_width", "script", "sentences", "labels")
    COUNTS: ClassVar = True
    SETTINGS = WordJointTaggerSettings
    settings: WordJointTaggerSettings

    @from_settings(WordJointTaggerSettings)
    def __init__(self, settings: WordJointTaggerSettings) -> None:
        super().__init__(settings.completed(settings.parsed()))

    @property
    def tags(self) -> tuple[str, ...]:
        return self.labels

    # Hooks of the base classes -------------------------------------------------------------------
