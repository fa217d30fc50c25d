"""Additions to the site as mkdocs builds it: pages made from the code, links, languages, colors."""

from __future__ import annotations

import logging
import posixpath
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import reference_pages
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

from spacy_structreg.corpora.palette import COLORS

ROOT: Final = Path(__file__).parents[2]
# Not within code, of several lines or one.
_CODE: Final = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"(?<=\]\()(\.\./[^)#\s]*)(#[^)\s]*)?(?=\))")
# With a path from the notebook's folder, in HTML.
_NOTEBOOK_LINK: Final = re.compile(r'(?<=<a href=")(?![a-z]+:|#)([^"#]+)(?=["#])')
_CHINESE: Final = "zh/"
"""The folder of the pages in Chinese."""
_LIST: Final = "<!-- lists -->"


def on_config(config: MkDocsConfig) -> None:
    """Keep jieba, which cuts Chinese for the search, from telling about itself."""
    logging.getLogger("jieba").setLevel(logging.WARNING)


@cache
def _made() -> dict[str, str]:
    return reference_pages.pages()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made, and put them into the navigation."""
    for path, text in _made().items():
        files.append(File.generated(config, path, content=text))
    files.append(File.generated(config, "assets/palette.css", content=_colors()))
    config.nav = [_filled(item) for item in config.nav or []]
    return files


def _filled(item: Any) -> Any:
    """A part of the navigation, with the pages of the folders that it names."""
    if isinstance(item, dict):
        return {title: _filled(value) for title, value in item.items()}
    if isinstance(item, list):
        return [_filled(each) for each in item]
    if not item.endswith("/"):
        return item
    paths = [path for path in _made() if path.startswith(item)]
    if item != "reference/python/":
        return paths
    by_floor: list[Any] = [f"{item}index.md"]
    for floor in reference_pages.FLOORS:
        by_floor.append({floor: [path for path in paths if path.startswith(f"{item}{floor}/")]})
    return by_floor


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links to files of the repository lead there, and names in code to the reference."""
    path = page.file.src_uri
    if page.file.generated_by:
        return markdown

    def linked(text: str) -> str:
        """Text between code."""

        def repository(match: re.Match[str]) -> str:
            target = posixpath.normpath(posixpath.join("docs", path, "..", match[1]))
            if target.startswith("docs/"):
                return match[0]
            return code_host(config, target) + (match[2] or "")

        return _LINK.sub(repository, text)

    up = "../" * path.count("/")
    parts = _CODE.split(markdown)
    for i, part in enumerate(parts):
        if i % 2 == 0:
            parts[i] = linked(part)
        elif part[1:-1] in _targets() and not parts[i - 1].endswith("["):
            parts[i] = f"[{part}]({up}{_targets()[part[1:-1]]})"
    text = "".join(parts)
    return text.replace(_LIST, reference_pages.index()) if path == "reference.md" else text


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links of notebooks lead to pages and to the repository, as those of pages do."""
    path = page.file.src_uri
    if not path.endswith(".ipynb"):
        return html

    def linked(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join("docs", path, "..", match[1]))
        file = files.get_file_from_path(target.removeprefix("docs/"))
        return file.url_relative_to(page.file) if file else code_host(config, target)

    return _NOTEBOOK_LINK.sub(linked, html)


def on_page_context(
    context: dict[str, Any], page: Page, config: MkDocsConfig, nav: Navigation
) -> None:
    """Offer the page in the other language, or else the index of that language."""
    path = page.file.src_uri.removeprefix(_CHINESE)
    urls = {each.file.src_uri: each.url for each in nav.pages}
    chinese = urls.get(_CHINESE + path, urls[f"{_CHINESE}index.md"])
    config.extra["alternate"] = [
        {"name": "English", "lang": "en", "link": urls[path]},
        {"name": "中文", "lang": "zh", "link": chinese},
    ]


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Say which pages are in Chinese, for the choice of glyphs and for readers aloud."""
    if not page.file.src_uri.startswith(_CHINESE):
        return output
    return output.replace('<html lang="en"', '<html lang="zh-Hans"', 1)


def code_host(config: MkDocsConfig, path: str) -> str:
    """The address of a file or folder of the repository. Raises ValueError if there is none."""
    target = ROOT / path
    if not target.exists():
        raise ValueError(f"there is no {path} in the repository")
    kind = "tree" if target.is_dir() else "blob"
    return f"{config.repo_url}/{kind}/main/{path}"


@cache
def _targets() -> dict[str, str]:
    """The page and anchor of each registered name and command."""
    return {
        **{each.name: f"{each.page}#{each.anchor}" for each in reference_pages.registered()},
        **{
            f"structreg {name}": f"reference/commands/{name}.md"
            for name in reference_pages.commands()
        },
    }


def _colors() -> str:
    """The palette as custom properties, by the names that the theme has for light and dark."""
    return "".join(
        f'[data-md-color-scheme="{scheme}"] {{\n'
        + "".join(f"  --{name}: {getattr(color, shade)};\n" for name, color in COLORS.items())
        + "}\n"
        for scheme, shade in (("default", "light"), ("slate", "dark"))
    )
