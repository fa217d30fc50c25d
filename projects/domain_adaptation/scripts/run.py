"""The trainings of the study."""

from __future__ import annotations

import hashlib
import json
import math
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from corpora import Corpus, Sentence
from grid import Grid, Key, Results, System

from spacy_structreg.about import __version__
from spacy_structreg.corpora.checksum import corpus_checksum
from spacy_structreg.corpora.files import replace_text
from spacy_structreg.corpora.partial_sentence import PartialSentence
from spacy_structreg.metrics.segmentation import score_segmentation
from spacy_structreg.models.segmentation import CharacterSegmenter

MODELS: Final = Path("training")
"""Models that several runs need are kept here, so that each is trained once."""


@dataclass(frozen=True)
class Trained:
    """A model, its file, if it has one, and the CPU seconds of its training."""

    model: CharacterSegmenter
    seconds: float
    path: Path | None = None


def fit(sentences: list[Any], **settings: Any) -> Trained:
    """Train a model."""
    began = time.process_time()
    model = CharacterSegmenter(**settings).fit(sentences)
    return Trained(model, time.process_time() - began)


def kept(sentences: list[Sentence], knowledge: str, **settings: Any) -> Trained:
    """Train a model, or take it from the folder of models.

    knowledge: what the files that settings name hold, for telling models apart.
    """
    words = corpus_checksum(sentences)
    plain = {name: value for name, value in settings.items() if name not in ("guides", "lexicon")}
    said = json.dumps([__version__, words, knowledge, plain], sort_keys=True)
    path = MODELS / f"{hashlib.sha256(said.encode()).hexdigest()[:16]}.srt"
    seconds = path.with_suffix(".json")
    if path.exists() and seconds.exists():
        return Trained(CharacterSegmenter.load(path), json.loads(seconds.read_text()), path)
    trained = fit(sentences, **settings)
    MODELS.mkdir(exist_ok=True)
    trained.model.save(path)
    with replace_text(seconds) as stream:
        stream.write(json.dumps(trained.seconds))
    return replace(trained, path=path)


def lines(texts: Iterable[str]) -> Iterator[str]:
    """Texts with an end of the line behind each."""
    return (text + "\n" for text in texts)


def least_certain(
    model: CharacterSegmenter, sentences: list[Sentence], share: float
) -> list[PartialSentence]:
    """Sentences in which a share of all decisions is given, those a model is least sure of."""
    pieces: list[str] = []
    ends: list[bool] = []
    margins: list[float] = []
    for words, sure in zip(sentences, model.predict_margins(map("".join, sentences)), strict=True):
        known = [last for word in words for last in [False] * (len(word) - 1) + [True]]
        for text, margin in sure:
            pieces.append(text)
            # The last character of a piece ends it, so that nothing is asked for.
            ends += known[: len(text)]
            margins += [*np.abs(margin).tolist(), math.inf]
            known = known[len(text) :]
    n_asked = round(share * sum(margin < math.inf for margin in margins))
    asked = set(sorted(range(len(margins)), key=margins.__getitem__)[:n_asked])
    found = []
    first = 0
    for text in pieces:
        places = range(first, first + len(text) - 1)
        found.append(PartialSentence(text, tuple(ends[i] if i in asked else None for i in places)))
        first += len(text)
    return found


class Systems:
    """The systems of a target with one seed."""

    def __init__(self, corpus: Corpus, epochs: Mapping[str, int], seed: int) -> None:
        self.corpus = corpus
        self.seed = seed
        self.on_source = {"epochs": epochs["source"], "seed": seed}
        self.on_target = {"epochs": epochs["target"], "seed": seed}

    def make(self, system: System, scratch: Path) -> Trained:
        """Train a system; `scratch` is a folder for files of its own."""
        if system.train == "target":
            sentences = self.corpus.drawn(system.sentences, self.seed)
            settings, seconds = self._knowledge(system)
            trained = fit(sentences, **self.on_target, **settings)
            return replace(trained, seconds=trained.seconds + seconds)
        if system == system.without_words:
            return self.adapted(system)
        settings, seconds = self._knowledge(system)
        if system.counted != "source":
            raw = scratch / "raw.txt"
            raw.write_text("".join(lines(self._raw(system))), encoding="utf-8", newline="\n")
            settings["raw_text"] = [str(raw)]
        few: list[Any] = self.corpus.drawn(system.sentences, self.seed)
        before = None
        if system.self_training or system.join == "guided" or system.given < 1:
            before = self.adapted(system.without_words)
            seconds += before.seconds
        if system.given < 1:
            assert before is not None
            few = least_certain(before.model, few, system.given)
        if system.join == "guided":
            assert before is not None
            guide = scratch / "source.srt"
            before.model.save(guide)
            settings["guides"] = [*settings.get("guides", []), str(guide)]
            trained = fit(few, **self.on_target, **settings)
            return replace(trained, seconds=trained.seconds + seconds)
        sentences = self.corpus.source.train + few
        if system.self_training:
            assert before is not None
            sentences = sentences + before.model.predict_batch(self.corpus.own.texts)
        trained = fit(sentences, **self.on_source, **settings)
        return replace(trained, seconds=trained.seconds + seconds)

    def adapted(self, system: System) -> Trained:
        """A system that sees no word of the target: trained on the source, counted anew."""
        settings, seconds = self._knowledge(system)
        # The names of guides, in the folder of models, say what they were trained on.
        files = [Path(path) for path in settings.get("guides", [])]
        files += [Path(path) for path in settings.get("lexicon", [])]
        knowledge = " ".join(f"{path.name} {path.stat().st_size}" for path in files)
        trained = kept(self.corpus.source.train, knowledge, **self.on_source, **settings)
        began = time.process_time()
        model = trained.model
        if system.counted != "source":
            together = system.counted != "target"
            model = model.adapt(lines(self._raw(system)), together=together)
        return Trained(model, trained.seconds + seconds + time.process_time() - began)

    def _raw(self, system: System) -> list[str]:
        """The raw text of the target that a system counts."""
        own = self.corpus.own
        return own.all_texts if system.counted == "all" else own.texts

    def _knowledge(self, system: System) -> tuple[dict[str, Any], float]:
        """Settings of what a system knows, and the CPU seconds that this took."""
        settings: dict[str, Any] = {}
        seconds = 0.0
        if system.statistics is not None:
            settings["statistics"] = system.statistics
        if system.lexicon:
            settings["lexicon"] = [str(self.corpus.lexicon)]
        if system.guides:
            guides = [kept(each, "", **self.on_target) for each in self.corpus.others.values()]
            settings["guides"] = [str(guide.path) for guide in guides]
            seconds = sum(guide.seconds for guide in guides)
        return settings, seconds


@dataclass(frozen=True)
class Run:
    """One system on one target."""

    key: Key
    system: System
    epochs: Mapping[str, int]

    @property
    def corpus(self) -> str:
        return self.key.corpus

    def __str__(self) -> str:
        return f"seed {self.key.seed}: {self.key.system or 'source alone'}"

    def run(self, corpus: Corpus) -> Iterator[tuple[Key, dict[str, Any]]]:
        """Train and score."""
        with tempfile.TemporaryDirectory() as scratch:
            systems = Systems(corpus, self.epochs, self.key.seed)
            trained = systems.make(self.system, Path(scratch))
            n_characters = sum(map(len, map("".join, corpus.own.test)))
            began = time.process_time()
            test = counts(trained.model, corpus.own.test, corpus)
            spent = time.process_time() - began
            yield (
                self.key,
                {
                    "dev": counts(trained.model, corpus.own.dev, corpus),
                    "test": test,
                    "sentences": len(corpus.drawn(self.system.sentences, self.key.seed)),
                    "seconds": round(trained.seconds, 2),
                    "speed": round(n_characters / max(spent, 1e-6)),
                },
            )


def counts(
    model: CharacterSegmenter, gold: list[Sentence], corpus: Corpus
) -> list[int | None] | None:
    """Gold, predicted and correct words, unseen ones and those of them that are found."""
    if not gold:
        return None
    predicted = model.predict_batch(map("".join, gold))
    found = score_segmentation(gold, predicted, corpus.vocabulary)
    return [found.gold, found.predicted, found.correct, found.oov, found.oov_correct]


def tasks(grid: Grid, results: Results) -> list[Run]:
    """What is missing."""
    return [
        Run(key, system, grid.epochs) for key, system in grid.wanted().items() if key not in results
    ]
