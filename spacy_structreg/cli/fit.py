"""`structreg fit`: train the model of a config by its own `fit`, without spaCy's loop."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.options import OverridesArgument, SchedulerOption, trained_by
from spacy_structreg.cli.outputs import (
    ForceOption,
    check_file,
    check_folder,
    replace_folder,
    write_report,
)

if TYPE_CHECKING:
    from spacy_structreg.cli.training import Training
    from spacy_structreg.models.reports import EpochReport

CHECKPOINT: Final = ".checkpoint"
"""Ending of the name of the folder that keeps an unfinished training."""

HELD_OUT: Final = 5
"""One of so many sentences is held out where there is no development corpus."""

SEED: Final = "seed.json"
"""The file in it that says of which seed."""


def fit(
    config: Annotated[
        Path,
        Arg(
            metavar="CONFIG",
            help="Config of the pipeline; with --base, the name of a task of init-config instead, "
            "such as label",
        ),
    ],
    output: Annotated[
        Path,
        Arg(
            metavar="OUTPUT",
            help="Folder of the pipeline; one that is there is replaced, with --force or --resume, "
            "and all that lies in its folder",
        ),
    ],
    *,
    train: Annotated[Path, Opt("--train", help="Training corpus: .spacy, .jsonl, … or words")],
    dev: Annotated[
        Path | None,
        Opt(
            "--dev",
            help="Development corpus, .spacy; without it, every fifth sentence of --train says for "
            "how many epochs, and all are trained on in the end",
        ),
    ] = None,
    base: Annotated[
        str | None,
        Opt(
            "--base",
            help="Folder or package of a pipeline: add a pipe to it, for the task named in place "
            "of CONFIG, as 'init-config --base … --beside': all pipes of the base stay",
        ),
    ] = None,
    everything: Annotated[
        Path | None,
        Opt(
            "--all",
            help="Corpus, .spacy, to train on in the end: --dev then only says for how many epochs",
        ),
    ] = None,
    unlabeled: Annotated[
        Path | None,
        Opt(
            "--unlabeled",
            help="Corpus, .spacy, whose labels are not looked at: labelers and classifiers with "
            "feature noising learn from its uncertainty; it may be the test set",
        ),
    ] = None,
    n_models: Annotated[
        int,
        Opt("--models", "-m", min=1, max=1000, help="Train so many models and average them"),
    ] = 1,
    patience: Annotated[
        int,
        Opt("--patience", min=1, help="Stop after so many epochs without a better figure"),
    ] = 5,
    n_threads: Annotated[
        int, Opt("--threads", "-t", min=1, help="Threads that train side by side")
    ] = 2,
    beam_loss: Annotated[
        float | None,
        Opt(
            "--beam-loss",
            min=0.0,
            max=100.0,
            help="Of models that search by a beam: drop states beyond the least margin that costs "
            "at most so many percentage points on --dev, such as 0.1",
        ),
    ] = None,
    report: Annotated[
        Path | None, Opt("--report", help="JSON file for the epochs and figures on dev")
    ] = None,
    resume: Annotated[
        bool,
        Opt("--resume", help="Go on with a training that was interrupted, if there is one"),
    ] = False,
    scheduler: SchedulerOption = None,
    overrides: OverridesArgument = None,
    force: ForceOption = False,
) -> dict[str, Any]:
    """Train the tokenizer or the component of a config, much faster than `spacy train`.

    The epoch that is best on the development corpus is kept; OUTPUT holds the best so far while
    training goes on. Seed and most epochs are those of [training]; settings are changed as with
    `spacy train`, for example --nlp.tokenizer.model.learning.algorithm perceptron. A training that
    is interrupted leaves its state in the folder OUTPUT.checkpoint: the same command with --resume
    goes on, and comes to the same model as without the interruption; --force begins anew. With
    --scheduler, a cluster trains the models of --models, with the same result.

    Returns seed, best epoch and figure on dev of each model. The figure is that by which the model
    chooses epochs, under ``dev_`` and its name; `beam_margin` is there if it was tuned. The
    pipeline is initialized as in spaCy's training: rules, lists of words, what is copied from
    others. Outputs are checked before training. While it goes on, the output is the best pipeline
    so far: of several models, that of the best one; another process cannot train the same output.
    When it is interrupted, a line on standard error says what was kept.
    Raises ValueError if the output exists and may not be replaced, or is or has what is read, if a
    corpus is empty or unreadable, for unlabeled ones that the model cannot learn from, for a loss
    where there is no beam, for the state of another training, and as `load_training`; OSError if
    something cannot be read or written, or another process trains the output.
    """
    from spacy_structreg.cli.training import load_training

    began = time.perf_counter()
    goes_on = is_begun(output, resume=resume, force=force) and resume
    corpora = (train, dev, everything, unlabeled)
    check_folder(output, config, base, *corpora, force=force or goes_on)
    if report is not None and output not in report.parents:
        check_file(report, config, base, *corpora)
    with (
        made_config(config, base, train, dev) as chosen,
        trained_by(scheduler),
        State(output, resume=goes_on) as state,
    ):
        training = load_training(chosen, overrides, seed=state.seed)
        check_folder(output, *training.paths, force=True)
        # Labels, records and the like of the model are those of `fit`, which begins anew.
        training.initialize(train)
        gold, held_out, whole = read_corpora(training, train, dev, everything)
        # They are read, and training takes long.
        training.drawn.clear()
        training.apply_settings()
        model = training.model
        model.patience = patience
        model.n_models = n_models
        # Not all estimators know the keyword.
        further = {} if unlabeled is None else {"unlabeled": training.unlabeled(unlabeled)}
        if beam_loss is not None and not hasattr(model, "tune_beam_margin"):
            raise ValueError(f"--beam-loss is for models with a beam; the {model.NOUN} has none")
        if goes_on and getattr(model.learning, "optimizer", "sgd") == "lbfgs":
            typer.echo("L-BFGS keeps no state to go on from: training begins anew", err=True)
        state.begin()

        def write_better(better: Any) -> None:
            if state.has_output:
                better.save(training.model_file(output))
            else:
                with training.holding(better):
                    replace_folder(output, training.nlp.to_disk, force=force or goes_on)
                state.has_output = True

        model.fit(
            gold,
            held_out,
            n_threads=n_threads,
            progress=True,
            on_better=write_better,
            checkpoint=state.folder / "dev",
            **further,
        )
        best = best_epochs(model.history)
        figures: dict[str, Any] = {
            "seeds": [model.seed + number for number in range(n_models)],
            "dev_epochs": [epoch.epoch for epoch in best],
            f"dev_{model.PRIMARY}": [epoch.primary or 0.0 for epoch in best],
        }
        if beam_loss is not None:
            figures["beam_margin"] = model.tune_beam_margin(
                held_out, max_loss=beam_loss / 100, n_threads=n_threads
            )
        if whole is not None:
            model.epochs = round(sum(epoch.epoch for epoch in best) / len(best))
            model.patience = None
            model.fit(
                whole,
                n_threads=n_threads,
                progress=True,
                checkpoint=state.folder / "all",
                **further,
            )
            figures["epochs_on_all"] = model.epochs
        replace_folder(output, training.nlp.to_disk, force=True)
        if report is not None:
            # It may lie in the output, which is new.
            report.parent.mkdir(parents=True, exist_ok=True)
            write_report(report, figures)
        state.remove()
    print_figures(figures, f"dev_{model.PRIMARY}")
    typer.echo(f"{output}: trained in {time.perf_counter() - began:.1f} seconds")
    return figures


@contextmanager
def made_config(config: Path, base: str | None, train: Path, dev: Path | None) -> Iterator[Path]:
    """The config that is named, or a temporary one of a task, which adds a pipe to a base."""
    if base is None:
        yield config
        return
    from spacy_structreg.cli.init_config import init_config

    text = init_config(None, task=str(config), train=train, dev=dev, base=base, beside=True)
    with TemporaryDirectory() as folder:
        made = Path(folder, "config.cfg")
        made.write_text(text, "utf-8")
        yield made


def read_corpora(
    training: Training, train: Path, dev: Path | None, everything: Path | None
) -> tuple[list[Any], list[Any], list[Any] | None]:
    """The gold sentences to train on, those held out, and all for the end; None for no more.

    Raises ValueError if nothing can be held out, and as `Training.sentences`.
    """
    gold = training.sentences(train)
    if dev is not None:
        held_out = training.sentences(dev, "dev")
        return gold, held_out, None if everything is None else training.sentences(everything)
    if everything is not None:
        raise ValueError("--all trains for as many epochs as --dev says; name that, too")
    if len(gold) < HELD_OUT:
        raise ValueError(
            f"{train}: of {len(gold)} sentences, none can be held out; name a --dev corpus, or "
            f"give {HELD_OUT} sentences at least"
        )
    kept = [each for number, each in enumerate(gold, 1) if number % HELD_OUT]
    return kept, gold[HELD_OUT - 1 :: HELD_OUT], gold


def print_figures(figures: dict[str, Any], name: str) -> None:
    """Print the best epoch of each model. name: of the figure by which epochs were chosen."""
    best = zip(figures["seeds"], figures["dev_epochs"], figures[name], strict=True)
    for seed, epoch, figure in best:
        typer.echo(f"seed {seed}: {name} {100 * figure:.2f} at epoch {epoch}")
    if "beam_margin" in figures:
        typer.echo(f"beam_margin {figures['beam_margin']}")


def state_folder(output: Path) -> Path:
    """The folder of an unfinished training, beside its output."""
    return output.with_name(output.name + CHECKPOINT)


def is_begun(output: Path, *, resume: bool, force: bool) -> bool:
    """True if there is an unfinished training. Raises ValueError if it may not be dropped."""
    folder = state_folder(output)
    begun = (folder / SEED).exists()
    if begun and not (resume or force):
        raise ValueError(
            f"{folder} has the state of a training that was interrupted; add --resume to go on "
            "with it, or --force to begin anew"
        )
    return begun


class State:
    """The folder of an unfinished training, held for a ``with`` block against other processes.

    seed: of what draws without a seed of its own. has_output: whether the output is the best
    pipeline so far. resume: keep what there is; else it is dropped by `begin`. A block that is
    interrupted says on standard error what was kept; a folder without a state goes at its end.
    Raises ValueError if the folder holds something else; OSError if another process holds it.
    """

    def __init__(self, output: Path, *, resume: bool) -> None:
        self.folder = state_folder(output)
        self.has_output = False
        self._output = output
        self._file = self.folder / SEED
        self._resume = resume
        self._lock = ExitStack()
        self.seed = random.getrandbits(32)

    def __enter__(self) -> State:
        from spacy_structreg.corpora.folders import LOCK, locked

        if self.folder.exists() and not self._file.exists():
            others = {path.name for path in self.folder.iterdir()} - {LOCK}
            if others:
                raise ValueError(
                    f"{self.folder} is no unfinished training; name another output, or remove it"
                )
        self._lock.enter_context(locked(self.folder))
        if self._resume:
            found = self._file.read_text("utf-8")
            if not found.isdecimal() or not found.isascii() or len(found) > 10:
                self._lock.close()
                raise ValueError(f"{self._file}: no seed; leave --resume out to begin anew")
            self.seed = int(found)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        has_state = any(self.folder.glob("*/*.srt"))
        if not has_state:
            self.remove()
        self._lock.close()
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            has_output = self.has_output or (self._resume and self._output.exists())
            kept = [f"{self._output} is the best pipeline so far"] if has_output else []
            if has_state:
                kept.append(
                    f"{self.folder} has the state of the training: the same command with --resume "
                    "goes on"
                )
            typer.echo("\nInterrupted: " + ("; ".join(kept) or "nothing was kept"), err=True)

    def begin(self) -> None:
        """Drop what there is, unless training goes on."""
        from spacy_structreg.corpora.files import replace_text

        if self._resume:
            return
        self.remove()
        with replace_text(self._file) as stream:
            stream.write(str(self.seed))

    def remove(self) -> None:
        """Remove what is in the folder."""
        from spacy_structreg.corpora.folders import clear

        clear(self.folder)


def best_epochs(history: Sequence[EpochReport]) -> list[EpochReport]:
    """The best epoch of each model; the earliest of equal ones."""
    best: dict[int, EpochReport] = {}
    for report in history:
        before = best.get(report.model)
        if before is None or (report.primary or 0.0) > (before.primary or 0.0):
            best[report.model] = report
    return [best[model] for model in sorted(best)]
