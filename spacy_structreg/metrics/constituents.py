"""Figures of phrase structure trees, as the program EVALB defines them.

A predicted bracket is right when a gold one has the same label and covers the same words (Black et
al. 1991, "A procedure for quantitatively comparing the syntactic coverage of English grammars").
EVALB (Sekine and Collins 1997) settles the rest by a file of parameters; `COLLINS` is the one that
papers report by, and that Zhang and Clark 2011, section 6.2, must have used, who name EVALB and
nothing else. On the tags of the Chinese Treebank it removes no punctuation.

Unlike EVALB, which takes words of punctuation out of each tree by the tags of that tree, and leaves
the sentence out if their numbers differ then, the gold tags decide here for both trees.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias

from spacy_structreg.metrics.figures import Figure, FigureTable, Scores
from spacy_structreg.metrics.segmentation import paired

EMPTY_TAG = "-NONE-"
ROOTS = frozenset({"", "ROOT", "S1", "TOP"})
# Labels that begin with such a character (-LRB-) stay whole.
BEFORE_FUNCTION_TAGS = re.compile("[^-=]+")

# A label, the word where it begins and the one before which it ends.
_Bracket: TypeAlias = tuple[str, int, int]


class HeadedBracket(Protocol):
    """A phrase over the words from `begin` to before `end`; `head` is its head word."""

    @property
    def label(self) -> str: ...
    @property
    def begin(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def head(self) -> int: ...


class BracketedSentence(Protocol):
    """Tagged words and the phrases over them, outer ones first.

    `corpora.constituents.ConstituencySentence` is one.
    """

    @property
    def words(self) -> Sequence[str]: ...
    @property
    def tags(self) -> Sequence[str]: ...
    @property
    def constituents(self) -> Sequence[HeadedBracket]: ...


@dataclass(frozen=True, slots=True)
class Conventions:
    """Conventions of scoring; the parameters of EVALB in brackets.

    labeled: whether labels are compared (LABELED). Their function tags never are: `NP-SBJ` is NP.
    ignored_labels: of brackets that do not count (DELETE_LABEL of phrases).
    removed_tags: of words that are taken out, by their gold tags, before words are counted off;
        phrases of nothing else do not count (DELETE_LABEL of tags).
    unmeasured_tags: of words that the length of a sentence does not include
        (DELETE_LABEL_FOR_LENGTH). Others do, though their words be taken out.
    equal: sets of labels, or of tags, that are one and the same (EQ_LABEL).
    cutoff: the greatest length of a short sentence, which are scored once more (CUTOFF_LEN).

    Raises ValueError for a label in two of the sets, and for a cutoff below 1.
    """

    labeled: bool = True
    ignored_labels: AbstractSet[str] = ROOTS
    removed_tags: AbstractSet[str] = frozenset({EMPTY_TAG})
    unmeasured_tags: AbstractSet[str] = frozenset({EMPTY_TAG})
    equal: tuple[AbstractSet[str], ...] = ()
    cutoff: int = 40

    def __post_init__(self) -> None:
        if self.cutoff < 1:
            raise ValueError(f"cutoff is {self.cutoff}; give the words of a short sentence, from 1")
        for label, number in Counter(label for group in self.equal for label in group).items():
            if number > 1:
                raise ValueError(f"{label!r} is in two sets of equal labels; unite them")

    def same_as(self) -> dict[str, str]:
        """Of each label in a set of equal ones, the one that stands for the set."""
        return {label: min(group) for group in self.equal for label in group}


COLLINS = Conventions(
    removed_tags=frozenset({EMPTY_TAG, ",", ":", "``", "''", "."}),
    equal=(frozenset({"ADVP", "PRT"}),),
)
"""Conventions of EVALB's ``COLLINS.prm``, and the label S1 of its ``new.prm``."""

CONVENTIONS: Mapping[str, Conventions] = MappingProxyType(
    {
        "collins": COLLINS,
        "plain": Conventions(),
        "no_pu": Conventions(removed_tags=frozenset({EMPTY_TAG, "PU"})),
    }
)
"""Conventions by name: ``collins`` is EVALB as papers on the Penn and Chinese Treebanks use it;
``plain`` counts all words and all brackets but the root; ``no_pu`` takes the punctuation of the
Chinese Treebank out.
"""


_BRACKETS: Final = (
    Figure(
        "brackets_p",
        "correct",
        "predicted",
        "precision of constituents over given words, as of EVALB",
    ),
    Figure("brackets_r", "correct", "gold", "recall of constituents over given words"),
    Figure("brackets_f", "correct", ("gold", "predicted"), "F of constituents over given words"),
    Figure(
        "brackets_complete",
        "complete",
        "sentences",
        "share of sentences with all constituents right",
    ),
    Figure(
        "brackets_crossing",
        "crossing",
        "sentences",
        "crossing brackets in a sentence, on the mean (a number)",
    ),
    Figure(
        "brackets_no_crossing",
        "uncrossed",
        "sentences",
        "share of sentences without crossing brackets",
    ),
)
_COUNTS: Final = (
    *("gold", "predicted", "correct", "crossing"),
    *("sentences", "complete", "uncrossed"),
)


def bracket_figures(cutoff: int = COLLINS.cutoff) -> FigureTable:
    """The figures of phrase structure trees, of sentences of up to `cutoff` words too.

    Those of short sentences, and the counts behind them, have the cutoff behind their names:
    ``brackets_f_40``. Figures are fractions of 1 but for ``brackets_crossing``.
    Counts: gold, predicted, correct: brackets in the gold trees, in the predicted ones, and in
    both. crossing: predicted brackets that overlap some gold one without one holding the other.
    sentences: with a word that counts. complete: those with no other brackets than the gold ones.
    uncrossed: those without a crossing bracket. words: that count. tags: those of them with the
    right tag. heads: of the correct brackets, those with the right head word; unknown if gold heads
    are missing.
    """
    about = f"sentences of up to {cutoff} words"
    return FigureTable(
        (
            *_BRACKETS,
            *(figure.with_suffix(f"_{cutoff}", about) for figure in _BRACKETS),
            Figure("tag_acc", "tags", "words", "share of given words with the right tag"),
            Figure(
                "head_acc",
                "heads",
                "correct",
                "share of right constituents with the right head word",
            ),
        ),
        main=("brackets_f",),
    )


class BracketScorer:
    """Adds up the counts of one sentence after the other."""

    def __init__(self, conventions: Conventions = COLLINS) -> None:
        self._conventions = conventions
        self._same_as = conventions.same_as()
        # What stands for each label that was met.
        self._labels: dict[str, str] = {}
        self._ignored = {self._label(label) for label in conventions.ignored_labels}
        self._short = f"_{conventions.cutoff}"
        self._sentences = 0
        self._counts = dict.fromkeys(
            [*_COUNTS, *(f"{name}{self._short}" for name in _COUNTS), "words", "tags", "heads"], 0
        )

    def add(self, gold: BracketedSentence, predicted: BracketedSentence) -> None:
        """Count one sentence; one without a word that counts adds nothing, as with EVALB.

        Raises ValueError, and counts nothing, for other words than the gold ones, naming the
        sentence (from 0) and the first word that differs.
        """
        self._check(gold.words, predicted.words)
        self._sentences += 1
        kept = [tag not in self._conventions.removed_tags for tag in gold.tags]
        if not any(kept):
            return
        # How many words that count stand before each word, and before the end.
        places = [0]
        for keeps in kept:
            places.append(places[-1] + keeps)
        headed_gold = self._brackets(gold, places)
        headed_found = self._brackets(predicted, places)
        wanted = [bracket for bracket, _ in headed_gold]
        found = [bracket for bracket, _ in headed_found]
        correct = (Counter(wanted) & Counter(found)).total()
        crossing = _count_crossing(wanted, found, places[-1])
        counts = Counter(
            gold=len(wanted),
            predicted=len(found),
            correct=correct,
            crossing=crossing,
            sentences=1,
            complete=len(wanted) == len(found) == correct,
            uncrossed=crossing == 0,
        )
        total = self._counts
        unmeasured = self._conventions.unmeasured_tags
        is_short = sum(tag not in unmeasured for tag in gold.tags) <= self._conventions.cutoff
        for suffix in ("", self._short) if is_short else ("",):
            for name in _COUNTS:
                total[f"{name}{suffix}"] += counts[name]
        total["words"] += places[-1]
        total["tags"] += sum(
            keeps and self._same_as.get(tag, tag) == self._same_as.get(other, other)
            for keeps, tag, other in zip(kept, gold.tags, predicted.tags, strict=True)
        )
        # Of equal brackets with several heads, as many are right as can be.
        total["heads"] += (Counter(headed_gold) & Counter(headed_found)).total()

    def scores(self) -> Scores:
        """The counts and figures of all sentences added so far."""
        return Scores(bracket_figures(self._conventions.cutoff), dict(self._counts))

    def _brackets(
        self, sentence: BracketedSentence, places: Sequence[int]
    ) -> list[tuple[_Bracket, int]]:
        """The brackets that count, outer ones first, over the words that count; and their heads."""
        found: list[tuple[_Bracket, int]] = []
        for phrase in sentence.constituents:
            label = self._label(phrase.label)
            begin, end = places[phrase.begin], places[phrase.end]
            if begin < end and label not in self._ignored:
                shown = label if self._conventions.labeled else ""
                found.append(((shown, begin, end), phrase.head))
        return found

    def _label(self, label: str) -> str:
        """A label without function tags; of equal ones, the one that stands for all."""
        if (known := self._labels.get(label)) is None:
            plain = match[0] if (match := BEFORE_FUNCTION_TAGS.match(label)) else label
            known = self._labels[label] = self._same_as.get(plain, plain)
        return known

    def _check(self, gold: Sequence[str], predicted: Sequence[str]) -> None:
        for index, (wanted, found) in enumerate(zip(gold, predicted, strict=False)):
            if wanted != found:
                raise ValueError(
                    f"sentence {self._sentences}: word {index} is {found!r} in the prediction and "
                    f"{wanted!r} in the gold tree; predict trees over the gold words"
                )
        if len(gold) != len(predicted):
            raise ValueError(
                f"sentence {self._sentences}: {len(predicted)} words in the prediction and "
                f"{len(gold)} in the gold tree; predict trees over the gold words"
            )


def _count_crossing(gold: Sequence[_Bracket], predicted: Sequence[_Bracket], n_words: int) -> int:
    """Number of predicted brackets that overlap a gold one without one holding the other.

    gold: outer brackets first. The gold brackets that hold both of two neighboring words hold one
    another. So the innermost ends first, and begins last: a bracket that starts or stops between
    the two crosses one of them if it crosses that.
    """
    begins, ends = [-1] * (n_words + 1), [n_words + 1] * (n_words + 1)
    for _, begin, end in gold:
        between = slice(begin + 1, end)
        begins[between] = [begin] * (end - begin - 1)
        ends[between] = [end] * (end - begin - 1)
    return sum(ends[begin] < end or begins[end] > begin for _, begin, end in predicted)


def score_brackets(
    gold: Iterable[BracketedSentence],
    predicted: Iterable[BracketedSentence],
    conventions: Conventions = COLLINS,
) -> Scores:
    """The scores of predicted trees against gold ones, over the same words.

    Raises ValueError as `BracketScorer.add`, and when the numbers of sentences differ.
    """
    scorer = BracketScorer(conventions)
    for gold_tree, predicted_tree in paired(gold, predicted):
        scorer.add(gold_tree, predicted_tree)
    return scorer.scores()
