"""`structreg init-config`: a complete training config, with comments, to start from."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spacy_structreg.cli import config_texts as texts
from spacy_structreg.cli.corpus_files import (
    TEXT_SUFFIXES,
    CorpusFormat,
    CorpusOptions,
    read_sentences,
)
from spacy_structreg.cli.errors import user_errors

if TYPE_CHECKING:
    from spacy_structreg.learn.settings import AnyLearning

__all__ = ["Task", "init_config", "init_config_command"]

STDOUT = "-"
BATCH_SIZE = 100
# Steps between evaluations where the size of the corpus is not known: 1,000 sentences. Less than
# an epoch of most corpora costs time; more than all epochs of a small one would cost the model.
EVAL_FREQUENCY = 10
PATIENCE_EPOCHS = 5
# Share of the words of a corpus whose tags a table must have to be chosen.
LEAST_KNOWN = 0.95
NO_MAP = "none"
# Where a template takes a value.
PLACE = re.compile("<([a-z0-9_]+)>")
# Languages whose taggers look at single characters; "xx" is any.
WITHOUT_ALPHABET = ("ja", "ko", "xx", "zh")

ABOUT_TOKENIZER_PIPELINE = """\
# The tokenizer is trained in a run of its own. Pipes that work on words are trained afterwards, in
# another run, which takes the tokenizer over with spacy.copy_from_base_model.v1."""

ABOUT_GOLD_OF_PARSER = """\
# The gold annotation that the parser is given. Tags should be as good as those that it will meet:
# 'python -m spacy structreg jackknife' writes a training corpus with such tags."""


class Task(str, Enum):
    """What a config trains."""

    segment = "segment"
    joint = "joint"
    tag = "tag"
    parse = "parse"
    constituency = "constituency"
    label = "label"
    chunk = "chunk"
    classify = "classify"


# Of pipes that work on given words.
ON_WORDS = (Task.tag, Task.parse, Task.constituency, Task.label, Task.chunk, Task.classify)
# Of these, those that need tags to learn, or to learn from.
ON_TAGS = (Task.tag, Task.parse, Task.constituency, Task.chunk)
# What a corpus must have for a task, and how to come by it.
NEEDED = {
    Task.parse: "a tree",
    Task.constituency: "constituents; make the file with 'convert --head-rules' from trees in "
    "brackets",
    Task.label: "entities that are known; make the file with 'convert --columns word,label' from "
    "columns",
    Task.chunk: "spans; make the file with 'convert --columns word,tag,label --spans-key chunks' "
    "from columns",
    Task.classify: "a category; make the file with 'convert --format classified' from lines of "
    "text and category",
}


def init_config_command(
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUTPUT", allow_dash=True, help="File to write, or - for standard output"
        ),
    ],
    *,
    task: Annotated[
        Task,
        typer.Option(
            "--task",
            "-t",
            help="What is to be trained: segment, a tokenizer; joint, a tokenizer that tags its "
            "words; tag, a pipe that tags given words; parse, a pipe that finds heads of tagged "
            "words; constituency, a pipe that finds constituents of them; label, a pipe that finds "
            "entities; chunk, a pipe that finds spans of tagged words; classify, a pipe that finds "
            "the category of a text",
        ),
    ],
    lang: Annotated[str, typer.Option("--lang", "-l", help="spaCy's code of the language")] = "zh",
    train: Annotated[
        Path | None,
        typer.Option(
            "--train",
            help="Training corpus, .spacy or .txt: written into the config, and its sentences "
            "counted, so that one epoch lies between two evaluations",
        ),
    ] = None,
    dev: Annotated[
        Path | None, typer.Option("--dev", help="Development corpus: written into the config")
    ] = None,
    tags: Annotated[
        bool | None,
        typer.Option(
            "--tags/--no-tags",
            help="segment: learn words with their tags, which is better. Without the option, do so "
            "if the training corpus has tags",
        ),
    ] = None,
    tag_map: Annotated[
        str | None,
        typer.Option(
            "--tag-map",
            help="joint: the table from tags to universal ones: ctb, pfr, ptb, ud_chinese, "
            "ud_chinese_1 or none. Without the option, the one that fits the training corpus",
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            help="All tasks but segment and joint: folder or package of the pipeline whose "
            "tokenizer is taken over, as that of a segmenter or joint tagger; for parse, "
            "constituency and chunk, also its pipes that tag, which then tag the words of the "
            "development corpus, and its attribute_ruler",
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            help="Folder that keeps the state of the training after each epoch, so that `spacy "
            "train` can go on after an interruption, with --initialize.after_init.path FOLDER",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", "-F", help="Replace the output file if there is one")
    ] = False,
) -> None:
    """Write a config for `spacy train`.

    It is complete, and explains the settings that one may want to change.
    """
    with user_errors():
        config = init_config(
            task,
            lang=lang,
            train=train,
            dev=dev,
            tags=tags,
            tag_map=tag_map,
            base=base,
            checkpoint=checkpoint,
        )
        if str(output) == STDOUT:
            sys.stdout.write(config)
            return
        write_config(output, config, force=force)
        typer.echo(f"Saved the config to {output}. Train with it:")
        overrides = "" if train else " --paths.train train.spacy"
        overrides += "" if dev else " --paths.dev dev.spacy"
        typer.echo(f"python -m spacy train {output} --output training{overrides}")


def init_config(
    task: Task = Task.segment,
    *,
    lang: str = "zh",
    train: Path | None = None,
    dev: Path | None = None,
    tags: bool | None = None,
    tag_map: str | None = None,
    base: str | None = None,
    checkpoint: Path | None = None,
) -> str:
    """The text of a training config.

    lang: a language that spaCy knows. train, dev: the corpora, as the config will name them. The
    sentences of the first are counted, so that one epoch lies between two evaluations; without it,
    1,000 sentences do, and training does not stop early.
    tags: whether a segmenter learns from tags; None for if each word of `train` has one.
    tag_map: of a joint tagger, a name of `corpora.tag_maps`, or ``"none"``; None for the table that
    has the tags of `train`, if there is one.
    base: of a task on words, the pipeline whose tokenizer is taken over; None for that of the
        language. Of what needs tags, also its pipes that tag, and rulers of attributes; without
        pipes that tag, words of the development corpus have gold tags.
    checkpoint: the folder that keeps the state of the training after each epoch; None keeps none.

    Tasks on words whose training corpus has universal tags alone go by these.

    Raises ValueError for an unknown language, for a path with `$` in it, for a corpus without what
    is to be learnt, and as `read_sentences` for the training corpus; OSError if
    that cannot be read.
    """
    from spacy.util import get_lang_class

    try:
        get_lang_class(lang)
    except ImportError as error:
        raise ValueError(
            f"spaCy has no language {lang!r}; choose one of its codes, such as zh"
        ) from error
    if base is not None and task not in ON_WORDS:
        raise ValueError(
            f"--base is for the tasks {', '.join(each.value for each in ON_WORDS)}: the tokenizer "
            "of another task is trained"
        )
    eval_frequency, patience = EVAL_FREQUENCY, 0
    counts: Counter[str] = Counter()
    found: Counter[Task] = Counter()
    has_pos = False
    if train is not None:
        n_sentences = 0
        for sentence in read_sentences(train, as_trained_on(train)):
            n_sentences += 1
            found[Task.parse] += sentence.heads is not None
            found[Task.constituency] += bool(sentence.constituents)
            found[Task.label] += sentence.entities is not None
            found[Task.chunk] += sentence.chunks is not None
            found[Task.classify] += sentence.category is not None
            counts.update(sentence.tags or [""])
            has_pos |= any(sentence.pos or ())
        # Batches of an epoch, the last of which may be smaller.
        eval_frequency = -(-n_sentences // BATCH_SIZE)
        patience = PATIENCE_EPOCHS * eval_frequency
    has_tags = bool(counts) and not counts[""]
    # Sentences that lack tags are left out, but some there must be.
    has_any = bool(counts.keys() - {""})
    enough = has_any or has_pos if task in ON_TAGS else has_tags
    needs_tags = task in (*ON_TAGS, Task.joint) or (task is Task.segment and tags)
    if train is not None and task in NEEDED and not found[task]:
        what, _, advice = NEEDED[task].partition(";")
        raise ValueError(
            f"{train}: no sentence has {what}, from which the config would learn"
            + (advice and f";{advice}")
        )
    if train is not None and not enough and needs_tags:
        raise ValueError(f"{train}: not all words have tags, from which the config would learn")
    values: dict[str, Any] = {
        "train": config_path(train),
        "dev": config_path(dev),
        "lang": json.dumps(lang),
        "batch_size": BATCH_SIZE,
        "eval_frequency": eval_frequency,
        "patience": patience,
        # The only language whose config has arguments for every tokenizer.
        "tokenizer_arguments": texts.ZH_ARGUMENTS if lang == "zh" else "",
        "before_init": "before_init = null\n",
        "rules": "",
        "frozen": "[]",
        "sources": "",
        "other_scores": "",
        **values_of_checkpoint(checkpoint),
    }
    attribute = "pos" if has_pos and not has_any else "tag"
    if task in ON_WORDS:
        values |= values_of_pipe(lang, base)
        parts, of_task = parts_on_words(task, lang, base, attribute)
        if task in (Task.label, Task.chunk):
            values["rules"] += texts.GAZETTEERS
        return filled(parts, values | of_task)
    joint = task is Task.joint
    values |= values_of_tokenizer(joint=joint, tags=joint or (has_tags if tags is None else tags))
    if joint:
        name = tag_map or fitting_tag_map(counts)
        if name is not None and name != NO_MAP:
            check_tag_map(name)
            values["pipeline"] = '["tokenizer_trainer", "attribute_ruler"]'
            values["ruler"] = texts.RULER
            values["rules"] = filled((texts.RULES,), {"tag_map": json.dumps(name)})
    return filled(texts.PIPELINE_OF_TOKENIZER, values)


def parts_on_words(
    task: Task, lang: str, base: str | None, attribute: str
) -> tuple[Sequence[str], dict[str, Any]]:
    """The parts of the config of a task on words, and what else stands in their places."""
    if task is Task.tag:
        return texts.PIPELINE_OF_TAGGER, values_of_tagger(lang, attribute)
    if task is Task.parse:
        return texts.PIPELINE_OF_PARSER, values_of_parser("parser", lang, base, attribute)
    if task is Task.constituency:
        values = values_of_parser("constituency", lang, base, attribute)
        return texts.PIPELINE_OF_CONSTITUENCY, values
    if task is Task.classify:
        return texts.PIPELINE_OF_CLASSIFIER, values_of_classifier(lang)
    if task is Task.chunk:
        return texts.PIPELINE_OF_LABELLER, values_of_chunker(base, attribute)
    return texts.PIPELINE_OF_LABELLER, values_of_labeller(lang)


def values_of_checkpoint(checkpoint: Path | None) -> dict[str, str]:
    """Texts of the callbacks that keep and load the state of a training."""
    if checkpoint is None:
        return {"before_update": "before_update = null\n", "after_init": "after_init = null\n"}
    values = {"checkpoint": config_path(checkpoint)}
    return {
        "before_update": filled((texts.SAVE_CHECKPOINT,), values),
        "after_init": filled((texts.LOAD_CHECKPOINT,), values),
    }


def filled(parts: Sequence[str], values: dict[str, Any]) -> str:
    """The parts of a config with values in their places."""
    return PLACE.sub(lambda match: str(values[match[1]]), "".join(parts)).rstrip("\n") + "\n"


def values_of_tokenizer(*, joint: bool, tags: bool) -> dict[str, Any]:
    """What stands in the places of a tokenizer's config.

    joint: whether it writes tags. tags: whether its model learns them.
    """
    from spacy_structreg.estimators import character_joint_tagger, character_segmenter

    of_model = character_joint_tagger if tags else character_segmenter
    task = "finds words and their tags" if joint else "segments text into words"
    return {
        "task": task,
        "about_pipeline": ABOUT_TOKENIZER_PIPELINE,
        "pipeline": '["tokenizer_trainer"]',
        "tokenizer": json.dumps(f"spacy_structreg.{'JointTagger' if joint else 'Segmenter'}.v1"),
        "architecture": json.dumps(
            f"spacy_structreg.{'CharacterJointTagger' if tags else 'CharacterSegmenter'}.v1"
        ),
        "label_pruning": texts.PRUNE if tags else "",
        "model": "nlp.tokenizer.model",
        "unit": "characters",
        "a_unit": "a character",
        "trainer": json.dumps(
            "structreg_joint_trainer" if joint else "structreg_tokenizer_trainer"
        ),
        "ruler": "",
        "about_gold": "# A tokenizer is given no gold annotation.",
        "gold": "[]",
        "dev_gold": "[]",
        "trained": "tokenizer",
        "scores": texts.JOINT_SCORES if joint else texts.SEGMENTATION_SCORES,
        **learning_values(of_model.DEFAULT_LEARNING),
    }


def values_of_pipe(lang: str, base: str | None) -> dict[str, Any]:
    """What stands in the places of a config of a pipe that works on given words.

    Raises ValueError as `load_pipeline`.
    """
    import spacy
    from thinc.api import Config

    from spacy_structreg.cli.pipelines import load_pipeline

    nlp = spacy.blank(lang) if base is None else load_pipeline(base)
    if nlp.lang != lang:
        raise ValueError(
            f"the pipeline {base} is of the language {nlp.lang!r}; write --lang {nlp.lang}"
        )
    block = Config({"nlp": {"tokenizer": nlp.config["nlp"]["tokenizer"]}}).to_str()
    values = {
        "about_pipeline": "# Words are those of the corpus in training, and of the tokenizer then.",
        "tokenizer_block": block.replace("[nlp]\n\n", "").strip() + "\n\n",
        "unit": "words",
        "a_unit": "a word",
    }
    if base is not None:
        values["before_init"] = ""
        values["rules"] = (
            "# Takes the tokenizer over.\n[initialize.before_init]\n"
            '@callbacks = "spacy.copy_from_base_model.v1"\n'
            f"tokenizer = {config_path(Path(base))}\nvocab = null\n\n"
        )
    return values


def values_of_tagger(lang: str, attribute: str) -> dict[str, Any]:
    """What else stands in the places of a tagger's config. attribute: what it writes."""
    from spacy_structreg.estimators.tagger import DEFAULT_LEARNING

    return {
        "pipeline": '["tagger"]',
        "attribute": attribute,
        "other_attribute": "tag" if attribute == "pos" else "pos",
        "model": "components.tagger.model",
        "templates": json.dumps("words" if lang in WITHOUT_ALPHABET else "latin"),
        "about_gold": '# The gold annotation that the tagger is given: with "sents" as well, it '
        "sees sentences one by one.",
        "gold": '["words"]',
        "dev_gold": '["words"]',
        "trained": "tagger",
        **learning_values(DEFAULT_LEARNING),
    }


def values_of_parser(name: str, lang: str, base: str | None, attribute: str) -> dict[str, Any]:
    """What else stands in the places of a parser's config.

    name: of its pipe. attribute: which tags it looks at.
    """
    from spacy_structreg.estimators.dependency_parser import DEFAULT_LEARNING
    from spacy_structreg.learn.settings import Learning

    return {
        **values_on_tags("parser", name, base, attribute),
        "model": f"components.{name}.model",
        "sentences": json.dumps("punctuation" if lang in WITHOUT_ALPHABET else "doc"),
        "about_gold": ABOUT_GOLD_OF_PARSER,
        "trained": "parser",
        **learning_values(DEFAULT_LEARNING if name == "parser" else Learning()),
    }


def values_of_labeller(lang: str = "xx") -> dict[str, Any]:
    """What else stands in the places of the config of a pipe that finds entities."""
    from spacy_structreg.estimators.sequence_labeler import DEFAULT_LEARNING

    return {
        "pipeline": '["sequence_labeler"]',
        "attribute": '"ents"',
        "spans_key": '"chunks"',
        "columns": "",
        "model": "components.sequence_labeler.model",
        "model_columns": "[]",
        "templates": json.dumps("characters" if lang in WITHOUT_ALPHABET else "ner"),
        "about_gold": '# The gold annotation that the labeller is given: with "sents", it sees '
        "sentences one by one.",
        "gold": '["words", "sents"]',
        "dev_gold": '["words", "sents"]',
        "trained": "labeller",
        **learning_values(DEFAULT_LEARNING),
    }


def values_of_chunker(base: str | None, attribute: str) -> dict[str, Any]:
    """The same of a pipe that finds spans of tagged words. attribute: which tags it looks at."""
    values = values_of_labeller() | values_on_tags("labeller", "sequence_labeler", base, attribute)
    return values | {
        "attribute": '"spans"',
        "columns": "" if attribute == "tag" else f'tag = "{attribute}"\n',
        "model_columns": '["tag"]',
        "templates": '"chunking"',
        "about_gold": ABOUT_GOLD_OF_PARSER.replace("parser", "labeller"),
        "gold": '["words", "tags", "sents"]',
        "dev_gold": values["dev_gold"].replace("]", ', "sents"]'),
    }


def values_of_classifier(lang: str) -> dict[str, Any]:
    """What else stands in the places of a classifier's config."""
    from spacy_structreg.estimators.text_classifier import DEFAULT_LEARNING

    return {
        "pipeline": '["textcat"]',
        "model": "components.textcat.model",
        "ngrams": 1,
        "characters": "[1, 2]" if lang in WITHOUT_ALPHABET else "null",
        "about_gold": "# The classifier is given no gold annotation: words are those of the "
        "tokenizer.",
        "gold": "[]",
        "dev_gold": "[]",
        "trained": "classifier",
        **learning_values(DEFAULT_LEARNING),
    }


def values_on_tags(trained: str, name: str, base: str | None, attribute: str) -> dict[str, Any]:
    """What stands in the places of a config about the tags that a pipe looks at.

    trained: what the pipe is. name: of it. attribute: which tags.
    """
    from spacy_structreg.cli.pipelines import load_pipeline, tagging_pipes

    nlp = None if base is None else load_pipeline(base)
    taggers = [] if nlp is None else tagging_pipes(nlp, [attribute])
    metas = {} if nlp is None else {name: nlp.get_pipe_meta(name) for name in nlp.pipe_names}
    # Rulers write what follows from tags, those of a tokenizer too.
    kept = [name for name in metas if name in taggers or metas[name].factory == "attribute_ruler"]
    sources = "".join(
        f"# Tags words for the {trained}, and is not trained here.\n[components.{name}]\n"
        f"source = {config_path(Path(base or ''))}\n\n"
        for name in kept
    )
    # The figures of pipes that are not trained here do not count.
    others = dict.fromkeys(
        score for name in kept for score in metas[name].default_score_weights or ()
    )
    return {
        "pipeline": json.dumps([*kept, name]),
        "attribute": attribute,
        "sources": sources,
        "frozen": json.dumps(kept),
        "other_scores": "".join(f"{name} = null\n" for name in others),
        "gold": '["words", "tags"]',
        "dev_gold": '["words"]' if taggers else '["words", "tags"]',
    }


def learning_values(learning: AnyLearning) -> dict[str, str]:
    """The settings of learning in the notation of configs."""
    return {name: json.dumps(value) for name, value in learning.as_dict().items()}


def fitting_tag_map(counts: Counter[str]) -> str | None:
    """The name of the table that has the most words of a corpus, by its tags; None if few."""
    from spacy_structreg.corpora.tag_maps import TAG_MAPS

    def known(name: str) -> int:
        return sum(counts[tag] for tag in TAG_MAPS[name])

    best = max(TAG_MAPS, key=known)
    return best if known(best) > LEAST_KNOWN * counts.total() else None


def check_tag_map(name: str) -> None:
    """Raise ValueError if there is no table of a name."""
    from spacy_structreg.corpora.tag_maps import TAG_MAPS

    if name not in TAG_MAPS:
        raise ValueError(f"{name!r} is no table of tags; there are {', '.join(TAG_MAPS)}, {NO_MAP}")


def as_trained_on(path: Path) -> CorpusOptions:
    """How `spacy_structreg.Corpus.v1` reads a file; others are still to be converted."""
    as_text = path.name.lower().endswith(TEXT_SUFFIXES)
    return CorpusOptions(CorpusFormat.segmented if as_text else CorpusFormat.auto)


def config_path(path: Path | None) -> str:
    """A path in the notation of configs. Raises ValueError for `$`, which configs cannot keep."""
    if path is None:
        return "null"
    if "$" in str(path):
        raise ValueError(
            f"{path}: a config cannot hold a path with '$' in it, which stands for a variable "
            "there; rename the file"
        )
    return json.dumps(str(path), ensure_ascii=False)


def write_config(path: Path, config: str, *, force: bool = False) -> None:
    """Write a config in one step. Raises ValueError if the file exists, unless forced to."""
    from spacy_structreg.corpora.files import replace_text

    if path.exists() and not force:
        raise ValueError(f"{path} exists; choose another name, or replace it with --force")
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_text(path) as stream:
        stream.write(config)
