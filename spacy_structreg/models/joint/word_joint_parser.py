"""Joint segmentation, tagging and parsing: one beam search over words, their tags and trees."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

from spacy_structreg.corpora.dependencies import ROOT, projectivize
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.features.joint import WORD_TREE_TABLES
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.model_file import Arrays, field
from spacy_structreg.learn.rows import TrainedRows, TrainingRows
from spacy_structreg.learn.setting_fields import check_strings, from_settings, setting
from spacy_structreg.models.beam_margin import AdaptiveBeam
from spacy_structreg.models.decoders import DecoderPool
from spacy_structreg.models.dependencies import DependencySpec
from spacy_structreg.models.gold import TextSchema, squeeze
from spacy_structreg.models.joint.joint_taggers import TaggedWordSettings, TaggedWordSpec
from spacy_structreg.models.joint.parsed_analyses import ArcGuide
from spacy_structreg.models.knowledge import contents_of, read_atoms, restored_atoms
from spacy_structreg.models.model_spec import Labels, StoredSpec
from spacy_structreg.models.raw_text import TaggedPredictor, TextAnalysis, stream_texts
from spacy_structreg.models.settings import MAX_BEAM, CompleteTemplates, UpdatePoint, joined
from spacy_structreg.models.text_estimator import TextEstimator
from spacy_structreg.models.tree_parser import without_blanks
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.joint.tag_records import TagRecords
from spacy_structreg.tasks.joint.word_trees import WordTreeDecoder, WordTreeTransitions
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms
from spacy_structreg.tasks.segmentation.constraints import Constraints
from spacy_structreg.tasks.segmentation.given_spans import AnySpan
from spacy_structreg.tasks.segmentation.text import checked_text
from spacy_structreg.tasks.segmentation.user_words import AnyWords, CompiledWords, compiled
from spacy_structreg.tasks.segmentation.words import WordGuide

if TYPE_CHECKING:
    from spacy_structreg.learn.perceptron import Perceptron
    from spacy_structreg.metrics.figures import Scores


class ParsedSchema(TextSchema[Sentence]):
    """`Sentence`s as parts of texts; none is cut, as trees reach over all cuts."""

    @classmethod
    def checked(cls, sentence: Any) -> Sentence:
        return DependencySpec.checked(sentence)

    @classmethod
    def layers(cls, sentence: Sentence) -> tuple[list[str], ...]:
        return DependencySpec.layers(sentence)

    @classmethod
    def squeezed(cls, sentence: Sentence) -> Sentence:
        visible = without_blanks(sentence)
        assert visible is not None
        return replace(visible, words=tuple(map(squeeze, visible.words)))

    @classmethod
    def split(cls, sentence: Sentence) -> Sequence[Sentence]:
        return [sentence]

    @classmethod
    def with_words(cls, sentence: Sentence, words: list[str]) -> Sentence:
        return replace(sentence, words=tuple(words))

    @classmethod
    def examples(cls, sentence: Sentence, *, split: bool) -> Sequence[Sentence]:
        if without_blanks(sentence) is None:
            return []
        squeezed = cls.squeezed(sentence)
        if None in squeezed.heads:
            return [squeezed]
        return [replace(squeezed, heads=projectivize(squeezed.heads))]


logger = logging.getLogger("spacy_structreg")


class WordJointParserSettings(TaggedWordSettings):
    """Settings of a `WordJointParser`."""

    DEFAULT_LEARNING: ClassVar[Learning] = Learning(prune=0.8)

    templates: str | Sequence[str] = setting(
        "word_trees",
        'The features: the name of a table, "word_trees", or templates of one\'s own, an event and '
        'its atoms, such as "arc: S0w S1w".',
        restore=CompleteTemplates.checked,
    )
    update: UpdatePoint = setting(
        "max_violation", 'Where an update is made: "early", "max_violation" or "plain".'
    )
    beam: int | None = setting(
        32,
        "How many of the states that compete are kept, in training and in prediction; null for no "
        "limit.",
        minimum=1,
        maximum=MAX_BEAM,
    )
    many_roots: bool = setting(
        False,
        "Find the ends of sentences as well, by trees that are complete, instead of taking what "
        "`sentences` leaves for one each: train on texts of several sentences then.",
    )

    def parsed(self) -> tuple[StateTemplate, ...]:
        """The templates. Raises ValueError for those that cannot be."""
        system = WordTreeTransitions(CharacterAtoms(self.types, self.half_width), 2, 1)
        names = joined(self.templates, *self.further_tables)
        return parse_state_templates(names, system.events, system.atoms, WORD_TREE_TABLES)

    def _check(self) -> None:
        super()._check()
        if self.by_words:
            raise ValueError(
                "by_words lets complete words compete, but trees over them do here; leave it out"
            )
        if self.chosen_learning.mini_sample is not None:
            raise ValueError(
                f"mini_sample is {self.chosen_learning.mini_sample:g}, but the sentences of a "
                "parser cannot be cut: trees reach over all cuts; leave it at None"
            )
        if self.typed_runs == "latin":
            raise ValueError(
                "typed_runs = 'latin' joins words of the training corpus, which have heads of "
                "their own here; choose true or false"
            )


class ParsingPredictor(TaggedPredictor[WordTreeDecoder]):
    """Finds words, their tags and dependency trees over them."""

    many_roots: bool
    """True if it finds the ends of sentences, by trees that are complete."""

    def predict_trees(
        self, text: str, user_words: AnyWords | None = None, *, spans: Iterable[AnySpan] = ()
    ) -> Sentence | None:
        """The words of a text, their tags, heads and labels; None for a text without words.

        There is a root for each of its sentences. user_words, spans: as for `predict`, which see
        for errors.
        """
        words = compiled(user_words)
        with self._decoders().borrow() as decoder:
            return self._trees(decoder, [checked_text(text)], words, list(spans))[0]

    def predict_trees_stream(
        self, texts: Iterable[str], *, n_threads: int = 1, user_words: AnyWords | None = None
    ) -> Iterator[Sentence | None]:
        """As `predict_trees`, for any number of texts in bounded memory, in their order."""
        decode = partial(self._trees, user_words=compiled(user_words))
        return stream_texts(texts, self._decoders(), decode, n_threads)

    def _trees(
        self,
        decoder: WordTreeDecoder,
        texts: list[str],
        user_words: CompiledWords | None = None,
        spans: Sequence[AnySpan] = (),
    ) -> list[Sentence | None]:
        trees: list[Sentence | None] = []
        for text, found in zip(
            texts, self._analyze(decoder, texts, user_words, spans), strict=True
        ):
            assert found.tags is not None
            assert found.heads is not None
            trees.append(
                Sentence(
                    words=tuple(text[start:end] for start, end in found.spans.tolist()),
                    tags=tuple(decoder.tags[tag] for tag in found.tags.tolist()),
                    heads=tuple(found.heads.tolist()),
                    labels=found.labels,
                )
                if len(found.spans)
                else None
            )
        return trees

    def _analyses(
        self,
        decoder: WordTreeDecoder,
        texts: list[str],
        sentences: list[list[int]],
        ends: list[list[int]],
        constraints: list[Constraints] | None,
    ) -> list[TextAnalysis]:
        places, starts, tags, heads, labels = decoder.trees(texts, ends, constraints)
        # The last name is that of label -1.
        labels_of = (*decoder.arc_labels, decoder.root_label)
        names, bounds = self.known_tags, starts.tolist()
        return [
            TextAnalysis(
                places[first:last],
                of_text,
                tags[first:last],
                names,
                heads[first:last],
                tuple([labels_of[label] for label in labels[first:last].tolist()]),
            )
            for first, last, of_text in zip(bounds, bounds[1:], sentences, strict=False)
        ]

    def _score(
        self,
        gold: Sequence[Sentence],
        decoders: DecoderPool[WordTreeDecoder],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> Scores:
        squeezed = list(map(ParsedSchema.squeezed, gold))
        from spacy_structreg.metrics.dependencies import TextParsingScorer

        scorer = TextParsingScorer(vocabulary)
        texts = (self._text_of(sentence.words) for sentence in squeezed)
        found = stream_texts(texts, decoders, self._trees, n_threads)
        for wanted, tree in zip(squeezed, found, strict=True):
            scorer.add([wanted], [] if tree is None else [tree])
        return scorer.scores()


@dataclass(frozen=True, kw_only=True)
class WordJointParserSpec(ParsedSchema, TaggedWordSpec[Sentence, WordTreeDecoder]):
    """Features and search of words with tags and trees.

    arc_labels: of arcs, by their numbers; root_label: of roots, which have none.
    """

    system: WordTreeTransitions
    arc_labels: tuple[str, ...]
    root_label: str

    @classmethod
    def of_corpus(
        cls, settings: WordJointParserSettings, examples: Iterable[Sentence], extra: Labels
    ) -> WordJointParserSpec:
        roots: Counter[str] = Counter()
        labels: set[str] = set()
        sentences = []
        n_left_out = 0
        for example in examples:
            if not _is_whole(example, many_roots=settings.many_roots):
                n_left_out += 1
                continue
            sentences.append(list(zip(example.words, example.tags, strict=True)))
            for head, label in zip(example.heads, example.labels, strict=True):
                if head == ROOT:
                    roots[label or ""] += 1
                else:
                    labels.add(label or "")
        if n_left_out:
            logger.warning(
                "%d sentences are left out of training: they have several roots, or not all of "
                "their tags, heads and labels",
                n_left_out,
            )
        # The most frequent; the first of equal ones in the order of the alphabet.
        root = min(roots, key=lambda label: (-roots[label], label), default="")
        tags = tuple(sorted({tag for sentence in sentences for _, tag in sentence}))
        atoms = read_atoms(settings)
        records = TagRecords.collect(sentences, tags, atoms, **settings.records)
        return cls._of(
            settings,
            records,
            atoms,
            tags=tags,
            arc_labels=tuple(sorted(labels)),
            root_label=root,
        )

    @classmethod
    def of_file(cls, settings: WordJointParserSettings, stored: StoredSpec) -> WordJointParserSpec:
        tags = tuple(check_strings("labels", stored.labels))
        atoms = restored_atoms(settings, stored.entries, stored.arrays)
        known = contents_of(atoms)[1]
        of_records = {name: array for name, array in stored.arrays.items() if name not in known}
        return cls._of(
            settings,
            TagRecords(len(tags), of_records),
            atoms,
            tags=tags,
            arc_labels=tuple(
                check_strings("arc_labels", field(stored.entries, "arc_labels", list))
            ),
            root_label=field(stored.entries, "root_label", str),
        )

    @classmethod
    def _of(
        cls,
        settings: WordJointParserSettings,
        records: TagRecords,
        atoms: CharacterAtoms,
        *,
        tags: tuple[str, ...],
        arc_labels: tuple[str, ...],
        root_label: str,
    ) -> WordJointParserSpec:
        system = WordTreeTransitions(
            atoms,
            len(tags),
            len(arc_labels) or 1,
            settings.max_word_length,
            records,
            many_roots=settings.many_roots,
        )
        return cls(
            settings=settings,
            system=system,
            # A corpus of one tag has no choice of tags.
            templates=tuple(each for each in settings.parsed() if each.event in system.events),
            prune_training=settings.prune_training,
            tags=tags,
            records=records,
            arc_labels=arc_labels,
            root_label=root_label,
        )

    @cached_property
    def _arc_number(self) -> dict[str, int]:
        return {label: i for i, label in enumerate(self.arc_labels)}

    def new_learner(self, learning: Learning) -> Perceptron:
        from spacy_structreg.learn.perceptron import Perceptron

        # A feature of arcs has seen few of all labels.
        return Perceptron(
            [
                TrainingRows(width, adaptive=True if name == "arc" else None, **learning.penalties)
                for name, width in self.system.tables.items()
            ],
            learning,
        )

    def new_decoder(
        self,
        tables: list[TrainedRows],
        *,
        beam: int | None = None,
        margin: float | None = None,
        guide: WordGuide | None = None,
        arc_guide: ArcGuide | None = None,
    ) -> WordTreeDecoder:
        margin = self.settings.beam_margin if beam is None else margin
        agenda = Agenda(self.new_scorer(tables), beam or self.settings.beam, False, margin)
        return WordTreeDecoder(
            agenda, self.tags, self.arc_labels, self.root_label, guide, arc_guide
        )

    def compile(self, example: Sentence, learner: Perceptron) -> Derivation | None:
        if not _is_whole(example, many_roots=self.system.many_roots):
            return None
        labels = []
        for head, label in zip(example.heads, example.labels, strict=True):
            if head != ROOT and label not in self._arc_number:
                raise ValueError(
                    f"the label {label!r} is none of those that the training began with "
                    f"({', '.join(self.arc_labels)}); call fit, or prepare with the whole corpus"
                )
            # The label of a root need be none of an arc.
            labels.append(self._arc_number.get(label or "", 0))
        tags = self.numbers_of(example.tags)
        heads = [ROOT if head is None else head for head in example.heads]
        return self.system.compile_trees(example.words, tags, heads, labels, learner)

    def unreachable_reason(self, example: Sentence) -> str | None:
        return self.unreachable_reason_of(zip(example.words, example.tags, strict=True))

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        entries, arrays = super().contents()
        return {
            "arc_labels": list(self.arc_labels),
            "root_label": self.root_label,
            **entries,
        }, arrays


def _is_whole(example: Sentence, *, many_roots: bool) -> bool:
    """True if all of a sentence is known, and it has one root, or may have several."""
    n_roots = example.heads.count(ROOT)
    return (
        None not in example.heads
        and None not in example.labels
        and all(example.tags)
        and (n_roots == 1 or (many_roots and n_roots > 0))
    )


class WordJointParser(
    AdaptiveBeam,
    ParsingPredictor,
    TextEstimator[Sentence, WordTreeDecoder],
):
    """Finds words, their tags and trees over them in one search (Hatori et al. 2012).

    Characters join words, words trees, as in arc-standard parsing, and each may correct the others
    (`tasks.joint.word_trees`). What words and tags are not proposed is known by the records of the
    training corpus, as in `WordJointTagger`.

    Gold sentences are `Sentence`s. Trees that are not projective are made so for training
    (`corpora.dependencies.projectivize`); sentences that lack heads, labels or tags, or have
    several roots without the setting `many_roots`, are left out, and the log counts them.
    The best epoch is that of the highest las_f, from raw text.

    Examples
    --------
    >>> from spacy_structreg import WordJointParser
    >>> from spacy_structreg.corpora.sentence import Sentence
    >>> gold = Sentence(
    ...     ("我", "爱", "北京"),
    ...     ("PN", "VV", "NR"),
    ...     heads=(1, -1, 1),
    ...     labels=("nsubj", "root", "obj"),
    ... )
    >>> parser = WordJointParser(epochs=5).fit([gold])
    >>> tree = parser.predict_trees("我爱北京")
    >>> tree.words, tree.tags, tree.heads
    (('我', '爱', '北京'), ('PN', 'VV', 'NR'), (1, -1, 1))
    """

    KIND = "word_joint_parser"
    NOUN = "joint parser"
    SPEC = WordJointParserSpec
    PRIMARY = "las_f"
    MUST_AGREE = ("templates", "types", "half_width", "script", "sentences", "labels")
    COUNTS: ClassVar = True
    SETTINGS = WordJointParserSettings
    settings: WordJointParserSettings

    @from_settings(WordJointParserSettings)
    def __init__(self, settings: WordJointParserSettings) -> None:
        super().__init__(settings.completed(settings.parsed()))

    @property
    def tags(self) -> tuple[str, ...]:
        return self.labels

    @property
    def arc_labels(self) -> tuple[str, ...]:
        """The labels of arcs, sorted. Raises ValueError if it has not been trained."""
        spec = self._fitted_spec()
        assert isinstance(spec, WordJointParserSpec)
        return spec.arc_labels
