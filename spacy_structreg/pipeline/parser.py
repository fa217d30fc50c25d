"""The pipe that parses dependencies, ``structreg_parser``, with its scorer, config and task.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import compress
from operator import not_
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.corpora.dependencies import DEPENDENCY, ROOT, Parse
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.learn.setting_fields import setting
from spacy_structreg.pipeline.analyses import AnalysisSettings
from spacy_structreg.pipeline.component import component_factory
from spacy_structreg.pipeline.documents import (
    AttributeReader,
    dependency_sentences,
    gold_words,
    is_tagged_throughout,
    tagged_words,
)
from spacy_structreg.pipeline.task import (
    TOKENIZER,
    ConfigParts,
    ConfigRequest,
    ConfigTemplate,
    DrawnTask,
    Given,
    Pairs,
    Picture,
    ScoreSettings,
    Style,
    TaskPart,
    is_ours,
    stem_of,
    tags_texts,
)
from spacy_structreg.pipeline.tree_pipe import (
    HEADS_AND_LABELS,
    ROOT_LABEL,
    TreePipe,
    TreePipeSettings,
    TreeTokens,
    hashes,
    head_columns,
)

if TYPE_CHECKING:
    from spacy_structreg.metrics.figures import Scores
    from spacy_structreg.models.dependencies import GivenArcs


class ParserSettings(TreePipeSettings, AnalysisSettings):
    """Settings of the parser."""

    overwrite: bool | Literal["labels"] = setting(
        True,
        "Whether what is parsed already is parsed anew; false keeps heads and labels that are "
        'there, and finds the others to fit them; "labels" keeps heads, and finds all labels.',
    )


# In place of the head of a token that has none.
_UNKNOWN: Final = -2


class DocParse(NamedTuple):
    """The trees of a Doc.

    labels: all that there are. values: of `HEADS_AND_LABELS`, of each token, as `head_columns`
    gives them.
    """

    labels: tuple[str, ...]
    values: NDArray[np.uint64]


class StructregParser(TreePipe):
    """Sets heads, labels and the starts of sentences, from words and their tags.

    A sentence starts at the leftmost word of its tree. The model learns from the trees of the
    reference, sentence by sentence, with the tags of the predicted side, as it will see them; a
    sentence is left out if it has other words there. White space hangs on the token before it,
    with the label ``dep``. Until the model is trained nothing is written.
    Parameters and errors are those of `EstimatorPipe`; in prediction, ValueError where no
    projective tree with one root has the heads and labels that stay.
    """

    TASK = "dependencies"
    MARGINS = ("heads",)
    ALTERNATIVES = "heads"
    FACTORY = "structreg_parser"
    ARCHITECTURE = "spacy_structreg.DependencyParser.v1"
    SCORER = "spacy_structreg.parsing_scorer.v1"
    SETTINGS: ClassVar[type[ParserSettings]] = ParserSettings

    settings: ParserSettings

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._labels = AttributeReader()

    # Prediction ----------------------------------------------------------------------------------

    def _predict(self, docs: list[Doc]) -> list[DocParse]:
        """The trees of each Doc."""
        keeps = self.settings.overwrite is not True
        tokens = self._read(docs, *(("HEAD", "DEP") if keeps else ()))
        bounds = tokens.parts.tolist()
        sizes = tokens.parts[:, 1] - tokens.parts[:, 0]
        if sizes.sum() != len(tokens.words):
            raise ValueError(
                f"the pipe {self.name!r} cannot parse sentences of doc.user_hooks['sents'] that "
                "leave out tokens, or have some twice; let them part the Doc"
            )
        first = np.repeat(tokens.parts[:, 0], sizes)
        heads = np.full(len(first), _UNKNOWN)
        if keeps:
            heads = _known_heads(tokens, first, first + np.repeat(sizes, sizes))
        known: list[int] = heads.tolist()
        arcs: list[str] | None = None
        # The parts that have all heads: nothing but labels is to be found.
        are_whole = [False] * len(bounds)
        if self.settings.overwrite == "labels":
            is_open = heads == _UNKNOWN
            if tokens.blanks is not None:
                is_open |= tokens.blanks
            n_open = np.append([0], np.cumsum(is_open))[tokens.parts]
            are_whole = (n_open[:, 0] == n_open[:, 1]).tolist()
        elif keeps:
            arcs = self._labels.strings(docs, tokens.columns[1].tolist())
        sentences = [(tokens.words[start:end], tokens.tags[start:end]) for start, end in bounds]
        labeled: Iterator[list[str]] = iter(())
        if any(are_whole):
            given_heads = [known[start:end] for start, end in compress(bounds, are_whole)]
            labeled = iter(
                self.estimator.predict_labels(compress(sentences, are_whole), given_heads)
            )
        parsed: Iterator[Parse] = iter(())
        if not all(are_whole):
            are_open = list(map(not_, are_whole))
            given = [_given(known, arcs, *part) for part in compress(bounds, are_open)]
            parsed = iter(
                self.estimator.predict_batch(
                    compress(sentences, are_open), given=given if keeps else None
                )
            )
        labels: list[str] = []
        for (start, end), is_whole in zip(bounds, are_whole, strict=True):
            if is_whole:
                labels += next(labeled)
            else:
                tree = next(parsed)
                heads[start:end] = tree.heads
                labels += tree.labels
        return self._placed(tokens, first, heads, labels)

    def _placed(
        self,
        tokens: TreeTokens,
        first: NDArray[np.int64],
        heads: NDArray[np.int64],
        labels: Sequence[str],
    ) -> list[DocParse]:
        """The trees of each Doc, from those of the parts of all Docs.

        first: of each token the first of its part. heads: from there. labels: of the arcs.
        A root that the model has no name for is called ``ROOT``, as spaCy's are.
        """
        is_root = heads == ROOT
        unnamed = ("",) if self.estimator.labeled else ("", DEPENDENCY)
        # Each label of an arc, and as that of a root.
        numbers = {label: 2 * i for i, label in enumerate(dict.fromkeys(labels))}
        names = [
            name
            for label in numbers
            for name in (label or DEPENDENCY, ROOT_LABEL if label in unnamed else label)
        ]
        chosen = np.array([numbers[label] for label in labels], np.int64) + is_root
        values = head_columns(np.where(is_root, ROOT, heads + first), hashes(names)[chosen])
        # `np.unique` would import masked arrays, which takes as long as a hundred sentences.
        written = tuple([names[number] for number in sorted(set(chosen.tolist()))])
        return [DocParse(written, of_doc) for of_doc in tokens.per_doc(values)]

    def _sentences_of(self, doc: Doc) -> Iterable[tuple[Any, ...]]:
        words, tags = self._words_and_tags(doc)
        return ((words[start:end], tags[start:end]) for start, end in self._spans(doc))

    def _keep_analyses(self, doc: Doc, predicted: DocParse) -> None:
        # A root is its own head.
        heads = (predicted.values[0].view(np.int64) + np.arange(len(doc))).tolist()
        parts = []
        for (start, end), sentence in zip(self._spans(doc), self._sentences_of(doc), strict=True):
            found = self.estimator.nbest(*sentence, self.n_asked)
            parts.append((start, end, [_placed(start, *each) for each in found], heads[start:end]))
        self._keep_parts(doc, "heads", parts, lambda item: item[0])

    def _annotate(self, doc: Doc, predicted: DocParse) -> None:
        """Write the trees of a Doc."""
        self._add(doc, predicted.labels)
        if len(doc):
            doc.from_array(HEADS_AND_LABELS, predicted.values.T)

    def _held(self, doc: Doc) -> Iterator[tuple[int, int]]:
        for token in doc:
            if token.has_head():
                yield min(token.i, token.head.i), max(token.i, token.head.i)

    # Training ------------------------------------------------------------------------------------

    def _gold_sentences(
        self, doc: Doc, tags: Sequence[str]
    ) -> Iterator[tuple[int, Sentence | None]]:
        for sentence in dependency_sentences(doc, tags=tags):
            has_any = any(head is not None for head in sentence.heads)
            yield len(sentence.words), sentence if has_any else None

    def _left_out(self) -> str:
        return "have no heads, or not the words that are predicted,"


def _known_heads(
    tokens: TreeTokens, first: NDArray[np.int64], end: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The heads that tokens have, from the first of their part, `ROOT`, or -2 where there is none.

    tokens: with heads and labels. first, end: the first token of the part of each, and the first
    after it; a head elsewhere is none.
    """
    relative, labels = tokens.columns
    # In two's complement, relative to the token.
    above = relative.view(np.int64) + np.arange(len(relative))
    heads = np.where(relative == 0, ROOT, above - first)
    heads[(above < first) | (above >= end) | (labels == 0)] = _UNKNOWN
    return heads


def _given(heads: list[int], labels: list[str] | None, start: int, end: int) -> GivenArcs | None:
    """The heads and labels of the tokens from `start` to `end` that stay; None for others.

    None for all is faster than None for each.
    """
    found = [None if head == _UNKNOWN else head for head in heads[start:end]]
    if found.count(None) == end - start:
        return None
    if labels is None:
        return found, [None] * len(found)
    return found, [
        None if head is None else label
        for head, label in zip(found, labels[start:end], strict=True)
    ]


def _placed(start: int, score: float, tree: Parse) -> tuple[float, list[tuple[int, str]]]:
    """A tree as (head, label) pairs, heads as places in the Doc; a root is its own head."""
    heads = (i if head == ROOT else start + head for i, head in enumerate(tree.heads, start))
    return score, list(zip(heads, tree.labels, strict=True))


create_parser = component_factory(
    StructregParser,
    assigns=["token.head", "token.dep", "token.is_sent_start", "doc.sents"],
    # One of them has a value: dep_las on gold words, las_f on words of the pipeline's own.
    score_weights={
        **{"dep_las": 1.0, "las_f": 1.0, "dep_uas": 0.0, "uas_f": 0.0},
        "dep_las_per_type": None,
    },
)


# Scorer -------------------------------------------------------------------------------------------


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
    from spacy_structreg.metrics.dependencies import ParsingScorer

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
    from spacy_structreg.metrics.dependencies import TextParsingScorer

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


def _without_tags(sentences: Iterable[Sentence]) -> list[Sentence]:
    return [replace(each, tags=("_",) * len(each.words)) for each in sentences]


# Config and task ----------------------------------------------------------------------------------


def parser_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a dependency parser."""
    from spacy_structreg.models.dependencies import DependencyParser
    from spacy_structreg.pipeline.tag_reading_configs import tag_reading_parts

    return tag_reading_parts(
        request,
        name="parser",
        title="a dependency parser",
        noun="parser",
        component=StructregParser,
        model=DependencyParser,
        scores={
            "dep_las": 1.0,
            "dep_uas": 0.0,
            "las_f": None,
            "uas_f": None,
            "dep_las_per_type": None,
        },
        about_scores="the share of words with the right head and label",
    )


def joint_parser_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a tokenizer that parses its words. Raises as `chosen_tag_map`."""
    from spacy_structreg.models.joint.word_joint_parser import WordJointParser
    from spacy_structreg.pipeline.component import TaggingTokenizerSettings
    from spacy_structreg.pipeline.setting_texts import tokenizer_block
    from spacy_structreg.pipeline.tokenizer_tasks import chosen_tag_map, tokenizer_parts

    return tokenizer_parts(
        WordJointParser,
        title="a tokenizer that finds words, their tags and dependency trees",
        tokenizer=tokenizer_block(
            "spacy_structreg.JointParser.v1",
            TaggingTokenizerSettings,
            tag_map=chosen_tag_map(request),
        ),
        factory="structreg_joint_parser_trainer",
        about_scores="F of words that are right with their head and label",
    )


class Dependencies(DrawnTask):
    """Heads of words and their labels, found by a pipe."""

    stem = "dependencies"
    order = 3
    predicts = "heads"
    verb = "parses"
    noun = "parser"
    missing = "head"
    reads_tags = True
    of_trees = True
    given_sentences = True
    supersedes = ("joint",)
    draw_order = 1
    styles: ClassVar = {"dep": Style("a dependency tree, as arcs above the words", heads="always")}
    templates = (
        ConfigTemplate(
            "parse",
            "a pipe that finds heads of tagged words",
            parser_parts,
            tags="some",
            gold="a tree",
        ),
        ConfigTemplate(
            "joint-parse",
            "a tokenizer that tags and parses its words",
            joint_parser_parts,
            takes_base=False,
            tags="some",
            gold="a tree",
        ),
    )

    def parts(self, nlp: Language) -> list[str]:
        """The tokenizer, if it parses, and all pipes that write heads and their labels."""
        tokenizer = [TOKENIZER] if stem_of(nlp.tokenizer) == self.stem else []
        return tokenizer + [
            name
            for name, pipe in nlp.pipeline
            if "token.dep" in nlp.get_pipe_meta(name).assigns
            # Pipes that find constituents write heads if they are told to.
            and getattr(pipe, "dependencies", "model") is not None
        ]

    def has_gold(self, doc: Doc) -> bool:
        """True if a word has a head."""
        return bool(doc.has_annotation("DEP"))

    def scored_parts(
        self, nlp: Language, gold: Sequence[Doc], given: Given, *, alone: bool = False
    ) -> list[str]:
        """As of other tasks; on text if words are tagged too, in the corpus and by the pipeline."""
        if not given.words:
            if not (alone or is_ours(nlp.tokenizer)) or not tags_texts(nlp):
                return []
            gold = [doc for doc in gold if is_tagged_throughout(doc) and is_parsed_throughout(doc)]
        found = super().scored_parts(nlp, gold, given)
        # A tokenizer parses the words that it finds itself.
        return [name for name in found if name != TOKENIZER] if given.words else found

    def score(self, pairs: Pairs, part: TaskPart, settings: ScoreSettings) -> Scores:
        """Attachment scores of gold words, or F of words, tags and heads of raw text."""
        if settings.given.words:
            return score_trees(pairs, punctuation=settings.punctuation)
        return score_texts(pairs, settings.vocabulary, punctuation=settings.punctuation)

    def draw(
        self, doc: Doc, style: str, lengths: Sequence[int] | None, part: TaskPart | None, **how: Any
    ) -> list[Picture]:
        """Draw the sentences in which a head is known."""
        from spacy_structreg.corpora.drawing import dependency_svg

        wanted = how.get("wanted")
        pictures: list[Picture] = []
        for number, tree in enumerate(dependency_sentences(doc, lengths)):
            is_drawn = wanted is None or number in wanted
            has_heads = any(head is not None for head in tree.heads)
            drawn = dependency_svg(tree) if is_drawn and has_heads else None
            pictures.append((len(tree.words), drawn))
        return pictures


def is_parsed_throughout(doc: Doc) -> bool:
    """True if all words of a Doc have heads."""
    return all(None not in sentence.heads for sentence in dependency_sentences(doc))


DEPENDENCIES: Final = Dependencies()
