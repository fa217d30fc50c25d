"""What the tests of figures share: gold Docs of sentences or files, scored for a pipeline."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from spacy.language import Language

from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.pipeline.evaluation import Evaluation, evaluate_docs
from spacy_structreg.pipeline.gold_docs import doc_of_sentence, read_docs
from spacy_structreg.pipeline.task import Given, ScoreSettings


def score(
    nlp: Language,
    gold: Path | Iterable[Sentence],
    *,
    words: bool = False,
    tags: bool = False,
    vocabulary: set[str] | None = None,
    n_threads: int = 1,
) -> Evaluation:
    """The figures of a pipeline that is given texts, or words, or words and tags."""
    if isinstance(gold, Path):
        docs = list(read_docs(gold, nlp.vocab))
    else:
        docs = [doc_of_sentence(nlp.vocab, sentence) for sentence in gold]
    settings = ScoreSettings(Given(words or tags, tags), vocabulary)
    return evaluate_docs(nlp, docs, settings, n_threads=n_threads)
