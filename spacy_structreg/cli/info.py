"""`structreg info`: what is in a pipeline, and how it was trained."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer
from spacy.cli._util import Opt

from spacy_structreg.cli.options import PipelineArgument, load_pipeline

# Longer lists are cut in the table.
MOST_SHOWN = 12


def info(
    pipeline: PipelineArgument,
    *,
    as_json: Annotated[
        bool, Opt("--json", "-j", help="Print JSON, with all labels and settings in full")
    ] = False,
) -> dict[str, Any]:
    """Tell what is in a pipeline: its models, labels, templates, settings and sizes.

    Also how models learned, the checksum of their corpus, the knowledge sources that are stored
    with them, and how many words users have listed.

    Returns the description (`pipeline_description.describe_pipeline`). Raises ValueError or OSError
    if there is no pipeline of that name, or it cannot be loaded.
    """
    from spacy_structreg.pipeline.pipeline_description import describe_pipeline

    found = describe_pipeline(load_pipeline(pipeline))
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        print_info(found)
    return found


def print_info(found: Mapping[str, Any]) -> None:
    """Print a description as tables, one for the tokenizer and each pipe."""
    from wasabi import msg

    typer.echo(f"{found['lang']}_{found['name']} {found['version']}")
    for name, part in found["parts"].items():
        rows = [("class", part["class"])]
        if part["factory"] is not None:
            rows.append(("factory", part["factory"]))
        if part["disabled"]:
            rows.append(("disabled", "yes"))
        if part["size"] is not None:
            rows.append(("size on disk", in_bytes(part["size"])))
        if part.get("user_words") is not None:
            rows.append(("user words", f"{part['user_words']:,}"))
        if "model" in part:
            rows += model_rows(part["model"])
        msg.table(rows, title=name)


def model_rows(model: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the rows of a table about a model, and about those that it is made of."""
    yield f"{prefix}model", model["class"] if model["trained"] else f"{model['class']}, untrained"
    if model["trained"]:
        labels = model["labels"]
        if labels:
            yield f"{prefix}labels", f"{len(labels):,}: {shortened(labels)}"
        if model["features"]:
            yield f"{prefix}features", f"{model['features']:,}"
            weights = f"{model['weights']:,}"
            if model["frozen"]:
                weights = f"frozen, of {model['frozen']} bits"
            yield f"{prefix}weights", f"{weights}, {in_bytes(model['bytes'])}"
        if not model["models"]:
            yield f"{prefix}corpus", model["corpus"] or "unknown, or changed since"
        yield f"{prefix}version", str(model["version"])
        for source in model["sources"]:
            more = ", ".join(
                f"{key} {value}"
                for key, value in source.items()
                if key not in ("source", "atoms", "bytes")
            )
            size = in_bytes(source["bytes"])
            atoms = " ".join(source["atoms"])
            yield f"{prefix}source", f"{source['source']} ({atoms}), {size}{more and ', '}{more}"
    if model["templates"]:
        templates = model["templates"]
        listed = [templates] if isinstance(templates, str) else templates
        yield f"{prefix}templates", f"{len(listed):,}: {shortened(listed, ' | ')}"
    for group in ("learning", "settings"):
        values = model[group]
        if isinstance(values, dict):
            plain = [f"{key}={value}" for key, value in values.items() if not is_nested(value)]
            yield f"{prefix}{group}", ", ".join(plain)
    for name, inner in model.get("models", {}).items():
        yield from model_rows(inner, f"{prefix}{name}: ")


def is_nested(value: Any) -> bool:
    """True if a setting is too long for a line of the table."""
    return isinstance(value, (dict, list)) and len(value) > MOST_SHOWN


def shortened(items: list[Any], separator: str = " ") -> str:
    """The first items of a list, and dots if there are more."""
    shown = separator.join(map(str, items[:MOST_SHOWN]))
    return f"{shown}{separator}..." if len(items) > MOST_SHOWN else shown


def in_bytes(n: int) -> str:
    """A number of bytes as people read it."""
    return f"{n / 1e6:,.1f} MB" if n >= 1e5 else f"{n / 1e3:,.1f} kB"
