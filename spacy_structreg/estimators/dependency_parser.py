"""Dependency parsing of tagged words, in any language."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from spacy_structreg.corpora.dependencies import (
    ROOT,
    DependencySentence,
    Parse,
    projectivize,
)
from spacy_structreg.estimators.decoders import DecoderPool
from spacy_structreg.estimators.gold import DEPENDENCIES, Words
from spacy_structreg.estimators.parse_queries import (
    GivenArcs,
    Query,
    TaggedSentence,
    parse_queries,
    without_blanks,
)
from spacy_structreg.estimators.partial_trees import PartialTree, PartialTreeTrainer
from spacy_structreg.estimators.settings import choose, strings
from spacy_structreg.estimators.tree_parser import TreeParser, TreeStructure
from spacy_structreg.features.parser_tables import ARC_EAGER_TABLES, ARC_STANDARD_TABLES
from spacy_structreg.learn.averaging import Mean
from spacy_structreg.learn.model_file import Arrays, field
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.learn.settings import Learning
from spacy_structreg.metrics.parsing import ParsingScores, score_parses
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer
from spacy_structreg.tasks.arc_eager import ARC_EAGER_ATOMS, ARC_EAGER_EVENTS, ArcEager
from spacy_structreg.tasks.arc_standard import (
    ARC_STANDARD_ATOMS,
    ARC_STANDARD_EVENTS,
    ArcStandard,
)
from spacy_structreg.tasks.dependencies import DependencyTransitions, ParseDecoder
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.tagging import WordAtoms
from spacy_structreg.training.agenda import AgendaTrainer

logger = logging.getLogger("spacy_structreg")

UNLABELLED: Final = "dep"
"""The label of all arcs of a parser without labels."""


@dataclass(frozen=True)
class _Transitions:
    """A transition system by its parts."""

    make: Callable[..., DependencyTransitions]
    atoms: tuple[str, ...]
    events: tuple[str, ...]
    tables: dict[str, str]
    table: str
    merge: bool


SYSTEMS: Final = {
    "arc_eager": _Transitions(
        ArcEager, ARC_EAGER_ATOMS, ARC_EAGER_EVENTS, ARC_EAGER_TABLES, "rich+characters", False
    ),
    "arc_standard": _Transitions(
        ArcStandard, ARC_STANDARD_ATOMS, ARC_STANDARD_EVENTS, ARC_STANDARD_TABLES, "merging", True
    ),
}
"""Transition systems by the names of the setting `system`."""


DEFAULT_LEARNING: Final = Learning(prune=0.8)


class DependencyParser(
    TreeParser[DependencySentence, ParseDecoder, ParsingScores, GivenArcs, Query, Parse]
):
    """Builds a projective dependency tree with one root over tagged words, by beam search.

    system: the transition system: ``"arc_eager"`` (Zhang & Clark 2011, section 5) or
        ``"arc_standard"`` (Huang & Sagae 2010).
    templates: of `features.parser_tables`; None for the default of the system.
    labelled: whether arcs get labels; without, all get `UNLABELLED`, and the best epoch is that of
        the highest dep_uas, not dep_las.
    merge: merge the states that no later score can tell apart, in training and in prediction;
        arc-standard parsing then goes on from all that such a state may lie on. None for what suits
        the system: merging for arc-standard only.
    learning: None for `DEFAULT_LEARNING`. Other settings as of `TreeParser`.

    Gold sentences are `DependencySentence`s. Trees that are not projective are made so for
    training (`corpora.dependencies.projectivize`); where heads or labels are None, the model finds
    the best that go with the others before each epoch (`estimators.partial_trees`); sentences with
    several roots, or with nothing of a tree, are left out. The log counts all three. Words of
    nothing but white space are no words to the model: they are passed over in training, and become
    children of the word before them, with the label ``""``.
    What may be given of a tree are heads and labels (`GivenArcs`). Given labels that the model does
    not know are kept for what they are; given heads of white space are not looked at.
    Raises ValueError for settings that do not exist or contradict each other.
    """

    TASK = "dependency_parser"
    NOUN = "parser"
    GOLD = DEPENDENCIES
    GIVEN_WORDS = True
    PRIMARY = "dep_las"
    MUST_AGREE = ("system", "templates", "labels", "half_width")
    SETTINGS: ClassVar = {
        "system": (str,),
        "labelled": (bool,),
        "merge": (bool,),
        **TreeParser.SETTINGS,
    }

    def __init__(
        self,
        *,
        system: str = "arc_eager",
        templates: str | Sequence[str] | None = None,
        labelled: bool = True,
        half_width: bool = True,
        beam: int | None = 16,
        merge: bool | None = None,
        update: str | None = None,
        learning: Learning | None = None,
        epochs: int = 12,
        patience: int | None = None,
        n_models: int = 1,
        mean: Mean = "nonzero",
        seed: int | None = 0,
    ) -> None:
        choose("system", system, SYSTEMS)
        self.system = system
        parts = SYSTEMS[system]
        self.labelled = labelled
        if not labelled:
            self.PRIMARY = "dep_uas"
        self.merge = parts.merge if merge is None else merge
        super().__init__(
            templates=parts.table if templates is None else templates,
            events=parts.events,
            atoms=parts.atoms,
            tables=parts.tables,
            half_width=half_width,
            beam=beam,
            update=update,
            learning=DEFAULT_LEARNING if learning is None else learning,
            epochs=epochs,
            patience=patience,
            n_models=n_models,
            mean=mean,
            seed=seed,
        )

    # Prediction ----------------------------------------------------------------------------------

    def nbest(self, words: Words, tags: Sequence[str], n: int) -> list[tuple[float, Parse]]:
        """The `n` best trees that the beam lets through, best first, with their scores.

        The score is the sum of the weights of all features. With `merge` there are few: of all ways
        to states that look alike only the best is known at the end. Raises ValueError if n < 1, and
        as `predict`.
        """
        query = Query.of((words, tags), None)
        with self._decoders().borrow() as decoder:
            return [
                (score, query.answer(decoder, tree))
                for score, tree in decoder.nbest(query.words, query.tags, n)
            ]

    # Hooks of the base classes -------------------------------------------------------------------

    def _empty_structure(self) -> ParseStructure:
        return self._structure_for((), "")

    def _query(self, sentence: TaggedSentence, given: GivenArcs | None) -> Query:
        return Query.of(sentence, given)

    def _parse(self, decoder: ParseDecoder, queries: list[Query]) -> list[Parse]:
        return parse_queries(decoder, queries)

    def _examples(self, sentence: DependencySentence) -> Sequence[DependencySentence]:
        visible = without_blanks(sentence)
        return [] if visible is None else [visible]

    def _score(
        self,
        gold: list[DependencySentence],
        decoders: DecoderPool[ParseDecoder],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> ParsingScores:
        predicted = self._stream(
            ((sentence.words, sentence.tags) for sentence in gold), None, decoders, n_threads
        )
        return score_parses(gold, predicted)

    def _structure_of(self, examples: Iterable[DependencySentence]) -> ParseStructure:
        labels = set(self._expected)
        # Those of words whose heads are not known, roots perhaps.
        loose: set[str] = set()
        roots: Counter[str] = Counter()
        n_lifted = n_partial = n_left_out = 0
        for example in examples:
            tree = _tree_of(example, self.labelled)
            if tree is None:
                n_left_out += 1
                continue
            heads, names = tree
            n_partial += None in heads or None in names
            n_lifted += heads != example.heads
            for head, label in zip(heads, names, strict=True):
                if label is not None and head == ROOT:
                    roots[label] += 1
                elif label is not None:
                    (loose if head is None else labels).add(label)
        if n_lifted:
            logger.info("%d trees that are not projective were made so for training", n_lifted)
        if n_partial:
            logger.info("%d trees are annotated in part; training completes them", n_partial)
        if n_left_out:
            logger.warning(
                "%d sentences are left out of training: they have several roots, or no trees",
                n_left_out,
            )
        # The most frequent; the first of equal ones in the order of the alphabet.
        root = min(roots, key=lambda label: (-roots[label], label), default="")
        return self._structure_for(sorted(labels | loose - {root}), root)

    def _structure_for(self, labels: Sequence[str], root_label: str) -> ParseStructure:
        events = list(dict.fromkeys(template.event for template in self._templates))
        atoms = [atom for template in self._templates for atom in template.atoms]
        system = SYSTEMS[self.system].make(
            WordAtoms(self.half_width), len(labels) or 1, atoms, events
        )
        return ParseStructure(
            system=system,
            templates=self._templates,
            beam=self.beam,
            update=self.update,
            merge=self.merge,
            arc_labels=tuple(labels),
            root_label=root_label,
            labelled=self.labelled,
        )

    def _restored_structure(
        self, labels: list[Any], entries: dict[str, Any], arrays: Arrays
    ) -> ParseStructure:
        return self._structure_for(strings("labels", labels), field(entries, "root_label", str))

    def _settings(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "labelled": self.labelled,
            "merge": self.merge,
            **super()._settings(),
        }


@dataclass(frozen=True)
class ParseStructure(TreeStructure[DependencySentence, ParseDecoder]):
    """Labels of arcs, features of states, and how trees are searched for.

    root_label: of the root, which has no arc.
    """

    system: DependencyTransitions
    merge: bool
    arc_labels: tuple[str, ...]
    root_label: str
    labelled: bool

    @property
    def labels(self) -> tuple[str, ...]:
        return self.arc_labels

    def new_trainer(self, learner: Perceptron) -> PartialTreeTrainer:
        trainer = AgendaTrainer(
            self.system.copy(), self.templates, learner, self.beam, self.update, self.merge
        )
        return PartialTreeTrainer(trainer, self.new_decoder, self.system)

    def new_decoder(self, tables: list[TrainedRows]) -> ParseDecoder:
        scorer = StateScorer(self.system.copy(), self.templates, tables)
        return ParseDecoder(Agenda(scorer, self.beam, self.merge), self.arc_labels, self.root_label)

    def compile(
        self, example: DependencySentence, learner: Perceptron
    ) -> Derivation | PartialTree | None:
        tree = _tree_of(example, self.labelled)
        if tree is None:
            return None
        heads, labels = tree
        number = {label: i for i, label in enumerate(self.arc_labels)}
        # What only roots are called says nothing of the arc of a word without a head.
        labels = tuple(
            None if head is None and label == self.root_label and label not in number else label
            for head, label in zip(heads, labels, strict=True)
        )
        of_arcs = {label for head, label in zip(heads, labels, strict=True) if head != ROOT}
        if unknown := sorted(label for label in of_arcs - number.keys() if label is not None):
            raise ValueError(
                f"the label {unknown[0]!r} is none of those that the training began with "
                f"({', '.join(self.arc_labels)}); call fit, or prepare with the whole corpus"
            )
        if None in heads or None in of_arcs:
            return PartialTree(example.words, example.tags, heads, labels, learner.lineage)
        return self.system.compile(
            example.words,
            example.tags,
            [head for head in heads if head is not None],
            [0 if label is None else number.get(label, 0) for label in labels],
            learner,
        )

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        return {"root_label": self.root_label}, {}


def _tree_of(
    example: DependencySentence, labelled: bool
) -> tuple[tuple[int | None, ...], tuple[str | None, ...]] | None:
    """The heads and labels to train on, or None if they are of no tree with one root."""
    if example.heads.count(ROOT) > 1 or (None not in example.heads and ROOT not in example.heads):
        return None
    if {*example.heads, *example.labels} == {None}:
        return None
    labels = example.labels if labelled else (UNLABELLED,) * len(example.words)
    return projectivize(example.heads), labels
