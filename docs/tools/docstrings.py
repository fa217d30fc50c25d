"""Docstrings of the package as Markdown: what they say of parameters becomes a list.

A docstring names parameters at the beginning of a line or sentence, ``beam: how many states are
kept.``; several with one text are ``start, end: its offsets.`` Those in NumPy's style, with
sections such as Parameters, are left to griffe.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any, NamedTuple

import griffe

from spacy_structreg.learn.setting_fields import Setting
from spacy_structreg.models.stored_model import StoredModel

# A section of NumPy's style.
_NUMPY = re.compile(r"^[A-Z]\w+\n-{3,}$", re.MULTILINE)
# What comes after the parameters of a paragraph.
_AFTER = re.compile(r"(?:^|(?<=[.;] ))(?=(?:Raises|Returns) )")


class Described(NamedTuple):
    """A docstring in parts: text, descriptions of parameters by their names, in turn."""

    parts: list[str | tuple[tuple[str, ...], str]]

    @property
    def descriptions(self) -> dict[str, str]:
        """The description of each parameter."""
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
    """Docstrings of compiled modules and of settings, which are not in what is read; lists."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Complete the docstrings of a package."""
        _complete(pkg, import_module(pkg.path))


def _complete(thing: griffe.Module | griffe.Class, value: Any) -> None:
    """Complete the docstrings of a module or class and of its members. value: the thing itself."""
    texts = {
        field.name: about.doc
        for field in (fields(value) if is_dataclass(value) else ())
        for about in field.metadata.values()
        if isinstance(about, Setting)
    }
    _read(thing, value, {*thing.all_members, *_parameters(thing)})
    for name, member in thing.members.items():
        if isinstance(member, griffe.Alias) or name.startswith("_"):
            continue
        if isinstance(member, griffe.Module):
            _complete(member, import_module(member.path))
        elif isinstance(member, griffe.Class):
            _complete(member, getattr(value, name))
        else:
            if name in texts:
                member.docstring = griffe.Docstring(texts[name], parent=member)
            _read(member, getattr(value, name, None), _parameters(member))


def _parameters(thing: griffe.Object) -> set[str]:
    if isinstance(thing, (griffe.Function, griffe.Class)):
        return {parameter.name for parameter in thing.parameters}
    return set()


def _read(thing: griffe.Object, value: Any, names: set[str]) -> None:
    """Take over the docstring of what was imported, if there is none, and make lists in it.

    That of a model has more than its source: what all of them have.
    """
    own = getattr(value, "__doc__", None)
    is_model = isinstance(value, type) and issubclass(value, StoredModel)
    if own and own != type(value).__doc__ and (is_model or not thing.docstring):
        thing.docstring = griffe.Docstring(inspect.cleandoc(own), parent=thing)
    if not thing.docstring:
        return
    # Attributes may have the docstring of what they stand for, as NumPy's own.
    if not isinstance(thing, griffe.Attribute) and _NUMPY.search(thing.docstring.value):
        thing.docstring.parser = "numpy"
    elif names:
        thing.docstring.value = describe(thing.docstring.value, names).markdown()
