"""The analyses of a character-based joint tagger, ranked again with a word-based one."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any, ClassVar

from spacy_structreg.estimators.character_joint_tagger import CharacterJointTagger
from spacy_structreg.estimators.decoders import DecoderPool
from spacy_structreg.estimators.gold import TAGGED, TaggedWords
from spacy_structreg.estimators.paired import Paired
from spacy_structreg.estimators.settings import MAX_BEAM, whole
from spacy_structreg.estimators.texts import TagReader
from spacy_structreg.estimators.word_joint_tagger import WordJointTagger
from spacy_structreg.metrics.joint import JointScores
from spacy_structreg.tasks.reranking import RerankingDecoder


class JointReranker(
    Paired[RerankingDecoder, CharacterJointTagger, WordJointTagger], TagReader[RerankingDecoder]
):
    """Segments text and tags its words: the best of the n-best analyses of a chain of characters.

    After Zhang, Su & Zhou 2014 (Table 4, last row), who rescore with a word-based model and give
    neither n nor the combination of scores: here it is a sum, with one weight.

    characters, words: the two models; None for those of the default settings. weight: of the scores
        of characters, to which those of words are added, ≥ 0; None to tune it on development
        sentences when `fit` gets some, `DEFAULT_WEIGHT` until then.
    n_best: how many analyses of each sentence are ranked again, 1 to 10,000.

    Gold sentences are lists of (word, tag) pairs. Raises ValueError for settings that do not exist
    or contradict each other.
    """

    TASK = "joint_reranker"
    NOUN = "tagger"
    GOLD = TAGGED
    PRIMARY = "joint_f"
    DEFAULT_WEIGHT = 1.0
    CHARACTERS = CharacterJointTagger
    WORDS = WordJointTagger
    SETTINGS: ClassVar = {**Paired.SETTINGS, "n_best": (int,)}

    def __init__(
        self,
        characters: CharacterJointTagger | None = None,
        words: WordJointTagger | None = None,
        *,
        weight: float | None = None,
        n_best: int = 20,
    ) -> None:
        super().__init__(characters, words, weight)
        self.n_best = whole("n_best", n_best, 1, MAX_BEAM)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of words, sorted; none as long as they are to be learnt from data."""
        return self.words.labels

    def _new_pool(self, weight: float) -> DecoderPool[RerankingDecoder]:
        chain_tables = self.characters._decoders().tables
        chain: Any = self.characters._known_structure()
        words: Any = self.words._known_structure()
        if chain.scheme.tags != words.tags:
            raise ValueError("the two models that rank analyses have different tags")

        def new_decoder(tables: list[Any]) -> RerankingDecoder:
            return RerankingDecoder(
                chain.new_decoder(chain_tables),
                words.new_scorer(tables),
                n_best=self.n_best,
                weight=weight,
            )

        return DecoderPool(self.words._decoders().tables, new_decoder)

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "n_best": self.n_best}

    def _score(
        self,
        gold: list[TaggedWords],
        decoders: DecoderPool[RerankingDecoder],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> JointScores:
        return self._joint_scores(gold, decoders, vocabulary, n_threads)
