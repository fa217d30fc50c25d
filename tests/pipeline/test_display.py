"""Docs in notebooks: pictures of what they have, read from the HTML that IPython gets."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
import spacy
from IPython.core.interactiveshell import InteractiveShell
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_structreg.corpora import drawing
from spacy_structreg.pipeline.display import SHEET, doc_pictures, drawn_styles, show

# What would run, or load something, if it were not escaped.
HOSTILE = "<script>alert(1)</script>"


class Reader(HTMLParser):
    """The tags of HTML, and its texts outside style sheets, by the innermost tag."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip() and self._open[-1] != "style":
            self.texts.append((self._open[-1], data.strip()))

    def of(self, tag: str) -> list[str]:
        return [text for inside, text in self.texts if inside == tag]


def words(*forms: str, **annotation: object) -> Doc:
    return Doc(Vocab(), list(forms), [False] * len(forms), **annotation)  # type: ignore[arg-type]


def parsed(name: str = "李明") -> Doc:
    """Two sentences with heads, constituents and an entity."""
    doc = words(
        *(name, "来", "了", "。", "好", "。"),
        tags=["NR", "VV", "AS", "PU", "VA", "PU"],
        heads=[1, 1, 1, 1, 4, 4],
        deps=["nsubj", "ROOT", "asp", "punct", "ROOT", "punct"],
        sent_starts=[True, False, False, False, True, False],
    )
    doc.ents = [Span(doc, 0, 1, "PERSON")]
    spans = ((0, 4, "IP"), (0, 1, "NP"), (1, 3, "VP"), (4, 6, "IP"), (4, 5, "VP"))
    doc.spans["constituents"] = [Span(doc, *span) for span in spans]
    return doc


def html_of(shown: Doc | Span, **how: object) -> Reader:
    html = show(shown, **how)._repr_html_()  # type: ignore[arg-type]
    assert html is not None
    return Reader(html)


def test_trees_of_all_tasks_and_entities_are_shown() -> None:
    doc = parsed()
    found = html_of(doc)
    assert [(each.sentence, each.style) for each in doc_pictures(doc)] == [
        *((0, "tree"), (0, "dep"), (1, "tree"), (1, "dep"))
    ]
    assert found.tags.count("svg") == 4
    assert found.of("mark") == ["李明"]
    assert found.of("small") == ["PERSON"]
    for text in ("IP", "VP", "nsubj", "ROOT", "asp", "VV", "来"):
        assert text in found.of("text")
    assert repr(show(doc)) == doc.text


@pytest.mark.parametrize("style", drawn_styles())
def test_one_style_can_be_asked_for(style: str) -> None:
    assert {each.style for each in show(parsed(), style).pictures} == {style}
    with pytest.raises(ValueError, match="there is no style 'x'; choose tree"):
        show(parsed(), "x")


def test_a_span_shows_its_own_sentences() -> None:
    doc = parsed()
    sentence = [*doc.sents][1]
    assert [each.sentence for each in show(sentence).pictures] == [1, 1]
    assert html_of(sentence).of("mark") == []
    # A part of a sentence has no tree, but words.
    part = show(doc[0:2])
    assert part.pictures == []
    assert Reader(part._repr_html_() or "").of("span") == ["李明", "来"]
    assert repr(part) == "李明来"


def test_entities_beyond_a_span_are_cut() -> None:
    doc = words("李", "明", "来", tags=["NR", "NR", "VV"])
    doc.ents = [Span(doc, 0, 2, "PERSON")]
    for part in (doc[0:1], doc[1:3]):
        found = html_of(part)
        assert found.of("span") == list(part.text)
        assert "PERSON" in found.of("small")


def test_only_what_is_shown_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr(drawing, "dependency_svg", lambda tree: drawn.append(tree) or "<svg/>")
    monkeypatch.setattr(drawing, "tree_svg", lambda tree, heads: drawn.append(tree) or "<svg/>")
    doc = parsed()
    whole = Doc.from_docs([doc] * 15, ensure_whitespace=False)
    assert whole is not None
    assert len(show(whole, limit=3).pictures) == len(drawn) == 6
    drawn.clear()
    assert [each.sentence for each in show(whole[34:36]).pictures] == [11, 11]
    assert len(drawn) == 2


def test_tags_and_categories_without_trees() -> None:
    doc = words("好", "书", tags=["VA", "NN"])
    doc.cats = {"sea": 0.25, "hill": 0.75}
    found = html_of(doc)
    assert found.of("span") == ["好", "书"]
    assert found.of("small") == ["VA", "NN"]
    assert found.of("p") == ["hill 0.75 · sea 0.25"]


@pytest.mark.parametrize("doc", [words("好", "书"), words(), words(" ", "\n")])
def test_nothing_but_text_stays_text(doc: Doc) -> None:
    assert show(doc)._repr_html_() is None
    assert repr(show(doc)) == doc.text


def test_long_docs_are_cut() -> None:
    doc = parsed()
    whole = Doc.from_docs([doc] * 15, ensure_whitespace=False)
    assert whole is not None
    shown = show(whole)
    assert {each.sentence for each in shown.pictures} == {*range(20)}
    assert "and 10 more sentences" in (shown._repr_html_() or "")
    assert "more sentences" not in (show(whole, limit=30)._repr_html_() or "")


def test_markup_in_texts_and_labels_does_nothing() -> None:
    doc = parsed(HOSTILE)
    doc.ents = [Span(doc, 0, 1, HOSTILE)]
    for token in doc:
        token.tag_ = token.dep_ = HOSTILE
    doc.spans["constituents"] = [Span(doc, 0, 4, HOSTILE)]
    doc.cats = {HOSTILE: 1.0}
    for shown in (doc, doc[0:2]):
        found = html_of(shown)
        assert "script" not in found.tags
        assert any(HOSTILE in text for _, text in found.texts)


def test_the_style_sheet_is_for_these_pictures_alone() -> None:
    selectors = [line for line in SHEET.splitlines() if line.endswith("{") and "@" not in line]
    assert selectors
    for selector in selectors:
        for each in selector.removesuffix("{").split(","):
            assert ".structreg-doc" in each or ".structreg-tree" in each


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


def test_the_extension_of_ipython(shell: InteractiveShell) -> None:
    def shown(each: object) -> dict[str, str]:
        data, _ = shell.display_formatter.format(each)
        return dict(data)

    doc = parsed()
    assert "text/html" not in shown(doc)
    shell.run_line_magic("load_ext", "spacy_structreg")
    data = shown(doc)
    assert data["text/html"] == show(doc)._repr_html_()
    assert data["text/plain"] == doc.text
    assert shown([*doc.sents][1])["text/html"].count("<svg") == 2
    for plain in (doc[0:2], words("好"), doc[0]):
        assert "text/html" not in shown(plain)
    shell.run_line_magic("unload_ext", "spacy_structreg")
    assert "text/html" not in shown(doc)


def test_pipelines_say_where_their_phrases_are(extensions: None) -> None:
    nlp = spacy.blank("zh")
    nlp.add_pipe("structreg_constituency", config={"spans_key": "phrases"})
    doc = parsed()
    doc.spans["phrases"] = [Span(doc, 0, 4, "TOP")]
    del doc.spans["constituents"]
    assert not any(each.style == "tree" for each in doc_pictures(doc))
    assert "TOP" in "".join(each.svg for each in doc_pictures(doc, nlp=nlp))
