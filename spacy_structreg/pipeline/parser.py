"""The component that parses dependencies: ``structreg_parser``.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_structreg.corpora.dependencies import ROOT, DependencySentence, Parse
from spacy_structreg.corpora.sentences import split_words
from spacy_structreg.pipeline.component import EstimatorPipe, logger, sentence_bounds
from spacy_structreg.pipeline.documents import dependency_sentences

FACTORY: Final = "structreg_parser"
ARCHITECTURE: Final = "spacy_structreg.DependencyParser.v1"

Attribute: TypeAlias = Literal["tag", "pos"]
Sentences: TypeAlias = Literal["doc", "punctuation"]

# The labels of white space: of what hangs on the word before it, and where there are no words.
_SPACE_LABEL: Final = "dep"
_ROOT_LABEL: Final = "ROOT"


@Language.factory(
    FACTORY,
    assigns=["token.head", "token.dep", "token.is_sent_start", "doc.sents"],
    default_config={
        "model": {"@architectures": ARCHITECTURE},
        "attribute": "tag",
        "sentences": "doc",
        "overwrite": True,
        "scorer": {"@scorers": "spacy_structreg.parsing_scorer.v1"},
    },
    # One of them has a value: dep_las on gold words, las_f on words of the pipeline's own.
    default_score_weights={
        "dep_las": 1.0,
        "las_f": 1.0,
        "dep_uas": 0.0,
        "uas_f": 0.0,
        "dep_las_per_type": None,
    },
)
def create_parser(
    nlp: Language,
    name: str,
    *,
    model: Model[Any, Any],
    attribute: Attribute,
    sentences: Sentences,
    overwrite: bool,
    scorer: Callable[..., dict[str, Any]] | None,
) -> StructregParser:
    """Make the component ``structreg_parser``; the settings are those of `StructregParser`."""
    return StructregParser(
        nlp.vocab,
        model,
        name,
        attribute=attribute,
        sentences=sentences,
        overwrite=overwrite,
        scorer=scorer,
    )


class StructregParser(EstimatorPipe):
    """Sets heads, labels and the starts of sentences, from words and their tags.

    vocab, model, name: as of `EstimatorPipe`; the model is from
        ``spacy_structreg.DependencyParser.v1``.
    attribute: which tags of words are looked at: ``"tag"``, the fine-grained ones, or ``"pos"``.
    sentences: what gets one tree each: ``"doc"``, the sentences that the Doc knows of, or all of
        it if it knows of none; ``"punctuation"``, these cut by `corpora.sentences.split_words`.
    overwrite: parse all anew. If not, heads and labels that are there stay, and the others are
        found to fit them; ValueError if no projective tree with one root has them.
    scorer: see `parsing_scorer`.

    A sentence starts at the leftmost word of its tree. The model learns from the trees of the
    reference, sentence by sentence, with the tags of the predicted side, as it will see them; a
    sentence is left out if it has other words there. White space hangs on the token before it,
    with the label ``dep``. Until the model is trained nothing is written.
    Raises ValueError for other settings, or a model that is not ours.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[Any, Any],
        name: str = FACTORY,
        *,
        attribute: Attribute = "tag",
        sentences: Sentences = "doc",
        overwrite: bool = True,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        if attribute not in ("tag", "pos"):
            raise ValueError(
                f"attribute of the pipe {name!r} is {attribute!r}; choose 'tag' or 'pos'"
            )
        if sentences not in ("doc", "punctuation"):
            raise ValueError(
                f"sentences of the pipe {name!r} is {sentences!r}; choose 'doc' or 'punctuation'"
            )
        super().__init__(vocab, model, name, architecture=ARCHITECTURE, scorer=scorer, cfg={})
        self.attribute: Attribute = attribute
        self.sentences: Sentences = sentences
        self.overwrite = overwrite

    # Prediction ----------------------------------------------------------------------------------

    def predict(self, docs: Iterable[Doc]) -> list[Parse | None]:
        """The trees of each Doc, as one; None for all if the model is untrained.

        Heads are indices of tokens of the Doc, `ROOT` for a root.
        """
        docs = list(docs)
        if not self.estimator.is_trained:
            return [None] * len(docs)
        spans = [list(self._spans(doc)) for doc in docs]
        parts = [(doc, *span) for doc, of_doc in zip(docs, spans, strict=True) for span in of_doc]
        found = self.estimator.predict_stream(
            (self._sentence(*part) for part in parts),
            given=None if self.overwrite else (_given(*part) for part in parts),
        )
        trees: list[Parse | None] = []
        for of_doc in spans:
            heads: list[int] = []
            labels: list[str] = []
            for start, _ in of_doc:
                tree = next(found)
                heads += (ROOT if head == ROOT else start + head for head in tree.heads)
                labels += tree.labels
            trees.append(Parse(tuple(heads), tuple(labels)))
        return trees

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[Parse | None]) -> None:
        """Write the trees of each Doc. scores: from `predict`.

        A root that the model has no name for is called ``ROOT``, as spaCy's are.
        """
        from spacy_structreg.estimators.dependency_parser import UNLABELLED

        unnamed = ("",) if self.estimator.labelled else ("", UNLABELLED)
        for doc, trees in zip(docs, scores, strict=True):
            if trees is None or not len(doc):
                continue
            add = doc.vocab.strings.add
            array: Any = np.zeros((len(doc), 2), dtype=np.uint64)
            for i, (head, label) in enumerate(zip(trees.heads, trees.labels, strict=True)):
                is_root = head == ROOT
                # Relative to the token, in two's complement.
                array[i, 0] = 0 if is_root else (head - i) % (1 << 64)
                name = _ROOT_LABEL if is_root and label in unnamed else label or _SPACE_LABEL
                array[i, 1] = add(name)
            # Which sets the starts of sentences, too.
            doc.from_array(["HEAD", "DEP"], array)

    def _spans(self, doc: Doc) -> Iterator[tuple[int, int]]:
        """The first token of each part of a Doc that gets a tree, and the first after it."""
        if self.sentences == "doc":
            yield from sentence_bounds(doc)
            return
        # Trees that are to stay are not cut.
        whole = [False] * (len(doc) + 1) if self.overwrite else _inside_arcs(doc)
        for start, end in sentence_bounds(doc):
            lengths = map(len, split_words([token.text for token in doc[start:end]]))
            ends = [stop for stop in accumulate(lengths, initial=start) if not whole[stop]]
            yield from pairwise([start, *(stop for stop in ends if start < stop < end), end])

    def _sentence(self, doc: Doc, start: int, end: int) -> tuple[list[str], list[str]]:
        tokens = [doc[i] for i in range(start, end)]
        # As in training, without white space within words.
        words = ["".join(token.text.split()) or token.text for token in tokens]
        return words, list(map(self._tag, tokens))

    def _tag(self, token: Token) -> str:
        return str(token.tag_ if self.attribute == "tag" else token.pos_)

    # Training ------------------------------------------------------------------------------------

    def gold(self, example: Example) -> tuple[list[DependencySentence], int]:
        """The gold sentences that have heads and are of predicted words; how many others there are.

        Tags are those of the predicted side.
        """
        doc, tags = example.reference, self._seen(example)
        visible = [tags[token.i] for token in doc if not token.text.isspace()]
        sentences = dependency_sentences(doc, tags=[tag or "" for tag in tags])
        bounds = pairwise(accumulate((len(each.words) for each in sentences), initial=0))
        kept = [
            sentence
            for sentence, (start, end) in zip(sentences, bounds, strict=True)
            if None not in visible[start:end] and any(head is not None for head in sentence.heads)
        ]
        return kept, len(sentences) - len(kept)

    def _seen(self, example: Example) -> tuple[str | None, ...]:
        """For each token of the reference, the tag of the predicted one; None if there is none."""
        predicted, reference = example.predicted, example.reference
        tags = list(map(self._tag, predicted))
        if [token.text for token in predicted] == [token.text for token in reference]:
            return tuple(tags)
        there, back = example.alignment.y2x, example.alignment.x2y
        found: list[str | None] = []
        for i in range(len(reference)):
            places = there[i]
            same = len(places) == 1 and len(back[int(places[0])]) == 1
            found.append(tags[int(places[0])] if same else None)
        return tuple(found)

    def _left_out(self) -> str:
        return "have no heads, or not the words that are predicted,"

    def _prepare(self, gold: list[DependencySentence], labels: Iterable[str]) -> None:
        if gold and not any(tag for sentence in gold for tag in sentence.tags):
            logger.warning(
                "%s: no word of the training corpus has a tag to be looked at (attribute = %r); "
                'set gold = ["words", "tags"] of its reader, or name a tagger in '
                "annotating_components",
                self.name,
                self.attribute,
            )
        super()._prepare(gold, labels)

    def _settings(self) -> dict[str, Any]:
        return {
            "attribute": self.attribute,
            "sentences": self.sentences,
            "overwrite": self.overwrite,
            "scorer": self.scorer,
        }


def _given(doc: Doc, start: int, end: int) -> tuple[list[int | None], list[str | None]]:
    """What a Doc has of the tree over the tokens from `start` to `end`: heads and labels."""
    heads: list[int | None] = []
    labels: list[str | None] = []
    for token in doc[start:end]:
        head = token.head.i if token.has_head() else -1
        known = start <= head < end
        heads.append((ROOT if head == token.i else head - start) if known else None)
        labels.append(token.dep_ if known else None)
    return heads, labels


def _inside_arcs(doc: Doc) -> list[bool]:
    """Whether an arc that a Doc has leads over the place before each token, and before its end."""
    opened = [0] * (len(doc) + 1)
    for token in doc:
        left, right = sorted((token.i, token.head.i if token.has_head() else token.i))
        if left < right:
            opened[left + 1] += 1
            opened[right + 1] -= 1
    return [n_open > 0 for n_open in accumulate(opened)]
