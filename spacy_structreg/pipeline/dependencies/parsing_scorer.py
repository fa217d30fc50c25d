"""The scorer of trees: ``spacy_structreg.parsing_scorer.v1``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, Final

from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.corpora.dependencies import DependencySentence
from spacy_structreg.metrics.dependencies import ParsingScorer, TextParsingScorer
from spacy_structreg.metrics.figures import Scores
from spacy_structreg.pipeline.documents import dependency_sentences, gold_words, tagged_words

OF_WORDS: Final = ("dep_uas", "dep_las", "dep_root", "dep_complete")
OF_TEXT: Final = ("uas_f", "las_f")
NO_PUNCTUATION: Final = "_nopunct"


def make_parsing_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_structreg.parsing_scorer.v1``."""
    return score_parsing


def score_parsing(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    """Score the trees of Docs, as fractions of 1 (`metrics.dependencies`).

    If all words are those of the reference: ``dep_uas``, ``dep_las``, ``dep_root`` and
    ``dep_complete``, each also without punctuation (``_nopunct``), and ``dep_las_per_type``; words
    whose gold head is not known do not count. If not: ``tag_f``, ``uas_f`` and ``las_f``, F of
    words that have their place and their tag, head, or head and label right, in Docs whose gold
    heads are all known; ``tag_f`` is there only if their gold tags are, too. The other figures are
    None, so that none stands for another.
    """
    pairs = [(example.reference, example.predicted) for example in examples]
    names = [name + end for name in (*OF_WORDS, *OF_TEXT) for end in ("", NO_PUNCTUATION)]
    figures: dict[str, Any] = {**dict.fromkeys(names), "dep_las_per_type": None}
    if all(gold_words(reference) == gold_words(predicted) for reference, predicted in pairs):
        scores = score_trees(pairs)
        found = scores.as_dict()
        if scores.by_label:
            figures |= scores.per_type()
    else:
        found = score_parsed_texts(pairs)
        if "tag_f" in found:
            figures["tag_f"] = None
    return figures | {name: found[name] for name in figures.keys() & found.keys()}


def score_parsed_texts(pairs: Iterable[tuple[Doc, Doc]]) -> dict[str, Any]:
    """The figures of texts that `score_parsing` gives, whether or not words are those of the gold.

    pairs: reference and prediction; those without all gold heads, or of other texts, do not count.
    """
    complete = [pair for pair in pairs if _is_complete(*pair)]
    tagged = all(tag for reference, _ in complete for _, tag in tagged_words(reference))
    found = score_texts(complete, tagged=tagged).as_dict()
    names = [name + end for name in OF_TEXT for end in ("", NO_PUNCTUATION)]
    return {name: found[name] for name in (["tag_f"] if tagged else []) + names}


def score_trees(
    pairs: Iterable[tuple[Doc, Doc]], *, punctuation: AbstractSet[str] | None = None
) -> Scores:
    """The scores of predicted Docs against references of the same words.

    pairs: reference and prediction. Sentences are those of the reference; a predicted head in
    another one is wrong. punctuation: as of `ParsingScorer`.
    Raises ValueError if there are other words.
    """
    scorer = ParsingScorer(punctuation)
    for reference, predicted in pairs:
        gold = dependency_sentences(reference)
        lengths = [len(sentence.words) for sentence in gold]
        found = dependency_sentences(predicted, lengths)
        for wanted, tree in zip(gold, found, strict=True):
            scorer.add(wanted, tree)
    return scorer.scores()


def score_texts(
    pairs: Iterable[tuple[Doc, Doc]],
    vocabulary: AbstractSet[str] | None = None,
    *,
    tagged: bool = True,
    punctuation: AbstractSet[str] | None = None,
) -> Scores:
    """The scores of predicted Docs against references of the same text.

    pairs: reference and prediction. vocabulary: the words of the training corpus. tagged: whether
    tags are looked at; if not, any tag counts as right. punctuation: as of `TextParsingScorer`.
    Raises ValueError as `TextParsingScorer.add`.
    """
    scorer = TextParsingScorer(vocabulary, punctuation=punctuation)
    for pair in pairs:
        gold, found = map(dependency_sentences, pair)
        if not tagged:
            gold, found = _without_tags(gold), _without_tags(found)
        scorer.add(gold, found)
    return scorer.scores()


def _is_complete(reference: Doc, predicted: Doc) -> bool:
    """True if a reference has all heads, and the text of the prediction."""
    return "".join(gold_words(reference)) == "".join(gold_words(predicted)) and all(
        head is not None for sentence in dependency_sentences(reference) for head in sentence.heads
    )


def _without_tags(sentences: Iterable[DependencySentence]) -> list[DependencySentence]:
    return [replace(each, tags=("_",) * len(each.words)) for each in sentences]
