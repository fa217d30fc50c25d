"""What mkdocs asks when it builds the site: pages made from the code, links, the navigation."""

from __future__ import annotations

import posixpath
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import reference_pages
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).parents[2]
# Not within code, of several lines or one.
_CODE: Final = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"(?<=\]\()(\.\./[^)#\s]*)(#[^)\s]*)?(?=\))")
_LIST: Final = "<!-- lists -->"


@cache
def _made() -> dict[str, str]:
    return reference_pages.pages()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made, and put them into the navigation."""
    for path, text in _made().items():
        files.append(File.generated(config, path, content=text))
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
        start = f"{item}spacy_structreg.{floor}."
        modules = [path for path in paths if path.startswith(start)]
        by_floor.append({floor: [f"{item}{floor}.md", *modules]})
    return by_floor


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links to files of the repository lead there, and names to their reference."""
    path = page.file.src_uri
    if path == "reference.md":
        markdown = markdown.replace(_LIST, reference_pages.index(_made()))
    if page.file.generated_by:
        return markdown
    names = _targets()

    def outside(match: re.Match[str]) -> str:
        inside = posixpath.normpath(posixpath.join(posixpath.dirname(path), "..", "docs", match[1]))
        return code_host(config, posixpath.normpath(f"docs/{path}/../{match[1]}")) + (match[2] or "")

    text = _LINK.sub(outside, markdown)
    return text


def code_host(config: MkDocsConfig, path: str) -> str:
    """Where a file or folder of the repository is shown. Raises ValueError if there is none."""
    target = ROOT / path
    if not target.exists():
        raise ValueError(f"there is no {path} in the repository")
    kind = "tree" if target.is_dir() else "blob"
    return f"{config.repo_url}/{kind}/main/{path}"


@cache
def _targets() -> dict[str, str]:
    """The page and anchor of each registered name and command."""
    found = {each.name: f"{each.page}#{each.anchor}" for each in reference_pages.registered()}
    for name in reference_pages.commands():
        found[f"structreg {name}"] = f"reference/commands/{name}.md"
    return found
