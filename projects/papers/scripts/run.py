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
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import spacy
import srsly  # type: ignore[import-untyped]
from corpora import Corpus, merged
from grid import Grid, Key, Results, System, config_of
from spacy.language import Language
from studies.runs import as_time, missing_corpora
from times import Times

from spacy_structreg.cli.fit import best_epochs
from spacy_structreg.cli.training import Training as Trained
from spacy_structreg.cli.training import load_training
from spacy_structreg.metrics.figures import Counts
from spacy_structreg.pipeline.documents import gold_words
from spacy_structreg.pipeline.evaluation import Evaluation, annotated_by, evaluate_docs
from spacy_structreg.pipeline.gold_docs import read_docbin
from spacy_structreg.pipeline.task import Given, ScoreSettings

# Else looked for anew at every Doc that is read, which takes most of the time of short runs.
DECODERS: Final = srsly.msgpack_decoders.get_all()
srsly.msgpack_decoders.get_all = lambda: DECODERS


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
    """A trained model in its pipeline, the CPU time in seconds, and the best epochs.

    after: as of `Result`.
    """

    training: Trained
    seconds: float
    epochs: list[int]
    after: dict[str, list[float | None]] = field(default_factory=dict)


class Group:
    """Models of one system that are trained one by one, so that averages of the first are had.

    training, gold, held_out: of `Training.prepared`.
    """

    def __init__(self, training: Trained, gold: list[Any], held_out: list[Any]) -> None:
        self._training, self._gold, self._held_out = training, gold, held_out
        self._model = training.model
        self._seed = self._model.seed
        self._members: list[Model] = []
        self._best: list[Any] = []

    def average(self, n_models: int, mean: str) -> Model:
        """The mean of the first models, in the pipeline that all averages of the group share."""
        while len(self._best) < n_models:
            self._model.seed = self._seed + len(self._best)
            better: list[Any] = []
            began = time.process_time()
            self._model.fit(self._gold, self._held_out, n_threads=1, on_better=better.append)
            seconds = time.process_time() - began
            epochs = [report.epoch for report in best_epochs(self._model.history)]
            self._members.append(Model(self._training, seconds, epochs))
            self._best.append(better[-1])
        first = self._members[:n_models]
        self._training.part.estimator = type(self._model).average(self._best[:n_models], mean)
        return Model(
            self._training,
            sum(each.seconds for each in first),
            [epoch for each in first for epoch in each.epochs],
        )


@dataclass(frozen=True)
class Training:
    """The run of one system on one corpus, with one seed and fold.

    configs: the texts of the configs of the system and of those before it, by their names. commit:
    of the code. curve, counted: whether figures after each epoch are kept, and the counts of each
    sentence.
    """

    key: Key
    system: System
    configs: Mapping[str, str]
    commit: str
    curve: bool
    counted: bool

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
        self,
        corpus: Corpus,
        models: dict[str, Model] | None = None,
        groups: dict[str, Group] | None = None,
    ) -> Iterator[tuple[Key, dict[str, Any]]]:
        """Train and score.

        models, groups: by `System.model` and `System.members`, those that there are; get the
        others.
        """
        models = {} if models is None else models
        groups = {} if groups is None else groups
        with TemporaryDirectory() as name:
            folder = Path(name)
            parts = corpus.parts(self.key.seed, self.key.fold)
            if self.system.learns_dev:
                parts = {**parts, "train": merged(parts["train"], parts["dev"])}
            for part, content in parts.items():
                (folder / f"{part}.spacy").write_bytes(content)
            for system in self.systems:
                if system.of:
                    if system.members not in groups:
                        groups[system.members] = Group(*self.prepared(system, folder))
                    group = groups[system.members]
                    models[system.model] = group.average(system.models, system.mean)
                elif system.model not in models:
                    models[system.model] = self.trained(system, folder, refit=corpus.refit)
            made = [models[system.model] for system in self.systems]
            nlp = joined([each.training for each in made])
            scored = {
                part: read_docbin(folder / f"{part}.spacy", nlp.vocab) for part in corpus.scored
            }
            learnt = read_docbin(folder / "train.spacy", nlp.vocab)
            # Figures of a development set that models have learned from say nothing.
            is_learned = corpus.refit or self.system.learns_dev
            held_out = [] if is_learned else read_docbin(folder / "dev.spacy", nlp.vocab)
        settings = ScoreSettings(
            Given(self.system.given != "text", self.system.given == "words,tags"),
            frozenset(word for doc in learnt for word in gold_words(doc)),
            punctuation=corpus.punctuation,
        )
        figures: dict[str, float | None] = {}
        sentences: dict[str, str] = {}
        decoding = 0.0
        last = made[-1].training
        for part, docs in scored.items():
            model = last.model
            if self.system.raw:
                together = self.system.raw == "together"
                model = model.adapt((doc.text for doc in docs), together=together)
            with last.holding(model):
                scores = evaluate_docs(nlp, docs, settings, by_doc=self.counted)
                # The second time, so that spaCy knows the words.
                began = time.process_time()
                annotated_by(nlp, docs, settings.given)
                decoding += time.process_time() - began
                named = "" if part == "test" else f"{part}_"
                found = {**scores.figures, **figures_by_kind(scores, corpus.kinds)}
                for length in self.system.lengths:
                    if short := [doc for doc in docs if len(gold_words(doc)) <= length]:
                        of_short = evaluate_docs(nlp, short, settings).figures
                        found |= {f"{name}_{length}": value for name, value in of_short.items()}
            figures |= {named + name: value for name, value in rounded(found).items()}
            sentences |= {named + name: packed(each) for name, each in scores.sentences.items()}
        yield (
            self.key,
            {
                "figures": rounded(figures),
                "sentences": sentences,
                "epochs": made[-1].epochs,
                "training_seconds": round(sum(each.seconds for each in made), 3),
                "decoding_seconds": round(decoding, 4),
                "config": self.config,
                "commit": self.commit,
                "dev": rounded(evaluate_docs(nlp, held_out, settings).figures) if held_out else {},
                "after": made[-1].after,
                "n_sentences": sum(map(len, scored.values())),
            },
        )

    def prepared(self, system: System, folder: Path) -> tuple[Trained, list[Any], list[Any]]:
        """The model of a system before it is trained; training and development sentences."""
        train, dev, config = (folder / name for name in ("train.spacy", "dev.spacy", "config.cfg"))
        config.write_text(self.configs[system.config], encoding="utf-8")
        # Averages of different seeds have no model in common.
        seed = self.key.seed * system.group
        training = load_training(config, {**system.changed, "training.seed": seed})
        training.initialize(train)
        gold, held_out = training.sentences(train), training.sentences(dev, "dev")
        training.apply_settings()
        training.model.patience = None
        return training, gold, held_out

    def trained(self, system: System, folder: Path, *, refit: bool) -> Model:
        """Train the model of a system."""
        training, gold, held_out = self.prepared(system, folder)
        model = training.model
        model.n_models, model.mean = system.models, system.mean
        further = {}
        if system.unlabeled:
            further["unlabeled"] = training.unlabeled(folder / f"{system.unlabeled}.spacy")
        seconds: list[float] = []
        began = time.process_time()
        model.fit(
            gold,
            held_out if system.chooses_epoch else None,
            n_threads=1,
            on_epoch=lambda _: seconds.append(round(time.process_time() - began, 3)),
            **further,
        )
        if not system.chooses_epoch:
            last = {report.model: report.epoch for report in model.history}
            return Model(training, time.process_time() - began, [*last.values()])
        epochs = [report.epoch for report in best_epochs(model.history)]
        after: dict[str, list[float | None]] = {}
        if self.curve:
            scores = [rounded(report.dev.as_dict()) for report in model.history]
            after = {name: [each[name] for each in scores] for name in scores[0]}
            after["seconds"] = [*seconds]
        if refit:
            model.epochs = round(sum(epochs) / len(epochs))
            gold += training.sentences(folder / "dev.spacy")
            model.fit(gold, n_threads=1, **further)
        return Model(training, time.process_time() - began, epochs, after)


def figures_by_kind(scores: Evaluation, kinds: Sequence[str]) -> dict[str, float | None]:
    """The figures of each label, as `ents_f PER`; None for those that a test set does not have."""
    return {
        f"{name.partition('_')[0]}_{letter} {kind}": value
        for name, by_label in scores.per_type.items()
        for kind in kinds
        for letter, value in (by_label.get(kind) or dict.fromkeys("prf")).items()
    }


@dataclass(frozen=True)
class Together:
    """Runs that have models in common, each of which is trained once."""

    runs: tuple[Training, ...]

    @property
    def corpus(self) -> str:
        return self.runs[0].corpus

    def __str__(self) -> str:
        first, *others = map(str, self.runs)
        return (
            f"{first}; and {len(others)} more" if len(others) > 3 else "; ".join([first, *others])
        )

    def run(self, corpus: Corpus) -> Iterator[tuple[Key, dict[str, Any]]]:
        """Train and score."""
        models: dict[str, Model] = {}
        groups: dict[str, Group] = {}
        for each in self.runs:
            yield from each.run(corpus, models, groups)


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


def rounded(figures: Mapping[str, float | None]) -> dict[str, float | None]:
    """Figures with as many digits as are kept."""
    return {name: None if value is None else round(value, 6) for name, value in figures.items()}


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
    runs = grid.runs()
    wanted = {key.corpus for key in runs}
    absent = {name: why for name, why in missing_corpora(grid).items() if name in wanted}
    for name, reason in absent.items():
        print(f"left out: {name}, {reason}", file=sys.stderr)
    found: list[Training] = []
    stale: set[Key] = set()
    current, counted = commit(), grid.in_tables()
    curves, on_dev = grid.shown_on("epoch"), grid.shown_on("dev")
    for key, system in runs.items():
        names = [each.config for each in (*system.before, system)]
        texts = {name: config_of(name).read_text(encoding="utf-8") for name in names}
        kind = Training
        if "signals" in grid.corpora[key.corpus]:
            from activities import Recognition

            kind = Recognition
        training = kind(key, system, texts, current, key in curves, key in counted)
        is_stale = key in results and results[key].config != training.config
        lacks = key in results and (
            (key in curves and not results[key].after)
            or (key in on_dev and not results[key].dev)
            or (key in counted and not results[key].sentences)
        )
        if (is_stale or lacks) and results.anew and key.corpus not in absent:
            stale.add(key)
        elif is_stale:
            configs = " or ".join(config_of(name).as_posix() for name in dict.fromkeys(names))
            raise ValueError(
                f"{results.path}: has results of another version of {configs}; --anew yes removes "
                "them, and makes them again"
            )
        elif lacks:
            raise ValueError(
                f"{results.path}: the result of {training} on {key.corpus} lacks what the grid "
                "asks for, figures of the development set or counts of sentences; --anew yes "
                "removes it, and makes it again"
            )
        if (key not in results or key in stale) and key.corpus not in absent:
            found.append(training)
    if stale:
        results.drop(stale)
    # Seed by seed, so that the times of all systems are measured under the same load.
    order = list(grid.corpora)
    found.sort(key=lambda each: (order.index(each.corpus), each.key.seed))
    return together(found)


def together(runs: Sequence[Training]) -> list[Together]:
    """Groups of runs that have models in common, directly or by others."""
    groups: list[tuple[set[tuple[Any, ...]], list[Training]]] = []
    for run in runs:
        key = run.key
        names = [name for each in run.systems for name in (each.model, each.members) if name]
        models = {(key.corpus, key.seed, key.fold, name) for name in names}
        members = [run]
        for group in [each for each in groups if each[0] & models][::-1]:
            groups.remove(group)
            models, members = group[0] | models, group[1] + members
        groups.append((models, members))
    return [Together(tuple(members)) for _, members in groups]


def expected(grid: Grid, results: Results, missing: Sequence[Together]) -> list[float] | None:
    """The seconds that runs are expected to take, by those that are made; None without any."""
    if not len(results):
        return None
    times = Times(grid, results)
    found = []
    for task in missing:
        # Models that runs have in common are trained once: the largest group has them all.
        seconds: dict[tuple[int, int, str], float] = {}
        for run in task.runs:
            model = (run.key.seed, run.key.fold, run.system.members or run.system.model)
            seconds[model] = max(times.of(run.key), seconds.get(model, 0.0))
        found.append(sum(seconds.values()) + 0.01)
    return found


def todo(grid: Grid, results: Results) -> Iterator[str]:
    """What is missing, table by table, with the time that it takes, in lines.

    A run that several tables want counts for the first of them.
    """
    missing = tasks(grid, results)
    seconds = expected(grid, results, missing)
    known = [*(seconds or [])]
    left = {run.key: n for n, task in enumerate(missing) for run in task.runs}
    counted: set[int] = set()
    for each in grid.tables:
        wanted = [left.pop(key) for key in grid.keys_of(each) if key in left]
        if not wanted:
            continue
        new = {*wanted} - counted
        counted |= new
        took = f", about {as_time(sum(known[n] for n in new))}" if known else ""
        yield f"{each.name}: {len(wanted)} runs{took}"
    n_runs = sum(len(task.runs) for task in missing)
    took = f", about {as_time(sum(known))} of one process" if known else ""
    yield f"{grid.title}: {n_runs} of {len(grid.runs())} runs are missing{took}"
