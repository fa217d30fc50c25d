"""Packages of the extra `cluster`, imported when something of them is used."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

EXTRA = "pip install 'spacy_structreg[cluster]'"


def need_packages(*names: str, otherwise: str = "") -> None:
    """Raise ValueError, in one line, if a package of the extra `cluster` is not installed.

    otherwise: what else can be done.
    """
    for name in names:
        if find_spec(name) is None:
            raise ValueError(f"this needs the package {name}; {EXTRA}{otherwise}")


class ExtraPackage:
    """Stands for a module of such a package; ValueError if something of it is used in vain."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        need_packages(self._module.partition(".")[0])
        return getattr(import_module(self._module), name)
