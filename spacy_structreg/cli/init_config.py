"""`structreg init-config`: a complete training config, with comments, to start from."""

from __future__ import annotations

import json
import re
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from spacy_structreg.cli.corpus_files import (
    TEXT_SUFFIXES,
    CorpusFormat,
    CorpusOptions,
    read_sentences,
)
from spacy_structreg.cli.errors import user_errors

__all__ = ["Task", "init_config", "init_config_command"]

STDOUT = "-"
BATCH_SIZE = 100
# Steps between evaluations where the size of the corpus is not known: 1,000 sentences. Less than
# an epoch of most corpora costs time; more than all epochs of a small one would cost the model.
EVAL_FREQUENCY = 10
PATIENCE_EPOCHS = 5
# Where a template takes a value.
PLACE = re.compile("<([a-z0-9_]+)>")


class Task(str, Enum):
    """What a config trains."""

    segment = "segment"


def init_config_command(
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUTPUT", allow_dash=True, help="File to write, or - for standard output"
        ),
    ],
    *,
    task: Annotated[
        Task, typer.Option("--task", "-t", help="What is to be trained: segment, a tokenizer")
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
    force: Annotated[
        bool, typer.Option("--force", "-F", help="Replace the output file if there is one")
    ] = False,
) -> None:
    """Write a config for `spacy train`.

    It is complete, and explains the settings that one may want to change.
    """
    with user_errors():
        config = init_config(task, lang=lang, train=train, dev=dev)
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
) -> str:
    """The text of a training config.

    lang: a language that spaCy knows. train, dev: the corpora, as the config will name them. The
    sentences of the first are counted, so that one epoch lies between two evaluations; without it,
    1,000 sentences do, and training does not stop early.

    Raises ValueError for an unknown language, for a path with `$` in it, and as `read_sentences`
    for the training corpus; OSError if that cannot be read.
    """
    from spacy.util import get_lang_class

    from spacy_structreg.estimators.character_segmenter import DEFAULT_LEARNING

    try:
        get_lang_class(lang)
    except ImportError as error:
        raise ValueError(
            f"spaCy has no language {lang!r}; choose one of its codes, such as zh"
        ) from error
    eval_frequency, patience = EVAL_FREQUENCY, 0
    if train is not None:
        n_sentences = sum(1 for _ in read_sentences(train, as_trained_on(train)))
        # Batches of an epoch, the last of which may be smaller.
        eval_frequency = -(-n_sentences // BATCH_SIZE)
        patience = PATIENCE_EPOCHS * eval_frequency
    values = {
        "train": config_path(train),
        "dev": config_path(dev),
        "lang": json.dumps(lang),
        "batch_size": BATCH_SIZE,
        "eval_frequency": eval_frequency,
        "patience": patience,
        # The only language whose config has arguments for every tokenizer.
        "tokenizer_arguments": ZH_ARGUMENTS if lang == "zh" else "",
        **{name: json.dumps(value) for name, value in DEFAULT_LEARNING.as_dict().items()},
    }
    return PLACE.sub(lambda match: str(values[match[1]]), TEMPLATES[task])


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


ZH_ARGUMENTS = """\
# spaCy asks for these with every Chinese tokenizer. They belong to pkuseg and stay as they are.
pkuseg_model = null
pkuseg_user_dict = "default"
"""

SEGMENT = """\
# Training of a tokenizer that segments text into words. Settings are explained where they stand;
# the others are spaCy's own: https://spacy.io/api/data-formats#config
# Lines can be changed here, or on the command line: --training.max_epochs 10

[paths]
# Corpora: .spacy files, made by `python -m spacy structreg convert`, or segmented text (.txt).
train = <train>
dev = <dev>
vectors = null
init_tok2vec = null

[system]
# One seed, one corpus: the same model, to the byte.
seed = 0
gpu_allocator = null

[nlp]
lang = <lang>
# The tokenizer is trained in a run of its own. Pipes that work on words are trained afterwards, in
# another run, which takes the tokenizer over with spacy.copy_from_base_model.v1.
pipeline = ["tokenizer_trainer"]
disabled = []
before_creation = null
after_creation = null
after_pipeline_creation = null
batch_size = 1000

[nlp.tokenizer]
@tokenizers = "spacy_structreg.Segmenter.v1"

[nlp.tokenizer.model]
@architectures = "spacy_structreg.CharacterSegmenter.v1"
# The features: the name of a table, or templates of one's own, such as "c-1 | c0 | c1 | c-1c0".
templates = "zhang2014"
# Character types (digit, letter, punctuation, ...) as features: "extended", "g10" or null.
types = "extended"
# Let full-width letters, digits and punctuation look like half-width ones to the model.
half_width = true
# Add the two neighbours of a character as a feature.
skip_bigram = false
# "punctuation" cuts text into sentences first; "doc" takes every text as one.
sentences = "punctuation"
# Labels of characters: "bmes" (begin, middle, end, single), or "six", which tells the second and
# third character of long words apart.
labels = "bmes"
# Of the order of sentences within a batch; null takes the seed of the training.
seed = null

# How weights are learnt, and kept from fitting the training corpus too closely.
[nlp.tokenizer.model.learning]
@misc = "spacy_structreg.Learning.v1"
# "perceptron", or a passive-aggressive update: "pa", "pa_i" or "pa_ii". The latter are better for
# one model, the perceptron for models that are averaged.
update = <update>
# C of the passive-aggressive updates, above 0; the perceptron has none and leaves it at 1.
aggressiveness = <aggressiveness>
# Penalties on all weights at every update, 0 for none: l2 makes them smaller by this share of
# themselves, l1 by this amount. The more sentences, and the shorter the mini-samples, the smaller
# they must be: 0.00001 is a start.
l2 = <l2>
l1 = <l1>
# L1 that is owed while a weight rests, and paid when it is next met; not together with l1 or l2.
cumulative_l1 = <cumulative_l1>
# Probability that a character is hidden in training, and that a feature is left out.
dropout = <dropout>
hidden_dropout = <hidden_dropout>
# Mean length in characters of the pieces that training sentences are cut into, 1 or more; null
# leaves sentences whole.
mini_sample = <mini_sample>
# What counts as one update for averaging and penalties: "examples", "mistakes" or "epochs".
clock = <clock>

[nlp.vectors]
@vectors = "spacy.Vectors.v1"

[components]

# Trains the tokenizer, and leaves texts as they are.
[components.tokenizer_trainer]
factory = "structreg_tokenizer_trainer"

[corpora]

[corpora.train]
@readers = "spacy_structreg.Corpus.v1"
path = ${paths.train}
# A tokenizer is given no gold annotation.
gold = []
# How many sentences to take; 0 for all.
limit = 0

[corpora.dev]
@readers = "spacy_structreg.Corpus.v1"
path = ${paths.dev}
gold = []
limit = 0

[training]
seed = ${system.seed}
gpu_allocator = ${system.gpu_allocator}
# Not used: the tokenizer has no neural network, nor has it a gradient.
dropout = 0.0
accumulate_gradient = 1
# Steps without a better score before training stops; 0 for never.
patience = <patience>
max_epochs = 20
max_steps = 0
# Steps from one evaluation to the next. A step is a batch of <batch_size> sentences, so the number
# of training sentences / <batch_size> is one evaluation an epoch. The best evaluation decides which
# model is kept: let there be several.
eval_frequency = <eval_frequency>
frozen_components = []
annotating_components = []
dev_corpus = "corpora.dev"
train_corpus = "corpora.train"
before_to_disk = null
before_update = null

[training.logger]
@loggers = "spacy.ConsoleLogger.v1"
progress_bar = true

[training.batcher]
@batchers = "spacy.batch_by_sequence.v1"
size = <batch_size>
get_length = null

# spaCy asks for an optimizer; the tokenizer does not use it.
[training.optimizer]
@optimizers = "Adam.v1"
beta1 = 0.9
beta2 = 0.999
L2_is_weight_decay = true
L2 = 0.01
grad_clip = 1.0
use_averages = false
eps = 0.00000001
learn_rate = 0.001

# What counts as the best model: F of words, as the SIGHAN bakeoffs define it.
[training.score_weights]
seg_f = 1.0
seg_p = 0.0
seg_r = 0.0
token_acc = null

[pretraining]

[initialize]
vectors = ${paths.vectors}
init_tok2vec = ${paths.init_tok2vec}
vocab_data = null
lookups = null
before_init = null
after_init = null

[initialize.components]

[initialize.tokenizer]
<tokenizer_arguments>"""

TEMPLATES = {Task.segment: SEGMENT}
