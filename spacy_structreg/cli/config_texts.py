"""The texts that `structreg init-config` puts configs together from; <names> are places."""

from __future__ import annotations

from typing import Final

__all__ = [
    "GAZETTEERS",
    "JOINT_SCORES",
    "PIPELINE_OF_CLASSIFIER",
    "PIPELINE_OF_CONSTITUENCY",
    "PIPELINE_OF_LABELLER",
    "PIPELINE_OF_PARSER",
    "PIPELINE_OF_TAGGER",
    "PIPELINE_OF_TOKENIZER",
    "PRUNE",
    "RULER",
    "RULES",
    "SEGMENTATION_SCORES",
    "ZH_ARGUMENTS",
]

ZH_ARGUMENTS: Final = """\
# spaCy asks for these with every Chinese tokenizer. They belong to pkuseg and stay as they are.
pkuseg_model = null
pkuseg_user_dict = "default"
"""

PATHS: Final = """\
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

"""

NLP: Final = """\
[nlp]
lang = <lang>
<about_pipeline>
pipeline = <pipeline>
disabled = []
before_creation = null
after_creation = null
after_pipeline_creation = null
batch_size = 1000

"""

CHARACTERS: Final = """\
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
"""

LEARNING: Final = """\
# How weights are learnt, and kept from fitting the training corpus too closely.
[<model>.learning]
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
# Probability that <a_unit> is hidden in training, and that a feature is left out.
dropout = <dropout>
hidden_dropout = <hidden_dropout>
# Mean length in <unit> of the pieces that training sentences are cut into, 1 or more; null
# leaves sentences whole.
mini_sample = <mini_sample>
# What counts as one update for averaging and penalties: "examples", "mistakes" or "epochs".
clock = <clock>
# Averaged weights of this size or less are dropped, which makes the model smaller; 0 keeps all.
prune = <prune>
# Features that gold trees, tags or words have fewer times get no weights: 1 for all features. Above
# 1 for parsers, taggers of words and models of whole words only.
min_count = <min_count>

"""

LOG_LINEAR: Final = """\
# How weights are learnt: as those of a conditional random field. In its place may stand
# "spacy_structreg.Learning.v1" with its settings, for a structured perceptron.
[<model>.learning]
@misc = "spacy_structreg.LogLinear.v1"
# "sgd", gradient descent, or "lbfgs", which sees the whole corpus at once: with structreg fit only.
optimizer = <optimizer>
# The step of gradient descent at its beginning, above 0. After e epochs it is divided by
# 1 + decay e.
rate = <rate>
decay = <decay>
# Penalties on all weights, 0 for none: as c2 and c1 of CRFsuite.
l2 = <l2>
l1 = <l1>
# Feature noising: "dropout", of a rate below 1, "multiplicative" or "additive" noise, of a
# deviation, or "none".
noise = <noise>
noise_level = <noise_level>
# How many tokens away the uncertainty of labels counts in its gradient; null for the exact one.
noise_window = <noise_window>
# How much texts without labels count in it.
unlabelled_weight = <unlabelled_weight>
# Mean length in <unit> of the pieces that training sentences are cut into, 1 or more; null
# leaves sentences whole.
mini_sample = <mini_sample>
# With structreg fit, training ends when an epoch changes what is minimised by less than this share;
# 0 for never.
tolerance = <tolerance>

"""

VECTORS: Final = """\
[nlp.vectors]
@vectors = "spacy.Vectors.v1"

[components]

"""

CORPORA: Final = """\
[corpora]

[corpora.train]
@readers = "spacy_structreg.Corpus.v1"
path = ${paths.train}
<about_gold>
gold = <gold>
# How many sentences to take; 0 for all.
limit = 0

[corpora.dev]
@readers = "spacy_structreg.Corpus.v1"
path = ${paths.dev}
gold = <dev_gold>
limit = 0

"""

TRAINING: Final = """\
[training]
seed = ${system.seed}
gpu_allocator = ${system.gpu_allocator}
# Not used: the <trained> is no neural network.
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

# spaCy asks for an optimizer; the <trained> does not use it.
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

"""

SAVE_CHECKPOINT: Final = """\

# Keeps the state of the training after each epoch in a folder.
[training.before_update]
@callbacks = "spacy_structreg.save_checkpoint.v1"
path = <checkpoint>
"""

LOAD_CHECKPOINT: Final = """\

# To go on with a training that was interrupted: --initialize.after_init.path <checkpoint>
[initialize.after_init]
@callbacks = "spacy_structreg.load_checkpoint.v1"
path = null
"""

INITIALIZE: Final = """\
[pretraining]

[initialize]
vectors = ${paths.vectors}
init_tok2vec = ${paths.init_tok2vec}
vocab_data = null
lookups = null
<before_init><after_init>
[initialize.components]

<rules>[initialize.tokenizer]
"""

ABOUT_TOKENIZER: Final = """\
# Training of a tokenizer that <task>. Settings are explained where they stand;
# the others are spaCy's own: https://spacy.io/api/data-formats#config
# Lines can be changed here, or on the command line: --training.max_epochs 10

"""

TOKENIZER: Final = """\
[nlp.tokenizer]
@tokenizers = <tokenizer>

[nlp.tokenizer.model]
@architectures = <architecture>
"""

SEED: Final = """\
# Of the order of sentences within a batch; null takes the seed of the training.
seed = null

"""

PRUNE: Final = """\
# Let characters that occur so often in training, or more, have only labels that they had there;
# null for any labels.
prune = null
"""

TRAINER: Final = """\
# Trains the tokenizer, and leaves texts as they are.
[components.tokenizer_trainer]
factory = <trainer>

"""

RULER: Final = """\
# Writes token.pos_ by token.tag_. Its figures would count the words that were found alone.
[components.attribute_ruler]
factory = "attribute_ruler"
scorer = null
validate = false

"""

RULES: Final = """\
[initialize.components.attribute_ruler]

# From the tags of the corpus to universal ones: "ctb", "pfr", "ptb", "ud_chinese" or
# "ud_chinese_1".
[initialize.components.attribute_ruler.patterns]
@misc = "spacy_structreg.TagMap.v1"
name = <tag_map>

"""

SEGMENTATION_SCORES: Final = """\
# What counts as the best model: F of words, as the SIGHAN bakeoffs define it.
[training.score_weights]
seg_f = 1.0
seg_p = 0.0
seg_r = 0.0
token_acc = null

"""

JOINT_SCORES: Final = """\
# What counts as the best model: F of words that are right with their tag.
[training.score_weights]
joint_f = 1.0
joint_p = 0.0
joint_r = 0.0
seg_f = 0.0
token_acc = null

"""

USER_WORDS: Final = """\
# Words that are to be tokens wherever they occur: a file of one word a line, or of a word, a tab
# and its tag. user_words = "words.txt"
"""

ABOUT_TAGGER: Final = """\
# Training of a tagger of words. Settings are explained where they stand; the others are spaCy's
# own: https://spacy.io/api/data-formats#config
# Lines can be changed here, or on the command line: --training.max_epochs 10

"""

TAGGER: Final = """\
[components.tagger]
factory = "structreg_tagger"
# What is learnt and written: "tag", the tags of the corpus; "pos", its universal tags; or "both".
attribute = "<attribute>"
# Tag words anew that have a tag already.
overwrite = false

[components.tagger.scorer]
@scorers = "spacy_structreg.tagging_scorer.v1"

[components.tagger.model]
@architectures = "spacy_structreg.Tagger.v1"
# The features: a table, "words" for Chinese and any other script, "latin" for alphabetic ones, or
# templates of one's own.
templates = <templates>
# Let full-width letters, digits and punctuation look like half-width ones to the model.
half_width = true
# How many sequences of tags are kept from word to word, in training and in prediction.
beam = 4
decode_beam = 2
# Where an update is made: "early", "max_violation", "plain", or, with beam = 1, "every".
update = "early"
# Words that occur so often in training, or more, get only tags that they had there; null for any.
dictionary = 5
"""

TAGGER_SCORES: Final = """\
# What counts as the best model: the share of words that get the right tag.
[training.score_weights]
<attribute>_acc = 1.0
<other_attribute>_acc = null
tag_f = null
pos_f = null
tag_p = null
tag_r = null
pos_p = null
pos_r = null

"""

ABOUT_PARSER: Final = """\
# Training of a dependency parser. Settings are explained where they stand; the others are spaCy's
# own: https://spacy.io/api/data-formats#config
# Lines can be changed here, or on the command line: --training.max_epochs 10

"""

PARSER: Final = """\
[components.parser]
factory = "structreg_parser"
# Which tags of words the parser looks at: "tag", those of the corpus, or "pos", its universal tags.
attribute = "<attribute>"
# What gets a tree of its own: "doc", each sentence that the Doc knows of, or all of it if it knows
# of none; "punctuation", these cut by punctuation and at line breaks.
sentences = <sentences>
# Parse anew what is parsed already; false keeps heads that are there, and finds the others.
overwrite = true

[components.parser.scorer]
@scorers = "spacy_structreg.parsing_scorer.v1"

[components.parser.model]
@architectures = "spacy_structreg.DependencyParser.v1"
# The transition system: "arc_eager" or "arc_standard".
system = "arc_eager"
# The features: the name of a table, or templates of one's own; null for the table of the system.
templates = null
# Give arcs the labels of the corpus.
labelled = true
# Let full-width letters, digits and punctuation look like half-width ones to the model.
half_width = true
# How many states are kept, in training and in prediction: 1 is about four times as fast as 16.
beam = 16
# Merge states that no later score can tell apart; null does so for arc_standard.
merge = null
# Where an update is made: "early", "max_violation", "plain", or, with beam = 1, "every"; null for
# "max_violation", and for "every" with beam = 1.
update = null
"""

PARSER_SCORES: Final = """\
# What counts as the best model: the share of words with the right head and label.
[training.score_weights]
dep_las = 1.0
dep_uas = 0.0
las_f = null
uas_f = null
dep_las_per_type = null
<other_scores>
"""

ABOUT_CONSTITUENCY: Final = """\
# Training of a constituency parser. Settings are explained where they stand; the others are spaCy's
# own: https://spacy.io/api/data-formats#config
# Lines can be changed here, or on the command line: --training.max_epochs 10

"""

CONSTITUENCY: Final = """\
[components.constituency]
factory = "structreg_constituency"
# Which tags of words the parser looks at: "tag", those of the corpus, or "pos", its universal tags.
attribute = "<attribute>"
# What gets a tree of its own: "doc", each sentence that the Doc knows of, or all of it if it knows
# of none; "punctuation", these cut by punctuation and at line breaks.
sentences = <sentences>
# Parse anew what is parsed already; false keeps constituents that are there, and finds the others.
overwrite = false
# The span group that holds the constituents, here and in the corpora.
spans_key = "constituents"
# Write heads as well: those of the head words that the model finds, "parser", or of those that head
# rules find in its trees, "ctb" or "ptb"; null for no heads.
dependencies = null
# What the names of the attributes begin with: with "tree_", span._.labels is span._.tree_labels.
extension_prefix = ""

[components.constituency.scorer]
@scorers = "spacy_structreg.constituency_scorer.v1"
# What counts: "collins", as EVALB does with COLLINS.prm; "plain", all constituents and all words;
# "no_pu", without the punctuation of the Chinese Treebank.
conventions = "collins"

[components.constituency.model]
@architectures = "spacy_structreg.ConstituencyParser.v1"
# The features: the name of a table, or templates of one's own; null for "phrases+". "phrases" sees
# less of what phrases are made of, and is half as fast again.
templates = null
# Let full-width letters, digits and punctuation look like half-width ones to the model.
half_width = true
# How many states are kept, in training and in prediction: the more, the better and the slower.
beam = 16
# Where an update is made: "early", "max_violation", "plain", or, with beam = 1, "every"; null for
# "max_violation", and for "every" with beam = 1.
update = null
"""

CONSTITUENCY_SCORES: Final = """\
# What counts as the best model: F of brackets.
[training.score_weights]
brackets_f = 1.0
brackets_p = 0.0
brackets_r = 0.0
<other_scores>
"""

ABOUT_LABELLER: Final = """\
# Training of a labeller of tokens. Settings are explained where they stand; the others are spaCy's
# own: https://spacy.io/api/data-formats#config
# Lines can be changed here, or on the command line: --training.max_epochs 10

"""

LABELLER: Final = """\
[components.sequence_labeler]
factory = "structreg_sequence_labeler"
# What is learnt and written: "ents", entities; "spans", those of a span group; "tag", "pos",
# "lemma", "morph" or "dep" of each token, or an extension of tokens, as in "_.chunk": these need
# scheme = null below.
attribute = <attribute>
# The span group of "spans".
spans_key = <spans_key>
# What is labelled as a sequence: "doc", each sentence that the Doc knows of, or all of it if it
# knows of none; "punctuation", these cut by punctuation and at line breaks; "whole", all of it in
# any case.
sentences = "doc"
# Label anew what is labelled already; false keeps it, and finds what goes best with it.
overwrite = false
# The name of an extension of Docs for the probabilities of all labels, such as
# "label_probabilities"; null for none.
probabilities = null

# Where the columns of the model are read from, if not from the attribute of their name.
[components.sequence_labeler.columns]
<columns>
[components.sequence_labeler.scorer]
@scorers = "spacy_structreg.labelling_scorer.v1"

[components.sequence_labeler.model]
@architectures = "spacy_structreg.SequenceLabeler.v1"
# The features: a table, "ner", "bio", "chunking", "chunking-rich", "characters", "pos" or
# "pos-rich", or one of these with "+edges" behind it; or templates of one's own.
templates = <templates>
# What templates see of a token besides its word.
columns = <model_columns>
# How labels stand for spans within the model: "bio", "bioes" or "io"; null for labels that stand
# for none.
scheme = "bioes"
"""

GAZETTEERS: Final = """\
# Lists of known phrases, as features; the model keeps them. Remove the # to have some.
# [initialize.components.sequence_labeler]
# [initialize.components.sequence_labeler.gazetteers]
# @misc = "spacy_structreg.Gazetteers.v1"
# lower = false
# [initialize.components.sequence_labeler.gazetteers.lists]
# city = "cities.txt"

"""

LABELLER_SCORES: Final = """\
# What counts as the best model: F of entities or spans.
[training.score_weights]
ents_f = 1.0
ents_p = 0.0
ents_r = 0.0
ents_per_type = null
label_acc = null
<other_scores>
"""

ABOUT_CLASSIFIER: Final = """\
# Training of a classifier of texts. Settings are explained where they stand; the others are spaCy's
# own: https://spacy.io/api/data-formats#config
# Lines can be changed here, or on the command line: --training.max_epochs 10

"""

CLASSIFIER: Final = """\
[components.textcat]
factory = "structreg_textcat"

[components.textcat.scorer]
@scorers = "spacy_structreg.classification_scorer.v1"

[components.textcat.model]
@architectures = "spacy_structreg.TextClassifier.v1"
# The features: n-grams of one up to so many words, 0 to 3, and n-grams of so many characters, as in
# [1, 2]; null for none.
ngrams = <ngrams>
characters = <characters>
# Let upper case look like lower case.
lower = true
# What counts of an n-gram: "binary", that it is there; "counts", how often; "log", 1 + log of that.
values = "binary"
# Scale the values of each text, so that their squares add up to 1.
normalise = false
"""

CLASSIFIER_SCORES: Final = """\
# What counts as the best model: the share of texts of the right category.
[training.score_weights]
cats_acc = 1.0
cats_macro_f = 0.0
cats_score = null
cats_score_desc = null
cats_micro_p = null
cats_micro_r = null
cats_micro_f = null
cats_macro_p = null
cats_macro_r = null
cats_macro_auc = null
cats_f_per_type = null

"""

PIPELINE_OF_TOKENIZER: Final = (
    *(ABOUT_TOKENIZER, PATHS, NLP, TOKENIZER, CHARACTERS, "<label_pruning>", SEED, LEARNING),
    VECTORS,
    *(TRAINER, "<ruler>", CORPORA, TRAINING, "<scores>", INITIALIZE, "<tokenizer_arguments>"),
    USER_WORDS,
)
"""The parts of the config of a tokenizer, in their order."""

PIPELINE_OF_TAGGER: Final = (
    *(ABOUT_TAGGER, PATHS, NLP, "<tokenizer_block>", VECTORS, TAGGER, SEED, LEARNING, CORPORA),
    *(TRAINING, TAGGER_SCORES, INITIALIZE, "<tokenizer_arguments>"),
)
"""The same for a tagger."""

PIPELINE_OF_PARSER: Final = (
    *(ABOUT_PARSER, PATHS, NLP, "<tokenizer_block>", VECTORS, "<sources>", PARSER, SEED, LEARNING),
    *(CORPORA, TRAINING, PARSER_SCORES, INITIALIZE, "<tokenizer_arguments>"),
)
"""The same for a parser."""

PIPELINE_OF_CONSTITUENCY: Final = (
    *(ABOUT_CONSTITUENCY, PATHS, NLP, "<tokenizer_block>", VECTORS, "<sources>", CONSTITUENCY),
    *(SEED, LEARNING, CORPORA, TRAINING, CONSTITUENCY_SCORES, INITIALIZE, "<tokenizer_arguments>"),
)
"""The same for a constituency parser."""

PIPELINE_OF_LABELLER: Final = (
    *(ABOUT_LABELLER, PATHS, NLP, "<tokenizer_block>", VECTORS, "<sources>", LABELLER, SEED),
    *(LOG_LINEAR, CORPORA, TRAINING, LABELLER_SCORES, INITIALIZE, "<tokenizer_arguments>"),
)
"""The same for a labeller of tokens."""

PIPELINE_OF_CLASSIFIER: Final = (
    *(ABOUT_CLASSIFIER, PATHS, NLP, "<tokenizer_block>", VECTORS, CLASSIFIER, SEED, LOG_LINEAR),
    *(CORPORA, TRAINING, CLASSIFIER_SCORES, INITIALIZE, "<tokenizer_arguments>"),
)
"""The same for a classifier of texts."""
