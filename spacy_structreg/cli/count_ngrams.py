"""`structreg count-ngrams`: raw text of any size in, one file of counts out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.options import SchedulerOption, WorkersOption
from spacy_structreg.cli.outputs import ForceOption, check_file, number_of


def count_ngrams(
    files: Annotated[
        list[str],
        Arg(
            metavar="FILE...",
            help="Raw text: paths, patterns or URLs of .txt, .jsonl (also .gz, .xz, .zst) and "
            ".parquet",
        ),
    ],
    output: Annotated[Path, Arg(metavar="OUTPUT", help="File of counts to write")],
    *,
    scheduler: SchedulerOption = None,
    n_workers: WorkersOption = None,
    text_column: Annotated[
        str, Opt("--text-column", help="Column or field that has the text")
    ] = "text",
    half_width: Annotated[
        bool,
        Opt(
            "--half-width/--full-width",
            help="Count full-width forms as half-width ones, as models do by default, or not",
        ),
    ] = True,
    script: Annotated[
        str | None, Opt("--script", help="The model's setting script, such as simplified")
    ] = None,
    scratch: Annotated[
        Path | None,
        Opt("--scratch", help="Folder that all workers see; that of the output if not given"),
    ] = None,
    max_bad: Annotated[
        int, Opt("--max-bad", min=0, help="So many records may be unreadable, and are left out")
    ] = 1000,
    force: ForceOption = False,
) -> tuple[int, int, int]:
    """Count the n-grams of raw text on all cores or a cluster, for the setting raw_text.

    The counts are those of one process, whatever the number of workers. The setting raw_text and
    the command adapt take the file in place of the text. Sorted counts lie in the scratch folder
    meanwhile, about 30 bytes for each character.

    Returns the numbers of n-grams, characters and bad records. The file appears whole or not at
    all. Raises ValueError if the output exists (unless `force`), for faulty files and settings,
    packages that are missing, texts without a character, and more than `max_bad` records that
    cannot be read; OSError for files that cannot be read or written; ImportError as
    `features.scripts.read_script`.
    """
    from spacy_structreg.cluster.engines import connect
    from spacy_structreg.cluster.extra_packages import need_packages
    from spacy_structreg.corpora.files import named_errors
    from spacy_structreg.corpora.folders import folder_beside
    from spacy_structreg.models.progress import progress_bar
    from spacy_structreg.tasks.knowledge.ngrams import write_ngrams

    need_packages("distributed", "pyarrow", "fsspec")
    from spacy_structreg.cluster.ngram_shards import characters_of, count_ngrams_of_units
    from spacy_structreg.cluster.records import plan_units

    atoms = characters_of(half_width, script)
    units = plan_units(files)
    check_file(output, *sorted({part.file for unit in units for part in unit.parts}), force=force)
    parent = (scratch or output.parent).absolute()
    parent.mkdir(parents=True, exist_ok=True)
    with (
        named_errors(parent / output.name, f".{output.name}."),
        folder_beside(parent / output.name) as folder,
        connect(scheduler, n_workers=n_workers) as client,
        progress_bar(desc="count", unit=" characters", unit_scale=True) as bar,
    ):
        totals, n_bad = count_ngrams_of_units(
            client,
            units,
            folder,
            atoms=atoms,
            text_column=text_column,
            max_bad=max_bad,
            on_unit=bar.update,
        )
    n_characters = int(totals.characters.sum())
    if not n_characters:
        raise ValueError("there is no text in the files; name others")
    write_ngrams(
        output, totals, atoms.normalization(), {"half_width": half_width, "script": script}
    )
    left_out = f"; left out, as they cannot be read: {number_of(n_bad, 'record')}"
    typer.echo(
        f"Counted {number_of(n_characters, 'character')}, and wrote "
        f"{number_of(len(totals.ngrams), 'n-gram')} to {output}{left_out if n_bad else ''}"
    )
    return len(totals.ngrams), n_characters, n_bad
