"""Pipelines, as far as the commands need them: what they find in texts, which pipes find what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from spacy_structreg.pipeline.constituency import StructregConstituency
    from spacy_structreg.pipeline.sequence_labeler import StructregSequenceLabeler
    from spacy_structreg.pipeline.text_classifier import StructregTextClassifier

__all__ = [
    "classifying_pipes",
    "constituency_pipes",
    "constituents_key",
    "labelling_pipes",
    "load_pipeline",
    "parsing_pipes",
    "processed",
    "segmented",
    "tagged",
    "tagging_pipes",
    "tags_texts",
]


def load_pipeline(name: str) -> Language:
    """Load a pipeline from a folder or an installed package.

    Raises ValueError or OSError if there is none of that name, or it cannot be loaded.
    """
    import spacy

    try:
        return spacy.load(name)
    except ImportError as error:
        raise ValueError(f"the pipeline {name} cannot be loaded: {error}") from error


def segmented(nlp: Language, texts: Iterable[str], *, n_threads: int = 1) -> Iterator[list[str]]:
    """Yield the words of each text, without white space around them, in bounded memory.

    nlp: any pipeline. A tokenizer of ours segments without making Docs; only there, and no faster
        than there are cores, do threads help.
    Raises ValueError if a model of ours has not been trained, or a text is longer than the
    pipeline allows.
    """
    from spacy_structreg.pipeline.documents import gold_words
    from spacy_structreg.pipeline.tokenizer import ModelTokenizer

    if isinstance(nlp.tokenizer, ModelTokenizer):
        yield from nlp.tokenizer.words(texts, n_threads=n_threads)
    else:
        for text in texts:
            yield gold_words(nlp.make_doc(text))


def tagged(
    nlp: Language, texts: Iterable[str], *, n_threads: int = 1
) -> Iterator[list[tuple[str, str]]]:
    """Yield the words of each text with their tags, "" for none; otherwise as `segmented`.

    A tokenizer that tags does without Docs, too, unless a pipe tags its words anew.
    """
    from spacy_structreg.pipeline.documents import tagged_words
    from spacy_structreg.pipeline.joint_tagger import JointTagger

    if isinstance(nlp.tokenizer, JointTagger) and not tagging_pipes(nlp):
        yield from nlp.tokenizer.tagged_words(texts, n_threads=n_threads)
    else:
        yield from map(tagged_words, processed(nlp, texts, n_threads=n_threads))


def processed(nlp: Language, texts: Iterable[str], *, n_threads: int = 1) -> Iterator[Doc]:
    """Yield the Doc of each text, as all pipes leave it; otherwise as `segmented`."""
    from spacy_structreg.pipeline.tokenizer import ModelTokenizer

    if isinstance(nlp.tokenizer, ModelTokenizer):
        # Which says that a model has not been trained, where Docs would be of characters.
        nlp.tokenizer.words(())
        docs: Iterable[Any] = nlp.tokenizer.pipe(texts, n_threads=n_threads)
    else:
        docs = texts
    yield from nlp.pipe(docs)


def tagging_pipes(nlp: Language, attributes: Iterable[str] = ("tag",)) -> list[str]:
    """The names of the pipes that write tags.

    attributes: which: ``"tag"``, the fine-grained ones, or ``"pos"``, or both.
    """
    wanted = set(attributes)

    def writes(name: str, pipe: Any) -> set[str]:
        assigned = {"tag", "pos"} & {
            attribute.removeprefix("token.") for attribute in nlp.get_pipe_meta(name).assigns
        }
        # Pipes of ours say which of the two they write.
        setting = getattr(pipe, "attribute", "both")
        return assigned if setting == "both" else assigned & {setting}

    return [name for name, pipe in nlp.pipeline if wanted & writes(name, pipe)]


def parsing_pipes(nlp: Language) -> list[str]:
    """The names of the pipes that write ``token.head`` and ``token.dep_``."""
    return [
        name
        for name, pipe in nlp.pipeline
        if "token.dep" in nlp.get_pipe_meta(name).assigns
        # Pipes of ours that find constituents write heads if they are told to.
        and getattr(pipe, "dependencies", "parser") is not None
    ]


def constituency_pipes(nlp: Language) -> dict[str, StructregConstituency]:
    """The pipes of ours that find constituents, by their names."""
    from spacy_structreg.pipeline.constituency import StructregConstituency

    return {name: pipe for name, pipe in nlp.pipeline if isinstance(pipe, StructregConstituency)}


def labelling_pipes(nlp: Language) -> dict[str, StructregSequenceLabeler]:
    """The pipes of ours that label tokens, by their names."""
    from spacy_structreg.pipeline.sequence_labeler import StructregSequenceLabeler

    return {name: pipe for name, pipe in nlp.pipeline if isinstance(pipe, StructregSequenceLabeler)}


def classifying_pipes(nlp: Language) -> dict[str, StructregTextClassifier]:
    """The pipes of ours that classify texts, by their names."""
    from spacy_structreg.pipeline.text_classifier import StructregTextClassifier

    return {name: pipe for name, pipe in nlp.pipeline if isinstance(pipe, StructregTextClassifier)}


def constituents_key(nlp: Language) -> str:
    """The span group of the first pipe of ours that finds constituents; without one, the usual."""
    from spacy_structreg.pipeline.constituency_documents import SPANS_KEY

    return next((pipe.spans_key for pipe in constituency_pipes(nlp).values()), SPANS_KEY)


def tags_texts(nlp: Language) -> bool:
    """Whether the tokenizer of a pipeline, or a pipe, writes tags."""
    from spacy_structreg.pipeline.joint_tagger import JointTagger

    return isinstance(nlp.tokenizer, JointTagger) or bool(tagging_pipes(nlp))
