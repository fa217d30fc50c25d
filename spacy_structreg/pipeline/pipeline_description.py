"""Descriptions of trained pipelines: what is in their models, and how these were trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from spacy.language import Language

from spacy_structreg.learn.model_file import Arrays
from spacy_structreg.models.stored_model import unnested
from spacy_structreg.pipeline.task import TOKENIZER, parts_of, stem_of

# Settings with an entry of their own.
_APART: Final = ("learning", "templates")


def describe_pipeline(nlp: Language) -> dict[str, Any]:
    """The tokenizer and the pipes of a pipeline, in what JSON can hold.

    Returns ``lang``, ``name`` and ``version`` of the pipeline, and ``parts``: the tokenizer and
    all pipes by name, in their order. Of each its ``class`` and ``factory`` (None of a tokenizer);
    ``size``, in bytes of its folder, None if the pipeline comes from none; of a model of ours
    ``task`` and ``model`` (`describe_model`), and ``user_words``, the number of listed words.
    """
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
            "size": None if folder is None else _size(folder),
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
        return _of_settings(type(model).__name__, model.settings.as_dict()) | {"trained": False}
    header, arrays = model.contents()
    return _describe(type(model).__name__, header, arrays)


def _describe(name: str, header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    models = header.get("models", {})
    own = {key: array for key, array in arrays.items() if key.split(".")[0].isdigit()}
    layouts = [array for key, array in own.items() if key.endswith(".layout")]
    sources = header.get("sources") or header.get("spec", {}).get("sources", [])
    settings = header.get("settings", {})
    rest = {key: value for key, value in settings.items() if key not in models}
    return {
        **_of_settings(name, rest),
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
            _describe_source(entry, unnested(f"source{number}", arrays))
            for number, entry in enumerate(sources)
        ],
        "models": {
            key: _describe(inner.get("task", key), inner, unnested(key, arrays))
            for key, inner in models.items()
        },
    }


def _of_settings(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    return {
        "class": name,
        "settings": {key: value for key, value in settings.items() if key not in _APART},
        **{key: settings.get(key) for key in _APART},
    }


def _describe_source(entry: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """A knowledge source: its name, its atoms, what is plain in its header, and its size."""
    header = entry.get("header", {})
    return {
        "source": entry.get("source"),
        "atoms": sorted(entry.get("atoms", {})),
        "bytes": sum(array.nbytes for array in arrays.values()),
        **{key: value for key, value in header.items() if isinstance(value, (str, int, float))},
    }


def _size(folder: Path) -> int:
    """The bytes of the files in a folder; 0 if there is none."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
