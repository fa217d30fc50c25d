"""Word-based models with others as their guides: the best of both.

The models are trained apart, on the same sentences. To decode, the chain model of characters says
what it thinks of each label, and the word-based search adds that to its own scores, ranks by the
chain's best completion, and leaves out what the chain model holds for hopeless
(`tasks.segmentation.guide`). The weight of the chain's scores is tuned on development sentences.
The search for trees is guided by parsers, too (`models.joint.guided_joint_parser`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Generic, TypeVar

from spacy_structreg.features.template_compiler import compile_edges
from spacy_structreg.learn.setting_fields import Settings, from_settings, setting
from spacy_structreg.models.beam_margin import AdaptiveBeam
from spacy_structreg.models.decoders import DecoderPool
from spacy_structreg.models.gold import SegmentedSchema, TaggedSchema
from spacy_structreg.models.joint.joint_taggers import (
    CharacterJointTagger,
    JointPredictor,
    WordJointTagger,
)
from spacy_structreg.models.model_ensemble import (
    CharactersT,
    ModelEnsemble,
    PairSettings,
    WordsT,
    part,
)
from spacy_structreg.models.segmentation import CharacterSegmenter, SegmentPredictor, WordSegmenter
from spacy_structreg.models.settings import MAX_BEAM
from spacy_structreg.tasks.segmentation.guide import EDGES
from spacy_structreg.tasks.segmentation.words import WordDecoder

WordDecoderT = TypeVar("WordDecoderT", bound=WordDecoder)


class GuideSettings(Settings):
    """Settings of the search with a model of characters as its guide."""

    adds_scores: bool = setting(True, "Add the scores of characters to those of words.")
    looks_ahead: bool = setting(
        True, "Rank states by the best completion under the model of characters too."
    )
    window: float | None = setting(
        7.0,
        "Leave out labels whose best path lies further than this behind the best of all; null for "
        "no window.",
    )
    beam: int = setting(4, "How many states are kept in prediction.", minimum=1, maximum=MAX_BEAM)
    beam_margin: float | None = setting(
        20.0,
        "In prediction, drop states that rank further than this behind the best of those that "
        "they compete with; null for none. `fit --beam-loss` tunes it.",
    )


class GuidedSettings(GuideSettings, PairSettings):
    """Settings of models of words with one of characters as their guide."""


class Guided(
    AdaptiveBeam,
    ModelEnsemble[WordDecoderT, CharactersT, WordsT],
    Generic[CharactersT, WordsT, WordDecoderT],
):
    """A model of words with one of characters as its guide.

    Raises ValueError for a model of characters with rich edge features, and as the base class.
    """

    def __init__(self, settings: Any) -> None:
        super().__init__(settings)
        of_characters: Any = self._characters.settings
        if compile_edges(of_characters.parsed()):
            raise ValueError(EDGES)

    def _new_pool(self, weight: float) -> DecoderPool[WordDecoderT]:
        chain_tables = self._characters._decoders().tables
        chain: Any = self._characters._fitted_spec()
        words: Any = self.words._fitted_spec()
        further = self._further_guides()

        def new_decoder(tables: list[Any]) -> WordDecoderT:
            guide = chain.new_guide(
                chain_tables,
                words.labels,
                weight=weight,
                adds_scores=self.settings.adds_scores,
                looks_ahead=self.settings.looks_ahead,
                window=self.settings.window,
            )
            decoder: WordDecoderT = words.new_decoder(
                tables,
                beam=self.settings.beam,
                margin=self.settings.beam_margin,
                guide=guide,
                **further,
            )
            return decoder

        return DecoderPool(self.words._decoders().tables, new_decoder)

    def _change(self, gold: list[Any], sample: list[Any]) -> tuple[dict[int, str], int]:
        """Let the models correct sentences: that of words so that they survive in the beam here."""
        words: Any = self.words
        own, spec = words.settings, words._fitted_spec()
        searched = {"beam": self.settings.beam, "beam_margin": self.settings.beam_margin}
        words.settings = replace(own, **searched)
        if words._correcting is None:
            words._search_anew()
        else:
            words._spec = replace(spec, settings=words.settings)
        try:
            return super()._change(gold, sample)
        finally:
            # The spec may have been copied from a mapped file meanwhile.
            words.settings, words._spec = own, replace(words._fitted_spec(), settings=own)

    def _further_guides(self) -> dict[str, Any]:
        """Hook: what else decoders are made with."""
        return {}


class GuidedSegmenterSettings(GuidedSettings, kw_only=False):
    """Settings of a `GuidedSegmenter`."""

    characters: CharacterSegmenter | None = part(CharacterSegmenter, "characters")
    words: WordSegmenter | None = part(WordSegmenter, "words")


class GuidedSegmenter(
    SegmentPredictor[WordDecoder], Guided[CharacterSegmenter, WordSegmenter, WordDecoder]
):
    """Segments text by words, with a chain model of characters as the guide; see `Guided`.

    Examples
    --------
    >>> from spacy_structreg import GuidedSegmenter
    >>> gold = [["我", "在", "北京"], ["北京", "大学", "很", "大"]]
    >>> GuidedSegmenter().fit(gold).predict("我在大学")
    ['我', '在', '大学']
    """

    KIND = "guided_segmenter"
    NOUN = "segmenter"
    SPEC = SegmentedSchema
    PRIMARY = "seg_f"
    DEFAULT_WEIGHT = 0.5
    PARTS: ClassVar = {"characters": CharacterSegmenter, "words": WordSegmenter}

    SETTINGS = GuidedSegmenterSettings

    @from_settings(GuidedSegmenterSettings)
    def __init__(self, settings: GuidedSegmenterSettings) -> None:
        super().__init__(settings)


class GuidedJointTaggerSettings(GuidedSettings, kw_only=False):
    """Settings of a `GuidedJointTagger`."""

    characters: CharacterJointTagger | None = part(CharacterJointTagger, "characters")
    words: WordJointTagger | None = part(WordJointTagger, "words")


class GuidedJointTagger(
    JointPredictor[WordDecoder], Guided[CharacterJointTagger, WordJointTagger, WordDecoder]
):
    """Segments text and tags its words, with a chain of tagged labels as guide; see `Guided`.

    Examples
    --------
    >>> from spacy_structreg import GuidedJointTagger
    >>> gold = [
    ...     [("我", "PN"), ("在", "P"), ("北京", "NR")],
    ...     [("大学", "NN"), ("很", "AD"), ("大", "VA")],
    ... ]
    >>> GuidedJointTagger().fit(gold).predict_tagged("大学在北京")
    [('大学', 'NN'), ('在', 'P'), ('北京', 'NR')]
    """

    KIND = "guided_joint_tagger"
    NOUN = "tagger"
    SPEC = TaggedSchema
    PRIMARY = "joint_f"
    DEFAULT_WEIGHT = 1.0
    PARTS: ClassVar = {"characters": CharacterJointTagger, "words": WordJointTagger}

    SETTINGS = GuidedJointTaggerSettings

    @from_settings(GuidedJointTaggerSettings)
    def __init__(self, settings: GuidedJointTaggerSettings) -> None:
        super().__init__(settings)

    @property
    def tags(self) -> tuple[str, ...]:
        return self.words.labels
