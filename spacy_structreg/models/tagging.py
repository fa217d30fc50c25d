"""Tagging given words, in any language."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.partial_sentence import PartialSentence
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.tag_maps import CLOSED_TAGS
from spacy_structreg.features.state_templates import StateTemplate, parse_state_templates
from spacy_structreg.features.tagging import TAGGER_TABLES
from spacy_structreg.learn.freezing import Bits
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.model_file import Arrays, field
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.learn.setting_fields import check_strings, from_settings, setting
from spacy_structreg.models.decoders import WORD, DecoderPool
from spacy_structreg.models.explanation import Explanation
from spacy_structreg.models.gold import (
    TaggedGold,
    TaggedSchema,
    TaggedWords,
    Words,
    known_pairs,
    tags_of,
)
from spacy_structreg.models.knowledge import (
    contents_of_words,
    read_words,
    restored_words,
    unread_words,
    word_tables,
)
from spacy_structreg.models.model_spec import AgendaSpec, Labels, StoredSpec
from spacy_structreg.models.parallel import run_tasks
from spacy_structreg.models.predictor import Predictor
from spacy_structreg.models.progress import progress_bar
from spacy_structreg.models.settings import (
    MAX_BEAM,
    CompleteTemplates,
    LexiconSettings,
    PerceptronSettings,
    UpdatePoint,
    ViewSettings,
    WordSettings,
    check_update,
    complete,
    joined,
)
from spacy_structreg.models.stored_model import nested, read_model, unnested
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.tagging import (
    CATEGORY_ATOMS,
    OTHER_WORDS,
    TAG_SET_ATOMS,
    TAGGING_ATOMS,
    TAGGING_EVENTS,
    TagDecoder,
    TagTransitions,
)
from spacy_structreg.tasks.word_fields import TagSets, WordFields

if TYPE_CHECKING:
    from spacy_structreg.learn.perceptron import Perceptron
    from spacy_structreg.metrics.figures import Scores
    from spacy_structreg.training.agenda import AgendaTrainer

DEFAULT_LEARNING: Final = Learning(mini_sample=5.0, dropout=0.1)
"""Default learning, chosen on the development sets of UD Chinese GSD and UD English EWT."""

GivenTags: TypeAlias = Sequence[str | None]
"""A tag for each word of a sentence, or None where there is none yet."""

TagQuery: TypeAlias = tuple[list[str], GivenTags | None]
"""The words of a sentence, and the tags that are given."""

# A word this rare in training may well have been unknown: `tags(w+1)` is then empty, as it will be
# for words out of the vocabulary.
_LEAST_OF_CLASS: Final = 2
# A tag that a character has once only says in training which word it is.
_LEAST_OF_CATEGORY: Final = 2


class TaggerSettings(LexiconSettings, WordSettings, ViewSettings, PerceptronSettings):
    """Settings of a `Tagger`."""

    DEFAULT_LEARNING: ClassVar[Learning] = DEFAULT_LEARNING

    templates: str | Sequence[str] = setting(
        "words",
        'The features: a table, "words" for Chinese and any other script, "latin" for alphabetic '
        'ones, or templates of one\'s own, an event and its atoms, such as "tag: t-1 w0".',
        restore=CompleteTemplates.checked,
    )
    beam: int | None = setting(
        4,
        "How many sequences of tags are kept from word to word in training; null for no limit.",
        minimum=1,
        maximum=MAX_BEAM,
    )
    decode_beam: int | None = setting(2, "The same in prediction.", minimum=1, maximum=MAX_BEAM)
    update: UpdatePoint = setting(
        "early",
        'Where an update is made: "early", "max_violation", "plain", or, with beam = 1, "every".',
    )
    dictionary: int | None = setting(
        5,
        "In prediction, words that occur so often in training, or more, get only tags that they "
        "had there; null for any tags.",
        minimum=1,
    )
    closed_tags: str | Sequence[str] | None = setting(
        None,
        "Tags that words get in prediction only if they had them in training; "
        '"ctb" names those of the Chinese Treebank, "ud" those of Universal Dependencies.',
        choices=CLOSED_TAGS,
    )
    guide: str | None = setting(
        None,
        "A tagger of another standard whose tags are features: the folder of a trained pipeline, "
        "or a model file; it is stored with the model.",
    )

    def _check(self) -> None:
        super()._check()
        check_update(self.update, self.beam)

    def parsed(self) -> tuple[StateTemplate, ...]:
        """The templates. Raises ValueError for those that cannot be."""
        further = [*["guide"] * (self.guide is not None), *word_tables(self)]
        names = joined(self.templates, *further)
        return parse_state_templates(names, TAGGING_EVENTS, TAGGING_ATOMS, TAGGER_TABLES)


@dataclass(frozen=True)
class TagSpec(TaggedSchema, AgendaSpec[TaggedGold, TagDecoder]):
    """Tags, features of words, and how they are searched for.

    system: without the dictionary, which is for decoders. guide: of another standard, stored with
    the model.
    """

    settings: TaggerSettings
    system: TagTransitions
    tags: tuple[str, ...]
    dictionary: TagSets | None
    guide: Tagger | None

    @classmethod
    def of_corpus(
        cls, settings: TaggerSettings, examples: Iterable[TaggedGold], extra: Labels
    ) -> TagSpec:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for example in examples:
            for word, tag in known_pairs(example):
                counts[word][tag] += 1
        labels = sorted(frozenset(extra).union(*counts.values()))
        guide = None
        if settings.guide is not None:
            guide = Tagger.from_contents(*read_model(settings.guide, [Tagger.KIND]))
        known = read_words(settings)
        return cls._of(settings, labels, counts.items(), known, guide)

    @classmethod
    def of_file(cls, settings: TaggerSettings, stored: StoredSpec) -> TagSpec:
        known = check_strings("labels", stored.labels)
        categories, classes, dictionary = (
            TagSets(len(known), unnested(name, stored.arrays))
            if any(key.startswith(f"{name}.") for key in stored.arrays)
            else None
            for name in ("categories", "classes", "dictionary")
        )
        if (settings.guide is None) != ("guide" not in stored.entries):
            raise ValueError("it has a guide, or none, against its settings")
        guide = None
        if "guide" in stored.entries:
            header = field(stored.entries, "guide", dict)
            guide = Tagger.from_contents("guide", header, unnested("guide", stored.arrays))
            if not guide.is_trained or header["state"] == "training":
                raise ValueError("its guide is not a trained model")
        knowledge = restored_words(settings, stored.entries, stored.arrays)
        return cls._from(
            settings, known, categories, classes, dictionary, known=knowledge, guide=guide
        )

    @classmethod
    def empty(cls, settings: TaggerSettings) -> TagSpec:
        """A spec without tags."""
        return cls._of(settings, (), (), unread_words(settings), None)

    @classmethod
    def _of(
        cls,
        settings: TaggerSettings,
        labels: Sequence[str],
        counts: Iterable[tuple[str, Counter[str]]],
        known: WordFields,
        guide: Tagger | None,
    ) -> TagSpec:
        """The spec of labels, of how often each word has each tag, and of a guide."""
        number = {label: i for i, label in enumerate(labels)}
        of_character: dict[int, Counter[int]] = defaultdict(Counter)
        of_word: dict[int, Counter[int]] = defaultdict(Counter)
        for word, tags in counts:
            seen = of_word[known.key_of(word)]
            for tag, count in tags.items():
                seen[number[tag]] += count
            for code in set(known.codes_of(word)):
                for tag, count in tags.items():
                    of_character[code][number[tag]] += count

        classes = {
            key: set(tags) for key, tags in of_word.items() if tags.total() >= _LEAST_OF_CLASS
        }

        names = {atom for template in settings.parsed() for atom in template.atoms}
        return cls._from(
            settings,
            labels,
            TagSets.from_mapping(
                len(labels) or 1,
                {
                    code: [tag for tag, count in tags.items() if count >= _LEAST_OF_CATEGORY]
                    for code, tags in of_character.items()
                },
            )
            if names & CATEGORY_ATOMS
            else None,
            TagSets.from_mapping(len(labels) or 1, classes) if names & TAG_SET_ATOMS else None,
            _dictionary_of(settings, of_word, number),
            known=known,
            guide=guide,
        )

    @classmethod
    def _from(
        cls,
        settings: TaggerSettings,
        labels: Sequence[str],
        categories: TagSets | None,
        classes: TagSets | None,
        dictionary: TagSets | None,
        *,
        known: WordFields,
        guide: Tagger | None,
    ) -> TagSpec:
        templates = settings.parsed()
        atoms = [atom for template in templates for atom in template.atoms]
        fields = WordFields(
            known.half_width,
            categories,
            classes,
            known.script,
            known.word_classes,
            known.known,
        )
        new_guide = None if guide is None else guide._decoders().new_decoder
        system = TagTransitions(fields, len(labels) or 1, atoms, new_guide=new_guide)
        return cls(settings, system, templates, tuple(labels), dictionary, guide)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.tags

    @cached_property
    def _number(self) -> dict[str, int]:
        return {tag: i for i, tag in enumerate(self.tags)}

    def new_trainer(self, learner: Perceptron) -> AgendaTrainer:
        return self._trainer(learner, self.settings.beam)

    def new_correction_trainer(self, learner: Perceptron) -> AgendaTrainer:
        greedy = self.settings.update == "every"
        return self._trainer(learner, self.settings.beam if greedy else self.settings.decode_beam)

    def _trainer(self, learner: Perceptron, beam: int | None) -> AgendaTrainer:
        # Without a limit there would be as many states as sequences of tags.
        merge = beam is None
        update = self.settings.update
        from spacy_structreg.training.agenda import AgendaTrainer

        return AgendaTrainer(self.system.copy(), self.templates, learner, beam, update, merge)

    def new_decoder(self, tables: list[TrainedRows]) -> TagDecoder:
        system = self.system.copy(self.dictionary)
        scorer = StateScorer(system, self.templates, tables)
        beam = self.settings.decode_beam
        return TagDecoder(Agenda(scorer, beam, merge=beam is None), self.tags)

    def compile(self, example: TaggedGold, learner: Perceptron) -> Derivation | None:
        number = self._number
        unknown = sorted(tags_of([example]) - number.keys())
        if unknown:
            raise ValueError(
                f"the tag {unknown[0]!r} is none of those that the training began with "
                f"({', '.join(self.tags)}); call fit, or prepare with the whole corpus"
            )
        if isinstance(example, PartialSentence):
            # None for a word whose tag is not known, which is "".
            return self.system.compile(
                example.pieces, [number.get(tag) for tag in example.piece_tags], learner
            )
        words = [word for word, _ in example]
        return self.system.compile(words, [number[tag] for _, tag in example], learner)

    def unreachable_reason(self, example: TaggedGold) -> str | None:
        if self.dictionary is None or isinstance(example, PartialSentence):
            return None
        for word, tag in example:
            of_word = self.dictionary.get(self.system.words.key_of(word))
            allowed = of_word or self.dictionary.get(OTHER_WORDS)
            if allowed is not None and self._number[tag] not in allowed:
                return (
                    f"the dictionary of the model gives {word!r} only the tags "
                    f"{', '.join(self.tags[each] for each in allowed)}; train with another "
                    "setting of dictionary or closed_tags"
                )
        return None

    def frozen(self, bits: Bits, prune: float) -> TagSpec:
        if self.guide is None or self.guide.is_frozen:
            return self
        guide = self.guide.freeze(bits=bits, prune=prune)
        system = TagTransitions(
            self.system.words,
            self.system.n_tags,
            self.system.atoms,
            new_guide=guide._decoders().new_decoder,
        )
        return replace(self, system=system, guide=guide)

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        sets = {
            "categories": self.system.words.categories,
            "classes": self.system.words.classes,
            "dictionary": self.dictionary,
        }
        entries, arrays = contents_of_words(self.system.words)
        arrays |= {
            key: array
            for name, each in sets.items()
            if each is not None
            for key, array in nested(name, each.arrays).items()
        }
        if self.guide is None:
            return entries, arrays
        header, inner = self.guide.contents()
        return {**entries, "guide": header}, {**arrays, **nested("guide", inner)}


def _dictionary_of(
    settings: TaggerSettings, of_word: dict[int, Counter[int]], number: dict[str, int]
) -> TagSets | None:
    """The tags that `dictionary` and `closed_tags` leave to words; None if they leave all.

    of_word: how often each word has each tag. number: of each tag.
    """
    least = settings.dictionary
    closed = {number[tag] for tag in settings.closed_tags or () if tag in number}
    if least is None and not closed:
        return None
    others = set(number.values()) - closed
    kept = {OTHER_WORDS: others} if closed else {}
    for word, tags in of_word.items():
        if least is not None and tags.total() >= least:
            kept[word] = set(tags)
        elif closed & set(tags):
            kept[word] = others.union(tags)
    return TagSets.from_mapping(len(number) or 1, kept)


class Tagger(Predictor[TaggedGold, TagDecoder, Words, list[str]]):
    """Tags the words of a sentence by beam search (Collins 2002; Zhang & Clark 2011, section 4).

    Atoms of templates are those of `tasks.tagging`. With no limit of the beam, only the best of the
    states that no later score can tell apart are kept. Mini-samples are counted in words.

    Gold sentences are lists of (word, tag) pairs, the tag None where it is not known. Words of
    nothing but white space are no words to the model: they are passed over in training, and get the
    tag ``""``.

    Examples
    --------
    >>> from spacy_structreg import Tagger
    >>> gold = [
    ...     [("我", "PN"), ("在", "P"), ("北京", "NR")],
    ...     [("大学", "NN"), ("很", "AD"), ("大", "VA")],
    ... ]
    >>> Tagger(epochs=5).fit(gold).predict(["大学", "在", "北京"])
    ['NN', 'P', 'NR']
    """

    KIND = "tagger"
    NOUN = "tagger"
    SPEC = TagSpec
    GIVEN_WORDS = True
    PRIMARY = "tag_acc"
    MUST_AGREE = ("templates", "labels", "half_width", "script")
    COUNTS: ClassVar = True
    SETTINGS = TaggerSettings
    settings: TaggerSettings
    learning: Learning

    @from_settings(TaggerSettings)
    def __init__(self, settings: TaggerSettings) -> None:
        closed = settings.closed_tags
        closed = CLOSED_TAGS[closed] if isinstance(closed, str) else tuple(closed or ())
        super().__init__(
            replace(settings, templates=complete(settings.parsed()), closed_tags=closed)
        )
        # Decoders of another beam, with those that they are made from.
        self._wide: tuple[Any, int, DecoderPool[TagDecoder]] | None = None
        if settings.guide is None:
            TagSpec.empty(self.settings).check_templates()

    # Prediction ----------------------------------------------------------------------------------

    def predict(self, words: Words, *, given: GivenTags | None = None) -> list[str]:
        """The tags of the words of a sentence.

        given: tags that are known already; they stay, and the others are found to fit them.
        Raises ValueError if they are not one for each word, or the model has not been trained.
        """
        return self._predict(words, given)

    def nbest(
        self, words: Words, n: int, *, given: GivenTags | None = None, beam: int | None = None
    ) -> list[tuple[float, list[str]]]:
        """The `n` best sequences of tags, best first, with their scores; fewer if there are fewer.

        beam: how many sequences are kept from word to word; None for `decode_beam`, which lets few
            of them through.
        The score is the sum of the weights of all features. Raises ValueError if n < 1 or beam < 1,
        and as `predict`.
        """
        listed = _listed(words)
        with self._of_beam(beam).borrow() as decoder:
            found = decoder.nbest(listed, n, _allowed(decoder, [(listed, given)]))
        return [(score, _with_given(tags, given)) for score, tags in found]

    def explain(self, words: Words) -> Explanation:
        """The features behind the tag of each word, and what would have changed them.

        Words of nothing but white space are left out. Raises ValueError as `predict`.
        """
        from spacy_structreg.models.explained_words import explained_tags

        with self._decoders().borrow() as decoder:
            return explained_tags(decoder, _listed(words))

    def _of_beam(self, beam: int | None) -> DecoderPool[TagDecoder]:
        """Decoders that keep so many sequences; those of `decode_beam` for None."""
        pool = self._decoders()
        if beam is None:
            return pool
        wide = self._wide
        if wide is None or wide[0] is not pool or wide[1] != beam:
            settings = replace(self.settings, decode_beam=beam)
            spec: Any = replace(self._fitted_spec(), settings=settings)  # type: ignore[type-var]
            wide = self._wide = (pool, beam, DecoderPool(pool.tables, spec.new_decoder))
        return wide[2]

    def _query(self, item: Words, given: GivenTags | None) -> TagQuery:
        return _listed(item), given

    def _decode(self, decoder: TagDecoder, queries: list[TagQuery]) -> list[list[str]]:
        tagged = decoder.tag([words for words, _ in queries], _allowed(decoder, queries))
        return [_with_given(tags, given) for tags, (_, given) in zip(tagged, queries, strict=True)]

    def _size(self, query: TagQuery) -> int:
        return WORD * len(query[0])

    # Hooks of the base class ---------------------------------------------------------------------

    def _examples(self, sentence: TaggedGold) -> Sequence[TaggedGold]:
        if isinstance(sentence, PartialSentence):
            if not sentence.has_words:
                raise ValueError(
                    f"the words of {sentence.text!r:.60} are known in part, and a tagger needs "
                    "them; leave the sentence out"
                )
            return [sentence] if sentence.tags else []
        return [_visible(sentence)]

    def _score(
        self,
        gold: list[TaggedGold],
        decoders: DecoderPool[TagDecoder],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> Scores:
        visible = [_visible(known_pairs(sentence)) for sentence in gold]
        words = ([word for word, _ in sentence] for sentence in visible)
        predicted = self._stream(words, decoders, n_threads)
        from spacy_structreg.metrics.tagging import score_tagging

        return score_tagging(visible, predicted, vocabulary)


def _visible(sentence: TaggedWords) -> TaggedWords:
    return [(word, tag) for word, tag in sentence if word.strip()]


def _listed(words: Words) -> list[str]:
    if isinstance(words, str):
        raise ValueError(f"{words!r:.60} is not a list of words")
    return list(words)


def _allowed(decoder: TagDecoder, pairs: Sequence[TagQuery]) -> NDArray[np.uint8] | None:
    """The tags that each word of some sentences may get; None if they may all get any.

    A given tag that the model does not know leaves the model free.
    """
    if all(given is None for _, given in pairs):
        return None
    number = {tag: i for i, tag in enumerate(decoder.tags)}
    allowed = np.ones((sum(len(words) for words, _ in pairs), len(number)), dtype=np.uint8)
    place = 0
    for words, given in pairs:
        if given is not None and len(given) != len(words):
            raise ValueError(f"{len(given)} tags are given for {len(words)} words")
        for i, tag in enumerate(given or ()):
            if tag in number:
                allowed[place + i] = 0
                allowed[place + i, number[tag]] = 1
        place += len(words)
    return allowed


def _with_given(tags: list[str], given: GivenTags | None) -> list[str]:
    if given is None:
        return tags
    return [tag if known is None else known for tag, known in zip(tags, given, strict=True)]


FOLD_EPOCHS: Final = 10
"""For how many epochs the taggers of folds are trained."""


def with_found_tags(
    gold: Sequence[Sentence],
    dev: Sequence[Sentence] | None = None,
    *,
    settings: TaggerSettings | None = None,
    n_folds: int = 10,
    n_threads: int = 1,
) -> tuple[list[Sentence], list[Sentence] | None]:
    """Sentences with tags as good as those that a parser will meet, in place of gold ones.

    gold: each of so many folds is tagged by a tagger of the others. dev: sentences that are tagged
    by a tagger of all of `gold`; None for none. settings: of these taggers, but for epochs; None
    for the default. Sentences that lack tags stay as they are, and so does all if there are fewer
    sentences than folds.
    """
    from spacy_structreg.corpora.splits import fold_bounds

    settings = replace(settings or Tagger().settings, epochs=FOLD_EPOCHS, n_models=1)
    tagged = [number for number, sentence in enumerate(gold) if all(sentence.tags)]
    if len(tagged) < n_folds:
        return list(gold), None if dev is None else list(dev)
    corpus = [gold[number] for number in tagged]
    found = list(gold)
    shared = settings, corpus
    folds = run_tasks(_tag_fold, shared, fold_bounds(len(corpus), n_folds), n_threads)
    progress: Any = {"desc": "jackknife", "unit": " folds", "total": n_folds}
    with closing(folds):
        tags = chain.from_iterable(progress_bar(folds, **progress))
        for number, of_sentence in zip(tagged, tags, strict=True):
            found[number] = replace(gold[number], tags=tuple(of_sentence))
    if dev is None:
        return found, None
    tagger = _tagger_of(settings, corpus)
    return found, [
        replace(sentence, tags=tuple(tagger.predict(sentence.words))) for sentence in dev
    ]


def _tag_fold(
    shared: tuple[TaggerSettings, list[Sentence]], bound: tuple[int, int]
) -> list[list[str]]:
    """The tags of a fold, by a tagger of the others."""
    settings, corpus = shared
    begin, end = bound
    tagger = _tagger_of(settings, corpus[:begin] + corpus[end:])
    return tagger.predict_batch(sentence.words for sentence in corpus[begin:end])


def _tagger_of(settings: TaggerSettings, corpus: list[Sentence]) -> Tagger:
    pairs = [list(zip(each.words, each.tags, strict=True)) for each in corpus]
    return Tagger.of(settings).fit(pairs)
