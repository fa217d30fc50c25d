"""The documentation site: its links, what it loads, and a reference that leaves no name out."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from configparser import ConfigParser
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import which
from threading import Thread
from types import ModuleType
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
import spacy
from docs.pages import ROOT
from looped import looped
from typer.testing import CliRunner

import spacy_structreg
from spacy_structreg.cli.app import structreg_app
from spacy_structreg.corpora.tag_glossary import TAG_GLOSSARY
from spacy_structreg.metrics.glossary import SCORE_GLOSSARY

pytestmark = pytest.mark.slow

HOME = "http://site.test/"
LINK = re.compile(r'<a\b[^>]*?\bhref="([^"]*)"')
LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\b(?:src|srcset)\s*=\s*[\"']?([^\"'\s>]+)"
    r"|<link\b(?![^>]*\brel=\"?(?:canonical|prev|next|edit))[^>]*?\bhref=[\"']?([^\"'\s>]+)"
    r"|url\(\s*[\"']?([^\"')\s]+)"
    r"|@import\s+[\"']([^\"']+)"
)
ID = re.compile(r'\bid="([^"]*)"')


@pytest.fixture(scope="session")
def site(made_once: Callable[..., Path]) -> Path:
    """The site, built once by the command of `make docs`, which must warn of nothing."""
    pytest.importorskip("mkdocs", reason="needs the extra docs")

    def build(folder: Path) -> None:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "mkdocs", "build", "--strict"),
                *("--site-dir", folder),
            ],
            cwd=ROOT,
            env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        assert not re.search("^(?:WARNING|ERROR)", done.stdout, re.MULTILINE), done.stdout

    return made_once("site", build)


class Pages(dict[str, str]):
    """Texts of the HTML pages of a site, by their addresses under `HOME`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            (urljoin(HOME, str(path.relative_to(folder)).removesuffix("index.html")), text)
            for path in sorted(folder.rglob("*.html"))
            if (text := path.read_text("utf-8")) and path.name != "404.html"
        )
        self.folder = folder

    def links(self, address: str) -> Iterator[str]:
        """Where the links of a page lead, within the site."""
        for link in LINK.findall(self[address]):
            target = urljoin(address, unescape(link))
            if target.startswith(HOME):
                yield target


@pytest.fixture(scope="session")
def pages(site: Path) -> Pages:
    return Pages(site)


def broken_links(pages: Pages) -> set[str]:
    """Links to pages, files and anchors that there are not."""
    anchors = {address: set(map(unescape, ID.findall(text))) for address, text in pages.items()}
    broken = set()
    for address in pages:
        for link in pages.links(address):
            target, anchor = urldefrag(link)
            if target not in pages:
                if not (pages.folder / unquote(urlsplit(target).path[1:])).is_file():
                    broken.add(f"{address}: {link}")
            elif anchor and unquote(anchor) not in anchors[target]:
                broken.add(f"{address}: {link}")
    return broken


def outside_resources(text: str) -> set[str]:
    """What HTML or CSS loads from other hosts."""
    found = {next(filter(None, match)) for match in LOADED.findall(text)}
    return {each for each in found if re.match("(?:[a-z]+:)?//", each)}


def clicks(pages: Pages, start: str, most: int) -> set[str]:
    """The pages that so many clicks lead to."""
    reached = {start}
    for _ in range(most):
        reached |= {
            urldefrag(link)[0]
            for address in reached
            for link in pages.links(address)
            if urldefrag(link)[0] in pages
        }
    return reached


def test_links_and_anchors_are_sound(pages: Pages) -> None:
    assert len(pages) > 300
    assert broken_links(pages) == set()


def test_every_page_is_two_clicks_from_the_start(pages: Pages) -> None:
    assert set(pages) - clicks(pages, HOME, 2) == set()


def test_nothing_is_loaded_from_elsewhere(pages: Pages, site: Path) -> None:
    texts = [*pages.values(), *(path.read_text("utf-8") for path in site.rglob("*.css"))]
    assert set().union(*map(outside_resources, texts)) == set()
    # Of these, scripts of the theme would ask other hosts.
    for text in pages.values():
        assert 'data-md-component="source"' not in text
        assert 'class="mermaid"' not in text


def test_the_checks_find_faults(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "index.html").write_text(
        '<a href="a/">to a</a> <a href="a/#here">h</a> <a class="x" href="a/#gone">g</a>'
        '<a href="b/">b</a> <a href="https://example.org/">e</a>'
    )
    (tmp_path / "a/index.html").write_text('<h2 id="here">H</h2> <a href="far/">far</a>')
    (tmp_path / "a/far").mkdir()
    (tmp_path / "a/far/index.html").write_text('<a href="further.html">f</a>')
    (tmp_path / "a/far/further.html").write_text("alone")
    pages = Pages(tmp_path)
    assert broken_links(pages) == {f"{HOME}: {HOME}a/#gone", f"{HOME}: {HOME}b/"}
    assert set(pages) - clicks(pages, HOME, 2) == {f"{HOME}a/far/further.html"}
    assert outside_resources(
        '<script src="//a.org/x.js"></script><script async src=https://b.org/y.js></script>'
        '<link rel="canonical" href="https://me.org/"><link rel="stylesheet" href="https://c.org">'
        '<img alt="" src="d.png"> p { background: url(http://e.org/f.png) } @import "http://g.org";'
    ) == {
        "//a.org/x.js",
        "https://b.org/y.js",
        "https://c.org",
        "http://e.org/f.png",
        "http://g.org",
    }


# ---- the reference ----


def public_modules() -> Iterator[ModuleType]:
    """The modules of the package whose names have no underscore in front."""
    yield spacy_structreg
    for found in pkgutil.walk_packages(spacy_structreg.__path__, "spacy_structreg."):
        if not any(part.startswith("_") for part in found.name.split(".")):
            yield importlib.import_module(found.name)


def public_names(module: ModuleType) -> list[str]:
    """What a module names in ``__all__``, or else its own classes and functions."""
    given: list[str] | None = getattr(module, "__all__", None)
    if given is not None:
        return given
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
        and (inspect.isclass(value) or inspect.isroutine(value))
    ]


def documented(pages: Pages) -> dict[str, str]:
    """HTML of the docstring and signature of each name in the reference, by its full name."""
    heading = re.compile(r'<h\d id="(spacy_structreg[^"]*)" class="doc doc-heading">')
    found = {}
    for text in pages.values():
        parts = heading.split(text.partition("</article>")[0])
        found |= dict(zip(parts[1::2], parts[2::2], strict=True))
    return found


def test_every_public_name_is_documented(pages: Pages) -> None:
    found = documented(pages)
    modules = [*public_modules()]
    names = {f"{each.__name__}.{name}" for each in modules for name in public_names(each)}
    # Models stand at their modules.
    names -= {f"spacy_structreg.{name}" for name in spacy_structreg._MODELS}
    assert len(names) > 900
    everything = names | {module.__name__ for module in modules}
    assert everything - found.keys() == set()
    # A paragraph or a list: what a docstring becomes.
    assert {name for name in everything if not re.search("<(?:p|ul)>", found[name])} == set()
    # Compiled modules have their docstrings as well, though stubs are what is read.
    assert "A hash table from keys to row numbers" in found["spacy_structreg.learn.rows.Rows"]


def registered_names() -> dict[str, list[str]]:
    """The registered names of setup.cfg, by group."""
    config = ConfigParser(delimiters=["="])
    config.read(ROOT / "setup.cfg", "utf-8")
    return {
        group.removeprefix("spacy_"): [
            line.split("=")[0].strip() for line in lines.split("\n") if line
        ]
        for group, lines in config["options.entry_points"].items()
        if group not in ("spacy_cli", "console_scripts")
    }


def section(page: str, anchor: str) -> str:
    """The HTML from a heading of the second level to the next one, its tags left out."""
    match = re.search(rf'<h2 id="{re.escape(anchor)}">(.*?)(?=<h2 |</article>)', page, re.DOTALL)
    assert match, anchor
    return unescape(re.sub("<[^>]+>", " ", match[1]))


def settings_of(name: str, group: str) -> set[str]:
    """The settings that spaCy itself knows of a registered name."""
    if group == "structreg_tasks":
        return set()
    if group == "factories":
        return {*(spacy.blank("xx").get_factory_meta(name).default_config or {})}
    function = getattr(spacy.registry, group).get(name)
    return {*inspect.signature(function).parameters}


@looped("group", registered_names())
def test_every_registered_name_has_its_settings(group: str, pages: Pages) -> None:
    page = pages[f"{HOME}reference/registered/{group}/"]
    names = registered_names()[group]
    assert names
    for name in names:
        words = section(page, name.lower()).split()
        assert settings_of(name, group) <= {*words}, name


def test_every_command_has_its_options(pages: Pages) -> None:
    runner = CliRunner()
    said = runner.invoke(structreg_app, ["--help"]).output.partition("Commands:")[2]
    commands = re.findall(r"^  ([a-z-]+)  ", said, re.MULTILINE)
    assert {"fit", "evaluate", "draw"} <= {*commands}
    for command in commands:
        page = re.sub("<[^>]+>", " ", pages[f"{HOME}reference/commands/{command}/"])
        words = {*unescape(page).split()}
        said = runner.invoke(structreg_app, [command, "--help"]).output
        lines = re.findall(r"^  (-.*?)(?:  |$)", said.partition("Options:")[2], re.MULTILINE)
        options = {word for line in lines for word in re.findall(r"(?:^|[ ,])(--?[\w-]+)", line)}
        assert "--help" in options
        assert options <= words, command


def test_every_score_and_tag_has_its_meaning(pages: Pages) -> None:
    scores = {**SCORE_GLOSSARY}
    tags = {tag: text for found in TAG_GLOSSARY.values() for tag, text in found.items()}
    for name, meanings in (("scores", scores), ("tags", tags)):
        text = unescape(re.sub("</?code>", "", pages[f"{HOME}reference/{name}/"]))
        rows = dict(re.findall(r"<td>([^<]*)</td>\s*<td>([^<]*)</td>", text))
        assert meanings.items() <= {**meanings, **rows}.items()
        assert meanings.keys() <= rows.keys()


def test_links_to_the_repository_and_to_the_reference(pages: Pages) -> None:
    # `docs/figures.md` has a link to ../benchmarks/README.md, `docs/formats.md` to ../treebank.
    host = "https://github.com/structreg/spacy_structreg"
    assert f'href="{host}/blob/main/benchmarks/README.md"' in pages[f"{HOME}figures/"]
    # A registered name is a link where pages name it in backticks.
    link = '<a href="../reference/registered/factories/#structreg_parser">'
    assert link in pages[f"{HOME}settings/"]


def test_pages_lead_to_those_of_the_other_language(pages: Pages) -> None:
    def languages(address: str) -> dict[str, str]:
        found = re.findall(
            r'<link rel="alternate" href="([^"]*)" hreflang="([^"]*)"', pages[address]
        )
        return {language: urljoin(address, link) for link, language in found}

    both = {"en": f"{HOME}serve/", "zh": f"{HOME}zh/serve/"}
    assert languages(both["en"]) == languages(both["zh"]) == both
    assert languages(HOME) == {"en": HOME, "zh": f"{HOME}zh/"}
    # Of those that there are in English alone.
    assert languages(f"{HOME}papers/") == {"en": f"{HOME}papers/", "zh": f"{HOME}zh/"}
    assert '<html lang="zh-Hans"' in pages[both["zh"]]
    assert '<html lang="en"' in pages[both["en"]]


def test_the_navigation_names_each_page_once() -> None:
    text = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    named = re.findall(r"(\S+\.(?:md|ipynb)|\S+/)$", text, re.M)
    assert "serve.md" in named
    assert [name for name in named if named.count(name) > 1] == []


# ---- in a browser ----


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@pytest.mark.skipif(which("chromium") is None, reason="needs the program chromium")
def test_a_browser_finds_chinese_words_and_asks_no_other_host(site: Path) -> None:
    pytest.importorskip("playwright.sync_api")
    from screenshots import chromium

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site))
    thread = Thread(target=server.serve_forever)
    thread.start()
    home = f"http://127.0.0.1:{server.server_port}/"
    asked: list[str] = []
    try:
        with chromium() as browser:
            page = browser.new_page()
            page.on("request", lambda request: asked.append(request.url))
            faults: list[str] = []
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.goto(f"{home}reference/")
            # As an input method does: the text at once, then a key.
            page.fill("input.md-search__input", "北京")
            page.press("input.md-search__input", "Shift")
            page.wait_for_selector(".md-search-result__link")
            found = page.inner_text(".md-search-result__list")
            # A word of titles of pages in Chinese.
            page.fill("input.md-search__input", "词典")
            page.press("input.md-search__input", "Shift")
            page.wait_for_selector('.md-search-result__link[href*="/zh/dictionary/"]')
            # The other scheme of colors.
            before = page.evaluate("getComputedStyle(document.body).backgroundColor")
            page.keyboard.press("Escape")
            page.click("label.md-header__button[for^=__palette]:not([hidden])")
            after = page.evaluate("getComputedStyle(document.body).backgroundColor")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert faults == []
    assert "北京" in found
    assert before != after
    assert {url for url in asked if not url.startswith((home, "data:", "blob:"))} == set()
    assert f"{home}search/search_index.json" in asked


def test_the_index_of_the_search_has_chinese_words(site: Path) -> None:
    index = json.loads((site / "search/search_index.json").read_text("utf-8"))
    texts = " ".join(each["text"] for each in index["docs"])
    # Words lie between spaces of no width.
    assert re.search("\u200b北京\u200b|北京\u200b", texts)
