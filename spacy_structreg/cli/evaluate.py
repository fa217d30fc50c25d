"""`structreg evaluate`: the official figures of a pipeline on a gold corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.options import (
    ANY_CORPUS,
    CorpusArgument,
    PipelineArgument,
    format_option,
    load_pipeline,
)
from spacy_structreg.cli.outputs import check_file, number_of, write_report
from spacy_structreg.corpora.corpus_options import (
    AUTO,
    Compounds,
    CorpusOptions,
    Spaces,
    split_part,
)

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from spacy_structreg.pipeline.evaluation import Evaluation


class GivenName(str, Enum):
    """Parts of the gold corpus that a pipeline may be given."""

    text = "text"
    words = "words"
    words_and_tags = "words,tags"


class ConventionsName(str, Enum):
    """Conventions of counting brackets; see `metrics.constituents.CONVENTIONS`."""

    collins = "collins"
    plain = "plain"
    no_pu = "no_pu"


def evaluate(
    pipeline: PipelineArgument,
    gold: Annotated[Path, Arg(metavar="GOLD", help="Gold corpus")],
    *,
    given: Annotated[
        GivenName,
        Opt(
            "--gold",
            help="What the pipeline is given: text, which it segments (and annotates further, if "
            "it does); words, which its pipes annotate; or words,tags",
        ),
    ] = GivenName.text,
    compare: Annotated[
        str | None,
        Opt(
            "--compare",
            metavar="OTHER_PIPELINE",
            help="Folder or package of another pipeline, which is evaluated as well: for each "
            "figure the difference, and the probability p that one as large comes by chance alone "
            "(approximate randomization of sentences; Yeh 2000)",
        ),
    ] = None,
    options: CorpusArgument = ANY_CORPUS,
    train: Annotated[
        Path | None,
        Opt(
            "--train",
            help="Training corpus: its words are in the vocabulary. Of a SIGHAN 2005 release, the "
            "word list of the training set",
        ),
    ] = None,
    train_format: Annotated[
        str, format_option("--train-format", help="Format of the training corpus")
    ] = AUTO,
    output: Annotated[
        Path | None, Opt("--output", "-o", help="JSON file to write the figures to")
    ] = None,
    n_threads: Annotated[
        int, Opt("--threads", "-t", min=1, help="Threads that segment side by side")
    ] = 1,
    conventions: Annotated[
        ConventionsName,
        Opt(
            "--conventions",
            help="What of brackets counts. collins: as EVALB counts with COLLINS.prm; plain: all "
            "of them and all words; no_pu: without punctuation of the Chinese Treebank",
        ),
    ] = ConventionsName.collins,
    punctuation: Annotated[
        str | None,
        Opt(
            "--punctuation",
            help="The tags that punctuation bears, parted by spaces, for the figures of heads "
            "without it (*_nopunct): PU of the Chinese Treebank, \", . : '' ``\" of the Penn "
            "Treebank. Without the option, words of nothing but punctuation and symbols are left "
            "out",
        ),
    ] = None,
    explain: Annotated[bool, Opt("--explain", help="Say beside each figure what it is")] = False,
) -> dict[str, Any]:
    """Evaluate what a pipeline finds against a gold corpus.

    The pipeline segments the characters of each gold sentence. Precision, recall and F are those
    of the SIGHAN bakeoffs; figures on words out of the vocabulary need --train. Whatever else both
    the corpus and the pipeline have is scored as well: on raw text (seg_*, joint_*, tag_f, uas_f,
    las_f), or, with --gold words, on the gold words (tag_acc, dep_*, brackets_*), and with --gold
    words,tags on these and their gold tags. ents_* and label_acc are those of pipes that label,
    cats_* those of texts. Of several pipes that find entities, those count of whose labels the gold
    corpus has one. Sentences that are not wholly annotated count for words alone, and their
    number is printed. Figures are printed in percent, and written as fractions of 1; but
    brackets_crossing is a number of brackets. --explain says what each figure is.

    Returns the report. The figures are fractions of 1, under the keys of `metrics`: those of every
    task that the pipeline does and the corpus has annotation for (`evaluate_docs`), with tables of
    labels under ``…_per_type``. Beside them stand the counts behind them (``left_out`` sentences
    are not wholly annotated, and count for the figures of words alone), and what was evaluated on
    what; ``unscored`` names the pipes whose trees were not scored since those of brackets are not
    read without head rules; ``left_out`` those whose labels do not count, as the gold corpus has
    none of them, but some of other pipes; ``compare`` has the figures of another pipeline, the
    ``difference`` of the first one's from these, and ``p``
    (`metrics.significance.randomization_test`). Of the options of the gold corpus, encoding,
    compounds and the part of a SIGHAN release hold for the training corpus as well. Raises
    ValueError if no gold word has a tag of punctuation, and both
    ValueError and OSError as `read_docs`, `load_pipeline` and `evaluate_docs`, and if the output
    cannot be written.
    """
    from spacy_structreg.about import __version__
    from spacy_structreg.corpora.any_format import find_format
    from spacy_structreg.metrics.glossary import SCORE_GLOSSARY
    from spacy_structreg.pipeline.evaluation import evaluate_docs
    from spacy_structreg.pipeline.task import Given, ScoreSettings

    check_file(output, pipeline, compare, gold, train)
    options = replace(options, format=find_format(gold, options).name)
    nlp = load_pipeline(pipeline)
    other = None if compare is None else load_pipeline(compare)
    docs = read_gold(nlp, gold, options)
    tags = None if punctuation is None else frozenset(punctuation.split())
    if tags is not None:
        check_punctuation(tags, docs)
    vocabulary = None
    if train is not None:
        vocabulary = training_words(train, replace(options, format=train_format))
    settings = ScoreSettings(
        Given(given is not GivenName.text, given is GivenName.words_and_tags),
        vocabulary,
        conventions.value,
        tags,
    )
    by_doc = other is not None
    scores = evaluate_docs(nlp, docs, settings, n_threads=n_threads, by_doc=by_doc)
    unscored: list[str] = []
    if options.format == "brackets" and options.head_rules is None:
        unscored = without_trees(nlp, on_words=settings.given.words)
    report: dict[str, Any] = {
        **scores.figures,
        "counts": {"sentences": len(docs), **scores.counts},
        **scores.per_type,
        "pipeline": named(nlp),
        "gold": gold.name,
        "given": given.value,
        "conventions": conventions.value,
        "punctuation": None if tags is None else sorted(tags),
        "format": options.format,
        "head_rules": None if options.head_rules is None else options.head_rules.value,
        "unscored": unscored,
        "left_out": scores.left_out,
        "part": options.part,
        "days": None if options.days is None else sorted(options.days),
        "train": None if train is None else train.name,
        "spacy_structreg": __version__,
    }
    if other is not None:
        # Its Docs are of another vocabulary.
        theirs = read_gold(other, gold, options)
        found = evaluate_docs(other, theirs, settings, n_threads=n_threads, by_doc=True)
        report["compare"] = {"pipeline": named(other), "figures": compared(scores, found)}
    if output is not None:
        write_report(output, report)
    print_report(report, {**SCORE_GLOSSARY, **scores.meanings} if explain else None)
    if output is not None:
        typer.echo(f"Saved the figures to {output}")
    return report


def read_gold(nlp: Language, gold: Path, options: CorpusOptions) -> list[Doc]:
    """The Docs of a gold corpus, of the vocabulary of a pipeline. Raises as `read_docs`.

    options: with the format that the corpus has.
    """
    from spacy_structreg.pipeline.gold_docs import read_docs

    # Without spaces, column files of most languages are no texts.
    is_columns = options.format == "columns"
    options = replace(
        options,
        spans_key=labels_group(nlp),
        spaces=Spaces.auto if is_columns else options.spaces,
    )
    return list(read_docs(gold, nlp.vocab, options))


def compared(ours: Evaluation, theirs: Evaluation) -> dict[str, dict[str, float | None]]:
    """Figures of two pipelines on the same Docs, their difference, and how likely it is by chance.

    Of those figures that both have, and that are counted sentence by sentence.
    """
    from spacy_structreg.metrics.significance import randomization_test

    found: dict[str, dict[str, float | None]] = {}
    for key in ours.sentences:
        first, second = ours.figures[key], theirs.figures.get(key)
        # Another task may give this figure there, which is not counted sentence by sentence.
        if first is None or second is None or key not in theirs.sentences:
            continue
        found[key] = {
            "ours": first,
            "theirs": second,
            "difference": first - second,
            "p": randomization_test(ours.sentences[key], theirs.sentences[key]),
        }
    if not found:
        raise ValueError("the pipelines have no figure in common, so that they cannot be compared")
    return found


def labels_group(nlp: Language) -> str | None:
    """The span group that labels of a column file are for; None for entities."""
    from spacy_structreg.pipeline.task import all_tasks

    return next((key for task in all_tasks() if (key := task.spans_key(nlp)) is not None), None)


def without_trees(nlp: Language, *, on_words: bool) -> list[str]:
    """The pipes whose trees cannot be scored if a corpus is read without head rules."""
    from spacy_structreg.pipeline.task import all_tasks

    tasks = [task for task in all_tasks() if task.of_trees and (on_words or task.on_text)]
    return list(dict.fromkeys(name for task in tasks for name in task.parts(nlp)))


def named(nlp: Language) -> dict[str, Any]:
    """The name and version of a pipeline, for a report."""
    return {key: nlp.meta[key] for key in ("lang", "name", "version")}


def check_punctuation(tags: AbstractSet[str], docs: Iterable[Doc]) -> None:
    """Raise ValueError if no word has one of these tags."""
    if not any(token.tag_ in tags for doc in docs for token in doc if token.tag):
        raise ValueError(
            f"--punctuation is {' '.join(sorted(tags))!r}, but no word of the gold corpus has such "
            "a tag; name tags that it has, parted by spaces"
        )


def training_words(path: Path, options: CorpusOptions) -> set[str]:
    """The words of a training corpus: of a SIGHAN release those of its list; raises as `evaluate`.

    options: of the gold corpus, with the format of this one.
    """
    from spacy_structreg.corpora.any_format import find_format
    from spacy_structreg.corpora.files import line_encoding
    from spacy_structreg.corpora.formats.sighan import is_release, training_vocabulary
    from spacy_structreg.pipeline.gold_docs import read_sentences

    if options.part is not None and is_release(path):
        original = None if line_encoding(options.encoding) == "utf-8" else True
        corpus, _ = split_part(options.part)
        listed = training_vocabulary(path, corpus, original=original)
        return {"".join(word.split()) for word in listed} - {""}
    # Training sets are taken whole.
    whole = replace(options, days=None, part=None, compounds=Compounds.parts, head_rules=None)
    whole = replace(whole, format=find_format(path, whole).name)
    if whole.format == "pfr":
        whole = replace(whole, compounds=options.compounds)
    words = (word for sentence in read_sentences(path, whole) for word in sentence.words)
    return {"".join(word.split()) for word in words} - {""}


# Reports -----------------------------------------------------------------------------------------


def print_report(report: Mapping[str, Any], meanings: Mapping[str, str] | None = None) -> None:
    """Print the figures of a report in percent, and what else is to be known of them.

    `-` stands for figures that are not known. That of crossing brackets is their number in a
    sentence. meanings: of figures, to be printed beside them.
    """
    from wasabi import msg

    # Figures stand before the counts behind them.
    rows = []
    for key, figure in report.items():
        if key == "counts":
            break
        is_number = key.startswith("brackets_crossing") and figure is not None
        row = (key, f"{figure:.2f}" if is_number else percent(figure))
        rows.append(row if meanings is None else (*row, meanings.get(key, "")))
    msg.table(rows, title=f"{report['gold']}, {report['counts']['sentences']:,} sentences")
    for key, table in report.items():
        if key.endswith("_per_type") and table:
            lines = [
                (label, *(percent(figures[kind]) for kind in "prf"))
                for label, figures in table.items()
            ]
            msg.table(lines, header=("", "P", "R", "F"), aligns=("l", "r", "r", "r"))
    if "compare" in report:
        lines = [
            (
                key,
                percent(each["ours"]),
                percent(each["theirs"]),
                f"{100 * each['difference']:+.2f}",
                f"{each['p']:.4f}",
            )
            for key, each in report["compare"]["figures"].items()
        ]
        header = ("", "this", "other", "difference", "p")
        msg.table(lines, header=header, aligns=("l", "r", "r", "r", "r"))
    counts = report["counts"].values()
    if n_partial := max(each.get("left_out", 0) for each in counts if isinstance(each, dict)):
        typer.echo(
            f"Not wholly annotated, and counted for words alone: {number_of(n_partial, 'sentence')}"
        )
    if left_out := report["left_out"]:
        typer.echo(
            f"Not counted, as the gold corpus has none of their labels: {', '.join(left_out)}"
        )
    if unscored := report["unscored"]:
        typer.echo(
            "Without --head-rules, brackets are words and tags alone: add it (ctb or ptb) to "
            f"score {', '.join(unscored)}"
        )


def percent(figure: float | None) -> str:
    """A figure in percent; `-` if it is not known."""
    return "-" if figure is None else f"{100 * figure:.2f}"
