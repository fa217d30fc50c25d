"""`structreg explain`: the features behind the decisions of a pipeline."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.options import PipelineArgument, load_pipeline
from spacy_structreg.cli.outputs import check_file, number_of

if TYPE_CHECKING:
    from spacy_structreg.models.explanation import Decision, Explanation


def explain(
    pipeline: PipelineArgument,
    text: Annotated[str, Arg(metavar="TEXT", help="The text itself, in quotes")],
    *,
    component: Annotated[
        str | None,
        Opt(
            "--component",
            "-c",
            help="Whose decisions: a pipe, or 'tokenizer'; by default the first that has a model",
        ),
    ] = None,
    decision: Annotated[
        int | None, Opt("--decision", "-d", help="List the features of this decision, from 1 on")
    ] = None,
    limit: Annotated[
        int, Opt("--limit", "-n", min=0, help="List so many features at most; 0 for all")
    ] = 20,
    output: Annotated[
        Path | None,
        Opt("--output", "-o", help="Page to write, .html, with the features of all decisions"),
    ] = None,
) -> Explanation:
    """Tell why a pipeline decides as it does, and what would have changed that.

    Without --decision there is a table of all decisions: each with the runner-up, the margin, and
    the strongest of the features that would have to change for the runner-up to win. With it, the
    features that carried one decision, and those that tell it from the runner-up.

    Returns the explanation. Pipes see what those before them make of the text. Raises ValueError
    for lone surrogates in the text, the name of a file, if there is no such part, it has no model
    of ours, or that has not been trained; ValueError or OSError for a pipeline that cannot be
    loaded.
    """
    from spacy_structreg.pipeline.explained_pipeline import explain_text

    if output is not None and output.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{output}: a page needs a name that ends in .html")
    check_file(output, pipeline)
    # os.path.isfile refuses no text.
    if os.path.isfile(text):  # noqa: PTH113
        raise ValueError(
            f"{text} is a file, and the text itself is to be named; give it in quotes, such as "
            f'"$(cat {text})"'
        )
    found = explain_text(load_pipeline(pipeline), text, component)[1]
    chosen = None if decision is None else found.decision(decision)
    if output is not None:
        write_page(output, found, decision)
        n_decisions = len(found.decisions) if chosen is None else 1
        typer.echo(f"{output}: {number_of(n_decisions, 'decision')}")
    elif decision is None or chosen is None:
        print_all(found)
    else:
        print_decision(found, decision, limit)
    return found


def print_all(found: Explanation) -> None:
    """Print a table of all decisions."""
    from wasabi import msg

    typer.echo(f"{found.analysis}\nscore {found.score:.3f}")
    rows = [
        (
            number,
            each.place,
            each.chosen,
            "-" if each.runner_up is None else each.runner_up,
            "-" if each.runner_up is None else f"{each.margin:.3f}",
            to_change(each),
        )
        for number, each in enumerate(found.decisions, 1)
    ]
    msg.table(
        rows,
        header=("", "place", "decision", "runner-up", "margin", "would have to change"),
        aligns=("r", "l", "l", "l", "r", "l"),
        divider=True,
        max_col=200,
    )


def to_change(decision: Decision) -> str:
    """The strongest feature that would have to change, and how many others."""
    needed = decision.to_change
    if not needed:
        return "-"
    first = f"{needed[0].template}={needed[0].value}"
    return first if len(needed) == 1 else f"{first} and {len(needed) - 1} more"


def print_decision(found: Explanation, number: int, limit: int) -> None:
    """Print the features of a decision. limit: how many of each kind; 0 for all."""
    from wasabi import msg

    decision = found.decision(number)
    typer.echo(f"{decision.place}: {decision.chosen}, {decision.score:.3f}")
    contributions = decision.contributions[: limit or None]
    msg.table(
        [(each.template, each.value, each.source, f"{each.score:.3f}") for each in contributions],
        title=f"features of the decision, {shown_of(contributions, decision.contributions)}",
        header=("template", "value", "source", "score"),
        aligns=("l", "l", "l", "r"),
        divider=True,
        max_col=200,
    )
    if decision.runner_up is None:
        typer.echo("There was no other choice.")
        return
    typer.echo(
        f"runner-up: {decision.runner_up}, {decision.runner_up_score:.3f}, "
        f"{decision.margin:.3f} behind"
    )
    needed = set(decision.to_change)
    differences = decision.differences[: limit or None]
    msg.table(
        [
            (
                each.template,
                each.value,
                each.place,
                each.source,
                f"{each.chosen:.3f}",
                f"{each.runner_up:.3f}",
                f"{each.score:.3f}",
                "*" if each in needed else "",
            )
            for each in differences
        ],
        title=f"what tells the two apart, {shown_of(differences, decision.differences)}",
        header=("template", "value", "at", "source", "decision", "runner-up", "difference", ""),
        aligns=("l", "l", "l", "l", "r", "r", "r", "l"),
        divider=True,
        max_col=200,
    )
    if needed:
        features = "feature" if len(needed) == 1 else number_of(len(needed), "feature")
        typer.echo(f"Without the {features} marked * the runner-up would not score less.")


def shown_of(shown: tuple[object, ...], of: tuple[object, ...]) -> str:
    """A number of features of so many."""
    return f"{len(shown):,} of {len(of):,}"


def write_page(path: Path, found: Explanation, number: int | None) -> None:
    """Write the decisions as a page, in one step; number: of one decision, or all."""
    from spacy_structreg.cli.explanation_page import page
    from spacy_structreg.corpora.files import replace_text

    with replace_text(path) as stream:
        stream.write(page(found, number))
