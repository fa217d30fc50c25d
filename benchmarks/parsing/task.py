"""Dependency parsing: the tagged words of one sentence to their tree."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from benchmarks.common.corpora import Corpus
from benchmarks.common.task import Task
from benchmarks.parsing.systems import SYSTEMS, TaggedWords
from spacy_structreg.corpora.dependencies import Parse
from spacy_structreg.corpora.formats.conllu import (
    NOTHING,
    TreebankSentence,
    Word,
    dependency_sentences,
    write_conllu,
)
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.splits import fold_bounds
from spacy_structreg.metrics.dependencies import score_parses
from spacy_structreg.models.tagging import Tagger

__all__ = ["PARSING", "Parsing", "jackknifed", "retagged"]

GOLD_TAGS, AUTOMATIC_TAGS = "gold tags", "automatic tags"
FOLDS = 10


class Parsing(Task[Sentence, TaggedWords, Parse]):
    """Gold sentences are trees in CoNLL-U; systems are given words and tags, gold or automatic."""

    name = "parsing"
    what = "dependency parsers"
    systems = SYSTEMS
    units = "words"
    outputs = "heads and labels"
    figures: ClassVar = {
        "UAS": "dep_uas",
        "LAS": "dep_las",
        "UAS, no punctuation": "dep_uas_nopunct",
        "LAS, no punctuation": "dep_las_nopunct",
    }
    primary = "dep_las"
    # A training of ours takes a minute or two.
    retrains = False

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--tags",
            choices=("both", "gold", "automatic"),
            default="both",
            help="which tags systems see, in training as in prediction (default: both, in turn)",
        )
        for part in ("train", "dev", "test"):
            parser.add_argument(
                f"--tagged-{part}",
                type=Path,
                help=f"the {part} sentences with automatic tags (default: tagged by our tagger, "
                f"{FOLDS}-fold where it is trained)",
            )

    def views(
        self, corpus: Corpus[Sentence], options: argparse.Namespace
    ) -> list[Corpus[Sentence]]:
        gold = replace(corpus, view=GOLD_TAGS)
        if options.tags == "gold":
            return [gold]
        files = (options.tagged_train, options.tagged_dev, options.tagged_test)
        if None not in files:
            train, dev, test = (
                retagged(part, self.read(path), path)
                for part, path in zip((gold.train, gold.dev, gold.test), files, strict=True)
            )
            automatic = replace(gold, train=train, dev=dev, test=test, view=AUTOMATIC_TAGS)
        elif files == (None, None, None):
            automatic = jackknifed(gold)
        else:
            raise ValueError("give all of --tagged-train, --tagged-dev and --tagged-test, or none")
        return [automatic] if options.tags == "automatic" else [gold, automatic]

    def read(self, path: Path) -> list[Sentence]:
        return list(dependency_sentences(path))

    def write(self, path: Path, sentences: Sequence[Sentence]) -> None:
        write_conllu(path, map(_conllu, sentences))

    def words(self, gold: Sentence) -> Sequence[str]:
        return gold.words

    def given(self, gold: Sentence) -> TaggedWords:
        return gold.words, gold.tags

    def score(
        self,
        gold: Sequence[Sentence],
        predicted: Sequence[Parse],
        vocabulary: AbstractSet[str] | None = None,
    ) -> Mapping[str, float | None]:
        return score_parses(gold, predicted).as_dict()


def retagged(gold: Sequence[Sentence], tagged: Sequence[Sentence], path: Path) -> list[Sentence]:
    """Gold trees with the tags of other sentences of the same words.

    tagged: may be more, where `gold` is the first of a part. Raises ValueError, naming the file
    that they are from, if the words are not the same.
    """
    if len(tagged) < len(gold):
        raise ValueError(f"{path}: {len(tagged)} sentences, but the corpus has {len(gold)}")
    for number, (one, other) in enumerate(zip(gold, tagged, strict=False), 1):
        if one.words != other.words:
            raise ValueError(
                f"{path}: the words of sentence {number} are not those of the corpus; give the "
                "same sentences with other tags"
            )
    return [replace(one, tags=other.tags) for one, other in zip(gold, tagged, strict=False)]


def jackknifed(corpus: Corpus[Sentence]) -> Corpus[Sentence]:
    """The corpus with the tags of our tagger, which has seen no sentence that it tags.

    Each tenth of the training sentences is tagged by a tagger of the others; the development and
    the test corpus by one of all training sentences.
    """

    def tags(train: Sequence[Sentence], *parts: list[Sentence]) -> list[list[Sentence]]:
        tagger = Tagger().fit([list(zip(gold.words, gold.tags, strict=True)) for gold in train])
        return [
            [
                replace(gold, tags=tuple(found))
                for gold, found in zip(
                    part, tagger.predict_batch(gold.words for gold in part), strict=True
                )
            ]
            for part in parts
        ]

    train: list[Sentence] = []
    for begin, end in fold_bounds(len(corpus.train), FOLDS):
        train += tags(corpus.train[:begin] + corpus.train[end:], corpus.train[begin:end])[0]
    dev, test = tags(corpus.train, corpus.dev, corpus.test)
    return replace(corpus, train=train, dev=dev, test=test, view=AUTOMATIC_TAGS)


def _conllu(sentence: Sentence) -> TreebankSentence:
    blank = NOTHING
    return TreebankSentence(
        tuple(
            Word(
                word,
                blank,
                blank,
                tag,
                blank,
                None if head is None else head + 1,
                blank if label is None else label,
                blank,
                blank,
            )
            for word, tag, head, label in zip(
                sentence.words, sentence.tags, sentence.heads, sentence.labels, strict=True
            )
        )
    )


PARSING = Parsing()
