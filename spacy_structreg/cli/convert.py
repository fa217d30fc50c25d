"""`structreg convert`: corpora to spaCy's binary format, to segmented text, or to CoNLL-U."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.commands import Depends
from spacy_structreg.cli.options import CorpusArgument
from spacy_structreg.cli.outputs import ForceOption, check_file, number_of
from spacy_structreg.corpora.corpus_options import CorpusOptions, Spaces

if TYPE_CHECKING:
    from spacy_structreg.corpora.sentence import Sentence

PERCENT = re.compile("([0-9]{1,3}):([0-9]{1,3})")
WHOLE = (0, 100)
DEFAULT_OPTIONS = CorpusOptions()


class Converted(NamedTuple):
    """Numbers of what has been written.

    bad_trees: sentences whose heads were left out, as they are no tree. bad_pos: words whose
    universal tag was left out, as there is none of that name. without_tree: sentences that have
    no heads, if head rules ask for them.
    """

    sentences: int
    words: int
    bad_trees: int = 0
    bad_pos: int = 0
    without_tree: int = 0


def parse_percent(text: str) -> tuple[int, int]:
    """Begin and end, in percent, from such as `0:90`. Raises ValueError for anything else."""
    found = PERCENT.fullmatch(text)
    begin, end = (int(found[1]), int(found[2])) if found else (0, 0)
    if not begin < end <= 100:
        raise ValueError(f"--percent is {text!r}; write begin and end, such as 0:90 or 90:100")
    return begin, end


def conversion_options(
    options: CorpusArgument,
    *,
    spaces: Annotated[
        Spaces,
        Opt(
            "--spaces",
            help="CoNLL-U: which spaces the text has. file: all but those that SpaceAfter=No takes "
            "away; none; auto: as the file has them, unless it never says SpaceAfter=No and "
            "would have them between Han characters. Columns: none; auto: between all words but "
            "next to Han characters. All formats: latin, between words of Latin letters and digits",
        ),
    ] = Spaces.auto,
    spans_key: Annotated[
        str | None,
        Opt(
            "--spans-key",
            help="Columns: put what is labeled into this span group, such as chunks, and not among "
            "the entities",
        ),
    ] = None,
    lang: Annotated[
        str,
        Opt(
            "--lang",
            "-l",
            help="Classified: spaCy's code of the language, whose tokenizer parts the texts; a "
            "pipeline that is trained parts them by its own again",
        ),
    ] = "xx",
) -> CorpusOptions:
    """The options of a corpus that is converted: spaces, span groups and languages stay in Docs."""
    return replace(options, spaces=spaces, spans_key=spans_key, lang=lang)


def convert(
    inputs: Annotated[
        list[Path], Arg(metavar="INPUT", help="Corpus files; of brackets, also folders of them")
    ],
    output: Annotated[
        Path,
        Arg(
            metavar="OUTPUT",
            help="File to write: .spacy, .conllu for CoNLL-U, .txt for segmented text, .partial "
            "for partial annotation, .json for Label Studio, or .jsonl for doccano",
        ),
    ],
    *,
    options: Annotated[CorpusOptions, Depends(conversion_options)] = DEFAULT_OPTIONS,
    group: Annotated[
        int,
        Opt(
            "--sentences-per-doc",
            "-n",
            min=1,
            help="Columns and CoNLL-U: so many sentences make a Doc",
        ),
    ] = 1,
    percent: Annotated[
        str,
        Opt(
            "--percent",
            help="Which sentences, in percent of all, to hold some out: 0:90 and 90:100",
        ),
    ] = "0:100",
    force: ForceOption = False,
) -> Converted:
    """Convert corpora to a .spacy file for training.

    Each sentence (of PFR, each paragraph) becomes one Doc: its words, and what the corpus has of
    tags and of heads and relations; with --head-rules, also the trees of brackets, in a span
    group, and the heads that the rules find. Labels of brackets such as NP=ORG become entities. Of
    column files, labels become entities, or spans with --spans-key; classified texts have their
    category in doc.cats. There are no spaces between words, except for the ones that CoNLL-U files
    name, and in columns and texts; .spacy files lose theirs, and trees of words and entities that
    are annotated in part. Nothing else is taken over, such as lemmas; .conllu holds words, tags,
    heads and entities, .partial words and tags, and .txt words alone. Several input files become
    one output file, in their order.

    Returns the numbers of what has been written. Of n sentences of all inputs together, `percent`
    takes those from n · begin // 100 to n · end // 100, so that 0:90 and 90:100 share none and
    leave none out; sentences that make a Doc together count as one.
    The output is written in one step, and not at all if anything fails; its folder is made if need
    be. Shows a progress bar on standard error, if that is a terminal. Raises ValueError if the
    output exists (unless `force`), for another kind of output, if no sentence is left, and as
    `read_sentences`; OSError for files that cannot be read or written.
    """
    from spacy_structreg.corpora.any_format import find_format, write_sentences, written_format
    from spacy_structreg.corpora.sentence import joined
    from spacy_structreg.models.progress import progress_bar
    from spacy_structreg.pipeline.gold_docs import read_sentences, write_docs

    shares = parse_percent(percent)
    if output.suffix != ".spacy":
        written_format(output)
    inputs = [path for each in inputs for path in _files_of(each, options)]
    check_file(output, *inputs, force=force)

    def read() -> Iterator[Sentence]:
        for path in inputs:
            sentences = read_sentences(path, options)
            if group > 1 and not find_format(path, options).grouped:
                raise ValueError(
                    f"{path}: --sentences-per-doc is for column files and CoNLL-U; leave the "
                    "option out"
                )
            yield from joined(sentences, group) if group > 1 else sentences

    begin, end = 0, None
    if shares != WHOLE:
        total = sum(1 for _ in read())
        begin, end = (total * share // 100 for share in shares)
        if begin == end:
            raise ValueError(
                f"of {total} sentences, none is between {shares[0]} and {shares[1]} percent; "
                "take more of them"
            )
    counts = Converted(0, 0)

    def counted() -> Iterator[Sentence]:
        nonlocal counts
        for sentence in islice(read(), begin, end):
            counts = Converted(
                counts.sentences + 1,
                counts.words + len(sentence.words),
                counts.bad_trees + sentence.bad_tree,
                counts.bad_pos + sentence.bad_pos,
                counts.without_tree + (options.head_rules is not None and not sentence.heads),
            )
            yield sentence

    with progress_bar(counted(), desc="convert", unit=" sentences") as bar:
        write = write_docs if output.suffix == ".spacy" else write_sentences
        write(output, bar)
    message = (
        f"{output}: {number_of(counts.sentences, 'sentence' if group == 1 else 'Doc')}, "
        f"{number_of(counts.words, 'word')}"
    )
    if counts.bad_trees:
        message += (
            f"; heads left out, as they are no tree: {number_of(counts.bad_trees, 'sentence')}"
        )
    if counts.without_tree:
        message += f"; without a tree: {number_of(counts.without_tree, 'sentence')}"
    if counts.bad_pos:
        message += f"; {number_of(counts.bad_pos, 'universal tag')} left out: UD has no such name"
    typer.echo(message)
    return counts


def _files_of(path: Path, options: CorpusOptions) -> list[Path]:
    """The files of a folder of a format that has such, by name; or the path, if it is none."""
    from spacy_structreg.corpora.any_format import all_formats

    format = all_formats().get(options.format)
    if format is None or not format.folder_suffixes or not path.is_dir():
        return [path]
    files = sorted(each for each in path.iterdir() if each.suffix in format.folder_suffixes)
    if not files:
        raise ValueError(
            f"{path} has no files of {format.name} ({', '.join(format.folder_suffixes)}); name the "
            "files"
        )
    return files
