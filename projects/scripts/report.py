"""Report how a Chinese pipeline does on every register, on changed texts and on typed runs.

`python ../scripts/report.py PIPELINE` in the folder of a project.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from sentence_variants import (
    half_width_punctuation,
    rewritten,
    with_spaces,
    without_final_punctuation,
    without_punctuation,
)
from spacy.language import Language
from spacy.tokens import Doc
from text_figures import annotate_texts, count_crossed_words, count_texts
from typed_run_cases import TypedRunCase, has_right_runs, read_typed_runs
from wasabi import msg

from spacy_structreg.about import __version__
from spacy_structreg.cli.commands import run
from spacy_structreg.cli.evaluate import named
from spacy_structreg.cli.options import PipelineArgument, load_pipeline
from spacy_structreg.cli.outputs import ForceOption, check_file, write_report
from spacy_structreg.corpora.corpus_options import CorpusOptions, HeadRuleSet
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.features.scripts import opencc_script
from spacy_structreg.metrics.figures import Counts
from spacy_structreg.pipeline.documents import tagged_words
from spacy_structreg.pipeline.evaluation import found_words
from spacy_structreg.pipeline.gold_docs import doc_of_sentence, read_sentences

ALL: Final = "all"
SAME: Final = "same"
CROSSED: Final = "crossed"
WORDS: Final = "seg_f"
ENTITIES: Final = "ents_f"
SUFFIX: Final = ".bracket"
TYPED_RUNS: Final = "typed_runs.txt"


class TreebankPart(str, Enum):
    """Parts of the treebank that pipelines are not trained on."""

    test = "test"
    dev = "dev"


def report(
    pipeline: PipelineArgument,
    *,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="OTHER_PIPELINE",
            help="Folder or package of another pipeline: each figure is printed with its change "
            "from the other's",
        ),
    ] = None,
    treebank: Annotated[
        Path,
        typer.Option(
            "--treebank",
            help=f"Folder with PART/REGISTER{SUFFIX}, trees of the Chinese Treebank's format",
        ),
    ] = Path("treebank"),
    typed_runs: Annotated[
        Path | None,
        typer.Option(
            "--typed-runs", help=f"File of typed runs; the treebank's own is {TYPED_RUNS}"
        ),
    ] = None,
    part: Annotated[
        TreebankPart, typer.Option("--part", help="Part of the treebank")
    ] = TreebankPart.test,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="JSON file to write the figures to")
    ] = None,
    force: ForceOption = False,
) -> dict[str, Any]:
    """Report how a Chinese pipeline does on text of every kind.

    Figures are F in percent, from raw text, of what the pipeline has: words, words with tags,
    heads, constituents, entities. First on each register of a treebank, where "crossed" is the
    share of gold words that a found word crosses, an error by any standard; then on each type of
    entity; then on all sentences in traditional script and with other punctuation, where "same" is
    the share of sentences with the words and tags of the unchanged text; last, how many typed runs
    (URLs, measures, emoticons) are cut rightly.

    Returns the report, which is written to a file if asked. ``registers`` and ``variants`` have a
    row by each name, and ``all`` is one: the number of ``sentences``, ``figures`` as fractions of 1
    (None if nothing was to be counted), and with `against` their ``changes`` from the other
    pipeline's. ``entities`` has the number of gold entities of each type (``gold``), ``p``, ``r``
    and ``f``, if the pipeline finds any. A variant that cannot be made has ``missing`` in their
    place, which says why. ``typed_runs`` has the ``right`` ones of the ``cases`` of each kind, and
    their ``change``; it is empty if the treebank has none. Raises ValueError if the treebank has no
    such part, the output exists (unless `force`), or a pipeline is untrained; ValueError and
    OSError for faulty files, and as `load_pipeline`.
    """
    files = register_files(treebank, part)
    runs = typed_runs or treebank / TYPED_RUNS
    check_file(output, *files.values(), runs, pipeline, against, force=force)
    cases = list(read_typed_runs(runs)) if typed_runs or runs.exists() else []
    registers = {name: read_register(path) for name, path in files.items()}
    variants = changed_texts([each for register in registers.values() for each in register])
    nlp = load_pipeline(pipeline)
    other = None if against is None else load_pipeline(against)
    ours = measure(nlp, registers, variants, cases)
    theirs = None if other is None else measure(other, registers, variants, cases)
    found: dict[str, Any] = {
        **as_report(ours, theirs),
        "pipeline": named(nlp),
        "against": None if other is None else named(other),
        "treebank": treebank.resolve().name,
        "part": part.value,
        "spacy_structreg": __version__,
    }
    if output is not None:
        write_report(output, found)
    print_report(found)
    if output is not None:
        typer.echo(f"Saved the figures to {output}")
    return found


# Texts -------------------------------------------------------------------------------------------


def register_files(treebank: Path, part: TreebankPart) -> dict[str, Path]:
    """The files of a part of a treebank, by register. Raises ValueError if there are none."""
    folder = treebank / part.value
    files = {path.name.removesuffix(SUFFIX): path for path in sorted(folder.glob(f"*{SUFFIX}"))}
    if not files:
        raise ValueError(
            f"{folder} has no file *{SUFFIX}; name the folder of a treebank with --treebank"
        )
    return files


def read_register(path: Path) -> list[Sentence]:
    """The sentences of a file, with trees and heads, and the spaces of their texts."""
    options = CorpusOptions(format="brackets", head_rules=HeadRuleSet.ctb)
    return list(map(with_spaces, read_sentences(path, options)))


def changed_texts(
    sentences: Sequence[Sentence],
) -> dict[str, list[Sentence] | str]:
    """The sentences as others would write them, by variant; or why there are none of one."""
    found: dict[str, list[Sentence] | str] = {}
    try:
        see = opencc_script("s2t", "this text", "go without").normalize
        found["traditional script"] = [rewritten(each, see) for each in sentences]
    except ImportError as error:
        found["traditional script"] = str(error)
    for name, change in (
        ("half-width punctuation", half_width_punctuation),
        ("without final punctuation", without_final_punctuation),
        ("without punctuation", without_punctuation),
    ):
        found[name] = [each for each in map(change, sentences) if each is not None]
    return found


# Figures -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """The counts behind the figures of some sentences, by the keys of the figures.

    crossed: how many gold words a found word crosses; None if that was not counted.
    """

    sentences: int
    counts: Mapping[str, Counts]
    crossed: int | None = None

    def figures(self) -> dict[str, float | None]:
        """The figures, as fractions of 1."""
        found = {key: counts.f for key, counts in self.counts.items()}
        words = self.counts.get(WORDS)
        if self.crossed is not None and words is not None:
            found[CROSSED] = self.crossed / words.gold if words.gold else None
        return found


@dataclass(frozen=True)
class Measured:
    """Counts of a pipeline; a variant that could not be made says why."""

    registers: dict[str, Row]
    all: Row
    entities: Mapping[str, Counts]
    variants: dict[str, Row | str]
    right: Counter[str]
    cases: Counter[str]


def measure(
    nlp: Language,
    registers: Mapping[str, Sequence[Sentence]],
    variants: Mapping[str, Sequence[Sentence] | str],
    cases: Sequence[TypedRunCase],
) -> Measured:
    """Count what a pipeline gets right. Raises ValueError if it has not been trained."""

    def annotated(sentences: Iterable[Sentence]) -> list[tuple[Doc, Doc]]:
        return annotate_texts(nlp, [doc_of_sentence(nlp.vocab, each) for each in sentences])

    pairs = annotated(each for register in registers.values() for each in register)
    waiting = iter(pairs)
    rows = {
        name: counted(nlp, list(islice(waiting, len(register))))
        for name, register in registers.items()
    }
    changed: dict[str, Row | str] = {}
    for name, sentences in variants.items():
        if isinstance(sentences, str):
            changed[name] = sentences
            continue
        others = annotated(sentences)
        counts = count_texts(nlp, others)
        if [places(doc) for doc, _ in others] == [places(doc) for doc, _ in pairs]:
            same = sum(
                shape(first) == shape(second)
                for (_, first), (_, second) in zip(pairs, others, strict=True)
            )
            counts[SAME] = Counts(len(pairs), len(pairs), same)
        changed[name] = Row(len(others), counts)
    right: Counter[str] = Counter()
    found = found_words(nlp, (case.text for case in cases))
    for case, words in zip(cases, found, strict=True):
        right[case.kind] += has_right_runs(case.text, case.runs, words, whole=case.whole)
    every = counted(nlp, pairs)
    return Measured(
        rows,
        every,
        counted_entities(pairs) if ENTITIES in every.counts else {},
        changed,
        right,
        Counter(case.kind for case in cases),
    )


def counted(nlp: Language, pairs: Sequence[tuple[Doc, Doc]]) -> Row:
    """The counts of the sentences of a register, with those of gold words that are crossed."""
    return Row(len(pairs), count_texts(nlp, pairs), count_crossed_words(pairs))


def counted_entities(pairs: Sequence[tuple[Doc, Doc]]) -> dict[str, Counts]:
    """The counts of the entities of each type; right ones have the same characters and type."""
    counters = [Counter[str](), Counter[str](), Counter[str]()]
    for pair in pairs:
        gold, found = ({(e.start_char, e.end_char, e.label_) for e in doc.ents} for doc in pair)
        for counter, spans in zip(counters, (gold, found, gold & found), strict=True):
            counter.update(label for *_, label in spans)
    labels = sorted({label for counter in counters for label in counter})
    return {label: Counts(*(counter[label] for counter in counters)) for label in labels}


def places(doc: Doc) -> list[int]:
    """Offsets at which the tokens of a Doc begin."""
    return [token.idx for token in doc]


def shape(doc: Doc) -> list[tuple[int, str]]:
    """The lengths of the words of a Doc, and their tags."""
    return [(len(word), tag) for word, tag in tagged_words(doc)]


def as_report(ours: Measured, theirs: Measured | None) -> dict[str, Any]:
    """Figures from counts, with their changes from those of another pipeline."""
    kinds = {
        kind: {
            "right": ours.right[kind],
            "cases": n,
            **({} if theirs is None else {"change": ours.right[kind] - theirs.right[kind]}),
        }
        for kind, n in ours.cases.items()
    }
    if kinds:
        kinds[ALL] = {
            key: sum(each[key] for each in kinds.values()) for key in next(iter(kinds.values()))
        }
    return {
        "registers": {
            name: row_report(row, None if theirs is None else theirs.registers[name])
            for name, row in ours.registers.items()
        },
        "all": row_report(ours.all, None if theirs is None else theirs.all),
        "entities": {
            label: {
                "gold": counts.gold,
                "p": counts.correct / counts.predicted if counts.predicted else None,
                "r": counts.correct / counts.gold if counts.gold else None,
                "f": counts.f,
            }
            for label, counts in ours.entities.items()
        },
        "variants": {
            name: {"missing": row}
            if isinstance(row, str)
            else row_report(row, None if theirs is None else theirs.variants[name])
            for name, row in ours.variants.items()
        },
        "typed_runs": kinds,
    }


def row_report(ours: Row, theirs: Row | str | None) -> dict[str, Any]:
    """The figures of a row, and their changes from those of another pipeline that has them."""
    figures = ours.figures()
    row: dict[str, Any] = {"sentences": ours.sentences, "figures": figures}
    if isinstance(theirs, Row):
        others = theirs.figures()
        row["changes"] = {
            key: figure - other
            for key, figure in figures.items()
            if figure is not None and (other := others.get(key)) is not None
        }
    return row


# Tables ------------------------------------------------------------------------------------------


def print_report(found: Mapping[str, Any]) -> None:
    """Print the tables of a report: figures in percent, with their changes in brackets."""
    registers = {**found["registers"], ALL: found["all"]}
    variants = {
        f"{name} (needs OpenCC)" if "missing" in row else name: row
        for name, row in found["variants"].items()
    }
    for title, rows in (("registers", registers), ("variants", variants)):
        keys = list(dict.fromkeys(key for row in rows.values() for key in row.get("figures", ())))
        lines = [
            (
                name,
                f"{row['sentences']:,}" if "sentences" in row else "",
                *(cell(row, key) for key in keys),
            )
            for name, row in rows.items()
        ]
        print_table(f"{found['part']}, {title}", ["", "sentences", *keys], lines)
    if entities := found["entities"]:
        lines = [
            (label, f"{row['gold']:,}", *(percent(row[key]) for key in "prf"))
            for label, row in entities.items()
        ]
        print_table("types of entities", ["", "gold", "p", "r", "f"], lines)
    if runs := found["typed_runs"]:
        lines = [
            (kind, f"{row['right']}/{row['cases']}" + bracketed(row.get("change"), "+d"))
            for kind, row in runs.items()
        ]
        print_table("typed runs", ["", "right"], lines)
    else:
        msg.text(f"{found['treebank']} has no {TYPED_RUNS}, so that typed runs are not scored")


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, all columns but the first aligned to the right."""
    aligns = ["l", *("r" for _ in header[1:])]
    # Columns are as wide as they must be: names of variants are long.
    msg.table(rows, header=header, aligns=aligns, title=title, max_col=60)


def cell(row: Mapping[str, Any], key: str) -> str:
    """A figure of a row in percent and its change; empty if there is none."""
    figure = row.get("figures", {}).get(key)
    if figure is None:
        return ""
    change = row.get("changes", {}).get(key)
    # Crossed words are so few that a tenth of a percent is much.
    digits = 2 if key == CROSSED else 1
    # Without the sign of a zero that was rounded.
    points = None if change is None else round(100 * change, digits) + 0.0
    return f"{100 * figure:.{digits}f}" + bracketed(points, f"+.{digits}f")


def percent(figure: float | None) -> str:
    """A figure in percent; empty if there is none."""
    return "" if figure is None else f"{100 * figure:.1f}"


def bracketed(change: float | None, form: str) -> str:
    """A change in brackets, with its sign; empty for None."""
    return "" if change is None else f" ({change:{form}})"


if __name__ == "__main__":
    run(report)
