"""Configs and corpora of the commands that train without spaCy's loop."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.training import Example
    from thinc.api import Config

    from spacy_structreg.pipeline.readers import Augmenter

Part: TypeAlias = Literal["train", "dev"]
PARTS: Final[tuple[Part, ...]] = ("train", "dev")


@dataclass
class Training:
    """The one part of a pipeline that is to be trained: its tokenizer, or a component of ours.

    nlp: the pipeline. name: of the part, `TOKENIZER` for that. part: itself; both kinds have an
    `estimator`. gold, limits: settings of the readers of the corpora, by their names in
    ``[corpora]``. settings: the block ``[training]``. paths: files and folders that the config
    names. augmenter: of the training corpus; None for none. drawn: the gold Docs of training
    corpora, with what it has added, by path: all who read one get the same.
    """

    nlp: Language
    name: str
    part: Any
    gold: dict[Part, list[Any]]
    limits: dict[Part, int]
    settings: dict[str, Any]
    paths: list[Path]
    augmenter: Augmenter | None = None
    drawn: dict[Path, list[Doc]] = field(default_factory=dict)

    @property
    def is_tokenizer(self) -> bool:
        """True if it is the tokenizer that is to be trained."""
        return self.part is self.nlp.tokenizer

    @property
    def model(self) -> Any:
        """The estimator that is to be trained."""
        return self.part.estimator

    @contextmanager
    def holding(self, model: Any) -> Iterator[None]:
        """Let the pipeline hold another model for the moment."""
        before = self.part.estimator
        self.part.estimator = model
        try:
            yield
        finally:
            self.part.estimator = before

    def model_file(self, folder: Path) -> Path:
        """The file of the model in the folder of the pipeline."""
        from spacy_structreg.about import MODEL_FILE

        return folder / self.name / MODEL_FILE

    def examples(self, path: Path, part: Part = "train", *, augment: bool = False) -> list[Example]:
        """A corpus, as spaCy's training and evaluation see it. Raises ValueError as its reader.

        part: as what. What is predicted of the training corpus is what the pipes say that are
        named in ``annotating_components``; of the development corpus, what all pipes say. These
        are the pipes before the component that are trained already, or have nothing to learn.
        augment: whether the augmenter of the config, if there is one, adds to the corpus: the same
        at every call, as long as `drawn` is kept. The corpus is read once then.
        """
        augmenter = self.augmenter if augment else None
        if augment and path in self.drawn:
            # What is predicted is made anew: the pipes may have been initialized in between.
            examples = [self._example(doc, part) for doc in self.drawn[path]]
        else:
            examples = self._read(path, part, augmenter)
            if augment:
                self.drawn[path] = [example.reference for example in examples]
        if self.is_tokenizer:
            return examples
        if names := self._annotating(part):
            with self.nlp.select_pipes(enable=names):
                docs = list(self.nlp.pipe(example.predicted for example in examples))
            for example, doc in zip(examples, docs, strict=True):
                example.predicted = doc
        return examples

    def _read(self, path: Path, part: Part, augmenter: Augmenter | None) -> list[Example]:
        from spacy_structreg.pipeline.readers import create_corpus, read_references

        limit = self.limits[part]
        if not self.is_tokenizer:
            return list(create_corpus(path, self.gold[part], limit, augmenter)(self.nlp))
        references = islice(read_references(self.nlp, path), limit or None)
        examples = [self._example(doc, part) for doc in references]
        if augmenter is None:
            return examples
        return [each for example in examples for each in augmenter(self.nlp, example)]

    def _example(self, reference: Doc, part: Part) -> Example:
        from spacy.training import Example

        from spacy_structreg.pipeline.readers import predicted_doc

        # What a tokenizer would predict is not looked at.
        if self.is_tokenizer:
            return Example(reference, reference)
        return Example(predicted_doc(self.nlp, reference, set(self.gold[part])), reference)

    def _annotating(self, part: Part) -> list[str]:
        ready = [
            name
            for name, pipe in takewhile(lambda named: named[1] is not self.part, self.nlp.pipeline)
            if name in frozen(self.settings) or not getattr(pipe, "is_trainable", False)
        ]
        annotating = self.settings.get("annotating_components") or []
        return [name for name in ready if part == "dev" or name in annotating]

    def sentences(self, path: Path, part: Part = "train") -> list[Any]:
        """The gold sentences of a corpus, to train or to test on.

        part: as of `examples`, which raises ValueError; the augmenter adds to what is trained on.
        """
        found: list[Any] = []
        for example in self.examples(path, part, augment=part == "train"):
            found += self.part.gold(example)[0]
        return found

    def unlabeled(self, path: Path) -> list[Any]:
        """The sentences of a corpus whose labels are not looked at.

        Raises ValueError as `examples`, and if the model learns from gold sentences alone.
        """
        if self.is_tokenizer:
            raise ValueError("tokenizers do not learn from what has no labels; leave it out")
        examples = self.examples(path)
        return [each for example in examples for each in self.part.unlabeled(example.predicted)]

    def initialize(self, path: Path) -> None:
        """Initialize the pipeline, with rules and lists, by a training corpus.

        As in ``spacy train``, but for pipes that are frozen or come from other pipelines.
        """
        from spacy.util import get_sourced_components

        # Read when the tokenizer has been taken over: its words may be those that are learned from.
        read = cache(partial(self.examples, path, augment=True))
        ready = [*frozen(self.settings), *get_sourced_components(self.nlp.config)]
        with self.nlp.select_pipes(disable=[name for name in ready if self.nlp.has_pipe(name)]):
            self.nlp.initialize(read)
            read()

    def apply_settings(self) -> None:
        """Take seed and most epochs from the config."""
        if self.settings["seed"] is not None:
            self.model.seed = self.settings["seed"]
        if self.settings["max_epochs"] > 0:
            self.model.epochs = self.settings["max_epochs"]


def load_training(
    config: Path, overrides: dict[str, Any] | None = None, *, seed: int | None = None
) -> Training:
    """Make the pipeline of a config, and find out what is to be trained in it.

    That is the component of ours, or the tokenizer if there is none, or the pipe that trains
    tokenizers. seed: of what is drawn if the config names none.
    Raises ValueError, naming the config, if it is none or has faults, if neither is of this
    package, or there is more than one component to train, and as `corpora.files.read_lines`.
    """
    from spacy.util import load_config, load_model_from_config
    from thinc.api import fix_random_seed

    from spacy_structreg.corpora.files import check_lines
    from spacy_structreg.pipeline.task import TOKENIZER, parts_of
    from spacy_structreg.pipeline.tokenizer_trainer import TokenizerTrainer

    # Anything else is refused by spaCy, or is standard input.
    if config.is_file():
        check_lines(config)
    with config_faults(config):
        settings = load_config(config, overrides=overrides or {}, interpolate=False)
        # Corpora are named on the command line; what the config says of them does not matter.
        training = settings.interpolate().get("training", {})
        check_training(training)
        fixed = seed if training["seed"] is None else training["seed"]
        if fixed is not None:
            fix_random_seed(fixed)
        nlp = load_model_from_config(settings, auto_fill=True)
        check_names(settings)
        gold = {part: gold_of(settings, part) for part in PARTS}
        limits = {part: limit_of(settings.interpolate(), part) for part in PARTS}
        augmenter = augmenter_of(settings)
        paths = sorted(paths_of(settings.interpolate()))
    ours = dict(parts_of(nlp))
    tokenizer = ours.pop(TOKENIZER, None)
    pipes = [(name, pipe) for name, pipe in nlp.pipeline if name not in frozen(training)]
    parts = {name: pipe for name, pipe in pipes if name in ours}
    if any(isinstance(pipe, TokenizerTrainer) for _, pipe in pipes) or not parts:
        if tokenizer is None:
            raise ValueError(
                f"{config}: the tokenizer is none of spacy_structreg, and there is no component of "
                "it to train; make a config with 'python -m spacy structreg init-config'"
            )
        return Training(nlp, TOKENIZER, tokenizer, gold, limits, training, paths, augmenter)
    if len(parts) > 1:
        raise ValueError(
            f"{config}: there is more than one component to train "
            f"({', '.join(parts)}); name the others in frozen_components"
        )
    return Training(nlp, *parts.popitem(), gold, limits, training, paths, augmenter)


@contextmanager
def config_faults(config: Path) -> Iterator[None]:
    """Let what is wrong with a config be a ValueError that names its file."""
    from configparser import Error as NotationError

    from thinc.api import ConfigValidationError

    try:
        yield
    except OSError as error:
        if isinstance(error, FileNotFoundError) or error.filename is not None:
            raise
        # spaCy says so of a file that is not there.
        raise ValueError(f"{config}: {error}") from error
    except ConfigValidationError as error:
        faults = "; ".join(
            ".".join(map(str, fault.get("loc", ()))) + f": {fault.get('msg', '')}"
            for fault in error.errors or ()
        )
        raise ValueError(f"{config}: {faults or error.desc or error.title}") from error
    except (ValueError, TypeError, KeyError, ImportError, NotationError) as error:
        raise ValueError(f"{config}: {error}") from error


def check_training(settings: dict[str, Any]) -> None:
    """Raise ValueError if what is read of ``[training]`` is missing or of another type."""
    for name in ("seed", "max_epochs"):
        if name not in settings:
            raise ValueError(
                f"there is no training.{name}: this is no config for training; make one with "
                "'python -m spacy structreg init-config'"
            )
        value = settings[name]
        least, most = (0, 1 << 32) if name == "seed" else (-1, 1 << 63)
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not (is_whole and least <= value < most) and not (name == "seed" and value is None):
            raise ValueError(
                f"training.{name} is {value!r}; it must be a whole number of at least {least}, and "
                f"below {most}"
            )
    for name in ("frozen_components", "annotating_components"):
        value = settings.get(name) or []
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise ValueError(f"training.{name} is {value!r}; it must be a list of names")


def gold_of(config: dict[str, Any], part: Part) -> list[Any]:
    """Gold annotation that the reader of a corpus hands on."""
    block = reader_of(config, part)
    gold = block.get("gold", ["words"])
    if not isinstance(gold, list):
        raise ValueError(f"corpora.{part} is {block!r:.60}; it must be a block, with a list `gold`")
    return gold


def limit_of(config: dict[str, Any], part: Part) -> int:
    """The number of Docs of a corpus that are taken; 0 for all."""
    limit = reader_of(config, part).get("limit", 0)
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise ValueError(f"corpora.{part}.limit is {limit!r}; it must be a whole number from 0")
    return limit


def reader_of(config: dict[str, Any], part: Part) -> dict[str, Any]:
    """The block of the reader of a corpus; {} if there is none."""
    blocks: Any = config.get("corpora", {})
    block = blocks.get(part, {}) if isinstance(blocks, dict) else blocks
    if not isinstance(block, dict):
        raise ValueError(f"corpora.{part} is {block!r:.60}; it must be a block, with a list `gold`")
    return block


# What these settings name are no files, though there may be some of that name.
_NO_PATHS: Final = {
    *("lang", "pipeline", "disabled", "frozen_components", "annotating_components"),
    *("attribute", "component", "factory", "gold"),
}


def paths_of(value: Any) -> set[Path]:
    """The files and folders that exist of those that a config, or a part of it, names."""
    if isinstance(value, dict):
        named = (
            each
            for key, each in value.items()
            if isinstance(each, dict) or not (key in _NO_PATHS or key.startswith("@"))
        )
        return set().union(*map(paths_of, named))
    if isinstance(value, (list, tuple)):
        return set().union(*map(paths_of, value))
    # os.path.exists refuses no text.
    return {Path(value)} if isinstance(value, str) and os.path.exists(value) else set()  # noqa: PTH110


def augmenter_of(config: Config) -> Augmenter | None:
    """The augmenter of the training corpus of a config; None for none."""
    from spacy.util import registry

    block = config.interpolate().get("corpora", {}).get("train", {}).get("augmenter")
    found: Augmenter | None = registry.resolve({"augmenter": block})["augmenter"]
    return found


def check_names(config: dict[str, Any]) -> None:
    """Raise ValueError for settings that there are not: misspelled ones would do nothing."""
    from spacy.schemas import ConfigSchemaNlp, ConfigSchemaTraining

    for block, schema in (("nlp", ConfigSchemaNlp), ("training", ConfigSchemaTraining)):
        if unknown := sorted(set(config[block]) - set(schema.model_fields)):
            raise ValueError(f"there is no setting {block}.{unknown[0]}")


def frozen(training: dict[str, Any]) -> list[str]:
    """The pipes that a config does not train."""
    return list(training.get("frozen_components") or [])
