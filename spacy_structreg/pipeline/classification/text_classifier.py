"""The component that classifies texts: ``structreg_textcat``.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_structreg.pipeline.component import N_THREADS, EstimatorPipe, component_factory
from spacy_structreg.pipeline.documents import AttributeReader, category_of


class StructregTextClassifier(EstimatorPipe):
    """Finds the one category of each Doc, and writes the probabilities of all to ``doc.cats``.

    vocab, model, name: as of `EstimatorPipe`; the model is from
        ``spacy_structreg.TextClassifier.v1``. That of a perceptron has no probabilities: the
        category found has 1, all others 0.
    n_threads: as of `EstimatorPipe`.
    scorer: see `classification_scorer`.

    The model learns the category of the reference that has 1, from the words of the predicted side;
    a reference without one is left out. Other categories in ``doc.cats`` stay as they are. Until
    the model is trained nothing is written.
    Raises ValueError for a model that is not ours, and in training for a reference of several
    categories, or with other values than 0 and 1.
    """

    TASK = "classification"
    FACTORY = "structreg_textcat"
    ARCHITECTURE = "spacy_structreg.TextClassifier.v1"
    SCORER = "spacy_structreg.classification_scorer.v1"

    def __init__(
        self,
        vocab: Vocab,
        model: Model[Any, Any],
        name: str = FACTORY,
        *,
        n_threads: int = N_THREADS,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        super().__init__(vocab, model, name, n_threads=n_threads, scorer=scorer)
        self._texts = AttributeReader()

    def _nothing(self, doc: Doc) -> dict[str, float]:
        return {}

    def _predict(self, docs: list[Doc]) -> list[dict[str, float]]:
        """The probability of each category, of each Doc."""
        texts = map(self._words, docs)
        if self.estimator.learning.gives_probabilities:
            return list(self.estimator.predict_marginals_stream(texts))
        return [
            {label: float(label == found) for label in self.labels}
            for found in self.estimator.predict_stream(texts)
        ]

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[dict[str, float]]) -> None:
        """Write the probabilities of categories. scores: from `predict`."""
        for doc, cats in zip(docs, scores, strict=True):
            doc.cats = {**doc.cats, **cats}

    def gold(self, example: Example) -> tuple[list[tuple[list[str], str]], int]:
        """The text and its category, if it has one, and how many texts have none."""
        category = category_of(example.reference)
        if category is None:
            return [], 1
        return [(self._words(example.predicted), category)], 0

    def unlabeled(self, doc: Doc) -> list[list[str]]:
        """The words of a Doc."""
        return [self._words(doc)]

    def _seen(self, example: Example) -> tuple[str, ...]:
        return tuple(self._words(example.predicted))

    def _left_out(self) -> str:
        return "have no category in doc.cats"

    def _words(self, doc: Doc) -> list[str]:
        return [word for word in self._texts.read(doc, "ORTH") if not word.isspace()]


create_text_classifier = component_factory(
    StructregTextClassifier,
    assigns=["doc.cats"],
    score_weights={
        **{"cats_acc": 1.0, "cats_score": None, "cats_score_desc": None},
        **dict.fromkeys(f"cats_micro_{end}" for end in "prf"),
        **{"cats_macro_p": None, "cats_macro_r": None, "cats_macro_f": 0.0},
        **{"cats_macro_auc": None, "cats_f_per_type": None},
    },
)
