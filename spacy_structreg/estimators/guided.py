"""Word-based models with a character-based one as their guide: the best of both.

Two models are trained apart, on the same sentences. To decode, the chain model of characters says
what it thinks of each label, and the word-based search adds that to its own scores, ranks by the
chain's best completion, and leaves out what the chain model holds for hopeless (`tasks.guide`).
The weight of the chain's scores is tuned on development sentences.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any, ClassVar

from spacy_structreg.estimators.character_joint_tagger import CharacterJointTagger
from spacy_structreg.estimators.character_segmenter import CharacterSegmenter
from spacy_structreg.estimators.decoders import DecoderPool
from spacy_structreg.estimators.gold import SEGMENTED, TAGGED, TaggedWords, Words
from spacy_structreg.estimators.paired import CharactersT, Paired, WordsT
from spacy_structreg.estimators.settings import MAX_BEAM, number, whole
from spacy_structreg.estimators.texts import SegmentReader, TagReader
from spacy_structreg.estimators.word_joint_tagger import WordJointTagger
from spacy_structreg.estimators.word_segmenter import WordSegmenter
from spacy_structreg.metrics.joint import JointScores
from spacy_structreg.metrics.segmentation import SegmentationScores
from spacy_structreg.tasks.words import WordDecoder


class Guided(Paired[WordDecoder, CharactersT, WordsT]):
    """A model of words with one of characters as its guide.

    characters, words: the two models. weight: of the scores of characters, ≥ 0; None to tune it on
        development sentences when `fit` gets some, `DEFAULT_WEIGHT` until then.
    adds_scores: add the scores of characters to those of words. looks_ahead: rank states by the
        best completion under the model of characters too. window: leave out labels whose best path
        lies further than this behind the best of all; None for no window.
    beam: how many states are kept in decoding, 1 to 10,000.
    """

    SETTINGS: ClassVar = {
        **Paired.SETTINGS,
        "adds_scores": (bool,),
        "looks_ahead": (bool,),
        "window": (float, type(None)),
        "beam": (int,),
    }

    def __init__(
        self,
        characters: CharactersT | None = None,
        words: WordsT | None = None,
        *,
        weight: float | None = None,
        adds_scores: bool = True,
        looks_ahead: bool = True,
        window: float | None = 10.0,
        beam: int = 4,
    ) -> None:
        super().__init__(characters, words, weight)
        self.adds_scores = adds_scores
        self.looks_ahead = looks_ahead
        self.window = None if window is None else number("window", window, 0.0)
        self.beam = whole("beam", beam, 1, MAX_BEAM)

    def _new_pool(self, weight: float) -> DecoderPool[WordDecoder]:
        chain_tables = self.characters._decoders().tables
        chain: Any = self.characters._known_structure()
        words: Any = self.words._known_structure()

        def new_decoder(tables: list[Any]) -> WordDecoder:
            guide = chain.new_guide(
                chain_tables,
                words.labels,
                weight=weight,
                adds_scores=self.adds_scores,
                looks_ahead=self.looks_ahead,
                window=self.window,
            )
            decoder: WordDecoder = words.new_decoder(tables, beam=self.beam, guide=guide)
            return decoder

        return DecoderPool(self.words._decoders().tables, new_decoder)

    def _settings(self) -> dict[str, Any]:
        return {
            **super()._settings(),
            "adds_scores": self.adds_scores,
            "looks_ahead": self.looks_ahead,
            "window": self.window,
            "beam": self.beam,
        }


class GuidedSegmenter(Guided[CharacterSegmenter, WordSegmenter], SegmentReader[WordDecoder]):
    """Segments text by words, with a chain model of characters as the guide; see `Guided`."""

    TASK = "guided_segmenter"
    NOUN = "segmenter"
    GOLD = SEGMENTED
    PRIMARY = "seg_f"
    DEFAULT_WEIGHT = 0.5
    CHARACTERS = CharacterSegmenter
    WORDS = WordSegmenter

    def _score(
        self,
        gold: list[Words],
        decoders: DecoderPool[WordDecoder],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> SegmentationScores:
        return self._segmentation_scores(gold, decoders, vocabulary, n_threads)


class GuidedJointTagger(Guided[CharacterJointTagger, WordJointTagger], TagReader[WordDecoder]):
    """Segments text and tags its words, with a chain of tagged labels as guide; see `Guided`."""

    TASK = "guided_joint_tagger"
    NOUN = "tagger"
    GOLD = TAGGED
    PRIMARY = "joint_f"
    DEFAULT_WEIGHT = 1.0
    CHARACTERS = CharacterJointTagger
    WORDS = WordJointTagger

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of words, sorted; none as long as they are to be learnt from data."""
        return self.words.labels

    def _score(
        self,
        gold: list[TaggedWords],
        decoders: DecoderPool[WordDecoder],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> JointScores:
        return self._joint_scores(gold, decoders, vocabulary, n_threads)
