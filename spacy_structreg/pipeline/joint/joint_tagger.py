"""The tokenizer that finds words and their tags at once: ``spacy_structreg.JointTagger.v1``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import tee
from typing import Any, ClassVar

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.estimators.margins import tag_margins
from spacy_structreg.estimators.tokenizer_model import TaggingModel, TokenizerModel
from spacy_structreg.pipeline.analyses import VisibleText
from spacy_structreg.pipeline.component import N_THREADS
from spacy_structreg.pipeline.joint.joint_scorer import score_joint
from spacy_structreg.pipeline.tokenizer import FoundWords, ModelTokenizer
from spacy_structreg.tasks.segmentation.given_spans import AnySpan
from spacy_structreg.tasks.segmentation.user_words import CompiledWords


def create_joint_tagger(
    model: TokenizerModel,
    n_threads: int = N_THREADS,
    alternatives: int = 0,
    confidence: bool = False,
    extension_prefix: str = "",
) -> Callable[[Language], JointTagger]:
    """Make the factory of a `JointTagger`, as ``[nlp.tokenizer]`` of a config asks for it.

    model: from an architecture that tags, such as ``spacy_structreg.CharacterJointTagger.v1``.
    n_threads: how many threads decode side by side in streams; Docs do not depend on it.
    alternatives: how many of the best analyses are kept on the Doc; 0 for none.
    confidence: keep margins on the Doc, and probabilities once the pipeline is calibrated.
    extension_prefix: what the name of the attribute ``structreg`` of Docs begins with.
    Raises ValueError for a model that does not tag.
    """
    if not isinstance(model, TaggingModel):
        raise ValueError(
            f"{JointTagger.NAME} needs a model that tags, such as "
            "spacy_structreg.CharacterJointTagger.v1; the model of the config finds words alone: "
            "choose another one, or set [nlp.tokenizer] @tokenizers to "
            "'spacy_structreg.Segmenter.v1'"
        )
    return JointTagger.factory(
        model,
        n_threads=n_threads,
        alternatives=alternatives,
        confidence=confidence,
        extension_prefix=extension_prefix,
    )


class JointTagger(ModelTokenizer[TaggingModel]):
    """A tokenizer that finds words and writes their tags to ``token.tag_``; see `ModelTokenizer`.

    White space has the tag ``_SP``, as in spaCy's own pipelines. A listed word with a tag always
    gets that tag, also one that the model does not know. Until the model is trained, other words
    have none.
    """

    NAME = "spacy_structreg.JointTagger.v1"
    TASK = "joint"
    MARGINS = ("boundaries", "words", "tags")
    WRITES: ClassVar[tuple[str, ...]] = ("tags", "sentences")

    def tagged_words(
        self, texts: Iterable[str], *, n_threads: int | None = None
    ) -> Iterator[list[tuple[str, str]]]:
        """The words of a stream of texts with their tags, without white space and without Docs.

        n_threads: as of `pipe`. Raises ValueError if the model has not been trained.
        """
        listed = self._listed()
        found = self.model.predict_tagged_stream(
            texts, n_threads=self._threads(n_threads), user_words=listed
        )
        return (_retagged(pairs, listed) for pairs in found)

    def _score(self, examples: list[Example]) -> dict[str, Any]:
        """Score the words, and the words together with their tags."""
        return score_joint(examples)

    def _predict(self, text: str, listed: CompiledWords, spans: Sequence[AnySpan]) -> FoundWords:
        found, tags = self.model.predict_tagged_spans(text, listed, spans=spans)
        return self._tagged(text, FoundWords(found, tags, self.model.tags), listed)

    def _stream(
        self, texts: Iterable[str], listed: CompiledWords, n_threads: int
    ) -> Iterator[FoundWords]:
        texts, copies = tee(texts)
        names = self.model.tags
        stream = self.model.predict_tagged_spans_stream(
            copies, n_threads=n_threads, user_words=listed
        )
        for text, (found, tags) in zip(texts, stream, strict=True):
            yield self._tagged(text, FoundWords(found, tags, names), listed)

    def _untrained(self, text: str, words: FoundWords, listed: CompiledWords) -> FoundWords:
        # Words that are not listed with a tag have none.
        tags = np.zeros(len(words.spans), dtype=np.int32)
        return self._tagged(text, FoundWords(words.spans, tags, ("",)), listed)

    def _keep_tags(self, doc: Doc, visible: VisibleText, listed: CompiledWords) -> None:
        numbers = {tag: i for i, tag in enumerate(self.model.tags)}
        tokens = [doc[i] for i in visible.tokens]
        margins = np.full(len(tokens), np.inf)
        # A listed word has the tag that it is listed with, whatever the model says.
        asked = [
            i
            for i, token in enumerate(tokens)
            if token.tag_ in numbers and listed.forced_tag(token.text) is None
        ]
        if asked:
            sentences = next(self.model.predict_tag_scores([doc.text]))
            margins[asked] = tag_margins(
                np.concatenate([scores for _, scores in sentences]),
                [visible.bounds[i][0] for i in asked],
                [numbers[tokens[i].tag_] for i in asked],
            )
        self._keep_margins(doc, "tags", visible.spread(doc, margins))

    def _tagged(self, text: str, words: FoundWords, listed: CompiledWords) -> FoundWords:
        """Words where listed ones have the tags that they are listed with.

        A model can be made to give a tag that it knows, and no other.
        """
        if words.tags is None or not _gives_tags(listed):
            return words
        tags = words.tags.copy()
        names = dict.fromkeys((*words.names, *listed.tags))
        numbers = {tag: number for number, tag in enumerate(names)}
        for i, (start, end) in enumerate(words.spans.tolist()):
            if tag := listed.forced_tag(text[start:end]):
                tags[i] = numbers[tag]
        return words._replace(tags=tags, names=tuple(names))


def _gives_tags(listed: CompiledWords) -> bool:
    """True if words are listed with tags that they must have."""
    return bool(listed.tags) and "force" in listed.modes


def _retagged(pairs: list[tuple[str, str]], listed: CompiledWords) -> list[tuple[str, str]]:
    """Words and tags, where listed words have the tags that they are listed with."""
    if not _gives_tags(listed):
        return pairs
    return [(word, listed.forced_tag(word) or tag) for word, tag in pairs]
