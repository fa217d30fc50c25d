"""Dependency parsing of tagged words, in any language."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from spacy_structreg.corpora.dependencies import (
    ROOT,
    DependencySentence,
    Parse,
    projectivize,
)
from spacy_structreg.estimators.base import Estimator
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
from spacy_structreg.estimators.settings import choose, strings, whole
from spacy_structreg.estimators.structure import Structure
from spacy_structreg.features.parser_tables import ARC_EAGER_TABLES, ARC_STANDARD_TABLES
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.learn.averaging import Mean
from spacy_structreg.learn.model_file import Arrays, field
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainedRows, TrainingRows
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


class DependencyParser(Estimator[DependencySentence, ParseDecoder, ParsingScores]):
    """Builds a projective dependency tree with one root over tagged words, by beam search.

    system: the transition system: ``"arc_eager"`` (Zhang & Clark 2011, section 5) or
        ``"arc_standard"`` (Huang & Sagae 2010).
    templates: the name of a table of `features.parser_tables`, templates in the notation of
        `features.state_templates`, or a list of these; None for the default of the system.
    labelled: whether arcs get labels; without, all get `UNLABELLED`, and the best epoch is that of
        the highest dep_uas, not dep_las.
    half_width: let full-width letters, digits and punctuation look like their half-width forms.
    beam: how many states are kept, in training and in prediction; None for no limit.
    merge: merge the states that no later score can tell apart, in training and in prediction;
        arc-standard parsing then goes on from all that such a state may lie on. None for what suits
        the system: merging for arc-standard only.
    update: where an update is made: ``"early"``, ``"max_violation"``, ``"plain"``, or, with
        `beam` = 1, ``"every"`` (`training.agenda`); None for max-violation, or for an update at
        every action with a beam of 1.
    learning, epochs, patience, n_models, mean, seed: as for `CharacterSegmenter`; sentences are not
        cut, so that `mini_sample` must be None.

    Gold sentences are `DependencySentence`s. Trees that are not projective are made so for
    training (`corpora.dependencies.projectivize`); where heads or labels are None, the model finds
    the best that go with the others before each epoch (`estimators.partial_trees`); sentences with
    several roots, or with nothing of a tree, are left out. The log counts all three. Words of
    nothing but white space are no words to the model: they are passed over in training, and become
    children of the word before them, with the label ``""``.
    Raises ValueError for settings that do not exist or contradict each other.
    """

    TASK = "dependency_parser"
    NOUN = "parser"
    GOLD = DEPENDENCIES
    PRIMARY = "dep_las"
    MUST_AGREE = ("system", "templates", "labels", "half_width")
    SETTINGS: ClassVar = {
        "system": (str,),
        "templates": (list,),
        "labelled": (bool,),
        "half_width": (bool,),
        "beam": (int, type(None)),
        "merge": (bool,),
        "update": (str,),
        **Estimator.SETTINGS,
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
        if templates is None:
            templates = parts.table
        self._templates = parse_state_templates(
            [templates] if isinstance(templates, str) else list(templates),
            parts.events,
            parts.atoms,
            parts.tables,
        )
        self.templates = tuple(map(str, self._templates))
        self.labelled = labelled
        if not labelled:
            self.PRIMARY = "dep_uas"
        self.half_width = half_width
        self.beam = None if beam is None else whole("beam", beam, 1)
        self.merge = parts.merge if merge is None else merge
        if update is None:
            update = "every" if self.beam == 1 else "max_violation"
        self.update = update
        learning = Learning() if learning is None else learning
        if learning.mini_sample is not None:
            raise ValueError(
                f"mini_sample is {learning.mini_sample:g}, but the sentences of a parser cannot be "
                "cut: heads may lie beyond the cut; leave it at None"
            )
        super().__init__(
            learning=learning,
            epochs=epochs,
            patience=patience,
            n_models=n_models,
            mean=mean,
            seed=seed,
        )
        # Labels that there are, whether or not the examples have them.
        self._expected: frozenset[str] = frozenset()
        # A trainer checks which updates there are, and which beams go with them.
        structure = self._structure_for((), "")
        structure.new_trainer(structure.new_learner(self.learning))

    def prepare(
        self, sentences: Iterable[DependencySentence], *, labels: Iterable[str] = ()
    ) -> None:
        """Learn which labels there are, and which of them roots have, but no weights.

        labels: there are these too, whether or not the sentences have them.
        For a training in portions; does nothing to a model that has been trained. Raises ValueError
        if a sentence is not of the kind.
        """
        with self._lock:
            self._expected = frozenset(labels)
            try:
                super().prepare(sentences)
            finally:
                self._expected = frozenset()

    # Prediction ----------------------------------------------------------------------------------

    def predict(
        self, words: Words, tags: Sequence[str], *, given: GivenArcs | None = None
    ) -> Parse:
        """The tree over the words of a sentence.

        tags: of the words. given: heads and labels that are known already; they stay, and the
        others are found to fit them. Given labels that the model does not know are kept for what
        they are. Given heads of white space are not looked at: it hangs on the word before it.
        Raises ValueError if there are no words, tags or given arcs are not one for each word, no
        projective tree with one root has the given arcs, or the model has not been trained.
        """
        return self.predict_batch([(words, tags)], given=None if given is None else [given])[0]

    def predict_batch(
        self,
        sentences: Iterable[TaggedSentence],
        *,
        given: Iterable[GivenArcs | None] | None = None,
        n_threads: int = 1,
    ) -> list[Parse]:
        """The tree of each sentence; threads decode side by side. given: for each sentence.

        Raises as `predict`, and ValueError if there are more or fewer sentences in `given`.
        """
        return list(self.predict_stream(sentences, given=given, n_threads=n_threads))

    def predict_stream(
        self,
        sentences: Iterable[TaggedSentence],
        *,
        given: Iterable[GivenArcs | None] | None = None,
        n_threads: int = 1,
    ) -> Iterator[Parse]:
        """As `predict_batch`, for any number of sentences in bounded memory, in their order."""
        return self._stream(sentences, given, self._decoders(), n_threads)

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

    def _stream(
        self,
        sentences: Iterable[TaggedSentence],
        given: Iterable[GivenArcs | None] | None,
        decoders: DecoderPool[ParseDecoder],
        n_threads: int,
    ) -> Iterator[Parse]:
        queries = (
            (Query.of(sentence, None) for sentence in sentences)
            if given is None
            else (Query.of(*pair) for pair in zip(sentences, given, strict=True))
        )
        return decoders.stream(queries, parse_queries, size=len, n_threads=n_threads)

    # Hooks of the base class ---------------------------------------------------------------------

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
            tuple(labels),
            root_label,
            self.labelled,
            system,
            self._templates,
            self.beam,
            self.merge,
            self.update,
        )

    def _restored_structure(
        self, labels: list[Any], entries: dict[str, Any], arrays: Arrays
    ) -> ParseStructure:
        return self._structure_for(strings("labels", labels), field(entries, "root_label", str))

    def _settings(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "templates": list(self.templates),
            "labelled": self.labelled,
            "half_width": self.half_width,
            "beam": self.beam,
            "merge": self.merge,
            "update": self.update,
            **super()._settings(),
        }


@dataclass(frozen=True)
class ParseStructure(Structure[DependencySentence, ParseDecoder]):
    """Labels of arcs, features of states, and how trees are searched for.

    root_label: of the root, which has no arc. system: of one thread; trainers and decoders get
    copies of it.
    """

    arc_labels: tuple[str, ...]
    root_label: str
    labelled: bool
    system: DependencyTransitions
    templates: tuple[StateTemplate, ...]
    beam: int | None
    merge: bool
    update: str

    @property
    def labels(self) -> tuple[str, ...]:
        return self.arc_labels

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(self.system.events.values())

    def new_learner(self, learning: Learning) -> Perceptron:
        # A feature of words has seen few of all actions.
        rows = [TrainingRows(width, adaptive=True, **learning.penalties) for width in self.widths]
        return Perceptron(rows, learning)

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
