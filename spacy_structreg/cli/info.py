"""`structreg info`: what is in a pipeline, and how it was trained."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from spacy.cli._util import Opt

from spacy_structreg.cli.options import PipelineArgument, load_pipeline

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_structreg.learn.model_file import Arrays

# Settings of models with an entry of their own.
APART: Final = ("learning", "templates")
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

    Returns the description (`describe_pipeline`). Raises ValueError or OSError if there is no
    pipeline of that name, or it cannot be loaded.
    """
    found = describe_pipeline(load_pipeline(pipeline))
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        print_info(found)
    return found


def describe_pipeline(nlp: Language) -> dict[str, Any]:
    """The tokenizer and the pipes of a pipeline, in what JSON can hold.

    Returns ``lang``, ``name`` and ``version`` of the pipeline, and ``parts``: the tokenizer and
    all pipes by name, in their order. Of each its ``class`` and ``factory`` (None of a tokenizer);
    ``size``, in bytes of its folder, None if the pipeline comes from none; of a model of ours
    ``task`` and ``model`` (`describe_model`), and ``user_words``, the number of listed words.
    """
    from spacy_structreg.pipeline.task import TOKENIZER, parts_of, stem_of

    ours = dict(parts_of(nlp))
    parts: dict[str, Any] = {}
    pipe: Any
    for name, pipe in [(TOKENIZER, nlp.tokenizer), *nlp.components]:
        factory = None if name == TOKENIZER else nlp.get_pipe_meta(name).factory
        folder = None if nlp.path is None else Path(nlp.path) / name
        parts[name] = {
            "class": type(pipe).__name__,
            "factory": factory,
            "disabled": name in nlp.disabled,
            "size": None if folder is None else size_of(folder),
        }
        if name in ours:
            listed = getattr(pipe, "user_words", None)
            parts[name] |= {
                "task": stem_of(pipe),
                "model": describe_model(ours[name].estimator),
                "user_words": None if listed is None else len(listed),
            }
    return {key: nlp.meta[key] for key in ("lang", "name", "version")} | {"parts": parts}


def describe_model(model: Any) -> dict[str, Any]:
    """Facts of a model of ours, from the header and arrays of its file.

    Returns ``class``, ``trained``, ``settings``, ``learning`` and ``templates``; of a trained
    model ``labels``, the numbers of ``features`` and ``weights`` other than 0, which are not
    counted in a frozen one, ``frozen``, the bits of a weight if it is, ``bytes`` of its arrays,
    ``corpus``, the checksum of the corpus it was trained on, ``version`` of the package, and
    ``sources`` of knowledge that are stored with it; and ``models``, the same of models that it is
    made of.
    """
    if not model.is_trained:
        return of_settings(type(model).__name__, model.settings.as_dict()) | {"trained": False}
    header, arrays = model.contents()
    return described(type(model).__name__, header, arrays)


def described(name: str, header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """The facts of a trained model, and of those that it is made of."""
    import numpy as np

    from spacy_structreg.models.stored_model import unnested

    models = header.get("models", {})
    own = {key: array for key, array in arrays.items() if key.split(".")[0].isdigit()}
    layouts = [array for key, array in own.items() if key.endswith(".layout")]
    sources = header.get("sources") or header.get("spec", {}).get("sources", [])
    settings = header.get("settings", {})
    rest = {key: value for key, value in settings.items() if key not in models}
    return {
        **of_settings(name, rest),
        "trained": True,
        "labels": header.get("labels", []),
        "frozen": int(layouts[0][1]) if layouts else None,
        "features": sum(len(array) for key, array in own.items() if key.endswith(".keys"))
        + sum(int(layout[0]) for layout in layouts),
        "weights": sum(
            int(np.count_nonzero(array)) for key, array in own.items() if key.endswith(".values")
        ),
        "bytes": sum(array.nbytes for array in arrays.values()),
        "corpus": header.get("corpus"),
        "version": header.get("version"),
        "sources": [
            describe_source(entry, unnested(f"source{number}", arrays))
            for number, entry in enumerate(sources)
        ],
        "models": {
            key: described(inner.get("task", key), inner, unnested(key, arrays))
            for key, inner in models.items()
        },
    }


def of_settings(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """The facts of a model that its settings tell."""
    return {
        "class": name,
        "settings": {key: value for key, value in settings.items() if key not in APART},
        **{key: settings.get(key) for key in APART},
    }


def describe_source(entry: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """A knowledge source: its name, its atoms, what is plain in its header, and its size."""
    header = entry.get("header", {})
    return {
        "source": entry.get("source"),
        "atoms": sorted(entry.get("atoms", {})),
        "bytes": sum(array.nbytes for array in arrays.values()),
        **{key: value for key, value in header.items() if isinstance(value, (str, int, float))},
    }


def size_of(folder: Path) -> int:
    """The bytes of the files in a folder; 0 if there is none."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


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
