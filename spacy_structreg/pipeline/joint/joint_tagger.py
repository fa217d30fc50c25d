"""The tokenizer that finds words and their tags at once: ``spacy_structreg.JointTagger.v1``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.estimators.margins import tag_margins
from spacy_structreg.estimators.tokenizer_model import TaggingModel, TokenizerModel
from spacy_structreg.pipeline.analyses import VisibleText
from spacy_structreg.pipeline.component import N_THREADS
from spacy_structreg.pipeline.documents import SPACE_TAG
from spacy_structreg.pipeline.joint.joint_scorer import score_joint
from spacy_structreg.pipeline.tokenizer import ModelTokenizer
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
    n_threads: as of `ModelTokenizer`.
    alternatives, confidence, extension_prefix: what is kept on Docs (`keep_analyses`).
    Raises ValueError for a model that does not tag.
    """
    if not isinstance(model, TaggingModel):
        raise ValueError(
            f"{JointTagger.NAME} needs a model that tags, such as "
            "spacy_structreg.CharacterJointTagger.v1; the model of the config finds words alone: "
            "choose another one, or set [nlp.tokenizer] @tokenizers to "
            "'spacy_structreg.Segmenter.v1'"
        )
    tagging = model

    kept = {
        "alternatives": alternatives,
        "confidence": confidence,
        "extension_prefix": extension_prefix,
    }

    def make(nlp: Language) -> JointTagger:
        return JointTagger(nlp.vocab, tagging, n_threads=n_threads, kept=kept)

    return make


class JointTagger(ModelTokenizer[TaggingModel, tuple[str, str]]):
    """A tokenizer that finds words and writes their tags to ``token.tag_``; see `ModelTokenizer`.

    White space has the tag ``_SP``, as in spaCy's own pipelines. A listed word with a tag always
    gets that tag, also one that the model does not know. Until the model is trained, other words
    have none.
    """

    NAME = "spacy_structreg.JointTagger.v1"
    TASK = "joint"
    MARGINS = ("boundaries", "words", "tags")

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

    def _predict(
        self, text: str, listed: CompiledWords, spans: Sequence[AnySpan]
    ) -> list[tuple[str, str]]:
        found = self.model.predict_tagged(text, listed, spans=spans, white_space=True)
        return _retagged(found, listed)

    def _stream(
        self, texts: Iterable[str], listed: CompiledWords, n_threads: int
    ) -> Iterator[list[tuple[str, str]]]:
        found = self.model.predict_tagged_stream(
            texts, n_threads=n_threads, user_words=listed, white_space=True
        )
        return (_retagged(pairs, listed) for pairs in found)

    def _untrained(self, words: list[str], listed: CompiledWords) -> list[tuple[str, str]]:
        return [(word, listed.forced_tag(word) or "") for word in words]

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

    def _doc(self, text: str, items: list[tuple[str, str]]) -> Doc:
        doc = self._new_doc(text, [word for word, _ in items])
        tags = [tag for _, tag in items]
        if "" in tags:
            # White space has no tag, and may not be a token.
            tags = [tag for word, tag in items if not word.isspace()]
        if len(doc) > len(tags):
            found = iter(tags)
            tags = [SPACE_TAG if token.is_space else next(found) for token in doc]
        # Strings may last no longer than a memory zone: they are added for each Doc.
        keys = {tag: self.vocab.strings.add(tag) for tag in set(tags)}
        column: Any = np.array([keys[tag] for tag in tags], dtype=np.uint64)
        doc.from_array("TAG", column)
        return doc


def _retagged(pairs: list[tuple[str, str]], listed: CompiledWords) -> list[tuple[str, str]]:
    """Words and tags, where listed words have the tags that they are listed with.

    A model can be made to give a tag that it knows, and no other.
    """
    if not listed.tags or "force" not in listed.modes:
        return pairs
    return [(word, listed.forced_tag(word) or tag) for word, tag in pairs]
