"""Character-based joint segmentation and tagging: a chain of labels such as B-NN."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.formats.partial import PartialSentence
from spacy_structreg.features.template_compiler import compile_edges, compile_shapes
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.model_file import Arrays
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.learn.setting_fields import check_strings, from_settings, setting
from spacy_structreg.models.example_schema import TaggedGold
from spacy_structreg.models.joint.tagged_schema import tags_of
from spacy_structreg.models.knowledge import read_atoms, restored_atoms
from spacy_structreg.models.raw_text import BaseJointTagger
from spacy_structreg.models.segmentation.character_segmenter import (
    CharacterChainSpec,
    CharacterSettings,
)
from spacy_structreg.models.settings import complete
from spacy_structreg.tasks.chain import ChainDecoder, ChainFeatures, CompiledChain
from spacy_structreg.tasks.segmentation.bmes import SCHEMES, JointScheme, with_tags
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms, CharacterDecoder
from spacy_structreg.tasks.segmentation.guide import ChainGuide


@dataclass(frozen=True, kw_only=True)
class CharacterJointTaggerSettings(CharacterSettings):
    """Settings of a `CharacterJointTagger`."""

    prune: int | None = setting(
        None,
        "In prediction, characters that occur so often in training, or more, get only labels that "
        "they had there; null for any labels.",
        minimum=1,
    )


class CharacterJointTagger(BaseJointTagger[CharacterDecoder]):
    """Finds words and their tags by labeling characters (Ng & Low 2004, section 3.2).

    A label says where in its word a character stands and which tag the word has; tags are those of
    the training corpus.

    The default learning is that of a `CharacterSegmenter`, checked on the development set of UD
    Chinese. Rare characters should stay free of `prune`, and training always is: there, the lists
    of labels would never be wrong.

    Gold sentences are lists of (word, tag) pairs, or `PartialSentence`s, which `prune` does not
    look at. Raises ValueError for settings that do not exist or contradict each other.
    """

    TASK = "character_joint_tagger"
    MUST_AGREE = ("templates", "labels", "types", "half_width", "script", "sentences")
    SETTINGS = CharacterJointTaggerSettings
    settings: CharacterJointTaggerSettings

    @from_settings(CharacterJointTaggerSettings)
    def __init__(self, settings: CharacterJointTaggerSettings) -> None:
        templates = settings.parsed()
        self._shapes = compile_shapes(templates)
        self._edges = compile_edges(templates)
        super().__init__(replace(settings, templates=complete(templates)))

    @property
    def tags(self) -> tuple[str, ...]:
        return self._spec.scheme.tags if isinstance(self._spec, CharacterJointSpec) else ()

    # Hooks of the base classes -------------------------------------------------------------------

    def _character_scheme(self) -> JointScheme:
        spec: Any = self._fitted_spec()
        scheme: JointScheme = spec.scheme
        return scheme

    def _spec_of(self, examples: Iterable[TaggedGold]) -> CharacterJointSpec:
        listed = list(examples)
        atoms = read_atoms(self.settings, lambda: map(self.SCHEMA.text, listed))
        spec = self._spec_for(tags_of(listed), atoms)
        if self.settings.prune is None:
            return spec
        return replace(spec, lists=_label_lists(spec, listed, self.settings.prune))

    def _spec_for(self, tags: Iterable[str], atoms: CharacterAtoms) -> CharacterJointSpec:
        scheme = with_tags(SCHEMES[self.settings.scheme](), tags)
        n_labels = len(scheme.labels)
        features = ChainFeatures(self._shapes, atoms.atoms, n_labels, edge_shapes=self._edges)
        return CharacterJointSpec(atoms, scheme, features, None)

    def _restored_spec(
        self, labels: list[Any], entries: dict[str, Any], arrays: Arrays
    ) -> CharacterJointSpec:
        tags = [label.partition("-")[2] for label in check_strings("labels", labels)]
        spec = self._spec_for(tags, restored_atoms(self.settings, entries, arrays))
        if not {"lists.characters", "lists.labels"} <= arrays.keys():
            return spec
        return replace(spec, lists=Lists.unpacked(arrays, len(labels)))


@dataclass(frozen=True)
class Lists:
    """Labels that characters may have.

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
class CharacterJointSpec(CharacterChainSpec[TaggedGold, JointScheme]):
    """Labels with tags, features of characters, and lists of labels, if there are any."""

    lists: Lists | None

    def new_decoder(self, tables: list[TrainedRows]) -> CharacterDecoder:
        lists = None if self.lists is None else (self.lists.characters, self.lists.allowed)
        return CharacterDecoder(
            self.atoms.copy(),
            ChainDecoder(self.features, self.scheme.graph, tables),
            self.scheme.begins,
            tags=self.scheme.tags,
            label_tags=self.scheme.tag_of,
            lists=lists,
        )

    def new_guide(
        self, tables: list[TrainedRows], tags: Sequence[str] = (), **settings: Any
    ) -> ChainGuide:
        """A guide of word-based search (`tasks.segmentation.guide`), which also takes the settings.

        tags: of the words, in the order of their numbers. Raises ValueError if they are not those
        of the labels, or the labels are not BMES.
        """
        if tuple(tags) != self.scheme.tags or len(self.labels) != 4 * len(tags):
            raise ValueError("a guide of words with tags needs the scheme 'bmes', and these tags")
        number = {label: i for i, label in enumerate(self.labels)}
        labels = [[number[f"{place}-{tag}"] for place in "BMES"] for tag in tags]
        return ChainGuide(self.new_decoder(tables), labels, **settings)

    def compile(self, example: TaggedGold, learner: Learner) -> CompiledChain | None:
        if isinstance(example, PartialSentence):
            return self.atoms.compile_partial(
                example.text, example.boundaries, example.tags, self.scheme, self.features, learner
            )
        words = [word for word, _ in example]
        tags = [tag for _, tag in example]
        return self.atoms.compile(words, self.scheme, self.features, learner, tags)

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        entries, arrays = super().contents()
        return entries, arrays if self.lists is None else {**arrays, **self.lists.packed()}


def _label_lists(spec: CharacterJointSpec, examples: Iterable[TaggedGold], least: int) -> Lists:
    """The labels with which each character occurs that occurs at least `least` times."""
    counts: Counter[int] = Counter()
    seen: defaultdict[int, set[int]] = defaultdict(set)
    for example in examples:
        if isinstance(example, PartialSentence):
            continue
        text = "".join(word for word, _ in example)
        labels = spec.scheme.encode([len(word) for word, _ in example], [tag for _, tag in example])
        characters = spec.atoms.without_sources().symbols(text, 0)[0].tolist()
        counts.update(characters)
        for character, label in zip(characters, labels.tolist(), strict=True):
            seen[character].add(label)
    listed = sorted(character for character, count in counts.items() if count >= least)
    allowed = np.zeros((len(listed), len(spec.labels)), dtype=bool)
    for row, character in enumerate(listed):
        allowed[row, list(seen[character])] = True
    return Lists(np.array(listed, dtype=np.uint32), allowed)
