"""The smallest estimator: tags words by themselves, in Python, with all that comes from data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainedRows, TrainingRows
from spacy_structreg.learn.setting_fields import check_strings, from_settings, setting
from spacy_structreg.metrics.figures import Scores
from spacy_structreg.metrics.tagging import score_tagging
from spacy_structreg.models.decoders import DecoderPool
from spacy_structreg.models.estimator import Estimator
from spacy_structreg.models.gold import TaggedSchema, TaggedWords
from spacy_structreg.models.model_spec import Labels, ModelSpec, StoredSpec
from spacy_structreg.models.settings import PerceptronSettings


def key_of(word: str) -> int:
    return int.from_bytes(word.encode("utf-8")[:8], "little")


@dataclass
class Tokens:
    """A compiled sentence: the row of each word and its tag's number."""

    numbering: object
    n_rows_known: int
    rows: list[int]
    tags: list[int]

    def __len__(self) -> int:
        return len(self.rows)


class ToyTrainer:
    """The perceptron, one word after the other."""

    def __init__(self, learner: Perceptron) -> None:
        self.learner = learner

    def epoch(self, examples: Sequence[Tokens], pieces: np.ndarray, noise: int) -> tuple[int, int]:
        table = self.learner.tables[0]
        n_wrong = n_wrong_tags = 0
        for number, begin, count in pieces.tolist():
            example = examples[number]
            time = self.learner.clock + 1
            changes = []
            for i in range(begin, begin + count):
                row, gold = example.rows[i], example.tags[i]
                found = int(table.weights(row, time - 1).argmax())
                if found != gold:
                    changes += [(row, gold, 1.0), (row, found, -1.0)]
            self.learner.clock = time
            if changes:
                table.add(changes, time)
            n_wrong += bool(changes)
            n_wrong_tags += len(changes) // 2
        return n_wrong, n_wrong_tags

    def count(self, examples: Sequence[Tokens]) -> list[np.ndarray]:
        rows = [row for example in examples for row in example.rows]
        return [np.bincount(rows, minlength=self.learner.n_rows())]


class ToyDecoder:
    """Gives a word the tag of the highest weight, among those that it was seen with."""

    capacity = 0

    def __init__(self, spec: ToySpec, tables: list[TrainedRows]) -> None:
        (self._table,) = tables
        self._spec = spec

    def tag(self, words: Sequence[str]) -> list[str]:
        labels = self._spec.labels
        tags = []
        for word in words:
            weights = self._table.weights(key_of(word))
            seen = self._spec.seen.get(word, range(len(labels)))
            tags.append(labels[max(seen, key=lambda y: (weights[y], -y))])
        return tags


class ToySpec(TaggedSchema, ModelSpec[Any, ToyDecoder]):
    """Tags, and a dictionary: the numbers of the tags that each word was seen with."""

    labels: tuple[str, ...] = ()
    widths: tuple[int, ...] = ()

    def __init__(self, labels: Iterable[str], seen: dict[str, list[int]]) -> None:
        self.labels = tuple(labels)
        self.widths = (len(self.labels),)
        self.seen = seen

    @classmethod
    def of_corpus(
        cls, settings: ToySettings, examples: Iterable[TaggedWords], extra: Labels
    ) -> ToySpec:
        pairs = {pair for example in examples for pair in example}
        labels = sorted({tag for _, tag in pairs})
        seen: dict[str, list[int]] = {}
        for word, tag in sorted(pairs):
            seen.setdefault(word, []).append(labels.index(tag))
        return ToySpec(labels, seen)

    @classmethod
    def of_file(cls, settings: ToySettings, stored: StoredSpec) -> ToySpec:
        words = check_strings("words", stored.entries["dictionary"])
        tags, ends = (
            stored.arrays["dictionary.tags"].tolist(),
            stored.arrays["dictionary.ends"].tolist(),
        )
        begins = [0, *ends]
        seen = {word: tags[begins[i] : ends[i]] for i, word in enumerate(words)}
        return ToySpec(check_strings("labels", stored.labels), seen)

    def new_learner(self, learning: Learning) -> Perceptron:
        return Perceptron([TrainingRows(len(self.labels))], learning)

    def new_trainer(self, learner: Perceptron) -> ToyTrainer:
        return ToyTrainer(learner)

    def new_decoder(self, tables: list[TrainedRows]) -> ToyDecoder:
        return ToyDecoder(self, tables)

    def compile(self, example: TaggedWords, learner: Perceptron) -> Tokens | None:
        if not example:
            return None
        unknown = {tag for _, tag in example} - set(self.labels)
        if unknown:
            raise ValueError(f"the tags {sorted(unknown)} were not seen in training")
        rows = [learner.tables[0].row(key_of(word)) for word, _ in example]
        tags = [self.labels.index(tag) for _, tag in example]
        return Tokens(learner.numbering, learner.n_rows(), rows, tags)

    def contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        words = sorted(self.seen)
        ends = np.cumsum([len(self.seen[word]) for word in words], dtype=np.int64)
        tags = np.array([y for word in words for y in self.seen[word]], dtype=np.uint16)
        return {"dictionary": words}, {"dictionary.ends": ends, "dictionary.tags": tags}


class ToySettings(PerceptronSettings):
    lower: bool = setting(False, "Whether the case of letters is overlooked.")
    epochs: int = 3


class ToyTagger(Estimator[TaggedWords, ToyDecoder]):
    """Tags words."""

    KIND = "toy_tagger"
    NOUN = "tagger"
    SPEC = ToySpec
    PRIMARY = "tag_acc"
    MUST_AGREE = ("labels", "lower")
    SETTINGS = ToySettings

    @from_settings(ToySettings)
    def __init__(self, settings: ToySettings) -> None:
        super().__init__(settings)

    def predict(self, words: Sequence[str]) -> list[str]:
        return next(self.predict_stream([words]))

    def predict_stream(
        self, sentences: Iterable[Sequence[str]], *, n_threads: int = 1
    ) -> Iterator[list[str]]:
        return self._tags(sentences, self._decoders(), n_threads)

    def _tags(
        self,
        sentences: Iterable[Sequence[str]],
        decoders: DecoderPool[ToyDecoder],
        n_threads: int,
    ) -> Iterator[list[str]]:
        def decode(decoder: ToyDecoder, portion: list[Sequence[str]]) -> list[list[str]]:
            return [decoder.tag([self._view(word) for word in words]) for words in portion]

        return decoders.stream(
            sentences, decode, size=lambda words: sum(map(len, words)), n_threads=n_threads
        )

    def _view(self, word: str) -> str:
        return word.lower() if self.settings.lower else word

    def _examples(self, sentence: TaggedWords) -> Sequence[TaggedWords]:
        return [[(self._view(word), tag) for word, tag in self.SPEC.squeezed(sentence)]]

    def _score(
        self,
        gold: list[TaggedWords],
        decoders: DecoderPool[ToyDecoder],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> Scores:
        squeezed = [self.SPEC.squeezed(sentence) for sentence in gold]
        words = [[word for word, _ in sentence] for sentence in squeezed]
        return score_tagging(squeezed, self._tags(words, decoders, n_threads), vocabulary)
