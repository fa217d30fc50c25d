"""The runs of papers: a system is trained as `structreg fit` trains it, and scored."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import spacy
from corpora import Corpus
from grid import Grid, Key, Results, System, config_of
from spacy.language import Language
from studies.runs import missing_corpora

from spacy_structreg.cli.fit import best_epochs
from spacy_structreg.cli.training import Training as Trained
from spacy_structreg.cli.training import load_training
from spacy_structreg.pipeline.documents import gold_words
from spacy_structreg.pipeline.evaluation import evaluate_docs
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
class Model:
    """A trained model in its pipeline, the CPU time in seconds, and the best epochs."""

    training: Trained
    seconds: float
    epochs: list[int]


@dataclass(frozen=True)
class Training:
    """The run of one system on one corpus, with one seed and fold.

    configs: the texts of the configs of the system and of those before it, by their names. commit:
    of the code.
    """

    key: Key
    system: System
    configs: Mapping[str, str]
    commit: str

    @property
    def corpus(self) -> str:
        return self.key.corpus

    def __str__(self) -> str:
        key = self.key
        return f"{key.system} {key.setting}, seed {key.seed}, fold {key.fold}"

    @property
    def systems(self) -> tuple[System, ...]:
        """The systems whose models make up the pipeline, in its order."""
        return *self.system.before, self.system

    @property
    def config(self) -> str:
        """The first digits of the checksum of the configs."""
        text = "".join(self.configs[each.config] for each in self.systems)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]

    def run(
        self, corpus: Corpus, models: dict[str, Model] | None = None
    ) -> Iterator[tuple[Key, dict[str, Any]]]:
        """Train and score. models: by `System.model`, those that there are; gets the others."""
        models = {} if models is None else models
        with TemporaryDirectory() as name:
            folder = Path(name)
            for part, content in corpus.folds[self.key.fold].items():
                (folder / f"{part}.spacy").write_bytes(content)
            for system in self.systems:
                if system.model not in models:
                    models[system.model] = self.trained(system, folder, refit=corpus.refit)
            made = [models[system.model] for system in self.systems]
            nlp = joined([each.training for each in made])
            docs = read_docbin(folder / "test.spacy", nlp.vocab)
            learnt = read_docbin(folder / "train.spacy", nlp.vocab)
        settings = ScoreSettings(
            Given(self.system.given != "text", self.system.given == "words,tags"),
            frozenset(word for doc in learnt for word in gold_words(doc)),
            punctuation=corpus.punctuation,
        )
        began = time.process_time()
        figures = dict(evaluate_docs(nlp, docs, settings).figures)
        decoding = time.process_time() - began
        counted = evaluate_docs(nlp, docs, settings, by_doc=True).sentences
        for length in self.system.lengths:
            if short := [doc for doc in docs if len(gold_words(doc)) <= length]:
                found = evaluate_docs(nlp, short, settings).figures
                figures |= {f"{name}_{length}": value for name, value in found.items()}
        yield (
            self.key,
            {
                "figures": {
                    name: None if value is None else round(value, 6)
                    for name, value in figures.items()
                },
                "sentences": {name: packed(counts) for name, counts in counted.items()},
                "epochs": made[-1].epochs,
                "training_seconds": round(sum(each.seconds for each in made), 3),
                "decoding_seconds": round(decoding, 3),
                "config": self.config,
                "commit": self.commit,
            },
        )

    def trained(self, system: System, folder: Path, *, refit: bool) -> Model:
        """Train the model of a system."""
        train, dev, config = (folder / name for name in ("train.spacy", "dev.spacy", "config.cfg"))
        config.write_text(self.configs[system.config], encoding="utf-8")
        # Averages of different seeds have no model in common.
        seed = self.key.seed * system.models
        training = load_training(config, {**system.changed, "training.seed": seed})
        training.initialize(train)
        gold, held_out = training.sentences(train), training.sentences(dev, "dev")
        training.apply_settings()
        model = training.model
        model.n_models, model.mean, model.patience = system.models, system.mean, None
        began = time.process_time()
        model.fit(gold, held_out, n_threads=1)
        epochs = [report.epoch for report in best_epochs(model.history)]
        if refit:
            model.epochs = round(sum(epochs) / len(epochs))
            model.fit(gold + training.sentences(dev), n_threads=1)
        return Model(training, time.process_time() - began, epochs)


@dataclass(frozen=True)
class Together:
    """Runs that have models in common, each of which is trained once."""

    runs: tuple[Training, ...]

    @property
    def corpus(self) -> str:
        return self.runs[0].corpus

    def __str__(self) -> str:
        return "; ".join(map(str, self.runs))

    def run(self, corpus: Corpus) -> Iterator[tuple[Key, dict[str, Any]]]:
        """Train and score."""
        models: dict[str, Model] = {}
        for each in self.runs:
            yield from each.run(corpus, models)


def joined(parts: Sequence[Trained]) -> Language:
    """The pipeline of the tokenizer, if one was trained, and the pipes after it.

    Raises ValueError if a tokenizer comes after anything else.
    """
    first, *others = parts
    if not others:
        return first.nlp
    nlp = spacy.blank(first.nlp.lang, vocab=first.nlp.vocab)
    for part in parts:
        if not part.is_tokenizer:
            nlp.add_pipe(part.name, source=part.nlp)
        elif part is first:
            nlp.tokenizer = part.part
        else:
            raise ValueError("a tokenizer can only be the first of the systems of a pipeline")
    return nlp


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


def tasks(grid: Grid, results: Results) -> list[Together]:
    """What is missing, but for corpora that are not there and need not be, corpus by corpus.

    Raises ValueError if there are results of another version of a config.
    """
    absent = missing_corpora(grid)
    for name, reason in absent.items():
        print(f"left out: {name}, {reason}", file=sys.stderr)
    found: list[Training] = []
    current = commit()
    for key, system in grid.runs().items():
        names = [each.config for each in (*system.before, system)]
        texts = {name: config_of(name).read_text(encoding="utf-8") for name in names}
        training = Training(key, system, texts, current)
        if key in results and results[key].config != training.config:
            configs = " or ".join(config_of(name).as_posix() for name in dict.fromkeys(names))
            raise ValueError(
                f"{results.path}: has results of another version of {configs}; remove the lines "
                f'with "system":"{system.config}" to run them anew'
            )
        if key not in results and key.corpus not in absent:
            found.append(training)
    return together(found)


def together(runs: Sequence[Training]) -> list[Together]:
    """Groups of runs that have models in common, directly or by others."""
    groups: list[tuple[set[tuple[Any, ...]], list[Training]]] = []
    for run in runs:
        key = run.key
        models = {(key.corpus, key.seed, key.fold, each.model) for each in run.systems}
        members = [run]
        for group in [each for each in groups if each[0] & models][::-1]:
            groups.remove(group)
            models, members = group[0] | models, group[1] + members
        groups.append((models, members))
    return [Together(tuple(members)) for _, members in groups]
