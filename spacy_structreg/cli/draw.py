"""`structreg draw`: pictures of phrase structure and dependency trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum
from html import escape
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from spacy_structreg.cli.corpus_files import (
    ENCODING_HELP,
    FORMATS_HELP,
    CorpusFormat,
    CorpusOptions,
    HeadRuleSet,
    Spaces,
    doc_of_sentence,
    find_format,
    read_sentences,
)
from spacy_structreg.cli.errors import user_errors
from spacy_structreg.cli.outputs import check_file

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from spacy_structreg.corpora.constituents import ConstituencySentence
    from spacy_structreg.corpora.dependencies import DependencySentence

    Tree: TypeAlias = ConstituencySentence | DependencySentence

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
    dep = "dep"


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
        Style | None,
        typer.Option(
            "--style",
            "-s",
            help="tree: words at the bottom, and phrases above them; span: phrases as bars below "
            "the words; dep: a dependency tree, as arcs above the words. Without it a sentence "
            "that has phrases is drawn as tree, and another one as dep",
        ),
    ] = None,
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
        typer.Option(
            "--head-rules", help="Brackets: the rules of --heads and --style dep: ctb or ptb"
        ),
    ] = None,
    encoding: Annotated[str, typer.Option("--encoding", "-e", help=ENCODING_HELP)] = "utf-8",
) -> None:
    """Draw the trees of a corpus, or those that a pipeline finds in a text, as SVG.

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
    style: Style | None = None,
    heads: bool = False,
    limit: int = 0,
) -> int:
    """Draw trees as SVG; returns how many.

    source: a corpus; with a pipeline, a text whose lines become Docs, `-` for standard input.
    output: a file that ends in `.svg`, for one tree, or in `.html`; else a folder, with files that
        are numbered from 1. style: None for `Style.tree` where a sentence has phrases, and
        `Style.dep` where it has not. heads: make lines to head parts thick, of `Style.tree`.
        limit: how many; 0 for all.

    Files are written in one step each. Raises ValueError if there is no tree to draw, a file cannot
    hold what is to be drawn, heads are asked for where there are none, or the pipeline finds no
    trees of the style, and as `read_sentences`; OSError for files that cannot be read or written.
    """
    from spacy_structreg.corpora.files import replace_text

    options = options or CorpusOptions()
    suffix = output.suffix.lower()
    if heads:
        if style not in (None, Style.tree):
            raise ValueError(f"--heads is of --style tree, not of {style.value}; leave it out")
        style = Style.tree
    check_output(output, source)
    found = (
        trees_of_corpus(Path(source), options, style, heads=heads)
        if pipeline is None
        else trees_of_text(source, pipeline, options, style)
    )
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
        files = {output: picture(trees[0], style, heads=heads)}
    elif suffix == ".html":
        files = {output: page(trees, Path(source).name, style, heads=heads)}
    else:
        width = len(str(len(trees)))
        files = {
            output / f"{number:0{width}}.svg": picture(tree, style, heads=heads)
            for number, tree in enumerate(trees, 1)
        }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_text(path) as stream:
            stream.write(text)
    return len(trees)


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


def trees_of_corpus(
    path: Path, options: CorpusOptions, style: Style | None, *, heads: bool
) -> Iterator[Tree]:
    """Yield the trees of a corpus; heads are made up where there are none, and not asked for."""
    from spacy.vocab import Vocab

    # Pictures show no spaces, so that those of a file need not be right.
    options = replace(options, format=find_format(path, options), spaces=Spaces.none)
    if options.format is CorpusFormat.brackets and options.head_rules is None:
        if heads or style is Style.dep:
            raise ValueError(f"{path}: trees in brackets have no heads; name --head-rules")
        options = replace(options, head_rules=HeadRuleSet.ctb)
    vocab = Vocab()
    for sentence in read_sentences(path, options):
        phrases = sentence.constituents
        if phrases and not heads and any(phrase.head is None for phrase in phrases):
            # Phrases that begin with the same word may all have it.
            phrases = [phrase._replace(head=phrase.begin) for phrase in phrases]
        doc = doc_of_sentence(vocab, sentence._replace(constituents=phrases))
        yield from trees_of_doc(doc, style)


def trees_of_text(
    source: str, pipeline: str, options: CorpusOptions, style: Style | None
) -> Iterator[Tree]:
    """Yield the trees that a pipeline finds in the lines of a text."""
    from spacy_structreg.cli.pipelines import (
        constituency_pipes,
        constituents_key,
        load_pipeline,
        parsing_pipes,
    )
    from spacy_structreg.cli.segment import read_portions
    from spacy_structreg.corpora.files import line_encoding

    nlp = load_pipeline(pipeline)
    phrases = [] if style is Style.dep else [*constituency_pipes(nlp)]
    arcs = [] if style in (Style.tree, Style.span) else parsing_pipes(nlp)
    pipes = phrases or arcs
    if not pipes:
        tasks = {"constituents": "constituency", "heads": "parse"}
        if style is not None:
            del tasks["constituents" if style is Style.dep else "heads"]
        commands = " or ".join(f"'init-config --task {task}'" for task in tasks.values())
        raise ValueError(
            f"no pipe of the pipeline {pipeline} finds {' or '.join(tasks)}; train one with "
            f"{commands}"
        )
    estimator = getattr(nlp.get_pipe(pipes[0]), "estimator", None)
    if estimator is not None and not estimator.is_trained:
        raise ValueError(f"the pipe {pipes[0]!r} of the pipeline {pipeline} has not been trained")
    lines = (
        line
        for portion in read_portions([source], line_encoding(options.encoding))
        for line in portion
        if line.strip()
    )
    for doc in nlp.pipe(lines):
        yield from trees_of_doc(doc, style, constituents_key(nlp))


def trees_of_doc(doc: Doc, style: Style | None, spans_key: str | None = None) -> Iterator[Tree]:
    """Yield the trees of the sentences of a Doc. spans_key: None for the usual one."""
    from spacy_structreg.pipeline.constituency_documents import SPANS_KEY, constituency_sentences
    from spacy_structreg.pipeline.documents import dependency_sentences

    if style is Style.dep:
        yield from filter(has_heads, dependency_sentences(doc))
        return
    found = constituency_sentences(doc, spans_key or SPANS_KEY)
    others = dependency_sentences(doc, [n_words for n_words, _ in found])
    for (_, tree), other in zip(found, others, strict=True):
        # A word without a phrase has no bar.
        if tree is not None and (tree.constituents or style is not Style.span):
            yield tree
        elif style is None and has_heads(other):
            yield other


def has_heads(sentence: DependencySentence) -> bool:
    """True if there is an arrow to draw."""
    return any(head is not None for head in sentence.heads)


def picture(tree: Tree, style: Style | None, *, heads: bool) -> str:
    """A tree as SVG."""
    from spacy_structreg.corpora.dependencies import DependencySentence
    from spacy_structreg.corpora.drawing import dependency_svg, span_svg, tree_svg

    if isinstance(tree, DependencySentence):
        return dependency_svg(tree)
    return span_svg(tree) if style is Style.span else tree_svg(tree, heads=heads)


def page(trees: Iterable[Tree], title: str, style: Style | None, *, heads: bool) -> str:
    """Trees on a page of HTML."""
    figures = "".join(FIGURE.format(picture=picture(tree, style, heads=heads)) for tree in trees)
    return PAGE.format(title=escape(title), figures=figures)
