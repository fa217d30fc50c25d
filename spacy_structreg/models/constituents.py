"""Constituency parsing of tagged words, in any language."""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import groupby
from numbers import Integral
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.features.constituents import CONSTITUENT_TABLES
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.learn.model_file import Arrays, field
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.learn.setting_fields import check_int, check_strings, from_settings, setting
from spacy_structreg.models.decoders import DecoderPool
from spacy_structreg.models.gold import Words, check_names
from spacy_structreg.models.knowledge import read_words, restored_words, unread_words, word_tables
from spacy_structreg.models.model_spec import Labels, StoredSpec
from spacy_structreg.models.settings import joined
from spacy_structreg.models.tree_parser import (
    TaggedSentence,
    TreeParser,
    TreeParserSettings,
    TreeSpec,
    checked_sentence,
    visible_places,
)
from spacy_structreg.tasks.constituents import (
    CONSTITUENT_ATOMS,
    CONSTITUENT_EVENTS,
    MAX_UNARIES,
    ConstituentDecoder,
    ConstituentTransitions,
)
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.word_fields import WordFields

if TYPE_CHECKING:
    from spacy_structreg.learn.perceptron import Perceptron
    from spacy_structreg.metrics.figures import Scores
    from spacy_structreg.models.explanation import Explanation


GivenConstituents: TypeAlias = Sequence[tuple[int, int, str | None]]
"""Constituents that a tree must have: begin, end, and the label, or None for any. Of several over
the same words the outermost stands first."""


def visible_constituents(sentence: ConstituencySentence) -> ConstituencySentence | None:
    """A sentence as a parser learns from it; None if it has no visible word.

    Words of nothing but white space are left out, and phrases of nothing else; so are phrases that
    are the only child of one of the same label.
    Raises ValueError if such a word is the head of a phrase of others.
    """
    places = visible_places(sentence.words)
    if not places:
        return None
    kept: list[Constituent] = []
    for constituent in sentence.constituents:
        begin, end = bisect_left(places, constituent.begin), bisect_left(places, constituent.end)
        if begin == end:
            continue
        head = bisect_left(places, constituent.head)
        if head == len(places) or places[head] != constituent.head:
            raise ValueError(
                f"word {constituent.head}, which is white space, is the head of "
                f"{constituent.label} over the words {constituent.begin} to {constituent.end - 1}"
            )
        found = Constituent(constituent.label, begin, end, head)
        if not kept or kept[-1] != found:
            kept.append(found)
    return ConstituencySentence(
        tuple(sentence.words[i] for i in places),
        tuple(sentence.tags[i] for i in places),
        tuple(kept),
    )


@dataclass(frozen=True, slots=True)
class ConstituentQuery:
    """A sentence to be parsed: all of it, and the words that are none of white space.

    places: where these stand among all words. given: constituents, counted in visible words.
    """

    all_words: tuple[str, ...]
    all_tags: tuple[str, ...]
    places: list[int]
    given: list[tuple[int, int, str | None]] | None

    @classmethod
    def of(cls, sentence: TaggedSentence, given: GivenConstituents | None) -> ConstituentQuery:
        """Raises ValueError for what cannot be parsed, and for a constituent of white space."""
        words, tags = checked_sentence(sentence)
        if "" in words:
            raise ValueError(f"word {list(words).index('')} is empty; leave it out")
        places = visible_places(words)
        bound = None
        if given is not None:
            for each in given:
                if not _is_constituent(each):
                    raise ValueError(
                        f"the constituent {each!r:.60} is given; give its begin, its end, and its "
                        "label, or None for any"
                    )
            bound = [
                (bisect_left(places, begin), bisect_left(places, end), label)
                for begin, end, label in given
            ]
            for (begin, end, _), (first, last, _) in zip(given, bound, strict=True):
                if not 0 <= begin < end <= len(words) or first == last:
                    raise ValueError(
                        f"a constituent is given over the words {begin} to before {end} of "
                        f"{len(words)}, which is none, or white space"
                    )
        return cls(tuple(words), tuple(tags), places, bound)

    def __len__(self) -> int:
        return len(self.all_words)

    @property
    def visible(self) -> tuple[list[str], list[str]]:
        """The visible words and their tags."""
        if len(self.places) == len(self.all_words):
            return list(self.all_words), list(self.all_tags)
        return (
            [self.all_words[i] for i in self.places],
            [self.all_tags[i] for i in self.places],
        )

    def rows(self, constituents: NDArray[np.int32]) -> NDArray[np.int32]:
        """Constituents over all words, as arrays, from those over the visible words."""
        if len(self.places) == len(self.all_words):
            return constituents
        places = np.array(self.places, dtype=np.int32)
        rows: NDArray[np.int32] = constituents.copy()
        rows[:, 1] = places[rows[:, 1]]
        rows[:, 2] = places[rows[:, 2] - 1] + 1
        rows[:, 3] = places[rows[:, 3]]
        whole = (constituents[:, 2] - constituents[:, 1]) == len(places)
        rows[whole, 1:3] = 0, len(self.all_words)
        return rows

    def answer(self, constituents: Sequence[Constituent]) -> ConstituencySentence:
        """The tree over all words, from the one over the visible words.

        Phrases reach from their first visible word to their last; those over all visible words,
        over all words.
        """
        n_visible, n_words = len(self.places), len(self.all_words)
        if n_visible < n_words:
            constituents = [
                Constituent(
                    each.label,
                    *(
                        (0, n_words)
                        if each.end - each.begin == n_visible
                        else (self.places[each.begin], self.places[each.end - 1] + 1)
                    ),
                    self.places[each.head],
                )
                for each in constituents
            ]
        return ConstituencySentence.built(self.all_words, self.all_tags, tuple(constituents))


def _is_constituent(each: Any) -> bool:
    """True if this has the form of an item of `GivenConstituents`."""
    if not isinstance(each, (tuple, list)) or len(each) != 3:
        return False
    begin, end, label = each
    numbers = isinstance(begin, Integral) and isinstance(end, Integral)
    return numbers and (label is None or isinstance(label, str))


def parse_constituents(
    decoder: ConstituentDecoder, queries: list[ConstituentQuery]
) -> list[ConstituencySentence]:
    """The tree of each query. Raises ValueError if no tree has what is given."""
    trees = _trees_of(decoder, queries, arrays=False)
    return [query.answer(tree) for query, tree in zip(queries, trees, strict=True)]


def parse_arrays(
    decoder: ConstituentDecoder, queries: list[ConstituentQuery]
) -> list[NDArray[np.int32]]:
    """The tree of each query as an array. Raises ValueError if no tree has what is given."""
    trees = _trees_of(decoder, queries, arrays=True)
    return [query.rows(tree) for query, tree in zip(queries, trees, strict=True)]


def _trees_of(
    decoder: ConstituentDecoder, queries: list[ConstituentQuery], *, arrays: bool
) -> Iterator[Any]:
    """The tree over the visible words of each query."""
    sentences, given = [], []
    for query in queries:
        if query.places:
            sentences.append(query.visible)
            given.append(query.given)
    trees = iter(decoder.parse(sentences, given, arrays=arrays))
    empty = np.empty((0, 4), dtype=np.int32) if arrays else ()
    for query in queries:
        tree = next(trees) if query.places else empty
        if tree is None:
            raise ValueError(
                f"no tree over {' '.join(query.all_words)[:40]!r} has the constituents that are "
                "given"
            )
        yield tree


logger = logging.getLogger("spacy_structreg")

_HEADS: Final = "heads"

LEAST_UNARIES: Final = 3
"""Least number of unary phrases that may lie on one another, for any training corpus (Zhang & Clark
2009)."""


class ConstituencyParserSettings(TreeParserSettings):
    """Settings of a `ConstituencyParser`."""

    known_heads: bool = setting(
        False,
        "Let only such children be heads of a phrase as phrases of its label have in the training "
        "corpus, by their tags and labels: no PP without a preposition. Tags that are heads of "
        "nothing there, and phrases that are given, may have any.",
    )

    def parsed(self) -> tuple[StateTemplate, ...]:
        templates = "phrases+" if self.templates is None else self.templates
        names = joined(templates, *word_tables(self))
        return parse_state_templates(
            names, CONSTITUENT_EVENTS, CONSTITUENT_ATOMS, CONSTITUENT_TABLES
        )


@dataclass(frozen=True)
class ConstituentSpec(TreeSpec[ConstituencySentence, ConstituentDecoder]):
    """Labels of phrases, features of states, and how trees are searched for."""

    settings: ConstituencyParserSettings
    system: ConstituentTransitions

    @classmethod
    def checked(cls, sentence: Any) -> ConstituencySentence:
        if not isinstance(sentence, ConstituencySentence):
            raise ValueError(f"{sentence!r:.60} is not a ConstituencySentence")
        check_names([*sentence.tags, *(each.label for each in sentence.constituents)])
        return sentence

    @classmethod
    def layers(cls, sentence: ConstituencySentence) -> tuple[list[str], ...]:
        # Of each word the phrases that begin with it, outer ones first.
        begun: list[list[str]] = [[] for _ in sentence.words]
        for each in sentence.constituents:
            begun[each.begin].append(f"{each.label} {each.end} {each.head}")
        return list(sentence.words), list(sentence.tags), ["\n".join(each) for each in begun]

    @classmethod
    def of_corpus(
        cls,
        settings: ConstituencyParserSettings,
        examples: Iterable[ConstituencySentence],
        extra: Labels,
    ) -> ConstituentSpec:
        labels = set(extra)
        most_unaries = LEAST_UNARIES
        heads: set[tuple[str, str]] = set()
        n_left_out = 0
        for example in examples:
            n_unaries = _n_unaries(example)
            if n_unaries > MAX_UNARIES:
                n_left_out += 1
                continue
            most_unaries = max(most_unaries, n_unaries)
            labels.update(constituent.label for constituent in example.constituents)
            heads.update(_heads_of(example))
        if n_left_out:
            logger.warning(
                "%d trees are left out of training: more than %d unary phrases lie on one another",
                n_left_out,
                MAX_UNARIES,
            )
        if not labels:
            raise ValueError(
                "there is no phrase in the training corpus from which a constituency parser could "
                "learn"
            )
        known = read_words(settings)
        return cls._of(settings, sorted(labels), most_unaries, sorted(heads), known)

    @classmethod
    def of_file(cls, settings: ConstituencyParserSettings, stored: StoredSpec) -> ConstituentSpec:
        max_unaries = check_int("max_unaries", field(stored.entries, "max_unaries", int), 1)
        known = sorted(set(check_strings("labels", stored.labels)))
        if not all(known) or not known:
            raise ValueError("phrases need labels, none of which is empty")
        knowledge = restored_words(settings, stored.entries, stored.arrays)
        heads: list[tuple[str, str]] = []
        if settings.known_heads:
            of_labels = check_strings(_HEADS, field(stored.entries, _HEADS, list))
            if len(of_labels) % 2:
                raise ValueError("its heads of phrases are no pairs of a label and a category")
            heads = list(zip(of_labels[::2], of_labels[1::2], strict=True))
        return cls._of(settings, known, min(max_unaries, MAX_UNARIES + 1), heads, knowledge)

    @classmethod
    def empty(cls, settings: ConstituencyParserSettings) -> ConstituentSpec:
        return cls._of(settings, (), LEAST_UNARIES, (), unread_words(settings))

    @classmethod
    def _of(
        cls,
        settings: ConstituencyParserSettings,
        labels: Sequence[str],
        max_unaries: int,
        heads: Iterable[tuple[str, str]],
        knowledge: WordFields,
    ) -> ConstituentSpec:
        templates = settings.parsed()
        atoms = [atom for template in templates for atom in template.atoms]
        system = ConstituentTransitions(
            knowledge,
            labels,
            atoms,
            max_unaries=max_unaries,
            heads=heads if settings.known_heads else None,
        )
        return cls(settings, system, templates)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.system.labels

    def new_decoder(self, tables: list[TrainedRows]) -> ConstituentDecoder:
        return ConstituentDecoder(self.new_agenda(tables))

    def compile(self, example: ConstituencySentence, learner: Perceptron) -> Derivation | None:
        if _n_unaries(example) > MAX_UNARIES:
            return None
        try:
            return self.system.compile(example.words, example.tags, example.constituents, learner)
        except ValueError as error:
            raise ValueError(
                f"{error}: what the training did not begin with; call fit, or prepare with the "
                "whole corpus"
            ) from error

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        entries, arrays = super().contents()
        if self.system.heads is not None:
            entries[_HEADS] = [name for pair in self.system.heads for name in pair]
        return {"max_unaries": self.system.max_unaries, **entries}, arrays


def _heads_of(sentence: ConstituencySentence) -> list[tuple[str, str]]:
    """The label of each phrase with the tag or label of the child that is its head."""
    found: list[tuple[str, str]] = []

    def noted(phrase: Constituent, parts: list[tuple[str, int]]) -> tuple[str, int]:
        found.append((phrase.label, next(name for name, head in parts if head == phrase.head)))
        return phrase.label, phrase.head

    if sentence.constituents:
        sentence.fold([(tag, word) for word, tag in enumerate(sentence.tags)], noted)
    return found


def _n_unaries(sentence: ConstituencySentence) -> int:
    """The longest chain of unary phrases on one another."""
    chains = groupby(sentence.constituents, key=lambda each: (each.begin, each.end))
    return max((len(list(chain)) - (end - begin > 1) for (begin, end), chain in chains), default=0)


class ConstituencyParser(
    TreeParser[ConstituencySentence, ConstituentDecoder, ConstituencySentence]
):
    """Builds a phrase structure tree with heads over tagged words, by beam search.

    Zhang & Clark 2011, section 6.

    Tables of templates are those of `features.constituents`.

    Gold sentences are `ConstituencySentence`s. Of phrases over the same words with the same label
    on each other one is learned; trees with more than 16 unary phrases on one another are left out,
    and counted in the log. Words of nothing but white space are no words to the model.
    What may be given of a tree are constituents that it must have (`GivenConstituents`).

    Examples
    --------
    >>> from spacy_structreg import ConstituencyParser
    >>> from spacy_structreg.corpora.constituents import Constituent, ConstituencySentence
    >>> phrases = (Constituent("IP", 0, 3, 1), Constituent("VP", 1, 3, 1))
    >>> gold = ConstituencySentence(("我", "爱", "北京"), ("PN", "VV", "NR"), phrases)
    >>> parser = ConstituencyParser(epochs=5).fit([gold])
    >>> tree = parser.predict(["我", "爱", "北京"], ["PN", "VV", "NR"])
    >>> [tuple(each) for each in tree.constituents]
    [('IP', 0, 3, 1), ('VP', 1, 3, 1)]
    """

    KIND = "constituency_parser"
    NOUN = "constituency parser"
    SPEC = ConstituentSpec
    GIVEN_WORDS = True
    PRIMARY = "brackets_f"
    MUST_AGREE = ("templates", "labels", "half_width", "script")

    SETTINGS = ConstituencyParserSettings
    settings: ConstituencyParserSettings

    @from_settings(ConstituencyParserSettings)
    def __init__(self, settings: ConstituencyParserSettings) -> None:
        super().__init__(settings)

    # Prediction ----------------------------------------------------------------------------------

    def predict_arrays(
        self,
        sentences: Iterable[TaggedSentence],
        *,
        given: Iterable[GivenConstituents | None] | None = None,
        n_threads: int = 1,
    ) -> list[NDArray[np.int32]]:
        """The tree of each sentence as an array; arguments and errors as of `predict_batch`.

        Of each constituent, in pre-order, the number of its label (among `labels`), its begin, its
        end and its head: int32 of shape (n_constituents, 4).
        """
        decoders = self._decoders()
        queries = list(self._queries(sentences, given))
        return decoders.batch(queries, parse_arrays, size=self._size, n_threads=n_threads)

    def nbest(
        self, words: Words, tags: Sequence[str], n: int
    ) -> list[tuple[float, ConstituencySentence]]:
        """The `n` best trees that the beam lets through, best first, with their scores.

        The beam is at least `n` wide, and the search goes on until the best `n` are complete: for
        more than one, the first may be another than `predict` finds. The score is the sum of the
        weights of all features. Raises ValueError if n < 1, and as `predict`.
        """
        query = ConstituentQuery.of((words, tags), None)
        with self._decoders().borrow() as decoder:
            return [(score, query.answer(tree)) for score, tree in decoder.nbest(*query.visible, n)]

    def explain(self, words: Words, tags: Sequence[str]) -> Explanation:
        """The features behind the actions that build the tree, and what would have changed them.

        Words of nothing but white space are left out. Raises ValueError as `predict`.
        """
        from spacy_structreg.corpora.binarization import debinarize
        from spacy_structreg.models.explained_words import explained_tree

        query = ConstituentQuery.of((words, tags), None)
        with self._decoders().borrow() as decoder:
            visible, of_visible = query.visible
            names = ["SHIFT", "TERMINATE", "IDLE"] + [
                f"{way} {label}"
                for way in ("UNARY", "LEFT", "RIGHT", "LEFT-TEMPORARY", "RIGHT-TEMPORARY")
                for label in decoder.system.labels
            ]

            def shown(actions: list[int]) -> str:
                tree = debinarize(decoder.system.steps(actions))
                return " ".join(
                    f"{each.label}({''.join(visible[each.begin : each.end])})" for each in tree
                )

            return explained_tree(decoder, visible, of_visible, names, shown)

    def _query(self, item: TaggedSentence, given: GivenConstituents | None) -> ConstituentQuery:
        return ConstituentQuery.of(item, given)

    def _decode(
        self, decoder: ConstituentDecoder, queries: list[ConstituentQuery]
    ) -> list[ConstituencySentence]:
        return parse_constituents(decoder, queries)

    def _examples(self, sentence: ConstituencySentence) -> Sequence[ConstituencySentence]:
        visible = visible_constituents(sentence)
        return [] if visible is None else [visible]

    def _score(
        self,
        gold: list[ConstituencySentence],
        decoders: DecoderPool[ConstituentDecoder],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> Scores:
        from spacy_structreg.metrics.constituents import score_brackets

        sentences = ((sentence.words, sentence.tags) for sentence in gold)
        predicted = self._stream(sentences, decoders, n_threads)
        return score_brackets(gold, predicted)
