"""Settings that several models have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final, Literal, TypeAlias

from spacy_structreg.corpora.sentence import Sentences
from spacy_structreg.features.knowledge import MAX_GUIDES
from spacy_structreg.features.typed_runs import CutKind
from spacy_structreg.learn.learning_settings import AnyLearning, Learning, Mean, learning_from_dict
from spacy_structreg.learn.setting_fields import Settings, check_strings, setting

MAX_BEAM: Final = 10_000
"""Most states of a beam: memory and time of a sentence grow with it."""

MAX_EPOCHS: Final = 1_000_000
"""Most passes over the training corpus."""

MAX_WORD_LENGTH: Final = 10_000
"""Highest limit of the length of words, in characters."""

MAX_MODELS: Final = 1_000
"""Most models of one average."""

ScriptName: TypeAlias = Literal["simplified"]
Types: TypeAlias = Literal["g10", "extended"]
Statistics: TypeAlias = Literal["accessor_variety", "all"]
UpdatePoint: TypeAlias = Literal["early", "max_violation", "plain", "every"]


class CompleteTemplates(tuple[str, ...]):
    """All templates of a model: no setting adds any to them."""

    @classmethod
    def checked(cls, templates: Any) -> CompleteTemplates:
        """Templates from a file. Raises ValueError if they are not a list of strings."""
        return cls(check_strings("templates", templates))


class TrainingSettings(Settings):
    """Settings of all models that are trained.

    The models of an average have the seeds `seed`, `seed` + 1, …: the seeds of groups that are to
    be independent lie `n_models` apart.
    """

    DEFAULT_LEARNING: ClassVar[AnyLearning] = Learning()
    """The setting `learning` of None stands for this."""

    learning: AnyLearning | None = setting(
        None,
        "How weights are learned and regularized: a block of spacy_structreg.Learning.v1, for a "
        "structured perceptron, or of spacy_structreg.LogLinear.v1, for a conditional random "
        "field; null for the default of the model.",
        restore=learning_from_dict,
    )
    epochs: int = setting(
        12,
        "Passes over the training corpus.",
        minimum=1,
        maximum=MAX_EPOCHS,
        in_config=False,
    )
    patience: int | None = setting(
        None,
        "Training stops after so many epochs without a better figure on the development corpus; "
        "null for never.",
        minimum=1,
        maximum=MAX_EPOCHS,
        in_config=False,
    )
    n_models: int = setting(
        1,
        "So many models are trained, with seeds that follow one another, and averaged.",
        minimum=1,
        maximum=MAX_MODELS,
        in_config=False,
    )
    mean: Mean = setting(
        "nonzero",
        'How models are averaged: "nonzero", over those that have a weight, or "plain", over all.',
        in_config=False,
    )
    seed: int | None = setting(
        0,
        "Of all that training draws; null draws one, in a config from the seed of the training.",
        config_default=None,
    )

    def _check(self) -> None:
        if self.chosen_learning.needs_whole_corpus and self.n_models > 1:
            raise ValueError(
                f"optimizer = 'lbfgs' draws nothing, so that {self.n_models} models would be the "
                "same; choose n_models = 1, or optimizer = 'sgd'"
            )

    @property
    def chosen_learning(self) -> AnyLearning:
        """The learning that is set, or else the default."""
        return self.DEFAULT_LEARNING if self.learning is None else self.learning


class PerceptronSettings(TrainingSettings):
    """Settings of models that only a perceptron can learn."""

    learning: Learning | None = setting(
        None,
        "How weights are learned and regularized: a block of spacy_structreg.Learning.v1; null for "
        "the default of the model.",
        restore=learning_from_dict,
    )


class ScriptSettings(Settings):
    """The setting of scripts."""

    script: ScriptName | None = setting(
        None,
        'Let characters look to the model like those of another script, one by one: "simplified" '
        "for traditional ones (with OpenCC, in training only), so that one model reads both; null "
        "for none.",
    )


class ViewSettings(ScriptSettings):
    """Settings of how characters look to a model."""

    half_width: bool = setting(
        True,
        "Let full-width letters, digits and punctuation look like half-width ones to the model.",
    )


class WordSettings(ScriptSettings):
    """Settings of what a model of given words knows besides its training corpus.

    Files are read when the model is trained, and what it needs of them is stored with it.
    """

    word_classes: str | None = setting(
        None,
        "A file of classes of words, whose templates are added: a word, a tab and its class a "
        "line, or paths of Brown clustering; null for none.",
    )


class TextSettings(ViewSettings):
    """Settings of models that find words in raw text."""

    types: Types | None = setting(
        "extended",
        'Character types (digit, letter, punctuation, …) whose templates are added: "extended" or '
        '"g10"; null for none.',
    )
    sentences: Sentences = setting(
        "punctuation",
        '"punctuation" cuts texts into sentences first, at line breaks too, in training as in '
        'prediction; "wrapped" does so without line breaks within a paragraph; "doc" takes every '
        "text as one, of at most 10,000 characters.",
    )
    typed_runs: bool | Literal["latin"] = setting(
        False,
        "Find URLs, e-mail addresses, @names, numbers, measures, emoji and the like by their form, "
        "and cut them as the Penn Chinese Treebank does. Those that say little by their characters "
        '(URLs, addresses, @names, paths, emoji) look alike to the model. "latin" finds runs of '
        "Latin letters and of digits only, which no word cuts (Zhang & Clark 2011, section 4.4.3): "
        "words of the training corpus that do are joined, with the first one's tag, and word-based "
        "models propose none in training either.",
    )
    whole_runs: Sequence[CutKind] = setting(
        (),
        'Kinds of such runs that are one word where the treebank cuts them: "price" (￥35), '
        '"measure" (35kg), "topic" (#早安#).',
    )

    def _check(self) -> None:
        super()._check()
        if self.whole_runs and self.typed_runs is not True:
            raise ValueError(
                "whole_runs names kinds of runs, but none is looked for; choose "
                "typed_runs = true, or leave whole_runs out"
            )


class LexiconSettings(Settings):
    """The setting of word lists."""

    lexicon: str | Sequence[str] = setting(
        (),
        "Files of word lists, read in training only, which say what is a word and what tags it may "
        "have: in jieba's format, CC-CEDICT's, or a word a line, if known with a tab and its tags.",
    )


class WordTextSettings(LexiconSettings, TextSettings):
    """Settings of models of words that find words in raw text."""


class KnowledgeSettings(WordTextSettings):
    """Settings of what a model of characters knows besides its training corpus.

    Files are read when the model is trained, and what it needs of them is stored with it.
    """

    guides: Sequence[str] = setting(
        (),
        "Models of other standards whose labels are features: folders of trained pipelines, or "
        "model files.",
    )

    statistics: Statistics | None = setting(
        None,
        "What n-grams of characters look like in the training text is a feature: "
        '"accessor_variety", how many different characters stand beside them; "all", mutual '
        "information as well; null for nothing.",
    )
    raw_text: Sequence[str] = setting(
        (),
        "Text files that are counted for these statistics together with the training text, or "
        "files of counts that the command count-ngrams has written.",
    )

    def _check(self) -> None:
        super()._check()
        if len(self.guides) > MAX_GUIDES:
            raise ValueError(f"guides are {len(self.guides)} models; {MAX_GUIDES} are the most")
        if self.raw_text and self.statistics is None:
            raise ValueError(
                "raw_text names files, but they are counted for statistics only; choose "
                'statistics = "accessor_variety", or leave raw_text out'
            )

    @property
    def has_sources(self) -> bool:
        """True if some knowledge source is on."""
        return bool(self.lexicon or self.guides) or self.statistics is not None


class BeamSettings(Settings):
    """Settings of models that search by a beam."""

    beam: int | None = setting(
        16,
        "How many states are kept, in training and in prediction; null for no limit.",
        minimum=1,
        maximum=MAX_BEAM,
    )
    beam_margin: float | None = setting(
        None,
        "In prediction, drop states whose score lies further than this behind the best of those "
        "that they compete with; null for none. `fit --beam-loss` tunes it.",
    )


class WordSearchSettings(BeamSettings):
    """Settings of models that search over the words of a text."""

    update: UpdatePoint = setting(
        "early",
        'Where an update is made: "early", "max_violation", "plain", or, with beam = 1, "every".',
    )
    by_words: bool = setting(
        False,
        "Let complete words compete where they end (multiple beams, Zhang & Clark 2011, Fig. 4) "
        "instead of all states that have consumed the same characters.",
    )
    max_word_length: int | None = setting(
        None,
        "No longer words are proposed; null for no limit.",
        minimum=1,
        maximum=MAX_WORD_LENGTH,
    )

    def _check(self) -> None:
        super()._check()
        check_update(self.update, self.beam)


def check_update(update: UpdatePoint | None, beam: int | None) -> None:
    """Raise ValueError unless ``update = "every"`` comes with ``beam = 1``."""
    if update == "every" and beam != 1:
        raise ValueError(f"update = 'every' needs beam = 1, got {beam}")


def complete(templates: Iterable[object]) -> CompleteTemplates:
    """The value of the setting `templates` for parsed templates."""
    return CompleteTemplates(map(str, templates))


def joined(templates: str | Sequence[str], *names: str) -> list[str]:
    """Templates of the user and further tables, unless they are complete."""
    if isinstance(templates, CompleteTemplates):
        return list(templates)
    return [*([templates] if isinstance(templates, str) else templates), *names]
