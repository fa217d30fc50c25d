"""The component that parses dependencies: ``structreg_parser``.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_structreg.corpora.corpus_options import Sentences
from spacy_structreg.corpora.dependencies import ROOT, Parse
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.pipeline.component import (
    N_THREADS,
    check_setting,
    component_factory,
)
from spacy_structreg.pipeline.documents import dependency_sentences
from spacy_structreg.pipeline.tree_pipe import (
    ROOT_LABEL,
    SPACE_LABEL,
    Attribute,
    TreePipe,
    write_heads,
)


class StructregParser(TreePipe):
    """Sets heads, labels and the starts of sentences, from words and their tags.

    vocab, model, name: as of `EstimatorPipe`; the model is from
        ``spacy_structreg.DependencyParser.v1``.
    attribute, sentences, n_threads: as of `TreePipe`.
    overwrite: parse all anew. If not, heads and labels that are there stay, and the others are
        found to fit them; ValueError if no projective tree with one root has them. ``"labels"``
        lets heads stay, such as those of a constituency parser, and finds all labels anew.
    alternatives: how many of the best analyses are kept on the Doc; 0 for none. Heads that stay
        play no part in them.
    confidence: keep margins on the Doc, and probabilities once the pipeline is calibrated.
    extension_prefix: what the name of the attribute ``structreg`` of Docs begins with.
    scorer: see `parsing_scorer`.

    A sentence starts at the leftmost word of its tree. The model learns from the trees of the
    reference, sentence by sentence, with the tags of the predicted side, as it will see them; a
    sentence is left out if it has other words there. White space hangs on the token before it,
    with the label ``dep``. Until the model is trained nothing is written.
    Raises ValueError for other settings, or a model that is not ours.
    """

    TASK = "dependencies"
    MARGINS = ("heads",)
    ALTERNATIVES = "heads"
    FACTORY = "structreg_parser"
    ARCHITECTURE = "spacy_structreg.DependencyParser.v1"
    SCORER = "spacy_structreg.parsing_scorer.v1"

    def __init__(
        self,
        vocab: Vocab,
        model: Model[Any, Any],
        name: str = FACTORY,
        *,
        attribute: Attribute = "tag",
        sentences: Sentences = "doc",
        overwrite: bool | Literal["labels"] = True,
        n_threads: int = N_THREADS,
        alternatives: int = 0,
        confidence: bool = False,
        extension_prefix: str = "",
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        check_setting(name, "overwrite", overwrite, (True, False, "labels"))
        super().__init__(
            vocab,
            model,
            name,
            attribute=attribute,
            sentences=sentences,
            overwrite=overwrite,
            n_threads=n_threads,
            scorer=scorer,
        )
        self.keep_analyses(
            alternatives=alternatives, confidence=confidence, extension_prefix=extension_prefix
        )

    # Prediction ----------------------------------------------------------------------------------

    def _predict(self, docs: list[Doc]) -> list[Parse]:
        """The trees of each Doc, as one.

        Heads are indices of tokens of the Doc, `ROOT` for a root.
        """
        spans = [list(self._spans(doc)) for doc in docs]
        parts = [(doc, *span) for doc, of_doc in zip(docs, spans, strict=True) for span in of_doc]
        found = self.estimator.predict_stream(
            [
                (words[start:end], tags[start:end])
                for (words, tags), of_doc in zip(
                    map(self._words_and_tags, docs), spans, strict=True
                )
                for start, end in of_doc
            ],
            given=None if self.overwrite is True else (self._given(*part) for part in parts),
        )
        trees: list[Parse] = []
        for of_doc in spans:
            heads: list[int] = []
            labels: list[str] = []
            for start, _ in of_doc:
                tree = next(found)
                heads += (ROOT if head == ROOT else start + head for head in tree.heads)
                labels += tree.labels
            trees.append(Parse(tuple(heads), tuple(labels)))
        return trees

    def _sentences_of(self, doc: Doc) -> Iterable[tuple[Any, ...]]:
        words, tags = self._words_and_tags(doc)
        return ((words[start:end], tags[start:end]) for start, end in self._spans(doc))

    def _keep_analyses(self, doc: Doc, predicted: Parse) -> None:
        parts = []
        for (start, end), sentence in zip(self._spans(doc), self._sentences_of(doc), strict=True):
            found = self.estimator.nbest(*sentence, self.n_asked)
            heads = predicted.heads[start:end]
            decided = [i if head == ROOT else head for i, head in enumerate(heads, start)]
            parts.append((start, end, [_placed(start, *each) for each in found], decided))
        self._keep_parts(doc, "heads", parts, lambda item: item[0])

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[Parse | None]) -> None:
        """Write the trees of each Doc. scores: from `predict`.

        A root that the model has no name for is called ``ROOT``, as spaCy's are.
        """
        from spacy_structreg.estimators.dependencies.dependency_parser import UNLABELED

        unnamed = ("",) if self.estimator.labeled else ("", UNLABELED)
        for doc, trees in zip(docs, scores, strict=True):
            if trees is None or not len(doc):
                continue
            labels = [
                ROOT_LABEL if head == ROOT and label in unnamed else label or SPACE_LABEL
                for head, label in zip(trees.heads, trees.labels, strict=True)
            ]
            write_heads(doc, trees.heads, labels)

    def _held(self, doc: Doc) -> Iterator[tuple[int, int]]:
        for token in doc:
            if token.has_head():
                yield min(token.i, token.head.i), max(token.i, token.head.i)

    def _given(self, doc: Doc, start: int, end: int) -> tuple[list[int | None], list[str | None]]:
        """The heads and labels of the tokens from `start` to `end` that stay; None for others."""
        heads: list[int | None] = []
        labels: list[str | None] = []
        for token in doc[start:end]:
            head = token.head.i if token.has_head() else -1
            known = start <= head < end
            heads.append((ROOT if head == token.i else head - start) if known else None)
            labels.append(token.dep_ if known and not self.overwrite else None)
        return heads, labels

    # Training ------------------------------------------------------------------------------------

    def _gold_sentences(
        self, doc: Doc, tags: Sequence[str]
    ) -> Iterator[tuple[int, Sentence | None]]:
        for sentence in dependency_sentences(doc, tags=tags):
            has_any = any(head is not None for head in sentence.heads)
            yield len(sentence.words), sentence if has_any else None

    def _left_out(self) -> str:
        return "have no heads, or not the words that are predicted,"


def _placed(start: int, score: float, tree: Parse) -> tuple[float, list[tuple[int, str]]]:
    """A tree as (head, label) pairs, heads as places in the Doc; a root is its own head."""
    heads = (i if head == ROOT else start + head for i, head in enumerate(tree.heads, start))
    return score, list(zip(heads, tree.labels, strict=True))


create_parser = component_factory(
    StructregParser,
    assigns=["token.head", "token.dep", "token.is_sent_start", "doc.sents"],
    # One of them has a value: dep_las on gold words, las_f on words of the pipeline's own.
    score_weights={
        **{"dep_las": 1.0, "las_f": 1.0, "dep_uas": 0.0, "uas_f": 0.0},
        "dep_las_per_type": None,
    },
)
