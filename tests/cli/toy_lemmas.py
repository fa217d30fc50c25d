"""A task that is no part of the package: lemmas of given words, by the package's tagger of words.

With its entry points (`ENTRY_POINTS`) it is all that a task needs: the commands have never heard of
it. The column ``lemma`` of a column file is its gold annotation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.estimators.tagging import Tagger
from spacy_structreg.metrics.figures import Figure, FigureTable, Scores
from spacy_structreg.pipeline.component import EstimatorPipe, component_factory
from spacy_structreg.pipeline.shim import estimator_model
from spacy_structreg.pipeline.task import (
    ConfigParts,
    ConfigRequest,
    ConfigTemplate,
    DrawnTask,
    Pairs,
    Picture,
    ScoreSettings,
    Style,
    TaskPart,
)

ENTRY_POINTS = """\
[spacy_factories]
toy_lemmas = toy_lemmas:create_lemmas
[spacy_architectures]
toy.Lemmas.v1 = toy_lemmas:create_model
[spacy_scorers]
toy.lemma_scorer.v1 = toy_lemmas:make_scorer
[spacy_structreg_tasks]
lemmas = toy_lemmas:LEMMAS
"""

CONFIG = """\
# Writes token.lemma_.
[components.lemmas]
factory = "toy_lemmas"

[components.lemmas.scorer]
@scorers = "toy.lemma_scorer.v1"

"""


def create_model(templates: str = "latin", seed: int = 0) -> Model[Any, Any]:
    return estimator_model("lemmas", Tagger(templates=templates, seed=seed))


class ToyLemmas(EstimatorPipe):
    TASK = "lemmas"
    FACTORY = "toy_lemmas"
    ARCHITECTURE = "toy.Lemmas.v1"
    SCORER = "toy.lemma_scorer.v1"

    def _predict(self, docs: list[Doc]) -> list[list[str]]:
        return list(self.estimator.predict_batch([[token.text for token in doc] for doc in docs]))

    def _nothing(self, doc: Doc) -> list[str]:
        return [""] * len(doc)

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[Sequence[str]]) -> None:
        for doc, lemmas in zip(docs, scores, strict=True):
            for token, lemma in zip(doc, lemmas, strict=True):
                token.lemma_ = lemma

    def gold(self, example: Example) -> tuple[list[list[tuple[str, str]]], int]:
        pairs = [(token.text, token.lemma_) for token in example.reference]
        return ([pairs], 0) if all(lemma for _, lemma in pairs) else ([], 1)

    def _left_out(self) -> str:
        return "have words without a lemma"


create_lemmas = component_factory(
    ToyLemmas, assigns=["token.lemma"], score_weights={"lemma_right": 1.0}
)


def parts(request: ConfigRequest) -> ConfigParts:
    return ConfigParts(
        title="a toy that finds lemmas",
        noun="toy",
        pipeline=["lemmas"],
        components=CONFIG,
        model='[components.lemmas.model]\n@architectures = "toy.Lemmas.v1"\nseed = 3',
        about_gold="# The toy is given the gold words.",
        gold=["words"],
        dev_gold=["words"],
        scores={"lemma_right": 1.0},
        about_scores="the share of right lemmas",
    )


class Lemmas(DrawnTask):
    stem = "lemmas"
    order = 20
    predicts = "lemmas"
    verb = "lemmatizes"
    on_text = False
    columns = ("lemma",)
    attributes = ("LEMMA",)
    styles: ClassVar = {"lemmas": Style("words and their lemmas")}
    templates = (
        ConfigTemplate(
            "lemmatize",
            "a pipe that finds lemmas",
            parts,
            gold="lemmas",
        ),
    )

    def has_gold(self, doc: Doc) -> bool:
        return bool(doc.has_annotation("LEMMA"))

    def read_gold(self, doc: Doc, spans_key: str | None) -> dict[str, Any]:
        return {"extra": {"lemma": [token.lemma_ for token in doc if not token.is_space]}}

    def write_gold(self, doc: Doc, sentence: Sentence) -> None:
        for token, lemma in zip(doc, (sentence.extra or {}).get("lemma", ()), strict=False):
            token.lemma_ = lemma

    def score(self, pairs: Pairs, part: TaskPart, settings: ScoreSettings) -> Scores:
        return scores_of(pairs)

    def draw(
        self, doc: Doc, style: str, lengths: Sequence[int] | None, part: TaskPart | None, **how: Any
    ) -> list[Picture]:
        lemmas = " ".join(token.lemma_ for token in doc)
        return [(len(doc), f'<svg xmlns="http://www.w3.org/2000/svg"><text>{lemmas}</text></svg>')]


FIGURES = FigureTable(
    (Figure("lemma_right", "right", "words", "share of words with the right lemma"),),
    main=("lemma_right",),
)


def scores_of(pairs: Pairs) -> Scores:
    words = [pair for docs in pairs for pair in zip(*docs, strict=True)]
    right = sum(gold.lemma_ == found.lemma_ for gold, found in words)
    return Scores(FIGURES, {"words": len(words), "right": right})


def make_scorer() -> Callable[..., dict[str, Any]]:
    return score


def score(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    return scores_of([(each.reference, each.predicted) for each in examples]).as_dict()


LEMMAS = Lemmas()
