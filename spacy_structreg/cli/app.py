"""The commands, gathered under `python -m spacy structreg`.

spaCy's command line loads the entry points of the group `spacy_cli` before it reads its arguments,
whatever the command, so this module imports next to nothing: commands import what they need.
"""

from __future__ import annotations

import typer
from spacy.cli import app as spacy_app  # type: ignore[attr-defined]

from spacy_structreg.cli.adapt import adapt_command
from spacy_structreg.cli.agree import agree_command
from spacy_structreg.cli.annotate import annotate_command
from spacy_structreg.cli.average import average_command
from spacy_structreg.cli.calibrate import calibrate_command
from spacy_structreg.cli.compile_words import compile_words_command
from spacy_structreg.cli.compress import compress_command
from spacy_structreg.cli.convert import convert_command
from spacy_structreg.cli.copy_data import copy_data_command, unpack_command
from spacy_structreg.cli.correct import correct_command
from spacy_structreg.cli.count_ngrams import count_ngrams_command
from spacy_structreg.cli.draw import draw_command
from spacy_structreg.cli.evaluate import evaluate_command
from spacy_structreg.cli.explain import explain_command
from spacy_structreg.cli.fit import SETTINGS, fit_command
from spacy_structreg.cli.info import info_command
from spacy_structreg.cli.init_config import init_config_command
from spacy_structreg.cli.jackknife import jackknife_command
from spacy_structreg.cli.report import report_command
from spacy_structreg.cli.search import search_command
from spacy_structreg.cli.segment import segment_command
from spacy_structreg.cli.select import select_command
from spacy_structreg.cli.serve import serve_command
from spacy_structreg.cli.task_lists import WithStyles, WithTemplates
from spacy_structreg.cli.uncertain import uncertain_command
from spacy_structreg.cli.word_classes import word_classes_command

HELP = """Words, tags, trees, labels and categories by linear structured models: prepare corpora,
configure training, segment, evaluate and draw."""

structreg_app = typer.Typer(
    name="structreg", help=HELP, no_args_is_help=True, rich_markup_mode=None
)
structreg_app.command("copy-data")(copy_data_command)
structreg_app.command("unpack")(unpack_command)
structreg_app.command("select")(select_command)
structreg_app.command("convert")(convert_command)
structreg_app.command("init-config", cls=WithTemplates)(init_config_command)
structreg_app.command("fit", context_settings=SETTINGS)(fit_command)
structreg_app.command("search", context_settings=SETTINGS)(search_command)
structreg_app.command("segment")(segment_command)
structreg_app.command("annotate")(annotate_command)
structreg_app.command("agree")(agree_command)
structreg_app.command("uncertain")(uncertain_command)
structreg_app.command("count-ngrams")(count_ngrams_command)
structreg_app.command("word-classes")(word_classes_command)
structreg_app.command("evaluate")(evaluate_command)
structreg_app.command("report")(report_command)
structreg_app.command("draw", cls=WithStyles)(draw_command)
structreg_app.command("serve")(serve_command)
structreg_app.command("info")(info_command)
structreg_app.command("explain")(explain_command)
structreg_app.command("correct")(correct_command)
structreg_app.command("average")(average_command)
structreg_app.command("calibrate")(calibrate_command)
structreg_app.command("compress")(compress_command)
structreg_app.command("compile-words")(compile_words_command)
structreg_app.command("adapt")(adapt_command)
structreg_app.command("jackknife", context_settings=SETTINGS)(jackknife_command)

spacy_app.add_typer(structreg_app)
