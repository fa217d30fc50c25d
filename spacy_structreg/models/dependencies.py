"""Dependency parsing of tagged words, in any language."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, TypeVar

from spacy_structreg.corpora.dependencies import (
    DEPENDENCY,
    ROOT,
    Parse,
    is_projective,
    projectivize,
)
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.features.dependencies import ARC_EAGER_TABLES, ARC_STANDARD_TABLES
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.model_file import Arrays, field
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.learn.setting_fields import check_strings, from_settings, setting
from spacy_structreg.models.decoders import WORD, DecoderPool
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
    heads_of_all,
    visible_places,
    without_blanks,
)
from spacy_structreg.tasks.dependencies.arc_eager import (
    ARC_ATOMS,
    ARC_EAGER_ATOMS,
    ARC_EAGER_EVENTS,
    ArcEager,
)
from spacy_structreg.tasks.dependencies.arc_standard import (
    ARC_STANDARD_ATOMS,
    ARC_STANDARD_EVENTS,
    ArcStandard,
)
from spacy_structreg.tasks.dependencies.arcs import DependencyTransitions, ParseDecoder
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.word_fields import WordFields

if TYPE_CHECKING:
    from spacy_structreg.learn.perceptron import Perceptron
    from spacy_structreg.metrics.figures import Scores
    from spacy_structreg.models.explanation import Explanation


logger = logging.getLogger("spacy_structreg")


GivenArcs: TypeAlias = tuple[Sequence[int | None], Sequence[str | None]]
"""Of each word the index of its head, `ROOT`, or None where it is not known; and the label."""

HeadT = TypeVar("HeadT", int, "int | None")
"""The index of a head, or None where it is not known."""


def _checked_arcs(given: GivenArcs) -> tuple[tuple[int | None, ...], tuple[str | None, ...]]:
    """The given heads and labels as tuples. Raises ValueError for anything else."""
    try:
        heads, labels = tuple(given[0]), tuple(given[1])
        is_pair = len(given) == 2
    except (TypeError, IndexError):
        is_pair = False
    if not is_pair:
        raise ValueError(f"{given!r:.60} is given, which is not a list of heads and one of labels")
    for word, (head, label) in enumerate(zip(heads, labels, strict=False)):
        if not (head is None or isinstance(head, Integral)):
            raise ValueError(
                f"the head {head!r:.60} is given of word {word}; give a number, or None"
            )
        if not (label is None or isinstance(label, str)):
            raise ValueError(
                f"the label {label!r:.60} is given of word {word}; give a string, or None"
            )
    return heads, labels


def mirrored(sentence: Sentence) -> Sentence:
    """A sentence from its last word to its first, with the same tree."""
    return Sentence(
        words=sentence.words[::-1],
        tags=sentence.tags[::-1],
        heads=tuple(_mirrored_heads(sentence.heads)),
        labels=sentence.labels[::-1],
    )


def _mirrored_heads(heads: Sequence[HeadT]) -> list[HeadT]:
    last = len(heads) - 1
    return [head if head is None or head == ROOT else last - head for head in heads[::-1]]


@dataclass(frozen=True, slots=True)
class Query:
    """A sentence to be parsed: its words without white space, and given heads and labels.

    words, tags: in the order in which the decoder reads them, from the last to the first if
    `backward`; all else is in the order of the sentence. places: where the words stand among all
    n_words. given: what is given for all words. heads: those of it that bind the visible words.
    """

    words: list[str]
    tags: list[str]
    places: list[int]
    n_words: int
    given: GivenArcs | None
    heads: list[int | None] | None
    backward: bool

    @classmethod
    def of(
        cls, sentence: TaggedSentence, given: GivenArcs | None, *, backward: bool = False
    ) -> Query:
        """Raises ValueError for what cannot be parsed, or not with the given arcs."""
        words, tags = checked_sentence(sentence)
        heads = None
        if given is not None:
            given = arcs = _checked_arcs(given)
            tree = Sentence(tuple(words), tuple(tags), *arcs)
            visible = without_blanks(tree)
            heads = [] if visible is None else list(visible.heads)
            if heads.count(ROOT) > 1 or not is_projective(heads):
                raise ValueError(
                    f"no projective tree with one root over {' '.join(words)[:40]!r} has the heads "
                    f"that are given: {list(given[0])}"
                )
        places = visible_places(words)
        n = len(words)
        if len(places) < n:
            words, tags = [words[i] for i in places], [tags[i] for i in places]
        order = -1 if backward else 1
        return cls(list(words)[::order], list(tags)[::order], places, n, given, heads, backward)

    def __len__(self) -> int:
        return len(self.words)

    def bound(self, number: dict[str, int]) -> tuple[list[int | None], list[int | None]] | None:
        """The given heads and labels of visible words, labels by number; None if there are none."""
        if self.given is None or self.heads is None:
            return None
        labels = [self.given[1][place] for place in self.places]
        numbers = [None if label is None else number.get(label) for label in labels]
        if self.backward:
            return _mirrored_heads(self.heads), numbers[::-1]
        return self.heads, numbers

    def answer(self, decoder: ParseDecoder, tree: tuple[list[int], list[int]]) -> Parse:
        """The tree over all words, from one over the visible words."""
        heads, numbers = tree
        if self.backward:
            heads, numbers = _mirrored_heads(heads), numbers[::-1]
        # A model of nothing but roots has no labels of arcs. The number of the root is -1.
        names = (*(decoder.labels or ("",)), decoder.root_label)
        labels = list(map(names.__getitem__, numbers))
        if len(self.places) < self.n_words:
            of_visible = dict(zip(self.places, labels, strict=True))
            labels = [of_visible.get(place, "") for place in range(self.n_words)]
            heads = heads_of_all(heads, self.places, self.n_words)
        if self.given is not None:
            for i, label in enumerate(self.given[1]):
                if label is not None:
                    labels[i] = label
        return Parse(tuple(heads), tuple(labels))


def label_arcs(
    decoder: ParseDecoder, queries: list[tuple[list[str], list[str], list[int]]], *, backward: bool
) -> list[list[str]]:
    """The label of the arc to each word, of words, tags and heads of sentences.

    Raises ValueError for heads that make no projective tree with one root.
    """
    order = -1 if backward else 1
    given = [
        (_mirrored_heads(heads) if backward else heads, [None] * len(heads))
        for _, _, heads in queries
    ]
    trees = decoder.parse([(words[::order], tags[::order]) for words, tags, _ in queries], given)
    names = (*(decoder.labels or ("",)), decoder.root_label)
    found = []
    for (words, _, heads), tree in zip(queries, trees, strict=True):
        if tree is None or heads.count(ROOT) != 1:
            raise ValueError(
                f"the heads that are given of the words {' '.join(words)[:40]!r} make no "
                f"projective tree with one root: {heads}"
            )
        found.append([names[number] for number in tree[1][::order]])
    return found


def parse_queries(decoder: ParseDecoder, queries: list[Query]) -> list[Parse]:
    """The tree of each query."""
    number = {label: i for i, label in enumerate(decoder.labels)}
    trees = decoder.parse(
        [(query.words, query.tags) for query in queries],
        [query.bound(number) for query in queries],
    )
    answers = []
    for query, tree in zip(queries, trees, strict=True):
        # Some tree has what is given, and no beam loses all that have it.
        assert tree is not None
        answers.append(query.answer(decoder, tree))
    return answers


@dataclass(frozen=True)
class _Transitions:
    """A transition system by its parts."""

    make: Callable[..., DependencyTransitions]
    atoms: tuple[str, ...]
    events: tuple[str, ...]
    tables: dict[str, str]
    table: str
    merge: bool
    own_atoms: Mapping[str, tuple[str, ...]]


SYSTEMS: Final = {
    "arc_eager": _Transitions(
        ArcEager,
        ARC_EAGER_ATOMS,
        ARC_EAGER_EVENTS,
        ARC_EAGER_TABLES,
        "rich+characters",
        False,
        {"arc": ARC_ATOMS},
    ),
    "arc_standard": _Transitions(
        ArcStandard,
        ARC_STANDARD_ATOMS,
        ARC_STANDARD_EVENTS,
        ARC_STANDARD_TABLES,
        "merging",
        True,
        {},
    ),
}
"""Transition systems by the names of the setting `system`."""


class LiftedSentence(Sentence):
    """A training example whose tree was made projective."""

    __slots__ = ()


class DependencyParserSettings(TreeParserSettings):
    """Settings of a `DependencyParser`."""

    DEFAULT_LEARNING: ClassVar[Learning] = Learning(prune=0.8)

    system: str = setting(
        "arc_eager",
        'The transition system: "arc_eager" (Zhang & Clark 2011) or "arc_standard" (Huang & Sagae '
        "2010).",
        choices=SYSTEMS,
    )
    labeled: bool = setting(True, "Give arcs the labels of the corpus.")
    backward: bool = setting(
        False,
        "Read sentences from their last word to their first: such a parser errs elsewhere than one "
        "that reads forward.",
    )
    merge: bool | None = setting(
        None,
        "Merge states that no later score can tell apart, in training and in prediction; null does "
        "so for arc_standard.",
    )

    @property
    def merges(self) -> bool:
        """True if states are merged, by the default of the system if nothing is set."""
        return SYSTEMS[self.system].merge if self.merge is None else self.merge

    def parsed(self) -> tuple[StateTemplate, ...]:
        parts = SYSTEMS[self.system]
        return parse_state_templates(
            joined(parts.table if self.templates is None else self.templates, *word_tables(self)),
            parts.events,
            parts.atoms,
            parts.tables,
            own_atoms=parts.own_atoms,
        )


@dataclass(frozen=True)
class DependencySpec(TreeSpec[Sentence, ParseDecoder]):
    """Labels of arcs, features of states, and how trees are searched for.

    root_label: of the root, which has no arc.
    """

    settings: DependencyParserSettings
    system: DependencyTransitions
    arc_labels: tuple[str, ...]
    root_label: str

    @classmethod
    def checked(cls, sentence: Any) -> Sentence:
        if not isinstance(sentence, Sentence):
            raise ValueError(f"{sentence!r:.60} is not a Sentence")
        for name in ("tags", "heads", "labels"):
            if not getattr(sentence, name):
                raise ValueError(
                    f"the sentence {' '.join(sentence.words)[:40]!r} has no {name}; give one for "
                    "each word"
                )
        check_names([*sentence.tags, *sentence.labels])
        return sentence

    @classmethod
    def layers(cls, sentence: Sentence) -> tuple[list[str], ...]:
        return (
            list(sentence.words),
            list(sentence.tags),
            ["" if head is None else str(head) for head in sentence.heads],
            [label or "" for label in sentence.labels],
        )

    @classmethod
    def of_corpus(
        cls, settings: DependencyParserSettings, examples: Iterable[Sentence], extra: Labels
    ) -> DependencySpec:
        labels = set(extra)
        # Those of words whose heads are not known, roots perhaps.
        loose: set[str] = set()
        roots: Counter[str] = Counter()
        n_lifted = n_partial = n_left_out = 0
        for example in examples:
            if not _is_tree(example):
                n_left_out += 1
                continue
            names = _labels_of(example, settings.labeled)
            n_partial += None in example.heads or None in names
            n_lifted += isinstance(example, LiftedSentence)
            for head, label in zip(example.heads, names, strict=True):
                if label is not None and head == ROOT:
                    roots[label] += 1
                elif label is not None:
                    (loose if head is None else labels).add(label)
        if n_lifted:
            logger.info("%d trees that are not projective were made so for training", n_lifted)
        if n_partial:
            logger.info("%d trees are annotated in part", n_partial)
        if n_left_out:
            logger.warning(
                "%d sentences are left out of training: they have several roots, or no trees",
                n_left_out,
            )
        # The most frequent; the first of equal ones in the order of the alphabet.
        root = min(roots, key=lambda label: (-roots[label], label), default="")
        known = read_words(settings)
        return cls._of(settings, sorted(labels | loose - {root}), root, known)

    @classmethod
    def of_file(cls, settings: DependencyParserSettings, stored: StoredSpec) -> DependencySpec:
        return cls._of(
            settings,
            check_strings("labels", stored.labels),
            field(stored.entries, "root_label", str),
            restored_words(settings, stored.entries, stored.arrays),
        )

    @classmethod
    def empty(cls, settings: DependencyParserSettings) -> DependencySpec:
        return cls._of(settings, (), "", unread_words(settings))

    @classmethod
    def _of(
        cls,
        settings: DependencyParserSettings,
        labels: Sequence[str],
        root_label: str,
        known: WordFields,
    ) -> DependencySpec:
        templates = settings.parsed()
        events = list(dict.fromkeys(template.event for template in templates))
        atoms = [atom for template in templates for atom in template.atoms]
        system = SYSTEMS[settings.system].make(known, len(labels) or 1, atoms, events)
        return cls(settings, system, templates, tuple(labels), root_label)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.arc_labels

    @cached_property
    def _number(self) -> dict[str, int]:
        return {label: i for i, label in enumerate(self.arc_labels)}

    def new_decoder(self, tables: list[TrainedRows]) -> ParseDecoder:
        return ParseDecoder(self.new_agenda(tables), self.arc_labels, self.root_label)

    def compile(self, example: Sentence, learner: Perceptron) -> Derivation | None:
        if not _is_tree(example):
            return None
        heads, number = example.heads, self._number
        # What only roots are called says nothing of the arc of a word without a head.
        labels = tuple(
            None if head is None and label == self.root_label and label not in number else label
            for head, label in zip(heads, _labels_of(example, self.settings.labeled), strict=True)
        )
        of_arcs = {label for head, label in zip(heads, labels, strict=True) if head != ROOT}
        if unknown := sorted(label for label in of_arcs - number.keys() if label is not None):
            raise ValueError(
                f"the label {unknown[0]!r} is none of those that the training began with "
                f"({', '.join(self.arc_labels)}); call fit, or prepare with the whole corpus"
            )
        # The label of a root need be none of an arc.
        numbers = [None if label is None else number.get(label, 0) for label in labels]
        return self.system.compile(example.words, example.tags, heads, numbers, learner)

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        entries, arrays = super().contents()
        return {"root_label": self.root_label, **entries}, arrays


def _is_tree(example: Sentence) -> bool:
    """True if heads and labels are of a tree with one root, or of a part of one."""
    heads = example.heads
    if heads.count(ROOT) > 1 or (None not in heads and ROOT not in heads):
        return False
    return {*heads, *example.labels} != {None}


def _labels_of(example: Sentence, labeled: bool) -> tuple[str | None, ...]:
    """The labels to train on."""
    return example.labels if labeled else (DEPENDENCY,) * len(example.words)


class DependencyParser(TreeParser[Sentence, ParseDecoder, Parse]):
    """Builds a projective dependency tree with one root over tagged words, by beam search.

    Tables of templates are those of `features.dependencies`. Without labels, all arcs get
    `DEPENDENCY`, and the best epoch is that of the highest dep_uas, not dep_las. With `merge`,
    arc-standard parsing goes on from all states that a merged one may lie on.

    Gold sentences are `Sentence`s. Trees that are not projective are made so for
    training (`corpora.dependencies.projectivize`); where heads or labels are None, all trees that
    have the others are right (`training.agenda`); sentences with several roots, or with nothing of
    a tree, are left out. The log counts all three.
    Words of nothing but white space are no words to the model: they are passed over in training,
    and become children of the word before them, with the label ``""``.
    What may be given of a tree are heads and labels (`GivenArcs`). Given labels that the model does
    not know are kept for what they are; given heads of white space are not looked at.

    Examples
    --------
    >>> from spacy_structreg import DependencyParser
    >>> from spacy_structreg.corpora.sentence import Sentence
    >>> gold = Sentence(
    ...     ("我", "爱", "北京"),
    ...     ("PN", "VV", "NR"),
    ...     heads=(1, -1, 1),
    ...     labels=("nsubj", "root", "obj"),
    ... )
    >>> parser = DependencyParser(epochs=5).fit([gold])
    >>> tree = parser.predict(["他", "爱", "我"], ["PN", "VV", "PN"])
    >>> tree.heads, tree.labels
    ((1, -1, 1), ('nsubj', 'root', 'obj'))
    """

    KIND = "dependency_parser"
    NOUN = "parser"
    SPEC = DependencySpec
    GIVEN_WORDS = True
    PRIMARY = "dep_las"
    MUST_AGREE = ("system", "backward", "templates", "labels", "half_width", "script")
    SETTINGS = DependencyParserSettings
    settings: DependencyParserSettings

    @from_settings(DependencyParserSettings)
    def __init__(self, settings: DependencyParserSettings) -> None:
        if not settings.labeled:
            self.PRIMARY = "dep_uas"
        super().__init__(replace(settings, merge=settings.merges))

    # Prediction ----------------------------------------------------------------------------------

    def nbest(self, words: Words, tags: Sequence[str], n: int) -> list[tuple[float, Parse]]:
        """The `n` best trees that the beam lets through, best first, with their scores.

        The score is the sum of the weights of all features. With `merge` there are few: of all ways
        to states that look alike only the best is known at the end. Raises ValueError if n < 1, and
        as `predict`.
        """
        query = self._query((words, tags), None)
        with self._decoders().borrow() as decoder:
            return [
                (score, query.answer(decoder, tree))
                for score, tree in decoder.nbest(query.words, query.tags, n)
            ]

    def explain(self, words: Words, tags: Sequence[str]) -> Explanation:
        """The features behind the actions that build the tree, and what would have changed them.

        Words of nothing but white space are left out. Actions of a `backward` parser come from the
        last word to the first, and its features name words as it reads them, the next one on the
        left. Raises ValueError as `predict`.
        """
        from spacy_structreg.models.explained_words import explained_tree

        query = self._query((words, tags), None)
        order = -1 if self.settings.backward else 1
        with self._decoders().borrow() as decoder:
            names = (["SHIFT", "REDUCE"] if self.settings.system == "arc_eager" else ["SHIFT"]) + [
                f"ARC-{side} {label}".rstrip()
                for side in ("LEFT", "RIGHT")[::order]
                for label in decoder.labels or [""]
            ]

            def shown(actions: list[int]) -> str:
                heads, labels = decoder.system.tree(actions)
                arcs = [
                    f"{word}←{query.words[head]}:{decoder.labels[label]}"
                    for word, head, label in zip(query.words, heads, labels, strict=True)
                    if head != ROOT
                ]
                return " ".join(arcs[::order])

            found = explained_tree(decoder, query.words, query.tags, names, shown)
        return replace(found, text=" ".join(query.words[::order]))

    def predict_labels(
        self,
        sentences: Iterable[TaggedSentence],
        heads: Iterable[Sequence[int]],
        *,
        n_threads: int = 1,
    ) -> list[list[str]]:
        """The label of the arc to each word of trees whose heads are known.

        sentences: words, none of them white space, and their tags. heads: of the words of each
        sentence, `ROOT` for the root. The same labels as those of `predict_batch` with these heads.
        Raises ValueError as `predict`, and for heads that are not of a projective tree.
        """
        queries = [
            (list(words), list(tags), list(of_sentence))
            for (words, tags), of_sentence in zip(
                map(checked_sentence, sentences), heads, strict=True
            )
        ]
        return self._decoders().batch(
            queries,
            partial(label_arcs, backward=self.settings.backward),
            size=lambda query: WORD * len(query[0]),
            n_threads=n_threads,
        )

    def _query(self, item: TaggedSentence, given: GivenArcs | None) -> Query:
        return Query.of(item, given, backward=self.settings.backward)

    def _decode(self, decoder: ParseDecoder, queries: list[Query]) -> list[Parse]:
        return parse_queries(decoder, queries)

    def _examples(self, sentence: Sentence) -> Sequence[Sentence]:
        visible = without_blanks(sentence)
        if visible is None:
            return []
        if self.settings.backward:
            visible = mirrored(visible)
        heads = projectivize(visible.heads) if _is_tree(visible) else visible.heads
        if heads == visible.heads:
            return [visible]
        return [LiftedSentence(visible.words, visible.tags, heads, visible.labels)]

    def _score(
        self,
        gold: list[Sentence],
        decoders: DecoderPool[ParseDecoder],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> Scores:
        from spacy_structreg.metrics.dependencies import score_parses

        sentences = ((sentence.words, sentence.tags) for sentence in gold)
        predicted = self._stream(sentences, decoders, n_threads)
        return score_parses(gold, predicted)
