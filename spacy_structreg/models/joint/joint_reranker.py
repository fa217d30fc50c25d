"""The analyses of a character-based joint tagger, ranked again with a word-based one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from spacy_structreg.learn.setting_fields import from_settings, setting
from spacy_structreg.models.decoders import DecoderPool
from spacy_structreg.models.gold import TaggedSchema
from spacy_structreg.models.joint.joint_taggers import (
    CharacterJointTagger,
    JointPredictor,
    WordJointTagger,
)
from spacy_structreg.models.model_ensemble import ModelEnsemble, PairSettings, part
from spacy_structreg.models.settings import MAX_BEAM
from spacy_structreg.tasks.joint.reranking import RerankingDecoder

if TYPE_CHECKING:
    from spacy_structreg.models.explained_texts import AnyScheme


class JointRerankerSettings(PairSettings, kw_only=False):
    """Settings of a `JointReranker`."""

    characters: CharacterJointTagger | None = part(CharacterJointTagger, "characters")
    words: WordJointTagger | None = part(WordJointTagger, "words")
    n_best: int = setting(
        20, "How many analyses of each sentence are ranked again.", minimum=1, maximum=MAX_BEAM
    )


class JointReranker(
    JointPredictor[RerankingDecoder],
    ModelEnsemble[RerankingDecoder, CharacterJointTagger, WordJointTagger],
):
    """Segments text and tags its words: the best of the n-best analyses of a chain of characters.

    After Zhang, Su & Zhou 2014 (Table 4, last row), who rescore with a word-based model and give
    neither n nor the combination of scores: here it is a sum, with one weight.

    Gold sentences are lists of (word, tag) pairs.

    Examples
    --------
    >>> from spacy_structreg import JointReranker
    >>> gold = [
    ...     [("我", "PN"), ("在", "P"), ("北京", "NR")],
    ...     [("大学", "NN"), ("很", "AD"), ("大", "VA")],
    ... ]
    >>> JointReranker().fit(gold).predict_tagged("大学在北京")
    [('大学', 'NN'), ('在', 'P'), ('北京', 'NR')]
    """

    KIND = "joint_reranker"
    NOUN = "tagger"
    SPEC = TaggedSchema
    PRIMARY = "joint_f"
    DEFAULT_WEIGHT = 1.0
    PARTS: ClassVar = {"characters": CharacterJointTagger, "words": WordJointTagger}
    SETTINGS = JointRerankerSettings
    settings: JointRerankerSettings

    @from_settings(JointRerankerSettings)
    def __init__(self, settings: JointRerankerSettings) -> None:
        super().__init__(settings)

    @property
    def tags(self) -> tuple[str, ...]:
        return self.words.labels

    def _character_scheme(self) -> AnyScheme | None:
        return self.characters._character_scheme()

    def _new_pool(self, weight: float) -> DecoderPool[RerankingDecoder]:
        chain_tables = self.characters._decoders().tables
        chain: Any = self.characters._fitted_spec()
        words: Any = self.words._fitted_spec()
        if chain.scheme.tags != words.tags:
            raise ValueError("the two models that rank analyses have different tags")

        def new_decoder(tables: list[Any]) -> RerankingDecoder:
            return RerankingDecoder(
                chain.new_decoder(chain_tables),
                words.new_scorer(tables),
                n_best=self.settings.n_best,
                weight=weight,
            )

        return DecoderPool(self.words._decoders().tables, new_decoder)
