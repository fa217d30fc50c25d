"""Character-based joint segmentation and tagging: a chain of labels such as B-NN."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.estimators.base import Estimator
from spacy_structreg.estimators.character_segmenter import character_templates
from spacy_structreg.estimators.gold import TaggedWords
from spacy_structreg.estimators.settings import choose, strings, whole
from spacy_structreg.estimators.structure import Structure
from spacy_structreg.estimators.texts import BaseJointTagger, Sentences, checked_sentences
from spacy_structreg.features.shapes import compile_shapes
from spacy_structreg.learn.averaging import Mean
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.model_file import Arrays
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.learn.settings import AnyLearning, Learning, LogLinear
from spacy_structreg.tasks.bmes import SCHEMES, JointScheme, with_tags
from spacy_structreg.tasks.chain import ChainDecoder, ChainFeatures, CompiledChain
from spacy_structreg.tasks.characters import CharacterAtoms, CharacterDecoder
from spacy_structreg.tasks.guide import ChainGuide
from spacy_structreg.training.chain import ChainTrainer
from spacy_structreg.training.chains import new_chain_trainer
from spacy_structreg.training.log_linear import LogLinearTrainer

DEFAULT_LEARNING: Final = Learning(update="pa_i", aggressiveness=0.1, mini_sample=5.0)
"""How one model is trained, chosen on the development set of UD Chinese."""

DEFAULT_LEARNING_OF_MANY: Final = Learning(mini_sample=5.0)
"""How several models are trained that are to be averaged: as in `character_segmenter`."""


class CharacterJointTagger(BaseJointTagger[CharacterDecoder]):
    """Finds words and their tags by labelling characters (Ng & Low 2004, section 3.2).

    A label says where in its word a character stands and which tag the word has; tags are those of
    the training corpus.

    templates, types, half_width, skip_bigram, labels, sentences: as for `CharacterSegmenter`.
    prune: in prediction, let a character that occurs at least so often in the training corpus, ≥ 1,
        have only labels that it has there; None for no such lists. Rare characters should stay
        free, and training always is: there, the lists would never be wrong.
    learning: how weights are learnt and regularised; None for `DEFAULT_LEARNING`, or, if several
        models are averaged, for `DEFAULT_LEARNING_OF_MANY`.
    epochs, patience, n_models, mean, seed: as for `CharacterSegmenter`, by the joint F.

    Gold sentences are lists of (word, tag) pairs. Raises ValueError for settings that do not exist
    or contradict each other.
    """

    TASK = "character_joint_tagger"
    LEARNS = (Learning, LogLinear)
    MUST_AGREE = ("templates", "labels", "types", "half_width", "sentences")
    SETTINGS: ClassVar = {
        "templates": (list,),
        "types": (str, type(None)),
        "half_width": (bool,),
        "sentences": (str,),
        "labels": (str,),
        "prune": (int, type(None)),
        **Estimator.SETTINGS,
    }

    def __init__(
        self,
        *,
        templates: str | Sequence[str] = "zhang2014",
        types: str | None = "extended",
        half_width: bool = True,
        skip_bigram: bool = False,
        sentences: Sentences = "punctuation",
        labels: str = "bmes",
        prune: int | None = None,
        learning: AnyLearning | None = None,
        epochs: int = 12,
        patience: int | None = None,
        n_models: int = 1,
        mean: Mean = "nonzero",
        seed: int | None = 0,
    ) -> None:
        choose("labels", labels, SCHEMES)
        self.sentences = checked_sentences(sentences)
        self.scheme = labels
        self.prune = None if prune is None else whole("prune", prune, 1)
        self._atoms = CharacterAtoms(types, half_width)
        parsed = character_templates(templates, self._atoms, skip_bigram)
        self.templates = tuple(map(str, parsed))
        self._shapes = compile_shapes(parsed)
        if learning is None:
            learning = DEFAULT_LEARNING if n_models == 1 else DEFAULT_LEARNING_OF_MANY
        super().__init__(
            learning=learning,
            epochs=epochs,
            patience=patience,
            n_models=n_models,
            mean=mean,
            seed=seed,
        )

    @property
    def types(self) -> str | None:
        """The alphabet of character types, if any."""
        return self._atoms.types

    @property
    def half_width(self) -> bool:
        """Whether full-width forms look like half-width ones to the model."""
        return self._atoms.half_width

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of words, sorted; none as long as they are to be learnt from data."""
        return self._structure.scheme.tags if isinstance(self._structure, JointChain) else ()

    # Hooks of the base classes -------------------------------------------------------------------

    def _structure_of(self, examples: Iterable[TaggedWords]) -> JointChain:
        listed = list(examples)
        tags = {tag for example in listed for _, tag in example}
        structure = self._structure_for(tags)
        if self.prune is None:
            return structure
        return self._structure_for(tags, _label_lists(structure, listed, self.prune))

    def _structure_for(self, tags: Iterable[str], lists: Lists | None = None) -> JointChain:
        scheme = with_tags(SCHEMES[self.scheme](), tags)
        features = ChainFeatures(self._shapes, self._atoms.atoms, len(scheme.labels))
        return JointChain(self._atoms, scheme, features, lists)

    def _restored_structure(
        self, labels: list[Any], entries: dict[str, Any], arrays: Arrays
    ) -> JointChain:
        tags = [label.partition("-")[2] for label in strings("labels", labels)]
        if not {"lists.characters", "lists.labels"} <= arrays.keys():
            return self._structure_for(tags)
        return self._structure_for(tags, Lists.unpacked(arrays, len(labels)))

    def _settings(self) -> dict[str, Any]:
        return {
            "templates": list(self.templates),
            "types": self.types,
            "half_width": self.half_width,
            "sentences": self.sentences,
            "labels": self.scheme,
            "prune": self.prune,
            **super()._settings(),
        }


@dataclass(frozen=True)
class Lists:
    """Which labels characters may have.

    characters: their code points as the model sees them, rising: uint32 of shape (n,).
    allowed: bool of shape (n, n_labels).
    """

    characters: NDArray[np.uint32]
    allowed: NDArray[np.bool_]

    def packed(self) -> Arrays:
        """The arrays of a model file: 64 labels in a number, the first in its lowest bit."""
        n_words = -(-self.allowed.shape[1] // 64)
        filled = np.zeros((len(self.characters), 64 * n_words), dtype=bool)
        filled[:, : self.allowed.shape[1]] = self.allowed
        words = np.packbits(filled, axis=1, bitorder="little").view("<u8").astype(np.uint64)
        return {"lists.characters": self.characters.astype(np.uint64), "lists.labels": words}

    @classmethod
    def unpacked(cls, arrays: Arrays, n_labels: int) -> Lists:
        """The lists that `packed` gave. Raises ValueError for anything else."""
        characters, words = arrays["lists.characters"], arrays["lists.labels"]
        if (
            characters.dtype != np.uint64
            or characters.ndim != 1
            or words.dtype != np.uint64
            or words.shape != (len(characters), -(-n_labels // 64))
            or (characters > 0x10FFFF).any()
            or (characters[1:] <= characters[:-1]).any()
        ):
            raise ValueError("its lists of labels do not fit its labels")
        packed = np.ascontiguousarray(words.astype("<u8")).view(np.uint8)
        allowed = np.unpackbits(packed, axis=1, count=n_labels, bitorder="little")
        return cls(characters.astype(np.uint32), allowed.astype(bool))


@dataclass(frozen=True)
class JointChain(Structure[TaggedWords, CharacterDecoder]):
    """Labels with tags, features of characters, and lists of labels, if there are any."""

    atoms: CharacterAtoms
    scheme: JointScheme
    features: ChainFeatures
    lists: Lists | None

    @property
    def labels(self) -> tuple[str, ...]:
        return self.scheme.labels

    @property
    def widths(self) -> tuple[int, ...]:
        return self.features.widths

    def new_learner(self, learning: AnyLearning) -> Learner:
        return self.features.new_learner(learning)

    def new_trainer(self, learner: Learner) -> ChainTrainer | LogLinearTrainer:
        return new_chain_trainer(self.features, self.scheme.graph, learner)

    def new_decoder(self, tables: list[TrainedRows]) -> CharacterDecoder:
        lists = None if self.lists is None else (self.lists.characters, self.lists.allowed)
        return CharacterDecoder(
            self.atoms,
            ChainDecoder(self.features, self.scheme.graph, tables),
            self.scheme.begins,
            tags=self.scheme.tags,
            label_tags=self.scheme.tag_of,
            lists=lists,
        )

    def new_guide(
        self, tables: list[TrainedRows], tags: Sequence[str] = (), **settings: Any
    ) -> ChainGuide:
        """A guide of word-based search (`tasks.guide`), which also takes the settings.

        tags: of the words, in the order of their numbers. Raises ValueError if they are not those
        of the labels, or the labels are not BMES.
        """
        if tuple(tags) != self.scheme.tags or len(self.labels) != 4 * len(tags):
            raise ValueError("a guide of words with tags needs the labels 'bmes', and these tags")
        number = {label: i for i, label in enumerate(self.labels)}
        labels = [[number[f"{place}-{tag}"] for place in "BMES"] for tag in tags]
        return ChainGuide(self.new_decoder(tables), labels, **settings)

    def compile(self, example: TaggedWords, learner: Learner) -> CompiledChain | None:
        words = [word for word, _ in example]
        tags = [tag for _, tag in example]
        return self.atoms.compile(words, self.scheme, self.features, learner, tags)

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        return {}, {} if self.lists is None else self.lists.packed()


def _label_lists(structure: JointChain, examples: Iterable[TaggedWords], least: int) -> Lists:
    """The labels with which each character occurs that occurs at least `least` times."""
    counts: Counter[int] = Counter()
    seen: defaultdict[int, set[int]] = defaultdict(set)
    for example in examples:
        text = "".join(word for word, _ in example)
        labels = structure.scheme.encode(
            [len(word) for word, _ in example], [tag for _, tag in example]
        )
        characters = structure.atoms.symbols(text, 0)[0].tolist()
        counts.update(characters)
        for character, label in zip(characters, labels.tolist(), strict=True):
            seen[character].add(label)
    listed = sorted(character for character, count in counts.items() if count >= least)
    allowed = np.zeros((len(listed), len(structure.labels)), dtype=bool)
    for row, character in enumerate(listed):
        allowed[row, list(seen[character])] = True
    return Lists(np.array(listed, dtype=np.uint32), allowed)
