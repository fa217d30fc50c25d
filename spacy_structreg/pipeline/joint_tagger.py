"""The tokenizer that finds words and their tags at once: ``spacy_structreg.JointTagger.v1``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.corpora.tag_maps import TAG_MAPS, WORD_RULES
from spacy_structreg.models.raw_text import TaggedPredictor, TextAnalysis
from spacy_structreg.pipeline.analyses import VisibleText
from spacy_structreg.pipeline.component import TaggingTokenizerSettings
from spacy_structreg.pipeline.tokenizer import ModelTokenizer, tokenizer_factory
from spacy_structreg.tasks.segmentation.user_words import CompiledWords


class JointTagger(ModelTokenizer[TaggedPredictor[Any]]):
    """A tokenizer that finds words and writes their tags to ``token.tag_``; see `ModelTokenizer`.

    With the setting `tag_map`, it writes universal tags to ``token.pos_``, too.

    White space has the tag ``_SP``, as in spaCy's own pipelines. A listed word with a tag always
    gets that tag; one that the model does not know is an error. Until the model is trained, other
    words have none.
    """

    NAME = "spacy_structreg.JointTagger.v1"
    TASK = "joint"
    NEEDS: ClassVar[Any] = TaggedPredictor
    WRONG_MODEL = (
        "spacy_structreg.JointTagger.v1 needs a model that tags, such as "
        "spacy_structreg.CharacterJointTagger.v1; the model of the config finds words alone: "
        "choose another one, or set [nlp.tokenizer] @tokenizers to "
        "'spacy_structreg.Segmenter.v1'"
    )
    MARGINS = ("boundaries", "words", "tags")
    SETTINGS = TaggingTokenizerSettings
    WRITES: ClassVar[tuple[str, ...]] = ("tags", "sentences")

    settings: TaggingTokenizerSettings

    def tagged_words(
        self, texts: Iterable[str], *, n_threads: int | None = None
    ) -> Iterator[list[tuple[str, str]]]:
        """The words of a stream of texts with their tags, without white space and without Docs.

        n_threads: as of `pipe`. Raises ValueError if the model has not been trained.
        """
        listed = self._listed()
        return self.model.predict_tagged_stream(
            texts, n_threads=self._threads(n_threads), user_words=listed
        )

    @property
    def _tag_map(self) -> Mapping[str, str] | None:
        return None if self.settings.tag_map is None else TAG_MAPS[self.settings.tag_map]

    def _doc(self, text: str, words: TextAnalysis) -> Doc:
        doc = super()._doc(text, words)
        for rule in WORD_RULES.get(self.settings.tag_map or "", ()):
            for token in doc:
                if token.tag_ in rule.tags and token.lower_ in rule.words:
                    token.pos_ = rule.pos
        return doc

    def _score(self, examples: list[Example]) -> dict[str, Any]:
        """Score the words, and the words together with their tags."""
        from spacy_structreg.pipeline.tokenizer_tasks import score_joint

        return score_joint(examples)

    def _untrained(self, text: str, words: TextAnalysis, listed: CompiledWords) -> TextAnalysis:
        names = ("", *listed.tags)
        forced = [listed.forced_tag(text[start:end]) or "" for start, end in words.spans.tolist()]
        tags = np.array([names.index(tag) for tag in forced], dtype=np.int32)
        return TextAnalysis(words.spans, (), tags, names)

    def _keep_tags(self, doc: Doc, visible: VisibleText, listed: CompiledWords) -> None:
        from spacy_structreg.models.margins import tag_margins

        numbers = {tag: i for i, tag in enumerate(self.model.tags)}
        tokens = [doc[i] for i in visible.tokens]
        margins = np.full(len(tokens), np.inf)
        # A listed word has the tag that it is listed with, whatever the model says.
        seen = self.model.normalized_words(listed)
        places = seen.places(doc.text).tolist() if seen else []
        forced = {(start, end) for start, end, tag in places if tag >= 0}
        asked = [
            i
            for i, token in enumerate(tokens)
            if token.tag_ in numbers and (token.idx, token.idx + len(token)) not in forced
        ]
        if asked:
            sentences = next(self.model.predict_tag_scores([doc.text]))
            margins[asked] = tag_margins(
                np.concatenate([scores for _, scores in sentences]),
                [visible.bounds[i][0] for i in asked],
                [numbers[tokens[i].tag_] for i in asked],
            )
        self._keep_margins(doc, "tags", visible.spread(doc, margins))


create_joint_tagger = tokenizer_factory(JointTagger)
