"""The commands, gathered under `structreg`, which is `python -m spacy structreg` as well.

spaCy's command line loads the entry points of the group `spacy_cli` before it reads its arguments,
whatever the command, so this module imports next to nothing: commands import what they need.
"""

from __future__ import annotations

from typing import Annotated

import typer
from spacy.cli import app as spacy_app  # type: ignore[attr-defined]

from spacy_structreg.about import __version__
from spacy_structreg.cli.adapt import adapt
from spacy_structreg.cli.agree import agree
from spacy_structreg.cli.annotate import annotate
from spacy_structreg.cli.average import average
from spacy_structreg.cli.calibrate import calibrate
from spacy_structreg.cli.commands import as_command
from spacy_structreg.cli.compile_words import compile_words
from spacy_structreg.cli.compress import compress
from spacy_structreg.cli.convert import convert
from spacy_structreg.cli.correct import correct
from spacy_structreg.cli.count_ngrams import count_ngrams
from spacy_structreg.cli.draw import draw
from spacy_structreg.cli.evaluate import evaluate
from spacy_structreg.cli.explain import explain
from spacy_structreg.cli.fit import fit
from spacy_structreg.cli.info import info
from spacy_structreg.cli.init_config import init_config
from spacy_structreg.cli.jackknife import jackknife
from spacy_structreg.cli.keywords import keywords
from spacy_structreg.cli.options import UNKNOWN_OPTIONS
from spacy_structreg.cli.search import search
from spacy_structreg.cli.segment import segment
from spacy_structreg.cli.serve import serve
from spacy_structreg.cli.task_lists import WithFormats, WithStyles, WithTemplates
from spacy_structreg.cli.uncertain import uncertain
from spacy_structreg.cli.user_errors import NAME, command_typed
from spacy_structreg.cli.word_classes import word_classes

HELP = """Words, tags, trees, labels and categories by linear structured models: prepare corpora,
configure training, segment, evaluate and draw."""

structreg_app = typer.Typer(name=NAME, no_args_is_help=True, rich_markup_mode=None)


def show_version(wanted: bool) -> None:
    """Print the version and end the command, if it is wanted."""
    if wanted:
        typer.echo(f"spacy_structreg {__version__}")
        raise typer.Exit


@structreg_app.callback(help=HELP)
def options_of_all(
    version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Show the version"),
    ] = False,
) -> None:
    """Take the options that stand before the name of a command."""


structreg_app.command(cls=WithFormats)(as_command(convert))
structreg_app.command(cls=WithTemplates)(as_command(init_config))
structreg_app.command(context_settings=UNKNOWN_OPTIONS)(as_command(fit))
structreg_app.command(context_settings=UNKNOWN_OPTIONS)(as_command(search))
structreg_app.command()(as_command(segment))
structreg_app.command()(as_command(annotate))
structreg_app.command()(as_command(keywords))
structreg_app.command()(as_command(agree))
structreg_app.command()(as_command(uncertain))
structreg_app.command()(as_command(count_ngrams))
structreg_app.command()(as_command(word_classes))
structreg_app.command(cls=WithFormats)(as_command(evaluate))
structreg_app.command(cls=WithStyles)(as_command(draw))
structreg_app.command()(as_command(serve))
structreg_app.command()(as_command(info))
structreg_app.command()(as_command(explain))
structreg_app.command(cls=WithFormats)(as_command(correct))
structreg_app.command()(as_command(average))
structreg_app.command(cls=WithFormats)(as_command(calibrate))
structreg_app.command(cls=WithFormats)(as_command(compress))
structreg_app.command()(as_command(compile_words))
structreg_app.command()(as_command(adapt))
structreg_app.command(context_settings=UNKNOWN_OPTIONS)(as_command(jackknife))

spacy_app.add_typer(structreg_app)


def main() -> None:
    """Run the commands as a program of its own."""
    command_typed.set(NAME)
    structreg_app(prog_name=NAME)
