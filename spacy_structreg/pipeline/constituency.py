"""The pipe that finds constituents, ``structreg_constituency``, with its scorer, config and task.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.learn.setting_fields import setting
from spacy_structreg.pipeline.analyses import AlternativeSettings
from spacy_structreg.pipeline.component import (
    component_factory,
    logger,
)
from spacy_structreg.pipeline.constituency_attributes import register_attributes
from spacy_structreg.pipeline.constituency_documents import (
    SPANS_KEY,
    Phrase,
    constituency_sentences,
    read_phrases,
    write_constituents,
    write_phrases,
)
from spacy_structreg.pipeline.documents import gold_words, tagged_words, visible_parts
from spacy_structreg.pipeline.task import (
    ConfigParts,
    ConfigRequest,
    ConfigTemplate,
    DrawnTask,
    Pairs,
    Picture,
    ScoreSettings,
    Style,
    TaskPart,
    score_weights,
)
from spacy_structreg.pipeline.tree_pipe import (
    TreePipe,
    TreePipeSettings,
    write_heads,
)

if TYPE_CHECKING:
    from spacy_structreg.corpora.constituents import ConstituencySentence
    from spacy_structreg.metrics.constituents import HeadedBracket
    from spacy_structreg.metrics.figures import Counts, Scores


Dependencies: TypeAlias = Literal["model", "ctb", "ptb"]


class TreePart(NamedTuple):
    """A part of a Doc that gets one tree.

    start, end: its first token, and the first after it. places: the tokens that are words.
    rows: the constituents over the words, as of `ConstituencyParser.predict_arrays`; None if there
    are no words. labels: their names.
    """

    start: int
    end: int
    places: list[int]
    rows: NDArray[np.int32] | None
    labels: tuple[str, ...]

    def of_tokens(self) -> NDArray[np.int64]:
        """First token, the first after it, and head of each constituent, shape (n, 3)."""
        assert self.rows is not None
        found = self.rows[:, 1:].astype(np.int64)
        if len(self.places) == self.end - self.start:
            return found + self.start
        places = np.array(self.places)
        found[:, 1] = places[found[:, 1] - 1] + 1
        found[:, 0] = places[found[:, 0]]
        found[:, 2] = places[found[:, 2]]
        return found


@dataclass(frozen=True, kw_only=True)
class ConstituencySettings(TreePipeSettings, AlternativeSettings):
    """Settings of the constituency parser."""

    overwrite: bool = setting(
        False,
        "Whether what is parsed already is parsed anew; false keeps whole trees that have heads, "
        "and other constituents that are there, and finds the others to fit them.",
    )
    spans_key: str = setting(
        SPANS_KEY, "The span group that holds the constituents, here and in the corpora."
    )
    dependencies: Dependencies | None = setting(
        None,
        'Heads that are written as well: of the head words that the model finds, "model", or of '
        'those that head rules find in its trees, "ctb" or "ptb"; null for no heads.',
    )


class StructregConstituency(TreePipe):
    """Puts the constituents of each sentence into a span group, from words and their tags.

    A constituent begins and ends with a word: white space is not shown to the model. In a Doc
    without heads, a sentence starts where a tree does. The model learns from the trees of the
    reference, sentence by sentence, with the tags of the predicted side, as it will see them; a
    sentence is left out if it has other words there. Until the model is trained nothing is written.
    Parameters and errors are those of `EstimatorPipe`; ValueError also for attributes whose names
    are taken (`register_attributes`), and in prediction where no tree has what stays.
    """

    TASK = "constituents"
    FACTORY = "structreg_constituency"
    ARCHITECTURE = "spacy_structreg.ConstituencyParser.v1"
    SCORER = "spacy_structreg.constituency_scorer.v1"
    SCORER_TEXT = """\
# What counts: "collins", as EVALB does with COLLINS.prm; "plain", all constituents and all words;
# "no_pu", without the punctuation of the Chinese Treebank.
conventions = "collins"
"""
    ALTERNATIVES = "constituents"
    SETTINGS: ClassVar[type[ConstituencySettings]] = ConstituencySettings
    SCORED = ("spans_key",)

    settings: ConstituencySettings

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._keys: tuple[Any, tuple[str, ...], list[int]] | None = None
        register_attributes(self.settings.extension_prefix, self.settings.spans_key)

    # Prediction ----------------------------------------------------------------------------------

    def _predict(self, docs: list[Doc]) -> list[list[TreePart]]:
        """The trees of each Doc."""
        found: list[list[TreePart]] = []
        # The parts that the model is asked for, and what it is asked.
        asked: list[tuple[list[TreePart], int]] = []
        sentences: list[tuple[list[str], list[str]]] = []
        given: list[list[tuple[int, int, str | None]] | None] = []
        for doc in docs:
            words, tags = self._words_and_tags(doc)
            bounds = list(self._spans(doc))
            places = visible_parts(words, bounds)
            known = None if self.settings.overwrite else self._given(doc, places)
            parts: list[TreePart] = []
            for number, ((start, end), visible) in enumerate(zip(bounds, places, strict=True)):
                rows: NDArray[np.int32] | None = None
                labels = self.estimator.labels
                if visible:
                    sentence = _sentence(words, tags, visible)
                    phrases = known[number] if known else []
                    tree = _whole_tree(sentence, phrases) if phrases else None
                    if tree is not None:
                        rows, labels = _rows_of(tree)
                    else:
                        asked.append((parts, number))
                        sentences.append(sentence)
                        given.append(
                            [(each.begin, each.end, each.label or None) for each in phrases]
                            if phrases
                            else None
                        )
                parts.append(TreePart(start, end, visible, rows, labels))
            found.append(parts)
        trees = self.estimator.predict_arrays(sentences, given=given if any(given) else None)
        for (parts, number), of_part in zip(asked, trees, strict=True):
            parts[number] = parts[number]._replace(rows=of_part)
        return found

    def _sentences_of(self, doc: Doc) -> Iterable[tuple[Any, ...]]:
        words, tags = self._words_and_tags(doc)
        for places in visible_parts(words, self._spans(doc)):
            if places:
                yield _sentence(words, tags, places)

    def _keep_analyses(self, doc: Doc, predicted: list[TreePart]) -> None:
        if not self.settings.alternatives:
            return
        words, tags = self._words_and_tags(doc)
        parts = []
        for part in predicted:
            found: list[tuple[float, ConstituencySentence]] = []
            if part.places:
                sentence = _sentence(words, tags, part.places)
                found = self.estimator.nbest(*sentence, self.settings.alternatives)
            trees = (
                (
                    score,
                    [
                        (label, part.places[begin], part.places[end - 1] + 1)
                        for label, begin, end, _ in tree.constituents
                    ],
                )
                for score, tree in found
            )
            parts.append((part.start, part.end, list(trees), None))
        self._keep_parts(doc, "constituents", parts)

    def _annotate(self, doc: Doc, predicted: list[TreePart]) -> None:
        """Write the trees of a Doc."""
        labels: list[int] = []
        blocks = [np.empty((0, 3), np.int64)]
        for part in predicted:
            if part.rows is not None:
                keys = self._label_keys(doc, part.labels)
                labels += [keys[number] for number in part.rows[:, 0].tolist()]
                blocks.append(part.of_tokens())
        write_constituents(doc, labels, np.concatenate(blocks), self.settings.spans_key)
        if self.settings.dependencies is not None:
            self._write_heads(doc, predicted)
        elif not doc.has_annotation("DEP"):
            _write_starts(doc, {part.start for part in predicted})

    def _label_keys(self, doc: Doc, labels: tuple[str, ...]) -> list[int]:
        """The hashes of labels, which are added to the vocabulary of a Doc."""
        strings: Any = doc.vocab.strings
        if self._keys is None or self._keys[0] is not strings or self._keys[1] is not labels:
            # Labels stay in the vocabulary when a memory zone ends.
            keys = [strings.add(label, allow_transient=False) for label in labels]
            self._keys = strings, labels, keys
        return self._keys[2]

    def _held(self, doc: Doc) -> Iterator[tuple[int, int]]:
        for span in doc.spans.get(self.settings.spans_key, ()):
            yield span.start, span.end - 1

    def _given(self, doc: Doc, places: Iterable[Sequence[int]]) -> list[list[Phrase]] | None:
        """The constituents that a Doc has in each part, over its words; None if it has none.

        places: the tokens of each part that are words.
        """
        phrases = read_phrases(doc, self.settings.spans_key)
        if not phrases:
            return None
        found: list[list[Phrase]] = []
        at = start = 0
        for words in places:
            end = start + len(words)
            given: list[Phrase] = []
            while at < len(phrases) and phrases[at].begin < end:
                phrase = phrases[at]
                if phrase.end > end:
                    raise ValueError(
                        f"the pipe {self.name!r} cannot keep {phrase.label or 'a constituent'} "
                        f"in doc.spans[{self.settings.spans_key!r}], which goes beyond the "
                        f"sentence {doc[words[0] : words[-1] + 1].text!r:.60}"
                    )
                head = None if phrase.head is None else phrase.head - start
                given.append(Phrase(phrase.label, phrase.begin - start, phrase.end - start, head))
                at += 1
            found.append(given)
            start = end
        return found

    def _write_heads(self, doc: Doc, parts: Sequence[TreePart]) -> None:
        from spacy_structreg.models.tree_parser import heads_of_all
        from spacy_structreg.tasks.constituents import heads_of_words

        heads = np.empty(len(doc), np.int64)
        for part in parts:
            of_part: Any = np.empty(0, np.int64)
            if part.rows is not None:
                rows = part.rows
                if self.settings.dependencies in ("ctb", "ptb"):
                    rows = self._by_rules(doc, part)
                of_part = heads_of_words(rows, len(part.places))
            if len(part.places) < part.end - part.start:
                within = [place - part.start for place in part.places]
                of_part = np.array(heads_of_all(of_part, within, part.end - part.start))
            heads[part.start : part.end] = np.where(of_part == ROOT, ROOT, of_part + part.start)
        if len(heads):
            write_heads(doc, heads)

    def _by_rules(self, doc: Doc, part: TreePart) -> NDArray[np.int32]:
        """The constituents of a part with the heads that rules find."""
        from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
        from spacy_structreg.corpora.head_rules import head_rules

        assert self.settings.dependencies in ("ctb", "ptb")
        assert part.rows is not None
        words, tags = _sentence(*self._words_and_tags(doc), part.places)
        constituents = tuple(
            Constituent(part.labels[label], *place) for label, *place in part.rows.tolist()
        )
        tree = ConstituencySentence.built(tuple(words), tuple(tags), constituents)
        rows: NDArray[np.int32] = part.rows.copy()
        found = tree.with_heads(head_rules(self.settings.dependencies))
        rows[:, 3] = [each.head for each in found.constituents]
        return rows

    # Training ------------------------------------------------------------------------------------

    def _gold_sentences(
        self, doc: Doc, tags: Sequence[str]
    ) -> list[tuple[int, ConstituencySentence | None]]:
        return constituency_sentences(doc, self.settings.spans_key, tags=tags)

    def _left_out(self) -> str:
        return "have no tree, or not the words that are predicted,"


create_constituency = component_factory(
    StructregConstituency,
    assigns=["doc.spans", "token.head", "token.dep", "token.is_sent_start", "doc.sents"],
    score_weights={"brackets_f": 1.0, "brackets_p": 0.0, "brackets_r": 0.0},
)


def _sentence(
    words: list[str], tags: list[str], places: Sequence[int]
) -> tuple[list[str], list[str]]:
    """The words of some tokens of a Doc, and their tags."""
    start, end = places[0], places[-1] + 1
    if end - start == len(places):
        return words[start:end], tags[start:end]
    return [words[i] for i in places], [tags[i] for i in places]


def _whole_tree(
    sentence: tuple[list[str], list[str]], phrases: Sequence[Phrase]
) -> ConstituencySentence | None:
    """The tree that is given of a sentence, if its words, labels and heads are all there."""
    from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent

    words, tags = sentence
    if phrases[0].end - phrases[0].begin < len(words):
        return None
    found: list[Constituent] = []
    for label, begin, end, head in phrases:
        if not label or head is None:
            return None
        found.append(Constituent(label, begin, end, head))
    return ConstituencySentence(tuple(words), tuple(tags), tuple(found))


def _rows_of(tree: ConstituencySentence) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """The constituents of a tree as rows, and the names of their labels."""
    numbers: dict[str, int] = {}
    rows = [
        (numbers.setdefault(label, len(numbers)), *place) for label, *place in tree.constituents
    ]
    return np.array(rows, np.int32).reshape(-1, 4), tuple(numbers)


def _write_starts(doc: Doc, starts: AbstractSet[int]) -> None:
    """Let sentences start with these tokens, and with no others."""
    # Token.is_sent_start looks through all of the Doc whenever it is set.
    values: Any = np.array([1 if i in starts else -1 for i in range(len(doc))], dtype=np.int64)
    doc.from_array(["SENT_START"], values.astype(np.uint64))


# Scorer -------------------------------------------------------------------------------------------

# The figure of taggers, for which words of punctuation count as well.
TAGS: Final = "tag_acc"


def make_constituency_scorer(conventions: str = "collins") -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_structreg.constituency_scorer.v1``.

    conventions: what counts, by a name of `metrics.constituents.CONVENTIONS`. The scorer gives the
    figures of `metrics.constituents.bracket_figures` but for tags, as fractions of 1, if all words
    are those of the reference. They are None if they are not, which is warned of, or there are no
    gold trees; that of heads also where gold constituents have none.
    Raises ValueError for another name.
    """

    from spacy_structreg.metrics.constituents import CONVENTIONS

    if conventions not in CONVENTIONS:
        raise ValueError(
            f"conventions of the scorer is {conventions!r}; choose {', '.join(CONVENTIONS)}"
        )
    # Which pickles, as processes that are spawned need it.
    return partial(score_constituency, conventions=conventions)


def score_constituency(
    examples: Iterable[Example],
    *,
    conventions: str = "collins",
    spans_key: str = SPANS_KEY,
    **kwargs: Any,
) -> dict[str, Any]:
    """Score the constituents of Docs, as `make_constituency_scorer` says."""
    pairs = [(example.reference, example.predicted) for example in examples]
    n_others = sum(gold_words(reference) != gold_words(predicted) for reference, predicted in pairs)
    if n_others:
        logger.warning(
            "%d of %d Docs have other words than the gold ones, so there are no figures of "
            "constituents; let the pipeline start from the gold words",
            n_others,
            len(pairs),
        )
        pairs = []
    return score_brackets_of_docs(pairs, conventions, spans_key).as_dict()


def score_brackets_of_docs(
    pairs: Iterable[tuple[Doc, Doc]],
    conventions: str = "collins",
    spans_key: str = SPANS_KEY,
    predicted_key: str | None = None,
) -> Scores:
    """The scores of predicted Docs against references of the same words.

    pairs: reference and prediction. Gold sentences without a tree do not count. Gold sentences that
    a predicted constituent goes beyond count as one. Heads do not count if any gold ones are
    missing.
    conventions: a name of `metrics.constituents.CONVENTIONS`. spans_key, predicted_key: the span
    groups of the gold and of the predicted constituents; None for the same one.
    Raises ValueError if there are other words, or for constituents that make no tree.
    """

    from spacy_structreg.metrics.constituents import CONVENTIONS, BracketScorer

    scorer = BracketScorer(CONVENTIONS[conventions])
    all_headed = True
    for reference, predicted in pairs:
        phrases = read_phrases(reference, spans_key) or []
        headed = all(phrase.head is not None for phrase in phrases)
        all_headed &= headed
        for gold, found in _sentences(
            reference, predicted, spans_key, predicted_key or spans_key, headed=headed
        ):
            scorer.add(gold, found)
    scores = scorer.scores().without(TAGS)
    return scores if all_headed else scores.without_counts("heads")


def score_brackets_of_texts(
    pairs: Iterable[tuple[Doc, Doc]],
    conventions: str = "collins",
    spans_key: str = SPANS_KEY,
    predicted_key: str | None = None,
) -> Scores:
    """The scores of predicted Docs against references of the same text, whatever their words are.

    A bracket is right if a gold one has the same label, first and last character: characters are
    the words here, with the tags of the gold words. Heads do not count, nor do gold Docs without a
    constituent. Other parameters and errors are those of `score_brackets_of_docs`.
    """

    from spacy_structreg.metrics.constituents import CONVENTIONS, BracketScorer

    scorer = BracketScorer(CONVENTIONS[conventions])
    for reference, predicted in pairs:
        if read_phrases(reference, spans_key):
            tags = [tag for word, tag in tagged_words(reference) for _ in word]
            gold = _by_characters(reference, spans_key, tags)
            scorer.add(gold, _by_characters(predicted, predicted_key or spans_key, tags))
    return scorer.scores().without(TAGS).without_counts("heads")


def _by_characters(doc: Doc, spans_key: str, tags: list[str]) -> _Brackets:
    from spacy_structreg.corpora.constituents import Constituent

    words = gold_words(doc)
    bounds = list(accumulate(map(len, words), initial=0))
    constituents: list[HeadedBracket] = [
        Constituent(each.label, bounds[each.begin], bounds[each.end], bounds[each.begin])
        for each in read_phrases(doc, spans_key) or []
    ]
    return _Brackets(list("".join(words)), tags, constituents)


@dataclass(frozen=True)
class _Brackets:
    """Tagged words and phrases over them, outer ones first."""

    words: list[str]
    tags: list[str]
    constituents: list[HeadedBracket]


def _sentences(
    reference: Doc, predicted: Doc, spans_key: str, predicted_key: str, *, headed: bool
) -> Iterable[tuple[_Brackets, _Brackets]]:
    """Gold brackets, and those that are predicted over the same words."""
    from spacy_structreg.corpora.constituents import Constituent

    gold, found = tagged_words(reference), tagged_words(predicted)
    phrases = read_phrases(predicted, predicted_key) or []
    wanted: list[HeadedBracket] = []
    first = start = at = 0
    complete = True
    for n_words, tree in constituency_sentences(reference, spans_key, headed=headed):
        complete &= tree is not None
        wanted += (
            Constituent(each.label, *(start - first + i for i in (each.begin, each.end, each.head)))
            for each in (tree.constituents if tree is not None else ())
        )
        start += n_words
        last = at
        while last < len(phrases) and phrases[last].begin < start:
            last += 1
        if any(phrase.end > start for phrase in phrases[at:last]):
            continue
        if complete:
            inside = [
                Constituent(
                    each.label,
                    each.begin - first,
                    each.end - first,
                    # One that nobody knows is none of the words.
                    -1 if each.head is None else each.head - first,
                )
                for each in phrases[at:last]
            ]
            yield _brackets(gold[first:start], wanted), _brackets(found[first:start], inside)
        wanted, complete = [], True
        first, at = start, last


def _brackets(pairs: list[tuple[str, str]], constituents: Iterable[HeadedBracket]) -> _Brackets:
    return _Brackets([word for word, _ in pairs], [tag for _, tag in pairs], list(constituents))


# Config and task ----------------------------------------------------------------------------------


def constituency_parts(request: ConfigRequest) -> ConfigParts:
    """The parts of the config of a constituency parser."""
    from spacy_structreg.models.constituents import ConstituencyParser
    from spacy_structreg.pipeline.tag_reading_configs import tag_reading_parts

    return tag_reading_parts(
        request,
        name="constituency",
        title="a constituency parser",
        noun="parser",
        component=StructregConstituency,
        model=ConstituencyParser,
        scores=score_weights("structreg_constituency"),
        about_scores="F of brackets",
    )


class Constituents(DrawnTask):
    """Phrase structure trees over given words, found by a pipe."""

    stem = "constituents"
    order = 4
    predicts = "constituents"
    verb = "parses"
    noun = "parser"
    missing = "constituent"
    reads_tags = True
    of_trees = True
    on_text = False
    given_sentences = True
    draw_order = 0
    styles: ClassVar = {
        "tree": Style("words at the bottom, and phrases above them", heads="optional"),
        "span": Style("phrases as bars below the words"),
    }
    templates = (
        ConfigTemplate(
            "constituency",
            "a pipe that finds constituents of tagged words",
            constituency_parts,
            tags="some",
            gold="constituents",
            advice="make the file with 'convert --head-rules' from trees in brackets",
        ),
    )

    def has_gold(self, doc: Doc) -> bool:
        """True if a Doc has constituents."""
        return bool(doc.spans.get(SPANS_KEY))

    def read_gold(self, doc: Doc, spans_key: str | None) -> dict[str, Any]:
        """The constituents of the usual span group. Raises ValueError as `read_phrases`."""
        return {"constituents": read_phrases(doc)}

    def write_gold(self, doc: Doc, sentence: Sentence) -> None:
        """Put the constituents into the usual span group."""
        if sentence.constituents is not None:
            write_phrases(doc, sentence.constituents)

    def align_gold(self, nlp: Language, docs: Iterable[Doc]) -> None:
        """Let the usual span group be that of the pipe, if there is one in any Doc."""
        key = next((TaskPart(nlp, name).pipe.spans_key for name in self.parts(nlp)), SPANS_KEY)
        if key == SPANS_KEY:
            return
        docs = list(docs)
        if any(key in doc.spans for doc in docs):
            for doc in docs:
                if key in doc.spans:
                    doc.spans[SPANS_KEY] = doc.spans[key].copy(doc)
                elif SPANS_KEY in doc.spans:
                    del doc.spans[SPANS_KEY]

    def score(self, pairs: Pairs, part: TaskPart, settings: ScoreSettings) -> Scores:
        """The figures of EVALB, of all sentences and of short ones."""
        found_key = part.setting("spans_key", SPANS_KEY)
        return score_brackets_of_docs(pairs, settings.conventions, SPANS_KEY, found_key)

    def text_parts(self, nlp: Language) -> list[str]:
        """The pipes of the task."""
        return self.parts(nlp)

    def text_counts(self, pairs: Pairs, part: TaskPart) -> dict[str, Counts]:
        """The counts of brackets over characters."""
        found_key = part.setting("spans_key", SPANS_KEY)
        found = score_brackets_of_texts(pairs, predicted_key=found_key).compared()
        return {"text_brackets_f": found["brackets_f"]}

    def is_found(self, doc: Doc, part: TaskPart) -> bool:
        """True if a Doc has the span group of the pipe."""
        return part.setting("spans_key", SPANS_KEY) in doc.spans

    def draw(
        self, doc: Doc, style: str, lengths: Sequence[int] | None, part: TaskPart | None, **how: Any
    ) -> list[Picture]:
        """Draw the sentences that have a tree; as spans, those that have a phrase."""
        from spacy_structreg.corpora.drawing import span_svg, tree_svg

        heads = bool(how.get("heads"))
        key = SPANS_KEY if part is None else part.setting("spans_key", SPANS_KEY)
        wanted = how.get("wanted")
        pictures: list[Picture] = []
        for number, (n_words, tree) in enumerate(constituency_sentences(doc, key, headed=heads)):
            drawn = None
            if tree is None or (wanted is not None and number not in wanted):
                pass
            elif style == "tree":
                drawn = tree_svg(tree, heads=heads)
            elif tree.constituents:
                # A word without a phrase has no bar.
                drawn = span_svg(tree)
            pictures.append((n_words, drawn))
        return pictures


CONSTITUENTS: Final = Constituents()
