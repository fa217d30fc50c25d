"""The pipe that finds constituents, ``structreg_constituency``, with its scorer, config and task.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import SENT_START  # type: ignore[import-not-found]  # has no stub
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.corpora.dependencies import DEPENDENCY, ROOT
from spacy_structreg.corpora.sentence import Phrase, Sentence
from spacy_structreg.learn.setting_fields import setting
from spacy_structreg.pipeline.analyses import AlternativeSettings
from spacy_structreg.pipeline.component import component_factory, logger
from spacy_structreg.pipeline.constituency_attributes import register_attributes
from spacy_structreg.pipeline.constituency_documents import (
    SPANS_KEY,
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
    HEADS_AND_LABELS,
    ROOT_LABEL,
    TreePipe,
    TreePipeSettings,
    TreeTokens,
    hashes,
    head_columns,
)

if TYPE_CHECKING:
    from spacy_structreg.corpora.constituents import ConstituencySentence
    from spacy_structreg.metrics.constituents import HeadedBracket
    from spacy_structreg.metrics.figures import Counts, Scores


Dependencies: TypeAlias = Literal["model", "ctb", "ptb"]


_NO_ROWS: Final = np.empty((0, 4), dtype=np.int32)


class VisibleParts(NamedTuple):
    """The words of several Docs that the model sees.

    places: the tokens that are no white space. parts: the first of these of each part that gets a
    tree, and the first after it, shape (n_parts, 2). sentences: words and tags of each part.
    """

    places: NDArray[np.int64]
    parts: NDArray[np.int64]
    sentences: list[tuple[list[str], list[str]]]

    @classmethod
    def of(cls, tokens: TreeTokens) -> VisibleParts:
        """All parts, also those without words."""
        words, tags, parts = tokens.words, tokens.tags, tokens.parts
        places = np.arange(len(words))
        if tokens.blanks is not None:
            places = np.flatnonzero(~tokens.blanks)
            words, tags = [words[i] for i in places], [tags[i] for i in places]
            parts = np.searchsorted(places, parts)
        bounds = parts.tolist()
        return cls(places, parts, [(words[start:end], tags[start:end]) for start, end in bounds])


class DocConstituents(NamedTuple):
    """The constituents of a Doc, and what is written to its tokens.

    labels: all that there may be. values: heads, or starts of sentences, as `Doc.from_array` takes
    them. keys: the hash of the label of each constituent. places: its first token, the first after
    it, and its head, shape (n_constituents, 3). characters: begins and lengths of all tokens, shape
    (2, n_tokens).
    """

    labels: tuple[str, ...]
    values: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    places: NDArray[np.int64]
    characters: NDArray[np.int64]


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
        register_attributes(self.settings.extension_prefix, self.settings.spans_key)

    # Prediction ----------------------------------------------------------------------------------

    def _predict(self, docs: list[Doc]) -> list[DocConstituents]:
        """The trees of each Doc."""
        tokens = self._read(docs, "IDX", "LENGTH")
        visible = VisibleParts.of(tokens)
        found = [_NO_ROWS] * len(visible.sentences)
        known = {} if self.settings.overwrite else self._known(docs, tokens, visible)
        numbers = {label: number for number, label in enumerate(self.estimator.labels)}
        asked: list[int] = []
        given: list[list[tuple[int, int, str | None]] | None] = []
        for number, sentence in enumerate(visible.sentences):
            phrases = known.get(number)
            tree = _whole_tree(sentence, phrases) if phrases else None
            if tree is not None:
                found[number] = _rows_of(tree, numbers)
            elif sentence[0]:
                asked.append(number)
                bound = [(each.begin, each.end, each.label or None) for each in phrases or ()]
                given.append(bound or None)
        trees = self.estimator.predict_arrays(
            [visible.sentences[number] for number in asked], given=given if any(given) else None
        )
        for number, rows in zip(asked, trees, strict=True):
            found[number] = rows
        return self._placed(tokens, visible, found, tuple(numbers))

    def _placed(
        self,
        tokens: TreeTokens,
        visible: VisibleParts,
        found: Sequence[NDArray[np.int32]],
        labels: tuple[str, ...],
    ) -> list[DocConstituents]:
        """The trees of each Doc, from those of the parts of all Docs.

        found: of each part its constituents, as of `ConstituencyParser.predict_arrays`. labels: the
        names of the labels.
        """
        places, parts, sentences = visible
        counts = np.array(list(map(len, found)), np.int64)
        first_words = np.repeat(parts[:, 0], counts)[:, np.newaxis]
        rows = np.concatenate([_NO_ROWS, *found]).astype(np.int64)
        if self.settings.dependencies is None:
            # Starts of sentences; others are none.
            values = np.full((1, len(tokens.words)), -1).view(np.uint64)
            values[0, tokens.parts[:, 0]] = 1
        else:
            headed = rows
            if self.settings.dependencies != "model":
                by_rules = [
                    self._by_rules(sentence, of_part, labels)
                    for sentence, of_part in zip(sentences, found, strict=True)
                    if len(of_part)
                ]
                headed = np.concatenate([_NO_ROWS, *by_rules])
            values = _columns_of_heads(headed + [0, 1, 1, 1] * first_words, tokens, visible)
            labels = (*labels, ROOT_LABEL, DEPENDENCY)
        rows[:, 1:] += first_words
        rows[:, 1] = places[rows[:, 1]]
        rows[:, 2] = places[rows[:, 2] - 1] + 1
        rows[:, 3] = places[rows[:, 3]]
        ends = np.append([0], np.cumsum(counts))[tokens.of_docs]
        rows[:, 1:] -= np.repeat(tokens.docs[:-1], np.diff(ends))[:, np.newaxis]
        keys = hashes(labels)[rows[:, 0]]
        return [
            DocConstituents(labels, of_tokens, keys[start:end], rows[start:end, 1:], characters)
            for (start, end), of_tokens, characters in zip(
                pairwise(ends.tolist()),
                tokens.per_doc(values),
                tokens.per_doc(tokens.columns.view(np.int64)),
                strict=True,
            )
        ]

    def _sentences_of(self, doc: Doc) -> Iterable[tuple[Any, ...]]:
        words, tags = self._words_and_tags(doc)
        for places in visible_parts(words, self._spans(doc)):
            if places:
                yield _sentence(words, tags, places)

    def _keep_analyses(self, doc: Doc, predicted: DocConstituents) -> None:
        if not self.settings.alternatives:
            return
        words, tags = self._words_and_tags(doc)
        bounds = list(self._spans(doc))
        parts = []
        for (start, end), places in zip(bounds, visible_parts(words, bounds), strict=True):
            found: list[tuple[float, ConstituencySentence]] = []
            if places:
                sentence = _sentence(words, tags, places)
                found = self.estimator.nbest(*sentence, self.settings.alternatives)
            trees = (
                (
                    score,
                    [
                        (label, places[begin], places[end - 1] + 1)
                        for label, begin, end, _ in tree.constituents
                    ],
                )
                for score, tree in found
            )
            parts.append((start, end, list(trees), None))
        self._keep_parts(doc, "constituents", parts)

    def _annotate(self, doc: Doc, predicted: DocConstituents) -> None:
        """Write the trees of a Doc."""
        labels, values, keys, places, characters = predicted
        self._add(doc, labels)
        # Copies, as the Doc is not to keep the arrays of a whole batch.
        key = self.settings.spans_key
        write_constituents(doc, keys.copy(), places.copy(), key, characters.copy())
        if not len(doc):
            return
        if self.settings.dependencies is not None:
            doc.from_array(HEADS_AND_LABELS, values.T)
        elif not doc.has_annotation("DEP"):
            doc.from_array([SENT_START], values.T)

    def _held(self, doc: Doc) -> Iterator[tuple[int, int]]:
        for span in doc.spans.get(self.settings.spans_key, ()):
            yield span.start, span.end - 1

    def _known(
        self,
        docs: Iterable[Doc],
        tokens: TreeTokens,
        visible: VisibleParts,
    ) -> dict[int, list[Phrase]]:
        """The constituents that Docs have in parts."""
        found: dict[int, list[Phrase]] = {}
        for number, doc in enumerate(docs):
            if self.settings.spans_key in doc.spans:
                first, end = tokens.of_docs[number : number + 2]
                of_parts = [
                    (visible.places[start:stop] - tokens.docs[number]).tolist()
                    for start, stop in visible.parts[first:end]
                ]
                found |= enumerate(self._given(doc, of_parts) or (), first)
        return found

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

    def _by_rules(
        self,
        sentence: tuple[list[str], list[str]],
        rows: NDArray[np.int32],
        labels: tuple[str, ...],
    ) -> NDArray[np.int32]:
        """The constituents of a sentence with the heads that rules find."""
        from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
        from spacy_structreg.corpora.head_rules import head_rules

        assert self.settings.dependencies in ("ctb", "ptb")
        words, tags = map(tuple, sentence)
        constituents = tuple(Constituent(labels[label], *place) for label, *place in rows.tolist())
        tree = ConstituencySentence.built(words, tags, constituents)
        headed: NDArray[np.int32] = rows.copy()
        found = tree.with_heads(head_rules(self.settings.dependencies))
        headed[:, 3] = [each.head for each in found.constituents]
        return headed

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


def _rows_of(tree: ConstituencySentence, numbers: dict[str, int]) -> NDArray[np.int32]:
    """The constituents of a tree as rows. numbers: of labels; gets those that it has not."""
    rows = [
        (numbers.setdefault(label, len(numbers)), *place) for label, *place in tree.constituents
    ]
    return np.array(rows, np.int32).reshape(-1, 4)


def _columns_of_heads(
    rows: NDArray[np.int64], tokens: TreeTokens, visible: VisibleParts
) -> NDArray[np.uint64]:
    """The heads of tokens, and labels, as they are written (`head_columns`).

    rows: constituents over the words of all Docs. White space becomes a child of the token before
    it, or of the first word of its part; if there is none, its first is the root.
    """
    from spacy_structreg.tasks.constituents import heads_of_words

    places, parts, _ = visible
    heads = heads_of_words(rows.astype(np.int32), len(places)).astype(np.int64)
    if tokens.blanks is not None:
        number = np.arange(len(tokens.words))
        first = tokens.parts[:, 0].copy()
        has_words = parts[:, 0] < parts[:, 1]
        first[has_words] = places[parts[has_words, 0]]
        first = first[np.searchsorted(tokens.parts[:, 0], number, "right") - 1]
        of_words = np.where(heads == ROOT, ROOT, places[heads])
        heads = np.where(number > first, number - 1, first)
        heads[number == first] = ROOT
        heads[places] = of_words
    root, other = hashes([ROOT_LABEL, DEPENDENCY])
    return head_columns(heads, np.where(heads == ROOT, root, other))


# Scorer -------------------------------------------------------------------------------------------

# Names of `metrics.constituents.CONVENTIONS`.
CONVENTIONS: Final = ("collins", "plain", "no_pu")
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
    from spacy_structreg.metrics import constituents

    scorer = constituents.BracketScorer(constituents.CONVENTIONS[conventions])
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
    from spacy_structreg.metrics import constituents

    scorer = constituents.BracketScorer(constituents.CONVENTIONS[conventions])
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
