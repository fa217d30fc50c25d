"""`structreg convert`: corpora to spaCy's binary format, to segmented text, or to CoNLL-U."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from spacy_structreg.cli.corpus_files import (
    COLUMNS_HELP,
    COMMENTS_HELP,
    COMPOUNDS_HELP,
    DAYS_HELP,
    ENCODING_HELP,
    FORMATS_HELP,
    HEAD_RULES_HELP,
    PART_HELP,
    SCHEME_HELP,
    SPANS_KEY_HELP,
    TEXT_SUFFIXES,
    Compounds,
    CorpusFormat,
    CorpusOptions,
    HeadRuleSet,
    SchemeName,
    Sentence,
    Spaces,
    doc_of_sentence,
    find_format,
    joined,
    parse_columns,
    parse_days,
    read_sentences,
)
from spacy_structreg.cli.errors import user_errors
from spacy_structreg.cli.outputs import check_file

if TYPE_CHECKING:
    from spacy_structreg.corpora import conllu

__all__ = ["Counts", "convert", "convert_command", "parse_percent"]

PERCENT = re.compile("([0-9]{1,3}):([0-9]{1,3})")
WHOLE = (0, 100)
TREEBANK_SUFFIXES = (".conllu", ".conllu.gz", ".conllu.xz")


class Counts(NamedTuple):
    """What has been written.

    bad_trees: sentences whose heads were left out, as they are no tree. bad_pos: words whose
    universal tag was left out, as there is none of that name.
    """

    sentences: int
    words: int
    bad_trees: int = 0
    bad_pos: int = 0


def convert_command(
    inputs: Annotated[list[Path], typer.Argument(metavar="INPUT", help="Corpus files")],
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUTPUT",
            help="File to write: .spacy, .conllu for CoNLL-U, or .txt for segmented text",
        ),
    ],
    *,
    format: Annotated[
        CorpusFormat, typer.Option("--format", "-f", help=FORMATS_HELP)
    ] = CorpusFormat.auto,
    encoding: Annotated[str, typer.Option("--encoding", "-e", help=ENCODING_HELP)] = "utf-8",
    spaces: Annotated[
        Spaces,
        typer.Option(
            "--spaces",
            help="CoNLL-U: which spaces the text has. file: all but those that SpaceAfter=No takes "
            "away; none; auto: as the file has them, unless it never says SpaceAfter=No and "
            "would have them between Han characters. Columns: none; auto: between all words but "
            "next to Han characters",
        ),
    ] = Spaces.auto,
    compounds: Annotated[
        Compounds, typer.Option("--compounds", help=COMPOUNDS_HELP)
    ] = Compounds.parts,
    days: Annotated[str | None, typer.Option("--days", help=DAYS_HELP)] = None,
    part: Annotated[str | None, typer.Option("--part", help=PART_HELP)] = None,
    head_rules: Annotated[
        HeadRuleSet | None, typer.Option("--head-rules", help=HEAD_RULES_HELP)
    ] = None,
    columns: Annotated[str | None, typer.Option("--columns", help=COLUMNS_HELP)] = None,
    scheme: Annotated[SchemeName, typer.Option("--scheme", help=SCHEME_HELP)] = SchemeName.auto,
    comments: Annotated[str | None, typer.Option("--comments", help=COMMENTS_HELP)] = None,
    spans_key: Annotated[str | None, typer.Option("--spans-key", help=SPANS_KEY_HELP)] = None,
    group: Annotated[
        int,
        typer.Option(
            "--sentences-per-doc", "-n", min=1, help="Columns: so many sentences make a Doc"
        ),
    ] = 1,
    lang: Annotated[
        str,
        typer.Option(
            "--lang",
            "-l",
            help="Classified: spaCy's code of the language, whose tokenizer parts "
            "the texts; a pipeline that is trained parts them by its own again",
        ),
    ] = "xx",
    percent: Annotated[
        str,
        typer.Option(
            "--percent",
            help="Which sentences, in percent of all, to hold some out: 0:90 and 90:100",
        ),
    ] = "0:100",
) -> None:
    """Convert corpora to a .spacy file for training.

    Each sentence (of PFR, each paragraph) becomes one Doc: its words, and what the corpus has of
    tags and of heads and relations; with --head-rules, also the trees of brackets, in the span
    group "constituents", and the heads that the rules find. Of column files, labels become
    entities, or spans with --spans-key; classified texts have their category in doc.cats. There are
    no spaces between words, except for the ones that CoNLL-U files name, and in columns and texts;
    .spacy files lose theirs, and dependency trees and entities that are annotated in part. Nothing
    else is taken over, such as lemmas; .conllu holds neither constituents nor labels nor
    categories, and .txt words alone. Several input files become one output file, in their order.
    """
    with user_errors():
        options = CorpusOptions(
            format,
            encoding,
            compounds,
            parse_days(days),
            part,
            spaces,
            head_rules,
            columns=parse_columns(columns),
            scheme=scheme,
            comments=comments,
            labels_key=spans_key,
            lang=lang,
        )
        counts = convert(inputs, output, options, percent=parse_percent(percent), group=group)
        kind = "sentences" if group == 1 else "Docs"
        message = f"{output}: {counts.sentences:,} {kind}, {counts.words:,} words"
        if counts.bad_trees:
            message += f"; the heads of {counts.bad_trees:,} sentences left out: they are no tree"
        if counts.bad_pos:
            message += f"; {counts.bad_pos:,} tags left out: UD has none of their names"
        typer.echo(message)


def parse_percent(text: str) -> tuple[int, int]:
    """Begin and end, in percent, from such as `0:90`. Raises ValueError for anything else."""
    found = PERCENT.fullmatch(text)
    begin, end = (int(found[1]), int(found[2])) if found else (0, 0)
    if not begin < end <= 100:
        raise ValueError(f"--percent is {text!r}; write begin and end, such as 0:90 or 90:100")
    return begin, end


def convert(
    inputs: Sequence[Path],
    output: Path,
    options: CorpusOptions | None = None,
    *,
    percent: tuple[int, int] = WHOLE,
    group: int = 1,
) -> Counts:
    """Write the sentences of corpora to a `.spacy` file of Docs, to `.conllu`, or to `.txt`.

    percent: which of the n sentences of all inputs together: from n · begin // 100 to n · end //
        100, so that 0:90 and 90:100 share none and leave none out. group: how many sentences make a
        Doc, of column files, whose sentences are counted after that.

    The output is written in one step, and not at all if anything fails; its folder is made if
    need be. Shows a progress bar on standard error, if that is a terminal. Raises ValueError for
    another kind of output, if no sentence is left, and as `read_sentences`; OSError for files that
    cannot be read or written.
    """
    from tqdm import tqdm

    from spacy_structreg.corpora.segmented import write_segmented

    name = output.name.lower()
    if not name.endswith((*TEXT_SUFFIXES, *TREEBANK_SUFFIXES)) and output.suffix != ".spacy":
        raise ValueError(
            f"{output}: name an output that ends in .spacy, in .conllu, or in .txt for text"
        )
    check_file(output, *inputs)

    def read() -> Iterator[Sentence]:
        for path in inputs:
            sentences = read_sentences(path, options)
            if (
                group > 1
                and find_format(path, options or CorpusOptions()) is not CorpusFormat.columns
            ):
                raise ValueError(
                    f"{path}: --sentences-per-doc is for column files; leave the option out"
                )
            yield from joined(sentences, group) if group > 1 else sentences

    begin, end = 0, None
    if percent != WHOLE:
        total = sum(1 for _ in read())
        begin, end = (total * share // 100 for share in percent)
        if begin == end:
            raise ValueError(
                f"of {total} sentences, none is between {percent[0]} and {percent[1]} percent; "
                "take more of them"
            )
    counts = Counts(0, 0)

    def counted() -> Iterator[Sentence]:
        nonlocal counts
        for sentence in islice(read(), begin, end):
            counts = Counts(
                counts.sentences + 1,
                counts.words + len(sentence.words),
                counts.bad_trees + sentence.bad_tree,
                counts.bad_pos + sentence.bad_pos,
            )
            yield sentence

    with tqdm(counted(), desc="convert", unit=" sentences", disable=None) as bar:
        if name.endswith(TREEBANK_SUFFIXES):
            write_treebank(output, bar)
        elif name.endswith(TEXT_SUFFIXES):
            write_segmented(output, (sentence.words for sentence in bar))
        else:
            write_docs(output, bar, None if options is None else options.labels_key)
    return counts


def write_docs(path: Path, sentences: Iterable[Sentence], labels_key: str | None = None) -> None:
    """Write sentences as Docs, in one step. labels_key: of labelled spans; None for the usual."""
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    from spacy_structreg.corpora.files import replace_bytes

    vocab = Vocab()
    docs = DocBin(attrs=["ORTH", "TAG", "POS", "HEAD", "DEP", "SENT_START", "ENT_IOB", "ENT_TYPE"])
    for sentence in sentences:
        docs.add(doc_of_sentence(vocab, sentence, labels_key=labels_key))
    with replace_bytes(path) as stream:
        stream.write(docs.to_bytes())


def write_treebank(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write sentences as CoNLL-U, in one step; a paragraph of several becomes several.

    Raises ValueError as `write_conllu`.
    """
    from spacy_structreg.corpora.conllu import write_conllu

    write_conllu(path, (rows for sentence in sentences for rows in treebank_sentences(sentence)))


def treebank_sentences(sentence: Sentence) -> Iterator[conllu.Sentence]:
    """The sentences of a paragraph as those of CoNLL-U."""
    from spacy_structreg.corpora.conllu import NOTHING, Word
    from spacy_structreg.corpora.conllu import Sentence as Rows

    n = len(sentence.words)
    # Where there are spaces at all, one follows the sentence.
    spaces = [*sentence.spaces[:-1], True] if sentence.spaces else [False] * n
    firsts = [index for index, starts in enumerate(sentence.starts or [True]) if starts]
    for first, end in pairwise([*firsts, n]):
        rows = []
        for index in range(first, end):
            head = sentence.heads[index] if sentence.heads else None
            dep = sentence.deps[index] if sentence.deps else ""
            rows.append(
                Word(
                    sentence.words[index],
                    upos=(sentence.pos[index] if sentence.pos else "") or NOTHING,
                    xpos=(sentence.tags[index] if sentence.tags else "") or NOTHING,
                    head=None if head is None else 0 if head == index else head - first + 1,
                    deprel="root" if head == index else dep or NOTHING,
                    misc=NOTHING if spaces[index] else "SpaceAfter=No",
                )
            )
        yield Rows(tuple(rows))
