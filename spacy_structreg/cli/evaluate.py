"""`structreg evaluate`: the official figures of a pipeline on a gold corpus."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spacy_structreg.cli.corpus_files import (
    COMPOUNDS_HELP,
    DAYS_HELP,
    ENCODING_HELP,
    FORMATS_HELP,
    PART_HELP,
    Compounds,
    CorpusFormat,
    CorpusOptions,
    Sentence,
    Spaces,
    find_format,
    is_release,
    parse_days,
    read_sentences,
    split_part,
)
from spacy_structreg.cli.errors import user_errors

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_structreg.metrics.segmentation import SegmentationScores

__all__ = ["evaluate", "evaluate_command", "score_pipeline"]


def evaluate_command(
    pipeline: Annotated[
        str, typer.Argument(metavar="PIPELINE", help="Folder or package of a trained pipeline")
    ],
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="Gold corpus")],
    *,
    format: Annotated[
        CorpusFormat, typer.Option("--format", "-f", help=FORMATS_HELP)
    ] = CorpusFormat.auto,
    train: Annotated[
        Path | None,
        typer.Option(
            "--train",
            help="Training corpus: its words are in the vocabulary. Of a SIGHAN 2005 release, the "
            "word list of the training set",
        ),
    ] = None,
    train_format: Annotated[
        CorpusFormat, typer.Option("--train-format", help="Format of the training corpus")
    ] = CorpusFormat.auto,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="JSON file to write the figures to")
    ] = None,
    threads: Annotated[
        int, typer.Option("--threads", "-t", min=1, help="Threads that segment side by side")
    ] = 1,
    encoding: Annotated[str, typer.Option("--encoding", "-e", help=ENCODING_HELP)] = "utf-8",
    compounds: Annotated[
        Compounds, typer.Option("--compounds", help=COMPOUNDS_HELP)
    ] = Compounds.parts,
    days: Annotated[str | None, typer.Option("--days", help=DAYS_HELP)] = None,
    part: Annotated[str | None, typer.Option("--part", help=PART_HELP)] = None,
) -> None:
    """Evaluate the words of a pipeline against a gold corpus.

    The pipeline segments the characters of each gold sentence. Precision, recall and F are those
    of the SIGHAN bakeoffs; figures on words out of the vocabulary need --train. They are printed
    in percent, and written as fractions of 1.
    """
    with user_errors():
        options = CorpusOptions(format, encoding, compounds, parse_days(days), part, Spaces.none)
        report = evaluate(
            pipeline,
            gold,
            options,
            train=train,
            train_format=train_format,
            output=output,
            n_threads=threads,
        )
        print_table(report)
        if output is not None:
            typer.echo(f"Saved the figures to {output}")


def evaluate(
    pipeline: str,
    gold: Path,
    options: CorpusOptions | None = None,
    *,
    train: Path | None = None,
    train_format: CorpusFormat = CorpusFormat.auto,
    output: Path | None = None,
    n_threads: int = 1,
) -> dict[str, Any]:
    """Score a pipeline on a gold corpus; returns the report, and writes it to a file if asked.

    The six figures are fractions of 1, under the keys of `metrics.segmentation`; beside them stand
    the counts behind them, and what was evaluated on what. options: of the gold corpus; encoding,
    compounds and the corpus of a SIGHAN release hold for the training corpus as well. Raises
    ValueError and OSError as `read_sentences` and `load_pipeline`, and if the output cannot be
    written.
    """
    from spacy_structreg.about import __version__
    from spacy_structreg.cli.pipelines import load_pipeline

    options = options or CorpusOptions()
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
    options = replace(options, format=find_format(gold, options))
    sentences = list(read_sentences(gold, options))
    vocabulary = None
    if train is not None:
        vocabulary = training_words(train, replace(options, format=train_format))
    nlp = load_pipeline(pipeline)
    scores = score_pipeline(nlp, sentences, vocabulary, n_threads=n_threads)
    report: dict[str, Any] = {
        **scores.as_dict(),
        "counts": {
            "sentences": len(sentences),
            "gold": scores.gold,
            "predicted": scores.predicted,
            "correct": scores.correct,
            "oov": scores.oov,
            "oov_correct": scores.oov_correct,
        },
        "pipeline": {
            "lang": nlp.meta["lang"],
            "name": nlp.meta["name"],
            "version": nlp.meta["version"],
        },
        "gold": gold.name,
        "format": options.format.value,
        "part": options.part,
        "days": None if options.days is None else sorted(options.days),
        "train": None if train is None else train.name,
        "spacy_structreg": __version__,
    }
    if output is not None:
        write_report(output, report)
    return report


def training_words(path: Path, options: CorpusOptions) -> set[str]:
    """The words of a training corpus: of a SIGHAN release those of its list; raises as `evaluate`.

    options: of the gold corpus, with the format of this one.
    """
    from spacy_structreg.corpora.files import line_encoding
    from spacy_structreg.corpora.sighan import training_vocabulary

    if options.part is not None and is_release(path):
        original = None if line_encoding(options.encoding) == "utf-8" else True
        corpus, _ = split_part(options.part)
        return set(squeezed(list(training_vocabulary(path, corpus, original=original))))
    # Training sets are taken whole.
    whole = replace(options, days=None, part=None, compounds=Compounds.parts)
    whole = replace(whole, format=find_format(path, whole))
    if whole.format is CorpusFormat.pfr:
        whole = replace(whole, compounds=options.compounds)
    return {word for sentence in read_sentences(path, whole) for word in squeezed(sentence.words)}


def score_pipeline(
    nlp: Language,
    sentences: list[Sentence],
    vocabulary: set[str] | None = None,
    *,
    n_threads: int = 1,
) -> SegmentationScores:
    """Segment the characters of each gold sentence, and score the words.

    vocabulary: the words of the training corpus. White space within words is left out on both
    sides. Shows a progress bar on standard error, if that is a terminal. Raises ValueError if there
    are no words to score, or the pipeline cannot segment.
    """
    from tqdm import tqdm

    from spacy_structreg.cli.pipelines import segmented
    from spacy_structreg.metrics.segmentation import score_segmentation

    gold = [squeezed(sentence.words) for sentence in sentences]
    if not any(gold):
        raise ValueError("the gold corpus has no words to score")
    predicted = segmented(nlp, map("".join, gold), n_threads=n_threads)
    bar = tqdm(predicted, desc="evaluate", unit=" sentences", total=len(gold), disable=None)
    with bar:
        return score_segmentation(gold, bar, vocabulary)


def squeezed(words: list[str]) -> list[str]:
    """Words without the white space in them, and without those that are nothing else."""
    return [word for word in ("".join(word.split()) for word in words) if word]


def print_table(report: dict[str, Any]) -> None:
    """Print the figures of a report in percent; `-` stands for those that are not known."""
    from wasabi import msg

    from spacy_structreg.metrics.segmentation import SegmentationScores

    rows = []
    for key in SegmentationScores(0, 0, 0).as_dict():
        figure = report[key]
        rows.append((key, "-" if figure is None else f"{100 * figure:.2f}"))
    msg.table(rows, title=f"{report['gold']}, {report['counts']['sentences']:,} sentences")


def write_report(path: Path, report: dict[str, Any]) -> None:
    """Write a report as JSON, in one step."""
    from spacy_structreg.corpora.files import replace_text

    with replace_text(path) as stream:
        stream.write(json.dumps(report, ensure_ascii=False, indent=2) + "\n")
