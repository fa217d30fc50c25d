"""`structreg search`: the settings of a config that are best on a development corpus."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.options import OverridesArgument, SchedulerOption, trained_by
from spacy_structreg.cli.outputs import number_of

if TYPE_CHECKING:
    from spacy_structreg.cli.search_space import Resource

IDENTITY: Final = "search.json"
TRIALS: Final = "trials.jsonl"
TABLE: Final = str(Path(TRIALS).with_suffix(".md"))
BEST: Final = "best.cfg"
EPOCHS: Final = "training.max_epochs"

# What configs draw without a seed of their own comes from generators of the whole process, so
# that one config at a time is read.
_reading = threading.Lock()


@dataclass(frozen=True)
class Task:
    """The data that the trials of a search share, wherever they run.

    dev: the development corpus; None for n_folds of the training corpus.
    seed: of what has none in the config. resource: what they get little of, or all, and most: how
    much of it there is.
    """

    config: Path
    train: Path
    dev: Path | None
    n_folds: int | None
    overrides: dict[str, Any]
    patience: int
    seed: int
    resource: Resource
    most: int = 0


@dataclass(frozen=True)
class Trial:
    """One training. budget: how much of the resource it gets; None for all."""

    round: int
    number: int
    budget: int | None
    settings: dict[str, Any]


def search(
    config: Annotated[Path, Arg(metavar="CONFIG", help="Config of the pipeline")],
    space: Annotated[
        Path, Arg(metavar="SPACE", help="What to try: a YAML file, as docs/search.md explains it")
    ],
    output: Annotated[
        Path,
        Arg(metavar="OUTPUT", help="Folder of the trials, their table and the best config"),
    ],
    *,
    train: Annotated[Path, Opt("--train", help="Training corpus, .spacy")],
    dev: Annotated[Path | None, Opt("--dev", help="Development corpus, .spacy")] = None,
    n_folds: Annotated[
        int | None,
        Opt(
            "--folds",
            "-k",
            min=2,
            help="Instead of --dev: cut the training corpus into so many parts, and score each by "
            "a training on the others",
        ),
    ] = None,
    patience: Annotated[
        int, Opt("--patience", min=1, help="Stop after so many epochs without a better figure")
    ] = 5,
    n_threads: Annotated[
        int, Opt("--threads", "-t", min=1, help="Trials that are trained side by side")
    ] = 2,
    scheduler: SchedulerOption = None,
    overrides: OverridesArgument = None,
    plot: Annotated[
        Path | None,
        Opt("--plot", help="Picture of the trials to write (.svg, .png or .pdf); by matplotlib"),
    ] = None,
) -> dict[str, Any]:
    """Search for the settings of a config by which its model is best on a development corpus.

    Settings are drawn at random from SPACE, and each draw is a trial: a training as by `fit`, with
    one model. By successive halving, all trials get a few epochs or a part of the corpus, and the
    best of them more. With --folds, a trial is as many trainings, and its figure their mean.
    OUTPUT/trials.jsonl has a line for each trial; after an interruption, which says how many were
    kept, the same command goes on. OUTPUT/best.cfg is the best config, for `fit`. Settings that are
    the same for all trials are changed as with `spacy train`. The trials do not depend on the
    number of threads, nor on where they run.

    Returns the line of the best trial: its settings, figure, and all else that `TRIALS` has of it;
    and the name of the figure, ``metric``. Shows a progress bar on standard error, if that is a
    terminal. Trials that joblib runs in other processes read config and corpora there.
    Raises ValueError for a space that is none, for settings that the config cannot have, before
    anything is trained, if all trials failed, for a folder that holds another search, and as
    `load_training` and `fit`; for both or none of a development corpus and folds, fewer Docs than
    folds, and an augmenter with folds; OSError if something cannot be read or written, or another
    process is searching in the folder.
    """
    from spacy.util import load_config

    from spacy_structreg.cli.pictures import check_picture
    from spacy_structreg.cli.search_report import draw_trials, table_of
    from spacy_structreg.cli.search_space import read_space, rounds_of
    from spacy_structreg.corpora.files import replace_text
    from spacy_structreg.corpora.folders import locked

    if (dev is None) == (n_folds is None):
        raise ValueError("name a development corpus, by --dev, or a number of --folds, not both")
    found = read_space(space)
    fixed = overrides or {}
    drawn = found.draw()
    tried = {name for settings in drawn for name in settings}
    if found.method == "halving" and found.resource == "epochs" and EPOCHS in tried:
        raise ValueError(
            f"{space}: halving sets {EPOCHS} itself; leave it out, or choose resource: corpus"
        )
    if twice := sorted(fixed.keys() & tried):
        raise ValueError(f"--{twice[0]} is among the settings of {space}; leave one of them out")
    if plot is not None:
        check_picture(plot, config, space, train, *([] if dev is None else [dev]))
    paths = config.absolute(), train.absolute(), None if dev is None else dev.absolute()
    task = Task(*paths, n_folds, fixed, patience, found.seed, found.resource)
    primary, most = check_settings(task, drawn, space)
    metric = found.metric or primary
    rounds = rounds_of(found, len(drawn), most)
    identity = {
        "space": asdict(found),
        "config": checksum_of(config),
        "command line": fixed,
        "training corpus": checksum_of(train),
        "development corpus": None if dev is None else checksum_of(dev),
        "folds": n_folds,
        "patience": patience,
    }
    with trained_by(scheduler), locked(output):
        trials = TrialFile(output, identity)
        try:
            last = run_rounds(trials, replace(task, most=most), drawn, rounds, metric, n_threads)
        except (KeyboardInterrupt, SystemExit):
            done = number_of(len(trials.lines), "trial")
            kept = f"{done} kept in {trials.path}; the same command goes on"
            typer.echo(f"\nInterrupted: {kept if trials.lines else 'nothing was kept'}", err=True)
            raise
        [best] = best_of(last, 1)
        if best["figure"] is None:
            raise ValueError(f"all trials failed; one of them: {best['error']}")
        text = table_of(trials.lines, metric, [budget for _, budget in rounds])
        typer.echo(text)
        with replace_text(output / TABLE) as stream:
            stream.write(text)
        settings = {**fixed, **best["settings"]}
        config_text = load_config(config, settings, interpolate=False).to_str(interpolate=False)
        with replace_text(output / BEST) as stream:
            stream.write(config_text + "\n")
        if plot is not None:
            draw_trials(trials.lines, found, metric, plot)
    typer.echo(f"best: {settings_text(best['settings'])}")
    on = dev if n_folds is None else f"{n_folds} folds of {train}"
    typer.echo(f"{output / BEST}: {metric} {100 * best['figure']:.2f} on {on}")
    return {**best, "metric": metric}


def run_rounds(  # noqa: PLR0917
    trials: TrialFile,
    task: Task,
    drawn: Sequence[dict[str, Any]],
    rounds: Sequence[tuple[int, int]],
    metric: str,
    n_threads: int,
) -> list[dict[str, Any]]:
    """Train the trials of all rounds that are missing; returns the lines of the last round.

    drawn: the settings of each trial. rounds: the number of trials of each, and how much of the
    resource they get.
    """
    from spacy_structreg.models.parallel import run_tasks
    from spacy_structreg.models.progress import progress_bar

    lines: list[dict[str, Any]] = []
    going_on = list(range(len(drawn)))
    total = sum(n for n, _ in rounds)
    with progress_bar(total=total, desc="search", unit="trial") as bar:
        for number, (n, budget) in enumerate(rounds):
            if lines:
                going_on = sorted(line["trial"] for line in best_of(lines, n))
            part = None if budget == task.most else budget
            planned = [Trial(number, i, part, drawn[i]) for i in going_on]
            lines = trials.of(planned)
            bar.update(len(lines))
            missing = planned[len(lines) :]
            with closing(run_tasks(run_trial, task, missing, n_threads)) as results:
                for trial, done in zip(missing, results, strict=True):
                    lines.append(trials.add(trial, done, metric))
                    bar.update()
    return lines


def best_of(lines: Iterable[dict[str, Any]], n: int) -> list[dict[str, Any]]:
    """The lines of the best n trials of a round, the best first; the earlier of equal ones."""

    def rank(line: dict[str, Any]) -> tuple[bool, float, int]:
        figure = line["figure"]
        return figure is None, -(figure or 0.0), line["trial"]

    return sorted(lines, key=rank)[:n]


def check_settings(task: Task, drawn: Iterable[dict[str, Any]], space: Path) -> tuple[str, int]:
    """Make the pipelines of all trials, to see that the config can have their settings.

    Returns the name of the figure by which the model chooses its epochs, and how much there is of
    the resource. Raises ValueError, naming the settings, if there is no such pipeline, and for
    corpora that cannot be read, as a trial that fails is only noted.
    """
    from spacy_structreg.cli.training import load_training
    from spacy_structreg.corpora.splits import fold_bounds
    from spacy_structreg.pipeline.readers import read_references

    training = load_training(task.config, task.overrides, seed=task.seed)
    training.apply_settings()
    for settings in drawn:
        try:
            load_training(task.config, {**task.overrides, **settings}, seed=task.seed)
        except ValueError as error:
            raise ValueError(f"{space}: {settings_text(settings)}: {error}") from error
    n_docs = sum(1 for _ in read_references(training.nlp, task.train))
    if task.dev is not None:
        for _ in read_references(training.nlp, task.dev):
            pass
    elif training.augmenter is not None:
        raise ValueError(
            f"{task.config}: the augmenter would add variants of a Doc to the training corpus of "
            "its own fold; leave it out, or name a development corpus"
        )
    else:
        fold_bounds(n_docs, task.n_folds or 0)
    primary: str = training.model.PRIMARY
    if task.resource == "epochs":
        return primary, training.model.epochs
    return primary, len(training.examples(task.train, augment=True))


def run_trial(task: Task, trial: Trial) -> dict[str, Any]:
    """Train and score a trial; its figures, or what the training says against its settings."""
    began = time.perf_counter()
    try:
        done = train_trial(task, trial)
    except ValueError as error:
        done = {"error": str(error)}
    return {**done, "seconds": round(time.perf_counter() - began, 2)}


def train_trial(task: Task, trial: Trial) -> dict[str, Any]:
    """The best epoch of a trial, and its figures; with folds, the means of all, and those of each.

    Raises ValueError as `fit`.
    """
    from spacy_structreg.cli.fit import best_epochs
    from spacy_structreg.cli.training import load_training

    with _reading:
        training = load_training(task.config, {**task.overrides, **trial.settings}, seed=task.seed)
        training.initialize(task.train)
        parts = list(parts_of(training, task, trial))
        training.drawn.clear()
    training.apply_settings()
    model = training.model
    model.patience = task.patience
    if trial.budget is not None and task.resource == "epochs":
        model.epochs = trial.budget
    done: list[dict[str, Any]] = []
    for gold, held_out in parts:
        model.fit(gold, held_out)
        figures = model.evaluate(held_out).as_dict()
        done.append(
            {
                "epoch": best_epochs(model.history)[0].epoch,
                "figures": {k: v for k, v in figures.items() if isinstance(v, (int, float))},
            }
        )
    if task.n_folds is None:
        return done[0]
    from statistics import fmean

    shared = set.intersection(*(set(each["figures"]) for each in done))
    return {
        "epoch": round(fmean(each["epoch"] for each in done)),
        "figures": {
            name: fmean(each["figures"][name] for each in done)
            for name in done[0]["figures"]
            if name in shared
        },
        "folds": done,
    }


def parts_of(training: Any, task: Task, trial: Trial) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield what each training of a trial learns from, and what it is scored on."""
    from spacy_structreg.corpora.splits import fold_bounds

    if task.dev is not None:
        yield sentences_of(training, task, trial), training.sentences(task.dev, "dev")
        return
    held_out = training.examples(task.train, "dev")
    for begin, end in fold_bounds(len(held_out), task.n_folds or 0):
        yield (
            sentences_of(training, task, trial, (begin, end)),
            [each for example in held_out[begin:end] for each in training.part.gold(example)[0]],
        )


def sentences_of(
    training: Any, task: Task, trial: Trial, fold: tuple[int, int] = (0, 0)
) -> list[Any]:
    """The training sentences of a trial: all, or, if the corpus is the resource, so many Docs.

    These are drawn by the seed of the search; a larger part has all that a smaller one has.
    fold: the first Doc that is left out, and the first that is not any more.
    """
    import numpy as np

    examples = training.examples(task.train, augment=True)
    examples = examples[: fold[0]] + examples[fold[1] :]
    if trial.budget is not None and task.resource == "corpus":
        order = np.random.default_rng([task.seed, len(examples)]).permutation(len(examples))
        chosen = sorted(order[: round(trial.budget / task.most * len(examples))].tolist())
        examples = [examples[i] for i in chosen]
    return [each for example in examples for each in training.part.gold(example)[0]]


class TrialFile:
    """The folder of a search, with a line for each trial that was done, in their order.

    folder: is made. identity: what the search is, by name.
    Raises ValueError, naming the file, if the folder holds another search, or something else.
    """

    def __init__(self, folder: Path, identity: dict[str, Any]) -> None:
        from spacy_structreg.corpora.files import check_writable, read_lines, replace_text
        from spacy_structreg.corpora.folders import LOCK

        self.path = folder / TRIALS
        self.lines: list[dict[str, Any]] = []
        described = folder / IDENTITY
        # As it comes back from a file.
        identity = json.loads(json.dumps(identity))
        if described.exists():
            check_identity(described, identity)
        elif folder.exists() and any(path.name != LOCK for path in folder.iterdir()):
            raise ValueError(f"{folder} holds no search; name another folder")
        else:
            check_writable(self.path)
            with replace_text(described) as stream:
                stream.write(json.dumps(identity, indent=2, ensure_ascii=False) + "\n")
        if not self.path.exists():
            return
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if whole != data:
            # The process ended while it wrote; that trial is done again.
            with replace_text(self.path) as stream:
                stream.write(whole.decode("utf-8", "replace"))
        for number, line in read_lines(self.path):
            try:
                self.lines.append(_checked(json.loads(line)))
            except (ValueError, RecursionError) as error:
                raise ValueError(
                    f"{self.path}:{number}: no trial; remove the lines from here on ({error})"
                ) from error

    def of(self, planned: list[Trial]) -> list[dict[str, Any]]:
        """The lines of those of the trials of a round that are done, which are the first ones.

        Raises ValueError if they are of other trials.
        """
        lines = [line for line in self.lines if line["round"] == planned[0].round]
        for line, trial in zip(lines, planned, strict=False):
            if any(line[name] != value for name, value in _fields(trial).items()):
                raise ValueError(
                    f"{self.path}: trial {line['trial']} of round {line['round']} is none of this "
                    "search; name another folder"
                )
        return lines[: len(planned)]

    def add(self, trial: Trial, done: Mapping[str, Any], metric: str) -> dict[str, Any]:
        """Add the line of a trial; returns it. Raises ValueError if it lacks the metric."""
        figures = done.get("figures", {})
        if "error" not in done and metric not in figures:
            raise ValueError(
                f"there is no figure {metric!r:.60}; let metric be one of {', '.join(figures)}"
            )
        line = {**_fields(trial), "figure": figures.get(metric), **done}
        with self.path.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        self.lines.append(line)
        return line


def _fields(trial: Trial) -> dict[str, Any]:
    return {
        "round": trial.round,
        "trial": trial.number,
        "budget": trial.budget,
        "settings": trial.settings,
    }


def _checked(line: Any) -> dict[str, Any]:
    """A line of a trial. Raises ValueError if it is none."""
    types: dict[str, Any] = {
        "round": int,
        "trial": int,
        "budget": (int, type(None)),
        "settings": dict,
        "figure": (int, float, type(None)),
    }
    if not isinstance(line, dict):
        raise ValueError("it is no object")
    for name, kind in types.items():
        if name not in line or not isinstance(line[name], kind):
            raise ValueError(f"its {name} is {line.get(name)!r:.60}")
    return line


def check_identity(path: Path, identity: dict[str, Any]) -> None:
    """Raise ValueError, naming the difference, if a file describes another search."""
    try:
        before = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} describes no search; name another folder ({error})") from error
    for name, value in identity.items():
        if not isinstance(before, dict) or before.get(name) != value:
            raise ValueError(
                f"{path.parent} holds a search with another {name}; name another folder, or "
                "search as before"
            )


def checksum_of(path: Path) -> str:
    """SHA-256 of a file, or of the files in a folder, one after the other by their names."""
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    total = hashlib.sha256()
    for file in files:
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def settings_text(settings: Mapping[str, Any]) -> str:
    """Settings as a command line names them."""
    return " ".join(f"--{name} {json.dumps(each)}" for name, each in settings.items())
