"""`structreg draw`: pictures of phrase structure trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum
from html import escape
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_structreg.cli.corpus_files import (
    ENCODING_HELP,
    FORMATS_HELP,
    CorpusFormat,
    CorpusOptions,
    HeadRuleSet,
    doc_of_sentence,
    find_format,
    read_sentences,
)
from spacy_structreg.cli.errors import user_errors
from spacy_structreg.cli.outputs import check_file

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from spacy_structreg.corpora.constituents import ConstituencySentence

__all__ = ["Style", "draw", "draw_command"]

PAGE = """\
<!DOCTYPE html>
<html>
<head><meta charset="utf-8"><title>{title}</title></head>
<body style="font-family: sans-serif; padding: 2rem">
{figures}</body>
</html>
"""
FIGURE = '<figure style="margin: 0 0 4rem; overflow-x: auto">\n{picture}</figure>\n'


class Style(str, Enum):
    """What a picture shows; see `draw`."""

    tree = "tree"
    span = "span"


def draw_command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="Corpus with trees; with --pipeline a text, and - is standard input",
        ),
    ],
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="What to write: one tree as .svg, all on a page as .html, or a folder with a file "
            "for each",
        ),
    ],
    pipeline: Annotated[
        str | None,
        typer.Option(
            "--pipeline", "-p", help="Folder or package of the pipeline that parses the text"
        ),
    ] = None,
    style: Annotated[
        Style,
        typer.Option(
            "--style",
            "-s",
            help="tree: words at the bottom, and phrases above them as SVG; span: displaCy's view "
            "of spans, as HTML",
        ),
    ] = Style.tree,
    heads: Annotated[
        bool, typer.Option("--heads", help="Draw thick lines to what heads a phrase")
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, help="Draw so many trees at most; 0 for all")
    ] = 0,
    format: Annotated[
        CorpusFormat, typer.Option("--format", "-f", help=FORMATS_HELP)
    ] = CorpusFormat.auto,
    head_rules: Annotated[
        HeadRuleSet | None,
        typer.Option("--head-rules", help="Brackets: the rules of --heads: ctb or ptb"),
    ] = None,
    encoding: Annotated[str, typer.Option("--encoding", "-e", help=ENCODING_HELP)] = "utf-8",
) -> None:
    """Draw the phrase structure trees of a corpus, or those that a pipeline finds in a text.

    Of trees in brackets, function tags and empty elements are left out.
    """
    with user_errors():
        n_drawn = draw(
            source,
            output,
            CorpusOptions(format, encoding, head_rules=head_rules),
            pipeline=pipeline,
            style=style,
            heads=heads,
            limit=limit,
        )
        typer.echo(f"{output}: {n_drawn:,} {'tree' if n_drawn == 1 else 'trees'}")


def draw(
    source: str,
    output: Path,
    options: CorpusOptions | None = None,
    *,
    pipeline: str | None = None,
    style: Style = Style.tree,
    heads: bool = False,
    limit: int = 0,
) -> int:
    """Draw trees, each as SVG (`Style.tree`) or as displaCy's HTML of spans; returns how many.

    source: a corpus; with a pipeline, a text whose lines become Docs, `-` for standard input.
    output: a file that ends in `.svg`, for one tree, or in `.html`; else a folder, with files that
        are numbered from 1. heads: make lines to head parts thick. limit: how many; 0 for all.

    Files are written in one step each. Raises ValueError if there is no tree to draw, a file cannot
    hold what is to be drawn, heads are asked for where there are none, or the pipeline finds no
    constituents, and as `read_sentences`; OSError for files that cannot be read or written.
    """
    from spacy_structreg.corpora.files import replace_text

    options = options or CorpusOptions()
    suffix = output.suffix.lower()
    if style is Style.span and suffix == ".svg":
        raise ValueError(f"{output}: displaCy draws spans in HTML; name a file that ends in .html")
    if style is Style.span and heads:
        raise ValueError("displaCy's spans show no heads; leave --heads out, or take --style tree")
    check_output(output)
    found = (
        trees_of_corpus(Path(source), options, heads=heads)
        if pipeline is None
        else trees_of_text(source, pipeline, options)
    )
    if style is Style.span:
        # displaCy warns of what has no spans.
        found = (tree for tree in found if tree.constituents)
    # One more than an .svg can hold, to know that there are more.
    trees = list(islice(found, limit or (2 if suffix == ".svg" else None)))
    if not trees:
        raise ValueError(f"{source}: no sentence has a tree to draw")
    if suffix == ".svg" and len(trees) > 1:
        raise ValueError(
            f"{output}: an .svg file holds one tree, and there are more; add --limit 1, or name a "
            "folder or a file that ends in .html"
        )
    if suffix == ".svg":
        files = {output: picture(trees[0], heads=heads)}
    elif suffix == ".html":
        files = {output: page(trees, Path(source).name, style, heads=heads)}
    else:
        width = len(str(len(trees)))
        files = {}
        for number, tree in enumerate(trees, 1):
            name = f"{number:0{width}}"
            if style is Style.tree:
                files[output / f"{name}.svg"] = picture(tree, heads=heads)
            else:
                files[output / f"{name}.html"] = page([tree], name, style, heads=heads)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_text(path) as stream:
            stream.write(text)
    return len(trees)


def check_output(output: Path) -> None:
    """Check that an output can be written. Raises as `draw`."""
    if output.suffix.lower() in (".svg", ".html"):
        check_file(output)
    elif output.is_dir():
        check_file(output / "1.svg")
    elif output.suffix or output.exists():
        raise ValueError(
            f"{output}: name a file that ends in .svg or .html, or a folder, without a dot"
        )
    else:
        # It is made when there is something to put into it.
        check_file(output)


def trees_of_corpus(
    path: Path, options: CorpusOptions, *, heads: bool
) -> Iterator[ConstituencySentence]:
    """Yield the trees of a corpus; heads are made up where there are none, and not asked for."""
    from spacy.vocab import Vocab

    options = replace(options, format=find_format(path, options))
    if options.format is CorpusFormat.brackets and options.head_rules is None:
        if heads:
            raise ValueError(f"{path}: trees in brackets have no heads; name --head-rules")
        options = replace(options, head_rules=HeadRuleSet.ctb)
    vocab = Vocab()
    for sentence in read_sentences(path, options):
        phrases = sentence.constituents or []
        if not heads and any(phrase.head is None for phrase in phrases):
            # Phrases that begin with the same word may all have it.
            phrases = [phrase._replace(head=phrase.begin) for phrase in phrases]
        yield from trees_of_doc(doc_of_sentence(vocab, sentence._replace(constituents=phrases)))


def trees_of_text(
    source: str, pipeline: str, options: CorpusOptions
) -> Iterator[ConstituencySentence]:
    """Yield the trees that a pipeline finds in the lines of a text."""
    from spacy_structreg.cli.pipelines import constituency_pipes, load_pipeline
    from spacy_structreg.cli.segment import read_portions
    from spacy_structreg.corpora.files import line_encoding

    nlp = load_pipeline(pipeline)
    pipes = constituency_pipes(nlp)
    if not pipes:
        raise ValueError(
            f"no pipe of the pipeline {pipeline} finds constituents; train one with 'init-config "
            "--task constituency'"
        )
    name, pipe = next(iter(pipes.items()))
    if not pipe.estimator.is_trained:
        raise ValueError(f"the pipe {name!r} of the pipeline {pipeline} has not been trained")
    lines = (
        line
        for portion in read_portions([source], line_encoding(options.encoding))
        for line in portion
        if line.strip()
    )
    for doc in nlp.pipe(lines):
        yield from trees_of_doc(doc, pipe.spans_key)


def trees_of_doc(doc: Doc, spans_key: str | None = None) -> Iterator[ConstituencySentence]:
    """Yield the trees of a Doc. spans_key: None for the usual one."""
    from spacy_structreg.pipeline.constituency_documents import SPANS_KEY, constituency_sentences

    for _, tree in constituency_sentences(doc, spans_key or SPANS_KEY):
        if tree is not None:
            yield tree


def picture(tree: ConstituencySentence, *, heads: bool) -> str:
    """A tree as SVG."""
    from spacy_structreg.corpora.drawing import tree_svg

    return tree_svg(tree, heads=heads)


def page(trees: Iterable[ConstituencySentence], title: str, style: Style, *, heads: bool) -> str:
    """Trees on a page of HTML."""
    shown = (spans(tree) if style is Style.span else picture(tree, heads=heads) for tree in trees)
    figures = "".join(FIGURE.format(picture=each) for each in shown)
    return PAGE.format(title=escape(title), figures=figures)


def spans(tree: ConstituencySentence) -> str:
    """A tree as displaCy shows spans, in HTML."""
    from spacy import displacy
    from spacy.vocab import Vocab

    from spacy_structreg.cli.corpus_files import sentence_of_tree
    from spacy_structreg.pipeline.constituency_documents import SPANS_KEY

    sentence = sentence_of_tree(tree)
    # displaCy escapes words, but puts labels into the page as they are.
    phrases = [each._replace(label=escape(each.label)) for each in sentence.constituents or ()]
    doc = doc_of_sentence(Vocab(), sentence._replace(constituents=phrases))
    options = {"spans_key": SPANS_KEY}
    return str(displacy.render(doc, style="span", jupyter=False, options=options))
