"""`structreg explain`: tables in the terminal, a page, and users' mistakes."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import spacy

TEXT = "小王在图书馆看书。"
MARKUP = "<b>看</b>&小王"


class Page(HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="session")
def tagged_pipeline(pipeline: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The pipeline with a tagger and a parser behind its tokenizer; the parser is untrained."""
    nlp = spacy.load(pipeline)
    tagger = nlp.add_pipe("structreg_tagger", name="tags")
    tagger.estimator.fit(
        [[("小", "A"), ("王", "N")], [("学生", "N"), ("看", "V"), ("书", "N")]] * 2
    )
    nlp.add_pipe("structreg_parser", name="heads")
    path = tmp_path_factory.mktemp("pipelines") / "tagged"
    nlp.to_disk(path)
    return str(path)


def test_a_table_of_all_decisions(pipeline: str, invoke, runs) -> None:
    printed = runs("explain", pipeline, TEXT)
    model = spacy.load(pipeline).tokenizer.model
    assert printed.startswith(" ".join(model.predict(TEXT)) + "\n")
    rows = [line for line in printed.splitlines() if re.match(r" *\d+ ", line)]
    assert len(rows) == len(TEXT)
    for row, decision in zip(rows[1:], model.explain(TEXT).decisions[1:], strict=True):
        assert decision.place in row
        assert f"{decision.margin:.3f}" in row
        assert f"{decision.to_change[0].template}={decision.to_change[0].value}" in row


def test_one_decision(pipeline: str, invoke, runs) -> None:
    decision = spacy.load(pipeline).tokenizer.explain(TEXT).decision(3)
    for limit in (0, 3):
        printed = runs("explain", pipeline, TEXT, "-d", 3, "-n", limit)
        lines = [line.split() for line in printed.splitlines()]
        for rank, each in enumerate(decision.contributions):
            row = [*each.template.split(), *each.value.split(), each.source, f"{each.score:.3f}"]
            if not limit or rank < limit:
                assert row in lines
        marked = sum(line[-1:] == ["*"] for line in lines)
        needed = [each in decision.to_change for each in decision.differences[: limit or None]]
        assert marked == sum(needed) > 0
    assert "There was no other choice." in runs("explain", pipeline, TEXT, "-d", 1)


def test_a_page_needs_nothing_else_and_escapes_markup(
    pipeline: str, invoke, runs, tmp_path: Path
) -> None:
    output = tmp_path / "page.html"
    runs("explain", pipeline, MARKUP, "-o", output)
    text = output.read_text("utf-8")
    page = Page(text)
    assert "b" in page.tags  # of our own
    assert MARKUP not in text
    assert MARKUP in page.text
    assert not {"script", "img", "link", "iframe"}.intersection(page.tags)
    assert not {"src", "href", "style"}.intersection(page.attributes)
    assert "http" not in text
    assert "url(" not in text
    assert page.tags.count("details") == len(MARKUP)
    assert "@media (prefers-color-scheme: dark)" in text
    assert "color-scheme: dark;" in text
    # Only as many as asked for.
    runs("explain", pipeline, MARKUP, "-o", output, "-d", 4)
    assert Page(output.read_text("utf-8")).tags.count("details") == 1


def test_pipes_see_what_comes_before_them(tagged_pipeline: str, invoke, runs, fails) -> None:
    printed = runs("explain", tagged_pipeline, "学生看书", "--component", "tags")
    nlp = spacy.load(tagged_pipeline, exclude=["heads"])
    doc = nlp("学生看书")
    assert printed.startswith(" ".join(f"{token}/{token.tag_}" for token in doc) + "\n")
    assert "has not been trained" in fails("explain", tagged_pipeline, "x", "-c", "heads")
    message = fails("explain", tagged_pipeline, "x", "-c", "nothing")
    assert message.endswith("choose tokenizer, tags, heads")


def test_a_file_is_no_text(pipeline: str, fails, invoke, runs, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("小王看书。", "utf-8")
    message = fails("explain", pipeline, path)
    assert message.startswith(f"{path} is a file, and the text itself is to be named")
    # A long text is the name of no file.
    runs("explain", pipeline, "小王看书。" * 100)


def test_users_mistakes(pipeline: str, untrained: str, characters: str, fails) -> None:
    assert "numbered from 1 to 9" in fails("explain", pipeline, TEXT, "-d", 10)
    assert "numbered from 1 to 9" in fails("explain", pipeline, TEXT, "-d", 0)
    assert "nothing was decided" in fails("explain", pipeline, "", "-d", 1)
    assert "has not been trained" in fails("explain", untrained, TEXT)
    assert "no part of the pipeline" in fails("explain", characters, TEXT)
    assert "ends in .html" in fails("explain", pipeline, TEXT, "-o", "page.txt")
    assert "no UTF-8 at offset 1" in fails("explain", pipeline, "看\udcff")
