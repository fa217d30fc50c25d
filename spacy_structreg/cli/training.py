"""What the commands that train without spaCy's loop share: configs, corpora, epochs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spacy.language import Language
    from spacy.training import Example

    from spacy_structreg.pipeline.tagger import StructregTagger

__all__ = ["Training", "load_training"]


@dataclass
class Training:
    """The one part of a pipeline that is to be trained: its tokenizer, or a tagger.

    nlp: the pipeline. tagger: the component; None if it is the tokenizer. gold: the setting of the
    reader of the training corpus. settings: the block ``[training]``.
    """

    nlp: Language
    tagger: StructregTagger | None
    gold: list[Any]
    settings: dict[str, Any]

    @property
    def model(self) -> Any:
        """The estimator that is to be trained."""
        return self.tokenizer.model if self.tagger is None else self.tagger.estimator

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of the pipeline."""
        return self.nlp.tokenizer

    def examples(self, path: Path) -> Iterable[Example]:
        """A corpus, as training in spaCy reads it. Raises ValueError as its reader."""
        from spacy.training import Example

        from spacy_structreg.pipeline.readers import create_corpus, read_references

        if self.tagger is not None:
            return create_corpus(path, self.gold)(self.nlp)
        # What a tokenizer would predict is not looked at.
        return (Example(doc, doc) for doc in read_references(self.nlp, path))

    def sentences(self, path: Path) -> list[Sequence[Any]]:
        """The gold sentences of a corpus. Raises ValueError as `examples`."""
        if self.tagger is None:
            return [self.tokenizer.gold(example.reference) for example in self.examples(path)]
        found: list[Sequence[Any]] = []
        for example in self.examples(path):
            found += self.tagger.gold(example)[0]
        return found

    def initialize(self, path: Path) -> None:
        """Initialize the pipeline, with rules and lists, by a training corpus.

        As in ``spacy train``, but for pipes that are frozen or come from other pipelines.
        """
        from spacy.util import get_sourced_components

        examples = list(self.examples(path))
        ready = [*frozen(self.settings), *get_sourced_components(self.nlp.config)]
        with self.nlp.select_pipes(disable=[name for name in ready if self.nlp.has_pipe(name)]):
            self.nlp.initialize(lambda: examples)

    def apply_settings(self) -> None:
        """Take seed and most epochs from the config."""
        if self.settings["seed"] is not None:
            self.model.seed = self.settings["seed"]
        if self.settings["max_epochs"] > 0:
            self.model.epochs = self.settings["max_epochs"]


def load_training(config: Path, overrides: dict[str, Any] | None = None) -> Training:
    """Make the pipeline of a config, and find out what is to be trained in it.

    That is the tagger, or the tokenizer if there is no tagger, or the pipe that trains tokenizers.
    Raises ValueError if neither is of this package, or there is more than one tagger to train.
    """
    from spacy.util import load_config, load_model_from_config
    from thinc.api import fix_random_seed

    from spacy_structreg.pipeline.tagger import StructregTagger
    from spacy_structreg.pipeline.tokenizer import ModelTokenizer
    from spacy_structreg.pipeline.tokenizer_trainer import TokenizerTrainer

    settings = load_config(config, overrides=overrides or {}, interpolate=False)
    # Corpora are named on the command line; what the config says of them does not matter.
    training = settings.interpolate()["training"]
    if training["seed"] is not None:
        fix_random_seed(training["seed"])
    nlp = load_model_from_config(settings, auto_fill=True)
    pipes = [(name, pipe) for name, pipe in nlp.pipeline if name not in frozen(training)]
    taggers = [(name, pipe) for name, pipe in pipes if isinstance(pipe, StructregTagger)]
    if any(isinstance(pipe, TokenizerTrainer) for _, pipe in pipes) or not taggers:
        if not isinstance(nlp.tokenizer, ModelTokenizer):
            raise ValueError(
                f"{config}: the tokenizer is none of spacy_structreg, and there is no "
                "structreg_tagger; make a config with 'python -m spacy structreg init-config'"
            )
        return Training(nlp, None, [], training)
    if len(taggers) > 1:
        raise ValueError(
            f"{config}: there is more than one tagger to train "
            f"({', '.join(name for name, _ in taggers)}); name the others in frozen_components"
        )
    reader = settings.get("corpora", {}).get("train", {})
    return Training(nlp, taggers[0][1], reader.get("gold") or ["words"], training)


def frozen(training: dict[str, Any]) -> list[str]:
    """The pipes that a config does not train."""
    return list(training.get("frozen_components") or [])
