"""`structreg calibrate`: probabilities for the margins of a pipeline."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.evaluate import GivenName
from spacy_structreg.cli.options import ANY_CORPUS, CorpusArgument, PipelineArgument, load_pipeline
from spacy_structreg.cli.outputs import ForceOption, check_folder, replace_folder
from spacy_structreg.cli.pictures import check_picture, new_figure, save_figure
from spacy_structreg.corpora.palette import COLORS

if TYPE_CHECKING:
    from spacy_structreg.pipeline.calibration import KindReport


class MethodName(str, Enum):
    """Kinds of curves from margins to probabilities."""

    isotonic = "isotonic"
    temperature = "temperature"


def calibrate(
    pipeline: PipelineArgument,
    corpus: Annotated[Path, Arg(metavar="CORPUS", help="Development corpus, with gold annotation")],
    *,
    output: Annotated[
        Path | None,
        Opt("--output", "-o", metavar="PIPELINE2", help="Folder to write, with the curves in it"),
    ] = None,
    method: Annotated[
        MethodName,
        Opt(
            "--method",
            "-m",
            help="isotonic: any curve that never falls; temperature: one number, for corpora of "
            "few sentences",
        ),
    ] = MethodName.isotonic,
    given: Annotated[
        GivenName,
        Opt(
            "--gold",
            help="What the pipeline is given: text, which it segments; words, which its pipes "
            "annotate; or words,tags",
        ),
    ] = GivenName.text,
    plot: Annotated[
        Path | None,
        Opt("--plot", help="Picture of reliability to write (.svg, .png or .pdf); by matplotlib"),
    ] = None,
    options: CorpusArgument = ANY_CORPUS,
    force: ForceOption = False,
) -> list[KindReport]:
    """Fit probabilities to the margins of a pipeline, by a corpus that it was not trained on.

    Of every boundary and word of the tokenizer, every tag and every head. Prints how far the
    probabilities are from the shares that come true (the expected calibration error), before and
    after: each fifth of the corpus is judged by curves of the others. The pipeline that is written
    reports the probabilities in doc._.structreg when it is asked to (confidence = true).

    Returns the figures of each kind of decisions. Raises ValueError if the output exists (unless
    `force`, and it is a pipeline or empty), and as `calibrate_pipeline` and `read_docs`; OSError
    for files that cannot be read or written; ImportError, for a picture, without matplotlib.
    """
    from spacy_structreg.pipeline.calibration import calibrate_pipeline
    from spacy_structreg.pipeline.gold_docs import read_docs
    from spacy_structreg.pipeline.task import Given

    if output is not None:
        check_folder(output, pipeline, corpus, force=force)
    if plot is not None:
        check_picture(plot, pipeline, corpus)
    nlp = load_pipeline(pipeline)
    gold = list(read_docs(corpus, nlp.vocab, options))
    asked = Given(given is not GivenName.text, given is GivenName.words_and_tags)
    reports = calibrate_pipeline(nlp, gold, asked, method.value)
    if plot is not None:
        draw_reliability(reports, plot)
    if output is not None:
        replace_folder(output, nlp.to_disk, force=force)
    print_reports(reports)
    for path in (output, plot):
        if path is not None:
            typer.echo(f"Saved {path}")
    return reports


def print_reports(reports: list[KindReport]) -> None:
    """Print calibration errors in percent, and the reliability table of each kind of decisions."""
    from wasabi import msg

    msg.table(
        [
            (each.kind, each.part, f"{each.n:,}", percent(each.before), percent(each.after))
            for each in reports
        ],
        header=("", "by", "decisions", "error before", "after"),
        aligns=("l", "l", "r", "r", "r"),
        title="Expected calibration error",
    )
    for each in reports:
        msg.table(
            [
                (
                    f"{row.low:.1f}–{row.high:.1f}",
                    f"{row.n:,}",
                    percent(row.probability),
                    percent(row.share),
                )
                for row in each.bins_after
            ],
            header=("probability", "decisions", "said", "true"),
            aligns=("l", "r", "r", "r"),
            title=f"Reliability of {each.kind}",
        )


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.2f}"


def draw_reliability(reports: list[KindReport], path: Path) -> None:
    """Draw the shares that come true by the probabilities that were said, before and after."""
    figure, axes = new_figure(
        "reliability", 1, len(reports), figsize=(3.2 * len(reports), 3.4), sharey=True
    )
    for axis, each in zip(axes[0], reports, strict=True):
        axis.plot([0, 1], [0, 1], color=COLORS["line"].light, linewidth=1)
        for bins, error, name, marker in (
            (each.bins_before, each.before, "before", "s"),
            (each.bins_after, each.after, "after", "o"),
        ):
            axis.plot(
                [row.probability for row in bins],
                [row.share for row in bins],
                marker=marker,
                label=f"{name}: {percent(error)} %",
            )
        axis.set(title=f"{each.kind} ({each.n:,})", xlabel="probability", xlim=(0, 1), ylim=(0, 1))
        axis.legend(title="calibration error", loc="upper left")
    axes[0][0].set_ylabel("share that came true")
    save_figure(figure, path)
