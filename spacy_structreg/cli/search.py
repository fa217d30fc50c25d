"""`structreg search`: the settings of a config that are best on a development corpus."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.engine_options import SchedulerOption, trained_by
from spacy_structreg.cli.fit import parse_overrides
from spacy_structreg.cli.search_space import Resource, read_space, rounds_of
from spacy_structreg.cli.user_errors import user_errors

__all__ = ["search", "search_command"]

IDENTITY: Final = "search.json"
TRIALS: Final = "trials.jsonl"
TABLE: Final = str(Path(TRIALS).with_suffix(".md"))
BEST: Final = "best.cfg"
EPOCHS: Final = "training.max_epochs"

# What configs draw without a seed of their own comes from generators of the whole process, so
# that one config at a time is read.
_reading = threading.Lock()


def search_command(
    context: typer.Context,
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
    dev: Annotated[Path, Opt("--dev", help="Development corpus, .spacy")],
    patience: Annotated[
        int, Opt("--patience", min=1, help="Stop after so many epochs without a better F")
    ] = 5,
    threads: Annotated[
        int, Opt("--threads", "-t", min=1, help="Trials that are trained side by side")
    ] = 2,
    scheduler: SchedulerOption = None,
    plot: Annotated[
        Path | None,
        Opt("--plot", help="Picture of the trials to write (.svg, .png or .pdf); by matplotlib"),
    ] = None,
) -> None:
    """Search for the settings of a config by which its model is best on a development corpus.

    Settings are drawn at random from SPACE, and each draw is a trial: a training as by `fit`, with
    one model. By successive halving, all trials get a few epochs or a part of the corpus, and the
    best of them more. OUTPUT/trials.jsonl has a line for each trial; after an interruption the
    same command goes on. OUTPUT/best.cfg is the best config, for `fit`. Settings that are the same
    for all trials are changed as with `spacy train`. The trials do not depend on the number of
    threads, nor on where they run.
    """
    with user_errors(), trained_by(scheduler):
        best = search(
            config,
            space,
            output,
            train=train,
            dev=dev,
            patience=patience,
            n_threads=threads,
            plot=plot,
            overrides=parse_overrides(context),
        )
        typer.echo(f"best: {settings_text(best['settings'])}")
        typer.echo(f"{output / BEST}: {best['metric']} {best['figure']:.4f} on {dev}")


@dataclass(frozen=True)
class Task:
    """The data that the trials of a search share, wherever they run.

    seed: of what has none in the config. resource: what they get little of, or all, and most: how
    much of it there is.
    """

    config: Path
    train: Path
    dev: Path
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
    config: Path,
    space: Path,
    output: Path,
    *,
    train: Path,
    dev: Path,
    patience: int = 5,
    n_threads: int = 1,
    plot: Path | None = None,
    overrides: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Train the trials that are missing, and write tables, best config and picture.

    Returns the line of the best trial: its settings, figure, and all else that `TRIALS` has of it;
    and the name of the figure, ``metric``. Shows a progress bar on standard error, if that is a
    terminal. Trials that joblib runs in other processes read config and corpora there.

    Raises ValueError for a space that is none, for settings that the config cannot have, before
    anything is trained, if all trials failed, for a folder that holds another search, and as
    `load_training` and `fit`; OSError if something cannot be read or written.
    """
    from spacy_structreg.cli.pictures import check_picture
    from spacy_structreg.cli.search_report import draw_trials, table_of
    from spacy_structreg.corpora.files import replace_text

    found = read_space(space)
    fixed = overrides or {}
    columns = found.columns
    if found.method == "halving" and found.resource == "epochs" and EPOCHS in columns:
        raise ValueError(
            f"{space}: halving sets {EPOCHS} itself; leave it out, or choose resource: corpus"
        )
    if twice := sorted(fixed.keys() & columns.keys()):
        raise ValueError(f"--{twice[0]} is among the settings of {space}; leave one of them out")
    if plot is not None:
        check_picture(plot, config, space, train, dev)
    drawn = found.draw()
    paths = config.absolute(), train.absolute(), dev.absolute()
    task = Task(*paths, fixed, patience, found.seed, found.resource)
    primary, most = check_settings(task, drawn, space)
    metric = found.metric or primary
    rounds = rounds_of(found, len(drawn), most)
    identity = {
        "space": asdict(found),
        "config": checksum_of(config),
        "command line": fixed,
        "training corpus": checksum_of(train),
        "development corpus": checksum_of(dev),
        "patience": patience,
    }
    trials = TrialFile(output, identity)
    last = run_rounds(trials, replace(task, most=most), drawn, rounds, metric, n_threads)
    [best] = best_of(last, 1)
    if best["figure"] is None:
        raise ValueError(f"all trials failed; one of them: {best['error']}")
    text = table_of(trials.lines, columns, metric, [budget for _, budget in rounds])
    typer.echo(text)
    with replace_text(output / TABLE) as stream:
        stream.write(text)
    write_config(config, {**fixed, **best["settings"]}, output / BEST)
    if plot is not None:
        draw_trials(trials.lines, columns, metric, plot)
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
    from spacy_structreg.pipeline.readers import read_references

    training = load_training(task.config, task.overrides, seed=task.seed)
    training.apply_settings()
    for settings in drawn:
        try:
            load_training(task.config, {**task.overrides, **settings}, seed=task.seed)
        except ValueError as error:
            raise ValueError(f"{space}: {settings_text(settings)}: {error}") from error
    for path in (task.train, task.dev):
        for _ in read_references(training.nlp, path):
            pass
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
    """The best epoch of a trial, and its figures. Raises ValueError as `fit`."""
    from spacy_structreg.cli.fit import best_epochs
    from spacy_structreg.cli.training import load_training

    with _reading:
        training = load_training(task.config, {**task.overrides, **trial.settings}, seed=task.seed)
        training.initialize(task.train)
        gold = sentences_of(training, task, trial)
        held_out = training.sentences(task.dev, "dev")
        training.drawn.clear()
    training.apply_settings()
    model = training.model
    model.patience = task.patience
    if trial.budget is not None and task.resource == "epochs":
        model.epochs = trial.budget
    model.fit(gold, held_out)
    figures = model.evaluate(held_out).as_dict()
    return {
        "epoch": best_epochs(model.history)[0].epoch,
        "figures": {k: v for k, v in figures.items() if isinstance(v, (int, float))},
    }


def sentences_of(training: Any, task: Task, trial: Trial) -> list[Any]:
    """The training sentences of a trial: all, or, if the corpus is the resource, so many Docs.

    These are drawn by the seed of the search; a larger part has all that a smaller one has.
    """
    import numpy as np

    if trial.budget is None or task.resource != "corpus":
        return list(training.sentences(task.train))
    examples = training.examples(task.train, augment=True)
    order = np.random.default_rng([task.seed, len(examples)]).permutation(len(examples))
    chosen = sorted(order[: round(trial.budget / task.most * len(examples))].tolist())
    return [each for i in chosen for each in training.part.gold(examples[i])[0]]


class TrialFile:
    """The folder of a search, with a line for each trial that was done, in their order.

    folder: is made. identity: what the search is, by name.
    Raises ValueError, naming the file, if the folder holds another search, or something else.
    """

    def __init__(self, folder: Path, identity: dict[str, Any]) -> None:
        from spacy_structreg.corpora.files import check_writable, read_lines, replace_text

        self.path = folder / TRIALS
        self.lines: list[dict[str, Any]] = []
        described = folder / IDENTITY
        # As it comes back from a file.
        identity = json.loads(json.dumps(identity))
        if described.exists():
            check_identity(described, identity)
        elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
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
        digest = hashlib.sha256()
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
        total.update(digest.digest())
    return total.hexdigest()


def settings_text(settings: Mapping[str, Any]) -> str:
    """Settings as a command line names them."""
    return " ".join(f"--{name} {json.dumps(each)}" for name, each in settings.items())


def write_config(config: Path, settings: dict[str, Any], output: Path) -> None:
    """Write a config with other settings."""
    from spacy.util import load_config

    from spacy_structreg.corpora.files import replace_text

    text = load_config(config, overrides=settings, interpolate=False).to_str(interpolate=False)
    with replace_text(output) as stream:
        stream.write(text + "\n")
