"""`structreg draw`: pictures of what gold corpora have, or pipelines find in texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.options import ANY_CORPUS, CorpusArgument, load_pipeline
from spacy_structreg.cli.outputs import check_file, number_of
from spacy_structreg.cli.user_errors import user_errors
from spacy_structreg.corpora.corpus_options import CorpusOptions, HeadRuleSet, Spaces
from spacy_structreg.corpora.palette import css, readable_on_dark

if TYPE_CHECKING:
    from spacy_structreg.pipeline.task import DrawnTask

PAGE = """\
<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
{colors}\
body {{ background: var(--ground); color: var(--text); font-family: sans-serif; padding: 2rem; }}
figure {{ margin: 0 0 4rem; overflow-x: auto; }}
</style>
</head>
<body>
{figures}</body>
</html>
"""
FIGURE = "<figure>\n{picture}</figure>\n"


def known_style(name: str | None) -> str | None:
    """The name of a style that there is; the command line ends for another one."""
    from spacy_structreg.pipeline.display import drawn_styles

    with user_errors():
        if name is not None and name not in (names := drawn_styles()):
            raise typer.BadParameter(f"{name!r} is none of {', '.join(names)}")
    return name


def draw(
    source: Annotated[
        str,
        Arg(
            metavar="SOURCE",
            help="Corpus of what is drawn; with --pipeline a text, and - is standard input",
        ),
    ],
    *,
    output: Annotated[
        Path,
        Opt(
            "--output",
            "-o",
            help="What to write: one picture as .svg, all on a page as .html, or a folder with a "
            "file for each",
        ),
    ],
    pipeline: Annotated[
        str | None,
        Opt("--pipeline", "-p", help="Folder or package of the pipeline that annotates the text"),
    ] = None,
    style: Annotated[
        str | None,
        Opt(
            "--style",
            "-s",
            callback=known_style,
            help="What pictures show, by a name below. Without it, the first of "
            "these that a sentence has",
        ),
    ] = None,
    heads: Annotated[bool, Opt("--heads", help="Draw thick lines to what heads a phrase")] = False,
    limit: Annotated[
        int, Opt("--limit", "-n", min=0, help="Draw so many sentences at most; 0 for all")
    ] = 0,
    options: CorpusArgument = ANY_CORPUS,
) -> int:
    """Draw the trees of a corpus, or those that a pipeline finds in a text, as SVG.

    Of trees in brackets, function tags and empty elements are left out.

    Returns how many trees were drawn. Files are written in one step each. Raises ValueError if
    there is nothing to draw, a file cannot hold what is to be drawn, there is no such style, heads
    are asked for where there are none, or the pipeline finds nothing of the style, and as
    `read_docs`; OSError for files that cannot be read or written.
    """
    from spacy_structreg.corpora.files import replace_text
    from spacy_structreg.pipeline.display import drawing_tasks

    suffix = output.suffix.lower()
    drawing = drawing_tasks(style, heads=heads)
    check_output(output, source)
    found = (
        drawn_of_corpus(Path(source), options, drawing, heads=heads)
        if pipeline is None
        else drawn_of_text(source, pipeline, options, drawing)
    )
    # One more than an .svg can hold, to know that there are more.
    pictures = list(islice(found, limit or (2 if suffix == ".svg" else None)))
    if not pictures:
        raise ValueError(f"{source}: no sentence has a tree to draw")
    if suffix == ".svg" and len(pictures) > 1:
        raise ValueError(
            f"{output}: an .svg file holds one tree, and there are more; add --limit 1, or name a "
            "folder or a file that ends in .html"
        )
    if suffix == ".svg":
        files = {output: readable_on_dark(pictures[0])}
    elif suffix == ".html":
        files = {output: page(pictures, Path(source).name)}
    else:
        width = len(str(len(pictures)))
        files = {
            output / f"{number:0{width}}.svg": readable_on_dark(picture)
            for number, picture in enumerate(pictures, 1)
        }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_text(path) as stream:
            stream.write(text)
    typer.echo(f"{output}: {number_of(len(pictures), 'picture')}")
    return len(pictures)


def check_output(output: Path, source: str) -> None:
    """Check that an output can be written, and is not what is drawn. Raises as `draw`."""
    if output.suffix.lower() in (".svg", ".html"):
        check_file(output, source)
    elif output.is_dir():
        check_file(output / "1.svg")
    elif output.suffix or output.exists():
        raise ValueError(
            f"{output}: name a file that ends in .svg or .html, or a folder, without a dot"
        )
    else:
        # It is made when there is something to put into it.
        check_file(output)


def drawn_of_corpus(
    path: Path, options: CorpusOptions, drawing: Sequence[tuple[DrawnTask, str]], *, heads: bool
) -> Iterator[str]:
    """Yield the pictures of the sentences of a corpus."""
    from spacy.vocab import Vocab

    from spacy_structreg.corpora.any_format import find_format
    from spacy_structreg.pipeline.display import first_pictures
    from spacy_structreg.pipeline.gold_docs import read_docs

    # Pictures show no spaces, so that those of a file need not be right.
    options = replace(options, format=find_format(path, options).name, spaces=Spaces.none)
    if options.format == "brackets" and options.head_rules is None:
        if heads or all(task.styles[style].heads == "always" for task, style in drawing):
            raise ValueError(f"{path}: trees in brackets have no heads; name --head-rules")
        options = replace(options, head_rules=HeadRuleSet.ctb)
    for doc in read_docs(path, Vocab(), options):
        yield from first_pictures(doc, [(*each, None) for each in drawing], heads=heads)


def drawn_of_text(
    source: str,
    pipeline: str,
    options: CorpusOptions,
    drawing: Sequence[tuple[DrawnTask, str]],
) -> Iterator[str]:
    """Yield the pictures of what a pipeline finds in the lines of a text."""
    from spacy_structreg.cli.segment import read_portions
    from spacy_structreg.corpora.files import line_encoding
    from spacy_structreg.pipeline.display import first_pictures
    from spacy_structreg.pipeline.task import TaskPart

    nlp = load_pipeline(pipeline)
    parts = [
        (task, style, TaskPart(nlp, names[0]))
        for task, style in drawing
        if (names := task.parts(nlp))
    ]
    if not parts:
        tasks = [task for task, _ in drawing]
        commands = " or ".join(f"'init-config --task {task.templates[0].name}'" for task in tasks)
        raise ValueError(
            f"no pipe of the pipeline {pipeline} finds "
            f"{' or '.join(task.predicts for task in tasks)}; train one with {commands}"
        )
    estimator = getattr(parts[0][2].pipe, "estimator", None)
    if estimator is not None and not estimator.is_trained:
        raise ValueError(
            f"the pipe {parts[0][2].name!r} of the pipeline {pipeline} has not been trained"
        )
    lines = (
        line
        for portion in read_portions([source], line_encoding(options.encoding))
        for line in portion
        if line.strip()
    )
    for doc in nlp.pipe(lines):
        yield from first_pictures(doc, parts)


def page(pictures: Iterable[str], title: str) -> str:
    """Pictures on a page of HTML."""
    figures = "".join(FIGURE.format(picture=picture) for picture in pictures)
    return PAGE.format(colors=css(), title=escape(title), figures=figures)
