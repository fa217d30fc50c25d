"""Declarations of tasks, which the commands ask instead of naming tasks.

A task declares what gold annotation it needs in a Doc, which parts of a pipeline predict it, how
Docs are scored, which training configs it has, and how it is drawn. How models are averaged and
copied is said by the parts themselves (`estimator`, `with_estimator`).

Tasks are found through the entry-point group ``spacy_structreg_tasks``, not through spaCy's
registry of factories: a task may have several factories or none (tokenizers), and a config is made
before there is a pipeline.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

import catalogue  # type: ignore[import-untyped]
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.pipeline.labeling_documents import value_of, write_value

if TYPE_CHECKING:
    from spacy_structreg.corpora.sentence import Sentence
    from spacy_structreg.metrics.figures import Counts, Scores

TOKENIZER: Final = "tokenizer"
"""Stands for the tokenizer of a pipeline where names of pipes are listed."""

Figures: TypeAlias = dict[str, "float | None"]
Pairs: TypeAlias = Sequence[tuple[Doc, Doc]]
Picture: TypeAlias = tuple[int, "str | None"]
"""The number of visible words of a sentence, and its drawing as SVG; None if it has none."""

registry: Final = catalogue.create("spacy_structreg", "tasks", entry_points=True)


# Scores ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Given:
    """The part of gold Docs that a pipeline is given: text, or words, or words and tags."""

    words: bool = False
    tags: bool = False


@dataclass(frozen=True)
class ScoreSettings:
    """Settings of scoring.

    given: what the pipeline was given. vocabulary: the words of the training corpus. conventions:
    what of constituents counts (`metrics.constituents.CONVENTIONS`). punctuation: the tags that
    punctuation bears; None takes the words that `metrics.dependencies.is_punctuation` says.
    """

    given: Given = Given()
    vocabulary: AbstractSet[str] | None = None
    conventions: str = "collins"
    punctuation: AbstractSet[str] | None = None


# Configs -----------------------------------------------------------------------------------------


def is_alphabetic(lang: str) -> bool:
    """True if words of a language are written with letters, and between spaces.

    lang: spaCy's code of it.
    """
    return lang not in ("ja", "ko", "xx", "zh")


@dataclass(frozen=True)
class CorpusFacts:
    """Facts of a training corpus.

    path: as users named it. n_docs: Docs with words. tags: how often each tag occurs, "" for words
    without. has_pos: whether a word has a universal tag. templates: the names of the configs for
    which there is gold annotation.
    """

    path: str
    n_docs: int
    tags: Counter[str]
    has_pos: bool
    templates: AbstractSet[str]

    @property
    def all_tagged(self) -> bool:
        """True if every word has a tag."""
        return bool(self.tags) and not self.tags[""]

    @property
    def any_tagged(self) -> bool:
        """True if some word has a tag."""
        return bool(self.tags.keys() - {""})


@dataclass(frozen=True)
class ConfigRequest:
    """A request for a config.

    lang: spaCy's code of the language. facts: of the training corpus, if there is one. base,
    base_pipeline: the pipeline that is taken over from, by its name and loaded. tags: whether a
    tokenizer learns tags, None for if the corpus has them. tag_map: the name of a table from tags
    to universal ones, "none", or None for the fitting one.
    """

    lang: str
    facts: CorpusFacts | None = None
    base: str | None = None
    base_pipeline: Language | None = None
    tags: bool | None = None
    tag_map: str | None = None

    @property
    def attribute(self) -> Literal["tag", "pos"]:
        """The tags that pipes look at: universal ones if the corpus has no others."""
        facts = self.facts
        return "pos" if facts is not None and facts.has_pos and not facts.any_tagged else "tag"

    @property
    def is_alphabetic(self) -> bool:
        """True if words of the language are written with letters, and between spaces."""
        return is_alphabetic(self.lang)


@dataclass(frozen=True)
class ConfigParts:
    """The parts of a training config that belong to its task; the rest is the same for all.

    title, noun: what is trained, as in "a dependency parser" and "parser".
    pipeline: the names of the pipes. frozen: those of them that are not trained.
    components: the text of the blocks ``[components.…]``, with their comments; of the one that is
        trained, without its model. tokenizer: the text of the block ``[nlp.tokenizer]``, without
        its model, if that is trained.
    model: the text of the blocks of its model (`setting_texts.config_block`).
    gold, dev_gold: what the readers of the two corpora give; about_gold: a comment on it.
    scores: the weights of figures in choosing the best model; about_scores: a comment on it.
    initialize: the text of further blocks ``[initialize.…]``. arguments: lines of the block
        ``[initialize.tokenizer]``.
    """

    title: str
    noun: str
    pipeline: Sequence[str]
    components: str
    model: str
    about_gold: str
    scores: Figures
    about_scores: str
    gold: Sequence[str] = ()
    dev_gold: Sequence[str] = ()
    frozen: Sequence[str] = ()
    tokenizer: str | None = None
    initialize: str = ""
    arguments: str = ""


@dataclass(frozen=True)
class ConfigTemplate:
    """A training config that `init-config` writes.

    name: on the command line. summary: what it trains, in a few words. parts: what it is made of.
    takes_base: whether it takes the tokenizer of another pipeline over. tags: whether a training
    corpus must have tags for some of its words, or for all. gold, advice: what else it must have,
    and how to come by it. has_gold: whether a Doc has that; None for `PipelineTask.has_gold`.
    """

    name: str
    summary: str
    parts: Callable[[ConfigRequest], ConfigParts]
    takes_base: bool = True
    tags: Literal["none", "some", "all"] = "none"
    gold: str = ""
    advice: str = ""
    has_gold: Callable[[Doc], bool] | None = None


# Tasks -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Style:
    """A kind of picture. heads: whether it shows heads: never, if asked for, or always."""

    summary: str
    heads: Literal["never", "optional", "always"] = "never"


class TaskPart:
    """The tokenizer or the pipe of a pipeline that does a task, by its name."""

    def __init__(self, nlp: Language, name: str) -> None:
        self.name = name
        self.pipe: Any = nlp.tokenizer if name == TOKENIZER else nlp.get_pipe(name)

    def setting(self, name: str, default: Any) -> Any:
        """A setting of the pipe; the default if it is another's, which does not have it."""
        return getattr(self.pipe, name, default)


class PipelineTask(ABC):
    """A task: a subclass for each, with one instance among the entry points.

    stem: its name, and that of its entry point. order: place among the figures of a report, by
    default behind those of the package.
    predicts: the annotation that it predicts, in the plural. verb, noun: what a pipe of the task
    does, and is, as in "parses" and "parser"; "" for no message about it. missing: the annotation
    that untrained pipes give to no word, as in "head"; "" if that cannot be seen. reads_tags:
    whether pipes look at tags. of_trees: whether brackets have gold annotation only by head rules.
    on_text, on_words: whether it is scored where a pipeline is given text, or words.
    keeps_spaces: whether a pipeline is given the spaces of the gold corpus in any language; in text
    of alphabetic ones they are there for every task.
    given_sentences: whether it is given the sentences with the words. supersedes: the tasks whose
    figures are left out beside those of this one. columns: names of further columns that column
    files may have. attributes: of tokens, besides the usual ones, that `convert` and `jackknife`
    write. templates: of configs. A task that can be drawn is a `DrawnTask`.
    """

    stem: ClassVar[str]
    order: ClassVar[int] = 20
    predicts: ClassVar[str]
    verb: ClassVar[str] = ""
    noun: ClassVar[str] = ""
    missing: ClassVar[str] = ""
    reads_tags: ClassVar[bool] = False
    of_trees: ClassVar[bool] = False
    on_text: ClassVar[bool] = True
    on_words: ClassVar[bool] = True
    keeps_spaces: ClassVar[bool] = False
    given_sentences: ClassVar[bool] = False
    supersedes: ClassVar[Sequence[str]] = ()
    columns: ClassVar[Sequence[str]] = ()
    attributes: ClassVar[Sequence[str]] = ()
    templates: ClassVar[Sequence[ConfigTemplate]] = ()

    # Pipelines

    def parts(self, nlp: Language) -> list[str]:
        """The names of the pipes that predict it, whoever made them; `TOKENIZER` for that."""
        return [name for name, pipe in nlp.pipeline if stem_of(pipe) == self.stem]

    # Gold annotation

    @abstractmethod
    def has_gold(self, doc: Doc) -> bool:
        """True if a Doc has gold annotation of the task, at least in part."""

    def read_gold(self, doc: Doc, spans_key: str | None) -> dict[str, Any]:
        """The fields of a `Sentence` that the task has from a Doc.

        spans_key: the span group that users name; None for the usual one.
        """
        return {}

    def write_gold(self, doc: Doc, sentence: Sentence) -> None:  # noqa: B027 - optional
        """Annotate a Doc of the words of a sentence, which has its tags, heads and relations."""

    def align_gold(self, nlp: Language, docs: Iterable[Doc]) -> None:  # noqa: B027 - optional
        """Let gold Docs have the annotation where a pipeline would put it."""

    def own_parts(self, nlp: Language, names: Sequence[str], docs: Sequence[Doc]) -> list[Doc]:
        """Docs without the annotation that other parts of the task alone find.

        names: of the parts that they are for.
        """
        return list(docs)

    def other_parts(self, nlp: Language, names: Sequence[str]) -> list[str]:
        """The parts of a pipeline whose annotation `own_parts` leaves out."""
        return []

    def spans_key(self, nlp: Language) -> str | None:
        """The span group that a pipeline puts labeled spans into; None if it has none."""
        return None

    # Scores

    def scored_parts(
        self, nlp: Language, gold: Sequence[Doc], given: Given, *, alone: bool = False
    ) -> list[str]:
        """The parts of a pipeline that can be scored on gold Docs; none if there are none.

        alone: whether there is no other task to score.
        """
        allowed = self.on_words if given.words else self.on_text
        return self.parts(nlp) if allowed and any(map(self.has_gold, gold)) else []

    @abstractmethod
    def score(self, pairs: Pairs, part: TaskPart, settings: ScoreSettings) -> Scores:
        """Score predicted Docs against gold ones: pairs of gold and prediction."""

    def text_parts(self, nlp: Language) -> list[str]:
        """The parts of a pipeline that predict it from text, whoever made them."""
        return self.parts(nlp) if self.on_text else []

    def text_counts(self, pairs: Pairs, part: TaskPart) -> dict[str, Counts]:
        """The counts behind the figures of Docs made of text: pairs of gold and prediction."""
        return self.score(pairs, part, ScoreSettings()).compared()

    def is_found(self, doc: Doc, part: TaskPart) -> bool:
        """True if a pipe that has been trained, as it seems, has annotated a Doc."""
        return self.has_gold(doc)


class TokenTask(PipelineTask):
    """A task that gives each word a value: an attribute of tokens, and a column of column files.

    attribute: its name in spaCy, as in ``lemma`` or ``morph``, which is that of the column, too.
    It is scored on given words, unless `on_text` says otherwise.
    """

    attribute: ClassVar[str]
    on_text = False

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls.columns = (cls.attribute,)
        cls.attributes = (cls.attribute.upper(),)

    def has_gold(self, doc: Doc) -> bool:
        """True if a word has a value."""
        return bool(doc.has_annotation(self.attributes[0]))

    def read_gold(self, doc: Doc, spans_key: str | None) -> dict[str, Any]:
        """The values of all words, "" for none; nothing if no word has one."""
        if not self.has_gold(doc):
            return {}
        words = (token for token in doc if not token.text.isspace())
        return {"extra": {self.attribute: [value_of(word, self.attribute) or "" for word in words]}}

    def write_gold(self, doc: Doc, sentence: Sentence) -> None:
        """Write the values of words that have one."""
        values = (sentence.extra or {}).get(self.attribute)
        if values is not None:
            for token, value in zip(doc, values, strict=True):
                if value:
                    write_value(token, self.attribute, value)


class DrawnTask(PipelineTask):
    """A task with pictures of its sentences.

    styles: kinds of pictures, by the names that users give. draw_order: of the tasks that could
    draw a sentence, that of the lowest does.
    """

    styles: ClassVar[Mapping[str, Style]]
    draw_order: ClassVar[int] = 10

    @abstractmethod
    def draw(
        self, doc: Doc, style: str, lengths: Sequence[int] | None, part: TaskPart | None, **how: Any
    ) -> list[Picture]:
        """Draw the sentences of a Doc.

        style: one of `styles`. lengths: how many visible words each sentence has; None for those
        that the task finds. part: what has annotated the Doc; None for a gold Doc. how: ``heads``,
        whether heads are to be shown; ``wanted``, the numbers of the sentences that are to be
        drawn, None for all.
        """


@cache
def all_tasks() -> tuple[PipelineTask, ...]:
    """The tasks of all installed packages, in their order. Raises ValueError for other objects.

    Entry points are read by the first call of a process.
    """
    found: dict[str, Any] = registry.get_all()
    for name, task in found.items():
        if not isinstance(task, PipelineTask) or task.stem != name:
            raise ValueError(
                f"the entry point {name!r} of spacy_structreg_tasks is no task of this name; "
                "remove the package that has it"
            )
    return tuple(sorted(found.values(), key=lambda task: (task.order, task.stem)))


class _SettingsPart(TaskPart):
    """A part of a pipeline of which scorers know no more than its settings."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.name = ""
        self.pipe = SimpleNamespace(**settings)


def make_task_scorer(task: str) -> Callable[..., Figures]:
    """Make the scorer ``spacy_structreg.task_scorer.v1``: `PipelineTask.score` as a scorer.

    task: the stem of the task. Raises ValueError if there is no such task.
    """
    found = {each.stem: each for each in all_tasks()}
    if task not in found:
        raise ValueError(f"{task!r} is no task; there are {', '.join(found)}")

    def score_task(examples: Iterable[Example], **settings: Any) -> dict[str, Any]:
        """Score Docs by the task. settings: of the component."""
        pairs = [(each.reference, each.predicted) for each in examples]
        scores = found[task].score(pairs, _SettingsPart(settings), ScoreSettings())
        return {**scores.as_dict(), **scores.per_type()}

    return score_task


def score_weights(factory: str) -> Figures:
    """The weights of figures in choosing the best model, as a factory declares them."""
    # A pipeline is made because that is when spaCy loads the factories of packages.
    return dict(spacy.blank("xx").get_factory_meta(factory).default_score_weights or {})


def is_ours(part: Any) -> bool:
    """True for a component or tokenizer that holds a model of ours."""
    return hasattr(part, "with_estimator")


def stem_of(part: Any) -> str | None:
    """The stem of the task that a component or tokenizer of ours declares; None for another's."""
    stem: str | None = getattr(part, "TASK", None)
    return stem


def task_of(pipe: Any) -> PipelineTask | None:
    """The task that a component or tokenizer of ours declares; None for another's."""
    stem = stem_of(pipe)
    return next((task for task in all_tasks() if task.stem == stem), None)


def parts_of(nlp: Language) -> Iterator[tuple[str, Any]]:
    """The tokenizer and the pipes that hold an estimator, with their names."""
    if is_ours(nlp.tokenizer):
        yield TOKENIZER, nlp.tokenizer
    for name, pipe in nlp.pipeline:
        if is_ours(pipe):
            yield name, pipe


def tags_words(tokenizer: Any) -> bool:
    """True for a tokenizer that tags its words."""
    return hasattr(tokenizer, "tagged_words")


def tags_texts(nlp: Language) -> bool:
    """True if the tokenizer of a pipeline, or a pipe, writes tags."""
    return tags_words(nlp.tokenizer) or bool(pipes_writing(nlp, "tag"))


def pipes_writing(nlp: Language, *attributes: str) -> list[str]:
    """The names of the pipes that write one of some attributes of tokens, such as ``tag``."""
    found = []
    for name, pipe in nlp.pipeline:
        assigned = {
            attribute.removeprefix("token.") for attribute in nlp.get_pipe_meta(name).assigns
        }
        # Pipes of ours say which of several they write.
        setting = getattr(pipe, "attribute", "both")
        if assigned & set(attributes) & ({*attributes} if setting == "both" else {setting}):
            found.append(name)
    return found
