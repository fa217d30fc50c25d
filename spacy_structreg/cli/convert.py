"""`structreg convert`: corpora to spaCy's binary format, to segmented text, or to CoNLL-U."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.corpus_arguments import (
    ColumnsOption,
    CommentsOption,
    CompoundsOption,
    DaysOption,
    EncodingOption,
    FormatOption,
    HeadRulesOption,
    PartOption,
    SchemeOption,
    corpus_options,
)
from spacy_structreg.cli.counts import number_of
from spacy_structreg.cli.outputs import ForceOption, check_file
from spacy_structreg.cli.user_errors import user_errors
from spacy_structreg.corpora.corpus_options import (
    AUTO,
    Compounds,
    CorpusOptions,
    SchemeName,
    Spaces,
)

if TYPE_CHECKING:
    from spacy_structreg.corpora.sentence import Sentence

__all__ = ["Converted", "convert", "convert_command", "parse_percent"]

PERCENT = re.compile("([0-9]{1,3}):([0-9]{1,3})")
WHOLE = (0, 100)


class Converted(NamedTuple):
    """Numbers of what has been written.

    bad_trees: sentences whose heads were left out, as they are no tree. bad_pos: words whose
    universal tag was left out, as there is none of that name.
    """

    sentences: int
    words: int
    bad_trees: int = 0
    bad_pos: int = 0


def convert_command(
    inputs: Annotated[
        list[Path], Arg(metavar="INPUT", help="Corpus files; of brackets, also folders of them")
    ],
    output: Annotated[
        Path,
        Arg(
            metavar="OUTPUT",
            help="File to write: .spacy, .conllu for CoNLL-U, .txt for segmented text, or .partial "
            "for partial annotation",
        ),
    ],
    *,
    format: FormatOption = AUTO,
    encoding: EncodingOption = "utf-8",
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
    compounds: CompoundsOption = Compounds.parts,
    days: DaysOption = None,
    part: PartOption = None,
    head_rules: HeadRulesOption = None,
    columns: ColumnsOption = None,
    scheme: SchemeOption = SchemeName.auto,
    comments: CommentsOption = None,
    spans_key: Annotated[
        str | None,
        Opt(
            "--spans-key",
            help="Columns: put what is labeled into this span group, such as chunks, and not among "
            "the entities",
        ),
    ] = None,
    group: Annotated[
        int,
        Opt(
            "--sentences-per-doc",
            "-n",
            min=1,
            help="Columns and CoNLL-U: so many sentences make a Doc",
        ),
    ] = 1,
    lang: Annotated[
        str,
        Opt(
            "--lang",
            "-l",
            help="Classified: spaCy's code of the language, whose tokenizer parts the texts; a "
            "pipeline that is trained parts them by its own again",
        ),
    ] = "xx",
    percent: Annotated[
        str,
        Opt(
            "--percent",
            help="Which sentences, in percent of all, to hold some out: 0:90 and 90:100",
        ),
    ] = "0:100",
    force: ForceOption = False,
) -> None:
    """Convert corpora to a .spacy file for training.

    Each sentence (of PFR, each paragraph) becomes one Doc: its words, and what the corpus has of
    tags and of heads and relations; with --head-rules, also the trees of brackets, in a span
    group, and the heads that the rules find. Labels of brackets such as NP=ORG become entities. Of
    column files, labels become entities, or spans with --spans-key; classified texts have their
    category in doc.cats. There are no spaces between words, except for the ones that CoNLL-U files
    name, and in columns and texts; .spacy files lose theirs, and trees of words and entities that
    are annotated in part. Nothing else is taken over, such as lemmas; .conllu holds words, tags and
    heads, .partial words and tags, and .txt words alone. Several input files become one output
    file, in their order.
    """
    with user_errors():
        options = corpus_options(
            format=format,
            encoding=encoding,
            compounds=compounds,
            days=days,
            part=part,
            spaces=spaces,
            head_rules=head_rules,
            columns=columns,
            scheme=scheme,
            comments=comments,
            spans_key=spans_key,
            lang=lang,
        )
        counts = convert(
            inputs, output, options, percent=parse_percent(percent), group=group, force=force
        )
        kind = "sentence" if group == 1 else "Doc"
        message = (
            f"{output}: {number_of(counts.sentences, kind)}, {number_of(counts.words, 'word')}"
        )
        if counts.bad_trees:
            message += (
                f"; heads left out, as they are no tree: {number_of(counts.bad_trees, 'sentence')}"
            )
        if counts.bad_pos:
            message += (
                f"; {number_of(counts.bad_pos, 'universal tag')} left out: UD has no such name"
            )
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
    force: bool = False,
) -> Converted:
    """Write the sentences of corpora to a `.spacy` file of Docs, or as another corpus.

    percent: which of the n sentences of all inputs together: from n · begin // 100 to n · end //
        100, so that 0:90 and 90:100 share none and leave none out. group: how many sentences make a
        Doc, of column files and CoNLL-U, whose sentences are counted after that.

    The output is written in one step, and not at all if anything fails; its folder is made if need
    be. Shows a progress bar on standard error, if that is a terminal. Raises ValueError if the
    output exists (unless `force`), for another kind of output, if no sentence is left, and as
    `read_sentences`; OSError for files that cannot be read or written.
    """
    from spacy_structreg.corpora.any_format import find_format, write_sentences, written_format
    from spacy_structreg.corpora.sentence import joined
    from spacy_structreg.models.progress import progress_bar
    from spacy_structreg.pipeline.gold_docs import read_sentences, write_docs

    options = options or CorpusOptions()
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
    if percent != WHOLE:
        total = sum(1 for _ in read())
        begin, end = (total * share // 100 for share in percent)
        if begin == end:
            raise ValueError(
                f"of {total} sentences, none is between {percent[0]} and {percent[1]} percent; "
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
            )
            yield sentence

    with progress_bar(counted(), desc="convert", unit=" sentences") as bar:
        write = write_docs if output.suffix == ".spacy" else write_sentences
        write(output, bar)
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
