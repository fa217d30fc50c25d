"""The runs of papers: a system is trained as `structreg fit` trains it, and scored."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from corpora import Corpus
from grid import Grid, Key, Results, System, config_of
from studies.runs import missing_corpora

from spacy_structreg.cli.fit import best_epochs
from spacy_structreg.cli.training import Training as Trained
from spacy_structreg.cli.training import load_training
from spacy_structreg.pipeline.documents import gold_words
from spacy_structreg.pipeline.evaluation import Evaluation, evaluate_docs
from spacy_structreg.pipeline.gold_docs import read_docbin
from spacy_structreg.pipeline.task import Counts, Given, ScoreSettings


def packed(counts: Sequence[Counts]) -> str:
    """The counts of sentences as a short text: gold, predicted and correct ones of each."""
    numbers = np.array(counts, dtype="<u4").T
    return base64.b64encode(zlib.compress(numbers.tobytes(), 9)).decode("ascii")


def unpacked(text: str) -> Any:
    """The counts of sentences that `packed` wrote: an array of (sentences, 3)."""
    numbers = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<u4")
    return numbers.reshape(3, -1).T.astype(int)


@dataclass(frozen=True)
class Training:
    """The training of one system on one corpus, with one seed and fold.

    config: the text of the config. commit: of the code.
    """

    key: Key
    system: System
    config: str
    commit: str

    @property
    def corpus(self) -> str:
        return self.key.corpus

    def __str__(self) -> str:
        key = self.key
        return f"{key.system} {key.setting}, seed {key.seed}, fold {key.fold}"

    def run(self, corpus: Corpus) -> Iterator[tuple[Key, dict[str, Any]]]:
        """Train and score."""
        with TemporaryDirectory() as name:
            folder = Path(name)
            for part, content in corpus.parts(self.key.seed, self.key.fold).items():
                (folder / f"{part}.spacy").write_bytes(content)
            config = folder / "config.cfg"
            config.write_text(self.config, encoding="utf-8")
            # Averages of different seeds have no model in common.
            seed = self.key.seed * self.system.models
            training = load_training(config, {**self.system.changed, "training.seed": seed})
            seconds, epochs = self.trained(training, folder, refit=corpus.refit)
            vocab = training.nlp.vocab
            scored = {part: read_docbin(folder / f"{part}.spacy", vocab) for part in corpus.scored}
            learnt = read_docbin(folder / "train.spacy", training.nlp.vocab)
        settings = ScoreSettings(
            Given(self.system.given != "text", self.system.given == "words,tags"),
            frozenset(word for doc in learnt for word in gold_words(doc)),
        )
        figures: dict[str, float | None] = {}
        sentences: dict[str, str] = {}
        decoding = 0.0
        for part, docs in scored.items():
            began = time.process_time()
            scores = evaluate_docs(training.nlp, docs, settings)
            decoding += time.process_time() - began
            counted = evaluate_docs(training.nlp, docs, settings, by_doc=True).sentences
            named = "" if part == "test" else f"{part}_"
            for name, value in [*scores.figures.items(), *of_kinds(scores, corpus.kinds)]:
                figures[named + name] = None if value is None else round(value, 6)
            sentences |= {named + name: packed(counts) for name, counts in counted.items()}
        yield (
            self.key,
            {
                "figures": figures,
                "sentences": sentences,
                "epochs": epochs,
                "training_seconds": round(seconds, 3),
                "decoding_seconds": round(decoding, 3),
                "config": digest(self.config),
                "commit": self.commit,
            },
        )

    def trained(self, training: Trained, folder: Path, *, refit: bool) -> tuple[float, list[int]]:
        """Train the model; its CPU time in seconds, and the best epochs."""
        train, dev = folder / "train.spacy", folder / "dev.spacy"
        training.initialize(train)
        gold, held_out = training.sentences(train), training.sentences(dev, "dev")
        training.apply_settings()
        model = training.model
        model.n_models, model.mean, model.patience = self.system.models, self.system.mean, None
        further = {}
        if self.system.unlabeled:
            further["unlabeled"] = training.unlabeled(folder / f"{self.system.unlabeled}.spacy")
        began = time.process_time()
        if self.system.to_the_optimum:
            model.fit(gold, n_threads=1, **further)
            epochs = [*{report.model: report.epoch for report in model.history}.values()]
            return time.process_time() - began, epochs
        model.fit(gold, held_out, n_threads=1, **further)
        epochs = [report.epoch for report in best_epochs(model.history)]
        if refit:
            model.epochs = round(sum(epochs) / len(epochs))
            model.fit(gold + training.sentences(dev), n_threads=1, **further)
        return time.process_time() - began, epochs


def of_kinds(scores: Evaluation, kinds: Sequence[str]) -> Iterator[tuple[str, float | None]]:
    """The figures of labels, in the form `ents_f PER`; those that a test set has not are None."""
    for name, by_label in scores.per_type.items():
        for kind in kinds:
            for letter, value in (by_label.get(kind) or dict.fromkeys("prf")).items():
                yield f"{name.partition('_')[0]}_{letter} {kind}", value


def digest(text: str) -> str:
    """The first digits of the checksum of a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]


def commit() -> str:
    """The commit that the code is of, with + if it was changed since; "" outside a repository."""
    git = shutil.which("git")
    code = ["scripts", "systems", "../studies", "../../spacy_structreg"]
    if git is None:
        return ""
    done = subprocess.run(
        [git, "rev-parse", "--short=12", "HEAD"], capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode:
        return ""
    changed = subprocess.run([git, "diff", "--quiet", "HEAD", "--", *code], check=False)
    return done.stdout.strip() + "+" * bool(changed.returncode)


def tasks(grid: Grid, results: Results) -> list[Training]:
    """What is missing, but for corpora that are not there and need not be, corpus by corpus.

    Raises ValueError if there are results of another version of a config.
    """
    absent = missing_corpora(grid)
    for name, reason in absent.items():
        print(f"left out: {name}, {reason}", file=sys.stderr)
    found, current = [], commit()
    for key, system in grid.runs().items():
        text = config_of(system.config).read_text(encoding="utf-8")
        if key in results and results[key].config != digest(text):
            raise ValueError(
                f"{results.path}: has results of another version of {config_of(system.config)}; "
                f'remove the lines with "system":"{system.config}" to run them anew'
            )
        if key not in results and key.corpus not in absent:
            found.append(Training(key, system, text, current))
    return found
