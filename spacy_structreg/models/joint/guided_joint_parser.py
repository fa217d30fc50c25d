"""A joint parser with taggers and parsers as its guides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any, ClassVar, Final

from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.sentence import Sentence, single_trees
from spacy_structreg.learn.setting_fields import Settings, check_float, from_settings, setting
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.models.guided import Guided, GuidedJointTagger, GuideSettings
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger
from spacy_structreg.models.joint.parsed_analyses import (
    AnalysisParser,
    AnalysisWeights,
    ArcGuide,
    fitted_weights,
)
from spacy_structreg.models.joint.word_joint_parser import (
    ParsedSchema,
    ParsingPredictor,
    WordJointParser,
)
from spacy_structreg.models.model_ensemble import best_of, part, weight_setting
from spacy_structreg.models.settings import MAX_BEAM
from spacy_structreg.models.stored_model import StoredModel
from spacy_structreg.models.tagging import Tagger, with_found_tags
from spacy_structreg.tasks.joint.word_trees import WordTreeDecoder

PARSERS: Final = ("parser", "backward")
"""The parts of a joint parser that are parsers of given words."""


class ParsingPartsSettings(Settings):
    """Settings of a joint parser, and of the taggers and the parsers that guide it."""

    tagger: StoredModel | None
    retagger: StoredModel | None
    parser: StoredModel | None
    backward: StoredModel | None
    words: StoredModel | None
    weight: float | None = weight_setting()
    n_best: int = setting(
        6,
        "How many analyses of a sentence by the joint tagger are parsed, no more than its beam "
        "has, and, of their words, as many again with tags by `retagger`.",
        minimum=1,
        maximum=MAX_BEAM,
    )
    arc_weight: float | None = setting(
        None,
        "Score of an arc, and again of its label, that all of these trees have; null to tune it on "
        "development sentences.",
    )


class GuidedJointParserSettings(GuideSettings, ParsingPartsSettings, kw_only=False):
    """Settings of a `GuidedJointParser`."""

    tagger: GuidedJointTagger | None = part(GuidedJointTagger, "words with tags")
    retagger: Tagger | None = part(Tagger, "tags of given words")
    parser: DependencyParser | None = part(DependencyParser, "trees over given words")
    backward: DependencyParser | None = part(
        DependencyParser, "trees, read from the last word to the first (backward = true)"
    )
    words: WordJointParser | None = part(WordJointParser, "words, tags and trees")
    beam: int = setting(16, "How many states are kept in prediction.", minimum=1, maximum=MAX_BEAM)
    beam_margin: float | None = setting(
        None,
        "In prediction, drop states that rank further than this behind the best of those that "
        "they compete with; null for none. `fit --beam-loss` tunes it.",
    )

    def _check(self) -> None:
        super()._check()
        if self.arc_weight is not None:
            check_float("arc_weight", self.arc_weight, 0.0)
        for name in PARSERS:
            parser, wanted = getattr(self, name), name == "backward"
            if parser is not None and parser.settings.backward != wanted:
                raise ValueError(f"set backward = {str(wanted).lower()} in the settings of {name}")
        if self.tagger is not None and self.n_best > self.tagger.settings.beam:
            raise ValueError(
                f"n_best is {self.n_best}, more than the {self.tagger.settings.beam} analyses that "
                "the beam of the tagger keeps; set a wider beam of it, or a smaller n_best"
            )


ARC_WEIGHTS: Final = (10.0, 20.0, 40.0, 80.0)
"""The scores of arcs that are tried on development sentences."""

WEIGHTS_OF_ANALYSES: Final = tuple(f"{name}_weight" for name in AnalysisWeights._fields)
"""The weights of the model of analyses, by the names of attributes and entries of files."""

GUIDE_EPOCHS: Final = 20
"""For how many epochs the guides of a joint parser are trained at least; they are fast."""


class GuidedJointParser(
    ParsingPredictor, Guided[CharacterJointTagger, WordJointParser, WordTreeDecoder]
):
    """Finds words, tags and trees in one search, which two taggers and two parsers guide.

    The joint tagger's model of characters guides the search for words and tags, see `Guided`. Its
    best analyses, and their words with tags by `retagger`, are parsed forward and backward. An arc
    has a score by how probable the trees are that have it (`models.joint.parsed_analyses`). All
    models are trained apart, the parsers on tags that taggers of other parts of the corpus have
    found; `fit` then chooses, on development sentences, the weights of the model of analyses, of
    characters and of arcs.

    `epochs` is that of the model of words; the guides have at least `GUIDE_EPOCHS`.

    Examples
    --------
    >>> from spacy_structreg import GuidedJointParser
    >>> from spacy_structreg.corpora.sentence import Sentence
    >>> gold = Sentence(
    ...     ("我", "爱", "北京"),
    ...     ("PN", "VV", "NR"),
    ...     heads=(1, -1, 1),
    ...     labels=("nsubj", "root", "obj"),
    ... )
    >>> parser = GuidedJointParser().fit([gold] * 3)
    >>> tree = parser.predict_trees("我爱北京")
    >>> tree.words, tree.tags, tree.heads
    (('我', '爱', '北京'), ('PN', 'VV', 'NR'), (1, -1, 1))
    """

    KIND = "guided_joint_parser"
    NOUN = "joint parser"
    SPEC = ParsedSchema
    PRIMARY = "las_f"
    # Trees are hardly better or worse by it, but words are.
    TUNED_FOR = "tag_f"
    # Of 500 sentences, figures go up and down by more.
    TOLERANCE = 0.002
    DEFAULT_WEIGHT = 8.0
    DEFAULT_ARC_WEIGHT = 40.0
    PARTS: ClassVar = {
        "tagger": GuidedJointTagger,
        "retagger": Tagger,
        "parser": DependencyParser,
        "backward": DependencyParser,
        "words": WordJointParser,
    }

    SETTINGS = GuidedJointParserSettings
    settings: GuidedJointParserSettings
    tagger: GuidedJointTagger
    retagger: Tagger
    parser: DependencyParser
    backward: DependencyParser
    tagger_weight: float
    parser_weight: float
    backward_weight: float
    n_words_weight: float

    @from_settings(GuidedJointParserSettings)
    def __init__(self, settings: GuidedJointParserSettings) -> None:
        super().__init__(settings)
        self.many_roots = self.words.settings.many_roots
        self.tuned_arc_weight = self.DEFAULT_ARC_WEIGHT
        if settings.arc_weight is not None:
            self.tuned_arc_weight = settings.arc_weight
        self.analysis_weights = AnalysisWeights()
        # Those of development sentences, while weights are tuned.
        self._remembered: AnalysisParser | None = None

    @property
    def tags(self) -> tuple[str, ...]:
        return self.words.tags

    @property
    def epochs(self) -> int:
        """Passes over the training corpus, of the model of words."""
        return self.words.epochs

    @epochs.setter
    def epochs(self, epochs: int) -> None:
        self.words.epochs = epochs
        for name, guide in self.parts.items():
            if name != "words":
                guide.epochs = max(epochs, GUIDE_EPOCHS)

    @property
    def analysis_weights(self) -> AnalysisWeights:
        """The weights of the model that says how probable an analysis is."""
        return AnalysisWeights(*(getattr(self, name) for name in WEIGHTS_OF_ANALYSES))

    @analysis_weights.setter
    def analysis_weights(self, weights: AnalysisWeights) -> None:
        for name, weight in zip(WEIGHTS_OF_ANALYSES, weights, strict=True):
            setattr(self, name, weight)

    def tune(self, dev: Iterable[Sentence], *, n_threads: int = 1) -> float:
        """Choose the weights of the model of analyses, of characters, then of arcs.

        Characters are weighed by the F of words with tags, arcs by that of labeled heads. Returns
        the weight of characters. The middle one of equally good ones is taken; what settings fix
        stays.
        """
        held_out = self.SPEC.check_corpus(dev, "development")
        remembered = self._analysis_parser(remember=True)
        self._remembered = remembered
        try:
            squeezed = [ParsedSchema.squeezed(sentence) for sentence in held_out]
            whole = [each for each in squeezed if each.heads.count(ROOT) == 1]
            self.analysis_weights = fitted_weights(remembered, whole, n_threads=n_threads)
            weight = super().tune(held_out, n_threads=n_threads)
            if self.settings.arc_weight is None:

                def figure(arc_weight: float) -> float:
                    self.tuned_arc_weight = arc_weight
                    scores = self._score(held_out, self._new_pool(weight), None, n_threads)
                    return scores.as_dict()[self.PRIMARY] or 0.0

                self.tuned_arc_weight = best_of(ARC_WEIGHTS, figure, self.TOLERANCE)
        finally:
            self._remembered = None
        return weight

    # Hooks of the base classes -------------------------------------------------------------------

    @property
    def _characters(self) -> CharacterJointTagger:
        return self.tagger.characters

    def _default(self, name: str) -> Any:
        if name == "tagger":
            # Its analyses are taken as they are: a beam of four has too few.
            tagger = GuidedJointTagger(beam=8, beam_margin=None)
            tagger.epochs = GUIDE_EPOCHS
            return tagger
        if name in PARSERS:
            return DependencyParser(epochs=GUIDE_EPOCHS, backward=name == "backward")
        return super()._default(name)

    def _examples_for(self, name: str, gold: Sequence[Any]) -> list[Any]:
        if name in ("tagger", "retagger"):
            return [
                list(zip(each.words, each.tags, strict=True)) for each in gold if all(each.tags)
            ]
        if name in PARSERS:
            return [tree for sentence in gold for tree in single_trees(sentence)]
        return list(gold)

    def _corpora(
        self, gold: list[Any], dev: list[Any] | None, n_threads: int
    ) -> dict[str, tuple[list[Any], list[Any] | None]]:
        corpora = super()._corpora(gold, dev, n_threads)
        # Parsers meet tags of which some are wrong, and learn from such.
        found = with_found_tags(
            *corpora["parser"], settings=self.retagger.settings, n_threads=n_threads
        )
        return {**corpora, **dict.fromkeys(PARSERS, found)}

    def _analysis_parser(self, *, remember: bool = False) -> AnalysisParser:
        parsers = [self.parts[name] for name in PARSERS]
        return AnalysisParser(
            self.tagger, self.retagger, parsers, self.settings.n_best, remember=remember
        )

    def _further_guides(self) -> dict[str, Any]:
        guide = ArcGuide(
            self._remembered or self._analysis_parser(),
            self.analysis_weights,
            self.words.arc_labels,
            self.tuned_arc_weight,
            by_sentence=self.many_roots,
        )
        return {"arc_guide": guide}

    def _tuned(self) -> dict[str, float]:
        names = ("tuned_arc_weight", *WEIGHTS_OF_ANALYSES)
        return {**super()._tuned(), **{name: getattr(self, name) for name in names}}

    def _checked_weight(self, name: str, value: float) -> float:
        if name in WEIGHTS_OF_ANALYSES:
            return check_float(name, value, -inf)
        return super()._checked_weight(name, value)
