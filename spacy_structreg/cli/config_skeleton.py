"""The parts of a training config that are the same for all tasks; <names> are places."""

from __future__ import annotations

from typing import Final

SKELETON: Final = """\
# Training of <title>.
# Settings are explained where they stand; the others are spaCy's own:
# https://spacy.io/api/data-formats#config
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
<about_pipeline>
pipeline = <pipeline>
disabled = []
before_creation = null
after_pipeline_creation = null
batch_size = 1000

# nlp.pipe tokenizes many texts at once.
[nlp.after_creation]
@callbacks = "spacy_structreg.batch_tokenizing.v1"

<tokenizer>[nlp.vectors]
@vectors = "spacy.Vectors.v1"

[components]

<components>[corpora]

[corpora.train]
@readers = "spacy_structreg.Corpus.v1"
path = ${paths.train}
<about_gold>
gold = <gold>
# How many sentences to take; 0 for all.
limit = 0
# To train on text as people write it as well, put a block [corpora.train.augmenter] in place of
# this line, with @augmenters = "spacy_structreg.text_variants.v1".
augmenter = null

[corpora.dev]
@readers = "spacy_structreg.Corpus.v1"
path = ${paths.dev}
gold = <dev_gold>
limit = 0
augmenter = null

[training]
seed = ${system.seed}
gpu_allocator = ${system.gpu_allocator}
# Not used: the <noun> is no neural network.
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
frozen_components = <frozen>
annotating_components = []
dev_corpus = "corpora.dev"
train_corpus = "corpora.train"
<before_update>
# Leaves losses, which are no figures of the model, out of meta.json.
[training.before_to_disk]
@callbacks = "spacy_structreg.without_losses.v1"

[training.logger]
@loggers = "spacy.ConsoleLogger.v1"
progress_bar = true

[training.batcher]
@batchers = "spacy.batch_by_sequence.v1"
size = <batch_size>
get_length = null

# spaCy asks for an optimizer; the <noun> does not use it.
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

<scores>[pretraining]

[initialize]
vectors = ${paths.vectors}
init_tok2vec = ${paths.init_tok2vec}
vocab_data = null
lookups = null
<before_init><after_init>
[initialize.components]

<initialize>[initialize.tokenizer]
<arguments>"""
"""Config of a training; the names in ``<>`` are filled in."""

SCORES: Final = """\
# What counts as the best model: <about_scores>.
[training.score_weights]
<weights>
"""
"""Block of the weights of scores; the names in ``<>`` are filled in."""

ABOUT_TOKENIZER: Final = """\
# The tokenizer is trained in a run of its own. Pipes that work on words are trained afterwards, in
# another run, which takes the tokenizer over with spacy.copy_from_base_model.v1."""
"""Comment on the tokenizer in configs that train it."""

ABOUT_WORDS: Final = "# Words are those of the corpus in training, and of the tokenizer then."
"""Comment on words in configs of pipes."""

SOURCE: Final = """\
# Is taken over, and not trained here.
[components.<name>]
source = <base>

"""
"""Block of the pipe ``<name>`` of the pipeline ``<base>``."""

TAKEN_OVER: Final = """\
# Takes the tokenizer over.
[initialize.before_init]
@callbacks = "spacy.copy_from_base_model.v1"
tokenizer = <base>
vocab = null

"""
"""Block that takes over the tokenizer of the pipeline ``<base>``."""

SAVE_CHECKPOINT: Final = """\

# Keeps the state of the training after each epoch in a folder.
[training.before_update]
@callbacks = "spacy_structreg.save_checkpoint.v1"
path = <checkpoint>
"""
"""Block that keeps the state of a training; ``<checkpoint>`` is its folder."""

LOAD_CHECKPOINT: Final = """\

# To go on with a training that was interrupted: --initialize.after_init.path <checkpoint>
[initialize.after_init]
@callbacks = "spacy_structreg.load_checkpoint.v1"
path = null
"""
"""Block that goes on with an interrupted training."""

ZH_ARGUMENTS: Final = """\
# spaCy asks for these with every Chinese tokenizer. They belong to pkuseg and stay as they are.
pkuseg_model = null
pkuseg_user_dict = "default"
"""
"""Settings that spaCy asks for with every Chinese tokenizer."""
