"""`structreg init-config`: a complete training config, with comments, to start from."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli import config_skeleton as skeleton
from spacy_structreg.cli.options import load_pipeline
from spacy_structreg.cli.outputs import ForceOption, check_file
from spacy_structreg.cli.user_errors import as_typed, user_errors
from spacy_structreg.corpora.corpus_options import AUTO, TEXT_SUFFIXES, CorpusOptions

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_structreg.pipeline.task import (
        ConfigParts,
        ConfigRequest,
        ConfigTemplate,
        CorpusFacts,
    )

STDOUT = "-"
BATCH_SIZE = 100
# Steps between evaluations where the size of the corpus is not known: 1,000 sentences. Less than
# an epoch of most corpora costs time; more than all epochs of a small one would cost the model.
EVAL_FREQUENCY = 10
PATIENCE_EPOCHS = 5
# Where a template takes a value.
PLACE = re.compile("<([a-z0-9_]+)>")


def known_task(name: str) -> str:
    """The name of a config that can be made; the command line ends for another one."""
    with user_errors():
        if name not in (names := config_templates()):
            raise typer.BadParameter(f"{name!r} is none of {', '.join(names)}")
    return name


def config_templates() -> dict[str, ConfigTemplate]:
    """The templates of configs, by their names on the command line."""
    from spacy_structreg.pipeline.task import all_tasks

    return {template.name: template for task in all_tasks() for template in task.templates}


def init_config(
    output: Annotated[
        Path | None,
        Arg(metavar="OUTPUT", allow_dash=True, help="File to write, or - for standard output"),
    ],
    *,
    task: Annotated[
        str,
        Opt(
            "--task",
            "-t",
            callback=known_task,
            help="What is to be trained, by a name of the list below",
        ),
    ],
    lang: Annotated[
        str | None,
        Opt("--lang", "-l", help="spaCy's code of the language; without it, that of --base, or zh"),
    ] = None,
    train: Annotated[
        Path | None,
        Opt(
            "--train",
            help="Training corpus, .spacy or .txt: written into the config, and its sentences "
            "counted, so that one epoch lies between two evaluations",
        ),
    ] = None,
    dev: Annotated[
        Path | None, Opt("--dev", help="Development corpus: written into the config")
    ] = None,
    tags: Annotated[
        bool | None,
        Opt(
            "--tags/--no-tags",
            help="Tokenizers: learn words with their tags, which is better. Without the option, do "
            "so if the training corpus has tags",
        ),
    ] = None,
    tag_map: Annotated[
        str | None,
        Opt(
            "--tag-map",
            help="Tokenizers that tag: the table from tags to universal ones: ctb, pfr, ptb, "
            "ud_chinese, ud_chinese_1 or none. Without the option, the one that fits the training "
            "corpus",
        ),
    ] = None,
    base: Annotated[
        str | None,
        Opt(
            "--base",
            help="Pipes: folder or package of the pipeline whose tokenizer is taken over; for "
            "pipes that look at tags, also its pipes that tag, which then tag the words of the "
            "development corpus, and its attribute_ruler, if it has one. 'fit --base' keeps "
            "all its pipes, as 'init-config --base … --beside'",
        ),
    ] = None,
    beside: Annotated[
        bool,
        Opt(
            "--beside",
            help="With --base: keep all its pipes, and put the one that is trained before those "
            "that do not tag, which then keep what it has found",
        ),
    ] = False,
    checkpoint: Annotated[
        Path | None,
        Opt(
            "--checkpoint",
            help="Folder that keeps the state of the training after each epoch, so that `spacy "
            "train` can go on after an interruption, with --initialize.after_init.path FOLDER",
        ),
    ] = None,
    force: ForceOption = False,
) -> str:
    """Write a config for `fit` and `spacy train`.

    It is complete, and explains the settings that one may want to change.

    Returns the config, which is written nowhere if `output` is None. Tasks on words whose training
    corpus has universal tags alone go by these.
    Raises ValueError for an unknown task or language, for a path with `$` in it, for a corpus
    without what is to be learned, if the output exists (unless `force`), and as `read_docs` for the
    training corpus; OSError for files that cannot be read or written.
    """
    from spacy.util import get_lang_class

    from spacy_structreg.corpora.files import replace_text
    from spacy_structreg.pipeline.task import ConfigRequest

    on_stdout = str(output) == STDOUT
    if output is not None and not on_stdout:
        check_file(output, train, dev, base, force=force)
    templates = config_templates()
    if task not in templates:
        raise ValueError(f"there is no task {task!r}; choose {', '.join(templates)}")
    template = templates[task]
    if beside and base is None:
        raise ValueError("--beside keeps the pipes of a base; name it with --base")
    nlp = None if base is None or not template.takes_base else load_pipeline(base)
    if lang is None:
        lang = "zh" if nlp is None else str(nlp.lang)
    try:
        get_lang_class(lang)
    except ImportError as error:
        raise ValueError(
            f"spaCy has no language {lang!r}; choose one of its codes, such as zh"
        ) from error
    if base is not None and not template.takes_base:
        able = [each.name for each in templates.values() if each.takes_base]
        raise ValueError(
            f"--base is for the tasks {', '.join(able)}: the tokenizer of another task is trained"
        )
    facts = None if train is None else corpus_facts(train)
    if facts is not None:
        check_corpus(facts, template, tags=tags)
    if nlp is not None and nlp.lang != lang:
        raise ValueError(
            f"the pipeline {base} is of the language {nlp.lang!r}; write --lang {nlp.lang}"
        )
    if base is not None:
        # Which is written into the config.
        config_path(Path(base))
    request = ConfigRequest(lang, facts, base, nlp, tags, tag_map)
    parts = template.parts(request)
    if nlp is not None and beside:
        parts = beside_all(parts, nlp, config_path(Path(str(base))))
    values = {
        "train": config_path(train),
        "dev": config_path(dev),
        "lang": json.dumps(lang),
        **values_of_size(facts),
        **values_of_checkpoint(checkpoint),
        **values_of_parts(parts, request),
    }
    config = filled(skeleton.SKELETON, values).rstrip("\n") + "\n"
    if on_stdout:
        sys.stdout.write(config)
    elif output is not None:
        with replace_text(output) as stream:
            stream.write(config)
        typer.echo(as_typed(how_to_train(output, train, dev)))
    return config


def how_to_train(config: Path, train: Path | None, dev: Path | None) -> str:
    """The commands to type next, in words: the faster one first."""
    corpora = {"train": train or Path("train.spacy"), "dev": dev or Path("dev.spacy")}
    options = "".join(f" --{part} {quote(str(path))}" for part, path in corpora.items())
    overrides = "".join(
        f" --paths.{part} {quote(str(path))}"
        for part, path in corpora.items()
        if path not in (train, dev)
    )
    name = quote(str(config))
    return (
        f"Saved the config to {config}. Train with it:\n"
        f"python -m spacy structreg fit {name} pipeline{options}\n"
        "or, some ten times slower, in spaCy's loop:\n"
        f"python -m spacy train {name} --output training{overrides}"
    )


# What a corpus has -------------------------------------------------------------------------------


def corpus_facts(path: Path) -> CorpusFacts:
    """The facts of a training corpus; raises as `read_docs`."""
    from spacy.vocab import Vocab

    from spacy_structreg.pipeline.documents import tagged_words
    from spacy_structreg.pipeline.gold_docs import read_docs
    from spacy_structreg.pipeline.task import CorpusFacts, all_tasks

    # As `spacy_structreg.Corpus.v1` reads it; other formats are still to be converted.
    as_text = path.name.lower().endswith(TEXT_SUFFIXES)
    options = CorpusOptions("segmented" if as_text else AUTO)
    tags: Counter[str] = Counter()
    found: set[str] = set()
    has_pos = False
    n_docs = 0
    for doc in read_docs(path, Vocab(), options):
        n_docs += 1
        tags.update(tag for _, tag in tagged_words(doc))
        has_pos = has_pos or doc.has_annotation("POS")
        found |= {
            each.name
            for task in all_tasks()
            for each in task.templates
            if each.name not in found and (each.has_gold or task.has_gold)(doc)
        }
    return CorpusFacts(str(path), n_docs, tags, has_pos, found)


def check_corpus(facts: CorpusFacts, template: ConfigTemplate, *, tags: bool | None) -> None:
    """Raise ValueError if a corpus has not got what a config would learn from."""
    if template.gold and template.name not in facts.templates:
        raise ValueError(
            f"{facts.path}: no sentence has {template.gold}, from which the config would learn"
            + (template.advice and f"; {template.advice}")
        )
    needed = "all" if tags and not template.takes_base else template.tags
    # Sentences that lack tags are left out, but some there must be.
    enough = facts.all_tagged or (needed == "some" and (facts.any_tagged or facts.has_pos))
    if needed != "none" and not enough:
        raise ValueError(
            f"{facts.path}: not all words have tags, from which the config would learn"
        )


def beside_all(parts: ConfigParts, nlp: Language, base: str) -> ConfigParts:
    """The parts of a config that takes all pipes of a base over. base: as the config names it.

    What is trained stands behind the pipes that it needs, and before the others. Raises ValueError
    if the base has a pipe of its name.
    """
    (name,) = set(parts.pipeline) - set(parts.frozen)
    if name in nlp.pipe_names:
        raise ValueError(
            f"the base has a pipe {name!r} already; begin from the base of that one, or remove it"
        )
    further = [each for each in nlp.pipe_names if each not in parts.frozen]
    at = max((nlp.pipe_names.index(each) + 1 for each in parts.frozen), default=0)
    unscored = dict.fromkeys(
        key
        for each in further
        for key in nlp.get_pipe_meta(each).default_score_weights or ()
        if key not in parts.scores
    )
    return replace(
        parts,
        pipeline=[*nlp.pipe_names[:at], name, *nlp.pipe_names[at:]],
        frozen=nlp.pipe_names,
        components="".join(
            filled(skeleton.SOURCE, {"name": each, "base": base}) for each in further
        )
        + parts.components,
        scores={**parts.scores, **unscored},
    )


# Texts -------------------------------------------------------------------------------------------


def values_of_size(facts: CorpusFacts | None) -> dict[str, Any]:
    """The steps between evaluations, and those to wait for a better one."""
    if facts is None:
        return {"batch_size": BATCH_SIZE, "eval_frequency": EVAL_FREQUENCY, "patience": 0}
    # Batches of an epoch, the last of which may be smaller.
    steps = -(-facts.n_docs // BATCH_SIZE)
    return {"batch_size": BATCH_SIZE, "eval_frequency": steps, "patience": PATIENCE_EPOCHS * steps}


def values_of_checkpoint(checkpoint: Path | None) -> dict[str, str]:
    """Texts of the callbacks that keep and load the state of a training."""
    if checkpoint is None:
        return {"before_update": "before_update = null\n", "after_init": "after_init = null\n"}
    values = {"checkpoint": config_path(checkpoint)}
    return {
        "before_update": filled(skeleton.SAVE_CHECKPOINT, values),
        "after_init": filled(skeleton.LOAD_CHECKPOINT, values),
    }


def values_of_parts(parts: ConfigParts, request: ConfigRequest) -> dict[str, str]:
    """The parts of a config that belong to its task, in the notation of configs."""
    trains_tokenizer = parts.tokenizer is not None
    model = f"{parts.model}\n\n"
    weights = [f"{key} = {json.dumps(weight)}" for key, weight in parts.scores.items()]
    scores = {"about_scores": parts.about_scores, "weights": "\n".join(weights)}
    taken_over = ""
    if request.base is not None:
        taken_over = filled(skeleton.TAKEN_OVER, {"base": config_path(Path(request.base))})
    # The only language whose config has arguments for every tokenizer.
    arguments = skeleton.ZH_ARGUMENTS if request.lang == "zh" else ""
    return {
        "title": parts.title,
        "noun": parts.noun,
        "about_pipeline": (skeleton.ABOUT_TOKENIZER if trains_tokenizer else skeleton.ABOUT_WORDS),
        "pipeline": json.dumps(parts.pipeline),
        "frozen": json.dumps(parts.frozen),
        "tokenizer": (
            f"{parts.tokenizer}{model}" if trains_tokenizer else tokenizer_block(request)
        ),
        "components": parts.components + ("" if trains_tokenizer else model),
        "about_gold": parts.about_gold,
        "gold": json.dumps(parts.gold),
        "dev_gold": json.dumps(parts.dev_gold),
        "scores": filled(skeleton.SCORES, scores),
        "before_init": "before_init = null\n" if request.base is None else "",
        "initialize": taken_over + parts.initialize,
        "arguments": arguments + parts.arguments,
    }


def tokenizer_block(request: ConfigRequest) -> str:
    """The block of a tokenizer that is not trained: that of the base, or of the language."""
    import spacy
    from confection import Config

    nlp = request.base_pipeline or spacy.blank(request.lang)
    block = Config({"nlp": {"tokenizer": nlp.config["nlp"]["tokenizer"]}}).to_str()
    return block.replace("[nlp]\n\n", "").strip() + "\n\n"


def filled(text: str, values: Mapping[str, Any]) -> str:
    """A text with values in its places."""
    return PLACE.sub(lambda match: str(values[match[1]]), text)


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
