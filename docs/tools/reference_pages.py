"""The pages of the reference that are made from the code: Markdown by the path of the page.

Modules, classes and functions are rendered by mkdocstrings, which reads them; the rest is here:
commands, registered names with their settings, keys of figures and meanings of tags.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import iter_modules
from types import NoneType, UnionType
from typing import Any, Final, Literal, NamedTuple, Union, get_args, get_origin

import typer
from docstrings import describe
from settings_tables import documented_classes, model_classes, settings_table, values_text
from spacy.language import Language
from typer.main import get_command

from spacy_structreg.cli.app import structreg_app
from spacy_structreg.corpora.tag_glossary import RELATION_GLOSSARY, TAG_GLOSSARY
from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.learn.setting_fields import described, hints_of, plain
from spacy_structreg.metrics.glossary import SCORE_GLOSSARY
from spacy_structreg.pipeline.component import HasSettings

# From the top; `tests/test_floors.py` holds the code to them.
FLOORS: Final = (
    "cli", "serve", "cluster", "compat", "pipeline", "models", "training", "tasks", "search",
    "learn", "features", "corpora", "metrics",
)  # fmt: skip
# How a config names what is registered in each group, and what that is.
GROUPS: Final = {
    "factories": ("factory", "Pipes", "In a config, `factory` of `[components.NAME]`."),
    "tokenizers": ("@tokenizers", "Tokenizers", "In a config, `@tokenizers` of `[nlp.tokenizer]`."),
    "architectures": (
        "@architectures",
        "Models",
        "In a config, `@architectures` of `[nlp.tokenizer.model]` or `[components.NAME.model]`.",
    ),
    "misc": ("@misc", "Learning, word lists, tag tables", "In a config, `@misc` of a block."),
    "callbacks": ("@callbacks", "Callbacks", "In a config, `@callbacks` of a block."),
    "readers": ("@readers", "Readers", "In a config, `@readers` of `[corpora.train]` and `.dev`."),
    "augmenters": (
        "@augmenters",
        "Augmenters",
        "In a config, `@augmenters` of `[corpora.train.augmenter]`.",
    ),
    "scorers": ("@scorers", "Scorers", "In a config, `@scorers` of `[components.NAME.scorer]`."),
    "structreg_tasks": (
        "",
        "Tasks",
        "What the commands know of a task: entry points of the group `spacy_structreg_tasks`, each "
        "a `PipelineTask`. Other packages may add their own.",
    ),
}
# What values of types are, to people who write configs.
_KINDS: Final[dict[Any, str]] = {
    bool: "true, false",
    str: "text",
    int: "a whole number",
    float: "a number",
    Path: "a path",
    NoneType: "`null`",
    list: "a list",
    dict: "values by name",
    Mapping: "values by name",
    Callable: "a function",
}
# The same in helps of commands.
_HELP_TYPES: Final = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "path": "a path",
    "list[str]": "texts",
    "list[Path]": "paths",
}


class Registered(NamedTuple):
    """A registered name, its group (of `GROUPS`) and what it stands for."""

    name: str
    group: str
    value: Any

    @property
    def page(self) -> str:
        """Path of the page that it stands on."""
        return f"reference/registered/{self.group}.md"

    @property
    def anchor(self) -> str:
        """Of its heading."""
        return self.name.lower()


def pages() -> dict[str, str]:
    """All pages that are made, in the order of the navigation."""
    return {
        **command_pages(),
        **registered_pages(),
        "reference/scores.md": scores_page(),
        "reference/tags.md": tags_page(),
        **python_pages(),
    }


def index() -> str:
    """Lists of what is in the pages that are made, for the page of the reference."""
    lines = ["", "## Commands", "", *_command_rows("reference/commands/")]
    lines += ["", "## Registered names", "", *_registered_rows("reference/registered/")]
    lines += [
        "",
        "## Figures and tags",
        "",
        "- [Score keys](reference/scores.md): what each figure of a report means.",
        "- [Tags and relations](reference/tags.md): what those of the treebanks mean.",
        "",
        "## Python",
        "",
    ]
    for floor in FLOORS:
        modules = [
            f"[{_short(name)}]({_module_page(name)})"
            for names in modules_by_package(f"spacy_structreg.{floor}").values()
            for name in names
        ]
        lines += [f"[**{floor}**](reference/python/{floor}/index.md): {' · '.join(modules)}", ""]
    return "\n".join(lines)


# ---- tables ----


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table in Markdown."""
    return [
        f"| {' | '.join(heads)} |",
        f"|{'---|' * len(heads)}",
        *(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows),
    ]


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))


def first_line(thing: Any) -> str:
    """The first paragraph of a docstring."""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


# ---- commands ----


@cache
def commands() -> dict[str, Any]:
    """The commands of ``structreg``, by name: objects of click, or of typer's copy of it."""
    group: Any = get_command(structreg_app)
    return dict(sorted(group.commands.items()))


def command_pages() -> dict[str, str]:
    """A page a command, and their index."""
    lines = [
        "# Commands",
        "",
        "```bash",
        "python -m spacy structreg COMMAND --help",
        "```",
        "",
        *_command_rows(""),
        "",
    ]
    return {
        "reference/commands/index.md": "\n".join(lines),
        **{
            f"reference/commands/{name}.md": _command_page(name, command)
            for name, command in commands().items()
        },
    }


def _command_rows(folder: str) -> list[str]:
    rows = [
        (f"[`{name}`]({folder}{name}.md)", _prose((command.help or "").partition("\n\n")[0]))
        for name, command in commands().items()
    ]
    return table(["command", "what it does"], rows)


def _command_page(name: str, command: Any) -> str:
    context: Any = typer.Context(command, info_name=f"python -m spacy structreg {name}")
    lines = [f"# {name}", "", "```bash", command.get_usage(context).removeprefix("Usage: "), "```"]
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(command.help or "")):
        lines += ["", _prose(paragraph)]
    for kind, title in (("argument", "Arguments"), ("option", "Options")):
        rows = [
            _parameter_row(*each.get_help_record(context))
            for each in command.get_params(context)
            if each.param_type_name == kind and each.get_help_record(context)
        ]
        if rows:
            lines += ["", f"## {title}", "", *table([kind, "value", "default, range", ""], rows)]
    formatter = context.make_formatter()
    command.format_epilog(context, formatter)
    if listed := formatter.getvalue().strip("\n"):
        title, _, text = listed.partition("\n")
        listed_rows: list[list[str]] = []
        for line in inspect.cleandoc(text).splitlines():
            left, _, right = line.partition("  ")
            if left:
                listed_rows.append([f"`{left}`", right])
            else:
                listed_rows[-1][1] += f" {right}"
        lines += ["", f"## {title.strip(': ')}", "", *table(["name", ""], listed_rows)]
    return "\n".join([*lines, ""])


def _parameter_row(names: str, text: str) -> tuple[str, ...]:
    """Cells for what the help says: ``-m, --models <int range>`` and a text that ends in limits."""
    found = re.fullmatch(r"([^\s,]+(?:(?:, | / )-[^\s,]+)*)(?: (.+))?", names)
    match = re.fullmatch(r"(.*?)(?:  \[([^\]]*)\])?", text, re.DOTALL)
    assert found
    assert match
    value = (found[2] or "").strip("<>").removesuffix(" range")
    limits = (match[2] or "").removeprefix("default: ").split("; ")
    return (
        " ".join(f"`{each}`" for each in re.split(", | / ", found[1])),
        _HELP_TYPES.get(value) or ", ".join(f"`{each}`" for each in value.split("|") if each),
        ", ".join(each if each == "required" else f"`{each}`" for each in limits if each),
        _prose(match[1]),
    )


def _prose(text: str) -> str:
    """Text of a help in Markdown: options as code, nothing as markup."""
    parts = re.split("(`[^`]+`)", " ".join(text.replace("\b", "").split()))
    for i in range(0, len(parts), 2):
        plain_text = re.sub(r"([<>*_\[\]|])", r"\\\1", parts[i])
        parts[i] = re.sub(r"(?<![\w-])--?[a-z][\w.-]*\w", r"`\g<0>`", plain_text)
    return "".join(parts)


# ---- registered names ----


@cache
def registered() -> tuple[Registered, ...]:
    """All names that the package registers, by group."""
    found: list[Registered] = []
    for group in GROUPS:
        points = [
            point
            for point in entry_points(group=f"spacy_{group}")
            if point.value.startswith("spacy_structreg.")
        ]
        found += (Registered(point.name, group, point.load()) for point in points)
    return tuple(found)


def registered_pages() -> dict[str, str]:
    """A page a group of registered names, and their index."""
    made = {
        "reference/registered/index.md": "\n".join(
            [
                "# Registered names",
                "",
                "Configs name these; spaCy finds them through the entry points of the package.",
                "A version at the end changes when behavior does.",
                "",
                *_registered_rows(""),
                "",
            ]
        )
    }
    for group, (_, title, where) in GROUPS.items():
        lines = [f"# {title}", "", where, ""]
        for each in registered():
            if each.group == group:
                label = each.name.removeprefix("spacy_structreg.")
                heading = f'## {each.name} {{ #{each.anchor} data-toc-label="{label}" }}'
                lines += [heading, "", *_about(each), ""]
        made[f"reference/registered/{group}.md"] = "\n".join(lines)
    return made


def _registered_rows(folder: str) -> list[str]:
    rows = [
        (
            f"[`{each.name}`]({folder}{each.group}.md#{each.anchor})",
            GROUPS[each.group][1],
            _does(each),
        )
        for each in registered()
    ]
    return table(["name", "kind", "what it is"], rows)


def _model(each: Registered) -> str:
    return each.name.split(".")[1] if "." in each.name else ""


def _does(each: Registered) -> str:
    described = _described(each)
    return first_line(described) if not isinstance(described, str) else described


def _described(each: Registered) -> Any:
    """The thing whose docstring says most about a registered name."""
    if each.name in _components():
        return _components()[each.name]
    if each.group == "structreg_tasks":
        return each.value.summary if hasattr(each.value, "summary") else each.value
    return _classes().get(_model(each), each.value)


@cache
def _components() -> dict[str, type[Any]]:
    """Classes of pipes and tokenizers, by the names under which they are registered."""

    def below(cls: type[Any]) -> Iterator[type[Any]]:
        for each in cls.__subclasses__():
            yield each
            yield from below(each)

    return {
        getattr(each, "FACTORY", None) or each.NAME: each
        for each in below(HasSettings)
        if {"FACTORY", "NAME"} & {*vars(each)} and each.__module__.startswith("spacy_structreg.")
    }


@cache
def _classes() -> dict[str, Any]:
    return {**model_classes(), "Learning": Learning, "LogLinear": LogLinear}


def _about(each: Registered) -> list[str]:
    described = _described(each)
    lines = [_does(each), ""]
    if "<locals>" not in getattr(described, "__qualname__", "<locals>"):
        path = f"{described.__module__}.{described.__qualname__}"
        lines += [f"In Python: [`{path}`][{path}].", ""]
    settings = documented_classes().get(_model(each))
    if each.group == "factories" and each.name in _components():
        lines += _pipe_settings(each.name, _components()[each.name])
    elif settings is not None and each.group in ("architectures", "misc"):
        lines += [settings_table(settings)]
    elif each.group not in ("factories", "structreg_tasks"):
        found = inspect.signature(each.value, eval_str=True).parameters
        lines += _parameters(found, each.value)
    return lines


def _pipe_settings(name: str, component: type[HasSettings]) -> list[str]:
    """A table of the settings of a pipe, with the defaults of its factory."""
    blocks = {
        "model": "The block of its model, whose settings stand with its [name](architectures.md).",
        "scorer": "What makes figures of Docs: one of the [scorers](scorers.md).",
    }
    defaults = Language.get_factory_meta(name).default_config or {}
    hints = hints_of(component.SETTINGS)
    texts = {key: ("a block", text) for key, text in blocks.items()} | {
        key: (values_text(about, hints[key]), about.doc)
        for key, about in described(component.SETTINGS)
    }
    rows = [
        (f"`{key}`", texts[key][0], _config_value(default), texts[key][1])
        for key, default in defaults.items()
    ]
    return table(["setting", "values", "default", ""], rows)


def _parameters(parameters: Mapping[str, inspect.Parameter], of: Any) -> list[str]:
    """A table of the settings of a function or the constructor of a class."""
    if not parameters:
        return ["It has no settings."]
    texts = _texts(of, [*parameters])
    rows = [
        (
            f"`{name}`",
            _values(each.annotation),
            "required" if each.default is each.empty else _config_value(each.default),
            texts.get(name, ""),
        )
        for name, each in parameters.items()
    ]
    return table(["setting", "values", "default", ""], rows)


def _config_value(value: Any) -> str:
    return f"`{json.dumps(plain(value), default=dict, ensure_ascii=False)}`"


def _texts(of: Any, names: list[str]) -> dict[str, str]:
    """Descriptions of parameters, by a class or else the first of its bases that has one."""
    found: dict[str, str] = {}
    for each in of.__mro__ if isinstance(of, type) else (of,):
        for name, text in describe(each.__doc__ or "", names).descriptions.items():
            if name not in found and not text.startswith(("as of ", "see ")):
                found[name] = text
    return found


def _values(hint: Any) -> str:
    """The values of a parameter in words. hint: its type."""
    kind, inner = get_origin(hint), get_args(hint)
    if kind in (Union, UnionType):
        return ", ".join(map(_values, inner))
    if kind is Literal:
        return ", ".join(f"`{json.dumps(each)}`" for each in inner)
    return _KINDS.get(kind or hint) or f"`{getattr(hint, '__name__', hint)}`"


# ---- figures and tags ----


def scores_page() -> str:
    """Keys of figures."""
    lines = [
        "# Score keys",
        "",
        "Reports and `metrics/*.json` of projects name figures by these keys, and `spacy.explain` "
        "knows them. Values are fractions of 1, printed in percent, if the text says nothing else.",
        "",
    ]
    return "\n".join([*lines, *_glossary(SCORE_GLOSSARY, "key"), ""])


def tags_page() -> str:
    """Meanings of tags, by treebank, and of relations."""
    lines = ["# Tags and relations", "", "`spacy.explain` knows them as well.", ""]
    for treebank, tags in TAG_GLOSSARY.items():
        lines += [f"## Tags of {treebank}", "", *_glossary(tags, "tag"), ""]
    return "\n".join([*lines, "## Relations", "", *_glossary(RELATION_GLOSSARY, "relation"), ""])


def _glossary(meanings: Mapping[str, str], what: str) -> list[str]:
    return table([what, "meaning"], [(_code(key), text) for key, text in meanings.items()])


def _code(text: str) -> str:
    """Text as code, whatever backticks it has."""
    return f"``` {text} ```" if "`" in text else f"`{text}`"


# ---- modules ----


def modules_by_package(package: str) -> dict[str, list[str]]:
    """The public modules of a package and of those within it, by the package they lie in."""
    found: dict[str, list[str]] = {package: []}
    for module in iter_modules(import_module(package).__path__, f"{package}."):
        if module.name.rpartition(".")[2].startswith("_"):
            continue
        if module.ispkg:
            found.update(modules_by_package(module.name))
        else:
            found[package].append(module.name)
    return found


def _short(module: str) -> str:
    """The name of a module within its floor."""
    return module.split(".", 2)[2]


def _module_page(module: str) -> str:
    return f"reference/python/{module.split('.')[1]}/{_short(module)}.md"


def python_pages() -> dict[str, str]:
    """A page a module, an index a floor, and one of all floors."""
    rows = [
        (f"[`{floor}`]({floor}/index.md)", first_line(import_module(f"spacy_structreg.{floor}")))
        for floor in FLOORS
    ]
    made = {
        "reference/python/index.md": "\n".join(
            [
                "# Python",
                "",
                "Modules lie in floors; each imports from its own and those below it.",
                "",
                *table(["floor", "what it holds"], rows),
                "",
                "::: spacy_structreg",
                "    options:",
                "      heading_level: 2",
                "      show_submodules: false",
                "",
                "::: spacy_structreg.about",
                "    options:",
                "      heading_level: 2",
                "",
            ]
        )
    }
    for floor in FLOORS:
        lines: list[str] = []
        by_package = modules_by_package(f"spacy_structreg.{floor}")
        for package, modules in by_package.items():
            level = 1 if not lines else 2
            # Of packages that are more than folders.
            shown = "show_submodules" if hasattr(import_module(package), "__all__") else "members"
            lines += [
                f"::: {package}",
                "    options:",
                f"      heading_level: {level}",
                f"      {shown}: false",
                "",
            ]
            rows = [
                (f"[`{_short(name)}`]({_short(name)}.md)", first_line(import_module(name)))
                for name in modules
            ]
            if rows:
                lines += [*table(["module", ""], rows), ""]
        made[f"reference/python/{floor}/index.md"] = "\n".join(lines)
        for modules in by_package.values():
            for name in modules:
                made[_module_page(name)] = f"---\ntitle: {_short(name)}\n---\n\n::: {name}\n"
    return made
