"""Word segmentation: a chain of labels of characters, or a search for words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.partial_sentence import PartialSentence
from spacy_structreg.features.segmentation import (
    CHARACTER_TABLES,
    CHARACTER_TYPES,
    SKIP_BIGRAM,
    TYPES_OF_TABLES,
    WORD_TABLES,
)
from spacy_structreg.features.state_templates import parse_state_templates
from spacy_structreg.features.template_compiler import compile_edges, compile_shapes
from spacy_structreg.features.templates import Template, parse_templates
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.learning_settings import AnyLearning, Learning
from spacy_structreg.learn.model_file import Arrays
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.learn.setting_fields import from_settings, setting
from spacy_structreg.models.beam_margin import AdaptiveBeam
from spacy_structreg.models.decoders import DecoderPool
from spacy_structreg.models.gold import GoldT, SegmentedGold, SegmentedSchema
from spacy_structreg.models.knowledge import (
    contents_of,
    frozen_atoms,
    read_atoms,
    restored_atoms,
    source_atoms,
    source_templates,
)
from spacy_structreg.models.model_spec import AgendaSpec, ChainSpec, Labels, StoredSpec
from spacy_structreg.models.protocols import DecoderT
from spacy_structreg.models.raw_text import RawTextPredictor, TextDecoderT, stream_texts
from spacy_structreg.models.settings import (
    CompleteTemplates,
    KnowledgeSettings,
    PerceptronSettings,
    TrainingSettings,
    WordSearchSettings,
    WordTextSettings,
    complete,
    joined,
)
from spacy_structreg.models.text_estimator import TextEstimator
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import new_learner
from spacy_structreg.tasks.chain import ChainDecoder, ChainFeatures, CompiledChain
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.segmentation.bmes import SCHEMES, JointScheme, SegmentationScheme
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms, CharacterDecoder
from spacy_structreg.tasks.segmentation.guide import ChainGuide
from spacy_structreg.tasks.segmentation.words import WordDecoder, WordGuide, WordTransitions

if TYPE_CHECKING:
    from typing_extensions import Self

    from spacy_structreg.learn.freezing import Bits
    from spacy_structreg.learn.perceptron import Perceptron
    from spacy_structreg.metrics.figures import Scores
    from spacy_structreg.training.agenda import AgendaTrainer
    from spacy_structreg.training.chain import ChainTrainer
    from spacy_structreg.training.log_linear import LogLinearTrainer

SchemeT = TypeVar("SchemeT", SegmentationScheme, JointScheme)


class SegmentPredictor(RawTextPredictor[TextDecoderT]):
    """Finds words, and nothing else."""

    def _score(
        self,
        gold: Sequence[SegmentedGold],
        decoders: DecoderPool[TextDecoderT],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> Scores:
        from spacy_structreg.metrics.segmentation import score_segmentation

        squeezed = list(map(SegmentedSchema.squeezed, gold))
        predicted = stream_texts(map(self._text_of, squeezed), decoders, self._segment, n_threads)
        return score_segmentation(squeezed, predicted, vocabulary)


class BaseSegmenter(SegmentPredictor[TextDecoderT], TextEstimator[SegmentedGold, TextDecoderT]):
    """A text estimator whose gold sentences are lists of words, or known in part."""

    NOUN = "segmenter"
    PRIMARY = "seg_f"


DEFAULT_LEARNING: Final = Learning(algorithm="pa_i", aggressiveness=0.1, mini_sample=5.0)
"""Default learning of one model, chosen on the development sets of three corpora."""

DEFAULT_LEARNING_OF_MANY: Final = Learning(mini_sample=5.0)
"""Default learning of models to be averaged. Passive-aggressive models are better
alone, but hardly differ, so that there is little to average."""


class CharacterSettings(KnowledgeSettings, TrainingSettings):
    """Settings of chains of characters."""

    DEFAULT_LEARNING: ClassVar[Learning] = DEFAULT_LEARNING

    templates: str | Sequence[str] = setting(
        "zhang2014",
        'The features: the name of a table, "zhang2014", "gao2010" or "sun2014", or templates of '
        'one\'s own, such as "c-1 | c0 | c1 | c-1c0", of the atoms c, a character, and type, its '
        'type. Behind "t-1t0", atoms go with each pair of neighboring labels: "t-1t0c0". Those of '
        "atoms of a knowledge source, such as lexb0, take the place of its own.",
        restore=CompleteTemplates.checked,
    )
    skip_bigram: bool = setting(False, "Add the two neighbors of a character as a feature.")
    scheme: Literal["bmes", "six"] = setting(
        "bmes",
        'Labels of characters: "bmes" (begin, middle, end, single), or "six", which tells the '
        "second and third character of long words apart.",
    )

    @property
    def chosen_learning(self) -> AnyLearning:
        """The learning that is set, or else the default for so many models."""
        if self.learning is None and self.n_models > 1:
            return DEFAULT_LEARNING_OF_MANY
        return super().chosen_learning

    def parsed(self) -> tuple[Template, ...]:
        """The templates. Raises ValueError for those that cannot be."""
        types = TYPES_OF_TABLES.get(str(self.templates), CHARACTER_TYPES)
        further = [types] if self.types else []
        further += [SKIP_BIGRAM] if self.skip_bigram else []
        names = joined(self.templates, *further, *source_templates(self, joined(self.templates)))
        known = [*self.plain_atoms.atoms, *source_atoms(self)]
        return parse_templates(names, known, CHARACTER_TABLES)

    def features(self, atoms: CharacterAtoms, n_labels: int) -> ChainFeatures:
        """The features of the templates, by what is read of characters."""
        templates = self.parsed()
        shapes, edges = compile_shapes(templates), compile_edges(templates)
        return ChainFeatures(shapes, atoms.atoms, n_labels, edge_shapes=edges)

    @property
    def plain_atoms(self) -> CharacterAtoms:
        """The atoms of characters without those of sources, in their own script."""
        return CharacterAtoms(self.types, self.half_width)


class CharacterSegmenterSettings(CharacterSettings):
    """Settings of a `CharacterSegmenter`."""

    epochs: int = 20


@dataclass(frozen=True)
class CharacterChainSpec(ChainSpec[GoldT, CharacterDecoder], Generic[GoldT, SchemeT]):
    """The labels of a scheme, and features of characters."""

    atoms: CharacterAtoms
    scheme: SchemeT
    features: ChainFeatures

    @property
    def labels(self) -> tuple[str, ...]:
        return self.scheme.labels

    def new_trainer(self, learner: Learner) -> ChainTrainer | LogLinearTrainer:
        from spacy_structreg.training.chain_trainers import new_chain_trainer

        return new_chain_trainer(self.features, self.scheme.graph, learner)

    def frozen(self, bits: Bits, prune: float) -> Self:
        return replace(self, atoms=frozen_atoms(self.atoms, bits, prune))

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        return contents_of(self.atoms)


class CharacterSpec(SegmentedSchema, CharacterChainSpec[SegmentedGold, SegmentationScheme]):
    """Labels and features of words without tags."""

    @classmethod
    def of_corpus(
        cls, settings: CharacterSegmenterSettings, examples: Iterable[SegmentedGold], extra: Labels
    ) -> CharacterSpec:
        return cls.of_atoms(settings, read_atoms(settings, lambda: map(cls.text, examples)))

    @classmethod
    def of_file(cls, settings: CharacterSegmenterSettings, stored: StoredSpec) -> CharacterSpec:
        return cls.of_atoms(settings, restored_atoms(settings, stored.entries, stored.arrays))

    @classmethod
    def of_atoms(cls, settings: CharacterSegmenterSettings, atoms: CharacterAtoms) -> CharacterSpec:
        """The spec by what is read of characters."""
        scheme = SCHEMES[settings.scheme]()
        return cls(atoms, scheme, settings.features(atoms, len(scheme.labels)))

    def new_decoder(self, tables: list[TrainedRows]) -> CharacterDecoder:
        decoder = ChainDecoder(self.features, self.scheme.graph, tables)
        return CharacterDecoder(self.atoms.copy(), decoder, self.scheme.begins)

    def new_guide(
        self, tables: list[TrainedRows], tags: Sequence[str] = (), **settings: Any
    ) -> ChainGuide:
        """A guide of word-based search (`tasks.segmentation.guide`), which also takes the settings.

        Raises ValueError if the labels are not BMES, or the words have tags.
        """
        if tags or self.labels != ("B", "E", "M", "S"):
            raise ValueError(
                "a guide of word-based segmentation needs the scheme 'bmes', and no tags"
            )
        labels = [[self.labels.index(label) for label in "BMES"]]
        return ChainGuide(self.new_decoder(tables), labels, **settings)

    def compile(self, example: SegmentedGold, learner: Learner) -> CompiledChain | None:
        if isinstance(example, PartialSentence):
            return self.atoms.compile_partial(
                example.text, example.boundaries, (), self.scheme, self.features, learner
            )
        return self.atoms.compile(example, self.scheme, self.features, learner)


class CharacterSegmenter(BaseSegmenter[CharacterDecoder]):
    """Segments text into words by labeling its characters (Zhang, Su & Zhou 2014, section 6.1).

    The notation of templates is that of `features.templates`, the schemes those of
    `tasks.segmentation.bmes`. Gold sentences are lists of words, or `PartialSentence`s.

    Examples
    --------
    >>> from spacy_structreg import CharacterSegmenter
    >>> gold = [["我", "在", "北京"], ["北京", "大学", "很", "大"]]
    >>> CharacterSegmenter(epochs=5).fit(gold).predict("我在大学")
    ['我', '在', '大学']
    """

    KIND = "character_segmenter"
    SPEC = CharacterSpec
    MUST_AGREE = ("templates", "labels", "types", "half_width", "script", "sentences")
    SETTINGS = CharacterSegmenterSettings
    settings: CharacterSegmenterSettings

    @from_settings(CharacterSegmenterSettings)
    def __init__(self, settings: CharacterSegmenterSettings) -> None:
        settings = replace(settings, templates=complete(settings.parsed()))
        # Sources and scripts are read when the model is trained.
        reads = settings.has_sources or settings.script is not None
        spec = None if reads else CharacterSpec.of_atoms(settings, settings.plain_atoms)
        super().__init__(settings, spec)

    def _character_scheme(self) -> SegmentationScheme:
        return SCHEMES[self.settings.scheme]()


DEFAULT_LEARNING_OF_WORDS: Final = Learning(mini_sample=5.0)
"""Whole words in pieces of five: chosen on the development set of UD Chinese GSD."""


class WordSegmenterSettings(WordTextSettings, WordSearchSettings, PerceptronSettings):
    """Settings of a `WordSegmenter`."""

    DEFAULT_LEARNING: ClassVar[Learning] = DEFAULT_LEARNING_OF_WORDS

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


@dataclass(frozen=True)
class WordSearchSpec(AgendaSpec[GoldT, DecoderT]):
    """Features of words under construction, and how they are searched for.

    prune_training: whether training proposes as little as prediction does. merge_training: whether
    it merges states even with a limit of the beam.
    """

    settings: WordSearchSettings
    system: WordTransitions
    prune_training: bool = True
    merge_training: bool = False

    def new_learner(self, learning: Learning) -> Perceptron:
        return new_learner(self.system, learning)

    def new_trainer(self, learner: Perceptron) -> AgendaTrainer:
        from spacy_structreg.training.agenda import AgendaTrainer

        system = self.system.copy(prune=self.prune_training)
        # Without a limit there would be as many states as analyses.
        beam, update = self.settings.beam, self.settings.update
        merge = beam is None or self.merge_training
        return AgendaTrainer(system, self.templates, learner, beam, update, merge=merge)

    def pieces(
        self, examples: Sequence[Any], mini_sample: float | None, seed: int
    ) -> NDArray[np.int64]:
        from spacy_structreg.training.pieces import cut_units

        return cut_units([example.units for example in examples], mini_sample, seed)

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        return contents_of(self.system.characters)


class WordSpec(SegmentedSchema, WordSearchSpec[SegmentedGold, WordDecoder]):
    """Features and search of words without tags."""

    settings: WordSegmenterSettings

    @classmethod
    def of_corpus(
        cls, settings: WordSegmenterSettings, examples: Iterable[SegmentedGold], extra: Labels
    ) -> WordSpec:
        return cls.of_atoms(settings, read_atoms(settings))

    @classmethod
    def of_file(cls, settings: WordSegmenterSettings, stored: StoredSpec) -> WordSpec:
        return cls.of_atoms(settings, restored_atoms(settings, stored.entries, stored.arrays))

    @classmethod
    def of_atoms(cls, settings: WordSegmenterSettings, atoms: CharacterAtoms) -> WordSpec:
        """The spec by what is read of characters."""
        system = WordTransitions(
            atoms,
            1,
            settings.by_words,
            settings.max_word_length,
            joins_runs=settings.typed_runs == "latin",
        )
        further = ["types"] * (settings.types is not None) + ["characters"] * settings.characters
        further += ["lexicon"] * bool(settings.lexicon)
        templates = parse_state_templates(
            joined(settings.templates, *further), system.events, system.atoms, WORD_TABLES
        )
        return cls(settings, system, templates)

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
        width, merge = beam or self.settings.beam, self.settings.merge
        if merge is None:
            merge = width is None or guide is not None
        margin = self.settings.beam_margin if beam is None else margin
        return WordDecoder(Agenda(self.new_scorer(tables), width, merge, margin), (), guide)

    def compile(self, example: SegmentedGold, learner: Perceptron) -> Derivation | None:
        if isinstance(example, PartialSentence):
            return self.system.compile_partial(example.text, example.boundaries, (), learner)
        return self.system.compile(example, None, learner)


class WordSegmenter(AdaptiveBeam, BaseSegmenter[WordDecoder]):
    """Segments text into words by features of whole words (Zhang & Clark 2011, section 3).

    Mini-samples are counted in words, and cut between them. Gold sentences are lists of words, or
    `PartialSentence`s.

    Examples
    --------
    >>> from spacy_structreg import WordSegmenter
    >>> gold = [["我", "在", "北京"], ["北京", "大学", "很", "大"]]
    >>> WordSegmenter(epochs=5).fit(gold).predict("我在大学")
    ['我', '在', '大学']
    """

    KIND = "word_segmenter"
    SPEC = WordSpec
    MUST_AGREE = ("templates", "types", "half_width", "script", "sentences")
    COUNTS: ClassVar = True
    SETTINGS = WordSegmenterSettings
    settings: WordSegmenterSettings

    @from_settings(WordSegmenterSettings)
    def __init__(self, settings: WordSegmenterSettings) -> None:
        plain = CharacterAtoms(settings.types, settings.half_width)
        features = WordSpec.of_atoms(settings, plain)
        # Word lists and scripts are read when the model is trained.
        reads = settings.lexicon or settings.script is not None
        spec = None if reads else features
        super().__init__(replace(settings, templates=complete(features.templates)), spec)
