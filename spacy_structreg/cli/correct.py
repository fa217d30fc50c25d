"""`structreg correct`: a trained pipeline that gets some sentences right at once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.options import ANY_CORPUS, CorpusArgument, PipelineArgument, load_pipeline
from spacy_structreg.cli.outputs import (
    ForceOption,
    check_file,
    check_folder,
    number_of,
    replace_folder,
    write_report,
)

if TYPE_CHECKING:
    from spacy.language import Language


def correct(
    pipeline: PipelineArgument,
    corrections: Annotated[
        Path, Arg(metavar="CORRECTIONS", help="Gold corpus of a handful of sentences")
    ],
    output: Annotated[Path, Arg(metavar="OUTPUT", help="Folder to write")],
    *,
    pipe: Annotated[
        list[str] | None,
        Opt("--pipe", "-p", help="Correct this pipe alone, or the tokenizer; may be repeated"),
    ] = None,
    sample: Annotated[
        Path | None,
        Opt(
            "--sample",
            "-s",
            help="Raw text, a text a line, or Docs (.spacy): what occurs there often changes "
            "little, and what changes there is counted",
        ),
    ] = None,
    examples: Annotated[
        int, Opt("--examples", min=0, help="How many changed texts of the sample to print")
    ] = 5,
    report: Annotated[
        Path | None, Opt("--report", "-o", help="JSON file to write the report to")
    ] = None,
    options: CorpusArgument = ANY_CORPUS,
    force: ForceOption = False,
) -> dict[str, Any]:
    """Correct a trained pipeline with a handful of gold sentences.

    Their weights change as little as makes these come out right: words by the tokenizer, and by
    the pipes whatever else the corpus has, on its words. Sentences that cannot be made right are
    named. With --sample, what else the corrections have changed is counted and shown.

    Returns the report: ``pipes``, for each how many ``sentences`` there were, which were ``right``
    before or ``corrected``, and those still ``wrong``, by number and reason; ``kept``, why other
    pipes stay as they are; and ``sample``, how
    many ``texts`` there are, and those ``changed``, before and after. The folder appears whole or
    not at all.
    Raises ValueError if the output exists (unless `force`, and it is a pipeline or empty), for
    faulty corpora, and as `correct_pipeline`; OSError for files that cannot be read or written.
    """
    from spacy_structreg.pipeline.gold_docs import read_docs
    from spacy_structreg.pipeline.pipeline_correction import changed_docs, correct_pipeline
    from spacy_structreg.pipeline.task import parts_of, task_of

    check_folder(output, pipeline, corrections, sample, force=force)
    check_file(report, pipeline, corrections, sample)
    nlp = load_pipeline(pipeline)
    gold = list(read_docs(corrections, nlp.vocab, options))
    texts = [] if sample is None else list(read_texts(sample, nlp))
    before = list(nlp.pipe(texts))
    found = correct_pipeline(nlp, gold, names=pipe, sample=before)
    changed = changed_docs(nlp, before, list(nlp.pipe(texts))) if texts else []
    replace_folder(output, nlp.to_disk, force=force)
    told = {
        "pipes": {
            name: {
                "sentences": each.n_sentences,
                "right": each.n_right,
                "corrected": each.n_corrected,
                "wrong": {str(number + 1): reason for number, reason in each.wrong.items()},
            }
            for name, each in found.items()
        },
        "kept": {
            name: f"the corrections have no {task.predicts}"
            for name, part in parts_of(nlp)
            if name not in found
            and (pipe is None or name in pipe)
            and (task := task_of(part)) is not None
        },
        "sample": None
        if sample is None
        else {"texts": len(texts), "changed": [vars(each) for each in changed]},
    }
    if report is not None:
        write_report(report, told)
    print_corrections(told, examples)
    typer.echo(f"Saved the corrected pipeline to {output}")
    return told


def read_texts(path: Path, nlp: Language) -> Iterable[str]:
    """Yield the texts of a file of Docs, or the lines of another one that are not blank."""
    from spacy_structreg.corpora.files import read_lines
    from spacy_structreg.pipeline.gold_docs import read_docbin

    if path.suffix == ".spacy":
        yield from (doc.text for doc in read_docbin(path, nlp.vocab))
        return
    for _, line in read_lines(path):
        if line.strip():
            yield line.strip()


def print_corrections(report: dict[str, Any], n_examples: int) -> None:
    """Print what has become of the corrections, and what else has changed."""
    from wasabi import msg

    rows = [
        (name, each["sentences"], each["right"], each["corrected"], len(each["wrong"]))
        for name, each in report["pipes"].items()
    ]
    msg.table(rows, header=("", "sentences", "right before", "corrected", "still wrong"))
    for name, reason in report["kept"].items():
        typer.echo(f"{name} stays as it is: {reason}")
    for name, each in report["pipes"].items():
        for number, reason in each["wrong"].items():
            msg.warn(
                f"{name}: sentence {number} still comes out wrong: "
                f"{reason or 'the model has no weights that make it right'}"
            )
    if (sample := report["sample"]) is not None:
        changed = sample["changed"]
        typer.echo(
            f"changed: {len(changed):,} of {number_of(sample['texts'], 'text')} of the sample"
        )
        for each in changed[:n_examples]:
            typer.echo(f"- {each['before']}\n+ {each['after']}")
