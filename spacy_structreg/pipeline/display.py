"""Docs as pictures, in notebooks and elsewhere: words, tags, entities and trees.

`show` is for programs. In a notebook, ``%load_ext spacy_structreg`` does the same for every Doc,
and every Span of whole sentences, at the end of a cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from spacy_structreg.corpora.palette import css, fill_of
from spacy_structreg.pipeline.documents import visible_tokens
from spacy_structreg.pipeline.task import DrawnTask, TaskPart, all_tasks

N_SENTENCES: Final = 20
"""The number of sentences that are shown unless another one is asked for."""

SHEET: Final = (
    css(
        ".structreg-doc",
        # The themes of JupyterLab, of VS Code, and of our site.
        '[data-jp-theme-light="true"] .structreg-doc, .vscode-light .structreg-doc, '
        '[data-md-color-scheme="default"] .structreg-doc',
        '[data-jp-theme-light="false"] .structreg-doc, .vscode-dark .structreg-doc, '
        '[data-md-color-scheme="slate"] .structreg-doc',
    )
    + """\
.structreg-doc { color: var(--text); font-family: sans-serif; line-height: 1.4; }
.structreg-doc figure { margin: 0.8em 0; overflow-x: auto; }
.structreg-doc figcaption { color: var(--muted); font-size: 0.8em; }
.structreg-doc p { margin: 0.8em 0; }
.structreg-doc .tagged { display: inline-block; margin: 0 0.3em; text-align: center; }
.structreg-doc .tagged small { display: block; }
.structreg-doc small { font-size: 0.75em; }
.structreg-doc mark {
  border-radius: 0.25em; color: var(--text); display: inline-block; margin: 0.1em; padding: 0 0.3em;
}
.structreg-doc mark > small { font-weight: bold; }
"""
)

Parts = Iterable[tuple[DrawnTask, str, "TaskPart | None"]]


class SentencePicture(NamedTuple):
    """A picture of a sentence: its number in the Doc, from 0, the name of its style, and SVG."""

    sentence: int
    style: str
    svg: str


class DocPicture:
    """The pictures of a Doc, or of a part of it, as a notebook shows them.

    pictures: of the sentences that are shown, in their order, by style.
    """

    def __init__(self, text: str, html: str | None, pictures: Sequence[SentencePicture]) -> None:
        self._text = text
        self._html = html
        self.pictures = pictures

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str | None:
        """A piece of HTML with a style sheet of its own; None if there is nothing but the text."""
        return self._html


def drawn_styles() -> dict[str, DrawnTask]:
    """The tasks that draw, by the names of their styles, in the order in which they are asked."""
    tasks = [task for task in all_tasks() if isinstance(task, DrawnTask)]
    tasks.sort(key=lambda task: task.draw_order)
    return {name: task for task in tasks for name in task.styles}


def drawing_tasks(style: str | None, *, heads: bool) -> list[tuple[DrawnTask, str]]:
    """The tasks that draw, each with its style, in the order in which they are asked.

    style: None for the first one of each task. heads: whether it is to show what heads a phrase.
    Raises ValueError if there is no such style, or it shows no heads if asked to.
    """
    drawing = drawn_styles()
    if style is not None and style not in drawing:
        raise ValueError(f"there is no style {style!r}; choose {', '.join(drawing)}")
    able = [name for name, task in drawing.items() if task.styles[name].heads == "optional"]
    if heads and style is None:
        style = able[0]
    if heads and style not in able:
        raise ValueError(f"--heads is of --style {', '.join(able)}, not of {style}; leave it out")
    if style is not None:
        return [(drawing[style], style)]
    return [(task, name) for name, task in drawing.items() if name == next(iter(task.styles))]


def first_pictures(doc: Doc, parts: Parts, *, heads: bool = False) -> Iterator[str]:
    """Yield the pictures of the sentences of a Doc, each by the first task that can draw it.

    parts: tasks that draw, with a style of each, and what has annotated the Doc, None if gold.
    Raises ValueError for constituents that make no tree.
    """
    for _, pictures in _drawn(doc, parts, heads=heads):
        if pictures:
            yield pictures[0][1]


def doc_pictures(
    doc: Doc, style: str | None = None, *, nlp: Language | None = None
) -> list[SentencePicture]:
    """The pictures of the sentences of a Doc, sentence by sentence.

    style: None for the first style of each task, such as ``tree`` and ``dep``.
    nlp: the pipeline that has annotated the Doc; needed if its span groups have other names.
    Raises ValueError if there is no such style, and for constituents that make no tree.
    """
    return [
        SentencePicture(number, name, svg)
        for number, (_, pictures) in enumerate(_drawn(doc, _parts(style, nlp)))
        for name, svg in pictures
    ]


def show(
    shown: Doc | Span,
    style: str | None = None,
    *,
    nlp: Language | None = None,
    limit: int = N_SENTENCES,
) -> DocPicture:
    """The pictures of a Doc, or of the sentences within a Span, for the end of a notebook's cell.

    style, nlp, and what is raised: as of `doc_pictures`. limit: how many sentences are shown at
    most, counted from the first one. Where a Doc has no trees, its words are shown with their tags;
    entities are marked.
    """
    doc, start, end = (
        (shown, 0, len(shown)) if isinstance(shown, Doc) else (shown.doc, shown.start, shown.end)
    )
    tokens = visible_tokens(doc)
    parts = _parts(style, nlp)
    lengths = (n_words for n_words, _ in _drawn(doc, parts[:1], wanted=()))
    inside = []
    for number, (begin, stop) in enumerate(pairwise(accumulate(lengths, initial=0))):
        words = [token for token in tokens[begin:stop] if start <= token.i < end]
        if words:
            inside.append((number, words, len(words) == stop - begin))
    chosen = inside[: max(0, limit)]
    # Of a part of a sentence there is no tree.
    wanted = {number for number, _, is_whole in chosen if is_whole}
    found = _drawn(doc, parts, wanted=wanted) if wanted else []
    ents = doc.ents
    pieces, pictures = [], []
    for number, words, _ in chosen:
        drawn = found[number][1] if number in wanted else []
        if line := _words(words, ents, has_tree=bool(drawn)):
            pieces.append(f"<p>{line}</p>")
        for name, svg in drawn:
            pictures.append(SentencePicture(number, name, svg))
            pieces.append(f"<figure>{svg}</figure>")
    if pieces and len(inside) > limit:
        pieces.append(f"<p>… and {len(inside) - limit:,} more sentences: show(…, limit=…)</p>")
    if doc.cats and isinstance(shown, Doc):
        best = sorted(doc.cats.items(), key=lambda item: -item[1])[:5]
        said = " · ".join(f"{escape(name)} {score:.2f}" for name, score in best)
        pieces.append(f"<p>{said}</p>")
    html = None
    if pieces:
        begin_html = f'<div class="structreg-doc" lang="{escape(doc.lang_)}">'
        html = "\n".join([begin_html, f"<style>\n{SHEET}</style>", *pieces, "</div>"])
    return DocPicture(shown.text, html, pictures)


def register(shell: Any) -> None:
    """Let a shell of IPython show Docs and Spans of whole sentences as pictures.

    Others, and those with nothing to show, keep their text.
    """
    formatter = shell.display_formatter.formatters["text/html"]
    formatter.for_type(Doc, lambda doc: show(doc)._repr_html_())
    formatter.for_type(Span, _html_of_span)


def unregister(shell: Any) -> None:
    """Let a shell of IPython show Docs and Spans as text again."""
    formatter = shell.display_formatter.formatters["text/html"]
    for shown in (Doc, Span):
        formatter.pop(shown, None)


def _html_of_span(span: Span) -> str | None:
    found = show(span)
    return found._repr_html_() if found.pictures else None


def _parts(style: str | None, nlp: Language | None) -> list[tuple[DrawnTask, str, TaskPart | None]]:
    """The tasks that draw, with their styles and the pipes of the pipeline that do them."""
    parts: list[tuple[DrawnTask, str, TaskPart | None]] = []
    for task, name in drawing_tasks(style, heads=False):
        names = [] if nlp is None else task.parts(nlp)
        parts.append((task, name, None if nlp is None or not names else TaskPart(nlp, names[0])))
    return parts


def _drawn(doc: Doc, parts: Parts, **how: Any) -> list[tuple[int, list[tuple[str, str]]]]:
    """The number of visible words of each sentence, and its pictures with their styles.

    how: as of `DrawnTask.draw`.
    """
    found: list[tuple[int, list[tuple[str, str]]]] | None = None
    for task, style, part in parts:
        lengths = None if found is None else [n_words for n_words, _ in found]
        drawn = task.draw(doc, style, lengths, part, **how)
        if found is None:
            found = [(n_words, []) for n_words, _ in drawn]
        for (_, pictures), (_, picture) in zip(found, drawn, strict=True):
            if picture is not None:
                pictures.append((style, picture))
    return found or []


def _words(words: Sequence[Token], ents: Sequence[Span], *, has_tree: bool) -> str:
    """The words of a sentence with what no tree of it shows; "" if there is nothing of that.

    ents: of the Doc. Of one that goes beyond the words, the part in them is marked.
    """
    are_tagged = not has_tree and any(token.tag_ or token.pos_ for token in words)
    first, stop = words[0].i, words[-1].i + 1
    marked = {max(first, ent.start): ent for ent in ents if ent.start < stop and first < ent.end}
    if not are_tagged and not marked:
        return ""
    doc, pieces, end = words[0].doc, [], first
    for token in words:
        if token.i < end:
            continue
        ent = marked.get(token.i)
        end = min(ent.end, stop) if ent is not None else token.i + 1
        inside = "".join(_word(each, tag=are_tagged) for each in doc[token.i : end])
        if ent is not None:
            fill = f'style="background: var(--fill-{fill_of(ent.label_)})"'
            inside = f"<mark {fill}>{inside.rstrip()} <small>{escape(ent.label_)}</small></mark> "
        pieces.append(inside)
    return "".join(pieces)


def _word(token: Token, *, tag: bool) -> str:
    if not tag:
        return escape(token.text_with_ws)
    below = escape(token.tag_ or token.pos_) or "&nbsp;"
    return f'<span class="tagged">{escape(token.text)}<small>{below}</small></span>'
