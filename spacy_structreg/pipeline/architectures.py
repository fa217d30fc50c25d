"""Models for the tokenizers, as the config's ``@architectures`` name them."""

from __future__ import annotations

from typing import Literal, TypeAlias

from spacy_structreg.estimators.character_joint_tagger import CharacterJointTagger
from spacy_structreg.estimators.character_segmenter import (
    DEFAULT_LEARNING_OF_MANY,
    CharacterSegmenter,
)
from spacy_structreg.estimators.guided import GuidedJointTagger, GuidedSegmenter
from spacy_structreg.estimators.word_joint_tagger import WordJointTagger
from spacy_structreg.estimators.word_segmenter import WordSegmenter
from spacy_structreg.learn.settings import (
    AnyLearning,
    Clock,
    Learning,
    LogLinear,
    Noise,
    Optimizer,
    UpdateRule,
)

UpdatePoint: TypeAlias = Literal["early", "max_violation", "plain"]


def create_character_segmenter(
    *,
    templates: str | list[str] = "zhang2014",
    types: str | None = "extended",
    half_width: bool = True,
    skip_bigram: bool = False,
    sentences: Literal["punctuation", "doc"] = "punctuation",
    labels: Literal["bmes", "six"] = "bmes",
    learning: AnyLearning | None = None,
    seed: int | None = None,
) -> CharacterSegmenter:
    """Make an untrained `CharacterSegmenter`: ``spacy_structreg.CharacterSegmenter.v1``.

    The settings are those of the class. learning: from ``spacy_structreg.Learning.v1``, or from
    ``spacy_structreg.LogLinear.v1`` for a conditional random field; None takes the default of the
    class. seed: None takes what ``[training] seed`` fixes.
    Raises ValueError for settings that do not exist.
    """
    return CharacterSegmenter(
        templates=templates,
        types=types,
        half_width=half_width,
        skip_bigram=skip_bigram,
        sentences=sentences,
        labels=labels,
        learning=learning,
        seed=seed,
    )


def create_word_segmenter(
    *,
    templates: str | list[str] = "zhang_clark_2011",
    types: str | None = "extended",
    characters: bool = False,
    half_width: bool = True,
    beam: int | None = 16,
    merge: bool | None = None,
    by_words: bool = False,
    max_word_length: int | None = None,
    update: UpdatePoint = "early",
    sentences: Literal["punctuation", "doc"] = "punctuation",
    learning: Learning | None = None,
    seed: int | None = None,
) -> WordSegmenter:
    """Make an untrained `WordSegmenter`: ``spacy_structreg.WordSegmenter.v1``.

    As `create_character_segmenter`; the settings are those of the class.
    """
    return WordSegmenter(
        templates=templates,
        types=types,
        characters=characters,
        half_width=half_width,
        beam=beam,
        merge=merge,
        by_words=by_words,
        max_word_length=max_word_length,
        update=update,
        sentences=sentences,
        learning=learning,
        seed=seed,
    )


def create_guided_segmenter(
    *,
    characters: CharacterSegmenter | None = None,
    words: WordSegmenter | None = None,
    weight: float | None = None,
    adds_scores: bool = True,
    looks_ahead: bool = True,
    window: float | None = 10.0,
    beam: int = 4,
) -> GuidedSegmenter:
    """Make an untrained `GuidedSegmenter`: ``spacy_structreg.GuidedSegmenter.v1``.

    The settings are those of the class. characters, words: its two models, from blocks of
    ``spacy_structreg.CharacterSegmenter.v1`` and ``spacy_structreg.WordSegmenter.v1``; None takes
    what these are by default, the first as for models that are averaged: its scores are to be of
    the size of those of words.
    Raises ValueError for settings that do not exist or contradict each other.
    """
    return GuidedSegmenter(
        create_character_segmenter(learning=DEFAULT_LEARNING_OF_MANY)
        if characters is None
        else characters,
        create_word_segmenter() if words is None else words,
        weight=weight,
        adds_scores=adds_scores,
        looks_ahead=looks_ahead,
        window=window,
        beam=beam,
    )


def create_character_joint_tagger(
    *,
    templates: str | list[str] = "zhang2014",
    types: str | None = "extended",
    half_width: bool = True,
    skip_bigram: bool = False,
    sentences: Literal["punctuation", "doc"] = "punctuation",
    labels: Literal["bmes", "six"] = "bmes",
    prune: int | None = None,
    learning: AnyLearning | None = None,
    seed: int | None = None,
) -> CharacterJointTagger:
    """Make an untrained `CharacterJointTagger`: ``spacy_structreg.CharacterJointTagger.v1``.

    As `create_character_segmenter`; the settings are those of the class.
    """
    return CharacterJointTagger(
        templates=templates,
        types=types,
        half_width=half_width,
        skip_bigram=skip_bigram,
        sentences=sentences,
        labels=labels,
        prune=prune,
        learning=learning,
        seed=seed,
    )


def create_word_joint_tagger(
    *,
    templates: str | list[str] = "zhang_clark_2011_joint",
    types: str | None = "extended",
    half_width: bool = True,
    lengths: bool = True,
    dictionary: bool = True,
    closed_tags: str | list[str] | None = None,
    closed_first_tags: list[str] | None = None,
    least_begun: int | None = 30,
    least_seen: int = 1,
    prune_training: bool = True,
    beam: int | None = 16,
    merge: bool = True,
    by_words: bool = False,
    max_word_length: int | None = None,
    update: UpdatePoint = "early",
    sentences: Literal["punctuation", "doc"] = "punctuation",
    learning: Learning | None = None,
    seed: int | None = None,
) -> WordJointTagger:
    """Make an untrained `WordJointTagger`: ``spacy_structreg.WordJointTagger.v1``.

    As `create_character_segmenter`; the settings are those of the class. closed_tags: None for
    none, or ``"ctb"``.
    """
    return WordJointTagger(
        templates=templates,
        types=types,
        half_width=half_width,
        lengths=lengths,
        dictionary=dictionary,
        closed_tags=closed_tags or (),
        closed_first_tags=closed_first_tags,
        least_begun=least_begun,
        least_seen=least_seen,
        prune_training=prune_training,
        beam=beam,
        merge=merge,
        by_words=by_words,
        max_word_length=max_word_length,
        update=update,
        sentences=sentences,
        learning=learning,
        seed=seed,
    )


def create_guided_joint_tagger(
    *,
    characters: CharacterJointTagger | None = None,
    words: WordJointTagger | None = None,
    weight: float | None = None,
    adds_scores: bool = True,
    looks_ahead: bool = True,
    window: float | None = 10.0,
    beam: int = 4,
) -> GuidedJointTagger:
    """Make an untrained `GuidedJointTagger`: ``spacy_structreg.GuidedJointTagger.v1``.

    As `create_guided_segmenter`, of models from blocks of
    ``spacy_structreg.CharacterJointTagger.v1`` and ``spacy_structreg.WordJointTagger.v1``.
    """
    return GuidedJointTagger(
        create_character_joint_tagger(learning=DEFAULT_LEARNING_OF_MANY)
        if characters is None
        else characters,
        create_word_joint_tagger() if words is None else words,
        weight=weight,
        adds_scores=adds_scores,
        looks_ahead=looks_ahead,
        window=window,
        beam=beam,
    )


def create_learning(
    *,
    update: UpdateRule = "perceptron",
    aggressiveness: float = 1.0,
    l2: float = 0.0,
    l1: float = 0.0,
    cumulative_l1: float = 0.0,
    dropout: float = 0.0,
    hidden_dropout: float = 0.0,
    mini_sample: float | None = None,
    clock: Clock = "examples",
    prune: float = 0.0,
    min_count: int = 1,
) -> Learning:
    """Make the settings of a learner and its regularisers: ``spacy_structreg.Learning.v1``.

    See `learn.settings.Learning`. Raises ValueError for settings that do not go together.
    """
    return Learning(
        update=update,
        aggressiveness=aggressiveness,
        l2=l2,
        l1=l1,
        cumulative_l1=cumulative_l1,
        dropout=dropout,
        hidden_dropout=hidden_dropout,
        mini_sample=mini_sample,
        clock=clock,
        prune=prune,
        min_count=min_count,
    )


def create_log_linear(
    *,
    optimizer: Optimizer = LogLinear.optimizer,
    rate: float = LogLinear.rate,
    decay: float = LogLinear.decay,
    l2: float = LogLinear.l2,
    l1: float = LogLinear.l1,
    noise: Noise = LogLinear.noise,
    noise_level: float = LogLinear.noise_level,
    noise_window: int | None = LogLinear.noise_window,
    unlabelled_weight: float = LogLinear.unlabelled_weight,
    mini_sample: float | None = LogLinear.mini_sample,
    tolerance: float = LogLinear.tolerance,
) -> LogLinear:
    """Make the settings of a conditional random field: ``spacy_structreg.LogLinear.v1``.

    See `learn.settings.LogLinear`. ``spacy train`` needs the optimizer ``"sgd"``.
    Raises ValueError for settings that do not go together.
    """
    return LogLinear(
        optimizer=optimizer,
        rate=rate,
        decay=decay,
        l2=l2,
        l1=l1,
        noise=noise,
        noise_level=noise_level,
        noise_window=noise_window,
        unlabelled_weight=unlabelled_weight,
        mini_sample=mini_sample,
        tolerance=tolerance,
    )
