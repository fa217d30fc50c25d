"""Docstrings of the package as Markdown: what they say of parameters becomes a list.

A docstring names parameters at the beginning of a line or sentence, ``beam: how many states are
kept.``; several with one text are ``start, end: its offsets.``
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection
from importlib import import_module
from typing import Any, NamedTuple

import griffe

# What comes after the parameters of a paragraph.
_AFTER = re.compile(r"(?:^|(?<=[.;] ))(?=(?:Raises|Returns) )")


class Described(NamedTuple):
    """A docstring in parts: text, descriptions of parameters by their names, in turn."""

    parts: list[str | tuple[tuple[str, ...], str]]

    @property
    def descriptions(self) -> dict[str, str]:
        """What is said of each parameter."""
        found = (part for part in self.parts if not isinstance(part, str))
        return {name: text for names, text in found for name in names}

    def markdown(self) -> str:
        """The docstring with a list in place of sentences about parameters."""
        lines: list[str] = []
        before: type | None = None
        for part in self.parts:
            if isinstance(part, str):
                lines += ["", part]
            else:
                lines += [] if before is tuple else [""]
                lines.append(f"- {', '.join(f'`{name}`' for name in part[0])}: {part[1]}")
            before = type(part)
        return "\n".join(lines).strip()


def describe(docstring: str, names: Collection[str]) -> Described:
    """Take a docstring apart. names: of the parameters that it may describe."""
    parts: list[str | tuple[tuple[str, ...], str]] = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(docstring)):
        parts += _of_paragraph(paragraph, names)
    return Described(parts)


def _of_paragraph(
    paragraph: str, names: Collection[str]
) -> list[str | tuple[tuple[str, ...], str]]:
    if not names:
        return [paragraph]
    one_of = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    begins = re.compile(rf"(?:^|(?<=[.;] ))({one_of})((?:, (?:{one_of}))*): ")
    if not any(begins.search(line.strip()) for line in paragraph.splitlines()):
        return [paragraph]
    parts: list[str | tuple[tuple[str, ...], str]] = []
    for text in _blocks(paragraph, begins):
        end = 0
        starts = [*begins.finditer(text)]
        if not starts:
            parts.append(text)
            continue
        if starts[0].start():
            parts.append(text[: starts[0].start()].strip())
        for match, following in zip(starts, [*starts[1:], None], strict=True):
            end = following.start() if following else len(text)
            described = text[match.end() : end].strip()
            rest = ""
            if following is None and (after := _AFTER.search(described)) and after.start():
                described, rest = described[: after.start()].strip(), described[after.start() :]
            parts.append((tuple(f"{match[1]}{match[2]}".split(", ")), described))
            if rest:
                parts.append(rest)
    return parts


def _blocks(paragraph: str, begins: re.Pattern[str]) -> list[str]:
    """The paragraph as lines of text: what is indented belongs to the line above."""
    hanging = re.search(r"^\s", paragraph, re.MULTILINE)
    found: list[str] = []
    for line in paragraph.splitlines():
        new = begins.match(line.strip()) or re.match("(Raises|Returns) ", line)
        previous_item = found and hanging and begins.match(found[-1])
        if not found or new or (previous_item and not line[0].isspace()):
            found.append(line.strip())
        else:
            found[-1] += f" {line.strip()}"
    return found


class ReadDocstrings(griffe.Extension):
    """Docstrings of compiled modules, which stubs do not have, and lists of parameters."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Walk through a package that was loaded."""
        _walk(pkg)


def _walk(thing: griffe.Module | griffe.Class) -> None:
    for member in list(thing.members.values()):
        if isinstance(member, griffe.Alias):
            continue
        if not member.docstring and not member.name.startswith("_"):
            text = _at_runtime(member)
            if text:
                member.docstring = griffe.Docstring(text, parent=member)
        if isinstance(member, (griffe.Module, griffe.Class)):
            _walk(member)
    if isinstance(thing, griffe.Module) and not thing.docstring:
        text = import_module(thing.path).__doc__
        if text:
            thing.docstring = griffe.Docstring(text, parent=thing)
    for each in (thing, *thing.members.values()):
        if isinstance(each, griffe.Alias) or not each.docstring:
            continue
        if isinstance(each, griffe.Function):
            _rewrite(each, [parameter.name for parameter in each.parameters])
        elif isinstance(each, griffe.Class) and each is not thing:
            _rewrite(each, {*each.all_members, *(each.parameters[i].name for i in ())})


def _rewrite(each: griffe.Object, names: Collection[str]) -> None:
    assert each.docstring
    each.docstring.value = describe(each.docstring.value, [*names]).markdown()


def _at_runtime(member: griffe.Object) -> str | None:
    """The docstring that a thing has once it is imported, if it is its own."""
    found: Any = import_module(member.module.path)
    for name in member.path.removeprefix(f"{member.module.path}.").split("."):
        owner, found = found, getattr(found, name, None)
    own = getattr(found, "__doc__", None)
    return None if own is None or own == type(found).__doc__ else inspect.cleandoc(own)
