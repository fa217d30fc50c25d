"""`structreg compile-words`: a list of words as a file that is mapped, however long it is."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.outputs import ForceOption, check_file, number_of


class ModeName(str, Enum):
    """Modes of listed words: what they are to change."""

    force = "force"
    prefer = "prefer"
    bonus = "bonus"


class ListFormat(str, Enum):
    """Formats of lists of words."""

    words = "words"
    jieba = "jieba"
    hanlp = "hanlp"
    cedict = "cedict"


class TagSet(str, Enum):
    """Sets of tags of models."""

    ctb = "ctb"
    pfr = "pfr"


def compile_words(
    files: Annotated[
        list[Path],
        Arg(metavar="WORDS...", help="Files of a word a line, with a tab and its tag if wanted"),
    ],
    output: Annotated[Path, Arg(metavar="OUTPUT", help="File to write")],
    *,
    mode: Annotated[
        ModeName | None,
        Opt(
            "--mode",
            "-m",
            help="force: the words are tokens wherever they occur, the default; prefer: they join "
            "the lexicon of the model; bonus: with --bonus, which implies it",
        ),
    ] = None,
    bonus: Annotated[
        float | None,
        Opt("--bonus", "-b", help="Number to add to the score of analyses with a word"),
    ] = None,
    encoding: Annotated[str, Opt("--encoding", "-e", help="Encoding of the files")] = "utf-8",
    format: Annotated[
        ListFormat | None,
        Opt(
            "--format",
            "-f",
            help="words: a word a line, with a tab and its tag; jieba: word, frequency and tag; "
            "hanlp: word, tag and frequency; cedict: CC-CEDICT. Found out without the option",
        ),
    ] = None,
    tags: Annotated[
        TagSet | None,
        Opt(
            "--tags",
            "-t",
            help="Tags of the model, to which those of dictionaries are mapped: ctb, of the "
            "Chinese Treebank, or pfr. Without the option, dictionaries give words alone",
        ),
    ] = None,
    force: ForceOption = False,
) -> int:
    """Compile lists of words for the tokenizer of a pipeline, which maps the result in no time.

    Load it with nlp.tokenizer.user_words.load(OUTPUT). Files may be compiled lists themselves,
    whose words keep their modes; of a word that comes twice, the last one counts.

    Returns their number. Raises ValueError if the output exists (unless `force`), for faults of the
    files, naming them, and OSError for files that cannot be read or written.
    """
    from spacy_structreg.corpora.tag_maps import TAG_MAPS
    from spacy_structreg.pipeline.tokenizer import UserWords

    check_file(output, *files, force=force)
    words = UserWords()
    for path in files:
        words.load(
            path,
            mode=None if mode is None else mode.value,
            bonus=bonus,
            encoding=encoding,
            format=None if format is None else format.value,
            tags=None if tags is None else TAG_MAPS[tags.value].keys(),
        )
    words.snapshot().write(output)
    typer.echo(f"Wrote {number_of(len(words), 'word')} to {output}")
    return len(words)
