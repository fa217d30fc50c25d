"""`structreg evaluate`: the official figures of a pipeline on a gold corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spacy_structreg.cli.corpus_files import CorpusFormat, Sentence, detect_format, read_sentences
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
        CorpusFormat,
        typer.Option(
            "--format",
            "-f",
            help="segmented: one sentence a line, words separated by white space; brackets: "
            "trees of the Chinese Treebank; spacy: Docs; auto: look at each file",
        ),
    ] = CorpusFormat.auto,
    train: Annotated[
        Path | None,
        typer.Option(
            "--train", help="Training corpus, in any format: its words are in the vocabulary"
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="JSON file to write the figures to")
    ] = None,
    threads: Annotated[
        int, typer.Option("--threads", "-t", min=1, help="Threads that segment side by side")
    ] = 1,
    encoding: Annotated[
        str, typer.Option("--encoding", "-e", help="Encoding of the corpora (gb18030, ...)")
    ] = "utf-8",
) -> None:
    """Evaluate the words of a pipeline against a gold corpus.

    The pipeline segments the characters of each gold sentence. Precision, recall and F are those
    of the SIGHAN bakeoffs; figures on words out of the vocabulary need --train. They are printed
    in percent, and written as fractions of 1.
    """
    with user_errors():
        report = evaluate(
            pipeline,
            gold,
            format,
            train=train,
            output=output,
            n_threads=threads,
            encoding=encoding,
        )
        print_table(report)
        if output is not None:
            typer.echo(f"Saved the figures to {output}")


def evaluate(
    pipeline: str,
    gold: Path,
    format: CorpusFormat = CorpusFormat.auto,
    *,
    train: Path | None = None,
    output: Path | None = None,
    n_threads: int = 1,
    encoding: str = "utf-8",
) -> dict[str, Any]:
    """Score a pipeline on a gold corpus; returns the report, and writes it to a file if asked.

    The six figures are fractions of 1, under the keys of `metrics.segmentation`; beside them stand
    the counts behind them, and what was evaluated on what. format: of the gold corpus; that of the
    training corpus is looked for in the file. Raises ValueError and OSError as `read_sentences`
    and `load_pipeline`, and if the output cannot be written.
    """
    from spacy_structreg.about import __version__
    from spacy_structreg.cli.pipelines import load_pipeline

    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
    if format is CorpusFormat.auto:
        format = detect_format(gold, encoding=encoding)
    sentences = list(read_sentences(gold, format, encoding=encoding))
    vocabulary = None
    if train is not None:
        vocabulary = {
            word
            for sentence in read_sentences(train, encoding=encoding)
            for word in squeezed(sentence.words)
        }
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
        "format": format.value,
        "train": None if train is None else train.name,
        "spacy_structreg": __version__,
    }
    if output is not None:
        write_report(output, report)
    return report


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
