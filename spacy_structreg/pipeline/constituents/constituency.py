"""The component that finds constituents: ``structreg_constituency``.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_structreg.corpora.corpus_options import Sentences
from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.pipeline.component import (
    N_THREADS,
    check_setting,
    component_factory,
)
from spacy_structreg.pipeline.constituents.constituency_attributes import register_attributes
from spacy_structreg.pipeline.constituents.constituency_documents import (
    SPANS_KEY,
    Phrase,
    constituency_sentences,
    read_phrases,
    write_phrases,
)
from spacy_structreg.pipeline.tree_pipe import (
    ROOT_LABEL,
    SPACE_LABEL,
    Attribute,
    TreePipe,
    write_heads,
)

if TYPE_CHECKING:
    from spacy_structreg.corpora.constituents import ConstituencySentence

Dependencies: TypeAlias = Literal["parser", "ctb", "ptb"]


class TreePart(NamedTuple):
    """A part of a Doc that gets one tree.

    start, end: its first token, and the first after it. places: the tokens that are words.
    tree: over the words; None if there are none.
    """

    start: int
    end: int
    places: list[int]
    tree: ConstituencySentence | None


class StructregConstituency(TreePipe):
    """Puts the constituents of each sentence into a span group, from words and their tags.

    vocab, model, name: as of `EstimatorPipe`; the model is from
        ``spacy_structreg.ConstituencyParser.v1``.
    attribute, sentences, n_threads: as of `TreePipe`.
    overwrite: parse all anew. If not, a whole tree that is in the span group with its heads stays
        as it is. Of other sentences the constituents that are there stay, and the others are found
        to fit them; heads are found for all, and a label for those without. ValueError if no tree
        has them.
    spans_key: of the span group, which is described in `constituency_documents`.
    dependencies: write heads as well, with the label ``dep`` or ``ROOT``, instead of those that are
        there: those of the head words that the model has found, ``"parser"``, or of those that head
        rules find in its trees, ``"ctb"`` or ``"ptb"``; None for no heads.
    alternatives: how many trees of each sentence are kept on the Doc (`keep_analyses`), in which
        given constituents play no part; 0 for none.
    extension_prefix: of the names of the attributes that are registered (`register_attributes`).
    scorer: see `constituency_scorer`.

    A constituent begins and ends with a word: white space is not shown to the model. In a Doc
    without heads, a sentence starts where a tree does. The model learns from the trees of the
    reference, sentence by sentence, with the tags of the predicted side, as it will see them; a
    sentence is left out if it has other words there. Until the model is trained nothing is written.
    Raises ValueError for other settings, a model that is not ours, or attributes whose names are
    taken.
    """

    TASK = "constituents"
    FACTORY = "structreg_constituency"
    ARCHITECTURE = "spacy_structreg.ConstituencyParser.v1"
    SCORER = "spacy_structreg.constituency_scorer.v1"
    ALTERNATIVES = "constituents"

    def __init__(
        self,
        vocab: Vocab,
        model: Model[Any, Any],
        name: str = FACTORY,
        *,
        attribute: Attribute = "tag",
        sentences: Sentences = "doc",
        overwrite: bool = False,
        spans_key: str = SPANS_KEY,
        dependencies: Dependencies | None = None,
        alternatives: int = 0,
        extension_prefix: str = "",
        n_threads: int = N_THREADS,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        check_setting(name, "dependencies", dependencies, (*get_args(Dependencies), None))
        super().__init__(
            vocab,
            model,
            name,
            attribute=attribute,
            sentences=sentences,
            overwrite=overwrite,
            n_threads=n_threads,
            scorer=scorer,
            cfg={"spans_key": spans_key},
        )
        register_attributes(extension_prefix, spans_key)
        self.spans_key = spans_key
        self.dependencies: Dependencies | None = dependencies
        self.keep_analyses(alternatives=alternatives, extension_prefix=extension_prefix)

    # Prediction ----------------------------------------------------------------------------------

    def _predict(self, docs: list[Doc]) -> list[list[TreePart]]:
        """The trees of each Doc."""
        bounds = [list(self._spans(doc)) for doc in docs]
        read = list(map(self._words_and_tags, docs))
        places = [
            [[i for i in range(start, end) if not words[i].isspace()] for start, end in of_doc]
            for (words, _), of_doc in zip(read, bounds, strict=True)
        ]
        sentences = [
            _sentence(*of_doc, visible)
            for of_doc, visible_parts in zip(read, places, strict=True)
            for visible in visible_parts
            if visible
        ]
        given = [[] for _ in sentences] if self.overwrite else list(self._given(docs, places))
        kept = list(map(_whole_tree, sentences, given))
        asked = [i for i, tree in enumerate(kept) if tree is None]
        found = self.estimator.predict_stream(
            (sentences[i] for i in asked),
            given=(
                [(each.begin, each.end, each.label or None) for each in given[i]] or None
                for i in asked
            ),
        )
        trees = (next(found) if tree is None else tree for tree in kept)
        return [
            [
                TreePart(*bound, words, next(trees) if words else None)
                for bound, words in zip(*of_doc, strict=True)
            ]
            for of_doc in zip(bounds, places, strict=True)
        ]

    def _sentences_of(self, doc: Doc) -> Iterable[tuple[Any, ...]]:
        words, tags = self._words_and_tags(doc)
        for start, end in self._spans(doc):
            places = [i for i in range(start, end) if not words[i].isspace()]
            if places:
                yield _sentence(words, tags, places)

    def _keep_analyses(self, doc: Doc, predicted: list[TreePart]) -> None:
        if not self.alternatives:
            return
        words, tags = self._words_and_tags(doc)
        parts = []
        for part in predicted:
            found: list[tuple[float, ConstituencySentence]] = []
            if part.places:
                sentence = _sentence(words, tags, part.places)
                found = self.estimator.nbest(*sentence, self.alternatives)
            trees = (
                (score, [phrase[:3] for phrase in _phrases(part._replace(tree=tree))])
                for score, tree in found
            )
            parts.append((part.start, part.end, list(trees), None))
        self._keep_parts(doc, "constituents", parts)

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[list[TreePart] | None]) -> None:
        """Write the trees of each Doc. scores: from `predict`."""
        for doc, parts in zip(docs, scores, strict=True):
            if parts is None:
                continue
            write_phrases(
                doc, (phrase for part in parts for phrase in _phrases(part)), self.spans_key
            )
            if self.dependencies is not None:
                self._write_heads(doc, parts)
            elif not doc.has_annotation("DEP"):
                _write_starts(doc, {part.start for part in parts})

    def _held(self, doc: Doc) -> Iterator[tuple[int, int]]:
        for span in doc.spans.get(self.spans_key, ()):
            yield span.start, span.end - 1

    def _given(
        self, docs: Iterable[Doc], places: Iterable[list[list[int]]]
    ) -> Iterator[list[Phrase]]:
        """Of each part that has words, the constituents that its Doc has, over these words."""
        for doc, of_doc in zip(docs, places, strict=True):
            phrases = read_phrases(doc, self.spans_key) or []
            at = start = 0
            for words in filter(None, of_doc):
                end = start + len(words)
                given: list[Phrase] = []
                while at < len(phrases) and phrases[at].begin < end:
                    phrase = phrases[at]
                    if phrase.end > end:
                        raise ValueError(
                            f"the pipe {self.name!r} cannot keep {phrase.label or 'a constituent'} "
                            f"in doc.spans[{self.spans_key!r}], which goes beyond the sentence "
                            f"{doc[words[0] : words[-1] + 1].text!r:.60}"
                        )
                    head = None if phrase.head is None else phrase.head - start
                    given.append(
                        Phrase(phrase.label, phrase.begin - start, phrase.end - start, head)
                    )
                    at += 1
                yield given
                start = end

    def _write_heads(self, doc: Doc, parts: Sequence[TreePart]) -> None:
        from spacy_structreg.estimators.tree_queries import heads_of_all

        heads: list[int] = []
        for part in parts:
            within = [place - part.start for place in part.places]
            of_words = [] if part.tree is None else self._heads(part.tree)
            for head in heads_of_all(of_words, within, part.end - part.start):
                heads.append(ROOT if head == ROOT else part.start + head)
        if heads:
            labels = [ROOT_LABEL if head == ROOT else SPACE_LABEL for head in heads]
            write_heads(doc, heads, labels)

    def _heads(self, tree: ConstituencySentence) -> Sequence[int]:
        from spacy_structreg.corpora.head_rules import head_rules

        if self.dependencies is None or self.dependencies == "parser":
            return tree.heads()
        return tree.with_heads(head_rules(self.dependencies)).heads()

    # Training ------------------------------------------------------------------------------------

    def _gold_sentences(
        self, doc: Doc, tags: Sequence[str]
    ) -> list[tuple[int, ConstituencySentence | None]]:
        return constituency_sentences(doc, self.spans_key, tags=tags)

    def _left_out(self) -> str:
        return "have no tree, or not the words that are predicted,"


create_constituency = component_factory(
    StructregConstituency,
    assigns=["doc.spans", "token.head", "token.dep", "token.is_sent_start", "doc.sents"],
    score_weights={"brackets_f": 1.0, "brackets_p": 0.0, "brackets_r": 0.0},
)


def _sentence(
    words: Sequence[str], tags: Sequence[str], places: Iterable[int]
) -> tuple[list[str], list[str]]:
    """The words of some tokens of a Doc, and their tags."""
    places = list(places)
    return [words[i] for i in places], [tags[i] for i in places]


def _whole_tree(
    sentence: tuple[list[str], list[str]], phrases: Sequence[Phrase]
) -> ConstituencySentence | None:
    """The tree that is given of a sentence, if its words, labels and heads are all there."""
    from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent

    words, tags = sentence
    if not phrases or phrases[0].end - phrases[0].begin < len(words):
        return None
    found: list[Constituent] = []
    for label, begin, end, head in phrases:
        if not label or head is None:
            return None
        found.append(Constituent(label, begin, end, head))
    return ConstituencySentence(tuple(words), tuple(tags), tuple(found))


def _phrases(part: TreePart) -> Iterator[Phrase]:
    """The constituents of a part, over the tokens of its Doc."""
    for each in part.tree.constituents if part.tree is not None else ():
        last = part.places[each.end - 1]
        yield Phrase(each.label, part.places[each.begin], last + 1, part.places[each.head])


def _write_starts(doc: Doc, starts: AbstractSet[int]) -> None:
    """Let sentences start with these tokens, and with no others."""
    # Token.is_sent_start looks through all of the Doc whenever it is set.
    values: Any = np.array([1 if i in starts else -1 for i in range(len(doc))], dtype=np.int64)
    doc.from_array(["SENT_START"], values.astype(np.uint64))
