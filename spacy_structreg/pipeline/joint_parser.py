"""The tokenizer that finds words, tags and trees at once: ``spacy_structreg.JointParser.v1``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

from spacy.language import Language
from spacy.training import Example

from spacy_structreg.estimators.tokenizer_model import ParsingModel, TokenizerModel
from spacy_structreg.pipeline.component import N_THREADS
from spacy_structreg.pipeline.joint_tagger import JointTagger
from spacy_structreg.pipeline.parser import score_parsed_texts
from spacy_structreg.pipeline.tokenizer import FoundWords
from spacy_structreg.pipeline.tokenizer_tasks import score_segmentation
from spacy_structreg.tasks.segmentation.given_spans import AnySpan
from spacy_structreg.tasks.segmentation.user_words import CompiledWords


def create_joint_parser(
    model: TokenizerModel,
    n_threads: int = N_THREADS,
    alternatives: int = 0,
    confidence: bool = False,
    extension_prefix: str = "",
) -> Callable[[Language], JointParser]:
    """Make the factory of a `JointParser`, as ``[nlp.tokenizer]`` of a config asks for it.

    model: from an architecture that parses, such as ``spacy_structreg.WordJointParser.v1``.
    n_threads: how many threads decode side by side in streams; Docs do not depend on it.
    alternatives: how many of the best analyses are kept on the Doc, as words with tags; 0 for none.
    confidence: keep margins on the Doc, and probabilities once the pipeline is calibrated.
    extension_prefix: what the name of the attribute ``structreg`` of Docs begins with.
    Raises ValueError for a model that does not parse.
    """
    if not isinstance(model, ParsingModel):
        raise ValueError(
            f"the tokenizer {JointParser.NAME} needs a model that parses, such as that of "
            "@architectures = 'spacy_structreg.WordJointParser.v1'; the model of the config finds "
            "words or words with tags: choose another one, or set [nlp.tokenizer] @tokenizers to "
            "'spacy_structreg.Segmenter.v1' or 'spacy_structreg.JointTagger.v1'"
        )
    return JointParser.factory(
        model,
        n_threads=n_threads,
        alternatives=alternatives,
        confidence=confidence,
        extension_prefix=extension_prefix,
    )


class JointParser(JointTagger):
    """A tokenizer that finds words, their tags and dependency trees over them.

    It writes ``token.tag_``, ``token.head`` and ``token.dep_``, and with them the starts of
    sentences; see `JointTagger`. White space hangs on the token before it, with the label ``dep``.
    A root that the model has no label for is called ``ROOT``. Until the model is trained, there are
    no trees. Alternatives and confidence are those of words and tags.
    """

    NAME = "spacy_structreg.JointParser.v1"
    TASK = "dependencies"
    WRITES = ("tags", "heads", "relations", "sentences")

    @property
    def _parser(self) -> ParsingModel:
        return cast("ParsingModel", self.model)

    def _score(self, examples: list[Example]) -> dict[str, Any]:
        """Score the words, and those with their tags, heads and labels."""
        pairs = ((example.reference, example.predicted) for example in examples)
        return {**score_segmentation(examples), **score_parsed_texts(pairs)}

    def _predict(self, text: str, listed: CompiledWords, spans: Sequence[AnySpan]) -> FoundWords:
        found, tags, heads, labels = self._parser.predict_tree_spans(text, listed, spans=spans)
        return FoundWords(found, tags, self.model.tags, heads, labels)

    def _stream(
        self, texts: Iterable[str], listed: CompiledWords, n_threads: int
    ) -> Iterator[FoundWords]:
        names = self.model.tags
        stream = self._parser.predict_tree_spans_stream(
            texts, n_threads=n_threads, user_words=listed
        )
        return (
            FoundWords(found, tags, names, heads, labels) for found, tags, heads, labels in stream
        )
